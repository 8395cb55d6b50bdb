// SPDX-License-Identifier: MIT
// The name and the meaning of each status.
#include <espalier/base.h>

typedef struct status_entry {
    espl_status status;
    const char *name, *text;
} status_entry;

// Each text says what happened, and what the caller can do where that is not obvious.
static const status_entry statuses[] = {
    {ESPL_OK, "ESPL_OK", "Done as asked."},
    {ESPL_LOSSY, "ESPL_LOSSY",
     "Done as far as it can be expressed under a scale or stretch of zero; read what it became."},
    {ESPL_PARTLY, "ESPL_PARTLY",
     "Done but for some entries of the batch, which were refused alone; see its report."},
    {ESPL_OVERFLOW, "ESPL_OVERFLOW",
     "Done; some world transform overflowed and is not finite until a local above it is smaller."},
    {ESPL_ERR_NO_MEMORY, "ESPL_ERR_NO_MEMORY",
     "The allocator returned NULL; free memory or reserve earlier, then try again."},
    {ESPL_ERR_ARGUMENT, "ESPL_ERR_ARGUMENT",
     "An argument is outside its documented range, or a required pointer is NULL."},
    {ESPL_ERR_NULL_ENTITY, "ESPL_ERR_NULL_ENTITY", "The handle is the null entity."},
    {ESPL_ERR_DEAD, "ESPL_ERR_DEAD",
     "The entity was destroyed, or was not created (yet); or the callback was unregistered."},
    {ESPL_ERR_FOREIGN, "ESPL_ERR_FOREIGN",
     "The handle belongs to another world or to other commands."},
    {ESPL_ERR_CYCLE, "ESPL_ERR_CYCLE", "The new parent is the entity itself or below it."},
    {ESPL_ERR_NOT_FINITE, "ESPL_ERR_NOT_FINITE",
     "A field is NaN or infinite, or a quaternion has no length."},
    {ESPL_ERR_RANGE, "ESPL_ERR_RANGE",
     "A computed local transform, or a kept world part, would not be finite."},
    {ESPL_ERR_LIMIT, "ESPL_ERR_LIMIT", "A count or size is past a limit of the library."},
    {ESPL_ERR_BUSY, "ESPL_ERR_BUSY",
     "A structural call during iteration, playback or a callback; record a command instead."},
    {ESPL_ERR_NO_TRANSFORM, "ESPL_ERR_NO_TRANSFORM", "The entity has no placement."},
    {ESPL_ERR_NO_COMPONENT, "ESPL_ERR_NO_COMPONENT",
     "The entity has no such component, or the world knows none."},
    {ESPL_ERR_EXISTS, "ESPL_ERR_EXISTS", "The name is taken."},
    {ESPL_ERR_PLAYED, "ESPL_ERR_PLAYED", "These commands were played already; reset them."},
    {ESPL_ERR_EXECUTOR, "ESPL_ERR_EXECUTOR",
     "The executor ran a job twice, never, or out of range; mend the executor."},
    {ESPL_ERR_NOT_CHILD, "ESPL_ERR_NOT_CHILD",
     "The entity is not a child: of the parent named with it, or of any."},
    {ESPL_ERR_COPIES_PARENT, "ESPL_ERR_COPIES_PARENT",
     "The member copies its parent's world; clear that inherit flag to place it."},
    {ESPL_ERR_SHEAR, "ESPL_ERR_SHEAR",
     "The matrix has shear, or a last row other than 0, 0, 0, 1; no placement is near it."},
    {ESPL_ERR_NOT_OWNER, "ESPL_ERR_NOT_OWNER",
     "A job of a parallel write touched a hierarchy that it was not dealt."},
};

// Return the entry of a status, or NULL.
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
