// SPDX-License-Identifier: MIT
// What the package promises of many entities at once, of memory that grows and runs out, and of closing.
import assert from "node:assert/strict";
import test from "node:test";
import { NULL_ENTITY, TRANSFORM, World } from "espalier";
import {
    assertNear, computeWorlds, createTree, draw, drawLocal, refuses, withWorld,
} from "./test-support.mjs";

// --- Many at once, and memory that grows ---

withWorld("batches do what single calls do", (world) => {
    const tree = createTree(world, 500);
    const handles = BigUint64Array.from(tree.nodes);
    const single = new Float32Array(3 * 500);

    tree.nodes.forEach((node, i) => single.set(world.getWorldPosition(node), 3 * i));
    assert.deepEqual(world.readMany("worldPosition", handles), single);
    assert.deepEqual(world.readMany("worldPosition", tree.nodes), single);
    const locals = Float32Array.from({ length: 3 * 500 }, () => Math.fround(draw()));
    const report = world.writeMany("localPosition", handles, locals);
    assert.deepEqual(report, { status: "ESPL_OK", applied: 500, lossy: 0, refused: 0,
        hasOverflowed: false, firstRefused: undefined, firstStatus: undefined });
    tree.locals.forEach((local, i) => { local.position = [...locals.subarray(3 * i, 3 * i + 3)]; });
    const worlds = world.readMany("worldTransform", handles);
    computeWorlds(tree).forEach((wanted, i) => {
        const t = worlds.subarray(12 * i, 12 * i + 12);
        assertNear({ rotation: t.subarray(0, 4), position: t.subarray(4, 7), scale: t[7],
            stretch: t.subarray(8, 11) }, wanted, `node ${i}`);
    });
    world.writeMany("userData", handles, Uint32Array.from(handles, (_, i) => 0xffffff00 + (i & 0xff)));
    assert.equal(world.readMany("userData", handles)[77], 0xffffff00 + 77);

    // An entry is refused alone.
    const dead = world.create();
    world.destroy(dead);
    const partly = world.writeMany("localScale", [tree.nodes[0], dead, tree.nodes[1]], [2, 3, 4]);
    assert.equal(partly.status, "ESPL_PARTLY");
    assert.deepEqual([partly.applied, partly.refused, partly.firstRefused, partly.firstStatus],
        [2, 1, 1, "ESPL_ERR_DEAD"]);
    const scales = world.readMany("localScale", [tree.nodes[0], dead, tree.nodes[1]]);
    assert.equal(world.status, "ESPL_PARTLY");
    assert.deepEqual([...scales], [2, NaN, 4]);
    assert.deepEqual([...world.readMany("localScale", [dead], Float32Array.of(9))], [9]);
    assert.deepEqual([...world.readMany("userData", [dead])], [0]);
});

withWorld("world transforms are copied from another world, and within one", (world) => {
    const simulation = new World();
    const car = simulation.create({ parent: simulation.create({ position: [1, 0, 0] }), position: [0, 2, 0] });
    const [lamp, smoke, dead] = world.createMany(3);
    world.destroy(dead);
    const report = world.copyWorldTransforms([lamp, dead, smoke], simulation, BigUint64Array.of(car, car, 0n));

    assert.deepEqual([report.status, report.applied, report.refused, report.firstRefused, report.firstStatus],
        ["ESPL_PARTLY", 1, 2, 1, "ESPL_ERR_DEAD"]);
    assert.deepEqual([...world.getWorldPosition(lamp)], [1, 2, 0]);
    world.setWorldPosition(smoke, [5, 5, 5]);
    world.copyWorldTransforms([lamp, smoke], world, [smoke, lamp]);
    assert.deepEqual([...world.readMany("worldPosition", [lamp, smoke])], [5, 5, 5, 1, 2, 0]);
    assert.throws(() => world.copyWorldTransforms([lamp], simulation, []), RangeError);
    simulation.close();
    refuses(() => world.copyWorldTransforms([lamp], simulation, [car]), "CLOSED");
});

/** Make entities until the memory has grown: views that are taken before are detached then. */
function growMemory(world, view) {
    for (let i = 0; i < 100 && view.length !== 0; ++i) {
        world.createMany(20000);
    }
    assert.equal(view.length, 0, "the memory has grown, and the old view is detached");
}

withWorld("getters make views anew after the memory has grown", (world) => {
    const tree = createTree(world, 50);
    const health = world.registerComponent("health");
    const batch = world.batch("worldPosition", 50);
    const view = world.view(tree.nodes[7]);

    batch.entities.set(tree.nodes);
    const oldEntities = batch.entities, oldPoses = view.poses;
    assert.equal(batch.entities, oldEntities, "without growth the view is the same");
    assert.equal(batch.read(), "ESPL_OK");
    const before = batch.values.slice();
    growMemory(world, oldEntities);
    assert.equal(oldPoses.length, 0);
    assert.deepEqual([...batch.entities], tree.nodes);
    assert.deepEqual(batch.values, before);
    batch.values.fill(0);
    batch.read();
    assert.deepEqual(batch.values, before);
    assert.equal(view.count, 50);
    assert.equal(view.poses.length, 400);

    // Inside of a loop, where recording takes memory.
    world.add(tree.nodes[3], health, [42]);
    const commands = world.commands();
    for (const chunk of world.query({ all: [health] })) {
        const column = chunk.write(health), entities = chunk.entities;
        column[0] = 43;
        for (let i = 0; i < 100 && column.length !== 0; ++i) {
            commands.createMany(20000, { position: [1, 1, 1] });
            for (let j = 0; j < 20000; ++j) {
                commands.setLocalTransform(tree.nodes[0], tree.locals[0]);
            }
        }
        assert.equal(entities.length, 0);
        assert.deepEqual([...chunk.entities], [tree.nodes[3]]);
        assert.deepEqual([...chunk.read(health)], [43]);
        assert.equal(chunk.poses.length % 8, 0);
    }
    commands.close();
    assert.deepEqual([...world.get(tree.nodes[3], health)], [43]);
});

withWorld("a view shows a hierarchy in order after each change", (world) => {
    const tree = createTree(world, 60);
    const view = world.view(tree.nodes[0]);

    for (let round = 0; round < 10; ++round) {
        const entities = view.entities(), parents = view.parents(), poses = view.poses;

        assert.equal(entities.length, view.count);
        assert.equal(poses.length, 8 * view.count);
        entities.forEach((entity, rank) => {
            const { rotation, position, scale } = world.getWorldTransform(entity);

            assert.deepEqual([...poses.subarray(8 * rank, 8 * rank + 8)],
                [...rotation, ...position, scale]);
            assert.ok(parents[rank] < rank);
            assert.equal(parents[rank] === -1 ? NULL_ENTITY : entities[parents[rank]],
                world.getParent(entity));
        });
        const child = tree.nodes[1 + Math.floor(draw() * 59)];
        const parent = tree.nodes[Math.floor(draw() * 60)];
        if (child !== parent && !world.isAncestor(child, parent)) {
            world.attach(child, parent);
        }
        world.create({ parent, position: [1, 0, 0] });
        world.setLocalTransform(tree.nodes[Math.floor(draw() * 60)], drawLocal());
    }
    world.destroy(tree.nodes[0], "subtree");
    refuses(() => view.poses, "ESPL_ERR_DEAD");
});

withWorld("a batch writes, and its arrays can be arguments", (world) => {
    const handles = world.createMany(1000);
    const batch = world.batch("localPosition", 1000);

    assert.ok(batch.entities.every((entity) => entity === NULL_ENTITY));
    assert.ok(batch.values.every((number) => number === 0));
    batch.entities.set(handles);
    for (let i = 0; i < 3000; ++i) {
        batch.values[i] = i;
    }
    assert.equal(batch.write(500).applied, 500);
    assert.deepEqual([...world.getWorldPosition(handles[499])], [1497, 1498, 1499]);
    assert.deepEqual([...world.getWorldPosition(handles[500])], [0, 0, 0]);
    assert.deepEqual(world.readMany("worldPosition", batch.entities.subarray(1, 3)),
        Float32Array.of(3, 4, 5, 6, 7, 8));
    assert.equal(world.writeMany("localPosition", batch.entities, batch.values).applied, 1000);
    assert.deepEqual([...world.getWorldPosition(handles[999])], [2997, 2998, 2999]);
    assert.throws(() => batch.write(1001), RangeError);
    assert.throws(() => world.batch("translateOwn", 1).read(), TypeError);
    const turns = world.batch("rotateOwn", 2);
    turns.entities.set(handles.subarray(0, 2));
    turns.values.set([0, 0, 1, 0, 0, 1, 0, 0]);
    turns.write();
    assert.deepEqual([...world.getWorldRotation(handles[1])], [0, 1, 0, 0]);
    world.destroyMany(batch.entities.subarray(0, 10));
    assert.equal(world.stats().entities, 990);
});

withWorld("memory that runs out is an error, and the world goes on", (world) => {
    const a = world.create({ position: [1, 2, 3] });
    const before = world.hash("physical");

    // The bytes of these counts need 32 bits and more.
    for (const count of [2 ** 28, 2 ** 29 + 1, 2 ** 32 - 1]) {
        refuses(() => world.createMany(count), "ESPL_ERR_NO_MEMORY");
        refuses(() => world.commands().createMany(count), "ESPL_ERR_NO_MEMORY");
        refuses(() => world.instantiateMany(a, count), "ESPL_ERR_NO_MEMORY");
    }
    refuses(() => world.reserve({ entities: 2 ** 27 }), "ESPL_ERR_NO_MEMORY");
    refuses(() => world.batch("worldTransform", 0xffffffff), "ESPL_ERR_NO_MEMORY");
    assert.equal(world.hash("physical"), before);
    assert.deepEqual([...world.getWorldPosition(a)], [1, 2, 3]);
    world.create();
});

withWorld("reports count losses and overflows", (world) => {
    const flat = world.create(), child = world.create({ parent: flat });
    world.setLocalScale(flat, 0);
    const far = world.create({ position: [3e38, 0, 0] }), beyond = world.create({ parent: far });
    const lossy = world.writeMany("worldPosition", [child, flat], [1, 1, 1, 2, 2, 2]);
    assert.deepEqual([lossy.status, lossy.applied, lossy.lossy], ["ESPL_LOSSY", 2, 1]);
    const overflow = world.writeMany("localPosition", [beyond], [3e38, 0, 0]);
    assert.deepEqual([overflow.status, overflow.applied, overflow.hasOverflowed], ["ESPL_OVERFLOW", 1, true]);
    world.setLocalPosition(beyond, [0, 0, 0]);
    assert.equal(world.setLocalPosition(beyond, [3e38, 0, 0]), "ESPL_OVERFLOW");
    world.setLocalPosition(beyond, [0, 0, 0]);

    const commands = world.commands();
    commands.write(child, "worldPosition", [1, 1, 1]);
    commands.write(beyond, "localPosition", [3e38, 0, 0]);
    const report = commands.play();
    assert.deepEqual([report.applied, report.lossy, report.hasOverflowed], [2, 1, true]);
    world.setLocalPosition(beyond, [0, 0, 0]);
});

withWorld("room for stretch and user data is reserved by a handle", (world) => {
    const { nodes } = createTree(world, 500);
    const plain = world.create({ parent: world.create() });

    world.setStretch(nodes[0], [1, 1, 1]);
    assert.equal(world.reserve({ sideOf: plain }), "ESPL_OK");
    const { bytes } = world.stats();
    world.setStretch(plain, [1, 2, 1]);
    assert.equal(world.stats().bytes, bytes);
    world.destroy(plain);
    refuses(() => world.reserve({ sideOf: plain }), "ESPL_ERR_DEAD");
});

withWorld("later calls use reserved memory, and compact() frees it", (world) => {
    const unprepared = new World(), count = 5000;
    const grow = (w) => {
        const { bytes } = w.stats();

        w.createMany(count);
        return w.stats().bytes - bytes;
    };

    assert.equal(world.reserve({ entities: count, components: [TRANSFORM], rows: count, writes: 100 }),
        "ESPL_OK");
    const { bytes } = world.stats();
    const growth = grow(world);
    assert.ok(growth < grow(unprepared) / 2);
    const handles = world.query().entities().subarray(0, 100);
    world.writeMany("localPosition", handles, new Float32Array(300).fill(1));
    assert.equal(world.stats().bytes, bytes + growth);
    world.clear();
    world.compact();
    assert.ok(world.stats().bytes < bytes);
    assert.equal(world.stats().entities, 0);
    unprepared.close();
});

// --- Closing ---

test("a closed object throws, and a second close() does nothing", () => {
    const world = new World();
    const a = world.create();
    const commands = world.commands(), left = world.commands(), batch = world.batch("worldPosition", 4);
    const view = world.view(a), query = world.query();
    const loop = query[Symbol.iterator]();
    const chunk = loop.next().value;

    commands.create();
    commands.close();
    assert.ok(commands.isClosed);
    refuses(() => commands.play(), "CLOSED");
    refuses(() => commands.create(), "CLOSED");
    refuses(() => commands.count, "CLOSED");
    assert.equal(world.isClosed, false);
    world.close(); // with a loop that has not ended
    world.close();
    assert.ok(world.isClosed && left.isClosed && batch.isClosed);
    for (const call of [() => view.poses, () => query.entities(), () => chunk.count, () => loop.next()]) {
        refuses(call, "CLOSED");
    }
    left.close();
    batch.close();
    assert.throws(() => World.prototype.create.call({}), TypeError);
});

test("close() frees the memory for later objects", () => {
    let length;

    for (let round = 0; round < 30; ++round) {
        const world = new World();
        const commands = world.commands();

        world.createMany(10000);
        commands.createMany(10000);
        commands.play();
        const { buffer } = world.batch("worldTransform", 1000).values;
        if (round === 5) {
            length = buffer.byteLength;
        } else if (round > 5) {
            assert.equal(buffer.byteLength, length);
        }
        world.close();
    }
});

test("a disposable is closed by its scope", { skip: Symbol.dispose === undefined }, () => {
    const world = new World();
    const commands = world.commands();

    commands[Symbol.dispose]();
    assert.ok(commands.isClosed);
    world[Symbol.dispose]();
    assert.ok(world.isClosed);
});
