#!/bin/sh
# SPDX-License-Identifier: MIT
# The pictures of man/espalier_lifetimes.7 show what the library does: each literal block of the page
# is a picture that tests/pages/lifetimes prints, in the same order.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
page=${srcdir:-.}/man/espalier_lifetimes.7
room=$(mktemp -d ./pages.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

awk '/^\.Bd -literal$/ { inside = 1; next } inside && /^\.Ed$/ { inside = 0; print "" } inside' \
    "$page" >"$room/page"
test -s "$room/page"
ok "the page has pictures"
./tests/pages/lifetimes >"$room/printed"
ok "the pictures can be printed"
diff "$room/page" "$room/printed" >&2
ok "the pictures are true"
done_testing
