#!/bin/sh
# SPDX-License-Identifier: MIT
# Each exported function that is given what may change a world has a row in tests/tools/taped_test.c, which
# shows that the function is on the tape, or that it changes nothing that a hash shows: a function that takes
# a world, a command buffer or a recorder that is not const, or a query, a writer, a subtree or a watch, through
# which a world is written. Each row is of such a function.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
room=$(mktemp -d ./taped.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT
LC_ALL=C
export LC_ALL

# list_declared: print "function parameters" of each exported function of the public headers.
list_declared()
{
    awk '
        /^ESPL_API/ { text = ""; on = 1 }
        on {
            line = $0
            sub(/\/\/.*/, "", line)
            text = text " " line
        }
        on && line ~ /;[ \t]*$/ {
            on = 0
            gsub(/[ \t]+/, " ", text)
            name = text
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            print name, substr(text, index(text, "("))
        }
    ' "$top"/include/espalier/*.h
}

# list_changing: of these, print the functions that are given what may change a world.
list_changing()
{
    awk '{
        parameters = $0
        sub(/^[^ ]* /, "", parameters)
        is_handed = parameters ~ /espl_(query|writer|subtree|watch) \*/
        gsub(/const espl_[a-z_]* \*/, "", parameters)
        if (is_handed || parameters ~ /espl_(world|command_buffer|recorder|history) \*/) {
            print $1
        }
    }'
}

list_declared | sort >"$room/declared"
sed 's/ .*//' "$top/lib/espalier.sym" | sort >"$room/exported"
sed 's/ .*//' "$room/declared" | comm -13 - "$room/exported" >"$room/undeclared"
has_no_complaints "$room/undeclared"
ok "the headers declare each exported function"
list_changing <"$room/declared" | sort >"$room/changing"
test "$(wc -l <"$room/changing")" -gt 60
ok "functions that are given a world are found"
sed -n 's/^    X(\(espl_[a-z0-9_]*\), [A-Z]*, [a-z_]*).*/\1/p' "$top/tests/tools/taped_test.c" | sort >"$room/rows"
comm -23 "$room/changing" "$room/rows" | sed 's/^/no row: /' >"$room/untested"
has_no_complaints "$room/untested"
ok "each of them has a row"
comm -13 "$room/changing" "$room/rows" | sed 's/^/no such function: /' >"$room/idle"
has_no_complaints "$room/idle"
ok "each row is of one of them"
done_testing
