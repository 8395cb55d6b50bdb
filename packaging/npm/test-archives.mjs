// SPDX-License-Identifier: MIT
// What the package promises of images, histories, archives, migrations and deltas, and of what is said of
// components.
import "./test-calls.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import {
    EspalierError, NULL_ENTITY, World, diffArchives, imageLayout, inspectArchive, patchArchive, quat,
} from "espalier";
import { createTree, drawLocal, refuses, withWorld } from "./test-support.mjs";

/** Return the sections of an archive by their letters. */
function sectionsOf(archive) {
    const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);

    return Object.fromEntries(Array.from({ length: view.getUint32(24, true) }, (_, i) => {
        const [offset, size] = [8, 16].map((at) => Number(view.getBigUint64(64 + 40 * i + at, true)));

        return [String.fromCharCode(...archive.subarray(64 + 40 * i, 68 + 40 * i)),
            archive.subarray(offset, offset + size)];
    }));
}

function hasBytes(archive, bytes) {
    return Buffer.from(archive).includes(Buffer.from(bytes));
}

/** Assert that a call throws, for bytes that are refused, and that the error says where and why. */
function refusesBytes(call, status) {
    assert.throws(call, (error) => {
        assert.ok(error instanceof EspalierError, String(error));
        assert.equal(error.status, status);
        assert.ok(Number.isInteger(error.offset) && error.sentence.length > 0);
        assert.equal(error.message.split(error.sentence).length, 2, error.message); // it is there once
        assert.ok(error.message.includes(`byte ${error.offset}`), error.message);
        return true;
    });
}

// --- Components ---

withWorld("a component has what it was registered with", (world) => {
    const ammo = world.registerComponent("ammo", { type: "u8", length: 24, version: 3, unique: true, fields: {
        carriers: { type: "entity", offset: 8, length: 2 }, left: { type: "i16", length: 3 },
    } });
    const cache = world.registerComponent("cache", { type: "i32", transient: true });
    const target = world.registerComponent("target", { type: "entity", length: 2 });
    const plain = world.registerComponent("plain", { type: "u8", length: 4 });
    const [a, b] = world.createMany(2);
    const value = new Uint8Array(24);

    assert.deepEqual([ammo.version, ammo.transient, ammo.unique], [3, false, true]);
    assert.deepEqual([cache.version, cache.transient, cache.unique], [0, true, false]);
    new DataView(value.buffer).setBigUint64(16, a, true);
    value[0] = 5;
    world.change(a, [[ammo, value], [cache, [7]], [target, [b, a]], plain]);
    const { COMP } = sectionsOf(world.writeArchive());
    // Names and types of fields, their offsets and counts; "plain" has none: its size, its alignment, three zeros.
    for (const bytes of [[4, ..."left"].map((c) => c.charCodeAt?.() ?? c).concat(3, 0, 0, 0, 0, 3, 0, 0, 0),
        [8, ..."carriers"].map((c) => c.charCodeAt?.() ?? c).concat(12, 8, 0, 0, 0, 2, 0, 0, 0),
        [..."plain"].map((c) => c.charCodeAt()).concat(0, 0, 0, 0, 4, 0, 0, 0, 1, ...new Array(15).fill(0)),
        [5, ..."value"].map((c) => c.charCodeAt?.() ?? c).concat(12, 0, 0, 0, 0, 2, 0, 0, 0)]) {
        assert.ok(hasBytes(COMP, bytes), String(bytes));
    }
    const clone = world.instantiate(a);
    assert.deepEqual([...world.get(clone, ammo)], [...new Uint8Array(24)]);
    assert.deepEqual([...world.get(clone, target)], [b, clone]);
    const other = new World();
    other.registerComponent("ammo", { type: "u8", length: 24, version: 3, unique: true, fields: {
        any: { type: "entity", offset: 8, length: 2 } } });
    other.registerComponent("target", { type: "entity", length: 2 });
    const { entities } = other.readArchive(world.writeArchive({ tops: a }), { skipUnknown: true });
    assert.equal(entities.length, 1);
    other.close();
});

withWorld("fields that cannot be are refused, and so are too many references", (world) => {
    const fields = (list) => () => world.registerComponent("c", { type: "u8", length: 16, fields: list });

    refuses(fields({ a: { type: "f32" }, b: { type: "u8", offset: 3 } }), "ESPL_ERR_ARGUMENT");
    refuses(fields({ a: { type: "f64", offset: 9 } }), "ESPL_ERR_ARGUMENT");
    refuses(fields({ "a/b": { type: "u8" } }), "ESPL_ERR_ARGUMENT");
    refuses(fields({ a: { type: "entity", length: 1e6 } }), "ESPL_ERR_LIMIT");
    refuses(() => world.registerComponent("c", { type: "entity", length: 65 }), "ESPL_ERR_LIMIT");
    refuses(fields(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, { type: "u8", offset: i }]))),
        "ESPL_ERR_LIMIT");
    assert.equal(world.registerComponent("c", { type: "u8", length: 16, fields: {} }).number, 7);
});

// --- Images ---

withWorld("a loaded world goes on as the one that was saved", (world) => {
    const { nodes } = createTree(world, 100), twin = new World({ tag: 9 });
    const saved = world.saveImage(), { timeline } = world;

    twin.loadImage(saved.buffer, { trusted: false });
    for (const each of [world, twin]) {
        each.destroy(nodes[3]);
        each.createMany(7, { parent: nodes[0] });
        each.setLocalPosition(nodes[0], [1, 2, 3]);
    }
    assert.equal(twin.hash("physical"), world.hash("physical"));
    assert.deepEqual(twin.saveImage(), world.saveImage());
    assert.equal(world.loadImage(saved, { trusted: true }), "ESPL_OK");
    assert.equal(world.timeline, timeline + 1n);
    assert.ok(world.isAlive(nodes[3]));
    assert.equal(typeof imageLayout, "bigint");
    twin.close();
}, { tag: 9 });

withWorld("an image is saved into an array that is there", (world) => {
    createTree(world, 20);
    const size = world.imageSize(), out = new Uint8Array(size + 8).fill(255);
    const saved = world.saveImage(out);

    assert.deepEqual([saved.buffer, saved.length], [out.buffer, size]);
    assert.deepEqual(saved, world.saveImage());
    assert.deepEqual([...out.subarray(size)], new Array(8).fill(255));
    // Also of the library's own memory, which may grow meanwhile.
    const batch = world.batch("localTransform", size);
    const within = new Uint8Array(batch.values.buffer, batch.values.byteOffset, size);
    within.set(saved);
    assert.equal(world.loadImage(within), "ESPL_OK");
});

withWorld("a damaged image is refused, and the world stays as it is", (world) => {
    const { nodes } = createTree(world, 10);
    const saved = world.saveImage(), before = world.hash("physical"), other = new World({ tag: 3 });

    saved[saved.length >> 1] ^= 4;
    refusesBytes(() => world.loadImage(saved), "ESPL_ERR_FORMAT");
    refusesBytes(() => world.loadImage(new ArrayBuffer(0)), "ESPL_ERR_FORMAT");
    saved[saved.length >> 1] ^= 4;
    refusesBytes(() => world.loadImage(saved.subarray(1)), "ESPL_ERR_FORMAT");
    assert.equal(world.hash("physical"), before);
    refuses(() => other.loadImage(saved), "ESPL_ERR_FOREIGN");
    other.loadImage(saved, { retag: true });
    assert.equal(other.hash(), world.hash());
    assert.ok(!other.isAlive(nodes[0]));
    const [chunk] = other.query();
    assert.ok(chunk);
    for (const some of world.query()) {
        assert.ok(some.count > 0);
        assert.throws(() => world.loadImage(saved), (error) =>
            error.status === "ESPL_ERR_BUSY" && error.offset === undefined && error.sentence === undefined);
    }
    other.close();
}, { tag: 5 });

withWorld("watches and command buffers live on over a load", (world) => {
    const [a, b] = world.createMany(2), watch = world.watch(), commands = world.commands();
    watch.collect();
    const saved = world.saveImage();

    world.setLocalPosition(a, [5, 0, 0]);
    const later = world.create();
    commands.destroy(later);
    watch.collect();
    world.loadImage(saved);
    const changes = watch.collect();
    assert.deepEqual([...changes.removed], [later]);
    assert.ok(changes.changed.includes(a) && world.isAlive(b));
    assert.equal(commands.play().refused, 1);
});

// --- Histories ---

withWorld("a world goes back and on to the same bits", (world) => {
    const ships = [...world.createMany(50)], history = world.history({ hash: true, frames: 6 });
    const step = (frame) => {
        world.writeMany("localPosition", ships.slice(0, 40), new Float32Array(120).fill(frame));
        world.destroy(ships[40 + frame]);
        return world.create({ parent: ships[frame], name: `made ${frame}` });
    };
    const sums = [], made = [];

    assert.equal(history.range, undefined);
    for (let frame = 0; frame < 6; ++frame) {
        assert.equal(history.mark(frame), "ESPL_OK");
        sums.push([history.hash(frame), world.hash("physical")]);
        made.push(step(frame));
    }
    const { timeline } = world, back = history.rewind(2);
    assert.deepEqual([[...back.unborn].sort(), [...back.revived].sort()],
        [made.slice(2).sort(), ships.slice(42, 46).sort()]);
    assert.deepEqual([history.range, world.timeline], [{ oldest: 0, newest: 2 }, timeline + 1n]);
    for (let frame = 2; frame < 6; ++frame) {
        if (frame > 2) {
            history.mark(frame);
        }
        assert.deepEqual([history.hash(frame), world.hash("physical")], sums[frame]);
        assert.equal(step(frame), made[frame]);
    }
    refuses(() => history.rewind(7), "ESPL_ERR_TOO_OLD");
    refuses(() => history.mark(5), "ESPL_ERR_ARGUMENT");
    refuses(() => world.history(), "ESPL_ERR_EXISTS");
    history.rewind(5);
    const again = world.create();
    history.rewind(5, { fresh: true });
    assert.notEqual(world.create(), again);
    history.close();
    refuses(() => history.mark(9), "CLOSED");
    refuses(() => world.history().hash(1), "ESPL_ERR_UNSUPPORTED");
});

test("a history stays while a query is iterated, and a world closes with both", () => {
    const world = new World(), history = world.history();

    world.createMany(2);
    history.mark(1);
    for (const chunk of world.query()) {
        assert.ok(chunk.count > 0);
        refuses(() => history.close(), "ESPL_ERR_BUSY");
        refuses(() => history.rewind(1), "ESPL_ERR_BUSY");
    }
    history.rewind(1);
    world.query()[Symbol.iterator]().next();
    world.close();
    assert.ok(history.isClosed && world.isClosed);
});

withWorld("a history without room keeps the last frame alone", (world) => {
    const entities = world.createMany(500), history = world.history({ byteLimit: 1000 });

    history.mark(1);
    world.writeMany("localPosition", entities, new Float32Array(1500).fill(1));
    assert.equal(history.mark(2), "ESPL_PARTLY");
    assert.deepEqual(history.range, { oldest: 2, newest: 2 });
    world.compact();
    assert.equal(history.range, undefined);
});

// --- Archives ---

/** Two worlds, of which the second one reads what the first one writes. */
function withPair(name, body) {
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

withPair("hierarchies come back below a parent, with names and references", (world, other) => {
    const shape = { type: "entity", length: 2 };
    const links = world.registerComponent("links", shape), there = other.registerComponent("links", shape);
    const outside = world.create(), ship = world.create({ name: "ship", position: [1, 0, 0] });
    const mast = world.create({ name: "mast", parent: ship, position: [0, 5, 0],
        components: [[links, [ship, outside]]] });
    const harbour = other.create({ position: [100, 0, 0] });
    const archive = world.writeArchive({ tops: ship, user: Uint8Array.of(1, 2, 3) });
    const { status, entities, tops } = other.readArchive(archive, { parent: harbour });

    assert.deepEqual([status, entities.length, [...tops]], ["ESPL_OK", 2, [entities[0]]]);
    assert.deepEqual([...entities].map((entity) => other.getName(entity)), ["ship", "mast"]);
    assert.equal(other.getParent(tops[0]), harbour);
    assert.deepEqual([...other.getWorldPosition(entities[1])], [101, 5, 0]);
    assert.deepEqual([...other.get(entities[1], there)], [tops[0], NULL_ENTITY]);
    const { nodes, tops: count, format, writer, user } = inspectArchive(archive);
    assert.deepEqual([nodes, count, format, writer.split(".").length, [...user]], [2, 1, "1.0", 3, [1, 2, 3]]);
    assert.ok(world.isAlive(mast));
});

withPair("an archive has what its options say", (world, other) => {
    const [a, b] = world.createMany(2), child = world.create({ parent: a });
    const count = (options) => inspectArchive(world.writeArchive(options)).nodes;

    assert.deepEqual([count(), count({ tops: [] }), count({ tops: a }), count({ tops: [a, b] }),
        count({ tops: BigUint64Array.of(a), extent: "entity" })], [3, 0, 2, 3, 1]);
    assert.ok("Hand" in sectionsOf(world.writeArchive({ handles: true })));
    world.setLocalPosition(b, [1.2, 3.4, 0]);
    world.setLocalRotation(b, quat.fromAxisAngle([1, 2, 3], 1));
    const rounded = world.writeArchive({ tops: b, positionStep: 0.5, rotationBits: 2 });
    const [copied] = other.readArchive(rounded).tops;
    assert.deepEqual([...other.getLocalPosition(copied)], [1, 3.5, 0]);
    assert.ok([...other.getLocalRotation(copied)].filter((part) => part % 0.5 === 0).length >= 3);
    other.destroy(copied);
    world.setLocalTransform(b, {});
    refuses(() => count({ rotationBits: 25 }), "ESPL_ERR_ARGUMENT");
    refuses(() => count({ positionStep: -1 }), "ESPL_ERR_ARGUMENT");
    refuses(() => count({ tops: [a, a] }), "ESPL_ERR_ARGUMENT");
    refuses(() => count({ tops: [a, child] }), "ESPL_ERR_ARGUMENT");
    refuses(() => count({ tops: NULL_ENTITY }), "ESPL_ERR_NULL_ENTITY");
    const archive = world.writeArchive();
    refuses(() => other.readArchive(archive, { nodeLimit: 2 }), "ESPL_ERR_LIMIT");
    refuses(() => other.readArchive(archive, { parent: a }), "ESPL_ERR_FOREIGN");
    assert.equal(other.readArchive(archive.buffer, { nodeLimit: 3 }).tops.length, 2);
    assert.equal(other.hash(), world.hash());
});

withPair("an archive of many entities is read while the memory grows", (world, other) => {
    world.createMany(50000, { position: [1, 2, 3] });
    const archive = world.writeArchive(), { entities } = other.readArchive(archive);

    assert.equal(entities.length, 50000);
    assert.equal(other.hash(), world.hash());
    assert.ok(other.isAlive(entities[49999]));
});

withPair("a damaged archive is refused at each length and with each bit", (world, other) => {
    world.create({ parent: world.create({ name: "top" }), position: [1, 2, 3] });
    const archive = world.writeArchive({ user: Uint8Array.of(1) }), before = other.hash("physical");

    for (let at = 0; at < archive.length; ++at) {
        const damaged = archive.slice();

        damaged[at] ^= 1 << at % 8;
        for (const bytes of [archive.subarray(0, at), damaged]) {
            assert.throws(() => other.readArchive(bytes), (error) =>
                ["ESPL_ERR_FORMAT", "ESPL_ERR_VERSION"].includes(error.status) && error.sentence.length > 0);
        }
    }
    assert.equal(other.hash("physical"), before);
});

withPair("an archive is written to a function, whose exception is thrown", (world, other) => {
    const said = [], listening = new World({ onMessage: (level, line) => said.push(line) });
    const pieces = [];

    createTree(world, 300);
    assert.equal(world.writeArchiveTo((piece) => { pieces.push(piece); }), "ESPL_OK");
    assert.deepEqual(Buffer.concat(pieces), Buffer.from(world.writeArchive()));
    refuses(() => world.writeArchiveTo(() => false), "ESPL_ERR_SINK");
    const before = world.hash("physical"), thrown = new RangeError("full");
    const batch = world.batch("localScale", 1), archive = world.writeArchive();
    for (const use of [() => world.create(), () => other.stats(), () => world.close(), () => batch.close(),
        () => new World({ kernels: "scalar" }), () => inspectArchive(archive), () => world.writeArchive(),
        () => other.readArchive(archive), () => batch.read()]) {
        assert.throws(() => world.writeArchiveTo(() => {
            refuses(use, "ESPL_ERR_BUSY");
            throw thrown;
        }), (error) => error === thrown);
    }
    assert.equal(world.hash("physical"), before);
    assert.equal(world.isClosed || batch.isClosed, false);
    assert.throws(() => listening.writeArchiveTo(() => { throw thrown; }), (error) => error === thrown);
    assert.match(said.join(), /espl_archive_write/);
    listening.close();
});

withPair("an archive is applied to entities that live, here and in a world that follows", (world, other) => {
    const ship = world.create({ name: "ship", position: [1, 0, 0] });
    const mast = world.create({ name: "mast", parent: ship, position: [0, 5, 0] });
    const before = world.writeArchive({ handles: true });
    let bytes = before, { entities, tops: [follower] } = other.readArchive(before);

    for (let i = 0; i < 4; ++i) {
        world.setLocalPosition(ship, [i, 0, 0]);
        world.create({ parent: i < 2 ? mast : ship });
        if (i === 2) {
            world.destroy(mast);
        }
        const after = world.writeArchive({ handles: true });
        ({ entities } = other.applyArchive(after, { known: { bytes, entities } }));
        bytes = after;
        assert.equal(entities[0], follower);
        assert.deepEqual(other.writeArchive({ tops: follower }), world.writeArchive());
    }
    const back = world.applyArchive(before);
    assert.deepEqual([back.status, back.tops[0], back.entities.length], ["ESPL_OK", ship, 2]);
    assert.deepEqual([...world.getWorldPosition(back.entities[1])], [1, 5, 0]);
    const hash = world.hash("physical");
    refusesBytes(() => world.applyArchive(world.writeArchive()), "ESPL_ERR_FORMAT");
    refuses(() => world.applyArchive(before, { parent: ship }), "ESPL_ERR_CYCLE");
    refuses(() => world.applyArchive(before, { known: { bytes: before, entities: [ship] } }), "ESPL_ERR_ARGUMENT");
    assert.equal(world.hash("physical"), hash);
});

// --- Migrations ---

function withOld(name, body) {
    withWorld(name, (world) => {
        const old = new World();
        const ammo = old.registerComponent("ammo", { type: "i32", length: 2, version: 1 });
        const debug = old.registerComponent("debug");
        const top = old.create({ components: [[ammo, [6, 1]], debug] });
        old.create({ parent: top, components: [[ammo, [8, 2]]] });
        const archive = old.writeArchive();
        old.close();
        body(world, world.registerComponent("ammo", { version: 2 }), archive);
    });
}

withOld("a migration makes the values", (world, ammo, archive) => {
    const seen = [], debugging = world.registerComponent("debugging");
    const { entities, tops } = world.readArchive(archive, { migrations: {
        ammo: {
            to: ammo, type: "i32",
            convert(old) {
                assert.ok(old instanceof Int32Array);
                seen.push([...old]);
                return quat.fromAxisAngle([0, 1, 0], old[0] / 2).subarray(3);
            },
        },
        debug: debugging,
    } });

    assert.deepEqual(seen, [[6, 1], [8, 2]]);
    assert.deepEqual([...entities].map((entity) => world.get(entity, ammo)[0]),
        [3, 4].map((angle) => quat.fromAxisAngle([0, 1, 0], angle)[3]));
    assert.ok(world.has(tops[0], debugging));
    const zeros = world.readArchive(archive, { skipUnknown: true, migrations: {
        ammo: { to: ammo, convert(old) { assert.ok(old instanceof Uint8Array && old.length === 8); } } } });
    assert.deepEqual([...world.get(zeros.tops[0], ammo)], [0]);
    const without = world.readArchive(archive, { migrations: { ammo: null, debug: null } });
    assert.equal(world.has(without.tops[0], ammo), false);
});

withOld("what a migration throws is thrown, and nothing is read", (world, ammo, archive) => {
    const before = world.hash("physical");
    const read = (migration) => () => world.readArchive(archive, { migrations: { ammo: migration, debug: null } });

    refusesBytes(() => world.readArchive(archive), "ESPL_ERR_VERSION");
    refusesBytes(read(ammo), "ESPL_ERR_VERSION");
    assert.throws(read({ to: ammo, convert() { throw new SyntaxError("mine"); } }), SyntaxError);
    assert.throws(read({ to: ammo, convert: () => [1, 2] }), /RangeError: options.migrations.ammo: the new value/);
    assert.throws(read({ to: ammo, convert: () => "text" }), TypeError);
    assert.throws(read({ to: ammo, type: "u8", convert: () => world.create() }),
        (error) => error.status === "ESPL_ERR_BUSY");
    const other = new World();
    assert.throws(read(other.registerComponent("ammo")), /of another World/);
    other.close();
    assert.equal(world.hash("physical"), before);
    const odd = new World(), bytes = odd.registerComponent("ammo", { type: "u8", length: 3 });
    odd.create({ components: [[bytes, [1, 2, 3]]] });
    const saved = odd.writeArchive();
    odd.close();
    const migrations = { ammo: { to: ammo, type: "f32", convert: () => [1] } };
    assert.throws(() => world.readArchive(saved, { migrations }), /options.migrations.ammo.type: a value has 3 bytes/);
    assert.equal(world.hash("physical"), before);
});

// --- Deltas ---

withWorld("a delta leads from one archive to the next", (world) => {
    const { nodes } = createTree(world, 200);
    const before = world.writeArchive({ handles: true });

    world.setLocalTransform(nodes[20], drawLocal());
    world.destroy(nodes[199]);
    const after = world.writeArchive({ handles: true }), delta = diffArchives(before, after);
    assert.ok(delta.length < after.length / 4, `${delta.length} of ${after.length} bytes`);
    assert.deepEqual(patchArchive(before, delta.buffer), after);
    refuses(() => patchArchive(after, delta), "ESPL_ERR_GAP");
    refusesBytes(() => patchArchive(before, delta.subarray(1)), "ESPL_ERR_FORMAT");
    refusesBytes(() => diffArchives(before, after.subarray(1)), "ESPL_ERR_FORMAT");
});

test("archives and images pass to a worker and back as they are", async () => {
    const { Worker } = await import("node:worker_threads");
    const world = new World({ tag: 4 });
    const worker = new Worker(`
        const { parentPort, workerData } = require("node:worker_threads");
        import("espalier").then(({ World }) => {
            const world = new World({ tag: 4 });
            world.loadImage(workerData.image);
            world.readArchive(workerData.archive);
            parentPort.postMessage([world.hash("physical"), world.writeArchive()]);
        });`, { eval: true, workerData: (createTree(world, 30), {
        image: world.saveImage(), archive: world.writeArchive() }) });
    const [hash, archive] = await new Promise((resolve, reject) => {
        worker.on("message", resolve);
        worker.on("error", reject);
    });

    world.readArchive(world.writeArchive());
    assert.equal(hash, world.hash("physical"));
    assert.deepEqual(archive, world.writeArchive());
    await worker.terminate();
    world.close();
});
