// SPDX-License-Identifier: MIT
// Names of entities at the public functions: espl_set_name(), espl_get_name(), espl_find_descendant(),
// espl_get_path(). lib/store/names.c keeps the names by entity.
//
// Names are not unique and have no index: a find walks the subtree, and compares names from the end
// of the path, so that most nodes are rejected by one compare. Reads and finds take no memory.
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

#include <string.h>

// --- One name ---

// A length of 0 removes the name. Not a structural call: queries may be open.
static espl_status set_name(espl_world *world, espl_entity entity, const char *name, size_t length)
{
    if (world != NULL && world->is_playing) {
        return ESPL_ERR_BUSY;
    }
    espl_status status = espl__check_living(world, entity);

    status = status != ESPL_OK ? status : espl__name_check(name, length);
    if (status == ESPL_OK) {
        status = espl__name_set(&world->store.names, &world->heap, entity.index, name, length);
    }
    if (status == ESPL_OK) {
        espl__store_mark_entities(&world->store, &entity, 1);
    }
    return status;
}

espl_status espl_set_name(espl_world *world, espl_entity entity, const char *name)
{
    static const char *const call = "espl_set_name";
    const size_t length = espl__name_length(name);

    ESPL__CHANGE_OR_RETURN(world, call)
    const espl_status status =
        ESPL__TAPED(world, set_name(world, entity, name, length), .op = ESPL_TAPE_NAME,
                    .entity = entity, .name = name, .count = length);

    return espl__refuse_why(world, call, entity, status, "name has a control character or a '/'.");
}

// Name of the entity at a slot, or NULL.
static const char *name_at(const espl_world *world, uint32_t slot)
{
    ESPL_CHECK_FULL(slot < world->forest.end);
    const espl__name *const name =
        espl__name_of(&world->store.names, world->forest.links[slot].entity);

    return name != NULL ? name->text : NULL;
}

const char *espl_get_name(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);
    const char *const name = slot != ESPL__NO_SLOT ? name_at(world, slot) : NULL;

    return name != NULL ? name : "";
}

// --- Finding ---

// A path that is looked for: names with '/' between them.
typedef struct sought {
    const char *first; // of the first name
    const char *end;   // after the last name
    bool is_anchored;  // the first name must be that of a child of the top
} sought;

// @return false: a name of the path is empty.
static bool read_path(const char *path, sought *out)
{
    out->is_anchored = path[0] == '/';
    out->first = path + (out->is_anchored ? 1 : 0);
    out->end = out->first + strlen(out->first);
    return out->first != out->end && out->first[0] != '/' && out->end[-1] != '/' &&
           strstr(out->first, "//") == NULL;
}

// Tell whether the entity at a slot has the name [begin, end).
static bool has_name(const espl_world *world, uint32_t slot, const char *begin, const char *end)
{
    const char *const name = name_at(world, slot);
    const size_t length = (size_t)(end - begin);

    ESPL_CHECK_FULL(begin < end);
    return name != NULL && strncmp(name, begin, length) == 0 && name[length] == '\0';
}

// Tell whether a node below the top, its parent, and so on have the names of the path, from the
// last name on.
static bool is_sought(const espl_world *world, uint32_t slot, uint32_t top, const sought *w)
{
    const char *end = w->end;

    ESPL_CHECK_FULL(slot != top && w->first < w->end);
    for (; slot != top; slot = world->forest.parent[slot]) {
        const char *begin = end;

        while (begin != w->first && begin[-1] != '/') {
            begin -= 1;
        }
        if (!has_name(world, slot, begin, end)) {
            return false;
        }
        if (begin == w->first) {
            return !w->is_anchored || world->forest.parent[slot] == top;
        }
        end = begin - 1;
    }
    return false;
}

// The first match below `from` in depth-first order, or ESPL__NO_SLOT.
// @param top  `from`, or ESPL__NO_SLOT: the path begins above the roots.
static uint32_t find_below(const espl_world *world, uint32_t from, uint32_t top, const sought *w)
{
    const espl__forest *const forest = &world->forest;
    uint32_t slot = espl__next_in_walk(forest, from, from, true);

    while (slot != ESPL__NO_SLOT && !is_sought(world, slot, top, w)) {
        slot = espl__next_in_walk(forest, slot, from, true);
    }
    return slot;
}

// The first match in the whole world, root by root in ascending order of their indices.
static uint32_t find_anywhere(const espl_world *world, const sought *w)
{
    const espl__store *const store = &world->store;
    const size_t count = espl__array_length(store->records);
    uint32_t found = ESPL__NO_SLOT;

    for (size_t index = 0; index < count && found == ESPL__NO_SLOT; ++index) {
        const uint32_t root = store->records[index].slot;

        if (espl__index_is_alive(store, (uint32_t)index) && espl__is_root(&world->forest, root)) {
            found = is_sought(world, root, ESPL__NO_SLOT, w)
                        ? root
                        : find_below(world, root, ESPL__NO_SLOT, w);
        }
    }
    return found;
}

// A world without names is not walked.
static espl_entity find_named(const espl_world *world, uint32_t top, const sought *w)
{
    uint32_t slot = ESPL__NO_SLOT;

    if (world->store.names.count != 0) {
        slot = top == ESPL__NO_SLOT ? find_anywhere(world, w) : find_below(world, top, top, w);
    }
    return espl__entity_of_slot(world, slot);
}

espl_status espl_find_descendant(const espl_world *world, espl_entity top, const char *path,
                                 espl_entity *out)
{
    uint32_t slot = ESPL__NO_SLOT;
    sought w;
    espl_status status = ESPL_ERR_ARGUMENT;

    if (world != NULL && path != NULL && out != NULL && read_path(path, &w)) {
        status = espl_entity_is_null(top) ? ESPL_OK : espl__find_slot(world, top, &slot);
    }
    if (status == ESPL_OK) {
        *out = find_named(world, slot, &w);
    }
    return espl__refuse_why(world, "espl_find_descendant", top, status,
                            path == NULL  ? "path is NULL."
                            : out == NULL ? "out is NULL."
                                          : "path has an empty name.");
}

// --- Paths ---

// Step of a path: the name of the entity at a slot, or its handle, which is written to `room`.
static const char *step_at(const espl_world *world, uint32_t slot,
                           char room[ESPL__LEAST ESPL__HANDLE_TEXT])
{
    const char *const name = name_at(world, slot);

    if (name != NULL) {
        return name;
    }
    espl__handle_text(room, espl__entity_of_slot(world, slot));
    return room;
}

// Length of the path from the root to a slot, with a '/' between steps.
static size_t path_length(const espl_world *world, uint32_t slot)
{
    char room[ESPL__HANDLE_TEXT];
    size_t length = 0;

    for (; slot != ESPL__NO_SLOT; slot = world->forest.parent[slot]) {
        length += strlen(step_at(world, slot, room)) + 1;
    }
    ESPL_CHECK(length != 0);
    return length - 1;
}

// Copy the bytes that belong before `limit`. @param at  where the first byte belongs.
static void put_part(char *buffer, size_t limit, size_t at, const char *bytes, size_t count)
{
    if (at < limit) {
        memcpy(buffer + at, bytes, count < limit - at ? count : limit - at);
    }
}

// Write the path from its end to its begin, because links lead from child to parent.
// @param end  length of the path; what belongs before `limit` is written.
static void write_path(const espl_world *world, uint32_t slot, char *buffer, size_t limit,
                       size_t end)
{
    char room[ESPL__HANDLE_TEXT];

    for (; slot != ESPL__NO_SLOT; slot = world->forest.parent[slot]) {
        const char *const step = step_at(world, slot, room);
        const size_t length = strlen(step);

        ESPL_CHECK(length <= end);
        put_part(buffer, limit, end - length, step, length);
        end -= length;
        if (end != 0) {
            end -= 1;
            put_part(buffer, limit, end, "/", 1);
        }
    }
}

size_t espl_get_path(const espl_world *world, espl_entity entity, char *buffer, size_t size)
{
    const uint32_t slot = espl__slot_or_none(world, entity);
    size_t length = 0;

    if (size != 0 && !espl__is_given(world, "espl_get_path", buffer, "buffer")) {
        return 0;
    }
    if (slot != ESPL__NO_SLOT) {
        length = path_length(world, slot);
    }
    if (size != 0) {
        const size_t limit = length < size - 1 ? length : size - 1;

        if (slot != ESPL__NO_SLOT) {
            write_path(world, slot, buffer, limit, length);
        }
        buffer[limit] = '\0';
    }
    return length;
}
