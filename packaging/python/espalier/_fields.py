# SPDX-License-Identifier: MIT
"""Fields of numpy types, as the library has them of components."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np

from ._native import lib
from ._types import ENTITY


class Field(NamedTuple):
    """A field of a component: so many elements of a type, one behind the other."""

    name: str
    type: int
    offset: int
    elements: int

    @property
    def end(self) -> int:
        """Offset of the byte behind the last element."""
        return self.offset + self.elements * _SIZES[self.type]


_TYPES: dict[tuple[str, int], tuple[int, int]] = {
    # Kind and size in numpy: type of the library, and elements.
    ("b", 1): (lib.ESPL_FIELD_BOOL, 1),
    ("i", 1): (lib.ESPL_FIELD_I8, 1),
    ("u", 1): (lib.ESPL_FIELD_U8, 1),
    ("i", 2): (lib.ESPL_FIELD_I16, 1),
    ("u", 2): (lib.ESPL_FIELD_U16, 1),
    ("i", 4): (lib.ESPL_FIELD_I32, 1),
    ("u", 4): (lib.ESPL_FIELD_U32, 1),
    ("i", 8): (lib.ESPL_FIELD_I64, 1),
    ("u", 8): (lib.ESPL_FIELD_U64, 1),
    ("f", 2): (lib.ESPL_FIELD_U16, 1),
    ("f", 4): (lib.ESPL_FIELD_F32, 1),
    ("f", 8): (lib.ESPL_FIELD_F64, 1),
    ("c", 8): (lib.ESPL_FIELD_F32, 2),
    ("c", 16): (lib.ESPL_FIELD_F64, 2),
    ("M", 8): (lib.ESPL_FIELD_I64, 1),
    ("m", 8): (lib.ESPL_FIELD_I64, 1),
}
_SIZES = {
    lib.ESPL_FIELD_BYTES: 1,
    lib.ESPL_FIELD_BOOL: 1,
    lib.ESPL_FIELD_I8: 1,
    lib.ESPL_FIELD_U8: 1,
    lib.ESPL_FIELD_I16: 2,
    lib.ESPL_FIELD_U16: 2,
    lib.ESPL_FIELD_I32: 4,
    lib.ESPL_FIELD_U32: 4,
    lib.ESPL_FIELD_F32: 4,
    lib.ESPL_FIELD_I64: 8,
    lib.ESPL_FIELD_U64: 8,
    lib.ESPL_FIELD_F64: 8,
    lib.ESPL_FIELD_ENTITY: 8,
}
_NAME_LIMIT = 255


def _plain(name: str, dtype: np.dtype[Any], offset: int, count: int) -> Field:
    """Return the field of values that have no fields; those of the other order of bytes are bytes."""
    if dtype.kind == "U" and dtype.isnative:
        return Field(name, lib.ESPL_FIELD_U32, offset, count * dtype.itemsize // 4)
    kind, elements = _TYPES.get((dtype.kind, dtype.itemsize), (None, 0))
    if kind is None or not dtype.isnative:
        return Field(name, lib.ESPL_FIELD_BYTES, offset, count * dtype.itemsize)
    return Field(name, kind, offset, count * elements)


def _flat(dtype: np.dtype[Any]) -> list[Field]:
    """Return the fields of a type, inner ones as "outer.inner"; more than the limit are not all listed."""
    # What is still to be listed: its name, its type and its offset.
    rest = [("", dtype, 0)]
    found: list[Field] = []
    while rest and len(found) <= lib.ESPL_FIELD_LIMIT:
        name, kind, offset = rest.pop()
        base, count = kind.base, int(np.prod(kind.shape, dtype=np.int64))
        if base.names is None:
            if count * base.itemsize != 0:
                found.append(_plain(name or "value", base, offset, count))
            continue
        for i in range(min(count, lib.ESPL_FIELD_LIMIT + 1)):
            prefix = name if not kind.shape else f"{name or 'value'}[{i}]"
            for inner in base.names:
                inner_type, inner_offset = base.fields[inner][:2]  # type: ignore[index]
                at = offset + i * base.itemsize + inner_offset
                rest.append((f"{prefix}.{inner}" if prefix else inner, inner_type, at))
    return sorted(found, key=lambda field: field.offset)


def _is_name(name: str) -> bool:
    """Tell whether a component's field may have a name."""
    has_control = any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in name)
    return 0 < len(name.encode(errors="replace")) <= _NAME_LIMIT and not has_control and "/" not in name


def fields_of(dtype: np.dtype[Any], references: Sequence[int]) -> list[Field]:
    """Return the fields of a type, ascending, of which those at the offsets of references are entities.

    None where the library cannot have all of them: there are too many, two overlap or have one name, or a name
    is none.
    """
    fields = _flat(dtype)
    entities = set(references)
    names = {field.name for field in fields}
    ends = [0] + [field.end for field in fields]
    if (
        len(fields) > lib.ESPL_FIELD_LIMIT
        or len(names) != len(fields)
        or not all(map(_is_name, names))
        or any(field.offset < end for field, end in zip(fields, ends))
    ):
        return []
    return [
        field._replace(type=lib.ESPL_FIELD_ENTITY)
        if field.offset in entities and field.end - field.offset == field.elements * ENTITY.itemsize
        else field
        for field in fields
    ]
