// SPDX-License-Identifier: MIT
// The short way through plan and patch, of the groups that most are: copies of sources come below
// nodes of one hierarchy, and whole subtrees of it go; a copy comes by itself; a hierarchy goes as a
// whole. No such command depends on another one, so that nobody has to carry them out one by one on a
// sketch. A group that meets anything else goes the long way.
#ifndef ESPALIER_LIB_COMMANDS_SHORT_H
#define ESPALIER_LIB_COMMANDS_SHORT_H

#include "lib/commands/playback.h"

#include <math.h>

/// The slot of an operand to be asked for: where it is not alive the first one, which costs nothing.
/// Without a branch: which is which nobody can guess.
static inline uint32_t espl__operand_slot(const espl__operand *operand)
{
    return operand->number & (0u - (uint32_t)espl__operand_is_living(operand));
}

static inline bool espl__entry_has_parent(const espl__entry *entry)
{
    return espl__operand_is_known(&entry->parent);
}

// --- recipes.c ---

/// Draw up how to copy each source that a command names. @return false where there is no memory.
bool espl__recipes_list(espl__playback *playback);
/// Take the marks of the sources back.
void espl__recipes_forget(espl__playback *playback);

/// Tell whether a command makes a copy by recipe.
static inline bool espl__entry_is_plain_copy(const espl__entry *entry)
{
    return (entry->traits & ESPL__TRAIT_PLAIN_COPY) != 0;
}

/// How a command's source is copied; it makes a plain copy.
static inline const espl__recipe_card *espl__short_recipe(const espl__playback *playback,
                                                          const espl__entry *entry)
{
    ESPL_CHECK(entry->recipe != 0);
    return &playback->recipes[entry->recipe];
}

/// Role of the first node of a copy that was planned so.
static inline espl_component espl__short_top_role(const espl__entry *entry)
{
    return espl__entry_has_parent(entry) ? ESPL_MEMBER
           : entry->clone_count > 1      ? ESPL_ROOT
                                         : ESPL_SOLO;
}

/// The world of the first node of a copy.
static inline espl_pose espl__short_top_world(const espl__playback *playback,
                                              const espl__entry *entry)
{
    const espl_pose local = espl__pose_of(espl__entry_transform(playback, entry));
    espl_pose world = local;

    if (espl__entry_has_parent(entry)) {
        espl__pose_compose_to(&world, &playback->forest->world[entry->parent.number], NULL, &local);
    }
    return world;
}

static inline bool espl__pose_is_small(const espl_pose *pose)
{
    return espl__is_small(pose->position, pose->scale);
}

// --- short.c ---

/// Groups that one job takes at least.
enum { ESPL__SHORT_GRAIN = 128 };

/// Give all groups that may go the short way room for their steps. @return false where there is no
/// memory.
bool espl__short_make_room(espl__playback *playback);
/// Plan those of groups [begin, end) that can go the short way; sets is_short. An
/// espl__range_function.
void espl__short_plan(void *playback, size_t begin, size_t end);

// --- short_patch.c ---

/// List the entities that go by those of groups [begin, end) that were planned so, each command's
/// breadth-first.
void espl__short_removals(const espl__playback *playback, size_t begin, size_t end);
/// Give a group whose copy comes by itself its run and its slots; reserved.
void espl__short_hand_out(espl__playback *playback, espl__group *group);
/// Give a group whose run goes to another range that range; reserved. The one it has is noted, to be
/// given back.
void espl__short_resettle(espl__playback *playback, uint32_t number, espl__resettled *out);
/// Write the links of those of groups [begin, end) that were planned so. Cannot fail. An
/// espl__range_function.
void espl__short_patch(void *playback, size_t begin, size_t end);

// --- short_place.c ---

/// Commands that one job takes at least.
enum { ESPL__PLACE_GRAIN = 256 };

/// Write what the slots hold that copies by those of commands [begin, end) got, which go the short
/// way and whose groups are patched. Cannot fail, and may be done again. An espl__range_function.
void espl__short_place(void *playback, size_t begin, size_t end);

#endif
