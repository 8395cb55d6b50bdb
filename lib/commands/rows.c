// SPDX-License-Identifier: MIT
// What an applied playback means for the store: nodes that were made and live, rows that go to another
// archetype or leave, and values that are given. Part of the reserve stage: only archetypes are made.
#include "lib/commands/playback.h"

#include "lib/base/prefetch.h"

static espl_component role_of(const espl__forest *forest, uint32_t slot)
{
    if (!espl__is_root(forest, slot)) {
        return ESPL_MEMBER;
    }
    return forest->links[slot].first_child != ESPL__NO_SLOT ? ESPL_ROOT : ESPL_SOLO;
}

// --- Made nodes ---

// Buckets of makes.
typedef struct memo {
    espl__playback *playback;
    uint32_t guess;    // of the last one with a set
    uint32_t *table;   // [table_size] bucket + 1, by source and archetype
    size_t table_size; // a power of two
} memo;

static espl_status find_archetype(memo *m, const espl__part *part, uint32_t number, unsigned kind,
                                  uint32_t *out)
{
    const espl__made *const made = &part->edit.made[number];
    const uint32_t set = part->made[number].set;

    if (set == ESPL__NONE && made->source != ESPL__NO_ENTITY) {
        espl__store *const store = m->playback->store;

        return espl__archetype_copy(store, espl__entity_archetype(store, made->source), kind, out);
    }
    const espl_status status = espl__components_archetype(
        m->playback, part, set, ESPL_SOLO + kind / 2, kind % 2 != 0, m->guess, out);

    m->guess = status == ESPL_OK ? *out : m->guess;
    return status;
}

// The bucket of copies of one source in one archetype: they get rows side by side.
static uint32_t bucket_of(const memo *m, uint32_t source, uint32_t archetype)
{
    espl__playback *const playback = m->playback;
    const size_t mask = m->table_size - 1;
    size_t at = (source * UINT32_C(0x9e3779b1) ^ archetype * UINT32_C(0x85ebca6b)) & mask;

    for (;; at = (at + 1) & mask) {
        uint32_t *const place = &m->table[at];

        if (*place == 0) {
            playback->copies[playback->copies_count++] =
                (espl__copies){.archetype = archetype, .source = source};
            *place = (uint32_t)playback->copies_count;
        }
        const espl__copies *const copies = &playback->copies[*place - 1];

        if (copies->source == source && copies->archetype == archetype) {
            return *place - 1;
        }
    }
}

// Kind of a copy: its role, and whether it has a transform.
static inline uint32_t kind_of(const espl__forest *forest, uint32_t slot)
{
    return (uint32_t)(role_of(forest, slot) - ESPL_SOLO) * 2 +
           (espl__slot_is(forest, slot, ESPL__SLOT_BARE) ? 0u : 1u);
}

// Find the bucket of a node with a set of its own, or of the first copy of its kind.
ESPL__APART static espl_status find_bucket(memo *m, const espl__part *part, uint32_t number,
                                          uint32_t kind, uint32_t *out)
{
    const uint32_t source = part->edit.made[number].source;
    uint32_t archetype = 0;
    const espl_status status = find_archetype(m, part, number, kind, &archetype);

    if (status == ESPL_OK) {
        *out = bucket_of(m, source == ESPL__NO_ENTITY ? ESPL__NONE : source, archetype);
    }
    return status;
}

static espl_status list_part(memo *m, const espl__part *part)
{
    enum { AHEAD = 12 };
    espl__playback *const playback = m->playback;
    const espl__forest *const forest = playback->forest;
    const espl__links *const links = forest->links;
    const espl__made *const made = part->edit.made;
    espl__make *out = playback->makes + playback->make_count;
    const uint32_t count = (uint32_t)espl__array_length(made);
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < count && status == ESPL_OK; ++i) {
        const uint32_t slot = made[i].slot;
        const uint32_t ahead = made[i + AHEAD < count ? i + AHEAD : i].slot;

        espl__prefetch(&links[ahead]);
        espl__prefetch(&forest->parent[ahead]);
        espl__prefetch(&forest->flags[ahead]);
        if (links[slot].entity != (ESPL__MADE | i)) {
            continue; // it died
        }
        // Copies of one node that have no sets of their own and are of one kind share a bucket.
        const espl__made_info info = part->made[i];
        const uint32_t kind = kind_of(forest, slot);
        uint32_t *const known = info.set == ESPL__NONE && info.first_bucket != ESPL__NONE
                                    ? &playback->known_buckets[info.first_bucket + kind]
                                    : NULL;
        uint32_t bucket = known != NULL ? *known : ESPL__NONE;

        if (bucket == ESPL__NONE) {
            status = find_bucket(m, part, i, kind, &bucket);
            if (known != NULL) {
                *known = bucket;
            }
        }
        if (status == ESPL_OK) {
            playback->copies[bucket].count += 1;
            *out++ = (espl__make){slot, bucket};
        }
    }
    playback->make_count = (size_t)(out - playback->makes);
    return status;
}

static size_t count_made(const espl__playback *playback)
{
    size_t count = 0;

    for (uint32_t i = 0; i < playback->part_count; ++i) {
        count += espl__array_length(playback->parts[i]->edit.made);
    }
    return count;
}

// A counting sort by bucket, stable.
static void sort_makes(espl__playback *playback)
{
    uint32_t begin = 0;

    for (size_t i = 0; i < playback->copies_count; ++i) {
        espl__copies *const copies = &playback->copies[i];

        copies->order = playback->make_order + begin;
        copies->entities = playback->make_entities;
        begin += (uint32_t)copies->count;
        copies->count = 0;
    }
    for (uint32_t i = 0; i < playback->make_count; ++i) {
        espl__copies *const copies = &playback->copies[playback->makes[i].bucket];

        playback->make_order[(size_t)(copies->order - playback->make_order) + copies->count++] = i;
    }
}

static espl_status list_makes(espl__playback *playback)
{
    espl__arena *const arena = &playback->arena;
    const size_t most = count_made(playback);
    memo m = {.playback = playback,
              .guess = ESPL__NONE,
              .table_size = 16};
    espl_status status = ESPL_OK;

    if (most == 0) {
        return ESPL_OK;
    }
    while (m.table_size < 2 * most) {
        m.table_size *= 2;
    }
    m.table = espl__arena_take_zeroed(arena, m.table_size, sizeof *m.table);
    playback->makes = espl__arena_take(arena, most, sizeof *playback->makes);
    playback->make_order = espl__arena_take(arena, most, sizeof *playback->make_order);
    playback->make_entities = espl__arena_take(arena, most, sizeof *playback->make_entities);
    playback->copies = espl__arena_take(arena, most, sizeof *playback->copies);
    if (m.table == NULL || playback->makes == NULL ||
        playback->make_order == NULL || playback->make_entities == NULL ||
        playback->copies == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < playback->part_count && status == ESPL_OK; ++i) {
        status = list_part(&m, playback->parts[i]);
    }
    sort_makes(playback);
    return status;
}

// --- Rows of living entities ---

static espl_status plain_change(espl__store *store, const espl__forest *forest, uint32_t slot,
                                uint32_t now, uint32_t *out)
{
    const espl_component role = role_of(forest, slot), placement = ESPL_TRANSFORM;
    const bool has_transform = !espl__slot_is(forest, slot, ESPL__SLOT_BARE);
    espl_status status = ESPL_OK;

    *out = now;
    if (!espl__archetype_has(store, now, role)) {
        status = espl__archetype_role(store, now, role, out);
    }
    if (status == ESPL_OK && espl__archetype_has(store, now, placement) != has_transform) {
        status = espl__archetype_change(store, *out, &placement, has_transform ? 1 : 0, &placement,
                                        1, out);
    }
    return status;
}

static espl_status list_change(espl__playback *playback, const espl__part *part, uint32_t slot,
                               uint32_t *guess)
{
    espl__store *const store = playback->store;
    const espl__forest *const forest = playback->forest;
    const uint32_t entity = forest->links[slot].entity;
    const uint32_t now = espl__entity_archetype(store, entity);
    const uint32_t set = espl__components_set_of(playback, part, slot);
    uint32_t archetype = now;
    espl_status status = ESPL_OK;

    if (set == ESPL__NONE) {
        status = plain_change(store, forest, slot, now, &archetype);
    } else {
        status = espl__components_archetype(playback, part, set, role_of(forest, slot),
                                            !espl__slot_is(forest, slot, ESPL__SLOT_BARE), *guess,
                                            &archetype);
        *guess = archetype;
        if (status == ESPL_OK && espl__values_are_given(&part->sets, set)) {
            playback->given[playback->given_count++] =
                (espl__given_values){entity, part->number, set};
        }
    }
    if (status == ESPL_OK && archetype != now) {
        const espl__record *const record = &store->records[entity];

        playback->moves[playback->move_count++] =
            (espl__row_change){entity, archetype, record->chunk, record->row};
    }
    return status;
}

// A node that lives, lived before, and was not looked at yet.
static bool is_open(const espl__forest *forest, uint32_t slot)
{
    return (forest->links[slot].entity & ESPL__MADE) == 0 &&
           !espl__slot_is(forest, slot, ESPL__SLOT_MARK);
}

static espl_status list_slot(espl__playback *playback, const espl__part *part, uint32_t slot,
                             uint32_t *guess)
{
    espl__forest *const forest = playback->forest;

    if (!is_open(forest, slot)) {
        return ESPL_OK;
    }
    forest->flags[slot] |= ESPL__SLOT_MARK;
    return list_change(playback, part, slot, guess);
}

static espl_status list_touched(espl__playback *playback, const espl__part *part)
{
    enum { FAR = 16, NEAR = 8 };
    const espl__links *const links = playback->forest->links;
    const uint32_t *const touched = part->edit.touched;
    const size_t count = espl__array_length(touched);
    const size_t records = espl__array_length(playback->store->records);
    uint32_t guess = ESPL__NONE;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        const uint32_t entity = links[touched[i + NEAR < count ? i + NEAR : i]].entity;

        espl__prefetch(&links[touched[i + FAR < count ? i + FAR : i]]);
        if (entity < records) {
            espl__prefetch(&playback->store->records[entity]);
        }
        status = list_slot(playback, part, touched[i], &guess);
    }
    return status;
}

static espl_status list_noted(espl__playback *playback, const espl__part *part)
{
    uint32_t guess = ESPL__NONE;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < espl__array_length(part->notes) && status == ESPL_OK; ++i) {
        status = list_slot(playback, part, part->notes[i].slot, &guess);
    }
    return status;
}

static espl_status list_removed(espl__playback *playback, const espl__part *part)
{
    for (size_t i = 0; i < espl__array_length(part->edit.removed); ++i) {
        const uint32_t entity = part->edit.removed[i].entity;

        if ((entity & ESPL__MADE) == 0) {
            playback->removals[playback->removal_count++] = entity;
        }
    }
    return ESPL_OK;
}

static espl_status clear_marks(espl__playback *playback, const espl__part *part)
{
    uint8_t *const flags = playback->forest->flags;

    for (size_t i = 0; i < espl__array_length(part->edit.touched); ++i) {
        flags[part->edit.touched[i]] &= (uint8_t)~ESPL__SLOT_MARK;
    }
    for (size_t i = 0; i < espl__array_length(part->notes); ++i) {
        flags[part->notes[i].slot] &= (uint8_t)~ESPL__SLOT_MARK;
    }
    return ESPL_OK;
}

// Step by step over all parts, so that the result does not depend on how groups are divided.
static espl_status list_living(espl__playback *playback)
{
    static espl_status (*const steps[])(espl__playback *, const espl__part *) = {
        list_touched, list_noted, list_removed};
    espl_status status = ESPL_OK;

    for (size_t step = 0; step < sizeof steps / sizeof *steps; ++step) {
        for (uint32_t i = 0; i < playback->part_count && status == ESPL_OK; ++i) {
            status = steps[step](playback, playback->parts[i]);
        }
    }
    for (uint32_t i = 0; i < playback->part_count; ++i) {
        (void)clear_marks(playback, playback->parts[i]);
    }
    return status;
}

// --- Sorting rows that move ---

// One chunk's changes in the order of archetypes' first appearance, rows ascending.
static void sort_bucket(espl__row_change *out, const espl__row_change *in, size_t count)
{
    uint16_t by_row[ESPL__CHUNK_ROWS];
    uint64_t left[2] = {0, 0}; // rows not taken yet; the others' places in by_row mean nothing
    size_t at = 0;

    for (size_t i = 0; i < count; ++i) {
        by_row[in[i].row] = (uint16_t)i;
        left[in[i].row >> 6] |= UINT64_C(1) << (in[i].row & 63);
    }
    for (size_t i = 0; i < count; ++i) {
        const bool is_left = (left[in[i].row >> 6] >> (in[i].row & 63) & 1) != 0;

        for (uint32_t word = 0; is_left && word < 2; ++word) {
            for (uint64_t rows = left[word]; rows != 0; rows &= rows - 1) {
                const uint32_t bit = (uint32_t)__builtin_ctzll(rows);
                const espl__row_change *const change = &in[by_row[word * 64 + bit]];

                if (change->archetype == in[i].archetype) {
                    out[at++] = *change;
                    left[word] ^= UINT64_C(1) << bit;
                }
            }
        }
    }
}

// Sort by chunk, numbered by first appearance, then as sort_bucket() does. Linear: a chunk has few rows
// and they go to few archetypes.
static bool sort_moves(espl__playback *playback)
{
    const size_t count = playback->move_count;
    espl__row_change *const changes = playback->moves;
    espl__row_change *const by_chunk = espl__arena_take(&playback->arena, count, sizeof *by_chunk);
    uint32_t *const ends = espl__arena_take_zeroed(&playback->arena, count + 1, sizeof *ends);
    uint32_t buckets = 0;

    if (count < 2) {
        return true;
    }
    if (by_chunk == NULL || ends == NULL ||
        !espl__marks_reserve(playback->heap, &playback->chunk_marks,
                             espl__array_length(playback->store->chunks))) {
        return false;
    }
    uint32_t *const marks = playback->chunk_marks;
    for (size_t i = 0; i < count; ++i) {
        uint32_t *const mark = &marks[changes[i].chunk];

        *mark = *mark == 0 ? ++buckets : *mark;
        ends[*mark] += 1;
    }
    for (uint32_t bucket = 1; bucket <= buckets; ++bucket) {
        ends[bucket] += ends[bucket - 1];
    }
    for (size_t i = 0; i < count; ++i) {
        by_chunk[ends[marks[changes[i].chunk] - 1]++] = changes[i];
    }
    for (size_t i = 0; i < count; ++i) {
        marks[by_chunk[i].chunk] = 0;
    }

    // Each bucket's begin moved to its end while it was filled.
    size_t begin = 0;
    for (uint32_t bucket = 0; bucket < buckets; ++bucket) {
        sort_bucket(changes + begin, by_chunk + begin, ends[bucket] - begin);
        begin = ends[bucket];
    }
    return true;
}

// --- All of it ---

espl_status espl__list_rows(espl__playback *playback)
{
    size_t changes = 0, removals = 0, notes = 0;
    espl_status status = list_makes(playback);

    if (status != ESPL_OK) {
        return status;
    }
    for (uint32_t i = 0; i < playback->part_count; ++i) {
        changes += espl__array_length(playback->parts[i]->edit.touched);
        notes += espl__array_length(playback->parts[i]->notes);
        removals += espl__array_length(playback->parts[i]->edit.removed);
    }
    changes += notes;
    playback->moves = espl__arena_take(&playback->arena, changes, sizeof *playback->moves);
    playback->removals = espl__arena_take(&playback->arena, removals, sizeof(uint32_t));
    playback->given = espl__arena_take(&playback->arena, notes, sizeof *playback->given);
    if (playback->moves == NULL || playback->removals == NULL || playback->given == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    status = list_living(playback);
    if (status != ESPL_OK) {
        return status;
    }
    return sort_moves(playback) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}
