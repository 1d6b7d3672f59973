// SPDX-License-Identifier: MIT
// Suite gemm: d[batch, m, n] = act(op(a) op(b) + bias), beside cuBLASLt or OpenBLAS where they are.
// The oracle computes some rows (all, if that is cheap) in fp64. A right result is off by one
// rounding, the floor, and by fp32 sums: tensor cores truncate about k / 16 partial sums, each by
// half a unit of 2^-24 of a sum no larger than the last, so k / 8 units bound them in the mean.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/gemm/peers.hpp"
#include "tests/support/activate.hpp"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_products = std::int64_t{1} << 30;  // of the oracle, about a second
constexpr std::int64_t sampled_rows = 64;

tk_bias parse_bias(std::string const& name) {
  if (name == "none") return TK_BIAS_NONE;
  if (name == "row") return TK_BIAS_ROW;
  if (name == "column") return TK_BIAS_COLUMN;
  throw std::runtime_error("'" + name + "' is no bias: row or column");
}

tk_activation_kind parse_activation(std::string const& name) {
  if (name == "none") return TK_ACTIVATION_NONE;
  if (name == "relu") return TK_ACTIVATION_RELU;
  if (name == "silu") return TK_ACTIVATION_SILU;
  if (name == "gelu_tanh") return TK_ACTIVATION_GELU_TANH;
  if (name == "gelu_erf") return TK_ACTIVATION_GELU_ERF;
  throw std::runtime_error("'" + name + "' is no activation: relu, silu, gelu_tanh or gelu_erf");
}

class gemm_benchmark final : public benchmark {
 public:
  explicit gemm_benchmark(bench_case const& x)
      : batch_(x.number("batch", 1)),
        bias_kind_(parse_bias(x.get("bias", "none"))),
        activation_(parse_activation(x.get("act", "none"))) {
    read_sizes(x.get("mnk", ""));
    std::string const trans = x.get("trans", "nn");
    transpose_a_ = trans.at(0) == 't';
    transpose_b_ = trans.at(1) == 't';
    dtype const type = parse_dtype(x.get("type", "bf16"));
    dtype const out = parse_dtype(x.get("out", name_of(type)));
    a_ = transpose_a_ ? make(type, k_, m_) : make(type, m_, k_);
    b_ = transpose_b_ ? make(type, n_, k_) : make(type, k_, n_);
    d_ = make(out, m_, n_);
    a_.fill_normal(1);
    b_.fill_normal(2);
    if (bias_kind_ != TK_BIAS_NONE) {
      bias_ = tensor(out, {bias_kind_ == TK_BIAS_ROW ? n_ : m_});
      bias_.fill_normal(3);
    }
    bind();
    problem_.repeat = x.repeat;
  }

  dtype type() const override { return a_.type(); }
  double flops() const override { return 2.0 * static_cast<double>(batch_ * m_ * n_ * k_); }
  double bytes() const override {
    std::int64_t const bias = bias_ ? bias_.bytes() : 0;
    return static_cast<double>(a_.bytes() + b_.bytes() + d_.bytes() + bias);
  }
  tk_repeat repeat() const override { return problem_.repeat; }
  std::vector<tensor*> outputs() override { return {&d_}; }

  implementation tk() override {
    workspace_ = make_workspace(TK_OP_GEMM, &problem_);
    return {"tk", [this] {
              check(tk_gemm(&problem_, workspace_.data(),
                            static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }

  peer_list peers() override {
    peer_list list;
    gemm_operands const operands{&a_, &b_,    &bias_,       &d_,          m_,         n_,
                                 k_,  batch_, transpose_a_, transpose_b_, bias_kind_, activation_};
    add_cublaslt(list, operands);
    add_openblas(list, operands);
    return list;
  }

  verdict compare() override {
    if (reference_.empty()) compute_reference();
    std::vector<std::byte> const result = d_.copy_out();
    std::vector<double> row(static_cast<std::size_t>(n_));
    deviation all;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::int64_t const first = rows_[r] * n_ * bytes_of(d_.type());
      tensor::read(row.data(), d_.type(), result.data() + first, n_);
      for (std::size_t j = 0; j < row.size(); ++j)
        all.add(d_.type(), row[j], reference_[r * row.size() + j]);
    }
    double const error = all_finite(d_.type(), result) ? all.relative() : HUGE_VAL;
    return {error, 1.1 * all.relative_floor() + static_cast<double>(k_) / 8 * 0x1p-24};
  }

 private:
  void read_sizes(std::string const& mnk) {
    char x1 = 0, x2 = 0;
    long long m = 0, n = 0, k = 0;
    if (std::sscanf(mnk.c_str(), "%lld%c%lld%c%lld", &m, &x1, &n, &x2, &k) != 5)
      throw std::runtime_error("mnk=" + mnk + " is not of the form MxNxK");
    m_ = m, n_ = n, k_ = k;
  }

  tensor make(dtype type, std::int64_t rows, std::int64_t cols) const {
    return batch_ > 1 ? tensor(type, {batch_, rows, cols}) : tensor(type, {rows, cols});
  }

  void bind() {
    a_dl_ = a_.dl();
    b_dl_ = b_.dl();
    d_dl_ = d_.dl();
    if (bias_) bias_dl_ = bias_.dl();
    problem_.size = sizeof problem_;
    problem_.a = &a_dl_;
    problem_.b = &b_dl_;
    problem_.bias = bias_ ? &bias_dl_ : nullptr;
    problem_.d = &d_dl_;
    problem_.transpose_a = transpose_a_;
    problem_.transpose_b = transpose_b_;
    problem_.alpha = 1;
    problem_.bias_kind = bias_kind_;
    problem_.activation = activation_;
  }

  // Rows of every batch, numbered through: batch m + row.
  void compute_reference() {
    std::int64_t const affordable = whole_products / std::max<std::int64_t>(1, n_ * k_);
    rows_ = sample_rows(batch_ * m_, std::max(affordable, sampled_rows));
    reference_.assign(rows_.size() * static_cast<std::size_t>(n_), 0);
    // op(a)'s sampled rows, contiguous and widened
    std::vector<double> left(rows_.size() * static_cast<std::size_t>(k_));
    parallel_for(static_cast<std::int64_t>(rows_.size()), [&](std::int64_t r) {
      std::int64_t const batch = rows_[static_cast<std::size_t>(r)] / m_;
      std::int64_t const i = rows_[static_cast<std::size_t>(r)] % m_;
      a_.read(left.data() + r * k_, batch * m_ * k_ + (transpose_a_ ? i : i * k_), k_,
              transpose_a_ ? m_ : 1);
    });
    std::int64_t const strips = (n_ + strip - 1) / strip;
    parallel_for(strips, [&](std::int64_t s) { reference_strip(left, s * strip); });
  }

  static constexpr std::int64_t strip = 16, depth = 128;  // of op(b), widened to doubles: 16 KiB

  // Columns [j0, j0 + strip) of every row of the oracle.
  void reference_strip(std::vector<double> const& left, std::int64_t j0) {
    std::int64_t const width = std::min(strip, n_ - j0);
    std::vector<double> part(static_cast<std::size_t>(depth * strip));
    for (std::size_t first = 0, last; first < rows_.size(); first = last) {
      std::int64_t const batch = rows_[first] / m_;
      for (last = first; last < rows_.size() && rows_[last] / m_ == batch;) ++last;
      for (std::int64_t k0 = 0; k0 < k_; k0 += depth) {
        std::int64_t const steps = std::min(depth, k_ - k0);
        widen_part(part, batch, k0, steps, j0, width);
        for (std::size_t r = first; r < last; ++r) {
          double const* a = left.data() + static_cast<std::int64_t>(r) * k_ + k0;
          std::array<double, strip> sum{};
          for (std::int64_t l = 0; l < steps; ++l)
            for (std::int64_t j = 0; j < strip; ++j)
              sum[static_cast<std::size_t>(j)] +=
                  a[l] * part[static_cast<std::size_t>(l * strip + j)];
          double* to = reference_.data() + static_cast<std::int64_t>(r) * n_ + j0;
          for (std::int64_t j = 0; j < width; ++j) to[j] += sum[static_cast<std::size_t>(j)];
        }
      }
    }
    finish_strip(j0, width);
  }

  // part[l][j] = op(b)[k0 + l][j0 + j]; columns past the last are zero.
  void widen_part(std::vector<double>& part, std::int64_t batch, std::int64_t k0,
                  std::int64_t steps, std::int64_t j0, std::int64_t width) const {
    std::int64_t const base = batch * k_ * n_;
    if (!transpose_b_) {
      for (std::int64_t l = 0; l < steps; ++l)
        b_.read(part.data() + l * strip, base + (k0 + l) * n_ + j0, width);
      return;
    }
    std::array<double, depth> column;
    for (std::int64_t j = 0; j < width; ++j) {
      b_.read(column.data(), base + (j0 + j) * k_ + k0, steps);
      for (std::int64_t l = 0; l < steps; ++l)
        part[static_cast<std::size_t>(l * strip + j)] = column[static_cast<std::size_t>(l)];
    }
  }

  void finish_strip(std::int64_t j0, std::int64_t width) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      double* to = reference_.data() + static_cast<std::int64_t>(r) * n_ + j0;
      for (std::int64_t j = 0; j < width; ++j) {
        double bias = 0;
        if (bias_) bias_.read(&bias, bias_kind_ == TK_BIAS_ROW ? j0 + j : rows_[r] % m_, 1);
        to[j] = test::activate(activation_, to[j] + bias);
      }
    }
  }

  std::int64_t m_ = 0, n_ = 0, k_ = 0, batch_;
  bool transpose_a_ = false, transpose_b_ = false;
  tk_bias bias_kind_;
  tk_activation_kind activation_;
  tensor a_, b_, bias_, d_, workspace_;
  DLTensor a_dl_{}, b_dl_{}, bias_dl_{}, d_dl_{};
  tk_gemm_problem problem_{};
  std::vector<std::int64_t> rows_;
  std::vector<double> reference_;
};

suite_entry const entry{
    "gemm", {"mnk", "trans", "type", "out", "batch", "bias", "act"}, make<gemm_benchmark>};

}  // namespace
}  // namespace tk::bench
