// SPDX-License-Identifier: MIT
// Stage 3: commands that may depend on each other come into one group. Elements are the trees that
// commands touch, and the commands that touch none, numbered by first appearance in playback order.
// Elements are united by union-find where one command names several trees. The tree of a source is
// touched only where some command writes to it, so that copies of one source stay independent.
#include "lib/commands/playback.h"

#include "lib/base/prefetch.h"

#include <string.h>

enum { AHEAD = 16 };

typedef struct grouping {
    espl__playback *playback;
    espl__tree *trees; // mark: number of a touched tree + 1
    uint32_t touched_count;
    uint32_t *home;  // [entries] the entry's element; before, its first tree
    uint32_t *above; // [count] union-find; then the element's group
    uint32_t count;  // elements
    bool has_links;  // some elements may be united
    uint32_t *table; // [table_size] number of a source + 1, by a hash of its slot
    uint32_t table_size; // a power of two
} grouping;

// --- Touching ---

static uint32_t add_element(grouping *g)
{
    g->above[g->count] = g->count;
    return g->count++;
}

// Until groups are numbered, the group of a touched tree is its element. Branchless: whether a tree is
// new is unpredictable, so always store and advance only if it is.
static inline uint32_t touch(grouping *g, uint32_t tree)
{
    espl__touched_tree *const touched = g->playback->touched;
    uint32_t *const mark = &g->trees[tree].mark;
    const uint32_t end = g->touched_count, element = g->count;
    const uint32_t before = *mark, is_new = before == 0 ? 1 : 0;
    const uint32_t number = before + (end + 1) * is_new;

    touched[end] = (espl__touched_tree){.tree = tree, .group = element};
    g->above[element] = element;
    g->count = element + is_new;
    g->touched_count = end + is_new;
    *mark = number;
    return touched[number - 1].group;
}

static void touch_operand(grouping *g, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        (void)touch(g, g->playback->forest->tree[operand->number]);
    }
}

static bool is_copy(const espl__entry *entry)
{
    return entry->command->kind == ESPL__COMMAND_INSTANTIATE;
}

static void touch_all(grouping *g)
{
    const espl__playback *const playback = g->playback;
    const size_t count = playback->entry_count;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t ahead = i + AHEAD < count ? g->home[i + AHEAD] : ESPL__NO_TREE;
        const espl__entry *const entry = &playback->entries[i];

        if (ahead != ESPL__NO_TREE) {
            espl__prefetch_to_write(&g->trees[ahead].mark);
        }
        g->home[i] = g->home[i] == ESPL__NO_TREE ? add_element(g) : touch(g, g->home[i]);
        if (playback->are_linking[i]) {
            g->has_links = true;
            if (!is_copy(entry)) {
                touch_operand(g, &entry->target);
            }
            touch_operand(g, &entry->parent);
            touch_operand(g, &entry->before);
        }
    }
}

// --- Uniting ---

static uint32_t find(const grouping *g, uint32_t element)
{
    uint32_t *const above = g->above;

    while (above[element] != element) {
        above[element] = above[above[element]];
        element = above[element];
    }
    return element;
}

// The smaller number stands for both, so that groups count up in playback order.
static void unite(const grouping *g, uint32_t a, uint32_t b)
{
    const uint32_t x = find(g, a), y = find(g, b);

    if (x < y) {
        g->above[y] = x;
    } else {
        g->above[x] = y;
    }
}

static void unite_operand(grouping *g, size_t entry, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        unite(g, g->home[entry], touch(g, g->playback->forest->tree[operand->number]));
    } else if (espl__operand_is_pending(operand)) {
        unite(g, g->home[entry], g->home[g->playback->pending_entries[operand->number]]);
    }
}

static void unite_linking(grouping *g)
{
    const espl__playback *const playback = g->playback;

    for (size_t i = 0; g->has_links && i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        if (!playback->are_linking[i]) {
            continue;
        }
        if (!is_copy(entry) || espl__operand_is_pending(&entry->target)) {
            unite_operand(g, i, &entry->target);
        }
        unite_operand(g, i, &entry->parent);
        unite_operand(g, i, &entry->before);
    }
}

// --- Sources ---

// Where a source is in the table, or the free place where it belongs.
static uint32_t *place_of(const grouping *g, uint32_t slot)
{
    const espl__source *const sources = g->playback->sources;
    const uint32_t mask = g->table_size - 1;

    for (uint32_t at = slot * UINT32_C(0x9e3779b1) & mask;; at = (at + 1) & mask) {
        if (g->table[at] == 0 || sources[g->table[at] - 1].slot == slot) {
            return &g->table[at];
        }
    }
}

// Make the table larger where the sources fill half of it.
static bool reserve_table(grouping *g)
{
    enum { FIRST_SIZE = 16 };
    espl__playback *const playback = g->playback;
    const uint32_t count = (uint32_t)espl__array_length(playback->sources);

    if (2 * count < g->table_size) {
        return true;
    }
    g->table_size = count == 0 ? FIRST_SIZE : 4 * count;
    while ((g->table_size & (g->table_size - 1)) != 0) {
        g->table_size += g->table_size & (0u - g->table_size);
    }
    g->table = espl__arena_take_zeroed(&playback->arena, g->table_size, sizeof *g->table);
    for (uint32_t i = 0; g->table != NULL && i < count; ++i) {
        *place_of(g, playback->sources[i].slot) = i + 1;
    }
    return g->table != NULL;
}

// The number + 1 of a source that nobody edits. 0: no memory.
static uint32_t source_number(grouping *g, uint32_t slot)
{
    espl__playback *const playback = g->playback;

    if (!reserve_table(g)) {
        return 0;
    }
    uint32_t *const place = place_of(g, slot);

    if (*place == 0) {
        if (!ESPL_ARRAY_RESERVE(playback->heap, ESPL__FOR_COMMANDS, playback->sources, 1)) {
            return 0;
        }
        ESPL_ARRAY_PUSH(playback->sources, (espl__source){.slot = slot});
        *place = (uint32_t)espl__array_length(playback->sources);
    }
    return *place;
}

// A source in a tree that some command touches is copied as it is at the copy's turn, in the group of
// that tree; any other source is read by all groups.
static espl_status find_sources(grouping *g)
{
    espl__playback *const playback = g->playback;
    uint32_t last_slot = ESPL__NO_SLOT, last_number = 0;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        espl__entry *const entry = &playback->entries[i];

        entry->template = 0;
        if (!is_copy(entry) || !espl__operand_is_living(&entry->target)) {
            continue;
        }
        const uint32_t slot = entry->target.number, tree = playback->forest->tree[slot];

        if (slot != last_slot) {
            if (g->trees[tree].mark != 0) {
                g->has_links = true;
                unite(g, g->home[i], touch(g, tree));
                continue;
            }
            last_number = source_number(g, slot);
            if (last_number == 0) {
                return ESPL_ERR_NO_MEMORY;
            }
            last_slot = slot;
        }
        entry->template = last_number;
    }
    return ESPL_OK;
}

// --- Templates of sources that nobody edits ---

static espl_status copy_template(espl__playback *playback, espl__source *source,
                                 const espl__template *found)
{
    const size_t count = found->count;
    uint32_t *const slots = espl__arena_take(&playback->arena, count, sizeof *slots);
    uint32_t *const parents = espl__arena_take(&playback->arena, count, sizeof *parents);

    if (slots == NULL || parents == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    memcpy(slots, found->slots, count * sizeof *slots);
    memcpy(parents, found->parents, count * sizeof *parents);
    source->tree = *found;
    source->tree.slots = slots;
    source->tree.parents = parents;
    return ESPL_OK;
}

// The edit of the first part finds them; nothing is under way yet.
static espl_status find_templates(espl__playback *playback)
{
    espl__edit *const edit = &playback->parts[0]->edit;
    size_t buckets = 0;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < espl__array_length(playback->sources) && status == ESPL_OK; ++i) {
        espl__source *const source = &playback->sources[i];
        espl__template found;

        status = espl__edit_find_template(edit, source->slot, &found);
        status = status != ESPL_OK ? status : copy_template(playback, source, &found);
        if (status == ESPL_OK) {
            playback->wants_side = playback->wants_side || found.has_side;
            source->first_bucket = (uint32_t)buckets;
            buckets += (size_t)ESPL__COPY_KINDS * found.count;
        }
    }
    if (status != ESPL_OK) {
        return status;
    }
    if (buckets >= ESPL__NONE) {
        return ESPL_ERR_NO_MEMORY;
    }
    playback->known_buckets =
        espl__arena_take(&playback->arena, buckets, sizeof *playback->known_buckets);
    if (playback->known_buckets == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    memset(playback->known_buckets, 0xff, buckets * sizeof *playback->known_buckets);
    return ESPL_OK;
}

// --- Numbering and sorting ---

static size_t number_groups(grouping *g)
{
    espl__playback *const playback = g->playback;
    uint32_t count = 0;

    if (!g->has_links) {
        return g->count; // each element is a group of its own
    }
    // An element is above itself or below a smaller one, whose group is known then.
    for (uint32_t element = 0; element < g->count; ++element) {
        const uint32_t above = g->above[element];

        g->above[element] = above == element ? count++ : g->above[above];
    }
    for (size_t i = 0; i < playback->entry_count; ++i) {
        g->home[i] = g->above[g->home[i]];
    }
    for (size_t i = 0; i < g->touched_count; ++i) {
        playback->touched[i].group = g->above[playback->touched[i].group];
    }
    return count;
}

// A counting sort: stable, so that commands stay in their order within a group.
static espl_status sort_entries(grouping *g, size_t groups)
{
    espl__playback *const playback = g->playback;
    uint32_t *const ends = espl__arena_take_zeroed(&playback->arena, groups + 1, sizeof *ends);

    playback->grouped_entries =
        espl__arena_take(&playback->arena, playback->entry_count, sizeof(uint32_t));
    playback->groups = espl__arena_take(&playback->arena, groups, sizeof *playback->groups);
    if (ends == NULL || playback->grouped_entries == NULL || playback->groups == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < playback->entry_count; ++i) {
        ends[g->home[i] + 1] += 1;
    }
    for (size_t i = 0; i < groups; ++i) {
        ends[i + 1] += ends[i];
        playback->groups[i] =
            (espl__group){.entry_begin = ends[i], .entry_end = ends[i + 1]};
    }
    for (size_t i = 0; i < playback->entry_count; ++i) {
        playback->entries[i].group = g->home[i];
        playback->grouped_entries[ends[g->home[i]]++] = (uint32_t)i;
    }
    playback->group_count = groups;
    return ESPL_OK;
}

// --- The stage ---

espl_status espl__stage_group(espl__playback *playback)
{
    // Trees that can be touched: each command names three at most. Room for one more: see touch().
    const size_t named = 3 * playback->entry_count, all = playback->forest->tree_end;
    const size_t trees = named < all ? named : all;
    grouping g = {.playback = playback,
                  .home = playback->homes,
                  .above = espl__arena_take(&playback->arena, playback->entry_count + trees + 1,
                                            sizeof *g.above)};

    playback->touched = espl__arena_take(&playback->arena, trees + 1, sizeof *playback->touched);
    if (g.above == NULL || playback->touched == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    g.trees = playback->forest->trees;
    touch_all(&g);
    unite_linking(&g);
    espl_status status = find_sources(&g);

    playback->touched_count = g.touched_count;
    status = status != ESPL_OK ? status : find_templates(playback);
    return status != ESPL_OK ? status : sort_entries(&g, number_groups(&g));
}
