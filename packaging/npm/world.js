// SPDX-License-Identifier: MIT
// The world: entities, their structure, their transforms and their components.
import {
    checkBoolean, checkCount, checkHandle, checkHandles, checkList, checkNumber, checkNumbers, checkObject, checkOut,
    checkTypedOut, checkValue, checkValueOut, choose,
} from "./checks.js";
import {
    OWNED, POINTER, SCRATCH_VALUE, STATUS, align, encode, getHandle, getString, heap, listeners,
    makeDisposable, nameOf, pointerOf, putHandle, putText, refuseInCallback, room, scratch, settle, wasm, zero,
} from "./engine.js";
import {
    checkFields, putAttachOptions, putChange, putComponentDef, putCreation, putInstance, putLocal, transformOfNode,
} from "./structs.js";
import {
    COMPONENT_TRANSIENT, COMPONENT_UNIQUE, MATRIX_4X4, MATRIX_4X4_INVERSE, Packer, addFlag, addressOf, axes,
    checkComponent, checkComponentOut, chooseKind, componentTypes, conversions, extents, getComponent, getValue,
    getVector, hashKinds, keeps, kinds, linkNames, makeComponent, matrixKinds, numberOf, putComponent, putValue,
    putVector, roleNames, sizeOfValues, spaces, TRANSFORM_BYTES,
} from "./values.js";

// The bytes that are read here of structs that C fills.
const REPORT_BYTES = 24;
const PRESENT_BYTES = 12;
const STATS_BYTES = 336;
/** Offset of the figures from watches on in espl_world_stats, in numbers. */
const STATS_CHANGES = 292 / 4;
// The sizes of structs that C reads.
const RESERVE_BYTES = 48;
const MOTION_BYTES = 36;
const SUBTREE_BYTES = 36;

/** Arrays of transforms in espl_subtree_arrays, by their offsets. */
const subtreeArrays = { locals: 12, worlds: 16, models: 20 };

/** Return the handle that a function of C returns for another one, such as espl_get_parent(). */
function follow(get, world, entity) {
    get(scratch, pointerOf(world), putHandle(entity));
    return getHandle(scratch);
}

/** Return the text of any length that a function of C writes about an entity. */
function getText(write, world, entity) {
    const size = write(pointerOf(world), putHandle(entity), 0, 0) + 1;
    const address = room(size);

    write(pointerOf(world), putHandle(entity), address, size);
    return getString(address);
}

let lastNumber = 0;

export class World {
    #number;

    constructor(options = {}) {
        const { onMessage, tag = 0, layoutBudget = 0, cellSize = 0, kernels } = checkObject(options, "options");
        const number = ++lastNumber;
        const text = kernels === undefined ? 0 : putText(kernels, "options.kernels");

        checkCount(tag, "options.tag");
        checkCount(layoutBudget, "options.layoutBudget");
        checkNumber(cellSize, "options.cellSize");
        if (onMessage !== undefined && typeof onMessage !== "function") {
            throw new TypeError("options.onMessage must be a function");
        }
        if (onMessage !== undefined) {
            listeners.set(number, onMessage);
        }
        this.#number = number;
        this[POINTER] = 0;
        this[STATUS] = "ESPL_OK";
        this[OWNED] = new Set();
        try {
            settle(wasm.glue_world_create(number, tag, layoutBudget, cellSize, text, scratch), this);
        } catch (error) {
            listeners.delete(number);
            throw error;
        }
        this[POINTER] = heap.u32[scratch >> 2];
    }

    close() {
        if (this[POINTER] === 0) {
            return;
        }
        refuseInCallback();
        // Iterations first: a history does not end before them.
        for (const owned of [...this[OWNED]].filter(({ isIteration }) => isIteration)) {
            owned.close();
        }
        for (const owned of [...this[OWNED]]) {
            owned.close();
        }
        wasm.espl_world_destroy(this[POINTER]);
        this[POINTER] = 0;
        settle(0);
        listeners.delete(this.#number);
    }

    get isClosed() {
        return this[POINTER] === 0;
    }

    get status() {
        return this[STATUS];
    }

    // --- The whole world ---

    get kernels() {
        return getString(wasm.espl_world_kernels(pointerOf(this)));
    }

    get version() {
        return BigInt.asUintN(64, wasm.espl_get_version(pointerOf(this)));
    }

    clear() {
        return settle(wasm.espl_world_clear(pointerOf(this)), this);
    }

    compact() {
        return settle(wasm.espl_compact(pointerOf(this)), this);
    }

    hash(kind = "logical") {
        settle(wasm.espl_hash(pointerOf(this), choose(hashKinds, kind, "kind"), scratch), this);
        return heap.u64[scratch >> 3];
    }

    validate() {
        const isValid = wasm.espl_validate(pointerOf(this), scratch);

        return isValid ? null : getString(heap.u32[scratch >> 2]);
    }

    stats() {
        wasm.espl_stats(pointerOf(this), scratch);
        const numbers = heap.u32.subarray(scratch >> 2, (scratch + STATS_BYTES) >> 2);
        const [entities, solos, hierarchies, members, archetypes, chunks, bytes] = numbers;
        const [watches, planes, bytesChanges, presented, blended, counterparts, renderables, bytesRenderables] =
            numbers.subarray(STATS_CHANGES);

        return { entities, solos, hierarchies, members, archetypes, chunks, bytes, watches, planes, bytesChanges,
            presented, blended, counterparts, renderables, bytesRenderables };
    }

    reserve(wanted) {
        const { entities = 0, components = [], rows = 0, writes = 0, sideOf = 0n, watchEntities = 0 } =
            checkObject(wanted, "room");
        const numbers = checkList(components, "room.components")
            .map((component, i) => numberOf(this, component, `room.components[${i}]`));
        const counts = [checkCount(entities, "room.entities"), checkCount(rows, "room.rows"),
            checkCount(writes, "room.writes")];

        checkHandle(sideOf, "room.sideOf");
        checkCount(watchEntities, "room.watchEntities");
        const packer = new Packer(align(4 * numbers.length) + align(RESERVE_BYTES));
        const list = packer.put(numbers, Uint32Array);
        const def = zero(packer.take(RESERVE_BYTES), RESERVE_BYTES);

        heap.u32.set([counts[0], list, numbers.length, counts[1], counts[2], 0], def >> 2);
        heap.u64[(def + 24) >> 3] = sideOf;
        heap.u32[(def + 32) >> 2] = watchEntities;
        return settle(wasm.espl_reserve(pointerOf(this), def), this);
    }

    // --- Creation and destruction ---

    create(options = {}) {
        const { name, ...others } = checkObject(options, "options");

        return name === undefined ? this.createMany(1, options)[0] : this.#createNamed(name, others);
    }

    // All or nothing: an entity whose name is refused is destroyed again.
    #createNamed(name, options) {
        const text = encode(name, "options.name");
        const packer = new Packer(putCreation.size(this, options) + align(text.length));
        const def = putCreation(packer, this, options);
        const nameAt = packer.put(text, Uint8Array);
        const transform = transformOfNode(def, options);

        if (transform !== 0) {
            settle(wasm.espl_create_node(pointerOf(this), putHandle(options.parent ?? 0n), transform, nameAt,
                scratch), this);
            return getHandle(scratch);
        }
        const status = settle(wasm.espl_create_at(pointerOf(this), def, 1, scratch), this);
        const entity = getHandle(scratch);

        try {
            this.setName(entity, name);
        } catch (error) {
            this.destroy(entity, "entity");
            throw error;
        }
        this[STATUS] = status;
        return entity;
    }

    createMany(count, options = {}) {
        const packer = new Packer(putCreation.size(this, options) + align(8 * checkCount(count)));
        const def = putCreation(packer, this, options);
        const out = packer.take(8 * count);

        settle(wasm.espl_create_at(pointerOf(this), def, count, out), this);
        return new BigUint64Array(heap.buffer, out, count).slice();
    }

    instantiate(source, options = {}) {
        return this.instantiateMany(source, 1, options)[0];
    }

    instantiateMany(source, count, options = {}) {
        const packer = new Packer(putInstance.size(this, options) + align(8 * checkCount(count)));
        const def = putInstance(packer, this, checkHandle(source, "source"), options);
        const out = packer.take(8 * count);

        settle(wasm.espl_instantiate(pointerOf(this), def, count, out), this);
        return new BigUint64Array(heap.buffer, out, count).slice();
    }

    spawn(prefab, parent = 0n, local = undefined) {
        const address = putLocal(local);

        settle(wasm.espl_spawn(pointerOf(this), putHandle(prefab, 0, "prefab"), putHandle(parent, 1, "parent"),
            address, scratch + SCRATCH_VALUE), this);
        return getHandle(scratch + SCRATCH_VALUE);
    }

    destroy(entity, extent = "owned") {
        const which = choose(extents, extent, "extent");

        return settle(wasm.espl_destroy(pointerOf(this), putHandle(entity), which), this);
    }

    destroyMany(entities, extent = "owned") {
        const at = addressOf(checkHandles(entities, "entities"), BigUint64Array);
        const count = entities.length;
        const list = new Packer(align(8 * count)).put(entities, BigUint64Array, at);

        return settle(wasm.espl_destroy_many(pointerOf(this), list, count,
            choose(extents, extent, "extent"), 0), this);
    }

    isAlive(entity) {
        return wasm.espl_is_alive(pointerOf(this), putHandle(entity)) !== 0;
    }

    setEnabled(entity, isEnabled, extent = "owned") {
        const enabled = checkBoolean(isEnabled, "isEnabled");
        const which = choose(extents, extent, "extent");

        return settle(wasm.espl_set_enabled(pointerOf(this), putHandle(entity), which, enabled), this);
    }

    isEnabled(entity) {
        return wasm.espl_is_enabled(pointerOf(this), putHandle(entity)) !== 0;
    }

    // --- Structure ---

    attach(child, parent, options = {}) {
        const address = putAttachOptions(scratch, options);

        return settle(wasm.espl_attach(pointerOf(this), putHandle(child, 0, "child"),
            putHandle(parent, 1, "parent"), address), this);
    }

    attachMany(children, parents, options = {}) {
        if (checkHandles(children, "children").length !== checkHandles(parents, "parents").length) {
            throw new RangeError("parents must have the length of children");
        }
        const [childrenAt, parentsAt] = [children, parents].map((list) => addressOf(list, BigUint64Array));
        const count = children.length;
        const packer = new Packer(2 * align(8 * count));
        const first = packer.put(children, BigUint64Array, childrenAt);
        const second = packer.put(parents, BigUint64Array, parentsAt);
        const address = putAttachOptions(scratch, options);

        return settle(wasm.espl_attach_many(pointerOf(this), first, second, count, address, 0), this);
    }

    detach(entity, keep = "world") {
        const which = choose(keeps, keep, "keep");

        return settle(wasm.espl_detach(pointerOf(this), putHandle(entity), which), this);
    }

    moveBefore(entity, before = 0n) {
        return settle(wasm.espl_move_before(pointerOf(this), putHandle(entity),
            putHandle(before, 1, "before")), this);
    }

    getParent(entity) {
        return follow(wasm.espl_get_parent, this, entity);
    }

    getRoot(entity) {
        return follow(wasm.espl_get_root, this, entity);
    }

    getFirstChild(entity) {
        return follow(wasm.espl_get_first_child, this, entity);
    }

    getLastChild(entity) {
        return follow(wasm.espl_get_last_child, this, entity);
    }

    getPreviousSibling(entity) {
        return follow(wasm.espl_get_previous_sibling, this, entity);
    }

    getNextSibling(entity) {
        return follow(wasm.espl_get_next_sibling, this, entity);
    }

    getChildren(entity) {
        const world = pointerOf(this);
        const count = wasm.espl_get_children(world, putHandle(entity), 0, 0);
        const out = room(8 * count);

        wasm.espl_get_children(world, putHandle(entity), count, out);
        return new BigUint64Array(heap.buffer, out, count).slice();
    }

    getRole(entity) {
        return roleNames[wasm.espl_get_role(pointerOf(this), putHandle(entity))];
    }

    getLink(entity) {
        return linkNames[wasm.espl_get_link(pointerOf(this), putHandle(entity))];
    }

    /** -1 for a handle that names no living entity. */
    getDepth(entity) {
        return wasm.espl_get_depth(pointerOf(this), putHandle(entity)) | 0;
    }

    countChildren(entity) {
        return wasm.espl_get_children(pointerOf(this), putHandle(entity), 0, 0);
    }

    countDescendants(entity) {
        const count = wasm.espl_copy_subtree(pointerOf(this), putHandle(entity), extents.subtree, 0, 0);

        return Math.max(0, count - 1);
    }

    isAncestor(ancestor, entity) {
        return wasm.espl_is_ancestor(pointerOf(this), putHandle(ancestor, 0, "ancestor"),
            putHandle(entity, 1)) !== 0;
    }

    copySubtree(top, extent = "subtree", transforms = []) {
        const world = pointerOf(this);
        const which = choose(extents, extent, "extent");
        const names = checkList(transforms, "transforms");
        const places = names.map((name, i) => choose(subtreeArrays, name, `transforms[${i}]`));
        const count = wasm.espl_copy_subtree(world, putHandle(top, 0, "top"), which, 0, 0);
        const packer = new Packer(align(8 * count) + 2 * align(4 * count) +
            names.length * align(TRANSFORM_BYTES * count));
        const [entities, parents, depths] = [8, 4, 4].map((size) => packer.take(size * count));
        const copied = places.map(() => packer.take(TRANSFORM_BYTES * count));

        heap.u32.set([entities, parents, depths], zero(scratch, SUBTREE_BYTES) >> 2);
        places.forEach((place, i) => {
            heap.u32[(scratch + place) >> 2] = copied[i];
        });
        wasm.espl_copy_subtree(world, putHandle(top, 0, "top"), which, count, scratch);
        return {
            ...Object.fromEntries(names.map((name, i) =>
                [name, new Float32Array(heap.buffer, copied[i], TRANSFORM_BYTES / 4 * count).slice()])),
            entities: new BigUint64Array(heap.buffer, entities, count).slice(),
            // C's number for no parent is -1 here.
            parents: new Int32Array(heap.buffer, parents, count).slice(),
            depths: new Uint32Array(heap.buffer, depths, count).slice(),
        };
    }

    // --- Names ---

    setName(entity, name) {
        const address = putText(name, "name");

        return settle(wasm.espl_set_name(pointerOf(this), putHandle(entity), address), this);
    }

    getName(entity) {
        return getString(wasm.espl_get_name(pointerOf(this), putHandle(entity)));
    }

    find(path, top = 0n) {
        const address = putText(path, "path");

        settle(wasm.espl_find_descendant(pointerOf(this), putHandle(top, 0, "top"), address, scratch), this);
        return getHandle(scratch);
    }

    getPath(entity) {
        return getText(wasm.espl_get_path, this, entity);
    }

    dump(entity) {
        return getText(wasm.espl_dump, this, entity);
    }

    // --- Components ---

    registerComponent(name, shape = {}) {
        const { type = "f32", length = 1, version = 0, transient = false, unique = false } =
            checkObject(shape, "shape");
        const array = choose(componentTypes, type, "shape.type");
        const count = array === null ? 0 : checkCount(length, "shape.length");
        const flags = (checkBoolean(transient, "shape.transient") ? COMPONENT_TRANSIENT : 0) |
            (checkBoolean(unique, "shape.unique") ? COMPONENT_UNIQUE : 0);

        checkCount(version, "shape.version");
        const def = putComponentDef(encode(name, "name"), array, count, checkFields(shape.fields, type, count));
        heap.u32.set([version, flags], (def + 20) >> 2);
        settle(wasm.espl_component_register(pointerOf(this), def, scratch), this);
        return makeComponent(this, heap.u32[scratch >> 2], name, type, count, { version, transient, unique });
    }

    change(entity, add, remove = []) {
        const address = putChange(scratch, this, add, remove);

        return settle(wasm.espl_change_components(pointerOf(this), putHandle(entity), address), this);
    }

    add(entity, component, values) {
        return this.change(entity, [values === undefined ? component : [component, values]]);
    }

    remove(entity, component) {
        return this.change(entity, [], [component]);
    }

    has(entity, component) {
        return wasm.espl_has_component(pointerOf(this), putHandle(entity), numberOf(this, component)) !== 0;
    }

    get(entity, component, out) {
        const number = numberOf(this, component);
        const address = room(component.size);

        checkComponentOut(component, out);
        settle(wasm.espl_get_component(pointerOf(this), putHandle(entity), number, address,
            component.size), this);
        return getComponent(address, component, out);
    }

    set(entity, component, values) {
        const number = numberOf(this, component);
        const address = room(component.size);

        putComponent(address, component, checkComponent(component, values, "values"));
        return settle(wasm.espl_set_component(pointerOf(this), putHandle(entity), number, address,
            component.size), this);
    }

    // --- Transforms, one at a time ---

    read(entity, kind, out) {
        return this.#read(entity, chooseKind(kind, "read"), out);
    }

    #read(entity, kind, out) {
        checkValueOut(kind, out);
        settle(wasm.espl_read_one(pointerOf(this), putHandle(entity), kind.read, scratch), this);
        return getValue(scratch, kind, out);
    }

    write(entity, kind, value, flag = undefined) {
        return this.#write(entity, chooseKind(kind, "write"), value, "value", flag);
    }

    #write(entity, kind, value, what = "value", flag = undefined) {
        const write = addFlag(kind.write, flag);

        putValue(scratch, kind, checkValue(kind, value, what));
        return settle(wasm.espl_write_one(pointerOf(this), putHandle(entity), write, scratch), this);
    }

    getLocalTransform(entity, out) {
        return this.#read(entity, kinds.localTransform, out);
    }

    getLocalPose(entity, out) {
        return this.#read(entity, kinds.localPose, out);
    }

    getLocalPosition(entity, out) {
        return this.#read(entity, kinds.localPosition, out);
    }

    getLocalRotation(entity, out) {
        return this.#read(entity, kinds.localRotation, out);
    }

    getLocalScale(entity) {
        return this.#read(entity, kinds.localScale);
    }

    getWorldTransform(entity, out) {
        return this.#read(entity, kinds.worldTransform, out);
    }

    getWorldPose(entity, out) {
        return this.#read(entity, kinds.worldPose, out);
    }

    getWorldPosition(entity, out) {
        return this.#read(entity, kinds.worldPosition, out);
    }

    getWorldRotation(entity, out) {
        return this.#read(entity, kinds.worldRotation, out);
    }

    getWorldScale(entity) {
        return this.#read(entity, kinds.worldScale);
    }

    getShownTransform(entity, out) {
        return this.#read(entity, kinds.shownTransform, out);
    }

    getShownPose(entity, out) {
        return this.#read(entity, kinds.shownPose, out);
    }

    getShownPosition(entity, out) {
        return this.#read(entity, kinds.shownPosition, out);
    }

    getShownRotation(entity, out) {
        return this.#read(entity, kinds.shownRotation, out);
    }

    getShownScale(entity) {
        return this.#read(entity, kinds.shownScale);
    }

    getStretch(entity, out) {
        return this.#read(entity, kinds.stretch, out);
    }

    getUserData(entity) {
        return this.#read(entity, kinds.userData);
    }

    setLocalTransform(entity, value) {
        return this.#write(entity, kinds.localTransform, value);
    }

    setLocalPose(entity, value) {
        return this.#write(entity, kinds.localPose, value);
    }

    setLocalPosition(entity, value) {
        return this.#write(entity, kinds.localPosition, value);
    }

    setLocalRotation(entity, value) {
        return this.#write(entity, kinds.localRotation, value);
    }

    setLocalScale(entity, value) {
        return this.#write(entity, kinds.localScale, value);
    }

    setWorldTransform(entity, value) {
        return this.#write(entity, kinds.worldTransform, value);
    }

    setWorldPose(entity, value) {
        return this.#write(entity, kinds.worldPose, value);
    }

    setWorldPosition(entity, value) {
        return this.#write(entity, kinds.worldPosition, value);
    }

    setWorldRotation(entity, value) {
        return this.#write(entity, kinds.worldRotation, value);
    }

    setWorldScale(entity, value) {
        return this.#write(entity, kinds.worldScale, value);
    }

    setStretch(entity, value) {
        return this.#write(entity, kinds.stretch, value);
    }

    setUserData(entity, value) {
        return this.#write(entity, kinds.userData, value);
    }

    translate(entity, offset, space = "parent") {
        return this.#write(entity, kinds[`translate${choose(spaces, space, "space")}`], offset, "offset");
    }

    rotate(entity, rotation, space = "parent") {
        return this.#write(entity, kinds[`rotate${choose(spaces, space, "space")}`], rotation,
            "rotation");
    }

    rotateAbout(entity, pivot, rotation) {
        putVector(scratch, checkNumbers(pivot, 3, "pivot"), 3);
        putVector(scratch + 16, checkNumbers(rotation, 4, "rotation"), 4);
        return settle(wasm.espl_rotate_about(pointerOf(this), putHandle(entity), scratch, scratch + 16),
            this);
    }

    lookAt(entity, target, options = {}) {
        const { up = [0, 1, 0], forward = "forward" } = checkObject(options, "options");

        putVector(scratch, checkNumbers(target, 3, "target"), 3);
        putVector(scratch + 16, checkNumbers(up, 3, "options.up"), 3);
        return settle(wasm.espl_look_at(pointerOf(this), putHandle(entity), scratch, scratch + 16,
            choose(axes, forward, "options.forward")), this);
    }

    getInherit(entity) {
        return wasm.espl_get_inherit(pointerOf(this), putHandle(entity));
    }

    setInherit(entity, flags) {
        return settle(wasm.espl_set_inherit(pointerOf(this), putHandle(entity),
            checkCount(flags, "flags")), this);
    }

    getMatrix(entity, out) {
        checkOut(out, 16);
        settle(wasm.espl_get_matrix(pointerOf(this), putHandle(entity), MATRIX_4X4, scratch), this);
        return getVector(scratch, 16, out);
    }

    getShownMatrix(entity, out) {
        checkOut(out, 16);
        settle(wasm.espl_read_one(pointerOf(this), putHandle(entity), kinds.shownTransform.read, scratch), this);
        wasm.glue_write_matrices(scratch, 1, scratch + SCRATCH_VALUE);
        return getVector(scratch + SCRATCH_VALUE, 16, out);
    }

    getInverseMatrix(entity, out) {
        checkOut(out, 16);
        settle(wasm.espl_get_matrix(pointerOf(this), putHandle(entity), MATRIX_4X4_INVERSE, scratch), this);
        return getVector(scratch, 16, out);
    }

    getRelativeTransform(frame, entity, out) {
        checkValueOut(kinds.worldTransform, out);
        settle(wasm.espl_get_relative_transform(pointerOf(this), putHandle(frame, 0, "frame"),
            putHandle(entity, 1), scratch), this);
        return getValue(scratch, kinds.worldTransform, out);
    }

    convert(entity, conversion, value, out) {
        const which = choose(conversions, conversion, "conversion");

        checkOut(out, 3);
        putVector(scratch, checkNumbers(value, 3, "value"), 3);
        settle(wasm.espl_convert(pointerOf(this), putHandle(entity), which, scratch, scratch + 16), this);
        return getVector(scratch + 16, 3, out);
    }

    // --- Transforms, many at a time ---

    readMany(kind, entities, out) {
        const chosen = chooseKind(kind, "read");

        return readEntities(this, chosen, entities, out, (handles, count, values) =>
            wasm.espl_read_strided(pointerOf(this), chosen.read, handles, count, 8, values, 4 * chosen.words));
    }

    readMatrices(kind, entities, out) {
        const { read } = choose(matrixKinds, kind, "kind");

        return readEntities(this, matrixShape, entities, out, (handles, count, values) =>
            wasm.glue_read_matrices(pointerOf(this), 0, read, handles, count, values));
    }

    writeMany(kind, entities, values, flag = undefined) {
        const chosen = chooseKind(kind, "write"), { words, length, array } = chosen;
        const write = addFlag(chosen.write, flag);
        const count = checkHandles(entities, "entities").length;

        checkNumbers(values, length * count, "values", array);
        const [entitiesAt, valuesAt] = [addressOf(entities, BigUint64Array), addressOf(values, array)];
        const packer = new Packer(align(8 * count) + align(4 * words * count));
        const handles = packer.put(entities, BigUint64Array, entitiesAt);
        const numbers = packer.put(values, array, valuesAt);

        return writeStrided(this, write, words, handles, numbers, count);
    }

    copyWorldTransforms(entities, world, sources) {
        const count = checkHandles(entities, "entities").length;

        if (checkHandles(sources, "sources").length !== count) {
            throw new RangeError("sources must have the length of entities");
        }
        const from = pointerOf(world);
        const pairs = Array.from({ length: count }, (_, i) => [entities[i], sources[i]]).flat();
        const copies = new Packer(align(16 * count)).put(pairs, BigUint64Array);

        return getReport(settle(
            wasm.espl_copy_world_transforms(pointerOf(this), from, copies, count, scratch), this));
    }

    // --- Motion between ticks ---

    startMotion(options = {}) {
        const { history = 1 } = checkObject(options, "options");

        heap.u32[zero(scratch, MOTION_BYTES) >> 2] = checkCount(history, "options.history");
        return settle(wasm.espl_motion_start(pointerOf(this), scratch), this);
    }

    stopMotion() {
        return settle(wasm.espl_motion_stop(pointerOf(this)), this);
    }

    beginTick() {
        return settle(wasm.espl_tick_begin(pointerOf(this)), this);
    }

    endTick() {
        return settle(wasm.espl_tick_end(pointerOf(this)), this);
    }

    tick(body) {
        if (typeof body !== "function") {
            throw new TypeError("body must be a function");
        }
        this.beginTick();
        try {
            return body(this);
        } finally {
            if (!this.isClosed) {
                this.endTick();
            }
        }
    }

    present(at) {
        const status = settle(wasm.espl_present(pointerOf(this), checkNumber(at, "at"), scratch), this);
        const [blended, visited] = heap.u32.subarray(scratch >> 2, (scratch + PRESENT_BYTES) >> 2);

        return { status, blended, visited, hasOverflowed: heap.u8[scratch + 8] !== 0 };
    }
}

/** What readEntities() reads for matrices of an entity. */
export const matrixShape = { words: 16, length: 16, array: Float32Array };

/** Read the values of many entities by a function of C, which leaves the values of what is refused alone. */
export function readEntities(world, { words, length, array }, entities, out, read) {
    const count = checkHandles(entities, "entities").length;
    const result = checkTypedOut(out, array, length * count) ??
        new array(length * count).fill(array === Float32Array || array === Float64Array ? NaN : 0);
    const entitiesAt = addressOf(entities, BigUint64Array);
    const packer = new Packer(align(8 * count) + align(4 * words * count));
    const handles = packer.put(entities, BigUint64Array, entitiesAt);
    const values = packer.take(4 * words * count);

    new array(heap.buffer, values, length * count).set(result.subarray(0, length * count));
    settle(read(handles, count, values), world);
    result.set(new array(heap.buffer, values, length * count));
    return result;
}

/** Write values that are in memory, and return the report. */
export function writeStrided(world, write, words, handles, values, count) {
    return getReport(settle(wasm.espl_write_strided(pointerOf(world), write, handles, count, 8, values,
        4 * words, scratch), world));
}

// Read the espl_write_report in scratch.
function getReport(status) {
    const [applied, lossy, refused, first] =
        heap.u32.subarray(scratch >> 2, (scratch + REPORT_BYTES) >> 2);

    return {
        status,
        applied,
        lossy,
        refused,
        hasOverflowed: heap.u8[scratch + 20] !== 0,
        firstRefused: refused === 0 ? undefined : first,
        firstStatus: refused === 0 ? undefined : nameOf(heap.i32[(scratch + 16) >> 2]),
    };
}

makeDisposable(World);
