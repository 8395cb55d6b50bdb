// SPDX-License-Identifier: MIT
/// @file
/// Text for people: names of entities, paths of names, and an entity as text.
///
/// Names are optional. An entity without one takes no memory for it, and neither the library nor a
/// query needs names: they are for logs, editors, and code that looks up a part of a loaded scene.
///
/// Thread rule: as for the world. Setting a name changes the world; everything else only reads.
/// Statuses of handles, in every call: ESPL_ERR_NULL_ENTITY, ESPL_ERR_DEAD, ESPL_ERR_FOREIGN,
/// ESPL_ERR_PENDING.
#ifndef ESPALIER_NAMES_H
#define ESPALIER_NAMES_H

#include <espalier/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Longest name, in bytes without the terminator.
#define ESPL_NAME_LIMIT 255

/// Give an entity a name, in place of the one that it has.
///
/// Several entities may have the same name. Destroying an entity removes its name, and clones have
/// the names of their sources. It is part of the logical hash (espl_hash()). Not structural: allowed
/// during iteration and in a custom command, but not while jobs run.
/// @param name  1 to ESPL_NAME_LIMIT bytes, copied; any but control characters (below 0x20, and 0x7f)
///              and '/', which separates the names of a path. Names of components and custom
///              commands have the same bytes, so that no name breaks a line of a log. UTF-8 is meant
///              and not checked. NULL or "": take the name away, which needs no memory.
/// @return ESPL_OK; ESPL_ERR_LIMIT (too long); ESPL_ERR_ARGUMENT (a byte that is not allowed);
///         ESPL_ERR_NO_MEMORY; ESPL_ERR_BUSY (during playback and in a parallel write); the handle's
///         statuses. The name stays as it was then.
ESPL_API ESPL_NODISCARD espl_status espl_set_name(espl_world *world, espl_entity entity,
                                                  const char *name);

/// Return the name of an entity, never NULL: "" for one without a name, and for a handle that names
/// no living entity. It is valid until the name is set again or removed, or the entity or the world
/// is destroyed. Other changes of the world do not move it.
ESPL_API const char *espl_get_name(const espl_world *world, espl_entity entity);

/// Find an entity below another one, or anywhere, by its name, or by a path of names from parent to
/// child.
///
/// "hand" finds an entity of that name at any depth below `top`; "arm/hand" one whose parent has the
/// name "arm". With a '/' in front the first name is that of a child of `top`. If several match, the
/// result is the first in depth-first order, the order of espl_subtree_next(). Neither `top` nor its
/// ancestors match.
///
/// With the null entity for `top` the whole world is searched, as if all roots and solos were children
/// of one top, in ascending order of espl_entity.index: "robot" finds a root of that name or an entity
/// below one, "/robot" a root or solo alone, and "/robot/arm" a child of it.
/// @param top   null: the whole world.
/// @param path  Names with a '/' between them.
/// @param out   the entity; null where there is none; unchanged when refused.
/// @return ESPL_OK, found or not; ESPL_ERR_ARGUMENT (NULL, or a name of the path is empty); the
///         handle's statuses, but for ESPL_ERR_NULL_ENTITY. O(descendants of top), or O(entities).
ESPL_API ESPL_NODISCARD espl_status espl_find_descendant(const espl_world *world, espl_entity top,
                                                         const char *path, espl_entity *out);

/// Write the names of an entity's ancestors and its own, from the root on: "root/arm/hand".
///
/// An entity without a name is written as its handle, "12.16777217", as in messages.
/// @param buffer  [size] out: the path, or as much of it as fits, terminated; NULL only with a size
///                of 0.
/// @return bytes of the whole path without the terminator, as snprintf() does: it was cut where that
///         is not less than `size`. 0, and "", for a handle that names no living entity. O(depth).
ESPL_API size_t espl_get_path(const espl_world *world, espl_entity entity, char *buffer,
                              size_t size);

/// Bytes of a component that espl_dump() writes out at most.
#define ESPL_DUMP_BYTES 64

/// Write what can be read of one entity as lines of text, for logs and debuggers: its handle, name, role,
/// parent and number of children; its original; the cell of its hierarchy, in a world with cells; inherit flags;
/// local and world transform; its other components by number and name, with their size and their first
/// ESPL_DUMP_BYTES bytes in hexadecimal.
///
/// Each line ends with a newline. The same entity gives the same text on every machine and in every
/// locale, except that bytes of components are in the machine's byte order. The text may change with
/// the version of the library: programs must not parse it.
/// @param buffer  [size] out: the text, or as much of it as fits, terminated; NULL only with a size
///                of 0.
/// @return bytes of the whole text without the terminator, as espl_get_path(). A handle that names no
///         living entity gives one line which says so. O(children + bytes written).
ESPL_API size_t espl_dump(const espl_world *world, espl_entity entity, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
