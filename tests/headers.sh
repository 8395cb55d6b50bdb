#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone as C11, the public ones also as C++.
srcdir=${srcdir:-.}
flags="-fsyntax-only -Wall -Wextra -Werror -DHAVE_CONFIG_H -I. -I$srcdir -I$srcdir/include"
failed=0

compiles() # header command...
{
    header=$1
    shift
    printf '#include "%s"\n' "$header" | "$@" - || { echo "$header: not clean: $*"; failed=1; }
}

# $CC, $CXX and the flags are lists of words.
for header in "$srcdir"/lib/*/*.h; do
    compiles "$header" $CC -std=c11 $flags $INTERNAL_CFLAGS -x c
done
for header in "$srcdir"/include/espalier/*.h; do
    compiles "$header" $CC -std=c11 -pedantic $flags -x c
done
$CXX --version >/dev/null 2>&1 || { echo "no C++ compiler"; test $failed = 0 && exit 77; exit 1; }
for header in "$srcdir"/include/espalier/*.h; do
    compiles "$header" $CXX -std=c++11 -pedantic $flags -x c++
done
exit $failed
