// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: worker threads that a program owns, and what their jobs write with.
///
/// Thread rule: as for the C functions of espalier/jobs.h and espalier/writers.h.
#ifndef ESPALIER_EXECUTOR_HPP
#define ESPALIER_EXECUTOR_HPP

#include <espalier/result.hpp>

namespace espalier {

/// Owns worker threads, on which worlds run parallel work. Destroy it after those worlds.
class [[nodiscard]] executor {
public:
    /// @param workers  the calling thread included; 0: one for each processor.
    static result<executor> make(std::uint32_t workers = 0, espl_idle idle = ESPL_IDLE_SLEEP)
    {
        espl_threads_def def{};
        executor made;

        def.workers = workers;
        def.idle = idle;
        const espl_status status = espl_executor_create(&def, &made.get_);
        return {status, std::move(made)};
    }
    /// Serial: the calling thread alone.
    executor() noexcept = default;
    executor(executor &&other) noexcept : get_(std::exchange(other.get_, espl_executor{})) {}
    executor &operator=(executor &&other) noexcept
    {
        std::swap(get_, other.get_);
        return *this;
    }
    ~executor() { espl_executor_destroy(&get_); }
    /// What espl_world_def.executor takes.
    [[nodiscard]] const espl_executor &get() const noexcept { return get_; }

private:
    espl_executor get_ = {};
};

/// What a job of world::each_parallel() writes the hierarchies of its rows with, until its function returns.
class writer {
public:
    explicit writer(espl_writer *get) noexcept : get_(get) {}
    [[nodiscard]] espl_writer *get() const noexcept { return get_; }
    /// Number of the job. A job may record into the lane of this number.
    [[nodiscard]] std::uint32_t job() const noexcept { return espl_writer_job(get_); }
    result<> set_local(entity target, const transform &local) const
    {
        return write(target, ESPL_WRITE_LOCAL_TRANSFORM, &local);
    }
    result<> set_global(entity target, const transform &global) const
    {
        return write(target, ESPL_WRITE_WORLD_TRANSFORM, &global);
    }
    /// Any kind of write: `value` points to what espalier/write.h says for the kind.
    result<> write(entity target, espl_write_kind kind, const void *value,
                   const char *site = nullptr) const
    {
        return espl_writer_write(get_, target, kind, value, site);
    }

private:
    espl_writer *get_;
};

} // namespace espalier

#endif
