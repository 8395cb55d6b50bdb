// SPDX-License-Identifier: MIT
// espl_log_stderr(), and the environment variable ESPALIER_LOG, which switches it on.
#include "tests/runner.h"
#include "tests/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "ESPALIER_LOG"

// What is printed to stderr between begin and end.
typedef struct printed {
    FILE *file;
    int saved;
    char text[4096];
} printed;

static void printed_begin(printed *p)
{
    fflush(stderr);
    p->saved = dup(STDERR_FILENO);
    p->file = tmpfile();
    ck_assert(p->saved >= 0 && p->file != NULL);
    ck_assert_int_ge(dup2(fileno(p->file), STDERR_FILENO), 0);
}

static const char *printed_end(printed *p)
{
    fflush(stderr);
    ck_assert_int_ge(dup2(p->saved, STDERR_FILENO), 0);
    close(p->saved);
    rewind(p->file);
    const size_t length = fread(p->text, 1, sizeof p->text - 1, p->file);
    p->text[length] = '\0';
    fclose(p->file);
    return p->text;
}

TEST(a_message_is_one_line_with_its_level)
{
    printed p;

    printed_begin(&p);
    espl_log_stderr(NULL, ESPL_LOG_INFO, "one");
    espl_log_stderr(NULL, ESPL_LOG_WARNING, "two");
    espl_log_stderr(NULL, ESPL_LOG_ERROR, "three");
    espl_log_stderr(NULL, ESPL_LOG_ERROR, NULL);
    espl_log_stderr(NULL, ESPL_LOG_ERROR, "100 %s");
    espl_log_stderr(NULL, (espl_log_level)99, "four");
    ck_assert_str_eq(printed_end(&p), "espalier: info: one\n"
                                      "espalier: warning: two\n"
                                      "espalier: error: three\n"
                                      "espalier: error: 100 %s\n"
                                      "espalier: message: four\n");
}

static const char dropped[] =
    "espalier: info: espl_command_buffer_destroy: 1 command: Recorded and not played, so dropped; "
    "call "
    "espl_play(), or espl_command_buffer_submit() and espl_sync(), first.\n";
static const char refused[] =
    "espalier: warning: espl_create: ESPL_ERR_ARGUMENT: component 900: The "
    "world has no component of that number; register it, or call "
    "espl_component_find().\n";
static const char lives[] =
    "espalier: error: espl_world_destroy: 1 command buffer of the world still lives; call "
    "espl_command_buffer_destroy() for each, then destroy the world.\n";

static void ignore_trap(void *user, const char *file, int line, const char *sentence)
{
    (void)user;
    (void)file;
    (void)line;
    (void)sentence;
}

// A message of each level. @param word  of the variable while the world is made; NULL: it is not set.
static const char *print_all(printed *p, const char *word, const espl_hooks *hooks)
{
    const espl_world_def def = {.hooks = *hooks};
    const espl_component unknown = 900;
    espl_world *world = NULL;

    if (word == NULL) {
        unsetenv(VARIABLE);
    } else {
        setenv(VARIABLE, word, 1);
    }
    printed_begin(p);
    ck_ok(espl_world_create(&def, &world));
    // What the variable is later does not matter.
    setenv(VARIABLE, word == NULL || strcmp(word, "off") == 0 ? "info" : "off", 1);
    ck_status(espl_create(world, &unknown, 1, 1, NULL), ESPL_ERR_ARGUMENT);
    espl_command_buffer *const commands = test_commands(world, 1);
    ck_ok(espl_record_create(espl_command_buffer_recorder(commands, 0), 0,
                             &(espl_creation_def){.value_count = 0}, 1, NULL));
    espl_world_destroy(world);
    espl_command_buffer_destroy(commands);
    espl_world_destroy(world);
    unsetenv(VARIABLE);
    return printed_end(p);
}

TEST(the_variable_prints_from_its_level_up)
{
    const espl_hooks silent = {.trap = ignore_trap};
    char all[1024];
    printed p;

    ck_assert_str_eq(print_all(&p, NULL, &silent), "");
    ck_assert_str_eq(print_all(&p, "off", &silent), "");
    ck_assert_str_eq(print_all(&p, "error", &silent), lives);
    snprintf(all, sizeof all, "%s%s", refused, lives);
    ck_assert_str_eq(print_all(&p, "warning", &silent), all);
    snprintf(all, sizeof all, "%s%s%s", refused, lives, dropped);
    ck_assert_str_eq(print_all(&p, "info", &silent), all);
}

TEST(a_hook_of_the_program_takes_everything_whatever_the_variable_is)
{
    static const char *const words[] = {"off", "error", "info", "loud", ""};

    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        test_hooks heard = {0};
        espl_hooks hooks = test_hooks_of(&heard);
        printed p;

        ck_assert_str_eq(print_all(&p, words[i], &hooks), "");
        ck_assert_uint_eq(heard.lines, 3);
    }
}

TEST(another_word_makes_no_world_and_is_told)
{
    static const char *const words[] = {"loud", "", "INFO", "info ", "1"};

    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        espl_world *world = NULL;
        char line[256];
        printed p;

        setenv(VARIABLE, words[i], 1);
        printed_begin(&p);
        ck_status(espl_world_create(NULL, &world), ESPL_ERR_ARGUMENT);
        snprintf(
            line, sizeof line,
            "espalier: warning: espl_world_create: ESPL_ERR_ARGUMENT: ESPALIER_LOG \"%s\": The "
            "environment variable has a word other than error, warning, info and off.\n",
            words[i]);
        ck_assert_str_eq(printed_end(&p), line);
        ck_assert_ptr_null(world);
        unsetenv(VARIABLE);
    }
}

// What is wrong with the definition itself is printed too.
TEST(a_world_that_is_not_made_is_told)
{
    const espl_world_def far_tag = {.tag = 128};
    const espl_world_def kernels = {.kernels = "seven"};
    espl_world *world = NULL;
    printed p;

    setenv(VARIABLE, "warning", 1);
    printed_begin(&p);
    ck_status(espl_world_create(&far_tag, &world), ESPL_ERR_ARGUMENT);
    ck_status(espl_world_create(&kernels, &world), ESPL_ERR_ARGUMENT);
    ck_status(espl_world_create(NULL, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_str_eq(
        printed_end(&p),
        "espalier: warning: espl_world_create: ESPL_ERR_ARGUMENT: def->tag is more than 127.\n"
        "espalier: warning: espl_world_create: ESPL_ERR_ARGUMENT: def->kernels \"seven\": There "
        "are no kernels of that name.\n"
        "espalier: warning: espl_world_create: ESPL_ERR_ARGUMENT: out is NULL.\n");
    setenv(VARIABLE, "error", 1);
    printed_begin(&p);
    ck_status(espl_world_create(&far_tag, &world), ESPL_ERR_ARGUMENT);
    ck_assert_str_eq(printed_end(&p), "");
    unsetenv(VARIABLE);
}

static void *refuse_to_allocate(void *user, size_t size, size_t alignment)
{
    (void)size;
    (void)alignment;
    return (size_t *)user == NULL ? user : NULL;
}

static void release_nothing(void *user, void *block, size_t size, size_t alignment)
{
    (void)user;
    (void)block;
    (void)size;
    (void)alignment;
}

TEST(a_world_without_memory_is_told)
{
    test_hooks heard = {0};
    const espl_world_def def = {.allocator = {NULL, refuse_to_allocate, release_nothing},
                                .hooks = test_hooks_of(&heard)};
    espl_world *world = NULL;
    char line[256];

    ck_status(espl_world_create(&def, &world), ESPL_ERR_NO_MEMORY);
    snprintf(line, sizeof line, "espl_world_create: ESPL_ERR_NO_MEMORY: %s",
             espl_status_text(ESPL_ERR_NO_MEMORY));
    ck_assert_str_eq(heard.last_line, line);
    ck_assert_uint_eq(heard.lines, 1);
}
