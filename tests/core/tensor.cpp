// SPDX-License-Identifier: MIT
// Addresses of global tensors, also past 2^31 elements and with negative and zero strides, and the
// number of elements that may be read at once, against the addresses themselves.
#include "core/tensor.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

#include "core/move.hpp"

namespace {

// Whether `n` elements may be read at once wherever a multiple of n columns begins.
bool aligned(tk::tensor<tk::bf16> const& x, int n) {
  for (int i = 0; i < x.n0; ++i)
    for (int j = 0; j < x.n1; ++j)
      for (int row = 0; row < x.rows; ++row)
        if (reinterpret_cast<std::uintptr_t>(x.at(row, 0, i, j)) % (2u * static_cast<unsigned>(n)))
          return false;
  return true;
}

}  // namespace

TEST_CASE("at() is 64-bit arithmetic") {
  auto* const base = reinterpret_cast<float*>(std::uintptr_t{1} << 45);
  std::int64_t const big = std::int64_t{1} << 33;
  tk::tensor<float> const x{base, 5, 7, big + 3, 2, -big, 3, 11};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int row = 0; row < 5; ++row)
        for (int col = 0; col < 7; ++col) {
          std::int64_t const offset = i * -big + j * 11 + row * (big + 3) + col;
          CHECK(reinterpret_cast<std::uintptr_t>(x.at(row, col, i, j)) ==
                reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset * 4));
        }
  CHECK(x.at(2, 3) == x.at(2, 3, 0, 0));
}

TEST_CASE("vector_width_of is the widest access that is aligned in every row") {
  auto const base = std::uintptr_t{1} << 20;
  int seen[9]{};
  for (int shift = 0; shift < 8; ++shift)
    for (std::int64_t const row_stride : {-24, -3, 0, 1, 2, 4, 8, 10, 16, 20, 31})
      for (std::int64_t const stride0 : {-8, 0, 1, 2, 4, 6, 64})
        for (std::int64_t const stride1 : {0, 3, 8, 12})
          for (int rows = 1; rows <= 3; ++rows)
            for (int n0 = 1; n0 <= 2; ++n0)
              for (int n1 = 1; n1 <= 2; ++n1) {
                tk::tensor<tk::bf16> const x{reinterpret_cast<tk::bf16*>(base) + shift,
                                             rows,
                                             100,
                                             row_stride,
                                             n0,
                                             stride0,
                                             n1,
                                             stride1};
                int widest = 8;
                while (!aligned(x, widest)) widest /= 2;
                int const found = tk::vector_width_of(x);
                ++seen[found];
                CAPTURE(shift);
                CAPTURE(row_stride);
                CAPTURE(stride0);
                CAPTURE(stride1);
                REQUIRE(found == widest);
              }
  for (int const n : {1, 2, 4, 8}) CHECK(seen[n] > 0);
}

TEST_CASE("vector_width_of counts elements, not bytes") {
  float data[16];
  tk::tensor<float> x{data, 1, 4, 4};
  x.data += (16 - reinterpret_cast<std::uintptr_t>(data) % 16) % 16 / 4;
  CHECK(tk::vector_width_of(x) == 4);
  x.data += 1;
  CHECK(tk::vector_width_of(x) == 1);
  x.data += 1;
  CHECK(tk::vector_width_of(x) == 2);
}
