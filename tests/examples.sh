#!/bin/sh
# SPDX-License-Identifier: MIT
# Every example prints exactly the text file beside its source, and its exit status says that its own checks
# passed. examples/hello.c is the program of README.md.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
top=${srcdir:-.}

test -n "$EXAMPLES" || skip_all "no examples"
room=$(mktemp -d ./examples.XXXXXX) || exit 99
trap 'rm -rf "$room"' EXIT
for program in $EXAMPLES; do
    # These create many entities.
    case $program in
        */changed | */engine | */query | */squad | */threads | */whip)
            if has_shrunken_limits; then
                skip "$program" "a world of this build holds too few entities"
                continue
            fi
            ;;
    esac
    "./$program" </dev/null >"$room/printed"
    ok "$program runs"
    diff "$top/$program.txt" "$room/printed" >&2
    ok "$program prints what $program.txt says"
done

# The example begins with its licence, a sentence and an empty line.
awk '/^```c$/ { inside = 1; next } inside && /^```$/ { exit } inside' "$top/README.md" >"$room/block"
sed 1,3d "$top/examples/hello.c" | diff - "$room/block" >&2
ok "examples/hello.c is the program of README.md"
done_testing
