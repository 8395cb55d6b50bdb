// SPDX-License-Identifier: MIT
// Time: the slider with its ticks, and the strip of timings.

import uPlot from "uplot";
import { Mark } from "./engine.js";
import { Player, Verdict } from "./player.js";

/** The slider's thumb keeps half its width from both ends. */
const THUMB = 8;

function color(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Draw what each frame did to the structure, and how its check went. */
export function drawTicks(canvas: HTMLCanvasElement, player: Player): void {
    const ratio = devicePixelRatio;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const context = canvas.getContext("2d")!;
    const count = player.segmentCount;

    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    if (count === 0) {
        return;
    }
    const step = (width - 2 * THUMB) / Math.max(1, count - 1);
    const cell = count > 1 ? Math.max(step, 1) : THUMB;
    const bar = Math.max(1, Math.min(6, step * 0.7));
    const marks = [[Mark.creates, "--create"], [Mark.links, "--link"], [Mark.destroys, "--destroy"],
        [Mark.rewinds, "--rewind"]] as const;

    // Without a pixel for each frame some share one, and the worst of them is seen.
    const verdicts: [Verdict, string][] = [[Verdict.same, "--same"], [Verdict.differs, "--differs"]];
    for (const [verdict, name] of verdicts) {
        context.fillStyle = color(name);
        for (let i = 1; i <= count; ++i) {
            if (player.verdicts[i] === verdict) {
                context.fillRect(THUMB + (i - 1) * step - cell / 2, height - 4, cell + 0.5,
                    verdict === Verdict.differs ? 4 : 3);
            }
        }
    }
    marks.forEach(([mark, name], row) => {
        context.fillStyle = color(name);
        for (let i = 1; i <= count; ++i) {
            if (player.marks[i]! & mark) {
                context.fillRect(THUMB + (i - 1) * step - bar / 2, 1 + row * 5, bar, 4);
            }
        }
    });
}

/** The top of the strip: a few frames that took far longer than the others do not flatten these. */
function highest(data: uPlot.AlignedData): number {
    const times = data.slice(1).flatMap((column) => [...column]).filter((time): time is number => time !== null);

    times.sort((a, b) => a - b);
    return Math.max(0.1, 1.3 * (times[Math.floor(0.98 * (times.length - 1))] ?? 0));
}

export class Timings {
    readonly #element: HTMLElement;
    #plot: uPlot | undefined;
    onFrame: (frame: number) => void = () => {};

    constructor(element: HTMLElement) {
        this.#element = element;
        new ResizeObserver(() => this.#size()).observe(element);
    }

    #size(): void {
        if (this.#plot !== undefined && this.#element.clientWidth > 0) {
            this.#plot.setSize({ width: this.#element.clientWidth, height: 190 });
        }
    }

    /** Make the strip anew, in the colours of now. */
    make(player: Player, drawTimes: Float32Array): void {
        const axis = (label: string) => ({
            stroke: color("--text"),
            grid: { stroke: color("--line"), width: 1 },
            ticks: { stroke: color("--line"), width: 1 },
            font: "11px system-ui, sans-serif",
            labelFont: "11px system-ui, sans-serif",
            label,
            labelSize: 16,
            size: label === "frame" ? 26 : 38,
        });
        const series = (label: string, stroke: string) => ({
            label,
            stroke: color(stroke),
            width: 1.25,
            points: { show: false },
            value: (_: uPlot, value: number | null) => (value === null ? "-" : `${value.toFixed(2)} ms`),
        });

        this.#plot?.destroy();
        this.#element.replaceChildren();
        this.#plot = new uPlot({
            width: Math.max(200, this.#element.clientWidth),
            height: 190,
            padding: [8, 8, 0, 0],
            scales: { x: { time: false }, y: { range: (plot) => [0, highest(plot.data)] } },
            axes: [axis("frame"), axis("milliseconds")],
            series: [{ label: "frame", value: (_: uPlot, value: number | null) => String(value ?? "-") },
                series("calls", "--link"), series("checksum", "--create"), series("culling", "--moved"),
                series("drawing", "--accent")],
            cursor: { drag: { x: false, y: false } },
        }, this.#data(player, drawTimes), this.#element);
        this.#plot.over.addEventListener("click", () => {
            const index = this.#plot!.cursor.idx;

            if (index !== null && index !== undefined) {
                this.onFrame(index + 1);
            }
        });
    }

    update(player: Player, drawTimes: Float32Array): void {
        this.#plot?.setData(this.#data(player, drawTimes));
    }

    #data(player: Player, drawTimes: Float32Array): uPlot.AlignedData {
        const segments = Array.from({ length: player.segmentCount }, (_, i) => i + 1);
        const pick = (times: Float32Array, isKnown: (segment: number) => boolean) =>
            segments.map((segment) => (isKnown(segment) ? times[segment]! : null));

        return [segments.map((segment) => segment - 1), pick(player.callTimes, (segment) => segment <= player.checkedCount),
            pick(player.hashTimes, (segment) => segment <= player.checkedCount),
            pick(player.cullTimes, (segment) => player.cullTimes[segment]! > 0),
            pick(drawTimes, (segment) => drawTimes[segment]! > 0)];
    }
}
