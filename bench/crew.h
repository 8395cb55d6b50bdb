// SPDX-License-Identifier: MIT
// Threads that stay between frames, for schemes that have none of their own. They look for the next
// run for some microseconds, as within a frame one follows upon the other, and then sleep.
#ifndef ESPALIER_BENCH_CREW_H
#define ESPALIER_BENCH_CREW_H

#include <stddef.h>

/// Threads, and the run they are in.
struct crew;

/// Part of a run: the items [begin, end). Parts may run at the same time.
typedef void (*crew_part)(void *context, size_t begin, size_t end);

/// Return the most workers a crew may have.
unsigned crew_limit(void);

/// Return a crew of so many workers, the caller of its runs among them; NULL for one worker. Ends
/// the program where threads cannot be had.
struct crew *crew_create(unsigned workers);
void crew_destroy(struct crew *crew);

/// Carry out a function on [0, count), in parts of so many items that whoever is free takes next.
/// When it returns all is done. A crew of NULL: one call for all of it.
void crew_run(struct crew *crew, crew_part function, void *context, size_t count, size_t part);

#endif
