// SPDX-License-Identifier: MIT
// The cases of sizes.txt, for forward and backward.
#pragma once
#include "tests/ops/fft_conv/oracle.hpp"
#include "tests/support/sizes.hpp"

namespace tk::test {

// Each size causal and circular, with gates and types that turn from line to line; full: with all.
inline std::vector<conv_case> size_cases() {
  std::vector<conv_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("fft_conv")) {
    int const kinds = test_level() == level::full && line.from == level::quick ? 8 : 2;
    for (int kind = 0; kind < kinds; ++kind, ++turn) {
      conv_case x;
      x.b = line.number("b", 1);
      x.share = line.number("share", 1);
      x.h = line.number("h", 1);
      x.n = line.number("n");
      x.nk = line.number("nk", x.n);
      x.taps = line.number("taps", 0);
      x.circular = kind % 2 == 1;
      if (x.circular) x.nk = std::min(x.nk, x.n);
      x.pre = turn / 2 % 2 == 0;
      x.post = turn / 2 % 3 == 0;
      x.type = turn / 4 % 2 ? dtype::fp16 : dtype::bf16;
      cases.push_back(x);
    }
  }
  return cases;
}

// Rows that are padded, misaligned, of channels that lie apart.
inline std::vector<conv_case> stride_cases() {
  std::vector<conv_case> cases;
  int turn = 0;
  for (bool const by_channel : {false, true})
    for (std::int64_t const padding : {0, 1, 8})
      for (int const off : {0, 1, 8}) {
        conv_case x{.b = 2, .h = 2, .n = 70, .nk = 33};
        x.type = turn % 3 ? dtype::bf16 : dtype::fp16;
        x.pre = turn % 2 == 0, x.post = turn % 5 < 3;
        x.circular = turn % 4 == 1;
        x.padding = padding, x.misalignment = off, x.by_channel = by_channel;
        cases.push_back(x);
        ++turn;
      }
  return cases;
}

// Circular ones of one whole block, of which some chips have forms of their own: an odd number of
// sequences, whose neighbours share a filter or don't, with and without gates.
inline std::vector<conv_case> whole_cases() {
  std::vector<conv_case> cases;
  for (std::int64_t const n : {1024, 2048, 4096, 8192}) {
    if (n > 4096 && test_level() == level::quick) continue;
    for (dtype const type : {dtype::bf16, dtype::fp16})
      for (bool const gates : {false, true}) {
        if (gates && type == dtype::fp16 && test_level() == level::quick) continue;
        conv_case x{.b = 3, .n = n, .nk = n, .circular = true, .pre = gates, .post = gates};
        if (gates) x.b = 1, x.h = 3, x.nk = n - 5;
        x.type = type;
        cases.push_back(x);
      }
  }
  return cases;
}

}  // namespace tk::test
