// SPDX-License-Identifier: MIT
// What Hedgehog's suites share: operands, and a head of them in fp64.
#pragma once
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/hedgehog/hedgehog.h"

namespace tk::bench {

using numbers = std::vector<double>;

class hedgehog_benchmark : public benchmark {
 public:
  static constexpr std::int64_t D = 128, F = 64, block = 64;
  static constexpr float scale = 0.08838834764f;
  static constexpr double factor = 0.5;  // alpha and beta

  explicit hedgehog_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        n_(x.number("n")),
        h_(x.number("h")),
        past_(x.number("past", 0)),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {
    q_ = of_queries(1), k_ = of_keys(2), v_ = of_keys(3), o_ = of_queries(0);
    map_q_ = filled(type_, {h_, D, F}, 4, 0.1), map_k_ = filled(type_, {h_, D, F}, 5, 0.1);
    factors_ = tensor(std::vector<float>(static_cast<std::size_t>(h_), float{factor}));
    if (x.number("states", 0)) {
      initial_kv_ = filled(dtype::fp32, {b_, h_, D, D}, 6);
      initial_k_ = tensor(std::vector<float>(static_cast<std::size_t>(b_ * h_ * D), 1));
      initial_k_view_ = initial_k_.slice(0, {b_, h_, D}, {h_ * D, D, 1});
    }
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }

 protected:
  static tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed,
                       double size = 1) {
    tensor t(type, std::move(shape));
    if (seed) t.fill_normal(seed, size);
    return t;
  }
  tensor of_queries(std::uint64_t seed) const {
    return filled(type_, {b_, n_ - past_, h_, D}, seed);
  }
  tensor of_keys(std::uint64_t seed) const { return filled(type_, {b_, n_, h_, D}, seed); }
  tensor of_states() const { return tensor(dtype::fp32, {b_, h_, D, D}); }
  tensor of_sums() const { return tensor(dtype::fp32, {b_, h_, D}); }
  bool has_states() const { return bool(initial_kv_); }
  DLTensor const* given(tensor const& t) { return t ? &(dl_[count_++] = t.dl()) : nullptr; }
  template <class Problem> void give_operands(Problem& p) {
    p.size = sizeof p;
    p.q = given(q_), p.k = given(k_), p.v = given(v_), p.o = given(o_);
    p.map_q = given(map_q_), p.map_k = given(map_k_);
    p.alpha = p.beta = given(factors_);
    p.initial_kv = given(initial_kv_), p.initial_k = given(initial_k_view_);
    p.scale = scale;
    p.repeat = repeat_;
  }
  double bytes_with(std::vector<tensor const*> const& more) const {
    double sum = 0;
    auto all = more;
    all.insert(all.end(),
               {&q_, &k_, &v_, &o_, &map_q_, &map_k_, &factors_, &initial_kv_, &initial_k_});
    for (auto const* t : all) sum += *t ? static_cast<double>(t->bytes()) : 0;
    return sum;
  }
  // Those that are compared: a second's work of the oracle.
  std::vector<std::int64_t> heads(double work) const {
    double const products = static_cast<double>(n_) * D * D * work;
    return sample_rows(b_ * h_,
                       static_cast<std::int64_t>(std::max(1., std::ceil(0x1p29 / products))));
  }
  static numbers tokens(tensor const& t, std::int64_t i) {
    std::int64_t const n = t.shape()[1], h = t.shape()[2];
    numbers x(static_cast<std::size_t>(n * D));
    for (std::int64_t r = 0; r < n; ++r)
      t.read(x.data() + r * D, ((i / h * n + r) * h + i % h) * D, D);
    return x;
  }
  static void add_tokens(deviation& to, tensor const& t, std::vector<std::byte> const& got,
                         std::int64_t i, numbers const& exact) {
    std::int64_t const n = t.shape()[1], h = t.shape()[2];
    numbers row(D);
    for (std::int64_t r = 0; r < n; ++r) {
      auto const at = ((i / h * n + r) * h + i % h) * D;
      tensor::read(row.data(), t.type(), got.data() + at * bytes_of(t.type()), D);
      for (std::int64_t c = 0; c < D; ++c)
        to.add(t.type(), row[static_cast<std::size_t>(c)],
               exact[static_cast<std::size_t>(r * D + c)]);
    }
  }
  double limit() const { return 3 * (type_ == dtype::bf16 ? 0x1p-9 : 0x1p-12) + 0x1p-14; }

  // phi, and what it was before the maximum was taken.
  struct features {
    numbers phi = numbers(D), softmax = phi;
    features(double const* x, numbers const& map) {
      double u[F] = {};
      for (std::int64_t d = 0; d < D; ++d)
        for (std::int64_t f = 0; f < F; ++f)
          u[f] += x[d] * map[static_cast<std::size_t>(d * F + f)];
      for (int const sign : {1, -1}) {
        std::size_t const first = sign > 0 ? 0 : F;
        double top = -HUGE_VAL, sum = 0;
        for (double const y : u) top = std::max(top, sign * y);
        for (std::size_t f = 0; f < F; ++f) sum += softmax[first + f] = std::exp(sign * u[f] - top);
        for (std::size_t f = first; f < first + F; ++f) phi[f] = std::max(softmax[f] /= sum, 1e-6);
      }
    }
  };
  struct head {
    numbers q, k, v, map_q, map_k, kv, z;
    std::int64_t n, past;
    head(hedgehog_benchmark const& x, std::int64_t i)
        : q(tokens(x.q_, i)),
          k(tokens(x.k_, i)),
          v(tokens(x.v_, i)),
          map_q(D * F),
          map_k(D * F),
          kv(D * D),
          z(D),
          n(x.n_),
          past(x.past_) {
      x.map_q_.read(map_q.data(), i % x.h_ * D * F, D * F);
      x.map_k_.read(map_k.data(), i % x.h_ * D * F, D * F);
      if (!x.has_states()) return;
      x.initial_kv_.read(kv.data(), i * D * D, D * D);
      z.assign(D, 1);
    }
    static std::size_t at(std::int64_t token) { return static_cast<std::size_t>(token * D); }
    // Keys up to `end` to the state, from `added` on.
    void add_before(std::int64_t end, std::int64_t& added) {
      for (; added < end; ++added) {
        features const f(&k[at(added)], map_k);
        for (std::size_t r = 0; r < D; ++r) {
          z[r] += f.phi[r];
          for (std::size_t c = 0; c < D; ++c) kv[r * D + c] += f.phi[r] * v[at(added) + c];
        }
      }
    }
    static std::int64_t window(std::int64_t token) {
      return std::max<std::int64_t>(0, token / block - 1) * block;
    }
    // exp of scores beside the largest, of a token's window.
    numbers weights(std::int64_t token) const {
      numbers s;
      for (std::int64_t j = window(token); j <= token; ++j) {
        double sum = 0;
        for (std::size_t d = 0; d < D; ++d) sum += q[at(token - past) + d] * k[at(j) + d];
        s.push_back(sum);
      }
      double const top = *std::max_element(s.begin(), s.end());
      for (auto& y : s) y = std::exp((y - top) * scale);
      return s;
    }
  };

  std::int64_t b_, n_, h_, past_;
  dtype type_;
  tk_repeat repeat_;
  tensor q_, k_, v_, o_, map_q_, map_k_, factors_, initial_kv_, initial_k_, initial_k_view_;

 private:
  DLTensor dl_[32]{};
  int count_ = 0;
};

}  // namespace tk::bench
