#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library that "make install-strip" installs, as packages of distributions have it, is small.
# The debug information, which takes many times as much, is not installed.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
: "${LIBTOOL=./libtool}"
limit=1048576 # 1 MiB
room=$(mktemp -d "$PWD/size.XXXXXX") || exit 99
trap 'rm -rf "$room"' EXIT

# size FILE: in bytes.
size()
{
    wc -c <"$1" | tr -d ' '
}

# has_own_code: tells whether the flags of this build make the code larger than that of a release: they add
# checks or counters, or optimise nothing.
has_own_code()
{
    case " ${CFLAGS-} ${ESPL_LDFLAGS-} " in
        *" -O0 "* | *fsanitize* | *coverage*) return 0 ;;
    esac
    has_shrunken_limits || always_moves || grep -q '^#define ESPL_CHECKS 2' config.h
}

test -f .libs/libespalier.so || skip_all "no shared library of a kind that is known here"
libdir=$(sed -n "s/^libdir='\(.*\)'$/\1/p" libespalier.la)
mkdir -p "$room$libdir" && $LIBTOOL --silent --mode=install install -c -s libespalier.la "$room$libdir" &&
    test -f "$room$libdir/libespalier.so"
ok "the library installs without what debuggers need"
built=$(size .libs/libespalier.so)
installed=$(size "$room$libdir/libespalier.so")
echo "# $installed bytes installed, of $built built"
if has_own_code; then
    skip "it takes less than $limit bytes" "built for tests"
else
    test "$installed" -gt 100000 && test "$installed" -lt "$limit"
    ok "it takes less than $limit bytes"
fi
done_testing
