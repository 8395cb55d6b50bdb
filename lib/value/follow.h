// SPDX-License-Identifier: MIT
// What follows a world: one shadow, which its history and the frames of its tape share. It begins with the
// first that needs it, and ends with the last. A frame of a tape needs it as long as there is a world.
#ifndef ESPALIER_LIB_VALUE_FOLLOW_H
#define ESPALIER_LIB_VALUE_FOLLOW_H

#include "lib/value/shadow.h"

/// The follower of a world (espl__follower). Where shadow.log is not NULL, there is a history.
typedef struct espl__following {
    espl_world *world;
    espl__shadow shadow;
    espl__names *names;   // of the store to which the names belong that shadow and log hold
    size_t history_bytes; // that a history takes beside the shadow
    bool has_frames;      // the tape has a frame with the checksum of the shadow
} espl__following;

/// Begin to follow a world, or return what follows it. The shadow of a world with a tape has a checksum from
/// the begin, so that each mark of a history has the checksum that a frame needs after a rewind to it.
/// @param has_checksum  whether it has one otherwise; not read where the world is followed.
/// @return NULL: no memory, nothing changed.
espl__following *espl__follow(espl_world *world, bool has_checksum);
/// Stop to follow, unless a history or the tape needs it.
void espl__unfollow(espl__following *following);
/// Drop all frames of the log, and the blocks that were kept for them. The shadow stays as it is. No effect
/// without a history.
void espl__follow_drop_frames(const espl__following *following);

#endif
