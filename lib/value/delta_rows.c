// SPDX-License-Identifier: MIT
// Differences of words, or of places on a grid. The component of a rotation that was the largest follows from
// the others, up to rounding.
#include "lib/value/delta_rows.h"

#include "lib/math/word_rest.h"

#include <float.h>
#include <math.h>

// --- Grids ---

static float float_of(uint32_t bits)
{
    float out;

    memcpy(&out, &bits, sizeof out);
    return out;
}

static uint32_t bits_of_float(float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return bits;
}

bool espl__grid_is_sound(const espl__pose_grid *grid)
{
    const float step = float_of(grid->step);

    return isfinite(step) && (grid->step == 0 || step > 0) && grid->bits != 1 &&
           grid->bits <= ESPL__ROTATION_BITS;
}

// Tell whether a word of a pose is on the grid, but for the largest component of a rotation.
static bool is_gridded(const espl__pose_grid *grid, unsigned word)
{
    return word < 4 ? grid->bits != 0 : word < 7 && grid->step != 0;
}

// The distance of two places of the grid.
static double spacing(const espl__pose_grid *grid, unsigned word)
{
    return word < 4 ? 1 / (double)(1u << (grid->bits - 1)) : (double)float_of(grid->step);
}

// Find the nearest place. @return false: it is too far away, or the number is not finite.
static bool find_place(const espl__pose_grid *grid, unsigned word, uint32_t bits, int32_t *place)
{
    const double at = (double)float_of(bits) / spacing(grid, word);

    // Written so that it is false for NaN.
    if (!(at >= -1073741824.0 && at <= 1073741824.0)) {
        return false;
    }
    *place = (int32_t)floor(at + 0.5);
    return true;
}

static uint32_t bits_at(const espl__pose_grid *grid, unsigned word, int32_t place)
{
    return bits_of_float((float)((double)place * spacing(grid, word)));
}

// Tell whether a place is at a float. The nearest place to a float may be beyond the largest one.
static bool is_float_at(const espl__pose_grid *grid, unsigned word, int32_t place)
{
    return fabs((double)place * spacing(grid, word)) <= (double)FLT_MAX;
}

void espl__grid_move(const espl__pose_grid *grid, uint32_t pose[ESPL__POSE_WORDS])
{
    const unsigned largest = espl__main_component(pose);
    int32_t place;

    for (unsigned i = 0; i < ESPL__POSE_WORDS; ++i) {
        if (i != largest && is_gridded(grid, i) && find_place(grid, i, pose[i], &place) &&
            is_float_at(grid, i, place)) {
            pose[i] = bits_at(grid, i, place);
        }
    }
    if (grid->bits != 0) {
        pose[largest] = espl__missing_component(pose, largest, pose[largest]);
    }
}

// Compute the difference of two words as places. @return false: one of them is not on the grid.
static bool place_difference(const espl__pose_grid *grid, unsigned word, uint32_t before,
                             uint32_t after, uint32_t *out)
{
    int32_t from, to;

    if (!find_place(grid, word, before, &from) || !find_place(grid, word, after, &to) ||
        bits_at(grid, word, to) != after) {
        return false;
    }
    *out = espl__fold((uint32_t)to - (uint32_t)from);
    return true;
}

// --- Differences ---

// Compute all differences, on the grid or not. @return false: the pose is not on the grid.
static bool find_rest(const espl__pose_grid *grid, const uint32_t before[ESPL__POSE_WORDS],
                      const uint32_t after[ESPL__POSE_WORDS], espl__pose_rest *out)
{
    const unsigned largest = espl__main_component(before);
    bool is_on_grid = true;

    out->mask = 0;
    for (unsigned i = 0; i < ESPL__POSE_WORDS; ++i) {
        const uint32_t from =
            i == largest ? espl__predict_component(before, after, largest) : before[i];

        if (from == after[i]) {
            out->words[i] = 0;
        } else if (i != largest && !out->is_exact && is_gridded(grid, i)) {
            // A difference of 0 would say that the word stays.
            is_on_grid = is_on_grid &&
                         place_difference(grid, i, before[i], after[i], &out->words[i]) &&
                         out->words[i] != 0;
        } else {
            out->words[i] = espl__word_rest(after[i], from);
        }
        out->mask = (uint8_t)(out->mask | (from != after[i] ? 1u << i : 0));
    }
    return is_on_grid;
}

void espl__pose_rest_of(const espl__pose_grid *grid, const uint32_t before[ESPL__POSE_WORDS],
                        const uint32_t after[ESPL__POSE_WORDS], espl__pose_rest *out)
{
    out->is_exact = false;
    if (!find_rest(grid, before, after, out)) {
        out->is_exact = true;
        (void)find_rest(grid, before, after, out);
    }
}

bool espl__pose_with_rest(const espl__pose_grid *grid, const uint32_t before[ESPL__POSE_WORDS],
                          const espl__pose_rest *rest, uint32_t after[ESPL__POSE_WORDS])
{
    const unsigned largest = espl__main_component(before);
    int32_t place = 0;

    for (unsigned i = 0; i < ESPL__POSE_WORDS; ++i) {
        if (i == largest) {
            continue;
        }
        if (rest->words[i] == 0 || rest->is_exact || !is_gridded(grid, i)) {
            after[i] = espl__word_with_rest(rest->words[i], before[i]);
        } else if (find_place(grid, i, before[i], &place)) {
            after[i] = bits_at(grid, i, (int32_t)((uint32_t)place + espl__unfold(rest->words[i])));
        } else {
            return false;
        }
    }
    after[largest] =
        espl__word_with_rest(rest->words[largest], espl__predict_component(before, after, largest));
    return true;
}
