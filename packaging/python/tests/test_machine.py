# SPDX-License-Identifier: MIT
"""Random calls, with loads of images and rewinds among them, against a tree of plain dicts: by hypothesis.

A transform is a position of small whole numbers and perhaps half a turn about z, so that floats have no rounding
and the tree is right to the bit. What a camera sees is found by numpy, of all boxes. A second world follows the first
one. Another machine has a world with cells. Without hypothesis the test is skipped, unless ESPL_CONSUMERS is "full".
"""

import copy
import os
import unittest

import numpy as np

import espalier
from espalier import (
    NO_KEY, NULL, Camera, Extent, Keep, LayersFlag, Read, RenderableFlag, Status, Watched, World, Write,
)

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
CELL = st.tuples(*[st.integers(-9, 9)] * 3)
#: Layers of the components, and of cameras.
MASK = st.sampled_from([2**32 - 1, 1, 2, 6, 0])
LAYERS = st.tuples(MASK, st.integers(0, 1))
#: A box, a key, and flags.
SHAPE = st.tuples(
    POSITION, st.tuples(*[st.integers(0, 4)] * 3), st.sampled_from([1, 2, NO_KEY]), st.integers(0, 3)
)
#: Axes and distances of planes. A box never touches a plane, whose distance is no half of a whole number.
PLANES = st.lists(
    st.tuples(st.sampled_from([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, 0, -1)]), st.integers(-12, 12)), max_size=4
)


def plus(a, b, times=1):
    return tuple(x + times * y for x, y in zip(a, b))


class Tree:
    """What the world should be: nodes by their handles."""

    def __init__(self, cell_size=0):
        #: handle: dict of parent, children in order, position, is_turned, health (None: none), name, cell (of a
        #: root), shape and layers (None: none)
        self.nodes = {}
        self.cell_size = cell_size

    def pick(self, number):
        return list(self.nodes)[number % len(self.nodes)]

    def add(self, handle, parent, position, is_turned, cell=(0, 0, 0), **parts):
        node = dict(parent=NULL, children=[], position=position, is_turned=is_turned, cell=cell)
        self.nodes[handle] = {**node, "health": None, "name": "", "shape": None, "layers": None, **parts}
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

    def cell(self, handle):
        """Return the cell of the hierarchy of an entity."""
        while self.nodes[handle]["parent"] != NULL:
            handle = self.nodes[handle]["parent"]
        return self.nodes[handle]["cell"]

    def absolute(self, handle):
        return plus(self.world(handle)[0], self.cell(handle), self.cell_size)

    def world(self, handle):
        """Return where an entity is in its cell, and whether it is turned."""
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
        (position, is_turned), cell = self.world(handle), self.cell(handle)
        if parent == NULL or parent != self.nodes[handle]["parent"]:
            self.unlink(handle)
            self.nodes[handle]["cell"] = cell
            self.link(handle, parent, at)
        if keep == Keep.WORLD:
            moved = plus(cell, self.cell(handle), -1)
            self.place(handle, plus(position, moved, self.cell_size), is_turned)

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

    # --- What can be seen ---

    def layers(self, handle):
        """Return the layers of an entity: its mask, and those of its parent."""
        mask = 2**32 - 1
        while handle != NULL:
            node = self.nodes[handle]
            own, flags = node["layers"] or (mask, 0)
            mask &= own
            handle = NULL if flags & LayersFlag.ABSOLUTE else node["parent"]
        return mask

    def box(self, handle):
        """Return the corners of the box of a renderable in the world."""
        center, half, _, flags = self.nodes[handle]["shape"]
        position, is_turned = self.world(handle)
        middle = plus(position, [-center[0], -center[1], center[2]] if is_turned else center)
        corners = [(np.subtract(middle, half), np.add(middle, half))]
        if flags & RenderableFlag.UNION:
            below = [each for each in self.below(handle)[1:] if self.nodes[each]["shape"] is not None]
            corners += [self.box(each) for each in below]
        return np.min([least for least, _ in corners], axis=0), np.max([most for _, most in corners], axis=0)

    def relative(self, handle, cell):
        """Return where an entity is, relative to the middle of a cell."""
        return plus(self.absolute(handle), cell, -self.cell_size)

    def visible(self, planes, layers, cell):
        """Return what a camera in a cell sees: handles by keys, ascending by index. All boxes are looked at."""
        drawn = [handle for handle, node in self.nodes.items() if node["shape"] is not None]
        if not drawn:
            return {}
        keys = np.array([self.nodes[handle]["shape"][2] for handle in drawn])
        flags = np.array([self.nodes[handle]["shape"][3] for handle in drawn])
        least, most = np.moveaxis(np.array([self.box(handle) for handle in drawn]), 1, 0)
        ways = np.array([plus(self.cell(handle), cell, -1) for handle in drawn]) * self.cell_size
        least, most = least + ways, most + ways
        is_inside = np.ones(len(drawn), dtype=bool)
        for normal, distance in planes:
            # The corner that is farthest along the normal.
            farthest = np.where(np.array(normal) > 0, most, least)
            is_inside &= farthest @ np.array(normal) + distance >= 0
        is_seen = is_inside | (flags & RenderableFlag.ALWAYS != 0)
        is_seen &= np.array([self.layers(handle) & layers != 0 for handle in drawn]) & (keys != NO_KEY)
        found = {}
        for i in sorted(np.flatnonzero(is_seen), key=lambda i: drawn[i] & 0xFFFFFFFF):
            found.setdefault(int(keys[i]), []).append(drawn[i])
        return found


class Machine(RuleBasedStateMachine):
    """A world beside its tree, a watch beside what it has reported, and saved worlds and frames to go back to.

    Another world has counterparts of some entities, and follows."""

    cell_size = 0

    def __init__(self):
        super().__init__()
        self.world = World(tag=1, cell_size=self.cell_size)
        self.health = self.world.register("health", np.int32)
        self.cache = self.world.register("cache", np.int32, transient=True)
        self.drawn = self.world.renderables()
        self.visible = self.world.visible()
        self.tree = Tree(self.cell_size)
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
        self.follower = World(tag=2)
        self.locals = self.world.watch(kinds=Watched.LOCAL)
        #: What the last collect of `locals` had.
        self.known = set()
        #: Originals, and the originals of the parents of their counterparts.
        self.linked = {}

    def teardown(self):
        self.follower.close()
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

    @initialize(shapes=st.lists(st.none() | SHAPE, min_size=1, max_size=6))
    def begin(self, shapes):
        for i, shape in enumerate(shapes):
            handle = self.create(NULL, (i, 0, 0), False)
            self.tree.add(handle, NULL, (i, 0, 0), False)
            self.set_shape(handle, shape)
        self.place(0)
        self.save()

    @rule(parent=st.none() | PICK, position=POSITION, is_turned=st.booleans(), health=st.none() | PICK,
          shape=st.none() | SHAPE)
    def make(self, parent, position, is_turned, health, shape):
        above = NULL if parent is None or not self.tree.nodes else self.tree.pick(parent)
        components = {} if health is None else {"components": {self.health: health, self.cache: 1}}
        handle = self.create(above, position, is_turned, **components)
        self.tree.add(handle, above, position, is_turned, health=health)
        self.set_shape(handle, shape)

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
        sources, place, cell = self.tree.below(top), self.tree.world(top), self.tree.cell(top)
        copies = [self.tree.nodes[source] for source in sources]
        read = self.world.read_archive(self.world.write_archive(top), parent=above)
        handles = dict(zip(sources, read.entities.tolist()))
        for source, node in zip(sources, copies):
            # A member becomes a root at its world transform.
            position, is_turned = place if source == top else (node["position"], node["is_turned"])
            into = above if source == top else handles[node["parent"]]
            parts = {name: node[name] for name in ("health", "name", "shape", "layers")}
            self.tree.add(handles[source], into, position, is_turned, cell, **parts)
        self.fill_caches()

    # --- Renderables ---

    @precondition(lambda self: self.tree.nodes)
    @rule(shapes=st.lists(st.tuples(PICK, st.none() | SHAPE), min_size=1, max_size=8))
    def draw(self, shapes):
        for pick, shape in shapes:
            self.set_shape(self.tree.pick(pick), shape)

    def set_shape(self, handle, shape):
        if shape is None:
            for component in (self.drawn.bounds, self.drawn.renderable):
                self.world.remove_component(handle, component)
        else:
            center, half, key, flags = shape
            self.world.add_component(handle, self.drawn.bounds, (center, half))
            self.world.add_component(handle, self.drawn.renderable, (key, 7, flags))
        self.tree.nodes[handle]["shape"] = shape

    @precondition(lambda self: self.tree.nodes)
    @rule(masks=st.lists(st.tuples(PICK, st.none() | LAYERS), min_size=1, max_size=4))
    def cover(self, masks):
        for pick, layers in masks:
            handle = self.tree.pick(pick)
            if layers is None:
                self.world.remove_component(handle, self.drawn.layers)
            else:
                self.world.add_component(handle, self.drawn.layers, layers)
            self.tree.nodes[handle]["layers"] = layers

    @rule(cameras=st.lists(st.tuples(PLANES, MASK, PICK, CELL), min_size=1, max_size=3))
    def see(self, cameras):
        assert self.drawn.update().status == Status.OK
        shapes = [node["shape"] for node in self.tree.nodes.values() if node["shape"] is not None]
        assert self.drawn.mirror.renderables == self.world.stats().renderables == len(shapes)
        planes = [[(normal, distance + 0.25) for normal, distance in sides] for sides, *_ in cameras]
        cells = [self.camera_cell(pick, cell) for _, _, pick, cell in cameras]
        made = [
            Camera(planes=[(*normal, distance) for normal, distance in sides], layers=mask, cell=cell)
            for sides, (_, mask, *_), cell in zip(planes, cameras, cells)
        ]
        self.visible.cull(self.drawn.mirror, made, by_entity=True)
        for i, (sides, (_, mask, *_), cell) in enumerate(zip(planes, cameras, cells)):
            found = self.tree.visible(sides, mask, cell)
            assert self.visible.groups(i)["key"].tolist() == sorted(found)
            seen = self.visible.write(i, entities=True)
            assert seen.entities.tolist() == [handle for key in sorted(found) for handle in found[key]]
            places = [tuple(place) for place in seen.matrices[:, :, 3].tolist()]
            assert places == [self.tree.relative(handle, cell) for handle in seen.entities.tolist()]

    def camera_cell(self, pick, cell):
        """Return the cell of a camera: that of an entity, or one beside it."""
        if self.cell_size == 0:
            return (0, 0, 0)
        beside = tuple(number % 3 - 1 for number in cell)
        return plus(self.tree.cell(self.tree.pick(pick)), beside) if self.tree.nodes else cell

    # --- Counterparts ---

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK)
    def place(self, pick):
        handle = self.tree.pick(pick)
        below = self.tree.below(handle)
        before = self.follower.hash(physical=True)
        try:
            shown = self.follower.place(self.world, handle)
        except espalier.EspalierError as error:
            assert error.status == Status.ERR_EXISTS and not self.linked.keys().isdisjoint(below)
            assert self.follower.hash(physical=True) == before
            return
        assert self.follower.original(shown) == handle
        for each in below:
            assert each not in self.linked
            self.linked[each] = NULL if each == handle else self.tree.nodes[each]["parent"]

    @precondition(lambda self: self.linked)
    @rule(pick=PICK)
    def part(self, pick):
        original = list(self.linked)[pick % len(self.linked)]
        self.follower.destroy(self.follower.counterpart(original))
        self.drop({original})

    def drop(self, gone):
        """Forget originals, and those whose counterparts are below theirs."""
        while gone:
            for original in gone:
                self.linked.pop(original, None)
            gone = {original for original, parent in self.linked.items() if parent in gone}

    @rule()
    def follow(self):
        changes = self.locals.collect()
        report = self.follower.follow(changes)
        self.drop(self.known - self.tree.nodes.keys())
        self.known = set(self.tree.nodes)
        told = changes.added.tolist() + changes.changed.tolist()
        unknown = sum(handle not in self.linked for handle in told)
        assert (report.written, report.unknown, report.refused) == (len(told) - unknown, unknown, 0)
        # A counterpart that was placed without a parent is where its original is, until that is reported.
        followed = [handle for handle in told if handle in self.linked]
        found = self.follower.local_transforms([self.follower.counterpart(handle) for handle in followed])
        assert found.tobytes() == self.world.local_transforms(followed).tobytes()
        assert all(self.follower.counterpart(h) == NULL for h in self.tree.nodes if h not in self.linked)

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
        assert self.follower.validate() is None
        assert self.follower.stats().counterparts == self.follower.stats().entities == len(self.linked)
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


class FarMachine(Machine):
    """The same in a world with cells, which are small, so that floats have no rounding here either."""

    cell_size = 8

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, cell=CELL)
    def enter(self, pick, cell):
        handle = self.tree.pick(pick)
        try:
            self.world.write_one(handle, Write.CELL, cell)
        except espalier.UnsupportedError:
            assert self.tree.nodes[handle]["parent"] != NULL
            return
        assert self.tree.nodes[handle]["parent"] == NULL
        self.tree.nodes[handle]["cell"] = cell

    @rule(cells=CELL)
    def rebase(self, cells):
        before = self.world.hash(physical=True)
        self.world.rebase(cells)
        self.world.rebase(plus((0, 0, 0), cells, -1))
        assert self.world.hash(physical=True) == before
        self.world.rebase(cells)
        for node in self.tree.nodes.values():
            node["cell"] = plus(node["cell"], cells)

    @rule(limit=st.sampled_from([0, 0.5, 2]))
    def recenter(self, limit):
        size = self.cell_size
        tops = [handle for handle, node in self.tree.nodes.items() if node["parent"] == NULL]
        far = [
            top for top in tops
            if max(map(abs, self.tree.nodes[top]["position"])) > (limit or 1) * size
        ]
        before = {top: self.tree.absolute(top) for top in tops}
        assert self.world.recenter(limit) == len(far)
        for top in far:
            cell = tuple(self.world.read(top, Read.CELL).tolist())
            node = self.tree.nodes[top]
            node["position"] = plus(node["position"], plus(node["cell"], cell, -1), size)
            node["cell"] = cell
            assert max(map(abs, node["position"])) <= size / 2
        assert before == {top: self.tree.absolute(top) for top in tops}
        assert self.world.recenter(limit) == 0

    @precondition(lambda self: self.tree.nodes)
    @rule(pick=PICK, position=st.tuples(*[st.integers(-500, 500)] * 3))
    def write_absolute(self, pick, position):
        handle = self.tree.pick(pick)
        self.world.write_one(handle, Write.ABSOLUTE_POSITION, position)
        node = self.tree.nodes[handle]
        if node["parent"] == NULL:
            node["cell"] = tuple(self.world.read(handle, Read.CELL).tolist())
        cell, is_turned = self.tree.cell(handle), self.tree.world(handle)[1]
        self.tree.place(handle, plus(position, cell, -self.cell_size), is_turned)
        if node["parent"] == NULL:
            assert max(map(abs, node["position"])) <= self.cell_size / 2

    @invariant()
    def agree_on_cells(self):
        handles = list(self.tree.nodes)
        cells = self.world.read_many(handles, Read.CELL).tolist()
        assert [tuple(cell) for cell in cells] == [self.tree.cell(handle) for handle in handles]
        places = self.world.read_many(handles, Read.ABSOLUTE_POSITION).tolist()
        assert [tuple(place) for place in places] == [self.tree.absolute(handle) for handle in handles]


# What the machine itself reads; those of a subclass of its TestCase are not read.
Machine.TestCase.settings = FarMachine.TestCase.settings = settings(
    max_examples=int(os.environ.get("ESPL_FACTOR", "1")) * 60,
    stateful_step_count=50,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
Machines = Machine.TestCase
FarMachines = FarMachine.TestCase


if __name__ == "__main__":
    unittest.main()
