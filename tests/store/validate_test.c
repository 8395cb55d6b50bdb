// SPDX-License-Identifier: MIT
// The validator of the store: each test breaks one invariant, and the validator names it.
#include "tests/store/fixture.h"

#include <stdio.h>

static fixture fix;
static espl_component weight, page, bond;
static uint32_t plain, root, paged; // archetypes
static uint32_t living[5], freed;   // indices: the first four in `paged`, the last in `plain`

static void set_up(void)
{
    fixture_begin(&fix);
    weight = fixture_component(&fix, "weight", 8, 8);
    page = fixture_component(&fix, "page", 4096, 1);
    static const uint32_t references[] = {0, 12};
    const espl_component_def def = {
        .name = "bond", .size = 20, .references = references, .reference_count = 2};
    const espl_component plain_set[] = {ESPL_TRANSFORM, ESPL_SOLO, weight}, paged_set[] = {page};

    ck_ok(espl__component_register(&fix.store, &def, &bond));

    plain = fixture_archetype(&fix, plain_set, 3);
    paged = fixture_archetype(&fix, paged_set, 1);
    ck_ok(espl__archetype_role(&fix.store, plain, ESPL_ROOT, &root));

    // Two free indices, two free chunk numbers, one chunk full and one partly filled.
    uint32_t extra[8];
    fixture_create(&fix, paged, living, 4);
    fixture_create(&fix, paged, extra, 8);
    fixture_create(&fix, plain, living + 4, 1);
    for (size_t i = 0; i < 8; ++i) {
        fixture_destroy(&fix, extra[i]);
    }
    fixture_settle(&fix);
    fixture_destroy(&fix, living[0]);
    fixture_settle(&fix);
    fixture_create(&fix, paged, living, 1);
    freed = fix.store.free_head;
    ck_assert_uint_ne(freed, ESPL__NONE);
    ck_assert_uint_ge(espl__array_length(fix.store.free_chunks), 1);
    fixture_is_sound(&fix);
}

static void tear_down(void)
{
    fixture_is_sound(&fix);
    fixture_end(&fix);
}

static void expect_rule(const char *expected, int line)
{
    espl_entity where = {0, 0};
    size_t detail = 0;
    const char *const rule = espl__store_broken_rule(&fix.store, &where, &detail);

    ck_assert_msg(rule != NULL, "line %d: not found: %s", line, expected);
    ck_assert_msg(strcmp(rule, expected) == 0, "line %d: %s", line, rule);
    ck_assert_ptr_eq(espl__store_broken_rule(&fix.store, NULL, NULL), rule);
}

// Give a field a wrong value, see the rule named, and mend it.
#define BREAKS_HERE(rule, field, wrong)          \
    do {                                         \
        const __typeof__(field) right = (field); \
        (field) = (wrong);                       \
        expect_rule((rule), __LINE__);           \
        (field) = right;                         \
    } while (0)

// The same where nothing else is wrong.
#define BREAKS(rule, field, wrong)       \
    do {                                 \
        BREAKS_HERE(rule, field, wrong); \
        fixture_is_sound(&fix);          \
    } while (0)

// The same for the length of an array.
#define BREAKS_LENGTH(rule, array, wrong)               \
    do {                                                \
        const size_t right = espl__array_length(array); \
        espl__array_set_length((array), (wrong));       \
        expect_rule((rule), __LINE__);                  \
        espl__array_set_length((array), right);         \
        fixture_is_sound(&fix);                         \
    } while (0)

static espl__archetype *at(uint32_t number)
{
    return &fix.store.archetypes[number];
}

FIXTURE(set_up, tear_down);

TEST(broken_component_is_named)
{
    espl__component_info *const info = &fix.store.component_blocks[0][weight - 1];

    BREAKS("there are at most ESPL_COMPONENT_LIMIT components", fix.store.component_count,
           ESPL_COMPONENT_LIMIT + 1);
    BREAKS("a component's alignment is a power of two that divides its size", info->alignment, 0);
    BREAKS("a component's alignment is a power of two that divides its size", info->alignment, 3);
    BREAKS("a component's alignment is a power of two that divides its size", info->size, 12);
    BREAKS("a component is found by its name", info->name, "height");
    BREAKS("a component is found by its name", info->name, "page");
    BREAKS("a component is found by its name", fix.store.component_names, (espl__map){0});
}

TEST(broken_reference_is_named)
{
    espl__component_info *const info = &fix.store.component_blocks[0][bond - 1];
    const char *const list = "a component has a list of references where it counts any";
    const char *const inside = "references are inside their component, in ascending order";
    static const uint32_t across[] = {0, 7}, past[] = {0, 13};

    BREAKS(list, info->reference_count, 0);
    BREAKS(list, info->reference_count, ESPL_REFERENCE_LIMIT + 1);
    BREAKS(list, info->references, NULL);
    BREAKS(inside, info->references, across);
    BREAKS(inside, info->references, past);
    BREAKS("the count of components with references is right", fix.store.referring_count, 0);
    BREAKS("the count of components with references is right", fix.store.referring_count, 2);
}

TEST(broken_record_is_named)
{
    espl__record *const alive = &fix.store.records[living[1]];
    espl__record *const free_one = &fix.store.records[freed];
    const char *const back = "the handle of a row is living and its record points back";
    const char *const partition = "free, retired and living indices partition the issued ones";

    BREAKS(back, alive->generation, alive->generation + 1);
    BREAKS(back, alive->chunk, alive->chunk + 1);
    BREAKS(back, alive->row, alive->row + 1);
    BREAKS(back, alive->row, alive->row ^ ESPL__ROW_BARE);
    BREAKS(back, alive->row, ESPL__NONE);
    BREAKS(back, alive->row, ESPL__ROW_RETIRED);
    BREAKS("a record has the tag of its world", free_one->generation, 1);
    BREAKS("a record points at the row that holds its handle", free_one->row, 0);

    // Free ones that name a chunk: without memory, with fewer rows, with a row of another one.
    const char *const holds = "a record points at the row that holds its handle";
    const uint32_t next = free_one->chunk;

    free_one->chunk = fix.store.free_chunks[0];
    BREAKS_HERE(holds, free_one->row, 0);
    free_one->chunk = alive->chunk;
    BREAKS_HERE(holds, free_one->row, 100);
    BREAKS_HERE(holds, free_one->row, alive->row);
    free_one->chunk = next;
    BREAKS(partition, free_one->row, ESPL__ROW_RETIRED);
    BREAKS(partition, fix.store.alive_count, fix.store.alive_count + 1);
    BREAKS("the least generation of a freed index is at most one after the last",
           fix.store.least_generation, UINT32_MAX);
    BREAKS(partition, fix.store.retired_count, 1);
    BREAKS(partition, fix.store.free_count, fix.store.free_count - 1);
}

TEST(broken_free_list_is_named)
{
    const char *const holds = "the free list has free_count indices, all of them free";
    uint32_t last = fix.store.free_head;

    while (fix.store.records[last].chunk != ESPL__NONE) {
        last = fix.store.records[last].chunk;
    }
    ck_assert_uint_ne(last, freed);
    BREAKS(holds, fix.store.free_head, living[1]);
    BREAKS(holds, fix.store.free_head, 1000);
    BREAKS(holds, fix.store.free_head, ESPL__NONE);
    BREAKS(holds, fix.store.records[freed].chunk, ESPL__NONE);
    BREAKS("the free list ends after the last free index", fix.store.records[last].chunk, freed);
    BREAKS("the free list ends after the last free index", fix.store.records[freed].chunk, freed);
}

TEST(broken_set_is_named)
{
    const char *const sorted = "a set has registered components, in ascending order";
    const char *const found = "an archetype is found by the hash of its set";

    BREAKS(sorted, at(plain)->set[0], ESPL_PREFAB);
    BREAKS(sorted, at(plain)->set[1], ESPL_TRANSFORM);
    BREAKS(sorted, at(plain)->set[2], 0);
    BREAKS(sorted, at(plain)->set[2], bond + 1);
    BREAKS("the bits of an archetype agree with its set", at(plain)->builtin, 0);
    BREAKS("the bits of an archetype agree with its set", at(plain)->set[1], ESPL_PREFAB);
    BREAKS_LENGTH("an archetype has a column for each component with a size", at(plain)->columns,
                  1);
    BREAKS(found, fix.store.archetype_sets, (espl__map){0});
}

TEST(set_past_the_limit_is_named)
{
    espl_component *large = NULL;

    ck_assert(ESPL_ARRAY_RESERVE(&fix.heap, ESPL__FOR_STORE, large, ESPL_SET_LIMIT + 1));
    espl__array_set_length(large, ESPL_SET_LIMIT + 1);
    BREAKS("a set has at most ESPL_SET_LIMIT components", at(plain)->set, large);
    ESPL_ARRAY_FREE(&fix.heap, ESPL__FOR_STORE, large);
}

TEST(broken_layout_is_named)
{
    espl__column *const slot = &at(plain)->columns[0], *const value = &at(plain)->columns[1];
    const char *const capacity = "a chunk has room for 1 to ESPL__CHUNK_ROWS rows";
    const char *const sized = "a column has its component's size and alignment";
    const char *const order = "columns are in the order of their components and do not overlap";
    const char *const bytes =
        "a chunk has the size of its rows, at most ESPL__CHUNK_BYTES unless it has one row";
    const char *const behind = "the versions of a chunk follow its last column, aligned";

    BREAKS(capacity, at(plain)->capacity, 0);
    BREAKS(capacity, at(plain)->capacity, ESPL__CHUNK_ROWS + 1);
    BREAKS(sized, value->size, 4);
    BREAKS(sized, value->component, page);
    BREAKS(sized, value->component, 1000);
    BREAKS(sized, value->component, ESPL_SOLO);
    value->size = 0;
    BREAKS_HERE(sized, value->component, ESPL_SOLO);
    value->size = 8;
    BREAKS(sized, value->offset, value->offset + 4);
    BREAKS(sized, at(plain)->block_alignment, 4);
    BREAKS(order, slot->offset, 4);
    BREAKS(order, value->offset, slot->offset & ~7u);
    BREAKS(bytes, at(plain)->chunk_bytes, at(plain)->chunk_bytes + 8);
    BREAKS(behind, at(plain)->versions_offset, at(plain)->versions_offset + 8);
    BREAKS(behind, value->offset, value->offset + 8);
    BREAKS("the offset of the slot column is right", at(plain)->placement_offset, ESPL__NONE);
    BREAKS("the offset of the slot column is right", at(paged)->placement_offset, 24);
}

// All that a layout says fits together, and one row less would stay below the limit.
TEST(chunk_of_several_rows_past_the_limit_is_named)
{
    espl__archetype *const archetype = at(paged), right = *archetype;
    espl__column *const column = &archetype->columns[0], right_column = *column;
    const uint32_t rows = ESPL__CHUNK_BYTES / column->size;

    ck_assert_uint_gt(rows, 1);
    if (rows > ESPL__CHUNK_ROWS) {
        return; // as many stay below it
    }
    archetype->capacity = rows;
    column->offset = rows * (uint32_t)sizeof(espl_entity);
    archetype->versions_offset = column->offset + rows * column->size;
    archetype->chunk_bytes = archetype->versions_offset + 2 * (uint32_t)sizeof(uint64_t);
    expect_rule("a chunk has the size of its rows, at most ESPL__CHUNK_BYTES unless it has one row",
                __LINE__);
    *archetype = right;
    *column = right_column;
}

TEST(columns_out_of_order_are_named)
{
    const espl_component height = fixture_component(&fix, "height", 8, 8);
    const espl_component set[] = {weight, height};
    const uint32_t both = fixture_archetype(&fix, set, 2);

    BREAKS("columns are in the order of their components and do not overlap",
           at(both)->columns[1].component, weight);
}

// Roles are low numbers; those past 63 have no bit.
TEST(role_edge_to_a_set_with_other_high_components_is_named)
{
    const char *const edge = "a role edge leads to the same set with that role";
    espl_component tags[70];
    char name[16];

    for (int i = 0; i < 70; ++i) {
        (void)snprintf(name, sizeof name, "tag %d", i);
        tags[i] = fixture_component(&fix, name, 0, 1);
    }
    const espl_component one[] = {ESPL_SOLO, tags[67], tags[69]};
    const espl_component other[] = {ESPL_ROOT, tags[68], tags[69]};
    const espl_component less[] = {ESPL_ROOT, tags[69]}, none[] = {ESPL_ROOT};
    const uint32_t from = fixture_archetype(&fix, one, 3);
    const uint32_t wrong[] = {fixture_archetype(&fix, other, 3), fixture_archetype(&fix, less, 2),
                              fixture_archetype(&fix, none, 1)};
    uint32_t to = 0;

    ck_ok(espl__archetype_role(&fix.store, from, ESPL_ROOT, &to));
    for (size_t i = 0; i < 3; ++i) {
        BREAKS(edge, at(from)->role_edge[1], wrong[i]);
    }

    const espl_component bare[] = {ESPL_SOLO};
    const uint32_t alone = fixture_archetype(&fix, bare, 1);

    ck_ok(espl__archetype_role(&fix.store, alone, ESPL_ROOT, &to));
    BREAKS(edge, at(alone)->role_edge[1], wrong[1]);

    // From a set without any low number.
    const espl_component high[] = {tags[67], tags[69]};
    const uint32_t without = fixture_archetype(&fix, high, 2);

    ck_ok(espl__archetype_role(&fix.store, without, ESPL_ROOT, &to));
    fixture_is_sound(&fix);
    for (size_t i = 0; i < 3; ++i) {
        BREAKS(edge, at(without)->role_edge[1], wrong[i]);
    }
}

TEST(broken_role_edge_is_named)
{
    const char *const edge = "a role edge leads to the same set with that role";

    BREAKS(edge, at(plain)->role_edge[1], plain);
    BREAKS(edge, at(plain)->role_edge[1], 1000);
    BREAKS(edge, at(plain)->role_edge[0], root);
    BREAKS(edge, at(paged)->role_edge[0], plain);
}

TEST(broken_edge_is_named)
{
    const char *const edge = "an edge leads to the same set with one component more or less";
    const espl_component tag = ESPL_DISABLED;
    uint32_t more = 0, less = 0;

    ck_ok(espl__archetype_change(&fix.store, plain, &tag, 1, NULL, 0, &more));
    ck_ok(espl__archetype_change(&fix.store, plain, NULL, 0, &weight, 1, &less));
    ck_assert_uint_eq(at(plain)->gain.to, more);
    ck_assert_uint_eq(at(plain)->loss.to, less);
    BREAKS(edge, at(plain)->gain.to, plain);
    BREAKS(edge, at(plain)->gain.to, root);
    BREAKS(edge, at(plain)->gain.to, 1000);
    BREAKS(edge, at(plain)->gain.component, weight);
    BREAKS(edge, at(plain)->gain.component, ESPL_PREFAB);
    BREAKS(edge, at(plain)->loss.to, plain);
    BREAKS(edge, at(plain)->loss.to, paged);
    BREAKS(edge, at(plain)->loss.component, tag);
    BREAKS(edge, at(more)->loss, ((espl__edge){tag, less}));
}

TEST(broken_rows_are_named)
{
    const espl__record record = fix.store.records[living[2]];
    espl_entity *const entity =
        &espl__chunk_entities(&fix.store.chunks[record.chunk])[espl__record_row(&record)];
    uint32_t *const slot = espl__row_value(&fix.store, living[4], ESPL_TRANSFORM);
    const char *const back = "the handle of a row is living and its record points back";

    BREAKS(back, entity->index, 1000);
    BREAKS(back, entity->index, living[1]);
    BREAKS(back, entity->index, freed);
    BREAKS(back, entity->generation, entity->generation - 1);
    BREAKS("the slot column agrees with the records", *slot, 3);
    BREAKS("the slot column agrees with the records", fix.store.records[living[4]].slot, 3);
}

TEST(broken_chunk_is_named)
{
    const uint32_t full = at(paged)->chunks[0], partly = at(paged)->chunks[1];
    const uint32_t free_number = fix.store.free_chunks[0];
    espl__chunk *const chunk = &fix.store.chunks[full];
    const char *const listed = "a chunk is in the list of its archetype";
    const char *const filled = "only the last chunk with rows of an archetype is partly filled";
    const char *const marked = "no row leaves between structural changes";

    BREAKS("a chunk without memory is in the list of free numbers",
           fix.store.chunks[free_number].position, 1000);
    BREAKS("a chunk without memory is in the list of free numbers", chunk->bytes, NULL);
    BREAKS("a chunk belongs to an archetype", chunk->archetype, 1000);
    BREAKS(listed, chunk->archetype, root);
    BREAKS(listed, chunk->position, 1);
    BREAKS(listed, chunk->position, 1000);
    BREAKS("the memory of a chunk is aligned", chunk->bytes, chunk->bytes + 32);
    BREAKS("a chunk has the offset of its slot column", chunk->slots_offset, ESPL__NONE - 1);
    BREAKS(marked, chunk->leaving_count, 1);
    BREAKS(marked, chunk->leaving[0], 1);
    BREAKS(marked, chunk->leaving[1], 1);
    BREAKS("no batched change of rows is in progress", chunk->mark, 1);
    BREAKS(filled, chunk->count, 2);
    BREAKS(filled, fix.store.chunks[partly].count, 2);
    BREAKS(filled, fix.store.chunks[partly].count, 0);
    BREAKS(filled, at(paged)->count, 3);
    BREAKS(filled, at(paged)->count, 5);
}

TEST(broken_version_is_named)
{
    espl__chunk *const chunk = &fix.store.chunks[fix.store.records[living[4]].chunk];
    const char *const between = "a column is no newer than the store and no older than its handles";

    BREAKS("a chunk has the address of its versions", chunk->versions, NULL);
    BREAKS("a chunk has the address of its versions", chunk->versions, chunk->versions + 1);
    for (size_t i = 0; i < 3; ++i) {
        BREAKS(between, chunk->versions[i], fix.store.version + 1);
    }
    BREAKS(between, chunk->versions[1], chunk->versions[0] - 1);
    BREAKS(between, chunk->versions[2], 0);
    BREAKS(between, fix.store.version, 0);
    BREAKS("a chunk with rows has been written", chunk->versions[0], 0);
}

TEST(broken_totals_are_named)
{
    const size_t free_count = espl__array_length(fix.store.free_chunks);
    const char *const fit = "the rows of an archetype fit its chunks";
    const char *const marked = "no row leaves between structural changes";
    const char *const changed = "the changed list holds the changed archetypes";

    BREAKS_LENGTH("a chunk without memory is in the list of free numbers", fix.store.free_chunks,
                  free_count - 1);
    BREAKS(fit, at(paged)->reserved, at(paged)->reserved + 1);
    ck_assert_uint_eq(at(root)->reserved, 0);
    BREAKS(fit, at(root)->count, 1);
    BREAKS(marked, at(paged)->leaving_count, 1);
    BREAKS(changed, at(paged)->is_changed, true);
    BREAKS("the room that a user keeps is reserved", at(paged)->floor, at(paged)->reserved + 1);
    BREAKS("no batched change of rows is in progress", at(paged)->coming, 1);
    BREAKS("no batched change of rows is in progress", at(paged)->changed_to, paged);

    // A number that stands twice.
    ESPL_ARRAY_PUSH(fix.store.changed_chunks, at(paged)->chunks[0]);
    expect_rule(marked, __LINE__);
    espl__array_set_length(fix.store.changed_chunks, 0);

    ESPL_ARRAY_PUSH(fix.store.changed, paged);
    expect_rule(changed, __LINE__);
    fix.store.changed[0] = 1000;
    expect_rule(changed, __LINE__);
    espl__array_set_length(fix.store.changed, 0);

    ESPL_ARRAY_PUSH(fix.store.free_chunks, fix.store.free_chunks[0]);
    expect_rule("the list of free numbers holds each of them once", __LINE__);
    espl__array_set_length(fix.store.free_chunks, free_count);

    ck_assert(ESPL_ARRAY_RESERVE(&fix.heap, ESPL__FOR_STORE, at(root)->chunks, 1));
    ESPL_ARRAY_PUSH(at(root)->chunks, at(paged)->chunks[0]);
    at(root)->reserved = at(root)->capacity;
    expect_rule("every chunk belongs to one archetype or is free", __LINE__);
    at(root)->reserved = 0;
    espl__array_set_length(at(root)->chunks, 0);
}

TEST(lists_without_room_are_named)
{
    BREAKS("the lists of chunk numbers have room for all of them", fix.store.changed_chunks, NULL);
    BREAKS("the changed list has room for all archetypes", fix.store.changed, NULL);

    // The free numbers themselves, and no room for the others.
    uint32_t *few = NULL;
    const size_t free_count = espl__array_length(fix.store.free_chunks);

    ck_assert(ESPL_ARRAY_RESERVE(&fix.heap, ESPL__FOR_STORE, few, free_count));
    for (size_t i = 0; i < free_count; ++i) {
        ESPL_ARRAY_PUSH(few, fix.store.free_chunks[i]);
    }
    ck_assert(ESPL_ARRAY_SHRINK(&fix.heap, ESPL__FOR_STORE, few, 0));
    ck_assert_uint_lt(espl__array_capacity(few), espl__array_length(fix.store.chunks));
    BREAKS("the lists of chunk numbers have room for all of them", fix.store.free_chunks, few);
    ESPL_ARRAY_FREE(&fix.heap, ESPL__FOR_STORE, few);
}

// BUGS B10: the first broken place is told.
TEST(place_of_a_broken_rule_is_told)
{
    espl_entity where = {0, 0};
    size_t detail = 0;
    const espl_entity entity = espl__entity_at(&fix.store, living[3]);

    ck_assert_ptr_null(espl__store_broken_rule(&fix.store, &where, &detail));
    ck_assert(espl_entity_is_null(where));
    ck_assert_uint_eq(detail, 0);

    fix.store.records[living[3]].row += 1;
    ck_assert_ptr_nonnull(espl__store_broken_rule(&fix.store, &where, &detail));
    ck_assert(espl_entity_equal(where, entity));
    ck_assert_uint_eq(detail, fix.store.records[living[3]].chunk);
    fix.store.records[living[3]].row -= 1;
}

TEST(broken_counterpart_is_named)
{
    espl__counterparts *const links = &fix.store.counterparts;
    const espl_entity original = {7, ((uint32_t)fix.store.tag + 1) << ESPL__TAG_SHIFT | 1};
    const espl_entity own = {7, (uint32_t)fix.store.tag << ESPL__TAG_SHIFT | 1};
    const uint32_t linked = living[0], dead = freed;

    ck_assert(espl__counterparts_reserve(links, &fix.heap, 2, 100));
    espl__counterpart_put(links, linked, original);
    fixture_is_sound(&fix);
    BREAKS("counterparts are counted", links->count, 2);
    espl__counterparts_remove(links, &linked, 1);
    espl__counterpart_put(links, linked, own);
    expect_rule("an original is of another world", __LINE__);
    espl__counterparts_remove(links, &linked, 1);
    espl__counterpart_put(links, dead, original);
    expect_rule("counterparts live", __LINE__);
    espl__counterparts_remove(links, &dead, 1);
    espl__counterparts_free(links, &fix.heap);
}
