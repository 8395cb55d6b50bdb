// SPDX-License-Identifier: MIT
#include "tests/fuzz/trial.h"

#include "tests/asserts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// No input takes longer, in any build.
enum { SECONDS = 120, FAILED_CHECK = 77 };

// What the child tells. It lies in memory that both see.
typedef struct page {
    volatile uint64_t done;
    int line;
    char file[256], text[1024];
} page;

static page *shared;

// What is told is one line.
static void hear(const char *file, int line, const char *text)
{
    shared->line = line;
    (void)snprintf(shared->file, sizeof shared->file, "%s", file);
    (void)snprintf(shared->text, sizeof shared->text, "%s", text);
    for (char *c = shared->text; *c != '\0'; ++c) {
        *c = *c == '\n' ? ' ' : *c;
    }
    (void)fflush(NULL);
    _exit(FAILED_CHECK);
}

static page *open_page(void)
{
    page *const p =
        mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        perror("mmap");
        exit(EXIT_FAILURE);
    }
    memset(p, 0, sizeof *p);
    return p;
}

static void drop_output(void)
{
    const int nowhere = open("/dev/null", O_WRONLY);

    if (nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
        (void)dup2(nowhere, STDERR_FILENO);
    }
}

void trial_begin_input(void)
{
    (void)alarm(SECONDS);
}

static _Noreturn void be_child(trial_work *work, void *context, bool is_quiet)
{
    if (is_quiet) {
        drop_output();
    }
    test_listen(hear);
    work(context, &shared->done);
    // By exit(), where leaks are told.
    exit(EXIT_SUCCESS);
}

static trial read_end(int status)
{
    trial t = {.end = TRIAL_PASSED, .done = shared->done};

    if (WIFSIGNALED(status)) {
        t.end = TRIAL_SIGNAL;
        t.number = WTERMSIG(status);
    } else if (WEXITSTATUS(status) == FAILED_CHECK) {
        t.end = TRIAL_CHECK;
        t.number = shared->line;
        memcpy(t.file, shared->file, sizeof t.file);
        memcpy(t.text, shared->text, sizeof t.text);
    } else if (WEXITSTATUS(status) != EXIT_SUCCESS) {
        t.end = TRIAL_EXIT;
        t.number = WEXITSTATUS(status);
    }
    return t;
}

trial trial_run(trial_work *work, void *context, bool is_quiet)
{
    int status = 0;

    shared = open_page();
    (void)fflush(NULL);
    const pid_t child = fork();

    if (child == 0) {
        be_child(work, context, is_quiet);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(EXIT_FAILURE);
    }
    const trial t = read_end(status);

    (void)munmap(shared, sizeof *shared);
    return t;
}

typedef struct one_input {
    const fuzz_target *target;
    const unsigned char *bytes;
    size_t size;
} one_input;

static void run_one(void *context, volatile uint64_t *done)
{
    const one_input *const one = context;

    trial_begin_input();
    one->target->run(one->bytes, one->size);
    *done += 1;
}

trial trial_of(const fuzz_target *target, const unsigned char *bytes, size_t size, bool is_quiet)
{
    one_input one = {target, bytes, size};

    return trial_run(run_one, &one, is_quiet);
}

bool trial_is_same(const trial *a, const trial *b)
{
    return a->end == b->end && a->number == b->number && strcmp(a->file, b->file) == 0;
}

void trial_describe(const trial *t, char *text, size_t size)
{
    switch (t->end) {
    case TRIAL_PASSED:
        (void)snprintf(text, size, "passed");
        break;
    case TRIAL_CHECK:
        (void)snprintf(text, size, "%s:%d: %s", t->file, t->number, t->text);
        break;
    case TRIAL_SIGNAL:
        (void)snprintf(text, size, "signal %d", t->number);
        break;
    case TRIAL_EXIT:
        (void)snprintf(text, size, "exit status %d", t->number);
        break;
    }
}
