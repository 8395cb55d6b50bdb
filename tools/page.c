// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/page.h"

#include "tools/replay.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What the tapes come in place of.
static const char mark[] = "<!-- tapes -->";

// A build that installs nothing has no other place.
#ifndef PAGE_DIRECTORY
#define PAGE_DIRECTORY "."
#endif

void page_text_add(page_text *text, const void *bytes, size_t size)
{
    text->has_failed =
        text->has_failed || !contents_append(&text->contents, &text->room, bytes, size);
}

const char *page_label(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool load_from(tool_contents *page, const char *path, tool_fault *fault)
{
    if (!contents_load(page, path, fault)) {
        return false;
    }
    size_t room = page->size;
    const bool is_good =
        contents_append(page, &room, "", 1) && strstr((const char *)page->bytes, mark) != NULL;

    page->size -= is_good ? 1 : 0;
    if (!is_good) {
        fault_say(fault, "%s is no page of this program", path);
        contents_release(page);
    }
    return is_good;
}

/// Look in the directory of the program; that of libtool is below the one of the build.
static bool load_beside(tool_contents *page, const char *program, tool_fault *fault)
{
    static const char *const places[] = {"viewer.html", "../viewer.html"};
    const char *const slash = program != NULL ? strrchr(program, '/') : NULL;
    bool is_found = false;

    for (size_t i = 0; slash != NULL && !is_found && i < 2; ++i) {
        const size_t length = (size_t)(slash - program) + 1;
        char *const path = malloc(length + strlen(places[i]) + 1);

        if (path == NULL) {
            break;
        }
        memcpy(path, program, length);
        strcpy(path + length, places[i]);
        contents_release(page);
        is_found = load_from(page, path, fault);
        free(path);
    }
    return is_found;
}

bool page_load(tool_contents *page, const char *program, tool_fault *fault)
{
    static const char installed[] = PAGE_DIRECTORY "/viewer.html";
    const char *const named = getenv("ESPALIER_VIEWER");
    tool_fault unused = {""};

    if (named != NULL && *named != '\0') {
        if (!load_from(page, named, fault)) {
            fault_say(fault, "ESPALIER_VIEWER names no page of this program: %s", named);
            return false;
        }
        return true;
    }
    if (load_beside(page, program, &unused)) {
        return true;
    }
    contents_release(page);
    if (!load_from(page, installed, &unused)) {
        fault_say(fault,
                  "this build has no viewer: %s is missing; \"make viewer\" makes it, with npm and "
                  "emscripten",
                  installed);
        return false;
    }
    return true;
}

#ifdef HAVE_ZLIB
#include <zlib.h>

bool page_is_built(void)
{
    return true;
}

static bool compress_tape(page_text *out, const tool_contents *tape)
{
    enum { BLOCK = 1 << 16, GZIP = 16 };
    static unsigned char block[BLOCK];
    z_stream stream = {0};
    int status = deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, 9,
                              Z_DEFAULT_STRATEGY);
    size_t at = 0;

    if (status != Z_OK) {
        return false;
    }
    do {
        const size_t left = tape->size - at, some = left < INT32_MAX ? left : INT32_MAX;

        if (stream.avail_in == 0) {
            stream.next_in = tape->bytes + at;
            stream.avail_in = (uInt)some;
            at += some;
        }
        stream.next_out = block;
        stream.avail_out = BLOCK;
        status = deflate(&stream, at == tape->size ? Z_FINISH : Z_NO_FLUSH);
        page_text_add(out, block, BLOCK - stream.avail_out);
    } while (status == Z_OK || (status == Z_BUF_ERROR && at < tape->size));
    (void)deflateEnd(&stream);
    return status == Z_STREAM_END && !out->has_failed;
}
#else
bool page_is_built(void)
{
    return false;
}

static bool compress_tape(page_text *out, const tool_contents *tape)
{
    (void)out;
    (void)tape;
    return false;
}
#endif

static void add_base64(page_text *text, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < size; i += 3) {
        const size_t count = size - i < 3 ? size - i : 3;
        const uint32_t word = (uint32_t)bytes[i] << 16 |
                              (count > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                              (count > 2 ? bytes[i + 2] : 0u);
        const char group[4] = {digits[word >> 18], digits[word >> 12 & 63],
                               count > 1 ? digits[word >> 6 & 63] : '=',
                               count > 2 ? digits[word & 63] : '='};

        page_text_add(text, group, sizeof group);
    }
}

/// In a quoted attribute these bytes mean something else. Control characters become spaces.
static void add_attribute(page_text *text, const char *value)
{
    for (const char *c = value; *c != '\0'; ++c) {
        const unsigned char byte = (unsigned char)*c;
        const char *const entity = byte == '&'   ? "&amp;"
                                   : byte == '<' ? "&lt;"
                                   : byte == '>' ? "&gt;"
                                   : byte == '"' ? "&quot;"
                                   : byte == '\n' ? "&#10;"
                                                 : NULL;

        if (entity != NULL) {
            page_text_add(text, entity, strlen(entity));
        } else {
            page_text_add(text, byte < 0x20 || byte == 0x7f ? " " : c, 1);
        }
    }
}

static void add_text(page_text *text, const char *words)
{
    page_text_add(text, words, strlen(words));
}

static void add_place(page_text *text, const page_place *place)
{
    char numbers[128];

    (void)snprintf(numbers, sizeof numbers, "\" data-frame=\"%llu\" data-record=\"%llu",
                   (unsigned long long)place->frame, (unsigned long long)place->call);
    add_text(text, numbers);
    if (!espl_entity_is_null(place->entity)) {
        (void)snprintf(numbers, sizeof numbers, "\" data-entity=\"%u.%u", place->entity.index,
                       place->entity.generation);
        add_text(text, numbers);
    }
    add_text(text, "\" data-note=\"");
    add_attribute(text, place->note);
}

/// Append the physical hash of the world at the end of each frame that the tape plays here, 16 digits each. It
/// covers the world transforms, which the checksums of the tape do not.
static void add_hashes(page_text *text, const tool_contents *tape)
{
    const replay_def def = {0};
    replay_result result;
    replay p;
    uint64_t hash = 0;
    char digits[17];

    replay_begin(&p, &def, tape->bytes, tape->size, &result);
    while (replay_step(&p)) {
        if (p.op != ESPL_TAPE_FRAME || p.reel.state != REEL_GOOD) {
            continue;
        }
        if (espl_failed(espl_hash(p.world, ESPL_HASH_PHYSICAL, &hash))) {
            break;
        }
        (void)snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
        add_text(text, digits);
    }
    (void)replay_end(&p);
}

static void add_attributes(page_text *text, const page_tape *tape, const page_text *hashes)
{
    add_text(text, "\" data-name=\"");
    add_attribute(text, tape->name);
    if (tape->place != NULL) {
        add_place(text, tape->place);
    }
    if (hashes->contents.size != 0) {
        add_text(text, "\" data-hashes=\"");
        page_text_add(text, hashes->contents.bytes, hashes->contents.size);
    }
    add_text(text, tape->is_z_up ? "\" data-up=\"z\">" : "\">");
}

bool page_add_tape(page_text *text, const page_tape *tape, tool_fault *fault)
{
    page_text compressed = {0}, hashes = {0};
    bool is_good = compress_tape(&compressed, tape->tape);

    if (is_good) {
        add_hashes(&hashes, tape->tape);
        add_text(text, "<script type=\"text/plain\" class=\"tape");
        add_attributes(text, tape, &hashes);
        add_base64(text, compressed.contents.bytes, compressed.contents.size);
        add_text(text, "</script>\n");
    }
    is_good = is_good && !hashes.has_failed && !text->has_failed;
    contents_release(&compressed.contents);
    contents_release(&hashes.contents);
    if (!is_good) {
        fault_say(fault, "no memory for a page with %s", tape->name);
    }
    return is_good;
}

bool page_write(const char *path, const tool_contents *page, const page_text *text,
                tool_fault *fault)
{
    const char *const bytes = (const char *)page->bytes;
    const size_t begin = (size_t)(strstr(bytes, mark) - bytes), end = begin + strlen(mark);

    if (page->size + text->contents.size > PAGE_LIMIT) {
        fault_say(
            fault,
            "the page would have %zu MB, more than %zu: take fewer frames (--frames), fewer copies "
            "(--copies) or a shorter tape",
            (page->size + text->contents.size) >> 20, PAGE_LIMIT >> 20);
        return false;
    }
    const bool is_stdout = strcmp(path, "-") == 0;
    FILE *const file = is_stdout ? stdout : fopen(path, "wb");
    bool is_good = file != NULL;

    is_good = is_good && fwrite(bytes, 1, begin, file) == begin;
    is_good = is_good &&
              fwrite(text->contents.bytes, 1, text->contents.size, file) == text->contents.size;
    is_good = is_good && fwrite(bytes + end, 1, page->size - end, file) == page->size - end;
    if (!is_good) {
        fault_say(fault, "%s: %s", path, strerror(errno));
    }
    if (file != NULL && (is_stdout ? fflush(file) : fclose(file)) != 0 && is_good) {
        fault_say(fault, "%s: %s", path, strerror(errno));
        is_good = false;
    }
    return is_good;
}
