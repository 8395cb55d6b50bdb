// SPDX-License-Identifier: MIT
// Part of the program of tests/cxx.sh: large worlds, and one entity in several worlds.
#include "cxx.hpp"

#include <espalier/espalier.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace
{

using espalier::absolute_vector;
using espalier::at;
using espalier::cell_vector;

constexpr double size = 2048;

espalier::world celled()
{
    espl_world_def def{};

    def.cell_size = static_cast<float>(size);
    return espalier::world::make(&def).value();
}

// A ship with a mast in cell 1000, -2, 0, and a buoy 100 m from it, on the other side of an edge.
struct sea {
    espalier::world world = celled();
    espalier::entity ship = world.create(at(1000, 0, 0)).value();
    espalier::entity mast = world.create(ship, at(0, 5, 0)).value();
    espalier::entity buoy = world.create(at(-948, 0, 0)).value();

    sea()
    {
        world.set_cell(ship, {1000, -2, 0}).value();
        world.set_cell(buoy, {1001, -2, 0}).value();
    }
};

void cells()
{
    sea s;

    demand(s.world.cell_size() == 2048 && espalier::world::make().value().cell_size() == 0,
           "a world has cells where it was made so");
    demand(s.world.cell(s.mast).value() == cell_vector{1000, -2, 0} &&
               s.world.position(s.mast).value() == espalier::vector{1000, 5, 0},
           "a member is in the cell of its root, and a write of a cell leaves positions");
    demand(s.world.absolute_position(s.mast).value() ==
               absolute_vector{1000 * size + 1000, -2 * size + 5, 0},
           "an absolute position is read");
    demand(s.world.relative(s.ship, s.buoy).value().position[0] == 100,
           "a distance across cells is exact");
    s.world.set_absolute_position(s.ship, {1e9 + 0.25, 0, 0}).value();
    demand(s.world.absolute_position(s.ship).value()[0] == 1e9 + 0.25 &&
               s.world.cell(s.mast).value()[0] == std::lround(1e9 / size) &&
               std::fabs(s.world.position(s.ship).value()[0]) <= 1024,
           "an absolute position is written into the nearest cell");
    demand(s.world.set_cell(s.mast, {}).status() == ESPL_ERR_UNSUPPORTED &&
               s.world.set_absolute_position(s.ship, {1e30, 0, 0}).status() == ESPL_ERR_RANGE,
           "a cell of a member, and one that is too far away, are refused");
}

void moves()
{
    sea s;
    auto seen = s.world.create_watch(ESPL_WATCH_WORLD | ESPL_WATCH_CELL).value();
    const auto first = seen.collect().value();
    demand(first.added_cells().size() == 3 && first.added_cells()[1].cell[0] == 1000 &&
               first.added_cells()[1].is_top == 0 && first.changed_cells().empty(),
           "a watch of cells has them");

    s.world.rebase({-1000, 2, 0}).value();
    const auto moved = seen.collect().value();
    bool is_told = moved.changed().size() == 3;
    for (const std::uint8_t kinds : moved.kinds()) {
        is_told &= kinds == ESPL_WATCH_CELL;
    }
    demand(is_told && s.world.cell(s.mast).value() == cell_vector{} &&
               s.world.position(s.mast).value()[0] == 1000,
           "a rebase by cells changes the cells alone, and a watch of cells finds it");
    demand(s.world.rebase({INT32_MAX, 0, 0}).status() == ESPL_ERR_RANGE &&
               s.world.cell(s.buoy).value() == cell_vector{1, 0, 0},
           "a rebase beyond the last cell is refused");
    s.world.set_position(s.ship, {5000, 0, 0}).value();
    demand(s.world.recenter().value() == 1 && s.world.recenter().value() == 0 &&
               s.world.cell(s.ship).value() == cell_vector{2, 0, 0} &&
               s.world.absolute_position(s.mast).value() == absolute_vector{5000, 5, 0},
           "what is far from its cell is brought to the nearest one, once");
    demand(s.world.recenter(0.25F).status() == ESPL_ERR_ARGUMENT, "a limit below 0.5 is refused");

    auto flat = espalier::world::make().value();
    const auto boat = flat.create(at(1, 2, 3)).value();
    demand(flat.rebase({}, {10, 0, 0}).ok() && flat.position(boat).value()[0] == 11 &&
               flat.absolute_position(boat).value() == absolute_vector{11, 2, 3} &&
               flat.cell(boat).status() == ESPL_ERR_UNSUPPORTED &&
               flat.rebase({1, 0, 0}).status() == ESPL_ERR_UNSUPPORTED &&
               flat.recenter().status() == ESPL_ERR_UNSUPPORTED &&
               flat.create_watch(ESPL_WATCH_CELL).status() == ESPL_ERR_ARGUMENT,
           "a world without cells is rebased by an offset");
}

void origins()
{
    sea s;
    const espalier::entity all[] = {s.ship, s.mast, s.buoy};
    espalier::transform out[3];

    s.world.set_local(s.ship, at(1000, 0, 7)).value();
    const auto camera = s.world.origin(s.ship).value();
    demand(camera.cell[0] == 1000 && camera.cell[1] == -2 && camera.offset[0] == 1000 &&
               camera.offset[2] == 7,
           "an entity is an origin");
    demand(s.world.globals_from(camera, all, out).ok() && out[0].position[0] == 0 &&
               out[1].position[1] == 5 && out[2].position[0] == 100 && out[2].position[2] == -7,
           "many are read relative to an origin");
    const auto matrix = s.world.matrix_from(camera, s.buoy).value();
    demand(matrix[0] == 1 && matrix[12] == 100 && matrix[14] == -7 && matrix[15] == 1,
           "a matrix is read relative to an origin");
    s.world.start_motion().value();
    {
        const auto tick = s.world.begin_tick().value();
        s.world.set_local(s.buoy, at(-940, 0, 0)).value();
    }
    s.world.present(0.5F).value();
    demand(s.world.all_shown_from(camera, all, out).ok() && out[2].position[0] == 104,
           "what is shown is read relative to an origin");
    espl_origin nowhere = camera;
    nowhere.offset[1] = std::numeric_limits<float>::infinity();
    demand(s.world.globals_from(nowhere, all, out).status() == ESPL_ERR_NOT_FINITE &&
               s.world.globals_from(camera, all, espalier::span<espalier::transform>(out, 2))
                       .status() == ESPL_ERR_ARGUMENT &&
               s.world.origin(espl_entity_null()).status() == ESPL_ERR_NULL_ENTITY,
           "an origin that is not finite and outputs that are too short are refused");
}

void counterparts()
{
    auto game = espalier::world::make().value();
    auto editor = espalier::world::make().value();
    const auto ship = game.create(at(1, 0, 0)).value();
    const auto mast = game.create(ship, at(0, 5, 0)).value();
    auto moved = game.create_watch(ESPL_WATCH_LOCAL).value();
    const auto shown = editor.place(game, ship).value();

    demand(editor.counterpart(ship) == shown && editor.original(shown) == ship &&
               editor.parent(editor.counterpart(mast)) == shown &&
               editor.place(game, ship).status() == ESPL_ERR_EXISTS,
           "a counterpart is found by its original, and is placed once, with what is below");
    game.set_local(ship, at(2, 0, 0)).value();
    const auto first = editor.follow(moved.collect().value()).value();
    demand(first.written == 2 && first.unknown == 0 && editor.position(shown).value()[0] == 2,
           "a counterpart follows its original");
    const auto buoy = game.create(at(9, 0, 0)).value();
    demand(editor.follow(moved.collect().value()).value().unknown == 1 &&
               editor.set_counterpart(shown, buoy).ok() &&
               editor.counterpart(ship) == espalier::entity{},
           "an entity gets another original");
    editor.set_counterpart(shown, espalier::entity{}).value();
    demand(editor.counterpart(buoy) == espalier::entity{} &&
               editor.original(shown) == espalier::entity{},
           "a link ends");
    game.destroy(mast).value();
    const auto kept = editor.counterpart(mast);
    const auto last = moved.collect().value();
    espl_follow_def def{};
    def.flags = ESPL_FOLLOW_KEEPS;
    demand(editor.follow(last, def).value().destroyed == 0 && editor.is_alive(kept) &&
               editor.follow(last).value().destroyed == 1 && !editor.is_alive(kept),
           "a counterpart is destroyed with its original, or kept");
    espl_follow_def worlds{};
    worlds.kind = ESPL_FOLLOW_WORLD;
    auto poses = game.create_watch().value();
    espl_placing_def aside{};
    aside.place = ESPL_PLACE_WORLD;
    aside.transform = at(0, 0, 4);
    const auto placed = editor.place(game, buoy, aside).value();
    demand(editor.position(placed).value()[2] == 4 &&
               editor.follow(poses.collect().value(), worlds).value().written == 1 &&
               editor.position(placed).value() == espalier::vector{9, 0, 0},
           "world transforms are followed");
    game.set_local(buoy, at(8, 0, 0)).value();
    demand(editor.follow(poses.collect().value()).status() == ESPL_ERR_ARGUMENT,
           "local transforms are not followed where the watch has none");
}

} // namespace

void far_and_counterparts()
{
    cells();
    moves();
    origins();
    counterparts();
}
