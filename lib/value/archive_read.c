// SPDX-License-Identifier: MIT
// Reading an archive into a world. The order: all checks of the bytes (archive_parse.c); the components of
// the world that those of the archive become; migrations; the memory of names. Then the nodes are built by one
// edit, all or none. Values, references and names follow, which cannot fail.
#include "lib/value/archive_reader.h"

#include "lib/tree/cells.h"
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/structure.h"
#include "lib/world/tape.h"

// --- Components ---

static const espl__component_info *info_in_world(const espl__reader *r, espl_component component)
{
    return espl__component_info_of(&r->world->store, component);
}

static const espl_archive_migration *find_migration(const espl__reader *r,
                                                    const espl__parsed_component *c)
{
    for (size_t i = 0; i < r->def->migration_count; ++i) {
        const char *const name = r->def->migrations[i].name;

        if (strlen(name) == c->length && memcmp(name, c->name, c->length) == 0) {
            return &r->def->migrations[i];
        }
    }
    return NULL;
}

static bool has_same_references(const espl__component_info *info, const espl__parsed_component *c)
{
    bool is_same = info->reference_count == c->reference_count;

    for (uint32_t i = 0; i < c->reference_count && is_same; ++i) {
        is_same = espl__number_load(c->references + (size_t)i * 4, 4) == info->references[i];
    }
    return is_same;
}

// Refuse the archive for one of its components. @return false.
static bool blame_component(espl__reader *r, const espl__parsed_component *c, const char *sentence)
{
    r->blamed = c->name;
    r->blamed_size = c->length;
    return espl__parse_refuse(&r->parse, ESPL_ERR_VERSION, c->name, sentence);
}

// Find what a component without a migration is in the world.
static bool match_component(espl__reader *r, espl__parsed_component *c)
{
    char name[ESPL_NAME_LIMIT + 1];

    memcpy(name, c->name, c->length);
    name[c->length] = '\0';
    c->component = espl__component_find(&r->world->store, name);
    if (c->component == 0) {
        return (r->def->flags & ESPL_ARCHIVE_SKIP_UNKNOWN) != 0 ||
               blame_component(r, c, "A component is not registered in this world.");
    }
    const espl__component_info *const info = info_in_world(r, c->component);

    if (c->version != info->version) {
        return blame_component(r, c,
                               "A component has another version in this world, and no migration.");
    }
    return c->is_transient || (info->size == c->size && has_same_references(info, c)) ||
           blame_component(r, c, "A component is registered otherwise in this world.");
}

static bool match_migrated(espl__reader *r, espl__parsed_component *c)
{
    c->component = c->migration->to;
    if (c->component == 0) {
        return true;
    }
    r->is_converted = r->is_converted || c->migration->convert != NULL;
    return c->migration->convert != NULL || c->is_transient ||
           info_in_world(r, c->component)->size == c->size ||
           blame_component(r, c, "A component has another size, and its migration no function.");
}

// Tell whether values are in the order of bytes that this machine has not.
static bool has_other_order(const espl__reader *r)
{
    return r->parse.is_big_endian == espl__wire_is_native();
}

// Find the components of the world. Two of the archive never become one.
static bool match_components(espl__reader *r)
{
    unsigned char taken[ESPL_COMPONENT_LIMIT / 8 + 1] = {0};

    for (size_t i = 0; i < espl__array_length(r->parse.components); ++i) {
        espl__parsed_component *const c = &r->parse.components[i];

        if (!c->is_built_in) {
            c->migration = find_migration(r, c);
            if (!(c->migration != NULL ? match_migrated(r, c) : match_component(r, c))) {
                return false;
            }
        }
        if (c->component == 0) {
            continue;
        }
        if (has_other_order(r) && c->field_count == 0 &&
            c->size > c->reference_count * sizeof(espl_entity)) {
            return blame_component(
                r, c, "Values are in the other order of bytes, and their component has no fields.");
        }
        c->is_transient = c->is_transient ||
                          (info_in_world(r, c->component)->flags & ESPL_COMPONENT_TRANSIENT) != 0;
        if ((taken[c->component / 8] >> c->component % 8 & 1) != 0) {
            return blame_component(r, c, "Two components of the archive become one.");
        }
        taken[c->component / 8] |= (unsigned char)(1u << c->component % 8);
    }
    return true;
}

// Translate the sets.
static bool make_sets(espl__reader *r)
{
    const size_t sets = espl__array_length(r->parse.sets);

    // The components do not move any more, because the sets point to them.
    if (!READER_RESERVE(r, sets, sets) ||
        !READER_RESERVE(r, components, espl__array_length(r->parse.items))) {
        return false;
    }
    for (size_t i = 0; i < sets; ++i) {
        const espl__parsed_set *const from = &r->parse.sets[i];
        espl__built_set set = {.components = r->components + espl__array_length(r->components)};

        for (uint32_t k = 0; k < from->component_count; ++k) {
            const espl_component component =
                r->parse.components[r->parse.items[from->first + k]].component;

            if (component != 0 && component != ESPL_TRANSFORM) {
                ESPL_ARRAY_PUSH(r->components, component);
                set.count += 1;
            }
        }
        ESPL_ARRAY_PUSH(r->sets, set);
    }
    return true;
}

// --- Values ---

// A value of a node in the archive.
typedef struct value_walk {
    const espl__reader *r;
    const espl__parsed_set *set;
    uint32_t rank, at; // among the nodes, and of the component in the set
    uint64_t offset;   // of the column
} value_walk;

static value_walk values_of(const espl__reader *r, const espl__parsed_node *node)
{
    const espl__parsed_set *const set = &r->parse.sets[node->built.set];

    return (value_walk){r, set, node->rank, 0, set->columns};
}

// Tell whether a function makes the values of a component.
static bool converts(const espl__parsed_component *c)
{
    return c->migration != NULL && c->component != 0 && c->migration->convert != NULL &&
           !c->is_transient;
}

// Step to the next component that has a size, or whose values a function makes. @return NULL: there is none.
static espl__parsed_component *next_value(value_walk *w, const unsigned char **bytes)
{
    while (w->at < w->set->component_count) {
        espl__parsed_component *const c =
            &w->r->parse.components[w->r->parse.items[w->set->first + w->at]];

        w->at += 1;
        if (c->size != 0 || converts(c)) {
            *bytes = c->size == 0 ? NULL
                                  : w->r->parse.sections[ESPL__ARCHIVE_COLS].bytes + w->offset +
                                        (uint64_t)w->rank * c->size;
            w->offset += (uint64_t)w->set->count * c->size;
            return c;
        }
    }
    return NULL;
}

// --- Migrations ---

static unsigned char *take_converted(const espl__reader *r, const espl__parsed_component *c)
{
    const espl__component_info *const info = info_in_world(r, c->component);

    return espl__heap_take(&r->world->heap, ESPL__FOR_COMMANDS, (size_t)c->count, info->size,
                           info->alignment);
}

static void free_converted(espl__reader *r)
{
    for (size_t i = 0; i < espl__array_length(r->parse.components); ++i) {
        espl__parsed_component *const c = &r->parse.components[i];

        if (c->converted != NULL) {
            const espl__component_info *const info = info_in_world(r, c->component);

            espl__heap_give(&r->world->heap, ESPL__FOR_COMMANDS, c->converted, (size_t)c->count,
                            info->size, info->alignment);
        }
    }
}

// Call the function of a migration for one value.
static bool convert_value(espl__reader *r, espl__parsed_component *c, const unsigned char *bytes)
{
    const espl__component_info *const info = info_in_world(r, c->component);
    unsigned char turned[ESPL_COMPONENT_SIZE_LIMIT];
    const espl_archive_value from = {has_other_order(r) ? turned : bytes, c->size};
    unsigned char *const to = c->converted == NULL ? NULL : c->converted + c->next * info->size;

    c->next += 1;
    if (to != NULL) {
        memset(to, 0, info->size);
    }
    if (has_other_order(r) && c->size != 0 && bytes != NULL) {
        memcpy(turned, bytes, c->size);
        espl__parsed_swap(c, turned);
    }
    return c->migration->convert(c->migration->user, &from, to) ||
           blame_component(r, c, "A migration refuses a value.");
}

// Make the values of components that have another version here.
static bool convert(espl__reader *r)
{
    espl__node_walk walk;

    for (size_t i = 0; r->is_converted && i < espl__array_length(r->parse.components); ++i) {
        espl__parsed_component *const c = &r->parse.components[i];

        if (converts(c) && c->count != 0 && info_in_world(r, c->component)->size != 0) {
            c->converted = take_converted(r, c);
            if (c->converted == NULL) {
                return espl__parse_refuse(&r->parse, ESPL_ERR_NO_MEMORY, NULL, NULL);
            }
        }
    }
    espl__walk_begin(&walk, &r->parse);
    walk.skips_placements = true;
    while (r->is_converted && walk.at < r->parse.info.nodes) {
        const unsigned char *bytes = NULL;

        value_walk values = values_of(r, espl__walk_next(&walk));

        for (espl__parsed_component *c = next_value(&values, &bytes); c != NULL;
             c = next_value(&values, &bytes)) {
            if (converts(c) && !convert_value(r, c, bytes)) {
                return false;
            }
        }
    }
    return true;
}

// --- Names ---

static bool prepare_names(espl__reader *r)
{
    espl__names *const names = &r->world->store.names;
    espl__node_walk walk;

    if (!READER_RESERVE(r, names, r->parse.named) ||
        !espl__names_reserve(names, &r->world->heap, r->parse.named)) {
        return false;
    }
    espl__walk_begin(&walk, &r->parse);
    walk.skips_placements = true;
    while (espl__array_length(r->names) < r->parse.named) {
        const espl__parsed_node *const node = espl__walk_next(&walk);

        if (node->name != NULL) {
            espl__name *const name =
                espl__name_prepare(names, &r->world->heap, node->name, node->length);

            if (name == NULL) {
                return false;
            }
            ESPL_ARRAY_PUSH(r->names, (espl__prepared_name){name});
        }
    }
    return true;
}

static void discard_names(espl__reader *r)
{
    for (size_t i = 0; i < espl__array_length(r->names); ++i) {
        espl__name_discard(&r->world->store.names, &r->world->heap, r->names[i].name);
    }
}

// --- The build ---

static const espl__built *next_node(void *context)
{
    espl__reader *const r = context;
    const espl__parsed_node *const node = espl__walk_next(&r->walk);

    ESPL_CHECK(node != NULL);
    return &node->built;
}

static bool take_reader_lists(espl__reader *r)
{
    if (!READER_RESERVE(r, entities, r->parse.info.nodes) || !make_sets(r) || !prepare_names(r)) {
        return espl__parse_refuse(&r->parse, ESPL_ERR_NO_MEMORY, NULL, NULL);
    }
    espl__array_set_length(r->entities, r->parse.info.nodes);
    return true;
}

// Read the node numbers of the references of one value, and write the references that this world registers.
static void write_references(const espl__reader *r, const espl__parsed_component *c,
                             espl__cursor *references, unsigned char *value)
{
    const espl__component_info *const info = value == NULL ? NULL : info_in_world(r, c->component);
    const uint32_t count = info == NULL ? 0 : info->reference_count;

    for (uint32_t i = 0; i < c->reference_count || i < count; ++i) {
        const uint32_t number = i < c->reference_count ? espl__cursor_varint(references) : 0;
        const espl_entity to = number == 0 ? espl_entity_null() : r->entities[number - 1];

        if (i < count) {
            memcpy(value + info->references[i], &to, sizeof to);
        }
    }
}

// Return where a value is written to: to its row, or where that may have it already to `made`, of zeros.
// NULL: the world has no value of the component, or keeps its own.
static unsigned char *begin_value(const espl__reader *r, uint32_t entity,
                                  const espl__parsed_component *c, unsigned char *made)
{
    if (c->component == 0 || c->is_transient) {
        return NULL;
    }
    const size_t size = info_in_world(r, c->component)->size;

    if (!r->is_in_place) {
        return espl__row_write(&r->world->store, entity, c->component);
    }
    memset(made, 0, size);
    return size == 0 ? NULL : made;
}

// Write a value to its row where it is another one.
static void end_value(const espl__reader *r, uint32_t entity, const espl__parsed_component *c,
                      const unsigned char *value)
{
    const size_t size = value == NULL ? 0 : info_in_world(r, c->component)->size;

    if (r->is_in_place && value != NULL &&
        memcmp(espl__row_value(&r->world->store, entity, c->component), value, size) != 0) {
        memcpy(espl__row_write(&r->world->store, entity, c->component), value, size);
    }
}

static void write_values(const espl__reader *r, uint32_t number, const espl__parsed_node *node,
                         espl__cursor *references)
{
    const uint32_t entity = r->entities[number].index;
    unsigned char made[ESPL_COMPONENT_SIZE_LIMIT];
    const unsigned char *bytes = NULL;
    value_walk values = values_of(r, node);

    for (espl__parsed_component *c = next_value(&values, &bytes); c != NULL;
         c = next_value(&values, &bytes)) {
        unsigned char *const value = begin_value(r, entity, c, made);

        if (value != NULL) {
            const size_t size = info_in_world(r, c->component)->size;

            if (c->converted != NULL) {
                memcpy(value, c->converted + c->next * size, size);
                c->next += 1;
            } else if (!converts(c)) {
                memcpy(value, bytes, size);
                if (has_other_order(r)) {
                    espl__parsed_swap(c, value);
                }
            }
        }
        write_references(r, c, references, value);
        end_value(r, entity, c, value);
    }
}

// Tell whether entities have anything besides their nodes, or the caller asks for tops.
static bool needs_fill(const espl__reader *r)
{
    return r->parse.sections[ESPL__ARCHIVE_COLS].size != 0 || r->is_converted ||
           r->parse.named != 0 || r->def->tops != NULL;
}

// Give each entity what it has.
static void fill_all(espl__reader *r)
{
    espl__cursor references = r->parse.sections[ESPL__ARCHIVE_REFS];
    size_t named = 0, tops = 0;

    for (size_t i = 0; i < espl__array_length(r->parse.components); ++i) {
        r->parse.components[i].next = 0;
    }
    espl__walk_begin(&r->walk, &r->parse);
    r->walk.skips_placements = true;
    for (uint32_t i = 0; i < r->parse.info.nodes; ++i) {
        const espl__parsed_node *const node = espl__walk_next(&r->walk);

        write_values(r, i, node, &references);
        if (node->name != NULL) {
            espl__name_give(&r->world->store.names, r->entities[i].index, r->names[named++].name);
        }
        if (node->built.parent == ESPL__NO_SLOT && r->def->tops != NULL) {
            r->def->tops[tops++] = r->entities[i];
        }
    }
    ESPL_CHECK(espl__cursor_is_done(&references));
}

// Give each root its cell, also a root that stays in its place.
static void fill_cells(espl__reader *r)
{
    const espl__forest *const forest = &r->world->forest;

    espl__walk_begin(&r->walk, &r->parse);
    r->walk.skips_placements = true;
    for (uint32_t i = 0; i < r->parse.info.nodes; ++i) {
        const espl__parsed_node *const node = espl__walk_next(&r->walk);
        const uint32_t slot = r->world->store.records[r->entities[i].index].slot;

        if (node->built.parent == ESPL__NO_SLOT &&
            !espl__cell_is_same(forest->tracks.cells[slot], node->cell)) {
            espl__cell_store(forest, slot, node->cell);
        }
    }
}

void espl__reader_fill(espl__reader *r)
{
    if (needs_fill(r)) {
        fill_all(r);
    }
    if (espl__forest_has_cells(&r->world->forest) && r->parent == ESPL__NO_SLOT) {
        fill_cells(r);
    }
    if (r->def->entities != NULL && r->parse.info.nodes != 0) {
        memcpy(r->def->entities, r->entities, r->parse.info.nodes * sizeof *r->entities);
    }
}

espl_status espl__reader_build(espl__reader *r)
{
    espl__immediate_result result = {false, false};

    if (!take_reader_lists(r)) {
        return r->parse.status;
    }
    const espl__build b = {.parent = r->parent,
                           .count = r->parse.info.nodes,
                           .longest = r->parse.longest,
                           .spare = r->parent == ESPL__NO_SLOT ? r->parse.spare : 0,
                           .has_side = r->parse.has_side,
                           .sets = r->sets,
                           .set_count = espl__array_length(r->sets),
                           .next = next_node,
                           .context = r};

    if (b.count == 0 || r->is_in_place) {
        return ESPL_OK;
    }
    espl__walk_begin(&r->walk, &r->parse);
    r->world->is_playing = true;
    const espl_status status = espl__immediate_build(r->world->playback, &b, r->entities, &result);

    r->world->is_playing = false;
    r->has_overflowed = status == ESPL_OK && result.has_overflowed;
    return status;
}

// --- The call ---

// Check what the definition asks for against the archive. @return false: refused.
static bool check_room(espl__reader *r)
{
    const espl_archive_read_def *const def = r->def;

    if (def->node_limit != 0 && r->parse.info.nodes > def->node_limit) {
        return espl__parse_refuse(&r->parse, ESPL_ERR_LIMIT, NULL,
                                  "The archive has more entities than the limit.");
    }
    return ((def->entities == NULL || r->parse.info.nodes <= def->capacity) &&
            (def->tops == NULL || r->parse.info.tops <= def->top_capacity)) ||
           espl__parse_refuse(&r->parse, ESPL_ERR_ARGUMENT, NULL,
                              "An array has less room than the archive needs.");
}

// Tell whether the world has cells of the size that those of the archive have. Below a parent they are not
// used.
static bool has_same_cells(espl__reader *r)
{
    return r->parse.cell_size == 0 || r->parent != ESPL__NO_SLOT ||
           r->parse.cell_size == r->world->forest.cell_size ||
           espl__parse_refuse(&r->parse, ESPL_ERR_VERSION,
                              r->parse.sections[ESPL__ARCHIVE_CELL].bytes,
                              "The archive has cells of a size that the world does not have.");
}

espl_status espl__reader_begin(espl__reader *r)
{
    espl__parse *const parse = &r->parse;
    espl_status status = espl__check_structural(r->world);

    r->parent = ESPL__NO_SLOT;
    if (status == ESPL_OK && !espl_entity_is_null(r->def->parent)) {
        status = espl__find_slot(r->world, r->def->parent, &r->parent);
    }
    if (status != ESPL_OK) {
        return status;
    }
    parse->heap = &r->world->heap;
    const bool is_ready = espl__parse_head(parse) && check_room(r) && espl__parse_body(parse) &&
                          has_same_cells(r) && match_components(r) && convert(r);

    return is_ready ? ESPL_OK : parse->status;
}

espl_status espl__reader_end(espl__reader *r, espl_status status)
{
    if (status < 0) {
        discard_names(r);
    }
    free_converted(r);
    espl__parse_end(&r->parse);
    ESPL_ARRAY_FREE(&r->world->heap, ESPL__FOR_COMMANDS, r->sets);
    ESPL_ARRAY_FREE(&r->world->heap, ESPL__FOR_COMMANDS, r->components);
    ESPL_ARRAY_FREE(&r->world->heap, ESPL__FOR_COMMANDS, r->entities);
    ESPL_ARRAY_FREE(&r->world->heap, ESPL__FOR_COMMANDS, r->names);
    return status == ESPL_OK && r->has_overflowed ? ESPL_OVERFLOW : status;
}

static espl_status read_archive(espl__reader *r)
{
    espl_status status = espl__reader_begin(r);

    status = status != ESPL_OK ? status : espl__reader_build(r);
    if (status == ESPL_OK) {
        espl__reader_fill(r);
        (void)espl__settle(r->world);
    }
    return espl__reader_end(r, status);
}

// Say what is wrong with a definition, or NULL.
static const char *def_fault(const espl_world *world, const espl_archive_read_def *def)
{
    if ((def->flags & ~(uint32_t)ESPL_ARCHIVE_SKIP_UNKNOWN) != 0) {
        return "def->flags has an unknown bit.";
    }
    for (size_t i = 0; i < def->migration_count; ++i) {
        const espl_component to = def->migrations == NULL ? 0 : def->migrations[i].to;

        if (def->migrations == NULL || def->migrations[i].name == NULL ||
            (to != 0 &&
             (to <= ESPL_DISABLED || espl__component_info_of(&world->store, to) == NULL))) {
            return "A migration has no name, or leads to no component that was registered.";
        }
    }
    return NULL;
}

espl_status espl__reader_check(const espl__reader *r, const char *call)
{
    if (r->world == NULL || r->parse.bytes == NULL) {
        return espl__refuse_call(r->world, call, ESPL_ERR_ARGUMENT, "bytes is NULL.");
    }
    if (ESPL__ASKS_LATER(r->def)) {
        return espl__refuse_later(r->world, call);
    }
    const char *const wrong = def_fault(r->world, r->def);

    if (wrong != NULL) {
        return espl__refuse_call(r->world, call, ESPL_ERR_ARGUMENT, wrong);
    }
    return espl__is_taped(r->world) && r->def->migration_count != 0
               ? espl__refuse_call(r->world, call, ESPL_ERR_UNSUPPORTED,
                                   "A tape cannot record the functions of migrations.")
               : ESPL_OK;
}

espl_status espl__reader_tell(const espl__reader *r, const char *call, espl_status status)
{
    return espl__refuse_bytes(r->world, call,
                              &(espl__bytes_fault){.fault = &r->parse.fault,
                                                   .component = r->blamed,
                                                   .component_size = r->blamed_size,
                                                   .parent = r->def->parent},
                              status, NULL);
}

espl_status espl_archive_read(espl_world *world, const void *bytes, size_t size,
                              const espl_archive_read_def *def, espl_format_fault *fault)
{
    static const char *const call = "espl_archive_read";
    static const espl_archive_read_def strict;
    espl__reader r = {.world = world,
                      .def = def != NULL ? def : &strict,
                      .parse = {.bytes = bytes, .size = size}};

    if (fault != NULL) {
        *fault = (espl_format_fault){0};
    }
    ESPL__CHANGE_OR_RETURN(world, call)
    const espl_status wrong = espl__reader_check(&r, call);

    if (wrong != ESPL_OK) {
        return wrong;
    }
    const espl_status status =
        ESPL__TAPED(world, read_archive(&r), .op = ESPL_TAPE_ARCHIVE, .entity = r.def->parent,
                    .word = r.def->flags, .value = bytes, .size = size);

    if (fault != NULL) {
        *fault = r.parse.fault;
    }
    return espl__reader_tell(&r, call, status);
}
