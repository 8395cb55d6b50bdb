// SPDX-License-Identifier: MIT
// Command instances on a world of three entities: every kind of command, on each entity for which
// it differs.
#ifndef ESPALIER_TESTS_COMMANDS_INSTANCES_H
#define ESPALIER_TESTS_COMMANDS_INSTANCES_H

#include "tests/small.h"

#include <string.h>

// Node 0 is a root with the child 1, which has a mark; node 2 is a solo with a load, whose peer is
// the child. The first creation of a batch makes TAPE_PENDING + 0, which the commands before it in
// the order of playback cannot know.
enum { ROOT, CHILD, SOLO };

#define NONE MODEL_NONE
#define BORN TAPE_PENDING

// Finite, but not twice.
#define FAR 3e38f

#define TAG model_bit(MODEL_TAG)
#define MARK model_bit(MODEL_MARK)
#define LOAD model_bit(MODEL_LOAD)
#define PEER model_bit(MODEL_PEER)
#define BULK model_bit(MODEL_BULK)
#define PREFAB model_bit(ESPL_PREFAB)
#define DISABLED model_bit(ESPL_DISABLED)
#define PLACED model_bit(ESPL_TRANSFORM)

static operation attach(uint32_t child, uint32_t parent, uint32_t before, bool keeps_local)
{
    return (operation){.code = OP_ATTACH,
                       .entity = child,
                       .parent = parent,
                       .before = before,
                       .options = keeps_local ? test_keep_local : (espl_attach_options){0}};
}

static operation attach_free(uint32_t child, uint32_t parent)
{
    operation op = attach(child, parent, MODEL_NONE, false);
    op.options.link = ESPL_LINK_FREE;
    return op;
}

static operation on(opcode code, uint32_t entity)
{
    return (operation){.code = code, .entity = entity, .keep = ESPL_KEEP_LOCAL};
}

static operation set(opcode code, uint32_t entity, float x)
{
    return (operation){.code = code, .entity = entity, .value = test_at(x, 1, -x)};
}

static operation make(uint32_t source, uint32_t parent, espl_place place,
                      espl_dead_parent dead_parent)
{
    return (operation){.code = OP_INSTANCE,
                       .entity = source,
                       .parent = parent,
                       .before = MODEL_NONE,
                       .place = place,
                       .dead_parent = dead_parent,
                       .value = test_at(3, 4, 5),
                       .count = 1,
                       .sets_tag = dead_parent == ESPL_DEAD_PARENT_ROOT,
                       .tag = 77};
}

static operation keep(uint32_t entity, uint32_t flags)
{
    return (operation){.code = OP_SET_INHERIT, .entity = entity, .inherit = flags};
}

static operation write(uint32_t entity, espl_write_kind kind, float x)
{
    return (operation){
        .code = OP_WRITE, .entity = entity, .kind = kind, .data.position = {x, 1, -x}};
}

static operation attach_with(uint32_t child, uint32_t parent, uint32_t flags)
{
    operation op = attach(child, parent, MODEL_NONE, false);
    op.options.inherit = flags;
    return op;
}

static operation make_with(uint32_t source, uint32_t parent, espl_place place, uint32_t flags)
{
    operation op = make(source, parent, place, ESPL_DEAD_PARENT_ROOT);
    op.inherit = flags;
    return op;
}

static operation sibling(uint32_t entity, uint32_t before)
{
    return (operation){.code = OP_SET_SIBLING, .entity = entity, .before = before};
}

// Values differ from one to the next.
static operation create(uint32_t parent, espl_place place, espl_dead_parent dead_parent,
                        uint32_t set)
{
    return (operation){.code = OP_CREATION,
                       .entity = NONE,
                       .parent = parent,
                       .before = NONE,
                       .place = place,
                       .dead_parent = dead_parent,
                       .value = test_at(6, 7, 8),
                       .count = 1,
                       .given = set,
                       .tag = 100 + set,
                       .load = 200 + set,
                       .peer = CHILD};
}

static operation create_with(uint32_t parent, espl_place place, uint32_t set, uint32_t flags)
{
    operation op = create(parent, place, ESPL_DEAD_PARENT_ROOT, set);
    op.inherit = flags;
    op.options.link = ESPL_LINK_FREE;
    return op;
}

static operation create_before(uint32_t parent, uint32_t before, uint32_t set)
{
    operation op = create(parent, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE, set);
    op.before = before;
    op.count = 2;
    op.zeroed = PLACED | LOAD;
    return op;
}

static operation make_given(uint32_t source, uint32_t parent, uint32_t set)
{
    operation op = make(source, parent, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_ROOT);
    op.given = set;
    op.load = 300 + set;
    op.peer = SOLO;
    return op;
}

static operation change(uint32_t entity, uint32_t add, uint32_t remove)
{
    return (operation){.code = OP_CHANGE_ONE,
                       .entity = entity,
                       .change_form = CHANGE_SINGLE,
                       .change = {.add = add,
                                  .remove = remove,
                                  .values = {400 + add, 500 + add, ROOT},
                                  .placement = test_at(2, -3, 4)}};
}

static operation set_value(uint32_t entity, espl_component component, uint32_t number)
{
    return (operation){.code = OP_SET,
                       .entity = entity,
                       .component = component,
                       .tag = number,
                       .load = number,
                       .peer = number % 3};
}

static operation enable(opcode code, uint32_t entity, espl_extent extent)
{
    return (operation){.code = code, .entity = entity, .extent = extent};
}

static operation call(uint32_t callback, uint32_t size, uint32_t alignment)
{
    return (operation){.code = OP_CALL, .call = {callback, size, alignment, size + 1}};
}

// --- Lists of them ---

enum { STRUCTURE = 60, COMPONENTS = 66, INSTANCES = STRUCTURE + COMPONENTS, CHOSEN = 48 };

// Each kind that changes hierarchies, on each entity that matters.
static void list_structure(operation out[STRUCTURE])
{
    const operation all[] = {attach(SOLO, ROOT, NONE, false),
                             attach(SOLO, CHILD, NONE, true),
                             attach(SOLO, ROOT, CHILD, false),
                             attach(CHILD, SOLO, NONE, false),
                             attach(ROOT, SOLO, NONE, true),
                             attach(ROOT, CHILD, NONE, false),
                             attach(CHILD, ROOT, NONE, false),
                             attach(SOLO, SOLO, NONE, false),
                             attach_free(CHILD, ROOT),
                             attach_free(SOLO, CHILD),
                             attach(BORN, CHILD, NONE, false),
                             attach(SOLO, BORN, NONE, false),
                             attach(ROOT, BORN, NONE, true),
                             attach(BORN, ROOT, CHILD, false),
                             attach(CHILD, BORN, NONE, false),
                             attach(MODEL_DEAD, ROOT, NONE, false),
                             on(OP_DETACH, CHILD),
                             on(OP_DETACH, SOLO),
                             on(OP_DETACH, ROOT),
                             on(OP_DETACH, BORN),
                             on(OP_DESTROY, ROOT),
                             on(OP_DESTROY, CHILD),
                             on(OP_DESTROY, SOLO),
                             on(OP_DESTROY, BORN),
                             on(OP_DESTROY_ONLY, ROOT),
                             on(OP_DESTROY_ONLY, CHILD),
                             on(OP_DESTROY_ONLY, BORN),
                             on(OP_DESTROY_SUBTREE, ROOT),
                             on(OP_DESTROY_SUBTREE, CHILD),
                             on(OP_DESTROY_SUBTREE, SOLO),
                             set(OP_SET_LOCAL, ROOT, 2),
                             set(OP_SET_LOCAL, CHILD, 3),
                             set(OP_SET_LOCAL, SOLO, 4),
                             set(OP_SET_WORLD, ROOT, 5),
                             set(OP_SET_WORLD, CHILD, 6),
                             set(OP_SET_WORLD, SOLO, 7),
                             set(OP_SET_LOCAL, BORN, 8),
                             set(OP_SET_WORLD, BORN, 9),
                             make(ROOT, NONE, ESPL_PLACE_SOURCE, ESPL_DEAD_PARENT_REFUSE),
                             make(ROOT, CHILD, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_REFUSE),
                             make(CHILD, NONE, ESPL_PLACE_SOURCE, ESPL_DEAD_PARENT_ROOT),
                             make(CHILD, ROOT, ESPL_PLACE_SOURCE, ESPL_DEAD_PARENT_ROOT),
                             make(SOLO, ROOT, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE),
                             make(SOLO, CHILD, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_ROOT),
                             make(SOLO, SOLO, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_ROOT),
                             make(SOLO, MODEL_DEAD, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_ROOT),
                             make(SOLO, MODEL_DEAD, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_REFUSE),
                             make(MODEL_DEAD, ROOT, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_ROOT),
                             keep(CHILD, ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_ROTATION),
                             keep(CHILD, ESPL_COPY_PARENT),
                             keep(CHILD, 0),
                             keep(SOLO, ESPL_ABSOLUTE_POSITION),
                             keep(BORN, ESPL_ABSOLUTE_SCALE),
                             attach_with(SOLO, CHILD, ESPL_ABSOLUTE_X),
                             attach_with(SOLO, ROOT, ESPL_COPY_PARENT),
                             write(ROOT, ESPL_WRITE_TRANSLATE_WORLD, 2),
                             write(CHILD, ESPL_WRITE_TRANSLATE_WORLD, 3),
                             write(BORN, ESPL_WRITE_STRETCH, 2),
                             make_with(CHILD, ROOT, ESPL_PLACE_WORLD, ESPL_ABSOLUTE_Z),
                             make_with(SOLO, CHILD, ESPL_PLACE_SOURCE, ESPL_COPY_PARENT)};

    _Static_assert(sizeof all == STRUCTURE * sizeof *all, "all of them");
    memcpy(out, all, sizeof all);
}

// Each kind that makes from nothing or changes components; siblings; calls.
static void list_components(operation out[COMPONENTS])
{
    const operation all[] = {
        sibling(CHILD, NONE),
        sibling(SOLO, CHILD),
        sibling(CHILD, SOLO),
        sibling(BORN, CHILD),
        create(NONE, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE, TAG | LOAD | PLACED),
        create(NONE, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE, 0),
        create(CHILD, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_REFUSE, TAG | PLACED | DISABLED),
        create(SOLO, ESPL_PLACE_SOURCE, ESPL_DEAD_PARENT_ROOT, TAG | MARK),
        create(MODEL_DEAD, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_ROOT, TAG | PLACED),
        create(MODEL_DEAD, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE, TAG | PLACED),
        create(BORN, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE, PEER | PLACED),
        create(BORN, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_ROOT, TAG | PEER | PREFAB | PLACED),
        create(ROOT, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE, TAG | PLACED | BULK),
        create(ROOT, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_ROOT,
               TAG | PLACED | BULK | LOAD | MARK | PEER),
        create_with(SOLO, ESPL_PLACE_WORLD, TAG | PEER | PLACED, ESPL_ABSOLUTE_Y),
        create_with(CHILD, ESPL_PLACE_LOCAL, TAG | PLACED, ESPL_COPY_PARENT),
        create_with(ROOT, ESPL_PLACE_LOCAL, TAG, ESPL_ABSOLUTE_Y),
        create_before(ROOT, CHILD, TAG | LOAD),
        create_before(ROOT, CHILD, TAG | LOAD | PLACED),
        create_before(NONE, CHILD, TAG),
        create_before(SOLO, CHILD, TAG | PLACED),
        make_given(SOLO, ROOT, LOAD | PEER),
        make_given(CHILD, NONE, PREFAB | LOAD),
        make_given(BORN, SOLO, MARK),
        make_given(SOLO, NONE, BULK),
        make_given(SOLO, CHILD, BULK | MARK),
        change(CHILD, LOAD, 0),
        change(CHILD, 0, MARK),
        change(CHILD, PEER | PREFAB, MARK | LOAD),
        change(ROOT, PREFAB | LOAD, TAG),
        change(ROOT, 0, PREFAB),
        change(SOLO, BULK, 0),
        change(SOLO, MARK, PEER),
        change(SOLO, MARK, 0),
        change(SOLO, 0, BULK),
        change(BORN, MARK | LOAD, TAG),
        change(BORN, 0, LOAD),
        change(BORN, PREFAB, 0),
        change(MODEL_DEAD, MARK, 0),
        change(CHILD, PLACED, 0),
        change(CHILD, 0, PLACED),
        change(ROOT, 0, PLACED),
        change(ROOT, PLACED | MARK, 0),
        change(BORN, 0, PLACED),
        change(BORN, PLACED, 0),
        change(SOLO, 0, PLACED | LOAD),
        change(SOLO, PLACED, LOAD),
        change(SOLO, BULK | MARK, PLACED),
        set_value(SOLO, MODEL_LOAD, 71),
        set_value(SOLO, MODEL_PEER, SOLO),
        set_value(CHILD, MODEL_LOAD, 72),
        set_value(CHILD, MODEL_MARK, 0),
        set_value(BORN, MODEL_TAG, 73),
        set_value(BORN, MODEL_LOAD, 74),
        set_value(ROOT, ESPL_TRANSFORM, 0),
        enable(OP_DISABLE, ROOT, ESPL_EXTENT_OWNED),
        enable(OP_DISABLE, ROOT, ESPL_EXTENT_SUBTREE),
        enable(OP_DISABLE, CHILD, ESPL_EXTENT_ENTITY),
        enable(OP_DISABLE, SOLO, ESPL_EXTENT_OWNED),
        enable(OP_DISABLE, BORN, ESPL_EXTENT_SUBTREE),
        enable(OP_ENABLE, ROOT, ESPL_EXTENT_SUBTREE),
        enable(OP_ENABLE, CHILD, ESPL_EXTENT_ENTITY),
        enable(OP_ENABLE, BORN, ESPL_EXTENT_ENTITY),
        call(0, 12, 4),
        call(1, 0, 0),
        call(SIDE_CALLBACKS, 4, 4)};

    _Static_assert(sizeof all == COMPONENTS * sizeof *all, "all of them");
    memcpy(out, all, sizeof all);
}

// Some of both: every kind, pending entities, what is refused, worlds that leave their range,
// placements that come and go.
static void list_chosen(operation out[CHOSEN])
{
    const operation all[] = {
        attach(SOLO, ROOT, CHILD, false),
        attach(CHILD, SOLO, NONE, false),
        attach(ROOT, CHILD, NONE, true),
        attach_free(CHILD, ROOT),
        attach(BORN, CHILD, NONE, false),
        attach(SOLO, BORN, NONE, true),
        attach_with(SOLO, CHILD, ESPL_ABSOLUTE_X),
        on(OP_DETACH, CHILD),
        on(OP_DESTROY, ROOT),
        on(OP_DESTROY, CHILD),
        on(OP_DESTROY, BORN),
        on(OP_DESTROY_ONLY, ROOT),
        on(OP_DESTROY_SUBTREE, SOLO),
        sibling(CHILD, NONE),
        set(OP_SET_LOCAL, CHILD, FAR),
        set(OP_SET_WORLD, BORN, 9),
        keep(CHILD, ESPL_COPY_PARENT),
        write(ROOT, ESPL_WRITE_TRANSLATE_WORLD, FAR),
        make(ROOT, CHILD, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_REFUSE),
        make_given(CHILD, NONE, PREFAB | LOAD),
        make_given(BORN, SOLO, MARK),
        make_given(SOLO, ROOT, LOAD | PEER),
        create(NONE, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE, TAG | LOAD | PLACED),
        create(CHILD, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_REFUSE, TAG | PLACED | DISABLED),
        create(BORN, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_ROOT, TAG | PEER | PREFAB | PLACED),
        create_with(SOLO, ESPL_PLACE_WORLD, TAG | PEER | PLACED, ESPL_ABSOLUTE_Y),
        create_before(ROOT, CHILD, TAG | LOAD),
        change(CHILD, PEER | PREFAB, MARK | LOAD),
        change(CHILD, LOAD, 0),
        change(ROOT, PREFAB | LOAD, TAG),
        change(SOLO, BULK, 0),
        change(SOLO, MARK, PEER),
        change(BORN, MARK | LOAD, TAG),
        change(BORN, 0, LOAD),
        change(CHILD, PLACED, 0),
        change(CHILD, 0, PLACED),
        change(ROOT, 0, PLACED),
        change(BORN, 0, PLACED | MARK),
        set_value(SOLO, MODEL_PEER, SOLO),
        set_value(CHILD, MODEL_LOAD, 72),
        set_value(BORN, MODEL_TAG, 73),
        set_value(BORN, MODEL_LOAD, 74),
        enable(OP_DISABLE, ROOT, ESPL_EXTENT_OWNED),
        enable(OP_DISABLE, SOLO, ESPL_EXTENT_ENTITY),
        enable(OP_DISABLE, BORN, ESPL_EXTENT_SUBTREE),
        enable(OP_ENABLE, ROOT, ESPL_EXTENT_SUBTREE),
        call(0, 12, 4),
        call(1, 40, 64)};

    _Static_assert(sizeof all == CHOSEN * sizeof *all, "all of them");
    memcpy(out, all, sizeof all);
}

static void list_commands(operation out[INSTANCES])
{
    list_structure(out);
    list_components(out + STRUCTURE);
}

#endif
