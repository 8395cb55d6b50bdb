#!/bin/sh
# SPDX-License-Identifier: MIT
# Make a tree of manual pages in which each function, macro and type has a page of its name, a link to the
# page that documents it, so that `man espl_attach` works. It can be read where it is: man -M DIRECTORY.
#
#     AWK=awk links.sh SOURCE-TREE DIRECTORY PAGE...
#
# A PAGE is named from the top of the source tree. DIRECTORY/links.list names the links, which are installed
# beside the pages.
# shellcheck disable=SC2016 # the words of awk are its own
set -eu
: "${AWK=awk}"
top=$1
out=$2
shift 2
mkdir -p "$out"
rm -rf "$out"/man[1-9] "$out/links.list"

names=$(cd "$top" && $AWK -f man/names.awk "$@" | $AWK '$3 != "constant"')
twice=$(printf '%s\n' "$names" | $AWK 'seen[$1]++ { print $1 }')
if test -n "$twice"; then
    printf 'links.sh: documented more than once: %s\n' "$twice" >&2
    exit 1
fi

# The copies are writable, whatever the modes of the source tree.
for path; do
    mkdir -p "$out/man${path##*.}"
    cat "$top/$path" >"$out/man${path##*.}/${path##*/}"
done
printf '%s\n' "$names" | while read -r name page _; do
    section=${page##*.}
    printf '.so man%s/%s\n' "$section" "$page" >"$out/man$section/$name.$section"
    printf 'man%s/%s.%s\n' "$section" "$name" "$section"
done >"$out/links.list.tmp"
mv "$out/links.list.tmp" "$out/links.list"
