// SPDX-License-Identifier: MIT
#include "tests/misuse.h"

#include "tests/asserts.h"

#include <stdio.h>
#include <string.h>

static void bury_two(misuse *m)
{
    m->recycled = test_solo(m->world);
    m->dead = test_solo(m->world);
    ck_ok(espl_destroy(m->world, m->dead, ESPL_EXTENT_OWNED));
    ck_ok(espl_destroy(m->world, m->recycled, ESPL_EXTENT_OWNED));
    const espl_entity second = test_solo(m->world);
    ck_assert_uint_eq(second.index, m->recycled.index);
    ck_assert_uint_ne(second.generation, m->recycled.generation);
}

void misuse_begin(misuse *m, const espl_executor *executor)
{
    const uint32_t value = 42;
    const espl_attach_options set_free = {.link = ESPL_LINK_FREE};

    memset(m, 0, sizeof *m);
    test_world_begin(&m->test, 3, executor);
    test_world_begin(&m->elsewhere, 4, NULL);
    m->world = m->test.world;
    m->number = test_component(m->world, "number", sizeof(uint32_t), sizeof(uint32_t));
    m->root = test_solo_at(m->world, 1, 2, 3);
    m->child = test_solo(m->world);
    m->solo = test_solo(m->world);
    ck_ok(espl_attach(m->world, m->child, m->root, NULL));
    ck_ok(espl_attach(m->world, test_solo(m->world), m->root, &set_free));
    ck_ok(espl_add_component(m->world, m->child, m->number, &value, sizeof value));
    bury_two(m);

    const espl_instance_def instance = {.source = m->solo};
    m->foreign = test_solo(m->elsewhere.world);
    ck_ok(espl_command_buffer_create(m->world, 2, &m->commands));
    ck_ok(espl_record_instantiate(espl_command_buffer_recorder(m->commands, 0), 0, &instance, 1,
                                  &m->pending));
    misuse_forget_lines(m);
}

void misuse_end(misuse *m)
{
    espl_command_buffer_destroy(m->commands);
    test_world_end(&m->test);
    test_world_end(&m->elsewhere);
}

void misuse_handles(const misuse *m, misuse_handle out[MISUSE_HANDLES])
{
    const uint32_t generation = m->root.generation;
    const misuse_handle all[MISUSE_HANDLES] = {
        {"the null entity", {0, 0}, ESPL_ERR_NULL_ENTITY},
        {"a dead one", m->dead, ESPL_ERR_DEAD},
        {"one whose index was used again", m->recycled, ESPL_ERR_DEAD},
        {"a life to come", {m->root.index, generation + 1}, ESPL_ERR_DEAD},
        {"one of another world", m->foreign, ESPL_ERR_FOREIGN},
        {"a pending one", m->pending, ESPL_ERR_PENDING},
        {"an index out of range", {1000, generation}, ESPL_ERR_FOREIGN},
        {"the last index", {UINT32_MAX, generation}, ESPL_ERR_FOREIGN},
        {"one without a world", {m->root.index, 1}, ESPL_ERR_FOREIGN},
    };

    memcpy(out, all, sizeof all);
}

void misuse_forget_lines(misuse *m)
{
    m->test.hooks.lines = 0;
    m->test.hooks.last_line[0] = '\0';
}

// Tell whether a line ends as one of its status must: with the sentence of the status, or with
// another one where that says what is wrong with an argument, or what keeps the world busy.
static bool ends_well(const char *line, espl_status status)
{
    const char *const text = espl_status_text(status);
    const size_t length = strlen(line), end = strlen(text);
    const bool has_own =
        status == ESPL_ERR_ARGUMENT || status == ESPL_ERR_NOT_FINITE || status == ESPL_ERR_BUSY;

    return line[length - 1] == '.' &&
           (has_own || (length > end && strcmp(line + length - end, text) == 0));
}

void misuse_demand_line(misuse *m, const char *call, espl_entity entity, espl_status status)
{
    const char *const line = m->test.hooks.last_line;
    char start[96], handle[32] = "";

    snprintf(start, sizeof start, "%s: %s: ", call, espl_status_name(status));
    if (!espl_entity_is_null(entity)) {
        snprintf(handle, sizeof handle, " %lu.%lu", (unsigned long)entity.index,
                 (unsigned long)entity.generation);
    }
    ck_assert_msg(m->test.hooks.lines == 1, "%s, %s: %zu lines, the last: %s", call,
                  espl_status_name(status), m->test.hooks.lines, line);
    ck_assert_msg(strncmp(line, start, strlen(start)) == 0 && strstr(line, handle) != NULL &&
                      ends_well(line, status),
                  "%s of %s, %s, is told so: %s", call, handle, espl_status_name(status), line);
    misuse_forget_lines(m);
}
