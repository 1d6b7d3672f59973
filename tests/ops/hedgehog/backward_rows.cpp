// SPDX-License-Identifier: MIT
// timeout: 600
// No sequence's and no head's gradients depend on what is beside them, and NaN in one of them stays
// there; tokens of no sequence are not written, and nothing of them reaches sums over tokens.
#include "tests/ops/hedgehog/backward_part.hpp"
#include "tests/support/sequence_gaps.hpp"

namespace tk::test {

// Of maps and factors, whose sums are over all sequences.
std::vector<double> sums_of(hedgehog_gradients const& x) {
  std::vector<double> all;
  for (auto const* y : {&x.dmap_q, &x.dmap_k, &x.dalpha, &x.dbeta})
    for (std::int64_t r = 0; r < y->rows(); r += 16)
      for (std::int64_t c = 0; c < y->cols(); c += 16)
        all.push_back(decode(dtype::fp32, y->result_row(r) + c * 4));
  return all;
}

namespace {

// Every sequence but one alone, and one head of each; `all` has been launched.
void compare_alone(hedgehog_gradients& all, std::int64_t but = -1) {
  row_comparison bits;
  for (std::int64_t s = 0; s < sequences(all.of); ++s) {
    if (s == but) continue;
    auto p = whole_sequence(all.of, s);
    for (bool const one : {false, true}) {
      if (one) p.head = s % all.of.h, p.h = 1;
      auto const few = take(all, p, static_cast<int>(s % 3));
      few->fill_forward();
      REQUIRE(launch_twice(*few) == "");
      for (auto const& x : results_of(*few, all)) {
        auto const same = part_of(x, all.of, p);
        for (std::int64_t r = 0; r < same.rows(); ++r) bits.add(*x.few, r, same, r);
      }
    }
  }
  CHECK_MESSAGE(bits.wrong() == "", describe(all.of) << ": " << bits.wrong());
}

TEST_CASE("gradients of sequences and heads do not depend on others") {
  std::vector<hedgehog_case> all{{.b = 2, .n = 200, .h = 2, .states = true},
                                 {.h = 2, .states = true, .lengths = {33, 140, 1, 0, 64}}};
  all[1].type = dtype::fp16;
  for (auto const& c : all) {
    hedgehog_gradients x(c), spoiled(c);
    REQUIRE(launch_twice(x) == "");
    compare_alone(x);
    with_other_multiprocessors([&] { compare_alone(x); });
    spoil_sequence(spoiled, 1);
    REQUIRE(launch_twice(spoiled) == "");
    compare_alone(spoiled, 1);
  }
}
TEST_CASE("wrong offsets touch nothing outside") {
  check_wrong_offsets<hedgehog_gradients>({.h = 2, .states = true});
}
TEST_CASE("tokens of no sequence") {
  gaps const of{260, {8, 150, 150, 220}};
  hedgehog_case c{.states = true};
  set_total(c, of);
  hedgehog_gradients x(c);
  for (std::size_t i = 0; i < of.starts.size(); ++i)
    set(x.starts, 0, static_cast<std::int64_t>(i), static_cast<double>(of.starts[i]));
  REQUIRE(launch_twice(x) == "");
  check_written(x, of);
  for (auto const sum : sums_of(x)) CHECK(std::isfinite(sum) == true);
  CHECK(check_untouched(x.memories, outputs_of(x)) == "");
}

}  // namespace
}  // namespace tk::test
