#!/bin/sh
# SPDX-License-Identifier: MIT
# Each pointer that an exported function takes has a row in the tables that call the function with NULL
# for it, tests/world/pointers.h and tests/math/pointers_test.c; and each row is of such a pointer, or of
# one that an inline form takes.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
room=$(mktemp -d ./pointers.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT
LC_ALL=C
export LC_ALL

# The rows.
list_rows()
{
    awk '
        /^#define OPTIONAL_FIELDS|^#define REQUIRED_FIELDS/ { skips = 1 }
        /^$/ { skips = 0 }
        skips { next }
        match($0, /^    X\(espl_[a-z0-9_]*, [a-z_]+,/) {
            split(substr($0, RSTART + 6, RLENGTH - 7), part, ", ")
            print part[1], part[2]
        }
    ' "$top/tests/world/pointers.h" "$top/tests/math/pointers_test.c"
}

awk -f "$top/tests/declarations.awk" -f "$top/tests/pointers.awk" "$top"/include/espalier/*.h | sort >"$room/taken"
test "$(wc -l <"$room/taken")" -gt 200
ok "the headers can be read"
sed 's/ .*//' "$top/lib/espalier.sym" >"$room/exported"
cut -d ' ' -f 1 "$room/taken" | sort -u | comm -23 - "$room/exported" >"$room/strange"
has_no_complaints "$room/strange"
ok "the functions that they declare are exported"
list_rows | sort -u >"$room/rows"
awk -v forms=1 -f "$top/tests/declarations.awk" -f "$top/tests/pointers.awk" "$top"/include/espalier/*.h | sort >"$room/allowed"
comm -23 "$room/taken" "$room/rows" |
    sed 's/^/no test calls it with NULL: /' >"$room/untested"
has_no_complaints "$room/untested"
ok "each pointer has a row"
comm -13 "$room/allowed" "$room/rows" | sed 's/^/no such pointer: /' >"$room/idle"
has_no_complaints "$room/idle"
ok "each row is of a pointer"
done_testing
