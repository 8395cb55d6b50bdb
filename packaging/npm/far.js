// SPDX-License-Identifier: MIT
// Large worlds: cells of hierarchies, and what is read relative to an origin.
import { checkNumber, checkNumbers, checkObject, checkOut, choose } from "./checks.js";
import { SCRATCH_VALUE, heap, pointerOf, putHandle, scratch, settle, wasm } from "./engine.js";
import { MATRIX_4X4, chooseKind, getVector, kinds, matrixKinds } from "./values.js";
import { World, matrixShape, readEntities } from "./world.js";

/** Write C's espl_origin into scratch, where no call for many entities writes, and return its address. */
function putOrigin(origin) {
    const { cell = [0, 0, 0], offset = [0, 0, 0] } = checkObject(origin, "origin");
    const numbers = [checkNumbers(cell, 3, "origin", Int32Array, "cell"),
        checkNumbers(offset, 3, "origin", Float32Array, "offset")];

    return putNumbers(scratch, ...numbers);
}

// Three whole numbers, and three others behind them.
function putNumbers(address, cells, others) {
    new Int32Array(heap.buffer, address, 3).set(cells);
    new Float32Array(heap.buffer, address + 12, 3).set(others);
    return address;
}

Object.defineProperty(World.prototype, "cellSize", {
    get() {
        return wasm.espl_get_cell_size(pointerOf(this));
    },
});

Object.assign(World.prototype, {
    rebase(cells = [0, 0, 0], offset = [0, 0, 0]) {
        const address = putNumbers(scratch, checkNumbers(cells, 3, "cells", Int32Array),
            checkNumbers(offset, 3, "offset"));

        return settle(wasm.espl_rebase(pointerOf(this), address, address + 12), this);
    },

    recenter(limit = 0) {
        settle(wasm.espl_recenter(pointerOf(this), checkNumber(limit, "limit"), scratch), this);
        return heap.u32[scratch >> 2];
    },

    getCell(entity, out) {
        return this.read(entity, "cell", out);
    },

    setCell(entity, cell) {
        return this.write(entity, "cell", cell);
    },

    getAbsolutePosition(entity, out) {
        return this.read(entity, "absolutePosition", out);
    },

    setAbsolutePosition(entity, position) {
        return this.write(entity, "absolutePosition", position);
    },

    getOrigin(entity) {
        settle(wasm.espl_get_origin(pointerOf(this), putHandle(entity), scratch), this);
        return {
            cell: new Int32Array(heap.buffer, scratch, 3).slice(),
            offset: new Float32Array(heap.buffer, scratch + 12, 3).slice(),
        };
    },

    readRelative(origin, kind, entities, out) {
        const chosen = chooseKind(kind, "read");
        const address = putOrigin(origin);

        return readEntities(this, chosen, entities, out, (handles, count, values) =>
            wasm.espl_read_relative(pointerOf(this), address, chosen.read, handles, count, 8, values,
                4 * chosen.words));
    },

    readRelativeMatrices(origin, kind, entities, out) {
        const { read } = choose(matrixKinds, kind, "kind");
        const address = putOrigin(origin);

        return readEntities(this, matrixShape, entities, out, (handles, count, values) =>
            wasm.glue_read_matrices(pointerOf(this), address, read, handles, count, values));
    },

    getRelativeMatrix(origin, entity, out) {
        checkOut(out, 16);
        const address = putOrigin(origin), found = scratch + SCRATCH_VALUE;

        settle(wasm.espl_get_relative_matrix(pointerOf(this), putHandle(entity), address, MATRIX_4X4, found), this);
        return getVector(found, 16, out);
    },
});
