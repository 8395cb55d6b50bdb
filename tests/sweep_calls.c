// SPDX-License-Identifier: MIT
// Calls at once, with all that may take memory among them.
#include "tests/asserts.h"
#include "tests/forms.h"
#include "tests/fixture.h"
#include "tests/sweep.h"

#include <espalier/writers.h>

#include <stdlib.h>
#include <string.h>

#define ONE PART_BIT(PART_SOLO)
#define TREE PARTS_OF_TREE
#define ALL (TREE | PART_BIT(PART_OTHER) | PART_BIT(PART_BARE) | PART_BIT(PART_PREFAB))
#define LENGTH(table) (sizeof(table) / sizeof *(table))

static void tell(sweep_world *w, espl_status status, const void *bytes, size_t size)
{
    if (status >= 0) {
        sweep_tell(w, bytes, size);
    }
}

static void tell_made(sweep_world *w, espl_status status, uint32_t count)
{
    if (status >= 0) {
        w->made_count = count;
        sweep_tell(w, w->made, count * sizeof *w->made);
    }
}

// --- Making ---

static espl_status run_create(sweep_world *w, unsigned number)
{
    const espl_component sets[][3] = {{ESPL_TRANSFORM, w->word, w->link},
                                      {ESPL_TRANSFORM, w->tag, ESPL_PREFAB},
                                      {w->word, w->tag, ESPL_DISABLED}};
    static const struct {
        uint32_t set, length, count;
    } ways[] = {{0, 1, 1}, {0, 1, 13}, {0, 3, 3}, {1, 3, 5}, {2, 0, 1}, {2, 2, 2}};
    const espl_status status = espl_create(w->world, sets[ways[number].set], ways[number].length,
                                           ways[number].count, w->made);

    tell_made(w, status, ways[number].count);
    return status;
}

// More than a chunk holds.
static espl_status run_create_many(sweep_world *w, unsigned number)
{
    const espl_component set[] = {ESPL_TRANSFORM, w->word};

    return espl_create(w->world, set, 1 + number, test_fitting(140, 50), NULL);
}

static espl_status run_register(sweep_world *w, unsigned number)
{
    static const uint32_t at[2] = {0, 8};
    static const espl_component_field fields[1] = {{"both", ESPL_FIELD_ENTITY, 0, 2}};
    const espl_component_def def = {.name = "another name of a component",
                                    .size = number == 0 ? 0 : 16,
                                    .references = at,
                                    .reference_count = number,
                                    .fields = fields,
                                    .field_count = number == 2 ? 1 : 0};
    espl_component made = 0;
    const espl_status status = espl_component_register(w->world, &def, &made);

    tell(w, status, &made, sizeof made);
    return status;
}

static void ignore(void *user, const espl_custom_calls *calls)
{
    (void)user;
    (void)calls;
}

static espl_status run_register_callback(sweep_world *w, unsigned number)
{
    const espl_custom_command_def def = {.name = "ignore", .function = ignore};
    espl_custom_command made = 0;
    const espl_status status = espl_command_register(w->world, &def, &made);

    (void)number;
    return status;
}

static espl_status run_make_commands(sweep_world *w, unsigned number)
{
    return espl_command_buffer_create(w->world, number, &w->commands[1]);
}

static espl_status run_instantiate(sweep_world *w, unsigned number)
{
    static const struct {
        sweep_part source;
        uint32_t count;
    } ways[] = {{PART_SOLO, 1},   {PART_SOLO, 9},   {PART_ROOT, 1},
                {PART_MEMBER, 2}, {PART_LEAF, 3},   {PART_BARE, 2},
                {PART_PREFAB, 1}, {PART_PREFAB, 4}, {PART_OTHER, 2}};
    const uint32_t count = ways[number].count;
    const espl_status status = espl_instantiate(
        w->world, &(espl_instance_def){.source = w->part[ways[number].source]}, count, w->made);

    tell_made(w, status, count);
    return status;
}

// Without a source from nothing; under PART_COUNT as a root.
static espl_status run_make_at(sweep_world *w, unsigned number)
{
    static const struct {
        bool has_source;
        sweep_part source, parent;
        uint32_t count;
        espl_place place;
    } ways[] = {{true, PART_SOLO, PART_COUNT, 2, ESPL_PLACE_WORLD},
                {true, PART_PREFAB, PART_ROOT, 3, ESPL_PLACE_LOCAL},
                {true, PART_MEMBER, PART_LEAF, 1, ESPL_PLACE_WORLD},
                {true, PART_ROOT, PART_MEMBER, 12, ESPL_PLACE_SOURCE},
                {false, PART_SOLO, PART_COUNT, 2, ESPL_PLACE_LOCAL},
                {false, PART_SOLO, PART_OTHER, 1, ESPL_PLACE_WORLD},
                {false, PART_SOLO, PART_ROOT, 12, ESPL_PLACE_LOCAL}};
    const espl_transform transform = test_at(1, 0, 2);
    const uint32_t word = 3, count = ways[number].count;
    const espl_component_value values[] = {{w->word, sizeof word, &word},
                                           {ESPL_TRANSFORM, sizeof transform, &transform}};
    espl_instance_def instance = {.source = w->part[ways[number].source],
                                  .place = ways[number].place,
                                  .transform = transform,
                                  .values = values,
                                  .value_count = number % 2};
    espl_creation_def creation = {.values = values, .value_count = 1 + number % 2};

    if (ways[number].parent != PART_COUNT) {
        instance.parent = creation.parent = w->part[ways[number].parent];
    }
    const espl_status status = ways[number].has_source
                                   ? espl_instantiate(w->world, &instance, count, w->made)
                                   : espl_create_at(w->world, &creation, count, w->made);

    tell_made(w, status, count);
    return status;
}

// --- Structure ---

// Before PART_COUNT: last.
static espl_status run_attach(sweep_world *w, unsigned number)
{
    static const struct {
        sweep_part child, parent, before;
        espl_attach_options options;
    } ways[] = {
        {PART_SOLO, PART_ROOT, PART_COUNT, {0}},
        {PART_SOLO, PART_LEAF, PART_COUNT, {.inherit = ESPL_ABSOLUTE_Y}},
        {PART_SOLO, PART_MEMBER, PART_COUNT, {.inherit = ESPL_COPY_PARENT}},
        {PART_SOLO, PART_ROOT, PART_MEMBER, {.position = ESPL_KEEP_LOCAL, .link = ESPL_LINK_FREE}},
        {PART_LEAF, PART_SOLO, PART_COUNT, {.rotation = ESPL_SNAP}},
        {PART_MEMBER, PART_SOLO, PART_COUNT, {0}},
        {PART_LEAF, PART_ROOT, PART_MEMBER, {0}},
        {PART_ROOT, PART_SOLO, PART_COUNT, {0}},
        {PART_LEAF, PART_ROOT, PART_COUNT, {.inherit = ESPL_ABSOLUTE_SCALE}},
        {PART_OTHER, PART_LEAF, PART_COUNT, {.scale = ESPL_KEEP_LOCAL}},
        {PART_BARE, PART_OTHER, PART_COUNT, {0}},
        {PART_ROOT, PART_OTHER, PART_COUNT, {.inherit = ESPL_ABSOLUTE_ROTATION}},
        {PART_PREFAB, PART_MEMBER, PART_LEAF, {0}},
        {PART_SOLO, PART_BARE, PART_COUNT, {0}},
        {PART_MEMBER, PART_OTHER, PART_COUNT, {.link = ESPL_LINK_FREE}},
    };
    espl_attach_options options = ways[number].options;

    if (ways[number].before != PART_COUNT) {
        options.before = w->part[ways[number].before];
    }
    return espl_attach(w->world, w->part[ways[number].child], w->part[ways[number].parent],
                       &options);
}

static espl_status run_detach(sweep_world *w, unsigned number)
{
    static const struct {
        sweep_part part;
        espl_keep keep;
    } ways[] = {{PART_LEAF, ESPL_KEEP_WORLD},
                {PART_MEMBER, ESPL_KEEP_LOCAL},
                {PART_MEMBER, ESPL_SNAP},
                {PART_BARE, ESPL_KEEP_WORLD}};

    return espl_detach(w->world, w->part[ways[number].part], ways[number].keep);
}

static espl_status run_sibling(sweep_world *w, unsigned number)
{
    const espl_entity member = w->part[PART_MEMBER];
    const espl_entity last = espl_get_last_child(w->world, w->part[PART_ROOT]);

    return number == 0 ? espl_move_before(w->world, member, espl_entity_null())
                       : espl_move_before(w->world, last, member);
}

static espl_status run_destroy(sweep_world *w, unsigned number)
{
    static const sweep_part parts[] = {PART_SOLO, PART_ROOT, PART_MEMBER, PART_LEAF, PART_BARE};
    const espl_entity entity = w->part[parts[number / 3]];

    switch (number % 3) {
    case 0:
        return espl_destroy(w->world, entity, ESPL_EXTENT_OWNED);
    case 1:
        return espl_destroy(w->world, entity, ESPL_EXTENT_SUBTREE);
    default:
        return espl_destroy(w->world, entity, ESPL_EXTENT_ENTITY);
    }
}

// Many at once, in one tree.
static espl_status run_destroy_many(sweep_world *w, unsigned number)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = w->count; i-- > number && status == ESPL_OK;) {
        status = espl_destroy(w->world, w->all[i], ESPL_EXTENT_ENTITY);
    }
    return status;
}

// In one call: all there is, or some of a tree, one of which an earlier one may take along.
static espl_status run_destroy_array(sweep_world *w, unsigned number)
{
    const espl_entity some[] = {w->part[PART_MEMBER], w->part[PART_LEAF], w->part[PART_ROOT],
                                w->part[PART_MEMBER]};
    size_t refused = 0;
    const espl_status status =
        number < 3 ? espl_destroy_many(w->world, some, LENGTH(some), (espl_extent)number, &refused)
                   : espl_destroy_many(w->world, w->all, w->count, ESPL_EXTENT_ENTITY, &refused);

    tell(w, status, &refused, sizeof refused);
    return status;
}

static espl_status run_clear(sweep_world *w, unsigned number)
{
    (void)number;
    return espl_world_clear(w->world);
}

static espl_status run_attach_many(sweep_world *w, unsigned number)
{
    static const struct {
        sweep_part child, parent;
    } ways[][3] = {{{PART_SOLO, PART_ROOT}, {PART_LEAF, PART_SOLO}, {PART_SOLO, PART_MEMBER}},
                   {{PART_LEAF, PART_SOLO}, {PART_MEMBER, PART_SOLO}, {PART_ROOT, PART_LEAF}},
                   {{PART_SOLO, PART_ROOT}, {PART_LEAF, PART_SOLO}, {PART_ROOT, PART_SOLO}},
                   {{PART_OTHER, PART_LEAF}, {PART_BARE, PART_SOLO}, {PART_PREFAB, PART_BARE}}};
    const espl_attach_options options = {.position = (espl_keep)(number % 3),
                                         .inherit = number == 1 ? ESPL_ABSOLUTE_Y : 0};
    espl_entity children[3], parents[3];
    size_t refused = 99;

    for (size_t i = 0; i < LENGTH(children); ++i) {
        children[i] = w->part[ways[number][i].child];
        parents[i] = w->part[ways[number][i].parent];
    }
    const espl_status status =
        espl_attach_many(w->world, children, parents, LENGTH(children), &options, &refused);

    tell(w, status, &refused, sizeof refused);
    return status;
}

// A new one, one in place of another, a long one, and none.
static espl_status run_set_name(sweep_world *w, unsigned number)
{
    static const sweep_part parts[] = {PART_SOLO, PART_ROOT, PART_LEAF, PART_MEMBER};
    char name[ESPL_NAME_LIMIT + 1] = "a name";

    if (number == 2) {
        memset(name, 'n', ESPL_NAME_LIMIT);
        name[ESPL_NAME_LIMIT] = '\0';
    }
    return espl_set_name(w->world, w->part[parts[number]], number == 3 ? NULL : name);
}

static espl_status run_enable(sweep_world *w, unsigned number)
{
    const espl_extent extent = (espl_extent)(number % 3);
    const espl_entity root = w->part[PART_ROOT];

    return espl_set_enabled(w->world, root, extent, number >= 3);
}

static void prepare_enable(sweep_world *w, unsigned number)
{
    if (number >= 3) {
        ck_ok(espl_set_enabled(w->world, w->part[PART_ROOT], ESPL_EXTENT_SUBTREE, false));
    }
}

// --- Components ---

static espl_status run_add(sweep_world *w, unsigned number)
{
    static const sweep_part parts[] = {PART_SOLO, PART_ROOT, PART_LEAF, PART_MEMBER, PART_BARE};
    static const espl_transform placed = {.rotation = {0, 0, 0, 1},
                                          .position = {1, 2, 3},
                                          .scale = 1,
                                          .stretch = {1, 1, 3},
                                          .user_data = 4};
    const uint32_t word = 5;
    const espl_entity entity = w->part[parts[number % 5]];

    switch (number / 5) {
    case 0:
        return espl_add_component(w->world, entity, w->word, &word, sizeof word);
    case 1:
        return espl_add_component(w->world, entity, w->link, NULL, 12);
    case 2:
        return espl_add_component(w->world, entity, w->tag, NULL, 0);
    case 3:
        return espl_add_component(w->world, entity, ESPL_TRANSFORM, &placed, sizeof placed);
    default:
        return espl_remove_component(w->world, entity, ESPL_TRANSFORM);
    }
}

typedef struct change_room {
    espl_component_value values[3];
    espl_component removed[2];
    espl_transform placed;
    uint32_t word;
} change_room;

static espl_change_def change_of(change_room *room, const sweep_world *w, unsigned number)
{
    room->word = 77;
    room->placed = test_at(3, 2, 1);
    room->placed.stretch[1] = 2;
    room->values[0] = (espl_component_value){w->word, sizeof room->word, &room->word};
    room->values[1] = (espl_component_value){w->tag, 0, NULL};
    room->values[2] = (espl_component_value){ESPL_TRANSFORM, sizeof room->placed, &room->placed};
    room->removed[0] = w->link;
    room->removed[1] = ESPL_TRANSFORM;
    switch (number % 4) {
    case 0:
        return (espl_change_def){room->values, 2, room->removed, 1};
    case 1:
        return (espl_change_def){room->values, 3, room->removed, 1};
    case 2:
        return (espl_change_def){room->values, 1, room->removed, 2};
    default:
        return (espl_change_def){NULL, 0, room->removed + 1, 1};
    }
}

static espl_status run_change(sweep_world *w, unsigned number)
{
    static const sweep_part parts[] = {PART_SOLO, PART_LEAF, PART_MEMBER, PART_ROOT};
    change_room room;
    const espl_change_def def = change_of(&room, w, number);

    return espl_change_components(w->world, w->part[parts[number / 4]], &def);
}

static espl_status run_change_array(sweep_world *w, unsigned number)
{
    change_room room;
    const espl_change_def def = change_of(&room, w, number);
    size_t refused = 0;
    const espl_status status =
        espl_change_components_array(w->world, w->all, w->count, &def, &refused);

    tell(w, status, &refused, sizeof refused);
    return status;
}

static espl_status run_change_query(sweep_world *w, unsigned number)
{
    static const espl_component roles[] = {ESPL_MEMBER, ESPL_ROOT};
    change_room room;
    const espl_change_def def = change_of(&room, w, number);
    const espl_query_def query = {.all = roles + number / 4 % 2,
                                  .all_count = number / 8 == 0 ? 1 : 0,
                                  .include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    size_t count = 0;
    const espl_status status = espl_change_components_query(w->world, &query, &def, &count);

    tell(w, status, &count, sizeof count);
    return status;
}

// --- Writes ---

// Those that may need a side array.
static espl_status run_side_write(sweep_world *w, unsigned number)
{
    static const sweep_part parts[] = {PART_SOLO, PART_ROOT, PART_LEAF};
    const espl_entity entity = w->part[parts[number / 6]];
    const float stretch[3] = {1, 3, 1};
    espl_transform value = test_at(1, 2, 3);

    value.user_data = 6;
    switch (number % 6) {
    case 0:
        return espl_set_stretch(w->world, entity, stretch);
    case 1:
        return espl_set_user_data(w->world, entity, 9);
    case 2:
        return espl_set_local_transform(w->world, entity, &value);
    case 3:
        return espl_set_world_transform(w->world, entity, &value);
    case 4:
        return espl_write_one(w->world, entity, ESPL_WRITE_MULTIPLY_STRETCH, stretch);
    default:
        return espl_set_inherit(w->world, entity, ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_FORWARD);
    }
}

// Every kind in turn, or one kind; each entity once, or twice.
static espl_status run_batch(sweep_world *w, unsigned number)
{
    espl_write writes[2 * SWEEP_ALL];
    espl_write_report report;
    uint64_t random = 7;
    size_t count = 0;

    for (uint32_t i = 0; i < w->count * (number % 2 + 1); ++i) {
        const uint32_t kind = number < 2 ? i : number / 2 * 2;

        writes[count++] =
            write_ordinary(w->all[i % w->count], (espl_write_kind)(kind % TEST_KINDS), &random);
    }
    const espl_status status = espl_write_batch(w->world, writes, count, &report);

    tell(w, status, &report.applied, sizeof report.applied);
    return status;
}

static espl_status run_arrays(sweep_world *w, unsigned number)
{
    static const float vectors[SWEEP_ALL][3] = {{1, 2, 3}, {4, 5, 6}};
    espl_transform transforms[SWEEP_ALL];

    for (uint32_t i = 0; i < w->count; ++i) {
        transforms[i] = test_at((float)i, 2, 3);
        transforms[i].user_data = i % 3;
    }
    switch (number) {
    case 0:
        return espl_write_strided(w->world, ESPL_WRITE_TRANSLATE_WORLD, w->all, w->count,
                                  sizeof(espl_entity), vectors, sizeof(float[3]), NULL);
    case 1:
        return espl_write_strided(w->world, ESPL_WRITE_LOCAL_TRANSFORM, w->all, w->count,
                                  sizeof(espl_entity), transforms, sizeof(espl_transform), NULL);
    default:
        return espl_write_strided(w->world, ESPL_WRITE_WORLD_TRANSFORM, w->all, w->count,
                                  sizeof(espl_entity), transforms, sizeof(espl_transform), NULL);
    }
}

static void push(espl_writer *writer, const espl_query *rows, void *context)
{
    static const float step[3] = {1, 0, 0};

    (void)context;
    for (size_t row = 0; row < rows->count; ++row) {
        const espl_status status =
            ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_IN_PARENT, step);

        ck_assert(status == ESPL_OK || status == ESPL_ERR_COPIES_PARENT);
    }
}

static espl_status run_parallel(sweep_world *w, unsigned number)
{
    static const espl_component all[][2] = {
        {ESPL_TRANSFORM, ESPL_MEMBER}, {ESPL_TRANSFORM, ESPL_ROOT}, {ESPL_TRANSFORM, ESPL_SOLO}};
    const espl_query_def query = {
        .all = all[number % 3], .all_count = number < 3 ? 2 : 1, .include = ESPL_INCLUDE_DISABLED};
    const espl_parallel_def def = {.query = &query,
                                   .function = push,
                                   .columns = &w->word,
                                   .column_count = number / 3,
                                   .flags = number % 2 == 1 ? ESPL_PARALLEL_TOP_DOWN : 0};
    espl_parallel_report report;
    const espl_status status = espl_write_parallel(w->world, &def, &report);

    tell(w, status, &report.rows, sizeof report.rows);
    tell(w, status, &report.jobs, sizeof report.jobs);
    return status;
}

// --- Memory ---

static espl_status run_reserve(sweep_world *w, unsigned number)
{
    const espl_component rows[] = {ESPL_TRANSFORM, w->word, w->tag, ESPL_MEMBER};
    const size_t some = test_fitting(200, 60);

    switch (number) {
    case 0:
        return espl_reserve(w->world, &(espl_reserve_def){.entities = some});
    case 1:
        return test_reserve_rows(w->world, rows, 4, some);
    case 2:
        return test_reserve_rows(w->world, rows, 1, some);
    case 3:
        return espl_reserve(w->world, &(espl_reserve_def){.writes = 100});
    case 4:
        return espl_reserve(w->world, &(espl_reserve_def){.parallel_rows = 100});
    case 5:
        return espl_reserve(w->world, &(espl_reserve_def){.watch_entities = some});
    default:
        return espl_reserve(
            w->world, &(espl_reserve_def){.side_of = w->part[number == 6 ? PART_LEAF : PART_SOLO]});
    }
}

static espl_status run_view(sweep_world *w, unsigned number)
{
    espl_view view = {0};
    const espl_status status =
        espl_view_hierarchy(w->world, w->part[number == 0 ? PART_ROOT : PART_SOLO], &view);

    if (status == ESPL_OK) {
        for (size_t rank = 0; rank < view.count; ++rank) {
            const uint32_t parent = espl_view_parent(&view, rank);

            sweep_tell(w, &parent, sizeof parent);
            sweep_tell(w, &view.shown_poses[view.first + rank], sizeof(espl_pose));
        }
    }
    return status;
}

static espl_status run_trim(sweep_world *w, unsigned number)
{
    (void)number;
    return espl_compact(w->world);
}

// --- The list ---

static const sweep_group groups[] = {
    {"create", run_create, NULL, 0, 6, {0}, {6}},
    {"create many", run_create_many, NULL, 0, 2, {0}, {2}},
    {"register a component", run_register, NULL, 0, 3, {0}, {3}},
    {"register a callback", run_register_callback, NULL, 0, 1, {0}, {1}},
    {"make commands", run_make_commands, NULL, 0, 6, {0}, {6}},
    {"instantiate", run_instantiate, NULL, 0, 9, {ONE, TREE, ALL}, {2, 5, 9}},
    {"make at once", run_make_at, NULL, 0, 7, {ONE, TREE, ALL}, {2, 5, 7}},
    {"attach", run_attach, NULL, 0, 15, {TREE, ALL}, {9, 15}},
    {"detach", run_detach, NULL, 0, 4, {TREE, ALL}, {3, 4}},
    {"set sibling", run_sibling, NULL, 0, 2, {TREE}, {2}},
    {"destroy", run_destroy, NULL, CALL_IS_SAVED, 15, {ONE, TREE, ALL}, {3, 12, 15}},
    {"destroy many", run_destroy_many, NULL, CALL_IS_SAVED, 3, {TREE}, {3}},
    {"destroy an array", run_destroy_array, NULL, CALL_IS_SAVED, 4, {TREE}, {4}},
    {"clear", run_clear, NULL, CALL_IS_SAVED, 1, {0}, {1}},
    {"attach many", run_attach_many, NULL, 0, 4, {TREE, ALL}, {3, 4}},
    {"set a name", run_set_name, NULL, 0, 4, {ONE, TREE}, {1, 4}},
    {"enable", run_enable, prepare_enable, 0, 6, {TREE}, {6}},
    {"add", run_add, NULL, 0, 25, {ALL}, {25}},
    {"change", run_change, NULL, 0, 16, {ONE, TREE}, {4, 16}},
    {"change an array", run_change_array, NULL, 0, 4, {0}, {4}},
    {"change a query", run_change_query, NULL, 0, 12, {0}, {12}},
    {"write a side", run_side_write, NULL, 0, 18, {ONE, TREE}, {5, 18}},
    {"write a batch", run_batch, NULL, 0, 12, {ONE}, {12}},
    {"write arrays", run_arrays, NULL, 0, 3, {ONE}, {3}},
    {"write in parallel", run_parallel, NULL, 0, 6, {0}, {6}},
    {"reserve", run_reserve, NULL, 0, 8, {0, TREE}, {6, 8}},
    {"view", run_view, NULL, 0, 2, {TREE}, {2}},
    {"trim", run_trim, NULL, CALL_IS_PARTIAL, 1, {0}, {1}},
};

// All groups in one row.
static const sweep_group *group_at(size_t i)
{
    return i < LENGTH(groups) ? &groups[i] : &sweep_motion_groups[i - LENGTH(groups)];
}

size_t sweep_call_count(void)
{
    size_t count = 0;

    for (size_t i = 0; i < LENGTH(groups) + sweep_motion_group_count; ++i) {
        count += group_at(i)->count;
    }
    return count;
}

static unsigned parts_of(const sweep_group *group, unsigned number)
{
    unsigned i = 0;

    while (number >= group->limits[i]) {
        i += 1;
    }
    return group->parts[i];
}

sweep_call sweep_call_at(size_t at)
{
    size_t i = 0;

    for (; at >= group_at(i)->count; ++i) {
        at -= group_at(i)->count;
    }
    const sweep_group *const g = group_at(i);
    const unsigned number = (unsigned)at;

    return (sweep_call){.name = g->name,
                        .parts = parts_of(g, number),
                        .traits = g->traits,
                        // No commands object has no lanes.
                        .number = g->run == run_make_commands ? number + 1 : number,
                        .prepare = g->prepare,
                        .run = g->run};
}
