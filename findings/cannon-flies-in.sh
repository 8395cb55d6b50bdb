#!/bin/sh
# SPDX-License-Identifier: MIT
# A body of cannon-es that is placed by body.position.set(), as most examples do, and is drawn between steps.
#
# Guess: it is drawn where it was placed, from the first frame on. World.addBody() takes over the position, into
#   body.initPosition, so interpolation begins there too.
# Seen: it flies in from the origin during the first step: interpolatedPosition begins at body.previousPosition, which
#   only the constructor's option sets. A rotation that is set later turns in likewise. A static body that is moved by
#   hand is drawn on the way too. World.step() without the time since the last call leaves what is drawn where it was,
#   for ever, while the body moves on.
#   Give position and quaternion to the constructor; after a jump copy position to previousPosition.
# Versions: cannon-es 0.20.0. Needs npm and Node.js.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

npm install --prefix . --silent --no-audit --no-fund --ignore-scripts cannon-es@0.20.0

cat >fly.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import { Body, Vec3, World } from 'cannon-es';

const { version } = JSON.parse(readFileSync('node_modules/cannon-es/package.json', 'utf8'));

// @returns where a body is drawn in frames, of which three are to a step of 1/20 s.
function draw(world, body, frames) {
    const xs = [];
    for (let i = 0; i < frames; ++i) {
        world.step(1 / 20, 1 / 60);
        xs.push(body.interpolatedPosition.x.toFixed(1));
    }
    return xs.join(' ');
}
function make(options = {}) {
    const world = new World();
    const body = new Body({ mass: 1, ...options });
    world.addBody(body);
    return [world, body];
}
console.log(`cannon-es ${version}; where x is drawn`);

let [world, body] = make({ position: new Vec3(100, 0, 0) });
console.log(`at 100 by the constructor: ${draw(world, body, 5)}`);

world = new World();
body = new Body({ mass: 1 });
body.position.set(100, 0, 0);
world.addBody(body);
console.log(`at 100 by position.set(), then added: ${draw(world, body, 5)}; initPosition ${body.initPosition.x}`);

[world, body] = make({ mass: 0 });
draw(world, body, 7);
body.position.set(9, 0, 0);
console.log(`static, moved from 0 to 9: ${draw(world, body, 3)}`);

[world, body] = make({ mass: 0 });
draw(world, body, 7);
body.position.set(9, 0, 0);
body.previousPosition.copy(body.position);
body.interpolatedPosition.copy(body.position);
console.log(`the same, previousPosition copied: ${draw(world, body, 3)}`);

[world, body] = make({ velocity: new Vec3(20, 0, 0), linearDamping: 0 });
for (let i = 0; i < 20; ++i) {
    world.step(1 / 20);
}
console.log(`after 20 step(1/20) at 20 a second: at ${body.position.x.toFixed(1)}, drawn at ${body.interpolatedPosition.x}`);
EOF
node fly.mjs | tee seen

cat >expected <<'EOF'
cannon-es 0.20.0; where x is drawn
at 100 by the constructor: 100.0 100.0 100.0 100.0 100.0
at 100 by position.set(), then added: 33.3 66.7 100.0 100.0 100.0; initPosition 100
static, moved from 0 to 9: 6.0 9.0 9.0
the same, previousPosition copied: 9.0 9.0 9.0
after 20 step(1/20) at 20 a second: at 20.0, drawn at 0
EOF
diff expected seen
