// SPDX-License-Identifier: MIT
// The functions that the page of `espalier view` calls: one tape, played record by record, its index, and
// images of its world to go back to. Built by emscripten; JavaScript reads and writes the arrays in memory.
// scene.c beside it reads what the page shows.
#include "tools/view/module.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 4096, FIRST_RECORDS = 1024 };

/// Bytes that the world may take.
#define WORLD_MEMORY ((size_t)1 << 30)

/// The value of the first write of a record.
typedef struct kept_write {
    uint32_t record;
    uint32_t words[sizeof(espl_transform) / 4];
} kept_write;

static struct {
    unsigned char *bytes; // [size] of the tape
    size_t size;
    replay_def def;
    replay_result result;
    replay replay;
    bool is_open;
    size_t record; // carried out
    uint64_t hash; // of the world, when it was last computed

    // The index.
    view_record *records; // [record_count + 1]: the last one ends the one before
    size_t record_count, record_capacity;
    uint32_t *frames; // [frame_count] number of records up to the end of each frame
    size_t frame_count, frame_capacity;
    tool_fault fault; // why the index ends early

    kept_write *kept; // [kept_count] of the frame that was played last, by their records
    size_t kept_count, kept_capacity;

    char messages[TEXT_SIZE]; // of the log, since they were last taken
    size_t message_size;
    char text[TEXT_SIZE];
    unsigned char *image;
    size_t image_size;
} view;

espl_world *view_world(void)
{
    return view.is_open ? view.replay.world : NULL;
}

// --- Memory ---

void *view_allocate(size_t size)
{
    return malloc(size != 0 ? size : 1);
}

void view_free(void *block)
{
    free(block);
}

bool view_grow(void *array, size_t *capacity, size_t count, size_t size)
{
    void **const at = array;
    size_t wanted = *capacity != 0 ? *capacity : FIRST_RECORDS;

    if (count <= *capacity) {
        return true;
    }
    while (wanted < count) {
        wanted += wanted / 2;
    }
    void *const grown = wanted > SIZE_MAX / size ? NULL : realloc(*at, wanted * size);

    if (grown == NULL) {
        return false;
    }
    *at = grown;
    *capacity = wanted;
    return true;
}

// --- The tape ---

static void hear_log(void *user, const char *message)
{
    const size_t size = strlen(message) + 1;

    (void)user;
    if (size > sizeof view.messages - view.message_size) {
        return;
    }
    memcpy(view.messages + view.message_size, message, size);
    view.message_size += size;
    view.messages[view.message_size - 1] = '\n';
}

static void hear_write(void *user, const espl_write *write)
{
    const bool is_first =
        view.kept_count == 0 || view.kept[view.kept_count - 1].record != view.record;

    (void)user;
    if (is_first &&
        view_grow(&view.kept, &view.kept_capacity, view.kept_count + 1, sizeof *view.kept)) {
        kept_write *const kept = &view.kept[view.kept_count++];

        kept->record = (uint32_t)view.record;
        memcpy(kept->words, &write->value, sizeof kept->words);
    }
}

/// Find what was written by a record of the last frame; NULL where nothing was, or it was not played yet.
static const void *find_kept(size_t record)
{
    size_t low = 0, high = view.kept_count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (view.kept[middle].record < record) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < view.kept_count && view.kept[low].record == record ? view.kept[low].words : NULL;
}

void view_close(void)
{
    culling_close();
    if (view.is_open) {
        (void)replay_end(&view.replay);
    }
    free(view.bytes);
    free(view.records);
    free(view.frames);
    free(view.kept);
    free(view.image);
    memset(&view, 0, sizeof view);
    scene_close();
}

int view_open(unsigned char *bytes, size_t size, bool is_checked)
{
    view_close();
    view.bytes = bytes;
    view.size = size;
    view.is_open = true;
    view.def = (replay_def){.memory = WORLD_MEMORY,
                            .goes_on = !is_checked,
                            .skips_hashes = !is_checked,
                            .log = hear_log,
                            .write = is_checked ? NULL : hear_write};
    replay_begin(&view.replay, &view.def, bytes, size, &view.result);
    return view.replay.reel.state == REEL_GOOD;
}

bool view_restart(void)
{
    culling_leave();
    (void)replay_end(&view.replay);
    replay_begin(&view.replay, &view.def, view.bytes, view.size, &view.result);
    view.record = 0;
    view.kept_count = 0;
    return view.replay.reel.state == REEL_GOOD;
}

static bool index_record(const taped_record *record, size_t begin)
{
    if (!view_grow(&view.records, &view.record_capacity, view.record_count + 2,
                   sizeof *view.records)) {
        return false;
    }
    view.records[view.record_count++] = (view_record){.begin = (uint32_t)begin,
                                                      .op = (uint8_t)record->op,
                                                      .marks = (uint8_t)record->marks,
                                                      .status = (int8_t)record->status,
                                                      .is_cut = record->is_cut};
    if (record->op != ESPL_TAPE_FRAME || record->is_cut) {
        return true;
    }
    if (!view_grow(&view.frames, &view.frame_capacity, view.frame_count + 1, sizeof *view.frames)) {
        return false;
    }
    view.frames[view.frame_count++] = (uint32_t)view.record_count;
    return true;
}

size_t view_index(void)
{
    reel r = {.bytes = view.bytes, .size = view.size, .at = TAPE_HEAD_SIZE, .fault = &view.fault};
    const tape_head head = {view.replay.version, view.replay.tag};
    bool is_good = view.size >= TAPE_HEAD_SIZE &&
                   view_grow(&view.records, &view.record_capacity, 1, sizeof *view.records);

    while (is_good && reel_left(&r) != 0) {
        const size_t begin = r.at;
        const taped_record record = tape_text_read(&r, &head, NULL);

        if (r.state != REEL_GOOD) {
            if (r.state == REEL_SHORT) {
                fault_say(&view.fault, "at byte %zu: the tape ends within a record of %s", begin,
                          tape_text_name(record.op));
            }
            r.at = begin;
            break;
        }
        is_good = index_record(&record, begin);
    }
    if (!is_good) {
        fault_say(&view.fault, "no memory for an index of the tape");
    }
    if (view.records != NULL) {
        view.records[view.record_count] = (view_record){.begin = (uint32_t)r.at};
    }
    return view.record_count;
}

const view_record *view_records(void)
{
    return view.records;
}

size_t view_frame_count(void)
{
    return view.frame_count;
}

const uint32_t *view_frames(void)
{
    return view.frames;
}

const char *view_index_fault(void)
{
    return view.fault.text;
}

// --- Playing ---

size_t view_run(size_t record)
{
    while (view.record < record && view.replay.reel.state == REEL_GOOD) {
        if (view.record == 0 || view.records[view.record - 1].op == ESPL_TAPE_FRAME) {
            view.kept_count = 0;
        }
        if (!replay_step(&view.replay)) {
            break;
        }
        ++view.record;
        // Unless the record was the last one, its end is that of the index.
        if (view.record < view.record_count && view.replay.reel.state == REEL_GOOD &&
            view.replay.reel.at != view.records[view.record].begin) {
            reel_blame(&view.replay.reel, "the index has another end of the record");
        }
    }
    return view.record;
}

size_t view_position(void)
{
    return view.record;
}

int view_state(void)
{
    return (int)view.replay.reel.state;
}

const char *view_fault(void)
{
    return view.result.fault.text;
}

const uint64_t *view_hash(int kind)
{
    if (view_world() == NULL ||
        espl_failed(espl_hash(view_world(), (espl_hash_kind)kind, &view.hash))) {
        return NULL;
    }
    return &view.hash;
}

bool view_is_valid(void)
{
    return espl_validate(view_world(), NULL);
}

const char *view_messages(void)
{
    view.messages[view.message_size != 0 ? view.message_size - 1 : 0] = '\0';
    view.message_size = 0;
    return view.messages;
}

static taped_record read_record(size_t record, tape_line *line)
{
    tool_fault fault = {""};

    if (record >= view.record_count) {
        return (taped_record){0};
    }
    reel r = {.bytes = view.bytes,
              .size = view.records[record + 1].begin,
              .at = view.records[record].begin,
              .fault = &fault};

    const tape_head head = {view.replay.version, view.replay.tag};

    return tape_text_read(&r, &head, line);
}

const char *view_text(size_t record)
{
    tape_line line = {.text = view.text,
                      .size = sizeof view.text,
                      .world = view_world(),
                      .value = find_kept(record)};

    view.text[0] = '\0';
    (void)read_record(record, &line);
    return view.text;
}

uint32_t view_entity(size_t record)
{
    const espl_entity entity = read_record(record, NULL).entity;

    return espl_is_alive(view_world(), entity) ? entity.index : VIEW_NONE;
}

const char *view_status(int status)
{
    return espl_status_name((espl_status)status);
}

// --- Images ---

const unsigned char *view_save(void)
{
    const size_t size = espl_image_size(view_world());

    free(view.image);
    view.image = size != 0 ? malloc(size) : NULL;
    view.image_size = size;
    if (view.image == NULL || espl_failed(espl_image_save(view_world(), view.image, size))) {
        view.image_size = 0;
    }
    return view.image;
}

size_t view_image_size(void)
{
    return view.image_size;
}

bool view_load(unsigned char *image, size_t size, size_t record, size_t frame)
{
    reel *const r = &view.replay.reel;

    // The world of the image may have no components of renderables.
    culling_leave();
    if (view_world() == NULL || record > view.record_count ||
        espl_failed(espl_image_load(view_world(), image, size, ESPL_IMAGE_TRUSTED, NULL))) {
        return false;
    }
    // A fault is behind the image, so that it is found again.
    view.result.fault.text[0] = '\0';
    view.result.frames = frame;
    view.record = record;
    view.kept_count = 0;
    r->state = REEL_GOOD;
    r->at = view.records[record].begin;
    reel_next(r);
    return true;
}
