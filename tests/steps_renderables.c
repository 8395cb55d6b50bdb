// SPDX-License-Identifier: MIT
// Renderables in tapes: components that make them, updates, and cameras. What a mirror has, and what each camera
// sees of it, is compared with a look at every node of the model. The box of a renderable with
// ESPL_RENDERABLE_UNION is compared within a band, because no document says its bits.
#include "tests/asserts.h"
#include "tests/changes.h"
#include "tests/placing.h"
#include "tests/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BOX_BITS = 1U << MODEL_BOUNDS | 1U << MODEL_RENDERABLE,
    LOOK_BITS = BOX_BITS | 1U << MODEL_LAYERS,
    CAMERAS = 3,
};

// --- Components ---

static espl_component component_of(espl_component component)
{
    return MODEL_BULK + MODEL_BULK_COUNT + (component - MODEL_BOUNDS);
}

void side_register_looks(espl_world *world)
{
    static const espl_component_def defs[] = {
        {.name = "bounds", .size = sizeof(espl_bounds), .alignment = _Alignof(espl_bounds)},
        {.name = "renderable",
         .size = sizeof(espl_renderable),
         .alignment = _Alignof(espl_renderable)},
        {.name = "layers", .size = sizeof(espl_layers), .alignment = _Alignof(espl_layers)}};

    for (espl_component i = MODEL_BOUNDS; i <= MODEL_LAYERS; ++i) {
        espl_component component = 0;

        ck_ok(espl_component_register(world, &defs[i - MODEL_BOUNDS], &component));
        ck_assert_uint_eq(component, component_of(i));
    }
}

static float draw_number(uint64_t *random, float low, float high)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e30f, 0, -1};

    return test_one_in(random, 80) ? odd[test_below(random, 7)] : test_between(random, low, high);
}

static espl_bounds bounds_of(const model_look *look)
{
    uint64_t random = look->bounds;
    espl_bounds bounds;

    for (int k = 0; k < 3; ++k) {
        bounds.center[k] = draw_number(&random, -2, 2);
        bounds.half[k] = draw_number(&random, 0, 3);
    }
    return bounds;
}

static espl_renderable renderable_of(const model_look *look)
{
    uint64_t random = look->renderable;
    const espl_renderable renderable = {
        .key = test_one_in(&random, 8) ? ESPL_NO_KEY : test_below(&random, 5),
        .user_data = test_below(&random, 100),
        .flags = (test_one_in(&random, 10) ? ESPL_RENDERABLE_UNION : 0U) |
                 (test_one_in(&random, 16) ? ESPL_RENDERABLE_ALWAYS : 0U)};

    return renderable;
}

static espl_layers layers_of(const model_look *look)
{
    uint64_t random = look->layers;
    const uint32_t mask = (uint32_t)test_random(&random) | (uint32_t)test_random(&random);

    return (espl_layers){mask, test_one_in(&random, 3) ? ESPL_LAYERS_ABSOLUTE : 0U};
}

// Values in the form in which calls take them.
typedef struct look_values {
    espl_bounds bounds;
    espl_renderable renderable;
    espl_layers layers;
} look_values;

static void fill_values(look_values *out, const model_look *look)
{
    out->bounds = bounds_of(look);
    out->renderable = renderable_of(look);
    out->layers = layers_of(look);
}

static espl_component_value value_of(const look_values *v, espl_component component)
{
    switch (component) {
    case MODEL_BOUNDS:
        return (espl_component_value){component_of(component), sizeof v->bounds, &v->bounds};
    case MODEL_RENDERABLE:
        return (espl_component_value){component_of(component), sizeof v->renderable,
                                      &v->renderable};
    default:
        return (espl_component_value){component_of(component), sizeof v->layers, &v->layers};
    }
}

// --- Draws ---

static uint32_t pick_bits(uint64_t *random)
{
    switch (test_below(random, 6)) {
    case 0:
        return 1U << MODEL_BOUNDS;
    case 1:
        return 1U << MODEL_RENDERABLE;
    case 2:
        return 1U << MODEL_LAYERS;
    case 3:
        return LOOK_BITS;
    default:
        return BOX_BITS;
    }
}

void pick_renderable_step(const test_tape *tape, uint64_t *random, operation *out)
{
    const uint32_t kind = test_below(random, 12);

    out->step = kind < 4 ? STEP_UPDATE : STEP_DRESS;
    out->ends_watch = test_one_in(random, 24);
    out->is_held = test_one_in(random, 3);
    out->load = test_random(random);
    out->look = (model_look){(uint32_t)test_random(random), (uint32_t)test_random(random),
                             (uint32_t)test_random(random)};
    out->entity = pick_operand_aside(tape, random);
    out->count = 1 + test_below(random, STEP_NAMED);
    for (uint32_t i = 0; i < STEP_NAMED; ++i) {
        out->named[i] = i == 0 ? out->entity : pick_operand_aside(tape, random);
    }
    if (kind < 6) {
        out->component = MODEL_BOUNDS + test_below(random, 3);
    } else if (kind == 6) {
        out->change.remove = pick_bits(random);
    } else {
        out->change.add = pick_bits(random);
        out->change.remove = test_one_in(random, 6) ? 1U << MODEL_LAYERS & ~out->change.add : 0;
    }
}

// --- The model ---

static void set_look(model_node *n, uint32_t set, const model_look *look)
{
    n->look.bounds = (set & 1U << MODEL_BOUNDS) != 0 ? look->bounds : n->look.bounds;
    n->look.renderable =
        (set & 1U << MODEL_RENDERABLE) != 0 ? look->renderable : n->look.renderable;
    n->look.layers = (set & 1U << MODEL_LAYERS) != 0 ? look->layers : n->look.layers;
}

model_answer model_dress(test_model *model, const operation *op)
{
    const model_values none = {0};
    const bool sets = op->component != 0;
    const model_answer answer =
        sets ? model_set(model, op->entity, op->component, &none, MODEL_FLAWLESS)
             : model_change_nodes(model, op->named, op->count, &op->change);

    for (uint32_t i = 0; answer == model_answer_of(ESPL_OK) && i < op->count; ++i) {
        if (!sets || i == 0) {
            set_look(&model->nodes[op->named[i]], sets ? 1U << op->component : op->change.add,
                     &op->look);
        }
    }
    return answer;
}

espl_status side_dress(test_side *side, const test_tape *tape, const operation *op)
{
    espl_component_value add[3];
    espl_component remove[3];
    espl_change_def def = {.add = add, .remove = remove};
    espl_entity entities[STEP_NAMED];
    look_values values;

    fill_values(&values, &op->look);
    if (op->component != 0) {
        const espl_component_value value = value_of(&values, op->component);

        return espl_set_component(side->world, side_handle(side, tape, op->entity), value.component,
                                  value.data, value.size);
    }
    for (espl_component i = MODEL_BOUNDS; i <= MODEL_LAYERS; ++i) {
        if ((op->change.add & model_bit(i)) != 0) {
            add[def.add_count++] = value_of(&values, i);
        }
        if ((op->change.remove & model_bit(i)) != 0) {
            remove[def.remove_count++] = component_of(i);
        }
    }
    for (uint32_t i = 0; i < op->count; ++i) {
        entities[i] = side_handle(side, tape, op->named[i]);
    }
    return espl_change_components_array(side->world, entities, op->count, &def, NULL);
}

void side_compare_looks(const test_side *side, const test_tape *tape, uint32_t node)
{
    const model_node *const n = &tape->model.nodes[node];
    const espl_entity entity = side->handles[node];
    look_values values;

    if (tape->has_own_renderables) {
        return;
    }
    fill_values(&values, &n->look);
    for (espl_component i = MODEL_BOUNDS; i <= MODEL_LAYERS; ++i) {
        const bool has = espl_has_component(side->world, entity, component_of(i));
        const espl_component_value value = value_of(&values, i);
        unsigned char got[sizeof(look_values)];

        tape_demand(tape, has == ((n->set & model_bit(i)) != 0), "node %u %s component %u", node,
                    has ? "has" : "lacks", component_of(i));
        if (has) {
            const espl_status status =
                espl_get_component(side->world, entity, component_of(i), got, value.size);

            tape_demand(tape, status == ESPL_OK && memcmp(got, value.data, value.size) == 0,
                        "node %u has another value of component %u", node, component_of(i));
        }
    }
}

// --- What must be in a mirror ---

// A renderable by the model.
typedef struct expected_look {
    uint32_t node;
    bool is_sound, is_met;
    espl_renderable value;
    uint32_t layers;
    model_cell cell;
    float box[6]; // center and half
    // With ESPL_RENDERABLE_UNION: bounds of the world boxes at and below it.
    float low[3], high[3];
} expected_look;

typedef struct expected_mirror {
    expected_look *looks; // [count]
    uint32_t *number_of;  // [nodes] of each node; MODEL_NONE: no renderable
    uint32_t count, bad;
    espl_entity first_bad;
    float cell_size; // 0: the world has no cells
} expected_mirror;

static bool is_renderable(const model_node *n)
{
    return n->has_placement && (n->set & BOX_BITS) == BOX_BITS &&
           (n->set & (model_bit(ESPL_PREFAB) | model_bit(ESPL_DISABLED))) == 0;
}

static uint32_t effective_layers(const test_model *model, uint32_t node)
{
    uint32_t all = UINT32_MAX;

    for (; node != MODEL_NONE; node = model->nodes[node].parent) {
        const model_node *const n = &model->nodes[node];

        if ((n->set & model_bit(MODEL_LAYERS)) != 0) {
            const espl_layers own = layers_of(&n->look);

            all &= own.mask;
            if ((own.flags & ESPL_LAYERS_ABSOLUTE) != 0) {
                return all;
            }
        }
    }
    return all;
}

static bool are_finite(const float *numbers, size_t count)
{
    bool is_finite = true;

    for (size_t i = 0; i < count; ++i) {
        is_finite = is_finite && isfinite(numbers[i]);
    }
    return is_finite;
}

// Compute the world box of a node as its matrix has it. @return whether all of it is finite.
static bool world_box(const model_node *n, float box[6])
{
    const espl_bounds bounds = bounds_of(&n->look);
    float m[12];

    espl_transform_to_matrix(&n->world, ESPL_MATRIX_3X4, m);
    for (int k = 0; k < 3; ++k) {
        const float *const row = &m[4 * k];

        box[k] = row[3] + ((row[0] * bounds.center[0] + row[1] * bounds.center[1]) +
                           row[2] * bounds.center[2]);
        box[3 + k] = (fabsf(row[0]) * bounds.half[0] + fabsf(row[1]) * bounds.half[1]) +
                     fabsf(row[2]) * bounds.half[2];
    }
    return are_finite(bounds.center, 3) && are_finite(bounds.half, 3) && bounds.half[0] >= 0 &&
           bounds.half[1] >= 0 && bounds.half[2] >= 0 && model_is_finite(&n->world) &&
           are_finite(box, 6);
}

static void expect_one(expected_mirror *e, const test_side *side, const test_model *model,
                       uint32_t node)
{
    const model_node *const n = &model->nodes[node];
    expected_look *const look = &e->looks[e->count];
    const espl_entity entity = side->handles[node];

    *look = (expected_look){.node = node,
                            .value = renderable_of(&n->look),
                            .layers = effective_layers(model, node),
                            .cell = model_cell_of(model, node),
                            .low = {INFINITY, INFINITY, INFINITY},
                            .high = {-INFINITY, -INFINITY, -INFINITY}};
    look->is_sound = world_box(n, look->box);
    if (!look->is_sound) {
        e->first_bad = e->bad == 0 || entity.index < e->first_bad.index ? entity : e->first_bad;
        e->bad += 1;
    }
    e->number_of[node] = e->count++;
}

// Let the boxes of all nodes above a renderable, and its own, contain its world box.
static void spread_box(expected_mirror *e, const test_model *model, const expected_look *from)
{
    float low[3], high[3];

    for (int k = 0; k < 3; ++k) {
        low[k] = from->box[k] - from->box[3 + k];
        high[k] = from->box[k] + from->box[3 + k];
    }
    if (!from->is_sound || !are_finite(low, 3) || !are_finite(high, 3)) {
        return;
    }
    for (uint32_t i = from->node; i != MODEL_NONE; i = model->nodes[i].parent) {
        expected_look *const to = e->number_of[i] != MODEL_NONE ? &e->looks[e->number_of[i]] : NULL;

        for (int k = 0; k < 3 && to != NULL; ++k) {
            to->low[k] = fminf(to->low[k], low[k]);
            to->high[k] = fmaxf(to->high[k], high[k]);
        }
    }
}

static void expect_all(expected_mirror *e, const test_side *side, const test_model *model)
{
    *e = (expected_mirror){.first_bad = espl_entity_null(), .cell_size = model->cell_size};
    e->looks = test_array(model->living_count + 1, sizeof *e->looks);
    e->number_of = test_array(model->count + 1, sizeof *e->number_of);
    memset(e->number_of, 0xff, (model->count + (size_t)1) * sizeof *e->number_of);
    for (uint32_t i = 0; i < model->living_count; ++i) {
        if (is_renderable(&model->nodes[model->living[i]])) {
            expect_one(e, side, model, model->living[i]);
        }
    }
    for (uint32_t i = 0; i < e->count; ++i) {
        spread_box(e, model, &e->looks[i]);
    }
}

static void forget_expected(expected_mirror *e)
{
    free(e->looks);
    free(e->number_of);
}

// The renderable that an entity of a mirror is, met for the first time.
static expected_look *meet(expected_mirror *e, const test_side *side, const test_tape *tape,
                           espl_entity entity)
{
    const uint32_t node =
        entity.index < side->node_capacity ? side->nodes[entity.index] : MODEL_NONE;
    const bool is_node = node < tape->model.count && tape->model.nodes[node].is_alive &&
                         espl_entity_equal(side->handles[node], entity);
    const uint32_t number = is_node ? e->number_of[node] : MODEL_NONE;

    tape_demand(tape, number != MODEL_NONE, "entity %u.%x is no renderable", entity.index,
                entity.generation);
    tape_demand(tape, !e->looks[number].is_met, "node %u is twice in a result", node);
    e->looks[number].is_met = true;
    return &e->looks[number];
}

static void meet_none(expected_mirror *e)
{
    for (uint32_t i = 0; i < e->count; ++i) {
        e->looks[i].is_met = false;
    }
}

// --- Mirrors ---

// Renderables of one cluster, as they are written out.
typedef struct cluster_out {
    espl_pose poses[ESPL_CLUSTER_SIZE], before[ESPL_CLUSTER_SIZE];
    espl_entity entities[ESPL_CLUSTER_SIZE];
    uint32_t user_data[ESPL_CLUSTER_SIZE];
    model_cell cells[ESPL_CLUSTER_SIZE];
    size_t count;
} cluster_out;

static void write_cluster(const espl_mirror *mirror, uint32_t cluster, cluster_out *out)
{
    const espl_instance_arrays arrays = {.matrices = out->poses,
                                         .form = ESPL_INSTANCE_POSE,
                                         .previous = out->before,
                                         .entities = out->entities,
                                         .user_data = out->user_data,
                                         .cells = &out->cells->at};

    memset(out, 0, sizeof *out);
    ck_ok(espl_mirror_write(mirror, cluster, &arrays, &out->count));
}

static uint64_t hash_mirror(const espl_mirror *mirror)
{
    static cluster_out out;
    espl_mirror_description description;
    uint64_t hash = TEST_HASH_START;

    espl_mirror_describe(mirror, &description);
    hash = test_hash_bytes(hash, &description.number, sizeof description.number);
    hash = test_hash_bytes(hash, &description.renderables, sizeof description.renderables);
    for (uint32_t i = 0; i < description.clusters; ++i) {
        write_cluster(mirror, i, &out);
        hash = test_hash_bytes(hash, &out, sizeof out);
    }
    return hash;
}

static bool is_same_pose(const espl_pose *pose, const espl_transform *world)
{
    espl_transform one = espl_transform_identity(), other = one;

    memcpy(&one, pose, sizeof *pose);
    memcpy(&other, world, sizeof *pose);
    return test_same(&one, &other);
}

static void check_mirror(const test_side *side, const test_tape *tape, expected_mirror *e)
{
    static cluster_out out;
    espl_mirror_description description;
    size_t count = 0;

    espl_mirror_describe(side->mirror, &description);
    tape_demand(tape, description.number == side->mirror_number, "mirror %u, not %u",
                (unsigned)description.number, (unsigned)side->mirror_number);
    for (uint32_t i = 0; i < description.clusters; ++i) {
        write_cluster(side->mirror, i, &out);
        for (size_t k = 0; k < out.count; ++k) {
            const expected_look *const look = meet(e, side, tape, out.entities[k]);

            tape_demand(tape,
                        !look->is_sound ||
                            is_same_pose(&out.poses[k], &tape->model.nodes[look->node].world),
                        "node %u has another pose in the mirror", look->node);
            tape_demand(tape, out.user_data[k] == look->value.user_data,
                        "node %u has another number of the user in the mirror", look->node);
            tape_demand(tape, memcmp(&out.cells[k], &look->cell, sizeof look->cell) == 0,
                        "node %u is in another cell in the mirror", look->node);
        }
        count += out.count;
    }
    tape_demand(tape, count == e->count && description.renderables == count,
                "%zu renderables in clusters of a mirror of %zu, not %u", count,
                description.renderables, e->count);
    meet_none(e);
}

static void check_report(const test_tape *tape, const expected_mirror *e, espl_status status,
                         const espl_renderables_report *report)
{
    tape_demand(tape, status == (e->bad != 0 ? ESPL_PARTLY : ESPL_OK), "update: %s",
                espl_status_name(status));
    tape_demand(tape, report->renderables == e->count && report->bad == e->bad,
                "%zu renderables, %zu are bad, not %u, %u", report->renderables, report->bad,
                e->count, e->bad);
    tape_demand(tape, espl_entity_equal(report->first_bad, e->first_bad),
                "entity %u is the first bad one, not %u", report->first_bad.index,
                e->first_bad.index);
}

// --- Cameras ---

// Draw planes, of which some go through renderables.
// The cell of a renderable, or one beside it.
static void draw_cell(int32_t out[3], const model_cell *from, uint64_t *random)
{
    for (int k = 0; k < 3; ++k) {
        const int64_t near = (int64_t)from->at[k] +
                             (test_one_in(random, 3) ? (int64_t)test_below(random, 3) - 1 : 0);

        out[k] = near >= INT32_MIN && near <= INT32_MAX ? (int32_t)near : from->at[k];
    }
}

static void draw_camera(espl_camera *camera, const expected_mirror *e, uint64_t *random)
{
    *camera =
        (espl_camera){.plane_count = test_below(random, ESPL_PLANE_LIMIT + 1),
                      .layers = test_one_in(random, 3) ? UINT32_MAX : 1U << test_below(random, 32)};
    if (e->cell_size != 0 && e->count != 0) {
        draw_cell(camera->cell, &e->looks[test_below(random, e->count)].cell, random);
    }
    for (uint32_t i = 0; i < camera->plane_count; ++i) {
        float *const plane = camera->planes[i];

        test_direction(plane, random);
        plane[3] = test_between(random, -4, 24);
        if (e->count != 0 && test_one_in(random, 2)) {
            const expected_look *const look = &e->looks[test_below(random, e->count)];
            const float at =
                plane[0] * look->box[0] + plane[1] * look->box[1] + plane[2] * look->box[2];

            plane[3] = isfinite(at) ? -at : plane[3];
        }
    }
}

// The way from the middle of the camera's cell to that of a renderable's.
typedef struct cell_way {
    double d[3];
} cell_way;

static cell_way way_to(const espl_camera *camera, const expected_look *look, float cell_size)
{
    cell_way way;

    for (int k = 0; k < 3; ++k) {
        way.d[k] = (double)((int64_t)look->cell.at[k] - camera->cell[k]) * (double)cell_size;
    }
    return way;
}

// The formula of espl_cull().
static bool is_inside(const espl_camera *camera, const expected_look *look, const cell_way *way)
{
    const float *const box = look->box;

    for (uint32_t i = 0; i < camera->plane_count; ++i) {
        const float *const p = camera->planes[i];
        const float offset =
            (float)((double)p[3] + (((double)p[0] * way->d[0] + (double)p[1] * way->d[1]) +
                                    (double)p[2] * way->d[2]));
        const float sum = ((p[0] * box[0] + p[1] * box[1]) + p[2] * box[2]) + offset +
                          ((fabsf(p[0]) * box[3] + fabsf(p[1]) * box[4]) + fabsf(p[2]) * box[5]);

        if (!(sum >= 0)) {
            return false;
        }
    }
    return true;
}

// Tell whether the union of boxes is outside of a plane by more than rounding, or inside of all by as much.
static void judge_union(const espl_camera *camera, const expected_look *look, const cell_way *way,
                        bool *must, bool *may)
{
    *must = *may = true;
    for (uint32_t i = 0; i < camera->plane_count; ++i) {
        const float *const p = camera->planes[i];
        double sum = (double)p[3], slack = fabs(sum);

        for (int k = 0; k < 3; ++k) {
            const double far = (double)(p[k] > 0 ? look->high[k] : look->low[k]);

            sum += (double)p[k] * (far + way->d[k]);
            slack += fabs((double)look->high[k]) + fabs((double)look->low[k]) + fabs(way->d[k]);
        }
        *must = *must && sum > slack * 1e-5 && look->low[0] <= look->high[0];
        *may = *may && !(sum < -slack * 1e-5 - 1e-30);
    }
}

// Tell whether a camera must see a renderable, and whether it may.
static void judge(const espl_camera *camera, const expected_look *look, float cell_size, bool *must,
                  bool *may)
{
    const cell_way way = way_to(camera, look, cell_size);
    const bool matches =
        look->is_sound && (camera->layers & look->layers) != 0 && look->value.key != ESPL_NO_KEY;

    if ((look->value.flags & ESPL_RENDERABLE_ALWAYS) != 0) {
        *must = *may = true;
    } else if ((look->value.flags & ESPL_RENDERABLE_UNION) != 0) {
        judge_union(camera, look, &way, must, may);
    } else {
        *must = *may = is_inside(camera, look, &way);
    }
    *must = *must && matches;
    *may = *may && matches;
}

static void check_camera(const test_side *side, const test_tape *tape, expected_mirror *e,
                         size_t number, const espl_camera *camera)
{
    espl_entity *const seen = test_array(e->count + 1, sizeof *seen);
    const espl_instance_arrays arrays = {.entities = seen};
    size_t groups, total = 0;
    const espl_group *const group = espl_visible_groups(side->visible, number, &groups);

    for (size_t i = 0; i < groups; ++i) {
        tape_demand(tape,
                    group[i].first == total && group[i].count != 0 &&
                        (i == 0 || group[i].key > group[i - 1].key),
                    "group %zu does not follow the one before", i);
        total += group[i].count;
    }
    tape_demand(tape, total <= e->count, "%zu of %u renderables are visible", total, e->count);
    ck_ok(espl_visible_write(side->visible, number, &arrays));
    for (size_t i = 0, at = 0; i < groups; ++i) {
        for (uint32_t k = 0; k < group[i].count; ++k, ++at) {
            const expected_look *const look = meet(e, side, tape, seen[at]);
            bool must, may;

            judge(camera, look, e->cell_size, &must, &may);
            tape_demand(tape, may, "camera %zu sees node %u", number, look->node);
            tape_demand(tape, look->value.key == group[i].key, "node %u is in the group of key %u",
                        look->node, group[i].key);
        }
    }
    for (uint32_t i = 0; i < e->count; ++i) {
        bool must, may;

        judge(camera, &e->looks[i], e->cell_size, &must, &may);
        tape_demand(tape, e->looks[i].is_met || !must, "camera %zu does not see node %u", number,
                    e->looks[i].node);
    }
    meet_none(e);
    free(seen);
}

static void check_cameras(const test_side *side, const test_tape *tape, expected_mirror *e,
                          uint64_t random)
{
    const size_t count = 1 + test_below(&random, CAMERAS);
    const espl_cull_def def = {.flags = test_one_in(&random, 2) ? ESPL_CULL_BY_ENTITY : 0};
    espl_camera cameras[CAMERAS];

    for (size_t i = 0; i < count; ++i) {
        draw_camera(&cameras[i], e, &random);
    }
    ck_ok(espl_cull(side->visible, side->mirror, cameras, count, &def));
    for (size_t i = 0; i < count; ++i) {
        check_camera(side, tape, e, i, &cameras[i]);
    }
}

// --- A side ---

static espl_status begin_renderables(test_side *side, uint64_t seed)
{
    const espl_renderables_def def = {.readers = (uint32_t)(seed % 2),
                                      .cell_size = seed % 3 == 0 ? 0 : (float)(seed % 7) * 0.3f,
                                      .refile_budget = (uint32_t)(seed / 2 % 4)};
    const espl_status status = espl_renderables_create(side->world, &def, &side->renderables);

    side->reads_apart = def.readers == 1;
    side->mirror_number = 0;
    if (status == ESPL_OK && side->visible == NULL) {
        ck_ok(espl_visible_create(NULL, &side->visible));
    }
    return status;
}

void side_end_renderables(test_side *side)
{
    espl_renderables_destroy(side->renderables);
    espl_visible_destroy(side->visible);
    side->renderables = NULL;
    side->visible = NULL;
    side->mirror = NULL;
}

static void check_held(const test_side *side, const test_tape *tape)
{
    if (side->mirror != NULL && side->reads_apart) {
        tape_demand(tape, hash_mirror(side->mirror) == side->mirror_hash,
                    "a mirror that is held changed");
    }
}

espl_status side_update(test_side *side, const test_tape *tape, const operation *op)
{
    espl_renderables_report report;
    expected_mirror e;

    if (side->renderables == NULL) {
        const espl_status status = begin_renderables(side, tape->seed ^ op->load);

        if (status != ESPL_OK) {
            return status;
        }
    }
    const espl_status status = espl_renderables_update(side->renderables, NULL, &report);

    check_held(side, tape);
    if (status < 0) {
        return status;
    }
    side->mirror_number += 1;
    tape_demand(tape, report.number == side->mirror_number, "mirror %u, not %u",
                (unsigned)report.number, (unsigned)side->mirror_number);
    side_index_nodes(side, &tape->model);
    expect_all(&e, side, &tape->model);
    check_report(tape, &e, status, &report);
    if (!op->is_held || side->mirror == NULL || !side->reads_apart) {
        side->mirror = espl_renderables_acquire(side->renderables);
        side->mirror_hash = hash_mirror(side->mirror);
        check_mirror(side, tape, &e);
        check_cameras(side, tape, &e, op->load);
    }
    forget_expected(&e);
    if (op->ends_watch) {
        side_end_renderables(side);
    }
    return status;
}
