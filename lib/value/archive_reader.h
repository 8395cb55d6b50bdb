// SPDX-License-Identifier: MIT
// An archive that becomes entities of a world, in steps. A read creates all of them. An apply does something
// between the steps: see archive_apply.c.
#ifndef ESPALIER_LIB_VALUE_ARCHIVE_READER_H
#define ESPALIER_LIB_VALUE_ARCHIVE_READER_H

#include "lib/value/archive_read.h"

/// The memory of a name that no entity has yet.
typedef struct espl__prepared_name {
    espl__name *name;
} espl__prepared_name;

/// An archive that becomes entities.
typedef struct espl__reader {
    espl_world *world;
    const espl_archive_read_def *def;
    espl__parse parse;
    espl__node_walk walk;       // of the build
    espl__built_set *sets;      // stb array, as those of the archive
    espl_component *components; // stb array: of the sets, in the world
    espl_entity *entities;      // stb array: by number
    espl__prepared_name *names; // stb array: of the nodes that have one, in their order
    uint32_t parent;            // slot, or ESPL__NO_SLOT
    bool is_converted;          // a migration has a function
    bool is_in_place;           // the entities are there, and have their nodes and rows
    bool has_overflowed;        // a world that was computed is not finite
    const char *blamed; // [blamed_size] the name of the component for which it is refused, or NULL
    size_t blamed_size;
} espl__reader;

#define READER_RESERVE(r, array, more) \
    ESPL_ARRAY_RESERVE(&(r)->world->heap, ESPL__FOR_COMMANDS, (r)->array, (more))

/// Check the arguments that a read and an apply have in common, and log what is wrong.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT, ESPL_ERR_UNSUPPORTED.
espl_status espl__reader_check(const espl__reader *r, const char *call);
/// Check the world and the bytes, find the components, and make the values of migrations.
/// @return ESPL_OK; why the call is refused. espl__reader_end() follows in any case.
espl_status espl__reader_begin(espl__reader *r);
/// Take the memory of the entities. Unless `is_in_place`, create them, without values, names and references.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY,
/// ESPL_ERR_LIMIT: the world is as it was.
espl_status espl__reader_build(espl__reader *r);
/// Give each entity that `entities` names now its values, references and name. Precondition: it has the set of
/// components that its node has in the archive. Cannot fail.
void espl__reader_fill(espl__reader *r);
/// Free all memory. @param status  of the call. @return it, or ESPL_OVERFLOW.
espl_status espl__reader_end(espl__reader *r, espl_status status);
/// Log why a call is refused. @return the status.
espl_status espl__reader_tell(const espl__reader *r, const char *call, espl_status status);

#endif
