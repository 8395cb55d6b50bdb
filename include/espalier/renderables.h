// SPDX-License-Identifier: MIT
/// @file
/// Renderables: boxes of what can be drawn, which of them cameras see, and a mirror for a render thread.
///
/// An entity is a renderable while it has ESPL_TRANSFORM and the components "bounds" and "renderable", and is
/// neither a prefab nor disabled. espl_renderables_update() reads what changed since the update before, and
/// publishes a mirror: all renderables as they are then, with their poses and world boxes. A mirror never
/// changes. espl_renderables_acquire() returns the newest one to the thread that draws, which culls it with
/// cameras of its own by espl_cull(). A frame is, in one thread:
///
///     espl_renderables_update(renderables, NULL, NULL);
///     const espl_mirror *mirror = espl_renderables_acquire(renderables);
///     espl_cull(visible, mirror, &camera, 1, NULL);
///     groups = espl_visible_groups(visible, 0, &count);
///     espl_visible_write(visible, 0, &arrays);
///
/// What is promised:
///
/// - The visible set is exact and the same everywhere: it follows from boxes, layers and cameras alone, and
///   depends neither on the number of workers, the kernels and the machine nor on how renderables are stored.
/// - An update costs what changed. It finds every change of the world: writes, structure, playbacks, rewinds
///   and loaded images. It looks at no renderable that rests.
/// - A reader neither waits nor sees a part of an update, and reads no world. A reader that stopped costs a
///   bounded amount of memory.
///
/// Thread rule: create, destroy, reserve, update and add_lods are changes of the world, and but for create and
/// destroy not structural: they are allowed while a query is open. All functions of mirrors and of results, and
/// espl_renderables_acquire(), belong to the reader: the thread that updates where espl_renderables_def.readers
/// is 0, and any one thread where it is 1. Several threads may cull one mirror, each with a result of its own.
#ifndef ESPALIER_RENDERABLES_H
#define ESPALIER_RENDERABLES_H

#include <espalier/jobs.h>
#include <espalier/transform.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espl_world espl_world;
/// The renderables of a world.
typedef struct espl_renderables espl_renderables;
/// All renderables as they were at one update. Read only.
typedef struct espl_mirror espl_mirror;
/// What cameras see: the memory of results, of one thread at a time.
typedef struct espl_visible espl_visible;

// --- Components ---

/// Value of the component "bounds": the local box, around the geometry in the axes of the entity. The world box
/// is the box along the world's axes around the local box under the ESPL_MATRIX_3X4 of the entity, so that
/// stretch and negative scales count. 24 bytes.
typedef struct espl_bounds {
    float center[3]; ///< units of the entity
    float half[3];   ///< half of the edges; not negative
} espl_bounds;

/// A key that is drawn by no camera.
#define ESPL_NO_KEY UINT32_MAX

/// Bits of espl_renderable.flags. A renderable with others is bad (espl_renderables_report.bad).
enum {
    /// The world box contains the boxes of all renderables below the entity as well, each as its bounds and its
    /// pose give it: for a skinned mesh, whose bones have small boxes and ESPL_NO_KEY. Bounds are found in
    /// double, so that a small union far from the origin has its size.
    ESPL_RENDERABLE_UNION = 1,
    /// Visible for each camera whose layers match, wherever the box is and however small: skies, models held in
    /// hands.
    ESPL_RENDERABLE_ALWAYS = 2,
};

/// Value of the component "renderable". 12 bytes.
typedef struct espl_renderable {
    uint32_t
        key; ///< what draws share: mesh, material, state; ESPL_NO_KEY: in the mirror, but never visible
    uint32_t user_data; ///< copied to results, never interpreted
    uint32_t flags;     ///< ESPL_RENDERABLE_ bits
} espl_renderable;

/// Bits of espl_layers.flags. Others are ignored.
enum {
    ESPL_LAYERS_ABSOLUTE = 1, ///< the parent's layers do not matter
};

/// Value of the component "layers", of any entity. The effective layers of an entity are its own mask AND the
/// effective layers of its parent. An entity without the component has its parent's; a root without it has all
/// bits. 8 bytes.
typedef struct espl_layers {
    uint32_t mask;
    uint32_t flags; ///< ESPL_LAYERS_ bits
} espl_layers;

// --- Renderables ---

/// How renderables are made. {0} is a good default. Grows into `reserved`.
typedef struct espl_renderables_def {
    uint32_t readers; ///< 0: the thread that updates also reads; 1: one other thread reads
    float
        cell_size; ///< edge of a cell of the spatial order, world units; 0: chosen at the first update
                   ///< that finds renderables. Not that of espl_world_def
    uint32_t refile_budget; ///< renderables that one update may move to another cluster; 0: 2,048.
                            ///< Newcomers of earlier updates besides: as many, or 256, and as many as come
    size_t user_size;       ///< bytes of the user in each mirror, at most 65,536
    uintptr_t reserved[6];  ///< Must be 0 (GROWTH in espalier(3)).
} espl_renderables_def;

/// Make the renderables of a world, and register the components "bounds", "renderable" and "layers" where the
/// world does not have them. A world has one at most. Structural. Destroy the renderables before the world.
///
/// @param def  NULL means {0}; read during the call alone.
/// @param out  unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL; a cell_size that is negative or not finite; a user_size above
///         65,536); ESPL_ERR_UNSUPPORTED (readers above 1, a word of `reserved` is not 0); ESPL_ERR_EXISTS (the
///         world has renderables, or a component of one of the names with another size); ESPL_ERR_LIMIT
///         (components); ESPL_ERR_NO_MEMORY; ESPL_ERR_BUSY. Components may be registered where
///         ESPL_ERR_NO_MEMORY is returned. O(size) in a world that marked no changes so far.
ESPL_API ESPL_NODISCARD espl_status espl_renderables_create(espl_world *world,
                                                            const espl_renderables_def *def,
                                                            espl_renderables **out);

/// Destroy renderables with their mirrors, which must not be read any more. NULL is allowed. The components
/// stay. Not while a query is open, commands are applied or in a job, where it does nothing, logs
/// (ESPL_LOG_ERROR), and traps in checked builds.
ESPL_API void espl_renderables_destroy(espl_renderables *renderables);

/// Reserve memory for updates of so many renderables in all. What changes between two updates needs no more
/// than that, unless the world grows beyond what it has memory for, or gets its first layers.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL); ESPL_ERR_LIMIT (2^30 renderables); ESPL_ERR_NO_MEMORY;
///         ESPL_ERR_BUSY while commands are applied and in jobs.
ESPL_API ESPL_NODISCARD espl_status espl_renderables_reserve(espl_renderables *renderables,
                                                             size_t count);

/// What an update did. Grows into `reserved`. `marked`, `rewritten`, `refiled`, `waiting`, `clusters` and
/// `moving` depend on the updates before, the other fields on the world and the mirror before alone.
typedef struct espl_renderables_report {
    size_t renderables;      ///< after the update
    size_t moving;           ///< members of the category of moving ones
    size_t clusters;         ///< after the update
    size_t marked;           ///< slots that were looked at
    size_t moved;            ///< renderables that stay, and whose pose differs
    size_t added, removed;   ///< renderables that came and went
    size_t rewritten;        ///< clusters whose poses were written anew
    size_t refiled, waiting; ///< renderables moved to another cluster; those to be moved later
    /// Entities that would be renderables, but a number of their components, world transform or world box is
    /// not finite, a half is negative, a flag is unknown, or the key has the highest bit, is not ESPL_NO_KEY and
    /// was not made by espl_renderables_add_lods(). No camera sees them.
    size_t bad;
    espl_entity first_bad; ///< of them the one with the lowest index; null: none
    uint64_t number;       ///< of the mirror: ascends by 1, from 1
    uintptr_t reserved[8]; ///< 0 (GROWTH in espalier(3)).
} espl_renderables_report;

/// Publish a mirror of the world as it is now. A change of the world that is not structural: allowed while a
/// query is open.
///
/// All or nothing: where memory lacks, the newest mirror stays, and the next update does the work.
///
/// @param user    [user_size] bytes that are copied into the mirror; NULL: zeros.
/// @param report  out: unchanged when refused; may be NULL.
/// @return ESPL_OK; ESPL_PARTLY: some entities are left out, see espl_renderables_report.bad;
///         ESPL_ERR_ARGUMENT (NULL); ESPL_ERR_LIMIT (2^30 renderables); ESPL_ERR_NO_MEMORY; ESPL_ERR_BUSY
///         while commands are applied and in jobs. O(what changed + size / 64).
ESPL_API espl_status espl_renderables_update(espl_renderables *renderables, const void *user,
                                             espl_renderables_report *report);

// --- Mirrors ---

/// Return the newest mirror, or NULL before the first update. It is valid until the next call by the reader, or
/// where readers is 0 until the next update. Never waits, takes no memory. The reader's thread.
ESPL_API const espl_mirror *espl_renderables_acquire(espl_renderables *renderables);

/// What a mirror has. Grows into `reserved`.
typedef struct espl_mirror_description {
    uint64_t number;       ///< of its update, from 1
    size_t renderables;    ///< in all clusters
    size_t clusters;       ///< upper bound of the numbers of clusters; some may be empty
    const void *user;      ///< [user_size] bytes of the update; valid as long as the mirror
    uintptr_t reserved[4]; ///< 0 (GROWTH in espalier(3)).
} espl_mirror_description;

/// Describe a mirror. @param out  all zero where the mirror is NULL or ended.
ESPL_API void espl_mirror_describe(const espl_mirror *mirror, espl_mirror_description *out);

/// Most renderables of a cluster.
#define ESPL_CLUSTER_SIZE 128

/// List the clusters whose renderables, values, poses or poses before differ from those of an earlier mirror:
/// one that came to rest is listed once more, and all of them after a rebase by cells. A cluster is a number
/// below espl_mirror_description.clusters, with up to ESPL_CLUSTER_SIZE renderables. One that has none any more
/// is listed as well.
/// @param since     number of an earlier mirror; 0: all clusters that have renderables.
/// @param capacity  numbers that `clusters` has room for.
/// @param clusters  out: [capacity] ascending; the first ones where there are more. NULL with a capacity of 0.
/// @return the number of all of them; 0 where the mirror is NULL or ended, or `since` is not below its number.
ESPL_API size_t espl_mirror_changed(const espl_mirror *mirror, uint64_t since, size_t capacity,
                                    uint32_t *clusters);

/// Form of the poses of instances.
typedef enum espl_instance_form {
    ESPL_INSTANCE_3X4 = 0,  ///< float[12]: 3 rows of 4, as ESPL_MATRIX_3X4
    ESPL_INSTANCE_4X4 = 1,  ///< float[16]: 4 columns of 4, as ESPL_MATRIX_4X4
    ESPL_INSTANCE_4X3 = 2,  ///< float[12]: 4 columns of 3
    ESPL_INSTANCE_POSE = 3, ///< float[8]: an espl_pose; stretch is left out
    ESPL_INSTANCE_FORM_COUNT
} espl_instance_form;

/// Where instances are written. Arrays that are NULL are not written. The memory may be mapped memory of a
/// device: it is written in ascending order, by workers each part of it, and never read. Grows into `reserved`.
typedef struct espl_instance_arrays {
    void *matrices; ///< poses in `form`
    size_t
        matrix_stride; ///< bytes from one to the next, a multiple of 4; 0: as many as the form has
    espl_instance_form form;
    void *previous; ///< the same of the mirror before, for motion vectors
    size_t previous_stride;
    espl_entity *entities;
    uint32_t *user_data;   ///< espl_renderable.user_data
    float *sizes;          ///< pixels on the image; written by espl_visible_write() alone
    int32_t (*cells)[3];   ///< of the hierarchies; 0 in a world without cells (espalier/far.h)
    /// Of the reader; used by espl_visible_write() alone, for what is expected to take 40 microseconds at
    /// least. NULL: serial.
    const espl_executor *executor;
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_instance_arrays;

/// Write all renderables of one cluster of a mirror, in the order of their places: those of a cluster that
/// espl_mirror_changed() does not list have the same places and values as before. A place past the last
/// renderable is not written.
/// @param count  out: the renderables that were written; may be NULL.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL, no such cluster, a stride that is too small or no multiple of 4,
///         no such form); ESPL_ERR_UNSUPPORTED (a word of `reserved` is not 0); ESPL_ERR_DEAD (the reader
///         acquired another mirror). The newest mirror may have the address of an older one, which is then not
///         refused.
ESPL_API espl_status espl_mirror_write(const espl_mirror *mirror, uint32_t cluster,
                                       const espl_instance_arrays *arrays, size_t *count);

// --- Levels of detail ---

/// Most levels of a key.
enum { ESPL_LOD_LIMIT = 8 };

/// A key that stands for up to 8 keys, by the size on the image. Grows into `reserved`.
typedef struct espl_lods {
    uint32_t keys[ESPL_LOD_LIMIT]; ///< level i while the size is at least sizes[i]
    float sizes[ESPL_LOD_LIMIT];   ///< pixels, descending; below the last one: not visible
    uint32_t count;                ///< of levels, from 1
    uintptr_t reserved[2];         ///< Must be 0 (GROWTH in espalier(3)).
} espl_lods;

/// Add a key with levels of detail, to be used in espl_renderable.key of later updates.
/// @param key  out: has its highest bit set, so that other keys must not have it. Unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL, a count of 0 or above 8, sizes that are not finite or ascend, a
///         key with the highest bit other than ESPL_NO_KEY); ESPL_ERR_UNSUPPORTED (a word of `reserved` is not
///         0); ESPL_ERR_LIMIT; ESPL_ERR_NO_MEMORY; ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_renderables_add_lods(espl_renderables *renderables,
                                                              const espl_lods *lods, uint32_t *key);

// --- Cameras ---

/// Most planes of a camera, and most cameras of one call of espl_cull().
enum { ESPL_PLANE_LIMIT = 8, ESPL_CAMERA_LIMIT = 64 };

/// Bits of espl_camera.flags.
enum {
    ESPL_CAMERA_ORTHOGRAPHIC = 1, ///< sizes do not depend on the distance
};

/// What one list of visible renderables answers to: a camera, a cascade of shadows, a face of a probe. {0} sees
/// nothing, because its layers are 0. Grows into `reserved`.
typedef struct espl_camera {
    float planes[ESPL_PLANE_LIMIT]
                [4];      ///< inside: x * p[0] + y * p[1] + z * p[2] + p[3] >= 0; unit normals
    uint32_t plane_count; ///< 0: everything is inside
    uint32_t layers;      ///< visible where an effective layer of the renderable is one of these
    double origin[3];     ///< subtracted from positions that are written
    float eye[3];         ///< for sizes
    float
        pixels; ///< height of the image in pixels / (2 * tan(vertical angle / 2)), orthographic: pixels
                ///< of a world unit; 0: there are no sizes, and levels of detail are the first
    float least_size; ///< pixels: renderables that are smaller are not visible; 0: all are
    uint32_t flags;   ///< ESPL_CAMERA_ bits
    /// In a world with cells planes, eye and origin are relative to the middle of this one. Without, it is 0.
    int32_t cell[3];
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_camera;

/// Depths of a clip space.
typedef enum espl_clip {
    ESPL_CLIP_ZERO_TO_ONE = 0,      ///< Vulkan, WebGPU, Direct3D, Metal; with reversed depths too
    ESPL_CLIP_MINUS_ONE_TO_ONE = 1, ///< OpenGL
    ESPL_CLIP_COUNT
} espl_clip;

/// Make a camera of the matrix from world to clip space: its planes, all layers, and no sizes. A plane without
/// a normal, as the far plane of an infinite projection is, is left out.
/// @param matrix  4 columns of 4.
/// @param out     unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL, no such clip); ESPL_ERR_NOT_FINITE.
ESPL_API espl_status espl_camera_from_matrix(const float matrix[16], espl_clip clip,
                                             espl_camera *out);

// --- Culling ---

/// Make the memory of results.
/// @param allocator  NULL: malloc and free. @param out  unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (out is NULL; one function of the allocator without the other);
///         ESPL_ERR_NO_MEMORY.
ESPL_API ESPL_NODISCARD espl_status espl_visible_create(const espl_allocator *allocator,
                                                        espl_visible **out);
/// Free the memory of results. NULL is allowed.
ESPL_API void espl_visible_destroy(espl_visible *visible);

/// Bits of espl_cull_def.flags.
enum {
    /// Poses are between the mirror before and this one, by espl_cull_def.alpha.
    ESPL_CULL_INTERPOLATE = 1,
    /// Renderables of a group ascend by entity index, so that the order depends on the world alone.
    ESPL_CULL_BY_ENTITY = 2,
};

/// How to cull. {0} is a good default. Grows into `reserved`.
typedef struct espl_cull_def {
    float alpha;                   ///< 0 to 1, with ESPL_CULL_INTERPOLATE: 0 is the mirror before
    uint32_t flags;                ///< ESPL_CULL_ bits
    /// Of the reader; NULL: serial. Steps that are expected to take less than 40 microseconds run on the
    /// calling thread, because to wake workers takes longer.
    const espl_executor *executor;
    uintptr_t reserved[4];         ///< Must be 0 (GROWTH in espalier(3)).
} espl_cull_def;

/// Visible renderables with one key, which follow each other in the order of espl_visible_write().
typedef struct espl_group {
    uint32_t key, first, count; ///< keys ascend; `first` counts from 0 for each camera
} espl_group;

/// Find what each camera sees. A renderable is visible if a layer matches, its key is not ESPL_NO_KEY, its box
/// is finite (between two mirrors: at both), it is not too small, and for each plane p of the camera
///
///     ((p[0] * cx + p[1] * cy) + p[2] * cz) + p[3] + ((|p[0]| * hx + |p[1]| * hy) + |p[2]| * hz) >= 0
///
/// in floats, in this order, where c and h are centre and half of the world box. In a world with cells these
/// are relative to the cell of the renderable, and p[3] is brought there (LARGE WORLDS in
/// espalier_renderables(3)).
///
/// @param visible  gets the result; the mirror must stay valid until it was written out.
/// @param cameras  [count]
/// @param def      NULL means {0}.
/// @return ESPL_OK; refused, and the result before stays: ESPL_ERR_ARGUMENT (NULL, more than 64 cameras or 8
///         planes, an unknown flag, pixels or a least size below 0, an alpha outside [0, 1]);
///         ESPL_ERR_NOT_FINITE; ESPL_ERR_UNSUPPORTED (a word of `reserved` is not 0; a cell other than 0 in a
///         world without cells); ESPL_ERR_NO_MEMORY; ESPL_ERR_DEAD (the mirror ended, see espl_visible_write());
///         ESPL_ERR_EXECUTOR, which checked builds do not trap, because a reader has no hooks.
ESPL_API espl_status espl_cull(espl_visible *visible, const espl_mirror *mirror,
                               const espl_camera *cameras, size_t count, const espl_cull_def *def);

/// Return the groups of a camera of the last espl_cull(), by key. Valid until the next one.
/// @param count  out: the number of groups, 0 where there is no such camera; not NULL.
ESPL_API const espl_group *espl_visible_groups(const espl_visible *visible, size_t camera,
                                               size_t *count);

/// Write what a camera sees, in the order of its groups. Poses are read from the mirror, which must be valid:
/// the reader did not acquire another one, where readers is 0 no update followed, and its renderables exist.
/// With more than 256 renderables at a time the library does not know it of some of them.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL, no such camera, a stride that is too small or no multiple of 4, no
///         such form); ESPL_ERR_UNSUPPORTED (a word of `reserved` is not 0); ESPL_ERR_DEAD (the mirror ended);
///         ESPL_ERR_EXECUTOR, as for espl_cull(): the arrays are written in part then.
ESPL_API espl_status espl_visible_write(const espl_visible *visible, size_t camera,
                                        const espl_instance_arrays *arrays);

#ifdef __cplusplus
}
#endif

#endif
