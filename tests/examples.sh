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
        */changed | */engine | */mirror | */query | */replica | */rollback | */squad | */threads | */upload | */whip)
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

# What the camera draws, computed anew from the positions that it prints.
pixels=$(awk -f "$top/tests/camera.awk" "$top/examples/camera.txt")
test "$pixels" = "6 computed" || { echo "$pixels" >&2; false; }
ok "examples/camera.txt has the pixels that trigonometry gives"
sed 's/558[.]8/559.0/' "$top/examples/camera.txt" | awk -f "$top/tests/camera.awk" | grep -q buoy
ok "a pixel that is wrong by a fifth is noticed"

# The pictures are what the examples draw.
./examples/motion "$room/motion.svg" >"$room/printed" && diff "$top/examples/motion.svg" "$room/motion.svg" >&2
ok "examples/motion.svg is what examples/motion.c draws"
./examples/far "$room/far.svg" >"$room/printed" && diff "$top/examples/far.svg" "$room/far.svg" >&2
ok "examples/far.svg is what examples/far.c draws"

./examples/pickaxe "$room/pickaxe.svg" >"$room/printed" &&
    diff "$top/examples/pickaxe.svg" "$room/pickaxe.svg" >&2
ok "examples/pickaxe.svg is what examples/pickaxe.c draws"

# The example begins with its licence, a sentence and an empty line.
awk '/^```c$/ { inside = 1; next } inside && /^```$/ { exit } inside' "$top/README.md" >"$room/block"
sed 1,3d "$top/examples/hello.c" | diff - "$room/block" >&2
ok "examples/hello.c is the program of README.md"
done_testing
