// SPDX-License-Identifier: MIT
// The state of a forest as pieces (lib/base/state.h): each tree with its holes and nodes, then the free
// ranges. A column of nodes that is added to espl__forest and makes worlds unequal is visited here.
#include "lib/tree/cells.h"

// The floats of a pose have no padding between them.
const char espl__state_of_nodes[] = "links, parent and flags of a node";

_Static_assert(sizeof(espl_pose) == 8 * sizeof(float), "a pose is eight floats");

static void visit_pose(const espl__state_visitor *visitor, const char *name, const espl_pose *pose)
{
    espl__state_piece(visitor, name, ESPL__STATE_FLOATS, pose, 8);
}

// Visit what motion keeps of a node, for each tick that it keeps. A new node has markers, which are NaNs in
// one field.
static void visit_past(const espl__forest *forest, const espl__state_visitor *visitor,
                       uint32_t slot)
{
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);
    const espl__past past = espl__past_read(forest, slot);

    for (uint32_t time = 0; time < pasts; ++time) {
        visit_pose(visitor, "earlier local of a node", &past.local[time]);
        visit_pose(visitor, "earlier kept parts of a node", &past.kept[time]);
    }
}

// Visit the cell of a root. The middle one adds no words, so that the hash of a world with cells that are all
// 0 is that of a world without cells.
static void visit_cell(const espl__state_visitor *visitor, const espl__cell *cell)
{
    uint32_t words[3];
    const bool is_middle = (cell->at[0] | cell->at[1] | cell->at[2]) == 0;

    memcpy(words, cell->at, sizeof words);
    espl__state_piece(visitor, "cell of a root", ESPL__STATE_WORDS, words, is_middle ? 0 : 3);
}

// Visit what is stored of a node. Side arrays are memory: a node has the default where its tree has
// none, and ESPL__SLOT_SIDE is left out.
static void visit_node(const espl__forest *forest, const espl__state_visitor *visitor,
                       uint32_t slot)
{
    ESPL_CHECK(slot < forest->end);
    const espl__kept kept = espl__slot_kept(forest, slot);
    const espl__extra extra = espl__slot_extra(forest, slot);
    const espl__links *const links = &forest->links[slot];
    const uint32_t words[6] = {
        links->first_child, links->next,          links->previous,
        links->entity,      forest->parent[slot], forest->flags[slot] & ~(uint32_t)ESPL__SLOT_SIDE};

    espl__state_piece(visitor, espl__state_of_nodes, ESPL__STATE_PAIRS, words, 6);
    visit_pose(visitor, "local of a node", &forest->local[slot]);
    visit_pose(visitor, "world of a node", &forest->world[slot]);
    espl__state_piece(visitor, "inherit flags of a node", ESPL__STATE_WORDS, &kept.flags, 1);
    visit_pose(visitor, "kept parts of a node", &kept.pose);
    espl__state_piece(visitor, "stretch of a node", ESPL__STATE_FLOATS, extra.stretch, 3);
    espl__state_piece(visitor, "user data of a node", ESPL__STATE_WORDS, &extra.user_data, 1);
    if (espl__forest_has_motion(forest)) {
        visit_past(forest, visitor, slot);
    }
    if (espl__forest_has_cells(forest) && links->entity != ESPL__NO_ENTITY &&
        espl__is_root(forest, slot)) {
        visit_cell(visitor, &forest->tracks.cells[slot]);
    }
}

// Visit the header of a tree. Its links in the list of unsettled trees are left out, because that list
// is a set, which is sorted before use. The debt counts, because it decides when the tree is laid out,
// and so which slots later nodes get.
static void visit_header(const espl__state_visitor *visitor, const espl__tree *tree)
{
    const uint32_t range[4] = {tree->base, tree->capacity, tree->used, tree->live};
    const uint32_t links[2] = {tree->next, tree->previous};
    const uint32_t words[2] = {tree->flags, tree->debt};
    const uint32_t notes[3] = {tree->roots, tree->exceptional, tree->side};

    ESPL_CHECK(tree->live <= tree->used && tree->used <= tree->capacity);
    espl__state_piece(visitor, "base, capacity, used slots and nodes of a tree", ESPL__STATE_PAIRS,
                      range, 4);
    espl__state_piece(visitor, "flags and layout debt of a tree", ESPL__STATE_WORDS, words, 2);
    if ((tree->flags & ESPL__TREE_UNSETTLED) == 0) {
        espl__state_piece(visitor, "links of a header", ESPL__STATE_PAIRS, links, 2);
    }
    espl__state_piece(visitor, "roots, exceptional nodes and side arrays of a tree",
                      ESPL__STATE_NOTE, notes, 3);
}

// Visit a tree, the order of its holes and its nodes, which are the other used slots.
static void visit_tree(const espl__forest *forest, const espl__state_visitor *visitor,
                       const espl__tree *tree)
{
    visit_header(visitor, tree);
    for (uint32_t hole = tree->hole; hole != ESPL__NO_SLOT; hole = forest->links[hole].next) {
        espl__state_piece(visitor, "hole of a tree", ESPL__STATE_WORDS, &hole, 1);
    }
    for (uint32_t slot = tree->base; slot < tree->base + tree->used; ++slot) {
        if (forest->links[slot].entity != ESPL__NO_ENTITY) {
            visit_node(forest, visitor, slot);
        }
    }
}

// Call a function for each free range, by size class, in the order of the lists: what is created next
// depends on it. @return their number.
static uint32_t visit_free_ranges(const espl__forest *forest, const espl__state_visitor *visitor)
{
    uint32_t count = 0;

    for (uint32_t class = 0; class < ESPL__SIZE_CLASSES; ++class) {
        for (uint32_t base = forest->free_heads[class]; base != ESPL__NO_SLOT;
             base = forest->links[base].next) {
            const uint32_t range[2] = {base, forest->links[base].first_child};

            count += 1;
            if (visitor != NULL) {
                espl__state_piece(visitor, "base and slots of a free range", ESPL__STATE_PAIRS,
                                  range, 2);
            }
        }
    }
    return count;
}

// Visit what motion keeps of the whole: how many earlier ticks, and whether one is under way. The shown worlds
// are drawn, and have no part in equality.
static void visit_motion(const espl__forest *forest, const espl__state_visitor *visitor)
{
    const uint32_t kept = espl__tracks_past_count(&forest->tracks);
    const uint32_t is_ticking = forest->tracks.is_ticking ? 1 : 0;

    espl__state_piece(visitor, "earlier ticks that motion keeps", ESPL__STATE_WORDS, &kept, 1);
    if (kept != 0) {
        espl__state_piece(visitor, "whether a tick is under way", ESPL__STATE_WORDS, &is_ticking,
                          1);
    }
}

void espl__forest_visit(const espl__forest *forest, const espl__state_visitor *visitor)
{
    const uint32_t free_ranges = visit_free_ranges(forest, NULL);
    const uint32_t ends[2] = {forest->end, forest->tree_end};

    espl__state_piece(visitor, "free ranges", ESPL__STATE_NOTE, &free_ranges, 1);
    espl__state_piece(visitor, "slots and headers", ESPL__STATE_PAIRS, ends, 2);
    espl__state_piece(visitor, "free header", ESPL__STATE_WORDS, &forest->free_tree, 1);
    visit_motion(forest, visitor);
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        visit_tree(forest, visitor, &forest->trees[tree]);
    }
    (void)visit_free_ranges(forest, visitor);
}
