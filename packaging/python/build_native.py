# SPDX-License-Identifier: MIT
"""Describes the extension module espalier._native to cffi, for setup.py.

API mode: a C compiler checks each declaration against the headers, so that a struct or a function that
changes in the library is an error of the build, never of a running program.
"""

import platform
import sys
from pathlib import Path

from cffi import FFI

NATIVE = Path("native")


def declarations() -> str:
    """Return what native.h declares, without preprocessor."""
    text = (NATIVE / "native.h").read_text(encoding="utf-8")
    return text.split("// --- begin of declarations ---")[1].split("// --- end of declarations ---")[0]


def flags() -> "tuple[list[str], list[str]]":
    """Return the flags for the compiler and the linker.

    The same bits on every machine need products and sums left apart, and floats rounded one by one.
    The library's symbols stay inside the module, so that a program that has another copy of the
    library in the same process does not mix the two.
    """
    if sys.platform == "win32":
        return ["/std:c11", "/fp:precise"], []
    compile_flags = ["-O2", "-ffp-contract=off", "-fvisibility=hidden"]
    if platform.machine() in ("i386", "i486", "i586", "i686") or (
        platform.machine() == "x86_64" and sys.maxsize < 2**32
    ):
        compile_flags += ["-msse2", "-mfpmath=sse"]
    return compile_flags, ["-Wl,-Bsymbolic"] if sys.platform.startswith("linux") else []


ffi = FFI()
ffi.cdef((NATIVE / "types.cdef").read_text(encoding="utf-8") + declarations())
compile_flags, link_flags = flags()
ffi.set_source(
    "espalier._native",
    '#include "native.h"',
    sources=["csrc/espalier.c"] + sorted(str(path) for path in NATIVE.glob("*.c")),
    depends=["csrc/espalier.h", "native/native.h", "native/internal.h", "native/types.cdef"],
    include_dirs=["csrc", "native"],
    extra_compile_args=compile_flags,
    extra_link_args=link_flags,
)
