// SPDX-License-Identifier: MIT
// Immediate calls that link entities: attach, attach of many, detach, sibling moves.
//
// Each applies one command (lib/world/structure.c), so that it does what a recorded command does, and
// nothing changes where it is refused. An attach of many is a playback of one command for each child.
// Postcondition of each: the world transforms of what moved are up to date.
#include "lib/commands/explain.h"
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/structure.h"
#include "lib/world/tape.h"

// Commands that a playback has at most (lib/commands/stage_order.c). An array of more entities is refused
// before it is read for the tape.
#define COMMAND_LIMIT ((size_t)UINT32_MAX / 8)

// --- Attach ---

// Tell why the handles are refused; where they are not, an argument is.
static ESPL__APART espl_status refuse_argument(const espl_world *world, espl_entity first,
                                               espl_entity second)
{
    espl_status status = espl__check_living(world, first);

    status = status != ESPL_OK ? status : espl__check_living(world, second);
    return status != ESPL_OK ? status : ESPL_ERR_ARGUMENT;
}

// The command checks the handles, so that they are checked here only where an option is wrong: a dead
// handle is named whatever the options are.
static espl_status attach_one(espl_world *world, espl_entity child, espl_entity parent,
                              const espl_attach_options *o)
{
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    if (!espl__options_are_valid(o)) {
        return refuse_argument(world, child, parent);
    }
    const espl__command command = espl__attach_command(child, parent, o);

    return espl__apply_one(world, &command);
}

espl_status espl_attach(espl_world *world, espl_entity child, espl_entity parent,
                        const espl_attach_options *options)
{
    const espl_attach_options defaults = {0};
    const espl_attach_options *const o = options != NULL ? options : &defaults;

    ESPL__CHANGE_OR_RETURN(world, "espl_attach")
    if (ESPL__ASKS_LATER(o)) {
        return espl__refuse_later(world, "espl_attach");
    }
    const espl_status status =
        ESPL__TAPED(world, attach_one(world, child, parent, o), .op = ESPL_TAPE_ATTACH,
                    .entity = child, .other = parent, .options = o);

    if (status >= 0) {
        return status;
    }
    const espl__mention named[3] = {{"child", child}, {"parent", parent}, {"before", o->before}};

    return espl__refuse_named(world, "espl_attach", named, 3, status,
                              status == ESPL_ERR_ARGUMENT ? espl__options_fault(o) : NULL);
}

// --- Attach of many ---

// The arguments of an attach of many.
typedef struct attaching {
    const espl_entity *children, *parents; // [count]
    size_t count;
    const espl_attach_options *options;
} attaching;

// @param refused  out: the first child that is refused; unchanged where none is.
static espl_status apply_attaching(espl_world *world, const attaching *a, size_t *refused)
{
    espl__heap *const heap = &world->heap;
    espl__command *const commands = espl__heap_take(heap, ESPL__FOR_COMMANDS, a->count,
                                                    sizeof *commands, _Alignof(espl__command));
    espl_status *const results =
        espl__heap_take(heap, ESPL__FOR_COMMANDS, a->count, sizeof *results, _Alignof(espl_status));
    espl_status status = ESPL_ERR_NO_MEMORY;

    if (commands != NULL && results != NULL) {
        for (size_t i = 0; i < a->count; ++i) {
            commands[i] = espl__attach_command(a->children[i], a->parents[i], a->options);
        }
        const espl__lane_view lane = {.commands = commands,
                                      .results = results,
                                      .count = a->count,
                                      .traits = espl__command_traits(commands)};

        status = espl__apply_strictly(world, lane, refused);
    }
    espl__heap_give(heap, ESPL__FOR_COMMANDS, results, a->count, sizeof *results,
                    _Alignof(espl_status));
    espl__heap_give(heap, ESPL__FOR_COMMANDS, commands, a->count, sizeof *commands,
                    _Alignof(espl__command));
    return status;
}

// Only the options are checked here: a handle is refused by its command, with its number.
static espl_status attach_many(espl_world *world, const attaching *a, size_t *refused)
{
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    if (!espl__options_are_valid(a->options)) {
        return ESPL_ERR_ARGUMENT;
    }
    return a->count == 0 ? ESPL_OK : apply_attaching(world, a, refused);
}

espl_status espl_attach_many(espl_world *world, const espl_entity *children,
                             const espl_entity *parents, size_t count,
                             const espl_attach_options *options, size_t *refused)
{
    static const char *const call = "espl_attach_many";
    const espl_attach_options defaults = {0};
    const espl_attach_options *const o = options != NULL ? options : &defaults;
    const attaching a = {children, parents, count, o};
    size_t first = SIZE_MAX;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world == NULL || (count != 0 && (children == NULL || parents == NULL))) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT,
                                 children == NULL ? "children is NULL, but the count is not 0."
                                                  : "parents is NULL, but the count is not 0.");
    }
    if (ESPL__ASKS_LATER(o)) {
        return espl__refuse_later(world, call);
    }
    if (count >= COMMAND_LIMIT) {
        return espl__refuse_call(world, call, ESPL_ERR_LIMIT, NULL);
    }
    const espl_status status =
        ESPL__TAPED(world, attach_many(world, &a, &first), .op = ESPL_TAPE_ATTACH_MANY,
                    .entities = children, .parents = parents, .count = count, .options = o);

    if (first == SIZE_MAX) {
        return espl__refuse_call(world, call, status, espl__options_fault(o));
    }
    ESPL_CHECK(status < 0 && first < count);
    const espl__mention named[] = {
        {"child", children[first]}, {"parent", parents[first]}, {"before", o->before}};

    return espl__refuse_at(world, call, &(espl__refused_at){first, count, refused}, named, 3,
                           status);
}

// --- Detach ---

// All three parts of the transform are kept by one rule.
static espl_status detach_one(espl_world *world, espl_entity entity, espl_keep keep)
{
    const uint8_t stay = (uint8_t)keep;
    const espl__command command = {.target = entity,
                                   .kind = ESPL__COMMAND_DETACH,
                                   .stay_position = stay,
                                   .stay_rotation = stay,
                                   .stay_scale = stay};
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    return espl__is_stay(keep) ? espl__apply_one(world, &command)
                               : refuse_argument(world, entity, entity);
}

espl_status espl_detach(espl_world *world, espl_entity entity, espl_keep keep)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_detach")
    const espl_status status =
        ESPL__TAPED(world, detach_one(world, entity, keep), .op = ESPL_TAPE_DETACH,
                    .entity = entity, .word = (uint32_t)keep);

    return espl__refuse_why(world, "espl_detach", entity, status, "keep is none of espl_keep.");
}

// --- Sibling moves ---

// The command checks that both are children of one parent.
static espl_status move_sibling(espl_world *world, espl_entity entity, espl_entity before)
{
    const espl__command command = {
        .target = entity, .before = before, .kind = ESPL__COMMAND_SIBLING};
    const espl_status status = espl__check_structural(world);

    return status != ESPL_OK ? status : espl__apply_one(world, &command);
}

espl_status espl_move_before(espl_world *world, espl_entity entity, espl_entity before)
{
    const espl__mention named[2] = {{"entity", entity}, {"before", before}};

    ESPL__CHANGE_OR_RETURN(world, "espl_move_before")
    const espl_status status =
        ESPL__TAPED(world, move_sibling(world, entity, before), .op = ESPL_TAPE_SIBLING,
                    .entity = entity, .other = before);

    return espl__refuse_named(world, "espl_move_before", named, 2, status, NULL);
}
