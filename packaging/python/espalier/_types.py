# SPDX-License-Identifier: MIT
"""Handles, enumerations and numpy types."""

from __future__ import annotations

import enum
from typing import Any, Sequence, Union

import numpy as np
import numpy.typing as npt

#: A handle of an entity: a plain int, 0 for none. Arrays of handles are numpy.int64, and an element of
#: such an array compares and hashes as the int does. It is no class, because each batch would have to
#: convert every handle. It is not numpy.uint64, because before numpy 2 that and an int become floats,
#: which lose bits. The number is index and generation: it is unique for the life of its world, and
#: another world refuses it. The handle of a pending entity is negative.
Entity = int
#: What is accepted for one handle.
EntityLike = Union[int, "np.integer[Any]"]
#: What is accepted for many handles: an array of numpy.int64 or numpy.uint64 without a copy, or a
#: sequence of ints.
EntitiesLike = Union[npt.ArrayLike, Sequence[EntityLike]]
#: An array of handles.
Handles = npt.NDArray[np.int64]
#: An array of 32-bit floats, the numbers of the library.
Floats = npt.NDArray[np.float32]

#: No entity. It is falsy.
NULL: Entity = 0

#: The numpy type of handles, for fields of components that name entities.
ENTITY = np.dtype(np.int64)
#: A rotation x, y, z, w, a position in world units, and a uniform scale: 32 bytes.
POSE = np.dtype([("rotation", np.float32, 4), ("position", np.float32, 3), ("scale", np.float32)])
#: A pose, a stretch for each axis that children do not inherit as shape, and a word of your own: 48 bytes.
TRANSFORM = np.dtype(
    [
        ("rotation", np.float32, 4),
        ("position", np.float32, 3),
        ("scale", np.float32),
        ("stretch", np.float32, 3),
        ("user_data", np.uint32),
    ]
)


class Space(enum.IntEnum):
    """What a transform is relative to."""

    #: The parent, in its axes and units; of a root the world.
    LOCAL = 1
    #: The world.
    WORLD = 2


class Axes(enum.IntEnum):
    """The axes along which an entity is moved, or about which it is turned."""

    #: The entity's own axes.
    OWN = 0
    #: The axes of the parent.
    PARENT = 1
    #: The axes of the world.
    WORLD = 2


class Keep(enum.IntEnum):
    """Which side of a transform stays when the parent changes."""

    #: The world transform stays, to rounding; the local one follows from it.
    WORLD = 0
    #: The local transform stays bit for bit; the world one follows from it.
    LOCAL = 1
    #: Position 0, no rotation, scale 1 under the new parent.
    SNAP = 2


class Link(enum.IntEnum):
    """Lifetime tie between a child and its parent."""

    #: Destroyed and cloned with the parent.
    OWNED = 0
    #: Moves with the parent, but outlives it.
    FREE = 1


class Extent(enum.IntEnum):
    """Which entities below an entity a call includes."""

    #: The entity, and every descendant that is reached through owned links only.
    OWNED = 0
    #: The entity alone.
    ENTITY = 1
    #: The entity and everything below it.
    SUBTREE = 2


class Role(enum.IntEnum):
    """Place of an entity in the structure of its world."""

    #: No living entity.
    NONE = 0
    #: In no hierarchy.
    SOLO = 1
    #: Top of a hierarchy.
    ROOT = 2
    #: Has a parent.
    MEMBER = 3


class DeadParent(enum.IntEnum):
    """What a recorded creation becomes when its parent is dead at playback."""

    #: It is refused.
    REFUSE = 0
    #: It is made without a parent.
    ROOT = 1


class Inherit(enum.IntFlag):
    """Parts of its world transform that a member does NOT take from its parent. 0 takes everything."""

    NONE = 0
    X = 1
    Y = 2
    Z = 4
    POSITION = 7
    FORWARD = 8
    UP = 16
    ROTATION = 24
    STRICT_UP = 32
    SCALE = 64
    #: The world transform is a copy of the parent's. Excludes every other flag.
    COPY_PARENT = 128


class Include(enum.IntFlag):
    """What queries skip unless it is included."""

    NONE = 0
    PREFABS = 1
    DISABLED = 2


class Axis(enum.IntEnum):
    """Direction of an axis: +X right, +Y up, +Z forward."""

    RIGHT = 0
    UP = 1
    FORWARD = 2
    LEFT = 3
    DOWN = 4
    BACK = 5


class EulerOrder(enum.IntEnum):
    """Order of three intrinsic rotations; the first letter is applied first."""

    XYZ = 0
    XZY = 1
    YXZ = 2
    YZX = 3
    ZXY = 4
    ZYX = 5


class Conversion(enum.IntEnum):
    """A point moves with a frame, a vector is scaled and turned, a direction is only turned."""

    POINT_TO_WORLD = 0
    POINT_TO_LOCAL = 1
    VECTOR_TO_WORLD = 2
    VECTOR_TO_LOCAL = 3
    DIRECTION_TO_WORLD = 4
    DIRECTION_TO_LOCAL = 5


class Read(enum.IntEnum):
    """What can be read of a transform; the comment says the shape and the type for each entity."""

    LOCAL_POSITION = 0  #: (3,) float32
    LOCAL_ROTATION = 1  #: (4,) float32
    LOCAL_SCALE = 2  #: float32
    LOCAL_POSE = 3  #: POSE
    LOCAL_TRANSFORM = 4  #: TRANSFORM
    STRETCH = 5  #: (3,) float32
    USER_DATA = 6  #: uint32
    WORLD_POSITION = 7  #: (3,) float32
    WORLD_ROTATION = 8  #: (4,) float32
    WORLD_SCALE = 9  #: float32
    WORLD_POSE = 10  #: POSE
    WORLD_TRANSFORM = 11  #: TRANSFORM
    #: (3,) float32: as it is drawn, by World.present(). Without motion this and the next four read the world.
    SHOWN_POSITION = 12
    SHOWN_ROTATION = 13  #: (4,) float32
    SHOWN_SCALE = 14  #: float32
    SHOWN_POSE = 15  #: POSE
    SHOWN_TRANSFORM = 16  #: TRANSFORM
    PREVIOUS_LOCAL_POSE = 17  #: POSE when the last tick began
    PREVIOUS_WORLD_POSE = 18  #: POSE
    BEFORE_LOCAL_POSE = 19  #: POSE when the tick before it began, where motion keeps two
    BEFORE_WORLD_POSE = 20  #: POSE
    CELL = 21  #: (3,) int32: of the hierarchy, in a world with cells
    ABSOLUTE_POSITION = 22  #: (3,) float64: from the middle of cell 0, 0, 0


class Write(enum.IntEnum):
    """Kinds of write; the comment says the shape and the type of each value.

    "Local" is relative to the parent, "world" to the world.
    """

    LOCAL_POSITION = 0  #: (3,) float32
    LOCAL_ROTATION = 1  #: (4,) float32
    LOCAL_SCALE = 2  #: float32
    LOCAL_POSE = 3  #: POSE
    LOCAL_TRANSFORM = 4  #: TRANSFORM
    STRETCH = 5  #: (3,) float32
    USER_DATA = 6  #: uint32
    WORLD_POSITION = 7  #: (3,) float32
    WORLD_ROTATION = 8  #: (4,) float32
    WORLD_SCALE = 9  #: float32
    WORLD_POSE = 10  #: POSE
    WORLD_TRANSFORM = 11  #: TRANSFORM
    TRANSLATE_IN_PARENT = 12  #: (3,) float32: position += value
    ROTATE_IN_PARENT = 13  #: (4,) float32: rotation = value * rotation
    TRANSFORM_IN_PARENT = 14  #: TRANSFORM: pose = value * pose
    INVERSE_TRANSFORM_IN_PARENT = 15  #: TRANSFORM: pose = inverse of value * pose
    TRANSLATE_WORLD = 16  #: (3,) float32
    ROTATE_WORLD = 17  #: (4,) float32
    TRANSFORM_WORLD = 18  #: TRANSFORM
    INVERSE_TRANSFORM_WORLD = 19  #: TRANSFORM
    MULTIPLY_SCALE = 20  #: float32
    MULTIPLY_STRETCH = 21  #: (3,) float32
    TRANSLATE_OWN = 22  #: (3,) float32, along the entity's own axes
    ROTATE_OWN = 23  #: (4,) float32: rotation = rotation * value
    #: POSE: what motion blends from, where it was when the tick began. The transform stays. Needs motion.
    PREVIOUS_LOCAL_POSE = 24
    PREVIOUS_WORLD_POSE = 25  #: POSE, as that
    CELL = 26  #: (3,) int32: of a root, which keeps its coordinates; needs cells
    ABSOLUTE_POSITION = 27  #: (3,) float64: from the middle of cell 0, 0, 0


class WriteFlag(enum.IntEnum):
    """How motion blends a write; without motion it does nothing."""

    #: In a tick blended, else shown as it is.
    NONE = 0
    #: Shown where the write puts it, in a tick too.
    TELEPORT = 64
    #: Where it was moves along, so that the motion that is shown goes on elsewhere.
    CARRY = 128


class Watched(enum.IntFlag):
    """Kinds of changes that a watch reports."""

    #: The transform in the world.
    WORLD = 1
    #: What is its own: the local transform, stretch, user data, inherit flags, parent, place among siblings.
    LOCAL = 2
    #: The transform as it is drawn: see World.present().
    SHOWN = 4
    #: The cell of a root: see World.recenter(). Needs cells.
    CELL = 16


_VECTOR = np.dtype((np.float32, 3))
_QUATERNION = np.dtype((np.float32, 4))
_SCALAR = np.dtype(np.float32)
_WORD = np.dtype(np.uint32)
_CELL = np.dtype((np.int32, 3))
_DOUBLES = np.dtype((np.float64, 3))

#: Types by Read.
READ_TYPES = (
    _VECTOR, _QUATERNION, _SCALAR, POSE, TRANSFORM, _VECTOR, _WORD,
    _VECTOR, _QUATERNION, _SCALAR, POSE, TRANSFORM,
    _VECTOR, _QUATERNION, _SCALAR, POSE, TRANSFORM,
    POSE, POSE, POSE, POSE, _CELL, _DOUBLES,
)  # fmt: skip
#: Types by Write.
WRITE_TYPES = (
    _VECTOR, _QUATERNION, _SCALAR, POSE, TRANSFORM, _VECTOR, _WORD,
    _VECTOR, _QUATERNION, _SCALAR, POSE, TRANSFORM,
    _VECTOR, _QUATERNION, TRANSFORM, TRANSFORM,
    _VECTOR, _QUATERNION, TRANSFORM, TRANSFORM,
    _SCALAR, _VECTOR, _VECTOR, _QUATERNION,
    POSE, POSE, _CELL, _DOUBLES,
)  # fmt: skip
