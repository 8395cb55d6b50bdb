// SPDX-License-Identifier: MIT
// A second camera in the picture: its edges, the boxes that it sees and those that it does not, by espl_cull() in
// the module, and the bones that are grey.

import {
    BufferAttribute,
    BufferGeometry,
    CameraHelper,
    Color,
    DynamicDrawUsage,
    LineBasicMaterial,
    LineSegments,
    Matrix4,
    type Object3D,
    PerspectiveCamera,
    Vector3,
} from "three";
import { type Engine, NONE } from "./engine.js";

/** Floats of the lines of a box: 12 edges with two ends. */
const BOX_FLOATS = 72;

/** Colours of the camera, of boxes that are seen, of boxes that are culled, and of bones in those. */
interface Inks {
    camera: string;
    seen: string;
    culled: string;
    bone: string;
}

const light: Inks = { camera: "#e05a00", seen: "#2563c9", culled: "#b9c1cb", bone: "#b4bbc5" };
const dark: Inks = { camera: "#ff8a3d", seen: "#6ea8ff", culled: "#3f4853", bone: "#4a525d" };

export class Culling {
    readonly camera = new PerspectiveCamera(36, 16 / 9, 0.1, 100);
    readonly #helper = new CameraHelper(this.camera);
    readonly #boxes = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ vertexColors: true }));
    readonly #palette = new Float32Array(6);
    readonly #gray = new Float32Array(3);
    #isPlaced = false;
    isOn = false;
    hasBoxes = false;
    /** Boxes that are seen, and all; NONE seen: the world has no boxes. */
    seen = 0;
    count = 0;
    /** Milliseconds of the last culling, its update with it; 0: nothing was culled. */
    time = 0;

    constructor() {
        this.#helper.visible = this.#boxes.visible = false;
        this.#helper.frustumCulled = this.#boxes.frustumCulled = false;
    }

    get objects(): Object3D[] {
        return [this.#helper, this.#boxes];
    }

    setTheme(isDark: boolean): void {
        const inks = isDark ? dark : light;
        const camera = new Color(inks.camera);

        new Color(inks.seen).toArray(this.#palette, 0);
        new Color(inks.culled).toArray(this.#palette, 3);
        new Color(inks.bone).toArray(this.#gray);
        this.#helper.setColors(camera, camera, camera, camera, camera);
    }

    /** Forget where the camera is. */
    reset(): void {
        this.#isPlaced = false;
    }

    /** Put the camera among what is in a box, unless it is somewhere. */
    place(center: Vector3, size: number, isZUp: boolean): void {
        if (this.#isPlaced || !Number.isFinite(center.length())) {
            return;
        }
        const from = isZUp ? new Vector3(0.7, -0.7, 0.12) : new Vector3(0.7, 0.12, 0.7);

        this.camera.up.set(0, isZUp ? 0 : 1, isZUp ? 1 : 0);
        this.camera.position.copy(center).addScaledVector(from.normalize(), 0.3 * size);
        this.camera.lookAt(center);
        this.#setDepths(size / 100, 0.75 * size, 16 / 9, 36);
    }

    /** Put the camera where another one is. */
    placeAt(other: PerspectiveCamera, size: number): void {
        this.camera.up.copy(other.up);
        this.camera.position.copy(other.position);
        this.camera.quaternion.copy(other.quaternion);
        this.#setDepths(size / 100, other.position.length() + 2 * size, other.aspect, other.fov);
    }

    #setDepths(near: number, far: number, aspect: number, angle: number): void {
        Object.assign(this.camera, { near, far, aspect, fov: angle });
        this.camera.updateProjectionMatrix();
        this.camera.updateMatrixWorld();
        this.#isPlaced = true;
    }

    /** The matrix from world to clip space, as floats in 4 columns. */
    get matrix(): Float32Array {
        return Float32Array.from(new Matrix4()
            .multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse).elements);
    }

    /** Cull, and make the bones grey that are not seen. @param bones  how many the module has computed. */
    take(engine: Engine, bones: number, selected: number): void {
        this.#helper.visible = this.isOn;
        this.#boxes.visible = this.isOn && this.hasBoxes;
        this.time = 0;
        if (!this.isOn) {
            return;
        }
        const start = performance.now();

        this.seen = engine.with(new Uint8Array(this.matrix.buffer), (at) => engine.call("culling_cull", at));
        this.time = performance.now() - start;
        this.count = this.seen === NONE ? 0 : engine.call("culling_count");
        this.#helper.update();
        if (this.seen !== NONE) {
            engine.with(new Uint8Array(this.#gray.buffer), (at) =>
                engine.call("culling_shade", bones, selected, at));
        }
        this.#takeBoxes(engine);
    }

    #takeBoxes(engine: Engine): void {
        const count = this.seen === NONE || !this.hasBoxes ? 0
            : engine.with(new Uint8Array(this.#palette.buffer), (at) => engine.call("culling_boxes", at));
        const geometry = this.#boxes.geometry;

        for (const [name, from] of [["position", "culling_edges"], ["color", "culling_colors"]] as const) {
            let attribute = geometry.getAttribute(name) as BufferAttribute | undefined;

            if (attribute === undefined || attribute.array.length < BOX_FLOATS * count) {
                attribute = new BufferAttribute(new Float32Array(BOX_FLOATS * Math.ceil(1.25 * count + 1)), 3)
                    .setUsage(DynamicDrawUsage);
                geometry.setAttribute(name, attribute);
            }
            if (count > 0) {
                (attribute.array as Float32Array).set(engine.f32(engine.call(from), BOX_FLOATS * count));
            }
            attribute.needsUpdate = true;
        }
        geometry.setDrawRange(0, (BOX_FLOATS / 3) * count);
    }

    /** Count the colours that are those of culled bones. @param colors  3 floats each. */
    countGray(colors: Float32Array, count: number): number {
        let gray = 0;

        for (let i = 0; i < count; ++i) {
            gray += this.#gray.every((part, j) => part === colors[3 * i + j]) ? 1 : 0;
        }
        return gray;
    }

    /** What is seen, as a line; empty: nothing is culled. */
    get text(): string {
        if (!this.isOn) {
            return "";
        }
        if (this.seen === NONE) {
            return "This world has no boxes.";
        }
        const share = this.count === 0 ? 0 : (100 * (this.count - this.seen)) / this.count;

        return `${this.seen.toLocaleString("en")} of ${this.count.toLocaleString("en")} boxes seen: ${
            share.toFixed(1)} % culled`;
    }
}

/** The buttons of a culling. @param show  draw again. */
export class CullingButtons {
    readonly #get: () => Culling | undefined;
    readonly #show: () => void;

    constructor(get: () => Culling | undefined, show: () => void) {
        this.#get = get;
        this.#show = show;
    }

    toggle(): void {
        this.#change((culling) => (culling.isOn = !culling.isOn));
    }

    toggleBoxes(): void {
        this.#change((culling) => {
            culling.hasBoxes = !culling.isOn || !culling.hasBoxes;
            culling.isOn = true;
        });
    }

    /** @param place  put the camera somewhere. */
    from(place: (culling: Culling) => void): void {
        this.#change((culling) => {
            culling.isOn = true;
            place(culling);
        });
    }

    #change(change: (culling: Culling) => void): void {
        const culling = this.#get();

        if (culling !== undefined) {
            change(culling);
            this.#show();
        }
    }

    /** Say what is culled. */
    update(): void {
        const culling = this.#get();
        const output = document.getElementById("culled")!;
        const isOn = culling?.isOn ?? false;

        output.textContent = culling?.text ?? "";
        output.hidden = !isOn;
        document.getElementById("cull")!.setAttribute("aria-pressed", String(isOn));
        document.getElementById("boxes")!.setAttribute("aria-pressed", String(isOn && culling!.hasBoxes));
    }
}
