// SPDX-License-Identifier: MIT
#include "tests/fuzz/seal.h"

#include "tests/asserts.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { HEAD = 64, ENTRY = 40, SECTIONS = 64, DELTA = 2 };

static uint64_t number_at(const unsigned char *bytes, size_t at, unsigned size)
{
    uint64_t number = 0;

    for (unsigned i = size; i-- > 0;) {
        number = number << 8 | bytes[at + i];
    }
    return number;
}

static void put_number(unsigned char *bytes, size_t at, unsigned size, uint64_t number)
{
    for (unsigned i = 0; i < size; ++i) {
        bytes[at + i] = (unsigned char)(number >> 8 * i);
    }
}

// --- Seals ---

static void seal_head(unsigned char *bytes, size_t behind)
{
    put_number(bytes, 48, 8, XXH3_64bits(bytes + HEAD, behind));
    put_number(bytes, 56, 8, XXH3_64bits(bytes, 56));
}

void seal_archive(unsigned char *bytes, size_t size)
{
    if (size < HEAD) {
        return;
    }
    const size_t count = (size_t)number_at(bytes, 24, 4), room = (size - HEAD) / ENTRY;

    if (number_at(bytes, 12, 4) == DELTA) {
        put_number(bytes, 16, 8, size);
        seal_head(bytes, size - HEAD);
        return;
    }
    for (size_t i = 0; count <= room && i < count; ++i) {
        const size_t entry = HEAD + i * ENTRY;
        const uint64_t offset = number_at(bytes, entry + 8, 8),
                       stored = number_at(bytes, entry + 16, 8);

        if (offset <= size && stored <= size - offset) {
            put_number(bytes, entry + 32, 8, XXH3_64bits(bytes + offset, (size_t)stored));
        }
    }
    seal_head(bytes, count <= room ? count * ENTRY : 0);
}

void seal_image(unsigned char *bytes, size_t size)
{
    enum { SIZE_AT = 16, CHECKSUM_AT = 24 };

    // Images have numbers in the order of the machine.
    if (size >= HEAD) {
        const uint64_t whole = size;
        uint64_t checksum = 0;

        memcpy(bytes + SIZE_AT, &whole, sizeof whole);
        memcpy(bytes + CHECKSUM_AT, &checksum, sizeof checksum);
        checksum = XXH3_64bits(bytes, size);
        memcpy(bytes + CHECKSUM_AT, &checksum, sizeof checksum);
    }
}

// --- Changes of any bytes ---

static size_t take_out(unsigned char *bytes, size_t size, size_t at, size_t count)
{
    memmove(bytes + at, bytes + at + count, size - at - count);
    return size - count;
}

static size_t put_in(unsigned char *bytes, size_t size, size_t at, size_t count, size_t from)
{
    unsigned char copy[16];

    memcpy(copy, bytes + from, count);
    memmove(bytes + at + count, bytes + at, size - at);
    memcpy(bytes + at, copy, count);
    return size + count;
}

static void change_number(unsigned char *bytes, size_t size, size_t at, uint64_t *random)
{
    static const uint64_t edges[] = {0,          1,          2,
                                     0x7f,       0x80,       0xff,
                                     0x7fffffff, 0x80000000, UINT64_C(0x7fffffffffffffff),
                                     0xffffffff, 0x7f800000, UINT64_MAX};
    const unsigned width = 1u << test_below(random, 4), left = (unsigned)(size - at);
    const unsigned count = width < left ? width : left;
    const uint64_t old = number_at(bytes, at, count);
    uint64_t number = edges[test_below(random, sizeof edges / sizeof *edges)];

    switch (test_below(random, 4)) {
    case 0:
        number = old + 1;
        break;
    case 1:
        number = old - 1;
        break;
    case 2:
        number = old ^ UINT64_C(1) << test_below(random, 8 * count);
        break;
    default:
        break;
    }
    put_number(bytes, at, count, number);
}

// Change the bytes from `low` on in one place.
static size_t change_once(unsigned char *bytes, size_t low, size_t size, size_t room,
                          uint64_t *random)
{
    if (size <= low) {
        return size;
    }
    const size_t at = low + test_below(random, (uint32_t)(size - low));
    const size_t most = size - at < 16 ? size - at : 16;
    const size_t count = 1 + test_below(random, (uint32_t)most);
    const size_t from = test_below(random, (uint32_t)(size - count + 1));

    switch (test_below(random, 8)) {
    case 0:
        return count <= room - size ? put_in(bytes, size, at, count, from) : size;
    case 1:
        return count < size ? take_out(bytes, size, at, count) : size;
    case 2:
        memmove(bytes + at, bytes + from, count);
        return size;
    default:
        change_number(bytes, size, at, random);
        return size;
    }
}

size_t seal_change(unsigned char *bytes, size_t size, size_t room, uint64_t *random)
{
    for (uint32_t i = 1 + test_below(random, 4); i > 0; --i) {
        size = change_once(bytes, 0, size, room, random);
    }
    if (size == 0 && room != 0) {
        bytes[size++] = 0;
    }
    return size;
}

// --- Changes of an archive ---

// Change the last section, or one before it within its size, and write the sizes into the table.
static size_t change_section(unsigned char *bytes, size_t size, size_t room, uint64_t *random)
{
    const size_t count = (size_t)number_at(bytes, 24, 4);

    if (count == 0 || count > SECTIONS || HEAD + count * ENTRY > size) {
        return seal_change(bytes, size, room, random);
    }
    const size_t number = test_below(random, (uint32_t)count);
    const size_t entry = HEAD + number * ENTRY;
    const uint64_t offset = number_at(bytes, entry + 8, 8),
                   stored = number_at(bytes, entry + 16, 8);

    if (offset > size || stored > size - offset || stored == 0) {
        return seal_change(bytes, size, room, random);
    }
    const size_t end = (size_t)(offset + stored);

    // The bytes up to the next section may be lost; a reader then finds that they are not 0.
    const size_t changed =
        change_once(bytes, (size_t)offset, end, number + 1 == count ? room : end, random);

    if (number + 1 == count) {
        put_number(bytes, 16, 8, changed);
        size = changed;
    }
    if (changed > offset) {
        put_number(bytes, entry + 16, 8, changed - offset);
        put_number(bytes, entry + 24, 8, changed - offset);
    }
    return size;
}

size_t seal_change_archive(unsigned char *bytes, size_t size, size_t room, uint64_t *random)
{
    if (size < HEAD || test_one_in(random, 32)) {
        return seal_change(bytes, size, room, random);
    }
    for (uint32_t i = 1 + test_below(random, 4); i > 0; --i) {
        if (number_at(bytes, 12, 4) == DELTA) {
            size = change_once(bytes, test_one_in(random, 16) ? 8 : HEAD, size, room, random);
        } else {
            size = change_section(bytes, size, room, random);
        }
        if (size < HEAD) {
            return size;
        }
    }
    seal_archive(bytes, size);
    return size;
}

// --- Inputs ---

unsigned char *seal_copy(const unsigned char *bytes, size_t size)
{
    unsigned char *const memory = malloc(size + 1);

    ck_assert_ptr_nonnull(memory);
    if (size != 0) {
        memcpy(memory + 1, bytes, size);
    }
    return memory + 1;
}

void seal_free(unsigned char *copy)
{
    free(copy - 1);
}

fuzz_input seal_input(unsigned char *bytes, size_t size, const fuzz_order *order,
                      size_t (*mutate)(unsigned char *, size_t, size_t, uint64_t *),
                      uint64_t *random)
{
    const size_t room = 2 * size;
    fuzz_input out = {realloc(bytes, room), size};

    ck_assert_ptr_nonnull(out.bytes);
    for (uint32_t i = order->length == 0 ? test_below(random, 4) : 0; i > 0; --i) {
        out.size = mutate(out.bytes, out.size, room, random);
    }
    return out;
}

size_t seal_part(size_t head, size_t size, size_t at)
{
    const size_t usual = at == 0 ? head : 8;

    return usual < size - at ? usual : size - at;
}
