// SPDX-License-Identifier: MIT
// Checking the head and the table of an archive: every offset is compared to the size, then the checksums.
#include "lib/value/archive_read.h"

bool espl__parse_refuse(espl__parse *parse, espl_status status, const void *at,
                        const char *sentence)
{
    const unsigned char *const byte = at;

    if (parse->status == ESPL_OK) {
        parse->status = status;
        parse->fault.sentence = sentence;
        parse->fault.offset = byte == NULL ? 0 : (uint64_t)(byte - parse->bytes);
    }
    return false;
}

static bool refuse_later(espl__parse *p, const void *at, const char *sentence)
{
    return espl__parse_refuse(p, ESPL_ERR_VERSION, at, sentence);
}

// --- Head and table ---

static uint64_t checksum_between(const void *bytes, size_t size)
{
    espl__checksum checksum;

    espl__checksum_begin(&checksum);
    espl__checksum_add(&checksum, bytes, size);
    return espl__checksum_of(&checksum);
}

// Read one entry of the table, and check the section. @param end  of the section before; in and out.
// @param known  number of the last known section + 1; in and out.
static bool read_entry(espl__parse *p, const unsigned char *entry, uint64_t *end, int *known)
{
    const uint64_t offset = espl__number_load(entry + 8, 8),
                   stored = espl__number_load(entry + 16, 8);
    const uint64_t begin =
        (*end + ESPL__ARCHIVE_ALIGNMENT - 1) & ~(uint64_t)(ESPL__ARCHIVE_ALIGNMENT - 1);
    int number = 0;

    while (number < ESPL__ARCHIVE_SECTIONS &&
           memcmp(espl__archive_letters[number], entry, 4) != 0) {
        number += 1;
    }
    if (offset != begin || offset > p->size || stored > p->size - offset || stored == 0) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, entry, "A section is not where it must be.");
    }
    if (!espl__are_zeros(p->bytes + *end, (size_t)(begin - *end))) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, p->bytes + *end,
                                  "Bytes between two sections are not 0.");
    }
    *end = offset + stored;
    if (espl__number_load(entry + 32, 8) != checksum_between(p->bytes + offset, (size_t)stored)) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, p->bytes + offset,
                                  "The checksum of a section differs: the archive is damaged.");
    }
    if (number == ESPL__ARCHIVE_SECTIONS) {
        return (entry[0] >= 'a' && entry[0] <= 'z') ||
               refuse_later(p, entry, "A section that must be understood is unknown.");
    }
    if (espl__number_load(entry + 4, 2) != 1 || espl__number_load(entry + 6, 2) != 0) {
        return refuse_later(p, entry, "A section has a later version or encoding.");
    }
    if (number < *known || espl__number_load(entry + 24, 8) != stored) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, entry,
                                  "A section comes twice, not in its order, or with two sizes.");
    }
    *known = number + 1;
    p->sections[number] = espl__cursor_of(p->bytes + offset, (size_t)stored);
    return true;
}

static bool read_table(espl__parse *p, uint32_t count)
{
    const unsigned char *const table = p->bytes + ESPL__ARCHIVE_HEAD;
    uint64_t end = ESPL__ARCHIVE_HEAD + (uint64_t)count * ESPL__ARCHIVE_ENTRY;
    int known = 0;

    for (uint32_t i = 0; i < count; ++i) {
        if (!read_entry(p, table + (size_t)i * ESPL__ARCHIVE_ENTRY, &end, &known)) {
            return false;
        }
    }
    return end == p->size || espl__parse_refuse(p, ESPL_ERR_FORMAT, p->bytes + end,
                                                "The archive has bytes behind its end.");
}

// Read what the archive says of itself.
static bool read_info(espl__parse *p)
{
    const espl__cursor *const user = &p->sections[ESPL__ARCHIVE_USER];
    espl__cursor *const tree = &p->sections[ESPL__ARCHIVE_TREE];

    p->info.nodes = espl__cursor_u32(tree);
    p->info.tops = espl__cursor_u32(tree);
    if (tree->is_broken || p->info.nodes > espl__cursor_left(tree) ||
        p->info.tops > p->info.nodes) {
        return espl__parse_refuse_at(p, tree,
                                     "The section TREE has no counts, or less bytes than nodes.");
    }
    p->info.user = user->size == 0 ? NULL : user->bytes;
    p->info.user_size = user->size;
    return true;
}

bool espl__parse_fixed(espl__parse *p, uint32_t kind, uint32_t *count)
{
    const unsigned char *const head = p->bytes;

    if (p->size < ESPL__ARCHIVE_HEAD ||
        memcmp(head, espl__archive_magic, sizeof espl__archive_magic) != 0) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, head, "These bytes are no archive.");
    }
    if (espl__number_load(head + 56, 8) != checksum_between(head, 56)) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, head + 56,
                                  "The checksum of the head differs: the archive is damaged.");
    }
    p->info.major = (uint32_t)espl__number_load(head + 8, 2);
    p->info.minor = (uint32_t)espl__number_load(head + 10, 2);
    p->info.writer = (uint32_t)espl__number_load(head + 28, 4);
    if (p->info.major != ESPL__ARCHIVE_MAJOR) {
        return refuse_later(p, head + 8, "The archive has another version of the format.");
    }
    const uint64_t flags = espl__number_load(head + 32, 4);

    *count = (uint32_t)espl__number_load(head + 24, 4);
    p->is_big_endian = (flags & ESPL__ARCHIVE_BIG_ENDIAN) != 0;
    if (espl__number_load(head + 12, 4) != kind) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, head + 12,
                                  kind == ESPL__ARCHIVE_KIND
                                      ? "The bytes are those of a delta."
                                      : "The bytes are not those of a delta.");
    }
    return (espl__number_load(head + 16, 8) == p->size && *count <= ESPL__ARCHIVE_SECTIONS_MOST &&
            (flags & ~(uint64_t)ESPL__ARCHIVE_BIG_ENDIAN) == 0 && espl__are_zeros(head + 36, 12)) ||
           espl__parse_refuse(p, ESPL_ERR_FORMAT, head + 8,
                              "The head has a number that no archive of this size has.");
}

bool espl__parse_checksum(espl__parse *p, size_t size, const char *sentence)
{
    return espl__number_load(p->bytes + 48, 8) ==
               checksum_between(p->bytes + ESPL__ARCHIVE_HEAD, size) ||
           espl__parse_refuse(p, ESPL_ERR_FORMAT, p->bytes + 48, sentence);
}

bool espl__parse_sections(espl__parse *p, uint32_t *count)
{
    if (!espl__parse_fixed(p, ESPL__ARCHIVE_KIND, count)) {
        return false;
    }
    const size_t size = (size_t)*count * ESPL__ARCHIVE_ENTRY;

    if (size > p->size - ESPL__ARCHIVE_HEAD) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, p->bytes + 24,
                                  "The archive ends before its table.");
    }
    return espl__parse_checksum(p, size,
                                "The checksum of the table differs: the archive is damaged.") &&
           read_table(p, *count);
}

bool espl__parse_head(espl__parse *p)
{
    uint32_t count;

    return espl__parse_sections(p, &count) && read_info(p);
}

// --- What an archive says of itself ---

espl_status espl_archive_inspect(const void *bytes, size_t size, espl_archive_info *out,
                                 espl_format_fault *fault)
{
    espl__parse parse = {.bytes = bytes, .size = size, .status = ESPL_ERR_ARGUMENT};

    if (bytes != NULL && out != NULL) {
        parse.status = ESPL_OK;
        if (espl__parse_head(&parse)) {
            *out = parse.info;
        }
    }
    if (fault != NULL) {
        *fault = parse.fault;
    }
    return parse.status;
}
