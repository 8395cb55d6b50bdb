#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Python package from the tree:
#
#     packaging/python/wheel.sh SOURCE DIRECTORY
#
# SOURCE is the top of the source tree. DIRECTORY gets the source distribution, and the wheel that is
# built from it, so that the wheel shows that nothing is missing there. Nothing is written to SOURCE, and
# nothing is taken from the network: PYTHON has cffi, numpy, setuptools, wheel and pip.
set -eu
: "${PYTHON=python3}"
"$PYTHON" -c 'import setuptools, wheel, pip, cffi, numpy' # says what is missing
mkdir -p "$2"
directory=$(cd "$2" && pwd)
cd "$1"
package=$directory/package
rm -rf "$package" "$directory"/espalier-*
mkdir "$package"
cp LICENSE "$package"
cd packaging/python
for part in MANIFEST.in README.md build_native.py espalier/*.py espalier/py.typed native/* \
    pyproject.toml setup.py tests/*.py; do
    mkdir -p "$package/$(dirname "$part")"
    cp "$part" "$package/$part"
done
cd ../..
sh packaging/amalgamate.sh . "$package/csrc"
cd "$package"
"$PYTHON" -W ignore setup.py -q sdist -d "$directory"
"$PYTHON" -m pip -q wheel --no-index --no-deps --no-build-isolation --no-cache-dir -w "$directory" \
    "$directory"/espalier-*.tar.gz
ls "$directory"/espalier-*
