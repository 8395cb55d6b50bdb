// SPDX-License-Identifier: MIT
#include "tools/contents.h"

#include "tools/packing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

enum { FIRST_ROOM = 1 << 16, MAGIC = 8 };

// --- Reading ---

static bool make_room(tool_contents *c, size_t *room)
{
    const size_t wanted = *room == 0 ? FIRST_ROOM : 2 * *room;
    unsigned char *const bytes = c->size < *room ? c->bytes : realloc(c->bytes, wanted);

    if (bytes == NULL) {
        return false;
    }
    *room = c->size < *room ? *room : wanted;
    c->bytes = bytes;
    return true;
}

static bool read_all(tool_contents *c, const char *path, tool_fault *fault)
{
    FILE *const file = fopen(path, "rb");
    bool is_good = file != NULL;
    size_t room = 0, count = 1;

    while (is_good && count != 0) {
        is_good = make_room(c, &room);
        count = is_good ? fread(c->bytes + c->size, 1, room - c->size, file) : 0;
        c->size += count;
    }
    is_good = is_good && ferror(file) == 0;
    if (!is_good) {
        fault_say(fault, "%s", strerror(errno));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_good;
}

// Put what is packed in the place of the packed bytes.
static bool unpack(tool_contents *c, tool_fault *fault)
{
    tool_contents unpacked = {0};

    if (!packing_is_packed(c->bytes, c->size)) {
        return true;
    }
    const bool is_good = packing_unpack(&unpacked, c, fault);

    unpacked.packed_size = c->size;
    free(c->bytes);
    *c = unpacked;
    return is_good;
}

bool contents_load(tool_contents *out, const char *path, tool_fault *fault)
{
    *out = (tool_contents){0};
    const bool is_good = read_all(out, path, fault) && unpack(out, fault);

    if (!is_good) {
        contents_release(out);
    }
    return is_good;
}

void contents_release(tool_contents *contents)
{
    free(contents->bytes);
    *contents = (tool_contents){0};
}

// --- Kinds ---

static contents_kind kind_of(const unsigned char *bytes, size_t size)
{
    static const unsigned char magics[][MAGIC] = {
        [CONTENTS_TAPE] = {'e', 's', 'p', 'l', 't', 'a', 'p', 'e'},
        [CONTENTS_ARCHIVE] = {0x89, 'E', 'S', 'P', 'L', '\r', '\n', 0x1a},
        [CONTENTS_IMAGE] = {0x89, 'E', 'S', 'P', 'I', '\r', '\n', 0x1a}};

    for (int kind = CONTENTS_TAPE; size >= MAGIC && kind <= CONTENTS_IMAGE; ++kind) {
        if (memcmp(bytes, magics[kind], MAGIC) == 0) {
            return (contents_kind)kind;
        }
    }
    return CONTENTS_OTHER;
}

contents_kind contents_kind_of(const tool_contents *contents)
{
    return kind_of(contents->bytes, contents->size);
}

bool contents_is_value(const char *path)
{
    FILE *const file = fopen(path, "rb");
    unsigned char bytes[MAGIC];
    const size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);

    if (file != NULL) {
        (void)fclose(file);
    }
    return kind_of(bytes, size) != CONTENTS_OTHER || packing_is_packed(bytes, size);
}

const char *contents_kind_name(contents_kind kind)
{
    static const char *const names[] = {[CONTENTS_OTHER] = "no tape, archive or image",
                                        [CONTENTS_TAPE] = "a tape",
                                        [CONTENTS_ARCHIVE] = "an archive",
                                        [CONTENTS_IMAGE] = "an image"};

    return names[kind];
}

// --- Writing ---

bool contents_append(tool_contents *to, size_t *room, const void *bytes, size_t size)
{
    if (size > *room - to->size) {
        const size_t wanted = to->size + size > 2 * *room ? to->size + size : 2 * *room;
        unsigned char *const moved = wanted < size ? NULL : realloc(to->bytes, wanted);

        if (moved == NULL) {
            return false;
        }
        to->bytes = moved;
        *room = wanted;
    }
    if (size != 0) {
        memcpy(to->bytes + to->size, bytes, size);
    }
    to->size += size;
    return true;
}

bool contents_save(const tool_contents *contents, const char *path, tool_fault *fault)
{
    const bool is_stdout = strcmp(path, "-") == 0;
    FILE *const file = is_stdout ? stdout : fopen(path, "wb");

#ifdef _WIN32
    if (is_stdout) {
        (void)_setmode(_fileno(stdout), _O_BINARY);
    }
#endif
    bool is_good =
        file != NULL && fwrite(contents->bytes, 1, contents->size, file) == contents->size;

    is_good = is_good && fflush(file) == 0;
    if (!is_good) {
        fault_say(fault, "%s", strerror(errno));
    }
    if (file != NULL && !is_stdout) {
        is_good = fclose(file) == 0 && is_good;
        if (!is_good) {
            (void)remove(path);
        }
    }
    return is_good;
}
