#!/bin/sh
# SPDX-License-Identifier: MIT
# A piece cut out of an animation of three.js, between two keys.
#
# Guess: the piece moves as the whole did in that time: keys are made where it was cut.
# Seen: AnimationUtils.subclip() and AnimationClip.trim() keep keys and make none. A piece without a key inside has
#   no track, or holds the first key of the whole still; one with keys inside loses the motion before the first and
#   after the last of them, begins at the first key of any track, not at the frame that was asked for, and excludes
#   the last frame. So a file whose keys were thinned, as optimisers do, cannot be cut any more: sample it first.
# Versions: three 0.187.0. Needs npm and Node.js.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

npm install --prefix . --silent --no-audit --no-fund --ignore-scripts three@0.187.0

cat >cut.mjs <<'EOF'
import { AnimationClip, AnimationMixer, AnimationUtils, Object3D, NumberKeyframeTrack, REVISION } from 'three';

// @returns where x is at some moments of a clip.
function play(clip, moments) {
    const object = new Object3D();
    object.position.x = 99;
    const mixer = new AnimationMixer(object);
    mixer.clipAction(clip).play();
    return moments.map((moment) => {
        mixer.setTime(moment);
        return object.position.x;
    }).join(' ');
}
function make(step) {
    const times = Array.from({ length: 4 / step + 1 }, (_, i) => i * step);
    return new AnimationClip('move', -1, [new NumberKeyframeTrack('.position[x]', times, times)]);
}
console.log(`three ${REVISION}; x is the time, from 0 to 4; 99 is where nothing moves it`);
console.log(`the whole, at 1 1.5 2 2.5: ${play(make(4), [1, 1.5, 2, 2.5])}`);
for (const step of [0.5, 2, 4]) {
    const piece = AnimationUtils.subclip(make(step), 'piece', 10, 30, 10);
    const trimmed = make(step);
    trimmed.duration = 3;
    trimmed.trim();
    console.log(`a key each ${step}: subclip() from 1 to 3 has ${piece.tracks.length} tracks, lasts ${piece.duration}`
        + `, at 0 0.5 1 1.25: ${play(piece, [0, 0.5, 1, 1.25])}; trim() to 3, at 0.5 2.5: ${play(trimmed, [0.5, 2.5])}`);
}
EOF
node cut.mjs | tee seen

cat >expected <<'EOF'
three 187; x is the time, from 0 to 4; 99 is where nothing moves it
the whole, at 1 1.5 2 2.5: 1 1.5 2 2.5
a key each 0.5: subclip() from 1 to 3 has 1 tracks, lasts 1.5, at 0 0.5 1 1.25: 1 1.5 2 2.25; trim() to 3, at 0.5 2.5: 0.5 2.5
a key each 2: subclip() from 1 to 3 has 1 tracks, lasts 0, at 0 0.5 1 1.25: 2 2 2 2; trim() to 3, at 0.5 2.5: 0.5 2
a key each 4: subclip() from 1 to 3 has 0 tracks, lasts 0, at 0 0.5 1 1.25: 99 99 99 99; trim() to 3, at 0.5 2.5: 0 0
EOF
diff expected seen
