// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: the children of an entity as a range.
///
/// Thread rule: as for the C functions of espalier/tree.h that read: any thread while none changes the world.
#ifndef ESPALIER_CHILDREN_HPP
#define ESPALIER_CHILDREN_HPP

#include <espalier/result.hpp>

#include <iterator>

namespace espalier {

/// The children of an entity, for a range-based loop. Structural calls end its validity.
class children_range {
public:
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = entity;
        using difference_type = std::ptrdiff_t;
        using pointer = const entity *;
        using reference = entity;

        iterator() noexcept = default;
        iterator(const espl_world *of, entity at) noexcept : world_(of), at_(at) {}
        entity operator*() const noexcept { return at_; }
        iterator &operator++() noexcept
        {
            at_ = espl_get_next_sibling(world_, at_);
            return *this;
        }
        iterator operator++(int) noexcept
        {
            const iterator before = *this;

            ++*this;
            return before;
        }
        bool operator==(const iterator &other) const noexcept { return at_ == other.at_; }
        bool operator!=(const iterator &other) const noexcept { return at_ != other.at_; }

    private:
        const espl_world *world_ = nullptr;
        entity at_{};
    };
    children_range(const espl_world *of, entity parent) noexcept : world_(of), parent_(parent) {}
    [[nodiscard]] iterator begin() const noexcept
    {
        return {world_, espl_get_first_child(world_, parent_)};
    }
    [[nodiscard]] iterator end() const noexcept { return {world_, espl_entity_null()}; }

private:
    const espl_world *world_;
    entity parent_;
};

} // namespace espalier

#endif
