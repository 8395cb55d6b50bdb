// SPDX-License-Identifier: MIT
// Histories at random: a world that is led astray between two batches and goes back goes on as one that was
// not, bit for bit. The allocator refuses everything during marks and rewinds.
#include "lib/value/image.h"
#include "lib/value/manifest.h"
#include "tests/fixture.h"
#include "tests/images.h"
#include "tests/runner.h"
#include "tests/stage.h"

#include <stdio.h>
#include <string.h>

// --- Other changes ---

static void ignore(espl_status status)
{
    (void)status;
}

// Return a handle of any index, mostly of a living one; null where there is none.
static espl_entity any_entity(const espl_world *world, uint64_t *random)
{
    const size_t count = espl__array_length(world->store.records);

    for (int i = 0; i < 8 && count != 0; ++i) {
        const espl_entity entity =
            espl__entity_at(&world->store, (uint32_t)test_below(random, (uint32_t)count));

        if (espl_is_alive(world, entity)) {
            return entity;
        }
    }
    return test_null;
}

// Return the bytes of a value of a component that may not be registered.
static size_t size_of(const espl_world *world, espl_component component)
{
    const espl__component_info *const info = espl__component_info_of(&world->store, component);

    return component == ESPL_TRANSFORM ? sizeof(espl_transform) : info != NULL ? info->size : 0;
}

static void rename_one(espl_world *world, uint64_t *random, espl_entity entity)
{
    static const char *const names[] = {"", "one", "two", "a much longer name than these"};

    ignore(espl_set_name(world, entity, names[test_below(random, 4)]));
}

static void write_one(espl_world *world, uint64_t *random, espl_entity entity)
{
    const float number = (float)test_below(random, 100);
    espl_transform transform = test_at(number, 1, 2);

    if (test_one_in(random, 4)) {
        transform.stretch[1] = 1 + number;
    }
    if (test_one_in(random, 4)) {
        transform.user_data = (uint32_t)number;
    }
    ignore(espl_set_local_transform(world, entity, &transform));
}

static void step_motion(espl_world *world, uint64_t *random)
{
    if (test_one_in(random, 2)) {
        ignore(espl_tick_begin(world));
    } else {
        ignore(espl_tick_end(world));
    }
}

// Do one thing to a world, whatever becomes of it.
static void disturb(espl_world *world, uint64_t *random)
{
    static const uint32_t inherit[] = {0, ESPL_ABSOLUTE_POSITION, ESPL_COPY_PARENT,
                                       ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE};
    const espl_entity entity = any_entity(world, random), other = any_entity(world, random);
    const espl_component component = 1 + (espl_component)test_below(random, 9);
    espl_entity made[24];

    switch (test_below(random, 14)) {
    case 0:
        ignore(espl_create(world, NULL, 0, test_below(random, 20) + 1, made));
        break;
    case 1:
        ignore(espl_create(world, &(espl_component){ESPL_TRANSFORM}, 1, test_below(random, 20) + 1,
                           made));
        break;
    case 2:
    case 3:
        ignore(espl_create_node(world, entity, NULL, NULL, made));
        break;
    case 4:
        ignore(espl_destroy(world, entity,
                            test_one_in(random, 2) ? ESPL_EXTENT_ENTITY : ESPL_EXTENT_SUBTREE));
        break;
    case 5:
        ignore(espl_attach(world, entity, other, NULL));
        break;
    case 6:
        ignore(espl_detach(world, entity, ESPL_KEEP_WORLD));
        break;
    case 7:
        ignore(espl_set_inherit(world, entity, inherit[test_below(random, 4)]));
        break;
    case 8:
        rename_one(world, random, entity);
        break;
    case 9:
        step_motion(world, random);
        break;
    case 10:
        ignore(espl_add_component(world, entity, component, NULL, size_of(world, component)));
        break;
    case 11:
        ignore(espl_remove_component(world, entity, component));
        break;
    case 12:
        ignore(espl_instantiate(world, &(espl_instance_def){.source = entity},
                                test_below(random, 5) + 1, made));
        break;
    default:
        write_one(world, random, entity);
    }
}

// --- Frames ---

typedef struct walker {
    espl_world *world;
    espl_history *history;
    uint64_t frame;
} walker;

static void *refuse(void *user, size_t size, size_t alignment)
{
    (void)user;
    (void)size;
    (void)alignment;
    return NULL;
}

// Let the allocator of a world refuse everything. @return the function to put back.
static void *(*refuse_all(espl_world *world))(void *, size_t, size_t)
{
    void *(*const allocate)(void *, size_t, size_t) = world->heap.allocator.allocate;

    world->heap.allocator.allocate = refuse;
    return allocate;
}

static void mark(walker *w)
{
    void *(*const allocate)(void *, size_t, size_t) = refuse_all(w->world);
    const espl_status status = espl_history_mark(w->history, ++w->frame);

    w->world->heap.allocator.allocate = allocate;
    ck_assert(status == ESPL_OK || status == ESPL_ERR_LIMIT);
}

// Where two images differ, in words.
typedef struct difference {
    size_t at, offset;
    bool is_found;
    char text[160];
} difference;

static void look_into(void *context, const espl__area *area)
{
    difference *const d = context;
    const size_t size =
        area->kind == ESPL__AREA_TRANSIENT ? 0 : espl__image_room(area->size * area->count);

    if (!d->is_found && d->offset < d->at + size) {
        d->is_found = true;
        (void)snprintf(d->text, sizeof d->text, "%s, element %zu, byte %zu, component %u",
                       area->name, (d->offset - d->at) / area->size,
                       (d->offset - d->at) % area->size, (unsigned)area->component);
    }
    d->at += size;
}

static void compare(const espl_world *world, const test_image *now, const test_image *then)
{
    const espl__image_head *const head = (const espl__image_head *)(const void *)then->bytes;
    difference d = {.text = "the head or a table"};
    const espl__area_visitor visitor = {look_into, &d};

    ck_assert_uint_eq(now->size, then->size);
    // The checksum differs too.
    for (d.offset = offsetof(espl__image_head, tag);
         d.offset < now->size && now->bytes[d.offset] == then->bytes[d.offset]; ++d.offset) {
    }
    if (d.offset == now->size) {
        return;
    }
    d.at = sizeof *head + (size_t)(head->registry_size + head->sets_size + head->names_size);
    if (d.offset >= d.at) {
        espl__manifest_rows(&world->store, &visitor);
        espl__manifest_trees(&world->forest, &visitor);
        espl__manifest_nodes(&world->forest, &visitor);
        espl__manifest_sides(&world->forest, &visitor);
    }
    ck_abort_msg("images differ: byte %zu, %s: %u, not %u", d.offset, d.text, now->bytes[d.offset],
                 then->bytes[d.offset]);
}

static void go_back(walker *w, uint64_t frame, const test_image *image)
{
    const uint64_t before = espl_world_timeline(w->world);
    test_image now;

    void *(*const allocate)(void *, size_t, size_t) = refuse_all(w->world);

    ck_ok(espl_history_rewind(w->history, frame, 0, NULL));
    w->world->heap.allocator.allocate = allocate;
    ck_assert_uint_eq(espl_world_timeline(w->world), before + 1);
    test_world_is_valid(w->world);
    now = test_image_of(w->world);
    compare(w->world, &now, image);
    test_image_end(&now);
}

// Change a world over several frames, and go back.
static void detour(walker *w, uint64_t *random)
{
    enum { MOST = 4 };
    test_image images[MOST];
    uint64_t frames[MOST];
    const size_t count = 1 + test_below(random, MOST);

    for (size_t i = 0; i < count; ++i) {
        mark(w);
        frames[i] = w->frame;
        images[i] = test_image_of(w->world);
        for (uint64_t left = test_below(random, 30); left > 0; --left) {
            disturb(w->world, random);
        }
    }
    for (size_t i = count; i-- > 0;) {
        if (i == 0 || test_one_in(random, 2)) {
            go_back(w, frames[i], &images[i]);
            for (uint64_t left = test_below(random, 10); i != 0 && left > 0; --left) {
                disturb(w->world, random);
            }
        }
        test_image_end(&images[i]);
    }
}

static void run(uint64_t seed, uint32_t population, uint32_t limit, size_t rounds)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = seed};
    const espl_executor executors[2] = {{0}, test_executor_of(&hostile)};
    stage *const s = stage_begin(seed, population, executors, 2);
    const uint32_t fitting = stage_fit(s, limit);
    walker w = {.world = s->played[1].world};
    uint64_t random = seed;

    s->played[1].is_unseen = true; // what is shown is no part of a value
    ck_ok(
        espl_history_create(w.world, &(espl_history_def){.flags = ESPL_HISTORY_HASH}, &w.history));
    for (size_t round = 1; round <= rounds && !tape_is_worn(&s->tape); ++round) {
        if (!stage_step(s, 1 + test_below(&random, fitting))) {
            break;
        }
        test_image_compare(s->played[0].world, w.world);
        detour(&w, &random);
    }
    espl_history_destroy(w.history);
    stage_end(s);
}

TEST_LOOP(a_world_that_goes_back_goes_on_as_one_that_did_not_leave, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300}, limits[3] = {8, 60, 400};
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = 61 + (uint64_t)_i;
    const size_t runs = (_i == 0 ? 24 : _i == 1 ? 8 : 2) * (size_t)test_factor();

    // A slot that its node had left had the number of another tree, which lost its side arrays too early.
    if (chosen == 0 && _i == 2) {
        run(UINT64_C(0x287a6afbd976bf66), populations[_i], limits[_i], test_scaled(16));
    }
    for (size_t i = 0; i < (chosen != 0 ? 1 : runs); ++i) {
        run(chosen != 0 ? chosen : test_random(&state), populations[_i], limits[_i],
            test_scaled(16));
    }
}
