#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages are clean mdoc, and those of section 3 describe every function that the library
# exports, every inline one, and every macro with arguments: each on one page.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}

# A page describes a name that stands in its synopsis and heads a paragraph or a row of a table.
describes() # page, name
{
    grep -q "^\\.Fo $2\$" "$1" && grep -q "^\\.It Fn $2\\( \\|\$\\)" "$1"
}

# Every name is described on one page, and on no other.
describe_all() # pages
{
    wrong=0
    while read -r name; do
        found=0
        for page; do
            describes "$page" "$name" && found=$((found + 1))
        done
        test $found -eq 1 && continue
        echo "$name is described on $found pages" >&2
        wrong=1
    done
    return $wrong
}

sed 's/ .*//' "$top/lib/espalier.sym" | describe_all "$top"/man/*.3
ok "the pages of section 3 describe every exported function, each on one page"
test -n "$(list_header_functions "$top")" && list_header_functions "$top" | describe_all "$top"/man/*.3
ok "and every inline function and every macro with arguments"

# tables_of PAGE: a page that has only the tables of this one.
tables_of()
{
    printf '.Dd November 28, 2026\n.Dt TABLES 7\n.Os\n.Sh NAME\n.Nm tables\n.Nd tables\n.Sh TABLES\n'
    sed -n '/^\.Bl -column /,/^\.El$/p' "$1"
}

# has_narrow_tables PAGE: on a terminal of 80 columns a row of a table has no more columns, and is one line:
# mandoc writes past the last column, groff continues on the next line. Bold letters are written twice.
has_narrow_tables()
{
    tables_of "$1" | mandoc -T ascii -O width=80 | sed "s/.$(printf '\b')//g" | awk '
        length($0) > 80 { print; is_wide = 1 }
        END { exit NR == 0 || is_wide }' >&2
}

for page in "$top"/man/*.[1-9]; do
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$page"
        ok "${page##*/} is clean"
        has_narrow_tables "$page"
        ok "tables of ${page##*/} fit into 80 columns"
    else
        skip "${page##*/} is clean" "mandoc is not installed"
        skip "tables of ${page##*/} fit into 80 columns" "mandoc is not installed"
    fi
done
done_testing
