// SPDX-License-Identifier: MIT
// The tree of entities: rows of open nodes, search by name and path.

import { Engine, Flag, NONE } from "./engine.js";
import { Rows } from "./rows.js";

const INDENT = 12;
/** Deeper nodes are not indented further; a number says how deep they are. */
const INDENT_LIMIT = 12;
const FOUND_LIMIT = 1000;

/** Make an element with text. Text of a tape is only ever text. */
export function make(tag: string, className: string, text = ""): HTMLElement {
    const element = document.createElement(tag);

    element.className = className;
    element.textContent = text;
    return element;
}

/** A name keeps its direction of writing to itself. */
export function makeName(name: string): HTMLElement {
    const element = document.createElement("bdi");

    element.className = name === "" ? "name none" : "name";
    element.textContent = name === "" ? "unnamed" : name;
    element.title = name;
    return element;
}

export class Tree {
    readonly rows: Rows;
    readonly #search: HTMLInputElement;
    readonly #result: HTMLElement;
    #engine: Engine | undefined;
    #entities = new Uint32Array(0);
    #depths = new Uint32Array(0);
    #flags = new Uint8Array(0);
    #generations = new Uint32Array(0);
    #found: Uint32Array | undefined;
    #foundAt = -1;
    selected = NONE;
    onSelect: (index: number) => void = () => {};

    constructor(element: HTMLElement, search: HTMLInputElement, result: HTMLElement) {
        this.rows = new Rows(element, 22, "treeitem");
        this.#search = search;
        this.#result = result;
        this.rows.onRow = (row, index) => this.#fill(row, index);
        this.rows.onChoose = (index) => this.select(this.#entities[index] ?? NONE, false);
        this.rows.onKey = (event) => this.#key(event);
        element.addEventListener("click", (event) => {
            const target = event.target as HTMLElement;

            if (target.classList.contains("twisty")) {
                this.#toggle(Number(target.closest<HTMLElement>(".row")!.dataset["index"]));
            }
        });
        element.addEventListener("dblclick", (event) => {
            const row = (event.target as HTMLElement).closest<HTMLElement>(".row");

            if (row !== null) {
                this.#toggle(Number(row.dataset["index"]));
            }
        });
        search.addEventListener("input", () => this.find());
        search.addEventListener("keydown", (event) => {
            if (event.key === "Enter") {
                this.#nextFound(event.shiftKey ? -1 : 1);
                event.preventDefault();
            } else if (event.key === "Escape") {
                search.value = "";
                this.find();
                this.rows.element.focus();
            }
            event.stopPropagation();
        });
    }

    /** Take what an engine has read. */
    take(engine: Engine): void {
        this.#engine = engine;
        const count = engine.call("scene_rows");
        const capacity = engine.call("scene_capacity");

        this.#entities = engine.u32(engine.call("scene_row_entities"), count).slice();
        this.#depths = engine.u32(engine.call("scene_row_depths"), count).slice();
        this.#flags = engine.u8(engine.call("scene_flags"), capacity).slice();
        this.#generations = engine.u32(engine.call("scene_generations"), capacity).slice();
        this.rows.current = this.selected === NONE ? -1 : this.#entities.indexOf(this.selected);
        this.rows.count = count;
    }

    isAlive(index: number): boolean {
        return (this.#generations[index] ?? 0) !== 0;
    }

    /** Select an entity, or nothing. @param isRevealed  open what is above it, and scroll there. */
    select(index: number, isRevealed = true): void {
        const engine = this.#engine;

        this.selected = index;
        if (engine !== undefined && isRevealed && index !== NONE) {
            const row = engine.call("scene_reveal", index);

            this.take(engine);
            if (row !== NONE) {
                this.rows.reveal(row);
                this.rows.update();
            }
        } else {
            this.rows.current = index === NONE ? -1 : this.#entities.indexOf(index);
            this.rows.update();
        }
        this.onSelect(index);
    }

    #isOpen(entity: number): boolean {
        return (this.#flags[entity]! & Flag.open) !== 0;
    }

    #hasChildren(entity: number): boolean {
        return this.#engine!.call("scene_child", entity) !== NONE;
    }

    #toggle(index: number): void {
        const entity = this.#entities[index];

        if (entity !== undefined && this.#hasChildren(entity)) {
            this.#engine!.call("scene_open", entity, this.#isOpen(entity) ? 0 : 1);
            this.take(this.#engine!);
        }
    }

    /** Open or fold everything. */
    openAll(isOpen: boolean): void {
        if (this.#engine !== undefined) {
            this.#engine.call("scene_open", NONE, isOpen ? 1 : 0);
            this.take(this.#engine);
        }
    }

    #key(event: KeyboardEvent): boolean {
        const index = this.rows.current;
        const entity = this.#entities[index];

        if (entity === undefined) {
            return false;
        }
        if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
            const isRight = event.key === "ArrowRight";

            if (this.#hasChildren(entity) && this.#isOpen(entity) !== isRight) {
                this.#toggle(index);
            } else if (isRight && this.#hasChildren(entity)) {
                this.rows.choose(index + 1);
            } else if (!isRight && this.#depths[index]! > 0) {
                let up = index - 1;

                while (up > 0 && this.#depths[up]! >= this.#depths[index]!) {
                    --up;
                }
                this.rows.choose(up);
            }
            return true;
        }
        if (event.key === "Enter") {
            this.#toggle(index);
            return true;
        }
        return false;
    }

    #fill(row: HTMLElement, index: number): void {
        const engine = this.#engine!;
        const entity = this.#entities[index]!, depth = this.#depths[index]!;
        const flags = this.#flags[entity]!;
        const hasChildren = this.#hasChildren(entity);
        const role = flags & Flag.prefab ? "prefab" : flags & Flag.disabled ? "disabled"
            : flags & Flag.member ? (hasChildren ? "" : "leaf") : hasChildren ? "root" : "solo";
        const twisty = make("span", hasChildren ? "twisty" : "twisty empty",
            hasChildren ? (this.#isOpen(entity) ? "▾" : "▸") : "");
        const dot = make("span", flags & Flag.fresh ? "dot fresh" : flags & Flag.moved ? "dot moved" : "dot");

        const facts = make("span", "meta");
        const handle = `${entity}.${this.#generations[entity]!}`;
        const name = makeName(engine.textOf("details_name", entity));

        // What does not fit beside the name is on a line that is not seen. An entity without a name has its handle.
        facts.append(make("span", "role", role));
        if (name.classList.contains("none")) {
            name.textContent = name.title = handle;
        } else {
            facts.append(make("span", "handle", handle));
        }
        twisty.setAttribute("aria-hidden", "true");
        dot.title = flags & Flag.fresh ? "new in this step" : flags & Flag.moved ? "moved in this step" : "";
        // The number takes the place of some of the indentation.
        twisty.style.marginLeft = `${depth <= INDENT_LIMIT ? depth * INDENT : (INDENT_LIMIT - 3) * INDENT}px`;
        row.setAttribute("aria-level", String(depth + 1));
        if (hasChildren) {
            row.setAttribute("aria-expanded", String(this.#isOpen(entity)));
        } else {
            row.removeAttribute("aria-expanded");
        }
        row.classList.toggle("dim", (flags & (Flag.prefab | Flag.disabled)) !== 0);
        row.replaceChildren(twisty,
            ...(depth > INDENT_LIMIT ? [make("span", "depth", String(depth))] : []),
            name, facts, dot);
    }

    // --- Search ---

    find(): void {
        const engine = this.#engine;
        const text = this.#search.value.trim();

        this.#foundAt = -1;
        this.#found = undefined;
        this.#result.textContent = "";
        if (engine === undefined || text === "") {
            return;
        }
        const count = engine.withText(text, (at) => engine.call("scene_find", at, FOUND_LIMIT));

        this.#found = engine.u32(engine.call("scene_found"), count).slice();
        this.#nextFound(1);
    }

    #nextFound(step: number): void {
        const found = this.#found;

        if (found === undefined || found.length === 0) {
            this.#result.textContent = found === undefined ? "" : "none";
            return;
        }
        this.#foundAt = (this.#foundAt + step + found.length) % found.length;
        this.#result.textContent =
            `${this.#foundAt + 1} of ${found.length}${found.length === FOUND_LIMIT ? "+" : ""}`;
        this.select(found[this.#foundAt]!);
    }
}
