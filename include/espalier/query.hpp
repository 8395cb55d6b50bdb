// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: typed components, the columns of queries, and filters.
///
/// Thread rule: as for any value: several threads may read an object while no thread writes it. Use a
/// column on the thread of its iteration.
#ifndef ESPALIER_QUERY_HPP
#define ESPALIER_QUERY_HPP

#include <espalier/result.hpp>

#include <tuple>

namespace espalier {

/// A column that a query reads, or writes.
template <class T> struct reading {
    espl_component number;
};
template <class T> struct writing {
    espl_component number;
};
/// The world transforms that a query reads: one `poses` object for each chunk.
struct reading_poses {
    espl_component number = ESPL_TRANSFORM;
};

/// World transforms of the rows of a chunk. Writes to hierarchies change what it shows.
class poses {
public:
  explicit poses(const espl_query &query) noexcept
      : worlds_(query.world_poses), slots_(query.slots), size_(query.count)
  {
  }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    const espl_pose &operator[](std::size_t row) const noexcept { return worlds_[slots_[row]]; }

private:
    const espl_pose *worlds_;
    const std::uint32_t *slots_;
    std::size_t size_;
};

/// A registered component of a type. Its values are copied and moved by bytes.
template <class T> struct component {
    static_assert(std::is_trivially_copyable_v<T>, "components are copied and moved by bytes");
    espl_component number = 0;

    /// The component with a value, which must live until the call that takes both returns.
    [[nodiscard]] espl_component_value with(const T &value) const noexcept
    {
        return {number, size(), &value};
    }
    [[nodiscard]] reading<T> read() const noexcept { return {number}; }
    [[nodiscard]] writing<T> write() const noexcept { return {number}; }
    /// An empty type is a tag, which has no bytes.
    static constexpr std::size_t size() noexcept { return std::is_empty_v<T> ? 0 : sizeof(T); }
    friend bool operator==(component a, component b) noexcept { return a.number == b.number; }
    friend bool operator!=(component a, component b) noexcept { return a.number != b.number; }
};

namespace detail {
inline espl_component number(espl_component component) noexcept
{
    return component;
}
template <class T> espl_component number(component<T> c) noexcept
{
    return c.number;
}
} // namespace detail

/// Which rows a query finds beside those that have its columns: filter().without(hidden).changed(since,
/// speed). Each takes components of any type and numbers such as ESPL_ROOT. With more than
/// ESPL_TERM_LIMIT components in all the query is refused with ESPL_ERR_LIMIT.
class filter {
public:
    /// The entity has each of these.
    template <class... Components> filter &with(Components... components) noexcept
    {
        return all_.add(detail::number(components)...), *this;
    }
    /// It has none of these.
    template <class... Components> filter &without(Components... components) noexcept
    {
        return none_.add(detail::number(components)...), *this;
    }
    /// It has at least one of these.
    template <class... Components> filter &any_of(Components... components) noexcept
    {
        return any_.add(detail::number(components)...), *this;
    }
    /// One of these columns of its chunk was written after a version: see world::version().
    template <class... Components>
    filter &changed(std::uint64_t since, Components... components) noexcept
    {
        since_ = since;
        return changed_.add(detail::number(components)...), *this;
    }
    /// ESPL_INCLUDE_PREFABS, ESPL_INCLUDE_DISABLED.
    filter &include(std::uint32_t bits) noexcept { return include_ |= bits, *this; }

    /// What the C functions take: valid as long as the filter is, and is unchanged.
    [[nodiscard]] espl_query_def def() const noexcept
    {
        espl_query_def d{};

        d.all = all_.numbers.data(), d.all_count = all_.count;
        d.none = none_.numbers.data(), d.none_count = none_.count;
        d.any = any_.numbers.data(), d.any_count = any_.count;
        d.changed = changed_.numbers.data(), d.changed_count = changed_.count;
        d.since = since_;
        d.include = include_;
        return d;
    }
    /// Tells whether a list has more components than any query can name.
    [[nodiscard]] bool is_too_long() const noexcept
    {
        return all_.is_too_long || none_.is_too_long || any_.is_too_long || changed_.is_too_long;
    }

private:
    struct list {
        std::array<espl_component, ESPL_TERM_LIMIT> numbers{};
        std::size_t count = 0;
        bool is_too_long = false;

        template <class... Numbers> void add(Numbers... more) noexcept
        {
            (add_one(more), ...);
        }
        void add_one(espl_component number) noexcept
        {
            if (count == numbers.size()) {
                is_too_long = true;
            } else {
                numbers[count++] = number;
            }
        }
    };
    list all_, none_, any_, changed_;
    std::uint64_t since_ = 0;
    std::uint32_t include_ = 0;
};

namespace detail {
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
    static_assert(!std::is_empty_v<T>, "a tag has no column: name it in filter().with()");
    return {static_cast<const T *>(espl_query_read(&query, column.number, sizeof(T))), query.count};
}
template <class T> span<T> column(const espl_query &query, writing<T> column)
{
    static_assert(!std::is_empty_v<T>, "a tag has no column: name it in filter().with()");
    return {static_cast<T *>(espl_query_write(&query, column.number, sizeof(T))), query.count};
}
inline poses column(const espl_query &query, reading_poses)
{
    return poses(query);
}

template <class Column> struct is_written : std::false_type {};
template <class T> struct is_written<writing<T>> : std::true_type {};

// Call a function for the rows that a query shows.
template <class F, class... Columns>
void show(const espl_query &query, F &function, Columns... columns)
{
    function(span<const entity>{query.entities, query.count}, column(query, columns)...);
}

// Make a function of rows one of a chunk.
template <class F> auto for_rows(F &function)
{
    return [&function](span<const entity> entities, auto... columns) {
        for (std::size_t row = 0; row < entities.size(); ++row) {
            function(entities[row], columns[row]...);
        }
    };
}

// What a parallel write passes to each call: the function takes a writer, entities and columns.
template <class Writer, class F, class... Columns> struct parallel_call {
    F *function;
    std::tuple<Columns...> columns;

    // An exception cannot pass the C functions between: it terminates.
    static void run(espl_writer *writer, const espl_query *rows, void *context) noexcept
    {
        const auto *const call = static_cast<const parallel_call *>(context);

        std::apply(
            [&](auto... each) {
                (*call->function)(Writer(writer), span<const entity>{rows->entities, rows->count},
                                  column(*rows, each)...);
            },
            call->columns);
    }
};
} // namespace detail

} // namespace espalier

#endif
