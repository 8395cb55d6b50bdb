// SPDX-License-Identifier: MIT
#include "tools/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool table_row_begin(tool_table *table)
{
    table_row *const rows = realloc(table->rows, (table->row_count + 1) * sizeof *rows);

    // Past the last column cells are dropped, and so they are where the row could not be made.
    table->cell = TABLE_COLUMNS;
    if (rows == NULL) {
        return false;
    }
    memset(rows[table->row_count], 0, sizeof *rows);
    table->rows = rows;
    ++table->row_count;
    table->cell = 0;
    return true;
}

void table_cell(tool_table *table, const char *format, ...)
{
    va_list arguments;

    if (table->cell >= TABLE_COLUMNS) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(table->rows[table->row_count - 1][table->cell], TABLE_CELL, format, arguments);
    va_end(arguments);
    ++table->cell;
    if (table->cell > table->column_count) {
        table->column_count = table->cell;
    }
}

/// Characters of UTF-8 text: bytes that do not continue one.
static size_t count_characters(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; ++text) {
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

static size_t column_width(const tool_table *table, size_t column)
{
    size_t width = 0;

    for (size_t row = 0; row < table->row_count; ++row) {
        const size_t length = count_characters(table->rows[row][column]);
        width = length > width ? length : width;
    }
    return width;
}

static void print_cell(const char *text, size_t column, size_t width)
{
    const int padding = (int)(width - count_characters(text));

    if (column == 0) {
        (void)printf("%s%*s", text, padding, "");
    } else {
        (void)printf("  %*s%s", padding, "", text);
    }
}

void table_print(const tool_table *table)
{
    size_t width[TABLE_COLUMNS] = {0}, total = 0;

    for (size_t column = 0; column < table->column_count; ++column) {
        width[column] = column_width(table, column);
        total += width[column] + (column > 0 ? 2 : 0);
    }
    for (size_t row = 0; row < table->row_count; ++row) {
        for (size_t column = 0; column < table->column_count; ++column) {
            print_cell(table->rows[row][column], column, width[column]);
        }
        (void)putchar('\n');
        for (size_t i = 0; row == 0 && i < total; ++i) {
            (void)putchar('-');
        }
        (void)fputs(row == 0 ? "\n" : "", stdout);
    }
}

void table_release(tool_table *table)
{
    free(table->rows);
    *table = (tool_table){0};
}
