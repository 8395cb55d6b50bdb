// SPDX-License-Identifier: MIT
// Schemes of culling, each a renderer's own store of boxes:
//
//     flat-cull       arrays of boxes, one SIMD pass over all of them, then a counting sort by key
//     scalar-cull     an array of boxes, one by one, which ends at the first plane that a box is outside of
//     gather          looks each entity up, tests its box and appends it to the list of its key
//     clustered-cull  lists of a key cut into clusters of 128 in the order of creation, each with a box around:
//                     clusters, then their members
//
// The worlds stand still. The last two have no sort, because their lists are of one key.
#include "bench/schemes/culls.h"

enum { WIDE = 8, CLUSTER = 128 };

typedef float wide __attribute__((vector_size(4 * WIDE)));
typedef int32_t wide_bits __attribute__((vector_size(4 * WIDE)));

// A list of nodes that grows.
struct key_list {
    uint32_t *nodes;
    size_t count, capacity;
};

// Nodes of one key, in the order of creation.
struct cull_cluster {
    struct cull_box around;
    uint32_t first; // of its members in the order of clusters, a multiple of WIDE
    uint32_t count, key;
};

struct scheme_world {
    size_t count;
    struct pose *worlds;       // [count]
    struct scheme_look *looks; // [count]
    struct cull_box *boxes;    // [count]
    // Of arrays, or of clusters: in the order `nodes`.
    size_t padded;
    float *rows[6]; // [padded]
    uint32_t *nodes;
    struct cull_cluster *clusters;
    size_t cluster_count;
    uint32_t *entities; // [count] places in the arrays, by node: a level of lookup
    uint32_t *visible;  // [padded]
    uint32_t *sorted;   // [padded]
    struct key_list lists[SCHEME_KEYS];
};

static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    struct scheme_world *const world = block_new(1, sizeof *world);

    (void)workers;
    memset(world, 0, sizeof *world);
    world->count = forest->count;
    world->worlds = block_new(forest->count, sizeof(struct pose));
    for (size_t i = 0; i < forest->count; ++i) {
        if (forest->parents[i] == NO_NODE) {
            world->worlds[i] = forest->locals[i];
        } else {
            pose_compose(&world->worlds[i], &world->worlds[forest->parents[i]], &forest->locals[i]);
        }
    }
    return world;
}

static void destroy(struct scheme_world *world)
{
    for (int i = 0; i < SCHEME_KEYS; ++i) {
        free(world->lists[i].nodes);
    }
    for (int k = 0; k < 6; ++k) {
        free(world->rows[k]);
    }
    free(world->worlds);
    free(world->looks);
    free(world->boxes);
    free(world->nodes);
    free(world->clusters);
    free(world->entities);
    free(world->visible);
    free(world->sorted);
    free(world);
}

static void copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    memcpy(out, world->worlds, count * sizeof *out);
}

static scheme_handle handle_of(struct scheme_world *world, uint32_t node)
{
    (void)world;
    return node;
}

static void furnish(struct scheme_world *world, const struct scheme_look *looks, size_t count)
{
    world->looks = block_copy(looks, count, sizeof *looks);
    world->boxes = block_new(count, sizeof *world->boxes);
    world->entities = block_new(count, sizeof *world->entities);
    world->padded = count + (size_t)SCHEME_KEYS * WIDE;
    world->visible = block_new(world->padded, sizeof *world->visible);
    world->sorted = block_new(world->padded, sizeof *world->sorted);
    for (size_t i = 0; i < count; ++i) {
        world->boxes[i] = cull_box_of(&world->worlds[i], looks[i].half);
        world->entities[i] = (uint32_t)i;
    }
}

static void take_rows(struct scheme_world *world)
{
    for (int k = 0; k < 6; ++k) {
        world->rows[k] = block_new(world->padded, sizeof(float));
        for (size_t i = 0; i < world->padded; ++i) {
            world->rows[k][i] = NAN; // a place without a node is never visible
        }
    }
    world->nodes = block_new(world->padded, sizeof *world->nodes);
}

static void set_row(const struct scheme_world *world, size_t at, uint32_t node)
{
    for (int k = 0; k < 3; ++k) {
        world->rows[k][at] = world->boxes[node].center[k];
        world->rows[3 + k][at] = world->boxes[node].half[k];
    }
    world->nodes[at] = node;
}

static void furnish_flat(struct scheme_world *world, const struct scheme_look *looks, size_t count)
{
    furnish(world, looks, count);
    take_rows(world);
    for (size_t i = 0; i < count; ++i) {
        set_row(world, i, (uint32_t)i);
    }
}

// --- Matrices ---

// Put visible nodes into the order of keys, and write their matrices.
static void write_by_key(struct scheme_world *world, size_t visible, struct scheme_sight *sight)
{
    static uint32_t starts[SCHEME_KEYS + 1];

    memset(starts, 0, sizeof starts);
    for (size_t i = 0; i < visible; ++i) {
        starts[world->looks[world->visible[i]].key + 1] += 1;
    }
    for (int key = 0; key < SCHEME_KEYS; ++key) {
        starts[key + 1] += starts[key];
    }
    for (size_t i = 0; i < visible; ++i) {
        world->sorted[starts[world->looks[world->visible[i]].key]++] = world->visible[i];
    }
    for (size_t i = 0; i < visible; ++i) {
        cull_matrix_of(sight->matrices[i], &world->worlds[world->sorted[i]]);
    }
    sight->count = visible;
}

// --- All boxes ---

static void cull_scalar(struct scheme_world *world, const struct scheme_camera *cameras,
                        struct scheme_sight *sights, size_t count)
{
    for (size_t camera = 0; camera < count; ++camera) {
        size_t visible = 0;

        for (size_t i = 0; i < world->count; ++i) {
            world->visible[visible] = (uint32_t)i;
            visible += cull_sees(&cameras[camera], &world->boxes[i]);
        }
        write_by_key(world, visible, &sights[camera]);
    }
}

// The loader chooses a clone before ThreadSanitizer, which instruments the choice, has begun.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_THREAD__)
#define WIDE_CODE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE_CODE
#endif

// Append the visible ones of the places [first, last), a multiple of WIDE, to a list of them.
WIDE_CODE static size_t cull_places(const struct scheme_world *world,
                                    const struct scheme_camera *camera, size_t first, size_t last,
                                    uint32_t *out)
{
    size_t found = 0;

    for (size_t i = first; i < last; i += WIDE) {
        wide row[6];
        wide_bits inside = (wide_bits){0} - 1;

        for (int k = 0; k < 6; ++k) {
            memcpy(&row[k], world->rows[k] + i, sizeof row[k]);
        }
        for (int n = 0; n < SCHEME_PLANES; ++n) {
            const float *const p = camera->planes[n];
            const wide d = ((p[0] * row[0] + p[1] * row[1]) + p[2] * row[2]) + p[3];
            const wide r = (fabsf(p[0]) * row[3] + fabsf(p[1]) * row[4]) + fabsf(p[2]) * row[5];

            inside &= d + r >= 0;
        }
        int64_t halves[WIDE / 2];

        memcpy(halves, &inside, sizeof halves);
        if ((halves[0] | halves[1] | halves[2] | halves[3]) == 0) {
            continue;
        }
        for (int j = 0; j < WIDE; ++j) {
            out[found] = world->nodes[i + (size_t)j];
            found += (size_t)(inside[j] & 1);
        }
    }
    return found;
}

static void cull_flat(struct scheme_world *world, const struct scheme_camera *cameras,
                      struct scheme_sight *sights, size_t count)
{
    const size_t last = (world->count + WIDE - 1) / WIDE * WIDE;

    for (size_t camera = 0; camera < count; ++camera) {
        const size_t visible = cull_places(world, &cameras[camera], 0, last, world->visible);

        write_by_key(world, visible, &sights[camera]);
    }
}

// --- Entities, one by one ---

static void append(struct key_list *list, uint32_t node)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity != 0 ? 2 * list->capacity : 64;
        list->nodes = realloc(list->nodes, list->capacity * sizeof *list->nodes);
        if (list->nodes == NULL) {
            course_fail("memory", "none left");
        }
    }
    list->nodes[list->count++] = node;
}

static void cull_gather(struct scheme_world *world, const struct scheme_camera *cameras,
                        struct scheme_sight *sights, size_t count)
{
    for (size_t camera = 0; camera < count; ++camera) {
        struct scheme_sight *const sight = &sights[camera];

        sight->count = 0;
        for (int key = 0; key < SCHEME_KEYS; ++key) {
            world->lists[key].count = 0;
        }
        for (size_t i = 0; i < world->count; ++i) {
            const uint32_t node = world->entities[i];
            const struct cull_box box = cull_box_of(&world->worlds[node], world->looks[node].half);

            if (cull_sees(&cameras[camera], &box)) {
                append(&world->lists[world->looks[node].key], node);
            }
        }
        for (int key = 0; key < SCHEME_KEYS; ++key) {
            for (size_t i = 0; i < world->lists[key].count; ++i) {
                cull_matrix_of(sight->matrices[sight->count++],
                               &world->worlds[world->lists[key].nodes[i]]);
            }
        }
    }
}

// --- Clusters of one key ---

static void extend(struct cull_cluster *cluster, const struct cull_box *box)
{
    for (int k = 0; k < 3; ++k) {
        const float low =
            cluster->count != 0 ? cluster->around.center[k] - cluster->around.half[k] : INFINITY;
        const float high =
            cluster->count != 0 ? cluster->around.center[k] + cluster->around.half[k] : -INFINITY;
        const float new_low = fminf(low, box->center[k] - box->half[k]);
        const float new_high = fmaxf(high, box->center[k] + box->half[k]);

        cluster->around.center[k] = (new_low + new_high) / 2;
        // A little more than all of them, so that rounding leaves none out.
        cluster->around.half[k] = (new_high - new_low) / 2 + 1e-3f;
    }
    cluster->count += 1;
}

static void furnish_clusters(struct scheme_world *world, const struct scheme_look *looks,
                             size_t count)
{
    size_t at = 0;

    furnish(world, looks, count);
    take_rows(world);
    world->clusters = block_new(count / CLUSTER + SCHEME_KEYS, sizeof *world->clusters);
    for (size_t i = 0; i < count; ++i) {
        append(&world->lists[looks[i].key], (uint32_t)i);
    }
    for (uint32_t key = 0; key < SCHEME_KEYS; ++key) {
        const struct key_list *const list = &world->lists[key];

        for (size_t i = 0; i < list->count; ++i) {
            struct cull_cluster *const last = &world->clusters[world->cluster_count];

            if (i % CLUSTER == 0) {
                at = (at + WIDE - 1) / WIDE * WIDE;
                *last = (struct cull_cluster){.first = (uint32_t)at, .key = key};
            }
            set_row(world, at++, list->nodes[i]);
            extend(last, &world->boxes[list->nodes[i]]);
            world->cluster_count += (i + 1) % CLUSTER == 0 || i + 1 == list->count;
        }
    }
}

static void cull_clusters(struct scheme_world *world, const struct scheme_camera *cameras,
                          struct scheme_sight *sights, size_t count)
{
    for (size_t camera = 0; camera < count; ++camera) {
        struct scheme_sight *const sight = &sights[camera];

        sight->count = 0;
        for (size_t i = 0; i < world->cluster_count; ++i) {
            const struct cull_cluster *const cluster = &world->clusters[i];
            const size_t last = cluster->first + (cluster->count + WIDE - 1) / WIDE * WIDE;

            if (!cull_sees(&cameras[camera], &cluster->around)) {
                continue;
            }
            const size_t found =
                cull_places(world, &cameras[camera], cluster->first, last, world->visible);

            for (size_t n = 0; n < found; ++n) {
                cull_matrix_of(sight->matrices[sight->count++], &world->worlds[world->visible[n]]);
            }
        }
    }
}

#define CULL_SCHEME(called, about, furnishes, culls)                                             \
    {                                                                                            \
        .name = called, .summary = about, .create = create, .destroy = destroy,                  \
        .handle_of = handle_of, .copy_worlds = copy_worlds, .furnish = furnishes, .cull = culls, \
    }

const struct scheme scheme_flat_cull =
    CULL_SCHEME("flat-cull", "arrays of boxes, one SIMD pass over all", furnish_flat, cull_flat);
const struct scheme scheme_scalar_cull =
    CULL_SCHEME("scalar-cull", "an array of boxes, one by one", furnish, cull_scalar);
const struct scheme scheme_gather =
    CULL_SCHEME("gather", "each entity is looked up, and appended to the list of its key", furnish,
                cull_gather);
const struct scheme scheme_clustered_cull =
    CULL_SCHEME("clustered-cull", "clusters of 128 of one key, in the order of creation",
                furnish_clusters, cull_clusters);
