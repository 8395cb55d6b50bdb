// SPDX-License-Identifier: MIT
// Writing the blocks of clusters that changed: values, poses, and the poses before where those of the mirror
// before do not serve.
//
// Each cluster is written by itself, so that jobs write different ones. What a block of this update has is read
// from blocks of the update before, from the store, and from the worlds of the forest, none of which changes.
#include "lib/renderables/member_cells.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"
#include "lib/jobs/ranges.h"
#include "lib/math/boxes.h"
#include "lib/tree/changes.h"

#include <string.h>

_Static_assert((int)ESPL__BOXES == (int)ESPL__CLUSTER_SIZE &&
                   (int)ESPL__BOX_ROWS == (int)ESPL__BOX_NUMBERS,
               "boxes of a block are those of the kernels");

// --- Blocks ---

// Tell whether a member of a cluster has a stretch.
static bool has_stretch(const espl_renderables *r, const espl__cluster *cluster)
{
    float room[3];
    bool has_some = false;

    for (uint32_t place = 0; place < cluster->count && !has_some; ++place) {
        has_some = espl__stretch_of(r, cluster->slots[place], room) != NULL;
    }
    return has_some;
}

// Tell whether the poses of the mirror before do not serve as those before.
static bool needs_pair(const espl__cluster *cluster, uint32_t state)
{
    return (state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_BOXES)) != 0 ||
           ((state & ESPL__WRITE_POSES) != 0 && espl__has_bits(&cluster->bad_world));
}

// Tell whether all members of a cluster are new, so that none has a pose before.
static bool is_new_cluster(const espl_renderables *r, const espl__dirty *dirty,
                           const espl__cluster *cluster)
{
    if (dirty->sources == ESPL__NO_CLUSTER) {
        return false;
    }
    const uint32_t *const sources = r->sources[dirty->sources].of;
    uint32_t from_store = ESPL__FROM_STORE;

    for (uint32_t place = 0; place < cluster->count; ++place) {
        from_store &= sources[place];
    }
    return from_store != 0;
}

void espl__take_blocks(espl_renderables *r)
{
    const bool has_sides = r->world->forest.side_count != 0;

    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        espl__dirty *const dirty = &r->dirty[i];
        const espl__cluster_entry *const entry = espl__tables_entry(&r->tables, dirty->cluster);
        const espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
        const uint32_t state = r->states[dirty->cluster];

        dirty->old_values = entry->values;
        dirty->old_poses = entry->poses;
        dirty->load = (espl__member_bits){{
            cluster->reload.words[0] | cluster->bad_local.words[0],
            cluster->reload.words[1] | cluster->bad_local.words[1],
        }};
        dirty->jumped = cluster->jumped;
        dirty->bad = espl__count_bad(cluster);
        dirty->unions = espl__count_members(&cluster->unions);
        if ((state & ESPL__CLUSTER_USED) == 0) {
            continue;
        }
        if ((state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_VALUES)) != 0) {
            dirty->values = espl__values_take(&r->tables);
            if (has_sides && has_stretch(r, cluster)) {
                dirty->stretches = espl__stretches_take(&r->tables);
            }
            if (espl__renderables_have_cells(r)) {
                dirty->cells = espl__member_cells_take(&r->tables);
            }
        }
        if ((state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_BOXES | ESPL__WRITE_POSES)) != 0) {
            dirty->poses = espl__poses_take(&r->tables);
        }
        dirty->is_new = is_new_cluster(r, dirty, cluster);
        if (needs_pair(cluster, state) && !dirty->is_new) {
            dirty->before = espl__poses_take(&r->tables);
        }
    }
}

// --- Values ---

// Write the values of a member.
static void put_values(espl__values *values, espl__cluster *cluster, uint32_t place,
                       const espl_bounds *bounds, const espl_renderable *renderable)
{
    const espl_bounds none = {{0, 0, 0}, {0, 0, 0}};
    const bool is_sound = espl__bounds_are_sound(bounds);
    float local[ESPL__BOX_NUMBERS];

    memcpy(local, is_sound ? bounds : &none, sizeof local);
    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        values->local[k][place] = local[k];
    }
    values->keys[place] = renderable->key;
    values->user_data[place] = renderable->user_data;
    values->flags[place] = renderable->flags;
    if (!is_sound) {
        espl__set_bit(&cluster->bad_local, place);
    }
    if ((renderable->flags & ESPL_RENDERABLE_UNION) != 0) {
        espl__set_bit(&cluster->unions, place);
    }
}

// Copy the values of a member that has the same ones as in another block.
static void copy_values(espl__values *to, espl__cluster *cluster, uint32_t place,
                        const espl__values *from, uint32_t old)
{
    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        to->local[k][place] = from->local[k][old];
    }
    to->keys[place] = from->keys[old];
    to->user_data[place] = from->user_data[old];
    to->flags[place] = from->flags[old];
    if ((from->flags[old] & ESPL_RENDERABLE_UNION) != 0) {
        espl__set_bit(&cluster->unions, place);
    }
}

// Return the member, or the arrival, that a member of a cluster was.
static uint32_t source_of(const espl_renderables *r, const espl__dirty *dirty, uint32_t place)
{
    return dirty->sources != ESPL__NO_CLUSTER ? r->sources[dirty->sources].of[place]
                                              : espl__member(dirty->cluster, place);
}

// Return the blocks that a cluster had before this update. Precondition: it is written, or a member left it.
static const espl__dirty *dirty_of(const espl_renderables *r, uint32_t cluster)
{
    return &r->dirty[espl__cluster_at(r, cluster)->dirty];
}

static void load_values(const espl_renderables *r, espl__row_kinds *kinds, espl__values *values,
                        espl__cluster *cluster, uint32_t place)
{
    espl_bounds bounds;
    espl_renderable renderable;

    espl__read_values(r, kinds, cluster->entities[place].index, &bounds, &renderable);
    put_values(values, cluster, place, &bounds, &renderable);
}

static void fill_member(const espl_renderables *r, espl__row_kinds *kinds, const espl__dirty *dirty,
                        espl__cluster *cluster, uint32_t place)
{
    espl__values *const values = dirty->values;
    const uint32_t source = source_of(r, dirty, place);

    if ((source & ESPL__FROM_STORE) != 0) {
        const espl__arrival *const arrival = &r->arrivals[ESPL__STILL][source & ~ESPL__FROM_STORE];

        put_values(values, cluster, place, &arrival->bounds, &arrival->renderable);
        return;
    }
    const espl__dirty *const from = dirty_of(r, espl__member_cluster(source));
    const uint32_t old = espl__member_place(source);

    if (espl__has_bit(&from->load, old)) {
        load_values(r, kinds, values, cluster, place);
    } else {
        copy_values(values, cluster, place, from->old_values, old);
    }
}

// Compute what a values block says of all of its members.
static void sum_values(espl__values *values, const espl__cluster *cluster)
{
    uint32_t any = 0, all = UINT32_MAX, flags = 0;
    bool has_one_key = true;
    bool has_some = false;

    values->shown[0] = values->shown[1] = 0;
    for (uint32_t place = 0; place < cluster->count; ++place) {
        flags |= values->flags[place];
        has_one_key = has_one_key && values->keys[place] == values->keys[0];
        if (values->keys[place] != ESPL_NO_KEY && !espl__has_bit(&cluster->bad_local, place)) {
            values->shown[place / 64] |= UINT64_C(1) << (place % 64);
            any |= values->layers[place];
            all &= values->layers[place];
            has_some = true;
        }
    }
    values->count = cluster->count;
    values->layers_any = any;
    values->layers_all = has_some ? all : 0;
    values->flags_any = flags;
    values->has_one_key = has_one_key;
}

// Copy the stretches of members.
static void fill_stretches(const espl_renderables *r, espl__stretches *stretches,
                           const espl__cluster *cluster)
{
    static const float none[3] = {1, 1, 1};

    for (uint32_t place = 0; place < cluster->count; ++place) {
        float room[3];
        const float *const stretch = espl__stretch_of(r, cluster->slots[place], room);

        memcpy(stretches->stretch[place], stretch != NULL ? stretch : none, sizeof none);
    }
}

static void fill_values(const espl_renderables *r, espl__row_kinds *kinds, const espl__dirty *dirty)
{
    enum { AHEAD = 12 };
    espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
    espl__values *const values = dirty->values;
    const uint32_t count = cluster->count;

    cluster->bad_local = cluster->unions = (espl__member_bits){{0, 0}};
    for (uint32_t place = 0; place < count; ++place) {
        const uint32_t ahead = place + AHEAD < count ? source_of(r, dirty, place + AHEAD) : 0;

        if ((ahead & ESPL__FROM_STORE) != 0) {
            espl__prefetch(&r->arrivals[ESPL__STILL][ahead & ~ESPL__FROM_STORE]);
        }
        fill_member(r, kinds, dirty, cluster, place);
        values->layers[place] =
            r->layers_of != NULL ? r->layers_of[cluster->slots[place]] : UINT32_MAX;
    }
    memcpy(values->entities, cluster->entities, count * sizeof *values->entities);
    values->stretches = dirty->stretches;
    values->cells = dirty->cells;
    if (dirty->stretches != NULL) {
        fill_stretches(r, dirty->stretches, cluster);
    }
    if (dirty->cells != NULL) {
        espl__fill_cells(r, dirty->cells, cluster);
    }
    sum_values(values, cluster);
}

// --- Poses ---

// The kernels of boxes.
static const espl__box_kernels *kernels_of(const espl_renderables *r)
{
    return r->world->forest.kernels->boxes;
}

// Compute the world boxes of poses by the local boxes of a cluster, and which of them are finite.
static void fill_boxes(const espl_renderables *r, espl__poses *poses, const espl__values *values,
                       uint32_t count)
{
    const espl__stretches *const stretches = values->stretches;

    kernels_of(r)->of_poses(poses->boxes, poses->shown, poses->poses, values->local,
                            stretches != NULL ? stretches->stretch : NULL, count);
}

// Give the places after the last member boxes of finite numbers, because kernels read whole vectors.
static void pad_boxes(espl__poses *poses, uint32_t count)
{
    const uint32_t end = (count + ESPL__BOX_PADDING - 1) / ESPL__BOX_PADDING * ESPL__BOX_PADDING;

    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        for (uint32_t place = count; place < end; ++place) {
            poses->boxes[k][place] = poses->boxes[k][count - 1];
        }
    }
}

// Copy the poses of members from the forest.
static void gather_poses(const espl_renderables *r, espl__poses *poses,
                         const espl__cluster *cluster)
{
    enum { AHEAD = 24 };
    const espl_pose *const worlds = r->world->forest.world;
    const uint32_t count = cluster->count;

    for (uint32_t place = 0; place < count; ++place) {
        // The number past the last one is that of any slot.
        espl__prefetch_element(worlds, cluster->slots[(place + AHEAD) % ESPL__CLUSTER_SIZE],
                               sizeof *worlds);
        poses->poses[place] = worlds[cluster->slots[place]];
    }
}

// Write the poses before, where those of the mirror before are of other members, in another order, or not
// finite. A member that is new, was not finite, or jumped has none: its pose is used.
// @return how many that stay have another pose than in the mirror before, and none before.
static uint32_t gather_before(const espl_renderables *r, const espl__dirty *dirty,
                              const espl__values *values, espl__cluster *cluster, uint32_t number)
{
    const espl_pose *const now = dirty->poses->poses;
    espl_pose *const before = dirty->before->poses;
    uint32_t moved = 0;

    for (uint32_t place = 0; place < cluster->count; ++place) {
        const uint32_t source = source_of(r, dirty, place);

        before[place] = now[place];
        if ((source & ESPL__FROM_STORE) != 0) {
            continue;
        }
        const espl__dirty *const had = dirty_of(r, espl__member_cluster(source));
        const uint32_t at = espl__member_place(source);

        if ((had->old_poses->shown[at / 64] >> (at % 64) & 1) != 0 &&
            !espl__has_bit(&had->jumped, at)) {
            before[place] = had->old_poses->poses[at];
            if (values->cells != NULL) {
                espl__bring_to_cell(r, before[place].position, had->old_values->cells->of[at],
                                    values->cells->of[place]);
            }
        } else if (!espl__pose_is_same(&now[place], &had->old_poses->poses[at])) {
            cluster->moved_at[place] = number;
            moved += 1;
        }
    }
    return moved;
}

// Compare poses with those before. @return how many differ.
static uint32_t compare_poses(espl__cluster *cluster, const espl_pose *before, const espl_pose *now,
                              uint32_t number)
{
    uint32_t moved = 0;

    for (uint32_t place = 0; place < cluster->count; ++place) {
        const bool has_moved = !espl__pose_is_same(&before[place], &now[place]);

        cluster->moved_at[place] = has_moved ? number : cluster->moved_at[place];
        moved += has_moved ? 1 : 0;
    }
    return moved;
}

// --- Clusters ---

// Compute what a poses block says of all of its members, which have their boxes.
static void finish_poses(const espl_renderables *r, const espl__dirty *dirty)
{
    const uint32_t count = espl__cluster_at(r, dirty->cluster)->count;
    const espl__box_kernels *const kernels = kernels_of(r);
    const espl__poses *const before = dirty->before != NULL ? dirty->before : dirty->old_poses;
    espl__poses *const poses = dirty->poses;

    const espl__values *const values = dirty->values != NULL ? dirty->values : dirty->old_values;

    pad_boxes(poses, count);
    espl__box_around_members(r, poses, values, poses->shown);
    // No plane has a box of NaNs outside, so that members that are always visible are not left out.
    for (int k = 0; k < ESPL__BOX_NUMBERS && (values->flags_any & ESPL_RENDERABLE_ALWAYS) != 0;
         ++k) {
        poses->box[k] = NAN;
    }
    memcpy(poses->swept, poses->box, sizeof poses->swept);
    if (dirty->is_same) {
        return;
    }
    if (dirty->before != NULL) {
        pad_boxes(dirty->before, count);
        memcpy(dirty->before->shown, poses->shown, sizeof poses->shown);
        espl__box_around_members(r, dirty->before, values, poses->shown);
        memcpy(dirty->before->swept, dirty->before->box, sizeof dirty->before->swept);
    }
    const float reach =
        kernels->reach(before->poses, poses->poses, before->boxes, poses->boxes, poses->shown);

    espl__boxes_swept(poses->swept, before->box, poses->box, reach);
}

// Return the bits of one word that are of members.
static uint64_t members_of_word(uint32_t count, int word)
{
    const uint32_t first = (uint32_t)word * 64;

    return count >= first + 64 ? UINT64_MAX
           : count > first     ? (UINT64_C(1) << (count - first)) - 1
                               : 0;
}

// Write the poses before where they are to be written, and find out which members moved.
static void compare_with_before(const espl_renderables *r, espl__dirty *dirty,
                                const espl__values *values, uint32_t number)
{
    espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
    const espl__poses *const before = dirty->before != NULL ? dirty->before : dirty->old_poses;
    uint32_t unpaired = 0;

    if (dirty->before != NULL) {
        unpaired = gather_before(r, dirty, values, cluster, number);
        fill_boxes(r, dirty->before, values, cluster->count);
    }
    const uint32_t moved = compare_poses(cluster, before->poses, dirty->poses->poses, number);

    dirty->is_same = moved == 0 && !espl__has_bits(&cluster->unions);
    dirty->moved = moved + unpaired;
}

static void fill_poses(const espl_renderables *r, espl__dirty *dirty, uint32_t number)
{
    espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
    const espl__values *const values = dirty->values != NULL ? dirty->values : dirty->old_values;
    espl__poses *const poses = dirty->poses;
    const uint32_t count = cluster->count;

    ESPL_CHECK(count != 0 && count <= ESPL__CLUSTER_SIZE);
    gather_poses(r, poses, cluster);
    fill_boxes(r, poses, values, count);
    for (int word = 0; word < ESPL__MEMBER_WORDS; ++word) {
        cluster->bad_world.words[word] = members_of_word(count, word) & ~poses->shown[word];
    }
    if (dirty->is_new) {
        dirty->is_same = true;
    } else {
        compare_with_before(r, dirty, values, number);
    }
    if ((r->states[dirty->cluster] & ESPL__WRITE_MEMBERS) != 0) {
        espl__find_home(&r->cells, cluster);
    }
    if (values->cells == NULL) {
        espl__find_astray(&r->cells, cluster,
                          (const float(*)[ESPL__CLUSTER_SIZE])poses->boxes[ESPL__BOX_CENTER]);
    } else {
        espl__find_far_astray(r, cluster, values, poses);
    }
    if (!espl__has_bits(&cluster->unions)) {
        finish_poses(r, dirty);
    }
}

// --- Unions ---

// Extend an interval to the box of a slot.
static void extend_to(const espl_renderables *r, uint32_t slot, uint32_t member, float low[3],
                      float high[3])
{
    const uint32_t number = espl__member_cluster(member), place = espl__member_place(member);
    const espl__cluster *const cluster = espl__cluster_at(r, number);
    const bool is_dirty = (r->states[number] & ESPL__WRITE_ANY) != 0;
    const espl__values *const values = is_dirty && r->dirty[cluster->dirty].values != NULL
                                           ? r->dirty[cluster->dirty].values
                                           : espl__tables_entry(&r->tables, number)->values;
    float room[3], local[ESPL__BOX_NUMBERS], box[ESPL__BOX_NUMBERS];

    if (espl__has_bit(&cluster->bad_local, place)) {
        return;
    }
    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        local[k] = values->local[k][place];
    }
    espl__box_of_pose(box, &r->world->forest.world[slot], espl__stretch_of(r, slot, room), local);
    float from[3], to[3], sum = 0;

    for (int k = 0; k < 3; ++k) {
        from[k] = box[ESPL__BOX_CENTER + k] - box[ESPL__BOX_HALF + k];
        to[k] = box[ESPL__BOX_CENTER + k] + box[ESPL__BOX_HALF + k];
        sum += (from[k] - from[k]) + (to[k] - to[k]);
    }
    // A box that is not finite is left out. The sum is 0 unless one of its ends is not.
    for (int k = 0; k < 3 && sum == 0; ++k) {
        low[k] = from[k] < low[k] ? from[k] : low[k];
        high[k] = to[k] > high[k] ? to[k] : high[k];
    }
}

void espl__box_of_union(const espl_renderables *r, uint32_t slot, float box[ESPL__BOX_NUMBERS])
{
    const espl__forest *const forest = &r->world->forest;
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    for (uint32_t at = slot; at != ESPL__NO_SLOT; at = espl__next_in_walk(forest, at, slot, true)) {
        if (r->member_of[at] != ESPL__NO_MEMBER) {
            extend_to(r, at, r->member_of[at], low, high);
        }
    }
    espl__box_between(box, low, high);
}

// Return the box that a union had in the mirror before.
static void put_union_before(const espl_renderables *r, const espl__dirty *dirty, uint32_t place)
{
    const uint32_t source = source_of(r, dirty, place);
    const bool is_new = (source & ESPL__FROM_STORE) != 0;
    const espl__poses *const from =
        is_new ? dirty->poses : dirty_of(r, espl__member_cluster(source))->old_poses;
    const uint32_t old = is_new ? place : espl__member_place(source);
    const espl__values *const values = dirty->values != NULL ? dirty->values : dirty->old_values;

    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        dirty->before->boxes[k][place] = from->boxes[k][old];
    }
    if (!is_new && values->cells != NULL) {
        const espl__member_cells *const old_cells =
            dirty_of(r, espl__member_cluster(source))->old_values->cells;

        espl__bring_box(r, dirty->before, place, old_cells->of[old], values->cells->of[place]);
    }
}

// Write the boxes of the entities with ESPL_RENDERABLE_UNION of a cluster, whose members have their values.
static void fill_unions(const espl_renderables *r, const espl__dirty *dirty)
{
    const espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);

    for (uint32_t place = 0; place < cluster->count; ++place) {
        float box[ESPL__BOX_NUMBERS];

        if (!espl__has_bit(&cluster->unions, place) || espl__has_bit(&cluster->bad_world, place) ||
            espl__has_bit(&cluster->bad_local, place)) {
            continue;
        }
        espl__box_of_union(r, cluster->slots[place], box);
        for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
            dirty->poses->boxes[k][place] = box[k];
        }
        if (dirty->before != NULL) {
            put_union_before(r, dirty, place);
        }
    }
    finish_poses(r, dirty);
}

// --- Jobs ---

// What a job has.
typedef struct filling {
    const espl_renderables *r;
    uint32_t number; // of the mirror
} filling;

static void fill_range(void *context, size_t begin, size_t end)
{
    const filling *const f = context;
    espl__row_kinds kinds;

    espl__row_kinds_begin(&kinds, f->r);
    for (size_t i = begin; i < end; ++i) {
        espl__dirty *const dirty = &f->r->dirty[i];

        if (dirty->is_filled) {
            continue;
        }
        if (dirty->values != NULL) {
            fill_values(f->r, &kinds, dirty);
        }
        if (dirty->poses != NULL) {
            fill_poses(f->r, dirty, f->number);
        }
        dirty->is_filled = true;
    }
}

void espl__fill(espl_renderables *r, espl__update *u)
{
    // A cluster is written in 2 to 7 microseconds: 64 of them are worth that workers wake, and 16 are worth a
    // job. Tests have smaller jobs.
    enum { LEAST = ESPL__JOB_COST / 64, CLUSTERS_OF_JOB = ESPL__JOB_COST / 16 };
    const size_t count = espl__array_length(r->dirty);
    espl_world *const world = r->world;
    filling f = {r, u->number};

    if (count >= world->job_cost / LEAST) {
        world->is_playing = true;
        (void)espl__run_ranges(&world->executor, &world->hooks, fill_range, &f, count,
                               world->job_cost / CLUSTERS_OF_JOB);
        world->is_playing = false;
    }
    fill_range(&f, 0, count); // what the executor did not
    for (size_t i = 0; i < count; ++i) {
        const espl__dirty *const dirty = &r->dirty[i];

        if (dirty->poses != NULL && espl__has_bits(&espl__cluster_at(r, dirty->cluster)->unions)) {
            fill_unions(r, dirty);
        }
    }
}

// --- Entries ---

void espl__count_blocks(const espl_renderables *r, const espl__update *u, espl__tables_need *need)
{
    const bool has_sides = r->world->forest.side_count != 0;
    // A leaf with few members may be merged into one that is not listed.
    size_t values = u->new_clusters + u->thin_clusters;
    size_t poses = u->new_clusters + u->mixed_clusters + 2 * u->thin_clusters;

    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        const uint32_t number = r->dirty[i].cluster, state = r->states[number];
        const bool is_pair = needs_pair(espl__cluster_at(r, number), state);

        values += (state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_VALUES)) != 0 ? 1 : 0;
        poses += is_pair ? 2 : (state & ESPL__WRITE_POSES) != 0 ? 1 : 0;
    }
    need->blocks[ESPL__BLOCK_VALUES] = (uint32_t)values;
    need->blocks[ESPL__BLOCK_POSES] = (uint32_t)poses;
    need->blocks[ESPL__BLOCK_STRETCHES] = has_sides ? (uint32_t)values : 0;
    need->blocks[ESPL__BLOCK_CELLS] = espl__renderables_have_cells(r) ? (uint32_t)values : 0;
}

// Keep the clusters with members astray that this update did not write.
static void keep_astray(espl_renderables *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < espl__array_length(r->astray); ++i) {
        const uint32_t number = r->astray[i];

        if ((r->states[number] & ESPL__CLUSTER_USED) != 0 &&
            (r->states[number] & ESPL__WRITE_ANY) == 0 &&
            espl__has_bits(&espl__cluster_at(r, number)->astray)) {
            r->astray[kept++] = number;
        }
    }
    espl__array_set_length(r->astray, kept);
}

static void set_poses(espl_renderables *r, const espl__dirty *dirty)
{
    if (dirty->is_new) {
        espl__tables_set_pair(&r->tables, dirty->cluster, dirty->poses, dirty->poses);
        return;
    }
    if (dirty->before == NULL) {
        // What was written and is the same stays as it is, so that the cluster does not count as changed.
        if (dirty->is_same) {
            espl__poses_give(&r->tables, dirty->poses);
        } else {
            espl__tables_set_poses(&r->tables, dirty->cluster, dirty->poses);
        }
        return;
    }
    if (dirty->is_same) {
        espl__poses_give(&r->tables, dirty->before);
    }
    espl__tables_set_pair(&r->tables, dirty->cluster, dirty->poses,
                          dirty->is_same ? dirty->poses : dirty->before);
}

void espl__set_blocks(espl_renderables *r, espl__update *u)
{
    keep_astray(r);
    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        const espl__dirty *const dirty = &r->dirty[i];
        const uint32_t number = dirty->cluster;
        espl__cluster *const cluster = espl__cluster_at(r, number);

        if ((r->states[number] & ESPL__CLUSTER_USED) == 0) {
            r->bad_count -= dirty->bad;
            r->union_count -= dirty->unions;
            espl__tables_remove_cluster(&r->tables, number);
            continue;
        }
        if (dirty->values != NULL) {
            espl__tables_set_values(&r->tables, number, dirty->values);
        }
        if (dirty->poses != NULL) {
            set_poses(r, dirty);
            u->report.rewritten +=
                dirty->is_same && dirty->before == NULL && !dirty->is_new ? 0 : 1;
            u->report.moved += dirty->moved;
        }
        r->bad_count = r->bad_count + espl__count_bad(cluster) - dirty->bad;
        r->union_count = r->union_count + espl__count_members(&cluster->unions) - dirty->unions;
        cluster->reload = cluster->jumped = (espl__member_bits){{0, 0}};
        r->states[number] &= (uint8_t)~ESPL__WRITE_ANY;
        if (espl__has_bits(&cluster->astray)) {
            ESPL_ARRAY_PUSH(r->astray, number);
        }
    }
    espl__array_set_length(r->dirty, 0);
    espl__array_set_length(r->sources, 0);
}
