// SPDX-License-Identifier: MIT
/// @file
/// Espalier for C++17: handles that own, results that a program must look at, typed components and
/// queries. Header-only, over the C functions. A program may use both: get() of each class returns what the C
/// functions take. The docstrings of the C functions hold here too.
///
/// Errors: a call that can be refused returns espalier::result. Test it, or take its value(), which
/// throws espalier::error where the call was refused (and aborts where exceptions are off). A remark
/// (ESPL_LOSSY, ESPL_OVERFLOW, ESPL_PARTLY) is no refusal.
///
///     auto world = espalier::world::make().value();
///     auto ship  = world.create().value();
///     auto mast  = world.create(ship, espalier::at(0, 5, 0)).value();
///     world.set_local(ship, espalier::at(100, 0, 0)).value();
///     if (auto seen = world.position(mast)) { std::printf("%g\n", (*seen)[0]); }
///
/// Thread rule: as for the C functions.
#ifndef ESPALIER_HPP
#define ESPALIER_HPP

#include <espalier/children.hpp>
#include <espalier/command_buffer.hpp>
#include <espalier/executor.hpp>
#include <espalier/fields.hpp>
#include <espalier/history.hpp>
#include <espalier/motion.hpp>
#include <espalier/query.hpp>
#include <espalier/renderables.hpp>
#include <espalier/result.hpp>
#include <espalier/value.hpp>
#include <espalier/watch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace espalier {

namespace detail {
struct destroyer {
    void operator()(espl_world *world) const noexcept { espl_world_destroy(world); }
};

// The text that a function writes into a buffer as snprintf() does.
template <class Write> std::string write_text(Write &&write)
{
    std::string text(write(nullptr, 0), '\0');

    write(text.data(), text.size() + 1);
    return text;
}
} // namespace detail

// --- Worlds ---

/// Owns a world.
class [[nodiscard]] world {
public:
    explicit world(espl_world *owned = nullptr) noexcept : get_(owned) {}
    [[nodiscard]] espl_world *get() const noexcept { return get_.get(); }

    static result<world> make(const espl_world_def *def = nullptr)
    {
        espl_world *made = nullptr;
        const espl_status status = espl_world_create(def, &made);
        return {status, world(made)};
    }
    /// A world that runs parallel work on an executor, which must outlive it.
    static result<world> make(const executor &on)
    {
        espl_world_def def{};

        def.executor = on.get();
        return make(&def);
    }

    // Entities.

    /// Make a root with a transform and component values: world.create(at(1, 2, 3), mass.with(4)).
    template <class... Values>
    result<entity> create(const transform &local = espl_transform_identity(), Values... values)
    {
        return create(espl_entity_null(), local, values...);
    }
    /// The same under a parent, or under none where it is null.
    template <class... Values>
    result<entity> create(entity parent, const transform &local, Values... values)
    {
        const espl_component_value list[] = {{ESPL_TRANSFORM, sizeof local, &local}, values...};
        espl_creation_def def{};
        entity made = espl_entity_null();

        def.values = list;
        def.value_count = 1 + sizeof...(values);
        def.parent = parent;
        const espl_status status = espl_create_at(get(), &def, 1, &made);
        return {status, made};
    }
    /// Make a node under a parent, or under none where it is null, with a name.
    result<entity> create_node(entity parent, const transform &local = espl_transform_identity(),
                               const char *name = nullptr)
    {
        entity made = espl_entity_null();
        const espl_status status = espl_create_node(get(), parent, &local, name, &made);
        return {status, made};
    }
    /// Clone a prefab under a parent, or under none where it is null, with the prefab's own local.
    result<entity> spawn(entity prefab, entity parent)
    {
        entity made = espl_entity_null();
        const espl_status status = espl_spawn(get(), prefab, parent, nullptr, &made);
        return {status, made};
    }
    result<entity> spawn(entity prefab, entity parent, const transform &local)
    {
        entity made = espl_entity_null();
        const espl_status status = espl_spawn(get(), prefab, parent, &local, &made);
        return {status, made};
    }
    /// Clone an entity with all that it owns.
    result<entity> instantiate(entity source)
    {
        entity made = espl_entity_null();
        espl_instance_def def{};

        def.source = source;
        const espl_status status = espl_instantiate(get(), &def, 1, &made);
        return {status, made};
    }
    result<> destroy(entity target, espl_extent extent = ESPL_EXTENT_OWNED)
    {
        return espl_destroy(get(), target, extent);
    }
    /// Destroy many, or none: `refused`, unless it is null, gets the index of the first refused one.
    result<> destroy_many(span<const entity> targets, espl_extent extent = ESPL_EXTENT_OWNED,
                          std::size_t *refused = nullptr)
    {
        return espl_destroy_many(get(), targets.data(), targets.size(), extent, refused);
    }
    [[nodiscard]] bool is_alive(entity target) const noexcept { return espl_is_alive(get(), target); }
    /// Queries skip disabled entities.
    result<> disable(entity target, espl_extent extent = ESPL_EXTENT_OWNED)
    {
        return espl_set_enabled(get(), target, extent, false);
    }
    result<> enable(entity target, espl_extent extent = ESPL_EXTENT_OWNED)
    {
        return espl_set_enabled(get(), target, extent, true);
    }
    [[nodiscard]] bool is_enabled(entity target) const noexcept
    {
        return espl_is_enabled(get(), target);
    }
    result<> clear() { return espl_world_clear(get()); }
    result<> compact() { return espl_compact(get()); }

    // The hierarchy.

    /// Make an entity a child of another one. The default keeps the world transform.
    result<> attach(entity child, entity parent, const espl_attach_options *options = nullptr)
    {
        return espl_attach(get(), child, parent, options);
    }
    result<> detach(entity child, espl_keep keep = ESPL_KEEP_WORLD)
    {
        return espl_detach(get(), child, keep);
    }
    /// Attach many, or none: child i below parent i. `refused` as of destroy_many().
    result<> attach_many(span<const entity> children, span<const entity> parents,
                         const espl_attach_options *options = nullptr,
                         std::size_t *refused = nullptr)
    {
        if (children.size() != parents.size()) {
            return ESPL_ERR_ARGUMENT;
        }
        return espl_attach_many(get(), children.data(), parents.data(), children.size(), options,
                                refused);
    }
    /// Move among the siblings: before one of them, or behind all where that is null.
    result<> move_before(entity child, entity before)
    {
        return espl_move_before(get(), child, before);
    }
    [[nodiscard]] entity parent(entity child) const noexcept
    {
        return espl_get_parent(get(), child);
    }
    [[nodiscard]] entity root(entity member) const noexcept { return espl_get_root(get(), member); }
    [[nodiscard]] bool is_ancestor(entity ancestor, entity target) const noexcept
    {
        return espl_is_ancestor(get(), ancestor, target);
    }
    /// An entity and all below it, breadth-first, siblings in their order; nothing where it is dead.
    [[nodiscard]] std::vector<entity> subtree(entity top) const
    {
        std::vector<entity> all(
            espl_copy_subtree(get(), top, ESPL_EXTENT_SUBTREE, 0, nullptr));
        espl_subtree_arrays arrays{};

        arrays.entities = all.data();
        espl_copy_subtree(get(), top, ESPL_EXTENT_SUBTREE, all.size(), &arrays);
        return all;
    }

    /// The children of an entity, for a range-based loop. Structural calls end its validity.
    [[nodiscard]] children_range children(entity parent) const noexcept { return {get(), parent}; }

    // Transforms.

    result<transform> local(entity target) const
    {
        transform t = espl_transform_identity();
        const espl_status status = espl_get_local_transform(get(), target, &t);
        return {status, t};
    }
    result<transform> global(entity target) const
    {
        transform t = espl_transform_identity();
        const espl_status status = espl_get_world_transform(get(), target, &t);
        return {status, t};
    }
    /// Position in world space.
    result<vector> position(entity target) const
    {
        vector p{};
        const espl_status status = espl_get_world_position(get(), target, p.data());
        return {status, p};
    }
    /// Rotation in world space.
    result<quaternion> rotation(entity target) const
    {
        quaternion q{};
        const espl_status status = espl_get_world_rotation(get(), target, q.data());
        return {status, q};
    }
    /// World matrix: columns, as OpenGL and Vulkan read them.
    result<std::array<float, 16>> matrix(entity target) const
    {
        std::array<float, 16> columns{};
        const espl_status status = espl_get_matrix(get(), target, ESPL_MATRIX_4X4, columns.data());
        return {status, columns};
    }
    result<> set_local(entity target, const transform &local)
    {
        return espl_write_one(get(), target, ESPL_WRITE_LOCAL_TRANSFORM, &local);
    }
    result<> set_global(entity target, const transform &global)
    {
        return espl_write_one(get(), target, ESPL_WRITE_WORLD_TRANSFORM, &global);
    }
    /// Parts in world space; position() and rotation() read them.
    result<> set_position(entity target, const vector &position)
    {
        return espl_set_world_position(get(), target, position.data());
    }
    result<> set_rotation(entity target, const quaternion &rotation)
    {
        return espl_set_world_rotation(get(), target, rotation.data());
    }
    result<> set_local_position(entity target, const vector &position)
    {
        return espl_set_local_position(get(), target, position.data());
    }
    result<> set_local_rotation(entity target, const quaternion &rotation)
    {
        return espl_set_local_rotation(get(), target, rotation.data());
    }
    /// Any kind of write: `value` points to what espalier/write.h says for the kind. A flag is added by `|`:
    /// ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT.
    result<> write(entity target, espl_write_kind kind, const void *value)
    {
        return espl_write_one(get(), target, kind, value);
    }
    /// Any kind of read: `value` points to what espalier/read.h says for the kind.
    result<> read(entity target, espl_read_kind kind, void *value) const
    {
        return espl_read_one(get(), target, kind, value);
    }
    /// Many writes of any kinds, with one propagation for each hierarchy. Collect them in a
    /// std::vector<espl_write>; or by espl_write_list_push() in an array, and write that by
    /// espl_write_listed(world.get(), &list, &report), which also empties the list.
    result<espl_write_report> write_batch(span<const espl_write> writes)
    {
        espl_write_report report{};
        const espl_status status = espl_write_batch(get(), writes.data(), writes.size(), &report);
        return {status, report};
    }
    /// Copy world transforms from entities of another world, or of this one: espl_copy_world_transforms().
    result<espl_write_report> copy_globals(const world &from, span<const espl_copy> copies)
    {
        espl_write_report report{};
        const espl_status status = espl_copy_world_transforms(get(), from.get(), copies.data(),
                                                              copies.size(), &report);
        return {status, report};
    }
    /// The world transforms of many entities. `out` must be at least as long as `targets`.
    result<> globals(span<const entity> targets, span<transform> out) const
    {
        return read_all(ESPL_READ_WORLD_TRANSFORM, targets, out);
    }

    // Motion between ticks, and what changed: espalier/motion.h, espalier/watch.h.

    /// @param history  ticks that are kept; 2 keeps what ESPL_READ_BEFORE_LOCAL_POSE reads too.
    result<> start_motion(std::uint32_t history = 1)
    {
        espl_motion_def def{};

        def.history = history;
        return espl_motion_start(get(), &def);
    }
    result<> stop_motion() { return espl_motion_stop(get()); }
    /// Begin a tick, which ends with the object that is returned.
    result<tick> begin_tick()
    {
        const espl_status status = espl_tick_begin(get());
        return {status, tick(status >= 0 ? get() : nullptr)};
    }
    /// Compute the shown transforms: 0 is the begin of the last tick, 1 its end; more than 1 goes beyond it.
    result<espl_present_report> present(float at)
    {
        espl_present_report report{};
        const espl_status status = espl_present(get(), at, &report);
        return {status, report};
    }
    /// The world transform as it is drawn. Without motion it is global().
    result<transform> shown(entity target) const
    {
        transform t = espl_transform_identity();
        const espl_status status = read(target, ESPL_READ_SHOWN_TRANSFORM, &t).status();
        return {status, t};
    }
    /// The shown transforms of many entities. `out` must be at least as long as `targets`.
    result<> all_shown(span<const entity> targets, span<transform> out) const
    {
        return read_all(ESPL_READ_SHOWN_TRANSFORM, targets, out);
    }
    /// The shown transform as matrix() has the world transform.
    result<std::array<float, 16>> shown_matrix(entity target) const
    {
        std::array<float, 16> columns{};
        const auto seen = shown(target);

        if (seen) {
            espl_transform_to_matrix(&*seen, ESPL_MATRIX_4X4, columns.data());
        }
        return {seen.status(), columns};
    }
    /// Watch every entity with a transform that is neither a prefab nor disabled.
    /// @param flags  ESPL_WATCH_WORLD, _LOCAL, _SHOWN, _BEFORE, _CELL bits.
    result<watch> create_watch(std::uint32_t flags = ESPL_WATCH_WORLD)
    {
        return make_watch(nullptr, flags);
    }
    /// Watch those of them that pass a filter, which has no changed().
    result<watch> create_watch(const filter &which, std::uint32_t flags = ESPL_WATCH_WORLD)
    {
        const espl_query_def def = which.def();

        if (which.is_too_long()) {
            return {ESPL_ERR_LIMIT, watch()};
        }
        return make_watch(&def, flags);
    }

    // Large worlds: espalier/far.h. A world has cells where espl_world_def.cell_size is not 0.

    /// The size of the cells; 0 in a world without cells.
    [[nodiscard]] float cell_size() const noexcept { return espl_get_cell_size(get()); }
    /// Move the whole world by cells, which is exact, and by an offset, for worlds without cells.
    result<> rebase(const cell_vector &cells, const vector &offset = {})
    {
        return espl_rebase(get(), cells.data(), offset.data());
    }
    /// Bring each hierarchy that is more than `limit` cells from the middle of its cell to the nearest cell.
    /// @param limit  0 means 1; at least 0.5.
    /// @return how many got another cell.
    result<std::size_t> recenter(float limit = 0)
    {
        std::size_t count = 0;
        const espl_status status = espl_recenter(get(), limit, &count);
        return {status, count};
    }
    /// The cell of the hierarchy of an entity. ESPL_ERR_UNSUPPORTED without cells.
    result<cell_vector> cell(entity target) const
    {
        cell_vector c{};
        const espl_status status = espl_read_one(get(), target, ESPL_READ_CELL, c.data());
        return {status, c};
    }
    /// Move a root or solo to a cell; its position in the cell stays.
    result<> set_cell(entity target, const cell_vector &cell)
    {
        return espl_write_one(get(), target, ESPL_WRITE_CELL, cell.data());
    }
    /// Position from the middle of cell 0, 0, 0. Without cells it is position().
    result<absolute_vector> absolute_position(entity target) const
    {
        absolute_vector p{};
        const espl_status status =
            espl_read_one(get(), target, ESPL_READ_ABSOLUTE_POSITION, p.data());
        return {status, p};
    }
    /// Place an entity. A root or solo gets the nearest cell, and a member keeps that of its root.
    result<> set_absolute_position(entity target, const absolute_vector &position)
    {
        return espl_write_one(get(), target, ESPL_WRITE_ABSOLUTE_POSITION, position.data());
    }
    /// The cell and the position of an entity, to read others relative to it.
    result<espl_origin> origin(entity target) const
    {
        espl_origin o{};
        const espl_status status = espl_get_origin(get(), target, &o);
        return {status, o};
    }
    /// globals() relative to an origin, a camera for example. It is precise wherever both are.
    result<> globals_from(const espl_origin &origin, span<const entity> targets,
                          span<transform> out) const
    {
        return read_from(origin, ESPL_READ_WORLD_TRANSFORM, targets, out);
    }
    /// all_shown() relative to an origin.
    result<> all_shown_from(const espl_origin &origin, span<const entity> targets,
                            span<transform> out) const
    {
        return read_from(origin, ESPL_READ_SHOWN_TRANSFORM, targets, out);
    }
    /// matrix() relative to an origin.
    result<std::array<float, 16>> matrix_from(const espl_origin &origin, entity target) const
    {
        std::array<float, 16> columns{};
        const espl_status status = espl_get_relative_matrix(get(), target, &origin,
                                                            ESPL_MATRIX_4X4, columns.data());
        return {status, columns};
    }
    /// The local transform that an entity would have as a child of another one, whose cell may differ.
    result<transform> relative(entity frame, entity target) const
    {
        transform t = espl_transform_identity();
        const espl_status status = espl_get_relative_transform(get(), frame, target, &t);
        return {status, t};
    }

    // One entity in several worlds: espalier/counterpart.h.

    /// Make an entity the counterpart of an entity of another world; a null one ends the link.
    result<> set_counterpart(entity target, entity original)
    {
        return espl_set_counterpart(get(), target, original);
    }
    /// The entity of this world that is the counterpart of a handle of another one; null where there is none.
    [[nodiscard]] entity counterpart(entity original) const noexcept
    {
        return espl_find_counterpart(get(), original);
    }
    /// The entity of another world that an entity is the counterpart of; null where there is none.
    [[nodiscard]] entity original(entity target) const noexcept
    {
        return espl_get_original(get(), target);
    }
    /// Make counterparts of an entity of another world and of what is below it. The first one.
    result<entity> place(const world &from, entity original, const espl_placing_def &def = {})
    {
        entity made{};
        const espl_status status =
            espl_place_counterparts(get(), from.get(), original, &def, &made);
        return {status, made};
    }
    /// Repeat what a watch of another world collected.
    result<espl_follow_report> follow(const changes &collected, const espl_follow_def &def = {})
    {
        espl_follow_report report{};
        const espl_status status = espl_follow(get(), &collected.get(), &def, &report);
        return {status, report};
    }

    // Renderables: espalier/renderables.h.

    /// Make the renderables of this world, with the components "bounds", "renderable" and "layers".
    /// @param def  null: the thread that updates also reads.
    result<renderables> create_renderables(const espl_renderables_def *def = nullptr)
    {
        espl_renderables *made = nullptr;
        const espl_status status = espl_renderables_create(get(), def, &made);
        return {status, renderables(get(), made)};
    }

    // Components.

    /// Register a component of a type. An empty type is a tag. Its version, flags and fields are those of
    /// component_traits (espalier/fields.hpp).
    /// @param references  byte offsets of its entity fields, ascending; none: those that its fields say.
    template <class T>
    result<component<T>> register_component(const char *name,
                                            span<const std::uint32_t> references = {})
    {
        component<T> c;
        const espl_status status = detail::register_type<T>(get(), name, references, &c.number);
        return {status, c};
    }
    /// Find a component that was registered by its name, in C for instance.
    /// @return ESPL_ERR_NO_COMPONENT: none has the name; ESPL_ERR_ARGUMENT: its size is not that of T;
    ///         ESPL_ERR_VERSION: its version is not that which component_traits has.
    template <class T> result<component<T>> find_component(const char *name) const
    {
        const component<T> found{espl_component_find(get(), name)};
        espl_component_def def{};

        if (found.number == 0) {
            return {ESPL_ERR_NO_COMPONENT, {}};
        }
        const espl_status status = espl_component_info(get(), found.number, &def);
        if (status >= 0 && def.size != found.size()) {
            return {ESPL_ERR_ARGUMENT, found};
        }
        if (detail::version_of<T>::is_given && def.version != detail::version_of<T>::value) {
            return {ESPL_ERR_VERSION, found};
        }
        return {status, found};
    }
    template <class T> [[nodiscard]] bool has(entity target, component<T> c) const noexcept
    {
        return espl_has_component(get(), target, c.number);
    }
    template <class T> result<T> get(entity target, component<T> c) const
    {
        T value{};
        const espl_status status = espl_get_component(get(), target, c.number, &value, c.size());
        return {status, value};
    }
    template <class T> result<> set(entity target, component<T> c, const T &value)
    {
        return espl_set_component(get(), target, c.number, &value, c.size());
    }
    template <class T> result<> add(entity target, component<T> c, const T &value = T{})
    {
        return espl_add_component(get(), target, c.number, c.size() != 0 ? &value : nullptr, c.size());
    }
    template <class T> result<> remove(entity target, component<T> c)
    {
        return espl_remove_component(get(), target, c.number);
    }

    // Queries.

    /// The version of the columns, for filter::changed().
    [[nodiscard]] std::uint64_t version() const noexcept { return espl_get_version(get()); }

    /// Call a function for each chunk of the entities that have all these components:
    ///
    ///     world.each_chunk([](auto entities, auto speeds, auto masses) { ... },
    ///                      speed.write(), mass.read());
    ///
    /// It gets the entities as a span, and a span of each column, all of one length; for reading_poses()
    /// the world transforms. The world is in iteration until the call returns: record commands instead
    /// of changing structure.
    template <class F, class... Columns,
              class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, filter>>>
    result<> each_chunk(F &&function, Columns... columns)
    {
        return each_chunk(filter(), function, columns...);
    }
    /// The same for those that pass a filter: world.each_chunk(filter().without(hidden), ...).
    template <class F, class... Columns>
    result<> each_chunk(filter which, F &&function, Columns... columns)
    {
        return iterate(espl_query_begin, get(), which, function, columns...);
    }
    /// Of a world that may not be changed: columns are read, on any number of threads at once.
    template <class F, class... Columns,
              class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, filter>>>
    result<> each_chunk(F &&function, Columns... columns) const
    {
        return each_chunk(filter(), function, columns...);
    }
    template <class F, class... Columns>
    result<> each_chunk(filter which, F &&function, Columns... columns) const
    {
        static_assert((!detail::is_written<Columns>::value && ...), "the world may not be changed");
        return iterate(espl_query_begin_read, get(), which, function, columns...);
    }

    /// Call a function for each entity, with a reference to each of its values:
    ///
    ///     world.each([](espalier::entity e, speed &s, const mass &m) { ... },
    ///                speeds.write(), masses.read());
    template <class F, class... Columns,
              class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, filter>>>
    result<> each(F &&function, Columns... columns)
    {
        return each_chunk(filter(), detail::for_rows(function), columns...);
    }
    template <class F, class... Columns> result<> each(filter which, F &&function, Columns... columns)
    {
        return each_chunk(which, detail::for_rows(function), columns...);
    }
    template <class F, class... Columns,
              class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, filter>>>
    result<> each(F &&function, Columns... columns) const
    {
        return each_chunk(filter(), detail::for_rows(function), columns...);
    }
    template <class F, class... Columns>
    result<> each(filter which, F &&function, Columns... columns) const
    {
        return each_chunk(which, detail::for_rows(function), columns...);
    }

    /// Call a function for all rows from the threads of the world's executor, so that one job gets all
    /// rows of a hierarchy and may write it: espl_write_parallel().
    ///
    ///     world.each_parallel(espalier::filter(), [](espalier::writer w, auto entities, auto speeds) {
    ///         for (...) { w.write(entities[row], ESPL_WRITE_TRANSLATE_OWN, ...).value(); }
    ///     }, speed.read());
    ///
    /// It is called on several threads at once. An exception that leaves it terminates the program.
    template <class F, class... Columns>
    result<espl_parallel_report> each_parallel(filter which, F &&function, Columns... columns)
    {
        using call = detail::parallel_call<writer, std::remove_reference_t<F>, Columns...>;
        const espl_component written[] = {
            (detail::is_written<Columns>::value ? columns.number : 0)..., 0};
        std::array<espl_component, sizeof...(columns) + 1> listed{};
        call each{&function, {columns...}};
        espl_parallel_report report{};
        espl_parallel_def def{};

        which.with(columns.number...);
        const espl_query_def rows = which.def();
        for (const espl_component number : written) {
            if (number != 0) {
                listed[def.column_count++] = number;
            }
        }
        def.query = &rows;
        def.function = call::run;
        def.context = &each;
        def.columns = listed.data();
        const espl_status status =
            which.is_too_long() ? ESPL_ERR_LIMIT : espl_write_parallel(get(), &def, &report);
        return {status, report};
    }

    // Names.

    result<> set_name(entity target, const char *name) { return espl_set_name(get(), target, name); }
    /// "" where it has none.
    [[nodiscard]] const char *name(entity target) const noexcept
    {
        return espl_get_name(get(), target);
    }
    /// The names from the root on, "ship/mast"; "" where it is dead.
    [[nodiscard]] std::string path(entity target) const
    {
        return detail::write_text([&](char *buffer, std::size_t size) {
            return espl_get_path(get(), target, buffer, size);
        });
    }
    /// What can be read of it, as lines of text.
    [[nodiscard]] std::string dump(entity target) const
    {
        return detail::write_text([&](char *buffer, std::size_t size) {
            return espl_dump(get(), target, buffer, size);
        });
    }
    /// Find by names below an entity, or below all roots where it is null: "arm/hand".
    result<entity> find(entity top, const char *path) const
    {
        entity found = espl_entity_null();
        const espl_status status = espl_find_descendant(get(), top, path, &found);
        return {status, found};
    }

    // Commands.

    result<command_buffer> create_command_buffer(std::uint32_t lanes = 1)
    {
        espl_command_buffer *made = nullptr;
        const espl_status status = espl_command_buffer_create(get(), lanes, &made);
        return {status, command_buffer(made)};
    }
    result<espl_report> play(command_buffer &commands)
    {
        espl_report report{};
        const espl_status status = espl_play(get(), commands.get(), &report);
        return {status, report};
    }
    /// Play all submitted command buffers.
    result<espl_report> sync()
    {
        espl_report report{};
        const espl_status status = espl_sync(get(), &report);
        return {status, report};
    }

    // The world as a value: espalier/image.h, espalier/archive.h, espalier/value.hpp.

    /// Save the whole world, for this build's layout.
    result<image> save_image() const
    {
        image saved;
        const espl_status status = save_image(saved).status();
        return {status, std::move(saved)};
    }
    /// The same into an image whose memory is used again. Where the call is refused, the bytes are unspecified.
    result<> save_image(image &into) const
    {
        if (!into.resize(espl_image_size(get()))) {
            return ESPL_ERR_NO_MEMORY;
        }
        return espl_image_save(get(), into.data(), into.size());
    }
    /// Become the world that was saved, with its handles: espl_image_load().
    /// @param flags  ESPL_IMAGE_TRUSTED, ESPL_IMAGE_RETAG bits.
    read_result<> load_image(byte_view bytes, std::uint32_t flags = 0)
    {
        espl_format_fault fault{};
        const espl_status status =
            espl_image_load(get(), bytes.data(), bytes.size(), flags, &fault);
        return {{status, fault}};
    }
    /// How many loads and rewinds there were. A handle from before the last one may name another entity.
    [[nodiscard]] std::uint64_t timeline() const noexcept { return espl_world_timeline(get()); }
    /// Write hierarchies as bytes that any build reads; by default all of the world.
    result<archive> write_archive(const espl_archive_def *def = nullptr) const
    {
        return detail::write_archive(get(), def);
    }
    /// Write these entities, as the roots of the archive, and what is below them. Without any the archive is
    /// empty.
    result<archive> write_archive(span<const entity> tops,
                                  espl_extent extent = ESPL_EXTENT_OWNED) const
    {
        const entity none{};
        espl_archive_def def{};

        def.tops = tops.empty() ? &none : tops.data();
        def.top_count = tops.size();
        def.extent = extent;
        return detail::write_archive(get(), &def);
    }
    /// Write to a function that takes a span<const std::byte>, to append it to a file for example. Where it
    /// returns false, the answer is ESPL_ERR_SINK; what it throws is thrown by the call.
    template <class Sink>
    result<> write_archive_to(Sink &&sink, const espl_archive_def *def = nullptr) const
    {
        return detail::write_to(sink, [&](const espl_sink *to) {
            return espl_archive_write(get(), def, to);
        });
    }
    /// Create what an archive has: all of it or nothing. What a migration throws is thrown by the call.
    read_result<archive_entities> read_archive(byte_view bytes,
                                               const read_options &options = {})
    {
        return detail::read_archive(get(), bytes, options);
    }
    /// Make entities that live what an archive with handles says, and create the others: espl_archive_apply().
    /// @param known  null: the handles are those of this world. A world that follows another one passes what it
    ///               read or applied last.
    read_result<archive_entities> apply_archive(byte_view bytes, const read_options &options = {},
                                                const known_archive *known = nullptr)
    {
        return detail::apply_archive(get(), bytes, options, known);
    }
    /// Make the history of this world, to mark frames and rewind to them: espl_history_create().
    /// @param def  null: 8 frames, 16 MiB, without checksums.
    result<history> create_history(const espl_history_def *def = nullptr)
    {
        espl_history *made = nullptr;
        const espl_status status = espl_history_create(get(), def, &made);
        return {status, history(made)};
    }

    /// The hash of what can be read of the world, the same on every machine.
    result<std::uint64_t> hash(espl_hash_kind kind = ESPL_HASH_LOGICAL) const
    {
        std::uint64_t hash = 0;
        const espl_status status = espl_hash(get(), kind, &hash);
        return {status, hash};
    }

private:
    result<> read_all(espl_read_kind kind, span<const entity> targets, span<transform> out) const
    {
        if (out.size() < targets.size()) {
            return ESPL_ERR_ARGUMENT;
        }
        return espl_read_strided(get(), kind, targets.data(), targets.size(), sizeof(entity),
                                 out.data(), sizeof(espl_transform));
    }
    result<> read_from(const espl_origin &origin, espl_read_kind kind, span<const entity> targets,
                       span<transform> out) const
    {
        if (out.size() < targets.size()) {
            return ESPL_ERR_ARGUMENT;
        }
        return espl_read_relative(get(), &origin, kind, targets.data(), targets.size(),
                                  sizeof(entity), out.data(), sizeof(espl_transform));
    }
    result<watch> make_watch(const espl_query_def *which, std::uint32_t flags)
    {
        espl_watch_def def{};
        espl_watch *made = nullptr;

        def.filter = which;
        def.flags = flags;
        const espl_status status = espl_watch_create(get(), &def, &made);
        return {status, watch(made)};
    }

    template <class Begin, class World, class F, class... Columns>
    static result<> iterate(Begin begin, World *of, filter &which, F &function, Columns... columns)
    {
        detail::iteration i;

        which.with(columns.number...);
        const espl_query_def def = which.def();
        const espl_status status = which.is_too_long() ? ESPL_ERR_LIMIT : begin(of, &def, &i.query);
        i.is_begun = status >= 0;
        while (i.is_begun && espl_query_next(&i.query)) {
            detail::show(i.query, function, columns...);
        }
        return status;
    }

    std::unique_ptr<espl_world, detail::destroyer> get_;
};

} // namespace espalier

#endif
