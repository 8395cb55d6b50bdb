// SPDX-License-Identifier: MIT
// Inside of the load `cull`: its cameras, and what its shapes share.
#ifndef ESPALIER_BENCH_CULL_H
#define ESPALIER_BENCH_CULL_H

#include "bench/loads/load.h"

enum { CULL_CAMERAS = 4 };

/// Cameras, and what they see in the frame at hand.
struct cull_state {
    struct scheme_camera cameras[CULL_CAMERAS];
    size_t camera_count;
    struct scheme_sight sights[CULL_CAMERAS];
};

/// Make the cameras of a shape, with room for what they see.
/// @param name   of the shape.
/// @param sides  half the edge of the cube that the roots are in.
struct cull_state cull_begin(const char *name, double sides, size_t nodes);
void cull_end(const struct cull_state *state);

/// Give each node a look, in every world that plays: boxes and keys are drawn from one seed.
void cull_furnish(const struct contest *contest, size_t nodes, uint32_t keys);
/// A frame is what the cameras of a struct cull_state see. Frame 0 goes into the checksum.
extern const struct contest_steps cull_steps;
struct contest_plan cull_plan(size_t nodes);
/// Report the medians.
/// @param other     the same frames in another way; NULL: none.
/// @param quotient  name of the quotient of the medians by those of the other ones.
void cull_report(struct contest *contest, const struct contest *other, const char *quotient,
                 size_t nodes);

/// Measure and report a shape of which the world moved before.
void cull_run_aged(struct contest *contest, const struct load_case *at);

#endif
