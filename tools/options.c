// SPDX-License-Identifier: MIT
#include "tools/options.h"

#include <espalier/base.h>

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_LIMIT 1000000
#define FRAMES_LIMIT 1000000
#define TICKS_LIMIT 10000
#define AHEAD_LIMIT 10
#define WORKERS_LIMIT 256

static const char usage[] =
    "usage: espalier play  [--copies N] [--frames N] [--ticks N [--ahead T]] [--workers N]\n"
    "                      [--seed N] [--png FILE] [--json FILE] [--animation NAME|N]\n"
    "                      [--within LENGTH] [--strict] [--quiet] SCENE...\n"
    "       espalier check [--frames N] [--workers N] [--json FILE] [--animation NAME|N]\n"
    "                      [--within LENGTH] [--strict] [--quiet] SCENE...\n"
    "       espalier tree  SCENE...\n"
    "       espalier replay [--frames N] [--workers N] [--quiet] TAPE...\n";

static const char help[] =
    "\n"
    "Play scenes made by others in Espalier's transform hierarchies.\n"
    "\n"
    "  play   spawn copies of each scene under moving carriers, animate them, respawn some\n"
    "         each frame, and compare world transforms read mid-frame with an oracle\n"
    "  check  load each scene, validate it, and compare every world transform with an oracle\n"
    "  tree   print each scene's hierarchy: depth, role, local and world placement\n"
    "  replay play tapes that worlds recorded, and compare each answer and frame with them\n"
    "\n"
    "A SCENE is glTF, any file that Assimp reads (BVH, COLLADA, FBX, IFC, OBJ, ...) or a model\n"
    "in MuJoCo's MJCF, or a robot or world in URDF or SDF.\n"
    "\n"
    "  -n, --copies N       copies of each scene (100)\n"
    "  -f, --frames N       frames to play (60), or moments to check (100; MJCF: 500 steps)\n"
    "  -k, --ticks N        move N times a second, draw 60 frames a second, and compare what\n"
    "                       they show with an oracle as well\n"
    "  -d, --ahead T        show frames T ticks ahead of their time (0): 1 is the present, by\n"
    "                       extrapolation; from -10 to 10\n"
    "  -w, --workers N      threads (1); 0 is one for each processor\n"
    "  -s, --seed N         seed of everything random (1); the same seed gives the same worlds\n"
    "  -p, --png FILE       draw the final poses, and what was checked\n"
    "  -j, --json FILE      write the figures as JSON; - is stdout, in place of the table\n"
    "  -e, --within LENGTH  largest error of a position, besides the bound of rounding\n"
    "  -a, --animation NAME|N  the animation to play, of several (the first)\n"
    "  -t, --strict         fail also where something is not compared\n"
    "  -q, --quiet          print failures only\n"
    "  -h, --help           print this\n"
    "  -V, --version        print the version\n"
    "\n"
    "Exit status: 0 the oracle agreed, 1 it did not, 2 a scene or the command line is bad.\n";

static const struct option long_options[] = {
    {"copies", required_argument, NULL, 'n'},
    {"frames", required_argument, NULL, 'f'},
    {"ticks", required_argument, NULL, 'k'},
    {"ahead", required_argument, NULL, 'd'},
    {"workers", required_argument, NULL, 'w'},
    {"seed", required_argument, NULL, 's'},
    {"png", required_argument, NULL, 'p'},
    {"json", required_argument, NULL, 'j'},
    {"within", required_argument, NULL, 'e'},
    {"animation", required_argument, NULL, 'a'},
    {"strict", no_argument, NULL, 't'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static bool parse_number(uint64_t *out, const char *text, uint64_t least, uint64_t most,
                         const char *what)
{
    char *end = NULL;

    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || strchr(text, '-') != NULL || value < least ||
        value > most) {
        (void)fprintf(stderr, "espalier: --%s takes a whole number from %llu to %llu, not '%s'\n",
                      what, (unsigned long long)least, (unsigned long long)most, text);
        return false;
    }
    *out = value;
    return true;
}

static bool parse_small(uint32_t *out, const char *text, uint32_t least, uint32_t most,
                        const char *what)
{
    uint64_t value = 0;

    if (!parse_number(&value, text, least, most, what)) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static bool parse_length(double *out, const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value > 0) || isinf(value)) {
        (void)fprintf(stderr, "espalier: --within takes a length above 0, not '%s'\n", text);
        return false;
    }
    *out = value;
    return true;
}

static bool parse_ahead(double *out, const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(fabs(value) <= AHEAD_LIMIT)) {
        (void)fprintf(stderr, "espalier: --ahead takes a number from -%d to %d, not '%s'\n",
                      AHEAD_LIMIT, AHEAD_LIMIT, text);
        return false;
    }
    *out = value;
    return true;
}

static bool parse_command(tool_command *out, const char *word)
{
    static const char *const words[] = {"play", "tree", "check", "replay"};

    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if (strcmp(word, words[i]) == 0) {
            *out = (tool_command)i;
            return true;
        }
    }
    (void)fprintf(stderr, "espalier: no command '%s'; there are play, check, tree and replay\n",
                  word);
    return false;
}

/// Take one option. @return OPTIONS_RUN to go on.
static options_result take_option(tool_options *options, int option)
{
    bool is_good = true;

    switch (option) {
    case 'n':
        is_good = parse_small(&options->copies, optarg, 1, COPIES_LIMIT, "copies");
        break;
    case 'f':
        is_good = parse_small(&options->frames, optarg, 1, FRAMES_LIMIT, "frames");
        break;
    case 'k':
        is_good = parse_small(&options->ticks, optarg, 1, TICKS_LIMIT, "ticks");
        break;
    case 'd':
        is_good = parse_ahead(&options->ahead, optarg);
        break;
    case 'w':
        is_good = parse_small(&options->workers, optarg, 0, WORKERS_LIMIT, "workers");
        break;
    case 's':
        is_good = parse_number(&options->seed, optarg, 0, UINT64_MAX, "seed");
        break;
    case 'e':
        is_good = parse_length(&options->within, optarg);
        break;
    case 'p':
        options->png = optarg;
        break;
    case 'j':
        options->json = optarg;
        break;
    case 'a':
        options->animation = optarg;
        break;
    case 't':
        options->is_strict = true;
        break;
    case 'q':
        options->is_quiet = true;
        break;
    case 'h':
        (void)printf("%s%s", usage, help);
        return OPTIONS_DONE;
    case 'V':
        (void)printf("espalier %d.%d.%d\n", ESPL_VERSION_MAJOR, ESPL_VERSION_MINOR,
                     ESPL_VERSION_PATCH);
        return OPTIONS_DONE;
    default: // getopt_long has said what is wrong
        is_good = false;
        break;
    }
    return is_good ? OPTIONS_RUN : OPTIONS_BAD;
}

/// Refuse options that a command does not have.
static bool has_options(const tool_options *options)
{
    const bool is_replay = options->command == COMMAND_REPLAY;

    if (options->json != NULL && (is_replay || options->command == COMMAND_TREE)) {
        (void)fprintf(stderr, "espalier: %s has no --json\n", is_replay ? "replay" : "tree");
        return false;
    }
    if (options->ticks > 0 && options->command != COMMAND_PLAY) {
        (void)fprintf(stderr, "espalier: only play has --ticks\n");
        return false;
    }
    if (options->ahead != 0 && options->ticks == 0) {
        (void)fprintf(stderr, "espalier: --ahead needs --ticks\n");
        return false;
    }
    if (options->png != NULL && is_replay) {
        (void)fprintf(stderr, "espalier: replay has no --png\n");
        return false;
    }
    if (options->animation != NULL && is_replay) {
        (void)fprintf(stderr, "espalier: replay has no --animation\n");
        return false;
    }
    if (options->is_strict && (is_replay || options->command == COMMAND_TREE)) {
        (void)fprintf(stderr, "espalier: %s has no --strict\n", is_replay ? "replay" : "tree");
        return false;
    }
    return true;
}

options_result options_parse(tool_options *out, int argc, char **argv)
{
    options_result result = OPTIONS_RUN;

    *out = (tool_options){.copies = 100, .workers = 1, .seed = 1};
    while (result == OPTIONS_RUN) {
        const int option = getopt_long(argc, argv, "n:f:k:d:w:s:p:j:e:a:tqhV", long_options, NULL);
        if (option == -1) {
            break;
        }
        result = take_option(out, option);
    }
    if (result != OPTIONS_RUN) {
        return result;
    }

    if (optind >= argc) {
        (void)fprintf(stderr, "%s", usage);
        return OPTIONS_BAD;
    }
    if (!parse_command(&out->command, argv[optind])) {
        return OPTIONS_BAD;
    }
    out->scenes = argv + optind + 1;
    out->scene_count = (size_t)(argc - optind - 1);
    if (out->scene_count == 0) {
        (void)fprintf(stderr, "espalier: %s needs a %s\n", argv[optind],
                      out->command == COMMAND_REPLAY ? "tape" : "scene");
        return OPTIONS_BAD;
    }
    if (!has_options(out)) {
        return OPTIONS_BAD;
    }
    out->is_quiet = out->is_quiet || (out->json != NULL && strcmp(out->json, "-") == 0);
    return OPTIONS_RUN;
}
