// SPDX-License-Identifier: MIT
// How far the worlds of a run can reach while writes to it are carried out. Level by level: a world
// is made of one local of each level above it, so that its scale is at most the product of what is
// largest in each, and its position at most the sum of what reaches farthest, so enlarged. A value
// that is set counts where its node stands, in whichever space; one that moves or enlarges what is
// there counts for all.
#include "lib/commands/written.h"

#include "lib/math/range.h"

// What is largest, in any part of its own.
typedef struct most {
    float position[3];
    float scale;
    float kept_position[3];
    float kept_scale;
    float stretch;
} most;

typedef struct bound {
    double reach;
    double growth;  // powers of two
    double stretch; // of these, by the widest stretch: it moves children and goes no further
    bool is_known;
} bound;

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static void widen_by(float largest[static 3], const float v[static 3])
{
    for (int i = 0; i < 3; ++i) {
        largest[i] = larger(largest[i], fabsf(v[i]));
    }
}

static void add_pose(most *m, const espl_pose *pose)
{
    widen_by(m->position, pose->position);
    m->scale = larger(m->scale, fabsf(pose->scale));
}

static void add_stretch(most *m, const float stretch[static 3])
{
    for (int i = 0; i < 3; ++i) {
        m->stretch = larger(m->stretch, fabsf(stretch[i]));
    }
}

static void add_placement(most *m, const espl__placement *placement)
{
    add_pose(m, &placement->local);
    widen_by(m->kept_position, placement->kept.pose.position);
    m->kept_scale = larger(m->kept_scale, fabsf(placement->kept.pose.scale));
    add_stretch(m, placement->extra.stretch);
}

static void add_most(bound *b, const most *m)
{
    b->reach += espl__reach_of(m->position) + espl__reach_of(m->kept_position);
    b->growth += espl__growth_by(m->scale) + espl__growth_by(m->kept_scale);
}

// A level, with what it is given.
static void add_level(bound *b, const most *m)
{
    const double stretch = espl__growth_by(m->stretch);

    add_most(b, m);
    b->stretch = stretch > b->stretch ? stretch : b->stretch;
}

// A pose, and what stretches what hangs below it.
static void add_transform(most *m, const espl_transform *value)
{
    widen_by(m->position, value->position);
    m->scale = larger(m->scale, fabsf(value->scale));
    add_stretch(m, value->stretch);
}

// What changes what is there may do so again and again. false: it divides.
static bool add_change(bound *b, const espl__written *written)
{
    const espl_write_value *const value = written->value;
    most m = {0};

    switch ((espl_write_kind)written->kind) {
    case ESPL_WRITE_TRANSLATE_LOCAL:
    case ESPL_WRITE_TRANSLATE_WORLD:
        widen_by(m.position, value->position);
        break;
    case ESPL_WRITE_TRANSFORM_LOCAL:
    case ESPL_WRITE_TRANSFORM_WORLD:
        add_transform(&m, &value->transform);
        break;
    case ESPL_WRITE_MULTIPLY_SCALE:
        m.scale = fabsf(value->scale);
        break;
    case ESPL_WRITE_MULTIPLY_STRETCH:
        add_stretch(&m, value->stretch);
        break;
    default:
        return false;
    }
    add_most(b, &m);
    b->growth += espl__growth_by(m.stretch);
    return true;
}

static void add_write(bound *b, most *m, const espl__written *written)
{
    const espl_write_value *const value = written->value;

    switch ((espl_write_kind)written->kind) {
    case ESPL_WRITE_LOCAL_POSITION:
    case ESPL_WRITE_WORLD_POSITION:
        widen_by(m->position, value->position);
        break;
    case ESPL_WRITE_LOCAL_SCALE:
    case ESPL_WRITE_WORLD_SCALE:
        m->scale = larger(m->scale, fabsf(value->scale));
        break;
    case ESPL_WRITE_LOCAL_POSE:
    case ESPL_WRITE_LOCAL:
    case ESPL_WRITE_WORLD:
        add_transform(m, &value->transform);
        break;
    case ESPL_WRITE_STRETCH:
        add_stretch(m, value->stretch);
        break;
    case ESPL_WRITE_CONTEXT:
    case ESPL_WRITE_LOCAL_ROTATION:
    case ESPL_WRITE_WORLD_ROTATION:
    case ESPL_WRITE_ROTATE_LOCAL:
    case ESPL_WRITE_ROTATE_WORLD:
        break;
    default:
        b->is_known = add_change(b, written) && b->is_known;
        break;
    }
}

// Nodes of ranks [begin, end) as they stand.
static void add_ranks(most *m, const espl__forest *forest, const espl__run *run, uint32_t begin,
                      uint32_t end)
{
    const uint32_t *const order = forest->order + run->base;

    for (uint32_t rank = begin; run->side == NULL && rank < end; ++rank) {
        add_pose(m, &forest->local[order[rank]]);
    }
    for (uint32_t rank = begin; run->side != NULL && rank < end; ++rank) {
        const espl__placement placement = espl__slot_placement(forest, order[rank]);

        add_placement(m, &placement);
    }
}

bool espl__writes_are_tame(const espl__forest *forest, const espl__rank_writes *writes)
{
    const espl__run *const run = &forest->runs[writes->run];
    bound b = {.is_known = true};
    uint32_t begin = 0, end = 1, write = 0;

    while (begin < end && b.is_known) {
        most m = {0};

        add_ranks(&m, forest, run, begin, end);
        for (; write < writes->count && espl__key_rank(writes->keys[write]) < end; ++write) {
            add_write(&b, &m, &writes->written[(uint32_t)writes->keys[write]]);
        }
        add_level(&b, &m);
        const uint32_t next = espl__first_child(forest, run, end);

        begin = end;
        end = next;
    }
    return b.is_known && espl__is_in_range(b.growth + b.stretch, b.reach);
}
