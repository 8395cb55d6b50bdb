// SPDX-License-Identifier: MIT
// Two worlds side by side. Children of one parent belong together by name, those of one name and those without
// one by their order. Of what is left over, a name that each side has once is that of a node that moved, and a
// single child on each side has another name. The rest is in one world alone.
#include "tools/diff.h"

#include "tools/archive_file.h"
#include "tools/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Moved nodes may have moved nodes below them: how often those below are looked for.
enum { MOVES_LIMIT = 64 };

// A component of both worlds, or of one.
typedef struct shared_component {
    espl_component numbers[2]; // 0: not registered there
    espl_component_def def;    // of A, or else of B
    bool is_comparable;        // values have one size and the same references
} shared_component;

typedef struct comparison {
    tool_diff *diff;
    const tool_value *values[2];
    tool_outline sides[2];
    uint32_t *partners; // [nodes of A] the node of B, or OUTLINE_NONE
    uint32_t *others;   // [nodes of B] the node of A, or OUTLINE_NONE
    bool *is_matched;   // [nodes of A] the children of the node and of its partner were matched
    shared_component *components;
    size_t component_count;
} comparison;

static const char *path_of(const comparison *c, int side, uint32_t node, char out[DIFF_PATH])
{
    return outline_path(&c->sides[side], node, out, DIFF_PATH);
}

// --- Components ---

static bool has_equal_references(const espl_component_def *a, const espl_component_def *b)
{
    return a->reference_count == b->reference_count &&
           (a->reference_count == 0 ||
            memcmp(a->references, b->references, a->reference_count * sizeof *a->references) == 0);
}

static bool has_equal_fields(const espl_component_def *a, const espl_component_def *b)
{
    bool is_equal = a->field_count == b->field_count;

    for (size_t i = 0; is_equal && i < a->field_count; ++i) {
        const espl_component_field *const one = &a->fields[i], *const other = &b->fields[i];

        is_equal = strcmp(one->name, other->name) == 0 && one->type == other->type &&
                   one->offset == other->offset && one->count == other->count;
    }
    return is_equal;
}

static void compare_definitions(comparison *c, shared_component *s, const espl_component_def *b)
{
    const espl_component_def *const a = &s->def;

    if (a->version != b->version) {
        diff_say(c->diff, "component %s: version %u in A and %u in B", a->name, a->version,
                 b->version);
    }
    if (a->size != b->size) {
        diff_say(c->diff, "component %s: %zu bytes in A and %zu in B; values are not compared",
                 a->name, a->size, b->size);
    } else if (!has_equal_references(a, b)) {
        diff_say(c->diff, "component %s: other references; values are not compared", a->name);
    } else {
        s->is_comparable = true;
    }
    if (a->flags != b->flags) {
        diff_say(c->diff, "component %s: flags %u in A and %u in B", a->name, a->flags, b->flags);
    }
    // An image has no fields.
    if (c->values[0]->kind == c->values[1]->kind && !has_equal_fields(a, b)) {
        diff_say(c->diff, "component %s: other fields", a->name);
    }
}

// Tell whether a component is compared as such: the roles follow from the hierarchies.
static bool is_compared(espl_component component)
{
    return component != ESPL_SOLO && component != ESPL_ROOT && component != ESPL_MEMBER;
}

static bool list_components(comparison *c)
{
    const espl_world *const worlds[2] = {c->values[0]->world, c->values[1]->world};
    const uint32_t counts[2] = {espl_component_count(worlds[0]), espl_component_count(worlds[1])};

    c->components = calloc(counts[0] + counts[1], sizeof *c->components);
    if (c->components == NULL) {
        return false;
    }
    for (int side = 0; side < 2; ++side) {
        for (espl_component i = 1; i <= counts[side]; ++i) {
            shared_component *const s = &c->components[c->component_count];
            espl_component_def def;

            if (!is_compared(i) || espl_failed(espl_component_info(worlds[side], i, &def))) {
                continue;
            }
            const espl_component there = espl_component_find(worlds[!side], def.name);

            if (side == 1 && there != 0) {
                continue; // listed from A
            }
            s->numbers[side] = i;
            s->numbers[!side] = there;
            s->def = def;
            c->component_count += 1;
            if (there != 0 && !espl_failed(espl_component_info(worlds[!side], there, &def))) {
                compare_definitions(c, s, &def);
            }
        }
    }
    return true;
}

// --- Partners ---

static void join(comparison *c, uint32_t a, uint32_t b)
{
    c->partners[a] = b;
    c->others[b] = a;
}

static int compare_siblings(const comparison *c, const outline_name *a, const outline_name *b)
{
    const int order = strcmp(a->text, b->text);
    const uint32_t one = c->sides[0].nodes[a->number].ordinal;
    const uint32_t other = c->sides[1].nodes[b->number].ordinal;

    return order != 0 ? order : (one > other) - (one < other);
}

// The siblings below a node, or those at the top.
static size_t first_below(const tool_outline *o, uint32_t node)
{
    return node == OUTLINE_NONE ? 0 : o->nodes[node].first;
}

static size_t count_below(const tool_outline *o, uint32_t node)
{
    return node == OUTLINE_NONE ? o->top_count : o->nodes[node].count;
}

// Match the children of two nodes, which are in the order of their names, and of their ordinals for one name.
static void match_children(comparison *c, uint32_t here, uint32_t there)
{
    const outline_name *a = c->sides[0].names + first_below(&c->sides[0], here);
    const outline_name *b = c->sides[1].names + first_below(&c->sides[1], there);
    const outline_name *const a_end = a + count_below(&c->sides[0], here);
    const outline_name *const b_end = b + count_below(&c->sides[1], there);

    while (a < a_end && b < b_end) {
        const int order = compare_siblings(c, a, b);

        // One that moved has its partner already.
        if (order == 0 && c->partners[a->number] == OUTLINE_NONE &&
            c->others[b->number] == OUTLINE_NONE) {
            join(c, a->number, b->number);
        }
        a += order <= 0;
        b += order >= 0;
    }
}

// Match what is below nodes that belong together, unless it was done.
static void match_below_one(comparison *c, uint32_t node)
{
    if (c->partners[node] != OUTLINE_NONE && !c->is_matched[node]) {
        c->is_matched[node] = true;
        match_children(c, node, c->partners[node]);
    }
}

static void match_below(comparison *c)
{
    for (uint32_t i = 0; i < c->sides[0].count; ++i) {
        match_below_one(c, i);
    }
}

// --- Moved nodes ---

// Tell whether a node is left over below one that is not.
static bool is_cut_off(const comparison *c, int side, uint32_t node)
{
    const uint32_t *const partners = side == 0 ? c->partners : c->others;
    const uint32_t parent = c->sides[side].nodes[node].parent;

    return parent == OUTLINE_NONE || partners[parent] != OUTLINE_NONE;
}

static int compare_texts(const void *a, const void *b)
{
    const outline_name *const one = a, *const other = b;
    const int order = strcmp(one->text, other->text);

    return order != 0 ? order : (one->number > other->number) - (one->number < other->number);
}

// List the nodes with a name that are left over, in the order of their names. @return how many.
static size_t list_left(const comparison *c, int side, outline_name *out)
{
    const tool_outline *const o = &c->sides[side];
    const uint32_t *const partners = side == 0 ? c->partners : c->others;
    size_t count = 0;

    for (size_t i = 0; i < o->count; ++i) {
        const outline_name name = o->names[i];

        if (partners[name.number] == OUTLINE_NONE && name.text[0] != '\0') {
            out[count++] = name;
        }
    }
    qsort(out, count, sizeof *out, compare_texts);
    return count;
}

static const char *parent_of(const comparison *c, int side, uint32_t node, char out[DIFF_PATH])
{
    const uint32_t parent = c->sides[side].nodes[node].parent;

    return parent == OUTLINE_NONE ? "nothing" : path_of(c, side, parent, out);
}

static void join_moved(comparison *c, uint32_t here, uint32_t there)
{
    char path[DIFF_PATH], one[DIFF_PATH], other[DIFF_PATH];

    join(c, here, there);
    diff_say(c->diff, "%s: is below %s in A and below %s in B", path_of(c, 0, here, path),
             parent_of(c, 0, here, one), parent_of(c, 1, there, other));
}

// The end of the names that are equal to the first one.
static size_t end_of_run(const outline_name *names, size_t begin, size_t count)
{
    size_t end = begin;

    while (end < count && strcmp(names[end].text, names[begin].text) == 0) {
        end += 1;
    }
    return end;
}

// A name that one node left over has on each side is that of a node that moved, unless both are below others that
// are left over. @return how many moved.
static size_t match_moved(comparison *c, outline_name *const left[2])
{
    const size_t counts[2] = {list_left(c, 0, left[0]), list_left(c, 1, left[1])};
    size_t a = 0, b = 0, moved = 0;

    while (a < counts[0] && b < counts[1]) {
        const int order = strcmp(left[0][a].text, left[1][b].text);
        const size_t a_end = order <= 0 ? end_of_run(left[0], a, counts[0]) : a;
        const size_t b_end = order >= 0 ? end_of_run(left[1], b, counts[1]) : b;

        if (a_end - a == 1 && b_end - b == 1 &&
            (is_cut_off(c, 0, left[0][a].number) || is_cut_off(c, 1, left[1][b].number))) {
            join_moved(c, left[0][a].number, left[1][b].number);
            moved += 1;
        }
        a = a_end;
        b = b_end;
    }
    return moved;
}

// --- Renamed nodes ---

// Find the one child that is left over. @return OUTLINE_NONE: there is none, or several are.
static uint32_t only_left(const comparison *c, int side, uint32_t parent)
{
    const tool_outline *const o = &c->sides[side];
    const uint32_t *const partners = side == 0 ? c->partners : c->others;
    const size_t first = first_below(o, parent), end = first + count_below(o, parent);
    uint32_t found = OUTLINE_NONE;

    for (uint32_t i = (uint32_t)first; i < end; ++i) {
        if (partners[i] == OUTLINE_NONE) {
            if (found != OUTLINE_NONE) {
                return OUTLINE_NONE;
            }
            found = i;
        }
    }
    return found;
}

// One child is left over on each side, with as many below it: it has another name.
static void match_renamed(comparison *c, uint32_t here, uint32_t there)
{
    const uint32_t a = only_left(c, 0, here), b = only_left(c, 1, there);
    char path[DIFF_PATH];

    if (a == OUTLINE_NONE || b == OUTLINE_NONE ||
        c->sides[0].nodes[a].below != c->sides[1].nodes[b].below) {
        return;
    }
    join(c, a, b);
    diff_say(c->diff, "%s: is called '%s' in A and '%s' in B", path_of(c, 0, a, path),
             espl_get_name(c->sides[0].world, c->sides[0].nodes[a].entity),
             espl_get_name(c->sides[1].world, c->sides[1].nodes[b].entity));
}

// --- All nodes ---

static bool take_room(comparison *c, outline_name *left[2])
{
    const size_t counts[2] = {c->sides[0].count + 1, c->sides[1].count + 1};

    c->partners = malloc(counts[0] * sizeof *c->partners);
    c->others = malloc(counts[1] * sizeof *c->others);
    c->is_matched = calloc(counts[0], sizeof *c->is_matched);
    left[0] = malloc(counts[0] * sizeof *left[0]);
    left[1] = malloc(counts[1] * sizeof *left[1]);
    if (c->partners == NULL || c->others == NULL || c->is_matched == NULL || left[0] == NULL ||
        left[1] == NULL) {
        return false;
    }
    memset(c->partners, 0xff, counts[0] * sizeof *c->partners);
    memset(c->others, 0xff, counts[1] * sizeof *c->others);
    return true;
}

static bool match_nodes(comparison *c)
{
    outline_name *left[2] = {NULL, NULL};
    const bool is_good = take_room(c, left);

    if (is_good) {
        match_children(c, OUTLINE_NONE, OUTLINE_NONE);
        match_below(c);
        for (int turn = 0; turn < MOVES_LIMIT && match_moved(c, left) != 0; ++turn) {
            match_below(c);
        }
        match_renamed(c, OUTLINE_NONE, OUTLINE_NONE);
        for (uint32_t i = 0; i < c->sides[0].count; ++i) {
            if (c->partners[i] != OUTLINE_NONE) {
                match_below_one(c, i);
                match_renamed(c, i, c->partners[i]);
            }
        }
    }
    free(left[0]);
    free(left[1]);
    return is_good;
}

// Siblings that both sides have come in one order. @param parent  of A, or OUTLINE_NONE: those at the top.
static void compare_order(comparison *c, uint32_t parent, const char *what)
{
    const uint32_t there_parent = parent == OUTLINE_NONE ? OUTLINE_NONE : c->partners[parent];
    const size_t first = first_below(&c->sides[0], parent);
    const size_t end = first + count_below(&c->sides[0], parent);
    char path[DIFF_PATH], after[DIFF_PATH];
    uint32_t last = OUTLINE_NONE, last_here = 0;

    for (uint32_t i = (uint32_t)first; i < end; ++i) {
        const uint32_t there = c->partners[i];

        if (there == OUTLINE_NONE || c->sides[1].nodes[there].parent != there_parent) {
            continue; // left over, or moved
        }
        if (last != OUTLINE_NONE && there < last) {
            diff_say(c->diff, "%s: comes after %s in A and before it in B%s",
                     path_of(c, 0, i, path), path_of(c, 0, last_here, after), what);
            return;
        }
        last = there;
        last_here = i;
    }
}

// --- Nodes that one side has ---

// Say the nodes that are left over, each with how many are left over below it.
static bool say_missing(comparison *c, int side)
{
    const tool_outline *const o = &c->sides[side];
    const uint32_t *const partners = side == 0 ? c->partners : c->others;
    uint32_t *const below = calloc(o->count + 1, sizeof *below);
    char path[DIFF_PATH];

    for (size_t i = o->count; below != NULL && i-- > 0;) {
        const uint32_t parent = o->nodes[i].parent;

        if (partners[i] == OUTLINE_NONE && parent != OUTLINE_NONE) {
            below[parent] += 1 + below[i];
        }
    }
    for (uint32_t i = 0; below != NULL && i < o->count; ++i) {
        const uint32_t count = below[i];

        if (partners[i] == OUTLINE_NONE && is_cut_off(c, side, i)) {
            (void)path_of(c, side, i, path);
            if (count == 0) {
                diff_say(c->diff, "%s: only in %c", path, "AB"[side]);
            } else {
                diff_say(c->diff, "%s: only in %c, with %u below it", path, "AB"[side], count);
            }
        }
    }
    free(below);
    return below != NULL;
}

// --- Two nodes ---

// Two nodes that belong together, and the path of that in A.
typedef struct pair {
    espl_entity entities[2];
    char path[DIFF_PATH];
} pair;

static void compare_floats(comparison *c, const pair *p, const char *what, const float *a,
                           const float *b, size_t count)
{
    char one[DIFF_TEXT], other[DIFF_TEXT];

    if (memcmp(a, b, count * sizeof *a) != 0) {
        diff_say(c->diff, "%s: the %s is %s in A and %s in B", p->path, what,
                 diff_floats(a, count, one), diff_floats(b, count, other));
    }
}

static void compare_axes(comparison *c, const pair *p, const char *what, espl_axis axis)
{
    float axes[2][3];

    for (int side = 0; side < 2; ++side) {
        if (espl_failed(espl_get_axis(c->sides[side].world, p->entities[side], axis, axes[side]))) {
            return;
        }
    }
    compare_floats(c, p, what, axes[0], axes[1], 3);
}

// What inherit flags keep is no part of the local: these parts of the world transforms are compared.
static void compare_kept(comparison *c, const pair *p, uint32_t inherit)
{
    static const char *const positions[3] = {"kept world x", "kept world y", "kept world z"};
    espl_transform t[2];

    if (inherit == 0 || (inherit & ESPL_COPY_PARENT) != 0 ||
        espl_failed(espl_get_world_transform(c->sides[0].world, p->entities[0], &t[0])) ||
        espl_failed(espl_get_world_transform(c->sides[1].world, p->entities[1], &t[1]))) {
        return;
    }
    for (int i = 0; i < 3; ++i) {
        if ((inherit & (uint32_t)ESPL_ABSOLUTE_X << i) != 0) {
            compare_floats(c, p, positions[i], &t[0].position[i], &t[1].position[i], 1);
        }
    }
    if ((inherit & ESPL_ABSOLUTE_ROTATION) == ESPL_ABSOLUTE_ROTATION) {
        compare_floats(c, p, "kept world rotation", t[0].rotation, t[1].rotation, 4);
    } else if ((inherit & ESPL_ABSOLUTE_FORWARD) != 0) {
        compare_axes(c, p, "kept forward direction", ESPL_AXIS_FORWARD);
    } else if ((inherit & ESPL_ABSOLUTE_UP) != 0) {
        compare_axes(c, p, "kept up direction", ESPL_AXIS_UP);
    }
    if ((inherit & ESPL_ABSOLUTE_SCALE) != 0) {
        compare_floats(c, p, "kept world scale", &t[0].scale, &t[1].scale, 1);
    }
}

static void compare_transforms(comparison *c, const pair *p)
{
    const uint32_t inherit[2] = {espl_get_inherit(c->sides[0].world, p->entities[0]),
                                 espl_get_inherit(c->sides[1].world, p->entities[1])};
    espl_transform t[2];

    for (int side = 0; side < 2; ++side) {
        if (espl_failed(
                espl_get_local_transform(c->sides[side].world, p->entities[side], &t[side]))) {
            return;
        }
    }
    compare_floats(c, p, "position", t[0].position, t[1].position, 3);
    compare_floats(c, p, "rotation", t[0].rotation, t[1].rotation, 4);
    compare_floats(c, p, "scale", &t[0].scale, &t[1].scale, 1);
    compare_floats(c, p, "stretch", t[0].stretch, t[1].stretch, 3);
    if (t[0].user_data != t[1].user_data) {
        diff_say(c->diff, "%s: the user data is %u in A and %u in B", p->path, t[0].user_data,
                 t[1].user_data);
    }
    if (inherit[0] != inherit[1]) {
        diff_say(c->diff, "%s: the inherit flags are 0x%02x in A and 0x%02x in B", p->path,
                 inherit[0], inherit[1]);
    }
    if (inherit[0] == inherit[1]) {
        compare_kept(c, p, inherit[0]);
    }
}

// --- Values ---

static const char *name_reference(const comparison *c, int side, espl_entity entity,
                                  char out[DIFF_PATH])
{
    const uint32_t node = outline_find(&c->sides[side], entity);

    if (node == OUTLINE_NONE) {
        (void)snprintf(out, DIFF_PATH, "%s",
                       espl_entity_is_null(entity) ? "nothing" : "a dead entity");
        return out;
    }
    return path_of(c, side, node, out);
}

// Compare one reference of two values, and clear it in both.
static void compare_reference(comparison *c, const pair *p, const espl_component_def *def,
                              uint32_t offset, unsigned char *a, unsigned char *b)
{
    char part[DIFF_PATH], one[DIFF_PATH], other[DIFF_PATH];
    espl_entity e[2];

    memcpy(&e[0], a + offset, sizeof e[0]);
    memcpy(&e[1], b + offset, sizeof e[1]);
    memset(a + offset, 0, sizeof e[0]);
    memset(b + offset, 0, sizeof e[1]);
    const uint32_t here = outline_find(&c->sides[0], e[0]);
    const uint32_t there = outline_find(&c->sides[1], e[1]);

    // Dead entities and null are the same in an archive.
    const bool is_equal =
        here == OUTLINE_NONE || there == OUTLINE_NONE ? here == there : c->partners[here] == there;

    if (!is_equal) {
        diff_say(c->diff, "%s: %s names %s in A and %s in B", p->path, diff_part(def, offset, part),
                 name_reference(c, 0, e[0], one), name_reference(c, 1, e[1], other));
    }
}

static void compare_bytes(comparison *c, const pair *p, const espl_component_def *def,
                          const unsigned char *a, const unsigned char *b)
{
    char part[DIFF_PATH], one[DIFF_TEXT], other[DIFF_TEXT];

    for (uint32_t byte = 0; byte < def->size; ++byte) {
        uint32_t element = 0;
        size_t size = 1;

        if (a[byte] == b[byte]) {
            continue;
        }
        const espl_component_field *const field = diff_field(def, byte, &element, &size);
        const uint32_t begin = field == NULL ? byte : field->offset + element * (uint32_t)size;
        const espl_field_type type = field == NULL ? ESPL_FIELD_BYTES : field->type;

        size = field == NULL ? 1 : size;
        diff_say(c->diff, "%s: %s is %s in A and %s in B", p->path, diff_part(def, byte, part),
                 diff_element(type, a + begin, one), diff_element(type, b + begin, other));
        byte = begin + (uint32_t)size - 1;
    }
}

static void compare_values(comparison *c, const pair *p, const shared_component *s)
{
    unsigned char bytes[2][ESPL_COMPONENT_SIZE_LIMIT];
    const espl_component_def *const def = &s->def;

    for (int side = 0; side < 2; ++side) {
        if (espl_failed(espl_get_component(c->sides[side].world, p->entities[side],
                                           s->numbers[side], bytes[side], def->size))) {
            return;
        }
    }
    for (size_t i = 0; i < def->reference_count; ++i) {
        compare_reference(c, p, def, def->references[i], bytes[0], bytes[1]);
    }
    compare_bytes(c, p, def, bytes[0], bytes[1]);
}

static void compare_components(comparison *c, const pair *p)
{
    for (size_t i = 0; i < c->component_count; ++i) {
        const shared_component *const s = &c->components[i];
        bool has[2];

        for (int side = 0; side < 2; ++side) {
            has[side] =
                s->numbers[side] != 0 &&
                espl_has_component(c->sides[side].world, p->entities[side], s->numbers[side]);
        }
        if (has[0] != has[1]) {
            diff_say(c->diff, "%s: has %s in %c and not in %c", p->path, s->def.name,
                     has[0] ? 'A' : 'B', has[0] ? 'B' : 'A');
        } else if (has[0] && s->is_comparable && s->def.size != 0 &&
                   s->numbers[0] != ESPL_TRANSFORM) {
            compare_values(c, p, s);
        }
    }
}

static bool has_archive(const comparison *c)
{
    return c->values[0]->kind == CONTENTS_ARCHIVE || c->values[1]->kind == CONTENTS_ARCHIVE;
}

static void compare_pair(comparison *c, uint32_t a, uint32_t b)
{
    const espl_world *const worlds[2] = {c->sides[0].world, c->sides[1].world};
    pair p = {.entities = {c->sides[0].nodes[a].entity, c->sides[1].nodes[b].entity}};
    const espl_link links[2] = {espl_get_link(c->sides[0].world, p.entities[0]),
                                espl_get_link(c->sides[1].world, p.entities[1])};

    (void)path_of(c, 0, a, p.path);
    if (links[0] != links[1]) {
        diff_say(c->diff, "%s: its link is %s in A and %s in B", p.path,
                 links[0] == ESPL_LINK_FREE ? "free" : "owned",
                 links[1] == ESPL_LINK_FREE ? "free" : "owned");
    }
    diff_places(c->diff, p.path, worlds, p.entities, !has_archive(c));
    compare_transforms(c, &p);
    compare_components(c, &p);
    compare_order(c, a, "");
}

// --- All ---

static void compare_users(comparison *c)
{
    const espl_archive_info *const a = &c->values[0]->info, *const b = &c->values[1]->info;

    if (a->user_size != b->user_size ||
        (a->user_size != 0 && memcmp(a->user, b->user, a->user_size) != 0)) {
        diff_say(c->diff, "the bytes of the program, %zu in A and %zu in B, differ", a->user_size,
                 b->user_size);
    }
}

static bool compare_nodes(comparison *c)
{
    const espl_world *const worlds[2] = {c->sides[0].world, c->sides[1].world};

    if (!say_missing(c, 0) || !say_missing(c, 1)) {
        return false;
    }
    // The order of roots is one of archives only; elsewhere it follows from indices.
    if (c->values[0]->kind == CONTENTS_ARCHIVE && c->values[1]->kind == CONTENTS_ARCHIVE) {
        compare_order(c, OUTLINE_NONE, ", at the top");
    }
    for (uint32_t i = 0; i < c->sides[0].count; ++i) {
        if (c->partners[i] != OUTLINE_NONE) {
            compare_pair(c, i, c->partners[i]);
        }
    }
    compare_users(c);
    diff_cell_sizes(c->diff, worlds, has_archive(c));
    return true;
}

diff_verdict diff_values(tool_diff *diff, const tool_value *a, const tool_value *b,
                         tool_fault *fault)
{
    comparison c = {.diff = diff, .values = {a, b}};
    const bool is_good = outline_make(&c.sides[0], a) && outline_make(&c.sides[1], b) &&
                         list_components(&c) && match_nodes(&c) && compare_nodes(&c);

    if (!is_good) {
        fault_say(fault, "no memory");
    }
    outline_release(&c.sides[0]);
    outline_release(&c.sides[1]);
    free(c.partners);
    free(c.others);
    free(c.is_matched);
    free(c.components);
    return !is_good ? DIFF_TROUBLE : diff->count == 0 ? DIFF_EQUAL : DIFF_DIFFERENT;
}
