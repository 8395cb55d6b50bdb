// SPDX-License-Identifier: MIT
// Every argument of every method: a wrong type, length or number is a TypeError or a RangeError that names
// the argument, before anything is changed. A method without a row in the tables below fails.
import "./test-calls.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import {
    Batch, Changes, CommandBuffer, EspalierError, HierarchyView, History, Instances, Mirror, Query, Renderables,
    TRANSFORM, Visible, Watch, World, diffArchives, identity, inspectArchive, patchArchive, quat,
} from "espalier";
import { refuses, run, withWorld } from "./test-support.mjs";

// --- Kinds of arguments: a valid value, and what is wrong with others ---

const wrongObjects = [null, 5, "text", true];
const wrongNumbers = [undefined, null, "1", 1n, {}, [1], true];

// The bad values for an argument that has to be so many numbers.
function badVectors(count) {
    const good = Array.from({ length: count }, () => 0);

    return [null, 5, "abc", {}, { length: count }, good.slice(1), [...good, 0], new Float32Array(count + 1),
        new Float32Array(count - 1), new BigUint64Array(count),
        ...wrongNumbers.map((bad) => [bad, ...good.slice(1)])];
}

// Bad values of one part of an object.
function inObject(name, values, rest = {}) {
    return values.map((value) => ({ ...rest, [name]: value }));
}

const badHandles = [null, 1, "1", true, {}, [1n], -1n, 2n ** 64n];
const badTransforms = [null, 5, "text", [1, 2], new Float32Array(11), new BigUint64Array(12),
    ...inObject("position", [null, ...badVectors(3)]), ...inObject("rotation", badVectors(4)),
    ...inObject("stretch", badVectors(3)), ...inObject("scale", [null, "1", [1], 1n]),
    ...inObject("userData", [-1, 0.5, 2 ** 32, "1", null])];
const badPlaces = [...inObject("before", badHandles), ...inObject("inherit", [-1, 0.5, "1", 2 ** 32]),
    ...inObject("link", ["all", 5, "toString", null])];
const badLists = [null, 5, "text", {}];
const badCells = [...badVectors(3), [0.5, 0, 0], [2 ** 31, 0, 0], [0, 0, NaN]];
const badTransformsAlone = badTransforms.filter((bad) =>
    bad !== null && typeof bad === "object" && bad.length === undefined);
const noChanges = { removed: [], added: [], changed: [], addedLocals: [], changedLocals: [] };

function kindsFor(world, entity, health) {
    const badCreations = [...wrongObjects, ...badPlaces, ...inObject("parent", badHandles),
        ...inObject("deadParent", ["all", 5]), ...inObject("place", ["all", 5]),
        ...inObject("transform", badTransforms.slice(1)), ...badTransformsAlone,
        ...inObject("components", [5, "text", {}, [5], ["health"], [[health, [1]]], [[health, [1, 2, 3]]],
            [[health, ["1", 2]]], [[health, [1, 2], 3]], [[health, 5]], [null]])];
    const badEntries = [...badLists, [5], ["health"], [[health, [1]]], [[health, ["1", 2]]], [null]];

    return {
        handle: [entity, [undefined, ...badHandles]],
        optionalHandle: [entity, badHandles],
        handles: [[entity], [undefined, null, 5, "ab", {}, { length: 1 }, [1], ["1"], [true], [-1n], [undefined],
            new Float64Array(1), new BigInt64Array(1)]],
        vector: [[1, 0, 0], badVectors(3)],
        rotation: [[0, 0, 0, 1], badVectors(4)],
        number: [1, wrongNumbers],
        whole: [1, [null, "1", 1n, {}, -1, 0.5, 2 ** 32, NaN]],
        text: ["name", [undefined, null, 5, {}, "a\0b"]],
        path: ["/name", [undefined, null, 5, {}, "a\0b"]],
        transform: [{}, [undefined, ...badTransforms]],
        creation: [{}, [...badCreations, { name: "name" }]],
        attach: [{}, [...wrongObjects, ...badPlaces, ...inObject("keep", ["all", 5, null, { scale: "all" }])]],
        component: [health, [undefined, null, 5, "health", {}]],
        values: [[1, 2], [null, 5, "ab", {}, [1], [1, 2, 3], ["1", 2], [1, undefined], new Float32Array(1),
            new BigUint64Array(2)]],
        entries: [[health], [undefined, ...badEntries]],
        removed: [[], [null, ...badLists, [5], ["health"]]],
        vectorOut: [new Float32Array(3), [null, 5, "abc", {}, new Float32Array(2), new BigUint64Array(3)]],
        rotationOut: [new Float32Array(4), [null, 5, "abcd", {}, new Float32Array(3)]],
        matrixOut: [new Float64Array(16), [null, 5, {}, new Float32Array(15)]],
        transformOut: [identity(), [null, 5, {}, { ...identity(), position: new Float32Array(2) },
            { ...identity(), rotation: undefined }, { ...identity(), stretch: 5 },
            { ...identity(), position: [0, 0, 0] }]],
        valuesOut: [new Float32Array(2), [null, [0, 0], new Float32Array(1), new Float64Array(2)]],
        manyOut: [new Float32Array(3), [null, [0, 0, 0], new Float32Array(2), new Float64Array(3)]],
        many: [new Float32Array(3), [null, 5, "abc", {}, new Float32Array(2), new Float32Array(4), [1, 2, "3"],
            new BigUint64Array(3)]],
        boolean: [false, [undefined, null, 0, 1, "true", {}]],
        namedCreation: [{ name: "name" }, [...badCreations, ...inObject("name", [null, 5, {}, "a\0b"])]],
        optionalTransform: [{}, badTransforms],
        poseOut: [identity(), [null, 5, {}, { ...identity(), position: new Float32Array(2) },
            { ...identity(), rotation: undefined }]],
        pose: [{}, [undefined, null, 5, "text", [1, 2], new Float32Array(7), ...inObject("position", badVectors(3)),
            ...inObject("scale", [null, "1"])]],
        extent: ["owned", ["all", 5, null, "toString", ["owned"]]],
        keep: ["world", ["all", 5, null, {}]],
        space: ["parent", ["all", 5, null]],
        hashKind: ["logical", ["all", 5, null]],
        readKind: ["localPosition", [undefined, "translateOwn", "all", 5, null]],
        batchKind: ["localPosition", [undefined, "all", 5, null]],
        writeKind: ["localPosition", [undefined, "worldMatrix", "shownPosition", "all", 5, null]],
        conversion: ["pointToWorld", [undefined, "all", 5, null]],
        order: ["YXZ", ["all", 5, null]],
        look: [{}, [...wrongObjects, ...inObject("up", badVectors(3)), ...inObject("forward", ["all", 5, null])]],
        shape: [{}, [...wrongObjects, ...inObject("type", ["all", 5, null]),
            ...inObject("length", [-1, 0.5, "1"]), ...inObject("version", [-1, 0.5, "1", null]),
            ...inObject("transient", [0, "true", null]), ...inObject("unique", [1, null]),
            ...inObject("fields", [null, 5, "text", { x: null }, { x: {} }, { x: { type: "tag" } },
                { x: { type: "f32", offset: -1 } }, { x: { type: "f32", length: "1" } },
                { "a\0b": { type: "f32" } }])]],
        room: [{}, [undefined, ...wrongObjects, ...inObject("entities", [-1, 0.5, "1"]),
            ...inObject("rows", [-1, "1"]), ...inObject("writes", [-1, "1"]), ...inObject("sideOf", badHandles),
            ...inObject("watchEntities", [-1, 0.5, "1"]),
            ...inObject("components", [...badLists, ["health"]])]],
        definition: [{}, [...wrongObjects, ...inObject("all", [5, "text", {}, [5], ["health"]]),
            ...inObject("changed", [5, [null]]), ...inObject("since", [5, "1", -1n, 2n ** 64n])]],
        flag: ["teleport", ["all", 5, null, "toString", {}, 64]],
        body: [() => 0, [undefined, null, 5, "text", {}]],
        motion: [{}, [...wrongObjects, ...inObject("history", [-1, 0.5, "1", 2n])]],
        watch: [{}, [...wrongObjects, ...inObject("none", [5, "text", {}, [5], ["health"]]),
            ...inObject("kinds", [5, "world", {}, null, ["all"], [5], [null], ["toString"]]),
            ...inObject("before", [0, "true", null, {}])]],
        moment: [0n, [null, 5, "1", -1n, 2n ** 64n]],
        matrixKind: ["shown", [undefined, "local", "worldPosition", 5, null]],
        bytes: [new Uint8Array(8), [undefined, null, 5, "text", {}, [1, 2], new Uint16Array(4),
            new DataView(new ArrayBuffer(8))]],
        image: [world.saveImage(), [undefined, null, 5, "text", {}, [1, 2], new Uint16Array(4)]],
        imageOut: [new Uint8Array(world.imageSize()), [null, 5, [], new Uint8Array(3), new Float32Array(9999)]],
        load: [{}, [...wrongObjects, ...inObject("trusted", [0, "true", null]), ...inObject("retag", [1, null])]],
        world: [world, [undefined, null, 5, "text", {}, health]],
        sink: [() => {}, [undefined, null, 5, "text", {}]],
        archiveOptions: [{}, [...wrongObjects, ...inObject("tops", [null, 5, "text", {}, [1], -1n, 2n ** 64n]),
            ...inObject("extent", ["all", 5, null]), ...inObject("handles", [0, null]),
            ...inObject("positionStep", ["1", null, 1n]), ...inObject("rotationBits", [-1, 0.5, "1", null]),
            ...inObject("user", [null, 5, "text", [1], new Uint16Array(4)])]],
        archive: [world.writeArchive(), [undefined, null, 5, "text", {}, [1, 2], new Uint16Array(4)]],
        readOptions: [{}, [...wrongObjects, ...inObject("parent", badHandles),
            ...inObject("skipUnknown", [0, null]), ...inObject("nodeLimit", [-1, 0.5, "1", 2 ** 32, null]),
            ...inObject("migrations", [null, 5, "text", { a: 5 }, { a: undefined }, { a: {} },
                { a: { to: 5 } }, { a: { to: health, convert: 5 } }, { a: { to: health, type: "all" } },
                { a: { to: health, type: 5 } }, { "a\0b": null }])]],
        applyOptions: [{}, [...wrongObjects, ...inObject("parent", badHandles), ...inObject("skipUnknown", [0]),
            ...inObject("known", [null, 5, "text", {}, { bytes: new Uint8Array() }, { entities: [] },
                { bytes: new Uint8Array(), entities: [1] }, { bytes: "text", entities: [] }])]],
        archiveOfHandles: [world.writeArchive({ handles: true }), [undefined, null, 5, "text", {}, [1, 2]]],
        history: [{}, [...wrongObjects, ...inObject("frames", [-1, 0.5, "1", 2 ** 32, null]),
            ...inObject("byteLimit", [-1, "1", null]), ...inObject("hash", [0, null, "true"])]],
        frame: [0, [undefined, null, "1", 1n, {}, -1, 0.5, 2 ** 53, NaN]],
        rewindOptions: [{}, [...wrongObjects, ...inObject("fresh", [0, null])]],
        renderables: [{}, [...wrongObjects, ...inObject("cellSize", ["1", null, 1n]),
            ...inObject("refileBudget", [-1, 0.5, "1", null]), ...inObject("userSize", [-1, 0.5, "1", 2 ** 32])]],
        user: [undefined, [null, 5, "text", {}, [], new Uint16Array(), new Uint8Array(1)]],
        instances: [{}, [...wrongObjects, ...inObject("form", ["4X4", 5, null, "toString"]),
            ...inObject("capacity", [-1, 0.5, "1", 2 ** 32, null]),
            ...["previous", "entities", "userData", "sizes"].flatMap((name) => inObject(name, [0, "true", null]))]],
        cameras: [{}, [...wrongObjects, [null], [5], [{}, "text"], ...inObject("matrix", badVectors(16)),
            ...inObject("clip", ["all", 5, null]), ...inObject("planes", [null, 5, "text", {}, [5], [[1, 2, 3]]]),
            ...inObject("planes", badVectors(4).map((bad) => [bad])), { matrix: new Float32Array(16), planes: [] },
            ...inObject("layers", [-1, 0.5, "1", 2 ** 32]), ...inObject("origin", badVectors(3)),
            ...inObject("eye", badVectors(3)), ...inObject("pixels", ["1", null, 1n]),
            ...inObject("leastSize", ["1", null]), ...inObject("orthographic", [0, null])]],
        cull: [{}, [...wrongObjects, ...inObject("alpha", ["1", null, 1n]), ...inObject("byEntity", [0, null])]],
        levels: [[{ key: 1, size: 1 }], [undefined, ...badLists, [null], [5], [{}], [{ key: 1 }],
            ...["1", -1, 0.5, null].map((bad) => [{ key: bad, size: 1 }]), [{ key: 1, size: "1" }]]],
        cells: [[1, 0, 0], badCells],
        limit: [0, [null, "1", 1n, {}, [1], true]],
        origin: [{}, [undefined, ...wrongObjects, ...inObject("cell", badCells),
            ...inObject("offset", badVectors(3))]],
        relativeKind: ["worldPosition", [undefined, "translateOwn", "all", 5, null]],
        subtreeArrays: [["models"], [...badLists, ["all"], [5], [null]]],
        placing: [{}, [...wrongObjects, ...inObject("parent", badHandles), ...inObject("before", badHandles),
            ...inObject("extent", ["all", 5, null]), ...inObject("place", ["all", 5]),
            ...inObject("transform", badTransforms.slice(1)), ...badTransformsAlone,
            ...inObject("components", [...badLists, [5], ["health"]])]],
        changes: [noChanges, [undefined, ...wrongObjects, {},
            ...inObject("removed", [undefined, null, 5, "text", [1], new Float64Array(1)], noChanges),
            ...inObject("added", [null, [1n]], noChanges), ...inObject("changed", [null, [1n]], noChanges),
            ...inObject("addedLocals", [null, 5, new Float32Array(12)], noChanges),
            ...inObject("cellSize", ["1", 1n, 2], noChanges)]],
        follow: [{}, [...wrongObjects, ...inObject("kind", ["all", 5, null]), ...inObject("removed", ["all", 5]),
            ...inObject("keep", [0, null])]],
        matricesOut: [new Float32Array(16), [null, [0], new Float32Array(15), new Float64Array(16)]],
    };
}

// --- Tables: for each method the names of its arguments and their kinds ---

const key = ["key", "whole"];
const entity = ["entity", "handle"];
const entityExtent = [entity, ["extent", "extent"]];
const child = [["child", "handle"], ["parent", "handle"], ["options", "attach"]];

const ofWorld = {
    clear: [], compact: [], validate: [], stats: [], sync: [], commands: [],
    hash: [["kind", "hashKind"]],
    reserve: [["room", "room"]],
    create: [["options", "namedCreation"]],
    createMany: [["count", "whole"], ["options", "creation"]],
    instantiate: [["source", "handle"], ["options", "creation"]],
    instantiateMany: [["source", "handle"], ["count", "whole"], ["options", "creation"]],
    spawn: [["prefab", "handle"], ["parent", "optionalHandle"], ["local", "optionalTransform"]],
    destroy: entityExtent,
    setEnabled: [entity, ["isEnabled", "boolean"], ["extent", "extent"]],
    destroyMany: [["entities", "handles"], ["extent", "extent"]],
    isAlive: [entity], isEnabled: [entity],
    attach: child,
    attachMany: [["children", "handles"], ["parents", "handles"], ["options", "attach"]],
    detach: [entity, ["keep", "keep"]],
    moveBefore: [entity, ["before", "optionalHandle"]],
    getParent: [entity], getRoot: [entity], getFirstChild: [entity], getLastChild: [entity],
    getPreviousSibling: [entity], getNextSibling: [entity], getChildren: [entity], getRole: [entity],
    getLink: [entity], getDepth: [entity], countChildren: [entity], countDescendants: [entity],
    isAncestor: [["ancestor", "handle"], entity],
    copySubtree: [["top", "handle"], ["extent", "extent"], ["transforms", "subtreeArrays"]],
    setName: [entity, ["name", "text"]],
    getName: [entity], getPath: [entity], dump: [entity],
    find: [["path", "path"], ["top", "optionalHandle"]],
    registerComponent: [["name", "text"], ["shape", "shape"]],
    change: [entity, ["add", "entries"], ["remove", "removed"]],
    add: [entity, ["", "component"], ["", "values"]],
    remove: [entity, ["", "component"]],
    has: [entity, ["component", "component"]],
    get: [entity, ["component", "component"], ["out", "valuesOut"]],
    set: [entity, ["component", "component"], ["values", "values"]],
    read: [entity, ["kind", "readKind"], ["out", "vectorOut"]],
    write: [entity, ["kind", "writeKind"], ["value", "vector"], ["flag", "flag"]],
    getLocalTransform: [entity, ["out", "transformOut"]], getWorldTransform: [entity, ["out", "transformOut"]],
    getLocalPose: [entity, ["out", "poseOut"]], getWorldPose: [entity, ["out", "poseOut"]],
    setLocalPose: [entity, ["value", "pose"]], setWorldPose: [entity, ["value", "pose"]],
    getLocalPosition: [entity, ["out", "vectorOut"]], getWorldPosition: [entity, ["out", "vectorOut"]],
    getLocalRotation: [entity, ["out", "rotationOut"]], getWorldRotation: [entity, ["out", "rotationOut"]],
    getLocalScale: [entity], getWorldScale: [entity], getUserData: [entity], getInherit: [entity],
    getStretch: [entity, ["out", "vectorOut"]],
    getShownTransform: [entity, ["out", "transformOut"]], getShownPose: [entity, ["out", "poseOut"]],
    getShownPosition: [entity, ["out", "vectorOut"]], getShownRotation: [entity, ["out", "rotationOut"]],
    getShownScale: [entity], getShownMatrix: [entity, ["out", "matrixOut"]],
    setLocalTransform: [entity, ["value", "transform"]], setWorldTransform: [entity, ["value", "transform"]],
    setLocalPosition: [entity, ["value", "vector"]], setWorldPosition: [entity, ["value", "vector"]],
    setLocalRotation: [entity, ["value", "rotation"]], setWorldRotation: [entity, ["value", "rotation"]],
    setLocalScale: [entity, ["value", "number"]], setWorldScale: [entity, ["value", "number"]],
    setStretch: [entity, ["value", "vector"]],
    setUserData: [entity, ["value", "whole"]],
    translate: [entity, ["offset", "vector"], ["space", "space"]],
    rotate: [entity, ["rotation", "rotation"], ["space", "space"]],
    rotateAbout: [entity, ["pivot", "vector"], ["rotation", "rotation"]],
    lookAt: [entity, ["target", "vector"], ["options", "look"]],
    setInherit: [entity, ["flags", "whole"]],
    getMatrix: [entity, ["out", "matrixOut"]], getInverseMatrix: [entity, ["out", "matrixOut"]],
    getRelativeTransform: [["frame", "handle"], entity, ["out", "transformOut"]],
    convert: [entity, ["conversion", "conversion"], ["value", "vector"], ["out", "vectorOut"]],
    readMany: [["kind", "readKind"], ["entities", "handles"], ["out", "manyOut"]],
    writeMany: [["kind", "writeKind"], ["entities", "handles"], ["values", "many"], ["flag", "flag"]],
    copyWorldTransforms: [["entities", "handles"], ["", "world"], ["sources", "handles"]],
    readMatrices: [["kind", "matrixKind"], ["entities", "handles"], ["out", "matricesOut"]],
    rebase: [["cells", "cells"], ["offset", "vector"]],
    recenter: [["limit", "limit"]],
    getCell: [entity, ["out", "vectorOut"]], getAbsolutePosition: [entity, ["out", "vectorOut"]],
    setCell: [entity, ["value", "cells"]], setAbsolutePosition: [entity, ["value", "vector"]],
    getOrigin: [entity],
    readRelative: [["origin", "origin"], ["kind", "relativeKind"], ["entities", "handles"], ["out", "manyOut"]],
    readRelativeMatrices: [["origin", "origin"], ["kind", "matrixKind"], ["entities", "handles"],
        ["out", "matricesOut"]],
    getRelativeMatrix: [["origin", "origin"], entity, ["out", "matrixOut"]],
    setCounterpart: [entity, ["original", "handle"]],
    findCounterpart: [["original", "handle"]], getOriginal: [entity],
    placeCounterparts: [["", "world"], ["original", "handle"], ["options", "placing"]],
    follow: [["changes", "changes"], ["options", "follow"]],
    startMotion: [["options", "motion"]],
    stopMotion: [], beginTick: [], endTick: [],
    tick: [["body", "body"]],
    present: [["at", "number"]],
    imageSize: [],
    saveImage: [["out", "imageOut"]],
    loadImage: [["bytes", "image"], ["options", "load"]],
    writeArchive: [["options", "archiveOptions"]],
    writeArchiveTo: [["sink", "sink"], ["options", "archiveOptions"]],
    readArchive: [["bytes", "archive"], ["options", "readOptions"]],
    applyArchive: [["bytes", "archiveOfHandles"], ["options", "applyOptions"]],
    watch: [["options", "watch"]],
    history: [["options", "history"]],
    renderables: [["options", "renderables"]],
    visible: [],
    instances: [["options", "instances"]],
    query: [["definition", "definition"]],
    view: [entity],
    batch: [["kind", "batchKind"], ["capacity", "whole"]],
};

const ofCommands = {
    play: [], submit: [], reset: [],
    create: [["options", "creation"], key],
    createMany: [["count", "whole"], ["options", "creation"], key],
    instantiate: [["source", "handle"], ["options", "creation"], key],
    instantiateMany: [["source", "handle"], ["count", "whole"], ["options", "creation"], key],
    spawn: [["prefab", "handle"], ["parent", "optionalHandle"], ["local", "optionalTransform"], key],
    destroy: [...entityExtent, key],
    setEnabled: [entity, ["isEnabled", "boolean"], ["extent", "extent"], key],
    attach: [...child, key],
    detach: [entity, ["keep", "keep"], key],
    moveBefore: [entity, ["before", "optionalHandle"], key],
    write: [entity, ["kind", "writeKind"], ["value", "vector"], key, ["flag", "flag"]],
    setLocalTransform: [entity, ["value", "transform"], key],
    setWorldTransform: [entity, ["value", "transform"], key],
    setInherit: [entity, ["flags", "whole"], key],
    change: [entity, ["add", "entries"], ["remove", "removed"], key],
    add: [entity, ["", "component"], ["", "values"], key],
    remove: [entity, ["", "component"], key],
    set: [entity, ["component", "component"], ["values", "values"], key],
    resolve: [["pending", "handle"]],
    result: [["index", "whole"]],
};

const ofQuat = {
    fromAxisAngle: [["axis", "vector"], ["angle", "number"], ["out", "rotationOut"]],
    fromEuler: [["angles", "vector"], ["order", "order"], ["out", "rotationOut"]],
    toEuler: [["rotation", "rotation"], ["order", "order"], ["out", "vectorOut"]],
    between: [["from", "vector"], ["to", "vector"], ["out", "rotationOut"]],
    multiply: [["a", "rotation"], ["b", "rotation"], ["out", "rotationOut"]],
    slerp: [["a", "rotation"], ["b", "rotation"], ["t", "number"], ["out", "rotationOut"]],
    rotate: [["rotation", "rotation"], ["vector", "vector"], ["out", "vectorOut"]],
};

// --- What is done with a table ---

function methodsOf(object, others) {
    return Object.getOwnPropertyNames(object).filter((name) =>
        name !== "constructor" && !others.includes(name) && typeof Object.getOwnPropertyDescriptor(object, name).value === "function");
}

function show(value) {
    return typeof value === "bigint" ? `${value}n` : JSON.stringify(value, (_, part) =>
        typeof part === "bigint" ? `${part}n` : part);
}

// Call a method with each bad value of each argument; the other arguments are valid.
function refuseEach(name, call, row, kinds, isUnchanged) {
    const valid = row.map(([, kind]) => kinds[kind][0]);

    row.forEach(([argument, kind], place) => {
        for (const bad of kinds[kind][1]) {
            const given = valid.with?.(place, bad) ?? valid.map((value, i) => i === place ? bad : value);

            assert.throws(() => call(...given), (error) => {
                const what = `${name}: ${argument} ${show(bad)}: ${error}`;

                assert.ok(error instanceof TypeError || error instanceof RangeError, what);
                assert.ok(error.message.includes(argument), what);
                return true;
            }, `${name}: ${argument} ${show(bad)} is accepted`);
            isUnchanged(`${name}: ${argument} ${show(bad)}`);
        }
    });
}

function prepare(world) {
    const top = world.create({ position: [1, 2, 3] });
    const health = world.registerComponent("health", { length: 2 });

    world.add(top, health, [1, 2]);
    world.setName(top, "top");
    return [top, health];
}

withWorld("every argument of a world's methods is checked", (world) => {
    const [top, health] = prepare(world);
    const kinds = kindsFor(world, top, health);

    assert.deepEqual(Object.keys(ofWorld).sort(), methodsOf(World.prototype, ["close"]).sort());
    const hash = world.hash("physical");
    for (const [name, row] of Object.entries(ofWorld)) {
        refuseEach(name, (...given) => world[name](...given), row, kinds,
            (what) => assert.equal(world.hash("physical"), hash, what));
    }
});

withWorld("every argument of a command buffer's methods is checked", (world) => {
    const [top, health] = prepare(world);
    const commands = world.commands();

    assert.deepEqual(Object.keys(ofCommands).sort(), methodsOf(CommandBuffer.prototype, ["close"]).sort());
    for (const [name, row] of Object.entries(ofCommands)) {
        refuseEach(name, (...given) => commands[name](...given), row, kindsFor(world, top, health),
            (what) => assert.equal(commands.count, 0, what));
    }
});

withWorld("every argument of the functions for rotations is checked", (world) => {
    const [top, health] = prepare(world);

    assert.deepEqual(Object.keys(ofQuat).sort(), Object.keys(quat).sort());
    for (const [name, row] of Object.entries(ofQuat)) {
        refuseEach(name, quat[name], row, kindsFor(world, top, health), () => {});
    }
});

withWorld("every argument of a history's methods is checked", (world) => {
    const [top, health] = prepare(world);
    const kinds = kindsFor(world, top, health), history = world.history();

    assert.deepEqual(methodsOf(History.prototype, ["close"]).sort(), ["hash", "mark", "rewind"]);
    for (const [name, row] of Object.entries({ mark: [["frame", "frame"]], hash: [["frame", "frame"]],
        rewind: [["frame", "frame"], ["options", "rewindOptions"]] })) {
        refuseEach(name, (...given) => history[name](...given), row, kinds,
            () => assert.equal(history.range, undefined));
    }
    for (const bad of [null, 5, {}, "world"]) {
        assert.throws(() => new History(bad), TypeError);
    }
});

withWorld("every argument of what draws is checked", (world) => {
    const [top, health] = prepare(world);
    const kinds = kindsFor(world, top, health), renderables = world.renderables();
    const visible = world.visible(), instances = world.instances();

    renderables.update();
    const { mirror } = renderables;
    visible.cull(mirror, {});
    kinds.mirror = [mirror, [undefined, null, 5, {}, renderables]];
    kinds.arrays = [instances, [undefined, null, 5, {}, new Float32Array(16)]];
    const tables = [
        [renderables, Renderables, { reserve: [["count", "whole"]], update: [["user", "user"]],
            addLods: [["levels", "levels"]] }],
        [mirror, Mirror, { changed: [["since", "since"]],
            write: [["cluster", "whole"], ["instances", "arrays"], ["first", "whole"]] }],
        [visible, Visible, { cull: [["mirror", "mirror"], ["cameras", "cameras"], ["options", "cull"]],
            groups: [["camera", "whole"]], count: [["camera", "whole"]],
            write: [["instances", "arrays"], ["camera", "whole"], ["first", "whole"]] }],
        [instances, Instances, { reserve: [["capacity", "whole"]] }],
    ];
    kinds.since = [0, [null, "1", 1n, {}, -1, 0.5, 2 ** 53, NaN]];
    for (const [object, type, table] of tables) {
        assert.deepEqual(methodsOf(type.prototype, ["close"]).sort(), Object.keys(table).sort());
        for (const [name, row] of Object.entries(table)) {
            refuseEach(name, (...given) => object[name](...given), row, kinds, () => {
                assert.equal(renderables.mirror, mirror);
                assert.equal(instances.capacity, 128);
            });
        }
        if (type !== Mirror) {
            for (const bad of [null, 5, {}, [], "world"]) {
                assert.throws(() => new type(bad), TypeError);
            }
        }
    }
});

withWorld("every argument of the functions for archives is checked", (world) => {
    const [top, health] = prepare(world);
    const kinds = kindsFor(world, top, health);

    refuseEach("inspectArchive", inspectArchive, [["bytes", "archive"]], kinds, () => {});
    refuseEach("diffArchives", diffArchives, [["before", "archive"], ["after", "archive"]], kinds, () => {});
    refuseEach("patchArchive", patchArchive, [["before", "archive"], ["delta", "bytes"]], kinds, () => {});
});

withWorld("every argument of constructors, chunks and batches is checked", (world) => {
    const [top, health] = prepare(world);
    const kinds = kindsFor(world, top, health);
    const batch = world.batch("localPosition", 1);

    assert.deepEqual(methodsOf(Query.prototype, []), ["entities"]);
    assert.deepEqual(methodsOf(Batch.prototype, []).sort(), ["read", "write"]);
    assert.deepEqual(methodsOf(HierarchyView.prototype, []).sort(), ["entities", "parents"]);
    for (const bad of [-1, 0.5, "1", 2]) {
        for (const way of ["read", "write"]) {
            assert.throws(() => batch[way](bad), /count|capacity/, `${way} ${bad}`);
        }
    }
    refuseEach("Batch.write", (...given) => batch.write(1, ...given), [["flag", "flag"]], kinds, () => {});
    refuseEach("Batch", (...given) => new Batch(world, ...given),
        [["kind", "batchKind"], ["capacity", "whole"]], kinds, () => {});
    refuseEach("View", (given) => new HierarchyView(world, given), [entity], kinds, () => {});
    refuseEach("Query", (given) => new Query(world, given), [["definition", "definition"]], kinds, () => {});
    refuseEach("Watch", (given) => new Watch(world, given), [["options", "watch"]], kinds, () => {});
    const watch = world.watch(), changes = watch.collect();
    assert.deepEqual(methodsOf(Watch.prototype, ["close"]), ["collect"]);
    refuseEach("Watch.collect", (given) => watch.collect(given), [["since", "moment"]], kinds,
        () => assert.equal(changes.added.length, 1));
    assert.deepEqual(methodsOf(Changes.prototype, []).sort(), ["addedMatrices", "changedMatrices"]);
    refuseEach("Changes.addedMatrices", (given) => changes.addedMatrices(given), [["out", "matricesOut"]], kinds,
        () => {});
    for (const bad of [null, 5, {}, [], "world"]) {
        for (const make of [Query, HierarchyView, Batch, CommandBuffer, Watch]) {
            assert.throws(() => new make(bad, top, 1), TypeError);
        }
    }
    for (const bad of [null, 5, "text", ...inObject("tag", [-1, "1"]), ...inObject("layoutBudget", [-1, "1"]),
        ...inObject("cellSize", ["1", null, 1n]),
        ...inObject("kernels", [5, null]), ...inObject("onMessage", [5, "text", {}])]) {
        assert.throws(() => new World(bad), /options/, show(bad));
    }
    const query = world.query({ all: [TRANSFORM] });
    assert.throws(() => { query.since = 5; }, /since/);
    for (const chunk of query) {
        assert.deepEqual(methodsOf(Object.getPrototypeOf(chunk), []).sort(), ["read", "readTransforms", "write"]);
        refuseEach("Chunk.read", (given) => chunk.read(given), [["component", "component"]], kinds, () => {});
        refuseEach("Chunk.write", (given) => chunk.write(given), [["component", "component"]], kinds, () => {});
        refuseEach("Chunk.readTransforms", (...given) => chunk.readTransforms(...given),
            [["kind", "readKind"], ["out", "manyOut"]], kinds, () => {});
    }
});

withWorld("values of components are numbers that their types hold", (world) => {
    const top = world.create();
    const limits = { i8: [-129, 128], u8: [-1, 256], i16: [-32769, 32768], u16: [-1, 65536],
        i32: [-(2 ** 31) - 1, 2 ** 31], u32: [-1, 2 ** 32] };

    for (const [type, bad] of Object.entries(limits)) {
        const component = world.registerComponent(type, { type });

        for (const number of [...bad, 0.5, NaN, Infinity]) {
            assert.throws(() => world.add(top, component, [number]), RangeError, `${type} ${number}`);
        }
        assert.throws(() => world.add(top, component, [1n]), TypeError);
        world.add(top, component, [bad[1] - 1]);
        assert.deepEqual([...world.get(top, component)], [bad[1] - 1]);
        world.set(top, component, Float64Array.of(bad[0] + 1));
        assert.deepEqual([...world.get(top, component)], [bad[0] + 1]);
    }
    const friend = world.registerComponent("friend", { type: "entity" });
    for (const bad of [[1], ["1"], [-1n], new Float64Array(1), 1n, [1n, 2n]]) {
        assert.throws(() => world.add(top, friend, bad), (error) => /friend/.test(error.message), show(bad));
    }
    world.add(top, friend, [top]);
    const far = world.registerComponent("far", { type: "f64" });
    world.add(top, far, [1e300]);
    assert.deepEqual([...world.get(top, far)], [1e300]);
});

withWorld("a handle of another world is refused with its status, everywhere", (world) => {
    const other = new World(), foreign = other.create();

    refuses(() => world.attach(foreign, world.create()), "ESPL_ERR_FOREIGN");
    refuses(() => world.create({ before: foreign, parent: world.create() }), "ESPL_ERR_FOREIGN");
    refuses(() => world.destroyMany([foreign]), "ESPL_ERR_FOREIGN");
    refuses(() => world.view(foreign), "ESPL_ERR_FOREIGN");
    refuses(() => world.reserve({ sideOf: foreign }), "ESPL_ERR_FOREIGN");
    assert.equal(world.writeMany("localScale", [foreign], [1]).firstStatus, "ESPL_ERR_FOREIGN");
    assert.equal(world.isAlive(foreign), false);
    other.close();
});

// --- Iterators that are left ---

withWorld("a loop that is left ends its iteration, by break, by an exception and by return()", (world) => {
    const [top] = world.createMany(300);
    const query = world.query();

    for (const chunk of query) {
        assert.ok(chunk.count > 0);
        break;
    }
    world.destroy(world.create());
    assert.throws(() => {
        for (const chunk of query) {
            throw new Error(`left at ${chunk.count}`);
        }
    }, /left at/);
    world.destroy(world.create());
    const [first] = query;
    assert.throws(() => first.count, (error) => error instanceof EspalierError && error.status === "CLOSED");
    const iterator = query[Symbol.iterator]();
    assert.equal(iterator.next().done, false);
    assert.throws(() => world.destroy(top), (error) => {
        assert.equal(error.status, "ESPL_ERR_BUSY");
        assert.match(error.message, /Iterators of a Query of this World that are not at their end: 1\..* return\(\)/);
        return true;
    });
    assert.deepEqual(iterator.return(7), { done: true, value: 7 });
    assert.equal(iterator.next().done, true);
    world.destroy(top);
    const thrown = query[Symbol.iterator]();
    thrown.next();
    assert.throws(() => thrown.throw(new RangeError("in it")), /in it/);
    world.destroy(world.create());
    assert.deepEqual(query[Symbol.iterator]().return(), { done: true, value: undefined });
});

test("an iterator that is dropped ends its iteration when it is collected", () => {
    const { stdout } = run(`
        import { setFlagsFromString } from "node:v8";
        import { runInNewContext } from "node:vm";
        import { World } from "espalier";
        setFlagsFromString("--expose-gc");
        const collect = runInNewContext("gc"), world = new World(), entity = world.create();
        (() => world.query()[Symbol.iterator]().next())();
        let status = "";
        for (let i = 0; i < 100 && status !== "ESPL_OK"; ++i) {
            try { status = world.moveBefore(entity) } catch (error) { status = error.status }
            if (status !== "ESPL_ERR_BUSY") { status = "ESPL_OK" }
            collect();
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
        console.log(status);`);

    assert.equal(stdout, "ESPL_OK\n");
});
