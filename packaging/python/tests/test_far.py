# SPDX-License-Identifier: MIT
"""Large worlds: cells, absolute positions, and what is read relative to an origin."""

import unittest

import numpy as np

import espalier
from espalier import Origin, Read, Status, Watched, Write
from support import WorldCase

SIZE = 2048


class Far(WorldCase):
    def setUp(self):
        super().setUp()
        self.use_cells()
        self.ship = self.world.create()
        self.mast = self.world.create(parent=self.ship, position=(0, 5, 0))
        self.world.write_one(self.ship, Write.ABSOLUTE_POSITION, (3e9, 0, 120.25))

    def test_an_absolute_position_is_exact_and_takes_the_nearest_cell(self):
        self.assertEqual(self.world.cell_size, SIZE)
        for entity, y in ((self.ship, 0), (self.mast, 5)):
            self.assertEqual(self.world.read(entity, Read.CELL).tolist(), [1464844, 0, 0])
            where = self.world.read(entity, Read.ABSOLUTE_POSITION)
            self.assertEqual((where.dtype, where.tolist()), (np.float64, [3e9, y, 120.25]))
            self.assertEqual(self.world.world_position(entity).tolist(), [3e9 - 1464844 * SIZE, y, 120.25])

    def test_a_cell_moves_a_root_alone_and_keeps_its_coordinates(self):
        before = self.world.world_position(self.mast)
        self.world.write_one(self.ship, Write.CELL, (-7, 8, 9))
        self.assertEqual(self.world.read(self.mast, Read.CELL).tolist(), [-7, 8, 9])
        self.assertBits(self.world.world_position(self.mast), before)
        self.assertRefused(
            espalier.UnsupportedError,
            lambda: self.world.write_one(self.mast, Write.CELL, (0, 0, 0)),
            status=Status.ERR_UNSUPPORTED,
        )

    def test_a_rebase_by_cells_leads_back_to_the_same_bits(self):
        buoy = self.world.create(position=(0.1, 0.2, 0.3))
        entities = [self.ship, self.mast, buoy]
        before = self.world.hash()
        absolute = self.world.read_many(entities, Read.ABSOLUTE_POSITION)
        worlds = self.world.world_transforms(entities)
        self.world.rebase((-1464844, 2, 0))
        self.assertEqual(self.world.read(self.ship, Read.CELL).tolist(), [0, 2, 0])
        self.assertEqual(self.world.read(buoy, Read.CELL).tolist(), [-1464844, 2, 0])
        self.assertBits(self.world.world_transforms(entities), worlds)
        self.assertNotEqual(self.world.hash(), before)
        self.world.rebase((1464844, -2, 0))
        self.assertEqual(self.world.hash(), before)
        self.assertBits(self.world.read_many(entities, Read.ABSOLUTE_POSITION), absolute)

    def test_a_rebase_by_an_offset_moves_roots(self):
        self.world.rebase(offset=(8, 0, -4))
        where = self.world.read(self.mast, Read.ABSOLUTE_POSITION)
        self.assertEqual(where.tolist(), [3e9 + 8, 5, 116.25])
        for kind, offset in ((espalier.NumberError, (np.nan, 0, 0)), (ValueError, (1, 2))):
            with self.assertRaises(kind):
                self.world.rebase(offset=offset)

    def test_a_recenter_keeps_absolute_positions(self):
        near = self.world.create(position=(SIZE, 0, 0))
        far = self.world.create(position=(5 * SIZE + 1, 0, -3 * SIZE))
        lamp = self.world.create(parent=far, position=(1, 0, 0))
        entities = [self.ship, near, far]
        absolute = self.world.read_many(entities, Read.ABSOLUTE_POSITION)
        watch = self.world.watch(kinds=Watched.WORLD | Watched.CELL)
        watch.collect()
        self.assertEqual(self.world.recenter(), 1)
        self.assertEqual(self.world.read(lamp, Read.CELL).tolist(), [5, 0, -3])
        self.assertEqual(self.world.world_position(lamp).tolist(), [2, 0, 0])
        self.assertBits(self.world.read_many(entities, Read.ABSOLUTE_POSITION), absolute)
        changes = watch.collect()
        kinds = dict(zip(changes.changed.tolist(), changes.kinds.tolist()))
        self.assertTrue(kinds[far] & Watched.CELL)
        self.assertNotIn(self.ship, kinds)
        self.assertEqual(self.world.recenter(), 0)
        self.assertEqual(self.world.recenter(0.5), 1)
        self.assertEqual(self.world.read(near, Read.CELL).tolist(), [1, 0, 0])
        self.assertRefused(espalier.ArgumentError, lambda: self.world.recenter(0.25))

    def test_what_is_near_an_origin_is_read_precisely(self):
        camera = self.world.create()
        # In the next cell, and 0.125 from the ship along x, which a float cannot tell at 3e9.
        self.world.write_one(camera, Write.ABSOLUTE_POSITION, (3e9 + 0.125, 2, 120))
        origin = self.world.origin(camera)
        self.assertEqual(origin.cell, (1464844, 0, 0))
        for place in (origin, Origin((1464845, 0, 0), (origin.offset[0] - SIZE, 2, 120))):
            seen = self.world.read_relative(place, [self.ship, self.mast])
            self.assertEqual((seen.dtype, seen.tolist()), (np.float32, [[-0.125, -2, 0.25], [-0.125, 3, 0.25]]))
        pose = self.world.read_relative(origin, [self.mast], Read.WORLD_POSE)
        self.assertEqual(pose["position"].tolist(), [[-0.125, 3, 0.25]])
        with self.assertRaises(espalier.ArgumentError):
            self.world.read_relative(origin, [self.ship], Read.LOCAL_POSITION)
        with self.assertRaises(espalier.EntityError) as caught:
            self.world.read_relative(origin, [self.ship, espalier.NULL])
        self.assertEqual(caught.exception.index, 1)


class Plain(WorldCase):
    def test_a_world_without_cells_refuses_them(self):
        entity = self.world.create(position=(1, 2, 3))
        self.assertEqual(self.world.cell_size, 0)
        self.assertEqual(self.world.origin(entity), Origin((0, 0, 0), (1, 2, 3)))
        self.assertEqual(self.world.read(entity, Read.ABSOLUTE_POSITION).tolist(), [1, 2, 3])
        for call in (
            lambda: self.world.read(entity, Read.CELL),
            lambda: self.world.write_one(entity, Write.CELL, (1, 0, 0)),
            lambda: self.world.rebase((1, 0, 0)),
            lambda: self.world.recenter(),
            lambda: self.world.read_relative(Origin((1, 0, 0), (0, 0, 0)), [entity]),
        ):
            self.assertRefused(espalier.UnsupportedError, call, status=Status.ERR_UNSUPPORTED)


if __name__ == "__main__":
    unittest.main()
