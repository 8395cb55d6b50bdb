#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier view" writes pages of scenes and tapes, whose module, run by node without a page, has the bits of
# "espalier replay". What browsers show is tested by tests/tools/browser_test.sh.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

has_shrunken_limits && skip_all "a world of this build holds too few entities for scenes"
assimp=${ESPALIER_ASSIMP_MODELS:-/usr/share/assimp/models}
mujoco=${ESPALIER_MUJOCO_MODELS:-/usr/share/mujoco/model}
walk=$assimp/BVH/01_01.bvh
test -f "$walk" || skip_all "no Assimp test models"
run check --frames 1 "$walk"
grep -q 'without Assimp' "$scratch/err" && skip_all "built without Assimp"
run view "$walk"
grep -q 'without zlib' "$scratch/err" && skip_all "built without zlib"
rm -f 01_01.html

# The command line, for which any page does that has a place for tapes.
ESPALIER_VIEWER=$scratch/bare.html
export ESPALIER_VIEWER
printf '<!doctype html>\n<!-- tapes -->\n<p>end\n' >"$ESPALIER_VIEWER"

run view -o "$scratch/page.html" --frames 3 "$walk"
test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q "page.html\$" "$scratch/out" &&
    grep -q 'class="tape" data-name="01_01.bvh" data-hashes="[0-9a-f]\{48\}">H4sI' "$scratch/page.html" &&
    test "$(tail -n 1 "$scratch/page.html")" = '<p>end'
ok "a page of a scene has its tape in the place of the tapes"

(cd "$scratch" && ESPALIER=$(cd "$OLDPWD" && pwd)/${espalier#./} && "$ESPALIER" view -q --frames 2 "$walk" &&
    test -f 01_01.html)
ok "without a name the page has that of the scene, in the working directory"

run view -o - --frames 3 "$walk"
test "$status" -eq 0 && cmp -s "$scratch/out" "$scratch/page.html"
ok "a page may go to the standard output, and the same scene gives the same page"

# take_tape: write the tape of the page to a file.
take_tape()
{
    sed -n 's/.*class="tape"[^>]*>\([^<]*\)<.*/\1/p' "$scratch/page.html" | base64 -d | gzip -d >"$scratch/tape"
}

# has_hashes COUNT: the page has the physical hashes of the first frames in the file native, and no others.
has_hashes()
{
    sed -n 's/.*class="tape"[^>]* data-hashes="\([0-9a-f]*\)".*/\1/p' "$scratch/page.html" | fold -w 16 \
        >"$scratch/hashes"
    test "$(wc -l <"$scratch/hashes")" -eq "$1" &&
        head -n "$1" "$scratch/native" | cut -d ' ' -f 2 | cmp -s - "$scratch/hashes"
}

take_tape && "$espalier" replay -q --hashes "$scratch/tape" >"$scratch/native" && has_hashes 3
ok "it has the physical hash of each frame, which covers world transforms"

{
    head -c $(($(wc -c <"$scratch/tape") - 3)) "$scratch/tape" && printf '!' && tail -c 2 "$scratch/tape"
} >"$scratch/changed.tape"
run view -q -o "$scratch/page.html" "$scratch/changed.tape"
test "$status" -eq 0 && test ! -s "$scratch/err" && has_hashes 2
ok "a tape with another checksum in its last frame is shown, with the hashes of the frames before"

run view -q -o "$scratch/page.html" --frames 2 "$walk" "$walk"
test "$status" -eq 0 && test ! -s "$scratch/out" && test "$(grep -c 'class="tape"' "$scratch/page.html")" -eq 2
ok "a page may have several tapes"

bad="<\"&'>$(printf '\001').tape"
run play --quiet --copies 1 --frames 1 --tape "$scratch/head" "$walk" && head -c 32 "$scratch/head" >"$scratch/$bad"
run view -o "$scratch/page.html" "$scratch/$bad"
test "$status" -eq 0 && grep -q "data-name=\"&lt;&quot;&amp;'&gt; .tape\">" "$scratch/page.html"
ok "no name of a file ends an attribute of the page"

: >"$scratch/empty.tape"
echo 'no tape' >"$scratch/other.tape"
head -c 20 "$scratch/head" >"$scratch/short.tape"
{ printf 'espltape\377\377' && tail -c +11 "$scratch/head"; } >"$scratch/later.tape"
for file in empty.tape other.tape missing.tape short.tape later.tape; do
    run view -o "$scratch/no.html" "$scratch/$file"
    test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && test ! -e "$scratch/no.html"
    ok "$file is refused in one line"
done
cp "$scratch/head" "$scratch/both.html"
for output in "" "-o both.html" "-o ./both.html"; do
    # shellcheck disable=SC2086 # a list of words
    (cd "$scratch" && ESPALIER=$(cd "$OLDPWD" && pwd)/${espalier#./} && "$ESPALIER" view $output both.html) \
        >"$scratch/out" 2>"$scratch/err"
    test $? -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && cmp "$scratch/head" "$scratch/both.html"
    ok "a tape is not overwritten by its page: ${output:-its own name}"
done
for line in "view" "view --png x $walk" "view --strict $walk" "view --workers 2 $walk" "play -o x $walk" \
    "play --hashes $walk" "view -o $scratch/nowhere/x.html --frames 1 $walk"; do
    # shellcheck disable=SC2086
    run $line
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "refused: espalier $(echo "$line" | sed "s,$walk,SCENE,; s,$scratch/,,")"
done
for seed in 1 2; do
    "$espalier" play --quiet --copies 3 --frames 9 --respawn 0 --seed $seed --tape "$scratch/$seed.tape" "$walk"
done
run diff -o "$scratch/parts.html" "$scratch/1.tape" "$scratch/2.tape"
call=$(sed -n 's/^they part in frame 0, at call \([0-9]*\) of it: .*/\1/p' "$scratch/out")
test "$status" -eq 1 && test -n "$call" &&
    test "$(grep -c "class=\"tape\" data-name=\"[AB]: .*\" data-frame=\"0\" data-record=\"$call\" data-entity=\"[0-9.]*\" \
data-note=\"they part .*&#10;  both have .*&#10;  carrier: the value is .*&#10;\" data-hashes=\"[0-9a-f]\{144\}\">H4sI" "$scratch/parts.html")" -eq 2
ok "diff writes a page of two tapes that opens at the call and the entity where they part"

run diff -o "$scratch/no.html" "$scratch/1.tape" "$scratch/1.tape"
first=$status
run diff -o "$scratch/no.html" "$scratch/1.tape" "$walk"
test "$first$status" = 02 && test "$(wc -l <"$scratch/err")" -eq 1 && test ! -e "$scratch/no.html"
ok "equal tapes have no such page, and other files are refused"
{ head -c 32 "$scratch/head" && head -c 52000000 /dev/urandom; } >"$scratch/large.tape"
run view -o "$scratch/no.html" "$scratch/large.tape"
test "$status" -eq 2 && test ! -e "$scratch/no.html" && grep -q 'would have 66 MB, more than 64: take fewer' "$scratch/err"
ok "a page that is too large is refused, with its size and what to shorten"
rm "$scratch/large.tape"
ESPALIER_VIEWER=$walk
run view -o "$scratch/no.html" "$walk"
test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && grep -q 'names no page' "$scratch/err"
ok "a file that is no page of the program is refused"
unset ESPALIER_VIEWER

# The module.
page=viewer.html
test -f "$page" || page=${srcdir:-.}/viewer.html
if test ! -f "$page" || ! command -v node >/dev/null; then
    skip "the module has the bits of the program" "no page is built (make viewer), or there is no node"
    done_testing
    exit
fi
ESPALIER_VIEWER=$page
export ESPALIER_VIEWER

# module COMMAND ARGUMENT...: run the module of the page.
module()
{
    command=$1
    shift
    node "${srcdir:-.}/tests/tools/view_module.mjs" "$command" "$scratch/page.html" "$@" >"$scratch/out" 2>"$scratch/err"
}

# agrees NAME FILE OPTION...: the module plays a scene or a tape, frame by frame, as the program does.
agrees()
{
    name=$1 file=$2
    shift 2
    run view -q -o "$scratch/page.html" "$@" "$file"
    if grep -q 'built without\|no reader' "$scratch/err" || test ! -f "$file"; then
        skip "$name: the same bits" "this build cannot read it, or it is not installed"
        return
    fi
    test "$status" -eq 0 && take_tape && "$espalier" replay -q --hashes "$scratch/tape" >"$scratch/native" &&
        test "$(wc -l <"$scratch/native")" -gt 1 && module hashes && cmp -s "$scratch/out" "$scratch/native"
    ok "$name: each frame of the module has both hashes of the program"
    has_hashes "$(wc -l <"$scratch/native")"
    ok "$name: the page has the physical one"
    module scrub && test -s "$scratch/out"
    ok "$name: frames in any order have the same bits, and each record ends where the index says"
}

agrees "a motion" "$walk" --frames 40 --copies 20
cp "$scratch/page.html" "$scratch/motion.html"
if test -x ./tests/tools/culled; then
    take_tape && module cull ./tests/tools/culled "$scratch/tape"
    ok "cameras see the same boxes in the module and in the program, and change no bits"
else
    skip "cameras see the same boxes in the module and in the program" "the program that culls is not built"
fi
agrees "a motion in ticks" "$walk" --frames 30 --copies 9 --ticks 20
agrees "a glTF file" "$assimp/glTF/CesiumMilkTruck/CesiumMilkTruck.gltf" --frames 5
agrees "a model of MuJoCo" "$mujoco/humanoid/22_humanoids.xml" --frames 20
cp "$scratch/motion.html" "$scratch/page.html"
take_tape && head -c 1000003 "$scratch/tape" >"$scratch/cut.tape"
agrees "a tape that is cut" "$scratch/cut.tape"

if test -x ./examples/rollback && ./examples/rollback 150 "$scratch/back.tape" >/dev/null; then
    agrees "a tape with rewinds" "$scratch/back.tape"
else
    skip "a tape with rewinds: the same bits" "the example that goes back is not built"
fi

# A tape of a world with cells of 2048: a ship at 3e9 -0.25 0, and its mast, 5 above it, which has an original.
if command -v base64 >/dev/null; then
    base64 -d >"$scratch/far.tape" <<'EOF'
ZXNwbHRhcGUJAAAAAQAAAAQDAgEfGIAMAAABAAAAAAAXAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAA
AAAAMAAAAAAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AACAPwAAgD8AAIA/AAAAAAAAAAAAGAAAAAABAAABBAAAAHNo
aXAAFwAAAAABAAAAAAAAAAAAAAAAAAAAAAEAAAEAAAAAAAAAAAEAAAAAAAAAAAAAADAAAAAAAAAAAAAAAAAAAAAAAIA/AAAAAAAA
oEAAAAAAAACAPwAAgD8AAIA/AACAPwAAAAAAAAAAABgBAAAAAQAAAQQAAABtYXN0AA4BG88PAQAAgBa0zIMBAKD+////fv///34A
KAEAAAAAAAAAAQAAAAEAAAEHAAAAAQAAYwABAAAAAGCv7RBZIODNAA==
EOF
    run view -q -o "$scratch/page.html" "$scratch/far.tape"
    test "$status" -eq 0 && module places && cat >"$scratch/wanted" <<'EOF' && cmp -s "$scratch/out" "$scratch/wanted"
ship: cell 1464844 0 0, absolute position 3000000000 -0.25 0
mast: cell 1464844 0 0, absolute position 3000000000 4.75 0, counterpart of 7.1660944385
EOF
    ok "a node of a large world has its cell, its absolute position and its original"
else
    skip "a node of a large world has its cell" "no base64"
fi

run view -q -o "$scratch/page.html" --frames 4 "$walk" && take_tape && cp "$scratch/tape" "$scratch/four.tape"
run view -q -o "$scratch/page.html" --frames 3 "$scratch/four.tape"
test "$status" -eq 0 && module hashes && test "$(wc -l <"$scratch/out")" -eq 3
ok "a tape is cut behind --frames"

run view -q -o "$scratch/page.html" --frames 4 "$walk"
test "$status" -eq 0 && module hostile && grep -q ' kinds of records$' "$scratch/out"
ok "cut tapes, and tapes with a bit that is another one, stop nothing"
done_testing
