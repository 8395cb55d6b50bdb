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
agrees glTF2/2CylinderEngine-glTF-Binary/2CylinderEngine.glb '83 nodes, depth 6'
agrees FBX/cubes_with_mirroring_and_pivot.fbx '12 nodes, depth 9, .* 12 reads agree'
agrees FBX/animation_with_skeleton.fbx '16 nodes are below uneven scale or shear'
agrees FBX/cubes_with_outofrange_float.fbx '5 nodes'
agrees X/BCN_Epileptic.X '58 nodes, depth 13, 100 moments'
agrees BLEND/CubeHierarchy_248.blend '11 nodes, depth 4'
agrees OBJ/spider.obj '20 nodes, depth 1'
agrees 3DS/CameraRollAnimWithChildObject.3ds '4 nodes, depth 2, 100 moments'
agrees glTF/CesiumMilkTruck/CesiumMilkTruck.gltf '8 nodes, depth 2'

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

# A chain deep enough to overflow the stack of a reader that recurses.
awk 'BEGIN {
    printf "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":["
    for (i = 0; i < 300000; ++i) printf "{\"children\":[%d]},", i + 1
    print "{}]}"
}' >"$scratch/deep.gltf"
refused deep.gltf "$scratch/deep.gltf"
ok "a scene that crashes its reader is refused with one line"

run check "$models/BVH/01_01.bvh" "$scratch/missing.bvh"
test "$status" -eq 2 && test ! -s "$scratch/out"
ok "with one bad scene among good ones nothing is played"

run tree "$models/BVH/01_01.bvh"
test "$status" -eq 0 && grep -Eq '^ +[0-9]+ +10  leaf ' "$scratch/out" &&
    test "$(grep -Ec '^ +[0-9]+ +[0-9]+  (root|member|leaf) ' "$scratch/out")" -eq 38
ok "the tree shows every node with its role and depth"

done_testing
