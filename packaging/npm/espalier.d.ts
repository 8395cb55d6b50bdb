// SPDX-License-Identifier: MIT
// Types of the package "espalier". Where C has a word for the same thing, the C headers and
// manual pages say more.

// Engines and compilers since 2023 have these; here they are for older ones.
declare global {
    interface SymbolConstructor {
        /** Method that ends a `using` declaration. */
        readonly dispose: unique symbol;
    }
}

/** Version of the library: "0.2.0". */
export const version: string;

// --- Values ---

/**
 * Handle of an entity: all 64 bits of C's espl_entity. It names one entity for the life of its World and
 * is never given to another. Compare with ===; it is a key of a Map or Set. Arrays of handles are
 * BigUint64Array.
 */
export type Entity = bigint;

/** The null entity, 0n, which names nothing: the parent of a root, for example. It is falsy. */
export const NULL_ENTITY: 0n;

/** Numbers by index: an array or a typed array. Another length than the call needs is a RangeError. */
export type Numbers = ArrayLike<number>;
/** Three numbers: x, y, z. */
export type Vector = Numbers;
/** Four numbers: a rotation as a quaternion x, y, z, w. Brought to unit length where it is written. */
export type Quaternion = Numbers;
/** Handles by index. A BigUint64Array is the fastest, and one in the library's memory is not copied. */
export type Entities = BigUint64Array | readonly Entity[];

/** Parts of a transform; what is left out is that of the identity. */
export interface TransformParts {
    /** Origin in the parent's axes. Default: 0, 0, 0. */
    position?: Vector;
    /** Default: 0, 0, 0, 1. */
    rotation?: Quaternion;
    /** Uniform scale, which children inherit. Negative mirrors. Default: 1. */
    scale?: number;
    /** Scale for each axis, which children do not inherit as shape. Default: 1, 1, 1. */
    stretch?: Vector;
    /** A whole number from 0 to 4294967295 that travels with the transform. Default: 0. */
    userData?: number;
}

/**
 * A transform to be written: parts, or the 12 words of 32 bits that C's espl_transform has, which are
 * rotation, position, scale, stretch, and the user data as the bits of a whole number; for a pose the
 * first 8.
 */
export type TransformValue = TransformParts | Numbers;

/** A transform that was read. */
export interface Transform {
    /** Quaternion x, y, z, w of unit length. */
    rotation: Float32Array;
    /** Origin in the axes that the transform is placed in: x, y, z. */
    position: Float32Array;
    /** Uniform scale, which children inherit. */
    scale: number;
    /** Scale for each axis, which children do not inherit as shape. */
    stretch: Float32Array;
    /** A whole number from 0 to 4294967295 of your own. */
    userData: number;
}

/** Return the transform that changes nothing, for an `out` argument. */
export function identity(): Transform;

/** Kinds whose value is three numbers. */
export type VectorKind = "localPosition" | "worldPosition" | "stretch" | "shownPosition";
/** Kinds whose value is a quaternion. */
export type RotationKind = "localRotation" | "worldRotation" | "shownRotation";
/** Kinds whose value is one number. */
export type NumberKind = "localScale" | "worldScale" | "userData" | "shownScale";
/**
 * Kinds whose value is a transform; of a pose it is rotation, position and scale, and in arrays 8 numbers
 * in this order.
 */
export type TransformKind =
    | "localPose" | "localTransform" | "worldPose" | "worldTransform" | "shownPose" | "shownTransform"
    | "previousLocalPose" | "previousWorldPose" | "beforeLocalPose" | "beforeWorldPose";
/**
 * Kinds of large worlds, of three numbers: the cell of the hierarchy, whole numbers; and the position from the
 * middle of cell 0, 0, 0, with the precision of a number of JavaScript. Only a root or solo gets a cell.
 */
export type FarKind = "cell" | "absolutePosition";
/**
 * What can be read of a transform. "local" is relative to the parent, "world" to the world. "shown" is the
 * world transform as it is drawn, by World.present(); "previous" is from when the last tick began, "before" from
 * when the tick before it began. Without motion these are the present ones.
 */
export type ReadKind = VectorKind | RotationKind | NumberKind | TransformKind | FarKind;
/** What can be read, and not written. */
export type ReadOnlyKind = Extract<ReadKind, `shown${string}` | `before${string}`>;
/** What can be written; the kinds are those of C's espl_write_kind. The "previous" ones need motion. */
export type WriteKind = Exclude<ReadKind, ReadOnlyKind> | ChangeKind;
/**
 * How motion blends a write. By default one in a tick is blended, and one between ticks is shown as it is.
 * "teleport": shown where the write puts it. "carry": where it was moves along, so that the motion that is
 * shown goes on elsewhere. Without motion it does nothing.
 */
export type WriteFlag = "teleport" | "carry";
/** Writes that change what is there: they add, turn, multiply. */
export type ChangeKind =
    | "translateInParent" | "rotateInParent" | "transformInParent" | "inverseTransformInParent"
    | "translateWorld" | "rotateWorld" | "transformWorld" | "inverseTransformWorld"
    | "multiplyScale" | "multiplyStretch" | "translateOwn" | "rotateOwn";

/** The value of a kind for one entity, to be written. */
export type WriteValue<K extends WriteKind> =
    K extends NumberKind | "multiplyScale" ? number
    : K extends TransformKind | `${string}ransform${string}` ? TransformValue
    : Numbers;
/** The value of a kind for one entity, as it is read. */
export type ReadValue<K extends ReadKind> =
    K extends NumberKind ? number : K extends TransformKind ? Transform : KindArray<K>;
/** The values of a kind for many entities, one behind the other. */
export type KindArray<K extends ReadKind | WriteKind> =
    K extends "userData" ? Uint32Array
    : K extends "cell" ? Int32Array : K extends "absolutePosition" ? Float64Array : Float32Array;

/** A point of a world: what positions are read relative to, a camera for example. */
export interface Origin {
    /** Three whole numbers. Default: 0, 0, 0, which is right in a world without cells. */
    cell?: Numbers;
    /** From the middle of the cell. Default: 0, 0, 0. */
    offset?: Vector;
}
/** What can be read relative to an origin: rotation and scale stay those of the world. */
export type RelativeKind =
    | "worldPosition" | "worldPose" | "worldTransform" | "shownPosition" | "shownPose" | "shownTransform";

/** Axes of an entity: +X right, +Y up, +Z forward. */
export type Axis = "right" | "up" | "forward" | "left" | "down" | "back";
/** Axes that a movement is along: the parent's, the world's, or the entity's own. */
export type Space = "parent" | "world" | "own";
/**
 * What below an entity a call includes: the entity alone; all that is reached through owned links; or
 * everything.
 */
export type Extent = "entity" | "owned" | "subtree";
/** What stays where the parent changes: the world part, the local part, or neither ("snap" to the parent). */
export type Keep = "world" | "local" | "snap";
/** Lifetime tie to the parent: destroyed and cloned with it, or not. */
export type Link = "owned" | "free";
/** Place in the structure; "none" for a handle that names no living entity. */
export type Role = "none" | "solo" | "root" | "member";
/** Order of three rotations about the axes: the first letter is applied first. */
export type EulerOrder = "XYZ" | "XZY" | "YXZ" | "YZX" | "ZXY" | "ZYX";
/** Conversions of a point, of an offset, and of a direction, which is only turned. */
export type Conversion =
    | "pointToWorld" | "pointToLocal" | "vectorToWorld" | "vectorToLocal" | "directionToWorld"
    | "directionToLocal";

/** Bits for setInherit() and `inherit`: parts of its world that a member does not take from its parent. */
export const Inherit: {
    /** World x of the position. */
    readonly ABSOLUTE_X: 1;
    /** World y of the position. */
    readonly ABSOLUTE_Y: 2;
    /** World z of the position. */
    readonly ABSOLUTE_Z: 4;
    /** World direction of +Z. */
    readonly ABSOLUTE_FORWARD: 8;
    /** World direction of +Y. */
    readonly ABSOLUTE_UP: 16;
    /** Where one direction alone is kept, up is exact and not forward. */
    readonly STRICT_UP: 32;
    /** World scale. */
    readonly ABSOLUTE_SCALE: 64;
    /** The world is a copy of the parent's. Excludes every other bit. */
    readonly COPY_PARENT: 128;
    /** All three axes. */
    readonly ABSOLUTE_POSITION: 7;
    /** Both directions: the whole rotation. */
    readonly ABSOLUTE_ROTATION: 24;
};

/** Bits of Changes.kinds: what changed of an entity. */
export const Watched: {
    /** The world transform. */
    readonly WORLD: 1;
    /** What is its own: the local transform, stretch, user data, inherit bits, parent, place among siblings. */
    readonly LOCAL: 2;
    /** The shown transform. */
    readonly SHOWN: 4;
    /** The cell, of a root or solo. */
    readonly CELL: 16;
};

/** Bits of the third number of the component Renderables.renderable. */
export const Renderable: {
    /**
     * The world box contains the world boxes of all renderables below the entity as well: for a skinned mesh,
     * whose bones have small boxes and NO_KEY.
     */
    readonly UNION: 1;
    /** Visible for each camera whose layers match, wherever the box is: skies, models held in hands. */
    readonly ALWAYS: 2;
};

/** Bits of the second number of the component Renderables.layers. */
export const Layers: {
    /** The parent's layers do not matter. */
    readonly ABSOLUTE: 1;
};

/** A key that is drawn by no camera. */
export const NO_KEY: 4294967295;

// --- Statuses ---

/** A call was done; the last three are remarks. */
export type Done = "ESPL_OK" | "ESPL_LOSSY" | "ESPL_PARTLY" | "ESPL_OVERFLOW";
/** Why a call was refused. */
export type Refusal =
    | "ESPL_ERR_NO_MEMORY" | "ESPL_ERR_ARGUMENT" | "ESPL_ERR_NULL_ENTITY" | "ESPL_ERR_DEAD"
    | "ESPL_ERR_FOREIGN" | "ESPL_ERR_CYCLE" | "ESPL_ERR_NOT_FINITE" | "ESPL_ERR_RANGE"
    | "ESPL_ERR_LIMIT" | "ESPL_ERR_BUSY" | "ESPL_ERR_NO_TRANSFORM" | "ESPL_ERR_NO_COMPONENT"
    | "ESPL_ERR_EXISTS" | "ESPL_ERR_PLAYED" | "ESPL_ERR_EXECUTOR" | "ESPL_ERR_NOT_CHILD"
    | "ESPL_ERR_COPIES_PARENT" | "ESPL_ERR_SHEAR" | "ESPL_ERR_NOT_OWNER" | "ESPL_ERR_PENDING"
    | "ESPL_ERR_UNSUPPORTED" | "ESPL_ERR_ARITHMETIC" | "ESPL_ERR_FORMAT" | "ESPL_ERR_VERSION"
    | "ESPL_ERR_TOO_OLD" | "ESPL_ERR_SINK" | "ESPL_ERR_GAP";

/**
 * What a refused call throws; it has changed nothing. An argument that no number can stand for (an unknown
 * word, a handle that is no bigint, an array of another length) is a TypeError or a RangeError instead.
 */
export class EspalierError extends Error {
    /** Called by the package. */
    constructor(status: Refusal | "CLOSED", code: number | undefined, text: string, message?: string);
    /** Name of the class. */
    readonly name: "EspalierError";
    /** Name of the status. "CLOSED": the object was closed, or its iteration went on. */
    readonly status: Refusal | "CLOSED";
    /** Number of the status in C, negative; undefined for "CLOSED". */
    readonly code: number | undefined;
    /**
     * One sentence that says when the status happens and what to do: espl_status_text(). The message names
     * the call and its entities as well, where the library said so.
     */
    readonly text: string;
    /** Where bytes were refused: the byte from which on they are not understood; else undefined. */
    readonly offset: number | undefined;
    /** What is wrong with bytes that were refused; else undefined. The message has it too. */
    readonly sentence: string | undefined;
}

// --- Components ---

/** Element of a component's value: "entity" is a handle, which clones map to their own; "tag" none. */
export type ElementType =
    | "f32" | "f64" | "i8" | "i16" | "i32" | "u8" | "u16" | "u32" | "entity" | "tag";
/** Type of a component's value: elements, or the transform that TRANSFORM has. */
export type ComponentType = ElementType | "transform";

/** Type of a field: that of its elements. "bytes" are text, or anything else. */
export type FieldType = Exclude<ElementType, "tag"> | "i64" | "u64" | "bool" | "bytes";
/** What bytes of a component mean, for tools, and for machines with the other order of bytes. */
export interface Field {
    /** Type of the elements. */
    type: FieldType;
    /** Byte of the value where the first one begins. Default: 0. */
    offset?: number;
    /** Elements, one behind the other. Default: 1. */
    length?: number;
}

/** What a component is. */
export interface ComponentShape<T extends ElementType = ElementType> {
    /** Element of its values. Default: "f32". */
    type?: T;
    /** Elements of a value. Default: 1. */
    length?: number;
    /** A number of your own for this layout: an archive of another one needs a migration. Default: 0. */
    version?: number;
    /** Images and archives have no values: they are zeros after a load or a read. Default: false. */
    transient?: boolean;
    /** Clones get zeros. Default: false. */
    unique?: boolean;
    /**
     * What the bytes mean, by name. Entities in it are references, as those of the type "entity" are. By
     * default what the type says; a "u8" has no fields unless they are given, because it may be a struct.
     */
    fields?: Readonly<Record<string, Field>>;
}

/** The typed array of a component's values. */
export type ComponentArray<T extends ComponentType> =
    T extends "f32" ? Float32Array
    : T extends "f64" ? Float64Array
    : T extends "i8" ? Int8Array
    : T extends "i16" ? Int16Array
    : T extends "i32" ? Int32Array
    : T extends "u8" ? Uint8Array
    : T extends "u16" ? Uint16Array
    : T extends "u32" ? Uint32Array
    : T extends "entity" ? BigUint64Array
    : never;
/** A component's value as it is read: elements, or a transform. */
export type ComponentValue<T extends ComponentType> = T extends "transform" ? Transform : ComponentArray<T>;
/** What is written as a component's value: as many elements as its length, or a transform. */
export type ComponentValues<T extends ComponentType> =
    T extends "entity" ? Entities
    : T extends "tag" ? readonly never[]
    : T extends "transform" ? TransformValue : Numbers;

/** A registered component, by World.registerComponent(). Frozen. */
export class Component<T extends ComponentType = ComponentType> {
    /** Made by the package alone. */
    private constructor();
    /** The world that has it; undefined for a built-in one, which every world has. */
    readonly world: World | undefined;
    /** Number in its world. */
    readonly number: number;
    /** Name that it was registered with, unique in its world. */
    readonly name: string;
    /** Element of its values. */
    readonly type: T;
    /** Elements of a value; 0 for a tag, and for TRANSFORM. */
    readonly length: number;
    /** Bytes of a value. */
    readonly size: number;
    /** Number of its layout, which the program gave. */
    readonly version: number;
    /** Images and archives have no values. */
    readonly transient: boolean;
    /** Clones get zeros. */
    readonly unique: boolean;
}

/**
 * Has a transform of its own. Every entity is made with one unless `transform` is null. Its value is the
 * transform relative to the parent, by default the identity. Chunks have no column of it: see
 * Chunk.readTransforms().
 */
export const TRANSFORM: Component<"transform">;
/** Role: in no hierarchy. For queries, as the next two. */
export const SOLO: Component<"tag">;
/** Role: top of a hierarchy. */
export const ROOT: Component<"tag">;
/** Role: below a root. */
export const MEMBER: Component<"tag">;
/** A template for instantiate(): queries skip it, and clones lack it. */
export const PREFAB: Component<"tag">;
/** Queries skip it; it still moves with its parent. */
export const DISABLED: Component<"tag">;

/** A component alone, whose value is zeros, or with its value. */
export type ComponentEntry = Component | readonly [Component, ComponentValues<ComponentType>];

// --- Options ---

/** How to place an entity under a parent. */
export interface LinkOptions {
    /** Child of the parent that it comes before. Default: none, it is the last. */
    before?: Entity;
    /** Default: "owned". */
    link?: Link;
    /** Bits of Inherit. Default: 0. */
    inherit?: number;
}

/** How to attach. */
export interface AttachOptions extends LinkOptions {
    /** For all parts, or for each. Default: "world". */
    keep?: Keep | { position?: Keep; rotation?: Keep; scale?: Keep };
}

/** What to create. The parts of the transform are beside the other options, or in `transform`. */
export interface CreateOptions extends TransformParts, LinkOptions {
    /** Default: none. */
    parent?: Entity;
    /** A whole transform; null: the entity has none of its own. */
    transform?: TransformValue | null;
    /** What the transform is relative to: the parent, or the world. Default: "local". */
    place?: "local" | "world";
    /** Components with their values, each once. */
    components?: readonly ComponentEntry[];
    /** For commands: what happens where the parent is dead at playback. Default: "refuse". */
    deadParent?: "refuse" | "root";
}

/** What to create, with a name. */
export interface CreateNamedOptions extends CreateOptions {
    /** As World.setName() takes it. Default: none. */
    name?: string;
}

/** Where a clone starts; without a transform it has that of the source. */
export interface InstantiateOptions extends CreateOptions {
    /** A whole transform. */
    transform?: TransformValue;
}

/** How to make a world. */
export interface WorldOptions {
    /**
     * Receives each line that the library says of this world, after the call that it is about: refusals, and
     * what is nearly always a mistake. It may call the library; what it throws is reported as uncaught.
     * Default: none.
     */
    onMessage?: (level: "info" | "warning" | "error", line: string) => void;
    /**
     * 1 to 127: what the handles carry, so that each run gives the same ones. Default: the next free in this
     * module. Worlds of different workers that follow each other need different ones.
     */
    tag?: number;
    /** Nodes that one structural call may lay out anew. Default: 65536. */
    layoutBudget?: number;
    /**
     * Size of the cells of a large world: a power of two from 1 to 2 ** 30. With 2048 m positions are precise to
     * 0.1 mm at any distance. Default: 0, no cells.
     */
    cellSize?: number;
    /** "simd128" or "scalar", for tests. The worlds are the same bit for bit. Default: the best. */
    kernels?: string;
}

/** Account of a batch of writes: the count is applied + refused. */
export interface WriteReport {
    /** "ESPL_OK", or a remark. */
    status: Done;
    /** Carried out, writes that changed nothing included. */
    applied: number;
    /** Of the applied: those with a remark ESPL_LOSSY. */
    lossy: number;
    /** Refused one by one. */
    refused: number;
    /** The world transform of a written entity, or of one that follows it, is not finite. */
    hasOverflowed: boolean;
    /** Index of the first refused entry. */
    firstRefused: number | undefined;
    /** Why it was refused. */
    firstStatus: Refusal | undefined;
}

/** Account of a playback: accepted is applied + refused. */
export interface PlaybackReport {
    /** "ESPL_OK", or a remark. */
    status: Done;
    /** Commands that were recorded. */
    accepted: number;
    /** Commands carried out, also with a loss. */
    applied: number;
    /** Commands that changed nothing. */
    refused: number;
    /** Of the applied: those with a remark ESPL_LOSSY. */
    lossy: number;
    /** Entities that were made. */
    created: number;
    /** Entities destroyed that lived before the playback. */
    destroyed: number;
    /** A world transform that was recomputed is not finite. */
    hasOverflowed: boolean;
    /** Refused commands by reason; `first` is the number of the first in its buffer, from 0. */
    refusals: { status: Refusal; count: number; first: number }[];
}

/** Account of World.present(). */
export interface PresentReport {
    /** "ESPL_OK", or a remark. */
    status: Done;
    /** Transforms that were blended, or taken as they are because of a change: how much work it was. */
    blended: number;
    /** Shown transforms that were computed: how much work it was. */
    visited: number;
    /** A shown transform of the world is not finite. */
    hasOverflowed: boolean;
}

/** Figures of a world. */
export interface WorldStats {
    /** Living entities. */
    entities: number;
    /** Of these: in no hierarchy. */
    solos: number;
    /** Roots. */
    hierarchies: number;
    /** Entities below a root. */
    members: number;
    /** Sets of components met so far. */
    archetypes: number;
    /** Blocks of rows in use. */
    chunks: number;
    /** Memory of the world, all-in. */
    bytes: number;
    /** Watches that are not closed. */
    watches: number;
    /** Kinds of changes that are marked for watches and for motion. */
    planes: number;
    /** Of the memory: that of watches and marks. */
    bytesChanges: number;
    /** Calls of present() that computed shown transforms, since the world was made. */
    presented: number;
    /** The sum of `blended` of their reports. */
    blended: number;
    /** Entities with an original in another world. */
    counterparts: number;
    /** Renderables in the newest mirror. */
    renderables: number;
    /** Of bytesChanges: renderables and their mirrors. */
    bytesRenderables: number;
}

/** How to place an entity of another world. A transform is that of the first counterpart. */
export interface PlacingOptions extends TransformParts {
    /** What below the original gets counterparts. Default: "owned". */
    extent?: Extent;
    /** Of this world. Default: none. */
    parent?: Entity;
    /** The sibling that the counterpart comes before. Default: 0n, it is the last. */
    before?: Entity;
    /** A whole transform. Default: as the original has it. */
    transform?: TransformValue;
    /** What the transform is relative to: the parent, or the world. Default: "local". */
    place?: "local" | "world";
    /** Components of the other world, copied where this world has one of the same name and size. */
    components?: readonly Component[];
}

/**
 * What changed in another world: Changes of a Watch of it, or the same arrays from a worker or a server, of which
 * follow() reads those of its kind.
 */
export interface ChangesLike {
    /** Handles of the other world, as the next two. */
    readonly removed: Entities;
    /** Entities that came. */
    readonly added: Entities;
    /** Entities that changed. */
    readonly changed: Entities;
    /** For each of `added` its transform, 12 words of 32 bits. */
    readonly addedWorlds?: Numbers | null;
    /** For each of `changed`. */
    readonly changedWorlds?: Numbers | null;
    /** For each of `added`: the transform relative to the parent. */
    readonly addedLocals?: Numbers | null;
    /** For each of `changed`. */
    readonly changedLocals?: Numbers | null;
    /**
     * With `cellSize`: as Changes has them. A root or solo of a world with cells gets the cell of its original; in a
     * world without them positions become absolute.
     */
    readonly addedCells?: Numbers | null;
    /** For each of `changed`. */
    readonly changedCells?: Numbers | null;
    /** World.cellSize of the other world. Default: 0, the cells are not read. */
    readonly cellSize?: number;
}

/** How to follow another world. */
export interface FollowOptions {
    /**
     * "local": a counterpart gets the transform that its original has below its parent, from a watch with the kind
     * "local". "world": the world or shown transform. Default: "local".
     */
    kind?: "local" | "world";
    /** What below the counterpart of a removed entity is destroyed with it. Default: "owned". */
    removed?: Extent;
    /** Counterparts of removed entities stay. Default: false. */
    keep?: boolean;
}

/** Account of World.follow(). */
export interface FollowReport {
    /** "ESPL_OK", or a remark. */
    status: Done;
    /** Counterparts whose transform was written, also where it was equal. */
    written: number;
    /** Counterparts of removed entities that were destroyed. */
    destroyed: number;
    /** Entities that came or changed and have no counterpart here. */
    unknown: number;
    /** Counterparts that could not be written, because they have no transform for example. */
    refused: number;
}

// --- Images and archives ---

/** Bytes to be read: they are copied. */
export type Bytes = Uint8Array | ArrayBuffer;

/** A number for the layout of images: builds that have the same one read each other's images. */
export const imageLayout: bigint;

/** How an image is loaded. */
export interface LoadOptions {
    /** The bytes are those of saveImage(), and are not checked; others may end the program. Default: false. */
    trusted?: boolean;
    /** Take an image of a world with another tag; handles in it get the tag of this world. Default: false. */
    retag?: boolean;
}

/** What an archive has. */
export interface ArchiveOptions {
    /** What becomes a root of it: an entity, or several. Default: all roots and solos of the world. */
    tops?: Entity | Entities;
    /** What comes along from below each. Default: "owned". */
    extent?: Extent;
    /** Have the handle of each entity in it too. Default: false. */
    handles?: boolean;
    /** Bytes of your own, which inspectArchive() returns. */
    user?: Bytes;
    /** Round positions relative to the parent to multiples of it, for small deltas. Default: 0, not at all. */
    positionStep?: number;
    /** Round rotations relative to the parent to so many bits, 2 to 24. Default: 0, not at all. */
    rotationBits?: number;
}

/** What an archive says of itself. */
export interface ArchiveInfo {
    /** Entities. */
    nodes: number;
    /** Of these: roots. */
    tops: number;
    /** Version of the format: "1.0". */
    format: string;
    /** Version of the library that wrote it: "0.2.0". */
    writer: string;
    /** Bytes of the program. */
    user: Uint8Array;
}

/** How values of a component of an archive become those of a component of the world. */
export interface Migration<T extends ElementType = ElementType, C extends ComponentType = ComponentType> {
    /** The component of the world. */
    to: Component<C>;
    /**
     * Make the new value of the old one: a copy of its bytes, as elements of `type`. undefined stands for zeros,
     * and is right where `to` is a tag.
     * References follow by themselves: they are 0 in the old value, and in the new one they do not count.
     */
    convert(old: ComponentArray<T>): ComponentValues<C> | undefined;
    /** Default: "u8". */
    type?: T;
}

/** How an archive is read; by default strictly. */
export interface ReadOptions {
    /** Of the roots of the archive, which keep their transforms relative to it. Default: none. */
    parent?: Entity;
    /**
     * For components that changed, by their names in the archive: a component takes the bytes, which needs the
     * same size; null leaves the component out.
     */
    // The types of each one's function are its own.
    migrations?: Readonly<Record<string, Migration<any, any> | Component | null>>;
    /** Leave components out that are not registered, instead of refusing the archive. Default: false. */
    skipUnknown?: boolean;
    /** Refuse an archive of more entities. Default: 0, no limit. */
    nodeLimit?: number;
}

/** How an archive is applied. */
export interface ApplyOptions extends ReadOptions {
    /**
     * The archive with handles that was read or applied last, and the entities that it became: nodes are found by
     * their handles there, for a world that follows another one. What the new archive lacks is destroyed.
     * Default: the handles are those of this world.
     */
    known?: { bytes: Bytes; entities: Entities };
}

/** What an archive was read into. */
export interface ReadEntities {
    /** "ESPL_OK", or a remark. */
    status: Done;
    /** In the order of the archive: each root comes before what is below it, breadth-first. */
    entities: BigUint64Array;
    /** The roots of the archive. */
    tops: BigUint64Array;
}

/** Read what an archive says of itself, and check its checksums. */
export function inspectArchive(bytes: Bytes): ArchiveInfo;
/** Make the delta by which one archive becomes another one. Handles in both of them make it small. */
export function diffArchives(before: Bytes, after: Bytes): Uint8Array;
/** Carry a delta out: return, byte for byte, the archive that `before` becomes. */
export function patchArchive(before: Bytes, delta: Bytes): Uint8Array;

// --- The world ---

/**
 * One independent container of entities. It owns memory of the library: close it when it is no longer
 * needed, by close() or by `using`. After that every method throws EspalierError "CLOSED", and close()
 * does nothing.
 *
 * A call that is refused throws an EspalierError and has changed nothing. Methods without another result
 * return the name of their status, "ESPL_OK" or a remark; `status` has that of the last call.
 */
export class World {
    /** Make an empty world. */
    constructor(options?: WorldOptions);
    /** Free the world, with its command buffers, batches, watches and open iterations. */
    close(): void;
    /** The same as close(). */
    [Symbol.dispose](): void;
    /** Tells whether close() was called. */
    readonly isClosed: boolean;
    /** Status of the last call that was not refused. */
    readonly status: Done;
    /** Instructions that compute transforms: "simd128", or "scalar". */
    readonly kernels: string;
    /** Version of the columns of components: each write increases it. For Query.since. */
    readonly version: bigint;

    /** Destroy every entity, and keep what was registered. */
    clear(): Done;
    /** Free unused memory of the world, and lay every hierarchy out. */
    compact(): Done;
    /**
     * Hash of what can be read ("logical"), the same on every machine and in every language, or of the
     * storage too ("physical").
     */
    hash(kind?: "logical" | "physical"): bigint;
    /** Check every invariant; null where all hold, else the sentence of the broken one. */
    validate(): string | null;
    /** Figures of the world. */
    stats(): WorldStats;
    /**
     * Make room, so that later calls take no memory: for entities; for rows of them with a set of components;
     * for batches of writes; for the stretch, user data and inherit flags of a hierarchy; for collects of each
     * Watch that there is, with so many entities.
     */
    reserve(room: {
        entities?: number; components?: readonly Component[]; rows?: number; writes?: number;
        sideOf?: Entity; watchEntities?: number;
    }): Done;

    // Creation and destruction

    /** Create an entity, with its name too. All or nothing. */
    create(options?: CreateNamedOptions): Entity;
    /** Create entities that are all alike. */
    createMany(count: number, options?: CreateOptions): BigUint64Array;
    /** Clone an entity with all that it owns. */
    instantiate(source: Entity, options?: InstantiateOptions): Entity;
    /** Clone an entity so often; the result has the first entity of each clone. */
    instantiateMany(source: Entity, count: number, options?: InstantiateOptions): BigUint64Array;
    /**
     * Clone a prefab, or any entity, below a parent: instantiate() in short. `local` is relative to the parent,
     * or else to the world; without it the clone has the transform of the prefab.
     */
    spawn(prefab: Entity, parent?: Entity, local?: TransformValue): Entity;
    /** Destroy an entity and what the extent says below it. Default: "owned". */
    destroy(entity: Entity, extent?: Extent): Done;
    /** Destroy entities, all or none. */
    destroyMany(entities: Entities, extent?: Extent): Done;
    /** Tell whether a handle names a living entity of this world. */
    isAlive(entity: Entity): boolean;
    /** Let queries find the entities of the extent, or skip them. Default: "owned". */
    setEnabled(entity: Entity, isEnabled: boolean, extent?: Extent): Done;
    /** Tell whether a living entity is not disabled. */
    isEnabled(entity: Entity): boolean;

    // Structure. For a handle that names no living entity the reads return 0n, 0, -1, "none" or false.

    /** Make an entity, with all below it, a child of another one. Its world transform stays by default. */
    attach(child: Entity, parent: Entity, options?: AttachOptions): Done;
    /** Attach each child to the parent at its index, all or none. */
    attachMany(children: Entities, parents: Entities, options?: AttachOptions): Done;
    /** Make an entity a root or solo. Its world transform stays by default. */
    detach(entity: Entity, keep?: Keep): Done;
    /** Move an entity before a sibling, or to the end. */
    moveBefore(entity: Entity, before?: Entity): Done;
    /** 0n for a root or solo. */
    getParent(entity: Entity): Entity;
    /** Top of the hierarchy: the entity itself for a root or solo. */
    getRoot(entity: Entity): Entity;
    /** 0n where there is none. */
    getFirstChild(entity: Entity): Entity;
    /** 0n where there is none. */
    getLastChild(entity: Entity): Entity;
    /** Sibling before it under the same parent; 0n where there is none. */
    getPreviousSibling(entity: Entity): Entity;
    /** Sibling after it under the same parent; 0n where there is none. */
    getNextSibling(entity: Entity): Entity;
    /** All children in their order. */
    getChildren(entity: Entity): BigUint64Array;
    /** Place in the structure. */
    getRole(entity: Entity): Role;
    /** "owned" for a root or solo. */
    getLink(entity: Entity): Link;
    /** Links below the root; -1 for a handle that names no living entity. */
    getDepth(entity: Entity): number;
    /** Count the children. */
    countChildren(entity: Entity): number;
    /** Count everything below. */
    countDescendants(entity: Entity): number;
    /** Tell whether the first entity is above the second one. */
    isAncestor(ancestor: Entity, entity: Entity): boolean;
    /**
     * Copy an entity and what the extent says below it, breadth-first: handles, the index of each parent (-1
     * for the top), and links below the top. Default: "subtree".
     * @param transforms  which transforms are copied as well, 12 words of 32 bits each: relative to the parent, to
     *                    the world, or as "models" to the top, whose pose is the identity then, so that the bits do
     *                    not depend on where it is. Default: none.
     */
    copySubtree<T extends "locals" | "worlds" | "models" = never>(top: Entity, extent?: Extent,
        transforms?: readonly T[]): {
        entities: BigUint64Array; parents: Int32Array; depths: Uint32Array;
    } & Record<T, Float32Array>;

    // Names

    /** Name an entity; "" takes the name away. Up to 255 bytes of UTF-8 without "/". */
    setName(entity: Entity, name: string): Done;
    /** "" for an entity without a name. */
    getName(entity: Entity): string;
    /**
     * Find an entity by a name, or a path: "hand" is at any depth below `top`, "arm/hand" has a parent of the
     * name "arm", "/arm" is a child of `top`. Without `top` it searches the whole world: "/arm" is a root then.
     * 0n where there is none.
     */
    find(path: string, top?: Entity): Entity;
    /** Names from the root on: "root/arm/hand". */
    getPath(entity: Entity): string;
    /** What can be read of one entity, as lines of text for people. */
    dump(entity: Entity): string;

    // Components

    /**
     * Register a component: a value of `length` elements of a type, up to 4096 bytes. Default: one "f32".
     * A struct of several types is a "u8" of its size, read through a DataView, with `fields`.
     */
    registerComponent<T extends ElementType = "f32">(name: string, shape?: ComponentShape<T>): Component<T>;
    /** Add components, or set their values, and remove others, in one step. */
    change(entity: Entity, add: readonly ComponentEntry[], remove?: readonly Component[]): Done;
    /** Add a component with a value, zeros by default; set the value where the entity has it. */
    add<T extends ComponentType>(entity: Entity, component: Component<T>, values?: ComponentValues<T>): Done;
    /** Remove a component; does nothing if the entity lacks it. */
    remove(entity: Entity, component: Component): Done;
    /** Tell whether a living entity has a component. */
    has(entity: Entity, component: Component): boolean;
    /** Copy a component's value out. */
    get<T extends ComponentType>(entity: Entity, component: Component<T>, out?: ComponentValue<T>):
        ComponentValue<T>;
    /** Set the value of a component that the entity has. */
    set<T extends ComponentType>(entity: Entity, component: Component<T>, values: ComponentValues<T>): Done;

    // Transforms, one at a time. A write propagates at once: what is read after it is always current.
    // `out` is written and returned, where it is given, and saves an allocation. A write by name takes no flag:
    // write() does, for "teleport" and "carry".

    /** Read a kind. */
    read<K extends ReadKind>(entity: Entity, kind: K,
        out?: K extends TransformKind ? Transform : KindArray<K>): ReadValue<K>;
    /** Write a kind. */
    write<K extends WriteKind>(entity: Entity, kind: K, value: WriteValue<K>, flag?: WriteFlag): Done;
    /** Read the transform relative to the parent. */
    getLocalTransform(entity: Entity, out?: Transform): Transform;
    /** Read rotation, position and scale relative to the parent; the other parts are the identity's. */
    getLocalPose(entity: Entity, out?: Transform): Transform;
    /** Read the position relative to the parent. */
    getLocalPosition(entity: Entity, out?: Float32Array): Float32Array;
    /** Read the rotation relative to the parent. */
    getLocalRotation(entity: Entity, out?: Float32Array): Float32Array;
    /** Read the scale relative to the parent's. */
    getLocalScale(entity: Entity): number;
    /** Read the transform relative to the world. */
    getWorldTransform(entity: Entity, out?: Transform): Transform;
    /** Read rotation, position and scale in the world; the other parts are the identity's. */
    getWorldPose(entity: Entity, out?: Transform): Transform;
    /** Read the position in the world. */
    getWorldPosition(entity: Entity, out?: Float32Array): Float32Array;
    /** Read the rotation in the world. */
    getWorldRotation(entity: Entity, out?: Float32Array): Float32Array;
    /** Read the scale in the world. */
    getWorldScale(entity: Entity): number;
    /** Read the world transform as it is drawn: see present(). Stretch and user data are not blended. */
    getShownTransform(entity: Entity, out?: Transform): Transform;
    /** Read rotation, position and scale as they are drawn. */
    getShownPose(entity: Entity, out?: Transform): Transform;
    /** Read the position as it is drawn. */
    getShownPosition(entity: Entity, out?: Float32Array): Float32Array;
    /** Read the rotation as it is drawn. */
    getShownRotation(entity: Entity, out?: Float32Array): Float32Array;
    /** Read the scale as it is drawn. */
    getShownScale(entity: Entity): number;
    /** Read the stretch, which is the same in both spaces. */
    getStretch(entity: Entity, out?: Float32Array): Float32Array;
    /** Read the user data. */
    getUserData(entity: Entity): number;
    /** Write the whole transform: parts that are left out become those of the identity. */
    setLocalTransform(entity: Entity, value: TransformValue): Done;
    /** Write rotation, position and scale; stretch and user data stay. */
    setLocalPose(entity: Entity, value: TransformValue): Done;
    /** Write the position relative to the parent. */
    setLocalPosition(entity: Entity, value: Vector): Done;
    /** Write the rotation relative to the parent. */
    setLocalRotation(entity: Entity, value: Quaternion): Done;
    /** Write the scale relative to the parent's. */
    setLocalScale(entity: Entity, value: number): Done;
    /** Write the whole transform: parts that are left out become those of the identity. */
    setWorldTransform(entity: Entity, value: TransformValue): Done;
    /** Write rotation, position and scale in the world; stretch and user data stay. */
    setWorldPose(entity: Entity, value: TransformValue): Done;
    /** Write the position in the world. */
    setWorldPosition(entity: Entity, value: Vector): Done;
    /** Write the rotation in the world. */
    setWorldRotation(entity: Entity, value: Quaternion): Done;
    /** Write the scale in the world. */
    setWorldScale(entity: Entity, value: number): Done;
    /** Write the stretch. */
    setStretch(entity: Entity, value: Vector): Done;
    /** Write the user data, a whole number from 0 to 4294967295. */
    setUserData(entity: Entity, value: number): Done;
    /** Move along axes. Default: the parent's. */
    translate(entity: Entity, offset: Vector, space?: Space): Done;
    /** Turn about axes; the position stays. Default: the parent's. */
    rotate(entity: Entity, rotation: Quaternion, space?: Space): Done;
    /** Turn about a point of the world: position and rotation change. */
    rotateAbout(entity: Entity, pivot: Vector, rotation: Quaternion): Done;
    /** Turn an axis, "forward" (+Z) by default, towards a point of the world. `up` is +Y by default. */
    lookAt(entity: Entity, target: Vector, options?: { up?: Vector; forward?: Axis }): Done;
    /** Bits of Inherit; 0 for a handle that names no member. */
    getInherit(entity: Entity): number;
    /** Change which parts of its world a member takes from its parent; the world stays. */
    setInherit(entity: Entity, flags: number): Done;
    /** Read the world transform as a matrix: 16 numbers, column by column, as WebGL and glTF have them. */
    getMatrix<A extends { [index: number]: number } = Float32Array>(entity: Entity, out?: A): A;
    /** Read the shown transform as a matrix, as getMatrix(). */
    getShownMatrix<A extends { [index: number]: number } = Float32Array>(entity: Entity, out?: A): A;
    /** Read the inverse of getMatrix(), for a camera's view. */
    getInverseMatrix<A extends { [index: number]: number } = Float32Array>(entity: Entity, out?: A): A;
    /** Read the transform of an entity relative to another one, of any hierarchy. */
    getRelativeTransform(frame: Entity, entity: Entity, out?: Transform): Transform;
    /** Convert between the axes of an entity and those of the world. */
    convert(entity: Entity, conversion: Conversion, value: Vector, out?: Float32Array): Float32Array;

    // Transforms, many at a time

    /**
     * Read a kind of many entities, one value behind the other, into `out` or a new array. Where an entity is
     * refused the status is "ESPL_PARTLY", and its value stays as it was in `out`, or is NaN in a new array
     * (0 for "userData" and "cell").
     */
    readMany<K extends ReadKind>(kind: K, entities: Entities, out?: KindArray<K>): KindArray<K>;
    /**
     * Write a kind of many entities, with one propagation for each hierarchy. An entry that a single write
     * would refuse is refused alone and counted: read the report.
     */
    writeMany<K extends WriteKind>(kind: K, entities: Entities, values: KindArray<K> | Numbers,
        flag?: WriteFlag): WriteReport;
    /**
     * Read the matrices of many entities, 16 numbers each, column by column, as WebGL and the InstancedMesh of
     * three.js have them: of the world transforms, or of the shown ones. As readMany().
     */
    readMatrices(kind: "world" | "shown", entities: Entities, out?: Float32Array): Float32Array;

    /**
     * Give each entity the world transform of a source, of another world or of this one: all are read, then all
     * are written. So a world of entities that are only shown follows a simulation that is rewound. As writeMany().
     */
    copyWorldTransforms(entities: Entities, world: World, sources: Entities): WriteReport;

    // Large worlds, of which WorldOptions.cellSize is not 0: each hierarchy has a cell, and its world transforms
    // are relative to the middle of that. Two entities that are near each other have a precise distance anywhere.

    /** Size of the cells; 0: the world has none. */
    readonly cellSize: number;
    /**
     * Move the whole world by cells, which is exact, and changes no transform; and by an offset, in a world without
     * cells. Default: 0, 0, 0 for both.
     */
    rebase(cells?: Numbers, offset?: Vector): Done;
    /**
     * Bring each hierarchy that is more than `limit` cells from the middle of its cell to the nearest cell, once a
     * second for example; its absolute position stays. 0, the default, means 1; at least 0.5.
     * @returns how many got another cell.
     */
    recenter(limit?: number): number;
    /** Read the cell of the hierarchy of an entity. */
    getCell(entity: Entity, out?: Int32Array): Int32Array;
    /** Move a root or solo to a cell; its position in the cell stays. */
    setCell(entity: Entity, cell: Numbers): Done;
    /** Read the position from the middle of cell 0, 0, 0; without cells the world position. */
    getAbsolutePosition(entity: Entity, out?: Float64Array): Float64Array;
    /** Place an entity: a root or solo gets the nearest cell, and a member keeps that of its root. */
    setAbsolutePosition(entity: Entity, position: Vector): Done;
    /** Read the cell and the position of an entity, a camera for example. */
    getOrigin(entity: Entity): { cell: Int32Array; offset: Float32Array };
    /** readMany() relative to an origin. What is near it is precise. */
    readRelative<K extends RelativeKind>(origin: Origin, kind: K, entities: Entities, out?: Float32Array):
        Float32Array;
    /** readMatrices() relative to an origin. */
    readRelativeMatrices(origin: Origin, kind: "world" | "shown", entities: Entities, out?: Float32Array):
        Float32Array;
    /** getMatrix() relative to an origin. */
    getRelativeMatrix<A extends { [index: number]: number } = Float32Array>(origin: Origin, entity: Entity,
        out?: A): A;

    // One entity in several worlds: an entity may stand for one of another world, its original. The handle of the
    // original is compared and never followed, so that it may be of another worker or machine. Worlds are told
    // apart by their tags.

    /** Make an entity the counterpart of one of another world; 0n ends the link. */
    setCounterpart(entity: Entity, original: Entity): Done;
    /** The living entity of this world that stands for a handle of another one; 0n where there is none. */
    findCounterpart(original: Entity): Entity;
    /** The original of an entity; 0n where it has none. */
    getOriginal(entity: Entity): Entity;
    /**
     * Make counterparts of an entity of another world and of what is below it, with their transforms, and return
     * the first one. All or nothing.
     */
    placeCounterparts(from: World, original: Entity, options?: PlacingOptions): Entity;
    /**
     * Repeat what changed in another world: counterparts of removed entities are destroyed, and those of the others
     * get their transforms, as one batch. Worlds that follow each other agree bit for bit.
     */
    follow(changes: ChangesLike, options?: FollowOptions): FollowReport;

    // Motion between ticks

    /**
     * Keep what motion needs: the previous pose of each entity, and the shown one. With a history of 2 the
     * "before" kinds read the tick before the last. Default: 1.
     */
    startMotion(options?: { history?: number }): Done;
    /** Drop what motion keeps; the world is shown from then on. */
    stopMotion(): Done;
    /** Begin a tick: what is written until endTick() is blended. What is written outside is shown as it is. */
    beginTick(): Done;
    /** End the tick. */
    endTick(): Done;
    /**
     * Call a function in a tick, which ends when it returns or throws, and return its result. It must not be
     * async: what comes after its first await is outside the tick.
     */
    tick<T>(body: (world: World) => T): T;
    /**
     * Compute what is shown: 0 is the begin of the last tick, 1 its end; more than 1 goes beyond it. Read it by
     * the "shown" kinds, getShownMatrix(), readMatrices(), HierarchyView.shownPoses, or a Watch.
     */
    present(at: number): PresentReport;

    // The world as a value. A sink and a migration run inside the call: they must not be async, and must not
    // use the package, except `quat`. What they throw is thrown by the call.

    /** How many loads and rewinds there were: a handle from before the last one may name another entity. */
    readonly timeline: bigint;
    /** Count the bytes of an image of the world. */
    imageSize(): number;
    /**
     * Save the whole world, into `out` where it is given, which has imageSize() bytes or more. Worlds on which
     * the same calls were made have the same bytes.
     * @returns the image: a new array, or the part of `out` that has it.
     */
    saveImage(out?: Uint8Array): Uint8Array;
    /**
     * Become the world that was saved, with its handles: the same calls come to the same bits and handles from
     * then on. All or nothing. The world has registered the same components before, in the same order.
     * Command buffers and watches stay; a watch finds the difference, and a history has no frame.
     */
    loadImage(bytes: Bytes, options?: LoadOptions): Done;
    /** Write hierarchies as bytes that any build reads: all of the world by default. */
    writeArchive(options?: ArchiveOptions): Uint8Array;
    /** Write an archive piece by piece to a function, which refuses one by false: see writeArchive(). */
    writeArchiveTo(sink: (piece: Uint8Array) => unknown, options?: ArchiveOptions): Done;
    /** Create what an archive has, and return the entities. All or nothing. */
    readArchive(bytes: Bytes, options?: ReadOptions): ReadEntities;
    /**
     * Make entities that live what an archive with handles says, and create the others. All or nothing. A node
     * is the living entity that its handle names, which survives with its handle, wherever it was. Every other
     * entity below a survivor is destroyed.
     */
    applyArchive(bytes: Bytes, options?: ApplyOptions): ReadEntities;

    // Objects of the world

    /** new Query(this, definition) */
    query(definition?: QueryDefinition): Query;
    /** new HierarchyView(this, entity) */
    view(entity: Entity): HierarchyView;
    /** new Batch(this, kind, capacity) */
    batch<K extends ReadKind | WriteKind>(kind: K, capacity: number): Batch<K>;
    /** new Watch(this, options) */
    watch(options?: WatchOptions): Watch;
    /** new History(this, options) */
    history(options?: HistoryOptions): History;
    /** new Renderables(this, options) */
    renderables(options?: RenderablesOptions): Renderables;
    /** new Visible(this) */
    visible(): Visible;
    /** new Instances(this, options) */
    instances(options?: InstancesOptions): Instances;
    /** new CommandBuffer(this) */
    commands(): CommandBuffer;
    /** Play every submitted command buffer, in order of submission. The report has the sums. */
    sync(): PlaybackReport;
}

// --- Views ---

/** Which entities a query finds; without any list those that are neither prefabs nor disabled. */
export interface QueryDefinition {
    /** The entity has each of these. Roles too: all: [ROOT] finds roots only. */
    all?: Iterable<Component>;
    /** The entity has none of these. */
    none?: Iterable<Component>;
    /** The entity has at least one of these. */
    any?: Iterable<Component>;
    /** The chunk has one of these, and its column was written after `since`. */
    changed?: Iterable<Component>;
    /** A World.version. Default: 0n, which every write is after. */
    since?: bigint;
    /** Find prefabs too. Default: false. */
    includePrefabs?: boolean;
    /** Find disabled entities too. Default: false. */
    includeDisabled?: boolean;
}

/**
 * A query, for any number of iterations. It owns no memory and needs no close().
 *
 * From the first chunk until the loop ends, by break and by exceptions too, the world is in iteration:
 * calls that change structure throw ESPL_ERR_BUSY; transforms and components may be written. Record
 * commands in the loop, and play them after it. An iterator that is used without a loop and left before its
 * end keeps the world in iteration until its return() is called or it is collected; the message of
 * ESPL_ERR_BUSY says so.
 */
export class Query implements Iterable<Chunk> {
    /** Make a query; it may be used as long as the world. */
    constructor(world: World, definition?: QueryDefinition);
    /** The world that it belongs to. */
    readonly world: World;
    /** The version of the definition; may be set between iterations. */
    since: bigint;
    /** Begin an iteration: `for (const chunk of query)`. */
    [Symbol.iterator](): IterableIterator<Chunk> & {
        return(value?: unknown): IteratorResult<Chunk, unknown>;
        throw(error?: unknown): IteratorResult<Chunk, unknown>;
    };
    /** Copy the handles of all entities that the query finds. */
    entities(): BigUint64Array;
}

/**
 * Entities with the same components, up to 128, as rows of columns. It can be read until the loop goes on;
 * after that its members throw EspalierError "CLOSED".
 *
 * Its arrays show the library's memory without a copy. Take them from the getter where they are needed,
 * and do not keep them: an array from before the memory grew is detached, with a length of 0.
 */
export class Chunk {
    /** Made by the package alone. */
    private constructor();
    /** Rows. */
    readonly count: number;
    /** [count] handles. To be read only. */
    readonly entities: BigUint64Array;
    /** [count] For each row the index of its pose in `poses`; null where the entities have no transform. */
    readonly slots: Uint32Array | null;
    /**
     * World poses, 8 numbers each: rotation, position, scale. That of row r begins at 8 * slots[r]. They are
     * current, also after writes in the loop. To be read only; null where the entities have no transform.
     */
    readonly poses: Float32Array | null;
    /** Column of a component, to be read only: count times its length; null where the chunk lacks it. */
    read<T extends ComponentType>(component: Component<T>): ComponentArray<T> | null;
    /** The same, to be written. The call counts as a write of the column. */
    write<T extends ComponentType>(component: Component<T>): ComponentArray<T> | null;
    /** Copy a kind of all rows, one value behind the other. */
    readTransforms<K extends ReadKind>(kind: K, out?: KindArray<K>): KindArray<K>;
}

/**
 * The world poses of a whole hierarchy as one array, parents before children, without a copy: for the upload
 * to a GPU, for example. Each getter shows the hierarchy as it is now, so a view may be kept for the life
 * of the entity. Where the structure has changed the getter may lay the hierarchy out, which is a change
 * of structure, and which an open iteration refuses with ESPL_ERR_BUSY.
 */
export class HierarchyView {
    /** View the hierarchy of an entity; may lay it out. */
    constructor(world: World, entity: Entity);
    /** The world that it belongs to. */
    readonly world: World;
    /** Entities in the hierarchy. */
    readonly count: number;
    /**
     * [8 * count] world poses: rotation, position, scale. To be read only. Take the array from this getter
     * each time: an older one is detached where the memory has grown, and may show other entities where
     * the structure has changed.
     */
    readonly poses: Float32Array;
    /** [8 * count] shown poses, in the same order; without motion the world poses. As `poses`. */
    readonly shownPoses: Float32Array;
    /** Copy for each entity the index of its parent; -1 for the root. */
    parents(): Int32Array;
    /** Copy the handles, in the order of the poses. */
    entities(): BigUint64Array;
}

/**
 * Handles and values of one kind in the library's memory, so that reads and writes of many entities copy
 * nothing between JavaScript and the library. Fill `entities` once; then read(), or fill `values` and
 * write(), as often as needed. Close it when it is no longer needed; the world closes it as well.
 */
export class Batch<K extends ReadKind | WriteKind = ReadKind | WriteKind> {
    /** Take the memory; handles and values are zeros. */
    constructor(world: World, kind: K, capacity: number);
    /** Free the memory. */
    close(): void;
    /** The same as close(). */
    [Symbol.dispose](): void;
    /** Tells whether close() was called. */
    readonly isClosed: boolean;
    /** The world that it belongs to. */
    readonly world: World;
    /** Entities that it has room for. */
    readonly capacity: number;
    /**
     * [capacity] handles, to be filled. Take the array from this getter each time: one from before the memory
     * grew is detached, with a length of 0. The contents stay.
     */
    readonly entities: BigUint64Array;
    /** Values, one behind the other, as many numbers each as the kind has. As `entities`. */
    readonly values: KindArray<K>;
    /** Read the first entities into `values`; all by default. As World.readMany(). */
    read(count?: number): Done;
    /** Write `values` to the first entities; all by default. As World.writeMany(). */
    write(count?: number, flag?: WriteFlag): WriteReport;
}

// --- Watches ---

/** What a watch reports: of the entities with a transform, without any list those neither prefab nor disabled. */
export interface WatchOptions extends Pick<QueryDefinition, "includePrefabs" | "includeDisabled"> {
    /** The entity has each of these. */
    all?: readonly Component[];
    /** The entity has none of these. */
    none?: readonly Component[];
    /** The entity has at least one of these. */
    any?: readonly Component[];
    /** Which changes; "shown" needs motion, and "cell" a world with cells. Default: ["world"]. */
    kinds?: readonly ("world" | "local" | "shown" | "cell")[];
    /**
     * Keep what was reported, so that only entities that differ from it are, and Changes.changedBefore has what
     * they were. World and shown transforms are compared, whichever are asked for, and "local" is not.
     * Default: false.
     */
    before?: boolean;
}

/**
 * A consumer of the changes of a world, such as a renderer. No entity that differs from the last collect is left
 * out, whatever changed it; one that does not differ may be reported as well, unless `before` was given. Any
 * number of watches see one world, each at a rate of its own. Close it when it is no longer needed; the world
 * closes it as well.
 */
export class Watch {
    /** Begin to watch. */
    constructor(world: World, options?: WatchOptions);
    /** Free the memory, and end what was collected. */
    close(): void;
    /** The same as close(). */
    [Symbol.dispose](): void;
    /** Tells whether close() was called. */
    readonly isClosed: boolean;
    /** The world that it belongs to. */
    readonly world: World;
    /**
     * What changed since the last collect; at first every entity is added. Allowed in the loop of a query.
     * @param since  the Changes.moment of an earlier collect, whose consumer lost what came after it: `changed`
     * has all that changed since then; `removed` and `added` stay relative to the last collect.
     */
    collect(since?: bigint): Changes;
}

/**
 * What a watch collected. It can be read until the next collect of the watch, or its end; after that its members
 * throw EspalierError "CLOSED".
 *
 * Its arrays show the library's memory without a copy, and are to be read only. Take them from the getter where
 * they are needed: an array from before the memory grew is detached, with a length of 0. slice() copies.
 */
export class Changes {
    /** Made by the package alone. */
    private constructor();
    /** Handles of the last collect that no longer answer, most of them dead; ascending by index. */
    readonly removed: BigUint64Array;
    /** Entities that the last collect did not have; ascending by index. */
    readonly added: BigUint64Array;
    /** Entities that both have and that changed, in the order of memory. */
    readonly changed: BigUint64Array;
    /** For each of `changed` what changed: bits of Watched. */
    readonly kinds: Uint8Array;
    /**
     * For each of `added` the world transform, with "shown" the shown one, 12 words: rotation, position, scale,
     * stretch, and the user data as the bits of a whole number. Empty without "world" and "shown".
     */
    readonly addedWorlds: Float32Array;
    /** For each of `changed`, as `addedWorlds`. */
    readonly changedWorlds: Float32Array;
    /** For each of `added` the local transform, 12 words; null without "local". */
    readonly addedLocals: Float32Array | null;
    /** For each of `changed` the local transform, 12 words; null without "local". */
    readonly changedLocals: Float32Array | null;
    /** For each of `changed` what was reported last; null without `before`. */
    readonly changedBefore: Float32Array | null;
    /**
     * For each of `added` four whole numbers: the cell of its hierarchy, and 1 where it has no parent, else 0; null
     * without "cell".
     */
    readonly addedCells: Int32Array | null;
    /** For each of `changed`, as `addedCells`. */
    readonly changedCells: Int32Array | null;
    /** World.cellSize of a watch with "cell"; else 0. */
    readonly cellSize: number;
    /** Of this collect, for Watch.collect(). */
    readonly moment: bigint;
    /** The look went so far back that `changed` has all entities of blocks in which some changed. */
    readonly isCoarse: boolean;
    /** Copy `addedWorlds` as matrices, 16 numbers each, column by column, as WebGL and three.js have them. */
    addedMatrices(out?: Float32Array): Float32Array;
    /** Copy `changedWorlds` as matrices, as addedMatrices(). */
    changedMatrices(out?: Float32Array): Float32Array;
}

// --- Histories ---

/** What a history keeps. */
export interface HistoryOptions {
    /** Upper bound of the frames that are kept, at most 65536. Default: 8. */
    frames?: number;
    /** Bytes for what changed between the frames. Default: 16 MiB. */
    byteLimit?: number;
    /** Keep a checksum of each frame, for History.hash(). Default: false. */
    hash?: boolean;
}

/** What a rewind did; the arrays are copies. */
export interface Rewound {
    /** Handles that lived before the rewind and do not now, ascending by index. */
    unborn: BigUint64Array;
    /** Handles that live now and did not before, ascending by index. */
    revived: BigUint64Array;
}

/**
 * The frames to which a world can be rewound: for rollback, and for undo. A world has one at most. Marks and
 * rewinds cost what changed. World.compact(), loadImage(), startMotion() and stopMotion() empty it. Close it when
 * it is no longer needed; the world closes it as well.
 */
export class History {
    /** Begin to keep what changes. */
    constructor(world: World, options?: HistoryOptions);
    /** Free the memory. Throws ESPL_ERR_BUSY while a query is iterated. */
    close(): void;
    /** The same as close(). */
    [Symbol.dispose](): void;
    /** Tells whether close() was called. */
    readonly isClosed: boolean;
    /** The world that it belongs to. */
    readonly world: World;
    /**
     * Mark the world as it is now. The numbers of frames ascend, up to 2 ** 53 - 1. The oldest frames are
     * dropped where there are more than `frames`, or where what changed since them takes more than `byteLimit`
     * bytes. Returns "ESPL_PARTLY" where the frame is the only one, because what changed since the newest frame
     * alone takes more.
     */
    mark(frame: number): Done;
    /**
     * Make the world what it was when a frame was marked, which is the newest one then. The same calls come to
     * the same bits and handles as they did the first time; with `fresh` handles of entities that were made since
     * the mark never name another entity. Throws ESPL_ERR_TOO_OLD where the history does not have the frame.
     */
    rewind(frame: number, options?: { fresh?: boolean }): Rewound;
    /** The oldest and the newest frame; undefined where there is none. */
    readonly range: { oldest: number; newest: number } | undefined;
    /**
     * The checksum of a frame: equal for worlds on which the same calls come to the same results, on every
     * machine; where a component has numbers that no field describes, on those of the same order of bytes. Needs
     * `hash`: else it throws ESPL_ERR_UNSUPPORTED.
     */
    hash(frame: number): bigint;
}

// --- Renderables ---

/** How renderables are made. */
export interface RenderablesOptions {
    /** Edge of a cell of the spatial order, in world units. Default: chosen at the first update that finds some. */
    cellSize?: number;
    /** Renderables that one update may move to another cluster. Default: 2048. */
    refileBudget?: number;
    /** Bytes of your own in each mirror, at most 65536. Default: 0. */
    userSize?: number;
}

/** What an update did. */
export interface RenderablesReport {
    /** "ESPL_PARTLY" where some entities are left out: see `bad`. */
    status: Done;
    /** Renderables after the update, with those of `bad`. */
    renderables: number;
    /** Of them those that the library keeps apart because they move. */
    moving: number;
    /** Clusters after the update. */
    clusters: number;
    /** Entities and slots that were looked at: how much work it was. */
    marked: number;
    /** Renderables that stay and whose pose differs. */
    moved: number;
    /** Renderables that came. */
    added: number;
    /** Renderables that went. */
    removed: number;
    /** Clusters whose poses were written anew. */
    rewritten: number;
    /** Renderables that were moved to another cluster. */
    refiled: number;
    /** Renderables that will be moved to another cluster by later updates. */
    waiting: number;
    /**
     * Entities that would be renderables, but a number of their components or of their world transform is not
     * finite, or a half of their box is negative. They are in no result.
     */
    bad: number;
    /** Of them the one with the lowest index; 0n: none. */
    firstBad: Entity;
    /** Number of the mirror, from 1. */
    number: number;
}

/** A level of detail. */
export interface Level {
    /** The key that is drawn. */
    key: number;
    /** While the size is at least so many pixels. */
    size: number;
}

/**
 * The renderables of a world: entities with a transform and the components `bounds` and `renderable`, which are
 * neither prefabs nor disabled. update() reads what changed since the update before, and makes a mirror, which
 * Visible.cull() tests. A world has its renderables once.
 *
 *     const drawn = world.renderables(), visible = world.visible(), instances = world.instances();
 *     world.create({ position, components: [[drawn.bounds, [0, 0, 0, 1, 1, 1]], [drawn.renderable, [mesh, 0, 0]]] });
 *     function draw(matrix) {
 *         drawn.update();
 *         visible.cull(drawn.mirror, { matrix });
 *         visible.write(instances);
 *         for (const { key, first, count } of visible.groups()) drawMesh(key, instances.matrices, first, count);
 *     }
 */
export class Renderables {
    /** Make them, and register the three components where the world does not have them. Structural. */
    constructor(world: World, options?: RenderablesOptions);
    /** Free the memory, and end the mirror. Throws ESPL_ERR_BUSY while a query is iterated. */
    close(): void;
    /** The same as close(). */
    [Symbol.dispose](): void;
    /** Tells whether close() was called. */
    readonly isClosed: boolean;
    /** The world that it belongs to. */
    readonly world: World;
    /**
     * The component "bounds", the box around the geometry in the axes of the entity: 3 numbers of its centre, and
     * the halves of its edges, which are not negative.
     */
    readonly bounds: Component<"f32">;
    /** The component "renderable": a key, which draws share, a word of your own, and bits of Renderable. */
    readonly renderable: Component<"u32">;
    /**
     * The component "layers", of any entity: a mask, and bits of Layers. The layers of an entity are its mask and
     * those of its parent; without the component those of its parent, or all 32.
     */
    readonly layers: Component<"u32">;
    /** Reserve memory for updates of so many renderables in all. */
    reserve(count: number): Done;
    /**
     * Make a mirror of the world as it is now, in time that grows with what changed. Allowed in the loop of a
     * query. The mirror before is ended, unless the call throws.
     * @param user  `userSize` bytes for Mirror.user. Default: zeros.
     */
    update(user?: Bytes): RenderablesReport;
    /** The newest mirror; null before the first update. */
    readonly mirror: Mirror | null;
    /**
     * Make a key that stands for one of up to 8 keys by the size on the image, for the component `renderable`.
     * @param levels  sizes descend; what is smaller than the last one is not visible.
     */
    addLods(levels: readonly Level[]): number;
}

/**
 * All renderables of a world as they were at one update, valid until the next update. Other methods than `number`,
 * `renderables` and `clusters` throw an error with the status "CLOSED" from then on.
 */
export class Mirror {
    /** Made by the package alone. */
    private constructor();
    /** Of its update, from 1. */
    readonly number: number;
    /** Renderables in all clusters. */
    readonly renderables: number;
    /** Upper bound of the numbers of clusters. */
    readonly clusters: number;
    /** The bytes of the update, in the library's memory. */
    readonly user: Uint8Array;
    /**
     * The clusters that differ from those of an earlier mirror, ascending; also those that have no renderables any
     * more. A copy.
     * @param since  the number of that mirror; 0: all clusters that have renderables.
     */
    changed(since?: number): Uint32Array;
    /**
     * Write the renderables of one cluster, of which there are up to 128, and return how many there are. Those of a
     * cluster that changed() does not list have the same places as before. `sizes` are not written.
     * @param first  the instance to begin at.
     */
    write(cluster: number, instances: Instances, first?: number): number;
}

/** Forms of poses: 3 rows of 4, 4 columns of 4, 4 columns of 3; rotation, position and scale, without stretch. */
export type InstanceForm = "3x4" | "4x4" | "4x3" | "pose";

/** Which arrays instances have. */
export interface InstancesOptions {
    /** Form of `matrices` and `previous`. Default: "4x4", as WebGL and three.js have them. */
    form?: InstanceForm;
    /** Instances that there is room for. Default: 128. */
    capacity?: number;
    /** Have `previous`. Default: false. */
    previous?: boolean;
    /** Have `entities`. Default: false. */
    entities?: boolean;
    /** Have `userData`. Default: false. */
    userData?: boolean;
    /** Have `sizes`. Default: false. */
    sizes?: boolean;
    /** Have `cells`. Default: false. */
    cells?: boolean;
}

/**
 * Arrays in the library's memory that instances are written into, by Visible.write() and Mirror.write(). Their
 * lengths are those of `capacity` instances. Take them anew after a call that may grow the memory.
 */
export class Instances {
    /** Allocate the arrays, which are zeros. */
    constructor(world: World, options?: InstancesOptions);
    /** Free the memory. */
    close(): void;
    /** The same as close(). */
    [Symbol.dispose](): void;
    /** Tells whether close() was called. */
    readonly isClosed: boolean;
    /** The world that it belongs to. */
    readonly world: World;
    /** Instances that there is room for. What is written beyond makes it larger, at least twice as large. */
    readonly capacity: number;
    /** Make room for so many instances. What is written stays. */
    reserve(capacity: number): void;
    /** Poses, 12, 16 or 8 numbers each. */
    readonly matrices: Float32Array;
    /** Poses of the update before, for motion vectors; null without `previous`. */
    readonly previous: Float32Array | null;
    /** Handles; null without `entities`. */
    readonly entities: BigUint64Array | null;
    /** The second number of the component `renderable`; null without `userData`. */
    readonly userData: Uint32Array | null;
    /** Pixels on the image; null without `sizes`. */
    readonly sizes: Float32Array | null;
    /** Cells of the hierarchies, 3 numbers each, which are 0 in a world without cells; null without `cells`. */
    readonly cells: Int32Array | null;
}

/** What one list of visible renderables answers to: a camera, a cascade of shadows, a face of a probe. */
export interface Camera {
    /**
     * 16 numbers from the world to clip space, column by column: in three.js the elements of
     * camera.projectionMatrix times camera.matrixWorldInverse. Without it `planes` are those that are given.
     */
    matrix?: Numbers;
    /**
     * Depths of the clip space of `matrix`. Default: "minusOneToOne", which is WebGL's; no renderable that is
     * visible is lost by it where "zeroToOne" is right, as with WebGPU.
     */
    clip?: "zeroToOne" | "minusOneToOne";
    /** Up to 8 planes of 4 numbers: inside is x * p[0] + y * p[1] + z * p[2] + p[3] >= 0, with unit normals. */
    planes?: readonly Numbers[];
    /** Visible where a layer of the renderable is one of these bits. Default: all 32. */
    layers?: number;
    /** Subtracted from positions that are written, in double precision. Default: 0, 0, 0. */
    origin?: Vector;
    /** Where sizes are seen from. Default: 0, 0, 0. */
    eye?: Vector;
    /**
     * Height of the image in pixels / (2 * tan(vertical angle / 2)); orthographic: pixels of a world unit. Default:
     * 0, with which sizes are 0 and levels of detail the first.
     */
    pixels?: number;
    /** Pixels; what is smaller is not visible. Default: 0. */
    leastSize?: number;
    /** Sizes do not depend on the distance. Default: false. */
    orthographic?: boolean;
    /**
     * The cell that planes, eye and origin are relative to the middle of, in a world with `cellSize`. Default:
     * 0, 0, 0. Written positions are relative to it.
     */
    cell?: Vector;
}

/** How to cull. */
export interface CullOptions {
    /** Poses between the update before, 0, and the last one, 1. Default: those of the last one. */
    alpha?: number;
    /** Renderables of a group ascend by entity index, so that the order depends on the world alone. */
    byEntity?: boolean;
}

/** Visible renderables with one key, which follow each other in the order of Visible.write(). */
export interface Group {
    key: number;
    /** The first instance, from 0 for each camera. */
    first: number;
    /** The number of instances. */
    count: number;
}

/** What cameras see of a mirror. The visible set is exact, and the same on every machine. */
export class Visible {
    /** Make memory for results. */
    constructor(world: World);
    /** Free the memory. */
    close(): void;
    /** The same as close(). */
    [Symbol.dispose](): void;
    /** Tells whether close() was called. */
    readonly isClosed: boolean;
    /** The world that it belongs to. */
    readonly world: World;
    /** Find what each camera sees, up to 64 of them. */
    cull(mirror: Mirror, cameras: Camera | readonly Camera[], options?: CullOptions): Done;
    /** The groups of a camera of the last cull(), by key. A copy. */
    groups(camera?: number): Group[];
    /** How many renderables a camera of the last cull() sees. */
    count(camera?: number): number;
    /**
     * Write what a camera sees, in the order of its groups, and return how many instances that are. Throws an error
     * with the status "CLOSED" where the mirror has ended since cull().
     * @param first  the instance to begin at.
     */
    write(instances: Instances, camera?: number, first?: number): number;
}

// --- Commands ---

/**
 * Commands that are recorded now and played together, in order of their keys, then of recording. Recording
 * never reads the world: whether an entity lives is found at playback, where a command that is refused
 * changes nothing and is counted. A created entity has a pending handle, which later commands of the same
 * buffer may name, and resolve() turns into the entity's handle after the playback. Close it when it is no
 * longer needed; the world closes it as well.
 */
export class CommandBuffer {
    /** Make an empty buffer. */
    constructor(world: World);
    /** Free the memory. Commands that were not played are dropped. */
    close(): void;
    /** The same as close(). */
    [Symbol.dispose](): void;
    /** Tells whether close() was called. */
    readonly isClosed: boolean;
    /** The world that it belongs to. */
    readonly world: World;
    /** Commands recorded. */
    readonly count: number;

    /** Record World.create(), without a name; returns a pending handle. */
    create(options?: CreateOptions, key?: number): Entity;
    /** Record World.createMany(), as one command; returns pending handles. */
    createMany(count: number, options?: CreateOptions, key?: number): BigUint64Array;
    /** Record a clone of a prefab, or of any entity; returns a pending handle. */
    instantiate(source: Entity, options?: InstantiateOptions, key?: number): Entity;
    /** Record clones, as one command; returns pending handles. */
    instantiateMany(source: Entity, count: number, options?: InstantiateOptions, key?: number):
        BigUint64Array;
    /** Record World.spawn(); returns a pending handle. */
    spawn(prefab: Entity, parent?: Entity, local?: TransformValue, key?: number): Entity;
    /** Record World.destroy(). */
    destroy(entity: Entity, extent?: Extent, key?: number): void;
    /** Record World.attach(). */
    attach(child: Entity, parent: Entity, options?: AttachOptions, key?: number): void;
    /** Record World.detach(). */
    detach(entity: Entity, keep?: Keep, key?: number): void;
    /** Record World.moveBefore(). */
    moveBefore(entity: Entity, before?: Entity, key?: number): void;
    /** Record World.write(). The value is copied and checked now. */
    write<K extends WriteKind>(entity: Entity, kind: K, value: WriteValue<K>, key?: number,
        flag?: WriteFlag): void;
    /** Record World.setLocalTransform(). */
    setLocalTransform(entity: Entity, value: TransformValue, key?: number): void;
    /** Record World.setWorldTransform(). */
    setWorldTransform(entity: Entity, value: TransformValue, key?: number): void;
    /** Record World.setInherit(). */
    setInherit(entity: Entity, flags: number, key?: number): void;
    /** Record World.change(). The values are copied now. */
    change(entity: Entity, add: readonly ComponentEntry[], remove?: readonly Component[], key?: number): void;
    /** Record World.add(). The value is copied now. */
    add<T extends ComponentType>(entity: Entity, component: Component<T>, values?: ComponentValues<T>,
        key?: number): void;
    /** Record World.remove(). */
    remove(entity: Entity, component: Component, key?: number): void;
    /** Record World.set(). The value is copied now. */
    set<T extends ComponentType>(entity: Entity, component: Component<T>, values: ComponentValues<T>,
        key?: number): void;
    /** Record World.setEnabled(). */
    setEnabled(entity: Entity, isEnabled: boolean, extent?: Extent, key?: number): void;

    /** Play the commands now. Refused commands are in the report; the call throws only as a whole. */
    play(): PlaybackReport;
    /** Add the buffer to those that World.sync() plays. */
    submit(): void;
    /** Return the entity that a pending handle became. */
    resolve(pending: Entity): Entity;
    /** Return the status of a command after the playback, by its number from 0. */
    result(index: number): Done | Refusal;
    /** Empty the buffer for the next recording, and keep its memory. */
    reset(): void;
}

// --- Rotations ---

/**
 * Rotations as values, in `out` or a new array. The results are the same bits on every machine, which those
 * of Math.sin() are not.
 */
export const quat: {
    /** The rotation by an angle, in radians, about an axis of any length but 0. */
    fromAxisAngle(axis: Vector, angle: number, out?: Float32Array): Float32Array;
    /** The rotation that angles about X, Y and Z make, in radians. Default order: "YXZ", yaw, pitch, roll. */
    fromEuler(angles: Vector, order?: EulerOrder, out?: Float32Array): Float32Array;
    /** The inverse of fromEuler(). */
    toEuler(rotation: Quaternion, order?: EulerOrder, out?: Float32Array): Float32Array;
    /** The rotation that takes one direction to another by the shortest way. */
    between(from: Vector, to: Vector, out?: Float32Array): Float32Array;
    /** The rotation b followed by the rotation a. */
    multiply(a: Quaternion, b: Quaternion, out?: Float32Array): Float32Array;
    /** Interpolate at a constant angular speed; 0 gives a, 1 gives b. */
    slerp(a: Quaternion, b: Quaternion, t: number, out?: Float32Array): Float32Array;
    /** Rotate a vector. */
    rotate(rotation: Quaternion, vector: Vector, out?: Float32Array): Float32Array;
};
