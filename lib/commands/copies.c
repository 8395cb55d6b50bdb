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

// Number a source, unless it is, and note the archetype of its first clone. The number + 1; 0 where
// there is no memory.
static uint32_t number_source(sorter *s, uint32_t source, uint32_t archetype)
{
    uint32_t *const number = number_of(s, source);

    if (number == NULL) {
        return 0;
    }
    if (*number == 0) {
        s->archetypes[s->source_count++] = archetype;
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

// Number the sources as they come, and count their clones. false where there is no memory.
static bool number_sources(sorter *s)
{
    const espl__make *const makes = s->playback->makes;
    bool is_done = true;

    for (size_t i = 0; i < s->playback->make_count && is_done; ++i) {
        const uint32_t number = number_source(s, makes[i].source, makes[i].archetype);

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

// --- Where all is made by recipe ---

// Clones of one source that go to one archetype.
typedef struct bin {
    uint32_t entity, archetype;
    uint32_t next; // of the same source: the next archetype, or ESPL__NONE
    uint32_t count;
} bin;

typedef struct bins {
    sorter sorter;    // of sources
    uint32_t *firsts; // [source_count] bin of the first archetype
    bin *bins;        // [count]
    uint32_t *places; // [count] of the next clone of each in make_order
    uint32_t count;
} bins;

// Memory that an upper bound of what there is asks for.
static bool reserve_bins(bins *b, espl__playback *playback)
{
    const size_t count = playback->make_count;
    const size_t chunks = espl__array_length(playback->store->chunks);
    size_t most = 0;

    for (size_t i = 1; i <= playback->recipe_count; ++i) {
        most += playback->recipes[i].tree.size + 2;
    }
    most = most < count ? most : count;
    *b = (bins){.sorter = {.playback = playback}};
    b->firsts = espl__arena_take(&playback->arena, most, sizeof *b->firsts);
    b->bins = espl__arena_take(&playback->arena, most, sizeof *b->bins);
    b->places = espl__arena_take(&playback->arena, most, sizeof *b->places);
    b->sorter.archetypes = espl__arena_take(&playback->arena, most, sizeof(uint32_t));
    b->sorter.known =
        espl__arena_take(&playback->arena, most < chunks ? most : chunks, sizeof(chunk_sources *));
    playback->make_order = espl__arena_take(&playback->arena, count, sizeof(uint32_t));
    playback->make_entities = espl__arena_take(&playback->arena, count, sizeof(espl_entity));
    playback->copies = espl__arena_take(&playback->arena, most, sizeof *playback->copies);
    return b->firsts != NULL && b->bins != NULL && b->places != NULL &&
           b->sorter.archetypes != NULL && b->sorter.known != NULL &&
           playback->make_order != NULL && playback->make_entities != NULL &&
           playback->copies != NULL;
}

// The bin of an entity and an archetype; bins of a source stand in the order of archetypes.
static uint32_t find_bin(bins *b, uint32_t *first, uint32_t entity, uint32_t archetype)
{
    uint32_t *link = first;

    while (*link != ESPL__NONE && b->bins[*link].archetype < archetype) {
        link = &b->bins[*link].next;
    }
    if (*link == ESPL__NONE || b->bins[*link].archetype != archetype) {
        b->bins[b->count] = (bin){.entity = entity, .archetype = archetype, .next = *link};
        *link = b->count++;
    }
    return *link;
}

// Let so many clones of an entity into their bin. false where there is no memory.
static bool let_in(bins *b, uint32_t entity, uint32_t archetype, uint32_t count, uint32_t *out)
{
    const uint32_t sources = b->sorter.source_count;
    const uint32_t number = number_source(&b->sorter, entity, archetype);

    if (number == 0) {
        return false;
    }
    if (sources != b->sorter.source_count) {
        b->firsts[number - 1] = ESPL__NONE;
    }
    *out = find_bin(b, &b->firsts[number - 1], entity, archetype);
    b->bins[*out].count += count;
    return true;
}

static bool let_in_card(bins *b, espl__recipe_card *card)
{
    const uint32_t uses = card->uses[0] + card->uses[1] + card->uses[2];
    bool is_done = true;

    for (uint32_t role = 0; role < 3 && is_done; ++role) {
        is_done = card->uses[role] == 0 || let_in(b, card->entities[0], card->tops[role],
                                                  card->uses[role], &card->top_bins[role]);
    }
    // Nothing goes the long way, so that whoever names a source has copies of it.
    ESPL_CHECK(uses != 0);
    for (uint32_t k = 1; k < card->tree.size && is_done; ++k) {
        is_done = let_in(b, card->entities[k], card->archetypes[k], uses, &card->bins[k]);
    }
    return is_done;
}

// Recipes stand in the order in which commands name them first, and so do the sources.
static bool let_in_cards(bins *b)
{
    espl__playback *const playback = b->sorter.playback;
    bool is_done = true;

    for (size_t i = 1; i <= playback->recipe_count && is_done; ++i) {
        is_done = let_in_card(b, &playback->recipes[i]);
    }
    return is_done;
}

static void place_bins(bins *b)
{
    espl__playback *const playback = b->sorter.playback;
    uint32_t place = 0;

    for (uint32_t source = 0; source < b->sorter.source_count; ++source) {
        for (uint32_t i = b->firsts[source]; i != ESPL__NONE; i = b->bins[i].next) {
            const bin *const at = &b->bins[i];

            playback->copies[playback->copies_count++] =
                (espl__copies){.archetype = at->archetype,
                               .source = at->entity,
                               .entities = playback->make_entities,
                               .order = playback->make_order + place,
                               .count = at->count};
            b->places[i] = place;
            place += at->count;
        }
    }
}

static void order_copies(const bins *b)
{
    const espl__playback *const playback = b->sorter.playback;
    uint32_t *const order = playback->make_order, *const places = b->places;
    const uint32_t count = (uint32_t)playback->make_count;
    const espl__entry *entry = playback->entries;

    for (uint32_t make = 0; make < count; ++entry) {
        const uint32_t made = entry->clone_count;

        if (made != 0) {
            const espl__recipe_card *const card = espl__short_recipe(playback, entry);
            const uint32_t *const others = card->bins;

            order[places[card->top_bins[espl__short_top_role(entry) - ESPL_SOLO]]++] = make;
            for (uint32_t k = 1; k < made; ++k) {
                order[places[others[k]]++] = make + k;
            }
            make += made;
        }
    }
}

espl_status espl__sort_copies(espl__playback *playback)
{
    bins b;
    const bool is_done = reserve_bins(&b, playback) && let_in_cards(&b);

    forget_chunks(&b.sorter);
    playback->copies_count = 0;
    if (!is_done) {
        return ESPL_ERR_NO_MEMORY;
    }
    place_bins(&b);
    order_copies(&b);
    return ESPL_OK;
}
