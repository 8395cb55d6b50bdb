# SPDX-License-Identifier: MIT
"""Arrays to and from the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import Status, OutOfMemoryError
from ._native import ffi, lib
from ._types import EntitiesLike, Handles


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
    """Return one dimension of handles, as they are where they are contiguous 64-bit integers."""
    array = np.ascontiguousarray(_integers(entities))
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


def values(value: npt.ArrayLike, count: int, dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], int]:
    """Return `count` values of a type and the bytes from one to the next.

    What is smaller is repeated, as numpy does; ValueError where it does not fit.
    """
    base, shape = dtype.subdtype or (dtype, ())
    array = np.asarray(value, dtype=base)
    wanted = (count,) + tuple(shape)
    if array.shape != wanted:
        array = np.broadcast_to(array, wanted)
    if count == 0:
        return array, dtype.itemsize
    step = array.strides[0] if count > 1 else dtype.itemsize
    inner = array[0]
    is_fit = step >= dtype.itemsize and step % 4 == 0 and array.ctypes.data % 4 == 0
    if not is_fit or not inner.flags.c_contiguous:
        array = np.ascontiguousarray(array)
        step = dtype.itemsize
    return array, step


def one(value: npt.ArrayLike, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return one value of a type; ValueError where its shape differs."""
    base, shape = dtype.subdtype or (dtype, ())
    array = np.asarray(value, dtype=base, order="C")
    if array.shape != tuple(shape):
        raise ValueError(f"a value of shape {tuple(shape)} is wanted, not {array.shape}")
    return array


def output(
    out: npt.NDArray[Any] | None, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return an array to write to: a new one, or `out` where it has the shape and the type."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out must be {dtype} of shape {shape}, not {out.dtype} of {out.shape}")
    if not out.flags.c_contiguous or not out.flags.writeable or not out.flags.aligned:
        raise ValueError("out must be C-contiguous, aligned and writeable")
    return out


class Pinned:
    """Memory of a world that an array shows. The block around it stays allocated as long as this."""

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
    base, shape = dtype.subdtype or (dtype, ())
    if count == 0:
        empty: npt.NDArray[Any] = np.empty((0,) + tuple(shape), dtype=base)
        empty.flags.writeable = False
        return empty
    raw: npt.NDArray[Any] = np.asarray(Pinned(world, start, count * dtype.itemsize))
    return raw.view(base).reshape((count,) + tuple(shape))
