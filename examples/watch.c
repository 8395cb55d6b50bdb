// SPDX-License-Identifier: MIT
// Three consumers of the changes of one world, each at a rate of its own: a renderer, on a thread, at each
// tick; a network at each third, which sends only what differs; an editor at the end, which is shown what
// was moved by hand and not what followed.
#include "common.h"

#include <pthread.h>
#include <string.h>

enum { CARTS = 4, WHEELS = 4, TICKS = 9, INDICES = 64 };

static espl_entity carts[CARTS], wheels[CARTS][WHEELS];

// What the renderer has: a copy of each entity that is there.
typedef struct renderer {
    espl_changes changes; // of the last collect, handed over
    espl_transform worlds[INDICES];
    bool is_there[INDICES];
    size_t moved;
} renderer;

// Runs while the world goes on: it reads the arrays of the collect alone.
static void *draw(void *argument)
{
    renderer *const r = argument;
    const espl_changes *const c = &r->changes;

    for (size_t i = 0; i < c->removed_count; ++i) {
        r->is_there[c->removed[i].index] = false;
    }
    for (size_t i = 0; i < c->added_count; ++i) {
        r->is_there[c->added[i].index] = true;
        r->worlds[c->added[i].index] = c->added_worlds[i];
    }
    for (size_t i = 0; i < c->changed_count; ++i) {
        r->worlds[c->changed[i].index] = c->changed_worlds[i];
    }
    r->moved += c->changed_count;
    return NULL;
}

static void make_cart(espl_world *world, int cart)
{
    espl_transform at = espl_transform_identity();

    at.position[0] = (float)cart * 10;
    must(espl_create_node(world, espl_entity_null(), &at, "cart", &carts[cart]));
    for (int i = 0; i < WHEELS; ++i) {
        at.position[0] = (float)(i % 2), at.position[1] = (float)(i / 2);
        must(espl_create_node(world, carts[cart], &at, "wheel", &wheels[cart][i]));
    }
}

// One tick of the simulation: a cart rolls on, and another one rolls there and back.
static void step(espl_world *world, int tick)
{
    const float ahead[3] = {0, 0, 1}, back[3] = {0, 0, -1};

    must(espl_translate_own(world, carts[0], ahead));
    must(espl_translate_own(world, carts[1], ahead));
    must(espl_translate_own(world, carts[1], back));
    if (tick == 4) {
        make_cart(world, 3);
    }
    if (tick == 7) {
        must(espl_destroy(world, carts[2], ESPL_EXTENT_OWNED));
    }
}

// The network sends handles of what went, and 48 bytes of all else.
static void send(espl_watch *watch, int tick)
{
    espl_changes c;

    must(espl_watch_collect(watch, 0, &c));
    printf("tick %d: the network sends %zu gone, %zu new, %zu changed\n", tick, c.removed_count,
           c.added_count, c.changed_count);
}

// Tell whether the renderer's copy is the world.
static bool is_up_to_date(const espl_world *world, const renderer *r)
{
    espl_query query;
    bool is_equal = true;

    must(espl_query_begin_read(world, NULL, &query));
    while (espl_query_next(&query)) {
        for (size_t i = 0; i < query.count; ++i) {
            const espl_entity entity = query.entities[i];
            espl_transform now;

            must(espl_get_world_transform(world, entity, &now));
            is_equal = is_equal && r->is_there[entity.index] &&
                       memcmp(&now, &r->worlds[entity.index], sizeof now) == 0;
        }
    }
    return is_equal;
}

int main(void)
{
    static renderer drawn;
    espl_world *world = NULL;
    espl_watch *for_renderer = NULL, *for_network = NULL, *for_editor = NULL;
    espl_changes edited;
    pthread_t thread;

    must(espl_world_create(NULL, &world));
    for (int i = 0; i < 3; ++i) {
        make_cart(world, i);
    }
    must(espl_watch_create(world, NULL, &for_renderer));
    must(espl_watch_create(world, &(espl_watch_def){.flags = ESPL_WATCH_BEFORE}, &for_network));
    must(espl_watch_create(world, &(espl_watch_def){.flags = ESPL_WATCH_LOCAL}, &for_editor));
    must(espl_watch_collect(for_editor, 0, &edited));
    for (int tick = 0; tick < TICKS; ++tick) {
        must(espl_watch_collect(for_renderer, 0, &drawn.changes));
        if (pthread_create(&thread, NULL, draw, &drawn) != 0) {
            return EXIT_FAILURE;
        }
        // The world goes on while the renderer draws.
        step(world, tick);
        if (tick % 3 == 0) {
            send(for_network, tick);
        }
        (void)pthread_join(thread, NULL);
    }
    must(espl_watch_collect(for_renderer, 0, &drawn.changes));
    (void)draw(&drawn);
    must(espl_watch_collect(for_editor, 0, &edited));
    printf("the renderer moved %zu entities, and its copy is %s\n", drawn.moved,
           is_up_to_date(world, &drawn) ? "the world" : "another world");
    printf("the editor shows %zu gone, %zu new, %zu moved by hand\n", edited.removed_count,
           edited.added_count, edited.changed_count);
    espl_watch_destroy(for_renderer);
    espl_watch_destroy(for_network);
    espl_watch_destroy(for_editor);
    espl_world_destroy(world);
    return EXIT_SUCCESS;
}
