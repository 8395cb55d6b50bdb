#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the whole library as two files, for programs without a build system:
#
#     packaging/amalgamate.sh SOURCE DIRECTORY
#
# SOURCE is the top of the source tree. The two files in DIRECTORY are espalier.h and espalier.c, with
# stb_ds and xxHash inside. "cc espalier.c program.c -lm" needs nothing else.
set -eu
export LC_ALL=C
: "${AWK:=awk}"
: "${INTERNAL_CFLAGS=$(pkg-config --cflags stb libxxhash)}"
mkdir -p "$2"
directory=$(cd "$2" && pwd)
cd "$1"
# shellcheck source=packaging/lib.sh
. packaging/lib.sh
version=$(print_release .)

print_licence()
{
    printf '/*\n * Espalier %s as one file.\n *\n' "$version"
    sed 's|^| * |; s| *$||' LICENSE
    printf ' */\n'
}

stb=$(find_header stb_ds.h "$INTERNAL_CFLAGS")
xxhash=$(find_header xxhash.h "$INTERNAL_CFLAGS")
{
    print_licence
    "$AWK" -v mode=header -f packaging/amalgamate.awk include/espalier/espalier.h
} >"$directory/espalier.h"
{
    print_licence
    cat <<'END'

// Assertions: 0 none, 1 those that take constant time for each call, 2 all.
#ifndef ESPL_CHECKS
#define ESPL_CHECKS 1
#endif
// The same bits on every machine need products and sums left apart. Where a flag of the compiler overrides
// these lines, as -ffp-contract=fast of clang does, espl_world_create() answers ESPL_ERR_ARITHMETIC.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
// Where -std=c11 is given, the monotonic clock and huge pages of POSIX systems need this.
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif
#if defined(__linux__) && !defined(HAVE_SYS_MMAN_H)
#define HAVE_SYS_MMAN_H 1
#endif
#include "espalier.h"
#include <float.h>
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "Floats are not rounded one by one: add -msse2 -mfpmath=sse."
#endif
END
    # Lists of words.
    # shellcheck disable=SC2046
    "$AWK" -v mode=source -v stb="$stb" -v xxhash="$xxhash" -f packaging/amalgamate.awk $(list_sources .)
} >"$directory/espalier.c"
