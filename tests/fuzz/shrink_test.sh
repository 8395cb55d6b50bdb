#!/bin/sh
# SPDX-License-Identifier: MIT
# A fault that is planted in the comparison with the model is found, written to a file that runs it
# again, and shrunken to the few operations it takes; the test that is written of them compiles, fails
# with the fault and passes without.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
srcdir=${srcdir:-.}
program=./tests/fuzz/operations
: "${CC=cc}" "${LIBTOOL=./libtool}" "${CHECK_LIBS=-lcheck}"
test -x $program || skip_all "without Check the targets are not built"
room=$(mktemp -d ./shrink.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# explain: what the program said.
explain()
{
    sed 's/^/# /' "$room"/*.log | tail -30
}

# build PROGRAM SOURCE: a suite of its own. The flags are lists of words.
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
ok "a planted fault is found, and its line is told"

input=$(sed -n 's/^# its [0-9]* bytes are in \([^;]*\);.*/\1/p' "$room/find.log")
test -n "$input" && mv "$input" "$room/input" &&
    ! ESPL_PLANTED=detached $program "$room/input" >"$room/again.log" 2>&1
ok "the file that is written fails again"

$program "$room/input" >"$room/good.log" 2>&1
ok "without the fault it passes"

ESPL_PLANTED=detached $program --shrink --out "$room/found.c" "$room/input" >"$room/shrink.log" 2>&1
parts=$(sed -n 's/.*, of \([0-9]*\) parts, .*/\1/p' "$room/shrink.log")
# Two that are made, one that is detached, an attach under it; and what the detach needs.
test -n "$parts" && test "$parts" -ge 2 && test "$parts" -le 6
ok "it is shrunken to the few operations that it takes"

build "$room/found" "$room/found.c" >"$room/build.log" 2>&1
ok "the test that is written compiles"
# It talks to people here, whoever asked for TAP.
unset CK_TAP_LOG_FILE_NAME
CK_VERBOSITY=normal
export CK_VERBOSITY
! ESPL_PLANTED=detached "$room/found" >"$room/fails.log" 2>&1 &&
    grep -q 'a planted fault' "$room/fails.log"
ok "it fails with the fault"
"$room/found" >"$room/passes.log" 2>&1
ok "it passes without"
done_testing
