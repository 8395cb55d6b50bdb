// SPDX-License-Identifier: MIT
// Calls that take no memory: every read, navigation, queries, hashes, and writes except the first
// that needs a side array. Each is made in many worlds whose allocator has no memory left.
#include "tests/asked.h"
#include "tests/forms.h"
#include "tests/fixture.h"
#include "tests/runner.h"
#include "tests/sweep.h"

#include <string.h>

// An entity at a time, or two.
typedef struct place {
    espl_world *w;
    espl_entity e, p; // whom it is about, and another one
    sweep_world *s;
    float f[16];
    uint32_t word;
    espl_transform t;
    espl_pose pose;
    uint64_t hash;
    char bytes[16];
    espl_entity out;
    espl_component_def def;
} place;

// Sum of what was found, so that nothing is left out.
typedef size_t (*free_call)(place *k);

// --- Reads ---

static const espl_entity none;

#define READS(X)                                                                          \
    X(is_alive, espl_is_alive(k->w, k->e))                                                \
    X(has, espl_has_component(k->w, k->e, ESPL_TRANSFORM))                                \
    X(get, espl_get_component(k->w, k->e, k->s->word, k->bytes, 4))                       \
    X(find, espl_component_find(k->w, "word"))                                            \
    X(version, espl_get_version(k->w) != 0)                                               \
    X(name, strlen(espl_get_name(k->w, k->e)))                                            \
    X(find_below, espl_find_descendant(k->w, k->p, "name", &k->out))                      \
    X(find_path, espl_find_descendant(k->w, k->p, "/a/b", &k->out))                       \
    X(path, espl_get_path(k->w, k->e, k->bytes, sizeof k->bytes))                         \
    X(dump, espl_dump(k->w, k->e, k->bytes, sizeof k->bytes))                             \
    X(component_count, espl_component_count(k->w))                                        \
    X(component_info, espl_component_info(k->w, k->s->word, &k->def))                     \
    X(destroy_none, espl_destroy_many(k->w, &k->e, 0, 0, NULL))                           \
    X(kernels, strlen(espl_world_kernels(k->w)))                                          \
    X(is_enabled, espl_is_enabled(k->w, k->e))                                            \
    X(role, espl_get_role(k->w, k->e))                                                    \
    X(parent, espl_get_parent(k->w, k->e).index)                                          \
    X(root, espl_get_root(k->w, k->e).index)                                              \
    X(link, espl_get_link(k->w, k->e))                                                    \
    X(rank, test_rank(k->w, k->e))                                                        \
    X(depth, espl_get_depth(k->w, k->e))                                                  \
    X(children, espl_get_children(k->w, k->e, 0, NULL))                                   \
    X(descendants, test_count_descendants(k->w, k->e))                                    \
    X(first_child, espl_get_first_child(k->w, k->e).index)                                \
    X(last_child, espl_get_last_child(k->w, k->e).index)                                  \
    X(previous, espl_get_previous_sibling(k->w, k->e).index)                              \
    X(next, espl_get_next_sibling(k->w, k->e).index)                                      \
    X(child_array, espl_get_children(k->w, k->p, 1, &k->out))                             \
    X(find_root, espl_find_descendant(k->w, none, "/a/b", &k->out))                       \
    X(is_ancestor, espl_is_ancestor(k->w, k->p, k->e))                                    \
    X(get_world, espl_get_world_transform(k->w, k->e, &k->t))                             \
    X(get_local, espl_get_local_transform(k->w, k->e, &k->t))                             \
    X(world_position, espl_get_world_position(k->w, k->e, k->f))                          \
    X(world_rotation, espl_get_world_rotation(k->w, k->e, k->f))                          \
    X(world_scale, espl_get_world_scale(k->w, k->e, k->f))                                \
    X(local_position, espl_get_local_position(k->w, k->e, k->f))                          \
    X(local_rotation, espl_get_local_rotation(k->w, k->e, k->f))                          \
    X(local_scale, espl_get_local_scale(k->w, k->e, k->f))                                \
    X(world_pose, espl_get_world_pose(k->w, k->e, &k->pose))                              \
    X(local_pose, espl_get_local_pose(k->w, k->e, &k->pose))                              \
    X(stretch, espl_get_stretch(k->w, k->e, k->f))                                        \
    X(context, espl_get_user_data(k->w, k->e, &k->word))                                  \
    X(relative, espl_get_relative_transform(k->w, k->p, k->e, &k->t))                     \
    X(point_out, espl_convert(k->w, k->e, ESPL_POINT_TO_WORLD, k->f, k->f))               \
    X(point_in, espl_convert(k->w, k->e, ESPL_POINT_TO_LOCAL, k->f, k->f))                \
    X(vector_out, espl_convert(k->w, k->e, ESPL_VECTOR_TO_WORLD, k->f, k->f))             \
    X(vector_in, espl_convert(k->w, k->e, ESPL_VECTOR_TO_LOCAL, k->f, k->f))              \
    X(direction_out, espl_convert(k->w, k->e, ESPL_DIRECTION_TO_WORLD, k->f, k->f))       \
    X(direction_in, espl_convert(k->w, k->e, ESPL_DIRECTION_TO_LOCAL, k->f, k->f))        \
    X(axis, espl_get_axis(k->w, k->e, ESPL_AXIS_UP, k->f))                                \
    X(is_mirrored, test_is_mirrored(k->w, k->e))                                          \
    X(matrix_3x4, espl_get_matrix(k->w, k->e, ESPL_MATRIX_3X4, k->f))                     \
    X(matrix_4x4, espl_get_matrix(k->w, k->e, ESPL_MATRIX_4X4, k->f))                     \
    X(matrix_inverse, espl_get_matrix(k->w, k->e, ESPL_MATRIX_4X4_INVERSE, k->f))         \
    X(shown, espl_read_one(k->w, k->e, ESPL_READ_SHOWN_TRANSFORM, &k->t))                 \
    X(shown_pose, espl_read_one(k->w, k->e, ESPL_READ_SHOWN_POSE, &k->pose))              \
    X(shown_position, espl_read_one(k->w, k->e, ESPL_READ_SHOWN_POSITION, k->f))          \
    X(previous_local, espl_read_one(k->w, k->e, ESPL_READ_PREVIOUS_LOCAL_POSE, &k->pose)) \
    X(previous_world, espl_read_one(k->w, k->e, ESPL_READ_PREVIOUS_WORLD_POSE, &k->pose)) \
    X(before_local, espl_read_one(k->w, k->e, ESPL_READ_BEFORE_LOCAL_POSE, &k->pose))     \
    X(before_world, espl_read_one(k->w, k->e, ESPL_READ_BEFORE_WORLD_POSE, &k->pose))     \
    X(shown_matrix, espl_get_shown_matrix(k->w, k->e, ESPL_MATRIX_4X4, k->f))             \
    X(inherit, espl_get_inherit(k->w, k->e))                                              \
    X(logical, espl_hash(k->w, ESPL_HASH_LOGICAL, &k->hash))                              \
    X(physical, espl_hash(k->w, ESPL_HASH_PHYSICAL, &k->hash))                            \
    X(validate, espl_validate(k->w, NULL))                                                \
    X(status_text, strlen(espl_status_text(espl_tape_frame(k->w))))                       \
    X(stage_name, strlen(espl_stage_name((espl_stage)k->word)))

#define CALL(name, call)                \
    static size_t call_##name(place *k) \
    {                                   \
        return (size_t)(call);          \
    }
READS(CALL)

#define NAME(name, call) call_##name,
static const free_call reads[] = {READS(NAME)};

// --- Walks ---

static size_t walk_query(place *k)
{
    const espl_component all[] = {ESPL_TRANSFORM};
    const espl_query_def def = {.all = all, .all_count = 1, .include = ESPL_INCLUDE_DISABLED};
    espl_query query;
    espl_pose shown[SWEEP_ALL];
    size_t rows = 0;

    ck_ok(espl_query_begin(k->w, &def, &query));
    while (espl_query_next(&query)) {
        rows += query.count + (espl_query_read(&query, k->s->word, 4) != NULL);
        rows += espl_query_write(&query, k->s->word, 4) != NULL;
        rows += espl_query_read_transforms(&query, ESPL_READ_SHOWN_POSE, shown, sizeof *shown) >= 0;
    }
    ck_ok(espl_query_begin(k->w, &def, &query));
    espl_query_end(&query);
    return rows;
}

static size_t walk_subtree(place *k)
{
    espl_subtree below;
    size_t count = 0;

    ck_ok(espl_subtree_begin(k->w, k->e, &below));
    while (espl_subtree_next(&below)) {
        count += 1;
    }
    ck_ok(espl_subtree_begin(k->w, k->e, &below));
    espl_subtree_end(&below);
    return count;
}

static size_t copy_subtree(place *k)
{
    espl_entity entities[SWEEP_ALL];
    uint32_t parents[SWEEP_ALL], depths[SWEEP_ALL];
    espl_transform locals[SWEEP_ALL], worlds[SWEEP_ALL], models[SWEEP_ALL];
    const espl_subtree_arrays out = {entities, parents, depths, locals, worlds, models, {0}};

    return espl_copy_subtree(k->w, k->e, ESPL_EXTENT_SUBTREE, SWEEP_ALL, &out);
}

static size_t read_stats(place *k)
{
    espl_world_stats stats;

    espl_stats(k->w, &stats);
    return stats.bytes;
}

static size_t read_commands(place *k)
{
    espl_command_buffer *const commands = k->s->waiting;
    espl_entity out = {0};

    return commands == NULL ? 0
                            : espl_command_buffer_count(commands) +
                                  (espl_command_buffer_recorder(commands, 1) != NULL) +
                                  (size_t)espl_command_buffer_result(commands, 1, 0) +
                                  (size_t)espl_command_buffer_resolve(commands, k->e, &out);
}

static size_t stand_in_line(place *k)
{
    return k->s->waiting != NULL ? (size_t)espl_command_buffer_submit(k->s->waiting) : 0;
}

static const free_call walks[] = {walk_query, walk_subtree,  copy_subtree,
                                  read_stats, read_commands, stand_in_line};

// --- Writes ---

static bool is_plain(espl_write_kind kind)
{
    const unsigned plain = test_plain_kind(kind);

    return plain != ESPL_WRITE_STRETCH && plain != ESPL_WRITE_USER_DATA &&
           plain != ESPL_WRITE_MULTIPLY_STRETCH;
}

// Every kind, with each flag, that is stored without a side array, its stretch and context those that are
// there.
static size_t write_all_kinds(place *k)
{
    uint64_t random = 3;
    size_t done = 0;

    for (uint32_t kind = 0; kind < FORM_FLAGGED; ++kind) {
        espl_write write = write_ordinary(k->e, form_flagged(kind), &random);

        if (form_type(write.kind) == VALUE_TRANSFORM) {
            write.value.transform.user_data = 0;
            for (int axis = 0; axis < 3; ++axis) {
                write.value.transform.stretch[axis] = 1;
            }
        }
        done += is_plain(write.kind) && form_write(k->w, &write, FORM_FUNCTION) >= 0;
    }
    done += espl_look_at(k->w, k->e, (float[3]){4, 5, 6}, NULL, ESPL_AXIS_FORWARD) >= 0;
    done += espl_rotate_about(k->w, k->e, (float[3]){4, 5, 6}, (float[4]){0, 0, 0, 1}) >= 0;
    done += espl_set_inherit(k->w, k->e, 0) >= 0;
    return done;
}

static size_t set_component(place *k)
{
    const uint32_t word = 7;

    return (size_t)espl_set_component(k->w, k->e, k->s->word, &word, sizeof word) + 1;
}

static size_t take_name(place *k)
{
    return espl_set_name(k->w, k->e, NULL) == ESPL_OK;
}

static size_t take_ticks(place *k)
{
    const bool has_motion = espl_tick_begin(k->w) == ESPL_OK;

    return espl_tick_end(k->w) == (has_motion ? ESPL_OK : ESPL_ERR_ARGUMENT);
}

static const free_call writes[] = {write_all_kinds, set_component, take_name, take_ticks};

// --- The tests ---

static size_t call_all(sweep_world *w, const free_call *calls, size_t count)
{
    size_t found = 0;

    for (uint32_t i = 0; i < w->count; ++i) {
        place k = {.w = w->world, .e = w->all[i], .p = w->all[0], .s = w, .f = {1, 2, 3, 4}};

        for (size_t c = 0; c < count; ++c) {
            found += calls[c](&k);
        }
    }
    return found;
}

static void demand_nothing(const sweep_scene *scene, const free_call *calls, size_t count)
{
    sweep_world w;

    sweep_world_begin(&w, scene, TEST_BLOCKS_TIGHT);
    ck_ok(espl_tape_frame(w.world)); // the first one of a tape takes memory
    test_heap_arm(&w.test.heap, 1, true);
    const size_t found = call_all(&w, calls, count);

    ck_assert_msg(w.test.heap.calls == 0, "%zu allocations in \"%s\"", w.test.heap.calls,
                  scene->name);
    ck_assert(found != 0 || w.count == 0);
    test_heap_arm(&w.test.heap, 0, false);
    sweep_world_end(&w);
}

#define LENGTH(table) (sizeof(table) / sizeof *(table))

TEST_LOOP(reading_takes_no_memory, 0, (int)sweep_scene_count)
{
    demand_nothing(&sweep_scenes[_i], reads, LENGTH(reads));
}

TEST_LOOP(walking_takes_no_memory, 0, (int)sweep_scene_count)
{
    demand_nothing(&sweep_scenes[_i], walks, LENGTH(walks));
}

TEST_LOOP(writing_takes_no_memory_where_no_side_array_is_needed, 0, (int)sweep_scene_count)
{
    demand_nothing(&sweep_scenes[_i], writes, LENGTH(writes));
}

// What was recorded and played once is recorded and played again.
TEST_LOOP(the_same_commands_take_no_memory_again, 0, (int)sweep_scene_count)
{
    const sweep_scene *const scene = &sweep_scenes[_i];
    const espl_transform place_of = test_at(1, 2, 3);
    sweep_world w;

    sweep_world_begin(&w, scene, TEST_BLOCKS_TIGHT);
    espl_command_buffer *const commands = test_commands(w.world, 1);
    for (int time = 0; time < 3; ++time) {
        // Arrays that always move take a new block at each reserve.
        test_heap_arm(&w.test.heap, time < 2 || test_moves_always() ? 0 : 1, true);
        for (uint32_t i = 0; i < w.count; ++i) {
            ck_ok(espl_record_write(espl_command_buffer_recorder(commands, 0), 0, w.all[i],
                                    ESPL_WRITE_LOCAL_TRANSFORM, &place_of));
        }
        ck_ok(espl_play(w.world, commands, NULL));
        espl_command_buffer_reset(commands);
    }
    ck_assert(w.test.heap.calls == 0 || test_moves_always());
    test_heap_arm(&w.test.heap, 0, false);
    espl_command_buffer_destroy(commands);
    sweep_world_end(&w);
}
