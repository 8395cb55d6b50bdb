// SPDX-License-Identifier: MIT
// Scheme `recursive`: deferred; nodes in chunks, with a number per chunk that tells when locals were
// last written. An update goes depth first from every root: a node is recomputed where its chunk was
// written since the last one, or the node above it was recomputed, and a parent's world is loaded
// only once a node below it needs it. After the transform system of Unity's Entities package. The
// descent keeps parents on a stack of its own: see chunks.c.
#include "bench/schemes/chunks.h"

static void propagate(struct scheme_world *world)
{
    for (uint32_t root = world->first_root; root != NO_NODE;) {
        const struct chunk_down down = *down_at(world, root);
        const bool is_written = chunk_is_written(world, root);

        if (is_written) {
            *world_at(world, root) = *local_at(world, root);
        }
        if (down.first_child != NO_NODE) {
            is_written ? chunks_recompute_below(world, root) : chunks_search_below(world, root);
        }
        root = down.next_sibling;
    }
}

static const struct chunk_rules rules = {.propagate = propagate};

static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    (void)workers;
    return chunks_create(forest, &rules);
}

static struct scheme_world *create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers)
{
    (void)workers;
    return chunks_create_copies(tree, root_locals, copies, &rules);
}

const struct scheme scheme_recursive = {
    .name = "recursive",
    .summary = "deferred: chunks with change versions, depth first from the roots",
    .create = create,
    .create_copies = create_copies,
    CHUNKS_CALLS,
};
