// SPDX-License-Identifier: MIT
// A list of which the rows in view alone are elements, whatever its length.

/** Longer than this no element may be in some browsers; a longer list scrolls by larger steps. */
const HEIGHT_LIMIT = 8_000_000;

export class Rows {
    readonly element: HTMLElement;
    readonly #spacer = document.createElement("div");
    readonly #rows: HTMLElement[] = [];
    readonly #height: number;
    readonly #role: string;
    readonly #id: string;
    #count = 0;
    #first = 0;
    current = -1;
    /** Fill a row, which may have been another one before. */
    onRow: (row: HTMLElement, index: number) => void = () => {};
    onChoose: (index: number) => void = () => {};
    /** A key that the list does not know. */
    onKey: (event: KeyboardEvent) => boolean = () => false;

    /** @param role  of the rows: "treeitem" or "option". */
    constructor(element: HTMLElement, height: number, role: string) {
        this.element = element;
        this.#height = height;
        this.#role = role;
        this.#id = element.id;
        element.tabIndex = 0;
        this.#spacer.className = "spacer";
        this.#spacer.setAttribute("role", "presentation");
        element.append(this.#spacer);
        element.addEventListener("scroll", () => this.#scrolled());
        element.addEventListener("keydown", (event) => this.#key(event));
        element.addEventListener("click", (event) => {
            const row = (event.target as Element).closest<HTMLElement>(".row");

            if (row !== null) {
                this.choose(Number(row.dataset["index"]), false);
            }
        });
        new ResizeObserver(() => this.update()).observe(element);
    }

    get count(): number {
        return this.#count;
    }

    set count(count: number) {
        this.#count = count;
        this.#spacer.style.height = `${this.#fullHeight()}px`;
        this.#first = Math.min(this.#first, Math.max(0, count - this.visible));
        this.update();
    }

    get visible(): number {
        return Math.max(1, Math.floor(this.element.clientHeight / this.#height));
    }

    #fullHeight(): number {
        return Math.min(this.#count * this.#height, HEIGHT_LIMIT);
    }

    #scrolled(): void {
        const { scrollTop, clientHeight } = this.element;
        const range = this.#fullHeight() - clientHeight;

        this.#first = this.#count * this.#height <= HEIGHT_LIMIT || range <= 0
            ? Math.floor(scrollTop / this.#height)
            : Math.round((scrollTop / range) * Math.max(0, this.#count - this.visible));
        this.update();
    }

    /** Fill the rows in view again. */
    update(): void {
        const wanted = Math.min(this.#count, this.visible + 2);
        const first = Math.max(0, Math.min(this.#first, this.#count - wanted + 1));
        const top = this.#count * this.#height <= HEIGHT_LIMIT ? first * this.#height
            : this.element.scrollTop;

        while (this.#rows.length < wanted) {
            const row = document.createElement("div");

            row.className = "row";
            row.setAttribute("role", this.#role);
            row.style.height = `${this.#height}px`;
            this.#spacer.append(row);
            this.#rows.push(row);
        }
        this.#rows.forEach((row, i) => {
            const index = first + i;
            const isShown = i < wanted && index < this.#count;

            row.hidden = !isShown;
            if (!isShown) {
                row.removeAttribute("id");
                return;
            }
            row.id = `${this.#id}-${index}`;
            row.dataset["index"] = String(index);
            row.style.transform = `translateY(${top + i * this.#height}px)`;
            row.setAttribute("aria-selected", String(index === this.current));
            row.classList.toggle("current", index === this.current);
            this.onRow(row, index);
        });
        const active = document.getElementById(`${this.#id}-${this.current}`);

        if (active !== null) {
            this.element.setAttribute("aria-activedescendant", active.id);
        } else {
            this.element.removeAttribute("aria-activedescendant");
        }
    }

    /** Scroll so that a row is in view. */
    reveal(index: number): void {
        if (index < 0 || (index >= this.#first && index < this.#first + this.visible)) {
            return;
        }
        const first = Math.max(0, Math.min(index - (this.visible >> 1), this.#count - this.visible));
        const range = this.#fullHeight() - this.element.clientHeight;

        this.#first = first;
        this.element.scrollTop = this.#count * this.#height <= HEIGHT_LIMIT ? first * this.#height
            : (first / Math.max(1, this.#count - this.visible)) * range;
    }

    choose(index: number, isRevealed = true): void {
        if (this.#count === 0) {
            return;
        }
        const chosen = Math.max(0, Math.min(index, this.#count - 1));

        this.current = chosen;
        if (isRevealed) {
            this.reveal(chosen);
        }
        this.onChoose(chosen);
        this.update();
    }

    #key(event: KeyboardEvent): void {
        const steps: Record<string, number> = {
            ArrowDown: 1,
            ArrowUp: -1,
            PageDown: this.visible,
            PageUp: -this.visible,
            Home: -Infinity,
            End: Infinity,
        };
        const step = steps[event.key];

        if (event.ctrlKey || event.metaKey || event.altKey) {
            return;
        }
        if (step !== undefined) {
            this.choose(this.current + step);
        } else if (!this.onKey(event)) {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}
