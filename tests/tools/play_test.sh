#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier play" of a crowd: the table, the picture, and the same worlds for any number of workers.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

has_shrunken_limits && skip_all "a world of this build holds too few entities for scenes"
scene=${ESPALIER_ASSIMP_MODELS:-/usr/share/assimp/models}/BVH/01_01.bvh
test -f "$scene" || skip_all "no Assimp test models"
run check "$scene"
grep -q 'without Assimp' "$scratch/err" && skip_all "built without Assimp"

# checksum: print the checksum of the worlds at the end, from the lines below the table.
checksum()
{
    awk '$1 == "checksum" {print $2}' "$scratch/out"
}

run play --copies 40 --frames 20 "$scene"
test "$status" -eq 0 && test ! -s "$scratch/err" &&
    grep -q '^01_01.bvh  *38  *40 ' "$scratch/out" && grep -q ' 0 refused' "$scratch/out"
ok "a crowd plays, and nothing but the table is printed"
first=$(checksum)

run play --copies 40 --frames 20 "$scene"
test -n "$first" && test "$(checksum)" = "$first"
ok "the same seed gives the same worlds"

run play --copies 40 --frames 20 --seed 2 "$scene"
test "$status" -eq 0 && test "$(checksum)" != "$first"
ok "another seed gives other worlds"

run play --copies 40 --frames 20 --workers 2 "$scene"
if grep -q 'without pthreadpool' "$scratch/err"; then
    skip "any number of workers gives the same worlds" "built without pthreadpool"
else
    for workers in 2 3 7; do
        run play --copies 40 --frames 20 --workers "$workers" "$scene"
        test "$status" -eq 0 && test "$(checksum)" = "$first"
        ok "$workers workers give the same worlds"
    done
fi

run play --quiet --copies 3 --frames 5 "$scene"
test "$status" -eq 0 && test ! -s "$scratch/out" && test ! -s "$scratch/err"
ok "--quiet prints nothing"

run play --copies 5 --frames 3 --png "$scratch/picture.png" "$scene" "$scene"
if grep -q 'without Cairo' "$scratch/err"; then
    skip "the picture is a PNG" "built without Cairo"
else
    test "$status" -eq 0 && test "$(head -c 4 "$scratch/picture.png" | tail -c 3)" = PNG
    ok "the picture is a PNG"
    cp "$scratch/picture.png" "$scratch/first.png"
    run play --copies 5 --frames 3 --png "$scratch/picture.png" "$scene" "$scene"
    test "$status" -eq 0 && cmp -s "$scratch/picture.png" "$scratch/first.png"
    ok "the same seed gives the same picture"
    run play --copies 5 --frames 3 --seed 2 --png "$scratch/picture.png" "$scene" "$scene"
    test "$status" -eq 0 && ! cmp -s "$scratch/picture.png" "$scratch/first.png"
    ok "another seed gives another picture"
    printf 'HIERARCHY\nROOT %s\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n%s}\n%s' \
        tip 'End Site { OFFSET 0 1 0 } ' 'MOTION
Frames: 1
Frame Time: 0.1
0 0 0
' >"$scratch/$(printf 'p\377le').bvh"
    run play --copies 3 --frames 2 --png "$scratch/picture.png" "$scratch/$(printf 'p\377le').bvh"
    test "$status" -eq 0 && test "$(head -c 4 "$scratch/picture.png" | tail -c 3)" = PNG
    ok "a name that is not UTF-8 can be drawn"
    run play --copies 1 --frames 1 --png "$scratch/nowhere/picture.png" "$scene"
    test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1
    ok "a picture that cannot be written gives one line and status 1"
fi

# has MEMBER...: the document has each of the members.
has()
{
    for member in "$@"; do
        grep -q "\"$member\": " "$scratch/document.json" || return 1
    done
}

# parses: the document is JSON, as far as this machine has Python to tell.
parses()
{
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$scratch/document.json"
    fi
}

run play --copies 40 --frames 20 --json "$scratch/document.json" "$scene" "$scene"
if grep -q 'without jansson' "$scratch/err"; then
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "without jansson --json is refused in one line"
else
    test "$status" -eq 0 && grep -q '^checksum ' "$scratch/out" && parses &&
        has command frames seed lanes scenes commands_played prefabs_made ns_per_node reads &&
        test "$(grep -c '"scene": "01_01.bvh"' "$scratch/document.json")" -eq 2 &&
        grep -q '"nodes": 38,' "$scratch/document.json" &&
        grep -q '"commands_refused": 0,' "$scratch/document.json" &&
        grep -q "\"checksum\": \"$(checksum)\"" "$scratch/document.json"
    ok "the document has what the table has"

    run play --copies 40 --frames 20 --json - "$scene"
    cp "$scratch/out" "$scratch/document.json"
    test "$status" -eq 0 && parses && test "$(head -c 1 "$scratch/out")" = "{" &&
        has agreed of_allowed
    ok "on stdout nothing but the document is written"

    run check --frames 5 --json "$scratch/document.json" "$scene"
    test "$status" -eq 0 && test -s "$scratch/out" && parses &&
        has moments max_error channels_not_played && grep -q '"not_compared": 0,' \
        "$scratch/document.json" && grep -q '"agreed": true' "$scratch/document.json"
    ok "check writes a document as well"

    for command in play check; do
        run "$command" --frames 5 --within 1e-30 --json "$scratch/document.json" "$scene"
        test "$status" -eq 1 && parses && has fault &&
            grep -q '"agreed": false' "$scratch/document.json"
        ok "the document has the failure of $command"
    done

    run play --copies 1 --frames 1 --json "$scratch/nowhere/document.json" "$scene"
    test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1
    ok "a document that cannot be written gives one line and status 1"
fi

run play --copies 1 --frames 200 "$scene"
test "$status" -eq 0
ok "a crowd of one is destroyed and created again"

for line in "" "dance $scene" "play" "play --copies 0 $scene" "play --copies x $scene" \
    "play --frames -1 $scene" "check --within 0 $scene" "play --no-such-option $scene" "tree --json - $scene" \
    "tree --strict $scene" "replay --strict $scene" "replay --animation 1 $scene" \
    "play --animation none $scene" "play --tape $scratch/two.tape $scene $scene" \
    "check --tape $scratch/none.tape $scene"; do
    # shellcheck disable=SC2086
    run $line
    test "$status" -eq 2 && test ! -s "$scratch/out" && test -s "$scratch/err"
    ok "refused: espalier $(echo "$line" | sed "s,$scene,SCENE,")"
done

for option in --tape --png --json --film; do
    file=$scratch/both.webm
    cp "$scene" "$file"
    # The scene itself, another path to it, and a link.
    for path in "$file" "$scratch/./both.webm" "$scratch/link.webm"; do
        ln -sf both.webm "$scratch/link.webm"
        run play --copies 1 --frames 2 "$option" "$path" "$file"
        { test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && cmp -s "$scene" "$file"; } || break
    done
    grep -q "built without\|$option would overwrite a file that is read\$" "$scratch/err" && cmp "$scene" "$file"
    ok "a scene is not overwritten by $option"
done
run play --copies 1 --frames 2 --tape "$scratch/both" --json "$scratch/both" "$scene"
test "$status" -eq 2 && test ! -e "$scratch/both" &&
    grep -q 'built without\|--json would overwrite what --tape writes$' "$scratch/err"
ok "two options do not write one file"
run play --copies 1 --frames 2 --tape /dev/null "$scene"
test "$status" -eq 0
ok "a device may be written"

run play --copies 3 --frames 20 --tape "$scratch/play.tape" "$scene"
test "$status" -eq 0
for command in play tree check; do
    run "$command" "$scratch/play.tape"
    test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && grep -q 'is no scene, but a tape' "$scratch/err"
    ok "$command says that a tape is no scene"
done
run replay "$scratch/play.tape"
test "$status" -eq 0 && grep -q ', 20 frames$' "$scratch/out"
ok "a play is replayed from its tape"

run play --copies 1 --frames 1 --tape "$scratch/nowhere/play.tape" "$scene"
test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1
ok "a tape that cannot be written gives one line and status 1"

run --help
test "$status" -eq 0 && grep -q '^usage:' "$scratch/out"
ok "--help prints the usage"

done_testing
