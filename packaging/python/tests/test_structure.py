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
        self.assertEqual(self.world.find(parent, "made"), made)

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

    def test_clones_have_the_components_and_names_of_a_prefab(self):
        link = self.world.register("link", [("to", espalier.ENTITY), ("n", "i4")], references=["to"])
        prefab = self.world.create(name="drone", components=[espalier.PREFAB])
        arm = self.world.create(parent=prefab, name="arm", position=(0, 1, 0))
        self.world.add_component(prefab, link, {"to": arm, "n": 5})
        clones = self.world.instantiate_many(prefab, 3, position=(7, 0, 0))
        for clone in clones:
            child = self.world.find(clone, "arm")
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

    def test_siblings_are_moved(self):
        parent = self.world.create()
        a, b, c = (self.world.create(parent=parent) for _ in range(3))
        self.world.set_sibling(c, a)
        self.assertEqual(self.world.children(parent).tolist(), [c, a, b])
        self.world.set_sibling(c)
        self.assertEqual(self.world.children(parent).tolist(), [a, b, c])

    def test_names_and_paths(self):
        root = self.world.create(name="Wurzel äöü")
        arm = self.world.create(parent=root, name="arm")
        hand = self.world.create(parent=arm, name="hand")
        self.assertEqual(self.world.path(hand), "Wurzel äöü/arm/hand")
        self.assertEqual(self.world.find(root, "hand"), hand)
        self.assertEqual(self.world.find(root, "arm/hand"), hand)
        self.assertEqual(self.world.find(root, "/hand"), NULL)
        self.world.set_name(arm, None)
        self.assertEqual(self.world.find(root, "arm"), NULL)
        self.assertEqual(self.world.path(hand).split("/")[1].count("."), 1)
        self.assertIn('"hand"', self.world.dump(hand))
        for bad in ("", "a//b"):
            with self.assertRaises(espalier.ArgumentError):
                self.world.find(root, bad)
        with self.assertRaises(espalier.ArgumentError):
            self.world.set_name(arm, "a\0b")
        with self.assertRaises(espalier.EntityError):
            self.world.find(NULL, "arm")


if __name__ == "__main__":
    unittest.main()
