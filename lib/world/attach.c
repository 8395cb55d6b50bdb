// SPDX-License-Identifier: MIT
// Attach, detach and sibling moves at once. Mostly by a graft, which shifts ranks in place; a playback
// of one command serves where a graft does not: it means the same.
#include "lib/world/tape.h"

#include "lib/tree/graft.h"

// A subtree larger than this is grafted only where it is a small part of what it is cut from.
enum { GRAFT_SIZE = 1024, GRAFT_PART = 16 };

// A row that changes its role.
typedef struct role_change {
    uint32_t entity, archetype;
} role_change;

// One change on its way.
typedef struct change {
    espl_world *world;
    espl__graft graft;
    uint32_t child, parent, before; // slots; ESPL__NO_SLOT for no parent, or last
    espl__stay_rules rules;
    espl_link link;
    uint32_t inherit;
    role_change roles[3];
    uint32_t role_count;
} change;

// --- By playback ---

static espl_status carry_out(const change *c, espl_entity child, espl_entity parent,
                             espl_entity before, unsigned kind)
{
    const espl__command command = {.target = child,
                                   .parent = parent,
                                   .before = before,
                                   .kind = (uint8_t)kind,
                                   .link = (uint8_t)c->link,
                                   .stay_position = c->rules.position,
                                   .stay_rotation = c->rules.rotation,
                                   .stay_scale = c->rules.scale,
                                   .inherit = (uint8_t)c->inherit};

    return espl__carry_one(c->world, &command, NULL, NULL);
}

// --- Which way ---

// A graft moves what a sketch would; it does not purge, nor give a hierarchy less room.
static bool is_graftable(change *c)
{
    espl__forest *const forest = &c->world->forest;
    const espl__run *const run = espl__run_of(forest, c->child);
    const uint32_t part = run->size / GRAFT_PART;
    const uint32_t limit = part > GRAFT_SIZE ? part : GRAFT_SIZE;

    if (forest->unsettled != ESPL__NO_RUN ||
        !espl__graft_measure(&c->graft, forest, c->child, limit)) {
        return false;
    }
    const uint32_t left = run->size - c->graft.size;

    return left == 0 || !espl__run_is_loose(run, left);
}

// What passes its parent through has no placement to move by, but those below it have.
static bool is_pass(const change *c)
{
    return espl__slot_is(&c->world->forest, c->child, ESPL__SLOT_PASS);
}

static espl_status lift(change *c)
{
    const espl_status status =
        espl__scratch_grow(c->world, &c->world->write_scratch, espl__graft_size(&c->graft));

    if (status == ESPL_OK) {
        espl__graft_lift(&c->graft, c->world->write_scratch.block);
    }
    return status;
}

// --- Roles ---

// Note that the entity at a slot has a role from now on, if it had another.
static espl_status note_role(change *c, uint32_t slot, espl_component role)
{
    espl__store *const store = &c->world->store;
    const uint32_t entity = c->world->forest.entity[slot];
    const uint32_t now = espl__entity_archetype(store, entity);
    uint32_t archetype = 0;

    if (espl__archetype_has(store, now, role)) {
        return ESPL_OK;
    }
    const espl_status status = espl__archetype_role(store, now, role, &archetype);

    if (status == ESPL_OK) {
        c->roles[c->role_count++] = (role_change){entity, archetype};
    }
    return status;
}

// What the child, its new parent and its old root will be. The dead count: what a purge makes of a
// role, it changes itself.
static espl_status note_roles(change *c)
{
    const espl__forest *const forest = &c->world->forest;
    const espl__run *const old = espl__run_of(forest, c->child);
    const bool is_within = c->parent != ESPL__NO_SLOT && forest->run[c->parent] == c->graft.run;
    const espl_component role = c->parent != ESPL__NO_SLOT ? ESPL_MEMBER
                                : c->graft.size > 1        ? ESPL_ROOT
                                                           : ESPL_SOLO;
    espl_status status = note_role(c, c->child, role);

    if (status == ESPL_OK && c->parent != ESPL__NO_SLOT && forest->rank[c->parent] == 0) {
        status = note_role(c, c->parent, ESPL_ROOT);
    }
    if (status == ESPL_OK && !is_within && old->size - c->graft.size == 1) {
        status = note_role(c, forest->order[old->base], ESPL_SOLO);
    }
    return status;
}

// Rows that go to one archetype are to be reserved together.
static espl_status reserve_roles(const change *c)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < c->role_count && status == ESPL_OK; ++i) {
        size_t rows = 0;

        for (uint32_t k = 0; k < c->role_count; ++k) {
            rows += c->roles[k].archetype == c->roles[i].archetype ? 1 : 0;
        }
        status = espl__rows_reserve(&c->world->store, c->roles[i].archetype, rows);
    }
    return status;
}

static void change_roles(const change *c)
{
    espl__store *const store = &c->world->store;

    for (uint32_t i = 0; i < c->role_count; ++i) {
        const espl__record *const record = &store->records[c->roles[i].entity];
        const uint32_t row = record->row;

        espl__rows_move(store, record->chunk, c->roles[i].archetype, &row, 1);
    }
    espl__rows_settle(store);
}

// --- Carrying out ---

// What a run that changed may want now.
static void tidy(change *c, uint32_t run)
{
    espl__forest *const forest = &c->world->forest;

    if (forest->runs[run].size != 0 && espl__run_wants_purge(forest, &forest->runs[run])) {
        espl__run_mark_unsettled(forest, run);
    }
}

// Reserve, then carry the graft out.
static espl_status commit(change *c)
{
    espl_world *const world = c->world;
    espl_status status = c->graft.stays ? ESPL_OK : note_roles(c);

    status = status != ESPL_OK ? status : reserve_roles(c);
    status = status != ESPL_OK ? status : espl__graft_reserve(&c->graft);
    if (status != ESPL_OK) {
        // What was reserved goes with the next settle.
        return status;
    }

    espl__heap_forbid(&world->heap);
    change_roles(c);
    espl__graft_commit(&c->graft, espl__entity_record_slot, &world->store);
    espl__heap_allow(&world->heap);
    tidy(c, c->graft.run);
    tidy(c, world->forest.run[c->graft.slots[0]]);
    (void)espl__settle(world);
    if (espl__forest_wants_pack(&world->forest)) {
        (void)espl__forest_pack(&world->forest, espl__entity_record_slot, &world->store);
    }
    return ESPL_OK;
}

// The frame of the parent that a change names, or of the one there is.
static const espl__frame *frame_at(const espl__forest *forest, uint32_t slot, espl__frame *room)
{
    if (slot == ESPL__NO_SLOT) {
        return NULL;
    }
    *room = espl__slot_frame(forest, slot);
    return room;
}

// A sibling below a ghost is in the same place to its users.
static void aim(change *c)
{
    const bool has_before = c->before != ESPL__NO_SLOT && !c->graft.stays;

    espl__graft_aim(&c->graft,
                    has_before ? espl__parent_slot(&c->world->forest, c->before) : c->parent,
                    has_before ? c->before : ESPL__NO_SLOT);
}

// Give the child a place under another parent or none.
static espl_status move(change *c)
{
    espl__forest *const forest = &c->world->forest;
    espl__frame old_room, room;
    const espl__frame *const old = frame_at(forest, espl__frame_slot(forest, c->child), &old_room);
    const espl__frame *const up = frame_at(forest, c->parent, &room);
    espl__placement placement = espl__slot_placement(forest, c->child);
    espl_pose world = forest->world[c->child];
    const espl_pose local = espl__placement_seen(&placement, old, &world);
    const espl_status remark =
        espl__placement_move(&placement, &world, &local, up, c->rules, c->inherit);

    if (remark < 0) {
        return remark;
    }
    if (!espl__graft_place(&c->graft, &placement, up)) {
        return ESPL_ERR_RANGE;
    }
    c->graft.is_free = c->parent != ESPL__NO_SLOT && c->link == ESPL_LINK_FREE;
    aim(c);
    const espl_status status = commit(c);

    return status != ESPL_OK ? status : remark;
}

// Under the parent that the child has: flags, snap, link and sibling position may change.
static espl_status move_within(change *c)
{
    espl__forest *const forest = &c->world->forest;
    const uint32_t above = espl__parent_slot(forest, c->child);
    const bool was_free = espl__slot_is(forest, c->child, ESPL__SLOT_FREE_LINK);
    const espl__frame up = espl__slot_frame(forest, above);
    const espl__placement before = espl__slot_placement(forest, c->child);
    espl__placement placement = before;
    espl_pose world = forest->world[c->child];
    const espl_status remark = espl__placement_inherit(&placement, &world, &up, c->inherit);
    espl_status status =
        remark < 0 ? remark : espl__placement_snap(&placement, &world, &up, c->rules);

    if (status < 0) {
        return status;
    }
    c->graft.is_free = c->link == ESPL_LINK_FREE;
    c->graft.stays = c->before == ESPL__NO_SLOT || c->before == c->child;
    if (c->graft.stays && c->graft.is_free == was_free &&
        espl__placement_is_equal(&before, &placement)) {
        return remark;
    }
    if (!espl__graft_place(&c->graft, &placement, &up)) {
        return ESPL_ERR_RANGE;
    }
    aim(c);
    status = commit(c);
    return status != ESPL_OK ? status : remark;
}

// --- Attach ---

// The slot of the sibling to stand before.
static espl_status find_before(change *c, espl_entity before)
{
    c->before = ESPL__NO_SLOT;
    if (espl_entity_is_null(before)) {
        return ESPL_OK;
    }
    const espl_status status = espl__find_slot(c->world, before, &c->before);

    if (status != ESPL_OK) {
        return status;
    }
    return espl__living_parent(&c->world->forest, c->before) == c->parent ? ESPL_OK
                                                                          : ESPL_ERR_NOT_CHILD;
}

static espl_status graft_below(change *c, espl_entity before)
{
    const espl__forest *const forest = &c->world->forest;
    espl_status status = lift(c);

    if (status == ESPL_OK && espl__graft_has(&c->graft, c->parent)) {
        return ESPL_ERR_CYCLE;
    }
    status = status != ESPL_OK ? status : find_before(c, before);
    if (status != ESPL_OK) {
        return status;
    }
    return espl__living_parent(forest, c->child) == c->parent ? move_within(c) : move(c);
}

static espl_status attach(espl_world *world, espl_entity child, espl_entity parent,
                          const espl_attach_options *o)
{
    change c = {.world = world, .link = o->link, .inherit = o->inherit};
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__find_slot(world, child, &c.child);
    status = status != ESPL_OK ? status : espl__find_slot(world, parent, &c.parent);
    if (status == ESPL_OK && !espl__options_are_valid(o)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return status;
    }
    c.rules = (espl__stay_rules){(uint8_t)o->position, (uint8_t)o->rotation, (uint8_t)o->scale};
    return is_graftable(&c) && !is_pass(&c)
               ? graft_below(&c, o->before)
               : carry_out(&c, child, parent, o->before, ESPL__COMMAND_ATTACH);
}

espl_status espl_attach(espl_world *world, espl_entity child, espl_entity parent,
                        const espl_attach_options *options)
{
    const espl_attach_options defaults = {0};
    const espl_attach_options *const o = options != NULL ? options : &defaults;
    const espl_entity named[3] = {child, parent, o->before};

    if (espl__may_tape(world)) {
        espl__tape_attach(world, child, parent, o);
    }
    return espl__refuse_among(world, "attach", named, 3,
                              espl__tape_end(world, attach(world, child, parent, o)));
}

// --- Detach ---

static espl_status detach(espl_world *world, espl_entity entity, espl_stay keep)
{
    const uint8_t stay = (uint8_t)keep;
    change c = {.world = world,
                .parent = ESPL__NO_SLOT,
                .before = ESPL__NO_SLOT,
                .rules = {stay, stay, stay}};
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__find_slot(world, entity, &c.child);
    if (status == ESPL_OK && !espl__is_stay(keep)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return status;
    }
    if (!is_graftable(&c) || is_pass(&c)) {
        return carry_out(&c, entity, espl_entity_null(), espl_entity_null(), ESPL__COMMAND_DETACH);
    }
    if (world->forest.rank[c.child] == 0) {
        return ESPL_OK;
    }
    status = lift(&c);
    return status != ESPL_OK ? status : move(&c);
}

espl_status espl_detach(espl_world *world, espl_entity entity, espl_stay keep)
{
    if (espl__may_tape(world)) {
        espl__tape_word(world, ESPL_TAPE_DETACH, entity, (uint32_t)keep);
    }
    return espl__refuse(world, "detach", entity,
                        espl__tape_end(world, detach(world, entity, keep)));
}

// --- Sibling moves ---

// Tell whether the child stands right where it shall.
static bool is_there(const change *c)
{
    return c->before == c->child ||
           espl__living_next_sibling(&c->world->forest, c->child) == c->before;
}

static espl_status set_sibling(espl_world *world, espl_entity entity, espl_entity before)
{
    change c = {.world = world};
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__find_slot(world, entity, &c.child);
    if (status != ESPL_OK) {
        return status;
    }
    c.parent = espl__living_parent(&world->forest, c.child);
    status = c.parent == ESPL__NO_SLOT ? ESPL_ERR_NOT_CHILD : find_before(&c, before);
    if (status != ESPL_OK || is_there(&c)) {
        return status;
    }
    if (!is_graftable(&c)) {
        return carry_out(&c, entity, espl_entity_null(), before, ESPL__COMMAND_SIBLING);
    }
    status = lift(&c);
    if (status != ESPL_OK) {
        return status;
    }
    c.graft.keeps_values = true;
    aim(&c);
    return commit(&c);
}

espl_status espl_set_sibling(espl_world *world, espl_entity entity, espl_entity before)
{
    const espl_entity named[2] = {entity, before};

    if (espl__may_tape(world)) {
        espl__tape_pair(world, ESPL_TAPE_SIBLING, entity, before);
    }
    return espl__refuse_among(world, "set sibling", named, 2,
                              espl__tape_end(world, set_sibling(world, entity, before)));
}
