# SPDX-License-Identifier: MIT
"""Creation, structure, navigation and names of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import address, handles
from ._base import WorldBase
from ._errors import ArgumentError, Status, bytes_of, call, check_many, fill, text_of
from ._native import ffi, lib
from ._transform import Transform, pointer_or_null
from ._types import (
    NULL,
    TRANSFORM,
    DeadParent,
    EntitiesLike,
    Entity,
    EntityLike,
    Extent,
    Handles,
    Inherit,
    Keep,
    Link,
    Role,
    Space,
)

if TYPE_CHECKING:
    from ._components import Values


class Subtree(NamedTuple):
    """Copies of an entity and what is below it, breadth-first, parents before their children."""

    #: (n,) handles.
    entities: Handles
    #: (n,) index of the parent in these arrays; -1 for the first.
    parents: npt.NDArray[np.int64]
    #: (n,) links below the first.
    depths: npt.NDArray[np.uint32]
    #: (n,) local transforms, TRANSFORM; the identity where an entity has none.
    locals: npt.NDArray[Any]
    #: (n,) world transforms, TRANSFORM.
    worlds: npt.NDArray[Any]


def parts_of(
    position: npt.ArrayLike | None,
    rotation: npt.ArrayLike | None,
    scale: float | None,
    stretch: npt.ArrayLike | None,
    user_data: int | None,
) -> dict[str, Any]:
    """Return the parts of a transform that were given, by their names."""
    parts = {
        "position": position,
        "rotation": rotation,
        "scale": scale,
        "stretch": stretch,
        "user_data": user_data,
    }
    return {name: part for name, part in parts.items() if part is not None}


def transform_of(transform: Transform | None, given: dict[str, Any]) -> Transform | None:
    """Return a transform that was given as a whole or by parts, None where neither was."""
    if transform is None:
        return Transform(**given) if given else None
    if given:
        raise ArgumentError(
            Status.ERR_ARGUMENT, f"a transform and {', '.join(given)}: give one or the other"
        )
    return transform


class Creation:
    """A native_creation of the arguments of a creation, and what its pointers point to.

    given: parts of a transform. transform: True: the identity where no part is given. None: none there,
    so that a clone has its source's. False: none; with a part of one ArgumentError.
    """

    def __init__(
        self,
        world: Any,
        transform: Transform | bool | None,
        given: dict[str, Any],
        space: Space,
        components: Values,
        parent: EntityLike,
        before: EntityLike,
        link: Link,
        inherit: Inherit,
        *,
        source: EntityLike = NULL,
        dead_parent: DeadParent = DeadParent.REFUSE,
        name: str | None = None,
    ) -> None:
        placed = transform_of(transform if isinstance(transform, Transform) else None, given)
        if transform is False and placed is not None:
            raise ArgumentError(Status.ERR_ARGUMENT, "transform=False, and parts of one")
        if transform is True and placed is None:
            placed = Transform()
        text = ffi.NULL if name is None else ffi.new("char[]", bytes_of(name))
        self._keep = (placed, text, packed := world._pack(components))
        self.cdata = ffi.new("native_creation *")
        fill(
            self.cdata,
            source=source,
            parent=parent,
            before=before,
            link=link,
            inherit=inherit,
            dead_parent=dead_parent,
        )
        self.cdata.place = space if placed is not None else 0
        self.cdata.transform = pointer_or_null(placed)
        self.cdata.values = packed.values
        self.cdata.value_count = packed.count
        self.cdata.name = text


def attachment(keep: Any, before: EntityLike, link: Link, inherit: Inherit) -> Any:
    """Return the native options of an attach."""
    each = keep if isinstance(keep, tuple) else (keep, keep, keep)
    options = ffi.new("native_attachment *")
    position, rotation, scale = each
    fill(
        options,
        position=position,
        rotation=rotation,
        scale=scale,
        before=before,
        link=link,
        inherit=inherit,
    )
    return options


class Structure(WorldBase):
    """Creation, structure, navigation and names."""

    # --- Creation ---

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
        name: str | None = None,
        before: EntityLike = NULL,
        link: Link = Link.OWNED,
        inherit: Inherit = Inherit.NONE,
    ) -> Entity:
        """Create an entity and return its handle.

        parent: NULL for none. position (3,), rotation (4,) x, y, z, w, scale, stretch (3,), user_data:
        parts of its transform, or `transform` as a whole; the rest is the identity's. `space` says what
        they are relative to. transform=False: without one, it is where its parent is. components: a
        mapping of components to values, or components, whose values are zero. name: as set_name() takes it.
        before: the child of the parent that it comes before; NULL: last.

        Raises EntityError (parent, before), StructureError, NumberError, ArgumentError, LimitError,
        BusyError, OutOfMemoryError; then no entity is made. O(depth).
        """
        given = parts_of(position, rotation, scale, stretch, user_data)
        creation = Creation(
            self, transform, given, space, components, parent, before, link, inherit, name=name
        )
        return int(self._create(lib.native_create, creation, 1)[0])

    def create_many(
        self,
        count: int,
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
    ) -> Handles:
        """Create `count` entities, all alike, and return their handles, (count,). As create().

        For different parents see attach_many(), for different transforms write().
        """
        given = parts_of(position, rotation, scale, stretch, user_data)
        creation = Creation(
            self, transform, given, space, components, parent, before, link, inherit
        )
        return self._create(lib.native_create, creation, count)

    def instantiate(
        self,
        source: EntityLike,
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
    ) -> Entity:
        """Clone an entity and what it owns below it, and return the handle of the clone.

        The clone has the components and names of the source, but not PREFAB. Without a transform and
        without parts of one it starts where the source is: in the world, or under a parent with the
        source's local transform. components: values of the clone of `source` itself. The other
        arguments and what is raised are as for create(). O(entities cloned).
        """
        given = parts_of(position, rotation, scale, stretch, user_data)
        creation = Creation(
            self, transform, given, space, components, parent, before, link, inherit, source=source
        )
        return int(self._create(lib.native_instantiate, creation, 1)[0])

    def instantiate_many(
        self,
        source: EntityLike,
        count: int,
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
    ) -> Handles:
        """Clone an entity `count` times, all alike, and return the clones, (count,). As instantiate()."""
        given = parts_of(position, rotation, scale, stretch, user_data)
        creation = Creation(
            self, transform, given, space, components, parent, before, link, inherit, source=source
        )
        return self._create(lib.native_instantiate, creation, count)

    def spawn(
        self, prefab: EntityLike, parent: EntityLike = NULL, local: Transform | None = None
    ) -> Entity:
        """Clone a prefab, or any entity, under a parent, and return the handle of the clone.

        local: relative to the parent, without one to the world; None: that of the prefab, which starts
        where it is in the world if there is no parent. instantiate() in short; raises as that.
        """
        out = ffi.new("int64_t *")
        self._checked(lib.native_spawn, prefab, parent, pointer_or_null(local), out)
        return int(out[0])

    def _create(self, function: Any, creation: Creation, count: int) -> Handles:
        out = np.zeros(count_of(count), dtype=np.int64)
        self._checked(function, creation.cdata, count, address(out))
        return out

    def destroy(self, entity: EntityLike, extent: Extent = Extent.OWNED) -> Status:
        """Destroy an entity, and what the extent says below it.

        Survivors below it become children of its parent, or roots, and stay where they are in the
        world. Returns OK, LOSSY (one could not) or OVERFLOW. Raises EntityError, ArgumentError,
        BusyError. O(descendants).
        """
        return self._checked(lib.native_destroy, entity, extent)

    def destroy_many(self, entities: EntitiesLike, extent: Extent = Extent.OWNED) -> Status:
        """Destroy entities, (n,), one after the other. All or nothing. As destroy().

        All must be alive at first; one that an earlier one took along is skipped. An exception has the
        index of the first that is refused.
        """
        array = handles(entities)
        return check_many(
            self._call, lib.native_destroy_many, address(array), len(array), extent
        )

    # --- Structure ---

    def attach(
        self,
        child: EntityLike,
        parent: EntityLike,
        keep: Keep | tuple[Keep, Keep, Keep] = Keep.WORLD,
        *,
        before: EntityLike = NULL,
        link: Link = Link.OWNED,
        inherit: Inherit = Inherit.NONE,
    ) -> Status:
        """Make an entity, with all that is below it, a child of another one.

        keep: which side of the transform stays, or three for position, rotation and scale. before: the
        child of the new parent that it comes before; NULL: last. Returns OK, LOSSY (below a scale of
        zero, or out of range) or OVERFLOW. Raises EntityError, StructureError (a cycle; `before`), NumberError,
        ComponentError (inherit flags without a transform), ArgumentError, BusyError, OutOfMemoryError.
        """
        options = attachment(keep, before, link, inherit)
        return self._checked(lib.native_attach, child, parent, options)

    def attach_many(
        self,
        children: EntitiesLike,
        parents: EntitiesLike,
        keep: Keep | tuple[Keep, Keep, Keep] = Keep.WORLD,
        *,
        before: EntityLike = NULL,
        link: Link = Link.OWNED,
        inherit: Inherit = Inherit.NONE,
    ) -> Status:
        """Attach children, (n,), each to a parent of its own, (n,), or all to one. All or nothing.

        As attach() of one after the other. An exception has the index of the first that is refused.
        """
        array = handles(children)
        above = handles(np.broadcast_to(np.asarray(parents), array.shape))
        options = attachment(keep, before, link, inherit)
        addresses = address(array), address(above)
        return check_many(
            self._call, lib.native_attach_many, *addresses, len(array), options
        )

    def detach(self, entity: EntityLike, keep: Keep = Keep.WORLD) -> Status:
        """Make an entity, with all that is below it, a root. On a root it does nothing. As attach()."""
        return self._checked(lib.native_detach, entity, keep)

    def move_before(self, entity: EntityLike, before: EntityLike = NULL) -> None:
        """Move an entity among its siblings, before one of them, or last.

        Raises StructureError (not siblings), EntityError, BusyError, OutOfMemoryError.
        """
        self._checked(lib.native_move_before, entity, before)

    def set_enabled(
        self, entity: EntityLike, enabled: bool, extent: Extent = Extent.OWNED
    ) -> None:
        """Let queries find the entities of an extent, or skip them; they still move with their parents.

        Raises EntityError, ArgumentError, BusyError, LimitError, OutOfMemoryError; TypeError (no bool).
        """
        self._checked(lib.native_set_enabled, entity, extent, bool_of(enabled, "enabled"))

    # --- Navigation: for a handle that names no living entity False, NULL, 0, Link.OWNED, Role.NONE ---

    def is_enabled(self, entity: EntityLike) -> bool:
        """Tell whether a living entity is not disabled."""
        return bool(self._call(lib.native_is_enabled, entity))

    def is_alive(self, entity: EntityLike) -> bool:
        """Tell whether a handle names a living entity of this world. So does ``entity in world``."""
        return bool(self._call(lib.native_is_alive, entity))

    def __contains__(self, entity: EntityLike) -> bool:
        return self.is_alive(entity)

    def are_alive(self, entities: EntitiesLike) -> npt.NDArray[np.bool_]:
        """Tell for each handle, (n,), whether it names a living entity: (n,) of bool."""
        array = handles(entities)
        out = np.empty(len(array), dtype=np.bool_)
        self._call(lib.native_are_alive, address(array), len(array), address(out))
        return out

    def role(self, entity: EntityLike) -> Role:
        """Tell whether an entity is in no hierarchy, a root, or a member."""
        return Role(self._call(lib.native_role, entity))

    def link(self, entity: EntityLike) -> Link:
        """Return the lifetime tie to the parent; OWNED without one."""
        return Link(self._call(lib.native_link, entity))

    def parent(self, entity: EntityLike) -> Entity:
        """Return the parent, NULL for a root."""
        return int(self._call(lib.native_parent, entity))

    def root(self, entity: EntityLike) -> Entity:
        """Return the top of the hierarchy; the entity itself for a root. O(depth)."""
        return int(self._call(lib.native_root, entity))

    def depth(self, entity: EntityLike) -> int:
        """Count the links to the root. O(depth). 0 for a handle that names no living entity."""
        depth = int(self._call(lib.native_depth, entity))
        return 0 if depth == 2**32 - 1 else depth

    def children(self, entity: EntityLike) -> Handles:
        """Return the children in their order, (n,). O(children)."""
        with self._lock:
            world = self._world()
            out = np.empty(int(call(lib.native_children, world, entity, ffi.NULL, 0)), dtype=np.int64)
            lib.native_children(world, entity, address(out), len(out))
        return out

    def next_sibling(self, entity: EntityLike) -> Entity:
        """Return the next child of the same parent, or NULL."""
        return int(self._call(lib.native_sibling, entity, 1))

    def previous_sibling(self, entity: EntityLike) -> Entity:
        """Return the previous child of the same parent, or NULL."""
        return int(self._call(lib.native_sibling, entity, 0))

    def is_ancestor(self, ancestor: EntityLike, entity: EntityLike) -> bool:
        """Tell whether the first entity is above the second one. O(depth)."""
        return bool(self._call(lib.native_is_ancestor, ancestor, entity))

    def subtree(self, top: EntityLike, extent: Extent = Extent.SUBTREE) -> Subtree:
        """Copy an entity and what is below it into arrays. Empty for a dead handle. O(subtree)."""
        with self._lock:
            world = self._world()
            null = ffi.NULL
            count = int(call(lib.native_subtree, world, top, extent, 0, *[null] * 5))
            entities = np.empty(count, dtype=np.int64)
            parents = np.empty(count, dtype=np.uint32)
            depths = np.empty(count, dtype=np.uint32)
            local, seen = np.empty(count, dtype=TRANSFORM), np.empty(count, dtype=TRANSFORM)
            lib.native_subtree(
                world,
                top,
                extent,
                count,
                address(entities),
                address(parents),
                address(depths),
                address(local),
                address(seen),
            )
        above = parents.astype(np.int64)
        above[parents == 2**32 - 1] = -1
        return Subtree(entities, above, depths, local, seen)

    # --- Names ---

    def set_name(self, entity: EntityLike, name: str | None) -> None:
        """Give an entity a name, or take it away with None or "".

        1 to 255 bytes of UTF-8, no control character and no '/'. Several entities may have one name.
        Raises EntityError, LimitError, ArgumentError, BusyError, OutOfMemoryError.
        """
        self._checked(lib.native_set_name, entity, bytes_of("" if name is None else name))

    def name(self, entity: EntityLike) -> str:
        """Return the name, "" where there is none."""
        with self._lock:
            return text_of(call(lib.native_name, self._world(), entity))

    def find(self, path: str, top: EntityLike = NULL) -> Entity:
        """Find an entity by its name, or by names with '/' between them; NULL if there is none.

        "hand" is at any depth below `top`, "arm/hand" has a parent of the name "arm", "/arm" is a child
        of `top`. Without `top` it searches the whole world: "/arm" is a root then.
        The first in depth-first order. Raises EntityError (top), ArgumentError (an empty name).
        O(descendants).
        """
        out = ffi.new("int64_t *")
        self._checked(lib.native_find, top, bytes_of(path, "path"), out)
        return int(out[0])

    def path(self, entity: EntityLike) -> str:
        """Return the names from the root on: "root/arm/hand"; a handle where there is no name. O(depth)."""
        return self._written(lib.native_path, entity)

    def dump(self, entity: EntityLike) -> str:
        """Return what can be read of an entity as lines of text, for people."""
        return self._written(lib.native_dump, entity)

    def _written(self, write: Any, entity: EntityLike) -> str:
        with self._lock:
            world = self._world()
            size = int(write(world, entity, ffi.NULL, 0)) + 1
            buffer = ffi.new("char[]", size)
            write(world, entity, buffer, size)
        return text_of(buffer)


def bool_of(value: bool, what: str) -> bool:
    """Return a bool of Python or numpy; TypeError for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} must be a bool, not {type(value).__name__}")
    return bool(value)


def count_of(count: int) -> int:
    """Return a count of entities; ArgumentError where it is negative."""
    if count < 0:
        raise ArgumentError(Status.ERR_ARGUMENT, f"a count is 0 or more, not {count}")
    return count
