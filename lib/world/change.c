// SPDX-License-Identifier: MIT
// Carrying a change of components out: where rows go, room for them there, placements that come and
// go by a playback, and the moves.
#include "lib/world/change.h"

#include <string.h>

// --- Where they go ---

typedef struct component_lists {
    const espl_component *add;
    size_t add_count;
    const espl_component *remove;
    size_t remove_count;
} component_lists;

// Find where rows of an archetype go; looked up once for each.
static espl_status find_destination(espl__store *store, uint32_t from, const component_lists *lists,
                                    uint32_t *to)
{
    espl_status status = ESPL_OK;

    *to = store->archetypes[from].changed_to;
    if (*to == ESPL__NONE) {
        status = espl__archetype_change(store, from, lists->add, lists->add_count, lists->remove,
                                        lists->remove_count, to);
        store->archetypes[from].changed_to = *to;
    }
    return status;
}

static espl_status find_placed(espl__change *c)
{
    const espl_component placement = ESPL_TRANSFORM;
    const component_lists lists = {&placement, c->placement == ESPL__PLACEMENT_COMES ? 1 : 0,
                                   &placement, c->placement == ESPL__PLACEMENT_GOES ? 1 : 0};
    espl__store *const store = &c->world->store;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < c->bucket_count && status == ESPL_OK; ++i) {
        espl__bucket *const b = &c->buckets[i];

        b->placed = b->from;
        if (c->placement != ESPL__PLACEMENT_STAYS) {
            status = find_destination(store, b->from, &lists, &b->placed);
            c->refused = status == ESPL_ERR_LIMIT ? b->first : c->refused;
        }
    }
    for (size_t i = 0; i < c->bucket_count; ++i) {
        store->archetypes[c->buckets[i].from].changed_to = ESPL__NONE;
    }
    return status;
}

static espl_status find_last(espl__change *c)
{
    const component_lists lists = {c->add, c->add_count, c->remove, c->remove_count};
    espl__store *const store = &c->world->store;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < c->bucket_count && status == ESPL_OK; ++i) {
        espl__bucket *const b = &c->buckets[i];

        status = find_destination(store, b->placed, &lists, &b->to);
        c->refused = status == ESPL_ERR_LIMIT ? b->first : c->refused;
    }
    for (size_t i = 0; i < c->bucket_count; ++i) {
        store->archetypes[c->buckets[i].placed].changed_to = ESPL__NONE;
    }
    return status;
}

static size_t count_rows(const espl__bucket *b)
{
    return (size_t)__builtin_popcountll(b->rows[0]) + (size_t)__builtin_popcountll(b->rows[1]);
}

static espl_status reserve_coming(espl__store *store, uint32_t number)
{
    const size_t coming = store->archetypes[number].coming;

    store->archetypes[number].coming = 0;
    return coming == 0 ? ESPL_OK : espl__rows_reserve(store, number, coming);
}

static espl_status reserve_rows(const espl__change *c)
{
    espl__store *const store = &c->world->store;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl__bucket *const b = &c->buckets[i];

        store->archetypes[b->to].coming += b->to != b->placed ? count_rows(b) : 0;
    }
    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl_status last = reserve_coming(store, c->buckets[i].to);

        status = status != ESPL_OK ? status : last;
    }
    return status;
}

static espl_status find_destinations(espl__change *c)
{
    const espl_status status = find_placed(c);

    return status != ESPL_OK ? status : find_last(c);
}

static espl_status prepare(espl__change *c)
{
    const espl_status status = find_destinations(c);

    return status != ESPL_OK ? status : reserve_rows(c);
}

// --- Room behind a playback ---

// Where rows go on to from where a playback moves them. One that has no room there is none of the
// change's, whose own were looked at before: it goes nowhere.
static espl_status find_moved(const espl__change *c)
{
    const component_lists lists = {c->add, c->add_count, c->remove, c->remove_count};
    const espl__playback *const playback = &c->world->playback;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < playback->move_count && status == ESPL_OK; ++i) {
        uint32_t to = 0;

        status = find_destination(&c->world->store, playback->moves[i].archetype, &lists, &to);
        status = status == ESPL_ERR_LIMIT ? ESPL_OK : status;
    }
    return status;
}

// Reserves do not add up: rows that a playback moves to where others will go too are counted with
// those. One settle leaves what was reserved.
static void count_coming(const espl__change *c)
{
    const espl__playback *const playback = &c->world->playback;
    espl__archetype *const archetypes = c->world->store.archetypes;

    for (size_t i = 0; i < playback->move_count; ++i) {
        const uint32_t at = playback->moves[i].archetype, to = archetypes[at].changed_to;

        archetypes[at].coming += 1;
        if (to != at && to != ESPL__NONE) {
            archetypes[to].coming += 1;
        }
    }
    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl__bucket *const b = &c->buckets[i];

        archetypes[b->to].coming += b->placed == b->from && b->to != b->from ? count_rows(b) : 0;
    }
}

static espl_status reserve_counted(const espl__change *c)
{
    const espl__playback *const playback = &c->world->playback;
    espl__store *const store = &c->world->store;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < playback->move_count + c->bucket_count; ++i) {
        const bool is_move = i < playback->move_count;
        const uint32_t at =
            is_move ? playback->moves[i].archetype : c->buckets[i - playback->move_count].to;
        const uint32_t to = is_move ? store->archetypes[at].changed_to : at;
        const espl_status here = reserve_coming(store, at);
        const espl_status there = to != ESPL__NONE ? reserve_coming(store, to) : ESPL_OK;

        status = status != ESPL_OK ? status : here;
        status = status != ESPL_OK ? status : there;
    }
    return status;
}

// Room for the rows where the playback leaves them: what it moves, for a placement or for a role
// whose change was put off, and what it does not.
static espl_status reserve_behind(void *context)
{
    const espl__change *const c = context;
    const espl__playback *const playback = &c->world->playback;
    espl_status status = find_moved(c);

    if (status == ESPL_OK) {
        count_coming(c);
        status = reserve_counted(c);
    }
    for (size_t i = 0; i < playback->move_count; ++i) {
        c->world->store.archetypes[playback->moves[i].archetype].changed_to = ESPL__NONE;
    }
    return status;
}

// --- Moving them ---

// Take the first run of set bits out of a word that is not 0; return its length.
static uint32_t take_run(uint64_t *word, uint32_t *first)
{
    *first = (uint32_t)__builtin_ctzll(*word);
    const uint64_t rest = ~(*word >> *first);
    const uint32_t length = rest == 0 ? ESPL__WORD_BITS : (uint32_t)__builtin_ctzll(rest);
    const uint64_t run = length == ESPL__WORD_BITS ? UINT64_MAX : (UINT64_C(1) << length) - 1;

    *word &= ~(run << *first);
    return length;
}

static size_t list_rows(const espl__bucket *b, uint32_t rows[2 * ESPL__WORD_BITS])
{
    size_t count = 0;

    for (uint32_t word = 0; word < 2; ++word) {
        for (uint64_t left = b->rows[word]; left != 0; left &= left - 1) {
            rows[count++] = word * ESPL__WORD_BITS + (uint32_t)__builtin_ctzll(left);
        }
    }
    return count;
}

static void move_rows(const espl__change *c)
{
    espl__store *const store = &c->world->store;

    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl__bucket *const b = &c->buckets[i];
        uint32_t rows[2 * ESPL__WORD_BITS];

        if (b->to != b->placed) {
            const size_t count = list_rows(b, rows);

            espl__rows_move(store, b->chunk, b->to, rows, count);
            store->archetypes[b->to].coming += count;
        }
    }
}

static void fill_rows(espl__store *store, const espl__bucket *b, const espl_component_value *value)
{
    for (uint32_t word = 0; word < 2; ++word) {
        uint64_t left = b->rows[word];

        while (left != 0) {
            uint32_t first = 0;
            const uint32_t count = take_run(&left, &first);

            espl__rows_fill(store, b->chunk, value->component, word * ESPL__WORD_BITS + first,
                            count, value->data);
        }
    }
}

// Rows that came are the last ones of their archetype: one that gets rows loses none, since its
// rows have all that is given and nothing that is taken away.
static void write_values(const espl__change *c)
{
    espl__store *const store = &c->world->store;

    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl__bucket *const b = &c->buckets[i];
        const size_t coming = store->archetypes[b->to].coming;

        for (size_t v = 0; v < c->add_count; ++v) {
            const espl_component_value *const value = &c->values[v];

            if (value->size == 0) {
                continue;
            }
            if (b->to == b->placed) {
                fill_rows(store, b, value);
            } else if (coming != 0) {
                espl__rows_fill_last(store, b->to, value->component, coming, value->data);
            }
        }
        if (b->to != b->placed) {
            store->archetypes[b->to].coming = 0;
        }
    }
}

// Values are read before the rows they may stand in are gone: these go with the settle.
static void commit(const espl__change *c)
{
    espl__heap_forbid(&c->world->heap);
    move_rows(c);
    write_values(c);
    espl__rows_settle(&c->world->store);
    espl__heap_allow(&c->world->heap);
}

// --- Placements ---

// What a playback of placements needs, taken before it.
typedef struct placing {
    espl__command *commands; // [count]
    espl_status *results;    // [count]
    unsigned char *data;     // [size] copies of the values, whose own memory the playback may move
    size_t count, size;
} placing;

static void drop_placing(const espl__change *c, const placing *p)
{
    espl__change_give(c, p->commands, p->count, sizeof *p->commands);
    espl__change_give(c, p->results, p->count, sizeof *p->results);
    espl__change_give(c, p->data, p->size, 1);
}

static espl_status make_placing(const espl__change *c, placing *p)
{
    *p = (placing){.count = c->count};
    for (size_t v = 0; v < c->add_count; ++v) {
        p->size += c->values[v].size;
    }
    p->commands = espl__change_take(c, p->count, sizeof *p->commands);
    p->results = espl__change_take(c, p->count, sizeof *p->results);
    p->data = p->size == 0 ? NULL : espl__change_take(c, p->size, 1);
    if (p->commands == NULL || p->results == NULL || (p->size != 0 && p->data == NULL)) {
        drop_placing(c, p);
        return ESPL_ERR_NO_MEMORY;
    }

    const uint8_t kind =
        c->placement == ESPL__PLACEMENT_COMES ? ESPL__COMMAND_PLACE : ESPL__COMMAND_UNPLACE;
    for (size_t i = 0; i < p->count; ++i) {
        p->commands[i] = (espl__command){.target = c->listed[i], .kind = kind};
    }
    return ESPL_OK;
}

static void copy_values(espl__change *c, const placing *p)
{
    unsigned char *to = p->data;

    for (size_t v = 0; v < c->add_count; ++v) {
        espl_component_value *const value = &c->values[v];

        if (value->data != NULL && value->size != 0) {
            memcpy(to, value->data, value->size);
            value->data = to;
            to += value->size;
        }
    }
}

static espl_status play(espl__change *c, espl__lane_view *lane)
{
    espl_world *const world = c->world;
    espl__playback *const playback = &world->playback;
    espl_report report = {0};

    world->is_playing = true;
    playback->is_strict = true;
    playback->reserve_more = reserve_behind;
    playback->more_context = c;
    const espl_status status = espl__playback_run(playback, lane, 1, ESPL__NO_TAG, &report);
    playback->reserve_more = NULL;
    playback->is_strict = false;
    world->is_playing = false;
    c->has_overflowed = report.overflowed != 0;
    return status;
}

// Play one command for each entity: all are done, or none.
static espl_status play_placements(espl__change *c, const placing *p)
{
    espl_transform value = c->transform;
    unsigned char *const payload = (unsigned char *)&value;
    espl__lane_view lane = {
        .commands = p->commands, .payloads = &payload, .results = p->results, .count = p->count};
    const espl_status status = play(c, &lane);

    if (status != ESPL_OK && c->world->playback.first_refused < p->count) {
        c->refused = c->world->playback.first_refused;
    }
    return status;
}

static bool plays_placements(const espl__change *c)
{
    if (c->placement != ESPL__PLACEMENT_GOES) {
        return c->placement == ESPL__PLACEMENT_COMES && c->bucket_count != 0;
    }
    for (size_t i = 0; i < c->bucket_count; ++i) {
        if (espl__archetype_has(&c->world->store, c->buckets[i].from, ESPL_TRANSFORM)) {
            return true;
        }
    }
    return false;
}

// --- All of it ---

// What the change needs behind the playback is reserved within it, so that what follows cannot fail:
// the archetypes are known by then.
static espl_status carry_out_placed(espl__change *c)
{
    placing p;
    espl_status status = make_placing(c, &p);

    if (status != ESPL_OK) {
        return status;
    }
    status = find_destinations(c);
    if (status == ESPL_OK) {
        copy_values(c, &p);
        status = play_placements(c, &p);
    }
    if (status == ESPL_OK) {
        espl__gather_again(c);
        status = find_destinations(c);
        ESPL_CHECK(status == ESPL_OK);
        commit(c);
    }
    drop_placing(c, &p);
    return status == ESPL_OK && c->has_overflowed ? ESPL_OVERFLOW : status;
}

espl_status espl__change_carry_out(espl__change *c)
{
    if (plays_placements(c)) {
        return carry_out_placed(c);
    }
    c->placement = ESPL__PLACEMENT_STAYS;
    const espl_status status = prepare(c);

    if (status == ESPL_OK) {
        commit(c);
    }
    return status;
}
