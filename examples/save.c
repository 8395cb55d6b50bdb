// SPDX-License-Identifier: MIT
// A save of version 1 of a game is read by version 2, in which one component has another layout, one has another
// name, and one is gone.
#include "common.h"

#include <stddef.h>
#include <string.h>

// --- Version 1: a gun counts its heat in percent, and knows what it aims at ---

typedef struct gun_1 {
    uint32_t percent, rounds;
    espl_entity target;
} gun_1;

static const uint32_t gun_1_references[] = {offsetof(gun_1, target)};

// By the fields a machine with the other order of bytes reads the save as well.
static const espl_component_field gun_1_fields[] = {
    {"percent", ESPL_FIELD_U32, offsetof(gun_1, percent), 1},
    {"rounds", ESPL_FIELD_U32, offsetof(gun_1, rounds), 1},
    {"target", ESPL_FIELD_ENTITY, offsetof(gun_1, target), 1}};

static const espl_component_field number_fields[] = {{"number", ESPL_FIELD_U32, 0, 1}};

static const espl_component_def gun_1_def = {.name = "gun",
                                             .size = sizeof(gun_1),
                                             .alignment = _Alignof(gun_1),
                                             .references = gun_1_references,
                                             .reference_count = 1,
                                             .version = 1,
                                             .fields = gun_1_fields,
                                             .field_count = 3};

static const espl_component_def points_def = {.name = "hitpoints",
                                              .size = sizeof(uint32_t),
                                              .alignment = _Alignof(uint32_t),
                                              .fields = number_fields,
                                              .field_count = 1};

static const espl_component_def cheat_def = {.name = "cheat"};

static bool append(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, file) == size;
}

// Two ships: the gun of the first one aims at the second one.
static void play_version_1(FILE *file)
{
    const espl_transform at = {{0, 0, 0, 1}, {30, 0, 0}, 1, {1, 1, 1}, 0};
    const espl_transform above = {{0, 0, 0, 1}, {0, 4, 0}, 1, {1, 1, 1}, 0};
    const espl_sink sink = {file, append};
    espl_component gun_id, points_id, cheat_id;
    espl_entity ours, theirs, gun;
    espl_world *world = NULL;

    must(espl_world_create(NULL, &world));
    must(espl_component_register(world, &gun_1_def, &gun_id));
    must(espl_component_register(world, &points_def, &points_id));
    must(espl_component_register(world, &cheat_def, &cheat_id));
    must(espl_create_node(world, espl_entity_null(), &at, "ours", &ours));
    must(espl_create_node(world, ours, &above, "gun", &gun));
    must(espl_create_node(world, espl_entity_null(), NULL, "theirs", &theirs));
    const gun_1 hot = {.percent = 75, .rounds = 12, .target = theirs};

    must(espl_add_component(world, gun, gun_id, &hot, sizeof hot));
    must(espl_add_component(world, ours, points_id, &(uint32_t){80}, sizeof(uint32_t)));
    must(espl_add_component(world, ours, cheat_id, NULL, 0));
    must(espl_archive_write(world, NULL, &sink));
    espl_world_destroy(world);
}

// --- Version 2: heat is a fraction, and a gun has a spread; hitpoints are "health"; there are no cheats ---

typedef struct gun_2 {
    espl_entity target;
    float heat, spread;
} gun_2;

static const uint32_t gun_2_references[] = {offsetof(gun_2, target)};

static const espl_component_def gun_2_def = {.name = "gun",
                                             .size = sizeof(gun_2),
                                             .alignment = _Alignof(gun_2),
                                             .references = gun_2_references,
                                             .reference_count = 1,
                                             .version = 2};

static const espl_component_def health_def = {
    .name = "health", .size = sizeof(uint32_t), .alignment = _Alignof(uint32_t)};

// The library carries the reference over: the first one of the old layout is the first one of the new.
static bool convert_gun(void *user, const espl_archive_value *from, void *to)
{
    gun_2 *const made = to;
    gun_1 old;

    (void)user;
    if (from->size != sizeof old) {
        return false;
    }
    memcpy(&old, from->data, sizeof old);
    made->heat = (float)old.percent / 100;
    made->spread = 0.5f;
    return true;
}

static void print_gun(const espl_world *world, espl_component gun_id, espl_component health_id)
{
    espl_entity gun, ship;
    uint32_t health;
    float at[3];
    gun_2 now;

    must(espl_find_descendant(world, espl_entity_null(), "/ours/gun", &gun));
    must(espl_get_component(world, gun, gun_id, &now, sizeof now));
    must(espl_get_world_position(world, gun, at));
    ship = espl_get_parent(world, gun);
    must(espl_get_component(world, ship, health_id, &health, sizeof health));
    printf("the gun has a heat of %.2f, a spread of %.2f, and aims at %s\n", (double)now.heat,
           (double)now.spread, espl_get_name(world, now.target));
    print_vector("it is at", at);
    printf(", and its ship has a health of %u\n", health);
}

static void play_version_2(const void *save, size_t size)
{
    espl_component gun_id, health_id;
    espl_world *world = NULL;
    espl_format_fault fault;

    must(espl_world_create(NULL, &world));
    must(espl_component_register(world, &gun_2_def, &gun_id));
    must(espl_component_register(world, &health_def, &health_id));
    const espl_archive_migration migrations[] = {
        {.name = "gun", .to = gun_id, .convert = convert_gun},
        {.name = "hitpoints", .to = health_id}, // the bytes are as they were
        {.name = "cheat"},                      // left out
    };
    const espl_archive_read_def def = {.migrations = migrations, .migration_count = 3};

    // Without migrations it is refused, and nothing is made.
    const espl_status status = espl_archive_read(world, save, size, NULL, &fault);
    printf("%s: %s\n", espl_status_name(status), fault.sentence);
    must(espl_archive_read(world, save, size, &def, &fault));
    print_gun(world, gun_id, health_id);
    espl_world_destroy(world);
}

int main(int argc, char **argv)
{
    FILE *const file = argc > 1 ? fopen(argv[1], "wb+") : tmpfile();
    static unsigned char save[1 << 16];
    espl_archive_info info;

    if (file == NULL) {
        perror("save");
        return EXIT_FAILURE;
    }
    play_version_1(file);
    rewind(file);
    const size_t size = fread(save, 1, sizeof save, file);

    (void)fclose(file);
    must(espl_archive_inspect(save, size, &info, NULL));
    printf("the save has %u entities, %u of them roots\n", info.nodes, info.tops);
    play_version_2(save, size);
    return EXIT_SUCCESS;
}
