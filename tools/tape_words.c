// SPDX-License-Identifier: MIT
#include "tools/tape_words.h"

#include "tools/tape_text.h"

#include <espalier/espalier.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct call_words {
    const char *call;
    const char *fields; // names, divided by '|'; the last one is that of all that follow
    const char *items;  // the same of an item of a list
} call_words;

static const char command_fields[] =
    "lane|kind of command|key|target|parent|next sibling|number of entities|link|kind or "
    "extent|rule "
    "for a dead parent|rule for the position|rule for the rotation|rule for the scale|inherit "
    "flags|last byte|size of the value|value|number of values|values";

static const call_words words[ESPL_TAPE_OP_COUNT] = {
    [0] = {"no call", "", ""},
    [ESPL_TAPE_FRAME] = {"the end of the frame", "kind of hash|checksum or hash", ""},
    [ESPL_TAPE_REGISTER] = {"a registration",
                            "length of the name|name|size|alignment|number of "
                            "references|references, version, flags or number of fields",
                            "length of the name|name|type of a field|offset of a field|number of "
                            "elements of a field"},
    [ESPL_TAPE_CREATE] = {"a creation", "number of components|components or number of entities",
                          ""},
    [ESPL_TAPE_CHANGE] = {"a change of components", "number of entities|entities and values", ""},
    [ESPL_TAPE_SET] = {"a write of a component", "entity|component|size|presence of a value|value",
                       ""},
    [ESPL_TAPE_ENABLE] = {"an enable", "entity|extent", ""},
    [ESPL_TAPE_DISABLE] = {"a disable", "entity|extent", ""},
    [ESPL_TAPE_ATTACH] = {"an attach",
                          "child|parent|next sibling|rule for the position|rule for the "
                          "rotation|rule for the scale|link|inherit flags",
                          ""},
    [ESPL_TAPE_DETACH] = {"a detach", "entity|rule for the transform", ""},
    [ESPL_TAPE_SIBLING] = {"a move among siblings", "entity|next sibling", ""},
    [ESPL_TAPE_DESTROY] = {"a destroy", "entity|extent", ""},
    [ESPL_TAPE_INSTANTIATE] = {"an instantiate", "source|number of clones", ""},
    [ESPL_TAPE_WRITES] = {"a batch of writes", "number of writes", "entity|kind of write|value"},
    [ESPL_TAPE_WRITE] = {"a write", "entity|kind of write|value", ""},
    [ESPL_TAPE_LOOK_AT] = {"a look at", "entity|target|presence of up|up or forward|forward", ""},
    [ESPL_TAPE_ROTATE_ABOUT] = {"a rotation about a point", "entity|pivot|rotation", ""},
    [ESPL_TAPE_INHERIT] = {"a write of inherit flags", "entity|inherit flags", ""},
    [ESPL_TAPE_COLUMN] = {"a write of a column",
                          "component|size|number of entities|entities and values", ""},
    [ESPL_TAPE_RESERVE] = {"a reserve", "number of entities|what is reserved", ""},
    [ESPL_TAPE_COMPACT] = {"a compaction", "", ""},
    [ESPL_TAPE_VIEW] = {"a view", "entity", ""},
    [ESPL_TAPE_PLAY] = {"a playback", "number of lanes|tag|number of commands", command_fields},
    [ESPL_TAPE_MAKE] = {"a creation at a place", "", command_fields},
    [ESPL_TAPE_NAME] = {"a name", "entity|length of the name|name", ""},
    [ESPL_TAPE_ATTACH_MANY] = {"an attach of many", "number of children",
                               "child|parent|next sibling|rule for the position|rule for the "
                               "rotation|rule for the scale|link|inherit flags"},
    [ESPL_TAPE_DESTROY_MANY] = {"a destroy of many", "number of entities|entities or extent", ""},
    [ESPL_TAPE_CLEAR] = {"a clear", "", ""},
    [ESPL_TAPE_SYNC] = {"a sync", "", ""},
    [ESPL_TAPE_MOTION_START] = {"a start of motion", "history", ""},
    [ESPL_TAPE_MOTION_STOP] = {"a stop of motion", "", ""},
    [ESPL_TAPE_TICK_BEGIN] = {"the begin of a tick", "", ""},
    [ESPL_TAPE_TICK_END] = {"the end of a tick", "", ""},
    [ESPL_TAPE_IMAGE] = {"a load of an image", "flags|size of the image|image", ""},
    [ESPL_TAPE_ARCHIVE] = {"a read of an archive", "parent|flags|size of the archive|archive", ""},
    [ESPL_TAPE_APPLY] = {"an archive that is applied",
                         "parent|flags|size of the archive|archive|size of the known one|known "
                         "one|number of its entities|entities",
                         ""},
    [ESPL_TAPE_HISTORY_CREATE] = {"a start of a history", "number of frames|flags|byte limit", ""},
    [ESPL_TAPE_HISTORY_DESTROY] = {"an end of a history", "", ""},
    [ESPL_TAPE_MARK] = {"a mark", "frame", ""},
    [ESPL_TAPE_REWIND] = {"a rewind", "frame|flags", ""},
    [ESPL_TAPE_COUNTERPARTS] = {"originals of counterparts", "number of counterparts",
                                "counterpart|original"},
    [ESPL_TAPE_REBASE] = {"a rebase", "cells|offset", ""},
    [ESPL_TAPE_RECENTER] = {"a recenter", "limit", ""},
};

static const char *const write_kinds[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = "local position",
    [ESPL_WRITE_LOCAL_ROTATION] = "local rotation",
    [ESPL_WRITE_LOCAL_SCALE] = "local scale",
    [ESPL_WRITE_LOCAL_POSE] = "local pose",
    [ESPL_WRITE_LOCAL_TRANSFORM] = "local transform",
    [ESPL_WRITE_STRETCH] = "stretch",
    [ESPL_WRITE_USER_DATA] = "user data",
    [ESPL_WRITE_WORLD_POSITION] = "world position",
    [ESPL_WRITE_WORLD_ROTATION] = "world rotation",
    [ESPL_WRITE_WORLD_SCALE] = "world scale",
    [ESPL_WRITE_WORLD_POSE] = "world pose",
    [ESPL_WRITE_WORLD_TRANSFORM] = "world transform",
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = "translation in the parent",
    [ESPL_WRITE_ROTATE_IN_PARENT] = "rotation in the parent",
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = "transform in the parent",
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = "inverse transform in the parent",
    [ESPL_WRITE_TRANSLATE_WORLD] = "translation in the world",
    [ESPL_WRITE_ROTATE_WORLD] = "rotation in the world",
    [ESPL_WRITE_TRANSFORM_WORLD] = "transform in the world",
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = "inverse transform in the world",
    [ESPL_WRITE_MULTIPLY_SCALE] = "factor of the scale",
    [ESPL_WRITE_MULTIPLY_STRETCH] = "factors of the stretch",
    [ESPL_WRITE_TRANSLATE_OWN] = "translation in its own axes",
    [ESPL_WRITE_ROTATE_OWN] = "rotation in its own axes",
    [ESPL_WRITE_PREVIOUS_LOCAL_POSE] = "previous local pose",
    [ESPL_WRITE_PREVIOUS_WORLD_POSE] = "previous world pose",
    [ESPL_WRITE_CELL] = "cell",
    [ESPL_WRITE_ABSOLUTE_POSITION] = "absolute position",
};

static const char *const command_kinds[ESPL_TAPE_COMMAND_COUNT] = {
    [ESPL_TAPE_COMMAND_INSTANTIATE] = "an instantiate",
    [ESPL_TAPE_COMMAND_CREATE] = "a creation",
    [ESPL_TAPE_COMMAND_CREATE_BARE] = "a creation without a transform",
    [ESPL_TAPE_COMMAND_DESTROY] = "a destroy",
    [ESPL_TAPE_COMMAND_ATTACH] = "an attach",
    [ESPL_TAPE_COMMAND_DETACH] = "a detach",
    [ESPL_TAPE_COMMAND_SIBLING] = "a move among siblings",
    [ESPL_TAPE_COMMAND_WRITE] = "a write",
    [ESPL_TAPE_COMMAND_INHERIT] = "a write of inherit flags",
    [ESPL_TAPE_COMMAND_CHANGE] = "a change of components",
    [ESPL_TAPE_COMMAND_SET] = "a write of a component",
    [ESPL_TAPE_COMMAND_ENABLE] = "an enable",
    [ESPL_TAPE_COMMAND_DISABLE] = "a disable",
};

// The n-th name of a list, or the last one.
static const char *nth_word(const char *list, size_t n, char *out, size_t size)
{
    size_t length = strcspn(list, "|");

    for (; n > 0 && list[length] == '|'; --n) {
        list += length + 1;
        length = strcspn(list, "|");
    }
    (void)snprintf(out, size, "%.*s", (int)length, list);
    return out;
}

static const call_words *words_of(uint32_t op)
{
    return &words[op < ESPL_TAPE_OP_COUNT && words[op].call != NULL ? op : 0];
}

const char *tape_call_word(uint32_t op)
{
    return words_of(op)->call;
}

const char *tape_field_word(uint32_t op, size_t n, char *out, size_t size)
{
    return nth_word(words_of(op)->fields, n, out, size);
}

const char *tape_item_word(uint32_t op, size_t n, char *out, size_t size)
{
    return nth_word(words_of(op)->items, n, out, size);
}

const char *tape_command_word(uint64_t kind)
{
    return kind < ESPL_TAPE_COMMAND_COUNT && command_kinds[kind] != NULL ? command_kinds[kind]
                                                                         : "none";
}

const char *tape_write_word(uint64_t kind, char *out, size_t size)
{
    const uint64_t plain = kind & ~(uint64_t)(ESPL_TELEPORT | ESPL_CARRY);
    const char *const known = plain < ESPL_WRITE_KIND_COUNT ? write_kinds[plain] : NULL;
    const char *const name = known != NULL ? known : "none";

    (void)snprintf(out, size, "%s%s%s", name, kind & ESPL_TELEPORT ? ", teleported" : "",
                   kind & ESPL_CARRY ? ", carried" : "");
    return out;
}

void tape_line_add(tape_line *line, const char *format, ...)
{
    va_list arguments;

    if (line == NULL || line->length + 1 >= line->size) {
        return;
    }
    va_start(arguments, format);
    const int added =
        vsnprintf(line->text + line->length, line->size - line->length, format, arguments);
    va_end(arguments);
    line->length += added < 0 ? 0 : (size_t)added;
    line->length = line->length < line->size ? line->length : line->size - 1;
}

void tape_line_add_cell(tape_line *line, const uint32_t numbers[3])
{
    int32_t cell[3];

    memcpy(cell, numbers, sizeof cell);
    tape_line_add(line, "(%d %d %d)", cell[0], cell[1], cell[2]);
}
