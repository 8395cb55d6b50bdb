// SPDX-License-Identifier: MIT
// The log of a history: see undo_log.h. Places are numbers of bytes ever written, so that they only increase.
#include "lib/value/undo_log.h"

#include <string.h>

bool espl__undo_begin(espl__undo_log *log, espl__heap *heap, size_t limit, uint32_t frames)
{
    log->bytes = espl__heap_take(heap, ESPL__FOR_CHANGES, 1, limit, 16);
    log->frames = espl__heap_take(heap, ESPL__FOR_CHANGES, frames, sizeof *log->frames, 16);
    log->limit = limit;
    log->frame_limit = frames;
    if (log->bytes == NULL || log->frames == NULL) {
        espl__undo_end(log, heap);
        return false;
    }
    return true;
}

void espl__undo_end(espl__undo_log *log, espl__heap *heap)
{
    espl__heap_give(heap, ESPL__FOR_CHANGES, log->bytes, 1, log->limit, 16);
    espl__heap_give(heap, ESPL__FOR_CHANGES, log->frames, log->frame_limit, sizeof *log->frames,
                    16);
    log->bytes = NULL;
    log->frames = NULL;
}

espl__undo_frame *espl__undo_frame_at(const espl__undo_log *log, uint32_t at)
{
    ESPL_CHECK(at < log->count);
    return &log->frames[(log->first + at) % log->frame_limit];
}

// --- Bytes ---

// The bytes of an entry are a multiple of 8.
static size_t room_of(size_t size)
{
    return ((size + 7) & ~(size_t)7) + sizeof(espl__undo_key);
}

static void write_at(espl__undo_log *log, uint64_t place, const void *bytes, size_t size)
{
    const size_t at = (size_t)(place % log->limit);
    const size_t first = size < log->limit - at ? size : log->limit - at;

    memcpy(log->bytes + at, bytes, first);
    if (first != size) {
        memcpy(log->bytes, (const unsigned char *)bytes + first, size - first);
    }
}

void espl__undo_content(const espl__undo_log *log, uint64_t begin, void *to, size_t size)
{
    const size_t at = (size_t)(begin % log->limit);
    const size_t first = size < log->limit - at ? size : log->limit - at;

    memcpy(to, log->bytes + at, first);
    if (first != size) {
        memcpy((unsigned char *)to + first, log->bytes, size - first);
    }
}

uint64_t espl__undo_read(const espl__undo_log *log, uint64_t end, espl__undo_key *key)
{
    espl__undo_content(log, end - sizeof *key, key, sizeof *key);
    ESPL_CHECK(end - log->begin >= room_of(key->size));
    return end - room_of(key->size);
}

// --- Dropping ---

// Tell the owner which entries end in [begin, end).
static void drop_entries(espl__undo_log *log, uint64_t begin, uint64_t end)
{
    while (log->names != 0 && end != begin) {
        unsigned char content[ESPL__UNDO_LARGEST];
        espl__undo_key key;

        end = espl__undo_read(log, end, &key);
        if (key.size <= sizeof content) {
            espl__undo_content(log, end, content, key.size);
        }
        log->drop(log->context, &key, key.size <= sizeof content ? content : NULL);
    }
}

// Drop the bytes before a place.
static void drop_before(espl__undo_log *log, uint64_t begin)
{
    drop_entries(log, log->begin, begin);
    log->begin = begin;
}

static void drop_oldest(espl__undo_log *log)
{
    log->first = (log->first + 1) % log->frame_limit;
    log->count -= 1;
    drop_before(log, log->count != 0 ? espl__undo_frame_at(log, 0)->end : log->end);
}

void espl__undo_forget(espl__undo_log *log)
{
    log->first = log->count = 0;
    log->is_over = false;
    drop_before(log, log->end);
}

// --- Frames ---

void espl__undo_push(espl__undo_log *log, const espl__undo_key *key, const void *content)
{
    const size_t room = room_of(key->size);

    if (log->count == 0 || log->is_over) {
        log->drop(log->context, key, content);
        return;
    }
    while (log->count > 1 && log->end - log->begin + room > log->limit) {
        drop_oldest(log);
    }
    if (log->end - log->begin + room > log->limit) {
        log->is_over = true;
        drop_before(log, log->end);
        log->drop(log->context, key, content);
        return;
    }
    const size_t at = (size_t)(log->end % log->limit);

    // Fast path: the entry does not go over the end of the ring.
    if (room <= log->limit - at) {
        memcpy(log->bytes + at, content, key->size);
        memcpy(log->bytes + at + room - sizeof *key, key, sizeof *key);
    } else {
        write_at(log, log->end, content, key->size);
        write_at(log, log->end + room - sizeof *key, key, sizeof *key);
    }
    log->end += room;
}

bool espl__undo_mark(espl__undo_log *log, const espl__undo_frame *frame)
{
    const bool is_over = log->is_over;

    if (is_over) {
        espl__undo_forget(log);
    }
    if (log->count == log->frame_limit) {
        drop_oldest(log);
    }
    log->frames[(log->first + log->count) % log->frame_limit] = *frame;
    log->count += 1;
    espl__undo_frame_at(log, log->count - 1)->end = log->end;
    if (log->count == 1) {
        drop_before(log, log->end);
    }
    return !is_over;
}

void espl__undo_cut(espl__undo_log *log, uint32_t count)
{
    ESPL_CHECK(count != 0 && count <= log->count);
    log->count = count;
    log->end = espl__undo_frame_at(log, count - 1)->end;
    log->is_over = false;
}
