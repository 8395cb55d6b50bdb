#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library that "make install-strip" installs, which is what packages of distributions have, is
# small: what the compiler writes for a debugger is many times as much, and stays behind.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
: "${LIBTOOL=./libtool}"
limit=614400 # 600 KiB
room=$(mktemp -d "$PWD/size.XXXXXX") || exit 99
trap 'rm -rf "$room"' EXIT

# size FILE: in bytes.
size()
{
    wc -c <"$1" | tr -d ' '
}

# has_own_code: the flags of this build add code of their own, or leave much behind that is optimised away
# in what is installed.
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
