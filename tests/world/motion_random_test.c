// SPDX-License-Identifier: MIT
// Random operations in ticks and between them, against a naive model of the past: its local and kept world
// parts when the last ticks began, changed by the rules of espalier/motion.h.
#include "tests/world/motion_model.h"

// --- Operations ---

static espl_transform random_transform(model *m)
{
    uint64_t *const random = &m->random;
    espl_transform t = test_at(test_between(random, -4, 4), test_between(random, -4, 4),
                               test_between(random, -4, 4));

    if (test_one_in(random, 2)) {
        const float q[4] = {test_between(random, -1, 1), test_between(random, -1, 1),
                            test_between(random, -1, 1), test_between(random, -1, 1) + 2};

        memcpy(t.rotation, q, sizeof q);
        ck_ok(espl_quat_normalize(t.rotation));
    }
    if (test_one_in(random, 3)) {
        t.scale = test_between(random, 0.7f, 1.4f);
    }
    if (test_one_in(random, 6)) {
        t.stretch[test_below(random, 3)] = test_between(random, 0.7f, 1.4f);
    }
    return t;
}

static node *pick(model *m)
{
    for (;;) {
        node *const n = &m->nodes[test_below(&m->random, LIMIT)];

        if (!espl_entity_is_null(n->entity)) {
            return n;
        }
    }
}

static size_t count_free(const model *m)
{
    size_t count = 0;

    for (int i = 0; i < LIMIT; ++i) {
        count += espl_entity_is_null(m->nodes[i].entity) ? 1 : 0;
    }
    return count;
}

// Give a node to each entity of a subtree that has none.
static void adopt_new(model *m, espl_entity top)
{
    espl_entity made[LIMIT];
    const espl_subtree_arrays arrays = {.entities = made};
    const size_t count = espl_copy_subtree(w, top, ESPL_EXTENT_SUBTREE, LIMIT, &arrays);

    for (size_t k = 0; k < count; ++k) {
        for (int i = 0; i < LIMIT; ++i) {
            if (espl_entity_is_null(m->nodes[i].entity)) {
                m->nodes[i] = (node){.entity = made[k], .is_new = true};
                break;
            }
        }
    }
}

static void create(model *m)
{
    const espl_transform at = random_transform(m);
    const bool is_child = count_free(m) != LIMIT && test_one_in(&m->random, 2);
    espl_entity made;

    if (count_free(m) == 0) {
        return;
    }
    const espl_component_value value = {ESPL_TRANSFORM, sizeof at, &at};
    const espl_creation_def def = {.parent = is_child ? pick(m)->entity : test_null,
                                   .values = &value,
                                   .value_count = test_one_in(&m->random, 12) ? 0 : 1};

    ck_ok(espl_create_at(w, &def, 1, &made));
    adopt_new(m, made);
}

static void clone(model *m)
{
    const espl_entity source = pick(m)->entity;
    const espl_instance_def def = {.source = source,
                                   .parent =
                                       test_one_in(&m->random, 2) ? pick(m)->entity : test_null,
                                   .place = ESPL_PLACE_SOURCE};
    espl_entity made;

    if (espl_copy_subtree(w, source, ESPL_EXTENT_SUBTREE, 0, NULL) <= count_free(m)) {
        ck_ok(espl_instantiate(w, &def, 1, &made));
        adopt_new(m, made);
    }
}

static uint32_t random_flags(model *m)
{
    static const uint32_t some[] = {ESPL_ABSOLUTE_POSITION, ESPL_ABSOLUTE_ROTATION,
                                    ESPL_ABSOLUTE_SCALE, PARTS, ESPL_COPY_PARENT};

    return test_one_in(&m->random, 3) ? some[test_below(&m->random, 5)] : 0;
}

// The past after new inherit flags below the same parent.
static void change_flags(model *m, node *n, uint32_t old, uint32_t flags)
{
    const int i = (int)(n - m->nodes);

    for (int t = 0; t < TIMES && old != flags; ++t) {
        const dpose world = before.worlds[i][t];
        const uint32_t dropped = old & ~flags;

        if (flags == ESPL_COPY_PARENT || old == ESPL_COPY_PARENT) {
            n->local[t] = dpose_identity();
        } else {
            n->local[t] = with_kept(
                n->local[t], relative_at(m, espl_get_parent(w, n->entity), t, world), dropped);
        }
        n->kept[t] = world;
    }
}

static dpose by_rules(const espl_attach_options *rules, espl_keep keep, dpose pose, dpose by)
{
    return dpose_parts(pose, by, rules->position == keep, rules->rotation == keep,
                       rules->scale == keep);
}

// The past after a move to another parent, or to none.
static void move(model *m, node *n, const espl_attach_options *rules, uint32_t flags)
{
    const espl_entity parent = espl_get_parent(w, n->entity);
    const int i = (int)(n - m->nodes);

    for (int t = 0; t < TIMES; ++t) {
        const dpose world = before.worlds[i][t];
        const dpose relative = in_cell(n->entity, relative_at(m, parent, t, world));
        dpose local = before.seen[i][t];

        local = by_rules(rules, ESPL_KEEP_WORLD, local, relative);
        local = by_rules(rules, ESPL_SNAP, local, dpose_identity());
        local = out_of_cell(n->entity, local);
        n->local[t] = flags == ESPL_COPY_PARENT ? dpose_identity() : local;
        n->kept[t] = by_rules(rules, ESPL_KEEP_WORLD, compose_at(m, parent, t, local), world);
    }
}

static void snap(model *m, node *n, const espl_attach_options *rules)
{
    for (int t = 0; t < TIMES; ++t) {
        n->local[t] = by_rules(rules, ESPL_SNAP, n->local[t], dpose_identity());
        n->kept[t] = by_rules(rules, ESPL_SNAP, n->kept[t],
                              compose_at(m, espl_get_parent(w, n->entity), t, n->local[t]));
    }
}

// Follow an attach or a detach that was carried out.
static void follow_move(model *m, node *n, const espl_attach_options *rules, bool is_same_parent)
{
    const int i = (int)(n - m->nodes);
    const uint32_t flags = espl_get_inherit(w, n->entity);

    if (is_bare(n->entity)) {
        if (!is_same_parent && rules->position == ESPL_KEEP_WORLD) {
            keep_all_but(m, n->entity);
        }
    } else if (n->is_new) {
        // It stays new.
    } else if (is_same_parent) {
        change_flags(m, n, before.flags[i], flags);
        if (flags != ESPL_COPY_PARENT) {
            snap(m, n, rules);
        }
    } else {
        move(m, n, rules, flags);
    }
}

static espl_attach_options random_rules(model *m, uint32_t flags)
{
    static const espl_keep keeps[] = {ESPL_KEEP_WORLD, ESPL_KEEP_LOCAL, ESPL_SNAP};
    const espl_keep all = keeps[test_below(&m->random, 8) < 5 ? 0 : test_below(&m->random, 3)];
    const bool is_mixed = test_one_in(&m->random, 5);

    return (espl_attach_options){.position = is_mixed ? keeps[test_below(&m->random, 3)] : all,
                                 .rotation = is_mixed ? keeps[test_below(&m->random, 3)] : all,
                                 .scale = is_mixed ? keeps[test_below(&m->random, 3)] : all,
                                 .link =
                                     test_one_in(&m->random, 2) ? ESPL_LINK_FREE : ESPL_LINK_OWNED,
                                 .inherit = flags};
}

// Carry out a structural operation, perhaps by a command, perhaps with an allocator that fails.
typedef struct operation {
    enum { ATTACH, DETACH, DESTROY, INHERIT, REMOVE, ADD } code;
    espl_entity target, parent;
    espl_attach_options rules;
    espl_keep keep;
    espl_extent extent;
    uint32_t flags;
    espl_transform value;
} operation;

static espl_status at_once(const operation *op)
{
    switch (op->code) {
    case ATTACH:
        return espl_attach(w, op->target, op->parent, &op->rules);
    case DETACH:
        return espl_detach(w, op->target, op->keep);
    case DESTROY:
        return espl_destroy(w, op->target, op->extent);
    case INHERIT:
        return espl_set_inherit(w, op->target, op->flags);
    case REMOVE:
        return espl_remove_component(w, op->target, ESPL_TRANSFORM);
    default:
        return espl_add_component(w, op->target, ESPL_TRANSFORM, &op->value, sizeof op->value);
    }
}

static espl_status record(espl_recorder *r, const operation *op)
{
    switch (op->code) {
    case ATTACH:
        return espl_record_attach(r, 0, op->target, op->parent, &op->rules);
    case DETACH:
        return espl_record_detach(r, 0, op->target, op->keep);
    case DESTROY:
        return espl_record_destroy(r, 0, op->target, op->extent);
    case INHERIT:
        return espl_record_set_inherit(r, 0, op->target, op->flags);
    case REMOVE:
        return espl_record_remove_component(r, 0, op->target, ESPL_TRANSFORM);
    default:
        return espl_record_add_component(r, 0, op->target, ESPL_TRANSFORM, &op->value,
                                         sizeof op->value);
    }
}

// @return false: it was refused, and changed nothing.
static bool carry_out(model *m, const operation *op)
{
    const bool is_recorded = test_one_in(&m->random, 2);
    const bool may_fail = test_one_in(&m->random, 4);
    espl_command_buffer *const commands = is_recorded ? test_commands(w, 1) : NULL;
    espl_status status = ESPL_OK;

    if (is_recorded) {
        ck_ok(record(espl_command_buffer_recorder(commands, 0), op));
    }
    test_heap_arm(&test.heap, may_fail ? 1 + test_below(&m->random, 6) : 0, false);
    if (is_recorded) {
        status = (espl_play)(w, commands, NULL);
        if (status >= 0) {
            status = espl_command_buffer_result(commands, 0, 0);
        }
    } else {
        status = at_once(op);
    }
    test_heap_arm(&test.heap, 0, false);
    const size_t length = strlen(told);

    (void)snprintf(told + length, sizeof told - length, ", %s: %s",
                   is_recorded ? "recorded" : "at once", espl_status_name(status));
    espl_command_buffer_destroy(commands);
    return status >= 0;
}

static void change_structure(model *m)
{
    node *const n = pick(m);
    operation op = {.code = test_below(&m->random, 6),
                    .target = n->entity,
                    .parent = pick(m)->entity,
                    .keep = (espl_keep)test_below(&m->random, 3),
                    .extent = (espl_extent)test_below(&m->random, 3),
                    .flags = random_flags(m),
                    .value = random_transform(m)};

    (void)snprintf(told, sizeof told, "structure %d of node %d, entity %u", (int)op.code,
                   (int)(n - m->nodes), n->entity.index);
    op.rules = random_rules(m, is_bare(n->entity) ? 0 : random_flags(m));
    const bool is_same_parent =
        espl_entity_equal(op.parent, espl_get_parent(w, n->entity)) && op.code == ATTACH;

    if ((op.code >= DESTROY && op.code != INHERIT && !test_one_in(&m->random, 4)) ||
        (op.code == DETACH && is_root(op.target)) || (op.code == REMOVE && is_bare(op.target)) ||
        (op.code == ADD && !is_bare(op.target)) || !carry_out(m, &op)) {
        return;
    }
    switch (op.code) {
    case DETACH:
        op.rules = (espl_attach_options){op.keep, op.keep, op.keep, .inherit = 0};
        follow_move(m, n, &op.rules, false);
        break;
    case ATTACH:
        follow_move(m, n, &op.rules, is_same_parent);
        break;
    case INHERIT:
        if (!n->is_new) {
            change_flags(m, n, before.flags[n - m->nodes], espl_get_inherit(w, n->entity));
        }
        break;
    case DESTROY:
        bury(m);
        keep_all_but(m, test_null);
        break;
    default:
        n->is_new = true;
        keep_all_but(m, n->entity);
        break;
    }
}

// Tell whether a write changed the pose that is stored of an entity: its local, or kept parts of its world.
// The rest of its world may change by a write above it, and stretch and user data have no past.
static bool has_changed(const node *n, int i)
{
    const uint32_t flags = espl_get_inherit(w, n->entity);
    const espl_transform local = test_local_of(w, n->entity), now = test_world_of(w, n->entity);
    const espl_transform *const old = &before.locals[i], *const was = &before.now[i];

    return ((flags & PARTS) == 0 && memcmp(&local, old, sizeof(espl_pose)) != 0) ||
           dpose_differs(&local, old, ~flags) || dpose_differs(&now, was, flags);
}

static void follow_write(model *m, node *n)
{
    const int i = (int)(n - m->nodes);

    for (int t = 0; t < TIMES && !m->is_ticking && !n->is_new && has_changed(n, i); ++t) {
        set_now(n, t);
    }
}

static void write_one(model *m)
{
    static const espl_write_kind kinds[] = {
        ESPL_WRITE_LOCAL_POSITION,  ESPL_WRITE_LOCAL_ROTATION, ESPL_WRITE_LOCAL_SCALE,
        ESPL_WRITE_LOCAL_POSE,      ESPL_WRITE_WORLD_POSITION, ESPL_WRITE_WORLD_ROTATION,
        ESPL_WRITE_WORLD_TRANSFORM, ESPL_WRITE_STRETCH,        ESPL_WRITE_USER_DATA,
    };
    const size_t count = 1 + (test_one_in(&m->random, 4) ? test_below(&m->random, 5) : 0);
    const bool is_recorded = test_one_in(&m->random, 4);
    espl_write writes[8];
    node *named[8];
    bool is_taken[LIMIT] = {false};
    size_t taken = 0;

    for (size_t k = 0; k < count; ++k) {
        node *const n = pick(m);
        const espl_transform value = random_transform(m);
        espl_write *const out = &writes[taken];

        if (is_bare(n->entity) || copies(n->entity) || is_taken[n - m->nodes]) {
            continue;
        }
        is_taken[n - m->nodes] = true;
        *out = (espl_write){n->entity, kinds[test_below(&m->random, 9)], {.transform = value}};
        // Below inherit flags a write of a part may change what is stored and nothing that shows.
        if (espl_get_inherit(w, n->entity) != 0 && out->kind != ESPL_WRITE_STRETCH &&
            out->kind != ESPL_WRITE_USER_DATA) {
            out->kind = ESPL_WRITE_WORLD_TRANSFORM;
        }
        if (out->kind == ESPL_WRITE_LOCAL_POSITION || out->kind == ESPL_WRITE_WORLD_POSITION) {
            memcpy(out->value.position, value.position, sizeof value.position);
        } else if (out->kind == ESPL_WRITE_LOCAL_SCALE) {
            out->value.scale = value.scale;
        } else if (out->kind == ESPL_WRITE_STRETCH) {
            memcpy(out->value.stretch, value.stretch, sizeof value.stretch);
        } else if (out->kind == ESPL_WRITE_USER_DATA) {
            out->value.user_data = test_below(&m->random, 3);
        }
        const size_t length = taken == 0 ? 0 : strlen(told);

        (void)snprintf(told + length, sizeof told - length, "write %d of node %d, ", (int)out->kind,
                       (int)(n - m->nodes));
        named[taken++] = n;
    }
    strncat(told, is_recorded ? "recorded, " : "at once, ", sizeof told - strlen(told) - 1);
    strncat(told, m->is_ticking ? "in a tick" : "between ticks", sizeof told - strlen(told) - 1);
    if (is_recorded) {
        espl_command_buffer *const commands = test_commands(w, 1);

        for (size_t k = 0; k < taken; ++k) {
            ck_ok(espl_record_write(espl_command_buffer_recorder(commands, 0), 0, writes[k].entity,
                                    writes[k].kind, &writes[k].value));
        }
        ck_assert_int_ge(espl_play(w, commands, NULL), 0);
        espl_command_buffer_destroy(commands);
    } else if (taken == 1) {
        ck_assert_int_ge(espl_write_one(w, writes[0].entity, writes[0].kind, &writes[0].value), 0);
    } else {
        ck_assert_int_ge(espl_write_batch(w, writes, taken, NULL), 0);
    }
    for (size_t k = 0; k < taken; ++k) {
        follow_write(m, named[k]);
    }
}

// Carry out one write at once, in a batch, or by a command.
static void put(model *m, espl_entity entity, espl_write_kind kind, const espl_write_value *value)
{
    const espl_write write = {entity, kind, *value};
    const uint32_t form = test_below(&m->random, 3);

    if (form == 0) {
        ck_assert_int_ge(espl_write_one(w, entity, kind, value), 0);
    } else if (form == 1) {
        ck_ok(espl_write_batch(w, &write, 1, NULL));
    } else {
        espl_command_buffer *const commands = test_commands(w, 1);

        ck_ok(espl_record_write(espl_command_buffer_recorder(commands, 0), 0, entity, kind, value));
        ck_ok(espl_play(w, commands, NULL));
        espl_command_buffer_destroy(commands);
    }
}

// A write that carries: the past moves as the node did.
static void carry(model *m, node *n, const espl_write_value *value)
{
    static const double none[3] = {1, 1, 1};
    static const espl_write_kind kinds[] = {ESPL_WRITE_LOCAL_POSE, ESPL_WRITE_WORLD_POSE,
                                            ESPL_WRITE_TRANSLATE_OWN, ESPL_WRITE_LOCAL_TRANSFORM};
    const espl_write_kind kind = kinds[test_below(&m->random, 4)];
    espl_write_value by = *value;
    const dpose was = local_now(n->entity);

    if (kind == ESPL_WRITE_TRANSLATE_OWN) {
        memcpy(by.position, value->transform.position, sizeof by.position);
    }
    put(m, n->entity, kind | ESPL_CARRY, &by);
    const dpose now = local_now(n->entity);

    for (int t = 0; t < TIMES; ++t) {
        n->local[t] = dpose_compose(now, none, dpose_relative(was, none, n->local[t]));
    }
}

// Set the previous pose alone.
static void set_previous(model *m, node *n, const espl_write_value *value)
{
    const bool is_world = test_one_in(&m->random, 2);
    const espl_entity parent = espl_get_parent(w, n->entity);
    const dpose to = is_world ? moved(dpose_of(&value->transform), offset_of(n->entity), 1)
                              : out_of_cell(n->entity, dpose_of(&value->transform));
    const dpose local = is_world ? relative_at(m, parent, 0, to) : to;
    const dpose kept = is_world ? to : compose_at(m, parent, 0, to);

    put(m, n->entity, is_world ? ESPL_WRITE_PREVIOUS_WORLD_POSE : ESPL_WRITE_PREVIOUS_LOCAL_POSE,
        value);
    for (int t = 0; t < (n->is_new ? TIMES : 1); ++t) {
        n->local[t] = local;
        n->kept[t] = kept;
    }
    n->is_new = false;
}

static void write_flagged(model *m)
{
    node *const n = pick(m);
    const espl_write_value value = {.transform = random_transform(m)};
    const uint32_t what = test_below(&m->random, 3);

    if (copies(n->entity) || (what == 1 && espl_get_inherit(w, n->entity) != 0)) {
        return;
    }
    (void)snprintf(told, sizeof told, "flagged write %u of node %d", what, (int)(n - m->nodes));
    if (what == 0) {
        put(m, n->entity, ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT, &value);
        set_now(n, 0);
        set_now(n, 1);
    } else if (what == 1) {
        carry(m, n, &value);
    } else {
        set_previous(m, n, &value);
    }
}

// Move the past of the members of a hierarchy, or of all of it.
static void move_past(model *m, espl_entity root, offset by, bool with_root)
{
    for (int i = 0; i < LIMIT; ++i) {
        node *const n = &m->nodes[i];
        const bool is_top = espl_entity_equal(n->entity, root);

        for (int t = 0; t < TIMES && !espl_entity_is_null(n->entity); ++t) {
            if ((!is_top || with_root) && espl_entity_equal(espl_get_root(w, n->entity), root)) {
                n->kept[t] = moved(n->kept[t], by, 1);
            }
            if (is_top && with_root) {
                n->local[t] = moved(n->local[t], by, 1);
            }
        }
    }
}

// In a tick nothing was elsewhere than it was. Outside of one the whole hierarchy was always in the cell.
static void write_cell(model *m, node *n)
{
    espl_write_value value = {.transform = espl_transform_identity()};
    const offset old = offset_of(n->entity);

    for (int i = 0; i < 3; ++i) {
        value.cell[i] = (int32_t)test_below(&m->random, 5) - 2;
    }
    put(m, n->entity, ESPL_WRITE_CELL, &value);
    const offset now = offset_of(n->entity);

    if (!m->is_ticking && memcmp(&old, &now, sizeof old) != 0) {
        move_past(m, n->entity,
                  (offset){{now.by[0] - old.by[0], now.by[1] - old.by[1], now.by[2] - old.by[2]}},
                  false);
        for (int t = 0; t < TIMES && !n->is_new; ++t) {
            set_now(n, t);
        }
    }
}

// Writes of cells, moves of the whole world, and what brings hierarchies to the nearest cells.
static void go_far(model *m)
{
    node *const n = pick(m);
    const uint32_t what = test_below(&m->random, 4);
    const double size = (double)espl_get_cell_size(w);

    (void)snprintf(told, sizeof told, "cell %u of node %d, %s", what, (int)(n - m->nodes),
                   m->is_ticking ? "in a tick" : "between ticks");
    if (what == 0) {
        ck_ok(espl_recenter(w, 0.5f, NULL));
    } else if (what == 1) {
        const int32_t by = (int32_t)test_below(&m->random, 3) - 1;

        ck_ok(espl_rebase(w, (int32_t[3]){0, by, 0}, NULL));
        for (int i = 0; i < LIMIT; ++i) {
            const espl_entity root = m->nodes[i].entity;

            if (!espl_entity_is_null(root) && is_root(root)) {
                move_past(m, root, (offset){{0, size * (double)by, 0}}, true);
            }
        }
    } else if (is_root(n->entity) && !is_bare(n->entity) && what == 2) {
        write_cell(m, n);
    } else if (is_root(n->entity) && !is_bare(n->entity)) {
        espl_write_value value = {.transform = espl_transform_identity()};

        for (int i = 0; i < 3; ++i) {
            const double at = (double)test_between(&m->random, -60, 60);

            memcpy((unsigned char *)&value + (size_t)i * sizeof at, &at, sizeof at);
        }
        put(m, n->entity, ESPL_WRITE_ABSOLUTE_POSITION, &value);
        for (int t = 0; t < TIMES && !m->is_ticking && !n->is_new; ++t) {
            set_now(n, t);
        }
    }
}

// What moves nodes in memory alone, or no node.
static void disturb(model *m)
{
    const espl_entity entity = pick(m)->entity, parent = espl_get_parent(w, entity);
    const uint32_t what = test_below(&m->random, 6);
    espl_view view;

    (void)snprintf(told, sizeof told, "disturbance %u", what);
    switch (what) {
    case 5:
        ck_ok(espl_present(w, test_between(&m->random, 0, 1), NULL));
        break;
    case 0:
        ck_ok(espl_compact(w));
        break;
    case 1:
        ck_ok(espl_view_hierarchy(w, entity, &view));
        break;
    case 2:
        ck_ok(espl_set_enabled(w, entity, ESPL_EXTENT_SUBTREE, test_one_in(&m->random, 2)));
        break;
    case 3:
        if (!espl_entity_is_null(parent)) {
            ck_ok(espl_move_before(w, entity, espl_get_first_child(w, parent)));
        }
        break;
    default:
        ck_ok(espl_sync(w, NULL));
        break;
    }
}

// Keep numbers small, so that the tolerance of the comparison means something.
static void calm(model *m)
{
    const espl_transform identity = espl_transform_identity();

    for (int i = 0; i < LIMIT; ++i) {
        node *const n = &m->nodes[i];

        if (espl_entity_is_null(n->entity) || copies(n->entity)) {
            continue;
        }
        const espl_transform world = test_world_of(w, n->entity);
        const float size =
            fabsf(world.position[0]) + fabsf(world.position[1]) + fabsf(world.position[2]);

        if (!(size < 200) || !(world.scale < 8) || !(world.scale > 0.125f)) {
            take_snapshot(m);
            (void)espl_write_one(w, n->entity, ESPL_WRITE_LOCAL_TRANSFORM, &identity);
            follow_write(m, n);
        }
    }
}

static void tick(model *m)
{
    if (m->is_ticking && test_one_in(&m->random, 2)) {
        ck_ok(espl_tick_end(w));
        m->is_ticking = false;
        return;
    }
    calm(m);
    (void)snprintf(told, sizeof told, "tick");
    ck_ok(espl_tick_begin(w));
    roll(m);
    m->is_ticking = true;
}

// --- Comparison ---

// Say what a comparison is about.
static const char *describe(const model *m, int i, int time, const char *what)
{
    static char text[400];
    const espl_entity entity = m->nodes[i].entity;

    (void)snprintf(text, sizeof text, "%s %d of node %d, %s, parent %u, flags %u, after %s", what,
                   time, i, m->nodes[i].is_new ? "new" : "old", espl_get_parent(w, entity).index,
                   espl_get_inherit(w, entity), told);
    return text;
}

static void compare(model *m, int history)
{
    static const espl_read_kind locals[] = {ESPL_READ_PREVIOUS_LOCAL_POSE,
                                            ESPL_READ_BEFORE_LOCAL_POSE};
    static const espl_read_kind worlds[] = {ESPL_READ_PREVIOUS_WORLD_POSE,
                                            ESPL_READ_BEFORE_WORLD_POSE};

    for (int i = 0; i < LIMIT; ++i) {
        const espl_entity entity = m->nodes[i].entity;
        espl_pose pose;

        if (espl_entity_is_null(entity) || is_bare(entity)) {
            continue;
        }
        for (int t = 0; t < history; ++t) {
            ck_ok(espl_read_one(w, entity, worlds[t], &pose));
            dpose_demand(moved(world_at(m, entity, t), offset_of(entity), -1), &pose,
                         describe(m, i, t, "world"));
            ck_ok(espl_read_one(w, entity, locals[t], &pose));
            dpose_demand(seen_at(m, entity, t), &pose, describe(m, i, t, "local"));
            m->checks += 2;
        }
    }
}

static void run(uint64_t seed, uint32_t history, size_t steps)
{
    static model m;

    m = (model){.random = seed};
    test_world_cells(seed % 2 == 1 ? 16.0f : 0.0f);
    tear_down();
    set_up();
    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = history}));
    for (int i = 0; i < 8; ++i) {
        create(&m);
    }
    for (size_t step = 0; step < steps; ++step) {
        if (count_free(&m) == LIMIT) {
            create(&m);
        }
        take_snapshot(&m);
        const uint32_t what = test_below(&m.random, espl_get_cell_size(w) != 0 ? 23 : 20);

        (void)snprintf(told, sizeof told, "operation %u", what);

        if (what < 2) {
            tick(&m);
        } else if (what < 4) {
            create(&m);
        } else if (what < 5) {
            clone(&m);
        } else if (what < 6) {
            disturb(&m);
        } else if (what < 13) {
            change_structure(&m);
        } else if (what < 15) {
            write_flagged(&m);
        } else if (what < 20) {
            write_one(&m);
        } else {
            go_far(&m);
        }
        compare(&m, (int)history);
        if (step % 64 == 0) {
            test_world_is_valid(w);
        }
    }
    ck_assert_uint_gt(m.checks, steps);
    ck_ok(espl_motion_stop(w));
}

FIXTURE(set_up, tear_down);

TEST_LOOP(the_previous_local_follows_the_model, 0, 8)
{
    run(1000 + (uint64_t)_i, 1, test_scaled_alone(2000 * test_factor()));
}

TEST_LOOP(the_local_before_the_previous_one_follows_the_model, 0, 8)
{
    run(2000 + (uint64_t)_i, 2, test_scaled_alone(2000 * test_factor()));
}
