// SPDX-License-Identifier: MIT
// What the package promises of single calls, components and commands. Where it is installed:
// node --test test.mjs test-archives.mjs test-memory.mjs test-motion.mjs test-refusals.mjs
import "./test-calls.mjs";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import test from "node:test";
import {
    DISABLED, Inherit, NULL_ENTITY, PREFAB, ROOT, TRANSFORM, World, identity, quat, version,
} from "espalier";
import {
    assertNear, compose, computeWorlds, createTree, draw, drawLocal, multiply, refuses, reseed, rotate, run,
    withWorld,
} from "./test-support.mjs";

// --- Hierarchies ---

test("the version is that of the package", () => {
    assert.equal(createRequire(import.meta.url)("espalier/package.json").version, version);
});

test("the example of README.md does what it says", () => {
    const folder = dirname(createRequire(import.meta.url).resolve("espalier/package.json"));
    const page = readFileSync(join(folder, "README.md"), "utf8");
    const [example, batch, query, motion, camera, save, history, migration] =
        [...page.matchAll(/```js\n(.*?)```/gs)].map((match) => match[1]);
    const lines = run(example).stdout.split("\n");

    assert.equal(lines[0], "the lamp is at 100 -12 0");
    assert.match(lines[1], /^3 entities are new: \d+n \d+n$/);
    assert.equal(lines[2], "ship/mast true");
    assert.match(lines[3], /^ESPL_ERR_CYCLE The new parent is the entity itself or below it; .*\.$/);

    const { status, stdout, stderr } = run(`
        import { TRANSFORM, World } from "espalier";
        const world = new World(), handles = world.createMany(1000), time = 2;
        const health = world.registerComponent("health");
        world.add(handles[7], health, [5]);
        ${batch}
        ${query}
        console.log(places[3] === Math.fround(Math.sin(5)), world.get(handles[7], health)[0]);`);
    assert.deepEqual([status, stdout, stderr], [0, "true 4\n", ""]);

    const drawn = run(`
        import { World } from "espalier";
        const world = new World(), handles = [...world.createMany(1000)], step = 1 / 30;
        const simulate = () => world.translate(handles[3], [1, 0, 0]);
        let lag = 0;
        ${motion}
        drawFrame(0.05);
        drawFrame(1 / 60);
        console.log(...matrices.subarray(16 * 3 + 12, 16 * 4));`);
    assert.deepEqual([drawn.status, drawn.stderr], [0, ""]);
    assert.deepEqual(drawn.stdout.split(" ").map(Number), [1, 0, 0, 1]);

    const seen = run(`
        import { World } from "espalier";
        const world = new World(), ROCK = 0;
        const viewProjection = { elements: new Float32Array(16), multiplyMatrices() {
            this.elements.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.1, 0, 0, 0, 0, 1]);
        } };
        const meshes = [{ instanceMatrix: { array: new Float32Array(32) } }];
        ${camera}
        drawFrame({});
        const [{ count, instanceMatrix }] = meshes;
        console.log(count, instanceMatrix.needsUpdate, ...instanceMatrix.array.slice(12, 17));`);
    assert.deepEqual([seen.status, seen.stdout, seen.stderr], [0, "1 true 0 0 -9 1 0\n", ""]);

    const read = run(`
        import { World } from "espalier";
        const earlier = new World();
        const points = earlier.registerComponent("health", { type: "i32", version: 1 });
        earlier.create({ components: [[points, [75]], earlier.registerComponent("debug")] });
        const world = new World(), ship = world.create(), harbour = world.create(), old = earlier.writeArchive();
        ${save}
        ${migration}
        console.log(world.isAlive(tops[0]), world.getParent(tops[0]) === harbour, entities.length);
        const [, , , healed] = world.query().entities();
        console.log(world.get(healed, health)[0]);`);
    assert.deepEqual([read.stderr, read.stdout], ["", "true true 1\n0.75\n"]);

    const rewound = run(`
        import { World } from "espalier";
        const world = new World(), frame = 3;
        ${history.replace("history.mark(frame);", `for (let i = 0; i <= frame; ++i) {
            history.mark(i);
            world.create();
        }`)}
        console.log(unborn.length, revived.length, world.stats().entities);`);
    assert.deepEqual([rewound.stderr, rewound.stdout], ["", "4 0 0\n"]);
});

test("a tag gives the same handles each time, and a layout budget the same logical world", () => {
    const worlds = [0, 1].map((layoutBudget) => new World({ tag: 9, layoutBudget }));
    const handles = worlds.map((world) => {
        reseed(7);
        const trees = [0, 1, 2].map(() => createTree(world, 60).nodes);

        world.compact();
        trees.forEach(([top]) => world.moveBefore(world.getFirstChild(top)));
        // sync() lays out as many trees as the budget has of those that are out of order and often written.
        for (let i = 0; i < 500; ++i) {
            trees.forEach(([, child]) => world.setLocalPosition(child, [i, 0, 0]));
        }
        world.sync();
        return trees;
    });

    assert.deepEqual(handles[0], handles[1]);
    assert.equal(worlds[0].hash(), worlds[1].hash());
    assert.notEqual(worlds[0].hash("physical"), worlds[1].hash("physical"));
    worlds.forEach((world) => world.close());
});

withWorld("stats() counts entities, hierarchies and memory", (world) => {
    const prior = world.stats();
    assert.deepEqual([prior.entities, prior.solos, prior.hierarchies, prior.members], [0, 0, 0, 0]);
    const top = world.create(), second = world.create();
    for (const parent of [top, top, second]) {
        world.create({ parent });
    }
    world.createMany(200);
    const { entities, solos, hierarchies, members, archetypes, chunks, bytes } = world.stats();

    assert.deepEqual([entities, solos, hierarchies, members], [205, 200, 2, 3]);
    assert.ok(archetypes >= 3 && chunks >= archetypes - 1 && bytes > prior.bytes && bytes < 2 ** 20);
});

withWorld("the SIMD kernels are chosen, and the scalar ones give the same bits", (world) => {
    assert.equal(world.kernels, "simd128");
    const scalar = new World({ kernels: "scalar", tag: 3 });
    assert.equal(scalar.kernels, "scalar");
    reseed(5);
    createTree(world, 200);
    reseed(5);
    createTree(scalar, 200);
    assert.equal(world.hash(), scalar.hash());
    assert.notEqual(world.hash(), 0n);
    scalar.close();
    refuses(() => new World({ kernels: "avx2" }), "ESPL_ERR_UNSUPPORTED");
    refuses(() => new World({ tag: 128 }), "ESPL_ERR_ARGUMENT");
});

withWorld("world transforms are those that JavaScript computes", (world) => {
    const tree = createTree(world, 100);

    for (let round = 0; round < 20; ++round) {
        const i = Math.floor(draw() * tree.nodes.length);

        tree.locals[i] = drawLocal();
        assert.match(world.setLocalTransform(tree.nodes[i], tree.locals[i]), /^ESPL_OK$/);
        computeWorlds(tree).forEach((wanted, j) => {
            assertNear(world.getWorldTransform(tree.nodes[j]), wanted, `node ${j}`);
            assertNear(world.getLocalTransform(tree.nodes[j]), tree.locals[j], `local ${j}`);
        });
    }
});

withWorld("attach() and detach() keep the parts that the options name", (world) => {
    const rotation = quat.fromAxisAngle([0, 1, 0], 1);
    const parent = world.create({ position: [1, 2, 3], rotation, scale: 2 });
    const child = world.create({ position: [5, 0, 0], userData: 7 });

    assert.equal(world.getRole(child), "solo");
    assert.equal(world.attach(child, parent), "ESPL_OK");
    assert.equal(world.getRole(child), "member");
    assertNear(world.getWorldTransform(child), { position: [5, 0, 0], rotation: [0, 0, 0, 1], scale: 1,
        stretch: [1, 1, 1] }, "kept world");
    world.detach(child);
    world.setWorldTransform(child, { position: [5, 0, 0] });
    world.attach(child, parent, { keep: "local", link: "free" });
    assert.deepEqual([...world.getLocalPosition(child)], [5, 0, 0]);
    assert.equal(world.getLink(child), "free");
    assert.equal(world.getLocalScale(child), 1);
    assert.equal(world.getWorldScale(child), 2);
    world.detach(child, "snap");
    assert.deepEqual([...world.getWorldPosition(child)], [0, 0, 0]);
    world.setLocalPosition(child, [3, 4, 5]);
    world.setLocalTransform(child, { position: [3, 4, 5], rotation: [1, 0, 0, 0], scale: 3 });
    world.attach(child, parent, { keep: { position: "snap", rotation: "world", scale: "local" } });
    assert.deepEqual([...world.getWorldPosition(child)], [1, 2, 3]);
    assert.equal(world.getWorldScale(child), 6);
    assertNear(world.getWorldTransform(child),
        { position: [1, 2, 3], rotation: [1, 0, 0, 0], scale: 6, stretch: [1, 1, 1] }, "kept in parts");
    const options = { place: "world", parent, position: [9, 9, 9] };
    assertNear(world.getWorldTransform(world.create(options)),
        { position: [9, 9, 9], rotation: [0, 0, 0, 1], scale: 1, stretch: [1, 1, 1] }, "placed in the world");
});

withWorld("navigation follows the links", (world) => {
    const top = world.create();
    const [a, b, c] = [0, 1, 2].map(() => world.create({ parent: top }));
    const below = world.create({ parent: b });

    assert.deepEqual(world.getChildren(top), BigUint64Array.of(a, b, c));
    world.moveBefore(c, a);
    assert.deepEqual(world.getChildren(top), BigUint64Array.of(c, a, b));
    const first = world.create({ parent: top, before: c });
    assert.equal(world.getFirstChild(top), first);
    assert.equal(world.getLastChild(top), b);
    assert.equal(world.getNextSibling(first), c);
    assert.equal(world.getPreviousSibling(c), first);
    assert.equal(world.getParent(below), b);
    assert.equal(world.getRoot(below), top);
    assert.equal(world.getParent(top), NULL_ENTITY);
    assert.equal(world.getDepth(below), 2);
    assert.equal(world.getDepth(0n), -1);
    assert.equal(world.countChildren(top), 4);
    assert.equal(world.countDescendants(top), 5);
    assert.ok(world.isAncestor(top, below));
    assert.ok(!world.isAncestor(below, top));
    const copy = world.copySubtree(top);
    assert.deepEqual([...copy.entities], [top, first, c, a, b, below]);
    assert.deepEqual([...copy.parents], [-1, 0, 0, 0, 0, 4]);
    assert.deepEqual([...copy.depths], [0, 1, 1, 1, 1, 2]);
    world.attachMany([a, c], BigUint64Array.of(b, below));
    assert.deepEqual(world.getChildren(b), BigUint64Array.of(below, a));
    assert.deepEqual(world.getChildren(below), BigUint64Array.of(c));
    assert.equal(world.destroy(b), "ESPL_OK");
    assert.equal(world.stats().entities, 2);
    assert.ok(!world.isAlive(below) && world.isAlive(first));
    world.destroyMany([first, top]);
    assert.equal(world.stats().entities, 0);
    assert.equal(world.getRole(top), "none");
});

withWorld("an extent includes what it says", (world) => {
    const top = world.create(), owned = world.create({ parent: top });
    const free = world.create({ parent: top, link: "free" });

    world.setEnabled(top, false, "subtree");
    assert.ok(!world.isEnabled(free) && world.has(owned, DISABLED));
    assert.equal(world.query().entities().length, 0);
    assert.equal(world.query({ includeDisabled: true }).entities().length, 3);
    world.setEnabled(top, true);
    assert.ok(world.isEnabled(owned) && !world.isEnabled(free));
    world.destroy(top);
    assert.ok(!world.isAlive(owned) && world.isAlive(free));
    assert.equal(world.getRole(free), "solo");
});

withWorld("each method that moves an entity moves it", (world) => {
    const quarter = quat.fromAxisAngle([0, 0, 2], Math.PI / 2);
    const parent = world.create({ rotation: quarter, scale: 2 });
    const entity = world.create({ parent, position: [1, 0, 0] });
    const near = (found, wanted) => {
        wanted.forEach((number, i) => {
            assert.ok(Math.abs(found[i] - number) < 1e-5, `${found}, not ${wanted}`);
        });
    };

    near(world.getWorldPosition(entity), [0, 2, 0]);
    world.translate(entity, [1, 0, 0]);
    near(world.getWorldPosition(entity), [0, 4, 0]);
    world.translate(entity, [1, 0, 0], "world");
    near(world.getWorldPosition(entity), [1, 4, 0]);
    world.rotate(entity, quarter, "own");
    world.translate(entity, [1, 0, 0], "own");
    near(world.getWorldPosition(entity), [-1, 4, 0]);
    world.rotateAbout(entity, [0, 0, 0], quarter);
    near(world.getWorldPosition(entity), [-4, -1, 0]);
    world.setWorldPosition(entity, [0, 0, 0]);
    world.lookAt(entity, [5, 0, 0]);
    near(world.convert(entity, "directionToWorld", [0, 0, 1]), [1, 0, 0]);
    world.lookAt(entity, [5, 0, 0], { forward: "back", up: [0, 0, 1] });
    near(world.convert(entity, "directionToWorld", [0, 0, -1]), [1, 0, 0]);
    world.write(entity, "multiplyScale", 3);
    assert.equal(world.getWorldScale(entity), 6);
    world.setWorldScale(entity, 1);
    world.setWorldRotation(entity, [0, 0, 0, 1]);
    world.setStretch(entity, [1, 2, 3]);
    world.setUserData(entity, 0xfffffffe);
    assert.equal(world.getUserData(entity), 0xfffffffe);
    world.setWorldPosition(entity, [7, 8, 9]);
    near(world.getMatrix(entity, []), [1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 7, 8, 9, 1]);
    near(world.getInverseMatrix(entity), [1, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1 / 3, 0, -7, -4, -3, 1]);
    near(world.getRelativeTransform(parent, entity).position, world.getLocalPosition(entity));
    world.setInherit(entity, Inherit.ABSOLUTE_POSITION);
    world.translate(parent, [50, 0, 0]);
    near(world.getWorldPosition(entity), [7, 8, 9]);
    assert.equal(world.getInherit(entity), 7);
    const out = identity();
    assert.equal(world.getWorldTransform(entity, out), out);
    near(out.stretch, [1, 2, 3]);
    assert.equal(world.getRelativeTransform(parent, entity, out), out);
    const three = new Float32Array(3);
    assert.equal(world.getWorldPosition(entity, three), three);
    near(three, [7, 8, 9]);
    assert.equal(world.convert(entity, "pointToWorld", [0, 0, 0], three), three);
    near(three, [7, 8, 9]);
    assert.equal(world.setLocalScale(entity, 0), "ESPL_OK");
    world.setInherit(entity, 0);
    const child = world.create({ parent: entity });
    assert.equal(world.setWorldPosition(child, [1, 1, 1]), "ESPL_LOSSY");
    assert.equal(world.status, "ESPL_LOSSY");
});

withWorld("each kind of read gives its part, and each kind of write does what its name says", (world) => {
    const plain = (t) => ({ rotation: [...t.rotation], position: [...t.position], scale: t.scale,
        stretch: [...t.stretch] });
    const inverse = (t, local) => {
        const rotation = [-t.rotation[0], -t.rotation[1], -t.rotation[2], t.rotation[3]];
        const offset = rotate(rotation, local.position.map((p, i) => p - t.position[i]));

        return {
            rotation: multiply(rotation, local.rotation),
            position: offset.map((p, i) => p / t.scale / t.stretch[i]),
            scale: local.scale / t.scale,
            stretch: local.stretch,
        };
    };
    const parent = world.create(drawLocal());
    const entity = world.create({ parent, ...drawLocal() });
    const by = drawLocal();

    for (const kind of ["InParent", "World"]) {
        const get = () => plain(kind === "World" ? world.getWorldTransform(entity)
            : world.getLocalTransform(entity));
        const write = (name, value, wanted) => {
            const before = get();

            world.write(entity, name + kind, value);
            assertNear(get(), { ...before, ...wanted(before) }, name + kind);
        };

        write("translate", by.position, (t) => ({ position: t.position.map((p, i) => p + by.position[i]) }));
        write("rotate", by.rotation, (t) => ({ rotation: multiply(by.rotation, t.rotation) }));
        write("transform", by, (t) => compose(by, t));
        write("inverseTransform", by, (t) => inverse(by, t));
    }
    let local = plain(world.getLocalTransform(entity));
    world.write(entity, "translateOwn", [1, 2, 3]);
    world.write(entity, "multiplyStretch", [2, 3, 4]);
    world.write(entity, "multiplyScale", 2);
    local.position = local.position.map((p, i) => p + rotate(local.rotation, [1, 2, 3])[i]);
    local.stretch = local.stretch.map((s, i) => s * [2, 3, 4][i]);
    local.scale *= 2;
    assertNear(world.getLocalTransform(entity), local, "own");
    world.write(entity, "rotateOwn", by.rotation);
    local.rotation = multiply(local.rotation, by.rotation);
    assertNear(world.getLocalTransform(entity), local, "rotateOwn");
    world.write(entity, "localPose", by);
    world.setUserData(entity, 77);
    local = { ...by, stretch: local.stretch };
    assertNear(world.getLocalTransform(entity), local, "localPose");
    for (const [space, t] of [["local", world.getLocalTransform(entity)],
        ["world", world.getWorldTransform(entity)]]) {
        assert.deepEqual(world.read(entity, `${space}Position`), t.position);
        assert.deepEqual(world.read(entity, `${space}Rotation`), t.rotation);
        assert.equal(world.read(entity, `${space}Scale`), t.scale);
        assert.deepEqual(world.read(entity, `${space}Transform`), t);
        assert.deepEqual(world.read(entity, `${space}Pose`), { ...identity(), rotation: t.rotation,
            position: t.position, scale: t.scale });
        assert.deepEqual(world.read(entity, "stretch"), t.stretch);
        assert.equal(world.read(entity, "userData"), t.userData);
    }
    for (const kind of ["worldPosition", "worldRotation", "worldScale", "worldTransform"]) {
        const value = { worldPosition: by.position, worldRotation: by.rotation, worldScale: by.scale,
            worldTransform: by }[kind];
        const before = plain(world.getWorldTransform(entity));

        world.write(entity, kind, value);
        assertNear(world.getWorldTransform(entity), kind === "worldTransform" ? by
            : { ...before, [kind.slice(5).toLowerCase()]: value }, kind);
    }
});

withWorld("inherit flags come with creation, attaching and cloning", (world) => {
    const parent = world.create();
    const inherit = Inherit.ABSOLUTE_POSITION;
    const made = world.create({ parent, inherit, position: [1, 2, 3] });
    const attached = world.create(), bound = world.create();
    world.attach(attached, parent, { inherit: Inherit.ABSOLUTE_SCALE });
    const cloned = world.instantiate(made, { parent, before: made, link: "free", inherit: 0 });

    assert.equal(world.getInherit(made), inherit);
    assert.equal(world.getInherit(attached), Inherit.ABSOLUTE_SCALE);
    assert.equal(world.getInherit(cloned), 0);
    assert.equal(world.getLink(cloned), "free");
    assert.deepEqual(world.getChildren(parent), BigUint64Array.of(cloned, made, attached));
    world.attach(bound, parent, { before: made });
    assert.deepEqual(world.getChildren(parent), BigUint64Array.of(cloned, bound, made, attached));
    world.setLocalTransform(parent, { position: [10, 0, 0], scale: 2 });
    assert.deepEqual([...world.getWorldPosition(made)], [1, 2, 3]);
    assert.equal(world.getWorldScale(attached), 1);
    assert.deepEqual([...world.getWorldPosition(cloned)], [12, 4, 6]);
});

test("rotations are those of their definition", () => {
    const near = (found, wanted) => wanted.forEach((w, i) => assert.ok(Math.abs(found[i] - w) < 1e-6));

    near(quat.fromAxisAngle([0, 0, 5], 1), [0, 0, Math.sin(0.5), Math.cos(0.5)]);
    near(quat.multiply([0, 0, 1, 0], [1, 0, 0, 0]), multiply([0, 0, 1, 0], [1, 0, 0, 0]));
    near(quat.rotate(quat.fromEuler([0, Math.PI / 2, 0]), [0, 0, 1]), [1, 0, 0]);
    near(quat.toEuler(quat.fromEuler([0.1, 0.2, 0.3], "XYZ"), "XYZ"), [0.1, 0.2, 0.3]);
    near(quat.rotate(quat.between([1, 0, 0], [0, 3, 0]), [1, 0, 0]), [0, 1, 0]);
    near(quat.slerp([0, 0, 0, 1], [0, 0, 1, 0], 0.5), [0, 0, Math.SQRT1_2, Math.SQRT1_2]);
    assert.deepEqual([...quat.slerp([0, 0, 0, 1], [0, 0, 1, 0], 0)], [0, 0, 0, 1]);
    assert.deepEqual([...quat.slerp([0, 0, 0, 1], [0, 0, 1, 0], 1)], [0, 0, 1, 0]);
    const out = new Float32Array(4);
    assert.equal(quat.multiply([0, 0, 0, 1], [1, 0, 0, 0], out), out);
    assert.deepEqual([...out], [1, 0, 0, 0]);
    refuses(() => quat.fromAxisAngle([0, 0, 0], 1), "ESPL_ERR_NOT_FINITE");
});

// --- Components and queries ---

withWorld("a component of each type has its values, in an array of its own", (world) => {
    const lowest = { i8: -128, i16: -32768, i32: -(2 ** 31) };
    const a = world.create();

    for (const [type, array] of Object.entries({ f32: Float32Array, f64: Float64Array, i8: Int8Array,
        i16: Int16Array, i32: Int32Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array,
        entity: BigUint64Array })) {
        const component = world.registerComponent(type, { type, length: 3 });
        const values = type === "entity" ? [a, a, NULL_ENTITY] : [lowest[type] ?? 0, 1, 2];
        const out = new array(3);

        assert.equal(component.size, 3 * array.BYTES_PER_ELEMENT);
        assert.ok(Object.isFrozen(component));
        world.add(a, component, values);
        assert.deepEqual(world.get(a, component), array.from(values));
        assert.equal(world.get(a, component, out), out);
        assert.deepEqual([...out], values);
        for (const chunk of world.query({ all: [component] })) {
            assert.deepEqual(chunk.read(component), array.from(values));
        }
    }
});

withWorld("components have values, which queries find", (world) => {
    const health = world.registerComponent("health");
    const target = world.registerComponent("target", { type: "entity" });
    const marked = world.registerComponent("marked", { type: "tag" });
    const big = world.registerComponent("big", { type: "f64", length: 3 });

    refuses(() => world.registerComponent("health"), "ESPL_ERR_EXISTS");
    const a = world.create({ components: [[health, [100]], marked, [big, [0.1, 0.2, 0.3]]] });
    const b = world.create({ components: [health] });
    const none = world.create({ transform: null, components: [[health, [7]]] });
    assert.deepEqual([...world.get(a, health)], [100]);
    assert.deepEqual([...world.get(a, big)], [0.1, 0.2, 0.3]);
    assert.deepEqual([...world.get(b, health)], [0]);
    assert.ok(world.has(a, marked) && !world.has(b, marked) && !world.has(none, TRANSFORM));
    world.set(b, health, [50]);
    refuses(() => world.set(b, big, [1, 2, 3]), "ESPL_ERR_NO_COMPONENT");
    refuses(() => world.getLocalPosition(none), "ESPL_ERR_NO_TRANSFORM");
    world.change(a, [[health, [90]], [target, [b]]], [marked]);
    assert.ok(!world.has(a, marked));
    assert.deepEqual([...world.get(a, target)], [b]);

    const found = new Map();
    for (const chunk of world.query({ all: [health] })) {
        const points = chunk.read(health);
        chunk.entities.forEach((entity, row) => found.set(entity, points[row]));
        assert.equal(chunk.read(marked), null);
    }
    assert.deepEqual(found, new Map([[a, 90], [b, 50], [none, 7]]));
    assert.deepEqual(world.query({ all: [health], none: [TRANSFORM] }).entities(), BigUint64Array.of(none));
    assert.deepEqual(world.query({ any: [target, big] }).entities(), BigUint64Array.of(a));
    for (const chunk of world.query({ none: [TRANSFORM] })) {
        assert.deepEqual([chunk.slots, chunk.poses, chunk.read(big)], [null, null, null]);
    }

    // Reading does not count as a change, and writing does.
    const since = world.version;
    const changed = world.query({ changed: [health], since });
    assert.equal(changed.entities().length, 0);
    for (const chunk of world.query({ all: [health, target] })) {
        chunk.write(health)[0] -= 1;
    }
    assert.deepEqual(changed.entities(), BigUint64Array.of(a));
    assert.deepEqual([...world.get(a, health)], [89]);
    changed.since = world.version;
    assert.equal(changed.entities().length, 0);

    // A reference inside what is cloned names the clone.
    const pair = world.create();
    const [left, right] = [0, 1].map(() => world.create({ parent: pair }));
    world.add(left, target, [right]);
    const copy = world.instantiate(pair);
    const [newLeft, newRight] = world.getChildren(copy);
    assert.deepEqual([...world.get(newLeft, target)], [newRight]);
    world.remove(left, target);
    assert.ok(!world.has(left, target));
});

withWorld("a loop keeps the world in iteration until it ends", (world) => {
    world.createMany(300);
    let rows = 0;
    let kept;

    for (const chunk of world.query()) {
        rows += chunk.count;
        if (kept !== undefined) {
            refuses(() => kept.count, "CLOSED");
        }
        kept = chunk;
        refuses(() => world.create(), "ESPL_ERR_BUSY");
    }
    assert.equal(rows, 300);
    refuses(() => kept.entities, "CLOSED");
    world.create();
    for (const chunk of world.query()) {
        assert.ok(chunk.count > 0);
        break;
    }
    world.create();
    assert.throws(() => {
        for (const chunk of world.query()) {
            throw new Error(`chunk of ${chunk.count}`);
        }
    }, /chunk of/);
    world.create();
    // Nested loops, and a write inside.
    for (const outer of world.query()) {
        const first = outer.entities[0];
        world.setLocalPosition(first, [1, 2, 3]);
        const pose = outer.poses.subarray(8 * outer.slots[0], 8 * outer.slots[0] + 8);
        assert.deepEqual([...pose], [0, 0, 0, 1, 1, 2, 3, 1]);
        assert.deepEqual([...outer.readTransforms("localPosition").subarray(0, 3)], [1, 2, 3]);
        for (const inner of world.query()) {
            assert.ok(inner.count > 0);
        }
    }
    assert.equal(world.query().entities().length, 303);
});

withWorld("prefabs are templates, which queries skip", (world) => {
    const prefab = world.create({ components: [PREFAB] });
    const part = world.create({ parent: prefab, position: [0, 1, 0] });
    const clones = world.instantiateMany(prefab, 5, { position: [10, 0, 0] });

    assert.equal(clones.length, 5);
    assert.equal(world.query({ all: [ROOT] }).entities().length, 5);
    assert.equal(world.query({ all: [ROOT], includePrefabs: true }).entities().length, 6);
    assert.deepEqual([...world.getWorldPosition(world.getFirstChild(clones[4]))], [10, 1, 0]);
    assert.equal(world.getParent(part), prefab);
});

withWorld("an entity is created with its name or not at all", (world) => {
    const health = world.registerComponent("health");
    const parent = world.create({ name: "parent" });
    const node = world.create({ parent, name: "node", position: [1, 2, 3], userData: 7 });

    assert.equal(world.getPath(node), "parent/node");
    assert.deepEqual([...world.getLocalPosition(node)], [1, 2, 3]);
    assert.equal(world.getUserData(node), 7);
    const given = new Float32Array([0, 0, 0, 1, 4, 5, 6, 2, 1, 1, 1, 0]);
    const whole = world.create({ parent, name: "whole", transform: given });
    assert.deepEqual([...world.getWorldPosition(whole)], [4, 5, 6]);
    const others = [{ before: node }, { link: "free" }, { components: [[health, [9]]] }, { transform: null },
        { inherit: Inherit.ABSOLUTE_SCALE }, { place: "world", position: [8, 8, 8] }]
        .map((options, i) => world.create({ parent, name: `other ${i}`, ...options }));
    others.forEach((other, i) => assert.equal(world.getPath(other), `parent/other ${i}`));
    assert.deepEqual(world.getChildren(parent), BigUint64Array.of(others[0], node, whole, ...others.slice(1)));
    assert.equal(world.getLink(others[1]), "free");
    assert.deepEqual([...world.get(others[2], health)], [9]);
    assert.equal(world.has(others[3], TRANSFORM), false);
    assert.equal(world.getInherit(others[4]), Inherit.ABSOLUTE_SCALE);
    assert.deepEqual([...world.getWorldPosition(others[5])], [8, 8, 8]);
    assert.equal(world.getName(world.create({ name: "" })), "");
    const before = world.hash(), count = world.stats().entities, physical = world.hash("physical");
    refuses(() => world.create({ parent, name: "a/b" }), "ESPL_ERR_ARGUMENT");
    assert.equal(world.hash("physical"), physical);
    refuses(() => world.create({ parent, name: "x".repeat(300) }), "ESPL_ERR_LIMIT");
    refuses(() => world.create({ parent, name: "a/b", components: [health] }), "ESPL_ERR_ARGUMENT");
    refuses(() => world.create({ parent, name: "a/b", transform: null }), "ESPL_ERR_ARGUMENT");
    assert.equal(world.hash(), before);
    assert.equal(world.stats().entities, count);
});

withWorld("a spawn is a clone below a parent", (world) => {
    const prefab = world.create({ name: "drone", position: [7, 0, 0], components: [PREFAB] });
    const parent = world.create({ position: [0, 100, 0] });

    world.create({ parent: prefab, name: "arm" });
    const free = world.spawn(prefab);
    assert.deepEqual([...world.getWorldPosition(free)], [7, 0, 0]);
    assert.equal(world.has(free, PREFAB), false);
    const same = world.spawn(prefab, parent);
    assert.deepEqual([...world.getWorldPosition(same)], [7, 100, 0]);
    const moved = world.spawn(prefab, parent, { position: [0, 0, 5] });
    assert.deepEqual([...world.getWorldPosition(moved)], [0, 100, 5]);
    assert.deepEqual(world.getChildren(parent), BigUint64Array.of(same, moved));
    assert.equal(world.getName(world.getFirstChild(moved)), "arm");
    const commands = world.commands(), pending = commands.spawn(prefab, moved, { position: [0, 1, 0] });
    const bare = commands.spawn(prefab);
    assert.equal(commands.play().created, 4);
    assert.deepEqual([...world.getWorldPosition(commands.resolve(pending))], [0, 101, 5]);
    assert.deepEqual([...world.getWorldPosition(commands.resolve(bare))], [7, 0, 0]);
    refuses(() => world.spawn(NULL_ENTITY, parent), "ESPL_ERR_NULL_ENTITY");
    refuses(() => world.spawn(prefab, parent, { position: [NaN, 0, 0] }), "ESPL_ERR_NOT_FINITE");
});

withWorld("a pose is written and read, and the stretch stays", (world) => {
    const parent = world.create({ position: [1, 2, 3], scale: 2 });
    const entity = world.create({ parent, stretch: [1, 2, 3], userData: 5 });
    const pose = { rotation: [0, 0, 1, 0], position: [5, 0, 0], scale: 4 };

    assert.equal(world.setWorldPose(entity, pose), "ESPL_OK");
    assertNear(world.getWorldPose(entity), { ...pose, stretch: [1, 1, 1] }, "world");
    assert.equal(world.getLocalPose(entity).scale, 2);
    assert.deepEqual([...world.getStretch(entity)], [1, 2, 3]);
    world.setLocalPose(entity, { position: [0, 1, 0] });
    assertNear(world.getLocalPose(entity), { position: [0, 1, 0], rotation: [0, 0, 0, 1], scale: 1,
        stretch: [1, 1, 1] }, "local");
    assert.deepEqual([...world.getWorldPosition(entity)], [1, 4, 3]);
    assert.equal(world.getUserData(entity), 5);
    const many = world.readMany("worldPose", [parent, entity]);
    assert.equal(world.writeMany("worldPose", [parent, entity], many).applied, 2);
    assert.deepEqual(world.readMany("worldPose", [parent, entity]), many);
});

withWorld("the transform is a component with a value", (world) => {
    const parent = world.create({ position: [1, 0, 0] });
    const entity = world.create({ parent, position: [0, 2, 0] });

    assert.deepEqual(world.get(entity, TRANSFORM), world.getLocalTransform(entity));
    const moved = { position: [0, 3, 0], scale: 2, stretch: [1, 2, 1], userData: 7 };
    assert.equal(world.set(entity, TRANSFORM, moved), "ESPL_OK");
    assertNear(world.getLocalTransform(entity), { ...moved, rotation: [0, 0, 0, 1] }, "set");
    assert.deepEqual([...world.getWorldPosition(entity)], [1, 3, 0]);
    const out = identity();
    assert.equal(world.get(entity, TRANSFORM, out), out);
    assert.equal(out.userData, 7);
    world.remove(entity, TRANSFORM);
    refuses(() => world.get(entity, TRANSFORM), "ESPL_ERR_NO_TRANSFORM");
    refuses(() => world.set(entity, TRANSFORM, moved), "ESPL_ERR_NO_TRANSFORM");
    world.add(entity, TRANSFORM);
    assert.deepEqual(world.getLocalTransform(entity), identity());
    world.add(entity, TRANSFORM, moved);
    assert.equal(world.getLocalScale(entity), 2);
    const commands = world.commands();
    commands.set(entity, TRANSFORM, { position: [0, 9, 0] });
    commands.change(parent, [[TRANSFORM, { position: [2, 0, 0] }]]);
    assert.equal(commands.play().refused, 0);
    assert.deepEqual([...world.getWorldPosition(entity)], [2, 9, 0]);
    assert.throws(() => world.set(entity, TRANSFORM, [1, 2]), RangeError);
    assert.throws(() => world.get(entity, TRANSFORM, {}), TypeError);
    refuses(() => world.set(entity, TRANSFORM, { position: [NaN, 0, 0] }), "ESPL_ERR_NOT_FINITE");
    for (const chunk of world.query({ all: [TRANSFORM] })) {
        assert.equal(chunk.read(TRANSFORM), null);
    }
});

withWorld("names are found by path", (world) => {
    const body = world.create(), arm = world.create({ parent: body }), hand = world.create({ parent: arm });

    world.setName(body, "body");
    world.setName(arm, "arm");
    world.setName(hand, "händ");
    assert.equal(world.getName(hand), "händ");
    assert.equal(world.getPath(hand), "body/arm/händ");
    assert.equal(world.find("arm/händ", body), hand);
    assert.equal(world.find("leg", body), NULL_ENTITY);
    assert.equal(world.find("/body"), body);
    assert.equal(world.find("/arm"), NULL_ENTITY);
    assert.equal(world.find("händ"), hand);
    refuses(() => world.find("händ", 12345n), "ESPL_ERR_FOREIGN");
    assert.match(world.dump(hand), /händ/);
    refuses(() => world.setName(hand, "a/b"), "ESPL_ERR_ARGUMENT");
    refuses(() => world.setName(hand, "x".repeat(300)), "ESPL_ERR_LIMIT");
});

// --- Commands ---

withWorld("commands do at playback what calls do at once", (world) => {
    const direct = new World();
    const health = world.registerComponent("health"), same = direct.registerComponent("health");
    const commands = world.commands();
    const ids = [], pendings = [];

    reseed(99);
    for (let i = 0; i < 200; ++i) {
        const parent = i < 3 ? -1 : Math.floor(draw() * i), local = drawLocal();

        ids.push(direct.create({ ...local, parent: ids[parent] ?? 0n, components: [[same, [i]]] }));
        pendings.push(commands.create({ ...local, parent: pendings[parent] ?? 0n,
            components: [[health, [i]]] }));
    }
    const child = 150, top = 1;
    const options = { keep: "local", link: "free" };
    direct.attach(ids[child], ids[top], options);
    commands.attach(pendings[child], pendings[top], options);
    direct.write(ids[5], "translateWorld", [1, 2, 3]);
    commands.write(pendings[5], "translateWorld", [1, 2, 3]);
    direct.setLocalTransform(ids[9], { scale: 3 });
    commands.setLocalTransform(pendings[9], { scale: 3 });
    direct.setWorldTransform(ids[8], { position: [1, 1, 1] });
    commands.setWorldTransform(pendings[8], { position: [1, 1, 1] });
    direct.setInherit(ids[20], Inherit.ABSOLUTE_ROTATION);
    commands.setInherit(pendings[20], Inherit.ABSOLUTE_ROTATION);
    direct.set(ids[30], same, [1000]);
    commands.set(pendings[30], health, [1000]);
    direct.remove(ids[31], same);
    commands.remove(pendings[31], health);
    direct.remove(ids[32], same);
    commands.remove(pendings[32], health);
    direct.add(ids[32], same, [5]);
    commands.add(pendings[32], health, [5]);
    direct.setEnabled(ids[40], false, "entity");
    commands.setEnabled(pendings[40], false, "entity");
    direct.setEnabled(ids[41], false, "entity");
    direct.setEnabled(ids[41], true, "entity");
    commands.setEnabled(pendings[41], false, "entity");
    commands.setEnabled(pendings[41], true, "entity");
    direct.detach(ids[77], "local");
    commands.detach(pendings[77], "local");
    direct.moveBefore(ids[60]);
    commands.moveBefore(pendings[60]);
    direct.destroy(ids[100], "entity");
    commands.destroy(pendings[100], "entity");
    const count = commands.count;
    assert.equal(world.stats().entities, 0);
    refuses(() => commands.resolve(pendings[0]), "ESPL_ERR_PENDING");
    const report = commands.play();
    assert.equal(report.accepted, count);
    assert.equal(report.applied, count);
    assert.deepEqual(report.refusals, []);
    assert.equal(world.stats().entities, 199);
    assert.equal(world.hash(), direct.hash());
    assert.equal(commands.result(0), "ESPL_OK");
    assert.deepEqual([...world.get(commands.resolve(pendings[30]), health)], [1000]);
    refuses(() => commands.resolve(pendings[100]), "ESPL_ERR_DEAD");
    refuses(() => commands.play(), "ESPL_ERR_PLAYED");
    refuses(() => commands.destroy(pendings[1]), "ESPL_ERR_PLAYED");
    commands.reset();
    refuses(() => commands.resolve(pendings[30]), "ESPL_ERR_FOREIGN");
    assert.equal(commands.count, 0);
    direct.close();
});

withWorld("keys order the playback, and refused commands are counted", (world) => {
    const prefab = world.create({ components: [PREFAB], position: [0, 0, 5] });
    world.create({ parent: prefab });
    const root = world.create({ position: [10, 0, 0] });
    const dead = world.create();
    world.destroy(dead);
    const commands = world.commands();

    commands.destroy(root, "owned", 2);
    const clone = commands.instantiate(prefab, { parent: root, position: [1, 0, 0], link: "free" }, 1);
    const clones = commands.instantiateMany(prefab, 3, {}, 1);
    commands.attach(dead, root);
    commands.detach(dead);
    const orphan = commands.create({ parent: dead, deadParent: "root", position: [3, 3, 3] });
    const report = commands.play();
    assert.deepEqual(report.refusals, [{ status: "ESPL_ERR_DEAD", count: 2, first: 3 }]);
    assert.deepEqual([report.accepted, report.applied, report.refused, report.created, report.destroyed],
        [6, 4, 2, 9, 1]);
    assert.equal(commands.result(3), "ESPL_ERR_DEAD");
    assert.ok(!world.isAlive(root));
    assert.deepEqual([...world.getWorldPosition(commands.resolve(clone))], [11, 0, 0]);
    assert.deepEqual([...world.getWorldPosition(commands.resolve(clones[2]))], [0, 0, 5]);
    assert.deepEqual([...world.getWorldPosition(commands.resolve(orphan))], [3, 3, 3]);
    assert.ok(!world.has(commands.resolve(clone), PREFAB));
});

withWorld("submitted buffers are played in order", (world) => {
    const a = world.create();
    const [first, second] = [world.commands(), world.commands()];

    second.write(a, "localPosition", [2, 0, 0]);
    first.write(a, "localPosition", [1, 0, 0]);
    second.submit();
    first.submit();
    assert.equal(world.sync().applied, 2);
    assert.deepEqual([...world.getWorldPosition(a)], [1, 0, 0]);
    assert.equal(world.sync().accepted, 0);
});
