// SPDX-License-Identifier: MIT
// The plain driver of a target, for any compiler: runs inputs from files or seeds, writes what fails
// to a file, shrinks it, and prints what it did in TAP. FUZZ_TARGET names the target.
#include "tests/asserts.h"
#include "tests/fuzz/shrink.h"
#include "tests/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUZZ_TARGET
#define FUZZ_TARGET fuzz_operations
#endif

enum { FILE_LIMIT = 1 << 26 };

static const fuzz_target *const target = &FUZZ_TARGET;

typedef struct wish {
    const char *program;
    fuzz_order order;
    bool has_seed, shrinks;
    uint64_t runs;
    const char *out;    // NULL, or where a shrunken test or a corpus goes
    bool makes_corpus;  // in the folder `out`
    const char **files; // [file_count]
    size_t file_count;
} wish;

static _Noreturn void explain(const char *program, int status)
{
    printf("Usage: %s [OPTION...] [FILE...]\n\n"
           "Runs the inputs in the files; without files, inputs that are made from seeds.\n\n"
           "  --runs N          that many seeds\n"
           "  --seed N          this one\n"
           "  --population N, --limit N, --length N, --structure\n"
           "                    what the input of a seed is made of, where a test said so\n"
           "  --shrink          make the first input that fails small, and write a test of it\n"
           "  --out FILE        there\n"
           "  --corpus FOLDER   write the inputs of --runs seeds there instead of running them\n"
           "  --steps           print each operation\n",
           program);
    exit(status);
}

// --- Inputs ---

static fuzz_input load(const char *path)
{
    FILE *const file = fopen(path, "rb");
    fuzz_input input = {malloc(1), 0};
    size_t count = 1;

    while (file != NULL && count != 0 && input.size < FILE_LIMIT) {
        input.bytes = realloc(input.bytes, input.size + 65536);
        ck_assert_ptr_nonnull(input.bytes);
        count = fread(input.bytes + input.size, 1, 65536, file);
        input.size += count;
    }
    if (file == NULL || ferror(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    (void)fclose(file);
    return input;
}

static void save(const char *path, const fuzz_input *input)
{
    FILE *const file = fopen(path, "wb");

    if (file == NULL || fwrite(input->bytes, 1, input->size, file) != input->size ||
        fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

static fuzz_order order_of(const wish *w, uint64_t run)
{
    fuzz_order order = w->order;
    uint64_t state = run + 1;

    order.seed = w->has_seed ? order.seed : test_random(&state);
    return order;
}

// The input of a run: a file, or made from a seed.
static fuzz_input input_of(const wish *w, uint64_t run)
{
    const fuzz_order order = order_of(w, run);

    return w->file_count != 0 ? load(w->files[run]) : target->make(&order);
}

static void run_all(void *context, volatile uint64_t *done)
{
    const wish *const w = context;

    for (uint64_t i = 0; i < w->runs; ++i) {
        trial_begin_input();
        const fuzz_input input = input_of(w, i);

        target->run(input.bytes, input.size);
        free(input.bytes);
        *done += 1;
    }
}

// --- What fails ---

// @return status of the program.
static int shrink_and_tell(const wish *w, const fuzz_input *input)
{
    shrunken s = shrink(target, input->bytes, input->size);
    FILE *const file = w->out != NULL ? fopen(w->out, "w") : stdout;
    char text[1400];

    if (file == NULL) {
        perror(w->out);
        return EXIT_FAILURE;
    }
    trial_describe(&s.failure, text, sizeof text);
    printf("# %zu bytes became %zu, of %zu parts, in %zu tries: %s\n", input->size, s.input.size,
           s.parts, s.tries, text);
    if (s.failure.end != TRIAL_PASSED) {
        shrink_write_test(file, target, &s);
    }
    if (w->out != NULL) {
        (void)fclose(file);
    }
    free(s.input.bytes);
    return s.failure.end != TRIAL_PASSED ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void tell_failure(const wish *w, const trial *t, const fuzz_input *input)
{
    char path[256], text[1400];

    trial_describe(t, text, sizeof text);
    if (w->file_count != 0) {
        (void)snprintf(path, sizeof path, "%s", w->files[t->done]);
    } else {
        (void)snprintf(path, sizeof path, "%s-%016" PRIx64 ".input", target->name,
                       test_hash_bytes(TEST_HASH_START, input->bytes, input->size));
        save(path, input);
    }
    printf("# %s\n# its %zu bytes are in %s; again: %s %s; smaller: %s --shrink %s\n", text,
           input->size, path, w->program, path, w->program, path);
}

static int run_and_tell(const wish *w)
{
    const trial t = trial_run(run_all, (void *)(uintptr_t)w, false);
    int status = EXIT_SUCCESS;

    printf("1..1\n");
    if (t.end == TRIAL_PASSED) {
        printf("ok 1 - %s: %" PRIu64 " inputs\n", target->what, t.done);
        return status;
    }
    printf("not ok 1 - %s: input %" PRIu64 "\n", target->what, t.done);
    if (t.done == w->runs) {
        printf("# all were run, and the program ended badly: a leak?\n");
        return EXIT_FAILURE;
    }
    const fuzz_input input = input_of(w, t.done);

    tell_failure(w, &t, &input);
    status = w->shrinks ? shrink_and_tell(w, &input) : EXIT_FAILURE;
    free(input.bytes);
    return status;
}

static int write_corpus(const wish *w)
{
    for (uint64_t i = 0; i < w->runs; ++i) {
        const fuzz_input input = input_of(w, i);
        char path[512];

        (void)snprintf(path, sizeof path, "%s/seed-%03" PRIu64, w->out, i);
        save(path, &input);
        free(input.bytes);
    }
    return EXIT_SUCCESS;
}

// --- The command line ---

static uint64_t number_of(const wish *w, const char *text)
{
    char *end = NULL;

    if (text == NULL) {
        explain(w->program, EXIT_FAILURE);
    }
    const uint64_t number = strtoull(text, &end, 0);

    if (end == text || *end != '\0') {
        explain(w->program, EXIT_FAILURE);
    }
    return number;
}

static bool take_flag(wish *w, const char *name)
{
    const bool is_known =
        strcmp(name, "structure") == 0 || strcmp(name, "shrink") == 0 || strcmp(name, "steps") == 0;

    w->order.is_structural = w->order.is_structural || strcmp(name, "structure") == 0;
    w->shrinks = w->shrinks || strcmp(name, "shrink") == 0;
    fuzz_tells_steps = fuzz_tells_steps || strcmp(name, "steps") == 0;
    return is_known;
}

static void take_value(wish *w, const char *name, const char *value)
{
    if (strcmp(name, "out") == 0 || strcmp(name, "corpus") == 0) {
        w->out = value;
        w->makes_corpus = strcmp(name, "corpus") == 0;
    } else if (strcmp(name, "seed") == 0) {
        w->order.seed = number_of(w, value);
        w->has_seed = true;
    } else if (strcmp(name, "runs") == 0) {
        w->runs = number_of(w, value);
    } else if (strcmp(name, "population") == 0) {
        w->order.population = (uint32_t)number_of(w, value);
    } else if (strcmp(name, "limit") == 0) {
        w->order.limit = (uint32_t)number_of(w, value);
    } else if (strcmp(name, "length") == 0) {
        w->order.length = (size_t)number_of(w, value);
    } else {
        explain(w->program, strcmp(name, "help") == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
}

int main(int count, char **words)
{
    wish w = {.program = words[0], .runs = test_scaled_alone(FUZZ_TARGET.usual)};

    w.files = calloc((size_t)count + 1, sizeof *w.files);
    ck_assert_ptr_nonnull(w.files);
    for (int i = 1; i < count; ++i) {
        const bool is_option = strncmp(words[i], "--", 2) == 0;

        if (!is_option) {
            w.files[w.file_count++] = words[i];
        } else if (!take_flag(&w, words[i] + 2)) {
            take_value(&w, words[i] + 2, i + 1 < count ? words[i + 1] : NULL);
            i += 1;
        }
    }
    w.runs = w.file_count != 0 ? w.file_count : w.has_seed ? 1 : w.runs;
    const int status = w.makes_corpus ? write_corpus(&w) : run_and_tell(&w);

    free(w.files);
    return status;
}
