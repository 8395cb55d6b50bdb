// SPDX-License-Identifier: MIT
// Applying a change of components to the entities that were gathered (lib/world/change.h).
//
// A change that adds or removes no transform has three steps: find the archetype that each bucket
// moves to, reserve rows there, and move and fill the rows. The first two may fail, the third
// cannot.
//
// A transform is added or removed by a strict playback of one command for each entity. The commands are
// those of recorders, and share one payload in the world's own buffer.
//
// Invariants between calls: espl__archetype.changed_to is ESPL__NONE and .coming is 0 for all
// archetypes.
#include "lib/world/change.h"

#include "lib/base/bits.h"
#include "lib/world/creation.h"
#include "lib/world/structure.h"

#include <string.h>

// --- Destinations ---

// Find the archetype that rows of an archetype move to. It is looked up once for each archetype and
// kept in `changed_to` until the caller clears it.
static espl_status find_destination(const espl__change *c, uint32_t from, uint32_t *to)
{
    espl__store *const store = &c->world->store;
    espl_status status = ESPL_OK;

    *to = store->archetypes[from].changed_to;
    if (*to == ESPL__NONE) {
        status = espl__archetype_change(store, from, c->added, c->added_count, c->removed,
                                        c->removed_count, to);
        store->archetypes[from].changed_to = *to;
    }
    return status;
}

// Find `to` of all buckets. A limit is reported with the first entity of the bucket.
static espl_status find_destinations(espl__change *c)
{
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < c->bucket_count && status == ESPL_OK; ++i) {
        espl__bucket *const b = &c->buckets[i];

        status = find_destination(c, b->from, &b->to);
        c->refused = status == ESPL_ERR_LIMIT ? b->first : c->refused;
    }
    for (size_t i = 0; i < c->bucket_count; ++i) {
        c->world->store.archetypes[c->buckets[i].from].changed_to = ESPL__NONE;
    }
    return status;
}

// Rows of a bucket.
static size_t count_rows(const espl__bucket *b)
{
    return (size_t)espl__count_bits(b->rows[0]) + espl__count_bits(b->rows[1]);
}

// Reserve rows in each archetype that buckets move to. Each archetype is reserved once with the sum
// of its rows, because reserves do not add up.
static espl_status reserve_arrivals(const espl__change *c)
{
    espl__store *const store = &c->world->store;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl__bucket *const b = &c->buckets[i];

        store->archetypes[b->to].coming += b->to != b->from ? count_rows(b) : 0;
    }
    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl_status last = espl__rows_reserve_coming(store, c->buckets[i].to);

        status = status != ESPL_OK ? status : last;
    }
    return status;
}

// Everything that can fail in a change without a transform.
static espl_status reserve_change(espl__change *c)
{
    const espl_status status = find_destinations(c);

    return status != ESPL_OK ? status : reserve_arrivals(c);
}

// --- Moving rows ---

// Remove the first group of consecutive 1 bits from a word.
// @param word  not 0.
// @param first  out: the lowest bit of the group.
// @return its length.
static uint32_t take_bits(uint64_t *word, uint32_t *first)
{
    ESPL_CHECK_FULL(*word != 0);
    *first = espl__lowest_bit(*word);
    const uint64_t rest = ~(*word >> *first);
    const uint32_t length = rest == 0 ? ESPL__WORD_BITS : espl__lowest_bit(rest);
    const uint64_t bits = length == ESPL__WORD_BITS ? UINT64_MAX : (UINT64_C(1) << length) - 1;

    *word &= ~(bits << *first);
    return length;
}

// List the rows of a bucket in ascending order.
// @return how many there are.
static size_t list_rows(const espl__bucket *b, uint32_t rows[2 * ESPL__WORD_BITS])
{
    size_t count = 0;

    for (uint32_t word = 0; word < 2; ++word) {
        for (uint64_t left = b->rows[word]; left != 0; left &= left - 1) {
            rows[count++] = word * ESPL__WORD_BITS + espl__lowest_bit(left);
        }
    }
    ESPL_CHECK(count == count_rows(b));
    return count;
}

// Move the rows of all buckets to their archetypes. Values of new components are zeros.
// Postcondition: `coming` of an archetype is the number of rows that came, which are its last ones.
static void move_rows(const espl__change *c)
{
    espl__store *const store = &c->world->store;

    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl__bucket *const b = &c->buckets[i];
        uint32_t rows[2 * ESPL__WORD_BITS];

        if (b->to != b->from) {
            const size_t count = list_rows(b, rows);

            espl__rows_move(store, b->chunk, b->to, rows, count);
            store->archetypes[b->to].coming += count;
        }
    }
}

// Write a value to the rows of a bucket that do not move, a group of consecutive rows at a time.
static void fill_in_place(espl__store *store, const espl__bucket *b, const espl__given *value)
{
    for (uint32_t word = 0; word < 2; ++word) {
        uint64_t left = b->rows[word];

        while (left != 0) {
            uint32_t first = 0;
            const uint32_t count = take_bits(&left, &first);

            espl__rows_fill(store, b->chunk, value->header.component,
                            word * ESPL__WORD_BITS + first, count, value->bytes);
        }
    }
}

// Write the added values. Rows that moved are the last ones of their archetype: an archetype that
// receives rows loses none, because its rows have all that is added and nothing that is removed.
// Several buckets may move to one archetype; the first fills all of its new rows.
static void write_added_values(const espl__change *c)
{
    espl__store *const store = &c->world->store;

    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl__bucket *const b = &c->buckets[i];
        const size_t coming = store->archetypes[b->to].coming;

        for (size_t v = 0; v < c->list.value_count; ++v) {
            const espl__given *const value = &c->list.values[v];

            if (espl__value_size(&value->header) == 0) {
                continue;
            }
            if (b->to == b->from) {
                fill_in_place(store, b, value);
            } else if (coming != 0) {
                espl__rows_fill_last(store, b->to, value->header.component, coming, value->bytes);
            }
        }
        if (b->to != b->from) {
            store->archetypes[b->to].coming = 0;
        }
    }
}

// Move and fill the rows. Cannot fail. Values are read before espl__rows_settle() frees the rows
// that were left, because a value may lie in one of them.
static void commit_change(const espl__change *c)
{
    espl__heap_forbid(&c->world->heap);
    move_rows(c);
    write_added_values(c);
    espl__rows_settle(&c->world->store, NULL, NULL);
    espl__heap_allow(&c->world->heap);
}

// --- Transforms ---

// Record the change once, and play it for each entity: all commands are applied, or none. The payload is
// a copy of the values, because they may lie in rows that the playback moves.
static espl_status play(espl__change *c, espl_recorder *recorder, espl_status *results)
{
    const espl__command change = {.value_count = (uint32_t)c->list.value_count,
                                  .kind = ESPL__COMMAND_CHANGE,
                                  .place = (uint8_t)c->list.placement};
    const espl_status status = espl__change_list_append(recorder, &c->list, &change, NULL);
    const espl__lane *const own = &recorder->lane;

    if (status != ESPL_OK) {
        return status;
    }
    for (size_t i = 0; i < c->count; ++i) {
        const espl_entity target = c->commands[i].target;

        c->commands[i] = own->commands[0];
        c->commands[i].target = target;
    }
    return espl__apply_strictly(c->world,
                                (espl__lane_view){.commands = c->commands,
                                                  .payloads = own->payloads.blocks,
                                                  .results = results,
                                                  .count = c->count,
                                                  .traits = own->traits},
                                &c->refused);
}

static espl_status carry_out_played(espl__change *c)
{
    espl_status *const results = espl__change_take(c, c->count, sizeof *results);
    espl_recorder *const recorder = results != NULL ? espl__own_begin(c->world) : NULL;
    espl_status status = ESPL_ERR_NO_MEMORY;

    if (recorder != NULL) {
        status = play(c, recorder, results);
        espl__own_end(c->world);
    }
    espl__change_give(c, results, c->count, sizeof *results);
    return status;
}

// --- The whole ---

static espl_status carry_out(espl__change *c)
{
    ESPL_CHECK(!c->world->is_playing && c->bucket_count <= c->capacity);
    if (espl__change_is_played(c)) {
        return c->count != 0 ? carry_out_played(c) : ESPL_OK;
    }
    const espl_status status = reserve_change(c);

    if (status == ESPL_OK) {
        commit_change(c);
    }
    return status;
}

espl_status espl__change_carry_out(espl__change *c)
{
    const size_t archetypes_before = espl__array_length(c->world->store.archetypes);
    const espl_status status = carry_out(c);

    if (status < 0) {
        espl__archetypes_forget(&c->world->store, archetypes_before);
    }
    return status;
}
