// SPDX-License-Identifier: MIT
// One case of tk_softmax, and its oracle in double precision. With u = 2^-24, what fp32 may commit
// to y = exp(s - top) / sum, relatively:
//   exponent  e = 4 u (|scale x| + |bias| + |s - top|): products by scale and log2(e), the sum of
//             both, the difference; what all of a row have in common cancels
//   exp2      2^-22, a GPU's approximation; numbers below 2^-125 may be 0
//   sum       its terms' e and exp2, weighted as they are; 16 u, as sums of a row in any of the
//             orders in use; a running maximum's factors are among these
//   y         a reciprocal and a product, 4 u
#pragma once
#include "ops/softmax/softmax.h"
#include "tests/support/row_suite.hpp"

namespace tk::test {

enum class bias_use { none, same_type, fp32 };
// Scores of -inf: every fifth element or so; and all of every third row.
enum class holes { none, scattered, rows };
// bool_mask hides every fourth element or so, and all of every fifth row.
enum class bool_mask_use { none, boolean, uint8 };

struct softmax_operands;

struct softmax_case {
  using operands = softmax_operands;
  row_shape shape;
  dtype type = dtype::bf16;
  tk_mask mask = TK_MASK_NONE;
  bias_use bias = bias_use::none;
  int broadcast = 0;  // sizes of bias that are 1: 1 for rows, 2 for h, 4 for b
  bool_mask_use bool_mask = bool_mask_use::none;
  int mask_broadcast = 0;
  float scale = 1;
  double mean = 0, size = 1;  // of x's elements: uniform in mean +- size
  holes unseen = holes::none;
  row_place y_place = row_place::apart;
  matrix_layout x_layout = {}, bias_layout = {}, y_layout = {}, mask_layout = {};

  row_shape with_ones(int which) const {
    row_shape s = shape;
    if (which & 1) s.rows = 1;
    if (which & 2) s.h = 1;
    if (which & 4) s.b = 1;
    return s;
  }
  row_shape bias_shape() const { return with_ones(broadcast); }
  row_shape mask_shape() const { return with_ones(mask_broadcast); }
};

inline std::string describe(softmax_case const& x) {
  static char const* const biases[] = {"", " +bias", " +fp32 bias"};
  static char const* const unseen[] = {"", " holes", " rows of holes"};
  std::ostringstream s;
  s << "softmax " << x.shape << " " << name_of(x.type)
    << (x.mask == TK_MASK_CAUSAL ? " causal" : "") << biases[static_cast<int>(x.bias)];
  if (x.bias != bias_use::none && x.broadcast) s << " of " << x.bias_shape();
  if (x.bool_mask != bool_mask_use::none)
    s << (x.bool_mask == bool_mask_use::boolean ? " bool" : " uint8") << " mask of "
      << x.mask_shape();
  s << unseen[static_cast<int>(x.unseen)] << (x.y_place == row_place::apart ? "" : " y on x")
    << " scale " << x.scale << " mean " << x.mean << " size " << x.size;
  describe(s, "x", x.x_layout);
  describe(s, "bias", x.bias_layout);
  describe(s, "y", x.y_layout);
  describe(s, "bool_mask", x.mask_layout);
  return s.str();
}

struct softmax_operands {
  explicit softmax_operands(softmax_case const& x);
  softmax_operands(softmax_operands const&) = delete;

  softmax_case of;
  world memories;
  tensor x, bias, y, bool_mask;
  static constexpr row_operand<softmax_operands> table[] = {
      {"x", &softmax_operands::x},
      {"bias", &softmax_operands::bias},
      {"y", &softmax_operands::y, true},
      {"bool_mask", &softmax_operands::bool_mask}};
};

// What rows have at each place depends on the place, as they may lie on each other.
inline void fill_bool_mask(tensor& t) {
  parallel_for(t.rows(), [&](std::int64_t r) {
    auto const at = static_cast<std::uint64_t>(t.row_offset(r));
    for (std::int64_t c = 0; c < t.cols(); ++c)
      t.image_row(r)[c] =
          static_cast<std::byte>(random_below(4, 34, at + static_cast<std::uint64_t>(c)) != 0);
  });
  for (std::int64_t r = 3; r < t.rows(); r += 5)
    std::fill_n(t.image_row(r), t.cols(), std::byte{0});
}
// Whether a row of a case's shape sees an element, for all that bool_mask says.
inline bool is_shown(softmax_operands const& x, std::int64_t row, std::int64_t col) {
  if (!x.bool_mask.in) return true;
  return x.bool_mask.image_row(broadcast_row(x.bool_mask, x.of.shape, row))[col] != std::byte{0};
}
inline bool lies_apart(matrix_layout const& x) {
  return !x.row_stride && x.batch != matrix_layout::batches::same;
}
// NaN in what bool_mask hides: of bias where its rows go with those of bool_mask.
inline void spoil_hidden(softmax_operands& x) {
  softmax_case const& c = x.of;
  if (!x.bool_mask.in) return;
  if (lies_apart(c.x_layout))
    parallel_for(x.x.rows(), [&](std::int64_t r) {
      for (std::int64_t col = 0; col < x.x.cols(); ++col)
        if (!is_shown(x, r, col)) set(x.x, r, col, std::nan(""));
    });
  if (!x.bias.in || x.bias.shape != x.bool_mask.shape || !lies_apart(c.bias_layout)) return;
  parallel_for(x.bias.rows(), [&](std::int64_t r) {
    for (std::int64_t col = 0; col < x.bias.cols(); ++col)
      if (x.bool_mask.image_row(r)[col] == std::byte{0}) set(x.bias, r, col, std::nan(""));
  });
}

inline void make_holes(tensor& t, holes where, double value) {
  if (where == holes::none) return;
  parallel_for(t.rows(), [&](std::int64_t r) {
    bool const all = where == holes::rows && r % 3 == 1;
    for (std::int64_t c = 0; c < t.cols(); ++c)
      if (all || random_below(5, 33, static_cast<std::uint64_t>(t.row_offset(r) + c)) == 0)
        set(t, r, c, value);
  });
}

inline softmax_operands::softmax_operands(softmax_case const& c) : of(c), memories(3) {
  bool const in_place = c.y_place != row_place::apart;
  x = place_rows(memories, c.type, c.shape, c.x_layout, in_place ? role::output : role::input);
  fill_uniform(x, 21, c.mean, c.size);
  y = in_place ? x : output_rows(memories, c.type, c.shape, c.y_layout);
  if (c.bias != bias_use::none) {
    dtype const type = c.bias == bias_use::fp32 ? dtype::fp32 : c.type;
    bias = place_rows(memories, type, c.bias_shape(), c.bias_layout, role::input);
    fill_uniform(bias, 22, 0, 1);
    make_holes(bias, c.unseen, -HUGE_VAL);
    spoil_unseen(bias, c.mask, c.shape);
  } else if (c.scale != 0) {
    make_holes(x, c.unseen, c.scale < 0 ? HUGE_VAL : -HUGE_VAL);
  }
  spoil_unseen(x, c.mask, c.shape);
  if (c.bool_mask == bool_mask_use::none) return;
  dtype const bytes = c.bool_mask == bool_mask_use::boolean ? dtype::boolean : dtype::uint8;
  bool_mask = place_rows(memories, bytes, c.mask_shape(), c.mask_layout, role::input);
  fill_bool_mask(bool_mask);
  spoil_hidden(*this);
}

template <class Body> std::string with_problem(softmax_operands const& x, Body const& body) {
  DLTensor const in = x.x.dl(), bias = x.bias.in ? x.bias.dl() : DLTensor{}, out = x.y.dl(),
                 bool_mask = x.bool_mask.in ? x.bool_mask.dl() : DLTensor{};
  tk_softmax_problem p{};
  p.size = sizeof p;
  p.x = &in;
  p.bias = x.bias.in ? &bias : nullptr;
  p.y = &out;
  p.mask = x.of.mask;
  p.scale = x.of.scale;
  p.bool_mask = x.bool_mask.in ? &bool_mask : nullptr;
  return body(called_op{TK_OP_SOFTMAX, tk_softmax}, static_cast<tk_softmax_problem const*>(&p));
}

// Scores of a row, up to the last column that it sees, and the sizes of what they are made of. What
// bool_mask hides has the score -inf.
struct row_of_scores {
  std::vector<double> score, terms;
  std::vector<bool> shown;
  double top = -HUGE_VAL;
  bool wrong = false;  // NaN or +inf among them
};
inline row_of_scores scores_of(softmax_operands const& x, std::int64_t row) {
  softmax_case const& c = x.of;
  row_of_scores s;
  s.score = given_row(x.x, row);
  std::vector<double> bias(s.score.size(), 0);
  if (x.bias.in) bias = given_row(x.bias, broadcast_row(x.bias, c.shape, row));
  s.score.resize(static_cast<std::size_t>(columns_seen(c.mask, c.shape, row)));
  for (std::size_t i = 0; i < s.score.size(); ++i) {
    double const product = static_cast<double>(c.scale) * s.score[i];
    s.score[i] = product + bias[i];
    s.terms.push_back(std::fabs(product) + std::fabs(bias[i]));
    s.shown.push_back(is_shown(x, row, static_cast<std::int64_t>(i)));
    if (!s.shown.back()) s.score[i] = -HUGE_VAL;
    s.wrong |= std::isnan(s.score[i]) || s.score[i] == HUGE_VAL;
    s.top = std::max(s.top, s.score[i]);
  }
  return s;
}

// Of scores: exp(s - top) / sum, 0 where nothing is seen, and a bound on what fp32 commits to each.
inline std::vector<bounded> weights_of(row_of_scores const& s) {
  constexpr double u = fp32_roundoff, exp2_slack = 0x1p-22;
  std::vector<bounded> y(s.score.size());
  if (s.wrong || s.top == -HUGE_VAL) return y;
  double sum = 0, errors = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (s.score[i] == -HUGE_VAL) continue;
    y[i].exact = std::exp(s.score[i] - s.top);
    y[i].slack = 4 * u * (s.terms[i] + s.top - s.score[i]) + exp2_slack;
    sum += y[i].exact;
    errors += y[i].exact * y[i].slack;
  }
  for (auto& [exact, slack] : y) {
    exact /= sum;
    slack = exact > 0 ? exact * (slack + errors / sum + 20 * u) + 2 * fp32_least_normal : 0;
  }
  return y;
}

inline void check_row(softmax_operands const& x, std::int64_t row, std::span<error_meter> meters) {
  auto const s = scores_of(x, row);
  auto const weights = weights_of(s);
  for (std::int64_t col = 0; col < x.of.shape.width; ++col) {
    auto const i = static_cast<std::size_t>(col);
    auto const [exact, slack] = i >= weights.size()     ? bounded{}
                                : s.wrong && s.shown[i] ? bounded{std::nan(""), 0}
                                                        : weights[i];
    meters[0].add(row, col, result_at(x.y, row, col), exact, slack,
                  rounded(x.y.type, exact) - exact, slack);
  }
}

}  // namespace tk::test
