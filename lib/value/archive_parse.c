// SPDX-License-Identifier: MIT
// Checking the bytes of an archive. They may come from anywhere.
//
// The order: head and table (archive_head.c); components and sets, whose
// memory is bounded by the bytes that are there for them; then one walk over the nodes, which needs none.
// Each step relies on those before it. Nothing of a world is read but limits.
#include "lib/value/archive_read.h"
#include "lib/value/delta_rows.h"

#include "lib/math/wide.h"
#include "lib/tree/layout.h"

#include <math.h>

// --- Components ---

// Step over a text of 1 to 255 bytes that may be a name. @return false: there is none.
static bool take_name(espl__cursor *cursor, const char **name, uint32_t *length)
{
    *length = (uint32_t)espl__cursor_number(cursor, 1);
    *name = (const char *)espl__cursor_take(cursor, *length);
    return *name != NULL && *length != 0 && espl__name_check(*name, *length) == ESPL_OK;
}

// Compare two names as texts.
static int compare_names(const espl__parsed_component *a, const espl__parsed_component *b)
{
    const size_t least = a->length < b->length ? a->length : b->length;
    const int order = memcmp(a->name, b->name, least);

    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static bool is_named(const espl__parsed_component *c, const char *name)
{
    return strlen(name) == c->length && memcmp(c->name, name, c->length) == 0;
}

// Tell whether a component is what the format allows. Roles are not in it.
static bool is_sound_component(espl__parsed_component *c, uint32_t alignment)
{
    static const struct {
        const char *name;
        espl_component component; // 0: a role
    } built_in[] = {{"transform", ESPL_TRANSFORM},
                    {"prefab", ESPL_PREFAB},
                    {"disabled", ESPL_DISABLED},
                    {"solo", 0},
                    {"root", 0},
                    {"member", 0}};
    uint64_t end = 0;

    for (size_t i = 0; i < sizeof built_in / sizeof *built_in; ++i) {
        if (is_named(c, built_in[i].name)) {
            c->is_built_in = true;
            c->component = built_in[i].component;
        }
    }
    if ((c->is_built_in && (c->component == 0 || c->size != 0 || c->flags != 0)) ||
        (c->is_transient && c->size != 0)) {
        return false;
    }
    for (uint32_t r = 0; r < c->reference_count; ++r) {
        const uint64_t offset = espl__number_load(c->references + (size_t)r * 4, 4);

        if (offset < end || offset + sizeof(espl_entity) > c->size) {
            return false;
        }
        end = offset + sizeof(espl_entity);
    }
    return c->size <= ESPL_COMPONENT_SIZE_LIMIT && alignment != 0 && alignment <= 256 &&
           (alignment & (alignment - 1)) == 0 && c->size % alignment == 0;
}

// A field of a component, as it is in an archive.
typedef struct parsed_field {
    const char *name;
    uint32_t length, type, offset, count;
} parsed_field;

// Read a field. @return false: none that a component may have.
static bool take_field(espl__cursor *cursor, parsed_field *out)
{
    const bool is_named = take_name(cursor, &out->name, &out->length);

    out->type = (uint32_t)espl__cursor_number(cursor, 1);
    out->offset = espl__cursor_u32(cursor);
    out->count = espl__cursor_u32(cursor);
    return is_named && !cursor->is_broken && out->type < ESPL_FIELD_TYPE_COUNT && out->count != 0;
}

static uint32_t element_size_of(const parsed_field *field)
{
    return espl__field_element_size((espl_field_type)field->type);
}

// Tell whether a field has the name of an earlier one. Quadratic in the fields, which are few.
static bool has_name_of_earlier(espl__cursor fields, uint32_t count, const parsed_field *field)
{
    bool is_found = false;
    parsed_field earlier;

    for (uint32_t i = 0; i < count && !is_found; ++i) {
        (void)take_field(&fields, &earlier);
        is_found = earlier.length == field->length &&
                   memcmp(earlier.name, field->name, field->length) == 0;
    }
    return is_found;
}

// Tell whether the elements of a field are the next references. @param next  of them; in and out.
static bool are_next_references(const espl__parsed_component *c, const parsed_field *field,
                                uint32_t *next)
{
    const uint32_t count = field->type == ESPL_FIELD_ENTITY ? field->count : 0;
    bool is_same = true;

    for (uint32_t i = 0; i < count && is_same; ++i, ++*next) {
        is_same =
            *next < c->reference_count && espl__number_load(c->references + (size_t)*next * 4, 4) ==
                                              field->offset + i * (uint64_t)sizeof(espl_entity);
    }
    return is_same;
}

// Read the fields of a component. Their offsets ascend inside the value, and entity fields are its references.
static bool take_fields(espl__cursor *cursor, espl__parsed_component *c)
{
    uint64_t end = 0;
    uint32_t references = 0;

    c->field_count = espl__cursor_u32(cursor);
    if (cursor->is_broken || c->field_count > ESPL_FIELD_LIMIT) {
        return false;
    }
    const espl__cursor begin = *cursor;

    c->fields = cursor->bytes + cursor->at;
    for (uint32_t i = 0; i < c->field_count; ++i) {
        parsed_field field;

        if (!take_field(cursor, &field) || field.offset < end ||
            has_name_of_earlier(begin, i, &field)) {
            return false;
        }
        end = field.offset + (uint64_t)field.count * element_size_of(&field);
        if (end > c->size || !are_next_references(c, &field, &references)) {
            return false;
        }
    }
    return c->field_count == 0 || references == c->reference_count;
}

void espl__parsed_swap(const espl__parsed_component *c, unsigned char *value)
{
    // Longer than any list of fields: it was read before.
    espl__cursor cursor = espl__cursor_of(c->fields, SIZE_MAX);
    parsed_field field;

    for (uint32_t i = 0; i < c->field_count; ++i) {
        (void)take_field(&cursor, &field);
        const uint32_t size = field.type == ESPL_FIELD_ENTITY ? 0 : element_size_of(&field);

        for (uint32_t k = 0; size > 1 && k < field.count; ++k) {
            espl__wire_turn(value + field.offset + k * size, size);
        }
    }
}

static bool parse_component(espl__parse *p, espl__cursor *cursor)
{
    espl__parsed_component c = {0};
    const size_t count = espl__array_length(p->components);

    if (!take_name(cursor, &c.name, &c.length)) {
        return espl__parse_refuse_at(p, cursor,
                                     "A component has no name, or one that no component may have.");
    }
    c.version = espl__cursor_u32(cursor);
    c.size = espl__cursor_u32(cursor);
    const uint32_t alignment = espl__cursor_u32(cursor);

    c.flags = espl__cursor_u32(cursor);
    if ((c.flags & ~ESPL__COMPONENT_FLAGS) != 0) {
        return espl__parse_refuse(p, ESPL_ERR_VERSION, c.name,
                                  "A component has flags of a later version.");
    }
    c.is_transient = (c.flags & ESPL_COMPONENT_TRANSIENT) != 0;
    c.reference_count = espl__cursor_u32(cursor);
    if (c.reference_count > ESPL_REFERENCE_LIMIT) {
        return espl__parse_refuse_at(p, cursor,
                                     "A component has more references than one may have.");
    }
    c.references = espl__cursor_take(cursor, (size_t)c.reference_count * 4);
    if (cursor->is_broken || !is_sound_component(&c, alignment) || !take_fields(cursor, &c)) {
        return espl__parse_refuse_at(p, cursor,
                                     "A component has a size or offsets that none may have.");
    }
    if (count != 0 && compare_names(&p->components[count - 1], &c) >= 0) {
        return espl__parse_refuse_at(p, cursor, "Components are not in the order of their names.");
    }
    ESPL_ARRAY_PUSH(p->components, c);
    return true;
}

static bool parse_components(espl__parse *p)
{
    espl__cursor *const cursor = &p->sections[ESPL__ARCHIVE_COMP];
    const uint32_t count = cursor->size == 0 ? 0 : espl__cursor_u32(cursor);

    // A component takes at least 26 bytes.
    if (count > ESPL_COMPONENT_LIMIT || count > cursor->size / 26) {
        return espl__parse_refuse_at(p, cursor,
                                     "The section COMP has less bytes than its components need.");
    }
    if (!ESPL_ARRAY_RESERVE(p->heap, ESPL__FOR_COMMANDS, p->components, count)) {
        return espl__parse_refuse(p, ESPL_ERR_NO_MEMORY, NULL, NULL);
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!parse_component(p, cursor)) {
            return false;
        }
    }
    return espl__cursor_is_done(cursor) ||
           espl__parse_refuse_at(p, cursor, "The section COMP has bytes behind its end.");
}

// --- Sets ---

static bool parse_set(espl__parse *p, espl__cursor *cursor)
{
    const uint32_t count = espl__cursor_varint(cursor);
    const size_t components = espl__array_length(p->components);
    espl__parsed_set set = {.first = (uint32_t)espl__array_length(p->items),
                            .component_count = (uint8_t)count};
    uint32_t least = 0;

    // A role is a component too.
    if (count >= ESPL_SET_LIMIT) {
        return espl__parse_refuse_at(p, cursor,
                                     "A set has more components than an entity may have.");
    }
    if (!ESPL_ARRAY_RESERVE(p->heap, ESPL__FOR_COMMANDS, p->items, count)) {
        return espl__parse_refuse(p, ESPL_ERR_NO_MEMORY, NULL, NULL);
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t number = espl__cursor_varint(cursor);

        if (cursor->is_broken || number < least || number >= components) {
            return espl__parse_refuse_at(
                p, cursor, "A set has a component that does not exist, or is not sorted.");
        }
        const espl__parsed_component *const c = &p->components[number];

        least = number + 1;
        set.has_transform = set.has_transform || c->component == ESPL_TRANSFORM;
        set.has_references = set.has_references || c->reference_count != 0;
        ESPL_ARRAY_PUSH(p->items, (uint16_t)number);
    }
    ESPL_ARRAY_PUSH(p->sets, set);
    return true;
}

static bool parse_sets(espl__parse *p)
{
    espl__cursor *const cursor = &p->sections[ESPL__ARCHIVE_SETS];
    const uint32_t count = espl__cursor_u32(cursor);

    if (cursor->is_broken || count > espl__cursor_left(cursor) || count > p->info.nodes) {
        return espl__parse_refuse_at(p, cursor,
                                     "The section SETS has less bytes than its sets need.");
    }
    if (!ESPL_ARRAY_RESERVE(p->heap, ESPL__FOR_COMMANDS, p->sets, count)) {
        return espl__parse_refuse(p, ESPL_ERR_NO_MEMORY, NULL, NULL);
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!parse_set(p, cursor)) {
            return false;
        }
    }
    p->set_numbers_at = cursor->at;
    return !cursor->is_broken ||
           espl__parse_refuse_at(p, cursor, "The section SETS ends too early.");
}

// --- The walk ---

void espl__walk_begin(espl__node_walk *walk, espl__parse *p)
{
    const espl__cursor *const sections = p->sections;

    *walk = (espl__node_walk){.parse = p,
                              .parent = ESPL__NO_SLOT,
                              .tree = sections[ESPL__ARCHIVE_TREE],
                              .locals = sections[ESPL__ARCHIVE_LOCA],
                              .side = sections[ESPL__ARCHIVE_SIDE],
                              .sets = sections[ESPL__ARCHIVE_SETS],
                              .names = sections[ESPL__ARCHIVE_NAME],
                              .frees = sections[ESPL__ARCHIVE_FREE]};
    walk->sets.at = p->set_numbers_at;
    walk->cells = sections[ESPL__ARCHIVE_CELL];
    (void)espl__cursor_u32(&walk->cells);
    for (size_t i = 0; i < espl__array_length(p->sets); ++i) {
        p->sets[i].seen = 0;
    }
    walk->node.built.placement.kept = espl__kept_none();
    walk->node.built.placement.extra = espl__extra_default();
    if (p->info.nodes != 0) {
        walk->next_side = espl__walk_gap(p, &walk->side, 0);
        walk->next_name = espl__walk_gap(p, &walk->names, 0);
        walk->next_cell = p->cell_size != 0 ? espl__walk_gap(p, &walk->cells, 0) : ESPL__NO_SLOT;
    }
}

// Find the parent of the next node: the first node whose children did not all come yet. Where that is the
// node itself, it is a top.
static inline void walk_to_parent(espl__node_walk *w)
{
    const uint32_t at = w->at;
    uint32_t parent = w->parent, children = w->children;
    espl__cursor tree = w->tree;

    while (children == 0 && parent + 1 < at) {
        parent += 1;
        children = espl__cursor_varint(&tree);
    }
    w->tree.at = tree.at;
    w->tree.is_broken = tree.is_broken;
    w->parent = parent;
    w->children = children == 0 ? 0 : children - 1;
    w->node.built.parent = children == 0 ? ESPL__NO_SLOT : parent;
}

static bool has_bit(const espl__cursor *bits, uint32_t number)
{
    return bits->size != 0 && (bits->bytes[number / 8] >> number % 8 & 1) != 0;
}

// Read floats; zeros past the end.
static void take_words(espl__cursor *cursor, void *out, size_t count)
{
    const unsigned char *const bytes = espl__cursor_take(cursor, count * 4);

    if (bytes != NULL) {
        espl__wire_load_words(out, bytes, count);
    } else {
        memset(out, 0, count * 4);
    }
}

static bool are_finite(const float *numbers, size_t count)
{
    bool is_finite = true;

    for (size_t i = 0; i < count; ++i) {
        is_finite = is_finite && isfinite(numbers[i]);
    }
    return is_finite;
}

static bool is_finite_pose(const espl_pose *pose)
{
    return espl__wide_is_finite(espl__wide_load(pose));
}

// Tell whether a kept rotation is near enough to one that it can be composed with.
static bool is_near_unit(const float q[4])
{
    const float square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];

    return square > 0.0625F && square < 16;
}

// Read the kept parts of a node. The parts that its flags do not name are those of the identity.
static bool take_kept(espl__node_walk *w, espl__kept *out)
{
    const uint32_t flags = (uint32_t)espl__cursor_number(&w->side, 1);

    take_words(&w->side, &out->pose, 8);
    out->flags = flags;
    if (w->side.is_broken || flags == 0 || !espl__flags_are_valid(flags) ||
        w->node.built.parent == ESPL__NO_SLOT || !is_finite_pose(&out->pose) ||
        !is_near_unit(out->pose.rotation)) {
        return false;
    }
    const espl__kept kept = espl__kept_of(&out->pose, flags);

    return espl__pose_is_same(&kept.pose, &out->pose);
}

// Read the entry of a node in the section Side.
static bool take_side(espl__node_walk *w)
{
    const uint32_t parts = (uint32_t)espl__cursor_number(&w->side, 1);
    espl__built *const built = &w->node.built;
    espl__placement *const to = &built->placement;
    enum { ALL = ESPL__ARCHIVE_STRETCH | ESPL__ARCHIVE_USER_DATA | ESPL__ARCHIVE_KEPT };

    built->has_side = true;
    if (parts == 0 || (parts & ~(uint32_t)ALL) != 0 || built->is_bare) {
        return false;
    }
    if ((parts & ESPL__ARCHIVE_STRETCH) != 0) {
        take_words(&w->side, to->extra.stretch, 3);
    }
    if ((parts & ESPL__ARCHIVE_USER_DATA) != 0) {
        to->extra.user_data = espl__cursor_u32(&w->side);
    }
    if (!are_finite(to->extra.stretch, 3) ||
        ((parts & ESPL__ARCHIVE_KEPT) != 0 && !take_kept(w, &to->kept)) ||
        (espl__placement_copies(to) && !espl__extra_is_default(&to->extra))) {
        return false;
    }
    w->parse->has_side = true;
    w->next_side = w->at + 1 < w->parse->info.nodes ? espl__walk_gap(w->parse, &w->side, w->at + 1)
                                                    : ESPL__NO_SLOT;
    return !w->side.is_broken;
}

// Read the placement. That of a node has the default but for its local, unless the section Side has an entry.
static bool take_placement(espl__node_walk *w)
{
    espl__parse *const p = w->parse;
    espl__built *const built = &w->node.built;
    espl_pose *const local = &built->placement.local;

    if (built->has_side) {
        built->has_side = false;
        built->placement.kept = espl__kept_none();
        built->placement.extra = espl__extra_default();
    }
    if (!built->is_bare) {
        take_words(&w->locals, local, 8);
        if (!p->is_checked && (w->locals.is_broken || !is_finite_pose(local) ||
                               !espl__wide_is_unit(espl__wide_load(local)))) {
            return espl__parse_refuse_at(p, &w->locals,
                                         "A local is missing, not finite, or no rotation.");
        }
    }
    return w->next_side != w->at || take_side(w) ||
           espl__parse_refuse_at(p, &w->side, "An entry of the section Side is that of no node.");
}

static bool take_set(espl__node_walk *w)
{
    espl__parse *const p = w->parse;
    const uint32_t set = espl__cursor_varint(&w->sets);

    if (w->sets.is_broken || set >= espl__array_length(p->sets)) {
        return espl__parse_refuse_at(p, &w->sets, "A node has a set that does not exist.");
    }
    w->node.built.set = set;
    w->node.built.is_bare = !p->sets[set].has_transform;
    w->node.rank = p->sets[set].seen++;
    return true;
}

static ESPL__APART bool take_node_name(espl__node_walk *w)
{
    espl__parse *const p = w->parse;

    if (!take_name(&w->names, &w->node.name, &w->node.length)) {
        return espl__parse_refuse_at(p, &w->names, "A name is none that an entity may have.");
    }
    w->next_name =
        w->at + 1 < p->info.nodes ? espl__walk_gap(p, &w->names, w->at + 1) : ESPL__NO_SLOT;
    return !w->names.is_broken || espl__parse_refuse_at(p, &w->names, "A name is that of no node.");
}

const espl__parsed_node *espl__walk_next(espl__node_walk *w)
{
    espl__parse *const p = w->parse;
    espl__parsed_node *const node = &w->node;

    ESPL_CHECK(w->at < p->info.nodes);
    walk_to_parent(w);
    if (w->tree.is_broken) {
        (void)espl__parse_refuse_at(p, &w->tree, "The section TREE ends too early.");
        return NULL;
    }
    node->built.is_free = has_bit(&w->frees, w->at);
    if (node->built.parent == ESPL__NO_SLOT) {
        w->tops += 1;
        w->tree_begin = w->at;
        if (node->built.is_free) {
            (void)espl__parse_refuse_at(p, &w->frees, "A root has a free link.");
            return NULL;
        }
    }
    node->name = NULL;
    node->cell = (espl__cell){{0, 0, 0}};
    if (!take_set(w) || (!w->skips_placements && !take_placement(w)) ||
        (w->next_name == w->at && !take_node_name(w)) ||
        (p->cell_size != 0 && w->next_cell == w->at && !espl__walk_take_cell(w))) {
        return NULL;
    }
    w->at += 1;
    return node;
}

// --- The checks of all nodes ---

// Check what is left behind the last node.
static bool check_ends(espl__parse *p, espl__node_walk *w)
{
    // The last nodes have no children.
    while (w->children == 0 && w->parent + 1 < w->at) {
        w->parent += 1;
        w->children = espl__cursor_varint(&w->tree);
    }
    if (!espl__cursor_is_done(&w->tree) || w->children != 0 || w->tops != p->info.tops) {
        return espl__parse_refuse_at(p, &w->tree,
                                     "The numbers of children are not those of the nodes.");
    }
    if (!espl__cursor_is_done(&w->sets)) {
        return espl__parse_refuse_at(p, &w->sets, "The section SETS has bytes behind its end.");
    }
    if (!espl__cursor_is_done(&w->locals) || w->side.is_broken || w->names.is_broken) {
        return espl__parse_refuse_at(p, &w->locals,
                                     "A section about nodes has entries for other nodes.");
    }
    if (p->cell_size != 0 && !espl__cursor_is_done(&w->cells)) {
        return espl__parse_refuse_at(p, &w->cells, "The section Cell has bytes behind its end.");
    }
    if (!espl__cursor_is_done(&w->side) || !espl__cursor_is_done(&w->names)) {
        return espl__parse_refuse_at(p, &w->side,
                                     "A section about nodes has bytes behind its end.");
    }
    return true;
}

// Count the slots of a tree.
static void count_room(espl__parse *p, uint32_t begin, uint32_t end)
{
    p->spare += end > begin ? espl__tree_spare(end - begin) : 0;
    p->longest = end - begin > p->longest ? end - begin : p->longest;
}

static bool check_nodes(espl__parse *p)
{
    const espl__cursor *const frees = &p->sections[ESPL__ARCHIVE_FREE];
    const size_t bits = ((size_t)p->info.nodes + 7) / 8;
    espl__node_walk walk;

    if (frees->size != 0 &&
        (frees->size != bits ||
         (p->info.nodes % 8 != 0 && frees->bytes[bits - 1] >> p->info.nodes % 8 != 0))) {
        return espl__parse_refuse_at(p, frees, "The section FREE has not a bit for each node.");
    }
    espl__walk_begin(&walk, p);
    while (walk.at < p->info.nodes) {
        const uint32_t begin = walk.tree_begin, at = walk.at;

        const espl__parsed_node *const node = espl__walk_next(&walk);

        if (node == NULL) {
            return false;
        }
        if (node->built.parent == ESPL__NO_SLOT) {
            count_room(p, begin, at);
        }
        p->named += node->name != NULL ? 1 : 0;
    }
    count_room(p, walk.tree_begin, walk.at);
    p->is_checked = check_ends(p, &walk);
    return p->is_checked;
}

// --- Columns ---

// Find where the columns of each set are. @return false: the section COLS has another size.
static bool find_columns(espl__parse *p)
{
    const espl__cursor *const columns = &p->sections[ESPL__ARCHIVE_COLS];
    uint64_t offset = 0;

    for (size_t i = 0; i < espl__array_length(p->sets); ++i) {
        espl__parsed_set *const set = &p->sets[i];

        set->count = set->seen;
        set->columns = offset;
        if (set->count == 0) {
            return espl__parse_refuse_at(p, &p->sections[ESPL__ARCHIVE_SETS],
                                         "No node has one of the sets.");
        }
        for (uint32_t k = 0; k < set->component_count; ++k) {
            espl__parsed_component *const c = &p->components[p->items[set->first + k]];

            c->count += set->count;
            offset += (uint64_t)set->count * c->size;
        }
    }
    return offset == columns->size ||
           espl__parse_refuse_at(p, columns, "The section COLS has not the size of the values.");
}

// Check that the references in a value are zeros, and that the section REFS has numbers for them.
static bool check_references_in(espl__parse *p, espl__cursor *references,
                                const espl__parsed_component *c, const unsigned char *value)
{
    for (uint32_t r = 0; r < c->reference_count; ++r) {
        const size_t at = (size_t)espl__number_load(c->references + (size_t)r * 4, 4);

        if (!espl__are_zeros(value + at, sizeof(espl_entity))) {
            return espl__parse_refuse(p, ESPL_ERR_FORMAT, value + at,
                                      "A reference in a value is not 0.");
        }
        if (espl__cursor_varint(references) > p->info.nodes || references->is_broken) {
            return espl__parse_refuse_at(p, references,
                                         "A reference names a node that does not exist.");
        }
    }
    return true;
}

static bool has_references(const espl__parse *p)
{
    bool has_any = false;

    for (size_t i = 0; i < espl__array_length(p->sets) && !has_any; ++i) {
        has_any = p->sets[i].has_references;
    }
    return has_any;
}

static bool check_references(espl__parse *p)
{
    const unsigned char *const columns = p->sections[ESPL__ARCHIVE_COLS].bytes;
    espl__cursor references = p->sections[ESPL__ARCHIVE_REFS];
    espl__node_walk walk;

    if (references.size == 0 && !has_references(p)) {
        return true;
    }
    espl__walk_begin(&walk, p);
    walk.skips_placements = true;
    while (walk.at < p->info.nodes) {
        const espl__parsed_node *const node = espl__walk_next(&walk);

        ESPL_CHECK(node != NULL);
        const espl__parsed_set *const set = &p->sets[node->built.set];
        uint64_t offset = set->columns;

        for (uint32_t k = 0; set->has_references && k < set->component_count; ++k) {
            const espl__parsed_component *const c = &p->components[p->items[set->first + k]];

            if (c->reference_count != 0 &&
                !check_references_in(p, &references, c,
                                     columns + offset + (uint64_t)node->rank * c->size)) {
                return false;
            }
            offset += (uint64_t)set->count * c->size;
        }
    }
    return espl__cursor_is_done(&references) ||
           espl__parse_refuse_at(p, &references, "The section REFS has bytes behind its end.");
}

bool espl__parse_body(espl__parse *p)
{
    const espl__cursor *const handles = &p->sections[ESPL__ARCHIVE_HAND];

    if (p->info.nodes > INT32_MAX) {
        return espl__parse_refuse(p, ESPL_ERR_LIMIT, NULL, "No world has so many entities.");
    }
    if (handles->size != 0 && handles->size != (uint64_t)p->info.nodes * 8) {
        return espl__parse_refuse_at(p, handles,
                                     "The section Hand has not a handle for each node.");
    }
    const espl__cursor *const section = &p->sections[ESPL__ARCHIVE_GRID];
    const espl__pose_grid grid = espl__grid_of(section);

    if (section->size != 0 && (grid.step | grid.bits) == 0) {
        return espl__parse_refuse_at(p, section, "The section grid has no grid.");
    }
    return espl__parse_cell_size(p) && parse_components(p) && parse_sets(p) && check_nodes(p) &&
           find_columns(p) && check_references(p);
}

void espl__parse_end(espl__parse *p)
{
    ESPL_ARRAY_FREE(p->heap, ESPL__FOR_COMMANDS, p->components);
    ESPL_ARRAY_FREE(p->heap, ESPL__FOR_COMMANDS, p->sets);
    ESPL_ARRAY_FREE(p->heap, ESPL__FOR_COMMANDS, p->items);
}
