// SPDX-License-Identifier: MIT
// Rotations as values, computed by the library: the same bits on every machine.
import { choose, scratch, settle, wasm } from "./engine.js";
import { eulerOrders, getVector, putVector } from "./values.js";

const FIRST = scratch + 16;
const SECOND = scratch + 32;

export const quat = Object.freeze({
    fromAxisAngle(axis, angle, out) {
        putVector(FIRST, axis, 3);
        settle(wasm.espl_quat_from_axis_angle(scratch, FIRST, angle));
        return getVector(scratch, 4, out);
    },
    fromEuler(angles, order = "YXZ", out) {
        putVector(FIRST, angles, 3);
        settle(wasm.espl_quat_from_euler(scratch, FIRST, choose(eulerOrders, order, "the order")));
        return getVector(scratch, 4, out);
    },
    toEuler(rotation, order = "YXZ", out) {
        putVector(FIRST, rotation, 4);
        settle(wasm.espl_quat_to_euler(scratch, FIRST, choose(eulerOrders, order, "the order")));
        return getVector(scratch, 3, out);
    },
    between(from, to, out) {
        putVector(FIRST, from, 3);
        putVector(SECOND, to, 3);
        settle(wasm.espl_quat_between(scratch, FIRST, SECOND));
        return getVector(scratch, 4, out);
    },
    multiply(a, b, out) {
        putVector(FIRST, a, 4);
        putVector(SECOND, b, 4);
        wasm.espl_quat_multiply(scratch, FIRST, SECOND);
        return getVector(scratch, 4, out);
    },
    slerp(a, b, t, out) {
        putVector(FIRST, a, 4);
        putVector(SECOND, b, 4);
        settle(wasm.espl_quat_slerp(scratch, FIRST, SECOND, t));
        return getVector(scratch, 4, out);
    },
    rotate(rotation, vector, out) {
        putVector(FIRST, rotation, 4);
        putVector(SECOND, vector, 3);
        wasm.espl_quat_rotate(scratch, FIRST, SECOND);
        return getVector(scratch, 3, out);
    },
});
