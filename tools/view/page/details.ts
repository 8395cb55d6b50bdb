// SPDX-License-Identifier: MIT
// What is said of the selected entity and of the world: values, why it is where it is, statistics, chunks,
// refused calls.

import { Engine, NONE } from "./engine.js";
import type { Player } from "./player.js";
import { make, makeName } from "./tree.js";

const inheritNames: [number, string][] = [
    [1, "ABSOLUTE_X"], [2, "ABSOLUTE_Y"], [4, "ABSOLUTE_Z"], [8, "ABSOLUTE_FORWARD"], [16, "ABSOLUTE_UP"],
    [32, "STRICT_UP"], [64, "ABSOLUTE_SCALE"], [128, "COPY_PARENT"],
];
const roles = ["none", "solo", "root", "member"];
const ROTATION = [0, 4] as const, POSITION = [4, 3] as const, SCALE = [7, 1] as const, STRETCH = [8, 3] as const;

/** Nine digits, from which the same float is read again. */
export function exact(value: number): string {
    return Number.isFinite(value) ? String(Number(value.toPrecision(9))) : String(value);
}

/** A few digits, for reading. */
export function brief(value: number): string {
    const text = Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-4)
        ? value.toExponential(3) : value.toFixed(4);

    return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "").replace(/^-0$/, "0") : text;
}

function inheritText(flags: number): string {
    const names = inheritNames.filter(([bit]) => flags & bit).map(([, name]) => name);

    return names.length === 0 ? "everything" : `all but ${names.join(", ")}`;
}

function part(values: Float32Array, [at, count]: readonly [number, number]): number[] {
    return [...values.subarray(at, at + count)];
}

function literal(values: Float32Array, userData: number): string {
    const write = (value: number) => {
        const text = exact(value);

        return `${/[.e]/.test(text) ? text : `${text}.0`}f`;
    };
    const list = (of: readonly [number, number]) => part(values, of).map(write).join(", ");

    return `(espl_transform){.rotation = {${list(ROTATION)}}, .position = {${list(POSITION)}}, ` +
        `.scale = ${list(SCALE)}, .stretch = {${list(STRETCH)}}, .user_data = ${userData}u}`;
}

async function copyText(text: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = document.createElement("textarea");

        area.value = text;
        document.body.append(area);
        area.select();
        const isDone = document.execCommand("copy");

        area.remove();
        return isDone;
    }
}

function makeTable(className: string, head: string[], rows: (string | Node)[][]): HTMLElement {
    const table = make("table", className);
    const line = (cells: (string | Node)[], isHead: boolean) => {
        const row = document.createElement("tr");

        cells.forEach((cell, i) => {
            // The corner of a table heads nothing.
            const heads = isHead ? cell !== "" : i === 0;
            const element = document.createElement(heads ? "th" : "td");

            if (heads) {
                element.setAttribute("scope", isHead ? "col" : "row");
            }
            element.append(cell);
            row.append(element);
        });
        return row;
    };

    if (head.length > 0) {
        const top = document.createElement("thead");

        top.append(line(head, true));
        table.append(top);
    }
    const body = document.createElement("tbody");

    body.append(...rows.map((row) => line(row, false)));
    table.append(body);
    return table;
}

function makeNumbers(values: number[], print = exact): HTMLElement {
    const element = make("span", "numbers");

    for (const value of values) {
        element.append(make("span", "", print(value)), " ");
    }
    return element;
}

function nothing(panel: HTMLElement, text: string): void {
    panel.replaceChildren(make("p", "hint", text));
}

/** Local and world transform, links and components. */
export function showValues(panel: HTMLElement, engine: Engine, index: number): void {
    if (index === NONE) {
        nothing(panel, "Select a node in the tree or in the picture.");
        return;
    }
    const at = engine.call("details_values", index);
    const floats = engine.f32(at, 24).slice(), words = engine.u32(at, 32).slice();
    const local = floats.subarray(0, 12), world = floats.subarray(12, 24);
    const rows = ([["position", POSITION], ["rotation", ROTATION], ["scale", SCALE], ["stretch", STRETCH]] as const)
        .map(([name, of]) => [name, makeNumbers(part(local, of)), makeNumbers(part(world, of))]);
    const copies = make("div", "buttons");

    for (const [name, values, data] of [["local", local, words[11]!], ["world", world, words[23]!]] as const) {
        const button = make("button", "", `Copy ${name} as C`) as HTMLButtonElement;

        button.type = "button";
        button.addEventListener("click", () => {
            void copyText(literal(values, data)).then((isDone) => {
                button.textContent = isDone ? "Copied" : "Not copied";
                setTimeout(() => (button.textContent = `Copy ${name} as C`), 1200);
            });
        });
        copies.append(button);
    }
    const title = make("h3", "");

    title.append(makeName(engine.textOf("details_name", index)),
        make("span", "handle", engine.handle(index)));
    const path = make("p", "path");

    path.append(makeName(engine.textOf("details_path", index)));
    // Of large worlds and counterparts.
    const places = engine.textOf("details_places", index).split("\n").filter((line) => line !== "")
        .map((line) => line.split("\t"));

    panel.replaceChildren(title, path,
        makeTable("values", ["", "local", "world"], rows), copies,
        makeTable("facts", [], [
            ["inherits", inheritText(words[24]!)],
            ["link", words[26] === 3 ? (words[25] === 0 ? "owned" : "free") : "none"],
            ["role", roles[words[26]!] ?? ""],
            ["depth", String(words[27])],
            ["children", String(words[28])],
            ["user data", `0x${words[11]!.toString(16)}`],
            ...places,
        ]),
        makeComponents(engine.textOf("details_components", index)));
}

function makeComponents(text: string): HTMLElement {
    const list = make("div", "components");
    const lines = text.split("\n").filter((line) => line !== "");

    if (lines.length > 0) {
        list.append(make("h4", "", "Components"));
    }
    for (const line of lines) {
        const [name = "", size = "", bytes = "", fields = ""] = line.split("\t");
        const item = make("div", "component");

        item.append(makeName(name), make("span", "size", size === "0" ? "tag" : `${size} bytes`));
        if (fields !== "") {
            item.append(make("div", "fields", fields));
        }
        if (bytes !== "") {
            item.append(make("code", "bytes", bytes));
        }
        list.append(item);
    }
    return list;
}

/** Each local on the way down from the root, with the world transform after it. */
export function showWhy(panel: HTMLElement, engine: Engine, index: number, select: (index: number) => void): void {
    if (index === NONE) {
        nothing(panel, "Select a node: each transform on the way down from its root is shown here, with the " +
            "result after each.");
        return;
    }
    const count = engine.call("details_chain", index);
    const entities = engine.u32(engine.call("details_chain_entities"), count).slice();
    const locals = engine.f32(engine.call("details_chain_locals"), 12 * count).slice();
    const facts = engine.u32(engine.call("details_chain_facts"), count).slice();
    const list = make("ol", "chain");
    const above = engine.u32(engine.call("scene_parents"), engine.call("scene_capacity"))[entities[0] ?? 0]!;

    if (above !== NONE) {
        list.append(make("li", "hint", "Ancestors above these are left out."));
    }
    entities.forEach((entity, i) => {
        const item = make("li", entity === index ? "here" : "");
        const button = make("button", "link") as HTMLButtonElement;
        const world = engine.f32(engine.call("scene_worlds") + 48 * entity, 12).slice();
        const isRoot = i === 0 && above === NONE;
        const isSame = (facts[i]! & 256) !== 0;

        button.type = "button";
        button.append(makeName(engine.textOf("details_name", entity)),
            make("span", "handle", engine.handle(entity)));
        button.addEventListener("click", () => select(entity));
        item.append(button, makeTable("chain", [], [
            ["its local", describe(locals.subarray(12 * i, 12 * i + 12))],
            ["gives world", describe(world)],
        ]));
        if ((facts[i]! & 255) !== 0) {
            item.append(make("p", "inherit", `inherits ${inheritText(facts[i]! & 255)}`));
        }
        if (!isRoot) {
            item.append(make("p", isSame ? "proof same" : "proof",
                isSame ? "parent ∘ local gives these bits" : "parent ∘ local gives other bits"));
        }
        list.append(item);
    });
    panel.replaceChildren(list);
}

function describe(values: Float32Array): HTMLElement {
    const element = make("div", "");
    const add = (label: string, of: readonly [number, number]) => {
        const line = make("div", "part");

        line.append(make("span", "label", label), makeNumbers(part(values, of), brief));
        element.append(line);
    };

    add("position", POSITION);
    add("rotation", ROTATION);
    if (values[7] !== 1) {
        add("scale", SCALE);
    }
    if (values[8] !== 1 || values[9] !== 1 || values[10] !== 1) {
        add("stretch", STRETCH);
    }
    return element;
}

export function showWorld(panel: HTMLElement, engine: Engine): void {
    const rows = engine.textOf("details_stats").split("\n").filter((line) => line !== "").map((line) => {
        const [name = "", value = ""] = line.split("\t");

        return [name.replaceAll("_", " "), Number(value).toLocaleString("en")];
    });

    panel.replaceChildren(makeTable("facts stats", [], rows));
}

const CHUNK_ROWS = 128;
const CHUNKS_SHOWN = 240;

/** How full the chunks of each component set are. */
export function showChunks(panel: HTMLElement, engine: Engine): void {
    const lines = engine.textOf("details_chunks").split("\n").filter((line) => line !== "");

    if (lines.length === 0) {
        nothing(panel, "No entity, and so no chunk.");
        return;
    }
    panel.replaceChildren(...lines.map((line) => {
        const [names = "", list = ""] = line.split("\t");
        const rows = list.trim().split(" ").map(Number);
        const sum = rows.reduce((a, b) => a + b, 0);
        const item = make("section", "archetype");
        const bars = make("div", "bars");

        for (const count of rows.slice(0, CHUNKS_SHOWN)) {
            const bar = make("i", ""), fill = make("b", "");

            fill.style.height = `${(100 * count) / CHUNK_ROWS}%`;
            bar.title = `${count} rows`;
            bar.append(fill);
            bars.append(bar);
        }
        bars.setAttribute("aria-hidden", "true");
        item.append(make("h3", "", names),
            make("p", "", `${sum.toLocaleString("en")} ${sum === 1 ? "row" : "rows"} in ${rows.length.toLocaleString("en")} ` +
                `${rows.length === 1 ? "chunk" : "chunks"}, ${Math.round((100 * sum) / (CHUNK_ROWS * rows.length))} % ` +
                `of ${CHUNK_ROWS}-row chunks${rows.length > CHUNKS_SHOWN ? `; the first ${CHUNKS_SHOWN} are drawn` : ""}`),
            bars);
        return item;
    }));
}

const REFUSED_SHOWN = 500;

/** Calls that were refused, with what the log says. */
export function showRefused(panel: HTMLElement, player: Player, go: (record: number) => void): void {
    if (player.refused.length === 0) {
        nothing(panel, "No call of this tape was refused.");
        return;
    }
    const list = make("ol", "refused");

    for (const record of player.refused.slice(0, REFUSED_SHOWN)) {
        const item = document.createElement("li");
        const button = make("button", "link", `frame ${player.segmentOf(record + 1) - 1}, record ${
            record - player.begin(player.segmentOf(record + 1)) + 1}`) as HTMLButtonElement;
        const name = player.engine.textOf("view_status", player.status(record));
        const sentence = (player.refusals.get(record) ?? "").trim();

        button.type = "button";
        button.addEventListener("click", () => go(record));
        item.append(button, make("p", "sentence", sentence === "" ? name : sentence),
            make("p", "call", player.engine.textOf("view_text", record)));
        list.append(item);
    }
    panel.replaceChildren(list);
    if (player.refused.length > REFUSED_SHOWN) {
        panel.append(make("p", "hint", `${player.refused.length - REFUSED_SHOWN} more are not listed.`));
    }
}
