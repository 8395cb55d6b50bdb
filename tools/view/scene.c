// SPDX-License-Identifier: MIT
// The world as arrays by entity index: links, flags and world transforms, of now and of the last reading; the
// rows of the tree that is shown; names that are searched; and the bones that are drawn.
#include "tools/view/module.h"

#include <espalier/names.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 12, COMPARED = 11, CHUNK = 128, OPEN_LIMIT = 200, PALETTE = 8, DIM = 3 };

/// Of more bones some are left out of the picture, but not what stands out.
enum { BONE_LIMIT = 150000 };

/// How much longer than a typical one a bone is that is drawn as a line.
#define LINK_LENGTH 6.0f

static struct {
    size_t capacity, found_capacity, bone_capacity; // bone_capacity: of all arrays of bones
    uint32_t *generations, *parents, *children, *siblings, *tops; // [capacity]
    unsigned char *flags;                                         // [capacity]
    float *worlds;                                                // [capacity][WORDS]
    uint32_t *generations_before;
    float *worlds_before;
    uint32_t *roots, *moved, *rows, *depths; // [capacity]
    size_t alive, root_count, moved_count, row_count, bone_count;
    uint32_t *found;
    float *matrices, *colors;
    uint32_t *owners;
    float box[6];
} scene;

// --- Arrays ---

void scene_close(void)
{
    free(scene.generations);
    free(scene.parents);
    free(scene.children);
    free(scene.siblings);
    free(scene.tops);
    free(scene.flags);
    free(scene.worlds);
    free(scene.generations_before);
    free(scene.worlds_before);
    free(scene.roots);
    free(scene.moved);
    free(scene.rows);
    free(scene.depths);
    free(scene.found);
    free(scene.matrices);
    free(scene.colors);
    free(scene.owners);
    memset(&scene, 0, sizeof scene);
}

/// Make room for entities of smaller indices. New ones are not alive, and folded.
static bool make_room(size_t count)
{
    const struct {
        void *array;
        size_t size;
    } arrays[] = {
        {&scene.generations, 4},
        {&scene.parents, 4},
        {&scene.children, 4},
        {&scene.siblings, 4},
        {&scene.tops, 4},
        {&scene.flags, 1},
        {&scene.worlds, 4 * WORDS},
        {&scene.roots, 4},
        {&scene.moved, 4},
        {&scene.generations_before, 4},
        {&scene.rows, 4},
        {&scene.depths, 4},
        {&scene.worlds_before, 4 * WORDS},
    };
    size_t capacity = scene.capacity;

    if (count <= capacity) {
        return true;
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        capacity = scene.capacity;
        if (!view_grow(arrays[i].array, &capacity, count, arrays[i].size)) {
            return false;
        }
    }
    const size_t added = capacity - scene.capacity;

    memset(scene.generations + scene.capacity, 0, added * sizeof *scene.generations);
    memset(scene.generations_before + scene.capacity, 0, added * sizeof *scene.generations);
    memset(scene.flags + scene.capacity, 0, added);
    scene.capacity = capacity;
    return true;
}

// --- Reading ---

static uint32_t index_of(espl_entity entity)
{
    return espl_entity_is_null(entity) ? VIEW_NONE : entity.index;
}

/// What all rows of a chunk are.
static unsigned char chunk_flags(const espl_query *query)
{
    const espl_world *const world = view_world();
    const espl_entity first = query->entities[0];
    unsigned flags = VIEW_ALIVE;

    flags |= query->slots != NULL ? VIEW_PLACED : 0;
    flags |= espl_has_component(world, first, ESPL_PREFAB) ? VIEW_PREFAB : 0;
    flags |= espl_has_component(world, first, ESPL_DISABLED) ? VIEW_DISABLED : 0;
    flags |= espl_get_role(world, first) == ESPL_ROLE_MEMBER ? VIEW_MEMBER : 0;
    return (unsigned char)flags;
}

static bool read_links(const espl_query *query)
{
    const espl_world *const world = view_world();
    const unsigned char flags = chunk_flags(query);

    for (size_t row = 0; row < query->count; ++row) {
        const espl_entity entity = query->entities[row];
        const uint32_t i = entity.index;

        if (!make_room((size_t)i + 1)) {
            return false;
        }
        // Whether a node is open is kept as long as it is the same node.
        const unsigned char open =
            scene.generations_before[i] == entity.generation ? scene.flags[i] & VIEW_OPEN : 0;

        scene.generations[i] = entity.generation;
        scene.flags[i] = flags | open;
        scene.parents[i] = index_of(espl_get_parent(world, entity));
        scene.children[i] = index_of(espl_get_first_child(world, entity));
        scene.siblings[i] = index_of(espl_get_next_sibling(world, entity));
        scene.tops[i] = VIEW_NONE;
    }
    return true;
}

/// The uppermost ancestor of each, found once for each node.
static void find_tops(void)
{
    for (uint32_t i = 0; i < scene.capacity; ++i) {
        uint32_t top = i;

        if (scene.generations[i] == 0) {
            continue;
        }
        while (scene.parents[top] != VIEW_NONE && scene.tops[top] == VIEW_NONE) {
            top = scene.parents[top];
        }
        top = scene.tops[top] != VIEW_NONE ? scene.tops[top] : top;
        for (uint32_t at = i; at != VIEW_NONE && scene.tops[at] == VIEW_NONE;) {
            scene.tops[at] = top;
            at = scene.parents[at];
        }
    }
}

static void list_roots_of(unsigned prefab)
{
    for (uint32_t i = 0; i < scene.capacity; ++i) {
        if (scene.generations[i] != 0 && (scene.flags[i] & VIEW_PREFAB) == prefab) {
            ++scene.alive;
            if (scene.parents[i] == VIEW_NONE) {
                scene.roots[scene.root_count++] = i;
            }
        }
    }
}

/// Prefabs come last, because they are not drawn.
static void list_roots(void)
{
    scene.root_count = scene.alive = 0;
    list_roots_of(0);
    list_roots_of(VIEW_PREFAB);
}

static bool read_structure(void)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    espl_query query;
    bool is_good = true;

    memset(scene.generations, 0, scene.capacity * sizeof *scene.generations);
    if (espl_failed(espl_query_begin_read(view_world(), &all, &query))) {
        return false;
    }
    while (is_good && espl_query_next(&query)) {
        is_good = read_links(&query);
    }
    espl_query_end(&query);
    find_tops();
    list_roots();
    return is_good;
}

static void read_worlds(void)
{
    const espl_component placed = ESPL_TRANSFORM;
    const espl_query_def def = {
        .all = &placed, .all_count = 1, .include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    static espl_transform worlds[CHUNK];
    espl_query query;

    if (espl_failed(espl_query_begin_read(view_world(), &def, &query))) {
        return;
    }
    while (espl_query_next(&query)) {
        if (espl_failed(espl_query_read_transforms(&query, ESPL_READ_WORLD_TRANSFORM, worlds,
                                                   sizeof *worlds))) {
            continue;
        }
        for (size_t row = 0; row < query.count; ++row) {
            memcpy(scene.worlds + WORDS * (size_t)query.entities[row].index, &worlds[row],
                   sizeof worlds[row]);
        }
    }
}

/// Mark what moved and what is new since the last reading, user data aside.
static void compare(void)
{
    for (uint32_t i = 0; i < scene.capacity; ++i) {
        if (scene.generations[i] == 0) {
            continue;
        }
        const size_t at = WORDS * (size_t)i;
        const bool is_new = scene.generations_before[i] != scene.generations[i];
        const bool is_moved =
            !is_new && (scene.flags[i] & VIEW_PLACED) != 0 &&
            memcmp(scene.worlds + at, scene.worlds_before + at, COMPARED * sizeof(float)) != 0;

        scene.flags[i] |= (unsigned char)((is_new ? VIEW_NEW : 0) | (is_moved ? VIEW_MOVED : 0));
        if (is_new || is_moved) {
            scene.moved[scene.moved_count++] = i;
        }
    }
}

static void open_small(void)
{
    if (scene.alive <= OPEN_LIMIT) {
        for (uint32_t i = 0; i < scene.capacity; ++i) {
            const bool is_new = scene.generations_before[i] != scene.generations[i];

            scene.flags[i] |= is_new && scene.generations[i] != 0 ? VIEW_OPEN : 0;
        }
    }
}

size_t scene_read(bool structure, bool is_compared)
{
    float *const worlds = scene.worlds_before;

    if (view_world() == NULL) {
        return 0;
    }
    scene.worlds_before = scene.worlds;
    scene.worlds = worlds;
    if (scene.capacity != 0) {
        memcpy(scene.generations_before, scene.generations,
               scene.capacity * sizeof *scene.generations);
    }
    for (size_t i = 0; i < scene.capacity; ++i) {
        scene.flags[i] &= (unsigned char)~(VIEW_MOVED | VIEW_NEW);
    }
    scene.moved_count = 0;
    if (structure && !read_structure()) {
        return 0;
    }
    if (structure) {
        open_small();
    }
    read_worlds();
    if (is_compared) {
        compare();
    }
    return scene.alive;
}

size_t scene_capacity(void)
{
    return scene.capacity;
}

size_t scene_root_count(void)
{
    return scene.root_count;
}

size_t scene_moved_count(void)
{
    return scene.moved_count;
}

const uint32_t *scene_moved(void)
{
    return scene.moved;
}

const uint32_t *scene_generations(void)
{
    return scene.generations;
}

const uint32_t *scene_parents(void)
{
    return scene.parents;
}

uint32_t scene_child(uint32_t index)
{
    return index < scene.capacity ? scene.children[index] : VIEW_NONE;
}

unsigned char *scene_flags(void)
{
    return scene.flags;
}

const float *scene_worlds(void)
{
    return scene.worlds;
}

// --- The rows of the tree ---

static bool is_open(uint32_t index)
{
    return (scene.flags[index] & VIEW_OPEN) != 0 && scene.children[index] != VIEW_NONE;
}

/// The next row below or beside a node, in depth-first order; VIEW_NONE after the last one of its root.
static uint32_t next_row(uint32_t index, uint32_t *depth)
{
    if (is_open(index)) {
        ++*depth;
        return scene.children[index];
    }
    while (scene.parents[index] != VIEW_NONE && scene.siblings[index] == VIEW_NONE) {
        index = scene.parents[index];
        --*depth;
    }
    return scene.parents[index] != VIEW_NONE ? scene.siblings[index] : VIEW_NONE;
}

size_t scene_rows(void)
{
    scene.row_count = 0;
    for (size_t i = 0; i < scene.root_count; ++i) {
        uint32_t depth = 0;

        for (uint32_t at = scene.roots[i]; at != VIEW_NONE; at = next_row(at, &depth)) {
            scene.rows[scene.row_count] = at;
            scene.depths[scene.row_count++] = depth;
        }
    }
    return scene.row_count;
}

const uint32_t *scene_row_entities(void)
{
    return scene.rows;
}

const uint32_t *scene_row_depths(void)
{
    return scene.depths;
}

static bool is_alive(uint32_t index)
{
    return index < scene.capacity && scene.generations[index] != 0;
}

void scene_open(uint32_t index, bool opened)
{
    const uint32_t begin = index == VIEW_NONE ? 0 : index;
    const uint32_t end = index == VIEW_NONE ? (uint32_t)scene.capacity : index + 1;

    for (uint32_t i = begin; i < end && i < scene.capacity; ++i) {
        scene.flags[i] = (unsigned char)((scene.flags[i] & ~VIEW_OPEN) | (opened ? VIEW_OPEN : 0));
    }
}

uint32_t scene_reveal(uint32_t index)
{
    if (!is_alive(index)) {
        return VIEW_NONE;
    }
    for (uint32_t up = scene.parents[index]; up != VIEW_NONE; up = scene.parents[up]) {
        scene.flags[up] |= VIEW_OPEN;
    }
    (void)scene_rows();
    for (uint32_t row = 0; row < scene.row_count; ++row) {
        if (scene.rows[row] == index) {
            return row;
        }
    }
    return VIEW_NONE;
}

// --- Search ---

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

/// Whether a name has a part of the path in it. @param part  [size]
static bool has_part(const char *name, const char *part, size_t size)
{
    for (; *name != '\0' || size == 0; ++name) {
        size_t same = 0;

        while (same < size && name[same] != '\0' && lower(name[same]) == lower(part[same])) {
            ++same;
        }
        if (same == size) {
            return true;
        }
    }
    return false;
}

/// Whether an entity and its ancestors have the parts of a path, the last part its own.
static bool matches(uint32_t index, const char *text, size_t size)
{
    for (size_t end = size; index != VIEW_NONE; index = scene.parents[index]) {
        const espl_entity entity = {index, scene.generations[index]};
        size_t begin = end;

        while (begin > 0 && text[begin - 1] != '/') {
            --begin;
        }
        if (!has_part(espl_get_name(view_world(), entity), text + begin, end - begin)) {
            return false;
        }
        if (begin == 0) {
            return true;
        }
        end = begin - 1;
    }
    return false;
}

size_t scene_find(const char *text, size_t limit)
{
    const size_t size = strlen(text);
    size_t count = 0;

    for (uint32_t i = 0; size != 0 && i < scene.capacity && count < limit; ++i) {
        if (is_alive(i) && matches(i, text, size)) {
            if (!view_grow(&scene.found, &scene.found_capacity, count + 1, sizeof *scene.found)) {
                break;
            }
            scene.found[count++] = i;
        }
    }
    return count;
}

const uint32_t *scene_found(void)
{
    return scene.found;
}

// --- Bones ---

static const float *position_of(uint32_t index)
{
    return scene.worlds + WORDS * (size_t)index + 4;
}

static bool is_drawn(uint32_t index)
{
    const float *const at = position_of(index);

    return (scene.flags[index] & (VIEW_ALIVE | VIEW_PLACED | VIEW_PREFAB)) ==
               (VIEW_ALIVE | VIEW_PLACED) &&
           scene.generations[index] != 0 && isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
}

/// Where the bone of a node begins, at its parent; or NULL: it has none.
static const float *begin_of(uint32_t index)
{
    const uint32_t parent = scene.parents[index];

    return parent != VIEW_NONE && is_drawn(parent) ? position_of(parent) : NULL;
}

static float length_between(const float *from, const float *to)
{
    const float x = to[0] - from[0], y = to[1] - from[1], z = to[2] - from[2];

    return sqrtf(x * x + y * y + z * z);
}

/// The geometric mean of all bones, which is not drawn to the few long ones.
static float typical_length(void)
{
    double sum = 0;
    size_t count = 0;

    for (uint32_t i = 0; i < scene.capacity; ++i) {
        const float *const from = is_drawn(i) ? begin_of(i) : NULL;
        const float length = from != NULL ? length_between(from, position_of(i)) : 0;

        if (length > 0 && isfinite(length)) {
            sum += log((double)length);
            ++count;
        }
    }
    if (count != 0) {
        return (float)exp(sum / (double)count);
    }
    // Without bones the points are as large as their box allows.
    const float size = length_between(scene.box, scene.box + DIM);

    return size > 0 ? size / (4 * cbrtf((float)scene.alive)) : 1;
}

/// The matrix that takes the unit bone along +Y to one between two points.
static void place_bone(float *m, const float *from, const float *to, float length, float width)
{
    const float y[DIM] = {(to[0] - from[0]) / length, (to[1] - from[1]) / length,
                          (to[2] - from[2]) / length};
    // The axis that is farthest from the bone.
    const int least = fabsf(y[0]) < fabsf(y[1]) ? (fabsf(y[0]) < fabsf(y[2]) ? 0 : 2)
                                                : (fabsf(y[1]) < fabsf(y[2]) ? 1 : 2);
    float x[DIM] = {-y[least] * y[0], -y[least] * y[1], -y[least] * y[2]};

    x[least] += 1;
    const float size = sqrtf(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);

    for (int i = 0; i < DIM; ++i) {
        const int j = (i + 1) % DIM, k = (i + 2) % DIM;

        m[i] = x[i] / size * width;
        m[4 + i] = y[i] * length;
        m[8 + i] = (x[j] * y[k] - x[k] * y[j]) / size * width;
        m[12 + i] = from[i];
    }
    m[3] = m[7] = m[11] = 0;
    m[15] = 1;
}

static void add_to_box(const float *at)
{
    for (int i = 0; i < DIM; ++i) {
        scene.box[i] = fminf(scene.box[i], at[i]);
        scene.box[DIM + i] = fmaxf(scene.box[DIM + i], at[i]);
    }
}

static void measure_box(void)
{
    for (int i = 0; i < DIM; ++i) {
        scene.box[i] = INFINITY;
        scene.box[DIM + i] = -INFINITY;
    }
    for (uint32_t i = 0; i < scene.capacity; ++i) {
        if (is_drawn(i)) {
            add_to_box(position_of(i));
        }
    }
}

static void add_bone(uint32_t index, float typical)
{
    float *const m = scene.matrices + 16 * scene.bone_count;
    const float *const to = position_of(index), *const from = begin_of(index);
    const float length = from != NULL ? length_between(from, to) : 0;
    // A bone that is far longer than others links figures, and is drawn as a line.
    const float widest = length > LINK_LENGTH * typical ? typical / 28 : typical / 6;

    if (length > 0 && isfinite(length)) {
        place_bone(m, from, to, length, fminf(length / 9, widest));
    } else {
        const float low[DIM] = {to[0], to[1] - typical / 8, to[2]};

        place_bone(m, low, to, typical / 4, typical / 8);
    }
    scene.owners[scene.bone_count++] = index;
}

/// Whether a point is where another one is drawn. Thousands in one place take long to draw, and one is seen.
static bool hides(uint32_t other, uint32_t index)
{
    const float *const at = position_of(index), *const from = begin_of(index);

    return memcmp(position_of(other), at, DIM * sizeof *at) == 0 &&
           (from == NULL || length_between(from, at) == 0);
}

static void color_bone(size_t bone, bool is_quiet, uint32_t selected, const float *palette)
{
    const uint32_t index = scene.owners[bone];
    const unsigned char flags = scene.flags[index];
    // After the colours of trees: moved, quiet, disabled, selected.
    const uint32_t color = index == selected                                    ? PALETTE + 3
                           : is_quiet && (flags & (VIEW_MOVED | VIEW_NEW)) != 0 ? PALETTE
                           : (flags & VIEW_DISABLED) != 0                       ? PALETTE + 2
                           : is_quiet                                           ? PALETTE + 1
                                      : (scene.tops[index] * 2654435761u >> 16) % PALETTE;

    memcpy(scene.colors + DIM * bone, palette + DIM * (size_t)color, DIM * sizeof *palette);
}

static bool reserve_bones(void)
{
    size_t capacity = scene.bone_capacity;

    if (scene.alive <= capacity) {
        return true;
    }
    capacity = scene.bone_capacity;
    if (!view_grow(&scene.matrices, &capacity, scene.alive, 16 * sizeof(float))) {
        return false;
    }
    capacity = scene.bone_capacity;
    if (!view_grow(&scene.colors, &capacity, scene.alive, DIM * sizeof(float))) {
        return false;
    }
    capacity = scene.bone_capacity;
    if (!view_grow(&scene.owners, &capacity, scene.alive, sizeof(uint32_t))) {
        return false;
    }
    scene.bone_capacity = capacity;
    return true;
}

size_t scene_bones(bool is_quiet, uint32_t selected, const float *palette)
{
    scene.bone_count = 0;
    if (!reserve_bones()) {
        return 0;
    }
    measure_box();
    const float typical = typical_length();
    const size_t stride = scene_stride();
    const bool has_moved = is_quiet && scene.moved_count <= BONE_LIMIT;
    uint32_t last = VIEW_NONE;
    size_t number = 0;

    for (uint32_t i = 0; i < scene.capacity; ++i) {
        const bool is_bright = has_moved && (scene.flags[i] & (VIEW_MOVED | VIEW_NEW)) != 0;

        if (!is_drawn(i)) {
            continue;
        }
        const bool is_hidden = last != VIEW_NONE && hides(last, i);

        last = i;
        if (i == selected || (!is_hidden && (number++ % stride == 0 || is_bright))) {
            add_bone(i, typical);
            color_bone(scene.bone_count - 1, is_quiet, selected, palette);
        }
    }
    return scene.bone_count;
}

size_t scene_stride(void)
{
    return (scene.alive + BONE_LIMIT - 1) / BONE_LIMIT + (scene.alive == 0 ? 1 : 0);
}

const float *scene_matrices(void)
{
    return scene.matrices;
}

float *scene_colors(void)
{
    return scene.colors;
}

const uint32_t *scene_owners(void)
{
    return scene.owners;
}

const float *scene_box(void)
{
    return scene.box;
}
