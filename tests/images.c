// SPDX-License-Identifier: MIT
#include "tests/images.h"

#include "tests/asserts.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

// The bytes that are not written would be found by a comparison.
test_image test_image_of(const espl_world *world)
{
    test_image out = {.size = espl_image_size(world)};

    out.bytes = malloc(out.size);
    ck_assert_ptr_nonnull(out.bytes);
    memset(out.bytes, 0xa5, out.size);
    ck_ok(espl_image_save(world, out.bytes, out.size));
    return out;
}

void test_image_end(test_image *image)
{
    free(image->bytes);
    *image = (test_image){0};
}

void test_image_load(espl_world *world, const test_image *from, uint32_t flags)
{
    espl_format_fault fault;
    const espl_status status = espl_image_load(world, from->bytes, from->size, flags, &fault);

    ck_assert_msg(status == ESPL_OK, "%s at %llu: %s", espl_status_name(status),
                  (unsigned long long)fault.offset, fault.sentence);
    ck_assert_ptr_null(fault.sentence);
    test_world_is_valid(world);
}

void test_image_compare(const espl_world *a, const espl_world *b)
{
    test_image one = test_image_of(a), other = test_image_of(b);

    ck_assert_uint_eq(test_logical_hash(a), test_logical_hash(b));
    ck_assert_uint_eq(test_physical_hash(a), test_physical_hash(b));
    ck_assert_uint_eq(one.size, other.size);
    // The head has a checksum of the rest, which says nothing.
    for (size_t i = one.size; i-- > 0;) {
        ck_assert_msg(one.bytes[i] == other.bytes[i], "byte %zu of %zu differs: %u and %u", i,
                      one.size, one.bytes[i], other.bytes[i]);
    }
    test_image_end(&one);
    test_image_end(&other);
}
