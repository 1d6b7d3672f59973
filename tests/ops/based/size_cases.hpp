// SPDX-License-Identifier: MIT
// The cases of sizes.txt, packed sequences, and strides.
#pragma once
#include "tests/ops/based/oracle.hpp"
#include "tests/support/sizes.hpp"

namespace tk::test {

// Each size with and without the normaliser, states and types turning from line to line.
inline std::vector<based_case> size_cases() {
  constexpr std::int64_t widths[] = {64, 16, 128};
  std::vector<based_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("based"))
    for (bool const normalise : {false, true}) {
      based_case x;
      x.b = line.number("b", 1);
      x.n = line.number("n");
      x.h = line.number("h", 1);
      x.dv = line.number("dv", widths[turn / 2 % 3]);
      x.type = turn / 2 % 2 ? dtype::fp16 : dtype::bf16;
      x.normalise = normalise;
      x.states = turn / 4 % 2 == 0;
      if (turn % 8 == 6) x.scale = 0.3f;
      if (turn % 8 == 4) x.scale = -0.1f;
      cases.push_back(x);
      ++turn;
    }
  return cases;
}

// Packed sequences, of lengths on both sides of chunks, some of them empty.
inline std::vector<based_case> packed_cases() {
  std::vector<std::vector<std::int64_t>> const lengths{
      {1}, {0}, {64, 64}, {0, 5, 0, 0, 70, 0}, {33, 130, 1, 77}, {100, 63, 65, 64, 3}};
  std::vector<based_case> cases;
  int turn = 0;
  for (auto const& of : lengths)
    for (bool const states : {false, true}) {
      based_case x{.h = 1 + turn % 3, .states = states, .lengths = of};
      x.dv = turn % 4 == 2 ? 80 : turn % 4 == 3 ? 32 : 64;
      x.type = turn / 2 % 2 ? dtype::fp16 : dtype::bf16;
      x.normalise = turn % 3 != 0;
      cases.push_back(x);
      ++turn;
    }
  return cases;
}

// Rows that are padded, misaligned, of heads that lie apart.
inline std::vector<based_case> stride_cases() {
  std::vector<based_case> cases;
  int turn = 0;
  for (auto const by : {order::bnhd, order::bhnd})
    for (std::int64_t const padding : {0, 1, 8})
      for (int const off : {0, 1, 8}) {
        based_case x{.b = 2, .n = 70, .h = 2, .states = turn % 2 == 0};
        x.type = turn % 3 ? dtype::bf16 : dtype::fp16;
        x.normalise = turn % 4 < 2;
        x.by = by, x.padding = padding, x.misalignment = off;
        if (turn % 4 == 1) x.dv = 48;
        cases.push_back(x);
        x.n = 1, x.h = 3, x.states = true;  // a step of decoding
        cases.push_back(x);
        ++turn;
      }
  return cases;
}

}  // namespace tk::test
