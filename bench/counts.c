// SPDX-License-Identifier: MIT
// Plays one frame of a path, or several, inside counts_play(), for valgrind to count instructions: see
// counts.sh. Frames before them bring the path where it is in the long run. The work is that of the
// course's loads, with the same seeds in `mixed` and others elsewhere.
#include "bench/blocks.h"
#include "bench/contest.h"
#include "bench/draw.h"
#include "bench/loads/links.h"
#include "bench/loads/mixing.h"

#include <inttypes.h>

enum { counts_seed = 116, prefab_seed = 117, copies_seed = 118, frames_of_life = 20 };

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
    enum scheme_tracking tracking;
    unsigned frame;
    double sum[3];
};

/// Work of a kind, and who can do it.
struct work {
    const char *thing; ///< That the instructions are divided by.
    bool (*is_for)(const struct scheme *scheme);
    void (*prepare)(struct counting *all, struct draw *draw);
    void (*play)(struct counting *all);
};

/// What is counted.
struct path {
    const char *name;
    const struct work *work;
    struct forest_shape shape;
    uint32_t amount;  ///< Things of a frame; 0: the nodes.
    unsigned warm;    ///< Frames before the first that is counted.
    unsigned counted; ///< Frames that are counted.
    bool is_cloned;   ///< The trees are copies of one tree, otherwise they are built node by node.
    unsigned extras;  ///< Of a path of the load `mixed`.
};

/// Things of a frame.
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
static uint32_t draw_leaf(const struct counting *all, struct draw *draw, uint32_t tree)
{
    const uint32_t size = all->forest.shape.tree_size;
    const uint32_t inner = all->forest.parents[size - 1] + 1;

    return forest_root(&all->forest, tree) + inner + draw_below(draw, size - inner);
}

static void prepare_leaves(struct counting *all, struct draw *draw)
{
    for (uint32_t i = 0; i < all->path->amount; ++i) {
        const uint32_t tree = draw_below(draw, all->forest.shape.trees);

        draw_write(all, draw, i, draw_leaf(all, draw, tree));
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

static bool has_list(const struct scheme *scheme)
{
    return scheme->write_listed != NULL;
}

static void play_list(struct counting *all)
{
    all->scheme->write_listed(all->world, all->writes, all->forest.count);
}

static bool has_recording(const struct scheme *scheme)
{
    return scheme->write_played != NULL;
}

static void play_recorded(struct counting *all)
{
    all->scheme->write_played(all->world, all->writes, all->forest.count);
}

static bool has_write_each(const struct scheme *scheme)
{
    return scheme->write_each != NULL;
}

static void play_roots_each(struct counting *all)
{
    all->scheme->write_each(all->world, all->writes, all->forest.shape.trees);
}

static void play_every_each(struct counting *all)
{
    all->scheme->write_each(all->world, all->writes, all->forest.count);
}

static void prepare_every(struct counting *all, struct draw *draw)
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

static void prepare_nothing(struct counting *all, struct draw *draw)
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

static bool has_moves_each(const struct scheme *scheme)
{
    return scheme->reparent_each != NULL;
}

static void play_moves_each(struct counting *all)
{
    all->scheme->reparent_each(all->world, all->moves, all->path->amount);
}

static bool has_moves_played(const struct scheme *scheme)
{
    return scheme->reparent_played != NULL;
}

static void play_moves_alone(struct counting *all)
{
    all->scheme->reparent_played(all->world, all->moves, all->path->amount);
}

// Each tree of the first half gets one leaf of a tree of the second half, so that no tree has lost a
// node before it gets one, and none gets two.
static void prepare_first_moves(struct counting *all, struct draw *draw)
{
    const struct forest_shape shape = all->forest.shape;
    const uint32_t first = all->frame * all->path->amount;

    for (uint32_t i = 0; i < all->path->amount; ++i) {
        const uint32_t leaf = draw_leaf(all, draw, shape.trees / 2 + first + i);
        const uint32_t parent =
            forest_root(&all->forest, first + i) + draw_below(draw, shape.tree_size);

        all->moves[i].leaf = handle_of(all, leaf);
        all->moves[i].parent = handle_of(all, parent);
    }
}

static bool has_regraft(const struct scheme *scheme)
{
    return scheme->regraft != NULL && !scheme->is_deferred;
}

static bool has_regraft_played(const struct scheme *scheme)
{
    return scheme->regraft_played != NULL;
}

// Parents have children from the first. A move is two edits.
static void prepare_edits(struct counting *all, struct draw *draw)
{
    const uint32_t size = all->forest.shape.tree_size;
    const uint32_t inner = all->forest.parents[size - 1] + 1;

    for (uint32_t i = 0; i < all->path->amount / 2; ++i) {
        all->moves[i].leaf = handle_of(all, draw_leaf(all, draw, 0));
        all->moves[i].parent = handle_of(all, draw_below(draw, inner));
    }
}

static void play_edits(struct counting *all)
{
    all->scheme->regraft(all->world, all->moves, all->path->amount / 2);
}

static void play_edits_alone(struct counting *all)
{
    all->scheme->regraft_played(all->world, all->moves, all->path->amount / 2);
}

static bool has_value(const struct scheme *scheme)
{
    return scheme->value != NULL;
}

static void play_save(struct counting *all)
{
    all->scheme->value(all->world, VALUE_SAVE);
}

static void play_load(struct counting *all)
{
    all->scheme->value(all->world, VALUE_LOAD);
}

static void play_checked(struct counting *all)
{
    all->scheme->value(all->world, VALUE_CHECKED);
}

static void play_write(struct counting *all)
{
    all->scheme->value(all->world, VALUE_WRITE);
}

static void play_read(struct counting *all)
{
    all->scheme->value(all->world, VALUE_READ);
}

static bool has_history(const struct scheme *scheme)
{
    return scheme->rewind != NULL;
}

// Some roots at equal distances, and others in the next frame.
static void prepare_some_roots(struct counting *all, struct draw *draw)
{
    const uint32_t trees = all->forest.shape.trees, amount = all->path->amount;
    const uint32_t first = draw_below(draw, trees);

    for (uint32_t i = 0; i < amount; ++i) {
        draw_write(all, draw, i, forest_root(&all->forest, (first + i * (trees / amount)) % trees));
    }
}

static void play_some_roots(struct counting *all)
{
    all->scheme->write(all->world, all->writes, all->path->amount);
}

static void prepare_mark(struct counting *all, struct draw *draw)
{
    prepare_some_roots(all, draw);
    play_some_roots(all);
}

static void play_mark(struct counting *all)
{
    all->scheme->advance(all->world);
}

enum { moments_back = 8 };

static void prepare_rewind(struct counting *all, struct draw *draw)
{
    for (int moment = 0; moment < moments_back; ++moment) {
        prepare_mark(all, draw);
        all->scheme->advance(all->world);
    }
}

static void play_rewind(struct counting *all)
{
    all->scheme->rewind(all->world, moments_back);
}

static const struct work some_roots = {"root", has_write, prepare_some_roots, play_some_roots};
static const struct work mark = {"root", has_history, prepare_mark, play_mark};
static const struct work mark_hashed = {"root", has_history, prepare_mark, play_mark};
static const struct work rewind_moments = {"root", has_history, prepare_rewind, play_rewind};
static const struct work image_save = {"node", has_value, prepare_nothing, play_save};
static const struct work image_load = {"node", has_value, prepare_nothing, play_load};
static const struct work image_checked = {"node", has_value, prepare_nothing, play_checked};
static const struct work archive_write = {"node", has_value, prepare_nothing, play_write};
static const struct work archive_read = {"node", has_value, prepare_nothing, play_read};
static const struct work roots = {"node", has_write, prepare_roots, play_roots};
static const struct work roots_single = {"node", has_write_each, prepare_roots, play_roots_each};
static const struct work leaves = {"write", has_write_each, prepare_leaves, play_writes};
static const struct work any_nodes = {"write", has_write_each, prepare_any, play_writes};
static const struct work probes = {"pair", has_probe, prepare_probes, play_probes};
static const struct work every = {"node", has_batch, prepare_every, play_batch};
static const struct work every_listed = {"node", has_list, prepare_every, play_list};
static const struct work every_recorded = {"node", has_recording, prepare_every, play_recorded};
static const struct work every_single = {"node", has_write_each, prepare_every, play_every_each};
static const struct work handles = {"read", has_reads, prepare_handles, play_handles};
static const struct work query = {"row", has_reads, prepare_nothing, play_query};
static const struct work spawns = {"prefab", has_spawn, prepare_spawns, play_spawns};
static const struct work spawns_at_once = {"prefab", has_each, prepare_spawns, play_each};
static const struct work moves = {"move", has_moves, prepare_moves, play_moves};
static const struct work moves_at_once = {"move", has_moves_each, prepare_moves, play_moves_each};
static const struct work first_moves = {"move", has_moves_each, prepare_first_moves,
                                        play_moves_each};
static const struct work first_moves_alone = {"move", has_moves_played, prepare_first_moves,
                                              play_moves_alone};
static const struct work edits = {"edit", has_regraft, prepare_edits, play_edits};
static const struct work edits_alone = {"edit", has_regraft_played, prepare_edits,
                                        play_edits_alone};
static const struct work mixed = {"prefab", has_mix, prepare_mixed, play_mixed};

// A path of the load `mixed` in trees of 12.
#define MIXED(name, extras)                                                                  \
    {                                                                                        \
        "mixed-" name, &mixed, {1000, mixing_tree_size, mixing_fan}, 1000, 24, 1, 0, extras, \
    }

// The trees of a path `move-k1` are as they were made, with whatever room that leaves them, when
// their only edit comes; a frame of `spawn-k1` has one prefab. In the third frame many trees get
// their first leaf too; in a path `late` the trees have had room for a long time.
static const struct path paths[] = {
    {"root-1x10000", &roots, {1, 10000, 10}, 0, 2, 1, 0, 0},
    {"root-500x20", &roots, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"root-500x20-single", &roots_single, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"root-5000x20", &roots, {5000, 20, 3}, 0, 2, 1, 0, 0},
    {"root-5000x20-single", &roots_single, {5000, 20, 3}, 0, 2, 1, 0, 0},
    {"leaf-500x20", &leaves, {500, 20, 3}, 1000, 2, 1, 0, 0},
    {"sparse-500x20", &any_nodes, {500, 20, 3}, 100, 2, 1, 0, 0},
    {"midframe-500x20", &probes, {500, 20, 3}, 1000, 2, 1, 0, 0},
    {"every-500x20", &every, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"every-10x1000", &every, {10, 1000, 10}, 0, 2, 1, 0, 0},
    {"write-list", &every_listed, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"write-recorded", &every_recorded, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"write-single", &every_single, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"handle-500x20", &handles, {500, 20, 3}, 10000, 1, 1, 0, 0},
    {"query-500x20", &query, {500, 20, 3}, 0, 1, 1, 0, 0},
    {"spawn-2000x12", &spawns, {2000, 12, 3}, 2000, 24, 1, 0, 0},
    {"spawn-atonce-2000x12", &spawns_at_once, {2000, 12, 3}, 2000, 24, 1, 0, 0},
    {"spawn-atonce", &spawns_at_once, {1000, 12, 3}, 1000, 24, 1, 0, 0},
    {"spawn-k1", &spawns_at_once, {2000, 12, 3}, 1, 24, 300, 0, 0},
    {"spawn-k1-commands", &spawns, {2000, 12, 3}, 1, 24, 300, 0, 0},
    {"reparent-1000x100", &moves, {1000, 100, 4}, 1000, 2, 1, 0, 0},
    {"reparent-late", &moves, {1000, 100, 4}, 1000, 60, 1, 0, 0},
    {"move-atonce", &moves_at_once, {1000, 100, 4}, 1000, 2, 1, 0, 0},
    {"move-atonce-late", &moves_at_once, {1000, 100, 4}, 1000, 60, 1, 0, 0},
    {"move-k1", &first_moves, {1000, 100, 4}, 100, 1, 4, 1, 0},
    {"move-k1-commands", &first_moves_alone, {1000, 100, 4}, 100, 1, 4, 1, 0},
    {"move-k1-built", &first_moves, {1000, 100, 4}, 100, 1, 4, 0, 0},
    {"move-k1-built-commands", &first_moves_alone, {1000, 100, 4}, 100, 1, 4, 0, 0},
    {"giant-star", &edits, {1, 100000, 100000}, 200, 1, 1, 0, 0},
    {"giant-star-commands", &edits_alone, {1, 100000, 100000}, 200, 1, 1, 0, 0},
    {"giant-fan10", &edits, {1, 100000, 10}, 200, 1, 1, 0, 0},
    {"giant-fan10-commands", &edits_alone, {1, 100000, 10}, 200, 1, 1, 0, 0},
    {"roots-500x20", &some_roots, {500, 20, 3}, 50, 2, 1, 0, 0},
    {"mark-500x20", &mark, {500, 20, 3}, 50, 2, 1, 0, 0},
    {"mark-hashed-500x20", &mark_hashed, {500, 20, 3}, 50, 2, 1, 0, 0},
    {"rewind-500x20", &rewind_moments, {500, 20, 3}, 50, 2, 1, 0, 0},
    {"image-save", &image_save, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"image-load", &image_load, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"image-load-checked", &image_checked, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"archive-write", &archive_write, {500, 20, 3}, 0, 2, 1, 0, 0},
    {"archive-read", &archive_read, {500, 20, 3}, 0, 2, 1, 0, 0},
    MIXED("plain", 0),
    MIXED("values", EXTRA_VALUES),
    MIXED("new-values", EXTRA_NEW_VALUES),
    MIXED("before", EXTRA_BEFORE),
    MIXED("count2", EXTRA_COUNT),
    MIXED("references", EXTRA_REFERENCES),
    {"mixed-one-tree", &mixed, {1, 12000, 3}, 1000, 24, 1, 0, 0},
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
    return path->work->is_for(scheme) && (path->extras & ~scheme->extras) == 0;
}

/// What a suffix of a path's name tells a scheme to keep account of.
struct suffix {
    const char *text;
    enum scheme_tracking tracking;
};

static const struct suffix suffixes[] = {
    {"-watched", TRACK_WORLDS},  {"-watched-own", TRACK_OWN},         {"-ticked", TRACK_MOTION},
    {"-history", TRACK_HISTORY}, {"-renderables", TRACK_RENDERABLES},
};

enum { suffix_count = sizeof suffixes / sizeof *suffixes };

/// Paths that have these suffixes too.
static const char *const tracked_paths[] = {
    "root-1x10000",  "root-500x20",  "root-500x20-single", "leaf-500x20",
    "sparse-500x20", "every-500x20", "every-10x1000",      "write-single",
    "spawn-2000x12", "spawn-atonce", "reparent-late",      "move-k1-built",
};

static bool is_tracked(const struct path *path)
{
    for (size_t i = 0; i < sizeof tracked_paths / sizeof *tracked_paths; ++i) {
        if (strcmp(tracked_paths[i], path->name) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_tracking(const struct scheme *scheme, enum scheme_tracking tracking)
{
    const bool is_able = tracking == TRACK_MOTION        ? scheme->tick != NULL
                         : tracking == TRACK_HISTORY     ? has_history(scheme)
                         : tracking == TRACK_RENDERABLES ? scheme->publish != NULL
                                                         : scheme->collect != NULL;

    return is_able && scheme->advance != NULL;
}

static const struct scheme *const schemes[] = {&scheme_flat, &scheme_linked, &scheme_espalier};

static const struct path *path_named(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        if (strlen(paths[i].name) == length && memcmp(paths[i].name, name, length) == 0) {
            return &paths[i];
        }
    }
    return NULL;
}

// Return what a path keeps account of whose work is about that itself.
static enum scheme_tracking tracking_of(const struct path *path)
{
    return path->work == &mark_hashed                             ? TRACK_HASHES
           : path->work == &mark || path->work == &rewind_moments ? TRACK_HISTORY
                                                                  : TRACK_NOTHING;
}

// Return the path of a name and what it keeps account of, or NULL.
static const struct path *path_parsed(const char *name, const struct scheme *scheme,
                                      enum scheme_tracking *tracking)
{
    const size_t length = strlen(name);
    const struct path *const path = path_named(name, length);

    *tracking = TRACK_NOTHING;
    if (path != NULL) {
        *tracking = tracking_of(path);
        return path;
    }
    for (size_t i = 0; i < suffix_count; ++i) {
        const size_t tail = strlen(suffixes[i].text);
        const bool ends = length > tail && strcmp(name + length - tail, suffixes[i].text) == 0;
        const struct path *const base = ends ? path_named(name, length - tail) : NULL;

        if (base != NULL && is_tracked(base) && has_tracking(scheme, suffixes[i].tracking)) {
            *tracking = suffixes[i].tracking;
            return base;
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

static void create_copies(struct counting *all)
{
    const struct forest_shape shape = all->path->shape;
    struct forest tree = forest_create((struct forest_shape){1, shape.tree_size, shape.fan});
    struct pose *const roots_of_copies = block_new(shape.trees, sizeof *roots_of_copies);
    struct draw draw = draw_begin(copies_seed, 0);

    for (uint32_t copy = 0; copy < shape.trees; ++copy) {
        roots_of_copies[copy] = draw_pose(&draw, ROOT_SIDE);
    }

    all->world = all->scheme->create_copies(&tree, roots_of_copies, shape.trees, 1);
    free(roots_of_copies);
    forest_destroy(&tree);
}

static struct counting counting_create(const struct path *path, const struct scheme *scheme,
                                       enum scheme_tracking tracking)
{
    const size_t things = count_things(path);
    struct counting all = {
        .path = path,
        .scheme = scheme,
        .tracking = tracking,
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
    if (path->is_cloned) {
        create_copies(&all);
    } else {
        all.world = scheme->create(&all.forest, 1);
    }
    if (path->work == &mixed) {
        const uint32_t trees = path->shape.trees * path->shape.tree_size / mixing_tree_size;

        all.mixing = mixing_create(trees, path->amount, path->extras, path->extras);
        mixing_set_up(&all.mixing, scheme, all.world);
    } else if (path->work == &spawns || path->work == &spawns_at_once) {
        struct pose locals[PREFAB_SIZE];

        contest_draw_prefab(locals, prefab_seed);
        scheme->make_prefab(all.world, locals);
    }
    if (tracking != TRACK_NOTHING) {
        scheme->track(all.world, tracking);
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

/// Play a frame. What counts finds the work by this name.
void counts_play(struct counting *all)
{
    all->path->work->play(all);
}

// Called through a pointer that may change at any time, so that it is neither inlined nor cloned.
static void (*volatile const play_counted)(struct counting *) = counts_play;

static void run(struct counting *all)
{
    const struct path *const path = all->path;

    for (; all->frame < path->warm + path->counted; ++all->frame) {
        struct draw draw = draw_begin(counts_seed, all->frame);

        path->work->prepare(all, &draw);
        if (all->tracking != TRACK_NOTHING && tracking_of(path) == TRACK_NOTHING) {
            all->scheme->advance(all->world);
        }
        if (all->frame < path->warm) {
            path->work->play(all);
        } else {
            play_counted(all);
        }
    }
}

static void list_path(const struct path *path, const struct scheme *scheme)
{
    const uint32_t things = count_things(path) * path->counted;

    printf("%s %s %" PRIu32 "\n", path->name, path->work->thing, things);
    for (size_t i = 0; is_tracked(path) && i < suffix_count; ++i) {
        if (has_tracking(scheme, suffixes[i].tracking)) {
            printf("%s%s %s %" PRIu32 " %s\n", path->name, suffixes[i].text, path->work->thing,
                   things, path->name);
        }
    }
}

static int list(const struct scheme *scheme)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        if (is_path_for(&paths[i], scheme)) {
            list_path(&paths[i], scheme);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const bool has_scheme = argc > 1 && strncmp(argv[1], "--scheme=", 9) == 0;
    const struct scheme *const scheme = has_scheme ? scheme_named(argv[1] + 9) : NULL;
    enum scheme_tracking tracking = TRACK_NOTHING;
    const struct path *const path =
        scheme != NULL && argc > 2 ? path_parsed(argv[2], scheme, &tracking) : NULL;

    if (scheme == NULL || argc > 3 || (argc == 3 && (path == NULL || !is_path_for(path, scheme)))) {
        fputs("Usage: counts --scheme=NAME [PATH]\n"
              "Play a few frames of a path; without one, list those of a scheme, the things their\n"
              "instructions are divided by, how many of these there are, and the path that it is\n"
              "compared with. See counts.sh.\n",
              stderr);
        return 2;
    }
    if (path == NULL) {
        return list(scheme);
    }

    struct counting all = counting_create(path, scheme, tracking);
    run(&all);
    counting_destroy(&all);
    return 0;
}
