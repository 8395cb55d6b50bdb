// SPDX-License-Identifier: MIT
// The log of a history: a ring of bytes with what items were before they changed, and the frames between which
// they did. An entry is the old content and behind it a foot, so that the ring is read from its end.
//
// The bytes between the ends of two frames bring the state of the later one back to that of the earlier one.
// Those of the oldest frame are dropped with the frame before it.
#ifndef ESPALIER_LIB_VALUE_UNDO_LOG_H
#define ESPALIER_LIB_VALUE_UNDO_LOG_H

#include "lib/base/heap.h"

/// What an entry is about.
typedef struct espl__undo_key {
    uint8_t kind; // espl__shadow_kind
    uint8_t column;
    uint16_t zero;
    uint32_t number;   // of the item, or of the archetype
    uint32_t position; // of a chunk
    uint32_t size;     // bytes of the content
} espl__undo_key;

_Static_assert(sizeof(espl__undo_key) == 16, "a foot has no padding");

/// A frame that was marked.
typedef struct espl__undo_frame {
    uint64_t frame;    // its number
    uint64_t end;      // of the bytes that lead back from it, in all bytes ever written
    uint64_t checksum; // of the world
    uint64_t age;      // of blocks that were retired when it was the newest frame
} espl__undo_frame;

typedef struct espl__undo_log {
    unsigned char *bytes; // [limit]
    size_t limit;
    uint64_t begin, end;      // of the bytes that are kept, in all bytes ever written
    espl__undo_frame *frames; // [frame_limit] a ring
    uint32_t frame_limit, first, count;
    bool is_over; // what changed since the newest frame is more than the limit
    size_t names; // entries that hold a name
    // Called for each entry that is dropped, while there are entries that hold a name.
    void (*drop)(void *context, const espl__undo_key *key, const void *content);
    void *context;
} espl__undo_log;

enum {
    ESPL__UNDO_LARGEST = 256
}; ///< bytes of a content that `drop` gets; longer ones are NULL there

/// Take the memory. @return false: none.
bool espl__undo_begin(espl__undo_log *log, espl__heap *heap, size_t limit, uint32_t frames);
/// Free it. Precondition: no frames.
void espl__undo_end(espl__undo_log *log, espl__heap *heap);
/// Return a frame, 0 for the oldest one.
espl__undo_frame *espl__undo_frame_at(const espl__undo_log *log, uint32_t at);
/// Append an entry; older frames are dropped for it. No effect without a frame.
void espl__undo_push(espl__undo_log *log, const espl__undo_key *key, const void *content);
/// Mark a frame. @return false: all earlier frames are dropped, because what changed since the newest one is
/// more than the limit.
bool espl__undo_mark(espl__undo_log *log, const espl__undo_frame *frame);
/// Read the entry that ends at a place. @param content  out: [key->size]; NULL: only the key.
/// @return where it begins.
uint64_t espl__undo_read(const espl__undo_log *log, uint64_t end, espl__undo_key *key);
/// Copy its content. @param begin  of the entry.
void espl__undo_content(const espl__undo_log *log, uint64_t begin, void *to, size_t size);
/// Make a frame the newest one: later ones and the bytes behind it are gone, without calls of `drop`.
void espl__undo_cut(espl__undo_log *log, uint32_t count);
/// Drop all frames.
void espl__undo_forget(espl__undo_log *log);

#endif
