#!/bin/sh
# SPDX-License-Identifier: MIT
# Pages of "espalier view" in the browsers that Debian has: Chromium without a window, and Firefox ESR in a window of
# Xvfb, because without one it draws no WebGL2 there. Pictures are left in viewer/pictures, to be looked at.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

walk=${ESPALIER_ASSIMP_MODELS:-/usr/share/assimp/models}/BVH/01_01.bvh
test -f "$walk" || skip_all "no Assimp test models"
test -f viewer.html || skip_all "no page is built (make viewer)"
test -d viewer/node_modules/puppeteer-core || skip_all "no packages of npm (make viewer)"
pictures=viewer/pictures
rm -rf "$pictures"
mkdir -p "$pictures"
ln -s "$(pwd)/viewer" "$scratch/packages"
ESPALIER_VIEWER=viewer.html
export ESPALIER_VIEWER

# Names that would be markup, that are as long as names may be, and that are written from right to left.
long=
for _ in 1 2 3 4 5; do
    long=$long長い名前の長い名前の長い名前の長い
done
cat >"$scratch/names.gltf" <<END
{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [
{"name": "<img src=x onerror=\\"document.title=1\\">", "translation": [0, 1, 0], "children": [1]},
{"name": "$long", "translation": [1, 1, 0], "children": [2]},
{"name": "\\u202egnirts desrever\\u202c \\u05e9\\u05dc\\u05d5\\u05dd", "translation": [2, 1, 0], "children": [3]},
{"name": "</b><script>document.title=1</script>", "translation": [3, 1, 0], "children": [4]},
{"name": "a&amp;b\\u200f", "translation": [4, 1, 0]}]}
END

run view -q -o "$scratch/walk.html" "$walk"
test "$status" -eq 0 || skip_all "this build writes no page: $(cat "$scratch/err")"
cp viewer.html "$scratch/bare.html"
"$espalier" view -q -o "$scratch/names.html" --frames 5 "$scratch/names.gltf" &&
    "$espalier" view -q -o "$scratch/crowd.html" --frames 30 --copies 2600 "$walk" &&
    sed -n 's/.*class="tape"[^>]*>\([^<]*\)<.*/\1/p' "$scratch/walk.html" | base64 -d | gzip -d >"$scratch/walk.tape" &&
    "$espalier" replay -q --hashes "$scratch/walk.tape" >"$scratch/native.txt" &&
    "$espalier" replay -q --frames 60 --show carrier/copy/Hips/LHipJoint/LeftUpLeg/LeftLeg "$scratch/walk.tape" \
        >"$scratch/node.txt"
ok "the pages are written"
"$espalier" view -q -o "$scratch/some.html" --frames 30 --copies 24 "$walk" &&
    sed -n 's/.*class="tape"[^>]*>\([^<]*\)<.*/\1/p' "$scratch/some.html" | base64 -d | gzip -d >"$scratch/some.tape" &&
    "$espalier" replay -q --hashes "$scratch/some.tape" >"$scratch/some.txt"
ok "so is one whose boxes are culled"
CULLED=$(pwd)/tests/tools/culled
export CULLED
test ! -x ./examples/rollback || ./examples/rollback 150 "$scratch/back.tape" >"$scratch/out" &&
    "$espalier" replay -q --hashes "$scratch/back.tape" >"$scratch/back.txt"
for seed in 1 2; do
    "$espalier" play --quiet --copies 3 --frames 9 --respawn 0 --seed $seed --tape "$scratch/$seed.tape" "$walk"
done
"$espalier" diff --output "$scratch/parts.html" "$scratch/1.tape" "$scratch/2.tape" >"$scratch/parts.txt"
test $? -eq 1
ok "so is a page of two tapes that part"

# browse NAME COMMAND...: run the checks in a browser, and count them as checks of this script.
browse()
{
    name=$1
    shift
    "$@" node "${srcdir:-.}/tests/tools/browser.mjs" "$name" "$scratch" >"$scratch/out" 2>"$scratch/err"
    cp "$scratch/$name"-*.png "$pictures" 2>/dev/null
    while IFS= read -r line; do
        case $line in
            'ok '*)
                number=$((number + 1))
                echo "ok $number ${line#ok * }"
                ;;
            'not ok '*)
                number=$((number + 1))
                failed=1
                echo "not ok $number ${line#not ok * }"
                ;;
            '#'*) echo "$line" ;;
        esac
    done <"$scratch/out"
    grep -q '^1\.\.' "$scratch/out"
    ok "$name: the checks run to their end"
}

if command -v chromium >/dev/null; then
    browse chromium env
else
    skip "chromium: pages" "it is not installed"
fi
if command -v firefox-esr >/dev/null && command -v xvfb-run >/dev/null; then
    HOME=$scratch browse firefox env LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a -s '-screen 0 2200x1400x24'
else
    skip "firefox: pages" "it is not installed, or there is no Xvfb"
fi
done_testing
