#!/bin/sh
# SPDX-License-Identifier: MIT
# A look-at of a node below a mirrored parent, in three engines.
#
# Guess: the node's axis points at the target. Below a parent of scale -1 -1 -1 there is such a rotation, the lengths
#   are all 1, and each of the three takes the parent into account.
# Seen: all three miss by 59 to 106 degrees, each by another angle, and none says so. All three take a rotation out of
#   the parent's world matrix without a look at its mirror. With a parent of scale 1 all three hit, and with one of -1 1 1 all
#   three miss too.
# Versions: three 0.187.0, @babylonjs/core 9.31.0, playcanvas 2.23.3. Needs npm and Node.js.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

npm install --prefix . --silent --no-audit --no-fund --ignore-scripts \
    three@0.187.0 @babylonjs/core@9.31.0 playcanvas@2.23.3

cat >look.mjs <<'EOF'
import { FreeCamera } from '@babylonjs/core/Cameras/freeCamera.js';
import { AbstractEngine } from '@babylonjs/core/Engines/abstractEngine.js';
import { NullEngine } from '@babylonjs/core/Engines/nullEngine.js';
import { Space } from '@babylonjs/core/Maths/math.axis.js';
import { Vector3 } from '@babylonjs/core/Maths/math.vector.js';
import { TransformNode } from '@babylonjs/core/Meshes/transformNode.js';
import { Logger } from '@babylonjs/core/Misc/logger.js';
import { Scene } from '@babylonjs/core/scene.js';
import { GraphNode, version } from 'playcanvas';
import { Object3D, REVISION } from 'three';

const target = [5, 6, 7];
const angles = [0.1, 0.2, 0.3];
const degrees = angles.map((angle) => (angle * 180) / Math.PI);

// @returns by how many degrees the third axis of a world matrix, times `sign`, misses the target.
function miss(matrix, sign) {
    const axis = [8, 9, 10].map((i) => sign * matrix[i]);
    const way = target.map((number, i) => number - matrix[12 + i]);
    const dot = axis.reduce((sum, number, i) => sum + number * way[i], 0);
    const cosine = dot / Math.hypot(...axis) / Math.hypot(...way);
    return Math.round((Math.acos(Math.max(-1, Math.min(1, cosine))) * 180) / Math.PI);
}
function inThree(scale) {
    const parent = new Object3D();
    const node = new Object3D();
    parent.rotation.set(...angles);
    parent.scale.set(...scale);
    node.position.set(1, 0, 0);
    parent.add(node);
    parent.updateMatrixWorld(true);
    node.lookAt(...target);
    parent.updateMatrixWorld(true);
    return miss(node.matrixWorld.elements, 1);
}
function inBabylon(scale, scene) {
    const parent = new TransformNode('parent', scene);
    const node = new TransformNode('node', scene);
    parent.rotation.set(...angles);
    parent.scaling.set(...scale);
    node.position.set(1, 0, 0);
    node.parent = parent;
    parent.computeWorldMatrix(true);
    node.computeWorldMatrix(true);
    node.lookAt(new Vector3(...target), 0, 0, 0, Space.WORLD);
    node.computeWorldMatrix(true);
    return miss(node.getWorldMatrix().asArray(), 1);
}
function inPlayCanvas(scale) {
    const root = new GraphNode('root');
    const parent = new GraphNode('parent');
    const node = new GraphNode('node');
    root.addChild(parent);
    parent.addChild(node);
    parent.setLocalEulerAngles(...degrees);
    parent.setLocalScale(...scale);
    node.setLocalPosition(1, 0, 0);
    node.lookAt(...target);
    return miss(node.getWorldTransform().data, -1);
}

Logger.LogLevels = Logger.NoneLogLevel;
const engine = new NullEngine();
const scene = new Scene(engine);
new FreeCamera('camera', new Vector3(0, 0, -5), scene);
console.log(`three ${REVISION}, Babylon.js ${AbstractEngine.Version}, PlayCanvas ${version}; degrees beside the target`);
for (const scale of [[1, 1, 1], [-1, -1, -1], [-1, 1, 1]]) {
    console.log(`parent of scale ${scale.join(' ')}: three ${inThree(scale)}, Babylon.js ${inBabylon(scale, scene)}`
        + `, PlayCanvas ${inPlayCanvas(scale)}`);
}
EOF
node look.mjs | tee seen

cat >expected <<'EOF'
three 187, Babylon.js 9.31.0, PlayCanvas 2.23.3; degrees beside the target
parent of scale 1 1 1: three 0, Babylon.js 0, PlayCanvas 0
parent of scale -1 -1 -1: three 106, Babylon.js 59, PlayCanvas 66
parent of scale -1 1 1: three 54, Babylon.js 59, PlayCanvas 66
EOF
diff expected seen
