// SPDX-License-Identifier: MIT
// Exports of the package; espalier.d.ts documents them.
import { makeVersion, wasm } from "./engine.js";

export { EspalierError } from "./engine.js";
export { diffArchives, imageLayout, inspectArchive, patchArchive } from "./archives.js";
export { CommandBuffer } from "./commands.js";
import "./counterparts.js";
import "./far.js";
export { History } from "./histories.js";
export { quat } from "./quat.js";
export { Instances, Mirror, Renderables, Visible } from "./renderables.js";
export {
    Component, DISABLED, MEMBER, PREFAB, ROOT, SOLO, TRANSFORM, identity,
} from "./values.js";
export { Batch, Chunk, HierarchyView, Query } from "./views.js";
export { Changes, Watch } from "./watches.js";
export { World } from "./world.js";

/** The null entity, which names nothing. */
export const NULL_ENTITY = 0n;

/** Parts of its world transform that a member does not take from its parent. */
export const Inherit = Object.freeze({
    ABSOLUTE_X: 1,
    ABSOLUTE_Y: 2,
    ABSOLUTE_Z: 4,
    ABSOLUTE_FORWARD: 8,
    ABSOLUTE_UP: 16,
    STRICT_UP: 32,
    ABSOLUTE_SCALE: 64,
    COPY_PARENT: 128,
    ABSOLUTE_POSITION: 7,
    ABSOLUTE_ROTATION: 24,
});

/** What changed of an entity: bits of Changes.kinds. */
export const Watched = Object.freeze({ WORLD: 1, LOCAL: 2, SHOWN: 4, CELL: 16 });

/** Bits of the third number of the component "renderable". */
export const Renderable = Object.freeze({ UNION: 1, ALWAYS: 2 });

/** Bits of the second number of the component "layers". */
export const Layers = Object.freeze({ ABSOLUTE: 1 });

/** A key that is drawn by no camera. */
export const NO_KEY = 0xffffffff;

/** The version of the library. */
export const version = makeVersion(wasm.espl_version());
