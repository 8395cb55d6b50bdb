# SPDX-License-Identifier: MIT
"""Renderables, mirrors, and what cameras see."""

import gc
import unittest

import numpy as np

import espalier
from espalier import (
    BOUNDS,
    LAYERS,
    NO_KEY,
    RENDERABLE,
    Camera,
    Clip,
    Form,
    LayersFlag,
    RenderableFlag,
    Status,
    World,
    Write,
)
from support import WorldCase, unit

NOTHING = Camera(planes=[(1, 0, 0, -1e6)])


def between(least, most, **more):
    """Return a camera that sees what is between two numbers of x."""
    return Camera(planes=[(1, 0, 0, -least), (-1, 0, 0, most)], **more)


class RowCase(WorldCase):
    """A test with boxes in a row, at x of 0, 10, 20 and so on, with keys 1 and 2 by turns."""

    count = 9
    options = {}

    def setUp(self):
        super().setUp()
        self.drawn = self.world.renderables(**self.options)
        self.visible = self.world.visible()
        self.boxes = [
            self.world.create(
                position=(10 * i, 0, 0),
                components={
                    self.drawn.bounds: ((0, 0, 0), (0.5, 0.5, 0.5)),
                    self.drawn.renderable: (1 + i % 2, 100 + i, 0),
                },
            )
            for i in range(self.count)
        ]

    def see(self, camera, **options):
        """Return the handles that a camera sees, in the order in which they are written."""
        self.visible.cull(self.drawn.mirror, camera, **options)
        return self.visible.write(entities=True).entities.tolist()


class Updates(RowCase):
    options = {"user_size": 4}

    def test_an_update_tells_what_came_moved_and_went(self):
        self.assertIsNone(self.drawn.mirror)
        self.drawn.reserve(100)
        first = self.drawn.update()
        self.assertEqual(
            (first.status, first.renderables, first.added, first.moved, first.removed, first.number),
            (Status.OK, 9, 9, 0, 0, 1),
        )
        mirror = self.drawn.mirror
        self.assertEqual((mirror.number, mirror.renderables), (1, 9))
        stats = self.world.stats()
        self.assertEqual(stats.renderables, 9)
        self.assertTrue(0 < stats.bytes_renderables < stats.bytes_changes < stats.bytes)
        self.assertIs(self.drawn.mirror, mirror)
        self.world.set_local(self.boxes[0], position=(0, 1, 0))
        self.world.destroy(self.boxes[8])
        second = self.drawn.update()
        self.assertEqual((second.renderables, second.moved, second.removed), (8, 1, 1))
        self.world.set_component(self.boxes[1], self.drawn.bounds, {"half": (-1, 1, 1)})
        third = self.drawn.update()
        self.assertEqual((third.status, third.bad, third.first_bad), (Status.PARTLY, 1, self.boxes[1]))
        self.assertRaises(espalier.ClosedError, mirror.changed)
        self.assertEqual(mirror.number, 1)

    def test_the_components_are_those_of_the_world(self):
        for name, dtype in (("bounds", BOUNDS), ("renderable", RENDERABLE), ("layers", LAYERS)):
            component = getattr(self.drawn, name)
            self.assertEqual((component.name, component.dtype), (name, dtype))
            self.assertIs(self.world.component(name), component)
        value = self.world.get_component(self.boxes[3], self.drawn.renderable)
        self.assertEqual(value["user_data"], 103)
        self.assertRefused(espalier.ArgumentError, self.world.renderables, status=Status.ERR_EXISTS)
        other = World()
        other.register("bounds", np.float32)
        with self.assertRaises(espalier.ArgumentError):
            other.renderables()
        other.close()

    def test_a_component_that_is_registered_before_keeps_its_type(self):
        with World() as world:
            box = world.register("bounds", np.dtype((np.float32, 6)))
            drawn = world.renderables()
            self.assertIs(drawn.bounds, box)
            world.create(components={box: (0, 0, 0, 1, 1, 1), drawn.renderable: (1, 0, 0)})
            self.assertEqual(drawn.update().renderables, 1)

    def test_a_mirror_has_bytes_of_the_program(self):
        self.drawn.update(b"abcd")
        self.assertEqual(self.drawn.mirror.user, b"abcd")
        self.drawn.update(np.array([7], dtype=np.uint32))
        self.assertEqual(np.frombuffer(self.drawn.mirror.user, np.uint32).tolist(), [7])
        with self.assertRaisesRegex(ValueError, "user must be 4 bytes, not 3"):
            self.drawn.update(b"abc")
        with self.assertRaises(TypeError):
            self.drawn.update("abcd")
        self.drawn.update()
        self.assertEqual(self.drawn.mirror.user, b"\0\0\0\0")

    def test_an_update_is_allowed_in_a_query(self):
        with self.world.query() as query:
            self.world.set_local(int(query.entities()[0]), position=(5, 0, 0))
            self.assertEqual(self.drawn.update().renderables, 9)
            self.assertRefused(espalier.BusyError, self.drawn.close)
        self.drawn.close()


class Clusters(WorldCase):
    def test_changed_clusters_are_all_that_a_copy_needs(self):
        rng = np.random.default_rng(1)
        drawn = self.world.renderables(cell_size=1)
        box = {drawn.bounds: ((0, 0, 0), (1, 1, 1)), drawn.renderable: (1, 0, 0)}
        nodes = self.world.create_many(700, components=box)
        self.world.set_components(nodes, drawn.renderable, [(i % 3, i, 0) for i in range(700)])
        self.world.write(nodes, positions=rng.uniform(-50, 50, (700, 3)), rotations=unit(rng, 700))
        copy, since = {}, 0
        for _ in range(10):
            moved = rng.choice(nodes, 5)
            self.world.write(moved, positions=rng.uniform(-50, 50, (5, 3)))
            self.world.destroy(int(nodes[-1]))
            nodes = nodes[:-1]
            drawn.update()
            mirror = drawn.mirror
            for cluster in mirror.changed(since).tolist():
                self.assertLess(cluster, mirror.clusters)
                copy[cluster] = mirror.write(cluster, entities=True, user_data=True)
            since = mirror.number
            self.assertEqual(len(mirror.changed(since)), 0)
            entities = np.concatenate([part.entities for part in copy.values()])
            order = np.argsort(entities)
            self.assertBits(entities[order], np.sort(nodes))
            matrices = np.concatenate([part.matrices for part in copy.values()])[order]
            self.assertBits(matrices, self.world.world_matrices(entities[order], rows=3))
            words = np.concatenate([part.user_data for part in copy.values()])[order]
            values = self.world.get_components(entities[order], drawn.renderable)
            self.assertBits(words, values["user_data"])
        with self.assertRaises(espalier.ArgumentError):
            mirror.write(mirror.clusters)


class Seen(RowCase):
    def test_what_each_camera_sees_is_grouped_by_key(self):
        self.assertEqual((len(self.visible.groups()), self.visible.count()), (0, 0))
        self.drawn.update()
        cameras = [between(15, 55), Camera(), Camera(layers=0)]
        self.visible.cull(self.drawn.mirror, cameras)
        self.assertEqual(self.visible.groups().tolist(), [(1, 0, 2), (2, 2, 2)])
        self.assertEqual([self.visible.count(i) for i in range(4)], [4, 9, 0, 0])
        seen = self.visible.write(previous=True, entities=True, user_data=True, sizes=True)
        self.assertEqual(set(seen.entities[:2].tolist()), {self.boxes[2], self.boxes[4]})
        self.assertEqual(set(seen.entities[2:].tolist()), {self.boxes[3], self.boxes[5]})
        self.assertBits(seen.matrices, self.world.world_matrices(seen.entities, rows=3))
        self.assertBits(seen.previous, seen.matrices)
        self.assertEqual([self.boxes[word - 100] for word in seen.user_data], seen.entities.tolist())
        self.assertEqual(seen.sizes.tolist(), [0, 0, 0, 0])
        self.assertEqual(self.visible.write()[1:], (None, None, None, None, None))
        self.assertEqual(len(self.visible.write(2, entities=True).entities), 0)
        with self.assertRaises(espalier.ArgumentError):
            self.visible.write(3)

    def test_forms_of_poses_are_those_of_the_world(self):
        rng = np.random.default_rng(2)
        self.world.set_local(self.boxes[1], position=(10, 2, 3), rotation=unit(rng, 1)[0], stretch=(1, 2, 1))
        self.drawn.update()
        self.visible.cull(self.drawn.mirror, between(9, 11, origin=(1, 2, 1e9)))
        wanted = self.world.world_matrices([self.boxes[1]])
        wanted[0, :3, 3] = (9, 0, np.float32(3 - 1e9))
        made = {form: self.visible.write(form=form).matrices for form in Form}
        self.assertBits(made[Form.MATRIX_3X4], wanted[:, :3])
        self.assertBits(made[Form.MATRIX_4X4], wanted.transpose(0, 2, 1))
        self.assertBits(made[Form.MATRIX_4X3], wanted[:, :3].transpose(0, 2, 1))
        pose = self.world.world_poses([self.boxes[1]])
        pose["position"] = wanted[:, :3, 3]
        self.assertBits(made[Form.POSE], pose)

    def test_the_set_is_that_of_every_box_by_itself(self):
        rng = np.random.default_rng(3)
        count = 2000
        box = {self.drawn.bounds: None, self.drawn.renderable: (1, 0, 0)}
        nodes = self.world.create_many(count, components=box)
        self.world.write(
            nodes,
            positions=rng.uniform(-20, 20, (count, 3)),
            rotations=unit(rng, count),
            scales=rng.uniform(0.5, 2, count),
        )
        values = np.zeros(count, BOUNDS)
        values["center"] = rng.uniform(-1, 1, (count, 3))
        values["half"] = rng.uniform(0, 1, (count, 3))
        self.world.set_components(nodes, self.drawn.bounds, values)
        self.drawn.update()
        matrices = self.world.world_matrices(nodes).astype(np.float64)
        centers = np.einsum("nij,nj->ni", matrices[:, :3, :3], values["center"]) + matrices[:, :3, 3]
        halves = np.einsum("nij,nj->ni", np.abs(matrices[:, :3, :3]), values["half"])
        for _ in range(10):
            normals = rng.normal(size=(4, 3))
            normals /= np.linalg.norm(normals, axis=1, keepdims=True)
            planes = np.column_stack([normals, rng.uniform(0, 10, 4)]).astype(np.float32)
            inside = (
                centers @ planes[:, :3].T + halves @ np.abs(planes[:, :3].T) + planes[:, 3]
            ).min(axis=1)
            seen = np.isin(nodes, self.see(Camera(planes=planes)))
            self.assertTrue(seen[inside > 1e-4].all())
            self.assertFalse(seen[inside < -1e-4].any())
            self.assertTrue(0 < seen.sum() < count)

    def test_a_camera_is_made_of_a_matrix(self):
        self.drawn.update()
        matrix = np.diag([1 / 20, 1, 0.25, 1])
        matrix[2, 3] = 0.5
        for camera in (Camera(matrix, clip=Clip.ZERO_TO_ONE), Camera(matrix.tolist())):
            self.assertEqual(set(self.see(camera)), set(self.boxes[:3]))
        with self.assertRaises(espalier.NumberError):
            Camera(np.full((4, 4), np.nan))
        for bad, kind in (
            ({"matrix": np.eye(3)}, ValueError),
            ({"matrix": "text"}, TypeError),
            ({"matrix": np.eye(4), "planes": []}, espalier.ArgumentError),
            ({"matrix": np.eye(4), "clip": 2}, espalier.ArgumentError),
            ({"planes": [(1, 0, 0)]}, ValueError),
            ({"planes": [(1, 0, 0, 0)] * 9}, espalier.ArgumentError),
            ({"layers": -1}, ValueError),
            ({"layers": 2**32}, ValueError),
            ({"origin": (1, 2)}, ValueError),
            ({"eye": ("1", "2", "3")}, TypeError),
            ({"pixels": "1"}, TypeError),
            ({"least_size": None}, TypeError),
            ({"orthographic": 1}, TypeError),
        ):
            with self.subTest(bad), self.assertRaises(kind):
                Camera(**bad)

    def test_what_cannot_be_culled_leaves_the_result_before(self):
        self.drawn.update()
        self.assertEqual(len(self.see(Camera())), 9)
        mirror = self.drawn.mirror
        other = World()
        foreign = other.renderables()
        foreign.update()
        for call, kind in (
            (lambda: self.visible.cull(None, Camera()), espalier.ArgumentError),
            (lambda: self.visible.cull(foreign.mirror, Camera()), espalier.ArgumentError),
            (lambda: self.visible.cull(mirror, [Camera()] * 65), espalier.ArgumentError),
            (lambda: self.visible.cull(mirror, Camera(), alpha=1.5), espalier.ArgumentError),
            (lambda: self.visible.cull(mirror, between(np.nan, 1)), espalier.NumberError),
        ):
            self.assertRefused(kind, call)
        for call in (
            lambda: self.visible.cull(mirror, [None]),
            lambda: self.visible.cull(mirror, Camera(), alpha="1"),
            lambda: self.visible.cull(mirror, Camera(), by_entity=1),
            lambda: self.visible.write(entities=1),
        ):
            self.assertRaises(TypeError, call)
        with self.assertRaises(espalier.ArgumentError):
            self.visible.write(form=4)
        self.assertEqual(self.visible.count(), 9)
        self.visible.cull(mirror, [Camera()] * 64)
        self.assertEqual(self.visible.count(63), 9)
        other.close()

    def test_layers_keys_and_flags_say_who_sees_what(self):
        drawn, boxes = self.drawn, self.boxes[:4]
        self.world.destroy_many(self.boxes[4:])
        top = self.world.create(components={drawn.layers: (0b10, 0)})
        self.world.attach(boxes[0], top)
        self.world.attach(boxes[1], top)
        self.world.add_component(boxes[1], drawn.layers, (0b111, LayersFlag.ABSOLUTE))
        self.world.set_component(boxes[2], drawn.renderable, (NO_KEY, 0, 0))
        self.world.set_component(boxes[3], drawn.renderable, (5, 0, RenderableFlag.ALWAYS))
        drawn.update()
        self.assertEqual(set(self.see(Camera(layers=0b001))), {boxes[1], boxes[3]})
        self.assertEqual(set(self.see(Camera(layers=0b010))), {boxes[0], boxes[1], boxes[3]})
        self.assertEqual(self.see(NOTHING), [boxes[3]])
        self.assertEqual(drawn.mirror.renderables, 4)
        self.world.set_component(top, drawn.layers, (0b01, 0))
        self.world.set_enabled(boxes[3], False)
        drawn.update()
        self.assertEqual(set(self.see(Camera(layers=0b001))), {boxes[0], boxes[1]})

    def test_a_key_of_levels_stands_for_one_by_the_size(self):
        key = self.drawn.add_lods([(7, 100), (8, 10)])
        self.world.set_component(self.boxes[0], self.drawn.renderable, (key, 0, 0))
        self.drawn.update()

        def keys_at(z, pixels=1000, **more):
            camera = between(-1, 1, eye=(0, 0, z), pixels=pixels, **more)
            self.visible.cull(self.drawn.mirror, camera)
            return self.visible.groups()["key"].tolist()

        self.assertEqual([keys_at(z) for z in (2, 50, 1000)], [[7], [8], []])
        self.assertEqual(keys_at(50, pixels=0), [7])
        self.assertEqual(keys_at(50, least_size=50), [])
        self.assertEqual(keys_at(1000, pixels=20, orthographic=True), [8])
        keys_at(50)
        self.assertTrue(10 <= self.visible.write(sizes=True).sizes[0] < 100)
        for bad in ([], [(1, 1)] * 9, [(1, 1), (2, 2)], [(1, np.nan)]):
            self.assertRefused(espalier.ArgumentError, lambda bad=bad: self.drawn.add_lods(bad))
        for bad, kind in (([(-1, 1)], ValueError), ([("1", 1)], TypeError), ([(1, "1")], TypeError)):
            with self.assertRaises(kind):
                self.drawn.add_lods(bad)

    def test_between_two_updates_poses_are_blended(self):
        self.drawn.update()
        self.world.set_local(self.boxes[0], position=(4, 0, 0))
        self.drawn.update()
        camera = between(-1, 8)
        for alpha, x in ((None, 4), (0, 0), (0.25, 1), (1, 4)):
            self.visible.cull(self.drawn.mirror, camera, alpha=alpha)
            self.assertEqual(self.visible.write().matrices[:, 0, 3].tolist(), [x])
        self.visible.cull(self.drawn.mirror, camera)
        self.assertEqual(self.visible.write(previous=True).previous[0, 0, 3], 0)
        by_entity = self.see(Camera(), by_entity=True)
        self.assertEqual(by_entity, [self.boxes[i] for i in (0, 2, 4, 6, 8, 1, 3, 5, 7)])


class Cells(WorldCase):
    def test_a_camera_in_a_cell_sees_what_is_near_it(self):
        self.use_cells()
        drawn, visible = self.world.renderables(), self.world.visible()
        box = {drawn.bounds: ((0, 0, 0), (1, 1, 1)), drawn.renderable: (1, 0, 0)}
        made = self.world.create(position=(5, 0, 0), components=box)
        self.world.write_one(made, Write.CELL, (500000, 0, -3))
        drawn.update()
        near = between(0, 10, cell=(500000, 0, -3), origin=(4, 0, 0))
        visible.cull(drawn.mirror, [near, between(0, 10)])
        self.assertEqual([visible.count(0), visible.count(1)], [1, 0])
        seen = visible.write(cells=True)
        self.assertEqual(seen.cells.tolist(), [[500000, 0, -3]])
        self.assertEqual(seen.matrices[0, 0, 3], 1)
        self.assertIsNone(visible.write().cells)
        self.world.rebase((-500000, 0, 0))
        drawn.update()
        self.assertEqual(drawn.mirror.write(0, cells=True).cells.tolist(), [[0, 0, -3]])

    def test_a_camera_in_a_cell_needs_a_world_with_cells(self):
        drawn, visible = self.world.renderables(), self.world.visible()
        drawn.update()
        self.assertRefused(
            espalier.UnsupportedError,
            lambda: visible.cull(drawn.mirror, Camera(cell=(1, 0, 0))),
        )


class Outputs(RowCase):
    def setUp(self):
        super().setUp()
        self.drawn.update()
        self.visible.cull(self.drawn.mirror, between(-1, 31))
        self.wanted = self.visible.write().matrices

    def test_poses_are_written_into_memory_that_is_given(self):
        mapped = np.full((6, 3, 4), 9, dtype=np.float32)
        made = self.visible.write(out=mapped).matrices
        self.assertTrue(np.shares_memory(made, mapped))
        self.assertBits(mapped[:4], self.wanted)
        self.assertTrue((mapped[4:] == 9).all())
        instance = np.dtype([("pose", np.float32, (3, 4)), ("color", np.uint32)])
        records = np.zeros(5, dtype=instance)
        self.visible.write(out=records["pose"])
        self.assertBits(records["pose"][:4], self.wanted)
        self.assertFalse(records["color"].any())
        poses = np.zeros(4, dtype=espalier.POSE)
        self.visible.write(form=Form.POSE, out=poses)
        self.assertBits(poses["position"], self.wanted[:, :, 3])
        self.visible.cull(self.drawn.mirror, NOTHING)
        self.assertEqual(self.visible.write(out=np.empty((0, 3, 4), np.float32)).matrices.shape, (0, 3, 4))

    def test_memory_that_does_not_fit_is_refused(self):
        base = np.zeros((8, 3, 4), dtype=np.float32)
        fixed = np.zeros((4, 3, 4), dtype=np.float32)
        fixed.flags.writeable = False
        for bad in (
            base[:3],
            base[::-1],
            base.transpose(0, 2, 1),
            base.astype(np.float64),
            np.zeros((4, 4, 4), np.float32),
            np.zeros((8, 4, 3), np.float32).transpose(0, 2, 1),
            np.zeros((8, 3, 8), np.float32)[:, :, ::2],
            np.broadcast_to(np.zeros((3, 4), np.float32), (8, 3, 4)),
            np.float32(0),
            np.zeros(4, espalier.POSE),
            fixed,
        ):
            with self.subTest(getattr(bad, "strides", None)), self.assertRaises((ValueError, TypeError)):
                self.visible.write(out=bad)
        with self.assertRaises(TypeError):
            self.visible.write(out=[0.0] * 48)
        self.assertFalse(base.any())

    def test_a_result_is_written_while_its_mirror_is_the_newest_one(self):
        self.world.clear()
        self.assertBits(self.visible.write().matrices, self.wanted)
        self.drawn.update()
        self.assertEqual(self.visible.count(), 4)
        self.assertRaises(espalier.ClosedError, self.visible.write)
        self.assertEqual(self.see(Camera()), [])


class Closing(RowCase):
    def test_what_is_closed_raises(self):
        self.drawn.update()
        mirror = self.drawn.mirror
        self.visible.cull(mirror, Camera())
        with self.drawn:
            pass
        self.assertTrue(self.drawn.closed)
        self.drawn.close()
        calls = [
            self.drawn.update,
            lambda: self.drawn.mirror,
            lambda: self.drawn.reserve(1),
            lambda: self.drawn.add_lods([(1, 1)]),
            mirror.changed,
            lambda: mirror.write(0),
            lambda: self.visible.cull(mirror, Camera()),
            self.visible.write,
        ]
        with self.visible:
            self.assertEqual(self.visible.count(), 9)
        self.visible.close()
        calls += [lambda: self.visible.cull(mirror, Camera()), self.visible.groups, self.visible.count]
        for call in calls:
            self.assertRaises(espalier.ClosedError, call)
        again = self.world.renderables()
        self.assertIsNone(again.mirror)
        self.assertEqual(again.update().renderables, 9)
        self.world.close()
        self.assertTrue(again.closed)
        again.close()
        self.assertRaises(espalier.ClosedError, again.update)

    def test_renderables_that_are_dropped_free_the_world_for_others(self):
        self.drawn.update()
        mirror = self.drawn.mirror
        del self.drawn
        gc.collect()
        self.assertGreater(len(mirror.changed()), 0)
        with self.assertRaises(espalier.ArgumentError):
            self.world.renderables()
        del mirror
        gc.collect()
        with self.world.query():
            with self.assertRaises(espalier.BusyError):
                self.world.renderables()
        self.drawn = self.world.renderables()
        self.assertEqual(self.drawn.update().renderables, 9)

    def test_a_world_closes_with_renderables_and_an_open_query(self):
        query = self.world.query()
        query.__enter__()
        self.drawn.update()
        self.world.close()
        self.assertTrue(self.drawn.closed and self.visible.closed)
        del query
        gc.collect()


if __name__ == "__main__":
    unittest.main()
