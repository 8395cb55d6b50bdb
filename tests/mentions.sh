#!/bin/sh
# SPDX-License-Identifier: MIT
# What the manual pages say of each other is true: a name that a page mentions exists, a name with a page
# behind it is documented there, every page can be reached from espalier(7), espalier(3) and README.md, and
# what a SYNOPSIS lists is described in the text.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
room=$(mktemp -d ./mentions.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# Names in the text of a page that are not in a list.
unknown_names() # macro, list
{
    awk -v macro="$1" '
        FILENAME == ARGV[1] { known[$1] = 1; next }
        FNR == 1 { page = FILENAME; sub(/.*\//, "", page) }
        {
            for (i = 1; i < NF; ++i) {
                if ($i == macro || $i == "." macro) {
                    for (j = i + 1; j <= NF && $j !~ /^[A-Z][a-z]$/; ++j) {
                        if ($j ~ /^[Ee][Ss][Pp][Ll]_[A-Za-z0-9_]*[A-Za-z0-9]$/ && !($j in known)) {
                            print page ":" FNR ": no " $j
                        }
                    }
                }
            }
        }' "$2" "$top"/man/*.[1-9] >"$room/unknown"
    has_no_complaints "$room/unknown"
}

(cd "$top" && awk -f man/names.awk man/*.[1-9]) >"$room/names"
unknown_names Fn "$room/names"
ok "functions that are mentioned exist"
unknown_names Vt "$room/names"
ok "types that are mentioned exist"
grep -ho 'ESPL_[A-Z0-9_]*' "$top"/include/espalier/*.h >"$room/constants"
unknown_names Dv "$room/constants"
ok "constants that are mentioned exist"
echo espl_none >"$room/none"
! unknown_names Fn "$room/none" 2>/dev/null
ok "an unknown name is noticed"

# Functions that comments of headers and documents mention with parentheses exist in the headers, or are those of
# a user.
undeclared_names() # file...
{
    grep -Eho '\bespl_[a-z0-9][a-z0-9_]*\(\)' "$@" | tr -d '()' | LC_ALL=C sort -u |
        LC_ALL=C comm -23 - "$room/declared"
}

# NEWS has names that are gone, so it is not read.
{
    sed 's/ .*//' "$top/lib/espalier.sym"
    sed -n 's/^static inline .*\b\(espl_[a-z0-9_]*\)(.*/\1/p' "$top"/include/espalier/*.h
} | LC_ALL=C sort -u >"$room/declared"
undeclared_names "$top"/include/espalier/*.h "$top"/include/espalier/*.hpp "$top/README.md" \
    "$top"/guides/*.md "$top/CONTRIBUTING.md" >"$room/errors"
test ! -s "$room/errors"
ok "functions that comments of headers and documents mention exist"
echo 'espl_none() and espl_attach() are mentioned.' >"$room/text"
test "$(undeclared_names "$room/text")" = espl_none
ok "a function that does not exist is noticed in a comment"

# Files of the project that comments of the library and documents name by their path exist. The scripts need the
# whole tree, which a build outside of it has by $top.
missing_files() # file...
{
    grep -Eho '\b(lib|tests|include|tools|bench)/[a-z0-9_/]+\.(c|h|hpp|sh|awk|txt|inc)\b' "$@" | LC_ALL=C sort -u |
        while read -r name; do
            test -e "$top/$name" || echo "$name"
        done
}
missing_files "$top"/lib/*/*.[ch] "$top"/include/espalier/* "$top"/README.md "$top"/CONTRIBUTING.md \
    "$top"/tests/README.md "$top"/guides/*.md >"$room/errors"
has_no_complaints "$room/errors"
ok "files that comments and documents name exist"
echo 'See tests/none.sh and tests/mentions.sh.' >"$room/text"
test "$(missing_files "$room/text")" = tests/none.sh
ok "a file that does not exist is noticed"

# A function, or some, and then a page: at once, or behind "in" or "of".
awk '
    FILENAME == ARGV[1] { page_of[$1] = $2; next }
    FNR == 1 { count = 0 }
    $1 == ".Fn" { mentioned[++count] = $2; next }
    $1 == ".Xr" {
        for (i = 1; i <= count; ++i) {
            if (page_of[mentioned[i]] != $2 "." $3) {
                printf "%s:%d: %s is in %s\n", FILENAME, FNR, mentioned[i], page_of[mentioned[i]]
                wrong = 1
            }
            ++seen
        }
    }
    count > 0 && ($0 ~ /^(and|or|in|of|are in|is in)$/) { next }
    { count = 0 }
    END { exit wrong || seen < 5 }' "$room/names" "$top"/man/*.[1-9] >&2
ok "a function and the page behind it belong together"

true >"$room/unreachable"
for page in "$top"/man/*.[1-9]; do
    name=${page##*/}
    title=${name%.*}
    section=${name##*.}
    for from in espalier.3 espalier.7; do
        # The main pages of section 3 and 7 refer to all others; they are not in one list each.
        test "$name" = "$from" || grep -q "^\\.\\(It \\)\\{0,1\\}Xr $title $section" "$top/man/$from" ||
            echo "$from does not mention $name" >>"$room/unreachable"
    done
    grep -q "(man/$name)" "$top/README.md" || echo "README.md does not mention $name" >>"$room/unreachable"
done
has_no_complaints "$room/unreachable"
ok "every page can be reached"

awk '
    FNR == 1 { in_synopsis = 0 }
    /^\.Sh / { in_synopsis = $2 == "SYNOPSIS" }
    { for (i = 1; i < NF; ++i) {
        if ($i !~ /^\.?Vt$/ || $(i + 1) !~ /^espl_/) continue
        if (in_synopsis) listed[FILENAME " " $(i + 1)] = 1
        else described[FILENAME " " $(i + 1)] = 1
    } }
    END {
        for (entry in listed) {
            ++count
            if (!(entry in described)) { print entry " is not described"; wrong = 1 }
        }
        exit wrong || count == 0
    }' "$top"/man/*.[1-9] >&2
ok "every type in a SYNOPSIS is described in the text of its page"
done_testing
