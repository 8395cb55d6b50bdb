// SPDX-License-Identifier: MIT
// Every short tape: all sequences of the letters of an alphabet, on a world of four nodes, against
// the model. A letter is a record of the operation language (tests/draws.h), so its meaning depends
// on the state after the letters before it. The alphabet has all records that differ from a plain
// one in a few bytes; of records with the same meaning on the first world it has the first one.
// Long sequences use fewer letters, some of every kind of operation.
#include "tests/asserts.h"
#include "tests/picks.h"
#include "tests/runner.h"
#include "tests/steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CODES = OP_TRIM + 1, // of operations at once
    OF_CODE = 256,       // letters of one code at most, the plainest
    LETTERS = OF_CODE * CODES,
    TABLE = 4 * LETTERS,
    LENGTH = 4,
    ROOM = 32 // entities that a sequence makes at most, and those of the beginning
};

typedef struct letter {
    tape_record record;
    uint32_t code;
    bool is_done; // in the world at the beginning
} letter;

typedef struct play {
    test_tape tape;
    test_side side;
    letter *letters; // [count] of an alphabet
    uint32_t count;
    size_t made;        // entities that the world saw
    espl_status status; // of the last operation
    char note[64];
} play;

// --- The world at the beginning ---

static const tape_style style = {
    .population = 24,
    .shape = SHAPE_RANDOM,
    .values = VALUES_STRETCHED,
    .flags = FLAGS_FEW,
    .flag_mask = ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_UP | ESPL_ABSOLUTE_SCALE,
    .bad_one_in = 5,
    .has_unplaced = true,
    .components = (1u << ESPL_DISABLED) | (1u << MODEL_MARK) | (1u << MODEL_PEER),
    .lanes = 1,
    .keys = 1};

static void run(play *p, const operation *op)
{
    test_tape *const tape = &p->tape;

    tape->code = op->code;
    p->status = side_run(&p->side, tape, op);
    const model_answer answer = tape_apply(tape, op);

    side_check(&p->side, tape, op, p->status, answer);
    side_map(&p->side, tape, op);
}

static void run_well(play *p, const operation *op)
{
    run(p, op);
    tape_demand(&p->tape, p->status == ESPL_OK, "%s", espl_status_name(p->status));
}

// A root with a child, a solo, and one that is dead: its index is the next to be used.
static void build(play *p)
{
    const operation attach = {.code = OP_ATTACH, .entity = 1, .parent = 0, .before = MODEL_NONE};
    const operation destroy = {.code = OP_DESTROY, .entity = 3};

    for (uint32_t i = 0; i < 4; ++i) {
        const operation create = {.code = OP_CREATE, .has_placement = true, .tag = i, .count = 1};
        const operation place = {
            .code = OP_SET_LOCAL, .entity = i, .value = test_at((float)i, 2, (float)i - 5)};

        run_well(p, &create);
        run_well(p, &place);
    }
    run_well(p, &attach);
    run_well(p, &destroy);
}

static void clear(play *p)
{
    const operation stop = {.code = OP_STEP, .step = STEP_STOP};
    test_model *const model = &p->tape.model;

    if (model->history != 0) {
        run_well(p, &stop);
    }
    while (model->living_count != 0) {
        const operation destroy = {.code = OP_DESTROY_SUBTREE,
                                   .entity = model_root(model, model->living[0])};

        run_well(p, &destroy);
    }
    p->made += model->count;
    model_clear(model);
    p->side.mapped = 0;
    p->tape.recent = MODEL_NONE;
    if (test_is_worn(p->made + 1, ROOM + 1)) {
        side_end(&p->side);
        side_begin(&p->side, &p->tape, 1, NULL);
        p->made = 0;
    }
}

// --- What a record means ---

// Parts of an operation that one of its code is about; values of placements are none.
enum {
    IS_ENTITY = 1,
    IS_PARENT = 2, // and before whom
    IS_BEFORE = 4,
    IS_OPTIONS = 8,
    IS_KEEP = 16,
    IS_INHERIT = 32,
    IS_CLONE = 64,
    IS_WRITE = 128,
    IS_EXTENT = 256,
    IS_CHANGE = 512,
    IS_PLACED = 1024,
    IS_NAMED = 2048,
    IS_ENTRIES = 4096,
    IS_NAME = 8192
};

static const uint32_t parts[CODES] = {
    [OP_CREATE] = IS_PLACED,
    [OP_ATTACH] = IS_ENTITY | IS_PARENT | IS_OPTIONS,
    [OP_DETACH] = IS_ENTITY | IS_KEEP,
    [OP_DESTROY] = IS_ENTITY,
    [OP_DESTROY_SUBTREE] = IS_ENTITY,
    [OP_DESTROY_ONLY] = IS_ENTITY,
    [OP_INSTANTIATE] = IS_ENTITY | IS_CLONE,
    [OP_INSTANCE] = IS_ENTITY | IS_PARENT | IS_CLONE | IS_INHERIT,
    [OP_SET_LOCAL] = IS_ENTITY,
    [OP_SET_WORLD] = IS_ENTITY,
    [OP_WRITE] = IS_ENTITY | IS_WRITE,
    [OP_LOOK_AT] = IS_ENTITY,
    [OP_ROTATE_ABOUT] = IS_ENTITY,
    [OP_SET_INHERIT] = IS_ENTITY | IS_INHERIT,
    [OP_BATCH] = IS_ENTRIES,
    [OP_SET_SIBLING] = IS_ENTITY | IS_BEFORE,
    [OP_PLACE] = IS_ENTITY,
    [OP_UNPLACE] = IS_ENTITY,
    [OP_ENABLE] = IS_ENTITY | IS_EXTENT,
    [OP_DISABLE] = IS_ENTITY | IS_EXTENT,
    [OP_CHANGE] = IS_NAMED | IS_CHANGE,
    [OP_CHANGE_QUERY] = IS_CHANGE,
    [OP_ATTACH_MANY] = IS_NAMED | IS_BEFORE | IS_OPTIONS,
    [OP_DESTROY_MANY] = IS_NAMED | IS_EXTENT,
    [OP_NAME] = IS_ENTITY | IS_NAME,
};

static uint64_t mix(uint64_t hash, uint32_t part, uint32_t is, uint64_t value)
{
    return (part & is) == 0 ? hash : test_hash_bytes(hash, &value, sizeof value);
}

static uint64_t mix_options(uint64_t hash, uint32_t part, const operation *op)
{
    const espl_attach_options *const o = &op->options;

    hash = mix(hash, part, IS_OPTIONS, o->position);
    hash = mix(hash, part, IS_OPTIONS, o->rotation);
    hash = mix(hash, part, IS_OPTIONS, o->scale);
    hash = mix(hash, part, IS_OPTIONS, o->inherit);
    return mix(hash, part, IS_OPTIONS | IS_CLONE, o->link);
}

static uint64_t mix_lists(uint64_t hash, uint32_t part, const test_tape *tape, const operation *op)
{
    hash = mix(hash, part, IS_NAMED | IS_ENTRIES | IS_CLONE, op->count);
    const uint32_t named = op->code == OP_ATTACH_MANY ? 2 * op->count : op->count;

    for (uint32_t i = 0; i < named && (part & IS_NAMED) != 0; ++i) {
        hash = mix(hash, part, IS_NAMED, tape->named[i]);
    }
    for (uint32_t i = 0; i < op->count && (part & IS_ENTRIES) != 0; ++i) {
        hash = mix(hash, part, IS_ENTRIES, tape->entries[i].node);
        hash = mix(hash, part, IS_ENTRIES, tape->entries[i].kind);
    }
    return hash;
}

static uint64_t meaning_of(const test_tape *tape, const operation *op)
{
    const uint32_t part = parts[op->code];
    uint64_t hash = test_hash_bytes(TEST_HASH_START, &op->code, sizeof op->code);

    hash = mix(hash, part, IS_ENTITY, op->entity);
    hash = mix(hash, part, IS_PARENT, op->parent);
    hash = mix(hash, part, IS_PARENT | IS_BEFORE, op->before);
    hash = mix_options(hash, part, op);
    hash = mix(hash, part, IS_KEEP, op->keep);
    hash = mix(hash, part, IS_INHERIT, op->inherit);
    hash = mix(hash, part, IS_CLONE, op->place);
    hash = mix(hash, part, IS_CLONE, op->dead_parent);
    hash = mix(hash, part, IS_CLONE, op->given);
    hash = mix(hash, part, IS_WRITE, op->kind);
    hash = mix(hash, part, IS_WRITE, op->form);
    hash = mix(hash, part, IS_EXTENT, op->extent);
    hash = mix(hash, part, IS_NAME, op->name);
    hash = mix(hash, part, IS_CHANGE, op->change.add);
    hash = mix(hash, part, IS_CHANGE, op->change.remove);
    hash = mix(hash, part, IS_CHANGE, op->change.flaw);
    hash = mix(hash, part, IS_NAMED, op->change_form);
    hash = mix(hash, part, IS_PLACED, op->has_placement);
    return mix_lists(hash, part, tape, op);
}

// --- The alphabet ---

// A plain byte chooses the first of few, and of many one that is good. The others go round.
static const unsigned char plain = 12, others[] = {0, 4, 8, 64, 96, 128, 176, 208, 255};

enum { OTHERS = sizeof others, NEAR = 7, FAR = 14 };

typedef struct alphabet {
    play *play;
    uint64_t known[TABLE]; // meanings; 0: none
    uint32_t of_code[CODES];
} alphabet;

static operation read_letter(play *p, const tape_record *record)
{
    tape_feed(&p->tape, record, 1);
    p->tape.taken = 0;
    tape_advance(&p->tape);
    return pick_operation(&p->tape, pick_code(&p->tape));
}

static bool is_new(alphabet *a, uint64_t meaning)
{
    uint32_t at = (uint32_t)(meaning % TABLE);

    while (a->known[at] != 0 && a->known[at] != meaning) {
        at = (at + 1) % TABLE;
    }
    if (a->known[at] == meaning) {
        return false;
    }
    a->known[at] = meaning;
    return true;
}

static void add_letter(alphabet *a, const tape_record *record)
{
    play *const p = a->play;
    const operation op = read_letter(p, record);

    if (a->of_code[op.code] < OF_CODE && is_new(a, meaning_of(&p->tape, &op))) {
        p->letters[p->count++] = (letter){.record = *record, .code = op.code};
        a->of_code[op.code] += 1;
    }
}

// The plain record of a code with so many other bytes among the first `span` behind the code, by its
// number. false: two of them are one byte, or they do not ascend.
static bool vary(tape_record *record, uint32_t span, uint32_t bytes, uint32_t number)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < bytes; ++i, number /= span * OTHERS) {
        const uint32_t at = 1 + number / OTHERS % span;

        if (at <= last) {
            return false;
        }
        record->bytes[at] = others[number % OTHERS];
        last = at;
    }
    return true;
}

static void add_varied(alphabet *a, const tape_record *from, uint32_t span, uint32_t bytes)
{
    uint32_t count = 1;

    for (uint32_t i = 0; i < bytes; ++i) {
        count *= span * OTHERS;
    }
    for (uint32_t number = 0; number < count; ++number) {
        tape_record record = *from;

        if (vary(&record, span, bytes, number)) {
            add_letter(a, &record);
        }
    }
}

// The plainest come first.
static void add_letters_of(alphabet *a, uint32_t code)
{
    tape_record record;

    memset(record.bytes, plain, sizeof record.bytes);
    record.bytes[0] = (unsigned char)((code * 256u + CODES - 1) / CODES);
    record.bytes[TAPE_RECORD_SIZE - 1] = 0;
    for (uint32_t bytes = 0; bytes <= 3; ++bytes) {
        add_varied(a, &record, bytes < 3 ? FAR : NEAR, bytes);
    }
}

static uint32_t begin_of(const play *p, uint32_t code)
{
    uint32_t begin = 0;

    while (begin < p->count && p->letters[begin].code < code) {
        begin += 1;
    }
    return begin;
}

// What is done by itself comes before what is refused, each as it came.
static void sort_by_outcome(const play *p, letter *out)
{
    uint32_t count = 0;

    for (uint32_t code = 0; code < CODES; ++code) {
        const uint32_t begin = begin_of(p, code), end = begin_of(p, code + 1);

        for (uint32_t refused = 0; refused < 2; ++refused) {
            for (uint32_t i = begin; i < end; ++i) {
                if (p->letters[i].is_done == (refused == 0)) {
                    out[count++] = p->letters[i];
                }
            }
        }
    }
}

// Letters of every code go round, those that link oftener than others: any first few are of all
// kinds.
static void deal(play *p)
{
    letter *const sorted = test_array(LETTERS, sizeof *sorted);
    uint32_t next[CODES], end[CODES];
    uint32_t count = 0;

    sort_by_outcome(p, sorted);
    for (uint32_t code = 0; code < CODES; ++code) {
        next[code] = begin_of(p, code);
        end[code] = begin_of(p, code + 1);
    }
    while (count < p->count) {
        for (uint32_t turn = 0; turn < CODES + 2; ++turn) {
            const uint32_t code = turn < CODES ? turn : OP_ATTACH;

            if (next[code] < end[code]) {
                p->letters[count++] = sorted[next[code]++];
            }
        }
    }
    free(sorted);
}

// --- Sequences ---

static void play_sequence(play *p, const uint32_t *numbers, uint32_t length)
{
    (void)snprintf(p->note, sizeof p->note, "letters");
    for (uint32_t i = 0; i < length; ++i) {
        const size_t used = strlen(p->note);

        (void)snprintf(p->note + used, sizeof p->note - used, " %u", numbers[i]);
    }
    build(p);
    for (uint32_t i = 0; i < length; ++i) {
        p->tape.at = i;
        const operation op = read_letter(p, &p->letters[numbers[i]].record);

        // Before some letters motion starts, a tick begins, or all is looked at.
        if (tape_takes_step(&p->tape)) {
            const operation step = pick_step(&p->tape);

            run(p, &step);
        }
        run(p, &op);
    }
    side_compare(&p->side, &p->tape);
}

// How many of the first letters make no more sequences of a length than that.
static uint32_t letters_for(const play *p, uint32_t length, size_t most)
{
    uint32_t count = (uint32_t)floor(pow((double)most, 1.0 / length));

    count = count < p->count ? count : p->count;
    // Strides are powers of 13.
    return count % 13 == 0 ? count - 1 : count;
}

static size_t play_all(play *p, uint32_t length, uint32_t letters, uint32_t step)
{
    uint64_t count = 1;
    size_t played = 0;

    for (uint32_t i = 0; i < length; ++i) {
        count *= letters;
    }
    for (uint64_t number = 0; number < count; number += step, ++played) {
        uint32_t numbers[LENGTH];
        uint64_t left = number;

        for (uint32_t i = 0; i < length; ++i, left /= letters) {
            numbers[i] = (uint32_t)(left % letters);
        }
        play_sequence(p, numbers, length);
        clear(p);
    }
    return played;
}

// Each letter by itself.
static void find_outcomes(play *p)
{
    for (uint32_t i = 0; i < p->count; ++i) {
        play_sequence(p, &i, 1);
        p->letters[i].is_done = p->status >= 0;
        clear(p);
    }
}

static void play_begin(play *p)
{
    alphabet *const a = calloc(1, sizeof *a);

    memset(p, 0, sizeof *p);
    tape_begin(&p->tape, 1, style.population);
    p->tape.style = style;
    p->tape.note = p->note;
    p->tape.moves = true;
    for (uint32_t code = 0; code < CODES; ++code) {
        p->tape.style.weights[code] = 1;
    }
    side_begin(&p->side, &p->tape, 1, NULL);
    p->letters = calloc(LETTERS, sizeof *p->letters);
    ck_assert(a != NULL && p->letters != NULL);
    a->play = p;
    build(p);
    for (uint32_t code = 0; code < CODES; ++code) {
        add_letters_of(a, code);
    }
    clear(p);
    free(a);
}

static void play_end(play *p)
{
    free(p->letters);
    side_end(&p->side);
    tape_end(&p->tape);
}

TEST(each_short_sequence_of_operations_follows_the_model)
{
    const size_t most = (size_t)100000 * test_factor();
    play p;

    play_begin(&p);
    find_outcomes(&p);
    deal(&p);
    size_t played = p.count;
    for (uint32_t length = 2; length <= LENGTH; ++length) {
        const uint32_t letters = letters_for(&p, length, most);

        // With fewer some code would be missing.
        if (letters >= CODES + 2) {
            played += play_all(&p, length, letters, test_stride(13));
        }
    }
    test_tell_figure(p.count, "letters of operations");
    test_tell_figure(played, "sequences of operations, all there are of their letters");
    play_end(&p);
}
