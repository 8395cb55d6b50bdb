# SPDX-License-Identifier: MIT
"""The world as a value: images, and archives of hierarchies."""

from __future__ import annotations

import io
from typing import Any, Callable, Mapping, NamedTuple, NoReturn, Protocol, Union

import numpy as np
import numpy.typing as npt

from ._arrays import address, handles
from ._components import Component
from ._errors import Status, bytes_of, check, check_bytes, fill
from ._far import Places
from ._native import ffi, lib
from ._structure import bool_of
from ._types import NULL, EntitiesLike, EntityLike, Extent, Handles


class ArchiveInfo(NamedTuple):
    """What an archive says of itself."""

    #: Entities.
    nodes: int
    #: Of these: roots.
    tops: int
    #: Version of the format: major and minor.
    format: tuple[int, int]
    #: Version of the library that wrote it: major, minor and patch.
    writer: tuple[int, int, int]
    #: Bytes of the program.
    user: bytes


class Archive(bytes):
    """Hierarchies as bytes that any build of the library reads, on any machine: see World.write_archive().

    It is bytes: write it to a file, compare it, send it, or pickle it. Archive(data) makes one of other
    bytes, which are checked where they are used.
    """

    __slots__ = ()

    def inspect(self) -> ArchiveInfo:
        """Read what the archive says of itself. As inspect_archive()."""
        return inspect_archive(self)

    def __repr__(self) -> str:
        return f"<Archive of {len(self)} bytes>"

    __str__ = __repr__


class Migration(NamedTuple):
    """How values of a component of an archive become those of a component of a world.

    A component alone stands for a migration that copies bytes, and None for one that leaves values out.
    """

    #: The component of the world; None: values are left out.
    to: Component | None
    #: Makes the new value, anything that Component.pack() takes, of the old one. None: bytes are copied, and
    #: the sizes must be equal. References follow by themselves: they are 0 in the old value, and what the
    #: new one has there does not count. Where `to` is a tag it returns None. It must not use the world. What it
    #: raises is raised by the call.
    convert: Callable[[Any], Any] | None = None
    #: The numpy type of an old value, of which the function gets a scalar or an array; None: it gets bytes.
    dtype: npt.DTypeLike | None = None


class ReadArchive(NamedTuple):
    """What an archive was read into."""

    #: (n,) handles in the order of the archive: each root comes before what is below it, breadth-first.
    entities: Handles
    #: (n,) the roots of the archive.
    tops: Handles
    #: OK, or OVERFLOW: a world transform is not finite.
    status: Status


class Writable(Protocol):
    """A file, or anything else with such a method."""

    def write(self, data: bytes, /) -> int | None:
        """Take bytes; return how many were taken, or None for all."""


#: What is accepted for bytes: any object with a buffer that is contiguous.
Buffer = Union[bytes, bytearray, memoryview, "npt.NDArray[Any]"]
#: What is accepted for migrations, by the names of components in the archive.
MigrationsLike = Mapping[str, Union[Migration, Component, None]]


def image_layout() -> int:
    """Return a number for the layout of images: builds that have the same one read each other's images."""
    return int(lib.espl_image_layout())


def _bytes_at(data: Buffer) -> tuple[Any, int]:
    """Return the address of a buffer's bytes, and how many there are. The caller keeps the address."""
    pointer = ffi.from_buffer(data)
    size = len(pointer)
    return (pointer, size) if size != 0 else (ffi.from_buffer(b"\0"), 0)


def inspect_archive(data: Buffer) -> ArchiveInfo:
    """Read what an archive says of itself, and check its checksums. O(size).

    Raises FormatError (its `offset` and `sentence` say where and why), VersionError.
    """
    out, fault = ffi.new("espl_archive_info *"), ffi.new("espl_format_fault *")
    pointer, size = _bytes_at(data)
    check_bytes(lib.espl_archive_inspect(pointer, size, out, fault), fault)
    user = b"" if out.user == ffi.NULL else bytes(ffi.buffer(out.user, out.user_size))
    writer = int(out.writer)
    return ArchiveInfo(
        int(out.nodes),
        int(out.tops),
        (int(out.major), int(out.minor)),
        (writer // 1000000, writer // 1000 % 1000, writer % 1000),
        user,
    )


class _Caught:
    """Functions of Python that the library calls, and the exception that one of them has raised."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def guard(self, function: Callable[..., None], *arguments: Any) -> bool:
        """Call a function; False where it raises, which ends the call of the library."""
        try:
            function(*arguments)
        except BaseException as error:  # also KeyboardInterrupt, which must not be lost
            self.error = error
            return False
        return True

    def raise_again(self) -> None:
        """Raise what a function has raised."""
        if self.error is not None:
            try:
                raise self.error
            finally:
                self.error = None  # it refers to this frame


class _Sink(_Caught):
    """A file that an archive is written to."""

    def __init__(self, file: Writable) -> None:
        super().__init__()
        self.file = file
        self._handle = ffi.new_handle(self)
        #: What the library takes.
        self.sink = ffi.new("espl_sink *", (self._handle, lib.native_take_bytes))

    def take(self, data: Any, size: int) -> None:
        """Write bytes; a raw file may take some of them at a time."""
        rest = bytes(ffi.buffer(data, size))
        while rest:
            taken = self.file.write(rest)
            if taken == 0 or (taken is None and isinstance(self.file, io.RawIOBase)):
                raise BlockingIOError("the file takes no more bytes now")
            rest = b"" if taken is None else rest[taken:]


class _List:
    """A file that keeps what is written."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self._pieces.append(data)

    def all(self) -> bytes:
        """Return what was written."""
        return b"".join(self._pieces)


def _combine(function: Any, first: Buffer, second: Buffer) -> bytes:
    """Return what a function of the library makes of two lists of bytes."""
    written, fault = _List(), ffi.new("espl_format_fault *")
    sink = _Sink(written)
    first_at, first_size = _bytes_at(first)
    second_at, second_size = _bytes_at(second)
    status = function(first_at, first_size, second_at, second_size, sink.sink, fault)
    sink.raise_again()  # MemoryError
    check_bytes(status, fault)
    return written.all()


def diff_archives(before: Buffer, after: Buffer) -> bytes:
    """Return a delta: bytes by which one archive becomes another one. O(size).

    Handles in both archives (World.write_archive(handles=True)) make it small where entities came, went or
    moved. Raises FormatError, VersionError.
    """
    return _combine(lib.espl_archive_delta, before, after)


def patch_archive(before: Buffer, delta: Buffer) -> Archive:
    """Return, byte for byte, the archive that another one becomes by a delta. O(size).

    Raises GapError (the delta is for another archive), FormatError, VersionError.
    """
    return Archive(_combine(lib.espl_archive_patch, before, delta))


class _Migrations:
    """Migrations as the library takes them, and what they point to."""

    def __init__(self, world: Archives, migrations: MigrationsLike) -> None:
        self.count = len(migrations)
        self.calls: list[_Conversion] = []
        self.listed = ffi.new("espl_archive_migration[]", max(1, self.count))
        self._keep: list[Any] = []
        for entry, (name, given) in zip(self.listed, migrations.items()):
            migration = given if isinstance(given, Migration) else Migration(given)
            text = ffi.new("char[]", bytes_of(name, "a name of a migration"))
            entry.name = text
            entry.to = 0 if migration.to is None else world._number(migration.to)
            self._keep.append(text)
            if migration.to is not None and migration.convert is not None:
                call = _Conversion(migration.to, migration.convert, migration.dtype)
                handle = ffi.new_handle(call)
                entry.convert, entry.user = lib.native_migrate, handle
                self._keep.append(handle)
                self.calls.append(call)


class _Conversion(_Caught):
    """A function that makes a value of an old one."""

    def __init__(
        self, to: Component, function: Callable[[Any], Any], dtype: npt.DTypeLike | None
    ) -> None:
        super().__init__()
        self.to = to
        self.function = function
        self.dtype = None if dtype is None else np.dtype(dtype)

    def make(self, value: Any, to: Any) -> None:
        """Make the value at an address."""
        old: Any = b"" if value.size == 0 else bytes(ffi.buffer(value.data, value.size))
        if self.dtype is not None:
            if self.dtype.itemsize != len(old):
                raise ValueError(
                    f"an old value of {self.to.name!r} has {len(old)} bytes, not {self.dtype.itemsize}"
                )
            old = np.frombuffer(old, dtype=self.dtype)[0]
        made = self.to.pack(self.function(old))
        if made is not None:
            ffi.memmove(to, address(made), self.to.size)


@ffi.def_extern()  # type: ignore
def native_take_bytes(user: Any, data: Any, size: int) -> bool:
    sink = ffi.from_handle(user)
    return bool(sink.guard(sink.take, data, size))


@ffi.def_extern()  # type: ignore
def native_migrate(user: Any, value: Any, to: Any) -> bool:
    conversion = ffi.from_handle(user)
    return bool(conversion.guard(conversion.make, value, to))


class Archives(Places):
    """Images and archives of a world.

        saved = world.save_image()           # the world exactly: same handles, for this build
        world.load_image(saved)

        archive = world.write_archive(ship)  # hierarchies for a file: new handles, for any build
        path.write_bytes(archive)
        ships = other.read_archive(path.read_bytes(), parent=harbour).tops

    A World cannot be pickled or copied, because either way handles that a program keeps beside it would lose
    their meaning without a word. Pickle what fits: an Archive, or the bytes of an image.
    """

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a World is not pickled or copied: pickle its write_archive(), which has no handles, or its "
            "save_image(), which only the same build of the library loads"
        )

    # --- Images ---

    def image_size(self) -> int:
        """Return the bytes of an image of the world. O(hierarchies + chunks + names)."""
        return int(self._call(lib.native_image_size))

    def save_image(self) -> bytes:
        """Return the whole world as bytes, which load_image() makes the same world of. O(size).

        Worlds on which the same calls were made have the same bytes. A load gives the entities the handles
        that they had, and the same calls on both worlds give the same bits and handles from then on.
        Not in it: the values of transient components, command buffers, watches, histories and queries. The
        definitions of components are in it to be compared.
        """
        with self._lock:
            out = np.empty(self.image_size(), dtype=np.uint8)
            self.save_image_into(out)
        return out.tobytes()

    def save_image_into(self, out: Buffer) -> int:
        """Save the world into a buffer that may be written, and return how many bytes it took.

        out: a buffer of image_size() bytes or more. So a save takes no memory. Raises ValueError (out has
        less than image_size() bytes).
        """
        with self._lock:
            size = self.image_size()
            pointer = ffi.from_buffer("unsigned char[]", out, require_writable=True)
            if len(pointer) < size:
                raise ValueError(f"out has {len(pointer)} bytes, and the image {size}")
            self._checked(lib.native_image_save, pointer, size)
        return size

    def load_image(self, data: Buffer, *, trusted: bool = False, retag: bool = False) -> None:
        """Become the world that was saved. All or nothing. Structural. O(size).

        data: bytes, or any object with a buffer, which must not be written meanwhile. The world has registered
        the same components before, in the same order; it may have more.
        trusted: the bytes are those of save_image(), and are not checked. With others the process may crash.
        retag: take an image of a world with another tag; handles in it get the tag of this world.

        Handles of entities that were made after the save name none, or other entities: see `timeline`.
        Command buffers and watches stay; a watch finds the difference, and a history has no frame. Raises
        FormatError (the bytes are no image, or damaged), VersionError (another build, or other components),
        EntityError (another tag), LimitError, OutOfMemoryError, BusyError.
        """
        flags = int(lib.ESPL_IMAGE_TRUSTED) if bool_of(trusted, "trusted") else 0
        flags |= int(lib.ESPL_IMAGE_RETAG) if bool_of(retag, "retag") else 0
        fault = ffi.new("espl_format_fault *")
        pointer, size = _bytes_at(data)
        check_bytes(self._call(lib.native_image_load, pointer, size, flags, fault), fault)

    @property
    def timeline(self) -> int:
        """How many loads and rewinds there were: a handle from before the last may name another entity."""
        return int(self._call(lib.native_timeline))

    # --- Archives ---

    def write_archive(
        self,
        tops: EntitiesLike | EntityLike | None = None,
        *,
        extent: Extent = Extent.OWNED,
        handles: bool = False,
        user: Buffer = b"",
        position_step: float = 0,
        rotation_bits: int = 0,
    ) -> Archive:
        """Return hierarchies as bytes that any build reads.

        tops: one entity or many, (n,), that become roots of the archive, with what the extent says below
        each; None: the whole world. A member becomes a root at its world transform. handles: have the
        handle of each entity in it too. user: bytes of your own, which inspect_archive() returns.
        position_step, rotation_bits: round positions relative to the parent to multiples of this length, and
        rotations to 2 to 24 bits, so that deltas are small; 0: do not round.

        The same hierarchies give the same bytes. A reference in a component to an entity that is not
        in the archive becomes 0. Raises EntityError, ArgumentError (an entity comes twice), NumberError (the
        world transform that a member gets is not finite), LimitError, OutOfMemoryError.
        """
        written = _List()
        self._write_archive(written, tops, extent, handles, user, position_step, rotation_bits)
        return Archive(written.all())

    def write_archive_to(
        self,
        file: Writable,
        tops: EntitiesLike | EntityLike | None = None,
        *,
        extent: Extent = Extent.OWNED,
        handles: bool = False,
        user: Buffer = b"",
        position_step: float = 0,
        rotation_bits: int = 0,
    ) -> None:
        """Write an archive to a file that takes bytes, piece by piece. As write_archive().

        The file's write() must not use this world. What it raises is raised by this call; the file has a part
        of the archive then, of no use.
        """
        self._write_archive(file, tops, extent, handles, user, position_step, rotation_bits)

    def _write_archive(
        self,
        file: Writable,
        tops: EntitiesLike | EntityLike | None,
        extent: Extent,
        has_handles: bool,
        user: Buffer,
        position_step: float,
        rotation_bits: int,
    ) -> None:
        definition, sink = ffi.new("native_archive *"), _Sink(file)
        pointer, size = _bytes_at(user)
        flags = int(lib.ESPL_ARCHIVE_HANDLES) if bool_of(has_handles, "handles") else 0
        fill(definition, extent=extent, flags=flags, rotation_bits=rotation_bits)
        definition.position_step = position_step
        definition.user, definition.user_size = pointer, size
        array = None if tops is None else handles(np.atleast_1d(np.asarray(tops)))
        # Not NULL where there are none, because that stands for all.
        held = np.zeros(1, dtype=np.int64) if array is None or len(array) == 0 else array
        if array is not None:
            definition.tops, definition.top_count = address(held), len(array)
        with self._calling() as world:
            status = lib.native_archive_write(world, definition, sink.sink)
        sink.raise_again()
        check(status)

    def read_archive(
        self,
        data: Buffer,
        *,
        parent: EntityLike = NULL,
        migrations: MigrationsLike | None = None,
        skip_unknown: bool = False,
        node_limit: int = 0,
    ) -> ReadArchive:
        """Create what an archive has, and return the entities. All or nothing. Structural. O(size).

        data: an Archive, or any object with a buffer, which must not be written meanwhile. It may come from
        anywhere: one that is damaged is refused. parent: of the roots, which keep their locals.
        migrations: for components that changed, by their names in the archive: a Migration; a component,
        which takes the bytes; or None, which leaves it out. skip_unknown: leave out components that are not
        registered, instead of refusing the archive. node_limit: refuse an archive of more entities; 0: no
        limit.

        Raises FormatError, VersionError (a component is unknown, or was registered otherwise or with another
        version, and has no migration), LimitError, OutOfMemoryError, BusyError, ArgumentError, EntityError (the
        parent), and what a migration raises.
        """
        return self._read_archive(data, parent, migrations, skip_unknown, node_limit)

    def apply_archive(
        self,
        data: Buffer,
        *,
        known: tuple[Buffer, EntitiesLike] | None = None,
        parent: EntityLike = NULL,
        migrations: MigrationsLike | None = None,
        skip_unknown: bool = False,
        node_limit: int = 0,
    ) -> ReadArchive:
        """Make entities that live what an archive with handles says, and create the others.

        All or nothing. Structural. The archive was written with handles=True. A node of it is the living entity
        that its handle names. That entity survives with its handle, and is what the archive says afterwards,
        wherever it was. Every other entity below a survivor is destroyed.

        known: None: the handles are those of this world, for an editor that goes back to what it saved. A
        world that follows another one gives the archive that it read or applied last, with handles too, and the
        `entities` of that: a node is found by its handle there, and an entity that the new archive lacks is
        destroyed. The others: as read_archive(). Raises as read_archive(), and StructureError (the parent would
        be destroyed or survive), ArgumentError (another number of known entities).
        """
        last = ffi.new("native_known *")
        keep: Any = None
        if known is not None:
            bytes_at, size = _bytes_at(known[0])
            entities = handles(known[1])
            last.bytes, last.size = bytes_at, size
            last.entities, last.count = address(entities), len(entities)
            keep = bytes_at, entities
        try:
            return self._read_archive(data, parent, migrations, skip_unknown, node_limit, last)
        finally:
            del keep  # what `last` points to

    def _read_archive(
        self,
        data: Buffer,
        parent: EntityLike,
        migrations: MigrationsLike | None,
        skip_unknown: bool,
        node_limit: int,
        known: Any = None,
    ) -> ReadArchive:
        """Read an archive, or apply it where `known` is a native_known."""
        info = inspect_archive(data)
        listed = _Migrations(self, migrations or {})
        entities, tops = np.empty(info.nodes, dtype=np.int64), np.empty(info.tops, dtype=np.int64)
        definition, fault = ffi.new("native_reading *"), ffi.new("espl_format_fault *")
        flags = int(lib.ESPL_ARCHIVE_SKIP_UNKNOWN) if bool_of(skip_unknown, "skip_unknown") else 0
        fill(definition, parent=parent, flags=flags, node_limit=node_limit)
        definition.migrations, definition.migration_count = listed.listed, listed.count
        definition.entities, definition.capacity = address(entities), len(entities)
        definition.tops, definition.top_capacity = address(tops), len(tops)
        pointer, size = _bytes_at(data)
        with self._calling() as world:
            if known is None:
                number = lib.native_archive_read(world, pointer, size, definition, fault)
            else:
                number = lib.native_archive_apply(world, pointer, size, definition, known, fault)
        for call in listed.calls:
            call.raise_again()
        return ReadArchive(entities, tops, check_bytes(number, fault))
