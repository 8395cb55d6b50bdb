#!/bin/sh
# SPDX-License-Identifier: MIT
# Flags of gcc and clang that change the arithmetic of floats do not pass: the compiler refuses the
# library, or the known answers of lib/math/arithmetic.c name the flag, by which espl_world_create() refuses
# a world. Flags that change no result pass.
#
# "make check" tries some flags. With ESPL_FAST_MATH=full all are tried, and the library as one file is
# compiled with two of them.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
: "${INTERNAL_CFLAGS=}"
room=$(mktemp -d ./fast_math.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

explain()
{
    sed 's/^/# /' "$room/log" "$room/answer" 2>/dev/null
}

cat >"$room/main.c" <<'END'
#include "lib/math/arithmetic.h"

#include <stdio.h>

int main(void)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    const char *fault = NULL;

    for (size_t i = 0; i < count && fault == NULL; ++i) {
        fault = espl__arithmetic_fault(all[i]);
    }
    puts(fault != NULL ? fault : "sound");
    return 0;
}
END

# ask COMPILER FLAG...: write what the known answers say to $room/answer, or "refused" where a source is not
# compiled because of its flags.
ask()
{
    rm -f "$room/program" "$room/answer"
    if ! "$@" -w -std=gnu11 -DESPL_CHECKS=0 -I"$top" -I"$top/include" -o "$room/program" "$room/main.c" \
        "$top"/lib/math/*.c -lm 2>"$room/log"; then
        grep -q 'Espalier promises the same bits everywhere' "$room/log" && echo refused >"$room/answer"
        return
    fi
    "$room/program" >"$room/answer"
}

# notices FLAGS [WORD]: the flags are refused, or an answer has the word, which is the last of the flags if it
# is not given.
notices()
{
    # The flags are a list of words.
    # shellcheck disable=SC2086
    ask "$compiler" -O1 -ffp-contract=off $1 && grep -qe '^refused$' -e "${2:-${1##* }}" "$room/answer"
    ok "$compiler notices $1: $(cat "$room/answer" 2>/dev/null)"
}

# passes FLAGS
passes()
{
    # shellcheck disable=SC2086
    ask "$compiler" $1 && grep -qx sound "$room/answer"
    ok "$compiler passes $1"
}

# can_fuse: tells whether the machine has instructions that fuse a product and a sum, which -mfma uses.
can_fuse()
{
    case $(uname -m) in x86_64) grep -qw fma /proc/cpuinfo 2>/dev/null ;; *) false ;; esac
}

# Of the flags of gcc only -ffp-contract=fast has no macro, and it costs most to compile.
try_fused()
{
    if can_fuse; then
        notices "-mfma -O2 -ffp-contract=fast" -ffp-contract=off
    else
        skip "$compiler notices -ffp-contract=fast" "this machine does not fuse by -mfma"
    fi
}

try_some()
{
    notices -ffast-math
    notices "-ffast-math -fno-finite-math-only" -fassociative-math
    test "$compiler" = gcc || try_fused
}

try_all()
{
    passes "-O2 -ffp-contract=off"
    passes "-O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -frounding-math"
    notices -Ofast -ffast-math
    notices -ffinite-math-only
    notices -funsafe-math-optimizations -fassociative-math
    notices "-fno-signed-zeros -fno-trapping-math -fassociative-math"
    notices -freciprocal-math
    notices -fno-signed-zeros
    if test "$compiler" = gcc; then
        notices -fsingle-precision-constant
        try_fused
    else
        notices -fno-honor-nans -ffinite-math-only
        notices -fno-honor-infinities -ffinite-math-only
        notices -ffp-model=fast -ffinite-math-only
    fi
}

for compiler in gcc clang; do
    if "$compiler" --version >/dev/null 2>&1; then
        try_some
        test "${ESPL_FAST_MATH-}" != full || try_all
    else
        skip "$compiler" "is not installed"
    fi
done
test "${ESPL_FAST_MATH-}" = full || done_testing

# The library as one file, by clang, for which the preprocessor sees neither flag.
sh "$top/packaging/amalgamate.sh" "$top" "$room" 2>"$room/log" || exit 99
cat >"$room/main.c" <<'END'
#include "espalier.h"

#include <stdio.h>

int main(void)
{
    espl_world *world = NULL;

    puts(espl_status_name(espl_world_create(NULL, &world)));
    espl_world_destroy(world);
    return 0;
}
END
for flags in "-ffast-math -fno-finite-math-only" "-ffp-contract=fast -march=native"; do
    case $flags in *native) can_fuse || continue ;; esac
    # shellcheck disable=SC2086
    clang -O1 $flags -w -I"$room" -o "$room/program" "$room/main.c" "$room/espalier.c" -lm 2>"$room/log" &&
        "$room/program" >"$room/answer" && grep -qx ESPL_ERR_ARITHMETIC "$room/answer"
    ok "the library as one file by clang $flags makes no world"
done
done_testing
