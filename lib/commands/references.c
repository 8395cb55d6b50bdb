// SPDX-License-Identifier: MIT
// Entity references in clones: a field that names a member of the cloned closure comes to name that
// member's clone in the same copy. The copies that one command makes are alike, so each command is
// planned once, member by member. A plan names made nodes by their number in their part, because they
// have no entity before the change stage.
//
// The plan is made before the change stage, because that stage overwrites the rows of originals with
// the values that commands gave them.
#include "lib/commands/playback.h"

#include <string.h>

// What a field of a clone names.
enum {
    HELD,   // what its row holds once it is made
    MEMBER, // a member of its own copy
    MADE,   // a node that an earlier command made
};

// A field of a member's clones that refers to an entity.
typedef struct reference_field {
    espl_component component;
    uint32_t offset;  // in the component
    uint32_t kind;    // HELD, MEMBER or MADE
    uint32_t number;  // MEMBER: of the member; MADE: of the made node
    espl_entity held; // HELD: the handle
} reference_field;

// The copies made by one command: in each the members are in the same order.
typedef struct reference_batch {
    uint32_t part, entry;
    uint32_t begin, size, copies; // made nodes [begin, begin + size * copies)
    uint32_t members;             // of its first member in member_ends
    bool has_new;                 // some field names a made node
} reference_batch;

// A made node that died and that a living made node names.
typedef struct lost_node {
    uint32_t part, number;
} lost_node;

typedef struct espl__references {
    reference_batch *batches; // [batch_count] by part, then in the order of the made nodes
    size_t batch_count;
    uint32_t *member_ends; // the fields of member m are [member_ends[m], member_ends[m + 1])
    uint32_t member_count;
    reference_field *fields; // stb array
    lost_node *lost;         // [lost_count]
    size_t lost_count;
    uint32_t *lost_entities; // [all made nodes] where some died: by the node's number behind first_made
    uint32_t first_made[ESPL__PARTS];
} espl__references;

// State of the plan, for one part at a time.
typedef struct reference_planner {
    espl__playback *playback;
    espl__references *all;
    const espl__part *part;
    size_t first_batch;       // of the part
    uint32_t *source_batches; // [sources] first batch of a source that nobody edits, or ESPL__NONE
    const uint8_t *refers;    // by archetype
    uint32_t *entity_marks;   // by entity: number of a member of the command at hand + 1, or 0
    uint32_t *made_marks;     // likewise by made node of the part
} reference_planner;

// --- Archetypes and fields ---

bool espl__references_in(const espl__store *store, uint32_t archetype)
{
    const espl__column *const columns = store->archetypes[archetype].columns;
    const size_t count = espl__array_length(columns);
    bool refers = false;

    for (size_t i = 0; i < count && !refers; ++i) {
        refers = espl__component_info_of(store, columns[i].component)->reference_count != 0;
    }
    return refers;
}

static bool reserve_fields(const reference_planner *p, size_t more)
{
    // Fields are numbered in 32 bits. Past what memory holds.
    if (more >= UINT32_MAX - espl__array_length(p->all->fields)) { // GCOVR_EXCL_BR_LINE
        return false;
    }
    return ESPL_ARRAY_RESERVE(p->playback->heap, ESPL__FOR_COMMANDS, p->all->fields, more);
}

// The number of the member that a field names, or ESPL__NONE.
static uint32_t find_member(const reference_planner *p, const reference_field *f)
{
    const espl__store *const store = p->playback->store;
    uint32_t mark = 0;

    if (f->kind == MADE) {
        mark = p->made_marks[f->number];
    } else if (f->held.index < espl__array_length(store->records) &&
               espl_entity_equal(f->held, espl__entity_at(store, f->held.index))) {
        mark = p->entity_marks[f->held.index];
    }
    return mark != 0 ? mark - 1 : ESPL__NONE;
}

// List a field of the original as the command at hand leaves it in the clone. Reserved.
static void list_field(const reference_planner *p, const reference_field *original)
{
    const uint32_t member = find_member(p, original);
    reference_field f = *original;

    if (member != ESPL__NONE) {
        f.kind = MEMBER;
        f.number = member;
    }
    ESPL_ARRAY_PUSH(p->all->fields, f);
}

// --- Originals ---

// List the fields of one component by its value.
static bool list_value(const reference_planner *p, espl_component component,
                       const unsigned char *value)
{
    const espl__component_info *const info = espl__component_info_of(p->playback->store, component);

    if (!reserve_fields(p, info->reference_count)) {
        return false;
    }
    for (uint32_t r = 0; r < info->reference_count; ++r) {
        reference_field f = {.component = component, .offset = info->references[r], .kind = HELD};

        memcpy(&f.held, value + f.offset, sizeof f.held);
        list_field(p, &f);
    }
    return true;
}

// List the fields of the row of an entity that lived before the playback.
static bool list_row(const reference_planner *p, uint32_t entity)
{
    const espl__store *const store = p->playback->store;
    const uint32_t archetype = espl__entity_archetype(store, entity);
    const espl__column *const columns = store->archetypes[archetype].columns;
    const size_t count = p->refers[archetype] != 0 ? espl__array_length(columns) : 0;
    bool is_done = true;

    for (size_t i = 0; i < count && is_done; ++i) {
        if (espl__component_info_of(store, columns[i].component)->reference_count != 0) {
            is_done = list_value(p, columns[i].component,
                                 espl__row_value(store, entity, columns[i].component));
        }
    }
    return is_done;
}

// The batch of this part that has a made node: they are in ascending order.
static const reference_batch *find_batch(const reference_planner *p, uint32_t number)
{
    const reference_batch *const batches = p->all->batches;
    size_t low = p->first_batch, high = p->all->batch_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (batches[middle].begin <= number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    ESPL_CHECK(number - batches[low].begin < batches[low].size * batches[low].copies);
    return &batches[low];
}

// List the fields that a made node got when it was made: those of one component or, for 0, all.
static bool list_made(const reference_planner *p, uint32_t original, espl_component component)
{
    const reference_batch *const from = find_batch(p, original);
    const uint32_t member = (original - from->begin) % from->size;
    const uint32_t top = original - member;
    const uint32_t begin = p->all->member_ends[from->members + member];
    const uint32_t end = p->all->member_ends[from->members + member + 1];

    if (!reserve_fields(p, end - begin)) {
        return false;
    }
    for (uint32_t i = begin; i < end; ++i) {
        reference_field f = p->all->fields[i];

        if (component != 0 && f.component != component) {
            continue;
        }
        if (f.kind == MEMBER) {
            f.kind = MADE;
            f.number += top;
        }
        list_field(p, &f);
    }
    return true;
}

// --- Originals whose sets commands changed ---

// Tell whether a value was given to a made node by the command that made it or by a later one. Such a
// value is not remapped.
static bool is_own(const espl__set_item *item, uint32_t made_by)
{
    return item->entry != ESPL__NONE && item->entry >= made_by;
}

// The set that a node had when it was made, or ESPL__NONE. Later changes lead back to it.
static uint32_t first_set(const reference_planner *p, uint32_t number, uint32_t made_by)
{
    const espl__set *const sets = p->part->sets.sets;
    uint32_t set = p->part->made[number].set;

    while (set != ESPL__NONE && sets[set].entry > made_by) {
        set = sets[set].before;
    }
    return set;
}

// List the fields of one component that a clone got from its original.
static bool list_item(const reference_planner *p, const espl__set_item *item,
                      const espl__made *clone)
{
    const bool is_of_made = clone->original != ESPL__NO_ENTITY;

    // A value that a command gave to the original itself.
    if (item->entry != ESPL__NONE &&
        (!is_of_made || is_own(item, find_batch(p, clone->original)->entry))) {
        return list_value(p, item->component, item->bytes);
    }
    return is_of_made
               ? list_made(p, clone->original, item->component)
               : list_value(p, item->component,
                            espl__row_value(p->playback->store, clone->source, item->component));
}

static bool list_set(const reference_planner *p, uint32_t number, const reference_batch *b,
                     const espl__made *clone)
{
    const espl__sets *const sets = &p->part->sets;
    const espl__set *const set = &sets->sets[number];
    bool is_done = true;

    for (uint32_t i = 0; i < set->count && is_done; ++i) {
        const espl__set_item *const item = &sets->items[set->begin + i];
        const espl__component_info *const info =
            espl__component_info_of(p->playback->store, item->component);

        if (info->reference_count != 0 && !is_own(item, b->entry)) {
            is_done = list_item(p, item, clone);
        }
    }
    return is_done;
}

// --- One command ---

// Mark the originals of a batch with the numbers of its members, or remove the marks.
static void mark_members(const reference_planner *p, const reference_batch *b, bool is_marked)
{
    for (uint32_t member = 0; member < b->size; ++member) {
        const espl__made *const clone = &p->part->edit.made[b->begin + member];
        const uint32_t mark = is_marked ? member + 1 : 0;

        if (clone->original != ESPL__NO_ENTITY) {
            p->made_marks[clone->original] = mark;
        } else if (clone->source != ESPL__NO_ENTITY) {
            p->entity_marks[clone->source] = mark;
        }
    }
}

static bool list_member(const reference_planner *p, const reference_batch *b, uint32_t number)
{
    const espl__made *const clone = &p->part->edit.made[number];
    const uint32_t set = first_set(p, number, b->entry);

    if (clone->original == ESPL__NO_ENTITY && clone->source == ESPL__NO_ENTITY) {
        return true; // made from nothing: whatever it has was given to it
    }
    if (set != ESPL__NONE) {
        return list_set(p, set, b, clone);
    }
    return clone->original != ESPL__NO_ENTITY ? list_made(p, clone->original, 0)
                                              : list_row(p, clone->source);
}

static bool plan_members(const reference_planner *p, reference_batch *b)
{
    espl__references *const all = p->all;
    const size_t begin = espl__array_length(all->fields);
    bool is_done = true;

    b->members = all->member_count;
    all->member_count += b->size;
    mark_members(p, b, true);
    for (uint32_t member = 0; member < b->size && is_done; ++member) {
        is_done = list_member(p, b, b->begin + member);
        all->member_ends[b->members + member + 1] = (uint32_t)espl__array_length(all->fields);
    }
    mark_members(p, b, false);
    for (size_t i = begin; i < espl__array_length(all->fields); ++i) {
        b->has_new = b->has_new || all->fields[i].kind != HELD;
    }
    return is_done;
}

// Copies of a source that no command edits have the same fields whichever command made them, unless
// the command gives them values.
static bool plan_batch(const reference_planner *p, const espl__entry *entry, reference_batch *b)
{
    if (entry->template == 0 || entry->command->value_count != 0) {
        return plan_members(p, b);
    }
    uint32_t *const first = &p->source_batches[entry->template - 1];

    if (*first == ESPL__NONE) {
        *first = (uint32_t)(b - p->all->batches);
        return plan_members(p, b);
    }
    ESPL_CHECK(p->all->batches[*first].size == b->size);
    b->members = p->all->batches[*first].members;
    b->has_new = p->all->batches[*first].has_new;
    return true;
}

// --- All commands ---

static bool plan_entry(const reference_planner *p, uint32_t part, uint32_t number)
{
    const espl__entry *const entry = &p->playback->entries[number];

    // The part that is applied alone goes through all groups, of which some are others'.
    if (entry->made_count == 0 || entry->part != part) {
        return true;
    }
    ESPL_CHECK(entry->made_count % entry->command->count == 0);
    reference_batch *const b = &p->all->batches[p->all->batch_count++];

    *b = (reference_batch){.part = part,
                           .entry = number,
                           .begin = entry->made_begin,
                           .size = entry->made_count / entry->command->count,
                           .copies = entry->command->count};
    return plan_batch(p, entry, b);
}

static bool plan_part(reference_planner *p, uint32_t number)
{
    const espl__playback *const playback = p->playback;
    bool is_done = true;

    p->part = playback->parts[number];
    p->first_batch = p->all->batch_count;
    for (uint32_t g = p->part->group_begin; g < p->part->group_end && is_done; ++g) {
        const espl__group *const group = &playback->groups[g];

        for (uint32_t i = group->entry_begin; i < group->entry_end && is_done; ++i) {
            is_done = plan_entry(p, number, playback->grouped_entries[i]);
        }
    }
    return is_done;
}

// Tell whether some made node may have references.
static bool may_refer(const espl__playback *playback)
{
    bool refers = false;

    ESPL_CHECK(playback->copies_count != 0 || playback->make_count == 0);
    if (playback->store->referring_count != 0) {
        for (size_t i = 0; i < playback->copies_count && !refers; ++i) {
            refers = espl__references_in(playback->store, playback->copies[i].archetype);
        }
    }
    return refers;
}

// The largest number of nodes that a part made, and of all parts together.
static size_t count_made(const espl__playback *playback, size_t *largest)
{
    size_t sum = 0;

    *largest = 0;
    for (uint32_t i = 0; i < playback->part_count; ++i) {
        const size_t count = espl__array_length(playback->parts[i]->edit.made);

        *largest = count > *largest ? count : *largest;
        sum += count;
    }
    return sum;
}

static bool reserve_batches(espl__playback *playback, espl__references *all)
{
    size_t batches = 0, members = 0;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        batches += entry->made_count != 0 ? 1 : 0;
        members += entry->made_count != 0 ? entry->made_count / entry->command->count : 0;
    }
    all->batches = espl__arena_take(&playback->arena, batches, sizeof *all->batches);
    all->member_ends = espl__arena_take_zeroed(&playback->arena, members + 1, sizeof(uint32_t));
    return all->batches != NULL && all->member_ends != NULL;
}

// Marks and tables. @return false: no memory.
static bool reserve_plan(reference_planner *p)
{
    espl__playback *const playback = p->playback;
    const espl__store *const store = playback->store;
    const size_t archetypes = espl__array_length(store->archetypes);
    const size_t sources = espl__array_length(playback->sources);
    uint8_t *const refers = espl__arena_take(&playback->arena, archetypes, sizeof *refers);
    size_t largest = 0;

    (void)count_made(playback, &largest);
    p->made_marks = espl__arena_take_zeroed(&playback->arena, largest, sizeof *p->made_marks);
    p->source_batches = espl__arena_take(&playback->arena, sources, sizeof *p->source_batches);
    if (refers == NULL || p->made_marks == NULL || p->source_batches == NULL ||
        !reserve_batches(playback, p->all) ||
        !espl__marks_reserve(playback->heap, &playback->entity_marks,
                             espl__array_length(store->records))) {
        return false;
    }
    p->refers = refers;
    p->entity_marks = playback->entity_marks;
    memset(p->source_batches, 0xff, sources * sizeof *p->source_batches);
    for (uint32_t archetype = 0; archetype < archetypes; ++archetype) {
        refers[archetype] = espl__references_in(store, archetype);
    }
    return true;
}

// --- Fields that name made nodes ---

// Called for a field of a living made node that names a made node of the same part. The numbers are
// those of the part.
typedef void (*field_visitor)(void *context, uint32_t part, uint32_t number,
                              const reference_field *f, uint32_t target);

// A made node that died keeps its slot, without an entity, until the place stage.
static bool is_dead(const espl__playback *playback, uint32_t part, uint32_t number)
{
    const uint32_t slot = playback->parts[part]->edit.made[number].slot;

    return playback->forest->links[slot].entity == ESPL__NO_ENTITY;
}

// Tell whether a made node has the component of a field, with the value that it was made with.
static bool has_kept(const espl__part *part, const reference_batch *b, uint32_t number,
                     espl_component component)
{
    const uint32_t set = part->made[number].set;

    if (set == ESPL__NONE) {
        return true;
    }
    const espl__set_item *const item = espl__set_find(&part->sets, set, component);

    return item != NULL && !is_own(item, b->entry);
}

// Visit one field in all copies.
static void visit_field(const espl__playback *playback, const reference_batch *b, uint32_t member,
                        const reference_field *f, field_visitor visit, void *context)
{
    for (uint32_t copy = 0; copy < b->copies; ++copy) {
        const uint32_t top = b->begin + copy * b->size;
        const uint32_t target = f->kind == MEMBER ? top + f->number : f->number;

        if (!is_dead(playback, b->part, top + member) &&
            has_kept(playback->parts[b->part], b, top + member, f->component)) {
            visit(context, b->part, top + member, f, target);
        }
    }
}

static void visit_batch(const espl__playback *playback, const reference_batch *b,
                        field_visitor visit, void *context)
{
    const espl__references *const all = playback->references;

    for (uint32_t member = 0; b->has_new && member < b->size; ++member) {
        const uint32_t *const ends = all->member_ends + b->members + member;

        for (uint32_t i = ends[0]; i < ends[1]; ++i) {
            if (all->fields[i].kind != HELD) {
                visit_field(playback, b, member, &all->fields[i], visit, context);
            }
        }
    }
}

static void visit_all(const espl__playback *playback, field_visitor visit, void *context)
{
    const espl__references *const all = playback->references;

    for (size_t i = 0; i < all->batch_count; ++i) {
        visit_batch(playback, &all->batches[i], visit, context);
    }
}

// --- Dead nodes that are named ---

// The dead nodes of one part that were listed have a mark.
typedef struct lost_search {
    const espl__playback *playback;
    espl__references *all;
    uint32_t *marks; // by made node of the part at hand
    uint32_t part;
    size_t part_begin; // first lost node of that part
} lost_search;

static void clear_lost_marks(lost_search *s)
{
    for (size_t i = s->part_begin; i < s->all->lost_count; ++i) {
        s->marks[s->all->lost[i].number] = 0;
    }
    s->part_begin = s->all->lost_count;
}

static void list_lost(void *context, uint32_t part, uint32_t number, const reference_field *f,
                      uint32_t target)
{
    lost_search *const s = context;

    (void)number;
    (void)f;
    if (s->part != part) {
        clear_lost_marks(s);
        s->part = part;
    }
    if (is_dead(s->playback, part, target) && s->marks[target] == 0) {
        s->marks[target] = 1;
        s->all->lost[s->all->lost_count++] = (lost_node){part, target};
    }
}

// Carried out one by one, the commands would have given a dead made node an entity, and its handle
// would stand in the row that names the node.
static bool list_all_lost(const reference_planner *p)
{
    espl__playback *const playback = p->playback;
    espl__references *const all = p->all;
    size_t largest = 0;
    const size_t made = count_made(playback, &largest);

    ESPL_CHECK(made >= playback->make_count);
    const size_t dead = made - playback->make_count;

    if (dead == 0) {
        return true;
    }
    all->lost = espl__arena_take(&playback->arena, dead, sizeof *all->lost);
    all->lost_entities = espl__arena_take(&playback->arena, made, sizeof *all->lost_entities);
    if (all->lost == NULL || all->lost_entities == NULL) {
        return false;
    }
    for (uint32_t part = 1; part < playback->part_count; ++part) {
        const size_t before = espl__array_length(playback->parts[part - 1]->edit.made);

        all->first_made[part] = all->first_made[part - 1] + (uint32_t)before;
    }
    lost_search search = {.playback = playback, .all = all, .marks = p->made_marks};

    visit_all(playback, list_lost, &search);
    return true;
}

espl_status espl__references_plan(espl__playback *playback)
{
    ESPL_CHECK(playback->references == NULL);
    if (!may_refer(playback)) {
        return ESPL_OK;
    }
    espl__references *const all = espl__arena_take_zeroed(&playback->arena, 1, sizeof *all);
    reference_planner p = {.playback = playback, .all = all};

    if (all == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    // From here on espl__references_drop() gives the fields back, also when the plan fails.
    playback->references = all;
    bool is_done = reserve_plan(&p);

    for (uint32_t part = 0; is_done && part < playback->part_count; ++part) {
        is_done = plan_part(&p, part);
    }
    return is_done && list_all_lost(&p) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

void espl__references_drop(espl__playback *playback)
{
    if (playback->references != NULL) {
        ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, playback->references->fields);
        playback->references = NULL; // the rest is in the arena
    }
}

// --- The change ---

size_t espl__references_lost(const espl__playback *playback)
{
    return playback->references != NULL ? playback->references->lost_count : 0;
}

static uint32_t *lost_entity(const espl__playback *playback, uint32_t part, uint32_t number)
{
    const espl__references *const all = playback->references;

    return &all->lost_entities[all->first_made[part] + number];
}

void espl__references_name(espl__playback *playback)
{
    for (size_t i = 0; i < espl__references_lost(playback); ++i) {
        const lost_node lost = playback->references->lost[i];

        *lost_entity(playback, lost.part, lost.number) = espl__entity_take(playback->store).index;
    }
}

// A dead one has an entity for as long as references are written.
static uint32_t entity_of_made(const espl__playback *playback, uint32_t part, uint32_t number)
{
    const uint32_t slot = playback->parts[part]->edit.made[number].slot;
    const uint32_t entity = playback->forest->links[slot].entity;

    return entity != ESPL__NO_ENTITY ? entity : *lost_entity(playback, part, number);
}

static void write_field(void *context, uint32_t part, uint32_t number, const reference_field *f,
                        uint32_t target)
{
    const espl__playback *const playback = context;
    const espl_entity named =
        espl__entity_at(playback->store, entity_of_made(playback, part, target));
    unsigned char *const value =
        espl__row_write(playback->store, entity_of_made(playback, part, number), f->component);

    memcpy(value + f->offset, &named, sizeof named);
}

void espl__references_write(espl__playback *playback)
{
    if (playback->references == NULL) {
        return;
    }
    visit_all(playback, write_field, playback);
    for (size_t i = 0; i < espl__references_lost(playback); ++i) {
        const lost_node lost = playback->references->lost[i];

        espl__entity_release(playback->store, *lost_entity(playback, lost.part, lost.number));
    }
}
