// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: watches that own, and spans of what they collected.
///
/// Thread rule: as for the C functions of espalier/watch.h: a collect is a change of the world, and any thread
/// may read what it returned until the next one.
#ifndef ESPALIER_WATCH_HPP
#define ESPALIER_WATCH_HPP

#include <espalier/result.hpp>

#include <memory>

namespace espalier {

/// A cell, and whether the entity is a root or solo.
using changed_cell = espl_changed_cell;

/// What a watch collected: its own arrays, valid until its next collect that is not refused, or its end.
class changes {
public:
    changes() noexcept = default;
    explicit changes(const espl_changes &collected) noexcept : get_(collected) {}
    [[nodiscard]] const espl_changes &get() const noexcept { return get_; }

    /// Entities of the last collect that no longer answer, ascending by index.
    [[nodiscard]] span<const entity> removed() const noexcept
    {
        return {get_.removed, get_.removed_count};
    }
    /// Entities that the last collect did not have, ascending by index.
    [[nodiscard]] span<const entity> added() const noexcept
    {
        return {get_.added, get_.added_count};
    }
    /// Entities that both have and that changed, in the order of memory.
    [[nodiscard]] span<const entity> changed() const noexcept
    {
        return {get_.changed, get_.changed_count};
    }
    /// For each of changed(): ESPL_WATCH_WORLD, _LOCAL, _SHOWN, _CELL bits.
    [[nodiscard]] span<const std::uint8_t> kinds() const noexcept
    {
        return {get_.kinds, get_.changed_count};
    }
    /// For each of added() the world transform; with ESPL_WATCH_SHOWN the shown one; empty without both of
    /// ESPL_WATCH_WORLD and ESPL_WATCH_SHOWN.
    [[nodiscard]] span<const transform> added_worlds() const noexcept
    {
        return list(get_.added_worlds, get_.added_count);
    }
    /// For each of changed(), as added_worlds().
    [[nodiscard]] span<const transform> changed_worlds() const noexcept
    {
        return list(get_.changed_worlds, get_.changed_count);
    }
    /// For each of added() the cell of its hierarchy; empty without ESPL_WATCH_CELL.
    [[nodiscard]] span<const changed_cell> added_cells() const noexcept
    {
        return list(get_.added_cells, get_.added_count);
    }
    /// For each of changed(), as added_cells().
    [[nodiscard]] span<const changed_cell> changed_cells() const noexcept
    {
        return list(get_.changed_cells, get_.changed_count);
    }
    /// For each of added() the local transform; empty without ESPL_WATCH_LOCAL.
    [[nodiscard]] span<const transform> added_locals() const noexcept
    {
        return list(get_.added_locals, get_.added_count);
    }
    /// For each of changed(), as added_locals().
    [[nodiscard]] span<const transform> changed_locals() const noexcept
    {
        return list(get_.changed_locals, get_.changed_count);
    }
    /// For each of changed() what changed_worlds() or added_worlds() had when it was reported last; empty
    /// without ESPL_WATCH_BEFORE.
    [[nodiscard]] span<const transform> changed_before() const noexcept
    {
        return list(get_.changed_before, get_.changed_count);
    }
    /// Tells whether nothing was removed, added or changed.
    [[nodiscard]] bool empty() const noexcept
    {
        return get_.removed_count == 0 && get_.added_count == 0 && get_.changed_count == 0;
    }
    /// Of this collect: a later one can look back to it.
    [[nodiscard]] std::uint64_t moment() const noexcept { return get_.moment; }
    /// Tells whether changed() has all entities of blocks in which some changed.
    [[nodiscard]] bool is_coarse() const noexcept { return get_.is_coarse; }

private:
    // Arrays that the watch was not made for are null.
    template <class T> static span<const T> list(const T *first, std::size_t count) noexcept
    {
        return {first, first != nullptr ? count : 0};
    }

    espl_changes get_{};
};

/// Owns a watch, by world::create_watch(). Destroy it before its world.
class [[nodiscard]] watch {
public:
    explicit watch(espl_watch *owned = nullptr) noexcept : get_(owned) {}
    [[nodiscard]] espl_watch *get() const noexcept { return get_.get(); }

    /// What changed since the last collect, or since an earlier one.
    /// @param since  0, or the changes::moment() of an earlier collect of this watch.
    result<changes> collect(std::uint64_t since = 0)
    {
        espl_changes collected{};
        const espl_status status = espl_watch_collect(get(), since, &collected);
        return {status, changes(collected)};
    }

private:
    struct destroyer {
        void operator()(espl_watch *owned) const noexcept { espl_watch_destroy(owned); }
    };
    std::unique_ptr<espl_watch, destroyer> get_;
};

} // namespace espalier

#endif
