// SPDX-License-Identifier: MIT
// Tables on stdout: the first column is aligned left, the others right.
#ifndef ESPALIER_TOOLS_TABLE_H
#define ESPALIER_TOOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define TABLE_COLUMNS 16
#define TABLE_CELL 64

typedef char table_row[TABLE_COLUMNS][TABLE_CELL];

typedef struct tool_table {
    size_t column_count, row_count;
    table_row *rows; // [row_count]; the first is the heading
    size_t cell;     // of the last row, the next to be written
} tool_table;

/// Begin a row.
/// @return false where there is no memory; cells are then dropped.
bool table_row_begin(tool_table *table);

/// Write the next cell of the row, as printf; cut where it is too long.
void table_cell(tool_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Print all rows with a rule below the heading.
void table_print(const tool_table *table);

void table_release(tool_table *table);

#endif
