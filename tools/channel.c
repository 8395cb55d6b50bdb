// SPDX-License-Identifier: MIT
#include "tools/channel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool key_track_reserve(key_track *track, size_t count)
{
    track->times = calloc(count > 0 ? count : 1, sizeof *track->times);
    track->values = calloc(count > 0 ? count : 1, sizeof *track->values);
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

/// A place between two keys: how far from the first of them to the second.
typedef struct key_place {
    size_t first, second;
    double share;
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
    if (begin == 0 || begin == track->count) {
        const size_t nearest = begin == 0 ? 0 : begin - 1;
        return (key_place){nearest, nearest, 0};
    }

    const double gap = track->times[begin] - track->times[begin - 1];
    return (key_place){begin - 1, begin, (seconds - track->times[begin - 1]) / gap};
}

static void mix(double out[3], const key_track *track, double seconds)
{
    const key_place place = find_keys(track, seconds);
    const double *const a = track->values[place.first];
    const double *const b = track->values[place.second];

    for (int i = 0; i < 3; ++i) {
        out[i] = a[i] + (b[i] - a[i]) * place.share;
    }
}

static void turn(double out[4], const key_track *track, double seconds)
{
    const key_place place = find_keys(track, seconds);
    const double *const a = track->values[place.first];
    const double *const b = track->values[place.second];
    const double product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    const double angle = acos(fmin(fabs(product), 1));
    double share_a = 1 - place.share, share_b = place.share;

    // Where the arc is short its sine is lost, and straight mixing is as good.
    if (angle > 1e-6) {
        share_a = sin(share_a * angle) / sin(angle);
        share_b = sin(share_b * angle) / sin(angle);
    }
    share_b = product < 0 ? -share_b : share_b;
    for (int i = 0; i < 4; ++i) {
        out[i] = a[i] * share_a + b[i] * share_b;
    }
    quaternion_normalize(out);
}

static void set_scale(tool_placement *out, const double axes[3])
{
    const bool is_even = axes[0] == axes[1] && axes[1] == axes[2];

    out->scale = is_even ? axes[0] : 1;
    for (int i = 0; i < 3; ++i) {
        out->stretch[i] = is_even ? 1 : axes[i];
    }
}

tool_placement channel_sample(const tool_channel *channel, const tool_placement *rest,
                              double seconds)
{
    tool_placement out = *rest;

    if (channel->position.count > 0) {
        mix(out.position, &channel->position, seconds);
    }
    if (channel->rotation.count > 0) {
        turn(out.rotation, &channel->rotation, seconds);
    }
    if (channel->scale.count > 0) {
        double axes[3];
        mix(axes, &channel->scale, seconds);
        set_scale(&out, axes);
    }
    return out;
}
