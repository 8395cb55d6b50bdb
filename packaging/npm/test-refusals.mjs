// SPDX-License-Identifier: MIT
// Calls that are refused, that name no living entity, or whose object is closed.
import "./test-calls.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import { Component, EspalierError, MEMBER, NULL_ENTITY, TRANSFORM, World } from "espalier";
import { refuses, run, withWorld } from "./test-support.mjs";

withWorld("a refused call says what and why, and changes nothing", (world) => {
    const a = world.create(), b = world.create({ parent: a });
    const before = world.hash("physical");

    assert.throws(() => world.attach(a, b), (error) => {
        assert.ok(error instanceof EspalierError && error instanceof Error);
        assert.equal(error.name, "EspalierError");
        assert.equal(error.status, "ESPL_ERR_CYCLE");
        assert.equal(error.code, -6);
        assert.match(error.text, /^The new parent is the entity itself or below it; detach .*\.$/);
        assert.match(error.message, /^espl_attach: ESPL_ERR_CYCLE: child .*, parent .*detach/);
        return true;
    });
    refuses(() => world.attach(a, NULL_ENTITY), "ESPL_ERR_NULL_ENTITY");
    refuses(() => world.setLocalPosition(a, [NaN, 0, 0]), "ESPL_ERR_NOT_FINITE");
    refuses(() => world.moveBefore(a), "ESPL_ERR_NOT_CHILD");
    refuses(() => world.create({ parent: 12345n }), "ESPL_ERR_FOREIGN");
    const other = new World();
    refuses(() => world.getWorldPosition(other.create()), "ESPL_ERR_FOREIGN");
    other.close();
    assert.equal(world.hash("physical"), before);
    const c = world.create({ parent: b });
    world.destroy(c);
    refuses(() => world.setLocalPosition(c, [0, 0, 0]), "ESPL_ERR_DEAD");
});

withWorld("a wrong type or word is a TypeError, a wrong length or range a RangeError", (world) => {
    const a = world.create();
    const health = world.registerComponent("health", { length: 2 });
    const other = new World();

    assert.throws(() => world.getWorldPosition(1), TypeError);
    assert.throws(() => world.destroy(a, "all"), TypeError);
    assert.throws(() => world.destroy(a, "toString"), TypeError);
    assert.throws(() => world.read(a, "translateOwn"), TypeError);
    assert.throws(() => world.write(a, "worldMatrix", {}), TypeError);
    assert.throws(() => world.setLocalPosition(a, [1, 2]), RangeError);
    assert.throws(() => world.setLocalTransform(a, [1, 2]), RangeError);
    assert.throws(() => world.createMany(-1), RangeError);
    assert.throws(() => world.createMany(1.5), RangeError);
    assert.throws(() => world.set(a, health, [1]), RangeError);
    assert.throws(() => world.add(a, "health"), TypeError);
    assert.throws(() => other.add(other.create(), health), TypeError);
    assert.throws(() => other.query({ all: [health] }), TypeError);
    assert.throws(() => world.setName(a, "a\0b"), TypeError);
    assert.throws(() => world.writeMany("localPosition", [a], [1, 2]), RangeError);
    assert.throws(() => world.readMany("localPosition", [a], new Float32Array(2)), RangeError);
    assert.throws(() => world.batch("nothing", 1), TypeError);
    assert.throws(() => new Component(), TypeError);
    assert.ok(world.isAlive(a));
    other.close();
});

test("messages come after the call, to their own world, and may call the library", () => {
    const said = [];
    const world = new World({ onMessage(level, line) {
        // These calls overwrite scratch and room(), where results of the call that ends may be.
        const others = other.createMany(100, { position: [9, 9, 9] });
        other.setLocalTransform(others[0], { position: [8, 8, 8] });
        said.push([level, line, world.stats().entities]);
    } });
    const other = new World();
    const a = world.create({ position: [1, 0, 0], scale: 0 });

    assert.equal(said.length, 1);
    assert.deepEqual([said[0][0], said[0][2]], ["warning", 1]);
    assert.ok(world.isAlive(a));
    const report = world.writeMany("localTransform", [a, NULL_ENTITY], new Float32Array(24));
    assert.ok(said.length > 1);
    assert.deepEqual([report.status, report.refused, report.firstRefused], ["ESPL_PARTLY", 2, 0]);
    const { length } = said;
    refuses(() => world.attach(a, a), "ESPL_ERR_CYCLE");
    refuses(() => other.destroy(a), "ESPL_ERR_FOREIGN");
    assert.equal(said.length, length + 1);
    assert.match(said[length][1], /espl_attach/);
    world.close();
    other.close();
});

// In a process of its own, because the test runner reports an uncaught exception as a failure.
test("what a listener throws is reported as uncaught, and the call is done", () => {
    const program = `
        import { World } from "espalier";
        process.once("uncaughtException", (error) => console.log(error.message));
        const world = new World({ onMessage() { throw new Error("of the listener"); } });
        console.log(world.isAlive(world.create({ scale: 0 })));`;

    assert.equal(run(program).stdout, "true\nof the listener\n");
});

withWorld("reads of a handle that names no living entity return what espalier.d.ts says", (world) => {
    const dead = world.create();
    world.destroy(dead);

    for (const entity of [dead, NULL_ENTITY]) {
        for (const get of ["Parent", "Root", "FirstChild", "LastChild", "PreviousSibling", "NextSibling"]) {
            assert.equal(world[`get${get}`](entity), NULL_ENTITY, get);
        }
        assert.deepEqual(world.getChildren(entity), new BigUint64Array());
        assert.equal(world.getRole(entity), "none");
        assert.equal(world.getLink(entity), "owned");
        assert.equal(world.getDepth(entity), -1);
        assert.equal(world.countChildren(entity), 0);
        assert.equal(world.countDescendants(entity), 0);
        assert.equal(world.isAncestor(entity, entity), false);
        assert.equal(world.isAlive(entity), false);
        assert.equal(world.isEnabled(entity), false);
        assert.equal(world.has(entity, TRANSFORM), false);
        assert.equal(world.getInherit(entity), 0);
        assert.equal(world.getName(entity), "");
        assert.deepEqual(world.copySubtree(entity), { entities: new BigUint64Array(),
            parents: new Int32Array(), depths: new Uint32Array() });
    }
});

withWorld("calls for many entities change all or none", (world) => {
    const [top, a, b] = world.createMany(3), dead = world.create();
    world.destroy(dead);
    const before = world.hash("physical");

    refuses(() => world.destroyMany([a, b, dead]), "ESPL_ERR_DEAD");
    refuses(() => world.attachMany([a, b], [top, dead]), "ESPL_ERR_DEAD");
    refuses(() => world.attachMany([a, top], [top, a]), "ESPL_ERR_CYCLE");
    assert.throws(() => world.attachMany([a, b], [top]), RangeError);
    refuses(() => world.change(a, [], [TRANSFORM, MEMBER]), "ESPL_ERR_ARGUMENT");
    refuses(() => world.change(a, [MEMBER], [TRANSFORM]), "ESPL_ERR_ARGUMENT");
    assert.equal(world.hash("physical"), before);
    assert.ok(world.has(a, TRANSFORM));
});

withWorld("limits are those of espalier.d.ts", (world) => {
    const a = world.create();

    world.setName(a, "ä".repeat(127) + "x");
    refuses(() => world.setName(a, "ä".repeat(128)), "ESPL_ERR_LIMIT");
    assert.equal(world.getName(a).length, 128);
    world.setName(a, "");
    assert.equal(world.getName(a), "");
    assert.equal(world.registerComponent("most", { type: "u8", length: 4096 }).size, 4096);
    refuses(() => world.registerComponent("more", { type: "u8", length: 4097 }), "ESPL_ERR_LIMIT");
    assert.throws(() => world.registerComponent("half", { length: 0.5 }), RangeError);
    assert.throws(() => new World({ tag: -1 }), RangeError);
    assert.throws(() => new World({ layoutBudget: 2 ** 32 }), RangeError);
    refuses(() => world.setInherit(a, 256), "ESPL_ERR_ARGUMENT");
});

withWorld("a loop refuses every change of structure, and a view that has to lay out", (world) => {
    const top = world.create(), child = world.create({ parent: top }), other = world.create();
    const health = world.registerComponent("health");
    const view = world.view(top);
    const calls = [
        () => world.attach(other, top), () => world.detach(child), () => world.destroy(child),
        () => world.destroyMany([child]), () => world.instantiate(child), () => world.createMany(2),
        () => world.change(child, [health]), () => world.setEnabled(child, false), () => world.clear(),
        () => world.compact(), () => world.commands().play(), () => world.sync(),
    ];

    for (const chunk of world.query()) {
        const before = world.hash("physical");

        assert.ok(chunk.count > 0);
        calls.forEach((call) => refuses(call, "ESPL_ERR_BUSY"));
        assert.equal(view.count, 2);
        assert.equal(world.hash("physical"), before);
    }
    world.attach(other, child);
    for (const chunk of world.query()) {
        assert.ok(chunk.count > 0);
        refuses(() => view.poses, "ESPL_ERR_BUSY");
    }
    assert.equal(view.count, 3);
});

withWorld("a command's value is copied and checked when it is recorded", (world) => {
    const a = world.create(), health = world.registerComponent("health");
    const commands = world.commands();
    const position = Float32Array.of(1, 2, 3), points = Float32Array.of(5);

    refuses(() => commands.write(a, "localPosition", [0, NaN, 0]), "ESPL_ERR_NOT_FINITE");
    assert.throws(() => commands.write(a, "localPosition", [1, 2]), RangeError);
    assert.equal(commands.count, 0);
    commands.write(a, "localPosition", position);
    commands.add(a, health, points);
    position.fill(9);
    points.fill(9);
    assert.deepEqual([...world.getLocalPosition(a)], [0, 0, 0]);
    commands.play();
    assert.deepEqual([...world.getLocalPosition(a)], [1, 2, 3]);
    assert.deepEqual([...world.get(a, health)], [5]);

    const dropped = world.commands();
    dropped.destroy(a);
    dropped.submit();
    dropped.close();
    assert.equal(world.sync().accepted, 0);
    assert.ok(world.isAlive(a));
});

// Call each method of a closed object with valid arguments, except the others.
function refuseAll(object, argumentsOf, others) {
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(object))) {
        if (name !== "constructor" && !others.includes(name)) {
            const isGetter = typeof Object.getOwnPropertyDescriptor(Object.getPrototypeOf(object), name)
                .value !== "function";

            refuses(() => isGetter ? object[name] : object[name](...argumentsOf(name)), "CLOSED");
        }
    }
}

test("after close() every method throws", () => {
    const world = new World(), health = world.registerComponent("health");
    const entity = world.create();
    const commands = world.commands(), batch = world.batch("localScale", 1);
    const watch = world.watch(), changes = watch.collect(), history = world.history();
    const renderables = world.renderables(), visible = world.visible(), instances = world.instances();
    renderables.update();
    const { mirror } = renderables;
    const values = { Transform: {}, Position: [0, 0, 0], Rotation: [0, 0, 0, 1], Scale: 1, Stretch: [1, 1, 1],
        UserData: 0, Name: "name", Inherit: 0, Pose: {}, Enabled: true, Cell: [0, 0, 0],
        AbsolutePosition: [0, 0, 0], Counterpart: 0n };
    const special = {
        createMany: [1], instantiateMany: [entity, 1], create: [{}], reserve: [{}],
        registerComponent: ["name"],
        attachMany: [[entity], [entity]], attach: [entity, entity], isAncestor: [entity, entity],
        destroyMany: [[entity]], change: [entity, [health]], add: [entity, health], remove: [entity, health],
        has: [entity, health], get: [entity, health], set: [entity, health, [1]], find: ["name"],
        read: [entity, "localScale"], write: [entity, "localScale", 1], translate: [entity, [0, 0, 0]],
        rotate: [entity, [0, 0, 0, 1]], rotateAbout: [entity, [0, 0, 0], [0, 0, 0, 1]],
        lookAt: [entity, [1, 0, 0]], getRelativeTransform: [entity, entity],
        convert: [entity, "pointToWorld", [0, 0, 0]], readMany: ["localScale", [entity]],
        writeMany: ["localScale", [entity], [1]], batch: ["localScale", 1], query: [], result: [0],
        copyWorldTransforms: [[entity], world, [entity]], history: [], mark: [1], rewind: [1],
        saveImage: [], loadImage: [world.saveImage()], writeArchive: [], writeArchiveTo: [() => {}],
        readArchive: [world.writeArchive()], applyArchive: [world.writeArchive()],
        readMatrices: ["world", [entity]], startMotion: [], tick: [() => 0], present: [0], watch: [], collect: [],
        renderables: [], visible: [], instances: [], update: [], addLods: [[{ key: 1, size: 1 }]], cull: [mirror, {}],
        groups: [], count: [], changed: [], rebase: [], recenter: [], readRelative: [{}, "worldPosition", [entity]],
        readRelativeMatrices: [{}, "world", [entity]], getRelativeMatrix: [{}, entity],
        placeCounterparts: [world, entity],
        follow: [{ removed: [], added: [], changed: [], addedLocals: [], changedLocals: [] }],
    };
    const argumentsOf = (name) => name === "hash" ? [] : special[name]
        ?? (name.startsWith("set") ? [entity, values[/^set(?:Local|World)?(.*)/.exec(name)[1]]] : [entity]);

    world.close();
    refuseAll(world, argumentsOf, ["close", "isClosed", "status"]);
    refuseAll(commands, argumentsOf, []);
    refuseAll(batch, () => [], ["capacity"]);
    refuseAll(watch, argumentsOf, ["close"]);
    refuseAll(history, (name) => name === "hash" ? [1] : argumentsOf(name), ["close"]);
    refuseAll(changes, () => [], ["moment", "isCoarse", "cellSize"]);
    refuseAll(renderables, (name) => name === "reserve" ? [1] : argumentsOf(name), ["close"]);
    refuseAll(mirror, (name) => name === "write" ? [0, instances] : argumentsOf(name), []);
    refuseAll(visible, (name) => name === "write" ? [instances] : argumentsOf(name), ["close"]);
    refuseAll(instances, () => [1], ["close", "capacity"]);
    assert.ok(world.isClosed && commands.isClosed && batch.isClosed);
    assert.equal(commands.world, world);
});
