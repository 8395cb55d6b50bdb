# SPDX-License-Identifier: MIT
# Writes a motion in BVH, the format of recorded motions: one of a ship's crew, who walks in a circle and
# waves at each round. "make film" plays 400 copies of it on the decks of 50 ships.
#
#     awk -f examples/crew.awk >crew.bvh
#
# A round takes four seconds: what follows the last frame is the first.

# A joint with its offset from its parent; channels are Z, X and Y rotations, which apply in this order from
# the outside.
function joint(name, x, y, z,    channels)
{
    channels = depth == 0 ? "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation" \
                          : "3 Zrotation Xrotation Yrotation"
    printf "%s%s %s\n%s{\n", indent(), depth == 0 ? "ROOT" : "JOINT", name, indent()
    ++depth
    printf "%sOFFSET %.4f %.4f %.4f\n%sCHANNELS %s\n", indent(), x, y, z, indent(), channels
    order[++joints] = name
}

function tip(x, y, z)
{
    printf "%sEnd Site\n%s{\n", indent(), indent()
    ++depth
    printf "%sOFFSET %.4f %.4f %.4f\n", indent(), x, y, z
    end(1)
}

function end(count)
{
    while (count-- > 0) {
        --depth
        printf "%s}\n", indent()
    }
}

function indent(    text, i)
{
    for (i = 0; i < depth; ++i) {
        text = text "  "
    }
    return text
}

function leg(side, sign)
{
    joint(side "UpLeg", sign * 0.10, -0.04, 0)
    joint(side "Leg", 0, -0.43, 0)
    joint(side "Foot", 0, -0.42, 0)
    joint(side "Toe", 0, -0.07, 0.13)
    tip(0, 0, 0.07)
    end(4)
}

function arm(side, sign)
{
    joint(side "Shoulder", sign * 0.04, 0.16, 0)
    joint(side "Arm", sign * 0.15, 0, 0)
    joint(side "ForeArm", 0, -0.29, 0)
    joint(side "Hand", 0, -0.26, 0)
    tip(0, -0.10, 0)
    end(4)
}

function skeleton()
{
    print "HIERARCHY"
    joint("Hips", 0, 0.96, 0)
    leg("Left", 1)
    leg("Right", -1)
    joint("Spine", 0, 0.12, 0)
    joint("Chest", 0, 0.20, 0)
    arm("Left", 1)
    arm("Right", -1)
    joint("Neck", 0, 0.24, 0)
    joint("Head", 0, 0.14, 0)
    tip(0, 0.12, 0)
    end(5)
}

function max(a, b) { return a > b ? a : b }

# A smooth step from 0 at `from` to 1 at `to`.
function ease(t, from, to)
{
    t = (t - from) / (to - from)
    t = t < 0 ? 0 : t > 1 ? 1 : t
    return t * t * (3 - 2 * t)
}

# Rotations of the joints that move, in degrees, about Z, X and Y, at a share of the round.
function pose(share,    step, side, sign, phase, swing, lift, wave, k)
{
    delete turn
    step = TURN * STEPS * share
    for (k = 0; k < 2; ++k) {
        side = k == 0 ? "Left" : "Right"
        sign = k == 0 ? 1 : -1
        phase = step + k * TURN / 2
        swing = sin(phase)
        lift = max(cos(phase), 0)
        # The knee bends while the leg comes forward.
        turn[side "UpLeg"] = sprintf("%.3f %.3f %.3f", 0, -26 * swing - 14 * lift, 0)
        turn[side "Leg"] = sprintf("%.3f %.3f %.3f", 0, 8 + 52 * lift * lift, 0)
        turn[side "Foot"] = sprintf("%.3f %.3f %.3f", 0, 12 * swing - 14 * lift, 0)
        # Arms swing against the legs; the right one is raised and waves.
        wave = k == 0 ? 0 : ease(share, 0.30, 0.42) - ease(share, 0.66, 0.78)
        turn[side "Arm"] = sprintf("%.3f %.3f %.3f", sign * (8 + 142 * wave),
                                   (1 - wave) * 26 * swing, 0)
        turn[side "ForeArm"] = sprintf("%.3f %.3f %.3f", sign * wave * (18 + 30 * sin(TURN * 6 * share)),
                                       -(1 - wave) * (18 - 10 * swing), 0)
    }
    turn["Spine"] = sprintf("%.3f %.3f %.3f", -3 * sin(step), 4, 6 * sin(step))
    turn["Chest"] = sprintf("%.3f %.3f %.3f", 3 * sin(step), -2, 4 * sin(step))
    turn["Head"] = sprintf("%.3f %.3f %.3f", 0, 4 * sin(2 * step), 16 * sin(TURN * share))
    # On the circle: along the tangent, and lowest when both feet stand.
    printf "%.4f %.4f %.4f %.3f %.3f %.3f", RADIUS * sin(TURN * share), 0.955 + 0.025 * cos(2 * step),
           RADIUS * cos(TURN * share), 0, 0, 90 + 360 * share
    for (k = 2; k <= joints; ++k) {
        printf " %s", order[k] in turn ? turn[order[k]] : "0 0 0"
    }
    print ""
}

BEGIN {
    TURN = 6.283185307179586
    FRAMES = 400
    SECONDS = 4
    STEPS = 4      # of both feet, in a round
    RADIUS = 0.45  # metres
    skeleton()
    printf "MOTION\nFrames: %d\nFrame Time: %.6f\n", FRAMES, SECONDS / FRAMES
    for (i = 0; i < FRAMES; ++i) {
        pose(i / FRAMES)
    }
}
