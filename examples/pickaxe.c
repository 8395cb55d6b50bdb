// SPDX-License-Identifier: MIT
// One pickaxe in two worlds: in the hand of a player, and in a slot of the inventory. The parts below it are
// evaluated once, relative to the pickaxe, and drawn in both. With the name of a file it writes the picture.
#include "common.h"

#include <string.h>

enum { PARTS = 4, SLOTS = 6, ITEMS = 2 };

// The parts of a pickaxe, of which the first is where it is held.
static const float ends[PARTS][3] = {
    {0, 0, 0}, {0, 0.8f, 0}, {-0.36f, -0.14f, 0}, {0.36f, -0.14f, 0}};

typedef struct scene {
    espl_world *game, *inventory;
    espl_watch *watch; // of the game
    espl_entity player, arm, hand, pickaxe;
    espl_entity slots[SLOTS], items[ITEMS];
} scene;

typedef struct drawing {
    espl_transform models[PARTS];
    uint32_t parents[PARTS];
} drawing;

static espl_entity make(espl_world *world, espl_entity parent, const float at[3])
{
    espl_transform local = espl_transform_identity();
    espl_entity made;

    memcpy(local.position, at, sizeof local.position);
    must(espl_create_node(world, parent, &local, NULL, &made));
    return made;
}

static espl_entity make_pickaxe(espl_world *world, espl_entity parent)
{
    const espl_entity top = make(world, parent, ends[0]), shaft = make(world, top, ends[1]);

    (void)make(world, shaft, ends[2]);
    (void)make(world, shaft, ends[3]);
    return top;
}

// A world each, with tags that tell their entities apart.
static void build(scene *s)
{
    const espl_watch_def locals = {.flags = ESPL_WATCH_LOCAL};
    const float forward[4] = {0, 0, -0.70710678f, 0.70710678f};
    const espl_entity none = espl_entity_null();

    must(espl_world_create(&(espl_world_def){.tag = 1}, &s->game));
    must(espl_world_create(&(espl_world_def){.tag = 2}, &s->inventory));
    s->player = make(s->game, none, (float[]){0, 0, 0});
    s->arm = make(s->game, s->player, (float[]){0, 1.4f, 0});
    s->hand = make(s->game, s->arm, (float[]){0, -0.6f, 0});
    s->pickaxe = make_pickaxe(s->game, s->hand);
    must(espl_set_local_rotation(s->game, s->pickaxe, forward));
    for (int i = 0; i < SLOTS; ++i) {
        s->slots[i] = make(s->inventory, none, (float[]){(float)(i % 3), -(float)(i / 3), 0});
    }
    // The second item is of no other world.
    s->items[1] = make_pickaxe(s->inventory, s->slots[4]);
    must(espl_set_local_position(s->inventory, s->items[1], (float[]){0, -0.25f, 0}));
    must(espl_set_local_scale(s->inventory, s->items[1], 0.7f));
    must(espl_watch_create(s->game, &locals, &s->watch));
}

// The pickaxe alone, in a slot, as it is shown there.
static void put_into_slot(scene *s, espl_entity slot)
{
    espl_placing_def def = {.extent = ESPL_EXTENT_ENTITY,
                            .parent = slot,
                            .place = ESPL_PLACE_LOCAL,
                            .transform = espl_transform_identity()};

    def.transform.position[0] = -0.25f;
    def.transform.position[1] = -0.3f;
    def.transform.rotation[2] = -0.38268343f; // 45 degrees
    def.transform.rotation[3] = 0.92387953f;
    def.transform.scale = 0.8f;
    must(espl_place_counterparts(s->inventory, s->game, s->pickaxe, &def, &s->items[0]));
}

static drawing evaluate(const scene *s)
{
    espl_entity parts[PARTS];
    drawing d = {0};
    const espl_subtree_arrays out = {.entities = parts, .parents = d.parents, .models = d.models};

    if (espl_copy_subtree(s->game, s->pickaxe, ESPL_EXTENT_SUBTREE, PARTS, &out) != PARTS) {
        exit(EXIT_FAILURE);
    }
    return d;
}

// --- The picture: a panel for each world ---

static const char *const colours[] = {"#b8b2a4", "#b3261e"};

static double across(const float at[3])
{
    return 100 * (double)at[0];
}

static double down(const float at[3])
{
    return -100 * (double)at[1];
}

static void draw_line(FILE *file, const float from[3], const float to[3], const char *colour,
                      int width)
{
    fprintf(file, "    <path stroke=\"%s\" stroke-width=\"%d\" d=\"M%.1f %.1f L%.1f %.1f\"/>\n",
            colour, width, across(from), down(from), across(to), down(to));
}

// Draw the parts in the place that an entity has in its world.
static void draw_parts(FILE *file, const espl_world *world, espl_entity place, const drawing *d,
                       const char *colour)
{
    espl_transform at, points[PARTS];

    must(espl_get_world_transform(world, place, &at));
    for (int i = 0; i < PARTS; ++i) {
        points[i] = espl_transform_compose(&at, &d->models[i]);
        if (d->parents[i] != ESPL_NO_RANK) {
            draw_line(file, points[d->parents[i]].position, points[i].position, colour, 5);
        }
    }
}

static void draw_player(FILE *file, const scene *s, const drawing *d, int is_now)
{
    float foot[3], shoulder[3], hand[3];
    const char *const colour = is_now ? "#444" : "#cfcabd";

    must(espl_get_world_position(s->game, s->player, foot));
    must(espl_get_world_position(s->game, s->arm, shoulder));
    must(espl_get_world_position(s->game, s->hand, hand));
    draw_line(file, foot, shoulder, colour, 9);
    draw_line(file, shoulder, hand, colour, 6);
    fprintf(file, "    <circle r=\"17\" cx=\"%.1f\" cy=\"%.1f\" fill=\"%s\"/>\n", across(shoulder),
            down(shoulder) - 22, colour);
    draw_parts(file, s->game, s->pickaxe, d, is_now ? colours[1] : "#e3b3af");
}

static void draw_slots(FILE *file, const scene *s)
{
    for (int i = 0; i < SLOTS; ++i) {
        float at[3];

        must(espl_get_world_position(s->inventory, s->slots[i], at));
        fprintf(file,
                "    <rect class=\"slot\" x=\"%.0f\" y=\"%.0f\" width=\"92\" height=\"92\" "
                "rx=\"6\"/>\n",
                across(at) - 46, down(at) - 46);
    }
}

static void draw_inventory(FILE *file, const scene *s, const drawing *d)
{
    draw_slots(file, s);
    draw_parts(file, s->inventory, s->items[0], d, colours[1]);
    draw_parts(file, s->inventory, s->items[1], d, colours[0]);
}

static void begin_picture(FILE *file)
{
    fputs("<!-- SPDX-License-Identifier: MIT -->\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 360\""
          " font-family=\"sans-serif\" font-size=\"15\" stroke-linecap=\"round\">\n"
          "  <title>A pickaxe in the hand of a player and in the inventory</title>\n"
          "  <style>\n"
          "    .paper { fill: #f7f6f2 } text { fill: #222 } .head { font-weight: bold }\n"
          "    .slot { fill: #fff; stroke: #cfcabd } path { fill: none }\n"
          "    .ground { stroke: #a9a79e; stroke-width: 2 }\n"
          "  </style>\n"
          "  <rect class=\"paper\" width=\"820\" height=\"360\" rx=\"8\"/>\n"
          "  <text class=\"head\" x=\"24\" y=\"32\">the game</text>\n"
          "  <text class=\"head\" x=\"480\" y=\"32\">the inventory</text>\n"
          "  <text x=\"24\" y=\"342\">Red: one pickaxe, in two worlds. Its parts are evaluated "
          "once, below the pickaxe.</text>\n"
          "  <g transform=\"translate(80 290)\">\n"
          "    <path class=\"ground\" d=\"M-56 5 H340\"/>\n",
          file);
}

// --- The story ---

static void tell(const scene *s, const char *what)
{
    float at[3], tip[3];

    must(espl_get_world_position(s->game, s->pickaxe, at));
    must(espl_get_world_position(s->inventory, espl_find_counterpart(s->inventory, s->pickaxe),
                                 tip));
    printf("%s: in the game at", what);
    print_vector("", at);
    print_vector(", in the inventory at", tip);
    printf("\n");
}

static void walk(scene *s)
{
    const float swung[4] = {0, 0, 0.81915204f, 0.57357644f}; // 110 degrees

    must(espl_set_local_position(s->game, s->player, (float[]){2.2f, 0, 0}));
    must(espl_set_local_rotation(s->game, s->arm, swung));
}

// What breaks in the game leaves the inventory too.
static void break_it(scene *s)
{
    espl_changes changes;
    espl_follow_report report;

    must(espl_watch_collect(s->watch, 0, &changes));
    must(espl_destroy(s->game, s->pickaxe, ESPL_EXTENT_SUBTREE));
    must(espl_watch_collect(s->watch, 0, &changes));
    // Only what is gone: a place in the inventory is its own.
    const espl_changes gone = {.removed = changes.removed, .removed_count = changes.removed_count};

    must(espl_follow(s->inventory, &gone, NULL, &report));
    printf("it broke: %zu counterpart destroyed, %s is left in the inventory\n", report.destroyed,
           espl_is_alive(s->inventory, s->items[1]) ? "the other item" : "nothing");
}

int main(int argc, char **argv)
{
    FILE *const file = argc > 1 ? fopen(argv[1], "w") : NULL;
    scene s;

    build(&s);
    put_into_slot(&s, s.slots[0]);
    const drawing before = evaluate(&s);

    tell(&s, "at first");
    if (file != NULL) {
        begin_picture(file);
        draw_player(file, &s, &before, 0);
    }
    walk(&s);
    const drawing after = evaluate(&s);

    tell(&s, "later");
    printf("its parts, below it: %s\n",
           memcmp(&before, &after, sizeof before) == 0 ? "bit for bit as before" : "others");
    printf("selected in the inventory: %s\n",
           espl_entity_equal(espl_get_original(s.inventory, s.items[0]), s.pickaxe)
               ? "the pickaxe in the hand"
               : "another thing");
    if (file != NULL) {
        draw_player(file, &s, &after, 1);
        fputs("  </g>\n  <g transform=\"translate(526 110)\">\n", file);
        draw_inventory(file, &s, &after);
        fputs("  </g>\n</svg>\n", file);
    }
    break_it(&s);
    espl_watch_destroy(s.watch);
    espl_world_destroy(s.game);
    espl_world_destroy(s.inventory);
    return file == NULL || fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
