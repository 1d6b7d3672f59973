// SPDX-License-Identifier: MIT
// One case of tk_hedgehog: sizes, states, packed sequences and lengths, layouts in memory.
// hedgehog_operands builds the operands; oracle.hpp judges.
#pragma once
#include <algorithm>
#include <sstream>
#include <string>

#include "ops/hedgehog/hedgehog.h"
#include "tests/support/random.hpp"
#include "tests/support/sequences.hpp"

namespace tk::test {

inline constexpr std::int64_t hedgehog_width = 128, hedgehog_features = 64, hedgehog_block = 64;

struct hedgehog_case {
  std::int64_t b = 1, n = 0, h = 1;  // n keys
  std::int64_t past = 0;  // of them so many before the first query; below 0: more queries
  dtype type = dtype::bf16;
  bool states = false;                     // initial and final ones are given
  std::vector<std::int64_t> lengths = {};  // keys of packed sequences; b and n are not looked at
  std::vector<std::int64_t> pasts = {};    // of packed sequences, if key_starts are given
  std::vector<std::int64_t> keys = {};     // of the sequences of a batch, if lengths are given
  float scale = 0.08838834764f;
  order by = order::bnhd;
  std::int64_t padding = 0;  // elements after each row
  int misalignment = 0;      // of each operand's first element
  double steepness = 0.4;    // the largest element of a map; four times that in every other head
};

inline std::string describe(hedgehog_case const& x) {
  std::ostringstream s;
  s << "hedgehog b " << x.b << " n " << x.n << " past " << x.past << " h " << x.h << " "
    << name_of(x.type) << (x.states ? " states" : "") << (x.by == order::bhnd ? " bhnd" : "");
  if (x.padding) s << " +" << x.padding;
  if (x.misalignment) s << " off by " << x.misalignment;
  for (auto const n : x.lengths) s << " " << n;
  if (!x.pasts.empty()) s << " behind";
  for (auto const n : x.pasts) s << " " << n;
  if (!x.keys.empty()) s << " of";
  for (auto const n : x.keys) s << " " << n;
  return s.str();
}

// The rows of a sequence's keys and queries: its nq queries are the last of n keys, and queries
// before the first key have no token.
struct hedgehog_span {
  std::int64_t batch, first, n, first_query, nq;
  std::int64_t past() const { return n - nq; }
};
inline std::int64_t queries(hedgehog_case const& x) {  // of each batch
  std::int64_t const n = tokens(x);
  if (!packed(x)) return n - x.past;
  std::int64_t all = n;
  for (auto const past : x.pasts) all -= past;
  return all;
}
inline hedgehog_span keys_and_queries(hedgehog_case const& x, std::int64_t s) {
  auto const of = span_of(x, s);
  if (!packed(x)) {
    auto const n = x.keys.empty()
                       ? x.n
                       : std::clamp<std::int64_t>(x.keys[static_cast<std::size_t>(s)], 0, x.n);
    return {s, 0, n, 0, queries(x)};
  }
  hedgehog_span y{0, of.first, of.n, of.first, of.n};
  for (std::size_t i = 0; i < x.pasts.size(); ++i) {
    if (static_cast<std::int64_t>(i) < s) y.first_query -= x.pasts[i];
    if (static_cast<std::int64_t>(i) == s) y.nq -= x.pasts[i];
  }
  return y;
}

// What forward and backward are both given.
struct hedgehog_tensors {
  explicit hedgehog_tensors(hedgehog_case const& x) : of(x), memories(5) {
    q = make(queries(x), role::input, 61);
    k = make(tokens(x), role::input, 62), v = make(tokens(x), role::input, 63);
    map_q = make_map(64), map_k = make_map(65);
    alpha = memories.make(dtype::fp32, {x.h}, {1}, role::input);
    beta = memories.make(dtype::fp32, {x.h}, {1}, role::input);
    fill(alpha, data::positive, 66), fill(beta, data::positive, 67);
    if (x.states) {
      initial_kv = make_state(role::input), initial_k = make_sums(role::input);
      fill(initial_kv, data::reals, 68), fill(initial_k, data::positive, 69, 4);
    }
    if (packed(x)) starts = make_starts_of(false);
    if (!x.pasts.empty()) key_starts = make_starts_of(true);
    if (!x.keys.empty()) {
      lengths = memories.make(dtype::int32, {x.b}, {1}, role::input);
      for (std::int64_t s = 0; s < x.b; ++s)
        set(lengths, 0, s, static_cast<double>(x.keys[static_cast<std::size_t>(s)]));
    }
  }
  hedgehog_tensors(hedgehog_tensors const&) = delete;

  // [b, n, h, 128], of packed sequences [total, h, 128].
  tensor make(std::int64_t n, role use, std::uint64_t seed) {
    std::int64_t const row = hedgehog_width + of.padding;
    bool const by_head = of.by == order::bhnd;
    std::int64_t const n_stride = by_head ? row : of.h * row, h_stride = by_head ? n * row : row;
    std::vector<std::int64_t> shape{of.b, n, of.h, hedgehog_width},
        strides{n * of.h * row, n_stride, h_stride, 1};
    if (packed(of)) shape.erase(shape.begin()), strides.erase(strides.begin());
    auto x = memories.make(of.type, shape, strides, use, of.misalignment);
    fill(x, use == role::input ? data::reals : data::nans, seed);
    return x;
  }
  tensor make_map(std::uint64_t seed) {
    std::int64_t const row = hedgehog_features + of.padding;
    auto x = memories.make(of.type, {of.h, hedgehog_width, hedgehog_features},
                           {hedgehog_width * row, row, 1}, role::input, of.misalignment);
    for (std::int64_t head = 0; head < of.h; ++head) {
      auto part = x;
      part.shape[0] = 1, part.origin += head * x.strides[0];
      fill(part, data::reals, seed, of.steepness * (head % 2 ? 4 : 1));
    }
    return x;
  }
  tensor make_state(role use) {
    std::int64_t const row = hedgehog_width + of.padding;
    return memories.make(dtype::fp32, {sequences(of), of.h, hedgehog_width, hedgehog_width},
                         {of.h * hedgehog_width * row, hedgehog_width * row, row, 1}, use,
                         of.misalignment);
  }
  tensor make_sums(role use) {
    std::int64_t const row = hedgehog_width + of.padding;
    return memories.make(dtype::fp32, {sequences(of), of.h, hedgehog_width}, {of.h * row, row, 1},
                         use, of.misalignment);
  }
  tensor make_normaliser(role use) {
    std::int64_t const n = queries(of), row = n + of.padding;
    auto x = packed(of) ? memories.make(dtype::fp32, {of.h, n}, {row, 1}, use)
                        : memories.make(dtype::fp32, {of.b, of.h, n}, {of.h * row, row, 1}, use,
                                        of.misalignment);
    if (use == role::output) fill(x, data::nans, 0);
    return x;
  }
  tensor make_starts_of(bool of_keys) {
    std::int64_t const count = sequences(of) + 1;
    auto x = memories.make(dtype::int32, {count}, {1}, role::input);
    for (std::int64_t s = 0; s + 1 < count; ++s) {
      auto const at = keys_and_queries(of, s);
      set(x, 0, s, static_cast<double>(of_keys ? at.first : at.first_query));
    }
    set(x, 0, count - 1, static_cast<double>(of_keys ? tokens(of) : queries(of)));
    return x;
  }

  // The row of a token, as an operand of n of them has it.
  std::int64_t row(std::int64_t batch, std::int64_t n, std::int64_t token,
                   std::int64_t head) const {
    return (batch * n + token) * of.h + head;
  }

  hedgehog_case of;
  world memories;
  tensor q, k, v, map_q, map_k, alpha, beta, initial_kv, initial_k, starts, key_starts, lengths;
};

struct hedgehog_operands : hedgehog_tensors {
  explicit hedgehog_operands(hedgehog_case const& x) : hedgehog_tensors(x) {
    o = make(queries(x), role::output, 0);
    if (!x.states) return;
    final_kv = make_state(role::output), final_k = make_sums(role::output);
    fill(final_kv, data::nans, 0), fill(final_k, data::nans, 0);
    normaliser = make_normaliser(role::output);
  }
  tensor o, final_kv, final_k, normaliser;
  tk_repeat repeat = TK_REPEAT_RUN;
};

template <class Body> std::string with_problem(hedgehog_operands const& x, Body const& body) {
  given_tensor const q(x.q), k(x.k), v(x.v), o(x.o), map_q(x.map_q), map_k(x.map_k), alpha(x.alpha),
      beta(x.beta), initial_kv(x.initial_kv), initial_k(x.initial_k), final_kv(x.final_kv),
      final_k(x.final_k), starts(x.starts), key_starts(x.key_starts), lengths(x.lengths),
      normaliser(x.normaliser);
  tk_hedgehog_problem problem{};
  problem.size = sizeof problem;
  problem.q = q.get(), problem.k = k.get(), problem.v = v.get(), problem.o = o.get();
  problem.map_q = map_q.get(), problem.map_k = map_k.get();
  problem.alpha = alpha.get(), problem.beta = beta.get();
  problem.initial_kv = initial_kv.get(), problem.initial_k = initial_k.get();
  problem.final_kv = final_kv.get(), problem.final_k = final_k.get();
  problem.starts = starts.get(), problem.key_starts = key_starts.get();
  problem.lengths = lengths.get();
  problem.normaliser = normaliser.get();
  problem.scale = x.of.scale;
  problem.repeat = x.repeat;
  return body(called_op{TK_OP_HEDGEHOG, tk_hedgehog},
              static_cast<tk_hedgehog_problem const*>(&problem));
}

inline std::vector<tensor> outputs_of(hedgehog_operands const& x) {
  std::vector<tensor> all{x.o};
  if (x.of.states)
    for (auto const* y : {&x.final_kv, &x.final_k, &x.normaliser}) all.push_back(*y);
  return all;
}

}  // namespace tk::test
