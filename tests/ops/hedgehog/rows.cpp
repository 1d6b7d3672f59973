// SPDX-License-Identifier: MIT
// timeout: 600
// No sequence's and no head's bits depend on what is beside them: alone, in a batch, packed, with
// TK_REPEAT_ROW also where a sequence alone would be cut; NaN in one of them stays there; tokens of
// no sequence are not written.
#include "tests/ops/hedgehog/part.hpp"
#include "tests/support/sequence_gaps.hpp"

namespace tk::test {

std::vector<double> sums_of(hedgehog_operands const&) { return {}; }

namespace {

std::vector<hedgehog_case> company() {
  std::vector<hedgehog_case> all{{.b = 2, .n = 200, .h = 3, .states = true},
                                 {.b = 2, .n = 65, .h = 2},
                                 {.h = 2, .states = true, .lengths = {33, 140, 1, 17, 0, 64}}};
  all[1].type = dtype::fp16;
  return all;
}

TEST_CASE("sequences and heads do not depend on others") {
  check_company<hedgehog_operands>(company());
}

TEST_CASE("one token of each sequence, too") {
  check_company<hedgehog_operands>(
      {{.b = 3, .n = 1, .h = 2, .states = true}, {.b = 2, .n = 1, .h = 3, .type = dtype::fp16}},
      TK_REPEAT_RUN);
}

TEST_CASE("a long sequence alone and beside another, by rows") {
  hedgehog_case c{.b = 2, .n = cut_length(), .states = true};
  hedgehog_case const one{.n = c.n, .states = true};
  REQUIRE(is_cut(one) == true);
  hedgehog_operands all(c);
  upload_inputs(all.memories);
  REQUIRE(launch_by_rows(all, all.memories) == "");
  scan_part const second{1, 0, c.n, 0, 1};
  auto const few = take(all, second);
  upload_inputs(few->memories);
  auto const check = [&] {
    row_comparison bits;
    REQUIRE(launch_by_rows(*few, few->memories) == "");
    for (auto const& x : results_of(*few, all)) {
      auto const same = part_of(x, all.of, second);
      for (std::int64_t r = 0; r < same.rows(); ++r) bits.add(*x.few, r, same, r);
    }
    CHECK_MESSAGE(bits.wrong() == "", bits.wrong());
  };
  check();
  with_other_multiprocessors(check);
}

TEST_CASE("tokens of no sequence") {
  for (auto const& of : short_gaps()) check_gaps<hedgehog_operands>({.states = true}, of);
}
TEST_CASE("wrong offsets touch nothing outside") {
  check_wrong_offsets<hedgehog_operands>({.h = 2, .states = true});
}

}  // namespace
}  // namespace tk::test
