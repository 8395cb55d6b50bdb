// SPDX-License-Identifier: MIT
// What the package promises of large worlds: cells, rebase, recenter, and reads relative to an origin.
import "./test-calls.mjs";
import assert from "node:assert/strict";
import { Watched, World } from "espalier";
import { draw, refuses, withWorld } from "./test-support.mjs";

const SIZE = 2048;

/** A test with a ship in cell 1000, -2, 0, its mast, and a buoy 100 m from it in the next cell. */
function withSea(name, body) {
    withWorld(name, (world) => {
        const ship = world.create({ position: [1000, 0, 0] });
        const mast = world.create({ parent: ship, position: [0, 5, 0] });
        const buoy = world.create({ position: [-948, 0, 0] });

        world.setCell(ship, [1000, -2, 0]);
        world.setCell(buoy, [1001, -2, 0]);
        body(world, ship, mast, buoy);
    }, { cellSize: SIZE });
}

withSea("each hierarchy has a cell, and positions are relative to its middle", (world, ship, mast, buoy) => {
    assert.equal(world.cellSize, SIZE);
    assert.deepEqual([...world.getCell(mast)], [1000, -2, 0]);
    assert.ok(world.getCell(mast) instanceof Int32Array);
    assert.deepEqual([...world.getWorldPosition(mast)], [1000, 5, 0]);
    assert.deepEqual([...world.getAbsolutePosition(mast)], [1000 * SIZE + 1000, -2 * SIZE + 5, 0]);
    assert.equal(world.getRelativeTransform(ship, buoy).position[0], 100);
    const out = new Int32Array(3), place = [0, 0, 0];
    assert.equal(world.getCell(ship, out), out);
    assert.equal(world.read(ship, "absolutePosition", place), place);
    assert.deepEqual([...out, ...place], [1000, -2, 0, 1000 * SIZE + 1000, -2 * SIZE, 0]);
    assert.deepEqual([...world.readMany("cell", [buoy, mast])], [1001, -2, 0, 1000, -2, 0]);
    assert.deepEqual([...world.readMany("cell", [buoy, 0n])], [1001, -2, 0, 0, 0, 0]);
    assert.deepEqual([...world.readMany("absolutePosition", [mast, 0n])].slice(0, 4),
        [1000 * SIZE + 1000, -2 * SIZE + 5, 0, NaN]);
    refuses(() => world.setCell(mast, [0, 0, 0]), "ESPL_ERR_UNSUPPORTED");
    refuses(() => new World({ cellSize: 3 }), "ESPL_ERR_ARGUMENT");
    assert.throws(() => new World({ cellSize: "1" }), TypeError);
});

withSea("an absolute position has the precision of a number, however it is written", (world, ship, mast) => {
    const far = [1e9 + 0.25, -3e9 - 0.5, 0];
    const isThere = () => {
        assert.deepEqual([...world.getAbsolutePosition(ship)], far);
        assert.ok(world.getWorldPosition(ship).every((x) => Math.abs(x) <= SIZE / 2));
        assert.deepEqual([...world.getCell(mast)], far.map((x) => Math.round(x / SIZE)));
        world.setAbsolutePosition(ship, [0, 0, 0]);
    };

    world.setAbsolutePosition(ship, far);
    isThere();
    world.write(ship, "absolutePosition", new Float64Array(far));
    isThere();
    assert.equal(world.writeMany("absolutePosition", [ship], far).applied, 1);
    isThere();
    const batch = world.batch("absolutePosition", 1);
    batch.entities[0] = ship;
    batch.values.set(far);
    assert.equal(batch.write().applied, 1);
    batch.values.fill(0);
    batch.read();
    assert.deepEqual([...batch.values], far);
    isThere();
    const commands = world.commands();
    commands.write(ship, "absolutePosition", far);
    commands.play();
    isThere();
    for (const chunk of world.query()) {
        const cells = chunk.readTransforms("cell"), places = chunk.readTransforms("absolutePosition");

        assert.deepEqual([cells, places], [world.readMany("cell", chunk.entities),
            world.readMany("absolutePosition", chunk.entities)]);
    }
    refuses(() => world.setAbsolutePosition(ship, [1e30, 0, 0]), "ESPL_ERR_RANGE");
});

withSea("a rebase by cells changes no transform, and recenter() no absolute position", (world, ship, mast, buoy) => {
    const watch = world.watch({ kinds: ["world", "cell"] });
    const first = watch.collect();
    assert.deepEqual([[...first.added], [...first.addedCells], first.cellSize],
        [[ship, mast, buoy], [1000, -2, 0, 1, 1000, -2, 0, 0, 1001, -2, 0, 1], SIZE]);
    assert.equal(world.watch().collect().addedCells, null);
    world.rebase([-1000, 2, 0]);
    const { changed, kinds } = watch.collect();

    assert.deepEqual(new Set(changed), new Set([ship, mast, buoy]));
    assert.deepEqual([...kinds], [Watched.CELL, Watched.CELL, Watched.CELL]);
    assert.deepEqual([...world.getCell(mast), ...world.getWorldPosition(mast)], [0, 0, 0, 1000, 5, 0]);
    refuses(() => world.rebase([2 ** 31 - 1, 0, 0]), "ESPL_ERR_RANGE");
    assert.deepEqual([...world.getCell(buoy)], [1, 0, 0]);
    world.setWorldPosition(ship, [5000, 0, 0]);
    assert.deepEqual([world.recenter(), world.recenter(), world.recenter(0.5)], [1, 0, 0]);
    assert.deepEqual([...world.getCell(ship), ...world.getAbsolutePosition(mast)], [2, 0, 0, 5000, 5, 0]);
    refuses(() => world.recenter(0.25), "ESPL_ERR_ARGUMENT");
});

withWorld("a world without cells is moved by an offset", (world) => {
    const boat = world.create({ position: [1, 2, 3] });

    assert.equal(world.cellSize, 0);
    world.rebase([0, 0, 0], [10, 0, 0]);
    assert.deepEqual([...world.getWorldPosition(boat)], [11, 2, 3]);
    assert.deepEqual([...world.getAbsolutePosition(boat)], [11, 2, 3]);
    refuses(() => world.getCell(boat), "ESPL_ERR_UNSUPPORTED");
    refuses(() => world.rebase([1, 0, 0]), "ESPL_ERR_UNSUPPORTED");
    refuses(() => world.recenter(), "ESPL_ERR_UNSUPPORTED");
    refuses(() => world.watch({ kinds: ["cell"] }), "ESPL_ERR_ARGUMENT");
    refuses(() => world.readRelative({ cell: [1, 0, 0] }, "worldPosition", [boat]), "ESPL_ERR_UNSUPPORTED");
    assert.deepEqual([...world.readRelative({ offset: [1, 1, 1] }, "worldPosition", [boat])], [10, 1, 2]);
});

withSea("what is near an origin is read precisely, wherever it is", (world, ship, mast, buoy) => {
    const all = [ship, mast, buoy], origin = world.getOrigin(ship);

    assert.deepEqual([[...origin.cell], [...origin.offset]], [[1000, -2, 0], [1000, 0, 0]]);
    assert.deepEqual([...world.readRelative(origin, "worldPosition", all)], [0, 0, 0, 0, 5, 0, 100, 0, 0]);
    const matrices = world.readRelativeMatrices(origin, "world", all);
    assert.deepEqual([...matrices.subarray(44, 48)], [100, 0, 0, 1]);
    assert.deepEqual(world.getRelativeMatrix(origin, buoy), matrices.subarray(32));
    world.startMotion();
    world.tick(() => world.setLocalPosition(buoy, [-940, 0, 0]));
    world.present(0.5);
    assert.equal(world.readRelative(origin, "shownTransform", [buoy])[4], 104);
    assert.equal(world.readRelativeMatrices(origin, "shown", [buoy])[12], 104);
    refuses(() => world.readRelative({ offset: [NaN, 0, 0] }, "worldPosition", all), "ESPL_ERR_NOT_FINITE");
    refuses(() => world.readRelative(origin, "localPosition", all), "ESPL_ERR_ARGUMENT");
    const rounds = 50;
    for (let i = 0; i < rounds; ++i) {
        const at = [0, 1, 2].map(() => (draw() - 0.5) * 1e9), step = [draw(), draw(), draw()];

        world.setAbsolutePosition(ship, at);
        world.setAbsolutePosition(buoy, at.map((x, axis) => x + step[axis]));
        world.readRelative(world.getOrigin(ship), "worldPosition", [buoy]).forEach((found, axis) => {
            assert.ok(Math.abs(found - step[axis]) < 2e-4, `${found} ${step[axis]}`);
        });
    }
});
