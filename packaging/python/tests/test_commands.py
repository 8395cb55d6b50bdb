# SPDX-License-Identifier: MIT
"""Command buffers."""

import unittest

import numpy as np

import espalier
from espalier import NULL, DeadParent, Extent, Inherit, Keep, Space, Status, Transform, World, Write
from support import WorldCase


class Commands(WorldCase):
    def test_what_was_recorded_is_done_at_playback(self):
        speed = self.world.register("speed", np.float32)
        root = self.world.create(name="root", position=(1, 0, 0))
        doomed = self.world.create()
        prefab = self.world.create(components={espalier.PREFAB: None, speed: 3})
        with self.world.commands() as buffer:
            recorder = buffer.recorder()
            made = recorder.create(parent=root, position=(0, 2, 0), components={speed: 4})
            below = recorder.create(parent=made, position=(0, 0, 3))
            clones = recorder.instantiate(prefab, 5, parent=below, position=(0, 0, 1))
            recorder.destroy(doomed)
            recorder.write_one(root, Write.LOCAL_POSITION, (10, 0, 0))
            self.assertEqual(len(buffer), 5)
            self.assertEqual(self.world.stats().entities, 3)
            with self.assertRaises(espalier.EntityError) as caught:
                buffer.resolve(made)
            self.assertEqual(caught.exception.status, Status.ERR_PENDING)
            report = buffer.play()
            self.assertEqual((report.accepted, report.applied, report.refused), (5, 5, 0))
            self.assertEqual((report.created, report.destroyed), (7, 1))
            self.assertEqual((report.refused_by, report.first_refused), ({}, {}))
            made = buffer.resolve(made)
            real = buffer.resolve_many(clones)
        self.assertEqual(self.world.parent(made), root)
        self.assertEqual(self.world.world_positions(real).tolist(), [[10, 2, 4]] * 5)
        self.assertEqual(self.world.get_components(real, speed).tolist(), [3] * 5)
        self.assertEqual(self.world.get_component(made, speed), 4)
        self.assertNotIn(doomed, self.world)

    def test_a_playback_is_as_the_calls_one_by_one(self):
        def build(world, calls):
            tag, level = world.component("tag"), world.component("level")
            top, other = calls.create(position=(1, 2, 3)), calls.create(scale=2)
            first = calls.create(parent=top, position=(1, 0, 0), stretch=(1, 2, 3))
            second = calls.create(parent=top, position=(2, 0, 0), space=Space.WORLD, components=[tag])
            calls.attach(second, other, Keep.LOCAL)
            calls.move_before(first)
            calls.write_one(top, Write.ROTATE_OWN, (0, 0, 1, 0))
            calls.set_inherit(first, Inherit.POSITION)
            calls.remove_component(second, tag)
            calls.add_component(first, tag)
            calls.set_enabled(first, False)
            calls.detach(second)
            calls.set_enabled(second, False)
            calls.set_enabled(second, True)
            calls.destroy(other, Extent.ENTITY)
            calls.spawn(calls.spawn(first, top), first, espalier.Transform(position=(0, 0, 4)))
            calls.add_component(top, level, 5)
            calls.set_component(top, level, None)
            calls.set_component(top, espalier.HAS_TRANSFORM, espalier.Transform(scale=3))
            calls.set_component(second, espalier.HAS_TRANSFORM, None)

        hashes = []
        for is_recorded in (False, True):
            with World(tag=5) as world:
                world.register("tag")
                world.register("level", np.int32)
                buffer = world.commands()
                build(world, buffer.recorder() if is_recorded else world)
                if is_recorded:
                    self.assertEqual(buffer.play().refused, 0)
                hashes.append(world.hash())
        self.assertEqual(hashes[0], hashes[1])

    def test_keys_then_lanes_order_a_playback(self):
        entity = self.world.create()
        buffer = self.world.commands(3)
        for lane, key, x in ((0, 5, 1), (2, 5, 3), (1, 5, 2), (0, 9, 4), (2, 1, 5)):
            buffer.recorder(lane).write_one(entity, Write.LOCAL_POSITION, (x, 0, 0), key=key)
        buffer.play()
        self.assertEqual(self.world.world_position(entity)[0], 4)

    def test_refused_commands_are_in_the_report(self):
        dead = self.world.create()
        self.world.destroy(dead)
        entity = self.world.create()
        speed = self.world.register("speed", np.float32)
        buffer = self.world.commands()
        recorder = buffer.recorder()
        recorder.attach(entity, entity)
        recorder.destroy(dead)
        recorder.set_component(entity, speed, 1)
        orphan = recorder.create(parent=dead)
        rooted = recorder.create(parent=dead, dead_parent=DeadParent.ROOT)
        report = buffer.play()
        self.assertEqual((report.applied, report.refused), (1, 4))
        self.assertEqual(
            report.refused_by,
            {Status.ERR_CYCLE: 1, Status.ERR_DEAD: 2, Status.ERR_NO_COMPONENT: 1},
        )
        self.assertEqual(report.first_refused[Status.ERR_DEAD], (0, 1))
        self.assertEqual(buffer.result(0, 0), Status.ERR_CYCLE)
        self.assertEqual(buffer.result(0, 4), Status.OK)
        self.assertEqual(buffer.result(0, 5), Status.ERR_ARGUMENT)
        self.assertIn(buffer.resolve(rooted), self.world)
        with self.assertRaises(espalier.EntityError) as caught:
            buffer.resolve_many([rooted, orphan])
        self.assertEqual((caught.exception.status, caught.exception.index), (Status.ERR_DEAD, 1))
        with self.assertRaises(espalier.ArgumentError):
            buffer.resolve(entity)

    def test_what_cannot_be_recorded_raises_and_is_not_recorded(self):
        entity = self.world.create()
        buffer, other = self.world.commands(2), self.world.commands()
        foreign = other.recorder().create()
        recorder = buffer.recorder(1)
        for call, kind in (
            (lambda: recorder.destroy(NULL), espalier.EntityError),
            (lambda: recorder.destroy(foreign), espalier.EntityError),
            (lambda: recorder.write_one(entity, Write.LOCAL_SCALE, np.nan), espalier.NumberError),
            (lambda: recorder.destroy(entity, 9), espalier.ArgumentError),
            (lambda: recorder.create(transform=Transform(), scale=2), espalier.ArgumentError),
            (lambda: recorder.create(transform=False, scale=2), espalier.ArgumentError),
            (lambda: recorder.instantiate(entity, -1), espalier.ArgumentError),
            (lambda: recorder.write_one(entity, Write.LOCAL_POSITION, (1, 2)), ValueError),
            (lambda: buffer.recorder(2), IndexError),
            (lambda: self.world.commands(0), espalier.ArgumentError),
            (lambda: self.world.commands(257), espalier.LimitError),
        ):
            with self.assertRaises(kind):
                call()
        self.assertEqual(len(buffer), 0)

    def test_a_buffer_is_played_once_until_it_is_reset(self):
        buffer = self.world.commands()
        pending = buffer.recorder().create()
        buffer.play()
        for call in (
            lambda: buffer.play(),
            lambda: buffer.recorder().create(),
            lambda: buffer.submit(),
        ):
            with self.assertRaises(espalier.PlayedError):
                call()
        buffer.reset()
        with self.assertRaises(espalier.EntityError) as caught:
            buffer.resolve(pending)
        self.assertEqual(caught.exception.status, Status.ERR_FOREIGN)
        buffer.recorder().create()
        self.assertEqual(buffer.play().created, 1)
        self.assertEqual(self.world.stats().entities, 2)

    def test_a_playback_that_is_refused_changes_nothing_and_may_be_repeated(self):
        buffer = self.world.commands()
        self.assertTrue(buffer)
        self.assertEqual(len(buffer), 0)
        buffer.recorder().create()
        with self.world.query():
            self.assertRefused(espalier.BusyError, buffer.play, status=Status.ERR_BUSY)
        self.assertEqual((len(buffer), buffer.play().created), (1, 1))

    def test_values_are_copied_when_they_are_recorded(self):
        speed = self.world.register("speed", np.float32)
        entity = self.world.create(components={speed: 1})
        value, where = np.array(5, dtype=np.float32), np.array([1, 2, 3], dtype=np.float32)
        buffer = self.world.commands()
        buffer.recorder().set_component(entity, speed, value)
        buffer.recorder().write_one(entity, Write.LOCAL_POSITION, where)
        value[()] = where[:] = 9
        self.assertEqual(buffer.play().applied, 2)
        self.assertEqual(self.world.get_component(entity, speed), 5)
        self.assertEqual(self.world.local_position(entity).tolist(), [1, 2, 3])

    def test_sync_plays_what_was_submitted_in_order(self):
        entity = self.world.create()
        for x in (1, 2, 3):
            buffer = self.world.commands()
            buffer.recorder().write_one(entity, Write.LOCAL_POSITION, (x, 0, 0))
            buffer.submit()
        del buffer
        report = self.world.sync()
        self.assertEqual((report.applied, self.world.world_position(entity)[0]), (3, 3))
        self.assertEqual(self.world.sync().accepted, 0)
        kept = self.world.commands()
        kept.recorder().create()
        kept.submit()
        with self.assertRaises(espalier.ArgumentError):
            kept.submit()
        with self.world.query():
            with self.assertRaises(espalier.BusyError):
                self.world.sync()
        self.assertEqual(self.world.sync().created, 1)

    def test_a_submitted_buffer_may_be_closed_reset_or_played(self):
        buffers = [self.world.commands() for _ in range(4)]
        for buffer in buffers:
            buffer.recorder().create()
            buffer.submit()
        buffers[0].close()
        buffers[1].reset()
        buffers[2].play()
        self.assertEqual(self.world.sync().created, 1)

    def test_after_close_calls_raise(self):
        buffer = self.world.commands()
        recorder = buffer.recorder()
        pending = recorder.create()
        buffer.close()
        buffer.close()
        for call in (
            lambda: buffer.play(),
            lambda: buffer.submit(),
            lambda: buffer.reset(),
            lambda: buffer.resolve(pending),
            lambda: buffer.result(0, 0),
            lambda: len(buffer),
            lambda: buffer.__enter__(),
            lambda: recorder.create(),
            lambda: recorder.attach(1, 2),
        ):
            with self.assertRaises(espalier.ClosedError):
                call()


if __name__ == "__main__":
    unittest.main()
