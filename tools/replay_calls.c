// SPDX-License-Identifier: MIT
// Calls at once of a tape, read and carried out, but for writes. What the tape says is believed in
// nothing: each count is held against the bytes there are, and the library itself refuses handles
// and values that mean nothing.
#include "tools/replay.h"

#include <string.h>

enum { NAME_LIMIT = 255 };

// --- Lists ---

static espl_entity *read_entities(reel *r, size_t *count)
{
    *count = reel_length(r, 8, sizeof(espl_entity));
    espl_entity *const entities = reel_list(r, *count, sizeof *entities);

    for (size_t i = 0; entities != NULL && i < *count; ++i) {
        entities[i] = reel_entity(r);
    }
    return entities;
}

static uint32_t *read_words(reel *r, size_t *count)
{
    *count = reel_length(r, 4, sizeof(uint32_t));
    uint32_t *const words = reel_list(r, *count, sizeof *words);

    if (words != NULL) {
        reel_words(r, words, *count);
    }
    return words;
}

static espl_component *read_components(reel *r, size_t *count)
{
    *count = reel_length(r, 4, sizeof(uint32_t));
    espl_component *const components = reel_list(r, *count, sizeof *components);

    for (size_t i = 0; components != NULL && i < *count; ++i) {
        components[i] = reel_component(r);
    }
    return components;
}

static espl_component_value read_value(reel *r)
{
    espl_component_value value = {.component = reel_component(r)};

    value.size = reel_u32(r);
    if (reel_up_to(r, 1, "for a yes or no") != 0) {
        value.data = reel_bytes(r, value.size);
    }
    return value;
}

// @param out  [limit + 1]
static void read_name(reel *r, uint32_t limit, char *out)
{
    const uint32_t length = reel_up_to(r, limit, "bytes of a name");
    const unsigned char *const bytes = reel_bytes(r, length);

    if (bytes != NULL) {
        memcpy(out, bytes, length);
    }
    out[bytes != NULL ? length : 0] = '\0';
}

// --- Calls, by op ---

// What a frame is compared by.
typedef struct frame_number {
    bool is_checksum; // else the logical hash
    uint64_t number;
} frame_number;

static frame_number read_frame_number(replay *p)
{
    frame_number f = {.is_checksum = p->version >= REPLAY_FRAMES_VERSION};

    if (f.is_checksum) {
        f.is_checksum = reel_up_to(&p->reel, 1, "for a checksum or a hash") == 0;
    }
    f.number = reel_number(&p->reel, 8);
    if (p->version < REPLAY_FRAMES_VERSION) {
        (void)reel_number(&p->reel, 8); // the physical hash
    }
    return f;
}

// End a frame of the world, and take the number from what it puts on its own tape: a byte, a number of 4 bytes
// and one of 8.
static espl_status end_frame(replay *p, frame_number *out)
{
    enum { KIND = 1, NUMBER = 5, END = 13 };

    p->heard_size = 0;
    p->listens = true;
    const espl_status status = espl_tape_frame(p->world);

    p->listens = false;
    *out = (frame_number){0};
    if (p->heard_size >= END && p->heard[0] == ESPL_TAPE_FRAME) {
        out->is_checksum = p->heard[KIND] == 0;
        for (size_t i = END; i-- > NUMBER;) {
            out->number = out->number << 8 | p->heard[i];
        }
    }
    return status;
}

// Blame the tape where the world is another one than it says.
static void compare_frame(replay *p, const frame_number *here, const frame_number *recorded)
{
    const unsigned long long frame_at = p->result->frames;

    if (here->is_checksum != recorded->is_checksum) {
        reel_blame(&p->reel, "frame %llu has no checksum: memory ran out", frame_at);
    } else if (here->number != recorded->number) {
        reel_blame(&p->reel, "frame %llu has another %s: %016llx, not %016llx", frame_at,
                   here->is_checksum ? "checksum" : "logical hash",
                   (unsigned long long)here->number, (unsigned long long)recorded->number);
    } else {
        return;
    }
    p->is_disagreed = true;
}

// Compute both hashes of the world, and pass them to the function that hears them.
static void tell_hashes(const replay *p)
{
    uint64_t hashes[2] = {0, 0};

    if (p->def->frame != NULL && !espl_failed(espl_hash(p->world, ESPL_HASH_LOGICAL, &hashes[0])) &&
        !espl_failed(espl_hash(p->world, ESPL_HASH_PHYSICAL, &hashes[1]))) {
        p->def->frame(p->def->user, hashes);
    }
}

// A frame may empty a history, so that it is carried out beside one in any case.
static void frame(replay *p)
{
    const frame_number recorded = read_frame_number(p);
    frame_number here = {0};

    if (!replay_wants(p)) {
        return;
    }
    if (!p->def->skips_hashes || p->history != NULL) {
        replay_compare(p, "frame",
                       recorded.is_checksum ? end_frame(p, &here)
                                            : espl_hash(p->world, ESPL_HASH_LOGICAL, &here.number));
        if (!p->def->goes_on) {
            compare_frame(p, &here, &recorded);
        }
    }
    tell_hashes(p);
    p->result->frames += 1;
}

// Read the fields of a component. The names are in the memory of the reel.
static const espl_component_field *read_fields(reel *r, size_t *count)
{
    *count = reel_up_to(r, ESPL_FIELD_LIMIT, "fields");
    espl_component_field *const fields = reel_list(r, *count, sizeof *fields);
    char *const names = reel_list(r, *count, NAME_LIMIT + 1);

    for (size_t i = 0; fields != NULL && names != NULL && i < *count; ++i) {
        char *const name = names + i * (NAME_LIMIT + 1);

        reel_item(r);
        read_name(r, NAME_LIMIT, name);
        fields[i].name = name;
        fields[i].type = (espl_field_type)reel_u32(r);
        fields[i].offset = reel_u32(r);
        fields[i].count = reel_u32(r);
    }
    return fields;
}

static void register_component(replay *p)
{
    reel *const r = &p->reel;
    char name[NAME_LIMIT + 1];
    espl_component_def def = {.name = name};
    espl_component number = 0;

    read_name(r, NAME_LIMIT, name);
    def.size = reel_u32(r);
    def.alignment = reel_u32(r);
    def.references = read_words(r, &def.reference_count);
    if (p->version >= REPLAY_FIELDS_VERSION) {
        def.version = reel_u32(r);
        def.flags = reel_u32(r);
        def.fields = read_fields(r, &def.field_count);
    }
    if (replay_wants(p)) {
        const espl_status status = espl_component_register(p->world, &def, &number);
        // Components stay registered where a world goes back to the time before.
        const bool stayed = rollback_is_again(p) && status == ESPL_ERR_EXISTS;

        replay_compare(p, "registration", stayed ? p->expected : status);
    }
}

static void create(replay *p)
{
    size_t count = 0;
    const espl_component *const set = read_components(&p->reel, &count);
    const size_t made = reel_count(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "creation", espl_create(p->world, set, count, made, NULL));
    }
}

static void change(replay *p)
{
    reel *const r = &p->reel;
    size_t count = 0;
    const espl_entity *const entities = read_entities(r, &count);
    espl_change_def def = {.add_count = reel_up_to(r, ESPL_SET_LIMIT, "components")};
    espl_component_value *const add = reel_list(r, def.add_count, sizeof *add);

    for (size_t i = 0; add != NULL && i < def.add_count; ++i) {
        add[i] = read_value(r);
    }
    def.add = add;
    def.remove = read_components(r, &def.remove_count);
    if (replay_wants(p)) {
        replay_compare(p, "change",
                       espl_change_components_array(p->world, entities, count, &def, NULL));
    }
}

static void set_value(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const espl_component_value value = read_value(&p->reel);

    if (p->reel.state == REEL_GOOD && value.data == NULL && value.size != 0) {
        reel_blame(&p->reel, "a value without bytes is set");
    }
    if (replay_wants(p)) {
        replay_compare(
            p, "set",
            espl_set_component(p->world, entity, value.component, value.data, value.size));
    }
}

static void column(replay *p)
{
    reel *const r = &p->reel;
    const espl_component component = reel_component(r);
    const uint32_t size = reel_up_to(r, ESPL_COMPONENT_SIZE_LIMIT, "bytes of a value");
    size_t count = 0;
    const espl_entity *const entities = read_entities(r, &count);
    const unsigned char *const values =
        reel_left(r) / (size + 1) < count / 2 ? NULL : reel_bytes(r, count * size);
    espl_status status = ESPL_OK;

    if (!replay_wants(p) || values == NULL) {
        return;
    }
    for (size_t i = 0; i < count && !espl_failed(status); ++i) {
        status = espl_set_component(p->world, entities[i], component, values + i * size, size);
    }
    replay_compare(p, "column", status);
}

static void enable(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const uint32_t extent = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "enable", espl_set_enabled(p->world, entity, (espl_extent)extent, true));
    }
}

static void disable(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const uint32_t extent = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "disable",
                       espl_set_enabled(p->world, entity, (espl_extent)extent, false));
    }
}

static espl_attach_options read_options(reel *r)
{
    espl_attach_options options = {.before = reel_entity(r)};

    options.position = (espl_keep)reel_u32(r);
    options.rotation = (espl_keep)reel_u32(r);
    options.scale = (espl_keep)reel_u32(r);
    options.link = (espl_link)reel_u32(r);
    options.inherit = reel_u32(r);
    return options;
}

static void attach(replay *p)
{
    reel *const r = &p->reel;
    const espl_entity child = reel_entity(r), parent = reel_entity(r);
    const espl_attach_options options = read_options(r);

    if (replay_wants(p)) {
        replay_compare(p, "attach", espl_attach(p->world, child, parent, &options));
    }
}

static void detach(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const uint32_t stay = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "detach", espl_detach(p->world, entity, (espl_keep)stay));
    }
}

static void attach_many(replay *p)
{
    reel *const r = &p->reel;
    const size_t count = reel_length(r, 8, 2 * sizeof(espl_entity));
    espl_entity *const children = reel_list(r, count, sizeof *children);
    espl_entity *const parents = reel_list(r, count, sizeof *parents);

    for (size_t i = 0; parents != NULL && i < count; ++i) {
        reel_item(r);
        children[i] = reel_entity(r);
        parents[i] = reel_entity(r);
    }
    const espl_attach_options options = read_options(r);

    if (replay_wants(p)) {
        replay_compare(p, "attach many",
                       espl_attach_many(p->world, children, parents, count, &options, NULL));
    }
}

static void set_sibling(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel), before = reel_entity(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "set sibling", espl_move_before(p->world, entity, before));
    }
}

static void destroy(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const espl_extent extent = (espl_extent)reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "destroy", espl_destroy(p->world, entity, extent));
    }
}

static void destroy_many(replay *p)
{
    size_t count = 0;
    const espl_entity *const entities = read_entities(&p->reel, &count);
    const uint32_t extent = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "destroy many",
                       espl_destroy_many(p->world, entities, count, (espl_extent)extent, NULL));
    }
}

static void clear(replay *p)
{
    if (replay_wants(p)) {
        replay_compare(p, "clear", espl_world_clear(p->world));
    }
}

static void set_name(replay *p)
{
    reel *const r = &p->reel;
    const espl_entity entity = reel_entity(r);
    char name[ESPL_NAME_LIMIT + 1];

    read_name(r, ESPL_NAME_LIMIT, name);
    if (replay_wants(p)) {
        replay_compare(p, "set name", espl_set_name(p->world, entity, name));
    }
}

static void instantiate(replay *p)
{
    const espl_entity source = reel_entity(&p->reel);
    const size_t count = reel_count(&p->reel);

    if (replay_wants(p)) {
        replay_compare(
            p, "instantiate",
            espl_instantiate(p->world, &(espl_instance_def){.source = source}, count, NULL));
    }
}

static void reserve(replay *p)
{
    reel *const r = &p->reel;
    espl_reserve_def def = {.entities = reel_count(r)};

    def.components = read_components(r, &def.component_count);
    def.rows = reel_count(r);
    def.writes = reel_count(r);
    def.parallel_rows = reel_count(r);
    def.side_of = reel_entity(r);
    if (replay_wants(p)) {
        replay_compare(p, "reserve", espl_reserve(p->world, &def));
    }
}

static void compact(replay *p)
{
    if (replay_wants(p)) {
        const espl_status status = espl_compact(p->world);
        // It lacked memory for a part, and has it here.
        const bool had_part = p->expected == ESPL_PARTLY && status == ESPL_OK;

        replay_compare(p, "compact", had_part ? p->expected : status);
    }
}

// It played nothing: playbacks have records of their own.
static void sync_world(replay *p)
{
    if (replay_wants(p)) {
        replay_compare(p, "sync", espl_sync(p->world, NULL));
    }
}

static void start_motion(replay *p)
{
    const espl_motion_def def = {.history = reel_u32(&p->reel)};

    if (replay_wants(p)) {
        replay_compare(p, "motion start", espl_motion_start(p->world, &def));
    }
}

static void load_image(replay *p)
{
    reel *const r = &p->reel;
    const uint32_t flags = reel_u32(r);
    const size_t size = reel_count(r);
    const unsigned char *const bytes = reel_bytes(r, size);

    if (replay_wants(p) && bytes != NULL) {
        replay_compare(p, "image load", espl_image_load(p->world, bytes, size, flags, NULL));
    }
}

static void read_archive(replay *p)
{
    reel *const r = &p->reel;
    const espl_entity parent = reel_entity(r);
    const espl_archive_read_def def = {.parent = parent, .flags = reel_u32(r)};
    const size_t size = reel_count(r);
    const unsigned char *const bytes = reel_bytes(r, size);

    if (replay_wants(p) && bytes != NULL) {
        replay_compare(p, "archive read", espl_archive_read(p->world, bytes, size, &def, NULL));
    }
}

static void apply_archive(replay *p)
{
    reel *const r = &p->reel;
    const espl_entity parent = reel_entity(r);
    const espl_archive_read_def def = {.parent = parent, .flags = reel_u32(r)};
    const size_t size = reel_count(r);
    const unsigned char *const bytes = reel_bytes(r, size);
    espl_archive_known known = {.size = reel_count(r)};

    known.bytes = reel_bytes(r, known.size);
    known.entities = read_entities(r, &known.count);
    if (replay_wants(p) && bytes != NULL && known.bytes != NULL && known.entities != NULL) {
        replay_compare(
            p, "archive apply",
            espl_archive_apply(p->world, bytes, size, &def, known.size == 0 ? NULL : &known, NULL));
    }
}

static void create_history(replay *p)
{
    reel *const r = &p->reel;
    espl_history_def def = {.frames = reel_u32(r)};

    def.flags = reel_u32(r);
    def.byte_limit = (size_t)reel_number(r, 8);
    if (replay_wants(p)) {
        rollback_end(p); // a world has one history
        replay_compare(p, "history", espl_history_create(p->world, &def, &p->history));
    }
}

static void destroy_history(replay *p)
{
    if (replay_wants(p)) {
        espl_history_destroy(p->history);
        p->history = NULL;
        replay_compare(p, "end of a history", ESPL_OK);
    }
}

static void mark_frame(replay *p)
{
    const uint64_t frame = reel_number(&p->reel, 8);

    if (replay_wants(p)) {
        replay_compare(p, "mark", espl_history_mark(p->history, frame));
    }
}

static void rewind_world(replay *p)
{
    const uint64_t frame = reel_number(&p->reel, 8);
    const uint32_t flags = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "rewind", espl_history_rewind(p->history, frame, flags, NULL));
    }
}

static void set_counterparts(replay *p)
{
    reel *const r = &p->reel;
    const size_t count = reel_length(r, 8, 2 * sizeof(espl_entity));
    espl_entity *const entities = reel_list(r, count, sizeof *entities);
    espl_entity *const originals = reel_list(r, count, sizeof *originals);
    espl_status status = ESPL_OK;

    for (size_t i = 0; originals != NULL && i < count; ++i) {
        reel_item(r);
        entities[i] = reel_entity(r);
        originals[i] = reel_entity(r);
    }
    if (replay_wants(p) && originals != NULL) {
        for (size_t i = 0; i < count && !espl_failed(status); ++i) {
            status = espl_set_counterpart(p->world, entities[i], originals[i]);
        }
        replay_compare(p, "counterparts", status);
    }
}

static void stop_motion(replay *p)
{
    if (replay_wants(p)) {
        replay_compare(p, "motion stop", espl_motion_stop(p->world));
    }
}

static void begin_tick(replay *p)
{
    if (replay_wants(p)) {
        replay_compare(p, "tick begin", espl_tick_begin(p->world));
    }
}

static void end_tick(replay *p)
{
    if (replay_wants(p)) {
        replay_compare(p, "tick end", espl_tick_end(p->world));
    }
}

static void view(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    espl_view seen;

    if (replay_wants(p)) {
        replay_compare(p, "view", espl_view_hierarchy(p->world, entity, &seen));
    }
}

static void rebase(replay *p)
{
    uint32_t words[3];
    int32_t cells[3];
    float offset[3];

    for (int i = 0; i < 3; ++i) {
        words[i] = reel_u32(&p->reel);
    }
    memcpy(cells, words, sizeof cells);
    reel_floats(&p->reel, offset, 3);
    if (replay_wants(p)) {
        replay_compare(p, "rebase", espl_rebase(p->world, cells, offset));
    }
}

static void recenter(replay *p)
{
    float limit;

    reel_floats(&p->reel, &limit, 1);
    if (replay_wants(p)) {
        replay_compare(p, "recenter", espl_recenter(p->world, limit, NULL));
    }
}

static void (*const calls[ESPL_TAPE_OP_COUNT])(replay *p) = {
    [ESPL_TAPE_FRAME] = frame,
    [ESPL_TAPE_REGISTER] = register_component,
    [ESPL_TAPE_CREATE] = create,
    [ESPL_TAPE_CHANGE] = change,
    [ESPL_TAPE_SET] = set_value,
    [ESPL_TAPE_ENABLE] = enable,
    [ESPL_TAPE_DISABLE] = disable,
    [ESPL_TAPE_ATTACH] = attach,
    [ESPL_TAPE_DETACH] = detach,
    [ESPL_TAPE_SIBLING] = set_sibling,
    [ESPL_TAPE_DESTROY] = destroy,
    [ESPL_TAPE_INSTANTIATE] = instantiate,
    [ESPL_TAPE_WRITES] = replay_writes,
    [ESPL_TAPE_WRITE] = replay_write,
    [ESPL_TAPE_LOOK_AT] = replay_look_at,
    [ESPL_TAPE_ROTATE_ABOUT] = replay_rotate_about,
    [ESPL_TAPE_INHERIT] = replay_inherit,
    [ESPL_TAPE_COLUMN] = column,
    [ESPL_TAPE_RESERVE] = reserve,
    [ESPL_TAPE_COMPACT] = compact,
    [ESPL_TAPE_VIEW] = view,
    [ESPL_TAPE_PLAY] = replay_playback,
    [ESPL_TAPE_MAKE] = replay_make,
    [ESPL_TAPE_NAME] = set_name,
    [ESPL_TAPE_ATTACH_MANY] = attach_many,
    [ESPL_TAPE_DESTROY_MANY] = destroy_many,
    [ESPL_TAPE_CLEAR] = clear,
    [ESPL_TAPE_SYNC] = sync_world,
    [ESPL_TAPE_MOTION_START] = start_motion,
    [ESPL_TAPE_MOTION_STOP] = stop_motion,
    [ESPL_TAPE_TICK_BEGIN] = begin_tick,
    [ESPL_TAPE_TICK_END] = end_tick,
    [ESPL_TAPE_IMAGE] = load_image,
    [ESPL_TAPE_ARCHIVE] = read_archive,
    [ESPL_TAPE_APPLY] = apply_archive,
    [ESPL_TAPE_HISTORY_CREATE] = create_history,
    [ESPL_TAPE_HISTORY_DESTROY] = destroy_history,
    [ESPL_TAPE_MARK] = mark_frame,
    [ESPL_TAPE_REWIND] = rewind_world,
    [ESPL_TAPE_COUNTERPARTS] = set_counterparts,
    [ESPL_TAPE_REBASE] = rebase,
    [ESPL_TAPE_RECENTER] = recenter,
};

bool replay_call(replay *p, uint32_t op)
{
    if (op >= ESPL_TAPE_OP_COUNT || calls[op] == NULL) {
        return false;
    }
    calls[op](p);
    return true;
}
