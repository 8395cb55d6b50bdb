// SPDX-License-Identifier: MIT
// Reads the command line: what to run, not whether it exists.
#include "bench/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { worker_limit = 256 };

void options_help(void)
{
    puts(
        "Usage: course [OPTION]...\n"
        "Run schemes of transform hierarchies over the same work, alternating, and print medians.\n"
        "\n"
        "  --load L,...     loads to run, by name (all)\n"
        "  --scheme S,...   schemes to run, by name (all)\n"
        "  --shape TEXT     only shapes whose name contains TEXT\n"
        "  --workers N,...  threads of the schemes that can use them (1; in loads that make work\n"
        "                   for threads 1 and 2)\n"
        "  --short          only the short course\n"
        "  --eager          workers of the library stay awake between calls\n"
        "  --huge-pages on|off  large blocks of all schemes in huge pages (on)\n"
        "  --csv FILE       write the results to FILE too\n"
        "  --list           print the loads with their shapes, and the schemes\n"
        "  --help           print this\n"
        "\n"
        "Exit status: 0 checksums agree, 1 they differ, 2 wrong usage, 3 could not go on.");
}

size_t list_step(const char **list)
{
    const size_t length = strcspn(*list, ",");

    *list += length + ((*list)[length] == ',');
    return length;
}

bool list_has(const char *list, const char *name)
{
    while (list != NULL && *list != '\0') {
        const char *const item = list;
        const size_t length = list_step(&list);

        if (length == strlen(name) && memcmp(item, name, length) == 0) {
            return true;
        }
    }
    return list == NULL;
}

static bool read_workers(struct options *out, const char *list)
{
    out->worker_count = 0;
    do {
        char *end = NULL;
        const unsigned long count = strtoul(list, &end, 10);
        const bool is_number = end != list && (*end == ',' || *end == '\0');

        if (!is_number || count < 1 || count > worker_limit ||
            out->worker_count == WORKER_LIST_LIMIT) {
            fprintf(stderr, "course: --workers takes up to %d numbers from 1 to %d\n",
                    WORKER_LIST_LIMIT, worker_limit);
            return false;
        }
        out->workers[out->worker_count++] = (unsigned)count;
        list_step(&list);
    } while (*list != '\0');
    return true;
}

static bool read_huge_pages(struct options *out, const char *word)
{
    if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0) {
        fprintf(stderr, "course: --huge-pages takes on or off, not '%s'\n", word);
        return false;
    }
    out->huge_pages = word;
    return true;
}

static bool read_option(struct options *out, int letter)
{
    switch (letter) {
    case 'l':
        out->loads = optarg;
        return true;
    case 's':
        out->schemes = optarg;
        return true;
    case 'p':
        out->shape = optarg;
        return true;
    case 'w':
        return read_workers(out, optarg);
    case 'c':
        out->csv = optarg;
        return true;
    case 'q':
        out->is_short = true;
        return true;
    case 'e':
        out->is_eager = true;
        return true;
    case 'g':
        return read_huge_pages(out, optarg);
    case 'i':
        out->wants_list = true;
        return true;
    case 'h':
        out->wants_help = true;
        return true;
    default:
        return false; // getopt has said why.
    }
}

bool options_read(struct options *out, int argc, char **argv)
{
    static const struct option known[] = {
        {"load", required_argument, NULL, 'l'},
        {"scheme", required_argument, NULL, 's'},
        {"shape", required_argument, NULL, 'p'},
        {"workers", required_argument, NULL, 'w'},
        {"csv", required_argument, NULL, 'c'},
        {"short", no_argument, NULL, 'q'},
        {"eager", no_argument, NULL, 'e'},
        {"huge-pages", required_argument, NULL, 'g'},
        {"list", no_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    *out = (struct options){0};
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (!read_option(out, letter)) {
            return false;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "course: what is '%s'?\n", argv[optind]);
        return false;
    }
    return true;
}
