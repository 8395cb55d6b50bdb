// SPDX-License-Identifier: MIT
// Entity references in clones: where a field names a member of the cloned closure, the field of the
// clone names that member's clone in the same copy. The reserve stage plans this, and the change
// stage writes the plan into the rows.
//
// Input: the made nodes with their originals, the sets of the parts, the rows of the store. Output:
// a plan (espl__references), then the reference fields in the rows of made nodes.
//
// The copies that one command makes are alike, so that each command is planned once, member by
// member. A plan names made nodes by their numbers in their part, because they have no entity
// before the change stage. The plan is made before that stage, because the stage overwrites the
// rows of originals with the values that commands gave them.
//
// Cost: nothing where no archetype of a made node has references; else linear in the members of the
// closures that commands clone, and in the fields of all clones that name made nodes.
//
// Invariants: batches are by part, then by made node; the marks of entities and made nodes are 0
// whenever no member is marked.
#include "lib/commands/component_values.h"

#include "lib/base/marks.h"

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
    // [all made nodes] where some died: entity of a lost node, by its number + first_made of its
    // part. Written and read by the change stage.
    uint32_t *lost_entities;
    uint32_t first_made[ESPL__PARTS];
} espl__references;

// State of the plan, for one part at a time.
typedef struct reference_planner {
    espl__stage_context *context;
    const espl__store *store; // of the context
    const espl__reserve_input *in;
    espl__references *all;
    const espl__part *part;
    size_t first_batch;       // of the part
    uint32_t
        *source_batches; // [sources] first batch of a source that no command edits, or ESPL__NONE
    const uint8_t *refers;    // by archetype
    uint32_t *entity_marks;   // by entity: number of a member of the current command + 1, or 0
    uint32_t *made_marks;     // by made node of the part: as entity_marks
} reference_planner;

// --- Archetypes and fields ---

bool espl__references_in(const espl__store *store, uint32_t archetype)
{
    const espl__column *const columns = store->archetypes[archetype].columns;
    const size_t count = espl__array_length(columns);
    bool refers = false;

    for (size_t i = 0; i < count && !refers; ++i) {
        refers = !columns[i].is_unique &&
                 espl__component_info_of(store, columns[i].component)->reference_count != 0;
    }
    return refers;
}

// Reserve room for more fields. @return false: no memory.
static bool reserve_fields(const reference_planner *p, size_t more)
{
    // Fields are numbered in 32 bits. Past what memory holds.
    if (more >= UINT32_MAX - espl__array_length(p->all->fields)) { // GCOVR_EXCL_BR_LINE
        return false;
    }
    return ESPL_ARRAY_RESERVE(p->context->heap, ESPL__FOR_COMMANDS, p->all->fields, more);
}

// The number of the member that a field names, or ESPL__NONE.
static uint32_t find_member_named(const reference_planner *p, const reference_field *f)
{
    const espl__store *const store = p->store;
    uint32_t mark = 0;

    if (f->kind == MADE) {
        mark = p->made_marks[f->number];
    } else if (f->held.index < espl__array_length(store->records) &&
               espl_entity_equal(f->held, espl__entity_at(store, f->held.index))) {
        mark = p->entity_marks[f->held.index];
    }
    return mark != 0 ? mark - 1 : ESPL__NONE;
}

// List a field of the original as the current command leaves it in the clone. Reserved.
static void list_field(const reference_planner *p, const reference_field *original)
{
    const uint32_t member = find_member_named(p, original);
    reference_field f = *original;

    if (member != ESPL__NONE) {
        f.kind = MEMBER;
        f.number = member;
    }
    ESPL_ARRAY_PUSH(p->all->fields, f);
}

// --- Originals ---

// List the fields of one component by its value. @return false, here and below: no memory.
static bool list_value_fields(const reference_planner *p, espl_component component,
                              const unsigned char *value)
{
    const espl__component_info *const info = espl__component_info_of(p->store, component);

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
static bool list_row_fields(const reference_planner *p, uint32_t entity)
{
    const espl__store *const store = p->store;
    const uint32_t archetype = espl__entity_archetype(store, entity);
    const espl__column *const columns = store->archetypes[archetype].columns;
    const size_t count = p->refers[archetype] != 0 ? espl__array_length(columns) : 0;
    bool is_done = true;

    for (size_t i = 0; i < count && is_done; ++i) {
        if (!columns[i].is_unique &&
            espl__component_info_of(store, columns[i].component)->reference_count != 0) {
            is_done = list_value_fields(p, columns[i].component,
                                        espl__row_value(store, entity, columns[i].component));
        }
    }
    return is_done;
}

// The batch of this part that has a made node, by binary search.
static const reference_batch *find_batch_of(const reference_planner *p, uint32_t number)
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
    ESPL_CHECK_FULL(number - batches[low].begin < batches[low].size * batches[low].copies);
    return &batches[low];
}

// List the fields that a made node got when it was made: those of one component or, for 0, all.
static bool list_made_fields(const reference_planner *p, uint32_t original,
                             espl_component component)
{
    const reference_batch *const from = find_batch_of(p, original);
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
        // A member of the original's own copy is, seen from here, a made node.
        if (f.kind == MEMBER) {
            f.kind = MADE;
            f.number += top;
        }
        list_field(p, &f);
    }
    return true;
}

// --- Originals whose sets commands changed ---

// Tell whether a value was given to a made node by the command that made it or by a later one. Such
// a value is not remapped.
static bool is_own_value(const espl__set_item *item, uint32_t made_by)
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
static bool list_item_fields(const reference_planner *p, const espl__set_item *item,
                             const espl__made *clone)
{
    const bool is_of_made = clone->original != ESPL__NO_ENTITY;

    // A value that a command gave to the original itself.
    if (item->entry != ESPL__NONE &&
        (!is_of_made || is_own_value(item, find_batch_of(p, clone->original)->entry))) {
        return list_value_fields(p, item->component, item->bytes);
    }
    return is_of_made
               ? list_made_fields(p, clone->original, item->component)
               : list_value_fields(p, item->component,
                                   espl__row_value(p->store, clone->source, item->component));
}

// List the fields of a clone whose set a command changed: those of the components that it has from
// its original. A value that the clone was given itself keeps its handles.
static bool list_set_fields(const reference_planner *p, uint32_t number, const reference_batch *b,
                            const espl__made *clone)
{
    const espl__sets *const sets = &p->part->sets;
    const espl__set *const set = &sets->sets[number];
    bool is_done = true;

    for (uint32_t i = 0; i < set->count && is_done; ++i) {
        const espl__set_item *const item = &sets->items[set->begin + i];
        const espl__component_info *const info = espl__component_info_of(p->store, item->component);

        if (info->reference_count != 0 && (info->flags & ESPL_COMPONENT_UNIQUE) == 0 &&
            !is_own_value(item, b->entry)) {
            is_done = list_item_fields(p, item, clone);
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

// List the fields of one member, by its set, or by what it is a copy of.
static bool list_member_fields(const reference_planner *p, const reference_batch *b,
                               uint32_t number)
{
    const espl__made *const clone = &p->part->edit.made[number];
    const uint32_t set = first_set(p, number, b->entry);

    if (clone->original == ESPL__NO_ENTITY && clone->source == ESPL__NO_ENTITY) {
        return true; // made from nothing: all its values were given to it, and are not remapped
    }
    if (set != ESPL__NONE) {
        return list_set_fields(p, set, b, clone);
    }
    return clone->original != ESPL__NO_ENTITY ? list_made_fields(p, clone->original, 0)
                                              : list_row_fields(p, clone->source);
}

// List the fields of all members of a batch.
static bool plan_members(const reference_planner *p, reference_batch *b)
{
    espl__references *const all = p->all;
    const size_t begin = espl__array_length(all->fields);
    bool is_done = true;

    b->members = all->member_count;
    all->member_count += b->size;
    mark_members(p, b, true);
    for (uint32_t member = 0; member < b->size && is_done; ++member) {
        is_done = list_member_fields(p, b, b->begin + member);
        all->member_ends[b->members + member + 1] = (uint32_t)espl__array_length(all->fields);
    }
    mark_members(p, b, false);
    for (size_t i = begin; i < espl__array_length(all->fields); ++i) {
        b->has_new = b->has_new || all->fields[i].kind != HELD;
    }
    return is_done;
}

// Plan a batch. Copies of a source that no command edits have the same fields whichever command
// made them, unless the command gives them values: they share the fields of the first batch.
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
    // The fields are those of the first batch: members are in the same order.
    b->members = p->all->batches[*first].members;
    b->has_new = p->all->batches[*first].has_new;
    return true;
}

// --- All commands ---

// Plan the copies of one command, if it made some in this part.
static bool plan_entry(const reference_planner *p, uint32_t part, uint32_t number)
{
    const espl__entry *const entry = &p->in->ordered->entries[number];

    // Skip entries of other parts: the range of the last part, which is applied alone, covers all
    // groups.
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

// Plan all commands of a part, in the order in which its nodes were made, so that the originals of
// a clone are planned before it.
static bool plan_part(reference_planner *p, uint32_t number)
{
    const espl__grouped *const grouped = p->in->grouped;
    bool is_done = true;

    p->part = p->in->applied->parts[number];
    p->first_batch = p->all->batch_count;
    for (uint32_t g = p->part->group_begin; g < p->part->group_end && is_done; ++g) {
        const espl__group *const group = &grouped->groups[g];

        for (uint32_t i = group->entry_begin; i < group->entry_end && is_done; ++i) {
            is_done = plan_entry(p, number, grouped->queue[i].entry);
        }
    }
    return is_done;
}

// Tell whether some made node may have references.
static bool may_refer(const espl__store *store, const espl__planned *planned)
{
    bool refers = false;

    ESPL_CHECK(planned->copies_count != 0 || planned->make_count == 0);
    if (store->referring_count != 0) {
        for (size_t i = 0; i < planned->copies_count && !refers; ++i) {
            refers = espl__references_in(store, planned->copies[i].archetype);
        }
    }
    return refers;
}

// Take a batch for each command that made nodes, and their members. @return false: no memory.
static bool take_batches(const reference_planner *p)
{
    espl__arena *const arena = &p->context->arena;
    const espl__ordered *const ordered = p->in->ordered;
    espl__references *const all = p->all;
    size_t batches = 0, members = 0;

    for (size_t i = 0; i < ordered->entry_count; ++i) {
        const espl__entry *const entry = &ordered->entries[i];

        batches += entry->made_count != 0 ? 1 : 0;
        members += entry->made_count != 0 ? entry->made_count / entry->command->count : 0;
    }
    all->batches = espl__arena_take(arena, batches, sizeof *all->batches);
    all->member_ends = espl__arena_take_zeroed(arena, members + 1, sizeof *all->member_ends);
    return all->batches != NULL && all->member_ends != NULL;
}

// Take the memory of the plan. @param made_count  of the plan.
// @return false: no memory.
static bool take_plan(reference_planner *p, size_t made_count)
{
    espl__stage_context *const context = p->context;
    espl__arena *const arena = &context->arena;
    const size_t archetypes = espl__array_length(p->store->archetypes);
    const size_t sources = p->in->grouped->source_count;
    uint8_t *const refers = espl__arena_take(arena, archetypes, sizeof *refers);

    p->made_marks = espl__arena_take_zeroed(arena, made_count, sizeof *p->made_marks);
    p->source_batches = espl__arena_take(arena, sources, sizeof *p->source_batches);
    if (refers == NULL || p->made_marks == NULL || p->source_batches == NULL || !take_batches(p) ||
        !espl__marks_reserve(context->heap, ESPL__FOR_COMMANDS, &context->memory.entity_marks,
                             espl__array_length(p->store->records))) {
        return false;
    }
    p->refers = refers;
    p->entity_marks = context->memory.entity_marks;
    memset(p->source_batches, 0xff, sources * sizeof *p->source_batches);
    for (uint32_t archetype = 0; archetype < archetypes; ++archetype) {
        refers[archetype] = espl__references_in(p->store, archetype);
    }
    return true;
}

// --- Fields that name made nodes ---

// Called for a field of a living made node that names a made node of the same part. `number` and
// `target` are the numbers of the two nodes in the part.
typedef void (*field_visitor)(void *context, const espl__part *part, uint32_t number,
                              const reference_field *f, uint32_t target);

// Tell whether a made node died. It keeps its slot, without an entity, until the place stage.
static bool made_is_dead(const espl__part *part, uint32_t number)
{
    ESPL_CHECK_FULL(number < espl__array_length(part->edit.made));
    return part->edit.forest->links[part->edit.made[number].slot].entity == ESPL__NO_ENTITY;
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

    return item != NULL && !is_own_value(item, b->entry);
}

// Visit one field in all copies.
static void visit_field(const espl__part *part, const reference_batch *b, uint32_t member,
                        const reference_field *f, field_visitor visit, void *context)
{
    for (uint32_t copy = 0; copy < b->copies; ++copy) {
        const uint32_t top = b->begin + copy * b->size;
        const uint32_t target = f->kind == MEMBER ? top + f->number : f->number;

        if (!made_is_dead(part, top + member) && has_kept(part, b, top + member, f->component)) {
            visit(context, part, top + member, f, target);
        }
    }
}

// Visit the fields of a batch that name made nodes, member by member. O(1) where none does.
static void visit_batch(const espl__references *all, const espl__part *part,
                        const reference_batch *b, field_visitor visit, void *context)
{
    for (uint32_t member = 0; b->has_new && member < b->size; ++member) {
        const uint32_t *const ends = all->member_ends + b->members + member;

        for (uint32_t i = ends[0]; i < ends[1]; ++i) {
            if (all->fields[i].kind != HELD) {
                visit_field(part, b, member, &all->fields[i], visit, context);
            }
        }
    }
}

// Visit all batches. Part by part, which list_lost_node() relies on.
static void visit_all(const espl__references *all, const espl__applied *applied,
                      field_visitor visit, void *context)
{
    for (size_t i = 0; i < all->batch_count; ++i) {
        const reference_batch *const b = &all->batches[i];

        visit_batch(all, applied->parts[b->part], b, visit, context);
    }
}

// --- Dead nodes that are named ---

// The lost nodes of the current part have a mark once they are listed.
typedef struct lost_search {
    espl__references *all;
    uint32_t *marks; // by made node of the current part
    uint32_t part;
    size_t part_begin; // first lost node of that part
} lost_search;

// Clear the marks of the lost nodes of the current part, so that the marks can serve another part.
static void clear_lost_marks(lost_search *s)
{
    for (size_t i = s->part_begin; i < s->all->lost_count; ++i) {
        s->marks[s->all->lost[i].number] = 0;
    }
    s->part_begin = s->all->lost_count;
}

// A visitor: list the target if it is dead and not listed yet. Room is for all dead nodes.
static void list_lost_node(void *context, const espl__part *part, uint32_t number,
                           const reference_field *f, uint32_t target)
{
    lost_search *const s = context;

    (void)number;
    (void)f;
    if (s->part != part->number) {
        clear_lost_marks(s);
        s->part = part->number;
    }
    if (made_is_dead(part, target) && s->marks[target] == 0) {
        s->marks[target] = 1;
        s->all->lost[s->all->lost_count++] = (lost_node){part->number, target};
    }
}

// List the dead nodes that are named. If the commands were carried out one by one, a dead made node
// would have had an entity, and its handle would be in the row that names the node: the same is
// written here.
static bool list_all_lost(const reference_planner *p, const espl__planned *planned)
{
    espl__arena *const arena = &p->context->arena;
    const espl__applied *const applied = p->in->applied;
    espl__references *const all = p->all;
    const size_t made = planned->made_count, dead = made - planned->make_count;

    ESPL_CHECK(made >= planned->make_count);

    if (dead == 0) {
        return true;
    }
    all->lost = espl__arena_take(arena, dead, sizeof *all->lost);
    all->lost_entities = espl__arena_take(arena, made, sizeof *all->lost_entities);
    if (all->lost == NULL || all->lost_entities == NULL) {
        return false;
    }
    for (uint32_t part = 1; part < applied->part_count; ++part) {
        const size_t before = espl__array_length(applied->parts[part - 1]->edit.made);

        all->first_made[part] = all->first_made[part - 1] + (uint32_t)before;
    }
    lost_search search = {.all = all, .marks = p->made_marks};

    visit_all(all, applied, list_lost_node, &search);
    ESPL_CHECK(all->lost_count <= dead);
    return true;
}

espl_status espl__references_plan(espl__stage_context *context, const espl__reserve_input *in,
                                  espl__planned *out)
{
    ESPL_CHECK(out->references == NULL);
    if (!may_refer(context->store, out)) {
        return ESPL_OK;
    }
    espl__references *const all = espl__arena_take_zeroed(&context->arena, 1, sizeof *all);
    reference_planner p = {.context = context, .store = context->store, .in = in, .all = all};

    if (all == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    // From here on espl__references_free() frees the fields, also where the plan fails.
    out->references = all;
    bool is_done = take_plan(&p, out->made_count);

    for (uint32_t part = 0; is_done && part < in->applied->part_count; ++part) {
        is_done = plan_part(&p, part);
    }
    return is_done && list_all_lost(&p, out) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

void espl__references_free(espl__heap *heap, espl__references *references)
{
    if (references != NULL) {
        ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, references->fields); // the rest is in the arena
    }
}

// --- The change ---

size_t espl__references_lost(const espl__references *references)
{
    return references != NULL ? references->lost_count : 0;
}

// Where the entity of a lost node is kept while references are written.
static uint32_t *lost_entity(const espl__references *all, uint32_t part, uint32_t number)
{
    return &all->lost_entities[all->first_made[part] + number];
}

void espl__references_name(espl__stage_context *context, espl__references *references)
{
    for (size_t i = 0; i < espl__references_lost(references); ++i) {
        const lost_node lost = references->lost[i];

        *lost_entity(references, lost.part, lost.number) = espl__entity_take(context->store).index;
    }
}

typedef struct reference_writer {
    espl__store *store;
    const espl__references *all;
} reference_writer;

// The entity of a made node; of a dead one, the entity that it has while references are written.
static uint32_t entity_of_made(const reference_writer *w, const espl__part *part, uint32_t number)
{
    const uint32_t slot = part->edit.made[number].slot;
    const uint32_t entity = part->edit.forest->links[slot].entity;

    return entity != ESPL__NO_ENTITY ? entity : *lost_entity(w->all, part->number, number);
}

// A visitor: write the handle of the target into the row of the node.
static void write_field(void *context, const espl__part *part, uint32_t number,
                        const reference_field *f, uint32_t target)
{
    const reference_writer *const w = context;
    const espl_entity named = espl__entity_at(w->store, entity_of_made(w, part, target));
    unsigned char *const value =
        espl__row_write(w->store, entity_of_made(w, part, number), f->component);

    memcpy(value + f->offset, &named, sizeof named);
}

void espl__references_write(espl__stage_context *context, const espl__applied *applied,
                            const espl__references *references)
{
    reference_writer writer = {context->store, references};

    if (references == NULL) {
        return;
    }
    visit_all(references, applied, write_field, &writer);
    for (size_t i = 0; i < references->lost_count; ++i) {
        const lost_node lost = references->lost[i];

        espl__entity_release(context->store, *lost_entity(references, lost.part, lost.number));
    }
}
