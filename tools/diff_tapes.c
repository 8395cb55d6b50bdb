// SPDX-License-Identifier: MIT
// Two tapes side by side, each with its world, record by record: before a record is carried out on both, its
// fields are compared. Handles are compared without the tags of the worlds, which differ from run to run.
#include "tools/diff.h"

#include "tools/tape_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_AT = 8, TAG_AT = 12, LIMITS_AT = 20, BUDGET_AT = 24, HEAD = 32 };

// The parts of the generation of a handle (espalier/tape.h has that of a pending one).
enum { TAG_SHIFT = 24, TAG_MASK = 0x7f, LANE_SHIFT = 23, LANE_MASK = 0xff };

// Fields of the record of a frame: the first one is the operation.
enum { KIND_OF_FRAME = 1, NUMBER_OF_FRAME = 2 };
enum { FRAME_SUMMED = 0 }; // kind of a frame with a checksum

typedef struct tape_side {
    replay replay;
    replay_def how;
    replay_result result;
    reel_trace trace;
    uint32_t tag;  // of its world
    bool is_there; // a record was read
} tape_side;

typedef struct tape_pair {
    tool_diff *diff;
    tape_side sides[2];
    uint64_t frame, call; // of the tape, and of the frame, from 1 on
} tape_pair;

// --- Fields ---

static const unsigned char *bytes_of(const tape_side *s, const reel_field *field)
{
    return s->replay.reel.bytes + field->at;
}

static uint64_t number_of(const tape_side *s, const reel_field *field)
{
    const uint32_t *const words = s->trace.words + field->first;

    return field->count == 1 ? words[0] : words[0] | (uint64_t)words[1] << 32;
}

static espl_entity entity_of(const tape_side *s, const reel_field *field)
{
    const uint32_t *const words = s->trace.words + field->first;

    return (espl_entity){words[0], words[1]};
}

static bool is_pending(espl_entity entity)
{
    return entity.generation >> 31 != 0;
}

// A handle without what differs from run to run: the tag of the world, or of the commands.
static espl_entity strip(const tape_side *s, espl_entity entity)
{
    const uint32_t low = (UINT32_C(1) << LANE_SHIFT) - 1;

    if (is_pending(entity)) {
        entity.generation &= ~low;
    } else if ((entity.generation >> TAG_SHIFT & TAG_MASK) == s->tag) {
        entity.generation &= ~((uint32_t)TAG_MASK << TAG_SHIFT);
    }
    return entity;
}

// The component that comes before a field; 0: none does.
static espl_component component_before(const tape_side *s, size_t field)
{
    while (field-- > 0 && s->trace.fields[field].kind != REEL_ITEM) {
        if (s->trace.fields[field].kind == REEL_COMPONENT) {
            return (espl_component)number_of(s, &s->trace.fields[field]);
        }
    }
    return 0;
}

// Values that follow each other, or other bytes, with stripped references in place of those of a component.
typedef struct plain_bytes {
    unsigned char *bytes;
    size_t size;
} plain_bytes;

static plain_bytes plain_of(const tape_side *s, const reel_field *field,
                            const espl_component_def *def)
{
    const plain_bytes out = {malloc(field->size + 1), field->size};

    if (out.bytes == NULL) {
        return out;
    }
    memcpy(out.bytes, bytes_of(s, field), field->size);
    const size_t values = def == NULL || def->size == 0 ? 0 : field->size / def->size;

    for (size_t i = 0; i < values; ++i) {
        for (size_t k = 0; k < def->reference_count; ++k) {
            unsigned char *const at = out.bytes + i * def->size + def->references[k];
            espl_entity entity;

            memcpy(&entity, at, sizeof entity);
            entity = strip(s, entity);
            memcpy(at, &entity, sizeof entity);
        }
    }
    return out;
}

// --- Comparing ---

// Where two records differ first.
typedef struct difference {
    size_t field; // of the trace
    bool is_end;  // one side has no such field
} difference;

static bool find_component(const tape_side *s, size_t field, espl_component_def *def)
{
    const espl_component component = component_before(s, field);

    return component != 0 && !espl_failed(espl_component_info(s->replay.world, component, def));
}

static bool are_equal_bytes(const tape_pair *p, size_t i)
{
    const tape_side *const a = &p->sides[0], *const b = &p->sides[1];
    espl_component_def defs[2];
    plain_bytes plain[2];
    const bool has_def = find_component(a, i, &defs[0]) && find_component(b, i, &defs[1]);

    plain[0] = plain_of(a, &a->trace.fields[i], has_def ? &defs[0] : NULL);
    plain[1] = plain_of(b, &b->trace.fields[i], has_def ? &defs[1] : NULL);
    const bool is_equal = plain[0].size == plain[1].size && plain[0].bytes != NULL &&
                          plain[1].bytes != NULL &&
                          memcmp(plain[0].bytes, plain[1].bytes, plain[0].size) == 0;

    free(plain[0].bytes);
    free(plain[1].bytes);
    return is_equal;
}

// Name a field of a frame. Tapes before version 8 have both hashes.
static const char *name_of_frame(const tape_side *s, size_t field)
{
    if (s->replay.version < REPLAY_FRAMES_VERSION) {
        return field == NUMBER_OF_FRAME ? "physical hash" : "logical hash";
    }
    return field == KIND_OF_FRAME                                          ? "kind of hash"
           : number_of(s, &s->trace.fields[KIND_OF_FRAME]) == FRAME_SUMMED ? "checksum"
                                                                           : "logical hash";
}

// Tell whether a field is the number of a frame that covers the tag: the checksum or the physical hash.
static bool covers_tag(const tape_side *s, size_t field)
{
    return s->replay.op == ESPL_TAPE_FRAME && field == NUMBER_OF_FRAME &&
           strcmp(name_of_frame(s, field), "logical hash") != 0;
}

static bool are_equal_fields(const tape_pair *p, size_t i)
{
    const tape_side *const a = &p->sides[0], *const b = &p->sides[1];
    const reel_field *const one = &a->trace.fields[i], *const other = &b->trace.fields[i];

    if (one->kind != other->kind) {
        return false;
    }
    if (a->tag != b->tag && covers_tag(a, i) && covers_tag(b, i)) {
        return true;
    }
    switch (one->kind) {
    case REEL_COUNTER:
    case REEL_ITEM:
        return true;
    case REEL_ENTITY:
        return espl_entity_equal(strip(a, entity_of(a, one)), strip(b, entity_of(b, other)));
    case REEL_BYTES:
        return are_equal_bytes(p, i);
    default:
        return one->count == other->count &&
               memcmp(a->trace.words + one->first, b->trace.words + other->first,
                      one->count * sizeof *a->trace.words) == 0;
    }
}

// Compare the records at hand. @return false: they are equal.
static bool find_difference(const tape_pair *p, difference *out)
{
    const size_t counts[2] = {p->sides[0].trace.count, p->sides[1].trace.count};

    for (size_t i = 0; i < counts[0] && i < counts[1]; ++i) {
        if (!are_equal_fields(p, i)) {
            *out = (difference){.field = i};
            return true;
        }
    }
    *out = (difference){.field = counts[0] < counts[1] ? counts[0] : counts[1], .is_end = true};
    return counts[0] != counts[1];
}

// --- Saying it ---

static const char *name_entity(const tape_side *s, espl_entity entity, char out[DIFF_PATH])
{
    const espl_world *const world = s->replay.world;

    if (espl_entity_is_null(entity)) {
        (void)snprintf(out, DIFF_PATH, "nothing");
    } else if (is_pending(entity)) {
        (void)snprintf(out, DIFF_PATH, "pending entity %u of lane %u", entity.index,
                       entity.generation >> LANE_SHIFT & LANE_MASK);
    } else if (!espl_is_alive(world, entity)) {
        (void)snprintf(out, DIFF_PATH, "a dead entity, %u.%u", entity.index, entity.generation);
    } else {
        (void)espl_get_path(world, entity, out, DIFF_PATH);
    }
    return out;
}

// The entity that a field is about: the first one of its item, if it is not null, or else the one after it.
static espl_entity find_handle(const tape_side *s, size_t field)
{
    size_t begin = field;

    while (begin > 0 && s->trace.fields[begin - 1].kind != REEL_ITEM) {
        begin -= 1;
    }
    for (size_t i = begin; i < s->trace.count && s->trace.fields[i].kind != REEL_ITEM; ++i) {
        if (s->trace.fields[i].kind == REEL_ENTITY) {
            const espl_entity entity = entity_of(s, &s->trace.fields[i]);

            if (!espl_entity_is_null(entity)) {
                return entity;
            }
        }
    }
    return espl_entity_null();
}

static const char *find_entity(const tape_side *s, size_t field, char out[DIFF_PATH])
{
    const espl_entity entity = find_handle(s, field);

    out[0] = '\0';
    return espl_entity_is_null(entity) ? out : name_entity(s, entity, out);
}

// The entity of a value that a column has.
static espl_entity column_entity(const tape_side *s, size_t field, const espl_component_def *def,
                                 size_t value)
{
    return entity_of(s, &s->trace.fields[field - s->trace.fields[field].size / def->size + value]);
}

// The fields of a write have an entity, a kind and a value: that of the user data is a number.
static const char *text_of_floats(const tape_side *s, const reel_field *field, char out[DIFF_PATH])
{
    enum { TRANSFORM = 12, BEFORE_STRETCH = 8 };

    const uint32_t *const bits = s->trace.words + field->first;
    const bool is_number = field->count == 1 && field[-1].kind == REEL_NUMBER &&
                           number_of(s, &field[-1]) == ESPL_WRITE_USER_DATA;
    char text[2][DIFF_TEXT];

    if (is_number) {
        (void)snprintf(out, DIFF_PATH, "%u", bits[0]);
    } else if (field->count == TRANSFORM) { // the last one is its user data
        (void)snprintf(out, DIFF_PATH, "%s %s %u", diff_floats(bits, BEFORE_STRETCH, text[0]),
                       diff_floats(bits + BEFORE_STRETCH, 3, text[1]), bits[TRANSFORM - 1]);
    } else {
        (void)diff_floats(bits, field->count, out);
    }
    return out;
}

// What a field is called.
static const char *name_field(const tape_side *s, size_t field, char out[DIFF_TEXT])
{
    size_t begin = field;

    while (begin > 0 && s->trace.fields[begin - 1].kind != REEL_ITEM) {
        begin -= 1;
    }
    if (s->replay.op == ESPL_TAPE_FRAME) {
        (void)snprintf(out, DIFF_TEXT, "%s", name_of_frame(s, field));
        return out;
    }
    // The first field of a record says what it is.
    return begin == 0 ? tape_field_word(s->replay.op, field - 1, out, DIFF_TEXT)
                      : tape_item_word(s->replay.op, field - begin, out, DIFF_TEXT);
}

static const char *text_of_number(const tape_side *s, size_t i, char out[DIFF_PATH])
{
    const uint64_t number = number_of(s, &s->trace.fields[i]);
    char name[DIFF_TEXT];

    (void)name_field(s, i, name);
    if (strcmp(name, "kind of write") == 0) {
        (void)tape_write_word(number, out, DIFF_PATH);
        return out;
    }
    if (strcmp(name, "kind of hash") == 0) {
        (void)snprintf(out, DIFF_PATH, "%s", number == FRAME_SUMMED ? "checksum" : "logical hash");
    } else if (strcmp(name, "kind of command") == 0) {
        (void)snprintf(out, DIFF_PATH, "%s", tape_command_word(number));
    } else {
        (void)snprintf(out, DIFF_PATH, s->replay.op == ESPL_TAPE_FRAME ? "%016llx" : "%llu",
                       (unsigned long long)number);
    }
    return out;
}

static const char *text_of(const tape_side *s, size_t i, char out[DIFF_PATH])
{
    const reel_field *const field = &s->trace.fields[i];
    espl_component_def def;

    switch (field->kind) {
    case REEL_ENTITY:
        return name_entity(s, entity_of(s, field), out);
    case REEL_FLOATS:
        return text_of_floats(s, field, out);
    case REEL_COMPONENT:
        if (!espl_failed(
                espl_component_info(s->replay.world, (espl_component)number_of(s, field), &def))) {
            (void)snprintf(out, DIFF_PATH, "%s", def.name);
            return out;
        }
        break;
    case REEL_BYTES:
        (void)snprintf(out, DIFF_PATH, "'%.*s'", (int)(field->size < 256 ? field->size : 256),
                       (const char *)bytes_of(s, field));
        return out;
    default:
        break;
    }
    return text_of_number(s, i, out);
}

// An element of a field, which begins at a byte of the bytes of a field of the record.
static const char *text_of_element(const tape_side *s, size_t field, size_t at,
                                   espl_field_type type, char out[DIFF_PATH])
{
    const unsigned char *const bytes = bytes_of(s, &s->trace.fields[field]) + at;
    espl_entity entity;

    if (type != ESPL_FIELD_ENTITY) {
        return diff_element(type, bytes, out);
    }
    memcpy(&entity, bytes, sizeof entity);
    return name_entity(s, entity, out);
}

// A value of a component differs: say where. @return false: the field is no such value.
static bool say_value(tape_pair *p, size_t i)
{
    const tape_side *const a = &p->sides[0], *const b = &p->sides[1];
    char part[DIFF_PATH], one[DIFF_PATH], other[DIFF_PATH], about[DIFF_PATH];
    espl_component_def def;
    size_t at = 0, size = 1;
    uint32_t element = 0;

    if (a->trace.fields[i].size != b->trace.fields[i].size || !find_component(a, i, &def) ||
        def.size == 0 || a->trace.fields[i].size % def.size != 0) {
        return false;
    }
    plain_bytes plain[2] = {plain_of(a, &a->trace.fields[i], &def),
                            plain_of(b, &b->trace.fields[i], &def)};
    const bool is_good = plain[0].bytes != NULL && plain[1].bytes != NULL;

    while (is_good && at < plain[0].size && plain[0].bytes[at] == plain[1].bytes[at]) {
        at += 1;
    }
    if (is_good && at < plain[0].size) {
        const size_t value = at / def.size;
        const uint32_t byte = (uint32_t)(at % def.size);
        const espl_component_field *const field = diff_field(&def, byte, &element, &size);
        const size_t begin =
            value * def.size + (field == NULL ? byte : field->offset + element * size);
        const espl_field_type type = field == NULL ? ESPL_FIELD_BYTES : field->type;

        // In a column each value has an entity of its own.
        if (a->replay.op == ESPL_TAPE_COLUMN && i > plain[0].size / def.size) {
            for (int side = 0; side < 2; ++side) {
                p->diff->place.entities[side] = column_entity(&p->sides[side], i, &def, value);
            }
            (void)name_entity(a, p->diff->place.entities[0], about);
        } else {
            (void)find_entity(a, i, about);
        }
        diff_say(p->diff, "  %s%s%s is %s in A and %s in B", about, about[0] != '\0' ? ": " : "",
                 diff_part(&def, byte, part), text_of_element(a, i, begin, type, one),
                 text_of_element(b, i, begin, type, other));
    }
    free(plain[0].bytes);
    free(plain[1].bytes);
    return is_good;
}

// Tell whether the bytes of a record are an image or an archive, which says nothing to a person.
static bool has_opaque_bytes(uint32_t op)
{
    return op == ESPL_TAPE_IMAGE || op == ESPL_TAPE_ARCHIVE || op == ESPL_TAPE_APPLY;
}

static void say_field(tape_pair *p, size_t i)
{
    const tape_side *const a = &p->sides[0], *const b = &p->sides[1];
    char name[DIFF_TEXT], about[DIFF_PATH], one[DIFF_PATH], other[DIFF_PATH];
    const bool is_answer =
        i + 1 == a->trace.count && i + 1 == b->trace.count && a->trace.fields[i].size == 1;

    if (is_answer) {
        const espl_status answers[2] = {(espl_status)(int8_t)number_of(a, &a->trace.fields[i]),
                                        (espl_status)(int8_t)number_of(b, &b->trace.fields[i])};

        diff_say(p->diff, "  the answer is %s in A and %s in B", espl_status_name(answers[0]),
                 espl_status_name(answers[1]));
        return;
    }
    // A text comes behind its length.
    i += a->trace.fields[i].kind == REEL_NUMBER && i + 1 < a->trace.count &&
         i + 1 < b->trace.count && a->trace.fields[i + 1].kind == REEL_BYTES &&
         b->trace.fields[i + 1].kind == REEL_BYTES && !has_opaque_bytes(a->replay.op);
    if (a->trace.fields[i].kind == REEL_BYTES) {
        if (has_opaque_bytes(a->replay.op)) {
            diff_say(p->diff, "  the bytes that are read differ");
            return;
        }
        if (say_value(p, i)) {
            return;
        }
    }
    (void)find_entity(a, i, about);
    diff_say(p->diff, "  %s%sthe %s is %s in A and %s in B", about, about[0] != '\0' ? ": " : "",
             name_field(a, i, name), text_of(a, i, one), text_of(b, i, other));
}

// Keep where the tapes part. @param field  that differs; one that a record lacks is that of its first entity.
static void keep_place(tape_pair *p, size_t field)
{
    diff_place *const place = &p->diff->place;

    *place = (diff_place){.frame = p->frame, .call = p->call};
    for (int i = 0; i < 2; ++i) {
        const tape_side *const s = &p->sides[i];

        if (s->is_there) {
            place->entities[i] = find_handle(s, field < s->trace.count ? field : 1);
        }
    }
}

static void say_difference(tape_pair *p, const difference *d)
{
    const tape_side *const a = &p->sides[0], *const b = &p->sides[1];
    char about[2][DIFF_PATH];

    keep_place(p, a->replay.op == b->replay.op ? d->field : 1);
    diff_say(p->diff, "they part in frame %llu, at call %llu of it: byte %zu of A, byte %zu of B",
             (unsigned long long)p->frame, (unsigned long long)p->call, a->replay.reel.record,
             b->replay.reel.record);
    for (int side = 0; side < 2; ++side) {
        (void)find_entity(&p->sides[side], 1, about[side]);
    }
    if (a->replay.op != b->replay.op) {
        for (int side = 0; side < 2; ++side) {
            diff_say(p->diff, "  %c has %s%s%s", "AB"[side],
                     tape_call_word(p->sides[side].replay.op), about[side][0] != '\0' ? " of " : "",
                     about[side]);
        }
        return;
    }
    diff_say(p->diff, "  both have %s", tape_call_word(a->replay.op));
    if (d->is_end) {
        diff_say(p->diff, "  %c ends within it", "AB"[a->trace.count > b->trace.count]);
    } else if (a->trace.fields[d->field].kind != b->trace.fields[d->field].kind) {
        diff_say(p->diff, "  one has more operands than the other");
    } else {
        say_field(p, d->field);
    }
}

static void say_end(tape_pair *p)
{
    const int longer = p->sides[0].is_there ? 0 : 1;
    char about[DIFF_PATH];

    keep_place(p, 1);
    (void)find_entity(&p->sides[longer], 1, about);
    diff_say(p->diff, "%c ends in frame %llu, after call %llu of it; %c goes on with %s%s%s",
             "AB"[!longer], (unsigned long long)p -> frame, (unsigned long long)p -> call - 1,
             "AB"[longer], tape_call_word(p->sides[longer].replay.op),
             about[0] != '\0' ? " of " : "", about);
}

// --- All ---

// A number of the head.
static uint64_t number_at(const tool_contents *tape, size_t at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = size; i-- > 0;) {
        number = number << 8 | tape->bytes[at + i];
    }
    return number;
}

static void compare_heads(tape_pair *p, const tool_contents *a, const tool_contents *b)
{
    static const struct {
        const char *name;
        size_t at, size;
    } parts[] = {{"the version of the tape", VERSION_AT, 4},
                 {"the limits of the build", LIMITS_AT, 3},
                 {"the layout budget of the world", BUDGET_AT, 8}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        if (memcmp(a->bytes + parts[i].at, b->bytes + parts[i].at, parts[i].size) != 0) {
            diff_say(p->diff, "%s: %llu in A and %llu in B", parts[i].name,
                     (unsigned long long)number_at(a, parts[i].at, parts[i].size),
                     (unsigned long long)number_at(b, parts[i].at, parts[i].size));
        }
    }
}

static void begin_side(tape_side *s, const tool_contents *tape)
{
    s->how.goes_on = true;
    replay_begin(&s->replay, &s->how, tape->bytes, tape->size, &s->result);
    s->replay.reel.trace = &s->trace;
    s->tag = tape->size < HEAD ? 0 : (uint32_t)number_at(tape, TAG_AT, 4);
}

// Tell whether a tape cannot be read on.
static bool is_bad(const tape_pair *p, int *side)
{
    *side = p->sides[0].replay.reel.state == REEL_BAD ? 0 : 1;
    return p->sides[*side].replay.reel.state == REEL_BAD;
}

// Compare the next records, and carry them out. @return false: the comparison is over.
static bool compare_next(tape_pair *p, int *side)
{
    difference d;

    for (int i = 0; i < 2; ++i) {
        p->sides[i].is_there = replay_peek(&p->sides[i].replay);
    }
    if (is_bad(p, side) || (!p->sides[0].is_there && !p->sides[1].is_there)) {
        return false;
    }
    p->call += 1;
    if (p->sides[0].is_there != p->sides[1].is_there) {
        say_end(p);
        return false;
    }
    if (find_difference(p, &d)) {
        say_difference(p, &d);
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        replay_back(&p->sides[i].replay);
        (void)replay_step(&p->sides[i].replay);
    }
    if (p->sides[0].replay.op == ESPL_TAPE_FRAME) {
        p->frame += 1;
        p->call = 0;
    }
    return true;
}

diff_verdict diff_tapes(tool_diff *diff, const tool_contents *a, const tool_contents *b, int *side,
                        tool_fault *fault)
{
    tape_pair *const p = calloc(1, sizeof *p);
    diff_verdict verdict = DIFF_TROUBLE;

    if (p == NULL) {
        fault_say(fault, "no memory");
        return DIFF_TROUBLE;
    }
    p->diff = diff;
    begin_side(&p->sides[0], a);
    begin_side(&p->sides[1], b);
    if (!is_bad(p, side)) {
        compare_heads(p, a, b);
        while (compare_next(p, side)) {
        }
    }
    if (is_bad(p, side)) {
        *fault = p->sides[*side].result.fault;
    } else {
        verdict = diff->count == 0 ? DIFF_EQUAL : DIFF_DIFFERENT;
    }
    for (int i = 0; i < 2; ++i) {
        (void)replay_end(&p->sides[i].replay);
        free(p->sides[i].trace.fields);
        free(p->sides[i].trace.words);
    }
    free(p);
    return verdict;
}
