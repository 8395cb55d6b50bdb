// SPDX-License-Identifier: MIT
// Images of worlds under test.
#ifndef ESPALIER_TESTS_IMAGES_H
#define ESPALIER_TESTS_IMAGES_H

#include <espalier/espalier.h>

typedef struct test_image {
    unsigned char *bytes;
    size_t size;
} test_image;

test_image test_image_of(const espl_world *world);
void test_image_end(test_image *image);
/// Load an image, which must succeed, and validate the world.
void test_image_load(espl_world *world, const test_image *from, uint32_t flags);
/// Fail the test unless two worlds have the same value: hashes and images agree.
void test_image_compare(const espl_world *a, const espl_world *b);

#endif
