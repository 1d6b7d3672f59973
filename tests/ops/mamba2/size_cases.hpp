// SPDX-License-Identifier: MIT
// The cases of sizes.txt, for forward and backward.
#pragma once
#include "tests/ops/mamba2/oracle.hpp"
#include "tests/support/sizes.hpp"

namespace tk::test {

// The turn-th of the ways of a case to differ from the plainest.
inline void set_kind(mamba2_case& x, int turn) {
  x.type = turn % 2 ? dtype::fp16 : dtype::bf16;
  x.dt_type = turn / 2 % 2 ? x.type : dtype::fp32;
  x.skip = static_cast<skips>(turn % 3);
  x.gate = turn / 3 % 2 == 1;
  x.bias = turn % 5 < 3;
  x.softplus = turn / 2 % 3 > 0;
  x.limits = turn % 7 == 3;
  x.states = turn / 4 % 2 == 0;
  // What one step of 1e4 adds is too large for fp16.
  x.decay = turn % 7 == 2                ? decays::none
            : turn % 8 == 4 && !x.limits ? decays::vanishing
                                         : decays::usual;
}

inline std::vector<mamba2_case> size_cases() {
  constexpr std::int64_t widths[][2] = {{64, 64}, {64, 128}, {128, 16}, {32, 64}};
  std::vector<mamba2_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("mamba2")) {
    int const kinds = test_level() == level::quick || line.from == level::card ? 2 : 5;
    for (int kind = 0; kind < kinds; ++kind, ++turn) {
      mamba2_case x;
      x.b = line.number("b", 1);
      x.n = line.number("n");
      x.h = line.number("h", 1);
      x.g = line.number("g", 1);
      x.p = line.number("p", widths[turn % 4][0]);
      x.s = line.number("s", widths[turn % 4][1]);
      set_kind(x, turn);
      cases.push_back(x);
    }
  }
  return cases;
}

// Packed sequences, of lengths on both sides of chunks, some of them empty.
inline std::vector<mamba2_case> packed_cases() {
  std::vector<std::vector<std::int64_t>> const lengths{
      {1}, {0}, {64, 64}, {0, 5, 0, 0, 70, 0}, {33, 130, 1, 77}, {100, 63, 65, 64, 3}};
  std::vector<mamba2_case> cases;
  int turn = 0;
  for (auto const& of : lengths)
    for (int kind = 0; kind < 2; ++kind, ++turn) {
      mamba2_case x{.h = 1 + turn % 3, .lengths = of};
      x.g = turn % 2 ? x.h : 1;
      x.s = turn % 4 == 3 ? 128 : 64, x.p = turn % 4 == 2 ? 32 : 64;
      set_kind(x, turn + 1);
      cases.push_back(x);
    }
  return cases;
}

// Rows that are padded, misaligned, of heads that lie apart.
inline std::vector<mamba2_case> stride_cases() {
  std::vector<mamba2_case> cases;
  int turn = 0;
  for (auto const by : {order::bnhd, order::bhnd})
    for (std::int64_t const padding : {0, 1, 8})
      for (int const off : {0, 1, 8}) {
        mamba2_case x{.b = 2, .n = 70, .h = 2};
        set_kind(x, turn);
        x.by = by, x.padding = padding, x.misalignment = off;
        if (turn % 4 == 1) x.p = 128, x.s = 48;
        cases.push_back(x);
        ++turn;
      }
  return cases;
}

}  // namespace tk::test
