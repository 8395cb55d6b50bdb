#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports exactly the names in lib/espalier.sym. Everything else that has
# linkage in the static library begins with espl__, so that it clashes with nobody.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
shared=.libs/libespalier.so
static=.libs/libespalier.a

# defined [nm's options] FILE: names of functions and data. What compilers add begins with an
# underscore, but for one name of gcc's coverage counters.
defined()
{
    $NM "$@" | awk 'NF == 3 && $2 ~ /[TDBRVWC]/ && $3 !~ /^_|^mangle_path$/ {print $3}' | sort -u
}

test -f "$shared" || test -f "$static" || skip_all "no library of a kind that is known here"
if test -f "$shared"; then
    defined -D --defined-only "$shared" | diff "$srcdir/lib/espalier.sym" -
    ok "the shared library exports lib/espalier.sym"
fi
if test -f "$static"; then
    defined -g --defined-only "$static" | grep -v '^espl__' | diff "$srcdir/lib/espalier.sym" -
    ok "the static library defines lib/espalier.sym, and else only espl__ names"
fi
done_testing
