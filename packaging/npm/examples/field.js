// SPDX-License-Identifier: MIT
// A field of asteroids: belts of rocks, of which every second one turns, and a camera that flies through them. The
// world is the library's, and three.js draws what the library finds visible.
import {
    AmbientLight, BoxGeometry, Color, DirectionalLight, DodecahedronGeometry, Fog, IcosahedronGeometry, Matrix4,
    MeshLambertMaterial, PerspectiveCamera, Scene, WebGLRenderer,
} from "three";
import { World, quat } from "espalier";
import { Groups } from "./groups.js";

const WIDTH = 2000;
const FAR = 700;

// Numbers from 0 to 1 that are the same each time.
function makeDraw() {
    let seed = 7;

    return () => {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        return (seed >>> 16) / 65536;
    };
}

export class Field {
    world = new World();
    drawn = this.world.renderables();
    visible = this.world.visible();
    instances = this.world.instances({ capacity: 4096, entities: true });
    /** By key. */
    geometries = [new IcosahedronGeometry(1.5), new DodecahedronGeometry(2), new BoxGeometry(2, 3, 4)];
    camera = new PerspectiveCamera(60, 1, 1, FAR);
    scene = new Scene();
    seconds = 0;
    /** Rocks that are drawn, and the milliseconds of update, cull and write. */
    count = 0;
    milliseconds = 0;
    #groups = new Groups(this.scene, this.instances);
    #turning;
    #viewProjection = new Matrix4();

    constructor(canvas, { belts = 60, rocks = 1000 } = {}) {
        this.renderer = new WebGLRenderer({ canvas, antialias: true });
        this.scene.background = new Color(0x05070d);
        this.scene.fog = new Fog(0x05070d, 0.4 * FAR, FAR);
        const sun = new DirectionalLight(0xfff2dd, 2.5);
        sun.position.set(1, 2, 3);
        this.scene.add(sun, new AmbientLight(0x8899bb, 0.6));
        [0x9a8f80, 0x77808c, 0x8c6f5a].forEach((color, key) =>
            this.#groups.add(key, this.geometries[key], new MeshLambertMaterial({ color, flatShading: true })));
        this.#create(belts, rocks);
    }

    #create(belts, rocks) {
        const { world, drawn } = this, draw = makeDraw(), turning = [];
        // Boxes around the geometries, in the axes of a rock: the centre, and the halves of the edges.
        const boxes = this.geometries.map((geometry) => {
            geometry.computeBoundingBox();
            const { min, max } = geometry.boundingBox;

            return [...min.clone().add(max).multiplyScalar(0.5), ...max.clone().sub(min).multiplyScalar(0.5)];
        });

        world.reserve({ entities: belts * (rocks + 1), components: [drawn.bounds, drawn.renderable] });
        for (let i = 0; i < belts; ++i) {
            const [x, y, z] = [draw(), draw(), draw()].map((part) => WIDTH * (part - 0.5));
            const belt = world.create({ position: [x, 0.1 * y, z], rotation: quat.fromEuler([draw(), 0, draw()]) });

            if (i % 2 === 0) {
                turning.push(belt);
            }
            for (let j = 0; j < rocks; ++j) {
                const angle = 2 * Math.PI * draw(), radius = 60 + 80 * draw(), key = Math.floor(3 * draw());

                world.create({ parent: belt, scale: 0.5 + draw(),
                    position: [radius * Math.cos(angle), 8 * draw(), radius * Math.sin(angle)],
                    rotation: quat.fromEuler([6 * draw(), 6 * draw(), 0]),
                    components: [[drawn.bounds, boxes[key]], [drawn.renderable, [key, 0, 0]]] });
            }
        }
        this.#turning = world.batch("rotateOwn", turning.length);
        this.#turning.entities.set(turning);
    }

    resize(width, height, ratio = 1) {
        this.renderer.setPixelRatio(ratio);
        this.renderer.setSize(width, height, false);
        this.camera.aspect = width / height;
        this.camera.updateProjectionMatrix();
    }

    /** Move the world and the camera on. One write turns a belt with all its rocks. */
    step(seconds) {
        const turn = quat.fromAxisAngle([0, 1, 0], 0.1 * seconds), { values } = this.#turning;

        this.seconds += seconds;
        for (let i = 0; i < values.length; i += 4) {
            values.set(turn, i);
        }
        this.#turning.write();
        const angle = 0.05 * this.seconds;
        this.camera.position.set(0.3 * WIDTH * Math.cos(angle), 40, 0.3 * WIDTH * Math.sin(angle));
        this.camera.lookAt(0.3 * WIDTH * Math.cos(angle + 0.6), 0, 0.3 * WIDTH * Math.sin(angle + 0.6));
    }

    /** @param isCulled  false: draw all rocks, which gives the same picture. */
    draw(isCulled = true) {
        const { camera, drawn, visible, instances } = this, begin = performance.now();

        camera.updateMatrixWorld();
        this.#viewProjection.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
        drawn.update();
        visible.cull(drawn.mirror, isCulled ? { matrix: this.#viewProjection.elements } : {});
        this.count = visible.write(instances);
        this.milliseconds = performance.now() - begin;
        this.#groups.show(visible.groups(), this.count);
        this.renderer.render(this.scene, camera);
    }
}
