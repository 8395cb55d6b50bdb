// SPDX-License-Identifier: MIT
// Write archives of random hierarchies to a directory, each with a text that says what a reader must find, and
// with a delta and what it makes: tests/archives.sh has another reader compare them. Public headers alone.
#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 40, WORLDS = 24 };

typedef struct ref_value {
    espl_entity to;
    uint32_t number, other;
} ref_value;

static uint64_t state = 4;

static uint32_t below(uint32_t bound)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % bound;
}

static float between(float low, float high)
{
    return low + (high - low) * (float)below(1 << 20) / (float)(1 << 20);
}

static void require(espl_status status)
{
    if (espl_failed(status)) {
        fprintf(stderr, "archive_files: %s\n", espl_status_name(status));
        exit(1);
    }
}

static espl_transform any_transform(void)
{
    espl_transform t = espl_transform_identity();

    for (int i = 0; i < 4; ++i) {
        t.rotation[i] = between(-1, 1) + (i == 3 ? 1.5F : 0);
    }
    for (int i = 0; i < 3; ++i) {
        t.position[i] = between(-9, 9);
        t.stretch[i] = below(4) == 0 ? between(0.5F, 2) : 1;
    }
    t.scale = below(3) == 0 ? between(0.5F, 2) : 1;
    t.user_data = below(4) == 0 ? below(1000) : 0;
    require(espl_transform_normalize(&t));
    return t;
}

// Make hierarchies with something of everything.
static void fill(espl_world *world, espl_component tag, espl_component ref, espl_component cache)
{
    static const uint32_t flags[] = {ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Z,
                                     ESPL_ABSOLUTE_ROTATION,
                                     ESPL_ABSOLUTE_FORWARD,
                                     ESPL_ABSOLUTE_UP | ESPL_ABSOLUTE_SCALE,
                                     ESPL_ABSOLUTE_FORWARD | ESPL_STRICT_UP,
                                     ESPL_COPY_PARENT};
    espl_entity made[NODES];

    for (uint32_t i = 0; i < NODES; ++i) {
        const espl_transform at = any_transform();
        const espl_entity parent = i == 0 || below(6) == 0 ? espl_entity_null() : made[below(i)];
        const bool is_member = !espl_entity_is_null(parent);
        char name[16];

        snprintf(name, sizeof name, "node %u", (unsigned)below(12));
        require(espl_create_node(world, parent, &at, below(3) == 0 ? name : NULL, &made[i]));
        if (is_member && below(4) == 0) {
            require(espl_set_inherit(world, made[i], flags[below(6)]));
        } else if (below(8) == 0) {
            require(espl_remove_component(world, made[i], ESPL_TRANSFORM));
        }
        if (is_member && below(5) == 0) {
            const espl_attach_options loose = {.position = ESPL_KEEP_LOCAL,
                                               .rotation = ESPL_KEEP_LOCAL,
                                               .scale = ESPL_KEEP_LOCAL,
                                               .link = ESPL_LINK_FREE,
                                               .inherit = espl_get_inherit(world, made[i])};

            require(espl_attach(world, made[i], parent, &loose));
        }
        if (below(3) == 0) {
            require(espl_add_component(world, made[i], tag, NULL, 0));
        }
        if (below(4) == 0) {
            require(espl_add_component(world, made[i], cache, &i, sizeof i));
        }
        if (below(3) == 0) {
            const ref_value value = {made[below(i + 1)], below(1000), below(1000)};

            require(espl_add_component(world, made[i], ref, &value, sizeof value));
        }
    }
    // Moved afterwards, so that kept parts differ from what they were composed to.
    for (uint32_t i = 0; i < NODES; i += 5) {
        const float to[3] = {between(-5, 5), between(-5, 5), between(-5, 5)};

        if (espl_has_component(world, made[i], ESPL_TRANSFORM) &&
            (espl_get_inherit(world, made[i]) & ESPL_COPY_PARENT) == 0) {
            require(espl_set_local_position(world, made[i], to));
        }
    }
    require(espl_destroy(world, made[below(NODES)], ESPL_EXTENT_ENTITY));
}

// --- What must be found ---

static espl_entity all[NODES];
static size_t count;

static int find(espl_entity entity)
{
    for (size_t i = 0; i < count; ++i) {
        if (espl_entity_equal(all[i], entity)) {
            return (int)i;
        }
    }
    return -1;
}

static int compare(const void *a, const void *b)
{
    const espl_entity *const one = a, *const other = b;

    return (one->index > other->index) - (one->index < other->index);
}

// List all entities, one hierarchy after the other, in the order of the indices of their roots.
static void list_all(espl_world *world, uint32_t *parents, espl_transform *worlds)
{
    const espl_query_def def = {.include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    espl_entity roots[NODES];
    espl_query query;
    size_t root_count = 0;

    require(espl_query_begin(world, &def, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            if (espl_get_role(world, query.entities[row]) != ESPL_ROLE_MEMBER) {
                roots[root_count++] = query.entities[row];
            }
        }
    }
    qsort(roots, root_count, sizeof *roots, compare);
    count = 0;
    for (size_t i = 0; i < root_count; ++i) {
        const espl_subtree_arrays out = {
            .entities = all + count, .parents = parents + count, .worlds = worlds + count};
        const size_t size =
            espl_copy_subtree(world, roots[i], ESPL_EXTENT_SUBTREE, NODES - count, &out);

        for (size_t k = count; k < count + size; ++k) {
            parents[k] += parents[k] == ESPL_NO_RANK ? 0 : (uint32_t)count;
        }
        count += size;
    }
}

static void describe(espl_world *world, FILE *out, espl_component tag, espl_component ref,
                     bool has_fields)
{
    uint32_t parents[NODES];
    espl_transform worlds[NODES];

    list_all(world, parents, worlds);
    for (size_t i = 0; i < count; ++i) {
        const espl_transform at = worlds[i];
        ref_value value;

        fprintf(out, "%d|%s|%d|%u|%d|%d", parents[i] == ESPL_NO_RANK ? -1 : (int)parents[i],
                espl_get_name(world, all[i]), espl_get_link(world, all[i]) == ESPL_LINK_FREE,
                (unsigned)espl_get_inherit(world, all[i]),
                espl_has_component(world, all[i], ESPL_TRANSFORM),
                espl_has_component(world, all[i], tag));
        if (espl_has_component(world, all[i], ref)) {
            require(espl_get_component(world, all[i], ref, &value, sizeof value));
            fprintf(out, "|%d", find(value.to));
            if (has_fields) {
                fprintf(out, " %u %u", (unsigned)value.number, (unsigned)value.other);
            }
        } else {
            fputs("|", out);
        }
        fprintf(out, "|%.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %u\n",
                (double)at.rotation[0], (double)at.rotation[1], (double)at.rotation[2],
                (double)at.rotation[3], (double)at.position[0], (double)at.position[1],
                (double)at.position[2], (double)at.scale, (double)at.stretch[0],
                (double)at.stretch[1], (double)at.stretch[2], (unsigned)at.user_data);
    }
}

// --- Files ---

typedef struct kept_bytes {
    unsigned char bytes[1 << 16];
    size_t size;
} kept_bytes;

static bool append(void *user, const void *bytes, size_t size)
{
    kept_bytes *const kept = user;
    const bool is_room = size <= sizeof kept->bytes - kept->size;

    if (is_room) {
        memcpy(kept->bytes + kept->size, bytes, size);
        kept->size += size;
    }
    return is_room;
}

static FILE *open_file(const char *directory, unsigned number, const char *ending, const char *mode)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/%u.%s", directory, number, ending);
    FILE *const file = fopen(path, mode);

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void save(const char *directory, unsigned number, const char *ending, const kept_bytes *kept)
{
    FILE *const file = open_file(directory, number, ending, "wb");

    if (fwrite(kept->bytes, 1, kept->size, file) != kept->size || fclose(file) != 0) {
        perror(ending);
        exit(1);
    }
}

static void load(const char *directory, unsigned number, const char *ending, kept_bytes *kept)
{
    FILE *const file = open_file(directory, number, ending, "rb");

    kept->size = fread(kept->bytes, 1, sizeof kept->bytes, file);
    if (fclose(file) != 0) {
        perror(ending);
        exit(1);
    }
}

static void archive(const espl_world *world, unsigned number, uint32_t flags, kept_bytes *kept)
{
    // Half of them with locals on a grid.
    const espl_archive_def def = {.flags = flags,
                                  .position_step = number % 4 < 2 ? 0 : 1e-5F,
                                  .rotation_bits = number % 4 < 2 ? 0 : 20};

    kept->size = 0;
    require(espl_archive_write(world, &def, &(espl_sink){kept, append}));
}

// Move most of a world, and change some of it.
static void change(espl_world *world, espl_component tag, unsigned number)
{
    for (size_t i = 0; i < count; ++i) {
        const float turn[4] = {between(-0.1F, 0.1F), between(-0.1F, 0.1F), 0, 1};

        if (espl_is_alive(world, all[i]) && below(8) != 0 &&
            espl_has_component(world, all[i], ESPL_TRANSFORM) &&
            (espl_get_inherit(world, all[i]) & ESPL_COPY_PARENT) == 0) {
            require(espl_rotate_own(world, all[i], turn));
        }
        if (number % 3 == 1 && below(10) == 0 && espl_is_alive(world, all[i])) {
            require(espl_destroy(world, all[i], ESPL_EXTENT_ENTITY));
        } else if (number % 3 == 2 && below(6) == 0) {
            require(espl_add_component(world, all[i], tag, NULL, 0));
            require(espl_set_name(world, all[i], "changed"));
        }
    }
}

// --- Worlds ---

// A world with its components.
typedef struct subject {
    espl_world *world;
    espl_component tag, ref, cache;
} subject;

// @param field_count  of the component with values: 0 or all.
static void begin(subject *s, size_t field_count)
{
    static const uint32_t reference = 0;
    static const espl_component_field fields[3] = {{"to", ESPL_FIELD_ENTITY, 0, 1},
                                                   {"number", ESPL_FIELD_U32, 8, 1},
                                                   {"other", ESPL_FIELD_U32, 12, 1}};
    const espl_component_def ref = {.name = "ref",
                                    .size = sizeof(ref_value),
                                    .alignment = 4,
                                    .references = &reference,
                                    .reference_count = 1,
                                    .version = 7,
                                    .fields = fields,
                                    .field_count = field_count};
    const espl_component_def cache = {
        .name = "cache", .size = 4, .flags = ESPL_COMPONENT_TRANSIENT};

    require(espl_world_create(NULL, &s->world));
    require(espl_component_register(s->world, &(espl_component_def){.name = "tag"}, &s->tag));
    require(espl_component_register(s->world, &ref, &s->ref));
    require(espl_component_register(s->world, &cache, &s->cache));
}

static size_t field_count_of(unsigned number)
{
    return number % 4 == 3 ? 0 : 3;
}

// Write a world, the same world later, and the delta between the two.
static void write_three(const char *directory, unsigned number, subject *s)
{
    static kept_bytes before, after, delta;
    const uint32_t flags = number % 2 == 0 ? 0 : ESPL_ARCHIVE_HANDLES;
    FILE *const text = open_file(directory, number, "txt", "wb");

    describe(s->world, text, s->tag, s->ref, field_count_of(number) != 0);
    if (fclose(text) != 0) {
        perror("txt");
        exit(1);
    }
    archive(s->world, number, flags, &before);
    change(s->world, s->tag, number);
    archive(s->world, number, flags, &after);
    delta.size = 0;
    require(espl_archive_delta(before.bytes, before.size, after.bytes, after.size,
                               &(espl_sink){&delta, append}, NULL));
    save(directory, number, "archive", &before);
    save(directory, number, "next", &after);
    save(directory, number, "delta", &delta);
}

// --- Comparing ---

static void demand(bool is_so, unsigned number, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "archive_files: %u: %s\n", number, what);
        exit(1);
    }
}

static bool are_equal(const kept_bytes *a, const kept_bytes *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

// Tell whether the values of an archive are in this machine's order of bytes.
static bool is_native(const kept_bytes *archive)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, sizeof first);
    return (archive->bytes[32] & 1) == (first == 0);
}

static void remove_all(espl_world *world, espl_component component)
{
    for (size_t i = 0; i < count; ++i) {
        if (espl_is_alive(world, all[i])) {
            require(espl_remove_component(world, all[i], component));
        }
    }
}

// Read an archive, and compare what was made of it with the world that it must be, archive by archive.
static void compare_one(const kept_bytes *from, unsigned number, subject *expected)
{
    static kept_bytes ours, theirs;
    espl_archive_read_def def = {0};
    const espl_archive_migration left_out = {.name = "ref"};
    espl_format_fault fault;
    subject other;

    begin(&other, field_count_of(number));
    if (!is_native(from) && field_count_of(number) == 0) {
        demand(espl_archive_read(other.world, from->bytes, from->size, NULL, &fault) ==
                       ESPL_ERR_VERSION &&
                   fault.sentence != NULL,
               number, "values without fields are not refused");
        def.migrations = &left_out;
        def.migration_count = 1;
        remove_all(expected->world, expected->ref);
    }
    const espl_status status =
        espl_archive_read(other.world, from->bytes, from->size, &def, &fault);

    demand(!espl_failed(status), number, fault.sentence != NULL ? fault.sentence : "refused");
    demand(espl_validate(other.world, NULL), number, "the world is broken");
    archive(other.world, number, 0, &ours);
    archive(expected->world, number, 0, &theirs);
    demand(are_equal(&ours, &theirs), number, "what was read is another world");
    espl_world_destroy(other.world);
}

static void read_three(const char *directory, unsigned number, subject *s)
{
    static kept_bytes before, after, delta, patched;
    uint32_t parents[NODES];
    espl_transform worlds[NODES];

    load(directory, number, "archive", &before);
    load(directory, number, "next", &after);
    load(directory, number, "delta", &delta);
    // The same random numbers are drawn as for writing.
    list_all(s->world, parents, worlds);
    compare_one(&before, number, s);
    change(s->world, s->tag, number);
    compare_one(&after, number, s);
    patched.size = 0;
    require(espl_archive_patch(before.bytes, before.size, delta.bytes, delta.size,
                               &(espl_sink){&patched, append}, NULL));
    demand(are_equal(&patched, &after), number, "a delta leads to another archive");
}

int main(int argc, char **argv)
{
    const bool reads = argc == 3 && strcmp(argv[1], "--read") == 0;

    if (argc != 2 && !reads) {
        return 2;
    }
    for (unsigned i = 0; i < WORLDS; ++i) {
        subject s;

        begin(&s, field_count_of(i));
        fill(s.world, s.tag, s.ref, s.cache);
        if (reads) {
            read_three(argv[2], i, &s);
        } else {
            write_three(argv[1], i, &s);
        }
        espl_world_destroy(s.world);
    }
    if (reads) {
        printf("%d archives and deltas agree\n", WORLDS);
    }
    return 0;
}
