// SPDX-License-Identifier: MIT
// What a scheme of transform hierarchies must offer to run in the course. A call carries the work
// of a whole frame, so that no scheme pays for the course's indirection node by node.
#ifndef ESPALIER_BENCH_SCHEME_H
#define ESPALIER_BENCH_SCHEME_H

#include "bench/forest.h"
#include "bench/schemes/motion.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How a scheme names a node, in 64 bits of its own choosing. Handles are looked up before the
/// clock starts: a user of a scheme holds handles, not numbers.
typedef uint64_t scheme_handle;

/// Nodes of the prefab that the loads `spawn` and `battle` make: a node with two children.
#define PREFAB_SIZE 3

/// All nodes and what a scheme keeps about them. Each scheme's own struct.
struct scheme_world;

/// A node gets a new local.
struct scheme_write {
    scheme_handle node;
    struct pose local;
};

/// A node gets a new local and another one's world is read at once.
struct scheme_probe {
    scheme_handle written;
    scheme_handle read;
    struct pose local;
};

/// A prefab appears under a parent; its first node gets the local.
struct scheme_spawn {
    scheme_handle parent;
    struct pose local;
};

/// One frame of the load `spawn`. The doomed are first nodes of prefabs; the prefabs made do not
/// stand under them.
struct scheme_spawn_frame {
    const struct scheme_spawn *spawns; ///< [spawn_count]
    size_t spawn_count;
    const scheme_handle *doomed; ///< [doomed_count] destroyed with what is below them.
    size_t doomed_count;
    scheme_handle *made; ///< [spawn_count] out: first node of each prefab.
};

/// A leaf moves under another parent and keeps its local.
struct scheme_move {
    scheme_handle leaf;
    scheme_handle parent;
};

/// What the load `mixed` adds to a frame in which prefabs appear and are destroyed. Bits.
enum scheme_extra {
    EXTRA_VALUES = 1,           ///< Each instance gets a value for a component that the prefab has.
    EXTRA_NEW_VALUES = 2,       ///< Each instance gets a component that the prefab lacks.
    EXTRA_BEFORE = 4,           ///< Each instance appears before a sibling.
    EXTRA_COUNT = 8,            ///< Each command makes two instances.
    EXTRA_REFERENCES = 16,      ///< The prefab's first node refers to its first child.
    EXTRA_ATTACH = 32,          ///< A leaf of each touched tree gets another parent in that tree.
    EXTRA_WRITE = 64,           ///< A leaf of each touched tree gets a new local.
    EXTRA_PREFAB_STRETCH = 128, ///< The prefab's first node is stretched.
    EXTRA_STRETCH = 256,        ///< A node of each tree is stretched; it has children.
    EXTRA_FLAG = 512,           ///< A leaf of each tree keeps its world rotation.
};

/// One frame of the load `mixed`. The doomed are destroyed, then prefabs appear, then leaves move,
/// then nodes are written.
struct scheme_mixed_frame {
    struct scheme_spawn_frame spawning; ///< `made` has [copies * spawn_count].
    unsigned copies;                    ///< Instances of each spawn, all with its local.
    unsigned extras;                    ///< Bits of enum scheme_extra.
    const scheme_handle *befores;       ///< [spawn_count] sibling to appear before; NULL: last.
    const struct scheme_move *moves;    ///< [move_count]
    size_t move_count;
    const struct scheme_write *writes; ///< [write_count]
    size_t write_count;
};

/// What makes a node exceptional.
enum scheme_exception {
    EXCEPTION_FLAG,      ///< It keeps its world rotation, whatever its parent does.
    EXCEPTION_STRETCH,   ///< It has a scale per axis, which its children see.
    EXCEPTION_BARE,      ///< It has no transform.
    EXCEPTION_CONTEXT,   ///< It has a word of user data.
    EXCEPTION_DESTROYED, ///< It was destroyed; it was a leaf.
};

/// A gun fires: an effect appears under it, and a bullet without a parent where the gun is.
struct scheme_shot {
    scheme_handle gun;
    struct pose effect; ///< Local of the effect's first node.
    struct pose bullet; ///< World of the bullet. Out: its position, which is that of the gun before
                        ///< anything moves; the rest is given.
    bool is_large;      ///< The effect is a prefab, otherwise its first node alone.
};

/// One frame of the load `battle`: guns are read, then ships and bullets move, then the doomed go
/// and the shots appear.
struct scheme_battle_frame {
    const struct scheme_write *ships; ///< [ship_count] roots.
    size_t ship_count;
    const struct scheme_write *bullets; ///< [bullet_count]
    size_t bullet_count;
    const scheme_handle *doomed; ///< [doomed_count] effects, by their first nodes, and bullets.
    size_t doomed_count;
    struct scheme_shot *shots; ///< [shot_count]
    size_t shot_count;
    scheme_handle *effects_made; ///< [shot_count] out: first nodes.
    scheme_handle *bullets_made; ///< [shot_count] out
};

/// What the load `values` does with a world as a value, in this order.
enum scheme_value {
    VALUE_COPY, ///< Its image is copied to bytes that were written before: what others are compared with.
    VALUE_FRESH,   ///< The same to memory that is taken for it and given back.
    VALUE_SAVE,    ///< It is saved as an image.
    VALUE_LOAD,    ///< It loads this image, which is trusted.
    VALUE_CHECKED, ///< The same with all checks.
    VALUE_WRITE,   ///< Its hierarchies are written as an archive.
    VALUE_READ,    ///< Another world, which is empty, reads this archive.
    VALUE_COUNT,
};

/// A node that swings in every frame of the load `animate`.
struct scheme_swing {
    scheme_handle node;
    struct swing swing;
};

/// A root that goes on in every frame of the load `roots`.
struct scheme_velocity {
    scheme_handle node;
    struct velocity velocity;
};

/// What a scheme keeps account of from now on.
enum scheme_tracking {
    TRACK_NOTHING,
    TRACK_WORLDS,       ///< Which worlds change.
    TRACK_OWN,          ///< Which worlds change, and which nodes are written.
    TRACK_MOTION,       ///< Where nodes were when the last tick began.
    TRACK_HISTORY,      ///< What the world was at the end of each of the last 8 moments.
    TRACK_HASHES,       ///< The same, with a checksum of each.
    TRACK_COUNTERPARTS, ///< Which nodes are written, for another world that has all nodes too.
    TRACK_MIRRORS,      ///< All worlds, for a reader on another thread.
    TRACK_RENDERABLES,  ///< All worlds with boxes around them, for a reader on the same thread.
};

/// What is drawn of a node: a box around it in its own axes, and a key that draws share.
struct scheme_look {
    float half[3];
    uint32_t key; ///< Below 4,096.
};

enum { SCHEME_PLANES = 6, SCHEME_KEYS = 4096 };

/// A camera. A node is visible where, for each plane p, with center c and half h of the box along the
/// axes of the world around its box,
///
///     ((p[0] * c[0] + p[1] * c[1]) + p[2] * c[2]) + p[3]
///         + ((|p[0]| * h[0] + |p[1]| * h[1]) + |p[2]| * h[2]) >= 0
struct scheme_camera {
    float planes[SCHEME_PLANES][4];
};

/// What a camera sees: matrices of 3 rows of 4, those of a key one after another, keys in ascending order.
struct scheme_sight {
    float (*matrices)[12]; ///< Room for those of all nodes.
    size_t count;          ///< Out.
};

/// The nodes whose worlds changed since the last look, and perhaps others. Valid until the next one.
struct scheme_changes {
    const void *nodes;  ///< [count] handles, which need not be aligned.
    const void *worlds; ///< [count] poses, each at the begin of `stride` bytes.
    size_t stride;
    size_t count;
};

/// Bytes of a scheme, valid until its next call.
struct scheme_bytes {
    const void *bytes; ///< [size]
    size_t size;
};

/// Most parts of a frame that a scheme tells apart.
#define SCHEME_PART_LIMIT 32

/// Part of a frame, and the time it took.
struct scheme_part {
    const char *name;   ///< One word, never released.
    double nanoseconds; ///< 0: not measured.
};

/// One way to keep transform hierarchies. After every call that writes, all worlds are current as
/// far as `copy_worlds` and the readers can tell. A call may be NULL where the scheme has no
/// affordable way to do it: it then sits that load out. No call can fail: a scheme that cannot go
/// on ends the program.
struct scheme {
    const char *name;
    const char *summary; ///< One line for --list.
    bool is_deferred;    ///< A read in the middle of a frame costs a propagation of everything.
    bool is_variant;     ///< Of another scheme: only for loads that set one against the other.
    unsigned extras;     ///< Bits of enum scheme_extra that the scheme can play.
    unsigned exceptions; ///< Bits 1 << enum scheme_exception that the scheme can play.

    /// Return the most workers it can use; NULL: 1.
    unsigned (*worker_limit)(void);

    /// Build a world from scratch, node by node, from parents and locals.
    struct scheme_world *(*create)(const struct forest *forest, unsigned workers);
    /// Build copies of one tree, each copy's root with a local of its own. [copies] root_locals.
    struct scheme_world *(*create_copies)(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers);
    void (*destroy)(struct scheme_world *world);

    /// Return the handle of a node of the forest by its number.
    scheme_handle (*handle_of)(struct scheme_world *world, uint32_t node);
    /// Copy out the worlds of the forest's nodes, the first count by number. [count] out.
    void (*copy_worlds)(struct scheme_world *world, struct pose *out, size_t count);
    /// Return the world of any node.
    struct pose (*world_of)(struct scheme_world *world, scheme_handle node);
    /// Return the bytes allocated for nodes, all-in.
    size_t (*bytes)(const struct scheme_world *world);

    /// Give nodes new locals, in order; then all worlds are current.
    void (*write)(struct scheme_world *world, const struct scheme_write *writes, size_t count);
    /// The same by one immediate call after the other, whatever the number of workers.
    void (*write_each)(struct scheme_world *world, const struct scheme_write *writes, size_t count);
    /// The same as one batch.
    void (*write_batch)(struct scheme_world *world, const struct scheme_write *writes,
                        size_t count);
    /// The same, each collected in a list by a call of its own, then written as one batch.
    void (*write_listed)(struct scheme_world *world, const struct scheme_write *writes,
                         size_t count);
    /// The same, each recorded as a command by one thread, then played.
    void (*write_played)(struct scheme_world *world, const struct scheme_write *writes,
                         size_t count);
    /// Give nodes new local positions, each node at most once, in order of their numbers, as a batch
    /// where the scheme has batches; then all worlds are current. [count] each.
    void (*write_positions)(struct scheme_world *world, const scheme_handle *nodes,
                            const float (*positions)[3], size_t count);
    /// Write and read, probe by probe. [count] out.
    void (*probe)(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out);

    /// Set the locals of the prefab's nodes, once, before the first spawn.
    void (*make_prefab)(struct scheme_world *world, const struct pose locals[PREFAB_SIZE]);
    /// Carry one frame out; then all worlds are current.
    void (*spawn)(struct scheme_world *world, const struct scheme_spawn_frame *frame);
    /// The same by one immediate call after the other, whatever the number of workers.
    void (*spawn_each)(struct scheme_world *world, const struct scheme_spawn_frame *frame);
    /// Add to the prefab what extras need, once, after make_prefab. NULL: the scheme has none of it.
    void (*extend_prefab)(struct scheme_world *world, unsigned extras);
    /// Carry one frame of `mixed` out; then all worlds are current.
    void (*mix)(struct scheme_world *world, const struct scheme_mixed_frame *frame);
    /// Make nodes exceptional, by a kind that the scheme can play. NULL: nothing to do.
    void (*except)(struct scheme_world *world, enum scheme_exception kind,
                   const scheme_handle *nodes, size_t count);
    /// Carry one frame of `battle` out; then all worlds are current.
    void (*battle)(struct scheme_world *world, const struct scheme_battle_frame *frame);
    /// Copy out the worlds of one prefab made.
    void (*spawn_worlds)(struct scheme_world *world, scheme_handle made,
                         struct pose out[PREFAB_SIZE]);

    /// Move leaves, in order; then all worlds are current.
    void (*reparent)(struct scheme_world *world, const struct scheme_move *moves, size_t count);
    /// The same by one immediate call after the other.
    void (*reparent_each)(struct scheme_world *world, const struct scheme_move *moves,
                          size_t count);
    /// The same, with each move recorded as a command and played alone.
    void (*reparent_played)(struct scheme_world *world, const struct scheme_move *moves,
                            size_t count);

    /// Lay memory out in order, as a user may have it done when there is time. Handles stay. NULL:
    /// there is no such thing.
    void (*tidy)(struct scheme_world *world);

    /// Detach leaves and attach them, in order, each at once: a leaf stands by itself in between.
    void (*regraft)(struct scheme_world *world, const struct scheme_move *moves, size_t count);
    /// The same, with each step recorded as a command and played alone.
    void (*regraft_played)(struct scheme_world *world, const struct scheme_move *moves,
                           size_t count);

    /// Give members swings, once, before the first frame of `animate`, each member at most one.
    void (*set_swings)(struct scheme_world *world, const struct scheme_swing *swings, size_t count);
    /// Give whoever swings the local of a phase; then all worlds are current.
    void (*animate)(struct scheme_world *world, float phase);
    /// Give roots velocities, once, before the first frame of `roots`, each root at most one.
    void (*set_velocities)(struct scheme_world *world, const struct scheme_velocity *velocities,
                           size_t count);
    /// Add to the position of every root its velocity; then all worlds are current.
    void (*move_roots)(struct scheme_world *world);

    /// Keep account of changes, once, from now on.
    void (*track)(struct scheme_world *world, enum scheme_tracking tracking);
    /// Give nodes new locals, each at most once; then all worlds are current. For worlds that are
    /// tracked.
    void (*change)(struct scheme_world *world, const struct scheme_write *writes, size_t count);
    /// Return what changed since the last collect, or since tracking began.
    struct scheme_changes (*collect)(struct scheme_world *world);
    /// End the moment at hand: collect what changed, end a tick and begin the next one, or mark the world.
    void (*advance)(struct scheme_world *world);
    /// Make the world what it was so many moments ago, at most 8. For worlds that keep a history.
    void (*rewind)(struct scheme_world *world, unsigned moments);
    /// Write what was written since the last repeat to the other world too.
    void (*repeat)(struct scheme_world *world);
    /// Return the number of a node of the forest.
    uint32_t (*number_of)(struct scheme_world *world, scheme_handle node);
    /// Carry out one tick that gives nodes new locals, each at most once; then compute the worlds that
    /// are shown at a time between its begin, 0, and its end, 1.
    void (*tick)(struct scheme_world *world, const struct scheme_write *writes, size_t count,
                 float at);
    /// Copy out the shown worlds of the forest's nodes, the first count by number. [count] out.
    void (*copy_shown)(struct scheme_world *world, struct pose *out, size_t count);

    /// Give each node a look, once. [count] by number.
    void (*furnish)(struct scheme_world *world, const struct scheme_look *looks, size_t count);
    /// Bring what cameras are tested against up to date with the worlds. NULL: nothing to do.
    void (*refresh)(struct scheme_world *world);
    /// Find what cameras see. [count] each.
    void (*cull)(struct scheme_world *world, const struct scheme_camera *cameras,
                 struct scheme_sight *sights, size_t count);
    /// Publish all worlds for a reader on another thread. For worlds that are tracked so.
    void (*publish)(struct scheme_world *world);
    /// Copy out the worlds of the forest's nodes that were published last, the first count by number. [count] out.
    void (*copy_mirror)(struct scheme_world *world, struct pose *out, size_t count);

    /// Move the whole world by an offset; then all worlds are current.
    void (*shift)(struct scheme_world *world, const float offset[3]);
    /// Move the whole world by cells.
    void (*rebase)(struct scheme_world *world, const int32_t cells[3]);
    /// Bring what is far from its cell to the nearest one: nothing is.
    void (*recenter)(struct scheme_world *world);

    /// Make a value of the world, or the world from it.
    void (*value)(struct scheme_world *world, enum scheme_value what);
    /// Return the bytes of the archive.
    size_t (*archive_bytes)(const struct scheme_world *world);

    /// Write an archive of the world and the delta from the archive before; patch that one, and apply it to
    /// another world, which the first call makes. The same precision in every call.
    /// @param is_exact  false: on a grid of 0.1 mm, with rotations of 15 bits. @return the delta.
    struct scheme_bytes (*follow)(struct scheme_world *world, bool is_exact);

    /// Tell the parts of the last frame, the same in every frame of a case; a part called
    /// "structure" holds all that concerns structure in a frame that does other things too.
    /// [SCHEME_PART_LIMIT] out. @return how many; NULL: it tells none.
    size_t (*split)(const struct scheme_world *world, struct scheme_part *out);

    /// Add up the world positions of all nodes, in whatever order is cheapest.
    void (*sum_positions)(struct scheme_world *world, double sum[3]);
    /// Add up the world positions of these nodes, in this order.
    void (*read_positions)(struct scheme_world *world, const scheme_handle *nodes, size_t count,
                           double sum[3]);
};

extern const struct scheme scheme_batch;
extern const struct scheme scheme_celled;
extern const struct scheme scheme_clustered;
extern const struct scheme scheme_clustered_cull;
extern const struct scheme scheme_compare;
extern const struct scheme scheme_copied;
extern const struct scheme scheme_deferred;
extern const struct scheme scheme_depth_sweep;
extern const struct scheme scheme_dirty_stream;
extern const struct scheme scheme_eased;
extern const struct scheme scheme_espalier;
extern const struct scheme scheme_flat;
extern const struct scheme scheme_flat_cull;
extern const struct scheme scheme_gather;
extern const struct scheme scheme_linked;
extern const struct scheme scheme_onebyone;
extern const struct scheme scheme_recursive;
extern const struct scheme scheme_scalar_cull;
extern const struct scheme scheme_ticks;

/// From now on worlds of the library get threads that stay awake between calls.
void scheme_wake_espalier(void);

#endif
