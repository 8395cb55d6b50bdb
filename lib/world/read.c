// SPDX-License-Identifier: MIT
// Reads of transforms: of one entity, of many, and of the rows of a query. read_frames.c has the reads
// that compute.
//
// A read is a few loads: the world transforms are up to date whenever a call returns, so nothing is
// computed here but what the caller asks for. Reads change nothing and take no memory, and any
// thread may make them while no thread changes the world.
//
// Order of the checks of a read of one entity: world, handles, out pointer, owner (checked builds),
// then the other arguments. So a dead handle is reported even where another argument is wrong as
// well. A refused call writes nothing to `out`. A call that returns ESPL_LOSSY has written all of
// it.
#include "lib/world/read.h"

#include "lib/tree/cells.h"
#include "lib/tree/motion.h"
#include "lib/world/entity_slots.h"
#include "lib/world/handles.h"
#include "lib/world/iterations.h"
#include "lib/world/ownership.h"
#include "lib/world/query.h"
#include "lib/world/refusals.h"

#include <stdio.h>
#include <string.h>

// --- Placements ---

espl_status espl__find_to_read(const espl_world *world, espl_entity entity, const void *out,
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

// Fast path of espl__find_to_read(): one test for each reason of a refusal, and no status. The handle is passed
// by address, for the reason of espl__is_alive().
//
// @return false: the call may be refused, and espl__find_to_read() tells by which status. Always false during a
//         parallel write in a checked build, because only espl__find_to_read() knows the owner of a hierarchy.
ESPL__INLINE bool find_at_once(const espl_world *world, const espl_entity *entity, const void *out,
                               uint32_t *slot)
{
    return out != NULL && espl__has_placed(world, entity, slot) &&
           (ESPL_CHECKS == 0 || !espl__is_parallel(world));
}

// The world transform of a slot: the pose as stored, and the stretch and user data from the side
// arrays of its tree.
static espl_transform world_of(const espl_world *world, uint32_t slot)
{
    const espl__extra extra = espl__slot_extra(&world->forest, slot);

    return espl__transform_of(&world->forest.world[slot], &extra);
}

// The local pose of a node with inherit flags. It is computed, because the node keeps a part of its
// world, and that part changes relative to the parent whenever the parent moves.
static espl_pose kept_local_of(const espl__forest *forest, uint32_t slot)
{
    ESPL_CHECK_FULL(forest->parent[slot] != ESPL__NO_SLOT); // a root has no inherit flags
    const espl__frame parent = espl__slot_frame(forest, forest->parent[slot]);
    const espl__placement placement = espl__slot_placement(forest, slot);

    return espl__placement_seen(&placement, &parent, &forest->world[slot]);
}

// The local pose of a slot as users read it. For a root it equals the world pose.
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

// What a kind reads: consecutive bytes of a pose, and behind them consecutive bytes of an extra. A
// size of 0 reads none of that half. Sizes, strides and the names in messages follow from the table
// below. copy_plain() lists the present kinds a second time.
typedef struct part {
    const char *call; // public function that reads it of one entity
    // The first is stored, and the second but for inherit flags; motion tells the others.
    enum {
        OF_WORLD,
        OF_LOCAL,
        OF_SHOWN,
        OF_PREVIOUS_LOCAL,
        OF_PREVIOUS_WORLD,
        OF_BEFORE_LOCAL,
        OF_BEFORE_WORLD,
        OF_CELL, // computed, as many bytes as a pose of it has
        OF_ABSOLUTE
    } of;
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
#define POSE(name, of)                       \
    {                                        \
        name, of, 0, sizeof(espl_pose), 0, 0 \
    }
#define FIELD(name, of, field)                                                      \
    {                                                                               \
        name, of, offsetof(espl_pose, field), sizeof(((espl_pose *)0)->field), 0, 0 \
    }
#define EXTRA(name, field)                                                                    \
    {                                                                                         \
        name, OF_WORLD, 0, 0, offsetof(espl__extra, field), sizeof(((espl__extra *)0)->field) \
    }

static const part parts[ESPL_READ_KIND_COUNT] = {
    [ESPL_READ_LOCAL_POSITION] = FIELD("espl_get_local_position", OF_LOCAL, position),
    [ESPL_READ_LOCAL_ROTATION] = FIELD("espl_get_local_rotation", OF_LOCAL, rotation),
    [ESPL_READ_LOCAL_SCALE] = FIELD("espl_get_local_scale", OF_LOCAL, scale),
    [ESPL_READ_LOCAL_POSE] = POSE("espl_get_local_pose", OF_LOCAL),
    [ESPL_READ_LOCAL_TRANSFORM] = ALL("espl_get_local_transform", OF_LOCAL),
    [ESPL_READ_STRETCH] = EXTRA("espl_get_stretch", stretch),
    [ESPL_READ_USER_DATA] = EXTRA("espl_get_user_data", user_data),
    [ESPL_READ_WORLD_POSITION] = FIELD("espl_get_world_position", OF_WORLD, position),
    [ESPL_READ_WORLD_ROTATION] = FIELD("espl_get_world_rotation", OF_WORLD, rotation),
    [ESPL_READ_WORLD_SCALE] = FIELD("espl_get_world_scale", OF_WORLD, scale),
    [ESPL_READ_WORLD_POSE] = POSE("espl_get_world_pose", OF_WORLD),
    [ESPL_READ_WORLD_TRANSFORM] = ALL("espl_get_world_transform", OF_WORLD),
    [ESPL_READ_SHOWN_POSITION] = FIELD("espl_read_one", OF_SHOWN, position),
    [ESPL_READ_SHOWN_ROTATION] = FIELD("espl_read_one", OF_SHOWN, rotation),
    [ESPL_READ_SHOWN_SCALE] = FIELD("espl_read_one", OF_SHOWN, scale),
    [ESPL_READ_SHOWN_POSE] = POSE("espl_read_one", OF_SHOWN),
    [ESPL_READ_SHOWN_TRANSFORM] = ALL("espl_read_one", OF_SHOWN),
    [ESPL_READ_PREVIOUS_LOCAL_POSE] = POSE("espl_read_one", OF_PREVIOUS_LOCAL),
    [ESPL_READ_PREVIOUS_WORLD_POSE] = POSE("espl_read_one", OF_PREVIOUS_WORLD),
    [ESPL_READ_BEFORE_LOCAL_POSE] = POSE("espl_read_one", OF_BEFORE_LOCAL),
    [ESPL_READ_BEFORE_WORLD_POSE] = POSE("espl_read_one", OF_BEFORE_WORLD),
    [ESPL_READ_CELL] = {"espl_read_one", OF_CELL, 0, sizeof(int32_t[3]), 0, 0},
    [ESPL_READ_ABSOLUTE_POSITION] = {"espl_read_one", OF_ABSOLUTE, 0, sizeof(double[3]), 0, 0},
};

// Kinds below it read present transforms; motion tells what the others read.
enum { PRESENT_KINDS = ESPL_READ_SHOWN_POSITION };

// The extra of a slot, by address: one that is built on the stack would be reloaded in wider pieces
// than it was stored in, and the load would wait for the stores. Nodes without side arrays share
// one constant.
ESPL__INLINE const espl__extra *extra_at(const espl__forest *forest, uint32_t slot)
{
    static const espl__extra none = {{1, 1, 1}, 0};

    if (!espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
        return &none;
    }
    const espl__tree *const tree = espl__tree_of(forest, slot);

    return &espl__side_of_slot(forest, slot)->extra[slot - tree->base];
}

// Copy one part of a pose, and behind it one part of the extra. By memcpy(), because the kind names
// the type of `out`. The sizes are constants after inlining.
ESPL__INLINE void copy_part(const espl_world *world, uint32_t slot, const espl_pose *pose,
                            const part *what, void *out)
{
    memcpy(out, (const unsigned char *)pose + what->pose_offset, what->pose_size);
    if (what->extra_size != 0) {
        memcpy((unsigned char *)out + what->pose_size,
               (const unsigned char *)extra_at(&world->forest, slot) + what->extra_offset,
               what->extra_size);
    }
}

// Copy the part that a kind reads. Precondition: the local is stored as it reads, so either the
// node has no inherit flags or the kind reads the world. A switch with one copy of constant size
// for each kind, because a memcpy() of unknown size is a call.
ESPL__INLINE void copy_plain(const espl_world *world, uint32_t slot, espl_read_kind kind, void *out)
{
    const espl__forest *const forest = &world->forest;

#define CASE(name, space)                                                \
    case name:                                                           \
        copy_part(world, slot, &forest->space[slot], &parts[name], out); \
        break

    switch (kind) {
        CASE(ESPL_READ_LOCAL_POSITION, local);
        CASE(ESPL_READ_LOCAL_ROTATION, local);
        CASE(ESPL_READ_LOCAL_SCALE, local);
        CASE(ESPL_READ_LOCAL_POSE, local);
        CASE(ESPL_READ_LOCAL_TRANSFORM, local);
        CASE(ESPL_READ_STRETCH, local);
        CASE(ESPL_READ_USER_DATA, local);
        CASE(ESPL_READ_WORLD_POSITION, world);
        CASE(ESPL_READ_WORLD_ROTATION, world);
        CASE(ESPL_READ_WORLD_SCALE, world);
        CASE(ESPL_READ_WORLD_POSE, world);
        CASE(ESPL_READ_WORLD_TRANSFORM, world);
    default: // GCOVR_EXCL_BR_LINE: there are no other kinds
        break;
    }
#undef CASE
}

// The pose that a kind reads of a node, where it is not stored as it reads.
static espl_pose computed_pose_of(const espl__forest *forest, uint32_t slot, espl_read_kind kind)
{
    switch (parts[kind].of) {
    case OF_SHOWN:
        return espl__shown_world(forest, slot);
    case OF_PREVIOUS_LOCAL:
        return espl__previous_local(forest, slot);
    case OF_PREVIOUS_WORLD:
        return espl__previous_world(forest, slot);
    case OF_BEFORE_LOCAL:
        return espl__before_local(forest, slot);
    case OF_BEFORE_WORLD:
        return espl__before_world(forest, slot);
    default:
        ESPL_CHECK_FULL(parts[kind].of == OF_LOCAL);
        return kept_local_of(forest, slot);
    }
}

// Copy the part that a kind reads, where the pose is not stored as it reads.
static ESPL__APART void copy_computed(const espl_world *world, uint32_t slot, espl_read_kind kind,
                                      void *out)
{
    const espl__forest *const forest = &world->forest;

    if (parts[kind].of == OF_CELL) {
        const espl__cell cell = espl__cell_of(forest, slot);

        memcpy(out, &cell, sizeof cell);
        return;
    }
    if (parts[kind].of == OF_ABSOLUTE) {
        double position[3];

        espl__absolute_position(forest, slot, forest->world[slot].position, position);
        memcpy(out, position, sizeof position);
        return;
    }
    const espl_pose pose = computed_pose_of(forest, slot, kind);

    copy_part(world, slot, &pose, &parts[kind], out);
}

// Copy the part that a kind reads, of any node. Preconditions: the slot was found, and the kind
// exists.
ESPL__INLINE void copy_kind(const espl_world *world, uint32_t slot, espl_read_kind kind, void *out)
{
    ESPL_CHECK_FULL(slot < world->forest.end && (unsigned)kind < ESPL_READ_KIND_COUNT);
    if (parts[kind].of != OF_WORLD &&
        (parts[kind].of != OF_LOCAL || espl__slot_is(&world->forest, slot, ESPL__SLOT_KEEPS))) {
        copy_computed(world, slot, kind, out);
    } else {
        copy_plain(world, slot, kind, out);
    }
}

// Sentences that several calls log with ESPL_ERR_ARGUMENT.
const char espl__no_out[] = "out is NULL.";
static const char *const no_kind = "kind is none of espl_read_kind.";
static const char *const no_cells = "The world has no cells (espl_world_def.cell_size).";

// Tell whether a world lacks what a kind reads.
static inline bool lacks_cells(const espl_world *world, espl_read_kind kind)
{
    return kind == ESPL_READ_CELL && !espl__forest_has_cells(&world->forest);
}

espl_status espl__read_as(const espl_world *world, const char *call, espl_entity entity,
                          espl_read_kind kind, void *out)
{
    uint32_t slot = 0;
    espl_status status = espl__find_to_read(world, entity, out, &slot);

    if (status == ESPL_OK && (unsigned)kind >= ESPL_READ_KIND_COUNT) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK && lacks_cells(world, kind)) {
        status = ESPL_ERR_UNSUPPORTED;
    }
    if (status == ESPL_OK) {
        copy_kind(world, slot, kind, out);
    }
    return espl__refuse_why(world, call, entity, status,
                            out == NULL                      ? espl__no_out
                            : status == ESPL_ERR_UNSUPPORTED ? no_cells
                                                             : no_kind);
}

// The slow path of a read of one entity: nodes with inherit flags, reads during a parallel write in
// checked builds, and refusals with their message. It repeats the lookup of the fast path, because
// these are rare.
static ESPL__APART espl_status read_slowly(const espl_world *world, espl_entity entity,
                                           espl_read_kind kind, void *out)
{
    const bool is_kind = (unsigned)kind < ESPL_READ_KIND_COUNT;

    return espl__read_as(world, is_kind ? parts[kind].call : "espl_read_one", entity, kind, out);
}

// Any read of one entity. Members with inherit flags and kinds of motion are left to read_slowly(), because
// a call in here would make every read save registers.
ESPL__INLINE espl_status read_at_once(const espl_world *world, espl_entity entity,
                                      espl_read_kind kind, void *out)
{
    uint32_t slot = 0;

    if (!find_at_once(world, &entity, out, &slot) || (unsigned)kind >= PRESENT_KINDS ||
        (parts[kind].of == OF_LOCAL && espl__slot_is(&world->forest, slot, ESPL__SLOT_KEEPS))) {
        return read_slowly(world, entity, kind, out);
    }
    copy_plain(world, slot, kind, out);
    return ESPL_OK;
}

espl_status espl_read_one(const espl_world *world, espl_entity entity, espl_read_kind kind,
                          void *out)
{
    return read_at_once(world, entity, kind, out);
}

// By name: without the jump of a kind, which costs 10 instructions of 46.

espl_status espl_get_local_position(const espl_world *world, espl_entity entity, float out[3])
{
    return read_at_once(world, entity, ESPL_READ_LOCAL_POSITION, out);
}

espl_status espl_get_local_rotation(const espl_world *world, espl_entity entity, float out[4])
{
    return read_at_once(world, entity, ESPL_READ_LOCAL_ROTATION, out);
}

espl_status espl_get_local_scale(const espl_world *world, espl_entity entity, float *out)
{
    return read_at_once(world, entity, ESPL_READ_LOCAL_SCALE, out);
}

espl_status espl_get_local_transform(const espl_world *world, espl_entity entity,
                                     espl_transform *out)
{
    return read_at_once(world, entity, ESPL_READ_LOCAL_TRANSFORM, out);
}

espl_status espl_get_stretch(const espl_world *world, espl_entity entity, float out[3])
{
    return read_at_once(world, entity, ESPL_READ_STRETCH, out);
}

espl_status espl_get_user_data(const espl_world *world, espl_entity entity, uint32_t *out)
{
    return read_at_once(world, entity, ESPL_READ_USER_DATA, out);
}

espl_status espl_get_world_position(const espl_world *world, espl_entity entity, float out[3])
{
    return read_at_once(world, entity, ESPL_READ_WORLD_POSITION, out);
}

espl_status espl_get_world_rotation(const espl_world *world, espl_entity entity, float out[4])
{
    return read_at_once(world, entity, ESPL_READ_WORLD_ROTATION, out);
}

espl_status espl_get_world_scale(const espl_world *world, espl_entity entity, float *out)
{
    return read_at_once(world, entity, ESPL_READ_WORLD_SCALE, out);
}

espl_status espl_get_world_transform(const espl_world *world, espl_entity entity,
                                     espl_transform *out)
{
    return read_at_once(world, entity, ESPL_READ_WORLD_TRANSFORM, out);
}

espl_status espl_get_local_pose(const espl_world *world, espl_entity entity, espl_pose *out)
{
    return read_at_once(world, entity, ESPL_READ_LOCAL_POSE, out);
}

espl_status espl_get_world_pose(const espl_world *world, espl_entity entity, espl_pose *out)
{
    return read_at_once(world, entity, ESPL_READ_WORLD_POSE, out);
}

// --- What is read of many entities ---

// A read of many entities, and its result. An entity that is refused leaves its output unchanged
// and does not end the call; the first one gives the call its status and its message.
typedef struct many {
    const espl_world *world;
    espl__handles handles;
    unsigned char *out; // [count] outputs, `stride` bytes from one to the next
    size_t stride;
    espl_read_kind kind;
    espl_status *statuses; // [count] of those that are refused; may be NULL
    espl_status status;    // of the first that is refused, or ESPL_OK
    size_t refused;        // its number
} many;

// Read one entity that the fast path could not, by the checks of a single read. Notes the first
// refusal.
static ESPL__APART void read_checked(many *m, size_t number)
{
    const espl_entity entity = espl__handle_at(&m->handles, number);
    unsigned char *const out = m->out + number * m->stride;
    uint32_t slot = 0;
    const espl_status status = espl__find_to_read(m->world, entity, out, &slot);

    if (status == ESPL_OK) {
        copy_kind(m->world, slot, m->kind, out);
        return;
    }
    if (m->status == ESPL_OK) {
        m->status = status;
        m->refused = number;
    }
    if (m->statuses != NULL) {
        m->statuses[number] = status;
    }
}

// Read entities [begin, end). The kind is a parameter beside m->kind, so that it is a constant where
// the caller passes one.
ESPL__INLINE void read_range(many *m, const espl__registry *registry, size_t begin, size_t end,
                             espl_read_kind kind)
{
    const espl_world *const world = m->world;
    const espl__handles handles = m->handles;
    const bool is_checked = ESPL_CHECKS >= 1 && espl__is_parallel(world);
    const size_t stride = m->stride;
    unsigned char *const out = m->out;

    for (size_t i = begin; i < end; ++i) {
        uint32_t slot = 0;

        if (espl__registry_find(registry, espl__handle_at(&handles, i), &slot) && !is_checked) {
            copy_kind(world, slot, kind, out + i * stride);
        } else {
            read_checked(m, i);
        }
    }
}

static const char *const bad_stride =
    "out_stride is less than the size of what the kind reads, or no multiple of 4.";

// Tell whether outputs at a stride do not overlap and are aligned. 4 is the alignment of every
// part. Precondition: the kind exists.
static bool is_stride_of(espl_read_kind kind, size_t stride)
{
    return stride >= parts[kind].pose_size + parts[kind].extra_size && stride % 4 == 0;
}

// Find what is wrong with the arguments: the first of kind, pointers, stride of the outputs, stride
// of the handles. A count of 0 allows NULL pointers, but the kind and the strides are checked all
// the same, so that a wrong call is found before its array has entries. NULL: nothing is wrong.
static const char *find_read_fault(espl__handles handles, size_t count, const void *out,
                                   size_t out_stride, espl_read_kind kind)
{
    if ((unsigned)kind >= ESPL_READ_KIND_COUNT) {
        return no_kind;
    }
    if (count != 0 && handles.first == NULL) {
        return "entities is NULL, but the count is not 0.";
    }
    if (count != 0 && out == NULL) {
        return "out is NULL, but the count is not 0.";
    }
    if (!is_stride_of(kind, out_stride)) {
        return bad_stride;
    }
    return handles.stride < sizeof(espl_entity) || handles.stride % _Alignof(espl_entity) != 0
               ? "entity_stride is less than the size of an espl_entity, or no multiple of 4."
               : NULL;
}

// Log the first entry that was refused. Precondition: m->status is a refusal. A read of a hierarchy
// of another job traps as well.
static ESPL__APART void refuse_read_entry(const many *m, size_t count)
{
    const espl_entity entity = espl__handle_at(&m->handles, m->refused);
    const espl__mention named = {"entity", entity};
    espl__message message;
    char entry[64];

    (void)snprintf(entry, sizeof entry, "entry %zu of %zu", m->refused, count);
#if ESPL_CHECKS >= 1
    if (m->status == ESPL_ERR_NOT_OWNER) {
        (void)espl__refuse_trespass(m->world, "espl_read_strided", &named, 1, entry);
        return;
    }
#endif
    if (espl__refusal_begin(&message, m->world, "espl_read_strided", NULL, m->status)) {
        espl__message_part(&message, "%s", entry);
        espl__message_entity(&message, named.role, named.entity);
        espl__refusal_send(&message, m->world, m->status, NULL);
    }
}

// The array of poses that a kind reads from.
static inline const espl_pose *stored_poses(const espl__forest *forest, espl_read_kind kind)
{
    const espl_pose *const *const poses = (const espl_pose *const *)forest->tracks.poses;

    switch (parts[kind].of) {
    case OF_LOCAL:
        return forest->local;
    case OF_SHOWN:
        return poses[ESPL__SHOWN] != NULL ? poses[ESPL__SHOWN] : forest->world;
    case OF_PREVIOUS_LOCAL:
    case OF_BEFORE_LOCAL:
        return poses[ESPL__PREVIOUS] != NULL ? poses[ESPL__PREVIOUS] : forest->local;
    default:
        return forest->world;
    }
}

// Read all entities: at once where records and poses fit the second-level cache, because prefetches
// would be half of the work. Else in blocks: while one block is read, the poses of the next one and
// the records of the one after it come from memory. Inlined once for each kind that has a loop of its
// own.
ESPL__INLINE void read_all(many *m, size_t count, espl_read_kind kind)
{
    enum { BLOCK = 32, NEAR_BYTES = 1 << 20 };
    const espl__registry registry = espl__registry_of(m->world);
    const espl__handles handles = m->handles;
    const espl__forest *const forest = &m->world->forest;
    const espl_pose *const poses = stored_poses(forest, kind);
    const bool is_near = registry.count * (sizeof *registry.records + sizeof *poses) <= NEAR_BYTES;
    const size_t block = is_near ? count : BLOCK;
    size_t record = 0, pose = 0; // the next ones to prefetch

    for (size_t begin = 0; begin < count; begin += block) {
        for (; !is_near && record < count && record < begin + 3 * block; ++record) {
            espl__registry_ask(&registry, espl__handle_at(&handles, record));
        }
        for (; !is_near && pose < count && pose < begin + 2 * block; ++pose) {
            const espl_entity entity = espl__handle_at(&handles, pose);

            espl__registry_ask_element(&registry, entity, poses, sizeof *poses);
            if (parts[kind].of == OF_LOCAL || parts[kind].extra_size != 0) {
                espl__registry_ask_element(&registry, entity, forest->flags, sizeof *forest->flags);
            }
        }
        read_range(m, &registry, begin, count - begin < block ? count : begin + block, kind);
    }
}

static ESPL__APART void read_all_worlds(many *m, size_t count)
{
    read_all(m, count, ESPL_READ_WORLD_TRANSFORM);
}

espl_status espl_read_strided(const espl_world *world, espl_read_kind kind,
                              const espl_entity *entities, size_t count, size_t entity_stride,
                              void *out, size_t out_stride)
{
    many m = {.world = world,
              .handles = {(const unsigned char *)entities, entity_stride},
              .out = out,
              .stride = out_stride,
              .kind = kind};
    const char *const fault = find_read_fault(m.handles, count, out, out_stride, kind);

    if (world == NULL || fault != NULL) {
        return espl__refuse_call(world, "espl_read_strided", ESPL_ERR_ARGUMENT, fault);
    }
    if (lacks_cells(world, kind)) {
        return espl__refuse_call(world, "espl_read_strided", ESPL_ERR_UNSUPPORTED, no_cells);
    }
    // The two that are read daily have loops of their own.
    if (kind == ESPL_READ_WORLD_TRANSFORM) {
        read_all_worlds(&m, count);
    } else if (kind == ESPL_READ_WORLD_POSITION) {
        read_all(&m, count, ESPL_READ_WORLD_POSITION);
    } else {
        read_all(&m, count, kind);
    }
    if (m.status != ESPL_OK) {
        refuse_read_entry(&m, count);
    }
    return m.status != ESPL_OK ? ESPL_PARTLY : ESPL_OK;
}

bool espl__read_worlds(const espl_world *world, espl__handles handles, size_t count,
                       espl_transform *out, espl_status *statuses)
{
    many m = {.world = world,
              .handles = handles,
              .out = (unsigned char *)out,
              .stride = sizeof *out,
              .kind = ESPL_READ_WORLD_TRANSFORM,
              .statuses = statuses};

    memset(statuses, 0, count * sizeof *statuses);
    read_all_worlds(&m, count);
    return m.status == ESPL_OK;
}

// --- What is read of the rows of a query ---

// Find what is wrong with the arguments of a read of rows, or NULL. `out` is required also where no
// chunk is at hand, so that the mistake does not depend on the rows.
static const char *find_rows_fault(espl_read_kind kind, const void *out, size_t out_stride)
{
    if ((unsigned)kind >= ESPL_READ_KIND_COUNT) {
        return no_kind;
    }
    return out == NULL ? espl__no_out : is_stride_of(kind, out_stride) ? NULL : bad_stride;
}

// The rows need no checks of handles, because a query keeps the world busy: no row is added or
// removed while it is open. The rows of a parallel write belong to the job that reads them.
espl_status espl_query_read_transforms(const espl_query *query, espl_read_kind kind, void *out,
                                       size_t out_stride)
{
    static const char *const call = "espl_query_read_transforms";
    const espl_world *const world = query != NULL ? query->state.world : NULL;
    const char *const fault = find_rows_fault(kind, out, out_stride);

    if (world == NULL || fault != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, fault);
    }
    if (query->count != 0 && !espl__query_is_open(query)) {
        espl__trap_ended(world, call, "query");
        return ESPL_ERR_ARGUMENT;
    }
    if (query->count != 0 && query->slots == NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_NO_TRANSFORM, NULL);
    }
    if (lacks_cells(world, kind)) {
        return espl__refuse_call(world, call, ESPL_ERR_UNSUPPORTED, no_cells);
    }
    for (size_t row = 0; row < query->count; ++row) {
        copy_kind(world, query->slots[row], kind, (unsigned char *)out + row * out_stride);
    }
    return ESPL_OK;
}

// Has no status: 0 for a handle that names no living entity, as for a node without flags.
uint32_t espl_get_inherit(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? 0 : espl__slot_kept(&world->forest, slot).flags;
}
