// SPDX-License-Identifier: MIT
// Creation, structure and navigation.
#include "internal.h"

#include <string.h>

// --- Definitions ---

espl_instance_def native_instance_def(const native_creation *def)
{
    espl_instance_def made = {.source = native_from(def->source),
                              .parent = native_from(def->parent),
                              .before = native_from(def->before),
                              .link = (espl_link)def->link,
                              .dead_parent = (espl_dead_parent)def->dead_parent,
                              .place = (espl_place)def->place,
                              .inherit = def->inherit,
                              .values = def->values,
                              .value_count = def->value_count};

    made.transform = def->transform != NULL ? *def->transform : espl_transform_identity();
    return made;
}

bool native_creation_def(const native_creation *def, espl_component_value *room,
                         espl_creation_def *out)
{
    size_t count = 0;

    if (def->value_count > ESPL_SET_LIMIT) {
        return false;
    }
    if (def->transform != NULL) {
        room[count++] =
            (espl_component_value){ESPL_TRANSFORM, sizeof *def->transform, def->transform};
    }
    for (size_t i = 0; i < def->value_count; ++i) {
        room[count++] = def->values[i];
    }
    *out = (espl_creation_def){.values = room,
                               .value_count = count,
                               .parent = native_from(def->parent),
                               .before = native_from(def->before),
                               .link = (espl_link)def->link,
                               .dead_parent = (espl_dead_parent)def->dead_parent,
                               .place = (espl_place)def->place,
                               .inherit = def->inherit};
    return true;
}

espl_attach_options native_attach_options(const native_attachment *options)
{
    return (espl_attach_options){.position = (espl_keep)options->position,
                                 .rotation = (espl_keep)options->rotation,
                                 .scale = (espl_keep)options->scale,
                                 .link = (espl_link)options->link,
                                 .before = native_from(options->before),
                                 .inherit = options->inherit};
}

// --- Changes ---

// Tell whether espl_create() can make these entities: without a parent, with the identity transform or
// none, and with zeros in all components. It takes no memory for a command, so that World.reserve()
// covers it. Values out of range are for espl_create_at(), which refuses them.
static bool is_plain(const espl_creation_def *def)
{
    const espl_transform identity = espl_transform_identity();

    for (size_t i = 0; i < def->value_count; ++i) {
        const espl_component_value *const value = &def->values[i];
        const bool is_default = value->component == ESPL_TRANSFORM && value->data != NULL
                                    ? memcmp(value->data, &identity, sizeof identity) == 0
                                    : value->data == NULL;

        if (!is_default) {
            return false;
        }
    }
    return espl_entity_is_null(def->parent) && espl_entity_is_null(def->before) &&
           def->inherit == 0 && def->link == ESPL_LINK_OWNED &&
           (unsigned)def->place <= ESPL_PLACE_WORLD;
}

static int create_plain(espl_world *world, const espl_creation_def *def, size_t count, void *out)
{
    espl_component set[ESPL_SET_LIMIT + 1];

    for (size_t i = 0; i < def->value_count; ++i) {
        set[i] = def->values[i].component;
    }
    return espl_create(world, set, def->value_count, count, out);
}

// Tell whether espl_create_node() makes what a definition says: a transform relative to the parent, and a name.
static bool is_node(const native_creation *def, const espl_creation_def *made)
{
    return def->transform != NULL && def->value_count == 0 && def->before == 0 &&
           made->link == ESPL_LINK_OWNED && def->inherit == 0 &&
           (made->place == ESPL_PLACE_LOCAL || def->parent == 0);
}

// All or nothing: an entity whose name is refused is destroyed again.
static int create_named(espl_world *world, const native_creation *def,
                        const espl_creation_def *made, espl_entity *out)
{
    if (is_node(def, made)) {
        return espl_create_node(world, made->parent, def->transform, def->name, out);
    }
    const espl_status status = espl_create_at(world, made, 1, out);

    if (espl_failed(status)) {
        return status;
    }
    const espl_status named = espl_set_name(world, *out, def->name);

    if (espl_failed(named)) {
        (void)espl_destroy(world, *out, ESPL_EXTENT_ENTITY);
        return named;
    }
    return status;
}

int native_create(native_world *w, const native_creation *def, size_t count, void *out)
{
    espl_component_value room[ESPL_SET_LIMIT + 1];
    espl_creation_def made;

    if (!native_creation_def(def, room, &made)) {
        return ESPL_ERR_LIMIT;
    }
    espl_world *const world = native_enter(w);

    if (def->name != NULL) {
        return create_named(world, def, &made, out);
    }
    return is_plain(&made) ? create_plain(world, &made, count, out)
                           : espl_create_at(world, &made, count, out);
}

int native_instantiate(native_world *w, const native_creation *def, size_t count, void *out)
{
    const espl_instance_def made = native_instance_def(def);

    return espl_instantiate(native_enter(w), &made, count, out);
}

int native_spawn(native_world *w, int64_t prefab, int64_t parent, const espl_transform *local,
                 int64_t *out)
{
    espl_entity made = {0, 0};
    const espl_status status =
        espl_spawn(native_enter(w), native_from(prefab), native_from(parent), local, &made);

    *out = native_to(made);
    return status;
}

int native_destroy(native_world *w, int64_t entity, int extent)
{
    return espl_destroy(native_enter(w), native_from(entity), (espl_extent)extent);
}

int native_destroy_many(native_world *w, const void *entities, size_t count, int extent,
                        size_t *refused)
{
    return espl_destroy_many(native_enter(w), entities, count, (espl_extent)extent, refused);
}

int native_attach(native_world *w, int64_t child, int64_t parent, const native_attachment *options)
{
    const espl_attach_options made = native_attach_options(options);

    return espl_attach(native_enter(w), native_from(child), native_from(parent), &made);
}

int native_attach_many(native_world *w, const void *children, const void *parents, size_t count,
                       const native_attachment *options, size_t *refused)
{
    const espl_attach_options made = native_attach_options(options);

    return espl_attach_many(native_enter(w), children, parents, count, &made, refused);
}

int native_detach(native_world *w, int64_t entity, int keep)
{
    return espl_detach(native_enter(w), native_from(entity), (espl_keep)keep);
}

int native_move_before(native_world *w, int64_t entity, int64_t before)
{
    return espl_move_before(native_enter(w), native_from(entity), native_from(before));
}

int native_set_enabled(native_world *w, int64_t entity, int extent, int enabled)
{
    return espl_set_enabled(native_enter(w), native_from(entity), (espl_extent)extent,
                            enabled != 0);
}

// --- Navigation ---

int native_is_enabled(const native_world *w, int64_t entity)
{
    return espl_is_enabled(native_peek(w), native_from(entity));
}

int native_is_alive(const native_world *w, int64_t entity)
{
    return espl_is_alive(native_peek(w), native_from(entity));
}

// `out` has a bool for each entity.
void native_are_alive(const native_world *w, const void *entities, size_t count, void *out)
{
    const espl_entity *const each = entities;
    bool *const alive = out;

    for (size_t i = 0; i < count; ++i) {
        alive[i] = espl_is_alive(native_peek(w), each[i]);
    }
}

int native_role(const native_world *w, int64_t entity)
{
    return (int)espl_get_role(native_peek(w), native_from(entity));
}

int native_link(const native_world *w, int64_t entity)
{
    return (int)espl_get_link(native_peek(w), native_from(entity));
}

uint32_t native_depth(const native_world *w, int64_t entity)
{
    return espl_get_depth(native_peek(w), native_from(entity));
}

int64_t native_parent(const native_world *w, int64_t entity)
{
    return native_to(espl_get_parent(native_peek(w), native_from(entity)));
}

int64_t native_root(const native_world *w, int64_t entity)
{
    return native_to(espl_get_root(native_peek(w), native_from(entity)));
}

int64_t native_sibling(const native_world *w, int64_t entity, int next)
{
    return native_to(next ? espl_get_next_sibling(native_peek(w), native_from(entity))
                          : espl_get_previous_sibling(native_peek(w), native_from(entity)));
}

// With less room than there are children nothing is written. Returns how many there are.
size_t native_children(const native_world *w, int64_t entity, void *out, size_t capacity)
{
    return espl_get_children(native_peek(w), native_from(entity), capacity, out);
}

int native_is_ancestor(const native_world *w, int64_t ancestor, int64_t entity)
{
    return espl_is_ancestor(native_peek(w), native_from(ancestor), native_from(entity));
}

size_t native_subtree(const native_world *w, int64_t top, int extent, size_t capacity,
                      void *entities, void *parents, void *depths, void *locals, void *worlds)
{
    const espl_subtree_arrays out = {.entities = entities,
                                     .parents = parents,
                                     .depths = depths,
                                     .locals = locals,
                                     .worlds = worlds};

    return espl_copy_subtree(native_peek(w), native_from(top), (espl_extent)extent, capacity,
                             capacity != 0 ? &out : NULL);
}
