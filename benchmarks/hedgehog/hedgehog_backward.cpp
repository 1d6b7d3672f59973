// SPDX-License-Identifier: MIT
// Suite hedgehog-bwd: all gradients, from o and the normaliser that a call of the forward left.
// Bound by memory as the forward (hedgehog.cpp). The oracle takes dq, dk and dv of some heads in
// fp64; they are off by the roundings of weights, features, states and of gradients of scores.
#include "benchmarks/hedgehog/operands.hpp"
#include "ops/hedgehog/hedgehog_backward.h"

namespace tk::bench {
namespace {

class backward_benchmark final : public hedgehog_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x) : hedgehog_benchmark(x) {
    dout_ = of_queries(7);
    normaliser_ = tensor(dtype::fp32, {b_, h_, n_ - past_});
    dq_ = of_queries(0), dk_ = of_keys(0), dv_ = of_keys(0);
    for (auto* const t : {&dmap_q_, &dmap_k_}) *t = tensor(dtype::fp32, {h_, D, F});
    for (auto* const t : {&dalpha_, &dbeta_}) *t = tensor(dtype::fp32, {h_});
    tk_hedgehog_problem forward{};
    give_operands(forward);
    forward.normaliser = given(normaliser_);
    tensor const workspace = make_workspace(TK_OP_HEDGEHOG, &forward);
    check(tk_hedgehog(&forward, workspace.data(), static_cast<std::size_t>(workspace.bytes()),
                      nullptr));
    give_operands(problem_);
    problem_.normaliser = forward.normaliser;
    problem_.dout = given(dout_);
    problem_.dq = given(dq_), problem_.dk = given(dk_), problem_.dv = given(dv_);
    problem_.dmap_q = given(dmap_q_), problem_.dmap_k = given(dmap_k_);
    problem_.dalpha = given(dalpha_), problem_.dbeta = given(dbeta_);
    if (!has_states()) return;
    dinitial_kv_ = of_states(), dinitial_k_ = of_sums();
    problem_.dinitial_kv = given(dinitial_kv_), problem_.dinitial_k = given(dinitial_k_);
  }
  double bytes() const override {
    return bytes_with({&dout_, &normaliser_, &dq_, &dk_, &dv_, &dmap_q_, &dmap_k_, &dalpha_,
                       &dbeta_, &dinitial_kv_, &dinitial_k_});
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_HEDGEHOG_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_hedgehog_backward(&problem_, workspace_.data(),
                                         static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    std::vector<tensor*> all{&dq_, &dk_, &dv_, &dmap_q_, &dmap_k_, &dalpha_, &dbeta_};
    if (dinitial_kv_) all.push_back(&dinitial_kv_), all.push_back(&dinitial_k_);
    return all;
  }
  verdict compare() override {
    bool finite = true;
    for (auto* const t : outputs()) finite = finite && all_finite(t->type(), t->copy_out());
    auto const got_q = dq_.copy_out(), got_k = dk_.copy_out(), got_v = dv_.copy_out();
    deviation of_q, of_k, of_v;
    for (auto const i : heads(8)) {
      gradients const exact(head(*this, i), tokens(dout_, i));
      add_tokens(of_q, dq_, got_q, i, exact.q);
      add_tokens(of_k, dk_, got_k, i, exact.k);
      add_tokens(of_v, dv_, got_v, i, exact.v);
    }
    double const error = std::max({of_q.relative(), of_k.relative(), of_v.relative()});
    return {finite ? error : HUGE_VAL, 2 * limit()};
  }

 private:
  struct gradients {
    numbers q, k, v;
    gradients(head x, numbers const& dout) : q(x.q.size()), k(x.k.size()), v(x.v.size()) {
      numbers sums(q.size() / D), deltas = sums;
      std::int64_t added = 0;
      for (std::int64_t t = 0; t < x.n - x.past; ++t) {
        x.add_before(head::window(t + x.past), added);
        query(x, dout, t, sums[static_cast<std::size_t>(t)], deltas[static_cast<std::size_t>(t)]);
      }
      keys(x, dout, sums, deltas);
    }

   private:
    static void add_features(double* dx, features const& of, numbers const& d, numbers const& map) {
      numbers du(F);
      for (int const sign : {1, -1}) {
        std::size_t const first = sign > 0 ? 0 : F;
        double sum = 0;
        auto const kept = [&](std::size_t f) { return of.softmax[f] > 1e-6 ? d[f] : 0; };
        for (std::size_t f = first; f < first + F; ++f) sum += of.softmax[f] * kept(f);
        for (std::size_t f = 0; f < F; ++f)
          du[f] += sign * of.softmax[first + f] * (kept(first + f) - sum);
      }
      for (std::size_t c = 0; c < D; ++c)
        for (std::size_t f = 0; f < F; ++f) dx[c] += du[f] * map[c * F + f];
    }
    // dq, and what of dk and dv is the window's.
    void query(head const& x, numbers const& dout, std::int64_t t, double& sum, double& delta) {
      auto const at = head::at(t), first = head::at(head::window(t + x.past));
      auto const p = x.weights(t + x.past);
      features const f(&x.q[at], x.map_q);
      numbers d(D), dp(p.size());
      sum = 1e-6;
      double linear = 0;
      for (std::size_t r = 0; r < D; ++r) {
        sum += factor * f.phi[r] * x.z[r];
        for (std::size_t c = 0; c < D; ++c) d[r] += dout[at + c] * x.kv[r * D + c];
        linear += factor * f.phi[r] * d[r];
      }
      for (std::size_t j = 0; j < p.size(); ++j) {
        for (std::size_t c = 0; c < D; ++c) dp[j] += dout[at + c] * x.v[first + j * D + c];
        sum += factor * p[j], linear += factor * p[j] * dp[j];
      }
      delta = linear / sum / sum;
      double edge = 0;
      for (std::size_t j = 0; j < p.size(); ++j) dp[j] = dp[j] / sum - delta, edge += p[j] * dp[j];
      for (std::size_t j = 0; j < p.size(); ++j) {
        double const ds = scale * factor * (p[j] * dp[j] - (p[j] == 1 ? edge : 0));
        for (std::size_t c = 0; c < D; ++c) {
          q[at + c] += ds * x.k[first + j * D + c];
          k[first + j * D + c] += ds * x.q[at + c];
          v[first + j * D + c] += factor * p[j] / sum * dout[at + c];
        }
      }
      for (std::size_t r = 0; r < D; ++r) d[r] = factor * (d[r] / sum - x.z[r] * delta);
      add_features(&q[at], f, d, x.map_q);
    }
    // The linear part, from the last block on.
    void keys(head const& x, numbers const& dout, numbers const& sums, numbers const& deltas) {
      numbers s(D * D), z(D);
      for (std::int64_t at = x.n / block; at >= 2; --at) {
        for (std::int64_t t = std::max(at * block, x.past); t < std::min(x.n, (at + 1) * block);
             ++t) {
          std::int64_t const nth = t - x.past;
          auto const i = static_cast<std::size_t>(nth);
          features const f(&x.q[head::at(nth)], x.map_q);
          for (std::size_t r = 0; r < D; ++r) {
            z[r] -= factor * f.phi[r] * deltas[i];
            for (std::size_t c = 0; c < D; ++c)
              s[r * D + c] += factor * f.phi[r] * dout[i * D + c] / sums[i];
          }
        }
        for (std::int64_t t = (at - 2) * block; t < (at - 1) * block; ++t) {
          auto const i = head::at(t);
          features const f(&x.k[i], x.map_k);
          numbers d(z);
          for (std::size_t r = 0; r < D; ++r)
            for (std::size_t c = 0; c < D; ++c) {
              d[r] += x.v[i + c] * s[r * D + c];
              v[i + c] += f.phi[r] * s[r * D + c];
            }
          add_features(&k[i], f, d, x.map_k);
        }
      }
    }
  };

  tensor dout_, normaliser_, dq_, dk_, dv_, dmap_q_, dmap_k_, dalpha_, dbeta_, dinitial_kv_,
      dinitial_k_, workspace_;
  tk_hedgehog_backward_problem problem_{};
};

std::set<std::string> const words{"b", "n", "h", "past", "type", "states"};
suite_entry const entry{"hedgehog-bwd", words, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
