// SPDX-License-Identifier: MIT
// The module: one tape that is played in memory of its own. Calls of its functions, and its arrays.

type Call = (...args: number[]) => number;

/** A call stopped the module: nothing of it can be used any more. */
export class ModuleStopped extends Error {}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export const NONE = 0xffffffff;
/** Digits of a hash. */
export const HASH_DIGITS = 16;
/** Kinds of hashes, as espl_hash_kind has them. The physical one covers the most. */
export const HashKind = { logical: 0, physical: 1 };
/** Bits of an entity's flags, as module.h has them. */
export const Flag = { placed: 2, prefab: 4, disabled: 8, moved: 16, fresh: 32, member: 64, open: 128 };
/** Bits of what a record does to the structure, as tape_text.h has them. */
export const Mark = { creates: 1, links: 2, destroys: 4, changes: 8, history: 16, rewinds: 32 };

export class Engine {
    readonly #exports: Record<string, unknown>;
    readonly #memory: WebAssembly.Memory;
    #printed = "";
    isStopped = false;

    constructor(module: WebAssembly.Module) {
        const imports: WebAssembly.Imports = {};

        // What the module asks of its system: a clock, and a place to print to before it stops.
        for (const { module: from, name } of WebAssembly.Module.imports(module)) {
            (imports[from] ??= {})[name] = this.#makeImport(name);
        }
        this.#exports = new WebAssembly.Instance(module, imports).exports;
        this.#memory = this.#exports["memory"] as WebAssembly.Memory;
        this.call("_initialize");
    }

    #makeImport(name: string): (...args: never[]) => unknown {
        switch (name) {
            case "clock_time_get":
                return (_clock: number, _precision: bigint, out: number) => {
                    this.#view().setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true);
                    return 0;
                };
            case "environ_sizes_get":
                return (count: number, size: number) => {
                    this.#view().setUint32(count, 0, true);
                    this.#view().setUint32(size, 0, true);
                    return 0;
                };
            case "fd_write":
                return (_file: number, parts: number, count: number, out: number) => {
                    let size = 0;

                    for (let i = 0; i < count; ++i) {
                        const at = this.#view().getUint32(parts + 8 * i, true);
                        const length = this.#view().getUint32(parts + 8 * i + 4, true);

                        this.#printed += decoder.decode(this.u8(at, length));
                        size += length;
                    }
                    this.#view().setUint32(out, size, true);
                    return 0;
                };
            case "proc_exit":
                return () => {
                    throw new Error("it ended itself");
                };
            default:
                return () => 0;
        }
    }

    #view(): DataView {
        return new DataView(this.#memory.buffer);
    }

    /** Call a function of the module. A fault inside becomes ModuleStopped. */
    call(name: string, ...args: number[]): number {
        if (this.isStopped) {
            throw new ModuleStopped("The module has stopped.");
        }
        try {
            return ((this.#exports[name] as Call)(...args) ?? 0) >>> 0;
        } catch (error) {
            this.isStopped = true;
            throw new ModuleStopped(`The module stopped in ${name}: ${this.#printed || String(error)}`);
        }
    }

    u8(at: number, count: number): Uint8Array {
        return new Uint8Array(this.#memory.buffer, at, count);
    }

    u32(at: number, count: number): Uint32Array {
        return new Uint32Array(this.#memory.buffer, at, count);
    }

    f32(at: number, count: number): Float32Array {
        return new Float32Array(this.#memory.buffer, at, count);
    }

    text(at: number): string {
        const bytes = new Uint8Array(this.#memory.buffer);

        return decoder.decode(bytes.subarray(at, bytes.indexOf(0, at)));
    }

    /** Copy bytes into the module's memory; the module frees them where it owns them. */
    put(bytes: Uint8Array): number {
        const at = this.call("view_allocate", bytes.length);

        if (at === 0) {
            throw new RangeError(`no memory for ${bytes.length} bytes`);
        }
        this.u8(at, bytes.length).set(bytes);
        return at;
    }

    /** Run something with bytes that are freed after it. */
    with<T>(bytes: Uint8Array, use: (at: number) => T): T {
        const at = this.put(bytes);

        try {
            return use(at);
        } finally {
            this.call("view_free", at);
        }
    }

    withText<T>(text: string, use: (at: number) => T): T {
        return this.with(encoder.encode(text + "\0"), use);
    }

    textOf(name: string, ...args: number[]): string {
        return this.text(this.call(name, ...args));
    }

    /** A hash of the world, as 16 digits; empty: there is none. */
    hash(kind: number): string {
        const at = this.call("view_hash", kind);

        return at === 0 ? "" : this.#view().getBigUint64(at, true).toString(16).padStart(HASH_DIGITS, "0");
    }

    handle(index: number): string {
        const generations = this.u32(this.call("scene_generations"), this.call("scene_capacity"));

        return `${index}.${generations[index] ?? 0}`;
    }
}
