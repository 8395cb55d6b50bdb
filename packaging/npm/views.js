// SPDX-License-Identifier: MIT
// Queries and their chunks, views of hierarchies, and batches. They show the library's memory without a copy;
// each getter makes its array anew where the memory has grown since the last call.
import { checkCount, checkHandle, checkTypedOut, checkVersion, choose } from "./checks.js";
import {
    EspalierError, Owned, POINTER, SCRATCH_VALUE, align, allocate, getHandle, heap, pointerOf, putHandle,
    scratch, settle, wasm,
} from "./engine.js";
import { checkQuery, putQuery } from "./structs.js";
import { NO_RANK, Packer, addFlag, chooseKind, kinds, numberOf } from "./values.js";
import { World, writeStrided } from "./world.js";

const QUERY_BYTES = 256;
// The bytes of C's espl_view that are read here.
const VIEW_BYTES = 24;
const POSE_WORDS = 8;

/** Keeps one typed array; makes another where the address or the length differs or the memory has grown. */
export class CachedView {
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
    #terms;
    #since;

    constructor(world, definition = {}) {
        pointerOf(world);
        this.#world = world;
        this.#terms = checkQuery(world, definition, "definition");
        this.#since = checkVersion(definition.since === undefined ? 0n : definition.since, "definition.since");
    }

    get world() {
        return this.#world;
    }

    get since() {
        return this.#since;
    }

    set since(version) {
        this.#since = checkVersion(version, "since");
    }

    [Symbol.iterator]() {
        return new QueryIterator(() => new Iteration(this.#world, this.#terms, this.#since));
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
class Iteration extends Owned {
    /** For messages about a world that is in iteration. */
    isIteration = true;
    /** Number of chunks so far, which tells a chunk whether it is the current one. */
    chunkCount = 0;

    constructor(world, terms, since) {
        const pointer = pointerOf(world);

        super(world, allocate(QUERY_BYTES), wasm.free);
        try {
            const def = putQuery(new Packer(putQuery.size(terms)), terms, since);

            settle(wasm.espl_query_begin(pointer, def, this[POINTER]), world);
        } catch (error) {
            super.close();
            throw error;
        }
    }

    next() {
        const pointer = pointerOf(this);

        ++this.chunkCount;
        return wasm.espl_query_next(pointer) ? new Chunk(this) : null;
    }

    close() {
        if (this[POINTER] !== 0) {
            wasm.espl_query_end(this[POINTER]);
            super.close();
        }
    }
}

// Ends the iterations whose iterators were left before the end and are collected.
const left = new FinalizationRegistry((iteration) => iteration.close());

/**
 * The iterator of a query. Its iteration begins with the first next(), and ends with the last one, with
 * return() or throw(), which a for-of loop calls where it is left, or when the iterator is collected.
 */
class QueryIterator {
    #begin;
    #iteration;
    #isDone = false;

    constructor(begin) {
        this.#begin = begin;
    }

    [Symbol.iterator]() {
        return this;
    }

    next() {
        if (this.#isDone) {
            return { done: true, value: undefined };
        }
        try {
            if (this.#iteration === undefined) {
                this.#iteration = this.#begin();
                left.register(this, this.#iteration, this);
            }
            const value = this.#iteration.next();

            return value === null ? this.return() : { done: false, value };
        } catch (error) {
            this.return();
            throw error;
        }
    }

    return(value) {
        this.#isDone = true;
        if (this.#iteration !== undefined) {
            left.unregister(this);
            this.#iteration.close();
        }
        return { done: true, value };
    }

    throw(error) {
        this.return();
        throw error;
    }
}

export class Chunk {
    #iteration;
    #number;
    #entities = new CachedView();
    #slots = new CachedView();
    #poses = new CachedView();

    constructor(iteration) {
        this.#iteration = iteration;
        this.#number = iteration.chunkCount;
    }

    // Address of the espl_query, whose fields describe this chunk until the iteration goes on.
    #query() {
        if (this.#number !== this.#iteration.chunkCount || this.#iteration[POINTER] === 0) {
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

        if (component.array === null) {
            return null;
        }
        const address = get(query, number, component.size);

        settle(0);
        return address === 0 ? null
            : new component.array(heap.buffer, address, component.length * this.count);
    }

    readTransforms(kind, out) {
        const { words, length, array, read } = chooseKind(kind, "read");
        const query = this.#query();
        const count = length * this.count;
        const result = checkTypedOut(out, array, count) ?? new array(count);
        const bytes = 4 * words * this.count;
        const values = new Packer(align(bytes)).take(bytes);

        settle(wasm.espl_query_read_transforms(query, read, values, 4 * words), this.#iteration.world);
        result.set(new array(heap.buffer, values, count));
        return result;
    }
}

// --- Hierarchies ---

export class HierarchyView {
    #world;
    #entity;
    #poses = new CachedView();
    #shownPoses = new CachedView();

    constructor(world, entity) {
        this.#world = world;
        this.#entity = checkHandle(entity, "entity");
        this.#refresh();
    }

    // Write the current espl_view into scratch. Where the structure is unchanged the call only reads, in time
    // proportional to the depth of the entity.
    #refresh() {
        settle(wasm.espl_view_hierarchy(pointerOf(this.#world), putHandle(this.#entity), scratch),
            this.#world);
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

    get shownPoses() {
        const [count, first, , , , shown] = this.#refresh();

        return this.#shownPoses.at(Float32Array, shown + 4 * POSE_WORDS * first, POSE_WORDS * count);
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

export class Batch extends Owned {
    #kind;
    #capacity;
    #entities = new CachedView();
    #values = new CachedView();

    constructor(world, kind, capacity) {
        pointerOf(world);
        const chosen = choose(kinds, kind, "kind");
        const bytes = (8 + 4 * chosen.words) * checkCount(capacity, "capacity");

        super(world, allocate(Math.max(1, bytes)), wasm.free);
        this.#kind = chosen;
        this.#capacity = capacity;
        this.entities.fill(0n);
        this.values.fill(0);
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
        return this.#values.at(this.#kind.array, this.#valuesAt, this.#kind.length * this.#capacity);
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

        return settle(wasm.espl_read_strided(pointerOf(this.world), kind, pointerOf(this), count, 8,
            this.#valuesAt, 4 * this.#kind.words), this.world);
    }

    write(count = this.#capacity, flag = undefined) {
        const kind = addFlag(this.#checkWay("write", count), flag);

        return writeStrided(this.world, kind, this.#kind.words, pointerOf(this), this.#valuesAt, count);
    }
}

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
