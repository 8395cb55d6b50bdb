// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: handles that are compared and hashed, spans, and results that are tested or throw.
///
/// Thread rule: as for any value: several threads may read an object while no thread writes it.
#ifndef ESPALIER_RESULT_HPP
#define ESPALIER_RESULT_HPP

#include <espalier/espalier.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#if defined(__has_include)
// MSVC says the version in _MSVC_LANG, and in __cplusplus where an option asks for it.
#if __has_include(<span>) && \
    (__cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L))
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

// The order of std::map and std::set. It says nothing about the entities.
inline bool operator<(espl_entity a, espl_entity b) noexcept
{
    return a.index != b.index ? a.index < b.index : a.generation < b.generation;
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
using cell_vector = std::array<std::int32_t, 3>; ///< a cell of a large world, or a number of cells
using absolute_vector = std::array<double, 3>;   ///< an absolute position in a large world

/// Consecutive values that the span does not own: std::span where the standard library has it.
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
// Throw an error, or abort where exceptions are off.
template <class Error> [[noreturn]] void refuse(const Error &why)
{
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    throw why;
#else
    static_cast<void>(why);
    std::abort();
#endif
}

// What every result has.
class outcome {
public:
    using cause = espl_status; // what it is made of

    espl_status status() const noexcept { return status_; }
    bool ok() const noexcept { return status_ >= 0; }
    explicit operator bool() const noexcept { return ok(); }
    bool has_value() const noexcept { return ok(); }
    /// The status, which is a refusal where there is no value.
    espl_status error() const noexcept { return status_; }
    /// Name of the status: "ESPL_ERR_DEAD".
    const char *name() const noexcept { return espl_status_name(status_); }
    /// What to do about it.
    const char *text() const noexcept { return espl_status_text(status_); }

protected:
    explicit outcome(espl_status status) noexcept : status_(status) {}
    void check() const
    {
        if (!ok()) {
            refuse(espalier::error(status_));
        }
    }

private:
    espl_status status_;
};
} // namespace detail

/// The status of a call and, unless it was refused, what it returns. What reads bytes returns a read_result
/// (espalier/value.hpp), whose outcome has more.
template <class T = void, class Outcome = detail::outcome> class [[nodiscard]] result : public Outcome {
public:
    using cause = typename Outcome::cause;
    result(cause why, T value) : Outcome(why), value_(std::move(value)) {}

    T &value() & { return this->check(), value_; }
    const T &value() const & { return this->check(), value_; }
    T value() && { return this->check(), std::move(value_); }
    T value_or(T otherwise) const & { return this->ok() ? value_ : std::move(otherwise); }
    T value_or(T otherwise) && { return this->ok() ? std::move(value_) : std::move(otherwise); }
    /// What a function makes of the value, which returns a result; the refusal where there is none.
    template <class F> auto and_then(F &&function) && -> decltype(function(std::declval<T>()))
    {
        using next = decltype(function(std::declval<T>()));
        return this->ok() ? std::forward<F>(function)(std::move(value_))
                          : next::refused(this->status());
    }
    /// A result without a value, of a status that is a refusal.
    static result refused(cause why) { return {why, T()}; }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    T operator*() && { return std::move(*this).value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }

private:
    T value_;
};

template <class Outcome> class [[nodiscard]] result<void, Outcome> : public Outcome {
public:
    using cause = typename Outcome::cause;
    result(cause why) noexcept : Outcome(why) {}

    static result refused(cause why) noexcept { return why; }
    /// Throw where the call was refused.
    void value() const { this->check(); }
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

} // namespace espalier

#endif
