// SPDX-License-Identifier: MIT
// timeout: 600
// tk_mamba2 where there are more heads than multiprocessors, and where one sequence is cut for many
// of them: workers side by side of whole heads, of parts of heads, of an odd number of them.
#include "tests/ops/mamba2/size_cases.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {
namespace {

std::vector<mamba2_case> many_heads() {
  std::vector<mamba2_case> all{{.n = 400, .h = 3},
                               {.b = 2, .n = 641, .h = 4, .g = 2},
                               {.n = 330, .h = 5, .p = 48},
                               {.n = 385, .h = 2, .g = 2, .p = 128},
                               {.n = 449, .h = 3, .p = 144, .s = 64}};
  for (std::size_t i = 0; i < all.size(); ++i) set_kind(all[i], static_cast<int>(3 + 5 * i));
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    auto x = all[i];
    x.s = 128, x.gate = !x.gate, x.states = !x.states;
    all.push_back(x);
  }
  return all;
}
std::vector<mamba2_case> long_sequences() {
  std::vector<mamba2_case> all{{.n = 1500, .h = 2, .p = 16, .s = 32},
                               {.n = 2111, .h = 3, .p = 80, .s = 16},
                               {.n = 1300, .h = 2, .g = 2, .p = 16, .s = 128}};
  for (std::size_t i = 0; i < all.size(); ++i) set_kind(all[i], static_cast<int>(4 + 7 * i));
  all[0].states = all[1].gate = true;
  return all;
}

TEST_CASE("mamba2 of more heads than multiprocessors") {
  auto const check = [] { run_table("heads", in_direction<mamba2_operands>(many_heads())); };
  check();
  with_other_multiprocessors(check);
}
TEST_CASE("mamba2 of sequences that are cut") {
  auto const check = [] { run_table("cut", in_direction<mamba2_operands>(long_sequences())); };
  check();
  with_other_multiprocessors(check);
}

}  // namespace
}  // namespace tk::test
