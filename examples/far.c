// SPDX-License-Identifier: MIT
// A ship docks at a station, 3,000,000 m from the origin, where a float steps by 0.25 m. The way that is left
// is read in two worlds: one whose positions are floats from the origin, and one with cells. With the name of a
// file, both are drawn into it as SVG.
#include "common.h"

#include <math.h>

enum { FLOATS, CELLS, WORLDS };
enum { FRAMES = 120 };

typedef struct docking {
    espl_world *world;
    espl_entity station, berth, ship,
        lock;            // the berth is below the station, the lock below the ship
    double left[FRAMES]; // from the lock to the berth, as it is read
    double worst;        // how far it is from the truth, at most
} docking;

static const char *const titles[WORLDS] = {"floats from the origin", "cells of 2048 m"};
static const double place = 3e6;

// The way that is left: 6 m, less and less.
static double truth(int frame)
{
    const double t = 1 - (double)frame / (FRAMES - 1);

    return 6 * t * t;
}

static void build(docking *d, int kind)
{
    const espl_world_def def = {.cell_size = kind == CELLS ? 2048 : 0};
    espl_entity made[4];

    must(espl_world_create(&def, &d->world));
    must(espl_create(d->world, (espl_component[]){ESPL_TRANSFORM}, 1, 4, made));
    d->station = made[0], d->berth = made[1], d->ship = made[2], d->lock = made[3];
    must(espl_write_one(d->world, d->berth, ESPL_WRITE_LOCAL_POSITION, (float[3]){0, 40, 0}));
    must(espl_write_one(d->world, d->lock, ESPL_WRITE_LOCAL_POSITION, (float[3]){0, -12, 0}));
    must(espl_attach(d->world, d->berth, d->station, NULL));
    must(espl_attach(d->world, d->lock, d->ship, NULL));
    must(espl_write_one(d->world, d->station, ESPL_WRITE_ABSOLUTE_POSITION,
                        (double[3]){place, place, 0}));
}

static void play(docking *d, int kind)
{
    build(d, kind);
    for (int frame = 0; frame < FRAMES; ++frame) {
        const double ship[3] = {place, place + 52 + truth(frame), 0};
        espl_transform way;

        must(espl_write_one(d->world, d->ship, ESPL_WRITE_ABSOLUTE_POSITION, ship));
        must(espl_get_relative_transform(d->world, d->berth, d->lock, &way));
        d->left[frame] = (double)way.position[1];
        d->worst = fmax(d->worst, fabs(d->left[frame] - truth(frame)));
    }
    espl_world_destroy(d->world);
}

// --- The picture ---

static void draw_panel(FILE *file, int kind, const docking *d)
{
    fprintf(file, "  <g transform=\"translate(%d 40)\">\n", 60 + 370 * kind);
    for (int metre = 0; metre <= 6; metre += 2) {
        const int y = 240 - 35 * metre;

        fprintf(file, "    <path class=\"grid\" d=\"M0 %d H310\"/>\n", y);
        fprintf(file,
                "    <text class=\"tick\" text-anchor=\"end\" x=\"-6\" y=\"%d\">%d m</text>\n",
                y + 4, metre);
    }
    for (int frame = 0; frame < FRAMES; ++frame) {
        fprintf(file, "    <circle class=\"kind%d\" r=\"1.8\" cx=\"%.1f\" cy=\"%.1f\"/>\n", kind,
                2.6 * frame, 240 - 35 * d->left[frame]);
    }
    fprintf(file, "    <text class=\"head kind%d\" x=\"0\" y=\"-8\">%s</text>\n", kind,
            titles[kind]);
    fprintf(file, "    <text x=\"60\" y=\"24\">off by %.2g m at most</text>\n  </g>\n", d->worst);
}

static void draw(FILE *file, const docking all[WORLDS])
{
    fputs(
        "<!-- SPDX-License-Identifier: MIT -->\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 780 340\""
        " font-family=\"sans-serif\" font-size=\"15\">\n"
        "  <title>The way that a ship has left to its berth, 3,000,000 m from the origin</title>\n"
        "  <style>\n"
        "    .paper { fill: #f7f6f2 } text { fill: #222 } .head { font-weight: bold }\n"
        "    .tick { font-size: 12px; fill: #555 } .grid { stroke: #e2e0d8; fill: none }\n"
        "    .kind0 { fill: #b3261e } .kind1 { fill: #1d5f9c }\n"
        "  </style>\n"
        "  <rect class=\"paper\" width=\"780\" height=\"340\" rx=\"8\"/>\n",
        file);
    for (int kind = 0; kind < WORLDS; ++kind) {
        draw_panel(file, kind, &all[kind]);
    }
    fputs("  <text class=\"tick\" x=\"60\" y=\"320\">The way that a ship has left to its berth, in "
          "each of 120 frames, 3,000,000 m from the origin.</text>\n"
          "</svg>\n",
          file);
}

int main(int argc, char **argv)
{
    docking all[WORLDS] = {{.worst = 0}};

    for (int kind = 0; kind < WORLDS; ++kind) {
        play(&all[kind], kind);
        printf("%-22s  off by %.6f m at most\n", titles[kind], all[kind].worst);
    }
    if (argc > 1) {
        FILE *const file = fopen(argv[1], "w");

        if (file == NULL) {
            perror("far");
            return EXIT_FAILURE;
        }
        draw(file, all);
        return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
