# SPDX-License-Identifier: MIT
"""Transform hierarchies whose world transforms are always current, over numpy.

The library is Espalier, in C, compiled into this package. World is where to begin; handles of entities
are plain ints, arrays of handles numpy.int64, numbers 32-bit floats, quaternions x, y, z, w, angles
radians. See World for the rule of threads, Query for the lifetime of arrays without copies, and
EspalierError for what is raised.
"""

from ._commands import CommandBuffer, Recorder, Report, World
from ._base import Stats, Validation
from ._components import DISABLED, HAS_TRANSFORM, MEMBER, PREFAB, ROOT, SOLO, Component
from ._counterparts import FollowReport
from ._errors import (
    ArgumentError,
    BusyError,
    ClosedError,
    ComponentError,
    EntityError,
    EspalierError,
    FloatError,
    FormatError,
    GapError,
    LimitError,
    NumberError,
    OutOfMemoryError,
    PartlyError,
    PlayedError,
    Status,
    StructureError,
    TooOldError,
    UnsupportedError,
    VersionError,
)
from ._histories import History, Rewound
from ._far import Origin
from ._motion import Presented, Tick
from ._native import lib as _lib
from ._queries import Chunk, Query, View
from ._structure import Subtree
from ._transform import (
    Transform,
    quat_between,
    quat_from_axis_angle,
    quat_from_euler,
    quat_multiply,
    quat_rotate,
    quat_slerp,
    quat_to_axis_angle,
    quat_to_euler,
)
from ._transforms import WriteReport
from ._types import (
    ENTITY,
    NULL,
    POSE,
    TRANSFORM,
    Axes,
    Axis,
    Conversion,
    DeadParent,
    Entity,
    EulerOrder,
    Extent,
    Include,
    Inherit,
    Keep,
    Link,
    Read,
    Role,
    Space,
    Watched,
    Write,
    WriteFlag,
)
from ._values import (
    Archive,
    ArchiveInfo,
    Migration,
    ReadArchive,
    diff_archives,
    image_layout,
    inspect_archive,
    patch_archive,
)
from ._watches import Changes, Watch

_number = _lib.espl_version()
#: The version of the library that is inside, "major.minor.patch".
__version__ = f"{_number // 1000000}.{_number // 1000 % 1000}.{_number % 1000}"

__all__ = [
    "Archive",
    "ArchiveInfo",
    "ArgumentError",
    "Axes",
    "Axis",
    "BusyError",
    "Changes",
    "Chunk",
    "ClosedError",
    "CommandBuffer",
    "Component",
    "ComponentError",
    "Conversion",
    "DISABLED",
    "DeadParent",
    "ENTITY",
    "Entity",
    "EntityError",
    "EspalierError",
    "EulerOrder",
    "Extent",
    "FollowReport",
    "FloatError",
    "FormatError",
    "GapError",
    "HAS_TRANSFORM",
    "History",
    "Include",
    "Inherit",
    "Keep",
    "LimitError",
    "Link",
    "MEMBER",
    "Migration",
    "NULL",
    "NumberError",
    "OutOfMemoryError",
    "POSE",
    "PREFAB",
    "PartlyError",
    "PlayedError",
    "Origin",
    "Presented",
    "Query",
    "ROOT",
    "Read",
    "ReadArchive",
    "Recorder",
    "Report",
    "Rewound",
    "Role",
    "SOLO",
    "Space",
    "Stats",
    "Status",
    "StructureError",
    "Subtree",
    "TRANSFORM",
    "Tick",
    "TooOldError",
    "Transform",
    "UnsupportedError",
    "Validation",
    "VersionError",
    "View",
    "Watch",
    "Watched",
    "World",
    "Write",
    "WriteFlag",
    "WriteReport",
    "diff_archives",
    "image_layout",
    "inspect_archive",
    "patch_archive",
    "quat_between",
    "quat_from_axis_angle",
    "quat_from_euler",
    "quat_multiply",
    "quat_rotate",
    "quat_slerp",
    "quat_to_axis_angle",
    "quat_to_euler",
]
