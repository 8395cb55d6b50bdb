# SPDX-License-Identifier: MIT
"""Components of a world as numpy types."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._arrays import address, handles, numbers, one, rows
from ._errors import ArgumentError, Status, bytes_of, check_many, fill
from ._fields import fields_of
from ._native import ffi, lib
from ._transform import Transform, identity
from ._structure import bool_of
from ._transforms import Transforms
from ._types import ENTITY, TRANSFORM, EntitiesLike, EntityLike, Handles


class Component:
    """A component that World.register() has returned, or one that every world has. Any thread.

    Two components are equal if they are the same component of the same world.
    """

    __slots__ = ("number", "name", "dtype", "version", "transient", "unique", "_owner")

    #: Its number in the world, from 1.
    number: int
    #: Its name, unique in the world.
    name: str
    #: The numpy type of a value; None for a tag, which has none.
    dtype: np.dtype[Any] | None
    #: The number that the program gave to this layout of it.
    version: int
    #: Images and archives have no values of it.
    transient: bool
    #: Clones get zeros.
    unique: bool

    def __init__(
        self,
        number: int,
        name: str,
        dtype: np.dtype[Any] | None,
        owner: object,
        version: int = 0,
        transient: bool = False,
        unique: bool = False,
    ) -> None:
        self.number = number
        self.name = name
        self.dtype = dtype
        self.version = version
        self.transient = transient
        self.unique = unique
        self._owner = owner

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Component):
            return NotImplemented
        return self.number == other.number and self._owner is other._owner

    def __hash__(self) -> int:
        return hash(self.number)

    def __repr__(self) -> str:
        return f"Component({self.number}, {self.name!r}, {self.dtype})"

    @property
    def size(self) -> int:
        """Bytes of a value, 0 for a tag."""
        return 0 if self.dtype is None else self.dtype.itemsize

    def pack(self, value: Any) -> npt.NDArray[Any] | None:
        """Return a value as an array of the type: of a tuple, a dict of fields, a number, an array.

        None stands for zeros, of a transform for the identity, and gives None. Raises ArgumentError (a
        tag has no value), ValueError and TypeError (numpy cannot make the type of it), KeyError (no such
        field).
        """
        if value is None:
            return None
        if self.dtype is None:
            raise ArgumentError(Status.ERR_ARGUMENT, f"component {self.name} is a tag: no value")
        if isinstance(value, Mapping):
            made = self._default()
            for field, part in value.items():
                if field not in (self.dtype.names or ()):
                    raise KeyError(f"component {self.name} has no field {field!r}")
                where = f"field {field!r} of {self.name!r}"
                made[field] = numbers(part, self.dtype[field].base, where)
            return made
        return one(value, self.dtype, f"a value of {self.name!r}")

    def _default(self) -> npt.NDArray[Any]:
        """Return the value that None stands for."""
        return identity() if self is HAS_TRANSFORM else np.zeros((), dtype=self.dtype)

    def pack_or_default(self, value: Any) -> npt.NDArray[Any]:
        """Return a value as pack() does, and the value that None stands for as an array too."""
        packed = self.pack(value)
        return self._default() if packed is None else packed


_BUILT_IN = object()
#: Components that every world has. SOLO, ROOT and MEMBER are for queries: they follow from the structure,
#: so they cannot be added or removed. The others can.
#: HAS_TRANSFORM has the local transform for its value, of the type TRANSFORM; None stands for the identity. It
#: is no column of a query: see Query.transforms().
HAS_TRANSFORM = Component(1, "transform", TRANSFORM, _BUILT_IN)
SOLO = Component(2, "solo", None, _BUILT_IN)
ROOT = Component(3, "root", None, _BUILT_IN)
MEMBER = Component(4, "member", None, _BUILT_IN)
#: A template for instantiate(): queries skip it, and clones lack it.
PREFAB = Component(5, "prefab", None, _BUILT_IN)
#: Queries skip it.
DISABLED = Component(6, "disabled", None, _BUILT_IN)

#: Components with their values, or without values: those are zeros.
Values = Union[Mapping[Component, Any], Iterable[Component]]


class Packed:
    """Values of components as the library takes them, and the memory that they are in."""

    def __init__(self, pairs: Sequence[tuple[int, npt.NDArray[Any] | None, int]]) -> None:
        self._keep = [array for _, array, _ in pairs]
        self.count = len(pairs)
        self.values = ffi.new("espl_component_value[]", max(1, self.count))
        for value, (number, array, size) in zip(self.values, pairs):
            value.component = number
            value.size = size
            value.data = ffi.NULL if array is None else address(array)


class Components(Transforms):
    """Components of entities.

    A component belongs to the world that registered it; another world raises ArgumentError.
    """

    def register(
        self,
        name: str,
        dtype: npt.DTypeLike | None = None,
        *,
        references: Sequence[str] = (),
        version: int = 0,
        transient: bool = False,
        unique: bool = False,
    ) -> Component:
        """Register a component, once for the life of the world. Structural.

        dtype: the numpy type of a value, at most 4096 bytes, without Python objects; None: a tag. Its
        fields are those of the component, by which a machine with the other order of bytes reads an archive;
        one of more than 64 fields, or of fields that overlap, has none.
        references: names of fields of the type ENTITY. In a clone such a handle that names an entity of
        the source's hierarchy names the clone of that entity instead.
        version: a number of your own for this layout; an archive of another one needs a migration.
        transient: images and archives have no values, and they are zeros after a load or a read. unique:
        clones get zeros.

        Raises ArgumentError (the name is taken or not 1 to 255 bytes; the type; a field), LimitError,
        BusyError, OutOfMemoryError.
        """
        kind = None if dtype is None else np.dtype(dtype)
        flags = int(lib.ESPL_COMPONENT_TRANSIENT) if bool_of(transient, "transient") else 0
        flags |= int(lib.ESPL_COMPONENT_UNIQUE) if bool_of(unique, "unique") else 0
        offsets = _offsets(kind, references)
        fields = [] if kind is None else fields_of(kind, offsets)
        array = ffi.new("uint32_t[]", offsets or [0])
        texts = [ffi.new("char[]", field.name.encode()) for field in fields]
        entries = [(text, *field[1:]) for text, field in zip(texts, fields)]
        listed = ffi.new("espl_component_field[]", entries or 1)
        size = 0 if kind is None else kind.itemsize
        text = ffi.new("char[]", bytes_of(name))
        definition = ffi.new("espl_component_def *")
        fill(definition, name=text, size=size, version=version, flags=flags, references=array)
        definition.alignment = 1 if kind is None or size % kind.alignment else kind.alignment
        definition.reference_count = len(offsets)
        definition.fields = listed
        definition.field_count = len(fields)
        out = ffi.new("uint32_t *")
        with self._lock:
            self._checked(lib.native_register, definition, out)
            made = Component(int(out[0]), name, kind, self, int(version), transient, unique)
            self._registered[name] = made
        return made

    def component(self, name: str) -> Component:
        """Return a component that this World object registered, by its name. Raises KeyError."""
        with self._lock:
            self._world()
            return self._registered[name]

    def _number(self, component: Component) -> int:
        if not isinstance(component, Component):
            raise TypeError(f"component must be a Component, not {type(component).__name__}")
        if component._owner is not self and component._owner is not _BUILT_IN:
            raise ArgumentError(
                Status.ERR_ARGUMENT, f"component {component.name} is of another world"
            )
        return component.number

    def _column(self, component: Component) -> tuple[int, np.dtype[Any]]:
        """Return the number and the type of a component that chunks have a column of."""
        if component is HAS_TRANSFORM:
            raise ArgumentError(
                Status.ERR_ARGUMENT, "transforms are no column: use transforms() and World.write()"
            )
        return self._typed(component)

    def _typed(self, component: Component) -> tuple[int, np.dtype[Any]]:
        """Return the number and the type of a component that has values."""
        number = self._number(component)
        if component.dtype is None:
            raise ArgumentError(
                Status.ERR_ARGUMENT, f"component {component.name} is a tag: no value"
            )
        return number, component.dtype

    def _numbers(self, components: Iterable[Component]) -> tuple[Any, int]:
        numbers = [self._number(component) for component in components]
        return ffi.new("espl_component[]", numbers or [0]), len(numbers)

    def _pack(self, components: Values) -> Packed:
        pairs: Iterable[tuple[Component, Any]]
        if isinstance(components, Mapping):
            pairs = components.items()
        else:
            pairs = [(component, None) for component in components]
        return Packed([(self._number(c), c.pack(value), c.size) for c, value in pairs])

    def change_components(
        self,
        entities: EntitiesLike | EntityLike,
        add: Values = (),
        remove: Iterable[Component] = (),
    ) -> None:
        """Add components with their values to one entity or many, (n,), and take others away.

        Structural. All or nothing. A component that an entity has already gets the value. One that it
        lacks is no error to remove. Raises EntityError with the index, ArgumentError, LimitError,
        BusyError, OutOfMemoryError.
        """
        array = handles(np.atleast_1d(np.asarray(entities)))
        packed = self._pack(add)
        numbers, count = self._numbers(remove)
        add_all, remove_all = (packed.values, packed.count), (numbers, count)
        check_many(
            self._call, lib.native_change, address(array), len(array), *add_all, *remove_all
        )

    def add_component(
        self, entities: EntitiesLike | EntityLike, component: Component, value: Any = None
    ) -> None:
        """Add a component to one entity or many, (n,), with one value; None: zeros.

        As change_components().
        """
        self.change_components(entities, {component: value})

    def remove_component(
        self, entities: EntitiesLike | EntityLike, component: Component
    ) -> None:
        """Take a component from one entity or many, (n,). As change_components()."""
        self.change_components(entities, (), (component,))

    def has_component(self, entity: EntityLike, component: Component) -> bool:
        """Tell whether a living entity has a component; False for any other handle."""
        number = self._number(component)
        return bool(self._call(lib.native_has_component, entity, number))

    def get_component(self, entity: EntityLike, component: Component) -> Any:
        """Return a copy of a component's value: a numpy scalar, or an array where the type has a shape.

        Of HAS_TRANSFORM it is the local Transform. Raises EntityError, ComponentError (the entity lacks
        it), ArgumentError (a tag).
        """
        value = self.get_components([entity], component)[0]
        return Transform.from_array(value) if component is HAS_TRANSFORM else value

    def set_component(self, entity: EntityLike, component: Component, value: Any) -> Status:
        """Set the value of a component that an entity has. Not structural. Raises as get_component().

        Of HAS_TRANSFORM this is set_local() of the whole transform: returns and raises as that.
        """
        dtype = self._typed(component)[1]
        made = component.pack_or_default(value)
        return self._set_components(handles([entity]), component, made.reshape((1,) + dtype.shape))

    def get_components(self, entities: EntitiesLike, component: Component) -> npt.NDArray[Any]:
        """Return copies of a component's values of many entities, (n,): (n, ...) of its type.

        Raises as get_component(), with the index of the first entity that is refused.
        """
        array = handles(entities)
        number, dtype = self._typed(component)
        out = np.empty(len(array), dtype=dtype)
        values = address(out), dtype.itemsize
        check_many(
            self._call, lib.native_get_components, number, address(array), len(array), *values
        )
        return out

    def set_components(
        self, entities: EntitiesLike, component: Component, value: npt.ArrayLike
    ) -> None:
        """Set a component of many entities, (n,), that have it. All or nothing. Not structural.

        value: (n, ...) of its type, or one for all. Raises as get_components(); ValueError (the shape);
        ArgumentError (HAS_TRANSFORM: write() takes many transforms, and refuses them one by one).
        """
        array = handles(entities)
        source = rows(value, len(array), self._column(component)[1])
        self._set_components(array, component, source)

    def _set_components(
        self, array: Handles, component: Component, source: npt.NDArray[Any]
    ) -> Status:
        number, size = self._number(component), component.size
        values = address(source), size
        return check_many(
            self._call, lib.native_set_components, number, address(array), len(array), *values
        )

    @property
    def version(self) -> int:
        """Version of all columns: each write of a component increases it. See query(changed=...)."""
        return int(self._call(lib.native_version))

    def reserve(
        self,
        entities: int = 0,
        *,
        components: Iterable[Component] = (),
        rows: int = 0,
        writes: int = 0,
        side_of: EntityLike = 0,
        watch_entities: int = 0,
    ) -> None:
        """Take memory now, so that later calls take none: see espl_reserve(3).

        This covers creations without a parent, with the identity transform or none, and without values.
        Other creations are played as commands and take memory for those.

        entities: how many more. rows: how many more with exactly these components. writes: how many
        writes a batch may have. side_of: the hierarchy of this entity may get stretches, user data and inherit
        flags. watch_entities: how many entities a collect of each watch may have that there is now. Raises
        OutOfMemoryError, BusyError, ArgumentError, EntityError, LimitError.
        """
        numbers, count = self._numbers(components)
        self._checked(
            lib.native_reserve, entities, numbers, count, rows, writes, side_of, watch_entities
        )


def _offsets(dtype: np.dtype[Any] | None, references: Sequence[str]) -> list[int]:
    if dtype is None and not references:
        return []
    fields: Any = {} if dtype is None else dtype.fields or {}
    if dtype is not None and (dtype.hasobject or dtype.itemsize == 0):
        raise ArgumentError(Status.ERR_ARGUMENT, f"{dtype} has no bytes of its own")
    offsets: list[int] = []
    for name in references:
        if name not in fields:
            raise ArgumentError(Status.ERR_ARGUMENT, f"there is no field {name!r} in {dtype}")
        kind, first = fields[name][:2]
        if kind.base not in (np.int64, np.uint64):
            raise ArgumentError(Status.ERR_ARGUMENT, f"field {name!r} is not of the type ENTITY")
        offsets += range(first, first + kind.itemsize, ENTITY.itemsize)
    return sorted(offsets)
