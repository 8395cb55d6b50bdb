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

// --- Trace ---

// Room for one more field and its words. @return false: there is no memory.
static bool make_room(reel_trace *t, size_t words)
{
    if (t->count == t->room) {
        const size_t room = t->room == 0 ? 64 : 2 * t->room;
        reel_field *const fields = realloc(t->fields, room * sizeof *fields);

        if (fields == NULL) {
            return false;
        }
        t->fields = fields;
        t->room = room;
    }
    if (words > t->word_room - t->word_count) {
        const size_t room = 2 * t->word_room + words;
        uint32_t *const moved = realloc(t->words, room * sizeof *moved);

        if (moved == NULL) {
            return false;
        }
        t->words = moved;
        t->word_room = room;
    }
    return true;
}

static void note(reel *r, reel_kind kind, size_t at, const void *words, size_t count)
{
    reel_trace *const t = r->trace;

    if (t == NULL || r->state != REEL_GOOD) {
        return;
    }
    if (!make_room(t, count)) {
        reel_blame(r, "no memory for the fields of a record");
        return;
    }
    t->fields[t->count++] = (reel_field){kind, at, r->at - at, t->word_count, count};
    if (count != 0) {
        memcpy(t->words + t->word_count, words, count * sizeof *t->words);
    }
    t->word_count += count;
}

void reel_note(reel *r, reel_kind kind, const void *words, size_t count)
{
    note(r, kind, r->at, words, count);
}

static void note_number(reel *r, reel_kind kind, size_t at, uint64_t number)
{
    const uint32_t words[2] = {(uint32_t)number, (uint32_t)(number >> 32)};

    note(r, kind, at, words, kind == REEL_COMPONENT ? 1 : 2);
}

void reel_item(reel *r)
{
    note(r, REEL_ITEM, r->at, NULL, 0);
}

// --- Fields ---

static const unsigned char *take(reel *r, size_t size)
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

static uint64_t take_number(reel *r, unsigned size)
{
    const unsigned char *const from = take(r, size);
    uint64_t number = 0;

    for (unsigned i = 0; from != NULL && i < size; ++i) {
        number |= (uint64_t)from[i] << (8 * i);
    }
    return number;
}

const unsigned char *reel_bytes(reel *r, size_t size)
{
    const size_t at = r->at;
    const unsigned char *const from = take(r, size);

    note(r, REEL_BYTES, at, NULL, 0);
    return from;
}

uint64_t reel_number(reel *r, unsigned size)
{
    const size_t at = r->at;
    const uint64_t number = take_number(r, size);

    note_number(r, REEL_NUMBER, at, number);
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

espl_component reel_component(reel *r)
{
    const size_t at = r->at;
    const espl_component component = (espl_component)take_number(r, 4);

    note_number(r, REEL_COMPONENT, at, component);
    return component;
}

uint32_t reel_counter(reel *r)
{
    const size_t at = r->at;
    const uint32_t number = (uint32_t)take_number(r, 4);

    note_number(r, REEL_COUNTER, at, number);
    return number;
}

espl_entity reel_entity(reel *r)
{
    const size_t at = r->at;
    const uint32_t index = (uint32_t)take_number(r, 4);
    const espl_entity entity = {index, (uint32_t)take_number(r, 4)};

    note(r, REEL_ENTITY, at, &(uint32_t[]){entity.index, entity.generation}, 2);
    return entity;
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

void reel_words(reel *r, uint32_t *out, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        out[i] = reel_u32(r);
    }
}

void reel_floats(reel *r, void *out, size_t count)
{
    const size_t at = r->at;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t word = (uint32_t)take_number(r, 4);

        memcpy((unsigned char *)out + 4 * i, &word, sizeof word);
    }
    note(r, REEL_FLOATS, at, out, count);
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
    if (r->trace != NULL) {
        r->trace->count = 0;
        r->trace->word_count = 0;
    }
    while (r->list_count != 0) {
        free(r->lists[--r->list_count]);
    }
    r->record = r->at;
}
