// SPDX-License-Identifier: MIT
// The library's structs for options, written into its memory by the offsets that glue.c asserts.
import {
    checkCount, checkHandle, checkList, checkObject, checkTransform, choose,
} from "./checks.js";
import { align, heap } from "./engine.js";
import {
    Packer, TRANSFORM_BYTES, checkEntries, deadParents, keeps, links, numberOf, packValues, places,
    putTransform, sizeOfValues,
} from "./values.js";

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

    heap.u64[(address + 16) >> 3] = checkHandle(before, "options.before");
    heap.u32[(address + 24) >> 2] = checkCount(inherit, "options.inherit");
    heap.u32.set(words, address >> 2);
    return address;
}
putAttachOptions.bytes = 28;

// The transform of options: `transform`, or else the options themselves if they have a part of one, or else
// undefined.
function transformOf(options) {
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
    const address = packer.take(putCreation.bytes);

    heap.u32[address >> 2] = values;
    heap.u32[(address + 4) >> 2] = count;
    putPlace(address + 8, options, options.place ?? "local");
    return address;
}
putCreation.bytes = 40;
putCreation.size = (world, options) => sizeOfCreation(world, options) + align(putCreation.bytes);

/**
 * Write C's espl_instance_def, of options that putInstance.size() accepts. The clone has the source's transform
 * where the options have none.
 */
export function putInstance(packer, world, source, options) {
    const transform = transformOf(options) ?? null;
    const [values, count] = packValues(packer, world, options.components ?? [], null);
    const address = packer.take(putInstance.bytes);

    heap.u64[address >> 3] = source;
    putPlace(address + 8, options, transform === null ? "source" : options.place ?? "local");
    putTransform(address + 40, transform ?? {});
    heap.u32[(address + 40 + TRANSFORM_BYTES) >> 2] = values;
    heap.u32[(address + 44 + TRANSFORM_BYTES) >> 2] = count;
    return address;
}
putInstance.bytes = 96;
putInstance.size = (world, options) => sizeOfCreation(world, options) + align(putInstance.bytes);

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
