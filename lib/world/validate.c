// SPDX-License-Identifier: MIT
// espl_validate(): checks every invariant of a world that can be told from its memory, and stops at
// the first rule that is broken. The store and the forest check themselves (lib/store/validate.c,
// lib/tree/validate.c); here are the rules between them, and the sums of memory and commands. Reads
// only; O(size).
#include "lib/commands/playback.h"
#include "lib/world/attachment.h"
#include "lib/world/entity_slots.h"
#include "lib/world/state.h"
#include "lib/world/watches.h"
#include "lib/world/world_rules.h"

// --- Store and forest ---

// Role component that an entity must have once its tree is settled.
static espl_component expected_role(const espl__forest *forest, uint32_t slot)
{
    if (!espl__is_root(forest, slot)) {
        return ESPL_MEMBER;
    }
    return forest->links[slot].first_child != ESPL__NO_SLOT ? ESPL_ROOT : ESPL_SOLO;
}

// Check what store and forest say of a living entity.
// @return the rule that is broken, or NULL; so for all functions below.
static const char *entity_rule(const espl_world *world, uint32_t index)
{
    const uint64_t roles =
        UINT64_C(1) << ESPL_SOLO | UINT64_C(1) << ESPL_ROOT | UINT64_C(1) << ESPL_MEMBER;
    const espl__record *const record = &world->store.records[index];
    const espl__forest *const forest = &world->forest;
    const uint32_t slot = record->slot;

    if (slot >= forest->end || forest->tree[slot] >= forest->tree_end ||
        forest->links[slot].entity != index) {
        return "an entity and its slot name each other";
    }
    const uint32_t archetype = world->store.chunks[record->chunk].archetype;
    const uint64_t components = world->store.archetypes[archetype].builtin;
    const bool is_bare = espl__slot_is(forest, slot, ESPL__SLOT_BARE);

    if (((components >> ESPL_TRANSFORM & 1) != 0) == is_bare) {
        return "entities with a placement have a transform, others pass through";
    }
    // Roles in an unsettled tree may be late, because rows found no memory to move.
    if ((espl__tree_of(forest, slot)->flags & ESPL__TREE_UNSETTLED) != 0) {
        return NULL;
    }
    return (components & roles) == UINT64_C(1) << expected_role(forest, slot)
               ? NULL
               : "role components agree with roles";
}

// Tell whether a record is that of a living entity. Stricter than espl__index_is_alive(), because
// the record may be corrupt.
static bool has_row(const espl_world *world, uint32_t index)
{
    return (world->store.records[index].row & ~ESPL__ROW_BARE) < ESPL__CHUNK_ROWS;
}

// Rules between store and forest.
static const char *cross_rule(const espl_world *world, espl_validation *report)
{
    const size_t length = espl__array_length(world->store.records);
    const espl__forest *const forest = &world->forest;
    size_t living = 0;

    for (uint32_t index = 0; index < length; ++index) {
        if (has_row(world, index)) {
            const char *const rule = entity_rule(world, index);

            report->entity = espl__entity_at(&world->store, index);
            if (rule != NULL) {
                return rule;
            }
        }
    }
    // Each living entity has a slot of its own; as many living slots as entities means that no other
    // slot is living.
    report->entity = espl_entity_null();
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        living += forest->trees[tree].live;
    }
    report->detail = living;
    return living == world->store.alive_count ? NULL : "living members are alive and distinct";
}

// --- The state ---

// What the pieces of the state hold.
typedef struct contents {
    size_t entities, nodes;
    bool is_sound; // no piece lacks its elements
} contents;

static void count_piece(void *context, const char *name, espl__state_kind kind, const void *data,
                        size_t count)
{
    contents *const found = context;

    (void)kind;
    if (name == espl__state_of_nodes) {
        found->nodes += 1;
    } else if (name == espl__state_of_rows) {
        found->entities += count / 2;
    }
    found->is_sound = found->is_sound && (data != NULL || count == 0);
}

// Tell whether the pieces of the state have each entity once, with its row and its node: a hash or a copy
// of the world reads nothing else. The rules imply it, unless the pieces leave something out.
static bool is_state_whole(const espl_world *world)
{
    contents found = {.is_sound = true};
    const espl__state_visitor visitor = {count_piece, &found};

    espl__state_visit(world, &visitor);
    return found.is_sound && found.entities == world->store.alive_count &&
           found.nodes == world->store.alive_count;
}

// --- Totals ---

// The heap's sums must equal what the parts of the world say they hold.
static const char *bytes_rule(const espl_world *world, espl_validation *report)
{
    const struct {
        espl__purpose purpose;
        size_t bytes;
        const char *rule;
    } kinds[] = {
        {ESPL__FOR_WORLD,
         sizeof *world + sizeof *world->playback +
             espl__custom_registry_bytes(&world->playback->custom),
         "outstanding bytes of the world are accounted for"},
        {ESPL__FOR_STORE, espl__store_bytes(&world->store),
         "outstanding bytes of the store are accounted for"},
        {ESPL__FOR_TREE, espl__forest_bytes(&world->forest),
         "outstanding bytes of the tree are accounted for"},
        {ESPL__FOR_CHANGES,
         espl__watches_bytes(world) + espl__heap_followed(&world->heap) +
             espl__attachment_bytes(world->attachment),
         "outstanding bytes of watches are accounted for"},
        {ESPL__FOR_COMMANDS,
         espl__playback_bytes(world->playback) + world->write_scratch.size +
             world->side_scratch.size + world->partition_scratch.size + world->mark_scratch.size,
         "outstanding bytes of playback and writes are accounted for"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        report->detail = espl__heap_bytes_for(&world->heap, kinds[i].purpose);
        if (report->detail != kinds[i].bytes) {
            return kinds[i].rule;
        }
    }
    return NULL;
}

// Counts of playbacks.
static const char *commands_rule(const espl_world *world, espl_validation *report)
{
    const espl__playback *const playback = world->playback;

    report->detail = (size_t)playback->totals.accepted;
    return playback->totals.accepted == playback->totals.applied + playback->totals.refused
               ? NULL
               : "commands accepted were applied or refused";
}

// --- Validation ---

// The rules of lib/store.
static const char *store_rule(const espl_world *world, espl_validation *report)
{
    return espl__store_broken_rule(&world->store, &report->entity, &report->detail);
}

// The rules of lib/tree. A broken one is reported by the entity of its slot, if the slot has one.
static const char *forest_rule(const espl_world *world, espl_validation *report, bool *are_plain)
{
    uint32_t slot = ESPL__NO_SLOT;
    const char *const rule =
        espl__forest_broken_rule_quick(&world->forest, &slot, &report->detail, are_plain);

    if (rule != NULL && slot < world->forest.end &&
        world->forest.links[slot].entity < espl__array_length(world->store.records)) {
        report->entity = espl__entity_of_slot(world, slot);
    }
    return rule;
}

// Each relies on the rules before it.
const char *espl__world_broken_rule(const espl_world *world, espl_validation *report,
                                    bool *are_plain)
{
    const char *rule = NULL;

    *report = (espl_validation){0};
    rule = store_rule(world, report);
    if (rule == NULL) {
        *report = (espl_validation){0};
        rule = forest_rule(world, report, are_plain);
    }
    if (rule == NULL) {
        *report = (espl_validation){0};
        rule = cross_rule(world, report);
    }
    return rule;
}

// All of them, each by itself.
static const char *each_rule(const espl_world *world, espl_validation *report)
{
    return espl__world_broken_rule(world, report, NULL);
}

// The rules of watches.
static const char *watches_rule(const espl_world *world, espl_validation *report)
{
    return espl__watches_broken_rule(world, &report->entity);
}

// The rules of what is attached to the world.
static const char *attachment_rule(const espl_world *world, espl_validation *report)
{
    const espl__attachment *const attachment = world->attachment;

    return attachment != NULL ? attachment->broken_rule(attachment->object, &report->entity) : NULL;
}

// Stops at the first broken rule, because later checks rely on earlier ones.
bool espl_validate(const espl_world *world, espl_validation *report)
{
    // Each may rely on the rules before it.
    static const char *(*const checks[])(const espl_world *, espl_validation *) = {
        each_rule, bytes_rule, commands_rule, watches_rule, attachment_rule,
    };
    espl_validation found = {0};
    size_t overflowed = 0;

    if (world == NULL) {
        return false;
    }
    for (size_t i = 0; found.rule == NULL && i < sizeof checks / sizeof *checks; ++i) {
        found = (espl_validation){0};
        found.rule = checks[i](world, &found);
        // Trees are walked only if their links are valid.
        if (checks[i] == each_rule && found.rule == NULL) {
            overflowed = espl__count_overflowed(&world->forest);
        }
    }
    const bool is_valid = found.rule == NULL;

    ESPL_CHECK_FULL(!is_valid || is_state_whole(world));
    if (is_valid) {
        found = (espl_validation){0};
    }
    found.overflowed = overflowed;
    if (report != NULL) {
        *report = found;
    }
    return is_valid;
}
