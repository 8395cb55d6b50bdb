// SPDX-License-Identifier: MIT
// What the package promises of motion between ticks, and of watches.
import "./test-calls.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import { NULL_ENTITY, Watched, World, quat } from "espalier";
import { createTree, draw, drawLocal, refuses, withWorld } from "./test-support.mjs";

// --- Motion ---

/** A test with a root and a child, which are there before motion is started. */
function withMotion(name, body) {
    withWorld(name, (world) => {
        const root = world.create(), child = world.create({ parent: root, position: [0, 5, 0] });

        world.startMotion({ history: 2 });
        body(world, root, child);
    });
}

withMotion("a write in a tick is shown between its ends, and one between ticks as it is", (world, root, child) => {
    const shownX = (at) => {
        world.present(at);
        return [root, child].map((entity) => world.getShownPosition(entity)[0]);
    };

    assert.equal(world.tick((given) => {
        assert.equal(given, world);
        return given.setLocalPosition(root, [4, 0, 0]);
    }), "ESPL_OK");
    assert.deepEqual([0, 0.25, 1, 1.5].map(shownX), [[0, 0], [1, 1], [4, 4], [6, 6]]);
    assert.deepEqual([...world.getWorldPosition(child)], [4, 5, 0]);
    world.setLocalPosition(root, [8, 0, 0]);
    assert.deepEqual(shownX(0), [8, 8]);
    world.beginTick();
    world.setLocalPosition(root, [10, 0, 0]);
    world.endTick();
    world.setLocalPosition(child, [1, 5, 0]);
    const report = world.present(0.5);
    assert.deepEqual([report.status, report.hasOverflowed], ["ESPL_OK", false]);
    assert.ok(report.blended >= 1 && report.visited >= 2);
    assert.deepEqual(shownX(0.5), [9, 10]);
});

withMotion("before and after a tick motion goes on", (world, root, child) => {
    const turned = (angle) => new Float32Array([Math.cos(angle), 0, -Math.sin(angle), 0, 0, 1, 0, 0,
        Math.sin(angle), 0, Math.cos(angle), 0, 0, 0, 0, 1]);

    world.tick(() => {
        world.rotate(root, quat.fromAxisAngle([0, 1, 0], 0.3));
        world.setLocalTransform(child, { position: [1, 5, 0], scale: 2 });
    });
    for (const at of [-1, 1.25, 2, 10]) {
        const matrix = turned(0.3 * at), below = matrix.map((number, i) => i < 12 ? number * (1 + at) : number);

        below.set([at * matrix[0], 5, at * matrix[2]], 12);
        world.present(at);
        world.readMatrices("shown", [root, child]).forEach((number, i) => {
            const wanted = i < 16 ? matrix[i] : below[i - 16];

            assert.ok(Math.abs(number - wanted) < 1e-4, `number ${i} at ${at} is ${number}, not ${wanted}`);
        });
    }
});

withMotion("a tick ends where its function throws", (world, root, child) => {
    assert.throws(() => world.tick(() => {
        world.setLocalPosition(root, [4, 0, 0]);
        throw new RangeError("in it");
    }), /in it/);
    world.setLocalPosition(child, [1, 5, 0]);
    world.present(0);
    assert.equal(world.getShownPosition(child)[0], 1);
    world.tick(() => world.close());
    refuses(() => world.present(0), "CLOSED");
});

withMotion("flags of writes are taken in every form", (world, root) => {
    const batch = world.batch("localPosition", 1), commands = world.commands();
    const forms = [
        () => world.write(root, "localPosition", [4, 0, 0], "teleport"),
        () => world.write(root, "worldTransform", { position: [4, 0, 0] }, "teleport"),
        () => world.writeMany("localPosition", [root], [4, 0, 0], "teleport"),
        () => batch.write(1, "teleport"),
        () => {
            commands.reset();
            commands.write(root, "localPosition", [4, 0, 0], 0, "teleport");
            commands.play();
        },
    ];

    batch.entities[0] = root;
    batch.values.set([4, 0, 0]);
    forms.forEach((form, i) => {
        world.setLocalPosition(root, [0, 0, 0]);
        world.tick(form);
        world.present(0);
        assert.deepEqual([...world.getShownPosition(root)], [4, 0, 0], `form ${i}`);
    });
    world.tick(() => {
        world.setLocalPosition(root, [5, 0, 0]);
        world.write(root, "localPosition", [105, 0, 0], "carry");
    });
    world.present(0.5);
    assert.equal(world.getShownPosition(root)[0], 104.5);
    refuses(() => world.write(root, "previousLocalPose", {}, "carry"), "ESPL_ERR_ARGUMENT");
});

withMotion("previous poses are written and read", (world, root, child) => {
    for (const x of [1, 2, 3]) {
        world.tick(() => world.setLocalPosition(root, [x, 0, 0]));
    }
    const x = (kind) => [root, child].map((entity) => world.read(entity, kind).position[0]);
    assert.deepEqual(x("previousLocalPose"), [2, 0]);
    assert.deepEqual(x("previousWorldPose"), [2, 2]);
    assert.deepEqual(x("beforeLocalPose"), [1, 0]);
    assert.deepEqual(x("beforeWorldPose"), [1, 1]);
    world.write(root, "previousLocalPose", { position: [-3, 0, 0] });
    world.present(0.5);
    assert.equal(world.getShownPosition(child)[0], 0);
    world.writeMany("previousWorldPose", [root], [0, 0, 0, 1, 1, 0, 0, 1]);
    world.present(0);
    assert.equal(world.getShownPosition(child)[0], 1);
});

withMotion("what is shown is read in every form", (world, root, child) => {
    const entities = [root, child];

    world.tick(() => world.setLocalTransform(root, { position: [4, 1, 2], scale: 2, stretch: [1, 2, 1],
        rotation: quat.fromAxisAngle([0, 1, 0], 1), userData: 7 }));
    world.present(0.5);
    const transforms = world.readMany("shownTransform", entities);
    const matrices = world.readMatrices("shown", entities);
    const poses = world.view(child).shownPoses;
    entities.forEach((entity, i) => {
        const { rotation, position, scale, stretch } = world.getShownTransform(entity);
        const words = transforms.subarray(12 * i, 12 * i + 12);

        assert.deepEqual([...words.subarray(0, 11)], [...rotation, ...position, scale, ...stretch]);
        assert.deepEqual([...poses.subarray(8 * i, 8 * i + 8)], [...rotation, ...position, scale]);
        assert.deepEqual(world.getShownPosition(entity), position);
        assert.deepEqual(world.getShownRotation(entity), rotation);
        assert.equal(world.getShownScale(entity), scale);
        assert.deepEqual(world.getShownPose(entity).position, position);
        assert.deepEqual(matrices.subarray(16 * i, 16 * i + 16), world.getShownMatrix(entity));
    });
    assert.notDeepEqual(poses, world.view(child).poses);
    for (const chunk of world.query()) {
        assert.deepEqual(chunk.readTransforms("shownTransform"), world.readMany("shownTransform", chunk.entities));
    }
    world.present(1);
    assert.deepEqual(world.readMatrices("shown", entities), world.readMatrices("world", entities));
    assert.deepEqual(world.view(child).shownPoses, world.view(child).poses);
    assert.deepEqual(world.readMatrices("world", entities).subarray(16), world.getMatrix(child));
});

withWorld("matrices of many entities are written into an array, and those of refused ones left", (world) => {
    const { nodes } = createTree(world, 200), out = new Float32Array(16 * 201).fill(9);

    nodes[130] = NULL_ENTITY;
    assert.equal(world.readMatrices("world", nodes, out), out);
    assert.equal(world.status, "ESPL_PARTLY");
    nodes.forEach((node, i) => {
        const wanted = node === NULL_ENTITY ? new Float32Array(16).fill(9) : world.getMatrix(node);

        assert.deepEqual(out.subarray(16 * i, 16 * i + 16), wanted);
    });
    assert.equal(out[3200], 9);
    assert.ok(world.readMatrices("shown", [NULL_ENTITY]).every(Number.isNaN));
});

withWorld("what motion cannot do is refused", (world) => {
    const entity = world.create({ position: [1, 0, 0] });

    for (const call of [() => world.beginTick(), () => world.endTick(), () => world.present(0),
        () => world.stopMotion(), () => world.tick(() => assert.fail("called")),
        () => world.startMotion({ history: 3 }), () => world.watch({ kinds: ["shown"] })]) {
        refuses(call, "ESPL_ERR_ARGUMENT");
    }
    refuses(() => world.write(entity, "previousLocalPose", {}), "ESPL_ERR_UNSUPPORTED");
    assert.deepEqual([...world.getShownPosition(entity)], [1, 0, 0]);
    world.startMotion();
    refuses(() => world.startMotion(), "ESPL_ERR_EXISTS");
    for (const at of [NaN, Infinity]) {
        refuses(() => world.present(at), "ESPL_ERR_NOT_FINITE");
    }
    world.stopMotion();
    world.startMotion({ history: 2 });
});

// --- Watches ---

withWorld("a watch finds what came, went and changed", (world) => {
    const root = world.create(), child = world.create({ parent: root, position: [0, 1, 0] });
    const watch = world.watch({ kinds: ["world", "local"], before: true });
    const first = watch.collect();

    assert.deepEqual([...first.added], [root, child]);
    assert.deepEqual([first.removed.length, first.changed.length, first.isCoarse], [0, 0, false]);
    assert.deepEqual(first.addedWorlds, world.readMany("worldTransform", [root, child]));
    assert.deepEqual(first.addedLocals, world.readMany("localTransform", [root, child]));
    const { moment } = first, before = first.addedWorlds.slice();
    world.setLocalPosition(root, [3, 0, 0]);
    world.destroy(world.create());
    const next = watch.collect();
    refuses(() => first.added, "CLOSED");
    assert.equal(first.moment, moment);
    assert.deepEqual([...next.changed].sort(), [root, child].sort());
    assert.deepEqual([next.removed.length, next.added.length], [0, 0]);
    [...next.changed].forEach((entity, i) => {
        const at = entity === root ? 0 : 12;

        assert.equal(next.kinds[i], entity === root ? Watched.WORLD | Watched.LOCAL : Watched.WORLD);
        assert.deepEqual(next.changedBefore.subarray(12 * i, 12 * i + 12), before.subarray(at, at + 12));
    });
    assert.deepEqual(next.changedWorlds, world.readMany("worldTransform", next.changed));
    assert.deepEqual(next.changedLocals, world.readMany("localTransform", next.changed));
    assert.deepEqual(next.changedMatrices(), world.readMatrices("world", next.changed));
    assert.equal(watch.collect().changed.length, 0);
    assert.equal(watch.collect(moment).changed.length, 2);
    refuses(() => watch.collect(2n ** 63n), "ESPL_ERR_ARGUMENT");
    world.destroy(child);
    const last = watch.collect();
    assert.deepEqual([...last.removed], [child]);
    const out = new Float32Array(40).fill(9);
    assert.equal(last.addedMatrices(out), out);
    assert.equal(out[0], 9);
});

withWorld("a watch looks through its lists, and has null for what it was not made for", (world) => {
    const health = world.registerComponent("health");
    const [a, b, c] = world.createMany(3);

    world.add(b, health, [1]);
    world.add(c, health, [1]);
    world.setEnabled(c, false);
    const some = world.watch({ all: [health] }), others = world.watch({ none: [health] });
    const every = world.watch({ any: [health], includeDisabled: true });
    const changes = some.collect();
    assert.deepEqual([...changes.added], [b]);
    assert.deepEqual([...others.collect().added], [a]);
    assert.deepEqual([...every.collect().added], [b, c]);
    assert.deepEqual([changes.addedLocals, changes.changedLocals, changes.changedBefore], [null, null, null]);
    world.add(a, health, [1]);
    assert.deepEqual([...some.collect().added], [a]);
    assert.deepEqual([...others.collect().removed], [a]);
    refuses(() => world.watch({ changed: [health] }), "ESPL_ERR_ARGUMENT");
    refuses(() => world.watch({ kinds: ["local"], before: true }), "ESPL_ERR_ARGUMENT");
    for (const chunk of world.query()) {
        world.setLocalPosition(chunk.entities[0], [1, 0, 0]);
        assert.equal(some.collect().changed.length, 1);
        refuses(() => world.watch(), "ESPL_ERR_BUSY");
        break;
    }
});

withWorld("what a watch collects is what a comparison of all transforms finds", (world) => {
    const tree = createTree(world, 300), watch = world.watch({ before: true });
    let known = new Map(), seen = watch.collect();

    seen.added.forEach((entity, i) => known.set(entity, seen.addedWorlds.slice(12 * i, 12 * i + 12).join()));
    for (let round = 0; round < 30; ++round) {
        const pick = () => tree.nodes[Math.floor(draw() * tree.nodes.length)];

        world.setLocalTransform(pick(), drawLocal());
        world.detach(pick());
        world.destroy(pick(), "entity");
        tree.nodes.push(world.create({ parent: NULL_ENTITY, ...drawLocal() }));
        tree.nodes = tree.nodes.filter((node) => world.isAlive(node));
        const now = new Map(tree.nodes.map((node) => [node, world.readMany("worldTransform", [node]).join()]));
        seen = watch.collect();
        assert.deepEqual(new Set(seen.removed), new Set([...known.keys()].filter((node) => !now.has(node))));
        assert.deepEqual(new Set(seen.added), new Set([...now.keys()].filter((node) => !known.has(node))));
        assert.deepEqual(new Set(seen.changed),
            new Set([...now.keys()].filter((node) => known.has(node) && known.get(node) !== now.get(node))));
        known = now;
    }
});

withMotion("a watch of what is shown has it, as matrices too", (world, root, child) => {
    const watch = world.watch({ kinds: ["shown"], before: true });

    watch.collect();
    world.tick(() => world.setLocalPosition(root, [4, 0, 0]));
    assert.equal(watch.collect().changed.length, 0);
    world.present(0.25);
    const changes = watch.collect(), { changed } = changes;
    assert.deepEqual(new Set(changed), new Set([root, child]));
    assert.deepEqual([...changes.kinds], [Watched.SHOWN, Watched.SHOWN]);
    assert.deepEqual(changes.changedMatrices(), world.readMatrices("shown", changed));
    assert.equal(changes.changedMatrices()[12], 1);
    world.present(1.5);
    const later = watch.collect();
    assert.deepEqual([later.changedBefore[4], later.changedWorlds[4], later.changedMatrices()[12]], [1, 6, 6]);
});

withWorld("arrays of a collect are made anew after the memory has grown", (world) => {
    const handles = world.createMany(100), watch = world.watch();
    const changes = watch.collect(), { added, addedWorlds } = changes;

    assert.equal(changes.added, added, "without growth the array is the same");
    for (let i = 0; i < 100 && added.length !== 0; ++i) {
        world.createMany(20000);
    }
    assert.deepEqual([added.length, addedWorlds.length], [0, 0]);
    assert.deepEqual(changes.added, handles);
    assert.equal(changes.addedWorlds.length, 1200);
});

withMotion("stats() counts watches, marks and presents", (world, root) => {
    const none = world.stats();

    assert.deepEqual([none.watches, none.presented, none.blended], [0, 0, 0]);
    const watch = world.watch();

    assert.equal(world.stats().watches, 1);
    assert.ok(world.stats().planes > none.planes);
    assert.ok(world.stats().bytesChanges > none.bytesChanges);
    assert.ok(world.stats().bytesChanges < world.stats().bytes);
    world.tick(() => {
        world.setLocalPosition(root, [4, 0, 0]);
    });
    world.present(0.5);
    world.present(0.75);
    assert.deepEqual([world.stats().presented, world.stats().blended], [2, 2]);
    watch.close();
    assert.equal(world.stats().watches, 0);
});

withWorld("collects use reserved memory", (world) => {
    const watch = world.watch(), handles = world.createMany(1000);

    world.reserve({ writes: 1000, watchEntities: 1000 });
    const { bytes } = world.stats();
    assert.equal(watch.collect().added.length, 1000);
    world.writeMany("localScale", handles, new Float32Array(1000).fill(2));
    assert.equal(watch.collect().changed.length, 1000);
    assert.equal(world.stats().bytes, bytes);
});

test("a closed watch throws, and a world closes its watches", () => {
    const world = new World();
    const watch = world.watch(), left = world.watch();
    const changes = watch.collect(), kept = left.collect();

    watch.close();
    watch.close();
    assert.ok(watch.isClosed);
    refuses(() => watch.collect(), "CLOSED");
    refuses(() => changes.added, "CLOSED");
    refuses(() => changes.addedMatrices(), "CLOSED");
    assert.equal(kept.added.length, 0);
    world.close();
    assert.ok(left.isClosed);
    refuses(() => kept.changed, "CLOSED");
    refuses(() => world.watch(), "CLOSED");
});
