// SPDX-License-Identifier: MIT
// Prints a C program of assertions, one for each number in the package that is an enumerator or a macro of C:
// a compiler, given the library's headers, compares them. The names of statuses are compared here.
// To be run where the package is installed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as espalier from "espalier";

const folder = new URL("./node_modules/espalier/", import.meta.url);
const engine = await import(new URL("engine.js", folder));
const values = await import(new URL("values.js", folder));

// "worldPosition" is WORLD_POSITION; "XYZ" and "ABSOLUTE_X" stay as they are.
function toUpperSnake(name) {
    return name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();
}

function assertNumber(enumerator, number) {
    console.log(`_Static_assert(ESPL_${enumerator} == ${number}, "${enumerator} has another number");`);
}

// A table has numbers by name, or names by number.
function assertTable(prefix, table) {
    for (const [key, value] of Object.entries(table)) {
        const [name, number] = Array.isArray(table) ? [value, key] : [key, value];

        assertNumber(prefix + toUpperSnake(name), number);
    }
}

const { snap, ...otherKeeps } = values.keeps;
const { NO_RANK, INCLUDE_PREFABS, INCLUDE_DISABLED, MATRIX_4X4, MATRIX_4X4_INVERSE } = values;

console.log("#include <espalier/espalier.h>");
assertTable("LOG_", engine.logLevels);
assertTable("EXTENT_", values.extents);
assertTable("KEEP_", otherKeeps);
assertTable("", { snap, NO_RANK, INCLUDE_PREFABS, INCLUDE_DISABLED, MATRIX_4X4, MATRIX_4X4_INVERSE });
assertTable("LINK_", values.links);
assertTable("LINK_", values.linkNames);
assertTable("ROLE_", values.roleNames);
assertTable("PLACE_", values.places);
assertTable("DEAD_PARENT_", values.deadParents);
assertTable("AXIS_", values.axes);
assertTable("EULER_", values.eulerOrders);
assertTable("HASH_", values.hashKinds);
assertTable("", values.conversions);
assertTable("", espalier.Inherit);
assertTable("WATCH_", espalier.Watched);
assertTable("WATCH_", values.watchKinds);
assertNumber("WATCH_BEFORE", values.WATCH_BEFORE);
assertTable("FOLLOW_", values.followKinds);
assertNumber("FOLLOW_KEEPS", values.FOLLOW_KEEPS);
assertTable("RENDERABLE_", espalier.Renderable);
assertTable("LAYERS_", espalier.Layers);
assertNumber("NO_KEY", `${espalier.NO_KEY}u`);
assertTable("INSTANCE_", values.instanceForms);
assertNumber("INSTANCE_FORM_COUNT", Object.keys(values.instanceForms).length);
assertTable("CLIP_", values.clips);
assertNumber("CLIP_COUNT", Object.keys(values.clips).length);
assertTable("", values.flags);
assertTable("FIELD_", values.fieldTypes);
for (const flag of ["COMPONENT_TRANSIENT", "COMPONENT_UNIQUE", "IMAGE_TRUSTED", "IMAGE_RETAG", "ARCHIVE_HANDLES",
    "ARCHIVE_SKIP_UNKNOWN", "HISTORY_HASH", "REWIND_FRESH", "CAMERA_ORTHOGRAPHIC", "CULL_INTERPOLATE",
    "CULL_BY_ENTITY", "CLUSTER_SIZE", "PLANE_LIMIT", "LOD_LIMIT"]) {
    assertNumber(flag, values[flag]);
}
assertNumber("FIELD_TYPE_COUNT", Object.keys(values.fieldTypes).length);
for (const way of ["read", "write"]) {
    const kinds = Object.entries(values.kinds).filter(([, kind]) => kind[way] !== undefined);

    assertTable(`${way.toUpperCase()}_`, Object.fromEntries(kinds.map(([name, kind]) => [name, kind[way]])));
    assertNumber(`${way.toUpperCase()}_KIND_COUNT`, kinds.length);
}
for (const component of Object.values(espalier).filter((value) => value instanceof espalier.Component)) {
    assertNumber(component.name.toUpperCase(), component.number);
}

// Statuses are names in the package. Some numbers have none.
const named = [];
for (const step of [1, -1]) {
    for (let i = 1; i < 100; ++i) {
        named.push(engine.nameOf(step * i));
    }
}
const types = readFileSync(new URL("espalier.d.ts", folder), "utf8");
const declared = types.slice(types.indexOf("type Done"), types.indexOf("class EspalierError"));
assert.deepEqual(declared.match(/"ESPL_\w+"/g).map((name) => name.slice(1, -1)), 
    ["ESPL_OK", ...named.filter((name) => name !== engine.nameOf(1000))]);
