// SPDX-License-Identifier: MIT
// Ten ticks a second, sixty frames. A turret is passed from a truck to an arm on a turntable, in a tick. What
// a frame shows of that depends on where the turret is said to have been when the tick began: three rules.
// With the name of a file, the paths of the frames are drawn into it as SVG.
#include "common.h"

#include <math.h>

enum { TRUCK, TABLE, ARM, TURRET, PARTS };
enum { OLD_LOCAL, RESET, REBASED, RULES };
enum {
    TICKS = 10,
    PASSED = 5,             // the tick in which the turret is passed
    FRAMES = 6,             // of each tick
    SHOWN = TICKS * FRAMES, // frames in all
};

typedef struct path {
    float turret[SHOWN][3], truck[SHOWN][3], arm[SHOWN][3];
    float steady, largest; // steps between two frames: in other ticks, and in all
    int at;                // the frame after the largest one
} path;

static const char *const titles[RULES] = {"its old local is kept", "it is reset", "it is re-based"};

// The truck comes along x at 8 metres a second. The arm is 8 metres long, and passes 3 metres before the truck.
static void build(espl_world *world, espl_entity part[PARTS])
{
    const float back[4] = {0, -4, 0, 110};

    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, PARTS, part));
    must(espl_set_world_position(world, part[TRUCK], (float[]){-0.8F * (PASSED + 1), 0, 0}));
    must(espl_set_world_position(world, part[TURRET], (float[]){-0.8F * (PASSED + 1), 1, 0}));
    must(espl_set_world_position(world, part[TABLE], (float[]){11, 0, 0}));
    must(espl_set_world_position(world, part[ARM], (float[]){3, 0, 0}));
    must(espl_attach(world, part[ARM], part[TABLE], NULL));
    must(espl_attach(world, part[TURRET], part[TRUCK], NULL));
    for (int i = 0; i <= PASSED; ++i) {
        must(espl_write_one(world, part[TABLE], ESPL_WRITE_ROTATE_IN_PARENT, back));
    }
}

// The attach keeps the world of the turret, now and when the tick began: that is the library's rule. For the
// other two, set its previous local by hand.
static void pass(espl_world *world, const espl_entity part[PARTS], int rule)
{
    espl_pose old, now;

    must(espl_read_one(world, part[TURRET], ESPL_READ_PREVIOUS_LOCAL_POSE, &old));
    must(espl_attach(world, part[TURRET], part[ARM], NULL));
    must(espl_get_local_pose(world, part[TURRET], &now));
    if (rule != REBASED) {
        must(espl_write_one(world, part[TURRET], ESPL_WRITE_PREVIOUS_LOCAL_POSE,
                            rule == OLD_LOCAL ? &old : &now));
    }
}

static void tick(espl_world *world, const espl_entity part[PARTS], int number, int rule)
{
    const float forward[3] = {0.8F, 0, 0}, turn[4] = {0, 4, 0, 110};

    must(espl_tick_begin(world));
    must(espl_write_one(world, part[TRUCK], ESPL_WRITE_TRANSLATE_IN_PARENT, forward));
    must(espl_write_one(world, part[TABLE], ESPL_WRITE_ROTATE_IN_PARENT, turn));
    if (number == PASSED) {
        pass(world, part, rule);
    }
    must(espl_tick_end(world));
}

static void measure(path *seen)
{
    for (int i = 1; i < SHOWN; ++i) {
        const float *const a = seen->turret[i - 1], *const b = seen->turret[i];
        const float step = sqrtf((b[0] - a[0]) * (b[0] - a[0]) + (b[2] - a[2]) * (b[2] - a[2]));

        if (step > seen->largest) {
            seen->largest = step, seen->at = i;
        }
        if (i < PASSED * FRAMES || i > (PASSED + 1) * FRAMES) {
            seen->steady = fmaxf(seen->steady, step);
        }
    }
}

static path play(int rule)
{
    espl_world *world = NULL;
    espl_entity part[PARTS];
    path seen = {.at = 0};

    must(espl_world_create(NULL, &world));
    build(world, part);
    must(espl_motion_start(world, NULL));
    for (int i = 0; i < SHOWN; ++i) {
        if (i % FRAMES == 0) {
            tick(world, part, i / FRAMES, rule);
        }
        must(espl_present(world, (float)(i % FRAMES) / FRAMES, NULL)); // one tick behind
        must(espl_read_one(world, part[TURRET], ESPL_READ_SHOWN_POSITION, seen.turret[i]));
        must(espl_read_one(world, part[TRUCK], ESPL_READ_SHOWN_POSITION, seen.truck[i]));
        must(espl_read_one(world, part[ARM], ESPL_READ_SHOWN_POSITION, seen.arm[i]));
    }
    espl_world_destroy(world);
    measure(&seen);
    return seen;
}

// --- The picture: a panel for each rule, seen from above, 24 units to a metre ---

static double across(float x)
{
    return 140 + 24 * (double)x;
}

static double down(float z)
{
    return 180 + 24 * (double)z;
}

static void draw_line(FILE *file, float (*points)[3])
{
    fprintf(file, "    <polyline class=\"carrier\" points=\"");
    for (int i = 0; i < SHOWN; ++i) {
        fprintf(file, "%s%.1f,%.1f", i % 8 == 0 ? "\n      " : " ", across(points[i][0]),
                down(points[i][2]));
    }
    fprintf(file, "\"/>\n");
}

static void draw_axes(FILE *file)
{
    for (int i = -4; i <= 4; i += 2) {
        const double x = across((float)i), y = down((float)i);

        fprintf(file, "    <path class=\"grid\" d=\"M%.0f 62 V298 M18 %.0f H250\"/>\n", x, y);
        fprintf(file,
                "    <text class=\"tick\" text-anchor=\"middle\" x=\"%.0f\" y=\"314\">%d</text>\n",
                x, i);
        fprintf(file,
                "    <text class=\"tick\" text-anchor=\"end\" x=\"13\" y=\"%.0f\">%d</text>\n",
                y + 4, i);
    }
    fputs("    <text class=\"tick\" text-anchor=\"middle\" x=\"140\" y=\"334\">x, metres</text>\n"
          "    <text class=\"tick\" text-anchor=\"end\" x=\"13\" y=\"54\">z</text>\n",
          file);
}

static void draw_panel(FILE *file, int rule, path *seen)
{
    const float *const from = seen->turret[seen->at - 1], *const to = seen->turret[seen->at];

    fprintf(file, "  <g transform=\"translate(%d 30)\">\n", 26 + 262 * rule);
    draw_axes(file);
    draw_line(file, seen->truck);
    draw_line(file, seen->arm);
    fputs("    <text class=\"tick\" x=\"168\" y=\"196\">truck</text>\n"
          "    <text class=\"tick\" x=\"184\" y=\"112\">arm</text>\n",
          file);
    if (rule != REBASED) {
        fprintf(file,
                "    <path class=\"step%d\" marker-end=\"url(#head%d)\" d=\"M%.1f %.1f L%.1f "
                "%.1f\"/>\n",
                rule, rule, across(from[0]), down(from[2]), across(to[0]), down(to[2]));
    }
    for (int i = 0; i < SHOWN; ++i) {
        fprintf(file, "    <circle class=\"rule%d\" r=\"1.9\" cx=\"%.1f\" cy=\"%.1f\"/>\n", rule,
                across(seen->turret[i][0]), down(seen->turret[i][2]));
    }
    fprintf(file, "    <text class=\"head rule%d\" x=\"18\" y=\"12\">%s</text>\n", rule,
            titles[rule]);
    fprintf(file, "    <text x=\"18\" y=\"33\">largest step %.2f m</text>\n  </g>\n",
            (double)seen->largest);
}

static void draw(FILE *file, path seen[RULES])
{
    fputs("<!-- SPDX-License-Identifier: MIT -->\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 430\""
          " font-family=\"sans-serif\" font-size=\"15\">\n"
          "  <title>What frames show of a turret that is passed from a truck to an arm</title>\n"
          "  <style>\n"
          "    .paper { fill: #f7f6f2 } text { fill: #222 } .head { font-weight: bold }\n"
          "    .tick { font-size: 12px; fill: #555 } .grid { stroke: #e2e0d8; fill: none }\n"
          "    .carrier { stroke: #a9a79e; stroke-width: 2; fill: none; stroke-dasharray: 5 4 }\n"
          "    .rule0 { fill: #b3261e } .rule1 { fill: #8a5a00 } .rule2 { fill: #1d5f9c }\n"
          "    .step0 { stroke: #b3261e; stroke-width: 1.4; fill: none }\n"
          "    .step1 { stroke: #8a5a00; stroke-width: 1.4; fill: none }\n"
          "  </style>\n"
          "  <defs>\n"
          "    <marker id=\"head0\" orient=\"auto\" markerWidth=\"9\" markerHeight=\"8\" refX=\"9\""
          " refY=\"4\"><path class=\"rule0\" d=\"M0 0 L9 4 L0 8 z\"/></marker>\n"
          "    <marker id=\"head1\" orient=\"auto\" markerWidth=\"9\" markerHeight=\"8\" refX=\"9\""
          " refY=\"4\"><path class=\"rule1\" d=\"M0 0 L9 4 L0 8 z\"/></marker>\n"
          "  </defs>\n"
          "  <rect class=\"paper\" width=\"820\" height=\"430\" rx=\"8\"/>\n",
          file);
    for (int rule = 0; rule < RULES; ++rule) {
        draw_panel(file, rule, &seen[rule]);
    }
    fputs("  <text class=\"tick\" x=\"44\" y=\"392\">Seen from above. A dot is the turret in a "
          "frame, an"
          " arrow the largest step between two frames.</text>\n"
          "  <text class=\"tick\" x=\"44\" y=\"410\">Dashed: the truck drives to the right; the "
          "end of the"
          " arm goes down, round a turntable that lies to the right.</text>\n"
          "</svg>\n",
          file);
}

int main(int argc, char **argv)
{
    path seen[RULES];

    for (int rule = 0; rule < RULES; ++rule) {
        seen[rule] = play(rule);
        printf("%-21s  %.3f m at most from frame to frame, %.3f m in other ticks\n", titles[rule],
               (double)seen[rule].largest, (double)seen[rule].steady);
    }
    if (argc > 1) {
        FILE *const file = fopen(argv[1], "w");

        if (file == NULL) {
            perror("motion");
            return EXIT_FAILURE;
        }
        draw(file, seen);
        return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
