// SPDX-License-Identifier: MIT
// The library's structs for options, written into its memory by the offsets that glue.c asserts.
import {
    checkCount, checkHandle, checkList, checkObject, checkTransform, choose,
} from "./checks.js";
import { align, encode, heap, scratch, zero } from "./engine.js";
import {
    INCLUDE_DISABLED, INCLUDE_PREFABS, Packer, TRANSFORM_BYTES, checkEntries, deadParents, fieldTypes, keeps,
    links, numberOf, packValues, places, putTransform, sizeOfValues,
} from "./values.js";

const ATTACH_BYTES = 36;
const COMPONENT_DEF_BYTES = 52;
const FIELD_BYTES = 16;
const CREATION_BYTES = 56;
const INSTANCE_BYTES = 112;
const QUERY_DEF_BYTES = 64;
// More references of a component than C takes, so that it refuses them.
const REFERENCES_KEPT = 65;
const transformParts = ["position", "rotation", "scale", "stretch", "userData"];

// The part of `keep`, which is one word for all parts or an object with a word for each.
function keepOf(keep, part) {
    if (keep === undefined || typeof keep === "string") {
        return choose(keeps, keep ?? "world", "options.keep");
    }
    return choose(keeps, checkObject(keep, "options.keep")[part] ?? "world", `options.keep.${part}`);
}

/** Write C's espl_attach_options. */
export function putAttachOptions(address, options) {
    const { keep, link = "owned", before = 0n, inherit = 0 } = checkObject(options, "options");
    const words = [keepOf(keep, "position"), keepOf(keep, "rotation"), keepOf(keep, "scale"),
        choose(links, link, "options.link")];

    zero(address, ATTACH_BYTES);
    heap.u64[(address + 16) >> 3] = checkHandle(before, "options.before");
    heap.u32[(address + 24) >> 2] = checkCount(inherit, "options.inherit");
    heap.u32.set(words, address >> 2);
    return address;
}

/** Return the transform of options: `transform`, or the options themselves if they have a part of one; else undefined. */
export function transformOf(options) {
    if (options.transform !== undefined) {
        return options.transform === null ? null : checkTransform(options.transform, 12, "options.transform");
    }
    return transformParts.some((part) => options[part] !== undefined)
        ? checkTransform(options, 12, "options") : undefined;
}

// Check the options of a creation or a clone, and return the size of the values in them.
function sizeOfCreation(world, options) {
    const { components = [], parent = 0n, before = 0n, inherit = 0, place = "local" } =
        checkObject(options, "options");

    checkEntries(world, checkList(components, "options.components"), "options.components");
    checkHandle(parent, "options.parent");
    checkHandle(before, "options.before");
    if (options.name !== undefined) {
        throw new TypeError("options.name: only World.create() gives a name");
    }
    checkCount(inherit, "options.inherit");
    choose(places, place, "options.place");
    transformOf(options);
    return sizeOfValues(components);
}

// Write the 32 bytes from `parent` to `inherit`, which espl_creation_def and espl_instance_def both have.
function putPlace(address, { parent = 0n, before = 0n, link = "owned", deadParent = "refuse", inherit = 0 },
    place) {
    heap.u64[address >> 3] = parent;
    heap.u64[(address + 8) >> 3] = before;
    heap.u32.set([choose(links, link, "options.link"), choose(deadParents, deadParent, "options.deadParent"),
        choose(places, place, "options.place"), inherit], (address + 16) >> 2);
}

/**
 * Write C's espl_creation_def, of options that putCreation.size() accepts. By default the entity has the
 * identity transform; with null it has none.
 */
export function putCreation(packer, world, options) {
    const transform = transformOf(options);
    const [values, count] = packValues(packer, world, options.components ?? [],
        transform === undefined ? {} : transform);
    const address = zero(packer.take(CREATION_BYTES), CREATION_BYTES);

    heap.u32[address >> 2] = values;
    heap.u32[(address + 4) >> 2] = count;
    putPlace(address + 8, options, options.place ?? "local");
    return address;
}
putCreation.size = (world, options) => sizeOfCreation(world, options) + align(CREATION_BYTES);

/**
 * Return the address of the transform in an espl_creation_def that putCreation() wrote, if espl_create_node()
 * makes the same with a name; else 0.
 */
export function transformOfNode(def, { components = [], transform, parent = 0n, before = 0n, link = "owned",
    inherit = 0, place = "local" }) {
    const isNode = components.length === 0 && transform !== null && before === 0n && link === "owned" &&
        inherit === 0 && (place === "local" || parent === 0n);

    return isNode ? heap.u32[(heap.u32[def >> 2] + 8) >> 2] : 0;
}

/**
 * Write C's espl_instance_def, of options that putInstance.size() accepts. The clone has the source's transform
 * where the options have none.
 */
export function putInstance(packer, world, source, options) {
    const transform = transformOf(options) ?? null;
    const [values, count] = packValues(packer, world, options.components ?? [], null);
    const address = zero(packer.take(INSTANCE_BYTES), INSTANCE_BYTES);

    heap.u64[address >> 3] = source;
    putPlace(address + 8, options, transform === null ? "source" : options.place ?? "local");
    putTransform(address + 40, transform ?? {});
    heap.u32[(address + 40 + TRANSFORM_BYTES) >> 2] = values;
    heap.u32[(address + 44 + TRANSFORM_BYTES) >> 2] = count;
    return address;
}
putInstance.size = (world, options) => sizeOfCreation(world, options) + align(INSTANCE_BYTES);

/** Write the transform of a spawn into scratch and return its address; 0 where there is none. */
export function putLocal(local) {
    if (local === undefined) {
        return 0;
    }
    putTransform(scratch, checkTransform(local, 12, "local"));
    return scratch;
}

/** Write C's espl_change_def. Its arrays are in room(). */
export function putChange(address, world, add, remove) {
    const numbers = checkList(remove, "remove").map((component, i) =>
        numberOf(world, component, `remove[${i}]`));

    checkEntries(world, checkList(add, "add"), "add");
    const packer = new Packer(sizeOfValues(add) + align(4 * numbers.length));
    const [values, count] = packValues(packer, world, add, null);

    heap.u32.set([values, count, packer.put(numbers, Uint32Array), numbers.length], address >> 2);
    return address;
}

/**
 * Return what putQuery() writes of a definition, which an argument of this name is: the numbers of its
 * components, and what it includes.
 */
export function checkQuery(world, definition, what) {
    const { includePrefabs = false, includeDisabled = false } = checkObject(definition, what);
    const lists = ["all", "none", "any", "changed"].map((name) =>
        checkList(definition[name] ?? [], `${what}.${name}`).map((component, i) =>
            numberOf(world, component, `${what}.${name}[${i}]`)));

    return { lists, include: (includePrefabs ? INCLUDE_PREFABS : 0) | (includeDisabled ? INCLUDE_DISABLED : 0) };
}

// --- Definitions of components ---

/**
 * Return what putComponentDef() writes of the fields of a shape. Without any they are what the type says; a
 * component of bytes, which may be a struct, has none then.
 */
export function checkFields(fields, type, length) {
    const given = fields !== undefined ? Object.entries(checkObject(fields, "shape.fields"))
        : type === "tag" || type === "u8" || length === 0 ? [] : [["value", { type, length }]];

    return given.map(([name, field]) => {
        const what = `shape.fields.${name}`;
        const { type: typeName, offset = 0, length: count = 1 } = checkObject(field, what);

        return {
            text: encode(name, what),
            type: choose(fieldTypes, typeName, `${what}.type`),
            offset: checkCount(offset, `${what}.offset`),
            count: checkCount(count, `${what}.length`),
        };
    }).sort((a, b) => a.offset - b.offset);
}

/**
 * Write C's espl_component_def without version and flags, and return its address.
 * @param fields  those of checkFields(); their entities, and those of a component of entities, are references.
 */
export function putComponentDef(text, array, count, fields) {
    const unit = array?.BYTES_PER_ELEMENT ?? 0;
    // Past the limit of references C refuses the count alone.
    const places = fields.filter(({ type }) => type === fieldTypes.entity)
        .map((field) => ({ ...field, count: Math.min(Math.max(1, field.count), REFERENCES_KEPT) }));
    const references = places.flatMap((field) =>
        Array.from({ length: field.count }, (_, i) => field.offset + 8 * i)).slice(0, REFERENCES_KEPT);
    const packer = new Packer(align(COMPONENT_DEF_BYTES) + align(text.length) + align(4 * references.length) +
        align(FIELD_BYTES * fields.length) + fields.reduce((sum, field) => sum + align(field.text.length), 0));
    const def = zero(packer.take(COMPONENT_DEF_BYTES), COMPONENT_DEF_BYTES);
    const words = fields.flatMap((field) =>
        [packer.put(field.text, Uint8Array), field.type, field.offset, field.count]);

    heap.u32.set([packer.put(text, Uint8Array), unit * count, unit, packer.put(references, Uint32Array),
        references.length, 0, 0, packer.put(words, Uint32Array), fields.length], def >> 2);
    return def;
}

/** Write C's espl_query_def, and return its address. */
export function putQuery(packer, { lists, include }, since) {
    const def = zero(packer.take(QUERY_DEF_BYTES), QUERY_DEF_BYTES);

    lists.forEach((list, i) => {
        heap.u32[(def >> 2) + 2 * i] = packer.put(list, Uint32Array);
        heap.u32[(def >> 2) + 2 * i + 1] = list.length;
    });
    heap.u64[(def + 32) >> 3] = since;
    heap.u32[(def + 40) >> 2] = include;
    return def;
}
putQuery.size = ({ lists }) =>
    lists.reduce((sum, list) => sum + align(4 * list.length), align(QUERY_DEF_BYTES));
