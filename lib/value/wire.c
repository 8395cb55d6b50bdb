// SPDX-License-Identifier: MIT
// The slow half of a wire: bytes that leave its room.
#include "lib/value/wire.h"

void espl__wire_begin(espl__wire *wire)
{
    wire->is_broken = false;
    wire->is_summed = true;
    wire->size = 0;
    wire->used = 0;
    espl__checksum_begin(&wire->checksum);
}

// Bytes leave here.
static void pass_on(espl__wire *wire, const void *bytes, size_t size)
{
    if (wire->is_summed) {
        espl__checksum_add(&wire->checksum, bytes, size);
    }
    if (wire->pass != NULL && !wire->is_broken && size != 0) {
        wire->is_broken = !wire->pass(wire->user, bytes, size);
    }
}

void espl__wire_flush(espl__wire *wire)
{
    pass_on(wire, wire->bytes, wire->used);
    wire->used = 0;
}

void espl__wire_put(espl__wire *wire, const void *bytes, size_t size)
{
    if (size > ESPL__WIRE_ROOM - wire->used) {
        espl__wire_flush(wire);
    }
    if (size > ESPL__WIRE_ROOM) {
        pass_on(wire, bytes, size);
        wire->size += size;
        return;
    }
    if (size != 0) {
        memcpy(wire->bytes + wire->used, bytes, size);
    }
    espl__wire_add(wire, size);
}

void espl__wire_zeros(espl__wire *wire, size_t size)
{
    static const unsigned char zeros[64];

    while (size > sizeof zeros) {
        espl__wire_put(wire, zeros, sizeof zeros);
        size -= sizeof zeros;
    }
    espl__wire_put(wire, zeros, size);
}

void espl__wire_varints(espl__wire *wire, const uint32_t *numbers, size_t count, uint32_t mask)
{
    enum { LONGEST = 5 };

    while (count != 0) {
        unsigned char *const room = espl__wire_room(wire), *at = room;
        const size_t most = (ESPL__WIRE_ROOM - wire->used) / LONGEST;
        const size_t here = count < most ? count : most;

        for (size_t i = 0; i < here; ++i) {
            at += espl__varint_store(at, numbers[i] & mask);
        }
        espl__wire_add(wire, (size_t)(at - room));
        numbers += here;
        count -= here;
    }
}
