// SPDX-License-Identifier: MIT
// One world of the tape: its entities, the values drawn for it, and the parts that are hashed.
#ifndef ESPALIER_TESTS_GOLDEN_TAPE_H
#define ESPALIER_TESTS_GOLDEN_TAPE_H

#include "tests/golden/golden.h"

enum { TAPE_ENTITY_LIMIT = 8192, TAPE_INDEX_LIMIT = 1 << 16 };

typedef enum tape_shape {
    TAPE_CHAIN,
    TAPE_STAR,
    TAPE_FAN,    // three children each
    TAPE_FOREST, // small trees
    TAPE_WOOD,   // many larger ones, enough to fill a pool and to have it packed
    TAPE_SOLOS,
    TAPE_SHAPE_COUNT
} tape_shape;

typedef enum tape_style {
    TAPE_BARE,      // without stretch, context and inherit flags
    TAPE_STRETCHED, // without inherit flags
    TAPE_FLAGGED,   // with inherit flags, and a few zeros, denormals, huge and bad numbers
    TAPE_WILD,      // with many
    TAPE_STYLE_COUNT
} tape_style;

typedef struct tape {
    tape_shape shape;
    tape_style style;
    golden_dice dice;
    espl_world *world;
    espl_command_buffer *commands;
    espl_entity entities[TAPE_ENTITY_LIMIT]; // [count], the living
    uint32_t count;
    uint32_t known[TAPE_INDEX_LIMIT]; // of each index, the generation that was listed last
    uint32_t
        names[TAPE_INDEX_LIMIT]; // of each index, the number of that one in the order of listing
    uint32_t named;
    espl_entity dead; // or null
    uint32_t writes, steps;
    uint64_t hash; // of what can be read, by names: handles are not in it
    uint64_t rows; // of handles, in the order of rows: it may change with the inside of the library
} tape;

_Noreturn void tape_fail(const tape *t, const char *what);

// --- Who is there ---

/// List an entity and all below it that is new.
void tape_list(tape *t, espl_entity entity);
void tape_drop_dead(tape *t);
/// At times somebody dead, or nobody.
espl_entity tape_pick(tape *t);
/// The same; in a world of solos nobody gets children.
espl_entity tape_pick_parent(tape *t);

// --- What is drawn ---

uint32_t tape_draw_flags(tape *t);
espl_attach_options tape_draw_options(tape *t);
/// Any kind on anybody.
espl_write tape_draw_write(tape *t);

// --- What goes into the hash ---

void tape_note_status(tape *t, espl_status status);
void tape_note_size(tape *t, size_t size);
/// Both placements of one entity.
void tape_note_placement(tape *t, espl_entity entity);
/// Placements and links of all.
void tape_note_all(tape *t);
/// What a query shows: handles row by row, and the column of world placements.
void tape_note_query(tape *t);

// --- Steps ---

void tape_write(tape *t);
void tape_write_batch(tape *t);
/// A batch of one kind, from two arrays.
void tape_write_short(tape *t);
void tape_look_at(tape *t);
void tape_rotate_about(tape *t);
void tape_set_inherit(tape *t);
/// Put everybody where plain numbers say, so that no world stays collapsed.
void tape_heal(tape *t);

void tape_read(tape *t);

/// Give birth to one that has its place in the shape.
void tape_plant(tape *t);
void tape_attach(tape *t);
void tape_detach(tape *t);
void tape_set_sibling(tape *t);
/// Give a placement, or take it away.
void tape_change_placement(tape *t);
void tape_destroy(tape *t);
/// Destroy the first half of the list.
void tape_cull(tape *t);
void tape_instantiate(tape *t);
/// Record commands of every kind and play them.
void tape_play(tape *t);

#endif
