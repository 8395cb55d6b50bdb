// SPDX-License-Identifier: MIT
// What the package promises of one entity in several worlds.
import "./test-calls.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import { NULL_ENTITY, World } from "espalier";
import { createTree, draw, drawLocal, refuses, withWorld } from "./test-support.mjs";

/** A test with another world. */
function withWorlds(name, body) {
    withWorld(name, (world) => {
        const other = new World();

        try {
            body(world, other);
            assert.equal(other.validate(), null);
        } finally {
            other.close();
        }
    });
}

withWorlds("an entity is found by its original, and back", (game, editor) => {
    const robot = game.create(), model = editor.create();

    assert.equal(editor.findCounterpart(robot), NULL_ENTITY);
    assert.equal(editor.setCounterpart(model, robot), "ESPL_OK");
    assert.deepEqual([editor.findCounterpart(robot), editor.getOriginal(model), editor.stats().counterparts],
        [model, robot, 1]);
    refuses(() => editor.setCounterpart(editor.create(), robot), "ESPL_ERR_EXISTS");
    refuses(() => editor.setCounterpart(model, model), "ESPL_ERR_ARGUMENT");
    game.close();
    assert.equal(editor.findCounterpart(robot), model, "a handle is not followed");
    editor.setCounterpart(model, NULL_ENTITY);
    assert.deepEqual([editor.findCounterpart(robot), editor.getOriginal(model)], [NULL_ENTITY, NULL_ENTITY]);
    editor.setCounterpart(model, robot);
    editor.destroy(model);
    assert.deepEqual([editor.findCounterpart(robot), editor.stats().counterparts], [NULL_ENTITY, 0]);
});

withWorlds("a hierarchy is placed with its transforms and chosen components", (game, editor) => {
    const health = game.registerComponent("health"), armour = game.registerComponent("armour");
    const shown = editor.registerComponent("health");
    const robot = game.create({ position: [1, 0, 0], components: [[health, [7]], [armour, [8]]] });
    const arm = game.create({ parent: robot, position: [0, 2, 0] });
    const hall = editor.create({ position: [0, 0, 50] }), door = editor.create({ parent: hall });
    const placed = editor.placeCounterparts(game, robot, { parent: hall, before: door, position: [5, 0, 0],
        components: [health, armour] });

    assert.deepEqual([...editor.getChildren(hall)], [placed, door]);
    assert.deepEqual([...editor.getWorldPosition(editor.findCounterpart(arm))], [5, 2, 50]);
    assert.deepEqual([editor.get(placed, shown)[0], editor.stats().counterparts], [7, 2]);
    refuses(() => editor.placeCounterparts(game, robot), "ESPL_ERR_EXISTS");
    refuses(() => game.placeCounterparts(game, robot), "ESPL_ERR_ARGUMENT");
    assert.throws(() => editor.placeCounterparts(game, robot, { components: [shown] }), TypeError);
    editor.destroy(placed);
    const alone = editor.placeCounterparts(game, robot, { extent: "entity", place: "world", parent: hall,
        transform: { position: [0, 0, 0] } });
    assert.deepEqual([...editor.getWorldPosition(alone)], [0, 0, 0]);
    editor.destroy(alone);
    const same = editor.placeCounterparts(game, robot);
    assert.deepEqual([editor.getParent(same), editor.getWorldPosition(same)[0]], [NULL_ENTITY, 1]);
});

withWorlds("a world follows what a watch of another one collected, bit for bit", (game, editor) => {
    const tree = createTree(game, 200), watch = game.watch({ kinds: ["local"] });

    editor.placeCounterparts(game, tree.nodes[0]);
    watch.collect();
    for (let round = 0; round < 20; ++round) {
        for (let i = 0; i < 10; ++i) {
            game.setLocalTransform(tree.nodes[Math.floor(draw() * tree.nodes.length)], drawLocal());
        }
        const top = tree.nodes[1 + Math.floor(draw() * (tree.nodes.length - 1))];
        if (game.countDescendants(top) < 8) {
            game.destroy(top);
        }
        tree.nodes = tree.nodes.filter((entity) => game.isAlive(entity));
        const report = editor.follow(watch.collect());

        assert.deepEqual([report.status, report.unknown, report.refused], ["ESPL_OK", 0, 0]);
        assert.deepEqual(editor.readMany("localTransform", tree.nodes.map((entity) => editor.findCounterpart(entity))),
            game.readMany("localTransform", tree.nodes));
        assert.equal(editor.stats().entities, tree.nodes.length);
    }
});

withWorlds("arrays of another worker are followed, and world transforms", (game, editor) => {
    const robot = game.create(), arm = game.create({ parent: robot }), watch = game.watch();
    const model = editor.placeCounterparts(game, robot, { extent: "entity" });

    watch.collect();
    game.setLocalPosition(robot, [4, 0, 0]);
    const { removed, added, changed, addedWorlds, changedWorlds } = structuredClone(
        (({ removed, added, changed, addedWorlds, changedWorlds }) => ({ removed: removed.slice(), added: added.slice(),
            changed: changed.slice(), addedWorlds: addedWorlds.slice(), changedWorlds: changedWorlds.slice() }))(
            watch.collect()));
    const sent = { removed, added, changed, addedWorlds, changedWorlds };
    const report = editor.follow(sent, { kind: "world" });
    assert.deepEqual([report.written, report.unknown, report.destroyed], [1, 1, 0]);
    assert.equal(editor.getWorldPosition(model)[0], 4);
    const plain = { ...sent, changed: [robot], changedWorlds: [0, 0, 0, 1, 9, 0, 0, 1, 1, 1, 1, 0] };
    assert.equal(editor.follow(plain, { kind: "world" }).written, 1);
    assert.equal(editor.getWorldPosition(model)[0], 9);
    assert.throws(() => editor.follow(sent), TypeError);
    refuses(() => game.follow(sent, { kind: "world" }), "ESPL_ERR_ARGUMENT");
    game.destroy(robot);
    const last = watch.collect();
    assert.equal(last.removed.length, 2);
    assert.equal(editor.follow(last, { kind: "world", keep: true }).destroyed, 0);
    assert.ok(editor.isAlive(model));
    assert.equal(editor.follow(last, { kind: "world", removed: "entity" }).destroyed, 1);
    assert.ok(!editor.isAlive(model) && !game.isAlive(arm));
});

test("roots and solos follow into cells", () => {
    const sea = new World({ cellSize: 2048 }), chart = new World({ cellSize: 2048 });
    const ship = sea.create({ position: [1, 2, 3] }), watch = sea.watch({ kinds: ["local", "cell"] });
    const drawn = chart.placeCounterparts(sea, ship);

    sea.setCell(ship, [5, -6, 7]);
    const changes = watch.collect();
    assert.equal(chart.follow(changes).written, 1);
    assert.deepEqual([...chart.getCell(drawn)], [5, -6, 7]);
    const { removed, added, changed, addedLocals, changedLocals } = changes;
    chart.follow({ removed, added, changed, addedLocals, changedLocals, addedCells: [8, 0, 0, 1], changedCells: [],
        cellSize: 2048 });
    assert.deepEqual([...chart.getCell(drawn)], [8, 0, 0]);
    assert.throws(() => chart.follow({ removed, added, changed, addedLocals, changedLocals, cellSize: 2048 }),
        TypeError);
    sea.close();
    chart.close();
});

withWorlds("two worlds that follow each other come to rest", (left, right) => {
    const worlds = [left, right];
    const a = left.create(), b = right.placeCounterparts(left, a);
    const watches = worlds.map((world) => world.watch({ kinds: ["local"] }));

    left.setCounterpart(a, b);
    watches.forEach((watch) => watch.collect());
    right.setLocalPosition(b, [0, 3, 0]);
    left.follow(watches[1].collect());
    assert.equal(left.getLocalPosition(a)[1], 3);
    right.follow(watches[0].collect());
    assert.deepEqual(watches.map((watch) => watch.collect().changed.length), [0, 0]);
});

withWorld("model poses do not depend on where the top is", (world) => {
    const { nodes } = createTree(world, 60);
    const read = () => world.copySubtree(nodes[0], "subtree", ["locals", "worlds", "models"]);
    const before = read();

    assert.deepEqual([...before.models.subarray(0, 8)], [0, 0, 0, 1, 0, 0, 0, 1]);
    assert.deepEqual(before.locals, world.readMany("localTransform", before.entities));
    assert.deepEqual(before.worlds, world.readMany("worldTransform", before.entities));
    world.setLocalPose(nodes[0], drawLocal());
    const after = read();
    assert.deepEqual(after.models.subarray(12), before.models.subarray(12));
    assert.notDeepEqual(after.worlds, before.worlds);
    assert.deepEqual(Object.keys(world.copySubtree(nodes[0])).sort(), ["depths", "entities", "parents"]);
});
