// SPDX-License-Identifier: MIT
// Attach, detach and sibling moves at once: each is one command, carried out as in a playback.
#include "lib/commands/explain.h"
#include "lib/world/tape.h"

// --- Attach ---

static espl_status attach(espl_world *world, espl_entity child, espl_entity parent,
                          const espl_attach_options *o)
{
    const espl__command command = {.target = child,
                                   .parent = parent,
                                   .before = o->before,
                                   .kind = ESPL__COMMAND_ATTACH,
                                   .link = (uint8_t)o->link,
                                   .stay_position = (uint8_t)o->position,
                                   .stay_rotation = (uint8_t)o->rotation,
                                   .stay_scale = (uint8_t)o->scale,
                                   .inherit = (uint8_t)o->inherit};
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__check_living(world, child);
    status = status != ESPL_OK ? status : espl__check_living(world, parent);
    if (status == ESPL_OK && !espl__options_are_valid(o)) {
        status = ESPL_ERR_ARGUMENT;
    }
    return status != ESPL_OK ? status : espl__apply_one(world, &command);
}

espl_status espl_attach(espl_world *world, espl_entity child, espl_entity parent,
                        const espl_attach_options *options)
{
    const espl_attach_options defaults = {0};
    const espl_attach_options *const o = options != NULL ? options : &defaults;
    const espl__mention named[3] = {{"child", child}, {"parent", parent}, {"before", o->before}};

    ESPL__CHANGE_OR_RETURN(world, "espl_attach")
    if (espl__may_tape(world)) {
        espl__tape_attach(world, child, parent, o);
    }
    const espl_status status = espl__tape_end(world, attach(world, child, parent, o));

    return espl__refuse_named(world, "espl_attach", named, 3, status,
                              status == ESPL_ERR_ARGUMENT ? espl__options_fault(o) : NULL);
}

// --- Detach ---

static espl_status detach(espl_world *world, espl_entity entity, espl_keep keep)
{
    const uint8_t stay = (uint8_t)keep;
    const espl__command command = {.target = entity,
                                   .kind = ESPL__COMMAND_DETACH,
                                   .stay_position = stay,
                                   .stay_rotation = stay,
                                   .stay_scale = stay};
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__check_living(world, entity);
    if (status == ESPL_OK && !espl__is_stay(keep)) {
        status = ESPL_ERR_ARGUMENT;
    }
    return status != ESPL_OK ? status : espl__apply_one(world, &command);
}

espl_status espl_detach(espl_world *world, espl_entity entity, espl_keep keep)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_detach")
    if (espl__may_tape(world)) {
        espl__tape_word(world, ESPL_TAPE_DETACH, entity, (uint32_t)keep);
    }
    const espl_status status = espl__tape_end(world, detach(world, entity, keep));

    return espl__refuse_why(world, "espl_detach", entity, status, "keep is none of espl_keep.");
}

// --- Sibling moves ---

static espl_status set_sibling(espl_world *world, espl_entity entity, espl_entity before)
{
    const espl__command command = {
        .target = entity, .before = before, .kind = ESPL__COMMAND_SIBLING};
    const espl_status status = espl__check_structural(world);

    return status != ESPL_OK ? status : espl__apply_one(world, &command);
}

espl_status espl_set_sibling(espl_world *world, espl_entity entity, espl_entity before)
{
    const espl__mention named[2] = {{"entity", entity}, {"before", before}};

    ESPL__CHANGE_OR_RETURN(world, "espl_set_sibling")
    if (espl__may_tape(world)) {
        espl__tape_pair(world, ESPL_TAPE_SIBLING, entity, before);
    }
    return espl__refuse_named(world, "espl_set_sibling", named, 2,
                              espl__tape_end(world, set_sibling(world, entity, before)), NULL);
}
