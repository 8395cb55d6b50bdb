// SPDX-License-Identifier: MIT
// What the package promises of renderables, mirrors, cameras and arrays of instances.
import "./test-calls.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import { Layers, NO_KEY, Renderable, World } from "espalier";
import { createTree, draw, drawLocal, refuses, withWorld } from "./test-support.mjs";

const NOTHING = { planes: [[1, 0, 0, -1e6]] };

/** Planes between which x is. */
function between(least, most, more = {}) {
    return { planes: [[1, 0, 0, -least], [-1, 0, 0, most]], ...more };
}

/** A test with boxes in a row, at x of 0, 10, 20 and so on, with keys 1 and 2 by turns. */
function withRow(name, count, body, options = {}) {
    withWorld(name, (world) => {
        const drawn = world.renderables(options), visible = world.visible();
        const boxes = Array.from({ length: count }, (_, i) => world.create({ position: [10 * i, 0, 0], components: [
            [drawn.bounds, [0, 0, 0, 0.5, 0.5, 0.5]], [drawn.renderable, [1 + i % 2, 100 + i, 0]]] }));

        body({ world, drawn, visible, boxes });
    });
}

/** Cull, and return the handles that a camera sees, by group. */
function see(drawn, visible, camera, options) {
    const instances = drawn.world.instances({ entities: true });

    visible.cull(drawn.mirror, camera, options);
    const count = visible.write(instances), seen = [...instances.entities.subarray(0, count)];
    instances.close();
    return seen;
}

// --- Updates and mirrors ---

withRow("an update tells what came, moved and went, and makes a mirror", 5, ({ world, drawn, boxes }) => {
    assert.equal(drawn.mirror, null);
    assert.equal(drawn.reserve(100), "ESPL_OK");
    const first = drawn.update(), { mirror } = drawn;
    assert.deepEqual([first.status, first.renderables, first.added, first.removed, first.moved, first.number,
        first.bad, first.firstBad], ["ESPL_OK", 5, 5, 0, 0, 1, 0, 0n]);
    assert.deepEqual([mirror.number, mirror.renderables, mirror.user.length], [1, 5, 0]);
    assert.equal(drawn.mirror, mirror);
    world.setLocalPosition(boxes[1], [11, 0, 0]);
    world.destroy(boxes[2]);
    const second = drawn.update();
    assert.deepEqual([second.renderables, second.added, second.removed, second.moved, second.number],
        [4, 0, 1, 1, 2]);
    assert.equal(mirror.number, 1, "what describes a mirror stays");
    assert.notEqual(drawn.mirror, mirror);
    refuses(() => mirror.changed(), "CLOSED");
    refuses(() => mirror.user, "CLOSED");
    world.set(boxes[3], drawn.bounds, [0, 0, 0, -1, 1, 1]);
    const third = drawn.update();
    assert.deepEqual([third.status, world.status, third.bad, third.firstBad],
        ["ESPL_PARTLY", "ESPL_PARTLY", 1, boxes[3]]);
    refuses(() => world.renderables(), "ESPL_ERR_EXISTS");
    for (const chunk of world.query()) {
        world.setLocalPosition(chunk.entities[0], [1, 0, 0]);
        assert.equal(drawn.update().moved, 1);
        refuses(() => drawn.close(), "ESPL_ERR_BUSY");
        break;
    }
});

withRow("a mirror has bytes of the program", 1, ({ drawn }) => {
    drawn.update(Uint8Array.of(1, 2, 3, 4));
    assert.deepEqual([...drawn.mirror.user], [1, 2, 3, 4]);
    assert.throws(() => drawn.update(new Uint8Array(3)), RangeError);
    const before = drawn.mirror;
    drawn.update(before.user);
    assert.deepEqual([...drawn.mirror.user], [1, 2, 3, 4], "those of the mirror before can be given");
    drawn.update();
    assert.deepEqual([...drawn.mirror.user], [0, 0, 0, 0]);
}, { userSize: 4 });

withWorld("clusters that changed are all that a copy of the poses needs", (world) => {
    const drawn = world.renderables({ cellSize: 2 });
    const instances = world.instances({ entities: true, userData: true }), copy = new Map();
    const { nodes } = createTree(world, 700);
    let since = 0, rewrites = 0;

    nodes.forEach((node, i) => {
        world.add(node, drawn.bounds, [0, 0, 0, 0.1, 0.1, 0.1]);
        world.add(node, drawn.renderable, [i % 3, i, 0]);
    });
    for (let round = 0; round < 20; ++round) {
        world.setLocalTransform(nodes[Math.floor(draw() * nodes.length)], drawLocal());
        if (round % 4 === 3) {
            world.destroy(nodes.pop());
        }
        drawn.update();
        const { mirror } = drawn, clusters = mirror.changed(since);
        assert.deepEqual([...clusters], [...clusters].sort((a, b) => a - b));
        for (const cluster of clusters) {
            const count = mirror.write(cluster, instances);

            assert.ok(count <= 128 && cluster < mirror.clusters);
            copy.set(cluster, { entities: instances.entities.slice(0, count),
                words: instances.userData.slice(0, count), matrices: instances.matrices.slice(0, 16 * count) });
        }
        since = mirror.number;
        rewrites += clusters.length;
        const alive = nodes.filter((node) => world.isAlive(node));
        const found = new Map();
        for (const { entities, words, matrices } of copy.values()) {
            entities.forEach((entity, i) => found.set(entity, [words[i], ...matrices.subarray(16 * i, 16 * i + 16)]));
        }
        assert.equal(found.size, alive.length);
        for (const node of alive) {
            assert.deepEqual(found.get(node), [world.get(node, drawn.renderable)[1], ...world.getMatrix(node)]);
        }
        assert.equal(mirror.changed(since).length, 0);
    }
    assert.ok(rewrites < 20 * drawn.mirror.clusters, "not every cluster changes each time");
    const all = world.instances(), { mirror } = drawn;
    let total = 0;
    for (const cluster of mirror.changed()) {
        total += mirror.write(cluster, all, total);
    }
    assert.equal(total, mirror.renderables);
    assert.ok(all.capacity >= total);
    refuses(() => mirror.write(mirror.clusters, all), "ESPL_ERR_ARGUMENT");
});

// --- Cameras ---

withRow("what each camera sees is grouped by key, and so written", 9, ({ world, drawn, visible, boxes }) => {
    const instances = world.instances({ entities: true, userData: true, sizes: true, previous: true });

    assert.deepEqual([visible.groups(), visible.count()], [[], 0]);
    drawn.update();
    assert.equal(visible.cull(drawn.mirror, [between(15, 55), {}, { layers: 0 }]), "ESPL_OK");
    assert.deepEqual(visible.groups(), [{ key: 1, first: 0, count: 2 }, { key: 2, first: 2, count: 2 }]);
    assert.deepEqual([0, 1, 2, 3].map((camera) => visible.count(camera)), [4, 9, 0, 0]);
    assert.equal(visible.write(instances), 4);
    const seen = instances.entities.slice(0, 4);
    assert.deepEqual(new Set(seen.slice(0, 2)), new Set([boxes[2], boxes[4]]));
    assert.deepEqual(new Set(seen.slice(2)), new Set([boxes[3], boxes[5]]));
    assert.deepEqual(instances.matrices.slice(0, 64), world.readMatrices("world", seen));
    assert.deepEqual(instances.previous.slice(0, 64), world.readMatrices("world", seen));
    assert.deepEqual([...instances.userData.slice(0, 4)], [...seen].map((entity) => 100 + boxes.indexOf(entity)));
    assert.deepEqual([...instances.sizes.slice(0, 4)], [0, 0, 0, 0]);
    assert.equal(visible.write(instances, 1, 4), 9, "another camera behind the first one");
    assert.deepEqual(instances.entities.slice(0, 4), seen);
    assert.equal(new Set(instances.entities.slice(4, 13)).size, 9);
    refuses(() => visible.write(instances, 3), "ESPL_ERR_ARGUMENT");
    assert.deepEqual(see(drawn, visible, NOTHING), []);
});

withRow("forms of poses are those of the world", 3, ({ world, drawn, visible, boxes }) => {
    world.setLocalTransform(boxes[1], { ...drawLocal(), position: [10, 2, 3] });
    drawn.update();
    visible.cull(drawn.mirror, between(9, 11, { origin: [1, 2, 1e9] }));
    const forms = Object.fromEntries(["3x4", "4x4", "4x3", "pose"].map((form) => {
        const instances = world.instances({ form });

        assert.equal(visible.write(instances), 1);
        return [form, [...instances.matrices.subarray(0, instances.matrices.length / instances.capacity)]];
    }));
    const wanted = [...world.getMatrix(boxes[1])], { rotation, scale } = world.getWorldPose(boxes[1]);
    wanted.splice(12, 3, 9, 0, Math.fround(3 - 1e9));
    assert.deepEqual(forms["4x4"], wanted);
    assert.deepEqual(forms["4x3"], wanted.filter((_, i) => i % 4 !== 3));
    assert.deepEqual(forms["3x4"],
        [0, 1, 2].flatMap((row) => [0, 1, 2, 3].map((column) => wanted[4 * column + row])));
    assert.deepEqual(forms.pose, [...rotation, 9, 0, Math.fround(3 - 1e9), scale]);
});

/** The signed distance of a box, the further corner, inside a plane, in double precision. */
function distance(plane, matrix, [cx, cy, cz, hx, hy, hz]) {
    const at = (row) => matrix[row] * cx + matrix[4 + row] * cy + matrix[8 + row] * cz + matrix[12 + row];
    const half = (row) => [hx, hy, hz].reduce((sum, part, column) => sum + Math.abs(matrix[4 * column + row]) * part, 0);

    return [0, 1, 2].reduce((sum, row) => sum + plane[row] * at(row) + Math.abs(plane[row]) * half(row), plane[3]);
}

withWorld("what is seen is what every box by itself is", (world) => {
    const drawn = world.renderables(), visible = world.visible();
    const { nodes } = createTree(world, 1500), boxes = new Map();

    for (const node of nodes) {
        const box = [draw() - 0.5, draw() - 0.5, draw() - 0.5, draw(), draw(), draw()].map(Math.fround);

        boxes.set(node, box);
        world.add(node, drawn.bounds, box);
        world.add(node, drawn.renderable, [Math.floor(8 * draw()), 0, 0]);
    }
    let all = 0, some = 0;
    for (let round = 0; round < 10; ++round) {
        for (let i = 0; i < 50; ++i) {
            world.setLocalTransform(nodes[Math.floor(draw() * nodes.length)], drawLocal());
        }
        drawn.update();
        const planes = Array.from({ length: 4 }, () => {
            const normal = [draw() - 0.5, draw() - 0.5, draw() - 0.5], length = Math.hypot(...normal);

            return [...normal.map((part) => part / length), 10 * draw()].map(Math.fround);
        });
        const seen = new Set(see(drawn, visible, { planes }));
        for (const node of nodes) {
            const matrix = world.getMatrix(node);
            const least = Math.min(...planes.map((plane) => distance(plane, matrix, boxes.get(node))));
            const band = 1e-4 * (1 + Math.max(...[...matrix].map(Math.abs)));

            assert.ok(least < band || seen.has(node), `a box that is inside by ${least} is not seen`);
            assert.ok(least > -band || !seen.has(node), `a box that is outside by ${-least} is seen`);
        }
        all += nodes.length;
        some += seen.size;
    }
    assert.ok(some > 0 && some < all);
});

withRow("a camera is made of a matrix of either clip space", 9, ({ drawn, visible, boxes }) => {
    // 40 units of x, 2 of y, and z from near to far, which are 0 and 1, or -1 and 1.
    const matrix = new Float32Array([1 / 20, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.25, 0, 0, 0, 0.5, 1]);

    drawn.update();
    assert.deepEqual(new Set(see(drawn, visible, { matrix, clip: "zeroToOne" })), new Set(boxes.slice(0, 3)));
    assert.deepEqual(new Set(see(drawn, visible, { matrix: [...matrix] })), new Set(boxes.slice(0, 3)));
    matrix[0] = NaN;
    refuses(() => visible.cull(drawn.mirror, { matrix }), "ESPL_ERR_NOT_FINITE");
    refuses(() => visible.cull(drawn.mirror, { planes: [[NaN, 0, 0, 1]] }), "ESPL_ERR_NOT_FINITE");
    assert.equal(visible.count(), 3, "a refused cull leaves the result before");
    const plane = [0, 0, 1, 9];
    refuses(() => visible.cull(drawn.mirror, { planes: Array(9).fill(plane) }), "ESPL_ERR_ARGUMENT");
    assert.equal(see(drawn, visible, { planes: Array(8).fill(plane) }).length, 9);
    refuses(() => visible.cull(drawn.mirror, Array(65).fill({})), "ESPL_ERR_ARGUMENT");
    visible.cull(drawn.mirror, Array(64).fill({}));
    assert.equal(visible.count(63), 9);
    refuses(() => visible.cull(drawn.mirror, {}, { alpha: 1.5 }), "ESPL_ERR_ARGUMENT");
});

withRow("layers, keys and flags say who sees what", 4, ({ world, drawn, visible, boxes }) => {
    const top = world.create({ components: [[drawn.layers, [0b10, 0]]] });

    world.attach(boxes[0], top);
    world.attach(boxes[1], top);
    world.add(boxes[1], drawn.layers, [0b111, Layers.ABSOLUTE]);
    world.set(boxes[2], drawn.renderable, [NO_KEY, 0, 0]);
    world.set(boxes[3], drawn.renderable, [5, 0, Renderable.ALWAYS]);
    drawn.update();
    assert.deepEqual(new Set(see(drawn, visible, { layers: 0b001 })), new Set([boxes[1], boxes[3]]));
    assert.deepEqual(new Set(see(drawn, visible, { layers: 0b010 })), new Set([boxes[0], boxes[1], boxes[3]]));
    assert.deepEqual(see(drawn, visible, NOTHING), [boxes[3]]);
    assert.equal(drawn.mirror.renderables, 4);
    world.set(top, drawn.layers, [0b01, 0]);
    world.setEnabled(boxes[3], false);
    drawn.update();
    assert.deepEqual(new Set(see(drawn, visible, { layers: 0b001 })), new Set([boxes[0], boxes[1]]));
});

withRow("a key of levels stands for one by the size on the image", 1, ({ world, drawn, visible, boxes }) => {
    const key = drawn.addLods([{ key: 7, size: 100 }, { key: 8, size: 10 }]);
    const keysAt = (z, more) => {
        visible.cull(drawn.mirror, { eye: [0, 0, z], pixels: 1000, ...more });
        return visible.groups().map((group) => group.key);
    };
    const instances = world.instances({ sizes: true });

    world.set(boxes[0], drawn.renderable, [key, 0, 0]);
    drawn.update();
    assert.deepEqual([2, 50, 1000].map((z) => keysAt(z)), [[7], [8], []]);
    assert.deepEqual(keysAt(50, { leastSize: 50 }), []);
    assert.deepEqual(keysAt(50, { pixels: 0 }), [7], "without an image the first level is drawn");
    assert.deepEqual([2, 1000].map((z) => keysAt(z, { orthographic: true, pixels: 20 })), [[8], [8]]);
    keysAt(50);
    visible.write(instances);
    assert.ok(instances.sizes[0] >= 10 && instances.sizes[0] < 100);
    for (const bad of [[], Array(9).fill({ key: 1, size: 1 }), [{ key: 1, size: 1 }, { key: 2, size: 2 }],
        [{ key: 1, size: NaN }]]) {
        refuses(() => drawn.addLods(bad), "ESPL_ERR_ARGUMENT");
    }
});

withRow("between two updates poses are blended, and by entity they ascend", 6, ({ world, drawn, visible, boxes }) => {
    const instances = world.instances({ previous: true, entities: true });

    drawn.update();
    world.setLocalPosition(boxes[0], [4, 0, 0]);
    drawn.update();
    const xAt = (options) => {
        visible.cull(drawn.mirror, between(-1, 8), options);
        assert.equal(visible.write(instances), 1);
        return [instances.matrices[12], instances.previous[12]];
    };
    assert.equal(xAt({})[0], 4);
    assert.deepEqual([0, 0.25, 1].map((alpha) => xAt({ alpha })[0]), [0, 1, 4]);
    assert.equal(xAt({})[1], 0);
    const seen = see(drawn, visible, {}, { byEntity: true });
    assert.deepEqual(seen, [0, 2, 4, 1, 3, 5].map((i) => boxes[i]));
});

// --- Memory ---

withRow("arrays of instances grow, and are made anew after the memory has", 300, ({ world, drawn, visible }) => {
    const instances = world.instances({ entities: true, capacity: 10 });

    assert.deepEqual([instances.matrices.length, instances.entities.length, instances.previous, instances.userData,
        instances.sizes], [160, 10, null, null, null]);
    assert.equal(instances.matrices, instances.matrices, "without growth the array is the same");
    assert.ok(instances.matrices.every((number) => number === 0));
    drawn.update();
    visible.cull(drawn.mirror, between(-1, 51));
    visible.write(instances);
    const seen = instances.entities.slice(0, 6);
    instances.reserve(5);
    assert.equal(instances.capacity, 10);
    instances.reserve(11);
    assert.equal(instances.capacity, 11);
    assert.deepEqual(instances.entities.slice(0, 6), seen);
    assert.deepEqual(instances.matrices.slice(0, 96), world.readMatrices("world", seen));
    assert.equal(visible.write(instances, 0, 6), 6);
    assert.equal(instances.capacity, 22);
    assert.deepEqual(instances.entities.slice(0, 12), BigUint64Array.of(...seen, ...seen));
    visible.cull(drawn.mirror, {});
    assert.equal(visible.write(instances), 300);
    assert.equal(instances.capacity, 300);

    const { matrices } = instances, { mirror } = drawn, { user } = mirror;
    for (let i = 0; i < 100 && matrices.length !== 0; ++i) {
        world.createMany(20000);
    }
    assert.deepEqual([matrices.length, user.length], [0, 0]);
    assert.equal(instances.matrices.length, 4800);
    assert.deepEqual(instances.matrices, world.readMatrices("world", instances.entities));
    assert.equal(drawn.mirror, mirror);
    assert.equal(mirror.user.length, 4);
    visible.cull(mirror, {});
    assert.equal(visible.write(instances), 300);
}, { userSize: 4 });

withRow("a result is written while its mirror is the newest one", 3, ({ world, drawn, visible, boxes }) => {
    const instances = world.instances({ entities: true });

    drawn.update();
    visible.cull(drawn.mirror, {});
    world.clear();
    assert.equal(visible.write(instances), 3, "a mirror reads no world");
    assert.deepEqual(new Set(instances.entities.subarray(0, 3)), new Set(boxes));
    drawn.update();
    assert.equal(visible.count(), 3);
    refuses(() => visible.write(instances), "CLOSED");
    visible.cull(drawn.mirror, {});
    assert.equal(visible.write(instances), 0);
    const { mirror } = drawn;
    drawn.close();
    refuses(() => visible.write(instances), "CLOSED");
    refuses(() => visible.cull(mirror, {}), "CLOSED");
    refuses(() => mirror.write(0, instances), "CLOSED");
    const again = world.renderables();
    assert.equal(again.bounds.number, drawn.bounds.number);
    assert.equal(again.mirror, null);
});

withRow("images, rewinds and loaded worlds are drawn as they are", 5, ({ world, drawn, visible, boxes }) => {
    const image = world.saveImage(), history = world.history();

    drawn.update();
    history.mark(1);
    world.setLocalPosition(boxes[0], [1000, 0, 0]);
    world.destroy(boxes[1]);
    drawn.update();
    assert.deepEqual(new Set(see(drawn, visible, between(-1, 41))), new Set(boxes.slice(2)));
    history.rewind(1);
    drawn.update();
    assert.deepEqual(new Set(see(drawn, visible, between(-1, 41))), new Set(boxes));
    history.close();
    world.clear();
    drawn.update();
    assert.deepEqual(see(drawn, visible, {}), []);
    world.loadImage(image);
    drawn.update();
    assert.deepEqual(new Set(see(drawn, visible, between(-1, 41))), new Set(boxes));
});

withWorld("a camera in a cell sees what is near it, and cells are written", (world) => {
    const drawn = world.renderables(), visible = world.visible(), cell = [500000, 0, -3];
    const instances = world.instances({ form: "pose", cells: true });
    const box = world.create({ position: [5, 0, 0],
        components: [[drawn.bounds, [0, 0, 0, 1, 1, 1]], [drawn.renderable, [1, 0, 0]]] });

    world.setCell(box, cell);
    drawn.update();
    visible.cull(drawn.mirror, [between(0, 10, { cell, origin: [4, 0, 0] }), between(0, 10)]);
    assert.deepEqual([visible.count(0), visible.count(1)], [1, 0]);
    visible.write(instances);
    assert.deepEqual([...instances.cells.subarray(0, 3)], cell);
    assert.deepEqual([...instances.matrices.subarray(4, 7)], [1, 0, 0]);
    assert.equal(world.instances().cells, null);
    world.rebase([-500000, 0, 0]);
    drawn.update();
    drawn.mirror.write(0, instances);
    assert.deepEqual([...instances.cells.subarray(0, 3)], [0, 0, -3]);
    const flat = new World(), plain = flat.renderables();
    plain.update();
    refuses(() => flat.visible().cull(plain.mirror, { cell }), "ESPL_ERR_UNSUPPORTED");
    flat.close();
}, { cellSize: 2048 });

test("a world closes what draws it", () => {
    const world = new World(), drawn = world.renderables();
    const left = [drawn, world.visible(), world.instances({ capacity: 0 })];

    drawn.update();
    const { mirror } = drawn;
    left[1].close();
    left[1].close();
    for (const chunk of world.query()) {
        assert.fail(`${chunk.count} rows`);
    }
    world.close();
    assert.ok(left.every((object) => object.isClosed));
    refuses(() => mirror.changed(), "CLOSED");
    assert.equal(mirror.number, 1);
});
