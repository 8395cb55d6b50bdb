// SPDX-License-Identifier: MIT
// The page: what its parts show of the tape, and what its buttons and keys do.

import { CullingButtons } from "./culling.js";
import { showChunks, showRefused, showValues, showWhy, showWorld } from "./details.js";
import { Mark, ModuleStopped, NONE } from "./engine.js";
import { Player } from "./player.js";
import { Rows } from "./rows.js";
import { Scene3D } from "./scene3d.js";
import { findTapes, listenToDrops, loadModule, type PackedTape, type Place, type Tape, unpack } from "./tapes.js";
import { drawTicks, Timings } from "./timeline.js";
import { make, makeName, Tree } from "./tree.js";

/** Seconds that a frame of a tape is shown when it plays. */
const FRAME_SECONDS = 1 / 60;
const MOVED_SHOWN = 200;
/** From ESPL_TAPE_WRITES to ESPL_TAPE_INHERIT. */
const FIRST_WRITE = 13;
const LAST_WRITE = 17;

function get<T extends HTMLElement>(id: string): T {
    return document.getElementById(id) as T;
}

const dom = {
    pill: get<HTMLButtonElement>("pill"),
    tapes: get<HTMLSelectElement>("tapes"),
    file: get<HTMLInputElement>("file"),
    open: get<HTMLButtonElement>("open"),
    notice: get("notice"),
    overlay: get("overlay"),
    canvas: get<HTMLCanvasElement>("canvas"),
    slider: get<HTMLInputElement>("slider"),
    ticks: get<HTMLCanvasElement>("ticks"),
    frame: get("frame"),
    play: get<HTMLButtonElement>("play"),
    moved: get("moved"),
    movedList: get("moved-list"),
    help: get<HTMLDialogElement>("help"),
    up: get<HTMLButtonElement>("up"),
    count: get("count"),
};

const tree = new Tree(get("tree"), get<HTMLInputElement>("search"), get("found"));
const calls = new Rows(get("calls"), 20, "option");
const timings = new Timings(get("strip"));
const darkness = matchMedia("(prefers-color-scheme: dark)");
const culling = new CullingButtons(() => scene?.culling, () => showScene());
let scene: Scene3D | undefined;
let module: WebAssembly.Module;
let player: Player | undefined;
/** Where the page was asked to open the tape. */
let place: Place | undefined;
let drawTimes = new Float32Array(0);
let isPlaying = false;
let tab = "values";

// --- Notices ---

function notice(text: string): void {
    dom.notice.textContent = text;
    dom.notice.hidden = text === "";
}

/** Run something that may stop the module; then the page says so, and keeps what it shows. */
function guard(use: () => void): void {
    try {
        use();
    } catch (error) {
        isPlaying = false;
        showPlay();
        notice(error instanceof ModuleStopped || error instanceof RangeError ? error.message : String(error));
        if (!(error instanceof ModuleStopped || error instanceof RangeError)) {
            throw error;
        }
    }
}

// --- What is shown ---

const panels: Record<string, (panel: HTMLElement, current: Player) => void> = {
    values: (panel, { engine }) => showValues(panel, engine, tree.selected),
    why: (panel, { engine }) => showWhy(panel, engine, tree.selected, (index) => tree.select(index)),
    timings: (_, current) => timings.update(current, drawTimes),
    chunks: (panel, { engine }) => showChunks(panel, engine),
    refused: (panel, current) => showRefused(panel, current, (record) => goRecord(record + 1)),
    world: (panel, { engine }) => showWorld(panel, engine),
};

function showPanel(): void {
    if (player !== undefined) {
        panels[tab]!(get(`panel-${tab}`), player);
    }
}

function showPlay(): void {
    dom.play.textContent = isPlaying ? "❚❚" : "▶";
    dom.play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
}

function showTime(current: Player): void {
    const segment = current.segment;
    const begin = current.begin(segment), end = current.end(segment);
    const isRest = segment > current.frameCount;
    const number = Math.max(0, isRest ? segment - 2 : segment - 1);

    dom.slider.value = String(segment - 1);
    dom.slider.style.setProperty("--share",
        `${(100 * (segment - 1)) / Math.max(1, current.segmentCount - 1)}%`);
    dom.slider.setAttribute("aria-valuetext", `${isRest ? "after " : ""}frame ${number} of ${
        current.frameCount}`);
    dom.frame.replaceChildren(make("b", "", `${isRest ? "after frame" : "frame"} ${number}`),
        make("span", "", ` of ${current.frameCount}`),
        make("span", "record", current.position === end ? "" :
            `record ${current.position - begin} of ${end - begin}`));
    calls.current = current.position - begin - 1;
    if (calls.element.dataset["segment"] !== String(segment)) {
        calls.element.dataset["segment"] = String(segment);
        calls.count = end - begin;
    }
    calls.reveal(calls.current);
    calls.update();
}

function showMoved(current: Player): void {
    const engine = current.engine;
    const count = current.movedCount;
    const text = count === 1 ? "1 node" : `${count.toLocaleString("en")} nodes`;
    const record = current.position - 1;
    const written = current.isRecord && record >= 0 ? engine.call("view_entity", record) : NONE;
    const line = make("span", "");

    const isWrite = record >= 0 && current.op(record) >= FIRST_WRITE && current.op(record) <= LAST_WRITE;

    if (current.isRecord && written !== NONE) {
        line.append(make("b", "", `This ${isWrite ? "write" : "call"} moved ${text}`), " below ",
            makeName(engine.textOf("details_name", written) || engine.handle(written)));
    } else {
        line.append(make("b", "", `This ${current.isRecord ? "record" : "frame"} moved ${text}`));
    }
    dom.moved.replaceChildren(line);
    dom.moved.dataset["count"] = String(count);
    dom.movedList.replaceChildren();
    if (current.isRecord && count > 0) {
        listMoved(current, written);
    }
}

/** The moved nodes, each by its path from the written one. */
function listMoved(current: Player, written: number): void {
    const engine = current.engine;
    const moved = engine.u32(engine.call("scene_moved"), Math.min(current.movedCount, MOVED_SHOWN)).slice();
    const top = written === NONE ? "" : engine.textOf("details_path", written);

    for (const index of moved) {
        const item = document.createElement("li");
        const button = make("button", "link") as HTMLButtonElement;
        const path = engine.textOf("details_path", index);

        button.type = "button";
        button.append(makeName(index !== written && top !== "" && path.startsWith(`${top}/`)
            ? `…/${path.slice(top.length + 1)}` : path));
        button.addEventListener("click", () => tree.select(index));
        item.append(button);
        dom.movedList.append(item);
    }
    if (current.movedCount > moved.length) {
        dom.movedList.append(make("li", "hint", `and ${current.movedCount - moved.length} more`));
    }
}

/** The picture alone, or all parts. */
function showScene(): void {
    if (player !== undefined && scene !== undefined) {
        scene.take(player.engine, player.isRecord, tree.selected);
        culling.update();
        player.cullTimes[player.segment] = scene.culling.time;
    }
}

function showAll(): void {
    if (player === undefined) {
        return;
    }
    if (tree.selected !== NONE && !(player.engine.u8(player.engine.call("scene_generations") +
        4 * tree.selected, 4).some((byte) => byte !== 0))) {
        tree.selected = NONE;
    }
    tree.take(player.engine);
    const stride = player.engine.call("scene_stride");

    dom.count.textContent = `${player.entityCount.toLocaleString("en")} entities${
        stride > 1 ? `; one bone in ${stride} is drawn` : ""}`;
    // What it takes of the height is known before the calls are scrolled.
    showMoved(player);
    showTime(player);
    showScene();
    showPanel();
    notice(faultOf(player));
}

/** What is wrong with the tape where it is shown; empty: nothing. */
function faultOf(current: Player): string {
    if (current.stop !== "") {
        return `The tape cannot be played further: ${current.stop}`;
    }
    if (place !== undefined && current.position === positionOf(current, place)) {
        return place.note;
    }
    if (current.segment === current.firstDifference) {
        return `The bits are other ones from here on: ${current.difference}`;
    }
    if (current.segment < current.segmentCount) {
        return "";
    }
    if (current.fault !== "") {
        return `The tape cannot be read further: ${current.fault}`;
    }
    return current.recordCount === 0 ? "The tape has no record." : "";
}

function showPill(): void {
    const current = player;

    if (current === undefined) {
        dom.pill.hidden = true;
        return;
    }
    const { sameCount, frameCount, isChecked, firstDifference, isHashed } = current;
    const state = firstDifference !== 0 ? "differs" : isChecked ? "same" : "checking";

    dom.pill.hidden = false;
    dom.pill.dataset["state"] = state;
    dom.pill.textContent = state === "differs"
        ? `other bits at frame ${firstDifference - 1} of ${frameCount}`
        : `${state === "same" ? "the same" : "same"} ${isHashed ? "bits" : "checksums"}: ${sameCount} of ${
            frameCount} frames`;
    dom.pill.title = state === "differs" ? `${current.difference}. Press to go there.`
        : `Frames that have, in this browser, the checksum of the tape${isHashed
            ? " and the world transforms of the program that wrote the page"
            : `; world transforms were compared in ${current.hashedCount} of them`}`;
    drawTicks(dom.ticks, current);
    get("tab-refused").textContent =
        current.refused.length === 0 ? "Refused" : `Refused (${current.refused.length})`;
    document.documentElement.dataset["checked"] = isChecked ? state : "";
    if (tab === "timings" || (tab === "refused" && isChecked)) {
        showPanel();
    }
}

// --- Going ---

function goFrame(segment: number): void {
    const current = player;

    if (current !== undefined && current.segmentCount > 0) {
        guard(() => {
            current.showSegment(Math.max(1, Math.min(segment, current.segmentCount)));
            showAll();
        });
    }
}

function goRecord(position: number): void {
    const current = player;

    if (current !== undefined && position >= 1 && position <= current.recordCount) {
        guard(() => {
            current.show(position, position - 1);
            showAll();
        });
    }
}

/** To the record that differs; where that is the end of its frame, the whole frame is shown. */
function goDifference(current: Player): void {
    const { firstDifference: segment, differencePosition: position } = current;

    if (position === current.end(segment)) {
        goFrame(segment);
    } else {
        goRecord(position);
    }
}

function setPlaying(isOn: boolean): void {
    const current = player;

    if (current === undefined || isOn === isPlaying) {
        return;
    }
    isPlaying = isOn;
    showPlay();
    if (isOn) {
        if (current.segment >= current.frameCount) {
            goFrame(1);
        }
        run(current);
    }
}

function run(current: Player): void {
    let last = performance.now(), due = 0;
    const next = (now: number) => {
        if (!isPlaying || player !== current) {
            return;
        }
        due = Math.min(due + (now - last) / 1000, 4 * FRAME_SECONDS);
        last = now;
        const steps = Math.floor(due / FRAME_SECONDS + 0.01);

        due -= steps * FRAME_SECONDS;
        if (steps > 0) {
            goFrame(Math.min(current.segment + steps, Math.max(1, current.frameCount)));
        }
        if (current.segment >= current.frameCount) {
            setPlaying(false);
        } else {
            requestAnimationFrame(next);
        }
    };

    requestAnimationFrame(next);
}

// --- Opening ---

/** @param at  where to begin, instead of where the page was asked to. */
function open(tape: Tape, at?: Place): void {
    let opened: Player;

    isPlaying = false;
    showPlay();
    try {
        opened = new Player(module, tape);
    } catch (error) {
        notice(`${tape.name}: ${error instanceof Error ? error.message : String(error)}`);
        dom.overlay.hidden = player !== undefined;
        document.documentElement.dataset["ready"] = "refused";
        return;
    }
    player?.close();
    player = opened;
    place = tape.place;
    drawTimes = new Float32Array(opened.segmentCount + 1);
    tree.selected = NONE;
    if (at === undefined) {
        scene?.reset();
    }
    if (scene !== undefined && tape.isZUp !== scene.isZUp) {
        setUp(tape.isZUp);
    }
    document.title = `${tape.name} - Espalier`;
    dom.overlay.hidden = true;
    dom.slider.max = String(Math.max(1, opened.segmentCount - 1));
    get("rewound").hidden = !opened.marks.some((marks) => (marks & Mark.rewinds) !== 0);
    calls.element.dataset["segment"] = "";
    timings.make(opened, drawTimes);
    guard(() => {
        opened.showSegment(1);
        goPlace(opened, at ?? findAddress(opened) ?? place ?? { frame: 0, record: 0, entity: "", note: "" });
    });
    if (opened.recordCount === 0) {
        notice(faultOf(opened));
    }
    showPill();
    performance.mark("ready");
    document.documentElement.dataset["ready"] = "yes";
    opened.check(() => {
        if (player === opened) {
            showPill();
            if (opened.isChecked && opened.segment === opened.firstDifference) {
                notice(faultOf(opened));
            }
        }
    }).catch((error: unknown) => {
        notice(`The check of the bits ended: ${error instanceof Error ? error.message : String(error)}`);
    });
}

/** The position that a place is, or the nearest one before it. */
function positionOf(current: Player, { frame, record }: Place): number {
    const segment = Math.min(frame + 1, current.segmentCount);

    return record === 0 || segment <= frame ? current.end(segment)
        : Math.min(current.begin(segment) + record, current.end(segment));
}

function goPlace(current: Player, to: Place): void {
    const position = positionOf(current, to);
    const index = Number(to.entity.split(".")[0]);

    if (position === current.end(current.segmentOf(position)) && to.record === 0) {
        current.showSegment(current.segmentOf(position));
    } else if (position > 0) {
        current.show(position, position - 1);
    }
    showAll();
    if (to.entity !== "" && current.engine.handle(index) === to.entity) {
        tree.select(index);
    }
}

/** What follows # in the address may name a frame, a record of it and an entity: #frame=60&record=2&entity=7.16777217. */
function findAddress(current: Player): Place | undefined {
    const asked = new URLSearchParams(location.hash.slice(1));
    const frame = Number(asked.get("frame") ?? NaN), record = Number(asked.get("record"));
    const isThere = Number.isInteger(frame) && frame >= 0 && frame < current.segmentCount;
    const isRecord = Number.isInteger(record) && record > 0 &&
        record <= current.end(frame + 1) - current.begin(frame + 1);

    return isThere ? { frame, record: isRecord ? record : 0, entity: asked.get("entity") ?? "", note: "" }
        : undefined;
}

async function openPacked(tape: PackedTape, at?: Place): Promise<void> {
    try {
        open({ ...tape, bytes: await unpack(tape.take()) }, at);
    } catch (error) {
        notice(`${tape.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
}

/** Where the tape is now. */
function placeNow(current: Player): Place {
    const segment = current.segment;

    return {
        frame: segment - 1,
        record: current.position === current.end(segment) && !current.isRecord ? 0
            : current.position - current.begin(segment),
        entity: tree.selected === NONE ? "" : current.engine.handle(tree.selected),
        note: "",
    };
}

function openFile(file: File): void {
    file.arrayBuffer()
        .then((buffer) => openPacked({
            name: file.name,
            isZUp: scene?.isZUp ?? false,
            place: undefined,
            hashes: "",
            take: () => new Uint8Array(buffer),
        }))
        .catch((error: unknown) => notice(`${file.name}: ${String(error)}`));
}

// --- Buttons and keys ---

function setUp(isZUp: boolean): void {
    scene?.setZUp(isZUp);
    dom.up.textContent = isZUp ? "Z up" : "Y up";
}

function chooseTab(name: string): void {
    tab = name;
    for (const button of document.querySelectorAll<HTMLButtonElement>("[role=tab]")) {
        const isChosen = button.id === `tab-${name}`;

        button.setAttribute("aria-selected", String(isChosen));
        button.tabIndex = isChosen ? 0 : -1;
        get(button.getAttribute("aria-controls")!).hidden = !isChosen;
    }
    if (name === "timings" && player !== undefined) {
        timings.make(player, drawTimes);
    }
    guard(showPanel);
    if (name === "why") {
        showEnd();
    }
}

/** The selected node is the last one of its chain. */
function showEnd(): void {
    get("panel-why").scrollTop = get("panel-why").scrollHeight;
}

const keys: Record<string, () => void> = {
    " ": () => setPlaying(!isPlaying),
    ArrowRight: () => goFrame((player?.segment ?? 0) + 1),
    ArrowLeft: () => stepBack(),
    PageDown: () => goFrame((player?.segment ?? 0) + 10),
    PageUp: () => goFrame((player?.segment ?? 0) - 10),
    Home: () => goFrame(1),
    End: () => goFrame(Infinity),
    ".": () => goRecord((player?.position ?? 0) + 1),
    ",": () => goRecord((player?.position ?? 0) - 1),
    "/": () => get("search").focus(),
    f: () => focusSelected(),
    a: () => scene?.fit(),
    u: () => setUp(!(scene?.isZUp ?? false)),
    c: () => culling.toggle(),
    x: () => culling.from(() => scene?.cullFromHere()),
    b: () => culling.toggleBoxes(),
    e: () => tree.openAll(true),
    w: () => tree.openAll(false),
    d: () => dom.pill.click(),
    "?": () => dom.help.showModal(),
    Escape: () => tree.select(NONE, false),
};

/** From within a frame to the end of the one before; from an end to the end before it. */
function stepBack(): void {
    if (player !== undefined) {
        goFrame(player.segment - 1);
    }
}

function focusSelected(): void {
    if (player !== undefined && scene !== undefined && tree.selected !== NONE) {
        scene.focus(player.engine, tree.selected);
    }
}

function listen(): void {
    document.addEventListener("keydown", (event) => {
        const target = event.target as HTMLElement;
        const isTyping = target instanceof HTMLInputElement && target.type !== "range";
        const isButton = event.key === " " && (target instanceof HTMLButtonElement);

        if (event.ctrlKey || event.metaKey || event.altKey || isTyping || isButton || dom.help.open ||
            target instanceof HTMLSelectElement || (target.getAttribute("role") === "tab" &&
            event.key.startsWith("Arrow"))) {
            return;
        }
        const action = keys[event.key];

        if (action !== undefined) {
            guard(action);
            event.preventDefault();
        }
    });
    dom.slider.addEventListener("input", () => {
        setPlaying(false);
        goFrame(Number(dom.slider.value) + 1);
    });
    const buttons: Record<string, string> = {
        first: "Home", back: "ArrowLeft", play: " ", forward: "ArrowRight", last: "End", "record-back": ",",
        "record-forward": ".", fit: "a", focus: "f", up: "u", cull: "c", "cull-here": "x", boxes: "b", keys: "?",
        "open-all": "e", "fold-all": "w",
    };
    for (const [id, key] of Object.entries(buttons)) {
        get(id).addEventListener("click", () => guard(keys[key]!));
    }
    dom.pill.addEventListener("click", () => {
        if (player !== undefined && player.firstDifference !== 0) {
            goDifference(player);
        }
    });
    dom.open.addEventListener("click", () => dom.file.click());
    dom.file.addEventListener("change", () => {
        if (dom.file.files?.[0] !== undefined) {
            openFile(dom.file.files[0]);
        }
        dom.file.value = "";
    });
    listenToDrops(openFile);
    addEventListener("hashchange", () => guard(() => {
        const asked = player === undefined ? undefined : findAddress(player);

        if (asked !== undefined) {
            goPlace(player!, asked);
        }
    }));
    document.addEventListener("visibilitychange", () => scene?.request());
    new ResizeObserver(() => showPill()).observe(dom.ticks);
    darkness.addEventListener("change", applyTheme);
    listenToTabs();
}

function listenToTabs(): void {
    const tabs = [...document.querySelectorAll<HTMLButtonElement>("[role=tab]")];

    tabs.forEach((button, i) => {
        button.addEventListener("click", () => chooseTab(button.id.slice(4)));
        button.addEventListener("keydown", (event) => {
            const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;

            if (step !== 0) {
                const next = tabs[(i + step + tabs.length) % tabs.length]!;

                next.focus();
                chooseTab(next.id.slice(4));
            }
        });
    });
}

function applyTheme(): void {
    scene?.setTheme(darkness.matches);
    guard(showScene);
    showPill();
    if (tab === "timings" && player !== undefined) {
        timings.make(player, drawTimes);
    }
}

function listenToParts(): void {
    tree.onSelect = (index) => {
        get<HTMLButtonElement>("focus").disabled = index === NONE;
        guard(() => {
            showScene();
            if (tab === "values" || tab === "why") {
                showPanel();
                showEnd();
            }
        });
    };
    calls.onRow = (row, index) => {
        const current = player!;
        const record = current.begin(current.segment) + index;
        const status = current.status(record);
        const text = current.engine.textOf("view_text", record);
        const space = text.indexOf(" ");

        row.classList.toggle("refused", status < 0);
        row.replaceChildren(make("span", "number", String(index + 1)),
            make("span", "what", space < 0 ? text : text.slice(0, space)),
            make("span", "arguments", space < 0 ? "" : text.slice(space + 1)),
            ...(status !== 0 ? [make("span", "status", current.engine.textOf("view_status", status))] : []),
            ...(current.isCut(record) ? [make("span", "status", "cut here")] : []));
        row.title = text;
    };
    calls.onChoose = (index) => goRecord(player!.begin(player!.segment) + index + 1);
    timings.onFrame = goFrame;
}

function makeScene(): void {
    try {
        scene = new Scene3D(dom.canvas);
    } catch {
        get("no-picture").hidden = false;
        get("camera").hidden = true;
        dom.canvas.hidden = true;
        return;
    }
    scene.onPick = (index) => tree.select(index);
    scene.onContext = (isLost) => {
        get("lost").hidden = !isLost;
    };
    scene.onDraw = () => {
        if (player !== undefined && scene !== undefined) {
            drawTimes[player.segment] = scene.drawTime;
        }
    };
}

async function start(): Promise<void> {
    module = await loadModule();
    makeScene();
    listen();
    listenToParts();
    chooseTab("values");
    scene?.setTheme(darkness.matches);
    const tapes = findTapes();

    dom.tapes.hidden = tapes.length < 2;
    tapes.forEach(({ name }, i) => dom.tapes.add(new Option(name, String(i))));
    dom.tapes.addEventListener("change", () => {
        const chosen = tapes[Number(dom.tapes.value)]!;

        // Two tapes that part are looked at side by side: the other one is shown where this one is.
        void openPacked(chosen, player !== undefined && place !== undefined && chosen.place !== undefined
            ? placeNow(player) : undefined);
    });
    if (tapes[0] === undefined) {
        dom.overlay.hidden = false;
        document.documentElement.dataset["ready"] = "empty";
    } else {
        await openPacked(tapes[0]);
    }
}

/** For the console of a browser, and for tests. */
Object.assign(globalThis, {
    espalier: {
        get player() {
            return player;
        },
        get scene() {
            return scene;
        },
        tree,
    },
});

start().catch((error: unknown) => {
    notice(`This browser cannot run the page: ${error instanceof Error ? error.message : String(error)}`);
    document.documentElement.dataset["ready"] = "failed";
});
