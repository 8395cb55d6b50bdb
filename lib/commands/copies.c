// SPDX-License-Identifier: MIT
// Clones in the order of their rows: those of one source that go to one archetype stand side by
// side, in command order, and are made by one call. Sources stand in the order in which they first
// appear. Two counting sorts at most; the work and the scratch follow the clones, not the world.
#include "lib/commands/short.h"

// Sources in one chunk.
typedef struct chunk_sources {
    uint32_t chunk;
    uint32_t numbers[ESPL__CHUNK_ROWS]; // by row: number of the source + 1
} chunk_sources;

typedef struct sorter {
    espl__playback *playback;
    uint32_t *numbers;    // [make_count] of the source of each clone
    uint32_t *ends;       // [make_count + 1] by source + 1: its clones; then where they begin, end
    uint32_t *archetypes; // [source_count] of its first clone
    uint32_t source_count;
    uint32_t nothing;      // number + 1 of what is created without a source
    chunk_sources **known; // [known_count]; a chunk's mark is its place here + 1
    size_t known_count;
    bool is_mixed; // some source has clones in two archetypes
} sorter;

static bool reserve(sorter *s)
{
    espl__playback *const playback = s->playback;
    const size_t count = playback->make_count;
    const size_t chunks = espl__array_length(playback->store->chunks);

    s->numbers = espl__arena_take(&playback->arena, count, sizeof *s->numbers);
    s->ends = espl__arena_take_zeroed(&playback->arena, count + 1, sizeof *s->ends);
    s->archetypes = espl__arena_take(&playback->arena, count, sizeof *s->archetypes);
    s->known = espl__arena_take(&playback->arena, count < chunks ? count : chunks,
                                sizeof(chunk_sources *));
    playback->make_order = espl__arena_take(&playback->arena, count, sizeof(uint32_t));
    playback->make_entities = espl__arena_take(&playback->arena, count, sizeof(espl_entity));
    return s->numbers != NULL && s->ends != NULL && s->archetypes != NULL && s->known != NULL &&
           playback->make_order != NULL && playback->make_entities != NULL;
}

// --- Numbers of sources ---

static bool know_chunk(sorter *s, uint32_t chunk)
{
    chunk_sources *const sources = espl__arena_take_zeroed(&s->playback->arena, 1, sizeof *sources);

    if (sources == NULL) {
        return false;
    }
    sources->chunk = chunk;
    s->known[s->known_count++] = sources;
    s->playback->store->chunks[chunk].mark = (uint32_t)s->known_count;
    return true;
}

// Where a source's number + 1 stands; NULL where there is no memory.
static uint32_t *number_of(sorter *s, uint32_t source)
{
    const espl__store *const store = s->playback->store;

    if (source == ESPL__NO_ENTITY) {
        return &s->nothing;
    }
    const espl__record *const record = &store->records[source];
    const espl__chunk *const chunk = &store->chunks[record->chunk];

    if (chunk->mark == 0 && !know_chunk(s, record->chunk)) {
        return NULL;
    }
    return &s->known[chunk->mark - 1]->numbers[record->row];
}

// Number the source of a clone, unless it is. The number + 1; 0 where there is no memory.
static uint32_t number_source(sorter *s, const espl__make *make)
{
    uint32_t *const number = number_of(s, make->source);

    if (number == NULL) {
        return 0;
    }
    if (*number == 0) {
        s->archetypes[s->source_count++] = make->archetype;
        *number = s->source_count;
    }
    return *number;
}

static void count_clone(sorter *s, size_t make, uint32_t number)
{
    s->numbers[make] = number - 1;
    s->ends[number] += 1;
    s->is_mixed |= s->archetypes[number - 1] != s->playback->makes[make].archetype;
}

// A recipe keeps the numbers of its sources.
static bool number_copy(sorter *s, const espl__entry *entry)
{
    const espl__make *const makes = s->playback->makes + entry->make_begin;
    const espl__recipe_card *const card = espl__short_recipe(s->playback, entry);

    for (uint32_t k = 0; k < entry->clone_count; ++k) {
        if (card->numbers[k] == 0) {
            card->numbers[k] = number_source(s, &makes[k]);
        }
        if (card->numbers[k] == 0) {
            return false;
        }
        count_clone(s, entry->make_begin + k, card->numbers[k]);
    }
    return true;
}

static bool number_copies(sorter *s)
{
    const espl__playback *const playback = s->playback;
    bool is_done = true;

    for (size_t i = 0; i < playback->entry_count && is_done; ++i) {
        is_done = playback->entries[i].clone_count == 0 || number_copy(s, &playback->entries[i]);
    }
    return is_done;
}

// Number the sources as they come, and count their clones. false where there is no memory.
static bool number_sources(sorter *s)
{
    bool is_done = true;

    if (s->playback->are_all_short) {
        return number_copies(s);
    }
    for (size_t i = 0; i < s->playback->make_count && is_done; ++i) {
        const uint32_t number = number_source(s, &s->playback->makes[i]);

        is_done = number != 0;
        if (is_done) {
            count_clone(s, i, number);
        }
    }
    return is_done;
}

static void forget_chunks(const sorter *s)
{
    for (size_t i = 0; i < s->known_count; ++i) {
        s->playback->store->chunks[s->known[i]->chunk].mark = 0;
    }
}

// --- Sorting ---

static void sum_up(uint32_t *counts, size_t count)
{
    for (size_t i = 1; i < count; ++i) {
        counts[i] += counts[i - 1];
    }
}

// Sort clones by archetype, to be sorted by source after it. NULL where there is no memory.
static const uint32_t *sort_by_archetype(const sorter *s)
{
    espl__playback *const playback = s->playback;
    const size_t known = espl__array_length(playback->store->archetypes);
    const espl__make *const makes = playback->makes;
    uint32_t *const order = espl__arena_take(&playback->arena, playback->make_count, sizeof *order);
    uint32_t *const begins = espl__arena_take_zeroed(&playback->arena, known + 1, sizeof *begins);

    if (order == NULL || begins == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < playback->make_count; ++i) {
        begins[makes[i].archetype + 1] += 1;
    }
    sum_up(begins, known + 1);
    for (size_t i = 0; i < playback->make_count; ++i) {
        order[begins[makes[i].archetype]++] = (uint32_t)i;
    }
    return order;
}

static bool sort_by_source(sorter *s)
{
    espl__playback *const playback = s->playback;
    uint32_t *const order = playback->make_order;
    const uint32_t *const before = s->is_mixed ? sort_by_archetype(s) : NULL;

    if (s->is_mixed && before == NULL) {
        return false;
    }
    sum_up(s->ends, s->source_count);
    for (size_t i = 0; i < playback->make_count; ++i) {
        const uint32_t make = before == NULL ? (uint32_t)i : before[i];

        order[s->ends[s->numbers[make]]++] = make;
    }
    return true;
}

// --- What is made at once ---

// The end of the clones of one source and one archetype.
static size_t find_end(const sorter *s, size_t begin)
{
    const espl__make *const makes = s->playback->makes;
    const uint32_t *const order = s->playback->make_order;
    const size_t limit = s->ends[s->numbers[order[begin]]];
    size_t end = s->is_mixed ? begin + 1 : limit;

    while (end < limit && makes[order[end]].archetype == makes[order[begin]].archetype) {
        end += 1;
    }
    return end;
}

static bool list_copies(const sorter *s)
{
    espl__playback *const playback = s->playback;
    const size_t most = s->is_mixed ? playback->make_count : s->source_count;
    espl__copies *const copies = espl__arena_take(&playback->arena, most, sizeof *copies);
    size_t count = 0;

    if (copies == NULL) {
        return false;
    }
    for (size_t begin = 0; begin < playback->make_count;) {
        const espl__make *const first = &playback->makes[playback->make_order[begin]];
        const size_t end = find_end(s, begin);

        copies[count++] = (espl__copies){.archetype = first->archetype,
                                         .source = first->source,
                                         .entities = playback->make_entities,
                                         .order = playback->make_order + begin,
                                         .count = end - begin};
        begin = end;
    }
    playback->copies = copies;
    playback->copies_count = count;
    return true;
}

espl_status espl__sort_makes(espl__playback *playback)
{
    sorter s = {.playback = playback};
    bool is_done = reserve(&s) && number_sources(&s);

    forget_chunks(&s);
    is_done = is_done && sort_by_source(&s) && list_copies(&s);
    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}
