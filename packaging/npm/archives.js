// SPDX-License-Identifier: MIT
// The world as a value: images, archives and the deltas between them. Bytes are copied to and from the memory
// of the library.
import {
    checkBoolean, checkBytes, checkCount, checkFunction, checkHandle, checkHandles, checkNumber, checkObject,
    checkTypedOut, choose,
} from "./checks.js";
import {
    FAULT_BYTES, align, callWith, encode, heap, makeVersion, pointerOf, room, settle, wasm, zero,
} from "./engine.js";
import {
    ARCHIVE_HANDLES, ARCHIVE_SKIP_UNKNOWN, Component, IMAGE_RETAG, IMAGE_TRUSTED, Packer, checkComponent,
    componentTypes, extents, numberOf, putComponent,
} from "./values.js";
import { World } from "./world.js";

const ARCHIVE_DEF_BYTES = 56;
const READ_DEF_BYTES = 64;
const MIGRATION_BYTES = 16;
const INFO_BYTES = 52;
const noBytes = new Uint8Array();

/** A number for the layout of images. */
export const imageLayout = BigInt.asUintN(64, wasm.espl_image_layout());

// --- Images ---

// Write bytes and a fault behind them. @returns the addresses of both.
function putBytes(list, more = 0) {
    const packer = new Packer(list.reduce((sum, bytes) => sum + align(bytes.length), align(FAULT_BYTES) + more));
    const fault = zero(packer.take(FAULT_BYTES), FAULT_BYTES);

    return [packer, fault, ...list.map((bytes) => packer.put(bytes, Uint8Array))];
}

Object.defineProperty(World.prototype, "timeline", {
    configurable: true,
    get() {
        return BigInt.asUintN(64, wasm.espl_world_timeline(pointerOf(this)));
    },
});

World.prototype.imageSize = function imageSize() {
    return wasm.espl_image_size(pointerOf(this)) >>> 0;
};

World.prototype.saveImage = function saveImage(out = undefined) {
    const size = this.imageSize();
    const result = checkTypedOut(out, Uint8Array, size);
    const at = room(size);

    settle(wasm.espl_image_save(pointerOf(this), at, size), this);
    if (result === undefined) {
        return heap.u8.slice(at, at + size);
    }
    result.set(heap.u8.subarray(at, at + size));
    return result.subarray(0, size);
};

World.prototype.loadImage = function loadImage(bytes, options = {}) {
    const { trusted = false, retag = false } = checkObject(options, "options");
    const flags = (checkBoolean(trusted, "options.trusted") ? IMAGE_TRUSTED : 0) |
        (checkBoolean(retag, "options.retag") ? IMAGE_RETAG : 0);
    const given = checkBytes(bytes, "bytes", heap.buffer);
    const [, fault, at] = putBytes([given]);

    return settle(wasm.espl_image_load(pointerOf(this), at, given.length, flags, fault), this, fault);
};

// --- Archives ---

// Write C's espl_archive_def.
function putArchiveDef({ tops, extent = "owned", handles = false, user = noBytes, positionStep = 0,
    rotationBits = 0 }) {
    const list = tops === undefined ? []
        : typeof tops === "bigint" ? [checkHandle(tops, "options.tops")] : checkHandles(tops, "options.tops");
    const which = choose(extents, extent, "options.extent");
    const flags = checkBoolean(handles, "options.handles") ? ARCHIVE_HANDLES : 0;
    const data = checkBytes(user, "options.user", heap.buffer);
    const step = checkNumber(positionStep, "options.positionStep");
    const bits = checkCount(rotationBits, "options.rotationBits");
    // Handles in the library's memory are copied, because room() may detach their array.
    const copy = BigUint64Array.from(list);
    const packer = new Packer(align(8 * copy.length) + align(data.length) + align(ARCHIVE_DEF_BYTES));
    const def = zero(packer.take(ARCHIVE_DEF_BYTES), ARCHIVE_DEF_BYTES);
    const topsAt = packer.put(copy, BigUint64Array), dataAt = packer.put(data, Uint8Array);

    heap.u32.set([tops === undefined ? 0 : topsAt, copy.length, which, flags, dataAt, data.length], def >> 2);
    heap.f32[(def + 24) >> 2] = step;
    heap.u32[(def + 28) >> 2] = bits;
    return def;
}

// Collect what the library writes by a call that takes a function.
function collect(call) {
    const pieces = [];

    call((piece) => pieces.push(piece));
    const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let end = 0;
    for (const piece of pieces) {
        all.set(piece, end);
        end += piece.length;
    }
    return all;
}

World.prototype.writeArchiveTo = function writeArchiveTo(sink, options = {}) {
    const take = checkFunction(sink, "sink"), world = pointerOf(this);
    const def = putArchiveDef(checkObject(options, "options"));

    return settle(callWith({ take }, () => wasm.glue_archive_write(world, def)), this);
};

World.prototype.writeArchive = function writeArchive(options = {}) {
    return collect((take) => this.writeArchiveTo(take, options));
};

export function inspectArchive(bytes) {
    const given = checkBytes(bytes, "bytes", heap.buffer);
    const [packer, fault, at] = putBytes([given], align(INFO_BYTES));
    const info = packer.take(INFO_BYTES);

    settle(wasm.espl_archive_inspect(at, given.length, info, fault), undefined, fault);
    const [nodes, tops, major, minor, writer, user, userSize] =
        heap.u32.subarray(info >> 2, (info + INFO_BYTES) >> 2);

    return {
        nodes, tops, format: `${major}.${minor}`, writer: makeVersion(writer),
        user: heap.u8.slice(user, user + userSize),
    };
}

// Return a migration: null, a component, or an object with a function.
function checkMigration(world, name, given) {
    const what = `options.migrations.${name}`;
    const { to, convert, type = "u8" } = given === null || given instanceof Component ? { to: given }
        : checkObject(given, what);
    const array = choose(componentTypes, type, `${what}.type`);

    return {
        what, convert: convert === undefined ? undefined : checkFunction(convert, `${what}.convert`), to,
        array: array ?? Uint8Array, text: encode(name, what),
        number: to === null ? 0 : numberOf(world, to, given === to ? what : `${what}.to`),
    };
}

// Make the new value of a component at an address.
function convertValue({ what, to, convert, array }, bytes, address) {
    if (bytes.length % array.BYTES_PER_ELEMENT !== 0) {
        throw new RangeError(`${what}.type: a value has ${bytes.length} bytes`);
    }
    const value = convert(new array(bytes.buffer));

    if (value !== undefined) {
        putComponent(address, to, checkComponent(to, value, `${what}: the new value`));
    }
}

function putMigrations(packer, list) {
    const words = list.flatMap(({ text, number, convert }, i) =>
        [packer.put(text, Uint8Array), number, convert === undefined ? 0 : wasm.glue_converter(), i]);

    return packer.put(words, Uint32Array);
}

const KNOWN_BYTES = 16;

// Write C's espl_archive_known and return its address; 0 where there is none.
function putKnown(packer, known) {
    if (known === undefined) {
        return 0;
    }
    const address = packer.take(KNOWN_BYTES);

    heap.u32.set([packer.put(known.bytes, Uint8Array), known.bytes.length,
        packer.put(known.entities, BigUint64Array), known.entities.length], address >> 2);
    return address;
}

function checkKnown(known) {
    if (known === undefined) {
        return undefined;
    }
    const { bytes, entities } = checkObject(known, "options.known");

    return {
        bytes: checkBytes(bytes, "options.known.bytes", heap.buffer),
        entities: BigUint64Array.from(checkHandles(entities, "options.known.entities")),
    };
}

// Read an archive by a function of C, which gets its place and size, the definition, what is known, and a fault.
function read(world, bytes, options, known, call) {
    const { parent = 0n, migrations = {}, skipUnknown = false, nodeLimit = 0 } = checkObject(options, "options");
    const list = Object.entries(checkObject(migrations, "options.migrations"))
        .map(([name, given]) => checkMigration(world, name, given));
    const flags = checkBoolean(skipUnknown, "options.skipUnknown") ? ARCHIVE_SKIP_UNKNOWN : 0;
    const given = checkBytes(bytes, "bytes", heap.buffer), pointer = pointerOf(world);

    checkHandle(parent, "options.parent");
    checkCount(nodeLimit, "options.nodeLimit");
    const { nodes, tops } = inspectArchive(given);
    const [packer, fault, at] = putBytes([given], align(READ_DEF_BYTES) + align(8 * nodes) + align(8 * tops) +
        align(MIGRATION_BYTES * list.length) + list.reduce((sum, { text }) => sum + align(text.length), 0) +
        (known === undefined ? 0
            : align(KNOWN_BYTES) + align(known.bytes.length) + align(8 * known.entities.length)));
    const def = zero(packer.take(READ_DEF_BYTES), READ_DEF_BYTES);
    const entitiesAt = packer.take(8 * nodes), topsAt = packer.take(8 * tops);

    heap.u64[def >> 3] = parent;
    heap.u32.set([flags, putMigrations(packer, list), list.length, nodeLimit, entitiesAt, nodes, topsAt, tops],
        (def + 8) >> 2);
    const knownAt = putKnown(packer, known);
    const convert = (number, value, address) => convertValue(list[number], value, address);
    const status = settle(callWith({ convert }, () =>
        call(pointer, at, given.length, def, knownAt, fault)), world, fault);

    return {
        status,
        entities: new BigUint64Array(heap.buffer, entitiesAt, nodes).slice(),
        tops: new BigUint64Array(heap.buffer, topsAt, tops).slice(),
    };
}

World.prototype.readArchive = function readArchive(bytes, options = {}) {
    return read(this, bytes, options, undefined, (world, at, size, def, known, fault) =>
        wasm.espl_archive_read(world, at, size, def, fault));
};

World.prototype.applyArchive = function applyArchive(bytes, options = {}) {
    return read(this, bytes, options, checkKnown(checkObject(options, "options").known), wasm.espl_archive_apply);
};

// --- Deltas ---

// Return what a function of C makes of two lists of bytes.
function combine(call, first, second) {
    return collect((take) => {
        const [, fault, firstAt, secondAt] = putBytes([first, second]);
        const status = callWith({ take }, () =>
            call(firstAt, first.length, secondAt, second.length, fault));

        settle(status, undefined, fault);
    });
}

export function diffArchives(before, after) {
    return combine(wasm.glue_archive_delta, checkBytes(before, "before", heap.buffer),
        checkBytes(after, "after", heap.buffer));
}

export function patchArchive(before, delta) {
    return combine(wasm.glue_archive_patch, checkBytes(before, "before", heap.buffer),
        checkBytes(delta, "delta", heap.buffer));
}
