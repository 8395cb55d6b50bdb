#!/bin/sh
# SPDX-License-Identifier: MIT
# The pictures of the manual pages show what the library does: each literal block at the margin of a page is
# a picture that a program of tests/pages prints, in the same order.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}
room=$(mktemp -d ./pages.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

compare() # page, program
{
    awk '/^\.Bd -literal$/ { inside = 1; next } inside && /^\.Ed$/ { inside = 0; print "" } inside' \
        "$top/man/$1" >"$room/page"
    test -s "$room/page"
    ok "$1 has pictures"
    "./tests/pages/$2" >"$room/printed"
    ok "the pictures of $1 can be printed"
    diff "$room/page" "$room/printed" >&2
    ok "the pictures of $1 are true"
}

compare espalier_lifetimes.7 lifetimes
compare espalier_values.7 values
if has_shrunken_limits; then
    skip "the pictures of espalier_commands.3" "chunks of this build hold fewer rows"
else
    compare espalier_commands.3 stages
fi
done_testing
