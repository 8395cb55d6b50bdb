// SPDX-License-Identifier: MIT
// The steps of tests/consumers/program.c in JavaScript, by the npm package: it prints the kernels and the
// same hash.
import { EspalierError, World, quat } from "espalier";

const TREES = 32, NODES = 12, FRAMES = 20;

let seed = 1;

/** A number below `limit`, from the generator of the C standard's example. */
function draw(limit) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 16) % limit;
}

function drawTransform() {
    const axis = [1, draw(8), draw(8)];
    const position = [0, 0, 0].map(() => draw(2000) / 64 - 15);
    const rotation = quat.fromAxisAngle(axis, draw(628) / 100);

    return { position, rotation, scale: 0.5 + draw(64) / 64 };
}

/** Create the trees: the parent of each node is an earlier node of the same tree. */
function spawn(world) {
    const nodes = [...world.createMany(TREES)];
    const commands = world.commands();

    for (let i = TREES; i < TREES * NODES; ++i) {
        const local = drawTransform();
        const parent = nodes[draw(Math.floor(i / TREES)) * TREES + (i % TREES)];

        nodes.push(commands.create({ ...local, parent }, i));
    }
    commands.play();
    return nodes.map((node, i) => (i < TREES ? node : commands.resolve(node)));
}

/** Write and attach; an attach that would make a cycle is refused. */
function move(world, nodes) {
    for (let i = 0; i < TREES; ++i) {
        const local = drawTransform();

        world.setLocalTransform(nodes[draw(nodes.length)], local);
    }
    for (let i = 0; i < 4; ++i) {
        const child = nodes[draw(nodes.length)], parent = nodes[draw(nodes.length)];

        try {
            world.attach(child, parent);
        } catch (error) {
            if (!(error instanceof EspalierError) || error.status !== "ESPL_ERR_CYCLE") {
                throw error;
            }
        }
    }
}

const world = new World();
const nodes = spawn(world);

for (let frame = 0; frame < FRAMES; ++frame) {
    move(world, nodes);
}
const broken = world.validate();
if (broken !== null) {
    throw new Error(broken);
}
console.log(world.kernels, world.hash().toString(16).padStart(16, "0"));
world.close();
