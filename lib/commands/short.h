// SPDX-License-Identifier: MIT
// The short way through plan and patch, for the groups that most are: copies of trees that nobody
// writes to come in below nodes of one hierarchy, and whole subtrees of it go. No such command
// depends on another one, and no world of those that stay changes: nothing needs a sketch.
#ifndef ESPALIER_LIB_COMMANDS_SHORT_H
#define ESPALIER_LIB_COMMANDS_SHORT_H

#include "lib/commands/playback.h"

/// Draw up the recipes of all sources that commands name. Before the plan. @return false: no memory.
bool espl__recipes_list(espl__playback *playback);
/// Take the marks of the recipes back.
void espl__recipes_forget(espl__playback *playback);

/// Tell by its commands whether a group may go the short way.
bool espl__short_suits(const espl__playback *playback, const espl__group *group);
/// Plan a group. @return false where it has to go the long way after all; nothing is changed then.
bool espl__short_plan(const espl__playback *playback, espl__group *group);
/// List the entities that go. @param out  [group->dead]
void espl__short_removals(const espl__playback *playback, const espl__group *group, uint32_t *out);
/// Ask for the memory of groups behind one at hand, which stand far apart in the forest.
void espl__short_look_ahead(const espl__playback *playback, size_t group);
/// Patch a group that was planned so. Cannot fail.
void espl__short_patch(espl__playback *playback, const espl__group *group);

/// The recipe by which a command of such a group makes its clone.
const espl__recipe_card *espl__short_recipe(const espl__playback *playback,
                                            const espl__entry *entry);

#endif
