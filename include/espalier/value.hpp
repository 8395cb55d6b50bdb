// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: images and archives, which own their bytes, the results of reading them, and how an
/// archive is read.
///
/// Thread rule: as for the C functions of espalier/image.h and espalier/archive.h: saving and writing read the
/// world, loading and reading change it. Functions of the program that they call run on the thread of the call,
/// and must not call the library.
#ifndef ESPALIER_VALUE_HPP
#define ESPALIER_VALUE_HPP

#include <espalier/query.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

// --- Bytes ---

namespace detail {
template <class T>
inline constexpr bool is_byte = std::is_same_v<T, char> || std::is_same_v<T, signed char> ||
                                std::is_same_v<T, unsigned char> || std::is_same_v<T, std::byte>;
} // namespace detail

/// Bytes that it does not own: of an image, an archive, or any container of chars, unsigned chars or
/// std::bytes.
class byte_view {
public:
    constexpr byte_view() noexcept = default;
    constexpr byte_view(const void *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <class C, class = std::enable_if_t<detail::is_byte<std::remove_cv_t<
                           std::remove_pointer_t<decltype(std::declval<const C &>().data())>>>>>
    byte_view(const C &container) noexcept : data_(container.data()), size_(container.size())
    {
    }
    /// Never null, as no container is: one without elements is empty bytes.
    [[nodiscard]] const void *data() const noexcept { return data_ != nullptr ? data_ : ""; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    const void *data_ = nullptr;
    std::size_t size_ = 0;
};

/// Bytes that it owns, without zeros where it grows, as a container. It takes no memory for fewer bytes than it
/// had before.
class buffer {
public:
    buffer() noexcept = default;
    /// The other one is empty after that.
    buffer(buffer &&other) noexcept { swap(other); }
    buffer &operator=(buffer &&other) noexcept
    {
        buffer taken(std::move(other));

        swap(taken);
        return *this;
    }
    ~buffer() = default;
    void swap(buffer &other) noexcept
    {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    [[nodiscard]] std::byte *data() noexcept { return bytes_.get(); }
    [[nodiscard]] const std::byte *data() const noexcept { return bytes_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::byte *begin() noexcept { return data(); }
    [[nodiscard]] std::byte *end() noexcept { return data() + size_; }
    [[nodiscard]] const std::byte *begin() const noexcept { return data(); }
    [[nodiscard]] const std::byte *end() const noexcept { return data() + size_; }
    /// Set the size, to read a file into it for example. New bytes are unspecified.
    /// @return false: there is no memory, and it is as before.
    [[nodiscard]] bool resize(std::size_t size) noexcept
    {
        if (size > capacity_ && !grow(size)) {
            return false;
        }
        size_ = size;
        return true;
    }
    /// Append bytes. @return as resize().
    [[nodiscard]] bool append(byte_view more) noexcept
    {
        const std::size_t end = size_;

        if (more.size() > capacity_ - end && !grow(end + (more.size() > end ? more.size() : end))) {
            return false;
        }
        if (more.size() != 0) {
            std::memcpy(data() + end, more.data(), more.size());
        }
        size_ = end + more.size();
        return true;
    }

private:
    struct freer {
        void operator()(std::byte *bytes) const noexcept { std::free(bytes); }
    };
    bool grow(std::size_t capacity) noexcept
    {
        void *const grown = std::realloc(bytes_.get(), capacity);

        if (grown == nullptr) {
            return false;
        }
        static_cast<void>(bytes_.release());
        bytes_.reset(static_cast<std::byte *>(grown));
        capacity_ = capacity;
        return true;
    }

    std::unique_ptr<std::byte[], freer> bytes_;
    std::size_t size_ = 0, capacity_ = 0;
};

/// A whole world exactly, for this build's layout: world::save_image(), world::load_image().
class [[nodiscard]] image : public buffer {};
/// Hierarchies as bytes that any build reads: world::write_archive(), world::read_archive().
class [[nodiscard]] archive : public buffer {};

/// A number for the layout of images: equal in two builds that read each other's images.
[[nodiscard]] inline std::uint64_t image_layout() noexcept
{
    return espl_image_layout();
}

// --- Results ---

/// What value() throws where bytes were refused: an image, or an archive.
class format_error : public error {
public:
    format_error(espl_status status, const espl_format_fault &fault) noexcept
        : error(status), fault_(fault)
    {
    }
    /// The byte from which on they are not understood.
    std::uint64_t offset() const noexcept { return fault_.offset; }
    /// Says what is wrong with them.
    const char *what() const noexcept override { return fault_.sentence; }

private:
    espl_format_fault fault_;
};

namespace detail {
// What a result of reading bytes has.
class read_outcome : public outcome {
public:
    struct cause {
        cause(espl_status answer, const espl_format_fault &wrong = {}) noexcept
            : status(answer), fault(wrong)
        {
        }
        espl_status status;
        espl_format_fault fault;
    };
    /// Why the bytes were refused, and at which one; without a sentence nothing is wrong with them.
    const espl_format_fault &fault() const noexcept { return fault_; }

protected:
    explicit read_outcome(const cause &why) noexcept : outcome(why.status), fault_(why.fault) {}
    void check() const
    {
        if (!ok() && fault_.sentence != nullptr) {
            refuse(format_error(status(), fault_));
        }
        outcome::check();
    }

private:
    espl_format_fault fault_;
};

// Keeps an exception of a function of the program from the C functions that call it, for later.
class catcher {
public:
    // Call a function; false where it returns that or throws.
    template <class F> bool call(F &&function) noexcept
    {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
        try {
            return function();
        } catch (...) {
            thrown_ = std::current_exception();
            return false;
        }
#else
        return function();
#endif
    }
    // Throw what a function has thrown.
    void rethrow()
    {
        if (thrown_ != nullptr) {
            std::rethrow_exception(std::exchange(thrown_, nullptr));
        }
    }

private:
    std::exception_ptr thrown_;
};
} // namespace detail

/// The result of a call that reads bytes. Where they are refused, fault() says why, and value() throws
/// espalier::format_error.
template <class T = void> using read_result = result<T, detail::read_outcome>;

// --- Archives ---

/// Check the checksums of an archive, and return what its head has. `user` points into the bytes.
inline read_result<espl_archive_info> inspect_archive(byte_view bytes)
{
    espl_archive_info info{};
    espl_format_fault fault{};
    const espl_status status = espl_archive_inspect(bytes.data(), bytes.size(), &info, &fault);
    return {{status, fault}, info};
}

/// What an archive was read into.
struct archive_entities {
    /// In the order of the archive: each root comes before what is below it, breadth-first.
    std::vector<entity> all;
    std::vector<entity> tops;
};

/// An archive whose entities live in the world, as the last read or apply of it returned them. It owns neither.
struct known_archive {
    byte_view bytes;
    span<const entity> entities;

    /// What the C function takes.
    [[nodiscard]] espl_archive_known def() const noexcept
    {
        return {bytes.data(), bytes.size(), entities.data(), entities.size()};
    }
};

/// How to read an archive; by default strictly, and without a parent. Components that changed are migrated:
///
///     espalier::read_options options;
///     options.under(scene).limit(100'000).drop("debug").rename("hp", health);
///     options.migrate<rounds>("ammo", ammos, [](const rounds &old) { return ammo{old.count, 0}; });
///     const auto read = world.read_archive(bytes, options).value();
class read_options {
public:
    /// The roots of the archive become children of an entity, with their locals.
    read_options &under(entity parent) noexcept { return parent_ = parent, *this; }
    /// Leave components out that are not registered, instead of refusing the archive.
    read_options &skip_unknown() noexcept { return flags_ |= ESPL_ARCHIVE_SKIP_UNKNOWN, *this; }
    /// Refuse an archive of more entities.
    read_options &limit(std::size_t entities) noexcept { return limit_ = entities, *this; }
    /// Leave a component of the archive out.
    read_options &drop(const char *name) { return add(name, 0, nullptr, nullptr); }
    /// A component of the archive becomes one of the world by its bytes. The sizes must be equal.
    read_options &rename(const char *name, espl_component to)
    {
        return add(name, to, nullptr, nullptr);
    }
    template <class T> read_options &rename(const char *name, component<T> to)
    {
        return rename(name, to.number);
    }
    /// A component of the archive becomes one of the world by a function of an Old, which returns a New, or a
    /// std::optional of it: with none the archive is refused, as it is where a value has not the size of
    /// an Old. References follow by themselves: those in an Old are null, and those in a New do not count.
    template <class Old, class New, class F>
    read_options &migrate(const char *name, component<New> to, F function)
    {
        using made = migration<Old, New, F>;
        return add(name, to.number, made::run, std::make_unique<made>(std::move(function)));
    }

    /// What the C function takes: valid as long as the options are, and are unchanged.
    [[nodiscard]] espl_archive_read_def def() const noexcept
    {
        espl_archive_read_def d{};

        d.parent = parent_;
        d.flags = flags_;
        d.migrations = migrations_.data();
        d.migration_count = migrations_.size();
        d.node_limit = limit_;
        return d;
    }
    /// Throw what a function of migrate() has thrown in the last read.
    void rethrow() const
    {
        for (const auto &each : functions_) {
            if (each != nullptr) {
                each->caught.rethrow();
            }
        }
    }

private:
    using convert = bool (*)(void *, const espl_archive_value *, void *);

    struct any_migration {
        detail::catcher caught;
        virtual ~any_migration() = default;
    };
    template <class Old, class New, class F> struct migration : any_migration {
        static_assert(std::is_trivially_copyable_v<Old>, "values are bytes");
        F function;

        explicit migration(F moved) : function(std::move(moved)) {}
        static bool run(void *user, const espl_archive_value *from, void *to)
        {
            auto *const self = static_cast<migration *>(static_cast<any_migration *>(user));

            return self->caught.call([&] { return self->make(*from, to); });
        }
        bool make(const espl_archive_value &from, void *to)
        {
            Old old{};

            if (from.size != component<Old>::size()) {
                return false;
            }
            if (from.size != 0) {
                std::memcpy(&old, from.data, from.size);
            }
            // A New that is returned becomes an optional, which is never empty.
            const std::optional<New> value = function(static_cast<const Old &>(old));

            if (value && component<New>::size() != 0) {
                std::memcpy(to, &*value, component<New>::size());
            }
            return value.has_value();
        }
    };

    read_options &add(const char *name, espl_component to, convert function,
                      std::unique_ptr<any_migration> called)
    {
        names_.push_back(std::make_unique<std::string>(name));
        functions_.push_back(std::move(called));
        espl_archive_migration added{};

        added.name = names_.back()->c_str();
        added.to = to;
        added.convert = function;
        added.user = functions_.back().get();
        migrations_.push_back(added);
        return *this;
    }

    entity parent_{};
    std::uint32_t flags_ = 0;
    std::size_t limit_ = 0;
    std::vector<espl_archive_migration> migrations_;
    std::vector<std::unique_ptr<std::string>> names_; // their addresses stay
    std::vector<std::unique_ptr<any_migration>> functions_;
};

namespace detail {
// Call a function of C with a sink, which passes bytes to a function of the program as a span. The function
// refuses them by false or by an exception; one that returns nothing takes them.
template <class Write, class Sink> espl_status write_to(Sink &function, Write &&write)
{
    struct context {
        Sink *function;
        catcher caught;
    } to{&function, {}};
    espl_sink sink{};

    sink.user = &to;
    sink.write = [](void *user, const void *bytes, std::size_t size) {
        auto *const given = static_cast<context *>(user);
        const span<const std::byte> piece(static_cast<const std::byte *>(bytes), size);

        return given->caught.call([&]() -> bool {
            if constexpr (std::is_void_v<decltype((*given->function)(piece))>) {
                return (*given->function)(piece), true;
            } else {
                return (*given->function)(piece);
            }
        });
    };
    const espl_status status = write(&sink);
    to.caught.rethrow();
    return status;
}

// The same into memory.
template <class Write> espl_status write_into(buffer &made, Write &&write)
{
    const auto append = [&](span<const std::byte> piece) { return made.append(piece); };
    const espl_status status = write_to(append, write);
    return status == ESPL_ERR_SINK ? ESPL_ERR_NO_MEMORY : status;
}

inline result<archive> write_archive(const espl_world *world, const espl_archive_def *def)
{
    archive made;
    const espl_status status = write_into(
        made, [&](const espl_sink *sink) { return espl_archive_write(world, def, sink); });
    return {status, std::move(made)};
}

// Read an archive, or apply it, by a function that takes the definition and a fault.
template <class Read>
read_result<archive_entities> read_archive(byte_view bytes, const read_options &options, Read &&read)
{
    const auto info = inspect_archive(bytes);
    archive_entities made;
    espl_archive_read_def def = options.def();
    espl_format_fault fault{};

    if (!info) {
        return {{info.status(), info.fault()}, {}};
    }
    made.all.resize(info->nodes);
    made.tops.resize(info->tops);
    def.entities = made.all.data(), def.capacity = made.all.size();
    def.tops = made.tops.data(), def.top_capacity = made.tops.size();
    const espl_status status = read(&def, &fault);
    options.rethrow();
    return {{status, fault}, std::move(made)};
}
inline read_result<archive_entities> read_archive(espl_world *world, byte_view bytes,
                                                  const read_options &options)
{
    return read_archive(bytes, options, [&](const auto *def, auto *fault) {
        return espl_archive_read(world, bytes.data(), bytes.size(), def, fault);
    });
}

inline read_result<archive_entities> apply_archive(espl_world *world, byte_view bytes,
                                                   const read_options &options,
                                                   const known_archive *known)
{
    const espl_archive_known last = known != nullptr ? known->def() : espl_archive_known{};
    return read_archive(bytes, options, [&](const auto *def, auto *fault) {
        return espl_archive_apply(world, bytes.data(), bytes.size(), def,
                                  known != nullptr ? &last : nullptr, fault);
    });
}
} // namespace detail

// --- Deltas ---

/// Return the delta by which one archive becomes another one. It is small where both have handles.
inline read_result<buffer> diff_archives(byte_view before, byte_view after)
{
    buffer delta;
    espl_format_fault fault{};
    const espl_status status = detail::write_into(delta, [&](const espl_sink *sink) {
        return espl_archive_delta(before.data(), before.size(), after.data(), after.size(), sink,
                                  &fault);
    });
    return {{status, fault}, std::move(delta)};
}
/// Return the archive that `before` becomes by a delta, byte for byte.
/// @return ESPL_ERR_GAP: the delta is for another archive.
inline read_result<archive> patch_archive(byte_view before, byte_view delta)
{
    archive after;
    espl_format_fault fault{};
    const espl_status status = detail::write_into(after, [&](const espl_sink *sink) {
        return espl_archive_patch(before.data(), before.size(), delta.data(), delta.size(), sink,
                                  &fault);
    });
    return {{status, fault}, std::move(after)};
}

} // namespace espalier

#endif
