// SPDX-License-Identifier: MIT
// Random edits of the forest of fixture.h, the nursery that they make nodes in, and snapshots that
// name the first difference.
#ifndef ESPALIER_TESTS_TREE_EDITS_H
#define ESPALIER_TESTS_TREE_EDITS_H

#include "lib/tree/edit_links.h"
#include "lib/tree/edit_nodes.h"
#include "lib/tree/relocation.h"
#include "lib/tree/relocation_survey.h"
#include "tests/tree/fixture.h"

// --- Snapshots ---

typedef struct fixture_word {
    const char *name;
    uint32_t index, value;
} fixture_word;

/// All that a forest says of its nodes, holes, trees and free ranges. Room for inherit flags in side arrays
/// is memory and no part of it.
typedef struct fixture_snapshot {
    fixture_word *words;
    size_t count, capacity;
} fixture_snapshot;

static inline void fixture_note(fixture_snapshot *s, const char *name, uint32_t index,
                                uint32_t value)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity == 0 ? 1024 : 2 * s->capacity;
        s->words = realloc(s->words, s->capacity * sizeof *s->words);
        ck_assert_ptr_nonnull(s->words);
    }
    s->words[s->count++] = (fixture_word){name, index, value};
}

static inline void fixture_note_bytes(fixture_snapshot *s, const char *name, uint32_t index,
                                      const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint32_t)) {
        uint32_t value = 0;

        memcpy(&value, (const unsigned char *)bytes + i, sizeof value);
        fixture_note(s, name, index, value);
    }
}

#define FIXTURE_NOTE_STRUCTURE(name)
#define FIXTURE_NOTE_POSE(name) \
    fixture_note_bytes(s, #name " of slot", slot, &forest->name[slot], sizeof *forest->name);
#define FIXTURE_NOTE_COPIED(name) FIXTURE_NOTE_POSE(name)
#define FIXTURE_NOTE_FRESH(name) FIXTURE_NOTE_POSE(name)
#define FIXTURE_NOTE_COLUMN(access, type, name, role, initial) FIXTURE_NOTE_##role(name)

static inline void fixture_note_node(fixture_snapshot *s, uint32_t slot)
{
    const espl__extra extra = espl__slot_extra(forest, slot);
    const espl__kept kept = espl__slot_kept(forest, slot);

    fixture_note(s, "parent of slot", slot, forest->parent[slot]);
    fixture_note(s, "entity of slot", slot, forest->links[slot].entity);
    if (!fixture_is_node(forest, slot)) {
        return;
    }
    fixture_note(s, "flags of slot", slot, forest->flags[slot]);
    fixture_note(s, "first child of slot", slot, forest->links[slot].first_child);
    fixture_note(s, "next of slot", slot, forest->links[slot].next);
    fixture_note(s, "previous of slot", slot, forest->links[slot].previous);
    ESPL__COLUMNS(FIXTURE_NOTE_COLUMN)
    fixture_note_bytes(s, "extra of slot", slot, &extra, sizeof extra);
    fixture_note_bytes(s, "kept parts of slot", slot, &kept, sizeof kept);
}

static inline void fixture_note_tree(fixture_snapshot *s, uint32_t tree)
{
    const espl__tree *const t = &forest->trees[tree];

    fixture_note(s, "capacity of tree", tree, t->capacity);
    if (t->capacity == 0) {
        return;
    }
    fixture_note(s, "base of tree", tree, t->base);
    fixture_note(s, "used slots of tree", tree, t->used);
    fixture_note(s, "live nodes of tree", tree, t->live);
    fixture_note(s, "roots of tree", tree, t->roots);
    fixture_note(s, "exceptional nodes of tree", tree, t->exceptional);
    fixture_note(s, "debt of tree", tree, t->debt);
    fixture_note(s, "moved nodes of tree", tree, t->moved);
    fixture_note(s, "incoming nodes of tree", tree, t->incoming);
    fixture_note(s, "flags of tree", tree, t->flags);
    fixture_note(s, "next of tree", tree, t->next);
    fixture_note(s, "previous of tree", tree, t->previous);
    for (uint32_t hole = t->hole; hole != ESPL__NO_SLOT; hole = forest->links[hole].next) {
        fixture_note(s, "hole of tree", tree, hole);
    }
    const espl__side *const side = espl__side_of(forest, t);

    fixture_note(s, "side arrays of tree", tree, side != NULL);
    if (side != NULL) {
        fixture_note(s, "extras of tree", tree, side->extra_count);
        fixture_note(s, "inherit flags of tree", tree, side->kept_count);
        fixture_note(s, "prepaid side arrays of tree", tree, side->is_prepaid);
    }
    for (uint32_t slot = t->base; slot < t->base + t->capacity; ++slot) {
        fixture_note(s, "tree of slot", slot, forest->tree[slot]);
    }
    // Not all slots of a nursery are filled.
    for (uint32_t slot = t->base; slot < t->base + t->used && tree != forest->nursery; ++slot) {
        fixture_note_node(s, slot);
    }
}

static inline fixture_snapshot fixture_take_snapshot(void)
{
    fixture_snapshot s = {0};

    fixture_note(&s, "end of the pool", 0, forest->end);
    fixture_note(&s, "end of the headers", 0, forest->tree_end);
    fixture_note(&s, "free slots", 0, forest->free_slots);
    fixture_note(&s, "first unsettled tree", 0, forest->unsettled);
    fixture_note(&s, "nursery", 0, forest->nursery);
    for (uint32_t tree = forest->free_tree; tree != ESPL__NO_TREE;
         tree = forest->trees[tree].next) {
        fixture_note(&s, "free header", 0, tree);
    }
    for (uint32_t class = 0; class < ESPL__SIZE_CLASSES; ++class) {
        for (uint32_t base = forest->free_heads[class]; base != ESPL__NO_SLOT;
             base = forest->links[base].next) {
            fixture_note(&s, "free range of class", class, base);
            fixture_note(&s, "slots of free range", base, forest->links[base].first_child);
        }
    }
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        fixture_note_tree(&s, tree);
    }
    return s;
}

/// Fail the test with the first difference, and free both.
static inline void fixture_compare(fixture_snapshot *before, fixture_snapshot *after,
                                   const char *when)
{
    const size_t count = before->count < after->count ? before->count : after->count;

    for (size_t i = 0; i < count; ++i) {
        const fixture_word *const a = &before->words[i], *const b = &after->words[i];

        ck_assert_msg(strcmp(a->name, b->name) == 0 && a->index == b->index && a->value == b->value,
                      "%s: %s %u was %u (0x%x), now %s %u is %u (0x%x)", when, a->name, a->index,
                      a->value, a->value, b->name, b->index, b->value, b->value);
    }
    ck_assert_uint_eq(before->count, after->count);
    free(before->words);
    free(after->words);
    *before = *after = (fixture_snapshot){0};
}

// --- The nursery of an edit ---

/// Open a nursery as a playback does. @param has_side  it has side arrays with room for inherit flags.
static inline void fixture_open_nursery(uint32_t slots, bool has_side)
{
    ck_ok(espl__forest_reserve(forest, slots, 1));
    fix.nursery_is_new = forest->free_tree == ESPL__NO_TREE;
    forest->modes |= ESPL__MODE_EDITED;
    forest->nursery = espl__tree_take(forest);
    fix.nursery_begin = forest->end;
    fix.nursery_end = forest->end + slots;
    forest->end = fix.nursery_end;
    ck_assert(!has_side || espl__sides_reserve(forest, 1));
    espl__side *const side = has_side ? espl__side_make(forest, slots, true) : NULL;

    forest->trees[forest->nursery] = (espl__tree){.base = fix.nursery_begin,
                                                  .capacity = slots,
                                                  .used = slots,
                                                  .hole = ESPL__NO_SLOT,
                                                  .next = ESPL__NO_TREE,
                                                  .previous = ESPL__NO_TREE};
    espl__tree_put_side(forest, forest->nursery, side);
    for (uint32_t slot = fix.nursery_begin; slot < fix.nursery_end; ++slot) {
        forest->tree[slot] = forest->nursery;
    }
}

/// Close it as a playback does.
static inline void fixture_close_nursery(bool is_undone)
{
    const uint32_t nursery = forest->nursery;

    espl__tree_free_side(forest, nursery);
    forest->trees[nursery].capacity = 0;
    if (is_undone) {
        forest->end = fix.nursery_begin;
    }
    if (fix.nursery_is_new && nursery + 1 == forest->tree_end) {
        forest->tree_end -= 1;
    } else {
        espl__tree_give(forest, nursery);
    }
    forest->nursery = ESPL__NO_TREE;
    forest->modes &= (uint8_t)~ESPL__MODE_EDITED;
}

// --- Random edits ---

/// Make a few random trees, with holes and free ranges between them.
/// @param is_plain  nothing in them is exceptional, and random edits keep it so.
static inline void fixture_random_forest(bool is_plain, uint64_t *random)
{
    const uint32_t trees = 3 + test_below(random, 4);
    const uint32_t spared = test_below(random, trees);

    for (uint32_t i = 0; i < trees; ++i) {
        const uint32_t size = 1 + test_below(random, test_one_in(random, 3) ? 3 : 24);
        const uint32_t tree = fixture_random_tree(&fix, size, size + test_below(random, 8), random);

        if (test_one_in(random, 2)) {
            fixture_thin_out(&fix, tree, 2, random);
        }
        fixture_pose_all(&fix, tree, is_plain ? 0 : 1 + test_below(random, 8), random);
        espl__tree_drop_side(forest, tree);
    }
    // A free range and a free header between the others.
    if (trees > 3) {
        for (uint32_t entity = 0; entity < fix.entities; ++entity) {
            if (fix.slots[entity] != ESPL__NO_SLOT && forest->tree[fix.slots[entity]] == spared) {
                fix.slots[entity] = ESPL__NO_SLOT;
            }
        }
        espl__tree_release(forest, spared);
    }
    fix.is_plain = is_plain;
}

/// Begin an edit with a nursery. Random edits choose among the nodes there are now and what they make.
static inline void fixture_begin_edit(espl__edit *edit, uint32_t nursery)
{
    fix.chosen_count = 0;
    for (uint32_t entity = 0; entity < fix.entities; ++entity) {
        if (fix.slots[entity] != ESPL__NO_SLOT) {
            fix.chosen[fix.chosen_count++] = fix.slots[entity];
        }
    }
    fixture_open_nursery(nursery, !fix.is_plain);
    espl__edit_begin(edit);
    espl__edit_begin_group(edit, fix.nursery_begin, fix.nursery_end, 0);
    fix.made_count = 0;
    ck_assert_uint_eq(forest->trees[forest->nursery].base, fix.nursery_begin);
}

/// A living node, made ones included; ESPL__NO_SLOT where luck finds none.
static inline uint32_t fixture_choose(uint64_t *random)
{
    uint32_t slot = ESPL__NO_SLOT;

    for (int i = 0; i < 8 && slot == ESPL__NO_SLOT && fix.chosen_count != 0; ++i) {
        // What was made last is chosen more often.
        const uint32_t count = (uint32_t)fix.chosen_count;
        const uint32_t at = test_one_in(random, 3) && count > 4 ? count - 1 - test_below(random, 4)
                                                                : test_below(random, count);

        slot = fix.chosen[at];
        slot = fixture_is_node(forest, slot) ? slot : ESPL__NO_SLOT;
    }
    return slot;
}

static inline espl__keep_rules fixture_stay(uint64_t *random)
{
    espl__keep_rules rules = {ESPL_KEEP_WORLD, ESPL_KEEP_WORLD, ESPL_KEEP_WORLD};

    if (test_one_in(random, 2)) {
        rules.position = (uint8_t)test_below(random, 3);
        rules.rotation = (uint8_t)test_below(random, 3);
        rules.scale = (uint8_t)test_below(random, 3);
    }
    return rules;
}

static inline espl_status fixture_edit_attach(espl__edit *edit, uint32_t child, uint64_t *random)
{
    const uint32_t parent = fixture_choose(random);
    const bool inherits = fix.is_plain || !test_one_in(random, 6);
    const espl__attach_rules rules = {fixture_stay(random), (uint8_t)test_below(random, 2),
                                      inherits ? 0 : (uint8_t)fixture_inherit(random)};

    if (parent == ESPL__NO_SLOT) {
        return ESPL_OK;
    }
    const bool closes = fixture_is_at_or_below(forest, parent, child);

    ck_assert(espl__edit_is_at_or_below(edit, parent, child) == closes);
    if (closes) {
        return ESPL_ERR_CYCLE;
    }
    return espl__edit_attach(edit, child, parent, fixture_child_of(&fix, parent, random), &rules);
}

static inline espl_write_value fixture_value(espl_write_kind kind, uint64_t *random)
{
    const espl_pose pose = fixture_pose(random);
    espl__extra extra = espl__extra_default();
    espl_write_value value = {.user_data = 0};

    if (!fix.is_plain && test_one_in(random, 2)) {
        extra.stretch[test_below(random, 3)] = test_between(random, 0.5f, 2);
        extra.user_data = test_below(random, 4);
    }
    const espl_transform transform = espl__transform_of(&pose, &extra);

    switch (espl__write_value_type(kind)) {
    case ESPL__VALUE_VECTOR:
        memcpy(value.position,
               kind == ESPL_WRITE_STRETCH || kind == ESPL_WRITE_MULTIPLY_STRETCH ? extra.stretch
                                                                                 : pose.position,
               sizeof value.position);
        break;
    case ESPL__VALUE_ROTATION:
        memcpy(value.rotation, pose.rotation, sizeof value.rotation);
        break;
    case ESPL__VALUE_SCALAR:
        value.scale = test_one_in(random, 16) ? 0x1p100f : test_one_in(random, 16) ? 0 : pose.scale;
        break;
    case ESPL__VALUE_POSE:
    case ESPL__VALUE_TRANSFORM:
        value.transform = transform;
        break;
    case ESPL__VALUE_WORD:
        value.user_data = extra.user_data;
        break;
    case ESPL__VALUE_CELL:
    case ESPL__VALUE_DOUBLES:
    case ESPL__VALUE_NONE:
        break;
    }
    return value;
}

static inline espl_status fixture_edit_write(espl__edit *edit, uint32_t slot, uint64_t *random)
{
    const espl_write_kind kind = (espl_write_kind)test_below(random, TEST_KINDS);
    const espl_write_value value = fixture_value(kind, random);

    return espl__slot_is(forest, slot, ESPL__SLOT_BARE)
               ? ESPL_ERR_NO_TRANSFORM
               : espl__edit_write(edit, slot, kind, &value);
}

static inline espl_status fixture_edit_transform(espl__edit *edit, uint32_t slot, uint64_t *random)
{
    const espl_pose pose = fixture_pose(random);
    const espl__extra none = espl__extra_default();
    const espl_transform value = espl__transform_of(&pose, &none);

    return espl__slot_is(forest, slot, ESPL__SLOT_BARE)
               ? espl__edit_add_transform(edit, slot, &value)
               : espl__edit_remove_transform(edit, slot);
}

static inline espl_status fixture_edit_inherit(espl__edit *edit, uint32_t slot, uint64_t *random)
{
    const uint32_t flags = fix.is_plain || test_one_in(random, 3) ? 0 : fixture_inherit(random);

    return espl__slot_is(forest, slot, ESPL__SLOT_BARE) ? ESPL_ERR_NO_TRANSFORM
                                                        : espl__edit_set_inherit(edit, slot, flags);
}

// Clone a node, or make one from nothing, below another one or as a root.
static inline espl_status fixture_edit_make(espl__edit *edit, uint32_t source, bool clones,
                                            uint64_t *random)
{
    espl__new_node place = {
        .parent = test_one_in(random, 3) ? ESPL__NO_SLOT : fixture_choose(random),
        .before = ESPL__NO_SLOT,
        .link = (uint8_t)test_below(random, 2),
        .placement = {fixture_pose(random), espl__kept_none(), espl__extra_default()}};
    espl__template from = espl__template_of_none;
    uint32_t made = 0;

    place.world = place.placement.local;
    place.is_bare = clones ? espl__slot_is(forest, source, ESPL__SLOT_BARE)
                           : !fix.is_plain && test_one_in(random, 6);
    if (place.parent != ESPL__NO_SLOT) {
        place.before = fixture_child_of(&fix, place.parent, random);
        place.inherit = fix.is_plain || place.is_bare || !test_one_in(random, 6)
                            ? 0
                            : (uint8_t)fixture_inherit(random);
    }
    if (clones && !place.is_bare && test_one_in(random, 2)) {
        place.placement = espl__edit_source_placement(edit, source, &place.world);
        place.keeps_world = place.parent == ESPL__NO_SLOT;
    }
    espl_status status = espl__edit_prepare_new(edit, &place);

    if (status < 0) {
        return status;
    }
    status = clones ? espl__edit_find_template(edit, source, &from) : ESPL_OK;
    if (status != ESPL_OK || from.count > edit->nursery_end - edit->nursery) {
        return status;
    }
    return espl__edit_clone(edit, &from, &place, &made);
}

/// One random edit. What it makes may be chosen by the next. @return its status.
static inline espl_status fixture_edit_at_random(espl__edit *edit, uint64_t *random)
{
    const uint32_t slot = fixture_choose(random);
    espl_status status = ESPL_OK;

    if (slot == ESPL__NO_SLOT) {
        return ESPL_OK;
    }
    const uint32_t kind = test_below(random, 16);

    if (kind < 5) {
        status = fixture_edit_attach(edit, slot, random);
    } else if (kind < 6) {
        status = espl__edit_detach(edit, slot, fixture_stay(random));
    } else if (kind < 8) {
        status = espl__edit_destroy(edit, slot, (espl_extent)test_below(random, 3));
    } else if (kind < 9 && !espl__is_root(forest, slot)) {
        status = espl__edit_set_sibling(edit, slot,
                                        fixture_child_of(&fix, forest->parent[slot], random));
    } else if (kind < 11) {
        status = fixture_edit_write(edit, slot, random);
    } else if (kind < 12) {
        status = fixture_edit_inherit(edit, slot, random);
    } else if (kind < 13 && !fix.is_plain) {
        status = fixture_edit_transform(edit, slot, random);
    } else {
        status = fixture_edit_make(edit, slot, kind < 15, random);
    }
    for (; fix.made_count < espl__array_length(edit->made); ++fix.made_count) {
        fix.chosen[fix.chosen_count++] = edit->made[fix.made_count].slot;
    }
    return status;
}

/// Random edits choose among the nodes of two trees in three from now on, or of the others.
static inline void fixture_choose_third(bool is_third)
{
    fix.chosen_count = 0;
    for (uint32_t entity = 0; entity < fix.entities; ++entity) {
        const uint32_t slot = fix.slots[entity];

        if (slot != ESPL__NO_SLOT && (fix.forest.tree[slot] % 3 == 2) == is_third) {
            fix.chosen[fix.chosen_count++] = slot;
        }
    }
}

/// Name the made nodes that live, and forget the dead, as the change stage of a playback does.
static inline void fixture_name_made(const espl__edit *edit)
{
    for (size_t i = 0; i < espl__array_length(edit->removed); ++i) {
        if (edit->removed[i].entity < fix.entities) {
            fix.slots[edit->removed[i].entity] = ESPL__NO_SLOT;
        }
    }
    for (size_t i = 0; i < espl__array_length(edit->made); ++i) {
        const uint32_t slot = edit->made[i].slot;

        if (fixture_is_node(forest, slot)) {
            ck_assert_uint_lt(fix.entities, FIXTURE_NODES);
            forest->links[slot].entity = fix.entities;
            espl__probe_node(&forest->columns, slot, fix.entities);
            fix.slots[fix.entities] = slot;
            fix.moves[fix.entities] = 0;
            fix.entities += 1;
        }
    }
}

#endif
