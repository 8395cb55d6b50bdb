// SPDX-License-Identifier: MIT
#include "tests/runner.h"

static test_entry *first_entry;

void test_register(test_entry *entry, int from, int to)
{
    test_entry **at = &first_entry;

    while (*at != NULL && (*at)->line < entry->line) {
        at = &(*at)->next;
    }
    entry->next = *at;
    *at = entry;
    entry->from = from;
    entry->to = to;
}

const test_entry *test_first_entry(void)
{
    return first_entry;
}
