// SPDX-License-Identifier: MIT
// Prints the pictures of espalier_lifetimes(7): small trees, and what becomes of them. A letter is
// an entity, a clone has a 1 behind its letter. "+--" is an owned link and "+.." a free one. A star
// marks what is disabled, an arrow points to the entity that a component names, and a number is the
// x of the world position.
#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 128, DEPTH = 8, ROWS = 12, COLUMNS = 4, WIDTH = 18 };

typedef struct scene {
    espl_world *world;
    espl_component letter, aim; // a char; an entity reference
    espl_entity by_letter[LETTERS];
    espl_entity tops[LETTERS]; // in order of creation
    size_t top_count;
    bool shows_place;
    char text[COLUMNS][ROWS][WIDTH + 1];
    int rows, columns;
} scene;

static void must(espl_status status)
{
    if (status < ESPL_OK) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

static espl_entity make(scene *s, char letter, espl_entity parent, espl_link link)
{
    const espl_component set[] = {ESPL_TRANSFORM, s->letter, s->aim};
    espl_entity e;

    must(espl_create(s->world, set, 3, 1, &e));
    must(espl_set_component(s->world, e, s->letter, &letter, sizeof letter));
    if (!espl_entity_is_null(parent)) {
        must(espl_attach(s->world, e, parent, &(espl_attach_options){.link = link}));
    }
    s->by_letter[(unsigned char)letter] = e;
    s->tops[s->top_count++] = e;
    return e;
}

// "R(a~(b) c)": below R are a, by a free link, and c; below a is b.
static void begin(scene *s, const char *tree)
{
    static const uint32_t references[] = {0};
    espl_entity parents[DEPTH + 1] = {{0}};
    int depth = 0;

    memset(s, 0, sizeof *s);
    must(espl_world_create(NULL, &s->world));
    must(espl_component_register(s->world, &(espl_component_def){.name = "letter", .size = 1},
                                 &s->letter));
    must(espl_component_register(s->world,
                                 &(espl_component_def){.name = "aim",
                                                       .size = sizeof(espl_entity),
                                                       .alignment = _Alignof(espl_entity),
                                                       .references = references,
                                                       .reference_count = 1},
                                 &s->aim));
    for (const char *at = tree; *at != '\0'; ++at) {
        const espl_link link = at[1] == '~' ? ESPL_LINK_FREE : ESPL_LINK_OWNED;

        if (*at == '(' || *at == ')') {
            depth += *at == '(' ? 1 : -1;
        } else if (*at != ' ' && *at != '~') {
            parents[depth + 1] = make(s, *at, parents[depth], link);
        }
    }
}

// --- Drawing ---

static void name(const scene *s, espl_entity e, char out[4])
{
    char letter = '?';

    must(espl_get_component(s->world, e, s->letter, &letter, sizeof letter));
    const bool is_clone = !espl_entity_equal(e, s->by_letter[(unsigned char)letter]);
    snprintf(out, 4, "%c%s%s", letter, is_clone ? "1" : "",
             espl_is_enabled(s->world, e) ? "" : "*");
}

static void draw_entity(scene *s, espl_entity e, uint32_t depth)
{
    char line[WIDTH + 1] = "", own[4], other[4];
    espl_entity above = e, aim;
    float place[3];

    // Read the links from the entity up, write them from the left.
    for (uint32_t level = depth; level > 0; --level, above = espl_get_parent(s->world, above)) {
        const bool is_last = espl_entity_is_null(espl_get_next_sibling(s->world, above));
        const bool is_free = espl_get_link(s->world, above) == ESPL_LINK_FREE;

        memcpy(line + (level - 1) * 4,
               level < depth ? (is_last ? "    " : "|   ") : (is_free ? "+.. " : "+-- "), 4);
    }
    name(s, e, own);
    strcat(line, own);
    must(espl_get_component(s->world, e, s->aim, &aim, sizeof aim));
    if (!espl_entity_is_null(aim)) {
        name(s, aim, other);
        strcat(strcat(line, " -> "), other);
    }
    if (s->shows_place) {
        const espl_status status = espl_get_world_position(s->world, e, place);

        snprintf(line + strlen(line), 8, status == ESPL_OK ? " %g" : " -", (double)place[0]);
    }
    strcpy(s->text[s->columns][s->rows++], line);
}

// Everything below, a parent's children right behind it: no recursion, for links lead the way.
static void draw_tree(scene *s, espl_entity top)
{
    espl_entity e = top;
    uint32_t depth = 0;

    while (!espl_entity_is_null(e)) {
        draw_entity(s, e, depth);
        espl_entity next = espl_get_first_child(s->world, e);

        depth += espl_entity_is_null(next) ? 0 : 1;
        while (espl_entity_is_null(next) && depth > 0) {
            next = espl_get_next_sibling(s->world, e);
            if (espl_entity_is_null(next)) {
                e = espl_get_parent(s->world, e);
                depth -= 1;
            }
        }
        e = next;
    }
}

// A column of the picture: the world as it is now.
static void draw(scene *s, const char *title)
{
    s->rows = 0;
    strcpy(s->text[s->columns][s->rows++], title);
    for (size_t i = 0; i < s->top_count; ++i) {
        const espl_role role = espl_get_role(s->world, s->tops[i]);

        if (role == ESPL_ROLE_ROOT || role == ESPL_ROLE_SOLO) {
            draw_tree(s, s->tops[i]);
        }
    }
    s->columns += 1;
}

// Print the columns side by side, and be done with the world.
static void end(scene *s)
{
    for (int row = 0; row < ROWS; ++row) {
        char line[COLUMNS * WIDTH + 1] = "";
        size_t length = 0;

        for (int column = 0; column < s->columns; ++column) {
            snprintf(line + column * WIDTH, WIDTH + 1, "%-*s", WIDTH, s->text[column][row]);
        }
        for (size_t i = 0; line[i] != '\0'; ++i) {
            length = line[i] != ' ' ? i + 1 : length;
        }
        if (length != 0) {
            printf("%.*s\n", (int)length, line);
        }
    }
    puts("");
    espl_world_destroy(s->world);
}

// --- The pictures ---

static void aim(const scene *s, char from, char to)
{
    must(espl_set_component(s->world, s->by_letter[(unsigned char)from], s->aim,
                            &s->by_letter[(unsigned char)to], sizeof(espl_entity)));
}

static void extents(void)
{
    static const char *const titles[] = {"ENTITY", "OWNED", "SUBTREE"};
    static const espl_extent extents[] = {ESPL_EXTENT_ENTITY, ESPL_EXTENT_OWNED,
                                          ESPL_EXTENT_SUBTREE};
    scene s;

    begin(&s, "X(a(w~(v)) c~(d))");
    draw(&s, "before");
    for (int i = 0; i < 3; ++i) {
        must(espl_set_enabled(s.world, s.by_letter['X'], extents[i], false));
        draw(&s, titles[i]);
        must(espl_set_enabled(s.world, s.by_letter['X'], ESPL_EXTENT_SUBTREE, true));
    }
    end(&s);
}

// One tree, and what each destroy of X makes of it.
static void destroys(const char *tree)
{
    static const char *const titles[] = {"owned", "subtree", "entity"};
    static const espl_extent extents[] = {ESPL_EXTENT_OWNED, ESPL_EXTENT_SUBTREE,
                                          ESPL_EXTENT_ENTITY};
    scene s, picture;

    begin(&picture, tree);
    draw(&picture, "before");
    for (int i = 0; i < 3; ++i) {
        begin(&s, tree);
        must(espl_destroy(s.world, s.by_letter['X'], extents[i]));
        draw(&s, titles[i]);
        memcpy(picture.text[picture.columns++], s.text[0], sizeof s.text[0]);
        espl_world_destroy(s.world);
    }
    end(&picture);
}

static void clone(scene *s, char letter, const char *title)
{
    const size_t tops = s->top_count;

    must(espl_instantiate(s->world,
                          &(espl_instance_def){.source = s->by_letter[(unsigned char)letter]}, 1,
                          &s->tops[0]));
    s->top_count = 1;
    draw(s, title);
    s->top_count = tops;
}

static void clones(void)
{
    scene s;

    begin(&s, "P(a(b) f~(g))");
    aim(&s, 'a', 'P');
    aim(&s, 'b', 'a');
    aim(&s, 'P', 'f');
    draw(&s, "source");
    clone(&s, 'P', "instantiate P");
    clone(&s, 'a', "instantiate a");
    end(&s);
}

static void placements(void)
{
    const espl_transform one = {{0, 0, 0, 1}, {1, 0, 0}, 1, {1, 1, 1}, 0};
    scene s;

    begin(&s, "R(m(c))");
    s.shows_place = true;
    must(espl_set_local_position(s.world, s.by_letter['R'], (float[]){10, 0, 0}));
    must(espl_set_local_position(s.world, s.by_letter['m'], (float[]){1, 0, 0}));
    must(espl_set_local_position(s.world, s.by_letter['c'], (float[]){1, 0, 0}));
    draw(&s, "before");
    must(espl_remove_component(s.world, s.by_letter['m'], ESPL_TRANSFORM));
    draw(&s, "m loses its own");
    must(espl_set_local_position(s.world, s.by_letter['R'], (float[]){20, 0, 0}));
    draw(&s, "R moves to 20");
    must(espl_add_component(s.world, s.by_letter['m'], ESPL_TRANSFORM, &one, sizeof one));
    draw(&s, "m gets local 1");
    end(&s);
}

int main(void)
{
    extents();
    destroys("R(p X(a(w~(v)) c~(d)) q)");
    destroys("X(a(w~(v)) c~ b)");
    clones();
    placements();
    return 0;
}
