// SPDX-License-Identifier: MIT
// Watches, and what they collected. The arrays of a collect are the watch's own, shown without a copy.
import { checkBoolean, checkList, checkTypedOut, checkVersion, choose } from "./checks.js";
import {
    EspalierError, Owned, align, heap, pointerOf, room, scratch, settle, wasm, zero,
} from "./engine.js";
import { checkQuery, putQuery } from "./structs.js";
import { Packer, WATCH_BEFORE, watchKinds } from "./values.js";
import { CachedView } from "./views.js";
import { World } from "./world.js";

const WATCH_DEF_BYTES = 40;
// The bytes of C's espl_changes that are read as words of 32 bits: the addresses and the counts.
const LISTS_BYTES = 72;
const TRANSFORM_WORDS = 12;
const CELL_WORDS = 4;

/** Key of the method by which a watch ends what it collected before. */
const END = Symbol("end");

export class Changes {
    #isEnded = false;
    #lists;
    #moment;
    #isCoarse;
    #cellSize;

    /** @param has  which lists the watch is made for. */
    constructor(address, has) {
        const [removed, added, changed, removedCount, addedCount, changedCount, kinds, addedWorlds,
            changedWorlds, addedLocals, changedLocals, changedBefore, , , , , addedCells, changedCells] =
            heap.u32.subarray(address >> 2, (address + LISTS_BYTES) >> 2);
        const handles = (at, count) => ({ type: BigUint64Array, at, count, view: new CachedView() });
        const transforms = (at, count, isThere = true) => isThere
            ? { type: Float32Array, at, count: TRANSFORM_WORDS * count, view: new CachedView() } : null;
        const cells = (at, count) => has.cells
            ? { type: Int32Array, at, count: CELL_WORDS * count, view: new CachedView() } : null;

        this.#lists = {
            removed: handles(removed, removedCount),
            added: handles(added, addedCount),
            changed: handles(changed, changedCount),
            kinds: { type: Uint8Array, at: kinds, count: changedCount, view: new CachedView() },
            addedWorlds: transforms(addedWorlds, addedWorlds !== 0 ? addedCount : 0),
            changedWorlds: transforms(changedWorlds, changedWorlds !== 0 ? changedCount : 0),
            addedLocals: transforms(addedLocals, addedCount, has.locals),
            changedLocals: transforms(changedLocals, changedCount, has.locals),
            changedBefore: transforms(changedBefore, changedCount, has.before),
            addedCells: cells(addedCells, addedCount),
            changedCells: cells(changedCells, changedCount),
        };
        this.#moment = heap.u64[(address + 48) >> 3];
        this.#isCoarse = heap.u8[address + 56] !== 0;
        this.#cellSize = heap.f32[(address + 60) >> 2];
    }

    [END]() {
        this.#isEnded = true;
    }

    #list(name) {
        if (this.#isEnded) {
            const text = "the watch has collected again, or is closed";
            throw new EspalierError("CLOSED", undefined, text, text);
        }
        return this.#lists[name];
    }

    #show(name) {
        const list = this.#list(name);

        return list === null ? null : list.view.at(list.type, list.at, list.count);
    }

    get removed() {
        return this.#show("removed");
    }

    get added() {
        return this.#show("added");
    }

    get changed() {
        return this.#show("changed");
    }

    get kinds() {
        return this.#show("kinds");
    }

    get addedWorlds() {
        return this.#show("addedWorlds");
    }

    get changedWorlds() {
        return this.#show("changedWorlds");
    }

    get addedLocals() {
        return this.#show("addedLocals");
    }

    get changedLocals() {
        return this.#show("changedLocals");
    }

    get changedBefore() {
        return this.#show("changedBefore");
    }

    get addedCells() {
        return this.#show("addedCells");
    }

    get changedCells() {
        return this.#show("changedCells");
    }

    get cellSize() {
        return this.#cellSize;
    }

    get moment() {
        return this.#moment;
    }

    get isCoarse() {
        return this.#isCoarse;
    }

    addedMatrices(out) {
        return this.#writeMatrices("addedWorlds", out);
    }

    changedMatrices(out) {
        return this.#writeMatrices("changedWorlds", out);
    }

    #writeMatrices(name, out) {
        const { at, count } = this.#list(name);
        const numbers = count / TRANSFORM_WORDS * 16;
        const result = checkTypedOut(out, Float32Array, numbers) ?? new Float32Array(numbers);
        const address = room(4 * numbers);

        wasm.glue_write_matrices(at, count / TRANSFORM_WORDS, address);
        result.set(new Float32Array(heap.buffer, address, numbers));
        return result;
    }
}

export class Watch extends Owned {
    #has;
    #changes;

    constructor(world, options = {}) {
        const pointer = pointerOf(world);
        const terms = checkQuery(world, options, "options");
        const { kinds = ["world"], before = false } = options;
        const bits = checkList(kinds, "options.kinds").map((word, i) =>
            choose(watchKinds, word, `options.kinds[${i}]`)).reduce((sum, bit) => sum | bit, 0);
        const packer = new Packer(putQuery.size(terms) + align(WATCH_DEF_BYTES));
        const flags = bits | (checkBoolean(before, "options.before") ? WATCH_BEFORE : 0);
        const filter = putQuery(packer, terms, 0n);
        const def = zero(packer.take(WATCH_DEF_BYTES), WATCH_DEF_BYTES);

        heap.u32.set([filter, flags], def >> 2);
        settle(wasm.espl_watch_create(pointer, def, scratch), world);
        super(world, heap.u32[scratch >> 2], wasm.espl_watch_destroy);
        this.#has = { locals: (bits & watchKinds.local) !== 0, cells: (bits & watchKinds.cell) !== 0, before };
    }

    collect(since = 0n) {
        const moment = checkVersion(since, "since");

        settle(wasm.espl_watch_collect(pointerOf(this), moment, scratch), this.world);
        this.#changes?.[END]();
        this.#changes = new Changes(scratch, this.#has);
        return this.#changes;
    }

    close() {
        this.#changes?.[END]();
        super.close();
    }
}

World.prototype.watch = function watch(options) {
    return new Watch(this, options);
};
