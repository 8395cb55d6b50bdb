#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/BUGS.md and the tests agree. Each test that a row names is in the file that it names, and is run.
# Each entry has a test; an entry of class J may have a reason instead. A test whose name begins with the
# number of an entry is named in the row of that entry.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99
table=tests/BUGS.md

# Rows of the table as lines: entry, file, test; "-" for a missing one. A cell has files, each with a colon
# and its tests in backquotes.
list_rows()
{
    awk -F '|' '
        $2 ~ /^ [A-M][0-9]+ $/ {
            entry = $2
            gsub(/ /, "", entry)
            if ($4 ~ /^ (later|never): [a-z]/) { print entry, "later", "-"; next }
            seen = 0
            parts = split($4, part, ";")
            for (i = 1; i <= parts; ++i) {
                if (!match(part[i], /tests\/[a-z_\/]+_test\.c:/)) continue
                file = substr(part[i], RSTART, RLENGTH - 1)
                names = split(part[i], name, "`")
                for (k = 2; k <= names; k += 2) { print entry, file, name[k]; seen = 1 }
            }
            if (!seen) print entry, "-", "-"
        }
    ' $table
}

# Tests whose names begin with numbers of entries, as lines: entry, file, test.
list_numbered()
{
    awk '
        match($0, /^TEST(_LOOP|_IF)?\(([a-m][0-9]+_)+/) {
            test = $0
            gsub(/^[A-Z_]+\(|[,)].*$/, "", test)
            rest = test
            while (match(rest, /^[a-m][0-9]+_/)) {
                print toupper(substr(rest, 1, RLENGTH - 1)), FILENAME, test
                rest = substr(rest, RLENGTH + 1)
            }
        }
    ' tests/*/*_test.c
}

# Each test that a row names is in its file.
find_named()
{
    list_rows | awk '$3 != "-"' | {
        wrong=0
        while read -r entry file name; do
            grep -Eq "^TEST(_LOOP|_IF)?\(${name}[,)]" "$file" && continue
            echo "$entry: $file has no test $name" >&2
            wrong=1
        done
        test $wrong -eq 0
    }
}

# The numbers of a class ascend.
find_disorder()
{
    list_rows | awk '
        { class = substr($1, 1, 1); number = substr($1, 2) + 0 }
        $1 == last { next }
        class == before && number <= highest { print $1 " is out of order"; bad = 1 }
        { last = $1; before = class; highest = number; count += 1 }
        END { if (count < 100) { print count + 0 " entries"; bad = 1 }; exit bad }
    ' >&2
}

find_untested()
{
    list_rows | awk '
        $2 == "-" { print $1 " has neither a test nor a reason"; bad = 1 }
        $2 == "later" && $1 !~ /^J/ { print $1 " lacks a test"; bad = 1 }
        $2 ~ /_test/ && index(tolower("_" $3), "_" tolower($1) "_") { numbered[$1] = 1 }
        { all[$1] = 1 }
        END {
            for (entry in all) {
                if (entry ~ /^[ABCDEHKM]/ && !(entry in numbered)) {
                    print entry " has no test that begins with its number"
                    bad = 1
                }
            }
            exit bad
        }
    ' >&2
}

# Tests whose names begin with the number of an entry, and that its row lacks.
find_unlisted()
{
    list_numbered >"$room/numbered"
    list_rows | sort -u >"$room/rows"
    sort -u "$room/numbered" | comm -13 "$room/rows" - | sed 's/^/not in the table: /' >"$room/lacking"
    has_no_complaints "$room/lacking" && test -s "$room/numbered"
}

room=$(mktemp -d "${TMPDIR:-/tmp}/bugs.XXXXXX") || exit 99
trap 'rm -rf "$room"' EXIT
LC_ALL=C
export LC_ALL
find_disorder
ok "the table lists its entries in order"
find_named
ok "each test that the table names is there and is run"
find_untested
ok "each entry has a test, in J at least a reason, and each of A, B, C, D, E, H, K and M one of its number"
find_unlisted
ok "each test that begins with the number of an entry is named in its row"
done_testing
