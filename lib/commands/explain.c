// SPDX-License-Identifier: MIT
// What is wrong with arguments, in words: see explain.h. Each function repeats what a check asks,
// with a sentence for each answer, so that the checks themselves stay short.
//
// Most functions are called with arguments that a check refused. They ask in the order of the
// check, so that the sentence is about the argument that the status is about. NULL means that the
// status needs no sentence of its own. A sentence is a constant, or is written to the buffer of the
// caller, and lives as long as that.
#include "lib/commands/explain.h"

// --- Writes ---

#define NAME(kind) [kind] = #kind
static const char *const kind_names[ESPL_WRITE_KIND_COUNT] = {
    NAME(ESPL_WRITE_LOCAL_POSITION),
    NAME(ESPL_WRITE_LOCAL_ROTATION),
    NAME(ESPL_WRITE_LOCAL_SCALE),
    NAME(ESPL_WRITE_LOCAL_POSE),
    NAME(ESPL_WRITE_LOCAL_TRANSFORM),
    NAME(ESPL_WRITE_STRETCH),
    NAME(ESPL_WRITE_USER_DATA),
    NAME(ESPL_WRITE_WORLD_POSITION),
    NAME(ESPL_WRITE_WORLD_ROTATION),
    NAME(ESPL_WRITE_WORLD_SCALE),
    NAME(ESPL_WRITE_WORLD_POSE),
    NAME(ESPL_WRITE_WORLD_TRANSFORM),
    NAME(ESPL_WRITE_TRANSLATE_IN_PARENT),
    NAME(ESPL_WRITE_ROTATE_IN_PARENT),
    NAME(ESPL_WRITE_TRANSFORM_IN_PARENT),
    NAME(ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT),
    NAME(ESPL_WRITE_TRANSLATE_WORLD),
    NAME(ESPL_WRITE_ROTATE_WORLD),
    NAME(ESPL_WRITE_TRANSFORM_WORLD),
    NAME(ESPL_WRITE_INVERSE_TRANSFORM_WORLD),
    NAME(ESPL_WRITE_MULTIPLY_SCALE),
    NAME(ESPL_WRITE_MULTIPLY_STRETCH),
    NAME(ESPL_WRITE_TRANSLATE_OWN),
    NAME(ESPL_WRITE_ROTATE_OWN),
    NAME(ESPL_WRITE_PREVIOUS_LOCAL_POSE),
    NAME(ESPL_WRITE_PREVIOUS_WORLD_POSE),
    NAME(ESPL_WRITE_CELL),
    NAME(ESPL_WRITE_ABSOLUTE_POSITION),
};

const char *espl__write_kind_name(espl__kind_name *out, espl_write_kind kind)
{
    const unsigned flag = espl__write_flag(kind);

    if (!espl__write_exists(kind)) {
        return "unknown kind";
    }
    if (flag == 0) {
        return kind_names[kind];
    }
    (void)snprintf(out->text, sizeof out->text, "%s | %s", kind_names[espl__write_base(kind)],
                   flag == ESPL_TELEPORT ? "ESPL_TELEPORT" : "ESPL_CARRY");
    return out->text;
}

const char *espl__kind_fault(espl_write_kind kind)
{
    if ((unsigned)espl__write_base(kind) >= ESPL_WRITE_KIND_COUNT) {
        return "The kind is none of espl_write_kind.";
    }
    if (espl__write_flag(kind) == ESPL__WRITE_FLAGS) {
        return "The kind has ESPL_TELEPORT and ESPL_CARRY; a write has one flag at most.";
    }
    return espl__write_base(kind) >= ESPL_WRITE_CELL
               ? "The kind sets a cell or an absolute position, and takes no flag."
               : "The kind sets the previous pose, and takes no flag.";
}

// What the three numbers of a write are, in words.
static const char *vector_name(espl_write_kind kind)
{
    return kind == ESPL_WRITE_STRETCH || kind == ESPL_WRITE_MULTIPLY_STRETCH ? "stretch"
                                                                             : "position";
}

// The kind comes before the value, because the kind tells how many bytes the value has.
const char *espl__write_fault(espl__sentence *out, espl_write_kind kind, const void *bytes)
{
    espl_write_value value;
    const char *fault = NULL;

    if (!espl__write_exists(kind)) {
        return espl__kind_fault(kind);
    }
    if (bytes == NULL) {
        return "value is NULL.";
    }
    espl__write_load(&value, kind, bytes);
    switch (espl__write_value_type(kind)) {
    case ESPL__VALUE_VECTOR:
        return espl__floats_fault(out, vector_name(espl__write_base(kind)), value.position, 3);
    case ESPL__VALUE_ROTATION:
        return espl__rotation_fault(out, "rotation", value.rotation);
    case ESPL__VALUE_SCALAR:
        return espl__floats_fault(out, "scale", &value.scale, 1);
    case ESPL__VALUE_POSE:
    case ESPL__VALUE_TRANSFORM:
        fault = espl__transform_fault(out, &value.transform);
        break;
    case ESPL__VALUE_CELL:
        return "Cells are of roots and solos of a world that has them (espl_world_def.cell_size).";
    case ESPL__VALUE_DOUBLES:
        return "A coordinate is NaN or infinite.";
    default:
        break;
    }
    return fault != NULL || espl__write_is_ordinary(espl__write_base(kind))
               ? fault
               : "The kind needs motion; call espl_motion_start() first.";
}

// Precondition: the value is there. Of a kind that does not exist nothing is read, because batches ask for all
// entries, refused ones too.
const char *espl__write_blank(espl_write_kind kind, const void *value)
{
    espl_write_value loaded;

    if (!espl__write_exists(kind) || !espl__write_sets_whole(kind)) {
        return NULL;
    }
    espl__write_load(&loaded, kind, value);
    return espl__transform_blank(&loaded.transform);
}

// `up` may be NULL, which is no fault.
const char *espl__look_at_fault(espl__sentence *out, const float *target, const float *up,
                                espl_status status)
{
    const char *fault = NULL;

    if (status == ESPL_ERR_ARGUMENT) {
        return target == NULL ? "target is NULL." : "forward is none of espl_axis.";
    }
    if (status == ESPL_ERR_NOT_FINITE) {
        fault = espl__floats_fault(out, "target", target, 3);
        fault = fault == NULL && up != NULL ? espl__floats_fault(out, "up", up, 3) : fault;
    }
    return fault;
}

// The turn may also be refused because a rotation has no length.
const char *espl__rotate_about_fault(espl__sentence *out, const float *pivot, const float *by,
                                     espl_status status)
{
    const char *fault = NULL;

    if (status == ESPL_ERR_ARGUMENT) {
        return pivot == NULL ? "pivot is NULL." : "by is NULL.";
    }
    if (status == ESPL_ERR_NOT_FINITE) {
        fault = espl__floats_fault(out, "pivot", pivot, 3);
        fault = fault == NULL ? espl__rotation_fault(out, "by", by) : fault;
    }
    return fault;
}

// --- Rules ---

const char espl__given_twice[] =
    "The component is listed twice; a call gives it once, or takes it away.";

// Two faults are possible: an unknown bit, and flags beside ESPL_COPY_PARENT, which would have no
// effect.
const char *espl__flags_fault(uint32_t flags)
{
    if (espl__flags_are_valid(flags)) {
        return NULL;
    }
    return flags > ESPL__FLAGS_ALL
               ? "The inherit flags have a bit that is no ESPL_ABSOLUTE_ flag; they are one byte."
               : "ESPL_COPY_PARENT takes no other inherit flag with it.";
}

// Precondition: `o` is not NULL. The fields in the order of the struct.
const char *espl__options_fault(const espl_attach_options *o)
{
    if (!espl__is_stay(o->position)) {
        return "options->position is none of espl_keep.";
    }
    if (!espl__is_stay(o->rotation)) {
        return "options->rotation is none of espl_keep.";
    }
    if (!espl__is_stay(o->scale)) {
        return "options->scale is none of espl_keep.";
    }
    return !espl__is_link(o->link) ? "options->link is none of espl_link."
                                   : espl__flags_fault(o->inherit);
}

// The rules of creations and clones have the same names in both definitions, so that one sentence
// fits both.
const char *espl__rules_fault(espl_link link, espl_place place, espl_dead_parent dead_parent,
                              uint32_t inherit, bool has_parent)
{
    if (!espl__is_link(link)) {
        return "def->link is none of espl_link.";
    }
    if ((unsigned)place > ESPL_PLACE_WORLD) {
        return "def->place is none of espl_place.";
    }
    if ((unsigned)dead_parent > ESPL_DEAD_PARENT_ROOT) {
        return "def->dead_parent is none of espl_dead_parent.";
    }
    if (inherit != 0 && !has_parent) {
        return "def->inherit is given without a parent to inherit from.";
    }
    return espl__flags_fault(inherit);
}

// --- Recorders ---

// Tell whether a status is about an entity that a command names: whether that entity alone would
// cause it. The world is not asked, because a recorder must not read it.
static bool is_about_handle(const espl_command_buffer *owner, const espl__mention *named,
                            espl_status status)
{
    return espl__check_operand(owner, &named->entity) == status;
}

// Add the entities, the one that the status is about first.
static void add_named(espl__message *m, const espl_command_buffer *owner,
                      const espl__mention *named, espl_status status)
{
    size_t count = 0, culprit = 0;

    while (count < 3 && named[count].role != NULL) {
        count += 1;
    }
    while (culprit < count && !is_about_handle(owner, &named[culprit], status)) {
        culprit += 1;
    }
    if (culprit < count) {
        espl__message_entity(m, named[culprit].role, named[culprit].entity);
    }
    for (size_t i = 0; i < count; ++i) {
        if (i != culprit && !espl_entity_is_null(named[i].entity)) {
            espl__message_entity(m, named[i].role, named[i].entity);
        }
    }
}

// Add the number of the lane.
static void add_lane(espl__message *m, const espl_recorder *recorder)
{
    // The world's own buffer, in which immediate calls record, has one lane, which callers do not
    // see.
    if (recorder->owner->tag != ESPL__NO_TAG) {
        espl__message_part(m, "lane %lu", (unsigned long)recorder->number);
    }
}

// The line has, in this order, the status, the lane, the entities, the component and the sentence.
// Any thread may call it, because the hooks of a world let one thread in at a time.
espl_status espl__refuse_record(const espl_recorder *recorder, const char *call, espl_status status,
                                const espl__cause *cause)
{
    espl__message m;

    if (recorder == NULL || !espl__message_begin(&m, recorder->owner->hooks, call, NULL)) {
        return status;
    }
    const espl_command_buffer *const owner = recorder->owner;

    ESPL_CHECK(status < 0 && cause != NULL);
    espl__message_status(&m, status);
    add_lane(&m, recorder);
    add_named(&m, owner, cause->named, status);
    if (cause->value != NULL) {
        espl__message_value(&m, owner->store, cause->value->component, cause->value->size);
    } else if (cause->component != NULL) {
        espl__message_component(&m, owner->store, *cause->component);
    }
    const bool is_fault = status == ESPL_ERR_ARGUMENT || status == ESPL_ERR_NOT_FINITE ||
                          status == ESPL_ERR_UNSUPPORTED;

    espl__message_send(&m, ESPL_LOG_WARNING, "%s",
                       is_fault && cause->why != NULL ? cause->why : espl_status_text(status));
    return status;
}

// A warning without a status, because the command was recorded.
void espl__remark_recorded(const espl_recorder *recorder, const char *call, const char *role,
                           espl_entity entity, const char *blank)
{
    espl__message m;

    if (blank != NULL && espl__message_begin(&m, recorder->owner->hooks, call, NULL)) {
        add_lane(&m, recorder);
        if (!espl_entity_is_null(entity)) {
            espl__message_entity(&m, role, entity);
        }
        espl__message_blank(&m, blank);
    }
}
