// SPDX-License-Identifier: MIT
// Calls at once of a tape, read and carried out. What the tape says is believed in nothing: each
// count is held against the bytes there are, the library itself refuses handles and values that
// mean nothing, and the world's memory is counted.
#include "tools/replay.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_LIMIT = 255 };

// --- The world's memory ---

static void *take(void *user, size_t size, size_t alignment)
{
    replay *const p = user;
    const size_t step = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    void *block = NULL;

    if (p->def->memory != 0 && (p->taken > p->def->memory || size > p->def->memory - p->taken)) {
        return NULL;
    }
    if (posix_memalign(&block, step, size) != 0) {
        return NULL;
    }
    p->taken += size;
    return block;
}

static void give(void *user, void *block, size_t size, size_t alignment)
{
    replay *const p = user;

    (void)alignment;
    p->taken -= size;
    free(block);
}

static void hear_trap(void *user, const char *file, int line, const char *condition)
{
    replay *const p = user;

    reel_blame(&p->reel, "a fault in %s:%d: %s", file, line, condition);
    p->is_disagreed = true;
    p->result->is_broken = true;
}

// --- Answers ---

bool replay_wants(replay *p)
{
    reel *const r = &p->reel;

    if (r->state != REEL_GOOD) {
        return false;
    }
    const unsigned char answer = (unsigned char)reel_number(r, 1);

    // A record that is whole but for its answer: its call is the last of all.
    p->is_cut = r->state == REEL_SHORT;
    p->expected = (espl_status)(answer < 0x80 ? answer : (int)answer - 0x100);
    p->has_lacked_memory = p->has_lacked_memory || p->expected == ESPL_ERR_NO_MEMORY;
    // A refused call may have purged the dead, so that it is repeated too, but where it was refused
    // for what was going on around it.
    return p->expected != ESPL_ERR_NO_MEMORY && p->expected != ESPL_ERR_BUSY &&
           p->expected != ESPL_ERR_EXECUTOR;
}

void replay_compare(replay *p, const char *call, espl_status status)
{
    p->result->calls += 1;
    if (p->is_cut || p->def->goes_on || status == p->expected || p->reel.state == REEL_BAD) {
        return;
    }
    reel_blame(&p->reel, "%s answers %s, not %s", call, espl_status_name(status),
               espl_status_name(p->expected));
    p->is_disagreed = true;
}

// --- Lists ---

// The length of a list whose items take `size` bytes each at least.
static size_t read_length(reel *r, unsigned width, size_t size)
{
    const uint64_t length = reel_number(r, width);

    if (r->state == REEL_GOOD && length > reel_left(r) / size) {
        r->state = REEL_SHORT;
        return 0;
    }
    return (size_t)length;
}

static espl_entity *read_entities(reel *r, size_t *count)
{
    *count = read_length(r, 8, sizeof(espl_entity));
    espl_entity *const entities = reel_list(r, *count, sizeof *entities);

    for (size_t i = 0; entities != NULL && i < *count; ++i) {
        entities[i] = reel_entity(r);
    }
    return entities;
}

static uint32_t *read_words(reel *r, size_t *count)
{
    *count = read_length(r, 4, sizeof(uint32_t));
    uint32_t *const words = reel_list(r, *count, sizeof *words);

    if (words != NULL) {
        reel_words(r, words, *count);
    }
    return words;
}

static espl_component_value read_value(reel *r)
{
    espl_component_value value = {.component = reel_u32(r)};

    value.size = reel_u32(r);
    if (reel_up_to(r, 1, "for a yes or no") != 0) {
        value.data = reel_bytes(r, value.size);
    }
    return value;
}

// --- Calls, by op ---

// Blame the tape where the world shows something else than it says.
static void compare_hashes(replay *p, const uint64_t *hashes, uint64_t logical, uint64_t physical)
{
    if (hashes[0] != logical) {
        reel_blame(&p->reel, "frame %llu shows something else: %016llx, not %016llx",
                   (unsigned long long)p->result->frames, (unsigned long long)hashes[0],
                   (unsigned long long)logical);
        p->is_disagreed = true;
    } else if (hashes[1] != physical && !p->has_lacked_memory) {
        reel_blame(&p->reel, "frame %llu shows the same, standing elsewhere: %016llx, not %016llx",
                   (unsigned long long)p->result->frames, (unsigned long long)hashes[1],
                   (unsigned long long)physical);
        p->is_disagreed = true;
    }
}

static void frame(replay *p)
{
    const uint64_t logical = reel_number(&p->reel, 8), physical = reel_number(&p->reel, 8);
    uint64_t hashes[2] = {0, 0};

    if (!replay_wants(p)) {
        return;
    }
    espl_status status = espl_hash(p->world, ESPL_HASH_LOGICAL, &hashes[0]);

    status = status != ESPL_OK ? status : espl_hash(p->world, ESPL_HASH_PHYSICAL, &hashes[1]);
    replay_compare(p, "frame", status);
    if (!p->def->goes_on) {
        compare_hashes(p, hashes, logical, physical);
    }
    p->result->frames += 1;
}

static void register_component(replay *p)
{
    reel *const r = &p->reel;
    char name[NAME_LIMIT + 1] = "";
    const uint32_t length = reel_up_to(r, NAME_LIMIT, "bytes of a name");
    const unsigned char *const bytes = reel_bytes(r, length);
    espl_component_def def = {.name = name};
    espl_component number = 0;

    if (bytes != NULL) {
        memcpy(name, bytes, length);
    }
    def.size = reel_u32(r);
    def.alignment = reel_u32(r);
    def.references = read_words(r, &def.reference_count);
    if (replay_wants(p)) {
        replay_compare(p, "registration", espl_component_register(p->world, &def, &number));
    }
}

static void create(replay *p)
{
    size_t count = 0;
    const espl_component *const set = read_words(&p->reel, &count);
    const uint64_t made = reel_number(&p->reel, 8);

    if (replay_wants(p)) {
        replay_compare(p, "creation", espl_create(p->world, set, count, (size_t)made, NULL));
    }
}

static void reserve_rows(replay *p)
{
    size_t count = 0;
    const espl_component *const set = read_words(&p->reel, &count);
    const uint64_t rows = reel_number(&p->reel, 8);

    if (replay_wants(p)) {
        replay_compare(p, "reserve", espl_reserve_rows(p->world, set, count, (size_t)rows));
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
    def.remove = read_words(r, &def.remove_count);
    if (replay_wants(p)) {
        replay_compare(p, "change", espl_change_array(p->world, entities, count, &def, NULL));
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
        replay_compare(p, "set",
                       espl_set(p->world, entity, value.component, value.data, value.size));
    }
}

static void column(replay *p)
{
    reel *const r = &p->reel;
    const espl_component component = reel_u32(r);
    const uint32_t size = reel_up_to(r, ESPL_COMPONENT_SIZE_LIMIT, "bytes of a value");
    size_t count = 0;
    const espl_entity *const entities = read_entities(r, &count);
    const unsigned char *const values =
        reel_left(r) / (size + 1) < count / 2 ? NULL : reel_bytes(r, count * size);
    espl_status status = ESPL_OK;

    if (!replay_wants(p) || values == NULL) {
        return;
    }
    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = espl_set(p->world, entities[i], component, values + i * size, size);
    }
    replay_compare(p, "column", status);
}

static void enable(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const uint32_t extent = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "enable", espl_enable(p->world, entity, (espl_extent)extent));
    }
}

static void disable(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const uint32_t extent = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "disable", espl_disable(p->world, entity, (espl_extent)extent));
    }
}

static void attach(replay *p)
{
    reel *const r = &p->reel;
    const espl_entity child = reel_entity(r), parent = reel_entity(r);
    espl_attach_options options = {.before = reel_entity(r)};

    options.position = (espl_stay)reel_u32(r);
    options.rotation = (espl_stay)reel_u32(r);
    options.scale = (espl_stay)reel_u32(r);
    options.link = (espl_link)reel_u32(r);
    options.inherit = reel_u32(r);
    if (replay_wants(p)) {
        replay_compare(p, "attach", espl_attach(p->world, child, parent, &options));
    }
}

static void detach(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const uint32_t stay = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "detach", espl_detach(p->world, entity, (espl_stay)stay));
    }
}

static void set_sibling(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel), before = reel_entity(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "set sibling", espl_set_sibling(p->world, entity, before));
    }
}

static void destroy(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "destroy", espl_destroy(p->world, entity));
    }
}

static void destroy_subtree(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "destroy subtree", espl_destroy_subtree(p->world, entity));
    }
}

static void destroy_only(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "destroy only", espl_destroy_only(p->world, entity));
    }
}

static void instantiate(replay *p)
{
    const espl_entity source = reel_entity(&p->reel);
    const uint64_t count = reel_number(&p->reel, 8);

    if (replay_wants(p)) {
        replay_compare(p, "instantiate", espl_instantiate(p->world, source, (size_t)count, NULL));
    }
}

size_t replay_value_words(uint32_t kind)
{
    static const uint8_t words[ESPL_WRITE_KIND_COUNT] = {
        [ESPL_WRITE_LOCAL_POSITION] = 3,
        [ESPL_WRITE_LOCAL_ROTATION] = 4,
        [ESPL_WRITE_LOCAL_SCALE] = 1,
        [ESPL_WRITE_LOCAL_POSE] = 12,
        [ESPL_WRITE_LOCAL] = 12,
        [ESPL_WRITE_STRETCH] = 3,
        [ESPL_WRITE_CONTEXT] = 1,
        [ESPL_WRITE_WORLD_POSITION] = 3,
        [ESPL_WRITE_WORLD_ROTATION] = 4,
        [ESPL_WRITE_WORLD_SCALE] = 1,
        [ESPL_WRITE_WORLD] = 12,
        [ESPL_WRITE_TRANSLATE_LOCAL] = 3,
        [ESPL_WRITE_ROTATE_LOCAL] = 4,
        [ESPL_WRITE_TRANSFORM_LOCAL] = 12,
        [ESPL_WRITE_INVERSE_TRANSFORM_LOCAL] = 12,
        [ESPL_WRITE_TRANSLATE_WORLD] = 3,
        [ESPL_WRITE_ROTATE_WORLD] = 4,
        [ESPL_WRITE_TRANSFORM_WORLD] = 12,
        [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = 12,
        [ESPL_WRITE_MULTIPLY_SCALE] = 1,
        [ESPL_WRITE_MULTIPLY_STRETCH] = 3,
    };

    return kind < ESPL_WRITE_KIND_COUNT ? words[kind] : 0;
}

static espl_write read_write(reel *r)
{
    espl_write write = {.entity = reel_entity(r)};
    const uint32_t kind = reel_u32(r);

    write.kind = (espl_write_kind)kind;
    reel_words(r, &write.value, replay_value_words(kind));
    return write;
}

static void write_batch(replay *p)
{
    reel *const r = &p->reel;
    const size_t count = read_length(r, 8, 12);
    espl_write *const writes = reel_list(r, count, sizeof *writes);

    for (size_t i = 0; writes != NULL && i < count; ++i) {
        writes[i] = read_write(r);
    }
    if (replay_wants(p)) {
        replay_compare(p, "batch of writes", espl_write_batch(p->world, writes, count, NULL));
    }
}

// By the function of the kind, where a batch of one takes another way through the library.
static espl_status write_by_function(espl_world *world, const espl_write *w)
{
    const espl_write_value *const v = &w->value;
    const espl_entity e = w->entity;

    switch (w->kind) {
    case ESPL_WRITE_LOCAL_POSITION:
        return espl_set_local_position(world, e, v->position);
    case ESPL_WRITE_LOCAL_ROTATION:
        return espl_set_local_rotation(world, e, v->rotation);
    case ESPL_WRITE_LOCAL_SCALE:
        return espl_set_local_scale(world, e, v->scale);
    case ESPL_WRITE_LOCAL_POSE:
        return espl_set_local_pose(world, e, &v->transform);
    case ESPL_WRITE_LOCAL:
        return espl_set_local(world, e, &v->transform);
    case ESPL_WRITE_STRETCH:
        return espl_set_stretch(world, e, v->stretch);
    case ESPL_WRITE_CONTEXT:
        return espl_set_context(world, e, v->context);
    case ESPL_WRITE_WORLD_POSITION:
        return espl_set_world_position(world, e, v->position);
    case ESPL_WRITE_WORLD_ROTATION:
        return espl_set_world_rotation(world, e, v->rotation);
    case ESPL_WRITE_WORLD_SCALE:
        return espl_set_world_scale(world, e, v->scale);
    case ESPL_WRITE_WORLD:
        return espl_set_world(world, e, &v->transform);
    default:
        return ESPL_ERR_ARGUMENT;
    }
}

static espl_status change_by_function(espl_world *world, const espl_write *w)
{
    const espl_write_value *const v = &w->value;
    const espl_entity e = w->entity;

    switch (w->kind) {
    case ESPL_WRITE_TRANSLATE_LOCAL:
        return espl_translate_local(world, e, v->position);
    case ESPL_WRITE_ROTATE_LOCAL:
        return espl_rotate_local(world, e, v->rotation);
    case ESPL_WRITE_TRANSFORM_LOCAL:
        return espl_transform_local(world, e, &v->transform);
    case ESPL_WRITE_INVERSE_TRANSFORM_LOCAL:
        return espl_inverse_transform_local(world, e, &v->transform);
    case ESPL_WRITE_TRANSLATE_WORLD:
        return espl_translate_world(world, e, v->position);
    case ESPL_WRITE_ROTATE_WORLD:
        return espl_rotate_world(world, e, v->rotation);
    case ESPL_WRITE_TRANSFORM_WORLD:
        return espl_transform_world(world, e, &v->transform);
    case ESPL_WRITE_INVERSE_TRANSFORM_WORLD:
        return espl_inverse_transform_world(world, e, &v->transform);
    case ESPL_WRITE_MULTIPLY_SCALE:
        return espl_multiply_scale(world, e, v->scale);
    case ESPL_WRITE_MULTIPLY_STRETCH:
        return espl_multiply_stretch(world, e, v->stretch);
    default:
        return write_by_function(world, w);
    }
}

static void write_one(replay *p)
{
    const espl_write write = read_write(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "write", change_by_function(p->world, &write));
    }
}

static void look_at(replay *p)
{
    reel *const r = &p->reel;
    const espl_entity entity = reel_entity(r);
    float target[3], up[3];

    reel_words(r, target, 3);
    const bool has_up = reel_up_to(r, 1, "for a yes or no") != 0;

    reel_words(r, up, has_up ? 3 : 0);
    if (replay_wants(p)) {
        replay_compare(p, "look at", espl_look_at(p->world, entity, target, has_up ? up : NULL));
    }
}

static void rotate_about(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    float pivot[3], by[4];

    reel_words(&p->reel, pivot, 3);
    reel_words(&p->reel, by, 4);
    if (replay_wants(p)) {
        replay_compare(p, "rotate about", espl_rotate_about(p->world, entity, pivot, by));
    }
}

static void set_inherit(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);
    const uint32_t flags = reel_u32(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "set inherit flags", espl_set_inherit(p->world, entity, flags));
    }
}

static void reserve(replay *p)
{
    const uint64_t count = reel_number(&p->reel, 8);

    if (replay_wants(p)) {
        replay_compare(p, "reserve", espl_reserve(p->world, (size_t)count));
    }
}

static void reserve_side(replay *p)
{
    const espl_entity entity = reel_entity(&p->reel);

    if (replay_wants(p)) {
        replay_compare(p, "reserve of side arrays", espl_reserve_side(p->world, entity));
    }
}

static void trim(replay *p)
{
    if (replay_wants(p)) {
        replay_compare(p, "trim", espl_trim(p->world));
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
    [ESPL_TAPE_DESTROY_TREE] = destroy_subtree,
    [ESPL_TAPE_DESTROY_ONLY] = destroy_only,
    [ESPL_TAPE_INSTANTIATE] = instantiate,
    [ESPL_TAPE_WRITES] = write_batch,
    [ESPL_TAPE_WRITE] = write_one,
    [ESPL_TAPE_LOOK_AT] = look_at,
    [ESPL_TAPE_ROTATE_ABOUT] = rotate_about,
    [ESPL_TAPE_INHERIT] = set_inherit,
    [ESPL_TAPE_COLUMN] = column,
    [ESPL_TAPE_RESERVE] = reserve,
    [ESPL_TAPE_RESERVE_ROWS] = reserve_rows,
    [ESPL_TAPE_RESERVE_SIDE] = reserve_side,
    [ESPL_TAPE_TRIM] = trim,
    [ESPL_TAPE_VIEW] = view,
    [ESPL_TAPE_PLAY] = replay_playback,
};

// --- The whole ---

// Read the head and make the world that it asks for.
static void begin(replay *p)
{
    reel *const r = &p->reel;
    const uint32_t order = 0x01020304;
    const unsigned char *const magic = reel_bytes(r, 8);
    const uint32_t version = reel_u32(r), tag = reel_u32(r);
    const unsigned char *const mark = reel_bytes(r, 4);
    const unsigned char *const limits = reel_bytes(r, 4);

    if (limits == NULL || memcmp(magic, "espltape", 8) != 0) {
        reel_blame(r, "no tape of Espalier");
    } else if (version != ESPL_TAPE_VERSION) {
        reel_blame(r, "a tape of version %u, where %d is known", version, ESPL_TAPE_VERSION);
    } else if (memcmp(mark, &order, sizeof order) != 0) {
        reel_blame(r, "a tape from a machine of another byte order");
    }
    if (r->state != REEL_GOOD) {
        r->state = REEL_BAD;
        return;
    }
    const espl_world_def def = {.allocator = {p, take, give},
                                .hooks = {.user = p, .trap = hear_trap},
                                .executor = p->def->executor != NULL ? *p->def->executor
                                                                     : espl_executor_serial(),
                                .tag = tag};
    const espl_status status = tag == 0 ? ESPL_ERR_ARGUMENT : espl_world_create(&p->world, &def);

    if (status != ESPL_OK) {
        reel_blame(r, "no world of tag %u can be made: %s", tag, espl_status_name(status));
    }
}

static bool goes_on(const replay *p)
{
    return p->reel.state == REEL_GOOD && reel_left(&p->reel) != 0 &&
           (p->def->frames == 0 || p->result->frames < p->def->frames);
}

static void run(replay *p)
{
    reel *const r = &p->reel;

    while (goes_on(p)) {
        reel_next(r);
        const uint32_t op = (uint32_t)reel_number(r, 1);

        if (op >= ESPL_TAPE_OP_COUNT || calls[op] == NULL) {
            reel_blame(r, "no record begins with %u", op);
        } else {
            calls[op](p);
        }
    }
    reel_next(r);
}

replay_verdict replay_run(const replay_def *def, const unsigned char *bytes, size_t size,
                          replay_result *result)
{
    *result = (replay_result){.fault = {""}};
    replay p = {.def = def,
                .result = result,
                .reel = {.bytes = bytes, .size = size, .fault = &result->fault}};

    begin(&p);
    run(&p);
    if (p.reel.state != REEL_BAD && !espl_validate(p.world, NULL)) {
        reel_blame(&p.reel, "the world is broken where the tape ends");
        p.is_disagreed = true;
        result->is_broken = true;
    }
    espl_world_destroy(p.world);
    result->is_cut = p.reel.state == REEL_SHORT;
    if (p.reel.state != REEL_BAD) {
        return REPLAY_AGREED;
    }
    return p.is_disagreed ? REPLAY_DISAGREED : REPLAY_BAD;
}
