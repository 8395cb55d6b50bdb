// SPDX-License-Identifier: MIT
// Culling against what is used outside of this project, in one run: the box tree of the Bullet physics library,
// and a flat loop in the manner of the Filament renderer, which has one array of boxes and no hierarchy of bounds.
// bench/outside.sh builds and runs it. The sets are compared before anything is timed.
#include <espalier/espalier.h>
#include <espalier/renderables.h>

#include <BulletCollision/BroadphaseCollision/btDbvt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace
{

constexpr float side = 2000;   // edge of the world, in which groups of boxes lie
constexpr unsigned group = 20; // boxes at most 10 from a point
constexpr int planes = 6;

void must(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "cull: %s\n", what);
        std::exit(1);
    }
}

// Uniform in [0, 1), the same on every machine: splitmix64.
float draw(std::uint64_t &state)
{
    std::uint64_t bits = state += 0x9e3779b97f4a7c15u;

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return static_cast<float>((bits ^ (bits >> 31)) >> 40) * 0x1p-24f;
}

struct boxes {
    std::vector<float> center[3], half[3];
    std::size_t count;
};

boxes make_boxes(std::size_t count)
{
    boxes out{{}, {}, count};
    std::uint64_t state = 43;

    for (std::size_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            const float middle =
                i % group == 0 ? (draw(state) - 0.5f) * side : out.center[k][i - i % group];

            out.center[k].push_back(i % group == 0 ? middle : middle + (draw(state) - 0.5f) * 20);
            out.half[k].push_back(0.1f + 0.4f * draw(state));
        }
    }
    return out;
}

struct view {
    const char *name;
    float plane[planes][4];
};

// Looks along -Z; `slope` of the sides.
view make_view(const char *name, double away, double slope)
{
    const double length = std::sqrt(1 + slope * slope);
    const float along = static_cast<float>(1 / length), across = static_cast<float>(slope / length);
    const float eye = static_cast<float>(slope * away / length), far = static_cast<float>(away);

    return {name,
            {{along, 0, -across, eye},
             {-along, 0, -across, eye},
             {0, along, -across, eye},
             {0, -along, -across, eye},
             {0, 0, -1, far - 1},
             {0, 0, 1, 10 * side}}};
}

// --- Flat, in the manner of Filament: a byte for each box, every plane for every box, no branch ---

template <class T>
inline __attribute__((always_inline)) void test_all(const boxes &b, const view &v, T *bytes)
{
    const float *const x = b.center[0].data(), *const y = b.center[1].data(),
                       *const z = b.center[2].data();
    const float *const a = b.half[0].data(), *const c = b.half[1].data(),
                       *const d = b.half[2].data();

    for (std::size_t i = 0; i < b.count; ++i) {
        int sees = 1;

        for (int p = 0; p < planes; ++p) {
            const float *const n = v.plane[p];
            const float distance = ((n[0] * x[i] + n[1] * y[i]) + n[2] * z[i]) + n[3];
            const float reach =
                (std::fabs(n[0]) * a[i] + std::fabs(n[1]) * c[i]) + std::fabs(n[2]) * d[i];

            sees &= distance + reach >= 0;
        }
        bytes[i] = static_cast<T>(sees);
    }
}

__attribute__((noinline)) void flat(const boxes &b, const view &v, std::uint8_t *bytes)
{
    test_all(b, v, bytes);
}

#ifdef __x86_64__
__attribute__((noinline, target("avx2"))) void flat_avx2(const boxes &b, const view &v,
                                                         std::uint8_t *bytes)
{
    test_all(b, v, bytes);
}
#endif

// --- Bullet ---

struct collector final : btDbvt::ICollide {
    std::vector<std::uint32_t> found;

    void Process(const btDbvtNode *leaf) override
    {
        found.push_back(static_cast<std::uint32_t>(leaf->dataAsInt));
    }
};

struct tree {
    btDbvt nodes;
    collector list;

    explicit tree(const boxes &b)
    {
        for (std::size_t i = 0; i < b.count; ++i) {
            const btVector3 c(b.center[0][i], b.center[1][i], b.center[2][i]);
            const btVector3 h(b.half[0][i], b.half[1][i], b.half[2][i]);

            nodes.insert(btDbvtVolume::FromCE(c, h), nullptr)->dataAsInt = static_cast<int>(i);
        }
        nodes.optimizeIncremental(static_cast<int>(b.count));
        list.found.reserve(b.count);
    }
    void cull(const view &v)
    {
        btVector3 normals[planes];
        btScalar offsets[planes];

        for (int p = 0; p < planes; ++p) {
            normals[p] = btVector3(v.plane[p][0], v.plane[p][1], v.plane[p][2]);
            offsets[p] = v.plane[p][3];
        }
        list.found.clear();
        btDbvt::collideKDOP(nodes.m_root, normals, offsets, planes, list);
    }
};

// --- Espalier ---

struct service {
    espl_world *world = nullptr;
    espl_renderables *renderables = nullptr;
    espl_visible *visible = nullptr;

    explicit service(const boxes &b)
    {
        const espl_world_def def{};

        must(espl_world_create(&def, &world) == ESPL_OK, "no world");
        must(espl_renderables_create(world, nullptr, &renderables) == ESPL_OK, "no renderables");
        must(espl_visible_create(nullptr, &visible) == ESPL_OK, "no result");
        const espl_component bounds = espl_component_find(world, "bounds");
        const espl_component set[] = {ESPL_TRANSFORM, bounds,
                                      espl_component_find(world, "renderable")};
        std::vector<espl_entity> entities(b.count);

        must(espl_create(world, set, 3, b.count, entities.data()) == ESPL_OK, "no entities");
        for (std::size_t i = 0; i < b.count; ++i) {
            const float at[3] = {b.center[0][i], b.center[1][i], b.center[2][i]};
            const espl_bounds box = {{0, 0, 0}, {b.half[0][i], b.half[1][i], b.half[2][i]}};

            must(espl_set_local_position(world, entities[i], at) == ESPL_OK, "no position");
            must(espl_set_component(world, entities[i], bounds, &box, sizeof box) == ESPL_OK,
                 "no box");
        }
        must(espl_renderables_update(renderables, nullptr, nullptr) == ESPL_OK, "no update");
    }
    ~service()
    {
        espl_visible_destroy(visible);
        espl_renderables_destroy(renderables);
        espl_world_destroy(world);
    }
    service(const service &) = delete;
    service &operator=(const service &) = delete;
    std::size_t cull(const view &v)
    {
        espl_camera camera{};
        std::size_t count = 0;

        camera.plane_count = planes;
        camera.layers = UINT32_MAX;
        std::memcpy(camera.planes, v.plane, sizeof v.plane);
        must(espl_cull(visible, espl_renderables_acquire(renderables), &camera, 1, nullptr) ==
                 ESPL_OK,
             "not culled");
        const espl_group *const groups = espl_visible_groups(visible, 0, &count);

        return count == 0 ? 0 : groups[count - 1].first + groups[count - 1].count;
    }
};

// --- Times ---

template <class F> void take(std::vector<double> &times, F call)
{
    const auto begin = std::chrono::steady_clock::now();

    call();
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
            .count());
}

double median(std::vector<double> times)
{
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}

void run(std::size_t count)
{
    const boxes b = make_boxes(count);
    const view views[] = {make_view("narrow", 1.1 * side / 2, 0.057),
                          make_view("wide", 1.1 * side / 2, 0.455), make_view("all", 5 * side, 1)};
    service ours(b);
    tree bullet(b);
    std::vector<std::uint8_t> bytes(count);

    for (const view &v : views) {
        std::vector<double> of_ours, of_bullet, of_flat, of_wide;

        flat(b, v, bytes.data());
        const std::size_t seen =
            static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), 1));
        bullet.cull(v);
        must(ours.cull(v) == seen, "the flat loop sees another number of boxes");
        // Bullet subtracts where others add, so a box that touches a plane may be rounded to its other side.
        must(std::llabs(static_cast<long long>(bullet.list.found.size()) -
                        static_cast<long long>(seen)) <= 2,
             "Bullet sees other boxes");
        for (int turn = 0; turn < 31; ++turn) {
            take(of_ours, [&] { ours.cull(v); });
            take(of_bullet, [&] { bullet.cull(v); });
            take(of_flat, [&] { flat(b, v, bytes.data()); });
#ifdef __x86_64__
            take(of_wide, [&] { flat_avx2(b, v, bytes.data()); });
#endif
        }
        const double own = median(of_ours), theirs = median(of_bullet), loop = median(of_flat);

        std::printf("%8zu %-7s %8zu %10.1f %10.1f %6.3f %10.1f %6.3f", count, v.name, seen, own,
                    theirs, own / theirs, loop, own / loop);
        if (!of_wide.empty()) {
            std::printf(" %10.1f %6.3f", median(of_wide), own / median(of_wide));
        }
        std::printf("\n");
    }
}

} // namespace

int main()
{
    std::printf("%8s %-7s %8s %10s %10s %6s %10s %6s %10s %6s\n", "boxes", "camera", "visible",
                "us", "Bullet", "ratio", "flat", "ratio", "flat AVX2", "ratio");
    run(100000);
    run(1000000);
}
