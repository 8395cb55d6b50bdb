#!/bin/sh
# SPDX-License-Identifier: MIT
# No function of lib/ takes more than 16 KiB of stack, nor an amount that depends on its arguments:
# what the compiler of this build says of each, with the flags of this build.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
srcdir=${srcdir:-.}
: "${CC=cc}" "${CFLAGS=-O2}" "${INTERNAL_CFLAGS=$(pkg-config --cflags cglm stb)}"
limit=16384
flags="-std=gnu11 -ffp-contract=off -fstack-usage -DHAVE_CONFIG_H -I."
flags="$flags -I$srcdir -I$srcdir/include $INTERNAL_CFLAGS"
room=$(mktemp -d ./stack.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# The flags are a list of words. One file of usages beside each object.
# shellcheck disable=SC2086
measure() # source
{
    name=$(echo "${1#"$srcdir/lib/"}" | tr / _)
    $CC $CFLAGS $flags -c -o "$room/${name%.c}.o" "$1"
}

# Lines are: place:function, bytes, kind.
find_large()
{
    awk -F '\t' -v limit=$limit '
        { functions += 1 }
        $2 + 0 > limit { printf "%s takes %d bytes of stack\n", $1, $2; bad = 1 }
        $3 ~ /dynamic/ && $3 !~ /bounded/ {
            printf "%s takes stack by its arguments\n", $1; bad = 1
        }
        END { if (functions < 100) { print functions + 0 " functions seen"; bad = 1 }; exit bad }
    ' "$room"/*.su >&2
}

case "$CFLAGS $ESPL_LDFLAGS" in
    *-fsanitize=*) skip_all "sanitizers take stack of their own" ;;
esac
echo 'int main(void) { return 0; }' >"$room/main.c"
# shellcheck disable=SC2086
$CC $CFLAGS -fstack-usage -c -o "$room/main.o" "$room/main.c" 2>/dev/null
test -f "$room/main.su" || skip_all "this compiler does not tell stack usage"
rm -f "$room/main.su"

failures=0
for source in "$srcdir"/lib/*/*.c; do
    measure "$source" || failures=$((failures + 1))
done
test $failures -eq 0
ok "each source of lib/ is measured"
find_large
ok "no function takes more than $limit bytes of stack, nor an unbounded amount"
done_testing
