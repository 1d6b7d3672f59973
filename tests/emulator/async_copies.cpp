// SPDX-License-Identifier: MIT
// cp.async, matrices read from shared memory, and products of a warp: copies arrive when they are
// waited for and not before, by the lane that issued them or through an mbarrier; what lies outside
// is zero; the fragments that ldmatrix gives, plain and transposed, multiply to the exact product.
#include "backends/emulator/async_copy.hpp"

#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/emulator/async_view.hpp"
#include "backends/emulator/warp_mma.hpp"
#include "tests/emulator/report.hpp"

using namespace tk::emulator;
using namespace tk::test;

namespace {

float* words() { return reinterpret_cast<float*>(shared_memory()); }
std::uint32_t address(int byte) {
  return shared_address(shared_memory()) + static_cast<std::uint32_t>(byte);
}

}  // namespace

TEST_CASE("copies arrive when the lane waits for them, and are nobody's before") {
  alignas(16) float const from[64] = {1, 2, 3, 4};
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (bool const waits : {true, false}) {
      std::vector<float> got(32);
      std::string const report = report_of(
          form_of(1, 32, 1024),
          [&] {
            int const lane = lane_index();
            words()[lane] = 5;
            sync_warp();
            copy_async(address(4 * lane), from + lane, 4, 4);
            if (waits) copy_wait_all();
            got[static_cast<std::size_t>(lane)] = words()[lane];
            copy_wait_all();
          },
          seed);
      CHECK(report == "");
      for (int i = 0; i < 32; ++i) {
        float const x = got[static_cast<std::size_t>(i)];
        CHECK((waits ? x == from[i] : std::isnan(x)));
      }
    }
}

TEST_CASE("of a lane's groups all but the latest are there after a wait") {
  alignas(16) float const from[4] = {1, 2, 3, 4};
  for (int left = 0; left < 6; ++left) {
    std::vector<int> there(32);
    std::string const report = report_of(form_of(1, 32, 2048), [&] {
      int const lane = lane_index();
      for (int group = 0; group < 4; ++group) {
        if (group != 2) copy_async(address(16 * (lane * 4 + group)), from, 16, 16);
        copy_commit();
      }
      copy_wait_group(static_cast<std::size_t>(left));
      int mine = 0;
      for (int group = 0; group < 4; ++group)
        if (group != 2 && words()[(lane * 4 + group) * 4] == 1) mine |= 1 << group;
      there[static_cast<std::size_t>(lane)] = mine;
      copy_wait_group(0);
    });
    CHECK(report == "");
    int const expected[] = {0b1011, 0b0011, 0b0011, 0b0001, 0, 0};
    for (int const mine : there) CHECK(mine == expected[left]);
  }
  CHECK(contains(report_of(form_of(1, 32, 2048),
                           [&] {
                             copy_async(address(16 * lane_index()), from, 16, 16);
                             copy_commit();
                             copy_wait_group(1);
                           }),
                 "without waiting for its copies"));
}

TEST_CASE("an mbarrier opens when the copies of all lanes are there") {
  std::vector<float> from(64 * 4);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
  float* const aligned =
      from.data() + (16 - reinterpret_cast<std::uintptr_t>(from.data()) % 16) % 16 / sizeof(float);
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (bool const waits : {true, false}) {
      if (!waits && sanitizer::sees_races) continue;  // it would
      std::atomic<int> wrong = 0, nobodys = 0;
      std::string const report = report_of(
          form_of(1, 64, 2048),
          [&] {
            std::uint32_t const bar = address(1024);
            int const lane = thread_index();
            if (lane == 0) mbarrier_init(bar, 64);
            sync_block();
            if (lane < 60) copy_async(address(16 * lane), aligned + 4 * lane, 16, lane % 17);
            copy_arrive(bar);
            if (waits) mbarrier_wait(bar, 0);
            int const other = 59 - lane;
            if (other >= 0) {
              auto const* const x = reinterpret_cast<char const*>(words() + 4 * other);
              char expected[16] = {};
              std::memcpy(expected, aligned + 4 * other, static_cast<std::size_t>(other % 17));
              bool const same = std::memcmp(x, expected, 16) == 0;
              (waits ? wrong : nobodys) += !same;
            }
            mbarrier_wait(bar, 0);
          },
          seed);
      CHECK(report == "");
      CHECK(wrong == 0);
      if (!waits) CHECK(nobodys > 0);
    }
}

TEST_CASE("copies that no hardware takes are refused") {
  alignas(16) static char const from[64] = {};
  auto const try_copy = [](int to, int at, int bytes, int inside) {
    return report_of(form_of(1, 32, 64), [&] {
      if (lane_index() == 0) copy_async(address(to), from + at, bytes, inside);
      copy_wait_all();
    });
  };
  CHECK(try_copy(0, 0, 16, 16) == "");
  CHECK(contains(try_copy(8, 0, 16, 16), "at multiples of as many"));
  CHECK(contains(try_copy(0, 4, 8, 8), "at multiples of as many"));
  CHECK(contains(try_copy(0, 0, 2, 2), "at multiples of as many"));
  CHECK(contains(try_copy(0, 0, 8, 9), "at multiples of as many"));
  CHECK(contains(try_copy(64, 0, 16, 16), "not there"));
  CHECK(contains(report_of(form_of(1, 32, 64),
                           [] {
                             if (lane_index() == 0) copy_async(address(0), from, 16, 16);
                           }),
                 "without waiting for its copies"));
}

TEST_CASE("fragments of a warp multiply to the exact product, from either order in memory") {
  auto const left = [](int m, int k) { return static_cast<float>((m * 5 + k * 3) % 7 - 3); };
  auto const right = [](int k, int n) { return static_cast<float>((k * 2 + n * 11) % 9 - 4); };
  for (bool const transposed : {false, true}) {
    std::atomic<int> wrong = 0;
    CHECK(report_of(form_of(1, 32, 2048), [&] {
            // a[m][k] or [k][m] at 0, b[n][k] or [k][n] at 512; rows of 16 halves.
            auto* const a = reinterpret_cast<std::uint16_t*>(shared_memory());
            auto* const b = a + 256;
            int const lane = lane_index();
            for (int i = lane; i < 256; i += 32) {
              int const r = i / 16, c = i % 16;
              a[i] = tk::round_to<tk::bf16>(transposed ? left(c, r) : left(r, c)).bits;
              b[i] = tk::round_to<tk::bf16>(transposed ? right(r, c) : right(c, r)).bits;
            }
            sync_warp();
            // Matrices below one another first, or beside.
            int const below = (lane & 15) * 32 + (lane >> 4) * 16;
            int const beside = ((lane & 7) + (lane >> 4) * 8) * 32 + (lane >> 3 & 1) * 16;
            std::uint32_t x[4], y[4];
            auto const load = [&](int at, std::uint32_t(&r)[4]) {
              if (transposed) ldmatrix_transposed(address(at), r[0], r[1], r[2], r[3]);
              else ldmatrix(address(at), r[0], r[1], r[2], r[3]);
            };
            load(transposed ? beside : below, x);
            load(512 + (transposed ? below : beside), y);
            for (int half = 0; half < 2; ++half) {
              float d[4] = {1, 1, 1, 1};
              mma_m16n8<tk::bf16, tk::bf16>(d, x, y[2 * half], y[2 * half + 1]);
              for (int r = 0; r < 4; ++r) {
                int const m = lane / 4 + 8 * (r >> 1), n = 8 * half + lane % 4 * 2 + (r & 1);
                float sum = 1;
                for (int k = 0; k < 16; ++k) sum += left(m, k) * right(k, n);
                wrong += d[r] != sum;
              }
            }
          }) == "");
    CHECK(wrong == 0);
  }
}

TEST_CASE("fragments of fp8 are those of the manual's tables (PTX ISA, m16n8k32)") {
  auto const left = [](int m, int k) { return static_cast<float>((m * 5 + k * 3) % 7 - 3); };
  auto const right = [](int k, int n) { return static_cast<float>((k * 2 + n * 11) % 9 - 4); };
  std::atomic<int> wrong = 0;
  CHECK(report_of(form_of(1, 32, 0), [&] {
          int const g = lane_index() / 4, t = lane_index() % 4;
          std::uint32_t a[4] = {}, b[2] = {};
          for (int i = 0; i < 16; ++i) {  // the manual's a_i and b_i, four to a register
            int const row = i % 8 < 4 ? g : g + 8, k = 4 * t + i % 4 + (i < 8 ? 0 : 16);
            a[i / 4] |= std::uint32_t{tk::round_to<tk::fp8_e4m3>(left(row, k)).bits} << i % 4 * 8;
          }
          for (int i = 0; i < 8; ++i) {
            int const k = 4 * t + i % 4 + (i < 4 ? 0 : 16);
            b[i / 4] |= std::uint32_t{tk::round_to<tk::fp8_e5m2>(right(k, g)).bits} << i % 4 * 8;
          }
          float d[4] = {1, 2, 3, 4};
          mma_m16n8<tk::fp8_e4m3, tk::fp8_e5m2>(d, a, b[0], b[1]);
          for (int r = 0; r < 4; ++r) {
            float sum = static_cast<float>(r + 1);
            for (int k = 0; k < 32; ++k) sum += left(g + r / 2 * 8, k) * right(k, 2 * t + r % 2);
            wrong += d[r] != sum;
          }
        }) == "");
  CHECK(wrong == 0);
}
