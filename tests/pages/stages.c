// SPDX-License-Identifier: MIT
// Prints the pictures of espalier_commands(3): a few commands, and what each stage of their playback
// holds at its end. The trace hook shows the first four stages, from the playback's own lists and from
// the links of the trees; for the other stages, what they did to the world is printed.
//
// A and B are ships with the guns a and b, C is a drone, F a flash, a prefab, with the spark s. A
// clone has a number behind its letter.
#include "lib/commands/playback.h"
#include "lib/world/world_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 2, COMMANDS = 4, FLASHES = 3, LETTERS = 128, LINE = 80 };

typedef struct tag {
    char letter, copy; // a clone of F: its number
} tag;

typedef struct scene {
    espl_world *world;
    espl_command_buffer *commands;
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
    const espl_component set[] = {ESPL_TRANSFORM, s->tag, ESPL_PREFAB};
    espl_entity e;

    must(espl_create(s->world, set, is_prefab ? 3 : 2, 1, &e));
    must(espl_set_component(s->world, e, s->tag, &(tag){.letter = letter}, sizeof(tag)));
    must(espl_set_world_position(s->world, e, (float[]){x, 0, 0}));
    if (parent != '\0') {
        must(espl_attach(s->world, e, s->by_letter[(unsigned char)parent], NULL));
    }
    s->by_letter[(unsigned char)letter] = e;
    return e;
}

static void begin(scene *s, void (*trace)(void *, const char *, espl_trace_edge))
{
    const espl_world_def def = {.hooks = {.user = s, .trace = trace}, .tag = 1};
    const espl_component_def named = {.name = "tag", .size = sizeof(tag)};

    must(espl_world_create(&def, &s->world));
    must(espl_component_register(s->world, &named, &s->tag));
    (void)make(s, 'A', 10, '\0', false);
    (void)make(s, 'a', 12, 'A', false);
    (void)make(s, 'B', 20, '\0', false);
    (void)make(s, 'b', 22, 'B', false);
    (void)make(s, 'C', 30, '\0', false);
    (void)make(s, 'F', 0, '\0', true);
    (void)make(s, 's', 1, 'F', true);
    must(espl_command_buffer_create(s->world, LANES, &s->commands));
}

static espl_entity living(const scene *s, char letter)
{
    return s->by_letter[(unsigned char)letter];
}

static espl_recorder *lane_of(const scene *s, uint32_t lane)
{
    return espl_command_buffer_recorder(s->commands, lane);
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
    must(espl_record_destroy(lane_of(s, 1), said[1][0].key, living(s, 'B'), ESPL_EXTENT_OWNED));
    must(espl_record_attach(lane_of(s, 1), said[1][1].key, living(s, 'C'), living(s, 'A'), NULL));
    spawn(s, 1, 2, 2, 'C');
    move.entity = s->flashes[0];
    must(espl_record_write(lane_of(s, 1), said[1][3].key, move.entity, move.kind, &move.value));
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

// The command that made a node.
static const espl__entry *maker_of(const espl__playback *playback, uint32_t number)
{
    const espl__entry *entry = playback->ordered.entries;

    while (number - entry->made_begin >= entry->made_count) {
        entry += 1;
    }
    return entry;
}

static uint32_t slot_of(const scene *s, espl_entity entity)
{
    return s->world->store.records[entity.index].slot;
}

// The name of the node at a slot: a letter, and for a clone of F the number of its command's flash.
static void name_slot(const scene *s, uint32_t slot, char out[3])
{
    const espl__playback *const playback = s->world->playback;
    uint32_t entity = s->world->forest.links[slot].entity;
    char copy = '\0';

    if (espl__slot_is_made(&s->world->forest, slot)) {
        const uint32_t number = espl__made_number(&s->world->forest, slot);
        const espl__part *const part = playback->context.memory.parts[0];

        entity = part->edit.made[number].source;
        copy = text_of(maker_of(playback, number))[strlen("spawn F")];
    }
    snprintf(out, 3, "?");
    for (int letter = 0; letter < LETTERS; ++letter) {
        const espl_entity e = s->by_letter[letter];

        if (!espl_entity_is_null(e) && e.index == entity) {
            snprintf(out, 3, "%c%c", letter, copy);
        }
    }
}

static void say_operand(const scene *s, const espl__operand *operand, bool is_named, char out[LINE])
{
    char own[3];

    if (!is_named) {
        strcpy(out, "-");
    } else if (espl__operand_is_pending(operand)) {
        snprintf(out, LINE, "of command %u",
                 s->world->playback->resolved.pending_entries[operand->number]);
    } else {
        name_slot(s, operand->number, own);
        snprintf(out, LINE, "%s, slot %u", own, operand->number);
    }
}

static void draw_order(const espl__playback *playback)
{
    puts("   key  lane  index  command");
    for (size_t i = 0; i < playback->ordered.entry_count; ++i) {
        const espl__entry *const entry = &playback->ordered.entries[i];

        printf("%zu   %u    %u      %u    %s\n", i, said[entry->lane][entry->index].key,
               entry->lane, entry->index, text_of(entry));
    }
    puts("");
}

static void draw_operands(const scene *s, const espl__playback *playback)
{
    puts("   command           target        parent");
    for (size_t i = 0; i < playback->ordered.entry_count; ++i) {
        const espl__entry *const entry = &playback->ordered.entries[i];
        char target[LINE], parent[LINE];

        say_operand(s, &entry->target, true, target);
        say_operand(s, &entry->parent, !espl_entity_is_null(entry->command->parent), parent);
        printf("%zu  %-18s%-14s%s\n", i, text_of(entry), target, parent);
    }
    puts("");
}

// Tell whether an operand is a living node of a tree.
static bool is_in_tree(const espl__playback *playback, const espl__operand *operand, uint32_t tree)
{
    return espl__operand_is_living(operand) &&
           playback->context.forest->tree[operand->number] == tree;
}

// Tell whether a command of a group touches a tree.
static bool touches_tree(const espl__playback *playback, const espl__group *group, uint32_t tree)
{
    for (uint32_t k = group->entry_begin; k < group->entry_end; ++k) {
        const espl__entry *const entry =
            &playback->ordered.entries[playback->grouped.queue[k].entry];

        if (is_in_tree(playback, &entry->target, tree) ||
            is_in_tree(playback, &entry->parent, tree)) {
            return true;
        }
    }
    return false;
}

static void draw_groups(const scene *s, const espl__playback *playback)
{
    for (size_t i = 0; i < playback->grouped.group_count; ++i) {
        const espl__group *const group = &playback->grouped.groups[i];

        printf("group %zu: hierarchies", i);
        for (size_t k = 0; k < playback->grouped.touched_count; ++k) {
            const uint32_t tree = playback->grouped.touched[k];

            if (touches_tree(playback, group, tree)) {
                char own[3];

                name_slot(s, playback->context.forest->trees[tree].base, own);
                printf(" %s", own);
            }
        }
        printf("; commands");
        for (uint32_t k = group->entry_begin; k < group->entry_end; ++k) {
            printf(" %u", playback->grouped.queue[k].entry);
        }
        puts("");
    }
    puts("");
}

static void draw_verdicts(const espl__playback *playback)
{
    for (size_t i = 0; i < playback->ordered.entry_count; ++i) {
        const espl__entry *const entry = &playback->ordered.entries[i];

        printf("%zu  %-18s%s\n", i, text_of(entry), espl_status_name(entry->status));
    }
    printf("rows: %zu to be made, %zu to be moved, %zu to be removed\n\n",
           playback->planned.make_count, playback->planned.move_count,
           playback->planned.removal_count);
}

// A cell of a table: a name or "-".
static void draw_link(const scene *s, uint32_t slot)
{
    char own[3] = "-";

    if (slot != ESPL__NO_SLOT) {
        name_slot(s, slot, own);
    }
    printf(" %4s", own);
}

// What the links say of the hierarchy of A, and at which slots its nodes are.
static void draw_links(const scene *s)
{
    static const char *const heads[] = {"node  ", "slot  ", "parent", "first ", "next  "};
    const espl__forest *const forest = &s->world->forest;
    const uint32_t top = slot_of(s, living(s, 'A'));

    for (size_t line = 0; line < sizeof heads / sizeof *heads; ++line) {
        printf("%s", heads[line]);
        for (uint32_t slot = top; slot != ESPL__NO_SLOT;
             slot = espl__next_in_walk(forest, slot, top, true)) {
            const espl__links *const links = &forest->links[slot];

            if (line == 1) {
                printf(" %4u", slot);
            } else {
                draw_link(s, line == 0   ? slot
                             : line == 2 ? forest->parent[slot]
                             : line == 3 ? links->first_child
                                         : links->next);
            }
        }
        puts("");
    }
    puts("");
}

static void look(void *user, const char *name, espl_trace_edge edge)
{
    const scene *const s = user;
    const espl__playback *const playback = s->world->playback;

    if (edge == ESPL_TRACE_BEGIN || s->commands == NULL) {
        return;
    }
    if (strcmp(name, espl_stage_name(ESPL_STAGE_ORDER)) == 0) {
        draw_order(playback);
    } else if (strcmp(name, espl_stage_name(ESPL_STAGE_RESOLVE)) == 0) {
        draw_operands(s, playback);
    } else if (strcmp(name, espl_stage_name(ESPL_STAGE_GROUP)) == 0) {
        draw_groups(s, playback);
    } else if (strcmp(name, espl_stage_name(ESPL_STAGE_APPLY)) == 0) {
        draw_verdicts(playback);
        draw_links(s);
    }
}

// --- Stages 5 to 7, by what can be read before and after ---

static void name(const scene *s, espl_entity e, char out[3])
{
    tag own;

    must(espl_get_component(s->world, e, s->tag, &own, sizeof own));
    if (own.letter == 's' && !espl_entity_equal(e, living(s, 's'))) {
        tag above;

        must(espl_get_component(s->world, espl_get_parent(s->world, e), s->tag, &above,
                                sizeof above));
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
        const bool is_prefab = espl_has_component(s->world, query.entities[0], ESPL_PREFAB);

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

// A hierarchy as it is in memory. A dot is a free slot.
static void draw_storage(const scene *s, espl_entity top)
{
    const espl__forest *const forest = &s->world->forest;
    const uint32_t root = slot_of(s, top);
    const espl__tree *const tree = espl__tree_of(forest, root);
    const uint32_t end = tree->base + tree->used;

    printf("slot  ");
    for (uint32_t slot = tree->base; slot < end; ++slot) {
        printf(" %3u", slot);
    }
    printf("\nentity");
    for (uint32_t slot = tree->base; slot < end; ++slot) {
        char own[3] = ".";

        if (forest->links[slot].entity != ESPL__NO_ENTITY) {
            name(s, espl__entity_at(&s->world->store, forest->links[slot].entity), own);
        }
        printf(" %3s", own);
    }
    printf("\nparent");
    for (uint32_t slot = tree->base; slot < end; ++slot) {
        printf(slot == root ? "   -" : " %3u", forest->parent[slot]);
    }
    printf("\nworld ");
    for (uint32_t slot = tree->base; slot < end; ++slot) {
        printf(" %3g", (double)forest->world[slot].position[0]);
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
    draw_storage(&s, living(&s, 'A'));
    record(&s);
    draw_recorded();
    must(espl_play(s.world, s.commands, &report));
    draw_rows(&s);
    draw_storage(&s, living(&s, 'A'));
    draw_report(&report);
    espl_command_buffer_destroy(s.commands);
    espl_world_destroy(s.world);
    return 0;
}
