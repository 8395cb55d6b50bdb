// SPDX-License-Identifier: MIT
#include "tools/channel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool key_track_reserve(key_track *track, size_t count, key_form form)
{
    const size_t values = (form == KEYS_CUBIC ? 3 : 1) * (count > 0 ? count : 1);

    track->form = form;
    track->times = calloc(count > 0 ? count : 1, sizeof *track->times);
    track->values = calloc(values, sizeof *track->values);
    track->count = track->times != NULL && track->values != NULL ? count : 0;
    return track->times != NULL && track->values != NULL;
}

static void release_track(key_track *track)
{
    free(track->times);
    free(track->values);
    *track = (key_track){0};
}

void channel_release(tool_channel *channel)
{
    release_track(&channel->position);
    release_track(&channel->rotation);
    release_track(&channel->scale);
}

// What can be played.

/// The value of a key, between its tangents where it has some.
static const double *key_value(const key_track *track, size_t key)
{
    return track->values[track->form == KEYS_CUBIC ? 3 * key + 1 : key];
}

static bool track_is_playable(const key_track *track, const char *part, const char *name,
                              tool_fault *fault)
{
    const size_t rows = track->form == KEYS_CUBIC ? 3 : 1;

    for (size_t i = 0; i < track->count; ++i) {
        double sum = fabs(track->times[i]);

        for (size_t j = 0; j < 4 * rows; ++j) {
            sum += fabs(track->values[rows * i + j / 4][j % 4]);
        }
        if (!(sum < 1e30)) {
            fault_say(fault, "node '%s': %s key %zu is %s", name, part, i + 1,
                      isfinite(sum) ? "too large" : "not finite");
            return false;
        }
        if (i > 0 && track->times[i] < track->times[i - 1]) {
            fault_say(fault, "node '%s': %s key %zu comes before the key in front of it", name,
                      part, i + 1);
            return false;
        }
    }
    return true;
}

static bool rotation_is_playable(const key_track *track, const char *name, tool_fault *fault)
{
    for (size_t i = 0; i < track->count; ++i) {
        const double *const q = key_value(track, i);
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);

        if (!(fabs(length - 1) <= CHANNEL_UNIT)) {
            fault_say(fault,
                      "node '%s': rotation key %zu is no rotation: its length is %.4g, not 1", name,
                      i + 1, length);
            return false;
        }
    }
    return true;
}

bool channel_is_playable(const tool_channel *channel, const char *name, tool_fault *fault)
{
    return track_is_playable(&channel->position, "position", name, fault) &&
           track_is_playable(&channel->rotation, "rotation", name, fault) &&
           track_is_playable(&channel->scale, "scale", name, fault) &&
           rotation_is_playable(&channel->rotation, name, fault);
}

// Sampling.

/// A place between two keys: how far from the first of them to the second.
typedef struct key_place {
    size_t first, second;
    double share, seconds; // between the two
} key_place;

static key_place find_keys(const key_track *track, double seconds)
{
    size_t begin = 0, end = track->count;

    // begin ends as the number of keys at or before the time.
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (track->times[middle] <= seconds) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    if (begin == 0 || begin == track->count || track->form == KEYS_STEP) {
        const size_t nearest = begin == 0 ? 0 : begin - 1;
        return (key_place){nearest, nearest, 0, 0};
    }

    const double gap = track->times[begin] - track->times[begin - 1];
    return (key_place){begin - 1, begin, (seconds - track->times[begin - 1]) / gap, gap};
}

/// Hermite's curve, as glTF has it: tangents are per second.
static void mix_cubic(double *out, size_t size, const key_track *track, const key_place *place)
{
    const double t = place->share, t2 = t * t, t3 = t2 * t;
    const double *const a = key_value(track, place->first);
    const double *const b = key_value(track, place->second);
    const double *const leave = track->values[3 * place->first + 2];
    const double *const arrive = track->values[3 * place->second];

    for (size_t i = 0; i < size; ++i) {
        out[i] = (2 * t3 - 3 * t2 + 1) * a[i] + place->seconds * (t3 - 2 * t2 + t) * leave[i] +
                 (3 * t2 - 2 * t3) * b[i] + place->seconds * (t3 - t2) * arrive[i];
    }
}

static void mix(double out[3], const key_track *track, double seconds)
{
    const key_place place = find_keys(track, seconds);
    const double *const a = key_value(track, place.first);
    const double *const b = key_value(track, place.second);

    if (track->form == KEYS_CUBIC) {
        mix_cubic(out, 3, track, &place);
        return;
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = a[i] + (b[i] - a[i]) * place.share;
    }
}

static void take_unit(double out[4], const double raw[4])
{
    memcpy(out, raw, 4 * sizeof *out);
    quaternion_normalize(out);
}

/// Follow the shorter arc between two rotations.
static void mix_arc(double out[4], const double from[4], const double to[4], double share)
{
    double a[4], b[4];

    take_unit(a, from);
    take_unit(b, to);
    const double product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    const bool is_longer = product < -CHANNEL_RIGHT_ANGLE;
    const double angle = acos(fmin(is_longer ? -product : product, 1));
    double share_a = 1 - share, share_b = share;

    // Where the arc is short its sine is lost, and straight mixing is as good.
    if (angle > 1e-6) {
        share_a = sin(share_a * angle) / sin(angle);
        share_b = sin(share_b * angle) / sin(angle);
    }
    share_b = is_longer ? -share_b : share_b;
    for (int i = 0; i < 4; ++i) {
        out[i] = a[i] * share_a + b[i] * share_b;
    }
}

static void turn(double out[4], const key_track *track, double seconds)
{
    const key_place place = find_keys(track, seconds);

    if (track->form == KEYS_CUBIC) {
        mix_cubic(out, 4, track, &place);
    } else {
        mix_arc(out, key_value(track, place.first), key_value(track, place.second), place.share);
    }
    quaternion_normalize(out);
}

tool_placement channel_sample(const tool_channel *channel, double seconds)
{
    double position[3], rotation[4], scale[3];

    mix(position, &channel->position, seconds);
    turn(rotation, &channel->rotation, seconds);
    mix(scale, &channel->scale, seconds);
    return placement_of_parts(position, rotation, scale);
}

tool_placement channels_sample(const tool_channel *channels, size_t count, double seconds)
{
    tool_affine product = affine_identity();
    tool_placement out = channel_sample(&channels[0], seconds);

    if (count == 1 && !channels[0].has_frame) {
        return out;
    }
    for (size_t i = 0; i < count; ++i) {
        const tool_placement place = channel_sample(&channels[i], seconds);
        const tool_affine matrix = affine_of_placement(&place);

        product = channels[i].has_frame ? affine_multiply(&product, &channels[i].before) : product;
        product = affine_multiply(&product, &matrix);
        product = channels[i].has_frame ? affine_multiply(&product, &channels[i].after) : product;
    }
    (void)placement_of_affine(&out, &product);
    return out;
}

size_t channels_of_node(const tool_channel *channels, size_t count)
{
    size_t same = 1;

    while (same < count && channels[same].node == channels[0].node) {
        ++same;
    }
    return same;
}
