// SPDX-License-Identifier: MIT
// What the operations on siblings and components are made of, good and bad.
#include "tests/picks.h"

// --- Components ---

// Those that a side has besides the tag, and may have or not.
static const espl_component components[] = {ESPL_PREFAB, ESPL_DISABLED, MODEL_MARK, MODEL_LOAD,
                                            MODEL_PEER};

enum { KINDS = sizeof components / sizeof *components };

// All of them at once make so many archetypes that little stands in each.
uint32_t pick_components(uint64_t *random)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < KINDS; ++i) {
        set |= test_one_in(random, 2) ? model_bit(components[i]) : 0;
    }
    return set;
}

static uint32_t pick_component_bit(test_tape *tape)
{
    uint32_t bit = 0;

    if ((tape->style.components & model_bit(MODEL_BULK)) != 0 && draw_one_in(&tape->draw, 4)) {
        return model_bit(MODEL_BULK);
    }
    while ((bit & tape->style.components) == 0) {
        bit = model_bit(components[draw_below(&tape->draw, KINDS)]);
    }
    return bit;
}

// Any node that ever was, or none.
static uint32_t pick_peer(test_tape *tape)
{
    const uint32_t count = tape->model.count;

    if (count == 0 || draw_one_in(&tape->draw, 8)) {
        return MODEL_NONE;
    }
    return draw_one_in(&tape->draw, 4) ? draw_below(&tape->draw, count) : pick_living(tape);
}

static uint32_t known_peer(uint32_t peer)
{
    return peer == MODEL_DEAD ? MODEL_NONE : peer;
}

void pick_given(test_tape *tape, operation *op)
{
    for (uint32_t i = draw_below(&tape->draw, 3); i > 0; --i) {
        op->given |= pick_component_bit(tape);
    }
    op->load = draw_bits(&tape->draw);
    op->peer = known_peer(pick_peer(tape));
}

// How many are named is a fault of its own.
static model_flaw pick_flaw(test_tape *tape, uint32_t named)
{
    const bool is_many = (named & model_bit(MODEL_BULK)) != 0;

    return draw_one_in(&tape->draw, 32) && !is_many
               ? (model_flaw)draw_below(&tape->draw, MODEL_FLAW_COUNT)
               : MODEL_FLAWLESS;
}

static model_change pick_change(test_tape *tape, bool may_place)
{
    tape_draw *const draw = &tape->draw;
    model_change change = {.placement = pick_value(tape, pick_living(tape), false)};

    for (uint32_t i = 1 + draw_below(draw, 4); i > 0; --i) {
        const uint32_t bit = pick_component_bit(tape);
        *(draw_one_in(draw, 2) ? &change.add : &change.remove) |= bit;
    }
    if (draw_one_in(draw, 6)) {
        change.add |= model_bit(MODEL_TAG);
    }
    if (may_place && draw_one_in(draw, 4)) {
        const bool takes = tape->style.has_unplaced && draw_one_in(draw, 2);
        *(takes ? &change.remove : &change.add) |= model_bit(ESPL_TRANSFORM);
    }
    change.remove &= ~change.add;
    change.zeroed = draw_one_in(draw, 3) ? change.add & (uint32_t)draw_bits(draw) : 0;
    change.values =
        (model_values){(uint32_t)draw_bits(draw), draw_bits(draw), known_peer(pick_peer(tape))};
    change.flaw = pick_flaw(tape, change.add | change.remove);
    return change;
}

// --- Queries ---

static uint32_t pick_bits(uint64_t *random, uint32_t one_in, uint32_t most)
{
    uint32_t bits = 0;

    if (test_one_in(random, one_in)) {
        for (uint32_t i = 1 + test_below(random, most); i > 0; --i) {
            bits |= model_bit(ESPL_TRANSFORM + test_below(random, MODEL_COMPONENT_END - 1));
        }
    }
    return bits;
}

model_query pick_query(uint64_t *random)
{
    return (model_query){.all = pick_bits(random, 2, 2),
                         .none = pick_bits(random, 3, 2),
                         .any = pick_bits(random, 3, 3),
                         .include = test_below(random, 4)};
}

// --- Operations ---

static void name_nodes(test_tape *tape, operation *op)
{
    const bool are_good = !draw_one_in(&tape->draw, 4);

    op->count = op->change_form == CHANGE_ARRAY ? draw_below(&tape->draw, 12) : 1;
    tape_reserve_named(tape, op->count + 1);
    for (uint32_t i = 0; i < op->count; ++i) {
        const bool repeats = i > 0 && draw_one_in(&tape->draw, 8);
        const uint32_t node = are_good ? pick_living(tape) : pick_any(tape);

        tape->named[i] = repeats              ? tape->named[draw_below(&tape->draw, i)]
                         : node == TAPE_ALIEN ? MODEL_FOREIGN
                                              : node;
    }
}

static void pick_sibling(test_tape *tape, operation *op)
{
    const bool is_member =
        is_living_node(tape, op->entity) && tape->model.nodes[op->entity].parent != MODEL_NONE;

    if (draw_one_in(&tape->draw, 4)) {
        op->before = MODEL_NONE;
    } else if (is_member && !draw_one_in(&tape->draw, 8)) {
        op->before = tape->model.nodes[tape->model.nodes[op->entity].parent].first;
        for (uint32_t i = draw_below(&tape->draw, 4); i > 0 && op->before != MODEL_NONE; --i) {
            op->before = tape->model.nodes[op->before].next;
        }
    } else {
        op->before = pick_any(tape);
    }
}

static void pick_creation(test_tape *tape, operation *op)
{
    tape_draw *const draw = &tape->draw;

    pick_given(tape, op);
    op->given |= draw_one_in(draw, 8) ? 0 : model_bit(MODEL_TAG);
    op->given |= op->has_placement ? model_bit(ESPL_TRANSFORM) : 0;
    op->zeroed = draw_one_in(draw, 4) ? op->given & (uint32_t)draw_bits(draw) : 0;
    op->flaw = pick_flaw(tape, op->given);
    if (op->flaw == MODEL_TAKES_ROLE || op->flaw == MODEL_CONTRADICTS) {
        op->flaw = MODEL_FLAWLESS; // nothing is taken
    }
    if (!op->has_placement && !draw_one_in(draw, 8)) {
        op->inherit = 0;
    }
}

static void pick_set(test_tape *tape, operation *op)
{
    static const model_flaw flaws[3] = {MODEL_GIVES_ROLE, MODEL_UNKNOWN, MODEL_MISSIZES};
    tape_draw *const draw = &tape->draw;
    const uint32_t bit = pick_component_bit(tape);

    pick_given(tape, op);
    op->component = draw_one_in(draw, 3)    ? MODEL_TAG
                    : draw_one_in(draw, 32) ? ESPL_TRANSFORM
                                            : (espl_component)__builtin_ctz(bit);
    op->flaw = draw_one_in(draw, 32) ? flaws[draw_below(draw, 3)] : MODEL_FLAWLESS;
}

static void pick_call(test_tape *tape, operation *op)
{
    tape_draw *const draw = &tape->draw;
    const bool is_bad = draw_one_in(draw, 32);

    op->call.callback = draw_below(draw, SIDE_CALLBACKS + (is_bad ? 1 : 0));
    op->call.size = draw_one_in(draw, 8) ? 0 : draw_below(draw, 80);
    op->call.alignment = draw_one_in(draw, 4) ? 0 : (uint32_t)1 << draw_below(draw, 9);
    op->call.alignment = is_bad && draw_one_in(draw, 2) ? 3 : op->call.alignment;
    op->call.seed = draw_one_in(draw, 8) ? 0 : draw_bits(draw);
}

void pick_recorded(test_tape *tape, operation *op)
{
    if (op->code == OP_CREATION) {
        pick_creation(tape, op);
    } else if (op->code == OP_SET) {
        pick_set(tape, op);
    } else if (op->code == OP_CALL) {
        pick_call(tape, op);
    } else {
        pick_change_of(tape, op);
    }
}

void pick_change_of(test_tape *tape, operation *op)
{
    op->change_form = (change_form)draw_below(&tape->draw, CHANGE_FORM_COUNT);
    if (op->code == OP_SET_SIBLING) {
        pick_sibling(tape, op);
    } else if (op->code == OP_ENABLE || op->code == OP_DISABLE) {
        const uint32_t kind = draw_below(&tape->draw, 64);
        op->extent = kind == 0 ? (espl_extent)9 : (espl_extent)(kind % 3);
    } else if (op->code == OP_PLACE) {
        op->change.zeroed = draw_one_in(&tape->draw, 8) ? model_bit(ESPL_TRANSFORM) : 0;
    } else if (op->code == OP_CHANGE) {
        name_nodes(tape, op);
        op->change = pick_change(tape, true);
    } else if (op->code == OP_CHANGE_ONE) {
        op->change = pick_change(tape, true);
    } else if (op->code == OP_CHANGE_QUERY) {
        op->change = pick_change(tape, false);
        uint64_t random = draw_bits(&tape->draw);
        op->query = pick_query(&random);
    } else if (op->code >= OP_ATTACH_MANY && op->code <= OP_NAME) {
        pick_many(tape, op);
    }
}
