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

// --- Values ---

// Write the values of a member.
static void put_values(const espl_renderables *r, espl__values *values, espl__cluster *cluster,
                       uint32_t place, const espl_bounds *bounds, const espl_renderable *renderable)
{
    const espl_bounds none = {{0, 0, 0}, {0, 0, 0}};
    const bool is_sound = espl__values_are_sound(r, bounds, renderable);
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
}

// Copy the values of a member that has the same ones as in another block.
static void copy_values(espl__values *to, uint32_t place, const espl__values *from, uint32_t old)
{
    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        to->local[k][place] = from->local[k][old];
    }
    to->keys[place] = from->keys[old];
    to->user_data[place] = from->user_data[old];
    to->flags[place] = from->flags[old];
}

// Return the member, or the arrival, that a member of a cluster was.
static uint32_t source_of(const espl_renderables *r, const espl__dirty *dirty, uint32_t place)
{
    return dirty->sources != ESPL__NO_CLUSTER ? r->sources[dirty->sources].of[place]
                                              : espl__member(dirty->cluster, place);
}

// Return the blocks that the cluster of a source had before this update. Most sources of a cluster are its own.
// Precondition: the source is a member. Its cluster is written, or a member left it.
static const espl__dirty *dirty_of(const espl_renderables *r, const espl__dirty *dirty,
                                   uint32_t source)
{
    const uint32_t cluster = espl__member_cluster(source);

    return cluster == dirty->cluster ? dirty : &r->dirty[espl__cluster_at(r, cluster)->dirty];
}

static void load_values(const espl_renderables *r, espl__row_kinds *kinds, espl__values *values,
                        espl__cluster *cluster, uint32_t place)
{
    espl_bounds bounds;
    espl_renderable renderable;

    espl__read_values(r, kinds, cluster->entities[place].index, &bounds, &renderable);
    put_values(r, values, cluster, place, &bounds, &renderable);
}

// Write the values of a member, unless they are there because it has the place that it had.
static void fill_member(const espl_renderables *r, espl__row_kinds *kinds, const espl__dirty *dirty,
                        espl__cluster *cluster, uint32_t place)
{
    espl__values *const values = dirty->values;
    const uint32_t source = source_of(r, dirty, place);

    if ((source & ESPL__FROM_STORE) != 0) {
        const espl__arrival *const arrival = &r->arrivals[ESPL__STILL][source & ~ESPL__FROM_STORE];

        put_values(r, values, cluster, place, &arrival->bounds, &arrival->renderable);
        return;
    }
    const espl__dirty *const from = dirty_of(r, dirty, source);
    const uint32_t old = espl__member_place(source);

    // What left a hole is another member now, or none, so that the hole keeps the values of before.
    if (espl__has_bit(&from->load, old) && !espl__has_bit(&cluster->holes, place)) {
        load_values(r, kinds, values, cluster, place);
    } else if (from != dirty || old != place) {
        copy_values(values, place, from->old_values, old);
    }
}

// Compute what a values block says of all of its members.
static void sum_values(espl__values *values, espl__cluster *cluster)
{
    uint32_t any = 0, all = UINT32_MAX, flags = 0;
    bool has_one_key = true;
    bool has_some = false;

    values->shown[0] = values->shown[1] = 0;
    cluster->unions = (espl__member_bits){{0, 0}};
    for (uint32_t place = 0; place < cluster->count; ++place) {
        if (espl__has_bit(&cluster->holes, place)) {
            continue;
        }
        flags |= values->flags[place];
        if ((values->flags[place] & ESPL_RENDERABLE_UNION) != 0) {
            espl__set_bit(&cluster->unions, place);
        }
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
        const float *const stretch =
            espl__slot_stretch(&r->world->forest, cluster->slots[place], room);

        memcpy(stretches->stretch[place], stretch != NULL ? stretch : none, sizeof none);
    }
}

// Copy the values of all members of a cluster, most of which have the place that they had.
static void copy_block(espl__values *to, const espl__values *from)
{
    const size_t begin = offsetof(espl__values, entities);

    memcpy((unsigned char *)to + begin, (const unsigned char *)from + begin, sizeof *to - begin);
}

static void fill_values(const espl_renderables *r, espl__row_kinds *kinds, const espl__dirty *dirty)
{
    enum { AHEAD = 12 };
    espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
    espl__values *const values = dirty->values;
    const uint32_t count = cluster->count;

    cluster->bad_local = (espl__member_bits){{0, 0}};
    if (dirty->old_values != NULL) {
        copy_block(values, dirty->old_values);
    }
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
        espl__fill_cells(r, dirty, cluster);
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

enum { POSES_AHEAD = 24 };

// Copy the poses of members from the forest.
static void gather_poses(const espl_renderables *r, espl__poses *poses,
                         const espl__cluster *cluster)
{
    const espl_pose *const worlds = r->world->forest.world;
    const uint32_t count = cluster->count;

    for (uint32_t place = 0; place < count; ++place) {
        // The number past the last one is that of any slot.
        espl__prefetch_element(worlds, cluster->slots[(place + POSES_AHEAD) % ESPL__CLUSTER_SIZE],
                               sizeof *worlds);
        poses->poses[place] = worlds[cluster->slots[place]];
    }
}

// Where a member was in the mirror before.
typedef struct earlier_place {
    const espl__dirty *had; // the cluster; NULL: the member is new
    uint32_t at;            // place in it
    bool has_pose;          // a pose before: it is not new, was finite, and did not jump
} earlier_place;

static earlier_place find_earlier(const espl_renderables *r, const espl__dirty *dirty,
                                  uint32_t place)
{
    const uint32_t source = source_of(r, dirty, place);

    if ((source & ESPL__FROM_STORE) != 0) {
        return (earlier_place){NULL, 0, false};
    }
    const espl__dirty *const had = dirty_of(r, dirty, source);
    const uint32_t at = espl__member_place(source);
    const bool was_finite = (had->old_poses->shown[at / 64] >> (at % 64) & 1) != 0;

    return (earlier_place){had, at, was_finite && !espl__has_bit(&had->jumped, at)};
}

// Write the poses before, where those of the mirror before are of other members, in another order, or not
// finite. Of a member without one its pose is used.
// @return how many that stay have another pose than in the mirror before, and none before.
static uint32_t gather_before(const espl_renderables *r, const espl__dirty *dirty,
                              const espl__values *values, espl__cluster *cluster)
{
    const espl_pose *const now = dirty->poses->poses;
    espl_pose *const before = dirty->before->poses;
    uint32_t moved = 0;

    for (uint32_t place = 0; place < cluster->count; ++place) {
        const earlier_place from = find_earlier(r, dirty, place);

        before[place] = now[place];
        if (from.has_pose) {
            before[place] = from.had->old_poses->poses[from.at];
            if (values->cells != NULL) {
                espl__bring_to_cell(r, before[place].position,
                                    from.had->old_values->cells->of[from.at],
                                    values->cells->of[place]);
            }
        } else if (from.had != NULL && !espl__has_bit(&cluster->holes, place) &&
                   !espl__pose_is_same(&now[place], &from.had->old_poses->poses[from.at])) {
            espl__set_bit(&cluster->moved, place);
            moved += 1;
        }
    }
    return moved;
}

// Compare poses with those before. @return how many differ.
static uint32_t compare_poses(espl__cluster *cluster, const espl_pose *before, const espl_pose *now)
{
    uint32_t moved = 0;

    for (uint32_t first = 0; first < cluster->count; first += 64) {
        const uint32_t left = cluster->count - first, end = left < 64 ? left : 64;
        uint64_t bits = 0;

        for (uint32_t i = 0; i < end; ++i) {
            const bool is_same = espl__pose_is_same(&before[first + i], &now[first + i]);

            bits |= (uint64_t)!is_same << i;
        }
        bits &= ~cluster->holes.words[first / 64];
        cluster->moved.words[first / 64] |= bits;
        moved += espl__count_bits(bits);
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
        // Local boxes may be others, so that a box before is not finite where that of the mirror before was.
        for (uint32_t word = 0; word < ESPL__MEMBER_WORDS; ++word) {
            dirty->before->shown[word] &= poses->shown[word];
        }
        espl__box_around_members(r, dirty->before, values, dirty->before->shown);
        memcpy(dirty->before->swept, dirty->before->box, sizeof dirty->before->swept);
    }
    const float reach = kernels->reach(before->poses, poses->poses, before->boxes, poses->boxes,
                                       dirty->before != NULL ? dirty->before->shown : poses->shown);

    espl__boxes_swept(poses->swept, before->box, poses->box, reach);
}

// Write the poses before where they are to be written, and find out which members moved.
static void compare_with_before(const espl_renderables *r, espl__dirty *dirty,
                                const espl__values *values)
{
    espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
    const espl__poses *const before = dirty->before != NULL ? dirty->before : dirty->old_poses;
    uint32_t unpaired = 0;

    if (dirty->before != NULL) {
        unpaired = gather_before(r, dirty, values, cluster);
    }
    const uint32_t moved = compare_poses(cluster, before->poses, dirty->poses->poses);

    dirty->is_same = moved == 0 && !espl__has_bits(&cluster->unions);
    if (dirty->before != NULL && !dirty->is_same) {
        fill_boxes(r, dirty->before, values, cluster->count);
    }
    dirty->moved = moved + unpaired;
}

// Find the members astray.
static void find_astray(const espl_renderables *r, espl__cluster *cluster,
                        const espl__values *values, const espl__poses *poses)
{
    // The box of a cluster is that of all members, unless one of them is bad or a union.
    const bool is_of_all =
        !espl__has_bits(&cluster->bad_world) && !espl__has_bits(&cluster->unions);

    if (values->cells != NULL) {
        espl__find_far_astray(r, cluster, values, poses);
        return;
    }
    espl__find_astray(&r->cells, cluster, &poses->boxes[ESPL__BOX_CENTER],
                      is_of_all ? poses->box : NULL);
}

// --- Clusters that members left ---

// Copy the poses of a cluster, and let the members that took the place of others take it there as well.
static void fill_thinned_poses(const espl_renderables *r, espl__dirty *dirty)
{
    const espl__poses *const old_poses = dirty->old_poses;
    const uint32_t *const sources = r->sources[dirty->sources].of;
    espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
    espl__poses *const poses = dirty->poses;
    const size_t from = offsetof(espl__poses, poses);

    memcpy((unsigned char *)poses + from, (const unsigned char *)old_poses + from,
           sizeof *poses - from);
    for (uint32_t place = 0; place < cluster->count; ++place) {
        const uint32_t old = espl__member_place(sources[place]);

        if (old == place) {
            continue;
        }
        poses->poses[place] = old_poses->poses[old];
        for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
            poses->boxes[k][place] = old_poses->boxes[k][old];
        }
    }
    for (uint32_t word = 0; word < ESPL__MEMBER_WORDS; ++word) {
        poses->shown[word] = espl__members_of_word(cluster->count, word);
    }
    pad_boxes(poses, cluster->count);
    dirty->is_same = true;
    finish_poses(r, dirty);
    find_astray(r, cluster, dirty->values, poses);
}

static void fill_poses(const espl_renderables *r, espl__dirty *dirty)
{
    espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
    const espl__values *const values = dirty->values != NULL ? dirty->values : dirty->old_values;
    espl__poses *const poses = dirty->poses;
    const uint32_t count = cluster->count;

    ESPL_CHECK(count != 0 && count <= ESPL__CLUSTER_SIZE);
    gather_poses(r, poses, cluster);
    fill_boxes(r, poses, values, count);
    for (uint32_t word = 0; word < ESPL__MEMBER_WORDS; ++word) {
        const uint64_t members = espl__members_of_word(count, word) & ~cluster->holes.words[word];

        cluster->bad_world.words[word] = members & ~poses->shown[word];
        poses->shown[word] &= members;
    }
    if (dirty->is_new) {
        dirty->is_same = true;
    } else {
        compare_with_before(r, dirty, values);
    }
    pad_boxes(poses, count);
    if ((r->states[dirty->cluster] & ESPL__WRITE_MEMBERS) != 0) {
        espl__find_home(&r->cells, cluster);
    }
    // Unions have no boxes yet.
    if (!espl__has_bits(&cluster->unions)) {
        finish_poses(r, dirty);
        find_astray(r, cluster, values, poses);
    }
}

// --- Unions ---

// Add the box of a slot to a union, unless a number of it is not finite.
static void add_box_of(const espl_renderables *r, uint32_t slot, uint32_t member,
                       espl__box_union *all)
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
    espl__box_of_pose(box, &r->world->forest.world[slot],
                      espl__slot_stretch(&r->world->forest, slot, room), local);
    if (espl__all_finite(box, ESPL__BOX_NUMBERS)) {
        espl__box_union_add(all, box);
    }
}

void espl__box_of_union(const espl_renderables *r, uint32_t slot, float box[ESPL__BOX_NUMBERS])
{
    const espl__forest *const forest = &r->world->forest;
    espl__box_union all;

    espl__box_union_clear(&all);
    for (uint32_t at = slot; at != ESPL__NO_SLOT; at = espl__next_in_walk(forest, at, slot, true)) {
        if (r->member_of[at] != ESPL__NO_MEMBER) {
            add_box_of(r, at, r->member_of[at], &all);
        }
    }
    espl__box_union_get(box, &all);
}

// Add the box that a union has now to the one before, which follows from its own local box.
static void add_union_now(const espl__dirty *dirty, uint32_t place)
{
    float before[ESPL__BOX_NUMBERS], now[ESPL__BOX_NUMBERS];
    espl__box_union both;

    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        before[k] = dirty->before->boxes[k][place];
        now[k] = dirty->poses->boxes[k][place];
    }
    espl__box_union_clear(&both);
    espl__box_union_add(&both, now);
    if (espl__all_finite(before, ESPL__BOX_NUMBERS)) {
        espl__box_union_add(&both, before);
    }
    espl__box_union_get(before, &both);
    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        dirty->before->boxes[k][place] = before[k];
    }
}

// Write the box that a union had in the mirror before. One that was not visible there, because it was bad for
// example, had none.
static void put_union_before(const espl_renderables *r, const espl__dirty *dirty, uint32_t place)
{
    const earlier_place from = find_earlier(r, dirty, place);
    const espl__values *const values = dirty->values != NULL ? dirty->values : dirty->old_values;

    if (!from.has_pose || (from.had->old_values->shown[from.at / 64] >> from.at % 64 & 1) == 0) {
        add_union_now(dirty, place);
        return;
    }
    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        dirty->before->boxes[k][place] = from.had->old_poses->boxes[k][from.at];
    }
    if (values->cells != NULL) {
        espl__bring_box(r, dirty->before, place, from.had->old_values->cells->of[from.at],
                        values->cells->of[place]);
    }
}

// Write the boxes of the entities with ESPL_RENDERABLE_UNION of a cluster, whose members have their values.
static void fill_unions(const espl_renderables *r, const espl__dirty *dirty)
{
    espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);

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
    find_astray(r, cluster, dirty->values != NULL ? dirty->values : dirty->old_values,
                dirty->poses);
}

// --- Jobs ---

// Prefetch the elements of members in each of some rows.
static void prefetch_box_rows(const float (*rows)[ESPL__CLUSTER_SIZE], uint32_t count,
                              bool is_written)
{
    enum { STEP = 64 / sizeof(float) };

    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        for (uint32_t place = 0; place < count; place += STEP) {
            if (is_written) {
                espl__prefetch_to_write(&rows[k][place]);
            } else {
                espl__prefetch(&rows[k][place]);
            }
        }
    }
}

// Prefetch the slots of a cluster, and the bits of its members.
static void prefetch_members(const espl__cluster *cluster)
{
    enum { SLOTS_OF_LINE = 16, LINE = 64 };

    for (uint32_t place = 0; place < ESPL__CLUSTER_SIZE; place += SLOTS_OF_LINE) {
        espl__prefetch(&cluster->slots[place]);
    }
    for (size_t at = offsetof(espl__cluster, home_low); at < sizeof *cluster; at += LINE) {
        espl__prefetch((const unsigned char *)cluster + at);
    }
}

// Prefetch what the poses of a cluster are written from, and where to. Rows are too short for a processor to
// foresee it. Precondition: its members were prefetched.
static void prefetch_fill(const espl_renderables *r, const espl__dirty *dirty)
{
    enum { POSES_OF_LINE = 2 };
    const espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
    const uint32_t count = cluster->count;

    if (dirty->poses == NULL || dirty->old_poses == NULL) {
        return;
    }
    for (uint32_t place = 0; place < count && place < POSES_AHEAD; ++place) {
        espl__prefetch(&r->world->forest.world[cluster->slots[place]]);
    }
    for (uint32_t place = 0; place < count; place += POSES_OF_LINE) {
        espl__prefetch_to_write(&dirty->poses->poses[place]);
        espl__prefetch(&dirty->old_poses->poses[place]);
    }
    prefetch_box_rows(dirty->poses->boxes, count, true);
    prefetch_box_rows(dirty->old_poses->boxes, count, false);
    if (dirty->values == NULL) {
        prefetch_box_rows(dirty->old_values->local, count, false);
    }
}

static void fill_range(void *context, size_t begin, size_t end)
{
    const espl_renderables *const r = context;
    espl__row_kinds kinds;

    espl__row_kinds_begin(&kinds, r);
    for (size_t i = begin; i < end; ++i) {
        espl__dirty *const dirty = &r->dirty[i];

        if (dirty->is_filled) {
            continue;
        }
        if (i + 2 < end) {
            prefetch_members(espl__cluster_at(r, r->dirty[i + 2].cluster));
        }
        if (i + 1 < end) {
            prefetch_fill(r, &r->dirty[i + 1]);
        }
        if (dirty->values != NULL) {
            fill_values(r, &kinds, dirty);
        }
        if (dirty->is_thinned) {
            fill_thinned_poses(r, dirty);
        } else if (dirty->poses != NULL) {
            fill_poses(r, dirty);
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
    (void)u;

    if (count >= world->job_cost / LEAST) {
        world->is_playing = true;
        (void)espl__run_ranges(&world->executor, &world->hooks, fill_range, r, count,
                               world->job_cost / CLUSTERS_OF_JOB);
        world->is_playing = false;
    }
    fill_range(r, 0, count); // what the executor did not
    for (size_t i = 0; i < count; ++i) {
        const espl__dirty *const dirty = &r->dirty[i];

        if (dirty->poses != NULL && espl__has_bits(&espl__cluster_at(r, dirty->cluster)->unions)) {
            fill_unions(r, dirty);
        }
    }
}
