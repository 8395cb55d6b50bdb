# SPDX-License-Identifier: MIT
"""Command buffers: changes that are recorded now, on any thread, and played together later."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any, Iterable, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import address, handles, one, type_of, with_flag
from ._components import Component, Values
from ._errors import Status, call, check, check_many, closed
from ._native import ffi, lib
from ._renderables import Visibles
from ._structure import Creation, attachment, bool_of, count_of, parts_of
from ._transform import Transform, pointer_or_null
from ._types import (
    NULL,
    WRITE_TYPES,
    DeadParent,
    EntitiesLike,
    Entity,
    EntityLike,
    Extent,
    Handles,
    Inherit,
    Keep,
    Link,
    Space,
    Write,
    WriteFlag,
)


class Report(NamedTuple):
    """Counts of a playback: accepted == applied + refused."""

    #: Commands that were recorded.
    accepted: int
    #: Commands that were carried out.
    applied: int
    #: Commands that were not carried out.
    refused: int
    #: Of the applied: a scale or stretch of zero left a part undetermined.
    lossy: int
    #: Entities that were created.
    created: int
    #: Entities that were destroyed.
    destroyed: int
    #: A world transform that was recomputed is not finite.
    has_overflowed: bool
    #: How many commands were refused by reason; reasons without any are left out.
    refused_by: dict[Status, int]
    #: Lane and index in the lane of the first refused command by reason.
    first_refused: dict[Status, tuple[int, int]]


def _report(out: Any) -> Report:
    counts: dict[str, Any] = {name: int(getattr(out, name)) for name in Report._fields[:-3]}
    overflowed = bool(out.has_overflowed)
    report = Report(has_overflowed=overflowed, refused_by={}, first_refused={}, **counts)
    for reason, count in enumerate(out.refused_by):
        if count:
            first = out.first_refused[reason]
            report.refused_by[Status(-reason)] = int(count)
            report.first_refused[Status(-reason)] = (int(first.lane), int(first.index))
    return report


class Recorder:
    """One lane of a command buffer. Recording never reads the world.

    ``key`` orders the playback: commands are played by key, then lane, then in the order in which they
    were recorded. Handles that create() and instantiate() return are pending: commands of the same buffer
    may name them at once, and resolve() tells after the playback which entities they became.

    The playback finds whether an entity is alive, and its report has the commands that it refused. A
    method that raises has recorded nothing: EntityError (NULL; pending in another buffer), NumberError,
    ArgumentError, PlayedError, LimitError, OutOfMemoryError, ClosedError.
    """

    __slots__ = ("_buffer", "_lane")

    def __init__(self, buffer: CommandBuffer, lane: int) -> None:
        self._buffer = buffer
        self._lane = lane

    def _record(self, function: Any, *arguments: Any) -> None:
        with self._buffer._lock:
            check(call(function, self._buffer._open(), self._lane, *arguments))

    def create(
        self,
        *,
        parent: EntityLike = NULL,
        position: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        scale: float | None = None,
        stretch: npt.ArrayLike | None = None,
        user_data: int | None = None,
        transform: Transform | bool = True,
        space: Space = Space.LOCAL,
        components: Values = (),
        before: EntityLike = NULL,
        link: Link = Link.OWNED,
        inherit: Inherit = Inherit.NONE,
        dead_parent: DeadParent = DeadParent.REFUSE,
        key: int = 0,
    ) -> Entity:
        """Record World.create(), without a name, and return a pending handle.

        dead_parent: what playback does where the parent is dead.
        """
        given = parts_of(position, rotation, scale, stretch, user_data)
        creation = Creation(
            self._buffer.world,
            transform,
            given,
            space,
            components,
            parent,
            before,
            link,
            inherit,
            dead_parent=dead_parent,
        )
        out = ffi.new("int64_t *")
        self._record(lib.native_record_create, key, creation.cdata, 1, out)
        return int(out[0])

    def instantiate(
        self,
        source: EntityLike,
        count: int | None = None,
        *,
        parent: EntityLike = NULL,
        position: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        scale: float | None = None,
        stretch: npt.ArrayLike | None = None,
        user_data: int | None = None,
        transform: Transform | None = None,
        space: Space = Space.LOCAL,
        components: Values = (),
        before: EntityLike = NULL,
        link: Link = Link.OWNED,
        inherit: Inherit = Inherit.NONE,
        dead_parent: DeadParent = DeadParent.REFUSE,
        key: int = 0,
    ) -> Any:
        """Record World.instantiate() and return a pending handle; with a count, (count,) of them."""
        out = np.zeros(1 if count is None else count_of(count), dtype=np.int64)
        given = parts_of(position, rotation, scale, stretch, user_data)
        creation = Creation(
            self._buffer.world,
            transform,
            given,
            space,
            components,
            parent,
            before,
            link,
            inherit,
            source=source,
            dead_parent=dead_parent,
        )
        self._record(
            lib.native_record_instantiate, key, creation.cdata, len(out), address(out)
        )
        return int(out[0]) if count is None else out

    def spawn(
        self,
        prefab: EntityLike,
        parent: EntityLike = NULL,
        local: Transform | None = None,
        *,
        key: int = 0,
    ) -> Entity:
        """Record World.spawn() and return a pending handle."""
        out = ffi.new("int64_t *")
        self._record(lib.native_record_spawn, key, prefab, parent, pointer_or_null(local), out)
        return int(out[0])

    def destroy(self, entity: EntityLike, extent: Extent = Extent.OWNED, *, key: int = 0) -> None:
        """Record World.destroy()."""
        self._record(lib.native_record_destroy, key, entity, extent)

    def attach(
        self,
        child: EntityLike,
        parent: EntityLike,
        keep: Keep | tuple[Keep, Keep, Keep] = Keep.WORLD,
        *,
        before: EntityLike = NULL,
        link: Link = Link.OWNED,
        inherit: Inherit = Inherit.NONE,
        key: int = 0,
    ) -> None:
        """Record World.attach()."""
        options = attachment(keep, before, link, inherit)
        self._record(lib.native_record_attach, key, child, parent, options)

    def detach(self, entity: EntityLike, keep: Keep = Keep.WORLD, *, key: int = 0) -> None:
        """Record World.detach()."""
        self._record(lib.native_record_detach, key, entity, keep)

    def move_before(
        self, entity: EntityLike, before: EntityLike = NULL, *, key: int = 0
    ) -> None:
        """Record World.move_before()."""
        self._record(lib.native_record_move_before, key, entity, before)

    def write_one(
        self,
        entity: EntityLike,
        kind: Write,
        value: npt.ArrayLike,
        *,
        flag: WriteFlag = WriteFlag.NONE,
        key: int = 0,
    ) -> None:
        """Record World.write_one(). The value is copied."""
        array = one(value, type_of(WRITE_TYPES, kind))
        self._record(
            lib.native_record_write, key, entity, with_flag(kind, flag), address(array)
        )

    def set_inherit(self, entity: EntityLike, flags: Inherit, *, key: int = 0) -> None:
        """Record World.set_inherit()."""
        self._record(lib.native_record_set_inherit, key, entity, flags)

    def change_components(
        self,
        entity: EntityLike,
        add: Values = (),
        remove: Iterable[Component] = (),
        *,
        key: int = 0,
    ) -> None:
        """Record World.change_components() of one entity. The values are copied."""
        packed = self._buffer.world._pack(add)
        numbers, count = self._buffer.world._numbers(remove)
        self._record(
            lib.native_record_change, key, entity, packed.values, packed.count, numbers, count
        )

    def add_component(
        self, entity: EntityLike, component: Component, value: Any = None, *, key: int = 0
    ) -> None:
        """Record World.add_component() of one entity. The value is copied."""
        self.change_components(entity, {component: value}, key=key)

    def remove_component(
        self, entity: EntityLike, component: Component, *, key: int = 0
    ) -> None:
        """Record World.remove_component() of one entity."""
        self.change_components(entity, (), (component,), key=key)

    def set_component(
        self, entity: EntityLike, component: Component, value: Any, *, key: int = 0
    ) -> None:
        """Record World.set_component(): refused at playback where the entity lacks it. Copied."""
        number, dtype = self._buffer.world._typed(component)
        array = component.pack_or_default(value)
        self._record(
            lib.native_record_set_component, key, entity, number, address(array), dtype.itemsize
        )

    def set_enabled(
        self, entity: EntityLike, enabled: bool, extent: Extent = Extent.OWNED, *, key: int = 0
    ) -> None:
        """Record World.set_enabled()."""
        is_enabled = bool_of(enabled, "enabled")
        self._record(lib.native_record_set_enabled, key, entity, extent, is_enabled)


class CommandBuffer:
    """Commands that were recorded for a playback, with a recorder for each lane.

    Any thread may record, also while the world plays another buffer; calls on one buffer exclude each
    other. The result of a playback depends on keys, lanes and the order within each lane, so that a lane
    for each thread makes it the same in every run.
    """

    def __init__(self, world: World, lanes: int) -> None:
        out = ffi.new("native_buffer **")
        #: The world of the buffer.
        self.world = world
        #: How many recorders there are.
        self.lanes = lanes
        self._lock = threading.RLock()
        with world._lock:
            check(call(lib.native_buffer_create, world._world(), lanes, out))
            self._native: Any = ffi.gc(out[0], lib.native_buffer_release)
            world._buffers.add(self)

    def _open(self) -> Any:
        """Return the native buffer; the caller holds the lock. Raises ClosedError."""
        if self._native is None:
            raise closed("command buffer")
        return self._native

    def recorder(self, lane: int = 0) -> Recorder:
        """Return the recorder of a lane. Raises IndexError past the last, ClosedError."""
        with self._lock:
            self._open()
        if not 0 <= lane < self.lanes:
            raise IndexError(f"lane {lane} of {self.lanes}")
        return Recorder(self, lane)

    def __len__(self) -> int:
        """Count the commands recorded in all lanes."""
        with self._lock:
            return int(lib.native_buffer_count(self._open()))

    def __bool__(self) -> bool:
        """Return True, also without commands, where len() is 0."""
        return True

    def play(self) -> Report:
        """Play the commands now, and report. Structural.

        Single commands may be refused: see the report. Where the playback as a whole is refused,
        everything is as before: OutOfMemoryError (free memory and play again), PlayedError, BusyError,
        LimitError. O(what the commands change).
        """
        out = ffi.new("espl_report *")
        with self.world._lock, self._lock:
            check(lib.native_play(self.world._world(), self._open(), out))
            self.world._submitted.discard(self)
        return _report(out)

    def submit(self) -> None:
        """Add the buffer to the queue of World.sync(), which keeps it alive.

        Raises ArgumentError (it is in the queue already), PlayedError.
        """
        with self.world._lock, self._lock:
            check(lib.native_buffer_submit(self._open()))
            self.world._submitted.add(self)

    def resolve(self, pending: EntityLike) -> Entity:
        """Return the entity that a pending handle became.

        Raises EntityError: ERR_PENDING not played yet, ERR_DEAD refused at playback, ERR_FOREIGN of
        another buffer or from before a reset; ArgumentError: not a pending handle.
        """
        return int(self.resolve_many([pending])[0])

    def resolve_many(self, pending: EntitiesLike) -> Handles:
        """Return the entities that pending handles, (n,), became, (n,). As resolve(), with the index."""
        array = handles(pending)
        out = np.empty(len(array), dtype=np.int64)
        addresses = address(array), len(array), address(out)
        with self.world._lock, self._lock:
            check_many(lib.native_buffer_resolve, self._open(), *addresses)
        return out

    def result(self, lane: int, index: int) -> Status:
        """Return the status of one command after the playback, a refusal too.

        ERR_ARGUMENT: it was not played, or there is no such command.
        """
        with self.world._lock, self._lock:
            return Status(call(lib.native_buffer_result, self._open(), lane, index))

    def reset(self) -> None:
        """Remove all commands, and keep the memory for new ones. Its pending handles become foreign."""
        with self.world._lock, self._lock:
            self.world._refuse_if_calling()
            lib.native_buffer_reset(self._open())
            self.world._submitted.discard(self)

    def close(self) -> None:
        """Destroy the buffer, played or not. A second call does nothing; every other raises ClosedError."""
        with self.world._lock, self._lock:
            self.world._refuse_if_calling()
            native, self._native = self._native, None
            if native is not None:
                lib.native_buffer_close(native)
                self.world._submitted.discard(self)

    def __enter__(self) -> CommandBuffer:
        with self._lock:
            self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class World(Visibles):
    """One independent container of entities, with their hierarchies, names and components.

        with World() as world:
            ship = world.create(position=(100, 0, 0))
            mast = world.create(parent=ship, position=(0, 5, 0))
            world.world_position(mast)    # array([100., 5., 0.], dtype=float32)

    A write propagates at once: what is read after it is always current.

    tag: 1 to 127, which every handle carries, so that another world refuses it; 0: the next one of a
    cycle. Give one where handles must be the same in every run. kernels: name of the instructions by
    which transforms are composed, None for the best ones; the bits are the same by all. layout_budget:
    nodes that one call may lay out anew, 0 for the default. cell_size: a power of two, for a large world
    whose hierarchies have cells (rebase(), recenter()); 0: none. huge_pages: ask the system for huge pages
    for large blocks; None: the environment variable ESPALIER_HUGE_PAGES, else yes. log: "info",
    "warning" or "error" print messages of that level and above to stderr, "off" none; None: the
    environment variable ESPALIER_LOG, else off. What is refused raises an exception in any case.
    Raises ArgumentError, UnsupportedError (kernels), OutOfMemoryError; FloatError where this thread rounds
    otherwise than to nearest or flushes denormals to zero, as extension modules may have it do.

    Threads: any thread may call. Calls on one world wait for each other, and so do calls on one command
    buffer. The interpreter's lock is released during each call of the library, so that other threads
    run meanwhile: on other worlds, in command buffers of this one, or in Python. Between two calls of a
    thread others may change the structure, unless a query or a view is open.
    """

    def commands(self, lanes: int = 1) -> CommandBuffer:
        """Make a command buffer with 1 to 256 lanes.

        Raises ArgumentError, LimitError, OutOfMemoryError.
        """
        return CommandBuffer(self, lanes)

    def sync(self) -> Report:
        """Play every submitted command buffer, in order of submission, and report on all. Structural.

        Raises as CommandBuffer.play(); a buffer that is refused and those after it stay in the queue.
        """
        out = ffi.new("espl_report *")
        with ExitStack() as stack:
            stack.enter_context(self._lock)
            world = self._world()
            for buffer in self._submitted:
                stack.enter_context(buffer._lock)
            check(lib.native_sync(world, out))
            self._submitted.clear()
        return _report(out)
