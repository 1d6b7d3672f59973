// SPDX-License-Identifier: MIT
// Suites cross_entropy-fwd, loss and lse of rows of logits and, where asked for, their gradient,
// and cross_entropy-bwd, the gradient from x, labels, lse and dloss. The gradient lies apart from
// the logits, which calls must find again; in their place the same bytes move. Bound by memory:
// flops is 0, the rate is that of the bytes that must move, each tensor once. The oracle computes
// some rows (all, if that is cheap) in fp64. A right output is off by one rounding, the floor, and
// by fp32 exponentials and sums: 2^-17 of it is more than they commit.
#include <algorithm>
#include <cmath>

#include "backends/runtime.hpp"
#include "benchmarks/benchmark.hpp"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/cross_entropy/cross_entropy_backward.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, under a second
constexpr std::int64_t sampled_rows = 64;
constexpr double fp32_error = 0x1p-17;

float decimal(bench_case const& x, char const* word) { return std::stof(x.get(word, "0")); }

// What a row's numbers should be, and what its gradient.
struct row_reference {
  double loss, lse;
  std::vector<double> dx;
};

class row_benchmark : public benchmark {
 public:
  explicit row_benchmark(bench_case const& x)
      : rows_(x.number("rows")),
        vocab_(x.number("vocab")),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat),
        smoothing_(decimal(x, "smoothing")),
        z_loss_(decimal(x, "z")),
        softcap_(decimal(x, "softcap")),
        x_(type_, {rows_, vocab_}),
        dx_(type_, {rows_, vocab_}),
        loss_(dtype::fp32, {rows_}),
        lse_(dtype::fp32, {rows_}) {
    x_.fill_normal(1);
    std::uint64_t state = 1;
    for (std::int64_t row = 0; row < rows_; ++row) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      column_of_.push_back(
          static_cast<std::int32_t>((state >> 33) % static_cast<std::uint64_t>(vocab_)));
    }
    labels_ = tensor(column_of_);
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }

  // Of all outputs the one that is off most.
  verdict compare() override {
    if (expected_.empty()) compute_reference();
    verdict worst{0, 1};
    for (tensor* t : outputs()) {
      auto const got = t->copy_out();
      deviation all;
      std::vector<double> row;
      for (std::size_t i = 0; i < picked_.size(); ++i) {
        auto const& e = expected_[i];
        bool const each = t != &dx_;
        row.resize(each ? 1 : static_cast<std::size_t>(vocab_));
        auto const n = static_cast<std::int64_t>(row.size());
        tensor::read(row.data(), t->type(), got.data() + picked_[i] * n * bytes_of(t->type()), n);
        for (std::size_t j = 0; j < row.size(); ++j)
          all.add(t->type(), row[j], !each ? e.dx[j] : t == &loss_ ? e.loss : e.lse);
      }
      verdict const v{all_finite(t->type(), got) ? all.relative() : HUGE_VAL,
                      1.1 * all.relative_floor() + fp32_error};
      if (v.error * worst.limit >= worst.error * v.limit) worst = v;
    }
    return worst;
  }

 protected:
  virtual double dloss_of(std::int64_t row) const = 0;
  virtual bool has_dx() const = 0;

  template <class Problem> void fill_options(Problem& p) const {
    p.size = sizeof p;
    p.label_smoothing = smoothing_;
    p.z_loss = z_loss_;
    p.softcap = softcap_;
    p.repeat = repeat_;
  }
  std::int64_t rows() const { return rows_; }
  double logit_bytes() const { return static_cast<double>(x_.bytes()); }
  double row_bytes() const { return static_cast<double>(lse_.bytes()); }
  tensor& x() { return x_; }
  tensor& dx() { return dx_; }
  tensor& labels() { return labels_; }
  tensor& loss() { return loss_; }
  tensor& lse() { return lse_; }

 private:
  void compute_reference() {
    picked_ = sample_rows(rows_, std::max(whole_elements / vocab_, sampled_rows));
    expected_.resize(picked_.size());
    parallel_for(static_cast<std::int64_t>(picked_.size()), [&](std::int64_t i) {
      expected_[static_cast<std::size_t>(i)] = reference(picked_[static_cast<std::size_t>(i)]);
    });
  }
  row_reference reference(std::int64_t row) const {
    auto const label = static_cast<std::size_t>(column_of_[static_cast<std::size_t>(row)]);
    double const e = smoothing_, z = z_loss_, cap = softcap_,
                 share = e / static_cast<double>(vocab_);
    std::vector<double> s(static_cast<std::size_t>(vocab_));
    x_.read(s.data(), row * vocab_, vocab_);
    double top = -HUGE_VAL, sum = 0, total = 0;
    for (double& v : s) {
      if (cap > 0) v = cap * std::tanh(v / cap);
      top = std::max(top, v);
      total += v;
    }
    for (double const v : s) sum += std::exp(v - top);
    row_reference y{0, top + std::log(sum), {}};
    y.loss = y.lse - (1 - e) * s[label] - share * total + z * y.lse * y.lse;
    if (!has_dx()) return y;
    double const dloss = dloss_of(row);
    for (std::size_t j = 0; j < s.size(); ++j) {
      double const slope = cap > 0 ? 1 - s[j] / cap * (s[j] / cap) : 1;
      y.dx.push_back(
          dloss * slope *
          (std::exp(s[j] - y.lse) * (1 + 2 * z * y.lse) - (j == label ? 1 - e : 0) - share));
    }
    return y;
  }

  std::int64_t rows_, vocab_;
  dtype type_;
  tk_repeat repeat_;
  float smoothing_, z_loss_, softcap_;
  tensor x_, dx_, loss_, lse_, labels_;
  std::vector<std::int32_t> column_of_;
  std::vector<std::int64_t> picked_;
  std::vector<row_reference> expected_;
};

class forward_benchmark final : public row_benchmark {
 public:
  explicit forward_benchmark(bench_case const& c)
      : row_benchmark(c), has_dx_(c.get("dx", "no") == "yes") {
    tensor const* const tensors[] = {&x(), &labels(), &loss(), &lse(), &dx()};
    for (std::size_t i = 0; i < 5; ++i) dl_[i] = tensors[i]->dl();
    problem_.x = &dl_[0];
    problem_.labels = &dl_[1];
    problem_.loss = &dl_[2];
    problem_.lse = &dl_[3];
    if (has_dx_) problem_.dx = &dl_[4];
    problem_.dloss_scale = scale;
    fill_options(problem_);
  }

  double bytes() const override { return (has_dx_ ? 2 : 1) * logit_bytes() + 3 * row_bytes(); }
  std::vector<tensor*> outputs() override {
    if (has_dx_) return {&loss(), &lse(), &dx()};
    return {&loss(), &lse()};
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_CROSS_ENTROPY, &problem_);
    return {"tk", [this] {
              check(tk_cross_entropy(&problem_, workspace_.data(),
                                     static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }

 private:
  static constexpr float scale = 0.5f;
  double dloss_of(std::int64_t) const override { return static_cast<double>(scale); }
  bool has_dx() const override { return has_dx_; }

  bool has_dx_;
  tensor workspace_;
  DLTensor dl_[5]{};
  tk_cross_entropy_problem problem_{};
};

class backward_benchmark final : public row_benchmark {
 public:
  explicit backward_benchmark(bench_case const& c)
      : row_benchmark(c), dloss_(dtype::fp32, {rows()}) {
    dloss_.fill_normal(2);
    tensor const* const tensors[] = {&x(), &labels(), &lse(), &dloss_, &dx(), &loss()};
    for (std::size_t i = 0; i < 6; ++i) dl_[i] = tensors[i]->dl();
    problem_.x = &dl_[0];
    problem_.labels = &dl_[1];
    problem_.lse = &dl_[2];
    problem_.dloss = &dl_[3];
    problem_.dx = &dl_[4];
    fill_options(problem_);
    compute_lse();
  }

  double bytes() const override { return 2 * logit_bytes() + 3 * row_bytes(); }
  std::vector<tensor*> outputs() override { return {&dx()}; }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_CROSS_ENTROPY_BACKWARD, &problem_);
    return {
        "tk", [this] {
          check(tk_cross_entropy_backward(&problem_, workspace_.data(),
                                          static_cast<std::size_t>(workspace_.bytes()), nullptr));
        }};
  }

 private:
  double dloss_of(std::int64_t row) const override {
    double x = 0;
    dloss_.read(&x, row, 1);
    return x;
  }
  bool has_dx() const override { return true; }
  // By the forward itself, which suite cross_entropy-fwd compares.
  void compute_lse() {
    tk_cross_entropy_problem p{};
    fill_options(p);
    p.x = &dl_[0];
    p.labels = &dl_[1];
    p.loss = &dl_[5];
    p.lse = &dl_[2];
    tensor const workspace = make_workspace(TK_OP_CROSS_ENTROPY, &p);
    check(tk_cross_entropy(&p, workspace.data(), static_cast<std::size_t>(workspace.bytes()),
                           nullptr));
    be::rt::synchronize();
  }

  tensor dloss_, workspace_;
  DLTensor dl_[6]{};
  tk_cross_entropy_backward_problem problem_{};
};

suite_entry const forward{"cross_entropy-fwd",
                          {"rows", "vocab", "dx", "smoothing", "z", "softcap", "type"},
                          make<forward_benchmark>};
suite_entry const backward{"cross_entropy-bwd",
                           {"rows", "vocab", "smoothing", "z", "softcap", "type"},
                           make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
