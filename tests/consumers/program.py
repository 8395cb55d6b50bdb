# SPDX-License-Identifier: MIT
"""The world of program.c, by the Python package: the same calls, so the same hash."""

import numpy as np

import espalier
from espalier import Transform, World

TREES, NODES, FRAMES = 32, 12, 20

seed = 1


def draw(limit: int) -> int:
    """Return a number below `limit`, from the generator of the C standard's example."""
    global seed
    seed = (seed * 1103515245 + 12345) % 2**32
    return (seed >> 16) % limit


def draw_transform() -> Transform:
    """Return a transform of drawn numbers, each a float as in C."""
    axis = [1, draw(8), draw(8)]
    position = [draw(2000) / 64 - 15 for _ in range(3)]
    angle = np.float32(draw(628)) / np.float32(100)
    rotation = espalier.quat_from_axis_angle(axis, float(angle))
    return Transform(position=position, rotation=rotation, scale=0.5 + draw(64) / 64)


def spawn(world: World) -> "list[int]":
    """Create the trees: the parent of each node is an earlier node of the same tree."""
    nodes = [int(root) for root in world.create_many(TREES)]
    with world.commands() as commands:
        recorder = commands.recorder()
        for i in range(TREES, TREES * NODES):
            local = draw_transform()
            parent = nodes[draw(i // TREES) * TREES + i % TREES]
            nodes.append(recorder.create(parent=parent, transform=local, key=i))
        commands.play()
        nodes[TREES:] = [int(node) for node in commands.resolve_many(nodes[TREES:])]
    return nodes


def move(world: World, nodes: "list[int]") -> None:
    """Write and attach; an attach that would make a cycle is refused."""
    for _ in range(TREES):
        local = draw_transform()
        world.set_local(nodes[draw(TREES * NODES)], local)
    for _ in range(4):
        child = nodes[draw(TREES * NODES)]
        parent = nodes[draw(TREES * NODES)]
        try:
            world.attach(child, parent)
        except espalier.StructureError as error:
            assert error.status == espalier.Status.ERR_CYCLE


with World() as world:
    nodes = spawn(world)
    for _ in range(FRAMES):
        move(world, nodes)
    assert world.validate() is None
    print(world.kernels, f"{world.hash():016x}")
