#!/bin/sh
# SPDX-License-Identifier: MIT
# A fault that is planted in the comparison with the model is found. The input that shows it is written to a
# file, and shrunken to a few operations. The test that is written from these compiles, fails with the fault
# and passes without it.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
srcdir=${srcdir:-.}
program=./tests/fuzz/operations
: "${CC=cc}" "${LIBTOOL=./libtool}" "${CHECK_LIBS=-lcheck}"
test -x $program || skip_all "without Check the targets are not built"
room=$(mktemp -d ./shrink.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# explain: print the output of the programs.
explain()
{
    sed 's/^/# /' "$room"/*.log | tail -30
}

# build PROGRAM SOURCE: build a suite of one source. The flags are lists of words.
# shellcheck disable=SC2086
build()
{
    $CC $CFLAGS -std=gnu11 -Wall -Wextra -Werror -I"$srcdir" -I"$srcdir/include" $CHECK_CFLAGS \
        -c -o "$1.o" "$2" &&
        $LIBTOOL --silent --tag=CC --mode=link $CC $CFLAGS $ESPL_LDFLAGS -o "$1" "$1.o" \
            libfuzz.a libtests.a libespalier_core.la $CHECK_LIBS
}

! ESPL_PLANTED=detached $program --runs 200 >"$room/find.log" 2>&1 &&
    grep -q '^not ok 1 ' "$room/find.log" &&
    grep -q 'operations\.c:[0-9]*: .*a planted fault' "$room/find.log"
ok "a planted fault is found, with its line"

input=$(sed -n 's/^# its [0-9]* bytes are in \([^;]*\);.*/\1/p' "$room/find.log")
test -n "$input" && mv "$input" "$room/input" &&
    ! ESPL_PLANTED=detached $program "$room/input" >"$room/again.log" 2>&1
ok "the file that is written fails again"

$program "$room/input" >"$room/good.log" 2>&1
ok "without the fault it passes"

ESPL_PLANTED=detached $program --shrink --out "$room/found.c" "$room/input" >"$room/shrink.log" 2>&1
parts=$(sed -n 's/.*, of \([0-9]*\) parts, .*/\1/p' "$room/shrink.log")
# Two creations, a detach, an attach below the detached one; and what the detach needs.
test -n "$parts" && test "$parts" -ge 2 && test "$parts" -le 6
ok "the input is shrunken to a few operations"

build "$room/found" "$room/found.c" >"$room/build.log" 2>&1
ok "the test that is written compiles"
# The suite prints readable results here, not the TAP that `make check` asks for.
unset CK_TAP_LOG_FILE_NAME
CK_VERBOSITY=normal
export CK_VERBOSITY
! ESPL_PLANTED=detached "$room/found" >"$room/fails.log" 2>&1 &&
    grep -q 'a planted fault' "$room/fails.log"
ok "the test fails with the fault"
"$room/found" >"$room/passes.log" 2>&1
ok "the test passes without the fault"
done_testing
