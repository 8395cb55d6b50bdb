// SPDX-License-Identifier: MIT
/// @file
/// What every other public header needs: export marks, statuses, allocator and hooks.
#ifndef ESPALIER_BASE_H
#define ESPALIER_BASE_H

#include <espalier/id.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ESPL_API __attribute__((visibility("default")))
#define ESPL_NODISCARD __attribute__((warn_unused_result))
#else
#define ESPL_API
#define ESPL_NODISCARD
#endif

#define ESPL_VERSION_MAJOR 0
#define ESPL_VERSION_MINOR 2
#define ESPL_VERSION_PATCH 0

/// Make the number of a version: major * 1000000 + minor * 1000 + patch, unsigned. A later version
/// has a greater number. For #if as well.
#define ESPL_VERSION(major, minor, patch) ((major)*1000000u + (minor)*1000u + (patch))

/// Return the version of the library that is linked, as ESPL_VERSION() makes it.
///
/// ESPL_VERSION(ESPL_VERSION_MAJOR, ESPL_VERSION_MINOR, ESPL_VERSION_PATCH) is that of the headers,
/// which may differ where the library is shared. Any thread.
ESPL_API uint32_t espl_version(void);

/// Outcome of a call that can be refused. Zero: done. Positive: done, with a remark. Negative:
/// refused, and nothing was changed.
typedef enum espl_status {
    /// Done as asked.
    ESPL_OK = 0,
    /// Done as far as it can be expressed: an ancestor's scale or stretch of zero hides an axis.
    /// Read the world transform to see what it became.
    ESPL_LOSSY = 1,
    /// A batch is done but for some of its entries, which were refused alone. See its report.
    ESPL_PARTLY = 2,
    /// Done; some world transform overflowed and is not finite. It comes back when a local above it
    /// is made smaller.
    ESPL_OVERFLOW = 3,

    /// The allocator returned NULL. Free memory or reserve earlier, then try again.
    ESPL_ERR_NO_MEMORY = -1,
    /// An argument is outside its documented range, or a required pointer is NULL.
    ESPL_ERR_ARGUMENT = -2,
    /// The handle is the null entity.
    ESPL_ERR_NULL_ENTITY = -3,
    /// The entity was destroyed, or (a pending one) was not created, or not yet; or the callback of a
    /// recorded payload was unregistered.
    ESPL_ERR_DEAD = -4,
    /// The handle belongs to another world, or is pending in another commands object.
    ESPL_ERR_FOREIGN = -5,
    /// The new parent is the entity itself or below it.
    ESPL_ERR_CYCLE = -6,
    /// A field is NaN or infinite, or a quaternion has no length.
    ESPL_ERR_NOT_FINITE = -7,
    /// A computed local transform, or a world part kept by inherit flags, would not be finite.
    ESPL_ERR_RANGE = -8,
    /// A count or size is past a limit of the library.
    ESPL_ERR_LIMIT = -9,
    /// A structural call during iteration, playback or inside a callback. Record a command instead.
    ESPL_ERR_BUSY = -10,
    /// The entity has no transform, so it has no transform of its own.
    ESPL_ERR_NO_TRANSFORM = -11,
    /// The entity has no such component, or the world no component of that number or name.
    ESPL_ERR_NO_COMPONENT = -12,
    /// The name is taken.
    ESPL_ERR_EXISTS = -13,
    /// These commands were played already. Reset them to record anew.
    ESPL_ERR_PLAYED = -14,
    /// The executor ran a job twice, never, or out of range. The world is untouched.
    ESPL_ERR_EXECUTOR = -15,
    /// The entity named as the next sibling is not a child of the parent; or the call needs a
    /// member, and the entity is a root or solo.
    ESPL_ERR_NOT_CHILD = -16,
    /// The member copies its parent's world (ESPL_COPY_PARENT). Clear the flag to place it.
    ESPL_ERR_COPIES_PARENT = -17,
    /// The matrix has shear, or its last row is not 0, 0, 0, 1: no transform is near it.
    ESPL_ERR_SHEAR = -18,
    /// Checked builds only: a job of a parallel write touched a hierarchy that it was not dealt. Give
    /// the entity a row in the query, or record a write command.
    ESPL_ERR_NOT_OWNER = -19,
} espl_status;

/// Return the name of a status, "ESPL_OK" for example; "unknown status" for any other number.
/// Any thread.
ESPL_API const char *espl_status_name(espl_status status);

/// Return one sentence that says when a status happens and what to do. Any thread.
ESPL_API const char *espl_status_text(espl_status status);

/// Memory of one world. All zero means malloc and free.
///
/// Both functions are called by threads that call the library, that record, or that work for a
/// playback; never by two at once for the same world.
typedef struct espl_allocator {
    /// Passed to both functions.
    void *user;
    /// Return size bytes (at least 1) aligned to alignment (a power of two, at most 4096), or
    /// NULL: the call that needed it then answers ESPL_ERR_NO_MEMORY. The content may be anything.
    void *(*allocate)(void *user, size_t size, size_t alignment);
    /// Take back a block of allocate; size and alignment are those it was asked for with.
    /// Never called with NULL.
    void (*release)(void *user, void *block, size_t size, size_t alignment);
} espl_allocator;

/// How much a message matters.
typedef enum espl_log_level {
    ESPL_LOG_INFO = 0,
    ESPL_LOG_WARNING = 1,
    ESPL_LOG_ERROR = 2,
} espl_log_level;

/// What a world says, and to whom. All zero: messages go nowhere; a trap prints to stderr and
/// aborts. Grows at the end only.
typedef struct espl_hooks {
    /// Passed to all of them.
    void *user;
    /// Receive one line without a newline. A refused call tells the entity, with its name where it
    /// has one, the operation and the rule. Called from the thread of the call, but never by two at
    /// once for the same world; must not call the library. Recording and navigation do not log.
    void (*log)(void *user, espl_log_level level, const char *message);
    /// Receive a programmer's fault found by a checked build. When it returns, the call that
    /// trapped answers with its error status. Never called by two threads at once for the same
    /// world, nor beside its log.
    void (*trap)(void *user, const char *file, int line, const char *condition);
    /// Be told where espl_play() and espl_sync() play ("playback"), where each stage begins and
    /// ends (espl_stage_name()) and, inside the last, each callback (its name), for a profiler's
    /// timeline. Names live as long as the world, that of a callback until it is unregistered; begin
    /// and end pair up and nest. Called from the thread that plays; must not call the library.
    void (*trace)(void *user, const char *name, bool begins);
    /// Return the time in nanoseconds from any start, for the timings of a report; NULL: the
    /// system's monotonic clock. Called from the thread that plays, and only where a report is
    /// asked for; must not call the library.
    uint64_t (*clock)(void *user);
} espl_hooks;

#ifdef __cplusplus
}
#endif

#endif
