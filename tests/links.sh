#!/bin/sh
# SPDX-License-Identifier: MIT
# Every exported function, every inline function, macro with arguments and type of the headers is documented
# on exactly one manual page, and a page of its name leads there, in the tree man/ that the build makes.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
LC_ALL=C
export LC_ALL
room=$(mktemp -d ./links.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# list_header_types: the types that the public headers define.
list_header_types()
{
    sed -n -e 's/^} \(espl_[a-z0-9_]*\);.*/\1/p' \
        -e 's/^typedef [^({]*[ *]\(espl_[a-z0-9_]*\);.*/\1/p' \
        -e 's/^typedef [^({]*(\*\(espl_[a-z0-9_]*\))(.*/\1/p' \
        "$top"/include/espalier/*.h
}

# Each name of a list is documented, and each exactly once.
documented_once() # list
{
    sort "$1" | comm -23 - "$room/documented" | sed 's/$/ is on no page/' >"$room/missing"
    has_no_complaints "$room/missing" && test -s "$1"
}

(cd "$top" && awk -f man/names.awk man/*.[1-9]) | awk '$3 != "constant"' >"$room/names"
cut -d ' ' -f 1 "$room/names" | sort >"$room/all"
sort -u "$room/all" >"$room/documented"
uniq -d "$room/all" | sed 's/$/ is documented more than once/' >"$room/twice"
has_no_complaints "$room/twice"
ok "no name is documented more than once"
sed 's/ .*//' "$top/lib/espalier.sym" >"$room/exported"
documented_once "$room/exported"
ok "every exported function is documented"
{ list_header_functions "$top" && list_header_types; } | sort -u >"$room/defined"
grep -q '_' "$room/defined" && documented_once "$room/defined"
ok "every inline function, macro with arguments and type is documented"
sort "$room/exported" "$room/defined" | comm -13 - "$room/documented" |
    sed 's/$/ is documented, and is not there/' >"$room/stale"
has_no_complaints "$room/stale"
ok "what is documented is there"

# A link is one request, for the page that documents the name.
while read -r name page _; do
    section=${page##*.}
    test "$(cat "man/man$section/$name.$section")" = ".so man$section/$page" &&
        cmp -s "man/man$section/$page" "$top/man/$page" && continue
    echo "$name has no link to $page as it is now" >&2
    touch "$room/broken"
done <"$room/names"
! test -e "$room/broken"
ok "every name has a link to its page"
awk '{ n = split($2, part, "."); print "man" part[n] "/" $1 "." part[n] }' "$room/names" | sort >"$room/expected"
sort man/links.list | diff "$room/expected" - >&2
ok "these links, and no others, are installed"

# Each page once, then each link, by a program that shows manual pages.
if command -v mandoc >/dev/null; then
    show() # path
    {
        (cd man && mandoc "$1") | cksum
    }
    while read -r name page _; do
        section=${page##*.}
        test -f "$room/$page" || show "man$section/$page" >"$room/$page"
        show "man$section/$name.$section" | cmp -s - "$room/$page" && continue
        echo "mandoc does not show $page for $name" >&2
        touch "$room/unshown"
    done <"$room/names"
    ! test -e "$room/unshown"
    ok "mandoc shows the page of each name"
else
    skip "mandoc shows the page of each name" "mandoc is not installed"
fi
if man -M "$PWD/man" -w espalier >/dev/null 2>&1; then
    # shellcheck disable=SC2046 # a list of words
    man -M "$PWD/man" -w $(cat "$room/documented") >"$room/found" &&
        test "$(grep -c . "$room/found")" -eq "$(grep -c . "$room/documented")"
    ok "man finds each name"
    awk '!seen[$2]++' "$room/names" | while read -r name page _; do
        MANWIDTH=200 MANPAGER=cat man -M "$PWD/man" "$name" </dev/null 2>&1 | awk '{ gsub(/.\010/, ""); print }' |
            grep -q "^ *${page%.*} " || { echo "man does not show $page for $name" >&2; exit 1; }
    done
    ok "man shows each page by the name of a function in it"
else
    skip "man finds each name" "man is not installed, or shows no page of a directory"
    skip "man shows each page by the name of a function in it" "as above"
fi
done_testing
