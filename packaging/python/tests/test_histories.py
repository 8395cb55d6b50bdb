# SPDX-License-Identifier: MIT
"""Histories: a world goes back to frames that were marked."""

import gc
import unittest

import numpy as np

import espalier
from espalier import Status, World
from support import WorldCase


class Frames(WorldCase):
    def test_a_world_goes_back_and_on_to_the_same_bits(self):
        health = self.world.register("health", np.int32)
        ships = self.world.create_many(50, components={health: 3}).tolist()
        history = self.world.history(hash=True)

        def step(frame):
            self.world.write(ships[:40], positions=[(frame, i, 0) for i in range(40)])
            made = self.world.create(parent=ships[frame], name=f"made {frame}")
            self.world.set_component(ships[frame], health, frame)
            self.world.destroy(ships[40 + frame])
            return made

        made, hashes = [], []
        for frame in range(6):
            history.mark(frame)
            hashes.append((history.hash(frame), self.world.hash(physical=True)))
            made.append(step(frame))
        self.assertEqual(history.frames, (0, 5))
        timeline = self.world.timeline
        back = history.rewind(2)
        self.assertEqual(self.world.timeline, timeline + 1)
        self.assertEqual(sorted(back.unborn.tolist()), sorted(made[2:]))
        self.assertEqual(sorted(back.revived.tolist()), sorted(ships[42:46]))
        self.assertEqual(history.frames, (0, 2))
        for frame in range(2, 6):
            if frame > 2:
                history.mark(frame)
            found = history.hash(frame), self.world.hash(physical=True)
            self.assertEqual(found, hashes[frame])
            self.assertEqual(step(frame), made[frame])

    def test_frames_that_are_not_there_are_refused(self):
        history = self.world.history(2)
        self.assertIsNone(history.frames)
        for frame in (5, 6, 9):
            history.mark(frame)
        self.assertEqual(history.frames, (6, 9))
        for frame in (5, 7, 10):
            call = lambda frame=frame: history.rewind(frame)
            self.assertRefused(espalier.TooOldError, call, status=Status.ERR_TOO_OLD)
        self.assertRefused(espalier.ArgumentError, lambda: history.mark(9))
        self.assertRefused(espalier.UnsupportedError, lambda: history.hash(9))
        self.assertRefused(espalier.ArgumentError, lambda: self.world.history())
        for bad, kind in ((-1, ValueError), (2**64, ValueError), (1.5, TypeError), ("1", TypeError)):
            for call in (history.mark, history.rewind, history.hash):
                with self.subTest(bad), self.assertRaises(kind):
                    call(bad)
        with self.assertRaises(TypeError):
            history.rewind(9, fresh=1)
        history.mark(2**64 - 1)
        self.assertEqual(len(history.rewind(2**64 - 1).unborn), 0)

    def test_fresh_handles_name_nothing_of_the_abandoned_future(self):
        history = self.world.history()
        history.mark(1)
        abandoned = self.world.create()
        history.rewind(1)
        self.assertEqual(self.world.create(), abandoned)
        history.rewind(1, fresh=True)
        self.assertNotEqual(self.world.create(), abandoned)
        self.assertFalse(self.world.is_alive(abandoned))

    def test_too_small_a_history_keeps_the_last_frame_alone(self):
        entities = self.world.create_many(500)
        history = self.world.history(byte_limit=1000)
        self.assertIs(history.mark(1), espalier.Status.OK)
        self.world.write(entities, positions=(1, 2, 3))
        self.assertIs(history.mark(2), espalier.Status.PARTLY)
        self.assertEqual(history.frames, (2, 2))
        self.world.compact()
        self.assertIsNone(history.frames)


class Closing(WorldCase):
    def test_a_closed_history_raises(self):
        with self.world.history() as history:
            history.mark(1)
        self.assertTrue(history.closed)
        history.close()
        for call in (lambda: history.mark(2), lambda: history.rewind(1), lambda: history.frames):
            with self.assertRaises(espalier.ClosedError):
                call()
        again = self.world.history()
        self.world.close()
        self.assertTrue(again.closed)
        again.close()
        with self.assertRaises(espalier.ClosedError):
            again.mark(1)

    def test_a_history_stays_while_a_query_is_open(self):
        self.world.create_many(3)
        history = self.world.history()
        history.mark(1)
        with self.world.query():
            self.assertRefused(espalier.BusyError, history.close)
            self.assertRefused(espalier.BusyError, lambda: history.rewind(1))
            self.assertFalse(history.closed)
        history.close()

    def test_one_that_is_dropped_in_a_query_ends_after_it(self):
        self.world.create_many(3)
        history = self.world.history()
        with self.world.query() as query:
            del history
            gc.collect()
            self.world.set_local(int(query.entities()[0]), position=(1, 0, 0))
            self.assertRefused(espalier.BusyError, lambda: self.world.history())
        self.world.history().mark(1)

    def test_a_world_closes_with_a_history_and_an_open_query(self):
        world = World()
        world.create_many(3)
        history, query = world.history(), world.query()
        history.mark(1)
        query.__enter__()
        world.close()
        self.assertTrue(history.closed)
        del history, query, world
        gc.collect()


if __name__ == "__main__":
    unittest.main()
