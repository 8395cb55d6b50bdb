# SPDX-License-Identifier: MIT
"""Queries and views: numpy arrays over the memory of a world."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, TypeVar

import numpy as np
import numpy.typing as npt

from ._arrays import address, rows, shown, type_of
from ._components import Component, Components
from ._errors import ArgumentError, ComponentError, Status, call, check, closed, fill
from ._native import ffi, lib
from ._types import POSE, READ_TYPES, EntityLike, Floats, Handles, Include, Read

_Self = TypeVar("_Self", bound="_Block")


class _Block:
    """A query or a view: while its ``with`` block runs the world refuses changes of structure."""

    _what = "block"

    def __init__(self, world: Components) -> None:
        self._owner = world
        self._native: Any = None

    def _begin(self, world: Any) -> Any:
        raise NotImplementedError

    def _open(self) -> Any:
        """Return the native query; the caller holds the world's lock. Raises ClosedError."""
        self._owner._world()
        if self._native is None:
            raise closed(self._what)
        return self._native

    def __enter__(self: _Self) -> _Self:
        with self._owner._lock:
            world = self._owner._world()
            if self._native is not None:
                raise ArgumentError(Status.ERR_ARGUMENT, f"the {self._what} is open already")
            self._native = ffi.gc(self._begin(world), lib.native_query_release)
        return self

    def __exit__(self, *error: object) -> None:
        with self._owner._lock:
            native, self._native = self._native, None
            if native is not None and not self._owner.closed:
                lib.native_query_end(native)


class Chunk:
    """Up to 128 entities of a query that have the same components, next to each other in memory.

    Its arrays are read-only and show the memory of the world: see Query. Its methods raise ClosedError
    after the block of the query.
    """

    __slots__ = ("_query", "_index", "_count", "_first")

    def __init__(self, query: Query, index: int, count: int, first: Any) -> None:
        self._query = query
        self._index = index
        self._count = count
        self._first = first

    def __len__(self) -> int:
        return self._count

    @property
    def entities(self) -> Handles:
        """The handles, (n,), without a copy."""
        with self._query._owner._lock:
            self._query._open()
            return shown(self._query._owner._world(), self._first, self._count, np.dtype("i8"))

    def __getitem__(self, component: Component) -> npt.NDArray[Any]:
        """Return the values of a component, (n, ...) of its type, without a copy.

        Raises ComponentError (these entities lack it), ArgumentError (a tag; of another world).
        """
        owner = self._query._owner
        with owner._lock:
            native = self._query._open()
            number, dtype = owner._column(component)
            start = lib.native_query_column(native, self._index, number, dtype.itemsize)
            if start == ffi.NULL:
                raise _lacking(component)
            return shown(owner._world(), start, self._count, dtype)

    def __contains__(self, component: Component) -> bool:
        """Tell whether these entities have a component, a tag too."""
        owner = self._query._owner
        with owner._lock:
            self._query._open()
            first = ffi.cast("int64_t *", self._first)[0]
            return owner.has_component(int(first), component)

    def write(self, component: Component, value: npt.ArrayLike) -> None:
        """Write the values of a component, (n, ...) of its type, or one for all; they are copied.

        Raises as ``chunk[component]``; ValueError (the shape).
        """
        owner = self._query._owner
        with owner._lock:
            native = self._query._open()
            _write(native, self._index, self._index + 1, self._count, owner, component, value)

    def transforms(self, kind: Read = Read.WORLD_TRANSFORM) -> npt.NDArray[Any]:
        """Return copies of the transforms or a part of them: (n, ...) as the kind says.

        Raises ComponentError (these entities have no transforms), ArgumentError (no such kind).
        """
        with self._query._owner._lock:
            native = self._query._open()
            return _transforms(native, self._index, self._index + 1, self._count, kind)


class Query(_Block):
    """The entities of a world that have certain components, for a ``with`` block.

        with world.query(all=[velocity]) as query:
            moved = query.transforms(Read.LOCAL_POSITION) + dt * query.read(velocity)
            world.write(query.entities(), positions=moved)

    The entities are found once, when the block begins, and their order stays: row i of entities(),
    read() and transforms() is the same entity, and iteration gives the same rows in chunks.

    In the block transforms, values of components and names may be written. A call that changes structure
    raises BusyError: record a command instead. Blocks nest.

    The methods of the query return copies. The arrays of its chunks are not copied:

    - In the block such an array is the memory of the world itself: read-only, and it shows each write to
      the world at once.
    - After the block its values are unspecified, because the world reuses its memory. It never refers to
      memory that was freed: the memory stays allocated until the last array that shows it, or a slice of
      one, is gone, even if the world is closed (Stats.bytes_kept_for_views).
    - Copy what must outlive the block: ``chunk[velocity].copy()``.
    """

    _what = "query"

    def __init__(self, world: Components, terms: Any, keep: tuple[Any, ...]) -> None:
        super().__init__(world)
        self._terms = terms
        self._keep = keep

    def _begin(self, world: Any) -> Any:
        out = ffi.new("native_query **")
        check(lib.native_query_begin(world, self._terms, out))
        return out[0]

    def __len__(self) -> int:
        """Count the entities."""
        with self._owner._lock:
            return int(lib.native_query_rows(self._open()))

    def __iter__(self) -> Iterator[Chunk]:
        """Give the chunks one by one."""
        with self._owner._lock:
            count = int(lib.native_query_chunks(self._open()))
        out = ffi.new("native_chunk *")
        for index in range(count):
            with self._owner._lock:
                lib.native_query_chunk(self._open(), index, out)
                chunk = Chunk(self, index, int(out.count), out.entities)
            yield chunk

    def entities(self) -> Handles:
        """Return the handles, (n,), a copy."""
        with self._owner._lock:
            native = self._open()
            out = np.empty(int(lib.native_query_rows(native)), dtype=np.int64)
            lib.native_query_entities(native, address(out))
        return out

    def read(self, component: Component) -> npt.NDArray[Any]:
        """Return the values of a component of all entities, (n, ...) of its type, a copy by one call.

        Raises ComponentError (some entity lacks it), ArgumentError (a tag; of another world).
        """
        with self._owner._lock:
            native = self._open()
            number, dtype = self._owner._column(component)
            out = np.empty(int(lib.native_query_rows(native)), dtype=dtype)
            status = lib.native_query_read(native, number, dtype.itemsize, address(out))
        _check_column(status, component)
        return out

    def write(self, component: Component, value: npt.ArrayLike) -> None:
        """Write the values of a component of all entities, (n, ...) of its type, or one for all.

        All or nothing. Raises as read(); ValueError (the shape).
        """
        with self._owner._lock:
            native = self._open()
            chunks, count = lib.native_query_chunks(native), int(lib.native_query_rows(native))
            _write(native, 0, chunks, count, self._owner, component, value)

    def transforms(self, kind: Read = Read.WORLD_TRANSFORM) -> npt.NDArray[Any]:
        """Return the transforms of all entities or a part of them: (n, ...), a copy by one call.

        Raises ComponentError (some entity has no transform: name HAS_TRANSFORM in `all`), ArgumentError
        (no such kind).
        """
        with self._owner._lock:
            native = self._open()
            count = int(lib.native_query_rows(native))
            return _transforms(native, 0, lib.native_query_chunks(native), count, kind)


class View(_Block):
    """A whole hierarchy in breadth-first order, without copies, for a ``with`` block.

        with world.view(robot) as view:
            print(view.positions.mean(axis=0))

    Row 0 is the root, and parents come before their children. The rules of the block are those of
    Query. The properties are arrays like those of its chunks, and the methods return copies.
    """

    _what = "view"

    def __init__(self, world: Components, entity: EntityLike) -> None:
        super().__init__(world)
        self._entity = entity
        self._shown = ffi.new("native_hierarchy *")

    def _begin(self, world: Any) -> Any:
        out = ffi.new("native_query **")
        check(call(lib.native_view_begin, world, self._entity, out, self._shown))
        return out[0]

    def __len__(self) -> int:
        """Count the entities of the hierarchy."""
        with self._owner._lock:
            self._open()
            return int(self._shown.count)

    @property
    def poses(self) -> npt.NDArray[Any]:
        """World poses, (n,) of POSE, without a copy."""
        with self._owner._lock:
            self._open()
            return shown(self._owner._world(), self._shown.worlds, int(self._shown.count), POSE)

    @property
    def positions(self) -> Floats:
        """World positions, (n, 3), without a copy; rows are 32 bytes apart."""
        return self.poses["position"]

    @property
    def rotations(self) -> Floats:
        """World rotations x, y, z, w, (n, 4), without a copy; rows are 32 bytes apart."""
        return self.poses["rotation"]

    @property
    def scales(self) -> Floats:
        """World scales, (n,), without a copy; 32 bytes apart."""
        return self.poses["scale"]

    @property
    def shown_poses(self) -> npt.NDArray[Any]:
        """Poses as they are drawn, (n,) of POSE, without a copy; without motion the world poses."""
        with self._owner._lock:
            self._open()
            return shown(self._owner._world(), self._shown.shown, int(self._shown.count), POSE)

    def entities(self) -> Handles:
        """Return the handles, (n,), a copy."""
        with self._owner._lock:
            native = self._open()
            out = np.empty(int(self._shown.count), dtype=np.int64)
            lib.native_view_entities(native, address(out))
        return out

    def parents(self) -> npt.NDArray[np.int64]:
        """Return the row of each parent, (n,), less than the child's own; -1 for the root. A copy."""
        with self._owner._lock:
            self._open()
            count, first = int(self._shown.count), int(self._shown.first)
            slots = shown(self._owner._world(), self._shown.parents, count, np.dtype("u4"))
            out = slots.astype(np.int64) - first
        out[0] = -1
        return out

    def depths(self) -> npt.NDArray[np.uint32]:
        """Return the links between each entity and the root, (n,), a copy."""
        with self._owner._lock:
            native = self._open()
            out = np.empty(int(self._shown.count), dtype=np.uint32)
            lib.native_view_depths(native, address(out))
        return out


class Queries(Components):
    """Queries and views of a world."""

    def query(
        self,
        all: Iterable[Component] = (),
        *,
        none: Iterable[Component] = (),
        any: Iterable[Component] = (),
        changed: Iterable[Component] = (),
        since: int = 0,
        include: Include = Include.NONE,
    ) -> Query:
        """Return a query for a ``with`` block: the entities that have all of some components.

        none: and none of these. any: and at least one of these. changed: and are in a chunk where one
        of these was written after the version `since` (World.version), so that an entity beside a
        written one may match too. include: prefabs and disabled entities, which are skipped otherwise.

        The block raises LimitError (more than 64 components), OutOfMemoryError. O(chunks).
        """
        lists = {"all": all, "none": none, "any": any, "changed": changed}
        return Query(self, *self._terms(lists, since=since, include=include))

    def _terms(
        self, lists: dict[str, Iterable[Component]], **fields: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return the native terms of lists of components by name, and what they point to."""
        terms = ffi.new("native_terms *")
        keep = []
        for name, components in lists.items():
            numbers, count = self._numbers(components)
            keep.append(numbers)
            setattr(terms, name, numbers)
            setattr(terms, name + "_count", count)
        fill(terms, **fields)
        return terms, tuple(keep)

    def view(self, entity: EntityLike) -> View:
        """Return a view of the whole hierarchy of an entity for a ``with`` block.

        The block lays the hierarchy out first where it has changed. It raises EntityError; where it lays
        out, BusyError (inside another block), OutOfMemoryError.
        """
        return View(self, entity)


def _lacking(component: Component) -> ComponentError:
    return ComponentError(
        Status.ERR_NO_COMPONENT,
        f"ESPL_ERR_NO_COMPONENT: component {component.name}: some entity of the query lacks it; name "
        "it in `all`.",
    )


def _check_column(status: int, component: Component) -> None:
    if status == Status.ERR_NO_COMPONENT:
        raise _lacking(component)
    check(status)


def _write(
    native: Any,
    first: int,
    end: int,
    count: int,
    owner: Components,
    component: Component,
    value: npt.ArrayLike,
) -> None:
    """Write a component of the chunks [first, end) of a query, which have `count` entities."""
    number, dtype = owner._column(component)
    source = rows(value, count, dtype)
    status = lib.native_query_write(native, first, end, number, dtype.itemsize, address(source))
    _check_column(status, component)


def _transforms(native: Any, first: int, end: int, count: int, kind: Read) -> npt.NDArray[Any]:
    """Read the transforms of the chunks [first, end) of a query, which have `count` entities."""
    dtype = type_of(READ_TYPES, kind)
    out = np.empty(count, dtype=dtype)
    check(lib.native_query_transforms(native, first, end, kind, address(out), dtype.itemsize))
    return out
