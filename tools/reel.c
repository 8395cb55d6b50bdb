// SPDX-License-Identifier: MIT
#include "tools/reel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reel_blame(reel *r, const char *format, ...)
{
    char text[400];
    va_list arguments;

    if (r->state == REEL_BAD) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fault_say(r->fault, "at byte %zu: %s", r->record, text);
    r->state = REEL_BAD;
}

const unsigned char *reel_bytes(reel *r, size_t size)
{
    const unsigned char *const from = r->bytes + r->at;

    if (r->state != REEL_GOOD) {
        return NULL;
    }
    if (size > reel_left(r)) {
        r->state = REEL_SHORT;
        return NULL;
    }
    r->at += size;
    return from;
}

uint64_t reel_number(reel *r, unsigned size)
{
    const unsigned char *const from = reel_bytes(r, size);
    uint64_t number = 0;

    for (unsigned i = 0; from != NULL && i < size; ++i) {
        number |= (uint64_t)from[i] << (8 * i);
    }
    return number;
}

uint32_t reel_u32(reel *r)
{
    return (uint32_t)reel_number(r, 4);
}

uint64_t reel_varint(reel *r)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint64_t byte = reel_number(r, 1);

        number |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            return number;
        }
    }
    reel_blame(r, "a number of more than 64 bits");
    return 0;
}

espl_entity reel_entity(reel *r)
{
    const uint32_t index = reel_u32(r);

    return (espl_entity){index, reel_u32(r)};
}

size_t reel_count(reel *r)
{
    const uint64_t count = reel_number(r, 8);

    return count > SIZE_MAX ? SIZE_MAX : (size_t)count;
}

size_t reel_length(reel *r, unsigned width, size_t size)
{
    const uint64_t length = reel_number(r, width);

    if (r->state == REEL_GOOD && length > reel_left(r) / size) {
        r->state = REEL_SHORT;
        return 0;
    }
    return (size_t)length;
}

uint32_t reel_up_to(reel *r, uint32_t limit, const char *what)
{
    const uint32_t number = reel_u32(r);

    if (number > limit) {
        reel_blame(r, "%u %s, more than %u", number, what, limit);
        return 0;
    }
    return number;
}

void reel_words(reel *r, void *out, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t word = reel_u32(r);

        memcpy((unsigned char *)out + 4 * i, &word, sizeof word);
    }
}

void *reel_list(reel *r, size_t count, size_t size)
{
    void *list = NULL;

    if (r->state != REEL_GOOD) {
        return NULL;
    }
    if (r->list_count < REEL_LISTS) {
        list = calloc(count != 0 ? count : 1, size);
    }
    if (list == NULL) {
        reel_blame(r, "no memory for a list of %zu", count);
        return NULL;
    }
    r->lists[r->list_count++] = list;
    return list;
}

void reel_next(reel *r)
{
    while (r->list_count != 0) {
        free(r->lists[--r->list_count]);
    }
    r->record = r->at;
}
