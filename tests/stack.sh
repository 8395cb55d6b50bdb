#!/bin/sh
# SPDX-License-Identifier: MIT
# No function of lib/ takes more than 16 KiB of stack, nor an amount that depends on its arguments. The
# compiler of this build has written the usage of each function to a file beside the object.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
srcdir=${srcdir:-.}
limit=16384

# The file with the stack usage of a source's functions, beside the static object or the shared one.
usage_of() # source
{
    object=${1#"$srcdir/"}
    object=${object%.c}
    for file in "$object.su" "$(dirname "$object")/.libs/${object##*/}.su"; do
        if test -f "$file"; then
            echo "$file"
            return
        fi
    done
    echo "$1: its stack usage is not recorded" >&2
}

# A line has three fields: place:function, bytes, kind.
find_large() # file...
{
    awk -F '\t' -v limit=$limit '
        { functions += 1 }
        $2 + 0 > limit { printf "%s takes %d bytes of stack\n", $1, $2; bad = 1 }
        $3 ~ /dynamic/ && $3 !~ /bounded/ {
            printf "%s takes an amount of stack that depends on its arguments\n", $1; bad = 1
        }
        END { if (functions < 100) { print "only " functions + 0 " functions"; bad = 1 }; exit bad }
    ' "$@" >&2
}

case "${ESPL_LDFLAGS-}" in
    *-fsanitize=*) skip_all "sanitizers add to the stack of each function" ;;
esac
test -f lib/base/heap.su || test -f lib/base/.libs/heap.su ||
    skip_all "this compiler does not record stack usage"

files=$(for source in "$srcdir"/lib/*/*.c; do usage_of "$source"; done)
# shellcheck disable=SC2086 # a list of files
set -- $files
sources=$(printf '%s\n' "$srcdir"/lib/*/*.c | wc -l)
test $# -eq "$sources"
ok "each source of lib/ is measured"
find_large "$@"
ok "no function takes more than $limit bytes of stack, nor an unbounded amount"
done_testing
