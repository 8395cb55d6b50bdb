// SPDX-License-Identifier: MIT
// What shows the library's memory without a copy: chunks of queries, hierarchies, and batches. Every view
// comes from a getter that makes it anew where the memory has grown since.
import {
    EspalierError, OWNED, POINTER, SCRATCH_VALUE, align, allocate, checkCount, getHandle, heap,
    makeDisposable, pointerOf, putHandle, scratch, settle, wasm,
} from "./engine.js";
import {
    INCLUDE_DISABLED, INCLUDE_PREFABS, NO_RANK, Packer, chooseKind, numberOf,
} from "./values.js";
import { World, writeStrided } from "./world.js";

const QUERY_BYTES = 256;
const QUERY_DEF_BYTES = 48;
const VIEW_BYTES = 20;
const POSE_WORDS = 8;

/** One view of memory, which is made anew only where it lies elsewhere, or the memory has grown. */
class Window {
    #array;

    at(type, address, length) {
        const array = this.#array;

        if (array === undefined || array.buffer !== heap.buffer || array.byteOffset !== address ||
            array.length !== length) {
            this.#array = new type(heap.buffer, address, length);
        }
        return this.#array;
    }
}

// --- Queries ---

export class Query {
    #world;
    #lists;
    #include;
    #since;

    constructor(world, { all = [], none = [], any = [], changed = [], since = 0n, includePrefabs = false,
        includeDisabled = false } = {}) {
        pointerOf(world);
        this.#world = world;
        this.#lists = [all, none, any, changed].map((list) =>
            Array.from(list, (component) => numberOf(world, component)));
        this.#include = (includePrefabs ? INCLUDE_PREFABS : 0) | (includeDisabled ? INCLUDE_DISABLED : 0);
        this.#since = since;
    }

    get world() {
        return this.#world;
    }

    get since() {
        return this.#since;
    }

    set since(version) {
        this.#since = BigInt.asUintN(64, version);
    }

    *[Symbol.iterator]() {
        const iteration = new Iteration(this.#world, this.#lists, this.#since, this.#include);

        try {
            for (let chunk = iteration.next(); chunk !== null; chunk = iteration.next()) {
                yield chunk;
            }
        } finally {
            iteration.close();
        }
    }

    entities() {
        const parts = [];
        let count = 0;

        for (const chunk of this) {
            parts.push(chunk.entities.slice());
            count += chunk.count;
        }
        const all = new BigUint64Array(count);
        let at = 0;
        for (const part of parts) {
            all.set(part, at);
            at += part.length;
        }
        return all;
    }
}

/** One iteration of a query; the world is in iteration until it is closed. */
class Iteration {
    /** Counts the chunks, so that one that is kept too long can tell. */
    turn = 0;

    constructor(world, lists, since, include) {
        const pointer = pointerOf(world);

        this.world = world;
        this[POINTER] = allocate(QUERY_BYTES);
        world[OWNED].add(this);
        try {
            const sizes = lists.reduce((sum, list) => sum + align(4 * list.length), 0);
            const packer = new Packer(sizes + align(QUERY_DEF_BYTES));
            const def = packer.take(QUERY_DEF_BYTES);

            lists.forEach((list, i) => {
                heap.u32[(def >> 2) + 2 * i] = packer.put(list, Uint32Array, 0);
                heap.u32[(def >> 2) + 2 * i + 1] = list.length;
            });
            heap.u64[(def + 32) >> 3] = since;
            heap.u32.set([include, 0], (def + 40) >> 2);
            settle(wasm.espl_query_begin_sized(pointer, def, this[POINTER], QUERY_DEF_BYTES), world);
        } catch (error) {
            this.#release();
            throw error;
        }
    }

    next() {
        const pointer = pointerOf(this);

        ++this.turn;
        return wasm.espl_query_next(pointer) ? new Chunk(this) : null;
    }

    close() {
        if (this[POINTER] !== 0) {
            wasm.espl_query_end(this[POINTER]);
            this.#release();
        }
    }

    #release() {
        wasm.free(this[POINTER]);
        this[POINTER] = 0;
        this.world[OWNED].delete(this);
    }
}

export class Chunk {
    #iteration;
    #turn;
    #entities = new Window();
    #slots = new Window();
    #poses = new Window();

    constructor(iteration) {
        this.#iteration = iteration;
        this.#turn = iteration.turn;
    }

    // Address of the query, whose fields describe this chunk as long as the iteration stays here.
    #query() {
        if (this.#turn !== this.#iteration.turn || this.#iteration[POINTER] === 0) {
            const text = "the iteration has left this chunk";
            throw new EspalierError("CLOSED", undefined, text, text);
        }
        return this.#iteration[POINTER];
    }

    get count() {
        return heap.u32[this.#query() >> 2];
    }

    get entities() {
        const at = this.#query() >> 2;

        return this.#entities.at(BigUint64Array, heap.u32[at + 1], heap.u32[at]);
    }

    get slots() {
        const at = this.#query() >> 2;
        const address = heap.u32[at + 2];

        return address === 0 ? null : this.#slots.at(Uint32Array, address, heap.u32[at]);
    }

    get poses() {
        const slots = this.slots;

        if (slots === null) {
            return null;
        }
        let last = 0;
        for (const slot of slots) {
            last = Math.max(last, slot);
        }
        return this.#poses.at(Float32Array, heap.u32[(this.#query() >> 2) + 3], POSE_WORDS * (last + 1));
    }

    read(component) {
        return this.#column(component, wasm.espl_query_read);
    }

    write(component) {
        return this.#column(component, wasm.espl_query_write);
    }

    #column(component, get) {
        const query = this.#query();
        const number = numberOf(this.#iteration.world, component);
        const address = get(query, number, component.size);

        settle(0);
        return address === 0 || component.array === null ? null
            : new component.array(heap.buffer, address, component.length * this.count);
    }

    readTransforms(kind, out) {
        const { words, array, read } = chooseKind(kind, "read");
        const query = this.#query();
        const count = words * this.count;
        const result = out ?? new array(count);
        const values = new Packer(align(4 * count)).take(4 * count);

        if (!(result instanceof array) || result.length < count) {
            throw new RangeError(`out must be a ${array.name} of ${count} or more`);
        }
        settle(wasm.espl_query_read_transforms(query, read, values, 4 * words), this.#iteration.world);
        result.set(new array(heap.buffer, values, count));
        return result;
    }
}

// --- Hierarchies ---

export class HierarchyView {
    #world;
    #entity;
    #poses = new Window();

    constructor(world, entity) {
        this.#world = world;
        this.#entity = entity;
        this.#refresh();
    }

    // View the hierarchy as it is now. The call only reads where nothing has changed, and takes a
    // constant time then, but for the way to the root.
    #refresh() {
        settle(wasm.espl_view_hierarchy_sized(pointerOf(this.#world), putHandle(this.#entity), scratch,
            VIEW_BYTES), this.#world);
        return heap.u32.subarray(scratch >> 2, (scratch + VIEW_BYTES) >> 2);
    }

    get world() {
        return this.#world;
    }

    get count() {
        return this.#refresh()[0];
    }

    get poses() {
        const [count, first, , worlds] = this.#refresh();

        return this.#poses.at(Float32Array, worlds + 4 * POSE_WORDS * first, POSE_WORDS * count);
    }

    parents() {
        const [count, first, parents] = this.#refresh();
        const slots = new Uint32Array(heap.buffer, parents, count);

        return Int32Array.from(slots, (slot) => slot === NO_RANK ? -1 : slot - first);
    }

    entities() {
        const [count] = this.#refresh(), found = scratch + SCRATCH_VALUE;

        return BigUint64Array.from({ length: count }, (_, rank) => {
            wasm.espl_view_entity(found, scratch, rank);
            return getHandle(found);
        });
    }
}

// --- Batches ---

export class Batch {
    #world;
    #kind;
    #capacity;
    #entities = new Window();
    #values = new Window();

    constructor(world, kind, capacity) {
        pointerOf(world);
        this.#world = world;
        this.#kind = chooseKind(kind, "words");
        this.#capacity = checkCount(capacity, "capacity");
        this[POINTER] = allocate(Math.max(1, (8 + 4 * this.#kind.words) * capacity));
        world[OWNED].add(this);
        this.entities.fill(0n);
        this.values.fill(0);
    }

    close() {
        if (this[POINTER] !== 0) {
            wasm.free(this[POINTER]);
            this[POINTER] = 0;
            this.#world[OWNED].delete(this);
        }
    }

    get world() {
        return this.#world;
    }

    get isClosed() {
        return this[POINTER] === 0;
    }

    get capacity() {
        return this.#capacity;
    }

    get entities() {
        return this.#entities.at(BigUint64Array, pointerOf(this), this.#capacity);
    }

    // Behind the handles.
    get #valuesAt() {
        return pointerOf(this) + 8 * this.#capacity;
    }

    get values() {
        return this.#values.at(this.#kind.array, this.#valuesAt, this.#kind.words * this.#capacity);
    }

    #checkWay(way, count) {
        if (this.#kind[way] === undefined) {
            throw new TypeError(`the kind of this Batch has no ${way}`);
        }
        if (checkCount(count) > this.#capacity) {
            throw new RangeError(`the Batch has a capacity of ${this.#capacity}`);
        }
        return this.#kind[way];
    }

    read(count = this.#capacity) {
        const kind = this.#checkWay("read", count);

        return settle(wasm.espl_read_strided(pointerOf(this.#world), kind, pointerOf(this), 8, this.#valuesAt,
            4 * this.#kind.words, count), this.#world);
    }

    write(count = this.#capacity) {
        const kind = this.#checkWay("write", count);

        return writeStrided(this.#world, kind, this.#kind.words, pointerOf(this), this.#valuesAt, count);
    }
}

makeDisposable(Batch);

// --- Short forms of the world ---

World.prototype.query = function query(definition) {
    return new Query(this, definition);
};
World.prototype.view = function view(entity) {
    return new HierarchyView(this, entity);
};
World.prototype.batch = function batch(kind, capacity) {
    return new Batch(this, kind, capacity);
};
