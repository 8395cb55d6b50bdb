// SPDX-License-Identifier: MIT
// Carrying a delta out. Its bytes may come from anywhere: each count is compared to what is left of the delta
// and of the archive that it is for. The sections are made twice, first for their sizes and checksums, from
// which the head and the table follow; only if these are what the delta says do bytes go to the sink. No
// memory is taken.
#include "lib/value/delta.h"

// A delta that is carried out.
typedef struct patcher {
    espl__delta_side before;
    espl__parse parse;   // of the delta
    espl__cursor cursor; // behind what was read
    uint32_t used;       // sections of `before` that come no more
    espl__wire wire;
    espl__table table; // of the archive that is made
} patcher;

static bool refuse_delta(patcher *p, const espl__cursor *at, const char *sentence)
{
    return espl__parse_refuse_at(&p->parse, at, sentence);
}

// --- Runs ---

// Rows of the section that another one is made from.
typedef struct row_source {
    const unsigned char *bytes;
    uint64_t count, at; // rows, and the next one
    size_t size;        // of a row
} row_source;

// A run of a delta.
typedef struct patch_run {
    uint32_t pairs, dropped, inserted;
    const unsigned char *rows; // [inserted]
} patch_run;

// Read a run. @return whether there is one; false also where it is refused.
static bool take_run(patcher *p, espl__cursor *cursor, row_source *source, patch_run *out)
{
    out->pairs = espl__cursor_varint(cursor);
    out->inserted = espl__cursor_varint(cursor);
    out->dropped = espl__cursor_varint(cursor);
    const uint64_t used = (uint64_t)out->pairs + out->dropped;

    // The number of rows is compared to the bytes before it is multiplied.
    if (cursor->is_broken || used > source->count - source->at ||
        out->inserted > espl__cursor_left(cursor) / source->size) {
        return refuse_delta(p, cursor, "A run has more rows than there are.");
    }
    out->rows = espl__cursor_take(cursor, out->inserted * source->size);
    source->at += used;
    return (out->pairs | out->inserted | out->dropped) != 0;
}

static bool patch_bytes(patcher *p, row_source source)
{
    patch_run run;

    while (take_run(p, &p->cursor, &source, &run)) {
        const uint64_t begin = source.at - run.dropped - run.pairs;

        espl__wire_put(&p->wire, source.bytes + begin, run.pairs);
        espl__wire_put(&p->wire, run.rows, run.inserted);
    }
    return p->parse.status == ESPL_OK;
}

// --- Poses ---

// Poses that differ, read and not written yet.
typedef struct patch_block {
    espl__cursor cursor;  // behind the block
    espl__pose_grid grid; // {0}: none
    uint64_t pairs;       // of all runs
    uint64_t next;        // pair behind the last one that differs
    uint32_t count, at;   // poses of the block, and the next one
    uint64_t numbers[ESPL__POSE_BLOCK];
    espl__pose_rest rests[ESPL__POSE_BLOCK];
} patch_block;

// Read which poses of a block are not on the grid.
static void take_exact(patch_block *block)
{
    espl__cursor *const cursor = &block->cursor;
    const uint32_t count = espl__cursor_varint(cursor);
    uint64_t next = 0;

    cursor->is_broken = cursor->is_broken || count > block->count;
    for (uint32_t i = 0; !cursor->is_broken && i < count; ++i) {
        const uint64_t number = next + espl__cursor_varint(cursor);

        if (number < block->count) {
            block->rests[number].is_exact = true;
        } else {
            cursor->is_broken = true;
        }
        next = number + 1;
    }
}

static bool take_pose_block(patcher *p, patch_block *block)
{
    espl__cursor *const cursor = &block->cursor;

    block->at = 0;
    block->count = espl__cursor_varint(cursor);
    if (cursor->is_broken || block->count > ESPL__POSE_BLOCK) {
        return refuse_delta(p, cursor, "A block has more poses than one may have.");
    }
    for (uint32_t i = 0; i < block->count; ++i) {
        block->numbers[i] = block->next + espl__cursor_varint(cursor);
        block->next = block->numbers[i] + 1;
    }
    for (uint32_t i = 0; i < block->count; ++i) {
        block->rests[i] = (espl__pose_rest){.mask = (uint8_t)espl__cursor_number(cursor, 1)};
    }
    if (block->count != 0 && (block->grid.step | block->grid.bits) != 0) {
        take_exact(block);
    }
    for (unsigned word = 0; word < ESPL__POSE_WORDS; ++word) {
        for (uint32_t i = 0; i < block->count; ++i) {
            if ((block->rests[i].mask >> word & 1) != 0) {
                block->rests[i].words[word] = espl__cursor_varint(cursor);
            }
        }
    }
    return (!cursor->is_broken && block->next <= block->pairs) ||
           refuse_delta(p, cursor, "A block has poses that are not there.");
}

// Write pairs. @param first  number of the first of them.
static bool put_patched(patcher *p, patch_block *block, const unsigned char *poses, uint64_t first,
                        uint32_t count)
{
    const uint64_t end = first + count;
    uint32_t words[2][ESPL__POSE_WORDS];

    for (uint64_t number = first; number < end;) {
        const bool has_next = block->at < block->count;
        const uint64_t next =
            has_next && block->numbers[block->at] < end ? block->numbers[block->at] : end;

        espl__wire_put(&p->wire, poses, (size_t)(next - number) * ESPL__POSE_SIZE);
        poses += (next - number) * ESPL__POSE_SIZE;
        number = next;
        if (number == end) {
            break;
        }
        espl__wire_load_words(words[0], poses, ESPL__POSE_WORDS);
        if (!espl__pose_with_rest(&block->grid, words[0], &block->rests[block->at], words[1])) {
            return refuse_delta(p, &block->cursor, "A pose is too far away for its grid.");
        }
        espl__wire_words(&p->wire, words[1], ESPL__POSE_WORDS);
        poses += ESPL__POSE_SIZE;
        number += 1;
        block->at += 1;
        if (block->at == block->count && !take_pose_block(p, block)) {
            return false;
        }
    }
    return true;
}

static bool patch_poses(patcher *p, row_source source, espl__pose_grid grid)
{
    patch_block block = {.cursor = p->cursor, .grid = grid};
    row_source counted = source;
    uint64_t number = 0;
    patch_run run;

    // The blocks follow the runs.
    while (take_run(p, &block.cursor, &counted, &run)) {
        block.pairs += run.pairs;
    }
    if (p->parse.status != ESPL_OK || !take_pose_block(p, &block)) {
        return false;
    }
    while (take_run(p, &p->cursor, &source, &run)) {
        const uint64_t begin = source.at - run.dropped - run.pairs;

        if (!put_patched(p, &block, source.bytes + begin * ESPL__POSE_SIZE, number, run.pairs)) {
            return false;
        }
        number += run.pairs;
        espl__wire_put(&p->wire, run.rows, run.inserted * (size_t)ESPL__POSE_SIZE);
    }
    p->cursor = block.cursor;
    return block.count == 0 || refuse_delta(p, &block.cursor, "The last block is missing.");
}

// --- Items ---

// Read from which section the next one is made. @param entry  out: what its entry will say.
static bool take_source(patcher *p, espl__table_entry *entry, espl__delta_section *out)
{
    const uint32_t source = espl__cursor_varint(&p->cursor);

    *out = (espl__delta_section){.bytes = p->parse.bytes};
    if (source == 0 && !p->cursor.is_broken) {
        const unsigned char *const kind = espl__cursor_take(&p->cursor, sizeof entry->kind);

        entry->raw = espl__cursor_number(&p->cursor, 8);
        if (kind != NULL) {
            memcpy(entry->kind, kind, sizeof entry->kind);
        }
        return !p->cursor.is_broken;
    }
    if (source <= p->used || source > p->before.count) {
        return false;
    }
    *out = espl__delta_section_of(&p->before, source - 1);
    p->used = source;
    entry->raw = 0;
    memcpy(entry->kind, out->entry, sizeof entry->kind);
    return true;
}

static bool take_grid(patcher *p, espl__pose_grid *out)
{
    out->step = espl__cursor_u32(&p->cursor);
    out->bits = espl__cursor_u32(&p->cursor);
    return (!p->cursor.is_broken && espl__grid_is_sound(out) && (out->step | out->bits) != 0) ||
           refuse_delta(p, &p->cursor, "Poses have a grid that there is not.");
}

static row_source section_poses(const espl__delta_section *section)
{
    return (row_source){section->bytes, section->size / ESPL__POSE_SIZE, 0, ESPL__POSE_SIZE};
}

static bool patch_section(patcher *p, espl__table_entry *entry)
{
    espl__delta_section from;

    if (!take_source(p, entry, &from)) {
        return refuse_delta(p, &p->cursor, "A section is made from one that is not there.");
    }
    const bool is_new = from.entry == NULL;
    const uint64_t method = espl__cursor_number(&p->cursor, 1), begin = p->wire.size;
    espl__pose_grid grid = {0, 0};
    bool is_made = true;

    if (p->cursor.is_broken || method >= ESPL__DELTA_METHODS ||
        (is_new && method != ESPL__DELTA_BYTES) ||
        (method >= ESPL__DELTA_POSES &&
         (is_new || !espl__delta_has_poses(from.entry, from.size)))) {
        return refuse_delta(p, &p->cursor, "A section is made in a way that it cannot be made.");
    }
    switch ((espl__delta_method)method) {
    case ESPL__DELTA_SAME:
        espl__wire_put(&p->wire, from.bytes, (size_t)from.size);
        break;
    case ESPL__DELTA_GRID:
        is_made = take_grid(p, &grid) && patch_poses(p, section_poses(&from), grid);
        break;
    case ESPL__DELTA_POSES:
        is_made = patch_poses(p, section_poses(&from), grid);
        break;
    default:
        is_made = patch_bytes(p, (row_source){from.bytes, from.size, 0, 1});
        break;
    }
    entry->size = p->wire.size - begin;
    entry->raw = is_new ? entry->raw : entry->size;
    return is_made;
}

static void begin_items(patcher *p)
{
    p->used = 0;
    p->cursor = espl__cursor_of(p->parse.bytes, p->parse.size);
    p->cursor.at = ESPL__ARCHIVE_HEAD + ESPL__DELTA_BASE;
}

// Compute the head and the table.
static bool measure_patch(patcher *p, unsigned char head[ESPL__ARCHIVE_HEAD])
{
    begin_items(p);
    for (uint32_t i = 0; i < p->table.count; ++i) {
        espl__table_entry *const entry = &p->table.entries[i];

        espl__wire_begin(&p->wire);
        if (!patch_section(p, entry)) {
            return false;
        }
        espl__wire_flush(&p->wire);
        entry->checksum = espl__checksum_of(&p->wire.checksum);
    }
    if (!espl__cursor_is_done(&p->cursor)) {
        return refuse_delta(p, &p->cursor, "The delta has bytes behind its end.");
    }
    espl__table_head(&p->table, &p->wire, head);
    return memcmp(head + 56, p->parse.bytes + ESPL__ARCHIVE_HEAD + 16, 8) == 0 ||
           espl__parse_refuse(&p->parse, ESPL_ERR_FORMAT, p->parse.bytes + ESPL__ARCHIVE_HEAD + 16,
                              "The delta does not make the archive that it names.");
}

static espl_status emit_patched(patcher *p, const unsigned char head[ESPL__ARCHIVE_HEAD],
                                const espl_sink *sink)
{
    espl__table_entry entry;
    bool is_made = true;

    p->wire.pass = sink->write;
    p->wire.user = sink->user;
    espl__wire_begin(&p->wire);
    espl__wire_put(&p->wire, head, ESPL__ARCHIVE_HEAD);
    (void)espl__table_put(&p->table, &p->wire);
    begin_items(p);
    for (uint32_t i = 0; i < p->table.count && is_made; ++i) {
        espl__table_pad(&p->wire);
        is_made = patch_section(p, &entry);
        ESPL_CHECK(is_made && entry.size == p->table.entries[i].size);
    }
    espl__wire_flush(&p->wire);
    return p->wire.is_broken ? ESPL_ERR_SINK : ESPL_OK;
}

// Check the head of the delta, and that it is for this archive.
static bool check_delta(patcher *p, const unsigned char *before, size_t before_size)
{
    if (!espl__parse_fixed(&p->parse, ESPL__DELTA_KIND, &p->table.count)) {
        return false;
    }
    const unsigned char *const base = p->parse.bytes + ESPL__ARCHIVE_HEAD;

    if (p->parse.size - ESPL__ARCHIVE_HEAD < ESPL__DELTA_BASE) {
        return espl__parse_refuse(&p->parse, ESPL_ERR_FORMAT, base, "The delta ends too early.");
    }
    if (!espl__parse_checksum(&p->parse, p->parse.size - ESPL__ARCHIVE_HEAD,
                              "The checksum of the delta differs: it is damaged.")) {
        return false;
    }
    p->table.minor = p->parse.info.minor;
    p->table.writer = p->parse.info.writer;
    p->table.flags = p->parse.is_big_endian ? ESPL__ARCHIVE_BIG_ENDIAN : 0;
    return (before_size >= ESPL__ARCHIVE_HEAD && espl__number_load(base, 8) == before_size &&
            memcmp(base + 8, before + 56, 8) == 0) ||
           espl__parse_refuse(&p->parse, ESPL_ERR_GAP, base, "The delta is for another archive.");
}

espl_status espl_archive_patch(const void *before, size_t before_size, const void *delta,
                               size_t delta_size, const espl_sink *sink, espl_format_fault *fault)
{
    unsigned char head[ESPL__ARCHIVE_HEAD];
    patcher p = {.parse = {.bytes = delta, .size = delta_size}};

    if (fault != NULL) {
        *fault = (espl_format_fault){0};
    }
    if (before == NULL || delta == NULL || sink == NULL || sink->write == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    const espl__parse *refused = &p.parse;
    bool is_sound = check_delta(&p, before, before_size);

    if (is_sound && !espl__delta_side_begin(&p.before, before, before_size)) {
        refused = &p.before.parse;
        is_sound = false;
    }
    if (is_sound && measure_patch(&p, head)) {
        return emit_patched(&p, head, sink);
    }
    if (fault != NULL) {
        *fault = refused->fault;
    }
    return refused->status;
}
