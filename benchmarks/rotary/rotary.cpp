// SPDX-License-Identifier: MIT
// Suite rotary: q and k of n tokens are rotated by tables of n rows, in order or at positions.
// Bound by memory: flops is 0, the rate is that of the bytes that must move. The oracle computes
// some heads (all, if that is cheap) in fp64. A right output is off by one rounding, the floor, and
// by what fp32 commits to a sum of two products: 2^-21 of the result is more.
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/rotary/rotary.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, some seconds
constexpr std::int64_t sampled_heads = 4096;
constexpr double fp32_error = 0x1p-21;
constexpr double longest_wave = 10000;

class rotary_benchmark final : public benchmark {
 public:
  explicit rotary_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        n_(x.number("n")),
        d_(x.number("d")),
        w_(x.number("w", d_ / 2)),
        pairs_(x.number("interleaved", 0) != 0),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {
    std::int64_t const heads[] = {x.number("hq"), x.number("hk")};
    for (int i = 0; i < 2; ++i) {
      if (heads[i] == 0) continue;
      in_[i] = tensor(type_, {b_, n_, heads[i], d_});
      in_[i].fill_normal(static_cast<std::uint64_t>(i) + 1);
      out_[i] = tensor(type_, {b_, n_, heads[i], d_});
    }
    make_tables();
    if (x.number("positions", 0) != 0) make_positions();
    problem_.size = sizeof problem_;
    problem_.q = given(in_[0], 0);
    problem_.k = given(in_[1], 1);
    problem_.q_out = given(out_[0], 2);
    problem_.k_out = given(out_[1], 3);
    problem_.cos = given(cos_, 4);
    problem_.sin = given(sin_, 5);
    problem_.positions = given(positions_, 6);
    problem_.interleaved = pairs_;
    problem_.repeat = repeat_;
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  double bytes() const override {
    std::int64_t all = positions_ ? positions_.bytes() : 0;
    for (auto const* t : {&in_[0], &in_[1], &out_[0], &out_[1], &cos_, &sin_})
      if (*t) all += t->bytes();
    return static_cast<double>(all);
  }
  tk_repeat repeat() const override { return repeat_; }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_ROTARY, &problem_);
    return {"tk", [this] {
              check(tk_rotary(&problem_, workspace_.data(),
                              static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  peer_list peers() override { return {}; }
  std::vector<tensor*> outputs() override {
    std::vector<tensor*> all;
    for (auto& t : out_)
      if (t) all.push_back(&t);
    return all;
  }

  verdict compare() override {
    deviation all;
    bool finite = true;
    for (int i = 0; i < 2; ++i) {
      if (!out_[i]) continue;
      auto const got = out_[i].copy_out();
      finite = finite && all_finite(type_, got);
      std::int64_t const heads = out_[i].shape()[2];
      auto const size = static_cast<std::size_t>(d_);
      std::vector<double> x(size), y(size);
      for (auto const row :
           sample_rows(b_ * n_ * heads, std::max(whole_elements / d_, sampled_heads))) {
        in_[i].read(x.data(), row * d_, d_);
        tensor::read(y.data(), type_, got.data() + row * d_ * bytes_of(type_), d_);
        rotate(x, row / heads);
        for (std::size_t j = 0; j < size; ++j) all.add(type_, y[j], x[j]);
      }
    }
    return {finite ? all.relative() : HUGE_VAL, 1.1 * all.relative_floor() + fp32_error};
  }

 private:
  DLTensor const* given(tensor const& t, int i) {
    if (!t) return nullptr;
    dl_[i] = t.dl();
    return &dl_[i];
  }
  void make_tables() {
    for (std::int64_t p = 0; p < n_; ++p)
      for (std::int64_t i = 0; i < w_; ++i) {
        double const exponent = static_cast<double>(i) / static_cast<double>(w_);
        double const angle = static_cast<double>(p) * std::pow(longest_wave, -exponent);
        angle_cos_.push_back(static_cast<float>(std::cos(angle)));
        angle_sin_.push_back(static_cast<float>(std::sin(angle)));
      }
    cos_memory_ = tensor(angle_cos_), sin_memory_ = tensor(angle_sin_);
    cos_ = cos_memory_.slice(0, {n_, w_}, {w_, 1});
    sin_ = sin_memory_.slice(0, {n_, w_}, {w_, 1});
  }
  // Backwards, from another place in each sequence.
  void make_positions() {
    std::vector<std::int32_t> all;
    for (std::int64_t i = 0; i < b_ * n_; ++i)
      all.push_back(static_cast<std::int32_t>((n_ - 1 - i % n_ + 7 * (i / n_)) % n_));
    at_ = all;
    positions_memory_ = tensor(all);
    positions_ = positions_memory_.slice(0, {b_, n_}, {n_, 1});
  }
  void rotate(std::vector<double>& x, std::int64_t token) const {
    std::int64_t const p = at_.empty() ? token % n_ : at_[static_cast<std::size_t>(token)];
    auto const w = static_cast<std::size_t>(w_), from = static_cast<std::size_t>(p) * w;
    for (std::size_t i = 0; i < w; ++i) {
      double const cos = static_cast<double>(angle_cos_[from + i]);
      double const sin = static_cast<double>(angle_sin_[from + i]);
      double& first = x[pairs_ ? 2 * i : i];
      double& second = x[pairs_ ? 2 * i + 1 : i + w];
      double const was = first;
      first = was * cos - second * sin;
      second = second * cos + was * sin;
    }
  }

  std::int64_t b_, n_, d_, w_;
  bool pairs_;
  dtype type_;
  tk_repeat repeat_;
  tensor in_[2], out_[2];
  std::vector<float> angle_cos_, angle_sin_;
  tensor cos_memory_, sin_memory_, positions_memory_, cos_, sin_, positions_;
  std::vector<std::int32_t> at_;
  tensor workspace_;
  DLTensor dl_[7]{};
  tk_rotary_problem problem_{};
};

suite_entry const entry{"rotary",
                        {"b", "n", "hq", "hk", "d", "w", "interleaved", "positions", "type"},
                        make<rotary_benchmark>};

}  // namespace
}  // namespace tk::bench
