// SPDX-License-Identifier: MIT
// A server and a client, two processes with a pipe between them. The server sends what its watch collected, as
// bytes; the client makes counterparts of what came, and follows. A lamp of its own hangs on each car that the
// client knows. At the end the client compares its worlds with the worlds that the server sends.
#include "common.h"

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CARS = 5, WHEELS = 4, TICKS = 60, MOST = 64 };

// --- Bytes ---

// @return false: the pipe has ended.
static bool get(int from, void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t count = read(from, (char *)bytes + at, size - at);

        if (count <= 0) {
            return false;
        }
        at += (size_t)count;
    }
    return true;
}

static void put(int to, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t count = write(to, (const char *)bytes + at, size - at);

        if (count <= 0) {
            exit(EXIT_FAILURE);
        }
        at += (size_t)count;
    }
}

// What a tick sends: counts, then the arrays, each as long as its count.
typedef struct packet {
    uint32_t removed_count, added_count, changed_count;
    espl_entity removed[MOST], added[MOST], parents[MOST], changed[MOST];
    espl_transform added_locals[MOST], changed_locals[MOST];
} packet;

#define EACH_ARRAY(call)                           \
    do {                                           \
        call(p->removed, p->removed_count);        \
        call(p->added, p->added_count);            \
        call(p->parents, p->added_count);          \
        call(p->added_locals, p->added_count);     \
        call(p->changed, p->changed_count);        \
        call(p->changed_locals, p->changed_count); \
    } while (0)

static void put_packet(int to, const packet *p)
{
#define PUT(array, count) put(to, array, (count) * sizeof *(array))
    put(to, &p->removed_count, 3 * sizeof p->removed_count);
    EACH_ARRAY(PUT);
}

static bool get_packet(int from, packet *p)
{
    bool is_whole = get(from, &p->removed_count, 3 * sizeof p->removed_count);

    if (!is_whole || p->removed_count > MOST || p->added_count > MOST || p->changed_count > MOST) {
        return false;
    }
#define GET(array, count) is_whole = is_whole && get(from, array, (count) * sizeof *(array))
    EACH_ARRAY(GET);
    return is_whole;
}

// --- The server ---

static espl_entity make_car(espl_world *world, int number)
{
    espl_transform at = espl_transform_identity();
    espl_entity car, wheel;

    at.position[2] = (float)number;
    must(espl_create_node(world, espl_entity_null(), &at, NULL, &car));
    for (int i = 0; i < WHEELS; ++i) {
        at.position[0] = i % 2 == 0 ? 1.f : -1.f;
        at.position[2] = i / 2 == 0 ? 2.f : -2.f;
        must(espl_create_node(world, car, &at, NULL, &wheel));
    }
    return car;
}

static void drive(espl_world *world, espl_entity car, int tick, int number)
{
    const float step[3] = {0.1f * (float)(number + 1), 0, 0.5f};
    const float turn[4] = {0.17364818f, 0, 0, 0.98480775f}; // 20 degrees

    must(espl_write_one(world, car, ESPL_WRITE_TRANSLATE_OWN, step));
    for (espl_entity wheel = espl_get_first_child(world, car);
         tick % 2 == 0 && !espl_entity_is_null(wheel);
         wheel = espl_get_next_sibling(world, wheel)) {
        must(espl_write_one(world, wheel, ESPL_WRITE_ROTATE_OWN, turn));
    }
}

static void send_changes(const espl_world *world, espl_watch *watch, int to)
{
    static packet p;
    espl_changes c;

    must(espl_watch_collect(watch, 0, &c));
    if (c.removed_count > MOST || c.added_count > MOST || c.changed_count > MOST) {
        exit(EXIT_FAILURE);
    }
    p.removed_count = (uint32_t)c.removed_count;
    p.added_count = (uint32_t)c.added_count;
    p.changed_count = (uint32_t)c.changed_count;
    for (size_t i = 0; i < c.removed_count; ++i) {
        p.removed[i] = c.removed[i];
    }
    for (size_t i = 0; i < c.added_count; ++i) {
        p.added[i] = c.added[i];
        p.parents[i] = espl_get_parent(world, c.added[i]);
        p.added_locals[i] = c.added_locals[i];
    }
    for (size_t i = 0; i < c.changed_count; ++i) {
        p.changed[i] = c.changed[i];
        p.changed_locals[i] = c.changed_locals[i];
    }
    put_packet(to, &p);
}

// Handle and world transform of each entity, for the client to compare.
static void send_worlds(const espl_world *world, const espl_entity *cars, int to)
{
    for (int i = 0; i < CARS; ++i) {
        espl_entity all[1 + WHEELS];
        espl_transform worlds[1 + WHEELS];
        const espl_subtree_arrays out = {.entities = all, .worlds = worlds};
        const uint32_t count =
            (uint32_t)espl_copy_subtree(world, cars[i], ESPL_EXTENT_SUBTREE, 1 + WHEELS, &out);

        put(to, &count, sizeof count);
        put(to, all, count * sizeof *all);
        put(to, worlds, count * sizeof *worlds);
    }
}

static void serve(int to)
{
    const espl_watch_def locals = {.flags = ESPL_WATCH_LOCAL};
    espl_entity cars[CARS];
    espl_world *world;
    espl_watch *watch;

    must(espl_world_create(&(espl_world_def){.tag = 1}, &world));
    must(espl_watch_create(world, &locals, &watch));
    for (int i = 0; i < CARS; ++i) {
        cars[i] = make_car(world, i);
    }
    for (int tick = 0; tick < TICKS; ++tick) {
        for (int i = 0; i < CARS; ++i) {
            drive(world, cars[i], tick, i);
        }
        // One car leaves the road, and another one comes.
        if (tick == TICKS / 2) {
            must(espl_destroy(world, cars[1], ESPL_EXTENT_OWNED));
            cars[1] = make_car(world, 7);
        }
        send_changes(world, watch, to);
    }
    send_worlds(world, cars, to);
    espl_watch_destroy(watch);
    espl_world_destroy(world);
}

// --- The client ---

// Lights of the client alone, of which the server knows nothing.
static void hang_lamp(espl_world *world, espl_entity car)
{
    espl_transform at = espl_transform_identity();

    at.position[1] = 1;
    must(espl_create_node(world, car, &at, "lamp", NULL));
}

// A parent comes before its children, because it has a lower index here; else a second pass would link them.
static void make_counterparts(espl_world *world, const packet *p)
{
    for (uint32_t i = 0; i < p->added_count; ++i) {
        const espl_entity parent = espl_find_counterpart(world, p->parents[i]);
        espl_entity made;

        must(espl_create_node(world, parent, &p->added_locals[i], NULL, &made));
        must(espl_set_counterpart(world, made, p->added[i]));
        if (espl_entity_is_null(p->parents[i])) {
            hang_lamp(world, made);
        }
    }
}

static void follow_packet(espl_world *world, const packet *p, espl_follow_report *sum)
{
    const espl_changes changes = {.removed = p->removed,
                                  .added = p->added,
                                  .changed = p->changed,
                                  .removed_count = p->removed_count,
                                  .added_count = p->added_count,
                                  .changed_count = p->changed_count,
                                  .added_locals = p->added_locals,
                                  .changed_locals = p->changed_locals};
    espl_follow_report report;

    make_counterparts(world, p);
    must(espl_follow(world, &changes, NULL, &report));
    sum->written += report.written;
    sum->destroyed += report.destroyed;
    sum->unknown += report.unknown;
}

// @return entities whose world differs in a bit from that of the server.
static int compare_worlds(const espl_world *world, int from)
{
    int differing = 0;
    uint32_t count = 0;

    for (int i = 0; i < CARS && get(from, &count, sizeof count) && count <= 1 + WHEELS; ++i) {
        espl_entity all[1 + WHEELS];
        espl_transform worlds[1 + WHEELS], mine;

        if (!get(from, all, count * sizeof *all) || !get(from, worlds, count * sizeof *worlds)) {
            return -1;
        }
        for (uint32_t k = 0; k < count; ++k) {
            must(espl_get_world_transform(world, espl_find_counterpart(world, all[k]), &mine));
            differing += memcmp(&mine, &worlds[k], sizeof mine) != 0 ? 1 : 0;
        }
    }
    return differing;
}

static int play(int from)
{
    espl_follow_report sum = {0};
    espl_world_stats stats;
    espl_world *world;
    packet p;

    must(espl_world_create(&(espl_world_def){.tag = 2}, &world));
    for (int tick = 0; tick < TICKS; ++tick) {
        if (!get_packet(from, &p)) {
            return EXIT_FAILURE;
        }
        follow_packet(world, &p, &sum);
    }
    const int differing = compare_worlds(world, from);

    espl_stats(world, &stats);
    printf("%d ticks: %zu writes followed, %zu counterparts destroyed\n", TICKS, sum.written,
           sum.destroyed);
    printf("%zu entities, of which %zu are counterparts\n", stats.entities, stats.counterparts);
    printf("world transforms that differ from the server's: %d\n", differing);
    espl_world_destroy(world);
    return differing == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
    int ends[2], status = 0;

    if (pipe(ends) != 0) {
        return EXIT_FAILURE;
    }
    const pid_t server = fork();

    if (server == 0) {
        close(ends[0]);
        serve(ends[1]);
        exit(EXIT_SUCCESS);
    }
    close(ends[1]);
    const int played = server > 0 ? play(ends[0]) : EXIT_FAILURE;

    close(ends[0]);
    return server > 0 && waitpid(server, &status, 0) == server && status == 0 ? played
                                                                              : EXIT_FAILURE;
}
