// SPDX-License-Identifier: MIT
// The command line of the course.
#ifndef ESPALIER_BENCH_OPTIONS_H
#define ESPALIER_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/// Most numbers that --workers takes.
#define WORKER_LIST_LIMIT 8

struct options {
    const char *loads;      ///< Names with commas between; NULL: all.
    const char *schemes;    ///< Names with commas between; NULL: all.
    const char *shape;      ///< Part of the names of the shapes to run; NULL: all.
    const char *csv;        ///< File to write; NULL: none.
    const char *huge_pages; ///< "on" or "off", of all schemes; NULL: by the environment.
    unsigned workers[WORKER_LIST_LIMIT]; ///< [worker_count]

    size_t worker_count; ///< 0: nobody has named any.
    bool is_short;
    bool is_eager; ///< Workers of the library stay awake between calls.
    bool wants_list;
    bool wants_help;
};

/// Read the command line.
/// @return false where it makes no sense; a line on stderr says why.
bool options_read(struct options *out, int argc, char **argv);

/// Print how the program is called.
void options_help(void);

/// Tell whether a list of names with commas between holds a name; a NULL list holds all.
bool list_has(const char *list, const char *name);

/// Return the length of a list's first name, and step behind it and its comma.
size_t list_step(const char **list);

#endif
