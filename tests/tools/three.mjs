// SPDX-License-Identifier: MIT
// Opens the pages of packaging/npm/examples in Chromium:
//
//     node three.mjs SOURCE DIRECTORY
//
// SOURCE is the top of the source tree. DIRECTORY has packages, with packages of npm, and espalier, with the npm
// package. Pictures go there. It prints a line of TAP for each check.
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize, resolve } from "node:path";

const [source, directory] = process.argv.slice(2).map((path) => resolve(path));
const puppeteer = createRequire(`${directory}/packages/`)("puppeteer-core");
const examples = join(source, "packaging/npm/examples");
const types = { ".html": "text/html", ".js": "text/javascript" };
let number = 0, failed = 0;

function ok(isGood, name, detail = "") {
    number += 1;
    failed += isGood ? 0 : 1;
    console.log(`${isGood ? "ok" : "not ok"} ${number} chromium: ${name}`);
    if (!isGood && detail !== "") {
        console.log(`# ${String(detail).replaceAll("\n", "\n# ")}`);
    }
}

// --- A server of the examples as a user has them, beside node_modules ---

// A page that runs the checks with the import map of the example.
function makeCheckPage() {
    const [map] = /<script type="importmap">[^]*?<\/script>/.exec(readFileSync(join(examples, "asteroids.html"), "utf8"));

    return `<!doctype html>\n<html lang="en"><title>checks</title><link rel="icon" href="data:,">${map}\n` +
        '<script type="module" src="three_checks.js"></script></html>\n';
}

function find(path) {
    const places = [["/node_modules/espalier/", join(directory, "espalier")],
        ["/node_modules/three/", join(directory, "packages/node_modules/three")],
        ["/three_checks.js", join(source, "tests/tools/three_checks.js")], ["/", examples]];
    const [prefix, place] = places.find(([begin]) => path.startsWith(begin));
    const file = path === prefix && path !== "/" ? place : join(place, path.slice(prefix.length));

    return existsSync(file) && statSync(file).isFile() ? file : undefined;
}

const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname), file = find(path);

    if (path === "/checks.html") {
        response.setHeader("Content-Type", "text/html").end(makeCheckPage());
    } else if (path === "/favicon.ico") {
        response.writeHead(204).end();
    } else if (file === undefined) {
        response.writeHead(404).end();
    } else {
        response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
        createReadStream(file).pipe(response);
    }
});

// --- What is checked ---

/** A page, and what it complains of. */
async function open(browser, address, path) {
    const page = await browser.newPage();
    const complaints = [];

    page.on("console", (message) => {
        // The renderer of software tells that a read of pixels waits, which is what the checks do.
        if (["error", "warn"].includes(message.type()) && !message.text().includes("GPU stall")) {
            complaints.push(message.text());
        }
    });
    page.on("pageerror", (error) => {
        complaints.push(String(error));
    });
    page.on("response", (response) => {
        if (response.status() >= 400) {
            complaints.push(`${response.status()} ${response.url()}`);
        }
    });
    await page.setViewport({ width: 960, height: 540 });
    await page.goto(`${address}${path}`);
    return { page, complaints };
}

async function checkExample(browser, address) {
    const { page, complaints } = await open(browser, address, "/asteroids.html");
    const text = () => page.$eval("#numbers", (element) => element.textContent);

    await page.waitForFunction(() => document.getElementById("numbers").textContent !== "", { timeout: 120_000 })
        .catch(() => {});
    const [, drawn, all] = /^(\d+) of (\d+) rocks are drawn/.exec(await text()) ?? [];
    ok(Number(drawn) > 0 && Number(drawn) < Number(all), "the example draws some of its rocks", await text());
    await page.screenshot({ path: `${directory}/three-asteroids.png` });
    ok(complaints.length === 0, "without an error on the console", complaints.join("\n"));
    await page.close();
}

async function checkPage(browser, address) {
    const { page, complaints } = await open(browser, address, "/checks.html");

    await page.waitForFunction(() => globalThis.checked !== undefined, { timeout: 240_000 }).catch(() => {});
    for (const { isGood, name, detail } of await page.evaluate(() => globalThis.checked) ?? []) {
        ok(isGood, name, detail);
    }
    ok(complaints.length === 0, "the checks give no error on the console", complaints.join("\n"));
    await page.close();
}

await new Promise((done) => server.listen(0, "127.0.0.1", done));
const browser = await puppeteer.launch({ browser: "chrome", executablePath: "/usr/bin/chromium", headless: true,
    protocolTimeout: 240_000, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
try {
    await checkPage(browser, `http://127.0.0.1:${server.address().port}`);
    await checkExample(browser, `http://127.0.0.1:${server.address().port}`);
} catch (error) {
    ok(false, "the checks come to their end", error.stack);
} finally {
    await browser.close();
    server.close();
}
console.log(`1..${number}`);
process.exit(failed === 0 ? 0 : 1);
