// SPDX-License-Identifier: MIT
// Names for C's enumerators, whose numbers test-enumerators.mjs compares with the headers; kinds of reads and
// writes; transforms, arrays and component values in the library's memory.
import { checkTransform, checkTransformOut, checkTypedOut, checkValues, choose } from "./checks.js";
import { align, heap, room } from "./engine.js";

export const extents = { owned: 0, entity: 1, subtree: 2 };
export const keeps = { world: 0, local: 1, snap: 2 };
export const links = { owned: 0, free: 1 };
export const linkNames = Object.keys(links);
export const roleNames = ["none", "solo", "root", "member"];
export const places = { source: 0, local: 1, world: 2 };
export const deadParents = { refuse: 0, root: 1 };
export const axes = { right: 0, up: 1, forward: 2, left: 3, down: 4, back: 5 };
export const spaces = { parent: "InParent", world: "World", own: "Own" };
export const eulerOrders = { XYZ: 0, XZY: 1, YXZ: 2, YZX: 3, ZXY: 4, ZYX: 5 };
export const hashKinds = { logical: 0, physical: 1 };
export const conversions = {
    pointToWorld: 0,
    pointToLocal: 1,
    vectorToWorld: 2,
    vectorToLocal: 3,
    directionToWorld: 4,
    directionToLocal: 5,
};

/** Types of fields of a component. */
export const fieldTypes = {
    bytes: 0, i8: 1, u8: 2, i16: 3, u16: 4, i32: 5, u32: 6, i64: 7, u64: 8, f32: 9, f64: 10, bool: 11,
    entity: 12,
};

export const COMPONENT_TRANSIENT = 1;
export const COMPONENT_UNIQUE = 2;
export const IMAGE_TRUSTED = 1;
export const IMAGE_RETAG = 2;
export const ARCHIVE_HANDLES = 1;
export const ARCHIVE_SKIP_UNKNOWN = 2;
export const HISTORY_HASH = 1;
export const REWIND_FRESH = 1;
export const TRANSFORM_BYTES = 48;
export const NO_RANK = 0xffffffff;
export const INCLUDE_PREFABS = 1;
export const INCLUDE_DISABLED = 2;
/** Words for what a watch reports, and its flag that keeps what it reported. */
export const watchKinds = { world: 1, local: 2, shown: 4, cell: 16 };
export const WATCH_BEFORE = 8;
/** Which transforms a world that follows another one takes, and its flag. */
export const followKinds = { local: 0, world: 1 };
export const FOLLOW_KEEPS = 1;
/** Forms of the poses of instances, and the numbers that each has. */
export const instanceForms = { "3x4": 0, "4x4": 1, "4x3": 2, pose: 3 };
export const instanceWords = [12, 16, 12, 8];
export const clips = { zeroToOne: 0, minusOneToOne: 1 };
export const CAMERA_ORTHOGRAPHIC = 1;
export const CULL_INTERPOLATE = 1;
export const CULL_BY_ENTITY = 2;
export const CLUSTER_SIZE = 128;
export const PLANE_LIMIT = 8;
export const LOD_LIMIT = 8;
/** Flags of writes: how motion blends them. */
export const flags = { teleport: 0x40, carry: 0x80 };
export const MATRIX_4X4 = 1;
export const MATRIX_4X4_INVERSE = 2;

// A kind: the 32-bit words of its value, its elements in the array, and its numbers in C's espl_read_kind and
// espl_write_kind, undefined where it is not one of them.
function kind(words, read, write, array = Float32Array) {
    return { words, length: 4 * words / array.BYTES_PER_ELEMENT, read, write, array };
}

export const kinds = {
    localPosition: kind(3, 0, 0),
    localRotation: kind(4, 1, 1),
    localScale: kind(1, 2, 2),
    localPose: kind(8, 3, 3),
    localTransform: kind(12, 4, 4),
    stretch: kind(3, 5, 5),
    userData: kind(1, 6, 6, Uint32Array),
    worldPosition: kind(3, 7, 7),
    worldRotation: kind(4, 8, 8),
    worldScale: kind(1, 9, 9),
    worldPose: kind(8, 10, 10),
    worldTransform: kind(12, 11, 11),
    translateInParent: kind(3, undefined, 12),
    rotateInParent: kind(4, undefined, 13),
    transformInParent: kind(12, undefined, 14),
    inverseTransformInParent: kind(12, undefined, 15),
    translateWorld: kind(3, undefined, 16),
    rotateWorld: kind(4, undefined, 17),
    transformWorld: kind(12, undefined, 18),
    inverseTransformWorld: kind(12, undefined, 19),
    multiplyScale: kind(1, undefined, 20),
    multiplyStretch: kind(3, undefined, 21),
    translateOwn: kind(3, undefined, 22),
    rotateOwn: kind(4, undefined, 23),
    shownPosition: kind(3, 12),
    shownRotation: kind(4, 13),
    shownScale: kind(1, 14),
    shownPose: kind(8, 15),
    shownTransform: kind(12, 16),
    previousLocalPose: kind(8, 17, 24),
    previousWorldPose: kind(8, 18, 25),
    beforeLocalPose: kind(8, 19),
    beforeWorldPose: kind(8, 20),
    cell: kind(3, 21, 26, Int32Array),
    absolutePosition: kind(6, 22, 27, Float64Array),
};

/** Return the kind with this name; throw where it has no `way`, which is "read" or "write". */
export function chooseKind(word, way) {
    const found = choose(kinds, word, "kind");

    if (found[way] === undefined) {
        throw new TypeError(`the kind "${word}" has no ${way}`);
    }
    return found;
}

/** Kinds of reads that matrices are made of. */
export const matrixKinds = { world: kinds.worldTransform, shown: kinds.shownTransform };

/** Return the number of a kind of write with the flag of this name, or without one. */
export function addFlag(write, flag) {
    return flag === undefined ? write : write | choose(flags, flag, "flag");
}

// --- Transforms ---

export function identity() {
    return {
        rotation: new Float32Array([0, 0, 0, 1]),
        position: new Float32Array(3),
        scale: 1,
        stretch: new Float32Array([1, 1, 1]),
        userData: 0,
    };
}

function putWords(at, values, count) {
    for (let i = 0; i < count; ++i) {
        heap.f32[at + i] = values[i];
    }
}

/** Write a transform, or its first 8 words, a pose, that checkTransform() accepts. */
export function putTransform(address, value, words = 12) {
    const at = address >> 2;

    if (value.length !== undefined) {
        // Float32Array to Float32Array keeps the bits of the user data.
        heap.f32.set(value, at);
        return;
    }
    const { rotation, position, scale = 1, stretch, userData = 0 } = value;

    putWords(at, rotation ?? [0, 0, 0, 1], 4);
    putWords(at + 4, position ?? [0, 0, 0], 3);
    heap.f32[at + 7] = scale;
    if (words === 12) {
        putWords(at + 8, stretch ?? [1, 1, 1], 3);
        heap.u32[at + 11] = userData;
    }
}

function getTransform(address, words, out = identity()) {
    const at = address >> 2;

    out.rotation.set(heap.f32.subarray(at, at + 4));
    out.position.set(heap.f32.subarray(at + 4, at + 7));
    out.scale = heap.f32[at + 7];
    if (words === 12) {
        out.stretch.set(heap.f32.subarray(at + 8, at + 11));
        out.userData = heap.u32[at + 11];
    }
    return out;
}

/** Write a value of a kind that checkValue() accepts: a number, an array, or a transform. */
export function putValue(address, { words, array, length }, value) {
    if (words === 1) {
        (array === Uint32Array ? heap.u32 : heap.f32)[address >> 2] = value;
    } else if (words >= 8) {
        putTransform(address, value, words);
    } else if (array === Float32Array) {
        putVector(address, value, words);
    } else {
        new array(heap.buffer, address, length).set(value);
    }
}

/** Return a value of a kind; arrays and transforms are written into `out`. */
export function getValue(address, { words, array, length }, out) {
    if (words === 1) {
        return (array === Uint32Array ? heap.u32 : heap.f32)[address >> 2];
    }
    if (words >= 8) {
        return getTransform(address, words, out);
    }
    return array === Float32Array ? getVector(address, words, out)
        : copyNumbers(new array(heap.buffer, address, length), out);
}

// Copy numbers into any array, or a new one of the same type.
function copyNumbers(numbers, out = numbers.slice()) {
    numbers.forEach((number, i) => {
        out[i] = number;
    });
    return out;
}

/** Write numbers that checkNumbers() accepts. */
export function putVector(address, value, count) {
    putWords(address >> 2, value, count);
}

/** Read numbers into any array, or a new one. */
export function getVector(address, count, out = new Float32Array(count)) {
    const at = address >> 2;

    for (let i = 0; i < count; ++i) {
        out[i] = heap.f32[at + i];
    }
    return out;
}

// --- Arrays as arguments ---

/**
 * Return the address of an array in the library's memory; 0 where it is elsewhere. Call it before room(),
 * because that may detach the array.
 */
export function addressOf(array, type) {
    return array instanceof type && array.buffer === heap.buffer ? array.byteOffset : 0;
}

/** Writes arguments one behind the other into room(). */
export class Packer {
    /** @param size  upper bound of the sum of the sizes, each rounded up by align(). */
    constructor(size) {
        this.address = room(size);
    }

    take(size) {
        const address = this.address;

        this.address += align(size);
        return address;
    }

    /** Write an array's elements, and return their address; `at` where addressOf() found them in memory. */
    put(array, type, at = 0) {
        if (at !== 0) {
            return at;
        }
        const address = this.take(array.length * type.BYTES_PER_ELEMENT);

        new type(heap.buffer, address, array.length).set(array);
        return address;
    }
}

// --- Components ---

// Only this module makes components, so that the number of each is one that its world has registered.
const token = Symbol("component");

export class Component {
    constructor(given, world, number, name, typeName, array, length, size,
        { version = 0, transient = false, unique = false } = {}) {
        if (given !== token) {
            throw new TypeError("a Component is made by World.registerComponent()");
        }
        this.world = world;
        this.number = number;
        this.name = name;
        this.type = typeName;
        this.array = array;
        this.length = length;
        this.size = size;
        this.version = version;
        this.transient = transient;
        this.unique = unique;
        Object.freeze(this);
    }
}

export const componentTypes = {
    f32: Float32Array,
    f64: Float64Array,
    i8: Int8Array,
    i16: Int16Array,
    i32: Int32Array,
    u8: Uint8Array,
    u16: Uint16Array,
    u32: Uint32Array,
    entity: BigUint64Array,
    tag: null,
};

export function makeComponent(world, number, name, typeName, length, said = {}) {
    const array = componentTypes[typeName];

    return new Component(token, world, number, name, typeName, array, length,
        length * (array?.BYTES_PER_ELEMENT ?? 0), said);
}

function builtIn(number, name) {
    return makeComponent(undefined, number, name, "tag", 0);
}

/** Its value is a transform, relative to the parent; no chunk has a column of it. */
export const TRANSFORM = new Component(token, undefined, 1, "transform", "transform", null, 0, TRANSFORM_BYTES);
export const SOLO = builtIn(2, "solo");
export const ROOT = builtIn(3, "root");
export const MEMBER = builtIn(4, "member");
export const PREFAB = builtIn(5, "prefab");
export const DISABLED = builtIn(6, "disabled");

/** Return the number of a component that the world has. */
export function numberOf(world, component, what = "component") {
    if (!(component instanceof Component)) {
        throw new TypeError(`${what} must be a Component`);
    }
    if (component.world !== undefined && component.world !== world) {
        throw new TypeError(`${what}: the component "${component.name}" is of another World`);
    }
    return component.number;
}

/** Return a value of a component: elements of its type, or a transform. */
export function checkComponent(component, value, what) {
    return component === TRANSFORM ? checkTransform(value, 12, what) : checkValues(value, component, what);
}

/** Return what a value of a component is written into. */
export function checkComponentOut(component, out) {
    return component === TRANSFORM ? checkTransformOut(out, 12)
        : checkTypedOut(out, component.array, component.length);
}

/** Copy a value of a component that checkComponent() accepts into memory. */
export function putComponent(address, component, values) {
    if (component === TRANSFORM) {
        putTransform(address, values);
    } else if (component.size !== 0) {
        new component.array(heap.buffer, address, component.length).set(values);
    }
}

/** Copy a value out of memory. */
export function getComponent(address, component, out) {
    return component === TRANSFORM ? getTransform(address, 12, out) : getElements(address, component, out);
}

function getElements(address, component, out = new component.array(component.length)) {
    out.set(new component.array(heap.buffer, address, component.length));
    return out;
}

const COMPONENT_VALUE_BYTES = 12;

// The component and the value of an entry; a component alone has no value, which means zeros.
function splitEntry(entry) {
    return Array.isArray(entry) ? entry : [entry, undefined];
}

/** Check a list of components and values. @returns the numbers of the components. */
export function checkEntries(world, list, what) {
    return Array.from(list, (entry, i) => {
        const [component, value] = splitEntry(entry);
        const number = numberOf(world, component, `${what}[${i}]`);

        if (Array.isArray(entry) && entry.length > 2) {
            throw new RangeError(`${what}[${i}] must be a component, or a component and its value`);
        }
        if (value !== undefined) {
            checkComponent(component, value, `${what}[${i}]`);
        }
        return number;
    });
}

/** Upper bound of the bytes that packValues() takes. */
export function sizeOfValues(list) {
    let size = align(COMPONENT_VALUE_BYTES * (list.length + 1)) + align(TRANSFORM_BYTES);

    for (const entry of list) {
        size += align(splitEntry(entry)[0]?.size ?? 0);
    }
    return size;
}

/**
 * Write an array of C's espl_component_value, of a list that checkEntries() accepts: the transform, unless it
 * is null, then the list.
 * @returns the address and the count.
 */
export function packValues(packer, world, list, transform) {
    const values = packer.take(COMPONENT_VALUE_BYTES * (list.length + 1));
    let count = 0;

    function add(number, size, data) {
        const at = (values >> 2) + 3 * count;

        heap.u32[at] = number;
        heap.u32[at + 1] = size;
        heap.u32[at + 2] = data;
        ++count;
    }

    if (transform !== null) {
        const address = packer.take(TRANSFORM_BYTES);

        putTransform(address, transform);
        add(TRANSFORM.number, TRANSFORM_BYTES, address);
    }
    for (const entry of list) {
        const [component, value] = splitEntry(entry);
        const number = numberOf(world, component);
        let address = 0;

        if (value !== undefined && component.size !== 0) {
            address = packer.take(component.size);
            putComponent(address, component, value);
        }
        add(number, component.size, address);
    }
    return [values, count];
}
