#!/bin/sh
# SPDX-License-Identifier: MIT
# The worlds of a forest are stored in one header, lib/tree/worlds.h, and each store there sets the
# change mark. The type of espl__forest.world refuses plain stores elsewhere when it is compiled; this
# test finds the ways around it.
# shellcheck source-path=SCRIPTDIR
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99
room=$(mktemp -d) || exit 99
trap 'rm -rf "$room"' EXIT

# A file with each way to store a world, and lines that only read one.
cat >"$room/outside.c" <<'END'
    forest->world[slot] = next;
    forest->world[slot].position[1] = 0;
    forest->world[slot].scale *= 2;
    worlds.to_store[slot] = next;
    espl_pose *const worlds = (espl_pose *)forest->world;
    espl_pose *const worlds = (espl_pose *)(uintptr_t)forest->world;
    memcpy(&forest->world[slot], &next, sizeof next);
    memset((void *)forest->world, 0, size);
    forest->kernels->compose(worlds, forest->local, forest->parent, begin, end);
    // forest->world[slot] = next;
    if (forest->world[slot].scale == 0 && change->world == NULL) {
    const espl_pose next = forest->world[slot];
    memcpy(&next, &forest->world[slot], sizeof next);
    espl__world_store(espl__worlds_of(forest), slot, &next);
    change->world = forest->world[slot];
END
# The header itself, without a mark and with one.
cat >"$room/home.h" <<'END'
static inline void silent(espl__worlds worlds, uint32_t slot, const espl_pose *world)
{
    worlds.to_store[slot] = *world;
}

static inline void marks(espl__worlds worlds, uint32_t slot, const espl_pose *world)
{
    worlds.to_store[slot] = *world;
    espl__worlds_stored(worlds, slot, slot + 1);
}
END
awk -v home="$room/home.h" -f tests/stores.awk "$room/home.h" "$room/outside.c" |
    sed "s,^$room/,," | cut -d : -f 1-2 | uniq >"$room/found"
cat >"$room/expected" <<'END'
home.h:4
outside.c:1
outside.c:2
outside.c:3
outside.c:4
outside.c:5
outside.c:6
outside.c:7
outside.c:8
outside.c:9
END
diff "$room/expected" "$room/found" | sed 's/^/# /'
cmp -s "$room/expected" "$room/found"
ok "each way to store a world is found"

awk -f tests/stores.awk lib/*/*.[ch] lib/*/*.inc >"$room/complaints"
has_no_complaints "$room/complaints"
ok "worlds are stored in one header, with the change mark"
done_testing
