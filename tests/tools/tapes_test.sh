#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier replay" replays a tape that a program recorded, with any number of workers, and refuses other files
# in one line.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

test -x ./examples/tape || skip_all "the example that records is not built"
tape=$scratch/tape
./examples/tape "$tape" >/dev/null
ok "a program records"

run replay "$tape"
test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q ': 11 calls, 3 frames$' "$scratch/out"
ok "its tape is replayed, call by call and frame by frame"

run replay --frames 2 "$tape"
test "$status" -eq 0 && grep -q ', 2 frames$' "$scratch/out"
ok "a replay ends after --frames"

run replay --rollback 2 "$tape"
test "$status" -eq 0 && grep -q ': 11 calls, 3 frames, 2 times back by 2$' "$scratch/out"
ok "frames are played again"

run replay --hashes "$tape"
test "$status" -eq 0 && test "$(grep -c '^[0-9a-f]\{16\} [0-9a-f]\{16\}$' "$scratch/out")" -eq 3
ok "--hashes prints both hashes of each frame"

handle=1.16777217
run replay --quiet --show "$handle" "$tape"
test "$status" -eq 0 && grep -q "^entity $handle: member of 0.16777217, " "$scratch/out"
ok "an entity is found by its handle"
for handle in 7. 7.1 .16777217 "$handle." "$handle.1" "$handle ship" -1.16777217 99999999999.1; do
    run replay --quiet --show "$handle" "$tape"
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "no entity has the handle $handle"
done
run replay --show nobody "$tape"
test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && grep -q 'no entity nobody' "$scratch/err"
ok "an entity that is not there is refused in one line"

run replay --workers 2 "$tape"
if grep -q 'without pthreadpool' "$scratch/err"; then
    skip "the frames are the same on two workers" "built without pthreadpool"
else
    test "$status" -eq 0 && grep -q ', 3 frames$' "$scratch/out"
    ok "the frames are the same on two workers"
fi

scene=${ESPALIER_ASSIMP_MODELS:-/usr/share/assimp/models}/BVH/01_01.bvh
if has_shrunken_limits || test ! -f "$scene" || { run check "$scene" && test "$status" -ne 0; }; then
    skip "a crowd goes back 8 frames after each frame" "no Assimp, no scene, or too small a world"
else
    run play --quiet --copies 5 --frames 20 --tape "$scratch/crowd" "$scene"
    test "$status" -eq 0 && run replay --rollback 8 "$scratch/crowd" && test "$status" -eq 0 &&
        grep -q ', 20 frames, 13 times back by 8$' "$scratch/out"
    ok "a crowd goes back 8 frames after each frame, and plays them again to equal hashes"
fi

# The last byte of a tape is the status of its last call.
head -c -1 "$tape" >"$scratch/cut"
run replay "$scratch/cut"
test "$status" -eq 0 && grep -q 'the tape ends within a call$' "$scratch/out"
ok "a tape that ends within a call is replayed up to that call"

{ cat "$scratch/cut" && printf '\001'; } >"$scratch/other"
run replay "$scratch/other"
test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1 &&
    grep -q ': at byte [0-9]*: frame answers ESPL_OK, not ESPL_LOSSY$' "$scratch/err"
ok "another answer gives one line with its place"

echo "no tape" >"$scratch/bad"
for file in "$scratch/bad" "$scratch/missing" "$scratch"; do
    run replay "$file"
    test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 && test ! -s "$scratch/out"
    ok "a file that is not a tape is refused in one line: ${file##*/}"
done

run replay
test "$status" -eq 2 && grep -q 'replay needs a tape' "$scratch/err"
ok "a replay needs a tape"
run replay --json - "$tape"
test "$status" -eq 2 && grep -q 'replay has no --json' "$scratch/err"
ok "a replay writes no document"
done_testing
