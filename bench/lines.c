// SPDX-License-Identifier: MIT
// Calls that touch one node each, of trees that lie apart in memory, for valgrind to list what each of
// them loads and stores: see lines.sh. The first line of output has the address of a byte that is
// stored to before and after each call.
//
//     lines leaf|inner|root|read
#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = 8, SIZE = 100, FAN = 3, NODES = TREES * SIZE };

static volatile unsigned char mark;
static espl_transform local, seen;

static void must(espl_status status, const char *call)
{
    if (espl_failed(status)) {
        fprintf(stderr, "lines: %s was refused\n", call);
        exit(3);
    }
}

static void plant(espl_world *world, espl_entity *nodes)
{
    const espl_component transform = ESPL_TRANSFORM;

    must(espl_create(world, &transform, 1, NODES, nodes), "espl_create");
    for (unsigned i = 0; i < NODES; ++i) {
        const unsigned rank = i % SIZE;

        if (rank != 0) {
            must(espl_attach(world, nodes[i], nodes[i - rank + (rank - 1) / FAN], NULL),
                 "espl_attach");
        }
    }
    must(espl_compact(world), "espl_compact");
}

// A value that no node has.
static void draw(unsigned number)
{
    local = espl_transform_identity();
    local.position[0] = (float)(number + 1);
}

int main(int count, char **arguments)
{
    static espl_entity nodes[NODES];
    const char *const kind = count == 2 ? arguments[1] : "";
    const bool reads = strcmp(kind, "read") == 0;
    // The first parent of leaves alone has FAN of them below it.
    const unsigned rank = strcmp(kind, "leaf") == 0 || reads ? SIZE - 1
                          : strcmp(kind, "inner") == 0       ? (SIZE - 2) / FAN - 1
                                                             : 0;
    espl_world *world = NULL;

    if (rank == 0 && strcmp(kind, "root") != 0) {
        fprintf(stderr, "usage: lines leaf|inner|root|read\n");
        return 2;
    }
    must(espl_world_create(NULL, &world), "espl_world_create");
    plant(world, nodes);
    printf("%p\n", (void *)(uintptr_t)&mark);
    fflush(stdout);
    for (unsigned tree = 0; tree < TREES; ++tree) {
        const espl_entity node = nodes[tree * SIZE + rank];

        draw(tree);
        mark = 1;
        const espl_status status = reads ? espl_get_world_transform(world, node, &seen)
                                         : espl_set_local_transform(world, node, &local);
        mark = 0;
        must(status, kind);
    }
    espl_world_destroy(world);
    return 0;
}
