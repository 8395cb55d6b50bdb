# SPDX-License-Identifier: MIT
"""Builds the package: what pyproject.toml cannot say."""

import re
import subprocess
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
LIBRARY = HERE / "csrc" / "espalier.c"
AMALGAMATE = HERE.parent / "amalgamate.sh"

# In the source tree of Espalier the library is laid out as one file first. A source distribution has
# that file, and no such script.
if AMALGAMATE.exists():
    subprocess.run(["sh", str(AMALGAMATE), str(HERE.parents[1]), str(LIBRARY.parent)], check=True)
if not LIBRARY.exists():
    raise SystemExit(f"{LIBRARY} is missing: build in Espalier's source tree, or from its sdist")


def version() -> str:
    """Return the version that the library's header has."""
    header = LIBRARY.with_suffix(".h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define ESPL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M))


# The extension uses the stable interface of Python alone, so that one wheel serves all versions from 3.9.
setup(
    version=version(),
    cffi_modules=["build_native.py:ffi"],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
