#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the module of the page of "espalier view", by emscripten:
#
#     tools/view/module.sh SOURCE FILE.wasm
#
# SOURCE is the top of the source tree.
set -eu
export LC_ALL=C
: "${EMCC:=emcc}"
: "${NODE_PATH=/usr/share/nodejs}" # Debian's directory of a module that emcc needs
export NODE_PATH
source=$(cd "$1" && pwd)
out=$2
room=$(mktemp -d "${TMPDIR:-/tmp}/view.XXXXXX")
trap 'rm -rf "$room"' EXIT

# All functions that the header of the module declares, but what its parts share.
exports=$(sed -n 's/^[a-z].*[ *]\(\(view\|scene\|culling\|details\)_[a-z_]*\)(.*/_\1/p' "$source/tools/view/module.h" |
    grep -v '_view_world\|_view_grow' | sort -u | paste -s -d , -)

"${SHELL:-/bin/sh}" "$source/packaging/amalgamate.sh" "$source" "$room"
"$EMCC" -O2 -msimd128 -I"$room" -c "$room/espalier.c" -o "$room/espalier.o" &
library=$!
set --
for part in tools/reel tools/replay tools/replay_calls tools/replay_play tools/replay_writes tools/fault tools/rollback \
    tools/tape_text tools/tape_words tools/view/module tools/view/scene tools/view/culling tools/view/details; do
    object=$room/$(echo "$part" | tr / -).o
    "$EMCC" -std=gnu11 -O2 -msimd128 -ffp-contract=off -Wall -Wextra -Werror -I"$source" -I"$source/include" \
        -c "$source/$part.c" -o "$object"
    set -- "$@" "$object"
done
wait "$library"
"$EMCC" -O2 -msimd128 "$@" "$room/espalier.o" --no-entry -s STANDALONE_WASM=1 -s ALLOW_MEMORY_GROWTH=1 \
    -s INITIAL_MEMORY=16MB -s TOTAL_STACK=1MB -s EXPORTED_FUNCTIONS="$exports" -o "$room/view.wasm"
mv "$room/view.wasm" "$out"
