// SPDX-License-Identifier: MIT
// Part of the program of tests/cxx.sh: renderables, mirrors and what cameras see.
#include "cxx.hpp"

#include <espalier/espalier.hpp>

#include <cstring>
#include <limits>
#include <vector>

namespace {

constexpr espl_bounds unit_box = {{0, 0, 0}, {0.5F, 0.5F, 0.5F}};

// A world with a row of boxes along x, at 0, 10, ..., of which every second one has key 2, the others key 1.
struct row {
    espalier::world world = espalier::world::make().value();
    espalier::renderables drawn;
    std::vector<espalier::entity> boxes;

    explicit row(std::uint32_t count, const espl_renderables_def *def = nullptr)
        : drawn(world.create_renderables(def).value())
    {
        for (std::uint32_t i = 0; i < count; ++i) {
            boxes.push_back(world
                                .create(espalier::at(10.0F * static_cast<float>(i), 0, 0),
                                        drawn.bounds().with(unit_box),
                                        drawn.renderable().with({1 + i % 2, 100 + i, 0}))
                                .value());
        }
    }
};

// What lies on x between two numbers, by two planes.
espl_camera between(float least, float most)
{
    espl_camera camera{};

    camera.planes[0][0] = 1, camera.planes[0][3] = -least;
    camera.planes[1][0] = -1, camera.planes[1][3] = most;
    camera.plane_count = 2;
    camera.layers = UINT32_MAX;
    return camera;
}

void updates()
{
    row r(5);
    const auto none = r.drawn.acquire();

    demand(!none && none.get() == nullptr && none.describe().number == 0 && none.changed().empty(),
           "there is no mirror before the first update");
    demand(r.world.create_renderables().status() == ESPL_ERR_EXISTS,
           "a world has its renderables once");
    demand(r.world.find_component<espl_bounds>("bounds").value() == r.drawn.bounds() &&
               r.world.find_component<espl_layers>("layers").value() == r.drawn.layers() &&
               r.world.get(r.boxes[3], r.drawn.renderable()).value().user_data == 103,
           "the components of renderables are those of the world");
    demand(r.drawn.reserve(100).ok(), "memory for renderables is reserved");
    const auto first = r.drawn.update().value();
    const auto mirror = r.drawn.acquire();
    demand(first.renderables == 5 && first.added == 5 && first.number == 1 && mirror &&
               mirror.describe().number == 1 && mirror.describe().renderables == 5,
           "an update publishes a mirror");
    r.world.set_local(r.boxes[0], espalier::at(0, 3, 0)).value();
    const auto second = r.drawn.update().value();
    demand(second.moved == 1 && second.added == 0 && r.drawn.acquire().describe().number == 2,
           "the next update has what moved");
    r.world.set(r.boxes[1], r.drawn.bounds(), espl_bounds{{0, 0, 0}, {-1, 1, 1}}).value();
    const auto partly = r.drawn.update();
    demand(partly.ok() && partly.status() == ESPL_PARTLY && partly->bad == 1 &&
               partly->first_bad == r.boxes[1],
           "an entity with a bad box is left out and named");
}

void mirrors()
{
    espl_renderables_def def{};
    const char text[8] = "frame 7";

    def.user_size = sizeof text;
    row r(5, &def);
    (void)r.drawn.update(text).value();
    auto mirror = r.drawn.acquire();
    demand(std::memcmp(mirror.describe().user, text, sizeof text) == 0,
           "a mirror has the bytes of the program");
    std::vector<float> floats(ESPL_CLUSTER_SIZE * 12);
    std::vector<espalier::entity> entities(ESPL_CLUSTER_SIZE);
    std::size_t count = 0;
    bool is_right = true;
    for (const std::uint32_t cluster : mirror.changed()) {
        const std::size_t found =
            mirror.write(cluster, espalier::instances().matrices(floats).entities(entities))
                .value();

        for (std::size_t i = 0; i < found; ++i) {
            is_right &= r.world.position(entities[i]).value()[0] == floats[12 * i + 3];
        }
        count += found;
    }
    demand(count == 5 && is_right, "the clusters of a mirror are written");
    demand(mirror.write(0, espalier::instances().entities(
                               espalier::span<espalier::entity>(entities.data(), 127)))
                       .status() == ESPL_ERR_ARGUMENT &&
               mirror.write(1U << 30, espalier::instances()).status() == ESPL_ERR_ARGUMENT,
           "arrays without room for a cluster are refused, and clusters that are not there");
    const std::uint64_t seen = mirror.describe().number;
    (void)r.drawn.update(text).value();
    demand(r.drawn.acquire().changed(seen).empty(), "at rest no cluster differs");
    r.world.set_local(r.boxes[4], espalier::at(41, 0, 0)).value();
    (void)r.drawn.update(text).value();
    demand(!r.drawn.acquire().changed(seen).empty(), "a cluster with a pose that moved differs");
}

void views()
{
    row r(9);
    (void)r.drawn.update().value();
    auto seen = espalier::visible::make().value();
    const auto mirror = r.drawn.acquire();
    const espl_camera cameras[] = {between(15, 55), between(-1000, 1000), espl_camera{}};

    demand(seen.groups().empty() && seen.count() == 0, "before the first cull nothing is seen");
    seen.cull(mirror, cameras).value();
    const auto groups = seen.groups(0);
    demand(groups.size() == 2 && groups[0].key == 1 && groups[0].first == 0 &&
               groups[0].count == 2 && groups[1].key == 2 && groups[1].first == 2 &&
               groups[1].count == 2,
           "what a camera sees is grouped by key");
    demand(seen.count(0) == 4 && seen.count(1) == 9 && seen.count(2) == 0 && seen.count(3) == 0,
           "each camera sees what is its own, and one without layers nothing");
    std::vector<float> matrices(12 * 4), columns(16 * 4), before(8 * 4);
    std::vector<espalier::entity> entities(4);
    std::vector<std::uint32_t> words(4);
    std::vector<float> sizes(4, 9.0F);
    seen.write(0,
               espalier::instances().matrices(matrices).entities(entities).user_data(words).sizes(
                   sizes))
        .value();
    seen.write(0, espalier::instances().matrices(columns, ESPL_INSTANCE_4X4)).value();
    bool is_right = true;
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t at = words[i] - 100;

        is_right &= entities[i] == r.boxes[at] &&
                    matrices[12 * i + 3] == 10.0F * static_cast<float>(at) &&
                    columns[16 * i + 12] == matrices[12 * i + 3] && sizes[i] == 0 &&
                    (i < 2 ? at % 2 == 0 : at % 2 == 1);
    }
    demand(is_right, "what a camera sees is written in the order of its groups");
    seen.write(0, espalier::instances().matrices(before, ESPL_INSTANCE_POSE).previous(before))
        .value();
    demand(before[3] == 1 && before[7] == 1, "poses are written, and those of the mirror before");
    if (const auto made = espalier::executor::make(2)) {
        std::vector<float> shared(12 * 4);

        seen.write(0, espalier::instances().matrices(shared).workers(*made)).value();
        demand(shared == matrices, "workers write the same");
    }
    demand(espalier::instances().room() == SIZE_MAX &&
               espalier::instances().matrices(columns, ESPL_INSTANCE_4X4).room() == 4 &&
               espalier::instances().matrices(columns, ESPL_INSTANCE_3X4, 64).room() == 4 &&
               espalier::instances().matrices(columns, ESPL_INSTANCE_3X4, 68).room() == 4 &&
               espalier::instances().matrices(columns, ESPL_INSTANCE_3X4, 72).room() == 3 &&
               espalier::instances().previous(before).matrices(before, ESPL_INSTANCE_POSE).room() ==
                   4 &&
               espalier::instances().previous(before).room() == 2 &&
               espalier::instances().matrices({}).room() == 0,
           "arrays know for how many instances they have room");
    const auto too_short = espalier::span<float>(matrices.data(), 47);
    demand(seen.write(0, espalier::instances().matrices(too_short)).status() == ESPL_ERR_ARGUMENT &&
               seen.write(0, espalier::instances().matrices({})).status() == ESPL_ERR_ARGUMENT &&
               seen.write(1, espalier::instances().entities(entities)).status() ==
                   ESPL_ERR_ARGUMENT &&
               seen.write(3, espalier::instances()).status() == ESPL_ERR_ARGUMENT &&
               seen.write(0, espalier::instances().matrices(matrices, ESPL_INSTANCE_3X4, 40))
                       .status() == ESPL_ERR_ARGUMENT,
           "arrays that are too short are refused, and cameras and strides that are none");
    espl_visible *const get = seen.get();
    auto moved = std::move(seen);
    demand(seen.get() == nullptr && moved.get() == get && moved.count(1) == 9,
           "a moved result has one owner");
}

void cameras()
{
    row r(9);
    (void)r.drawn.update().value();
    auto seen = espalier::visible::make().value();
    // 40 units of x, 2 of y and z around the origin, columns.
    std::array<float, 16> matrix{};
    matrix[0] = 1.0F / 20, matrix[5] = 1, matrix[10] = 1, matrix[15] = 1;
    const auto camera = espalier::camera_of(matrix, ESPL_CLIP_MINUS_ONE_TO_ONE).value();
    demand(camera.plane_count == 6 && camera.layers == UINT32_MAX &&
               seen.cull(r.drawn.acquire(), camera).ok() && seen.count() == 3,
           "a camera is made of a matrix");
    matrix[3] = std::numeric_limits<float>::quiet_NaN();
    demand(espalier::camera_of(matrix).status() == ESPL_ERR_NOT_FINITE,
           "a matrix that is not finite is refused");
    espl_cull_def def{};
    def.alpha = 2;
    def.flags = ESPL_CULL_INTERPOLATE;
    demand(seen.cull(r.drawn.acquire(), camera, &def).status() == ESPL_ERR_ARGUMENT &&
               seen.count() == 3,
           "a refused cull leaves the result before");
    r.world.add(r.boxes[0], r.drawn.layers(), {0, 0}).value();
    (void)r.drawn.update().value();
    seen.cull(r.drawn.acquire(), camera).value();
    demand(seen.count() == 2, "an entity without layers is not seen");

    espl_lods lods{};
    lods.count = 2;
    lods.keys[0] = 7, lods.sizes[0] = 100;
    lods.keys[1] = 8, lods.sizes[1] = 10;
    const std::uint32_t key = r.drawn.add_lods(lods).value();
    r.world.set(r.boxes[1], r.drawn.renderable(), espl_renderable{key, 0, 0}).value();
    (void)r.drawn.update().value();
    espl_camera near = between(9, 11);
    near.eye[0] = 10, near.eye[2] = 2;
    near.pixels = 1000;
    espl_camera far = near;
    far.eye[2] = 50;
    const espl_camera both[] = {near, far};
    seen.cull(r.drawn.acquire(), both).value();
    demand(seen.count(0) == 1 && seen.groups(0)[0].key == 7 && seen.count(1) == 1 &&
               seen.groups(1)[0].key == 8,
           "a key of levels stands for one by the size on the image");
    lods.count = 0;
    demand(r.drawn.add_lods(lods).status() == ESPL_ERR_ARGUMENT,
           "levels that are none are refused");
}

void far_cameras()
{
    espl_world_def def{};

    def.cell_size = 2048;
    auto world = espalier::world::make(&def).value();
    auto drawn = world.create_renderables().value();
    const auto box = world
                         .create(espalier::at(5, 0, 0), drawn.bounds().with(unit_box),
                                 drawn.renderable().with({1, 0, 0}))
                         .value();
    auto seen = espalier::visible::make().value();
    espl_camera camera = between(0, 10);
    float pose[8];
    espalier::cell_vector cell{};

    world.set_cell(box, {500000, 0, -3}).value();
    (void)drawn.update().value();
    camera.cell[0] = 500000, camera.cell[2] = -3;
    const espl_camera both[] = {camera, between(0, 10)};
    seen.cull(drawn.acquire(), both).value();
    seen.write(0, espalier::instances().matrices(pose, ESPL_INSTANCE_POSE).cells({&cell, 1})).value();
    demand(seen.count(0) == 1 && seen.count(1) == 0 && pose[4] == 5 &&
               cell == espalier::cell_vector{500000, 0, -3},
           "a camera in a cell sees what is near it, and cells are written");
}

} // namespace

void renderables()
{
    updates();
    mirrors();
    views();
    cameras();
    far_cameras();
}
