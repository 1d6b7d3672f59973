// SPDX-License-Identifier: MIT
// Suite based: the forward, with states where they are asked for. Bound by memory, or by what makes
// moments of q and k and multiplies them: flops is 0, the rate is that of the bytes that must move,
// each operand once, and its ceiling that of a copy of as many. The oracle takes some heads token
// by token in fp64. A right result is off by its own rounding, the floor, and by those of moments
// on either side and of states, which are as large; beside scores of both signs they are larger.
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/based/based.h"

namespace tk::bench {
namespace {

constexpr double whole_products = 0x1p29;  // of the oracle, about a second
constexpr double roundings = 6, fp32_error = 0x1p-16;
constexpr int width = 16, moments = 153;

using numbers = std::vector<double>;

class based_benchmark final : public benchmark {
 public:
  explicit based_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        n_(x.number("n")),
        h_(x.number("h")),
        dv_(x.number("dv", 64)),
        normalise_(x.number("normalise", 0) != 0),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat),
        scale_(0.25f) {
    q_ = filled(type_, {b_, n_, h_, width}, 1), k_ = filled(type_, {b_, n_, h_, width}, 2);
    v_ = filled(type_, {b_, n_, h_, dv_}, 3), o_ = filled(type_, {b_, n_, h_, dv_}, 0);
    if (x.number("states", 0)) {
      initial_ = filled(dtype::fp32, {b_, h_, moments, dv_}, 5);
      final_ = filled(dtype::fp32, {b_, h_, moments, dv_}, 0);
    }
    problem_.size = sizeof problem_;
    problem_.q = given(q_);
    problem_.k = given(k_);
    problem_.v = given(v_);
    problem_.o = given(o_);
    problem_.initial_state = given(initial_);
    problem_.final_state = given(final_);
    problem_.scale = scale_;
    problem_.normalise = normalise_ ? 1 : 0;
    problem_.repeat = repeat_;
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }
  double bytes() const override {
    double sum = 0;
    for (auto const* t : {&q_, &k_, &v_, &o_, &initial_, &final_})
      sum += *t ? static_cast<double>(t->bytes()) : 0;
    return sum;
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_BASED, &problem_);
    return {"tk", [this] {
              check(tk_based(&problem_, workspace_.data(),
                             static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    return final_ ? std::vector{&o_, &final_} : std::vector{&o_};
  }
  verdict compare() override {
    auto const got = o_.copy_out();
    auto const got_final = final_ ? final_.copy_out() : std::vector<std::byte>{};
    double const products = static_cast<double>(n_) * static_cast<double>(moments * dv_);
    deviation of_o, of_state;
    for (auto const i : sample_rows(
             b_ * h_,
             std::max<std::int64_t>(1, static_cast<std::int64_t>(whole_products / products))))
      compare_head(i, got, got_final, of_o, of_state);
    bool const finite = all_finite(type_, got) && (!final_ || all_finite(dtype::fp32, got_final));
    double const error = std::max(of_o.relative(), final_ ? of_state.relative() : 0);
    return {finite ? error : HUGE_VAL,
            roundings * (type_ == dtype::bf16 ? 0x1p-9 : 0x1p-12) + fp32_error};
  }

 private:
  static tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed) {
    tensor t(type, std::move(shape));
    if (seed) t.fill_normal(seed);
    return t;
  }
  DLTensor const* given(tensor const& t) { return t ? &(dl_[count_++] = t.dl()) : nullptr; }
  numbers token(tensor const& t, std::int64_t head, std::int64_t i) const {
    std::int64_t const cols = t.shape().back();
    numbers x(static_cast<std::size_t>(cols));
    t.read(x.data(), ((head / h_ * n_ + i) * h_ + head % h_) * cols, cols);
    return x;
  }
  // 1, x_i, x_i x_j for i <= j; weighted as a query's, or not.
  static numbers moments_of(numbers const& x, double one, double two, double square) {
    numbers y{1};
    for (double const v : x) y.push_back(one * v);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = i; j < x.size(); ++j) y.push_back((i == j ? square : two) * x[i] * x[j]);
    return y;
  }
  void compare_head(std::int64_t head, std::vector<std::byte> const& got,
                    std::vector<std::byte> const& got_final, deviation& of_o,
                    deviation& of_state) const {
    auto const cols = static_cast<std::size_t>(dv_);
    numbers s(moments * cols, 0), z(moments, 0), o(cols), exact(cols);
    if (initial_) initial_.read(s.data(), head * moments * dv_, moments * dv_);
    double const scale = scale_, two = scale * scale;
    for (std::int64_t i = 0; i < n_; ++i) {
      auto const q = moments_of(token(q_, head, i), scale, two, two / 2),
                 k = moments_of(token(k_, head, i), 1, 1, 1), v = token(v_, head, i);
      double sum = 0;
      std::fill(exact.begin(), exact.end(), 0);
      for (std::size_t m = 0; m < moments; ++m) {
        double* const row = s.data() + m * cols;
        for (std::size_t c = 0; c < cols; ++c) row[c] += k[m] * v[c], exact[c] += q[m] * row[c];
        sum += q[m] * (z[m] += k[m]);
      }
      if (normalise_)
        for (double& x : exact) x /= sum + 1e-6;
      tensor::read(o.data(), type_,
                   got.data() + ((head / h_ * n_ + i) * h_ + head % h_) * dv_ * bytes_of(type_),
                   dv_);
      for (std::size_t c = 0; c < cols; ++c) of_o.add(type_, o[c], exact[c]);
    }
    if (!final_) return;
    numbers last(s.size());
    tensor::read(last.data(), dtype::fp32,
                 got_final.data() + head * moments * dv_ * bytes_of(dtype::fp32), moments * dv_);
    for (std::size_t i = 0; i < s.size(); ++i) of_state.add(dtype::fp32, last[i], s[i]);
  }

  std::int64_t b_, n_, h_, dv_;
  bool normalise_;
  dtype type_;
  tk_repeat repeat_;
  float scale_;
  tensor q_, k_, v_, o_, initial_, final_, workspace_;
  DLTensor dl_[6]{};
  int count_ = 0;
  tk_based_problem problem_{};
};

std::set<std::string> const words{"b", "n", "h", "dv", "type", "normalise", "states"};
suite_entry const entry{"based", words, make<based_benchmark>};

}  // namespace
}  // namespace tk::bench
