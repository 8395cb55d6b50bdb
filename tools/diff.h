// SPDX-License-Identifier: MIT
// What differs between two files, A and B, in words on the standard output.
#ifndef ESPALIER_TOOLS_DIFF_H
#define ESPALIER_TOOLS_DIFF_H

#include "tools/value.h"

typedef enum diff_verdict {
    DIFF_EQUAL,
    DIFF_DIFFERENT,
    DIFF_TROUBLE, // the fault says why
} diff_verdict;

/// Where two tapes part, counted as diff says it.
typedef struct diff_place {
    uint64_t frame, call;    // of the tape from 0 on, and of the frame from 1 on
    espl_entity entities[2]; // that the call is about, in A and B; or null
} diff_place;

/// A comparison under way.
typedef struct tool_diff {
    const char *paths[2];
    void (*take)(void *user, const char *line); // NULL: lines are printed
    void *user;
    bool is_quiet;
    size_t count;     // lines so far
    diff_place place; // of tapes that differ; without a call they are told by their heads
} tool_diff;

/// Say what differs in one line, as printf. Nothing is printed where the comparison is quiet; the first line is
/// printed after the names of the files.
void diff_say(tool_diff *diff, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Compare two worlds, entity by entity.
diff_verdict diff_values(tool_diff *diff, const tool_value *a, const tool_value *b,
                         tool_fault *fault);
/// Compare two tapes, call by call, up to the first that differs.
/// @param side  out: in trouble, the number of the tape.
diff_verdict diff_tapes(tool_diff *diff, const tool_contents *a, const tool_contents *b, int *side,
                        tool_fault *fault);

/// Say how the cells of two worlds differ in size.
/// @param has_archive  a file is an archive, in which the size is left out where all cells are 0 0 0.
void diff_cell_sizes(tool_diff *diff, const espl_world *const worlds[2], bool has_archive);
/// Say how the cells of two entities differ, which are both without a parent, and what they are counterparts of.
/// @param has_originals  both files have originals, which archives do not.
void diff_places(tool_diff *diff, const char *path, const espl_world *const worlds[2],
                 const espl_entity entities[2], bool has_originals);

/// Room for a path of names, and for a value as text.
enum { DIFF_PATH = 512, DIFF_TEXT = 128 };

/// Write an element of a field as text: a number, true or false, or a byte in hexadecimal. @return out.
const char *diff_element(espl_field_type type, const unsigned char *bytes, char out[DIFF_TEXT]);
/// Write up to 8 floats as text, with the digits that tell each from its neighbours. @return out.
const char *diff_floats(const void *floats, size_t count, char out[DIFF_TEXT]);
/// Find the field of a component that has a byte. @return NULL: no field has it.
/// @param element  out: the number of the element of the field, and @param size  its bytes.
const espl_component_field *diff_field(const espl_component_def *def, uint32_t byte,
                                       uint32_t *element, size_t *size);
/// Write what a person calls the part of a component that has a byte: "gun.heat". @return out.
const char *diff_part(const espl_component_def *def, uint32_t byte, char out[DIFF_PATH]);

#endif
