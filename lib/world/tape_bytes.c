// SPDX-License-Identifier: MIT
// The bytes of a tape, and the begin and end of its records (lib/world/tape_bytes.h). Nothing here
// allocates or fails: a sink that cannot write has no way to say so, and the world goes on without
// it.
#include "lib/world/tape_bytes.h"

#include "lib/base/numbers.h"
#include <string.h>

// --- Bytes ---

// Postcondition: the buffer is empty.
void espl__tape_flush(espl_world *world)
{
    espl__tape *const tape = &world->tape;

    ESPL_CHECK(tape->used <= sizeof tape->bytes);
    if (tape->used != 0) {
        tape->sink.append(tape->sink.user, tape->bytes, tape->used);
        tape->used = 0;
    }
}

// @param bytes  [size]; may be NULL where size is 0.
void espl__tape_bytes(espl_world *world, const void *bytes, size_t size)
{
    espl__tape *const tape = &world->tape;
    const unsigned char *from = bytes;

    ESPL_CHECK(bytes != NULL || size == 0);
    while (size != 0) {
        const size_t room = sizeof tape->bytes - tape->used;
        const size_t count = size < room ? size : room;

        memcpy(tape->bytes + tape->used, from, count);
        tape->used += count;
        from += count;
        size -= count;
        if (tape->used == sizeof tape->bytes) {
            espl__tape_flush(world);
        }
    }
}

// Little-endian on every machine. @param size  bytes, at most 8.
static void put_number(espl_world *world, uint64_t number, unsigned size)
{
    unsigned char bytes[8];

    ESPL_CHECK(size <= sizeof bytes);
    espl__number_store(bytes, number, size);
    espl__tape_bytes(world, bytes, size);
}

void espl__tape_u8(espl_world *world, unsigned number)
{
    ESPL_CHECK(number <= UINT8_MAX);
    put_number(world, number, 1);
}

void espl__tape_u32(espl_world *world, uint32_t number)
{
    put_number(world, number, 4);
}

void espl__tape_u64(espl_world *world, uint64_t number)
{
    put_number(world, number, 8);
}

void espl__tape_entity(espl_world *world, espl_entity entity)
{
    espl__tape_u32(world, entity.index);
    espl__tape_u32(world, entity.generation);
}

// Words of 4 bytes in the byte order of the machine: floats, and the user data of a transform.
// @param words  [4 * count] bytes of any alignment.
void espl__tape_words(espl_world *world, const void *words, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t word;

        memcpy(&word, (const unsigned char *)words + 4 * i, sizeof word);
        espl__tape_u32(world, word);
    }
}

// The count, and the words.
void espl__tape_list(espl_world *world, const uint32_t *words, size_t count)
{
    ESPL_CHECK(count <= UINT32_MAX);
    espl__tape_u32(world, (uint32_t)count);
    espl__tape_words(world, words, count);
}

// --- Records ---

// Begin a record with the byte of its operation.
void espl__tape_begin(espl_world *world, espl_tape_op op)
{
    ESPL_CHECK(espl__is_taped(world) && !world->tape.is_open);
    ESPL_CHECK(op > 0 && op < ESPL_TAPE_OP_COUNT);
    world->tape.is_open = true;
    espl__tape_u8(world, op);
}

espl_status espl__tape_close(espl_world *world, espl_status status)
{
    ESPL_CHECK((int)status >= INT8_MIN && (int)status <= INT8_MAX);
    if (world->tape.is_open) {
        world->tape.is_open = false;
        espl__tape_u8(world, (unsigned)(int)status & 0xffu);
        espl__tape_flush(world);
    }
    return status;
}

// Return what the head has of cells: 0 without them, else 1 for the size 1, 2 for 2, 3 for 4, and so on.
static unsigned size_of_cells(const espl_world *world)
{
    unsigned number = 0;

    for (uint32_t size = (uint32_t)world->forest.cell_size; size != 0; size /= 2) {
        number += 1;
    }
    return number;
}

void espl__tape_head(espl_world *world)
{
    const uint32_t order = 0x01020304;

    ESPL_CHECK(!world->tape.is_open && world->tape.used == 0);
    espl__tape_bytes(world, "espltape", 8);
    espl__tape_u32(world, ESPL_TAPE_VERSION);
    espl__tape_u32(world, world->store.tag);
    espl__tape_bytes(world, &order, sizeof order);
    espl__tape_u8(world, ESPL__INDEX_BITS);
    espl__tape_u8(world, ESPL__GENERATION_BITS);
    espl__tape_u8(world, ESPL__CHUNK_ROWS);
    espl__tape_u8(world, size_of_cells(world));
    espl__tape_u64(world, world->layout_budget);
    espl__tape_flush(world);
}
