// SPDX-License-Identifier: MIT
/// @file
/// Espalier for C++17: handles that own, results that cannot be overlooked, typed components and
/// queries. Header-only, over the C functions, which may be mixed with it at will: get() of each class
/// returns what the C functions take, and docstrings there say all that is not said here.
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

#include <espalier/espalier.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#if defined(__has_include)
#if __has_include(<span>) && __cplusplus >= 202002L
#include <span>
#endif
#endif

// In the global namespace, because the type is there.
inline bool operator==(espl_entity a, espl_entity b) noexcept
{
    return espl_entity_equal(a, b);
}
inline bool operator!=(espl_entity a, espl_entity b) noexcept
{
    return !espl_entity_equal(a, b);
}

template <> struct std::hash<espl_entity> {
    std::size_t operator()(espl_entity entity) const noexcept
    {
        return std::hash<std::uint64_t>()(std::uint64_t{entity.generation} << 32 | entity.index);
    }
};

namespace espalier {

using entity = espl_entity;
using transform = espl_transform;
using vector = std::array<float, 3>;
using quaternion = std::array<float, 4>; ///< x, y, z, w

/// Consecutive values that someone else owns: std::span where the library has it.
#ifdef __cpp_lib_span
template <class T> using span = std::span<T>;
#else
template <class T> class span {
public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    /// Any container with data() and size().
    template <class C, class = std::enable_if_t<std::is_convertible_v<
                           std::remove_pointer_t<decltype(std::declval<C &>().data())> (*)[],
                           T (*)[]>>>
    constexpr span(C &&container) noexcept : data_(container.data()), size_(container.size())
    {
    }
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};
#endif

// --- Results ---

/// What value() of a refused call throws.
class error : public std::exception {
public:
    explicit error(espl_status status) noexcept : status_(status) {}
    espl_status status() const noexcept { return status_; }
    /// A sentence that says when the status happens and what to do.
    const char *what() const noexcept override { return espl_status_text(status_); }

private:
    espl_status status_;
};

namespace detail {
[[noreturn]] inline void refuse(espl_status status)
{
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    throw error(status);
#else
    static_cast<void>(status);
    std::abort();
#endif
}
} // namespace detail

/// The status of a call and, unless it was refused, what it returns.
template <class T = void> class [[nodiscard]] result {
public:
    result(espl_status status, T value) : status_(status), value_(std::move(value)) {}

    espl_status status() const noexcept { return status_; }
    bool ok() const noexcept { return status_ >= 0; }
    explicit operator bool() const noexcept { return ok(); }
    /// Name of the status: "ESPL_ERR_DEAD".
    const char *name() const noexcept { return espl_status_name(status_); }
    /// What to do about it.
    const char *text() const noexcept { return espl_status_text(status_); }

    T &value() & { return check(), value_; }
    const T &value() const & { return check(), value_; }
    T value() && { return check(), std::move(value_); }
    T value_or(T otherwise) && { return ok() ? std::move(value_) : std::move(otherwise); }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    T operator*() && { return std::move(*this).value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }

private:
    void check() const
    {
        if (!ok()) {
            detail::refuse(status_);
        }
    }
    espl_status status_;
    T value_;
};

template <> class [[nodiscard]] result<void> {
public:
    result(espl_status status) noexcept : status_(status) {}

    espl_status status() const noexcept { return status_; }
    bool ok() const noexcept { return status_ >= 0; }
    explicit operator bool() const noexcept { return ok(); }
    const char *name() const noexcept { return espl_status_name(status_); }
    const char *text() const noexcept { return espl_status_text(status_); }
    /// Throw where the call was refused.
    void value() const
    {
        if (!ok()) {
            detail::refuse(status_);
        }
    }

private:
    espl_status status_;
};

// --- Transforms ---

/// A transform at a position, turned and scaled.
inline transform at(float x, float y, float z, quaternion rotation = {0, 0, 0, 1},
                    float scale = 1) noexcept
{
    transform t = espl_transform_identity();

    t.position[0] = x, t.position[1] = y, t.position[2] = z;
    for (std::size_t i = 0; i < rotation.size(); ++i) {
        t.rotation[i] = rotation[i];
    }
    t.scale = scale;
    return t;
}

// --- Components ---

/// A column that a query reads, or writes.
template <class T> struct reading {
    espl_component number;
};
template <class T> struct writing {
    espl_component number;
};

/// A registered component of a type. Its values are copied and moved by bytes.
template <class T> struct component {
    static_assert(std::is_trivially_copyable_v<T>, "components are copied and moved by bytes");
    espl_component number = 0;

    /// The component with a value, which must live until the call that takes both returns.
    espl_component_value with(const T &value) const noexcept
    {
        return {number, size(), &value};
    }
    reading<T> read() const noexcept { return {number}; }
    writing<T> write() const noexcept { return {number}; }
    /// An empty type is a tag, which has no bytes.
    static constexpr std::size_t size() noexcept { return std::is_empty_v<T> ? 0 : sizeof(T); }
};

namespace detail {
struct destroyer {
    void operator()(espl_world *world) const noexcept { espl_world_destroy(world); }
    void operator()(espl_command_buffer *commands) const noexcept
    {
        espl_command_buffer_destroy(commands);
    }
};

// Ends an iteration that an exception leaves.
struct iteration {
    espl_query query;
    bool is_begun = false;
    iteration() = default;
    iteration(const iteration &) = delete;
    iteration &operator=(const iteration &) = delete;
    ~iteration()
    {
        if (is_begun) {
            espl_query_end(&query);
        }
    }
};

template <class T> span<const T> column(const espl_query &query, reading<T> column)
{
    return {static_cast<const T *>(espl_query_read(&query, column.number, sizeof(T))), query.count};
}
template <class T> span<T> column(const espl_query &query, writing<T> column)
{
    return {static_cast<T *>(espl_query_write(&query, column.number, sizeof(T))), query.count};
}
} // namespace detail

// --- Command buffers ---

/// One lane of a command buffer: one thread at a time records into it. Owned by the buffer.
class recorder {
public:
    explicit recorder(espl_recorder *get) noexcept : get_(get) {}
    espl_recorder *get() const noexcept { return get_; }

    /// Record the creation of an entity with a transform under a parent, with component values.
    /// @return its pending handle, for later commands of the buffer and for command_buffer::resolve().
    template <class... Values>
    result<entity> create(std::uint32_t key, entity parent, const transform &local,
                          Values... values)
    {
        const espl_component_value list[] = {{ESPL_TRANSFORM, sizeof local, &local}, values...};
        espl_creation_def def{};
        entity pending = espl_entity_null();

        def.values = list;
        def.value_count = 1 + sizeof...(values);
        def.parent = parent;
        const espl_status status = espl_record_create(get_, key, &def, 1, &pending);
        return {status, pending};
    }
    /// Record a clone of a prefab, or of any entity, under a parent.
    result<entity> spawn(std::uint32_t key, entity source, entity parent, const transform &local)
    {
        entity pending = espl_entity_null();
        const espl_status status = espl_record_spawn(get_, key, source, parent, &local, &pending);
        return {status, pending};
    }
    result<> attach(std::uint32_t key, entity child, entity parent,
                    const espl_attach_options *options = nullptr)
    {
        return espl_record_attach(get_, key, child, parent, options);
    }
    result<> detach(std::uint32_t key, entity child, espl_keep keep = ESPL_KEEP_WORLD)
    {
        return espl_record_detach(get_, key, child, keep);
    }
    result<> destroy(std::uint32_t key, entity target, espl_extent extent = ESPL_EXTENT_OWNED)
    {
        return espl_record_destroy(get_, key, target, extent);
    }
    result<> set_local(std::uint32_t key, entity target, const transform &local)
    {
        return espl_record_write(get_, key, target, ESPL_WRITE_LOCAL_TRANSFORM, &local);
    }
    /// Any kind of write: `value` points to what espalier/write.h says for the kind.
    result<> write(std::uint32_t key, entity target, espl_write_kind kind, const void *value)
    {
        return espl_record_write(get_, key, target, kind, value);
    }
    template <class T> result<> add(std::uint32_t key, entity target, component<T> c, const T &value)
    {
        return espl_record_add_component(get_, key, target, c.number, &value, c.size());
    }
    template <class T> result<> set(std::uint32_t key, entity target, component<T> c, const T &value)
    {
        return espl_record_set_component(get_, key, target, c.number, &value, c.size());
    }
    template <class T> result<> remove(std::uint32_t key, entity target, component<T> c)
    {
        return espl_record_remove_component(get_, key, target, c.number);
    }

private:
    espl_recorder *get_;
};

/// Owns a command buffer. Destroy it before its world.
class command_buffer {
public:
    explicit command_buffer(espl_command_buffer *owned = nullptr) noexcept : get_(owned) {}
    espl_command_buffer *get() const noexcept { return get_.get(); }

    espalier::recorder recorder(std::uint32_t lane = 0) noexcept
    {
        return espalier::recorder(espl_command_buffer_recorder(get(), lane));
    }
    /// The entity that a pending handle became, after the playback.
    result<entity> resolve(entity pending) const
    {
        entity living = espl_entity_null();
        const espl_status status = espl_command_buffer_resolve(get(), pending, &living);
        return {status, living};
    }
    std::size_t size() const noexcept { return espl_command_buffer_count(get()); }
    void reset() noexcept { espl_command_buffer_reset(get()); }
    result<> submit() { return espl_command_buffer_submit(get()); }

private:
    std::unique_ptr<espl_command_buffer, detail::destroyer> get_;
};

// --- Worlds ---

/// Owns a world.
class world {
public:
    explicit world(espl_world *owned = nullptr) noexcept : get_(owned) {}
    espl_world *get() const noexcept { return get_.get(); }

    static result<world> make(const espl_world_def *def = nullptr)
    {
        espl_world *made = nullptr;
        const espl_status status = espl_world_create(&made, def);
        return {status, world(made)};
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
    /// Clone an entity with all that it owns.
    result<entity> instantiate(entity source)
    {
        entity made = espl_entity_null();
        const espl_status status = espl_instantiate(get(), source, 1, &made);
        return {status, made};
    }
    result<> destroy(entity target, espl_extent extent = ESPL_EXTENT_OWNED)
    {
        return espl_destroy(get(), target, extent);
    }
    bool is_alive(entity target) const noexcept { return espl_is_alive(get(), target); }
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
    entity parent(entity child) const noexcept { return espl_get_parent(get(), child); }
    entity root(entity member) const noexcept { return espl_get_root(get(), member); }

    /// The children of an entity, for a range-based loop. Structural calls end its validity.
    class children_range {
    public:
        class iterator {
        public:
            iterator(const espl_world *of, entity at) noexcept : world_(of), at_(at) {}
            entity operator*() const noexcept { return at_; }
            iterator &operator++() noexcept
            {
                at_ = espl_get_next_sibling(world_, at_);
                return *this;
            }
            bool operator!=(const iterator &other) const noexcept { return at_ != other.at_; }

        private:
            const espl_world *world_;
            entity at_;
        };
        children_range(const espl_world *of, entity parent) noexcept : world_(of), parent_(parent)
        {
        }
        iterator begin() const noexcept
        {
            return {world_, espl_get_first_child(world_, parent_)};
        }
        iterator end() const noexcept { return {world_, espl_entity_null()}; }

    private:
        const espl_world *world_;
        entity parent_;
    };
    children_range children(entity parent) const noexcept { return {get(), parent}; }

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
    /// World matrix: columns, as OpenGL and Vulkan read them.
    result<std::array<float, 16>> matrix(entity target) const
    {
        std::array<float, 16> columns{};
        const espl_status status = espl_get_matrix_4x4(get(), target, columns.data());
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
    /// Any kind of write: `value` points to what espalier/write.h says for the kind.
    result<> write(entity target, espl_write_kind kind, const void *value)
    {
        return espl_write_one(get(), target, kind, value);
    }
    /// The world transforms of many entities. `out` must be as long as `targets`.
    result<> globals(span<const entity> targets, span<transform> out) const
    {
        if (out.size() < targets.size()) {
            return ESPL_ERR_ARGUMENT;
        }
        return espl_get_world_transforms(get(), targets.data(), targets.size(), sizeof(entity),
                                         out.data());
    }

    // Components.

    /// Register a component of a type. An empty type is a tag.
    /// @param references  byte offsets of its entity fields, ascending.
    template <class T>
    result<component<T>> register_component(const char *name,
                                            span<const std::uint32_t> references = {})
    {
        component<T> c;
        espl_component_def def{};

        def.name = name;
        def.size = c.size();
        def.alignment = c.size() != 0 ? alignof(T) : 0;
        def.references = references.data();
        def.reference_count = references.size();
        const espl_status status = espl_component_register(get(), &def, &c.number);
        return {status, c};
    }
    template <class T> bool has(entity target, component<T> c) const noexcept
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

    /// Call a function for each chunk of the entities that have all these components:
    ///
    ///     world.each_chunk([](auto entities, auto speeds, auto masses) { ... },
    ///                      speed.write(), mass.read());
    ///
    /// It gets the entities as a span, and a span of each column, all of one length. The world is in
    /// iteration until the call returns: record commands instead of changing structure.
    template <class F, class... Columns> result<> each_chunk(F &&function, Columns... columns)
    {
        const espl_component all[] = {columns.number..., 0};
        espl_query_def def{};
        detail::iteration i;

        def.all = all;
        def.all_count = sizeof...(columns);
        const espl_status status = espl_query_begin(get(), &def, &i.query);
        i.is_begun = status >= 0;
        while (i.is_begun && espl_query_next(&i.query)) {
            function(span<const entity>{i.query.entities, i.query.count},
                     detail::column(i.query, columns)...);
        }
        return status;
    }

    // Names.

    result<> set_name(entity target, const char *name) { return espl_set_name(get(), target, name); }
    /// "" where it has none.
    const char *name(entity target) const noexcept { return espl_get_name(get(), target); }
    /// Find by names below an entity, or below all roots where it is null: "arm/hand".
    result<entity> find(entity top, const char *path) const
    {
        entity found = espl_entity_null();
        const espl_status status = espl_find_below(get(), top, path, &found);
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

    /// The hash of what can be read of the world, the same on every machine.
    result<std::uint64_t> hash(espl_hash_kind kind = ESPL_HASH_LOGICAL) const
    {
        std::uint64_t hash = 0;
        const espl_status status = espl_hash(get(), kind, &hash);
        return {status, hash};
    }

private:
    std::unique_ptr<espl_world, detail::destroyer> get_;
};

} // namespace espalier

#endif
