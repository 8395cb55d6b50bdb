#!/bin/sh
# SPDX-License-Identifier: MIT
# A glTF file of three.js with an object that is hidden by scale 0, and one that is flat, read again.
#
# Guess: the exporter, its own loader and glTF Transform agree: scales 0 0 0 and 1 0 1. glTF allows them, and
#   says that a scale of 0 on all axes hides a node.
# Seen: the exporter writes a matrix, as glTF allows. three's loader takes it apart by Matrix4.decompose(), which
#   answers scale 1 1 1 and no rotation for a matrix of determinant 0: what was hidden is shown, and what was flat
#   is solid and not turned. attach() does the same to an object without any file. glTF Transform reads the scale,
#   but NaN for the rotation and for the node's matrix, and in the file that it writes the turn is missing.
#   The exporter's option trs: true keeps all of it, in both.
# Versions: three 0.187.0, @gltf-transform/core 4.5.1. Needs npm and Node.js.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

npm install --prefix . --silent --no-audit --no-fund --ignore-scripts three@0.187.0 @gltf-transform/core@4.5.1

cat >hidden.mjs <<'EOF'
import { Object3D, Scene, REVISION } from 'three';
import { GLTFExporter } from 'three/addons/exporters/GLTFExporter.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { NodeIO, VERSION } from '@gltf-transform/core';

const show = (numbers) => numbers?.map((number) => Math.round(number * 1e3) / 1e3).join(' ') ?? '(nothing)';

console.log(`three ${REVISION}, glTF Transform ${VERSION.replace(/^v/, '')}`);
for (const trs of [false, true]) {
    const scene = new Scene();
    for (const [name, scale] of [['hidden', [0, 0, 0]], ['flat', [1, 0, 1]], ['plain', [2, 2, 2]]]) {
        const object = new Object3D();
        object.name = name;
        object.rotation.x = Math.PI / 2;
        object.scale.set(...scale);
        scene.add(object);
    }
    const file = await new GLTFExporter().parseAsync(scene, { trs });
    const io = new NodeIO();
    const document = await io.readJSON({ json: structuredClone(file), resources: {} });
    const written = JSON.parse(JSON.stringify((await io.writeJSON(document)).json));
    const loaded = await new GLTFLoader().parseAsync(JSON.stringify(file), '');

    console.log(trs ? 'written with trs: true' : 'written as a matrix');
    for (const object of scene.children) {
        const { name } = object;
        const inThree = loaded.scene.getObjectByName(name);
        const node = document.getRoot().listNodes().find((one) => one.getName() === name);
        const again = written.nodes.find((one) => one.name === name);
        console.log(`  ${name}, scale ${show(object.scale.toArray())}, turned ${show(object.quaternion.toArray())}`);
        console.log(`    three: scale ${show(inThree.scale.toArray())}, turned ${show(inThree.quaternion.toArray())}`);
        console.log(`    glTF Transform: scale ${show(node.getScale())}, turned ${show(node.getRotation())}, matrix `
            + (node.getMatrix().every(Number.isFinite) ? 'finite' : 'not finite')
            + `; in the file it writes: scale ${show(again.scale)}, turned ${show(again.rotation)}`);
    }
}
const shelf = new Object3D();
const hidden = new Object3D();
hidden.scale.set(0, 0, 0);
shelf.attach(hidden);
console.log(`attach() of scale 0 0 0: ${hidden.scale.toArray().join(' ')}`);
EOF
node hidden.mjs | tee seen

cat >expected <<'EOF'
three 187, glTF Transform 4.5.1
written as a matrix
  hidden, scale 0 0 0, turned 0.707 0 0 0.707
    three: scale 1 1 1, turned 0 0 0 1
    glTF Transform: scale 0 0 0, turned NaN NaN NaN NaN, matrix not finite; in the file it writes: scale 0 0 0, turned (nothing)
  flat, scale 1 0 1, turned 0.707 0 0 0.707
    three: scale 1 1 1, turned 0 0 0 1
    glTF Transform: scale 1 0 1, turned NaN NaN NaN NaN, matrix not finite; in the file it writes: scale 1 0 1, turned (nothing)
  plain, scale 2 2 2, turned 0.707 0 0 0.707
    three: scale 2 2 2, turned 0.707 0 0 0.707
    glTF Transform: scale 2 2 2, turned 0.707 0 0 0.707, matrix finite; in the file it writes: scale 2 2 2, turned 0.707 0 0 0.707
written with trs: true
  hidden, scale 0 0 0, turned 0.707 0 0 0.707
    three: scale 0 0 0, turned 0.707 0 0 0.707
    glTF Transform: scale 0 0 0, turned 0.707 0 0 0.707, matrix finite; in the file it writes: scale 0 0 0, turned 0.707 0 0 0.707
  flat, scale 1 0 1, turned 0.707 0 0 0.707
    three: scale 1 0 1, turned 0.707 0 0 0.707
    glTF Transform: scale 1 0 1, turned 0.707 0 0 0.707, matrix finite; in the file it writes: scale 1 0 1, turned 0.707 0 0 0.707
  plain, scale 2 2 2, turned 0.707 0 0 0.707
    three: scale 2 2 2, turned 0.707 0 0 0.707
    glTF Transform: scale 2 2 2, turned 0.707 0 0 0.707, matrix finite; in the file it writes: scale 2 2 2, turned 0.707 0 0 0.707
attach() of scale 0 0 0: 1 1 1
EOF
diff expected seen
