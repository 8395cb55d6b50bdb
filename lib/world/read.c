// SPDX-License-Identifier: MIT
// Reads of transforms: of one entity, of many, between frames, and as matrices.
//
// A read is a few loads: the world transforms are up to date whenever a call returns, so nothing is
// computed here but what the caller asks for. Reads change nothing and take no memory, and any
// thread may make them while no thread changes the world.
#include "lib/world/handles.h"

#include <stdio.h>
#include <string.h>

// --- Placements ---

// Slot of an entity to be read into `out`, or why it is not.
static espl_status find(const espl_world *world, espl_entity entity, const void *out,
                        uint32_t *slot)
{
    const espl_status status = espl__find_placed(world, entity, slot);

    if (status == ESPL_OK && out == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (ESPL_CHECKS >= 1 && status == ESPL_OK && espl__is_parallel(world) &&
        !espl__may_read(world, *slot)) {
        return ESPL_ERR_NOT_OWNER;
    }
    return status;
}

// Find the slot where nothing is in the way; false: find() is to be asked.
ESPL__INLINE bool find_at_once(const espl_world *world, const espl_entity *entity, const void *out,
                               uint32_t *slot)
{
    return out != NULL && espl__has_placed(world, entity, slot) &&
           (ESPL_CHECKS == 0 || !espl__is_parallel(world));
}

static espl_transform world_of(const espl_world *world, uint32_t slot)
{
    const espl__extra extra = espl__slot_extra(&world->forest, slot);

    return espl__transform_of(&world->forest.world[slot], &extra);
}

static ESPL__APART espl_pose kept_local_of(const espl__forest *forest, uint32_t slot)
{
    const espl__frame parent = espl__slot_frame(forest, forest->parent[slot]);
    const espl__placement placement = espl__slot_placement(forest, slot);

    return espl__placement_seen(&placement, &parent, &forest->world[slot]);
}

static inline espl_pose local_of(const espl_world *world, uint32_t slot)
{
    const espl__forest *const forest = &world->forest;

    return espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) ? kept_local_of(forest, slot)
                                                         : forest->local[slot];
}

espl_transform espl__read_world(const espl_world *world, uint32_t slot)
{
    return world_of(world, slot);
}

espl_transform espl__read_local(const espl_world *world, uint32_t slot)
{
    const espl_pose pose = local_of(world, slot);
    const espl__extra extra = espl__slot_extra(&world->forest, slot);

    return espl__transform_of(&pose, &extra);
}

// --- What is read of one entity ---

// Some of a pose, and behind it some of an extra.
typedef struct part {
    const char *call; // name of the public function
    enum { OF_WORLD, OF_LOCAL } of;
    size_t pose_offset, pose_size;
    size_t extra_offset, extra_size;
} part;

_Static_assert(offsetof(espl_transform, stretch) == sizeof(espl_pose) &&
                   offsetof(espl_transform, user_data) - offsetof(espl_transform, stretch) ==
                       offsetof(espl__extra, user_data),
               "a transform is a pose, and behind it an extra");

#define ALL(name, of)                                           \
    {                                                           \
        name, of, 0, sizeof(espl_pose), 0, sizeof(espl__extra), \
    }
#define POSE(name, of, field)                                                       \
    {                                                                               \
        name, of, offsetof(espl_pose, field), sizeof(((espl_pose *)0)->field), 0, 0 \
    }
#define EXTRA(name, field)                                                                    \
    {                                                                                         \
        name, OF_WORLD, 0, 0, offsetof(espl__extra, field), sizeof(((espl__extra *)0)->field) \
    }

// Where the extra of a slot stands. By address: built on the stack, it would be reloaded in wider
// pieces than it was stored in.
ESPL__INLINE const espl__extra *extra_at(const espl__forest *forest, uint32_t slot)
{
    static const espl__extra none = {{1, 1, 1}, 0};

    if (!espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
        return &none;
    }
    const espl__tree *const tree = espl__tree_of(forest, slot);

    return &tree->side->extra[slot - tree->base];
}

ESPL__INLINE void copy_part(const espl_world *world, uint32_t slot, const part *what, void *out)
{
    if (what->of == OF_WORLD) {
        memcpy(out, (const unsigned char *)&world->forest.world[slot] + what->pose_offset,
               what->pose_size);
    } else {
        const espl_pose local = local_of(world, slot);

        memcpy(out, (const unsigned char *)&local + what->pose_offset, what->pose_size);
    }
    if (what->extra_size != 0) {
        memcpy((unsigned char *)out + what->pose_size,
               (const unsigned char *)extra_at(&world->forest, slot) + what->extra_offset,
               what->extra_size);
    }
}

static const char *const no_out = "out is NULL.";

static ESPL__APART espl_status read_part_slowly(const espl_world *world, espl_entity entity,
                                                const part *what, void *out)
{
    uint32_t slot = 0;
    const espl_status status = find(world, entity, out, &slot);

    if (status == ESPL_OK) {
        copy_part(world, slot, what, out);
    }
    return espl__refuse_why(world, what->call, entity, status, no_out);
}

// Inline, so that each of the functions below is the few loads that it needs.
ESPL__INLINE espl_status read_part(const espl_world *world, const espl_entity *entity,
                                   const part *what, void *out)
{
    uint32_t slot = 0;

    if (!find_at_once(world, entity, out, &slot)) {
        return read_part_slowly(world, *entity, what, out);
    }
    copy_part(world, slot, what, out);
    return ESPL_OK;
}

espl_status espl_get_world_transform(const espl_world *world, espl_entity entity,
                                     espl_transform *out)
{
    static const part what = ALL("espl_get_world_transform", OF_WORLD);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_local_transform(const espl_world *world, espl_entity entity,
                                     espl_transform *out)
{
    static const part what = ALL("espl_get_local_transform", OF_LOCAL);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_world_position(const espl_world *world, espl_entity entity, float out[3])
{
    static const part what = POSE("espl_get_world_position", OF_WORLD, position);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_world_rotation(const espl_world *world, espl_entity entity, float out[4])
{
    static const part what = POSE("espl_get_world_rotation", OF_WORLD, rotation);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_world_scale(const espl_world *world, espl_entity entity, float *out)
{
    static const part what = POSE("espl_get_world_scale", OF_WORLD, scale);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_local_position(const espl_world *world, espl_entity entity, float out[3])
{
    static const part what = POSE("espl_get_local_position", OF_LOCAL, position);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_local_rotation(const espl_world *world, espl_entity entity, float out[4])
{
    static const part what = POSE("espl_get_local_rotation", OF_LOCAL, rotation);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_local_scale(const espl_world *world, espl_entity entity, float *out)
{
    static const part what = POSE("espl_get_local_scale", OF_LOCAL, scale);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_stretch(const espl_world *world, espl_entity entity, float out[3])
{
    static const part what = EXTRA("espl_get_stretch", stretch);

    return read_part(world, &entity, &what, out);
}

espl_status espl_get_user_data(const espl_world *world, espl_entity entity, uint32_t *out)
{
    static const part what = EXTRA("espl_get_user_data", user_data);

    return read_part(world, &entity, &what, out);
}

// --- What is read of many entities ---

// A call, and what became of it.
typedef struct many {
    const espl_world *world;
    espl__handles handles;
    unsigned char *out; // [count] of `size` bytes each
    size_t size;
    const part *what;
    espl_status status; // of the first that is refused, or ESPL_OK
    size_t refused;     // its number
} many;

enum { MANY = 32 }; // entities whose cache misses overlap

// Find the slots of entities [begin, end), and prefetch what is read there.
ESPL__INLINE void find_many(const many *m, const espl__registry *registry, size_t begin, size_t end,
                            uint32_t slots[MANY])
{
    const espl__handles handles = m->handles;
    const espl_pose *const worlds = m->world->forest.world;

    for (size_t i = begin; i < end; ++i) {
        espl__registry_ask(registry, espl__handle_at(&handles, i));
    }
    for (size_t i = begin; i < end; ++i) {
        const uint32_t slot = espl__registry_find(registry, espl__handle_at(&handles, i));

        espl__prefetch_element(worlds, slot, sizeof *worlds);
        slots[i - begin] = slot;
    }
}

// One that perhaps is not to be read.
static ESPL__APART void read_checked(many *m, size_t number)
{
    const espl_entity entity = espl__handle_at(&m->handles, number);
    unsigned char *const out = m->out + number * m->size;
    uint32_t slot = 0;
    const espl_status status = find(m->world, entity, out, &slot);

    if (status == ESPL_OK) {
        copy_part(m->world, slot, m->what, out);
    } else if (m->status == ESPL_OK) {
        m->status = status;
        m->refused = number;
    }
}

// Entities [begin, end), whose slots were found.
ESPL__INLINE void copy_many(many *m, const espl__registry *registry, size_t begin, size_t end,
                            const uint32_t slots[MANY], const part *what)
{
    const bool is_checked = ESPL_CHECKS >= 1 && espl__is_parallel(m->world);

    for (size_t i = begin; i < end; ++i) {
        if (!espl__registry_has_placed(registry, slots[i - begin]) || is_checked) {
            read_checked(m, i);
        } else {
            copy_part(m->world, slots[i - begin], what, m->out + i * m->size);
        }
    }
}

static const char *find_read_fault(espl__handles handles, size_t count, const void *out)
{
    if (count != 0 && handles.first == NULL) {
        return "entities is NULL, but the count is not 0.";
    }
    if (count != 0 && out == NULL) {
        return "out is NULL, but the count is not 0.";
    }
    return handles.stride < sizeof(espl_entity) || handles.stride % _Alignof(espl_entity) != 0
               ? "stride is less than the size of an espl_entity, or no multiple of 4."
               : NULL;
}

// Tell of the first that was refused.
static ESPL__APART void refuse_read_entry(const many *m, size_t count)
{
    const espl_entity entity = espl__handle_at(&m->handles, m->refused);
    const espl__mention named = {"entity", entity};
    espl__message message;
    char entry[64];

    (void)snprintf(entry, sizeof entry, "entry %zu of %zu", m->refused, count);
#if ESPL_CHECKS >= 1
    if (m->status == ESPL_ERR_NOT_OWNER) {
        (void)espl__refuse_trespass(m->world, m->what->call, &named, 1, entry);
        return;
    }
#endif
    if (espl__refusal_begin(&message, m->world, m->what->call, NULL, m->status)) {
        espl__message_part(&message, "%s", entry);
        espl__message_entity(&message, named.role, named.entity);
        espl__refusal_send(&message, m->world, m->status, NULL);
    }
}

// While one block is copied, the next one is on its way from memory. @param size  of one output.
ESPL__INLINE espl_status read_many(const espl_world *world, espl__handles handles, size_t count,
                                   void *out, size_t size, const part *what)
{
    many m = {.world = world, .handles = handles, .out = out, .size = size, .what = what};
    uint32_t slots[2][MANY];
    size_t end = count < MANY ? count : MANY;

    const char *const fault = find_read_fault(handles, count, out);

    if (world == NULL || fault != NULL) {
        return espl__refuse_call(world, what->call, ESPL_ERR_ARGUMENT, fault);
    }
    const espl__registry registry = espl__registry_of(world);

    find_many(&m, &registry, 0, end, slots[0]);
    for (size_t begin = 0, turn = 0; begin < count; turn ^= 1) {
        const size_t next = count - end < MANY ? count : end + MANY;

        find_many(&m, &registry, end, next, slots[turn ^ 1]);
        copy_many(&m, &registry, begin, end, slots[turn], what);
        begin = end;
        end = next;
    }
    if (m.status != ESPL_OK) {
        refuse_read_entry(&m, count);
    }
    return m.status != ESPL_OK ? ESPL_PARTLY : ESPL_OK;
}

espl_status espl_get_world_transforms(const espl_world *world, const espl_entity *entities,
                                      size_t count, size_t stride, espl_transform *out)
{
    static const part what = ALL("espl_get_world_transforms", OF_WORLD);
    const espl__handles handles = {(const unsigned char *)entities, stride};

    return read_many(world, handles, count, out, sizeof *out, &what);
}

espl_status espl_get_world_positions(const espl_world *world, const espl_entity *entities,
                                     size_t count, size_t stride, float (*out)[3])
{
    static const part what = POSE("espl_get_world_positions", OF_WORLD, position);
    const espl__handles handles = {(const unsigned char *)entities, stride};

    return read_many(world, handles, count, out, sizeof *out, &what);
}

// --- Between frames ---

static espl_status find_relative(const espl_world *world, espl_entity frame, espl_entity entity,
                                 espl_transform *out)
{
    uint32_t above = 0, slot = 0;
    espl_status status = find(world, frame, out, &above);

    status = status != ESPL_OK ? status : find(world, entity, out, &slot);
    if (status != ESPL_OK) {
        return status;
    }
    const espl_transform parent = world_of(world, above);
    const espl_transform wanted = world_of(world, slot);
    espl_transform local = espl_transform_identity();

    status = espl_transform_relative(&local, &parent, &wanted);
    if (!espl__transform_is_finite(&local)) {
        return ESPL_ERR_RANGE;
    }
    *out = local;
    return status;
}

espl_status espl_relative(const espl_world *world, espl_entity frame, espl_entity entity,
                          espl_transform *out)
{
    const espl__mention named[2] = {{"entity", entity}, {"frame", frame}};

    return espl__refuse_named(world, "espl_relative", named, 2,
                              find_relative(world, frame, entity, out), no_out);
}

static bool is_flat(const espl_transform *transform)
{
    return transform->scale == 0 || transform->stretch[0] == 0 || transform->stretch[1] == 0 ||
           transform->stretch[2] == 0;
}

// A conversion between the axes of an entity and those of the world.
typedef struct conversion {
    const char *call, *missing;
    void (*function)(float out[3], const espl_transform *frame, const float v[3]);
    bool divides; // zero scales leave something out
} conversion;

static espl_status convert(const espl_world *world, espl_entity entity, const conversion *c,
                           const float v[3], float out[3])
{
    uint32_t slot = 0;
    espl_status status = find(world, entity, out, &slot);

    if (status == ESPL_OK && v == NULL) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        const espl_transform frame = world_of(world, slot);

        c->function(out, &frame, v);
        status = c->divides && is_flat(&frame) ? ESPL_LOSSY : ESPL_OK;
    }
    return espl__refuse_why(world, c->call, entity, status, out == NULL ? no_out : c->missing);
}

espl_status espl_point_to_world(const espl_world *world, espl_entity entity, const float point[3],
                                float out[3])
{
    static const conversion c = {"espl_point_to_world", "point is NULL.", espl_transform_point,
                                 false};

    return convert(world, entity, &c, point, out);
}

espl_status espl_point_to_local(const espl_world *world, espl_entity entity, const float point[3],
                                float out[3])
{
    static const conversion c = {"espl_point_to_local", "point is NULL.",
                                 espl_transform_point_inverse, true};

    return convert(world, entity, &c, point, out);
}

espl_status espl_vector_to_world(const espl_world *world, espl_entity entity, const float vector[3],
                                 float out[3])
{
    static const conversion c = {"espl_vector_to_world", "vector is NULL.", espl_transform_vector,
                                 false};

    return convert(world, entity, &c, vector, out);
}

espl_status espl_vector_to_local(const espl_world *world, espl_entity entity, const float vector[3],
                                 float out[3])
{
    static const conversion c = {"espl_vector_to_local", "vector is NULL.",
                                 espl_transform_vector_inverse, true};

    return convert(world, entity, &c, vector, out);
}

espl_status espl_direction_to_world(const espl_world *world, espl_entity entity,
                                    const float direction[3], float out[3])
{
    static const conversion c = {"espl_direction_to_world", "direction is NULL.",
                                 espl_transform_direction, false};

    return convert(world, entity, &c, direction, out);
}

espl_status espl_direction_to_local(const espl_world *world, espl_entity entity,
                                    const float direction[3], float out[3])
{
    static const conversion c = {"espl_direction_to_local", "direction is NULL.",
                                 espl_transform_direction_inverse, false};

    return convert(world, entity, &c, direction, out);
}

espl_status espl_get_axis(const espl_world *world, espl_entity entity, espl_axis axis, float out[3])
{
    uint32_t slot = 0;
    espl_status status = find(world, entity, out, &slot);

    if (status == ESPL_OK && (unsigned)axis > ESPL_AXIS_BACK) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        const espl_transform frame = world_of(world, slot);

        espl_transform_axis(out, &frame, axis);
    }
    return espl__refuse_why(world, "espl_get_axis", entity, status,
                            out == NULL ? no_out : "axis is none of espl_axis.");
}

bool espl_is_mirrored(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    if (slot == ESPL__NO_SLOT || espl__slot_is(&world->forest, slot, ESPL__SLOT_BARE)) {
        return false;
    }
    const espl_transform transform = world_of(world, slot);

    return espl_transform_is_mirrored(&transform);
}

// --- Matrices ---

typedef void (*matrix_function)(float *out, const espl_transform *transform);

// @param missing  a sentence for the lack of an output.
static espl_status read_matrix(const espl_world *world, espl_entity entity, const char *call,
                               const char *missing, matrix_function function, bool divides,
                               float *out)
{
    uint32_t slot = 0;
    espl_status status = find(world, entity, out, &slot);

    if (status == ESPL_OK) {
        const espl_transform transform = world_of(world, slot);

        function(out, &transform);
        status = divides && is_flat(&transform) ? ESPL_LOSSY : ESPL_OK;
    }
    return espl__refuse_why(world, call, entity, status, missing);
}

espl_status espl_get_matrix_3x4(const espl_world *world, espl_entity entity, float rows[12])
{
    return read_matrix(world, entity, "espl_get_matrix_3x4", "rows is NULL.",
                       espl_transform_matrix_3x4, false, rows);
}

espl_status espl_get_matrix_4x4(const espl_world *world, espl_entity entity, float columns[16])
{
    return read_matrix(world, entity, "espl_get_matrix_4x4", "columns is NULL.",
                       espl_transform_matrix_4x4, false, columns);
}

espl_status espl_get_matrix_4x4_inverse(const espl_world *world, espl_entity entity,
                                        float columns[16])
{
    return read_matrix(world, entity, "espl_get_matrix_4x4_inverse", "columns is NULL.",
                       espl_transform_matrix_4x4_inverse, true, columns);
}

uint32_t espl_get_inherit(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? 0 : espl__slot_kept(&world->forest, slot).flags;
}
