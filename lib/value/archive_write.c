// SPDX-License-Identifier: MIT
// Writing an archive. The entities are listed breadth-first, then what the sections need to know of all of
// them: sets and components. Each section is a function that writes it to a wire. It runs twice, first for
// its size and its checksum, because the table of sections comes before them, then for the sink.
#include "lib/tree/cells.h"
#include "lib/value/archive_list.h"
#include "lib/value/archive_table.h"
#include "lib/value/delta_rows.h"
#include "lib/world/refusals.h"

#include <espalier/archive.h>

#include <string.h>

const unsigned char espl__archive_magic[8] = {0x89, 'E', 'S', 'P', 'L', '\r', '\n', 0x1a};

const char espl__archive_letters[ESPL__ARCHIVE_SECTIONS][5] = {
    "COMP", "TREE", "LOCA", "Side", "FREE", "SETS", "COLS",
    "REFS", "Hand", "Name", "User", "grid", "Cell"};

// --- What a node stores ---

// Compute the placement that a node has in the archive. @return ESPL_OK, ESPL_ERR_NOT_FINITE.
static espl_status placement_of(const espl__archiver *a, uint32_t number, espl__placement *out)
{
    const espl__forest *const forest = &a->world->forest;
    const uint32_t slot = slot_of(a, number);

    *out = espl__slot_placement(forest, slot);
    const bool copies = espl__placement_copies(out);

    if ((a->nodes[number] & ESPL__PLACED) == 0) {
        out->extra = copies ? espl__extra_default() : out->extra;
        return ESPL_OK;
    }
    espl_transform at = espl__transform_of(&forest->world[slot], &out->extra);
    const espl_status status = espl_transform_normalize(&at);

    out->local = espl__pose_of(&at);
    if (is_top_node(a, number) || copies) {
        out->kept = espl__kept_none();
    }
    return status;
}

// --- Sections ---

static void put_text(espl__wire *wire, const char *text)
{
    const size_t length = strlen(text);

    espl__wire_number(wire, length, 1);
    espl__wire_put(wire, text, length);
}

// Tell whether the archive has values of a component. Of ESPL_COMPONENT_TRANSIENT it has none.
static bool has_values(const espl__archiver *a, espl_component component)
{
    const espl__component_info *const info = info_of_component(a, component);

    return component > ESPL_DISABLED && info->size != 0 &&
           (info->flags & ESPL_COMPONENT_TRANSIENT) == 0;
}

// Write what the bytes of a value are: references and fields. @param info  NULL: nothing.
static void put_contents(espl__wire *wire, const espl__component_info *info)
{
    const uint32_t references = info == NULL ? 0 : info->reference_count;
    const uint32_t fields = info == NULL ? 0 : info->field_count;

    espl__wire_number(wire, references, 4);
    for (uint32_t r = 0; r < references; ++r) {
        espl__wire_number(wire, info->references[r], 4);
    }
    espl__wire_number(wire, fields, 4);
    for (uint32_t i = 0; i < fields; ++i) {
        put_text(wire, info->fields[i].name);
        espl__wire_number(wire, (unsigned)info->fields[i].type, 1);
        espl__wire_number(wire, info->fields[i].offset, 4);
        espl__wire_number(wire, info->fields[i].count, 4);
    }
}

static void put_registry(espl__archiver *a)
{
    espl__wire *const wire = &a->wire;
    const uint32_t count = (uint32_t)espl__array_length(a->components);

    espl__wire_number(wire, count, 4);
    for (uint32_t i = 0; i < count; ++i) {
        const espl__component_info *const info = info_of_component(a, a->components[i]);
        const bool is_tag = !has_values(a, a->components[i]);

        put_text(wire, info->name);
        espl__wire_number(wire, info->version, 4);
        espl__wire_number(wire, is_tag ? 0 : info->size, 4);
        espl__wire_number(wire, is_tag ? 1 : info->alignment, 4);
        espl__wire_number(wire, info->flags, 4);
        put_contents(wire, is_tag ? NULL : info);
    }
}

static void put_tree(espl__archiver *a)
{
    const size_t count = count_nodes(a);

    espl__wire_number(&a->wire, count, 4);
    espl__wire_number(&a->wire, a->tops, 4);
    espl__wire_varints(&a->wire, a->counts, count, ~ESPL__TOP);
}

// Count the nodes from one on whose slots follow each other, and whose locals are written as they are.
static uint32_t count_run(const espl__archiver *a, uint32_t begin)
{
    const uint32_t count = (uint32_t)count_nodes(a), first = a->nodes[begin];
    const bool has_bare = (a->flags & ESPL__SLOT_BARE) != 0;
    uint32_t length = 0;

    // A slot with ESPL__PLACED follows none without it.
    while (begin + length < count && a->nodes[begin + length] == first + length &&
           (first & ESPL__PLACED) == 0 && !(has_bare && is_bare_node(a, begin + length))) {
        length += 1;
    }
    return length;
}

static espl__pose_grid grid_of(const espl__archiver *a)
{
    espl__pose_grid grid = {0, a->def->rotation_bits};

    memcpy(&grid.step, &a->def->position_step, sizeof grid.step);
    return grid;
}

// Write locals on a grid.
static void put_rounded(espl__archiver *a, const espl__pose_grid *grid)
{
    const uint32_t count = (uint32_t)count_nodes(a);
    espl__placement placement;
    uint32_t words[ESPL__POSE_WORDS];

    for (uint32_t i = 0; i < count; ++i) {
        if (!is_bare_node(a, i)) {
            (void)placement_of(a, i, &placement);
            memcpy(words, &placement.local, sizeof words);
            espl__grid_move(grid, words);
            espl__wire_words(&a->wire, words, ESPL__POSE_WORDS);
        }
    }
}

static void put_locals(espl__archiver *a)
{
    const espl__pose_grid grid = grid_of(a);
    const uint32_t count = (grid.step | grid.bits) != 0 ? 0 : (uint32_t)count_nodes(a);
    espl__placement placement;

    if ((grid.step | grid.bits) != 0) {
        put_rounded(a, &grid);
    }

    for (uint32_t i = 0; i < count;) {
        const uint32_t run = count_run(a, i);

        if (run != 0) {
            espl__wire_words(&a->wire, &a->world->forest.local[a->nodes[i]], (size_t)run * 8);
        } else if (!is_bare_node(a, i)) {
            (void)placement_of(a, i, &placement);
            espl__wire_words(&a->wire, &placement.local, 8);
        }
        i += run != 0 ? run : 1;
    }
}

// Begin an entry for a node in a list that has few. @param last  the one before it + 1, or 0; in and out.
static void put_gap(espl__wire *wire, uint32_t number, uint32_t *last)
{
    espl__wire_varint(wire, number - *last);
    *last = number + 1;
}

static unsigned side_of(const espl__placement *placement)
{
    return (espl__is_stretched(placement->extra.stretch) ? (unsigned)ESPL__ARCHIVE_STRETCH : 0) |
           (placement->extra.user_data != 0 ? (unsigned)ESPL__ARCHIVE_USER_DATA : 0) |
           (placement->kept.flags != 0 ? (unsigned)ESPL__ARCHIVE_KEPT : 0);
}

static void put_side(espl__archiver *a)
{
    espl__wire *const wire = &a->wire;
    const uint32_t count = (uint32_t)count_nodes(a);
    const bool has_sides = (a->flags & ESPL__SLOT_SIDE) != 0;
    espl__placement p;
    uint32_t last = 0;

    for (uint32_t i = 0; has_sides && i < count; ++i) {
        if (is_bare_node(a, i) ||
            !espl__slot_is(&a->world->forest, slot_of(a, i), ESPL__SLOT_SIDE)) {
            continue;
        }
        (void)placement_of(a, i, &p);
        const unsigned parts = side_of(&p);

        if (parts == 0) {
            continue;
        }
        put_gap(wire, i, &last);
        espl__wire_number(wire, parts, 1);
        if ((parts & ESPL__ARCHIVE_STRETCH) != 0) {
            espl__wire_words(wire, p.extra.stretch, 3);
        }
        if ((parts & ESPL__ARCHIVE_USER_DATA) != 0) {
            espl__wire_number(wire, p.extra.user_data, 4);
        }
        if ((parts & ESPL__ARCHIVE_KEPT) != 0) {
            espl__wire_number(wire, p.kept.flags, 1);
            espl__wire_words(wire, &p.kept.pose, 8);
        }
    }
}

// The link of a top is written as owned.
static bool is_free(const espl__archiver *a, uint32_t number)
{
    return !is_top_node(a, number) &&
           espl__slot_is(&a->world->forest, slot_of(a, number), ESPL__SLOT_FREE_LINK);
}

static void put_free(espl__archiver *a)
{
    const uint32_t count = (uint32_t)count_nodes(a);
    const bool has_links = (a->flags & ESPL__SLOT_FREE_LINK) != 0; // perhaps of tops alone
    unsigned bits = 0;
    bool is_any = false;

    for (uint32_t i = 0; has_links && i < count && !is_any; ++i) {
        is_any = is_free(a, i);
    }
    for (uint32_t i = 0; i < count && is_any; ++i) {
        bits |= is_free(a, i) ? 1u << i % 8 : 0;
        if (i % 8 == 7 || i + 1 == count) {
            espl__wire_number(&a->wire, bits, 1);
            bits = 0;
        }
    }
}

static void put_sets(espl__archiver *a)
{
    espl_component components[ESPL_SET_LIMIT];
    const uint32_t sets = (uint32_t)espl__array_length(a->sets);

    espl__wire_number(&a->wire, sets, 4);
    for (uint32_t set = 0; set < sets; ++set) {
        const size_t in_set = espl__archiver_set(a, set, components);

        espl__wire_varint(&a->wire, (uint32_t)in_set);
        for (size_t i = 0; i < in_set; ++i) {
            espl__wire_varint(&a->wire, a->numbers[components[i]] - 1);
        }
    }
    espl__wire_varints(&a->wire, a->node_sets, count_nodes(a), UINT32_MAX);
}

// Write a value, with zeros for its references.
static void put_raw_value(espl__wire *wire, const espl__component_info *info,
                          const unsigned char *value)
{
    uint32_t at = 0;

    for (uint32_t r = 0; r < info->reference_count; ++r) {
        espl__wire_put(wire, value + at, info->references[r] - at);
        espl__wire_zeros(wire, sizeof(espl_entity));
        at = info->references[r] + (uint32_t)sizeof(espl_entity);
    }
    espl__wire_put(wire, value + at, info->size - at);
}

static void put_set_column(espl__archiver *a, uint32_t set, espl_component component)
{
    const espl__component_info *const info = info_of_component(a, component);
    const uint32_t end = a->set_ends[set];

    for (uint32_t i = set == 0 ? 0 : a->set_ends[set - 1]; i < end; ++i) {
        const uint32_t entity = entity_of(a, node_by_set(a, i));

        put_raw_value(&a->wire, info, espl__row_value(&a->world->store, entity, component));
    }
}

static void put_columns(espl__archiver *a)
{
    espl_component components[ESPL_SET_LIMIT];
    const uint32_t sets = (uint32_t)espl__array_length(a->sets);

    for (uint32_t set = 0; set < sets; ++set) {
        const size_t count = espl__archiver_set(a, set, components);

        for (size_t i = 0; i < count; ++i) {
            if (has_values(a, components[i])) {
                put_set_column(a, set, components[i]);
            }
        }
    }
}

// Return what stands for a reference: the number of its node + 1, or 0.
static uint32_t reference_at(const espl__archiver *a, const unsigned char *value)
{
    espl_entity entity;

    memcpy(&entity, value, sizeof entity);
    if (!espl__entity_is_alive(&a->world->store, entity)) { // null, dead, of another world
        return 0;
    }
    const uint32_t number = espl__archiver_number_of(a, entity.index);

    return number == ESPL__NONE ? 0 : number + 1;
}

// List the components of a set whose values have references, components with ESPL_COMPONENT_UNIQUE included.
static size_t list_referring(const espl__archiver *a, uint32_t set, espl_component *out)
{
    const size_t count = espl__archiver_set(a, set, out);
    size_t referring = 0;

    for (size_t i = 0; i < count; ++i) {
        if (has_values(a, out[i]) && info_of_component(a, out[i])->reference_count != 0) {
            out[referring++] = out[i];
        }
    }
    return referring;
}

static void put_references(espl__archiver *a)
{
    espl_component components[ESPL_SET_LIMIT];
    const espl__store *const store = &a->world->store;
    const uint32_t count = (uint32_t)count_nodes(a);
    uint32_t set = ESPL__NONE; // that of the components
    size_t referring = 0;

    for (uint32_t i = 0; store->referring_count != 0 && i < count; ++i) {
        if (a->node_sets[i] != set) {
            set = a->node_sets[i];
            referring = list_referring(a, set, components);
        }
        for (size_t k = 0; k < referring; ++k) {
            const espl__component_info *const info = info_of_component(a, components[k]);

            for (uint32_t r = 0; r < info->reference_count; ++r) {
                const unsigned char *const value =
                    espl__row_value(store, entity_of(a, i), components[k]);

                espl__wire_varint(&a->wire, reference_at(a, value + info->references[r]));
            }
        }
    }
}

static void put_handles(espl__archiver *a)
{
    const uint32_t count = (uint32_t)count_nodes(a);

    for (uint32_t i = 0; (a->def->flags & ESPL_ARCHIVE_HANDLES) != 0 && i < count; ++i) {
        const espl_entity entity = espl__entity_at(&a->world->store, entity_of(a, i));

        espl__wire_number(&a->wire, entity.index, 4);
        espl__wire_number(&a->wire, entity.generation, 4);
    }
}

static void put_node_names(espl__archiver *a)
{
    const espl__names *const names = &a->world->store.names;
    const uint32_t count = (uint32_t)count_nodes(a);
    uint32_t last = 0;

    for (uint32_t i = 0; names->count != 0 && i < count; ++i) {
        const espl__name *const name = espl__name_of(names, entity_of(a, i));

        if (name != NULL) {
            put_gap(&a->wire, i, &last);
            put_text(&a->wire, name->text);
        }
    }
}

static void put_user(espl__archiver *a)
{
    espl__wire_put(&a->wire, a->def->user, a->def->user_size);
}

static void put_grid(espl__archiver *a)
{
    const espl__pose_grid grid = grid_of(a);

    if ((grid.step | grid.bits) != 0) {
        espl__wire_number(&a->wire, grid.step, 4);
        espl__wire_number(&a->wire, grid.bits, 4);
    }
}

// Write the size of cells, and those of roots that are not 0, 0, 0; nothing where there are none.
static void put_cells(espl__archiver *a)
{
    const espl__forest *const forest = &a->world->forest;
    const uint32_t count = (uint32_t)count_nodes(a);
    uint32_t last = 0;
    bool is_any = false;

    for (uint32_t i = 0; espl__forest_has_cells(forest) && i < count; ++i) {
        const espl__cell cell =
            is_top_node(a, i) ? espl__cell_of(forest, slot_of(a, i)) : (espl__cell){{0, 0, 0}};

        if ((cell.at[0] | cell.at[1] | cell.at[2]) == 0) {
            continue;
        }
        if (!is_any) {
            espl__wire_words(&a->wire, &forest->cell_size, 1);
        }
        is_any = true;
        put_gap(&a->wire, i, &last);
        espl__wire_words(&a->wire, cell.at, 3);
    }
}

static void (*const put_section[ESPL__ARCHIVE_SECTIONS])(espl__archiver *) = {
    [ESPL__ARCHIVE_COMP] = put_registry, [ESPL__ARCHIVE_TREE] = put_tree,
    [ESPL__ARCHIVE_LOCA] = put_locals,   [ESPL__ARCHIVE_SIDE] = put_side,
    [ESPL__ARCHIVE_FREE] = put_free,     [ESPL__ARCHIVE_SETS] = put_sets,
    [ESPL__ARCHIVE_COLS] = put_columns,  [ESPL__ARCHIVE_REFS] = put_references,
    [ESPL__ARCHIVE_HAND] = put_handles,  [ESPL__ARCHIVE_NAME] = put_node_names,
    [ESPL__ARCHIVE_USER] = put_user,     [ESPL__ARCHIVE_GRID] = put_grid,
    [ESPL__ARCHIVE_CELL] = put_cells,
};

// --- The archive ---

// Compute the sizes and the checksums of the sections, and list those that are not empty.
// @param sections  [ESPL__ARCHIVE_SECTIONS] out: their numbers
static void measure_sections(espl__archiver *a, espl__table *out, int *sections)
{
    *out = (espl__table){.minor = ESPL__ARCHIVE_MINOR,
                         .writer = espl_version(),
                         .flags = espl__wire_is_native() ? 0 : ESPL__ARCHIVE_BIG_ENDIAN};
    for (int i = 0; i < ESPL__ARCHIVE_SECTIONS; ++i) {
        espl__wire_begin(&a->wire);
        put_section[i](a);
        espl__wire_flush(&a->wire);
        if (a->wire.size != 0) {
            espl__table_entry *const entry = &out->entries[out->count];

            espl__table_entry_set(entry, espl__archive_letters[i]);
            entry->size = a->wire.size;
            entry->raw = a->wire.size;
            entry->checksum = espl__checksum_of(&a->wire.checksum);
            sections[out->count++] = i;
        }
    }
}

static espl_status emit(espl__archiver *a, const espl_sink *sink)
{
    unsigned char head[ESPL__ARCHIVE_HEAD];
    int sections[ESPL__ARCHIVE_SECTIONS] = {0};
    espl__table table;

    measure_sections(a, &table, sections);
    espl__table_head(&table, &a->wire, head);
    a->wire.pass = sink->write;
    a->wire.user = sink->user;
    espl__wire_begin(&a->wire);
    a->wire.is_summed = false;
    espl__wire_put(&a->wire, head, sizeof head);
    (void)espl__table_put(&table, &a->wire);
    for (uint32_t i = 0; i < table.count; ++i) {
        espl__table_pad(&a->wire);
        const uint64_t begin = a->wire.size;

        put_section[sections[i]](a);
        ESPL_CHECK(a->wire.size - begin == table.entries[i].size);
        (void)begin;
    }
    espl__wire_flush(&a->wire);
    return a->wire.is_broken ? ESPL_ERR_SINK : ESPL_OK;
}

// Compute what the sections need. @param named  out: the entity that a refusal is about.
static espl_status prepare_archive(espl__archiver *a, espl_entity *named)
{
    espl__placement placement;
    espl_status status = espl__archiver_list(a, named);

    for (uint32_t i = 0; status == ESPL_OK && a->has_placed && i < count_nodes(a); ++i) {
        if ((a->nodes[i] & ESPL__PLACED) != 0 && !is_bare_node(a, i)) {
            status = placement_of(a, i, &placement);
            *named =
                status == ESPL_OK ? *named : espl__entity_at(&a->world->store, entity_of(a, i));
        }
    }
    return status;
}

// Return what is wrong with the arguments, or NULL.
static const char *find_write_fault(const espl__archiver *a, const espl_sink *sink)
{
    const espl_archive_def *const def = a->def;
    const espl__pose_grid grid = grid_of(a), lengths = {grid.step, 0};

    if (sink == NULL || sink->write == NULL) {
        return "sink is NULL, or has no function.";
    }
    if ((def->flags & ~(uint32_t)ESPL_ARCHIVE_HANDLES) != 0) {
        return "def->flags has an unknown bit.";
    }
    if ((unsigned)def->extent > ESPL_EXTENT_SUBTREE) {
        return "def->extent does not exist.";
    }
    if (def->tops == NULL && def->top_count != 0) {
        return "def->tops is NULL, and def->top_count is not 0.";
    }
    if (def->user == NULL && def->user_size != 0) {
        return "def->user is NULL, and def->user_size is not 0.";
    }
    if (!espl__grid_is_sound(&lengths)) {
        return "def->position_step is not above 0 and finite.";
    }
    return espl__grid_is_sound(&grid) ? NULL : "def->rotation_bits is not 2 to 24.";
}

espl_status espl_archive_write(const espl_world *world, const espl_archive_def *def,
                               const espl_sink *sink)
{
    static const char *const call = "espl_archive_write";
    static const espl_archive_def whole;
    espl_entity named = espl_entity_null();
    espl__archiver a = {.world = world, .def = def != NULL ? def : &whole};

    const char *const wrong = find_write_fault(&a, sink);

    if (world == NULL || wrong != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, wrong);
    }
    if (ESPL__ASKS_LATER(a.def)) {
        return espl__refuse_later(world, call);
    }
    a.heap = world->store.heap;
    espl_status status = world->is_playing ? ESPL_ERR_BUSY : prepare_archive(&a, &named);

    status = status != ESPL_OK ? status : emit(&a, sink);
    espl__archiver_end(&a);
    return espl_entity_is_null(named) || status == ESPL_OK
               ? espl__refuse_call(world, call, status,
                                   "An entity would come twice: a top is at or below another one.")
               : espl__refuse_why(world, call, named, status, NULL);
}
