// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/attention/oracle.hpp"
#include "tests/support/spoil.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

attention_case small(scores values, dtype type, tk_mask mask) {
  attention_case x{.b = 2, .hq = 4, .hk = 2, .nq = 70, .nk = 90, .d = 64, .dv = 64};
  x.values = values, x.type = type, x.mask = mask;
  return x;
}

TEST_CASE("the oracles of attention agree") {
  for (scores const values : {scores::flat, scores::select})
    for (dtype const type : {dtype::bf16, dtype::fp16})
      for (tk_mask const mask : {TK_MASK_NONE, TK_MASK_CAUSAL}) {
        attention_operands x(small(values, type, mask));
        REQUIRE(launch_twice(x) == "");
        CHECK(compare(x).wrong == "");
        CHECK(compare(x, true).wrong == "");
      }
}

TEST_CASE("one fault in attention is found") {
  for (scores const values : {scores::random, scores::flat, scores::select})
    for (dtype const type : {dtype::bf16, dtype::fp16})
      for (std::int64_t const sampled : {0, 16}) {
        auto c = small(values, type, TK_MASK_CAUSAL);
        c.sampled_rows = sampled;
        attention_operands x(c);
        REQUIRE(launch_twice(x) == "");
        REQUIRE(compare(x).wrong == "");
        std::int64_t const row = x.o.rows() - 1, col = c.dv - 3;
        // Rounding p makes a random o uncertain by some last places.
        int const steps = values == scores::random ? 64 : values == scores::flat ? 2 : 1;
        wants_complaint("last place", x, x.o, row, [&] { nudge(x.o, row, col, steps); });
        wants_complaint("not written", x, x.o, row, [&] { put(x.o, row, 0, std::nan("")); });
        wants_complaint("another head", x, x.o, row, [&] {
          auto const other = row_bytes(x.o, row - 1 - c.hq / c.hk);
          std::copy(other.begin(), other.end(), x.o.result_row(row));
        });
        std::int64_t const head = x.lse.rows() - 1, last = c.nq - 1;
        double const lse = decode(dtype::fp32, x.lse.result_row(head) + last * 4);
        wants_complaint("lse", x, x.lse, head, [&] { put(x.lse, head, last, lse + lse / 4096); });
        wants_complaint("lse NaN", x, x.lse, head, [&] { put(x.lse, head, last, std::nan("")); });
        CHECK(compare(x).wrong == "");
      }
}

// As if a launch had left out a key, or seen one too many: the oracle is given other keys.
TEST_CASE("one key too few or too many is found") {
  for (tk_mask const mask : {TK_MASK_NONE, TK_MASK_CAUSAL})
    for (dtype const type : {dtype::bf16, dtype::fp16}) {
      attention_operands x(small(scores::flat, type, mask));
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      x.of.mask = mask == TK_MASK_NONE ? TK_MASK_CAUSAL : TK_MASK_NONE;
      CHECK(!compare(x).ok());
      x.of.mask = mask;
      for (std::int64_t c = 0; c < x.of.dv; ++c) set(x.v, 40 * x.of.hk, c, 0);
      CHECK(!compare(x).ok());
    }
}

}  // namespace
}  // namespace tk::test
