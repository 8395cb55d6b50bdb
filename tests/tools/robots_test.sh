#!/bin/sh
# SPDX-License-Identifier: MIT
# Formats that are XML are told by their root element; robots in URDF and SDF move, agree with the oracle, and
# leave the terminal and the home directory alone.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

has_shrunken_limits && skip_all "a world of this build holds too few entities for scenes"

# is_built_with NAME: the readers of NAME are in this build; what they read is otherwise refused by NAME.
is_built_with()
{
    ! grep -q "built without $1" "$scratch/err"
}

# agrees FILE PATTERN: it agrees with the oracle, with PATTERN in the report and nothing on the standard error.
agrees()
{
    run check "$scratch/$1"
    test "$status" -eq 0 && test ! -s "$scratch/err" && grep -Eq "$2" "$scratch/out"
}

# refused FILE PATTERN: one line with PATTERN, and status 2.
refused()
{
    run check "$scratch/$1"
    test "$status" -eq 2 && test ! -s "$scratch/out" && test "$(wc -l <"$scratch/err")" -eq 1 &&
        grep -Eq "$2" "$scratch/err"
}

# --- Root elements ---

cat >"$scratch/box.dae" <<'END'
<?xml version="1.0" encoding="utf-8"?>
<!-- exported beside <mujoco> and <robot name="r"> -->
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="meter" meter="1"/><up_axis>Y_UP</up_axis></asset>
  <library_visual_scenes>
    <visual_scene id="s"><node id="a"><node id="b"/></node></visual_scene>
  </library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
END
agrees box.dae 'box.dae: . nodes, depth [12]' || grep -q 'without Assimp' "$scratch/err"
ok "COLLADA with a word of MJCF in a comment is no MJCF"

{
    printf '\357\273\277<?xml version="1.0"?>\n<!DOCTYPE mujoco [ <!ENTITY e "]>"> ]>\n<!--'
    head -c 40000 /dev/zero | tr '\0' x
    printf ' -->\n<mujoco><worldbody><body name="b"/><body pos="0 0 1"><body/></body></worldbody></mujoco>\n'
} >"$scratch/late.xml"
agrees late.xml 'late.xml: 3 nodes, depth 1,' || grep -q 'without MuJoCo' "$scratch/err"
ok "MJCF after a long comment is MJCF"

printf '<!-- <mujoco> --><svg xmlns="http://www.w3.org/2000/svg"/>\n' >"$scratch/picture.svg"
refused picture.svg 'picture.svg: ' && ! grep -q MuJoCo "$scratch/err"
ok "XML of another kind is not read as MJCF"

# --- URDF ---

cat >"$scratch/arm.urdf" <<'END'
<?xml version="1.0"?>
<!-- one link without anything, one with a mesh that is missing -->
<robot name="arm">
  <mujoco><compiler fusestatic="true"/></mujoco>
  <link name="base"/>
  <link name="upper"><visual><geometry><mesh filename="package://none/upper.stl"/></geometry></visual></link>
  <link name="flange"/>
  <link name="tip"/>
  <joint name="shoulder" type="continuous">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.5" rpy="0 1.5707963267948966 0"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="weld" type="fixed">
    <parent link="upper"/><child link="flange"/><origin xyz="0 0 2"/>
  </joint>
  <joint name="wrist" type="revolute">
    <parent link="flange"/><child link="tip"/><origin xyz="0 0 0.25"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="shoulder" multiplier="2"/>
  </joint>
</robot>
END
run check "$scratch/arm.urdf"
if is_built_with urdfdom; then
    agrees arm.urdf '^arm.urdf: 4 nodes, depth 3, 100 moments, 400 reads agree'
    ok "a robot in URDF agrees with the oracle at all moments"

    # The tip is 2.25 along the x of the world, half a unit up.
    run tree "$scratch/arm.urdf"
    test "$status" -eq 0 && test ! -s "$scratch/err" &&
        grep -A 2 ' tip$' "$scratch/out" |
        grep -q 'world  position 2.25 0 0.5  rotation 0 0.7071 0 0.7071$'
    ok "the tree has every link of a robot, with its place at 0 of all joints"

    run play --copies 20 --frames 10 "$scratch/arm.urdf"
    test "$status" -eq 0 && test ! -s "$scratch/err" &&
        grep -q '^arm.urdf  *4  *20 ' "$scratch/out" && grep -q '^oracle  *agreed' "$scratch/out"
    ok "copies of a robot play under moving parents"

    printf '<robot name="r" xmlns:xacro="x"><xacro:macro name="m"/><link name="a"/></robot>\n' \
        >"$scratch/arm.urdf.xacro"
    refused arm.urdf.xacro 'is a xacro file'
    ok "a xacro file is refused by that name"
else
    refused arm.urdf 'built without urdfdom'
    ok "URDF is refused where urdfdom is missing"
fi

# --- SDF ---

cat >"$scratch/world.sdf" <<'END'
<?xml version="1.0"?>
<sdf version="1.6">
  <world name="w">
    <light name="sun" type="directional"/>
    <model name="cart"><pose>1 0 0 0 0 0</pose>
      <link name="body"><pose>0 0 1 0 0 0</pose>
        <visual name="v"><geometry><mesh><uri>model://none/body.dae</uri></mesh></geometry></visual>
        <unknown_element/>
      </link>
      <link name="wheel"><pose>0 0.5 0.25 -1.5707963267948966 0 0</pose></link>
      <joint name="axle" type="revolute"><parent>body</parent><child>wheel</child>
        <axis><xyz>0 0 1</xyz></axis></joint>
    </model>
    <model name="box"><static>true</static><link name="side"/></model>
  </world>
</sdf>
END
mkdir "$scratch/home"
HOME=$scratch/home
export HOME
run check "$scratch/world.sdf"
if is_built_with libsdformat; then
    agrees world.sdf '^world.sdf: 5 nodes, depth 2, 100 moments, 500 reads agree'
    ok "a world in SDF agrees with the oracle at all moments"

    run tree "$scratch/world.sdf"
    test "$status" -eq 0 && test ! -s "$scratch/err" &&
        grep -A 2 ' wheel$' "$scratch/out" |
        grep -q 'world  position 1 0.5 0.25  rotation -0.7071 0 0 0.7071$'
    ok "the tree has the links of all models of a world"

    run play --copies 20 --frames 10 "$scratch/world.sdf"
    test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q '^oracle  *agreed' "$scratch/out"
    ok "copies of a world play under moving parents"

    sed 's|<light .*|<include><uri>model://no_such_model</uri></include>|' "$scratch/world.sdf" >"$scratch/include.sdf"
    agrees include.sdf '^    note: an include is not found: .*model://no_such_model' &&
        grep -q '^include.sdf: 5 nodes' "$scratch/out"
    ok "an include that cannot be resolved is named in a note"

    run check --strict "$scratch/include.sdf"
    test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1 &&
        grep -q '1 parts of the file are missing; .*model://no_such_model' "$scratch/err"
    ok "an include that cannot be resolved is a failure with --strict"

    printf '<sdf version="1.6"><world name="w"><include><uri>model://no_such_model</uri></include></world></sdf>' \
        >"$scratch/nothing.sdf"
    refused nothing.sdf 'model://no_such_model'
    ok "a world with nothing but an include that cannot be resolved is refused by the name of that"

    test -z "$(ls -A "$scratch/home")"
    ok "nothing is written into the home directory"
else
    refused world.sdf 'built without libsdformat'
    ok "SDF is refused where libsdformat is missing"
fi

done_testing
