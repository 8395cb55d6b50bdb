// SPDX-License-Identifier: MIT
// Writing a delta. It has an item for each section of the second archive: the section of the first one that it
// is made from, and how. Rows of both are walked once, in runs of rows that are in pairs, inserted, or
// dropped. The items are written twice, first for their size and checksum. No memory is taken: behind a
// difference a window of rows is searched for the next pair, and poses that differ wait in a block.
#include "lib/value/delta.h"

// --- Runs ---

enum {
    MATCH_WINDOW = 64, // rows that are searched behind a difference
    BYTES_LEAST = 8,   // bytes that must be equal to be a match
};

// Two lists of rows that are compared.
typedef struct row_match {
    const unsigned char *before, *after;
    size_t size;                  // of a row
    size_t before_end, after_end; // rows up to the common end
    size_t common;                // equal rows at the end of both
    size_t least;                 // equal rows that are a match behind a difference
    bool pairs_all,
        pairs_diagonal; // rows that differ are pairs too: all of them; those at equal distances
} row_match;

// Rows: pairs first, then rows that are inserted and dropped.
typedef struct row_run {
    size_t before, after; // where the pairs begin
    uint32_t pairs, inserted, dropped;
} row_run;

typedef struct run_walk {
    const row_match *match;
    size_t before, after;
} run_walk;

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool are_equal(const row_match *m, size_t before, size_t after, size_t count)
{
    return memcmp(m->before + before * m->size, m->after + after * m->size, count * m->size) == 0;
}

// Begin to compare. @param before_count, after_count  rows
static void match_begin(row_match *m, size_t before_count, size_t after_count)
{
    const size_t most = least_of(before_count, after_count);

    while (m->common < most && (m->pairs_all || are_equal(m, before_count - m->common - 1,
                                                          after_count - m->common - 1, 1))) {
        m->common += 1;
    }
    m->before_end = before_count - m->common;
    m->after_end = after_count - m->common;
}

static size_t count_pairs(const row_match *m, size_t before, size_t after)
{
    const bool is_end = before >= m->before_end && after >= m->after_end;
    const size_t most = is_end ? m->before_end + m->common - before
                               : least_of(m->before_end - before, m->after_end - after);
    size_t count = is_end ? most : 0;

    while (most - count >= MATCH_WINDOW &&
           are_equal(m, before + count, after + count, MATCH_WINDOW)) {
        count += MATCH_WINDOW;
    }
    while (count < most && are_equal(m, before + count, after + count, 1)) {
        count += 1;
    }
    return count;
}

static bool is_match(const row_match *m, size_t before, size_t after)
{
    return before <= m->before_end && after <= m->after_end &&
           m->before_end + m->common - before >= m->least &&
           m->after_end + m->common - after >= m->least && are_equal(m, before, after, m->least);
}

// Find how many rows differ: up to the nearest match, or all of the window.
static void skip_difference(const row_match *m, const run_walk *w, row_run *out)
{
    const size_t before_left = m->before_end - w->before, after_left = m->after_end - w->after;

    for (uint32_t n = 1; n <= MATCH_WINDOW && before_left != 0 && after_left != 0; ++n) {
        const bool is_diagonal = is_match(m, w->before + n, w->after + n);

        if (is_diagonal || is_match(m, w->before, w->after + n) ||
            is_match(m, w->before + n, w->after)) {
            out->inserted = is_diagonal || is_match(m, w->before, w->after + n) ? n : 0;
            out->dropped = is_diagonal || out->inserted == 0 ? n : 0;
            return;
        }
    }
    out->inserted = (uint32_t)least_of(after_left, before_left == 0 ? UINT32_MAX : MATCH_WINDOW);
    out->dropped = (uint32_t)least_of(before_left, after_left == 0 ? UINT32_MAX : MATCH_WINDOW);
}

// Step to the next run. @return false: no rows are left.
static bool next_run(run_walk *w, row_run *out)
{
    const row_match *const m = w->match;

    *out = (row_run){.before = w->before, .after = w->after};
    if (w->after == m->after_end + m->common) {
        return false;
    }
    out->pairs = (uint32_t)least_of(count_pairs(m, w->before, w->after), UINT32_MAX);
    w->before += out->pairs;
    w->after += out->pairs;
    if (w->before <= m->before_end && w->after <= m->after_end) {
        skip_difference(m, w, out);
    }
    if (m->pairs_diagonal && out->inserted == out->dropped) {
        w->before += out->dropped;
        w->after += out->inserted;
        out->pairs += out->inserted;
        out->inserted = 0;
        out->dropped = 0;
    }
    w->before += out->dropped;
    w->after += out->inserted;
    return true;
}

// Write the runs. @param rows  [size each] those that are inserted.
static void put_runs(espl__wire *wire, const row_match *m, const unsigned char *rows, size_t size)
{
    run_walk walk = {.match = m};
    row_run run;

    while (next_run(&walk, &run)) {
        espl__wire_varint(wire, run.pairs);
        espl__wire_varint(wire, run.inserted);
        espl__wire_varint(wire, run.dropped);
        espl__wire_put(wire, rows + (walk.after - run.inserted) * size, run.inserted * size);
    }
    espl__wire_zeros(wire, 3);
}

// --- Poses ---

static const espl__pose_grid no_grid;

// Poses that differ, not written yet.
typedef struct pose_block {
    espl__wire *wire;
    const espl__pose_grid *grid; // NULL: none
    uint64_t next;               // pair behind the last one that differs
    uint32_t count;
    uint32_t gaps[ESPL__POSE_BLOCK];
    espl__pose_rest rests[ESPL__POSE_BLOCK];
} pose_block;

// Write which poses of a block are not on the grid.
static void put_exact(const pose_block *block)
{
    uint32_t count = 0, last = 0;

    for (uint32_t i = 0; i < block->count; ++i) {
        count += block->rests[i].is_exact ? 1 : 0;
    }
    espl__wire_varint(block->wire, count);
    for (uint32_t i = 0; i < block->count; ++i) {
        if (block->rests[i].is_exact) {
            espl__wire_varint(block->wire, i - last);
            last = i + 1;
        }
    }
}

static void put_block(pose_block *block)
{
    espl__wire *const wire = block->wire;

    espl__wire_varint(wire, block->count);
    for (uint32_t i = 0; i < block->count; ++i) {
        espl__wire_varint(wire, block->gaps[i]);
    }
    for (uint32_t i = 0; i < block->count; ++i) {
        espl__wire_number(wire, block->rests[i].mask, 1);
    }
    if (block->grid != NULL) {
        put_exact(block);
    }
    for (unsigned word = 0; word < ESPL__POSE_WORDS; ++word) {
        for (uint32_t i = 0; i < block->count; ++i) {
            if (block->rests[i].words[word] != 0) {
                espl__wire_varint(wire, block->rests[i].words[word]);
            }
        }
    }
    block->count = 0;
}

// Add a pair that differs. @param number  of the pair
static void add_pose(pose_block *block, uint64_t number, const unsigned char *before,
                     const unsigned char *after)
{
    uint32_t words[2][ESPL__POSE_WORDS];

    espl__wire_load_words(words[0], before, ESPL__POSE_WORDS);
    espl__wire_load_words(words[1], after, ESPL__POSE_WORDS);
    espl__pose_rest_of(block->grid != NULL ? block->grid : &no_grid, words[0], words[1],
                       &block->rests[block->count]);
    block->gaps[block->count] = (uint32_t)(number - block->next);
    block->next = number + 1;
    block->count += 1;
    if (block->count == ESPL__POSE_BLOCK) {
        put_block(block);
    }
}

// Write what is left of the poses in pairs. No archive has 2^32 poses.
// @param grid  or NULL
static void put_differing(espl__wire *wire, const row_match *m, const espl__pose_grid *grid,
                          const unsigned char *before, const unsigned char *after)
{
    pose_block block = {.wire = wire, .grid = grid};
    run_walk walk = {.match = m};
    uint64_t number = 0;
    row_run run;

    while (next_run(&walk, &run)) {
        for (uint32_t i = 0; i < run.pairs; ++i, ++number) {
            const unsigned char *const from = before + (run.before + i) * ESPL__POSE_SIZE;
            const unsigned char *const to = after + (run.after + i) * ESPL__POSE_SIZE;

            if (memcmp(from, to, ESPL__POSE_SIZE) != 0) {
                add_pose(&block, number, from, to);
            }
        }
    }
    if (block.count != 0) {
        put_block(&block);
    }
    espl__wire_varint(wire, 0);
}

// --- Items ---

// A delta that is written.
typedef struct delta_writer {
    espl__delta_side before, after;
    uint32_t used; // sections of `before` that come no more
    espl__wire wire;
} delta_writer;

static const espl__cursor *known_section(const espl__delta_side *side, espl__archive_section number)
{
    return &side->parse.sections[number];
}

static bool has_same_section(const delta_writer *w, espl__archive_section number)
{
    const espl__cursor *const before = known_section(&w->before, number);
    const espl__cursor *const after = known_section(&w->after, number);

    return before->size == after->size && before->size != 0 &&
           memcmp(before->bytes, after->bytes, after->size) == 0;
}

static bool has_handle_for_each(const espl__delta_side *side, size_t poses)
{
    return known_section(side, ESPL__ARCHIVE_HAND)->size == poses * 8;
}

// Choose by what poses are found again: their handles, their order, or their bytes.
static row_match match_poses(const delta_writer *w, const espl__delta_section *before,
                             const espl__delta_section *after)
{
    const size_t before_count = (size_t)(before->size / ESPL__POSE_SIZE),
                 after_count = (size_t)(after->size / ESPL__POSE_SIZE);
    row_match m = {.before = before->bytes,
                   .after = after->bytes,
                   .size = ESPL__POSE_SIZE,
                   .least = 1,
                   .pairs_diagonal = true};

    m.pairs_all = before_count == after_count && has_same_section(w, ESPL__ARCHIVE_TREE) &&
                  (known_section(&w->after, ESPL__ARCHIVE_HAND)->size == 0 ||
                   has_same_section(w, ESPL__ARCHIVE_HAND));
    if (!m.pairs_all && before_count != 0 && has_handle_for_each(&w->before, before_count) &&
        has_handle_for_each(&w->after, after_count)) {
        m.before = known_section(&w->before, ESPL__ARCHIVE_HAND)->bytes;
        m.after = known_section(&w->after, ESPL__ARCHIVE_HAND)->bytes;
        m.size = 8;
        m.pairs_diagonal = false;
    }
    match_begin(&m, before_count, after_count);
    return m;
}

// Poses on a grid have its numbers before them, because a reader comes to the section of the grid later.
static void put_poses(delta_writer *w, const row_match *m, const espl__delta_section *before,
                      const espl__delta_section *after)
{
    const espl__cursor *const section = known_section(&w->after, ESPL__ARCHIVE_GRID);
    const espl__pose_grid grid = espl__grid_of(section);
    const bool has_grid = (grid.step | grid.bits) != 0;

    espl__wire_number(&w->wire, has_grid ? ESPL__DELTA_GRID : ESPL__DELTA_POSES, 1);
    if (has_grid) {
        espl__wire_number(&w->wire, grid.step, 4);
        espl__wire_number(&w->wire, grid.bits, 4);
    }
    put_runs(&w->wire, m, after->bytes, ESPL__POSE_SIZE);
    put_differing(&w->wire, m, has_grid ? &grid : NULL, before->bytes, after->bytes);
}

static void put_method(delta_writer *w, const espl__delta_section *before,
                       const espl__delta_section *after)
{
    row_match m = {.before = before->bytes, .after = after->bytes, .size = 1, .least = BYTES_LEAST};

    if (before->size == after->size &&
        memcmp(before->bytes, after->bytes, (size_t)after->size) == 0) {
        espl__wire_number(&w->wire, ESPL__DELTA_SAME, 1);
        return;
    }
    if (espl__delta_has_poses(after->entry, after->size) && before->size != 0 &&
        before->size % ESPL__POSE_SIZE == 0) {
        m = match_poses(w, before, after);
        put_poses(w, &m, before, after);
        return;
    }
    match_begin(&m, (size_t)before->size, (size_t)after->size);
    espl__wire_number(&w->wire, ESPL__DELTA_BYTES, 1);
    put_runs(&w->wire, &m, after->bytes, 1);
}

// Find the section of the first archive that one of the second is made from.
// @return its number, or ESPL__NONE.
static uint32_t find_origin(const delta_writer *w, const espl__delta_section *after)
{
    if (espl__number_load(after->entry + 24, 8) != after->size) {
        return ESPL__NONE;
    }
    for (uint32_t i = w->used; i < w->before.count; ++i) {
        if (memcmp(espl__delta_section_of(&w->before, i).entry, after->entry, 8) == 0) {
            return i;
        }
    }
    return ESPL__NONE;
}

static void put_item(delta_writer *w, uint32_t number)
{
    const espl__delta_section after = espl__delta_section_of(&w->after, number);
    const uint32_t source = find_origin(w, &after);
    // An address, because nothing is compared to it.
    espl__delta_section before = {.bytes = after.bytes};

    if (source == ESPL__NONE) {
        espl__wire_varint(&w->wire, 0);
        espl__wire_put(&w->wire, after.entry, 8);
        espl__wire_put(&w->wire, after.entry + 24, 8);
    } else {
        before = espl__delta_section_of(&w->before, source);
        w->used = source + 1;
        espl__wire_varint(&w->wire, source + 1);
    }
    put_method(w, &before, &after);
}

// --- The delta ---

static void put_delta(delta_writer *w)
{
    w->used = 0;
    espl__wire_number(&w->wire, w->before.parse.size, 8);
    espl__wire_put(&w->wire, w->before.parse.bytes + 56, 8);
    espl__wire_put(&w->wire, w->after.parse.bytes + 56, 8);
    for (uint32_t i = 0; i < w->after.count; ++i) {
        put_item(w, i);
    }
}

static espl_status emit_delta(delta_writer *w, const espl_sink *sink)
{
    const espl__parse *const after = &w->after.parse;
    const espl__table table = {.count = w->after.count,
                               .minor = after->info.minor,
                               .writer = after->info.writer,
                               .flags = after->is_big_endian ? ESPL__ARCHIVE_BIG_ENDIAN : 0};
    unsigned char head[ESPL__ARCHIVE_HEAD];

    espl__wire_begin(&w->wire);
    put_delta(w);
    espl__wire_flush(&w->wire);
    espl__head_make(&table,
                    &(espl__head_numbers){ESPL__DELTA_KIND, ESPL__ARCHIVE_HEAD + w->wire.size,
                                          espl__checksum_of(&w->wire.checksum)},
                    head);
    w->wire.pass = sink->write;
    w->wire.user = sink->user;
    espl__wire_begin(&w->wire);
    espl__wire_put(&w->wire, head, sizeof head);
    put_delta(w);
    espl__wire_flush(&w->wire);
    return w->wire.is_broken ? ESPL_ERR_SINK : ESPL_OK;
}

espl_status espl_archive_delta(const void *before, size_t before_size, const void *after,
                               size_t after_size, const espl_sink *sink, espl_format_fault *fault)
{
    delta_writer w;

    if (fault != NULL) {
        *fault = (espl_format_fault){0};
    }
    if (before == NULL || after == NULL || sink == NULL || sink->write == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    w.wire.pass = NULL;
    espl__parse *refused = &w.before.parse;
    bool is_sound = espl__delta_side_begin(&w.before, before, before_size);

    if (is_sound) {
        refused = &w.after.parse;
        is_sound = espl__delta_side_begin(&w.after, after, after_size);
    }
    if (!is_sound) {
        if (fault != NULL) {
            *fault = refused->fault;
        }
        return refused->status;
    }
    return emit_delta(&w, sink);
}
