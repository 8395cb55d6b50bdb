// SPDX-License-Identifier: MIT
// Originals and tags of a store that a load makes: see image_parts.h.
#include "lib/value/image_parts.h"

#include "lib/value/manifest.h"

#include <string.h>

// --- Originals ---

// Tell whether an original is an entity of the world that loads.
static bool is_own(const espl__store *store, const espl__image_head *head, espl_entity original)
{
    return head->tag != store->tag && original.generation >> ESPL__TAG_SHIFT == store->tag;
}

bool espl__image_link(espl__store *store, const espl__image_head *head, const unsigned char *bytes,
                      const char **rule)
{
    espl__counterparts *const links = &store->counterparts;
    uint32_t next = 0; // least index of the entry that follows

    *rule = NULL;
    if (!espl__counterparts_reserve(links, store->heap, head->originals, head->records)) {
        return false;
    }
    for (uint32_t i = 0; i < head->originals && *rule == NULL; ++i) {
        espl__image_original entry;

        memcpy(&entry, bytes + i * sizeof entry, sizeof entry);
        if (entry.entity < next || entry.entity >= head->records || entry.zero != 0) {
            *rule = "An original is that of no entity.";
        } else if (is_own(store, head, entry.original)) {
            continue;
        } else if (!espl__may_be_original(store, entry.original) ||
                   espl__counterpart_of(links, entry.original) != UINT32_MAX) {
            *rule = "An original is none, or that of two entities.";
        } else {
            espl__counterpart_put(links, entry.entity, entry.original);
        }
        next = entry.entity + 1;
    }
    return *rule == NULL;
}

// --- Tags ---

// The store whose handles get its tag, and the tag that they have.
typedef struct retagging {
    const espl__store *store;
    uint32_t from;
} retagging;

static uint32_t retagged(const retagging *r, uint32_t generation)
{
    const uint32_t below = (UINT32_C(1) << ESPL__TAG_SHIFT) - 1;

    return generation >> ESPL__TAG_SHIFT == r->from
               ? (generation & below) | r->store->tag << ESPL__TAG_SHIFT
               : generation;
}

// Give references of one column the tag of this world.
static void retag_column(const retagging *r, const espl__area *area)
{
    const espl__component_info *const info = espl__component_info_of(r->store, area->component);

    for (uint32_t i = 0; i < info->reference_count; ++i) {
        for (size_t row = 0; row < area->count; ++row) {
            unsigned char *const at =
                (unsigned char *)area->bytes + row * area->size + info->references[i];
            espl_entity entity;

            memcpy(&entity, at, sizeof entity);
            entity.generation = retagged(r, entity.generation);
            memcpy(at, &entity, sizeof entity);
        }
    }
}

static void retag_area(void *context, const espl__area *area)
{
    const retagging *const r = context;

    if (area->kind == ESPL__AREA_VALUES) {
        retag_column(r, area);
    }
    for (size_t i = 0; area->kind == ESPL__AREA_ENTITIES && i < area->count; ++i) {
        espl_entity *const entity = (espl_entity *)area->bytes + i;

        entity->generation = retagged(r, entity->generation);
    }
    for (size_t i = 0; area->kind == ESPL__AREA_RECORDS && i < area->count; ++i) {
        espl__record *const record = (espl__record *)area->bytes + i;

        record->generation = retagged(r, record->generation);
    }
}

void espl__image_retag(const espl__store *store, uint32_t from)
{
    retagging r = {store, from};
    const espl__area_visitor visitor = {retag_area, &r};

    espl__manifest_rows(store, &visitor);
}
