// SPDX-License-Identifier: MIT
// What a load gives the store that it makes besides rows and names: originals, and the tag of the world.
#ifndef ESPALIER_LIB_VALUE_IMAGE_PARTS_H
#define ESPALIER_LIB_VALUE_IMAGE_PARTS_H

#include "lib/value/image.h"

/// Link the entities of an image and their originals. An original of the world itself, which the image could
/// have because its world had another tag, is none.
/// @param bytes  the table of originals, of any alignment.
/// @param rule   out: the rule that is broken; NULL: there is no memory.
/// @return false: refused.
bool espl__image_link(espl__store *store, const espl__image_head *head, const unsigned char *bytes,
                      const char **rule);
/// Give handles of the world of an image the tag of the store: those of rows, records and references.
/// @param from  the tag that they have.
void espl__image_retag(const espl__store *store, uint32_t from);

#endif
