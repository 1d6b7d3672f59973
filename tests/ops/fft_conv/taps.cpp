// SPDX-License-Identifier: MIT
// timeout: 600
// Filters longer than their sequences: what taps behind the end are changes no bit of any result,
// and their gradients are 0.
#include "tests/ops/fft_conv/oracle.hpp"

namespace tk::test {
namespace {

template <class Operands> void check_ends(conv_case const& c) {
  Operands x(c);
  std::vector<std::vector<std::byte>> first;
  for (double const end : {0., 1e6, std::nan("")}) {
    for (std::int64_t f = 0; f < c.filters(); ++f)
      for (std::int64_t j = c.n; j < c.nk; ++j) set(x.k, f, j, end);
    CAPTURE(end);
    REQUIRE(launch_twice(x) == "");
    auto const v = compare(x);
    CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
    std::vector<std::vector<std::byte>> all;
    for (auto const& out : outputs_of(x))
      for (std::int64_t row = 0; row < out.rows(); ++row) {
        auto const* const from = out.result_row(row);
        all.emplace_back(from, from + out.cols() * bytes_of(out.type));
      }
    if (first.empty()) first = all;
    CHECK_MESSAGE(all == first, describe(c));
  }
}

TEST_CASE("taps behind a sequence's end reach nothing") {
  // Applied directly; of one piece, in one block and in two; of several pieces on every chip.
  std::int64_t const sizes[][2] = {
      {100, 300}, {200, 201}, {1000, 2000}, {4100, 4500}, {8300, 9000}};
  int turn = 0;
  for (auto const& [n, nk] : sizes)
    for (dtype const type : {dtype::bf16, dtype::fp16}) {
      conv_case c{.n = n, .nk = nk, .type = type};
      c.pre = c.post = turn++ % 3 == 0;
      if (n < 1000) c.b = 2, c.h = 4, c.share = 2;
      check_ends<conv_operands>(c);
      check_ends<conv_backward_operands>(c);
    }
}

}  // namespace
}  // namespace tk::test
