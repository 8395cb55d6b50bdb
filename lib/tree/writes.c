// SPDX-License-Identifier: MIT
#include "lib/tree/writes.h"

#include "lib/base/ahead.h"
#include "lib/math/lanes.h"

// --- One node ---

void espl__node_change_begin(const espl__forest *forest, uint32_t slot, espl__node_change *change)
{
    const uint32_t parent = forest->parent[slot];

    change->slot = slot;
    change->before = change->after = espl__slot_placement(forest, slot);
    change->world = forest->world[slot];
    change->up = NULL;
    if (parent != ESPL__NO_SLOT) {
        change->room = espl__slot_frame(forest, parent);
        change->up = &change->room;
    }
}

// Store a change without what is below. @return whether children see a change.
static bool store(espl__forest *forest, espl__context *context, const espl__node_change *change)
{
    const uint32_t slot = change->slot;
    const bool is_moved = !espl__pose_is_same(&forest->world[slot], &change->world);
    const bool is_stretched = memcmp(change->before.extra.stretch, change->after.extra.stretch,
                                     sizeof change->after.extra.stretch) != 0;

    espl__slot_place(forest, slot, &change->after);
    forest->world[slot] = change->world;
    context->counts.nodes_visited += 1;
    context->counts.writes += 1;
    context->counts.overflowed += espl__pose_is_finite(&change->world) ? 0 : 1;
    if (!is_moved && !is_stretched) {
        context->counts.nodes_skipped += 1;
        if (change->before.extra.context != change->after.extra.context) {
            espl__propagate_user_data(forest, slot);
        }
    }
    return is_moved || is_stretched;
}

void espl__node_change_commit(espl__forest *forest, espl__context *context,
                              const espl__node_change *change)
{
    if (espl__placement_is_equal(&change->before, &change->after)) {
        context->counts.writes_skipped += 1;
    } else if (store(forest, context, change)) {
        espl__propagate_below(forest, context, change->slot);
    }
}

// Of the calls below, inline in each: the pose stays in registers from check to store.
ESPL__INLINE void put(espl__forest *forest, espl__context *context, uint32_t slot, espl__laned to)
{
    const uint32_t parent = forest->parent[slot];
    const espl__laned old_local = espl__laned_load(&forest->local[slot]);
    const espl__laned old_world = espl__laned_load(&forest->world[slot]);
    const espl__laned world =
        parent == ESPL__NO_SLOT
            ? to
            : espl__laned_compose(espl__laned_load(&forest->world[parent]), to);

    if (espl__lane_bits_are_zero(espl__laned_differ(old_local, to))) {
        context->counts.writes_skipped += 1;
        return;
    }
    context->counts.nodes_visited += 1;
    context->counts.writes += 1;
    espl__laned_store(&forest->local[slot], to);
    if (!espl__lane_bits_are_zero(espl__laned_alarm(world)) && !espl__laned_is_finite(world)) {
        context->counts.overflowed += 1;
    }
    if (espl__lane_bits_are_zero(espl__laned_differ(old_world, world))) {
        context->counts.nodes_skipped += 1;
        return;
    }
    espl__laned_store(&forest->world[slot], world);
    if (forest->links[slot].first_child != ESPL__NO_SLOT) {
        espl__propagate_below(forest, context, slot);
    }
}

void espl__local_put(espl__forest *forest, espl__context *context, uint32_t slot,
                     const espl_pose *local)
{
    put(forest, context, slot, espl__laned_load(local));
}

static ESPL__APART espl_status put_checked(espl__forest *forest, espl__context *context,
                                           uint32_t slot, const espl_transform *value)
{
    espl_pose local = espl__pose_of(value);

    if (!espl__pose_is_finite(&local) || !espl__rotation_normalize(local.rotation)) {
        return ESPL_ERR_NOT_FINITE;
    }
    put(forest, context, slot, espl__laned_load(&local));
    return ESPL_OK;
}

espl_status espl__pose_put(espl__forest *forest, espl__context *context, uint32_t slot,
                           const espl_transform *value)
{
    const espl__laned local = espl__laned_of(value);

    // A rotation of unit length is finite.
    if (!espl__rotation_is_unit(value->rotation) ||
        !espl__lane_bits_are_zero(espl__laned_alarm(local))) {
        return put_checked(forest, context, slot, value);
    }
    put(forest, context, slot, local);
    return ESPL_OK;
}

espl_status espl__plain_write(espl__forest *forest, espl__context *context, uint32_t slot,
                              espl_write_kind kind, const espl_write_value *value)
{
    const uint32_t parent = forest->parent[slot];
    espl_pose local = forest->local[slot], world = forest->world[slot];
    espl_status status = ESPL_OK;

    if (espl__write_is_local(kind)) {
        status = espl__local_write(&local, kind, value);
    } else if (parent == ESPL__NO_SLOT) {
        status = espl__pose_write(&local, &world, NULL, kind, value);
    } else {
        const espl__frame up = {forest->world[parent], espl__extra_default()};

        status = espl__pose_write(&local, &world, &up, kind, value);
    }
    if (status >= 0) {
        espl__local_put(forest, context, slot, &local);
    }
    return status;
}

// --- Entries ---

espl_status espl__write_fetch(const espl__write_source *source, uint32_t number,
                              espl_write_kind *kind, espl_write_value *value)
{
    const unsigned char *const bytes = source->values + number * source->value_size;

    *kind = source->writes != NULL ? source->writes[number].kind : source->kind;
    if (source->has_poses) {
        espl__write_load_pose(value, bytes);
    } else {
        espl__write_load(value, *kind, bytes);
    }
    return espl__write_check(*kind, value);
}

// --- Many nodes of one tree ---

// Entries in the order of slots. At first each is written like a single one. Where that costs more than
// passes over the range would, or entries are many, locals are stored and worlds follow in one pass.
typedef struct pass {
    espl__forest *forest;
    espl__context *context;
    const espl__tree_writes *w;
    uint32_t tree, end; // of the used slots
    bool sweeps;
    bool is_dirty;  // sweeps: some local or world below `final` changed
    uint32_t final; // sweeps: worlds of slots below it are up to date
    bool is_told;
} pass;

// Bring worlds up to a slot up to date.
static void advance(pass *p, uint32_t end)
{
    if (p->is_dirty && p->final < end) {
        espl__sweep(p->forest, p->context, p->tree, p->final, end);
    }
    p->final = p->final < end ? end : p->final;
}

// A local that needs nothing but itself, while worlds follow later.
static espl_status store_local(pass *p, uint32_t slot, espl_write_kind kind,
                               const espl_write_value *value)
{
    espl__forest *const forest = p->forest;
    espl_pose local = forest->local[slot];
    const espl_status status = espl__local_write(&local, kind, value);

    if (status < 0) {
        return status;
    }
    if (espl__pose_is_same(&local, &forest->local[slot])) {
        p->context->counts.writes_skipped += 1;
        return status;
    }
    p->context->counts.writes += 1;
    forest->local[slot] = local;
    if (!p->is_dirty) {
        p->final = slot; // nothing before it changed
    }
    p->is_dirty = true;
    if (espl__is_root(forest, slot)) {
        forest->world[slot] = local;
        p->context->counts.nodes_visited += 1;
        p->context->counts.overflowed += espl__pose_is_finite(&local) ? 0 : 1;
        p->final = slot + 1;
    } else if (slot < p->final) {
        p->final = slot; // the second entry of a node
    }
    return status;
}

// Any write, on worlds that are up to date. @param propagates  what is below too.
static espl_status write_node(pass *p, uint32_t slot, espl_write_kind kind,
                              const espl_write_value *value)
{
    espl__node_change change;

    espl__node_change_begin(p->forest, slot, &change);
    const espl_status status =
        espl__placement_write(&change.after, &change.world, change.up, kind, value);

    if (status < 0) {
        return status;
    }
    if (!p->sweeps) {
        espl__node_change_commit(p->forest, p->context, &change);
    } else if (espl__placement_is_equal(&change.before, &change.after)) {
        p->context->counts.writes_skipped += 1;
    } else {
        p->is_dirty = store(p->forest, p->context, &change) || p->is_dirty;
    }
    return status;
}

static espl_status write_entry(pass *p, uint32_t slot, uint32_t number)
{
    espl__forest *const forest = p->forest;
    espl_write_kind kind;
    espl_write_value value;
    const espl_status status = espl__write_fetch(p->w->source, number, &kind, &value);

    if (status != ESPL_OK) {
        return status;
    }
    const bool is_plain =
        espl__slot_is_plain(forest, slot) && !espl__write_wants_side(kind, &value);

    if (!p->sweeps) {
        return is_plain ? espl__plain_write(forest, p->context, slot, kind, &value)
                        : write_node(p, slot, kind, &value);
    }
    if (is_plain && espl__write_is_local(kind)) {
        return store_local(p, slot, kind, &value);
    }
    advance(p, slot + 1);
    return write_node(p, slot, kind, &value);
}

// A wide part of the tree is written, or single writes visited more than two passes would: from here on
// worlds follow in one pass.
static void choose(pass *p, uint32_t at, uint64_t visited_before)
{
    const espl__tree *const t = &p->forest->trees[p->tree];
    const uint32_t slot = p->w->slots[at], left = p->w->count - at;
    const uint64_t visited = p->context->counts.nodes_visited - visited_before;

    if (!p->sweeps && espl__tree_is_single(p->forest, t) &&
        (left > (p->end - slot) / 4 || visited > 2 * (uint64_t)t->used)) {
        p->sweeps = true;
        p->is_dirty = false;
        p->final = slot > t->base ? slot : slot + 1;
    }
}

bool espl__tree_write(espl__forest *forest, espl__context *context, const espl__tree_writes *w)
{
    const uint32_t tree = forest->tree[w->slots[0]];
    const espl__tree *const t = &forest->trees[tree];
    const uint64_t visited = context->counts.nodes_visited;
    pass p = {.forest = forest,
              .context = context,
              .w = w,
              .tree = tree,
              .end = t->base + t->used};

    for (uint32_t i = 0; i < w->count; ++i) {
        const uint32_t number = w->numbers != NULL ? w->numbers[i] : w->first + i;
        espl_status *const result = &w->source->results[number];

        if (w->count > 1) {
            choose(&p, i, visited);
        }
        *result = write_entry(&p, w->slots[i], number);
        p.is_told = p.is_told || *result != ESPL_OK;
    }
    if (p.sweeps) {
        advance(&p, p.end);
    }
    return p.is_told;
}
