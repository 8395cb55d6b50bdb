// SPDX-License-Identifier: MIT
// Prints the pictures of espalier_values(7): what each kind of value brings back, found out by doing it; the
// handles of a small world at a save and after; a part of a world that is written without the rest.
#include <espalier/espalier.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(espl_status status)
{
    if (espl_failed(status)) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

// --- Bytes ---

typedef struct bytes {
    unsigned char at[1 << 16];
    size_t size;
} bytes;

static bool append(void *user, const void *from, size_t size)
{
    bytes *const to = user;

    if (size > sizeof to->at - to->size) {
        return false;
    }
    memcpy(to->at + to->size, from, size);
    to->size += size;
    return true;
}

static void write_archive(const espl_world *world, bytes *to)
{
    const espl_archive_def def = {.flags = ESPL_ARCHIVE_HANDLES};

    to->size = 0;
    must(espl_archive_write(world, &def, &(espl_sink){to, append}));
}

static void save_image(const espl_world *world, bytes *to)
{
    to->size = espl_image_size(world);
    must(espl_image_save(world, to->at, to->size));
}

// --- A world with a bit of everything ---

enum { SHIP, MAST, LAMP, BUOY, PLAN, NODES };

typedef struct fuel {
    uint32_t litres;
    uint32_t unused;
    espl_entity from;
} fuel;

typedef struct subject {
    espl_world *world;
    espl_component fuel_id, cache_id;
    espl_custom_command command;
    espl_watch *watch;
    espl_history *history;
    espl_command_buffer *commands;
    espl_entity nodes[NODES]; // as they are called now
    uint32_t calls;           // of the custom command
} subject;

static void count_call(void *user, const espl_custom_calls *calls)
{
    subject *const s = user;

    (void)calls;
    s->calls += 1;
}

static void register_all(subject *s)
{
    static const uint32_t references[] = {offsetof(fuel, from)};
    const espl_component_def fuel_def = {.name = "fuel",
                                         .size = sizeof(fuel),
                                         .alignment = _Alignof(fuel),
                                         .references = references,
                                         .reference_count = 1};
    const espl_component_def cache_def = {
        .name = "cache", .size = 4, .alignment = 4, .flags = ESPL_COMPONENT_TRANSIENT};
    const espl_custom_command_def command = {.name = "count", .user = s, .function = count_call};

    must(espl_component_register(s->world, &fuel_def, &s->fuel_id));
    must(espl_component_register(s->world, &cache_def, &s->cache_id));
    must(espl_command_register(s->world, &command, &s->command));
}

static espl_entity make(subject *s, espl_entity parent, float x, const char *name)
{
    espl_transform at = espl_transform_identity();
    espl_entity made;

    at.position[0] = x;
    must(espl_create_node(s->world, parent, &at, name, &made));
    return made;
}

// The handle of an entity of another world.
static espl_entity original(void)
{
    return (espl_entity){5, 2u << 24 | 1};
}

// The lamp is made before the mast that it hangs on, so that rows have another order than hierarchies.
static void begin(subject *s)
{
    const espl_attach_options loose = {.position = ESPL_KEEP_LOCAL,
                                       .rotation = ESPL_KEEP_LOCAL,
                                       .scale = ESPL_KEEP_LOCAL,
                                       .link = ESPL_LINK_FREE};
    const uint32_t cached = 5;

    *s = (subject){0};
    must(espl_world_create(&(espl_world_def){.tag = 1}, &s->world));
    register_all(s);
    must(espl_motion_start(s->world, NULL));
    s->nodes[SHIP] = make(s, espl_entity_null(), 1, "ship");
    s->nodes[LAMP] = make(s, s->nodes[SHIP], 2, "lamp");
    s->nodes[MAST] = make(s, s->nodes[SHIP], 3, "mast");
    s->nodes[BUOY] = make(s, espl_entity_null(), 4, "buoy");
    s->nodes[PLAN] = make(s, espl_entity_null(), 5, "plan");
    must(espl_attach(s->world, s->nodes[LAMP], s->nodes[MAST], &loose));
    const fuel full = {.litres = 80, .from = s->nodes[LAMP]};

    must(espl_add_component(s->world, s->nodes[BUOY], s->fuel_id, &full, sizeof full));
    must(espl_add_component(s->world, s->nodes[BUOY], s->cache_id, &cached, sizeof cached));
    must(espl_add_component(s->world, s->nodes[PLAN], ESPL_PREFAB, NULL, 0));
    must(espl_set_enabled(s->world, s->nodes[BUOY], ESPL_EXTENT_ENTITY, false));
    must(espl_set_counterpart(s->world, s->nodes[BUOY], original()));
    // What the lamp keeps is no part of its local: the scale of 1, below a mast of 2.
    must(espl_set_inherit(s->world, s->nodes[LAMP], ESPL_ABSOLUTE_SCALE));
    must(espl_set_local_scale(s->world, s->nodes[MAST], 2));
    must(espl_tick_begin(s->world));
    must(espl_set_local_position(s->world, s->nodes[SHIP], (float[]){7, 0, 0}));
    must(espl_command_buffer_create(s->world, 1, &s->commands));
    must(espl_watch_create(s->world, NULL, &s->watch));
    must(espl_history_create(s->world, NULL, &s->history));
}

static void end(subject *s)
{
    espl_history_destroy(s->history);
    espl_watch_destroy(s->watch);
    espl_command_buffer_destroy(s->commands);
    espl_world_destroy(s->world);
}

// Change what can be changed, and record a payload of the custom command.
static void spoil(subject *s)
{
    const fuel empty = {0};
    const uint32_t cached = 6;
    espl_changes changes;

    must(espl_tick_end(s->world));
    must(espl_record_custom(espl_command_buffer_recorder(s->commands, 0), 0, s->command, NULL, 0,
                            0));
    must(espl_set_name(s->world, s->nodes[SHIP], "wreck"));
    must(espl_set_counterpart(s->world, s->nodes[BUOY], espl_entity_null()));
    must(espl_set_local_position(s->world, s->nodes[SHIP], (float[]){9, 0, 0}));
    must(espl_set_inherit(s->world, s->nodes[LAMP], 0));
    must(espl_destroy(s->world, s->nodes[LAMP], ESPL_EXTENT_ENTITY));
    must(espl_set_component(s->world, s->nodes[BUOY], s->fuel_id, &empty, sizeof empty));
    must(espl_set_component(s->world, s->nodes[BUOY], s->cache_id, &cached, sizeof cached));
    must(espl_remove_component(s->world, s->nodes[PLAN], ESPL_PREFAB));
    must(espl_set_enabled(s->world, s->nodes[BUOY], ESPL_EXTENT_ENTITY, true));
    for (int i = 0; i < 3; ++i) {
        (void)make(s, espl_entity_null(), 8, "later");
    }
    must(espl_watch_collect(s->watch, 0, &changes));
}

// --- What comes back ---

// The state of the moment of the save, and what came after.
typedef struct past {
    espl_entity handles[NODES];
    espl_entity next; // the handle of the entity that is made first after the save
    char order[64];   // names in the order of a query
    uint64_t version; // of columns
    size_t calls;
} past;

static void list_order(const espl_world *world, char out[64])
{
    const espl_query_def def = {.include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    espl_query query;

    out[0] = '\0';
    must(espl_query_begin_read(world, &def, &query));
    while (espl_query_next(&query)) {
        for (size_t i = 0; i < query.count; ++i) {
            strcat(strcat(out, espl_get_name(world, query.entities[i])), " ");
        }
    }
}

static bool has_hierarchies(const subject *s, const past *before)
{
    (void)before;
    return espl_entity_equal(espl_get_parent(s->world, s->nodes[LAMP]), s->nodes[MAST]) &&
           espl_entity_equal(espl_get_parent(s->world, s->nodes[MAST]), s->nodes[SHIP]) &&
           espl_get_link(s->world, s->nodes[LAMP]) == ESPL_LINK_FREE;
}
static bool has_locals(const subject *s, const past *before)
{
    float at[3];

    (void)before;
    must(espl_get_local_position(s->world, s->nodes[SHIP], at));
    return at[0] == 7;
}
static bool has_worlds(const subject *s, const past *before)
{
    float at[3];

    (void)before;
    must(espl_get_world_position(s->world, s->nodes[LAMP], at));
    return at[0] == 7 + 3 + 2 * 2;
}
static bool has_kept(const subject *s, const past *before)
{
    float scale = 0;

    (void)before;
    must(espl_get_world_scale(s->world, s->nodes[LAMP], &scale));
    return espl_get_inherit(s->world, s->nodes[LAMP]) == ESPL_ABSOLUTE_SCALE && scale == 1;
}
static bool has_names(const subject *s, const past *before)
{
    (void)before;
    return strcmp(espl_get_name(s->world, s->nodes[SHIP]), "ship") == 0;
}
static bool has_originals(const subject *s, const past *before)
{
    (void)before;
    return espl_entity_equal(espl_find_counterpart(s->world, original()), s->nodes[BUOY]);
}
static fuel fuel_of(const subject *s)
{
    fuel value = {0};

    must(espl_get_component(s->world, s->nodes[BUOY], s->fuel_id, &value, sizeof value));
    return value;
}
static bool has_values(const subject *s, const past *before)
{
    (void)before;
    return fuel_of(s).litres == 80;
}
static bool has_references(const subject *s, const past *before)
{
    (void)before;
    return espl_entity_equal(fuel_of(s).from, s->nodes[LAMP]);
}
static bool has_prefabs(const subject *s, const past *before)
{
    (void)before;
    return espl_has_component(s->world, s->nodes[PLAN], ESPL_PREFAB) &&
           !espl_is_enabled(s->world, s->nodes[BUOY]);
}
static bool has_handles(const subject *s, const past *before)
{
    return memcmp(s->nodes, before->handles, sizeof s->nodes) == 0;
}
// Those of entities that lived all the time: the lamp did not.
static bool has_some_handles(const subject *s, const past *before)
{
    return espl_entity_equal(s->nodes[SHIP], before->handles[SHIP]) &&
           espl_entity_equal(s->nodes[MAST], before->handles[MAST]);
}
static bool has_free_indices(const subject *s, const past *before)
{
    espl_entity next;

    must(espl_create(s->world, NULL, 0, 1, &next));
    const bool is_equal = espl_entity_equal(next, before->next);

    must(espl_destroy(s->world, next, ESPL_EXTENT_ENTITY));
    return is_equal;
}
static bool has_order(const subject *s, const past *before)
{
    char order[64];

    list_order(s->world, order);
    return strcmp(order, before->order) == 0;
}
static bool has_motion(const subject *s, const past *before)
{
    espl_pose pose;

    (void)before;
    must(espl_read_one(s->world, s->nodes[SHIP], ESPL_READ_PREVIOUS_WORLD_POSE, &pose));
    return pose.position[0] == 1;
}
static bool has_transient(const subject *s, const past *before)
{
    uint32_t cached = 0;

    (void)before;
    must(espl_get_component(s->world, s->nodes[BUOY], s->cache_id, &cached, sizeof cached));
    return cached == 5;
}
static bool has_versions(const subject *s, const past *before)
{
    return espl_get_version(s->world) == before->version;
}

// What no value has is there as it was before the world became another one.
static bool keeps_commands(subject *s, const past *before)
{
    must(espl_play(s->world, s->commands, NULL));
    return s->calls == before->calls + 1;
}
static bool keeps_watch(subject *s, const past *before)
{
    espl_changes changes;

    (void)before;
    must(espl_watch_collect(s->watch, 0, &changes));
    return changes.changed_count + changes.added_count != 0;
}

static const struct {
    const char *what;
    bool (*comes_back)(const subject *s, const past *before); // or
    bool (*stays)(subject *s, const past *before);
} facts[] = {
    {"hierarchies, links, order of siblings", has_hierarchies, NULL},
    {"local transforms, bit for bit", has_locals, NULL},
    {"world transforms", has_worlds, NULL},
    {"inherit flags, and what they keep", has_kept, NULL},
    {"names", has_names, NULL},
    {"components and their values", has_values, NULL},
    {"references to entities of the value", has_references, NULL},
    {"prefabs, and what is disabled", has_prefabs, NULL},
    {"handles", has_handles, NULL},
    {"handles of entities made next", has_free_indices, NULL},
    {"order of queries", has_order, NULL},
    {"originals of counterparts", has_originals, NULL},
    {"previous transforms of motion", has_motion, NULL},
    {"values of transient components", has_transient, NULL},
    {"versions of columns", has_versions, NULL},
    {"recorded and custom commands", NULL, keeps_commands},
    {"watches", NULL, keeps_watch},
};

enum { FACTS = sizeof facts / sizeof *facts };

// --- Ways back ---

static void remember(subject *s, past *before, bytes *image)
{
    *before = (past){.version = espl_get_version(s->world), .calls = s->calls};
    memcpy(before->handles, s->nodes, sizeof s->nodes);
    list_order(s->world, before->order);
    // The entity that is made next, in the same world a moment later.
    must(espl_create(s->world, NULL, 0, 1, &before->next));
    must(espl_image_load(s->world, image->at, image->size, 0, NULL));
    must(espl_history_mark(s->history, 1)); // the load forgot all frames
}

// The entities of an archive come root by root, in the order of indices.
static void take_nodes(subject *s, const espl_entity *read)
{
    static const int order[NODES] = {SHIP, MAST, LAMP, BUOY, PLAN};

    for (int i = 0; i < NODES; ++i) {
        s->nodes[order[i]] = read[i];
    }
}

static void go_back_by_image(subject *s, const bytes *image, const bytes *archive)
{
    (void)archive;
    must(espl_image_load(s->world, image->at, image->size, 0, NULL));
}

static void go_back_by_rewind(subject *s, const bytes *image, const bytes *archive)
{
    (void)image;
    (void)archive;
    must(espl_history_rewind(s->history, 1, 0, NULL));
}

static void go_back_by_read(subject *s, const bytes *image, const bytes *archive)
{
    espl_entity read[NODES];
    const espl_archive_read_def def = {.entities = read, .capacity = NODES};

    (void)image;
    must(espl_world_clear(s->world));
    must(espl_archive_read(s->world, archive->at, archive->size, &def, NULL));
    take_nodes(s, read);
}

static void go_back_by_apply(subject *s, const bytes *image, const bytes *archive)
{
    espl_entity read[NODES];
    const espl_archive_read_def def = {.entities = read, .capacity = NODES};

    (void)image;
    must(espl_archive_apply(s->world, archive->at, archive->size, &def, NULL, NULL));
    take_nodes(s, read);
}

static const struct {
    const char *name;
    void (*go_back)(subject *s, const bytes *image, const bytes *archive);
} ways[] = {{"image", go_back_by_image},
            {"history", go_back_by_rewind},
            {"archive", go_back_by_read},
            {"apply", go_back_by_apply}};

enum { WAYS = sizeof ways / sizeof *ways };

static const char *find_out(int way, int fact)
{
    static bytes image, archive;
    const char *answer = "no";
    past before;
    subject s;

    begin(&s);
    save_image(s.world, &image);
    remember(&s, &before, &image);
    write_archive(s.world, &archive);
    spoil(&s);
    ways[way].go_back(&s, &image, &archive);
    if (facts[fact].comes_back != NULL) {
        answer = facts[fact].comes_back(&s, &before) ? "yes" : "no";
        if (facts[fact].comes_back == has_handles && answer[0] == 'n') {
            answer = has_some_handles(&s, &before) ? "some" : answer;
        }
    } else if (facts[fact].stays(&s, &before)) {
        answer = "stay";
    }
    end(&s);
    return answer;
}

static void print_facts(void)
{
    printf("%-40s", "");
    for (int way = 0; way < WAYS; ++way) {
        printf("%-*s", way + 1 < WAYS ? 9 : 0, ways[way].name);
    }
    puts("");
    for (int fact = 0; fact < FACTS; ++fact) {
        printf("%-40s", facts[fact].what);
        for (int way = 0; way < WAYS; ++way) {
            printf("%-*s", way + 1 < WAYS ? 9 : 0, find_out(way, fact));
        }
        puts("");
    }
    puts("");
}

// --- Handles ---

enum { LINES = 8, WIDTH = 20, MOST = 80 };

typedef struct drawing {
    char text[LINES][MOST + 1];
    int width, column; // of a column; that is drawn next
} drawing;

static void draw(drawing *d, int line, const char *text)
{
    const int begin = d->column * d->width;
    char *const at = d->text[line] + begin;

    for (char *c = d->text[line]; c < at; ++c) {
        *c = *c == '\0' ? ' ' : *c;
    }
    (void)snprintf(at, (size_t)(MOST + 1 - begin), "%s", text);
}

// A hierarchy of two levels, with handles as "index.generation".
static void draw_world(drawing *d, const espl_world *world, const char *title)
{
    const espl_component member = ESPL_MEMBER;
    const espl_query_def def = {.none = &member, .none_count = 1};
    espl_query query;
    char text[WIDTH];
    int line = 1;

    draw(d, 0, title);
    must(espl_query_begin_read(world, &def, &query));
    while (espl_query_next(&query)) {
        for (size_t i = 0; i < query.count; ++i) {
            espl_entity e = query.entities[i];

            (void)snprintf(text, sizeof text, "%s %u.%u", espl_get_name(world, e), e.index,
                           e.generation & 0xffffff);
            draw(d, line++, text);
            for (e = espl_get_first_child(world, e); !espl_entity_is_null(e);
                 e = espl_get_next_sibling(world, e)) {
                (void)snprintf(text, sizeof text, "+-- %s %u.%u", espl_get_name(world, e), e.index,
                               e.generation & 0xffffff);
                draw(d, line++, text);
            }
        }
    }
    d->column += 1;
}

static void print_drawing(const drawing *d)
{
    for (int line = 0; line < LINES && d->text[line][0] != '\0'; ++line) {
        size_t length = strlen(d->text[line]);

        while (length > 0 && d->text[line][length - 1] == ' ') {
            length -= 1;
        }
        printf("%.*s\n", (int)length, d->text[line]);
    }
    puts("");
}

static void print_handles(void)
{
    static bytes image, archive;
    drawing d = {.width = WIDTH};
    subject s = {0};

    must(espl_world_create(&(espl_world_def){.tag = 1}, &s.world));
    const espl_entity ship = make(&s, espl_entity_null(), 0, "ship");
    const espl_entity gun = make(&s, ship, 1, "gun");

    (void)make(&s, ship, 2, "lamp");
    save_image(s.world, &image);
    write_archive(s.world, &archive);
    draw_world(&d, s.world, "saved");
    must(espl_destroy(s.world, gun, ESPL_EXTENT_OWNED));
    (void)make(&s, ship, 3, "flag");
    draw_world(&d, s.world, "changed");
    must(espl_image_load(s.world, image.at, image.size, 0, NULL));
    draw_world(&d, s.world, "image loaded");
    must(espl_archive_read(s.world, archive.at, archive.size, NULL, NULL));
    draw_world(&d, s.world, "archive read");
    print_drawing(&d);
    espl_world_destroy(s.world);
}

// --- The same future, and another one ---

static void print_futures(void)
{
    enum { NARROW = 16 };

    drawing d = {.width = NARROW};
    subject s = {0};

    must(espl_world_create(&(espl_world_def){.tag = 1}, &s.world));
    must(espl_history_create(s.world, NULL, &s.history));
    const espl_entity ship = make(&s, espl_entity_null(), 0, "ship");

    (void)make(&s, ship, 1, "gun");
    must(espl_history_mark(s.history, 1));
    draw_world(&d, s.world, "mark 1");
    (void)make(&s, ship, 2, "flag");
    draw_world(&d, s.world, "made");
    must(espl_history_rewind(s.history, 1, 0, NULL));
    draw_world(&d, s.world, "rewind to 1");
    (void)make(&s, ship, 2, "flag");
    draw_world(&d, s.world, "made again");
    must(espl_history_rewind(s.history, 1, ESPL_REWIND_FRESH, NULL));
    (void)make(&s, ship, 2, "flag");
    draw_world(&d, s.world, "after FRESH");
    print_drawing(&d);
    espl_history_destroy(s.history);
    espl_world_destroy(s.world);
}

// --- A part of a world ---

typedef struct aim {
    espl_entity at;
} aim;

// A name, the local x, and what the entity aims at.
static void draw_part(drawing *d, const espl_world *world, espl_component aim_id, espl_entity top,
                      const char *title)
{
    char text[4 * WIDTH];
    int line = 1, depth = 0;
    espl_entity e = top;

    draw(d, 0, title);
    while (!espl_entity_is_null(e)) {
        espl_entity next = espl_get_first_child(world, e);
        char target[16] = "";
        float at[3];
        aim value;

        must(espl_get_local_position(world, e, at));
        if (!espl_failed(espl_get_component(world, e, aim_id, &value, sizeof value))) {
            (void)snprintf(target, sizeof target, " -> %s",
                           espl_entity_is_null(value.at) ? "null" : espl_get_name(world, value.at));
        }
        (void)snprintf(text, sizeof text, "%*s%s %d%s", depth > 0 ? 4 * depth : 0,
                       depth > 0 ? "+-- " : "", espl_get_name(world, e), (int)at[0], target);
        draw(d, line++, text);
        depth += 1;
        for (espl_entity up = e; espl_entity_is_null(next) && !espl_entity_equal(up, top);) {
            next = espl_get_next_sibling(world, up);
            up = espl_get_parent(world, up);
            depth -= 1;
        }
        e = next;
    }
    d->column += 2;
}

static void print_part(void)
{
    static bytes archive;
    static const uint32_t references[] = {0};
    const espl_component_def def = {.name = "aim",
                                    .size = sizeof(aim),
                                    .alignment = _Alignof(aim),
                                    .references = references,
                                    .reference_count = 1};
    drawing d = {.width = WIDTH};
    subject s = {0};
    espl_component aim_id;
    espl_entity read;

    must(espl_world_create(&(espl_world_def){.tag = 1}, &s.world));
    must(espl_component_register(s.world, &def, &aim_id));
    const espl_entity ship = make(&s, espl_entity_null(), 10, "ship");
    const espl_entity gun = make(&s, ship, 2, "gun");
    const espl_entity sight = make(&s, gun, 1, "sight");
    const espl_entity lamp = make(&s, ship, 3, "lamp");

    must(espl_add_component(s.world, gun, aim_id, &(aim){sight}, sizeof(aim)));
    must(espl_add_component(s.world, sight, aim_id, &(aim){lamp}, sizeof(aim)));
    draw_part(&d, s.world, aim_id, ship, "the world");
    archive.size = 0;
    must(espl_archive_write(s.world, &(espl_archive_def){.tops = &gun, .top_count = 1},
                            &(espl_sink){&archive, append}));
    const espl_archive_read_def how = {.tops = &read, .top_capacity = 1};

    must(espl_archive_read(s.world, archive.at, archive.size, &how, NULL));
    draw_part(&d, s.world, aim_id, read, "an archive of gun, read");
    print_drawing(&d);
    espl_world_destroy(s.world);
}

int main(void)
{
    print_facts();
    print_handles();
    print_futures();
    print_part();
    return EXIT_SUCCESS;
}
