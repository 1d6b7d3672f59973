// SPDX-License-Identifier: MIT
// Suite hedgehog. Bound by memory: flops is 0, the rate is that of the bytes that must move, each
// operand once, and its ceiling that of a copy of as many. The oracle takes some heads (all, if
// that is cheap) token by token in fp64. A right result is off by its own rounding, the floor, and
// by those of weights, features and states, which are as large.
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/hedgehog/hedgehog.h"

namespace tk::bench {
namespace {

constexpr double whole_products = 0x1p29;  // of the oracle, about a second
constexpr double roundings = 3, fp32_error = 0x1p-14;
constexpr std::int64_t D = 128, F = 64, block = 64;

using numbers = std::vector<double>;

class hedgehog_benchmark final : public benchmark {
 public:
  explicit hedgehog_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        n_(x.number("n")),
        h_(x.number("h")),
        past_(x.number("past", 0)),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {
    q_ = filled(type_, {b_, n_ - past_, h_, D}, 1), k_ = filled(type_, {b_, n_, h_, D}, 2);
    v_ = filled(type_, {b_, n_, h_, D}, 3), o_ = tensor(type_, {b_, n_ - past_, h_, D});
    map_q_ = filled(type_, {h_, D, F}, 4, 0.1), map_k_ = filled(type_, {h_, D, F}, 5, 0.1);
    factors_ = tensor(std::vector<float>(static_cast<std::size_t>(h_), 0.5f));
    if (x.number("states", 0)) {
      initial_kv_ = filled(dtype::fp32, {b_, h_, D, D}, 6);
      initial_k_ = tensor(std::vector<float>(static_cast<std::size_t>(b_ * h_ * D), 1));
      initial_k_view_ = initial_k_.slice(0, {b_, h_, D}, {h_ * D, D, 1});
      final_kv_ = tensor(dtype::fp32, {b_, h_, D, D}), final_k_ = tensor(dtype::fp32, {b_, h_, D});
    }
    problem_.size = sizeof problem_;
    problem_.q = given(q_), problem_.k = given(k_), problem_.v = given(v_), problem_.o = given(o_);
    problem_.map_q = given(map_q_), problem_.map_k = given(map_k_);
    problem_.alpha = problem_.beta = given(factors_);
    problem_.initial_kv = given(initial_kv_), problem_.initial_k = given(initial_k_view_);
    problem_.final_kv = given(final_kv_), problem_.final_k = given(final_k_);
    problem_.scale = scale;
    problem_.repeat = repeat_;
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }
  double bytes() const override {
    double sum = 0;
    for (auto const* t : {&q_, &k_, &v_, &o_, &map_q_, &map_k_, &factors_, &initial_kv_,
                          &initial_k_, &final_kv_, &final_k_})
      sum += *t ? static_cast<double>(t->bytes()) : 0;
    return sum;
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_HEDGEHOG, &problem_);
    return {"tk", [this] {
              check(tk_hedgehog(&problem_, workspace_.data(),
                                static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    return final_kv_ ? std::vector{&o_, &final_kv_, &final_k_} : std::vector{&o_};
  }
  verdict compare() override {
    auto const got = o_.copy_out();
    bool finite = all_finite(type_, got);
    double const products = static_cast<double>(n_) * D * D * 2;
    auto const wanted = std::max(1., std::ceil(whole_products / products));
    deviation of_o, of_kv, of_k;
    auto const kv = final_kv_ ? final_kv_.copy_out() : std::vector<std::byte>{};
    auto const k = final_k_ ? final_k_.copy_out() : std::vector<std::byte>{};
    if (final_kv_) finite = finite && all_finite(dtype::fp32, kv) && all_finite(dtype::fp32, k);
    for (auto const i : sample_rows(b_ * h_, static_cast<std::int64_t>(wanted))) {
      auto const [exact, s, z] = exact_head(i);
      numbers row(D);
      for (std::int64_t t = 0; t < n_ - past_; ++t) {
        auto const at = ((i / h_ * (n_ - past_) + t) * h_ + i % h_) * D;
        tensor::read(row.data(), type_, got.data() + at * bytes_of(type_), D);
        for (std::int64_t c = 0; c < D; ++c)
          of_o.add(type_, row[static_cast<std::size_t>(c)],
                   exact[static_cast<std::size_t>(t * D + c)]);
      }
      if (!final_kv_) continue;
      add(of_kv, kv, i * D * D, s);
      add(of_k, k, i * D, z);
    }
    double const error = std::max({of_o.relative(), of_kv.relative(), of_k.relative()});
    return {finite ? error : HUGE_VAL,
            roundings * (type_ == dtype::bf16 ? 0x1p-9 : 0x1p-12) + fp32_error};
  }

 private:
  static constexpr float scale = 0.08838834764f;
  static tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed,
                       double size = 1) {
    tensor t(type, std::move(shape));
    t.fill_normal(seed, size);
    return t;
  }
  DLTensor const* given(tensor const& t) { return t ? &(dl_[count_++] = t.dl()) : nullptr; }
  static void add(deviation& to, std::vector<std::byte> const& got, std::int64_t at,
                  numbers const& exact) {
    numbers x(exact.size());
    tensor::read(x.data(), dtype::fp32, got.data() + at * 4,
                 static_cast<std::int64_t>(exact.size()));
    for (std::size_t i = 0; i < exact.size(); ++i) to.add(dtype::fp32, x[i], exact[i]);
  }

  numbers tokens(tensor const& t, std::int64_t i, std::int64_t n) const {
    numbers x(static_cast<std::size_t>(n * D));
    for (std::int64_t r = 0; r < n; ++r)
      t.read(x.data() + r * D, ((i / h_ * n + r) * h_ + i % h_) * D, D);
    return x;
  }
  static void features(double* to, double const* x, numbers const& map) {
    double u[F] = {};
    for (std::int64_t d = 0; d < D; ++d)
      for (std::int64_t f = 0; f < F; ++f) u[f] += x[d] * map[static_cast<std::size_t>(d * F + f)];
    for (int const sign : {1, -1}) {
      double* const of = sign > 0 ? to : to + F;
      double top = -HUGE_VAL, sum = 0;
      for (double const y : u) top = std::max(top, sign * y);
      for (std::int64_t f = 0; f < F; ++f) sum += of[f] = std::exp(sign * u[f] - top);
      for (std::int64_t f = 0; f < F; ++f) of[f] = std::max(of[f] / sum, 1e-6);
    }
  }
  struct head {
    numbers o, kv, k;
  };
  head exact_head(std::int64_t i) const {
    auto const q = tokens(q_, i, n_ - past_), k = tokens(k_, i, n_), v = tokens(v_, i, n_);
    numbers of_q(D * F), of_k(D * F), kv(D * D), z(D), phi(D);
    map_q_.read(of_q.data(), i % h_ * D * F, D * F);
    map_k_.read(of_k.data(), i % h_ * D * F, D * F);
    if (initial_kv_) initial_kv_.read(kv.data(), i * D * D, D * D);
    if (initial_k_) z.assign(D, 1);
    head x;
    std::int64_t added = 0;
    auto const add_before = [&](std::int64_t end) {
      for (; added < end; ++added) {
        features(phi.data(), k.data() + added * D, of_k);
        for (std::size_t f = 0; f < D; ++f) {
          z[f] += phi[f];
          for (std::size_t c = 0; c < D; ++c)
            kv[f * D + c] += phi[f] * v[static_cast<std::size_t>(added * D) + c];
        }
      }
    };
    for (std::int64_t t = past_; t < n_; ++t) {
      auto const window = std::max<std::int64_t>(0, t / block - 1) * block;
      add_before(window);
      double const* const query = q.data() + (t - past_) * D;
      numbers s, o(D);
      for (std::int64_t j = window; j <= t; ++j) {
        double sum = 0;
        for (std::int64_t d = 0; d < D; ++d)
          sum += query[d] * k[static_cast<std::size_t>(j * D + d)];
        s.push_back(sum);
      }
      double const top = *std::max_element(s.begin(), s.end());
      double sum = 1e-6;
      for (std::size_t j = 0; j < s.size(); ++j) {
        double const p = 0.5 * std::exp((s[j] - top) * scale);
        sum += p;
        for (std::size_t c = 0; c < D; ++c)
          o[c] += p * v[(static_cast<std::size_t>(window) + j) * D + c];
      }
      features(phi.data(), query, of_q);
      for (std::size_t f = 0; f < D; ++f) {
        sum += 0.5 * phi[f] * z[f];
        for (std::size_t c = 0; c < D; ++c) o[c] += 0.5 * phi[f] * kv[f * D + c];
      }
      for (double const y : o) x.o.push_back(y / sum);
    }
    add_before(std::max<std::int64_t>(0, n_ / block - 1) * block);
    x.kv = kv, x.k = z;
    return x;
  }

  std::int64_t b_, n_, h_, past_;
  dtype type_;
  tk_repeat repeat_;
  tensor q_, k_, v_, o_, map_q_, map_k_, factors_, initial_kv_, initial_k_, initial_k_view_,
      final_kv_, final_k_, workspace_;
  DLTensor dl_[15]{};
  int count_ = 0;
  tk_hedgehog_problem problem_{};
};

std::set<std::string> const words{"b", "n", "h", "past", "type", "states"};
suite_entry const entry{"hedgehog", words, make<hedgehog_benchmark>};

}  // namespace
}  // namespace tk::bench
