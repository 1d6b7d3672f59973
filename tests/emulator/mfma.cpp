// SPDX-License-Identifier: MIT
// arches: gfx90a gfx942 gfx950
// The emulated instructions of waves of 64 lanes against the manuals' tables, and which of them a
// chip has: MFMA of each form, transposing reads, copies to LDS.
#include <atomic>
#include <cstring>
#include <string_view>

#include "backends/kernel.hpp"
#include "tests/emulator/report.hpp"

using namespace tk::test;
namespace be = tk::be;
namespace gcn = tk::be::gcn;
namespace emulator = tk::emulator;

namespace {

// ---- what a chip has
constexpr bool newest = std::string_view(be::chip_name) == "gfx950";

template <int N>
concept multiplies = requires(gcn::halves<N> x, gcn::sums16 d) { gcn::mfma(tk::bf16{}, x, x, d); };
template <int Bytes>
concept copies = requires(char* to, void const* from) { gcn::copy_to_lds<Bytes>(to, from); };
template <class X>
concept packs = requires(X x) { gcn::pack_bf16(x, x); };
template <class X>
concept transposes = requires(X x) { gcn::read_transposed(x); };

static_assert(multiplies<4> && copies<4>);
static_assert(multiplies<8> == newest && !multiplies<16>);
static_assert(copies<16> == newest && !copies<8> && !copies<12>);
static_assert(packs<float> == newest);
static_assert(transposes<char const*> == newest);
static_assert(be::smem_bytes == (newest ? 160 : 64) * 1024);

// ---- MFMA
int left(int i, int k) { return (3 * i + 5 * k) % 7 - 3; }
int right(int k, int j) { return (2 * k + 3 * j + k * j) % 5 - 2; }

template <class T, int M, int N> int wrong_in_mfma() {
  using sums = std::conditional_t<M == 16, gcn::sums16, gcn::sums32>;
  std::atomic<int> wrong = 0;
  CHECK(report_of(form_of(1, 64, 64, 1, 64), [&] {
          int const l = gcn::lane();
          gcn::halves<N> a{}, b{};
          for (int e = 0; e < N; ++e) {
            int const k = N * (l / M) + e;
            auto const put = [&](gcn::halves<N>& x, int value) {
              auto const bits = tk::round_to<T>(static_cast<float>(value)).bits;
              x.w[e / 2] |= std::uint32_t{bits} << e % 2 * 16;
            };
            put(a, left(l % M, k));
            put(b, right(k, l % M));
          }
          sums d;
          for (int r = 0; r < M * M / 64; ++r) d[r] = static_cast<float>(r);
          d = gcn::mfma(T{}, a, b, d);
          for (int r = 0; r < M * M / 64; ++r) {
            int const i = M == 16 ? 4 * (l / 16) + r : 8 * (r / 4) + 4 * (l / 32) + r % 4;
            int sum = r;
            for (int k = 0; k < N * 64 / M; ++k) sum += left(i, k) * right(k, l % M);
            wrong += d[r] != static_cast<float>(sum);
          }
        }) == "");
  return wrong;
}

template <int N> void check_mfma() {
  if constexpr (multiplies<N>) {
    CHECK(wrong_in_mfma<tk::bf16, 16, N>() == 0);
    CHECK(wrong_in_mfma<tk::fp16, 16, N>() == 0);
    CHECK(wrong_in_mfma<tk::bf16, 32, N>() == 0);
    CHECK(wrong_in_mfma<tk::fp16, 32, N>() == 0);
  }
}

// ---- copies: lanes l of 64, to places of Bytes one after another, from places in reverse
// Two copies, of which Late are not waited for. What the wait is for has arrived; in the order in
// turn (seed 0) the rest has not, and what was in its place is gone.
template <int Bytes, int Late> std::string run_copies(int& wrong, int shift, std::uint64_t seed) {
  alignas(16) static unsigned char from[64 * 16 + 16];
  for (std::size_t i = 0; i < sizeof from; ++i)
    from[i] = static_cast<unsigned char>(i * 7 + i / 256);
  return report_of(
      form_of(1, 64, 2 * 64 * Bytes, 1, 64),
      [&] {
        int const l = gcn::lane();
        char* const to = emulator::shared_memory();
        auto const* const base = reinterpret_cast<char const*>(from);
        int const place = Bytes * (63 - l) + shift;
        auto const* const mine = base + place;
        for (int i = 0; i < 2 * Bytes; ++i) to[i / Bytes * 64 * Bytes + Bytes * l + i % Bytes] = 1;
        gcn::copy_to_lds<Bytes>(to, l % 5 == 4 ? nullptr : static_cast<void const*>(mine));
        gcn::copy_to_lds<Bytes>(to + 64 * Bytes, base, static_cast<std::uint32_t>(place));
        gcn::wait_copies<Late>();
        for (int i = 0; i < 2 * Bytes; ++i) {
          int const n = i / Bytes;
          auto const got = static_cast<unsigned char>(to[n * 64 * Bytes + Bytes * l + i % Bytes]);
          auto const there = static_cast<unsigned char>(mine[i % Bytes]);
          if (n < 2 - Late) wrong += got != (n == 0 && l % 5 == 4 ? 0 : there);
          else if (seed == 0) wrong += got != 0xff;
        }
      },
      seed);
}
// The hardware takes the place in LDS, and the base of offsets, from one lane.
template <int Bytes> void check_one_place() {
  alignas(16) static char from[64 * 16 + 16];
  auto const form = form_of(1, 64, 128 * Bytes, 1, 64);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CHECK(contains(report_of(
                       form,
                       [] {
                         char* const to = emulator::shared_memory() + gcn::lane() / 60 * Bytes;
                         gcn::copy_to_lds<Bytes>(to, static_cast<void const*>(from));
                       },
                       seed),
                   "where a copy to LDS goes is not the same in the whole warp"));
    CHECK(contains(report_of(
                       form,
                       [] {
                         char const* const base = from + gcn::lane() % 2 * 16;
                         gcn::copy_to_lds<Bytes>(emulator::shared_memory(), base, 0);
                       },
                       seed),
                   "the base of a copy to LDS is not the same in the whole warp"));
    CHECK(contains(report_of(
                       form, [] { (void)gcn::uniform(gcn::lane() == 63 ? 2 : 1); }, seed),
                   "a uniform struct is not the same in the whole warp"));
  }
}

template <int Bytes> void check_copies() {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CHECK(run_copies<Bytes, 0>(wrong, 0, seed) == "");
    CHECK(run_copies<Bytes, 1>(wrong, 0, seed) == "");
    CHECK(run_copies<Bytes, 2>(wrong, 0, seed) == "");
  }
  CHECK(wrong == 0);
  CHECK(contains(run_copies<Bytes, 0>(wrong, 2, 0), "no multiple of its size"));
  check_one_place<Bytes>();
}

template <class Place> void check_transposing() {
  if constexpr (transposes<Place>) {
    std::atomic<int> wrong = 0;
    CHECK(report_of(form_of(1, 64, 4096, 1, 64), [&] {
            int const l = gcn::lane(), group = l / 16, j = l % 16;
            auto* const x = reinterpret_cast<std::uint16_t*>(emulator::shared_memory());
            for (int i = l; i < 2048; i += 64) x[i] = static_cast<std::uint16_t>(i);
            gcn::sync_block();
            // Each group reads four rows of 64 numbers, of which it takes 16 columns.
            int const row = 4 * group + j / 4, col = 16 * group + j % 4 * 4;
            auto const y = gcn::read_transposed(reinterpret_cast<Place>(x + 64 * row + col));
            for (int e = 0; e < 4; ++e) {
              auto const got = y.w[e / 2] >> e % 2 * 16 & 0xffff;
              wrong += got != static_cast<unsigned>(64 * (4 * group + e) + 16 * group + j);
            }
          }) == "");
    CHECK(wrong == 0);
    CHECK(contains(report_of(form_of(1, 64, 4096, 1, 64),
                             [] { gcn::read_transposed(Place{emulator::shared_memory() + 4}); }),
                   "no multiple of 8"));
    CHECK(contains(report_of(form_of(1, 64, 4096, 1, 64),
                             [] {
                               if (gcn::lane() != 17)
                                 gcn::read_transposed(Place{emulator::shared_memory()});
                             }),
                   "transposing read"));
  }
}

template <class X> void check_packs() {
  if constexpr (packs<X>) {
    CHECK(gcn::pack_bf16(X{1}, X{-2}) == 0xc0003f80);
    CHECK(gcn::pack_bf16(X{1.00390625f}, X{1.01171875f}) == 0x3f823f80);  // halves go to even
  }
  CHECK(gcn::pack_fp16(1, -2) == 0xc0003c00);
}

}  // namespace

TEST_CASE("matrix products are those of the manuals' tables") {
  check_mfma<4>();
  check_mfma<8>();
}
TEST_CASE("transposing reads exchange among 16 lanes") { check_transposing<char const*>(); }
TEST_CASE("pairs are rounded to nearest even") { check_packs<float>(); }
TEST_CASE("copies to LDS") {
  check_copies<4>();
  check_copies<be::copy_lane_bytes>();
}
