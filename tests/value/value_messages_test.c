// SPDX-License-Identifier: MIT
// What the log says of refused bytes and frames: which component, byte or frame it is about, and why.
#include "tests/archives.h"
#include "tests/fixture.h"
#include "tests/images.h"
#include "tests/runner.h"
#include "tests/told.h"

#include <espalier/history.h>

#define REFUSE(status, call, ...) REFUSED(&here, status, call, __VA_ARGS__)

static told here;
static espl_world *w;

static void set_up(void)
{
    told_begin(&here, NULL);
    w = here.world;
}

static void tear_down(void)
{
    told_end(&here);
}

FIXTURE(set_up, tear_down);

// --- Archives ---

// Two entities with a component, in another world.
static void begin_other(test_world *other, const espl_component_def *def)
{
    espl_component component;

    test_world_begin(other, 2, NULL);
    ck_ok(espl_component_register(other->world, def, &component));
    ck_ok(espl_create(other->world, &component, 1, 2, NULL));
}

static const espl_component_def hull = {.name = "hull", .size = 4, .alignment = 4, .version = 7};

static test_archive archive_of_hulls(void)
{
    test_world other;

    begin_other(&other, &hull);
    const test_archive made = test_archive_of(other.world, NULL);

    test_world_end(&other);
    return made;
}

TEST(a_refused_archive_is_told_with_its_component_and_the_sentence_of_the_fault)
{
    test_archive archive = archive_of_hulls();
    const espl_archive_read_def one = {.node_limit = 1};
    espl_entity entity;
    const espl_archive_read_def small = {.entities = &entity, .capacity = 1};
    espl_format_fault fault = {0};

    ck_status(espl_archive_read(w, archive.bytes, archive.size, NULL, &fault), ESPL_ERR_VERSION);
    told_demand(&here, ESPL_LOG_WARNING,
                "espl_archive_read: ESPL_ERR_VERSION: component \"hull\", byte %zu: "
                "A component is not registered in this world.",
                (size_t)fault.offset);
    (void)test_component(w, "hull", 4, 4);
    REFUSE(ESPL_ERR_VERSION, espl_archive_read(w, archive.bytes, archive.size, NULL, NULL),
           "espl_archive_read: ESPL_ERR_VERSION: component \"hull\", byte %zu: "
           "A component has another version in this world, and no migration.",
           (size_t)fault.offset);
    REFUSE(ESPL_ERR_LIMIT, espl_archive_read(w, archive.bytes, archive.size, &one, NULL),
           "espl_archive_read: ESPL_ERR_LIMIT: The archive has more entities than the limit.");
    REFUSE(ESPL_ERR_ARGUMENT, espl_archive_read(w, archive.bytes, archive.size, &small, NULL),
           "espl_archive_read: ESPL_ERR_ARGUMENT: An array has less room than the archive needs.");
    archive.bytes[archive.size - 1] ^= 1;
    ck_status(espl_archive_apply(w, archive.bytes, archive.size, NULL, NULL, &fault),
              ESPL_ERR_FORMAT);
    told_demand(&here, ESPL_LOG_WARNING, "espl_archive_apply: ESPL_ERR_FORMAT: byte %zu: %s",
                (size_t)fault.offset, fault.sentence);
    test_archive_end(&archive);
}

TEST(an_archive_that_is_applied_is_refused_with_its_parent)
{
    const espl_archive_def handles = {.flags = ESPL_ARCHIVE_HANDLES};
    espl_entity top;

    ck_ok(espl_create_node(w, espl_entity_null(), NULL, "top", &top));
    test_archive archive = test_archive_of(w, &handles);

    REFUSE(ESPL_ERR_CYCLE,
           espl_archive_apply(w, archive.bytes, archive.size,
                              &(espl_archive_read_def){.parent = top}, NULL, NULL),
           "espl_archive_apply: ESPL_ERR_CYCLE: parent %s \"top\": "
           "The parent is an entity of the archive, or below one.",
           told_id(top));
    ck_ok(espl_destroy(w, top, ESPL_EXTENT_ENTITY));
    REFUSE(ESPL_ERR_DEAD,
           espl_archive_read(w, archive.bytes, archive.size,
                             &(espl_archive_read_def){.parent = top}, NULL),
           "espl_archive_read: ESPL_ERR_DEAD: parent %s: %s", told_id(top),
           espl_status_text(ESPL_ERR_DEAD));
    test_archive_end(&archive);
}

static bool take_nothing(void *user, const void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return false;
}

TEST(each_argument_of_a_write_is_told_by_its_name)
{
    const espl_sink sink = {NULL, take_nothing};
    const struct {
        espl_archive_def def;
        const char *sentence;
    } rows[] = {
        {{.top_count = 1}, "def->tops is NULL, and def->top_count is not 0."},
        {{.user_size = 1}, "def->user is NULL, and def->user_size is not 0."},
        {{.flags = ESPL_ARCHIVE_SKIP_UNKNOWN}, "def->flags has an unknown bit."},
        {{.extent = (espl_extent)3}, "def->extent does not exist."},
        {{.position_step = -1}, "def->position_step is not above 0 and finite."},
        {{.rotation_bits = 1}, "def->rotation_bits is not 2 to 24."},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        REFUSE(ESPL_ERR_ARGUMENT, espl_archive_write(w, &rows[i].def, &sink),
               "espl_archive_write: ESPL_ERR_ARGUMENT: %s", rows[i].sentence);
    }
    REFUSE(ESPL_ERR_ARGUMENT, espl_archive_write(w, NULL, NULL),
           "espl_archive_write: ESPL_ERR_ARGUMENT: sink is NULL, or has no function.");
}

// --- Images ---

TEST(a_refused_image_is_told_with_its_component_and_the_sentence_of_the_fault)
{
    test_world other;
    espl_format_fault fault = {0};

    begin_other(&other, &hull);
    test_image image = test_image_of(other.world);

    test_world_end(&other);
    ck_status(espl_image_load(w, image.bytes, image.size, 0, &fault), ESPL_ERR_FOREIGN);
    told_demand(&here, ESPL_LOG_WARNING, "espl_image_load: ESPL_ERR_FOREIGN: byte %zu: %s",
                (size_t)fault.offset, fault.sentence);
    ck_status(espl_image_load(w, image.bytes, image.size, ESPL_IMAGE_RETAG, &fault),
              ESPL_ERR_VERSION);
    const size_t at = (size_t)fault.offset;

    told_demand(&here, ESPL_LOG_WARNING,
                "espl_image_load: ESPL_ERR_VERSION: component \"hull\", byte %zu: "
                "The image has a component that is not registered in this world.",
                at);
    (void)test_component(w, "rope", 4, 4);
    REFUSE(ESPL_ERR_VERSION, espl_image_load(w, image.bytes, image.size, ESPL_IMAGE_RETAG, &fault),
           "espl_image_load: ESPL_ERR_VERSION: component \"hull\", byte %zu: "
           "A component is registered otherwise in this world, or in another order.",
           at);
    test_image_end(&image);
}

// --- Histories ---

TEST(a_frame_that_is_refused_is_told_with_those_that_there_are)
{
    espl_history *h;
    espl_entity solo = test_solo(w);

    ck_ok(espl_history_create(w, &(espl_history_def){.byte_limit = 1}, &h));
    REFUSE(ESPL_ERR_TOO_OLD, espl_history_rewind(h, 3, 0, NULL),
           "espl_history_rewind: ESPL_ERR_TOO_OLD: frame 3, the history has none: %s",
           espl_status_text(ESPL_ERR_TOO_OLD));
    ck_ok(espl_history_mark(h, 4));
    ck_ok(espl_history_mark(h, 6));
    REFUSE(ESPL_ERR_TOO_OLD, espl_history_rewind(h, 5, 0, NULL),
           "espl_history_rewind: ESPL_ERR_TOO_OLD: frame 5, the history has 4 to 6: %s",
           espl_status_text(ESPL_ERR_TOO_OLD));
    REFUSE(ESPL_ERR_ARGUMENT, espl_history_mark(h, 6),
           "espl_history_mark: ESPL_ERR_ARGUMENT: frame 6, the history has 4 to 6: "
           "A frame must be above the newest one.");
    ck_ok(espl_set_local_position(w, solo, (float[3]){1, 2, 3}));
    REFUSE(ESPL_PARTLY, espl_history_mark(h, 7),
           "espl_history_mark: ESPL_PARTLY: frame 7, the history has 7 to 7: "
           "What changed since the frame before is more than byte_limit, so that this frame is "
           "marked and is the only one; make a history with more bytes, or mark more often.");
    espl_history_destroy(h);
}
