# SPDX-License-Identifier: MIT
"""Reads and writes of the transforms of a world."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import address, handles, one, output, rows, strided_handles, type_of, values, with_flag
from ._errors import ArgumentError, PartlyError, Status, check, error_of, message_of
from ._native import ffi, lib
from ._structure import Structure, parts_of, transform_of
from ._transform import Transform, pointer_of
from ._types import (
    POSE,
    READ_TYPES,
    TRANSFORM,
    WRITE_TYPES,
    Axes,
    Axis,
    Conversion,
    EntitiesLike,
    EntityLike,
    Floats,
    Handles,
    Inherit,
    Read,
    Space,
    Write,
    WriteFlag,
)

_TRANSLATE = (Write.TRANSLATE_OWN, Write.TRANSLATE_IN_PARENT, Write.TRANSLATE_WORLD)
_ROTATE = (Write.ROTATE_OWN, Write.ROTATE_IN_PARENT, Write.ROTATE_WORLD)
#: Kinds of write by the name of the part, relative to the parent and to the world.
_LOCAL = {
    "transform": Write.LOCAL_TRANSFORM,
    "pose": Write.LOCAL_POSE,
    "position": Write.LOCAL_POSITION,
    "rotation": Write.LOCAL_ROTATION,
    "scale": Write.LOCAL_SCALE,
    "stretch": Write.STRETCH,
    "user_data": Write.USER_DATA,
}
_WORLD = {
    "transform": Write.WORLD_TRANSFORM,
    "pose": Write.WORLD_POSE,
    "position": Write.WORLD_POSITION,
    "rotation": Write.WORLD_ROTATION,
    "scale": Write.WORLD_SCALE,
    "stretch": Write.STRETCH,
    "user_data": Write.USER_DATA,
}


class WriteReport(NamedTuple):
    """Counts of a batch of writes; applied + refused are all of them."""

    #: Writes that were carried out, also where they changed no bit.
    applied: int
    #: Of the applied: a scale or stretch of zero left a part undetermined.
    lossy: int
    #: Writes that were not carried out.
    refused: int
    #: Index of the first refused entry; None where all were carried out.
    first_refused: int | None
    #: Why it was refused; OK where all were carried out.
    first_status: Status
    #: The world transform of a written entity, or of one that follows it, is not finite.
    has_overflowed: bool


_EMPTY = WriteReport(0, 0, 0, None, Status.OK, False)


class Transforms(Structure):
    """Reads and writes of transforms. Every write propagates at once.

    Numbers are 32-bit floats; others are rounded to them. A quaternion is x, y, z, w and is brought to
    unit length when it is written.
    """

    # --- One entity ---

    def read(self, entity: EntityLike, kind: Read) -> npt.NDArray[Any]:
        """Read a transform or a part of it: an array of the shape and type that the kind names.

        Raises EntityError, ComponentError (no transform), ArgumentError (no such kind).
        """
        out = np.empty((), dtype=type_of(READ_TYPES, kind))
        self._checked(lib.native_read, entity, kind, address(out))
        return out

    def world_position(self, entity: EntityLike) -> Floats:
        """Return the position in the world, (3,). Raises EntityError, ComponentError."""
        return self.read(entity, Read.WORLD_POSITION)

    def world_rotation(self, entity: EntityLike) -> Floats:
        """Return the rotation in the world, x, y, z, w, (4,). Raises EntityError, ComponentError."""
        return self.read(entity, Read.WORLD_ROTATION)

    def world_scale(self, entity: EntityLike) -> float:
        """Return the uniform scale in the world. Raises EntityError, ComponentError."""
        return float(self.read(entity, Read.WORLD_SCALE))

    def local_position(self, entity: EntityLike) -> Floats:
        """Return the position in the parent's axes, (3,). Raises EntityError, ComponentError."""
        return self.read(entity, Read.LOCAL_POSITION)

    def local_rotation(self, entity: EntityLike) -> Floats:
        """Return the rotation in the parent, x, y, z, w, (4,). Raises EntityError, ComponentError."""
        return self.read(entity, Read.LOCAL_ROTATION)

    def local_scale(self, entity: EntityLike) -> float:
        """Return the uniform scale in the parent. Raises EntityError, ComponentError."""
        return float(self.read(entity, Read.LOCAL_SCALE))

    def stretch(self, entity: EntityLike) -> Floats:
        """Return the scale of each axis, (3,). Raises EntityError, ComponentError."""
        return self.read(entity, Read.STRETCH)

    def user_data(self, entity: EntityLike) -> int:
        """Return your own word, 0 to 2**32 - 1. Raises EntityError, ComponentError."""
        return int(self.read(entity, Read.USER_DATA))

    def world_transform(self, entity: EntityLike) -> Transform:
        """Return the transform relative to the world. Raises EntityError, ComponentError."""
        return Transform.from_array(self.read(entity, Read.WORLD_TRANSFORM))

    def local_transform(self, entity: EntityLike) -> Transform:
        """Return the transform relative to the parent. Raises EntityError, ComponentError."""
        return Transform.from_array(self.read(entity, Read.LOCAL_TRANSFORM))

    def world_matrix(self, entity: EntityLike) -> Floats:
        """Return (4, 4): ``m @ [x, y, z, 1]`` is a point of the entity in the world.

        Raises EntityError, ComponentError.
        """
        return self.world_transform(entity).matrix()

    def shown_position(self, entity: EntityLike) -> Floats:
        """Return the position as it is drawn, (3,): see World.present(). Without motion that in the world.

        Raises EntityError, ComponentError.
        """
        return self.read(entity, Read.SHOWN_POSITION)

    def shown_rotation(self, entity: EntityLike) -> Floats:
        """Return the rotation as it is drawn, x, y, z, w, (4,). As shown_position()."""
        return self.read(entity, Read.SHOWN_ROTATION)

    def shown_scale(self, entity: EntityLike) -> float:
        """Return the uniform scale as it is drawn. As shown_position()."""
        return float(self.read(entity, Read.SHOWN_SCALE))

    def shown_transform(self, entity: EntityLike) -> Transform:
        """Return the transform as it is drawn. Stretch and user data are not blended. As shown_position()."""
        return Transform.from_array(self.read(entity, Read.SHOWN_TRANSFORM))

    def shown_matrix(self, entity: EntityLike) -> Floats:
        """Return (4, 4) as it is drawn, as world_matrix(). Raises EntityError, ComponentError."""
        return self.shown_transform(entity).matrix()

    def relative_transform(self, frame: EntityLike, entity: EntityLike) -> Transform:
        """Return the transform of an entity as a child of `frame` would have it, of any hierarchy.

        Raises EntityError, ComponentError, NumberError (a tiny scale of the frame).
        """
        out = np.empty((), dtype=TRANSFORM)
        self._checked(lib.native_relative, frame, entity, address(out))
        return Transform.from_array(out)

    def convert(
        self, entity: EntityLike, value: npt.ArrayLike, conversion: Conversion
    ) -> Floats:
        """Convert a point, a vector or a direction, (3,), between an entity's axes and the world's.

        Raises EntityError, ComponentError, ArgumentError.
        """
        source, out = one(value, READ_TYPES[Read.STRETCH]), np.zeros(3, dtype=np.float32)
        self._checked(lib.native_convert, entity, conversion, address(source), address(out))
        return out

    def inherit(self, entity: EntityLike) -> Inherit:
        """Return the parts that a member does not take from its parent; NONE for any other handle."""
        return Inherit(self._call(lib.native_inherit, entity))

    def set_inherit(self, entity: EntityLike, flags: Inherit) -> Status:
        """Change which parts a member does not take from its parent; it stays where it is.

        Returns OK or LOSSY. Raises EntityError, StructureError (a root), ArgumentError, BusyError (in a
        query, where memory is needed), OutOfMemoryError.
        """
        return self._checked(lib.native_set_inherit, entity, flags)

    def write_one(
        self,
        entity: EntityLike,
        kind: Write,
        value: npt.ArrayLike,
        *,
        flag: WriteFlag = WriteFlag.NONE,
    ) -> Status:
        """Carry out one write of any kind. O(descendants).

        flag: how motion blends it (World.tick()). Returns OK, LOSSY or OVERFLOW. Raises EntityError,
        ComponentError (no transform), NumberError, StructureError (it copies its parent), ArgumentError (no
        such kind or flag; a flag with a kind of previous poses), UnsupportedError (such a kind without
        motion), BusyError and OutOfMemoryError (the first stretch or user data of a hierarchy needs memory),
        ValueError (the shape; a number that the kind does not have), TypeError (no numbers). Then nothing
        has changed.
        """
        return self._write_part(entity, kind, value, "the value", flag)

    def _write_part(
        self,
        entity: EntityLike,
        kind: Write,
        value: npt.ArrayLike,
        what: str,
        flag: WriteFlag = WriteFlag.NONE,
    ) -> Status:
        array = one(value, type_of(WRITE_TYPES, kind), what)
        return self._checked(lib.native_write, entity, with_flag(kind, flag), address(array))

    def set_local(
        self,
        entity: EntityLike,
        transform: Transform | None = None,
        *,
        position: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        scale: float | None = None,
        stretch: npt.ArrayLike | None = None,
        user_data: int | None = None,
        flag: WriteFlag = WriteFlag.NONE,
    ) -> Status:
        """Set the transform relative to the parent, or parts of it, in one write.

        position (3,), rotation (4,) x, y, z, w, scale, stretch (3,), user_data. Parts that are not
        given stay as they read. Returns and raises as write_one().
        """
        given = parts_of(position, rotation, scale, stretch, user_data)
        return self._set(entity, transform, given, Space.LOCAL, flag)

    def set_world(
        self,
        entity: EntityLike,
        transform: Transform | None = None,
        *,
        position: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        scale: float | None = None,
        stretch: npt.ArrayLike | None = None,
        user_data: int | None = None,
        flag: WriteFlag = WriteFlag.NONE,
    ) -> Status:
        """Set the transform relative to the world, or parts of it, in one write. As set_local()."""
        given = parts_of(position, rotation, scale, stretch, user_data)
        return self._set(entity, transform, given, Space.WORLD, flag)

    def _set(
        self,
        entity: EntityLike,
        transform: Transform | None,
        given: dict[str, Any],
        space: Space,
        flag: WriteFlag,
    ) -> Status:
        is_local = space == Space.LOCAL
        kinds = _LOCAL if is_local else _WORLD
        if transform is None and len(given) == 1:
            [(name, part)] = given.items()
            return self._write_part(entity, kinds[name], part, name, flag)
        whole = transform_of(transform, given)
        if whole is None:
            raise ArgumentError(Status.ERR_ARGUMENT, "nothing to set")
        kind = with_flag(kinds["transform"], flag)
        with self._lock:
            if transform is None:
                read = Read.LOCAL_TRANSFORM if is_local else Read.WORLD_TRANSFORM
                array = self.read(entity, read)
                for name in given:
                    array[name] = whole.__array__()[name]
                whole = Transform.from_array(array)
            return self._checked(lib.native_write, entity, kind, pointer_of(whole))

    def translate(
        self,
        entity: EntityLike,
        offset: npt.ArrayLike,
        axes: Axes = Axes.OWN,
        *,
        flag: WriteFlag = WriteFlag.NONE,
    ) -> Status:
        """Move by an offset, (3,), along its own axes, the parent's, or the world's. As write_one().

        Along its own axes the units are the parent's.
        """
        return self._write_part(entity, _TRANSLATE[axes], offset, "offset", flag)

    def rotate(
        self,
        entity: EntityLike,
        by: npt.ArrayLike,
        axes: Axes = Axes.OWN,
        *,
        flag: WriteFlag = WriteFlag.NONE,
    ) -> Status:
        """Turn by a quaternion, (4,), about its own axes, the parent's, or the world's. As write_one()."""
        return self._write_part(entity, _ROTATE[axes], by, "by", flag)

    def rotate_about(
        self, entity: EntityLike, pivot: npt.ArrayLike, by: npt.ArrayLike
    ) -> Status:
        """Turn by a quaternion, (4,), about a point of the world, (3,), and move. As write_one()."""
        point = one(pivot, WRITE_TYPES[Write.WORLD_POSITION], "pivot")
        turn = one(by, WRITE_TYPES[Write.WORLD_ROTATION], "by")
        return self._checked(lib.native_rotate_about, entity, address(point), address(turn))

    def look_at(
        self,
        entity: EntityLike,
        target: npt.ArrayLike,
        up: npt.ArrayLike = (0, 1, 0),
        forward: Axis = Axis.FORWARD,
    ) -> Status:
        """Turn an entity in place so that an axis points at a point of the world, (3,). As write_one().

        up: the direction, (3,), that its up axis approaches as far as it can. LOSSY: it is at the target.
        """
        point = one(target, WRITE_TYPES[Write.WORLD_POSITION], "target")
        above = one(up, WRITE_TYPES[Write.WORLD_POSITION], "up")
        return self._checked(
            lib.native_look_at, entity, address(point), address(above), forward
        )

    # --- Many entities ---

    def read_many(
        self,
        entities: EntitiesLike,
        kind: Read,
        out: npt.NDArray[Any] | None = None,
        *,
        strict: bool = True,
    ) -> npt.NDArray[Any]:
        """Read a transform or a part of it of many entities, (n,): (n, ...) by one call of the library.

        entities: numpy.int64 is taken without a copy, a field of a structured array too. out: an array
        to write to, of that shape and type. strict: raise EntityError or ComponentError, with the index
        of the first that cannot be read; else its floats are NaN and its integers 0. In `out` the rows
        of entities that can be read may be written before an exception.
        """
        array, stride = strided_handles(entities)
        dtype = type_of(READ_TYPES, kind)
        out = output(out, (len(array),) + dtype.shape, dtype.base)
        if not strict:
            _fill(out)
        with self._lock:
            status = lib.native_read_many(
                self._world(), kind, address(array), stride, address(out), dtype.itemsize, len(array)
            )
            self._check_read(status, array, stride, strict)
        return out

    def world_positions(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> Floats:
        """Return positions in the world, (n, 3). As read_many()."""
        return self.read_many(entities, Read.WORLD_POSITION, out, strict=strict)

    def world_rotations(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> Floats:
        """Return rotations in the world, x, y, z, w, (n, 4). As read_many()."""
        return self.read_many(entities, Read.WORLD_ROTATION, out, strict=strict)

    def world_transforms(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> npt.NDArray[Any]:
        """Return transforms relative to the world, (n,) of TRANSFORM. As read_many()."""
        return self.read_many(entities, Read.WORLD_TRANSFORM, out, strict=strict)

    def world_poses(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> npt.NDArray[Any]:
        """Return rotations, positions and scales in the world, (n,) of POSE. As read_many()."""
        return self.read_many(entities, Read.WORLD_POSE, out, strict=strict)

    def shown_positions(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> Floats:
        """Return positions as they are drawn, (n, 3): see World.present(). As read_many()."""
        return self.read_many(entities, Read.SHOWN_POSITION, out, strict=strict)

    def shown_rotations(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> Floats:
        """Return rotations as they are drawn, x, y, z, w, (n, 4). As read_many()."""
        return self.read_many(entities, Read.SHOWN_ROTATION, out, strict=strict)

    def shown_transforms(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> npt.NDArray[Any]:
        """Return transforms as they are drawn, (n,) of TRANSFORM. As read_many()."""
        return self.read_many(entities, Read.SHOWN_TRANSFORM, out, strict=strict)

    def shown_poses(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> npt.NDArray[Any]:
        """Return rotations, positions and scales as they are drawn, (n,) of POSE. As read_many()."""
        return self.read_many(entities, Read.SHOWN_POSE, out, strict=strict)

    def local_positions(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> Floats:
        """Return positions in the axes of the parents, (n, 3). As read_many()."""
        return self.read_many(entities, Read.LOCAL_POSITION, out, strict=strict)

    def local_rotations(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> Floats:
        """Return rotations in the parents, x, y, z, w, (n, 4). As read_many()."""
        return self.read_many(entities, Read.LOCAL_ROTATION, out, strict=strict)

    def local_transforms(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> npt.NDArray[Any]:
        """Return transforms relative to the parents, (n,) of TRANSFORM. As read_many()."""
        return self.read_many(entities, Read.LOCAL_TRANSFORM, out, strict=strict)

    def local_poses(
        self, entities: EntitiesLike, out: npt.NDArray[Any] | None = None, *, strict: bool = True
    ) -> npt.NDArray[Any]:
        """Return rotations, positions and scales relative to the parents, (n,) of POSE. As read_many()."""
        return self.read_many(entities, Read.LOCAL_POSE, out, strict=strict)

    def world_matrices(
        self,
        entities: EntitiesLike,
        out: npt.NDArray[Any] | None = None,
        *,
        rows: int = 4,
        strict: bool = True,
    ) -> Floats:
        """Return matrices, (n, 4, 4), or (n, 3, 4) for rows=3, without the last row 0, 0, 0, 1.

        ``m[i] @ [x, y, z, 1]`` is a point of entity i in the world. Each is contiguous, row by row;
        OpenGL and glTF want the transpose. As read_many().
        """
        return self._matrices(entities, Read.WORLD_TRANSFORM, out, rows, strict)

    def shown_matrices(
        self,
        entities: EntitiesLike,
        out: npt.NDArray[Any] | None = None,
        *,
        rows: int = 4,
        strict: bool = True,
    ) -> Floats:
        """Return matrices as they are drawn: see World.present(). As world_matrices()."""
        return self._matrices(entities, Read.SHOWN_TRANSFORM, out, rows, strict)

    def _matrices(
        self,
        entities: EntitiesLike,
        kind: Read,
        out: npt.NDArray[Any] | None,
        rows: int,
        strict: bool,
    ) -> Floats:
        if rows not in (3, 4):
            raise ArgumentError(Status.ERR_ARGUMENT, f"rows is 3 or 4, not {rows}")
        array, stride = strided_handles(entities)
        out = output(out, (len(array), rows, 4), np.dtype(np.float32))
        if not strict:
            _fill(out)
        with self._lock:
            status = lib.native_read_matrices(
                self._world(), kind, address(array), stride, rows, address(out), len(array)
            )
            self._check_read(status, array, stride, strict)
        return out

    def _check_read(
        self, status: int, array: npt.NDArray[np.int64], stride: int, strict: bool
    ) -> None:
        if check(status) != Status.PARTLY or not strict:
            return
        index = ffi.new("size_t *")
        reason = lib.native_find_unreadable(
            self._world(), address(array), stride, len(array), index
        )
        raise error_of(reason, int(index[0]))

    def write_many(
        self,
        entities: EntitiesLike,
        kind: Write,
        value: npt.ArrayLike,
        *,
        flag: WriteFlag = WriteFlag.NONE,
        strict: bool = True,
    ) -> WriteReport:
        """Carry out writes of one kind to many entities, (n,), any and in any order, by one call.

        value: (n, ...) of the shape and type that the kind names, or one value for all. Parents are
        written before their children. flag: how motion blends them (World.tick()). O(n + descendants).

        An entry that write_one() would refuse is refused alone, and ALL OTHERS ARE WRITTEN. strict: that
        raises PartlyError, which has the report; else the report is returned. Raised before anything is
        written: OutOfMemoryError, BusyError, LimitError, ArgumentError, ValueError (the shape).
        """
        array, stride = strided_handles(entities)
        source, step = values(value, len(array), type_of(WRITE_TYPES, kind))
        return self._write(array, stride, with_flag(kind, flag), source, step, strict)

    def _write(
        self,
        array: Handles,
        stride: int,
        kind: int,
        source: npt.NDArray[Any],
        step: int,
        strict: bool,
    ) -> WriteReport:
        entries = address(array), stride, address(source), step, len(array)
        report = ffi.new("espl_write_report *")
        return _report(self._checked(lib.native_write_many, kind, *entries, report), report, strict)

    def copy_world_transforms(
        self,
        entities: EntitiesLike,
        world: Transforms,
        sources: EntitiesLike,
        *,
        strict: bool = True,
    ) -> WriteReport:
        """Give entities, (n,), the world transforms of entities of another world, (n,), or of this one.

        All are read, then all are written as by write_many(). So a world of entities that are only shown
        follows a simulation that is rewound. An entry whose source cannot be read or whose entity cannot be
        written is refused, and the others are copied. Returns and raises as write_many(), and ValueError
        (another number of sources).
        """
        targets, others = handles(entities), handles(sources)
        if len(targets) != len(others):
            raise ValueError(f"{len(targets)} entities, and {len(others)} sources")
        copies = np.stack([targets, others], axis=1)
        report = ffi.new("espl_write_report *")
        # Always in the same order, so that two threads do not wait for each other.
        first, second = sorted((self, world), key=id)
        with first._lock, second._lock:
            status = self._checked(
                lib.native_copy_worlds, world._world(), address(copies), len(copies), report
            )
        return _report(status, report, strict)

    def write(
        self,
        entities: EntitiesLike,
        *,
        positions: npt.ArrayLike | None = None,
        rotations: npt.ArrayLike | None = None,
        scales: npt.ArrayLike | None = None,
        stretches: npt.ArrayLike | None = None,
        user_data: npt.ArrayLike | None = None,
        transforms: npt.ArrayLike | None = None,
        space: Space = Space.LOCAL,
        flag: WriteFlag = WriteFlag.NONE,
        strict: bool = True,
    ) -> WriteReport:
        """Write parts of the transforms of many entities, (n,).

        positions (n, 3), rotations (n, 4) x, y, z, w, scales (n,), stretches (n, 3), user_data (n,), or
        whole transforms (n,) of TRANSFORM; each may be one value for all. Each part is one write_many(),
        but positions, rotations and scales together are one, of poses. The report is the sum of these
        batches; its first_refused is that of the first batch that refused an entry.

        Raises as write_many(); ValueError before anything is written. Where the batch of a later part
        raises, those of the earlier parts are written.
        """
        kinds = _LOCAL if space == Space.LOCAL else _WORLD
        array, stride = strided_handles(entities)
        parts: dict[str, npt.ArrayLike | None] = {
            "transform": transforms,
            "pose": None,
            "position": positions,
            "rotation": rotations,
            "scale": scales,
            "stretch": stretches,
            "user_data": user_data,
        }
        names = ("position", "rotation", "scale")
        pose = {name: part for name in names if (part := parts[name]) is not None}
        if len(pose) == len(names):
            poses = np.empty(len(array), dtype=POSE)
            for name, part in pose.items():
                poses[name] = rows(part, len(array), WRITE_TYPES[kinds[name]], name)
            parts.update(position=None, rotation=None, scale=None, pose=poses)
        work = [
            (with_flag(kinds[name], flag), *values(part, len(array), WRITE_TYPES[kinds[name]], name))
            for name, part in parts.items()
            if part is not None
        ]
        if not work:
            raise ArgumentError(Status.ERR_ARGUMENT, "nothing to write")
        total = _EMPTY
        with self._lock:
            for kind, source, step in work:
                total = _add(total, self._write(array, stride, kind, source, step, strict))
        return total


def _fill(out: npt.NDArray[Any]) -> None:
    if out.dtype.names is None:
        out.fill(np.nan if out.dtype.kind == "f" else 0)
    else:
        for name in out.dtype.names:
            _fill(out[name])


def _report(status: Status, report: Any, strict: bool) -> WriteReport:
    """Return the report of a batch; raise PartlyError where that is wanted."""
    made = WriteReport(
        int(report.applied),
        int(report.lossy),
        int(report.refused),
        int(report.first_refused) if report.refused else None,
        Status(report.first_status) if report.refused else Status.OK,
        bool(report.has_overflowed),
    )
    if status == Status.PARTLY and strict:
        raise _partly(made)
    return made


def _partly(report: WriteReport) -> PartlyError:
    cause = report.first_status
    text = message_of(cause) or f"ESPL_{cause.name}: {cause.sentence}"
    done = f"{report.refused} of {report.applied + report.refused} writes were refused: {text}"
    error = PartlyError(Status.PARTLY, done, report.first_refused)
    error.report = report
    error.cause = cause
    return error


def _add(a: WriteReport, b: WriteReport) -> WriteReport:
    first = a if a.refused else b
    return WriteReport(
        a.applied + b.applied,
        a.lossy + b.lossy,
        a.refused + b.refused,
        first.first_refused,
        first.first_status,
        a.has_overflowed or b.has_overflowed,
    )
