// SPDX-License-Identifier: MIT
#include "tools/rollback.h"

#include "tools/replay.h"

#include <stdlib.h>

enum { BYTE_LIMIT = 1 << 28 };

bool rollback_is_again(const replay *p)
{
    return p->rollback.again != 0;
}

// Mark a frame, and note where its records end.
static void mark(replay *p)
{
    tool_rollback *const r = &p->rollback;
    const uint64_t frame = p->result->frames;
    const espl_status status = espl_history_mark(r->history, frame);

    r->ends[frame % (r->frames + 1)] = p->reel.at;
    if (espl_failed(status)) {
        reel_blame(&p->reel, "frame %llu cannot be marked: %s", (unsigned long long)frame,
                   espl_status_name(status));
    }
}

bool rollback_begin(replay *p)
{
    tool_rollback *const r = &p->rollback;
    const uint32_t frames = p->def->rollback;
    const espl_history_def def = {.frames = frames + 1, .byte_limit = BYTE_LIMIT};

    if (frames == 0) {
        return true;
    }
    r->ends = calloc(frames + 1, sizeof *r->ends);
    if (r->ends == NULL || espl_failed(espl_history_create(p->world, &def, &r->history))) {
        reel_blame(&p->reel, "no memory for a history of %u frames", frames);
        return false;
    }
    r->frames = frames;
    mark(p);
    return true;
}

// Go back as many frames as are asked for. Where a call has emptied the history since, nothing is done.
static void go_back(replay *p)
{
    tool_rollback *const r = &p->rollback;
    const uint64_t now = p->result->frames, then = now - r->frames;
    const espl_status status = espl_history_rewind(r->history, then, 0, NULL);

    if (status == ESPL_ERR_TOO_OLD) {
        return;
    }
    if (espl_failed(status)) {
        reel_blame(&p->reel, "frame %llu is not gone back to: %s", (unsigned long long)then,
                   espl_status_name(status));
        return;
    }
    r->again = now;
    p->result->frames = then;
    p->result->rollbacks += 1;
    p->reel.at = r->ends[then % (r->frames + 1)];
}

void rollback_frame(replay *p)
{
    tool_rollback *const r = &p->rollback;

    if (r->history == NULL || p->reel.state != REEL_GOOD) {
        return;
    }
    mark(p);
    if (r->again != 0) {
        r->again = p->result->frames < r->again ? r->again : 0;
    } else if (p->result->frames >= r->frames) {
        go_back(p);
    }
}

void rollback_end(replay *p)
{
    espl_history_destroy(p->rollback.history);
    free(p->rollback.ends);
    p->rollback = (tool_rollback){0};
}
