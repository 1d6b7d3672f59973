// SPDX-License-Identifier: MIT
// Some tokens and heads of one sequence as a problem of their own, and its results beside those of
// the whole.
#pragma once
#include <memory>

#include "tests/ops/linear_attention/oracle.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {

// Tokens [first, first + n) and heads [head, head + h) of sequence s.
struct scan_part {
  std::int64_t s, first, n, head, h;
};
inline scan_part whole_sequence(scan_case const& x, std::int64_t s) {
  return {s, 0, span_of(x, s).n, 0, x.h};
}

// The part of an operand of tokens as [1, n, h, columns], of a log decay as [1, n, h].
inline tensor tokens_of(tensor x, scan_case const& of, scan_part const& p) {
  auto const at = span_of(of, p.s);
  std::size_t const n = packed(of) ? 0 : 1;
  bool const wide = x.shape.size() == n + 3;
  std::int64_t const n_stride = x.strides[n], h_stride = wide ? x.strides[n + 1] : 1;
  x.origin +=
      (n ? at.batch * x.strides[0] : 0) + (at.first + p.first) * n_stride + p.head * h_stride;
  std::vector<std::int64_t> shape{1, p.n, p.h}, strides{p.n * n_stride, n_stride, h_stride};
  if (wide) shape.push_back(x.shape.back()), strides.push_back(1);
  x.shape = shape, x.strides = strides;
  return x;
}
inline tensor states_of(tensor x, scan_part const& p) {
  x.origin += p.s * x.strides[0] + p.head * x.strides[1];
  x.shape[0] = 1, x.shape[1] = p.h;
  return x;
}
inline tensor decays_of_heads(tensor x, scan_part const& p) {
  x.origin += p.head;
  x.shape[0] = p.h;
  return x;
}

enum class kind { of_tokens, of_states, of_heads };
struct pair_of_operands {
  tensor *few, *all;
  kind is;
};
inline tensor part_of(pair_of_operands const& x, scan_case const& of, scan_part const& p) {
  return x.is == kind::of_tokens   ? tokens_of(*x.all, of, p)
         : x.is == kind::of_states ? states_of(*x.all, p)
                                   : decays_of_heads(*x.all, p);
}
inline std::vector<pair_of_operands> inputs_of(scan_inputs& few, scan_inputs& all) {
  return {
      {&few.q, &all.q, kind::of_tokens},        {&few.k, &all.k, kind::of_tokens},
      {&few.v, &all.v, kind::of_tokens},        {&few.log_decay, &all.log_decay, kind::of_tokens},
      {&few.decay, &all.decay, kind::of_heads}, {&few.initial, &all.initial, kind::of_states}};
}
inline std::vector<pair_of_operands> own_inputs(forward_operands&, forward_operands&) { return {}; }
inline std::vector<pair_of_operands> own_inputs(backward_operands& few, backward_operands& all) {
  return {{&few.dout, &all.dout, kind::of_tokens}, {&few.dfinal, &all.dfinal, kind::of_states}};
}
// A head's one decay gets a sum over all sequences, which no part has.
inline std::vector<pair_of_operands> results_of(forward_operands& few, forward_operands& all) {
  return {{&few.o, &all.o, kind::of_tokens}, {&few.final, &all.final, kind::of_states}};
}
inline std::vector<pair_of_operands> results_of(backward_operands& few, backward_operands& all) {
  return {{&few.dq, &all.dq, kind::of_tokens},
          {&few.dk, &all.dk, kind::of_tokens},
          {&few.dv, &all.dv, kind::of_tokens},
          {&few.dlog_decay, &all.dlog_decay, kind::of_tokens},
          {&few.dinitial, &all.dinitial, kind::of_states}};
}

// The part with inputs of its own, which are those of `all`.
template <class Operands>
std::unique_ptr<Operands> take(Operands& all, scan_part const& p, int misalignment = 0) {
  scan_case c = all.of;
  c.b = 1, c.n = p.n, c.h = p.h, c.lengths = {}, c.padding = 0, c.misalignment = misalignment;
  auto few = std::make_unique<Operands>(c);
  auto inputs = inputs_of(*few, all);
  for (auto const& x : own_inputs(*few, all)) inputs.push_back(x);
  for (auto const& x : inputs) {
    if (!x.all->in) continue;
    auto const from = part_of(x, all.of, p);
    for (std::int64_t r = 0; r < from.rows(); ++r)
      std::memcpy(x.few->image_row(r), from.image_row(r),
                  static_cast<std::size_t>(from.cols() * bytes_of(from.type)));
  }
  return few;
}

// Launches the part alone and compares bits.
template <class Operands>
void compare_alone(Operands& all, scan_part const& p, int misalignment, row_comparison& bits) {
  auto const few = take(all, p, misalignment);
  auto const wrong = launch_twice(*few);
  REQUIRE_MESSAGE(wrong == "", wrong);
  for (auto const& x : results_of(*few, all)) {
    if (!x.all->in) continue;
    auto const same = part_of(x, all.of, p);
    for (std::int64_t r = 0; r < same.rows(); ++r) bits.add(*x.few, r, same, r);
  }
}

// Every sequence alone, and one head of each; `all` has been launched.
template <class Operands> void compare_sequences(Operands& all, std::int64_t but = -1) {
  row_comparison bits;
  for (std::int64_t s = 0; s < sequences(all.of); ++s) {
    if (s == but) continue;
    auto const p = whole_sequence(all.of, s);
    compare_alone(all, p, static_cast<int>(s % 3), bits);
    if (p.h > 1) compare_alone(all, {s, 0, p.n, s % p.h, 1}, 0, bits);
  }
  CHECK_MESSAGE(bits.wrong() == "", describe(all.of) << ": " << bits.wrong());
}

// NaN, and infinite queries, in all that a sequence is given of tokens.
template <class Operands> void spoil_sequence(Operands& x, std::int64_t s) {
  auto const p = whole_sequence(x.of, s);
  auto const spoil = [&](tensor const& of, double value) {
    if (!of.in) return;
    auto part = tokens_of(of, x.of, p);
    for (std::int64_t r = 0; r < part.rows(); ++r)
      for (std::int64_t c = 0; c < part.cols(); ++c) set(part, r, c, value);
  };
  spoil(x.k, std::nan(""));
  spoil(x.v, std::nan(""));
  spoil(x.q, HUGE_VAL);
  spoil(x.log_decay, std::nan(""));
}

// Batches and packed sequences with and without decays, past segments where Long.
inline std::vector<scan_case> company_cases() {
  std::vector<scan_case> all{
      {.b = 2, .n = 130, .h = 3, .decay = decays::mild, .states = true},
      {.b = 2, .n = 65, .h = 2, .d = 256, .dv = 48, .decay = decays::heads},
      {.h = 2, .decay = decays::none, .states = true, .lengths = {33, 70, 1, 17, 0, 64}},
      {.h = 2, .d = 128, .dv = 48, .decay = decays::strong, .lengths = {20, 70, 31}},
      {.d = 32, .dv = 32, .decay = decays::mild, .states = true, .lengths = {40, 1030, 3}}};
  all[1].type = all[3].type = dtype::fp16;
  return all;
}
template <class Operands> void check_company() {
  for (auto const& c : company_cases()) {
    Operands x(c);
    REQUIRE(launch_twice(x) == "");
    compare_sequences(x);
    Operands spoiled(c);
    spoil_sequence(spoiled, 1);
    REQUIRE(launch_twice(spoiled) == "");
    compare_sequences(spoiled, 1);
  }
}

// As many heads as keep every multiprocessor busy are walked, one alone is cut into segments: the
// same bits. The workspace of what is not cut, and does not decay, is empty.
template <class Operands> std::size_t workspace_of(Operands const& x) {
  std::size_t bytes = 0;
  with_problem(x, [&](auto op, auto const* problem) {
    CHECK(tk_workspace(op.number, problem, &bytes) == TK_OK);
    return std::string();
  });
  return bytes;
}
template <class Operands> void check_cut(scan_case c) {
  c.h = be::rt::multiprocessors(), c.n = cut_length(), c.d = c.dv = 16;
  Operands all(c);
  auto const alone = take(all, {0, 0, c.n, 0, 1});
  if (c.decay == decays::none) {
    CHECK(workspace_of(all) == 0);
    CHECK(workspace_of(*alone) > 0);
  }
  REQUIRE(launch_twice(all) == "");
  row_comparison bits;
  for (std::int64_t const head : {std::int64_t{0}, c.h - 1})
    compare_alone(all, {0, 0, c.n, head, 1}, 0, bits);
  CHECK_MESSAGE(bits.wrong() == "", describe(all.of) << ": " << bits.wrong());
}

}  // namespace tk::test
