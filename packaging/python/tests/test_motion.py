# SPDX-License-Identifier: MIT
"""Motion between ticks: what is blended, what is shown, and flags of writes."""

import unittest

import numpy as np

import espalier
from espalier import POSE, Read, Space, Transform, Watched, Write, WriteFlag
from espalier._native import lib
from espalier._types import READ_TYPES, WRITE_TYPES
from support import WorldCase


class MotionCase(WorldCase):
    """A root and a child, which were there before motion was started."""

    def setUp(self):
        super().setUp()
        self.root = self.world.create()
        self.child = self.world.create(parent=self.root, position=(0, 5, 0))
        self.both = np.array([self.root, self.child])
        self.world.start_motion(2)

    def shown_x(self, at):
        self.world.present(at)
        return self.world.shown_positions(self.both)[:, 0].tolist()


class Numbers(unittest.TestCase):
    def test_kinds_and_flags_have_the_numbers_of_the_library(self):
        self.assertEqual((len(Read), len(Write)), (lib.ESPL_READ_KIND_COUNT, lib.ESPL_WRITE_KIND_COUNT))
        for kinds, types in ((Read, READ_TYPES), (Write, WRITE_TYPES)):
            self.assertEqual([int(kind) for kind in kinds], list(range(len(types))))
        self.assertEqual((WriteFlag.TELEPORT, WriteFlag.CARRY), (lib.ESPL_TELEPORT, lib.ESPL_CARRY))
        for kind in Watched:
            self.assertEqual(kind, getattr(lib, f"ESPL_WATCH_{kind.name}"))


class Ticks(MotionCase):
    def test_a_write_in_a_tick_is_blended_and_one_between_ticks_is_not(self):
        with self.world.tick():
            self.world.set_local(self.root, position=(4, 0, 0))
        for at, x in ((0, 0), (0.25, 1), (1, 4), (1.5, 6)):
            self.assertEqual(self.shown_x(at), [x, x])
        self.assertEqual(self.world.world_position(self.child).tolist(), [4, 5, 0])
        self.world.set_local(self.root, position=(8, 0, 0))
        self.assertEqual(self.shown_x(0), [8, 8])

    def test_before_and_after_a_tick_motion_goes_on(self):
        def turned(angle):
            return Transform(rotation=espalier.quat_from_axis_angle((0, 1, 0), angle)).matrix()

        with self.world.tick():
            self.world.rotate(self.root, espalier.quat_from_axis_angle((0, 1, 0), 0.3))
            self.world.set_local(self.child, position=(1, 5, 0), scale=2)
        for at in (-1, 1.25, 2, 10):
            self.world.present(at)
            shown = self.world.shown_matrices(self.both)
            np.testing.assert_allclose(shown[0], turned(0.3 * at), atol=1e-5)
            scale = 1 + at
            child = turned(0.3 * at) @ np.diag((scale, scale, scale, 1))
            child[:3, 3] = (turned(0.3 * at) @ (at, 5, 0, 1))[:3]
            np.testing.assert_allclose(shown[1], child, atol=1e-5 * 12)

    def test_a_tick_ends_after_an_exception(self):
        with self.assertRaises(KeyError):
            with self.world.tick():
                self.world.set_local(self.root, position=(4, 0, 0))
                raise KeyError
        self.world.set_local(self.child, position=(1, 5, 0))
        self.assertEqual(self.shown_x(0), [0, 1])

    def test_a_tick_is_entered_once_at_a_time_and_may_be_used_again(self):
        tick = self.world.tick()
        with tick:
            with self.assertRaises(espalier.ArgumentError):
                tick.__enter__()
            self.world.set_local(self.root, position=(2, 0, 0))
        with tick:
            self.world.set_local(self.root, position=(4, 0, 0))
        self.assertEqual(self.shown_x(0), [2, 2])

    def test_a_world_may_be_closed_in_a_tick(self):
        with self.world.tick():
            self.world.close()
        for call in (
            self.world.start_motion,
            self.world.stop_motion,
            self.world.tick().__enter__,
            lambda: self.world.present(0),
            lambda: self.world.shown_matrix(self.root),
        ):
            with self.assertRaises(espalier.ClosedError):
                call()

    def test_without_motion_the_world_is_shown(self):
        self.world.stop_motion()
        self.world.set_local(self.root, position=(4, 0, 0))
        self.assertEqual(self.world.shown_positions(self.both)[:, 0].tolist(), [4, 4])
        for call in (
            self.world.stop_motion,
            self.world.tick().__enter__,
            lambda: self.world.present(0),
        ):
            self.assertRefused(espalier.ArgumentError, call)
        pose = np.array(((0, 0, 0, 1), (1, 2, 3), 1), dtype=POSE)
        self.assertRefused(
            espalier.UnsupportedError,
            lambda: self.world.write_one(self.root, Write.PREVIOUS_LOCAL_POSE, pose),
        )

    def test_what_motion_cannot_do_is_refused(self):
        self.assertRefused(espalier.ArgumentError, self.world.start_motion)
        for bad in (np.nan, np.inf):
            self.assertRefused(espalier.NumberError, lambda: self.world.present(bad))
        self.world.stop_motion()
        self.assertRefused(espalier.ArgumentError, lambda: self.world.start_motion(3))
        with self.assertRaises(ValueError):
            self.world.start_motion(-1)
        with self.world.query():
            self.assertRefused(espalier.BusyError, self.world.start_motion)
        self.world.start_motion()

    def test_present_counts(self):
        with self.world.tick():
            self.world.set_local(self.root, position=(4, 0, 0))
        report = self.world.present(0.5)
        self.assertEqual((report.blended, report.has_overflowed), (1, False))
        self.assertGreaterEqual(report.visited, 2)
        stats = self.world.stats()
        self.assertEqual((stats.presented, stats.blended), (1, 1))


class Flags(MotionCase):
    def test_a_teleport_is_shown_as_it_is_in_every_form_of_a_write(self):
        pose = np.array(((0, 0, 0, 1), (4, 0, 0), 1), dtype=POSE)
        teleport = WriteFlag.TELEPORT
        world, root = self.world, self.root
        buffer = world.commands()

        def play():
            buffer.reset()
            buffer.recorder().write_one(root, Write.LOCAL_POSE, pose, flag=teleport)
            buffer.play()

        forms = [
            lambda: world.write_one(root, Write.LOCAL_POSE, pose, flag=teleport),
            lambda: world.set_local(root, position=(4, 0, 0), flag=teleport),
            lambda: world.set_local(root, Transform(position=(4, 0, 0)), flag=teleport),
            lambda: world.set_local(root, position=(4, 0, 0), scale=1, flag=teleport),
            lambda: world.set_world(root, position=(4, 0, 0), flag=teleport),
            lambda: world.translate(root, (4, 0, 0), flag=teleport),
            lambda: world.write_many([root], Write.LOCAL_POSE, pose, flag=teleport),
            lambda: world.write([root], positions=(4, 0, 0), space=Space.WORLD, flag=teleport),
            play,
        ]
        for number, form in enumerate(forms):
            with self.subTest(number):
                world.set_local(root, position=(0, 0, 0))
                with world.tick():
                    form()
                self.assertEqual(self.shown_x(0), [4, 4])
        turn = espalier.quat_from_axis_angle((0, 1, 0), 1)
        with world.tick():
            world.rotate(root, turn, flag=teleport)
        world.present(0)
        self.assertBits(world.shown_rotation(root), world.world_rotation(root))

    def test_a_carried_entity_takes_its_motion_along(self):
        with self.world.tick():
            self.world.translate(self.root, (1, 0, 0))
        with self.world.tick():
            self.world.translate(self.root, (1, 0, 0))
            self.world.set_local(self.root, position=(102, 0, 0), flag=WriteFlag.CARRY)
        self.assertEqual(self.shown_x(0.5), [101.5, 101.5])

    def test_what_is_no_flag_is_refused(self):
        value = (1, 2, 3)
        for bad in (1, 3, 192, -64, 256, "teleport", None):
            for call in (
                lambda: self.world.write_one(self.root, Write.LOCAL_POSITION, value, flag=bad),
                lambda: self.world.write_many([self.root], Write.LOCAL_POSITION, value, flag=bad),
                lambda: self.world.set_local(self.root, position=value, scale=2, flag=bad),
                lambda: self.world.write([self.root], positions=value, flag=bad),
                lambda: self.world.commands()
                .recorder()
                .write_one(self.root, Write.LOCAL_POSITION, value, flag=bad),
            ):
                with self.subTest(bad):
                    self.assertRefused(espalier.ArgumentError, call)
        pose = np.array(((0, 0, 0, 1), (4, 0, 0), 1), dtype=POSE)
        self.assertRefused(
            espalier.ArgumentError,
            lambda: self.world.write_one(
                self.root, Write.PREVIOUS_LOCAL_POSE, pose, flag=WriteFlag.CARRY
            ),
        )


class Reads(MotionCase):
    def test_previous_poses_are_written_and_read(self):
        for x in (1, 2, 3):
            with self.world.tick():
                self.world.set_local(self.root, position=(x, 0, 0))
        where = {
            Read.PREVIOUS_LOCAL_POSE: [2, 0],
            Read.PREVIOUS_WORLD_POSE: [2, 2],
            Read.BEFORE_LOCAL_POSE: [1, 0],
            Read.BEFORE_WORLD_POSE: [1, 1],
        }
        for kind, xs in where.items():
            poses = self.world.read_many(self.both, kind)
            self.assertEqual(poses["position"][:, 0].tolist(), xs, kind)
            self.assertBits(self.world.read(self.child, kind), poses[1])
        pose = self.world.read(self.root, Read.PREVIOUS_LOCAL_POSE)
        pose["position"][0] = -3
        self.world.write_one(self.root, Write.PREVIOUS_LOCAL_POSE, pose)
        self.assertEqual(self.shown_x(0.5), [0, 0])
        self.world.write_many([self.root], Write.PREVIOUS_WORLD_POSE, poses[:1])
        self.assertEqual(self.shown_x(0), [1, 1])

    def test_what_is_shown_is_read_in_every_form(self):
        turn = espalier.quat_from_axis_angle((0, 1, 0), 1)
        with self.world.tick():
            self.world.set_local(
                self.root, position=(4, 1, 2), rotation=turn, scale=2, stretch=(1, 2, 1), user_data=7
            )
        self.world.present(0.5)
        for index, entity in enumerate(self.both):
            t = self.world.shown_transform(entity)
            self.assertBits(self.world.shown_position(entity), t.position)
            self.assertBits(self.world.shown_rotation(entity), t.rotation)
            self.assertEqual(self.world.shown_scale(entity), t.scale)
            self.assertBits(self.world.shown_matrix(entity), t.matrix())
            self.assertBits(self.world.shown_positions(self.both)[index], t.position)
            self.assertBits(self.world.shown_rotations(self.both)[index], t.rotation)
            self.assertBits(self.world.shown_transforms(self.both)[index], np.asarray(t))
            self.assertBits(self.world.shown_matrices(self.both)[index], t.matrix())
            self.assertBits(self.world.shown_matrices(self.both, rows=3)[index], t.matrix()[:3])
            pose = self.world.shown_poses(self.both)[index]
            self.assertBits(self.world.read(entity, Read.SHOWN_POSE), pose)
            self.assertBits(pose["position"], t.position)
        with self.world.query([espalier.HAS_TRANSFORM]) as query:
            rows = self.world.shown_transforms(query.entities())
            self.assertBits(query.transforms(Read.SHOWN_TRANSFORM), rows)
        with self.world.view(self.root) as view:
            self.assertBits(view.shown_poses, self.world.shown_poses(view.entities()))
            self.assertNotEqual(view.shown_poses.tobytes(), view.poses.tobytes())
            self.assertFalse(view.shown_poses.flags.writeable)
        self.world.stop_motion()
        with self.world.view(self.root) as view:
            self.assertBits(view.shown_poses, view.poses)
        dead = self.world.create()
        self.world.destroy(dead)
        self.assertRefused(espalier.EntityError, lambda: self.world.shown_matrices([dead]))
        self.assertTrue(np.isnan(self.world.shown_matrices([dead], strict=False)).all())

    def test_at_the_end_of_a_tick_the_world_is_shown_bit_for_bit(self):
        rng = np.random.default_rng(4)
        nodes = self.world.create_many(300)
        self.world.attach_many(nodes[1:], nodes[(rng.random(299) * np.arange(1, 300)).astype(int)])
        for _ in range(5):
            with self.world.tick():
                quats = rng.normal(size=(300, 4))
                self.world.write(nodes, positions=rng.normal(size=(300, 3)), rotations=quats, scales=1)
            self.world.present(0.3)
            self.assertNotEqual(
                self.world.shown_poses(nodes).tobytes(), self.world.world_poses(nodes).tobytes()
            )
            self.world.present(1)
            self.assertBits(self.world.shown_poses(nodes), self.world.world_poses(nodes))


if __name__ == "__main__":
    unittest.main()
