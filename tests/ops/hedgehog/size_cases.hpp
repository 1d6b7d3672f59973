// SPDX-License-Identifier: MIT
// The cases of sizes.txt, and others of sequences and layouts.
#pragma once
#include "tests/ops/hedgehog/oracle.hpp"
#include "tests/support/sizes.hpp"

namespace tk::test {

// Types and states turn from line to line; on a card, and the host, each size has both types.
inline std::vector<hedgehog_case> size_cases() {
  std::vector<hedgehog_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("hedgehog")) {
    int const kinds = test_level() == level::quick || line.from == level::card ? 1 : 2;
    for (int kind = 0; kind < kinds; ++kind, ++turn) {
      hedgehog_case x;
      x.b = line.number("b", 1);
      x.n = line.number("n");
      x.h = line.number("h", 1);
      x.past = line.number("past", 0);
      x.type = turn % 2 ? dtype::fp16 : dtype::bf16;
      x.states = x.past == x.n || turn / 2 % 2 == 0;
      cases.push_back(x);
    }
  }
  return cases;
}

// Packed sequences, of lengths on both sides of blocks, some of them empty, and steps of decoding.
inline std::vector<hedgehog_case> packed_cases() {
  std::vector<hedgehog_case> cases{
      {.lengths = {1}},
      {.lengths = {0}},
      {.h = 2, .lengths = {64, 64}},
      {.h = 2, .lengths = {0, 5, 0, 0, 70, 0}},
      {.h = 3, .lengths = {33, 200, 1, 77}},
      {.lengths = {100, 63, 65, 64, 3}},
      {.lengths = {65, 127, 128, 3, 64}, .pasts = {64, 126, 127, 2, 63}},
      {.h = 2, .lengths = {200, 64, 300, 10}, .pasts = {100, 64, 0, 0}},
      {.h = 2, .lengths = {140, 20}, .pasts = {139, -7}}};
  int turn = 0;
  for (auto& x : cases) {
    x.type = turn % 2 ? dtype::fp16 : dtype::bf16;
    x.states = turn % 3 != 1;
    ++turn;
  }
  return cases;
}

// Sequences of a batch that have fewer keys than others.
inline std::vector<hedgehog_case> length_cases() {
  return {
      {.b = 4, .n = 127, .h = 2, .past = 126, .states = true, .keys = {65, 127, 1, 100}},
      {.b = 4, .n = 90, .past = 89, .type = dtype::fp16, .states = true, .keys = {0, 900, -5, 33}},
      {.b = 4, .n = 128, .h = 2, .past = 127, .states = true, .keys = {65, 128, 1, 100}},
      {.b = 3, .n = 200, .past = 150, .type = dtype::fp16, .states = true, .keys = {200, 20, 0}},
      {.b = 3, .n = 130, .h = 2, .keys = {-5, 900, 64}},
      {.b = 2, .n = 300, .past = 300, .states = true, .keys = {300, 140}}};
}

// Rows that are padded, misaligned, of heads that lie apart.
inline std::vector<hedgehog_case> stride_cases() {
  std::vector<hedgehog_case> cases;
  int turn = 0;
  for (auto const by : {order::bnhd, order::bhnd})
    for (std::int64_t const padding : {0, 1, 8})
      for (int const off : {0, 1, 8}) {
        if (padding == 0 && off == 0 && by == order::bnhd) continue;
        hedgehog_case x{.b = 2, .n = 70, .h = 2, .past = turn % 3, .states = turn % 2 == 0};
        x.type = turn % 3 ? dtype::bf16 : dtype::fp16;
        x.by = by, x.padding = padding, x.misalignment = off;
        cases.push_back(x);
        x.past = x.n - 1, x.states = true;  // a step of decoding
        cases.push_back(x);
        ++turn;
      }
  return cases;
}

}  // namespace tk::test
