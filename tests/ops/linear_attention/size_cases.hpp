// SPDX-License-Identifier: MIT
// The cases of sizes.txt, for forward and backward.
#pragma once
#include "tests/ops/linear_attention/oracle.hpp"
#include "tests/support/sizes.hpp"

namespace tk::test {

// Each size with some of the decays, states and types, which turn from line to line; full: with
// all decays.
inline std::vector<scan_case> size_cases() {
  constexpr std::int64_t dims[] = {64, 128, 256};
  std::vector<scan_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("linear_attention")) {
    int const kinds = test_level() == level::quick || line.from == level::card ? 2 : 5;
    for (int kind = 0; kind < kinds; ++kind, ++turn) {
      scan_case x;
      x.b = line.number("b", 1);
      x.n = line.number("n");
      x.h = line.number("h", 1);
      x.d = line.number("d", dims[turn % 3]);
      x.dv = line.number("dv", x.d);
      x.type = turn % 2 ? dtype::fp16 : dtype::bf16;
      x.decay = static_cast<decays>(turn % 5);
      x.states = turn / 2 % 2 == 0;
      cases.push_back(x);
    }
  }
  return cases;
}

// Packed sequences, of lengths on both sides of chunks, some of them empty.
inline std::vector<scan_case> packed_cases() {
  std::vector<std::vector<std::int64_t>> const lengths{
      {1}, {0}, {64, 64}, {0, 5, 0, 0, 70, 0}, {33, 130, 1, 77}, {100, 63, 65, 64, 3}};
  std::vector<scan_case> cases;
  int turn = 0;
  for (auto const& of : lengths)
    for (bool const states : {false, true}) {
      scan_case x{.h = 1 + turn % 3, .states = states, .lengths = of};
      x.d = turn % 4 == 3 ? 128 : 64, x.dv = turn % 4 == 2 ? 32 : 64;
      x.type = turn / 2 % 2 ? dtype::fp16 : dtype::bf16;
      x.decay = static_cast<decays>(turn % 5);
      cases.push_back(x);
      ++turn;
    }
  return cases;
}

// Rows that are padded, misaligned, of heads that lie apart.
inline std::vector<scan_case> stride_cases() {
  std::vector<scan_case> cases;
  int turn = 0;
  for (auto const by : {order::bnhd, order::bhnd})
    for (std::int64_t const padding : {0, 1, 8})
      for (int const off : {0, 1, 8}) {
        scan_case x{.b = 2, .n = 70, .h = 2, .states = turn % 2 == 0};
        x.type = turn % 3 ? dtype::bf16 : dtype::fp16;
        x.decay = static_cast<decays>(turn % 5);
        x.by = by, x.padding = padding, x.misalignment = off;
        if (turn % 4 == 1) x.d = 128, x.dv = 48;
        cases.push_back(x);
        ++turn;
      }
  return cases;
}

}  // namespace tk::test
