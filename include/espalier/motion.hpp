// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: ticks that end.
///
/// Thread rule: as for the C functions of espalier/motion.h: the begin and the end of a tick are changes of the
/// world.
#ifndef ESPALIER_MOTION_HPP
#define ESPALIER_MOTION_HPP

#include <espalier/result.hpp>

namespace espalier {

/// A tick of a world, by world::begin_tick(): what is written until it ends is blended. It ends with the
/// object, which must not outlive the world.
///
///     while (lag >= step) {
///         const auto tick = world.begin_tick().value();
///         simulate(world, step);
///         lag -= step;
///     }
///     world.present(lag / step).value();
class [[nodiscard]] tick {
public:
    /// A tick that has ended.
    tick() noexcept = default;
    /// Takes over a tick that was begun by espl_tick_begin().
    explicit tick(espl_world *ticking) noexcept : get_(ticking) {}
    tick(tick &&other) noexcept : get_(std::exchange(other.get_, nullptr)) {}
    /// Ends the tick that it had, unless the other one is of the same world: its begin has ended that.
    tick &operator=(tick &&other) noexcept
    {
        espl_world *const begun = std::exchange(other.get_, nullptr);
        tick replaced(std::exchange(get_, begun));

        if (replaced.get_ == begun) {
            replaced.get_ = nullptr;
        }
        return *this;
    }
    ~tick()
    {
        if (get_ != nullptr) {
            static_cast<void>(espl_tick_end(get_));
        }
    }
    /// The world, until the tick ends.
    [[nodiscard]] espl_world *get() const noexcept { return get_; }
    /// End it now, for the status, which the destructor drops. A tick that has ended is left alone.
    result<> end() noexcept
    {
        espl_world *const ticking = std::exchange(get_, nullptr);

        return ticking != nullptr ? espl_tick_end(ticking) : ESPL_OK;
    }

private:
    espl_world *get_ = nullptr;
};

} // namespace espalier

#endif
