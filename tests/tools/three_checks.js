// SPDX-License-Identifier: MIT
// Checks of packaging/npm/examples in a page, by three.mjs: what is drawn is what three.js itself finds, and the
// picture is that of all rocks.
import { Box3, Frustum, Matrix4, Vector3 } from "three";
import { Field } from "./field.js";

const results = [];

function ok(isGood, name, detail = "") {
    results.push({ isGood: Boolean(isGood), name, detail: String(detail) });
}

function pixelsOf({ renderer }) {
    const gl = renderer.getContext();
    const pixels = new Uint8Array(4 * gl.drawingBufferWidth * gl.drawingBufferHeight);

    gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels;
}

function countDifferent(a, b) {
    let count = 0;

    for (let i = 0; i < a.length; i += 4) {
        count += a[i] !== b[i] || a[i + 1] !== b[i + 1] || a[i + 2] !== b[i + 2] ? 1 : 0;
    }
    return count;
}

function countLit(pixels) {
    const [red, green, blue] = pixels;

    return countDifferent(pixels, pixels.map((_, i) => [red, green, blue, 255][i % 4]));
}

/** By how much the world box of a rock is inside a frustum, as three.js computes both. */
function insideBy({ world, drawn, geometries }, frustum, entity, matrix, box, corner) {
    const [key] = world.get(entity, drawn.renderable);

    box.copy(geometries[key].boundingBox).applyMatrix4(matrix.fromArray(world.getMatrix(entity)));
    return Math.min(...frustum.planes.map((plane) => {
        corner.set(...["x", "y", "z"].map((axis) => (plane.normal[axis] > 0 ? box.max : box.min)[axis]));
        return plane.distanceToPoint(corner);
    }));
}

function checkSets(field) {
    const { world, drawn, instances, camera } = field;
    const all = world.query({ all: [drawn.renderable] }).entities();
    const frustum = new Frustum(), matrix = new Matrix4(), box = new Box3(), corner = new Vector3();
    let wrong = 0, least = Infinity, most = 0;

    for (let frame = 0; frame < 12; ++frame) {
        field.step(2.5);
        field.draw();
        const seen = new Set(instances.entities.subarray(0, field.count));
        frustum.setFromProjectionMatrix(matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
        for (const entity of all) {
            const inside = insideBy(field, frustum, entity, matrix, box, corner);

            wrong += Math.abs(inside) > 0.01 && seen.has(entity) !== inside > 0 ? 1 : 0;
        }
        wrong += seen.size === field.count ? 0 : 1;
        least = Math.min(least, field.count);
        most = Math.max(most, field.count);
    }
    ok(wrong === 0 && most > 0 && least < all.length, "three.js finds the same rocks in its frustum",
        `${wrong} differ, ${least} to ${most} of ${all.length}`);
}

/** The picture of what is culled is that of all rocks. */
function checkPicture(field, name) {
    field.draw();
    const { count } = field, { triangles, calls } = field.renderer.info.render, culled = pixelsOf(field);
    const wanted = field.visible.groups().reduce((sum, { key, count: members }) => {
        const { index, attributes } = field.geometries[key];

        return sum + members * (index ?? attributes.position).count / 3;
    }, 0);
    field.draw(false);
    const different = countDifferent(culled, pixelsOf(field));
    const isLit = countLit(culled) > 1000;
    ok(triangles === wanted && calls === 3 && count < field.count && isLit && different === 0, name,
        `${triangles} triangles of ${wanted}, ${calls} calls, ${count} of ${field.count} rocks, ` +
        `${different} pixels differ of ${countLit(culled)}`);
}

function check() {
    const field = new Field(document.createElement("canvas"), { belts: 20, rocks: 200 });

    field.resize(320, 240);
    checkSets(field);
    checkPicture(field, "the picture is that of all rocks, by a call for each key");

    const { matrices } = field.instances;
    for (let i = 0; i < 100 && matrices.length !== 0; ++i) {
        field.world.createMany(20000);
    }
    ok(matrices.length === 0, "the memory has grown, and the array before is detached");
    field.step(1);
    checkPicture(field, "it is that of all rocks after the memory has grown");
    field.instances.reserve(field.instances.capacity + 1);
    field.step(1);
    checkPicture(field, "and after the arrays have");

    field.camera.position.set(0, 1e5, 0);
    field.camera.lookAt(0, 2e5, 0);
    field.draw();
    ok(field.count === 0 && field.renderer.info.render.triangles === 0 && countLit(pixelsOf(field)) === 0,
        "nothing is drawn where nothing is seen");
    ok(field.renderer.getContext().getError() === 0, "WebGL has no error");
    field.world.close();
}

try {
    check();
} catch (error) {
    ok(false, "the checks come to their end", error.stack);
}
globalThis.checked = results;
