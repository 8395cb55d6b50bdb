// SPDX-License-Identifier: MIT
// Opens pages of "espalier view" in a browser and uses them as a person does:
//
//     node browser.mjs chromium|firefox DIRECTORY
//
// DIRECTORY has what browser_test.sh made: pages, native.txt with the hashes of walk.html, node.txt with an
// entity of frame 60, and packages of npm. CULLED is the program that culls. Pictures go there. It prints a line of TAP for each check.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [browserName, directory] = process.argv.slice(2);
const require = createRequire(`${resolve(directory)}/packages/`);
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const isFirefox = browserName === "firefox";
const PATH = "carrier/copy/Hips/LHipJoint/LeftUpLeg/LeftLeg";
const TAG = 0x01000001;
const CYCLE = -6;
let number = 0, failed = 0;

function ok(isGood, name, detail = "") {
    number += 1;
    failed += isGood ? 0 : 1;
    console.log(`${isGood ? "ok" : "not ok"} ${number} ${browserName}: ${name}`);
    if (!isGood && detail !== "") {
        console.log(`# ${String(detail).replaceAll("\n", "\n# ")}`);
    }
}

// --- A browser ---

async function launch(options = {}) {
    const args = isFirefox ? [] : ["--no-sandbox", ...(options.args ?? ["--use-angle=swiftshader",
        "--enable-unsafe-swiftshader"])];

    return puppeteer.launch({
        browser: isFirefox ? "firefox" : "chrome",
        executablePath: isFirefox ? "/usr/bin/firefox-esr" : "/usr/bin/chromium",
        headless: !isFirefox,
        protocolTimeout: 240_000,
        extraPrefsFirefox: { "ui.systemUsesDarkTheme": options.isDark ? 1 : 0,
            "layout.css.prefers-color-scheme.content-override": options.isDark ? 0 : 1 },
        args,
    });
}

/** A page that counts what it asks for and what it complains of. */
async function open(browser, file, size = [1280, 720]) {
    const page = await browser.newPage();
    const seen = { requests: [], complaints: [] };

    page.on("request", (request) => {
        seen.requests.push(request.url());
    });
    page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warn") {
            seen.complaints.push(message.text());
        }
    });
    page.on("pageerror", (error) => {
        seen.complaints.push(String(error));
    });
    page.on("dialog", (dialog) => {
        seen.complaints.push("a dialog");
        void dialog.dismiss();
    });
    await page.setViewport({ width: size[0], height: size[1] });
    await page.goto(`file://${resolve(directory, file)}`, { waitUntil: "domcontentloaded" });
    await page.waitForFunction(() => document.documentElement.dataset.ready, { timeout: 120_000 });
    return { page, seen };
}

function checked(page) {
    return page.waitForFunction(() => document.documentElement.dataset.checked, { timeout: 200_000 });
}

/** Wait until what was asked for is drawn. */
function drawn(page) {
    return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function shoot(page, name) {
    await drawn(page);
    await page.screenshot({ path: `${directory}/${browserName}-${name}.png` });
}

async function press(page, ...keys) {
    for (const key of keys) {
        await page.keyboard.press(key);
    }
}

function textOf(page, selector) {
    return page.$eval(selector, (element) => element.textContent);
}

function hashNow(page) {
    return page.evaluate(() => [0, 1].map((kind) => espalier.player.engine.hash(kind)).join(" "));
}

async function goFrame(page, frame) {
    await page.$eval("#slider", (slider, value) => {
        slider.value = String(value);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    }, frame);
}

// --- Tapes that no program records ---

function makeTape(records) {
    const bytes = [...Buffer.from("espltape"), ...words(6, 1, 0x01020304), 22, 10, 7, 0, ...words(65536, 0)];

    return Buffer.concat([Buffer.from(bytes), ...records]);
}

function words(...values) {
    return [...Buffer.from(new Uint32Array(values).buffer)];
}

function makeCreate(count) {
    return Buffer.from([3, ...words(1, 1, count, 0), 0]);
}

/** Hashes that no world has. */
const frameRecord = Buffer.from([1, ...words(1, 2, 3, 4), 0]);

function makeAttach(child, parent, status) {
    return Buffer.from([8, ...words(child, TAG, parent, TAG, 0, 0, 0, 0, 0, 0, 0), status & 0xff]);
}

/** Entity i + 1 under entity i, in one call. */
function makeChain(count) {
    const pairs = new Uint32Array(4 * (count - 1));

    for (let i = 0; i + 1 < count; ++i) {
        pairs.set([i + 1, TAG, i, TAG], 4 * i);
    }
    return Buffer.concat([Buffer.from([25, ...words(count - 1, 0)]), Buffer.from(pairs.buffer),
        Buffer.from([...words(0, 0, 1, 1, 1, 0, 0), 0])]);
}

async function drop(page, name, bytes) {
    writeFileSync(`${directory}/${name}`, bytes);
    const input = await page.$("#file");

    await page.evaluate(() => {
        delete document.documentElement.dataset.ready;
    });
    await input.uploadFile(resolve(directory, name));
    await page.waitForFunction(() => document.documentElement.dataset.ready, { timeout: 120_000 });
}

// --- What is checked ---

async function checkMotion(browser) {
    const { page, seen } = await open(browser, "walk.html");
    const native = readFileSync(`${directory}/native.txt`, "utf8").trim().split("\n");

    await checked(page);
    ok((await textOf(page, "#pill")) === `the same bits: ${native.length} of ${native.length} frames`,
        "all frames have the same bits", await textOf(page, "#pill"));
    ok((await page.$eval("#pill", (pill) => pill.title)).includes("world transforms of the program"),
        "world transforms were compared");

    await goFrame(page, 59);
    ok((await hashNow(page)) === native[59], "frame 59 has the hashes of the program");
    ok(/local transform \(.* .*\)/.test(await textOf(page, "#calls")), "calls have their arguments");
    await press(page, "/");
    await page.keyboard.type(PATH);
    await press(page, "Enter", "Escape");
    const shown = await page.evaluate(() => {
        const rows = [...document.querySelectorAll("#panel-values table.values tbody tr")];

        return rows.map((row) => [...row.querySelectorAll("td")].map((cell) =>
            [...cell.querySelectorAll(".numbers > span")].map((span) => Math.fround(Number(span.textContent)))));
    });
    const text = readFileSync(`${directory}/node.txt`, "utf8");
    const expected = ["position", "rotation", "scale", "stretch"].map((name) => ["local", "world"].map((of) =>
        new RegExp(`^ *${of}:.*?${name} ([^,]*)`, "m").exec(text)[1].split(" ")
            .map((value) => Math.fround(Number(value)))));
    ok(JSON.stringify(shown) === JSON.stringify(expected), "a node's local and world are those of the program, to the bit",
        `${JSON.stringify(shown)}\n${JSON.stringify(expected)}`);
    await shoot(page, "walk-values");

    await checkPick(page);
    await checkRecords(page);
    await checkScrub(page, native);
    await checkKeys(page);
    await checkPanels(page);
    await checkCopy(page);
    await checkContext(page);
    const own = seen.requests.filter((url) => !url.startsWith("file://") || !url.endsWith("walk.html"));
    ok(own.length === 0, "the page asks for nothing", own.join("\n"));
    ok(seen.complaints.length === 0, "no error is on the console", seen.complaints.join("\n"));
    await checkPolicy(page);
    await page.close();
}

/** Click in the middle of a bone. */
async function checkPick(page) {
    const [index, x, y] = await page.evaluate((path) => {
        const { player, scene, tree } = espalier;
        const { engine } = player;

        engine.withText(path, (at) => engine.call("scene_find", at, 9));
        const found = engine.u32(engine.call("scene_found"), 1)[0];
        const parent = engine.u32(engine.call("scene_parents"), engine.call("scene_capacity"))[found];
        const box = document.getElementById("canvas").getBoundingClientRect();
        const [a, b] = [scene.project(engine, parent), scene.project(engine, found)];

        tree.select(0xffffffff);
        // The bone is widest near its parent.
        return [found, box.x + a[0] + (b[0] - a[0]) * 0.3, box.y + a[1] + (b[1] - a[1]) * 0.3];
    }, PATH);

    await page.mouse.click(x, y);
    await drawn(page);
    ok((await page.evaluate(() => espalier.tree.selected)) === index, "a click on a bone selects its node");
    ok((await page.$eval("#tree .row.current .name", (row) => row.textContent)) === "LeftLeg",
        "the tree shows what was picked");
}

async function checkRecords(page) {
    await goFrame(page, 60);
    // The carrier's write is the second record of a frame in which nothing is spawned.
    await press(page, ".", ".");
    const { moved, below, dots, isWrite } = await page.evaluate(() => {
        const { player } = espalier;
        const { engine } = player;
        const written = engine.call("view_entity", player.position - 1);
        const capacity = engine.call("scene_capacity");
        const parents = engine.u32(engine.call("scene_parents"), capacity);
        const generations = engine.u32(engine.call("scene_generations"), capacity);
        let below = 0;

        for (let i = 0; i < capacity; ++i) {
            let at = i;

            while (generations[i] !== 0 && at !== written && at !== 0xffffffff) {
                at = parents[at];
            }
            below += generations[i] !== 0 && at === written ? 1 : 0;
        }
        return {
            below,
            moved: Number(document.getElementById("moved").dataset.count),
            dots: document.querySelectorAll("#tree .row:not([hidden]) .dot.moved").length,
            isWrite: document.getElementById("moved").textContent.startsWith("This write moved"),
        };
    });

    ok(isWrite && moved === below && moved === 40, "one write moves its subtree, and that is counted",
        `${moved} moved, ${below} below`);
    ok(dots > 20, "the rows of moved nodes have a dot", dots);
    await shoot(page, "walk-record");
    await press(page, ",");
    ok((await textOf(page, "#frame")).includes("record 1 of"), "a record back is the record before");
}

async function checkScrub(page, native) {
    const order = [119, 0, 77, 76, 75, 118, 60, 3];
    const wrong = [];

    for (const frame of order) {
        await goFrame(page, frame);
        if ((await hashNow(page)) !== native[frame]) {
            wrong.push(frame);
        }
    }
    ok(wrong.length === 0, "frames in any order have the same bits", wrong.join(" "));
}

async function checkKeys(page) {
    await page.evaluate(() => document.activeElement.blur());
    await press(page, "Home");
    const first = await textOf(page, "#frame");

    await press(page, "ArrowRight", "ArrowRight", "PageDown");
    const later = await textOf(page, "#frame");

    await press(page, "End");
    ok(first.startsWith("frame 0 ") && later.startsWith("frame 12 ") &&
        (await textOf(page, "#frame")).startsWith("frame 119 "), "keys go through the frames");
    await press(page, "Home", " ");
    await new Promise((done) => setTimeout(done, 1500));
    await press(page, " ");
    ok(Number(/frame (\d+)/.exec(await textOf(page, "#frame"))[1]) > 5, "the space key plays",
        await textOf(page, "#frame"));
    await page.focus("#tree");
    await press(page, "Home", "ArrowLeft");
    const folded = await page.evaluate(() => espalier.tree.rows.count);

    await press(page, "ArrowRight", "ArrowDown");
    const opened = await page.evaluate(() => espalier.tree.rows.count);
    ok(opened > folded && (await page.$eval("#tree .row.current .name", (row) => row.textContent)) === "copy",
        "arrows fold, open and go through the tree");
}

async function checkPanels(page) {
    const texts = {}, found = [];

    for (const name of ["values", "why", "timings", "chunks", "refused", "world"]) {
        await page.click(`#tab-${name}`);
        texts[name] = await textOf(page, `#panel-${name}`);
        await shoot(page, `walk-${name}`);
        found.push(...await violations(page));
    }
    await press(page, "?");
    found.push(...await violations(page));
    await press(page, "Escape");
    ok(texts.why.includes("parent ∘ local gives these bits") && !texts.why.includes("other bits"),
        "why it is here: each world is what its local and its parent give");
    ok(texts.timings.includes("checksum") && texts.chunks.includes("member transform node") &&
        texts.refused.includes("No call of this tape was refused") && /entities\d/.test(texts.world),
        "timings, chunks, refused calls and statistics are shown");
    ok(found.length === 0, "axe-core finds no violation, whatever is shown", found.join("\n"));
}

/** What axe-core finds, a line each. */
async function violations(page) {
    await page.evaluate(axe);
    const { violations: found } = await page.evaluate(() => axe.run());

    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3).join(" ")}`);
}

/** A node's transform as C has the bits of its world. */
async function checkCopy(page) {
    await page.click("#tab-values");
    const { text, bits } = await page.evaluate(async (path) => {
        const { player: { engine }, tree } = espalier;
        let text = "";

        engine.withText(path, (at) => engine.call("scene_find", at, 9));
        const index = engine.u32(engine.call("scene_found"), 1)[0];

        tree.select(index);
        Object.defineProperty(navigator, "clipboard", { configurable: true, value: {
            writeText: async (copied) => {
                text = copied;
            },
        } });
        [...document.querySelectorAll("#panel-values button")].find((button) => button.textContent === "Copy world as C")
            .click();
        await new Promise((done) => setTimeout(done, 0));
        return { text, bits: [...engine.u32(engine.call("scene_worlds") + 48 * index, 11)] };
    }, PATH);
    const numbers = [...text.matchAll(/-?\d[\d.]*(?:e[-+]?\d+)?(?=f)/g)].map(([number]) => Number(number));

    ok(text.startsWith("(espl_transform){.rotation = {") && numbers.length === 11 &&
        [...new Uint32Array(new Float32Array(numbers).buffer)].join() === bits.join(),
    "a transform is copied as C, to the bit", text);
}

/**
 * The policy of the page refuses pictures, scripts and connections. It is the last check of a page, because the
 * browser logs an error for each.
 */
async function checkPolicy(page) {
    const refused = await page.evaluate(async () => {
        const directives = new Set();
        const image = new Image(), script = document.createElement("script");

        document.addEventListener("securitypolicyviolation", (event) => {
            directives.add(event.effectiveDirective.replace("script-src-elem", "script-src"));
        });
        image.src = "http://127.0.0.1:9/x.png";
        script.src = "http://127.0.0.1:9/x.js";
        document.body.append(image, script);
        await fetch("http://127.0.0.1:9/").catch(() => {});
        await new Promise((done) => setTimeout(done, 300));
        return [...directives].sort().join(" ");
    });

    ok(refused === "connect-src img-src script-src", "its policy refuses what would leave the machine", refused);
}

async function checkContext(page) {
    await page.click("#tab-values");
    await page.evaluate(() => espalier.scene.setContext(true));
    await page.waitForFunction(() => !document.getElementById("lost").hidden, { timeout: 10_000 });
    await press(page, "End");
    await page.evaluate(() => espalier.scene.setContext(false));
    await page.waitForFunction(() => document.getElementById("lost").hidden, { timeout: 10_000 });
    await drawn(page);
    await shoot(page, "walk-restored");
    const index = await page.evaluate(() => {
        const { player, scene, tree } = espalier;
        const [x, y] = scene.project(player.engine, 46);

        return scene.pick(x, y);
    });
    ok(index !== 0xffffffff, "a picture that was taken away comes back");
}

/** Names that would be markup, and others that are hard to show. */
async function checkNames(browser) {
    const { page, seen } = await open(browser, "names.html");
    const names = await page.evaluate(() => {
        espalier.tree.openAll(true);
        return [...document.querySelectorAll("#tree .row:not([hidden]) .name")].map((name) => name.textContent);
    });

    ok(names.includes('<img src=x onerror="document.title=1">'), "a name of markup is text", names.join("\n"));
    ok(names.some((name) => [...name].length > 60 && name.startsWith("長")), "a name of 255 bytes is shown");
    ok((await page.title()) !== "1" && (await page.$$("#tree img, #right img")).length === 0, "no name becomes markup");
    await page.click("#tab-why");
    await page.evaluate(() => espalier.tree.select(espalier.player.engine.u32(
        espalier.player.engine.call("scene_row_entities"), 4)[3]));
    await shoot(page, "names");
    ok(seen.complaints.length === 0, "names give no error", seen.complaints.join("\n"));
    await page.close();
}

async function checkTapes(browser) {
    const { page, seen } = await open(browser, "walk.html");

    await drop(page, "empty.tape", Buffer.alloc(0));
    ok((await textOf(page, "#notice")).includes("no tape of Espalier"), "a tape of 0 bytes is refused in a sentence",
        await textOf(page, "#notice"));
    const other = makeTape([makeCreate(1)]);

    other[8] = 99;
    await drop(page, "other.tape", other);
    ok((await textOf(page, "#notice")).includes("version 99"), "so is a tape of another version");
    const walk = readFileSync(`${directory}/walk.tape`);

    for (const share of [0.1, 0.35, 0.9]) {
        await drop(page, "cut.tape", walk.subarray(0, Math.floor(walk.length * share)));
        await press(page, "End");
    }
    await checked(page);
    ok((await page.evaluate(() => document.documentElement.dataset.checked)) !== "differs",
        "a tape that is cut is played to its last call");
    const changed = Buffer.from(walk);

    changed[walk.length - 3] ^= 4; // in the hash of the last frame
    await drop(page, "changed.tape", changed);
    await checked(page);
    ok((await textOf(page, "#pill")) === "other bits at frame 119 of 120", "the first frame that differs is named",
        await textOf(page, "#pill"));
    ok((await violations(page)).length === 0, "a difference has no violation of axe-core");
    await page.click("#pill");
    ok((await textOf(page, "#frame")).startsWith("frame 119 "), "the pill goes there");
    await shoot(page, "differs");

    // The second entity is attached below the first, and then the other way round, which is refused.
    await drop(page, "refused.tape", makeTape([makeCreate(2), makeAttach(1, 0, 0), makeAttach(0, 1, CYCLE), frameRecord]));
    await checked(page);
    await page.click("#tab-refused");
    const refused = await textOf(page, "#panel-refused");
    ok((await textOf(page, "#tab-refused")) === "Refused (1)" && refused.includes("ESPL_ERR_CYCLE") &&
        refused.includes("The new parent is"), "a refused call has the sentence of the log", refused);
    await page.click("#panel-refused button");
    ok((await textOf(page, "#frame")).includes("record 3 of 4") && (await page.$(".row.current.refused")) !== null,
        "it leads to the call", await textOf(page, "#frame"));
    await shoot(page, "refused");
    await page.evaluate(() => {
        location.hash = "#frame=0&record=2";
    });
    await page.waitForFunction(() => document.getElementById("frame").textContent.includes("record 2 of 4"));
    await page.click("#tab-values");

    await drop(page, "roots.tape", makeTape([makeCreate(2 ** 20), frameRecord]));
    const rows = await page.evaluate(() => [espalier.tree.rows.count,
        document.querySelectorAll("#tree .row").length]);
    ok(rows[0] === 2 ** 20 && rows[1] < 80, "a million rows are a screen of elements", rows.join(" "));
    await page.evaluate(() => {
        const tree = document.getElementById("tree");

        tree.scrollTop = tree.scrollHeight;
    });
    await drawn(page);
    const last = await page.evaluate(() => [...document.querySelectorAll("#tree .row:not([hidden])")]
        .map((row) => Number(row.dataset.index)).pop());
    ok(last === 2 ** 20 - 1, "the tree scrolls to the last of them", last);
    await page.focus("#tree");
    await press(page, "End", "ArrowUp", "PageUp");
    await shoot(page, "roots");

    await drop(page, "chain.tape", makeTape([makeCreate(100_000), makeChain(100_000), frameRecord]));
    await page.evaluate(() => espalier.tree.select(99_999));
    await page.click("#tab-why");
    const deep = await page.evaluate(() => {
        const row = document.querySelector("#tree .row.current");

        return [row?.querySelector(".depth")?.textContent, row?.querySelector(".name").getBoundingClientRect().x];
    });
    ok(deep[0] === "99999" && deep[1] < 260, "a chain of 100,000 stays in the tree's width", deep.join(" "));
    await shoot(page, "chain");
    const complaints = seen.complaints.filter((text) => !text.includes("WebGL"));
    ok(complaints.length === 0, "no tape gives an error on the console", complaints.join("\n"));
    await page.close();
}

/** What the page says of its second camera: boxes seen, all, and a sum over the entities; and the program of it. */
async function cullTwice(page, tape) {
    const [words, frames, ...own] = await page.evaluate(() => {
        const { culling } = espalier.scene;
        const { engine } = espalier.player;
        const states = engine.u8(engine.call("culling_states"), engine.call("scene_capacity"));
        let sum = 0;

        states.forEach((state, i) => {
            sum = (sum + (state === 2 ? Math.imul(i, 2654435761 | 0) : 0)) >>> 0;
        });
        return [[...new Uint32Array(culling.matrix.buffer)], espalier.player.segment, culling.seen, culling.count,
            sum.toString(16).padStart(8, "0")];
    });
    const program = execFileSync(process.env.CULLED, [tape, String(frames),
        ...words.map((word) => word.toString(16))], { encoding: "utf8" });

    return [own.join(" "), program.trim()];
}

/** Colours of the bones: how many are those of culled ones. */
function countGray(page) {
    return page.evaluate(() => espalier.scene.grayCount);
}

/** The second camera, whose boxes are culled in the module as in the program. */
async function checkCulling(browser) {
    const tape = `${directory}/some.tape`;
    const native = readFileSync(`${directory}/some.txt`, "utf8").trim().split("\n");
    const { page, seen } = await open(browser, "some.html");
    const results = [], wrong = [];

    await checked(page);
    await goFrame(page, 12);
    const before = await countGray(page);

    await press(page, "c");
    const text = await textOf(page, "#culled");
    const first = await cullTwice(page, tape);

    results.push(first);
    ok(/^[\d,]+ of [\d,]+ boxes seen: \d+\.\d % culled$/.test(text) && before === 0 && (await countGray(page)) > 0,
        "a second camera sees a part of the boxes, and what it does not see is grey", text);
    await shoot(page, "culled");
    for (const frame of [20, 3, 29, 0]) {
        await goFrame(page, frame);
        results.push(await cullTwice(page, tape));
        if ((await hashNow(page)) !== native[frame]) {
            wrong.push(frame);
        }
    }
    await press(page, "b");
    await shoot(page, "boxes");
    ok(await page.$eval("#boxes", (button) => button.getAttribute("aria-pressed") === "true"), "boxes are drawn");
    await page.evaluate(() => espalier.tree.select(espalier.player.engine.u32(
        espalier.player.engine.call("scene_row_entities"), 1)[0]));
    await press(page, "f", "x");
    results.push(await cullTwice(page, tape));
    await press(page, ".", ".");
    await press(page, "ArrowRight", "ArrowRight");
    results.push(await cullTwice(page, tape));
    const counts = results.map(([own]) => own.split(" ").map(Number));
    ok(results.every(([own, program]) => own === program) &&
        counts.every(([part, all]) => part > 0 && part < all),
    "it sees what espl_cull() of the program sees, in frames in any order and from elsewhere",
    results.map((pair) => pair.join(" / ")).join("\n"));
    ok(wrong.length === 0, "culling leaves the bits as they are", wrong.join(" "));
    const found = await violations(page);

    ok(found.length === 0, "axe-core finds no violation with it", found.join("\n"));
    await press(page, "c");
    ok((await countGray(page)) === 0 && (await page.$eval("#culled", (output) => output.hidden)), "it goes away");
    await drop(page, "plain.tape", makeTape([makeCreate(2), frameRecord]));
    await press(page, "c");
    ok((await textOf(page, "#culled")) === "This world has no boxes.", "a world without boxes is said to have none",
        await textOf(page, "#culled"));
    ok(seen.complaints.length === 0, "culling gives no error", seen.complaints.join("\n"));
    await page.close();
}

/** Two tapes that part, and the page of them that diff wrote. */
async function checkParting(browser) {
    const { page, seen } = await open(browser, "parts.html");
    const said = readFileSync(`${directory}/parts.txt`, "utf8");
    const [, frame, call] = /they part in frame (\d+), at call (\d+) of it/.exec(said);
    const state = async () => [await textOf(page, "#frame"), await textOf(page, "#notice"),
        await page.$eval("#tree .row.current .name", (element) => element.textContent)];
    const [time, note, name] = await state();

    ok(time.startsWith(`frame ${frame} `) && time.includes(`record ${call} of`) && said.includes(note.trim()) &&
        said.includes(`  ${name}: `), "two tapes are opened where they part, with what differs", `${time} ${note} ${name}`);
    await shoot(page, "parts");
    const hash = await hashNow(page);

    await page.select("#tapes", "1");
    await page.waitForFunction(() => document.title.startsWith("B: "));
    ok((await state()).join() === [time, note, name].join() && (await hashNow(page)) !== hash,
        "the other one is shown at the same record", (await state()).join(" "));
    await press(page, "End");
    await page.select("#tapes", "0");
    await page.waitForFunction(() => document.title.startsWith("A: "));
    const [last, nothing] = await state();
    ok(last.startsWith("frame 8 ") && nothing === "", "and then at the frame that is shown", `${last} ${nothing}`);
    ok(seen.complaints.length === 0, "without an error on the console", seen.complaints.join("\n"));
    await page.close();
}

/** A tape whose world goes back to earlier frames: no image has what the history keeps. */
async function checkRewinds(browser) {
    if (!existsSync(`${directory}/back.txt`)) {
        return;
    }
    const native = readFileSync(`${directory}/back.txt`, "utf8").trim().split("\n");
    const { page, seen } = await open(browser, "bare.html");

    await drop(page, "played.tape", readFileSync(`${directory}/back.tape`));
    await checked(page);
    ok((await textOf(page, "#pill")) === `the same checksums: ${native.length} of ${native.length} frames` &&
        (await page.$eval("#rewound", (element) => !element.hidden)), "a tape with rewinds has the same checksums",
    await textOf(page, "#pill"));
    const wrong = [];

    for (const frame of [native.length - 1, 40, 41, 90, 12, 11]) {
        await goFrame(page, frame);
        if ((await hashNow(page)) !== native[frame]) {
            wrong.push(frame);
        }
    }
    ok(wrong.length === 0, "its frames in any order have the same bits", wrong.join(" "));
    const rewind = await page.evaluate(() => {
        const { player } = espalier;
        const record = [...Array(player.recordCount).keys()].find((i) => player.marksOf(i) & 32);
        const segment = player.segmentOf(record + 1);

        location.hash = `#frame=${segment - 1}&record=${record - player.begin(segment) + 1}`;
        return segment - 1;
    });
    await page.waitForFunction(() => document.getElementById("frame").textContent.includes("record"));
    ok((await textOf(page, "#frame")).startsWith(`frame ${rewind} `) &&
        (await textOf(page, "#calls .row.current")).includes("espl_history_rewind"), "a rewind is a record",
    await textOf(page, "#calls .row.current"));
    await shoot(page, "rewind");
    ok(seen.complaints.length === 0, "and gives no error", seen.complaints.join("\n"));
    await page.close();
}

/** Pages that have other hashes than the program computed. */
async function checkHashes(browser) {
    const html = readFileSync(`${directory}/walk.html`, "utf8");
    const hashes = / data-hashes="([0-9a-f]*)"/.exec(html)?.[1] ?? "";
    const at = 16 * 70 + 9;
    const changed = `${hashes.slice(0, at)}${hashes[at] === "0" ? "1" : "0"}${hashes.slice(at + 1)}`;
    const cases = [
        [changed, "other bits at frame 70 of 120", "frame 70 has another physical hash", "a hash of another world"],
        [`${hashes.slice(0, 16)}<i>\u202e no number${hashes.slice(32)}`, "other bits at frame 1 of 120", "no number",
            "a hash that is no number"],
        [hashes.slice(0, 16 * 40 + 3), "other bits at frame 40 of 120", `not ${hashes.slice(640, 643)}.`,
            "a part of a hash"],
        [hashes.slice(0, 16 * 40), "the same checksums: 120 of 120 frames", "compared in 40 of them", "fewer hashes"],
        [hashes + hashes, "the same checksums: 120 of 120 frames", "compared in 120 of them", "more hashes"],
    ];

    for (const [value, text, title, name] of cases) {
        writeFileSync(`${directory}/hashes.html`, html.replace(/ data-hashes="[^"]*"/, ` data-hashes="${value}"`));
        const { page, seen } = await open(browser, "hashes.html");

        await checked(page);
        const said = [await textOf(page, "#pill"), await page.$eval("#pill", (pill) => pill.title)];
        ok(said[0] === text && said[1].includes(title) && seen.complaints.length === 0, `${name}: ${text}`,
            [...said, ...seen.complaints].join("\n"));
        if (value === changed) {
            await page.click("#pill");
            ok((await textOf(page, "#frame")).startsWith("frame 70 ") &&
                (await textOf(page, "#notice")).includes("another physical hash"), "the pill goes there",
            await textOf(page, "#notice"));
        }
        await page.close();
    }
}

/** The page as it is built, with no tape in it. */
async function checkBare(browser) {
    const { page, seen } = await open(browser, "bare.html");
    const isAsked = await page.$eval("#overlay", (element) => !element.hidden);

    await press(page, "End", ".", " ", "f", "a");
    await shoot(page, "bare");
    await page.evaluate(async (base64) => {
        const bytes = Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
        const dataTransfer = new DataTransfer();

        delete document.documentElement.dataset.ready;
        dataTransfer.items.add(new File([bytes], "walk.tape"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }, readFileSync(`${directory}/walk.tape`).toString("base64"));
    await page.waitForFunction(() => document.documentElement.dataset.ready, { timeout: 120_000 });
    await checked(page);
    ok(isAsked && (await page.$eval("#overlay", (element) => element.hidden)) &&
        (await textOf(page, "#pill")) === "the same checksums: 120 of 120 frames" &&
        (await page.$eval("#pill", (pill) => pill.title)).endsWith("world transforms were compared in 0 of them"),
    "a page without a tape takes one that is dropped on it, and says that its checksums alone were compared");
    ok(seen.complaints.length === 0, "and gives no error without one", seen.complaints.join("\n"));
    await page.close();
}

/** Pictures to look at. */
async function checkPictures(browser, scheme) {
    for (const [name, frame] of [["walk", 40], ["crowd", 20]]) {
        for (const size of [[1280, 720], [1920, 1080]]) {
            const { page } = await open(browser, `${name}.html`, size);

            if (!isFirefox) {
                await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
            }
            await checked(page);
            await goFrame(page, frame);
            await shoot(page, `${name}-${size.join("x")}-${scheme}`);
            if (scheme === "dark" && size[0] === 1280) {
                const found = await violations(page);

                ok(found.length === 0, `axe-core finds no violation in ${name}, dark`, found.join("\n"));
            }
            const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth &&
                document.documentElement.scrollHeight <= innerHeight);
            ok(fits, `${name} fits ${size.join(" x ")}, ${scheme}`);
            await page.close();
        }
    }
}

async function checkWithoutPicture() {
    const browser = await launch({ args: ["--disable-3d-apis"] });
    const { page } = await open(browser, "walk.html");

    await checked(page);
    await press(page, "End");
    ok(await page.$eval("#no-picture", (element) => !element.hidden) &&
        (await textOf(page, "#frame")).startsWith("frame 119 "), "without WebGL2 tree, time and values work");
    await shoot(page, "no-picture");
    await browser.close();
}

const browser = await launch();
try {
    await checkMotion(browser);
    await checkNames(browser);
    await checkCulling(browser);
    await checkHashes(browser);
    await checkBare(browser);
    await checkParting(browser);
    await checkRewinds(browser);
    await checkTapes(browser);
    await checkPictures(browser, "light");
    if (!isFirefox) {
        await checkPictures(browser, "dark");
        await checkWithoutPicture();
    }
} catch (error) {
    ok(false, "the checks come to their end", error.stack);
} finally {
    await browser.close();
}
if (isFirefox) {
    const dark = await launch({ isDark: true });

    try {
        await checkPictures(dark, "dark");
    } catch (error) {
        ok(false, "the dark pictures come to their end", error.stack);
    } finally {
        await dark.close();
    }
}
console.log(`1..${number}`);
process.exit(failed === 0 ? 0 : 1);
