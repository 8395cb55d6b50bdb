# SPDX-License-Identifier: MIT
"""Renderables: boxes of what can be drawn, mirrors of them, and which of them cameras see."""

from __future__ import annotations

import enum
from typing import Any, Iterable, NamedTuple, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._arrays import address, numbers, one
from ._components import Component
from ._errors import ArgumentError, ClosedError, Status, call, check, closed, fill
from ._histories import Histories
from ._native import ffi, lib
from ._structure import bool_of
from ._types import ENTITY, POSE, EntityLike, Floats, Handles
from ._values import Buffer

#: The numpy type of the component Renderables.bounds: a box around the geometry, in the axes and units of the
#: entity. The halves of its edges are not negative.
BOUNDS = np.dtype([("center", np.float32, 3), ("half", np.float32, 3)])
#: The numpy type of the component Renderables.renderable: a key, which draws share, or NO_KEY; a word of your
#: own, which results have; bits of RenderableFlag.
RENDERABLE = np.dtype([("key", np.uint32), ("user_data", np.uint32), ("flags", np.uint32)])
#: The numpy type of the component Renderables.layers, of any entity: a mask, and bits of LayersFlag. The
#: layers of an entity are its mask and those of its parent; without the component those of its parent, or all
#: 32.
LAYERS = np.dtype([("mask", np.uint32), ("flags", np.uint32)])
#: The numpy type of what Visible.groups() returns: a key, and the first one and the number of its
#: renderables, which follow each other.
GROUP = np.dtype([("key", np.uint32), ("first", np.uint32), ("count", np.uint32)])
#: A key that is drawn by no camera.
NO_KEY = int(lib.ESPL_NO_KEY)

_MATRIX = np.dtype((np.float32, (4, 4)))
_PLANE = np.dtype((np.float32, 4))
_VECTOR = np.dtype((np.float32, 3))
_ORIGIN = np.dtype((np.float64, 3))
_CELL = np.dtype((np.int32, 3))
_ALL_LAYERS = 2**32 - 1


class RenderableFlag(enum.IntFlag):
    """Bits of the field `flags` of RENDERABLE."""

    NONE = 0
    #: The world box contains the world boxes of all renderables below the entity as well: for a skinned mesh,
    #: whose bones have small boxes and NO_KEY.
    UNION = 1
    #: Visible for each camera whose layers match, wherever the box is: skies, models held in hands.
    ALWAYS = 2


class LayersFlag(enum.IntFlag):
    """Bits of the field `flags` of LAYERS."""

    NONE = 0
    #: The parent's layers do not matter.
    ABSOLUTE = 1


class Form(enum.IntEnum):
    """Forms of poses; the comment says the shape and the type for each instance."""

    #: (3, 4) float32: ``m @ [x, y, z, 1]`` is a point in the world.
    MATRIX_3X4 = 0
    #: (4, 4) float32: column by column, as OpenGL and glTF have it, so that ``m.T @ [x, y, z, 1]`` is the
    #: point.
    MATRIX_4X4 = 1
    #: (4, 3) float32: the transpose of MATRIX_3X4.
    MATRIX_4X3 = 2
    #: POSE: rotation, position and scale; stretch is left out.
    POSE = 3


class Clip(enum.IntEnum):
    """Depths of a clip space."""

    #: Vulkan, WebGPU, Direct3D, Metal; with reversed depths too.
    ZERO_TO_ONE = 0
    #: OpenGL.
    MINUS_ONE_TO_ONE = 1


#: Types by Form.
_FORM_TYPES = (
    np.dtype((np.float32, (3, 4))),
    np.dtype((np.float32, (4, 4))),
    np.dtype((np.float32, (4, 3))),
    POSE,
)


class Camera:
    """What one list of visible renderables answers to: a camera, a cascade of shadows, a face of a probe.

    matrix: (4, 4), from the world to clip space: ``matrix @ [x, y, z, 1]``, the projection times the inverse
    of the camera's own matrix. clip: the depths of its clip space; with MINUS_ONE_TO_ONE no renderable that
    is visible is lost where the other one is right. planes, instead of a matrix: up to 8 of 4 numbers, with
    unit normals; inside is ``x * p[0] + y * p[1] + z * p[2] + p[3] >= 0``. With neither everything is inside.
    layers: visible where a layer of the renderable is one of these bits. origin: is subtracted from positions
    that are written, in double precision. eye: where sizes are seen from. pixels: the height of the image in
    pixels divided by (2 * tan(vertical angle / 2)), orthographic: pixels of a world unit; 0: sizes are 0, and
    levels of detail are the first. least_size: pixels; what is smaller is not visible. orthographic: sizes do
    not depend on the distance. cell: what planes, eye and origin are relative to the middle of, in a world with
    cells; written positions are relative to it.

    Raises ArgumentError (a matrix and planes, more than 8 planes, no such clip), NumberError (a number of the
    matrix is not finite). Any thread may read it.
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        matrix: npt.ArrayLike | None = None,
        *,
        clip: Clip = Clip.MINUS_ONE_TO_ONE,
        planes: Sequence[npt.ArrayLike] | npt.NDArray[Any] | None = None,
        layers: int = _ALL_LAYERS,
        origin: npt.ArrayLike = (0, 0, 0),
        eye: npt.ArrayLike = (0, 0, 0),
        pixels: float = 0,
        least_size: float = 0,
        orthographic: bool = False,
        cell: npt.ArrayLike = (0, 0, 0),
    ) -> None:
        native = ffi.new("espl_camera *")
        if matrix is not None:
            if planes is not None:
                raise ArgumentError(Status.ERR_ARGUMENT, "a camera has a matrix or planes, not both")
            columns = np.ascontiguousarray(one(matrix, _MATRIX, "matrix").T)
            check(
                call(
                    lib.espl_camera_from_matrix,
                    ffi.cast("float *", address(columns)),
                    int(clip),
                    native,
                )
            )
        listed = [one(plane, _PLANE, "a plane") for plane in (() if planes is None else planes)]
        if len(listed) > lib.ESPL_PLANE_LIMIT:
            raise ArgumentError(Status.ERR_ARGUMENT, f"a camera has up to 8 planes, not {len(listed)}")
        for i, plane in enumerate(listed):
            native.planes[i] = plane.tolist()
        if matrix is None:
            native.plane_count = len(listed)
        native.origin = one(origin, _ORIGIN, "origin").tolist()
        native.eye = one(eye, _VECTOR, "eye").tolist()
        native.cell = one(cell, _CELL, "cell").tolist()
        fill(
            native,
            layers=layers,
            pixels=pixels,
            least_size=least_size,
            flags=int(lib.ESPL_CAMERA_ORTHOGRAPHIC) if bool_of(orthographic, "orthographic") else 0,
        )
        self._native = native


class Updated(NamedTuple):
    """What an update did."""

    #: OK, or PARTLY: some entities are left out, see `bad`.
    status: Status
    #: Renderables after the update, with those of `bad`.
    renderables: int
    #: Of them those that the library keeps apart because they move.
    moving: int
    #: Clusters after the update.
    clusters: int
    #: Entities and slots that were looked at: how much work it was.
    marked: int
    #: Renderables that stay and whose pose differs.
    moved: int
    #: Renderables that came.
    added: int
    #: Renderables that went.
    removed: int
    #: Clusters whose poses were written anew.
    rewritten: int
    #: Renderables that were moved to another cluster.
    refiled: int
    #: Renderables that will be moved to another cluster by later updates.
    waiting: int
    #: Entities that would be renderables, but a number of their components or of their world transform is not
    #: finite, or a half of their box is negative. They are in no result.
    bad: int
    #: Of them the one with the lowest index; 0: none.
    first_bad: EntityLike
    #: Of the mirror, from 1.
    number: int


class Instances(NamedTuple):
    """Arrays of instances, which the library has written. They stay as they are."""

    #: (n,) of the type that Form says.
    matrices: npt.NDArray[Any]
    #: (n,) of that type, the poses of the update before; None without previous=True.
    previous: npt.NDArray[Any] | None
    #: (n,) handles; None without entities=True.
    entities: Handles | None
    #: (n,) numpy.uint32, the field user_data of RENDERABLE; None without user_data=True.
    user_data: npt.NDArray[np.uint32] | None
    #: (n,) numpy.float32, pixels on the image; None without sizes=True.
    sizes: Floats | None
    #: (n, 3) numpy.int32, the cells of the hierarchies, 0 without cells; None without cells=True.
    cells: npt.NDArray[np.int32] | None


class Mirror:
    """All renderables of a world as they were at one update, by Renderables.mirror.

    It is valid until the next update of its renderables; after that methods raise ClosedError.
    """

    __slots__ = ("number", "renderables", "clusters", "user", "_of", "_address", "_update")

    #: Of its update, from 1.
    number: int
    #: Renderables in all clusters.
    renderables: int
    #: Upper bound of the numbers of clusters.
    clusters: int
    #: The bytes of the update.
    user: bytes

    def __init__(self, of: Renderables, found: Any) -> None:
        out = ffi.new("espl_mirror_description *")
        lib.espl_mirror_describe(found, out)
        self.number = int(out.number)
        self.renderables = int(out.renderables)
        self.clusters = int(out.clusters)
        size = of._user_size
        self.user = bytes(ffi.buffer(ffi.cast("char *", out.user), size)) if size != 0 else b""
        self._of = of
        self._address = found
        self._update = of._update

    def _open(self) -> Any:
        """Return the native mirror; the caller holds the world's lock. Raises ClosedError."""
        self._of._open()
        if self._update != self._of._update:
            raise ClosedError(Status.ERR_ARGUMENT, "the renderables have a newer mirror")
        return self._address

    def changed(self, since: int = 0) -> npt.NDArray[np.uint32]:
        """Return the clusters that differ from those of an earlier mirror, ascending.

        One that has no renderables any more is among them. since: the number of that mirror; 0: all clusters
        that have renderables.
        """
        with self._of._owner._lock:
            mirror = self._open()
            count = call(lib.native_mirror_changed, mirror, since, 0, ffi.NULL)
            out = np.empty(count, dtype=np.uint32)
            lib.native_mirror_changed(mirror, since, count, address(out))
        return out

    def write(
        self,
        cluster: int,
        *,
        form: Form = Form.MATRIX_3X4,
        out: npt.NDArray[Any] | None = None,
        previous: bool = False,
        entities: bool = False,
        user_data: bool = False,
        cells: bool = False,
    ) -> Instances:
        """Write the renderables of one cluster, of which there are up to 128.

        Those of a cluster that changed() does not list have the same places as before. form, out: as
        Visible.write() has them; `out` has 128 or more. Raises ArgumentError (no such cluster or form).
        """
        with self._of._owner._lock:
            mirror = self._open()
            made = _Arrays(lib.ESPL_CLUSTER_SIZE, form, out, previous, entities, user_data, False, cells)
            count = ffi.new("size_t *")
            check(call(lib.native_mirror_write, mirror, cluster, made.native, count))
        return made.first(int(count[0]))


class Renderables:
    """Boxes of what can be drawn, by World.renderables().

        drawn = world.renderables()
        visible = world.visible()
        box = {drawn.bounds: ((0, 0, 0), (1, 1, 1)), drawn.renderable: (mesh, 0, 0)}
        rocks = world.create_many(1000, components=box)
        while running:
            drawn.update()                                  # reads what changed
            visible.cull(drawn.mirror, Camera(projection @ view))
            buffer = visible.write(form=Form.MATRIX_4X4).matrices
            for key, first, count in visible.groups().tolist():
                draw(key, buffer, first, count)

    An entity is a renderable while it has a transform and the components `bounds` and `renderable`, and is
    neither a prefab nor disabled. A world has its renderables once. They keep their memory until close(),
    until the world is closed, or until no variable has them or their mirror.
    """

    #: The components, of the types BOUNDS, RENDERABLE and LAYERS unless the world had them with others.
    bounds: Component
    renderable: Component
    layers: Component

    def __init__(
        self, world: Visibles, cell_size: float, refile_budget: int, user_size: int
    ) -> None:
        out = ffi.new("native_renderables **")
        self._owner = world
        self._user_size = user_size
        self._update = 0
        self._mirror: Mirror | None = None
        with world._lock:
            check(
                call(
                    lib.native_renderables_create,
                    world._world(),
                    cell_size,
                    refile_budget,
                    user_size,
                    out,
                )
            )
            self._native: Any = ffi.gc(out[0], lib.native_renderables_release)
            self.bounds = world._found("bounds", BOUNDS)
            self.renderable = world._found("renderable", RENDERABLE)
            self.layers = world._found("layers", LAYERS)

    def _open(self) -> Any:
        """Return the native renderables; the caller holds the world's lock. Raises ClosedError."""
        self._owner._world()
        if self._native is None:
            raise closed("renderables object")
        return self._native

    def reserve(self, count: int) -> None:
        """Reserve memory for updates of so many renderables in all. Raises LimitError, OutOfMemoryError."""
        with self._owner._lock:
            check(call(lib.native_renderables_reserve, self._open(), count))

    def update(self, user: Buffer | None = None) -> Updated:
        """Make a mirror of the world as it is now. O(what changed + size / 64), with a small factor.

        user: the bytes of Mirror.user, as many as user_size; None: zeros. Allowed in the block of a query.
        The mirror before is ended. Raises ValueError (another number of bytes), LimitError, OutOfMemoryError;
        then that mirror stays, and the next update does the work.
        """
        given = None if user is None else ffi.from_buffer(user)
        if given is not None and len(given) != self._user_size:
            raise ValueError(f"user must be {self._user_size} bytes, not {len(given)}")
        out = ffi.new("native_updated *")
        with self._owner._lock:
            bytes_at = ffi.NULL if given is None else given
            status = check(lib.native_renderables_update(self._open(), bytes_at, out))
            self._update += 1
            self._mirror = None
        return Updated(status, *(int(getattr(out, name)) for name in Updated._fields[1:]))

    @property
    def mirror(self) -> Mirror | None:
        """The newest mirror; None before the first update."""
        with self._owner._lock:
            found = lib.native_renderables_acquire(self._open())
            if self._mirror is None and found != ffi.NULL:
                self._mirror = Mirror(self, found)
            return self._mirror

    def add_lods(self, levels: Iterable[tuple[int, float]]) -> int:
        """Return a key that stands for one of up to 8 keys by the size on the image, for the field `key`.

        levels: keys and sizes in pixels, which descend; a key is drawn while the size is at least its own,
        and what is smaller than the last one is not visible. Raises ArgumentError (no level or more than 8,
        sizes that ascend or are not finite), LimitError, OutOfMemoryError.
        """
        listed = list(levels)
        if len(listed) > lib.ESPL_LOD_LIMIT:
            raise ArgumentError(Status.ERR_ARGUMENT, f"a key has up to 8 levels, not {len(listed)}")
        lods, key = ffi.new("espl_lods *"), ffi.new("uint32_t *")
        lods.count = len(listed)
        keys = [level[0] for level in listed]
        sizes = [level[1] for level in listed]
        for i, made in enumerate(numbers(keys, np.dtype(np.uint32), "a key").tolist()):
            lods.keys[i] = made
        for i, size in enumerate(numbers(sizes, np.dtype(np.float32), "a size").tolist()):
            lods.sizes[i] = size
        with self._owner._lock:
            check(lib.native_renderables_add_lods(self._open(), lods, key))
        return int(key[0])

    def close(self) -> None:
        """Free their memory, and end the mirror. A second call does nothing. Raises BusyError while a query is
        open."""
        with self._owner._lock:
            self._owner._refuse_if_calling()
            if self._native is not None and not self._owner.closed:
                check(lib.native_renderables_close(self._native))
            self._native = None
            self._mirror = None

    @property
    def closed(self) -> bool:
        """True once close() was called, here or of the world."""
        return self._native is None or self._owner.closed

    def __enter__(self) -> Renderables:
        with self._owner._lock:
            self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Visible:
    """What cameras see of a mirror, by World.visible(). See Renderables.

    The visible set is exact, and the same on every machine. It holds memory until close(), or until the world
    is closed or it is gone.
    """

    def __init__(self, world: Visibles) -> None:
        out = ffi.new("native_visible **")
        self._owner = world
        self._mirror: Mirror | None = None
        with world._lock:
            check(lib.native_visible_create(world._world(), out))
            self._native: Any = ffi.gc(out[0], lib.native_visible_release)

    def _open(self) -> Any:
        """Return the native object; the caller holds the world's lock. Raises ClosedError."""
        self._owner._world()
        if self._native is None:
            raise closed("visible object")
        return self._native

    def cull(
        self,
        mirror: Mirror | None,
        cameras: Camera | Sequence[Camera],
        *,
        alpha: float | None = None,
        by_entity: bool = False,
    ) -> None:
        """Find what each camera sees, up to 64 of them.

        mirror: of this world. alpha: poses between the update before, 0, and the last one, 1; None: those of
        the last one. by_entity: renderables of a group ascend by entity index, so that the order depends on
        the world alone. Raises ArgumentError (no mirror; one of another world; more than 64 cameras; alpha),
        ClosedError (the mirror has ended), NumberError, OutOfMemoryError; then the result before stays.
        """
        listed = [cameras] if isinstance(cameras, Camera) else list(cameras)
        for camera in listed:
            if not isinstance(camera, Camera):
                raise TypeError(f"cameras must be of Camera, not {type(camera).__name__}")
        if not isinstance(mirror, Mirror) or mirror._of._owner is not self._owner:
            raise ArgumentError(Status.ERR_ARGUMENT, f"mirror must be one of this world, not {mirror!r}")
        natives = ffi.new("espl_camera[]", max(1, len(listed)))
        for native, camera in zip(natives, listed):
            ffi.memmove(ffi.addressof(native), camera._native, ffi.sizeof("espl_camera"))
        flags = int(lib.ESPL_CULL_INTERPOLATE) if alpha is not None else 0
        flags |= int(lib.ESPL_CULL_BY_ENTITY) if bool_of(by_entity, "by_entity") else 0
        at = 0.0 if alpha is None else alpha
        with self._owner._lock:
            native = self._open()
            check(
                call(lib.native_visible_cull, native, mirror._open(), natives, len(listed), at, flags)
            )
            self._mirror = mirror

    def groups(self, camera: int = 0) -> npt.NDArray[Any]:
        """Return the groups of a camera of the last cull(), by key: (n,) of GROUP, a copy."""
        count = ffi.new("size_t *")
        with self._owner._lock:
            first = call(lib.native_visible_groups, self._open(), camera, count)
            out = np.empty(int(count[0]), dtype=GROUP)
            if len(out) != 0:
                ffi.memmove(address(out), first, out.nbytes)
        return out

    def count(self, camera: int = 0) -> int:
        """Return how many renderables a camera of the last cull() sees."""
        return int(self.groups(camera)["count"].sum())

    def write(
        self,
        camera: int = 0,
        *,
        form: Form = Form.MATRIX_3X4,
        out: npt.NDArray[Any] | None = None,
        previous: bool = False,
        entities: bool = False,
        user_data: bool = False,
        sizes: bool = False,
        cells: bool = False,
    ) -> Instances:
        """Write what a camera sees, in the order of its groups.

        form: of the poses. out: where they are written, an array of the type that Form says with room for
        count() or more, of mapped memory for example, which is never read; None: a new one. What is returned
        shows its first count(). The others: which arrays are wanted beside the poses. Raises ArgumentError
        (no such camera or form), ClosedError (the mirror has ended since cull()), ValueError (`out` is too
        short or of another type).
        """
        with self._owner._lock:
            native = self._open()
            if self._mirror is not None:
                self._mirror._open()
            count = self.count(camera)
            made = _Arrays(count, form, out, previous, entities, user_data, sizes, cells)
            check(call(lib.native_visible_write, native, camera, made.native))
        return made.first(count)

    def close(self) -> None:
        """Free its memory. A second call does nothing."""
        with self._owner._lock:
            self._owner._refuse_if_calling()
            native, self._native = self._native, None
            self._mirror = None
            if native is not None and not self._owner.closed:
                lib.native_visible_close(native)

    @property
    def closed(self) -> bool:
        """True once close() was called, here or of the world."""
        return self._native is None or self._owner.closed

    def __enter__(self) -> Visible:
        with self._owner._lock:
            self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Visibles(Histories):
    """Renderables of a world, and what cameras see of them."""

    def renderables(
        self, *, cell_size: float = 0, refile_budget: int = 0, user_size: int = 0
    ) -> Renderables:
        """Make the renderables of the world. Structural. See Renderables.

        cell_size: edge of a cell of the spatial order, in world units; 0: chosen at the first update that
        finds some. refile_budget: renderables that one update may move to another cluster; 0: 2,048.
        user_size: bytes of your own in each mirror, at most 65,536. Raises ArgumentError (a number out of its
        range; the world has renderables, or a component "bounds", "renderable" or "layers" of another size),
        UnsupportedError (a world with cells), LimitError, BusyError, OutOfMemoryError.
        """
        return Renderables(self, cell_size, refile_budget, user_size)

    def visible(self) -> Visible:
        """Make memory for what cameras see. See Visible. Raises OutOfMemoryError."""
        return Visible(self)

    def _found(self, name: str, dtype: np.dtype[Any]) -> Component:
        """Return a component that the library has registered; the caller holds the lock."""
        if name not in self._registered:
            number = int(lib.native_find_component(self._world(), name.encode()))
            self._registered[name] = Component(number, name, dtype, self)
        return self._registered[name]


#: What an array of instances is, or None.
_Array = Union["npt.NDArray[Any]", None]


class _Arrays:
    """Arrays for instances, and the native struct that names them."""

    def __init__(
        self,
        count: int,
        form: Form,
        out: npt.NDArray[Any] | None,
        previous: bool,
        entities: bool,
        user_data: bool,
        sizes: bool,
        cells: bool,
    ) -> None:
        if form not in tuple(Form):
            raise ArgumentError(Status.ERR_ARGUMENT, f"form is one of Form, not {form!r}")
        dtype = _FORM_TYPES[form]
        self.native = native = ffi.new("native_arrays *")
        self.matrices = np.empty(count, dtype=dtype) if out is None else _output(out, count, dtype)
        self.previous = np.empty(count, dtype=dtype) if bool_of(previous, "previous") else None
        self.entities = np.empty(count, dtype=ENTITY) if bool_of(entities, "entities") else None
        self.user_data = (
            np.empty(count, dtype=np.uint32) if bool_of(user_data, "user_data") else None
        )
        self.sizes = np.empty(count, dtype=np.float32) if bool_of(sizes, "sizes") else None
        self.cells = np.empty((count, 3), dtype=np.int32) if bool_of(cells, "cells") else None
        native.form = int(form)
        native.matrices = _at(self.matrices)
        # The stride of an array of one or none is any number.
        native.matrix_stride = self.matrices.strides[0] if count > 1 else 0
        native.previous = _at(self.previous)
        native.entities = _at(self.entities)
        native.user_data = _at(self.user_data)
        native.sizes = _at(self.sizes)
        native.cells = _at(self.cells)

    def first(self, count: int) -> Instances:
        """Return the first ones of all arrays."""
        return Instances(
            self.matrices[:count],
            _first(self.previous, count),
            _first(self.entities, count),
            _first(self.user_data, count),
            _first(self.sizes, count),
            _first(self.cells, count),
        )


def _at(array: _Array) -> Any:
    return ffi.NULL if array is None else address(array)


def _first(array: _Array, count: int) -> Any:
    return None if array is None else array[:count]


def _output(out: npt.NDArray[Any], count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the first `count` values of an array that are written; each of them is contiguous."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a numpy array, not {type(out).__name__}")
    if out.dtype != dtype.base or out.shape[1:] != dtype.shape or out.ndim == 0 or len(out) < count:
        wanted = (count,) + dtype.shape
        raise ValueError(
            f"out must be {dtype.base} of shape {wanted} or more, not {out.dtype} of {out.shape}"
        )
    used = out[:count]
    if not used.flags.writeable or (
        count != 0
        and not (
            used[0:1].reshape(-1).flags.c_contiguous
            and used[0].flags.c_contiguous
            and used.ctypes.data % 4 == 0
            and (count == 1 or (used.strides[0] % 4 == 0 and used.strides[0] >= dtype.itemsize))
        )
    ):
        raise ValueError("out must be writeable and aligned, and each pose of it contiguous")
    return used
