// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: renderables that own, mirrors of them, and what cameras see.
///
///     auto drawn = world.create_renderables().value();
///     world.create(espalier::at(0, 0, -9), drawn.bounds().with({{0, 0, 0}, {1, 1, 1}}),
///                  drawn.renderable().with({mesh, 0, 0})).value();
///     auto seen = espalier::visible::make().value();
///     ...
///     drawn.update().value();
///     seen.cull(drawn.acquire(), espalier::camera_of(matrix).value()).value();
///     seen.write(0, espalier::instances().matrices(mapped)).value(); // 12 * seen.count(0) floats or more
///     for (const espl_group &group : seen.groups(0)) { draw(group.key, group.first, group.count); }
///
/// Thread rule: as for the C functions of espalier/renderables.h: update() and add_lods() are changes of the
/// world; mirrors, results and acquire() belong to the thread that reads.
#ifndef ESPALIER_RENDERABLES_HPP
#define ESPALIER_RENDERABLES_HPP

#include <espalier/executor.hpp>
#include <espalier/query.hpp>
#include <espalier/renderables.h>
#include <espalier/result.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace espalier {

/// Arrays that instances are written into. Each array that is named gets a number, a pose or a handle for each
/// instance, and needs room for all of them.
class instances {
public:
    /// Poses.
    /// @param form    of previous() too.
    /// @param stride  bytes from one to the next; 0: as many as the form has.
    instances &matrices(span<float> out, espl_instance_form form = ESPL_INSTANCE_3X4,
                        std::size_t stride = 0) noexcept
    {
        matrices_ = out;
        has_matrices_ = true;
        arrays_.matrices = out.data();
        arrays_.matrix_stride = stride;
        arrays_.form = form;
        return *this;
    }
    /// Poses of the mirror before, for motion vectors.
    instances &previous(span<float> out, std::size_t stride = 0) noexcept
    {
        previous_ = out;
        has_previous_ = true;
        arrays_.previous = out.data();
        arrays_.previous_stride = stride;
        return *this;
    }
    instances &entities(span<entity> out) noexcept
    {
        arrays_.entities = out.data();
        return limit(out.size());
    }
    /// espl_renderable.user_data
    instances &user_data(span<std::uint32_t> out) noexcept
    {
        arrays_.user_data = out.data();
        return limit(out.size());
    }
    /// Pixels on the image. visible::write() alone writes them.
    instances &sizes(span<float> out) noexcept
    {
        arrays_.sizes = out.data();
        return limit(out.size());
    }
    /// The cells of the hierarchies, in a world with cells.
    instances &cells(span<cell_vector> out) noexcept
    {
        arrays_.cells = reinterpret_cast<std::int32_t (*)[3]>(out.data());
        return limit(out.size());
    }
    /// Workers that visible::write() uses, of an executor that outlives it.
    instances &workers(const executor &on) noexcept
    {
        arrays_.executor = &on.get();
        return *this;
    }
    /// How many instances all of the arrays have room for.
    [[nodiscard]] std::size_t room() const noexcept
    {
        std::size_t room = room_;

        if (has_matrices_) {
            room = std::min(room, poses_in(matrices_.size(), arrays_.matrix_stride));
        }
        if (has_previous_) {
            room = std::min(room, poses_in(previous_.size(), arrays_.previous_stride));
        }
        return room;
    }
    /// What the C functions take, valid as long as the arrays are.
    [[nodiscard]] const espl_instance_arrays &get() const noexcept
    {
        return arrays_;
    }

private:
    instances &limit(std::size_t size) noexcept
    {
        room_ = std::min(room_, size);
        return *this;
    }
    [[nodiscard]] std::size_t poses_in(std::size_t floats, std::size_t stride) const noexcept
    {
        const std::size_t pose = arrays_.form == ESPL_INSTANCE_4X4    ? 16
                                 : arrays_.form == ESPL_INSTANCE_POSE ? 8
                                                                      : 12;
        const std::size_t step = stride == 0 ? pose : stride / sizeof(float);

        // A stride that is too small is refused by the C function.
        return floats < pose ? 0 : (floats - pose) / std::max<std::size_t>(step, 1) + 1;
    }

    espl_instance_arrays arrays_{};
    span<float> matrices_, previous_;
    std::size_t room_ = SIZE_MAX;
    bool has_matrices_ = false, has_previous_ = false;
};

/// All renderables as they were at one update, by renderables::acquire(), which says how long it is valid. None
/// before the first update.
class mirror {
public:
    explicit mirror(const espl_mirror *get = nullptr) noexcept : get_(get)
    {
    }
    [[nodiscard]] const espl_mirror *get() const noexcept
    {
        return get_;
    }
    explicit operator bool() const noexcept
    {
        return get_ != nullptr;
    }

    /// Its number, counts, and the bytes of the program; all zero without a mirror.
    [[nodiscard]] espl_mirror_description describe() const noexcept
    {
        espl_mirror_description description{};

        espl_mirror_describe(get_, &description);
        return description;
    }
    /// The clusters that differ from an earlier mirror, ascending.
    /// @param since  its number; 0: all clusters that have renderables.
    [[nodiscard]] std::vector<std::uint32_t> changed(std::uint64_t since = 0) const
    {
        std::vector<std::uint32_t> clusters(espl_mirror_changed(get_, since, 0, nullptr));

        espl_mirror_changed(get_, since, clusters.size(), clusters.data());
        return clusters;
    }
    /// Write the renderables of one cluster, and return how many there are.
    /// @param out  with room for ESPL_CLUSTER_SIZE instances; else ESPL_ERR_ARGUMENT.
    result<std::size_t> write(std::uint32_t cluster, const instances &out) const
    {
        std::size_t count = 0;

        if (out.room() < ESPL_CLUSTER_SIZE) {
            return {ESPL_ERR_ARGUMENT, 0};
        }
        const espl_status status = espl_mirror_write(get_, cluster, &out.get(), &count);
        return {status, count};
    }

private:
    const espl_mirror *get_;
};

/// A camera with all layers, of the matrix from world to clip space: 4 columns of 4.
inline result<espl_camera> camera_of(const std::array<float, 16> &matrix,
                                     espl_clip clip = ESPL_CLIP_ZERO_TO_ONE)
{
    espl_camera camera{};
    const espl_status status = espl_camera_from_matrix(matrix.data(), clip, &camera);
    return {status, camera};
}

/// Owns the memory of results: what cameras see of a mirror.
class [[nodiscard]] visible {
public:
    /// @param allocator  null: malloc and free.
    static result<visible> make(const espl_allocator *allocator = nullptr)
    {
        espl_visible *made = nullptr;
        const espl_status status = espl_visible_create(allocator, &made);
        return {status, visible(made)};
    }
    explicit visible(espl_visible *owned = nullptr) noexcept : get_(owned)
    {
    }
    [[nodiscard]] espl_visible *get() const noexcept
    {
        return get_.get();
    }

    /// Find what each camera sees: espl_cull(). The mirror must stay valid until write().
    result<> cull(mirror of, span<const espl_camera> cameras, const espl_cull_def *def = nullptr)
    {
        return espl_cull(get(), of.get(), cameras.data(), cameras.size(), def);
    }
    result<> cull(mirror of, const espl_camera &camera, const espl_cull_def *def = nullptr)
    {
        return espl_cull(get(), of.get(), &camera, 1, def);
    }
    /// The groups of a camera of the last cull(), by key; none where there is no such camera. Valid until the
    /// next cull().
    [[nodiscard]] span<const espl_group> groups(std::size_t camera = 0) const noexcept
    {
        std::size_t count = 0;
        const espl_group *const first = espl_visible_groups(get(), camera, &count);

        return {first, count};
    }
    /// How many renderables a camera of the last cull() sees.
    [[nodiscard]] std::size_t count(std::size_t camera = 0) const noexcept
    {
        const span<const espl_group> all = groups(camera);

        return all.empty() ? 0 : std::size_t{all[all.size() - 1].first} + all[all.size() - 1].count;
    }
    /// Write what a camera sees, in the order of its groups.
    /// @param out  with room for count(camera) instances; else ESPL_ERR_ARGUMENT.
    result<> write(std::size_t camera, const instances &out) const
    {
        return out.room() < count(camera) ? ESPL_ERR_ARGUMENT
                                          : espl_visible_write(get(), camera, &out.get());
    }

private:
    struct destroyer {
        void operator()(espl_visible *owned) const noexcept
        {
            espl_visible_destroy(owned);
        }
    };
    std::unique_ptr<espl_visible, destroyer> get_;
};

/// Owns the renderables of a world, by world::create_renderables(). Destroy it before its world, and not while
/// a query is open.
class [[nodiscard]] renderables {
public:
    renderables() noexcept = default;
    /// Takes over renderables of a world.
    renderables(const espl_world *of, espl_renderables *owned) noexcept
        : get_(owned), bounds_{espl_component_find(of, "bounds")},
          renderable_{espl_component_find(of, "renderable")}, layers_{
                                                                  espl_component_find(of, "layers")}
    {
    }
    [[nodiscard]] espl_renderables *get() const noexcept
    {
        return get_.get();
    }

    /// The components of its world.
    [[nodiscard]] component<espl_bounds> bounds() const noexcept
    {
        return bounds_;
    }
    [[nodiscard]] component<espl_renderable> renderable() const noexcept
    {
        return renderable_;
    }
    [[nodiscard]] component<espl_layers> layers() const noexcept
    {
        return layers_;
    }

    /// Reserve memory for updates of so many renderables in all.
    result<> reserve(std::size_t count)
    {
        return espl_renderables_reserve(get(), count);
    }
    /// Publish a mirror of the world as it is now: espl_renderables_update().
    /// @param user  as many bytes as espl_renderables_def.user_size says; null: zeros.
    /// @return ESPL_PARTLY: some entities are left out, see espl_renderables_report.bad.
    result<espl_renderables_report> update(const void *user = nullptr)
    {
        espl_renderables_report report{};
        const espl_status status = espl_renderables_update(get(), user, &report);
        return {status, report};
    }
    /// The newest mirror. It is valid until the next acquire() of the thread that reads; where
    /// espl_renderables_def.readers is 0, until the next update().
    mirror acquire() noexcept
    {
        return mirror(espl_renderables_acquire(get()));
    }
    /// A key with levels of detail, for espl_renderable.key.
    result<std::uint32_t> add_lods(const espl_lods &lods)
    {
        std::uint32_t key = 0;
        const espl_status status = espl_renderables_add_lods(get(), &lods, &key);
        return {status, key};
    }

private:
    struct destroyer {
        void operator()(espl_renderables *owned) const noexcept
        {
            espl_renderables_destroy(owned);
        }
    };
    std::unique_ptr<espl_renderables, destroyer> get_;
    component<espl_bounds> bounds_;
    component<espl_renderable> renderable_;
    component<espl_layers> layers_;
};

} // namespace espalier

#endif
