// SPDX-License-Identifier: MIT
// Scheme `espalier` in the load `values`, and on the paths of counts.c that have these: images and archives.
#include "bench/schemes/espalier.h"

#include "bench/clock.h"

// The world does not change, so each image of it has the same bytes.
static void make_image(struct scheme_world *world)
{
    struct kept_value *const kept = &world->kept;

    if (kept->image == NULL) {
        kept->image_size = espl_image_size(world->world);
        kept->image = block_new(kept->image_size, 1);
        kept->copy = block_new(kept->image_size, 1);
        must(espl_image_save(world->world, kept->image, kept->image_size), "espl_image_save");
        memset(kept->copy, 1, kept->image_size);
    }
}

static bool collect(void *user, const void *bytes, size_t size)
{
    struct kept_value *const kept = user;

    while (kept->archive_size + size > kept->archive_capacity) {
        const size_t capacity = 2 * kept->archive_capacity + 65536;
        unsigned char *const longer = block_new(capacity, 1);

        if (kept->archive_size != 0) {
            memcpy(longer, kept->archive, kept->archive_size);
        }
        memset(longer + kept->archive_size, 0, capacity - kept->archive_size);
        free(kept->archive);
        kept->archive = longer;
        kept->archive_capacity = capacity;
    }
    memcpy(kept->archive + kept->archive_size, bytes, size);
    kept->archive_size += size;
    return true;
}

static void write_archive(struct scheme_world *world)
{
    const espl_sink sink = {&world->kept, collect};

    world->kept.archive_size = 0;
    must(espl_archive_write(world->world, NULL, &sink), "espl_archive_write");
}

static void make_reader(struct scheme_world *world)
{
    const espl_world_def def = {.tag = 2, .executor = world->executor};

    espl_world_destroy(world->kept.reader);
    must(espl_world_create(&def, &world->kept.reader), "espl_world_create");
}

static void copy_fresh(const struct kept_value *kept)
{
    void *const fresh = block_new(kept->image_size, 1);

    // A compiler leaves out a copy whose bytes are not read.
    void *(*volatile const copy)(void *, const void *, size_t) = memcpy;

    (void)copy(fresh, kept->image, kept->image_size);
    free(fresh);
}

static void load(struct scheme_world *world, uint32_t flags)
{
    must(espl_image_load(world->world, world->kept.image, world->kept.image_size, flags, NULL),
         "espl_image_load");
}

static void play(struct scheme_world *world, enum scheme_value what)
{
    struct kept_value *const kept = &world->kept;

    switch (what) {
    case VALUE_COPY:
        memcpy(kept->copy, kept->image, kept->image_size);
        break;
    case VALUE_FRESH:
        copy_fresh(kept);
        break;
    case VALUE_SAVE:
        must(espl_image_save(world->world, kept->copy, kept->image_size), "espl_image_save");
        break;
    case VALUE_LOAD:
        load(world, ESPL_IMAGE_TRUSTED);
        break;
    case VALUE_CHECKED:
        load(world, 0);
        break;
    case VALUE_WRITE:
        write_archive(world);
        break;
    case VALUE_READ:
        must(espl_archive_read(kept->reader, kept->archive, kept->archive_size, NULL, NULL),
             "espl_archive_read");
        break;
    default:
        break;
    }
}

void espalier_value(struct scheme_world *world, enum scheme_value what)
{
    make_image(world);
    if (what == VALUE_READ) {
        if (world->kept.archive_size == 0) {
            write_archive(world);
        }
        make_reader(world);
    }
    const double before = clock_now();

    play(world, what);
    world->times.values[what] = clock_now() - before;
}

size_t espalier_archive_bytes(const struct scheme_world *world)
{
    return world->kept.archive_size;
}

void espalier_free_values(struct scheme_world *world)
{
    free(world->kept.image);
    free(world->kept.copy);
    free(world->kept.archive);
    espl_world_destroy(world->kept.reader);
}
