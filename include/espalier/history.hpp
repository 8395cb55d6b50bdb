// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: a class that owns a history, and what a rewind did.
///
/// Thread rule: as for the C functions of espalier/history.h: marks and rewinds are changes of the world, and
/// structural; range() and hash() are reads.
#ifndef ESPALIER_HISTORY_HPP
#define ESPALIER_HISTORY_HPP

#include <espalier/result.hpp>

#include <memory>
#include <optional>

namespace espalier {

/// What a rewind did: arrays of the history, valid until its next mark or rewind, or its end.
class rewound {
public:
    rewound() noexcept = default;
    explicit rewound(const espl_rewind &report) noexcept : get_(report) {}
    [[nodiscard]] const espl_rewind &get() const noexcept { return get_; }

    /// Handles that lived before the rewind and do not now, ascending by index.
    [[nodiscard]] span<const entity> unborn() const noexcept
    {
        return {get_.unborn, get_.unborn_count};
    }
    /// Handles that live now and did not before, ascending by index.
    [[nodiscard]] span<const entity> revived() const noexcept
    {
        return {get_.revived, get_.revived_count};
    }

private:
    espl_rewind get_{};
};

/// Owns a history, by world::create_history(). Destroy it before its world, and not while a query is open.
///
///     auto history = world.create_history().value();
///     for (std::uint64_t frame = 0;; ++frame) {
///         history.mark(frame).value();
///         if (const auto late = inputs.earliest_wrong_one()) {
///             (void)history.rewind(frame = *late).value(); // and simulate from there once more
///         }
///         simulate(world, inputs.of(frame));
///     }
class [[nodiscard]] history {
public:
    explicit history(espl_history *owned = nullptr) noexcept : get_(owned) {}
    [[nodiscard]] espl_history *get() const noexcept { return get_.get(); }

    /// Mark the world as it is now.
    /// @param frame  any number above that of the newest frame.
    /// @return as espl_history_mark(). ESPL_PARTLY: the frame is marked and is the only one, because what
    ///         changed since the newest frame alone takes more than `byte_limit` bytes.
    result<> mark(std::uint64_t frame) { return espl_history_mark(get(), frame); }
    /// Make the world what it was when a frame was marked, which is the newest one then.
    /// @param flags  ESPL_REWIND_FRESH or 0.
    /// @return as espl_history_rewind(). ESPL_ERR_TOO_OLD: the history does not have the frame.
    result<rewound> rewind(std::uint64_t frame, std::uint32_t flags = 0)
    {
        espl_rewind report{};
        const espl_status status = espl_history_rewind(get(), frame, flags, &report);
        return {status, rewound(report)};
    }
    /// The oldest and the newest frame of the history, or nothing where it has none.
    [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> range() const noexcept
    {
        std::pair<std::uint64_t, std::uint64_t> frames;

        if (!espl_history_range(get(), &frames.first, &frames.second)) {
            return std::nullopt;
        }
        return frames;
    }
    /// The checksum of a frame, of a history with ESPL_HISTORY_HASH: espl_history_hash().
    result<std::uint64_t> hash(std::uint64_t frame) const
    {
        std::uint64_t sum = 0;
        const espl_status status = espl_history_hash(get(), frame, &sum);
        return {status, sum};
    }

private:
    struct destroyer {
        void operator()(espl_history *owned) const noexcept { espl_history_destroy(owned); }
    };
    std::unique_ptr<espl_history, destroyer> get_;
};

} // namespace espalier

#endif
