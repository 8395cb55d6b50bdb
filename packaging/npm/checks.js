// SPDX-License-Identifier: MIT
// Checks of arguments that C cannot make, because JavaScript would convert them on the way: types, lengths,
// and numbers that a type cannot hold. Each error names the argument. All of them come before the call.

const MAX_U32 = 0xffffffff;

/** Return the table's value for a word; throw for another word. */
export function choose(table, word, what) {
    const choice = typeof word === "string" && Object.hasOwn(table, word) ? table[word] : undefined;

    if (choice === undefined) {
        throw new TypeError(`${what} "${String(word)}" is none of ${Object.keys(table).join(", ")}`);
    }
    return choice;
}

export function checkCount(count, what = "count") {
    if (!Number.isInteger(count) || count < 0 || count > MAX_U32) {
        const kind = typeof count === "number" ? RangeError : TypeError;

        throw new kind(`${what} must be a whole number from 0 to ${MAX_U32}`);
    }
    return count;
}

export function checkNumber(value, what) {
    if (typeof value !== "number") {
        throw new TypeError(`${what} must be a number`);
    }
    return value;
}

export function checkBoolean(value, what) {
    if (typeof value !== "boolean") {
        throw new TypeError(`${what} must be true or false`);
    }
    return value;
}

/** Return options, an object. */
export function checkObject(value, what) {
    if (typeof value !== "object" || value === null) {
        throw new TypeError(`${what} must be an object`);
    }
    return value;
}

export function checkList(value, what) {
    if (!Array.isArray(value)) {
        throw new TypeError(`${what} must be an array`);
    }
    return value;
}

// --- Handles ---

/** Return a handle: a bigint of 64 bits and nothing else. C tells whether it names an entity. */
export function checkHandle(value, what) {
    if (typeof value !== "bigint") {
        throw new TypeError(`${what} must be a handle, which is a bigint`);
    }
    return checkVersion(value, what);
}

/** Return a bigint of 64 bits. */
export function checkVersion(value, what) {
    if (typeof value !== "bigint") {
        throw new TypeError(`${what} must be a bigint`);
    }
    if (BigInt.asUintN(64, value) !== value) {
        throw new RangeError(`${what} must be a bigint from 0 to 2n ** 64n - 1n`);
    }
    return value;
}

/** Return a whole number, of which C has 64 bits, as a bigint. */
export function checkWhole(value, what) {
    if (typeof value !== "number") {
        throw new TypeError(`${what} must be a number`);
    }
    if (!Number.isSafeInteger(value) || value < 0) {
        throw new RangeError(`${what} must be a whole number from 0 to 2 ** 53 - 1`);
    }
    return BigInt(value);
}

/** Return handles: a BigUint64Array, or an array of handles. */
export function checkHandles(value, what) {
    if (!(value instanceof BigUint64Array)) {
        if (!Array.isArray(value)) {
            throw new TypeError(`${what} must be a BigUint64Array or an array of handles`);
        }
        for (let i = 0; i < value.length; ++i) {
            if (typeof value[i] !== "bigint" || BigInt.asUintN(64, value[i]) !== value[i]) {
                checkHandle(value[i], `${what}[${i}]`);
            }
        }
    }
    return value;
}

// --- Bytes ---

/**
 * Return bytes: a Uint8Array or an ArrayBuffer.
 * @param memory  the library's: bytes in it are copied, because it may grow before they are read.
 */
export function checkBytes(value, what, memory) {
    if (value instanceof ArrayBuffer) {
        return new Uint8Array(value);
    }
    if (!(value instanceof Uint8Array)) {
        throw new TypeError(`${what} must be a Uint8Array or an ArrayBuffer`);
    }
    return value.buffer === memory ? value.slice() : value;
}

export function checkFunction(value, what) {
    if (typeof value !== "function") {
        throw new TypeError(`${what} must be a function`);
    }
    return value;
}

// --- Numbers ---

// Tell whether a value is a typed array of numbers.
function isTyped(value) {
    return ArrayBuffer.isView(value) && !(value instanceof DataView) &&
        !(value instanceof BigInt64Array) && !(value instanceof BigUint64Array);
}

// The least and the greatest element of typed arrays of whole numbers.
const ranges = new Map([
    [Int8Array, [-0x80, 0x7f]], [Uint8Array, [0, 0xff]],
    [Int16Array, [-0x8000, 0x7fff]], [Uint16Array, [0, 0xffff]],
    [Int32Array, [-0x80000000, 0x7fffffff]], [Uint32Array, [0, MAX_U32]],
]);

function checkLength(given, count, what, part) {
    if (given !== count) {
        throw new RangeError(`${join(what, part)}: ${count} numbers are needed, and ${given} are given`);
    }
}

// The name of a part of an argument. It is made where it is needed, because making it takes longer than a check.
function join(what, part) {
    return part === undefined ? what : `${what}.${part}`;
}

/**
 * Return so many numbers: an array, or any typed array of numbers.
 * @param type  the typed array that they are stored in. A number that it cannot hold is refused.
 * @param part  the part of the argument that they are, if they are not all of it.
 */
export function checkNumbers(value, count, what, type = Float32Array, part = undefined) {
    if (!Array.isArray(value) && !isTyped(value)) {
        throw new TypeError(`${join(what, part)} must be an array of ${count} numbers`);
    }
    checkLength(value.length, count, what, part);
    if (value instanceof type) {
        return value;
    }
    for (let i = 0; i < count; ++i) {
        if (typeof value[i] !== "number") {
            throw new TypeError(`${join(what, part)}[${i}] must be a number`);
        }
    }
    if (ranges.has(type)) {
        checkRange(value, ranges.get(type), what);
    }
    return value;
}

function checkRange(values, [least, most], what) {
    for (let i = 0; i < values.length; ++i) {
        if (!Number.isInteger(values[i]) || values[i] < least || values[i] > most) {
            throw new RangeError(`${what}[${i}] must be a whole number from ${least} to ${most}`);
        }
    }
}

/** Return a value of a component: elements of its type, as many as it has. */
export function checkValues(value, { array, length, name }, what) {
    const where = `${what} of the component "${name}"`;

    if (array === BigUint64Array) {
        checkHandles(value, where);
        checkLength(value.length, length, where);
        return value;
    }
    return checkNumbers(value, length, where, array ?? Array);
}

/** Return what numbers are written into: undefined, an array, which grows, or a typed array of so many or more. */
export function checkOut(value, count, what = "out") {
    if (value !== undefined) {
        if (!Array.isArray(value) && !isTyped(value)) {
            throw new TypeError(`${what} must be an array or a typed array of numbers`);
        }
        if (!Array.isArray(value) && value.length < count) {
            throw new RangeError(`${what} must have a length of ${count} or more`);
        }
    }
    return value;
}

/** Return an array to write into: undefined, or a typed array of this type of so many elements or more. */
export function checkTypedOut(value, type, count, what = "out") {
    if (value !== undefined) {
        if (!(value instanceof type)) {
            throw new TypeError(`${what} must be a ${type.name}`);
        }
        if (value.length < count) {
            throw new RangeError(`${what} must be a ${type.name} of ${count} or more`);
        }
    }
    return value;
}

// --- Transforms ---

/** Return a transform, or a pose of 8 words: so many numbers, or named parts, of which any may be left out. */
export function checkTransform(value, words, what) {
    if (Array.isArray(value) || isTyped(value)) {
        return checkNumbers(value, words, what);
    }
    if (checkObject(value, what).length !== undefined) {
        throw new TypeError(`${what} must be ${words} numbers, or an object with parts of a transform`);
    }
    const { rotation, position, scale, stretch } = value;

    if (rotation !== undefined) {
        checkNumbers(rotation, 4, what, Float32Array, "rotation");
    }
    if (position !== undefined) {
        checkNumbers(position, 3, what, Float32Array, "position");
    }
    if (stretch !== undefined) {
        checkNumbers(stretch, 3, what, Float32Array, "stretch");
    }
    if (scale !== undefined && typeof scale !== "number") {
        throw new TypeError(`${what}.scale must be a number`);
    }
    if (value.userData !== undefined) {
        checkCount(value.userData, `${what}.userData`);
    }
    return value;
}

// The part of a transform is written by set(), which a typed array has.
function checkPartOut(value, count, part, what) {
    if (!isTyped(value)) {
        throw new TypeError(`${what}.${part} must be a typed array of numbers`);
    }
    if (value.length < count) {
        throw new RangeError(`${what}.${part} must have a length of ${count} or more`);
    }
}

/** Return a transform to write into: undefined, or an object with the arrays of a transform or a pose. */
export function checkTransformOut(value, words, what = "out") {
    if (value !== undefined) {
        checkObject(value, what);
        checkPartOut(value.rotation, 4, "rotation", what);
        checkPartOut(value.position, 3, "position", what);
        if (words === 12) {
            checkPartOut(value.stretch, 3, "stretch", what);
        }
    }
    return value;
}

/** Return a value of a kind of write: a number, an array or a transform. */
export function checkValue({ words, array, length }, value, what) {
    if (words === 1) {
        return array === Uint32Array ? checkCount(value, what) : checkNumber(value, what);
    }
    return words >= 8 ? checkTransform(value, words, what) : checkNumbers(value, length, what, array);
}

/** Return what a value of a kind of read is written into. */
export function checkValueOut({ words, length }, out) {
    if (words === 1) {
        return out;
    }
    return words >= 8 ? checkTransformOut(out, words) : checkOut(out, length);
}
