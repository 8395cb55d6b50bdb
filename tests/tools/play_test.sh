#!/bin/sh
# SPDX-License-Identifier: MIT
# Playing a crowd: the table, the picture, and the same worlds for any number of workers.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

scene=${ESPALIER_ASSIMP_MODELS:-/usr/share/assimp/models}/BVH/01_01.bvh
test -f "$scene" || skip_all "no Assimp test models"
run check "$scene"
grep -q 'without Assimp' "$scratch/err" && skip_all "built without Assimp"

# checksum: of the worlds at the end, from the lines below the table.
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
    number=$((number + 1))
    echo "ok $number # SKIP built without pthreadpool"
else
    for workers in 2 3 7; do
        run play --copies 40 --frames 20 --workers "$workers" "$scene"
        test "$status" -eq 0 && test "$(checksum)" = "$first"
        ok "$workers workers give the same worlds"
    done
fi

run play --quiet --copies 3 --frames 5 "$scene"
test "$status" -eq 0 && test ! -s "$scratch/out" && test ! -s "$scratch/err"
ok "quiet is quiet"

run play --copies 5 --frames 3 --png "$scratch/picture.png" "$scene" "$scene"
if grep -q 'without libpng' "$scratch/err"; then
    number=$((number + 1))
    echo "ok $number # SKIP built without libpng"
else
    test "$status" -eq 0 && test "$(head -c 4 "$scratch/picture.png" | tail -c 3)" = PNG
    ok "the picture is a PNG"
    run play --copies 1 --frames 1 --png "$scratch/nowhere/picture.png" "$scene"
    test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1
    ok "a picture that cannot be written is told"
fi

run play --copies 1 --frames 200 "$scene"
test "$status" -eq 0
ok "a crowd of one lives, dies and comes back"

for line in "" "dance $scene" "play" "play --copies 0 $scene" "play --copies x $scene" \
    "play --frames -1 $scene" "check --within 0 $scene" "play --no-such-option $scene"; do
    # shellcheck disable=SC2086
    run $line
    test "$status" -eq 2 && test ! -s "$scratch/out" && test -s "$scratch/err"
    ok "refused: espalier $(echo "$line" | sed "s,$scene,SCENE,")"
done

run --help
test "$status" -eq 0 && grep -q '^usage:' "$scratch/out"
ok "help is printed where it is asked for"

done_testing
