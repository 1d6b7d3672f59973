// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_activation_backward at the sizes of sizes.txt: all activations and types, without b and with
// it, either gradient and both, and of pairs; every number; special values.
#include "tests/ops/activation/activation_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 89: activations, types, without b, da, db, both, and pairs, of 16 bits alone.
constexpr int kinds = 90;
activation_backward_case of_kind(row_shape const& shape, int kind) {
  activation_backward_case x{.shape = shape};
  x.type = row_types[kind % 3];
  x.kind = activation_kinds[kind / 3 % 6];
  x.gated = kind / 18 > 0;
  x.interleaved = kind / 18 == 4;
  x.stores = x.gated && !x.interleaved ? static_cast<activation_gradients>(kind / 18 - 1)
                                       : activation_gradients::da;
  x.packed = x.gated && kind % 2;
  if (x.interleaved) x.type = row_types[kind % 2];
  return x;
}

std::vector<activation_backward_case> every_number() {
  std::vector<activation_backward_case> cases;
  for (auto const kind : activation_kinds)
    for (auto const type : row_types)
      for (bool const gated : {false, true}) {
        activation_backward_case x{.shape = {.rank = 2, .rows = 256, .width = 256}, .type = type};
        x.kind = kind, x.gated = gated;
        x.stores = gated ? activation_gradients::both : activation_gradients::da;
        x.data = activation_data::every_number;
        cases.push_back(x);
        x.interleaved = gated && type != dtype::fp32;
        if (x.interleaved) cases.push_back(x);
      }
  return cases;
}

TEST_CASE("NaN and infinity stay in their place") {
  using x = activation_backward_operands;
  int turn = 0;
  for (auto const kind : activation_kinds) {
    activation_backward_case c{.shape = {}, .type = row_types[turn % 3], .kind = kind};
    for (auto const input : {&x::a, turn++ % 2 ? &x::b : &x::dy})
      check_specials(c, input, {std::nan(""), HUGE_VAL, -HUGE_VAL});
    c.interleaved = true, c.type = row_types[turn % 2];
    check_specials(c, turn % 4 < 2 ? &x::a : &x::dy, {std::nan(""), HUGE_VAL, -HUGE_VAL});
  }
}

TEST_CASE("activation_backward of every number") { run_table("numbers", every_number()); }
TEST_CASE("activation_backward at every size") {
  run_table("sizes", size_table("activation", kinds, of_kind));
}
TEST_CASE("activation_backward of many short rows") {
  run_table("tails", tail_table(kinds, of_kind));
}

TEST_CASE("the table of sizes holds every kind") {
  std::set<int> seen;
  for (auto const& x : size_table("activation", kinds, of_kind))
    seen.insert(static_cast<int>(x.type) + 3 * static_cast<int>(x.kind) +
                18 * (x.interleaved ? 4
                      : x.gated     ? 1 + static_cast<int>(x.stores)
                                    : 0));
  CHECK(seen.size() == 84);  // of pairs there are two types
}

}  // namespace
}  // namespace tk::test
