// SPDX-License-Identifier: MIT
// espl_dump(): one entity as text, for people. It reads by the functions that other reads use and
// changes nothing. Not a fast path.
//
// The text does not depend on the locale, and the length that is returned does not depend on the
// buffer.
#include "lib/tree/cells.h"
#include "lib/tree/motion.h"
#include "lib/world/entity_slots.h"
#include "lib/world/ownership.h"
#include "lib/world/read.h"
#include "lib/world/refusals.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

// --- Text ---

// Text that is written to the caller's buffer as far as it fits. The length counts all of it.
typedef struct dump_text {
    char *buffer; // [size]
    size_t size, length;
} dump_text;

// Append as printf() does. Within the buffer there is always a terminating 0.
static void print(dump_text *out, const char *format, ...) ESPL__PRINTF(2, 3);

static void print(dump_text *out, const char *format, ...)
{
    const size_t room = out->length < out->size ? out->size - out->length : 0;
    va_list arguments;

    va_start(arguments, format);
    const int more =
        vsnprintf(room != 0 ? out->buffer + out->length : NULL, room, format, arguments);
    va_end(arguments);
    // Formats are our own, so that none fails.
    out->length += more < 0 ? 0 : (size_t)more; // GCOVR_EXCL_BR_LINE
}

// A handle, and the name in quotation marks if there is one. Any handle.
static void print_entity(dump_text *out, const espl_world *world, espl_entity entity)
{
    const char *const name = espl__name_of_living(&world->store, entity);
    char handle[ESPL__HANDLE_TEXT];

    espl__handle_text(handle, entity);
    print(out, "%s", handle);
    if (name != NULL) {
        print(out, " \"%s\"", name);
    }
}

// Nine digits distinguish every float from every other. The characters that snprintf() writes for
// the decimal point depend on the locale, any number of bytes, and become one '.'; a NaN has no
// sign here.
static void print_float(dump_text *out, float value)
{
    char text[48], plain[48];
    size_t length = 0;

    if (!isfinite(value)) {
        print(out, " %s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    (void)snprintf(text, sizeof text, "%.9g", (double)value);
    for (const char *at = text; *at != '\0'; ++at) {
        ESPL_CHECK(length + 1 < sizeof plain);
        const bool is_plain = (*at >= '0' && *at <= '9') || *at == '-' || *at == '+' || *at == 'e';

        if (is_plain) {
            plain[length++] = *at;
        } else if (length == 0 || plain[length - 1] != '.') {
            plain[length++] = '.';
        }
    }
    plain[length] = '\0';
    print(out, " %s", plain);
}

// A label, and the numbers after it with a space before each.
static void print_floats(dump_text *out, const char *label, const float *values, size_t count)
{
    print(out, "%s", label);
    for (size_t i = 0; i < count; ++i) {
        print_float(out, values[i]);
    }
}

// --- Parts of an entity ---

// The role, the parent, the kind of link and the number of children.
static void print_links(dump_text *out, const espl_world *world, uint32_t slot)
{
    const espl__forest *const forest = &world->forest;
    const size_t children = espl__count_children(forest, slot);

    ESPL_CHECK(slot < forest->end);

    if (!espl__is_root(forest, slot)) {
        print(out, ": member of ");
        print_entity(out, world, espl__entity_of_slot(world, forest->parent[slot]));
        print(out, ", %s link",
              espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK) ? "free" : "owned");
    } else {
        print(out, children != 0 ? ": root" : ": solo");
    }
    print(out, ", %zu %s\n", children, children == 1 ? "child" : "children");
}

// Inherit flags by name; nothing where there are none.
static void print_flags(dump_text *out, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{ESPL_ABSOLUTE_X, "x"},        {ESPL_ABSOLUTE_Y, "y"},
                 {ESPL_ABSOLUTE_Z, "z"},        {ESPL_ABSOLUTE_FORWARD, "forward"},
                 {ESPL_ABSOLUTE_UP, "up"},      {ESPL_STRICT_UP, "strict up"},
                 {ESPL_ABSOLUTE_SCALE, "scale"}};

    if (flags == ESPL_COPY_PARENT) {
        print(out, "  copies its parent\n");
        return;
    }
    if (flags == 0) {
        return;
    }
    print(out, "  absolute:");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        if ((flags & names[i].flag) != 0) {
            print(out, " %s", names[i].name);
        }
    }
    print(out, "\n");
}

// All fields of a transform in one line.
static void print_transform(dump_text *out, const char *which, const espl_transform *t)
{
    print_floats(out, which, t->position, 3);
    print_floats(out, ", rotation", t->rotation, 4);
    print_floats(out, ", scale", &t->scale, 1);
    print_floats(out, ", stretch", t->stretch, 3);
    print(out, ", user data %lu\n", (unsigned long)t->user_data);
}

// The position, rotation and scale of a pose in one line.
static void print_pose(dump_text *out, const char *which, const espl_pose *pose)
{
    print_floats(out, which, pose->position, 3);
    print_floats(out, ", rotation", pose->rotation, 4);
    print_floats(out, ", scale", &pose->scale, 1);
    print(out, "\n");
}

// The cell of the hierarchy; nothing in a world without cells.
static void print_cell(dump_text *out, const espl__forest *forest, uint32_t slot)
{
    if (espl__forest_has_cells(forest)) {
        const espl__cell cell = espl__cell_of(forest, slot);

        print(out, "  cell: %ld %ld %ld\n", (long)cell.at[0], (long)cell.at[1], (long)cell.at[2]);
    }
}

// What motion keeps of an entity: nothing where it does not run.
static void print_motion(dump_text *out, const espl__forest *forest, uint32_t slot)
{
    if (!espl__forest_has_motion(forest)) {
        return;
    }
    const espl_pose previous = espl__previous_local(forest, slot),
                    shown = espl__shown_world(forest, slot);

    print_pose(out, "  previous local: position", &previous);
    print_pose(out, "  shown: position", &shown);
}

// Both transforms of an entity. A job of a parallel write does not read those of another job's
// hierarchy.
static void print_transforms(dump_text *out, const espl_world *world, uint32_t slot)
{
    if (espl__slot_is(&world->forest, slot, ESPL__SLOT_BARE)) {
        print(out, "  no transform\n");
        return;
    }
    if (ESPL_CHECKS >= 1 && espl__is_parallel(world) && !espl__may_read(world, slot)) {
        print(out, "  transforms of another job\n");
        return;
    }
    const espl_transform local = espl__read_local(world, slot),
                         seen = espl__read_world(world, slot);

    print_flags(out, espl__slot_kept(&world->forest, slot).flags);
    print_transform(out, "  local: position", &local);
    print_transform(out, "  world: position", &seen);
    print_motion(out, &world->forest, slot);
}

// A component and the first bytes of its value.
static void print_component(dump_text *out, const espl_world *world, uint32_t index,
                            espl_component component)
{
    const espl__component_info *const info = espl__component_info_of(&world->store, component);
    const unsigned char *const value = espl__row_value(&world->store, index, component);
    const size_t shown = info->size < ESPL_DUMP_BYTES ? info->size : ESPL_DUMP_BYTES;

    ESPL_CHECK(info->size == 0 || value != NULL);
    print(out, "  component %lu \"%s\"", (unsigned long)component, info->name);
    if (info->size == 0) {
        print(out, ", tag\n");
        return;
    }
    print(out, ", %lu bytes:", (unsigned long)info->size);
    for (size_t i = 0; i < shown; ++i) {
        print(out, " %02x", (unsigned)value[i]);
    }
    print(out, shown < info->size ? " ...\n" : "\n");
}

// All components but ESPL_TRANSFORM and the role, which have lines of their own.
static void print_components(dump_text *out, const espl_world *world, uint32_t index)
{
    const espl__archetype *const archetype =
        &world->store.archetypes[espl__entity_archetype(&world->store, index)];
    const size_t count = espl__array_length(archetype->set);

    for (size_t i = 0; i < count; ++i) {
        const espl_component component = archetype->set[i];

        if (component != ESPL_TRANSFORM && !espl__is_role(component)) {
            print_component(out, world, index, component);
        }
    }
}

// The handle of the original; nothing where there is none.
static void print_original(dump_text *out, const espl_world *world, uint32_t index)
{
    const espl_entity original = espl__original_of(&world->store.counterparts, index);
    char handle[ESPL__HANDLE_TEXT];

    if (!espl_entity_is_null(original)) {
        espl__handle_text(handle, original);
        print(out, "  counterpart of %s\n", handle);
    }
}

size_t espl_dump(const espl_world *world, espl_entity entity, char *buffer, size_t size)
{
    dump_text out = {buffer, size, 0};

    if (world == NULL || (size != 0 && !espl__is_given(world, "espl_dump", buffer, "buffer"))) {
        return 0;
    }
    const espl_status status = espl__check_living(world, entity);

    print(&out, "entity ");
    print_entity(&out, world, entity);
    if (status != ESPL_OK) {
        print(&out, ": %s\n", espl_status_name(status));
        return out.length;
    }
    const uint32_t slot = world->store.records[entity.index].slot;

    print_links(&out, world, slot);
    print_original(&out, world, entity.index);
    print_cell(&out, &world->forest, slot);
    print_transforms(&out, world, slot);
    print_components(&out, world, entity.index);
    return out.length;
}
