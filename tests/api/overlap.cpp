// SPDX-License-Identifier: MIT
// The overlap checks against plain enumeration: every byte of small tensors of random sizes,
// strides (also 0 and negative) and element widths, and slices of one parent, as views make them.
// Then the large cases that matter: slices of a packed qkv buffer, strides too intricate to decide.
#include "ops/api/overlap.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace tk::api;
using random_bits = std::mt19937;

int pick(random_bits& bits, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(bits);
}

std::vector<std::uintptr_t> addresses(footprint const& x) {
  std::vector<std::uintptr_t> all;
  for (std::int64_t i = 0; i < x.size[0]; ++i) {
    for (std::int64_t j = 0; j < x.size[1]; ++j) {
      for (std::int64_t k = 0; k < x.size[2]; ++k) {
        for (std::int64_t l = 0; l < x.size[3]; ++l) {
          auto const at = i * x.stride[0] + j * x.stride[1] + k * x.stride[2] + l * x.stride[3];
          all.push_back(x.address + static_cast<std::uintptr_t>(at * x.width));
        }
      }
    }
  }
  return all;
}

bool enumerated_overlap(footprint const& x, footprint const& y) {
  std::set<std::uintptr_t> taken;
  for (auto const at : addresses(x)) {
    for (std::int64_t i = 0; i < x.width; ++i) taken.insert(at + static_cast<std::uintptr_t>(i));
  }
  for (auto const at : addresses(y)) {
    for (std::int64_t i = 0; i < y.width; ++i) {
      if (taken.count(at + static_cast<std::uintptr_t>(i))) return true;
    }
  }
  return false;
}

bool enumerated_self_overlap(footprint const& x) {
  auto const all = addresses(x);
  return std::set<std::uintptr_t>(all.begin(), all.end()).size() != all.size();
}

verdict expected(bool shares) { return shares ? verdict::overlap : verdict::apart; }

footprint random_tensor(random_bits& bits, int reach) {
  footprint x;
  x.width = pick(bits, 0, 1) ? 2 : 4;
  x.address = 4096 + 2 * static_cast<std::uintptr_t>(pick(bits, 0, 30));
  for (int i = 0; i < 4; ++i) {
    x.size[i] = pick(bits, 0, 20) == 0 ? 0 : pick(bits, 1, 4);
    x.stride[i] = pick(bits, -reach, reach);
  }
  if (pick(bits, 0, 1)) x.stride[3] = 1;
  return x;
}

// Every axis of a packed parent cut to a range, stepped, perhaps turned round; then axes shuffled.
footprint random_slice(random_bits& bits, std::array<int, 4> const& parent) {
  footprint x;
  x.width = 2;
  std::int64_t offset = 0, stride = 1;
  for (int i = 3; i >= 0; stride *= parent[i], --i) {
    int const first = pick(bits, 0, parent[i] - 1), last = pick(bits, first, parent[i] - 1);
    int const step = pick(bits, 1, 2);
    bool const turned = pick(bits, 0, 3) == 0;
    x.size[i] = (last - first) / step + 1;
    x.stride[i] = turned ? -stride * step : stride * step;
    offset += stride * (turned ? first + (x.size[i] - 1) * step : first);
  }
  x.address = 4096 + 2 * static_cast<std::uintptr_t>(offset);
  for (int i = 3; i > 0; --i) {
    int const j = pick(bits, 0, i);
    std::swap(x.size[i], x.size[j]);
    std::swap(x.stride[i], x.stride[j]);
  }
  return x;
}

footprint tensor_at(std::uintptr_t address, std::array<std::int64_t, 4> size,
                    std::array<std::int64_t, 4> stride) {
  footprint x;
  x.address = address;
  x.width = 2;
  x.size = size;
  x.stride = stride;
  return x;
}

}  // namespace

TEST_CASE("two random tensors") {
  random_bits bits(1);
  int met[2] = {};
  for (int i = 0; i < 20000; ++i) {
    auto const x = random_tensor(bits, 40), y = random_tensor(bits, 40);
    bool const shares = enumerated_overlap(x, y);
    CAPTURE(i);
    REQUIRE(overlap(x, y) == expected(shares));
    REQUIRE(overlap(y, x) == expected(shares));
    ++met[shares];
  }
  CHECK(met[0] > 2000);
  CHECK(met[1] > 2000);
}

TEST_CASE("one random tensor") {
  random_bits bits(2);
  int met[2] = {};
  for (int i = 0; i < 20000; ++i) {
    auto const x = random_tensor(bits, 60);
    bool const shares = enumerated_self_overlap(x);
    CAPTURE(i);
    REQUIRE(self_overlap(x) == expected(shares));
    ++met[shares];
  }
  CHECK(met[0] > 2000);
  CHECK(met[1] > 2000);
}

TEST_CASE("slices of one parent") {
  random_bits bits(3);
  int met[2] = {};
  for (int i = 0; i < 20000; ++i) {
    std::array<int, 4> const parent{pick(bits, 1, 4), pick(bits, 1, 5), pick(bits, 1, 6),
                                    pick(bits, 1, 8)};
    auto const x = random_slice(bits, parent), y = random_slice(bits, parent);
    bool const shares = enumerated_overlap(x, y);
    CAPTURE(i);
    REQUIRE(overlap(x, y) == expected(shares));
    REQUIRE(self_overlap(x) == verdict::apart);
    ++met[shares];
  }
  CHECK(met[0] > 2000);
  CHECK(met[1] > 2000);
}

TEST_CASE("two halves of each row of one buffer, seen in different orders") {
  constexpr std::int64_t m = 1 << 24, step = 128;
  auto const a = tensor_at(4096, {1, 2, m, 64}, {0, m * step, step, 1});
  auto const b = [&](std::uintptr_t byte) {
    return tensor_at(4096 + byte, {1, 2, m, 64}, {0, step, 2 * step, 1});
  };
  CHECK(overlap(a, b(128)) == verdict::apart);
  CHECK(overlap(a, b(126)) == verdict::overlap);
  CHECK(overlap(a, b(130)) == verdict::overlap);
}

TEST_CASE("q, k, v and o of one packed buffer, at full size") {
  // [b, n, hq + 2 hk + hq, d]
  constexpr std::int64_t b = 4, n = 1 << 20, hq = 32, hk = 8, d = 128, row = (2 * hq + 2 * hk) * d;
  constexpr std::uintptr_t base = std::uintptr_t(1) << 40;
  auto const slice = [&](std::int64_t head, std::int64_t heads, std::int64_t shift = 0) {
    return tensor_at(base + static_cast<std::uintptr_t>(2 * (head * d + shift)), {b, n, heads, d},
                     {n * row, row, d, 1});
  };
  auto const q = slice(0, hq), k = slice(hq, hk), v = slice(hq + hk, hk),
             o = slice(hq + 2 * hk, hq);
  for (auto const& x : {q, k, v}) CHECK(overlap(o, x) == verdict::apart);
  CHECK(self_overlap(o) == verdict::apart);
  CHECK(overlap(slice(hq + 2 * hk, hq, -1), v) == verdict::overlap);
  CHECK(overlap(slice(hq + 2 * hk, hq, -1), k) == verdict::apart);
  // one element further, o's last head runs into the next row's q; but for the very last row
  CHECK(overlap(slice(hq + 2 * hk, hq, 1), q) == verdict::overlap);
  auto last_row = slice(hq + 2 * hk, hq, 1 + (b * n - 1) * row);
  last_row.size = {1, 1, hq, d};
  CHECK(overlap(last_row, q) == verdict::apart);
}

TEST_CASE("the largest strides do not wrap") {
  constexpr std::int64_t far = std::int64_t(1) << 61;
  auto const x = tensor_at(4096, {2, 1, 1, 8}, {far, 0, 0, 1});
  auto const y = tensor_at(4096 + (std::uintptr_t(1) << 62) + 14, {1, 1, 1, 8}, {0, 0, 0, 1});
  CHECK(overlap(x, y) == verdict::overlap);
  auto const z = tensor_at(4096 + (std::uintptr_t(1) << 62) + 16, {1, 1, 1, 8}, {0, 0, 0, 1});
  CHECK(overlap(x, z) == verdict::apart);
  CHECK(self_overlap(x) == verdict::apart);
  // 4 * 2^62 bytes are 2^64: in 64 bits this would come back to the start
  auto const wrapping = tensor_at(4096, {5, 1, 1, 8}, {far, 0, 0, 1});
  CHECK(self_overlap(wrapping) == verdict::apart);
}

TEST_CASE("what takes too long to decide is unknown, and soon given up") {
  // All steps are multiples of 3 elements, so that y, 1 element further, never meets x; what is 3
  // elements further may, but the steps have nothing else in common, and come near each other in
  // very many ways.
  constexpr std::int64_t p = 3 * 1000003, q = 3 * 999983, r = 3 * 999979, s = 3 * 999961;
  constexpr std::int64_t n = 1 << 20;
  auto const x = tensor_at(4096, {n, n, 1, 1}, {p, q, 0, 1});
  CHECK(overlap(x, tensor_at(4096 + 2, {n, n, 1, 1}, {r, s, 0, 1})) == verdict::apart);
  auto const y = tensor_at(4096 + 6, {n, n, 1, 1}, {r, s, 0, 1});
  auto const start = std::chrono::steady_clock::now();
  CHECK(overlap(x, y) == verdict::unknown);
  auto const spent = std::chrono::steady_clock::now() - start;
  CHECK(spent < std::chrono::seconds(1));  // under 1 ms; wide for sanitizers and a busy machine
  auto const z = tensor_at(4096, {n, n, n, 1}, {p, q, r, 1});
  CHECK(self_overlap(z) != verdict::apart);
}
