#!/bin/sh
# SPDX-License-Identifier: MIT
# The example of the npm package draws by three.js what the library finds visible, in Chromium without a window.
# A picture is left in viewer/pictures, to be looked at.
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"

test -f npm/espalier.js || skip_all "no npm package is built (make npm)"
test -d viewer/node_modules/puppeteer-core || skip_all "no packages of npm (make viewer)"
command -v chromium >/dev/null || skip_all "chromium is not installed"
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
ln -s "$(pwd)/viewer" "$scratch/packages"
ln -s "$(pwd)/npm" "$scratch/espalier"
mkdir -p viewer/pictures

node "${srcdir:-.}/tests/tools/three.mjs" "${srcdir:-.}" "$scratch" >"$scratch/out" 2>"$scratch/err"
cp "$scratch"/three-*.png viewer/pictures 2>/dev/null
while IFS= read -r line; do
    case $line in
        'ok '* | 'not ok '*)
            name=${line#*ok * }
            test "${line%% *}" = ok
            ok "$name"
            ;;
        '#'*) echo "$line" ;;
    esac
done <"$scratch/out"
grep -q '^1\.\.' "$scratch/out"
ok "the checks run to their end"
sed 's/^/# /' "$scratch/err"
done_testing
