#!/bin/sh
# SPDX-License-Identifier: MIT
# The contract suites and the sources that they link include public headers only, except tests/inside.c.
# So the contract suites need no change when structures inside the library change.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99

# The sources of the contract suites, and the sources and headers of the archives that they link.
list_files()
{
    {
        list_variable contract_tests | sed 's/$/.c/'
        list_variable libtests_a_SOURCES
        list_variable libfuzz_a_SOURCES
    } | grep -v '^tests/inside\.c$'
}

files=$(list_files)
test "$(echo "$files" | wc -l)" -gt 100
ok "Makefile.am names the files of the contract"

# shellcheck disable=SC2086
! grep -nE '^[ \t]*#[ \t]*include[ \t]+"(lib/|tests/tree/)' $files
ok "no file of the contract includes a header of lib/"

# Every header of tests/ that they include is in the list too, because it could include headers of lib/.
# shellcheck disable=SC2086
missing=$(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\(tests\/[^"]*\)".*/\1/p' $files | sort -u |
    while read -r header; do echo "$files" | grep -qxF "$header" || echo "$header"; done)
test -z "$missing" || echo "$missing"
test -z "$missing"
ok "every header that they include is of the contract"
done_testing
