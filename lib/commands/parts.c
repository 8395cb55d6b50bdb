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

espl__part *espl__part_begin(espl__stage_context *context, uint32_t number)
{
    espl__part *const part = espl__part_take(context, number);

    if (part == NULL) {
        return NULL;
    }
    espl__edit_begin(&part->edit);
    espl__sets_clear(&part->sets);
    espl__array_set_length(part->made, 0);
    espl__array_set_length(part->node_sets, 0);
    part->recent.entry = NULL;
    part->set_marks = NULL;
    part->seen = 0;
    part->group_begin = part->group_end = 0;
    return part;
}

void espl__part_note_kinds(espl__part *part)
{
    const espl__forest *const forest = part->edit.forest;
    const espl__links *const links = forest->links;
    const espl__made *const made = part->edit.made;
    espl__made_info *const infos = part->made;
    const size_t count = espl__array_length(made);

    ESPL_CHECK(espl__array_length(infos) == count);
    for (size_t i = part->edit.made_from; i < count; ++i) {
        const uint32_t slot = made[i].slot;

        infos[i].kind = links[slot].entity == (ESPL__MADE | (uint32_t)i)
                            ? espl__slot_kind(forest, slot)
                            : ESPL__COPY_KINDS;
    }
}

// Only the marks of nodes that are listed can be other than 0.
void espl__part_clear_marks(const espl__stage_context *context, const espl__part *part)
{
    for (size_t k = 0; k < espl__array_length(part->node_sets); ++k) {
        context->memory.set_marks[part->node_sets[k].slot] = 0;
    }
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

void espl__parts_trim(espl__stage_context *context, uint32_t count)
{
    enum { FACTOR = 4 };
    espl__playback_memory *const memory = &context->memory;
    size_t used = 0, bytes = 0;

    // A part is made when the one before it exists.
    for (uint32_t i = 0; i < ESPL__PARTS && memory->parts[i] != NULL; ++i) {
        size_t here;

        bytes += espl__part_bytes(memory->parts[i], &here);
        used += i < count ? here : 0;
    }
    const bool is_usual = used <= ESPL__SMALL_PARTS || used <= FACTOR * memory->usual_bytes;

    if (used > ESPL__SMALL_PARTS) {
        memory->usual_bytes = (3 * memory->usual_bytes + used + 3) / 4;
    }
    const size_t usual =
        memory->usual_bytes > ESPL__SMALL_PARTS ? memory->usual_bytes : ESPL__SMALL_PARTS;

    if (!is_usual || bytes > 2 * FACTOR * usual) {
        espl__parts_free(context);
    }
}
