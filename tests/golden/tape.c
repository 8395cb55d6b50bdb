// SPDX-License-Identifier: MIT
// A fixed tape of writes and structural changes on worlds of several shapes, and a hash of all that
// can be read of them: the same on every machine, by every compiler, at every level of
// optimisation. Prints a line for each formula and each world, then what espl_hash() says of all worlds and
// of the calm ones, those without extreme numbers. All these lines state what a user can observe. The last
// line is of handles and rows, which an exchange of structures may change. With --steps also prints a line
// for each step, so that two outputs side by side show the first step that differs; with --kernels only the
// names of the kernels that this machine runs.
#include "tests/golden/tape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 2,
    WORLD_TAG = 9,
    SWEEP_EVERY = 24, // steps
};

static const char *const shape_names[TAPE_SHAPE_COUNT] = {"chain",  "star", "fan",
                                                          "forest", "wood", "solos"};
static const char *const style_names[TAPE_STYLE_COUNT] = {"bare", "stretched", "flagged", "wild"};
static const uint32_t populations[TAPE_SHAPE_COUNT] = {48, 96, 90, 160, 4000, 64};
static const uint32_t writes_of[TAPE_SHAPE_COUNT] = {10000, 10000, 10000, 10000, 14000, 5000};

typedef struct step_kind {
    const char *name;
    uint32_t weight;
    void (*run)(tape *t);
} step_kind;

static const step_kind step_kinds[] = {
    {"write", 120, tape_write},
    {"write_batch", 20, tape_write_batch},
    {"write_short", 20, tape_write_short},
    {"look_at", 6, tape_look_at},
    {"rotate_about", 6, tape_rotate_about},
    {"set_inherit", 16, tape_set_inherit},
    {"heal", 2, tape_heal},
    {"read", 16, tape_read},
    {"attach", 10, tape_attach},
    {"detach", 4, tape_detach},
    {"set_sibling", 4, tape_set_sibling},
    {"change_placement", 6, tape_change_placement},
    {"destroy", 3, tape_destroy},
    {"cull", 1, tape_cull},
    {"instantiate", 3, tape_instantiate},
    {"play", 6, tape_play},
};

static const step_kind *pick_step(tape *t)
{
    uint32_t sum = 0, at = 0;

    for (size_t i = 0; i < sizeof step_kinds / sizeof *step_kinds; ++i) {
        sum += step_kinds[i].weight;
    }
    uint32_t left = golden_below(&t->dice, sum);

    while (left >= step_kinds[at].weight) {
        left -= step_kinds[at].weight;
        at += 1;
    }
    return &step_kinds[at];
}

// Births and deaths keep the world about as large as it was.
static void balance(tape *t)
{
    const uint32_t population = populations[t->shape];

    while (t->count < population / 3) {
        tape_plant(t);
    }
    while (t->count > population * 2) {
        tape_destroy(t);
    }
}

static void run_step(tape *t, bool shows_steps)
{
    const step_kind *const kind = pick_step(t);

    kind->run(t);
    balance(t);
    t->steps += 1;
    if (t->steps % SWEEP_EVERY == 0) {
        tape_note_all(t);
    }
    if (shows_steps) {
        printf("%s-%s %" PRIu32 " %s %016" PRIx64 "\n", shape_names[t->shape],
               style_names[t->style], t->steps, kind->name, t->hash);
    }
}

static void begin(tape *t, tape_shape shape, tape_style style)
{
    const espl_world_def def = {.tag = WORLD_TAG};
    const uint32_t extreme_one_in[TAPE_STYLE_COUNT] = {0, 0, 60, 12};
    const uint32_t bad_one_in[TAPE_STYLE_COUNT] = {0, 0, 800, 160};

    memset(t, 0, sizeof *t);
    t->shape = shape;
    t->style = style;
    t->dice.state = 100 * (uint64_t)shape + (uint64_t)style;
    t->dice.extreme_one_in = extreme_one_in[style];
    t->dice.bad_one_in = bad_one_in[style];
    t->dice.is_bare = style == TAPE_BARE;
    t->hash = t->rows = GOLDEN_START;
    if (espl_world_create(&def, &t->world) != ESPL_OK ||
        espl_command_buffer_create(t->world, LANES, &t->commands) != ESPL_OK) {
        tape_fail(t, "no world could be made");
    }
    while (t->count < populations[shape]) {
        tape_plant(t);
    }
}

static uint64_t hash_word64(uint64_t hash, uint64_t word)
{
    return golden_hash_word(golden_hash_word(hash, (uint32_t)word), (uint32_t)(word >> 32));
}

// What goes on from world to world.
typedef struct sums {
    uint64_t logical,
        calm; // what espl_hash() says of all worlds, and of those without extreme numbers
    uint64_t rows;
} sums;

static void end(tape *t, sums *all)
{
    espl_validation validation;
    uint64_t hash = 0;

    tape_note_all(t);
    tape_note_query(t);
    if (!espl_validate(t->world, &validation)) {
        tape_fail(t, validation.rule);
    }
    if (espl_hash(t->world, ESPL_HASH_LOGICAL, &hash) != ESPL_OK) {
        tape_fail(t, "a world could not be hashed");
    }
    all->logical = hash_word64(all->logical, hash);
    all->calm = t->style <= TAPE_STRETCHED ? hash_word64(all->calm, hash) : all->calm;
    all->rows = hash_word64(all->rows, t->rows);
    espl_command_buffer_destroy(t->commands);
    espl_world_destroy(t->world);
}

static void list_kernels(void)
{
    static const char *const names[] = {"scalar", "sse2", "avx2", "avx512", "neon", "simd128"};

    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const espl_world_def def = {.kernels = names[i]};
        espl_world *world = NULL;

        if (espl_world_create(&def, &world) == ESPL_OK) {
            puts(espl_world_kernels(world));
            espl_world_destroy(world);
        }
    }
}

int main(int argc, char **argv)
{
    static tape t;
    const bool shows_steps = argc == 2 && strcmp(argv[1], "--steps") == 0;
    sums all = {GOLDEN_START, GOLDEN_START, GOLDEN_START};
    uint64_t total = GOLDEN_START;

    if (argc == 2 && strcmp(argv[1], "--kernels") == 0) {
        list_kernels();
        return EXIT_SUCCESS;
    }
    if (argc > 1 && !shows_steps) {
        fprintf(stderr, "usage: tape [--steps | --kernels]\n");
        return EXIT_FAILURE;
    }
    golden_formulas(&total);
    for (int world = 0; world < TAPE_SHAPE_COUNT * TAPE_STYLE_COUNT; ++world) {
        char name[32];

        begin(&t, (tape_shape)(world / TAPE_STYLE_COUNT), (tape_style)(world % TAPE_STYLE_COUNT));
        while (t.writes < writes_of[t.shape]) {
            run_step(&t, shows_steps);
        }
        end(&t, &all);
        snprintf(name, sizeof name, "%s-%s", shape_names[t.shape], style_names[t.style]);
        golden_line(&total, name, t.hash);
    }
    golden_line(&total, "total", total);
    golden_line(&total, "espl_hash", all.logical);
    golden_line(&total, "espl_hash-calm", all.calm);
    golden_line(&total, "rows", all.rows);
    return EXIT_SUCCESS;
}
