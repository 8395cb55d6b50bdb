// SPDX-License-Identifier: MIT
// A squad is one prefab: each soldier names the leader and the one who covers him, and in a clone
// they name their own. Then the order of march changes, a soldier falls and his rifle stays, a
// squad is taken out of play and put back, and a query finds what was written meanwhile.
#include <espalier/espalier.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { SQUADS = 3, SOLDIERS = 3 };

typedef struct duty {
    espl_entity leader, cover;
    uint32_t number;
} duty;

static espl_component duty_id;

static void must(espl_status status)
{
    if (status != ESPL_OK) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

// Soldiers in a row, one metre apart. Each entity of the template has the tag.
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

// In order of march. Whoever covers a soldier is of the same squad, whichever clone it is.
static void say_squad(const espl_world *world, const char *what, espl_entity squad)
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

// A rifle is carried, not owned: it goes along, and it is still there when the soldier is not.
static void lose_a_soldier(espl_world *world, espl_entity squad)
{
    const espl_attach_options carried = {.position = ESPL_SNAP, .link = ESPL_LINK_FREE};
    const espl_entity soldier = espl_get_child(world, squad, 1);
    espl_entity rifle;
    float at[3];

    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, 1, &rifle));
    must(espl_attach(world, rifle, soldier, &carried));
    must(espl_set_world_position(world, squad, (float[]){10, 0, 0}));
    must(espl_destroy(world, soldier, ESPL_EXTENT_OWNED));
    must(espl_get_world_position(world, rifle, at));
    printf("the rifle is at %g, one of %zu in the squad\n", (double)at[0],
           espl_count_children(world, squad));
}

static size_t count(espl_world *world, const espl_query_def *def)
{
    espl_query query;
    size_t rows = 0;

    must(espl_query_begin(world, def, &query));
    while (espl_query_next(&query)) {
        rows += query.count;
    }
    return rows;
}

int main(void)
{
    const uint32_t references[] = {offsetof(duty, leader), offsetof(duty, cover)};
    const espl_component_def def = {"duty", sizeof(duty), _Alignof(duty), references, 2};
    espl_query_def soldiers = {.all = &duty_id, .all_count = 1};
    espl_world *world = NULL;
    espl_entity squad[SQUADS];

    must(espl_world_create(&world, NULL));
    must(espl_component_register(world, &def, &duty_id));
    must(espl_instantiate(world, make_prefab(world), SQUADS, squad));
    say_squad(world, "a squad", squad[2]);

    // The first becomes the last.
    must(espl_set_sibling(world, espl_get_first_child(world, squad[2]), espl_entity_null()));
    say_squad(world, "on the march", squad[2]);
    lose_a_soldier(world, squad[1]);
    must(espl_disable(world, squad[0], ESPL_EXTENT_OWNED));
    printf("%zu soldiers in play", count(world, &soldiers));
    must(espl_enable(world, squad[0], ESPL_EXTENT_OWNED));
    printf(", then %zu\n", count(world, &soldiers));

    soldiers.changed = &duty_id, soldiers.changed_count = 1;
    soldiers.since = espl_get_version(world);
    printf("%zu to look at", count(world, &soldiers));
    must(espl_set_component(world, espl_get_last_child(world, squad[1]), duty_id, &(duty){0},
                            sizeof(duty)));
    printf(", then %zu: a chunk is shown as a whole\n", count(world, &soldiers));
    espl_world_destroy(world);
    return 0;
}
