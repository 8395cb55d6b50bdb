// SPDX-License-Identifier: MIT
// Plays one frame of a path inside counts_play(), for valgrind to count its instructions: see
// counts.sh. Frames before it bring the path where it is in the long run. The work is that of the
// course's loads, with the same seeds in `mixed` and others elsewhere.
#include "bench/blocks.h"
#include "bench/contest.h"
#include "bench/draw.h"
#include "bench/loads/links.h"
#include "bench/loads/mixing.h"

#include <inttypes.h>

enum { counts_seed = 116, prefab_seed = 117, frames_of_life = 20 };

struct path;

/// A path with a scheme's world, and the input of the frame at hand: each path uses its own.
struct counting {
    const struct path *path;
    const struct scheme *scheme;
    struct scheme_world *world;
    struct forest forest;
    struct links links;
    struct mixing mixing;        ///< In a path of the load `mixed`.
    struct scheme_write *writes; ///< [things]
    struct scheme_probe *probes; ///< [things]
    struct pose *readings;       ///< [things]
    struct scheme_spawn *spawns; ///< [things]
    struct scheme_move *moves;   ///< [things]
    scheme_handle *handles;      ///< [things] to read; of the prefabs made in the frame at hand.
    scheme_handle *made;         ///< [frames_of_life][things]
    unsigned frame;
    double sum[3];
};

/// What is counted.
struct path {
    const char *name;
    const char *thing; ///< That the instructions are divided by.
    struct forest_shape shape;
    uint32_t amount; ///< Things; 0: the nodes.
    unsigned warm;   ///< Frames before the one that is counted.
    bool (*is_for)(const struct scheme *scheme);
    void (*prepare)(struct counting *all, struct draw *draw);
    void (*play)(struct counting *all);
    unsigned extras; ///< Of a path of the load `mixed`.
};

static uint32_t count_things(const struct path *path)
{
    return path->amount > 0 ? path->amount : path->shape.trees * path->shape.tree_size;
}

static scheme_handle handle_of(const struct counting *all, uint32_t node)
{
    return all->scheme->handle_of(all->world, node);
}

static void draw_write(struct counting *all, struct draw *draw, uint32_t i, uint32_t node)
{
    all->writes[i].node = handle_of(all, node);
    all->writes[i].local = draw_pose(draw, forest_side(&all->forest, node));
}

static bool has_write(const struct scheme *scheme)
{
    return scheme->write != NULL;
}

static void prepare_roots(struct counting *all, struct draw *draw)
{
    for (uint32_t tree = 0; tree < all->forest.shape.trees; ++tree) {
        draw_write(all, draw, tree, forest_root(&all->forest, tree));
    }
}

static void play_roots(struct counting *all)
{
    all->scheme->write(all->world, all->writes, all->forest.shape.trees);
}

// Nodes behind the last one's parent are leaves.
static void prepare_leaves(struct counting *all, struct draw *draw)
{
    const struct forest_shape shape = all->forest.shape;
    const uint32_t inner = all->forest.parents[shape.tree_size - 1] + 1;

    for (uint32_t i = 0; i < all->path->amount; ++i) {
        const uint32_t root = forest_root(&all->forest, draw_below(draw, shape.trees));

        draw_write(all, draw, i, root + inner + draw_below(draw, shape.tree_size - inner));
    }
}

static void prepare_any(struct counting *all, struct draw *draw)
{
    for (uint32_t i = 0; i < all->path->amount; ++i) {
        draw_write(all, draw, i, draw_below(draw, (uint32_t)all->forest.count));
    }
}

static void play_writes(struct counting *all)
{
    all->scheme->write_each(all->world, all->writes, all->path->amount);
}

static bool has_batch(const struct scheme *scheme)
{
    return scheme->write_batch != NULL;
}

static void prepare_batch(struct counting *all, struct draw *draw)
{
    for (uint32_t node = 0; node < all->forest.count; ++node) {
        draw_write(all, draw, node, node);
    }
}

static void play_batch(struct counting *all)
{
    all->scheme->write_batch(all->world, all->writes, all->forest.count);
}

// A deferred scheme would sweep everything for each pair.
static bool has_probe(const struct scheme *scheme)
{
    return scheme->probe != NULL && !scheme->is_deferred;
}

static void prepare_probes(struct counting *all, struct draw *draw)
{
    const struct forest_shape shape = all->forest.shape;

    for (uint32_t i = 0; i < all->path->amount; ++i) {
        const uint32_t root = forest_root(&all->forest, draw_below(draw, shape.trees));
        const uint32_t rank = draw_below(draw, shape.tree_size);
        const uint32_t other = (rank + 1 + draw_below(draw, shape.tree_size - 1)) % shape.tree_size;

        all->probes[i].written = handle_of(all, root + rank);
        all->probes[i].read = handle_of(all, root + other);
        all->probes[i].local = draw_pose(draw, forest_side(&all->forest, root + rank));
    }
}

static void play_probes(struct counting *all)
{
    all->scheme->probe(all->world, all->probes, all->path->amount, all->readings);
}

static bool has_reads(const struct scheme *scheme)
{
    return scheme->read_positions != NULL && scheme->sum_positions != NULL;
}

static void prepare_handles(struct counting *all, struct draw *draw)
{
    for (uint32_t i = 0; i < all->path->amount; ++i) {
        all->handles[i] = handle_of(all, draw_below(draw, (uint32_t)all->forest.count));
    }
}

static void play_handles(struct counting *all)
{
    all->scheme->read_positions(all->world, all->handles, all->path->amount, all->sum);
}

static void prepare_query(struct counting *all, struct draw *draw)
{
    (void)all;
    (void)draw;
}

static void play_query(struct counting *all)
{
    all->scheme->sum_positions(all->world, all->sum);
}

static bool has_spawn(const struct scheme *scheme)
{
    return scheme->spawn != NULL;
}

// Those made in the last frame find their place among the living before the next ones are drawn.
static void settle_made(struct counting *all)
{
    const uint32_t count = all->path->amount;

    if (all->frame > 0) {
        memcpy(all->made + (size_t)((all->frame - 1) % frames_of_life) * count, all->handles,
               count * sizeof *all->handles);
    }
}

static void prepare_spawns(struct counting *all, struct draw *draw)
{
    const uint32_t count = all->path->amount;

    settle_made(all);
    for (uint32_t i = 0; i < count; ++i) {
        all->spawns[i].parent = handle_of(all, draw_below(draw, (uint32_t)all->forest.count));
        all->spawns[i].local = draw_pose(draw, MEMBER_SIDE);
    }
}

static const scheme_handle *doomed_of(const struct counting *all)
{
    return all->made + (size_t)(all->frame % frames_of_life) * all->path->amount;
}

static struct scheme_spawn_frame spawn_frame(const struct counting *all)
{
    const size_t count = all->path->amount;

    return (struct scheme_spawn_frame){
        .spawns = all->spawns,
        .spawn_count = count,
        .doomed = doomed_of(all),
        .doomed_count = all->frame < frames_of_life ? 0 : count,
        .made = all->handles,
    };
}

static void play_spawns(struct counting *all)
{
    const struct scheme_spawn_frame frame = spawn_frame(all);

    all->scheme->spawn(all->world, &frame);
}

static bool has_each(const struct scheme *scheme)
{
    return scheme->spawn_each != NULL;
}

static void play_each(struct counting *all)
{
    const struct scheme_spawn_frame frame = spawn_frame(all);

    all->scheme->spawn_each(all->world, &frame);
}

static bool has_mix(const struct scheme *scheme)
{
    return scheme->mix != NULL;
}

static void prepare_mixed(struct counting *all, struct draw *draw)
{
    (void)draw;
    settle_made(all);
    mixing_draw(&all->mixing, all->scheme, all->world, all->frame);
}

static void play_mixed(struct counting *all)
{
    _Static_assert((int)frames_of_life == (int)mixing_life, "the same prefabs die");
    mixing_play(&all->mixing, all->scheme, all->world,
                all->frame < frames_of_life ? NULL : doomed_of(all), all->handles);
}

static bool has_moves(const struct scheme *scheme)
{
    return scheme->reparent != NULL;
}

static void prepare_moves(struct counting *all, struct draw *draw)
{
    for (uint32_t i = 0; i < all->path->amount; ++i) {
        const struct move move = links_draw_move(&all->links, draw);

        all->moves[i].leaf = handle_of(all, move.leaf);
        all->moves[i].parent = handle_of(all, move.parent);
    }
}

static void play_moves(struct counting *all)
{
    all->scheme->reparent(all->world, all->moves, all->path->amount);
}

// A path of the load `mixed` in trees of 12.
#define MIXED(name, extras)                                                               \
    {                                                                                     \
        "mixed-" name, "prefab", {1000, mixing_tree_size, mixing_fan}, 1000, 24, has_mix, \
            prepare_mixed, play_mixed, extras                                             \
    }

static const struct path paths[] = {
    {"root-1x10000", "node", {1, 10000, 10}, 0, 2, has_write, prepare_roots, play_roots, 0},
    {"root-500x20", "node", {500, 20, 3}, 0, 2, has_write, prepare_roots, play_roots, 0},
    {"leaf-500x20", "write", {500, 20, 3}, 1000, 2, has_write, prepare_leaves, play_writes, 0},
    {"sparse-500x20", "write", {500, 20, 3}, 100, 2, has_write, prepare_any, play_writes, 0},
    {"midframe-500x20", "pair", {500, 20, 3}, 1000, 2, has_probe, prepare_probes, play_probes, 0},
    {"every-500x20", "node", {500, 20, 3}, 0, 2, has_batch, prepare_batch, play_batch, 0},
    {"every-10x1000", "node", {10, 1000, 10}, 0, 2, has_batch, prepare_batch, play_batch, 0},
    {"handle-500x20", "read", {500, 20, 3}, 10000, 1, has_reads, prepare_handles, play_handles, 0},
    {"query-500x20", "row", {500, 20, 3}, 0, 1, has_reads, prepare_query, play_query, 0},
    {"spawn-2000x12", "prefab", {2000, 12, 3}, 2000, 24, has_spawn, prepare_spawns, play_spawns, 0},
    {"spawn-atonce", "prefab", {1000, 12, 3}, 1000, 24, has_each, prepare_spawns, play_each, 0},
    {"reparent-1000x100", "move", {1000, 100, 4}, 1000, 2, has_moves, prepare_moves, play_moves, 0},
    MIXED("plain", 0),
    MIXED("values", EXTRA_VALUES),
    MIXED("new-values", EXTRA_NEW_VALUES),
    MIXED("before", EXTRA_BEFORE),
    MIXED("count2", EXTRA_COUNT),
    MIXED("references", EXTRA_REFERENCES),
    {"mixed-one-tree", "prefab", {1, 12000, 3}, 1000, 24, has_mix, prepare_mixed, play_mixed, 0},
    MIXED("attach", EXTRA_ATTACH),
    MIXED("write", EXTRA_WRITE),
    MIXED("prefab-stretch", EXTRA_PREFAB_STRETCH),
    MIXED("stretch", EXTRA_STRETCH),
    MIXED("flags", EXTRA_FLAG),
    MIXED("all", MIXING_ALL_EXTRAS),
};

#undef MIXED

static bool is_path_for(const struct path *path, const struct scheme *scheme)
{
    return path->is_for(scheme) && (path->extras & ~scheme->extras) == 0;
}

static const struct scheme *const schemes[] = {&scheme_flat, &scheme_linked, &scheme_espalier};

static const struct path *path_named(const char *name)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        if (strcmp(paths[i].name, name) == 0) {
            return &paths[i];
        }
    }
    return NULL;
}

static const struct scheme *scheme_named(const char *name)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
        if (strcmp(schemes[i]->name, name) == 0) {
            return schemes[i];
        }
    }
    return NULL;
}

static struct counting counting_create(const struct path *path, const struct scheme *scheme)
{
    const size_t things = count_things(path);
    struct counting all = {
        .path = path,
        .scheme = scheme,
        .forest = forest_create(path->shape),
        .writes = block_new(things, sizeof(struct scheme_write)),
        .probes = block_new(things, sizeof(struct scheme_probe)),
        .readings = block_new(things, sizeof(struct pose)),
        .spawns = block_new(things, sizeof(struct scheme_spawn)),
        .moves = block_new(things, sizeof(struct scheme_move)),
        .handles = block_new(things, sizeof(scheme_handle)),
        .made = block_new(frames_of_life * things, sizeof(scheme_handle)),
    };

    all.links = links_create(&all.forest);
    all.world = scheme->create(&all.forest, 1);
    if (path->play == play_mixed) {
        const uint32_t trees = path->shape.trees * path->shape.tree_size / mixing_tree_size;

        all.mixing = mixing_create(trees, path->amount, path->extras, path->extras);
        mixing_set_up(&all.mixing, scheme, all.world);
    } else if (path->is_for == has_spawn || path->is_for == has_each) {
        struct pose locals[PREFAB_SIZE];

        contest_draw_prefab(locals, prefab_seed);
        scheme->make_prefab(all.world, locals);
    }
    return all;
}

static void counting_destroy(struct counting *all)
{
    all->scheme->destroy(all->world);
    forest_destroy(&all->forest);
    links_destroy(&all->links);
    mixing_destroy(&all->mixing);
    free(all->writes);
    free(all->probes);
    free(all->readings);
    free(all->spawns);
    free(all->moves);
    free(all->handles);
    free(all->made);
}

void counts_play(struct counting *all);

/// Play a frame. Whoever counts finds the work by this name.
void counts_play(struct counting *all)
{
    all->path->play(all);
}

// Called through a pointer that may change at any time, so that it is neither inlined nor cloned.
static void (*volatile const play_counted)(struct counting *) = counts_play;

static void run(struct counting *all)
{
    for (; all->frame <= all->path->warm; ++all->frame) {
        struct draw draw = draw_begin(counts_seed, all->frame);

        all->path->prepare(all, &draw);
        if (all->frame < all->path->warm) {
            all->path->play(all);
        } else {
            play_counted(all);
        }
    }
}

static int list(const struct scheme *scheme)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        if (is_path_for(&paths[i], scheme)) {
            printf("%s %s %" PRIu32 "\n", paths[i].name, paths[i].thing, count_things(&paths[i]));
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const bool has_scheme = argc > 1 && strncmp(argv[1], "--scheme=", 9) == 0;
    const struct scheme *const scheme = has_scheme ? scheme_named(argv[1] + 9) : NULL;
    const struct path *const path = argc > 2 ? path_named(argv[2]) : NULL;

    if (scheme == NULL || argc > 3 || (argc == 3 && (path == NULL || !is_path_for(path, scheme)))) {
        fputs("Usage: counts --scheme=NAME [PATH]\n"
              "Play a few frames of a path; without one, list those of a scheme, the things their\n"
              "instructions are divided by, and how many of these there are. See counts.sh.\n",
              stderr);
        return 2;
    }
    if (path == NULL) {
        return list(scheme);
    }

    struct counting all = counting_create(path, scheme);
    run(&all);
    counting_destroy(&all);
    return 0;
}
