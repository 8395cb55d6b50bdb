#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier play --ticks": a crowd moves in ticks, frames between them show blends, and an oracle in double
# agrees, at fewer and at more ticks than frames, and ahead of the last tick.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

has_shrunken_limits && skip_all "a world of this build holds too few entities for scenes"
scene=${ESPALIER_ASSIMP_MODELS:-/usr/share/assimp/models}/BVH/01_01.bvh
test -f "$scene" || skip_all "no Assimp test models"
run check "$scene"
grep -q 'without Assimp' "$scratch/err" && skip_all "built without Assimp"

# shown: print how many shown transforms of the first scene were compared.
shown()
{
    awk '$1 == "01_01.bvh" {print $(NF - 3); exit}' "$scratch/out"
}

# blend_error: print the largest error of a shown position of the first scene.
blend_error()
{
    awk '$1 == "01_01.bvh" {print $(NF - 2); exit}' "$scratch/out"
}

# checksum: print the checksum of the worlds at the end.
checksum()
{
    awk '$1 == "checksum" {print $2}' "$scratch/out"
}

# Below and above 60 frames a second, whole shares of it, and rates of which most frames are between ticks.
for ticks in 1 7 20 50 60 61 240; do
    run play --ticks $ticks --copies 2 --frames 70 "$scene"
    count=$((69 * ticks / 60 + 1))
    test "$status" -eq 0 && test ! -s "$scratch/err" &&
        grep -q "^70 frames, $count ticks at $ticks a second, " "$scratch/out" &&
        test "$(shown)" -gt 4000
    ok "$ticks ticks a second are shown as the oracle blends them"
done

# Ahead of a frame's own time: where some frames are between the ticks and some beyond them, where all are beyond,
# before the earlier tick, and far away.
for ahead in 0.5 1 1.25 -0.5 -2 10 -10; do
    run play --ticks 20 --ahead $ahead --copies 2 --frames 70 "$scene"
    test "$status" -eq 0 && test ! -s "$scratch/err" &&
        grep -q "^70 frames, 24 ticks at 20 a second, $ahead ahead, " "$scratch/out" &&
        test "$(shown)" -gt 4000
    ok "$ahead ticks ahead are shown as the oracle extrapolates them"
done

# Turns between the ticks are a fit, and beyond them exact; the world is the same.
run play --ticks 20 --copies 2 --frames 70 "$scene"
between=$(blend_error)
between_sum=$(checksum)
run play --ticks 20 --ahead 1 --copies 2 --frames 70 "$scene"
test -n "$between_sum" && test "$(checksum)" = "$between_sum" &&
    awk -v between="$between" -v beyond="$(blend_error)" 'BEGIN {exit !(beyond > 0 && beyond < between / 4)}'
ok "frames beyond the ticks show exact turns, and leave the world alone"

run play --ticks 25 --copies 20 --frames 40 "$scene"
first=$(checksum)
reads=$(shown)
test -n "$first"
ok "a crowd plays in ticks"
if run play --ticks 25 --copies 20 --frames 40 --workers 3 "$scene" &&
    grep -q 'without pthreadpool' "$scratch/err"; then
    skip "any number of workers gives the same worlds" "built without pthreadpool"
else
    test "$(checksum)" = "$first" && test "$(shown)" = "$reads"
    ok "any number of workers gives the same worlds"
fi

# Each tick is a step of the scene, so ticks of the frame rate end with the worlds of frames.
run play --copies 20 --frames 40 "$scene"
frames=$(checksum)
run play --ticks 60 --copies 20 --frames 40 "$scene"
test -n "$frames" && test "$(checksum)" = "$frames"
ok "60 ticks a second end where 60 frames do"

run play --ticks 20 --copies 5 --frames 30 --within 1e-30 "$scene"
test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1
ok "a difference past the bound gives one line and status 1"

run play --ticks 20 --copies 5 --frames 30 --json "$scratch/document.json" "$scene"
if ! grep -q 'without jansson' "$scratch/err"; then
    test "$status" -eq 0 && grep -q '"ticks": 10' "$scratch/document.json" &&
        grep -q '"ticks_per_second": 20' "$scratch/document.json" &&
        grep -q '"shown_reads": [1-9]' "$scratch/document.json" &&
        grep -q '"ahead": 0[,.]' "$scratch/document.json" &&
        grep -q '"blended": [1-9]' "$scratch/document.json"
    ok "the document has what is shown"
    run play --ticks 20 --ahead 1.25 --copies 1 --frames 3 --json "$scratch/document.json" "$scene"
    test "$status" -eq 0 && grep -q '"ahead": 1.25,' "$scratch/document.json"
    ok "the document has how far ahead frames are"
fi

# Joints of a robot that go round in ticks, so that turns are long, and a scale that is inherited.
cat >"$scratch/arm.urdf" <<'END'
<robot name="arm">
  <link name="base"/><link name="upper"/><link name="lower"/><link name="tool"/>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 1" rpy="0.3 0 0.2"/><axis xyz="0 0 1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="2 0 0"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="lower"/><child link="tool"/>
    <origin xyz="1 0 0"/><axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
</robot>
END
for ticks in 1 3 50; do
    run play --ticks $ticks --copies 3 --frames 400 --strict "$scratch/arm.urdf"
    if grep -q 'without urdfdom' "$scratch/err"; then
        skip "joints of a robot turn between $ticks ticks a second" "built without urdfdom"
        break
    fi
    test "$status" -eq 0 && test ! -s "$scratch/err"
    ok "joints of a robot turn between $ticks ticks a second"
    run play --ticks $ticks --ahead 1.5 --copies 3 --frames 400 --strict "$scratch/arm.urdf"
    test "$status" -eq 0 && test ! -s "$scratch/err"
    ok "joints of a robot turn on beyond $ticks ticks a second"
done

# A scene of glTF.
box=/usr/share/assimp/models/glTF2/BoxTextured-glTF/BoxTextured.gltf
test -f "$box" || box=/usr/share/assimp/models/glTF/BoxTextured-glTF/BoxTextured.gltf
if test -f "$box"; then
    run play --ticks 25 --copies 5 --frames 60 "$box"
    test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q '^60 frames, 25 ticks' "$scratch/out"
    ok "a scene of glTF is shown between ticks"
    run play --ticks 25 --ahead 1 --copies 5 --frames 60 "$box"
    test "$status" -eq 0 && test ! -s "$scratch/err"
    ok "a scene of glTF is shown ahead"
fi

models=${ESPALIER_MUJOCO_MODELS:-/usr/share/mujoco/model}
if test -f "$models/humanoid/humanoid.xml"; then
    run play --ticks 100 --copies 3 --frames 60 "$models/humanoid/humanoid.xml"
    if grep -q 'without MuJoCo' "$scratch/err"; then
        skip "a simulation is shown between its steps" "built without MuJoCo"
    else
        test "$status" -eq 0 && test ! -s "$scratch/err"
        ok "a simulation is shown between its steps"
        run play --ticks 100 --ahead 1 --copies 3 --frames 60 "$models/humanoid/humanoid.xml"
        test "$status" -eq 0 && test ! -s "$scratch/err"
        ok "a simulation is shown ahead of its steps"
    fi
fi

for line in "play --ticks 0 $scene" "play --ticks x $scene" "check --ticks 20 $scene" \
    "tree --ticks 20 $scene" "replay --ticks 20 $scene" "play --ahead 1 $scene" \
    "play --ticks 20 --ahead x $scene" "play --ticks 20 --ahead 1x $scene" "play --ticks 20 --ahead 10.01 $scene" \
    "play --ticks 20 --ahead -11 $scene" "play --ticks 20 --ahead nan $scene" \
    "play --ticks 20 --ahead inf $scene" "play --ticks 20 --ahead 1e999 $scene" "check --ahead 1 $scene"; do
    # shellcheck disable=SC2086
    run $line
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "refused: espalier $(echo "$line" | sed "s,$scene,SCENE,")"
done
run play --ticks 20 --ahead '' "$scene"
test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1
ok "refused: espalier play --ticks 20 --ahead '' SCENE"

done_testing
