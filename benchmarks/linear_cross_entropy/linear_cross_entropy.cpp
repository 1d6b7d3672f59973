// SPDX-License-Identifier: MIT
// Suite linear_cross_entropy: losses of logits x w^T and, unless grad is 0, dx and dw, in x's type.
// Logits are normal with a standard deviation of 1. The oracle computes some rows of loss, lse and
// dx in fp64, and some of dw from tk's lse. Logits and their gradients are rounded to x's type on
// their way: relatively 2^-9 in bf16, of logits to 5. Loss and lse keep 2^-9, dx and dw 2^-7
// besides one rounding.
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/linear_cross_entropy/linear_cross_entropy.h"

namespace tk::bench {
namespace {

constexpr std::int64_t most_products = std::int64_t{1} << 33;  // of the oracle, some seconds
constexpr double number_error = 0x1p-9, gradient_error = 0x1p-7;

class linear_benchmark final : public benchmark {
 public:
  explicit linear_benchmark(bench_case const& x)
      : rows_(x.number("rows")),
        d_(x.number("d")),
        vocab_(x.number("vocab")),
        grad_(x.number("grad", 1) != 0),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat),
        x_(type_, {rows_, d_}),
        w_(type_, {vocab_, d_}),
        loss_(dtype::fp32, {rows_}),
        lse_(dtype::fp32, {rows_}) {
    x_.fill_normal(1);
    w_.fill_normal(2, 1 / std::sqrt(static_cast<double>(d_)));
    std::uint64_t state = 1;
    for (std::int64_t row = 0; row < rows_; ++row) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      column_of_.push_back(
          static_cast<std::int32_t>((state >> 33) % static_cast<std::uint64_t>(vocab_)));
    }
    labels_ = tensor(column_of_);
    tensor const* const all[] = {&x_, &w_, &labels_, &loss_, &lse_};
    for (std::size_t i = 0; i < 5; ++i) dl_[i] = all[i]->dl();
    problem_.size = sizeof problem_;
    problem_.x = &dl_[0];
    problem_.w = &dl_[1];
    problem_.labels = &dl_[2];
    problem_.loss = &dl_[3];
    problem_.lse = &dl_[4];
    problem_.chunk_rows = x.number("chunk", 0);
    problem_.dloss_scale = 1;
    problem_.repeat = repeat_;
    if (!grad_) return;
    dx_ = tensor(type_, {rows_, d_});
    dw_ = tensor(type_, {vocab_, d_});
    dl_[5] = dx_.dl(), dl_[6] = dw_.dl();
    problem_.dx = &dl_[5];
    problem_.dw = &dl_[6];
  }

  dtype type() const override { return type_; }
  double flops() const override { return (grad_ ? 6. : 2.) * products(); }
  double bytes() const override {
    auto const all = x_.bytes() + w_.bytes() + labels_.bytes() + loss_.bytes() + lse_.bytes() +
                     (grad_ ? dx_.bytes() + dw_.bytes() : 0);
    return static_cast<double>(all);
  }
  tk_repeat repeat() const override { return repeat_; }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_LINEAR_CROSS_ENTROPY, &problem_);
    return {"tk", [this] {
              check(tk_linear_cross_entropy(&problem_, workspace_.data(),
                                            static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  peer_list peers() override { return {}; }
  std::vector<tensor*> outputs() override {
    if (grad_) return {&loss_, &lse_, &dx_, &dw_};
    return {&loss_, &lse_};
  }

  // Of the result that is off most.
  verdict compare() override {
    auto const each = std::max<std::int64_t>(4, most_products / (2 * vocab_ * d_));
    auto const rows = sample_rows(rows_, each);
    std::vector<row_reference> expected(rows.size());
    parallel_for(static_cast<std::int64_t>(rows.size()), [&](std::int64_t i) {
      auto const at = static_cast<std::size_t>(i);
      expected[at] = reference(rows[at]);
    });
    deviation loss, lse, dx, dw;
    auto const losses = numbers(loss_, dtype::fp32, 0, rows_),
               all_lse = numbers(lse_, dtype::fp32, 0, rows_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto const row = static_cast<std::size_t>(rows[i]);
      loss.add(dtype::fp32, losses[row], expected[i].loss);
      lse.add(dtype::fp32, all_lse[row], expected[i].lse);
    }
    std::vector<verdict> all{{loss.relative(), number_error}, {lse.relative(), number_error}};
    if (grad_) {
      auto const got = dx_.copy_out(), got_dw = dw_.copy_out();
      for (std::size_t i = 0; i < rows.size(); ++i) add_row(dx, got, rows[i], expected[i].dx);
      for (auto const v :
           sample_rows(vocab_, std::max<std::int64_t>(4, most_products / (2 * rows_ * d_))))
        add_row(dw, got_dw, v, gradient_of_w(v, all_lse));
      for (auto const& of : {dx, dw})
        all.push_back({of.relative(), 1.1 * of.relative_floor() + gradient_error});
    }
    return *std::max_element(all.begin(), all.end(), [](verdict const& a, verdict const& b) {
      return a.error * b.limit < b.error * a.limit || !std::isfinite(b.error);
    });
  }

 private:
  struct row_reference {
    double loss = 0, lse = 0;
    std::vector<double> dx{};
  };
  double products() const {
    return static_cast<double>(rows_) * static_cast<double>(d_) * static_cast<double>(vocab_);
  }
  static std::vector<double> numbers(tensor const& t, dtype type, std::int64_t first,
                                     std::int64_t n) {
    auto const got = t.copy_out();
    std::vector<double> x(static_cast<std::size_t>(n));
    tensor::read(x.data(), type, got.data() + first * bytes_of(type), n);
    return x;
  }
  std::vector<double> given(tensor const& t, std::int64_t row) const {
    std::vector<double> x(static_cast<std::size_t>(d_));
    t.read(x.data(), row * d_, d_);
    return x;
  }
  static double product(std::vector<double> const& a, std::vector<double> const& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  std::int32_t label(std::int64_t row) const { return column_of_[static_cast<std::size_t>(row)]; }

  row_reference reference(std::int64_t row) const {
    auto const x = given(x_, row);
    std::vector<double> s(static_cast<std::size_t>(vocab_));
    double top = -HUGE_VAL, sum = 0;
    for (std::int64_t v = 0; v < vocab_; ++v) {
      double const score = product(x, given(w_, v));
      s[static_cast<std::size_t>(v)] = score;
      top = std::max(top, score);
    }
    for (double const score : s) sum += std::exp(score - top);
    row_reference y;
    y.lse = top + std::log(sum);
    y.loss = y.lse - s[static_cast<std::size_t>(label(row))];
    if (!grad_) return y;
    y.dx.resize(x.size());
    for (std::int64_t v = 0; v < vocab_; ++v) {
      double const g = std::exp(s[static_cast<std::size_t>(v)] - y.lse) - (label(row) == v ? 1 : 0);
      auto const w = given(w_, v);
      for (std::size_t i = 0; i < w.size(); ++i) y.dx[i] += g * w[i];
    }
    return y;
  }
  std::vector<double> gradient_of_w(std::int64_t v, std::vector<double> const& lse) const {
    auto const w = given(w_, v);
    std::vector<double> y(w.size());
    for (std::int64_t row = 0; row < rows_; ++row) {
      auto const x = given(x_, row);
      double const g =
          std::exp(product(x, w) - lse[static_cast<std::size_t>(row)]) - (label(row) == v ? 1 : 0);
      for (std::size_t i = 0; i < x.size(); ++i) y[i] += g * x[i];
    }
    return y;
  }
  void add_row(deviation& to, std::vector<std::byte> const& got, std::int64_t row,
               std::vector<double> const& expected) const {
    std::vector<double> y(expected.size());
    tensor::read(y.data(), type_, got.data() + row * d_ * bytes_of(type_), d_);
    for (std::size_t i = 0; i < y.size(); ++i) to.add(type_, y[i], expected[i]);
  }

  std::int64_t rows_, d_, vocab_;
  bool grad_;
  dtype type_;
  tk_repeat repeat_;
  tensor x_, w_, loss_, lse_, labels_, dx_, dw_, workspace_;
  std::vector<std::int32_t> column_of_;
  DLTensor dl_[7]{};
  tk_linear_cross_entropy_problem problem_{};
};

suite_entry const entry{"linear_cross_entropy",
                        {"rows", "d", "vocab", "grad", "chunk", "type"},
                        make<linear_benchmark>};

}  // namespace
}  // namespace tk::bench
