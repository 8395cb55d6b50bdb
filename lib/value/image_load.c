// SPDX-License-Identifier: MIT
// Loading an image. A store and a forest are made beside those of the world, get their contents, and take
// their place; the old ones are freed when nothing can fail any more.
//
// Bytes from anywhere are checked in this order. The head: size and layout. Every count against the bytes that
// are left, before memory is taken for it, so that a load takes no more memory than the image has bytes, but for
// a constant factor. The checksum, which is computed while bytes are copied; an image that is refused before its
// end is damaged if its checksum differs. Then, with the world complete, all rules of espl_validate(), which
// follow no number that they have not compared with its range.
#include "lib/value/image_parts.h"

#include "lib/tree/motion.h"
#include "lib/tree/remake.h"
#include "lib/value/checksum.h"
#include "lib/value/manifest.h"
#include "lib/world/moment.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"
#include "lib/world/world_rules.h"

#include <espalier/image.h>

#include <string.h>

enum { PLANES_OF_MOTION = 1 << ESPL__PLANE_OWN };

// A load under way.
typedef struct loader {
    espl_world *world;
    const unsigned char *bytes;
    size_t size, at;
    uint32_t flags;
    espl__image_head head;
    espl__checksum checksum; // of what was read, unless it is trusted
    bool passes_cache;
    bool is_whole; // the head is that of an image of this layout and size
    espl__store store;
    espl__forest forest;
    bool has_store, has_forest, has_sides; // they are made
    bool takes_records;                    // those of the world
    bool has_follower;                     // it may lack memory for the world that is made
    espl_status status;
    espl_format_fault fault;
    const char *blamed; // [blamed_size] the name of the component for which it is refused, or NULL
    size_t blamed_size;
} loader;

// --- Reading ---

// Say why an image is refused: the first reason counts. @return false.
static bool refuse(loader *l, espl_status status, const char *sentence)
{
    if (l->status == ESPL_OK) {
        l->status = status;
        l->fault = (espl_format_fault){.offset = l->at, .sentence = sentence};
    }
    return false;
}

static bool refuse_format(loader *l, const char *sentence)
{
    return refuse(l, ESPL_ERR_FORMAT, sentence);
}

static bool is_trusted(const loader *l)
{
    return (l->flags & ESPL_IMAGE_TRUSTED) != 0;
}

// Tell whether rows, records and slots may be read into the memory that the world has for its own: nothing may
// refuse the image after that.
static bool can_take_memory(const loader *l)
{
    return is_trusted(l) && !l->has_follower;
}

// Go on to what comes after `size` bytes. @param to  NULL, or where they are copied to.
// @return the bytes, or NULL: there are not so many.
static const unsigned char *take_to(loader *l, void *to, size_t size, bool passes_cache)
{
    const unsigned char *const bytes = l->bytes + l->at;
    const size_t room = espl__image_room(size);
    const espl__copying copying = {to, bytes, size, NULL, passes_cache};

    if (size > l->size - l->at || room > l->size - l->at) {
        (void)refuse_format(l, "The image ends too early.");
        return NULL;
    }
    if (!is_trusted(l)) {
        espl__checksum_copy(&l->checksum, &copying);
        espl__checksum_add(&l->checksum, bytes + size, room - size);
    } else if (to != NULL) {
        espl__copy(&copying);
    }
    l->at += room;
    return bytes;
}

static const unsigned char *take(loader *l, size_t size)
{
    return take_to(l, NULL, size, false);
}

// Tell whether the image has so many more elements.
static bool has_left(loader *l, uint64_t count, size_t size)
{
    return count <= (l->size - l->at) / size || refuse_format(l, "The image ends too early.");
}

// Copy a struct. @return false: there are not so many bytes.
static bool take_struct(loader *l, void *to, size_t size)
{
    const unsigned char *const bytes = take(l, size);

    if (bytes != NULL) {
        memcpy(to, bytes, size);
    }
    return bytes != NULL;
}

// --- The head ---

// Begin the checksum with the head, which has 0 in its place.
static void begin_checksum(loader *l)
{
    espl__image_head head = l->head;

    head.checksum = 0;
    espl__checksum_begin(&l->checksum);
    espl__checksum_add(&l->checksum, &head, sizeof head);
}

static bool is_damaged(const loader *l)
{
    return !is_trusted(l) && l->head.checksum != espl__checksum_of(&l->checksum);
}

static const char *const damage = "The checksum differs: the image is damaged.";

// Say that an image is damaged that was refused for what it has, if that is why.
static void blame_damage(loader *l)
{
    begin_checksum(l);
    espl__checksum_add(&l->checksum, l->bytes + sizeof l->head, l->size - sizeof l->head);
    if (is_damaged(l)) {
        l->status = ESPL_ERR_FORMAT;
        l->fault = (espl_format_fault){.sentence = damage};
        l->blamed = NULL;
    }
}

static bool read_head(loader *l)
{
    espl__image_head *const head = &l->head;

    if (l->size < sizeof *head || memcmp(l->bytes, espl__image_magic, sizeof head->magic) != 0) {
        return refuse_format(l, "These bytes are no image.");
    }
    memcpy(head, l->bytes, sizeof *head);
    if (head->layout != espl_image_layout()) {
        return refuse(l, ESPL_ERR_VERSION, "The image is of a build with another layout.");
    }
    if (head->size != l->size) {
        return refuse_format(l, "The image has another size than its head says.");
    }
    begin_checksum(l);
    l->at = sizeof *head;
    l->is_whole = true;
    if (head->tag != l->world->store.tag && (l->flags & ESPL_IMAGE_RETAG) == 0) {
        return refuse(l, ESPL_ERR_FOREIGN,
                      "The image is of a world with another tag; ESPL_IMAGE_RETAG gives it that of "
                      "this one.");
    }
    if (head->tag == 0 || head->tag > 127 || head->pasts > ESPL__PASTS || head->is_ticking > 1 ||
        head->has_overflowed > 1 || head->least_generation > ESPL__LAST_GENERATION + 1) {
        return refuse_format(l, "The head has a number that no world has.");
    }
    return memcmp(&head->cell_size, &l->world->forest.cell_size, sizeof head->cell_size) == 0 ||
           refuse(l, ESPL_ERR_VERSION, "The image is of a world with cells of another size.");
}

// --- Components ---

static bool is_same_component(const espl__component_info *info, const espl__image_component *entry,
                              const unsigned char *references, const unsigned char *name)
{
    return info->size == entry->size && info->alignment == entry->alignment &&
           info->version == entry->version && info->flags == entry->flags &&
           info->reference_count == entry->references && strlen(info->name) == entry->name &&
           (entry->references == 0 ||
            memcmp(info->references, references, entry->references * sizeof(uint32_t)) == 0) &&
           memcmp(info->name, name, entry->name) == 0;
}

// Compare the components with those of the world, which may have more.
static bool read_components(loader *l)
{
    for (espl_component number = 1; number <= l->head.components; ++number) {
        const espl__component_info *const info = espl__component_info_of(&l->world->store, number);
        const size_t begin = l->at;
        espl__image_component entry;

        if (!take_struct(l, &entry, sizeof entry) ||
            !has_left(l, entry.references, sizeof(uint32_t))) {
            return false;
        }
        const unsigned char *const references = take(l, entry.references * sizeof(uint32_t));
        const unsigned char *const name = take(l, entry.name);

        if (name == NULL || references == NULL) {
            return false;
        }
        if (info == NULL || !is_same_component(info, &entry, references, name)) {
            l->at = begin;
            l->blamed = (const char *)name;
            l->blamed_size = entry.name;
            return refuse(
                l, ESPL_ERR_VERSION,
                info == NULL
                    ? "The image has a component that is not registered in this world."
                    : "A component is registered otherwise in this world, or in another order.");
        }
    }
    return true;
}

// --- Archetypes ---

static bool read_archetypes(loader *l)
{
    uint64_t rows = 0;

    for (uint32_t i = 0; i < l->head.archetypes; ++i) {
        espl_component set[ESPL_SET_LIMIT];
        espl__image_set entry;

        if (!take_struct(l, &entry, sizeof entry)) {
            return false;
        }
        rows += entry.rows;
        if (entry.components > ESPL_SET_LIMIT || rows > l->head.alive_count) {
            return refuse_format(l, "An archetype has more components or rows than there are.");
        }
        // Each row has a record and a handle behind the archetypes.
        if (!take_struct(l, set, entry.components * sizeof *set) ||
            !has_left(l, rows, sizeof(espl__record) + sizeof(espl_entity))) {
            return false;
        }
        const espl_status status =
            espl__store_make_archetype(&l->store, set, entry.components, entry.rows,
                                       can_take_memory(l) ? &l->world->store : NULL);

        if (status != ESPL_OK) {
            return refuse(l, status, "The components of an archetype are no set of their own.");
        }
    }
    return true;
}

// --- Names ---

// Give an entity a name: that of an earlier one with the same text, mostly the one before it.
static bool give_name(loader *l, const espl__image_name *entry, const char *text, uint32_t before)
{
    espl__store *const store = &l->store;
    const espl__name *const last =
        before == ESPL__NONE ? NULL : espl__name_of(&store->names, before);

    if (!espl__names_reserve(&store->names, store->heap, 1)) {
        return refuse(l, ESPL_ERR_NO_MEMORY, NULL);
    }
    if (last != NULL && last->size == entry->size && memcmp(last->text, text, entry->size) == 0) {
        espl__name_share(&store->names, before, entry->entity);
        return true;
    }
    return espl__name_set(&store->names, store->heap, entry->entity, text, entry->size - 1) ==
               ESPL_OK ||
           refuse(l, ESPL_ERR_NO_MEMORY, NULL);
}

static bool read_names(loader *l)
{
    uint32_t before = ESPL__NONE;

    for (uint32_t i = 0; i < l->head.names; ++i) {
        espl__image_name entry;

        if (!take_struct(l, &entry, sizeof entry)) {
            return false;
        }
        const char *const text = (const char *)take(l, entry.size);

        if (text == NULL) {
            return false;
        }
        if (entry.entity >= l->head.records || (before != ESPL__NONE && entry.entity <= before) ||
            entry.size < 2 || text[entry.size - 1] != '\0' ||
            espl__name_check(text, entry.size - 1) != ESPL_OK) {
            return refuse_format(l, "A name is none, or of no entity.");
        }
        if (!give_name(l, &entry, text, before)) {
            return false;
        }
        before = entry.entity;
    }
    return true;
}

// --- Originals ---

static bool read_originals(loader *l)
{
    const size_t size = sizeof(espl__image_original);
    const char *rule = NULL;

    if (!has_left(l, l->head.originals, size)) {
        return false;
    }
    const unsigned char *const bytes = take(l, l->head.originals * size);

    return bytes != NULL && (espl__image_link(&l->store, &l->head, bytes, &rule) ||
                             refuse(l, rule != NULL ? ESPL_ERR_FORMAT : ESPL_ERR_NO_MEMORY, rule));
}

// --- Areas ---

static void take_area(void *context, const espl__area *area)
{
    loader *const l = context;

    if (area->kind == ESPL__AREA_TRANSIENT) {
        memset(area->bytes, 0, area->size * area->count);
        return;
    }
    if (l->status == ESPL_OK && has_left(l, area->count, area->size)) {
        // Records, entities and headers are read again at once.
        const bool is_left = area->kind == ESPL__AREA_BYTES || area->kind == ESPL__AREA_VALUES ||
                             area->kind >= ESPL__AREA_SLOTS;

        (void)take_to(l, area->bytes, area->size * area->count, l->passes_cache && is_left);
    }
}

// Count the bytes of a slot, so that memory for slots is not taken without bytes for them.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum, which begins with its sign.
#define ADD_COLUMN_SIZE(access, type, name, role, initial) +sizeof(type)
enum { BYTES_OF_SLOT = 0 ESPL__COLUMNS(ADD_COLUMN_SIZE) };

// Make the store, with all but what its entities have.
static bool make_store(loader *l)
{
    espl__store *const store = &l->store;

    espl__store_begin(store, &l->world->store);
    l->has_store = true;
    if (!read_components(l) || !read_archetypes(l) ||
        !has_left(l, l->head.records, sizeof(espl__record))) {
        return false;
    }
    l->takes_records =
        can_take_memory(l) && espl__store_lends_records(&l->world->store, l->head.records);
    espl_status status =
        l->takes_records ? ESPL_OK : espl__store_make_records(store, l->head.records);

    if (status == ESPL_OK && espl__plane_is_open(&l->world->store.index_plane) &&
        !espl__index_plane_open(store)) {
        status = ESPL_ERR_NO_MEMORY;
    }
    if (status != ESPL_OK) {
        return refuse(l, status, "The image has more entities than a world of this build.");
    }
    store->free_head = l->head.free_head;
    store->free_count = l->head.free_count;
    store->alive_count = l->head.alive_count;
    store->retired_count = l->head.retired_count;
    store->least_generation = l->head.least_generation;
    return true;
}

static bool make_forest(loader *l)
{
    const espl__image_head *const head = &l->head;
    const size_t slot_size = (size_t)BYTES_OF_SLOT + head->pasts * sizeof(espl_pose);

    if (head->slots > UINT32_MAX / 2 || head->trees > UINT32_MAX / 2) {
        return refuse_format(l, "The head has a number that no world has.");
    }
    if (!has_left(l, head->slots, slot_size) || !has_left(l, head->trees, sizeof(espl__tree))) {
        return false;
    }
    if (!espl__forest_begin(&l->forest, &l->world->forest, head->slots, head->trees, head->pasts,
                            can_take_memory(l))) {
        return refuse(l, ESPL_ERR_NO_MEMORY, NULL);
    }
    l->has_forest = true;
    l->forest.free_tree = head->free_tree;
    l->forest.tracks.is_ticking = head->is_ticking != 0;
    l->forest.context.has_overflowed = head->has_overflowed != 0;
    return true;
}

// --- Records ---

// Give the records of a chunk their rows. @return false: a row has no record, or one that another row has.
static bool link_rows(espl__store *store, uint32_t number)
{
    const espl__chunk *const chunk = &store->chunks[number];
    const espl_entity *const entities = espl__chunk_entities(chunk);
    const size_t records = espl__array_length(store->records);

    for (uint32_t row = 0; row < chunk->count; ++row) {
        const espl_entity entity = entities[row];

        if (entity.index >= records) {
            return false;
        }
        espl__record *const record = &store->records[entity.index];

        if (record->generation != entity.generation || record->chunk != ESPL__NONE ||
            record->row != 0) {
            return false;
        }
        record->chunk = number;
        record->row = espl__row_word(chunk, row);
    }
    return true;
}

// Check that each record is that of a row, or free or retired.
static bool are_records_linked(const loader *l)
{
    const espl__store *const store = &l->store;
    bool is_sound = true;

    for (uint32_t index = 0; index < l->head.records; ++index) {
        const espl__record *const record = &store->records[index];

        is_sound = is_sound && (record->row < ESPL__ROW_RETIRED
                                    ? record->chunk < espl__array_length(store->chunks)
                                    : record->slot == 0);
    }
    return is_sound;
}

static bool link_records(loader *l)
{
    const size_t chunks = espl__array_length(l->store.chunks);

    for (uint32_t i = 0; i < chunks; ++i) {
        if (!link_rows(&l->store, i)) {
            return refuse_format(l, "The rows and the entities do not agree.");
        }
    }
    return is_trusted(l) || are_records_linked(l) ||
           refuse_format(l, "The rows and the entities do not agree.");
}

// --- The load ---

// Read the headers of trees, and take the memory that depends on them: all of it is there then.
static bool read_headers(loader *l)
{
    const espl__area_visitor visitor = {take_area, l};

    espl__manifest_trees(&l->forest, &visitor);
    if (l->status != ESPL_OK) {
        return false;
    }
    const espl_status status = espl__forest_make_sides(&l->forest);

    l->has_sides = true;
    return status == ESPL_OK || refuse(l, status, "No world has such headers of trees.");
}

// Take the memory of the world for the rows, records and nodes that come next.
static void take_over(loader *l)
{
    ESPL_CHECK(can_take_memory(l) || (l->forest.block != NULL || l->forest.capacity == 0));
    espl__store_take_chunks(&l->store, &l->world->store);
    if (l->takes_records) {
        espl__store_take_records(&l->store, &l->world->store, l->head.records);
    }
    if (l->forest.block == NULL && l->forest.capacity != 0) {
        espl__forest_take_slots(&l->forest, &l->world->forest);
    }
}

// Read the rows, give them the tag of this world, and link them with the records.
static bool read_rows(loader *l)
{
    const espl__area_visitor read = {take_area, l};

    espl__manifest_rows(&l->store, &read);
    if (l->status == ESPL_OK && l->head.tag != l->world->store.tag) {
        espl__image_retag(&l->store, l->head.tag);
    }
    return l->status == ESPL_OK && link_records(l);
}

static bool read_nodes(loader *l)
{
    const espl__area_visitor visitor = {take_area, l};

    espl__manifest_nodes(&l->forest, &visitor);
    espl__manifest_sides(&l->forest, &visitor);
    espl__copied();
    return l->status == ESPL_OK &&
           (l->at == l->size || refuse_format(l, "The image has bytes behind its end.")) &&
           (!is_damaged(l) || refuse_format(l, damage));
}

// Make the parts of the world that the image has.
static bool make_parts(loader *l)
{
    if (!make_store(l) || !read_names(l) || !read_originals(l) || !make_forest(l) ||
        !read_headers(l)) {
        return false;
    }
    take_over(l);
    if (!read_rows(l) || !read_nodes(l)) {
        return false;
    }
    if (!espl__forest_finish(&l->forest)) {
        return refuse_format(l, "The hierarchies are those of no world.");
    }
    espl__store_finish(&l->store);
    return true;
}

// Exchange the parts of the world with those of the load.
static void exchange(loader *l)
{
    espl_world *const world = l->world;
    const espl__store store = world->store;
    const espl__forest forest = world->forest;

    world->store = l->store;
    world->forest = l->forest;
    l->store = store;
    l->forest = forest;
}

// Check the world that was made, in the place of the old one. @return whether it can stay there.
static bool check_made(loader *l)
{
    espl_validation found = {0};
    bool are_plain = false;

    if (is_trusted(l)) {
        return true;
    }
    found.rule = espl__world_broken_rule(l->world, &found, &are_plain);
    if (found.rule != NULL) {
        return refuse_format(l, found.rule);
    }
    if (!l->world->forest.context.has_overflowed && !are_plain &&
        espl__count_overflowed(&l->world->forest) != 0) {
        return refuse_format(l, "A world transform is not finite, and the head says that all are.");
    }
    return true;
}

// Motion needs a plane of its own, also in the world that is made. @return false: no memory.
static bool begin_motion(loader *l, bool *is_added)
{
    const bool is_wanted = l->head.pasts != 0 && !espl__forest_has_motion(&l->world->forest);

    *is_added = is_wanted && espl__planes_acquire(l->world, PLANES_OF_MOTION);
    return is_wanted == *is_added || refuse(l, ESPL_ERR_NO_MEMORY, NULL);
}

// A follower that is asked not before the world is the loaded one.
typedef struct paused {
    espl__follower follower;
    bool was_on;
} paused;

static paused pause_follower(espl__heap *heap)
{
    const paused p = {heap->follower, heap->retired.is_on};

    heap->follower = (espl__follower){NULL, NULL, NULL, NULL, NULL, NULL};
    heap->retired.is_on = false;
    return p;
}

// Tell the follower of the loaded world. @return false: it has no memory.
static bool take_follower_along(loader *l, const paused *p)
{
    return p->follower.adopt == NULL || p->follower.adopt(p->follower.context, &l->store.names) ||
           refuse(l, ESPL_ERR_NO_MEMORY, NULL);
}

static void load(loader *l)
{
    espl_world *const world = l->world;
    const paused follower = pause_follower(&world->heap);
    const bool had_motion = espl__forest_has_motion(&world->forest);
    bool is_added = false, is_done = false;

    l->has_follower = follower.follower.adopt != NULL;
    (void)espl__world_next_moment(world);
    if (read_head(l) && begin_motion(l, &is_added) && make_parts(l)) {
        exchange(l);
        is_done = check_made(l) && take_follower_along(l, &follower);
        if (!is_done) {
            exchange(l);
        }
    } else if (l->is_whole) {
        blame_damage(l);
    }
    if (l->has_forest) {
        // Before the side arrays are made, headers have any contents.
        l->forest.tree_end = l->has_sides ? l->forest.tree_end : 0;
        espl__forest_free(&l->forest);
    }
    if (l->has_store) {
        espl__store_discard(&l->store);
    }
    if (is_done ? had_motion && l->head.pasts == 0 : is_added) {
        espl__planes_release(world, PLANES_OF_MOTION);
    }
    world->heap.follower = follower.follower;
    world->heap.retired.is_on = follower.was_on && !is_done;
    world->timeline += is_done ? 1 : 0;
}

static espl_status try_load(loader *l)
{
    const espl_status busy = espl__check_structural(l->world);

    if (busy != ESPL_OK) {
        return busy;
    }
    load(l);
    return l->status;
}

espl_status espl_image_load(espl_world *world, const void *bytes, size_t size, uint32_t flags,
                            espl_format_fault *fault)
{
    static const char *const call = "espl_image_load";
    loader l = {.world = world,
                .bytes = bytes,
                .size = size,
                .flags = flags,
                .passes_cache = espl__image_is_large(size)};
    espl_status status = ESPL_ERR_ARGUMENT;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world != NULL && bytes != NULL &&
        (flags & ~(uint32_t)(ESPL_IMAGE_TRUSTED | ESPL_IMAGE_RETAG)) == 0) {
        status = ESPL__TAPED(world, try_load(&l), .op = ESPL_TAPE_IMAGE, .word = flags,
                             .value = bytes, .size = size);
    }
    if (fault != NULL) {
        *fault = l.fault;
    }
    return espl__refuse_bytes(world, call,
                              &(espl__bytes_fault){.fault = &l.fault,
                                                   .component = l.blamed,
                                                   .component_size = l.blamed_size},
                              status, "bytes is NULL, or flags has an unknown bit.");
}

uint64_t espl_world_timeline(const espl_world *world)
{
    return world == NULL ? 0 : world->timeline;
}
