// SPDX-License-Identifier: MIT
// Suites based and based-bwd, with states where they are asked for. Bound by memory, or by what
// makes moments of q and k and multiplies them: flops is 0, the rate is that of the bytes that must
// move, each operand once, and its ceiling that of a copy of as many. The oracle takes some heads
// token by token in fp64. A right result is off by its own rounding, the floor, and by those of
// moments on either side and of states, which are as large; beside scores of both signs they are
// larger.
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/based/based.h"
#include "ops/based/based_backward.h"

namespace tk::bench {
namespace {

constexpr double whole_products = 0x1p29;  // of the oracle, about a second
constexpr double forward_roundings = 6, backward_roundings = 10, fp32_error = 0x1p-16;
constexpr int width = 16, moments = 153;

using numbers = std::vector<double>;

class based_benchmark : public benchmark {
 public:
  explicit based_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        n_(x.number("n")),
        h_(x.number("h")),
        dv_(x.number("dv", 64)),
        normalise_(x.number("normalise", 0) != 0),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {
    q_ = narrow(1), k_ = narrow(2), v_ = wide(3);
    if (x.number("states", 0)) initial_ = state(5);
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }

 protected:
  static constexpr float scale = 0.25f;
  static tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed) {
    tensor t(type, std::move(shape));
    if (seed) t.fill_normal(seed);
    return t;
  }
  tensor narrow(std::uint64_t seed) const { return filled(type_, {b_, n_, h_, width}, seed); }
  tensor wide(std::uint64_t seed) const { return filled(type_, {b_, n_, h_, dv_}, seed); }
  tensor state(std::uint64_t seed) const {
    return filled(dtype::fp32, {b_, h_, moments, dv_}, seed);
  }
  DLTensor const* given(tensor const& t) { return t ? &(dl_[count_++] = t.dl()) : nullptr; }
  template <class Problem> void give_operands(Problem& p) {
    p.size = sizeof p;
    p.q = given(q_);
    p.k = given(k_);
    p.v = given(v_);
    p.initial_state = given(initial_);
    p.scale = scale;
    p.normalise = normalise_ ? 1 : 0;
    p.repeat = repeat_;
  }
  double bytes_of_all(std::vector<tensor const*> all) const {
    double sum = 0;
    for (auto const* t : {&q_, &k_, &v_, &initial_}) all.push_back(t);
    for (auto const* t : all) sum += *t ? static_cast<double>(t->bytes()) : 0;
    return sum;
  }
  std::vector<std::int64_t> heads() const {
    double const products = static_cast<double>(n_) * static_cast<double>(moments * dv_);
    auto const count = static_cast<std::int64_t>(whole_products / products);
    return sample_rows(b_ * h_, std::max<std::int64_t>(1, count));
  }

  // ---- the oracle
  std::int64_t row(std::int64_t head, std::int64_t token) const {
    return (head / h_ * n_ + token) * h_ + head % h_;
  }
  numbers token(tensor const& t, std::int64_t head, std::int64_t i) const {
    std::int64_t const cols = t.shape().back();
    numbers x(static_cast<std::size_t>(cols));
    t.read(x.data(), row(head, i) * cols, cols);
    return x;
  }
  void add_token(deviation& to, std::vector<std::byte> const& got, std::int64_t head,
                 std::int64_t i, numbers const& exact) const {
    auto const cols = static_cast<std::int64_t>(exact.size());
    numbers x(exact.size());
    tensor::read(x.data(), type_, got.data() + row(head, i) * cols * bytes_of(type_), cols);
    for (std::size_t c = 0; c < exact.size(); ++c) to.add(type_, x[c], exact[c]);
  }
  void add_state(deviation& to, std::vector<std::byte> const& got, std::int64_t head,
                 numbers const& exact) const {
    auto const size = static_cast<std::int64_t>(exact.size());
    numbers x(exact.size());
    tensor::read(x.data(), dtype::fp32, got.data() + head * size * bytes_of(dtype::fp32), size);
    for (std::size_t c = 0; c < exact.size(); ++c) to.add(dtype::fp32, x[c], exact[c]);
  }
  numbers read_state(tensor const& t, std::int64_t head) const {
    numbers s(static_cast<std::size_t>(moments * dv_), 0);
    if (t) t.read(s.data(), head * moments * dv_, moments * dv_);
    return s;
  }
  // 1, x_i, x_i x_j for i <= j; weighted as a query's, or not.
  static numbers moments_of(numbers const& x, bool weighted) {
    double const one = weighted ? scale : 1, two = one * one, square = weighted ? two / 2 : 1;
    numbers y{1};
    for (double const v : x) y.push_back(one * v);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = i; j < x.size(); ++j) y.push_back((i == j ? square : two) * x[i] * x[j]);
    return y;
  }
  // The gradient of x by that of its moments.
  static numbers contracted(numbers const& grad, numbers const& x, bool weighted) {
    double const one = weighted ? scale : 1, two = one * one, square = weighted ? two / 2 : 1;
    numbers y(x.size());
    std::size_t at = 1;
    for (double& v : y) v = one * grad[at++];
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = i; j < x.size(); ++j, ++at) {
        double const by = (i == j ? square : two) * grad[at];
        y[i] += by * x[j], y[j] += by * x[i];
      }
    return y;
  }
  // s += a b^T; a^T s; s b
  static void add_outer(numbers& s, numbers const& a, numbers const& b) {
    for (std::size_t r = 0; r < a.size(); ++r)
      for (std::size_t c = 0; c < b.size(); ++c) s[r * b.size() + c] += a[r] * b[c];
  }
  static numbers left(numbers const& a, numbers const& s) {
    numbers y(s.size() / a.size(), 0);
    for (std::size_t r = 0; r < a.size(); ++r)
      for (std::size_t c = 0; c < y.size(); ++c) y[c] += a[r] * s[r * y.size() + c];
    return y;
  }
  static numbers right(numbers const& s, numbers const& b) {
    numbers y(s.size() / b.size(), 0);
    for (std::size_t r = 0; r < y.size(); ++r)
      for (std::size_t c = 0; c < b.size(); ++c) y[r] += s[r * b.size() + c] * b[c];
    return y;
  }
  double limit(double roundings) const {
    return roundings * (type_ == dtype::bf16 ? 0x1p-9 : 0x1p-12) + fp32_error;
  }

  std::int64_t b_, n_, h_, dv_;
  bool normalise_;
  dtype type_;
  tk_repeat repeat_;
  tensor q_, k_, v_, initial_, workspace_;
  DLTensor dl_[10]{};
  int count_ = 0;
};

class forward_benchmark final : public based_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x) : based_benchmark(x) {
    o_ = wide(0);
    if (initial_) final_ = state(0);
    give_operands(problem_);
    problem_.o = given(o_);
    problem_.final_state = given(final_);
  }
  double bytes() const override { return bytes_of_all({&o_, &final_}); }
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
    deviation of_o, of_state;
    for (auto const head : heads()) {
      auto s = read_state(initial_, head);
      numbers z(moments, 0);
      for (std::int64_t i = 0; i < n_; ++i) {
        auto const q = moments_of(token(q_, head, i), true),
                   k = moments_of(token(k_, head, i), false);
        add_outer(s, k, token(v_, head, i));
        add_outer(z, k, {1});
        auto o = left(q, s);
        if (normalise_)
          for (double& x : o) x /= left(q, z)[0] + 1e-6;
        add_token(of_o, got, head, i, o);
      }
      if (final_) add_state(of_state, got_final, head, s);
    }
    bool const finite = all_finite(type_, got) && (!final_ || all_finite(dtype::fp32, got_final));
    double const error = std::max(of_o.relative(), final_ ? of_state.relative() : 0);
    return {finite ? error : HUGE_VAL, limit(forward_roundings)};
  }

 private:
  tensor o_, final_;
  tk_based_problem problem_{};
};

class backward_benchmark final : public based_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x) : based_benchmark(x) {
    dout_ = wide(6);
    dq_ = narrow(0), dk_ = narrow(0), dv_out_ = wide(0);
    if (initial_) dinitial_ = state(0), dfinal_ = state(7);
    give_operands(problem_);
    problem_.dout = given(dout_);
    problem_.dq = given(dq_);
    problem_.dk = given(dk_);
    problem_.dv = given(dv_out_);
    problem_.dfinal_state = given(dfinal_);
    problem_.dinitial_state = given(dinitial_);
  }
  double bytes() const override {
    return bytes_of_all({&dout_, &dq_, &dk_, &dv_out_, &dfinal_, &dinitial_});
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_BASED_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_based_backward(&problem_, workspace_.data(),
                                      static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    std::vector<tensor*> all{&dq_, &dk_, &dv_out_};
    if (dinitial_) all.push_back(&dinitial_);
    return all;
  }
  verdict compare() override {
    bool finite = true;
    for (auto* const t : outputs()) finite = finite && all_finite(t->type(), t->copy_out());
    auto const got_q = dq_.copy_out(), got_k = dk_.copy_out(), got_v = dv_out_.copy_out();
    auto const got_initial = dinitial_ ? dinitial_.copy_out() : std::vector<std::byte>{};
    deviation of_q, of_k, of_v, of_state;
    for (auto const head : heads()) {
      auto s = read_state(initial_, head), grad = read_state(dfinal_, head);
      numbers z(moments, 0), grad_sums(moments, 0), rs;
      std::vector<numbers> gs;
      for (std::int64_t i = 0; i < n_; ++i) {
        auto const raw = token(q_, head, i), q = moments_of(raw, true),
                   k = moments_of(token(k_, head, i), false);
        add_outer(s, k, token(v_, head, i));
        add_outer(z, k, {1});
        auto g = token(dout_, head, i);
        double r = 0, by = 1;
        if (normalise_) {
          by = left(q, z)[0] + 1e-6;
          auto const o = left(q, s);
          for (std::size_t c = 0; c < g.size(); ++c) r -= g[c] * o[c] / by / by;
        }
        for (double& x : g) x /= by;
        auto of_moments = right(s, g);
        for (std::size_t m = 0; m < of_moments.size(); ++m) of_moments[m] += z[m] * r;
        add_token(of_q, got_q, head, i, contracted(of_moments, raw, true));
        gs.push_back(g), rs.push_back(r);
      }
      for (std::int64_t i = n_; i-- > 0;) {
        auto const raw = token(k_, head, i), k = moments_of(raw, false),
                   q = moments_of(token(q_, head, i), true);
        add_outer(grad, q, gs[static_cast<std::size_t>(i)]);
        add_outer(grad_sums, q, {rs[static_cast<std::size_t>(i)]});
        auto of_moments = right(grad, token(v_, head, i));
        for (std::size_t m = 0; m < of_moments.size(); ++m) of_moments[m] += grad_sums[m];
        add_token(of_k, got_k, head, i, contracted(of_moments, raw, false));
        add_token(of_v, got_v, head, i, left(k, grad));
      }
      if (dinitial_) add_state(of_state, got_initial, head, grad);
    }
    double error = dinitial_ ? of_state.relative() : 0;
    for (auto const* part : {&of_q, &of_k, &of_v}) error = std::max(error, part->relative());
    return {finite ? error : HUGE_VAL, limit(backward_roundings)};
  }

 private:
  tensor dout_, dq_, dk_, dv_out_, dfinal_, dinitial_;
  tk_based_backward_problem problem_{};
};

std::set<std::string> const words{"b", "n", "h", "dv", "type", "normalise", "states"};
suite_entry const forward{"based", words, make<forward_benchmark>};
suite_entry const backward{"based-bwd", words, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
