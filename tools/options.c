// SPDX-License-Identifier: MIT
#include "tools/options.h"

#include "tools/packing.h"
#include "tools/rollback.h"

#include <espalier/base.h>

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_LIMIT 1000000
#define FRAMES_LIMIT 1000000
#define RATE_LIMIT 1000
/// Copies of a scene in a page of which none is destroyed, unless it is asked for.
#define FEW_COPIES 8
#define TICKS_LIMIT 10000
#define AHEAD_LIMIT 10
#define WORKERS_LIMIT 256
/// Pixels of a side of a film.
#define SIDE_LEAST 16
#define SIDE_LIMIT 8192

static const char usage[] =
    "usage: espalier play  [--copies N] [--frames N] [--rate N] [--ticks N [--ahead T]]\n"
    "                      [--respawn PERCENT] [--workers N] [--seed N] [--png FILE]\n"
    "                      [--film FILE|DIRECTORY [--camera orbit|chase] [--size WxH] [--boats]]\n"
    "                      [--cull] [--json FILE] [--tape FILE] [--animation NAME|N]\n"
    "                      [--within LENGTH] [--strict] [--quiet] SCENE...\n"
    "       espalier check [--frames N] [--workers N] [--json FILE] [--animation NAME|N]\n"
    "                      [--offset X,Y,Z [--cell-size LENGTH]] [--within LENGTH] [--strict]\n"
    "                      [--quiet] SCENE...\n"
    "       espalier tree  [--animation NAME|N] SCENE...\n"
    "       espalier replay [--frames N] [--rollback N] [--workers N] [--hashes] [--show PATH]\n"
    "                      [--quiet] TAPE...\n"
    "       espalier view  [--output FILE.html] [--frames N] [--copies N] [--ticks N] [--respawn "
    "P]\n"
    "                      [--animation NAME|N] [--quiet] SCENE|TAPE...\n"
    "       espalier pack  --output FILE [--level N] [--frames N] [--animation NAME|N]\n"
    "                      [--quiet] SCENE|TAPE|IMAGE|ARCHIVE\n"
    "       espalier unpack --output FILE [--quiet] ARCHIVE|IMAGE|TAPE\n"
    "       espalier info  ARCHIVE|IMAGE|TAPE...\n"
    "       espalier diff  [--quiet] ARCHIVE|IMAGE|SCENE ARCHIVE|IMAGE|SCENE\n"
    "       espalier diff  [--output FILE.html] [--quiet] TAPE TAPE\n"
    "       espalier export --gltf FILE|--trace FILE [--copies N] [--frames N] [--rate N]\n"
    "                      [--ticks N [--ahead T]] [--respawn PERCENT] [--workers N] [--seed N]\n"
    "                      [--animation NAME|N] [--within LENGTH] [--strict] [--quiet] SCENE\n";

static const char help[] =
    "\n"
    "Play scenes made by others in Espalier's transform hierarchies.\n"
    "\n"
    "  play   spawn copies of each scene under moving carriers, animate them, respawn some\n"
    "         each frame, and compare world transforms read mid-frame with an oracle\n"
    "  check  load each scene, validate it, and compare every world transform with an oracle\n"
    "  tree   print each scene's hierarchy: depth, role, local and world placement\n"
    "  replay play tapes that worlds recorded, and compare each answer and frame with them\n"
    "  pack   write a scene, or the world of a tape or image, as an archive packed by zstd\n"
    "  unpack check packed bytes, and write them\n"
    "  info   say what a file has: nodes, components with versions, sizes\n"
    "  diff   say what differs between two archives, images or scenes, or where two tapes part\n"
    "  export play a scene, and write its nodes with their movement, or a trace of playbacks\n"
    "  view   write an HTML page that plays scenes and tapes in a browser, by the library itself\n"
    "\n"
    "A SCENE is glTF, any file that Assimp reads (BVH, COLLADA, FBX, IFC, OBJ, ...) or a model\n"
    "in MuJoCo's MJCF, or a robot or world in URDF or SDF.\n"
    "\n"
    "  -n, --copies N       copies of each scene (100; view: 1)\n"
    "  -f, --frames N       frames to play (60; view: 120), or moments to check (100; MJCF: 500\n"
    "                       steps), or frames of a tape (all)\n"
    "  -u, --rate N         frames a second (60)\n"
    "  -k, --ticks N        move N times a second, with frames between them, and compare what\n"
    "                       the frames show with an oracle as well\n"
    "  -d, --ahead T        show frames T ticks ahead of their time (0): 1 is the present, by\n"
    "                       extrapolation; from -10 to 10\n"
    "  -x, --respawn P      percent of the copies destroyed in each frame or tick (5)\n"
    "  -w, --workers N      threads (1); 0 is one for each processor\n"
    "  -s, --seed N         seed of everything random (1); the same seed gives the same worlds\n"
    "  -p, --png FILE       draw the final poses, and what was checked\n"
    "  -m, --film FILE      draw all frames: a film that ends in .webm, .mp4 or .webp, by ffmpeg,\n"
    "                       or a directory of PNG files\n"
    "  -v, --camera KIND    orbit, around all (the first), or chase, behind the first copy\n"
    "  -z, --size WxH       pixels of the film, even numbers (960x540)\n"
    "  -b, --boats          draw the carriers of the film, as boats\n"
    "      --cull           find what two cameras see of the crowd, compare it with brute force,\n"
    "                       print the share that is culled, and draw it in pictures and films\n"
    "  -g, --gltf FILE      export nodes and movement as glTF: binary where it ends in .glb\n"
    "  -y, --trace FILE     export when frames, playbacks and their stages began and ended\n"
    "  -j, --json FILE      write the figures as JSON; - is stdout, in place of the table\n"
    "  -c, --tape FILE      record the calls of the world, to be replayed; of one scene\n"
    "  -e, --within LENGTH  largest error of a position, besides the bound of rounding\n"
    "      --offset X,Y,Z   check the scene there, in a world with cells\n"
    "      --cell-size L    of that world, a power of two (as wide as the scene)\n"
    "  -a, --animation NAME|N  the animation to play, of several (the first)\n"
    "      --hashes         print the logical and the physical hash of each frame\n"
    "      --show PATH      print the entity of this name, path or handle where the replay ends\n"
    "  -t, --strict         fail also where something is not compared\n"
    "  -o, --output FILE    where to write; - is stdout (view: the first input's name, with "
    ".html)\n"
    "  -r, --rollback N     go back N frames after each frame of a tape, at most 1024, and play\n"
    "                       them again\n"
    "  -l, --level N        level of zstd, from 1 to 19 (9)\n"
    "  -q, --quiet          print failures only\n"
    "  -h, --help           print this\n"
    "  -V, --version        print the version\n"
    "\n"
    "Exit status: 0 the oracle agreed, or nothing differs; 1 not so; 2 a file or the command\n"
    "line is bad.\n";

static const struct option long_options[] = {
    {"copies", required_argument, NULL, 'n'},
    {"frames", required_argument, NULL, 'f'},
    {"rate", required_argument, NULL, 'u'},
    {"ticks", required_argument, NULL, 'k'},
    {"ahead", required_argument, NULL, 'd'},
    {"respawn", required_argument, NULL, 'x'},
    {"workers", required_argument, NULL, 'w'},
    {"seed", required_argument, NULL, 's'},
    {"png", required_argument, NULL, 'p'},
    {"film", required_argument, NULL, 'm'},
    {"camera", required_argument, NULL, 'v'},
    {"size", required_argument, NULL, 'z'},
    {"boats", no_argument, NULL, 'b'},
    {"cull", no_argument, NULL, 'i'}, // has no short form
    {"gltf", required_argument, NULL, 'g'},
    {"trace", required_argument, NULL, 'y'},
    {"json", required_argument, NULL, 'j'},
    {"tape", required_argument, NULL, 'c'},
    {"within", required_argument, NULL, 'e'},
    {"offset", required_argument, NULL, 'O'},
    {"cell-size", required_argument, NULL, 'C'},
    {"animation", required_argument, NULL, 'a'},
    {"output", required_argument, NULL, 'o'},
    {"level", required_argument, NULL, 'l'},
    {"rollback", required_argument, NULL, 'r'},
    {"hashes", no_argument, NULL, 'H'},
    {"show", required_argument, NULL, 'I'},
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

/// Take three coordinates with commas between them.
static bool parse_offset(double out[3], const char *text)
{
    const char *at = text;
    bool is_good = true;

    for (int i = 0; is_good && i < 3; ++i) {
        char *end = NULL;
        const double value = strtod(at, &end);

        is_good = end != at && *end == (i < 2 ? ',' : '\0') && isfinite(value);
        out[i] = value;
        at = is_good ? end + 1 : at;
    }
    if (!is_good) {
        (void)fprintf(
            stderr, "espalier: --offset takes three numbers, as in 1e6,0,-2.5e3, not '%s'\n", text);
    }
    return is_good;
}

static bool parse_cell_size(float *out, const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    int exponent = 0;

    if (end == text || *end != '\0' || !(value >= 1 && value <= OPTIONS_CELL_MOST) ||
        frexp(value, &exponent) != 0.5) {
        (void)fprintf(
            stderr, "espalier: --cell-size takes a power of two from 1 to 2^30, not '%s'\n", text);
        return false;
    }
    *out = (float)value;
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

static bool parse_respawn(double *out, const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= 0 && value <= 100)) {
        (void)fprintf(stderr, "espalier: --respawn takes a number from 0 to 100, not '%s'\n", text);
        return false;
    }
    *out = value;
    return true;
}

static bool parse_camera(film_camera *out, const char *text)
{
    const bool is_chase = strcmp(text, "chase") == 0;

    if (!is_chase && strcmp(text, "orbit") != 0) {
        (void)fprintf(stderr, "espalier: --camera takes orbit or chase, not '%s'\n", text);
        return false;
    }
    *out = is_chase ? FILM_CHASE : FILM_ORBIT;
    return true;
}

/// Take a width and a height. Films of most formats have an even number of both.
static bool parse_size(uint32_t out[2], const char *text)
{
    unsigned width = 0, height = 0;
    int length = 0;
    const int found = sscanf(text, "%5ux%5u%n", &width, &height, &length);

    if (found != 2 || text[length] != '\0' || width % 2 != 0 || height % 2 != 0 ||
        width < SIDE_LEAST || height < SIDE_LEAST || width > SIDE_LIMIT || height > SIDE_LIMIT) {
        (void)fprintf(stderr,
                      "espalier: --size takes two even numbers from %d to %d, as in 960x540, not "
                      "'%s'\n",
                      SIDE_LEAST, SIDE_LIMIT, text);
        return false;
    }
    out[0] = width;
    out[1] = height;
    return true;
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
    case 'u':
        is_good = parse_small(&options->rate, optarg, 1, RATE_LIMIT, "rate");
        break;
    case 'x':
        is_good = parse_respawn(&options->respawn, optarg);
        break;
    case 'm':
        options->film = optarg;
        break;
    case 'v':
        is_good = parse_camera(&options->camera, optarg);
        break;
    case 'z':
        is_good = parse_size(options->film_size, optarg);
        break;
    case 'b':
        options->has_boats = true;
        break;
    case 'i':
        options->has_culling = true;
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
    case 'g':
        options->gltf = optarg;
        break;
    case 'y':
        options->trace = optarg;
        break;
    case 'c':
        options->tape = optarg;
        break;
    case 'I':
        options->shown = optarg;
        break;
    case 'H':
        options->has_hashes = true;
        break;
    case 'O':
        options->has_offset = true;
        is_good = parse_offset(options->offset, optarg);
        break;
    case 'C':
        is_good = parse_cell_size(&options->cell_size, optarg);
        break;
    case 'a':
        options->animation = optarg;
        break;
    case 'o':
        options->output = optarg;
        break;
    case 'r':
        is_good = parse_small(&options->rollback, optarg, 1, ROLLBACK_LIMIT, "rollback");
        break;
    case 'l':
        is_good = parse_small(&options->level, optarg, 1, PACKING_LEVEL_LIMIT, "level");
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

/// What a command takes: the letters of its options, and its files.
typedef struct command_rule {
    const char *word, *options, *file;
    size_t least, most; // files; most 0: any number
} command_rule;

static const command_rule rules[] = {
    [COMMAND_PLAY] = {"play", "nfukdxwspmvzbijceatq", "scene", 1, 0},
    [COMMAND_TREE] = {"tree", "a", "scene", 1, 0},
    [COMMAND_CHECK] = {"check", "fwjeatq", "scene", 1, 0},
    [COMMAND_REPLAY] = {"replay", "frwq", "tape", 1, 0},
    [COMMAND_PACK] = {"pack", "olfaq", "file", 1, 1},
    [COMMAND_UNPACK] = {"unpack", "oq", "file", 1, 1},
    [COMMAND_INFO] = {"info", "", "file", 1, 0},
    [COMMAND_DIFF] = {"diff", "oq", "file", 2, 2},
    [COMMAND_EXPORT] = {"export", "nfukdxwsgyeatq", "scene", 1, 1},
    [COMMAND_VIEW] = {"view", "nfxkaoq", "scene or a tape", 1, 0},
};

enum { COMMANDS = sizeof rules / sizeof *rules };

static bool parse_command(tool_command *out, const char *word)
{
    for (size_t i = 0; i < COMMANDS; ++i) {
        if (strcmp(word, rules[i].word) == 0) {
            *out = (tool_command)i;
            return true;
        }
    }
    (void)fprintf(stderr, "espalier: no command '%s'; there are", word);
    for (size_t i = 0; i < COMMANDS; ++i) {
        (void)fprintf(stderr, "%s %s",
                      i == 0             ? ""
                      : i + 1 < COMMANDS ? ","
                                         : " and",
                      rules[i].word);
    }
    (void)fputc('\n', stderr);
    return false;
}

static const char *option_name(int letter)
{
    const struct option *option = long_options;

    while (option->name != NULL && option->val != letter) {
        ++option;
    }
    return option->name;
}

/// Tell whether an option is given. @param given  a bit for each letter.
static bool has_letter(uint32_t given, int letter)
{
    return (given >> (letter - 'a') & 1u) != 0;
}

/// Refuse an offset of a command that has none, and one that cells do not reach.
static bool fits_offset(const tool_options *options)
{
    const double size = options->cell_size != 0 ? (double)options->cell_size : OPTIONS_CELL_MOST;

    if (options->command != COMMAND_CHECK && (options->has_offset || options->cell_size != 0)) {
        (void)fprintf(stderr, "espalier: %s has no --%s\n", rules[options->command].word,
                      options->has_offset ? "offset" : "cell-size");
        return false;
    }
    if (options->cell_size != 0 && !options->has_offset) {
        (void)fprintf(stderr, "espalier: --cell-size needs --offset\n");
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        if (fabs(options->offset[i]) > size * OPTIONS_CELLS_MOST) {
            (void)fprintf(stderr, "espalier: --offset is more than 2^30 cells of %g away\n", size);
            return false;
        }
    }
    return true;
}

/// Refuse options and files that a command does not have, and the lack of those that it needs.
/// @param given  a bit for each letter of an option.
static bool fits_command(const tool_options *options, uint32_t given)
{
    const command_rule *const rule = &rules[options->command];

    for (int letter = 'a'; letter <= 'z'; ++letter) {
        if (has_letter(given, letter) && strchr(rule->options, letter) == NULL) {
            (void)fprintf(stderr, "espalier: %s has no --%s\n", rule->word, option_name(letter));
            return false;
        }
    }
    // These two have no letter.
    if (options->command != COMMAND_REPLAY && (options->has_hashes || options->shown != NULL)) {
        (void)fprintf(stderr, "espalier: %s has no --%s\n", rule->word,
                      options->has_hashes ? "hashes" : "show");
        return false;
    }
    if (!fits_offset(options)) {
        return false;
    }
    if (options->ahead != 0 && options->ticks == 0) {
        (void)fprintf(stderr, "espalier: --ahead needs --ticks\n");
        return false;
    }
    if (options->has_culling && options->ticks > 0) {
        (void)fprintf(stderr, "espalier: --cull has no --ticks: it culls what the world is\n");
        return false;
    }
    if (options->command == COMMAND_EXPORT && (options->gltf == NULL) == (options->trace == NULL)) {
        (void)fprintf(stderr, "espalier: export needs --gltf or --trace, not both\n");
        return false;
    }
    if (options->gltf != NULL && has_letter(given, 'x')) {
        (void)fprintf(stderr, "espalier: --gltf has no --respawn: its nodes stay\n");
        return false;
    }
    for (const char *letter = "vzb"; options->film == NULL && *letter != '\0'; ++letter) {
        if (has_letter(given, *letter)) {
            (void)fprintf(stderr, "espalier: --%s needs --film\n", option_name(*letter));
            return false;
        }
    }
    if (options->tape != NULL && options->scene_count > 1) {
        (void)fprintf(stderr, "espalier: --tape takes one scene\n");
        return false;
    }
    if (options->scene_count < rule->least) {
        (void)fprintf(stderr, "espalier: %s needs %s %s\n", rule->word,
                      rule->least == 2 ? "two" : "a", rule->least == 2 ? "files" : rule->file);
        return false;
    }
    if (rule->most != 0 && options->scene_count > rule->most) {
        (void)fprintf(stderr, "espalier: %s takes %s\n", rule->word,
                      rule->most == 2 ? "two files" : "one file");
        return false;
    }
    if ((options->command == COMMAND_PACK || options->command == COMMAND_UNPACK) &&
        options->output == NULL) {
        (void)fprintf(stderr, "espalier: %s needs --output\n", rule->word);
        return false;
    }
    return true;
}

options_result options_parse(tool_options *out, int argc, char **argv)
{
    options_result result = OPTIONS_RUN;
    uint32_t given = 0;

    *out = (tool_options){.copies = 100,
                          .rate = 60,
                          .respawn = 5,
                          .workers = 1,
                          .seed = 1,
                          .film_size = {960, 540},
                          .level = PACKING_LEVEL,
                          .program = argc > 0 ? argv[0] : NULL};
    while (result == OPTIONS_RUN) {
        const int option = getopt_long(
            argc, argv, "n:f:u:k:d:x:w:s:p:m:v:z:bg:y:j:c:e:a:o:l:r:tqhV", long_options, NULL);
        if (option == -1) {
            break;
        }
        given |= option >= 'a' && option <= 'z' ? 1u << (option - 'a') : 0;
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
    if (!fits_command(out, given)) {
        return OPTIONS_BAD;
    }
    if (out->gltf != NULL) {
        out->copies = has_letter(given, 'n') ? out->copies : 1;
        out->respawn = 0;
    }
    if (out->command == COMMAND_VIEW) {
        out->copies = has_letter(given, 'n') ? out->copies : 1;
        // A figure that is not there for a frame looks like a fault where there are few.
        out->respawn = has_letter(given, 'x') || out->copies > FEW_COPIES ? out->respawn : 0;
    }
    out->is_quiet = out->is_quiet || (out->json != NULL && strcmp(out->json, "-") == 0) ||
                    (out->output != NULL && strcmp(out->output, "-") == 0);
    return OPTIONS_RUN;
}
