// SPDX-License-Identifier: MIT
// Several schemes over the same work, alternating, and the account of it: medians, result lines,
// CSV, ratios, and whether the checksums agree.
#ifndef ESPALIER_BENCH_CONTEST_H
#define ESPALIER_BENCH_CONTEST_H

#include "bench/samples.h"
#include "bench/schemes/scheme.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/// Part of a frame that a scheme tells apart, over all timed frames of the case at hand.
struct contest_part {
    const char *name;
    struct samples samples;
};

/// A scheme with a number of workers, and what it did in the case at hand.
struct contestant {
    const struct scheme *scheme;
    unsigned workers;
    bool is_second;                               ///< Plays only loads that make work for threads.
    bool plays;                                   ///< In the case at hand.
    struct scheme_world *world;                   ///< NULL between cases.
    struct samples samples;                       ///< Of each timed frame.
    struct contest_part parts[SCHEME_PART_LIMIT]; ///< [part_count]
    size_t part_count;
    unsigned frame;    ///< Frames played in the case at hand.
    uint64_t readings; ///< Checksum of what was read in passing, begun anew in each case.
};

/// Bytes of a unit's name, with the zero at its end.
#define CONTEST_UNIT_SIZE 32

/// A figure of one contestant.
struct contest_result {
    const struct contestant *who;
    const char *load;
    const char *shape;
    char unit[CONTEST_UNIT_SIZE];
    double figure;
    uint64_t checksum;
};

struct contest {
    struct contestant *contestants; ///< [count]
    size_t count;
    struct contest_result *results; ///< [result_count]
    size_t result_count, result_capacity;
    const char *load;  ///< Of the case at hand.
    const char *shape; ///< Of the case at hand.
    FILE *csv;         ///< NULL: none.
};

/// Print the heading of the lines; begin the CSV, if there is one.
void contest_open(struct contest *contest);
/// Print the ratios to the other schemes, what schemes gain by more workers, here and in the CSV,
/// and whether the checksums agree.
/// @return whether they do.
bool contest_close(struct contest *contest);

/// Begin a case: nobody plays yet, samples and readings are empty.
void contest_begin(struct contest *contest, const char *load, const char *shape);
/// End a case: worlds are destroyed.
void contest_end(struct contest *contest);
/// Build the world of everyone who plays from the same forest.
void contest_build(struct contest *contest, const struct forest *forest);
/// The same with copies of the forest's one tree, each root with a local of its own.
/// @param root_locals  [copies]
void contest_build_copies(struct contest *contest, const struct forest *tree,
                          const struct pose *root_locals, size_t copies);

/// Draw the locals of a prefab.
void contest_draw_prefab(struct pose locals[PREFAB_SIZE], uint64_t seed);
/// Draw them, and make the prefab in every world that plays.
void contest_make_prefab(const struct contest *contest, uint64_t seed);

/// How often a case's frame is played. Schemes take turns; in a turn the first frames warm the
/// caches that the others have swept, and are not timed.
struct contest_plan {
    unsigned lead_in; ///< Frames of everyone before the first turn, not timed.
    unsigned turns;
    unsigned warm;  ///< Frames at the begin of a turn, not timed.
    unsigned timed; ///< Frames of a turn behind them.
};

/// What a frame is. Frames of one number are the same for everyone: who->frame counts from 0.
struct contest_steps {
    void (*prepare)(void *load, struct contestant *who); ///< Not timed: make the frame's input.
    void (*play)(void *load, struct contestant *who);    ///< Timed.
    void (*settle)(void *load, struct contestant *who);  ///< Not timed; NULL: nothing to do.
};

/// Return the frames that a plan plays with each contestant.
unsigned contest_frames(const struct contest_plan *plan);
/// Play them.
void contest_alternate(struct contest *contest, const struct contest_plan *plan,
                       const struct contest_steps *steps, void *load);

/// Return a contest of the same contestants, with worlds, samples and frame numbers of its own. A
/// load plays the work that it compares with there; the results of the copy are not reported.
struct contest contest_copy(const struct contest *contest);
/// Destroy a copy and its worlds.
void contest_copy_end(struct contest *copy);
/// A contest or a copy of it, and its load.
struct contest_side {
    struct contest *contest;
    void *load;
};

/// Play the same plan and steps in a contest and its copies, turn by turn, in the order given.
void contest_alternate_sides(const struct contest_side *sides, size_t count,
                             const struct contest_plan *plan, const struct contest_steps *steps);
/// The same in a contest and one copy, which begins.
void contest_alternate_two(struct contest *contest, void *load, struct contest *copy,
                           void *copy_load, const struct contest_plan *plan,
                           const struct contest_steps *steps);
/// Report the median of a contestant divided by its median in the copy.
void contest_report_quotient(struct contest *contest, const struct contest *copy,
                             const struct contestant *who, const char *unit, uint64_t checksum);

/// Return the checksum of the readings, if any, and of the worlds of the forest's nodes.
uint64_t contest_checksum(const struct contestant *who, size_t nodes);
/// Print a result line and keep it for the ratios and the comparison.
void contest_report(struct contest *contest, const struct contestant *who, double figure,
                    const char *unit, uint64_t checksum);
/// Report the median of each part that a contestant tells apart, divided by a number of things
/// done in each frame. A part is called by the unit and its name; one that took no time was not
/// measured, and is left out.
void contest_report_parts(struct contest *contest, const struct contestant *who, size_t things,
                          const char *unit, uint64_t checksum);
/// Report everyone's median, and those of parts, divided by a number of things done in each frame.
void contest_report_medians(struct contest *contest, size_t things, const char *unit, size_t nodes);
/// Return the median of a part; 0 where it was not measured.
double contest_part_median(const struct contestant *who, const char *name);
/// Report the median of a part divided by that of another one, of everyone who tells both.
void contest_report_quotient_of_parts(struct contest *contest, const char *part,
                                      const char *divisor, size_t nodes);
/// Report how much longer a part takes than in the copy, divided by another part, under a name of its own.
void contest_report_excess_of_part(struct contest *contest, const struct contest *copy,
                                   const char *part, const char *divisor, const char *unit,
                                   size_t nodes);
/// Report the share of a part in the whole, of everyone who tells it: the quotient of the medians.
void contest_report_share(struct contest *contest, const char *part, size_t nodes);

#endif
