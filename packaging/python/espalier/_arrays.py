# SPDX-License-Identifier: MIT
"""Arrays to and from the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import ArgumentError, OutOfMemoryError, Status
from ._native import ffi, lib
from ._types import EntitiesLike, Handles, WriteFlag


def address(array: npt.NDArray[Any]) -> Any:
    """Return the address of an array's first element. The caller keeps the array."""
    return ffi.cast("void *", array.ctypes.data)


def _integers(entities: EntitiesLike) -> Handles:
    array = np.asarray(entities)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"handles are numpy.int64, not {array.dtype}")
    if array.dtype == np.uint64:
        return array.view(np.int64)
    return array.astype(np.int64, copy=False)


def handles(entities: EntitiesLike) -> Handles:
    """Return one dimension of handles; contiguous and aligned 64-bit integers are not copied."""
    array = np.require(_integers(entities), requirements=("C", "A"))
    if array.ndim != 1:
        raise ValueError(f"handles have one dimension, not {array.ndim}")
    return array


def strided_handles(entities: EntitiesLike) -> tuple[Handles, int]:
    """Return handles and the bytes from one to the next; a field of a structured array is not copied."""
    array = _integers(entities)
    if (
        array.ndim == 1
        and array.size > 1
        and array.strides[0] >= 8
        and array.strides[0] % 4 == 0
        and array.ctypes.data % 4 == 0
    ):
        return array, array.strides[0]
    return handles(array), 8


def _changes(array: npt.NDArray[Any], made: npt.NDArray[Any]) -> bool:
    """Tell whether numbers became others where they were made whole ones of another type."""
    if array.size == 0 or made.dtype.kind not in "iu" or np.can_cast(array.dtype, made.dtype):
        return False
    if array.dtype == np.uint64 and made.dtype == np.int64:
        return False  # handles: the bits stay
    limits = np.iinfo(made.dtype)
    is_whole = array.dtype.kind in "iu" or bool(
        np.all(np.isfinite(array) & (np.floor(array) == array))
    )
    return not (is_whole and int(array.min()) >= limits.min and int(array.max()) <= limits.max)


def numbers(value: npt.ArrayLike, base: np.dtype[Any], what: str) -> npt.NDArray[Any]:
    """Return an array of a type.

    numpy would convert texts, drop the imaginary part of complex numbers, and wrap numbers that a type
    of whole numbers does not have: these are a TypeError and a ValueError here. Values of structured
    types are made as numpy makes them.
    """
    if base.kind not in "biuf":
        return np.asarray(value, dtype=base)
    array = np.asarray(value)
    if array.dtype == base:
        return array
    if array.dtype.kind not in "biuf" or (array.dtype.kind == "b") != (base.kind == "b"):
        raise TypeError(f"{what} must be numbers of type {base}, not {array.dtype}")
    with np.errstate(over="ignore", invalid="ignore"):
        made = array.astype(base)
    if _changes(array, made):
        raise ValueError(f"{what}: a number is none of type {base}")
    return made


def values(
    value: npt.ArrayLike, count: int, dtype: np.dtype[Any], what: str = "the value"
) -> tuple[npt.NDArray[Any], int]:
    """Return `count` values of a type and the bytes from one to the next.

    What is smaller is repeated, as numpy does; ValueError where it does not fit.
    """
    array = _broadcast(value, count, dtype, what)
    if (
        count > 1
        and array.strides[0] >= dtype.itemsize
        and array.strides[0] % 4 == 0
        and array.ctypes.data % 4 == 0
        and array[0].flags.c_contiguous
    ):
        return array, array.strides[0]
    return np.require(array, requirements=("C", "A")), dtype.itemsize


def rows(
    value: npt.ArrayLike, count: int, dtype: np.dtype[Any], what: str = "the value"
) -> npt.NDArray[Any]:
    """Return `count` values of a type one after the other in memory. As values()."""
    return np.ascontiguousarray(_broadcast(value, count, dtype, what))


def _broadcast(
    value: npt.ArrayLike, count: int, dtype: np.dtype[Any], what: str
) -> npt.NDArray[Any]:
    array = numbers(value, dtype.base, what)
    wanted = (count,) + dtype.shape
    if array.shape == wanted:
        return array
    try:
        return np.broadcast_to(array, wanted)
    except ValueError:
        raise ValueError(f"the shape of {what} is {wanted}, not {array.shape}") from None


def one(value: npt.ArrayLike, dtype: np.dtype[Any], what: str = "the value") -> npt.NDArray[Any]:
    """Return one value of a type; ValueError where its shape differs."""
    array = numbers(value, dtype.base, what)
    if array.shape != dtype.shape:
        raise ValueError(f"the shape of {what} is {dtype.shape}, not {array.shape}")
    return np.require(array, requirements=("C", "A"))


def output(
    out: npt.NDArray[Any] | None, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return an array to write to: a new one, or `out` where it has the shape and the type."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a numpy array, not {type(out).__name__}")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out must be {dtype} of shape {shape}, not {out.dtype} of {out.shape}")
    if not out.flags.c_contiguous or not out.flags.writeable or not out.flags.aligned:
        raise ValueError("out must be C-contiguous, aligned and writeable")
    return out


def type_of(types: tuple[np.dtype[Any], ...], kind: int) -> np.dtype[Any]:
    """Return the type of a kind of read or write; ArgumentError where there is no such kind."""
    if not 0 <= kind < len(types):
        raise ArgumentError(Status.ERR_ARGUMENT, f"there is no kind {kind}")
    return types[kind]


def with_flag(kind: int, flag: int) -> int:
    """Return a kind of write that exists, and a flag, as one number; ArgumentError where it is no flag."""
    if flag not in tuple(WriteFlag):
        raise ArgumentError(Status.ERR_ARGUMENT, f"flag is one of WriteFlag, not {flag!r}")
    return int(kind) | int(flag)


class Pinned:
    """Memory of a world that an array shows. The block around it stays allocated until this is gone."""

    __slots__ = ("_pin", "__array_interface__")

    def __init__(self, world: Any, start: Any, size: int) -> None:
        pin = lib.native_pin_create(world, start)
        if pin == ffi.NULL:
            raise OutOfMemoryError(Status.ERR_NO_MEMORY)
        self._pin = ffi.gc(pin, lib.native_pin_release)
        self.__array_interface__ = {
            "version": 3,
            "shape": (size,),
            "typestr": "|u1",
            "data": (int(ffi.cast("uintptr_t", start)), True),
        }


def shown(world: Any, start: Any, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return a read-only array of `count` values that are in the memory of a world, without a copy."""
    raw: npt.NDArray[Any] = np.asarray(Pinned(world, start, count * dtype.itemsize))
    return raw.view(dtype.base).reshape((count,) + dtype.shape)
