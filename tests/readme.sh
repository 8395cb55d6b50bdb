#!/bin/sh
# SPDX-License-Identifier: MIT
# The program in README.md (its first block of C) builds against this library and prints exactly
# the block of text that follows it.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
page=${srcdir:-.}/README.md
room=$(mktemp -d ./readme.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT

# first_block LANGUAGE [AFTER]: the first block of a language, or the first behind one of another.
first_block()
{
    awk -v open="\`\`\`$1" -v after="\`\`\`${2-}" '
        inside && $0 == "```" { exit }
        inside { print }
        $0 == after { seen = 1 }
        $0 == open && (seen || after == "```") { inside = 1 }
    ' "$page"
}

# The compiler and the flags are lists of words.
# shellcheck disable=SC2086
build()
{
    $CC -Wall -Wextra -Werror $CFLAGS $ESPL_LDFLAGS -I"${srcdir:-.}/include" \
        -c -o "$room/program.o" "$room/program.c" &&
        ./libtool --quiet --tag=CC --mode=link $CC $CFLAGS $ESPL_LDFLAGS \
            -o "$room/program" "$room/program.o" libespalier.la
}

first_block c >"$room/program.c"
first_block text c >"$room/expected"
test -s "$room/program.c" && test -s "$room/expected"
ok "README.md has a program and what it prints"
build
ok "the program builds without a warning"
"$room/program" >"$room/printed" && diff "$room/expected" "$room/printed"
ok "the program prints what README.md says"
hash=$(cat "${srcdir:-.}/tests/consumers/hash.txt")
grep -q "has the hash \`$hash\`" "$page"
ok "README.md names the hash of tests/consumers/hash.txt"
grep -q "the same $(grep -c . "${srcdir:-.}/tests/golden/golden.txt") hashes" "$page"
ok "README.md names the number of hashes in tests/golden"
done_testing
