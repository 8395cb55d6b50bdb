#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier play --ticks": a crowd moves in ticks, frames between them show blends, and an oracle in double
# agrees, at fewer and at more ticks than frames.
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
        grep -q '"blended": [1-9]' "$scratch/document.json"
    ok "the document has what is shown"
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
done

# A scene of glTF.
box=/usr/share/assimp/models/glTF2/BoxTextured-glTF/BoxTextured.gltf
test -f "$box" || box=/usr/share/assimp/models/glTF/BoxTextured-glTF/BoxTextured.gltf
if test -f "$box"; then
    run play --ticks 25 --copies 5 --frames 60 "$box"
    test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q '^60 frames, 25 ticks' "$scratch/out"
    ok "a scene of glTF is shown between ticks"
fi

models=${ESPALIER_MUJOCO_MODELS:-/usr/share/mujoco/model}
if test -f "$models/humanoid/humanoid.xml"; then
    run play --ticks 100 --copies 3 --frames 60 "$models/humanoid/humanoid.xml"
    if grep -q 'without MuJoCo' "$scratch/err"; then
        skip "a simulation is shown between its steps" "built without MuJoCo"
    else
        test "$status" -eq 0 && test ! -s "$scratch/err"
        ok "a simulation is shown between its steps"
    fi
fi

for line in "play --ticks 0 $scene" "play --ticks x $scene" "check --ticks 20 $scene" \
    "tree --ticks 20 $scene" "replay --ticks 20 $scene"; do
    # shellcheck disable=SC2086
    run $line
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "refused: espalier $(echo "$line" | sed "s,$scene,SCENE,")"
done

done_testing
