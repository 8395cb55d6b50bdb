#!/bin/sh
# SPDX-License-Identifier: MIT
# Static objects of three.js, with matrixAutoUpdate off, below a parent that moves.
#
# Guess: getWorldPosition() brings the matrices up to date that it needs, from the top down, so it gives where the
#   object is; and a read changes nothing for others: the next updateMatrixWorld(), as the renderer calls it, finds
#   all that moved.
# Seen: so up to 0.184. Since 0.185 the read computes the parent, takes the parent's mark away, and does not hand it
#   on to the object, which is left as it was: the read gives the old place. Where the parent is static too and moved
#   by updateMatrix(), no mark is left for the next updateMatrixWorld(): the parent is drawn where it is, and all that
#   is below it where it was, siblings that were not read too. Without the read all are drawn where they are.
#   lookAt(), attach(), localToWorld() and worldToLocal() compute by the same function.
#   Call updateMatrixWorld() of what moved before anything below it is read.
# Versions: three 0.184.0 and 0.187.0. Needs npm and Node.js.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

cat >read.mjs <<'EOF'
import { Object3D, REVISION, Scene, Vector3 } from 'three';

function x(object) {
    return object.matrixWorld.elements[12];
}

// A static lamp and a static door on a car that was at 0, and is at 5.
function drive(isCarStatic, isRead) {
    const scene = new Scene();
    const [car, lamp, door] = [new Object3D(), new Object3D(), new Object3D()];
    scene.add(car);
    car.add(lamp, door);
    lamp.matrixAutoUpdate = false;
    door.matrixAutoUpdate = false;
    scene.matrixAutoUpdate = !isCarStatic;
    car.matrixAutoUpdate = !isCarStatic;
    scene.updateMatrixWorld(true);
    car.position.x = 5;
    if (isCarStatic) {
        car.updateMatrix();
    }
    const read = isRead ? `lamp read at ${lamp.getWorldPosition(new Vector3()).x}` : 'no read';
    scene.updateMatrixWorld();
    return `${read}, then drawn: car at ${x(car)}, lamp at ${x(lamp)}, door at ${x(door)}`;
}
for (const isCarStatic of [false, true]) {
    for (const isRead of [false, true]) {
        console.log(`three ${REVISION}, ${isCarStatic ? 'static car' : 'car'}: ${drive(isCarStatic, isRead)}`);
    }
}
EOF
for package in three@0.184.0 three@0.187.0; do
    npm install --prefix . --silent --no-audit --no-fund --ignore-scripts "$package"
    node read.mjs
done | tee seen

cat >expected <<'EOF'
three 184, car: no read, then drawn: car at 5, lamp at 5, door at 5
three 184, car: lamp read at 5, then drawn: car at 5, lamp at 5, door at 5
three 184, static car: no read, then drawn: car at 5, lamp at 5, door at 5
three 184, static car: lamp read at 5, then drawn: car at 5, lamp at 5, door at 5
three 187, car: no read, then drawn: car at 5, lamp at 5, door at 5
three 187, car: lamp read at 0, then drawn: car at 5, lamp at 5, door at 5
three 187, static car: no read, then drawn: car at 5, lamp at 5, door at 5
three 187, static car: lamp read at 0, then drawn: car at 5, lamp at 0, door at 0
EOF
diff expected seen
