// SPDX-License-Identifier: MIT
// Stage 3: commands that may depend on each other come into one group.
//
// Input: the operands of the entries, and the home of each command. Output: the entries by group,
// the trees that commands touch, and the closures of sources that no command edits.
//
// Elements are the trees that commands touch, and the commands that touch none, numbered by first
// appearance in playback order. Union-find unites the elements of trees that one command names.
// Commands are united with the command that makes a pending entity which they name. The tree of a
// source is touched only if a command writes to it, so that copies of one source stay independent.
//
// Cost: almost linear in the commands (union-find), and linear in the nodes of the closures. One
// thread, because each element depends on those before it.
//
// Invariant: groups are numbered in the order of their first commands, so that the result depends
// on the commands alone.
#include "lib/commands/apply.h"

#include "lib/base/key_numbers.h"
#include "lib/base/prefetch.h"
#include "lib/commands/parts.h"
#include "lib/tree/edit_nodes.h"

#include <string.h>

// The elements. A loop over the commands has a copy in registers.
typedef struct element_list {
    espl__tree *trees; // mark: element of a touched tree + 1
    uint32_t *touched; // [touched_count] trees; room for one more: see touch()
    uint32_t *above;   // [count] union-find; then the element's group. Room for one more
    uint32_t touched_count, count;
} element_list;

// State of the stage.
typedef struct grouping {
    espl__stage_context *context;
    const espl__group_input *in;
    const espl__entry *entries; // [entry_count]
    size_t entry_count;
    const uint32_t *slot_trees; // forest->tree
    element_list elements;
    espl__home *homes; // [entry_count] `group`: first the element of the entry, then its group
    unsigned links;    // bits of espl__home.is_linking of all commands
    espl__key_numbers *source_numbers; // by slot
} grouping;

// --- Touching ---

// Add an element for a command that touches no tree, such as a creation without a parent.
static inline uint32_t add_element(element_list *e)
{
    e->above[e->count] = e->count;
    return e->count++;
}

// The element of a tree. Branchless: whether a tree is new is unpredictable, so always store and
// advance only if it is.
ESPL__INLINE uint32_t touch(element_list *e, uint32_t tree)
{
    uint32_t *const mark = &e->trees[tree].mark;
    const uint32_t next = e->count, before = *mark;
    const uint32_t is_new = before == 0 ? 1 : 0, now = before + (next + 1) * is_new;

    e->touched[e->touched_count] = tree;
    e->above[next] = next;
    e->count = next + is_new;
    e->touched_count += is_new;
    *mark = now;
    return now - 1;
}

// Tell whether the target of a command is a source, which it reads and does not write.
static bool instantiates(const espl__entry *entry)
{
    return entry->command->kind == ESPL__COMMAND_INSTANTIATE;
}

// --- Uniting ---

// The smallest element of the set of an element, with path halving.
ESPL__INLINE uint32_t find_element(const element_list *e, uint32_t element)
{
    uint32_t *const above = e->above;

    ESPL_CHECK_FULL(element < e->count);
    while (above[element] != element) {
        above[element] = above[above[element]];
        element = above[element];
    }
    return element;
}

// Unite two elements. The smaller number stands for both, so that groups count up in playback
// order.
ESPL__INLINE void unite_elements(const element_list *e, uint32_t a, uint32_t b)
{
    const uint32_t x = find_element(e, a), y = find_element(e, b);

    e->above[x < y ? y : x] = x < y ? x : y;
}

// Unite a command with the tree of a living operand.
ESPL__INLINE void unite_tree(element_list *e, const uint32_t *slot_trees, uint32_t element,
                             const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        unite_elements(e, element, touch(e, slot_trees[operand->number]));
    }
}

// Number the elements, and give each command the element of its home. A command that names several
// trees unites them. The trees of all commands are touched before sources are looked at, because a
// source is shared only if no command edits its tree.
static void touch_all(grouping *g)
{
    enum { AHEAD = 16 };
    espl__home *const homes = g->homes;
    const espl__entry *const entries = g->entries;
    const uint32_t *const slot_trees = g->slot_trees;
    const size_t count = g->entry_count, near = count > AHEAD ? count - AHEAD : 0;
    element_list e = g->elements;
    unsigned links = 0;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t tree = homes[i].tree, is_linking = homes[i].is_linking;

        if (i < near) {
            espl__prefetch_element(e.trees, homes[i + AHEAD].tree, sizeof *e.trees);
        }
        const uint32_t element = tree == ESPL__NO_TREE ? add_element(&e) : touch(&e, tree);

        homes[i].group = element;
        if (is_linking != 0) {
            // The home of a command that is no instantiate is the tree of its target, if that lives.
            links |= is_linking;
            unite_tree(&e, slot_trees, element, &entries[i].parent);
            unite_tree(&e, slot_trees, element, &entries[i].before);
        }
    }
    g->elements = e;
    g->links = links;
}

// Unite a command with the one that makes an operand.
static void unite_maker(const grouping *g, size_t entry, const espl__operand *operand)
{
    if (espl__operand_is_pending(operand)) {
        const uint32_t maker = g->in->resolved->pending_entries[operand->number];

        unite_elements(&g->elements, g->homes[entry].group, g->homes[maker].group);
    }
}

// Unite each command that names a pending entity with the command that makes the entity. That one may
// come later in playback order.
static void unite_pendings(grouping *g)
{
    const size_t count = (g->links & ESPL__LINKS_PENDING) != 0 ? g->entry_count : 0;

    for (size_t i = 0; i < count; ++i) {
        const espl__entry *const entry = &g->entries[i];

        unite_maker(g, i, &entry->target);
        unite_maker(g, i, &entry->parent);
        unite_maker(g, i, &entry->before);
    }
}

// --- Sources ---

// The number + 1 of a source that no command edits. 0: no memory.
static uint32_t source_number(grouping *g, uint32_t slot)
{
    espl__playback_memory *const memory = &g->context->memory;
    const uint32_t number = espl__key_number(g->source_numbers, &g->context->arena, slot);

    // A new number: the source is listed.
    if (number == espl__array_length(memory->sources)) {
        if (!ESPL_ARRAY_RESERVE(g->context->heap, ESPL__FOR_COMMANDS, memory->sources, 1)) {
            return 0;
        }
        ESPL_ARRAY_PUSH(memory->sources, (espl__source){.slot = slot});
    }
    return number + 1; // UINT32_MAX + 1 is 0
}

// A source in a tree that a command touches is copied in the group of that tree, as it is when the
// copy is applied. Any other source is listed, and read by all groups.
static espl_status find_sources(grouping *g)
{
    espl__entry *const entries = g->in->ordered->entries;
    uint32_t last_slot = ESPL__NO_SLOT, last_number = 0;
    // Fast path: commands that make nothing have no source.
    const size_t count = g->in->ordered->pending_count != 0 ? g->entry_count : 0;

    for (size_t i = 0; i < count; ++i) {
        espl__entry *const entry = &entries[i];

        if (!instantiates(entry) || !espl__operand_is_living(&entry->target)) {
            continue;
        }
        const uint32_t slot = entry->target.number, tree = g->slot_trees[slot];

        // Fast path: copies of one source often follow each other.
        if (slot != last_slot) {
            if (g->elements.trees[tree].mark != 0) {
                unite_elements(&g->elements, g->homes[i].group, touch(&g->elements, tree));
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

// --- The closures of sources ---

// Copy a closure into the arena, because the edit finds the next one in the same memory.
static espl_status copy_template(espl__arena *arena, espl__source *source,
                                 const espl__template *found)
{
    espl__template_node *const nodes = espl__arena_take(arena, found->count, sizeof *nodes);

    ESPL_CHECK(found->count != 0 && found->nodes[0].slot == source->slot);
    if (nodes == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    memcpy(nodes, found->nodes, found->count * sizeof *nodes);
    source->tree = *found;
    source->tree.nodes = nodes;
    return ESPL_OK;
}

// Find the closure of each source. The edit of part 0 is scratch: the apply stage
// empties it.
static espl_status find_templates(espl__stage_context *context, espl__grouped *out)
{
    espl__source *const sources = context->memory.sources;
    const size_t count = espl__array_length(sources);
    espl__part *const scratch = count != 0 ? espl__part_take(context, 0) : NULL;
    size_t buckets = 0;
    espl_status status = count == 0 || scratch != NULL ? ESPL_OK : ESPL_ERR_NO_MEMORY;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        espl__source *const source = &sources[i];
        espl__template found;

        status = espl__edit_find_template(&scratch->edit, source->slot, &found);
        status = status != ESPL_OK ? status : copy_template(&context->arena, source, &found);
        if (status == ESPL_OK) {
            out->wants_side = out->wants_side || found.has_side;
            source->first_bucket = (uint32_t)buckets;
            buckets += (size_t)ESPL__COPY_KINDS * found.count;
        }
    }
    out->sources = sources;
    out->source_count = count;
    out->bucket_count = buckets;
    // Buckets are numbered in 32 bits.
    return status == ESPL_OK && buckets >= ESPL__NONE ? ESPL_ERR_NO_MEMORY : status;
}

// --- Numbering and sorting ---

// Turn elements into groups. @return the number of groups.
static size_t number_groups(const grouping *g)
{
    uint32_t *const above = g->elements.above;
    const uint32_t elements = g->elements.count;
    uint32_t count = 0;

    // An element is above itself, or below a smaller one, whose group is known already.
    for (uint32_t element = 0; element < elements; ++element) {
        const uint32_t up = above[element], is_first = up == element ? 1 : 0;

        ESPL_CHECK_FULL(up <= element);
        above[element] = is_first != 0 ? count : above[up];
        count += is_first;
    }
    return count;
}

// Give each command its group, and sort them by group: a stable counting sort, so that commands keep
// their order within a group. The end of a group counts its commands first, and then says where its
// next one goes.
static espl_status sort_entries(const grouping *g, size_t count, espl__grouped *out)
{
    espl__arena *const arena = &g->context->arena;
    espl__home *const homes = g->homes;
    espl__queued *const queue = espl__arena_take(arena, g->entry_count, sizeof *queue);
    espl__group *const groups = espl__arena_take(arena, count, sizeof *groups);
    const uint32_t *const above = g->elements.above;
    const size_t entries = g->entry_count;
    uint32_t sum = 0;

    if (queue == NULL || groups == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count; ++i) {
        groups[i] = (espl__group){0};
    }
    for (size_t i = 0; i < entries; ++i) {
        const uint32_t group = above[homes[i].group];

        homes[i].group = group;
        groups[group].entry_end += 1;
    }
    for (size_t i = 0; i < count; ++i) {
        const uint32_t here = groups[i].entry_end;

        groups[i].entry_begin = groups[i].entry_end = sum;
        sum += here;
    }
    ESPL_CHECK(sum == entries);
    for (size_t i = 0; i < entries; ++i) {
        espl__queued *const queued = &queue[groups[homes[i].group].entry_end++];

        queued->entry = (uint32_t)i;
        queued->tree = homes[i].tree;
        queued->slot = homes[i].slot;
    }
    out->queue = queue;
    out->groups = groups;
    out->group_count = count;
    return ESPL_OK;
}

// --- The stage ---

espl_status espl__stage_group(espl__stage_context *context, const espl__group_input *in,
                              espl__grouped *out)
{
    // Each command names three trees at most.
    const espl__forest *const forest = context->forest;
    const size_t count = in->ordered->entry_count;
    const size_t named = 3 * count, all = forest->tree_end;
    const size_t trees = named < all ? named : all;
    espl__arena *const arena = &context->arena;
    espl__key_numbers source_numbers;
    grouping g = {
        .context = context,
        .in = in,
        .entries = in->ordered->entries,
        .entry_count = count,
        .slot_trees = forest->tree,
        .source_numbers = &source_numbers,
        .homes = in->resolved->homes,
        .elements = {.trees = forest->trees,
                     .touched = espl__arena_take(arena, trees + 1, sizeof(uint32_t)),
                     .above = espl__arena_take(arena, count + trees + 1, sizeof(uint32_t))}};

    if (g.elements.touched == NULL || g.elements.above == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__key_numbers_begin(&source_numbers);
    touch_all(&g);
    unite_pendings(&g);
    // From here on the output has the touched trees, so that their marks are cleared.
    espl_status status = find_sources(&g);

    ESPL_CHECK(g.elements.touched_count <= trees && g.elements.count <= count + trees);
    out->touched = g.elements.touched;
    out->touched_count = g.elements.touched_count;
    out->element_count = g.elements.count;
    status = status != ESPL_OK ? status : find_templates(context, out);
    return status != ESPL_OK ? status : sort_entries(&g, number_groups(&g), out);
}
