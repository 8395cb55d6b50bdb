// SPDX-License-Identifier: MIT
// A tape from its head to its end: the world that it asks for, whose memory is counted, what its
// calls answered, and whether they do so again.
#include "tools/replay.h"

#include "tools/aligned.h"

#include <stdlib.h>
#include <string.h>

// Of the tapes that can be read: see espalier/tape.h.
enum { OLDEST_VERSION = 4, LARGEST_CELLS = 31 };

// --- The world's memory ---

static void *take(void *user, size_t size, size_t alignment)
{
    replay *const p = user;

    if (p->def->memory != 0 && (p->taken > p->def->memory || size > p->def->memory - p->taken)) {
        return NULL;
    }
    void *const block = aligned_take(size, alignment);

    p->taken += block != NULL ? size : 0;
    return block;
}

static void give(void *user, void *block, size_t size, size_t alignment)
{
    replay *const p = user;

    (void)alignment;
    p->taken -= size;
    aligned_give(block);
}

// The world has a tape, from which the replay takes the checksum of a frame.
static void hear_tape(void *user, const void *bytes, size_t size)
{
    replay *const p = user;

    if (p->listens && size <= sizeof p->heard - p->heard_size) {
        memcpy(p->heard + p->heard_size, bytes, size);
        p->heard_size += size;
    }
}

static void hear_trap(void *user, const char *file, int line, const char *condition)
{
    replay *const p = user;

    reel_blame(&p->reel, "a fault in %s:%d: %s", file, line, condition);
    p->is_disagreed = true;
    p->result->is_broken = true;
}

static void hear_log(void *user, espl_log_level level, const char *message)
{
    const replay *const p = user;

    (void)level;
    p->def->log(p->def->user, message);
}

// --- Answers ---

bool replay_wants(replay *p)
{
    reel *const r = &p->reel;

    if (r->state != REEL_GOOD) {
        return false;
    }
    const unsigned char answer = (unsigned char)reel_number(r, 1);

    // A record that is whole but for its answer: its call is the last of all.
    p->is_cut = r->state == REEL_SHORT;
    p->expected = (espl_status)(answer < 0x80 ? answer : (int)answer - 0x100);
    // A refused call may have settled roles and layouts, so that it is repeated too, but where it was
    // refused for what was going on around it.
    return !p->is_dry && p->expected != ESPL_ERR_NO_MEMORY && p->expected != ESPL_ERR_BUSY &&
           p->expected != ESPL_ERR_EXECUTOR;
}

void replay_compare(replay *p, const char *call, espl_status status)
{
    p->result->calls += !rollback_is_again(p);
    if (p->is_cut || p->def->goes_on || status == p->expected || p->reel.state == REEL_BAD) {
        return;
    }
    reel_blame(&p->reel, "%s answers %s, not %s", call, espl_status_name(status),
               espl_status_name(p->expected));
    p->is_disagreed = true;
}

// --- The whole ---

// Read the head and make the world that it asks for.
static void read_head(replay *p)
{
    reel *const r = &p->reel;
    const uint32_t order = 0x01020304;
    const unsigned char *const magic = reel_bytes(r, 8);
    const uint32_t version = reel_u32(r), tag = reel_u32(r);
    const unsigned char *const mark = reel_bytes(r, 4);

    (void)reel_bytes(r, 3); // limits
    const unsigned cells = (unsigned)reel_number(r, 1);
    const size_t layout_budget = reel_count(r);

    if (r->state != REEL_GOOD || memcmp(magic, "espltape", 8) != 0) {
        reel_blame(r, "no tape of Espalier");
    } else if (version < OLDEST_VERSION || version > ESPL_TAPE_VERSION) {
        reel_blame(r, "a tape of version %u, where %d to %d are known", version, OLDEST_VERSION,
                   ESPL_TAPE_VERSION);
    } else if (memcmp(mark, &order, sizeof order) != 0) {
        reel_blame(r, "a tape from a machine of another byte order");
    } else if (cells > LARGEST_CELLS) {
        reel_blame(r, "%u for a size of cells, more than %d", cells, LARGEST_CELLS);
    }
    if (r->state != REEL_GOOD) {
        r->state = REEL_BAD;
        return;
    }
    p->version = version;
    p->tag = tag;
    const espl_world_def def = {
        .allocator = {p, take, give},
        .hooks = {.user = p, .log = p->def->log != NULL ? hear_log : NULL, .trap = hear_trap},
        .executor = p->def->executor != NULL ? *p->def->executor : (espl_executor){0},
        .tape = {p, hear_tape},
        .tag = tag,
        .layout_budget = layout_budget,
        .cell_size = cells != 0 ? (float)(UINT32_C(1) << (cells - 1)) : 0};
    const espl_status status = tag == 0 ? ESPL_ERR_ARGUMENT : espl_world_create(&def, &p->world);

    if (espl_failed(status)) {
        reel_blame(r, "no world of tag %u can be made: %s", tag, espl_status_name(status));
    }
}

static bool goes_on(const replay *p)
{
    return p->reel.state == REEL_GOOD && reel_left(&p->reel) != 0 &&
           (p->def->frames == 0 || p->result->frames < p->def->frames);
}

void replay_begin(replay *p, const replay_def *def, const unsigned char *bytes, size_t size,
                  replay_result *result)
{
    *result = (replay_result){.fault = {""}};
    *p = (replay){.def = def,
                  .result = result,
                  .reel = {.bytes = bytes, .size = size, .fault = &result->fault}};
    read_head(p);
    if (p->reel.state == REEL_GOOD) {
        (void)rollback_begin(p);
    }
}

bool replay_step(replay *p)
{
    reel *const r = &p->reel;

    if (!goes_on(p)) {
        return false;
    }
    reel_next(r);
    p->op = (uint32_t)reel_number(r, 1);
    if (!replay_call(p, p->op)) {
        reel_blame(r, "no record begins with %u", p->op);
    }
    if (p->op == ESPL_TAPE_FRAME && !p->is_dry) {
        rollback_frame(p);
    }
    return true;
}

bool replay_peek(replay *p)
{
    p->is_dry = true;
    const bool is_there = replay_step(p);

    p->is_dry = false;
    return is_there;
}

void replay_back(replay *p)
{
    reel *const r = &p->reel;

    r->at = r->record;
    r->state = r->state == REEL_SHORT ? REEL_GOOD : r->state;
}

replay_verdict replay_end(replay *p)
{
    reel *const r = &p->reel;

    reel_next(r);
    if (r->state != REEL_BAD && !espl_validate(p->world, NULL)) {
        reel_blame(r, "the world is broken where the tape ends");
        p->is_disagreed = true;
        p->result->is_broken = true;
    }
    espl_history_destroy(p->history);
    rollback_end(p);
    espl_world_destroy(p->world);
    p->world = NULL;
    p->result->is_cut = r->state == REEL_SHORT;
    if (r->state != REEL_BAD) {
        return REPLAY_AGREED;
    }
    return p->is_disagreed ? REPLAY_DISAGREED : REPLAY_BAD;
}

replay_verdict replay_run(const replay_def *def, const unsigned char *bytes, size_t size,
                          replay_result *result)
{
    replay p;

    replay_begin(&p, def, bytes, size, result);
    while (replay_step(&p)) {
    }
    return replay_end(&p);
}
