#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages are clean mdoc, and espalier(3) describes every exported function.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}

# Every exported name stands in the synopsis and has a paragraph of its own.
describes_all() # page
{
    described=0
    while read -r name; do
        grep -q "^\\.Fo $name\$" "$1" && grep -q "^\\.It Fn $name\\( \\|\$\\)" "$1" && continue
        echo "$1 says nothing of $name" >&2
        described=1
    done <"$top/lib/espalier.sym"
    return $described
}

describes_all "$top/man/espalier.3"
ok "espalier.3 describes every exported function"
for page in "$top"/man/*.[1-9]; do
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$page"
        ok "${page##*/} is clean"
    else
        skip "${page##*/} is clean" "mandoc is not installed"
    fi
done
done_testing
