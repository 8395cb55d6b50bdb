// SPDX-License-Identifier: MIT
// The library's structs for options, written into its memory by the offsets that glue.c asserts.
import { align, choose, heap } from "./engine.js";
import {
    TRANSFORM_BYTES, deadParents, keeps, links, packValues, places, putTransform, sizeOfValues,
} from "./values.js";

const transformParts = ["position", "rotation", "scale", "stretch", "userData"];

// What to keep: one word for all parts, or one for each.
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

// The transform of options: a whole one, or parts beside the other options. Undefined where there is none.
function transformOf(options) {
    if (options.transform !== undefined) {
        return options.transform;
    }
    return transformParts.some((part) => options[part] !== undefined) ? options : undefined;
}

// The fields that both structs have: 32 bytes from the parent on.
function putPlace(address, { parent = 0n, before = 0n, link = "owned", deadParent = "refuse", inherit = 0 },
    place) {
    heap.u64[address >> 3] = parent;
    heap.u64[(address + 8) >> 3] = before;
    heap.u32.set([choose(links, link, "the link"), choose(deadParents, deadParent, "the rule"),
        choose(places, place, "the place"), inherit], (address + 16) >> 2);
}

/** Write C's espl_creation_def: an entity with a transform, unless the option is null. */
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

/** Write C's espl_instance_def. Without a transform in the options the clone has the source's. */
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
