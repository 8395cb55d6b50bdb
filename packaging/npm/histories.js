// SPDX-License-Identifier: MIT
// Histories: a world goes back to frames that were marked.
import { checkBoolean, checkCount, checkObject, checkWhole } from "./checks.js";
import { Owned, heap, pointerOf, refuseInIteration, scratch, settle, wasm, zero } from "./engine.js";
import { HISTORY_HASH, REWIND_FRESH } from "./values.js";
import { World } from "./world.js";

const HISTORY_DEF_BYTES = 36;

export class History extends Owned {
    constructor(world, options = {}) {
        const pointer = pointerOf(world);
        const { frames = 0, byteLimit = 0, hash = false } = checkObject(options, "options");
        const words = [checkCount(frames, "options.frames"),
            checkBoolean(hash, "options.hash") ? HISTORY_HASH : 0, checkCount(byteLimit, "options.byteLimit")];

        heap.u32.set(words, zero(scratch, HISTORY_DEF_BYTES) >> 2);
        settle(wasm.espl_history_create(pointer, scratch, scratch), world);
        super(world, heap.u32[scratch >> 2], wasm.espl_history_destroy);
    }

    mark(frame) {
        const number = checkWhole(frame, "frame");

        return settle(wasm.espl_history_mark(pointerOf(this), number), this.world);
    }

    rewind(frame, options = {}) {
        const number = checkWhole(frame, "frame");
        const { fresh = false } = checkObject(options, "options");
        const flags = checkBoolean(fresh, "options.fresh") ? REWIND_FRESH : 0;

        settle(wasm.espl_history_rewind(pointerOf(this), number, flags, scratch), this.world);
        const [unborn, revived, unbornCount, revivedCount] = heap.u32.subarray(scratch >> 2, (scratch >> 2) + 4);
        const copy = (at, count) => new BigUint64Array(heap.buffer, at, count).slice();
        return { unborn: copy(unborn, unbornCount), revived: copy(revived, revivedCount) };
    }

    get range() {
        return wasm.espl_history_range(pointerOf(this), scratch, scratch + 8)
            ? { oldest: Number(heap.u64[scratch >> 3]), newest: Number(heap.u64[(scratch >> 3) + 1]) } : undefined;
    }

    hash(frame) {
        const number = checkWhole(frame, "frame");

        settle(wasm.espl_history_hash(pointerOf(this), number, scratch), this.world);
        return heap.u64[scratch >> 3];
    }

    // The library does not end a history while the world is in iteration.
    close() {
        refuseInIteration(this);
        super.close();
    }
}

World.prototype.history = function history(options) {
    return new History(this, options);
};
