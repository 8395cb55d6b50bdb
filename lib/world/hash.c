// SPDX-License-Identifier: MIT
// espl_hash(): two hashes of a whole world, field by field in a fixed order.
//
// The logical hash is of what a user can read. It does not depend on indices, rows or slots, so
// that two worlds with the same history of calls, or with different histories and the same
// contents, agree. The physical hash is of all that a later call depends on; a replay compares it.
// Neither depends on reserved memory, on versions, or on statistics.
//
// The bytes that are hashed are an interface: golden hashes (tests/golden) and tapes hold results.
// What is added to a world later adds nothing to the logical hash of a world without it.
#include "lib/tree/cells.h"
#include "lib/world/entity_slots.h"
#include "lib/world/read.h"
#include "lib/world/refusals.h"
#include "lib/world/state.h"

#include <math.h>
#include <string.h>

// --- Mixing ---

// A word is mixed in by an exclusive or, a product and a shift. The step is a bijection of the
// hash, so that two worlds that differ in one word never agree. The constants are the golden ratio
// in 64 bits and those of the finisher of SplitMix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", 2014). FNV-1a was rejected because it takes bytes, a product for
// each: 8 times as many.
static const uint64_t hash_start = UINT64_C(0x6573706c686173);

// Mix a word into a hash.
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

// Make each bit of a hash depend on all of its words, before the hash is added to others.
static uint64_t finish_hash(uint64_t hash)
{
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    return hash ^ (hash >> 31);
}

// Two numbers of 32 bits as one word.
static uint64_t mix_pair(uint64_t hash, uint32_t low, uint32_t high)
{
    return mix(hash, low | (uint64_t)high << 32);
}

// Bytes as little-endian words, the last one padded with zeros. The size comes first, so that zeros
// at the end count.
static uint64_t mix_bytes(uint64_t hash, const unsigned char *bytes, size_t size)
{
    hash = mix(hash, size);
    for (size_t at = 0; at < size; at += 8) {
        const size_t count = size - at < 8 ? size - at : 8;
        uint64_t word = 0;

        for (size_t i = 0; i < count; ++i) {
            word |= (uint64_t)bytes[at + i] << (8 * i);
        }
        hash = mix(hash, word);
    }
    return hash;
}

#define NAN_WORD UINT32_C(0x7fc00000)

// Floats by their bits, so that -0 is not 0. All NaNs count as one, because the sign and the
// payload of a NaN depend on the machine.
static uint64_t mix_floats(uint64_t hash, const float *values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t word;

        memcpy(&word, &values[i], sizeof word);
        hash = mix(hash, isnan(values[i]) ? NAN_WORD : word);
    }
    return hash;
}

// The fields one by one, because a struct may have padding.
static uint64_t mix_pose(uint64_t hash, const espl_pose *pose)
{
    hash = mix_floats(hash, pose->rotation, 4);
    hash = mix_floats(hash, pose->position, 3);
    return mix_floats(hash, &pose->scale, 1);
}

static uint64_t mix_extra(uint64_t hash, const espl__extra *extra)
{
    return mix(mix_floats(hash, extra->stretch, 3), extra->user_data);
}

static uint64_t mix_transform(uint64_t hash, const espl_transform *transform)
{
    const espl_pose pose = espl__pose_of(transform);
    const espl__extra extra = espl__extra_of(transform);

    return mix_extra(mix_pose(hash, &pose), &extra);
}

// --- Logical: what can be read ---

// The bytes of a value without its references, which hash_references() hashes by what they name.
static uint64_t mix_value(uint64_t hash, const espl__component_info *info,
                          const unsigned char *value)
{
    size_t at = 0;

    for (uint32_t r = 0; r < info->reference_count; ++r) {
        ESPL_CHECK(info->references[r] >= at);
        hash = mix_bytes(hash, value + at, info->references[r] - at);
        at = info->references[r] + sizeof(espl_entity);
    }
    return mix_bytes(hash, value + at, info->size - at);
}

// A sum, so that the order of components does not count: it depends on the order of registration,
// and so do their numbers, which is why they are hashed by name. Roles are left out because they
// follow from the parents, and are late where there was no memory.
static uint64_t hash_components(const espl_world *world, uint32_t index)
{
    const espl__store *const store = &world->store;
    const espl__archetype *const archetype =
        &store->archetypes[espl__entity_archetype(store, index)];
    const size_t count = espl__array_length(archetype->set);
    uint64_t sum = 0;

    for (size_t i = 0; i < count; ++i) {
        const espl_component component = archetype->set[i];
        const espl__component_info *const info = espl__component_info_of(store, component);

        if (component == ESPL_TRANSFORM || espl__is_role(component)) {
            continue;
        }
        uint64_t hash =
            mix_bytes(hash_start, (const unsigned char *)info->name, strlen(info->name));

        if (info->size != 0) {
            hash = mix_value(hash, info, espl__row_value(store, index, component));
        }
        sum += finish_hash(hash);
    }
    return sum;
}

// An entity without a name adds nothing, so that the hash of a world without names is what it was
// before names existed.
static uint64_t mix_name(uint64_t hash, const espl__store *store, uint32_t index)
{
    const espl__name *const name = espl__name_of(&store->names, index);

    return name == NULL ? hash : mix_bytes(hash, (const unsigned char *)name->text, name->size);
}

// The original of an entity as a number, because it is that of another world. An entity without one adds
// nothing.
static uint64_t mix_original(uint64_t hash, const espl__store *store, uint32_t index)
{
    const espl_entity original = espl__original_of(&store->counterparts, index);

    return espl_entity_is_null(original) ? hash
                                         : mix_pair(hash, original.index, original.generation);
}

// The earlier locals of an entity that can be read, where motion runs. A node that was made in this tick reads
// as it is now. Earlier worlds follow from these. Of a member with inherit flags the stored local counts, because
// the one that is read takes a composition of all links above.
static uint64_t mix_past(uint64_t hash, const espl__forest *forest, uint32_t slot)
{
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);

    for (uint32_t time = 0; time < pasts; ++time) {
        const espl__placement placement = espl__placement_at(forest, (int)time, slot);

        hash = mix_pose(mix_pose(hash, &placement.local), &placement.kept.pose);
    }
    return hash;
}

// What an entity shows of itself, without what its references name.
static uint64_t hash_looks(const espl_world *world, uint32_t index)
{
    const uint32_t slot = world->store.records[index].slot;
    const bool is_placed = !espl__slot_is(&world->forest, slot, ESPL__SLOT_BARE);
    uint64_t hash = mix_pair(hash_start, is_placed, espl__slot_kept(&world->forest, slot).flags);

    if (is_placed) {
        const espl_transform local = espl__read_local(world, slot);
        const espl_transform seen = espl__read_world(world, slot);

        hash = mix_transform(mix_transform(hash, &local), &seen);
        if (espl__forest_has_motion(&world->forest)) {
            hash = mix_past(hash, &world->forest, slot);
        }
    }
    return mix_original(mix_name(mix(hash, hash_components(world, index)), &world->store, index),
                        &world->store, index);
}

// A reference is hashed by what the entity it names shows, because its handle differs between
// worlds. A null reference is 0, a dead one 1. Not recursive: the references of that entity do not
// count.
static uint64_t hash_named(const espl_world *world, const unsigned char *field)
{
    espl_entity entity;

    memcpy(&entity, field, sizeof entity);
    if (espl_entity_is_null(entity)) {
        return 0;
    }
    return espl__entity_is_alive(&world->store, entity) ? hash_looks(world, entity.index) : 1;
}

// The references of an entity's components; a sum, as in hash_components().
static uint64_t hash_references(const espl_world *world, uint32_t index)
{
    const espl__store *const store = &world->store;
    const espl__archetype *const archetype =
        &store->archetypes[espl__entity_archetype(store, index)];
    const size_t count = espl__array_length(archetype->columns);
    uint64_t sum = 0;

    for (size_t i = 0; i < count && store->referring_count != 0; ++i) {
        const espl_component component = archetype->columns[i].component;
        const espl__component_info *const info = espl__component_info_of(store, component);

        if (info->reference_count == 0) {
            continue;
        }
        const unsigned char *const value = espl__row_value(store, index, component);
        uint64_t hash =
            mix_bytes(hash_start, (const unsigned char *)info->name, strlen(info->name));

        for (uint32_t r = 0; r < info->reference_count; ++r) {
            hash = mix(hash, hash_named(world, value + info->references[r]));
        }
        sum += finish_hash(hash);
    }
    return sum;
}

// The cell of a hierarchy, unless it is the middle one.
static uint64_t mix_cell(uint64_t hash, const espl__forest *forest, uint32_t top)
{
    const espl__cell cell = espl__cell_of(forest, top);

    if ((cell.at[0] | cell.at[1] | cell.at[2]) == 0) {
        return hash;
    }
    hash = mix_floats(hash, &forest->cell_size, 1);
    for (int i = 0; i < 3; ++i) {
        hash = mix(hash, (uint32_t)cell.at[i]);
    }
    return hash;
}

// A hierarchy in depth-first order, parents first. The numbers of children determine the shape.
static uint64_t hash_hierarchy(const espl_world *world, uint32_t top)
{
    const espl__forest *const forest = &world->forest;
    uint64_t hash = hash_start;

    ESPL_CHECK(espl__is_root(forest, top));
    hash = mix_cell(hash, forest, top);

    for (uint32_t slot = top; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, true)) {
        const bool is_free = slot != top && espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK);
        const uint32_t index = forest->links[slot].entity;

        hash = mix(hash, espl__count_children(forest, slot) << 1 | (is_free ? 1u : 0u));
        hash = mix(hash, hash_looks(world, index));
        hash = mix(hash, hash_references(world, index));
    }
    return finish_hash(hash);
}

// A sum over hierarchies and solos, because they have no order.
static uint64_t hash_logical(const espl_world *world)
{
    const espl__store *const store = &world->store;
    const size_t length = espl__array_length(store->records);
    uint64_t sum = 0;

    for (uint32_t index = 0; index < length; ++index) {
        const uint32_t slot =
            espl__index_is_alive(store, index) ? store->records[index].slot : ESPL__NO_SLOT;

        if (slot != ESPL__NO_SLOT && espl__is_root(&world->forest, slot)) {
            sum += hash_hierarchy(world, slot);
        }
    }
    return finish_hash(mix(mix(hash_start, store->alive_count), sum));
}

// --- Physical: where it is stored ---

// Mix words in pairs.
static uint64_t mix_pairs(uint64_t hash, const uint32_t *words, size_t count)
{
    ESPL_CHECK_FULL(count % 2 == 0);
    for (size_t i = 0; i < count; i += 2) {
        hash = mix_pair(hash, words[i], words[i + 1]);
    }
    return hash;
}

// The visit function of the hash, which is the context. Notes are no part of it. A text that is missing
// adds nothing, so that the hash of a world without names is what it was before names existed.
static void mix_piece(void *context, const char *name, espl__state_kind kind, const void *data,
                      size_t count)
{
    uint64_t hash = *(uint64_t *)context;

    (void)name;
    switch (kind) {
    case ESPL__STATE_NOTE:
        return;
    case ESPL__STATE_WORDS:
        for (size_t i = 0; i < count; ++i) {
            hash = mix(hash, ((const uint32_t *)data)[i]);
        }
        break;
    case ESPL__STATE_PAIRS:
        hash = mix_pairs(hash, data, count);
        break;
    case ESPL__STATE_FLOATS:
        hash = mix_floats(hash, data, count);
        break;
    case ESPL__STATE_TEXT:
        hash = count == 0 ? hash : mix_bytes(hash, data, count);
        break;
    case ESPL__STATE_BYTES:
        hash = mix_bytes(hash, data, count);
        break;
    }
    *(uint64_t *)context = hash;
}

static uint64_t hash_physical(const espl_world *world)
{
    uint64_t hash = hash_start;
    const espl__state_visitor visitor = {mix_piece, &hash};

    espl__state_visit(world, &visitor);
    return finish_hash(hash);
}

// --- The call ---

espl_status espl_hash(const espl_world *world, espl_hash_kind kind, uint64_t *out)
{
    espl_status status = ESPL_OK;

    if (world == NULL || out == NULL || (kind != ESPL_HASH_LOGICAL && kind != ESPL_HASH_PHYSICAL)) {
        status = ESPL_ERR_ARGUMENT;
    } else if (espl__is_parallel(world)) {
        status = ESPL_ERR_BUSY;
    } else {
        *out = kind == ESPL_HASH_LOGICAL ? hash_logical(world) : hash_physical(world);
    }
    return espl__refuse_call(world, "espl_hash", status,
                             out == NULL ? "out is NULL." : "kind is none of espl_hash_kind.");
}
