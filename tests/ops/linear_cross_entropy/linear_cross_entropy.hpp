// SPDX-License-Identifier: MIT
// One case of tk_linear_cross_entropy, and its oracle in double precision. x has quarters and w -1,
// 0 and 1, so that logits are exact in bf16 and fp16 (below 64): loss, lse and g are off by what
// tests/ops/cross_entropy/oracle.hpp says. With u = 2^-24:
//   g       half a unit in its last place besides
//   dx, dw  g's errors, times w or x; n u of the sum of n products' magnitudes; dw in x's type half
//           a unit in the last place of that sum, for each chunk
#pragma once
#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "tests/ops/cross_entropy/oracle.hpp"

namespace tk::test {

struct linear_operands;

struct linear_case {
  using operands = linear_operands;
  row_shape shape;  // of the logits
  std::int64_t d = 64;
  dtype type = dtype::bf16, label_type = dtype::int64;
  ignored_label ignored = ignored_label::none;
  far_labels outside = far_labels::none;  // makes all of dw NaN
  float smoothing = 0, z_loss = 0, softcap = 0, dloss_scale = 1;
  std::int64_t chunk_rows = 0;
  bool store_lse = false, store_dx = false, store_dw = false;
  bool fp32_dx = false, fp32_dw = false;
  matrix_layout x_layout = {}, w_layout = {}, labels_layout = {}, loss_layout = {}, lse_layout = {},
                dx_layout = {}, dw_layout = {};
};

inline std::string describe(linear_case const& x) {
  struct : linear_case {
    double mean = 0, size = 0;
  } options{x};
  std::ostringstream s;
  s << "linear cross entropy d " << x.d << " ";
  describe_options(s, options);
  s << " chunks of " << x.chunk_rows << (x.store_lse ? " +lse" : "");
  if (x.store_dx) s << (x.fp32_dx ? " +dx fp32" : " +dx");
  if (x.store_dw) s << (x.fp32_dw ? " +dw fp32" : " +dw");
  s << " * " << x.dloss_scale;
  describe(s, "x", x.x_layout);
  describe(s, "w", x.w_layout);
  describe(s, "labels", x.labels_layout);
  describe(s, "loss", x.loss_layout);
  describe(s, "lse", x.lse_layout);
  describe(s, "dx", x.dx_layout);
  describe(s, "dw", x.dw_layout);
  return s.str();
}

struct linear_operands {
  explicit linear_operands(linear_case const& x);
  linear_operands(linear_operands const&) = delete;

  linear_case of;
  world memories;
  tensor x, w, labels, loss, lse, dx, dw;
};

inline linear_operands::linear_operands(linear_case const& c) : of(c), memories(3) {
  auto const each = shape_of_each(c.shape);
  row_shape const of_x{.rank = 2, .rows = c.shape.rows, .width = c.d},
      of_w{.rank = 2, .rows = c.shape.width, .width = c.d};
  x = place_rows(memories, c.type, of_x, c.x_layout, role::input);
  w = place_rows(memories, c.type, of_w, c.w_layout, role::input);
  fill(x, data::integers, 21, 0.25);
  fill(w, data::sparse, 22);
  labels = place_rows(memories, c.label_type, each, c.labels_layout, role::input);
  fill_labels(labels, c);
  loss = output_rows(memories, dtype::fp32, each, c.loss_layout);
  if (c.store_lse) lse = output_rows(memories, dtype::fp32, each, c.lse_layout);
  if (c.store_dx) dx = output_rows(memories, c.fp32_dx ? dtype::fp32 : c.type, of_x, c.dx_layout);
  if (c.store_dw) dw = output_rows(memories, c.fp32_dw ? dtype::fp32 : c.type, of_w, c.dw_layout);
}

template <class Body> std::string with_problem(linear_operands const& x, Body const& body) {
  linear_case const& c = x.of;
  DLTensor const in = x.x.dl(), w = x.w.dl(), labels = without_last(x.labels),
                 loss = without_last(x.loss), lse = x.lse.in ? without_last(x.lse) : DLTensor{},
                 dx = x.dx.in ? x.dx.dl() : DLTensor{}, dw = x.dw.in ? x.dw.dl() : DLTensor{};
  tk_linear_cross_entropy_problem p{};
  p.size = sizeof p;
  p.x = &in;
  p.w = &w;
  p.labels = &labels;
  p.loss = &loss;
  p.lse = x.lse.in ? &lse : nullptr;
  p.dx = x.dx.in ? &dx : nullptr;
  p.dw = x.dw.in ? &dw : nullptr;
  p.ignore_index = ignore_index(c);
  p.chunk_rows = c.chunk_rows;
  p.has_ignore_index = c.ignored != ignored_label::none;
  p.label_smoothing = c.smoothing;
  p.z_loss = c.z_loss;
  p.softcap = c.softcap;
  p.dloss_scale = c.dloss_scale;
  return body(called_op{TK_OP_LINEAR_CROSS_ENTROPY, tk_linear_cross_entropy},
              static_cast<tk_linear_cross_entropy_problem const*>(&p));
}

// ---- the oracle
// Half a unit in the last place of numbers of x's size.
inline double half_unit(dtype type, double x) {
  auto const f = format_of(type);
  return std::ldexp(std::max(std::fabs(x), std::ldexp(1.0, f.least_exponent)),
                    -f.fraction_bits - 1);
}

// A row-major copy as double.
struct numbers_of {
  std::int64_t rows, cols;
  std::vector<double> e;
  numbers_of(std::int64_t r, std::int64_t c)
      : rows(r), cols(c), e(static_cast<std::size_t>(r * c)) {}
  explicit numbers_of(tensor const& x) : numbers_of(x.rows(), x.cols()) {
    for (std::int64_t r = 0; r < rows; ++r) read_row(x.type, x.image_row(r), cols, row(r));
  }
  double* row(std::int64_t r) { return e.data() + r * cols; }
  double const* row(std::int64_t r) const { return e.data() + r * cols; }
};

// Gradients of logits, and how far those that were rounded may be from them.
struct logit_gradients {
  numbers_of exact, slack;
};

// sum_i g_i a_i, of which each g_i is off by its slack.
class sum_of_products {
 public:
  void add(double g, double slack, double a) {
    exact_ += g * a;
    slack_ += slack * std::fabs(a);
    size_ += std::fabs(g * a);
  }
  bounded scaled(double scale, std::int64_t n, dtype type, std::int64_t roundings) const {
    double const size = std::fabs(scale) * size_;
    double slack = std::fabs(scale) * slack_ + static_cast<double>(n + 8) * fp32_roundoff * size +
                   2 * fp32_least_normal;
    if (roundings > 1) slack += static_cast<double>(roundings) * half_unit(type, size);
    return {scale * exact_, slack};
  }

 private:
  double exact_ = 0, slack_ = 0, size_ = 0;
};

// What a row loses, of x and w as these are.
inline loss_of_row losses_of(linear_operands const& x, std::int64_t row, numbers_of const& in,
                             numbers_of const& w) {
  std::vector<double> logits(static_cast<std::size_t>(w.rows));
  for (std::int64_t v = 0; v < w.rows; ++v) {
    double sum = 0;
    for (std::int64_t i = 0; i < w.cols; ++i) sum += in.row(row)[i] * w.row(v)[i];
    if (!(std::fabs(sum) < 64)) throw std::runtime_error("a logit is not exact");
    logits[static_cast<std::size_t>(v)] = sum;
  }
  return {options_of(x.of), logits, column_of_label(x.labels, row, w.rows)};
}

// Gradients of a row's logits.
inline void put_gradients(linear_operands const& x, std::int64_t row, loss_of_row const& of,
                          logit_gradients& g) {
  if (is_ignored(x.of, x.labels, row)) return;
  for (std::int64_t v = 0; v < g.exact.cols; ++v) {
    auto const [exact, slack] = of.gradient(static_cast<std::size_t>(v), of.lse(), 1);
    g.exact.row(row)[v] = exact;
    g.slack.row(row)[v] = slack + half_unit(x.of.type, exact);
  }
}
inline bounded dx_at(linear_case const& c, logit_gradients const& g, numbers_of const& w,
                     std::int64_t row, std::int64_t i, dtype type) {
  sum_of_products sum;
  for (std::int64_t v = 0; v < w.rows; ++v)
    sum.add(g.exact.row(row)[v], g.slack.row(row)[v], w.row(v)[i]);
  return sum.scaled(static_cast<double>(c.dloss_scale), w.rows, type, 1);
}
inline bounded dw_at(linear_case const& c, logit_gradients const& g, numbers_of const& in,
                     std::int64_t v, std::int64_t i, dtype type) {
  sum_of_products sum;
  for (std::int64_t row = 0; row < in.rows; ++row)
    sum.add(g.exact.row(row)[v], g.slack.row(row)[v], in.row(row)[i]);
  std::int64_t const chunk = c.chunk_rows > 0 ? c.chunk_rows : std::max<std::int64_t>(in.rows, 1);
  return sum.scaled(static_cast<double>(c.dloss_scale), in.rows, type,
                    (in.rows + chunk - 1) / chunk);
}

inline verdict compare(linear_operands const& x) {
  linear_case const& c = x.of;
  std::int64_t const rows = c.shape.rows, vocab = c.shape.width;
  numbers_of const in(x.x), w(x.w);
  logit_gradients g{{rows, vocab}, {rows, vocab}};
  error_meter loss(dtype::fp32), lse(dtype::fp32), dx(x.dx.in ? x.dx.type : c.type),
      dw(x.dw.in ? x.dw.type : c.type);
  for (std::int64_t row = 0; row < rows; ++row) {
    auto const exact = losses_of(x, row, in, w);
    add_to(loss, x.loss, row, 0, is_ignored(c, x.labels, row) ? bounded{} : exact.loss());
    if (x.lse.in) add_to(lse, x.lse, row, 0, exact.lse());
    if (x.dx.in || x.dw.in) put_gradients(x, row, exact, g);
  }
  for (std::int64_t row = 0; x.dx.in && row < rows; ++row)
    for (std::int64_t i = 0; i < c.d; ++i)
      add_to(dx, x.dx, row, i, dx_at(c, g, w, row, i, dx.type()));
  for (std::int64_t v = 0; x.dw.in && v < vocab; ++v)
    for (std::int64_t i = 0; i < c.d; ++i) add_to(dw, x.dw, v, i, dw_at(c, g, in, v, i, dw.type()));
  verdict all;
  auto const judge = [&](char const* name, error_meter const& meter, std::int64_t expected) {
    auto const v = meter.judge(name, 1.05);
    if (all.ok()) all.wrong = v.wrong;
    if (all.ok() && v.compared != expected)
      all.wrong = std::string(name) + ": compared " + std::to_string(v.compared) + " elements";
    all.compared += v.compared;
    all.share = std::max(all.share, v.share);
  };
  judge("loss", loss, rows);
  judge("lse", lse, x.lse.in ? rows : 0);
  judge("dx", dx, x.dx.in ? rows * c.d : 0);
  judge("dw", dw, x.dw.in ? vocab * c.d : 0);
  return all;
}

// Launches the operands' problem twice and checks all that must hold.
inline verdict run_operands(linear_operands& x) {
  verdict v;
  v.wrong = launch_twice(x);
  if (!v.ok()) return v;
  v = compare(x);
  std::vector<tensor> written;
  for (auto const* t : {&x.loss, &x.lse, &x.dx, &x.dw})
    if (t->in) written.push_back(*t);
  if (v.ok()) v.wrong = check_untouched(x.memories, written);
  return v;
}
inline verdict run(linear_case const& c) {
  linear_operands x(c);
  return run_operands(x);
}

}  // namespace tk::test
