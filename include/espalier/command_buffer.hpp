// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: command buffers that own, and their recorders.
///
/// Thread rule: as for the C functions of espalier/commands.h: one thread at a time uses a recorder.
#ifndef ESPALIER_COMMAND_BUFFER_HPP
#define ESPALIER_COMMAND_BUFFER_HPP

#include <espalier/query.hpp>

#include <memory>

namespace espalier {

/// One lane of a command buffer: one thread at a time records into it. Owned by the buffer.
class recorder {
public:
    explicit recorder(espl_recorder *get) noexcept : get_(get) {}
    [[nodiscard]] espl_recorder *get() const noexcept { return get_; }

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
    result<> disable(std::uint32_t key, entity target, espl_extent extent = ESPL_EXTENT_OWNED)
    {
        return espl_record_set_enabled(get_, key, target, extent, false);
    }
    result<> enable(std::uint32_t key, entity target, espl_extent extent = ESPL_EXTENT_OWNED)
    {
        return espl_record_set_enabled(get_, key, target, extent, true);
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
class [[nodiscard]] command_buffer {
public:
    explicit command_buffer(espl_command_buffer *owned = nullptr) noexcept : get_(owned) {}
    [[nodiscard]] espl_command_buffer *get() const noexcept { return get_.get(); }

    [[nodiscard]] espalier::recorder recorder(std::uint32_t lane = 0) noexcept
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
    [[nodiscard]] std::size_t size() const noexcept { return espl_command_buffer_count(get()); }
    void reset() noexcept { espl_command_buffer_reset(get()); }
    result<> submit() { return espl_command_buffer_submit(get()); }

private:
    struct destroyer {
        void operator()(espl_command_buffer *commands) const noexcept
        {
            espl_command_buffer_destroy(commands);
        }
    };
    std::unique_ptr<espl_command_buffer, destroyer> get_;
};

} // namespace espalier

#endif
