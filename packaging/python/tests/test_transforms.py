# SPDX-License-Identifier: MIT
"""Transforms as values, reads and writes, one by one and in batches."""

import pickle
import time
import unittest

import numpy as np

import espalier
from espalier import (
    NULL,
    POSE,
    TRANSFORM,
    Axes,
    Axis,
    Conversion,
    EulerOrder,
    Inherit,
    Read,
    Space,
    Status,
    Transform,
    World,
    Write,
    _arrays,
)
from support import WorldCase, multiply, rotation_matrix, unit


def random_transform(rng):
    return Transform(rng.normal(size=3), unit(rng, 1)[0], 0.5 + rng.random(), 1 + rng.random(3))


class Values(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(1)

    def test_the_types_have_the_sizes_of_the_library(self):
        self.assertEqual((POSE.itemsize, TRANSFORM.itemsize), (32, 48))

    def test_composition_is_a_product_of_matrices_without_stretch(self):
        for _ in range(50):
            parent, local = random_transform(self.rng), random_transform(self.rng)
            parent = Transform(parent.position, parent.rotation, parent.scale)
            product = np.float64(parent.matrix()) @ np.float64(local.matrix())
            np.testing.assert_allclose((parent @ local).matrix(), product, atol=2e-5)

    def test_a_matrix_is_translation_rotation_and_scale(self):
        for _ in range(50):
            t = random_transform(self.rng)
            wanted = np.eye(4)
            wanted[:3, :3] = rotation_matrix(t.rotation) * (t.scale * np.float64(t.stretch))
            wanted[:3, 3] = t.position
            np.testing.assert_allclose(t.matrix(), wanted, atol=1e-5)
            inverse = np.linalg.inv(np.float64(t.matrix()))
            np.testing.assert_allclose(t.inverse_matrix(), inverse, atol=1e-4)
            again = Transform.from_matrix(t.matrix())
            np.testing.assert_allclose(again.matrix(), t.matrix(), atol=1e-5)

    def test_relative_is_the_inverse_of_composition(self):
        for _ in range(50):
            parent, local = random_transform(self.rng), random_transform(self.rng)
            again = (parent @ local).relative_to(parent)
            np.testing.assert_allclose(again.position, local.position, atol=1e-4)
            np.testing.assert_allclose(again.scale, local.scale, rtol=1e-5)

    def test_a_sheared_matrix_has_no_transform(self):
        sheared = np.eye(4)
        sheared[0, 1] = 0.5
        with self.assertRaises(espalier.NumberError) as caught:
            Transform.from_matrix(sheared)
        self.assertEqual(caught.exception.status, Status.ERR_SHEAR)

    def test_what_is_no_transform_of_a_matrix_is_refused(self):
        for row, value in ((3, 0.5), (0, np.nan), (1, np.inf)):
            matrix = np.eye(4)
            matrix[row, 0] = value
            with self.assertRaises(espalier.NumberError):
                Transform.from_matrix(matrix)
        with self.assertRaises(ValueError):
            Transform.from_matrix(np.eye(3))

    def test_lengths_of_columns_become_a_scale_or_a_stretch(self):
        self.assertEqual(Transform.from_matrix(np.diag([2, 2, 2, 1])), Transform(scale=2))
        self.assertEqual(Transform.from_matrix(np.diag([1, 2, 3, 1])), Transform(stretch=(1, 2, 3)))

    def test_a_scale_of_zero_has_no_inverse(self):
        flat = Transform(position=(1, 2, 3), stretch=(1, 0, 1))
        self.assertEqual(flat.inverse_matrix()[1].tolist(), [0, 0, 0, 0])
        relative = Transform(position=(4, 5, 6), scale=2).relative_to(Transform(scale=0))
        self.assertEqual((relative.position.tolist(), relative.scale), ([0, 0, 0], 1))

    def test_numbers_are_checked_by_a_world_not_by_a_transform(self):
        bad = Transform(position=(np.nan, 0, 0))
        self.assertTrue(np.isnan(bad.position[0]))
        with self.assertRaises(espalier.NumberError):
            bad.normalized()
        with self.assertRaises(espalier.NumberError):
            bad.lerp(Transform(), 0.5)
        with self.assertRaises(TypeError):
            Transform() @ 2

    def test_a_transform_copies_what_it_is_made_of(self):
        value = np.array(Transform(scale=3))
        t = Transform.from_array(value)
        value["scale"] = 4
        self.assertEqual(t.scale, 3)
        self.assertFalse(np.asarray(t).flags.writeable)

    def test_points_vectors_and_directions(self):
        t = random_transform(self.rng)
        value = self.rng.normal(size=3)
        moved = t.convert(value, Conversion.POINT_TO_WORLD)
        np.testing.assert_allclose(moved, (t.matrix() @ [*value, 1])[:3], atol=1e-5)
        turned = t.convert(value, Conversion.DIRECTION_TO_WORLD)
        np.testing.assert_allclose(turned, rotation_matrix(t.rotation) @ value, atol=1e-5)
        back = t.convert(moved, Conversion.POINT_TO_LOCAL)
        np.testing.assert_allclose(back, value, atol=1e-5)

    def test_lerp_ends_at_both_ends(self):
        a, b = random_transform(self.rng).normalized(), random_transform(self.rng).normalized()
        self.assertEqual(a.lerp(b, 0), a)
        np.testing.assert_allclose(a.lerp(b, 1).matrix(), b.matrix(), atol=1e-6)
        middle = a.lerp(b, 0.5)
        np.testing.assert_allclose(middle.position, (a.position + b.position) / 2, atol=1e-6)

    def test_a_transform_does_not_change(self):
        t = Transform(position=(1, 2, 3))
        with self.assertRaises(ValueError):
            t.position[0] = 5
        with self.assertRaises(AttributeError):
            t.scale = 2
        self.assertEqual(pickle.loads(pickle.dumps(t)), t)
        self.assertEqual(hash(Transform()), hash(Transform()))
        self.assertNotEqual(t, Transform())
        self.assertEqual(eval(repr(t)), t)

    def test_rotations(self):
        axis = np.array([1.0, 2.0, -3.0])
        quat = espalier.quat_from_axis_angle(axis, 0.7)
        half = np.append(np.sin(0.35) * axis / np.linalg.norm(axis), np.cos(0.35))
        np.testing.assert_allclose(quat, half, atol=1e-7)
        back, angle = espalier.quat_to_axis_angle(quat)
        np.testing.assert_allclose(back * angle, 0.7 * axis / np.linalg.norm(axis), atol=1e-6)
        for order in EulerOrder:
            angles = np.array([0.3, -0.4, 0.5], dtype=np.float32)
            turn = espalier.quat_from_euler(angles, order)
            np.testing.assert_allclose(espalier.quat_to_euler(turn, order), angles, atol=1e-6)
            product = np.eye(3)
            for letter in order.name:
                each = np.zeros(3)
                each["XYZ".index(letter)] = 1
                angle = float(angles["XYZ".index(letter)])
                half = np.append(np.sin(angle / 2) * each, np.cos(angle / 2))
                product = product @ rotation_matrix(half)
            np.testing.assert_allclose(rotation_matrix(turn), product, atol=1e-6)
        a, b = unit(self.rng, 2)
        np.testing.assert_allclose(espalier.quat_multiply(a, b), multiply(a, b), atol=1e-6)
        vector = self.rng.normal(size=3)
        wanted = rotation_matrix(a) @ vector
        np.testing.assert_allclose(espalier.quat_rotate(a, vector), wanted, atol=1e-6)
        between = espalier.quat_between((1, 0, 0), (0, 2, 0))
        np.testing.assert_allclose(espalier.quat_rotate(between, (1, 0, 0)), (0, 1, 0), atol=1e-6)
        middle = espalier.quat_slerp((0, 0, 0, 1), quat, 0.5)
        wanted = espalier.quat_from_axis_angle(axis, 0.35)
        np.testing.assert_allclose(middle, wanted, atol=1e-6)
        nan = (np.nan, 0, 0)
        for call in (
            lambda: espalier.quat_from_axis_angle((0, 0, 0), 1),
            lambda: espalier.quat_from_axis_angle((1, 0, 0), np.inf),
            lambda: espalier.quat_to_axis_angle((*nan, 1)),
            lambda: espalier.quat_from_euler(nan),
            lambda: espalier.quat_to_euler((*nan, 1)),
            lambda: espalier.quat_between((0, 0, 0), (1, 0, 0)),
            lambda: espalier.quat_slerp(a, b, np.nan),
        ):
            with self.assertRaises(espalier.NumberError):
                call()
        with self.assertRaises(espalier.ArgumentError):
            espalier.quat_from_euler((1, 2, 3), 9)
        spread = np.zeros(8)
        spread[::2] = a
        turned = espalier.quat_rotate(spread[::2], vector)
        self.assertEqual(turned.tolist(), espalier.quat_rotate(a, vector).tolist())
        with self.assertRaises(ValueError):
            espalier.quat_rotate((0, 0, 1), (0, 0, 1))


class One(WorldCase):
    def test_set_local_sets_the_parts_that_are_given(self):
        entity = self.world.create(position=(1, 2, 3), scale=2, stretch=(1, 2, 1), user_data=5)
        self.world.set_local(entity, position=(4, 5, 6))
        self.world.set_local(entity, scale=3, user_data=8)
        wanted = Transform(position=(4, 5, 6), scale=3, stretch=(1, 2, 1), user_data=8)
        self.assertEqual(self.world.local_transform(entity), wanted)
        self.world.set_local(entity, Transform())
        self.assertEqual(self.world.local_transform(entity), Transform())

    def test_set_world_sets_the_parts_that_are_given(self):
        parent = self.world.create(position=(10, 0, 0), scale=2)
        child = self.world.create(parent=parent, position=(1, 1, 1), scale=3)
        self.world.set_world(child, position=(0, 0, 0))
        self.assertEqual(self.world.local_position(child).tolist(), [-5, 0, 0])
        self.world.set_world(child, scale=1, position=(12, 0, 0))
        self.assertEqual(self.world.local_position(child).tolist(), [1, 0, 0])
        self.assertEqual(self.world.local_scale(child), 0.5)
        self.assertEqual(self.world.world_scale(child), 1)

    def test_nothing_and_too_much_are_refused(self):
        entity = self.world.create()
        with self.assertRaises(espalier.ArgumentError):
            self.world.set_local(entity)
        with self.assertRaises(espalier.ArgumentError):
            self.world.set_local(entity, Transform(), scale=2, user_data=1)
        with self.assertRaises(espalier.ArgumentError):
            self.world.write_one(entity, 99, (1, 2, 3))
        with self.assertRaises(espalier.ArgumentError):
            self.world.read(entity, -1)

    def test_moves_are_along_the_axes_that_are_asked_for(self):
        quarter = espalier.quat_from_axis_angle((0, 0, 1), np.pi / 2)
        for axes, wanted in ((Axes.OWN, (-1, 0)), (Axes.PARENT, (0, 1)), (Axes.WORLD, (1, 0))):
            parent = self.world.create(rotation=quarter)
            child = self.world.create(parent=parent, rotation=quarter)
            self.world.translate(child, (1, 0, 0), axes)
            where = self.world.world_position(child)[:2]
            np.testing.assert_allclose(where, wanted, atol=1e-6, err_msg=str(axes))
            before = self.world.world_rotation(child)
            self.world.rotate(child, espalier.quat_from_axis_angle((1, 0, 0), 0.5), axes)
            turn = {
                Axes.OWN: lambda q: multiply(before, q),
                Axes.PARENT: lambda q: multiply(multiply(quarter, q), quarter),
                Axes.WORLD: lambda q: multiply(q, before),
            }[axes](espalier.quat_from_axis_angle((1, 0, 0), 0.5))
            np.testing.assert_allclose(self.world.world_rotation(child), turn, atol=1e-6)

    def test_look_at_and_rotate_about(self):
        entity = self.world.create(position=(1, 1, 1))
        self.world.look_at(entity, (1, 1, 9))
        np.testing.assert_allclose(self.world.world_rotation(entity), (0, 0, 0, 1), atol=1e-6)
        self.world.look_at(entity, (9, 1, 1), forward=Axis.BACK)
        back = self.world.convert(entity, (0, 0, -1), Conversion.DIRECTION_TO_WORLD)
        np.testing.assert_allclose(back, (1, 0, 0), atol=1e-6)
        self.assertEqual(self.world.look_at(entity, (1, 1, 1)), Status.LOSSY)
        half = espalier.quat_from_axis_angle((0, 1, 0), np.pi)
        self.world.rotate_about(entity, (0, 0, 0), half)
        np.testing.assert_allclose(self.world.world_position(entity), (-1, 1, -1), atol=1e-6)

    def test_relative_is_that_of_values(self):
        rng = np.random.default_rng(5)
        a = self.world.create(transform=random_transform(rng))
        b = self.world.create(transform=random_transform(rng))
        seen = self.world.relative_transform(a, b)
        wanted = self.world.world_transform(b).relative_to(self.world.world_transform(a))
        np.testing.assert_allclose(seen.matrix(), wanted.matrix(), atol=1e-5)

    def test_a_write_that_is_refused_changes_nothing(self):
        world = self.world
        parent, bare, dead = world.create(), world.create(transform=False), world.create()
        copy = world.create(parent=parent, inherit=Inherit.COPY_PARENT)
        world.destroy(dead)
        for call, kind in (
            (lambda: world.set_local(parent, position=(np.nan, 0, 0)), espalier.NumberError),
            (lambda: world.set_local(parent, scale=2, rotation=(0, 0, 0, 0)), espalier.NumberError),
            (lambda: world.set_world(bare, scale=2, user_data=1), espalier.ComponentError),
            (lambda: world.write_one(dead, Write.LOCAL_SCALE, 1), espalier.EntityError),
            (lambda: world.write_one(copy, Write.WORLD_SCALE, 2), espalier.StructureError),
            (lambda: world.look_at(dead, (1, 2, 3)), espalier.EntityError),
            (lambda: world.rotate_about(bare, (0, 0, 0), (0, 0, 0, 1)), espalier.ComponentError),
            (lambda: world.relative_transform(parent, bare), espalier.ComponentError),
            (lambda: world.convert(dead, (0, 0, 0), 0), espalier.EntityError),
            (lambda: world.convert(parent, (0, 0, 0), 9), espalier.ArgumentError),
            (lambda: world.world_matrix(bare), espalier.ComponentError),
            (lambda: world.write_many([parent], 99, (1, 2, 3)), espalier.ArgumentError),
            (lambda: world.world_matrices([parent], rows=2), espalier.ArgumentError),
        ):
            self.assertRefused(kind, call)

    def test_an_overflow_is_a_remark(self):
        root = self.world.create(scale=1e30)
        self.world.create(parent=root, position=(1e30, 0, 0))
        self.assertEqual(self.world.set_local(root, scale=1e20), Status.OVERFLOW)


class Many(WorldCase):
    def forest(self, rng, trees=20, nodes=30):
        """Return handles in random order, with random transforms, and the row of each parent."""
        count = trees * nodes
        entities = self.world.create_many(count)
        above = np.full(count, -1)
        for i in range(trees, count):
            above[i] = rng.integers(i // trees) * trees + i % trees
        self.world.attach_many(entities[trees:], entities[above[trees:]])
        self.positions = rng.normal(size=(count, 3)).astype(np.float32)
        self.rotations = unit(rng, count)
        self.scales = (0.8 + 0.4 * rng.random(count)).astype(np.float32)
        report = self.world.write(
            entities, positions=self.positions, rotations=self.rotations, scales=self.scales
        )
        self.assertEqual((report.applied, report.refused), (count, 0))
        return entities, above

    def expected(self, above):
        """Compute world positions, rotations and scales in double precision."""
        position = self.positions.astype(np.float64)
        rotation = self.rotations.astype(np.float64)
        scale = self.scales.astype(np.float64)
        for i in np.flatnonzero(above >= 0):
            p = above[i]
            turned = rotation_matrix(rotation[p]) @ (position[i] * scale[p])
            position[i] = position[p] + turned
            rotation[i] = multiply(rotation[p], rotation[i])
            scale[i] *= scale[p]
        return position, rotation, scale

    def test_worlds_are_those_that_numpy_computes(self):
        rng = np.random.default_rng(6)
        entities, above = self.forest(rng)
        position, rotation, scale = self.expected(above)
        np.testing.assert_allclose(self.world.world_positions(entities), position, atol=2e-4)
        np.testing.assert_allclose(self.world.world_rotations(entities), rotation, atol=2e-5)
        seen = self.world.world_transforms(entities)
        np.testing.assert_allclose(seen["scale"], scale, rtol=1e-4)
        matrices = self.world.world_matrices(entities)
        wanted = rotation_matrix(rotation) * scale[:, np.newaxis, np.newaxis]
        np.testing.assert_allclose(matrices[:, :3, :3], wanted, atol=2e-4)
        np.testing.assert_allclose(matrices[:, :3, 3], position, atol=2e-4)
        self.assertBits(matrices[:, 3], np.tile(np.float32([0, 0, 0, 1]), (len(entities), 1)))
        point = rng.normal(size=3)
        moved = matrices @ np.append(point, 1)
        for i in range(0, len(entities), 37):
            one = self.world.convert(entities[i], point, Conversion.POINT_TO_WORLD)
            np.testing.assert_allclose(moved[i, :3], one, atol=1e-4)

    def test_many_reads_have_the_bits_of_single_ones(self):
        rng = np.random.default_rng(7)
        self.use_cells()
        entities, _ = self.forest(rng, 4, 50)
        self.world.write_many(entities[:4], Write.CELL, rng.integers(-9, 10, size=(4, 3)))
        self.world.write(entities, stretches=rng.normal(size=(200, 3)), user_data=np.arange(200))
        for kind in Read:
            many = self.world.read_many(entities, kind)
            self.assertBits(many, np.array([self.world.read(e, kind) for e in entities]))

    def test_many_matrices_have_the_bits_of_single_ones(self):
        rng = np.random.default_rng(8)
        entities = self.world.create_many(700)
        turns = unit(rng, 700)
        # Rotations with zeros and ones in them, of both signs.
        turns[:300] = np.sign(turns[:300]) * (rng.random((300, 4)) < 0.4)
        turns[np.all(turns == 0, axis=1)] = (0, -0.0, 0, -1)
        stretches = np.where(rng.random((700, 3)) < 0.3, 0, rng.normal(size=(700, 3)))
        self.world.write(
            entities,
            rotations=turns,
            positions=rng.normal(size=(700, 3)),
            scales=rng.normal(size=700),
            stretches=stretches,
        )
        single = np.array([self.world.world_matrix(entity) for entity in entities])
        self.assertBits(self.world.world_matrices(entities), single)
        self.assertBits(self.world.world_matrices(entities, rows=3), single[:, :3])

    def test_order_and_repeats_do_not_matter(self):
        rng = np.random.default_rng(9)
        entities, _ = self.forest(rng)
        rows = rng.integers(len(entities), size=5000)
        all_of_them = self.world.world_positions(entities)
        self.assertBits(self.world.world_positions(entities[rows]), all_of_them[rows])

    def test_handles_may_be_a_list_a_slice_or_a_field(self):
        entities = self.world.create_many(10)
        self.world.write(entities, positions=np.arange(30).reshape(10, 3))
        wanted = np.arange(30, dtype=np.float32).reshape(10, 3)
        self.assertBits(self.world.world_positions(entities.tolist()), wanted)
        self.assertBits(self.world.world_positions(tuple(entities)), wanted)
        self.assertBits(self.world.world_positions(entities[::3]), wanted[::3])
        self.assertBits(self.world.world_positions(entities[::-1]), wanted[::-1])
        bones = np.zeros(10, dtype=[("weight", "f4"), ("entity", "i8"), ("place", "f4", 3)])
        bones["entity"], bones["place"] = entities, wanted + 1
        self.assertBits(self.world.world_positions(bones["entity"]), wanted)
        self.world.write(bones["entity"], positions=bones["place"])
        self.assertBits(self.world.world_positions(entities), wanted + 1)
        for fields in ([("pad", "u1"), ("entity", "i8")], [("entity", "i8"), ("pad", "u1")]):
            odd = np.zeros(10, dtype=fields)
            odd["entity"] = entities
            self.assertBits(self.world.world_positions(odd["entity"]), wanted + 1)
            self.assertBits(self.world.world_matrices(odd["entity"])[:, :3, 3], wanted + 1)
        self.assertEqual(self.world.world_positions([]).shape, (0, 3))
        self.assertEqual(self.world.world_matrices([]).shape, (0, 4, 4))
        self.assertEqual(self.world.write([], positions=np.zeros((0, 3))).applied, 0)
        self.assertEqual(self.world.world_positions(entities[:1]).shape, (1, 3))

    def test_the_library_gets_aligned_arrays(self):
        entities = self.world.create_many(3)
        odd = np.frombuffer(b"x" + entities.tobytes(), np.int64, offset=1)
        floats = np.frombuffer(b"x" + np.arange(3, dtype=np.float32).tobytes(), np.float32, offset=1)
        self.assertFalse(odd.flags.aligned or floats.flags.aligned)
        vector = np.dtype((np.float32, 3))
        for array in (
            _arrays.handles(odd),
            _arrays.strided_handles(odd)[0],
            _arrays.one(floats, vector),
            _arrays.values(floats.reshape(1, 3), 1, vector)[0],
            _arrays.values(floats, 2, vector)[0],
        ):
            self.assertTrue(array.flags.aligned and array.ctypes.data % 4 == 0)
        self.assertTrue(self.world.are_alive(odd).all())
        self.world.write(odd, positions=floats)
        self.assertEqual(self.world.world_positions(odd).tolist(), [[0, 1, 2]] * 3)

    def test_values_may_be_one_for_all_or_lie_anywhere(self):
        entities = self.world.create_many(6)
        self.world.write(entities, positions=(1, 2, 3), scales=2)
        self.assertEqual(self.world.world_positions(entities).tolist(), [[1, 2, 3]] * 6)
        values = np.arange(36, dtype=np.float32).reshape(6, 6)
        for part in (values[:, :3], values[:, ::2], values[::-1, 3:], values[:, 2::-1], values.T[:, :3]):
            self.world.write(entities, positions=part)
            self.assertBits(self.world.local_positions(entities), part)
        self.world.write(entities, positions=values[:, :3].astype(np.float64))
        self.assertBits(self.world.local_positions(entities), values[:, :3])
        for bad in (np.zeros((5, 3)), np.zeros((6, 4)), np.zeros((6, 1, 3))):
            with self.assertRaises(ValueError):
                self.world.write(entities, positions=bad)
        with self.assertRaises(espalier.ArgumentError):
            self.world.write(entities)
        before = self.world.hash()
        with self.assertRaises(ValueError):
            self.world.write(entities, positions=(7, 7, 7), stretches=np.ones((5, 3)))
        self.assertEqual(self.world.hash(), before)

    def test_a_later_part_that_is_refused_leaves_the_earlier_ones_written(self):
        entities = self.world.create_many(3)
        self.world.attach_many(entities[1:], entities[0])
        with self.world.query():
            with self.assertRaises(espalier.BusyError):
                self.world.write(entities, positions=(1, 2, 3), stretches=(1, 2, 1))
        self.assertEqual(self.world.local_positions(entities).tolist(), [[1, 2, 3]] * 3)
        self.assertEqual(self.world.stretch(entities[0]).tolist(), [1, 1, 1])

    def test_an_array_to_write_to_must_fit(self):
        entities = self.world.create_many(5)
        self.world.write(entities, positions=(1, 2, 3))
        out = np.empty((5, 3), dtype=np.float32)
        self.assertIs(self.world.world_positions(entities, out), out)
        self.assertEqual(out.tolist(), [[1, 2, 3]] * 5)
        locked = out.copy()
        locked.flags.writeable = False
        for bad in (
            np.empty((4, 3), dtype=np.float32),
            np.empty((5, 3)),
            np.empty((5, 6), dtype=np.float32)[:, ::2],
            locked,
        ):
            with self.assertRaises(ValueError):
                self.world.world_positions(entities, bad)

    def test_world_writes_below_written_parents_use_the_new_parents(self):
        parents = self.world.create_many(50)
        children = self.world.create_many(50)
        self.world.attach_many(children, parents)
        rng = np.random.default_rng(10)
        where = rng.normal(size=(100, 3)).astype(np.float32)
        both = np.concatenate([children, parents])
        self.world.write(both, positions=where, space=Space.WORLD)
        np.testing.assert_allclose(self.world.world_positions(both), where, atol=1e-5)

    def test_poses_of_the_world_are_written_and_read(self):
        parents = self.world.create_many(3, position=(1, 2, 3), scale=2)
        both = np.array([self.world.create(parent=p, stretch=(1, 2, 3)) for p in parents])
        poses = np.zeros(3, dtype=POSE)
        poses["rotation"], poses["scale"] = (0, 0, 1, 0), 4
        poses["position"] = [(5, 0, 0), (6, 0, 0), (7, 0, 0)]
        self.world.write_many(both, espalier.Write.WORLD_POSE, poses)
        self.assertBits(self.world.world_poses(both), poses)
        self.assertEqual(self.world.stretch(both[0]).tolist(), [1, 2, 3])
        locals_ = self.world.local_poses(both)
        self.assertBits(locals_["position"], self.world.local_positions(both))
        self.assertBits(locals_["scale"], np.full(3, 2, dtype=np.float32))
        report = self.world.write(
            both, positions=(0, 0, 9), rotations=(0, 0, 0, 1), scales=1, space=Space.WORLD
        )
        self.assertEqual(report.applied, 3)  # one batch
        self.assertEqual(self.world.world_positions(both).tolist(), [[0, 0, 9]] * 3)
        self.assertEqual(self.world.world_scale(both[1]), 1)

    def test_the_transform_is_a_component_with_a_value(self):
        has = espalier.HAS_TRANSFORM
        parent = self.world.create(position=(1, 0, 0))
        entity = self.world.create(parent=parent, position=(0, 2, 0))
        self.assertEqual(self.world.get_component(entity, has), Transform(position=(0, 2, 0)))
        moved = Transform(position=(0, 3, 0), scale=2, stretch=(1, 2, 1), user_data=7)
        self.assertEqual(self.world.set_component(entity, has, moved), Status.OK)
        self.assertEqual(self.world.local_transform(entity), moved)
        self.assertEqual(self.world.world_position(entity).tolist(), [1, 3, 0])
        self.assertBits(
            self.world.get_components([parent, entity], has),
            self.world.local_transforms([parent, entity]),
        )
        self.world.set_component(entity, has, {"position": (9, 0, 0)})
        self.assertEqual(self.world.local_transform(entity), Transform(position=(9, 0, 0)))
        self.world.set_component(entity, has, None)
        self.assertEqual(self.world.local_transform(entity), Transform())
        self.world.remove_component(entity, has)
        for call in (
            lambda: self.world.get_component(entity, has),
            lambda: self.world.set_component(entity, has, moved),
        ):
            self.assertRefused(espalier.ComponentError, call)
        self.world.add_component(entity, has, moved)
        self.assertEqual(self.world.local_transform(entity), moved)
        bare = self.world.create(transform=False)
        self.world.add_component(bare, has)
        self.assertEqual(self.world.local_transform(bare), Transform())
        bad = Transform(position=(np.nan, 0, 0))
        self.assertRefused(
            espalier.NumberError, lambda: self.world.set_component(entity, has, bad)
        )
        many = np.array([parent, entity])
        values = self.world.local_transforms(many)
        self.assertRefused(
            espalier.ArgumentError, lambda: self.world.set_components(many, has, values)
        )
        with self.world.query([has]) as query:
            self.assertRefused(espalier.ArgumentError, lambda: query.read(has))

    def test_whole_transforms_are_written(self):
        entities = self.world.create_many(3)
        values = np.zeros(3, dtype=TRANSFORM)
        values["rotation"], values["scale"] = (0, 0, 1, 0), (1, 2, 3)
        values["stretch"], values["user_data"] = 1, (7, 8, 9)
        self.world.write(entities, transforms=values)
        self.assertBits(self.world.local_transforms(entities), values)
        self.assertEqual(self.world.user_data(entities[2]), 9)
        with self.world.query() as query:
            rows = query.entities()
            self.assertBits(query.transforms(Read.WORLD_TRANSFORM), self.world.world_transforms(rows))

    def test_a_write_that_is_refused_in_part_does_the_rest(self):
        entities = self.world.create_many(5)
        self.world.destroy(entities[2])
        with self.assertRaises(espalier.PartlyError) as caught:
            self.world.write(entities, positions=(1, 2, 3))
        error = caught.exception
        self.assertEqual((error.status, error.index, error.cause), (Status.PARTLY, 2, Status.ERR_DEAD))
        self.assertEqual((error.report.applied, error.report.refused), (4, 1))
        self.assertEqual(pickle.loads(pickle.dumps(error)).report, error.report)
        alive = entities[[0, 1, 3, 4]]
        self.assertEqual(self.world.world_positions(alive).tolist(), [[1, 2, 3]] * 4)
        with self.assertRaises(espalier.PartlyError):
            self.world.write(entities, scales=3, user_data=7, space=Space.WORLD)
        self.assertEqual((self.world.local_scale(alive[0]), self.world.user_data(alive[0])), (3, 0))
        report = self.world.write(entities, positions=(4, 5, 6), scales=2, strict=False)
        self.assertEqual((report.applied, report.refused, report.first_refused), (8, 2, 2))
        self.assertEqual(report.first_status, Status.ERR_DEAD)
        values = np.ones((5, 3))
        values[3, 1] = np.inf
        report = self.world.write(entities, positions=values, strict=False)
        self.assertEqual((report.refused, report.first_refused), (2, 2))

    def test_a_read_that_is_refused_names_the_first_entity(self):
        entities = self.world.create_many(300)
        self.world.write(entities, positions=(1, 2, 3))
        bare = self.world.create(transform=False)
        mixed = entities.copy()
        mixed[250], mixed[140] = NULL, bare
        for call in (self.world.world_positions, self.world.world_matrices):
            with self.assertRaises(espalier.ComponentError) as caught:
                call(mixed)
            self.assertEqual(caught.exception.index, 140)
            self.assertEqual(caught.exception.status, Status.ERR_NO_TRANSFORM)
            seen = call(mixed, strict=False)
            lost = np.isnan(seen).reshape(300, -1)
            self.assertEqual(np.flatnonzero(lost.any(axis=1)).tolist(), [140, 250])
            self.assertTrue(lost[[140, 250]].all())
        whole = self.world.world_transforms(mixed, strict=False)
        self.assertTrue(np.isnan(whole["position"][140]).all())
        self.assertEqual(whole["user_data"][140], 0)

    def test_every_kind_of_write_takes_its_type(self):
        self.use_cells()
        entities = self.world.create_many(4)
        self.world.start_motion()
        kinds = {(3,): (1, 2, 3), (4,): (0, 0, 0, 1), (): 2}
        for kind in Write:
            dtype = espalier._types.WRITE_TYPES[kind]
            value = Transform() if dtype == TRANSFORM else None
            if dtype == POSE:
                value = np.array(((0, 0, 0, 1), (1, 2, 3), 2), dtype=POSE)
            value = kinds[dtype.shape] if value is None else np.asarray(value)
            self.world.write_many(entities[1:], kind, value)
            self.world.write_one(entities[0], kind, value)
            for read in (Read.LOCAL_TRANSFORM, Read.PREVIOUS_LOCAL_POSE, Read.CELL):
                single, *many = self.world.read_many(entities, read)
                for each in many:
                    self.assertBits(each, single)
        self.assertGreater(self.world.local_scale(entities[1]), 1)


class Speed(WorldCase):
    def test_one_call_for_a_hundred_thousand_handles(self):
        """Print times; a time decides no test."""
        count = 100_000
        roots = self.world.create_many(count // 100)
        entities = self.world.create_many(count)
        self.world.attach_many(entities, roots[np.arange(count) // 100])
        values = np.random.default_rng(11).random((count, 3)).astype(np.float32)
        positions = np.empty((count, 3), dtype=np.float32)
        matrices = np.empty((count, 4, 4), dtype=np.float32)
        calls = {
            "world_positions": lambda: self.world.world_positions(entities, positions),
            "world_matrices": lambda: self.world.world_matrices(entities, matrices),
            "write": lambda: self.world.write(entities, positions=values),
        }
        parts = []
        for name, call in calls.items():
            times = []
            for _ in range(20):
                start = time.perf_counter()
                call()
                times.append(time.perf_counter() - start)
            parts.append(f"{name} {min(times) * 1e3:.2f} ms")
        print(f"speed: {count} handles: {', '.join(parts)} (best of 20)")
        self.world.world_positions(entities, positions)
        self.assertBits(positions, values)


class Copies(WorldCase):
    def test_world_transforms_are_copied_from_another_world(self):
        shown = World(tag=2)
        self.addCleanup(shown.close)
        car = self.world.create(parent=self.world.create(position=(1, 0, 0)), position=(0, 2, 0))
        lamp, smoke, dead = shown.create_many(3).tolist()
        shown.destroy(dead)
        report = shown.copy_world_transforms([lamp, smoke], self.world, [car, car])
        self.assertEqual((report.applied, report.refused), (2, 0))
        self.assertEqual(shown.world_position(smoke).tolist(), [1, 2, 0])
        with self.assertRaises(espalier.PartlyError) as caught:
            shown.copy_world_transforms([smoke, dead, lamp], self.world, [car, car, NULL])
        self.assertEqual((caught.exception.index, caught.exception.report.refused), (1, 2))
        loose = shown.copy_world_transforms([lamp], self.world, [NULL], strict=False)
        self.assertEqual(loose.first_status, Status.ERR_NULL_ENTITY)
        # Within one world all are read before any is written.
        shown.write([lamp, smoke], positions=[(1, 1, 1), (2, 2, 2)])
        shown.copy_world_transforms([lamp, smoke], shown, [smoke, lamp])
        self.assertEqual(shown.world_positions([lamp, smoke]).tolist(), [[2, 2, 2], [1, 1, 1]])
        with self.assertRaises(ValueError):
            shown.copy_world_transforms([lamp], self.world, [car, car])
        self.world.close()
        with self.assertRaises(espalier.ClosedError):
            shown.copy_world_transforms([lamp], self.world, [car])


if __name__ == "__main__":
    unittest.main()
