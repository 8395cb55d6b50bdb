// SPDX-License-Identifier: MIT
// Prints the pictures of espalier_commands(3): a few commands, and what each stage of their playback
// holds at its end. The first four stages are seen through the trace hook, in the scratch of the
// playback; of the others, what they did to the world.
//
// A and B are ships with the guns a and b, C is a drone, F a flash, a prefab, with the spark s. A
// clone has a number behind its letter.
#include "lib/world/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 2, COMMANDS = 4, FLASHES = 3, LETTERS = 128, LINE = 80 };

typedef struct tag {
    char letter, copy; // a clone of F: its number
} tag;

typedef struct scene {
    espl_world *world;
    espl_commands *commands;
    espl_component tag;
    espl_entity by_letter[LETTERS];
    espl_entity flashes[FLASHES]; // pending
} scene;

// As they are recorded, lane by lane; `record` does what is said.
static const struct {
    uint32_t key;
    const char *text;
} said[LANES][COMMANDS] = {
    {{1, "spawn F1 under a"}, {1, "spawn F2 under b"}},
    {{0, "destroy B"}, {2, "attach C to A"}, {1, "spawn F3 under C"}, {2, "move F1"}},
};

static void must(espl_status status)
{
    if (status < ESPL_OK) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

// --- The scene ---

static espl_entity make(scene *s, char letter, float x, char parent, bool is_prefab)
{
    const espl_component set[] = {ESPL_PLACEMENT, s->tag, ESPL_PREFAB};
    espl_entity e;

    must(espl_create(s->world, set, is_prefab ? 3 : 2, 1, &e));
    must(espl_set(s->world, e, s->tag, &(tag){.letter = letter}, sizeof(tag)));
    must(espl_set_world_position(s->world, e, (float[]){x, 0, 0}));
    if (parent != '\0') {
        must(espl_attach(s->world, e, s->by_letter[(unsigned char)parent], NULL));
    }
    s->by_letter[(unsigned char)letter] = e;
    return e;
}

static void begin(scene *s, void (*trace)(void *, const char *, bool))
{
    const espl_world_def def = {.hooks = {.user = s, .trace = trace}, .tag = 1};
    const espl_component_def named = {.name = "tag", .size = sizeof(tag)};

    must(espl_world_create(&s->world, &def));
    must(espl_component_register(s->world, &named, &s->tag));
    (void)make(s, 'A', 10, '\0', false);
    (void)make(s, 'a', 12, 'A', false);
    (void)make(s, 'B', 20, '\0', false);
    (void)make(s, 'b', 22, 'B', false);
    (void)make(s, 'C', 30, '\0', false);
    (void)make(s, 'F', 0, '\0', true);
    (void)make(s, 's', 1, 'F', true);
    must(espl_commands_create(s->world, LANES, &s->commands));
}

static espl_entity living(const scene *s, char letter)
{
    return s->by_letter[(unsigned char)letter];
}

static espl_recorder *lane_of(const scene *s, uint32_t lane)
{
    return espl_commands_recorder(s->commands, lane);
}

static void spawn(scene *s, uint32_t lane, uint32_t index, int number, char parent)
{
    const tag named = {'F', (char)('1' + number)};
    const espl_component_value value = {s->tag, sizeof named, &named};
    const espl_instance_def flash = {
        .source = living(s, 'F'), .parent = living(s, parent), .values = &value, .value_count = 1};

    must(espl_record_instantiate(lane_of(s, lane), said[lane][index].key, &flash, 1,
                                 &s->flashes[number]));
}

static void record(scene *s)
{
    espl_write move = {.kind = ESPL_WRITE_LOCAL_POSITION, .value.position = {5, 0, 0}};

    spawn(s, 0, 0, 0, 'a');
    spawn(s, 0, 1, 1, 'b');
    must(espl_record_destroy(lane_of(s, 1), said[1][0].key, living(s, 'B')));
    must(espl_record_attach(lane_of(s, 1), said[1][1].key, living(s, 'C'), living(s, 'A'), NULL));
    spawn(s, 1, 2, 2, 'C');
    move.entity = s->flashes[0];
    must(espl_record_write(lane_of(s, 1), said[1][3].key, &move));
}

static void draw_recorded(void)
{
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        printf("lane %u   key  command\n", lane);
        for (uint32_t i = 0; i < COMMANDS && said[lane][i].text != NULL; ++i) {
            printf("     %u    %u   %s\n", i, said[lane][i].key, said[lane][i].text);
        }
    }
    puts("");
}

// --- Stages 1 to 4, as the trace hook finds them: no function of the library is called ---

static const char *text_of(const espl__entry *entry)
{
    return said[entry->lane][entry->index].text;
}

// The letter of what lives at a slot.
static char letter_at(const scene *s, uint32_t slot)
{
    for (int letter = 0; letter < LETTERS; ++letter) {
        const espl_entity e = s->by_letter[letter];

        if (!espl_entity_is_null(e) && e.index == s->world->forest.entity[slot]) {
            return (char)letter;
        }
    }
    return '?';
}

static void say_operand(const scene *s, const espl__operand *operand, char out[LINE])
{
    if (!espl__operand_is_known(operand)) {
        strcpy(out, "-");
    } else if (espl__operand_is_pending(operand)) {
        snprintf(out, LINE, "of command %u", s->world->playback.pending_entries[operand->number]);
    } else {
        snprintf(out, LINE, "%c, slot %u", letter_at(s, operand->number), operand->number);
    }
}

static void draw_order(const espl__playback *playback)
{
    puts("   key  lane  index  command");
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        printf("%zu   %u    %u      %u    %s\n", i, said[entry->lane][entry->index].key,
               entry->lane, entry->index, text_of(entry));
    }
    puts("");
}

static void draw_classes(const scene *s, const espl__playback *playback)
{
    puts("   command           target        parent");
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        char target[LINE], parent[LINE];

        say_operand(s, &entry->target, target);
        say_operand(s, &entry->parent, parent);
        printf("%zu  %-18s%-14s%s\n", i, text_of(entry), target, parent);
    }
    puts("");
}

static void draw_groups(const scene *s, const espl__playback *playback)
{
    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];

        printf("group %zu: hierarchies", i);
        for (uint32_t k = group->run_begin; k < group->run_end; ++k) {
            const uint32_t run = playback->touched[playback->grouped_runs[k]].run;

            printf(" %c", letter_at(s, playback->forest->runs[run].base));
        }
        printf("; commands");
        for (uint32_t k = group->entry_begin; k < group->entry_end; ++k) {
            printf(" %u", playback->grouped_entries[k]);
        }
        puts("");
    }
    puts("");
}

static void draw_plans(const espl__playback *playback)
{
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        printf("%zu  %-18s%s\n", i, text_of(entry), espl_status_name(entry->status));
    }
    printf("room for: %zu hierarchy to be laid out; rows: %zu made, %zu moved, %zu removed\n\n",
           playback->plot_count, playback->make_count, playback->move_count,
           playback->removal_count);
}

static void look(void *user, const char *name, bool begins)
{
    const scene *const s = user;
    const espl__playback *const playback = &s->world->playback;

    if (begins || s->commands == NULL) {
        return;
    }
    if (strcmp(name, espl_stage_name(ESPL_STAGE_ORDER)) == 0) {
        draw_order(playback);
    } else if (strcmp(name, espl_stage_name(ESPL_STAGE_RESOLVE)) == 0) {
        draw_classes(s, playback);
    } else if (strcmp(name, espl_stage_name(ESPL_STAGE_GROUP)) == 0) {
        draw_groups(s, playback);
    } else if (strcmp(name, espl_stage_name(ESPL_STAGE_APPLY)) == 0) {
        draw_plans(playback);
    }
}

// --- Stages 5 to 7, by what can be read before and after ---

static void name(const scene *s, espl_entity e, char out[3])
{
    tag own;

    must(espl_get(s->world, e, s->tag, &own, sizeof own));
    if (own.letter == 's' && !espl_entity_equal(e, living(s, 's'))) {
        tag above;

        must(espl_get(s->world, espl_get_parent(s->world, e), s->tag, &above, sizeof above));
        own.copy = above.copy;
    }
    snprintf(out, 3, "%c%c", own.letter, own.copy);
}

// Chunk by chunk, a line each.
static void draw_rows(const scene *s)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS};
    static const char *const roles[] = {"solo", "root", "member"};
    espl_query query;

    must(espl_query_begin(s->world, &all, &query));
    while (espl_query_next(&query)) {
        const espl_role role = espl_get_role(s->world, query.entities[0]);
        const bool is_prefab = espl_has(s->world, query.entities[0], ESPL_PREFAB);

        printf("%s%-*s", is_prefab ? "prefab " : "", is_prefab ? 6 : 13,
               roles[role - ESPL_ROLE_SOLO]);
        for (size_t row = 0; row < query.count; ++row) {
            char own[3];

            name(s, query.entities[row], own);
            printf(" %s", own);
        }
        puts("");
    }
    puts("");
}

static void draw_hierarchy(const scene *s, espl_entity top)
{
    espl_view view;

    must(espl_view_hierarchy(s->world, top, &view));
    printf("rank  ");
    for (size_t rank = 0; rank < view.count; ++rank) {
        printf(" %3zu", rank);
    }
    printf("\nentity");
    for (size_t rank = 0; rank < view.count; ++rank) {
        char own[3];

        name(s, espl_view_entity(&view, rank), own);
        printf(" %3s", own);
    }
    printf("\nparent");
    for (size_t rank = 0; rank < view.count; ++rank) {
        printf(rank == 0 ? "   -" : " %3u", view.parents[rank]);
    }
    printf("\nworld ");
    for (size_t rank = 0; rank < view.count; ++rank) {
        printf(" %3g", (double)view.worlds[view.slots[rank]].position[0]);
    }
    puts("\n");
}

static void draw_report(const espl_report *report)
{
    printf("%zu accepted, %zu applied, %zu refused\n", report->accepted, report->applied,
           report->refused);
    for (int reason = 1; reason < ESPL_REASON_COUNT; ++reason) {
        const espl_command_place *const first = &report->first_refused[reason];

        if (report->refused_by[reason] != 0) {
            printf("%s: %zu, the first in lane %u at %u: %s\n",
                   espl_status_name((espl_status)-reason), report->refused_by[reason], first->lane,
                   first->index, said[first->lane][first->index].text);
        }
    }
    printf("%zu groups; the largest has %zu commands\n", report->groups, report->largest_group);
    printf("%zu entities made, %zu destroyed; %zu row moved\n", report->created, report->destroyed,
           report->row_moves);
    printf("%zu nodes laid out anew, %zu worlds computed\n\n", report->rebuilt_nodes,
           report->visited_nodes);
}

int main(void)
{
    espl_report report;
    scene s = {0};

    begin(&s, look);
    draw_rows(&s);
    draw_hierarchy(&s, living(&s, 'A'));
    record(&s);
    draw_recorded();
    must(espl_play(s.world, s.commands, &report));
    draw_rows(&s);
    draw_hierarchy(&s, living(&s, 'A'));
    draw_report(&report);
    espl_commands_destroy(s.commands);
    espl_world_destroy(s.world);
    return 0;
}
