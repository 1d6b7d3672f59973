// SPDX-License-Identifier: MIT
// timeout: 600
// Packed sequences and batches whose segments are tasks of their own, on both sides of a segment's
// length, empty ones among them: right by the oracle, the bits of each sequence alone, where one
// task walks it, and NaN in one of them stays there.
#include "tests/ops/linear_attention/cut.hpp"

namespace tk::test {
namespace {

template <class Operands> void check(scan_case const& c, bool walked_alone, std::int64_t spoiled) {
  REQUIRE(is_cut<Operands>(c) == true);
  for (std::int64_t s = 0; s < sequences(c) && walked_alone; ++s) {
    scan_case alone = c;
    alone.b = 1, alone.n = span_of(c, s).n, alone.lengths = {};
    REQUIRE(is_cut<Operands>(alone) == false);
  }
  Operands x(c);
  REQUIRE(launch_twice(x) == "");
  auto const v = compare(x);
  CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
  compare_sequences(x);
  if (spoiled < 0) return;
  Operands bad(c);
  spoil_sequence(bad, spoiled);
  REQUIRE(launch_twice(bad) == "");
  compare_sequences(bad, spoiled);
}

// Of 3800 tokens, of which each multiprocessor of any number gets some.
template <class Operands> void check_packed() {
  std::vector<std::int64_t> const lengths{1000, 1024, 0, 1700, 76};
  for (auto const decay : {decays::none, decays::mild})
    check<Operands>({.d = 16, .dv = 16, .decay = decay, .states = true, .lengths = lengths}, true,
                    1);
  check<Operands>({.d = 16,
                   .dv = 32,
                   .type = dtype::fp16,
                   .decay = decays::vanishing,
                   .lengths = {0, 1025, 1100, 1675}},
                  true, 3);
}

TEST_CASE("packed sequences in segments") { check_packed<forward_operands>(); }
TEST_CASE("gradients of packed sequences in segments") { check_packed<backward_operands>(); }

// Columns of v in parts. Few multiprocessors are busy with many parts as they are.
template <class Operands> void check_batch() {
  scan_case const c{.n = 4096, .d = 16, .dv = 80, .decay = decays::heads, .states = true};
  if (is_cut<Operands>(c)) check<Operands>(c, false, -1);
  else CHECK(run_scan<Operands>(c).wrong == "");
}
TEST_CASE("a sequence in segments, its columns in parts") { check_batch<forward_operands>(); }
TEST_CASE("gradients of a sequence in segments, its columns in parts") {
  check_batch<backward_operands>();
}

}  // namespace
}  // namespace tk::test
