# SPDX-License-Identifier: MIT
"""One entity in several worlds."""

import numpy as np

import espalier
from espalier import NULL, Extent, Space, Transform, Watched
from support import WorldCase


class Linked(WorldCase):
    def setUp(self):
        super().setUp()
        self.game = espalier.World(tag=99)
        self.addCleanup(self.game.close)
        self.ship = self.game.create(position=(1, 0, 0))
        self.mast = self.game.create(parent=self.ship, position=(0, 5, 0))

    def test_a_counterpart_is_found_by_its_original(self):
        shown = self.world.place(self.game, self.ship)
        self.assertEqual(self.world.counterpart(self.ship), shown)
        self.assertEqual(self.world.original(shown), self.ship)
        self.assertEqual(self.world.stats().counterparts, 2)
        self.assertEqual(self.world.children(shown).tolist(), [self.world.counterpart(self.mast)])
        self.world.set_counterpart(shown, NULL)
        self.assertEqual(self.world.counterpart(self.ship), NULL)
        with self.assertRaises(espalier.ArgumentError):
            self.world.set_counterpart(shown, shown)
        self.world.set_counterpart(shown, self.ship)
        with self.assertRaises(espalier.EspalierError):
            self.world.place(self.game, self.ship)

    def test_a_place_may_be_another_one(self):
        hand = self.world.create(position=(0, 0, 3))
        at = Transform(position=(0, 1, 0))
        shown = self.world.place(
            self.game, self.ship, parent=hand, transform=at, space=Space.WORLD, extent=Extent.ENTITY
        )
        self.assertEqual(self.world.parent(shown), hand)
        self.assertEqual(self.world.world_transforms([shown])["position"].tolist(), [[0, 1, 0]])
        self.assertEqual(self.world.counterpart(self.mast), NULL)

    def test_a_world_follows_another_one(self):
        shown = self.world.place(self.game, self.ship)
        with self.game.watch(kinds=Watched.LOCAL) as watch:
            report = self.world.follow(watch.collect())
            self.assertEqual((report.written, report.unknown), (2, 0))
            self.game.set_local(self.ship, position=(7, 0, 0))
            self.game.destroy(self.mast)
            report = self.world.follow(watch.collect())
        self.assertEqual((report.written, report.destroyed), (1, 1))
        self.assertEqual(self.world.local_transforms([shown])["position"].tolist(), [[7, 0, 0]])
        self.assertEqual(len(self.world.children(shown)), 0)

    def test_roots_follow_into_cells(self):
        with espalier.World(tag=5, cell_size=2048) as sea, espalier.World(tag=6, cell_size=2048) as chart:
            ship = sea.create(position=(1, 2, 3))
            mast = sea.create(parent=ship)
            shown = chart.place(sea, ship)
            with sea.watch(kinds=Watched.LOCAL | Watched.CELL) as watch:
                sea.write_one(ship, espalier.Write.CELL, (5, -6, 7))
                changes = watch.collect()
            self.assertEqual(changes.cell_size, 2048)
            self.assertEqual(changes.added_cells["cell"].tolist(), [[5, -6, 7]] * 2)
            self.assertEqual(changes.added_cells["is_top"].tolist(), [1, 0])
            self.assertEqual(len(changes.changed_cells), 0)
            self.assertEqual(chart.follow(changes).written, 2)
            self.assertEqual(chart.read(chart.counterpart(mast), espalier.Read.CELL).tolist(), [5, -6, 7])
            moved = changes._replace(added_cells=np.array([((8, 0, 0), 1), ((8, 0, 0), 0)], espalier.CHANGED_CELL))
            chart.follow(moved)
            self.assertEqual(chart.read(shown, espalier.Read.CELL).tolist(), [8, 0, 0])
            with self.assertRaises(ValueError):
                chart.follow(changes._replace(changed_cells=moved.added_cells))
        with self.game.watch() as watch:
            changes = watch.collect()
        self.assertEqual((changes.added_cells, changes.cell_size), (None, 0))

    def test_changes_that_cannot_be_followed_are_refused(self):
        self.world.place(self.game, self.ship)
        with self.game.watch() as watch:
            changes = watch.collect()
        with self.assertRaises(espalier.ArgumentError):
            self.world.follow(changes)
        self.assertEqual(self.world.follow(changes, space=Space.WORLD).written, 2)
        with self.assertRaises(espalier.ArgumentError):
            self.game.follow(changes, space=Space.WORLD)
        with self.assertRaises(ValueError):
            self.world.follow(changes._replace(added_worlds=np.zeros(1, dtype=espalier.TRANSFORM)),
                              space=Space.WORLD)
