// SPDX-License-Identifier: MIT
#include "tools/gltf_keys.h"

#include <stdlib.h>
#include <string.h>

/// Types of components, by glTF's numbers.
enum { INT8 = 5120, UINT8 = 5121, INT16 = 5122, UINT16 = 5123, UINT32 = 5125, FLOAT32 = 5126 };

/// Bytes of a component; 0: glTF has no such type.
static size_t component_size(int type)
{
    switch (type) {
    case INT8:
    case UINT8:
        return 1;
    case INT16:
    case UINT16:
        return 2;
    case UINT32:
    case FLOAT32:
        return 4;
    default:
        return 0;
    }
}

/// Read a component as it is. glTF is little-endian.
static double read_component(const unsigned char *at, int type)
{
    uint32_t bits = 0;
    float number;

    for (size_t i = component_size(type); i-- > 0;) {
        bits = bits << 8 | at[i];
    }
    switch (type) {
    case INT8:
        return (double)bits - (bits >> 7) * 256.0;
    case INT16:
        return (double)bits - (bits >> 15) * 65536.0;
    case FLOAT32:
        memcpy(&number, &bits, sizeof number);
        return (double)number;
    default:
        return (double)bits;
    }
}

/// What a normalised integer stands for; the smallest signed one is -1 too.
static double normalize(double number, int type)
{
    static const double most[] = {127, 255, 32767, 65535};

    if (type < INT8 || type > UINT16) {
        return number;
    }
    const double share = number / most[type - INT8];
    return share < -1 ? -1 : share;
}

/// Elements in a buffer view.
typedef struct element_range {
    const unsigned char *bytes;
    size_t stride;
} element_range;

/// Find elements in a view, if all of them lie in it. @param stride  0: tightly packed.
static bool find_elements(element_range *out, const gltf_bytes *view, size_t offset, size_t count,
                          size_t size, size_t stride)
{
    out->stride = stride > 0 ? stride : size;
    if (count == 0 || size == 0) {
        return count == 0;
    }
    if (offset > view->size || size > view->size - offset ||
        count - 1 > (view->size - offset - size) / out->stride) {
        return false;
    }
    out->bytes = view->bytes + offset;
    return true;
}

static void decode_element(double *out, const unsigned char *at, const gltf_accessor *accessor)
{
    for (size_t i = 0; i < accessor->components; ++i) {
        const int type = accessor->component_type;
        const double number = read_component(at + i * component_size(type), type);

        out[i] = accessor->is_normalized ? normalize(number, type) : number;
    }
}

/// Replace the elements that a sparse accessor names.
static bool replace_elements(double *values, const gltf_file *file, const gltf_accessor *accessor)
{
    const size_t size = accessor->components * component_size(accessor->component_type);
    const size_t index_size = component_size(accessor->index_type);
    const bool is_unsigned = accessor->index_type == UINT8 || accessor->index_type == UINT16 ||
                             accessor->index_type == UINT32;
    element_range indices = {0}, elements = {0};
    gltf_bytes view;

    if (accessor->sparse_count > accessor->count || !is_unsigned || accessor->index_offset < 0 ||
        accessor->value_offset < 0 || !gltf_read_view(file, accessor->index_view, &view) ||
        !find_elements(&indices, &view, (size_t)accessor->index_offset, accessor->sparse_count,
                       index_size, 0) ||
        !gltf_read_view(file, accessor->value_view, &view) ||
        !find_elements(&elements, &view, (size_t)accessor->value_offset, accessor->sparse_count,
                       size, 0)) {
        return false;
    }
    for (size_t i = 0; i < accessor->sparse_count; ++i) {
        const double index = read_component(indices.bytes + i * index_size, accessor->index_type);

        if (index >= (double)accessor->count) {
            return false;
        }
        decode_element(values + (size_t)index * accessor->components, elements.bytes + i * size,
                       accessor);
    }
    return true;
}

/// Decode the elements that are stored one after the other. @param values  zeroed.
static bool decode_elements(double *values, const gltf_file *file, const gltf_accessor *accessor)
{
    const size_t size = accessor->components * component_size(accessor->component_type);
    element_range elements = {0};
    gltf_bytes view;

    if (accessor->view == -1) {
        return true;
    }
    if (!gltf_read_view(file, accessor->view, &view) ||
        !find_elements(&elements, &view, accessor->offset, accessor->count, size, view.stride)) {
        return false;
    }
    for (size_t i = 0; i < accessor->count; ++i) {
        decode_element(values + i * accessor->components, elements.bytes + i * elements.stride,
                       accessor);
    }
    return true;
}

bool gltf_decode(const gltf_file *file, int accessor, size_t components, double **values,
                 size_t *count, tool_fault *fault)
{
    gltf_accessor from;

    if (!gltf_read_accessor(file, accessor, &from)) {
        fault_say(fault, "accessor %d does not exist", accessor);
        return false;
    }
    if (from.components != components || component_size(from.component_type) == 0) {
        fault_say(fault, "accessor %d has the wrong type", accessor);
        return false;
    }
    if (from.count >= UINT32_MAX / components) {
        fault_say(fault, "accessor %d has %zu elements", accessor, from.count);
        return false;
    }
    double *const decoded = calloc(from.count * components + 1, sizeof *decoded);
    if (decoded == NULL) {
        fault_say(fault, "no memory for the %zu elements of accessor %d", from.count, accessor);
        return false;
    }
    if (!decode_elements(decoded, file, &from) ||
        (from.sparse_count > 0 && !replace_elements(decoded, file, &from))) {
        fault_say(fault, "accessor %d does not lie in its buffer, or is compressed", accessor);
        free(decoded);
        return false;
    }
    *values = decoded;
    *count = from.count;
    return true;
}

static bool find_form(key_form *out, const char *interpolation)
{
    if (*interpolation == '\0' || strcmp(interpolation, "LINEAR") == 0) {
        *out = KEYS_LINEAR;
    } else if (strcmp(interpolation, "STEP") == 0) {
        *out = KEYS_STEP;
    } else if (strcmp(interpolation, "CUBICSPLINE") == 0) {
        *out = KEYS_CUBIC;
    } else {
        return false;
    }
    return true;
}

bool gltf_take_track(key_track *track, const gltf_file *file, const gltf_channel *channel,
                     size_t components, tool_fault *fault)
{
    double *times = NULL, *values = NULL;
    size_t count = 0, rows = 0;
    key_form form = KEYS_LINEAR;

    if (!find_form(&form, channel->interpolation)) {
        fault_say(fault, "has keys of unknown interpolation '%s'", channel->interpolation);
        return false;
    }
    bool is_good = gltf_decode(file, channel->input, 1, &times, &count, fault) &&
                   gltf_decode(file, channel->output, components, &values, &rows, fault);
    if (is_good && (count == 0 || rows != (form == KEYS_CUBIC ? 3 : 1) * count)) {
        fault_say(fault, "has %zu times of keys and %zu values", count, rows);
        is_good = false;
    }
    if (is_good && !key_track_reserve(track, count, form)) {
        fault_say(fault, "no memory for %zu keys", count);
        is_good = false;
    }
    for (size_t i = 0; is_good && i < rows; ++i) {
        memcpy(track->values[i], values + i * components, components * sizeof *values);
    }
    for (size_t i = 0; is_good && i < count; ++i) {
        track->times[i] = times[i];
    }
    free(times);
    free(values);
    return is_good;
}

static bool indices_are_below(const gltf_file *file, int accessor, size_t limit, tool_fault *fault)
{
    double *indices = NULL;
    size_t count = 0;

    if (!gltf_decode(file, accessor, 1, &indices, &count, fault)) {
        return false;
    }
    bool is_good = true;
    for (size_t i = 0; is_good && i < count; ++i) {
        is_good = indices[i] < (double)limit;
    }
    free(indices);
    if (!is_good) {
        fault_say(fault, "faces name vertices that do not exist (indices out of range)");
    }
    return is_good;
}

bool gltf_faces_are_valid(const gltf_file *file, tool_fault *fault)
{
    int indices = -1, positions = -1;

    for (size_t i = 0; gltf_read_faces(file, i, &indices, &positions); ++i) {
        gltf_accessor vertices;

        if (indices >= 0 && positions >= 0 && gltf_read_accessor(file, positions, &vertices) &&
            !indices_are_below(file, indices, vertices.count, fault)) {
            return false;
        }
    }
    return true;
}
