// SPDX-License-Identifier: MIT
// Suites conv1d and conv1d-bwd: sequences of n tokens of c channels, or packed ones of n together;
// all gradients in the backward. Bound by memory: flops is 0, the rate is that of the bytes that
// must move, each operand once, and its ceiling that of a copy of as many. The oracle takes some
// channels (all, if that is cheap) in fp64. A right y or dx is off by one rounding, the floor, and
// by what fp32 commits; dweight and dbias by what fp32 sums over tokens do.
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/conv1d/conv1d.h"
#include "ops/conv1d/conv1d_backward.h"
#include "tests/support/activate.hpp"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 23;  // of the oracle, under a second
constexpr std::int64_t sampled_channels = 16;
constexpr double fp32_error = 0x1p-18;

class conv1d_benchmark : public benchmark {
 public:
  explicit conv1d_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        n_(x.number("n")),
        c_(x.number("c")),
        w_(x.number("w", 4)),
        sequences_(x.number("packed", b_)),
        act_(x.get("act", "silu") == "none" ? TK_ACTIVATION_NONE : TK_ACTIVATION_SILU),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat),
        packed_(x.number("packed", 0) > 0) {
    auto const weights = parse_dtype(x.get("weights", x.get("type", "bf16")));
    x_ = tokens(1);
    weight_ = filled(weights, {c_, w_}, 2);
    if (x.number("bias", 1)) bias_ = filled(weights, {c_}, 3);
    if (x.number("states", 0)) initial_ = filled(type_, states(), 4);
    if (!packed_) return;
    std::vector<std::int32_t> starts;
    for (std::int64_t s = 0; s <= sequences_; ++s)
      starts.push_back(static_cast<std::int32_t>(s * length()));
    starts_ = tensor(starts);
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }

 protected:
  tensor tokens(std::uint64_t seed) const { return filled(type_, {b_, n_, c_}, seed); }
  std::vector<std::int64_t> states() const { return {sequences_, w_ - 1, c_}; }
  static tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed) {
    tensor t(type, std::move(shape));
    if (seed) t.fill_normal(seed);
    return t;
  }
  DLTensor const* given(tensor const& t) { return t ? &(dl_[count_++] = t.dl()) : nullptr; }
  template <class Problem> void give_operands(Problem& p) {
    p.size = sizeof p;
    p.x = given(x_);
    p.weight = given(weight_);
    p.bias = given(bias_);
    p.initial_state = given(initial_);
    p.starts = given(starts_);
    p.activation = act_;
    p.repeat = repeat_;
  }
  double operand_bytes() const {
    double all = 0;
    for (auto const* t : {&x_, &weight_, &bias_, &initial_, &starts_})
      all += *t ? static_cast<double>(t->bytes()) : 0;
    return all;
  }
  std::vector<std::int64_t> channels() const {
    return sample_rows(c_, std::max(whole_elements / (b_ * n_), sampled_channels));
  }
  std::int64_t all_tokens() const { return b_ * n_; }
  std::int64_t length() const { return packed_ ? n_ / sequences_ : n_; }

  // One channel of all tokens: its numbers, and the sums before the activation.
  struct channel {
    std::vector<double> weight, before, x, z;
  };
  channel read_channel(std::int64_t c) const {
    channel of{std::vector<double>(w()), std::vector<double>(w(), 0), column(x_, c),
               std::vector<double>(static_cast<std::size_t>(all_tokens()), 0)};
    weight_.read(of.weight.data(), c * w_, w_);
    double bias = 0;
    if (bias_) bias_.read(&bias, c, 1);
    for (std::int64_t i = 0; i < all_tokens(); ++i) {
      double& z = of.z[static_cast<std::size_t>(i)];
      z = bias;
      for (std::int64_t tap = 0; tap < w_; ++tap)
        z += of.weight[std::size_t(tap)] * term(of, c, i, tap);
    }
    return of;
  }
  // What tap `tap` of token i takes.
  double term(channel const& of, std::int64_t c, std::int64_t i, std::int64_t tap) const {
    std::int64_t const t = i % length() - (w_ - 1) + tap;
    if (t >= 0) return of.x[static_cast<std::size_t>(i - (w_ - 1) + tap)];
    double state = 0;
    if (initial_) initial_.read(&state, (i / length() * (w_ - 1) + t + w_ - 1) * c_ + c, 1);
    return state;
  }
  std::vector<double> column(tensor const& t, std::int64_t c) const {
    std::vector<double> y(static_cast<std::size_t>(all_tokens()));
    t.read(y.data(), c, all_tokens(), c_);
    return y;
  }
  std::vector<double> column(std::vector<std::byte> const& of, std::int64_t c) const {
    std::vector<double> y(static_cast<std::size_t>(all_tokens()));
    tensor::read(y.data(), type_, of.data() + c * bytes_of(type_), all_tokens(), c_);
    return y;
  }
  std::size_t w() const { return static_cast<std::size_t>(w_); }
  tk_activation_kind act() const { return act_; }
  bool has_states() const { return bool(initial_); }
  bool has_bias() const { return bool(bias_); }

 private:
  std::int64_t b_, n_, c_, w_, sequences_;
  tk_activation_kind act_;
  dtype type_;
  tk_repeat repeat_;
  bool packed_;
  tensor x_, weight_, bias_, initial_, starts_;
  DLTensor dl_[11]{};
  int count_ = 0;
};

class forward_benchmark final : public conv1d_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x) : conv1d_benchmark(x) {
    y_ = tokens(0);
    if (has_states()) final_ = filled(type(), states(), 0);
    give_operands(problem_);
    problem_.y = given(y_);
    problem_.final_state = given(final_);
  }
  double bytes() const override {
    return operand_bytes() + static_cast<double>(y_.bytes() + (final_ ? final_.bytes() : 0));
  }
  implementation tk() override {
    return {"tk", [this] { check(tk_conv1d(&problem_, nullptr, 0, nullptr)); }};
  }
  std::vector<tensor*> outputs() override {
    return final_ ? std::vector{&y_, &final_} : std::vector{&y_};
  }
  verdict compare() override {
    auto const got = y_.copy_out();
    deviation all;
    for (auto const c : channels()) {
      auto const of = read_channel(c);
      auto const y = column(got, c);
      for (std::size_t i = 0; i < y.size(); ++i)
        all.add(type(), y[i], test::activate(act(), of.z[i]));
    }
    bool const finite =
        all_finite(type(), got) && (!final_ || all_finite(type(), final_.copy_out()));
    return {finite ? all.relative() : HUGE_VAL, 1.1 * all.relative_floor() + fp32_error};
  }

 private:
  tensor y_, final_;
  tk_conv1d_problem problem_{};
};

class backward_benchmark final : public conv1d_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x) : conv1d_benchmark(x) {
    auto const sums = parse_dtype(x.get("weights", x.get("type", "bf16")));
    dy_ = tokens(5);
    dx_ = tokens(0);
    dweight_ = filled(sums, {x.number("c"), x.number("w", 4)}, 0);
    if (has_bias()) dbias_ = filled(sums, {x.number("c")}, 0);
    give_operands(problem_);
    problem_.dy = given(dy_);
    problem_.dx = given(dx_);
    problem_.dweight = given(dweight_);
    problem_.dbias = given(dbias_);
  }
  double bytes() const override {
    return operand_bytes() + static_cast<double>(dy_.bytes() + dx_.bytes() + dweight_.bytes() +
                                                 (dbias_ ? dbias_.bytes() : 0));
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_CONV1D_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_conv1d_backward(&problem_, workspace_.data(),
                                       static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    return dbias_ ? std::vector{&dx_, &dweight_, &dbias_} : std::vector{&dx_, &dweight_};
  }
  verdict compare() override {
    auto const got = dx_.copy_out(), got_weight = dweight_.copy_out();
    deviation all, sums;
    for (auto const c : channels()) {
      auto const of = read_channel(c);
      auto g = column(dy_, c);
      for (std::size_t i = 0; i < g.size(); ++i) g[i] *= test::activation_slope(act(), of.z[i]);
      auto const dx = column(got, c);
      std::vector<double> dweight(w(), 0), result(w());
      auto const taps = static_cast<std::int64_t>(w());
      for (std::int64_t i = 0; i < all_tokens(); ++i) {
        double exact = 0;
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          std::int64_t const to = i + taps - 1 - tap;
          if (to / length() == i / length() && to < all_tokens())
            exact += of.weight[std::size_t(tap)] * g[std::size_t(to)];
          dweight[std::size_t(tap)] += g[std::size_t(i)] * term(of, c, i, tap);
        }
        all.add(type(), dx[std::size_t(i)], exact);
      }
      auto const to = dweight_.type();
      tensor::read(result.data(), to, got_weight.data() + c * taps * bytes_of(to), taps);
      for (std::size_t tap = 0; tap < w(); ++tap) sums.add(to, result[tap], dweight[tap]);
    }
    bool const finite = all_finite(type(), got) && all_finite(dweight_.type(), got_weight);
    double const excess = sums.relative() - 1.1 * sums.relative_floor();
    return {finite ? std::max(all.relative(), excess) : HUGE_VAL,
            1.1 * all.relative_floor() + fp32_error};
  }

 private:
  tensor dy_, dx_, dweight_, dbias_, workspace_;
  tk_conv1d_backward_problem problem_{};
};

std::set<std::string> const words{"b",    "n",      "c",    "w",      "act",
                                  "bias", "states", "type", "packed", "weights"};
suite_entry const forward{"conv1d", words, make<forward_benchmark>};
suite_entry const backward{"conv1d-bwd", words, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
