#!/bin/sh
# SPDX-License-Identifier: MIT
# The contract suites and the sources that they link include public headers alone; tests/inside.c is the
# only exception. So the contract builds whatever structures the library has inside.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99

# Files whose lines are to be read: suites and what is in their archives, all headers that these
# include, and theirs.
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

# Every header of tests/ that they include is listed itself, or foreign headers would come in by it.
# shellcheck disable=SC2086
missing=$(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\(tests\/[^"]*\)".*/\1/p' $files | sort -u |
    while read -r header; do echo "$files" | grep -qxF "$header" || echo "$header"; done)
test -z "$missing" || echo "$missing"
test -z "$missing"
ok "every header that they include is of the contract"
done_testing
