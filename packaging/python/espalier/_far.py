# SPDX-License-Identifier: MIT
"""Large worlds: cells of hierarchies, and what is read relative to an origin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import address, one, strided_handles, type_of
from ._motion import Motions
from ._native import ffi, lib
from ._types import READ_TYPES, WRITE_TYPES, EntitiesLike, EntityLike, Read, Write


class Origin(NamedTuple):
    """A point of a world: what positions are read relative to, a camera for example."""

    #: Of the hierarchy; 0, 0, 0 without cells.
    cell: tuple[int, int, int]
    #: From the middle of the cell.
    offset: tuple[float, float, float]


class Places(Motions):
    """Places in a large world, of World(cell_size=2048): each hierarchy has a cell, and positions are relative to it.

        world = World(cell_size=2048)
        world.write_one(ship, Write.ABSOLUTE_POSITION, (3e9, 0, 120.25))
        world.read(ship, Read.CELL)              # array([1464844, 0, 0], dtype=int32)
        origin = world.origin(camera)
        world.read_relative(origin, ships)       # (n, 3), precise near the camera
        world.recenter()                         # once a second
    """

    @property
    def cell_size(self) -> float:
        """Size of cells; 0: the world has none."""
        return self._cell_size

    def rebase(
        self, cells: npt.ArrayLike | None = None, offset: npt.ArrayLike | None = None
    ) -> None:
        """Move the whole world by whole cells, (3,), which is exact, and by an offset, (3,), in floats.

        Raises UnsupportedError (cells without cells), NumberError, RangeError, BusyError. O(hierarchies) by
        cells.
        """
        by = None if cells is None else one(cells, WRITE_TYPES[Write.CELL], "cells")
        further = None if offset is None else one(offset, WRITE_TYPES[Write.LOCAL_POSITION], "offset")
        self._checked(
            lib.native_rebase,
            ffi.NULL if by is None else ffi.cast("int32_t *", by.ctypes.data),
            ffi.NULL if further is None else ffi.cast("float *", further.ctypes.data),
        )

    def recenter(self, limit: float = 0) -> int:
        """Bring what is more than `limit` cells from its cell to the nearest one; return how many. 0 means 1.

        Absolute positions of roots stay, bit for bit. Raises ArgumentError (limit), UnsupportedError (no cells),
        BusyError.
        """
        count = ffi.new("size_t *")
        self._checked(lib.native_recenter, limit, count)
        return int(count[0])

    def origin(self, entity: EntityLike) -> Origin:
        """Return the place of an entity. Raises EntityError, ComponentError."""
        out = ffi.new("espl_origin *")
        self._checked(lib.native_origin, entity, out)
        x, y, z = out.offset
        return Origin((out.cell[0], out.cell[1], out.cell[2]), (x, y, z))

    def read_relative(
        self, origin: Origin, entities: EntitiesLike, kind: Read = Read.WORLD_POSITION
    ) -> npt.NDArray[Any]:
        """Read many entities relative to an origin: world or shown positions, poses or transforms, (n, ...).

        Raises EntityError or ComponentError, with the first that cannot be read; ArgumentError (another kind).
        """
        array, stride = strided_handles(entities)
        dtype = type_of(READ_TYPES, kind)
        out = np.empty((len(array),) + dtype.shape, dtype=dtype.base)
        point = ffi.new("espl_origin *", {"cell": origin.cell, "offset": origin.offset})
        with self._lock:
            status = lib.native_read_relative(
                self._world(), point, kind, address(array), stride, address(out), dtype.itemsize, len(array)
            )
            self._check_read(status, array, stride, True)
        return out
