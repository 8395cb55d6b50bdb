// SPDX-License-Identifier: MIT
// The only access of the contract suites to the library: state that a test must set or see and that
// no public call offers. inside.c is the only file of the contract that includes a header of lib/,
// so a change of the structures inside the library changes inside.c alone. No result that a user
// can observe depends on these functions.
#ifndef ESPALIER_TESTS_INSIDE_H
#define ESPALIER_TESTS_INSIDE_H

#include <espalier/commands.h>
#include <espalier/watch.h>

/// Divide work among workers into jobs of about `cost` nodes, so that small worlds have several jobs.
void test_cut_jobs(espl_world *world, uint32_t cost);

/// Free the scratch memory that calls and playbacks keep, so that the next one allocates anew.
void test_free_scratch(espl_world *world);

/// Scratch memory that test_play_in() can offer at most, in bytes, and the step in which it makes sense to
/// offer more.
enum { TEST_SCRATCH_LIMIT = 1 << 20, TEST_SCRATCH_STEP = 64 };

/// espl_play() with `room` bytes of scratch memory and no more, at most TEST_SCRATCH_LIMIT. A block of
/// scratch holds many pieces, so an allocator that fails at its n-th call alone would meet few of them.
/// The allocator of the world is a test_heap. @param report  NULL, or the account.
espl_status test_play_in(espl_world *world, espl_command_buffer *commands, size_t room,
                         espl_report *report);

/// Tell whether large blocks of a world with the default allocator are laid out in huge pages.
bool test_uses_huge_pages(const espl_world *world);

/// Tell whether a commit is under way: a change that cannot fail any more, during which the library must
/// not allocate.
bool test_is_in_commit(const espl_world *world);
/// Count the commits since the world was made.
uint64_t test_count_commits(const espl_world *world);
/// Allocate as the library does, which aborts in a commit. The memory is lost.
void test_allocate_inside(espl_world *world);

/// Tell whether the ranks of an entity's tree are its breadth-first order without gaps, as they are where
/// the library laid the tree out and nothing has changed since.
bool test_is_laid_out(const espl_world *world, espl_entity entity);
/// Tell whether an entity's tree owes a layout that the next structural call does.
bool test_owes_layout(const espl_world *world, espl_entity entity);
/// Count the nodes that changes of structure moved in memory or renumbered since the world was made, those
/// that only changed links left out.
uint64_t test_count_moved_nodes(const espl_world *world);

/// Let a world have made so many parallel writes that `left` more rows use up the numbers that tell them
/// apart.
void test_wear_marks(espl_world *world, uint32_t left);

/// Let a world have made so many iterations that in each entry for one `left` more use up its numbers.
void test_wear_iterations(espl_world *world, uint32_t left);
/// Let a world have so many iterations under way that were forgotten, with none in an entry.
void test_forget_iterations(espl_world *world, uint32_t count);

/// Let a world have given so many numbers to custom commands that `left` more use them up.
void test_wear_commands(espl_world *world, uint32_t left);

/// Return how many slots the last collect of a watch compared, in all planes together.
size_t test_scanned_slots(const espl_watch *watch);
/// Set the moment of a world that has no watch yet.
void test_set_moment(espl_world *world, uint64_t moment);

/// Age an index that no entity has now, so that `left` more entities can live at it, at least one.
void test_age_index(espl_world *world, uint32_t index, uint32_t left);
/// Count the indices that the world has handed out since it was made or trimmed.
size_t test_count_indices(const espl_world *world);

#endif
