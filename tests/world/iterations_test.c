// SPDX-License-Identifier: MIT
// Iterations under way: copies of a query or a subtree that go on after one of them has ended,
// iterations past those that the world has entries for, and counters near their end.
#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/told.h"

#include <espalier/writers.h>

#include <string.h>

enum { MORE_THAN_ENTRIES = 40 };

static told t;
static espl_world *w;
static espl_entity root, child;
static espl_component number;

static void set_up(void)
{
    told_begin(&t, NULL);
    w = t.world;
    root = test_solo(w);
    child = test_solo(w);
    number = test_component(w, "number", sizeof(uint32_t), sizeof(uint32_t));
    ck_ok(espl_attach(w, child, root, NULL));
    ck_ok(espl_add_component(w, child, number, NULL, sizeof(uint32_t)));
}

static void tear_down(void)
{
    told_end(&t);
}

static void demand_trap(const char *call, const char *what)
{
    told_demand_trap_always(
        &t,
        "%s: The iteration has ended, by this %s or by a copy of it; begin another one, and end "
        "each once.",
        call, what);
}

// Tell whether something iterates over the world, by a structural call.
static bool is_busy(void)
{
    const espl_status status = espl_move_before(w, child, espl_entity_null());

    ck_assert(status == ESPL_OK || status == ESPL_ERR_BUSY);
    t.lines = 0;
    return status == ESPL_ERR_BUSY;
}

// --- Copies ---

typedef enum kind { QUERY, READING, SUBTREE, KINDS } kind;
typedef enum use { NEXT, END, READ, WRITE, TRANSFORMS, USES } use;

typedef struct iteration {
    kind kind;
    espl_query query;
    espl_subtree subtree;
} iteration;

static void begin(iteration *i, kind which)
{
    i->kind = which;
    ck_ok(which == QUERY     ? espl_query_begin(w, NULL, &i->query)
          : which == READING ? espl_query_begin_read(w, NULL, &i->query)
                             : espl_subtree_begin(w, root, &i->subtree));
}

static bool next(iteration *i)
{
    return i->kind == SUBTREE ? espl_subtree_next(&i->subtree) : espl_query_next(&i->query);
}

static void end(iteration *i)
{
    if (i->kind == SUBTREE) {
        espl_subtree_end(&i->subtree);
    } else {
        espl_query_end(&i->query);
    }
}

// Use an iteration that has ended elsewhere. @return the name of the call.
static const char *misuse(iteration *i, use used)
{
    espl_transform transforms[8];

    switch (used) {
    case NEXT:
        ck_assert(!next(i));
        return i->kind == SUBTREE ? "espl_subtree_next" : "espl_query_next";
    case READ:
        ck_assert_ptr_null(espl_query_read(&i->query, number, sizeof(uint32_t)));
        return "espl_query_read";
    case WRITE:
        ck_assert_ptr_null(espl_query_write(&i->query, number, sizeof(uint32_t)));
        return "espl_query_write";
    case TRANSFORMS:
        ck_status(espl_query_read_transforms(&i->query, ESPL_READ_WORLD_TRANSFORM, transforms,
                                             sizeof *transforms),
                  ESPL_ERR_ARGUMENT);
        return "espl_query_read_transforms";
    default:
        end(i);
        return i->kind == SUBTREE ? "espl_subtree_end" : "espl_query_end";
    }
}

FIXTURE(set_up, tear_down);

// The copy is at a chunk with the component where it is used. Other iterations are not disturbed.
TEST_LOOP(an_iteration_that_a_copy_has_ended_is_a_fault_in_every_build, 0, KINDS *USES * 4)
{
    const kind which = (kind)(_i % KINDS);
    const use used = (use)(_i / KINDS % USES);
    const bool runs_out = _i / KINDS / USES % 2 != 0, is_alone = _i / KINDS / USES / 2 != 0;
    iteration other, one, copy;
    const char *const what = which == SUBTREE ? "espl_subtree" : "query";

    if (which == SUBTREE && used != NEXT && used != END) {
        return;
    }
    if (!is_alone) {
        begin(&other, which == SUBTREE ? QUERY : SUBTREE);
    }
    begin(&one, which);
    while (next(&one) && which != SUBTREE &&
           espl_query_read(&one.query, number, sizeof(uint32_t)) == NULL) {
    }
    if (which == SUBTREE) {
        end(&one);
        begin(&one, which);
        ck_assert(next(&one));
    }
    copy = one;
    while (runs_out && next(&one)) {
    }
    end(&one);
    end(&one); // after the end it does nothing
    told_demand_nothing(&t);
    ck_assert(is_busy() == !is_alone);
    demand_trap(misuse(&copy, used), what);
    if (used == NEXT || used == END) { // a copy traps once
        end(&copy);
        ck_assert(!next(&copy));
        told_demand_nothing(&t);
    }
    ck_assert(is_busy() == !is_alone);
    if (!is_alone) {
        while (next(&other)) {
        }
    }
    ck_assert(!is_busy());
}

TEST(a_copy_goes_on_while_no_copy_has_ended)
{
    iteration one, copy;

    for (int k = 0; k < KINDS; ++k) {
        begin(&one, (kind)k);
        ck_assert(next(&one));
        copy = one;
        memset(&one, 0, sizeof one); // moved
        ck_assert(next(&copy));
        end(&copy);
        ck_assert(!is_busy());
    }
}

// The entry of the first iteration is that of the second one by then.
TEST(a_copy_does_not_end_a_later_iteration)
{
    iteration one, copy, later;

    for (int k = 0; k < KINDS; ++k) {
        begin(&one, (kind)k);
        copy = one;
        end(&one);
        begin(&later, (kind)k);
        end(&copy);
        demand_trap(k == SUBTREE ? "espl_subtree_end" : "espl_query_end",
                    k == SUBTREE ? "espl_subtree" : "query");
        ck_assert(is_busy());
        ck_assert(next(&later));
        end(&later);
        ck_assert(!is_busy());
    }
}

TEST(iterations_past_the_entries_of_a_world_never_leave_it_busy)
{
    static iteration open[MORE_THAN_ENTRIES], copy;

    for (int i = 0; i < MORE_THAN_ENTRIES; ++i) {
        begin(&open[i], (kind)(i % KINDS));
    }
    copy = open[MORE_THAN_ENTRIES - 1];
    for (int i = 0; i < MORE_THAN_ENTRIES; ++i) {
        ck_assert(is_busy());
        end(&open[i]);
    }
    ck_assert(!is_busy());
    end(&copy);
    demand_trap(copy.kind == SUBTREE ? "espl_subtree_end" : "espl_query_end",
                copy.kind == SUBTREE ? "espl_subtree" : "query");
    ck_assert(!is_busy());
    begin(&copy, QUERY);
    ck_assert(is_busy());
    end(&copy);
    ck_assert(!is_busy());
}

// --- Rows of a parallel write ---

static void keep_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    *(espl_query *)context = *rows;
    ck_assert_ptr_nonnull(espl_query_read(rows, number, sizeof(uint32_t)));
}

TEST(rows_that_are_kept_after_their_parallel_write_are_a_fault)
{
    const espl_query_def numbers = {.all = &number, .all_count = 1};
    espl_query rows;
    espl_transform transforms[8];
    const espl_parallel_def def = {.query = &numbers,
                                   .function = keep_rows,
                                   .context = &rows,
                                   .columns = &number,
                                   .column_count = 1};

    ck_ok(espl_write_parallel(w, &def, NULL));
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_ptr_null(espl_query_read(&rows, number, sizeof(uint32_t)));
    demand_trap("espl_query_read", "query");
    ck_assert_ptr_null(espl_query_write(&rows, number, sizeof(uint32_t)));
    demand_trap("espl_query_write", "query");
    ck_status(espl_query_read_transforms(&rows, ESPL_READ_WORLD_TRANSFORM, transforms,
                                         sizeof *transforms),
              ESPL_ERR_ARGUMENT);
    demand_trap("espl_query_read_transforms", "query");
}

// --- Counters near their end ---

TEST(the_iteration_after_the_last_number_is_one_as_all_others)
{
    iteration one, copy, outer;

    test_wear_iterations(w, 3);
    for (int i = 0; i < 12; ++i) {
        const kind which = (kind)(i % KINDS);

        begin(&outer, QUERY);
        begin(&one, which);
        copy = one;
        ck_status(espl_compact(w), ESPL_ERR_BUSY);
        // Of several the one that began last is named, also where the numbers began anew.
        ck_assert_ptr_nonnull(strstr(t.line, which == SUBTREE ? "The espl_subtree at" : "query"));
        t.lines = 0;
        end(&one);
        end(&copy);
        demand_trap(which == SUBTREE ? "espl_subtree_end" : "espl_query_end",
                    which == SUBTREE ? "espl_subtree" : "query");
        ck_assert(is_busy());
        end(&outer);
        ck_assert(!is_busy());
    }
}

// A program that forgets to end iterations keeps the world busy, however often it does.
TEST(a_count_of_forgotten_iterations_stays_at_its_end)
{
    static iteration open[MORE_THAN_ENTRIES];

    test_forget_iterations(w, UINT32_MAX - 3);
    for (int i = 0; i < MORE_THAN_ENTRIES; ++i) {
        begin(&open[i], (kind)(i % KINDS));
        ck_assert(is_busy());
    }
    for (int i = 0; i < MORE_THAN_ENTRIES; ++i) {
        end(&open[i]);
        ck_assert(is_busy());
    }
    told_demand_nothing(&t);
    test_forget_iterations(w, 0);
    ck_assert(!is_busy());
}
