// SPDX-License-Identifier: MIT
// Each sentence of the specification's invariants is broken on purpose in a world that has
// something of everything, seen named by espl_validate(), and mended. Then every bit that links
// things up is turned, one by one: none goes unnoticed, and none leads the proof astray.
#include "lib/world/inside.h"
#include "tests/planting.h"
#include "tests/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static test_world test;
static espl_world *world;
static espl__forest *forest;
static espl__store *store;

// R{A{C,D},B{E}} plain; the same with stretches, kept parts, a copy and a pass-through; the same
// with a dead A; a chain of three whose top is dead and cannot be purged for want of memory.
static espl_entity plain[6], fancy[6], haunted[6], rootless[3];
static espl_entity solo, bare, loaded[5], spare_index, retired;
static espl_component weight;

// --- The world ---

static void plant_six(espl_entity *out)
{
    static const uint32_t parent[] = {PLANT_ROOT, 0, 0, 1, 1, 2};
    espl_entity *const made = plant_forest(world, parent, 6);

    memcpy(out, made, 6 * sizeof *made);
    free(made);
}

static void make_fancy(void)
{
    const float stretch[3] = {1, 2, 3};
    const espl_transform away = test_at(3, 4, 5);

    plant_six(fancy);
    ck_assert_int_eq(espl_set_stretch(world, fancy[0], stretch), ESPL_OK);
    ck_assert_int_eq(espl_set_stretch(world, fancy[5], stretch), ESPL_OK);
    ck_assert_int_eq(espl_set_inherit(world, fancy[2], ESPL_KEEP_Y | ESPL_KEEP_ROTATION), ESPL_OK);
    ck_assert_int_eq(espl_set_inherit(world, fancy[3], ESPL_COPY_PARENT), ESPL_OK);
    ck_assert_int_eq(espl_set_local(world, fancy[0], &away), ESPL_OK);
    ck_assert_int_eq(espl_create(world, NULL, 0, 1, &bare), ESPL_OK);
    ck_assert_int_eq(espl_attach(world, bare, fancy[4], NULL), ESPL_OK);
}

// An entity that dies in the last life of its index.
static espl_entity retire(void)
{
    const uint32_t last =
        (store->tag << ESPL__TAG_SHIFT) | (((uint32_t)1 << ESPL__GENERATION_BITS) - 1);
    const espl_entity entity = test_solo(world);
    espl__record *const record = &store->records[entity.index];
    const espl_entity old = {entity.index, last};

    record->generation = last;
    espl__chunk_entities(&store->chunks[record->chunk])[record->row] = old;
    ck_assert_int_eq(espl_destroy(world, old), ESPL_OK);
    return old;
}

// More chunks than one, full and partly filled, of an archetype with a column of its own.
static void make_loaded(void)
{
    const espl_component_def def = {.name = "weight", .size = 4096, .alignment = 8};

    ck_assert_int_eq(espl_component_register(world, &def, &weight), ESPL_OK);
    const espl_component set[] = {weight, ESPL_PLACEMENT};
    ck_assert_int_eq(espl_create(world, set, 2, 5, loaded), ESPL_OK);
}

static void plant_rootless(void)
{
    espl_entity *const chain = plant_chain(world, 3);

    memcpy(rootless, chain, sizeof rootless);
    free(chain);
}

// Without scratch to purge with, the dead root stays.
static void behead_rootless(void)
{
    test_heap_arm(&test.heap, 1, true);
    ck_assert_int_eq(espl_compact(world), ESPL_ERR_NO_MEMORY);
    ck_assert_int_eq(espl_destroy_only(world, rootless[0]), ESPL_OK);
    test_heap_arm(&test.heap, 0, false);
}

static void set_up(void)
{
    test_world_begin(&test, 9, NULL);
    world = test.world;
    forest = &world->forest;
    store = &world->store;
    plant_six(plain);
    make_fancy();
    plant_six(haunted);
    plant_rootless();
    solo = test_solo(world);
    make_loaded();
    retired = retire();
    spare_index = test_solo(world);
    const espl_entity other = test_solo(world);
    ck_assert_int_eq(espl_destroy(world, spare_index), ESPL_OK);
    ck_assert_int_eq(espl_destroy(world, other), ESPL_OK);
    ck_assert_int_eq(espl_destroy_only(world, haunted[1]), ESPL_OK);
    behead_rootless();
    const espl_world_stats stats = test_stats(world);
    ck_assert_uint_eq(stats.ghosts, 2);
    ck_assert_uint_eq(stats.retired, 1);
    ck_assert_uint_gt(store->free_count, 1);
    ck_assert_uint_ne(forest->unsettled, ESPL__NO_RUN);
    test_world_is_valid(world);
}

static void tear_down(void)
{
    test_world_end(&test);
}

// --- Places ---

static espl__record *record_of(espl_entity entity)
{
    return &store->records[entity.index];
}

static uint32_t slot_of(espl_entity entity)
{
    return record_of(entity)->slot;
}

static espl__run *run_of(espl_entity entity)
{
    return espl__run_of(forest, slot_of(entity));
}

static espl__chunk *chunk_of(espl_entity entity)
{
    return &store->chunks[record_of(entity)->chunk];
}

static espl__archetype *archetype_of(espl_entity entity)
{
    return &store->archetypes[chunk_of(entity)->archetype];
}

static espl_entity *row_of(espl_entity entity)
{
    return &espl__chunk_entities(chunk_of(entity))[record_of(entity)->row];
}

// --- Breaking and mending ---

enum { POKES = 32, POKE_SIZE = 64 };

static struct {
    void *at;
    size_t size;
    unsigned char before[POKE_SIZE];
} pokes[POKES];
static size_t poke_count;

static void poke_bytes(void *at, const void *value, size_t size)
{
    ck_assert(poke_count < POKES && size <= POKE_SIZE);
    pokes[poke_count].at = at;
    pokes[poke_count].size = size;
    memcpy(pokes[poke_count++].before, at, size);
    memcpy(at, value, size);
}

static void mend(void)
{
    while (poke_count > 0) {
        poke_count -= 1;
        memcpy(pokes[poke_count].at, pokes[poke_count].before, pokes[poke_count].size);
    }
}

#define POKE(field, wrong)                          \
    do {                                            \
        const __typeof__(field) value = (wrong);    \
        poke_bytes(&(field), &value, sizeof value); \
    } while (0)

// --- Hierarchies ---

static uint32_t *parents(espl_entity entity)
{
    return forest->parent + run_of(entity)->base;
}

static uint32_t *firsts(espl_entity entity)
{
    return forest->first + run_of(entity)->base;
}

static void root_has_a_parent(void)
{
    POKE(parents(plain[0])[0], 0);
}

static void parent_is_the_node_itself(void)
{
    POKE(parents(plain[0])[1], 1);
}

static void parent_stands_behind(void)
{
    POKE(parents(plain[0])[1], 5);
}

static void parents_fall(void)
{
    POKE(firsts(plain[0])[3], 5);
    POKE(firsts(plain[0])[4], 5);
    POKE(firsts(plain[0])[5], 5);
    POKE(parents(plain[0])[5], 0);
}

static void a_child_goes_to_the_next_list(void)
{
    POKE(parents(plain[0])[4], 2);
}

static void a_leafs_list_begins_elsewhere(void)
{
    POKE(firsts(plain[0])[4], 5);
}

static void the_first_list_begins_at_2(void)
{
    POKE(firsts(plain[0])[0], 2);
}

static void the_last_list_ends_behind_the_end(void)
{
    POKE(firsts(plain[0])[5], 7);
}

static void a_rank_is_anothers(void)
{
    POKE(forest->rank[slot_of(plain[3])], 4);
}

static void a_slot_is_of_another_run(void)
{
    POKE(forest->run[slot_of(fancy[3])], forest->run[slot_of(plain[0])]);
}

static void one_slot_stands_twice(void)
{
    POKE(forest->order[run_of(plain[0])->base + 3], slot_of(plain[4]));
}

static void two_slots_change_names(void)
{
    POKE(forest->entity[slot_of(plain[3])], plain[4].index);
    POKE(forest->entity[slot_of(plain[4])], plain[3].index);
}

static void a_record_names_another_slot(void)
{
    POKE(record_of(bare)->slot, slot_of(solo));
}

static void a_record_names_no_slot(void)
{
    POKE(record_of(bare)->slot, forest->end);
}

// A slot whose run nobody asks for: that of no node.
static uint32_t find_spare_slot(void)
{
    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        const uint32_t run = forest->run[slot];

        forest->run[slot] = forest->run_end;
        const bool is_spare = espl_validate(world, NULL);

        forest->run[slot] = run;
        if (is_spare) {
            return slot;
        }
    }
    ck_abort_msg("no slot is spare");
    return forest->end;
}

static void a_record_names_a_slot_of_no_run(void)
{
    const uint32_t spare = find_spare_slot();

    POKE(forest->run[spare], forest->run_end);
    POKE(record_of(bare)->slot, spare);
}

static void the_slot_column_lags(void)
{
    uint32_t *const slots = (uint32_t *)espl__row_value(store, solo.index, ESPL_PLACEMENT);

    POKE(*slots, *slots + 1);
}

// A slot that holds a ghost, made to look as one of a living pass-through.
static void revive(espl_entity below, espl_entity name)
{
    const uint32_t ghost = espl__parent_slot(forest, slot_of(below));

    ck_assert(espl__slot_is(forest, ghost, ESPL__SLOT_GHOST));
    POKE(forest->flags[ghost], (uint8_t)(forest->flags[ghost] & ~ESPL__SLOT_GHOST));
    POKE(forest->entity[ghost], name.index);
    POKE(run_of(below)->ghosts, run_of(below)->ghosts - 1);
    POKE(forest->ghosts, forest->ghosts - 1);
}

static void a_member_is_dead(void)
{
    revive(haunted[3], spare_index);
}

static void a_member_is_there_twice(void)
{
    revive(haunted[3], bare);
}

static void a_member_was_never_issued(void)
{
    revive(haunted[3], (espl_entity){UINT32_MAX / 2, 1});
}

static void a_member_is_of_another_world(void)
{
    const uint32_t foreign = record_of(solo)->generation ^ ((uint32_t)1 << ESPL__TAG_SHIFT);

    POKE(row_of(solo)->generation, foreign);
    POKE(record_of(solo)->generation, foreign);
}

// Put two entities into each other's rows, as they stand.
static void swap_rows(espl_entity a, espl_entity b)
{
    const espl__record first = *record_of(a), second = *record_of(b);
    const uint32_t a_chunk = first.chunk, b_chunk = second.chunk;
    espl_entity *const a_row = row_of(a), *const b_row = row_of(b);
    uint32_t *const a_slot = (uint32_t *)espl__row_value(store, a.index, ESPL_PLACEMENT);
    uint32_t *const b_slot = (uint32_t *)espl__row_value(store, b.index, ESPL_PLACEMENT);

    POKE(*a_row, b);
    POKE(*b_row, a);
    POKE(record_of(a)->chunk, b_chunk);
    POKE(record_of(b)->chunk, a_chunk);
    POKE(record_of(a)->row, second.row);
    POKE(record_of(b)->row, first.row);
    if (a_slot != NULL) {
        POKE(*a_slot, second.slot);
    }
    if (b_slot != NULL) {
        POKE(*b_slot, first.slot);
    }
}

static void a_hierarchy_has_one_node(void)
{
    swap_rows(solo, plain[0]); // what is a root by its components has nobody below it
}

static void a_hierarchy_has_one_living_node(void)
{
    // B of the rootless chain too, with the mark gone that wants the purge.
    const uint32_t run = forest->run[slot_of(rootless[1])];

    POKE(forest->runs[run].flags, forest->runs[run].flags & ~(unsigned)ESPL__RUN_UNSETTLED);
    POKE(forest->unsettled, ESPL__NO_RUN);
}

static void a_world_is_off_by_a_bit(void)
{
    float *const x = &forest->world[slot_of(plain[5])].position[0];

    POKE(*x, nextafterf(*x, 100));
}

static void a_world_of_a_dead_one_is_off(void)
{
    const uint32_t ghost = espl__parent_slot(forest, slot_of(haunted[3]));

    POKE(forest->world[ghost].scale, 2);
}

static void a_local_is_off(void)
{
    POKE(forest->local[slot_of(plain[0])].position[1], 1);
}

static void a_kept_part_is_off(void)
{
    espl__side *const side = run_of(fancy[2])->side;

    POKE(side->kept[slot_of(fancy[2]) - run_of(fancy[2])->base].pose.position[1], 77);
}

static espl__extra *extra_of(espl_entity entity)
{
    return &run_of(entity)->side->extra[slot_of(entity) - run_of(entity)->base];
}

static void a_stretch_is_off(void)
{
    // Its children, the first of which copies nothing.
    POKE(extra_of(fancy[2])->stretch[0], 5);
    POKE(run_of(fancy[2])->side->extra_count, run_of(fancy[2])->side->extra_count + 1);
}

static void a_local_is_no_number(void)
{
    POKE(forest->local[slot_of(plain[4])].rotation[2], NAN);
}

static void a_world_is_infinite(void)
{
    POKE(forest->world[slot_of(solo)].position[2], INFINITY);
}

static void a_stretch_is_no_number(void)
{
    POKE(extra_of(fancy[5])->stretch[1], NAN);
}

static void a_kept_part_is_no_number(void)
{
    espl__side *const side = run_of(fancy[2])->side;

    POKE(side->kept[slot_of(fancy[2]) - run_of(fancy[2])->base].pose.position[1], NAN);
}

// --- Store ---

static void a_record_points_at_another_row(void)
{
    POKE(record_of(plain[3])->row, record_of(plain[3])->row + 1);
}

static void a_record_points_at_another_chunk(void)
{
    POKE(record_of(plain[3])->chunk, record_of(bare)->chunk);
}

static void a_record_points_nowhere(void)
{
    POKE(record_of(plain[3])->row, ESPL__NONE);
}

static void a_row_holds_anothers_handle(void)
{
    POKE(*row_of(loaded[1]), loaded[0]);
}

static void a_row_holds_an_old_handle(void)
{
    POKE(row_of(loaded[1])->generation, loaded[1].generation + 1);
}

static void a_living_index_is_free(void)
{
    POKE(store->free_head, solo.index);
}

static void a_free_index_is_in_no_list(void)
{
    POKE(store->free_head, store->records[store->free_head].chunk);
}

static void the_free_list_is_a_ring(void)
{
    uint32_t last = store->free_head;

    while (store->records[last].chunk != ESPL__NONE) {
        last = store->records[last].chunk;
    }
    POKE(store->records[last].chunk, store->free_head);
}

static void a_free_index_counts_as_living(void)
{
    POKE(store->alive_count, store->alive_count + 1);
    POKE(store->free_count, store->free_count - 1);
}

static void a_retired_index_is_free(void)
{
    POKE(store->records[retired.index].row, ESPL__NONE);
}

static void a_root_is_a_member_by_its_components(void)
{
    swap_rows(plain[0], plain[1]);
}

static void a_member_is_a_solo_by_its_components(void)
{
    swap_rows(plain[5], solo);
}

// Where a purge is put off the stored roles stay those of what stands there.
static void a_survivor_is_a_root_by_its_components(void)
{
    swap_rows(plain[0], rootless[1]);
}

static void a_placed_one_has_no_placement(void)
{
    swap_rows(bare, plain[5]);
}

static void the_first_chunk_is_partly_filled(void)
{
    espl__chunk *const full = &store->chunks[archetype_of(loaded[0])->chunks[0]];

    POKE(full->count, full->count - 1);
}

static void a_chunk_is_overfull(void)
{
    POKE(chunk_of(solo)->count, chunk_of(solo)->count + 1);
}

// --- Totals ---

static void a_byte_of_the_world_is_lost(void)
{
    POKE(world->heap.bytes[ESPL__FOR_WORLD], world->heap.bytes[ESPL__FOR_WORLD] - 1);
}

static void a_byte_of_the_store_is_lost(void)
{
    POKE(world->heap.bytes[ESPL__FOR_STORE], world->heap.bytes[ESPL__FOR_STORE] + 1);
}

static void a_byte_of_the_tree_is_lost(void)
{
    POKE(world->heap.bytes[ESPL__FOR_TREE], world->heap.bytes[ESPL__FOR_TREE] - 1);
}

static void a_byte_of_playback_is_lost(void)
{
    POKE(world->heap.bytes[ESPL__FOR_COMMANDS], world->heap.bytes[ESPL__FOR_COMMANDS] + 1);
}

static void the_pools_block_has_another_size(void)
{
    POKE(forest->block_size, forest->block_size + 64);
}

static void scratch_is_forgotten(void)
{
    POKE(world->write_scratch.size, world->write_scratch.size + 64);
}

static void a_command_is_lost(void)
{
    POKE(world->playback.accepted, world->playback.accepted + 1);
}

static void a_command_is_refused_twice(void)
{
    POKE(world->playback.refused, world->playback.refused + 1);
}

static void a_command_is_applied_twice(void)
{
    POKE(world->playback.applied, world->playback.applied + 1);
}

// --- The table ---

typedef struct breach {
    const char *sentence; // of the specification
    const char *rule;     // as espl_validate() names it
    void (*commit)(void);
} breach;

#define ORDER "parents stand before children, in order"
#define LISTS "children are contiguous"
#define NAMES "an entity and its slot name each other"
#define ALIVE "living members are alive and distinct"
#define FINITE "transforms are finite"
#define WORLDS "a world follows from the locals bit for bit"
#define BACK "a row's handle is living and its record points back"
#define ROLES "role components agree with roles"
#define FILLED "only the last chunk with rows of an archetype is partly filled"
#define PARTITION "the free, the retired and the living partition the issued indices"
#define FREE_LIST "the free list holds free indices, as many as are free"
#define INVERSE "rank and order are inverse to each other"
#define LOST "commands accepted were applied or refused"

static const breach breaches[] = {
    {"rank 0 is the root", "rank 0 is the root", root_has_a_parent},
    {"parent(i) < i", ORDER, parent_is_the_node_itself},
    {"parent(i) < i", ORDER, parent_stands_behind},
    {"parent non-decreasing in i", ORDER, parents_fall},
    {"children contiguous: first(i) = first(i-1) + count(i-1)", LISTS,
     a_child_goes_to_the_next_list},
    {"children contiguous, with leaves included", LISTS, a_leafs_list_begins_elsewhere},
    {"first(0) = 1", LISTS, the_first_list_begins_at_2},
    {"first(n-1) + count(n-1) = n", LISTS, the_last_list_ends_behind_the_end},
    {"back-references both ways", INVERSE, a_rank_is_anothers},
    {"back-references both ways", INVERSE, a_slot_is_of_another_run},
    {"back-references both ways", INVERSE, one_slot_stands_twice},
    {"back-references both ways", NAMES, two_slots_change_names},
    {"back-references both ways", NAMES, a_record_names_another_slot},
    {"back-references both ways", NAMES, a_record_names_no_slot},
    {"back-references both ways", NAMES, a_record_names_a_slot_of_no_run},
    {"back-references both ways", "the slot column agrees with the records", the_slot_column_lags},
    {"all living members alive", ALIVE, a_member_is_dead},
    {"all living members alive", ALIVE, a_member_was_never_issued},
    {"all living members distinct", ALIVE, a_member_is_there_twice},
    {"all living members of this world", "a record carries the tag of its world",
     a_member_is_of_another_world},
    {"n >= 2", ROLES, a_hierarchy_has_one_node},
    {"n >= 2", "a root lives, or its hierarchy wants a purge", a_hierarchy_has_one_living_node},
    {"every world recomputes bit for bit from locals", WORLDS, a_world_is_off_by_a_bit},
    {"every world recomputes bit for bit from locals", WORLDS, a_world_of_a_dead_one_is_off},
    {"every world recomputes bit for bit from locals", WORLDS, a_local_is_off},
    {"every world recomputes bit for bit from locals", WORLDS, a_stretch_is_off},
    {"every world recomputes bit for bit from kept parts", WORLDS, a_kept_part_is_off},
    {"all floats finite", FINITE, a_local_is_no_number},
    {"all floats finite", FINITE, a_world_is_infinite},
    {"all floats finite", FINITE, a_stretch_is_no_number},
    {"all floats finite", FINITE, a_kept_part_is_no_number},
    {"record <-> (chunk, row) is a bijection", BACK, a_record_points_at_another_row},
    {"record <-> (chunk, row) is a bijection", BACK, a_record_points_at_another_chunk},
    {"record <-> (chunk, row) is a bijection", BACK, a_record_points_nowhere},
    {"record <-> (chunk, row) is a bijection", BACK, a_row_holds_anothers_handle},
    {"record <-> (chunk, row) is a bijection", BACK, a_row_holds_an_old_handle},
    {"free list and living ids partition the issued ones", FREE_LIST, a_living_index_is_free},
    {"free list and living ids partition the issued ones", FREE_LIST, a_free_index_is_in_no_list},
    {"free list and living ids partition the issued ones",
     "the free list ends after the last free index", the_free_list_is_a_ring},
    {"free list and living ids partition the issued ones", PARTITION,
     a_free_index_counts_as_living},
    {"free list and living ids partition the issued ones", PARTITION, a_retired_index_is_free},
    {"role components agree with roles", ROLES, a_root_is_a_member_by_its_components},
    {"role components agree with roles", ROLES, a_member_is_a_solo_by_its_components},
    {"role components agree with roles", ROLES, a_survivor_is_a_root_by_its_components},
    {"role components agree with roles",
     "entities with a placement have a transform, others pass through",
     a_placed_one_has_no_placement},
    {"only the last chunk of an archetype is partly filled", FILLED,
     the_first_chunk_is_partly_filled},
    {"only the last chunk of an archetype is partly filled", FILLED, a_chunk_is_overfull},
    {"outstanding bytes equal what statistics say",
     "outstanding bytes of the world are accounted for", a_byte_of_the_world_is_lost},
    {"outstanding bytes equal what statistics say",
     "outstanding bytes of the store are accounted for", a_byte_of_the_store_is_lost},
    {"outstanding bytes equal what statistics say",
     "outstanding bytes of the tree are accounted for", a_byte_of_the_tree_is_lost},
    {"outstanding bytes equal what statistics say",
     "outstanding bytes of the tree are accounted for", the_pools_block_has_another_size},
    {"outstanding bytes equal what statistics say",
     "outstanding bytes of playback and writes are accounted for", a_byte_of_playback_is_lost},
    {"outstanding bytes equal what statistics say",
     "outstanding bytes of playback and writes are accounted for", scratch_is_forgotten},
    {"commands: the accounting identity", LOST, a_command_is_lost},
    {"commands: the accounting identity", LOST, a_command_is_refused_twice},
    {"commands: the accounting identity", LOST, a_command_is_applied_twice},
};

enum { BREACHES = sizeof breaches / sizeof *breaches };

START_TEST(each_sentence_broken_is_named)
{
    const breach *const b = &breaches[_i];
    espl_validation report = {0};

    b->commit();
    const bool is_valid = espl_validate(world, &report);

    ck_assert_msg(!is_valid, "%s: not found", b->sentence);
    ck_assert_msg(strcmp(report.rule, b->rule) == 0, "%s: %s", b->sentence, report.rule);
    ck_assert(!espl_validate(world, NULL));
    mend();
    test_world_is_valid(world);
}
END_TEST

START_TEST(place_of_a_breach_is_told)
{
    espl_validation report;

    a_world_is_off_by_a_bit();
    ck_assert(!espl_validate(world, &report));
    ck_assert(espl_entity_equal(report.entity, plain[5]));
    ck_assert_uint_eq(report.detail, 5);
    mend();

    two_slots_change_names();
    ck_assert(!espl_validate(world, &report));
    ck_assert(espl_entity_equal(report.entity, plain[3]));
    mend();

    a_byte_of_the_tree_is_lost();
    ck_assert(!espl_validate(world, &report));
    ck_assert(espl_entity_is_null(report.entity));
    ck_assert_uint_eq(report.detail, world->heap.bytes[ESPL__FOR_TREE]);
    mend();

    memset(&report, 0x5a, sizeof report);
    ck_assert(espl_validate(world, &report));
    ck_assert_ptr_null(report.rule);
    ck_assert(espl_entity_is_null(report.entity));
    ck_assert_uint_eq(report.detail, 0);
}
END_TEST

// --- Every bit ---

// Turn each bit of a word and see that it is noticed.
static void turn_bits(uint32_t *word, const char *name, uint32_t number)
{
    for (uint32_t bit = 0; bit < 32; ++bit) {
        *word ^= (uint32_t)1 << bit;
        ck_assert_msg(!espl_validate(world, NULL), "bit %u of %s %u", bit, name, number);
        *word ^= (uint32_t)1 << bit;
    }
}

// The same where some bits mean nothing; it must do no harm.
static void stir_bits(uint32_t *word)
{
    for (uint32_t bit = 0; bit < 32; ++bit) {
        *word ^= (uint32_t)1 << bit;
        (void)espl_validate(world, NULL);
        *word ^= (uint32_t)1 << bit;
    }
}

START_TEST(no_bit_of_a_link_goes_unnoticed)
{
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        const espl__run *const header = &forest->runs[run];

        for (uint32_t at = header->base; at < header->base + header->size; ++at) {
            const uint32_t slot = forest->order[at];

            turn_bits(&forest->order[at], "order", at);
            turn_bits(&forest->parent[at], "parent", at);
            turn_bits(&forest->first[at], "first", at);
            turn_bits(&forest->rank[slot], "rank", slot);
            turn_bits(&forest->run[slot], "run", slot);
            turn_bits(&forest->entity[slot], "entity", slot);
        }
    }
    test_world_is_valid(world);
}
END_TEST

START_TEST(no_bit_of_a_world_goes_unnoticed)
{
    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        uint32_t *const words = (uint32_t *)(void *)&forest->world[slot];

        if (forest->run[slot] < forest->run_end &&
            forest->rank[slot] < espl__run_of(forest, slot)->size) {
            for (size_t i = 0; i < sizeof(espl_pose) / sizeof *words; ++i) {
                turn_bits(&words[i], "world", slot);
            }
        }
    }
    test_world_is_valid(world);
}
END_TEST

START_TEST(no_bit_of_a_header_goes_unnoticed)
{
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        espl__run *const header = &forest->runs[run];

        if (header->size == 0) {
            stir_bits(&header->base);
            stir_bits(&header->capacity);
            turn_bits(&header->size, "free size", run);
            continue;
        }
        turn_bits(&header->base, "base", run);
        turn_bits(&header->capacity, "capacity", run);
        turn_bits(&header->size, "size", run);
        turn_bits(&header->ghosts, "ghosts", run);
        stir_bits(&header->used);
        stir_bits(&header->flags);
        stir_bits(&header->next);
        stir_bits(&header->previous);
    }
    test_world_is_valid(world);
}
END_TEST

START_TEST(no_bit_of_a_record_goes_unnoticed)
{
    for (uint32_t index = 0; index < espl__array_length(store->records); ++index) {
        espl__record *const record = &store->records[index];
        const bool is_living = record->row < ESPL__ROW_RETIRED;

        turn_bits(&record->row, "row", index);
        if (is_living) {
            turn_bits(&record->generation, "generation", index);
            turn_bits(&record->chunk, "chunk", index);
            turn_bits(&record->slot, "slot", index);
        } else if (record->row == ESPL__NONE) {
            turn_bits(&record->chunk, "next free", index);
        }
    }
    turn_bits(&store->free_head, "free head", 0);
    test_world_is_valid(world);
}
END_TEST

START_TEST(no_bit_of_a_chunk_goes_unnoticed)
{
    for (uint32_t number = 0; number < espl__array_length(store->chunks); ++number) {
        espl__chunk *const chunk = &store->chunks[number];

        turn_bits(&chunk->position, "position", number);
        if (chunk->bytes == NULL) {
            continue;
        }
        turn_bits(&chunk->archetype, "archetype", number);
        turn_bits(&chunk->count, "count", number);
        turn_bits(&chunk->leaving_count, "leaving", number);
        for (uint32_t row = 0; row < chunk->count; ++row) {
            turn_bits(&espl__chunk_entities(chunk)[row].index, "index", row);
            turn_bits(&espl__chunk_entities(chunk)[row].generation, "generation", row);
        }
    }
    test_world_is_valid(world);
}
END_TEST

// Free ranges keep their books in the arrays of their slots; what stands between means nothing.
START_TEST(no_bit_of_the_pool_leads_astray)
{
    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        stir_bits(&forest->order[slot]);
        stir_bits(&forest->parent[slot]);
        stir_bits(&forest->first[slot]);
        stir_bits(&forest->rank[slot]);
        stir_bits(&forest->run[slot]);
        stir_bits(&forest->entity[slot]);
        for (uint32_t bit = 0; bit < 8; ++bit) {
            forest->flags[slot] ^= (uint8_t)(1 << bit);
            (void)espl_validate(world, NULL);
            forest->flags[slot] ^= (uint8_t)(1 << bit);
        }
    }
    turn_bits(&forest->unsettled, "first unsettled", 0);
    turn_bits(&forest->free_slots, "free slots", 0);
    turn_bits(&forest->ghosts, "ghosts", 0);
    stir_bits(&forest->free_run);
    for (size_t class = 0; class < ESPL__SIZE_CLASSES; ++class) {
        stir_bits(&forest->free_heads[class]);
    }
    test_world_is_valid(world);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("breaches");
    TCase *const table = tcase_create("table"), *const bits = tcase_create("bits");

    tcase_add_checked_fixture(table, set_up, tear_down);
    tcase_add_loop_test(table, each_sentence_broken_is_named, 0, BREACHES);
    tcase_add_test(table, place_of_a_breach_is_told);
    tcase_set_timeout(bits, 120);
    tcase_add_checked_fixture(bits, set_up, tear_down);
    tcase_add_test(bits, no_bit_of_a_link_goes_unnoticed);
    tcase_add_test(bits, no_bit_of_a_world_goes_unnoticed);
    tcase_add_test(bits, no_bit_of_a_header_goes_unnoticed);
    tcase_add_test(bits, no_bit_of_a_record_goes_unnoticed);
    tcase_add_test(bits, no_bit_of_a_chunk_goes_unnoticed);
    tcase_add_test(bits, no_bit_of_the_pool_leads_astray);
    suite_add_tcase(suite, table);
    suite_add_tcase(suite, bits);
    return suite;
}

RUN_SUITE(make_suite)
