// SPDX-License-Identifier: MIT
// Inside of the scheme `espalier` and its variant: the world they share, and what their files call
// of each other.
#ifndef ESPALIER_BENCH_SCHEMES_ESPALIER_H
#define ESPALIER_BENCH_SCHEMES_ESPALIER_H

#include "bench/schemes/scheme.h"

#include "bench/blocks.h"

#include <espalier/espalier.h>

#include <string.h>

/// Where the time of a frame of structure, or of a parallel write, went, nanoseconds.
struct frame_times {
    double structure; ///< All that concerns structure, in a frame that does other things too.
    double record;
    double stages[ESPL_STAGE_COUNT];
    double rest; ///< Of playback, beside its stages.
    double resolve;
    double deal;    ///< Of a parallel write: dealing the rows out.
    double jobs;    ///< And the jobs.
    double roll;    ///< Of a tick: its begin.
    double write;   ///< And its writes.
    double present; ///< The shown worlds.
    double values[VALUE_COUNT];
    double mark, rewind;        ///< Of a history: the last of each.
    double collect, follow;     ///< Of another world: the collect, and with it the follow.
    double rebase;              ///< Of the whole world.
    double update;              ///< Of renderables.
    double delta, patch, apply; ///< Of the archive of a frame.
};

/// The world as a value.
struct kept_value {
    void *image, *copy; ///< [image_size] NULL: not made yet.
    size_t image_size;
    unsigned char *archive; ///< [archive_capacity]
    size_t archive_size, archive_capacity;
    espl_world *reader; ///< Of the archive: empty before a read.
};

/// An archive, or a delta.
struct sent_bytes {
    unsigned char *bytes; ///< [capacity] NULL: not made yet.
    size_t size, capacity;
};

/// Another world, which follows this one by deltas.
struct followed {
    espl_world *world;            ///< NULL: not made yet.
    espl_entity *entities;        ///< [nodes] in the order of the archive.
    struct sent_bytes last, next; ///< Archives of the last frame and this one.
    struct sent_bytes delta, patched, checked;
};

/// Copies of all worlds, one for the publisher, one for the reader and one between them.
enum { COPIES_OF_WORLDS = 3 };

struct scheme_world {
    espl_world *world;
    espl_executor executor;
    uint32_t workers;
    espl_entity *nodes; ///< [copies * tree_size] entities by number, once the copies are walked.
    espl_entity *roots; ///< [copies] of copies that nobody has walked yet, or NULL.
    size_t copies, tree_size;
    espl_command_buffer
        *commands; ///< Of the frames: a lane for each worker. NULL before the first.
    espl_entity prefab;
    espl_component payload; ///< struct payload, on all nodes of the prefab.
    espl_component extra;   ///< The same on no node of the prefab, in the load `mixed`.
    espl_entity single;     ///< Prefab of one node: small effects and bullets.
    espl_entity *pending;   ///< [pending_capacity] prefabs recorded in the frame at hand.
    size_t pending_capacity;
    espl_entity *batch_entities;  ///< [batch_capacity] of the batch at hand.
    espl_transform *batch_values; ///< [batch_capacity]
    float (*batch_vectors)[3];    ///< [batch_capacity]
    espl_write_list list;         ///< Writes of a frame, each of a kind of its own.
    size_t batch_count;           ///< Gathered so far.
    size_t batch_capacity;
    espl_component swing;      ///< struct swing, in the load `animate`.
    espl_component velocity;   ///< struct velocity, in the load `roots`.
    uint32_t *numbers;         ///< [number_count] number of a node by the index of its entity.
    size_t number_count;       ///< 0: not made yet.
    espl_pose *seen;           ///< [number_count] world at the last look, in the scheme `compare`.
    espl_entity *changed;      ///< [copies * tree_size] of the last look of this scheme.
    espl_pose *changed_worlds; ///< [copies * tree_size]
    espl_watch *watch;         ///< NULL: there is none.
    bool is_ticking;           ///< Between the begin and the end of a tick.
    struct kept_value kept;    ///< In the load `values`.
    espl_world *follower;      ///< With counterparts of all nodes. NULL: there is none.
    espl_history *history;     ///< NULL: there is none.
    uint64_t marked;           ///< Its newest frame.
    struct followed followed;  ///< In the load `deltas`.
    struct espl_renderables *renderables; ///< In the loads `cull` and `publish`; NULL: none yet.
    struct espl_visible *visible;
    espl_pose *copied[COPIES_OF_WORLDS]; ///< [copied_count] by slot, in the scheme `copied`.
    uint32_t copied_first, copied_count; ///< Slots of the nodes.
    uint32_t copied_turn;                ///< The copy that was published last.
    bool is_shifted;                     ///< In the load `far`, from the first shift on.
    struct frame_times times;            ///< Of the last frame.
};

/// Does items [begin, end) of a frame, recording in one lane.
typedef void (*lane_work)(espl_recorder *recorder, const struct scheme_world *world,
                          const void *frame, size_t begin, size_t end);

static inline void must(espl_status status, const char *call)
{
    if (status != ESPL_OK) {
        course_fail(call, espl_status_text(status));
    }
}

_Static_assert(sizeof(scheme_handle) == sizeof(espl_entity), "a handle holds an entity");

// A handle has the bytes of the entity, so that batches take entities from where the course has them.
static inline scheme_handle handle_from(espl_entity entity)
{
    scheme_handle handle;

    memcpy(&handle, &entity, sizeof handle);
    return handle;
}

static inline espl_entity entity_from(scheme_handle handle)
{
    espl_entity entity;

    memcpy(&entity, &handle, sizeof entity);
    return entity;
}

static inline const espl_entity *entities_at(const scheme_handle *handles)
{
    return (const espl_entity *)(const void *)handles;
}

static inline espl_transform transform_from(const struct pose *pose)
{
    const float *const r = pose->rotation;
    const float *const p = pose->position;

    return (espl_transform){
        {r[0], r[1], r[2], r[3]}, {p[0], p[1], p[2]}, pose->scale, {1, 1, 1}, 0};
}

static inline struct pose pose_from(const espl_transform *transform)
{
    const float *const r = transform->rotation;
    const float *const p = transform->position;

    return (struct pose){{r[0], r[1], r[2], r[3]}, {p[0], p[1], p[2]}, transform->scale};
}

static inline struct pose entity_world(const struct scheme_world *world, espl_entity entity)
{
    espl_transform transform;

    must(espl_get_world_transform(world->world, entity, &transform), "espl_get_world_transform");
    return pose_from(&transform);
}

static inline espl_attach_options keep_local_options(void)
{
    return (espl_attach_options){
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
}

/// Record items of a frame in the lanes of a commands object, equal shares in the order of the
/// lanes, so that playback has the order of the items.
void espalier_record(const struct scheme_world *world, espl_command_buffer *commands,
                     lane_work work, const void *frame, size_t count);
/// Play; a refused command ends the program.
espl_report espalier_play(const struct scheme_world *world, espl_command_buffer *commands);
/// Return the commands object of the frames, empty.
espl_command_buffer *espalier_frame_commands(struct scheme_world *world);
/// Give entities their locals and parents.
void espalier_plant(const struct scheme_world *world, const struct forest *forest,
                    const espl_entity *entities);
/// Replace pending handles by the entities they became.
void espalier_resolve(const espl_command_buffer *commands, espl_entity *entities, size_t count);

/// Have room for a batch of so many writes; those gathered stay.
void espalier_batch_reserve(struct scheme_world *world, size_t count);

/// Number the nodes by the indices of their entities.
void espalier_number(struct scheme_world *world);

// Calls of struct scheme.
struct scheme_world *espalier_create(const struct forest *forest, unsigned workers);
/// The same in a world with cells; a size of 0: without.
struct scheme_world *espalier_create_in_cells(const struct forest *forest, unsigned workers,
                                              float cell_size);
size_t espalier_count_bytes(const struct scheme_world *world);
void espalier_shift(struct scheme_world *world, const float offset[3]);
void espalier_destroy(struct scheme_world *world);
scheme_handle espalier_handle_of(struct scheme_world *world, uint32_t node);
uint32_t espalier_number_of(struct scheme_world *world, scheme_handle node);
void espalier_copy_worlds(struct scheme_world *world, struct pose *out, size_t count);
void espalier_write(struct scheme_world *world, const struct scheme_write *writes, size_t count);
void espalier_write_batch(struct scheme_world *world, const struct scheme_write *writes,
                          size_t count);
void espalier_make_prefab(struct scheme_world *world, const struct pose locals[PREFAB_SIZE]);
void espalier_spawn(struct scheme_world *world, const struct scheme_spawn_frame *frame);
void espalier_spawn_each(struct scheme_world *world, const struct scheme_spawn_frame *frame);
void espalier_extend_prefab(struct scheme_world *world, unsigned extras);
void espalier_mix(struct scheme_world *world, const struct scheme_mixed_frame *frame);
void espalier_except(struct scheme_world *world, enum scheme_exception kind,
                     const scheme_handle *nodes, size_t count);
void espalier_spawn_worlds(struct scheme_world *world, scheme_handle made,
                           struct pose out[PREFAB_SIZE]);
void espalier_battle(struct scheme_world *world, const struct scheme_battle_frame *frame);
void espalier_battle_one_by_one(struct scheme_world *world,
                                const struct scheme_battle_frame *frame);
void espalier_reparent(struct scheme_world *world, const struct scheme_move *moves, size_t count);
void espalier_reparent_each(struct scheme_world *world, const struct scheme_move *moves,
                            size_t count);
void espalier_reparent_played(struct scheme_world *world, const struct scheme_move *moves,
                              size_t count);
void espalier_write_listed(struct scheme_world *world, const struct scheme_write *writes,
                           size_t count);
void espalier_write_played(struct scheme_world *world, const struct scheme_write *writes,
                           size_t count);
void espalier_regraft(struct scheme_world *world, const struct scheme_move *moves, size_t count);
void espalier_regraft_played(struct scheme_world *world, const struct scheme_move *moves,
                             size_t count);
void espalier_set_swings(struct scheme_world *world, const struct scheme_swing *swings,
                         size_t count);
void espalier_animate(struct scheme_world *world, float phase);
void espalier_animate_one_by_one(struct scheme_world *world, float phase);
void espalier_animate_batch(struct scheme_world *world, float phase);
void espalier_set_velocities(struct scheme_world *world, const struct scheme_velocity *velocities,
                             size_t count);
void espalier_move_roots(struct scheme_world *world);
void espalier_move_roots_one_by_one(struct scheme_world *world);
void espalier_move_roots_batch(struct scheme_world *world);
void espalier_track(struct scheme_world *world, enum scheme_tracking tracking);
struct scheme_changes espalier_collect(struct scheme_world *world);
/// Make all nodes renderables, those of the prefab too, and publish the first mirror.
/// @param readers  on other threads: 0 or 1.
void espalier_begin_mirrors(struct scheme_world *world, uint32_t readers);
void espalier_publish(struct scheme_world *world);
void espalier_copy_mirror(struct scheme_world *world, struct pose *out, size_t count);
void espalier_advance(struct scheme_world *world);
void espalier_tick(struct scheme_world *world, const struct scheme_write *writes, size_t count,
                   float at);
void espalier_copy_shown(struct scheme_world *world, struct pose *out, size_t count);
/// Make a history, and mark the first frame.
void espalier_begin_history(struct scheme_world *world, bool has_checksums);
void espalier_mark(struct scheme_world *world);
void espalier_change(struct scheme_world *world, const struct scheme_write *writes, size_t count);
void espalier_rewind(struct scheme_world *world, unsigned frames);
/// Make another world with counterparts of all nodes, and the watch that it follows.
void espalier_begin_counterparts(struct scheme_world *world);
void espalier_repeat(struct scheme_world *world);
/// Compare both worlds, and end the other one. Does nothing where there is none.
void espalier_end_counterparts(struct scheme_world *world);
struct scheme_bytes espalier_follow(struct scheme_world *world, bool is_exact);
/// Free what espalier_follow() made.
void espalier_free_followed(struct scheme_world *world);
void espalier_furnish(struct scheme_world *world, const struct scheme_look *looks, size_t count);
void espalier_refresh(struct scheme_world *world);
void espalier_cull(struct scheme_world *world, const struct scheme_camera *cameras,
                   struct scheme_sight *sights, size_t count);
/// Free what espalier_furnish() made.
void espalier_free_culls(struct scheme_world *world);
void espalier_value(struct scheme_world *world, enum scheme_value what);
size_t espalier_archive_bytes(const struct scheme_world *world);
/// Free what espalier_value() made.
void espalier_free_values(struct scheme_world *world);
size_t espalier_split(const struct scheme_world *world, struct scheme_part *out);

#endif
