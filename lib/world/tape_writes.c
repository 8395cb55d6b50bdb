// SPDX-License-Identifier: MIT
// Writes on a tape. The format is in espalier/tape.h: a handle and a kind are told where they are not those
// of the write before, and a word of a value by its difference from the word that the local of the entity has.
// Both sides know that word, because a replay has the same world before each call.
//
// A local is used where it is stored as it reads: not of a node with inherit flags, whose local is computed. For
// the worlds of members nothing is known, because those of a hierarchy may be late inside of a parallel write.
#include "lib/world/tape_writes.h"

#include "lib/base/numbers.h"
#include "lib/math/word_rest.h"
#include "lib/tree/write_kinds.h"
#include "lib/world/entity_slots.h"
#include "lib/world/tape_bytes.h"

#include <string.h>

enum { WORDS = sizeof(espl_transform) / 4 };

_Static_assert(sizeof(espl_transform) == 48 && offsetof(espl_transform, position) == 16 &&
                   offsetof(espl_transform, scale) == 28 &&
                   offsetof(espl_transform, stretch) == 32 &&
                   offsetof(espl_transform, user_data) == 44,
               "the words of a transform");

// Where the words of a value of each kind stand in a transform.
static uint32_t first_word(espl_write_kind base)
{
    switch (base) {
    case ESPL_WRITE_LOCAL_POSITION:
    case ESPL_WRITE_WORLD_POSITION:
    case ESPL_WRITE_TRANSLATE_IN_PARENT:
    case ESPL_WRITE_TRANSLATE_WORLD:
    case ESPL_WRITE_TRANSLATE_OWN:
    case ESPL_WRITE_CELL:
    case ESPL_WRITE_ABSOLUTE_POSITION: // behind it are the words of scale and stretch
        return 4;
    case ESPL_WRITE_LOCAL_SCALE:
    case ESPL_WRITE_WORLD_SCALE:
    case ESPL_WRITE_MULTIPLY_SCALE:
        return 7;
    case ESPL_WRITE_STRETCH:
    case ESPL_WRITE_MULTIPLY_STRETCH:
        return 8;
    case ESPL_WRITE_USER_DATA:
        return 11;
    default:
        return 0;
    }
}

// Tell whether a kind sets what the local of the entity has; a root has its world in the local.
static bool sets_local(espl_write_kind base, bool is_root)
{
    return base <= ESPL_WRITE_USER_DATA || base == ESPL_WRITE_PREVIOUS_LOCAL_POSE ||
           (is_root &&
            (base <= ESPL_WRITE_WORLD_TRANSFORM || base == ESPL_WRITE_PREVIOUS_WORLD_POSE));
}

// The transform that a value is compared with.
static espl_transform expected_of(const espl_world *world, espl_entity entity, espl_write_kind base)
{
    const espl__forest *const forest = &world->forest;
    uint32_t slot = 0;

    if (espl__find_placed(world, entity, &slot) != ESPL_OK ||
        espl__slot_kept(forest, slot).flags != 0 ||
        !sets_local(base, forest->parent[slot] == ESPL__NO_SLOT)) {
        return espl_transform_identity();
    }
    const espl__extra extra = espl__slot_extra(forest, slot);

    return espl__transform_of(&forest->local[slot], &extra);
}

static void put_varint(espl_world *world, uint64_t number)
{
    unsigned char bytes[ESPL__VARINT_ROOM];

    espl__tape_bytes(world, bytes, espl__varint_store(bytes, number));
}

// Bytes that a word has on the tape, by its two bits.
static const unsigned char widths[4] = {0, 1, 3, 4};

// Write what is left of words: two bits for each, then their bytes.
static void put_rests(espl_world *world, const uint32_t *rests, uint32_t count)
{
    unsigned char sizes[WORDS / 4] = {0};

    ESPL_CHECK(count <= WORDS);
    for (uint32_t i = 0; i < count; ++i) {
        unsigned size = 0;

        while (size < 3 && rests[i] >> (8 * widths[size]) != 0) {
            size += 1;
        }
        sizes[i / 4] |= (unsigned char)(size << (2 * (i % 4)));
    }
    espl__tape_bytes(world, sizes, (count + 3) / 4);
    for (uint32_t i = 0; i < count; ++i) {
        for (unsigned byte = 0; byte < widths[sizes[i / 4] >> (2 * (i % 4)) & 3]; ++byte) {
            espl__tape_u8(world, rests[i] >> (8 * byte) & 0xff);
        }
    }
}

static void put_value_of_write(espl_world *world, espl_entity entity, espl_write_kind kind,
                               const void *value)
{
    const espl_write_kind base = espl__write_base(kind);
    const uint32_t count = (uint32_t)(espl__write_value_size(kind) / 4);
    uint32_t words[WORDS] = {0}, expected[WORDS];

    if (count == 0) {
        return;
    }
    const espl_transform before = expected_of(world, entity, base);
    const uint32_t first = first_word(base);

    ESPL_CHECK(first + count <= WORDS && (first != 0 || count >= 4));
    memcpy(words, value, (size_t)4 * count);
    memcpy(expected, &before, sizeof before);
    if (first == 0) {
        const unsigned largest = espl__main_component(expected);

        expected[largest] = espl__predict_component(expected, words, largest);
    }
    for (uint32_t i = 0; i < count; ++i) {
        words[i] = espl__word_rest(words[i], expected[first + i]);
    }
    put_rests(world, words, count);
}

// The write before the first one of a record.
static const espl_write_kind kind_before_first = ESPL_WRITE_KIND_COUNT;

static espl_entity first_handle(const espl_world *world)
{
    return (espl_entity){0, world->store.tag << ESPL__TAG_SHIFT | 1};
}

// Write the head of a write, and its value. @param last  in and out: the handle before. @param last_kind  likewise.
static void put_write(espl_world *world, espl_entity entity, espl_write_kind kind,
                      const void *value, espl_entity *last, espl_write_kind *last_kind)
{
    const bool has_kind = kind != *last_kind,
               has_generation = entity.generation != last->generation;
    const uint32_t step = espl__fold(entity.index - last->index);

    put_varint(world, (uint64_t)step << 2 | (has_generation ? 2 : 0) | (has_kind ? 1 : 0));
    if (has_generation) {
        put_varint(world, espl__fold(entity.generation - last->generation));
    }
    if (has_kind) {
        put_varint(world, (uint32_t)kind);
    }
    *last = entity;
    *last_kind = kind;
    put_value_of_write(world, entity, kind, value);
}

void espl__tape_write(espl_world *world, espl_entity entity, espl_write_kind kind,
                      const void *value)
{
    espl_entity last = first_handle(world);
    espl_write_kind last_kind = kind_before_first;

    put_write(world, entity, kind, value, &last, &last_kind);
}

void espl__tape_entries(espl_world *world, const espl__entries *e)
{
    espl_entity last = first_handle(world);
    espl_write_kind last_kind = kind_before_first;

    espl__tape_u64(world, e->count);
    for (size_t i = 0; i < e->count; ++i) {
        const espl_entity entity =
            espl__entries_has_value(e, i) ? espl__entries_entity(e, i) : espl_entity_null();

        put_write(world, entity, espl__entries_kind(e, i), espl__entries_value(e, i), &last,
                  &last_kind);
    }
}
