// SPDX-License-Identifier: MIT
// Faults that other systems of this kind had with stale handles, membership, iterations and
// numbers. Each test would have found its fault here. The letters name the entry in tests/BUGS.md.
#include "tests/fixture.h"
#include "tests/one_world.h"

#include <math.h>
#include <string.h>

// --- B: stale handles ---

// Every handle that a world gave out, and whether it should live.
typedef struct book {
    espl_entity handle[512];
    bool is_living[512];
    size_t count, living;
} book;

static void note(book *b, espl_entity entity)
{
    ck_assert_uint_lt(b->count, 512);
    for (size_t i = 0; i < b->count; ++i) {
        ck_assert(!espl_entity_equal(b->handle[i], entity)); // never given out before
    }
    b->handle[b->count] = entity;
    b->is_living[b->count++] = true;
    b->living += 1;
}

static void strike_out(book *b, espl_world *world, size_t at)
{
    ck_ok(espl_destroy(world, b->handle[at], ESPL_EXTENT_OWNED));
    b->is_living[at] = false;
    b->living -= 1;
}

// Some living entry; there is one.
static size_t pick(const book *b, uint64_t *random)
{
    size_t at = test_below(random, (uint32_t)b->count);

    while (!b->is_living[at]) {
        at = (at + 1) % b->count;
    }
    return at;
}

// The world knows the living by exactly these handles, in queries too, and none of the others.
static void check_book(const book *b, espl_world *world)
{
    espl_query query;
    size_t met = 0;

    for (size_t i = 0; i < b->count; ++i) {
        ck_assert(espl_is_alive(world, b->handle[i]) == b->is_living[i]);
    }
    ck_ok(espl_query_begin(world, NULL, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row, ++met) {
            size_t at = 0;

            while (at < b->count && !espl_entity_equal(b->handle[at], query.entities[row])) {
                at += 1;
            }
            ck_assert(at < b->count && b->is_living[at]);
        }
    }
    ck_assert_uint_eq(met, b->living);
}

FIXTURE(set_up, tear_down);

TEST(b4_a_handle_comes_back_bit_for_bit_and_names_one_life_only)
{
    uint64_t random = 4;
    book b = {.count = 0};

    for (int step = 0; step < 600 && b.count < 500; ++step) {
        if (b.living < 2 || (b.living < 30 && test_one_in(&random, 2))) {
            note(&b, test_solo(w));
        } else {
            strike_out(&b, w, pick(&b, &random));
        }
        if (b.living >= 2 && test_one_in(&random, 4)) {
            const espl_entity child = b.handle[pick(&b, &random)];
            const espl_entity parent = b.handle[pick(&b, &random)];
            const espl_attach_options options = {.link = ESPL_LINK_FREE};

            if (espl_attach(w, child, parent, &options) == ESPL_OK) {
                ck_assert(espl_entity_equal(espl_get_parent(w, child), parent));
            }
        }
        check_book(&b, w);
    }
}

// However an entity is made: created, cloned at once, cloned by a playback, after a trim.
TEST(b7_the_generation_of_an_index_only_goes_up)
{
    enum { INDICES = 64 };
    const uint32_t lives = (uint32_t)test_limits_of_build().lives;
    uint32_t last[INDICES] = {0};

    const espl_entity source = test_solo(w);
    for (uint32_t round = 0; round < 12 && round < lives; ++round) {
        const espl_instance_def def = {.source = source};
        espl_entity made[9];

        ck_ok(espl_create(w, NULL, 0, 3, made));
        ck_ok(espl_instantiate(w, &(espl_instance_def){.source = source}, 3, made + 3));
        espl_command_buffer *const commands = test_commands(w, 1);
        ck_ok(espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, 3,
                                      made + 6));
        ck_ok(espl_play(w, commands, NULL));
        for (int i = 6; i < 9; ++i) {
            ck_ok(espl_command_buffer_resolve(commands, made[i], &made[i]));
        }
        espl_command_buffer_destroy(commands);
        for (int i = 0; i < 9; ++i) {
            ck_assert_uint_lt(made[i].index, INDICES);
            ck_assert_uint_gt(made[i].generation, last[made[i].index]);
            last[made[i].index] = made[i].generation;
            ck_ok(espl_destroy(w, made[(i * 4) % 9], ESPL_EXTENT_OWNED));
        }
        ck_ok(espl_compact(w));
    }
}

// --- B: rows ---

static espl_entity attached(espl_world *world, espl_entity parent, espl_link link)
{
    espl_attach_options options = test_keep_local;
    const espl_entity child = test_solo(world);

    options.link = link;
    ck_ok(espl_attach(world, child, parent, &options));
    return child;
}

// --- C: what a destroy leaves ---

static const espl_extent extents[3] = {ESPL_EXTENT_OWNED, ESPL_EXTENT_SUBTREE, ESPL_EXTENT_ENTITY};

// Each list there is, without an element.
TEST(c12_an_empty_list_is_no_matter_anywhere)
{
    espl_entity clone = {0};
    espl_query query;
    espl_report report;

    const espl_component lonely = test_component(w, "lonely", 0, 0);
    const espl_query_def nobody = {.all = &lonely, .all_count = 1};
    const espl_change_def nothing = {.add_count = 0};
    const espl_entity leaf = test_solo(w);
    const uint64_t before = test_physical_hash(w);

    ck_ok(espl_create(w, NULL, 0, 0, NULL));
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = leaf}, 0, NULL));
    ck_ok(espl_write_batch(w, NULL, 0, NULL));
    ck_ok(espl_change_components(w, leaf, &nothing));
    ck_ok(espl_change_components_array(w, NULL, 0, &nothing, NULL));
    ck_ok(espl_change_components_query(w, &nobody, &nothing, NULL));
    ck_ok(espl_query_begin(w, &nobody, &query));
    ck_assert(!espl_query_next(&query) && !espl_query_next(&query));
    espl_command_buffer *const commands = test_commands(w, 2);
    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(report.accepted, 0);
    ck_ok(espl_sync(w, &report));
    ck_assert_uint_eq(test_physical_hash(w), before);

    // A closure without members but the top, in each of the destroys and as a source.
    for (int kind = 0; kind < 3; ++kind) {
        ck_ok(espl_instantiate(w, &(espl_instance_def){.source = leaf}, 1, &clone));
        ck_ok(espl_destroy(w, clone, extents[kind]));
        ck_assert(!espl_is_alive(w, clone));
    }
    espl_command_buffer_destroy(commands);
}

// --- E: changes in the middle of an iteration ---

enum { CROWD = 50 };

typedef struct crowd {
    test_world test;
    espl_world *world;
    espl_component number;
    espl_entity entity[CROWD]; // a root and its children, every other one with a number
    espl_command_buffer *commands;
} crowd;

static crowd c;

static void crowd_begin(void)
{
    memset(&c, 0, sizeof c);
    test_world_begin(&c.test, 0, NULL);
    c.world = c.test.world;
    c.number = test_component(c.world, "number", 4, 4);
    c.entity[0] = test_solo(c.world);
    for (uint32_t i = 1; i < CROWD; ++i) {
        c.entity[i] = attached(c.world, c.entity[0], ESPL_LINK_OWNED);
    }
    for (uint32_t i = 0; i < CROWD; i += 2) {
        ck_ok(espl_add_component(c.world, c.entity[i], c.number, &i, sizeof i));
    }
    ck_ok(espl_command_buffer_create(c.world, 1, &c.commands));
}

static void crowd_end(void)
{
    espl_command_buffer_destroy(c.commands);
    test_world_end(&c.test);
}

// --- E: nesting, contexts, aliases, growth ---

TEST(e6_iterations_end_in_any_order_and_the_last_one_frees_the_world)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (int order = 0; order < 6; ++order) {
        espl_query query[2];
        espl_subtree below;

        crowd_begin();
        ck_ok(espl_query_begin(c.world, NULL, &query[0]));
        ck_assert(espl_query_next(&query[0]));
        ck_ok(espl_subtree_begin(c.world, c.entity[0], &below));
        ck_assert(espl_subtree_next(&below));
        ck_ok(espl_query_begin(c.world, NULL, &query[1]));
        for (int i = 0; i < 3; ++i) {
            ck_status(espl_destroy(c.world, c.entity[5], ESPL_EXTENT_OWNED), ESPL_ERR_BUSY);
            for (int twice = 0; twice < 2; ++twice) {
                if (orders[order][i] == 2) {
                    espl_subtree_end(&below);
                } else {
                    espl_query_end(&query[orders[order][i]]);
                }
            }
        }
        ck_ok(espl_destroy(c.world, c.entity[5], ESPL_EXTENT_OWNED));
        crowd_end();
    }
}

// Where the entities and values of the first chunk stand in the world's own memory.
static const espl_entity *own_rows(const uint32_t **column, size_t *count)
{
    const espl_query_def def = {.all = &c.number, .all_count = 1};
    espl_query query;

    ck_ok(espl_query_begin(c.world, &def, &query));
    ck_assert(espl_query_next(&query));
    const espl_entity *const entities = query.entities;
    *column = espl_query_read(&query, c.number, sizeof **column);
    *count = query.count;
    espl_query_end(&query);
    return entities;
}

TEST(e9_memory_of_the_world_itself_may_be_the_input)
{
    const uint32_t *column = NULL;
    size_t count = 0;
    uint32_t got = 0;
    espl_entity copy[CROWD];

    crowd_begin();
    const espl_component twin = test_component(c.world, "twin", 4, 4);
    const espl_entity *entities = own_rows(&column, &count);
    memcpy(copy, entities, count * sizeof *copy);
    const uint32_t first = column[0], last = column[count - 1];

    // A value onto itself, and one that stands in the row which the call moves away.
    ck_ok(espl_set_component(c.world, copy[0], c.number, column, sizeof *column));
    ck_ok(espl_set_component(c.world, copy[0], c.number, &column[count - 1], sizeof *column));
    ck_ok(espl_get_component(c.world, copy[0], c.number, &got, sizeof got));
    ck_assert_uint_eq(got, last);
    ck_ok(espl_set_component(c.world, copy[0], c.number, &first, sizeof first));
    ck_ok(espl_add_component(c.world, copy[0], twin, column, sizeof *column));
    ck_ok(espl_get_component(c.world, copy[0], twin, &got, sizeof got));
    ck_assert_uint_eq(got, first);

    // The handles of a chunk whose rows all leave it, and a value out of it for all of them.
    entities = own_rows(&column, &count);
    memcpy(copy, entities, count * sizeof *copy);
    const uint32_t given = column[count / 2];
    const espl_component_value value = {twin, sizeof given, &column[count / 2]};
    const espl_change_def change = {
        .add = &value, .add_count = 1, .remove = &c.number, .remove_count = 1};
    ck_ok(espl_change_components_array(c.world, entities, count, &change, NULL));
    for (size_t i = 0; i < count; ++i) {
        ck_assert(!espl_has_component(c.world, copy[i], c.number));
        ck_ok(espl_get_component(c.world, copy[i], twin, &got, sizeof got));
        ck_assert_uint_eq(got, given);
    }
    test_world_is_valid(c.world);
    crowd_end();
}

TEST(e9_the_handles_of_a_chunk_may_be_written_in_a_batch)
{
    const uint32_t *column = NULL;
    size_t count = 0;
    float values[CROWD][3];

    crowd_begin();
    const espl_entity *const entities = own_rows(&column, &count);
    for (size_t i = 0; i < count; ++i) {
        values[i][0] = (float)i;
        values[i][1] = values[i][2] = 1;
    }
    ck_ok(espl_write_strided(c.world, ESPL_WRITE_LOCAL_POSITION, entities, count,
                             sizeof(espl_entity), (const float(*)[3])values, sizeof(float[3]),
                             NULL));
    for (size_t i = 0; i < count; ++i) {
        ck_assert_float_eq(test_local_of(c.world, entities[i]).position[0], (float)i);
    }
    crowd_end();
}

// One buffer for all names: what was copied from it stays, what was not is lost.
static const char *name_of(uint32_t i, char *buffer)
{
    memcpy(buffer, "kind??", 7);
    buffer[4] = (char)('0' + i / 10);
    buffer[5] = (char)('0' + i % 10);
    return buffer;
}

// Names, archetypes, chunks, runs and records grow one by one; each time all that stood before is
// found where it is now. The test's heap never grows a block in place.
TEST(e10_nothing_points_where_a_grown_container_was)
{
    enum { STEPS = 40 };
    espl_component kind[STEPS];
    espl_entity entity[STEPS];
    char name[8];

    for (uint32_t i = 0; i < STEPS; ++i) {
        kind[i] = test_component(w, name_of(i, name), 4, 4);
        const espl_component set[2] = {ESPL_TRANSFORM, kind[i]};
        ck_ok(espl_create(w, set, 2, 1, &entity[i]));
        ck_ok(espl_set_component(w, entity[i], kind[i], &i, sizeof i));
        if (i > 0) {
            ck_ok(espl_attach(w, entity[i], entity[i / 2], NULL));
        }
        for (uint32_t k = 0; k <= i; ++k) {
            uint32_t got = UINT32_MAX;
            const espl_entity parent = k == 0 ? espl_entity_null() : entity[k / 2];

            ck_assert_uint_eq(espl_component_find(w, name_of(k, name)), kind[k]);
            ck_ok(espl_get_component(w, entity[k], kind[k], &got, sizeof got));
            ck_assert_uint_eq(got, k);
            ck_assert(espl_entity_equal(espl_get_parent(w, entity[k]), parent));
        }
    }
}

static void position_of(const espl_world *world, espl_entity entity, float out[3])
{
    ck_ok(espl_get_world_position(world, entity, out));
}

// --- I: numbers ---

static espl_transform random_placement(uint64_t *random)
{
    espl_transform t = espl_transform_identity();

    for (int i = 0; i < 4; ++i) {
        t.rotation[i] = test_between(random, -1, 1);
    }
    t.rotation[3] += t.rotation[3] < 0 ? -0.25f : 0.25f;
    for (int i = 0; i < 3; ++i) {
        t.position[i] = test_between(random, -10, 10);
        t.stretch[i] = test_between(random, 0.25f, 4);
    }
    t.scale = test_between(random, 0.25f, 4) * (test_one_in(random, 4) ? -1.0f : 1.0f);
    ck_ok(espl_transform_normalize(&t));
    return t;
}

// A turned child under a stretched parent has no shear to lose: it keeps place, turn and shape.
TEST(i5_nothing_is_sheared_by_a_change_of_parent_under_a_stretch)
{
    const espl_entity up = test_solo(w), down = test_solo(w);
    uint64_t random = 5;

    for (int round = 0; round < 1000; ++round) {
        const espl_transform parent = random_placement(&random), child = random_placement(&random);
        float before[16], after[16];

        ck_ok(espl_set_local_transform(w, up, &parent));
        ck_ok(espl_set_local_transform(w, down, &child));
        ck_ok(espl_get_matrix(w, down, ESPL_MATRIX_4X4, before));
        ck_ok(espl_attach(w, down, up, NULL));
        ck_ok(espl_get_matrix(w, down, ESPL_MATRIX_4X4, after));
        for (int i = 0; i < 16; ++i) {
            ck_assert_double_le(fabs((double)before[i] - (double)after[i]), 1e-4);
        }
        ck_ok(espl_detach(w, down, ESPL_KEEP_WORLD));
    }
}

// Steps of a millimetre ten thousand kilometres out: what a float holds, and the same bits batched.
TEST(i7_small_steps_far_out_are_the_same_batched_and_single)
{
    const float far = 1e7f, step[3] = {1e-3f, 1, -1e-3f};
    float single[3], batched[3], expected[3] = {far, far, far};

    const espl_entity a = test_solo_at(w, far, far, far);
    const espl_entity b = test_solo_at(w, far, far, far);
    const espl_write write = write_vector(b, ESPL_WRITE_TRANSLATE_WORLD, step[0], step[1], step[2]);

    for (int i = 0; i < 1000; ++i) {
        ck_ok(espl_write_one(w, a, ESPL_WRITE_TRANSLATE_WORLD, step));
        ck_ok(espl_write_batch(w, &write, 1, NULL));
        for (int k = 0; k < 3; ++k) {
            expected[k] += step[k];
        }
    }
    position_of(w, a, single);
    position_of(w, b, batched);
    ck_assert(memcmp(single, expected, sizeof single) == 0);
    ck_assert(memcmp(single, batched, sizeof single) == 0);
}

TEST(i9_no_placement_is_refused_as_a_matrix)
{
    uint64_t random = 9;

    for (size_t i = 0; i < test_scaled(100000); ++i) {
        const espl_transform t = random_placement(&random);
        espl_transform found;
        float columns[16], residual = 1;

        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        ck_ok(espl_transform_from_matrix(columns, &found, &residual));
        ck_assert_float_le(residual, 2e-6f);
    }
}

// The inverse takes the offset back by the parent's rotation before it divides: against doubles.
TEST(i11_the_inverse_scale_meets_the_right_part_of_the_translation)
{
    const espl_entity a = test_solo(w), b = test_solo(w);
    uint64_t random = 11;

    for (int round = 0; round < 2000; ++round) {
        const espl_transform frame = random_placement(&random), other = random_placement(&random);
        espl_transform seen;
        double columns[3][3], back[3] = {0, 0, 0};
        float matrix[16];

        ck_ok(espl_set_local_transform(w, a, &frame));
        ck_ok(espl_set_local_transform(w, b, &other));
        ck_ok(espl_get_relative_transform(w, a, b, &seen));
        ck_ok(espl_get_matrix(w, a, ESPL_MATRIX_4X4, matrix));
        for (int i = 0; i < 9; ++i) {
            columns[i / 3][i % 3] = (double)matrix[4 * (i / 3) + i % 3];
        }
        for (int axis = 0; axis < 3; ++axis) {
            for (int k = 0; k < 3; ++k) {
                back[k] += columns[axis][k] * (double)seen.position[axis];
            }
        }
        for (int k = 0; k < 3; ++k) {
            const double off = (double)other.position[k] - (double)frame.position[k] - back[k];

            ck_assert_double_le(fabs(off), 1e-4);
        }
    }
}
