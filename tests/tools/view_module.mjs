// SPDX-License-Identifier: MIT
// Runs the module of a page that "espalier view" wrote, without a browser:
//
//     node view_module.mjs hashes PAGE        the hashes of each frame, as "espalier replay --hashes" prints them
//     node view_module.mjs scrub PAGE         frames in any order, by images, have the bits of the first playing
//     node view_module.mjs cull PAGE PROGRAM TAPE   what cameras see is what PROGRAM (culled.c) sees of the tape
//     node view_module.mjs places PAGE        cells, absolute positions and originals of the first four entities
//     node view_module.mjs hostile PAGE       cut and changed tapes are refused or played, and stop nothing
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const [command, page, program, tape] = process.argv.slice(2);
const html = readFileSync(page, "utf8");
const packed = (pattern) => [...html.matchAll(pattern)].map(([, text]) => gunzipSync(Buffer.from(text, "base64")));
const module = new WebAssembly.Module(packed(/<script id="module" type="text\/plain">([^<]*)</g)[0]);
const tapes = packed(/<script type="text\/plain" class="tape"[^>]*>([^<]*)</g);
const decoder = new TextDecoder();

const FRAME = 1;
const BAD = 2;
const HISTORY = 16;

/** The module with one tape, and calls by name. */
class Module {
    constructor(bytes, isChecked) {
        const imports = {};

        for (const { module: from, name } of WebAssembly.Module.imports(module)) {
            (imports[from] ??= {})[name] = () => 0;
        }
        imports.wasi_snapshot_preview1.proc_exit = () => {
            throw new Error("the module ended itself");
        };
        this.exports = new WebAssembly.Instance(module, imports).exports;
        this.exports._initialize();
        this.isGood = this.call("view_open", this.put(bytes), bytes.length, isChecked ? 1 : 0) !== 0;
        this.count = this.isGood ? this.call("view_index") : 0;
    }

    call(name, ...args) {
        return (this.exports[name](...args) ?? 0) >>> 0;
    }

    get view() {
        return new DataView(this.exports.memory.buffer);
    }

    bytes(at, count) {
        return new Uint8Array(this.exports.memory.buffer, at, count);
    }

    words(at, count) {
        return new Uint32Array(this.exports.memory.buffer, at, count);
    }

    put(bytes) {
        const at = this.call("view_allocate", bytes.length);

        this.bytes(at, bytes.length).set(bytes);
        return at;
    }

    text(name, ...args) {
        const at = this.call(name, ...args);
        const all = this.bytes(0, this.exports.memory.buffer.byteLength);

        return decoder.decode(all.subarray(at, all.indexOf(0, at)));
    }

    /** The logical and the physical hash. */
    hashes() {
        return [0, 1].map((kind) => {
            const at = this.call("view_hash", kind);

            return at === 0 ? "" : this.view.getBigUint64(at, true).toString(16).padStart(16, "0");
        }).join(" ");
    }

    get frames() {
        return [...this.words(this.call("view_frames"), this.call("view_frame_count"))];
    }

    op(record) {
        return this.bytes(this.call("view_records") + 8 * record + 4, 1)[0];
    }

    marks(record) {
        return this.bytes(this.call("view_records") + 8 * record + 5, 1)[0];
    }

    begin(record) {
        return this.view.getUint32(this.call("view_records") + 8 * record, true);
    }
}

function expect(isGood, sentence) {
    if (!isGood) {
        throw new Error(sentence);
    }
}

/** The hashes of all frames; the whole tape must agree with itself. */
function playAll(bytes) {
    const played = new Module(bytes, true);

    expect(played.isGood, played.text("view_fault"));
    const all = played.frames.map((end) => {
        expect(played.call("view_run", end) === end, played.text("view_fault"));
        return played.hashes();
    });

    expect(played.call("view_run", played.count) === played.count, played.text("view_fault"));
    return all;
}

function scrub(bytes) {
    const expected = playAll(bytes);
    const m = new Module(bytes, false);
    const frames = m.frames;
    const images = new Map();
    let number = 1;
    const save = (frame) => {
        const at = m.call("view_save");

        images.set(frame, m.bytes(at, m.call("view_image_size")).slice());
    };

    const hasHistory = [...Array(m.count).keys()].some((record) => (m.marks(record) & HISTORY) !== 0);

    save(0);
    frames.forEach((end, i) => {
        // One record after the other: the module holds the end of each against its index.
        for (let record = i === 0 ? 0 : frames[i - 1]; record < end; ++record) {
            expect(m.call("view_run", record + 1) === record + 1, m.text("view_fault"));
            expect(m.text("view_text", record) !== "", "a record has no text");
        }
        expect(m.call("view_state") !== BAD, m.text("view_fault"));
        if ((i + 1) % 7 === 0) {
            save(i + 1);
        }
    });
    for (let i = 0; i < 40; ++i) {
        number = (number * 1103515245 + 12345) % 2 ** 31;
        const frame = 1 + (number >> 8) % frames.length;
        if (hasHistory) {
            m.call("view_restart");
            m.call("view_run", frames[frame - 1]);
            expect(m.hashes() === expected[frame - 1], `frame ${frame} has other bits from the start`);
            continue;
        }
        const from = Math.max(...[...images.keys()].filter((key) => key <= frame));
        const image = m.put(images.get(from));

        expect(m.call("view_load", image, images.get(from).length, from === 0 ? 0 : frames[from - 1], from) !== 0,
            "an image is refused");
        m.call("view_free", image);
        m.call("view_run", frames[frame - 1]);
        expect(m.hashes() === expected[frame - 1], `frame ${frame} has other bits after going back`);
        m.call("scene_read", 1, 1);
    }
    expect(m.call("view_is_valid") !== 0, "the world is broken");
    console.log(`${frames.length} frames, ${m.count} records`);
}

/** A matrix of a camera at a point of the ground, which looks along an angle: 4 columns of 4. */
function makeMatrix(at, angle, far) {
    const [near, focus] = [0.01 * far, 2];
    const ahead = [Math.cos(angle), 0, Math.sin(angle)], right = [-ahead[2], 0, ahead[0]], up = [0, 1, 0];
    const depth = (far + near) / (far - near);
    const rows = [[right, focus], [up, focus], [ahead, depth], [ahead, 1]].map(([axis, factor], i) => [
        ...axis.map((part) => factor * part),
        -factor * axis.reduce((sum, part, j) => sum + part * at[j], 0) - (i === 2 ? far * near * 2 / (far - near) : 0),
    ]);

    return Float32Array.from({ length: 16 }, (_, i) => rows[i % 4][i >> 2]);
}

/** What the camera sees in the module: boxes seen, all, and a sum over the entities. */
function cullOnce(m, matrix) {
    const at = m.put(new Uint8Array(matrix.buffer));
    const seen = m.call("culling_cull", at);
    const states = m.bytes(m.call("culling_states"), m.call("scene_capacity"));
    let sum = 0;

    m.call("view_free", at);
    states.forEach((state, i) => {
        sum = (sum + (state === 2 ? Math.imul(i, 2654435761 | 0) : 0)) >>> 0;
    });
    expect(m.call("culling_boxes", m.put(new Uint8Array(24))) > 0, "no boxes are drawn");
    return `${seen} ${m.call("culling_count")} ${sum.toString(16).padStart(8, "0")}`;
}

function cull(bytes) {
    const expected = playAll(bytes);
    const m = new Module(bytes, false);
    const { frames } = m;
    const seen = new Set();

    for (const [i, frame] of [1, 4, 5, frames.length, 2].entries()) {
        if (i === 4) {
            m.call("view_restart");
        }
        expect(m.call("view_run", frames[frame - 1]) === frames[frame - 1], m.text("view_fault"));
        m.call("scene_read", 1, 1);
        const count = m.call("scene_bones", 0, 0xffffffff, m.put(new Uint8Array(4 * 3 * 12)));
        const box = new Float32Array(m.bytes(m.call("scene_box"), 24).slice().buffer);
        const size = Math.hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
        const middle = [0, 1, 2].map((axis) => (box[axis] + box[axis + 3]) / 2);

        for (const angle of [0, 2, 4]) {
            const matrix = makeMatrix(middle, angle, size);
            const own = cullOnce(m, matrix);
            const other = execFileSync(program, [tape, String(frame), ...[...new Uint32Array(matrix.buffer)]
                .map((word) => word.toString(16))], { encoding: "utf8" }).trim();

            expect(own === other, `frame ${frame}: the module sees ${own}, and the program ${other}`);
            seen.add(own);
            m.call("culling_shade", count, 0xffffffff, m.put(new Uint8Array(12)));
        }
        expect(m.hashes() === expected[frame - 1], `culling changes the bits of frame ${frame}`);
    }
    expect(seen.size > 5, "all cameras see the same");
    expect(m.call("view_is_valid") !== 0, "the world is broken");
    console.log(`${seen.size} sets`);
}

/** Play whatever the bytes are, and read everything that the page would. */
function poke(bytes) {
    const m = new Module(bytes, false);

    if (!m.isGood) {
        expect(m.text("view_fault") !== "", "a refusal has no sentence");
        return 0;
    }
    m.call("view_run", m.count);
    m.call("scene_read", 1, 0);
    m.call("scene_read", 1, 1);
    const rows = m.call("scene_rows");
    const palette = m.put(new Uint8Array(4 * 3 * 12));

    m.call("scene_bones", 0, 0xffffffff, palette);
    for (let i = 0; i < Math.min(rows, 4); ++i) {
        const entity = m.words(m.call("scene_row_entities"), rows)[i];

        m.call("details_values", entity);
        m.call("details_chain", entity);
        m.text("details_components", entity);
        m.text("details_path", entity);
        m.text("details_places", entity);
    }
    m.text("details_chunks");
    m.text("details_stats");
    m.call("culling_cull", m.put(new Uint8Array(64)));
    m.call("culling_boxes", palette);
    for (let record = 0; record < m.count; record += 1 + (m.count >> 3)) {
        m.text("view_text", record);
        m.call("view_entity", record);
    }
    expect(m.call("view_is_valid") !== 0, "the world is broken");
    return m.count;
}

/** What is said of the places of the first entities at the end of the tape. */
function places(bytes) {
    const m = new Module(bytes, false);

    m.call("view_run", m.count);
    m.call("scene_read", 1, 0);
    for (let entity = 0; entity < 4; ++entity) {
        const text = m.text("details_places", entity).trim();

        if (text !== "") {
            console.log(`${m.text("details_name", entity)}: ${text.replaceAll("\n", ", ").replaceAll("\t", " ")}`);
        }
    }
}

function hostile(bytes) {
    const m = new Module(bytes, false);
    const seen = new Set();
    let count = 0;

    for (let size = 0; size < bytes.length; size += Math.max(1, Math.floor(bytes.length / 100))) {
        poke(bytes.subarray(0, size));
        ++count;
    }
    for (let record = 0; record < m.count; ++record) {
        if (!seen.has(m.op(record))) {
            seen.add(m.op(record));
            const end = m.begin(record + 1);

            for (let at = m.begin(record); at < end && at < m.begin(record) + 24; ++at) {
                const changed = bytes.slice();

                changed[at] ^= 1 << at % 8;
                poke(changed);
                ++count;
            }
        }
    }
    const other = bytes.slice();

    other[8] = 99;
    expect(poke(other) === 0, "a tape of another version is played");
    expect(poke(new Uint8Array(0)) === 0, "a tape of 0 bytes is played");
    expect(seen.has(FRAME), "no frame");
    console.log(`${count} tapes, ${seen.size} kinds of records`);
}

try {
    if (command === "hashes") {
        tapes.forEach((bytes) => playAll(bytes).forEach((line) => console.log(line)));
    } else if (command === "scrub") {
        tapes.forEach(scrub);
    } else if (command === "cull") {
        tapes.forEach(cull);
    } else if (command === "places") {
        tapes.forEach(places);
    } else if (command === "hostile") {
        tapes.forEach(hostile);
    } else {
        throw new Error(`no command ${command}`);
    }
} catch (error) {
    console.error(error.message);
    process.exit(1);
}
