// SPDX-License-Identifier: MIT
/// @file
/// Archives: hierarchies as bytes that any build on any machine reads, with a version and checksums.
///
/// An archive has what can be read of its entities: hierarchies with the order of siblings, locals bit for
/// bit, the parts that inherit flags keep, names, and components by name. The same hierarchies give the same
/// bytes, whatever their handles and the world that they are in. Entities that are read get new handles. A
/// whole world with its handles is an image (espalier/image.h).
///
/// An entity reference in a component names a node of the archive by its number; one that names any other
/// entity is null in the archive. espalier_archive_format(5) has each byte.
///
/// Thread rule: writing is reading the world. Reading an archive is a change of the world, and structural.
#ifndef ESPALIER_ARCHIVE_H
#define ESPALIER_ARCHIVE_H

#include <espalier/store.h>
#include <espalier/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where bytes go. Never grows.
typedef struct espl_sink {
    /// Passed to the function.
    void *user;
    /// Take the next bytes: append them to a file, for example. Called from the thread of the call; must not
    /// call the library. @return false: it cannot take them, and the call ends with ESPL_ERR_SINK.
    bool (*write)(void *user, const void *bytes, size_t size);
} espl_sink;

enum {
    /// Of espl_archive_def: the archive has the handle of each entity, for a program that has more data by
    /// handle.
    ESPL_ARCHIVE_HANDLES = 1,
    /// Of espl_archive_read_def: components that are not registered in the world are left out, instead of
    /// refusing the archive.
    ESPL_ARCHIVE_SKIP_UNKNOWN = 2,
};

/// What to write. {0}: each root and solo with all that is below it, in the order of their indices. Grows
/// into `reserved`.
typedef struct espl_archive_def {
    /// [top_count] the entities that become roots of the archive, in this order. No entity may come twice,
    /// as one that is below another one would. NULL: all roots and solos, and then the extent is not read.
    /// A member becomes a root at its world transform, without inherit flags.
    const espl_entity *tops;
    size_t top_count;
    espl_extent extent; ///< Which entities below each top.
    uint32_t flags;     ///< ESPL_ARCHIVE_HANDLES or 0.
    const void *user;   ///< [user_size] bytes of the program, which espl_archive_inspect() returns.
    size_t user_size;
    /// Not 0: local positions are rounded to multiples of this length, above 0 and finite, so that deltas are
    /// smaller. A position of more than 2^30 steps is not rounded, nor one whose nearest multiple is beyond the
    /// largest float.
    float position_step;
    /// Not 0: local rotations are rounded to so many bits, 2 to 24: the components but for the largest are
    /// multiples of 2^(1 - rotation_bits), and the largest one is computed from them.
    uint32_t rotation_bits;
    uintptr_t reserved[6]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_archive_def;

/// Write an archive. Takes memory for the list of entities, and gives it back.
///
/// @param def  NULL means {0}.
/// @param sink  its function gets the bytes in order; read during the call alone.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL, unknown flags, an extent that does not exist, a step or a number
///         of bits out of its range, an entity that comes twice); ESPL_ERR_NOT_FINITE (the world transform that
///         a member gets is not finite);
///         ESPL_ERR_LIMIT (2^31 entities); ESPL_ERR_NO_MEMORY; ESPL_ERR_SINK; ESPL_ERR_BUSY while commands are
///         applied, and in a parallel write; the statuses of handles. Before ESPL_ERR_SINK the sink may have got bytes,
///         with any other refusal it got none. O(entities and their bytes).
ESPL_API ESPL_NODISCARD espl_status espl_archive_write(const espl_world *world,
                                                       const espl_archive_def *def,
                                                       const espl_sink *sink);

/// What the head of an archive and its bytes of the program have. Grows into `reserved`.
typedef struct espl_archive_info {
    uint32_t nodes;        ///< Entities.
    uint32_t tops;         ///< Of these: roots.
    uint32_t major, minor; ///< Version of the format.
    uint32_t writer;       ///< Version of the library that wrote it, as espl_version().
    const void *user;      ///< [user_size] bytes of the program, in the archive; NULL: none.
    size_t user_size;
    uintptr_t reserved[6]; ///< 0 (GROWTH in espalier(3)).
} espl_archive_info;

/// Fill an espl_archive_info from an archive, and check the checksums of the archive. No world is needed.
/// @param bytes  [size], at any address.
/// @param out    unchanged when refused.
/// @param fault  out: why the bytes are refused, or no sentence; may be NULL.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL); ESPL_ERR_FORMAT; ESPL_ERR_VERSION (a later format). O(size).
ESPL_API ESPL_NODISCARD espl_status espl_archive_inspect(const void *bytes, size_t size,
                                                         espl_archive_info *out,
                                                         espl_format_fault *fault);

/// A value of a component of another version, for a migration.
typedef struct espl_archive_value {
    const void *
        data; ///< [size] at any address, in this machine's order of bytes. References in it are zeros.
    size_t size; ///< That in the archive; 0 of a tag.
} espl_archive_value;

/// How a component of an archive becomes one of the world. Never grows.
typedef struct espl_archive_migration {
    const char *name;  ///< Of the component in the archive.
    espl_component to; ///< Of the world; 0: it is left out.
    /// Make the value of one entity. NULL: the bytes are copied, and the sizes must be equal.
    ///
    /// The n-th reference of the old component becomes the n-th of the new one after that; what the function
    /// writes there does not count. Called from the thread of the call before anything changes; must not call
    /// the library. Not called where either component is ESPL_COMPONENT_TRANSIENT: values are zeros then.
    /// @param to  [size of the component in the world] zeros; aligned for the component. NULL if that is a tag.
    /// @return false: the value cannot be had, and the archive is refused.
    bool (*convert)(void *user, const espl_archive_value *from, void *to);
    void *user; ///< Passed to the function.
} espl_archive_migration;

/// How to read an archive. {0} is strict. Grows into `reserved`.
typedef struct espl_archive_read_def {
    espl_entity
        parent;     ///< Of the roots of the archive, which keep their locals; null: they are roots.
    uint32_t flags; ///< ESPL_ARCHIVE_SKIP_UNKNOWN or 0.
    /// [migration_count] for components that are registered otherwise here, or with another version or name. Of
    /// several for one name the first counts, and one for a name that the archive lacks has no effect.
    const espl_archive_migration *migrations;
    size_t migration_count;
    size_t node_limit; ///< An archive of more entities is refused; 0: no limit.
    /// NULL, or [capacity] out: the entities in the order of the archive, in which each root comes before
    /// what is below it, breadth-first; unchanged when refused. espl_archive_inspect() counts them.
    espl_entity *entities;
    size_t capacity;
    /// NULL, or [top_capacity] out: the roots of the archive, in their order; unchanged when refused.
    espl_entity *tops;
    size_t top_capacity;
    uintptr_t reserved[6]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_archive_read_def;

/// Read an archive: create its entities. All or nothing. Structural.
///
/// The bytes may come from anywhere: an archive that is damaged is refused.
/// @param bytes  [size], at any address.
/// @param def    NULL means {0}.
/// @param fault  out: why the bytes are refused, or no sentence; may be NULL.
/// @return ESPL_OK; ESPL_OVERFLOW (a world transform is not finite); refused, and the world is as it was:
///         ESPL_ERR_ARGUMENT (NULL, unknown flags, a migration without a name or to an unknown component, an
///         array with less room than is needed); ESPL_ERR_FORMAT; ESPL_ERR_VERSION (a later format; a component
///         that is unknown or registered otherwise, and has no migration; a migration that returned false);
///         ESPL_ERR_LIMIT (more entities than the limit, or than a world has); ESPL_ERR_UNSUPPORTED (migrations
///         in a world with a tape); the parent's statuses, but for ESPL_ERR_NULL_ENTITY; ESPL_ERR_NO_MEMORY;
///         ESPL_ERR_BUSY. O(size), and with a parent now and then O(size of its hierarchy).
ESPL_API ESPL_NODISCARD espl_status espl_archive_read(espl_world *world, const void *bytes,
                                                      size_t size, const espl_archive_read_def *def,
                                                      espl_format_fault *fault);

/// An archive whose entities live in this world, so that another archive finds them. Never grows.
typedef struct espl_archive_known {
    const void *
        bytes; ///< [size] an archive with handles (ESPL_ARCHIVE_HANDLES), perhaps of another world.
    size_t size;
    /// [count] its entities in this world, as the last read or apply returned them.
    const espl_entity *entities;
    size_t count; ///< The number of its nodes.
} espl_archive_known;

/// Apply an archive with handles (ESPL_ARCHIVE_HANDLES): entities that live become what it says, others are
/// created. All or nothing. Structural.
///
/// A node of the archive is the living entity that its handle names: in this world, or in the known archive.
/// That entity survives, with its handle, and references to it still name it. Afterwards the entities are what
/// espl_archive_read() would have made, wherever they were before: under `def->parent`, or roots. Every other
/// entity below a survivor is destroyed, and so are the entities of the known archive that this one lacks, with
/// all below them. Survivors keep their values of components with ESPL_COMPONENT_TRANSIENT.
///
/// Where the hierarchies are the same, with the same flags, kept parts, stretches, user data and components,
/// locals, values and names are written in place, as by the calls that write them: motion blends, and what is
/// equal counts as not written. Else all of them are built anew, and the old nodes are destroyed: motion shows
/// the entities where they are until the next present.
///
/// @param bytes  [size] as espl_archive_read() takes it.
/// @param def    as of espl_archive_read(); `entities` gets survivors and new entities. NULL means {0}.
/// @param known  NULL: the handles are those of this world. In an archive of another process a handle may be
///         that of another entity, because both may give their worlds the same tag: read such an archive.
///         `known->entities` may be `def->entities`.
/// @param fault  as of espl_archive_read(). What is wrong with the known archive has the offset 0.
/// @return as espl_archive_read(); also ESPL_ERR_FORMAT (no handles, two nodes are one entity, or two nodes of
///         the known archive have the same handle);
///         ESPL_ERR_CYCLE (the parent is a survivor, or would be destroyed); ESPL_ERR_ARGUMENT (another count
///         of known entities); ESPL_ERR_LIMIT and ESPL_ERR_NO_MEMORY: until it ends the call has the memory of
///         the old entities and of the new ones. O(size + known size + what is destroyed).
ESPL_API ESPL_NODISCARD espl_status espl_archive_apply(espl_world *world, const void *bytes,
                                                       size_t size,
                                                       const espl_archive_read_def *def,
                                                       const espl_archive_known *known,
                                                       espl_format_fault *fault);

/// Write a delta: bytes by which one archive becomes another one. Takes no memory.
///
/// A section that does not change takes two bytes, a local that changes takes its difference, and any other
/// section takes the bytes that differ. Nodes that are added, removed or moved take few bytes where both
/// archives have handles (ESPL_ARCHIVE_HANDLES), because a node is found again by its handle.
///
/// @param before  [before_size] an archive, at any address.
/// @param after   [after_size] the archive that it becomes.
/// @param fault   out: why one of them is refused, the first one first, or no sentence; may be NULL.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL); ESPL_ERR_FORMAT; ESPL_ERR_VERSION (a later format);
///         ESPL_ERR_SINK. Before ESPL_ERR_SINK the sink may have got bytes, with any other refusal it got none.
///         O(before_size + after_size).
ESPL_API ESPL_NODISCARD espl_status espl_archive_delta(const void *before, size_t before_size,
                                                       const void *after, size_t after_size,
                                                       const espl_sink *sink,
                                                       espl_format_fault *fault);

/// Carry a delta out: write the archive that `before` becomes, which is byte for byte the one that the delta
/// was made from. Takes no memory.
///
/// The bytes may come from anywhere: a delta that is damaged is refused.
/// @param before  [before_size] the archive that the delta was made from, at any address.
/// @param fault   out: why the delta is refused, or the archive, or no sentence; may be NULL.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL); ESPL_ERR_GAP (the delta is for another archive);
///         ESPL_ERR_FORMAT; ESPL_ERR_VERSION (a later format); ESPL_ERR_SINK. Before ESPL_ERR_SINK the sink may
///         have got bytes, with any other refusal it got none. O(before_size + delta_size).
ESPL_API ESPL_NODISCARD espl_status espl_archive_patch(const void *before, size_t before_size,
                                                       const void *delta, size_t delta_size,
                                                       const espl_sink *sink,
                                                       espl_format_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
