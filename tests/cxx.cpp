// SPDX-License-Identifier: MIT
// What espalier/espalier.hpp adds to the C functions: results, ownership, typed components, queries,
// children, names and command buffers. tests/cxx.sh compiles and runs it; it prints TAP.
#include <espalier/espalier.hpp>

#include <cstdio>
#include <cstring>
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

void demand(bool condition, const char *what)
{
    number += 1;
    failures += condition ? 0 : 1;
    std::printf("%s %d %s\n", condition ? "ok" : "not ok", number, what);
}

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
    const std::unordered_set<espalier::entity> hashed{s.mast, s.other, s.mast};
    demand(hashed.size() == 2, "handles are hashed and compared");
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
    demand(buffer.size() == 7, "commands are counted");
    demand(buffer.resolve(made).status() == ESPL_ERR_PENDING, "a pending handle is told");
    const auto report = s.world.play(buffer).value();
    demand(report.applied == 7 && report.refused == 0, "commands are played");
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

} // namespace

int main()
{
    scene s;

    results(s);
    ownership();
    hierarchy(s);
    components(s);
    names(s);
    commands(s);
    std::printf("1..%d\n", number);
    return failures == 0 ? 0 : 1;
}
