// SPDX-License-Identifier: MIT
// What the cases of tk_conv1d and of its backward have in common: tokens of sequences, a batch or
// packed, weights and states; and the sums before the activation in double precision.
#pragma once
#include "tests/support/activate.hpp"
#include "tests/support/row_suite.hpp"

namespace tk::test {

// shape: of x; h sequences (b in the interface) of `rows` tokens of `width` channels, of rank 3, or
// of rank 2 one sequence.
struct conv1d_sizes {
  row_shape shape;
  int taps = 4;
  dtype type = dtype::bf16, weight_type = dtype::fp32;
  bool bias = true, silu = true, initial = true;
  std::vector<std::int64_t> starts = {};  // of packed sequences, in a batch of one
  matrix_layout x_layout = {}, initial_layout = {};
  int weight_misalignment = 0, bias_misalignment = 0;

  bool packed() const { return !starts.empty(); }
  std::int64_t sequences() const {
    return packed() ? static_cast<std::int64_t>(starts.size()) - 1 : shape.h;
  }
  row_shape states() const {
    return {.rank = 3, .h = sequences(), .rows = taps - 1, .width = shape.width};
  }
  tk_activation_kind activation() const { return silu ? TK_ACTIVATION_SILU : TK_ACTIVATION_NONE; }
};

inline void describe(std::ostream& s, conv1d_sizes const& x) {
  s << x.shape << " " << name_of(x.type) << " taps " << x.taps << " of " << name_of(x.weight_type)
    << (x.bias ? " bias" : "") << (x.silu ? " silu" : "") << (x.initial ? " initial" : "");
  if (x.packed()) s << " packed:";
  for (std::size_t i = 0; i < x.starts.size() && i < 8; ++i) s << " " << x.starts[i];
  if (x.starts.size() > 8) s << " ... " << x.starts.back();
  describe(s, "x", x.x_layout);
  describe(s, "initial", x.initial_layout);
  if (x.weight_misalignment) s << ", weight off by " << x.weight_misalignment;
  if (x.bias_misalignment) s << ", bias off by " << x.bias_misalignment;
}

// A sequence's tokens: `n` rows of x from `row` on.
struct token_span {
  std::int64_t sequence, row, n;
};
inline token_span span_of(conv1d_sizes const& c, std::int64_t s) {
  if (!c.packed()) return {s, s * c.shape.rows, c.shape.rows};
  auto const i = static_cast<std::size_t>(s);
  return {s, c.starts[i], c.starts[i + 1] - c.starts[i]};
}
// Where offsets ascend: of each row the sequence that it is of, or -1.
inline std::vector<std::int64_t> sequences_of_rows(conv1d_sizes const& c) {
  std::vector<std::int64_t> of(static_cast<std::size_t>(c.shape.all_rows()), -1);
  for (std::int64_t s = 0; s < c.sequences(); ++s) {
    auto const at = span_of(c, s);
    auto const end = std::min(at.row + at.n, c.shape.all_rows());
    for (auto row = at.row; row < end; ++row) of[static_cast<std::size_t>(row)] = s;
  }
  return of;
}

// The operands that both have. fill_uniform takes a seed.
struct conv1d_inputs {
  explicit conv1d_inputs(conv1d_sizes const& c, bool initial_is_written) : memories(3) {
    auto const input = [&](dtype type, std::vector<std::int64_t> sizes, int off,
                           std::uint64_t seed) {
      tensor y = memories.make(type, sizes, row_major(sizes), role::input, off);
      fill_uniform(y, seed, 0, 1);
      return y;
    };
    x = place_rows(memories, c.type, c.shape, c.x_layout, role::input);
    fill_uniform(x, 21, 0, 2);
    weight = input(c.weight_type, {c.shape.width, c.taps}, c.weight_misalignment, 22);
    if (c.bias) bias = input(c.weight_type, {c.shape.width}, c.bias_misalignment, 23);
    if (c.initial) {
      initial = place_rows(memories, c.type, c.states(), c.initial_layout,
                           initial_is_written ? role::output : role::input);
      fill_uniform(initial, 24, 0, 2);
    }
    if (!c.packed()) return;
    starts = memories.make(dtype::int32, {std::int64_t(c.starts.size())}, {1}, role::input);
    for (std::size_t i = 0; i < c.starts.size(); ++i)
      set(starts, 0, std::int64_t(i), static_cast<double>(c.starts[i]));
  }
  world memories;
  tensor x, weight, bias, initial, starts;
};

// The tensors of a problem, as long as this lives; null for one that lies in no memory.
class given_tensors {
 public:
  DLTensor const* operator()(tensor const& t) {
    return t.in ? &all_.emplace_back(t.dl()) : nullptr;
  }

 private:
  std::deque<DLTensor> all_;
};

// Token t of a sequence, -(taps - 1) <= t: of its initial state where it is below 0, 0 from n on.
inline std::vector<double> token_of(conv1d_inputs const& x, conv1d_sizes const& c,
                                    token_span const& at, std::int64_t t) {
  if (t >= 0 && t < at.n) return given_row(x.x, at.row + t);
  if (t < 0 && x.initial.in)
    return given_row(x.initial, at.sequence * (c.taps - 1) + t + c.taps - 1);
  return std::vector<double>(static_cast<std::size_t>(c.shape.width), 0);
}
// The tokens from `first` up to `last`.
inline std::vector<std::vector<double>> tokens_of(conv1d_inputs const& x, conv1d_sizes const& c,
                                                  token_span const& at, std::int64_t first,
                                                  std::int64_t last) {
  std::vector<std::vector<double>> all;
  for (auto t = first; t < last; ++t) all.push_back(token_of(x, c, at, t));
  return all;
}

// weight[col, 0 ... taps - 1] and the bias, in double precision.
struct conv1d_numbers {
  conv1d_numbers(conv1d_inputs const& x, conv1d_sizes const& c)
      : taps(static_cast<std::size_t>(c.taps)), bias(static_cast<std::size_t>(c.shape.width), 0) {
    for (std::int64_t col = 0; col < c.shape.width; ++col)
      weight.push_back(given_row(x.weight, col));
    if (x.bias.in) bias = given_row(x.bias, 0);
  }
  std::size_t taps;
  std::vector<std::vector<double>> weight;
  std::vector<double> bias;

  // Before the activation, of the taps tokens from tokens[first] on; what fp32 may commit: u of the
  // sum of magnitudes for each tap, and a product's rounding.
  struct sum {
    double value, slack;
  };
  sum at(std::vector<std::vector<double>> const& tokens, std::size_t first, std::size_t col) const {
    double z = bias[col], size = std::fabs(z);
    for (std::size_t i = 0; i < taps; ++i) {
      double const term = weight[col][i] * tokens[first + i][col];
      z += term;
      size += std::fabs(term);
    }
    return {z, static_cast<double>(taps + 1) * fp32_roundoff * size + 8 * fp32_least_normal};
  }
};

// Sequences of these lengths, one after another from `first` on.
inline std::vector<std::int64_t> starts_of(std::vector<std::int64_t> const& lengths,
                                           std::int64_t first = 0) {
  std::vector<std::int64_t> starts{first};
  for (auto const n : lengths) starts.push_back(starts.back() + n);
  return starts;
}

}  // namespace tk::test
