// SPDX-License-Identifier: MIT
// The picture: bones as tapered octahedra from parent to node, the axes of the selected node and of its
// ancestors, a ground grid; a click finds the bone below it by a picture of numbers.

import {
    AmbientLight,
    BufferAttribute,
    BufferGeometry,
    Color,
    DirectionalLight,
    DynamicDrawUsage,
    GLSL3,
    GridHelper,
    InstancedBufferAttribute,
    InstancedMesh,
    LineBasicMaterial,
    LineSegments,
    MeshLambertMaterial,
    PerspectiveCamera,
    Quaternion,
    Scene,
    ShaderMaterial,
    Vector3,
    WebGLRenderer,
    WebGLRenderTarget,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Culling } from "./culling.js";
import { Engine, NONE } from "./engine.js";

const PALETTE = 8;
/** Side of the square in which a click finds the nearest bone, in pixels. */
const PICK = 9;
/** Ancestors whose axes are drawn. */
const AXES = 64;

interface Theme {
    background: string;
    grid: string;
    /** Trees, then moved, quiet, disabled, selected. */
    palette: string[];
}

const light: Theme = {
    background: "#f4f6f9",
    grid: "#c9d2dd",
    palette: ["#4a6fa5", "#b0703a", "#4f8a5b", "#8a5a96", "#3d8c95", "#a08a2e", "#a05a68", "#64748b",
        "#e05a00", "#8b98a8", "#c3cbd5", "#d6006c"],
};
const dark: Theme = {
    background: "#14181e",
    grid: "#2c343f",
    palette: ["#7fa8e0", "#dca06a", "#85c492", "#bf93cc", "#74c3cc", "#d3bd62", "#d790a0", "#9fb0c6",
        "#ff8a3d", "#5d6b7d", "#404a57", "#ff5aa8"],
};

/** A bone from 0 to 1 along +Y, one wide on each side, with faces that are flat. */
function makeBone(): BufferGeometry {
    const at = 0.14;
    const ring = [[1, 0], [0, 1], [-1, 0], [0, -1]] as const;
    const points: number[] = [];

    ring.forEach(([x, z], i) => {
        const [u, w] = ring[(i + 1) % 4]!;

        points.push(0, 0, 0, x, at, z, u, at, w, 0, 1, 0, u, at, w, x, at, z);
    });
    const bone = new BufferGeometry();

    bone.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    bone.computeVertexNormals();
    return bone;
}

/** The next step of 1, 2 or 5, and a power of ten. */
function roundStep(least: number): number {
    const power = 10 ** Math.floor(Math.log10(least));

    return power * ([1, 2, 5].find((step) => step * power >= least) ?? 10);
}

export class Scene3D {
    readonly #canvas: HTMLCanvasElement;
    readonly #renderer: WebGLRenderer;
    readonly #scene = new Scene();
    readonly #camera = new PerspectiveCamera(45, 1, 0.01, 1000);
    #controls: OrbitControls;
    readonly #material = new MeshLambertMaterial({ flatShading: true });
    readonly #numbers: ShaderMaterial;
    readonly #target = new WebGLRenderTarget(PICK, PICK);
    readonly #axes: LineSegments;
    readonly #sun = new DirectionalLight(0xffffff, 2.2);
    readonly culling = new Culling();
    #mesh: InstancedMesh | undefined;
    #grid: GridHelper | undefined;
    #theme = light;
    #palette = new Float32Array(3 * (PALETTE + 4));
    #owners = new Uint32Array(0);
    #box = new Float32Array(6).fill(NaN);
    #isZUp = false;
    #isWaiting = false;
    #hasLostContext = false;
    /** Milliseconds that the last picture took, without what the graphics unit does after it. */
    drawTime = 0;

    onPick: (index: number) => void = () => {};
    onContext: (isLost: boolean) => void = () => {};
    onDraw: () => void = () => {};

    /** Throws where the browser has no WebGL2. */
    constructor(canvas: HTMLCanvasElement) {
        this.#canvas = canvas;
        this.#renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
        this.#renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        this.#numbers = new ShaderMaterial({
            glslVersion: GLSL3,
            vertexShader: `flat out uint number;
                void main() {
                    number = uint(gl_InstanceID) + 1u;
                    gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
                }`,
            fragmentShader: `flat in uint number;
                layout(location = 0) out highp vec4 color;
                void main() {
                    color = vec4(number & 255u, (number >> 8) & 255u, (number >> 16) & 255u, 255u) / 255.0;
                }`,
        });
        const axes = new BufferGeometry();

        axes.setAttribute("position", new BufferAttribute(new Float32Array(18 * AXES), 3));
        axes.setAttribute("color", new BufferAttribute(new Float32Array(18 * AXES), 3));
        this.#axes = new LineSegments(axes,
            new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
        this.#axes.frustumCulled = false;
        this.#axes.renderOrder = 1;
        this.#scene.add(this.#axes, new AmbientLight(0xffffff, 1.3), this.#sun, this.#sun.target,
            ...this.culling.objects);

        this.#controls = this.#makeControls();
        this.#listen();
    }

    /** The controls take the axis that is up when they are made. */
    #makeControls(): OrbitControls {
        const controls = new OrbitControls(this.#camera, this.#canvas);

        controls.addEventListener("change", () => this.request());
        return controls;
    }

    #listen(): void {
        const canvas = this.#canvas;
        let down = [0, 0];

        canvas.addEventListener("pointerdown", (event) => {
            down = [event.clientX, event.clientY];
        });
        canvas.addEventListener("pointerup", (event) => {
            // A drag turns the camera and picks nothing.
            if (event.button === 0 && Math.hypot(event.clientX - down[0]!, event.clientY - down[1]!) < 4) {
                this.onPick(this.pick(event.offsetX, event.offsetY));
            }
        });
        canvas.addEventListener("webglcontextlost", () => {
            this.#hasLostContext = true;
            this.onContext(true);
        });
        canvas.addEventListener("webglcontextrestored", () => {
            this.#hasLostContext = false;
            this.onContext(false);
            this.request();
        });
        new ResizeObserver(() => this.#resize()).observe(canvas.parentElement!);
    }

    #resize(): void {
        const { clientWidth: width, clientHeight: height } = this.#canvas.parentElement!;

        if (width > 0 && height > 0) {
            this.#renderer.setSize(width, height, false);
            this.#camera.aspect = width / height;
            this.#camera.updateProjectionMatrix();
            this.draw();
        }
    }

    setTheme(isDark: boolean): void {
        this.#theme = isDark ? dark : light;
        this.#theme.palette.forEach((name, i) => new Color(name).toArray(this.#palette, 3 * i));
        this.#scene.background = new Color(this.#theme.background);
        this.culling.setTheme(isDark);
        this.#makeGrid();
        this.request();
    }

    setZUp(isZUp: boolean): void {
        this.#isZUp = isZUp;
        this.#camera.up.set(0, isZUp ? 0 : 1, isZUp ? 1 : 0);
        this.#controls.dispose();
        this.#controls = this.#makeControls();
        this.fit();
    }

    get isZUp(): boolean {
        return this.#isZUp;
    }

    // --- What is drawn ---

    /** Take the bones of the engine. @param isRecord  one record was stepped: what moved stands out. */
    take(engine: Engine, isRecord: boolean, selected: number): void {
        const palette = new Uint8Array(this.#palette.buffer);
        const count = engine.with(palette, (at) =>
            engine.call("scene_bones", isRecord ? 1 : 0, selected, at));
        const wasEmpty = !(this.#box[0]! <= this.#box[3]!) || this.#mesh === undefined;
        const mesh = this.#reserve(count);

        this.#box = engine.f32(engine.call("scene_box"), 6).slice();
        this.culling.place(this.#center(), this.#size(), this.#isZUp);
        this.culling.take(engine, count, selected);
        mesh.count = count;
        (mesh.instanceMatrix.array as Float32Array).set(engine.f32(engine.call("scene_matrices"), 16 * count));
        (mesh.instanceColor!.array as Float32Array).set(engine.f32(engine.call("scene_colors"), 3 * count));
        mesh.instanceMatrix.needsUpdate = true;
        mesh.instanceColor!.needsUpdate = true;
        this.#owners = engine.u32(engine.call("scene_owners"), count).slice();
        this.#takeAxes(engine, selected);
        if (wasEmpty && count > 0) {
            this.fit();
        }
        this.request();
    }

    /** Forget the tape before. */
    reset(): void {
        this.#box = new Float32Array(6).fill(NaN);
        this.culling.reset();
    }

    /** Put the camera of the culling where the picture is seen from. */
    cullFromHere(): void {
        this.culling.placeAt(this.#camera, this.#size());
    }

    #reserve(count: number): InstancedMesh {
        if (this.#mesh !== undefined && this.#mesh.instanceMatrix.count >= count) {
            return this.#mesh;
        }
        const room = Math.max(64, Math.ceil(count * 1.25));

        if (this.#mesh !== undefined) {
            this.#scene.remove(this.#mesh);
            this.#mesh.geometry.dispose();
            this.#mesh.dispose();
        }
        const mesh = new InstancedMesh(makeBone(), this.#material, room);

        mesh.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * room), 3);
        mesh.instanceMatrix.setUsage(DynamicDrawUsage);
        mesh.instanceColor.setUsage(DynamicDrawUsage);
        mesh.frustumCulled = false;
        this.#mesh = mesh;
        this.#scene.add(mesh);
        return mesh;
    }

    #takeAxes(engine: Engine, selected: number): void {
        const position = this.#axes.geometry.getAttribute("position") as BufferAttribute;
        const color = this.#axes.geometry.getAttribute("color") as BufferAttribute;
        const colors = [new Color("#e5484d"), new Color("#30a46c"), new Color("#3e8bff")];
        const chain = selected === NONE ? [] : this.#chain(engine, selected);
        const worlds = engine.f32(engine.call("scene_worlds"), 12 * engine.call("scene_capacity"));
        const turn = new Quaternion(), origin = new Vector3(), tip = new Vector3();
        let vertex = 0;

        chain.forEach((index, i) => {
            const w = worlds.subarray(12 * index, 12 * index + 12);
            const length = this.#axisLength() * (i === 0 ? 1 : 0.5);

            turn.set(w[0]!, w[1]!, w[2]!, w[3]!);
            origin.set(w[4]!, w[5]!, w[6]!);
            for (let axis = 0; axis < 3; ++axis) {
                tip.set(0, 0, 0).setComponent(axis, length).applyQuaternion(turn).add(origin);
                position.setXYZ(vertex, origin.x, origin.y, origin.z);
                position.setXYZ(vertex + 1, tip.x, tip.y, tip.z);
                for (const end of [0, 1]) {
                    color.setXYZ(vertex + end, colors[axis]!.r, colors[axis]!.g, colors[axis]!.b);
                }
                vertex += 2;
            }
        });
        this.#axes.geometry.setDrawRange(0, vertex);
        position.needsUpdate = color.needsUpdate = true;
    }

    #chain(engine: Engine, selected: number): number[] {
        const parents = engine.u32(engine.call("scene_parents"), engine.call("scene_capacity"));
        const flags = engine.u8(engine.call("scene_flags"), engine.call("scene_capacity"));
        const chain: number[] = [];

        for (let at = selected; at < parents.length && chain.length < AXES; at = parents[at]!) {
            if ((flags[at]! & 2) === 0) {
                break;
            }
            chain.push(at);
        }
        return chain;
    }

    // --- The camera ---

    #sides(): Vector3 {
        const b = this.#box;

        return new Vector3(b[3]! - b[0]!, b[4]! - b[1]!, b[5]! - b[2]!);
    }

    #center(): Vector3 {
        const b = this.#box;

        return new Vector3((b[0]! + b[3]!) / 2, (b[1]! + b[4]!) / 2, (b[2]! + b[5]!) / 2);
    }

    #size(): number {
        const size = this.#sides().length();

        return Number.isFinite(size) && size > 0 ? size : 1;
    }

    #axisLength(): number {
        const m = this.#mesh?.instanceMatrix.array;
        const bone = m === undefined || this.#owners.length === 0 ? 1 : Math.hypot(m[4]!, m[5]!, m[6]!);

        return Math.max(this.#size() / 30, Math.min(bone, this.#size() / 12));
    }

    /** Look at everything. */
    fit(): void {
        if (this.#box[0]! <= this.#box[3]!) {
            const half = this.#sides().multiplyScalar(0.5);
            const tangent = Math.tan((this.#camera.fov * Math.PI) / 360);
            const direction = this.#direction();
            const right = this.#camera.up.clone().cross(direction).normalize();
            const above = direction.clone().cross(right);
            let distance = 0;

            // Each corner of the box needs a distance to be within the picture.
            for (let i = 0; i < 8; ++i) {
                const corner = new Vector3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
                    i & 4 ? half.z : -half.z);

                distance = Math.max(distance, corner.dot(direction) + Math.max(
                    Math.abs(corner.dot(right)) / (tangent * this.#camera.aspect),
                    Math.abs(corner.dot(above)) / tangent));
            }
            this.#lookAt(this.#center(), 1.15 * distance || 1.5);
        }
        this.#makeGrid();
    }

    /** Look at one node. */
    focus(engine: Engine, index: number): void {
        const w = engine.f32(engine.call("scene_worlds") + 48 * index, 12);

        this.#lookAt(new Vector3(w[4]!, w[5]!, w[6]!), 9 * this.#axisLength() / Math.min(1, this.#camera.aspect));
    }

    /** From what is looked at to the camera. */
    #direction(): Vector3 {
        return (this.#isZUp ? new Vector3(0.8, -1, 0.55) : new Vector3(0.8, 0.55, 1)).normalize();
    }

    #lookAt(at: Vector3, distance: number): void {
        this.#controls.target.copy(at);
        this.#camera.position.copy(at).addScaledVector(this.#direction(), distance);
        this.#camera.near = this.#size() / 2000;
        this.#camera.far = this.#size() * 50 + distance * 4;
        this.#camera.updateProjectionMatrix();
        this.#controls.update();
        this.request();
    }

    #makeGrid(): void {
        if (this.#grid !== undefined) {
            this.#scene.remove(this.#grid);
            this.#grid.dispose();
        }
        if (!(this.#box[0]! <= this.#box[3]!)) {
            return;
        }
        const sides = this.#sides(), center = this.#center();
        const flat = Math.max(sides.x, this.#isZUp ? sides.y : sides.z, this.#size() / 4);
        const step = roundStep(flat / 8);
        const cells = 2 * Math.ceil((0.9 * flat) / step);
        const grid = new GridHelper(cells * step, cells, this.#theme.grid, this.#theme.grid);

        grid.position.copy(center);
        if (this.#isZUp) {
            grid.rotation.x = Math.PI / 2;
            grid.position.z = this.#box[2]!;
        } else {
            grid.position.y = this.#box[1]!;
        }
        this.#grid = grid;
        this.#scene.add(grid);
    }

    // --- Drawing ---

    /** Draw soon, once. */
    request(): void {
        if (!this.#isWaiting) {
            this.#isWaiting = true;
            requestAnimationFrame(() => {
                this.#isWaiting = false;
                this.draw();
                this.onDraw();
            });
        }
    }

    draw(): void {
        if (this.#hasLostContext) {
            return;
        }
        const start = performance.now();

        this.#sun.position.copy(this.#camera.position);
        this.#sun.target.position.copy(this.#controls.target);
        this.#renderer.render(this.#scene, this.#camera);
        this.drawTime = performance.now() - start;
    }

    /** Lose the context, for tests; or restore it. */
    setContext(isLost: boolean): void {
        if (isLost) {
            this.#renderer.forceContextLoss();
        } else {
            this.#renderer.forceContextRestore();
        }
    }

    /** How many bones are grey, because their boxes are culled. */
    get grayCount(): number {
        const colors = this.#mesh?.instanceColor?.array ?? [];

        return this.culling.countGray(colors as Float32Array, this.#mesh?.count ?? 0);
    }

    /** Return where a node is on the canvas, in CSS pixels. */
    project(engine: Engine, index: number): [number, number] {
        const w = engine.f32(engine.call("scene_worlds") + 48 * index, 12);
        const at = new Vector3(w[4]!, w[5]!, w[6]!).project(this.#camera);

        return [(at.x + 1) / 2 * this.#canvas.clientWidth, (1 - at.y) / 2 * this.#canvas.clientHeight];
    }

    /** Return the entity of the bone at or near a point of the canvas, or NONE. */
    pick(x: number, y: number): number {
        const mesh = this.#mesh;

        if (mesh === undefined || this.#hasLostContext) {
            return NONE;
        }
        const ratio = this.#renderer.getPixelRatio();
        const { width, height } = this.#canvas;
        const pixels = new Uint8Array(4 * PICK * PICK);
        const { background } = this.#scene;
        const others = this.#scene.children.filter((child) => child !== mesh && child.visible);

        this.#camera.setViewOffset(width, height, Math.floor(x * ratio) - (PICK >> 1),
            Math.floor(y * ratio) - (PICK >> 1), PICK, PICK);
        mesh.material = this.#numbers;
        this.#scene.background = null;
        others.forEach((child) => (child.visible = false));
        this.#renderer.setRenderTarget(this.#target);
        this.#renderer.setClearColor(0, 0);
        this.#renderer.clear();
        this.#renderer.render(this.#scene, this.#camera);
        this.#renderer.readRenderTargetPixels(this.#target, 0, 0, PICK, PICK, pixels);
        this.#renderer.setRenderTarget(null);
        others.forEach((child) => (child.visible = true));
        this.#scene.background = background;
        mesh.material = this.#material;
        this.#camera.clearViewOffset();

        let nearest = Infinity, found = 0;
        for (let i = 0; i < PICK * PICK; ++i) {
            const number = pixels[4 * i]! | (pixels[4 * i + 1]! << 8) | (pixels[4 * i + 2]! << 16);
            const distance = Math.hypot((i % PICK) - (PICK >> 1), Math.floor(i / PICK) - (PICK >> 1));

            if (number !== 0 && distance < nearest) {
                nearest = distance;
                found = number;
            }
        }
        return found === 0 ? NONE : this.#owners[found - 1] ?? NONE;
    }
}
