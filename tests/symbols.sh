#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports exactly the names in lib/espalier.sym. Everything else that has
# linkage in the static library begins with espl__, so that it clashes with nobody.
srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
shared=.libs/libespalier.so
static=.libs/libespalier.a
failed=0

# What compilers add begins with an underscore, but for one name of gcc's coverage counters.
defined() # [nm options] file
{
    $NM "$@" | awk 'NF == 3 && $2 ~ /[TDBRVWC]/ && $3 !~ /^_|^mangle_path$/ {print $3}' | sort -u
}

test -f "$shared" || test -f "$static" || exit 77
if test -f "$shared"; then
    defined -D --defined-only "$shared" | diff "$srcdir/lib/espalier.sym" - || failed=1
fi
if test -f "$static"; then
    defined -g --defined-only "$static" | grep -v '^espl__' | diff "$srcdir/lib/espalier.sym" - ||
        failed=1
fi
exit $failed
