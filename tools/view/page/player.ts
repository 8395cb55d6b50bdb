// SPDX-License-Identifier: MIT
// A tape at any of its frames and records. One engine shows; another one plays the whole tape once in the
// background, compares each frame with the checksum of the tape and the hash that the page has of it, and saves
// images that the first one goes back to.

import { Engine, HASH_DIGITS, HashKind, Mark } from "./engine.js";
import type { Tape } from "./tapes.js";

/** Bytes of images that are kept. */
const IMAGE_BUDGET = 256 * 2 ** 20;
/** Frames between two images, at least. */
const IMAGE_STEP = 4;
const PARTLY = 2;
/** Milliseconds that the background takes at a time. */
const SLICE = 10;

export enum Verdict {
    unknown = 0,
    same = 1,
    differs = 2,
}

export class Player {
    readonly engine: Engine;
    readonly name: string;
    readonly recordCount: number;
    /** Segments: frames, and what follows the last one. */
    readonly frameCount: number;
    readonly segmentCount: number;
    /** Why the index or the tape ends early; empty where it does not. */
    readonly fault: string;
    readonly verdicts: Uint8Array;
    /** Milliseconds of each frame: its calls, and its checksum. */
    readonly callTimes: Float32Array;
    readonly hashTimes: Float32Array;
    /** Milliseconds that its boxes took, where they were culled. */
    readonly cullTimes: Float32Array;
    /** Marks of what each frame does to the structure. */
    readonly marks: Uint8Array;
    readonly refused: number[] = [];
    /** What the log says of a refused call. */
    readonly refusals = new Map<number, string>();
    sameCount = 0;
    /** Frames whose hash was compared too. */
    hashedCount = 0;
    checkedCount = 0;
    isChecked = false;
    firstDifference = 0;
    /** The position after the record that differs. */
    differencePosition = 0;
    difference = "";

    /** Records that are carried out. */
    position = 0;
    /** Moved by the last step: a frame, or one record. */
    from = 0;
    entityCount = 0;
    movedCount = 0;

    readonly #records: Uint8Array;
    readonly #begins: Uint32Array;
    readonly #frames: Uint32Array;
    readonly #module: WebAssembly.Module;
    readonly #bytes: Uint8Array;
    readonly #hashes: string;
    readonly #images = new Map<number, Uint8Array>();
    #imageBytes = 0;
    #imageStep = IMAGE_STEP;
    /** The world has a history, which is in no image: going back begins anew. */
    readonly #hasHistory: boolean;
    #nextRefused = 0;
    #isClosed = false;

    /** Throws an Error with a sentence where the bytes are no tape. */
    constructor(module: WebAssembly.Module, { name, bytes, hashes }: Tape) {
        this.#module = module;
        this.#bytes = bytes;
        this.#hashes = hashes;
        this.name = name;
        this.engine = new Engine(module);
        const isGood = this.engine.call("view_open", this.engine.put(bytes), bytes.length, 0);

        if (isGood === 0) {
            throw new Error(this.engine.textOf("view_fault") || "no tape of Espalier");
        }
        this.recordCount = this.engine.call("view_index");
        this.fault = this.engine.textOf("view_index_fault");
        this.frameCount = this.engine.call("view_frame_count");
        this.#records = this.engine.u8(this.engine.call("view_records"), 8 * (this.recordCount + 1)).slice();
        this.#begins = new Uint32Array(this.#records.buffer);
        this.#frames = this.engine.u32(this.engine.call("view_frames"), this.frameCount).slice();
        const rest = this.recordCount - (this.#frames[this.frameCount - 1] ?? 0);

        this.segmentCount = this.frameCount + (rest > 0 ? 1 : 0);
        this.verdicts = new Uint8Array(this.segmentCount + 1);
        this.callTimes = new Float32Array(this.segmentCount + 1);
        this.hashTimes = new Float32Array(this.segmentCount + 1);
        this.cullTimes = new Float32Array(this.segmentCount + 1);
        this.marks = new Uint8Array(this.segmentCount + 1);
        this.#scanRecords();
        this.#hasHistory = this.marks.some((marks) => (marks & Mark.history) !== 0);
        if (!this.#hasHistory) {
            this.#saveImage(this.engine, 0);
        }
    }

    close(): void {
        this.#isClosed = true;
        this.#images.clear();
    }

    #scanRecords(): void {
        for (let segment = 1; segment <= this.segmentCount; ++segment) {
            for (let i = this.begin(segment); i < this.end(segment); ++i) {
                this.marks[segment]! |= this.#records[8 * i + 5]!;
                // ESPL_PARTLY: some entries of the call were refused.
                if (this.status(i) < 0 || this.status(i) === PARTLY) {
                    this.refused.push(i);
                }
            }
        }
    }

    // --- The index ---

    /** The first record of a segment, and the one behind its last. Segments count from 1. */
    begin(segment: number): number {
        return segment <= 1 ? 0 : this.#frames[Math.min(segment, this.frameCount + 1) - 2]!;
    }

    end(segment: number): number {
        return segment < 1 ? 0 : segment <= this.frameCount ? this.#frames[segment - 1]! : this.recordCount;
    }

    /** The segment that a position is in: where it ends there, that one. */
    segmentOf(position: number): number {
        let low = 1, high = Math.max(1, this.segmentCount);

        while (low < high) {
            const middle = (low + high) >> 1;

            if (this.end(middle) >= position) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    op(record: number): number {
        return this.#records[8 * record + 4]!;
    }

    status(record: number): number {
        return (this.#records[8 * record + 6]! << 24) >> 24;
    }

    isCut(record: number): boolean {
        return this.#records[8 * record + 7] !== 0;
    }

    marksOf(record: number): number {
        return this.#records[8 * record + 5]!;
    }

    byteOf(record: number): number {
        return this.#begins[2 * record]!;
    }

    // --- Images ---

    #saveImage(engine: Engine, segment: number): void {
        if (this.#images.has(segment)) {
            return;
        }
        const at = engine.call("view_save");

        if (at === 0) {
            return;
        }
        const image = engine.u8(at, engine.call("view_image_size")).slice();

        this.#images.set(segment, image);
        this.#imageBytes += image.length;
        // Too many: every other one goes.
        while (this.#imageBytes > IMAGE_BUDGET && this.#imageStep <= this.segmentCount) {
            this.#imageStep *= 2;
            for (const [of, bytes] of this.#images) {
                if (of % this.#imageStep !== 0) {
                    this.#images.delete(of);
                    this.#imageBytes -= bytes.length;
                }
            }
        }
    }

    #keepImage(engine: Engine, segment: number): void {
        if (segment % this.#imageStep === 0 && segment <= this.frameCount && !this.#hasHistory) {
            this.#saveImage(engine, segment);
        }
    }

    // --- Playing ---

    /** Bring the engine to a position. */
    #go(position: number): void {
        const engine = this.engine;
        const now = engine.call("view_position");
        let segment = this.segmentOf(position);

        if (this.#hasHistory) {
            if (now > position) {
                engine.call("view_restart");
            }
            engine.call("view_run", position);
            return;
        }
        if (this.end(segment) > position) {
            --segment;
        }
        while (segment > 0 && !this.#images.has(segment)) {
            --segment;
        }
        // Within a frame it plays, so that the values that its calls wrote are known.
        const isNear = now <= position && now >= this.begin(this.segmentOf(position));

        if (!isNear && (now > position || this.end(segment) > now)) {
            const image = this.#images.get(segment);

            if (image === undefined ||
                engine.with(image, (at) => engine.call("view_load", at, image.length, this.end(segment),
                    segment)) === 0) {
                throw new RangeError("no memory to go back");
            }
        }
        for (;;) {
            const at = engine.call("view_position");
            const end = this.end(this.segmentOf(at + 1));

            if (at >= position || engine.call("view_run", Math.min(end, position)) <= at) {
                break;
            }
            if (end <= position) {
                this.#keepImage(engine, this.segmentOf(end));
            }
        }
    }

    /** Show a position, and mark what moved since another one before it. */
    show(position: number, from: number): void {
        const engine = this.engine;

        // Where it goes on from what was shown last, that reading is the one to compare with.
        if (this.position !== from || engine.call("view_position") !== from || from === 0) {
            this.#go(from);
            engine.call("scene_read", 1, 0);
        }
        this.#go(position);
        this.entityCount = engine.call("scene_read", this.#changesStructure(from, position) ? 1 : 0, 1);
        this.movedCount = engine.call("scene_moved_count");
        this.position = position;
        this.from = from;
    }

    #changesStructure(from: number, to: number): boolean {
        for (let i = from; i < to; ++i) {
            if (this.#records[8 * i + 5] !== 0) {
                return true;
            }
        }
        return false;
    }

    get segment(): number {
        return this.segmentOf(this.position);
    }

    /** Whether the last step was one record of several. */
    get isRecord(): boolean {
        return this.position - this.from <= 1 && this.position !== this.end(this.segment);
    }

    /** Why the engine that shows could not reach the position; empty where it could. */
    get stop(): string {
        return this.engine.call("view_position") < this.position || this.engine.call("view_state") === 2
            ? this.engine.textOf("view_fault") : "";
    }

    showSegment(segment: number): void {
        this.show(this.end(segment), this.begin(segment));
    }

    // --- The background ---

    /** Whether the page has one hash of each frame, so that the check is one of all bits. */
    get isHashed(): boolean {
        return this.frameCount > 0 && this.#hashes.length === HASH_DIGITS * this.frameCount;
    }

    /** Play the whole tape once, in slices. @param told after each slice. */
    async check(told: () => void): Promise<void> {
        const checker = new Engine(this.#module);

        checker.call("view_open", checker.put(this.#bytes), this.#bytes.length, 1);
        checker.call("view_index");
        for (let segment = 1, until = performance.now() + SLICE; segment <= this.segmentCount; ++segment) {
            if (!this.#checkSegment(checker, segment)) {
                break;
            }
            if (performance.now() > until) {
                told();
                await new Promise((resolve) => setTimeout(resolve, 0));
                until = performance.now() + SLICE;
            }
            if (this.#isClosed) {
                return;
            }
        }
        this.isChecked = true;
        told();
    }

    #checkSegment(checker: Engine, segment: number): boolean {
        const end = this.end(segment);
        const calls = segment <= this.frameCount ? end - 1 : end;
        const start = performance.now();

        this.#runCalls(checker, calls);
        const middle = performance.now();

        checker.call("view_run", end);
        this.callTimes[segment] = middle - start;
        this.hashTimes[segment] = performance.now() - middle;
        this.checkedCount = segment;
        const difference = checker.call("view_state") === 2 ? checker.textOf("view_fault")
            : segment <= this.frameCount ? this.#compareHash(checker, segment) : "";

        if (difference !== "") {
            this.verdicts[segment] = Verdict.differs;
            this.firstDifference = segment;
            this.differencePosition = checker.call("view_position");
            this.difference = difference;
            return false;
        }
        if (segment <= this.frameCount) {
            this.verdicts[segment] = Verdict.same;
            this.sameCount += 1;
            this.#keepImage(checker, segment);
        }
        return true;
    }

    /** Compare the world with the hash that the page has of a frame, if any. @return what differs, or nothing. */
    #compareHash(checker: Engine, segment: number): string {
        const written = this.#hashes.slice(HASH_DIGITS * (segment - 1), HASH_DIGITS * segment);

        if (written === "") {
            return "";
        }
        const hash = checker.hash(HashKind.physical);

        if (hash !== written) {
            return `frame ${segment - 1} has another physical hash than where the page was written: ` +
                `${hash}, not ${written}`;
        }
        this.hashedCount += 1;
        return "";
    }

    /** Records that were refused one by one, because the log does not say of which record a line is. */
    #runCalls(checker: Engine, end: number): void {
        while (this.#nextRefused < this.refused.length && this.refused[this.#nextRefused]! < end) {
            const record = this.refused[this.#nextRefused++]!;

            checker.call("view_run", record);
            checker.textOf("view_messages");
            checker.call("view_run", record + 1);
            this.refusals.set(record, checker.textOf("view_messages"));
        }
        checker.call("view_run", end);
    }
}
