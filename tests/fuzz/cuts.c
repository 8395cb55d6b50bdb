// SPDX-License-Identifier: MIT
#include "tests/fuzz/cuts.h"

#include "tools/replay.h"

#include <stdbool.h>

// Bytes not read yet. Past the end there is nothing, and all that follows is 0.
typedef struct cutter {
    const unsigned char *bytes;
    size_t size, at;
    bool is_past;
} cutter;

static void skip(cutter *c, uint64_t count, uint64_t width)
{
    const size_t left = c->size - c->at;

    if (width != 0 && count > left / width) {
        c->is_past = true;
        c->at = c->size;
    } else {
        c->at += (size_t)(count * width);
    }
}

static uint64_t number(cutter *c, size_t width)
{
    const size_t from = c->at;
    uint64_t value = 0;

    skip(c, width, 1);
    for (size_t i = 0; !c->is_past && i < width; ++i) {
        value |= (uint64_t)c->bytes[from + i] << 8 * i;
    }
    return value;
}

static void skip_words(cutter *c)
{
    skip(c, number(c, 4), 4);
}

static void skip_value(cutter *c)
{
    skip(c, 4, 1);
    const uint64_t size = number(c, 4);

    if (number(c, 4) == 1) {
        skip(c, size, 1);
    }
}

static uint64_t varint(cutter *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && !c->is_past; shift += 7) {
        const uint64_t byte = number(c, 1);

        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            break;
        }
    }
    return value;
}

// Skip a write. @return its kind. @param last  the kind of the write before.
static uint64_t skip_write(cutter *c, uint64_t last)
{
    static const unsigned char widths[4] = {0, 1, 3, 4};
    const uint64_t head = varint(c);

    if ((head & 2) != 0) {
        (void)varint(c);
    }
    const uint64_t kind = (head & 1) != 0 ? varint(c) : last;
    const size_t words = replay_value_words((uint32_t)kind), from = c->at;
    uint64_t size = 0;

    skip(c, (words + 3) / 4, 1);
    for (size_t i = 0; i < words && !c->is_past; ++i) {
        size += widths[c->bytes[from + i / 4] >> (2 * (i % 4)) & 3];
    }
    skip(c, size, 1);
    return kind;
}

static void skip_writes(cutter *c)
{
    uint64_t kind = ESPL_WRITE_KIND_COUNT;

    for (uint64_t left = number(c, 8); left > 0 && !c->is_past; --left) {
        kind = skip_write(c, kind);
    }
}

static void skip_change(cutter *c)
{
    skip(c, number(c, 8), 8);
    for (uint64_t left = number(c, 4); left > 0 && !c->is_past; --left) {
        skip_value(c);
    }
    skip_words(c);
}

static void skip_registration(cutter *c)
{
    skip(c, number(c, 4), 1);
    skip(c, 8, 1);
    skip_words(c);
    skip(c, 8, 1);
    for (uint64_t left = number(c, 4); left > 0 && !c->is_past; --left) {
        skip(c, number(c, 4), 1);
        skip(c, 12, 1);
    }
}

// Where the handles of a command stand.
enum { OPERANDS_AT = 4 + 1 + 4, OPERANDS = 3 };

static void skip_command(cutter *c)
{
    skip(c, OPERANDS_AT + OPERANDS * 8 + 4 + 8, 1);
    skip(c, number(c, 4), 1);
    for (uint64_t left = number(c, 4); left > 0 && !c->is_past; --left) {
        skip(c, 4, 1);
        const uint64_t size = number(c, 4);

        skip(c, size != 0xffff ? size : 0, 1);
    }
}

static void skip_list(cutter *c, void (*item)(cutter *c))
{
    for (uint64_t left = number(c, 8); left > 0 && !c->is_past; --left) {
        item(c);
    }
}

static void skip_column(cutter *c)
{
    skip(c, 4, 1);
    const uint64_t width = number(c, 4), count = number(c, 8);

    skip(c, count, 8);
    skip(c, count, width);
}

// Fields of one length.
static const unsigned char lengths[ESPL_TAPE_OP_COUNT] = {
    [ESPL_TAPE_FRAME] = 12,          [ESPL_TAPE_ENABLE] = 12,      [ESPL_TAPE_DISABLE] = 12,
    [ESPL_TAPE_ATTACH] = 44,         [ESPL_TAPE_DETACH] = 12,      [ESPL_TAPE_SIBLING] = 16,
    [ESPL_TAPE_DESTROY] = 12,        [ESPL_TAPE_INSTANTIATE] = 16, [ESPL_TAPE_ROTATE_ABOUT] = 36,
    [ESPL_TAPE_INHERIT] = 12,        [ESPL_TAPE_VIEW] = 8,         [ESPL_TAPE_COMPACT] = 0,
    [ESPL_TAPE_CLEAR] = 0,           [ESPL_TAPE_SYNC] = 0,         [ESPL_TAPE_MOTION_START] = 4,
    [ESPL_TAPE_HISTORY_CREATE] = 16, [ESPL_TAPE_MARK] = 8,         [ESPL_TAPE_REWIND] = 12,
    [ESPL_TAPE_REBASE] = 24,         [ESPL_TAPE_RECENTER] = 4};

static void skip_fields(cutter *c, uint64_t op)
{
    switch (op) {
    case ESPL_TAPE_REGISTER:
        skip_registration(c);
        break;
    case ESPL_TAPE_CREATE:
        skip_words(c);
        skip(c, 8, 1);
        break;
    case ESPL_TAPE_RESERVE:
        skip(c, 8, 1);
        skip_words(c);
        skip(c, 32, 1);
        break;
    case ESPL_TAPE_CHANGE:
        skip_change(c);
        break;
    case ESPL_TAPE_SET:
        skip(c, 8, 1);
        skip_value(c);
        break;
    case ESPL_TAPE_WRITES:
        skip_writes(c);
        break;
    case ESPL_TAPE_WRITE:
        (void)skip_write(c, ESPL_WRITE_KIND_COUNT);
        break;
    case ESPL_TAPE_LOOK_AT:
        skip(c, 20, 1);
        skip(c, number(c, 4) == 1 ? 16 : 4, 1);
        break;
    case ESPL_TAPE_COLUMN:
        skip_column(c);
        break;
    case ESPL_TAPE_PLAY:
        skip(c, 8, 1);
        skip_list(c, skip_command);
        break;
    case ESPL_TAPE_MAKE:
        skip_command(c);
        break;
    case ESPL_TAPE_NAME:
        skip(c, 8, 1);
        skip(c, number(c, 4), 1);
        break;
    case ESPL_TAPE_ATTACH_MANY:
        skip(c, number(c, 8), 16);
        skip(c, 28, 1);
        break;
    case ESPL_TAPE_COUNTERPARTS:
        skip(c, number(c, 8), 16);
        break;
    case ESPL_TAPE_ARCHIVE:
        skip(c, 12, 1);
        skip(c, number(c, 8), 1);
        break;
    case ESPL_TAPE_APPLY:
        skip(c, 12, 1);
        skip(c, number(c, 8), 1);
        skip(c, number(c, 8), 1);
        skip(c, number(c, 8), 8);
        break;
    case ESPL_TAPE_IMAGE:
        skip(c, 4, 1);
        skip(c, number(c, 8), 1);
        break;
    case ESPL_TAPE_DESTROY_MANY:
        skip(c, number(c, 8), 8);
        skip(c, 4, 1);
        break;
    default:
        skip(c, lengths[op], 1);
        break;
    }
}

size_t cuts_record(const unsigned char *bytes, size_t size, size_t at)
{
    cutter c = {bytes, size, at, false};
    const uint64_t op = number(&c, 1);

    if (op == 0 || op >= ESPL_TAPE_OP_COUNT) {
        return 0;
    }
    skip_fields(&c, op);
    skip(&c, 1, 1); // what was answered
    return c.is_past ? 0 : c.at - at;
}

// --- Tags ---

enum { TAG_MASK = 0x7fffff };

static uint64_t number_at(const unsigned char *bytes, size_t at, size_t width)
{
    cutter c = {bytes, at + width, at, false};

    return number(&c, width);
}

static void put_tag(unsigned char *at, uint32_t tag)
{
    at[0] = (unsigned char)tag;
    at[1] = (unsigned char)(tag >> 8);
    at[2] = (unsigned char)((at[2] & 0x80) | (tag >> 16 & 0x7f));
}

static void retag_playback(unsigned char *bytes, size_t size, size_t at, uint32_t tag)
{
    const uint64_t old = number_at(bytes, at + 5, 4) & TAG_MASK,
                   count = number_at(bytes, at + 9, 8);
    cutter c = {bytes, size, at + 17, false};

    put_tag(bytes + at + 5, tag);
    for (uint64_t i = 0; i < count && !c.is_past; ++i) {
        for (size_t k = 0; k < OPERANDS; ++k) {
            const size_t generation = c.at + OPERANDS_AT + k * 8 + 4;
            const uint64_t word = number_at(bytes, generation, 4);

            if (word >> 31 != 0 && (word & TAG_MASK) == old) {
                put_tag(bytes + generation, tag);
            }
        }
        skip_command(&c);
    }
}

void cuts_retag(unsigned char *bytes, size_t size, uint32_t tag)
{
    size_t length = 0;

    for (size_t at = CUTS_HEAD_SIZE; at < size; at += length) {
        length = cuts_record(bytes, size, at);
        if (length == 0) {
            return;
        }
        if (bytes[at] == ESPL_TAPE_PLAY) {
            retag_playback(bytes, size, at, tag);
        }
    }
}
