// SPDX-License-Identifier: MIT
// Some tokens and whole groups of one sequence as a problem of their own, and its results beside
// those of the whole.
#pragma once
#include <memory>

#include "tests/ops/mamba2/backward_oracle.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {

// Tokens [first, first + n) of sequence s, groups [group, group + g).
struct scan_part {
  std::int64_t s, first, n, group, g;
};
inline scan_part whole_sequence(mamba2_case const& x, std::int64_t s) {
  return {s, 0, span_of(x, s).n, 0, x.g};
}

enum class kind { of_heads_tokens, of_groups_tokens, of_states, of_heads };
struct pair_of_operands {
  tensor *few, *all;
  kind is;
};
inline tensor part_of(tensor x, kind is, mamba2_case const& of, scan_part const& p) {
  std::int64_t const sharing = is == kind::of_groups_tokens ? 1 : of.h / of.g,
                     head = p.group * sharing, heads = p.g * sharing;
  if (is == kind::of_heads) {
    x.origin += head * x.strides[0];
    x.shape[0] = heads;
    return x;
  }
  if (is == kind::of_states) {
    x.origin += p.s * x.strides[0] + head * x.strides[1];
    x.shape[0] = 1, x.shape[1] = heads;
    return x;
  }
  auto const at = span_of(of, p.s);
  std::size_t const n = packed(of) ? 0 : 1;
  bool const wide = x.shape.size() == n + 3;
  std::int64_t const n_stride = x.strides[n], h_stride = wide ? x.strides[n + 1] : 1;
  x.origin += (n ? at.batch * x.strides[0] : 0) + (at.first + p.first) * n_stride + head * h_stride;
  std::vector<std::int64_t> shape{1, p.n, heads}, strides{p.n * n_stride, n_stride, h_stride};
  if (wide) shape.push_back(x.shape.back()), strides.push_back(1);
  x.shape = shape, x.strides = strides;
  return x;
}
inline std::vector<pair_of_operands> inputs_of(mamba2_inputs& few, mamba2_inputs& all) {
  return {{&few.x, &all.x, kind::of_heads_tokens},
          {&few.dt, &all.dt, kind::of_heads_tokens},
          {&few.z, &all.z, kind::of_heads_tokens},
          {&few.B, &all.B, kind::of_groups_tokens},
          {&few.C, &all.C, kind::of_groups_tokens},
          {&few.A, &all.A, kind::of_heads},
          {&few.D, &all.D, kind::of_heads},
          {&few.dt_bias, &all.dt_bias, kind::of_heads},
          {&few.initial, &all.initial, kind::of_states}};
}
inline std::vector<pair_of_operands> own_inputs(mamba2_operands&, mamba2_operands&) { return {}; }
inline std::vector<pair_of_operands> own_inputs(mamba2_backward_operands& few,
                                                mamba2_backward_operands& all) {
  return {{&few.dy, &all.dy, kind::of_heads_tokens}, {&few.dfinal, &all.dfinal, kind::of_states}};
}
// What heads have of all sequences together no part has.
inline std::vector<pair_of_operands> results_of(mamba2_operands& few, mamba2_operands& all) {
  return {{&few.y, &all.y, kind::of_heads_tokens}, {&few.final, &all.final, kind::of_states}};
}
inline std::vector<pair_of_operands> results_of(mamba2_backward_operands& few,
                                                mamba2_backward_operands& all) {
  return {
      {&few.dx, &all.dx, kind::of_heads_tokens},   {&few.dz, &all.dz, kind::of_heads_tokens},
      {&few.ddt, &all.ddt, kind::of_heads_tokens}, {&few.dB, &all.dB, kind::of_groups_tokens},
      {&few.dC, &all.dC, kind::of_groups_tokens},  {&few.dinitial, &all.dinitial, kind::of_states}};
}

// The part with inputs of its own, which are those of `all`.
template <class Operands>
std::unique_ptr<Operands> take(Operands& all, scan_part const& p, int misalignment = 0) {
  mamba2_case c = all.of;
  c.b = 1, c.n = p.n, c.h = p.g * (c.h / c.g), c.g = p.g, c.lengths = {}, c.padding = 0;
  c.misalignment = misalignment;
  auto few = std::make_unique<Operands>(c);
  auto inputs = inputs_of(*few, all);
  for (auto const& x : own_inputs(*few, all)) inputs.push_back(x);
  for (auto const& x : inputs) {
    if (!x.all->in) continue;
    auto const from = part_of(*x.all, x.is, all.of, p);
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
    auto const same = part_of(*x.all, x.is, all.of, p);
    for (std::int64_t r = 0; r < same.rows(); ++r) bits.add(*x.few, r, same, r);
  }
}

// Every sequence alone, and one group of each; `all` has been launched.
template <class Operands> void compare_sequences(Operands& all, std::int64_t but = -1) {
  row_comparison bits;
  for (std::int64_t s = 0; s < sequences(all.of); ++s) {
    if (s == but) continue;
    auto const p = whole_sequence(all.of, s);
    compare_alone(all, p, static_cast<int>(s % 3), bits);
    if (p.g > 1) compare_alone(all, {s, 0, p.n, s % p.g, 1}, 0, bits);
  }
  CHECK_MESSAGE(bits.wrong() == "", describe(all.of) << ": " << bits.wrong());
}

// NaN, and infinite C, in all that a sequence is given of tokens.
template <class Operands> void spoil_sequence(Operands& x, std::int64_t s) {
  auto const p = whole_sequence(x.of, s);
  auto const spoil = [&](tensor const& of, kind is, double value) {
    if (!of.in) return;
    auto part = part_of(of, is, x.of, p);
    for (std::int64_t r = 0; r < part.rows(); ++r)
      for (std::int64_t c = 0; c < part.cols(); ++c) set(part, r, c, value);
  };
  spoil(x.x, kind::of_heads_tokens, std::nan(""));
  spoil(x.dt, kind::of_heads_tokens, std::nan(""));
  spoil(x.z, kind::of_heads_tokens, std::nan(""));
  spoil(x.B, kind::of_groups_tokens, std::nan(""));
  spoil(x.C, kind::of_groups_tokens, HUGE_VAL);
}

template <class Operands> void check_company() {
  std::vector<mamba2_case> all{
      {.b = 2, .n = 130, .h = 4, .g = 2, .skip = skips::heads, .gate = true},
      {.b = 2, .n = 65, .h = 2, .p = 48, .s = 128, .type = dtype::fp16, .softplus = true},
      {.h = 2, .g = 2, .p = 16, .s = 32, .lengths = {33, 70, 1, 17, 0, 64}},
      {.p = 32, .s = 32, .skip = skips::columns, .bias = true, .lengths = {40, 1030, 3}}};
  int turn = 0;
  for (auto& c : all) {
    c.states = turn++ % 2 == 0;
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
// same bits.
template <class Operands> void check_cut() {
  int const units = be::rt::multiprocessors();
  mamba2_case c{.n = units > 2 ? 2 * 1024 + 70 : 8 * 1024 - 58, .h = units, .g = units};
  c.p = c.s = 16, c.states = true;
  Operands all(c);
  REQUIRE(launch_twice(all) == "");
  row_comparison bits;
  for (std::int64_t const group : {std::int64_t{0}, c.g - 1})
    compare_alone(all, {0, 0, c.n, group, 1}, 0, bits);
  CHECK_MESSAGE(bits.wrong() == "", describe(all.of) << ": " << bits.wrong());
}

}  // namespace tk::test
