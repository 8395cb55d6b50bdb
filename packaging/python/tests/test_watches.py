# SPDX-License-Identifier: MIT
"""Watches: what came, went and changed since the last look."""

import gc
import unittest
from unittest import mock

import numpy as np

import espalier
from espalier import DISABLED, TRANSFORM, Include, Read, Status, Watched, _watches
from support import WorldCase


def names(watched):
    """Return the handles of a set of changes by list."""
    return set(watched.removed.tolist()), set(watched.added.tolist()), set(watched.changed.tolist())


class Collected(WorldCase):
    def test_at_first_every_entity_is_added(self):
        root = self.world.create(position=(1, 2, 3))
        child = self.world.create(parent=root, position=(0, 0, 4))
        self.world.create(transform=False)
        changes = self.world.watch(kinds=Watched.WORLD | Watched.LOCAL).collect()
        self.assertEqual(changes.added.tolist(), [root, child])
        self.assertEqual((len(changes.removed), len(changes.changed)), (0, 0))
        self.assertBits(changes.added_worlds, self.world.world_transforms(changes.added))
        self.assertBits(changes.added_locals, self.world.local_transforms(changes.added))
        self.assertTrue(changes)

    def test_at_rest_nothing_is_reported(self):
        self.world.create_many(100)
        watch = self.world.watch()
        watch.collect()
        changes = watch.collect()
        self.assertFalse(changes)
        self.assertEqual(names(changes), (set(), set(), set()))
        self.assertFalse(changes.is_coarse)

    def test_what_follows_a_write_has_changed_in_the_world_alone(self):
        root = self.world.create()
        child = self.world.create(parent=root, position=(0, 1, 0))
        self.world.create()
        watch = self.world.watch(kinds=Watched.WORLD | Watched.LOCAL)
        watch.collect()
        self.world.set_local(root, position=(5, 0, 0))
        changes = watch.collect()
        kinds = dict(zip(changes.changed.tolist(), changes.kinds.tolist()))
        self.assertEqual(kinds, {root: Watched.WORLD | Watched.LOCAL, child: Watched.WORLD})
        self.assertBits(changes.changed_worlds, self.world.world_transforms(changes.changed))
        self.assertBits(changes.changed_locals, self.world.local_transforms(changes.changed))
        self.assertEqual((changes.kinds.dtype, changes.changed.dtype), (np.uint8, np.int64))

    def test_what_was_destroyed_is_removed_and_what_came_and_went_is_not_named(self):
        entities = self.world.create_many(10)
        watch = self.world.watch()
        watch.collect()
        self.world.destroy_many(entities[:3])
        self.world.destroy(self.world.create())
        new = self.world.create()
        changes = watch.collect()
        self.assertEqual(names(changes), (set(entities[:3].tolist()), {new}, set()))
        self.world.clear()
        self.assertEqual(len(watch.collect().removed), 8)

    def test_sets_of_a_naive_comparison_are_in_what_is_collected(self):
        rng = np.random.default_rng(3)
        roots = self.world.create_many(20)
        members = self.world.create_many(200)
        self.world.attach_many(members, roots[rng.integers(0, 20, 200)])
        watch = self.world.watch(before=True)
        seen = watch.collect()
        known = dict(zip(seen.added.tolist(), seen.added_worlds))
        for _ in range(30):
            everything = np.concatenate([roots, members])
            some = rng.choice(everything, 5, replace=False)
            self.world.write(some, positions=rng.normal(size=(5, 3)))
            self.world.detach(rng.choice(members))
            gone = rng.choice(members)
            self.world.destroy(gone)
            members = members[members != gone]
            members = members[self.world.are_alive(members)]
            made = self.world.create(parent=rng.choice(roots), position=rng.normal(size=3))
            members = np.append(members, made)
            changes = watch.collect()
            living = {int(e): self.world.world_transforms([e])[0] for e in [*roots, *members]}
            wanted = {e for e in known if e in living and known[e].tobytes() != living[e].tobytes()}
            removed, added, changed = names(changes)
            self.assertEqual((removed, added), (set(known) - set(living), set(living) - set(known)))
            self.assertEqual(changed, wanted)
            for entity, now, before in zip(
                changes.changed.tolist(), changes.changed_worlds, changes.changed_before
            ):
                self.assertBits(now, living[entity])
                self.assertBits(before, known[entity])
            known = living

    def test_a_watch_looks_through_its_terms(self):
        tag = self.world.register("tag")
        plain, tagged = self.world.create(), self.world.create(components=[tag])
        disabled = self.world.create(components=[tag])
        self.world.set_enabled(disabled, False)
        watches = [
            (self.world.watch([tag]), {tagged}),
            (self.world.watch(none=[tag]), {plain}),
            (self.world.watch(any=[tag, DISABLED], include=Include.DISABLED), {tagged, disabled}),
        ]
        for watch, wanted in watches:
            self.assertEqual(set(watch.collect().added.tolist()), wanted)
        self.world.add_component(plain, tag)
        self.assertEqual(names(watches[0][0].collect()), (set(), {plain}, set()))
        self.assertEqual(names(watches[1][0].collect()), ({plain}, set(), set()))

    def test_watches_have_rates_of_their_own_and_look_back(self):
        a, b = self.world.create_many(2)
        fast, slow = self.world.watch(), self.world.watch()
        first = fast.collect().moment
        slow.collect()
        self.world.set_local(a, position=(1, 0, 0))
        self.assertEqual(fast.collect().changed.tolist(), [a])
        self.world.set_local(b, position=(1, 0, 0))
        self.assertEqual(fast.collect().changed.tolist(), [b])
        self.assertEqual(set(slow.collect().changed.tolist()), {a, b})
        again = fast.collect(first)
        self.assertEqual(set(again.changed.tolist()), {a, b})
        self.assertGreater(again.moment, first)
        with self.assertRaises(espalier.ArgumentError):
            fast.collect(again.moment + 1)
        for bad, kind in ((-1, ValueError), (2**64, ValueError), ("1", TypeError)):
            with self.assertRaises(kind):
                fast.collect(bad)

    def test_arrays_that_a_watch_was_not_made_for_are_none(self):
        self.world.create()
        changes = self.world.watch().collect()
        self.assertIsNone(changes.added_locals)
        self.assertIsNone(changes.changed_locals)
        self.assertIsNone(changes.changed_before)
        changes = self.world.watch(
            [self.world.register("none")], kinds=Watched.WORLD | Watched.LOCAL, before=True
        ).collect()
        for part in (changes.added_locals, changes.changed_locals, changes.changed_before):
            self.assertEqual((part.shape, part.dtype), ((0,), TRANSFORM))

    def test_arrays_outlive_later_collects_and_the_world(self):
        entity = self.world.create(position=(1, 0, 0))
        watch = self.world.watch()
        first = watch.collect()
        self.world.set_local(entity, position=(2, 0, 0))
        second = watch.collect()
        self.world.close()
        self.assertEqual(first.added_worlds["position"][0].tolist(), [1, 0, 0])
        self.assertEqual(second.changed_worlds["position"][0].tolist(), [2, 0, 0])

    def test_a_collect_in_a_block_is_allowed(self):
        entity = self.world.create()
        watch = self.world.watch()
        watch.collect()
        with self.world.query() as query:
            self.world.write(query.entities(), positions=(1, 0, 0))
            self.assertEqual(watch.collect().changed.tolist(), [entity])
            with self.assertRaises(espalier.BusyError):
                self.world.watch()

    def test_what_could_not_be_copied_is_collected_again(self):
        entity = self.world.create()
        watch = self.world.watch()
        with mock.patch.object(_watches.np, "empty", side_effect=MemoryError):
            with self.assertRaises(MemoryError):
                watch.collect()
        self.assertEqual(watch.collect().added.tolist(), [entity])
        self.assertFalse(watch.collect())


class Life(WorldCase):
    def test_what_no_watch_can_be_is_refused(self):
        other = espalier.World(tag=9)
        self.addCleanup(other.close)
        foreign = other.register("foreign")
        tags = [self.world.register(f"t{i}") for i in range(65)]
        cases = [
            (espalier.ArgumentError, lambda: self.world.watch(kinds=Watched.SHOWN)),
            (espalier.ArgumentError, lambda: self.world.watch(kinds=Watched.CELL)),
            # The bit of BEFORE, which is an argument of its own.
            (espalier.ArgumentError, lambda: self.world.watch(kinds=8)),
            (espalier.ArgumentError, lambda: self.world.watch(kinds=32)),
            (espalier.ArgumentError, lambda: self.world.watch(kinds=-1)),
            (espalier.ArgumentError, lambda: self.world.watch(kinds=Watched.LOCAL, before=True)),
            (espalier.ArgumentError, lambda: self.world.watch([foreign])),
            (espalier.LimitError, lambda: self.world.watch(tags)),
        ]
        for kind, call in cases:
            self.assertRefused(kind, call)
        for bad in (1, None, "yes"):
            with self.assertRaises(TypeError):
                self.world.watch(before=bad)

    def test_a_closed_watch_raises_and_frees_its_memory(self):
        self.world.create_many(1000)
        before = self.world.stats()
        with self.world.watch() as watch:
            watch.collect()
            self.assertFalse(watch.closed)
            self.assertGreater(self.world.stats().bytes, before.bytes)
            self.assertEqual(self.world.stats().watches, 1)
        self.assertTrue(watch.closed)
        watch.close()
        self.assertEqual((self.world.stats().bytes, self.world.stats().watches), (before.bytes, 0))
        for call in (watch.collect, watch.__enter__):
            with self.assertRaises(espalier.ClosedError) as caught:
                call()
            self.assertEqual(caught.exception.status, Status.ERR_ARGUMENT)

    def test_a_watch_that_was_dropped_is_freed_by_a_later_call(self):
        self.world.create_many(1000)
        watch = self.world.watch()
        watch.collect()
        del watch
        gc.collect()
        self.world.create()
        self.assertEqual(self.world.stats().watches, 0)

    def test_a_world_closes_its_watches(self):
        watch, dropped = self.world.watch(), self.world.watch()
        self.world.close()
        self.assertTrue(watch.closed)
        with self.assertRaises(espalier.ClosedError):
            watch.collect()
        watch.close()
        del dropped
        gc.collect()
        with self.assertRaises(espalier.ClosedError):
            self.world.watch()

    def test_collects_use_reserved_memory(self):
        watch = self.world.watch()
        entities = self.world.create_many(1000)
        self.world.reserve(writes=1000, watch_entities=1000)
        reserved = self.world.stats().bytes
        self.assertEqual(len(watch.collect().added), 1000)
        self.world.write(entities, positions=(1, 0, 0))
        self.assertEqual(len(watch.collect().changed), 1000)
        self.assertEqual(self.world.stats().bytes, reserved)

    def test_shown_transforms_are_watched(self):
        self.world.start_motion()
        root = self.world.create()
        child = self.world.create(parent=root, position=(0, 1, 0))
        watch = self.world.watch(kinds=Watched.SHOWN, before=True)
        watch.collect()
        self.world.present(1)
        watch.collect()
        with self.world.tick():
            pass
        with self.world.tick():
            self.world.set_local(root, position=(4, 0, 0))
        self.assertFalse(len(watch.collect().changed))
        self.world.present(0.25)
        changes = watch.collect()
        self.assertEqual(set(changes.changed.tolist()), {root, child})
        self.assertEqual(changes.kinds.tolist(), [Watched.SHOWN] * 2)
        self.assertBits(changes.changed_worlds, self.world.read_many(changes.changed, Read.SHOWN_TRANSFORM))
        self.assertEqual(changes.changed_worlds["position"][:, 0].tolist(), [1, 1])
        self.world.present(1.5)
        changes = watch.collect()
        self.assertEqual(changes.changed_before["position"][:, 0].tolist(), [1, 1])
        self.assertEqual(changes.changed_worlds["position"][:, 0].tolist(), [6, 6])


if __name__ == "__main__":
    unittest.main()
