// SPDX-License-Identifier: MIT
// Renderables, their mirrors, what cameras see, and arrays of instances. Instances are written once, by the
// library, into memory that the arrays show without a copy.
import {
    checkBoolean, checkBytes, checkCount, checkList, checkNumber, checkNumbers, checkObject, checkWhole, choose,
} from "./checks.js";
import {
    EspalierError, Owned, POINTER, align, allocate, heap, pointerOf, putText, refuseInIteration, room, scratch,
    settle, wasm, zero,
} from "./engine.js";
import {
    CAMERA_ORTHOGRAPHIC, CLUSTER_SIZE, CULL_BY_ENTITY, CULL_INTERPOLATE, LOD_LIMIT, PLANE_LIMIT, Packer, clips,
    instanceForms, instanceWords, makeComponent,
} from "./values.js";
import { CachedView } from "./views.js";
import { World } from "./world.js";

const RENDERABLES_DEF_BYTES = 40;
// The words of C's espl_renderables_report before first_bad.
const REPORT_WORDS = 11;
const FIRST_BAD = 44, NUMBER = 56;
const LODS_BYTES = 76;
const CAMERA_BYTES = 216;
const CULL_DEF_BYTES = 28;
const ARRAYS_BYTES = 56;
const GROUP_WORDS = 3;
const MATRIX_BYTES = 64;
const ALL_LAYERS = 0xffffffff;
// A count at this offset in scratch goes with espl_instance_arrays at offset 0.
const COUNT = 64;

// --- Arrays of instances ---

/** Key of the method that writes C's espl_instance_arrays. */
const PUT = Symbol("put");

export class Instances extends Owned {
    #form;
    /** By name: the type, the elements of each instance, and the view; those that are wanted. */
    #lists;
    #capacity;

    constructor(world, options = {}) {
        pointerOf(world);
        const { form = "4x4", capacity = CLUSTER_SIZE, previous = false, entities = false, userData = false,
            sizes = false, cells = false } = checkObject(options, "options");
        const number = choose(instanceForms, form, "options.form");
        const lists = {};
        const add = (name, isWanted, type, words) => {
            if (isWanted) {
                lists[name] = { type, words, view: new CachedView() };
            }
        };

        // Handles first, because they have the largest alignment.
        add("entities", checkBoolean(entities, "options.entities"), BigUint64Array, 1);
        add("matrices", true, Float32Array, instanceWords[number]);
        add("previous", checkBoolean(previous, "options.previous"), Float32Array, instanceWords[number]);
        add("userData", checkBoolean(userData, "options.userData"), Uint32Array, 1);
        add("sizes", checkBoolean(sizes, "options.sizes"), Float32Array, 1);
        add("cells", checkBoolean(cells, "options.cells"), Int32Array, 3);
        checkCount(capacity, "options.capacity");
        super(world, allocateZeros(sizeOfLists(lists, capacity)), wasm.free);
        this.#form = number;
        this.#lists = lists;
        this.#capacity = capacity;
    }

    reserve(capacity) {
        const pointer = pointerOf(this);

        if (checkCount(capacity, "capacity") > this.#capacity) {
            const grown = allocateZeros(sizeOfLists(this.#lists, capacity));

            for (const [name, { type, words }] of Object.entries(this.#lists)) {
                const from = pointer + offsetOf(this.#lists, name, this.#capacity);

                heap.u8.copyWithin(grown + offsetOf(this.#lists, name, capacity), from,
                    from + type.BYTES_PER_ELEMENT * words * this.#capacity);
            }
            wasm.free(pointer);
            this[POINTER] = grown;
            this.#capacity = capacity;
        }
    }

    /** Make room for so many instances behind the first ones; let calls that need a little more each find it. */
    [PUT](first, count) {
        pointerOf(this);
        if (first + count > this.#capacity) {
            this.reserve(Math.max(first + count, 2 * this.#capacity));
        }
        const at = (name) => {
            const list = this.#lists[name];

            return list === undefined ? 0 : pointerOf(this) + offsetOf(this.#lists, name, this.#capacity) +
                list.type.BYTES_PER_ELEMENT * list.words * first;
        };

        heap.u32.set([at("matrices"), 0, this.#form, at("previous"), 0, at("entities"), at("userData"), at("sizes"),
            at("cells")], zero(scratch, ARRAYS_BYTES) >> 2);
        return scratch;
    }

    #show(name) {
        const pointer = pointerOf(this), list = this.#lists[name];

        return list === undefined ? null : list.view.at(list.type,
            pointer + offsetOf(this.#lists, name, this.#capacity), list.words * this.#capacity);
    }

    get capacity() {
        return this.#capacity;
    }

    get matrices() {
        return this.#show("matrices");
    }

    get previous() {
        return this.#show("previous");
    }

    get entities() {
        return this.#show("entities");
    }

    get userData() {
        return this.#show("userData");
    }

    get sizes() {
        return this.#show("sizes");
    }

    get cells() {
        return this.#show("cells");
    }
}

function sizeOfLists(lists, capacity) {
    return Object.values(lists).reduce((sum, { type, words }) =>
        sum + align(type.BYTES_PER_ELEMENT * words * capacity), 0);
}

function offsetOf(lists, name, capacity) {
    const names = Object.keys(lists);

    return sizeOfLists(names.slice(0, names.indexOf(name)).map((before) => lists[before]), capacity);
}

function allocateZeros(size) {
    return zero(allocate(Math.max(1, size)), size);
}

// --- Mirrors ---

/** Key of the address of a mirror, which throws once there is a newer one. */
const ADDRESS = Symbol("address");
/** Key of the method by which renderables end their mirror. */
const END = Symbol("end");

export class Mirror {
    #world;
    #address;
    #user;
    #view = new CachedView();

    constructor(world, address, userSize) {
        this.#world = world;
        this.#address = address;
        wasm.espl_mirror_describe(address, scratch);
        const [renderables, clusters, user] = heap.u32.subarray((scratch >> 2) + 2, (scratch >> 2) + 5);
        this.number = Number(heap.u64[scratch >> 3]);
        this.renderables = renderables;
        this.clusters = clusters;
        this.#user = [user, userSize];
        Object.freeze(this);
    }

    [END]() {
        this.#address = 0;
    }

    get [ADDRESS]() {
        if (this.#address === 0) {
            const text = "the renderables have a newer mirror, or are closed";
            throw new EspalierError("CLOSED", undefined, text, text);
        }
        return this.#address;
    }

    get user() {
        const [at, size] = this.#user;

        void this[ADDRESS]; // throws where it has ended
        return this.#view.at(Uint8Array, at, size);
    }

    changed(since = 0) {
        const number = checkWhole(since, "since"), address = this[ADDRESS];
        const count = wasm.espl_mirror_changed(address, number, 0, 0);
        const clusters = room(4 * count);

        wasm.espl_mirror_changed(address, number, count, clusters);
        return new Uint32Array(heap.buffer, clusters, count).slice();
    }

    write(cluster, instances, first = 0) {
        checkCount(cluster, "cluster");
        checkInstances(instances);
        const at = checkCount(first, "first"), address = this[ADDRESS];

        settle(wasm.espl_mirror_write(address, cluster, instances[PUT](at, CLUSTER_SIZE), scratch + COUNT),
            this.#world);
        return heap.u32[(scratch + COUNT) >> 2];
    }
}

function checkInstances(value) {
    if (!(value instanceof Instances)) {
        throw new TypeError("instances must be Instances");
    }
}

// --- Renderables ---

export class Renderables extends Owned {
    #userSize;
    #mirror = null;

    constructor(world, options = {}) {
        const pointer = pointerOf(world);
        const { cellSize = 0, refileBudget = 0, userSize = 0 } = checkObject(options, "options");
        const def = zero(scratch, RENDERABLES_DEF_BYTES);

        heap.f32[(def + 4) >> 2] = checkNumber(cellSize, "options.cellSize");
        heap.u32.set([checkCount(refileBudget, "options.refileBudget"), checkCount(userSize, "options.userSize")],
            (def + 8) >> 2);
        settle(wasm.espl_renderables_create(pointer, def, scratch), world);
        super(world, heap.u32[scratch >> 2], wasm.espl_renderables_destroy);
        const find = (name, type, length) => makeComponent(world,
            wasm.espl_component_find(pointer, putText(name, "name")), name, type, length);
        this.#userSize = userSize;
        this.bounds = find("bounds", "f32", 6);
        this.renderable = find("renderable", "u32", 3);
        this.layers = find("layers", "u32", 2);
    }

    reserve(count) {
        return settle(wasm.espl_renderables_reserve(pointerOf(this), checkCount(count)), this.world);
    }

    update(user = undefined) {
        const pointer = pointerOf(this);
        let at = 0;

        if (user !== undefined) {
            const bytes = checkBytes(user, "user", heap.buffer);

            if (bytes.length !== this.#userSize) {
                throw new RangeError(`user must be ${this.#userSize} bytes, and ${bytes.length} are given`);
            }
            at = room(bytes.length);
            heap.u8.set(bytes, at);
        }
        const status = settle(wasm.espl_renderables_update(pointer, at, scratch), this.world);
        const [renderables, moving, clusters, marked, moved, added, removed, rewritten, refiled, waiting, bad] =
            heap.u32.subarray(scratch >> 2, (scratch >> 2) + REPORT_WORDS);
        // A handle of C is two words, at an address that a view of 64 bits need not have.
        const [index, generation] = heap.u32.subarray((scratch + FIRST_BAD) >> 2, ((scratch + FIRST_BAD) >> 2) + 2);
        const number = Number(heap.u64[(scratch + NUMBER) >> 3]);

        this.#mirror?.[END]();
        this.#mirror = null;
        return { status, renderables, moving, clusters, marked, moved, added, removed, rewritten, refiled, waiting,
            bad, firstBad: BigInt(generation) << 32n | BigInt(index), number };
    }

    get mirror() {
        const address = wasm.espl_renderables_acquire(pointerOf(this));

        if (this.#mirror === null && address !== 0) {
            this.#mirror = new Mirror(this.world, address, this.#userSize);
        }
        return this.#mirror;
    }

    addLods(levels) {
        const list = checkList(levels, "levels").map((level, i) => {
            const { key, size } = checkObject(level, `levels[${i}]`);

            return { key: checkCount(key, `levels[${i}].key`), size: checkNumber(size, `levels[${i}].size`) };
        });
        const at = zero(scratch, LODS_BYTES) >> 2;

        // C refuses more than it has room for by their count.
        list.slice(0, LOD_LIMIT).forEach(({ key, size }, i) => {
            heap.u32[at + i] = key;
            heap.f32[at + LOD_LIMIT + i] = size;
        });
        heap.u32[at + 2 * LOD_LIMIT] = list.length;
        settle(wasm.espl_renderables_add_lods(pointerOf(this), scratch, scratch + LODS_BYTES), this.world);
        return heap.u32[(scratch + LODS_BYTES) >> 2];
    }

    // The library does not end renderables while the world is in iteration.
    close() {
        refuseInIteration(this);
        this.#mirror?.[END]();
        this.#mirror = null;
        super.close();
    }
}

// --- Cameras ---

// Check a camera: what putCamera() takes.
function checkCamera(camera, what) {
    const { matrix, planes = [], clip = "minusOneToOne", layers = ALL_LAYERS, origin = [0, 0, 0], eye = [0, 0, 0],
        pixels = 0, leastSize = 0, orthographic = false, cell = [0, 0, 0] } = checkObject(camera, what);

    if (matrix !== undefined) {
        checkNumbers(matrix, 16, what, Float32Array, "matrix");
        if (camera.planes !== undefined) {
            throw new TypeError(`${what} has a matrix or planes, not both`);
        }
    }
    checkList(planes, `${what}.planes`).forEach((plane, i) =>
        checkNumbers(plane, 4, what, Float32Array, `planes[${i}]`));
    return {
        matrix,
        planes,
        clip: choose(clips, clip, `${what}.clip`),
        layers: checkCount(layers, `${what}.layers`),
        origin: checkNumbers(origin, 3, what, Float64Array, "origin"),
        eye: checkNumbers(eye, 3, what, Float32Array, "eye"),
        pixels: checkNumber(pixels, `${what}.pixels`),
        leastSize: checkNumber(leastSize, `${what}.leastSize`),
        flags: checkBoolean(orthographic, `${what}.orthographic`) ? CAMERA_ORTHOGRAPHIC : 0,
        cell: checkNumbers(cell, 3, what, Int32Array, "cell"),
    };
}

// Write C's espl_camera. `place` has room for a matrix.
function putCamera(address, camera, place) {
    const { matrix, planes, clip, layers, origin, eye, pixels, leastSize, flags, cell } = camera;
    const at = zero(address, CAMERA_BYTES) >> 2;

    if (matrix !== undefined) {
        heap.f32.set(matrix, place >> 2);
        settle(wasm.espl_camera_from_matrix(place, clip, address));
    } else {
        // C refuses more planes than it has room for by their count.
        planes.slice(0, PLANE_LIMIT).forEach((plane, i) => heap.f32.set(plane, at + 4 * i));
        heap.u32[at + 32] = planes.length;
    }
    heap.u32[at + 33] = layers;
    new Float64Array(heap.buffer, address + 136, 3).set(origin);
    heap.f32.set(eye, at + 40);
    heap.f32.set([pixels, leastSize], at + 43);
    heap.u32[at + 45] = flags;
    heap.i32.set(cell, at + 46);
}

// --- What cameras see ---

export class Visible extends Owned {
    #mirror;

    constructor(world) {
        pointerOf(world);
        settle(wasm.espl_visible_create(0, scratch), world);
        super(world, heap.u32[scratch >> 2], wasm.espl_visible_destroy);
    }

    cull(mirror, cameras, options = {}) {
        if (!(mirror instanceof Mirror)) {
            throw new TypeError("mirror must be a Mirror, which Renderables have after the first update()");
        }
        const list = Array.isArray(cameras) ? cameras.map((camera, i) => checkCamera(camera, `cameras[${i}]`))
            : [checkCamera(cameras, "cameras")];
        const { alpha, byEntity = false } = checkObject(options, "options");
        const flags = (alpha !== undefined ? CULL_INTERPOLATE : 0) |
            (checkBoolean(byEntity, "options.byEntity") ? CULL_BY_ENTITY : 0);

        if (alpha !== undefined) {
            checkNumber(alpha, "options.alpha");
        }
        const pointer = pointerOf(this), address = mirror[ADDRESS];
        const packer = new Packer(align(CAMERA_BYTES * list.length) + MATRIX_BYTES);
        const at = packer.take(CAMERA_BYTES * list.length), matrix = packer.take(MATRIX_BYTES);

        list.forEach((camera, i) => putCamera(at + CAMERA_BYTES * i, camera, matrix));
        const def = zero(scratch, CULL_DEF_BYTES);
        heap.f32[def >> 2] = alpha ?? 0;
        heap.u32[(def + 4) >> 2] = flags;
        const status = settle(wasm.espl_cull(pointer, address, at, list.length, def), this.world);
        this.#mirror = mirror;
        return status;
    }

    // The address and the number of the groups of a camera.
    #find(camera) {
        const first = wasm.espl_visible_groups(pointerOf(this), checkCount(camera, "camera"), scratch);

        return [first >> 2, heap.u32[scratch >> 2]];
    }

    groups(camera = 0) {
        const [at, length] = this.#find(camera);

        return Array.from({ length }, (_, i) => {
            const [key, first, count] = heap.u32.subarray(at + GROUP_WORDS * i, at + GROUP_WORDS * (i + 1));

            return { key, first, count };
        });
    }

    count(camera = 0) {
        const [at, length] = this.#find(camera);

        return length === 0 ? 0 : heap.u32[at + GROUP_WORDS * length - 2] + heap.u32[at + GROUP_WORDS * length - 1];
    }

    write(instances, camera = 0, first = 0) {
        checkInstances(instances);
        const at = checkCount(first, "first"), count = this.count(camera);

        void this.#mirror?.[ADDRESS]; // throws where it has ended
        settle(wasm.espl_visible_write(pointerOf(this), camera, instances[PUT](at, count)), this.world);
        return count;
    }
}

// --- Short forms of the world ---

World.prototype.renderables = function renderables(options) {
    return new Renderables(this, options);
};
World.prototype.visible = function visible() {
    return new Visible(this);
};
World.prototype.instances = function instances(options) {
    return new Instances(this, options);
};
