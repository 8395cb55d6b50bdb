// SPDX-License-Identifier: MIT
// The name and the meaning of each status, as espl_status_name() and espl_status_text() return
// them. Constants, so that any thread may ask and nothing is freed. The functions accept every
// number, because a caller may pass on a status of a later version.
#include <espalier/base.h>

typedef struct status_entry {
    espl_status status;
    const char *name, *text;
} status_entry;

// Each text is one sentence: when the status happens, and what to do. The log ends its lines with
// these texts where a call has no sentence of its own.
static const status_entry statuses[] = {
    {ESPL_OK, "ESPL_OK", "The call did what was asked; there is nothing to do."},
    {ESPL_LOSSY, "ESPL_LOSSY",
     "Done, but a scale or stretch of zero, a number out of range, or a direction without "
     "length leaves a part of the answer open; read the result to see what became of it."},
    {ESPL_PARTLY, "ESPL_PARTLY",
     "Done except for entries that were refused one by one; look at the report and at "
     "the log, which name the first of them."},
    {ESPL_OVERFLOW, "ESPL_OVERFLOW",
     "Done, but a world transform overflowed and is not finite; make a local transform "
     "above it smaller."},
    {ESPL_ERR_NO_MEMORY, "ESPL_ERR_NO_MEMORY",
     "The allocator returned NULL, or no thread could be started; free memory, or "
     "reserve it earlier, and try again."},
    {ESPL_ERR_ARGUMENT, "ESPL_ERR_ARGUMENT",
     "An argument is outside its documented range, or a required pointer is NULL; "
     "correct the call as the log says."},
    {ESPL_ERR_NULL_ENTITY, "ESPL_ERR_NULL_ENTITY",
     "The handle is the null entity; check that the call that was to fill it in "
     "succeeded."},
    {ESPL_ERR_DEAD, "ESPL_ERR_DEAD",
     "What is named does not live: the entity was destroyed, its recorded creation was "
     "refused or comes later in the playback, the custom command was unregistered, or the "
     "mirror ended; drop the handle, or order the commands by their keys."},
    {ESPL_ERR_FOREIGN, "ESPL_ERR_FOREIGN",
     "The handle or command buffer belongs to another world, to another command buffer, "
     "or to the time before a reset; use it where it was made."},
    {ESPL_ERR_CYCLE, "ESPL_ERR_CYCLE",
     "The new parent is the entity itself or below it; detach the parent first, or "
     "choose another one."},
    {ESPL_ERR_NOT_FINITE, "ESPL_ERR_NOT_FINITE",
     "A number is NaN or infinite, or a rotation has no length; correct the value, and "
     "start from espl_transform_identity()."},
    {ESPL_ERR_RANGE, "ESPL_ERR_RANGE",
     "A computed local transform, or a world part kept by inherit flags, would not be "
     "finite; use smaller values, or a parent whose scale is not tiny."},
    {ESPL_ERR_LIMIT, "ESPL_ERR_LIMIT",
     "A count or size is past a limit of the library; ask for less, espalier(3) lists "
     "the limits."},
    {ESPL_ERR_BUSY, "ESPL_ERR_BUSY",
     "The world is in use: iterated, played, written by jobs, inside a callback, or "
     "changed by another thread; end that first, or record a command instead."},
    {ESPL_ERR_NO_TRANSFORM, "ESPL_ERR_NO_TRANSFORM",
     "The entity has no transform of its own; add ESPL_TRANSFORM, or use its parent."},
    {ESPL_ERR_NO_COMPONENT, "ESPL_ERR_NO_COMPONENT",
     "The entity lacks the component; add it first, or ask espl_has_component()."},
    {ESPL_ERR_EXISTS, "ESPL_ERR_EXISTS",
     "What the call makes exists already: a component of that name, motion, or the history or the "
     "renderables of the world; use it, or choose another name."},
    {ESPL_ERR_PLAYED, "ESPL_ERR_PLAYED",
     "The command buffer was played already; call espl_command_buffer_reset() to record "
     "anew."},
    {ESPL_ERR_EXECUTOR, "ESPL_ERR_EXECUTOR",
     "The executor ran a job twice, never, or out of range, or returned before its jobs "
     "did; correct the executor."},
    {ESPL_ERR_NOT_CHILD, "ESPL_ERR_NOT_CHILD",
     "An entity that must be a child is none: the sibling is no child of that parent, or "
     "the entity has no parent; name a child of the parent, or attach the entity first."},
    {ESPL_ERR_COPIES_PARENT, "ESPL_ERR_COPIES_PARENT",
     "The member copies its parent's world transform; clear ESPL_COPY_PARENT by "
     "espl_set_inherit() to place it."},
    {ESPL_ERR_SHEAR, "ESPL_ERR_SHEAR",
     "No transform is near the matrix, which has shear or a last row other than 0, 0, 0, "
     "1; remove the shear, or bake it into the geometry."},
    {ESPL_ERR_NOT_OWNER, "ESPL_ERR_NOT_OWNER",
     "A job of a parallel write touched a hierarchy that it was not dealt; give the "
     "entity a row in the query, or record a write command."},
    {ESPL_ERR_PENDING, "ESPL_ERR_PENDING",
     "The entity is pending and can be named by commands only; play the command buffer, "
     "then espl_command_buffer_resolve() tells its handle."},
    {ESPL_ERR_UNSUPPORTED, "ESPL_ERR_UNSUPPORTED",
     "This build or version of the library, or this machine, lacks what is asked for; do without "
     "it, build the library with it, or link a later version."},
    {ESPL_ERR_ARITHMETIC, "ESPL_ERR_ARITHMETIC",
     "Floats are not computed as IEEE 754 has it; clear the modes of the thread that change rounding "
     "or flush denormals, and compile the library without parts of -ffast-math."},
    {ESPL_ERR_FORMAT, "ESPL_ERR_FORMAT",
     "The bytes are not what they are read as, or are damaged; the fault says where and why."},
    {ESPL_ERR_VERSION, "ESPL_ERR_VERSION",
     "The bytes are of another layout or version, or their components are registered otherwise here; "
     "the fault says which."},
    {ESPL_ERR_TOO_OLD, "ESPL_ERR_TOO_OLD",
     "The history does not have the frame: it was never marked, was dropped, or was removed by a "
     "rewind; choose a frame within espl_history_range()."},
    {ESPL_ERR_SINK, "ESPL_ERR_SINK",
     "The function of the sink returned false; discard the bytes that it took."},
    {ESPL_ERR_GAP, "ESPL_ERR_GAP",
     "The delta is for another archive: a delta before it was lost, or it was carried out already; "
     "ask for a whole archive, or for the missing deltas."},
};

// Return the entry of a status, or NULL. A linear search, because nothing on a fast path asks.
static const status_entry *find_status(espl_status status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; ++i) {
        if (statuses[i].status == status) {
            return &statuses[i];
        }
    }
    return NULL;
}

const char *espl_status_name(espl_status status)
{
    const status_entry *const entry = find_status(status);

    return entry == NULL ? "unknown status" : entry->name;
}

const char *espl_status_text(espl_status status)
{
    const status_entry *const entry = find_status(status);

    return entry == NULL ? "Not a status of this library." : entry->text;
}
