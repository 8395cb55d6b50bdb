// SPDX-License-Identifier: MIT
#include "tests/archives.h"

#include "tests/asserts.h"

#include <stdlib.h>
#include <string.h>

static bool append(void *user, const void *bytes, size_t size)
{
    test_archive *const to = user;

    if (to->size + size > to->room) {
        to->room = 2 * (to->size + size);
        to->bytes = realloc(to->bytes, to->room);
        ck_assert_ptr_nonnull(to->bytes);
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

espl_sink test_archive_sink(test_archive *archive)
{
    return (espl_sink){.user = archive, .write = append};
}

test_archive test_archive_of(const espl_world *world, const espl_archive_def *def)
{
    test_archive out = {0};
    const espl_sink sink = test_archive_sink(&out);

    ck_ok(espl_archive_write(world, def, &sink));
    ck_assert_uint_ne(out.size, 0);
    return out;
}

void test_archive_end(test_archive *archive)
{
    free(archive->bytes);
    *archive = (test_archive){0};
}

espl_status test_archive_read(espl_world *world, const test_archive *from,
                              const espl_archive_read_def *def)
{
    espl_format_fault fault;
    const espl_status status = espl_archive_read(world, from->bytes, from->size, def, &fault);

    ck_assert_msg(status >= 0, "%s at %llu: %s", espl_status_name(status),
                  (unsigned long long)fault.offset, fault.sentence);
    ck_assert_ptr_null(fault.sentence);
    if (status == ESPL_OK) {
        test_world_is_valid(world);
    }
    return status;
}

// --- Two worlds ---

void test_pair_begin(test_pair *pair)
{
    test_world_begin(&pair->from, 3, NULL);
    test_world_begin(&pair->to, 5, NULL);
    pair->a = pair->from.world;
    pair->b = pair->to.world;
}

void test_pair_end(test_pair *pair)
{
    test_world_end(&pair->from);
    test_world_end(&pair->to);
}

espl_entity test_pair_node(espl_world *world, espl_entity parent, float x, const char *name)
{
    const espl_transform at = test_at(x, 1, -2);
    espl_entity out;

    ck_ok(espl_create_node(world, parent, &at, name, &out));
    return out;
}

espl_component test_link_component(espl_world *world, const char *name, uint32_t flags)
{
    static const uint32_t references[] = {offsetof(test_link, to), offsetof(test_link, other)};
    espl_component out = 0;

    ck_ok(espl_component_register(world,
                                  &(espl_component_def){.name = name,
                                                        .size = sizeof(test_link),
                                                        .alignment = _Alignof(test_link),
                                                        .references = references,
                                                        .reference_count = 2,
                                                        .flags = flags},
                                  &out));
    return out;
}
