#!/bin/sh
# SPDX-License-Identifier: MIT
# Scenes of MuJoCo, compared with MuJoCo's own kinematics: positions within 1e-6 m, rotations within 1e-7 of
# 1-|q.q'|.
# shellcheck source=tests/tools/lib.sh
. "${srcdir:-.}/tests/tools/lib.sh"

has_shrunken_limits && skip_all "a world of this build holds too few entities for scenes"
models=${ESPALIER_MUJOCO_MODELS:-/usr/share/mujoco/model}
test -d "$models" || skip_all "no MuJoCo models"
run check --frames 1 "$models/humanoid/humanoid.xml"
grep -q 'without MuJoCo' "$scratch/err" && skip_all "built without MuJoCo"

run check --frames 500 --within 1e-6 "$models/humanoid/22_humanoids.xml"
test "$status" -eq 0 && test ! -s "$scratch/err" &&
    grep -q '352 nodes, depth 5, 500 moments, 176000 reads agree' "$scratch/out"
ok "22 humanoids stay within 1e-6 m of MuJoCo for 500 steps"

# Hinges, balls, slides, free and fixed bodies, deep chains and wide fans.
for file in adhesion/active_adhesion slider_crank/slider_crank tendon_arm/arm26 composite/rope \
    composite/softbox composite/cloth flag/flag humanoid100/humanoid100; do
    run check --frames 50 "$models/$file.xml"
    test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q '50 moments' "$scratch/out"
    ok "$file agrees with MuJoCo"
done

run check --frames 500 --within 1e-9 "$models/humanoid/22_humanoids.xml"
test "$status" -eq 1 && test "$(wc -l <"$scratch/err")" -eq 1
ok "an error past the bound gives one line and status 1"

printf '<mujoco><worldbody><body><joint type="hinge"/></body></worldbody></mujoco>' \
    >"$scratch/massless.xml"
run check "$scratch/massless.xml"
test "$status" -eq 2 && test "$(wc -l <"$scratch/err")" -eq 1
ok "a model that MuJoCo refuses gets one line and status 2"

test ! -e MUJOCO_LOG.TXT
ok "no log file is left behind"

run play --copies 3 --frames 20 "$models/humanoid/22_humanoids.xml"
test "$status" -eq 0 && test ! -s "$scratch/err" && grep -q '22_humanoids.xml  *352  *3 ' "$scratch/out"
ok "copies of a simulation play under moving parents"

# Each frame of the tape has the hash of all bits; the frames that are played again must have it, too.
run play --quiet --copies 1 --respawn 0 --frames 60 --tape "$scratch/steps" "$models/humanoid/22_humanoids.xml"
test "$status" -eq 0
ok "60 steps of 22 humanoids are recorded"
for back in 1 8 30; do
    run replay --rollback "$back" "$scratch/steps"
    test "$status" -eq 0 && test ! -s "$scratch/err" &&
        grep -q ", 60 frames, .* times back by $back\$" "$scratch/out"
    ok "rewound by $back steps, humanoids come to the same bits again"
done

done_testing
