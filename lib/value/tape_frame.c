// SPDX-License-Identifier: MIT
// The end of a frame on the tape: the checksum of what follows the world, which costs what changed since the
// last frame.
#include "lib/value/follow.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

// Find the checksum of the world. What changed so far since the newest frame of a history is in its log from
// now on, as after a mark. @return false: memory ran out, now or before. A call that is done without memory
// leaves nodes and rows elsewhere than the same call with it, so that a replay has nothing to compare with.
static bool find_checksum(espl_world *world, uint64_t *out)
{
    espl__heap *const heap = &world->heap;
    espl__following *const following =
        espl__heap_has_lacked(heap) ? NULL : espl__follow(world, true);

    if (following == NULL) {
        return false;
    }
    following->has_frames = true;
    espl__heap_forbid(heap);
    espl__shadow_update(&following->shadow);
    espl__heap_allow(heap);
    if (following->shadow.log != NULL && following->shadow.log->is_over) {
        espl__follow_drop_frames(following);
    }
    *out = following->shadow.checksum;
    return true;
}

// The number is found before the record begins, because the record would be incomplete until then.
static void put_frame(espl_world *world)
{
    uint64_t number = 0;
    const bool is_checksum = find_checksum(world, &number);

    if (!is_checksum) {
        const espl_status status = espl_hash(world, ESPL_HASH_LOGICAL, &number);

        ESPL_CHECK(status == ESPL_OK);
    }
    espl__tape_begin(world, ESPL_TAPE_FRAME);
    espl__tape_u32(world, is_checksum ? 0 : 1);
    espl__tape_u64(world, number);
}

espl_status espl_tape_frame(espl_world *world)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_tape_frame")
    const espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && espl__is_taped(world)) {
        put_frame(world);
        (void)espl__tape_close(world, status);
    }
    return espl__refuse_call(world, "espl_tape_frame", status, NULL);
}
