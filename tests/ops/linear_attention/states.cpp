// SPDX-License-Identifier: MIT
// timeout: 600
// States from call to call: sequences that are split, or walked token by token with the state in
// place, are right by the oracle of the unsplit one; a long one without decay; wrong offsets of
// packed sequences write nothing outside.
#include "tests/ops/linear_attention/part.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

void copy_row(std::byte* to, std::byte const* from, tensor const& like) {
  std::memcpy(to, from, static_cast<std::size_t>(like.cols() * bytes_of(like.type)));
}
// The state that a part begins with is the one that another left, and may be in its place.
void continue_from(forward_operands& next, forward_operands const& before, bool in_place) {
  if (in_place) next.initial = next.final;
  for (std::int64_t r = 0; r < before.final.rows(); ++r)
    copy_row(next.initial.image_row(r), before.final.result_row(r), before.final);
}

// Each part's results become those of the whole, whose oracle judges them.
void check_split(scan_case c, std::vector<std::int64_t> const& lengths, bool in_place) {
  c.states = true;
  c.n = 0;
  for (auto const n : lengths) c.n += n;
  forward_operands whole(c);
  REQUIRE(launch_twice(whole) == "");
  for (std::int64_t s = 0; s < c.b; ++s) {
    std::unique_ptr<forward_operands> last;
    std::int64_t first = 0;
    for (auto const n : lengths) {
      scan_part const p{s, first, n, 0, c.h};
      auto part = take(whole, p);
      if (last) continue_from(*part, *last, in_place);
      REQUIRE(launch_twice(*part) == "");
      auto const o = tokens_of(whole.o, c, p), state = states_of(whole.final, p);
      for (std::int64_t r = 0; r < o.rows(); ++r)
        copy_row(o.result_row(r), part->o.result_row(r), o);
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
  for (auto const decay : {decays::none, decays::heads, decays::mild, decays::strong}) {
    check_split({.b = 2, .h = 2, .decay = decay}, {64, 66}, false);
    check_split({.h = 2, .d = 128, .dv = 48, .decay = decay}, {1, 100, 63}, true);
    check_split({.d = 256, .dv = 32, .type = dtype::fp16, .decay = decay}, {33, 40}, false);
  }
}

TEST_CASE("token by token, the state in its place") {
  for (auto const decay : {decays::none, decays::mild})
    check_split({.b = 2, .h = 3, .d = 64, .dv = 80, .decay = decay},
                std::vector<std::int64_t>(20, 1), true);
}

TEST_CASE("a long sequence without decay, and one with a negative scale") {
  scan_case long_one{.n = 12000, .d = 16, .dv = 16, .states = true};
  scan_case negative{.n = 130, .h = 2, .decay = decays::mild, .states = true};
  negative.scale = -2.5f;
  for (auto const& c : {long_one, negative}) {
    CHECK_MESSAGE(run_scan<forward_operands>(c).wrong == "", describe(c));
    CHECK_MESSAGE(run_scan<backward_operands>(c).wrong == "", describe(c));
  }
}

// Sequences below 0, past the end, or that end before they begin.
template <class Operands> void check_offsets(std::vector<int> const& starts) {
  scan_case c{.h = 2, .decay = decays::mild, .states = true, .lengths = {10, 9, 11}};
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
    check_offsets<forward_operands>(starts);
    check_offsets<backward_operands>(starts);
  }
}

}  // namespace
}  // namespace tk::test
