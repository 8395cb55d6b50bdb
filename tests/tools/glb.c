// SPDX-License-Identifier: MIT
#include "tests/tools/glb.h"

#include "tests/runner.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// Name a file of this process alone, because suites run beside each other.
static const char *name_file(const char *end)
{
    static char path[64];

    (void)snprintf(path, sizeof path, "gltf_test_%ld.%s", (long)getpid(), end);
    return path;
}

int glb_add_view(glb_maker *maker, const void *bytes, size_t size, const char *more)
{
    char *const end = maker->views + strlen(maker->views);

    ck_assert_uint_le(maker->size + size + 4, sizeof maker->bytes);
    memcpy(maker->bytes + maker->size, bytes, size);
    (void)snprintf(end, sizeof maker->views - strlen(maker->views),
                   "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu%s}",
                   maker->view_count > 0 ? "," : "", maker->size, size, more);
    maker->size += (size + 3) / 4 * 4;
    return maker->view_count++;
}

int glb_add_accessor(glb_maker *maker, const char *format, ...)
{
    const size_t length = strlen(maker->accessors);
    va_list arguments;

    (void)snprintf(maker->accessors + length, sizeof maker->accessors - length, "%s{",
                   maker->accessor_count > 0 ? "," : "");
    const size_t start = strlen(maker->accessors);
    va_start(arguments, format);
    (void)vsnprintf(maker->accessors + start, sizeof maker->accessors - start, format, arguments);
    va_end(arguments);
    (void)strcat(maker->accessors, "}");
    return maker->accessor_count++;
}

int glb_add_floats(glb_maker *maker, size_t count, size_t components, const float *values)
{
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    const int view = glb_add_view(maker, values, count * components * sizeof *values, "");

    return glb_add_accessor(
        maker, "\"bufferView\":%d,\"componentType\":5126,\"count\":%zu,\"type\":\"%s\"", view,
        count, types[components]);
}

static void put_u32(FILE *file, size_t number)
{
    for (int i = 0; i < 4; ++i) {
        (void)fputc((int)(number >> 8 * i & 0xff), file);
    }
}

const char *glb_write(const glb_maker *maker, const char *rest)
{
    char json[16384];
    const char *const path = name_file("glb");
    FILE *const file = fopen(path, "wb");

    (void)snprintf(json, sizeof json,
                   "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%zu}],"
                   "\"bufferViews\":[%s],\"accessors\":[%s],%s}",
                   maker->size, maker->views, maker->accessors, rest);
    while (strlen(json) % 4 != 0) {
        (void)strcat(json, " ");
    }
    ck_assert_ptr_nonnull(file);
    (void)fputs("glTF", file);
    put_u32(file, 2);
    put_u32(file, 12 + 8 + strlen(json) + 8 + maker->size);
    put_u32(file, strlen(json));
    (void)fputs("JSON", file);
    (void)fputs(json, file);
    put_u32(file, maker->size);
    (void)fwrite("BIN", 1, 4, file);
    (void)fwrite(maker->bytes, 1, maker->size, file);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

bool glb_load(tool_scene *out, const glb_maker *maker, const char *rest, const char *animation,
              tool_fault *fault)
{
    const char *const path = glb_write(maker, rest);
    const bool is_good = scene_load(out, path, animation, fault);
    ck_assert_int_eq(remove(path), 0);
    return is_good;
}

bool glb_load_text(tool_scene *out, const char *rest, tool_fault *fault)
{
    const char *const path = name_file("gltf");
    FILE *const file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    (void)fprintf(file, "{\"asset\":{\"version\":\"2.0\"},%s}", rest);
    ck_assert_int_eq(fclose(file), 0);
    const bool is_good = scene_load(out, path, NULL, fault);
    ck_assert_int_eq(remove(path), 0);
    return is_good;
}

glb_maker glb_two_outputs(void)
{
    static const float slow[] = {1, 0, 0, 1, 0, 0}, fast[] = {5, 0, 0, 5, 0, 0};
    static const float times[] = {0, 1};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 2, 1, times);
    (void)glb_add_floats(&maker, 2, 3, slow);
    (void)glb_add_floats(&maker, 2, 3, fast);
    return maker;
}
