# SPDX-License-Identifier: MIT
"""Motion between ticks: a simulation steps at a fixed rate, and what is drawn lies between two steps."""

from __future__ import annotations

from typing import NamedTuple

from ._counterparts import Counterparts
from ._errors import ArgumentError, Status
from ._native import ffi, lib


class Presented(NamedTuple):
    """Counts of World.present()."""

    #: Poses that were blended, or taken as they are because of a change: how much work it was.
    blended: int
    #: Shown transforms that were computed: how much work it was.
    visited: int
    #: A shown transform of the world is not finite.
    has_overflowed: bool


class Tick:
    """A tick of a world, for a ``with`` block: see World.tick()."""

    __slots__ = ("_world", "_is_open")

    def __init__(self, world: Motions) -> None:
        self._world = world
        self._is_open = False

    def __enter__(self) -> Tick:
        with self._world._lock:
            if self._is_open:
                raise ArgumentError(Status.ERR_ARGUMENT, "the tick is open already")
            self._world._checked(lib.native_tick_begin)
            self._is_open = True
        return self

    def __exit__(self, *error: object) -> None:
        with self._world._lock:
            was_open, self._is_open = self._is_open, False
            if was_open and not self._world.closed:
                self._world._checked(lib.native_tick_end)


class Motions(Counterparts):
    """Motion of a world between ticks.

        world.start_motion()
        while running:
            while lag >= step:
                with world.tick():           # what is written here is blended
                    simulate(world, step)
                lag -= step
            world.set_local(camera, look)    # what is written here is shown as it is
            world.present(lag / step)
            draw(world.shown_matrices(entities))
    """

    def start_motion(self, history: int = 1) -> None:
        """Keep what motion needs: the previous pose of each node, and what is shown. O(size).

        history: ticks that are kept; with 2 Read.BEFORE_LOCAL_POSE reads the tick before the last.
        Raises ArgumentError (started already; another history), BusyError, OutOfMemoryError.
        """
        self._checked(lib.native_motion_start, history)

    def stop_motion(self) -> None:
        """Drop what motion keeps; worlds are shown from now on. Raises ArgumentError (not started), BusyError."""
        self._checked(lib.native_motion_stop)

    def tick(self) -> Tick:
        """Return a tick for a ``with`` block: what is written in it is blended.

        What is written outside is shown as it is. The tick ends with the block, after an exception too.
        Where a block begins before another one has ended, the tick begins anew. The block raises
        ArgumentError (motion is not started).
        """
        return Tick(self)

    def present(self, at: float) -> Presented:
        """Compute what is shown: 0 is the begin of the last tick, 1 its end; more than 1 goes beyond it.

        Raises NumberError (at is not finite), ArgumentError (motion is not started), OutOfMemoryError; then
        what was shown stays. O(what was written + what follows it).
        """
        report = ffi.new("espl_present_report *")
        self._checked(lib.native_present, at, report)
        return Presented(int(report.blended), int(report.visited), bool(report.has_overflowed))
