// SPDX-License-Identifier: MIT
// The memory of parts. A part is made when a playback first needs its number.
#include "lib/commands/parts.h"

// Make the part of a number. NULL: no memory.
static ESPL__APART espl__part *make_part(espl__stage_context *context, uint32_t number)
{
    espl__part *const made =
        espl__heap_take(context->heap, ESPL__FOR_COMMANDS, 1, sizeof *made, 64);

    if (made != NULL) {
        *made = (espl__part){.number = number, .store = context->store};
        espl__edit_init(&made->edit, context->forest);
        context->memory.parts[number] = made;
    }
    return made;
}

espl__part *espl__part_take(espl__stage_context *context, uint32_t number)
{
    ESPL_CHECK(number < ESPL__PARTS);
    espl__part *const part = context->memory.parts[number];

    return part != NULL ? part : make_part(context, number);
}

size_t espl__part_edits(const espl__applied *applied, espl__edit *edits[ESPL__PARTS])
{
    ESPL_CHECK(applied->part_count <= ESPL__PARTS);
    for (uint32_t i = 0; i < applied->part_count; ++i) {
        edits[i] = &applied->parts[i]->edit;
    }
    return applied->part_count;
}

size_t espl__part_bytes(espl__part *part, size_t *used)
{
    *used = 0;
    if (part == NULL) {
        return 0;
    }
    const size_t lists = espl__edit_bytes(&part->edit, used);

    *used += espl__array_length(part->made) * sizeof *part->made;
    *used += espl__array_length(part->node_sets) * sizeof *part->node_sets;
    return sizeof *part + lists + espl__sets_bytes(&part->sets) + ESPL_ARRAY_BYTES(part->made) +
           ESPL_ARRAY_BYTES(part->node_sets);
}

// Free the part of a number, if it has memory.
static void free_part(espl__stage_context *context, uint32_t number)
{
    espl__heap *const heap = context->heap;
    espl__part *const part = context->memory.parts[number];

    if (part == NULL) {
        return;
    }
    espl__edit_free(&part->edit);
    espl__sets_free(heap, &part->sets);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, part->made);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, part->node_sets);
    espl__heap_give(heap, ESPL__FOR_COMMANDS, part, 1, sizeof *part, 64);
    context->memory.parts[number] = NULL;
}

void espl__parts_free(espl__stage_context *context)
{
    for (uint32_t i = 0; i < ESPL__PARTS; ++i) {
        free_part(context, i);
    }
}
