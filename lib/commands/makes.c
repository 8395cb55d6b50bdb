// SPDX-License-Identifier: MIT
// What the plans make: each clone's archetype to be, and the order in which they get ids and rows.
#include "lib/commands/assemble.h"

#include "lib/base/ahead.h"

#include <string.h>

enum { ROLES = 3 };

_Static_assert((int)ESPL__MAKE_GIVEN == ROLES * 2, "a kind is a role, with a placement or without");

// Fewer commands are looked through sooner by one worker than others wake up.
enum { ENTRY_GRAIN = 4096 };

// Archetypes of clones that were looked up.
typedef struct memo {
    size_t known;    // archetypes there were before
    uint32_t *plain; // [known * ROLES * 2] of clones without sets of their own, by kind
    uint32_t *given; // [known + 1] of the last one with a set of its own, by its source's; behind
                     // them, of the last one created
} memo;

static const espl__node *node_of(const espl__playback *playback, const espl__make *make)
{
    return espl__sketch_at(&playback->groups[make->group].work->sketch, make->node);
}

static espl_status plain_archetype(espl__playback *playback, uint8_t kind, uint32_t from,
                                   uint32_t *out)
{
    const espl_component role = ESPL_SOLO + kind / 2u;
    espl_component add[2], remove[ROLES + 2];
    size_t added = 0, removed = 0;

    add[added++] = role;
    if (kind % 2 != 0) {
        add[added++] = ESPL_PLACEMENT;
    } else {
        remove[removed++] = ESPL_PLACEMENT;
    }
    for (espl_component other = ESPL_SOLO; other <= ESPL_MEMBER; ++other) {
        if (other != role) {
            remove[removed++] = other;
        }
    }
    remove[removed++] = ESPL_PREFAB;
    return espl__archetype_change(playback->store, from, add, added, remove, removed, out);
}

// Clones of one archetype and one kind go to one archetype.
static espl_status find_plain(espl__playback *playback, const memo *m, espl__make *make,
                              uint8_t kind)
{
    const uint32_t from = espl__entity_archetype(playback->store, make->source);
    uint32_t *const cached = &m->plain[from * ROLES * 2 + kind];
    espl_status status = ESPL_OK;

    if (*cached == ESPL__NONE) {
        status = plain_archetype(playback, kind, from, cached);
    }
    make->archetype = *cached;
    return status;
}

static espl_status find_given(espl__playback *playback, const memo *m, espl__make *make)
{
    const size_t number = make->source == ESPL__NO_ENTITY
                              ? m->known
                              : espl__entity_archetype(playback->store, make->source);
    const espl_status status =
        espl__components_archetype(playback, &playback->groups[make->group],
                                   node_of(playback, make), m->given[number], &make->archetype);

    m->given[number] = make->archetype;
    return status;
}

// Neighbours are mostly alike.
static espl_status find_assembled(espl__playback *playback, const memo *m, espl__make *make)
{
    const espl_status status =
        espl__assembly_archetype(playback, make, m->given[m->known], &make->archetype);

    m->given[m->known] = make->archetype;
    return status;
}

static espl_status find_archetype(espl__playback *playback, const memo *m, espl__make *make,
                                  uint8_t kind)
{
    switch (kind) {
    case ESPL__MAKE_GIVEN:
        return find_given(playback, m, make);
    case ESPL__MAKE_ASSEMBLED:
        return find_assembled(playback, m, make);
    default:
        return find_plain(playback, m, make, kind);
    }
}

static espl_status find_clone_archetypes(espl__playback *playback)
{
    const size_t known = espl__array_length(playback->store->archetypes);
    const memo m = {known, espl__arena_take(&playback->arena, known * ROLES * 2, sizeof(uint32_t)),
                    espl__arena_take(&playback->arena, known + 1, sizeof(uint32_t))};
    espl_status status = m.plain == NULL || m.given == NULL ? ESPL_ERR_NO_MEMORY : ESPL_OK;

    if (status == ESPL_OK) {
        memset(m.plain, 0xff, known * ROLES * 2 * sizeof *m.plain);
        memset(m.given, 0xff, (known + 1) * sizeof *m.given);
    }
    for (size_t i = 0; i < playback->make_count && status == ESPL_OK; ++i) {
        status = find_archetype(playback, &m, &playback->makes[i], playback->make_kinds[i]);
    }
    return status;
}

// --- Listing ---

// What tells the archetype of a clone besides its source's.
static uint8_t kind_of(const espl__node *node)
{
    if (node->values != ESPL__NO_NODE || node->source == ESPL__NO_ENTITY) {
        return ESPL__MAKE_GIVEN;
    }
    return (uint8_t)((espl__node_role(node) - ESPL_SOLO) * 2 +
                     (espl__node_is_placed(node) ? 1 : 0));
}

// Kind of one that has a placement.
static uint8_t placed_kind(espl_component role)
{
    return (uint8_t)((role - ESPL_SOLO) * 2 + 1);
}

// List the clones of a command that goes the short way: all live and have placements. Returns the
// number of the next one.
static size_t list_short(const espl__playback *playback, const espl__entry *entry)
{
    const espl__recipe_card *const card = espl__short_recipe(playback, entry);
    const espl_component top = espl__short_top_role(entry);
    espl__make *const makes = playback->makes + entry->make_begin;
    uint8_t *const kinds = playback->make_kinds + entry->make_begin;

    for (uint32_t k = 0; k < entry->clone_count; ++k) {
        makes[k] = (espl__make){entry->group, ESPL__NO_NODE, card->entities[k], ESPL__NONE};
        kinds[k] = placed_kind(k == 0 ? top : ESPL_MEMBER);
    }
    return entry->make_begin + (size_t)entry->clone_count;
}

// List those whom a command makes that come together with others. Returns the number of the next one.
static size_t list_assembled(const espl__playback *playback, const espl__entry *entry)
{
    const uint32_t first = playback->lanes[entry->lane].pending_base + entry->command->pending;

    for (uint32_t k = 0; k < entry->clone_count; ++k) {
        playback->makes[entry->make_begin + k] =
            (espl__make){entry->group, first + k, ESPL__NO_ENTITY, ESPL__NONE};
        playback->make_kinds[entry->make_begin + k] = ESPL__MAKE_ASSEMBLED;
    }
    return entry->make_begin + (size_t)entry->clone_count;
}

// List the living clones of a command. Returns the number of the next one.
static size_t list_entry(const espl__playback *playback, const espl__entry *entry)
{
    if (entry->clone_count == 0) {
        return entry->make_begin;
    }
    if (entry->is_short) {
        return espl__command_creates(entry->command->kind) ? list_assembled(playback, entry)
                                                           : list_short(playback, entry);
    }
    const espl__sketch *const sketch = &playback->groups[entry->group].work->sketch;
    size_t at = entry->make_begin;

    for (uint32_t k = 0; k < entry->clone_count; ++k) {
        const uint32_t node = entry->clone_begin + k;
        const espl__node *const n = espl__sketch_at(sketch, node);

        if (!espl__node_is_dead(n)) {
            playback->makes[at] = (espl__make){entry->group, node, n->source, ESPL__NONE};
            playback->make_kinds[at] = kind_of(n);
            at += 1;
        }
    }
    return at;
}

// Clones of different groups stand far apart: those of the commands behind are asked for ahead.
static void look_ahead(const espl__playback *playback, size_t i)
{
    enum { FAR = 8, NEAR = 4 };

    if (i + FAR < playback->entry_count && !playback->entries[i + FAR].is_short) {
        espl__ask(&playback->groups[playback->entries[i + FAR].group]);
    }
    if (i + NEAR < playback->entry_count && !playback->entries[i + NEAR].is_short &&
        playback->entries[i + NEAR].clone_count != 0) {
        const espl__entry *const entry = &playback->entries[i + NEAR];
        const espl__group *const group = &playback->groups[entry->group];

        espl__ask(espl__sketch_at(&group->work->sketch, entry->clone_begin));
    }
}

static void list_entries(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        look_ahead(playback, i);
        (void)list_entry(playback, &playback->entries[i]);
    }
}

// Archetype of the clones of an entity of a kind, which is looked up once.
static espl_status find_once(espl__playback *playback, uint32_t entity, uint8_t kind,
                             uint32_t *known)
{
    return *known != ESPL__NONE
               ? ESPL_OK
               : plain_archetype(playback, kind, espl__entity_archetype(playback->store, entity),
                                 known);
}

// Archetypes of the copies of a recipe, of which the first one has a role.
static espl_status find_of_recipe(espl__playback *playback, espl__recipe_card *card,
                                  espl_component top)
{
    espl_status status =
        find_once(playback, card->entities[0], placed_kind(top), &card->tops[top - ESPL_SOLO]);

    for (uint32_t k = 1; k < card->tree.size && status == ESPL_OK; ++k) {
        status =
            find_once(playback, card->entities[k], placed_kind(ESPL_MEMBER), &card->archetypes[k]);
    }
    return status;
}

// Where all clones are made by recipe they are not listed one by one: what a recipe makes is known
// once it is known how often it is used.
static espl_status count_recipes(espl__playback *playback)
{
    espl_status status = ESPL_OK;
    uint32_t made = 0;

    for (size_t i = 0; i < playback->entry_count && status == ESPL_OK; ++i) {
        espl__entry *const entry = &playback->entries[i];

        entry->make_begin = made;
        made += entry->clone_count;
        if (entry->clone_count != 0) {
            const espl_component top = espl__short_top_role(entry);
            espl__recipe_card *const card = &playback->recipes[entry->recipe];

            if (card->uses[top - ESPL_SOLO]++ == 0) {
                status = find_of_recipe(playback, card, top);
            }
        }
    }
    return status;
}

// Give each command's clones their places, as if none had died. Returns how many there were.
static size_t place_makes(const espl__playback *playback)
{
    size_t made = 0;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        playback->entries[i].make_begin = (uint32_t)made;
        made += playback->entries[i].clone_count;
    }
    return made;
}

// Where some died, a place is known once those before it are listed.
static void list_one_by_one(const espl__playback *playback)
{
    size_t count = 0;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        look_ahead(playback, i);
        playback->entries[i].make_begin = (uint32_t)count;
        count = list_entry(playback, &playback->entries[i]);
    }
    ESPL_CHECK(count == playback->make_count);
}

static espl_status list_living(espl__playback *playback)
{
    if (place_makes(playback) == playback->make_count) {
        return espl__run_ranges(playback->executor, playback->hooks, list_entries, playback,
                                playback->entry_count, ENTRY_GRAIN);
    }
    list_one_by_one(playback);
    return ESPL_OK;
}

espl_status espl__list_makes(espl__playback *playback)
{
    playback->make_count = 0;
    for (size_t i = 0; i < playback->group_count; ++i) {
        playback->make_count += playback->groups[i].clones;
    }
    playback->are_all_short = playback->long_count == 0 &&
                              (playback->assembling == NULL || !playback->assembling->creates);
    playback->make_slots =
        espl__arena_take(&playback->arena, playback->make_count, sizeof *playback->make_slots);
    if (playback->make_slots == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (playback->are_all_short) {
        const espl_status status = playback->make_count == 0 ? ESPL_OK : count_recipes(playback);

        return status != ESPL_OK ? status : espl__sort_copies(playback);
    }
    playback->makes =
        espl__arena_take(&playback->arena, playback->make_count, sizeof *playback->makes);
    playback->make_kinds = espl__arena_take(&playback->arena, playback->make_count, 1);
    if (playback->makes == NULL || playback->make_kinds == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl_status status = playback->pending_count == 0 ? ESPL_OK : list_living(playback);

    status = status != ESPL_OK ? status : find_clone_archetypes(playback);
    return status != ESPL_OK ? status : espl__sort_makes(playback);
}
