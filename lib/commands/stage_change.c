// SPDX-License-Identifier: MIT
// Stage 5: the store is changed as planned. Made nodes get entities, names and rows, rows move to
// other archetypes, values are written, rows are removed; each kind of change in one batch.
//
// Input: the plan, with its memory. Output: the entities of the makes, the entities that pending
// handles became, the store; and the entities of new nodes in the forest. Cannot fail, and
// allocates nothing.
//
// Cost: linear in the rows that are made, moved and removed, and in their bytes. The workers write the
// rows of made nodes and fill the holes of removed rows; the other steps change lists that all rows
// share.
#include "lib/commands/component_values.h"

#include "lib/base/prefetch.h"

// Rows of a job at least: one worker makes fewer before another wakes up.
enum { ROW_GRAIN = 4096 };

// State of the stage.
typedef struct changing {
    const espl__stage_context *context;
    espl__store *store;   // of the context
    espl__forest *forest; // of the context
    const espl__change_input *in;
    const espl__planned *planned; // of the input
    espl__changed *out;
} changing;

// --- Entities and names ---

// Clones get the names of their sources. Reserved.
static void share_names(const changing *c)
{
    espl__names *const names = &c->store->names;

    for (size_t i = 0; i < c->planned->copies_count && names->count != 0; ++i) {
        const espl__copies *const copies = &c->planned->copies[i];

        if (espl__name_of(names, copies->source) == NULL) {
            continue;
        }
        for (size_t k = 0; k < copies->count; ++k) {
            const uint32_t make = c->planned->make_order[copies->begin + k];

            espl__name_share(names, copies->source, c->out->entities[make].index);
        }
    }
}

// Write the entity that each pending handle became, or null if its node was not made or died.
static void resolve_pendings(const changing *c)
{
    const espl__play_request *const request = c->in->request;
    const espl__forest *const forest = c->forest;

    for (uint32_t i = 0; i < request->lane_count; ++i) {
        const espl__lane_view *const lane = &request->lanes[i];
        const uint32_t *const slots =
            c->in->applied->pending_slots + c->in->ordered->bases[i].pendings;

        for (uint32_t k = 0; k < lane->pending_count; ++k) {
            const uint32_t entity =
                slots[k] == ESPL__NO_SLOT ? ESPL__NO_ENTITY : forest->links[slots[k]].entity;

            lane->created[k] =
                entity == ESPL__NO_ENTITY ? espl_entity_null() : espl__entity_at(c->store, entity);
        }
    }
}

// --- Rows of made nodes ---

// The bucket of the make at `position` in the order of the makes.
static const espl__copies *find_copies_at(const changing *c, size_t position)
{
    const espl__copies *const copies = c->planned->copies;
    size_t low = 0, high = c->planned->copies_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (copies[middle].begin <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    ESPL_CHECK(position - copies[low].begin < copies[low].count);
    return &copies[low];
}

// Replace the numbers of made nodes in the links by their entities. From then on the forest knows the
// nodes as it knows all others. @param order  [count] makes.
static void identify_makes(const changing *c, const uint32_t *order, size_t count)
{
    enum { AHEAD = 12 };
    espl__links *const links = c->forest->links;
    const espl_entity *const entities = c->out->entities;
    const uint32_t *const slots = c->planned->make_slots;

    for (size_t i = 0; i < count; ++i) {
        espl__prefetch_to_write(&links[slots[order[i + AHEAD < count ? i + AHEAD : i]]]);
        links[slots[order[i]]].entity = entities[order[i]].index;
        espl__probe_node(&c->forest->columns, slots[order[i]], entities[order[i]].index);
    }
}

// A job: write the rows of makes [begin, end), in their order, and their entities in the links.
static void write_rows(void *context, size_t begin, size_t end)
{
    const changing *const c = context;
    const espl__new_rows rows = {c->out->entities, c->planned->make_slots, c->planned->make_order};

    espl__rows_copy(c->store, &rows, find_copies_at(c, begin), begin, end);
    identify_makes(c, c->planned->make_order + begin, end - begin);
}

// Make the rows of all makes, one batch for each bucket. The ranges of rows are opened one after
// the other, because they change the archetypes; then the workers fill them.
static void make_rows(changing *c)
{
    const size_t count = c->planned->make_count;

    espl__rows_open(c->store, c->planned->copies, c->planned->copies_count);
    // The stage cannot fail: where the executor loses a job, all rows are written here. Writing a
    // row twice is harmless.
    if (espl__run_ranges(c->context->executor, c->context->hooks, write_rows, c, count,
                         ROW_GRAIN) != ESPL_OK) {
        write_rows(c, 0, count);
    }
}

// --- Rows that move ---

// Move consecutive rows of the plan with one chunk and one archetype by one call.
static void move_planned_rows(const changing *c)
{
    const espl__row_move *const moves = c->planned->moves;
    const size_t count = c->planned->move_count;
    uint32_t rows[ESPL__CHUNK_ROWS];
    size_t begin = 0;

    while (begin < count) {
        const espl__row_move *const first = &moves[begin];
        size_t taken = 0;

        while (begin + taken < count && moves[begin + taken].chunk == first->chunk &&
               moves[begin + taken].archetype == first->archetype) {
            ESPL_CHECK_FULL(taken < ESPL__CHUNK_ROWS);
            rows[taken] = moves[begin + taken].row;
            taken += 1;
        }
        espl__rows_move(c->store, first->chunk, first->archetype, rows, taken);
        c->out->row_batches += 1;
        begin += taken;
    }
}

// --- Values ---

// Write the given values of the made nodes of a part that live. A part without sets has none.
static void write_made_values(const changing *c, const espl__part *part)
{
    const bool has_sets = espl__array_length(part->sets.sets) != 0;
    const size_t count = has_sets ? espl__array_length(part->made) : 0;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t set = part->made[i].set;

        if (set == ESPL__NONE || part->sets.sets[set].count == 0) {
            continue;
        }
        const uint32_t entity = c->forest->links[part->edit.made[i].slot].entity;

        if (entity != ESPL__NO_ENTITY) {
            espl__values_fill(c->store, &part->sets, set, &c->store->records[entity], 1);
        }
    }
}

// Count the entries from the first one on that give the same values to consecutive rows of a chunk.
static uint32_t count_alike(const changing *c, const espl__given_values *given, size_t most)
{
    const espl__record *const records = c->store->records;
    const espl__record *const first = &records[given->entity];
    uint32_t count = 1;

    while (count < most && given[count].repeats) {
        const espl__record *const next = &records[given[count].entity];

        if (next->chunk != first->chunk ||
            espl__record_row(next) != espl__record_row(first) + count) {
            break;
        }
        count += 1;
    }
    return count;
}

// Write the values that commands gave. Precondition: all rows are in their final archetypes.
static void write_given_values(const changing *c)
{
    const espl__applied *const applied = c->in->applied;
    const espl__given_values *const given = c->planned->given;
    const size_t given_count = c->planned->given_count;

    for (uint32_t i = 0; i < applied->part_count; ++i) {
        write_made_values(c, applied->parts[i]);
    }
    for (size_t i = 0; i < given_count;) {
        const uint32_t count = count_alike(c, &given[i], given_count - i);

        espl__values_fill(c->store, &applied->parts[given[i].part]->sets, given[i].set,
                          &c->store->records[given[i].entity], count);
        i += count;
    }
}

// --- The stage ---

void espl__stage_change(espl__stage_context *context, const espl__change_input *in,
                        espl__changed *out)
{
    const espl__planned *const planned = in->planned;
    changing c = {.context = context,
                  .store = context->store,
                  .forest = context->forest,
                  .in = in,
                  .planned = planned,
                  .out = out};

    ESPL_CHECK(planned->make_count == 0 || out->entities != NULL);
    // Entities first, because rows and references name them. Lost nodes get theirs after those of
    // the makes, so that the entities of the makes do not depend on references.
    espl__entities_take(c.store, out->entities, planned->make_count);
    espl__references_name(context, planned->references);
    share_names(&c);
    make_rows(&c);
    resolve_pendings(&c);
    if (planned->move_count != 0) {
        move_planned_rows(&c);
    }
    write_given_values(&c);
    // A field whose value a command gave to the clone itself keeps it: see has_kept().
    espl__references_write(context, in->applied, planned->references);
    if (planned->removal_count != 0) {
        espl__entities_remove(c.store, planned->removals, planned->removal_count);
    }
    // Rows that leave are removed together, once no list names a row any more.
    espl__rows_settle(c.store, context->executor, context->hooks);
    out->row_batches += planned->copies_count + (planned->removal_count != 0 ? 1 : 0);
}
