// SPDX-License-Identifier: MIT
// Measures pages of "espalier view" in a browser:
//
//     node view_times.mjs chromium|firefox PACKAGES PAGE...
//
// PACKAGES is the directory of the packages of npm, viewer in a build directory. Of each page it prints the
// milliseconds from its address to its first frame, of one step by frame, back by frame and by record, all without
// drawing, and of a scroll of the tree with everything open: the best of several, and of steps the median.
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [browserName, packages, ...pages] = process.argv.slice(2);
const puppeteer = createRequire(`${resolve(packages)}/`)("puppeteer-core");
const isFirefox = browserName === "firefox";
const OPENINGS = 5;

const browser = await puppeteer.launch({
    browser: isFirefox ? "firefox" : "chrome",
    executablePath: isFirefox ? "/usr/bin/firefox-esr" : "/usr/bin/chromium",
    headless: !isFirefox,
    protocolTimeout: 240_000,
    args: isFirefox ? [] : ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});

function summary(times) {
    times.sort((a, b) => a - b);
    return `${times[0].toFixed(1)} to ${times[times.length >> 1].toFixed(1)}`;
}

/** In the page: what a call takes, again and again. */
async function measureSteps(page) {
    return page.evaluate(async () => {
        const { player, tree, scene } = espalier;
        const slider = document.getElementById("slider"), rows = document.getElementById("tree");
        const times = { on: [], back: [], record: [], scroll: [] };
        const take = (list, use) => {
            const start = performance.now();

            use();
            list.push(performance.now() - start);
        };
        const go = (value) => {
            slider.value = String(value);
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        };
        const key = (name) => document.dispatchEvent(new KeyboardEvent("keydown", { key: name }));

        if (scene !== undefined) {
            scene.draw = () => {};
        }
        document.activeElement?.blur();
        for (let i = 1; i < Math.min(20, player.frameCount); ++i) {
            take(times.on, () => go(i));
        }
        for (let i = Math.min(19, player.frameCount - 1); i > 0; --i) {
            take(times.back, () => go(i - 1));
        }
        for (let i = 0; i < 20; ++i) {
            take(times.record, () => document.getElementById("record-forward").click());
        }
        key("e");
        for (let i = 1; i <= 20; ++i) {
            rows.scrollTop = (rows.scrollHeight * i) / 21;
            take(times.scroll, () => tree.rows.update());
            await new Promise((done) => setTimeout(done, 0));
        }
        return { ...times, entities: player.entityCount, frames: player.frameCount };
    });
}

for (const file of pages) {
    const ready = [];
    let times;

    for (let i = 0; i < OPENINGS; ++i) {
        const page = await browser.newPage();

        await page.setViewport({ width: 1280, height: 720 });
        await page.goto(`file://${resolve(file)}`, { waitUntil: "domcontentloaded" });
        await page.waitForFunction(() => document.documentElement.dataset.ready, { timeout: 120_000 });
        ready.push(await page.evaluate(() => performance.getEntriesByName("ready")[0].startTime));
        if (i === 0) {
            await page.waitForFunction(() => document.documentElement.dataset.checked, { timeout: 200_000 });
            times = await measureSteps(page);
        }
        await page.close();
    }
    console.log(`${browserName}, ${file}, ${times.entities} entities, ${times.frames} frames: ready ${
        summary(ready)} ms; on ${summary(times.on)}, back ${summary(times.back)}, record ${
        summary(times.record)}, scroll ${summary(times.scroll)} ms`);
}
await browser.close();
