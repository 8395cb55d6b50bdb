# SPDX-License-Identifier: MIT
"""Random calls, with loads of images and rewinds among them, against a tree of plain dicts: by hypothesis.

A transform is a position of small whole numbers and perhaps half a turn about z, so that floats have no rounding
and the tree is right to the bit. Without hypothesis the test is skipped, unless ESPL_CONSUMERS is "full".
"""

import copy
import os
import unittest

import numpy as np

import espalier
from espalier import NULL, Extent, Keep, Status, World, Write

try:
    from hypothesis import HealthCheck, settings
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
except ImportError:
    if os.environ.get("ESPL_CONSUMERS") == "full":
        raise
    raise unittest.SkipTest("needs hypothesis")

PICK = st.integers(0, 1000)
POSITION = st.tuples(*[st.integers(-9, 9)] * 3)
HALF_TURN = (0, 0, 1, 0)


class Tree:
    """What the world should be: nodes by their handles."""

    def __init__(self):
        #: handle: dict of parent, children in order, position, is_turned, health (None: none), name
        self.nodes = {}

    def pick(self, number):
        return list(self.nodes)[number % len(self.nodes)]

    def add(self, handle, parent, position, is_turned, health=None, name=""):
        self.nodes[handle] = dict(
            parent=NULL, children=[], position=position, is_turned=is_turned, health=health, name=name
        )
        self.link(handle, parent)

    def link(self, handle, parent, at=None):
        """Make it a child: the last one, or at an index."""
        self.nodes[handle]["parent"] = parent
        if parent != NULL:
            siblings = self.nodes[parent]["children"]
            siblings.insert(len(siblings) if at is None else at, handle)

    def unlink(self, handle):
        node = self.nodes[handle]
        if node["parent"] != NULL:
            self.nodes[node["parent"]]["children"].remove(handle)
        node["parent"] = NULL

    def below(self, top):
        """Return an entity and all below it, breadth-first."""
        found = [top]
        for handle in found:
            found += self.nodes[handle]["children"]
        return found

    def world(self, handle):
        """Return where an entity is, and whether it is turned."""
        x = y = z = 0
        is_turned = False
        chain = []
        while handle != NULL:
            chain.append(self.nodes[handle])
            handle = chain[-1]["parent"]
        for node in reversed(chain):
            sign = -1 if is_turned else 1
            dx, dy, dz = node["position"]
            x, y, z = x + sign * dx, y + sign * dy, z + dz
            is_turned ^= node["is_turned"]
        return (x, y, z), is_turned

    def place(self, handle, position, is_turned):
        """Give an entity the local transform that leads to a world transform."""
        node = self.nodes[handle]
        parent = node["parent"]
        (x, y, z), is_parent_turned = self.world(parent) if parent != NULL else ((0, 0, 0), False)
        sign = -1 if is_parent_turned else 1
        node["position"] = (sign * (position[0] - x), sign * (position[1] - y), position[2] - z)
        node["is_turned"] = is_turned ^ is_parent_turned

    def move(self, handle, parent, keep, at=None):
        before = self.world(handle)
        if parent == NULL or parent != self.nodes[handle]["parent"]:
            self.unlink(handle)
            self.link(handle, parent, at)
        if keep == Keep.WORLD:
            self.place(handle, *before)

    def destroy(self, handle, extent):
        parent = self.nodes[handle]["parent"]
        if extent == Extent.ENTITY:
            # They take its place.
            for child in self.nodes[handle]["children"][::-1]:
                at = None if parent == NULL else self.nodes[parent]["children"].index(handle)
                self.move(child, parent, Keep.WORLD, None if at is None else at + 1)
        gone = self.below(handle)
        self.unlink(handle)
        for each in gone:
            del self.nodes[each]


class Machine(RuleBasedStateMachine):
    """A world beside its tree, a watch beside what it has reported, and saved worlds and frames to go back to."""

    def __init__(self):
        super().__init__()
        self.world = World(tag=1)
        self.health = self.world.register("health", np.int32)
        self.cache = self.world.register("cache", np.int32, transient=True)
        self.tree = Tree()
        self.buffer = self.world.commands()
        self.recorded = []
        self.watch = self.world.watch()
        self.seen = {}
        self.saved = []
        self.loads = 0
        self.history = self.world.history(4, hash=True)
        self.frame = 0
        #: Trees, hashes and values of transient components by the frames that can be gone back to.
        self.marked = {}

    def teardown(self):
        self.world.close()

    def fill_caches(self, set_to=1):
        """Give the transient component its value everywhere; 0: leave it. Return which entities have it."""
        caches = [handle for handle in self.tree.nodes if self.world.has_component(handle, self.cache)]
        if set_to:
            self.world.set_components(caches, self.cache, set_to)
        return caches

    # --- Calls that change both ---

    def create(self, parent, position, is_turned, **components):
        rotation = HALF_TURN if is_turned else (0, 0, 0, 1)
        return self.world.create(parent=parent, position=position, rotation=rotation, **components)

    @initialize(count=st.integers(1, 6))
    def begin(self, count):
        for i in range(count):
            self.tree.add(self.create(NULL, (i, 0, 0), False), NULL, (i, 0, 0), False)
        self.save()

    @rule(parent=st.none() | PICK, position=POSITION, is_turned=st.booleans(), health=st.none() | PICK)
    def make(self, parent, position, is_turned, health):
        above = NULL if parent is None or not self.tree.nodes else self.tree.pick(parent)
        components = {} if health is None else {"components": {self.health: health, self.cache: 1}}
        handle = self.create(above, position, is_turned, **components)
        self.tree.add(handle, above, position, is_turned, health)

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, extent=st.sampled_from([Extent.ENTITY, Extent.OWNED, Extent.SUBTREE]))
    def destroy(self, pick, extent):
        handle = self.tree.pick(pick)
        self.world.destroy(handle, extent)
        self.tree.destroy(handle, extent)
        assert not self.world.is_alive(handle)

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, parent=PICK, keep=st.sampled_from([Keep.WORLD, Keep.LOCAL]))
    def attach(self, pick, parent, keep):
        child, above = self.tree.pick(pick), self.tree.pick(parent)
        before = self.world.hash(physical=True)
        try:
            self.world.attach(child, above, keep)
        except espalier.StructureError as error:
            assert error.status == Status.ERR_CYCLE and above in self.tree.below(child)
            assert self.world.hash(physical=True) == before
            return
        assert above not in self.tree.below(child)
        self.tree.move(child, above, keep)

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, keep=st.sampled_from([Keep.WORLD, Keep.LOCAL]))
    def detach(self, pick, keep):
        handle = self.tree.pick(pick)
        self.world.detach(handle, keep)
        self.tree.move(handle, NULL, keep)

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, position=POSITION, is_world=st.booleans())
    def write(self, pick, position, is_world):
        handle = self.tree.pick(pick)
        if is_world:
            self.world.set_world(handle, position=position)
            self.tree.place(handle, position, self.tree.world(handle)[1])
        else:
            self.world.set_local(handle, position=position)
            self.tree.nodes[handle]["position"] = position

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, health=st.none() | PICK)
    def give(self, pick, health):
        handle = self.tree.pick(pick)
        if health is None:
            self.world.remove_component(handle, self.health)
        else:
            self.world.add_component(handle, self.health, health)
        self.tree.nodes[handle]["health"] = health

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, name=st.sampled_from(["", "a", "b"]))
    def call(self, pick, name):
        handle = self.tree.pick(pick)
        self.world.set_name(handle, name)
        self.tree.nodes[handle]["name"] = name

    @rule()
    def compact(self):
        self.world.compact()
        self.marked = {}

    # --- Commands, which may be recorded before a load and played after it ---

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, position=st.none() | POSITION)
    def record(self, pick, position):
        handle = self.tree.pick(pick)
        if position is None:
            self.buffer.recorder().destroy(handle)
        else:
            self.buffer.recorder().write_one(handle, Write.LOCAL_POSITION, position)
        self.recorded.append((handle, position))

    @rule()
    def play(self):
        refused = 0
        for handle, position in self.recorded:
            if handle not in self.tree.nodes:
                refused += 1
            elif position is None:
                self.tree.destroy(handle, Extent.OWNED)
            else:
                self.tree.nodes[handle]["position"] = position
        report = self.buffer.play()
        assert (report.accepted, report.refused) == (len(self.recorded), refused)
        self.buffer.reset()
        self.recorded = []

    # --- The world as a value ---

    @rule()
    def save(self):
        hashes = self.world.hash(), self.world.hash(physical=True)
        self.saved.append((self.world.save_image(), copy.deepcopy(self.tree), hashes))

    @precondition(lambda self: self.saved)
    @rule(pick=PICK, trusted=st.booleans())
    def load(self, pick, trusted):
        image, tree, hashes = self.saved[pick % len(self.saved)]
        self.world.load_image(image, trusted=trusted)
        self.loads += 1
        self.tree = copy.deepcopy(tree)
        self.marked = {}
        # Transient values are zeros now, and part of the hash.
        assert not self.world.get_components(self.fill_caches(set_to=0), self.cache).any()
        self.fill_caches()
        assert (self.world.hash(), self.world.hash(physical=True)) == hashes

    @rule()
    def mark(self):
        self.frame += 1
        self.history.mark(self.frame)
        hashes = self.world.hash(), self.world.hash(physical=True), self.history.hash(self.frame)
        self.marked[self.frame] = copy.deepcopy(self.tree), hashes
        while len(self.marked) > 4:
            del self.marked[min(self.marked)]

    @precondition(lambda self: self.marked)
    @rule(pick=PICK)
    def rewind(self, pick):
        self.frame = list(self.marked)[pick % len(self.marked)]
        tree, hashes = self.marked[self.frame]
        before = set(self.tree.nodes)
        done = self.history.rewind(self.frame)
        assert set(done.unborn.tolist()) == before - set(tree.nodes)
        assert set(done.revived.tolist()) == set(tree.nodes) - before
        self.loads += 1
        self.tree = copy.deepcopy(tree)
        self.marked = {frame: kept for frame, kept in self.marked.items() if frame <= self.frame}
        # Transient values stay, or are zeros where a row was made.
        self.fill_caches()
        assert (self.world.hash(), self.world.hash(physical=True)) == hashes[:2]
        assert self.history.hash(self.frame) == hashes[2]

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, parent=st.none() | PICK)
    def copy(self, pick, parent):
        top = self.tree.pick(pick)
        above = NULL if parent is None else self.tree.pick(parent)
        sources, place = self.tree.below(top), self.tree.world(top)
        copies = [self.tree.nodes[source] for source in sources]
        read = self.world.read_archive(self.world.write_archive(top), parent=above)
        handles = dict(zip(sources, read.entities.tolist()))
        for source, node in zip(sources, copies):
            # A member becomes a root at its world transform.
            position, is_turned = place if source == top else (node["position"], node["is_turned"])
            into = above if source == top else handles[node["parent"]]
            fields = position, is_turned, node["health"], node["name"]
            self.tree.add(handles[source], into, *fields)
        self.fill_caches()

    # --- What both have ---

    @rule()
    def look(self):
        changes = self.watch.collect()
        for handle in changes.removed.tolist():
            del self.seen[handle]
        for entities, worlds in (
            (changes.added, changes.added_worlds),
            (changes.changed, changes.changed_worlds),
        ):
            self.seen.update(zip(entities.tolist(), map(tuple, worlds["position"].tolist())))
        assert self.seen == {handle: self.tree.world(handle)[0] for handle in self.tree.nodes}

    @invariant()
    def agree(self):
        world, nodes = self.world, self.tree.nodes
        handles = list(nodes)
        assert world.validate() is None
        assert world.timeline == self.loads
        frames = (min(self.marked), max(self.marked)) if self.marked else None
        assert self.history.frames == frames
        assert world.stats().entities == len(handles)
        assert [world.parent(h) for h in handles] == [node["parent"] for node in nodes.values()]
        assert [world.children(h).tolist() for h in handles] == [n["children"] for n in nodes.values()]
        assert [world.name(h) for h in handles] == [node["name"] for node in nodes.values()]
        found = [tuple(place) for place in world.world_positions(handles).tolist()]
        assert found == [self.tree.world(handle)[0] for handle in handles]
        sick = [handle for handle, node in nodes.items() if node["health"] is None]
        assert not any(world.has_component(handle, self.health) for handle in sick)
        rest = [handle for handle, node in nodes.items() if node["health"] is not None]
        found = world.get_components(rest, self.health).tolist()
        assert found == [nodes[handle]["health"] for handle in rest]


# What the machine itself reads; those of a subclass of its TestCase are not read.
Machine.TestCase.settings = settings(
    max_examples=int(os.environ.get("ESPL_FACTOR", "1")) * 60,
    stateful_step_count=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
Machines = Machine.TestCase


if __name__ == "__main__":
    unittest.main()
