# SPDX-License-Identifier: MIT
"""Creation, structure, navigation and names."""

import unittest

import numpy as np

import espalier
from espalier import NULL, Extent, Inherit, Keep, Link, Role, Space, Transform
from support import WorldCase, multiply, rotation_matrix, unit


class Creation(WorldCase):
    def test_a_handle_is_an_int_that_hashes_as_an_element_of_an_array(self):
        entity = self.world.create()
        self.assertIs(type(entity), int)
        many = self.world.create_many(3)
        self.assertEqual(many.dtype, np.int64)
        self.assertEqual([many[0] == int(e) for e in many], [True, False, False])
        self.assertEqual([int(e) in list(many[1:]) for e in many], [False, True, True])
        more = np.append(many, entity)
        self.assertEqual((more.dtype, int(more[3])), (np.int64, entity))
        self.assertTrue(self.world.are_alive(more.view(np.uint64)).all())
        names = {many[0]: "first", int(many[1]): "second"}
        self.assertEqual(names[int(many[0])], "first")
        self.assertEqual(names[many[1]], "second")
        self.assertIn(many[2], self.world)
        self.assertNotIn(NULL, self.world)

    def test_a_created_entity_has_what_was_given(self):
        speed = self.world.register("speed", np.float32)
        parent = self.world.create(position=(1, 2, 3), scale=2)
        first = self.world.create(parent=parent, name="first")
        turn = unit(np.random.default_rng(1), 1)[0]
        made = self.world.create(
            parent=parent,
            position=(4, 5, 6),
            rotation=turn,
            scale=0.5,
            stretch=(1, 2, 3),
            user_data=7,
            components={speed: 9},
            name="made",
            before=first,
            link=Link.FREE,
        )
        local = self.world.local_transform(made)
        self.assertEqual(
            local,
            Transform(position=(4, 5, 6), rotation=turn, scale=0.5, stretch=(1, 2, 3), user_data=7),
        )
        self.assertEqual(self.world.world_position(made).tolist(), [9, 12, 15])
        self.assertEqual(self.world.children(parent).tolist(), [made, first])
        self.assertEqual(self.world.link(made), Link.FREE)
        self.assertEqual(self.world.get_component(made, speed), 9)
        self.assertEqual(self.world.find("made", parent), made)

    def test_a_world_transform_places_a_child_in_the_world(self):
        parent = self.world.create(position=(10, 0, 0), scale=4)
        child = self.world.create(parent=parent, position=(2, 0, 0), space=Space.WORLD)
        self.assertEqual(self.world.world_position(child).tolist(), [2, 0, 0])
        self.assertEqual(self.world.local_position(child).tolist(), [-2, 0, 0])

    def test_an_entity_without_a_transform_is_where_its_parent_is(self):
        parent = self.world.create(position=(1, 2, 3))
        bare = self.world.create(parent=parent, transform=False)
        self.assertFalse(self.world.has_component(bare, espalier.HAS_TRANSFORM))
        child = self.world.create(parent=bare, position=(1, 0, 0))
        self.assertEqual(self.world.world_position(child).tolist(), [2, 2, 3])
        with self.assertRaises(espalier.ComponentError):
            self.world.world_position(bare)

    def test_arguments_that_contradict_each_other_are_refused(self):
        for arguments in (
            {"transform": Transform(), "position": (1, 2, 3)},
            {"transform": False, "scale": 2},
        ):
            with self.assertRaises(espalier.ArgumentError):
                self.world.create(**arguments)
        with self.assertRaises(ValueError):
            self.world.create(position=(1, 2))
        with self.assertRaises(espalier.ArgumentError):
            self.world.create_many(-1)
        with self.assertRaises(espalier.ArgumentError):
            self.world.create(name="a/b")
        self.assertEqual(self.world.stats().entities, 0)

    def test_a_creation_that_is_refused_makes_nothing(self):
        world = self.world
        parent, dead, data = world.create(), world.create(), world.register("data", np.float32)
        world.destroy(dead)
        for call, kind in (
            (lambda: world.create_many(3, parent=dead), espalier.EntityError),
            (lambda: world.create(parent=parent, before=parent), espalier.StructureError),
            (lambda: world.create(position=(np.inf, 0, 0)), espalier.NumberError),
            (lambda: world.create(transform=Transform(scale=np.nan)), espalier.NumberError),
            (lambda: world.create(link=9), espalier.ArgumentError),
            (lambda: world.create(space=9), espalier.ArgumentError),
            (lambda: world.create(parent=parent, link=9), espalier.ArgumentError),
            (lambda: world.create_many(2, parent=parent, components=[data] * 65), espalier.LimitError),
            (lambda: world.instantiate_many(dead, 3), espalier.EntityError),
            (lambda: world.instantiate_many(parent, -1), espalier.ArgumentError),
            (lambda: world.instantiate(parent, transform=Transform(), scale=2), espalier.ArgumentError),
        ):
            self.assertRefused(kind, call)

    def test_a_clone_without_a_transform_begins_where_its_source_is(self):
        above, below = self.world.create(position=(10, 0, 0)), self.world.create(position=(0, 5, 0))
        source = self.world.create(parent=above, position=(1, 2, 3), user_data=4)
        free = self.world.instantiate(source)
        self.assertEqual(self.world.world_position(free).tolist(), [11, 2, 3])
        child = self.world.instantiate(source, parent=below)
        self.assertEqual(self.world.local_transform(child), self.world.local_transform(source))

    def test_clones_have_the_components_and_names_of_a_prefab(self):
        link = self.world.register("link", [("to", espalier.ENTITY), ("n", "i4")], references=["to"])
        prefab = self.world.create(name="drone", components=[espalier.PREFAB])
        arm = self.world.create(parent=prefab, name="arm", position=(0, 1, 0))
        self.world.add_component(prefab, link, {"to": arm, "n": 5})
        clones = self.world.instantiate_many(prefab, 3, position=(7, 0, 0))
        for clone in clones:
            child = self.world.find("arm", clone)
            value = self.world.get_component(clone, link)
            self.assertEqual((int(value["to"]), int(value["n"])), (child, 5))
            self.assertNotEqual(child, arm)
            self.assertEqual(self.world.world_position(child).tolist(), [7, 1, 0])
            self.assertFalse(self.world.has_component(clone, espalier.PREFAB))
        under = self.world.instantiate(prefab, parent=clones[0], components={link: {"n": 6}})
        self.assertEqual(self.world.parent(under), clones[0])
        self.assertEqual(self.world.get_component(under, link)["n"], 6)


class Structure(WorldCase):
    def chain(self, rng):
        """Return a parent and a child somewhere, with random transforms."""
        turns = unit(rng, 2)
        parent = self.world.create(position=rng.normal(size=3), rotation=turns[0], scale=1.5)
        child = self.world.create(position=rng.normal(size=3), rotation=turns[1], scale=0.5)
        return parent, child

    def test_attach_keeps_the_world_or_the_local_transform(self):
        rng = np.random.default_rng(2)
        for keep in Keep:
            parent, child = self.chain(rng)
            before = self.world.world_transform(child)
            self.assertEqual(self.world.attach(child, parent, keep), espalier.Status.OK)
            self.assertEqual(self.world.parent(child), parent)
            local, seen = self.world.local_transform(child), self.world.world_transform(child)
            above = self.world.world_transform(parent)
            turn = multiply(above.rotation, local.rotation)
            np.testing.assert_allclose(seen.rotation, turn, atol=1e-6)
            moved = rotation_matrix(above.rotation) @ (np.float64(local.position) * above.scale)
            np.testing.assert_allclose(seen.position, above.position + moved, atol=1e-5)
            if keep == Keep.WORLD:
                np.testing.assert_allclose(seen.position, before.position, atol=1e-5)
                np.testing.assert_allclose(seen.scale, before.scale, rtol=1e-6)
            elif keep == Keep.LOCAL:
                self.assertEqual(local, before)
            else:
                self.assertEqual(local, Transform())

    def test_what_structure_cannot_become_is_refused(self):
        world = self.world
        root, bare = world.create(), world.create(transform=False)
        child, other = world.create(parent=root), world.create()
        dead = world.create()
        world.destroy(dead)
        for call, kind in (
            (lambda: world.attach(root, child), espalier.StructureError),
            (lambda: world.attach(other, root, before=other), espalier.StructureError),
            (lambda: world.attach(dead, root), espalier.EntityError),
            (lambda: world.attach(bare, root, inherit=Inherit.ROTATION), espalier.ComponentError),
            (lambda: world.attach(other, root, 9), espalier.ArgumentError),
            (lambda: world.detach(dead), espalier.EntityError),
            (lambda: world.move_before(child, root), espalier.StructureError),
            (lambda: world.set_inherit(root, Inherit.SCALE), espalier.StructureError),
            (lambda: world.set_inherit(child, Inherit.COPY_PARENT | Inherit.X), espalier.ArgumentError),
            (lambda: world.set_enabled(dead, False), espalier.EntityError),
            (lambda: world.set_enabled(root, False, 9), espalier.ArgumentError),
        ):
            self.assertRefused(kind, call)

    def test_calls_that_have_nothing_to_do_leave_everything(self):
        root = self.world.create()
        self.world.create(parent=root)
        before = self.world.hash(physical=True)
        self.assertEqual(self.world.detach(root), espalier.Status.OK)
        self.world.set_enabled(root, True, Extent.SUBTREE)
        self.world.set_name(root, None)
        self.assertEqual(self.world.destroy_many([]), espalier.Status.OK)
        self.assertEqual(self.world.hash(physical=True), before)

    def test_attach_below_a_scale_of_zero_is_lossy(self):
        flat, child = self.world.create(scale=0), self.world.create(position=(1, 2, 3))
        self.assertEqual(self.world.attach(child, flat), espalier.Status.LOSSY)
        self.assertTrue(self.world.attach(self.world.create(scale=2), flat))

    def test_disable_takes_what_the_extent_says(self):
        top = self.world.create()
        owned = self.world.create(parent=top)
        free = self.world.create(parent=owned, link=Link.FREE)
        for extent, count in ((Extent.ENTITY, 1), (Extent.OWNED, 2), (Extent.SUBTREE, 3)):
            self.world.set_enabled(top, False, extent)
            self.assertEqual(self.world.stats().disabled, count)
            disabled = [not self.world.is_enabled(e) for e in (top, owned, free)]
            self.assertEqual(disabled, [i < count for i in range(3)])
            self.world.translate(top, (1, 0, 0))
            self.world.set_enabled(top, True, extent)
            self.assertEqual(self.world.stats().disabled, 0)
        self.assertEqual(self.world.world_position(free).tolist(), [3, 0, 0])

    def test_each_part_can_be_kept_on_its_own(self):
        parent = self.world.create(position=(1, 0, 0), scale=2)
        child = self.world.create(position=(5, 0, 0), scale=3)
        self.world.attach(child, parent, (Keep.LOCAL, Keep.WORLD, Keep.SNAP))
        self.assertEqual(self.world.local_position(child).tolist(), [5, 0, 0])
        self.assertEqual(self.world.local_scale(child), 1)

    def test_detach_keeps_the_world_or_the_local_transform(self):
        for keep, where in ((Keep.WORLD, 11), (Keep.LOCAL, 1), (Keep.SNAP, 0)):
            parent = self.world.create(position=(10, 0, 0))
            child = self.world.create(parent=parent, position=(1, 0, 0))
            self.world.detach(child, keep)
            self.assertEqual(self.world.role(child), Role.SOLO)
            self.assertEqual(self.world.world_position(child).tolist(), [where, 0, 0])

    def test_attach_many_takes_parents_or_one_parent(self):
        parents, children = self.world.create_many(3), self.world.create_many(3)
        self.world.attach_many(children, parents)
        self.assertEqual([self.world.parent(child) for child in children], parents.tolist())
        self.world.attach_many(children, parents[0])
        self.assertEqual(self.world.children(parents[0]).tolist(), children.tolist())

    def test_attach_many_and_destroy_many_are_all_or_nothing(self):
        entities = self.world.create_many(4)
        before = self.world.hash()
        with self.assertRaises(espalier.StructureError) as caught:
            self.world.attach_many(entities[:3], [entities[3], entities[3], entities[2]])
        self.assertEqual(caught.exception.index, 2)
        with self.assertRaises(espalier.EntityError) as caught:
            self.world.destroy_many([entities[0], 12345])
        self.assertEqual(caught.exception.index, 1)
        self.assertEqual(self.world.hash(), before)

    def test_destroy_many_skips_what_an_earlier_entity_took_along(self):
        root = self.world.create()
        child = self.world.create(parent=root)
        self.assertEqual(self.world.destroy_many([root, child]), espalier.Status.OK)
        self.assertEqual(self.world.stats().entities, 0)

    def test_destroy_takes_what_the_extent_says(self):
        for extent, survivors in (
            (Extent.ENTITY, {"top", "owned", "below", "free"}),
            (Extent.OWNED, {"top", "free"}),
            (Extent.SUBTREE, {"top"}),
        ):
            self.world.clear()
            top = self.world.create(name="top")
            middle = self.world.create(name="middle", parent=top, position=(5, 0, 0))
            owned = self.world.create(name="owned", parent=middle)
            self.world.create(name="below", parent=owned)
            free = self.world.create(name="free", parent=middle, link=Link.FREE)
            self.world.destroy(middle, extent)
            names = {self.world.name(e) for e in self.world.subtree(top).entities}
            self.assertEqual(names, survivors)
            if "free" in survivors:
                self.assertEqual(self.world.world_position(free).tolist(), [5, 0, 0])

    def test_inherit_flags_keep_a_part_in_the_world(self):
        parent = self.world.create()
        label = self.world.create(parent=parent, position=(0, 1, 0), inherit=Inherit.ROTATION)
        self.assertEqual(self.world.inherit(label), Inherit.ROTATION)
        self.world.set_local(parent, rotation=(0, 0, 1, 0))
        self.assertEqual(self.world.world_rotation(label).tolist(), [0, 0, 0, 1])
        self.assertEqual(self.world.world_position(label).tolist(), [0, -1, 0])
        self.world.set_inherit(label, Inherit.NONE)
        self.assertEqual(self.world.inherit(label), Inherit.NONE)


class Navigation(WorldCase):
    def test_it_agrees_with_the_links_that_were_made(self):
        rng = np.random.default_rng(4)
        entities = self.world.create_many(200)
        parent = {int(entities[0]): NULL}
        children = {int(e): [] for e in entities}
        for i in range(1, 200):
            above = int(entities[rng.integers(i)])
            self.world.attach(entities[i], above)
            parent[int(entities[i])] = above
            children[above].append(int(entities[i]))
        for entity in map(int, entities):
            line = []
            above = parent[entity]
            while above:
                line.append(above)
                above = parent[above]
            self.assertEqual(self.world.parent(entity), parent[entity])
            self.assertEqual(self.world.depth(entity), len(line))
            self.assertEqual(self.world.root(entity), (line or [entity])[-1])
            self.assertEqual(self.world.children(entity).tolist(), children[entity])
            for first, second in zip(children[entity], children[entity][1:]):
                self.assertEqual(self.world.next_sibling(first), second)
                self.assertEqual(self.world.previous_sibling(second), first)
            for other in line:
                self.assertTrue(self.world.is_ancestor(other, entity))
                self.assertFalse(self.world.is_ancestor(entity, other))
        below = self.world.subtree(entities[0])
        self.assertEqual(len(below.entities), 200)
        for row in range(1, 200):
            above = below.entities[below.parents[row]]
            self.assertEqual(parent[int(below.entities[row])], above)
            self.assertLess(below.parents[row], row)
            self.assertEqual(below.depths[row], below.depths[below.parents[row]] + 1)
        self.assertEqual(below.parents[0], -1)

    def test_a_dead_handle_has_no_place(self):
        entity = self.world.create()
        self.world.destroy(entity)
        self.assertFalse(self.world.is_alive(entity))
        self.assertEqual(self.world.role(entity), Role.NONE)
        self.assertEqual(self.world.parent(entity), NULL)
        self.assertEqual(self.world.depth(entity), 0)
        self.assertEqual(len(self.world.children(entity)), 0)
        self.assertEqual(len(self.world.subtree(entity).entities), 0)
        self.assertEqual(self.world.name(entity), "")
        self.assertEqual((self.world.root(entity), self.world.next_sibling(entity)), (NULL, NULL))
        self.assertEqual(self.world.link(entity), Link.OWNED)
        self.assertEqual(self.world.inherit(entity), Inherit.NONE)
        self.assertFalse(self.world.is_enabled(entity))
        self.assertFalse(self.world.is_ancestor(entity, entity))
        self.assertFalse(self.world.has_component(entity, espalier.HAS_TRANSFORM))

    def test_a_subtree_has_copies(self):
        root = self.world.create(position=(1, 0, 0))
        bare = self.world.create(parent=root, transform=False)
        self.world.create(parent=bare, position=(0, 2, 0), link=Link.FREE)
        below = self.world.subtree(root)
        self.assertEqual((below.parents.tolist(), below.depths.tolist()), ([-1, 0, 1], [0, 1, 2]))
        self.assertEqual(below.locals["position"].tolist(), [[1, 0, 0], [0, 0, 0], [0, 2, 0]])
        self.assertEqual(below.worlds["position"].tolist(), [[1, 0, 0], [1, 0, 0], [1, 2, 0]])
        self.assertEqual(Transform.from_array(below.locals[1]), Transform())
        self.world.translate(root, (5, 5, 5))
        self.assertEqual(below.worlds["position"][0].tolist(), [1, 0, 0])
        self.assertEqual(len(self.world.subtree(root, Extent.OWNED).entities), 2)
        self.assertEqual(len(self.world.subtree(root, Extent.ENTITY).entities), 1)

    def test_siblings_are_moved(self):
        parent = self.world.create()
        a, b, c = (self.world.create(parent=parent) for _ in range(3))
        self.world.move_before(c, a)
        self.assertEqual(self.world.children(parent).tolist(), [c, a, b])
        self.world.move_before(c)
        self.assertEqual(self.world.children(parent).tolist(), [a, b, c])

    def test_a_name_is_given_with_the_entity_or_neither(self):
        speed = self.world.register("speed", np.int32)
        parent = self.world.create(name="parent")
        node = self.world.create(parent=parent, position=(1, 2, 3), name="node")
        self.assertEqual((self.world.name(node), self.world.parent(node)), ("node", parent))
        self.assertEqual(self.world.local_transform(node), Transform(position=(1, 2, 3)))
        bare = self.world.create(parent=parent, transform=False, name="bare")
        self.assertFalse(self.world.has_component(bare, espalier.HAS_TRANSFORM))
        before = self.world.create(parent=parent, before=node, link=Link.FREE, name="before")
        self.assertEqual(self.world.children(parent).tolist(), [before, node, bare])
        held = self.world.create(parent=parent, position=(1, 0, 0), space=Space.WORLD, name="held")
        self.assertEqual(self.world.world_position(held).tolist(), [1, 0, 0])
        self.assertEqual(self.world.name(self.world.create(name="")), "")
        for bad in ("a/b", "a\n", "a" * 256):
            count, logical = self.world.stats().entities, self.world.hash()
            for more in ({}, {"components": {speed: 1}}, {"transform": False}):
                with self.assertRaises(espalier.EspalierError):
                    self.world.create(parent=parent, name=bad, **more)
            self.assertEqual((self.world.stats().entities, self.world.hash()), (count, logical))
        self.assertRefused(
            espalier.ArgumentError, lambda: self.world.create(parent=parent, name="a/b")
        )

    def test_a_spawn_is_a_clone_below_a_parent(self):
        prefab = self.world.create(
            name="drone", position=(7, 0, 0), components=[espalier.PREFAB]
        )
        self.world.create(parent=prefab, name="arm")
        parent = self.world.create(position=(0, 100, 0))
        free = self.world.spawn(prefab)
        self.assertEqual(self.world.world_position(free).tolist(), [7, 0, 0])
        self.assertFalse(self.world.has_component(free, espalier.PREFAB))
        same = self.world.spawn(prefab, parent)
        self.assertEqual(self.world.world_position(same).tolist(), [7, 100, 0])
        moved = self.world.spawn(prefab, parent, Transform(position=(0, 0, 5)))
        self.assertEqual(self.world.world_position(moved).tolist(), [0, 100, 5])
        self.assertEqual(self.world.children(parent).tolist(), [same, moved])
        self.assertEqual(self.world.path(self.world.find("arm", moved)).split("/")[1:], ["drone", "arm"])
        self.assertRefused(espalier.EntityError, lambda: self.world.spawn(NULL, parent))
        bad = Transform(position=(np.nan, 0, 0))
        self.assertRefused(espalier.NumberError, lambda: self.world.spawn(prefab, NULL, bad))

    def test_names_and_paths(self):
        root = self.world.create(name="Wurzel äöü")
        arm = self.world.create(parent=root, name="arm")
        hand = self.world.create(parent=arm, name="hand")
        self.assertEqual(self.world.path(hand), "Wurzel äöü/arm/hand")
        self.assertEqual(self.world.find("hand", root), hand)
        self.assertEqual(self.world.find("arm/hand", root), hand)
        self.assertEqual(self.world.find("/hand", root), NULL)
        self.world.set_name(arm, None)
        self.assertEqual(self.world.find("arm", root), NULL)
        self.assertEqual(self.world.path(hand).split("/")[1].count("."), 1)
        self.assertIn('"hand"', self.world.dump(hand))
        for bad in ("", "a//b"):
            with self.assertRaises(espalier.ArgumentError):
                self.world.find(bad, root)
        with self.assertRaises(espalier.ArgumentError):
            self.world.set_name(arm, "a\0b")
        self.assertEqual(self.world.find("/Wurzel äöü"), root)
        self.assertEqual(self.world.find("/arm"), NULL)
        self.assertEqual(self.world.find("hand"), hand)
        with self.assertRaises(espalier.EntityError):
            self.world.find("hand", 12345)
        self.world.set_name(arm, "hand")
        self.assertEqual(self.world.find("hand", root), arm)
        for bad in ("a/b", "a\n", "a" * 256):
            with self.assertRaises(espalier.EspalierError):
                self.world.set_name(arm, bad)
        self.assertEqual(self.world.name(arm), "hand")


if __name__ == "__main__":
    unittest.main()
