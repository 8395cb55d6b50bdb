#!/bin/sh
# SPDX-License-Identifier: MIT
# Culling against what is used outside of this project: the box tree of Bullet and a flat loop in the manner of
# Filament, by a program in C++, then three.js in Node, where viewer/node_modules and npm have been built by
# "make viewer" and "make npm".
: "${srcdir=.}" "${CXX=c++}" "${LIBTOOL=./libtool}"
set -eu

room=$(mktemp -d ./outside.XXXXXX)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
if ! pkg-config --exists bullet; then
    echo 'outside: Bullet is not here (Debian: libbullet-dev)' >&2
    exit 1
fi
# The compilers are lists of words.
# shellcheck disable=SC2046,SC2086
{
    $CXX -std=c++17 -O3 -ffp-contract=off -I"$srcdir/include" \
        $(pkg-config --cflags-only-I bullet | sed 's,-I,-isystem ,g') \
        -c "$srcdir/bench/outside/cull.cpp" -o "$room/cull.o"
    $LIBTOOL --quiet --tag=CXX --mode=link $CXX -o "$room/cull" "$room/cull.o" libespalier.la \
        $(pkg-config --libs-only-L bullet) -lBulletCollision -lLinearMath
    $LIBTOOL --quiet --mode=execute "$room/cull"
}
if test -d viewer/node_modules/three && test -f npm/espalier.js; then
    node "$srcdir/bench/outside/cull.mjs" viewer npm
else
    echo 'outside: three.js is left out, because "make viewer npm" was not run'
fi
