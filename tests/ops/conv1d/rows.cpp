// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Tokens and states under TK_REPEAT_ROW: the same bits whatever sequences, channels and, in the
// forward, later tokens are beside them, in a batch or packed.
#include "tests/support/rows.hpp"

#include "tests/ops/conv1d/conv1d.hpp"
#include "tests/ops/conv1d/conv1d_backward.hpp"
#include "tests/ops/conv1d/kinds.hpp"

namespace tk::test {
namespace {

// Channels [c0, c0 + c) of the first n tokens of sequences [b0, b0 + b).
struct part {
  std::int64_t b0, b, c0, c, n;
};
tensor cut(tensor x, part const& p, bool tokens) {
  if (!x.in) return x;
  x.origin += p.b0 * x.strides[0] + p.c0;
  x.shape = {p.b, tokens ? p.n : x.shape[1], p.c};
  return x;
}
tensor cut_weights(tensor x, part const& p) {
  if (!x.in) return x;
  x.origin += p.c0 * x.strides[0];
  x.shape[0] = p.c;
  return x;
}
// The same tokens as one sequence after another.
tensor joined(tensor x) {
  x.shape = {1, x.shape[0] * x.shape[1], x.shape[2]};
  x.strides = row_major(x.shape);
  return x;
}

void cut_inputs(conv1d_inputs& few, conv1d_inputs const& large, part const& p) {
  few.x = cut(large.x, p, true);
  few.initial = cut(large.initial, p, false);
  few.weight = cut_weights(large.weight, p);
  few.bias = cut_weights(large.bias, p);
}
tensor apart(world& w, tensor const& like, int off) {
  return w.make(like.type, like.shape, row_major(like.shape), role::output, off);
}
void add_rows(row_comparison& bits, tensor const& few, tensor const& large) {
  for (std::int64_t row = 0; row < few.rows(); ++row) bits.add(few, row, large, row);
}
template <class Case> Case none_of(Case c) {
  c.shape.h = c.shape.rows = 0;
  return c;
}

// Outputs of the large problem, and whether those of some tokens alone are comparable.
struct compared {
  tensor *few, large;
};

template <class Operands>
void check_part(Operands& few, std::vector<compared> const& outputs, int off, char const* what) {
  world memories(7);
  for (auto const& x : outputs) *x.few = apart(memories, x.large, off);
  auto const wrong = launch_by_rows(few, memories);
  REQUIRE_MESSAGE(wrong == "", wrong);
  row_comparison bits;
  for (auto const& x : outputs) add_rows(bits, *x.few, x.large);
  CHECK_MESSAGE(bits.wrong() == "", describe(few.of) << " " << what << ": " << bits.wrong());
}

part whole_of(row_shape const& s) { return {0, s.h, 0, s.width, s.rows}; }
std::vector<part> parts_of(row_shape const& s, bool of_tokens) {
  std::vector<part> all{{0, 1, 0, s.width, s.rows},
                        {1, 1, 0, s.width, s.rows},
                        {0, s.h, 0, 1, s.rows},
                        {2, 1, s.width / 2, s.width / 2, s.rows},
                        {1, 2, s.width - 9, 7, s.rows}};
  if (of_tokens)
    for (std::int64_t const n : {1, 3, 17, 64, 129}) all.push_back({1, 2, 0, s.width, n});
  return all;
}

template <class Case> std::vector<Case> large_problems() {
  std::vector<Case> all;
  for (std::int64_t const width : {40, 264, 1030}) {
    Case x;
    set_kind(x, {.rank = 3, .h = 3, .rows = 200, .width = width}, static_cast<int>(width % kinds));
    x.initial = true;
    all.push_back(x);
  }
  return all;
}

TEST_CASE("tokens and states of conv1d do not depend on others") {
  for (auto const& c : large_problems<conv1d_case>()) {
    conv1d_operands large(c);
    upload_inputs(large.memories);
    REQUIRE(launch_by_rows(large, large.memories) == "");
    int turn = 0;
    auto const check = [&](part const& p, char const* what) {
      conv1d_operands few(none_of(c));
      cut_inputs(few, large, p);
      bool const whole = p.n == c.shape.rows;
      std::vector<compared> outputs{{&few.y, cut(large.y, p, true)}};
      if (whole) outputs.push_back({&few.final, cut(large.final, p, false)});
      else few.final = {};
      check_part(few, outputs, turn++ % 3, what);
    };
    for (auto const& p : parts_of(c.shape, true)) check(p, "in part");
    with_other_multiprocessors([&] { check(whole_of(c.shape), "as a whole"); });
    auto packed = none_of(c);
    packed.starts = starts_of({c.shape.rows, c.shape.rows, c.shape.rows});
    packed.shape.h = 1;
    conv1d_operands few(packed);
    upload_inputs(few.memories);
    auto const starts = few.starts;
    cut_inputs(few, large, {0, 3, 0, c.shape.width, c.shape.rows});
    few.x = joined(few.x);
    few.starts = starts;
    check_part(few, {{&few.y, joined(large.y)}, {&few.final, large.final}}, 0, "packed");
  }
}

TEST_CASE("gradients of tokens and states of conv1d do not depend on others") {
  for (auto const& c : large_problems<conv1d_backward_case>()) {
    conv1d_backward_operands large(c);
    upload_inputs(large.memories);
    REQUIRE(launch_by_rows(large, large.memories) == "");
    int turn = 0;
    auto const take = [&](conv1d_backward_operands& few, part const& p) {
      cut_inputs(few, large, p);
      few.dy = cut(large.dy, p, true);
      few.dfinal = cut(large.dfinal, p, false);
      few.dweight = few.dbias = {};
    };
    auto const check = [&](part const& p, char const* what) {
      conv1d_backward_operands few(none_of(c));
      take(few, p);
      check_part(
          few, {{&few.dx, cut(large.dx, p, true)}, {&few.dinitial, cut(large.dinitial, p, false)}},
          turn++ % 3, what);
    };
    for (auto const& p : parts_of(c.shape, false)) check(p, "in part");
    with_other_multiprocessors([&] { check(whole_of(c.shape), "as a whole"); });
    auto packed = none_of(c);
    packed.starts = starts_of({c.shape.rows, c.shape.rows, c.shape.rows});
    packed.shape.h = 1;
    conv1d_backward_operands few(packed);
    upload_inputs(few.memories);
    take(few, {0, 3, 0, c.shape.width, c.shape.rows});
    few.x = joined(few.x), few.dy = joined(few.dy);
    check_part(few, {{&few.dx, joined(large.dx)}, {&few.dinitial, large.dinitial}}, 0, "packed");
  }
}

}  // namespace
}  // namespace tk::test
