#!/bin/sh
# SPDX-License-Identifier: MIT
# A URDF file with a tab or a line break between the three numbers of an attribute.
#
# Guess: it is read like one with blanks. By XML every tab and line break in an attribute is a blank for the
#   program that reads it, and the number of blanks between numbers has never mattered in URDF.
# Seen: MuJoCo and urdf-loader read it so. liburdfdom refuses the whole robot: its XML reader, TinyXML, leaves tabs
#   and line breaks in attributes, and the numbers are split at blanks only. A file that an XML formatter has
#   wrapped still works in the browser and in the simulation, and not with the parser of ROS.
# Versions: Debian 12, liburdfdom 3.0.1, MuJoCo 2.2.2; urdf-loader 0.13.1 with three 0.187.0 and linkedom 0.18.12.
#   Needs apt-get, dpkg, C and C++ compilers, npm and Node.js.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
multiarch=$(gcc -print-multiarch)

for package in liburdfdom-dev=3.0.1-1 liburdfdom-headers-dev=1.0.5-3 liburdfdom-model3.0=3.0.1-1 \
    libtinyxml2.6.2v5=2.6.2-6+deb12u1 libtinyxml-dev=2.6.2-6+deb12u1 \
    libconsole-bridge-dev=1.0.1+dfsg2-3+b1 libconsole-bridge1.0=1.0.1+dfsg2-3+b1 \
    libmujoco-dev=2.2.2-3 libmujoco2.2.2=2.2.2-3 libccd2=2.1-2+b1 libqhull-r8.0=2020.2-5 \
    liblodepng0=0.0~git20220618.b4ed2cd-3 libtinyxml2-9=9.0.0+dfsg-3.1; do
    apt-get -qq download "$package" 2>log || { cat log; exit 2; }
done
for file in *.deb; do dpkg -x "$file" root; done
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts \
    urdf-loader@0.13.1 three@0.187.0 linkedom@0.18.12

# write NAME NUMBERS: a robot whose arm stands at NUMBERS.
write()
{
    inertial='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    cat >"$1.urdf" <<EOF
<?xml version="1.0"?>
<robot name="robot">
  <link name="base">$inertial</link>
  <link name="arm">$inertial</link>
  <joint name="turn" type="continuous">
    <parent link="base"/>
    <child link="arm"/>
    <origin xyz="$2"/>
    <axis xyz="0 0 1"/>
  </joint>
</robot>
EOF
}
write blanks '1  2   3'
write tab "1$(printf '\t')2 3"
write break '1
              2 3'

cat >dom.cpp <<'EOF'
#include <cstdio>
#include <fstream>
#include <iterator>
#include <urdf_parser/urdf_parser.h>

int main(int, char **arguments)
{
    std::ifstream file(arguments[1]);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const urdf::ModelInterfaceSharedPtr robot = urdf::parseURDF(text);

    if (robot == nullptr) {
        std::puts("refused");
        return 0;
    }
    const urdf::Vector3 &at = robot->getJoint("turn")->parent_to_joint_origin_transform.position;
    std::printf("%g %g %g\n", at.x, at.y, at.z);
}
EOF
cat >mujoco.c <<'EOF'
#include <mujoco/mujoco.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    char error[300] = "";
    mjModel *model = count > 1 ? mj_loadXML(arguments[1], NULL, error, sizeof error) : NULL;

    if (model == NULL) {
        printf("refused: %s\n", error);
        return 0;
    }
    const mjtNum *at = &model->body_pos[3 * mj_name2id(model, mjOBJ_BODY, "arm")];
    printf("%g %g %g\n", at[0], at[1], at[2]);
    mj_deleteModel(model);
    return 0;
}
EOF
cat >loader.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import { DOMParser } from 'linkedom';
import URDFLoader from 'urdf-loader';

globalThis.DOMParser = DOMParser;
globalThis.Document ??= class {};
globalThis.Element ??= class {};
const robot = new URDFLoader().parse(readFileSync(process.argv[2], 'utf8'));
console.log(robot.joints.turn.position.toArray().join(' '));
EOF
libraries=$room/root/usr/lib/$multiarch
g++ -Iroot/usr/include dom.cpp -o dom -L"$libraries" -lurdfdom_model -Wl,-rpath-link,"$libraries"
gcc -Iroot/usr/include mujoco.c -o mujoco -L"$libraries" -lmujoco -Wl,-rpath-link,"$libraries"

{
    echo "liburdfdom $(dpkg-deb -f liburdfdom-model3.0_*.deb Version)"
    echo "MuJoCo $(dpkg-deb -f libmujoco2.2.2_*.deb Version)"
    echo "urdf-loader $(sed -n 's/^ *"version": "\(.*\)",/\1/p' node_modules/urdf-loader/package.json)"
} >seen
for name in blanks tab break; do
    dom=$(LD_LIBRARY_PATH=$libraries ./dom "$name.urdf" 2>log)
    mujoco=$(LD_LIBRARY_PATH=$libraries ./mujoco "$name.urdf")
    loader=$(node loader.mjs "$name.urdf")
    echo "$name: liburdfdom $dom; MuJoCo $mujoco; urdf-loader $loader" >>seen
done
cat seen

cat >expected <<'EOF'
liburdfdom 3.0.1-1
MuJoCo 2.2.2-3
urdf-loader 0.13.1
blanks: liburdfdom 1 2 3; MuJoCo 1 2 3; urdf-loader 1 2 3
tab: liburdfdom refused; MuJoCo 1 2 3; urdf-loader 1 2 3
break: liburdfdom refused; MuJoCo 1 2 3; urdf-loader 1 2 3
EOF
diff expected seen
