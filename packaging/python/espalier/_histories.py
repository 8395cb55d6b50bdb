# SPDX-License-Identifier: MIT
"""Histories: a world goes back to frames that were marked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._arrays import address
from ._errors import Status, call, check, closed
from ._native import ffi, lib
from ._structure import bool_of
from ._types import ENTITY, Handles
from ._values import Archives


class Rewound(NamedTuple):
    """What a rewind did. The arrays are copies."""

    #: (n,) handles that lived before the rewind and do not now. They ascend by index.
    unborn: Handles
    #: (n,) handles that live now and did not before. They ascend by index.
    revived: Handles


class History:
    """The frames to which a world can be rewound, by World.history().

        history = world.history()
        frame = 0
        history.mark(frame)
        while True:
            late = first_wrong(inputs)       # the first frame whose input was predicted wrongly, or None
            if late is not None:
                history.rewind(late)
            for again in range(frame if late is None else late, frame + 1):
                step(world, inputs[again])   # the same steps come to the same bits and handles
                history.mark(again + 1)
            frame += 1

    A world has one at most. It takes memory when it is created and when the world grows; marks and rewinds take
    none. It keeps its memory until close(), until the world is closed, or until no variable has the history.
    World.compact(), World.load_image(), World.start_motion() and World.stop_motion() empty it.
    """

    def __init__(self, world: Histories, frames: int, byte_limit: int, flags: int) -> None:
        out = ffi.new("native_history **")
        self._owner = world
        with world._lock:
            check(
                call(lib.native_history_create, world._world(), frames, byte_limit, flags, out)
            )
            self._native: Any = ffi.gc(out[0], lib.native_history_release)

    def _open(self) -> Any:
        """Return the native history; the caller holds the world's lock. Raises ClosedError."""
        self._owner._world()
        if self._native is None:
            raise closed("history")
        return self._native

    def mark(self, frame: int) -> Status:
        """Mark a frame: the world as it is now. Structural. O(what changed).

        frame: any number above that of the newest frame, from 0 to 2**64 - 1. The oldest frames are dropped
        where there are more than `frames`, or where what changed since them takes more than `byte_limit`
        bytes. Returns OK, or PARTLY: this frame is the only one, because what changed since the newest frame
        alone takes more than `byte_limit` bytes. Raises ArgumentError (not above the newest), BusyError.
        """
        with self._owner._lock:
            return check(call(lib.native_history_mark, self._open(), frame))

    def rewind(self, frame: int, *, fresh: bool = False) -> Rewound:
        """Make the world what it was at a mark. That frame is the newest then. Structural. O(what changed).

        The same calls come to the same bits and handles as they did the first time, so that a handle of an
        entity that was made since the mark may name another entity later. fresh: it never does, and the same
        calls come to other handles. Values of transient components stay where their entities do. Raises
        TooOldError (the history does not have the frame: see `frames`), BusyError.
        """
        out = ffi.new("native_rewind *")
        flags = int(lib.ESPL_REWIND_FRESH) if bool_of(fresh, "fresh") else 0
        with self._owner._lock:
            check(call(lib.native_history_rewind, self._open(), frame, flags, out))
            return Rewound(
                _copy(out.unborn, int(out.unborn_count)), _copy(out.revived, int(out.revived_count))
            )

    @property
    def frames(self) -> tuple[int, int] | None:
        """The oldest and the newest frame of the history; None: it has none. It has every frame between that
        was marked."""
        oldest, newest = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        with self._owner._lock:
            if not lib.native_history_range(self._open(), oldest, newest):
                return None
        return int(oldest[0]), int(newest[0])

    def hash(self, frame: int) -> int:
        """Return the checksum of a frame: equal for worlds on which the same calls come to the same results.

        Every machine has the same checksums; where a component has numbers that no field describes, only those
        of the same order of bytes.

        Raises TooOldError, UnsupportedError (the history was made without hash=True).
        """
        out = ffi.new("uint64_t *")
        with self._owner._lock:
            check(call(lib.native_history_hash, self._open(), frame, out))
        return int(out[0])

    def close(self) -> None:
        """Free its memory. A second call does nothing. Raises BusyError while a query is open."""
        with self._owner._lock:
            self._owner._refuse_if_calling()
            if self._native is not None and not self._owner.closed:
                check(lib.native_history_close(self._native))
            self._native = None

    @property
    def closed(self) -> bool:
        """True once close() was called, here or of the world."""
        return self._native is None or self._owner.closed

    def __enter__(self) -> History:
        with self._owner._lock:
            self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Histories(Archives):
    """Histories of a world."""

    def history(self, frames: int = 8, *, byte_limit: int = 1 << 24, hash: bool = False) -> History:
        """Begin to keep what changes, for a way back. See History.

        frames: upper bound of the frames that are kept, 1 to 65536. byte_limit: bytes for what changed between
        them. hash: keep a checksum of each frame, for History.hash(). Raises ArgumentError (a number out of its
        range, or the world has a history), BusyError, OutOfMemoryError. O(size).
        """
        flags = int(lib.ESPL_HISTORY_HASH) if bool_of(hash, "hash") else 0
        return History(self, frames, byte_limit, flags)


def _copy(start: Any, count: int) -> Handles:
    out = np.empty(count, dtype=ENTITY)
    if count != 0:
        ffi.memmove(address(out), start, out.nbytes)
    return out
