// SPDX-License-Identifier: MIT
// Suites fft-conv and fft-conv-bwd: sequences of n elements in h channels, filters of nk taps,
// causal or circular, with gates or without; the backward gives du and dk, and with gates theirs.
// What an algorithm for it must do is open: flops is 0, the rate is that of the bytes that must
// move, each operand once. The oracle takes some elements of some sequences by the definition, in
// fp64. A right result is off by at most twice what rounding operands and results commits, so 2.9
// times the floor; dk, in fp32, by what fp16 factors of the transforms commit.
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/fft_conv/fft_conv.h"
#include "ops/fft_conv/fft_conv_backward.h"

namespace tk::bench {
namespace {

constexpr std::int64_t sampled_rows = 8, sampled_elements = 256;
constexpr double fp32_error = 0x1p-18, factor_error = 0x1p-9;

class conv_benchmark : public benchmark {
 public:
  explicit conv_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        h_(x.number("h")),
        n_(x.number("n")),
        nk_(x.number("nk", n_)),
        circular_(x.number("circular", 0) == 1),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {
    u_ = sequences(1);
    k_ = tensor(dtype::fp32, {h_, nk_});
    k_.fill_normal(2);
    if (x.number("gates", 0) == 1) pre_ = sequences(3), post_ = sequences(4);
  }
  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  double bytes() const override {
    double all = 0;
    for (auto const* t : {&u_, &k_, &pre_, &post_}) all += *t ? double(t->bytes()) : 0;
    for (auto const* t : const_cast<conv_benchmark*>(this)->outputs()) all += double(t->bytes());
    return all;
  }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }

 protected:
  using numbers = std::vector<double>;
  tensor sequences(std::uint64_t seed) const {
    tensor t(type_, {b_, h_, n_});
    if (seed) t.fill_normal(seed);
    return t;
  }
  DLTensor const* given(tensor const& t) { return t ? &(dl_[count_++] = t.dl()) : nullptr; }
  template <class Problem> void give_operands(Problem& p) {
    p.size = sizeof p;
    p.u = given(u_);
    p.k = given(k_);
    p.pre = given(pre_);
    p.post = given(post_);
    p.circular = circular_;
    p.repeat = repeat_;
  }
  bool has_gates() const { return bool(pre_); }
  std::int64_t rows() const { return b_ * h_; }
  std::int64_t batches() const { return b_; }
  std::int64_t channels() const { return h_; }
  std::int64_t taps() const { return nk_; }
  std::int64_t length() const { return n_; }

  numbers row(tensor const& t, std::int64_t r) const {
    numbers y(static_cast<std::size_t>(n_));
    t.read(y.data(), r * n_, n_);
    return y;
  }
  numbers gated(tensor const& t, tensor const& gate, std::int64_t r) const {
    auto y = row(t, r);
    if (!gate) return y;
    auto const by = row(gate, r);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= by[i];
    return y;
  }
  numbers filter(std::int64_t channel) const {
    numbers y(static_cast<std::size_t>(nk_));
    k_.read(y.data(), channel * nk_, nk_);
    return y;
  }
  // Sum over j of k[j] x[t + direction j].
  double sum_at(numbers const& x, numbers const& k, std::int64_t t, int direction) const {
    double sum = 0;
    for (std::int64_t j = 0; j < std::min(nk_, n_); ++j) {
      std::int64_t at = t + direction * j;
      if (circular_) at = (at + n_) % n_;
      if (at >= 0 && at < n_) sum += k[std::size_t(j)] * x[std::size_t(at)];
    }
    return sum;
  }
  static double element(std::vector<std::byte> const& of, dtype type, std::int64_t at) {
    double x;
    tensor::read(&x, type, of.data() + at * bytes_of(type), 1);
    return x;
  }

  tensor u_, k_, pre_, post_;

 private:
  std::int64_t b_, h_, n_, nk_;
  bool circular_;
  dtype type_;
  tk_repeat repeat_;
  DLTensor dl_[9]{};
  int count_ = 0;
};

class forward_benchmark final : public conv_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x) : conv_benchmark(x) {
    y_ = sequences(0);
    give_operands(problem_);
    problem_.y = given(y_);
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_FFT_CONV, &problem_);
    return {"tk", [this] {
              check(tk_fft_conv(&problem_, workspace_.data(),
                                static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override { return {&y_}; }
  verdict compare() override {
    auto const got = y_.copy_out();
    deviation all;
    for (auto const r : sample_rows(rows(), sampled_rows)) {
      auto const x = gated(u_, pre_, r), k = filter(r % channels());
      auto const post = has_gates() ? row(post_, r) : numbers(x.size(), 1);
      for (auto const t : sample_rows(length(), sampled_elements))
        all.add(type(), element(got, type(), r * length() + t),
                post[std::size_t(t)] * sum_at(x, k, t, -1));
    }
    return {all_finite(type(), got) ? all.relative() : HUGE_VAL,
            2.9 * all.relative_floor() + fp32_error};
  }

 private:
  tensor y_, workspace_;
  tk_fft_conv_problem problem_{};
};

class backward_benchmark final : public conv_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x) : conv_benchmark(x) {
    dy_ = sequences(5);
    du_ = sequences(0);
    dk_ = tensor(dtype::fp32, {channels(), taps()});
    if (has_gates()) dpre_ = sequences(0), dpost_ = sequences(0);
    give_operands(problem_);
    problem_.dy = given(dy_);
    problem_.du = given(du_);
    problem_.dk = given(dk_);
    problem_.dpre = given(dpre_);
    problem_.dpost = given(dpost_);
  }
  double bytes() const override { return conv_benchmark::bytes() + double(dy_.bytes()); }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_FFT_CONV_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_fft_conv_backward(&problem_, workspace_.data(),
                                         static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    return has_gates() ? std::vector{&du_, &dk_, &dpre_, &dpost_} : std::vector{&du_, &dk_};
  }
  verdict compare() override {
    auto const got = du_.copy_out(), got_filters = dk_.copy_out();
    deviation all, filters;
    for (auto const r : sample_rows(rows(), sampled_rows)) {
      auto const g = gated(dy_, post_, r), k = filter(r % channels());
      auto const pre = has_gates() ? row(pre_, r) : numbers(g.size(), 1);
      for (auto const t : sample_rows(length(), sampled_elements))
        all.add(type(), element(got, type(), r * length() + t),
                pre[std::size_t(t)] * sum_at(g, k, t, 1));
    }
    for (auto const c : sample_rows(channels(), 4)) {
      auto const places = sample_rows(std::min(taps(), length()), 64);
      numbers sums(places.size(), 0);
      for (std::int64_t b = 0; b < batches(); ++b) {
        auto const g = gated(dy_, post_, b * channels() + c),
                   x = gated(u_, pre_, b * channels() + c);
        for (std::size_t i = 0; i < places.size(); ++i)
          for (std::int64_t t = 0; t < length(); ++t) {
            std::int64_t const at = t + places[i];
            if (at < length()) sums[i] += g[std::size_t(at)] * x[std::size_t(t)];
            else if (problem_.circular)
              sums[i] += g[std::size_t(at - length())] * x[std::size_t(t)];
          }
      }
      for (std::size_t i = 0; i < places.size(); ++i)
        filters.add(dtype::fp32, element(got_filters, dtype::fp32, c * taps() + places[i]),
                    sums[i]);
    }
    bool const right = all_finite(type(), got) && all_finite(dtype::fp32, got_filters) &&
                       filters.relative() < factor_error;
    return {right ? all.relative() : HUGE_VAL, 2.9 * all.relative_floor() + fp32_error};
  }

 private:
  tensor dy_, du_, dk_, dpre_, dpost_, workspace_;
  tk_fft_conv_backward_problem problem_{};
};

std::set<std::string> const words{"b", "h", "n", "nk", "circular", "gates", "type"};
suite_entry const forward{"fft-conv", words, make<forward_benchmark>};
suite_entry const backward{"fft-conv-bwd", words, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
