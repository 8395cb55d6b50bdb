// SPDX-License-Identifier: MIT
// A prefab whose members name each other: each soldier of a squad names the leader and the one who
// covers him, and in a clone they name those of the clone. Then the order of march changes.
#include "common.h"

#include <stddef.h>

enum { SQUADS = 3, SOLDIERS = 3 };

typedef struct duty {
    espl_entity leader, cover;
    uint32_t number;
} duty;

static espl_component duty_id;

// Soldiers in a row, one metre apart. Each entity of a prefab has the tag.
static espl_entity make_prefab(espl_world *world)
{
    const espl_component set[] = {ESPL_TRANSFORM, ESPL_PREFAB, duty_id};
    espl_entity squad, soldier[SOLDIERS];

    must(espl_create(world, set, 2, 1, &squad));
    must(espl_create(world, set, 3, SOLDIERS, soldier));
    for (uint32_t i = 0; i < SOLDIERS; ++i) {
        const duty own = {soldier[0], soldier[(i + 1) % SOLDIERS], i + 1};

        must(espl_set_component(world, soldier[i], duty_id, &own, sizeof own));
        must(espl_set_world_position(world, soldier[i], (float[]){(float)i, 0, 0}));
        must(espl_attach(world, soldier[i], squad, NULL));
    }
    return squad;
}

// The soldiers in the order of siblings.
static void print_squad(const espl_world *world, const char *what, espl_entity squad)
{
    printf("%s:", what);
    for (espl_entity e = espl_get_first_child(world, squad); !espl_entity_is_null(e);
         e = espl_get_next_sibling(world, e)) {
        duty own, cover;

        must(espl_get_component(world, e, duty_id, &own, sizeof own));
        must(espl_get_component(world, own.cover, duty_id, &cover, sizeof cover));
        printf(" %u%s covered by %u%s;", own.number,
               espl_entity_equal(e, own.leader) ? " leads and is" : " is", cover.number,
               espl_is_ancestor(world, squad, own.cover) ? "" : " of another squad");
    }
    puts("");
}

int main(void)
{
    const uint32_t references[] = {offsetof(duty, leader), offsetof(duty, cover)};
    const espl_component_def def = {.name = "duty",
                                    .size = sizeof(duty),
                                    .alignment = _Alignof(duty),
                                    .references = references,
                                    .reference_count = 2};
    espl_world *world = NULL;
    espl_entity squad[SQUADS];

    must(espl_world_create(NULL, &world));
    must(espl_component_register(world, &def, &duty_id));
    must(
        espl_instantiate(world, &(espl_instance_def){.source = make_prefab(world)}, SQUADS, squad));
    print_squad(world, "a squad", squad[2]);

    // The first one becomes the last one: a null sibling to stand before means the end.
    must(espl_move_before(world, espl_get_first_child(world, squad[2]), espl_entity_null()));
    print_squad(world, "on the march", squad[2]);
    espl_world_destroy(world);
    return 0;
}
