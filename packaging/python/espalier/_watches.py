# SPDX-License-Identifier: MIT
"""Watches: which entities came, went and changed since the last look."""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import address
from ._components import Component, Components
from ._errors import ArgumentError, Status, call, check, closed
from ._native import ffi, lib
from ._queries import Queries
from ._structure import bool_of
from ._types import ENTITY, TRANSFORM, Handles, Include, Watched

_BEFORE = int(lib.ESPL_WATCH_BEFORE)
_ALL_KINDS = Watched.WORLD | Watched.LOCAL | Watched.SHOWN | Watched.CELL
_KIND = np.dtype(np.uint8)
#: The numpy type of Changes.added_cells: the cell of the hierarchy, and 1 for an entity without a parent, else 0.
CHANGED_CELL = np.dtype([("cell", np.int32, 3), ("is_top", np.uint32)])


class Changes(NamedTuple):
    """What changed between two looks. All arrays are copies."""

    #: (n,) handles of the last collect that no longer answer; most are dead. They ascend by index.
    removed: Handles
    #: (n,) entities that the last collect did not have, at the first one all. They ascend by index.
    added: Handles
    #: (n,) entities that both have and that changed, in the order of memory.
    changed: Handles
    #: (n,) what changed of each of `changed`: bits of Watched, numpy.uint8.
    kinds: npt.NDArray[np.uint8]
    #: (n,) of TRANSFORM, for each of `added`: in the world, or with Watched.SHOWN as it is drawn; (0,) without
    #: Watched.WORLD and Watched.SHOWN.
    added_worlds: npt.NDArray[Any]
    #: (n,) of TRANSFORM, for each of `changed`, as added_worlds.
    changed_worlds: npt.NDArray[Any]
    #: (n,) of TRANSFORM, for each of `added`, relative to the parent; None without Watched.LOCAL.
    added_locals: npt.NDArray[Any] | None
    #: (n,) of TRANSFORM, for each of `changed`, relative to the parent; None without Watched.LOCAL.
    changed_locals: npt.NDArray[Any] | None
    #: (n,) of TRANSFORM, for each of `changed` what was reported last; None without before=True.
    changed_before: npt.NDArray[Any] | None
    #: Of this collect, for collect(since=...).
    moment: int
    #: The look went so far back that `changed` has all entities of blocks in which some changed.
    is_coarse: bool
    #: (n,) of CHANGED_CELL, for each of `added`; None without Watched.CELL.
    added_cells: npt.NDArray[Any] | None = None
    #: (n,) of CHANGED_CELL, for each of `changed`; None without Watched.CELL.
    changed_cells: npt.NDArray[Any] | None = None
    #: World.cell_size with Watched.CELL, else 0.
    cell_size: float = 0.0

    def __bool__(self) -> bool:
        """Tell whether an entity was removed or added, or changed."""
        return bool(len(self.removed) or len(self.added) or len(self.changed))


class Watch:
    """A consumer of the changes of a world: collect() tells what changed since its last call.

        with world.watch() as watch:
            changes = watch.collect()        # at first every entity is added
            world.set_local(robot, position=(1, 0, 0))
            changes = watch.collect()        # robot and all that follows it
            matrices[rows_of(changes.changed)] = world.world_matrices(changes.changed)

    No entity that differs from the last collect is left out, whatever changed it. One that does not may be
    reported as well, because it was written and written back for example; with before=True it is not,
    except for own data (LOCAL). Any number of watches see one world, each at a rate of its own. It holds memory
    until close(), or until the world is closed or it is gone.
    """

    def __init__(self, world: Components, terms: Any, flags: int) -> None:
        out = ffi.new("native_watch **")
        self._owner = world
        self._flags = flags
        self._collected = ffi.new("native_changes *")
        #: False: the arrays of the last collect could not be copied, so the next one copies them.
        self._is_taken = True
        with world._lock:
            check(call(lib.native_watch_create, world._world(), terms, flags, out))
            self._native: Any = ffi.gc(out[0], lib.native_watch_release)

    def _open(self) -> Any:
        """Return the native watch; the caller holds the world's lock. Raises ClosedError."""
        self._owner._world()
        if self._native is None:
            raise closed("watch")
        return self._native

    def collect(self, since: int = 0) -> Changes:
        """Return what changed since the last collect.

        since: the `moment` of an earlier collect of this watch, whose consumer lost what came after it:
        `changed` has all that changed since then, while `removed` and `added` stay relative to the last
        collect. Allowed in the block of a query.

        Raises ArgumentError (since: before the first collect, or after the last), OutOfMemoryError or
        MemoryError. Then nothing was consumed: the next collect gives it all.
        O(changes + entities / 64), with a small factor.
        """
        with self._owner._lock:
            native = self._open()
            if self._is_taken:
                check(call(lib.native_watch_collect, native, since, self._collected))
            self._is_taken = False
            changes = self._copies()
            self._is_taken = True
        return changes

    def _copies(self) -> Changes:
        """Copy the arrays of the last collect."""
        collected = self._collected
        removed, added, changed = (
            int(collected.removed_count),
            int(collected.added_count),
            int(collected.changed_count),
        )
        has_locals, has_before = self._flags & Watched.LOCAL, self._flags & _BEFORE
        has_cells = self._flags & Watched.CELL
        has_worlds = collected.changed_worlds != ffi.NULL
        return Changes(
            _copy(collected.removed, removed, ENTITY),
            _copy(collected.added, added, ENTITY),
            _copy(collected.changed, changed, ENTITY),
            _copy(collected.kinds, changed, _KIND),
            _copy(collected.added_worlds, added if has_worlds else 0, TRANSFORM),
            _copy(collected.changed_worlds, changed if has_worlds else 0, TRANSFORM),
            _copy(collected.added_locals, added, TRANSFORM) if has_locals else None,
            _copy(collected.changed_locals, changed, TRANSFORM) if has_locals else None,
            _copy(collected.changed_before, changed, TRANSFORM) if has_before else None,
            int(collected.moment),
            bool(collected.is_coarse),
            _copy(collected.added_cells, added, CHANGED_CELL) if has_cells else None,
            _copy(collected.changed_cells, changed, CHANGED_CELL) if has_cells else None,
            float(collected.cell_size),
        )

    def close(self) -> None:
        """Free its memory. A second call does nothing; collect() raises ClosedError."""
        with self._owner._lock:
            self._owner._refuse_if_calling()
            native, self._native = self._native, None
            if native is not None and not self._owner.closed:
                lib.native_watch_close(native)

    @property
    def closed(self) -> bool:
        """True once close() was called, here or of the world."""
        return self._native is None or self._owner.closed

    def __enter__(self) -> Watch:
        with self._owner._lock:
            self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Watches(Queries):
    """Watches of a world."""

    def watch(
        self,
        all: Iterable[Component] = (),
        *,
        none: Iterable[Component] = (),
        any: Iterable[Component] = (),
        include: Include = Include.NONE,
        kinds: Watched = Watched.WORLD,
        before: bool = False,
    ) -> Watch:
        """Watch the entities that have a transform and all of some components. See Watch.

        none, any, include: as query() has them. An entity that begins to answer is added, one that no longer
        does is removed. kinds: what is reported; SHOWN needs motion, and its transforms are those that are
        drawn. before: keep what was reported, so that only entities that differ from it are, with what they
        were; it compares world and shown transforms, whichever are asked for, and not own data.

        Raises ArgumentError (no such kinds; SHOWN without motion; CELL without cells; LOCAL alone with before;
        a component of another world), LimitError (more than 64 components), BusyError, OutOfMemoryError.
        O(size) where nothing was watched.
        """
        if int(kinds) & ~int(_ALL_KINDS):
            raise ArgumentError(Status.ERR_ARGUMENT, f"there are no kinds {kinds!r}")
        flags = int(kinds) | (_BEFORE if bool_of(before, "before") else 0)
        lists = {"all": all, "none": none, "any": any}
        terms, keep = self._terms(lists, include=include)
        try:
            return Watch(self, terms, flags)
        finally:
            del keep  # what the terms point to


def _copy(start: Any, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    out = np.empty(count, dtype=dtype)
    if count != 0:
        ffi.memmove(address(out), start, count * dtype.itemsize)
    return out
