# SPDX-License-Identifier: MIT
"""Transforms and rotations as values. No world is needed; any thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import address, one
from ._errors import check
from ._native import ffi, lib
from ._types import TRANSFORM, WRITE_TYPES, Conversion, EulerOrder, Floats, Write

_VECTOR = WRITE_TYPES[Write.LOCAL_POSITION]
_QUATERNION = WRITE_TYPES[Write.LOCAL_ROTATION]
_SCALE = WRITE_TYPES[Write.LOCAL_SCALE]
_WORD = WRITE_TYPES[Write.USER_DATA]
_MATRIX = np.dtype((np.float32, (4, 4)))
#: Of espl_matrix_form: 4 columns of 4.
_MATRIX_4X4, _MATRIX_4X4_INVERSE = 1, 2
_IDENTITY = np.zeros((), dtype=TRANSFORM)
_IDENTITY["rotation"][3] = 1
_IDENTITY["scale"] = 1
_IDENTITY["stretch"] = 1


def identity() -> npt.NDArray[Any]:
    """Return the identity as a value of the type TRANSFORM, which may be written to."""
    return _IDENTITY.copy()


class Transform:
    """Transform of a frame in another one: stretch and scale, then rotate, then translate.

    The numbers are 32-bit floats; other ones are rounded. They are checked where the transform is
    written to a world, not here. ``parent @ local`` is the world transform of a child. A transform
    does not change; it may be used on any thread.

    position: (3,), world units. rotation: (4,), a quaternion x, y, z, w. scale: uniform, inherited by
    children; negative mirrors. stretch: (3,), for each axis; children inherit it for their positions
    only. user_data: a word of your own, 0 to 2**32 - 1.

    Raises ValueError where a shape differs, or user_data is no such word; TypeError where something is no
    number.
    """

    __slots__ = ("_array",)

    def __init__(
        self,
        position: npt.ArrayLike = (0, 0, 0),
        rotation: npt.ArrayLike = (0, 0, 0, 1),
        scale: float = 1.0,
        stretch: npt.ArrayLike = (1, 1, 1),
        user_data: int = 0,
    ) -> None:
        array = identity()
        array["position"] = one(position, _VECTOR, "position")
        array["rotation"] = one(rotation, _QUATERNION, "rotation")
        array["scale"] = one(scale, _SCALE, "scale")
        array["stretch"] = one(stretch, _VECTOR, "stretch")
        array["user_data"] = one(user_data, _WORD, "user_data")
        array.flags.writeable = False
        self._array = array

    @classmethod
    def from_array(cls, array: npt.ArrayLike) -> Transform:
        """Make a transform of one value of the type TRANSFORM, which is copied."""
        source = np.asarray(array)
        if source.dtype != TRANSFORM:
            raise TypeError(f"array must be one value of the type TRANSFORM, not {source.dtype}")
        made = cls.__new__(cls)
        made._array = source.copy().reshape(())
        made._array.flags.writeable = False
        return made

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike) -> Transform:
        """Decompose a (4, 4) matrix whose product with a column x, y, z, 1 is a point of the outer frame.

        Columns of the same length give a scale, others a stretch. Raises NumberError: shear, a last row
        other than 0, 0, 0, 1, or a number that is not finite.
        """
        columns = np.ascontiguousarray(one(matrix, _MATRIX, "matrix").T)
        made = np.empty((), dtype=TRANSFORM)
        check(lib.espl_transform_from_matrix(address(columns), address(made), ffi.NULL))
        return cls.from_array(made)

    @property
    def position(self) -> Floats:
        """Origin in the axes of the outer frame, (3,), read-only."""
        return self._array["position"]

    @property
    def rotation(self) -> Floats:
        """Quaternion x, y, z, w, (4,), read-only."""
        return self._array["rotation"]

    @property
    def scale(self) -> float:
        """Uniform scale."""
        return float(self._array["scale"])

    @property
    def stretch(self) -> Floats:
        """Scale of each axis, (3,), read-only."""
        return self._array["stretch"]

    @property
    def user_data(self) -> int:
        """Word of your own."""
        return int(self._array["user_data"])

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        """Return the value of the type TRANSFORM, read-only; of another type a copy."""
        return self._array if dtype is None else self._array.astype(dtype)

    def __eq__(self, other: object) -> bool:
        """Tell whether all 48 bytes are the same."""
        if not isinstance(other, Transform):
            return NotImplemented
        return self._array.tobytes() == other._array.tobytes()

    def __hash__(self) -> int:
        return hash(self._array.tobytes())

    def __repr__(self) -> str:
        text = f"Transform(position={self.position.tolist()}, rotation={self.rotation.tolist()}"
        text += f", scale={self.scale!r}, stretch={self.stretch.tolist()}"
        return f"{text}, user_data={self.user_data})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Transform.from_array, (np.asarray(self._array),)

    def __matmul__(self, local: Transform) -> Transform:
        """Return the world transform of a child with this local transform, if self is its parent's."""
        if not isinstance(local, Transform):
            return NotImplemented
        made = np.empty((), dtype=TRANSFORM)
        lib.native_compose(address(made), address(self._array), address(local._array))
        return Transform.from_array(made)

    def relative_to(self, parent: Transform) -> Transform:
        """Return the local transform that ``parent @ local`` turns into self.

        Parts that a scale or stretch of zero of the parent makes unreachable are the identity's.
        """
        made = identity()
        check(
            lib.espl_transform_relative(address(parent._array), address(self._array), address(made))
        )
        return Transform.from_array(made)

    def normalized(self) -> Transform:
        """Return it with a rotation of unit length. Raises NumberError: not finite, or no length."""
        made = self._array.copy()
        check(lib.espl_transform_normalize(address(made)))
        return Transform.from_array(made)

    def lerp(self, other: Transform, t: float) -> Transform:
        """Interpolate: 0 gives self, 1 gives other; the rotation turns at a constant speed.

        Raises NumberError: a number is not finite, or overflows.
        """
        made = np.empty((), dtype=TRANSFORM)
        check(
            lib.espl_transform_lerp(address(self._array), address(other._array), t, address(made))
        )
        return Transform.from_array(made)

    def matrix(self) -> Floats:
        """Return a (4, 4) matrix, for columns: ``m @ [x, y, z, 1]`` is the point in the outer frame."""
        return self._matrix(_MATRIX_4X4)

    def inverse_matrix(self) -> Floats:
        """Return the inverse of matrix(). Axes of zero scale or stretch become rows of zeros."""
        return self._matrix(_MATRIX_4X4_INVERSE)

    def _matrix(self, form: int) -> Floats:
        columns = np.empty((4, 4), dtype=np.float32)
        lib.espl_transform_to_matrix(address(self._array), form, address(columns))
        return np.ascontiguousarray(columns.T)

    def convert(self, value: npt.ArrayLike, conversion: Conversion) -> Floats:
        """Convert a point, a vector or a direction, (3,), between the frame ("local") and the outer one."""
        source = one(value, _VECTOR, "value")
        made = np.zeros(3, dtype=np.float32)
        lib.espl_transform_convert(
            address(self._array), Conversion(conversion), address(source), address(made)
        )
        return made


def pointer_of(transform: Transform) -> Any:
    """Return the address of a transform's value. The caller keeps the transform."""
    return address(transform._array)


def pointer_or_null(transform: Transform | None) -> Any:
    """Return the address of a transform's value, NULL for None. The caller keeps the transform."""
    return ffi.NULL if transform is None else pointer_of(transform)


# --- Rotations: quaternions x, y, z, w; angles in radians ---


def quat_from_axis_angle(axis: npt.ArrayLike, angle: float) -> Floats:
    """Return the rotation by an angle about an axis, (3,) of any length but 0.

    The same bits on every machine. Raises NumberError: not finite, or no length.
    """
    source, made = one(axis, _VECTOR, "axis"), np.empty(4, dtype=np.float32)
    check(lib.espl_quat_from_axis_angle(address(source), angle, address(made)))
    return made


def quat_to_axis_angle(quat: npt.ArrayLike) -> tuple[Floats, float]:
    """Return the axis, (3,), and the angle, 0 to pi, of a rotation. Raises NumberError."""
    source, axis = one(quat, _QUATERNION, "quat"), np.empty(3, dtype=np.float32)
    angle = ffi.new("float *")
    check(lib.espl_quat_to_axis_angle(address(source), address(axis), angle))
    return axis, float(angle[0])


def quat_from_euler(angles: npt.ArrayLike, order: EulerOrder = EulerOrder.YXZ) -> Floats:
    """Return the rotation that angles about +X, +Y, +Z make, (3,), applied in an order.

    Raises NumberError: not finite; ArgumentError: no such order.
    """
    source, made = one(angles, _VECTOR, "angles"), np.empty(4, dtype=np.float32)
    check(lib.espl_quat_from_euler(address(source), order, address(made)))
    return made


def quat_to_euler(quat: npt.ArrayLike, order: EulerOrder = EulerOrder.YXZ) -> Floats:
    """Return the angles about +X, +Y, +Z that make a rotation, (3,). Raises as quat_from_euler()."""
    source, made = one(quat, _QUATERNION, "quat"), np.empty(3, dtype=np.float32)
    check(lib.espl_quat_to_euler(address(source), order, address(made)))
    return made


def quat_multiply(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """Return a * b: the rotation b followed by the rotation a. Nothing is checked or normalised."""
    first, second = one(a, _QUATERNION, "a"), one(b, _QUATERNION, "b")
    made = np.empty(4, dtype=np.float32)
    lib.espl_quat_multiply(address(first), address(second), address(made))
    return made


def quat_rotate(quat: npt.ArrayLike, vector: npt.ArrayLike) -> Floats:
    """Rotate a vector, (3,), by a quaternion of unit length."""
    turn, source = one(quat, _QUATERNION, "quat"), one(vector, _VECTOR, "vector")
    made = np.empty(3, dtype=np.float32)
    lib.espl_quat_rotate(address(turn), address(source), address(made))
    return made


def quat_between(start: npt.ArrayLike, end: npt.ArrayLike) -> Floats:
    """Return the shortest rotation from one direction, (3,), to another. Raises NumberError."""
    first, second = one(start, _VECTOR, "start"), one(end, _VECTOR, "end")
    made = np.empty(4, dtype=np.float32)
    check(lib.espl_quat_between(address(first), address(second), address(made)))
    return made


def quat_slerp(a: npt.ArrayLike, b: npt.ArrayLike, t: float) -> Floats:
    """Interpolate rotations at constant speed by the shortest way. Raises NumberError: not finite."""
    first, second = one(a, _QUATERNION, "a"), one(b, _QUATERNION, "b")
    made = np.empty(4, dtype=np.float32)
    check(lib.espl_quat_slerp(address(first), address(second), t, address(made)))
    return made
