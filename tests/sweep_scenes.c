// SPDX-License-Identifier: MIT
// The worlds in which memory runs out. Each is made anew for every point, so they are small.
#include "tests/asserts.h"
#include "tests/inside.h"
#include "tests/sweep.h"

#include <string.h>

enum { TAG = 11, CHAIN = 9, STAR = 20, GONE = 3, DYING = 12, DEBT = 400 };

const sweep_scene sweep_scenes[] = {
    {"empty", SWEEP_EMPTY, 0},
    {"one", SWEEP_ONE, 0},
    {"pair", SWEEP_PAIR, 0},
    {"chain", SWEEP_CHAIN, 0},
    {"star", SWEEP_STAR, 0},
    {"forest", SWEEP_FOREST, 0},
    {"full run", SWEEP_FULL_RUN, 0},
    {"full chunk", SWEEP_FULL_CHUNK, 0},
    {"diverse forest", SWEEP_FOREST, SCENE_DIVERSE},
    {"forest with sides", SWEEP_FOREST, SCENE_SIDES},
    {"aged forest", SWEEP_FOREST, SCENE_AGED},
    {"trimmed forest", SWEEP_FOREST, SCENE_AGED | SCENE_TRIMMED},
    {"unsettled star", SWEEP_STAR, SCENE_UNSETTLED},
    {"forest that owes a layout", SWEEP_FOREST, SCENE_INDEBTED},
    {"unsettled forest that owes a layout", SWEEP_FOREST, SCENE_INDEBTED | SCENE_UNSETTLED},
    {"prepaid forest", SWEEP_FOREST, SCENE_PREPAID},
    {"forest beside commands", SWEEP_FOREST, SCENE_RECORDED},
    {"taped forest", SWEEP_FOREST, SCENE_TAPED | SCENE_DIVERSE},
    {"forest of four workers", SWEEP_FOREST, SCENE_SHUFFLED | SCENE_DIVERSE},
    {"ticking chain", SWEEP_CHAIN, SCENE_TICKING},
    {"ticking forest with sides", SWEEP_FOREST, SCENE_TICKING | SCENE_SIDES | SCENE_AGED},
    {"all at once", SWEEP_FOREST,
     SCENE_SHUFFLED | SCENE_DIVERSE | SCENE_SIDES | SCENE_AGED | SCENE_UNSETTLED | SCENE_RECORDED |
         SCENE_TICKING},
};

const size_t sweep_scene_count = sizeof sweep_scenes / sizeof *sweep_scenes;

static const espl_executor *next_executor;

void sweep_use(const espl_executor *executor)
{
    next_executor = executor;
}

// --- Making entities ---

static espl_entity make(sweep_world *w)
{
    ck_assert_uint_lt(w->count, SWEEP_ALL);
    const espl_entity entity = test_solo_at(w->world, (float)w->count, 1, 0);

    w->all[w->count++] = entity;
    return entity;
}

static espl_entity make_below(sweep_world *w, espl_entity parent)
{
    const espl_entity child = make(w);

    ck_ok(espl_attach(w->world, child, parent, NULL));
    return child;
}

static void destroy(sweep_world *w, uint32_t number)
{
    ck_ok(espl_destroy(w->world, w->all[number], ESPL_EXTENT_ENTITY));
    memmove(w->all + number, w->all + number + 1, (w->count - number - 1) * sizeof *w->all);
    w->count -= 1;
}

// A hierarchy of so many nodes, node i below node (i - 1) / fan.
static espl_entity make_tree(sweep_world *w, uint32_t size, uint32_t fan)
{
    const uint32_t first = w->count;
    const espl_entity root = make(w);

    for (uint32_t i = 1; i < size; ++i) {
        (void)make_below(w, w->all[first + (i - 1) / fan]);
    }
    return root;
}

static void name_parts(sweep_world *w, uint32_t root, uint32_t size)
{
    w->part[PART_ROOT] = w->all[root];
    w->part[PART_MEMBER] = w->all[root + 1];
    w->part[PART_LEAF] = w->all[root + size - 1];
}

// --- Shapes ---

// A member without placement, below which another one hangs.
static void make_bare(sweep_world *w)
{
    const espl_component word = w->word;
    espl_entity bare = {0};

    ck_ok(espl_create(w->world, &word, 1, 1, &bare));
    w->all[w->count++] = bare;
    ck_ok(espl_attach(w->world, bare, w->part[PART_ROOT], NULL));
    (void)make_below(w, bare);
    w->part[PART_BARE] = bare;
}

typedef struct link_value {
    uint32_t word;
    espl_entity to;
} link_value;

// Three that name each other in a ring.
static void make_prefab(sweep_world *w)
{
    const uint32_t first = w->count;

    w->part[PART_PREFAB] = make_tree(w, 3, 2);
    for (uint32_t i = 0; i < 3; ++i) {
        const link_value value = {i, w->all[first + (i + 1) % 3]};

        ck_ok(espl_add_component(w->world, w->all[first + i], w->link, &value, sizeof value));
    }
    ck_ok(espl_add_component(w->world, w->part[PART_PREFAB], ESPL_PREFAB, NULL, 0));
}

static void make_forest(sweep_world *w)
{
    (void)make_tree(w, SWEEP_MEMBERS, 2);
    name_parts(w, 0, SWEEP_MEMBERS);
    w->part[PART_OTHER] = make_tree(w, 4, 3);
    make_bare(w);
    make_prefab(w);
}

// Until the hierarchy needs memory for one more member: its rows are there, so it needs room.
static void fill_run(sweep_world *w)
{
    const espl_component rows[] = {ESPL_TRANSFORM, ESPL_MEMBER};

    (void)make_tree(w, 5, 4);
    name_parts(w, 0, 5);
    ck_ok(test_reserve_rows(w->world, rows, 2, SWEEP_ALL));
    for (espl_status status = ESPL_OK; status == ESPL_OK;) {
        const espl_entity child = make(w);

        test_heap_arm(&w->test.heap, 1, true);
        status = espl_attach(w->world, child, w->part[PART_MEMBER], NULL);
        test_heap_arm(&w->test.heap, 0, false);
        if (status == ESPL_OK) {
            w->part[PART_LEAF] = child;
        } else {
            ck_status(status, ESPL_ERR_NO_MEMORY);
            destroy(w, w->count - 1);
        }
    }
}

static void fill_chunk(sweep_world *w)
{
    const size_t rows = test_limits_of_build().rows;

    (void)make_tree(w, 2, 1);
    name_parts(w, 0, 2);
    test_solos(w->world, rows, w->all + w->count);
    w->count += (uint32_t)rows;
}

static void make_shape(sweep_world *w, sweep_shape shape)
{
    if (shape == SWEEP_PAIR || shape == SWEEP_CHAIN) {
        const uint32_t size = shape == SWEEP_PAIR ? 2 : CHAIN;

        (void)make_tree(w, size, 1);
        name_parts(w, 0, size);
    } else if (shape == SWEEP_STAR) {
        (void)make_tree(w, STAR, STAR);
        name_parts(w, 0, STAR);
    } else if (shape == SWEEP_FOREST) {
        make_forest(w);
    } else if (shape == SWEEP_FULL_RUN) {
        fill_run(w);
    } else if (shape == SWEEP_FULL_CHUNK) {
        fill_chunk(w);
    }
    if (shape != SWEEP_EMPTY) {
        w->part[PART_SOLO] = make(w);
    }
}

// --- What else a scene has ---

static void make_diverse(sweep_world *w)
{
    const uint32_t count = w->count;

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t word = 100 + i;
        const espl_component sets[] = {w->word, w->tag};

        if (i % 3 != 2) {
            ck_ok(espl_add_component(w->world, w->all[i], sets[i % 3], i % 3 == 0 ? &word : NULL,
                                     i % 3 == 0 ? sizeof word : 0));
        }
        if (i % 2 == 0) {
            ck_ok(espl_set_name(w->world, w->all[i], i % 4 == 0 ? "first" : "other"));
        }
    }
    ck_ok(espl_set_enabled(w->world, w->part[PART_LEAF], ESPL_EXTENT_ENTITY, false));
}

static void make_sides(sweep_world *w)
{
    const float stretch[3] = {1, 2, 1};
    const espl_entity leaf = w->part[PART_LEAF], member = w->part[PART_MEMBER];

    ck_ok(espl_set_stretch(w->world, w->part[PART_ROOT], stretch));
    ck_ok(espl_set_user_data(w->world, leaf, 7));
    ck_ok(espl_set_inherit(w->world, member, ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_UP));
}

static void move_some(sweep_world *w, uint32_t first)
{
    const float step[3] = {1, 0.5f, 0}, turn[4] = {0, 0.1f, 0, 1};

    for (uint32_t i = first; i < w->count; i += 3) {
        const espl_status status =
            espl_write_one(w->world, w->all[i], ESPL_WRITE_TRANSLATE_OWN, step);

        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_TRANSFORM);
        (void)!espl_write_one(w->world, w->all[i], ESPL_WRITE_ROTATE_OWN, turn);
    }
}

void sweep_take_ticks(sweep_world *w)
{
    const espl_status status = espl_motion_start(w->world, &(espl_motion_def){.history = 2});

    ck_assert(status == ESPL_OK || status == ESPL_ERR_EXISTS);
    ck_ok(espl_tick_begin(w->world));
    move_some(w, 0);
    ck_ok(espl_tick_begin(w->world));
    move_some(w, 1);
    ck_ok(espl_present(w->world, 0.5f, NULL));
    move_some(w, 2);
}

static void begin_ticks(sweep_world *w)
{
    const espl_watch_def def = {.flags = ESPL_WATCH_SHOWN | ESPL_WATCH_LOCAL | ESPL_WATCH_BEFORE};
    espl_changes changes;

    ck_ok(espl_motion_start(w->world, &(espl_motion_def){.history = 2}));
    ck_ok(espl_watch_create(w->world, &def, &w->watches[WATCH_OF_SCENE]));
    ck_ok(espl_watch_collect(w->watches[WATCH_OF_SCENE], 0, &changes));
    sweep_take_ticks(w);
}

// Entities that come and go leave free slots and free indices.
static void grow_old(sweep_world *w)
{
    const uint32_t first = w->count;

    for (uint32_t i = 0; i < 9; ++i) {
        (void)make_below(w, i % 2 == 0 ? w->part[PART_ROOT] : w->part[PART_MEMBER]);
    }
    for (uint32_t i = 0; i < GONE; ++i) {
        destroy(w, first + i);
        ck_ok(espl_attach(w->world, w->all[first + 2 + i], w->part[PART_OTHER], NULL));
    }
    ck_ok(espl_detach(w->world, w->all[first + 4], ESPL_KEEP_WORLD));
}

// Many die below a root, a root loses its only member, and another root dies above two others, while
// nothing can be allocated: roles are settled later, and the range of the last one is divided later.
static void put_off(sweep_world *w)
{
    const uint32_t top = w->count;

    (void)make_tree(w, 5, 2);
    const uint32_t pair = w->count;

    (void)make_tree(w, 2, 1);
    for (uint32_t i = 0; i < DYING; ++i) {
        (void)make_below(w, w->part[PART_ROOT]);
    }
    test_free_scratch(w->world);
    test_heap_arm(&w->test.heap, 1, true);
    while (w->count > pair + 1) {
        destroy(w, w->count - 1);
    }
    destroy(w, top);
    test_heap_arm(&w->test.heap, 0, false);
    w->part[PART_SOLO] = w->all[top + 1];
}

// Writes to a hierarchy that is not in order owe a layout.
static void run_up_debt(sweep_world *w)
{
    const espl_entity root = w->part[PART_ROOT];
    const float step[3] = {0.5f, 0, 0};

    ck_ok(espl_attach(w->world, w->part[PART_LEAF], root, NULL));
    ck_ok(espl_move_before(w->world, espl_get_last_child(w->world, root), w->part[PART_MEMBER]));
    ck_assert(!test_is_laid_out(w->world, root));
    for (int i = 0; i < DEBT; ++i) {
        ck_ok(espl_write_one(w->world, w->part[PART_MEMBER], ESPL_WRITE_TRANSLATE_IN_PARENT, step));
    }
    ck_assert(test_owes_layout(w->world, root));
}

static void prepay(sweep_world *w)
{
    const espl_component rows[] = {ESPL_TRANSFORM, ESPL_MEMBER};

    ck_ok(espl_reserve(w->world, &(espl_reserve_def){.entities = 20}));
    ck_ok(test_reserve_rows(w->world, rows, 2, 20));
    ck_ok(test_reserve_rows(w->world, rows, 1, 20));
    ck_ok(espl_reserve(w->world, &(espl_reserve_def){.writes = 40}));
    ck_ok(espl_reserve(w->world, &(espl_reserve_def){.parallel_rows = 40}));
    ck_ok(espl_reserve(w->world, &(espl_reserve_def){.side_of = w->part[PART_ROOT]}));
}

static void leave_commands(sweep_world *w)
{
    const espl_instance_def def = {.source = w->part[PART_ROOT]};
    espl_entity pending = {0};

    ck_ok(espl_command_buffer_create(w->world, 2, &w->waiting));
    espl_recorder *const lane = espl_command_buffer_recorder(w->waiting, 1);
    ck_ok(espl_record_instantiate(lane, 3, &def, 2, NULL));
    ck_ok(espl_record_instantiate(lane, 1, &def, 1, &pending));
    ck_ok(espl_record_destroy(lane, 2, pending, ESPL_EXTENT_OWNED));
}

static void make_rest(sweep_world *w, unsigned has)
{
    void (*const makes[])(sweep_world *) = {make_diverse, make_sides, begin_ticks,    grow_old,
                                            put_off,      prepay,     leave_commands, run_up_debt};
    const unsigned bits[] = {SCENE_DIVERSE,   SCENE_SIDES,   SCENE_TICKING,  SCENE_AGED,
                             SCENE_UNSETTLED, SCENE_PREPAID, SCENE_RECORDED, SCENE_INDEBTED};

    for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i) {
        if ((has & bits[i]) != 0) {
            makes[i](w);
        }
    }
    if ((has & SCENE_TRIMMED) != 0) {
        ck_ok(espl_compact(w->world));
    }
}

// --- Worlds ---

static void append(void *user, const void *bytes, size_t size)
{
    sweep_world *const w = user;

    w->taped = test_hash_bytes(w->taped, bytes, size);
}

static void hear(void *user, const espl_custom_calls *calls)
{
    sweep_world *const w = user;

    for (size_t i = 0; i < calls->count; ++i) {
        const espl_custom_payload *const payload = &calls->payloads[i];

        w->heard = test_hash_bytes(w->heard, payload->data, payload->size);
        w->heard = test_hash_bytes(w->heard, &payload->key, sizeof payload->key);
    }
}

static void make_components(sweep_world *w)
{
    static const uint32_t at[1] = {4};
    const espl_component_def link = {.name = "link",
                                     .size = sizeof(link_value),
                                     .alignment = 4,
                                     .references = at,
                                     .reference_count = 1};
    const espl_custom_command_def callback = {.name = "hear", .user = w, .function = hear};

    w->word = test_component(w->world, "word", 4, 4);
    ck_ok(espl_component_register(w->world, &link, &w->link));
    w->tag = test_component(w->world, "tag", 0, 0);
    ck_ok(espl_command_register(w->world, &callback, &w->callback));
}

void sweep_world_begin(sweep_world *w, const sweep_scene *scene, test_blocks kind)
{
    const bool is_shuffled = (scene->has & SCENE_SHUFFLED) != 0;

    memset(w, 0, sizeof *w);
    w->answer = w->heard = w->taped = TEST_HASH_START;
    w->executor = (test_executor){.manner = TEST_SHUFFLED, .workers = 4, .random = 3};
    const espl_executor shuffled = test_executor_of(&w->executor);
    if ((scene->has & SCENE_TAPED) != 0) {
        test_world_record((espl_tape){w, append});
    }
    test_world_take(kind);
    test_world_begin(&w->test, TAG, is_shuffled ? &shuffled : next_executor);
    w->world = w->test.world;
    if (is_shuffled || next_executor != NULL) {
        test_cut_jobs(w->world, 4);
    }
    make_components(w);
    make_shape(w, scene->shape);
    make_rest(w, scene->has);
}

void sweep_world_end(sweep_world *w)
{
    for (size_t i = 0; i < SWEEP_WATCHES; ++i) {
        espl_watch_destroy(w->watches[i]);
    }
    espl_command_buffer_destroy(w->waiting);
    espl_command_buffer_destroy(w->commands[0]);
    espl_command_buffer_destroy(w->commands[1]);
    test_world_end(&w->test);
}

void sweep_tell(sweep_world *w, const void *bytes, size_t size)
{
    w->answer = test_hash_bytes(w->answer, bytes, size);
}

// --- What fits ---

static unsigned parts_of(sweep_shape shape)
{
    const unsigned one = PART_BIT(PART_SOLO);
    const unsigned tree = one | PART_BIT(PART_ROOT) | PART_BIT(PART_MEMBER) | PART_BIT(PART_LEAF);

    switch (shape) {
    case SWEEP_EMPTY:
        return 0;
    case SWEEP_ONE:
        return one;
    case SWEEP_FOREST:
        return tree | PART_BIT(PART_OTHER) | PART_BIT(PART_BARE) | PART_BIT(PART_PREFAB);
    case SWEEP_PAIR:
    case SWEEP_CHAIN:
    case SWEEP_STAR:
    case SWEEP_FULL_RUN:
    case SWEEP_FULL_CHUNK:
        break;
    }
    return tree;
}

bool sweep_fits(const sweep_scene *scene, const sweep_call *call)
{
    return (call->parts & ~parts_of(scene->shape)) == 0;
}
