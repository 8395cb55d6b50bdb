// SPDX-License-Identifier: MIT
// A sync point: three systems of a game record, each into a command buffer of its own, and espl_sync()
// plays them in the order of submission. The report and the pending handles tell what became of it.
#include "common.h"

enum { SPAWNS, BATTLE, EFFECTS, SYSTEMS };

// A custom command: it gets all its payloads of one playback at once, the smallest key first.
static void play_sounds(void *user, const espl_custom_calls *calls)
{
    for (size_t i = 0; i < calls->count; ++i) {
        printf("%s: %s\n", (const char *)user, (const char *)calls->payloads[i].data);
    }
}

// The battle destroys the hulk before the effects are played. So one smoke is refused, because its parent
// is dead; the other one becomes a root, as its command says.
static void record(espl_recorder *of[SYSTEMS], espl_entity hulk, espl_entity puff,
                   espl_custom_command sound, espl_entity pending[3])
{
    espl_instance_def smoke = {.source = puff, .parent = hulk};

    must(espl_record_custom(of[EFFECTS], 1, sound, "hiss", 5, 1));
    must(espl_record_custom(of[EFFECTS], 0, sound, "bang", 5, 1));
    must(espl_record_instantiate(of[EFFECTS], 0, &smoke, 1, &pending[0]));
    smoke.dead_parent = ESPL_DEAD_PARENT_ROOT;
    must(espl_record_instantiate(of[EFFECTS], 0, &smoke, 1, &pending[1]));
    must(espl_record_destroy(of[BATTLE], 0, hulk, ESPL_EXTENT_OWNED));
    must(espl_record_create(of[SPAWNS], 0, &(espl_creation_def){0}, 1, &pending[2]));
}

int main(void)
{
    static const char *const names[] = {"smoke", "smoke alone", "ship, of another buffer"};
    char name[] = "sound";
    const espl_custom_command_def sounds = {.name = name, .user = name, .function = play_sounds};
    espl_command_buffer *commands[SYSTEMS];
    espl_recorder *of[SYSTEMS];
    espl_entity e[2], pending[3], found;
    espl_world *world = NULL;
    espl_custom_command sound = 0;
    espl_report report;

    must(espl_world_create(NULL, &world));
    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, 2, e));
    must(espl_command_register(world, &sounds, &sound));
    for (int i = 0; i < SYSTEMS; ++i) {
        must(espl_command_buffer_create(world, 1, &commands[i]));
        of[i] = espl_command_buffer_recorder(commands[i], 0);
    }
    record(of, e[0], e[1], sound, pending);
    for (int i = 0; i < SYSTEMS; ++i) {
        must(espl_command_buffer_submit(commands[i]));
    }
    must(espl_sync(world, &report));
    printf("%zu commands: %zu applied, %zu refused, %zu as dead; %zu entities made\n",
           report.accepted, report.applied, report.refused, report.refused_by[-ESPL_ERR_DEAD],
           report.created);
    for (int i = 0; i < 3; ++i) {
        printf(
            "%s: %s\n", names[i],
            espl_status_name(espl_command_buffer_resolve(commands[EFFECTS], pending[i], &found)));
    }
    for (int i = 0; i < SYSTEMS; ++i) {
        espl_command_buffer_destroy(commands[i]);
    }
    espl_world_destroy(world);
    return 0;
}
