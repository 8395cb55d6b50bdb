// SPDX-License-Identifier: MIT
// A world that writes all its calls to a tape, here a file that is named, or a temporary one. Replay it
// with: espalier replay FILE
#include <espalier/espalier.h>

#include <stdio.h>

// Buffered by stdio, so a crash loses the end of the tape; setvbuf() can turn the buffer off.
static void append(void *user, const void *bytes, size_t size)
{
    FILE *const file = user;

    if (fwrite(bytes, 1, size, file) != size) {
        perror("tape");
    }
}

// A drone flies, and the turret on it turns.
static bool fly(espl_world *world)
{
    const espl_component set[] = {ESPL_TRANSFORM};
    const float step[3] = {0, 0, 1}, turn[4] = {0, 0.6f, 0, 0.8f};
    espl_entity e[2]; // drone, turret
    bool failed = espl_failed(espl_create(world, set, 1, 2, e)) ||
                  espl_failed(espl_attach(world, e[1], e[0], NULL));

    for (int frame = 0; frame < 3; ++frame) {
        failed = failed ||
                 espl_failed(espl_write_one(world, e[0], ESPL_WRITE_TRANSLATE_IN_PARENT, step)) ||
                 espl_failed(espl_write_one(world, e[1], ESPL_WRITE_ROTATE_IN_PARENT, turn)) ||
                 espl_failed(espl_tape_frame(world)); // what a replay compares
    }
    return !failed;
}

int main(int argc, char **argv)
{
    FILE *const file = argc > 1 ? fopen(argv[1], "wb") : tmpfile();
    espl_world *world = NULL;

    if (file == NULL) {
        perror("tape");
        return 1;
    }
    const espl_world_def def = {.tape = {file, append}};
    const bool ok = !espl_failed(espl_world_create(&def, &world)) && fly(world);

    espl_world_destroy(world);
    puts("3 frames are on the tape");
    return fclose(file) == 0 && ok ? 0 : 1;
}
