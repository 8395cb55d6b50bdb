// SPDX-License-Identifier: MIT
/// @file
/// What every other public header needs: export marks, statuses, allocator and hooks.
///
/// Thread rule: the functions may be called from any thread. The members of an espl_allocator and of
/// espl_hooks say which threads call them.
#ifndef ESPALIER_BASE_H
#define ESPALIER_BASE_H

#include <espalier/id.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The build of a DLL defines ESPL_BUILDS_DLL. Its users define nothing, because functions are called
// through an import library without a mark as well, and the library exports no objects.
#if defined(_WIN32)
#ifdef ESPL_BUILDS_DLL
#define ESPL_API __declspec(dllexport)
#else
#define ESPL_API
#endif
#elif defined(__GNUC__)
#define ESPL_API __attribute__((visibility("default")))
#else
#define ESPL_API
#endif

#if defined(__GNUC__)
#define ESPL_NODISCARD __attribute__((warn_unused_result))
#else
#define ESPL_NODISCARD
#endif

// NULL for the inline functions of the headers. Compilers of C++ have a warning about any other than
// nullptr.
#ifdef __cplusplus
#define ESPL_NULL_ nullptr
#else
#define ESPL_NULL_ NULL
#endif

// Copies bytes in the inline functions of the headers, which include no header of a C library.
#ifdef __GNUC__
#define ESPL_COPY_(to, from, size) ((void)__builtin_memcpy((to), (from), (size)))
#else
#define ESPL_COPY_(to, from, size)                              \
    do {                                                        \
        unsigned char *const to_ = (unsigned char *)(to);       \
        const unsigned char *const from_ =                      \
            (const unsigned char *)(from);                      \
        for (size_t i_ = 0; i_ < (size); ++i_) {                \
            to_[i_] = from_[i_];                                \
        }                                                       \
    } while (0)
#endif

/// All zero, in C and in C++: the default of every description.
// clang-format off
#ifdef __cplusplus
#define ESPL_ZERO {}
#else
#define ESPL_ZERO {0}
#endif
// clang-format on

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
/// refused, and nothing was changed: nothing that can be read, nor where it is stored (espl_hash());
/// memory that was reserved may stay. espl_sync() is refused at one buffer, and has played those
/// before it. Each status has one meaning in all calls.
///
/// A pointer that is required and NULL is answered with ESPL_ERR_ARGUMENT by every function that
/// returns a status, in checked and in unchecked builds. A function without a status then does
/// nothing, and returns NULL, "", the null entity, 0, false, or the identity transform. Neither
/// traps; both are logged where there is a world to log.
typedef enum espl_status {
    /// Done as asked.
    ESPL_OK = 0,
    /// Done, but a part of a world transform is not what was asked for, by more than rounding: a scale or
    /// stretch of zero hides it, or floats do not hold the local that it needs. Or a direction has no
    /// length, which leaves a part of the answer open. Read the result to see what became of it.
    ESPL_LOSSY = 1,
    /// Some entries were refused one by one; all others are done. The report and the log name the
    /// first refused entry. Of espl_compact(): there was memory for a part of it. Of espl_history_mark(): the
    /// frame is marked, and there was no room for earlier ones.
    ESPL_PARTLY = 2,
    /// Done; some world transform overflowed and is not finite. It is finite again when a local
    /// above it is made smaller.
    ESPL_OVERFLOW = 3,

    /// The allocator returned NULL, or the system started no thread. Free memory or reserve
    /// earlier, then try again.
    ESPL_ERR_NO_MEMORY = -1,
    /// An argument is outside its documented range, or a required pointer is NULL. The log says
    /// which. Correct the call.
    ESPL_ERR_ARGUMENT = -2,
    /// The handle is the null entity. Check the call that was to fill it in.
    ESPL_ERR_NULL_ENTITY = -3,
    /// The handle or number names nothing alive: the entity was destroyed; the recorded creation was
    /// refused or comes later in the playback; the custom command was unregistered; the mirror ended. Drop
    /// the handle, or order the commands by their keys.
    ESPL_ERR_DEAD = -4,
    /// The handle or the command buffer belongs to another world, or the handle to another command
    /// buffer, or to the time before a reset. Use it where it was made.
    ESPL_ERR_FOREIGN = -5,
    /// The new parent is the entity itself or below it. Detach the parent first.
    ESPL_ERR_CYCLE = -6,
    /// A number is NaN or infinite, or a rotation has no length. The log names the field. Start
    /// from espl_transform_identity().
    ESPL_ERR_NOT_FINITE = -7,
    /// A computed local transform, or a world part kept by inherit flags, would not be finite, or the
    /// local would not lead to a finite world that was asked for. Use smaller values, or a parent whose
    /// scale is not tiny.
    ESPL_ERR_RANGE = -8,
    /// A count or size is past a limit of the library, or of a list of the caller. Ask for less.
    ESPL_ERR_LIMIT = -9,
    /// The world is in use: iterated, played, written by jobs, inside a function that it calls, or
    /// changed by another thread. End that first, or record a command instead. The log says what is
    /// under way.
    ESPL_ERR_BUSY = -10,
    /// The entity has no transform of its own. Add ESPL_TRANSFORM, or use its parent.
    ESPL_ERR_NO_TRANSFORM = -11,
    /// The entity lacks the component. Add it first. A number that names no component of the world
    /// is ESPL_ERR_ARGUMENT.
    ESPL_ERR_NO_COMPONENT = -12,
    /// What the call makes exists already: a component of that name, motion, or the history or the renderables
    /// of the world. Find the component by its name, or choose another one.
    ESPL_ERR_EXISTS = -13,
    /// The command buffer was played already. Reset it to record anew.
    ESPL_ERR_PLAYED = -14,
    /// The executor ran a job twice, never, or out of range, or returned before its jobs did. The
    /// world is untouched. Correct the executor.
    ESPL_ERR_EXECUTOR = -15,
    /// An entity that must be a child is none: `before` is no child of that parent, or the entity
    /// has no parent. Name a child of the parent, or attach the entity first.
    ESPL_ERR_NOT_CHILD = -16,
    /// The member copies its parent's world (ESPL_COPY_PARENT). Clear the flag to place it.
    ESPL_ERR_COPIES_PARENT = -17,
    /// No transform is near the matrix: it has shear, or its last row is not 0, 0, 0, 1. Remove the
    /// shear, or bake it into the geometry.
    ESPL_ERR_SHEAR = -18,
    /// Checked builds only: a job of a parallel write touched a hierarchy that it was not dealt. Give
    /// the entity a row in the query, or record a write command.
    ESPL_ERR_NOT_OWNER = -19,
    /// The entity is pending: a handle that a recorder gave out, which only commands of the same
    /// command buffer may name. Play the command buffer, then espl_command_buffer_resolve().
    ESPL_ERR_PENDING = -20,
    /// This build or version of the library, or this machine, lacks the requested feature: a reserved
    /// word of a struct is not 0, for example (GROWTH in espalier(3)). The log names it.
    /// Do without it, build the library with it, or link a later version.
    ESPL_ERR_UNSUPPORTED = -21,
    /// Floats are not computed as IEEE 754 has it, so that worlds would have other bits than elsewhere:
    /// the thread rounds otherwise than to nearest or flushes denormals to zero, or the library was
    /// compiled with a part of -ffast-math or with -ffp-contract=fast. The log names the cause. Clear
    /// the mode, or compile the library without the flag.
    ESPL_ERR_ARITHMETIC = -22,
    /// Bytes are not what they are read as, or are damaged. A fault says at which byte, and why. Nothing was
    /// changed.
    ESPL_ERR_FORMAT = -23,
    /// Bytes are of another layout or version than this build reads, or their components are registered
    /// otherwise in the world. A fault says which. Register the components as the world that wrote the bytes
    /// did.
    ESPL_ERR_VERSION = -24,
    /// The history does not have the frame: it was never marked, was dropped, or was removed by a rewind.
    /// Choose a frame within espl_history_range().
    ESPL_ERR_TOO_OLD = -25,
    /// A sink took no more bytes: its function returned false. Discard the bytes that it took, correct the
    /// sink, and write again.
    ESPL_ERR_SINK = -26,
    /// A delta is for another archive: a delta before it was lost, or it was carried out already. Ask for a
    /// whole archive, or for the missing deltas. Nothing was written.
    ESPL_ERR_GAP = -27,
} espl_status;

/// What is wrong with bytes that were refused. Grows into `reserved`.
typedef struct espl_format_fault {
    uint64_t offset;       ///< Of the byte from which on they are not understood.
    const char *sentence;  ///< Says what is wrong; a constant. NULL: nothing.
    uintptr_t reserved[6]; ///< 0 (GROWTH in espalier(3)).
} espl_format_fault;

/// Tell whether a call was refused: the status is negative. A positive status is a remark about a call
/// that is done, so `!status` and `status != ESPL_OK` are wrong tests for a failure.
///
///     if (espl_failed(espl_attach(world, lamp, mast, NULL))) { ... nothing was changed ... }
static inline bool espl_failed(espl_status status)
{
    return status < ESPL_OK;
}

/// File and line of this place in the source, for messages: a string literal.
#define ESPL_SITE __FILE__ ":" ESPL_TEXT_OF_(__LINE__)
#define ESPL_TEXT_OF_(line) ESPL_TEXT_OF_LINE_(line)
#define ESPL_TEXT_OF_LINE_(line) #line

/// Return the name of a status, "ESPL_OK" for example; "unknown status" for any other number.
/// Any thread.
ESPL_API const char *espl_status_name(espl_status status);

/// Return one sentence that says when a status happens and what to do; for any other number, that
/// it is no status. Any thread.
ESPL_API const char *espl_status_text(espl_status status);

/// Memory of one world. All zero means malloc and free. Never grows.
///
/// Both functions are called by threads that call the library, that record, or that work for a
/// playback; never by two at once for the same world.
typedef struct espl_allocator {
    /// Passed to both functions.
    void *user;
    /// Return size bytes (at least 1) aligned to alignment (a power of two, at most 4096), or
    /// NULL: the call that needed it then answers ESPL_ERR_NO_MEMORY. The content may be anything.
    void *(*allocate)(void *user, size_t size, size_t alignment);
    /// Take back a block of allocate; size and alignment are the arguments that allocate got for it.
    /// Never called with NULL.
    void (*release)(void *user, void *block, size_t size, size_t alignment);
} espl_allocator;

/// How much a message matters.
typedef enum espl_log_level {
    /// Nothing is wrong: commands that were never played are dropped.
    ESPL_LOG_INFO = 0,
    /// A call was refused, or does what is nearly always a mistake.
    ESPL_LOG_WARNING = 1,
    /// A fault of the program, which checked builds trap as well.
    ESPL_LOG_ERROR = 2,
} espl_log_level;

/// Which end of a part of a playback a trace reports.
typedef enum espl_trace_edge {
    ESPL_TRACE_END = 0,
    ESPL_TRACE_BEGIN = 1,
} espl_trace_edge;

/// Functions that a world calls. All zero: the environment variable ESPALIER_LOG (espalier/world.h)
/// says whether messages are printed, and by default they are not; a trap prints to stderr and
/// aborts. Never grows, because espl_world_def contains it.
typedef struct espl_hooks {
    /// Passed to all of them.
    void *user;
    /// Receive one line without a newline or another control character: in a string of the caller,
    /// such as a name that is refused, each appears as '?'. The line is valid until the hook returns.
    /// For a refused call the line has the name of the call, its place in the source where that is
    /// known, the status, the entities as index.generation, a component by its name and number, and
    /// what to do:
    ///
    ///     espl_attach: ESPL_ERR_CYCLE: child 3.16777217, parent 5.16777217: The new parent is ...
    ///
    /// A living entity that has a name appears with it (espalier/names.h), except in messages of
    /// recorders. Where a call has several entities, the one that the status is about comes first. Called from
    /// the thread of the call, but never by two at once for the same world; must not call the
    /// library. Navigation (espalier/tree.h) does not log. See espl_log_stderr() for a ready one.
    void (*log)(void *user, espl_log_level level, const char *message);
    /// Receive a fault of the program found by a checked build: file and line, of the call where they
    /// are known, else of the library; and a sentence, which is valid until the hook returns. When it
    /// returns, the call that trapped answers with its error status, or does nothing. Never called by
    /// two threads at once for the same world, nor at the same time as its log. Unchecked builds trap
    /// the last of these faults alone, and if there is a hook.
    ///
    /// These trap: two threads inside changing calls of one world; a world destroyed before its command
    /// buffers, watches, history and renderables; a watch, a history or renderables destroyed in a playback or
    /// a job; a command buffer reset or destroyed while its payloads are with a custom command; an espl_writer
    /// used by another thread or after its job, and a job that touches a hierarchy it was not dealt; a column
    /// of a query with another size than registered, or written in a parallel write that did not name it; the
    /// rows of a parallel write advanced; an executor that does not run each job once; a query or a subtree
    /// that goes on, or ends, after its iteration was ended by a copy of it. A required pointer that is NULL
    /// does not.
    void (*trap)(void *user, const char *file, int line, const char *sentence);
    /// Called at begin and end of each playback of espl_play() and espl_sync() ("playback"), of each
    /// stage (espl_stage_name()) and, inside the last stage, of each custom command (its name), for a
    /// profiler's timeline. Names are valid as long as the world, that of a custom command until it
    /// is unregistered; begin and end pair up and nest. Called from the thread that plays; must not
    /// call the library.
    void (*trace)(void *user, const char *name, espl_trace_edge edge);
    /// Return the time in nanoseconds from any start, for the timings of a report; NULL: the
    /// system's monotonic clock. Called from the thread that plays, and only if the caller passes a
    /// report; must not call the library.
    uint64_t (*clock)(void *user);
} espl_hooks;

/// Print a message to stderr, as one line: "espalier: warning: ...". May be used as espl_hooks.log.
/// Any thread.
/// @param user     not used.
/// @param message  NULL prints nothing.
ESPL_API void espl_log_stderr(void *user, espl_log_level level, const char *message);

#ifdef __cplusplus
}
#endif

#endif
