// SPDX-License-Identifier: MIT
// What espalier/espalier.hpp adds to the C functions: results, ownership, typed components, queries,
// children, names, command buffers, ticks and watches. tests/cxx.sh compiles and runs it with
// tests/cxx_far.cpp, tests/cxx_renderables.cpp and tests/cxx_values.cpp; it prints TAP.
#include "cxx.hpp"

#include <espalier/espalier.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace {

struct speed {
    float x, y;
};
struct marked {}; // a tag
struct target {
    espalier::entity who;
};

int number = 0, failures = 0;

// The world of all tests: a ship with two masts, one of them with components.
struct scene {
    espalier::world world = espalier::world::make().value();
    espalier::component<speed> speeds = world.register_component<speed>("speed").value();
    espalier::component<marked> marks = world.register_component<marked>("marked").value();
    espalier::entity ship = world.create().value();
    espalier::entity mast = world.create(ship, espalier::at(0, 5, 0), speeds.with({1, 2})).value();
    espalier::entity other = world.create(ship, espalier::at(0, 9, 0)).value();
};

void results(scene &s)
{
    const auto refused = s.world.position(espl_entity_null());
    bool has_thrown = false;

    demand(!refused && !refused.ok() && refused.status() == ESPL_ERR_NULL_ENTITY,
           "a refusal is false and has a status");
    demand(std::strcmp(refused.name(), "ESPL_ERR_NULL_ENTITY") == 0 && *refused.text() != '\0',
           "a refusal has a name and a text");
    demand(s.world.position(espl_entity_null()).value_or({7, 8, 9})[1] == 8,
           "value_or() gives the other value");
    try {
        s.world.destroy(espl_entity_null()).value();
    } catch (const espalier::error &e) {
        has_thrown = e.status() == ESPL_ERR_NULL_ENTITY && std::strcmp(e.what(), refused.text()) == 0;
    }
    demand(has_thrown, "value() of a refusal throws its status and text");
    demand(refused.error() == ESPL_ERR_NULL_ENTITY && !refused.has_value() &&
               refused.value_or({7, 8, 9})[2] == 9,
           "a refusal is read by the names of std::expected");
    const auto parent_of = [&](espalier::entity e) { return s.world.position(s.world.parent(e)); };
    demand(s.world.find(s.ship, "nobody").and_then(parent_of).status() == ESPL_ERR_NULL_ENTITY &&
               s.world.create(s.mast, espalier::at(0, 0, 0)).and_then(parent_of).value()[1] == 5,
           "and_then() goes on with the value");
    const auto living = s.world.children(s.mast);
    (void)s.world.destroy_many(std::vector<espalier::entity>{*living.begin()}).value();
    demand(s.world.create(espl_entity_null(), espalier::at(0, 0, 0))
                   .and_then([&](espalier::entity e) { return s.world.destroy(e); })
                   .ok() &&
               s.world.rotation(espl_entity_null())
                       .and_then([&](auto) { return espalier::result<>(ESPL_OK); })
                       .status() == ESPL_ERR_NULL_ENTITY,
           "a chain ends with the status of what was refused");
}

void ownership()
{
    auto first = espalier::world::make().value();
    espl_world *const get = first.get();
    auto second = std::move(first);

    demand(first.get() == nullptr && second.get() == get, "a moved world has one owner");
    second = espalier::world::make().value();
    demand(second.get() != nullptr, "an assigned world destroys the one before");
}

// More workers than there may be are refused for their number, in a library that has threads.
bool has_threads()
{
    espl_threads_def too_many{};
    espl_executor none{};

    too_many.workers = ESPL_WORKER_LIMIT + 1;
    return espl_executor_create(&too_many, &none) != ESPL_ERR_UNSUPPORTED;
}

// Each hierarchy is written by one job; without pthreadpool there is one thread.
void threads()
{
    auto made = espalier::executor::make(2);
    demand(made.ok() == has_threads() && (made.ok() || made.status() == ESPL_ERR_UNSUPPORTED),
           "threads are started where the library has them");
    espalier::executor serial, moved = made ? std::move(*made) : espalier::executor();
    demand(serial.get().parallel_for == nullptr &&
               (moved.get().parallel_for != nullptr) == has_threads(),
           "an executor is moved");
    auto world = espalier::world::make(moved).value();
    const auto speeds = world.register_component<speed>("speed").value();
    std::vector<espalier::entity> roots;
    for (int i = 0; i < 500; ++i) {
        const float x = static_cast<float>(i);
        roots.push_back(world.create(espalier::at(x, 0, 0), speeds.with({1, x})).value());
    }
    std::atomic<std::size_t> rows = 0;
    const auto report =
        world
            .each_parallel(
                espalier::filter(),
                [&](espalier::writer w, auto entities, auto written, espalier::poses seen) {
                    for (std::size_t row = 0; row < entities.size(); ++row) {
                        written[row].y += seen[row].position[0];
                        w.set_local(entities[row], espalier::at(0, written[row].x, 0)).value();
                    }
                    rows += seen.size();
                },
                speeds.write(), espalier::reading_poses())
            .value();
    demand(report.rows == 500 && rows == 500 && report.refused == 0, "a parallel write has all rows");
    demand(world.position(roots[9]).value() == espalier::vector{0, 1, 0} &&
               world.get(roots[9], speeds)->y == 18,
           "a parallel write writes transforms and columns");
}

void hierarchy(scene &s)
{
    s.world.set_local(s.ship, espalier::at(100, 0, 0)).value();
    demand(s.world.position(s.mast).value() == espalier::vector{100, 5, 0}, "a child has followed");
    demand(s.world.global(s.mast).value().position[0] == 100 &&
               s.world.local(s.mast).value().position[0] == 0,
           "global and local are told apart");
    demand(s.world.matrix(s.mast).value()[12] == 100, "a matrix has its columns");
    std::vector<espalier::entity> seen;
    for (const auto child : s.world.children(s.ship)) {
        seen.push_back(child);
    }
    demand(seen == std::vector<espalier::entity>{s.mast, s.other}, "children are in their order");
    demand(s.world.parent(s.mast) == s.ship && s.world.root(s.mast) == s.ship,
           "a parent and a root are found");
    espalier::transform out[2];
    demand(s.world.globals(seen, out).ok() && out[1].position[1] == 9, "many are read at once");
    demand(s.world.globals(seen, espalier::span<espalier::transform>(out, 1)).status() ==
               ESPL_ERR_ARGUMENT,
           "outputs that are too short are refused");
    const float up[3] = {0, 1, 0};
    s.world.write(s.mast, ESPL_WRITE_TRANSLATE_OWN, up).value();
    demand(s.world.position(s.mast).value()[1] == 6, "any kind of write is written");
    s.world.detach(s.other).value();
    demand(s.world.parent(s.other) == espl_entity_null(), "a detached entity has no parent");
    s.world.attach(s.other, s.ship).value();
    const auto children = s.world.children(s.ship);
    demand(std::find(children.begin(), children.end(), s.other) != children.end() &&
               std::distance(children.begin(), children.end()) == 2,
           "children are a range of the standard library");
    s.world.move_before(s.other, s.mast).value();
    demand(s.world.subtree(s.ship) == std::vector<espalier::entity>{s.ship, s.other, s.mast} &&
               s.world.subtree(espl_entity_null()).empty(),
           "a subtree is listed in order");
    demand(s.world.is_ancestor(s.ship, s.mast) && !s.world.is_ancestor(s.mast, s.ship),
           "an ancestor is told");
    const espalier::entity both[2] = {s.mast, s.other}, ships[2] = {s.ship, s.ship};
    std::size_t refused = 9;
    demand(s.world.attach_many(both, ships).ok() &&
               s.world.attach_many(both, espalier::span<const espalier::entity>(ships, 1)).status() ==
                   ESPL_ERR_ARGUMENT,
           "many are attached at once");
    const std::vector<espalier::entity> dead{s.mast, espl_entity_null()};
    demand(!s.world.destroy_many(dead, ESPL_EXTENT_OWNED, &refused) && refused == 1 &&
               s.world.is_alive(s.mast),
           "many are destroyed, or none");
    const std::set<espalier::entity> ordered{s.mast, s.other, s.mast};
    demand(ordered.size() == 2, "handles have an order");
    s.world.disable(s.mast).value();
    demand(!s.world.is_enabled(s.mast) && s.world.enable(s.mast).ok() && s.world.is_enabled(s.mast),
           "an entity is disabled and enabled");
    const std::unordered_set<espalier::entity> hashed{s.mast, s.other, s.mast};
    demand(hashed.size() == 2, "handles are hashed and compared");
}

// Parts in local and in world space, and a batch.
void parts(scene &s)
{
    const espalier::quaternion turned{0, 0, 1, 0};

    s.world.set_local(s.ship, espalier::at(100, 0, 0)).value();
    s.world.set_position(s.mast, {100, 7, 0}).value();
    demand(s.world.local(s.mast)->position[1] == 7, "a world position is written");
    s.world.set_local_position(s.mast, {0, 5, 0}).value();
    demand(s.world.position(s.mast).value()[1] == 5, "a local position is written");
    s.world.set_local_rotation(s.ship, turned).value();
    demand(s.world.rotation(s.mast).value() == turned && s.world.position(s.mast).value()[1] == -5,
           "a local rotation is written");
    s.world.set_rotation(s.ship, {0, 0, 0, 1}).value();
    demand(s.world.position(s.mast).value()[1] == 5, "a world rotation is written");
    std::vector<espl_write> writes(2);
    writes[0].entity = s.mast, writes[0].kind = ESPL_WRITE_LOCAL_SCALE, writes[0].value.scale = 2;
    writes[1].entity = espl_entity_null(), writes[1].kind = ESPL_WRITE_LOCAL_SCALE;
    const auto batch = s.world.write_batch(writes);
    demand(batch.status() == ESPL_PARTLY && batch->applied == 1 && batch->first_refused == 1 &&
               s.world.global(s.mast)->scale == 2,
           "a batch says what it refused");

    espl_write_list list = {writes.data(), 0, writes.size()};
    const float scale = 3;
    const bool is_pushed = espl_write_list_push(&list, s.mast, ESPL_WRITE_LOCAL_SCALE, &scale) == ESPL_OK;
    demand(is_pushed && espl_write_listed(s.world.get(), &list, nullptr) == ESPL_OK && list.count == 0 &&
               s.world.local(s.mast).value().scale == scale,
           "a list of writes is written and then empty");
}

// Which rows a query finds: s.mast and s.other have speeds, s.other has the mark.
void filters(scene &s)
{
    const espalier::world &read_only = s.world;
    using espalier::filter;
    std::vector<espalier::entity> seen;
    const auto see = [&](espalier::entity e, const speed &) { seen.push_back(e); };
    const auto found = [&](const filter &which) {
        seen.clear();
        return read_only.each(which, see, s.speeds.read()).ok() ? seen.size() : 99;
    };

    demand(found(filter()) == 2, "each() has all rows of a world that may not be changed");
    demand(found(filter().without(s.marks)) == 1 && seen[0] == s.mast, "a filter leaves out");
    demand(found(filter().with(s.marks)) == 1 && seen[0] == s.other, "a filter demands");
    demand(found(filter().any_of(s.marks, ESPL_ROOT)) == 1 && seen[0] == s.other,
           "a filter demands one of several");
    const std::uint64_t version = s.world.version();
    demand(found(filter().changed(version, s.speeds)) == 0, "nothing has changed since now");
    s.world.each(filter().with(s.marks), [](auto, speed &v) { v.x = -1; }, s.speeds.write()).value();
    demand(found(filter().changed(version, s.speeds)) == 1 && seen[0] == s.other &&
               s.world.get(s.other, s.speeds)->x == -1,
           "each() writes, and a filter finds what has changed");
    s.world.disable(s.mast).value();
    demand(found(filter()) == 1 && found(filter().include(ESPL_INCLUDE_DISABLED)) == 2,
           "a filter includes what is disabled");
    s.world.enable(s.mast).value();
    filter endless;
    for (int i = 0; i <= ESPL_TERM_LIMIT; ++i) {
        endless.without(ESPL_PREFAB);
    }
    demand(found(endless) == 99 &&
               s.world.each(endless, see, s.speeds.read()).status() == ESPL_ERR_LIMIT,
           "a filter that is too long is refused");
    float sum = 0;
    read_only
        .each_chunk(
            [&](auto entities, espalier::poses places) {
                for (std::size_t row = 0; row < entities.size(); ++row) {
                    sum += places[row].position[1];
                }
            },
            espalier::reading_poses())
        .value();
    demand(sum == 5 + 9, "a query reads world transforms");
    demand(s.world.find_component<speed>("speed").value() == s.speeds &&
               s.world.find_component<target>("nothing").status() == ESPL_ERR_NO_COMPONENT &&
               s.world.find_component<float>("speed").status() == ESPL_ERR_ARGUMENT,
           "a component is found by its name and size");
}

void components(scene &s)
{
    demand(s.world.get(s.mast, s.speeds).value().y == 2, "a created entity has its value");
    s.world.set(s.mast, s.speeds, {3, 4}).value();
    s.world.add(s.other, s.speeds, {5, 6}).value();
    s.world.add(s.other, s.marks).value();
    demand(s.world.has(s.other, s.marks) && !s.world.has(s.mast, s.marks), "an empty type is a tag");
    float sum = 0;
    s.world
        .each_chunk(
            [&](auto entities, auto written, auto read) {
                for (std::size_t i = 0; i < entities.size(); ++i) {
                    written[i].x += 10;
                    sum += read[i].y;
                }
            },
            s.speeds.write(), s.speeds.read())
        .value();
    demand(sum == 10 && s.world.get(s.other, s.speeds).value().x == 15,
           "a query reads and writes columns");
    bool has_thrown = false;
    try {
        (void)s.world.each_chunk([](auto, auto) { throw 1; }, s.speeds.read());
    } catch (int) {
        has_thrown = true;
    }
    filters(s);
    demand(has_thrown && s.world.remove(s.other, s.marks).ok(),
           "an exception that leaves a query ends the iteration");
    const std::uint32_t offset = offsetof(target, who);
    const auto targets =
        s.world.register_component<target>("target", espalier::span<const std::uint32_t>(&offset, 1));
    s.world.add(s.ship, *targets, {s.mast}).value();
    const auto clone = s.world.instantiate(s.ship).value();
    const auto inside = s.world.get(clone, *targets).value().who;
    demand(inside != s.mast && s.world.parent(inside) == clone, "references follow in a clone");
}

void names(scene &s)
{
    s.world.set_name(s.ship, "ship").value();
    s.world.set_name(s.mast, "mast").value();
    demand(std::strcmp(s.world.name(s.mast), "mast") == 0, "an entity has its name");
    demand(s.world.find(s.ship, "mast").value() == s.mast, "an entity is found by its name");
    demand(s.world.path(s.mast) == "ship/mast" && s.world.path(espl_entity_null()).empty(),
           "an entity has a path");
    const auto lamp = s.world.create_node(s.mast, espalier::at(1, 2, 3), "lamp").value();
    demand(s.world.find(espl_entity_null(), "/ship/mast/lamp").value() == lamp &&
               s.world.local(lamp).value().position[2] == 3,
           "a node is made in one call, and found from the roots");
    const auto copy = s.world.spawn(lamp, s.ship, espalier::at(4, 5, 6)).value();
    const auto own = s.world.spawn(lamp, s.ship).value();
    demand(s.world.parent(copy) == s.ship && s.world.local(copy).value().position[2] == 6 &&
               s.world.local(own).value().position[2] == 3,
           "a prefab is spawned under a parent");
    demand(s.world.dump(s.mast).find("mast") != std::string::npos && s.world.dump(s.mast).back() == '\n',
           "an entity is written as text");
}

void commands(scene &s)
{
    auto buffer = s.world.create_command_buffer().value();
    auto recorder = buffer.recorder();
    const auto made = recorder.create(0, s.ship, espalier::at(1, 0, 0), s.speeds.with({8, 9})).value();
    const auto clone = recorder.spawn(1, s.mast, s.ship, espalier::at(2, 0, 0)).value();

    recorder.attach(2, s.other, made).value();
    recorder.set_local(3, clone, espalier::at(3, 0, 0)).value();
    recorder.set(4, made, s.speeds, {1, 1}).value();
    recorder.add(5, made, s.marks, {}).value();
    recorder.remove(6, clone, s.speeds).value();
    recorder.disable(7, clone).value();
    recorder.enable(8, clone).value();
    demand(buffer.size() == 9, "commands are counted");
    demand(buffer.resolve(made).status() == ESPL_ERR_PENDING, "a pending handle is told");
    const auto report = s.world.play(buffer).value();
    demand(report.applied == 9 && report.refused == 0, "commands are played");
    const auto living = buffer.resolve(made).value();
    demand(s.world.parent(s.other) == living && s.world.has(living, s.marks) &&
               s.world.get(living, s.speeds).value().x == 1,
           "commands of an entity that is created with them are applied");
    demand(s.world.local(buffer.resolve(clone).value()).value().position[0] == 3 &&
               !s.world.has(buffer.resolve(clone).value(), s.speeds),
           "commands of a clone are applied");
    buffer.reset();
    buffer.recorder().destroy(0, living, ESPL_EXTENT_SUBTREE).value();
    buffer.submit().value();
    (void)s.world.sync().value();
    demand(!s.world.is_alive(living) && !s.world.is_alive(s.other), "a submitted buffer is played");
    demand(s.world.hash().ok() && s.world.clear().ok() && !s.world.is_alive(s.ship),
           "a cleared world has nothing");
}

// A ship is written in and between ticks; its mast follows. What is shown lies between the two ends of a tick.
void motion()
{
    auto world = espalier::world::make().value();
    const auto ship = world.create().value();
    const auto mast = world.create(ship, espalier::at(0, 5, 0)).value();
    const auto x_of = [](const auto &read) { return read.value().position[0]; };
    espl_pose pose{{0, 0, 0, 1}, {10, 0, 0}, 1};

    demand(!world.begin_tick() && world.present(0).status() == ESPL_ERR_ARGUMENT &&
               x_of(world.shown(mast)) == 0,
           "without motion there is no tick, and the world is shown");
    demand(world.start_motion(2).ok() && world.start_motion().status() == ESPL_ERR_EXISTS,
           "motion is started once");
    {
        auto tick = world.begin_tick().value();
        auto moved = std::move(tick);
        demand(tick.get() == nullptr && moved.get() == world.get(), "a moved tick has one owner");
        world.set_local(ship, espalier::at(4, 0, 0)).value();
    }
    demand(world.present(0.5F).value().blended == 1 && x_of(world.shown(mast)) == 2 &&
               x_of(world.global(mast)) == 4,
           "a write in a tick is shown between its ends");
    world.set_local(ship, espalier::at(8, 0, 0)).value();
    demand(world.present(0).ok() && x_of(world.shown(mast)) == 8,
           "a write after the end of a tick is shown as it is");
    {
        auto tick = world.begin_tick().value();
        world.write(ship, ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT, &pose).value();
        demand(tick.end().ok() && tick.end().ok() && tick.get() == nullptr,
               "the end of a tick has a status, once");
    }
    demand(world.present(0).ok() && x_of(world.shown(mast)) == 10, "a teleport is not blended");
    {
        auto tick = world.begin_tick().value();
        tick = world.begin_tick().value();
        world.set_local(ship, espalier::at(20, 0, 0)).value();
        tick.end().value();
        demand(world.present(0.5F).ok() && x_of(world.shown(mast)) == 15,
               "a tick that replaces one of its world goes on");
        auto other = espalier::world::make().value();
        const auto boat = other.create().value();
        other.start_motion().value();
        auto held = other.begin_tick().value();
        held = world.begin_tick().value();
        other.set_local(boat, espalier::at(8, 0, 0)).value();
        demand(other.present(0).ok() && x_of(other.shown(boat)) == 8,
               "a tick that is replaced by one of another world ends");
        world.write(ship, ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT, &pose).value();
    }
    {
        const auto tick = world.begin_tick().value();
        std::vector<espl_write> writes(1);
        writes[0].entity = ship, writes[0].kind = ESPL_WRITE_LOCAL_POSITION;
        writes[0].value.position[0] = 14;
        (void)world.write_batch(writes).value();
        const float aside[3] = {0, 0, 1};
        world.write(ship, ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY, aside).value();
    }
    espl_pose previous{}, before{};
    demand(world.read(ship, ESPL_READ_PREVIOUS_LOCAL_POSE, &previous).ok() &&
               world.read(ship, ESPL_READ_BEFORE_WORLD_POSE, &before).ok() &&
               previous.position[0] == 10 && previous.position[2] == 1 && before.position[0] == 10,
           "what is blended is read, and a carried entity takes it along");
    previous.position[0] = 12;
    world.write(ship, ESPL_WRITE_PREVIOUS_LOCAL_POSE, &previous).value();
    const espalier::entity both[] = {ship, mast};
    espalier::transform shown[2];
    demand(world.present(0.5F).ok() && world.all_shown(both, shown).ok() && shown[0].position[0] == 13 &&
               shown[1].position[1] == 5 && world.shown_matrix(mast).value()[12] == 13,
           "shown transforms are read one by one, at once and as a matrix");
    demand(world.present(1.5F).ok() && x_of(world.shown(mast)) == 15 && world.present(-1).ok() &&
               x_of(world.shown(mast)) == 10,
           "motion goes on beyond the ends of a tick");
    previous.position[0] = 10;
    previous.position[1] = 5;
    demand(world.write(mast, ESPL_WRITE_PREVIOUS_WORLD_POSE, &previous).ok() && world.present(0).ok() &&
               x_of(world.shown(mast)) == 10 && x_of(world.shown(ship)) == 12,
           "the pose in the world that a child is blended from is written");
    demand(world.all_shown(both, espalier::span<espalier::transform>(shown, 1)).status() ==
               ESPL_ERR_ARGUMENT,
           "outputs of shown transforms that are too short are refused");
    demand(world.stop_motion().ok() && world.stop_motion().status() == ESPL_ERR_ARGUMENT &&
               x_of(world.shown(mast)) == 14,
           "when motion stops the world is shown");
}

void watches()
{
    auto world = espalier::world::make().value();
    const auto speeds = world.register_component<speed>("speed").value();
    const auto ship = world.create().value();
    const auto mast = world.create(ship, espalier::at(0, 5, 0), speeds.with({1, 2})).value();
    auto all = world.create_watch(ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL | ESPL_WATCH_BEFORE).value();
    auto some = world.create_watch(espalier::filter().with(speeds)).value();
    const auto first = all.collect().value();

    demand(first.added().size() == 2 && first.added()[1] == mast && first.changed().empty() &&
               first.added_worlds()[1].position[1] == 5 && first.added_locals()[0].scale == 1,
           "a watch finds what is there at first");
    const std::uint64_t moment = first.moment();
    demand(moment != 0 && some.collect().value().added().size() == 1 && all.collect()->empty(),
           "a watch looks through a filter, and finds nothing twice");
    world.set_local(ship, espalier::at(3, 0, 0)).value();
    const auto next = all.collect().value();
    bool is_followed = false;
    for (std::size_t i = 0; i < next.changed().size(); ++i) {
        is_followed |= next.changed()[i] == mast && next.kinds()[i] == ESPL_WATCH_WORLD &&
                       next.changed_worlds()[i].position[0] == 3 &&
                       next.changed_locals()[i].position[0] == 0 &&
                       next.changed_before()[i].position[0] == 0;
    }
    demand(next.changed().size() == 2 && is_followed && !next.is_coarse(),
           "a watch finds a child that followed, and where it was");
    const auto filtered = some.collect().value();
    demand(filtered.changed().size() == 1 && filtered.changed()[0] == mast &&
               filtered.changed_locals().empty() && filtered.changed_before().empty(),
           "arrays that a watch was not made for are empty");
    demand(all.collect()->empty() && all.collect(moment)->changed().size() == 2,
           "a watch looks back to an earlier collect");
    world.destroy(mast).value();
    const auto last = some.collect().value();
    demand(last.removed().size() == 1 && last.removed()[0] == mast && last.get().removed_count == 1,
           "a watch finds what was destroyed");
    espl_watch *const get = some.get();
    auto moved = std::move(some);
    demand(some.get() == nullptr && moved.get() == get && moved.collect().ok(),
           "a moved watch has one owner");
    espalier::filter endless;
    for (int i = 0; i <= ESPL_TERM_LIMIT; ++i) {
        endless.without(ESPL_PREFAB);
    }
    demand(world.create_watch(endless).status() == ESPL_ERR_LIMIT &&
               world.create_watch(ESPL_WATCH_SHOWN).status() == ESPL_ERR_ARGUMENT &&
               world.create_watch(1U << 20).status() == ESPL_ERR_ARGUMENT,
           "a watch that cannot be is refused");
    world.start_motion().value();
    auto drawn = world.create_watch(ESPL_WATCH_SHOWN | ESPL_WATCH_BEFORE).value();
    (void)drawn.collect().value();
    {
        const auto tick = world.begin_tick().value();
        world.set_local(ship, espalier::at(5, 0, 0)).value();
    }
    world.present(0.5F).value();
    const auto seen = drawn.collect().value();
    demand(seen.changed().size() == 1 && seen.kinds()[0] == ESPL_WATCH_SHOWN &&
               seen.changed_worlds()[0].position[0] == 4,
           "a watch of shown transforms has them");
    world.present(1.5F).value();
    const auto beyond = drawn.collect().value();
    demand(beyond.changed().size() == 1 && beyond.changed_worlds()[0].position[0] == 6 &&
               beyond.changed_before()[0].position[0] == 4,
           "a watch of shown transforms has what was shown before");
}

} // namespace

void demand(bool condition, const char *what)
{
    number += 1;
    failures += condition ? 0 : 1;
    std::printf("%s %d %s\n", condition ? "ok" : "not ok", number, what);
}

int main()
{
    scene s;

    results(s);
    ownership();
    threads();
    hierarchy(s);
    parts(s);
    components(s);
    names(s);
    commands(s);
    motion();
    watches();
    far_and_counterparts();
    renderables();
    values();
    std::printf("1..%d\n", number);
    return failures == 0 ? 0 : 1;
}
