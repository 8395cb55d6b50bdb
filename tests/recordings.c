// SPDX-License-Identifier: MIT
// The operations of a tape that are recorded: which kinds there are, and operands that are pending.
#include "tests/asserts.h"
#include "tests/picks.h"

#include <stdlib.h>

// --- Style ---

// A create by an operation of its own, clones by an instance.
static bool is_recordable(opcode code)
{
    switch (code) {
    case OP_CREATE:
    case OP_INSTANTIATE:
    case OP_LOOK_AT:
    case OP_ROTATE_ABOUT:
    case OP_BATCH:
    case OP_CHANGE:
    case OP_CHANGE_QUERY:
    case OP_ATTACH_MANY:
    case OP_DESTROY_MANY:
    case OP_CLEAR:
    case OP_NAME:
    case OP_TRIM:
    case OP_STEP:
    case OPCODE_COUNT:
        return false;
    default:
        return true;
    }
}

void tape_prepare_recorded(test_tape *tape)
{
    static const uint32_t weights[8] = {0, 1, 2, 2, 4, 4, 8, 16};
    uint32_t *const own = tape->style.weights;

    // Much is done to entities that live for long.
    own[OP_INSTANCE] += own[OP_CREATE] + own[OP_INSTANTIATE];
    for (opcode code = OP_DESTROY; code <= OP_DESTROY_ONLY; ++code) {
        own[code] = (own[code] + 1) / 2;
    }
    for (opcode code = OP_TRIM + 1; code <= OP_CALL; ++code) {
        own[code] = weights[test_below(&tape->random, 8)];
    }
    own[OP_CREATION] += 1;
    own[OP_CALL] = (own[OP_CALL] + 1) / 2;
    for (opcode code = 0; code < OPCODE_COUNT; ++code) {
        own[code] = is_recordable(code) ? own[code] : 0;
    }
    if (test_one_in(&tape->random, 4)) {
        tape->style.components |= model_bit(MODEL_BULK);
    }
    // What leaves the range is refused after the rest of its group was carried out.
    tape->style.huge_one_in = 1 + test_below(&tape->random, 8);
    tape->style.lanes = 1 + test_below(&tape->random, 9);
    tape->style.keys = test_one_in(&tape->random, 4) ? UINT32_MAX : tape->style.keys;
}

// --- Pending operands ---

uint32_t tape_pend(test_tape *tape, uint32_t count)
{
    const uint32_t first = tape->pending_count;

    if (first + count > tape->pending_capacity) {
        tape->pending_capacity = tape->pending_capacity * 2 + count + 64;
        tape->pending = realloc(tape->pending, tape->pending_capacity * sizeof *tape->pending);
        ck_assert_ptr_nonnull(tape->pending);
    }
    for (uint32_t i = 0; i < count; ++i) {
        tape->pending[tape->pending_count++] = MODEL_DEAD;
    }
    return first;
}

// One of those that are to be, or MODEL_NONE to leave an operand as it is.
static uint32_t pick_pending(test_tape *tape)
{
    return tape->pending_count != 0 && draw_one_in(&tape->draw, 4)
               ? TAPE_PENDING + draw_below(&tape->draw, tape->pending_count)
               : MODEL_NONE;
}

static void put_pending(uint32_t *operand, uint32_t pending)
{
    *operand = pending != MODEL_NONE ? pending : *operand;
}

// --- Operations ---

// Keep the population near what the style strives for. How many live when a playback comes to it is
// not known yet: those of a batch are of all kinds.
static opcode pick_recordable(test_tape *tape)
{
    const opcode code = pick_code(tape);
    const uint32_t living = tape->model.living_count;
    const bool makes = code == OP_CREATION || code == OP_INSTANCE;

    if (makes && living >= 2 * tape->style.population) {
        return (opcode)(OP_DESTROY + draw_below(&tape->draw, 3));
    }
    if (pick_is_destroy(code) && living <= tape->style.population / 2) {
        return OP_CREATION;
    }
    return code;
}

static operation next_creation(test_tape *tape)
{
    operation op = pick_operation(tape, OP_INSTANCE);

    // An instance without its source, which may have been too large to be cloned.
    op.code = OP_CREATION;
    op.entity = MODEL_NONE;
    op.sets_tag = false;
    op.given = 0;
    op.count = 1 + draw_below(&tape->draw, TAPE_COUNT_LIMIT);
    if (op.count > tape->style.population / 4 + 1) {
        op.count = 1;
    }
    return op;
}

static operation next_operation(test_tape *tape, opcode code)
{
    if (code <= OP_TRIM) {
        return pick_operation(tape, code);
    }
    operation op = code == OP_CREATION ? next_creation(tape) : pick_operation(tape, OP_DESTROY);

    op.code = code;
    pick_recorded(tape, &op);
    return op;
}

model_creation tape_creation_of(const test_tape *tape, const operation *op)
{
    return (model_creation){.parent = tape_node(tape, op->parent),
                            .before = tape_node(tape, op->before),
                            .link = op->options.link,
                            .dead_parent = op->dead_parent,
                            .place = op->place,
                            .inherit = op->inherit,
                            .set = op->given,
                            .zeroed = op->zeroed,
                            .values = {op->tag, op->load, op->peer},
                            .placement = op->value,
                            .flaw = op->flaw,
                            .count = op->count};
}

operation tape_next_recorded(test_tape *tape)
{
    tape_advance(tape);
    const opcode code = pick_recordable(tape);
    const uint32_t lane = draw_below(&tape->draw, tape->style.lanes);
    const uint32_t key = draw_below(&tape->draw, tape->style.keys);
    const uint32_t entity = pick_pending(tape), parent = pick_pending(tape);
    const uint32_t before = pick_pending(tape);
    operation op = next_operation(tape, code);

    op.lane = lane;
    op.key = key;
    put_pending(&op.entity, entity);
    if ((op.code != OP_INSTANCE && op.code != OP_CREATION) || op.parent != MODEL_NONE) {
        put_pending(&op.parent, parent);
    }
    if (op.before != MODEL_NONE) {
        put_pending(&op.before, before);
    }
    if (op.code == OP_INSTANCE || op.code == OP_CREATION) {
        op.pending = tape_pend(tape, op.count);
    }
    return op;
}

void tape_forget_pending(test_tape *tape)
{
    tape->pending_count = 0;
}

uint32_t tape_node(const test_tape *tape, uint32_t operand)
{
    return operand >= TAPE_PENDING && operand < TAPE_ALIEN ? tape->pending[operand - TAPE_PENDING]
                                                           : operand;
}
