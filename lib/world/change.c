// SPDX-License-Identifier: MIT
// Applying a change of components to the rows that were gathered (lib/world/change.h).
//
// A change that adds or removes no transform has three steps: find the archetype that each bucket
// moves to, reserve rows there, and move and fill the rows. The first two may fail, the third
// cannot.
//
// A transform is added or removed by a playback of one command for each entity, because that
// changes trees. The playback reserves what the rest of the change needs before it changes anything
// (reserve_after()), so that the change cannot fail after it. Then the rows are gathered again,
// because the playback moved them, and the three steps follow.
//
// Invariants between calls: espl__archetype.changed_to is ESPL__NONE and .coming is 0 for all
// archetypes.
#include "lib/world/change.h"

#include "lib/base/bits.h"
#include "lib/commands/playback.h"

#include <string.h>

// --- Destinations ---

// Components to add and to remove.
typedef struct component_lists {
    const espl_component *add;
    size_t add_count;
    const espl_component *remove;
    size_t remove_count;
} component_lists;

// Find the archetype that rows of an archetype move to. It is looked up once for each archetype and
// kept in `changed_to` until the caller clears it.
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

// Set `placed` of each bucket: the archetype once a transform was added or removed. A limit is
// reported with the first entity of the bucket.
static espl_status find_with_transform(espl__change *c)
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

// Set `to` of each bucket. Precondition: `placed` is set.
static espl_status find_final(espl__change *c)
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

        store->archetypes[b->to].coming += b->to != b->placed ? count_rows(b) : 0;
    }
    for (size_t i = 0; i < c->bucket_count; ++i) {
        const espl_status last = espl__rows_reserve_coming(store, c->buckets[i].to);

        status = status != ESPL_OK ? status : last;
    }
    return status;
}

// Find `placed` and `to` of all buckets.
static espl_status find_destinations(espl__change *c)
{
    const espl_status status = find_with_transform(c);

    return status != ESPL_OK ? status : find_final(c);
}

// Everything that can fail in a change without a transform.
static espl_status reserve_change(espl__change *c)
{
    const espl_status status = find_destinations(c);

    return status != ESPL_OK ? status : reserve_arrivals(c);
}

// --- Room after a playback ---

// Find where the rows that the playback moves go on to. A row whose archetype would pass the limit
// is not one of the change, because the change's own archetypes were found before: it stays.
static espl_status find_moved(const espl__change *c)
{
    const component_lists lists = {c->add, c->add_count, c->remove, c->remove_count};
    const espl__planned *const planned = &c->world->playback->planned;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < planned->move_count && status == ESPL_OK; ++i) {
        uint32_t to = 0;

        status = find_destination(&c->world->store, planned->moves[i].archetype, &lists, &to);
        status = status == ESPL_ERR_LIMIT ? ESPL_OK : status;
    }
    return status;
}

// Count the rows that each archetype receives. A row that the playback moves counts twice if the
// change moves it on: in the archetype between and in the last one. Rows that only the change moves
// count once. One count for all, because reserves do not add up, and one settle frees unused room.
static void count_arrivals(const espl__change *c)
{
    const espl__planned *const planned = &c->world->playback->planned;
    espl__archetype *const archetypes = c->world->store.archetypes;

    for (size_t i = 0; i < planned->move_count; ++i) {
        const uint32_t at = planned->moves[i].archetype, to = archetypes[at].changed_to;

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

// Reserve what count_arrivals() counted. All counts are cleared, also after a failure.
static espl_status reserve_counted(const espl__change *c)
{
    const espl__planned *const planned = &c->world->playback->planned;
    espl__store *const store = &c->world->store;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < planned->move_count + c->bucket_count; ++i) {
        const bool is_move = i < planned->move_count;
        const uint32_t at =
            is_move ? planned->moves[i].archetype : c->buckets[i - planned->move_count].to;
        const uint32_t to = is_move ? store->archetypes[at].changed_to : at;
        const espl_status here = espl__rows_reserve_coming(store, at);
        const espl_status there = to != ESPL__NONE ? espl__rows_reserve_coming(store, to) : ESPL_OK;

        status = status != ESPL_OK ? status : here;
        status = status != ESPL_OK ? status : there;
    }
    return status;
}

// Called by the playback before it changes anything: reserve rows for what the change does after
// it. The playback knows by then where it leaves each row that it moves, for a transform or for a
// role that changes late.
static espl_status reserve_after(void *context)
{
    const espl__change *const c = context;
    const espl__planned *const planned = &c->world->playback->planned;
    espl_status status = find_moved(c);

    if (status == ESPL_OK) {
        count_arrivals(c);
        status = reserve_counted(c);
    }
    for (size_t i = 0; i < planned->move_count; ++i) {
        c->world->store.archetypes[planned->moves[i].archetype].changed_to = ESPL__NONE;
    }
    return status;
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

        if (b->to != b->placed) {
            const size_t count = list_rows(b, rows);

            espl__rows_move(store, b->chunk, b->to, rows, count);
            store->archetypes[b->to].coming += count;
        }
    }
}

// Write a value to the rows of a bucket that do not move, a group of consecutive rows at a time.
static void fill_in_place(espl__store *store, const espl__bucket *b,
                          const espl_component_value *value)
{
    for (uint32_t word = 0; word < 2; ++word) {
        uint64_t left = b->rows[word];

        while (left != 0) {
            uint32_t first = 0;
            const uint32_t count = take_bits(&left, &first);

            espl__rows_fill(store, b->chunk, value->component, word * ESPL__WORD_BITS + first,
                            count, value->data);
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

        for (size_t v = 0; v < c->add_count; ++v) {
            const espl_component_value *const value = &c->values[v];

            if (value->size == 0) {
                continue;
            }
            if (b->to == b->placed) {
                fill_in_place(store, b, value);
            } else if (coming != 0) {
                espl__rows_fill_last(store, b->to, value->component, coming, value->data);
            }
        }
        if (b->to != b->placed) {
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

// The memory of a playback that adds or removes transforms.
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

// Take the memory, and write one command for each entity. Postcondition of a failure: nothing is
// held.
static espl_status make_placing(const espl__change *c, placing *p)
{
    ESPL_CHECK(c->placement != ESPL__PLACEMENT_STAYS && (c->listed != NULL || c->count == 0));
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

// Copy the values into memory of our own, because they may lie in rows that the playback moves.
// Postcondition: the change points to the copies.
static void copy_values(espl__change *c, const placing *p)
{
    unsigned char *to = p->data;

    ESPL_CHECK(to != NULL || p->size == 0);
    for (size_t v = 0; v < c->add_count; ++v) {
        espl_component_value *const value = &c->values[v];

        if (value->data != NULL && value->size != 0) {
            memcpy(to, value->data, value->size);
            value->data = to;
            to += value->size;
        }
    }
}

// Play the commands: all are applied, or none.
static espl_status play_lane(espl__change *c, const espl__lane_view *lane)
{
    espl_world *const world = c->world;
    const espl__play_request request = {.lanes = lane,
                                        .lane_count = 1,
                                        .tag = ESPL__NO_TAG,
                                        .is_strict = true,
                                        .reserve_more = reserve_after,
                                        .more_context = c};

    ESPL_CHECK(!world->is_playing);
    world->is_playing = true;
    const espl_status status = espl__playback_run(world->playback, &request, NULL);
    world->is_playing = false;
    c->has_overflowed = world->playback->has_overflowed;
    return status;
}

// @return the status of the playback; where one entity is the reason, its number is in
//         `refused`.
static espl_status play_placements(espl__change *c, const placing *p)
{
    espl_transform value = c->transform;
    unsigned char *const payload = (unsigned char *)&value;
    espl__lane_view lane = {
        .commands = p->commands,
        .payloads = &payload,
        .results = p->results,
        .count = p->count,
        .traits = c->placement == ESPL__PLACEMENT_COMES ? espl__transform_traits(&value) : 0};
    const espl_status status = play_lane(c, &lane);

    if (status != ESPL_OK && c->world->playback->applied.first_refused < p->count) {
        c->refused = c->world->playback->applied.first_refused;
    }
    return status;
}

// Tell whether an applied command is lossy: a node below an entity did not keep its world.
static bool has_lossy(const placing *p)
{
    bool is_lossy = false;

    for (size_t i = 0; i < p->count; ++i) {
        is_lossy = is_lossy || p->results[i] == ESPL_LOSSY;
    }
    return is_lossy;
}

// Tell whether the change adds or removes a transform of some entity. Adding one that is there
// already writes it, so that every addition is played; removing is played only where some row has
// one.
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

// --- The whole ---

// A change that adds or removes transforms. The second find_destinations() finds archetypes that
// the first one, or the playback, has made, so that it cannot fail.
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
        commit_change(c);
    }
    const bool is_lossy = status == ESPL_OK && has_lossy(&p);

    drop_placing(c, &p);
    return status == ESPL_OK && c->has_overflowed ? ESPL_OVERFLOW
                                                  : (is_lossy ? ESPL_LOSSY : status);
}

static espl_status carry_out(espl__change *c)
{
    ESPL_CHECK(c->add_count <= ESPL_SET_LIMIT && c->remove_count <= ESPL_SET_LIMIT);
    ESPL_CHECK(!c->world->is_playing && c->bucket_count <= c->capacity);
    if (plays_placements(c)) {
        return carry_out_placed(c);
    }
    c->placement = ESPL__PLACEMENT_STAYS;
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
