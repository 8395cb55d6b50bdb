// SPDX-License-Identifier: MIT
// The words of lifetimes.h: 0 where one is free, else the life of the valid mirror.
#include "lib/renderables/lifetimes.h"

#include <stdatomic.h>

enum { NUMBER_BITS = 40, SERIAL_BITS = 24 };

static _Atomic uint64_t lives[ESPL__LIFETIMES];
static _Atomic uint32_t next_serial;

uint32_t espl__lifetime_begin(uint64_t *first)
{
    const uint32_t serial = atomic_fetch_add_explicit(&next_serial, 1, memory_order_relaxed);

    // Not 0, because that is a word that is free.
    *first = (uint64_t)(serial % ((1U << SERIAL_BITS) - 1) + 1) << NUMBER_BITS;
    for (uint32_t i = 0; i < ESPL__LIFETIMES; ++i) {
        uint64_t none = 0;

        if (atomic_compare_exchange_strong_explicit(&lives[i], &none, *first, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            return i;
        }
    }
    return ESPL__NO_LIFETIME;
}

void espl__lifetime_set(uint32_t lifetime, uint64_t life)
{
    if (lifetime != ESPL__NO_LIFETIME) {
        atomic_store_explicit(&lives[lifetime], life, memory_order_relaxed);
    }
}

void espl__lifetime_end(uint32_t lifetime)
{
    espl__lifetime_set(lifetime, 0);
}

bool espl__lifetime_has(uint32_t lifetime, uint64_t life)
{
    return life == 0 || lifetime == ESPL__NO_LIFETIME ||
           atomic_load_explicit(&lives[lifetime], memory_order_relaxed) == life;
}
