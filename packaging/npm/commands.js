// SPDX-License-Identifier: MIT
// Command buffers: commands that are recorded now and played together.
import { checkBoolean, checkCount, checkHandle, checkValue, choose } from "./checks.js";
import {
    Owned, SCRATCH_VALUE, align, getHandle, heap, nameOf, pointerOf, putHandle, room, scratch, settle, wasm,
} from "./engine.js";
import { putAttachOptions, putChange, putCreation, putInstance, putLocal } from "./structs.js";
import {
    Packer, addFlag, checkComponent, chooseKind, extents, keeps, numberOf, putComponent, putValue,
} from "./values.js";
import { World } from "./world.js";

const REASONS = 22;

// Read the espl_report in scratch.
function getReport(status) {
    const at = scratch >> 2;
    const [accepted, applied, refused, lossy] = heap.u32.subarray(at, at + 4);
    const refusals = [];

    for (let reason = 0; reason < REASONS; ++reason) {
        const count = heap.u32[at + 4 + reason];

        if (count !== 0) {
            refusals.push({ status: nameOf(-reason), count, first: heap.u32[at + 26 + 2 * reason + 1] });
        }
    }
    const [created, destroyed] = heap.u32.subarray(at + 70, at + 72);
    return {
        status, accepted, applied, refused, lossy, created, destroyed,
        hasOverflowed: heap.u8[4 * (at + 95)] !== 0, refusals,
    };
}

function keyOf(key) {
    return checkCount(key, "key");
}

export class CommandBuffer extends Owned {
    #recorder;

    constructor(world) {
        settle(wasm.espl_command_buffer_create(pointerOf(world), 1, scratch), world);
        super(world, heap.u32[scratch >> 2], wasm.espl_command_buffer_destroy);
        this.#recorder = wasm.espl_command_buffer_recorder(pointerOf(this), 0);
    }

    get count() {
        return wasm.espl_command_buffer_count(pointerOf(this));
    }

    // The recorder; throws where the buffer is closed.
    get #open() {
        pointerOf(this);
        return this.#recorder;
    }

    #settle(status) {
        return settle(status, this.world);
    }

    // --- Recording ---

    create(options = {}, key = 0) {
        return this.createMany(1, options, key)[0];
    }

    createMany(count, options = {}, key = 0) {
        const recorder = this.#open;
        const packer = new Packer(putCreation.size(this.world, options) + align(8 * checkCount(count)));
        const def = putCreation(packer, this.world, options);
        const out = packer.take(8 * count);

        this.#settle(wasm.espl_record_create(recorder, keyOf(key), def, count, out));
        return new BigUint64Array(heap.buffer, out, count).slice();
    }

    instantiate(source, options = {}, key = 0) {
        return this.instantiateMany(source, 1, options, key)[0];
    }

    instantiateMany(source, count, options = {}, key = 0) {
        const recorder = this.#open;
        const packer = new Packer(putInstance.size(this.world, options) + align(8 * checkCount(count)));
        const def = putInstance(packer, this.world, checkHandle(source, "source"), options);
        const out = packer.take(8 * count);

        this.#settle(wasm.espl_record_instantiate(recorder, keyOf(key), def, count, out));
        return new BigUint64Array(heap.buffer, out, count).slice();
    }

    spawn(prefab, parent = 0n, local = undefined, key = 0) {
        const address = putLocal(local);

        this.#settle(wasm.espl_record_spawn(this.#open, keyOf(key), putHandle(prefab, 0, "prefab"),
            putHandle(parent, 1, "parent"), address, scratch + SCRATCH_VALUE));
        return getHandle(scratch + SCRATCH_VALUE);
    }

    destroy(entity, extent = "owned", key = 0) {
        const which = choose(extents, extent, "extent");

        this.#settle(wasm.espl_record_destroy(this.#open, keyOf(key), putHandle(entity), which));
    }

    attach(child, parent, options = {}, key = 0) {
        const address = putAttachOptions(scratch, options);

        this.#settle(wasm.espl_record_attach(this.#open, keyOf(key), putHandle(child, 0, "child"),
            putHandle(parent, 1, "parent"), address));
    }

    detach(entity, keep = "world", key = 0) {
        const which = choose(keeps, keep, "keep");

        this.#settle(wasm.espl_record_detach(this.#open, keyOf(key), putHandle(entity), which));
    }

    moveBefore(entity, before = 0n, key = 0) {
        this.#settle(wasm.espl_record_move_before(this.#open, keyOf(key), putHandle(entity),
            putHandle(before, 1, "before")));
    }

    write(entity, kind, value, key = 0, flag = undefined) {
        const chosen = chooseKind(kind, "write");
        const write = addFlag(chosen.write, flag);

        putValue(scratch, chosen, checkValue(chosen, value, "value"));
        this.#settle(wasm.espl_record_write(this.#open, keyOf(key), putHandle(entity), write, scratch));
    }

    setLocalTransform(entity, value, key = 0) {
        this.write(entity, "localTransform", value, key);
    }

    setWorldTransform(entity, value, key = 0) {
        this.write(entity, "worldTransform", value, key);
    }

    setInherit(entity, flags, key = 0) {
        this.#settle(wasm.espl_record_set_inherit(this.#open, keyOf(key), putHandle(entity),
            checkCount(flags, "flags")));
    }

    change(entity, add, remove = [], key = 0) {
        const address = putChange(scratch, this.world, add, remove);

        this.#settle(wasm.espl_record_change_components(this.#open, keyOf(key), putHandle(entity), address));
    }

    add(entity, component, values, key = 0) {
        this.change(entity, [values === undefined ? component : [component, values]], [], key);
    }

    remove(entity, component, key = 0) {
        this.change(entity, [], [component], key);
    }

    set(entity, component, values, key = 0) {
        const number = numberOf(this.world, component);
        const address = room(component.size);

        putComponent(address, component, checkComponent(component, values, "values"));
        this.#settle(wasm.espl_record_set_component(this.#open, keyOf(key), putHandle(entity), number,
            address, component.size));
    }

    setEnabled(entity, isEnabled, extent = "owned", key = 0) {
        const enabled = checkBoolean(isEnabled, "isEnabled");
        const which = choose(extents, extent, "extent");

        this.#settle(wasm.espl_record_set_enabled(this.#open, keyOf(key), putHandle(entity), which, enabled));
    }

    // --- Playing ---

    play() {
        return getReport(this.#settle(wasm.espl_play(pointerOf(this.world), pointerOf(this), scratch)));
    }

    submit() {
        this.#settle(wasm.espl_command_buffer_submit(pointerOf(this)));
    }

    resolve(pending) {
        this.#settle(wasm.espl_command_buffer_resolve(pointerOf(this), putHandle(pending, 0, "pending"),
            scratch));
        return getHandle(scratch);
    }

    result(index) {
        return nameOf(wasm.espl_command_buffer_result(pointerOf(this), 0, checkCount(index, "index")));
    }

    reset() {
        wasm.espl_command_buffer_reset(pointerOf(this));
        settle(0);
    }
}

World.prototype.commands = function commands() {
    return new CommandBuffer(this);
};
World.prototype.sync = function sync() {
    return getReport(settle(wasm.espl_sync(pointerOf(this), scratch), this));
};
