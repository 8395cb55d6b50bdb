# SPDX-License-Identifier: MIT
# Compute the pixels that examples/camera.c prints from the positions that it prints, by trigonometry and
# without matrices: how far a buoy is ahead of the camera, to the right of it and above it. Print each line
# that differs by more than a tenth of a pixel, and the number of pixels that were computed.
function dot(a, b) { return a["x"] * b["x"] + a["y"] * b["y"] + a["z"] * b["z"] }
function cross(out, a, b)
{
    out["x"] = a["y"] * b["z"] - a["z"] * b["y"]
    out["y"] = a["z"] * b["x"] - a["x"] * b["z"]
    out["z"] = a["x"] * b["y"] - a["y"] * b["x"]
}
function scale(a, by) { a["x"] *= by; a["y"] *= by; a["z"] *= by }
function differs(a, b) { return a - b > 0.1 || b - a > 0.1 }
$1 == "camera" {
    at["x"] = $3; at["y"] = $4; at["z"] = $5
    ahead["x"] = $8 - $3; ahead["y"] = $9 - $4; ahead["z"] = $10 - $5
    scale(ahead, 1 / sqrt(dot(ahead, ahead)))
    sky["x"] = 0; sky["y"] = 1; sky["z"] = 0
    cross(right, ahead, sky)
    scale(right, 1 / sqrt(dot(right, right)))
    cross(up, right, ahead)
    next
}
$1 == "buoy" {
    to["x"] = $3 - at["x"]; to["y"] = $4 - at["y"]; to["z"] = $5 - at["z"]
    depth = dot(to, ahead)
    ++number
    if (depth <= 0) {
        if ($0 !~ /is behind the camera$/) print
        next
    }
    # Half of the picture's height is the tangent of 30 degrees at a distance of 1.
    unit = 360 * sqrt(3) / depth
    sub(/,$/, "", $9)
    if (differs($9, 640 + dot(to, right) * unit) || differs($10, 360 - dot(to, up) * unit)) print
    next
}
{ print }
END { print number + 0 " computed" }
