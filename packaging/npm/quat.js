// SPDX-License-Identifier: MIT
// Rotations as values, computed by the library: the same bits on every machine.
import { checkNumber, checkNumbers, checkOut, choose } from "./checks.js";
import { scratch, settle, wasm } from "./engine.js";
import { eulerOrders, getVector, putVector } from "./values.js";

const FIRST = scratch + 16;
const SECOND = scratch + 32;

export const quat = Object.freeze({
    fromAxisAngle(axis, angle, out) {
        checkOut(out, 4);
        putVector(FIRST, checkNumbers(axis, 3, "axis"), 3);
        settle(wasm.espl_quat_from_axis_angle(FIRST, checkNumber(angle, "angle"), scratch));
        return getVector(scratch, 4, out);
    },
    fromEuler(angles, order = "YXZ", out) {
        checkOut(out, 4);
        putVector(FIRST, checkNumbers(angles, 3, "angles"), 3);
        settle(wasm.espl_quat_from_euler(FIRST, choose(eulerOrders, order, "order"), scratch));
        return getVector(scratch, 4, out);
    },
    toEuler(rotation, order = "YXZ", out) {
        checkOut(out, 3);
        putVector(FIRST, checkNumbers(rotation, 4, "rotation"), 4);
        settle(wasm.espl_quat_to_euler(FIRST, choose(eulerOrders, order, "order"), scratch));
        return getVector(scratch, 3, out);
    },
    between(from, to, out) {
        checkOut(out, 4);
        putVector(FIRST, checkNumbers(from, 3, "from"), 3);
        putVector(SECOND, checkNumbers(to, 3, "to"), 3);
        settle(wasm.espl_quat_between(FIRST, SECOND, scratch));
        return getVector(scratch, 4, out);
    },
    multiply(a, b, out) {
        checkOut(out, 4);
        putVector(FIRST, checkNumbers(a, 4, "a"), 4);
        putVector(SECOND, checkNumbers(b, 4, "b"), 4);
        wasm.espl_quat_multiply(FIRST, SECOND, scratch);
        return getVector(scratch, 4, out);
    },
    slerp(a, b, t, out) {
        checkOut(out, 4);
        putVector(FIRST, checkNumbers(a, 4, "a"), 4);
        putVector(SECOND, checkNumbers(b, 4, "b"), 4);
        settle(wasm.espl_quat_slerp(FIRST, SECOND, checkNumber(t, "t"), scratch));
        return getVector(scratch, 4, out);
    },
    rotate(rotation, vector, out) {
        checkOut(out, 3);
        putVector(FIRST, checkNumbers(rotation, 4, "rotation"), 4);
        putVector(SECOND, checkNumbers(vector, 3, "vector"), 3);
        wasm.espl_quat_rotate(FIRST, SECOND, scratch);
        return getVector(scratch, 3, out);
    },
});
