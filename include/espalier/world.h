// SPDX-License-Identifier: MIT
/// @file
/// The world: one independent container of entities. Any number may exist; nothing is global.
///
/// Thread rule: see espl_world. Worlds may be made and destroyed from any thread.
#ifndef ESPALIER_WORLD_H
#define ESPALIER_WORLD_H

#include <espalier/base.h>
#include <espalier/jobs.h>
#include <espalier/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One independent container of entities.
///
/// Thread rule: one thread at a time calls functions that change a world. Any number of threads
/// may read while none writes. Recording commands touches no world (espalier/commands.h). A checked
/// build that finds a second thread in such a call calls the trap hook with the names of both calls,
/// and refuses the second call with ESPL_ERR_BUSY.
typedef struct espl_world espl_world;

/// Whether the large blocks of a world lie in huge pages: pages of 2 MiB, which need fewer entries of
/// the TLB than small ones where writes and reads are scattered over a large world.
typedef enum espl_huge_pages {
    /// What the environment variable ESPALIER_HUGE_PAGES says, "on" or "off"; else on.
    ESPL_HUGE_PAGES_DEFAULT = 0,
    /// Request none. The system may still use them by itself.
    ESPL_HUGE_PAGES_OFF = 1,
    /// Request them, by madvise(2), for each block of at least 2 MiB; its end that does not fill a
    /// huge page lies in small ones. So a world of less than some twenty thousand entities has none,
    /// and a larger one takes at most a page more where an array in use ends. Without effect on
    /// systems that have none.
    ESPL_HUGE_PAGES_ON = 2,
} espl_huge_pages;

/// How to make a world. {0} is a good default. Grows into `reserved`.
typedef struct espl_world_def {
    espl_allocator allocator; ///< {0}: malloc and free.
    /// {0}: a trap aborts. Without a log hook the environment variable ESPALIER_LOG decides, which
    /// is read when the world is made: "info", "warning" and "error" send messages of that level
    /// and above to espl_log_stderr(); "off" is the default.
    espl_hooks hooks;
    espl_executor executor;   ///< {0}: serial. Must outlive the world.
    /// World tag in [1, 127] that every handle carries; a handle with another tag is refused as
    /// foreign. 0: the next one of a cycle that the process shares, so that up to 127 worlds have
    /// different tags. Give one where handles must be the same in every run.
    uint32_t tag;
    /// How many nodes are composed at once, by the name of the instructions: "scalar" everywhere,
    /// "sse2", "avx2" and "avx512" on x86, "neon" on AArch64, "simd128" on WebAssembly. The worlds are
    /// the same, bit for bit.
    /// NULL: what the environment variable ESPALIER_KERNELS names, else the best for this machine.
    /// Meant for tests and measurements. Not kept.
    const char *kernels;
    /// Huge pages for large blocks of the default allocator. Every value that can be read, statistics
    /// of bytes too, is the same with and without. An allocator of your own gets the same requests,
    /// and may do the same by itself: align large blocks to 2 MiB, and advise.
    espl_huge_pages huge_pages;
    /// {0}: nothing is recorded. Otherwise every call that changes the world is (espalier/tape.h), and
    /// parallel writes run on the calling thread alone.
    espl_tape tape;
    /// Nodes that one structural call or sync may lay out anew to pay layout debt; 0: the default,
    /// 65536.
    size_t layout_budget;
    /// Size of the cells of a large world (espalier/far.h): a power of two from 1 to 2^30, in the unit of
    /// positions, so that a position is at most a few cells long. 0: no cells. With 2048 m a position near
    /// the middle of a cell is precise to 0.1 mm, and cells reach to 29 astronomical units. It takes 12
    /// bytes a node (of bytes_tree in espl_world_stats).
    float cell_size;
    uintptr_t reserved[7]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_world_def;

/// Make an empty world.
///
/// @param out  the world; unchanged when refused.
/// @param def  NULL means {0}; not kept.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (out is NULL; one function of the allocator without the other;
///         a tag above 127; kernels that do not exist; a cell_size that is none; a number that is none
///         of espl_huge_pages; an unknown word in ESPALIER_HUGE_PAGES or ESPALIER_LOG); ESPL_ERR_UNSUPPORTED
///         (kernels that this
///         machine cannot run, or this build lacks); ESPL_ERR_ARITHMETIC (a rounding mode of the calling
///         thread, denormals that it flushes to zero, or flags that the library was compiled with);
///         ESPL_ERR_NO_MEMORY. The log says which; an unknown word in ESPALIER_LOG is printed to stderr.
ESPL_API ESPL_NODISCARD espl_status espl_world_create(const espl_world_def *def, espl_world **out);

/// Destroy a world and all it holds. NULL is allowed.
///
/// Command buffers, watches, the history and the renderables of the world must be destroyed first. If some are
/// left the call does nothing: it logs how many (ESPL_LOG_ERROR), and traps in checked builds.
ESPL_API void espl_world_destroy(espl_world *world);

/// Destroy every entity. Structural.
///
/// Handles from before are dead, and names are removed. Registered components and custom commands
/// stay. Memory stays until espl_compact(). Memory for rows stays as if espl_reserve() had taken it
/// (espl_reserve_def.rows) for as many entities of each component set and role: as many new ones take
/// no memory. Command buffers stay as they are; a recorded command that names an entity from before
/// is refused at playback.
///
/// @return ESPL_OK, ESPL_ERR_ARGUMENT, ESPL_ERR_BUSY; it never fails for lack of memory. O(size).
ESPL_API ESPL_NODISCARD espl_status espl_world_clear(espl_world *world);

/// Return the name of the kernels that a world composes with (espl_world_def), never released; NULL
/// for NULL. Any thread.
ESPL_API const char *espl_world_kernels(const espl_world *world);

/// Free all unused memory, reserved memory included. Lay out every hierarchy breadth-first without
/// gaps, with room for a few more nodes, and the rows of entities in the order of their transforms.
/// Ranks, slots and rows may change, and nothing else that can be read; a chunk whose rows change counts
/// as written. A history (espalier/history.h) has no frame afterwards. Structural.
///
/// Compaction needs memory for a while. Call it again where it lacked some.
/// @return ESPL_OK; ESPL_PARTLY: there was memory for a part of it; ESPL_ERR_NO_MEMORY: for none but
///         freeing unused memory, so that ranks, slots and rows are as before; ESPL_ERR_BUSY. O(size).
ESPL_API ESPL_NODISCARD espl_status espl_compact(espl_world *world);

/// Size classes of hierarchies in the statistics.
#define ESPL_SIZE_CLASSES 32

/// Statistics of a world: its contents and its memory. Grows into `reserved`.
typedef struct espl_world_stats {
    size_t entities;        ///< Living.
    size_t solos;           ///< Entities without a hierarchy.
    size_t hierarchies;     ///< Roots.
    size_t members;         ///< Non-root entities in hierarchies.
    size_t archetypes;      ///< Component sets met so far.
    size_t chunks;          ///< Blocks of rows, those without rows included.
    size_t bytes;           ///< Outstanding at the allocator, all-in.
    size_t bytes_store;     ///< Of these: entity records, archetypes, chunks.
    size_t bytes_tree;      ///< Of these: links, transforms, headers of hierarchies.
    size_t bytes_commands;  ///< Of these: recorders and playback scratch.
    /// World transforms computed since the world was made, a measure of work: one that a call computes
    /// twice counts twice, and of a pass over storage each slot counts, free ones too. So a write may
    /// count more nodes than its hierarchy has.
    uint64_t nodes_visited;
    uint64_t writes;        ///< Transform writes that changed a transform since the world was made.
    uint64_t writes_skipped; ///< Transform writes that left every bit as it was. A write of a
                             ///< previous pose counts in neither.
    uint64_t nodes_skipped;  ///< Nodes that a write found unchanged: their descendants were not
                             ///< visited. Since the world was made.
    size_t disabled;         ///< Entities with ESPL_DISABLED.
    size_t prefabs;          ///< Entities with ESPL_PREFAB.
    size_t retired;          ///< Indices whose generations are used up.
    size_t row_capacity;     ///< Rows that the chunks have room for; `entities` of them are
                             ///< filled.
    size_t spare_chunks;     ///< Of the chunks: without rows, kept for the next change.
    size_t slots;            ///< Of the pool of transforms, reserved and free ones included.
    size_t free_slots;       ///< Of these: in the storage of no hierarchy or solo.
    /// Hierarchies of 2^i to 2^(i+1) - 1 living entities, at i.
    size_t hierarchies_by_size[ESPL_SIZE_CLASSES];
    /// Played since the world was made.
    uint64_t commands_accepted, commands_applied, commands_refused;
    uint64_t layouts;        ///< Hierarchies laid out anew since the world was made.
    uint64_t nodes_laid_out; ///< Nodes in them.
    /// Layout debt since the world was made: nodes that writes visited, or free slots that they
    /// passed, more than they would where every hierarchy is laid out.
    uint64_t layout_debt_incurred;
    size_t holes;       ///< Free slots between the nodes of hierarchies.
    size_t names;       ///< Entities with a name (espalier/names.h).
    size_t bytes_names; ///< Of bytes_store: their names.
    size_t watches;       ///< Of espalier/watch.h.
    size_t planes;        ///< Kinds of changes that are marked for them and for motion.
    /// Of bytes: watches, a history, renderables, and marks of changes, which bytes_store and bytes_tree count too.
    size_t bytes_changes;
    size_t presented; ///< Calls of espl_present() that computed shown worlds, since the world was made.
    size_t blended;   ///< The sum of espl_present_report.blended, which depends on the layout.
    /// Entities with an original (espalier/counterpart.h): 16 to 32 bytes each, and 8 for each entity index.
    size_t counterparts;
    size_t renderables;       ///< In the newest mirror of espalier/renderables.h.
    size_t bytes_renderables; ///< Of bytes_changes: renderables and their mirrors.
    uintptr_t reserved[2]; ///< 0 (GROWTH in espalier(3)).
} espl_world_stats;

/// Read the statistics. All but bytes, chunks and slots are equal for any number of workers.
/// O(archetypes + chunks + hierarchies), and the size of hierarchies that wait
/// for memory to be divided after the destruction of their root.
ESPL_API void espl_stats(const espl_world *world, espl_world_stats *out);

/// First broken invariant that espl_validate() found. Grows into `reserved`.
typedef struct espl_validation {
    const char *rule;   ///< The invariant, as a sentence; NULL when all hold. Static storage.
    espl_entity entity; ///< Where, if an entity can be named.
    size_t detail;      ///< Rank, row or count, as the rule says.
    size_t overflowed; ///< World transforms that are not finite, also where all rules hold; 0 where
                       ///< the rule is one of storage or links.
    uintptr_t reserved[8]; ///< 0 (GROWTH in espalier(3)).
} espl_validation;

/// Check every invariant of the world, transforms bit for bit. A world transform that overflowed
/// breaks no rule.
///
/// @param report  NULL, or the first broken rule and the count of overflowed worlds.
/// @return true when all hold. A broken rule is a fault of the library or of memory written by
///         others. O(size), no memory.
ESPL_API bool espl_validate(const espl_world *world, espl_validation *report);

/// What a hash covers.
typedef enum espl_hash_kind {
    /// What can be read of living entities: for each its transforms bit for bit, inherit flags, link,
    /// its name where it has one, components by name and their bytes; children in their order. Worlds
    /// of equal contents have the same hash: handles, rows, the order in which components were
    /// registered and the order in which roots were made do not count. An entity reference
    /// (espl_component_def) counts as null, as dead, or by the contents of the entity that it names.
    /// Other bytes count as they are. In a transform all NaNs are equal. Where motion runs, poses of
    /// earlier ticks count, and what is shown never does.
    ESPL_HASH_LOGICAL = 0,
    /// The storage as well, and with it all that later calls depend on: handles and the order of free
    /// ones, rows and the bytes in them, slots, links, layout debt, free ranges, registered components,
    /// component sets that no entity has any more, the tag and the layout budget. Where two worlds have
    /// the same hash, the same calls come to the same statuses, bits, handles and orders of queries. A
    /// refused call leaves the hash as it was. Reserved memory, caches, versions and watches decide none
    /// of this and are not covered; neither are custom commands, what is recorded or submitted and not
    /// played, open queries, and what espl_present() shows.
    ESPL_HASH_PHYSICAL = 1,
} espl_hash_kind;

/// Hash a whole world: the same number on every machine, for any count of workers and any kernels.
/// (Bytes of components and of references are in the machine's byte order.) Memory that is only
/// reserved, versions and statistics are not in it. Equal worlds have equal hashes; others have
/// different ones, except with a probability of 2^-64. It does not protect against forgery, and may
/// change with the version of the library.
///
/// @param out  the hash; unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT; ESPL_ERR_BUSY while a parallel write is under way. O(size),
///         no memory. Reads only: any thread while none writes.
ESPL_API ESPL_NODISCARD espl_status espl_hash(const espl_world *world, espl_hash_kind kind,
                                              uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
