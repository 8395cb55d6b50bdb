// SPDX-License-Identifier: MIT
// espl_follow(): a destroy of many and a batch of writes, each with its own record on the tape; where both
// worlds have cells, a batch of cells comes between them. Positions of originals with cells are brought to the
// cells that the counterparts have, or to absolute ones. All lists lie in the scratch memory of batches,
// behind the arrays of the batch itself, and are taken before the first change.
#include "lib/base/prefetch.h"
#include "lib/tree/cells.h"
#include "lib/world/batch.h"
#include "lib/world/destroy.h"
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

#include <stddef.h>
#include <string.h>

// What is followed.
typedef struct following_call {
    espl_world *world;
    const espl_changes *changes;
    const espl_follow_def *def;
    // Lists in scratch memory.
    uint64_t *
        seen; // a bit for each index of an entity; NULL: `removed` ascends, so that it names each once
    espl_entity *doomed;   // [doomed_count] counterparts of removed entities
    espl_entity *entities; // [entity_count] counterparts of added and changed entities
    uint32_t *found;       // [entity_count] their slots; ESPL__NO_SLOT: without a transform
    // [entity_count] their transforms, and cells of their originals, where the arrays of the caller do not do.
    espl_transform *gathered;
    espl_changed_cell *gathered_cells;
    // [entity_count] slots of the counterparts whose position is in a cell, else ESPL__NO_SLOT
    uint32_t *slots;
    // [moved_count] roots and solos that get another cell
    espl_entity *moved;
    espl__cell *moved_cells;
    size_t doomed_count, entity_count, moved_count;
    const espl_transform *values;   // [entity_count]
    const espl_changed_cell *cells; // [entity_count]; not read without has_cells
    bool has_cells;                 // the originals have cells
    espl_follow_report report;
} following_call;

static const espl_transform *added_values(const following_call *f)
{
    return f->def->kind == ESPL_FOLLOW_LOCAL ? f->changes->added_locals : f->changes->added_worlds;
}

static const espl_transform *changed_values(const following_call *f)
{
    return f->def->kind == ESPL_FOLLOW_LOCAL ? f->changes->changed_locals
                                             : f->changes->changed_worlds;
}

// Tell whether a list is given, with its transforms, and is of another world.
static bool is_list_sound(const espl_world *world, const espl_entity *entities, size_t count,
                          const espl_transform *values)
{
    return count == 0 || (entities != NULL && values != NULL &&
                          entities[0].generation >> ESPL__TAG_SHIFT != world->store.tag);
}

// Tell whether a list of entities has no cells.
static bool misses_cells(const espl_changes *c)
{
    return (c->added_count != 0 && c->added_cells == NULL) ||
           (c->changed_count != 0 && c->changed_cells == NULL);
}

// Say what is wrong with the arguments of a follow, or NULL.
static const char *find_follow_fault(const following_call *f)
{
    const espl_changes *const c = f->changes;
    const espl_follow_def *const def = f->def;
    static const espl_transform any;

    if (f->world == NULL || c == NULL) {
        return "changes is NULL.";
    }
    if ((unsigned)def->kind > ESPL_FOLLOW_WORLD || (unsigned)def->removed > ESPL_EXTENT_SUBTREE ||
        (def->flags & ~(uint32_t)ESPL_FOLLOW_KEEPS) != 0) {
        return "def->kind or def->removed does not exist, or def->flags has an unknown bit.";
    }
    if (c->cell_size != 0 && (!espl__is_cell_size(c->cell_size) || misses_cells(c))) {
        return "changes->cell_size is no power of two from 1 to 2^30, or a list has no cells.";
    }
    return is_list_sound(f->world, c->removed, c->removed_count, &any) &&
                   is_list_sound(f->world, c->added, c->added_count, added_values(f)) &&
                   is_list_sound(f->world, c->changed, c->changed_count, changed_values(f))
               ? NULL
               : "A list of changes is NULL, has no transforms of the kind, or is of this world.";
}

// Tell whether a list ascends by index, as those of a watch do: then it names no entity twice.
static bool ascends(const espl_entity *entities, size_t count)
{
    bool is_ascending = true;

    for (size_t i = 1; i < count && is_ascending; ++i) {
        is_ascending = entities[i - 1].index < entities[i].index;
    }
    return is_ascending;
}

static size_t words_of_seen(const following_call *f)
{
    const size_t records = espl__array_length(f->world->store.records);

    return ascends(f->changes->removed, f->changes->removed_count) ? 0 : records / 64 + 1;
}

// Place the lists of a follow in a block, behind the lists of a batch.
// @param block  NULL: only measure. @return bytes.
static size_t carve_lists(following_call *f, unsigned char *block)
{
    const espl_changes *const c = f->changes;
    const size_t count = c->added_count + c->changed_count;
    size_t at = espl__writes_size(count);

    const size_t words = words_of_seen(f);

    f->seen = words != 0 ? espl__carve(block, &at, words, sizeof *f->seen, 16) : NULL;
    if (f->seen != NULL) {
        memset(f->seen, 0, words * sizeof *f->seen);
    }
    f->doomed = espl__carve(block, &at, c->removed_count, sizeof *f->doomed, 16);
    f->entities = espl__carve(block, &at, count, sizeof *f->entities, 16);
    f->found = espl__carve(block, &at, count, sizeof *f->found, 16);
    f->gathered = espl__carve(block, &at, count, sizeof *f->gathered, 16);
    if (f->has_cells) {
        f->gathered_cells = espl__carve(block, &at, count, sizeof *f->gathered_cells, 16);
        f->slots = espl__carve(block, &at, count, sizeof *f->slots, 16);
        f->moved = espl__carve(block, &at, count, sizeof *f->moved, 16);
        f->moved_cells = espl__carve(block, &at, count, sizeof *f->moved_cells, 16);
    }
    return at;
}

// Note that an entity is listed. @return false: it was before.
static bool is_first_naming(const following_call *f, uint32_t index)
{
    if (f->seen == NULL) {
        return true;
    }
    const bool was_seen = (f->seen[index / 64] >> index % 64 & 1) != 0;

    f->seen[index / 64] |= UINT64_C(1) << index % 64;
    return !was_seen;
}

// List the counterparts of removed entities, each once.
static void list_doomed(following_call *f)
{
    const espl__store *const store = &f->world->store;
    const espl_changes *const c = f->changes;

    for (size_t i = 0; i < c->removed_count && (f->def->flags & ESPL_FOLLOW_KEEPS) == 0; ++i) {
        const uint32_t index = espl__counterpart_of(&store->counterparts, c->removed[i]);

        if (index != UINT32_MAX && is_first_naming(f, index)) {
            f->doomed[f->doomed_count++] = espl__entity_at(store, index);
        }
    }
}

// Originals are looked up in blocks: waits for memory overlap, and what was prefetched is still in the cache.
enum { LINKS_OF_BLOCK = 32 };

// Guess the counterparts of a block of originals: as far from the original, by index, as others that were
// found, because a world that was made from the other one has its entities in the same order. The hash table is
// asked about the others. Where they are most of the block, the last one gives the next distance.
// @param shift  the distance modulo 2^32; in and out.
// @param out    [count] indices; UINT32_MAX where there is none.
static void guess_block(const espl__store *store, const espl_entity *originals, size_t count,
                        uint32_t *shift, uint32_t *out)
{
    const espl__counterparts *const links = &store->counterparts;
    const uint32_t by = *shift;
    size_t missed = 0;

    // The hardware reads ahead where the first and the last one tell that they lie near each other.
    if (originals[count - 1].index - originals[0].index >= 2 * count) {
        for (size_t i = 0; i < count; ++i) {
            const uint32_t index = originals[i].index + by;

            espl__prefetch_element(links->originals, index, sizeof *links->originals);
            espl__prefetch_element(store->records, index, sizeof *store->records);
        }
    }
    for (size_t i = 0; i < count; ++i) {
        out[i] = originals[i].index + by;
        if (!espl__counterpart_is(links, out[i], originals[i])) {
            espl__counterpart_prefetch(links, originals[i]);
            out[i] = UINT32_MAX;
            missed += 1;
        }
    }
    for (size_t i = 0; missed != 0 && i < count; ++i) {
        if (out[i] == UINT32_MAX) {
            out[i] = espl__counterpart_of(links, originals[i]);
            espl__prefetch_element(store->records, out[i], sizeof *store->records);
            if (out[i] != UINT32_MAX && missed > count / 2) {
                *shift = out[i] - originals[i].index;
            }
        }
    }
}

// Find the counterparts of entities, and their slots. An entity with an original lives.
// @param out    [count] null where there is none.
// @param slots  [count] out; ESPL__NO_SLOT where there is none, and where it has no transform.
// @return how many there are.
static size_t find_counterparts(const espl__store *store, const espl_entity *originals,
                                size_t count, espl_entity *out, uint32_t *slots)
{
    uint32_t indices[LINKS_OF_BLOCK];
    uint32_t shift = 0;
    size_t found = 0;

    for (size_t begin = 0, stop = 0; begin < count; begin = stop) {
        stop = count - begin < LINKS_OF_BLOCK ? count : begin + LINKS_OF_BLOCK;
        guess_block(store, originals + begin, stop - begin, &shift, indices);
        for (size_t i = begin; i < stop; ++i) {
            const uint32_t index = indices[i - begin];

            out[i] = espl_entity_null();
            slots[i] = ESPL__NO_SLOT;
            if (index != UINT32_MAX) {
                const espl__record *const record = &store->records[index];

                out[i] = (espl_entity){index, record->generation};
                slots[i] = record->row < ESPL__ROW_BARE ? record->slot : ESPL__NO_SLOT;
                found += 1;
            }
        }
    }
    return found;
}

// Append the transforms of entities with a counterpart, and move the counterparts together.
// @param begin  where the counterparts of the list begin
// @param cells  of the originals; not read where a world has none
static void gather(following_call *f, size_t begin, size_t count, const espl_transform *values,
                   const espl_changed_cell *cells)
{
    for (size_t i = 0; i < count; ++i) {
        const espl_entity entity = f->entities[begin + i];

        if (!espl_entity_is_null(entity)) {
            f->entities[f->entity_count] = entity;
            f->found[f->entity_count] = f->found[begin + i];
            f->gathered[f->entity_count] = values[i];
            if (f->has_cells) {
                f->gathered_cells[f->entity_count] = cells[i];
            }
            f->entity_count += 1;
        }
    }
}

// List the counterparts of added and changed entities, and their transforms. Where the entities are one list
// and all have a counterpart, the transforms stay where the caller has them.
static void list_written(following_call *f)
{
    const espl__store *const store = &f->world->store;
    const espl_changes *const c = f->changes;
    const size_t count = c->added_count + c->changed_count;
    const size_t added = find_counterparts(store, c->added, c->added_count, f->entities, f->found);
    const size_t changed =
        find_counterparts(store, c->changed, c->changed_count, f->entities + c->added_count,
                          f->found + c->added_count);

    f->report.unknown = count - added - changed;
    if (added + changed == count && (c->added_count == 0 || c->changed_count == 0)) {
        f->entity_count = count;
        f->values = c->added_count != 0 ? added_values(f) : changed_values(f);
        f->cells = c->added_count != 0 ? c->added_cells : c->changed_cells;
        return;
    }
    gather(f, 0, c->added_count, added_values(f), c->added_cells);
    gather(f, c->added_count, c->changed_count, changed_values(f), c->changed_cells);
    f->values = f->gathered;
    f->cells = f->gathered_cells;
}

// --- Cells ---

// Find the node whose cell follows that of its original, or which is to be brought to it.
// @return its slot; ESPL__NO_SLOT: it has no transform, so that its write is refused; or its local is below a
//         parent.
static uint32_t find_celled(const following_call *f, size_t i)
{
    const uint32_t slot = f->found[i];

    return slot != ESPL__NO_SLOT &&
                   (f->def->kind == ESPL_FOLLOW_WORLD ||
                    (f->cells[i].is_top != 0 && espl__is_root(&f->world->forest, slot)))
               ? slot
               : ESPL__NO_SLOT;
}

// Return the cell that a root gets: that of its original, or where cells have other sizes the nearest one of
// the position. One that is out of range stays as it is.
static espl__cell followed_cell(const following_call *f, size_t i, uint32_t root)
{
    const espl__forest *const forest = &f->world->forest;
    const espl_changed_cell *const from = &f->cells[i];
    espl__cell cell = {{from->cell[0], from->cell[1], from->cell[2]}};
    double position[3];
    float rest[3];

    if (f->changes->cell_size == forest->cell_size) {
        return cell;
    }
    espl__position_in_cells(&cell, f->changes->cell_size, f->values[i].position, position);
    return espl__cell_nearest(forest, position, &cell, rest) ? cell : espl__cell_of(forest, root);
}

// Note a root or solo that gets another cell.
static void list_moved(following_call *f, size_t i, uint32_t root)
{
    const espl__cell cell = followed_cell(f, i, root);

    if (!espl__cell_is_same(cell, espl__cell_of(&f->world->forest, root))) {
        f->moved[f->moved_count] = f->entities[i];
        f->moved_cells[f->moved_count] = cell;
        f->moved_count += 1;
    }
}

// Find the slots of the counterparts whose position is in a cell, and the roots and solos that get another one.
// No write moves a slot.
static void list_celled(following_call *f)
{
    const espl__forest *const forest = &f->world->forest;
    const bool has_cells = espl__forest_has_cells(forest);

    for (size_t i = 0; i < f->entity_count; ++i) {
        const uint32_t slot = find_celled(f, i);

        f->slots[i] = slot;
        if (has_cells && slot != ESPL__NO_SLOT && espl__is_root(forest, slot)) {
            list_moved(f, i, slot);
        }
    }
}

// Give roots and solos the cells that are listed.
static espl_status write_cells(following_call *f, const char *call)
{
    const espl__entries e = {
        .call = call,
        .handles = {(const unsigned char *)f->moved, sizeof *f->moved},
        .values = (const unsigned char *)f->moved_cells,
        .value_size = sizeof *f->moved_cells,
        .kind = ESPL_WRITE_CELL,
        .count = f->moved_count,
    };
    espl_write_report written = {0};

    return espl__write_entries(f->world, &e, NULL, &written);
}

// Bring a position from the cell of the original to that of the counterpart; without cells it becomes absolute.
// @return whether it differs.
static bool bring_position(const following_call *f, size_t i, uint32_t slot,
                           float out[ESPL__LEAST 3])
{
    const espl__forest *const forest = &f->world->forest;
    const espl__cell to = espl__cell_of(forest, slot);
    bool is_other = false;

    for (int axis = 0; axis < 3; ++axis) {
        const double by = (double)f->cells[i].cell[axis] * (double)f->changes->cell_size -
                          (double)to.at[axis] * (double)forest->cell_size;

        out[axis] = espl__coordinate_shift(f->values[i].position[axis], by);
        is_other = is_other || by != 0;
    }
    return is_other;
}

// Bring all positions to the cells of the counterparts. They are copied before the first one that differs,
// because the arrays of the caller are only read.
static void bring_positions(following_call *f)
{
    float position[3];

    for (size_t i = 0; i < f->entity_count; ++i) {
        if (f->slots[i] == ESPL__NO_SLOT || !bring_position(f, i, f->slots[i], position)) {
            continue;
        }
        if (f->values != f->gathered) {
            memcpy(f->gathered, f->values, f->entity_count * sizeof *f->gathered);
            f->values = f->gathered;
        }
        memcpy(f->gathered[i].position, position, sizeof position);
    }
}

// Write the cells, and bring the transforms to them. Precondition: the originals have cells.
static espl_status follow_cells(following_call *f, const char *call)
{
    list_celled(f);
    const espl_status status = f->moved_count != 0 ? write_cells(f, call) : ESPL_OK;

    if (status >= 0) {
        bring_positions(f);
    }
    return status;
}

// --- Steps ---

// Where no transform of both worlds has a stretch or user data, a pose is all of it, and a batch of poses is
// written window by window.
static espl_write_kind write_kind(const following_call *f)
{
    const bool is_plain = f->changes->is_plain && !espl__forest_has_sides(&f->world->forest);

    _Static_assert(offsetof(espl_transform, stretch) == sizeof(espl_pose), "begins with its pose");
    if (f->def->kind == ESPL_FOLLOW_WORLD) {
        return ESPL_WRITE_WORLD_TRANSFORM;
    }
    return is_plain ? ESPL_WRITE_LOCAL_POSE : ESPL_WRITE_LOCAL_TRANSFORM;
}

// Write the transforms of the counterparts that are listed.
static espl_status write_listed(following_call *f, const char *call)
{
    const espl__entries e = {
        .call = call,
        .handles = {(const unsigned char *)f->entities, sizeof *f->entities},
        .slots = f->found,
        .values = (const unsigned char *)f->values,
        .value_size = sizeof *f->values,
        .kind = write_kind(f),
        .count = f->entity_count,
    };
    espl_write_report written = {0};
    const espl_status status = espl__write_entries(f->world, &e, NULL, &written);

    f->report.written = written.applied;
    f->report.refused = written.refused;
    return status;
}

// Take the memory for all lists and for the batch.
static espl_status take_follow_lists(following_call *f)
{
    const size_t count = f->changes->added_count + f->changes->changed_count;

    if (f->changes->added_count > ESPL__ENTRIES_LIMIT || count > ESPL__ENTRIES_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    const espl_status status = espl__scratch_grow(&f->world->heap, ESPL__FOR_COMMANDS,
                                                  &f->world->write_scratch, carve_lists(f, NULL));

    if (status == ESPL_OK) {
        (void)carve_lists(f, f->world->write_scratch.block);
    }
    return status;
}

// Counterparts are found after the destroy, because it may have destroyed some of them. The statuses of both
// steps are remarks, or the batch is refused; that of the batch counts where it has one. A refusal is logged
// here.
static espl_status repeat_changes(following_call *f, const char *call)
{
    espl_world *const world = f->world;
    const espl_changes *const c = f->changes;
    espl_status remark = ESPL_OK;

    if (c->removed_count + c->added_count + c->changed_count == 0 && !world->is_playing) {
        return ESPL_OK;
    }
    espl_status status = world->is_playing ? ESPL_ERR_BUSY : take_follow_lists(f);

    if (status != ESPL_OK) {
        return espl__refuse_call(world, call, status, NULL);
    }
    list_doomed(f);
    if (f->doomed_count != 0) {
        remark = espl__destroy_listed(world, f->doomed, f->doomed_count, f->def->removed, call);
        if (remark < 0) {
            return remark;
        }
        f->report.destroyed = f->doomed_count;
    }
    list_written(f);
    if (f->has_cells) {
        status = follow_cells(f, call);
        if (status < 0) {
            return status;
        }
        remark = status != ESPL_OK ? status : remark;
    }
    status = f->entity_count != 0 ? write_listed(f, call) : ESPL_OK;
    return status != ESPL_OK ? status : remark;
}

espl_status espl_follow(espl_world *world, const espl_changes *changes, const espl_follow_def *def,
                        espl_follow_report *report)
{
    static const char *const call = "espl_follow";
    static const espl_follow_def locals;
    following_call f = {.world = world, .changes = changes, .def = def != NULL ? def : &locals};

    if (report != NULL) {
        *report = f.report;
    }
    ESPL__CHANGE_OR_RETURN(world, call)
    const char *const fault = find_follow_fault(&f);

    if (fault != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, fault);
    }
    if (ESPL__ASKS_LATER(changes) || ESPL__ASKS_LATER(f.def)) {
        return espl__refuse_later(world, call);
    }
    f.has_cells = changes->cell_size != 0;
    const espl_status status = repeat_changes(&f, call);

    if (report != NULL && status >= 0) {
        *report = f.report;
    }
    return status;
}
