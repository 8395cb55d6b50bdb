// SPDX-License-Identifier: MIT
// The manifest leaves nothing out: each field of a struct that a world consists of is saved, made anew by a
// load, or left as it was, and is listed here. A field that is added to a struct and not to the list fails,
// because the list has a gap then.
#include "lib/value/image.h"
#include "tests/runner.h"

// Where a field is after a load.
typedef enum place {
    SAVED, // in the image: in its head, its tables, or an area of the manifest
    MADE,  // made anew from what is saved
    KEPT,  // of the world that loads, before and after
    NONE,  // has a meaning only inside a call
} place;

typedef struct field {
    const char *name;
    size_t offset, size;
    place place;
} field;

#define FIELD(type, name, place) {#name, offsetof(type, name), sizeof(((type *)0)->name), place},

// Check that fields follow each other without a gap but for padding.
static void check(const char *type, const field *fields, size_t count, size_t size)
{
    enum { LEAST = 8 }; // alignment of a number or a pointer
    size_t end = 0;

    for (size_t i = 0; i < count; ++i) {
        ck_assert_msg(fields[i].offset >= end && fields[i].offset - end < LEAST,
                      "%s has a field before %s that is not in the list", type, fields[i].name);
        end = fields[i].offset + fields[i].size;
    }
    ck_assert_msg(size - end < LEAST, "%s has a field at its end that is not in the list", type);
}

#define CHECK(type) check(#type, fields, sizeof fields / sizeof *fields, sizeof(type))

#define STORE(name, place) FIELD(espl__store, name, place)
#define RECORD(name, place) FIELD(espl__record, name, place)
#define ARCHETYPE(name, place) FIELD(espl__archetype, name, place)
#define CHUNK(name, place) FIELD(espl__chunk, name, place)

TEST(each_field_of_a_store_has_a_place)
{
    // clang-format off
    static const field fields[] = {
        STORE(heap, KEPT) STORE(tag, KEPT) STORE(records, SAVED) STORE(free_head, SAVED)
        STORE(free_count, SAVED) STORE(alive_count, SAVED) STORE(retired_count, SAVED)
        STORE(least_generation, SAVED)
        STORE(freed, NONE) STORE(freed_at, NONE) // what to prefetch
        STORE(component_blocks, KEPT) STORE(component_count, KEPT) STORE(component_names, KEPT)
        STORE(archetypes, SAVED) STORE(archetype_sets, MADE) STORE(chunks, SAVED)
        STORE(free_chunks, MADE) STORE(changed, NONE) STORE(changed_chunks, NONE)
        STORE(version, MADE) STORE(referring_count, KEPT) STORE(unique_count, KEPT)
        STORE(fill_least, KEPT)
        STORE(names, SAVED) STORE(counterparts, SAVED) STORE(index_plane, MADE)
    };
    // clang-format on

    CHECK(espl__store);
}

TEST(each_field_of_a_record_and_of_rows_has_a_place)
{
    // clang-format off
    {
        static const field fields[] = {
            RECORD(generation, SAVED) RECORD(chunk, MADE) // of a free index it is saved
            RECORD(row, MADE) RECORD(slot, SAVED)
        };
        CHECK(espl__record);
    }
    {
        static const field fields[] = {
            ARCHETYPE(set, SAVED) ARCHETYPE(columns, MADE) ARCHETYPE(chunks, MADE)
            ARCHETYPE(capacity, MADE) ARCHETYPE(chunk_bytes, MADE) ARCHETYPE(versions_offset, MADE)
            ARCHETYPE(placement_offset, MADE) ARCHETYPE(block_alignment, MADE)
            ARCHETYPE(is_changed, NONE) ARCHETYPE(count, SAVED) ARCHETYPE(reserved, MADE)
            ARCHETYPE(wanted, NONE) ARCHETYPE(floor, NONE) // reserved rows
            ARCHETYPE(leaving_count, NONE) ARCHETYPE(tail, NONE) ARCHETYPE(coming, NONE)
            ARCHETYPE(changed_to, NONE) ARCHETYPE(gain, NONE) ARCHETYPE(loss, NONE)
            ARCHETYPE(role_edge, NONE) ARCHETYPE(copy_edge, NONE) ARCHETYPE(builtin, MADE)
        };
        CHECK(espl__archetype);
    }
    {
        static const field fields[] = {
            CHUNK(bytes, SAVED) CHUNK(archetype, MADE) CHUNK(position, MADE) CHUNK(count, MADE)
            CHUNK(slots_offset, MADE) CHUNK(versions, MADE) CHUNK(leaving_count, NONE)
            CHUNK(mark, NONE) CHUNK(leaving, NONE) CHUNK(filler, NONE)
        };
        CHECK(espl__chunk);
    }
    // clang-format on
}

#define FOREST(name, place) FIELD(espl__forest, name, place)
#define TREE(name, place) FIELD(espl__tree, name, place)
#define TRACKS(name, place) FIELD(espl__tracks, name, place)
#define SIDE(name, place) FIELD(espl__side, name, place)

TEST(each_field_of_a_forest_has_a_place)
{
    // clang-format off
    static const field fields[] = {
        FOREST(heap, KEPT) FOREST(columns, SAVED) FOREST(block, MADE) FOREST(block_size, MADE)
        FOREST(capacity, MADE) FOREST(end, SAVED) FOREST(floor, KEPT) FOREST(tree_floor, KEPT)
        FOREST(makings, MADE) FOREST(trees, SAVED) FOREST(sides, SAVED) FOREST(free_sides, MADE)
        FOREST(side_capacity, MADE) FOREST(free_side_count, MADE) FOREST(side_count, MADE)
        FOREST(tree_capacity, MADE) FOREST(tree_end, SAVED) FOREST(free_tree, SAVED)
        FOREST(free_heads, MADE) FOREST(free_bits, MADE) FOREST(free_slots, MADE)
        FOREST(unsettled, MADE) FOREST(nursery, NONE) FOREST(modes, MADE) FOREST(kernels, KEPT)
        FOREST(grain, KEPT) FOREST(cell_size, KEPT) FOREST(rebased, KEPT)
        FOREST(context, KEPT) // `has_overflowed` of it is saved
        FOREST(searched_in_vain, KEPT) FOREST(layouts, KEPT) FOREST(nodes_laid_out, KEPT)
        FOREST(nodes_moved, KEPT) FOREST(loose, MADE) FOREST(loose_lost, MADE)
        FOREST(presented, MADE) FOREST(tracks, SAVED)
    };
    // clang-format on

    CHECK(espl__forest);
}

TEST(each_field_of_a_tree_has_a_place)
{
    // clang-format off
    {
        static const field fields[] = {
            TREE(base, SAVED) TREE(capacity, SAVED) TREE(used, SAVED) TREE(live, SAVED)
            TREE(hole, SAVED) TREE(roots, SAVED) TREE(exceptional, SAVED) TREE(debt, SAVED)
            TREE(moved, NONE) TREE(incoming, NONE) TREE(flags, SAVED) TREE(next, MADE)
            TREE(previous, MADE) TREE(mark, NONE) TREE(side, SAVED) TREE(side_number, MADE)
        };
        CHECK(espl__tree);
    }
    {
        static const field fields[] = {
            SIDE(capacity, SAVED) SIDE(extra_count, SAVED) SIDE(kept_count, SAVED)
            SIDE(is_prepaid, SAVED) SIDE(has_kept, SAVED) SIDE(past_count, SAVED)
        };
        CHECK(espl__side);
    }
    // clang-format on
}

TEST(each_field_of_tracks_has_a_place)
{
    // clang-format off
    static const field fields[] = {
        TRACKS(planes, MADE) TRACKS(poses, SAVED) // but for what is shown
        TRACKS(is_unshown, MADE) TRACKS(cells, SAVED) TRACKS(rolled, MADE) TRACKS(rolled_before, MADE)
        TRACKS(capacity, MADE) TRACKS(is_ticking, SAVED)
    };
    // clang-format on

    CHECK(espl__tracks);
}
