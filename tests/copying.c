// SPDX-License-Identifier: MIT
// The hierarchies and changes of copying.h.
#include "tests/copying.h"

#include "tests/asserts.h"

#include <stdio.h>
#include <string.h>

const char *const copying_chains[] = {"tbt",  "tct", "tit",  "tbct", "tcbt", "ttbt",
                                      "twbt", "bct", "tbyt", "tfct", "siit"};
const uint32_t copying_chain_count = sizeof copying_chains / sizeof *copying_chains;

enum { ALL_PARTS = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE };

// --- Making ---

static espl_entity make_node(espl_world *world, char sort, uint32_t number)
{
    const espl_component set = ESPL_TRANSFORM;
    const float at[3] = {(float)number, 1, 0.5f}, stretch[3] = {2, 1, 3};
    espl_entity entity = {0};

    ck_ok(espl_create(world, &set, sort == 'b' ? 0 : 1, 1, &entity));
    if (sort != 'b' && sort != 'i') {
        ck_ok(espl_set_local_position(world, entity, at));
    }
    if (sort == 's') {
        ck_ok(espl_set_stretch(world, entity, stretch));
        ck_ok(espl_set_user_data(world, entity, 3));
    }
    return entity;
}

static void attach_node(espl_world *world, espl_entity child, espl_entity parent, char sort)
{
    const uint32_t inherit = sort == 'c'   ? ESPL_COPY_PARENT
                             : sort == 'w' ? ALL_PARTS
                             : sort == 'y' ? ESPL_ABSOLUTE_Y
                                           : 0;
    const espl_attach_options options = {.position = ESPL_KEEP_LOCAL,
                                         .rotation = ESPL_KEEP_LOCAL,
                                         .scale = ESPL_KEEP_LOCAL,
                                         .link = sort == 'f' ? ESPL_LINK_FREE : ESPL_LINK_OWNED,
                                         .inherit = inherit};

    ck_ok(espl_attach(world, child, parent, &options));
}

void copying_make(copying *c, espl_world *world, const char *chain)
{
    *c = (copying){.world = world, .nodes = (uint32_t)strlen(chain)};
    ck_assert_uint_le(c->nodes, COPYING_CHAIN);
    for (uint32_t i = 0; i < c->nodes; ++i) {
        c->e[i] = make_node(world, chain[i], i);
        if (i > 0) {
            attach_node(world, c->e[i], c->e[i - 1], chain[i]);
        }
    }
    c->e[c->nodes] = make_node(world, 's', c->nodes);
    c->e[c->nodes + 1] = make_node(world, 't', c->nodes + 1);
    attach_node(world, c->e[c->nodes + 1], c->e[c->nodes], 't');
}

// --- Changes ---

// What a change says, for both ways to carry it out.
typedef struct form {
    espl_write_kind write; // ESPL_WRITE_KIND_COUNT: none
    espl_write_value value;
    uint32_t inherit; // UINT32_MAX: not changed
    espl_attach_options options;
    espl_entity child, parent; // an attach, if the child is not null
} form;

static form form_of(const copying *c, copying_change change)
{
    const espl_entity node = c->e[change.node], apart = c->e[c->nodes];
    form f = {.write = ESPL_WRITE_KIND_COUNT, .inherit = UINT32_MAX, .options = test_keep_local};

    switch ((copying_kind)change.kind) {
    case COPYING_STRETCH:
    case COPYING_SHRINK:
        f.write = ESPL_WRITE_STRETCH;
        f.value = (espl_write_value){.stretch = {1, 1, 1}};
        f.value.stretch[1] = change.kind == COPYING_STRETCH ? 2 + change.node : 1;
        break;
    case COPYING_USER_DATA:
        f.write = ESPL_WRITE_USER_DATA;
        f.value = (espl_write_value){.user_data = 7u + change.node};
        break;
    case COPYING_LOCAL:
        f.write = ESPL_WRITE_LOCAL_POSITION;
        f.value = (espl_write_value){.position = {4, 2, 1}};
        break;
    case COPYING_WORLD:
        f.write = ESPL_WRITE_WORLD_POSITION;
        f.value = (espl_write_value){.position = {8, 4, 2}};
        break;
    case COPYING_TRANSFORM:
        f.write = ESPL_WRITE_LOCAL_TRANSFORM;
        f.value.transform = test_at(1, 3, 0);
        f.value.transform.stretch[2] = 2;
        f.value.transform.user_data = 20u + change.node;
        break;
    case COPYING_NUDGE:
        f.write = ESPL_WRITE_TRANSLATE_WORLD;
        f.value = (espl_write_value){.position = {0, 0, 0}};
        break;
    case COPYING_READ:
    case COPYING_PLAIN:
        f.inherit = 0;
        break;
    case COPYING_COPY:
        f.inherit = ESPL_COPY_PARENT;
        break;
    case COPYING_FIX:
        f.inherit = ALL_PARTS;
        break;
    case COPYING_FIX_Y:
        f.inherit = ESPL_ABSOLUTE_Y;
        break;
    case COPYING_ATTACH_KEEP_WORLD:
        f.options = (espl_attach_options){.inherit = 0};
        f.child = node, f.parent = apart;
        break;
    case COPYING_ATTACH_COPY:
        f.options.inherit = ESPL_COPY_PARENT;
        f.child = node, f.parent = apart;
        break;
    case COPYING_ATTACH:
        f.child = node, f.parent = apart;
        break;
    case COPYING_ADOPT:
        f.child = c->e[c->nodes + 1], f.parent = node;
        break;
    default:
        break;
    }
    return f;
}

// A transform that is added. That of the second node is what a node without a transform shows.
static espl_transform added_to(uint32_t node)
{
    return test_at(0, node == 1 ? 0 : 2, 0);
}

static espl_instance_def clone_of(const copying *c, espl_entity node)
{
    return (espl_instance_def){
        .source = node, .parent = c->e[c->nodes], .place = ESPL_PLACE_SOURCE};
}

espl_status copying_run(const copying *c, copying_change change)
{
    espl_world *const w = c->world;
    const espl_entity node = c->e[change.node];
    const espl_transform added = added_to(change.node);
    const form f = form_of(c, change);
    const espl_instance_def clone = clone_of(c, node);

    if (f.write != ESPL_WRITE_KIND_COUNT) {
        return espl_write_one(w, node, f.write, &f.value);
    }
    if (f.inherit != UINT32_MAX) {
        return espl_set_inherit(w, node, f.inherit);
    }
    if (!espl_entity_is_null(f.child)) {
        return espl_attach(w, f.child, f.parent, &f.options);
    }
    switch ((copying_kind)change.kind) {
    case COPYING_ADD:
        return espl_add_component(w, node, ESPL_TRANSFORM, &added, sizeof added);
    case COPYING_REMOVE:
        return espl_remove_component(w, node, ESPL_TRANSFORM);
    case COPYING_DETACH:
        return espl_detach(w, node, ESPL_KEEP_WORLD);
    case COPYING_CLONE:
        return espl_instantiate(w, &clone, 1, NULL);
    default:
        return espl_destroy(w, node, ESPL_EXTENT_ENTITY);
    }
}

espl_status copying_record(const copying *c, espl_recorder *to, copying_change change)
{
    const espl_entity node = c->e[change.node];
    const espl_transform added = added_to(change.node);
    const form f = form_of(c, change);
    const espl_instance_def clone = clone_of(c, node);

    if (f.write != ESPL_WRITE_KIND_COUNT) {
        return espl_record_write(to, 0, node, f.write, &f.value);
    }
    if (f.inherit != UINT32_MAX) {
        return espl_record_set_inherit(to, 0, node, f.inherit);
    }
    if (!espl_entity_is_null(f.child)) {
        return espl_record_attach(to, 0, f.child, f.parent, &f.options);
    }
    switch ((copying_kind)change.kind) {
    case COPYING_ADD:
        return espl_record_add_component(to, 0, node, ESPL_TRANSFORM, &added, sizeof added);
    case COPYING_REMOVE:
        return espl_record_remove_component(to, 0, node, ESPL_TRANSFORM);
    case COPYING_DETACH:
        return espl_record_detach(to, 0, node, ESPL_KEEP_WORLD);
    case COPYING_CLONE:
        return espl_record_instantiate(to, 0, &clone, 1, NULL);
    default:
        return espl_record_destroy(to, 0, node, ESPL_EXTENT_ENTITY);
    }
}

// --- Sequences ---

uint64_t copying_count(const char *chain, uint32_t kinds, uint32_t length)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < length; ++i) {
        count *= kinds * strlen(chain);
    }
    return count;
}

void copying_sequence(const char *chain, uint32_t kinds, uint32_t length, uint64_t number,
                      copying_change *out)
{
    const uint64_t nodes = strlen(chain), choices = kinds * nodes;

    for (uint32_t i = 0; i < length; ++i, number /= choices) {
        const uint64_t choice = number % choices;

        out[i] = (copying_change){(uint8_t)(choice / nodes), (uint8_t)(choice % nodes)};
    }
}

// --- Text and hash ---

const char *copying_describe(const char *chain, const copying_change *changes, uint32_t count,
                             char *text, size_t size)
{
    static const char *const names[COPYING_KINDS] = {
        "stretch",     "user data", "read",    "add",    "remove", "copy",
        "plain",       "attach",    "destroy", "shrink", "local",  "world",
        "transform",   "nudge",     "fix",     "fix y",  "detach", "attach keep world",
        "attach copy", "adopt",     "clone"};
    size_t length = (size_t)snprintf(text, size, "%s:", chain);

    for (uint32_t i = 0; i < count && length < size; ++i) {
        length += (size_t)snprintf(text + length, size - length, "%s %s of %u", i == 0 ? "" : ",",
                                   names[changes[i].kind], changes[i].node);
    }
    return text;
}

// Return the number of an entity in the hierarchy, or a number that no entity has.
static uint32_t number_of(const copying *c, espl_entity entity)
{
    uint32_t number = 0;

    while (number < c->nodes + 2 && !espl_entity_equal(c->e[number], entity)) {
        number += 1;
    }
    return number;
}

uint64_t copying_hash(const copying *c)
{
    uint64_t hash = TEST_HASH_START;

    for (uint32_t i = 0; i < c->nodes + 2; ++i) {
        const espl_entity entity = c->e[i];

        if (!espl_is_alive(c->world, entity)) {
            hash = test_hash_bytes(hash, &i, sizeof i);
            continue;
        }
        const uint32_t parent = number_of(c, espl_get_parent(c->world, entity));
        const uint32_t inherit = espl_get_inherit(c->world, entity);
        espl_transform local = {0}, seen = {0};
        const espl_status statuses[] = {espl_get_local_transform(c->world, entity, &local),
                                        espl_get_world_transform(c->world, entity, &seen)};

        hash = test_hash_bytes(hash, &parent, sizeof parent);
        hash = test_hash_bytes(hash, &inherit, sizeof inherit);
        hash = test_hash_bytes(hash, statuses, sizeof statuses);
        hash = test_hash_transform(test_hash_transform(hash, &local), &seen);
    }
    return hash;
}
