// SPDX-License-Identifier: MIT
#include "tools/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Making ---

static bool take_room(tool_outline *o, size_t count)
{
    o->nodes = calloc(count + 1, sizeof *o->nodes);
    o->names = calloc(count + 1, sizeof *o->names);
    return o->nodes != NULL && o->names != NULL;
}

static void append(tool_outline *o, espl_entity entity, uint32_t parent)
{
    const size_t index = entity.index;

    o->nodes[o->count++] = (outline_node){.entity = entity, .parent = parent};
    o->index_count = index >= o->index_count ? index + 1 : o->index_count;
}

// List the children of each node that is listed: the list is its own queue.
static void list_nodes(tool_outline *o, const tool_value *value)
{
    for (size_t i = 0; i < value->top_count; ++i) {
        append(o, value->tops[i], OUTLINE_NONE);
    }
    for (uint32_t i = 0; i < o->count; ++i) {
        espl_entity child = espl_get_first_child(o->world, o->nodes[i].entity);

        o->nodes[i].first = (uint32_t)o->count;
        for (; !espl_entity_is_null(child); child = espl_get_next_sibling(o->world, child)) {
            append(o, child, i);
        }
        o->nodes[i].count = (uint32_t)o->count - o->nodes[i].first;
    }
}

static int compare_names(const void *a, const void *b)
{
    const outline_name *const one = a, *const other = b;
    const int order = strcmp(one->text, other->text);

    return order != 0 ? order : (one->number > other->number) - (one->number < other->number);
}

// Order siblings by name, and count those of one name.
static void name_siblings(tool_outline *o, size_t first, size_t count)
{
    outline_name *const names = o->names + first;
    uint32_t ordinal = 0;

    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; ++i) {
        const bool is_twin = i > 0 && strcmp(names[i].text, names[i - 1].text) == 0;

        ordinal = is_twin ? ordinal + 1 : 1;
        o->nodes[names[i].number].ordinal = ordinal;
        if (is_twin) {
            o->nodes[names[i].number].has_twin = true;
            o->nodes[names[i - 1].number].has_twin = true;
        }
    }
}

static void name_nodes(tool_outline *o)
{
    for (uint32_t i = 0; i < o->count; ++i) {
        o->names[i] = (outline_name){espl_get_name(o->world, o->nodes[i].entity), i};
        o->named += o->names[i].text[0] != '\0';
    }
    name_siblings(o, 0, o->top_count);
    for (size_t i = 0; i < o->count; ++i) {
        name_siblings(o, o->nodes[i].first, o->nodes[i].count);
    }
}

// The depth of the deepest node, and how many are below each.
static void count_levels(tool_outline *o)
{
    for (size_t begin = 0, end = o->top_count; begin < end && end < o->count; o->depth += 1) {
        const size_t next = o->nodes[end - 1].first + o->nodes[end - 1].count;

        begin = end;
        end = next;
    }
    for (size_t i = o->count; i-- > 0;) {
        if (o->nodes[i].parent != OUTLINE_NONE) {
            o->nodes[o->nodes[i].parent].below += 1 + o->nodes[i].below;
        }
    }
}

static bool number_nodes(tool_outline *o)
{
    o->numbers = malloc((o->index_count + 1) * sizeof *o->numbers);
    if (o->numbers == NULL) {
        return false;
    }
    for (size_t i = 0; i < o->index_count; ++i) {
        o->numbers[i] = OUTLINE_NONE;
    }
    for (uint32_t i = 0; i < o->count; ++i) {
        o->numbers[o->nodes[i].entity.index] = i;
    }
    return true;
}

bool outline_make(tool_outline *out, const tool_value *value)
{
    espl_world_stats stats;

    *out = (tool_outline){.world = value->world, .top_count = value->top_count};
    espl_stats(value->world, &stats);
    bool is_good = take_room(out, stats.entities);

    if (is_good) {
        list_nodes(out, value);
        name_nodes(out);
        count_levels(out);
        is_good = number_nodes(out);
    }
    if (!is_good) {
        outline_release(out);
    }
    return is_good;
}

void outline_release(tool_outline *outline)
{
    free(outline->nodes);
    free(outline->names);
    free(outline->numbers);
    *outline = (tool_outline){0};
}

// --- Asking ---

uint32_t outline_find(const tool_outline *outline, espl_entity entity)
{
    const uint32_t number = entity.index < outline->index_count && !espl_entity_is_null(entity)
                                ? outline->numbers[entity.index]
                                : OUTLINE_NONE;

    return number != OUTLINE_NONE && espl_entity_equal(outline->nodes[number].entity, entity)
               ? number
               : OUTLINE_NONE;
}

const char *outline_path(const tool_outline *outline, uint32_t node, char *out, size_t size)
{
    char step[ESPL_NAME_LIMIT + 16];
    size_t at = size - 1;

    // From the node up, so the path is written from its end to its begin.
    out[at] = '\0';
    for (uint32_t i = node; i != OUTLINE_NONE; i = outline->nodes[i].parent) {
        const outline_node *const n = &outline->nodes[i];
        const char *const name = espl_get_name(outline->world, n->entity);
        const char *const slash = i == node ? "" : "/";
        const int length = n->has_twin || name[0] == '\0'
                               ? snprintf(step, sizeof step, "%s[%u]%s", name, n->ordinal, slash)
                               : snprintf(step, sizeof step, "%s%s", name, slash);

        if ((size_t)length + 3 > at) {
            at -= 3;
            memcpy(out + at, "...", 3);
            break;
        }
        at -= (size_t)length;
        memcpy(out + at, step, (size_t)length);
    }
    return memmove(out, out + at, size - at);
}
