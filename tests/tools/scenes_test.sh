#!/bin/sh
# SPDX-License-Identifier: MIT
# Scenes of many formats agree with Assimp's own matrices; a bad scene gives one line and status 2.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

has_shrunken_limits && skip_all "a world of this build holds too few entities for scenes"
models=${ESPALIER_ASSIMP_MODELS:-/usr/share/assimp/models}
test -d "$models" || skip_all "no Assimp test models"
run check "$models/BVH/01_01.bvh"
grep -q 'without Assimp' "$scratch/err" && skip_all "built without Assimp"

# agrees FILE PATTERN: the worlds agree with Assimp's matrices, and the report has PATTERN.
agrees()
{
    run check "$models/$1"
    test "$status" -eq 0 && test ! -s "$scratch/err" && grep -Eq "$2" "$scratch/out"
    ok "$1 agrees with the oracle"
}

agrees BVH/01_01.bvh '38 nodes, depth 10, 100 moments, 3800 reads agree'
agrees Collada/anims_with_full_rotations_between_keys.DAE '129 nodes, depth 65, 100 moments'
agrees IFC/AC14-FZK-Haus.ifc '216 nodes, depth 7, at rest, 216 reads agree'
agrees glTF2/2CylinderEngine-glTF-Binary/2CylinderEngine.glb '82 nodes, depth 5'
agrees FBX/cubes_with_mirroring_and_pivot.fbx '5 nodes, depth 2, .* 5 reads agree'
agrees FBX/animation_with_skeleton.fbx '21 nodes, depth 9, 100 moments, 2100 reads agree'
agrees FBX/box.fbx '2 nodes, depth 1, at rest, 2 reads agree'
run tree "$models/FBX/box.fbx"
test "$status" -eq 0 && ! grep -q AssimpFbx "$scratch/out"
ok "helper nodes of FBX pivots are parts of their model's node"
agrees ASE/CameraRollAnim.ase '^    100 of 500 reads are not compared: 100 below uneven scale or shear$'
agrees FBX/cubes_with_outofrange_float.fbx '5 nodes'
agrees X/BCN_Epileptic.X '58 nodes, depth 13, 100 moments'
agrees BLEND/CubeHierarchy_248.blend '11 nodes, depth 4'
agrees OBJ/spider.obj '20 nodes, depth 1'
agrees 3DS/CameraRollAnimWithChildObject.3ds '4 nodes, depth 2, 100 moments'
agrees glTF/CesiumMilkTruck/CesiumMilkTruck.gltf '8 nodes, depth 2'

run check --strict "$models/ASE/CameraRollAnim.ase"
test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1 &&
    grep -q 'reads are not compared: [0-9]* below' "$scratch/err"
ok "--strict fails where reads are not compared"
run play --strict --copies 2 --frames 2 "$models/ASE/CameraRollAnim.ase"
test "$status" -eq 1 && grep -q 'reads are not compared: [0-9]* below' "$scratch/err"
ok "--strict fails in a crowd too"

run check --strict "$models/FBX/animation_with_skeleton.fbx"
test "$status" -eq 0 && test ! -s "$scratch/err"
ok "--strict passes where every read is compared"

# Three animations, the first of which is a run.
scene=$models/X/Testwuson.X
run check --frames 5 "$scene"
test "$status" -eq 0 && grep -q "^    note: animation 1 of 3 plays, 'Wuson_Run'; it has 1 'Wuson_Run'," "$scratch/out" &&
    grep -q " 2 'Wuson_Walk', 3 'Wuson_Bind'$" "$scratch/out"
ok "of several animations the first plays, and a note has their names"
run tree --animation Wuson_Walk "$scene"
test "$status" -eq 0 && grep -q "^    note: animation 2 of 3 plays, 'Wuson_Walk'" "$scratch/out"
ok "an animation is chosen by name"
run play --copies 2 --frames 2 --animation 3 "$scene"
test "$status" -eq 0 && grep -q "^    note: animation 3 of 3 plays, 'Wuson_Bind'" "$scratch/out"
ok "an animation is chosen by number"
for animation in Wuson 4 0 ''; do
    run check --animation "$animation" "$scene"
    test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1 &&
        grep -q "no animation '$animation'; it has 1 'Wuson_Run', 2 'Wuson_Walk', 3 " "$scratch/err"
    ok "the animation '$animation' is refused with the list"
done
run check --animation 1 "$models/OBJ/spider.obj"
test "$status" -eq 2 && grep -q "no animation '1'; it has none" "$scratch/err"
ok "an animation of a scene without any is refused"

# refused NAME FILE: every command prints one line that names the file, and nothing else, with status 2.
refused()
{
    for command in check play tree; do
        run $command "$2"
        test "$status" -eq 2 && test ! -s "$scratch/out" &&
            test "$(wc -l <"$scratch/err")" -eq 1 &&
            grep -Fq "espalier: $2: " "$scratch/err" || return 1
    done
}

: >"$scratch/empty.bvh"
printf 'hello, this is no scene\n' >"$scratch/text.txt"
printf '{"asset":{"version":"2.0"},"nodes":[{"chil' >"$scratch/cut.gltf"
head -c 3000 "$models/BVH/01_01.bvh" >"$scratch/cut.bvh"
printf '<mujoco><worldbody><body' >"$scratch/cut.xml"

for file in "$models"/glTF2/RecursiveNodes/*.gltf "$models"/glTF2/IndexOutOfRange/*.gltf \
    "$models/glTF2/MissingBin/BoxTextured.gltf" "$models/RAW/WithColor.raw" \
    "$scratch/missing.bvh" "$scratch/empty.bvh" "$scratch/text.txt" "$scratch/cut.gltf" \
    "$scratch/cut.bvh" "$scratch/cut.xml" "$scratch" /dev/null; do
    refused "$file" "$file"
    ok "$(basename "$file") is refused with one line"
done

# A chain deep enough to overflow the stack of a reader that recurses, as Assimp's does.
awk 'BEGIN {
    n = 100000
    printf "HIERARCHY\nROOT a\n"
    for (i = 0; i < n; ++i) printf "{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT b\n"
    printf "{\nOFFSET 0 0 0\nCHANNELS 0\n"
    for (i = 0; i <= n; ++i) print "}"
    print "MOTION\nFrames: 1\nFrame Time: 0.1"
}' >"$scratch/deep.bvh"
refused deep.bvh "$scratch/deep.bvh"
ok "a scene that crashes its reader is refused with one line"

# Two keys of scale, of which the second is flat, and stands at the end alone.
cat >"$scratch/end.gltf" <<'END'
{"asset":{"version":"2.0"},"nodes":[{"children":[1]},{"translation":[1,0,0]}],
 "buffers":[{"byteLength":32,"uri":"data:application/octet-stream;base64,AAAAAAAAgD8AAIA/AACAPwAAgD8AAAAAAACAPwAAgD8="}],
 "bufferViews":[{"buffer":0,"byteLength":8},{"buffer":0,"byteOffset":8,"byteLength":24}],
 "accessors":[{"bufferView":0,"componentType":5126,"count":2,"type":"SCALAR"},
  {"bufferView":1,"componentType":5126,"count":2,"type":"VEC3"}],
 "animations":[{"samplers":[{"input":0,"output":1,"interpolation":"STEP"}],
  "channels":[{"sampler":0,"target":{"node":0,"path":"scale"}}]}]}
END
run check --strict --frames 10 "$scratch/end.gltf"
if grep -q '^#define HAVE_TINYGLTF 1' config.h 2>/dev/null; then
    test "$status" -eq 1 && grep -q ': 1 of 20 reads are not compared' "$scratch/err"
    ok "the end of an animation is checked"
else
    skip "the end of an animation is checked" "built without tinygltf"
fi

# gltf NAME NODES: write a file without buffers.
gltf()
{
    printf '{"asset":{"version":"2.0"},"nodes":[%s]}' "$2" >"$scratch/$1.gltf"
}

run check "$models/glTF2/RecursiveNodes/RecursiveNodes.gltf"
if grep -q 'nodes are below themselves' "$scratch/err"; then
    chain=$(awk 'BEGIN { for (i = 1; i <= 30000; ++i) printf "{\"children\":[%d]},", i; print "{}" }')
    gltf deep "$chain"
    run check --strict "$scratch/deep.gltf"
    test "$status" -eq 0 &&
        grep -q 'deep.gltf: 30001 nodes, depth 30000, at rest, 30001 reads agree' "$scratch/out"
    ok "glTF may be as deep as it likes"
    run tree "$scratch/deep.gltf"
    test "$status" -eq 0 && grep -q '^30000 30000  leaf ' "$scratch/out"
    ok "the tree of a deep scene is printed, with the depth of each node"

    gltf uneven '{"scale":[1,2,1],"children":[1]},{"translation":[1,0,0]}'
    run check "$scratch/uneven.gltf"
    test "$status" -eq 0 && grep -q 'at rest, 1 reads agree' "$scratch/out" &&
        grep -q '^    1 of 2 reads are not compared: 1 below uneven scale or shear$' "$scratch/out"
    ok "nodes below uneven scale are counted in glTF too"

    gltf sheared '{"matrix":[1,0,0,0, 0.5,1,0,0, 0,0,1,0, 0,0,0,1]}'
    run check "$scratch/sheared.gltf"
    test "$status" -eq 0 && grep -q 'at rest, 0 reads agree' "$scratch/out" && grep -q \
        '^    1 of 1 reads are not compared: 0 below uneven scale or shear, 1 of sheared nodes$' \
        "$scratch/out"
    ok "a sheared node is not compared"
    for name in uneven sheared; do
        run check --strict "$scratch/$name.gltf"
        test "$status" -eq 1 && grep -q 'reads are not compared' "$scratch/err"
        ok "--strict fails for the $name scene"
    done
else
    skip "glTF may be as deep as it likes" "built without tinygltf"
fi

run check "$models/BVH/01_01.bvh" "$scratch/missing.bvh"
test "$status" -eq 2 && test ! -s "$scratch/out"
ok "with one bad scene among good ones nothing is played"

run tree "$models/BVH/01_01.bvh"
test "$status" -eq 0 && grep -Eq '^ +[0-9]+ +10  leaf ' "$scratch/out" &&
    test "$(grep -Ec '^ +[0-9]+ +[0-9]+  (root|member|leaf) ' "$scratch/out")" -eq 38
ok "the tree shows every node with its role and depth"

done_testing
