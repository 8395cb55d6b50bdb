// SPDX-License-Identifier: MIT
// Draws the frames of the load `mixed`. No prefab appears below the last three leaves of a tree:
// one has the inherit flag, one is written, one is attached. So the work of an extra itself is
// small and does not change from frame to frame.
#include "bench/loads/mixing.h"

#include "bench/blocks.h"
#include "bench/contest.h"
#include "bench/draw.h"

enum { place_seed = 118, local_seed = 119, write_seed = 120, prefab_seed = 121 };

/// Numbers of nodes in a tree. Prefabs appear below nodes less than `parent_ranks`.
enum {
    stretched_rank = 3,
    parent_ranks = 9,
    flagged_rank = 9,
    written_rank = 10,
    moving_rank = 11
};

_Static_assert((written_rank - 1) / mixing_fan == stretched_rank,
               "the written leaf is a child of the stretched node");

/// Where prefabs appear.
struct place {
    uint32_t tree;
    uint32_t parent; ///< Number in the tree.
    uint32_t before; ///< Number of a child of the parent; with EXTRA_BEFORE only.
};

struct mixing mixing_create(uint32_t trees, uint32_t count, unsigned drawn, unsigned extras)
{
    struct mixing mixing = {
        .drawn = drawn,
        .extras = extras,
        .trees = trees,
        .count = count,
        .spawns = block_new(count, sizeof(struct scheme_spawn)),
        .befores = block_new(count, sizeof(scheme_handle)),
        .touched = block_new(trees, sizeof(uint32_t)),
        .is_touched = block_new(trees, sizeof(bool)),
        .moves = block_new(trees, sizeof(struct scheme_move)),
        .writes = block_new(trees, sizeof(struct scheme_write)),
    };

    return mixing;
}

void mixing_destroy(struct mixing *mixing)
{
    free(mixing->spawns);
    free(mixing->befores);
    free(mixing->touched);
    free(mixing->is_touched);
    free(mixing->moves);
    free(mixing->writes);
}

bool mixing_is_for(const struct scheme *scheme, unsigned extras)
{
    return scheme->mix != NULL && (extras & ~scheme->extras) == 0;
}

static void except_ranks(const struct mixing *mixing, const struct scheme *scheme,
                         struct scheme_world *world, enum scheme_exception kind, uint32_t rank)
{
    scheme_handle *const nodes = block_new(mixing->trees, sizeof *nodes);

    for (uint32_t tree = 0; tree < mixing->trees; ++tree) {
        nodes[tree] = scheme->handle_of(world, tree * mixing_tree_size + rank);
    }
    scheme->except(world, kind, nodes, mixing->trees);
    free(nodes);
}

void mixing_set_up(const struct mixing *mixing, const struct scheme *scheme,
                   struct scheme_world *world)
{
    struct pose locals[PREFAB_SIZE];

    contest_draw_prefab(locals, prefab_seed);
    scheme->make_prefab(world, locals);
    if (scheme->extend_prefab != NULL) {
        scheme->extend_prefab(world, mixing->extras);
    }
    if ((mixing->extras & EXTRA_STRETCH) != 0) {
        except_ranks(mixing, scheme, world, EXCEPTION_STRETCH, stretched_rank);
    }
    if ((mixing->extras & EXTRA_FLAG) != 0) {
        except_ranks(mixing, scheme, world, EXCEPTION_FLAG, flagged_rank);
    }
}

static struct place draw_place(const struct mixing *mixing, struct draw *draw)
{
    struct place place = {.tree = draw_below(draw, mixing->trees)};

    if ((mixing->drawn & EXTRA_BEFORE) != 0) {
        place.before = 1 + draw_below(draw, parent_ranks - 1);
        place.parent = (place.before - 1) / mixing_fan;
    } else {
        place.parent = draw_below(draw, parent_ranks);
    }
    return place;
}

// Return how many prefabs appear at each drawn place.
static uint32_t count_sharing(unsigned extras)
{
    return (extras & EXTRA_COUNT) != 0 ? 2 : 1;
}

static void touch_frame(struct mixing *mixing, unsigned frame)
{
    struct draw draw = draw_begin(place_seed, frame);

    for (uint32_t i = 0; i < mixing->count / count_sharing(mixing->drawn); ++i) {
        const uint32_t tree = draw_place(mixing, &draw).tree;

        if (!mixing->is_touched[tree]) {
            mixing->is_touched[tree] = true;
            mixing->touched[mixing->touched_count++] = tree;
        }
    }
}

// The doomed prefabs of a frame are where prefabs appeared mixing_life frames before.
static void draw_touched(struct mixing *mixing, unsigned frame)
{
    mixing->touched_count = 0;
    memset(mixing->is_touched, 0, mixing->trees * sizeof *mixing->is_touched);
    touch_frame(mixing, frame);
    if (frame >= mixing_life) {
        touch_frame(mixing, frame - mixing_life);
    }
}

static void draw_spawns(struct mixing *mixing, const struct scheme *scheme,
                        struct scheme_world *world, unsigned frame)
{
    const uint32_t sharing = count_sharing(mixing->drawn);
    const uint32_t each = sharing / count_sharing(mixing->extras);
    struct draw places = draw_begin(place_seed, frame);
    struct draw locals = draw_begin(local_seed, frame);

    mixing->spawn_count = 0;
    for (uint32_t i = 0; i < mixing->count / sharing; ++i) {
        const struct place place = draw_place(mixing, &places);
        const uint32_t root = place.tree * mixing_tree_size;
        const struct scheme_spawn spawn = {scheme->handle_of(world, root + place.parent),
                                           draw_pose(&locals, MEMBER_SIDE)};

        for (uint32_t copy = 0; copy < each; ++copy) {
            mixing->befores[mixing->spawn_count] = scheme->handle_of(world, root + place.before);
            mixing->spawns[mixing->spawn_count++] = spawn;
        }
    }
}

// The parent of the attached leaf differs from frame to frame.
static void draw_small(struct mixing *mixing, const struct scheme *scheme,
                       struct scheme_world *world, unsigned frame)
{
    struct draw draw = draw_begin(write_seed, frame);

    for (size_t i = 0; i < mixing->touched_count; ++i) {
        const uint32_t tree = mixing->touched[i];
        const uint32_t root = tree * mixing_tree_size;
        const uint32_t parent = (frame + tree) % parent_ranks;

        mixing->moves[i].leaf = scheme->handle_of(world, root + moving_rank);
        mixing->moves[i].parent = scheme->handle_of(world, root + parent);
        mixing->writes[i].node = scheme->handle_of(world, root + written_rank);
        mixing->writes[i].local = draw_pose(&draw, MEMBER_SIDE);
    }
}

void mixing_draw(struct mixing *mixing, const struct scheme *scheme, struct scheme_world *world,
                 unsigned frame)
{
    draw_touched(mixing, frame);
    draw_spawns(mixing, scheme, world, frame);
    draw_small(mixing, scheme, world, frame);
}

void mixing_play(const struct mixing *mixing, const struct scheme *scheme,
                 struct scheme_world *world, const scheme_handle *doomed, scheme_handle *just_made)
{
    const unsigned extras = mixing->extras;
    const struct scheme_mixed_frame frame = {
        .spawning = {.spawns = mixing->spawns,
                     .spawn_count = mixing->spawn_count,
                     .doomed = doomed,
                     .doomed_count = doomed != NULL ? mixing->count : 0,
                     .made = just_made},
        .copies = count_sharing(extras),
        .extras = extras,
        .befores = (extras & EXTRA_BEFORE) != 0 ? mixing->befores : NULL,
        .moves = mixing->moves,
        .move_count = (extras & EXTRA_ATTACH) != 0 ? mixing->touched_count : 0,
        .writes = mixing->writes,
        .write_count = (extras & EXTRA_WRITE) != 0 ? mixing->touched_count : 0,
    };

    scheme->mix(world, &frame);
}
