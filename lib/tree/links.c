// SPDX-License-Identifier: MIT
// Links of a sketch. No pointer to a node outlives a call that may bring another one into being.
#include "lib/tree/sketch.h"

static espl__node *at(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_at(sketch, node);
}

void espl__sketch_restructure(espl__sketch *sketch, uint32_t node)
{
    const uint32_t load = at(sketch, node)->load;

    if (load != ESPL__NO_NODE) {
        sketch->loads[load].is_restructured = true;
    }
    sketch->is_restructured = true;
}

// Let a node, or the list of a parent where there is none, go on with another one.
static void set_next(espl__sketch *sketch, uint32_t node, uint32_t parent, uint32_t next)
{
    if (node != ESPL__NO_NODE) {
        at(sketch, node)->next = next;
    } else {
        at(sketch, parent)->first = next;
    }
}

static void set_previous(espl__sketch *sketch, uint32_t node, uint32_t parent, uint32_t previous)
{
    if (node != ESPL__NO_NODE) {
        at(sketch, node)->previous = previous;
    } else {
        at(sketch, parent)->last = previous;
    }
}

void espl__sketch_unlink(espl__sketch *sketch, uint32_t node)
{
    const espl__node was = *at(sketch, node);

    if (was.parent == ESPL__NO_NODE) {
        return;
    }
    set_next(sketch, was.previous, was.parent, was.next);
    set_previous(sketch, was.next, was.parent, was.previous);
    espl__node *const n = at(sketch, node);

    n->parent = n->next = n->previous = ESPL__NO_NODE;
    espl__sketch_restructure(sketch, was.parent);
    espl__sketch_restructure(sketch, node);
}

void espl__sketch_link(espl__sketch *sketch, uint32_t node, uint32_t parent, uint32_t before)
{
    const uint32_t previous =
        before == ESPL__NO_NODE ? at(sketch, parent)->last : at(sketch, before)->previous;
    espl__node *const n = at(sketch, node);

    ESPL_CHECK(n->parent == ESPL__NO_NODE);
    n->parent = parent;
    n->next = before;
    n->previous = previous;
    set_next(sketch, previous, parent, node);
    set_previous(sketch, before, parent, node);
    at(sketch, parent)->flags |= ESPL__NODE_PARENT;
    espl__sketch_restructure(sketch, parent);
    espl__sketch_restructure(sketch, node);
}

// Make all children of a node roots.
static void scatter_children(espl__sketch *sketch, uint32_t node)
{
    uint32_t child = at(sketch, node)->first;

    at(sketch, node)->first = at(sketch, node)->last = ESPL__NO_NODE;
    while (child != ESPL__NO_NODE) {
        // A ghost has no row; it is spliced out in its turn.
        if ((at(sketch, child)->flags & ESPL__NODE_GHOST) == 0) {
            espl__sketch_note(sketch, child, ESPL__NODE_MOVED);
        }
        espl__sketch_restructure(sketch, child);
        espl__node *const c = at(sketch, child);

        child = c->next;
        c->parent = c->next = c->previous = ESPL__NO_NODE;
        c->flags &= ~(unsigned)ESPL__NODE_FREE_LINK;
    }
}

// The list of children stands where the node stood.
static void replace_by_children(espl__sketch *sketch, uint32_t node)
{
    const espl__node was = *at(sketch, node);

    for (uint32_t child = was.first; child != ESPL__NO_NODE; child = at(sketch, child)->next) {
        espl__sketch_restructure(sketch, child);
        at(sketch, child)->parent = was.parent;
    }
    at(sketch, was.first)->previous = was.previous;
    at(sketch, was.last)->next = was.next;
    set_next(sketch, was.previous, was.parent, was.first);
    set_previous(sketch, was.next, was.parent, was.last);
    espl__node *const n = at(sketch, node);

    n->parent = n->first = n->last = n->next = n->previous = ESPL__NO_NODE;
}

void espl__sketch_splice(espl__sketch *sketch, uint32_t node)
{
    const uint32_t parent = at(sketch, node)->parent;

    espl__sketch_restructure(sketch, node);
    if (parent == ESPL__NO_NODE) {
        scatter_children(sketch, node);
        return;
    }
    espl__sketch_restructure(sketch, parent);
    if (at(sketch, node)->first == ESPL__NO_NODE) {
        espl__sketch_unlink(sketch, node);
    } else {
        replace_by_children(sketch, node);
    }
}

uint32_t espl__sketch_look_below(const espl__sketch *sketch, uint32_t node, uint32_t top)
{
    espl__node n = espl__sketch_peek(sketch, node);

    if (n.first != ESPL__NO_NODE) {
        return n.first;
    }
    while (node != top && n.next == ESPL__NO_NODE) {
        ESPL_CHECK(n.parent != ESPL__NO_NODE);
        node = n.parent;
        n = espl__sketch_peek(sketch, node);
    }
    return node != top ? n.next : ESPL__NO_NODE;
}

bool espl__sketch_is_below(espl__sketch *sketch, uint32_t node, uint32_t above)
{
    // Most nodes are not deep. Behind that, what hangs below `above` is looked through step by step as
    // well, which is often little: whoever hangs things into a long chain one after the other would
    // climb all of it each time.
    enum { DEEP = 32 };
    uint32_t up = node, down = above, steps = 0;

    while (up != ESPL__NO_NODE && up != above && down != ESPL__NO_NODE) {
        up = espl__sketch_parent(sketch, up);
        down = ++steps > DEEP ? espl__sketch_look_below(sketch, down, above) : down;
    }
    sketch->climbed += steps;
    return up == above;
}

uint32_t espl__sketch_next(const espl__sketch *sketch, uint32_t node, uint32_t top, bool descend)
{
    if (descend && at(sketch, node)->first != ESPL__NO_NODE) {
        return at(sketch, node)->first;
    }
    while (node != top && node != ESPL__NO_NODE) {
        const espl__node *const n = at(sketch, node);

        if (n->next != ESPL__NO_NODE) {
            return n->next;
        }
        node = n->parent;
    }
    return ESPL__NO_NODE;
}
