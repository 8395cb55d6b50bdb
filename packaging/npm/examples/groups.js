// SPDX-License-Identifier: MIT
// Draws instances by three.js: an InstancedMesh for each key, all of which read one buffer, whose array is the
// library's memory. The matrices are written once, by the library, and go to the graphics unit from there.
import { DynamicDrawUsage, InstancedInterleavedBuffer, InstancedMesh, InterleavedBufferAttribute } from "three";

const MATRIX_NUMBERS = 16;

export class Groups {
    #scene;
    #instances;
    #buffer;
    #capacity;
    #meshes = new Map();

    /** @param instances  of the form "4x4", which is the default. */
    constructor(scene, instances) {
        this.#scene = scene;
        this.#instances = instances;
        this.#makeBuffer();
    }

    /** Say what a key is drawn as. */
    add(key, geometry, material) {
        const mesh = new InstancedMesh(geometry, material, 0);

        mesh.frustumCulled = false; // the library has culled
        mesh.instanceMatrix = new InterleavedBufferAttribute(this.#buffer, MATRIX_NUMBERS, 0);
        this.#meshes.set(key, mesh);
        this.#scene.add(mesh);
    }

    /**
     * Draw these groups from now on. Call it after each Visible.write().
     * @param groups  of Visible.groups()
     * @param count   that Visible.write() has returned
     */
    show(groups, count) {
        if (this.#capacity !== this.#instances.capacity) {
            this.#makeBuffer();
        }
        // The getter returns another array where the memory of the library has grown.
        this.#buffer.array = this.#instances.matrices;
        if (count !== 0) {
            this.#buffer.clearUpdateRanges();
            this.#buffer.addUpdateRange(0, MATRIX_NUMBERS * count);
            this.#buffer.needsUpdate = true;
        }
        for (const mesh of this.#meshes.values()) {
            mesh.visible = false;
        }
        for (const { key, first, count: members } of groups) {
            const mesh = this.#meshes.get(key);

            if (mesh === undefined) {
                throw new RangeError(`nothing is drawn for the key ${key}`);
            }
            // three.js looks for another attribute object, not for another offset.
            if (mesh.instanceMatrix.data !== this.#buffer || mesh.instanceMatrix.offset !== MATRIX_NUMBERS * first) {
                mesh.instanceMatrix = new InterleavedBufferAttribute(this.#buffer, MATRIX_NUMBERS,
                    MATRIX_NUMBERS * first);
            }
            mesh.count = members;
            mesh.visible = true;
        }
    }

    // A buffer of the graphics unit keeps its size, so that more instances need another one.
    #makeBuffer() {
        for (const mesh of this.#meshes.values()) {
            // The renderer frees the buffer before. dispose() of the mesh does it for other attributes alone.
            mesh.dispatchEvent({ type: "dispose" });
        }
        this.#capacity = this.#instances.capacity;
        this.#buffer = new InstancedInterleavedBuffer(this.#instances.matrices, MATRIX_NUMBERS);
        this.#buffer.setUsage(DynamicDrawUsage);
    }
}
