#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier pack", "unpack", "info" and "diff": archives that zstd can unpack, what they have, what differs, and
# damaged files, which are refused in one line.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

test -x ./examples/save || skip_all "the examples that write files are not built"
save=$scratch/save.espl
packed=$scratch/save.zst
tape=$scratch/tape
./examples/save "$save" >/dev/null && ./examples/tape "$tape" >/dev/null
ok "programs write an archive and a tape"

run info "$save"
test "$status" -eq 0 && test ! -s "$scratch/err" &&
    grep -q '^  3 nodes, 2 at the top, depth 1, 3 with a name$' "$scratch/out" &&
    grep -q '^    gun  *version 1, 16 bytes, 3 fields, 1 reference: 1 entity$' "$scratch/out" &&
    grep -q '^    LOCA  96 bytes$' "$scratch/out"
ok "info says what an archive has"
run info "$tape"
test "$status" -eq 0 && grep -q ': a tape of version [0-9]*, of a world with the tag' "$scratch/out" &&
    grep -q '^  11 calls, 3 frames$' "$scratch/out" &&
    grep -q '^  2 nodes, 1 at the top, depth 1, 0 with a name, at its end$' "$scratch/out"
ok "info says what a tape has"

run diff "$save" "$save"
test "$status" -eq 0 && test ! -s "$scratch/out" && test ! -s "$scratch/err"
ok "a file does not differ from itself"
run diff "$save" "$tape"
test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && grep -q 'a tape alone' "$scratch/err"
ok "an archive and a tape are not compared"
: >"$scratch/none"
for other in "$scratch" "$scratch/missing" "$scratch/none" "$save"; do
    run diff "$other" "$tape"
    test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && grep -Fq "espalier: $other: " "$scratch/err"
    first=$?
    run diff --output "$scratch/no.html" "$tape" "$other"
    test "$first$status" = 02 && test "$(wc -l <"$scratch/err")" -eq 1 && test ! -e "$scratch/no.html" &&
        grep -Fq -e "espalier: $other: " -e 'without zlib' "$scratch/err"
    ok "where one of two files is a tape, the other is blamed: ${other##*/}"
done
for command in pack unpack; do
    cp "$save" "$scratch/both" && run "$command" --output "$scratch/both" "$scratch/both"
    test "$status" -eq 2 && cmp "$save" "$scratch/both" &&
        grep -q -e 'overwrite a file that is read$' -e 'without zstd: no pack$' "$scratch/err"
    ok "$command does not overwrite the file that it reads"
done
head -c -1 "$tape" >"$scratch/short"
run diff "$tape" "$scratch/short"
test "$status" -eq 1 && grep -q '^A is ' "$scratch/out" &&
    grep -q '^they part in frame 2, at call 3 of it: byte ' "$scratch/out" &&
    grep -q '^  B ends within it$' "$scratch/out"
ok "a tape that ends earlier differs, and the frame is said"
run diff --quiet "$tape" "$scratch/short"
test "$status" -eq 1 && test ! -s "$scratch/out"
ok "a quiet comparison prints nothing"

for arguments in "diff $save" "diff $save $save $save" "pack $save" "unpack --output $packed" \
    "info --workers 2 $save" "diff --frames 1 $tape $tape" "info"; do
    # A list of words.
    # shellcheck disable=SC2086
    run $arguments
    test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1
    ok "arguments that do not fit are refused: ${arguments%% *}"
done

# refused FILE PATTERN: info prints one line that names the file and has the pattern, with status 2.
refused()
{
    run info "$1"
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1 &&
        grep -Fq "espalier: $1: " "$scratch/err" && grep -q "$2" "$scratch/err"
}

size=$(wc -c <"$save")
echo "no archive" >"$scratch/text"
head -c $((size - 1)) "$save" >"$scratch/cut"
{ head -c 400 "$save" && printf '\377' && tail -c +402 "$save"; } >"$scratch/flipped"
: >"$scratch/empty"
refused "$scratch/text" 'no tape, archive or image$'
ok "other files are refused"
refused "$scratch/empty" 'no tape, archive or image$'
ok "an empty file is refused"
refused "$scratch/missing" 'No such file'
ok "a file that is not there is refused"
refused "$scratch/cut" ': at byte [0-9]*: .*\.$'
ok "an archive that ends too early is refused with offset and sentence"
refused "$scratch/flipped" ': at byte [0-9]*: The checksum of a section differs'
ok "a damaged archive is refused with offset and sentence"

run pack --quiet --output "$packed" "$save"
if grep -q 'without zstd' "$scratch/err"; then
    skip "archives are packed" "built without zstd"
    done_testing
fi
test "$status" -eq 0 && test ! -s "$scratch/out" && test "$(wc -c <"$packed")" -lt "$size"
ok "an archive is packed"
if command -v zstd >/dev/null; then
    zstd -q -t "$packed" 2>"$scratch/err" && zstd -q -d -c "$packed" 2>"$scratch/err" | cmp - "$save"
    ok "zstd unpacks it to the same bytes"
    zstd -q -c "$tape" >"$scratch/tape.zst" && run replay "$scratch/tape.zst"
    test "$status" -eq 0 && grep -q ': 11 calls, 3 frames$' "$scratch/out"
    ok "a tape that zstd packed is replayed"
else
    skip "zstd unpacks it to the same bytes" "no zstd"
fi
run unpack --output "$scratch/again" "$packed"
test "$status" -eq 0 && cmp "$scratch/again" "$save" &&
    grep -q ": $size bytes, from $(wc -c <"$packed")$" "$scratch/out"
ok "it is unpacked to the same bytes"
run info "$packed"
test "$status" -eq 0 && grep -q "^  $size bytes, .*; packed $(wc -c <"$packed"), which is " "$scratch/out"
ok "info says how far it is packed"
run diff "$packed" "$save"
test "$status" -eq 0
ok "packing changes nothing"
run pack --output - --level 19 "$save"
test "$status" -eq 0 && cp "$scratch/out" "$scratch/stdout.zst" && run diff "$scratch/stdout.zst" "$save" &&
    test "$status" -eq 0
ok "an archive is packed to the standard output, at another level"

# The drone moves by one unit in each frame.
run pack --quiet --frames 1 --output "$scratch/one.zst" "$tape" && first=$status
run pack --quiet --frames 3 --output "$scratch/three.zst" "$tape"
test "$first$status" = 00 && run diff "$scratch/one.zst" "$scratch/three.zst" && test "$status" -eq 1 &&
    test "$(sed -n 2p "$scratch/out")" = '[1]: the position is 0 0 1 in A and 0 0 3 in B'
ok "the states of a tape at two frames differ, and the node is said"
run pack --frames 4 --output "$scratch/four.zst" "$tape"
test "$status" -eq 2 && grep -q 'the tape has 3 frames, not 4$' "$scratch/err" && test ! -e "$scratch/four.zst"
ok "a frame that a tape does not have is refused"

packed_size=$(wc -c <"$packed")
for cut in 5 12 $((packed_size / 2)) $((packed_size - 1)); do
    head -c "$cut" "$packed" >"$scratch/cut.zst"
    refused "$scratch/cut.zst" ': at byte [0-9]*: '
    ok "packed bytes that end after $cut are refused with the offset"
done
{ head -c 60 "$packed" && printf '\377\377' && tail -c +63 "$packed"; } >"$scratch/flipped.zst"
refused "$scratch/flipped.zst" ': at byte [0-9]*: zstd cannot unpack it: '
ok "damaged packed bytes are refused with the offset"
# A frame that claims 2^40 bytes.
printf '\050\265\057\375\340\000\000\000\000\000\001\000\000\001\000\000' >"$scratch/bomb.zst"
refused "$scratch/bomb.zst" 'unpacks to more than 4 GiB$'
ok "what claims to unpack to too much is refused"
run unpack --output "$scratch/nothing" "$scratch/flipped.zst"
test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && test ! -e "$scratch/nothing"
ok "of damaged bytes nothing is written"
run unpack --output "$scratch/nothing" "$save"
test "$status" -eq 2 && grep -q 'an archive that is not packed$' "$scratch/err" && test ! -e "$scratch/nothing"
ok "what is not packed is not unpacked"
run pack --output "$scratch/nowhere/file" "$save"
test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && grep -q 'not written to' "$scratch/err"
ok "a file that cannot be written gives one line"

scene=${ESPALIER_ASSIMP_MODELS:-/usr/share/assimp/models}/BVH/01_01.bvh
if has_shrunken_limits || test ! -f "$scene" || { run check "$scene" && test "$status" -ne 0; }; then
    skip "a scene is packed at rest" "no Assimp, no scene, or too small a world"
else
    run pack --quiet --output "$scratch/scene.zst" "$scene"
    test "$status" -eq 0 && run info "$scratch/scene.zst" &&
        grep -q '^  38 nodes, 1 at the top, depth 10, 38 with a name$' "$scratch/out"
    ok "a scene is packed at rest"
    run diff "$scene" "$scratch/scene.zst"
    test "$status" -eq 0
    ok "it does not differ from the scene"
fi
done_testing
