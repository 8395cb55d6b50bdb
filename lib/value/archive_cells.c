// SPDX-License-Identifier: MIT
// The section Cell of an archive, and lists that few nodes are in.
#include "lib/value/archive_read.h"

#include <string.h>

uint32_t espl__walk_gap(const espl__parse *p, espl__cursor *cursor, uint32_t from)
{
    if (espl__cursor_left(cursor) == 0) {
        return ESPL__NO_SLOT;
    }
    const uint32_t gap = espl__cursor_varint(cursor);

    cursor->is_broken = cursor->is_broken || gap >= p->info.nodes - from;
    return cursor->is_broken ? ESPL__NO_SLOT : from + gap;
}

bool espl__walk_take_cell(espl__node_walk *w)
{
    espl__parse *const p = w->parse;
    uint32_t words[3];

    for (int i = 0; i < 3; ++i) {
        words[i] = espl__cursor_u32(&w->cells);
    }
    memcpy(w->node.cell.at, words, sizeof words);
    if (w->cells.is_broken || w->node.built.parent != ESPL__NO_SLOT ||
        (words[0] | words[1] | words[2]) == 0) {
        return espl__parse_refuse_at(p, &w->cells, "A cell is that of no root, or 0, 0, 0.");
    }
    w->next_cell =
        w->at + 1 < p->info.nodes ? espl__walk_gap(p, &w->cells, w->at + 1) : ESPL__NO_SLOT;
    return !w->cells.is_broken || espl__parse_refuse_at(p, &w->cells, "A cell is that of no node.");
}

bool espl__parse_cell_size(espl__parse *p)
{
    espl__cursor cursor = p->sections[ESPL__ARCHIVE_CELL];

    if (cursor.size == 0) {
        return true;
    }
    const uint32_t word = espl__cursor_u32(&cursor);

    memcpy(&p->cell_size, &word, sizeof word);
    if (cursor.is_broken || !espl__is_cell_size(p->cell_size) || espl__cursor_left(&cursor) == 0) {
        p->cell_size = 0;
        return espl__parse_refuse_at(p, &cursor, "Cells have a size that cells do not have.");
    }
    return true;
}
