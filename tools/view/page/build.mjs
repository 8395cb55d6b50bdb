// SPDX-License-Identifier: MIT
// Makes the page of "espalier view" of its parts:
//
//     node build.mjs MODULE.wasm FILE.html
//
// It runs where the packages of package.json are installed, beside the sources of the page.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [wasm, out] = process.argv.slice(2);
const bundle = await build({
    entryPoints: ["page/main.ts"],
    bundle: true,
    format: "esm",
    target: ["chrome111", "firefox115"],
    minify: true,
    legalComments: "none",
    charset: "ascii",
    write: false,
});
const style = await build({
    stdin: {
        contents: `@import "uplot/dist/uPlot.min.css";\n${readFileSync("page/style.css", "utf8")}`,
        loader: "css",
        resolveDir: ".",
    },
    bundle: true,
    minify: true,
    write: false,
});
const notices = ["three", "uplot"].map((name) => {
    const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));

    return `${name} ${version}\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
// Within an element of a script no text may end it, or begin a comment.
const script = bundle.outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const parts = {
    "<!-- notices -->": `<!--\nEspalier's page has these libraries in it.\n\n${notices.join("\n")}-->`,
    "/* style */": style.outputFiles[0].text.trim(),
    "/* module */": gzipSync(readFileSync(wasm), { level: 9 }).toString("base64"),
    "/* script */": script.trim(),
};
let page = readFileSync("page/page.html", "utf8");

for (const [place, text] of Object.entries(parts)) {
    if (page.split(place).length !== 2) {
        throw new Error(`page.html has not one ${place}`);
    }
    page = page.replace(place, () => text);
}
if (page.split("<!-- tapes -->").length !== 2) {
    throw new Error("there is not one place for tapes");
}
writeFileSync(out, page);
