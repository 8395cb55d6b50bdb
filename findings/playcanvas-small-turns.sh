#!/bin/sh
# SPDX-License-Identifier: MIT
# A slow turn that is interpolated between two ticks by PlayCanvas, beside three.js, Babylon.js and gl-matrix.
#
# Guess: every slerp gives the same angles, to a hundredth of the turn: at 0 the first rotation, at 1 the second, and
#   even steps between them. What differs from library to library is the sign of the result at most.
# Seen: Quat.slerp() of PlayCanvas returns the middle, at any time, for turns below 0.115 degrees: at 0 and at 1 too.
#   So what turns by 5 degrees a second, in 60 ticks, jumps from middle to middle, however many frames are drawn
#   between two ticks; and what approaches a rotation by slerp(now, goal, 0.02) suddenly halves what is left in each
#   frame. The others turn evenly down to a thousandth of a degree. three.js had such a rule until 2018.
#   For small turns use Quat.lerp(), which is normalised and does not take the middle.
# Versions: playcanvas 2.23.3, three 0.187.0, @babylonjs/core 9.31.0, gl-matrix 3.4.4. Needs npm and Node.js.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

npm install --prefix . --silent --no-audit --no-fund --ignore-scripts playcanvas@2.23.3 three@0.187.0 \
    @babylonjs/core@9.31.0 gl-matrix@3.4.4

cat >turn.mjs <<'EOF'
import { AbstractEngine } from '@babylonjs/core/Engines/abstractEngine.js';
import { Quaternion as BabylonQuaternion } from '@babylonjs/core/Maths/math.vector.js';
import { quat } from 'gl-matrix';
import { Quat, version } from 'playcanvas';
import { Quaternion, REVISION } from 'three';

// @returns a turn about y.
function turn(degrees) {
    const half = (degrees * Math.PI) / 360;
    return [0, Math.sin(half), 0, Math.cos(half)];
}
function words(q) {
    return [q.x, q.y, q.z, q.w];
}
const ways = {
    'PlayCanvas slerp': (a, b, t) => words(new Quat().slerp(new Quat(...a), new Quat(...b), t)),
    'PlayCanvas lerp ': (a, b, t) => words(new Quat().lerp(new Quat(...a), new Quat(...b), t)),
    'three           ': (a, b, t) => words(new Quaternion(...a).slerp(new Quaternion(...b), t)),
    'Babylon.js      ': (a, b, t) => words(BabylonQuaternion.Slerp(new BabylonQuaternion(...a),
        new BabylonQuaternion(...b), t)),
    'gl-matrix       ': (a, b, t) => quat.slerp([0, 0, 0, 1], a, b, t),
};

// @returns the angle between two turns, as a share of it, at some times.
function shares(way, degrees) {
    return [0, 0.25, 0.5, 0.75, 1].map((t) => {
        const [, y, , w] = way(turn(0), turn(degrees), t);
        return ((Math.atan2(y, w) * 360) / Math.PI / degrees).toFixed(2);
    }).join(' ');
}
console.log(`PlayCanvas ${version}, three ${REVISION}, Babylon.js ${AbstractEngine.Version}, gl-matrix 3.4.4`);
for (const degrees of [1, 0.12, 0.11, 0.01]) {
    for (const [name, way] of Object.entries(ways)) {
        console.log(`${degrees} degrees, ${name} at 0 0.25 0.5 0.75 1: ${shares(way, degrees)}`);
    }
}
let [now, steps] = [turn(0.5), []];
for (let frame = 0; frame < 300 && steps.length < 4; ++frame) {
    const next = ways['PlayCanvas slerp'](now, turn(0), 0.02);
    const kept = next[1] / now[1];
    if (frame === 0 || kept < 0.9) {
        steps.push(`frame ${frame} keeps ${kept.toFixed(2)}`);
    }
    now = next;
}
console.log(`from 0.5 degrees to 0 by slerp(now, goal, 0.02): ${steps.join(', ')}`);
EOF
node turn.mjs | tee seen

cat >expected <<'EOF'
PlayCanvas 2.23.3, three 187, Babylon.js 9.31.0, gl-matrix 3.4.4
1 degrees, PlayCanvas slerp at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
1 degrees, PlayCanvas lerp  at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
1 degrees, three            at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
1 degrees, Babylon.js       at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
1 degrees, gl-matrix        at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.12 degrees, PlayCanvas slerp at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.12 degrees, PlayCanvas lerp  at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.12 degrees, three            at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.12 degrees, Babylon.js       at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.12 degrees, gl-matrix        at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.11 degrees, PlayCanvas slerp at 0 0.25 0.5 0.75 1: 0.50 0.50 0.50 0.50 0.50
0.11 degrees, PlayCanvas lerp  at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.11 degrees, three            at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.11 degrees, Babylon.js       at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.11 degrees, gl-matrix        at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.01 degrees, PlayCanvas slerp at 0 0.25 0.5 0.75 1: 0.50 0.50 0.50 0.50 0.50
0.01 degrees, PlayCanvas lerp  at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.01 degrees, three            at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.01 degrees, Babylon.js       at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
0.01 degrees, gl-matrix        at 0 0.25 0.5 0.75 1: 0.00 0.25 0.50 0.75 1.00
from 0.5 degrees to 0 by slerp(now, goal, 0.02): frame 0 keeps 0.98, frame 73 keeps 0.50, frame 74 keeps 0.50, frame 75 keeps 0.50
EOF
diff expected seen
