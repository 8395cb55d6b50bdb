#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the page of "espalier view":
#
#     tools/view/page.sh SOURCE FILE.html [DIRECTORY]
#
# SOURCE is the top of the source tree. The packages of npm are installed in DIRECTORY, build/viewer unless it is
# given, where the module is kept too; both are made again only when what they are made of has changed.
set -eu
export LC_ALL=C
: "${NPM:=npm}" "${NODE:=node}" "${EMCC:=emcc}"
source=$(cd "$1" && pwd)
mkdir -p "${3:-build/viewer}"
room=$(cd "${3:-build/viewer}" && pwd)
from=$source/tools/view

for program in "$NPM" "$NODE" "$EMCC"; do
    command -v "$program" >/dev/null || {
        echo "page.sh: the page of espalier view needs $program" >&2
        exit 1
    }
done

# is_older FILE SOURCE...: tell whether a file is missing or older than one of the others.
is_older()
{
    file=$1
    shift
    test -f "$file" || return 0
    test -n "$(find "$@" -newer "$file" -type f 2>/dev/null | head -n 1)"
}

if is_older "$room/view.wasm" "$source/lib" "$source/include" "$source/tools"/*.[ch] "$from"/*.[ch] \
    "$from/module.sh"; then
    EMCC=$EMCC "${SHELL:-/bin/sh}" "$from/module.sh" "$source" "$room/view.wasm"
fi
if is_older "$room/node_modules/.package-lock.json" "$from/package-lock.json"; then
    cp "$from/package.json" "$from/package-lock.json" "$room"
    (cd "$room" && "$NPM" ci --no-audit --no-fund)
    touch "$room/node_modules/.package-lock.json"
fi
rm -rf "$room/page"
cp -r "$from/page" "$room/page"
cp "$from/package.json" "$room"
chmod -R u+w "$room/page"
(
    cd "$room"
    node_modules/.bin/tsc -p page
    cp page/build.mjs .
    "$NODE" build.mjs view.wasm page.html.tmp
)
mv "$room/page.html.tmp" "$2"
