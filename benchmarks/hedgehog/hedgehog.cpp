// SPDX-License-Identifier: MIT
// Suite hedgehog. Bound by memory: flops is 0, the rate is that of the bytes that must move, each
// operand once, and its ceiling that of a copy of as many. The oracle takes some heads (all, if
// that is cheap) token by token in fp64. A right result is off by its own rounding, the floor, and
// by those of weights, features and states, which are as large.
#include "benchmarks/hedgehog/operands.hpp"

namespace tk::bench {
namespace {

class forward_benchmark final : public hedgehog_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x) : hedgehog_benchmark(x) {
    give_operands(problem_);
    if (!has_states()) return;
    final_kv_ = of_states(), final_k_ = of_sums();
    problem_.final_kv = given(final_kv_), problem_.final_k = given(final_k_);
  }
  double bytes() const override { return bytes_with({&final_kv_, &final_k_}); }
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
    bool finite = true;
    for (auto* const t : outputs()) finite = finite && all_finite(t->type(), t->copy_out());
    auto const got = o_.copy_out();
    auto const kv = final_kv_ ? final_kv_.copy_out() : std::vector<std::byte>{};
    auto const k = final_k_ ? final_k_.copy_out() : std::vector<std::byte>{};
    deviation of_o, of_kv, of_k;
    for (auto const i : heads(2)) {
      head x(*this, i);
      add_tokens(of_o, o_, got, i, exact(x));
      if (!final_kv_) continue;
      add(of_kv, kv, i * D * D, x.kv);
      add(of_k, k, i * D, x.z);
    }
    double const error = std::max({of_o.relative(), of_kv.relative(), of_k.relative()});
    return {finite ? error : HUGE_VAL, limit()};
  }

 private:
  static void add(deviation& to, std::vector<std::byte> const& got, std::int64_t at,
                  numbers const& exact) {
    numbers x(exact.size());
    tensor::read(x.data(), dtype::fp32, got.data() + at * 4,
                 static_cast<std::int64_t>(exact.size()));
    for (std::size_t i = 0; i < exact.size(); ++i) to.add(dtype::fp32, x[i], exact[i]);
  }
  // o; leaves the final states in x.
  static numbers exact(head& x) {
    numbers all;
    std::int64_t added = 0;
    for (std::int64_t token = x.past; token < x.n; ++token) {
      auto const first = head::window(token);
      x.add_before(first, added);
      numbers o(D);
      double sum = 1e-6;
      auto const p = x.weights(token);
      for (std::size_t j = 0; j < p.size(); ++j) {
        sum += factor * p[j];
        for (std::size_t c = 0; c < D; ++c)
          o[c] += factor * p[j] * x.v[head::at(first) + j * D + c];
      }
      features const f(&x.q[head::at(token - x.past)], x.map_q);
      for (std::size_t r = 0; r < D; ++r) {
        sum += factor * f.phi[r] * x.z[r];
        for (std::size_t c = 0; c < D; ++c) o[c] += factor * f.phi[r] * x.kv[r * D + c];
      }
      for (double const y : o) all.push_back(y / sum);
    }
    x.add_before(std::max<std::int64_t>(0, x.n / block - 1) * block, added);
    return all;
  }

  tensor final_kv_, final_k_, workspace_;
  tk_hedgehog_problem problem_{};
};

std::set<std::string> const words{"b", "n", "h", "past", "type", "states"};
suite_entry const entry{"hedgehog", words, make<forward_benchmark>};

}  // namespace
}  // namespace tk::bench
