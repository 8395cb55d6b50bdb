// SPDX-License-Identifier: MIT
// Which entities are renderables, and which slots they are in: what planes marked since the last update is
// compared with the members.
//
// Members are found by slot. A slot that a plane of places marked, or whose entity the index plane marked, is
// a candidate: it may have another entity than before. First the members of candidates that went elsewhere
// leave their slots, then they take their new ones, and at last the entities that are no member are new.
#include "lib/renderables/far_places.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"
#include "lib/math/boxes.h"
#include "lib/renderables/codes.h"
#include "lib/tree/changes.h"
#include "lib/tree/jumps.h"

#include <string.h>

// --- Rows ---

void espl__row_kinds_begin(espl__row_kinds *kinds, const espl_renderables *r)
{
    kinds->r = r;
    for (size_t i = 0; i < sizeof kinds->kinds / sizeof *kinds->kinds; ++i) {
        kinds->kinds[i].archetype = ESPL__NONE;
    }
}

static void fill_kind(espl__row_kind *kind, const espl_renderables *r, uint32_t number)
{
    const espl__archetype *const archetype = &r->world->store.archetypes[number];
    const uint64_t hidden = UINT64_C(1) << ESPL_PREFAB | UINT64_C(1) << ESPL_DISABLED;
    const bool is_shown =
        (archetype->builtin >> ESPL_TRANSFORM & 1) != 0 && (archetype->builtin & hidden) == 0;

    *kind = (espl__row_kind){
        .archetype = number,
        .bounds = espl__archetype_column(archetype, r->bounds),
        .renderable = espl__archetype_column(archetype, r->renderable),
        .layers = espl__archetype_column(archetype, r->layers),
    };
    kind->is_renderable = is_shown && kind->bounds != ESPL__NONE && kind->renderable != ESPL__NONE;
}

const espl__row_kind *espl__row_kind_of(espl__row_kinds *kinds, uint32_t archetype)
{
    espl__row_kind *const kind =
        &kinds->kinds[archetype % (sizeof kinds->kinds / sizeof *kinds->kinds)];

    if (kind->archetype != archetype) {
        fill_kind(kind, kinds->r, archetype);
    }
    return kind;
}

void espl__read_values(const espl_renderables *r, espl__row_kinds *kinds, uint32_t index,
                       espl_bounds *bounds, espl_renderable *renderable)
{
    const espl__store *const store = &r->world->store;
    const espl__record *const record = &store->records[index];
    const espl__chunk *const chunk = &store->chunks[record->chunk];
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const espl__row_kind *const kind = espl__row_kind_of(kinds, chunk->archetype);
    const uint32_t row = espl__record_row(record);

    ESPL_CHECK(kind->is_renderable);
    memcpy(bounds,
           chunk->bytes + archetype->columns[kind->bounds].offset + (size_t)row * sizeof *bounds,
           sizeof *bounds);
    memcpy(renderable,
           chunk->bytes + archetype->columns[kind->renderable].offset +
               (size_t)row * sizeof *renderable,
           sizeof *renderable);
}

// Return the index of the entity of a slot if it is a renderable, else ESPL__NONE.
static uint32_t find_renderable(const espl_renderables *r, espl__row_kinds *kinds, uint32_t slot)
{
    const espl__store *const store = &r->world->store;

    if (slot >= r->world->forest.end) {
        return ESPL__NONE;
    }
    const uint32_t index = r->world->forest.links[slot].entity;

    // Free slots have the entities of an earlier time, which the records show.
    if (index >= espl__array_length(store->records)) {
        return ESPL__NONE;
    }
    const espl__record *const record = &store->records[index];

    if (record->row >= ESPL__ROW_BARE || record->slot != slot ||
        !espl__row_kind_of(kinds, store->chunks[record->chunk].archetype)->is_renderable) {
        return ESPL__NONE;
    }
    return index;
}

// Tell whether a member is a renderable still. @param slot  out: where it is now.
static bool find_member(const espl_renderables *r, espl__row_kinds *kinds, uint32_t member,
                        uint32_t *slot)
{
    const espl__store *const store = &r->world->store;
    const espl_entity entity =
        espl__cluster_at(r, espl__member_cluster(member))->entities[espl__member_place(member)];

    if (!espl__is_alive_and_placed(store, entity.index, entity.generation)) {
        return false;
    }
    const espl__record *const record = &store->records[entity.index];

    *slot = record->slot;
    return espl__row_kind_of(kinds, store->chunks[record->chunk].archetype)->is_renderable;
}

// --- Arrays by slot ---

static bool reserve_words(espl_renderables *r, uint64_t **words, size_t count)
{
    const size_t length = espl__array_length(*words);

    if (length >= count) {
        return true;
    }
    if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, *words, count - length)) {
        return false;
    }
    espl__array_set_length(*words, count);
    memset(*words + length, 0, (count - length) * sizeof **words);
    return true;
}

static bool reserve_cells(espl_renderables *r, size_t slots)
{
    const size_t length = espl__array_length(r->cells_of);

    if (length >= slots) {
        return true;
    }
    if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, r->cells_of, slots - length)) {
        return false;
    }
    espl__array_set_length(r->cells_of, slots);
    memset(r->cells_of + length, 0, (slots - length) * sizeof *r->cells_of);
    return true;
}

bool espl__slots_reserve(espl_renderables *r)
{
    const size_t slots = r->world->forest.end;
    const size_t length = espl__array_length(r->member_of);
    const size_t layered = espl__array_length(r->layers_of);
    espl__heap *const heap = &r->world->heap;

    if (length < slots) {
        if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->member_of, slots - length)) {
            return false;
        }
        espl__array_set_length(r->member_of, slots);
        memset(r->member_of + length, 0xff, (slots - length) * sizeof *r->member_of);
    }
    if (r->layers_of != NULL && layered < slots) {
        if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->layers_of, slots - layered)) {
            return false;
        }
        espl__array_set_length(r->layers_of, slots);
        memset(r->layers_of + layered, 0xff, (slots - layered) * sizeof *r->layers_of);
    }
    if (espl__renderables_have_cells(r) && !reserve_cells(r, slots)) {
        return false;
    }
    const size_t words = (espl__array_length(r->member_of) + 63) / 64;

    return reserve_words(r, &r->noted, words) && reserve_words(r, &r->climbed, words);
}

// --- Candidates ---

static bool note_candidate(espl_renderables *r, uint32_t slot)
{
    const uint64_t bit = UINT64_C(1) << (slot % 64);

    if ((r->noted[slot / 64] & bit) != 0) {
        return true;
    }
    if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, r->candidates, 1)) {
        return false;
    }
    r->noted[slot / 64] |= bit;
    ESPL_ARRAY_PUSH(r->candidates, slot);
    return true;
}

void espl__clear_candidates(espl_renderables *r)
{
    for (size_t i = 0; i < espl__array_length(r->candidates); ++i) {
        r->noted[r->candidates[i] / 64] = 0;
    }
    espl__array_set_length(r->candidates, 0);
}

// Note the slots of entities that the index plane marked: another component may have made them renderables.
static bool note_indices(espl_renderables *r)
{
    const espl_world *const world = r->world;
    const espl__record *const records = world->store.records;
    espl__plane_walk walk = {
        .planes = {&world->store.index_plane},
        .plane_count = 1,
        .items = (uint32_t)espl__array_length(records),
        .since = espl__plane_since(world->moment, r->last),
    };

    espl__plane_walk_begin(&walk);
    for (uint64_t left; (left = espl__plane_walk_next(&walk)) != 0;) {
        for (; left != 0; left &= left - 1) {
            const uint32_t index = walk.block * ESPL__PLANE_BLOCK + espl__lowest_bit(left);

            if (records[index].row < ESPL__ROW_RETIRED && !note_candidate(r, records[index].slot)) {
                return false;
            }
        }
    }
    return true;
}

// Note the members of slots that the forest does not have any more. A forest that was made anew was smaller in
// between, and marks of slots past its end are gone, even where it has grown since.
static bool note_past_slots(espl_renderables *r)
{
    const espl__forest *const forest = &r->world->forest;
    const uint32_t known = r->known_slots;

    // The slots of members follow before an update that is refused ends.
    r->known_slots = known > forest->end ? known : forest->end;
    for (uint32_t slot = forest->makings == r->known_makings ? forest->end : 0; slot < known;
         ++slot) {
        if (r->member_of[slot] != ESPL__NO_MEMBER && !note_candidate(r, slot)) {
            return false;
        }
    }
    return true;
}

// --- Members that moved ---

void espl__climb_unions(espl_renderables *r, uint32_t slot)
{
    const uint32_t *const parents = r->world->forest.parent;

    for (uint32_t at = parents[slot]; at != ESPL__NO_SLOT; at = parents[at]) {
        const uint64_t bit = UINT64_C(1) << (at % 64);
        const uint32_t member = r->member_of[at];

        if ((r->climbed[at / 64] & bit) != 0) {
            return;
        }
        r->climbed[at / 64] |= bit;
        if (member != ESPL__NO_MEMBER &&
            espl__has_bit(&espl__cluster_at(r, espl__member_cluster(member))->unions,
                          espl__member_place(member))) {
            espl__mark_dirty(r, espl__member_cluster(member), ESPL__WRITE_POSES);
        }
    }
}

// Tell whether the stretch of a member is another one than in its values block.
static bool has_new_stretch(const espl_renderables *r, const espl__values *values, uint32_t slot,
                            uint32_t place)
{
    static const float none[3] = {1, 1, 1};
    float room[3];
    const float *const now = espl__slot_stretch(&r->world->forest, slot, room);
    const float *const before =
        values->stretches != NULL ? values->stretches->stretch[place] : none;

    return memcmp(now != NULL ? now : none, before, sizeof none) != 0;
}

// Tell whether the pose of a member is the one that its poses block has. In a world with cells, a member that
// came to another cell alone is where it was.
static bool is_where_it_was(const espl_renderables *r, const espl__cluster_entry *entry,
                            uint32_t slot, uint32_t place)
{
    const espl_pose *const now = &r->world->forest.world[slot];

    if (!espl__renderables_have_cells(r)) {
        return espl__pose_is_same(now, &entry->poses->poses[place]);
    }
    espl_pose before = entry->poses->poses[place];

    espl__bring_to_cell(r, before.position, entry->values->cells->of[place],
                        espl__stored_cell(r, slot));
    return espl__pose_is_same(now, &before);
}

// Tell whether a member of a still cluster that moves becomes a moving one in this update, and note it where it
// does not.
static bool rises(const espl_renderables *r, espl__update *u, uint32_t cluster)
{
    const uint64_t code = espl__cluster_at(r, cluster)->codes[0];

    if (u->rises != 0 && code >= u->rising.low && code <= u->rising.high) {
        u->rises -= 1;
        return true;
    }
    u->unrisen += 1;
    u->unrisen_clusters += (r->states[cluster] & ESPL__WRITE_POSES) == 0 ? 1 : 0;
    u->first_unrisen = code < u->first_unrisen ? code : u->first_unrisen;
    if (code > u->rising.high && code < u->next_unrisen) {
        u->next_unrisen = code;
    }
    return false;
}

bool espl__collect_moved(espl_renderables *r, espl__update *u, uint32_t slot, uint32_t member)
{
    const uint32_t cluster = espl__member_cluster(member), place = espl__member_place(member);
    const espl__cluster_entry *const entry = espl__tables_entry(&r->tables, cluster);
    const bool is_moving = (r->states[cluster] & ESPL__CLUSTER_MOVING) != 0;
    const bool is_same = !is_moving && is_where_it_was(r, entry, slot, place);

    if ((u->has_sides || entry->values->stretches != NULL) &&
        has_new_stretch(r, entry->values, slot, place)) {
        espl__mark_dirty(r, cluster, ESPL__WRITE_VALUES | ESPL__WRITE_BOXES | ESPL__WRITE_POSES);
    } else if (is_same) {
        return true;
    }
    if (r->union_count != 0) {
        espl__climb_unions(r, slot);
    }
    if (is_moving || is_same || !rises(r, u, cluster)) {
        espl__mark_dirty(r, cluster, ESPL__WRITE_POSES);
        return true;
    }
    // The cluster that it leaves keeps the poses of the others.
    return espl__add_mover(r, member, ESPL__MOVING, espl__code_now(r, member));
}

// Note the slots of a block that jumped.
static bool note_jumps(espl_renderables *r, uint32_t first, uint64_t bits)
{
    if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, r->jumps, ESPL__PLANE_BLOCK)) {
        return false;
    }
    for (; bits != 0; bits &= bits - 1) {
        ESPL_ARRAY_PUSH(r->jumps, first + espl__lowest_bit(bits));
    }
    return true;
}

// Let the members that jumped have no pose before. The mark of a slot outlives its node: the members of new ones
// have none either.
static void list_jumps(espl_renderables *r)
{
    for (size_t i = 0; i < espl__array_length(r->jumps); ++i) {
        const uint32_t slot = r->jumps[i];
        const uint32_t member =
            espl__slot_has_node(&r->world->forest, slot) ? r->member_of[slot] : ESPL__NO_MEMBER;

        if (member != ESPL__NO_MEMBER) {
            const uint32_t cluster = espl__member_cluster(member);

            espl__set_bit(&espl__cluster_at(r, cluster)->jumped, espl__member_place(member));
            espl__mark_dirty(r, cluster, ESPL__WRITE_POSES | ESPL__WRITE_BOXES);
        }
    }
}

// Walk the slots that planes marked. Of a slot whose world alone changed the member is the same.
static bool walk_slots(espl_renderables *r, espl__update *u)
{
    const espl_world *const world = r->world;
    const espl__plane *const planes = world->forest.tracks.planes;
    // All slots count as changed in the first plane at the first update.
    espl__plane_walk walk = {
        .planes = {&planes[ESPL__PLANE_PLACE], &planes[ESPL__PLANE_WORLD],
                   &planes[ESPL__PLANE_JUMP]},
        .plane_count = 3,
        .items = world->forest.end,
        .since = espl__plane_since(world->moment, r->last),
        .is_whole = r->last == 0,
    };
    // Without sides now, members have lost the stretches that their values blocks have of the update before.
    const bool is_plain = !u->has_sides && !r->had_sides && r->union_count == 0;

    espl__plane_walk_begin(&walk);
    for (uint64_t left; (left = espl__plane_walk_next(&walk)) != 0;) {
        const uint32_t first = walk.block * ESPL__PLANE_BLOCK;

        u->report.marked += espl__count_bits(left);
        for (uint64_t bits = left & ~walk.changed[0]; bits != 0; bits &= bits - 1) {
            const uint32_t slot = first + espl__lowest_bit(bits), member = r->member_of[slot];

            if (member == ESPL__NO_MEMBER) {
                continue;
            }
            // Most members that move are in a cluster that is known to be written.
            const uint8_t state = r->states[espl__member_cluster(member)];

            if (is_plain && (state & ESPL__CLUSTER_MOVING) != 0) {
                if ((state & ESPL__WRITE_POSES) == 0) {
                    espl__mark_dirty(r, espl__member_cluster(member), ESPL__WRITE_POSES);
                }
                continue;
            }
            if (!espl__collect_moved(r, u, slot, member)) {
                return false;
            }
        }
        if (walk.changed[2] != 0 && !note_jumps(r, first, walk.changed[2])) {
            return false;
        }
        for (uint64_t bits = left & walk.changed[0]; bits != 0; bits &= bits - 1) {
            if (!note_candidate(r, first + espl__lowest_bit(bits))) {
                return false;
            }
        }
    }
    return true;
}

// --- Presence ---

// Note the slots of members that went in an update which was refused, and that are renderables again.
static bool note_returns(espl_renderables *r, espl__row_kinds *kinds)
{
    bool is_done = true;
    uint32_t slot;

    for (size_t i = 0; i < espl__array_length(r->gone) && is_done; ++i) {
        is_done = !find_member(r, kinds, r->gone[i], &slot) || note_candidate(r, slot);
    }
    return is_done;
}

// Make room for a member that goes and one that gets another slot for each candidate, and for each member that may
// return.
static bool reserve_presence(espl_renderables *r)
{
    const size_t count = espl__array_length(r->candidates);
    espl__heap *const heap = &r->world->heap;

    espl__array_set_length(r->relocated, 0);
    return ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->gone, count) &&
           ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->relocated,
                              count + espl__array_length(r->gone));
}

// Let members return, so that they count as if they had never gone.
static void return_members(espl_renderables *r, espl__row_kinds *kinds)
{
    const size_t count = espl__array_length(r->gone);
    size_t left = 0;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t member = r->gone[i], place = espl__member_place(member);
        espl__cluster *const cluster = espl__cluster_at(r, espl__member_cluster(member));
        uint32_t slot;

        if (find_member(r, kinds, member, &slot)) {
            espl__put_bit(&cluster->gone, place, false);
            cluster->slots[place] = slot;
            ESPL_ARRAY_PUSH(r->relocated, member);
        } else {
            r->gone[left++] = member;
        }
    }
    espl__array_set_length(r->gone, left);
}

// Let the members of candidates leave slots that are not theirs any more. The list of members that went stays
// until an update has removed them.
static void leave_slots(espl_renderables *r, espl__row_kinds *kinds)
{
    const size_t count = espl__array_length(r->candidates);

    for (size_t i = 0; i < count; ++i) {
        const uint32_t slot = r->candidates[i], member = r->member_of[slot];
        uint32_t now = slot;

        if (member == ESPL__NO_MEMBER) {
            continue;
        }
        const uint32_t number = espl__member_cluster(member), place = espl__member_place(member);
        espl__cluster *const cluster = espl__cluster_at(r, number);

        if (!find_member(r, kinds, member, &now)) {
            ESPL_ARRAY_PUSH(r->gone, member);
            espl__set_bit(&cluster->gone, place);
            espl__mark_dirty(r, number, ESPL__WRITE_HOLES);
            r->member_of[slot] = ESPL__NO_MEMBER;
        } else if (now != slot) {
            ESPL_ARRAY_PUSH(r->relocated, member);
            cluster->slots[place] = now;
            r->member_of[slot] = ESPL__NO_MEMBER;
        }
    }
}

// Let members take their new slots, all of which were left before.
static void take_slots(espl_renderables *r)
{
    const size_t count = espl__array_length(r->relocated);

    for (size_t i = 0; i < count; ++i) {
        const uint32_t member = r->relocated[i];
        const uint32_t slot =
            espl__cluster_at(r, espl__member_cluster(member))->slots[espl__member_place(member)];

        ESPL_CHECK(r->member_of[slot] == ESPL__NO_MEMBER);
        r->member_of[slot] = member;
    }
}

// List a new member.
static bool add_new(espl_renderables *r, espl__row_kinds *kinds, uint32_t slot, uint32_t index,
                    espl__update *u)
{
    espl__arrival **const list = &r->arrivals[ESPL__STILL];

    if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, *list, 1)) {
        return false;
    }
    const size_t at = espl__array_length(*list);
    espl__arrival *const arrival = &(*list)[at];

    espl__array_set_length(*list, at + 1);
    arrival->slot = slot;
    arrival->source = ESPL__FROM_STORE | (uint32_t)at;
    u->added += 1;
    arrival->entity = espl__entity_at(&r->world->store, index);
    espl__read_values(r, kinds, index, &arrival->bounds, &arrival->renderable);
    return true;
}

// Make room for as many new members as there are candidates without a member, so that a long list does not grow
// step by step.
static bool reserve_new(espl_renderables *r)
{
    const size_t count = espl__array_length(r->candidates);
    size_t unnamed = 0;

    for (size_t i = 0; i < count; ++i) {
        unnamed += r->member_of[r->candidates[i]] == ESPL__NO_MEMBER ? 1 : 0;
    }
    return ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, r->arrivals[ESPL__STILL],
                              unnamed);
}

// Look at the entities that candidates have now.
static bool list_presence(espl_renderables *r, espl__row_kinds *kinds, espl__update *u)
{
    enum { AHEAD = 16 };
    const espl__forest *const forest = &r->world->forest;
    const espl__record *const records = r->world->store.records;
    const size_t count = espl__array_length(r->candidates);

    for (size_t i = 0; i < count; ++i) {
        const uint32_t slot = r->candidates[i], member = r->member_of[slot];

        if (i + AHEAD < count && r->candidates[i + AHEAD] < forest->end) {
            espl__prefetch_element(records, forest->links[r->candidates[i + AHEAD]].entity,
                                   sizeof *records);
        }
        if (member != ESPL__NO_MEMBER) {
            if (!espl__collect_moved(r, u, slot, member)) {
                return false;
            }
            continue;
        }
        const uint32_t index = find_renderable(r, kinds, slot);

        if (index != ESPL__NONE && !add_new(r, kinds, slot, index, u)) {
            return false;
        }
    }
    return true;
}

// --- Movers ---

uint64_t espl__code_now(const espl_renderables *r, uint32_t member)
{
    const uint32_t number = espl__member_cluster(member), place = espl__member_place(member);
    const espl__values *const values = espl__tables_entry(&r->tables, number)->values;
    espl_bounds bounds = {{0, 0, 0}, {0, 0, 0}};
    float center[3];

    for (int k = 0; k < 3; ++k) {
        bounds.center[k] = values->local[ESPL__BOX_CENTER + k][place];
    }
    espl__find_center(r, espl__cluster_at(r, number)->slots[place], &bounds, center);
    return espl__code_of(&r->cells, center);
}

bool espl__add_mover(espl_renderables *r, uint32_t member, int category, uint64_t code)
{
    const uint32_t number = espl__member_cluster(member), place = espl__member_place(member);
    espl__cluster *const cluster = espl__cluster_at(r, number);

    if (espl__has_bit(&cluster->leaving, place) || espl__has_bit(&cluster->gone, place)) {
        return true;
    }
    if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, r->arrivals[category], 1)) {
        return false;
    }
    espl__set_bit(&cluster->leaving, place);
    espl__mark_dirty(r, number, ESPL__WRITE_HOLES);
    ESPL_ARRAY_PUSH(r->arrivals[category], (espl__arrival){
                                               .code = code,
                                               .source = member,
                                           });
    return true;
}

// --- The walk ---

bool espl__collect_members(espl_renderables *r, espl__row_kinds *kinds, espl__update *u)
{
    espl__array_set_length(r->jumps, 0);
    espl__jumps_spread(&r->world->forest);
    bool is_done = (r->last == 0 || note_indices(r)) && note_past_slots(r) && walk_slots(r, u) &&
                   note_returns(r, kinds) && reserve_presence(r);

    if (is_done) {
        return_members(r, kinds);
        leave_slots(r, kinds);
        take_slots(r);
        list_jumps(r);
        u->is_union_whole = espl__array_length(r->candidates) != 0;
        is_done = reserve_new(r) && list_presence(r, kinds, u);
    }
    if (is_done) {
        espl__find_codes(r);
    }
    return is_done;
}
