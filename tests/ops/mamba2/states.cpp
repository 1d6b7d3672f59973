// SPDX-License-Identifier: MIT
// timeout: 600
// States from call to call: sequences that are split, or walked token by token with the state in
// place, are right by the oracle of the unsplit one; wrong offsets of packed sequences write
// nothing outside.
#include "tests/ops/mamba2/part.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

void copy_row(std::byte* to, std::byte const* from, tensor const& like) {
  std::memcpy(to, from, static_cast<std::size_t>(like.cols() * bytes_of(like.type)));
}

// Each part's results become those of the whole, whose oracle judges them.
void check_split(mamba2_case c, std::vector<std::int64_t> const& lengths, bool in_place) {
  c.states = true;
  c.n = 0;
  for (auto const n : lengths) c.n += n;
  mamba2_operands whole(c);
  REQUIRE(launch_twice(whole) == "");
  for (std::int64_t s = 0; s < c.b; ++s) {
    std::unique_ptr<mamba2_operands> last;
    std::int64_t first = 0;
    for (auto const n : lengths) {
      scan_part const p{s, first, n, 0, c.g};
      auto part = take(whole, p);
      if (last) {
        if (in_place) part->initial = part->final;
        for (std::int64_t r = 0; r < last->final.rows(); ++r)
          copy_row(part->initial.image_row(r), last->final.result_row(r), last->final);
      }
      REQUIRE(launch_twice(*part) == "");
      auto const y = part_of(whole.y, kind::of_heads_tokens, c, p),
                 state = part_of(whole.final, kind::of_states, c, p);
      for (std::int64_t r = 0; r < y.rows(); ++r)
        copy_row(y.result_row(r), part->y.result_row(r), y);
      for (std::int64_t r = 0; r < state.rows(); ++r)
        copy_row(state.result_row(r), part->final.result_row(r), state);
      first += n;
      last = std::move(part);
    }
  }
  auto const v = compare(whole);
  CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
}

TEST_CASE("a sequence in two or three calls") {
  check_split({.b = 2, .h = 2, .softplus = true}, {64, 66}, false);
  check_split({.h = 2, .p = 48, .s = 128, .gate = true}, {1, 100, 63}, true);
  check_split({.p = 32, .s = 256, .type = dtype::fp16, .skip = skips::heads}, {33, 40}, false);
}
TEST_CASE("token by token, the state in its place") {
  check_split({.b = 2, .h = 4, .g = 2, .s = 80, .gate = true, .bias = true, .softplus = true},
              std::vector<std::int64_t>(20, 1), true);
}

// Sequences below 0, past the end, or that end before they begin.
template <class Operands> void check_offsets(std::vector<int> const& starts) {
  mamba2_case c{.h = 2, .p = 32, .s = 16, .gate = true, .states = true, .lengths = {10, 9, 11}};
  Operands x(c);
  for (std::size_t i = 0; i < starts.size(); ++i)
    set(x.starts, 0, static_cast<std::int64_t>(i), starts[i]);
  REQUIRE(launch_twice(x) == "");
  CHECK(check_untouched(x.memories, outputs_of(x)) == "");
}
TEST_CASE("wrong offsets touch nothing outside") {
  for (auto const& starts : {std::vector<int>{-7, 10, 10, 99},
                             {17, 3, 25, 2000000000},
                             {30, 30, 31, 32},
                             {-2000000000, -5, 0, 30},
                             {29, 12, 3, 0}}) {
    check_offsets<mamba2_operands>(starts);
    check_offsets<mamba2_backward_operands>(starts);
  }
}

}  // namespace
}  // namespace tk::test
