// SPDX-License-Identifier: MIT
// Culling by three.js against the npm package, in one process of Node:
//
//     node cull.mjs PACKAGES ESPALIER
//
// PACKAGES is a directory with three in node_modules, ESPALIER the package that "make npm" builds. A BatchedMesh
// tests a sphere for each instance; the package tests boxes, so their counts differ.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, directory] = process.argv.slice(2);
const three = await import(pathToFileURL(resolve(packages, "node_modules/three/build/three.module.js")));
const { World } = await import(pathToFileURL(resolve(directory, "espalier.js")));
const SIDE = 2000, GROUP = 20, TURNS = 11;

// Uniform in [0, 1), the same each time.
function makeDraw() {
    let seed = 7;

    return () => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return seed / 2 ** 32;
    };
}

function makePositions(count) {
    const draw = makeDraw(), positions = new Float32Array(3 * count);

    for (let i = 0; i < count; ++i) {
        const first = 3 * (i - i % GROUP);

        for (let k = 0; k < 3; ++k) {
            positions[3 * i + k] = i % GROUP === 0 ? (draw() - 0.5) * SIDE
                : positions[first + k] + (draw() - 0.5) * 20;
        }
    }
    return positions;
}

function makeBatch(positions) {
    const count = positions.length / 3, box = new three.BoxGeometry(1, 1, 1), at = new three.Matrix4();
    const mesh = new three.BatchedMesh(count, 24, 36, new three.MeshBasicMaterial()), id = mesh.addGeometry(box);

    mesh.sortObjects = false;
    for (let i = 0; i < count; ++i) {
        mesh.setMatrixAt(mesh.addInstance(id), at.setPosition(...positions.subarray(3 * i, 3 * i + 3)));
    }
    return mesh;
}

function makeDrawn(positions) {
    const world = new World(), drawn = world.renderables(), visible = world.visible();

    for (let i = 0; i < positions.length; i += 3) {
        world.create({ position: [...positions.subarray(i, i + 3)],
                       components: [[drawn.bounds, [0, 0, 0, 0.5, 0.5, 0.5]], [drawn.renderable, [0, 0, 0]]] });
    }
    drawn.update();
    return { drawn, visible };
}

function take(times, call) {
    const begin = performance.now();

    call();
    times.push(1000 * (performance.now() - begin));
}

function median(times) {
    return times.sort((a, b) => a - b)[times.length >> 1];
}

const renderer = { coordinateSystem: three.WebGLCoordinateSystem };
console.log("   boxes camera   visible         us BatchedMesh  ratio");
for (const count of [100_000, 1_000_000]) {
    const positions = makePositions(count), mesh = makeBatch(positions), { drawn, visible } = makeDrawn(positions);

    for (const [name, away, slope] of [["narrow", 1.1 * SIDE / 2, 0.057], ["wide", 1.1 * SIDE / 2, 0.455],
        ["all", 5 * SIDE, 1]]) {
        const camera = new three.PerspectiveCamera(2 * Math.atan(slope) * 180 / Math.PI, 1, 1, 20 * SIDE);
        const matrix = new three.Matrix4(), own = [], theirs = [];

        camera.position.z = away;
        camera.updateMatrixWorld();
        matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
        for (let turn = 0; turn < TURNS; ++turn) {
            take(own, () => visible.cull(drawn.mirror, { matrix: matrix.elements }));
            mesh._visibilityChanged = true;
            take(theirs, () => mesh.onBeforeRender(renderer, null, camera, mesh.geometry, mesh.material));
        }
        const ours = median(own), other = median(theirs), seen = visible.count(0);

        if (seen > mesh._multiDrawCount || seen < 0.9 * mesh._multiDrawCount) {
            throw new Error(`${seen} boxes are visible, and ${mesh._multiDrawCount} spheres`);
        }
        console.log(`${String(count).padStart(8)} ${name.padEnd(7)} ${String(seen).padStart(8)} ` +
            `${ours.toFixed(1).padStart(10)} ${other.toFixed(1).padStart(11)} ${(ours / other).toFixed(4)}`);
    }
}
