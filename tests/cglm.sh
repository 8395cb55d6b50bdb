#!/bin/sh
# SPDX-License-Identifier: MIT
# espalier/cglm.h copies rotations, positions and matrices to cglm's types as cglm means them, by each
# compiler, with and without -mavx, which changes how mat4 is aligned. tests/cglm.c is the program. The
# header compiles in C++ too.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}

test "$HAS_CGLM" = yes || skip_all "cglm is not installed"
room=$(mktemp -d ./cglm.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT
strict="-std=c11 -pedantic -Wall -Wextra -Wcast-align -Wcast-qual -Werror"

# check COMPILER FLAG ALIGNMENT: the program is built and finds nothing wrong.
# The compiler and the flags are lists of words.
# shellcheck disable=SC2086
check()
{
    if ! $1 --version >/dev/null 2>&1; then
        skip "$1 $2" "the compiler is not installed"
        return
    fi
    if ! echo 'int main(void) { return 0; }' | $1 $2 -Werror -c -o "$room/main.o" -x c - 2>/dev/null; then
        skip "$1 $2" "the compiler has no such flag"
        return
    fi
    if ! $CC $CFLAGS -o "$room/linked" "$room/main.o" 2>/dev/null; then
        skip "$1 $2" "the library is for another machine"
        return
    fi
    $1 $strict $2 -O2 $CGLM_CFLAGS -I"$top/include" -c -o "$room/program.o" "$top/tests/cglm.c" &&
        ./libtool --quiet --tag=CC --mode=link $CC $CFLAGS $ESPL_LDFLAGS \
            -o "$room/program" "$room/program.o" libespalier.la -lm
    ok "$1 $2 compiles it without a warning"
    if test -n "$2" && ! grep -qw avx /proc/cpuinfo 2>/dev/null; then
        skip "$1 $2: what is copied is what cglm means" "the processor has no AVX"
        return
    fi
    test "$("$room/program")" = "mat4 is aligned to $3"
    ok "$1 $2: what is copied is what cglm means"
}

for compiler in gcc clang; do
    check $compiler "" 16
    check $compiler -mavx 32
done
for compiler in g++ clang++; do
    if ! $compiler --version >/dev/null 2>&1; then
        skip "$compiler compiles the header" "the compiler is not installed"
        continue
    fi
    # shellcheck disable=SC2086
    echo '#include <espalier/cglm.h>' |
        $compiler -std=c++11 -pedantic -Wall -Wextra -Wold-style-cast -Werror $CGLM_CFLAGS \
            -I"$top/include" -fsyntax-only -x c++ -
    ok "$compiler compiles the header"
done
done_testing
