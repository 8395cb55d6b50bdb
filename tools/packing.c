// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/packing.h"

#include <string.h>

bool packing_is_packed(const unsigned char *bytes, size_t size)
{
    static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};

    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

#ifndef HAVE_ZSTD

bool packing_is_built(void)
{
    return false;
}

bool packing_pack(tool_contents *out, const tool_contents *from, uint32_t level, tool_fault *fault)
{
    (void)out;
    (void)from;
    (void)level;
    fault_say(fault, "this espalier was built without zstd: nothing is packed");
    return false;
}

bool packing_unpack(tool_contents *out, const tool_contents *from, tool_fault *fault)
{
    (void)out;
    (void)from;
    fault_say(fault, "packed by zstd, and this espalier was built without it");
    return false;
}

#else

#include <stdlib.h>
#include <zstd.h>

enum { PIECE = 1 << 16 };

bool packing_is_built(void)
{
    return true;
}

bool packing_pack(tool_contents *out, const tool_contents *from, uint32_t level, tool_fault *fault)
{
    const size_t room = ZSTD_compressBound(from->size);
    ZSTD_CCtx *const context = ZSTD_createCCtx();

    *out = (tool_contents){.bytes = malloc(room), .packed_size = 0};
    if (context == NULL || out->bytes == NULL) {
        fault_say(fault, "no memory to pack %zu bytes", from->size);
        ZSTD_freeCCtx(context);
        contents_release(out);
        return false;
    }
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, (int)level);
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    out->size = ZSTD_compress2(context, out->bytes, room, from->bytes, from->size);
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(out->size)) {
        fault_say(fault, "not packed: %s", ZSTD_getErrorName(out->size));
        contents_release(out);
        return false;
    }
    return true;
}

// Take the next piece, which the frames unpack to. @return false with the reason.
static bool keep_piece(tool_contents *out, size_t *room, const ZSTD_outBuffer *piece,
                       tool_fault *fault)
{
    const uint64_t limit = (uint64_t)PACKING_GIBIBYTES << 30;

    if (piece->pos > limit - out->size) {
        fault_say(fault, "unpacks to more than %d GiB", PACKING_GIBIBYTES);
        return false;
    }
    if (!contents_append(out, room, piece->dst, piece->pos)) {
        fault_say(fault, "no memory for more than %zu unpacked bytes", out->size);
        return false;
    }
    return true;
}

// Unpack all frames. The size that a frame claims is not believed: the room grows by what comes out.
static bool unpack_frames(tool_contents *out, ZSTD_DCtx *context, const tool_contents *from,
                          tool_fault *fault)
{
    ZSTD_inBuffer in = {from->bytes, from->size, 0};
    unsigned char piece[PIECE];
    size_t room = 0, hint = 1;

    for (bool is_full = false; in.pos < in.size || is_full;) {
        ZSTD_outBuffer next = {piece, sizeof piece, 0};

        hint = ZSTD_decompressStream(context, &next, &in);
        if (ZSTD_isError(hint)) {
            fault_say(fault, "at byte %zu: zstd cannot unpack it: %s", in.pos,
                      ZSTD_getErrorName(hint));
            return false;
        }
        if (!keep_piece(out, &room, &next, fault)) {
            return false;
        }
        is_full = next.pos == next.size && hint != 0;
    }
    if (hint != 0) {
        fault_say(fault, "at byte %zu: the packed bytes end within a frame", from->size);
    }
    return hint == 0;
}

// A frame that claims more than may be unpacked is refused before any of it is.
static bool is_within_limit(const tool_contents *from, tool_fault *fault)
{
    const unsigned long long claimed = ZSTD_getFrameContentSize(from->bytes, from->size);

    if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != ZSTD_CONTENTSIZE_ERROR &&
        claimed >> 30 >= PACKING_GIBIBYTES) {
        fault_say(fault, "unpacks to more than %d GiB", PACKING_GIBIBYTES);
        return false;
    }
    return true;
}

bool packing_unpack(tool_contents *out, const tool_contents *from, tool_fault *fault)
{
    ZSTD_DCtx *const context = ZSTD_createDCtx();

    *out = (tool_contents){0};
    if (context == NULL) {
        fault_say(fault, "no memory to unpack");
        return false;
    }
    const bool is_good = is_within_limit(from, fault) && unpack_frames(out, context, from, fault);

    ZSTD_freeDCtx(context);
    if (!is_good) {
        contents_release(out);
    }
    return is_good;
}

#endif
