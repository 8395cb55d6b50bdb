# SPDX-License-Identifier: MIT
"""Statuses of the library, and the exceptions that stand for refusals."""

from __future__ import annotations

import enum
from typing import Any

from ._native import ffi, lib


def text_of(pointer: Any) -> str:
    """Return the UTF-8 string that a pointer of the library points to."""
    return str(ffi.string(pointer).decode(errors="replace"))


def bytes_of(text: str, what: str = "name") -> bytes:
    """Return a string as UTF-8 for the library, which reads up to a zero byte; ArgumentError for one."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    encoded = text.encode()
    if b"\0" in encoded:
        raise ArgumentError(Status.ERR_ARGUMENT, f"{text!r} has a zero byte")
    return encoded


def _refusal(value: Any, ctype: Any, error: Exception, what: str) -> Exception:
    """Return the TypeError or ValueError of a value that cffi does not make a number of a type."""
    if isinstance(error, OverflowError):
        return ValueError(f"{what} is {value!r}, which {ctype.cname} does not have")
    return TypeError(f"{what} must be a whole number, not {type(value).__name__}")


def call(function: Any, *arguments: Any) -> Any:
    """Call a native function. A number that its type does not have is a ValueError, not OverflowError.

    The message names the value, because cffi does not know the names of parameters.
    """
    try:
        return function(*arguments)
    except (TypeError, OverflowError) as error:
        for value, ctype in zip(arguments, ffi.typeof(function).args):
            if ctype.kind != "primitive":
                continue
            try:
                ffi.new(f"{ctype.cname}[]", [value])
            except (TypeError, OverflowError) as reason:
                raise _refusal(value, ctype, reason, "an argument") from None
        raise error


def fill(struct: Any, **fields: Any) -> None:
    """Set fields of a native struct. As call(); the message names the field."""
    types = dict(ffi.typeof(struct).item.fields)
    for name, value in fields.items():
        try:
            setattr(struct, name, value)
        except (TypeError, OverflowError) as error:
            raise _refusal(value, types[name].type, error, name) from None


class Status(enum.IntEnum):
    """Outcome of a call. Zero: done. Positive: done, with a remark. Negative: refused.

    Calls that change a world return ``OK``, which is false, or a remark, which is true: see
    ``if world.attach(a, b): ...``. A refusal is raised as an :class:`EspalierError` and has changed
    nothing.
    """

    OK = 0
    LOSSY = 1
    PARTLY = 2
    OVERFLOW = 3
    ERR_NO_MEMORY = -1
    ERR_ARGUMENT = -2
    ERR_NULL_ENTITY = -3
    ERR_DEAD = -4
    ERR_FOREIGN = -5
    ERR_CYCLE = -6
    ERR_NOT_FINITE = -7
    ERR_RANGE = -8
    ERR_LIMIT = -9
    ERR_BUSY = -10
    ERR_NO_TRANSFORM = -11
    ERR_NO_COMPONENT = -12
    ERR_EXISTS = -13
    ERR_PLAYED = -14
    ERR_EXECUTOR = -15
    ERR_NOT_CHILD = -16
    ERR_COPIES_PARENT = -17
    ERR_SHEAR = -18
    ERR_NOT_OWNER = -19
    ERR_PENDING = -20
    ERR_UNSUPPORTED = -21
    ERR_ARITHMETIC = -22
    ERR_FORMAT = -23
    ERR_VERSION = -24
    ERR_TOO_OLD = -25
    ERR_SINK = -26
    ERR_GAP = -27

    @property
    def sentence(self) -> str:
        """One sentence that says when the status happens and what to do."""
        return text_of(lib.espl_status_text(int(self)))


class EspalierError(Exception):
    """A call that the library refused. Unless a subclass says otherwise, it has changed nothing.

    The text is the library's message where there is one: the name of the C function, the status, the
    entities as index.generation with their names, and what to do. Otherwise it is the sentence of the
    status.
    """

    #: The status that the call answered.
    status: Status
    #: The index in the arguments of the entity that was refused; None where there is no array.
    index: int | None

    def __init__(self, status: Status, message: str = "", index: int | None = None) -> None:
        self.status = status
        self.index = index
        text = message or f"ESPL_{status.name}: {status.sentence}"
        super().__init__(text if index is None else f"entity at index {index}: {text}")

    def __reduce__(self) -> tuple[object, ...]:
        return _remake, (type(self), self.args, self.__dict__)


def _remake(
    kind: type[EspalierError], args: tuple[object, ...], fields: dict[str, object]
) -> EspalierError:
    made = kind.__new__(kind, *args)
    made.__dict__.update(fields)
    return made


class OutOfMemoryError(EspalierError, MemoryError):
    """ERR_NO_MEMORY: there was no memory, and the world is as it was before the call."""


class ArgumentError(EspalierError, ValueError):
    """ERR_ARGUMENT, ERR_EXISTS: an argument is outside its range, or what is made exists."""


class ClosedError(ArgumentError):
    """The world, command buffer or query was closed before the call. The status is ERR_ARGUMENT."""


class NumberError(EspalierError, ValueError):
    """ERR_NOT_FINITE, ERR_RANGE, ERR_SHEAR: a number is NaN or infinite, or no transform has it."""


class EntityError(EspalierError, LookupError):
    """ERR_NULL_ENTITY, ERR_DEAD, ERR_FOREIGN, ERR_PENDING: the handle names no living entity here."""


class ComponentError(EspalierError, LookupError):
    """ERR_NO_COMPONENT, ERR_NO_TRANSFORM: the entity lacks what the call needs."""


class StructureError(EspalierError, ValueError):
    """ERR_CYCLE, ERR_NOT_CHILD, ERR_COPIES_PARENT: the hierarchy does not allow it."""


class LimitError(EspalierError, OverflowError):
    """ERR_LIMIT: a count or a size is past a limit of the library."""


class BusyError(EspalierError, RuntimeError):
    """ERR_BUSY: a query or a view is open; end its block first, or record a command."""


class PlayedError(EspalierError, RuntimeError):
    """ERR_PLAYED: the command buffer was played; reset it to record anew."""


class UnsupportedError(EspalierError, NotImplementedError):
    """ERR_UNSUPPORTED: this machine or this build lacks what was asked for, or the world has no motion."""


class FloatError(EspalierError, ArithmeticError):
    """ERR_ARITHMETIC: a mode of the thread or a flag of the build changes the arithmetic of floats."""


class FormatError(EspalierError, ValueError):
    """ERR_FORMAT: bytes are no image or archive, or are damaged. Nothing was changed.

    ``sentence`` says what is wrong with them, and ``offset`` from which byte on they are not understood.
    """

    #: The byte from which on they are not understood.
    offset: int = 0
    #: What is wrong; "" where nothing more is known than the status.
    sentence: str = ""


class VersionError(FormatError):
    """ERR_VERSION: the bytes are of another layout or version, or their components are registered otherwise."""


class GapError(EspalierError, ValueError):
    """ERR_GAP: the delta is for another archive than the given one. Nothing was made."""


class TooOldError(EspalierError, LookupError):
    """ERR_TOO_OLD: the frame was never marked, was dropped, or was removed by a rewind."""


class PartlyError(EspalierError):
    """PARTLY: some entries of a batch of writes were refused. ALL OTHERS ARE DONE.

    ``report`` has the counts; ``index`` is the first refused entry, and ``cause`` why.
    """

    #: The counts of the batch, a WriteReport.
    report: object
    #: Why the first entry was refused.
    cause: Status


_KINDS: dict[int, type[EspalierError]] = {
    Status.ERR_NO_MEMORY: OutOfMemoryError,
    Status.ERR_ARGUMENT: ArgumentError,
    Status.ERR_EXISTS: ArgumentError,
    Status.ERR_NULL_ENTITY: EntityError,
    Status.ERR_DEAD: EntityError,
    Status.ERR_FOREIGN: EntityError,
    Status.ERR_PENDING: EntityError,
    Status.ERR_CYCLE: StructureError,
    Status.ERR_NOT_CHILD: StructureError,
    Status.ERR_COPIES_PARENT: StructureError,
    Status.ERR_NOT_FINITE: NumberError,
    Status.ERR_RANGE: NumberError,
    Status.ERR_SHEAR: NumberError,
    Status.ERR_LIMIT: LimitError,
    Status.ERR_BUSY: BusyError,
    Status.ERR_NO_TRANSFORM: ComponentError,
    Status.ERR_NO_COMPONENT: ComponentError,
    Status.ERR_PLAYED: PlayedError,
    Status.ERR_UNSUPPORTED: UnsupportedError,
    Status.ERR_ARITHMETIC: FloatError,
    Status.ERR_FORMAT: FormatError,
    Status.ERR_VERSION: VersionError,
    Status.ERR_GAP: GapError,
    Status.ERR_TOO_OLD: TooOldError,
}

_REMARKS = (Status.OK, Status.LOSSY, Status.PARTLY, Status.OVERFLOW)


def message_of(status: Status) -> str:
    """Take the library's last message of this thread, if it is about a status; else ""."""
    text = text_of(lib.native_take_message())
    # The message of a trap may begin with a place in the source and name no status.
    return text if f": ESPL_{status.name}" in text or ".c:" in text.split(" ", 1)[0] else ""


def error_of(number: int, index: int | None = None) -> EspalierError:
    """Return the exception for a negative status that a call of this thread has just answered."""
    status = Status(number)
    return _KINDS.get(number, EspalierError)(status, message_of(status), index)


def check(number: int) -> Status:
    """Return a status that is a remark or OK; raise any other one."""
    if number < 0:
        raise error_of(number)
    return _REMARKS[number]


def check_bytes(number: int, fault: Any) -> Status:
    """Check the status of a call that read bytes, as check(); an exception has its espl_format_fault."""
    if number >= 0 or fault.sentence == ffi.NULL:
        return check(number)
    status = Status(number)
    offset, sentence = int(fault.offset), text_of(fault.sentence)
    kind = _KINDS.get(number, EspalierError)
    said = message_of(status)
    # The message of a world has the sentence already; there is none without a world.
    if sentence not in said:
        place = f" (byte {offset})" if issubclass(kind, FormatError) else ""
        said = f"{said or f'ESPL_{status.name}: {status.sentence}'} {sentence}{place}"
    error = kind(status, said)
    if isinstance(error, FormatError):
        error.offset, error.sentence = offset, sentence
    raise error


#: The index where a call is refused, but no entity of its array.
_NOWHERE = 2 ** (8 * ffi.sizeof("size_t")) - 1


def check_many(function: Any, *arguments: Any) -> Status:
    """Call a native function whose last argument takes the index of the first refused entity.

    As check(); an exception has the index.
    """
    refused = ffi.new("size_t *", _NOWHERE)
    status = function(*arguments, refused)
    if status < 0:
        index = int(refused[0])
        raise error_of(status, None if index == _NOWHERE else index)
    return check(status)


def closed(what: str) -> ClosedError:
    """Return the exception for the use of something that was closed."""
    return ClosedError(Status.ERR_ARGUMENT, f"the {what} is closed")
