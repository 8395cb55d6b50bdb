// SPDX-License-Identifier: MIT
// The program of program.c in C++17: the same world, by owning handles and results that throw.
#include <espalier/espalier.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr std::uint32_t trees = 32, all = trees * 12;
constexpr int frames = 20;

std::uint32_t draw(std::uint32_t limit)
{
    static std::uint32_t seed = 1;

    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % limit;
}

espalier::transform draw_transform()
{
    espalier::transform t = espl_transform_identity();
    float axis[3] = {1, 0, 0};

    for (int i = 1; i < 3; ++i) {
        axis[i] = static_cast<float>(draw(8));
    }
    for (float &coordinate : t.position) {
        coordinate = static_cast<float>(draw(2000)) / 64 - 15;
    }
    espl_quat_from_axis_angle(axis, static_cast<float>(draw(628)) / 100, t.rotation);
    t.scale = 0.5f + static_cast<float>(draw(64)) / 64;
    return t;
}

std::vector<espalier::entity> spawn(espalier::world &world)
{
    std::vector<espalier::entity> nodes;

    while (nodes.size() < trees) {
        nodes.push_back(world.create().value());
    }
    auto commands = world.create_command_buffer().value();
    for (std::uint32_t i = trees; i < all; ++i) {
        const auto local = draw_transform();
        const auto parent = nodes[draw(i / trees) * trees + i % trees];

        nodes.push_back(commands.recorder().create(i, parent, local).value());
    }
    (void)world.play(commands).value();
    for (std::uint32_t i = trees; i < all; ++i) {
        nodes[i] = commands.resolve(nodes[i]).value();
    }
    return nodes;
}

void move(espalier::world &world, const std::vector<espalier::entity> &nodes)
{
    for (std::uint32_t i = 0; i < trees; ++i) {
        const auto local = draw_transform();

        world.set_local(nodes[draw(all)], local).value();
    }
    for (int i = 0; i < 4; ++i) {
        const auto child = nodes[draw(all)], parent = nodes[draw(all)];
        const auto attached = world.attach(child, parent);

        if (attached.status() != ESPL_ERR_CYCLE) {
            attached.value();
        }
    }
}

} // namespace

int main()
try {
    auto world = espalier::world::make().value();
    const auto nodes = spawn(world);

    for (int frame = 0; frame < frames; ++frame) {
        move(world, nodes);
    }
    std::printf("%s %016llx\n", espl_world_kernels(world.get()),
                static_cast<unsigned long long>(world.hash().value()));
    return 0;
} catch (const espalier::error &refused) {
    std::fprintf(stderr, "%s\n", refused.what());
    return 1;
}
