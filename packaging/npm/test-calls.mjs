// SPDX-License-Identifier: MIT
// Imported before the package: a call of a function of C with another number of arguments than it has throws,
// where JavaScript would pass zeros for those that are missing and drop the others.
const { instantiate } = WebAssembly;

function countArguments(name, call) {
    return (...given) => {
        if (given.length !== call.length) {
            throw new Error(`${name}() takes ${call.length} arguments, and ${given.length} are given`);
        }
        return call(...given);
    };
}

WebAssembly.instantiate = async (...given) => {
    const made = await instantiate(...given);
    const exports = Object.entries(made.instance.exports).map(([name, value]) =>
        [name, typeof value === "function" ? countArguments(name, value) : value]);

    return { instance: { exports: Object.fromEntries(exports) } };
};
