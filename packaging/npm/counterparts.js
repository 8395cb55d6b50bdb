// SPDX-License-Identifier: MIT
// One entity in several worlds: counterparts, and worlds that follow each other.
import {
    checkBoolean, checkHandle, checkHandles, checkList, checkNumber, checkNumbers, checkObject, choose,
} from "./checks.js";
import {
    SCRATCH_VALUE, align, getHandle, heap, pointerOf, putHandle, scratch, settle, wasm, zero,
} from "./engine.js";
import { transformOf } from "./structs.js";
import {
    FOLLOW_KEEPS, Packer, addressOf, extents, followKinds, numberOf, places, putTransform,
} from "./values.js";
import { World } from "./world.js";

// The sizes of structs that C reads and fills.
const PLACING_BYTES = 96;
const FOLLOW_BYTES = 28;
const REPORT_BYTES = 32;
const CHANGES_BYTES = 96;
const TRANSFORM_WORDS = 12;
/** Offsets in espl_changes: of the pointers to handles, of the counts behind them, of the pointers to transforms. */
const LISTS = { removed: 0, added: 4, changed: 8 };
const COUNTS = 12;
const TRANSFORMS = { addedWorlds: 28, changedWorlds: 32, addedLocals: 36, changedLocals: 40 };
const CELLS = { addedCells: 64, changedCells: 68 };
const CELL_SIZE = 60;
const CELL_WORDS = 4;

// Write a handle at an address that is a multiple of 4.
function putEntity(address, entity) {
    heap.u32.set([Number(entity & 0xffffffffn), Number(entity >> 32n)], address >> 2);
}

/** Write C's espl_placing_def, whose components are in room(). */
function putPlacing(address, from, { extent = "owned", parent = 0n, before = 0n, place = "local", components = [],
    ...options }) {
    const transform = transformOf(options) ?? null;
    const numbers = checkList(components, "options.components").map((component, i) =>
        numberOf(from, component, `options.components[${i}]`));
    const words = [choose(extents, extent, "options.extent"), choose(places, place, "options.place")];

    checkHandle(parent, "options.parent");
    checkHandle(before, "options.before");
    const list = new Packer(align(4 * numbers.length)).put(numbers, Uint32Array);

    zero(address, PLACING_BYTES);
    heap.u32[address >> 2] = words[0];
    putEntity(address + 4, parent);
    putEntity(address + 12, before);
    heap.u32[(address + 20) >> 2] = transform === null ? places.source : words[1];
    putTransform(address + 24, transform ?? {});
    heap.u32.set([list, numbers.length], (address + 72) >> 2);
    return address;
}

/** Write C's espl_changes, of which espl_follow() reads the handles, cells, and the transforms of these names. */
function putChanges(address, changes, names) {
    const handles = Object.keys(LISTS).map((name) =>
        ({ name, list: checkHandles(changes[name], `changes.${name}`), type: BigUint64Array }));
    const [, added, changed] = handles.map(({ list }) => list.length);
    const transforms = names.map((name, i) => {
        const count = TRANSFORM_WORDS * [added, changed][i];

        return { name, list: checkNumbers(changes[name], count, `changes.${name}`), type: Float32Array };
    });
    const cellSize = checkNumber(changes.cellSize ?? 0, "changes.cellSize");
    const cells = cellSize === 0 ? [] : Object.keys(CELLS).map((name, i) => {
        const count = CELL_WORDS * [added, changed][i];

        return { name, list: checkNumbers(changes[name], count, `changes.${name}`, Int32Array), type: Int32Array };
    });
    // Before the first take, which may detach them.
    const arrays = [...handles, ...transforms, ...cells].map((array) =>
        ({ ...array, count: array.list.length, at: addressOf(array.list, array.type) }));
    const packer = new Packer(arrays.reduce((sum, { count, type, at }) =>
        sum + (at === 0 ? align(count * type.BYTES_PER_ELEMENT) : 0), 0));

    zero(address, CHANGES_BYTES);
    heap.f32[(address + CELL_SIZE) >> 2] = cellSize;
    for (const { name, list, type, count, at } of arrays) {
        heap.u32[(address + (LISTS[name] ?? TRANSFORMS[name] ?? CELLS[name])) >> 2] = packer.put(list, type, at);
        if (type === BigUint64Array) {
            heap.u32[(address + COUNTS + LISTS[name]) >> 2] = count;
        }
    }
    return address;
}

Object.assign(World.prototype, {
    setCounterpart(entity, original) {
        return settle(wasm.espl_set_counterpart(pointerOf(this), putHandle(entity),
            putHandle(original, 1, "original")), this);
    },

    findCounterpart(original) {
        wasm.espl_find_counterpart(scratch, pointerOf(this), putHandle(original, 0, "original"));
        return getHandle(scratch);
    },

    getOriginal(entity) {
        wasm.espl_get_original(scratch, pointerOf(this), putHandle(entity));
        return getHandle(scratch);
    },

    placeCounterparts(from, original, options = {}) {
        const pointers = [pointerOf(this), pointerOf(from)];
        const def = putPlacing(scratch, from, checkObject(options, "options"));
        const out = scratch + SCRATCH_VALUE;

        settle(wasm.espl_place_counterparts(...pointers, putHandle(original, 0, "original"), def, out), this);
        return getHandle(out);
    },

    follow(changes, options = {}) {
        const { kind = "local", removed = "owned", keep = false } = checkObject(options, "options");
        const words = [choose(followKinds, kind, "options.kind"), choose(extents, removed, "options.removed"),
            checkBoolean(keep, "options.keep") ? FOLLOW_KEEPS : 0];
        const names = kind === "local" ? ["addedLocals", "changedLocals"] : ["addedWorlds", "changedWorlds"];
        const collected = putChanges(scratch, checkObject(changes, "changes"), names);
        const def = zero(scratch + SCRATCH_VALUE, FOLLOW_BYTES), report = def + align(FOLLOW_BYTES);

        heap.u32.set(words, def >> 2);
        const status = settle(wasm.espl_follow(pointerOf(this), collected, def, zero(report, REPORT_BYTES)), this);
        const [written, destroyed, unknown, refused] = heap.u32.subarray(report >> 2, (report + REPORT_BYTES) >> 2);

        return { status, written, destroyed, unknown, refused };
    },
});
