#!/bin/sh
# SPDX-License-Identifier: MIT
# The same bits everywhere: the tape of tests/golden prints tests/golden/golden.txt, linked with the
# library of this build and with libraries that other compilers make with other flags, by each of
# the kernels that the machine runs.
#
# After a change that is meant to change bits, from the top of the source tree:
#
#     tests/golden.sh --write
#
# To find what differs where it should not, lay two outputs of "tape --steps" side by side: the
# first line that is not the same names the world and the step.
#
# ESPL_GOLDEN=short leaves the other compilers out; ESPL_GOLDEN=full takes a missing one as a
# failure. ESPL_EMULATOR is the program that runs what this build makes, if the machine does not.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
srcdir=${srcdir:-.}
golden=$srcdir/tests/golden/golden.txt
: "${INTERNAL_CFLAGS=$(pkg-config --cflags stb libxxhash)}"
room=$(mktemp -d ./golden.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# A way to build is a word: a compiler and its flags. -O2 is what configure chooses, so the library of this
# build has it. The two halves take about the same time.
half="gcc,-O0 gcc,-O3 gcc,-O3,-mavx2,-mfma aarch64-linux-gnu-gcc,-O2,-static"
other_half="clang,-O0 clang,-O3 clang,-O3,-mavx2,-mfma"

# build PROGRAM COMPILER FLAG...: the tape and the library in one program, without the files and flags of
# this configuration. The flags are a list of words.
# shellcheck disable=SC2086
build()
{
    program=$1
    shift
    "$@" -std=gnu11 -ffp-contract=off -I"$srcdir" -I"$srcdir/include" $INTERNAL_CFLAGS \
        -o "$program" "$srcdir"/lib/*/*.c "$srcdir"/tests/golden/*.c -lm
}

# is_golden COMMAND...: the command succeeds and prints golden.txt by all kernels, at least one. Otherwise
# print the difference.
is_golden()
{
    all_kernels=$("$@" --kernels) && test -n "$all_kernels" || return
    for kernels in $all_kernels; do
        echo "kernels $kernels:"
        printed=$(ESPALIER_KERNELS=$kernels "$@") && echo "$printed" | diff "$golden" - || return
    done
}

# find_missing COMPILER: print the package that is needed and not installed.
find_missing()
{
    case $1 in
        aarch64-linux-gnu-gcc)
            command -v "$1" >/dev/null || echo gcc-aarch64-linux-gnu
            echo '#include <math.h>' | "$1" -E - >/dev/null 2>&1 || echo libc6-dev-arm64-cross
            command -v qemu-aarch64 >/dev/null || echo qemu-user
            ;;
        *) command -v "$1" >/dev/null || echo "$1" ;;
    esac | head -n 1
}

has_avx2_and_fma()
{
    grep -qw avx2 /proc/cpuinfo 2>/dev/null && grep -qw fma /proc/cpuinfo
}

# try WAY: print "pass", "fail", or "skip" and why.
# shellcheck disable=SC2046
try()
{
    missing=$(find_missing "${1%%,*}")
    emulator="env"
    case $1 in
        *-mavx2*) has_avx2_and_fma || { echo "skip this CPU has no AVX2 and FMA" && return; } ;;
        aarch64*) emulator=qemu-aarch64 ;;
    esac
    if test -n "$missing" && test "${ESPL_GOLDEN-}" != full; then
        echo "skip needs the package $missing"
    elif test -n "$missing"; then
        echo "the package $missing is missing" >&2
        echo fail
    elif build "$room/program,$1" $(echo "$1" | tr , ' ') &&
        is_golden "$emulator" "$room/program,$1" >&2; then
        echo pass
    else
        echo fail
    fi
}

try_each() # WAY...
{
    for way; do
        try "$way" >"$room/verdict,$way" 2>"$room/log,$way"
    done
}

explain()
{
    test -z "${way-}" || cat "$room/log,$way"
}

report() # WAY...
{
    for way; do
        name=$(echo "$way" | tr , ' ')
        read -r verdict reason <"$room/verdict,$way"
        if test "$verdict" = skip; then
            skip "$name" "$reason"
        else
            test "$verdict" = pass
            ok "$name"
        fi
    done
}

if test "${1-}" = --write; then
    build "$room/program" "${CC:-cc}" -O2 && "$room/program" >"$room/golden.txt" &&
        cp "$room/golden.txt" "$golden"
    exit
fi

if has_shrunken_limits; then
    skip "the library of this build" "its limits are shrunken"
elif test -x tests/golden/tape; then
    # shellcheck disable=SC2086 # a list of words; none where the machine runs what is built
    is_golden ${ESPL_EMULATOR:+$LIBTOOL --mode=execute $ESPL_EMULATOR} tests/golden/tape
    ok "the library of this build"
fi

# The halves are lists of words.
# shellcheck disable=SC2086
case "${ESPL_GOLDEN-} ${CFLAGS-} ${ESPL_LDFLAGS-}" in
    short*) skip "other compilers and flags" "ESPL_GOLDEN is short" ;;
    *-fsanitize*) skip "other compilers and flags" "not repeated under sanitizers" ;;
    *)
        try_each $half &
        try_each $other_half &
        wait
        report $half $other_half
        ;;
esac
done_testing
