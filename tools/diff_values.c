// SPDX-License-Identifier: MIT
// Two worlds side by side. Children of one parent belong together by name, those of one name and those without
// one by their order; what is left over on one side is in one world alone.
#include "tools/diff.h"

#include "tools/archive_file.h"
#include "tools/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// One node is left over on each side, with as many below it: it has another name.
static void join_renamed(comparison *c, const uint32_t left[2], const size_t counts[2])
{
    char path[DIFF_PATH];

    if (counts[0] == 1 && counts[1] == 1 &&
        c->sides[0].nodes[left[0]].below == c->sides[1].nodes[left[1]].below) {
        join(c, left[0], left[1]);
        diff_say(c->diff, "%s: is called '%s' in A and '%s' in B", path_of(c, 0, left[0], path),
                 espl_get_name(c->sides[0].world, c->sides[0].nodes[left[0]].entity),
                 espl_get_name(c->sides[1].world, c->sides[1].nodes[left[1]].entity));
    }
}

static int compare_siblings(const comparison *c, const outline_name *a, const outline_name *b)
{
    const int order = strcmp(a->text, b->text);
    const uint32_t one = c->sides[0].nodes[a->number].ordinal;
    const uint32_t other = c->sides[1].nodes[b->number].ordinal;

    return order != 0 ? order : (one > other) - (one < other);
}

// Match two ranges of siblings, which are in the order of their names, and of their ordinals for one name.
static void match_siblings(comparison *c, const size_t first[2], const size_t counts[2])
{
    const outline_name *a = c->sides[0].names + first[0], *b = c->sides[1].names + first[1];
    const outline_name *const a_end = a + counts[0], *const b_end = b + counts[1];
    uint32_t left[2] = {0, 0};
    size_t left_counts[2] = {0, 0};

    while (a < a_end || b < b_end) {
        const int order = a == a_end ? 1 : b == b_end ? -1 : compare_siblings(c, a, b);

        if (order == 0) {
            join(c, a++->number, b++->number);
        } else {
            const int side = order < 0 ? 0 : 1;

            left[side] = side == 0 ? a++->number : b++->number;
            left_counts[side] += 1;
        }
    }
    join_renamed(c, left, left_counts);
}

// Siblings that both sides have come in one order. @param nodes  of A, in its order.
static void compare_order(comparison *c, size_t first, size_t count, const char *what)
{
    char path[DIFF_PATH], after[DIFF_PATH];
    uint32_t last = OUTLINE_NONE, last_here = 0;

    for (uint32_t i = (uint32_t)first; i < first + count; ++i) {
        const uint32_t there = c->partners[i];

        if (there == OUTLINE_NONE) {
            continue;
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

static bool match_nodes(comparison *c)
{
    const tool_outline *const a = &c->sides[0], *const b = &c->sides[1];

    c->partners = malloc((a->count + 1) * sizeof *c->partners);
    c->others = malloc((b->count + 1) * sizeof *c->others);
    if (c->partners == NULL || c->others == NULL) {
        return false;
    }
    memset(c->partners, 0xff, (a->count + 1) * sizeof *c->partners);
    memset(c->others, 0xff, (b->count + 1) * sizeof *c->others);
    match_siblings(c, (size_t[]){0, 0}, (size_t[]){a->top_count, b->top_count});
    for (size_t i = 0; i < a->count; ++i) {
        const uint32_t there = c->partners[i];

        if (there != OUTLINE_NONE) {
            match_siblings(c, (size_t[]){a->nodes[i].first, b->nodes[there].first},
                           (size_t[]){a->nodes[i].count, b->nodes[there].count});
        }
    }
    return true;
}

// --- Nodes that one side has ---

static void say_missing(comparison *c, int side)
{
    const tool_outline *const o = &c->sides[side];
    const uint32_t *const partners = side == 0 ? c->partners : c->others;
    char path[DIFF_PATH];

    for (uint32_t i = 0; i < o->count; ++i) {
        const outline_node *const node = &o->nodes[i];

        // What is below a missing node is missing too.
        if (partners[i] != OUTLINE_NONE ||
            (node->parent != OUTLINE_NONE && partners[node->parent] == OUTLINE_NONE)) {
            continue;
        }
        if (node->below == 0) {
            diff_say(c->diff, "%s: only in %c", path_of(c, side, i, path), "AB"[side]);
        } else {
            diff_say(c->diff, "%s: only in %c, with %u below it", path_of(c, side, i, path),
                     "AB"[side], node -> below);
        }
    }
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
    // What inherit flags keep is no part of the local.
    if (inherit[0] == 0 || inherit[0] != inherit[1] ||
        espl_failed(espl_get_world_transform(c->sides[0].world, p->entities[0], &t[0])) ||
        espl_failed(espl_get_world_transform(c->sides[1].world, p->entities[1], &t[1]))) {
        return;
    }
    compare_floats(c, p, "world position, of which parts are kept,", t[0].position, t[1].position,
                   3);
    compare_floats(c, p, "world rotation, of which parts are kept,", t[0].rotation, t[1].rotation,
                   4);
    compare_floats(c, p, "world scale, which is kept,", &t[0].scale, &t[1].scale,
                   (inherit[0] & ESPL_ABSOLUTE_SCALE) != 0);
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

static void compare_pair(comparison *c, uint32_t a, uint32_t b)
{
    pair p = {.entities = {c->sides[0].nodes[a].entity, c->sides[1].nodes[b].entity}};
    const espl_link links[2] = {espl_get_link(c->sides[0].world, p.entities[0]),
                                espl_get_link(c->sides[1].world, p.entities[1])};

    (void)path_of(c, 0, a, p.path);
    if (links[0] != links[1]) {
        diff_say(c->diff, "%s: its link is %s in A and %s in B", p.path,
                 links[0] == ESPL_LINK_FREE ? "free" : "owned",
                 links[1] == ESPL_LINK_FREE ? "free" : "owned");
    }
    compare_transforms(c, &p);
    compare_components(c, &p);
    compare_order(c, c->sides[0].nodes[a].first, c->sides[0].nodes[a].count, "");
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

static void compare_nodes(comparison *c)
{
    say_missing(c, 0);
    say_missing(c, 1);
    // The order of roots is one of archives only; elsewhere it follows from indices.
    if (c->values[0]->kind == CONTENTS_ARCHIVE && c->values[1]->kind == CONTENTS_ARCHIVE) {
        compare_order(c, 0, c->sides[0].top_count, ", at the top");
    }
    for (uint32_t i = 0; i < c->sides[0].count; ++i) {
        if (c->partners[i] != OUTLINE_NONE) {
            compare_pair(c, i, c->partners[i]);
        }
    }
    compare_users(c);
}

diff_verdict diff_values(tool_diff *diff, const tool_value *a, const tool_value *b,
                         tool_fault *fault)
{
    comparison c = {.diff = diff, .values = {a, b}};
    const bool is_good = outline_make(&c.sides[0], a) && outline_make(&c.sides[1], b) &&
                         list_components(&c) && match_nodes(&c);

    if (is_good) {
        compare_nodes(&c);
    } else {
        fault_say(fault, "no memory");
    }
    outline_release(&c.sides[0]);
    outline_release(&c.sides[1]);
    free(c.partners);
    free(c.others);
    free(c.components);
    return !is_good ? DIFF_TROUBLE : diff->count == 0 ? DIFF_EQUAL : DIFF_DIFFERENT;
}
