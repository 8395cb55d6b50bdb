#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the npm package "espalier", a folder that "npm pack" accepts, by emscripten:
#
#     packaging/npm/build.sh SOURCE DIRECTORY
#
# SOURCE is the top of the source tree. The package has two builds of the library, with SIMD128 and without.
# Each is base64 text in a JavaScript module, so that import alone loads it, without a fetch of a file.
set -eu
export LC_ALL=C
: "${EMCC:=emcc}"
: "${NODE_PATH=/usr/share/nodejs}" # Debian's directory of a module that emcc needs
export NODE_PATH
mkdir -p "$2"
source=$(cd "$1" && pwd)
directory=$(cd "$2" && pwd)
from=$source/packaging/npm
room=$(mktemp -d "${TMPDIR:-/tmp}/npm.XXXXXX")
trap 'rm -rf "$room"' EXIT
# shellcheck source=packaging/lib.sh
. "$source/packaging/lib.sh"
version=$(print_release "$source")

# list_exports: print the C functions that the JavaScript calls, as emcc takes them.
list_exports()
{
    {
        printf '%s\n' _malloc _free
        grep -oh 'wasm\.\(espl\|glue\)_[a-z0-9_]*' "$from"/*.js | sed 's/wasm\./_/'
    } | sort -u | paste -s -d , -
}

# build_module NAME FLAG...: compile with these flags and write NAME.js. emcc takes the two functions of
# engine.js for undefined symbols, so those are allowed; a module that lacks another function does not load.
build_module()
{
    name=$1
    shift
    "$EMCC" -O2 -Wall -Wextra -Werror "$@" -I"$source/include" -c "$from/glue.c" -o "$room/$name-glue.o"
    "$EMCC" -O2 "$@" -I"$room" -c "$room/espalier.c" -o "$room/$name.o"
    "$EMCC" -O2 "$@" "$room/$name-glue.o" "$room/$name.o" --no-entry -s STANDALONE_WASM=1 \
        -s ALLOW_MEMORY_GROWTH=1 -s INITIAL_MEMORY=1MB -s TOTAL_STACK=256KB \
        -s ERROR_ON_UNDEFINED_SYMBOLS=0 -s WARN_ON_UNDEFINED_SYMBOLS=0 \
        -s EXPORTED_FUNCTIONS="$(list_exports)" -o "$room/$name.wasm"
    {
        printf '// SPDX-License-Identifier: MIT\nexport default "'
        base64 -w 0 "$room/$name.wasm"
        printf '";\n'
    } >"$directory/$name.js"
}

"${SHELL:-/bin/sh}" "$source/packaging/amalgamate.sh" "$source" "$room"
build_module wasm-simd -msimd128 &
simd=$!
build_module wasm-scalar
wait "$simd"
# The page of "espalier view", where it is built.
for page in "$source/viewer.html" viewer.html; do
    test ! -f "$page" || cp "$page" "$directory/viewer.html"
done
cp "$from"/*.js "$from/espalier.d.ts" "$from/README.md" "$source/LICENSE" "$directory"
sed "s/@VERSION@/$version/" "$from/package.json.in" >"$directory/package.json"
