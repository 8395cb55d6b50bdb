#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier play --cull": what two cameras see of a crowd, in the table, the document, pictures and films.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

make_crew

# seen: print of each camera how many boxes it sees, of how many.
seen()
{
    sed -n 's/^crew.bvh: the \([a-z]*\) sees \([0-9]*\) of \([0-9]*\) boxes in a frame: .* culled$/\1 \2 \3/p' "$scratch/out"
}

run play --cull --copies 40 --frames 20 "$scene"
test "$status" -eq 0 && test ! -s "$scratch/err" &&
    seen | awk '$2 > 0 && $2 < $3 { ++found } END { exit found != 2 }' &&
    grep -q 'the same by brute force for [0-9]* boxes and cameras' "$scratch/out"
ok "two cameras see a part of the crowd, and the same by brute force"
seen >"$scratch/first"
sum=$(awk '$1 == "checksum" {print $2}' "$scratch/out")

run play --copies 40 --frames 20 "$scene"
test "$status" -eq 0 && test "$(awk '$1 == "checksum" {print $2}' "$scratch/out")" = "$sum" &&
    ! grep -q 'culled' "$scratch/out"
ok "the worlds are equal to the worlds of a play without it"

run play --cull --copies 40 --frames 20 --workers 3 "$scene"
if grep -q 'without pthreadpool' "$scratch/err"; then
    skip "any number of workers sees the same" "built without pthreadpool"
else
    test "$status" -eq 0 && seen | cmp -s - "$scratch/first"
    ok "any number of workers sees the same"
fi

run play --cull --quiet --copies 3 --frames 5 "$scene"
test "$status" -eq 0 && test ! -s "$scratch/out" && test ! -s "$scratch/err"
ok "--quiet prints nothing"

run play --cull --copies 1 --frames 3 "$scene"
test "$status" -eq 0 && test "$(seen | wc -l)" -eq 2
ok "so it is with one copy"

run play --cull --ticks 20 "$scene"
test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && grep -q 'no --ticks' "$scratch/err"
ok "with ticks it is refused in one line"
run check --cull "$scene"
test "$status" -eq 2 && grep -q 'check has no --cull' "$scratch/err"
ok "other commands do not have it"

run play --cull --quiet --copies 20 --frames 9 --tape "$scratch/cull.tape" "$scene"
test "$status" -eq 0 && "$espalier" replay "$scratch/cull.tape" >"$scratch/out" 2>"$scratch/err"
ok "a tape of it replays"

run play --cull --copies 40 --frames 20 --json "$scratch/document.json" "$scene"
if grep -q 'without jansson' "$scratch/err"; then
    skip "the document has what is seen" "built without jansson"
else
    member()
    {
        sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$scratch/document.json"
    }
    test "$status" -eq 0 && test "$(member seen_by_eye)" -gt 0 && test "$(member seen_by_sun)" -gt 0 &&
        test "$(member boxes)" -gt "$(member seen_by_eye)" && test "$(member boxes_compared)" -gt 0 &&
        test "$(member boxes_too_close)" -lt "$(($(member boxes_compared) / 1000 + 9))"
    ok "the document has what is seen"
fi

run play --cull --quiet --copies 24 --frames 3 --png "$scratch/cull.png" "$scene"
if grep -q 'without Cairo' "$scratch/err"; then
    skip "pictures and films" "built without Cairo"
    done_testing
fi
cp "$scratch/cull.png" "$scratch/first.png"
run play --cull --quiet --copies 24 --frames 3 --png "$scratch/cull.png" "$scene"
test "$status" -eq 0 && cmp -s "$scratch/cull.png" "$scratch/first.png" &&
    "$espalier" play --quiet --copies 24 --frames 3 --png "$scratch/whole.png" "$scene" &&
    ! cmp -s "$scratch/cull.png" "$scratch/whole.png"
ok "the picture shows it, and the same play gives the same picture"

# README's picture.
picture=${srcdir:-.}/examples/culled.png
test "$(wc -c <"$picture")" -le 250000 && test "$(head -c 4 "$picture" | tail -c 3)" = PNG &&
    grep -q '](examples/culled.png)' "${srcdir:-.}/README.md"
ok "README.md shows a picture of at most 250 kB"

run play --cull --quiet --copies 24 --frames 5 --size 320x180 --film "$scratch/film" "$scene"
test "$status" -eq 0 && test "$(find "$scratch/film" -name 'frame-*.png' | wc -l)" -eq 5 &&
    test "$(cksum "$scratch/film"/* | sort -u -k 1,2 | wc -l)" -eq 5
ok "a film shows the camera turn"
run play --cull --quiet --copies 24 --frames 5 --size 320x180 --boats --camera chase --film "$scratch/chase" "$scene"
test "$status" -eq 0 && ! cmp -s "$scratch/film/frame-00002.png" "$scratch/chase/frame-00002.png"
ok "also with boats, seen from behind a copy"
done_testing
