#!/bin/sh
# SPDX-License-Identifier: MIT
# "espalier export": glTF that this program and Khronos' validator accept, and traces that a reader of Chrome's
# traces imports.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

make_crew

# Where "./bootstrap deps ci" puts packages of npm.
NODE_PATH=${ESPALIER_NODE_MODULES:-$PWD/node_modules:$PWD/../node_modules:$PWD/../../node_modules}
export NODE_PATH

# has_module NAME: node can load a package.
has_module()
{
    command -v node >/dev/null && node -e "require('$1')" 2>/dev/null
}

run export --gltf "$scratch/crew.glb" --frames 20 --copies 3 "$scene"
if grep -q 'without tinygltf' "$scratch/err"; then
    test "$status" -eq 2 && test ! -e "$scratch/crew.glb" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "without tinygltf --gltf is refused in one line"
else
    # A carrier, three seats, and 26 nodes on each.
    test "$status" -eq 0 && test ! -s "$scratch/err" &&
        test "$(cat "$scratch/out")" = "82 nodes, 20 frames in $scratch/crew.glb" &&
        test "$(head -c 4 "$scratch/crew.glb")" = glTF
    ok "a crowd is written as binary glTF"
    run check --strict --frames 40 "$scratch/crew.glb"
    test "$status" -eq 0 && grep -q ': 82 nodes, depth 9, 40 moments, 3280 reads agree' "$scratch/out"
    ok "it is read back, and agrees with the oracle"

    run export --gltf "$scratch/crew.gltf" "$scene"
    test "$status" -eq 0 && grep -q '^28 nodes, 241 frames ' "$scratch/out" &&
        test "$(head -c 1 "$scratch/crew.gltf")" = "{"
    ok "by default one copy and all of its movement are written, as JSON"
    run check --frames 10 "$scratch/crew.gltf"
    test "$status" -eq 0
    ok "the JSON is read back"
    run export --quiet --gltf "$scratch/again.gltf" "$scene"
    test "$status" -eq 0 && test ! -s "$scratch/out" && cmp "$scratch/crew.gltf" "$scratch/again.gltf"
    ok "the same play gives the same file, and --quiet prints nothing"

    # A robot without movement, with z up.
    cat >"$scratch/arm.urdf" <<'END'
<robot name="arm"><link name="base"/><link name="tip"/>
<joint name="j" type="fixed"><parent link="base"/><child link="tip"/><origin xyz="1 2 3"/></joint></robot>
END
    run export --gltf "$scratch/arm.glb" "$scratch/arm.urdf"
    nodes=$(sed -n 's/^\([0-9]*\) nodes, .*/\1/p' "$scratch/out")
    if grep -q 'without urdfdom' "$scratch/err"; then
        skip "z up is turned" "built without urdfdom"
    else
        run tree "$scratch/arm.glb"
        test "$status" -eq 0 && grep -q ' z up$' "$scratch/out"
        ok "z up is turned"
        test "$(grep -c '^ *[0-9][0-9]*  *[0-9][0-9]*  [a-z]' "$scratch/out")" -eq "$nodes"
        ok "the nodes of the file are counted, with the one that turns it"
    fi

    cp "$scratch/crew.glb" "$scratch/both.glb" && run export --gltf "$scratch/both.glb" "$scratch/both.glb"
    test "$status" -eq 2 && cmp "$scratch/crew.glb" "$scratch/both.glb"
    ok "a scene is not overwritten"
    run export --gltf "$scratch/no/where.glb" "$scene"
    test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1
    ok "a file that cannot be written gives one line and status 1"

    if has_module gltf-validator; then
        node -e "
            const validator = require('gltf-validator'), fs = require('fs');
            const validate = async (path) => {
                const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(path)),
                    { maxIssues: 0, ignoredIssues: ['NODE_EMPTY'] });
                const { numErrors, numWarnings, numInfos, messages } = report.issues;
                console.log(path, report.info.animationCount, JSON.stringify(messages));
                return numErrors + numWarnings + numInfos === 0 && report.info.animationCount === 1;
            };
            Promise.all(process.argv.slice(1).map(validate)).then(
                (good) => process.exit(good.every(Boolean) ? 0 : 1));
        " "$scratch/crew.glb" "$scratch/crew.gltf" >"$scratch/out" 2>"$scratch/err"
        ok "the validator of glTF has nothing to say"
    else
        skip "the validator of glTF has nothing to say" "no package gltf-validator of npm"
    fi
fi

run export --trace "$scratch/trace.json" --copies 20 --frames 12 "$scene"
if grep -q 'without jansson' "$scratch/err"; then
    test "$status" -eq 2 && test ! -e "$scratch/trace.json" && test "$(wc -l <"$scratch/err")" -eq 1
    ok "without jansson --trace is refused in one line"
    done_testing
fi
# Before the first frame the prefab is played back; a playback has seven stages.
test "$status" -eq 0 && test ! -s "$scratch/err" &&
    test "$(cat "$scratch/out")" = "$((2 * (13 * 8 + 12 * 2))) events of 12 frames in $scratch/trace.json"
ok "a trace has each frame, playback and stage"

if command -v python3 >/dev/null; then
    python3 - "$scratch/trace.json" >"$scratch/out" 2>"$scratch/err" <<'END'
import collections, json, sys
open_events, seen, last = [], collections.Counter(), 0
for event in json.load(open(sys.argv[1]))['traceEvents']:
    if event['ph'] == 'M':
        assert event['args']['name'] == 'crew.bvh'
        continue
    assert event['ts'] >= last and (event['pid'], event['tid']) == (1, 1)
    last = event['ts']
    if event['ph'] == 'B':
        inside = open_events[-1] if open_events else None
        seen[event['name'], inside] += 1
        open_events.append(event['name'])
    else:
        assert event['ph'] == 'E' and open_events.pop() == event['name']
assert not open_events
stages = ['order', 'resolve', 'group', 'apply', 'change', 'place', 'report']
expected = {('frame', None): 12, ('playback', None): 1, ('playback', 'frame'): 12, ('write', 'frame'): 12}
expected.update({(stage, 'playback'): 13 for stage in stages})
assert dict(seen) == expected, seen
END
    ok "begins and ends pair up and nest"
else
    skip "begins and ends pair up and nest" "no python3"
fi

if has_module @tracerbench/trace-model; then
    node -e "
        const { buildModel } = require('@tracerbench/trace-model'), fs = require('fs');
        const events = JSON.parse(fs.readFileSync(process.argv[1])).traceEvents;
        const [{ name, threads: [thread] }] = buildModel(events).processes;
        const count = (name) => thread.events.filter((e) => e.name === name && e.ph === 'X').length;
        process.exit(name === 'crew.bvh' && count('frame') === 12 && count('playback') === 13 &&
            count('place') === 13 ? 0 : 1);
    " "$scratch/trace.json" >"$scratch/out" 2>"$scratch/err"
    ok "a reader of Chrome's traces imports it"
else
    skip "a reader of Chrome's traces imports it" "no package @tracerbench/trace-model of npm"
fi

run export --trace "$scratch/ticks.json" --ticks 30 --frames 12 --respawn 0 "$scene"
test "$status" -eq 0 && test -s "$scratch/ticks.json"
ok "a play in ticks has a trace"
run export --trace "$scratch/no/where.json" "$scene"
test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1
ok "a trace that cannot be written gives one line and status 1"

for line in "export" "export --gltf $scratch/x --trace $scratch/x" "export --gltf $scratch/x --respawn 1" \
    "export --trace $scratch/x --png $scratch/x" "play --gltf $scratch/x" "export --trace $scratch/x $scene"; do
    # shellcheck disable=SC2086
    run $line "$scene"
    test "$status" -eq 2 && test ! -s "$scratch/out" && test -s "$scratch/err" && test ! -e "$scratch/x"
    ok "refused: espalier $(echo "$line" | sed "s,$scratch/,,g")"
done

done_testing
