# SPDX-License-Identifier: MIT
"""Creation, closing, lock and statistics of a world."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, TypeVar

from ._errors import ArgumentError, BusyError, Status, bytes_of, call, check, closed, fill, text_of
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._commands import CommandBuffer
    from ._components import Component

_LEVELS = {"info": 0, "warning": 1, "error": 2, "off": 3}
_Self = TypeVar("_Self", bound="WorldBase")


class Stats(NamedTuple):
    """Statistics of a world. Events are counted from its creation on."""

    #: Living entities.
    entities: int
    #: Of them: in no hierarchy.
    solos: int
    #: Of them: roots of a hierarchy.
    hierarchies: int
    #: Of them: with a parent.
    members: int
    #: Of them: disabled.
    disabled: int
    #: Of them: prefabs.
    prefabs: int
    #: Of them: with a name.
    names: int
    #: Of them: with an original in another world.
    counterparts: int
    #: In the newest mirror of the renderables.
    renderables: int
    #: Bytes of memory in all.
    bytes: int
    #: Of them: for entities and components.
    bytes_store: int
    #: Of them: for hierarchies.
    bytes_tree: int
    #: Of them: for command buffers.
    bytes_commands: int
    #: Of them: for watches, and for the marks of changes, which the first two count too.
    bytes_changes: int
    #: Of the bytes for changes: for renderables and their mirrors.
    bytes_renderables: int
    #: Watches.
    watches: int
    #: Calls of present() that computed what is shown.
    presented: int
    #: The sum of `blended` of what they returned.
    blended: int
    #: World transforms that were recomputed.
    nodes_visited: int
    #: Writes that changed a transform.
    writes: int
    #: Writes that left every bit of a transform as it was.
    writes_skipped: int
    #: Commands that were played.
    commands_accepted: int
    #: Of them: carried out.
    commands_applied: int
    #: Of them: refused.
    commands_refused: int
    #: Bytes that the world has released, and that stay allocated for arrays of ended queries and views.
    bytes_kept_for_views: int


class Validation(NamedTuple):
    """A broken invariant of a world: a fault of the library, or of memory written by others."""

    rule: str
    entity: int
    detail: int


class WorldBase:
    """What all calls of a world share: the native world, and the lock that each call holds."""

    def __init__(
        self,
        *,
        tag: int = 0,
        kernels: str | None = None,
        layout_budget: int = 0,
        cell_size: float = 0,
        huge_pages: bool | None = None,
        log: str | None = None,
    ) -> None:
        word = log if log is not None else os.environ.get("ESPALIER_LOG") or "off"
        if word not in _LEVELS:
            raise ArgumentError(
                Status.ERR_ARGUMENT, f"log is one of {', '.join(_LEVELS)}, not {word!r}"
            )
        if huge_pages is None:
            huge_pages = os.environ.get("ESPALIER_HUGE_PAGES", "on") != "off"
        name = ffi.NULL if kernels is None else ffi.new("char[]", bytes_of(kernels, "kernels"))
        options = ffi.new("native_options *")
        fill(
            options,
            tag=tag,
            kernels=name,
            layout_budget=layout_budget,
            cell_size=cell_size,
            log_level=_LEVELS[word],
            huge_pages=huge_pages,
        )
        out = ffi.new("native_world **")
        self._cdata: Any = None
        self._lock = threading.RLock()
        self._cell_size = float(cell_size)
        #: A call of the library is under way that calls Python.
        self._is_calling = False
        self._registered: dict[str, Component] = {}
        #: Buffers in the queue of sync(), which keeps them alive.
        self._submitted: set[CommandBuffer] = set()
        self._buffers: weakref.WeakSet[CommandBuffer] = weakref.WeakSet()
        check(lib.native_world_create(out, options))
        self._cdata = ffi.gc(out[0], lib.native_world_release)

    def _world(self) -> Any:
        """Return the native world; the caller holds the lock. Raises ClosedError, BusyError."""
        self._refuse_if_calling()
        if self._cdata is None:
            raise closed("world")
        return self._cdata

    @contextmanager
    def _calling(self) -> Iterator[Any]:
        """Hold the lock for a call of the library that calls Python, and refuse the calls that are made there."""
        with self._lock:
            world = self._world()
            self._is_calling = True
            try:
                yield world
            finally:
                self._is_calling = False

    def _refuse_if_calling(self) -> None:
        """Raise BusyError in a function that the library calls; the caller holds the lock."""
        if self._is_calling:
            raise BusyError(
                Status.ERR_BUSY, "a file that is written and a migration must not use their world"
            )

    def _call(self, function: Any, *arguments: Any) -> Any:
        """Call a native function of the world under the lock, and return what it returns."""
        with self._lock:
            return call(function, self._world(), *arguments)

    def _checked(self, function: Any, *arguments: Any) -> Status:
        """Call a native function of the world that returns a status. As check()."""
        return check(self._call(function, *arguments))

    def close(self) -> None:
        """Destroy the world and all it holds, its command buffers too. A second call does nothing.

        Every later call raises ClosedError. Open queries and views end. Arrays that they gave out stay
        readable: see Query.
        """
        with self._lock:
            if self._cdata is None:
                return
            self._refuse_if_calling()
            for buffer in list(self._buffers):
                buffer.close()  # waits for a thread that records
            lib.native_world_close(self._cdata)
            self._cdata = None

    @property
    def closed(self) -> bool:
        """True once close() was called."""
        return self._cdata is None

    def __enter__(self: _Self) -> _Self:
        self._world()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def kernels(self) -> str:
        """Name of the instructions by which transforms are composed, "avx2" for example."""
        with self._lock:
            return text_of(lib.native_kernels(self._world()))

    def clear(self) -> None:
        """Destroy every entity; components stay registered. Raises BusyError. O(size)."""
        self._checked(lib.native_clear)

    def compact(self) -> None:
        """Free unused memory, and store every hierarchy in the order that is fastest to propagate. O(size).

        Handles and everything that can be read stay the same. Raises OutOfMemoryError, BusyError.
        """
        self._checked(lib.native_compact)

    def hash(self, *, physical: bool = False) -> int:
        """Hash all contents: 64 bits, the same on every machine for worlds of equal contents. O(size).

        physical: also handles and storage, so that worlds with the same hash give the same handles to
        the entities that are created next. It may change with the version of the library.
        """
        out = ffi.new("uint64_t *")
        self._checked(lib.native_hash, 1 if physical else 0, out)
        return int(out[0])

    def validate(self) -> Validation | None:
        """Check every invariant, transforms bit for bit: None where all hold. O(size)."""
        entity, detail = ffi.new("int64_t *"), ffi.new("size_t *")
        rule = self._call(lib.native_validate, entity, detail)
        if rule == ffi.NULL:
            return None
        return Validation(text_of(rule), int(entity[0]), int(detail[0]))

    def stats(self) -> Stats:
        """Read the statistics. O(hierarchies)."""
        out = ffi.new("espl_world_stats *")
        with self._lock:
            lib.native_stats(self._world(), out)
            kept = int(lib.native_pinned_bytes(self._world()))
        fields = {name: int(getattr(out, name)) for name in Stats._fields[:-1]}
        return Stats(**fields, bytes_kept_for_views=kept)
