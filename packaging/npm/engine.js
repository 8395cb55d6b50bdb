// SPDX-License-Identifier: MIT
// Loads the library. Exports its functions and its memory, memory for arguments, statuses as exceptions, and
// the base of objects that are closed.

import { checkHandle } from "./checks.js";

// A module with one instruction of SIMD128: WebAssembly.validate() is false in engines without SIMD.
const simdProbe = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253,
    98, 11,
]);

/** Typed arrays of the library's whole memory; makeViews() replaces them each time the memory grows. */
export const heap = {};

/** Messages of the current call: each has the world's number, the level and the line. */
let messages = [];
/** The functions of the call that is under way, and what one of them has thrown; undefined outside. */
let calling;
/** Listeners by the numbers of their worlds. */
export const listeners = new Map();

export const logLevels = ["info", "warning", "error"];
const decoder = new TextDecoder();
const encoder = new TextEncoder();

const ERRNO_BAD_FILE = 8;
let printed = "";

const imports = {
    espalier: {
        keep_message(number, level, text) {
            messages.push([number, logLevels[level], getString(text)]);
        },
        keep_fault(number, sentence) {
            messages.push([number, "error", `wrong use: ${getString(sentence)}`]);
        },
        take_bytes: (at, size) => callBack(({ take }) => take(heap.u8.slice(at, at + size)) !== false),
        convert: (number, data, size, to) => callBack((functions) => {
            functions.convert(number, heap.u8.slice(data, data + size), to);
            return true;
        }),
    },
    env: {
        emscripten_notify_memory_growth: makeViews,
    },
    // The library calls these for the times of a trace, and to print before it stops at a failed assertion.
    wasi_snapshot_preview1: {
        environ_get: () => 0,
        environ_sizes_get(count, size) {
            heap.u32[count >> 2] = 0;
            heap.u32[size >> 2] = 0;
            return 0;
        },
        clock_time_get(clock, precision, out) {
            heap.u64[out >> 3] = BigInt(Math.round(performance.now() * 1e6));
            return 0;
        },
        fd_close: () => ERRNO_BAD_FILE,
        fd_seek: () => ERRNO_BAD_FILE,
        fd_write(file, parts, count, out) {
            let size = 0;
            for (let i = 0; i < count; ++i) {
                const at = (parts >> 2) + 2 * i;
                printed += decoder.decode(heap.u8.slice(heap.u32[at], heap.u32[at] + heap.u32[at + 1]));
                size += heap.u32[at + 1];
            }
            heap.u32[out >> 2] = size;
            return 0;
        },
        proc_exit() {
            throw new Error(printed || "the library stopped");
        },
    },
};

async function load() {
    const hasSimd = WebAssembly.validate(simdProbe);
    const text = (await (hasSimd ? import("./wasm-simd.js") : import("./wasm-scalar.js"))).default;
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

    return (await WebAssembly.instantiate(bytes, imports)).instance.exports;
}

/** Functions of the library and of glue.c. */
export const wasm = await load();
makeViews();
wasm._initialize();

function makeViews() {
    const buffer = wasm.memory.buffer;

    heap.buffer = buffer;
    heap.u8 = new Uint8Array(buffer);
    heap.i32 = new Int32Array(buffer);
    heap.u32 = new Uint32Array(buffer);
    heap.u64 = new BigUint64Array(buffer);
    heap.f32 = new Float32Array(buffer);
}

const SCRATCH_BYTES = 1024;
/** Address of memory for structs, values and handles of one call. */
export const scratch = allocate(SCRATCH_BYTES);
/** Offset of a value in scratch; a struct that goes with it is at offset 0. */
export const SCRATCH_VALUE = 256;
const SCRATCH_HANDLES = SCRATCH_BYTES - 16;

/**
 * Write a call's first handle (place 0) or second one (place 1), and return its address. By the C ABI of
 * WebAssembly an espl_entity is passed by its address; a function that returns one takes the result's address
 * as its first argument.
 */
export function putHandle(entity, place = 0, what = "entity") {
    const address = scratch + SCRATCH_HANDLES + 8 * place;

    heap.u64[address >> 3] = checkHandle(entity, what);
    return address;
}

/** Read a handle that a call has returned. */
export function getHandle(address) {
    return heap.u64[address >> 3];
}

/** Write zeros: in a struct that grows every byte that has no meaning yet must be 0. */
export function zero(address, bytes) {
    heap.u8.fill(0, address, address + bytes);
    return address;
}

// --- Memory for arguments of any size: one block, because no two calls run at once ---

let roomAddress = 0;
let roomSize = 0;

/** Round a size up to a multiple of 16, the largest alignment of a value. */
export function align(size) {
    return 16 * Math.ceil(size / 16);
}

/** Allocate a block. The memory may grow, which detaches every view. */
export function allocate(size) {
    const address = size < 0x7fffffff ? wasm.malloc(size) : 0;

    if (address === 0) {
        throw makeError(-1);
    }
    return address;
}

const ROOM_LEAST = 4096;
// A larger block than this is freed when a call needs less than an eighth of it.
const ROOM_KEPT = 1 << 20;

/** Return the address of a block for the arguments of the next call. The memory may grow. */
export function room(size) {
    refuseInCallback();
    if (size > roomSize || (roomSize > ROOM_KEPT && size < roomSize / 8)) {
        wasm.free(roomAddress);
        roomAddress = roomSize = 0;
        roomAddress = allocate(Math.max(ROOM_LEAST, size));
        roomSize = Math.max(ROOM_LEAST, size);
    }
    return roomAddress;
}

// Take the block now, because a growth at the first call would detach the views that are its arguments.
room(ROOM_LEAST);

// --- Text ---

/** Return the text of a number of C's ESPL_VERSION(): "0.2.0". */
export function makeVersion(number) {
    return [1000000, 1000, 1].map((unit) => Math.floor(number / unit) % 1000).join(".");
}

export function getString(address) {
    return decoder.decode(heap.u8.slice(address, heap.u8.indexOf(0, address)));
}

/** Return the bytes of a text, and the 0 that ends it. */
export function encode(text, what) {
    if (typeof text !== "string" || text.includes("\0")) {
        throw new TypeError(`${what} must be a text without U+0000`);
    }
    return encoder.encode(text + "\0");
}

/** Write a text into room(), and return its address. */
export function putText(text, what) {
    const bytes = encode(text, what);
    const address = room(bytes.length);

    heap.u8.set(bytes, address);
    return address;
}

// --- Statuses ---

const names = new Map();

/** Return the name of a status, for example "ESPL_OK". */
export function nameOf(status) {
    let name = names.get(status);

    if (name === undefined) {
        name = getString(wasm.espl_status_name(status));
        names.set(status, name);
    }
    return name;
}

export class EspalierError extends Error {
    constructor(status, code, text, message) {
        super(message ?? `${status}: ${text}`);
        this.name = "EspalierError";
        this.status = status;
        this.code = code;
        this.text = text;
        this.offset = undefined;
        this.sentence = undefined;
    }
}

export function makeError(status, message) {
    return new EspalierError(nameOf(status), status, getString(wasm.espl_status_text(status)), message);
}

/** The bytes of C's espl_format_fault. */
export const FAULT_BYTES = 40;

// Tell in an error what C has written into an espl_format_fault.
function addFault(error, fault) {
    const sentence = heap.u32[(fault + 8) >> 2];

    if (sentence !== 0) {
        error.offset = Number(heap.u64[fault >> 3]);
        error.sentence = getString(sentence);
        // The message of a world has it already; there is none without a world.
        if (!error.message.includes(error.sentence)) {
            error.message += ` ${error.sentence} (byte ${error.offset})`;
        }
    }
}

/**
 * End a call: deliver its messages to the listeners; throw where the status is an error, else store its name
 * in the world and return it.
 * @param fault  the address of the call's espl_format_fault; 0: it has none.
 */
export function settle(status, world, fault = 0) {
    const error = status < 0 ? makeError(status, explain(status, world)) : undefined;

    if (error !== undefined && fault !== 0) {
        addFault(error, fault);
    }
    if (messages.length !== 0 && calling === undefined) {
        const said = messages;

        messages = [];
        deliver(said.filter(([number]) => listeners.has(number)));
    }
    if (error !== undefined) {
        throw error;
    }
    const name = nameOf(status);
    if (world !== undefined) {
        world[STATUS] = name;
    }
    return name;
}

// The message of an error. Where iterations of queries are under way in JavaScript, it says so in the words of
// JavaScript, because C names its own functions.
function explain(status, world) {
    const said = refusalIn(messages, nameOf(status));
    const open = status === ERR_BUSY && world !== undefined
        ? [...world[OWNED]].filter((owned) => owned.isIteration).length : 0;

    return open === 0 ? said : `${said ?? nameOf(status)} (Iterators of a Query of this World that are not at ` +
        `their end: ${open}. Leave the for-of loop, or call return() of the iterator.)`;
}

// Return the last line of the call that names the status. It names the call and its entities as well.
function refusalIn(said, name) {
    return said.filter((message) => message[2].includes(name)).pop()?.[2];
}

// A listener may call the library while results of the call that ends are still in scratch and room(), so
// both are kept. An exception of a listener is reported as uncaught, because the call itself is done.
function deliver(said) {
    if (said.length === 0) {
        return;
    }
    const scratchKept = heap.u8.slice(scratch, scratch + SCRATCH_BYTES);
    const addressKept = roomAddress, sizeKept = roomSize;

    roomAddress = roomSize = 0;
    for (const [number, level, line] of said) {
        try {
            listeners.get(number)?.(level, line);
        } catch (error) {
            queueMicrotask(() => {
                throw error;
            });
        }
    }
    wasm.free(roomAddress);
    roomAddress = addressKept;
    roomSize = sizeKept;
    heap.u8.set(scratchKept, scratch);
}

// --- Functions of JavaScript that the library calls ---

// Call a function that takes the functions. An exception must not pass the library: it is kept for callWith().
function callBack(body) {
    try {
        return body(calling) ? 1 : 0;
    } catch (error) {
        calling.thrown = { error };
        return 0;
    }
}

/**
 * Call the library, which may call back: `take` with bytes, which it refuses by false, and `convert` with the
 * number of a migration, a value and the address of the new one. What they throw is thrown.
 */
export function callWith(functions, call) {
    let thrown, status;

    calling = { ...functions, thrown: undefined };
    try {
        status = call();
    } finally {
        ({ thrown } = calling);
        calling = undefined;
    }
    if (thrown !== undefined) {
        settle(0);
        throw thrown.error;
    }
    return status;
}

/** Throw in a function that the library calls, whose arguments another call would overwrite. */
export function refuseInCallback() {
    if (calling !== undefined) {
        throw makeError(ERR_BUSY,
            "ESPL_ERR_BUSY: a sink and a migration must not use the package, except quat");
    }
}

// --- Objects that own memory of the library ---

/** Key of an object's address in memory; 0 once it is closed. */
export const POINTER = Symbol("pointer");
/** Key of the name of a world's last status. */
export const STATUS = Symbol("status");
const ERR_BUSY = -10;
/** Key of the set of objects that a world closes before itself. */
export const OWNED = Symbol("owned");

/** Return the address of an object that is not closed. */
export function pointerOf(object) {
    const pointer = object?.[POINTER];

    refuseInCallback();
    if (!pointer) {
        if (pointer === 0) {
            const text = `this ${object.constructor.name} is closed`;
            throw new EspalierError("CLOSED", undefined, text, text);
        }
        throw new TypeError("not an object of this package");
    }
    return pointer;
}

/** Let the end of a `using` declaration call close(), where the engine has such declarations. */
export function makeDisposable(type) {
    if (Symbol.dispose !== undefined) {
        Object.defineProperty(type.prototype, Symbol.dispose, {
            configurable: true,
            writable: true,
            value() {
                this.close();
            },
        });
    }
}

/** An object that owns a block of memory, until close() or until its world closes. */
export class Owned {
    #world;
    #free;

    constructor(world, address, free) {
        this[POINTER] = address;
        this.#world = world;
        this.#free = free;
        world[OWNED].add(this);
    }

    close() {
        const address = this[POINTER];

        if (address !== 0) {
            refuseInCallback();
            this[POINTER] = 0;
            this.#world[OWNED].delete(this);
            this.#free(address);
            settle(0);
        }
    }

    get world() {
        return this.#world;
    }

    get isClosed() {
        return this[POINTER] === 0;
    }
}

makeDisposable(Owned);

/** Throw where an object that is not closed must stay, because its world is in iteration. */
export function refuseInIteration(object) {
    if (!object.isClosed && [...object.world[OWNED]].some((owned) => owned.isIteration)) {
        throw makeError(ERR_BUSY, "ESPL_ERR_BUSY: an iteration of a query of this World is not at its end");
    }
}
