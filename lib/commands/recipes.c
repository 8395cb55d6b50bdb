// SPDX-License-Identifier: MIT
// How copies of each source are made where nothing depends on it: drawn up once in a playback, used
// by every command that names the source.
#include "lib/commands/short.h"

// Tell whether copies of a slot's closure can be made by recipe: plain placements. Its run is one that
// nobody touches.
static bool is_simple(const espl__playback *playback, uint32_t slot)
{
    const espl__forest *const forest = playback->forest;
    const espl__run *const run = espl__run_of(forest, slot);

    // Where there are ghosts its run is touched too.
    ESPL_CHECK(playback->run_marks[forest->run[slot]] == 0 && run->ghosts == 0);
    return run->side == NULL && (run->flags & ESPL__RUN_GENERAL) == 0;
}

// List the owned closure of a slot, the list being its own queue.
static void list_closure(const espl__forest *forest, uint32_t top, uint32_t *slots,
                         uint32_t *parents, uint32_t *firsts, espl__recipe *out)
{
    const espl__run *const run = espl__run_of(forest, top);

    slots[0] = top;
    parents[0] = ESPL__NO_SLOT;
    out->size = 1;
    for (uint32_t at = 0; at < out->size; ++at) {
        const uint32_t rank = forest->rank[slots[at]];
        const uint32_t end = espl__first_child(forest, run, rank + 1);

        firsts[at] = out->size;
        for (uint32_t child = espl__first_child(forest, run, rank); child < end; ++child) {
            const uint32_t slot = forest->order[run->base + child];

            if (!espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK)) {
                slots[out->size] = slot;
                parents[out->size++] = at;
            }
        }
    }
    out->slots = slots;
    out->parents = parents;
    out->firsts = firsts;
}

// A level begins where parents reach the one above.
static void find_levels(espl__recipe *recipe, uint32_t *starts)
{
    uint32_t levels = 0;

    for (uint32_t at = 0; at < recipe->size; ++at) {
        if (at == 0 || (recipe->parents[at] >= starts[levels - 1])) {
            starts[levels++] = at;
        }
    }
    starts[levels] = recipe->size;
    recipe->levels = levels;
    recipe->starts = starts;
}

static bool draw_up(espl__playback *playback, uint32_t slot, uint32_t bound,
                    espl__recipe_card *card)
{
    const espl__forest *const forest = playback->forest;

    *card = (espl__recipe_card){
        .slot = slot, .tops = {ESPL__NONE, ESPL__NONE, ESPL__NONE}, .lost = ESPL__TRAIT_PLAIN_COPY};
    if (bound > ESPL__SPLICE_MADE || !is_simple(playback, slot)) {
        return true;
    }
    uint32_t *const words =
        espl__arena_take(&playback->arena, (size_t)7 * bound + 1, sizeof *words);

    if (words == NULL) {
        return false;
    }
    uint32_t *const entities = words + bound;

    list_closure(forest, slot, words, words + 2 * (size_t)bound, words + 3 * (size_t)bound,
                 &card->tree);
    find_levels(&card->tree, words + 4 * (size_t)bound);
    card->archetypes = words + 5 * (size_t)bound + 1;
    card->bins = words + 6 * (size_t)bound + 1;
    card->lost = 0;
    for (uint32_t i = 0; i < card->tree.size; ++i) {
        const espl_pose *const local = &forest->local[words[i]];

        // With scales of at most one below the top, and so few nodes, positions add up and no more.
        if (i != 0 && !(espl__pose_is_small(local) && fabsf(local->scale) <= 1)) {
            card->lost |= ESPL__TRAIT_SMALL;
        }
        entities[i] = forest->entity[words[i]];
        card->archetypes[i] = ESPL__NONE;
        const uint32_t archetype = espl__entity_archetype(playback->store, entities[i]);

        if (playback->store->referring_count != 0 &&
            espl__references_in(playback->store, archetype)) {
            card->lost |= ESPL__TRAIT_PLAIN_COPY;
        }
    }
    card->entities = entities;
    return true;
}

// What a command's recipe says of it. The long way counts its clones anew.
static void note_recipe(const espl__recipe_card *card, espl__entry *entry)
{
    entry->traits &= (uint8_t)~card->lost;
    entry->clone_count = espl__entry_is_plain_copy(entry) ? card->tree.size : 0;
}

// Give a command its recipe. false where there is no memory.
static bool find_recipe(espl__playback *playback, espl__entry *entry)
{
    uint32_t *const mark = &playback->slot_marks[entry->target.number];

    // A source that sketches write to is none that they know by this mark: it is theirs.
    if (*mark == 0 && playback->run_marks[playback->forest->run[entry->target.number]] == 0) {
        if (!draw_up(playback, entry->target.number, entry->clone_bound,
                     &playback->recipes[playback->recipe_count + 1])) {
            return false;
        }
        *mark = (uint32_t)++playback->recipe_count;
    }
    entry->recipe = *mark;
    note_recipe(&playback->recipes[*mark], entry);
    return true;
}

bool espl__recipes_list(espl__playback *playback)
{
    // Where nothing is made nobody names a source.
    const size_t entries = playback->pending_count != 0 ? playback->entry_count : 0;
    size_t count = 0;

    for (size_t i = 0; i < entries; ++i) {
        count += (playback->entries[i].traits & ESPL__TRAIT_COPIES) != 0 ? 1 : 0;
    }
    playback->recipes = espl__arena_take(&playback->arena, count + 1, sizeof *playback->recipes);
    playback->recipe_count = 0;
    if (playback->recipes == NULL) {
        return false;
    }
    playback->recipes[0] = (espl__recipe_card){.lost = ESPL__TRAIT_PLAIN_COPY};
    for (espl__entry *entry = playback->entries; entry < playback->entries + entries; ++entry) {
        if ((entry->traits & ESPL__TRAIT_COPIES) != 0 && !find_recipe(playback, entry)) {
            return false;
        }
    }
    return true;
}

void espl__recipes_forget(espl__playback *playback)
{
    for (size_t i = 1; i <= playback->recipe_count; ++i) {
        playback->slot_marks[playback->recipes[i].slot] = 0;
    }
    playback->recipe_count = 0;
}
