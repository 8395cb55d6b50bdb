// SPDX-License-Identifier: MIT
#include "tests/fuzz/shrink.h"

#include "tests/asserts.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, TRIES_LIMIT = 50000 };

typedef struct shrinker {
    const fuzz_target *target;
    trial wanted;                 // as it failed last
    unsigned char *bytes, *draft; // [size], and room for as many
    size_t size, tries;
} shrinker;

// --- Parts ---

static size_t count_parts(const fuzz_target *target, const unsigned char *bytes, size_t size)
{
    size_t count = 0;

    for (size_t at = 0; at < size; at += target->part(bytes, size, at)) {
        count += 1;
    }
    return count != 0 ? count - 1 : 0; // the head is none
}

// Where a part begins, counted from 0 behind the head; the end past the last one.
static size_t part_at(const shrinker *s, size_t part)
{
    size_t at = s->target->part(s->bytes, s->size, 0);

    while (part > 0 && at < s->size) {
        at += s->target->part(s->bytes, s->size, at);
        part -= 1;
    }
    return at;
}

// --- Tries ---

// Take the draft where it fails in the same way.
static bool try_draft(shrinker *s, size_t size)
{
    if (s->tries == TRIES_LIMIT) {
        return false;
    }
    s->tries += 1;
    const trial t = trial_of(s->target, s->draft, size, true);

    if (!trial_is_same(&t, &s->wanted)) {
        return false;
    }
    memcpy(s->bytes, s->draft, size);
    s->size = size;
    s->wanted = t;
    return true;
}

static bool try_without(shrinker *s, size_t first, size_t count)
{
    const size_t from = part_at(s, first), to = part_at(s, first + count);

    memcpy(s->draft, s->bytes, from);
    memcpy(s->draft + from, s->bytes + to, s->size - to);
    return try_draft(s, from + s->size - to);
}

static bool drop_parts(shrinker *s, size_t chunk)
{
    bool has_dropped = false;
    size_t at = 0, count = count_parts(s->target, s->bytes, s->size);

    while (at < count) {
        if (try_without(s, at, chunk)) {
            count = count_parts(s->target, s->bytes, s->size);
            has_dropped = true;
        } else {
            at += chunk;
        }
    }
    return has_dropped;
}

static bool drop_all_that_may(shrinker *s)
{
    size_t chunk = count_parts(s->target, s->bytes, s->size);
    bool has_dropped = false;

    while (chunk > 0) {
        const bool drops = drop_parts(s, chunk);

        has_dropped = has_dropped || drops;
        // One by one for as long as something goes.
        chunk = chunk == 1 && drops ? 1 : chunk / 2;
    }
    return has_dropped;
}

// Bytes behind the head: nothing, or half of what they are.
static bool simplify_bytes(shrinker *s)
{
    bool is_simpler = false;

    for (size_t i = part_at(s, 0); i < s->size; ++i) {
        const unsigned char byte = s->bytes[i];
        const unsigned char plainer[2] = {0, byte / 2};

        for (size_t k = 0; k < 2 && s->bytes[i] == byte && byte > k; ++k) {
            memcpy(s->draft, s->bytes, s->size);
            s->draft[i] = plainer[k];
            is_simpler = try_draft(s, s->size) || is_simpler;
        }
    }
    return is_simpler;
}

shrunken shrink(const fuzz_target *target, const unsigned char *bytes, size_t size)
{
    shrinker s = {.target = target, .size = size};

    s.bytes = malloc(size + 1);
    s.draft = malloc(size + 1);
    ck_assert(s.bytes != NULL && s.draft != NULL);
    memcpy(s.bytes, bytes, size);
    s.wanted = trial_of(target, bytes, size, true);

    for (int round = 0; s.wanted.end != TRIAL_PASSED && round < ROUNDS; ++round) {
        const bool drops = drop_all_that_may(&s);

        if (!simplify_bytes(&s) && !drops) {
            break;
        }
    }
    free(s.draft);
    return (shrunken){.input = {s.bytes, s.size},
                      .failure = s.wanted,
                      .parts = count_parts(target, s.bytes, s.size),
                      .tries = s.tries};
}

// --- A test of it ---

static void write_part(FILE *file, const unsigned char *bytes, size_t length, const char *name)
{
    fprintf(file, "    // %s", name);
    for (size_t i = 0; i < length; ++i) {
        fprintf(file, "%s0x%02x,", i % 16 == 0 ? "\n    " : " ", bytes[i]);
    }
    fprintf(file, "\n");
}

void shrink_write_test(FILE *file, const fuzz_target *target, const shrunken *s)
{
    const unsigned char *const bytes = s->input.bytes;
    const size_t size = s->input.size;
    char text[1400];
    size_t part = 0;

    trial_describe(&s->failure, text, sizeof text);
    fprintf(file, "// SPDX-License-Identifier: MIT\n// A tape that failed: %s\n", text);
    fprintf(file, "#include \"tests/fuzz/target.h\"\n#include \"tests/runner.h\"\n\n");
    fprintf(file, "static const unsigned char tape[] = {\n");
    for (size_t at = 0; at < size; at += target->part(bytes, size, at)) {
        char name[32] = "head";

        if (part > 0) {
            (void)snprintf(name, sizeof name, "record %zu", part - 1);
        }
        write_part(file, bytes + at, target->part(bytes, size, at), name);
        part += 1;
    }
    fprintf(file, "};\n\nTEST(a_tape_that_failed_is_good)\n{\n");
    fprintf(file, "    fuzz_%s.run(tape, sizeof tape);\n}\n", target->name);
}
