// SPDX-License-Identifier: MIT
// A load: work of one kind over several shapes, which every scheme that can do it is measured by.
#ifndef ESPALIER_BENCH_LOAD_H
#define ESPALIER_BENCH_LOAD_H

#include "bench/contest.h"

/// A shape, and how much is done to it in a frame.
struct load_case {
    const char *name; ///< As --shape and the result lines have it.
    struct forest_shape shape;
    uint32_t amount; ///< Writes, pairs, prefabs, moves or reads of a frame, or a node, as the load
                     ///< says.
    bool is_short;   ///< Part of the short course.
};

struct load {
    const char *name;
    const char *summary;           ///< One line for --list.
    const struct load_case *cases; ///< [case_count]
    size_t case_count;
    /// Tell whether a scheme has what the load calls, and can afford the case.
    bool (*is_for)(const struct scheme *scheme, const struct load_case *at);
    /// Measure everyone who plays, between contest_begin() and contest_end(), and report.
    void (*run)(struct contest *contest, const struct load_case *at);
    bool is_threaded; ///< Makes work for threads: where nobody names workers, for one and two.
};

extern const struct load load_aged;
extern const struct load load_animate;
extern const struct load load_battle;
extern const struct load load_bevy;
extern const struct load load_build;
extern const struct load load_cull;
extern const struct load load_deltas;
extern const struct load load_every;
extern const struct load load_far;
extern const struct load load_follow;
extern const struct load load_full;
extern const struct load load_giant;
extern const struct load load_history;
extern const struct load load_idle;
extern const struct load load_memory;
extern const struct load load_midframe;
extern const struct load load_mixed;
extern const struct load load_motion;
extern const struct load load_publish;
extern const struct load load_readers;
extern const struct load load_reparent;
extern const struct load load_roots;
extern const struct load load_scaling;
extern const struct load load_sparse;
extern const struct load load_spawn;
extern const struct load load_update;
extern const struct load load_values;
extern const struct load load_ways;
extern const struct load load_watch;
extern const struct load load_wide;

#define CASE_COUNT(cases) (sizeof(cases) / sizeof((cases)[0]))

#endif
