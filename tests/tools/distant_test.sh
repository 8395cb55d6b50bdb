#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier check --offset": a scene that plays far from the origin, in cells, agrees with the oracle within
# the same bound as at the origin.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

make_crew

# plays OFFSET ARGUMENT...: the scene agrees at an offset, and each position is as near as at the origin.
plays()
{
    offset=$1
    shift
    run check --strict --within 1e-6 "$@" --offset "$offset" "$scene"
    test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q ' reads agree' "$scratch/out"
}

run check --strict --within 1e-6 "$scene"
test "$status" -eq 0 && ! grep -q 'in cells of' "$scratch/out"
ok "at the origin there are no cells"

for offset in 0,0,0 1e6,1e6,1e6 1e9,-1e9,1e9 -1234567.8125,-98765432.5,-3; do
    plays "$offset" && grep -q '^    at .* in cells of 2, ' "$scratch/out"
    ok "at $offset all agrees within a millionth"
done

plays 1e9,1e9,1000000030 && grep -q 'floats are off by up to 3[0-9]' "$scratch/out"
ok "at 1e9 floats would be off by more than thirty"
plays 1e6,1e6,1e6 && grep -q 'floats are off by up to 0.0[0-9]' "$scratch/out"
ok "at 1e6 floats would be off by some hundredths"

# A node that walks 10 along an axis, with one below it.
{
    printf 'HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition %s\nJOINT b\n{\n' \
        'Zrotation Xrotation Yrotation'
    printf 'OFFSET 0 0.5 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\nFrames: 11\nFrame Time: 0.1\n'
    awk 'BEGIN { for (i = 0; i <= 10; ++i) print i, 0, -i / 3, 0, 0, 0, 30 * i, 0, 0 }'
} >"$scratch/walk.bvh"
crew=$scene scene=$scratch/walk.bvh
plays 1e6,0,-1e6 --cell-size 1 && grep -q 'in cells of 1, [1-9][0-9] times in another one' "$scratch/out"
ok "roots that walk over an edge come to other cells"
scene=$crew
run check --offset 1e12,-1e12,1e12 --cell-size 4096 "$scene"
test "$status" -eq 0 && grep -q 'at 1e+12, -1e+12, 1e+12 in cells of 4096, ' "$scratch/out"
ok "with larger cells a scene is at 1e12"
run check --offset 1e15,0,0 "$scene"
test "$status" -eq 0 && grep -q 'in cells of 1048576, ' "$scratch/out"
ok "cells are as large as the offset needs"

run check --within 1e-12 --offset 1e6,1e6,1e6 "$scene"
test "$status" -eq 1 && grep -q 'a position is off by ' "$scratch/err"
ok "what is not within the length that is given fails"

run check --json "$scratch/document.json" --offset 1e6,-2e6,0.5 "$scene"
if grep -q 'without jansson' "$scratch/err"; then
    skip "the document has the place and the cells" "built without jansson"
else
    test "$status" -eq 0 && grep -q '"x": 1000000.0' "$scratch/document.json" &&
        grep -q '"y": -2000000.0' "$scratch/document.json" && grep -q '"z": 0.5' "$scratch/document.json" &&
        grep -q '"cell_size": 2.0' "$scratch/document.json" && grep -q '"other_cells": ' "$scratch/document.json" &&
        grep -q '"floats_error": ' "$scratch/document.json"
    ok "the document has the place and the cells"
fi

for offset in '' 1 1,2 1,2, 1,2,3, 1,2,3,4 1,2,x nan,0,0 0,inf,0 0,0,1e999 '1,,2' '1;2;3' 1e30,0,0; do
    run check --offset "$offset" "$scene"
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1 &&
        grep -q -e '--offset' "$scratch/err"
    ok "refused: --offset '$offset'"
done
for size in '' 0 3 0.5 -1 nan inf 2147483648 1x; do
    run check --offset 1,2,3 --cell-size "$size" "$scene"
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1 &&
        grep -q -e '--cell-size' "$scratch/err"
    ok "refused: --cell-size '$size'"
done
for line in "check --cell-size 2 $scene" "check --offset 3e9,0,0 --cell-size 2 $scene" "play --offset 1,2,3 $scene" \
    "tree --cell-size 2 $scene"; do
    # shellcheck disable=SC2086
    run $line
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "refused: espalier $(echo "$line" | sed "s,$scene,SCENE,")"
done

done_testing
