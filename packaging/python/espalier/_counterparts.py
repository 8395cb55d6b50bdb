# SPDX-License-Identifier: MIT
"""One entity in several worlds: counterparts, and worlds that follow each other."""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple

import numpy as np

from ._arrays import address
from ._components import Component
from ._errors import ArgumentError, Status
from ._native import ffi, lib
from ._structure import bool_of
from ._transform import Transform, pointer_or_null
from ._types import ENTITY, NULL, TRANSFORM, Entity, EntityLike, Extent, Space
from ._watches import CHANGED_CELL, Changes, Watches


class FollowReport(NamedTuple):
    """Counts of World.follow()."""

    #: Counterparts whose transform was written, also where it was equal.
    written: int
    #: Counterparts of removed entities that were destroyed.
    destroyed: int
    #: Entities that came or changed and have no counterpart here.
    unknown: int
    #: Counterparts that could not be written, because they have no transform for example.
    refused: int


class Counterparts(Watches):
    """Entities that stand for those of another world, their originals.

        shown = world.place(game, robot)             # robot and what it owns
        with game.watch(kinds=Watched.LOCAL) as watch:
            ...
            world.follow(watch.collect())            # what moved in the game moves here

    An original has one counterpart in a world. Its handle is compared and never followed, so that it may be of
    another process; worlds are told apart by their tags.
    """

    def set_counterpart(self, entity: EntityLike, original: EntityLike) -> None:
        """Make an entity the counterpart of one of another world; NULL ends the link.

        Raises EntityError (also where the original has another counterpart here), ArgumentError (the original has
        the tag of this world), OutOfMemoryError, BusyError.
        """
        self._checked(lib.native_set_counterpart, entity, original)

    def counterpart(self, original: EntityLike) -> Entity:
        """Return the entity of this world that stands for a handle of another one, NULL where there is none."""
        return int(self._call(lib.native_find_counterpart, original))

    def original(self, entity: EntityLike) -> Entity:
        """Return the entity of another world that an entity stands for, NULL where there is none."""
        return int(self._call(lib.native_get_original, entity))

    def place(
        self,
        world: Counterparts,
        original: EntityLike,
        *,
        extent: Extent = Extent.OWNED,
        parent: EntityLike = NULL,
        before: EntityLike = NULL,
        transform: Transform | None = None,
        space: Space = Space.LOCAL,
        components: Iterable[Component] = (),
    ) -> Entity:
        """Make counterparts of an entity of another world and of what is below it, and return the first one.

        transform: of the first one, relative to its parent or to the world; None: as the original has it.
        components: of the other world, copied where this one has a component of the same name and size. All
        or nothing. Raises EntityError, ArgumentError, NotFiniteError, LimitError, BusyError, OutOfMemoryError.
        """
        numbers, count = world._numbers(components)
        place = 0 if transform is None else int(space)
        out = ffi.new("int64_t *")
        placing = ffi.new("native_placing *")
        placing.extent, placing.place = int(extent), place
        placing.parent, placing.before = parent, before
        placing.transform = pointer_or_null(transform)
        placing.components, placing.component_count = numbers, count
        # Always in the same order, so that two threads do not wait for each other.
        first, second = sorted((self, world), key=id)
        with first._lock, second._lock:
            self._checked(lib.native_place, world._world(), original, placing, out)
        return int(out[0])

    def follow(
        self,
        changes: Changes,
        *,
        space: Space = Space.LOCAL,
        removed: Extent = Extent.OWNED,
        keep: bool = False,
    ) -> FollowReport:
        """Repeat what a watch of another world collected.

        Counterparts of removed entities are destroyed, with what `removed` says below them, unless `keep`.
        Then those of added and changed ones get the local transforms, which the watch must have, or the world
        transforms. With the cells of a watch of Watched.CELL a root or solo gets the cell of its original, where this
        world has cells; where it has none, positions become absolute ones. Raises ArgumentError, BusyError, OutOfMemoryError, LimitError.
        """
        is_local = space == Space.LOCAL
        names = ("added_locals", "changed_locals") if is_local else ("added_worlds", "changed_worlds")
        if any(getattr(changes, name) is None for name in names):
            raise ArgumentError(Status.ERR_ARGUMENT, "the changes have no local transforms")
        arrays: dict[str, Any] = {
            name: np.ascontiguousarray(getattr(changes, name), dtype=ENTITY)
            for name in ("removed", "added", "changed")
        }
        lists = dict.fromkeys(names, TRANSFORM)
        if changes.cell_size != 0:
            lists.update(added_cells=CHANGED_CELL, changed_cells=CHANGED_CELL)
        for name, dtype in lists.items():
            arrays[name] = np.ascontiguousarray(getattr(changes, name), dtype=dtype)
            if len(arrays[name]) != len(arrays[name.split("_")[0]]):
                raise ValueError(f"{name} must have one for each entity")
        given = ffi.new("native_changes *")
        given.cell_size = changes.cell_size
        for name, array in arrays.items():
            setattr(given, name, address(array))
        for name in ("removed", "added", "changed"):
            setattr(given, f"{name}_count", len(arrays[name]))
        report = ffi.new("espl_follow_report *")
        flags = int(lib.ESPL_FOLLOW_KEEPS) if bool_of(keep, "keep") else 0
        self._checked(
            lib.native_follow, given, 0 if is_local else 1, int(removed), flags, report
        )
        return FollowReport(
            int(report.written), int(report.destroyed), int(report.unknown), int(report.refused)
        )
