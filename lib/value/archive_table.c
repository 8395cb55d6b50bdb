// SPDX-License-Identifier: MIT
// The numbers of a head and of a table, in their places.
#include "lib/value/archive_table.h"

static uint64_t round_up(uint64_t size)
{
    return (size + ESPL__ARCHIVE_ALIGNMENT - 1) & ~(uint64_t)(ESPL__ARCHIVE_ALIGNMENT - 1);
}

void espl__table_entry_set(espl__table_entry *entry, const char letters[4])
{
    memcpy(entry->kind, letters, 4);
    espl__number_store(entry->kind + 4, 1, 2); // version
    espl__number_store(entry->kind + 6, 0, 2); // encoding
}

void espl__table_pad(espl__wire *wire)
{
    espl__wire_zeros(wire, (size_t)(round_up(wire->size) - wire->size));
}

uint64_t espl__table_put(const espl__table *table, espl__wire *wire)
{
    uint64_t end = ESPL__ARCHIVE_HEAD + (uint64_t)table->count * ESPL__ARCHIVE_ENTRY;

    for (uint32_t i = 0; i < table->count; ++i) {
        const espl__table_entry *const entry = &table->entries[i];
        const uint64_t begin = round_up(end);

        espl__wire_put(wire, entry->kind, sizeof entry->kind);
        espl__wire_number(wire, begin, 8);
        espl__wire_number(wire, entry->size, 8);
        espl__wire_number(wire, entry->raw, 8);
        espl__wire_number(wire, entry->checksum, 8);
        end = begin + entry->size;
    }
    return end;
}

void espl__head_make(const espl__table *table, const espl__head_numbers *numbers,
                     unsigned char head[ESPL__ARCHIVE_HEAD])
{
    espl__checksum checksum;

    memset(head, 0, ESPL__ARCHIVE_HEAD);
    memcpy(head, espl__archive_magic, sizeof espl__archive_magic);
    espl__number_store(head + 8, ESPL__ARCHIVE_MAJOR, 2);
    espl__number_store(head + 10, table->minor, 2);
    espl__number_store(head + 12, numbers->kind, 4);
    espl__number_store(head + 16, numbers->size, 8);
    espl__number_store(head + 24, table->count, 4);
    espl__number_store(head + 28, table->writer, 4);
    espl__number_store(head + 32, table->flags, 4);
    espl__number_store(head + 48, numbers->checksum, 8);
    espl__checksum_begin(&checksum);
    espl__checksum_add(&checksum, head, 56);
    espl__number_store(head + 56, espl__checksum_of(&checksum), 8);
}

void espl__table_head(const espl__table *table, espl__wire *wire,
                      unsigned char head[ESPL__ARCHIVE_HEAD])
{
    espl__wire_begin(wire);
    const uint64_t size = espl__table_put(table, wire);

    espl__wire_flush(wire);
    espl__head_make(
        table, &(espl__head_numbers){ESPL__ARCHIVE_KIND, size, espl__checksum_of(&wire->checksum)},
        head);
}
