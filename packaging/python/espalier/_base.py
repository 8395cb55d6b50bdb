# SPDX-License-Identifier: MIT
"""The life of a world, and its lock."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ._errors import ArgumentError, Status, check, closed
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._commands import CommandBuffer

_LEVELS = {"info": 0, "warning": 1, "error": 2, "off": 3}
_Self = TypeVar("_Self", bound="WorldBase")


class Stats(NamedTuple):
    """Statistics of a world. Counts of events are since it was made."""

    #: Living entities, and how many of them are in no hierarchy, roots, and members.
    entities: int
    solos: int
    hierarchies: int
    members: int
    #: Entities that are disabled, prefabs, or named.
    disabled: int
    prefabs: int
    names: int
    #: Bytes of memory, all of them; those of entities and components, of hierarchies, of commands.
    bytes: int
    bytes_store: int
    bytes_tree: int
    bytes_commands: int
    #: World transforms that were recomputed.
    nodes_visited: int
    #: Writes that changed a transform, and writes that left every bit as it was.
    writes: int
    writes_skipped: int
    #: Commands that were played.
    commands_accepted: int
    commands_applied: int
    commands_refused: int
    #: Bytes that the world has released, and that arrays of ended queries and views still show.
    bytes_kept_for_views: int


class Validation(NamedTuple):
    """A broken invariant of a world: a fault of the library, or of memory written by others."""

    rule: str
    entity: int
    detail: int


class WorldBase:
    """What all calls of a world share."""

    def __init__(
        self,
        *,
        tag: int = 0,
        kernels: str | None = None,
        layout_budget: int = 0,
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
        name = ffi.NULL if kernels is None else ffi.new("char[]", kernels.encode())
        options = ffi.new("native_options *")
        options.tag = tag
        options.kernels = name
        options.layout_budget = layout_budget
        options.log_level = _LEVELS[word]
        options.huge_pages = huge_pages
        out = ffi.new("native_world **")
        self._cdata: Any = None
        self._lock = threading.RLock()
        self._submitted: list[CommandBuffer] = []
        self._buffers: weakref.WeakSet[CommandBuffer] = weakref.WeakSet()
        check(lib.native_world_create(out, options))
        self._cdata = ffi.gc(out[0], lib.native_world_release)

    def _world(self) -> Any:
        """Return the native world; the caller holds the lock. Raises ClosedError."""
        if self._cdata is None:
            raise closed("world")
        return self._cdata

    def close(self) -> None:
        """Destroy the world and all it holds, its command buffers too. A second call does nothing.

        Every later call raises ClosedError. Open queries and views end. Arrays that they gave out stay
        readable: see Query.
        """
        with self._lock:
            if self._cdata is None:
                return
            for buffer in list(self._buffers):
                buffer.close()
            lib.native_world_close(self._cdata)
            self._submitted.clear()
            self._cdata = None

    @property
    def closed(self) -> bool:
        """True once close() was called."""
        return self._cdata is None

    def __enter__(self: _Self) -> _Self:
        self._world()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def kernels(self) -> str:
        """Name of the instructions by which transforms are composed, "avx2" for example."""
        with self._lock:
            return str(ffi.string(lib.native_kernels(self._world())).decode())

    def clear(self) -> None:
        """Destroy every entity; components stay registered. Raises BusyError. O(size)."""
        with self._lock:
            check(lib.native_clear(self._world()))

    def compact(self) -> None:
        """Free unused memory, and lay out every hierarchy for the fastest passes. O(size).

        Handles and everything that can be read stay as they are. Raises OutOfMemoryError, BusyError.
        """
        with self._lock:
            check(lib.native_compact(self._world()))

    def hash(self, *, physical: bool = False) -> int:
        """Hash all contents: 64 bits, the same on every machine for worlds of equal contents. O(size).

        physical: also handles and storage, so that worlds with the same hash give the same handles to
        the entities that are created next. It may change with the version of the library.
        """
        out = ffi.new("uint64_t *")
        with self._lock:
            check(lib.native_hash(self._world(), 1 if physical else 0, out))
        return int(out[0])

    def validate(self) -> Validation | None:
        """Check every invariant, transforms bit for bit: None where all hold. O(size)."""
        entity, detail = ffi.new("int64_t *"), ffi.new("size_t *")
        with self._lock:
            rule = lib.native_validate(self._world(), entity, detail)
        if rule == ffi.NULL:
            return None
        return Validation(str(ffi.string(rule).decode()), int(entity[0]), int(detail[0]))

    def stats(self) -> Stats:
        """Read the statistics. O(hierarchies)."""
        out = ffi.new("espl_world_stats *")
        with self._lock:
            lib.native_stats(self._world(), out)
            kept = int(lib.native_pinned_bytes(self._world()))
        fields = {name: int(getattr(out, name)) for name in Stats._fields[:-1]}
        return Stats(**fields, bytes_kept_for_views=kept)
