// SPDX-License-Identifier: MIT
#include "tools/outputs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/// Tell whether two paths lead to one file, through any links. Files that do not exist have paths alone.
static bool are_one_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    const bool has_a = stat(a, &of_a) == 0, has_b = stat(b, &of_b) == 0;

    if (has_a && has_b) {
        return S_ISREG(of_a.st_mode) && of_a.st_ino != 0 && of_a.st_ino == of_b.st_ino &&
               of_a.st_dev == of_b.st_dev;
    }
    return !has_a && !has_b && strcmp(a, b) == 0;
}

bool outputs_spare_inputs(const tool_options *options, const char *path, const char *what)
{
    for (size_t i = 0; i < options->scene_count; ++i) {
        if (are_one_file(path, options->scenes[i])) {
            (void)fprintf(stderr, "espalier: %s: %s would overwrite a file that is read\n", path,
                          what);
            return false;
        }
    }
    return true;
}

bool outputs_are_apart(const tool_options *options)
{
    const struct {
        const char *path, *option;
    } outputs[] = {{options->png, "--png"},      {options->film, "--film"},
                   {options->gltf, "--gltf"},    {options->trace, "--trace"},
                   {options->tape, "--tape"},    {options->json, "--json"},
                   {options->output, "--output"}};
    const size_t count = sizeof outputs / sizeof *outputs;

    for (size_t i = 0; i < count; ++i) {
        if (outputs[i].path == NULL || strcmp(outputs[i].path, "-") == 0) {
            continue;
        }
        if (!outputs_spare_inputs(options, outputs[i].path, outputs[i].option)) {
            return false;
        }
        for (size_t j = 0; j < i; ++j) {
            if (outputs[j].path != NULL && are_one_file(outputs[i].path, outputs[j].path)) {
                (void)fprintf(stderr, "espalier: %s: %s would overwrite what %s writes\n",
                              outputs[i].path, outputs[i].option, outputs[j].option);
                return false;
            }
        }
    }
    return true;
}
