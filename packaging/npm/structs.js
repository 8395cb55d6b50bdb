// SPDX-License-Identifier: MIT
// The library's structs for options, written into its memory by the offsets that glue.c asserts.
import { align, choose, heap } from "./engine.js";
import {
    Packer, TRANSFORM_BYTES, deadParents, keeps, links, numberOf, packValues, places, putTransform,
    sizeOfValues,
} from "./values.js";

const transformParts = ["position", "rotation", "scale", "stretch", "userData"];

// The part of `keep`, which is one word for all parts or an object with a word for each.
function keepOf(keep, part) {
    return choose(keeps, (typeof keep === "string" ? keep : keep?.[part]) ?? "world", "what to keep");
}

/** Write C's espl_attach_options. */
export function putAttachOptions(address, { keep, link = "owned", before = 0n, inherit = 0 }) {
    const at = address >> 2;

    heap.u32[at] = keepOf(keep, "position");
    heap.u32[at + 1] = keepOf(keep, "rotation");
    heap.u32[at + 2] = keepOf(keep, "scale");
    heap.u32[at + 3] = choose(links, link, "the link");
    heap.u64[(address + 16) >> 3] = before;
    heap.u32[at + 6] = inherit;
    return address;
}
putAttachOptions.bytes = 28;

// The transform of options: `transform`, or else the options themselves if they have a part of one, or else
// undefined.
function transformOf(options) {
    if (options.transform !== undefined) {
        return options.transform;
    }
    return transformParts.some((part) => options[part] !== undefined) ? options : undefined;
}

// Write the 32 bytes from `parent` to `inherit`, which espl_creation_def and espl_instance_def both have.
function putPlace(address, { parent = 0n, before = 0n, link = "owned", deadParent = "refuse", inherit = 0 },
    place) {
    heap.u64[address >> 3] = parent;
    heap.u64[(address + 8) >> 3] = before;
    heap.u32.set([choose(links, link, "the link"), choose(deadParents, deadParent, "the rule"),
        choose(places, place, "the place"), inherit], (address + 16) >> 2);
}

/** Write C's espl_creation_def. By default the entity has the identity transform; with null it has none. */
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
putCreation.size = (options) => sizeOfValues(options.components ?? []) + align(putCreation.bytes);

/** Write C's espl_instance_def. The clone has the source's transform where the options have none. */
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
putInstance.size = (options) => sizeOfValues(options.components ?? []) + align(putInstance.bytes);

/** Write C's espl_change_def. Its arrays are in room(). */
export function putChange(address, world, add, remove) {
    const numbers = remove.map((component) => numberOf(world, component));
    const packer = new Packer(sizeOfValues(add) + align(4 * numbers.length));
    const [values, count] = packValues(packer, world, add, null);

    heap.u32.set([values, count, packer.put(numbers, Uint32Array), numbers.length], address >> 2);
    return address;
}
