// SPDX-License-Identifier: MIT
// Scheme `espalier` in the load `deltas`: another world follows this one by deltas of archives.
#include "bench/schemes/espalier.h"

#include "bench/clock.h"

static bool append(void *user, const void *bytes, size_t size)
{
    struct sent_bytes *const sent = user;

    if (sent->size + size > sent->capacity) {
        course_fail("deltas", "an archive is longer than expected");
    }
    memcpy(sent->bytes + sent->size, bytes, size);
    sent->size += size;
    return true;
}

static bool has_same_bytes(const struct sent_bytes *a, const struct sent_bytes *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

// Make the bytes empty, with room for an archive of the world.
static espl_sink sink_to(const struct scheme_world *world, struct sent_bytes *sent)
{
    enum { head = 4096, node = 96 };

    if (sent->bytes == NULL) {
        sent->capacity = head + node * world->copies * world->tree_size;
        sent->bytes = block_new(sent->capacity, 1);
    }
    sent->size = 0;
    return (espl_sink){sent, append};
}

static void write_archive(struct scheme_world *world, bool is_exact, struct sent_bytes *out)
{
    const espl_archive_def def = {
        .flags = ESPL_ARCHIVE_HANDLES,
        .position_step = is_exact ? 0 : 1e-4F,
        .rotation_bits = is_exact ? 0 : 15,
    };
    const espl_sink sink = sink_to(world, out);

    must(espl_archive_write(world->world, &def, &sink), "espl_archive_write");
}

static void make_follower(struct scheme_world *world)
{
    struct followed *const followed = &world->followed;
    const espl_world_def def = {.tag = 2};
    const size_t count = world->copies * world->tree_size;

    followed->entities = block_new(count, sizeof *followed->entities);
    must(espl_world_create(&def, &followed->world), "espl_world_create");
    const espl_archive_read_def how = {.entities = followed->entities, .capacity = count};

    must(espl_archive_read(followed->world, followed->last.bytes, followed->last.size, &how, NULL),
         "espl_archive_read");
}

static void apply(struct scheme_world *world)
{
    struct followed *const followed = &world->followed;
    const size_t count = world->copies * world->tree_size;
    const espl_archive_read_def how = {.entities = followed->entities, .capacity = count};
    const espl_archive_known known = {followed->last.bytes, followed->last.size, followed->entities,
                                      count};

    must(espl_archive_apply(followed->world, followed->patched.bytes, followed->patched.size, &how,
                            &known, NULL),
         "espl_archive_apply");
}

static void write_plain(const struct scheme_world *world, const espl_world *from,
                        struct sent_bytes *out)
{
    const espl_sink sink = sink_to(world, out);

    must(espl_archive_write(from, NULL, &sink), "espl_archive_write");
}

// Patches give the archives that were written, and exact ones make worlds with the same archive.
static void check_follower(struct scheme_world *world, bool is_exact)
{
    struct followed *const followed = &world->followed;
    bool is_same = has_same_bytes(&followed->patched, &followed->next);

    if (is_same && is_exact) {
        write_plain(world, world->world, &followed->checked);
        write_plain(world, followed->world, &followed->patched);
        is_same = has_same_bytes(&followed->patched, &followed->checked);
    }
    if (!is_same) {
        course_fail("deltas", "the other world differs");
    }
}

// The archives of two frames take turns as the last one.
struct scheme_bytes espalier_follow(struct scheme_world *world, bool is_exact)
{
    struct followed *const followed = &world->followed;

    if (followed->world == NULL) {
        write_archive(world, is_exact, &followed->last);
        make_follower(world);
    }
    const double begin = clock_now();

    write_archive(world, is_exact, &followed->next);
    const double written = clock_now();
    const espl_sink sink = sink_to(world, &followed->delta);

    must(espl_archive_delta(followed->last.bytes, followed->last.size, followed->next.bytes,
                            followed->next.size, &sink, NULL),
         "espl_archive_delta");
    const double compared = clock_now();
    const espl_sink patched_sink = sink_to(world, &followed->patched);

    must(espl_archive_patch(followed->last.bytes, followed->last.size, followed->delta.bytes,
                            followed->delta.size, &patched_sink, NULL),
         "espl_archive_patch");
    const double patched = clock_now();

    apply(world);
    world->times.values[VALUE_WRITE] = written - begin;
    world->times.delta = compared - written;
    world->times.patch = patched - compared;
    world->times.apply = clock_now() - patched;
    check_follower(world, is_exact);
    const struct sent_bytes last = followed->last;

    followed->last = followed->next;
    followed->next = last;
    return (struct scheme_bytes){followed->delta.bytes, followed->delta.size};
}

void espalier_free_followed(struct scheme_world *world)
{
    struct followed *const followed = &world->followed;

    free(followed->last.bytes);
    free(followed->next.bytes);
    free(followed->delta.bytes);
    free(followed->patched.bytes);
    free(followed->checked.bytes);
    free(followed->entities);
    espl_world_destroy(followed->world);
}
