// SPDX-License-Identifier: MIT
// The world as a value in C++: traits of components, images, archives, migrations, and exceptions that leave
// functions which the library calls.
#include "cxx.hpp"

#include <espalier/espalier.hpp>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

enum class mood : std::uint16_t { calm, angry };

struct crew {
    std::int8_t rank;
    bool is_asleep;
    mood feels;
    float at[3];
    std::array<double, 2> pay;
    char call_sign[8];
    espalier::entity friends[2];
    std::uint64_t number;
};
// Earlier, ammo was only a count.
struct rounds {
    std::int32_t count;
};
struct ammo {
    float share;
    std::int32_t left;
    espalier::entity carrier;
};
struct cache {
    std::uint32_t index;
};
struct marked {};

} // namespace

template <> struct espalier::component_traits<crew> {
    static auto fields()
    {
        return std::array{
            field("rank", &crew::rank),       field("is_asleep", &crew::is_asleep),
            field("feels", &crew::feels),     field("at", &crew::at),
            field("pay", &crew::pay),         field("call_sign", &crew::call_sign),
            field("friends", &crew::friends), field("number", &crew::number, ESPL_FIELD_BYTES, 8)};
    }
};
template <> struct espalier::component_traits<ammo> {
    static constexpr std::uint32_t version = 2;
    static constexpr std::uint32_t flags = ESPL_COMPONENT_UNIQUE;
};
template <> struct espalier::component_traits<cache> {
    static constexpr std::uint32_t flags = ESPL_COMPONENT_TRANSIENT;
};

namespace {

void traits()
{
    auto world = espalier::world::make().value();
    const auto crews = world.register_component<crew>("crew").value();
    const espl_field_type types[] = {ESPL_FIELD_I8,     ESPL_FIELD_BOOL, ESPL_FIELD_U16,
                                     ESPL_FIELD_F32,    ESPL_FIELD_F64,  ESPL_FIELD_BYTES,
                                     ESPL_FIELD_ENTITY, ESPL_FIELD_BYTES};
    const std::uint32_t counts[] = {1, 1, 1, 3, 2, 8, 2, 8};
    espl_component_def info{};
    bool are_equal =
        espl_component_info(world.get(), crews.number, &info) == ESPL_OK && info.field_count == 8;

    for (std::size_t i = 0; are_equal && i < info.field_count; ++i) {
        are_equal = info.fields[i].type == types[i] && info.fields[i].count == counts[i];
    }
    demand(are_equal && info.fields[3].offset == offsetof(crew, at) &&
               std::strcmp(info.fields[7].name, "number") == 0 && info.version == 0 &&
               info.flags == 0,
           "members of a type are the fields of its component");
    demand(info.reference_count == 2 &&
               info.references[1] == offsetof(crew, friends) + sizeof(espalier::entity),
           "fields that are entities are references");

    const auto ammos = world.register_component<ammo>("ammo").value();
    demand(espl_component_info(world.get(), ammos.number, &info) == ESPL_OK && info.version == 2 &&
               info.flags == ESPL_COMPONENT_UNIQUE && info.field_count == 0 &&
               info.reference_count == 0,
           "a component has the version and the flags of its traits");
    const auto ship = world.create(espalier::at(0, 0, 0), ammos.with({0.5F, 7, {}})).value();
    demand(world.get(world.instantiate(ship).value(), ammos)->left == 0,
           "a unique value is not cloned");
    espl_component_def other{};
    other.name = "older", other.size = sizeof(ammo), other.version = 1;
    espl_component number = 0;
    demand(espl_component_register(world.get(), &other, &number) == ESPL_OK &&
               world.find_component<ammo>("older").status() == ESPL_ERR_VERSION &&
               world.find_component<ammo>("ammo").value() == ammos,
           "a component of another version is not found");
}

void images()
{
    auto world = espalier::world::make().value();
    const auto caches = world.register_component<cache>("cache").value();
    const auto ship = world.create_node(espl_entity_null(), espalier::at(1, 2, 3), "ship").value();
    world.add(ship, caches, {5}).value();
    espalier::image saved = world.save_image().value();
    const auto hash = world.hash(ESPL_HASH_PHYSICAL).value();
    const std::uint64_t before = world.timeline();

    world.set(ship, caches, {6}).value();
    world.destroy(ship).value();
    demand(world.load_image(saved).ok() && world.is_alive(ship) &&
               world.position(ship).value()[2] == 3 && world.timeline() == before + 1 &&
               world.get(ship, caches)->index == 0,
           "a loaded world has its handles, and zeros for transient values");
    world.set(ship, caches, {5}).value();
    demand(world.hash(ESPL_HASH_PHYSICAL).value() == hash,
           "a loaded world is the one that was saved");
    const std::byte *const memory = saved.data();
    demand(world.save_image(saved).ok() && saved.data() == memory &&
               saved.size() == espl_image_size(world.get()) && espalier::image_layout() != 0,
           "an image is saved into memory that is there");

    espl_world_def tagged{};
    tagged.tag = 77;
    auto other = espalier::world::make(&tagged).value();
    (void)other.register_component<cache>("cache").value();
    const std::vector<std::byte> copied(saved.begin(), saved.end());
    demand(other.load_image(copied).status() == ESPL_ERR_FOREIGN &&
               other.load_image(copied, ESPL_IMAGE_RETAG).ok() &&
               other.find(espl_entity_null(), "/ship").value() != espl_entity_null(),
           "an image of another world is loaded with the tag of this one");

    std::string text(reinterpret_cast<const char *>(saved.data()), saved.size());
    text[saved.size() / 2] = static_cast<char>(text[saved.size() / 2] ^ 1);
    const auto refused = world.load_image(text);
    bool has_thrown = false;
    try {
        refused.value();
    } catch (const espalier::format_error &e) {
        has_thrown = e.status() == ESPL_ERR_FORMAT && e.offset() == refused.fault().offset &&
                     std::strcmp(e.what(), refused.fault().sentence) == 0;
    }
    demand(has_thrown && refused.status() == ESPL_ERR_FORMAT && world.is_alive(ship),
           "a damaged image is refused, and the exception says where and why");
    has_thrown = false;
    try {
        (void)world.each_chunk([&](auto) { world.load_image(saved).value(); });
    } catch (const espalier::error &e) {
        has_thrown = e.status() == ESPL_ERR_BUSY &&
                     dynamic_cast<const espalier::format_error *>(&e) == nullptr;
    }
    demand(has_thrown, "a refusal of sound bytes is no error of the format");
    demand(world.load_image(std::vector<unsigned char>()).status() == ESPL_ERR_FORMAT,
           "no bytes are no image");
    espalier::image moved = std::move(saved);
    demand(moved.data() == memory && saved.data() == nullptr && saved.empty() &&
               world.save_image(saved).ok() && saved.size() == moved.size() &&
               std::memcmp(saved.data(), moved.data(), saved.size()) == 0,
           "a moved image has one owner, and another one can be saved in its place");
}

// A ship of two entities with ammo of version 1, as an archive.
espalier::archive write_old()
{
    auto world = espalier::world::make().value();
    const auto counts = world.register_component<rounds>("ammo").value();
    const auto names = world.register_component<cache>("debug").value();
    const auto ship =
        world.create(espalier::at(1, 0, 0), counts.with({6}), names.with({1})).value();

    (void)world.create(ship, espalier::at(0, 5, 0), counts.with({8})).value();
    return world.write_archive().value();
}

void archives()
{
    auto world = espalier::world::make().value();
    const auto ship = world.create_node(espl_entity_null(), espalier::at(1, 0, 0), "ship").value();
    const auto mast = world.create_node(ship, espalier::at(0, 5, 0), "mast").value();
    (void)world.create().value();
    const auto all = world.write_archive().value();
    const auto some = world.write_archive(espalier::span<const espalier::entity>(&mast, 1)).value();
    const auto none = world.write_archive(std::vector<espalier::entity>()).value();

    demand(espalier::inspect_archive(all)->nodes == 3 &&
               espalier::inspect_archive(all)->tops == 2 &&
               espalier::inspect_archive(some)->nodes == 1 &&
               espalier::inspect_archive(none)->nodes == 0,
           "an archive has all of a world, or what is named");
    const auto read = world.read_archive(some, espalier::read_options().under(ship)).value();
    demand(read.all.size() == 1 && read.all == read.tops && world.parent(read.tops[0]) == ship &&
               world.local(read.tops[0])->position[0] == 1 &&
               std::strcmp(world.name(read.tops[0]), "mast") == 0,
           "an archive is read under a parent");

    espl_archive_def def{};
    def.user = "level 3", def.user_size = 7;
    std::vector<std::byte> pieces;
    world
        .write_archive_to(
            [&](espalier::span<const std::byte> piece) {
                pieces.insert(pieces.end(), piece.begin(), piece.end());
            },
            &def)
        .value();
    const auto info = espalier::inspect_archive(pieces).value();
    demand(info.user_size == 7 && std::memcmp(info.user, "level 3", 7) == 0,
           "an archive is written to a function, with data of the program");
    demand(world.write_archive_to([](auto) { return false; }).status() == ESPL_ERR_SINK,
           "a sink that takes no bytes is a refusal");
    bool has_thrown = false;
    try {
        (void)world.write_archive_to([](auto) { throw std::length_error("full"); });
    } catch (const std::length_error &) {
        has_thrown = true;
    }
    demand(has_thrown, "an exception of a sink is thrown by the call");
    const auto delta = espalier::diff_archives(some, all).value();
    const auto patched = espalier::patch_archive(some, delta).value();
    demand(patched.size() == all.size() &&
               std::memcmp(patched.data(), all.data(), all.size()) == 0 &&
               espalier::patch_archive(all, delta).status() == ESPL_ERR_GAP &&
               espalier::diff_archives(some, delta).fault().sentence != nullptr,
           "a delta leads from one archive to another one");
    auto shown = espalier::world::make().value();
    const espl_copy copies[] = {{shown.create().value(), mast},
                                {shown.create().value(), espl_entity_null()}};
    const auto copied = shown.copy_globals(world, copies);
    demand(copied.status() == ESPL_PARTLY && copied->applied == 1 && copied->first_refused == 1 &&
               shown.position(copies[0].to).value()[1] == 5,
           "world transforms are copied from another world");
    pieces.pop_back();
    const auto refused = world.read_archive(pieces);
    demand(refused.status() == ESPL_ERR_FORMAT && refused.fault().sentence != nullptr &&
               espalier::inspect_archive(pieces).fault().sentence != nullptr,
           "a damaged archive is refused with a sentence");
}

// An editor goes back to what it saved, and a second world follows.
void applied()
{
    auto world = espalier::world::make().value(), follower = espalier::world::make().value();
    const auto ship = world.create_node(espl_entity_null(), espalier::at(1, 0, 0), "ship").value();
    const auto mast = world.create_node(ship, espalier::at(0, 5, 0), "mast").value();
    espl_archive_def def{};
    def.flags = ESPL_ARCHIVE_HANDLES;
    const auto before = world.write_archive(&def).value();
    const auto first = follower.read_archive(before).value();

    world.set_local(ship, espalier::at(7, 0, 0)).value();
    world.destroy(mast).value();
    const auto after = world.write_archive(&def).value();
    const espalier::known_archive known{before, first.all};
    const auto second = follower.apply_archive(after, {}, &known).value();
    demand(second.all.size() == 1 && second.all[0] == first.all[0] &&
               !follower.is_alive(first.all[1]) && follower.position(first.all[0]).value()[0] == 7,
           "a world follows another one by archives");
    const auto back = world.apply_archive(before).value();
    demand(back.tops[0] == ship && back.all.size() == 2 && back.all[1] != mast &&
               world.position(back.all[1]).value()[0] == 1,
           "entities that live become what an archive says");
    demand(world.apply_archive(world.write_archive().value()).fault().sentence != nullptr &&
               world.apply_archive(before, espalier::read_options().under(ship)).status() == ESPL_ERR_CYCLE,
           "an archive without handles is not applied, nor one below a survivor");
}

void histories()
{
    auto world = espalier::world::make().value();
    espl_history_def def{};
    def.frames = 2;
    def.flags = ESPL_HISTORY_HASH;
    auto kept = world.create_history(&def).value();
    const auto ship = world.create(espalier::at(1, 0, 0)).value();

    demand(!kept.range() && world.create_history().status() == ESPL_ERR_EXISTS,
           "a world has one history, without a frame");
    kept.mark(10).value();
    const auto sum = kept.hash(10).value();
    const auto made = world.create(ship, espalier::at(0, 5, 0)).value();
    world.set_local(ship, espalier::at(2, 0, 0)).value();
    kept.mark(11).value();
    demand(kept.range() == std::make_pair(std::uint64_t{10}, std::uint64_t{11}) &&
               kept.hash(11).value() != sum && kept.mark(11).status() == ESPL_ERR_ARGUMENT,
           "frames are marked in ascending order, and have checksums");
    world.destroy(ship).value();
    const auto newest = kept.rewind(11).value();
    demand(newest.revived().size() == 2 && newest.unborn().empty() && world.is_alive(made),
           "a rewind revives handles");
    const auto back = kept.rewind(10).value();
    demand(back.unborn().size() == 1 && back.unborn()[0] == made && !world.is_alive(made) &&
               world.position(ship).value()[0] == 1 && kept.range()->second == 10,
           "a rewind tells the handles of the abandoned future");
    demand(kept.rewind(11).status() == ESPL_ERR_TOO_OLD && kept.hash(9).status() == ESPL_ERR_TOO_OLD,
           "a frame that was forgotten cannot be gone back to");
    (void)world.create().value();
    (void)kept.rewind(10, ESPL_REWIND_FRESH).value();
    kept.mark(12).value();
    kept.mark(13).value();
    const espl_history *const get = kept.get();
    const auto moved = std::move(kept);
    demand(moved.range()->first == 12 && moved.get() == get && kept.get() == nullptr,
           "a moved history has one owner, and the oldest frames are dropped");
}

void migrations()
{
    const auto old = write_old();
    auto world = espalier::world::make().value();
    const auto ammos = world.register_component<ammo>("ammo").value();
    const auto caches = world.register_component<cache>("caches").value();
    const auto before = world.hash(ESPL_HASH_PHYSICAL).value();
    const auto with = [&](auto function) {
        espalier::read_options options;

        options.drop("debug").template migrate<rounds>("ammo", ammos, function);
        return world.read_archive(old, options);
    };

    const auto strict = world.read_archive(old);
    bool has_thrown = false;
    try {
        (void)strict.value();
    } catch (const espalier::format_error &e) {
        has_thrown = e.status() == ESPL_ERR_VERSION && *e.what() != '\0';
    }
    demand(has_thrown, "a component of another version is refused without a migration");
    demand(with([](const rounds &r) {
               return r.count < 8 ? std::optional(ammo{1, r.count, {}}) : std::nullopt;
           }).status() == ESPL_ERR_VERSION,
           "a migration without a value refuses the archive");
    has_thrown = false;
    try {
        (void)with([](const rounds &r) -> ammo { throw r.count; });
    } catch (int count) {
        has_thrown = count == 6;
    }
    demand(has_thrown && world.hash(ESPL_HASH_PHYSICAL).value() == before,
           "an exception of a migration is thrown by the call, and nothing was read");
    const auto read = with([](const rounds &r) {
                          return ammo{0.5F, 2 * r.count, espl_entity_null()};
                      }).value();
    demand(read.all.size() == 2 && world.get(read.all[0], ammos)->left == 12 &&
               world.get(read.all[1], ammos)->left == 16 &&
               world.get(read.all[1], ammos)->share == 0.5F,
           "a migration makes the values");
    espalier::read_options other_size, renamed;
    other_size.skip_unknown().migrate<crew>("ammo", ammos, [](const crew &) { return ammo{}; });
    renamed.rename("ammo", ammos).drop("debug");
    demand(world.read_archive(old, other_size).status() == ESPL_ERR_VERSION &&
               world.read_archive(old, renamed).status() == ESPL_ERR_VERSION,
           "values of another size are refused");
    espalier::read_options moved_name;
    moved_name.rename("debug", caches).drop("ammo").limit(2);
    const auto moved = world.read_archive(old, moved_name).value();
    demand(world.has(moved.tops[0], caches) && !world.has(moved.tops[0], ammos) &&
               world.read_archive(old, moved_name.limit(1)).status() == ESPL_ERR_LIMIT,
           "a component is renamed, another one left out, and an archive of too many refused");
}

} // namespace

void values()
{
    traits();
    images();
    archives();
    applied();
    histories();
    migrations();
}
