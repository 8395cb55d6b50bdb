// SPDX-License-Identifier: MIT
// For the tests of the package: a hierarchy in JavaScript, random trees, and what every test does.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { EspalierError, NULL_ENTITY, World } from "espalier";

// --- A hierarchy in JavaScript, in double precision, to compare with ---

export function multiply(a, b) {
    const [ax, ay, az, aw] = a, [bx, by, bz, bw] = b;

    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ];
}

export function rotate(q, v) {
    const [x, y, z] = multiply(multiply(q, [...v, 0]), [-q[0], -q[1], -q[2], q[3]]);

    return [x, y, z];
}

export function compose(parent, local) {
    const moved = rotate(parent.rotation, local.position.map((p, i) => p * parent.stretch[i] * parent.scale));

    return {
        rotation: multiply(parent.rotation, local.rotation),
        position: parent.position.map((p, i) => p + moved[i]),
        scale: parent.scale * local.scale,
        stretch: local.stretch,
    };
}

let seed = 1;

/** Start the draws anew. */
export function reseed(number) {
    seed = number;
}

export function draw() {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 16) / 65536;
}

export function drawLocal() {
    const rotation = [draw() - 0.5, draw() - 0.5, draw() - 0.5, draw() + 0.1];
    const length = Math.hypot(...rotation);

    return {
        rotation: rotation.map((part) => Math.fround(part / length)),
        position: [draw(), draw(), draw()].map((part) => Math.fround(part * 4 - 2)),
        scale: Math.fround(0.5 + draw()),
        stretch: [1, Math.fround(1 + draw()), 1],
    };
}

export function assertNear(found, wanted, what) {
    for (const part of ["position", "rotation", "stretch"]) {
        assert.equal(found[part].length, wanted[part].length);
        wanted[part].forEach((number, i) => {
            assert.ok(Math.abs(found[part][i] - number) <= 1e-3 * (1 + Math.abs(number)),
                `${what}: ${part} is ${found[part]}, not ${wanted[part]}`);
        });
    }
    assert.ok(Math.abs(found.scale - wanted.scale) <= 1e-4 * wanted.scale, `${what}: scale`);
}

/** A random tree of `count` nodes: handles, parents by index, locals as they were written. */
export function createTree(world, count) {
    const nodes = [], parents = [], locals = [];

    for (let i = 0; i < count; ++i) {
        const parent = i === 0 ? -1 : Math.floor(draw() * i);
        const local = drawLocal();

        parents.push(parent);
        locals.push(local);
        nodes.push(world.create({ ...local, parent: parent === -1 ? NULL_ENTITY : nodes[parent] }));
    }
    return { nodes, parents, locals };
}

export function computeWorlds({ parents, locals }) {
    const worlds = [];

    locals.forEach((local, i) => {
        worlds.push(parents[i] === -1 ? local : compose(worlds[parents[i]], local));
    });
    return worlds;
}

export function refuses(call, status) {
    assert.throws(call, (error) => {
        assert.ok(error instanceof EspalierError, String(error));
        assert.equal(error.status, status);
        return true;
    });
}

/** Run a program in a process of its own, which finds the package as this one does. */
export function run(program) {
    const cwd = dirname(fileURLToPath(import.meta.url));

    return spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd, encoding: "utf8" });
}

/** A test with a world, which is closed after it. */
export function withWorld(name, body, options) {
    test(name, () => {
        const world = new World(options);

        try {
            body(world);
            if (!world.isClosed) {
                assert.equal(world.validate(), null);
            }
        } finally {
            world.close();
        }
    });
}
