#!/bin/sh
# SPDX-License-Identifier: MIT
# The program in README.md (its first block of C) builds against this library and prints exactly
# the block of text that follows it.
set -e
page=${srcdir:-.}/README.md
room=$(mktemp -d readme.XXXXXX)
trap 'rm -rf "$room"' EXIT

first_block() # language, after: print the first block of a language that follows one of another
{
    awk -v open="\`\`\`$1" -v after="\`\`\`$2" '
        $0 == after { seen = 1 }
        inside && $0 == "```" { exit }
        inside { print }
        $0 == open && (seen || after == "```") { inside = 1 }
    ' "$page"
}

first_block c "" >"$room/program.c"
first_block text c >"$room/expected"
test -s "$room/program.c" || { echo "README.md has no block of C"; exit 1; }
test -s "$room/expected" || { echo "README.md has no block of text after its program"; exit 1; }

$CC -Wall -Wextra -Werror $CFLAGS $ESPL_LDFLAGS -I"${srcdir:-.}/include" \
    -c -o "$room/program.o" "$room/program.c"
./libtool --quiet --tag=CC --mode=link $CC $CFLAGS $ESPL_LDFLAGS \
    -o "$room/program" "$room/program.o" libespalier.la
"$room/program" >"$room/printed"
diff "$room/expected" "$room/printed"
