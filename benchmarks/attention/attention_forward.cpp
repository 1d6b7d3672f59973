// SPDX-License-Identifier: MIT
// Suite attention: o[b, n, hq, d] = softmax(scale q k^T + mask) v and lse[b, hq, n], beside cuDNN
// where there is one. The oracle computes some query rows (all, if that is cheap) in fp64. A right
// output is rounded once, and the probabilities once between the products, each to the floor: that
// makes sqrt 2 floors, 2 with a margin. lse is fp32 and may be off by 2^-15 of itself (or of 1),
// far more than exponentials and logarithms of 22 bits cost.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "benchmarks/attention/cudnn.hpp"
#include "benchmarks/benchmark.hpp"
#include "ops/attention/attention_forward.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_products = std::int64_t{1} << 28;  // of the oracle, under a second
constexpr std::int64_t sampled_rows = 128;
constexpr double lse_limit = 0x1p-15;

tk_mask parse_mask(std::string const& name) {
  if (name == "none") return TK_MASK_NONE;
  if (name == "causal") return TK_MASK_CAUSAL;
  throw std::runtime_error("'" + name + "' is no mask: causal");
}

class attention_benchmark final : public benchmark {
 public:
  explicit attention_benchmark(bench_case const& x)
      : b_(x.number("b")),
        nq_(x.number("n")),
        nk_(x.number("nk", nq_)),
        hq_(x.number("h")),
        hk_(x.number("hk", hq_)),
        d_(x.number("d")),
        mask_(parse_mask(x.get("mask", "none"))),
        scale_(1 / std::sqrt(static_cast<float>(d_))) {
    dtype const type = parse_dtype(x.get("type", "bf16"));
    std::string const layout = x.get("layout", "separate");
    if (layout == "packed") {
      make_packed(type);
    } else if (layout == "separate") {
      q_ = tensor(type, {b_, nq_, hq_, d_});
      k_ = tensor(type, {b_, nk_, hk_, d_});
      v_ = tensor(type, {b_, nk_, hk_, d_});
      q_.fill_normal(1);
      k_.fill_normal(2);
      v_.fill_normal(3);
    } else {
      throw std::runtime_error("'" + layout + "' is no layout: separate or packed");
    }
    o_ = tensor(type, {b_, nq_, hq_, d_});
    lse_ = tensor(dtype::fp32, {b_, hq_, nq_});
    bind();
    problem_.repeat = x.repeat;
  }

  dtype type() const override { return o_.type(); }
  double flops() const override {
    auto const nq = static_cast<double>(nq_), nk = static_cast<double>(nk_);
    double const seeing = std::min(nq, nk);  // of the rows, where the mask is causal
    double const pairs = mask_ == TK_MASK_CAUSAL ? seeing * (nk - seeing / 2) : nq * nk;
    return 4 * pairs * static_cast<double>(b_ * hq_ * d_);
  }
  double bytes() const override {
    return static_cast<double>(q_.bytes() + k_.bytes() + v_.bytes() + o_.bytes() + lse_.bytes());
  }
  tk_repeat repeat() const override { return problem_.repeat; }
  std::vector<tensor*> outputs() override { return {&o_, &lse_}; }

  implementation tk() override {
    workspace_ = make_workspace(TK_OP_ATTENTION_FORWARD, &problem_);
    auto const call = [this] {
      check(tk_attention_forward(&problem_, workspace_.data(),
                                 static_cast<std::size_t>(workspace_.bytes()), nullptr));
    };
    return {"tk", call};
  }

  peer_list peers() override {
    peer_list list;
    add_cudnn(list, {&q_, &k_, &v_, &o_, &lse_, mask_ == TK_MASK_CAUSAL, scale_});
    return list;
  }

  verdict compare() override {
    if (reference_.empty()) compute_reference();
    std::vector<std::byte> const o = o_.copy_out(), lse = lse_.copy_out();
    std::vector<double> row(static_cast<std::size_t>(d_));
    deviation all;
    double worst_lse = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      auto const [b, h, i] = position(rows_[r]);
      tensor::read(row.data(), o_.type(),
                   o.data() + ((b * nq_ + i) * hq_ + h) * d_ * bytes_of(o_.type()), d_);
      for (std::size_t j = 0; j < row.size(); ++j)
        all.add(o_.type(), row[j], reference_[r * row.size() + j]);
      double got;
      tensor::read(&got, dtype::fp32, lse.data() + rows_[r] * bytes_of(dtype::fp32), 1);
      double const want = reference_lse_[r];
      double const off = std::fabs(got - want) / std::max(1.0, std::fabs(want));
      if (got != want) worst_lse = off <= lse_limit ? std::max(worst_lse, off) : HUGE_VAL;
    }
    bool const blind = mask_ == TK_MASK_CAUSAL && nq_ > nk_;  // rows whose lse is -inf
    bool const right = all_finite(o_.type(), o) && worst_lse <= lse_limit &&
                       (blind || all_finite(dtype::fp32, lse));
    return {right ? all.relative() : HUGE_VAL, 2 * all.relative_floor()};
  }

 private:
  void make_packed(dtype type) {
    if (nq_ != nk_) throw std::runtime_error("layout=packed needs nk = n");
    std::int64_t const heads = hq_ + 2 * hk_;
    packed_ = tensor(type, {b_, nq_, heads, d_});
    packed_.fill_normal(1);
    std::vector<std::int64_t> const strides{nq_ * heads * d_, heads * d_, d_, 1};
    q_ = packed_.slice(0, {b_, nq_, hq_, d_}, strides);
    k_ = packed_.slice(hq_ * d_, {b_, nk_, hk_, d_}, strides);
    v_ = packed_.slice((hq_ + hk_) * d_, {b_, nk_, hk_, d_}, strides);
  }

  void bind() {
    q_dl_ = q_.dl();
    k_dl_ = k_.dl();
    v_dl_ = v_.dl();
    o_dl_ = o_.dl();
    lse_dl_ = lse_.dl();
    problem_.size = sizeof problem_;
    problem_.q = &q_dl_;
    problem_.k = &k_dl_;
    problem_.v = &v_dl_;
    problem_.o = &o_dl_;
    problem_.lse = &lse_dl_;
    problem_.mask = mask_;
    problem_.scale = scale_;
  }

  // Rows are numbered through as lse's elements are: (b hq + h) nq + i.
  std::array<std::int64_t, 3> position(std::int64_t row) const {
    return {row / nq_ / hq_, row / nq_ % hq_, row % nq_};
  }

  void compute_reference() {
    std::int64_t const affordable = whole_products / std::max<std::int64_t>(1, nk_ * d_);
    std::int64_t const total = b_ * hq_ * nq_;
    if (total <= std::max(affordable, sampled_rows)) {
      rows_ = sample_rows(total, total);
    } else {  // ends and edges of the sequence, each in another batch and head
      for (std::int64_t i : sample_rows(nq_, std::max(affordable, sampled_rows)))
        rows_.push_back(static_cast<std::int64_t>(rows_.size()) * 7 % (b_ * hq_) * nq_ + i);
    }
    reference_.assign(rows_.size() * static_cast<std::size_t>(d_), 0);
    reference_lse_.assign(rows_.size(), -std::numeric_limits<double>::infinity());
    parallel_for(static_cast<std::int64_t>(rows_.size()),
                 [&](std::int64_t r) { reference_row(static_cast<std::size_t>(r)); });
  }

  void reference_row(std::size_t r) {
    auto const [b, h, i] = position(rows_[r]);
    std::int64_t const seen = mask_ == TK_MASK_CAUSAL ? std::min(nk_, i + nk_ - nq_ + 1) : nk_;
    if (seen <= 0) return;
    std::vector<double> q(static_cast<std::size_t>(d_)), x(q.size());
    std::vector<double> s(static_cast<std::size_t>(seen));
    read_row(q, q_, b, i, h);
    for (std::int64_t j = 0; j < seen; ++j) {
      read_row(x, k_, b, j, h / (hq_ / hk_));
      std::array<double, 8> sum{};  // d is a multiple of 8
      for (std::size_t l = 0; l < x.size(); l += 8)
        for (std::size_t u = 0; u < 8; ++u) sum[u] += q[l + u] * x[l + u];
      double total = 0;
      for (double y : sum) total += y;
      s[static_cast<std::size_t>(j)] = total * static_cast<double>(scale_);
    }
    double const peak = *std::max_element(s.begin(), s.end());
    double weight = 0;
    double* o = reference_.data() + static_cast<std::int64_t>(r) * d_;
    for (std::int64_t j = 0; j < seen; ++j) {
      double const p = std::exp(s[static_cast<std::size_t>(j)] - peak);
      read_row(x, v_, b, j, h / (hq_ / hk_));
      for (std::size_t l = 0; l < x.size(); ++l) o[l] += p * x[l];
      weight += p;
    }
    for (std::int64_t l = 0; l < d_; ++l) o[l] /= weight;
    reference_lse_[r] = peak + std::log(weight);
  }

  void read_row(std::vector<double>& to, tensor const& x, std::int64_t b, std::int64_t n,
                std::int64_t h) const {
    auto const& s = x.strides();
    x.read(to.data(), b * s[0] + n * s[1] + h * s[2], d_);
  }

  std::int64_t b_, nq_, nk_, hq_, hk_, d_;
  tk_mask mask_;
  float scale_;
  tensor packed_, q_, k_, v_, o_, lse_, workspace_;
  DLTensor q_dl_{}, k_dl_{}, v_dl_{}, o_dl_{}, lse_dl_{};
  tk_attention_forward_problem problem_{};
  std::vector<std::int64_t> rows_;
  std::vector<double> reference_, reference_lse_;
};

suite_entry const entry{"attention",
                        {"b", "n", "h", "d", "nk", "hk", "mask", "layout", "type"},
                        make<attention_benchmark>};

}  // namespace
}  // namespace tk::bench
