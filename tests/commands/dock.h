// SPDX-License-Identifier: MIT
// Worlds alike with ships and prefabs, in one of which every group gets a sketch; and how they are
// compared.
#ifndef ESPALIER_TESTS_COMMANDS_DOCK_H
#define ESPALIER_TESTS_COMMANDS_DOCK_H

#include "lib/commands/reparent.h"
#include "tests/commands/planned.h"
#include "tests/inside.h"

enum { MEMBERS = 24, ROOM = 8, PREFAB = 5 };

// A world with ships and prefabs, whose entities bear numbers that clones have too.
typedef struct dock {
    yard y;
    espl_component word, link;
    espl_recorder *lane;
    uint32_t ship, other, prefab, solo; // in y.entities: those of one tree follow each other
    uint32_t does[7];                   // groups that went each short way, as count_short() saw
    uint32_t in_place;  // nodes of those that write where side arrays stay, likewise
    uint32_t respliced; // runs that leaves of a frame leave or come to, the short way, likewise
    espl_report report;
    uint64_t visited_more, rebuilt_less; // than the twin that knows no short way, in all playbacks
} dock;

typedef struct link_value {
    uint32_t data;
    espl_entity named;
} link_value;

// --- Two worlds alike ---

static inline espl_entity entity_of(const dock *d, uint32_t number)
{
    return d->y.entities[number];
}

static inline uint32_t add_entity(dock *d, espl_entity parent, bool is_bare)
{
    const uint32_t number = d->y.count++;
    espl_world *const world = d->y.world;
    const espl_entity entity = is_bare ? bare(world) : test_solo(world);

    d->y.entities[number] = entity;
    ck_assert_int_eq(espl_add(world, entity, d->word, &number, sizeof number), ESPL_OK);
    if (!is_bare) {
        espl_transform value = random_transform(&d->y.random, false);

        value.scale = test_between(&d->y.random, 0.5f, 1);
        ck_assert_int_eq(espl_set_local(world, entity, &value), ESPL_OK);
    }
    if (!espl_entity_is_null(parent)) {
        attach(world, entity, parent, 0);
    }
    return number;
}

// A root, and members each below one of the last few. @return the number of the root.
static inline uint32_t add_tree(dock *d, uint32_t size, uint32_t reach)
{
    const uint32_t root = add_entity(d, espl_entity_null(), false);

    for (uint32_t i = 1; i < size; ++i) {
        const uint32_t back = test_below(&d->y.random, reach < i ? reach : i);

        (void)add_entity(d, entity_of(d, root + i - 1 - back), false);
    }
    return root;
}

// Roots that were made are known from now on.
static inline void learn_made(dock *d)
{
    for (uint32_t i = 0; i < d->y.count; ++i) {
        espl_entity made = espl_entity_null();

        if (espl_commands_resolve(d->y.bed.commands, d->y.entities[i], &made) == ESPL_OK) {
            d->y.entities[i] = made;
        }
    }
}

static inline void play(dock *d)
{
    ck_assert_int_eq(espl_play(d->y.world, d->y.bed.commands, &d->report), ESPL_OK);
    test_world_is_valid(d->y.world);
    learn_made(d);
}

static inline const espl__run *run_of(const dock *d, uint32_t number)
{
    return espl__run_of(&d->y.world->forest, slot_of(d->y.world, entity_of(d, number)));
}

static inline void destroy(dock *d, uint32_t number)
{
    ck_assert_int_eq(espl_record_destroy(d->lane, 0, entity_of(d, number)), ESPL_OK);
}

// Leaves below a node come and go, so that their slots are room.
static inline void leave_room(dock *d, uint32_t parent, uint32_t room)
{
    const uint32_t leaves = d->y.count;

    for (uint32_t i = 0; i < room; ++i) {
        (void)add_entity(d, entity_of(d, parent), false);
    }
    ck_assert_int_eq(espl_compact(d->y.world), ESPL_OK);
    for (uint32_t i = 0; i < room; ++i) {
        destroy(d, leaves + i);
    }
    play(d);
    espl_commands_reset(d->y.bed.commands);
}

static inline uint32_t add_ship(dock *d, uint32_t room)
{
    const uint32_t ship = add_tree(d, MEMBERS, 3);

    leave_room(d, ship, room);
    return ship;
}

static inline void dock_begin(dock *d, uint64_t seed, bool is_long)
{
    static const uint32_t behind[1] = {4};
    const espl_component_def word = {"word", 4, 4, NULL, 0};
    const espl_component_def link = {"link", sizeof(link_value), 4, behind, 1};

    memset(d, 0, sizeof *d);
    yard_begin(&d->y, seed);
    d->y.playback->sketches_all = is_long;
    ck_assert_int_eq(espl_component_register(d->y.world, &word, &d->word), ESPL_OK);
    ck_assert_int_eq(espl_component_register(d->y.world, &link, &d->link), ESPL_OK);
    d->lane = yard_lane(&d->y, 0);
    d->prefab = add_tree(d, PREFAB, 2);
    d->solo = add_entity(d, espl_entity_null(), false);
    d->other = add_ship(d, ROOM);
    d->ship = add_ship(d, ROOM);
}

static inline void dock_end(dock *d)
{
    yard_end(&d->y);
}

// --- What is recorded ---

static inline espl_instance_def clone_def(const dock *d, uint32_t source, uint32_t parent)
{
    return (espl_instance_def){.source = entity_of(d, source),
                               .parent = entity_of(d, parent),
                               .place = ESPL_PLACE_LOCAL,
                               .transform = test_at(1, 2, 3)};
}

static inline void record_def(dock *d, const espl_instance_def *def, size_t count)
{
    const bool is_root = espl_entity_is_null(def->parent);
    espl_entity *const made = is_root ? &d->y.entities[d->y.count++] : NULL;

    ck_assert_int_eq(espl_record_instantiate(d->lane, 0, def, count, made), ESPL_OK);
}

static inline void clone(dock *d, uint32_t source, uint32_t parent)
{
    const espl_instance_def def = clone_def(d, source, parent);

    record_def(d, &def, 1);
}

// A leaf of a ship, counted from the last member that has no child.
static inline uint32_t leaf_of(const dock *d, uint32_t ship, uint32_t number)
{
    for (uint32_t i = MEMBERS; i-- > 1;) {
        if (espl_count_children(d->y.world, entity_of(d, ship + i)) == 0 && number-- == 0) {
            return ship + i;
        }
    }
    ck_abort_msg("so many leaves");
    return 0;
}

// --- What stands in the way ---

// A leaf of a ship becomes a ghost, which stays: it is one among many nodes.
static inline void make_ghost(dock *d, uint32_t ship)
{
    ck_assert_int_eq(espl_destroy(d->y.world, entity_of(d, leaf_of(d, ship, 0))), ESPL_OK);
    ck_assert_uint_eq(run_of(d, ship)->ghosts, 1);
}

static inline void stretch(dock *d, uint32_t number)
{
    espl_transform value = test_local_of(d->y.world, entity_of(d, number));

    value.stretch[0] = 2;
    ck_assert_int_eq(espl_set_local(d->y.world, entity_of(d, number), &value), ESPL_OK);
    ck_assert_ptr_nonnull(run_of(d, number)->side);
}

static inline void refer(dock *d, uint32_t number)
{
    const link_value value = {3, entity_of(d, d->prefab)};

    ck_assert_int_eq(espl_add(d->y.world, entity_of(d, number), d->link, &value, sizeof value),
                     ESPL_OK);
}

// --- Comparing ---

static inline void nodes_agree(const dock *a, const dock *b, espl_entity x, espl_entity y)
{
    const shadow of_x = shadow_of(a->y.world, x), of_y = shadow_of(b->y.world, y);
    uint32_t word_x = 0, word_y = 0;

    ck_assert_int_eq(espl_get(a->y.world, x, a->word, &word_x, sizeof word_x), ESPL_OK);
    ck_assert_int_eq(espl_get(b->y.world, y, b->word, &word_y, sizeof word_y), ESPL_OK);
    ck_assert_uint_eq(word_x, word_y);
    shadow_agrees(&of_x, &of_y, word_x);
    ck_assert_int_eq(espl_get_link(a->y.world, x), espl_get_link(b->y.world, y));
    ck_assert_int_eq(espl_get_role(a->y.world, x), espl_get_role(b->y.world, y));
}

// The next node of a walk over a tree, parents first; null at its end.
static inline espl_entity walk_on(const espl_world *world, espl_entity entity)
{
    espl_entity next = espl_get_first_child(world, entity);

    while (espl_entity_is_null(next) && !espl_entity_is_null(entity)) {
        next = espl_get_next_sibling(world, entity);
        entity = espl_get_parent(world, entity);
    }
    return next;
}

static inline size_t trees_agree(const dock *a, const dock *b, espl_entity x, espl_entity y)
{
    size_t count = 0;

    while (!espl_entity_is_null(x) && !espl_entity_is_null(y)) {
        nodes_agree(a, b, x, y);
        ck_assert_uint_eq(espl_count_children(a->y.world, x), espl_count_children(b->y.world, y));
        x = walk_on(a->y.world, x);
        y = walk_on(b->y.world, y);
        count += 1;
    }
    ck_assert_int_eq(espl_entity_is_null(x), espl_entity_is_null(y));
    return count;
}

// All that live, from the roots; both ways give one handle to what is one.
static inline void docks_agree(const dock *a, const dock *b)
{
    const espl__store *const store = &a->y.world->store;
    size_t count = 0;

    ck_assert_uint_eq(a->y.count, b->y.count);
    for (uint32_t i = 0; i < a->y.count; ++i) {
        const bool lives = espl_is_alive(a->y.world, entity_of(a, i));

        ck_assert_int_eq(lives, espl_is_alive(b->y.world, entity_of(b, i)));
        ck_assert(!lives || espl_entity_equal(entity_of(a, i), entity_of(b, i)));
    }
    for (uint32_t i = 0; i < espl__array_length(store->records); ++i) {
        const espl_entity entity = espl__entity_at(store, i);

        if (store->records[i].row < ESPL__CHUNK_ROWS &&
            espl_entity_is_null(espl_get_parent(a->y.world, entity))) {
            count += trees_agree(a, b, entity, entity);
        }
    }
    ck_assert_uint_eq(count, a->y.world->store.alive_count);
    ck_assert_uint_eq(count, b->y.world->store.alive_count);
}

// Tell whether some group took the short way of moves.
static inline bool has_moves(const dock *d)
{
    return d->does[ESPL__SHORT_MOVES] != 0;
}

// Both ways count alike. But where the short one only writes it counts the worlds that come out as
// they were, and does not lay side arrays out anew; and where it moves leaves, a run that none comes
// to or leaves in the end is left alone, and one who comes back to its run takes another slot.
static inline void reports_agree(dock *a, const dock *b)
{
    const espl_report *const x = &a->report, *const y = &b->report;
    const uint64_t visited_more = x->visited_nodes - y->visited_nodes;

    ck_assert_uint_eq(x->accepted, y->accepted);
    ck_assert_uint_eq(x->applied, y->applied);
    ck_assert_uint_eq(x->lossy, y->lossy);
    ck_assert(memcmp(x->refused_by, y->refused_by, sizeof x->refused_by) == 0);
    ck_assert_uint_eq(x->created, y->created);
    ck_assert_uint_eq(x->destroyed, y->destroyed);
    ck_assert_uint_eq(x->row_moves, y->row_moves);
    ck_assert_uint_eq(x->groups, y->groups);
    ck_assert_uint_eq(x->largest_group, y->largest_group);
    ck_assert_uint_le(x->rebuilt_nodes, y->rebuilt_nodes);
    ck_assert(has_moves(a) || x->rebuilt_nodes + a->in_place >= y->rebuilt_nodes);
    a->rebuilt_less += y->rebuilt_nodes - x->rebuilt_nodes;
    ck_assert_uint_eq(x->pendings, y->pendings);
    ck_assert_uint_ge(x->moved_nodes, y->moved_nodes);
    ck_assert(has_moves(a) || x->moved_nodes == y->moved_nodes);
    ck_assert_uint_eq(x->row_batches, y->row_batches);
    ck_assert_uint_ge(x->visited_nodes, y->visited_nodes);
    ck_assert(visited_more == 0 || a->does[ESPL__SHORT_WRITE] != 0);
    a->visited_more += visited_more;
}

static inline void stats_agree(const espl_world *x, const espl_world *y, uint64_t visited_more,
                               uint64_t rebuilt_less)
{
    espl_world_stats a, b;

    espl_stats(x, &a);
    espl_stats(y, &b);
    // Scratch is what the ways differ by.
    a.bytes = a.bytes_commands = b.bytes = b.bytes_commands = 0;
    a.nodes_visited -= visited_more;
    a.nodes_rebuilt += rebuilt_less;
    // Side arrays that are not laid out anew keep room for inherit flags that nobody has any more.
    if (rebuilt_less != 0) {
        ck_assert_uint_ge(a.bytes_tree, b.bytes_tree);
        a.bytes_tree = b.bytes_tree;
    }
    ck_assert_int_eq(memcmp(&a, &b, sizeof a), 0);
}

// A run whose nodes stand in the same slots is told to be the same. The short way of moves keeps those
// who go in their slots until all have come.
static inline void runs_agree(const espl__forest *f, const espl__forest *g, uint32_t number,
                              bool has_moves)
{
    const espl__run *const x = &f->runs[number], *const y = &g->runs[number];

    ck_assert_uint_eq(x->base, y->base);
    ck_assert_uint_eq(x->capacity, y->capacity);
    ck_assert_uint_eq(x->size, y->size);
    ck_assert_uint_ge(x->used, y->used);
    ck_assert(has_moves || x->used == y->used);
    ck_assert_int_eq(x->side != NULL, y->side != NULL);
    if (memcmp(f->order + x->base, g->order + y->base, x->size * sizeof *f->order) == 0) {
        ck_assert_uint_eq(x->flags, y->flags);
    }
}

// Both ways hand out indices, rows, runs and ranks in one order. Which of the free slots of a run
// a node comes to stand in may differ: each way files the slots that nodes left in an order of its
// own.
static inline void worlds_agree(const dock *x_dock, const dock *y_dock)
{
    const espl_world *const x = x_dock->y.world, *const y = y_dock->y.world;

    const espl__store *const a = &x->store, *const b = &y->store;
    const espl__forest *const f = &x->forest, *const g = &y->forest;
    const size_t count = espl__array_length(a->records);

    stats_agree(x, y, x_dock->visited_more, x_dock->rebuilt_less);
    ck_assert_uint_eq(count, espl__array_length(b->records));
    for (size_t i = 0; i < count; ++i) {
        const espl__record *const r = &a->records[i], *const q = &b->records[i];

        ck_assert_uint_eq(r->generation, q->generation);
        ck_assert_uint_eq(r->chunk, q->chunk);
        ck_assert_uint_eq(r->row, q->row);
        if (r->row < ESPL__CHUNK_ROWS) {
            ck_assert_uint_eq(f->run[r->slot], g->run[q->slot]);
            ck_assert_uint_eq(f->rank[r->slot], g->rank[q->slot]);
            if (f->rank[r->slot] == 0) {
                runs_agree(f, g, f->run[r->slot], has_moves(x_dock));
            }
        }
    }
}

static inline void answers_agree(dock *a, const dock *b)
{
    const espl_commands *const x = a->y.bed.commands, *const y = b->y.bed.commands;

    for (uint32_t lane = 0; lane < YARD_LANES; ++lane) {
        espl_status status = ESPL_OK;

        for (uint32_t i = 0; status != ESPL_ERR_ARGUMENT; ++i) {
            status = espl_commands_result(x, lane, i);
            ck_assert_int_eq(status, espl_commands_result(y, lane, i));
        }
    }
    reports_agree(a, b);
}

// --- Which way ---

// Groups that go the short way, of all; nothing is carried out.
static inline uint32_t count_short(dock *d, uint32_t *groups)
{
    const espl__playback *const playback = d->y.playback;
    uint32_t count = 0;

    d->in_place = 0;
    yard_open(&d->y);
    ck_assert_int_eq(yard_prepare(&d->y), ESPL_OK);
    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];

        count += group->is_short ? 1 : 0;
        d->does[group->does] += group->is_short ? 1 : 0;
        d->in_place += group->is_short && group->does == ESPL__SHORT_WRITE &&
                               d->y.world->forest.runs[group->run].side != NULL
                           ? d->y.world->forest.runs[group->run].size
                           : 0;
        ck_assert_int_eq(group->work == &playback->no_work, group->is_short);
    }
    d->respliced = playback->reparenting != NULL ? playback->reparenting->listed_count : 0;
    *groups = (uint32_t)playback->group_count;
    yard_close(&d->y, false);
    return count;
}

static inline void attach_free(dock *d, uint32_t child, uint32_t parent)
{
    const espl_attach_options options = {.link = ESPL_LINK_FREE};

    ck_assert_int_eq(espl_attach(d->y.world, entity_of(d, child), entity_of(d, parent), &options),
                     ESPL_OK);
}

// What is recorded, how many groups there are, and how many of them go the short way.
// `needs`: entities that live at once, where a world of the shrunken build holds fewer; else 0.
typedef struct scene {
    void (*record)(dock *);
    uint32_t groups, shorts;
    uint32_t needs;
} scene;

/// Record one scene in two worlds alike, one of which knows no short way: which way its groups go
/// is told, and all that comes of it is the same. @return commands that were refused.
static inline size_t play_both_ways(const scene *s, uint64_t seed)
{
    static dock a, b;
    uint32_t groups = 0;

    if (test_lacks_room(s->needs, "ships and what comes")) {
        return 0;
    }
    dock_begin(&a, seed, false);
    dock_begin(&b, seed, true);
    s->record(&a);
    s->record(&b);
    const uint64_t hash = test_physical_hash(a.y.world);

    ck_assert_uint_eq(count_short(&b, &groups), 0);
    ck_assert_uint_eq(count_short(&a, &groups), s->shorts);
    ck_assert_uint_eq(groups, s->groups);
    ck_assert_uint_eq(test_physical_hash(a.y.world), hash);
    play(&a);
    play(&b);
    answers_agree(&a, &b);
    docks_agree(&a, &b);
    worlds_agree(&a, &b);
    const size_t refused = a.report.refused;

    dock_end(&a);
    dock_end(&b);
    return refused;
}

/// The same; what goes the short way is done.
static inline void play_scene(const scene *s, uint64_t seed)
{
    const size_t refused = play_both_ways(s, seed);

    ck_assert(s->shorts != s->groups || refused == 0);
}

/// Play while the allocation n fails, for n = 1 on, until all are made: before that nothing changes.
/// @return playbacks that failed.
static inline size_t play_without_memory(dock *d)
{
    const uint64_t hash = test_physical_hash(d->y.world);
    test_heap *const heap = &d->y.bed.test.heap;
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t failures = 0;

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        failures = n - 1;
        espl__playback_trim(d->y.playback);
        test_heap_arm(heap, n, n % 2 == 0);
        status = espl_play(d->y.world, d->y.bed.commands, &d->report);
        ck_assert(status == ESPL_OK || (status == ESPL_ERR_NO_MEMORY && heap->failures > 0));
        ck_assert_int_eq(test_physical_hash(d->y.world) == hash, status != ESPL_OK);
        test_heap_arm(heap, 0, false);
    }
    return failures;
}

/// What was played in the end is what a twin plays that lacked nothing, to the bit.
static inline void docks_end_alike(dock *d, dock *twin)
{
    learn_made(d);
    play(twin);
    docks_agree(d, twin);
    ck_assert_uint_eq(test_physical_hash(d->y.world), test_physical_hash(twin->y.world));
    dock_end(d);
    dock_end(twin);
}

/// Without memory nothing is played, and with it all is, as in a twin that lacked none; playbacks fail
/// more often than `least`.
/// @return groups that go a short way.
static inline size_t docks_lack_memory(void (*record_all)(dock *), size_t least)
{
    static dock d, twin;
    uint32_t groups = 0;

    dock_begin(&d, 5, false);
    dock_begin(&twin, 5, false);
    record_all(&d);
    record_all(&twin);
    // Of the twin alone: a plan leaves behind the archetypes that it found wanting.
    const size_t shorts = count_short(&twin, &groups);
    ck_assert_uint_gt(play_without_memory(&d), least);
    test_world_is_valid(d.y.world);
    docks_end_alike(&d, &twin);
    return shorts;
}

/// Each piece of scratch in turn is the one that there is no room for: nothing is played, and with it
/// all is, as in a twin that lacked none.
static inline void docks_lack_scratch(void (*record_all)(dock *))
{
    static dock d, twin;
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t refused = 0;

    dock_begin(&d, 6, false);
    dock_begin(&twin, 6, false);
    record_all(&d);
    record_all(&twin);
    const uint64_t hash = test_physical_hash(d.y.world);

    for (size_t room = 0; status == ESPL_ERR_NO_MEMORY; room += TEST_SCRATCH_STEP) {
        status = test_play_in(d.y.world, d.y.bed.commands, room, &d.report);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
        ck_assert_int_eq(test_physical_hash(d.y.world) == hash, status != ESPL_OK);
        refused += status != ESPL_OK;
    }
    ck_assert_uint_gt(refused, 10);
    docks_end_alike(&d, &twin);
}

/// An executor loses jobs from one range on, each range in turn: nothing is played, or all that is, as
/// in a twin.
static inline void docks_lose_jobs(void (*record_all)(dock *))
{
    static dock d, twin;
    size_t refused = 0, mended = 0;
    bool is_lost = true;

    dock_begin(&twin, 6, false);
    record_all(&twin);
    play(&twin);
    for (size_t decency = 0; is_lost; ++decency) {
        dock_begin(&d, 6, false);
        record_all(&d);
        const uint64_t hash = test_physical_hash(d.y.world);

        bed_run_on(&d.y.bed, 2, TEST_SKIPS_ONE);
        d.y.bed.hostile.decency = decency;
        const espl_status status = espl_play(d.y.world, d.y.bed.commands, &d.report);
        d.y.playback->executor = &d.y.world->executor;
        ck_assert(status == ESPL_OK || status == ESPL_ERR_EXECUTOR);
        is_lost = d.y.bed.hostile.calls > decency;
        ck_assert_int_eq(d.y.bed.test.hooks.traps != 0, is_lost && ESPL_CHECKS >= 1);
        refused += status != ESPL_OK;
        mended += status == ESPL_OK && is_lost;
        if (status != ESPL_OK) {
            ck_assert_uint_eq(test_physical_hash(d.y.world), hash);
            play(&d);
        }
        learn_made(&d);
        test_world_is_valid(d.y.world);
        ck_assert_uint_eq(test_physical_hash(d.y.world), test_physical_hash(twin.y.world));
        docks_agree(&d, &twin);
        dock_end(&d);
    }
    ck_assert_uint_gt(refused, 0);
    ck_assert_uint_gt(mended, 0);
    dock_end(&twin);
}

#endif
