// SPDX-License-Identifier: MIT
// Suites mamba2 and mamba2-bwd: softplus and a bias of steps, a skip of each head; all gradients in
// the backward. Bound by memory: flops is 0, the rate is that of the bytes that must move, each
// operand once, and its ceiling that of a copy of as many. The oracle takes some groups (all, if
// that is cheap) token by token in fp64. A right result is off by its own rounding, the floor, and
// by those of weights, values, states and what each head has, which are as large.
#include <algorithm>
#include <cmath>
#include <limits>

#include "benchmarks/benchmark.hpp"
#include "ops/mamba2/mamba2.h"
#include "ops/mamba2/mamba2_backward.h"
#include "tests/support/activate.hpp"

namespace tk::bench {
namespace {

constexpr double whole_products = 0x1p29;  // of the oracle, about a second
constexpr double roundings = 3, fp32_error = 0x1p-15;

using numbers = std::vector<double>;
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class mamba2_benchmark : public benchmark {
 public:
  explicit mamba2_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        n_(x.number("n")),
        h_(x.number("h")),
        g_(x.number("g", 1)),
        p_(x.number("p", 64)),
        s_(x.number("s", 64)),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {
    x_ = of_heads(1);
    B_ = of_groups(2), C_ = of_groups(3);
    dt_ = filled(dtype::fp32, {b_, n_, h_}, 4);
    dt_bias_ = filled(dtype::fp32, {h_}, 5);
    D_ = filled(dtype::fp32, {h_}, 6);
    for (std::int64_t head = 0; head < h_; ++head)
      rates_.push_back(-std::ldexp(1.f, -static_cast<int>(head % 6)));
    A_ = tensor(rates_);
    if (x.number("gate", 0)) z_ = of_heads(7);
    if (x.number("states", 0)) initial_ = state(8);
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }

 protected:
  static tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed) {
    tensor t(type, std::move(shape));
    if (seed) t.fill_normal(seed);
    return t;
  }
  tensor of_heads(std::uint64_t seed) const { return filled(type_, {b_, n_, h_, p_}, seed); }
  tensor of_groups(std::uint64_t seed) const { return filled(type_, {b_, n_, g_, s_}, seed); }
  tensor state(std::uint64_t seed) const { return filled(dtype::fp32, {b_, h_, p_, s_}, seed); }
  tensor like_steps() const { return tensor(dtype::fp32, {b_, n_, h_}); }
  tensor number_of_heads() const { return tensor(dtype::fp32, {h_}); }
  bool has_gate() const { return bool(z_); }
  bool has_states() const { return bool(initial_); }
  DLTensor const* given(tensor const& t) { return t ? &(dl_[count_++] = t.dl()) : nullptr; }
  template <class Problem> void give_operands(Problem& p) {
    p.size = sizeof p;
    p.x = given(x_);
    p.dt = given(dt_);
    p.A = given(A_);
    p.B = given(B_);
    p.C = given(C_);
    p.D = given(D_);
    p.z = given(z_);
    p.dt_bias = given(dt_bias_);
    p.initial_state = given(initial_);
    p.dt_max = std::numeric_limits<float>::infinity();
    p.dt_softplus = 1;
    p.repeat = repeat_;
  }
  double operand_bytes() const {
    return bytes_of_all({&x_, &dt_, &A_, &B_, &C_, &D_, &z_, &dt_bias_, &initial_});
  }
  static double bytes_of_all(std::vector<tensor const*> const& all) {
    double sum = 0;
    for (auto const* t : all) sum += *t ? static_cast<double>(t->bytes()) : 0;
    return sum;
  }

  // One head of one batch, in fp64.
  struct head {
    std::int64_t batch, index;
    numbers x, B, C, z, w, slope, a, state;
    double rate, skip;
  };
  // Groups of batches that are compared.
  std::vector<std::int64_t> groups() const {
    double const products = static_cast<double>(n_) * static_cast<double>(p_ * s_ * (h_ / g_));
    return sample_rows(
        b_ * g_, std::max<std::int64_t>(1, static_cast<std::int64_t>(whole_products / products)));
  }
  std::int64_t heads_of_group() const { return h_ / g_; }
  // Rows of so many columns of tokens; `of` counts heads or groups of all batches.
  numbers tokens(tensor const& t, std::int64_t of) const {
    return rows(t, of, [&](double* to, std::int64_t offset, std::int64_t cols) {
      t.read(to, offset, cols);
    });
  }
  numbers tokens(tensor const& t, std::vector<std::byte> const& got, std::int64_t of) const {
    return rows(t, of, [&](double* to, std::int64_t offset, std::int64_t cols) {
      tensor::read(to, t.type(), got.data() + offset * bytes_of(t.type()), cols);
    });
  }
  head read_head(std::int64_t i) const {
    std::int64_t const index = i % h_, group = i / h_ * g_ + index / heads_of_group();
    head y{i / h_,
           index,
           tokens(x_, i),
           tokens(B_, group),
           tokens(C_, group),
           {},
           {},
           {},
           {},
           {},
           rates_[at(index)],
           0};
    if (z_) y.z = tokens(z_, i);
    double bias = 0;
    dt_bias_.read(&bias, index, 1);
    D_.read(&y.skip, index, 1);
    for (double const raw : tokens(dt_, i)) {
      double const z = raw + bias;
      y.w.push_back(std::max(z, 0.0) + std::log1p(std::exp(-std::fabs(z))));
      y.slope.push_back(1 / (1 + std::exp(-z)));
      y.a.push_back(std::exp(y.w.back() * y.rate));
    }
    y.state.assign(at(p_ * s_), 0);
    if (initial_) initial_.read(y.state.data(), i * p_ * s_, p_ * s_);
    return y;
  }
  // state = a state + factor x^T y
  void step(numbers& state, double a, double factor, double const* x, double const* y) const {
    for (std::int64_t r = 0; r < p_; ++r) {
      double* const row = state.data() + r * s_;
      double const by = factor * x[r];
      for (std::int64_t c = 0; c < s_; ++c) row[c] = a * row[c] + by * y[c];
    }
  }
  // state x of s numbers, and x state of p.
  numbers by_columns(numbers const& state, double const* x) const {
    numbers y(at(p_), 0);
    for (std::int64_t r = 0; r < p_; ++r)
      for (std::int64_t c = 0; c < s_; ++c) y[at(r)] += state[at(r * s_ + c)] * x[c];
    return y;
  }
  void add_by_rows(double* to, numbers const& state, double factor, double const* x) const {
    for (std::int64_t r = 0; r < p_; ++r)
      for (std::int64_t c = 0; c < s_; ++c) to[c] += factor * x[r] * state[at(r * s_ + c)];
  }
  static void add(deviation& all, dtype type, double const* got, numbers const& exact) {
    for (std::size_t i = 0; i < exact.size(); ++i) all.add(type, got[i], exact[i]);
  }
  std::int64_t n() const { return n_; }
  std::int64_t p() const { return p_; }
  std::int64_t s() const { return s_; }
  std::int64_t h() const { return h_; }
  std::int64_t g() const { return g_; }
  // Of 16-bit results; fp32 ones are as good.
  double limit() const {
    return roundings * (type_ == dtype::bf16 ? 0x1p-9 : 0x1p-12) + fp32_error;
  }

 private:
  template <class Read> numbers rows(tensor const& t, std::int64_t of, Read const& read) const {
    bool const wide = t.shape().size() == 4;
    std::int64_t const each = t.shape()[2], cols = wide ? t.shape()[3] : 1;
    numbers y(at(n_ * cols));
    for (std::int64_t i = 0; i < n_; ++i)
      read(y.data() + i * cols, ((of / each * n_ + i) * each + of % each) * cols, cols);
    return y;
  }

  std::int64_t b_, n_, h_, g_, p_, s_;
  dtype type_;
  tk_repeat repeat_;
  tensor x_, dt_, A_, B_, C_, D_, z_, dt_bias_, initial_;
  std::vector<float> rates_;
  DLTensor dl_[21]{};
  int count_ = 0;
};

class forward_benchmark final : public mamba2_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x) : mamba2_benchmark(x) {
    y_ = of_heads(0);
    if (has_states()) final_ = state(0);
    give_operands(problem_);
    problem_.y = given(y_);
    problem_.final_state = given(final_);
  }
  double bytes() const override { return operand_bytes() + bytes_of_all({&y_, &final_}); }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_MAMBA2, &problem_);
    return {"tk", [this] {
              check(tk_mamba2(&problem_, workspace_.data(),
                              static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    return final_ ? std::vector{&y_, &final_} : std::vector{&y_};
  }
  verdict compare() override {
    auto const got = y_.copy_out();
    auto const got_final = final_ ? final_.copy_out() : std::vector<std::byte>{};
    deviation of_y, of_state;
    for (auto const group : groups())
      for (std::int64_t k = 0; k < heads_of_group(); ++k) {
        std::int64_t const i = group / g() * h() + group % g() * heads_of_group() + k;
        auto x = read_head(i);
        auto const y = tokens(y_, got, i);
        for (std::int64_t t = 0; t < n(); ++t) {
          step(x.state, x.a[at(t)], x.w[at(t)], x.x.data() + t * p(), x.B.data() + t * s());
          auto exact = by_columns(x.state, x.C.data() + t * s());
          for (std::int64_t c = 0; c < p(); ++c) {
            exact[at(c)] += x.skip * x.x[at(t * p() + c)];
            if (has_gate())
              exact[at(c)] *= test::activate(TK_ACTIVATION_SILU, x.z[at(t * p() + c)]);
          }
          add(of_y, type(), y.data() + t * p(), exact);
        }
        if (!final_) continue;
        numbers state(x.state.size());
        tensor::read(state.data(), dtype::fp32, got_final.data() + i * p() * s() * 4, p() * s());
        add(of_state, dtype::fp32, state.data(), x.state);
      }
    bool const finite = all_finite(type(), got) && (!final_ || all_finite(dtype::fp32, got_final));
    double const error = std::max(of_y.relative(), final_ ? of_state.relative() : 0);
    return {finite ? error : HUGE_VAL, limit()};
  }

 private:
  tensor y_, final_, workspace_;
  tk_mamba2_problem problem_{};
};

class backward_benchmark final : public mamba2_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x) : mamba2_benchmark(x) {
    dy_ = of_heads(9);
    dx_ = of_heads(0), dB_ = of_groups(0), dC_ = of_groups(0);
    ddt_ = like_steps();
    dA_ = number_of_heads(), dD_ = number_of_heads(), dbias_ = number_of_heads();
    if (has_gate()) dz_ = of_heads(0);
    if (has_states()) dfinal_ = state(10), dinitial_ = state(0);
    give_operands(problem_);
    problem_.dy = given(dy_);
    problem_.dx = given(dx_);
    problem_.ddt = given(ddt_);
    problem_.dA = given(dA_);
    problem_.dB = given(dB_);
    problem_.dC = given(dC_);
    problem_.dD = given(dD_);
    problem_.dz = given(dz_);
    problem_.ddt_bias = given(dbias_);
    problem_.dfinal_state = given(dfinal_);
    problem_.dinitial_state = given(dinitial_);
  }
  double bytes() const override {
    return operand_bytes() + bytes_of_all({&dy_, &dx_, &ddt_, &dA_, &dB_, &dC_, &dD_, &dz_, &dbias_,
                                           &dfinal_, &dinitial_});
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_MAMBA2_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_mamba2_backward(&problem_, workspace_.data(),
                                       static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    std::vector<tensor*> all;
    for (auto* const t : {&dx_, &ddt_, &dA_, &dB_, &dC_, &dD_, &dz_, &dbias_, &dinitial_})
      if (*t) all.push_back(t);
    return all;
  }
  verdict compare() override {
    bool finite = true;
    for (auto* const t : outputs()) finite = finite && all_finite(t->type(), t->copy_out());
    auto const copied = [](tensor const& t) { return t ? t.copy_out() : std::vector<std::byte>{}; };
    auto const got_x = copied(dx_), got_B = copied(dB_), got_C = copied(dC_), got_z = copied(dz_),
               got_dt = copied(ddt_);
    deviation of_x, of_B, of_C, of_z, of_dt;
    for (auto const group : groups()) {
      numbers dB(at(n() * s()), 0), dC(dB);
      for (std::int64_t k = 0; k < heads_of_group(); ++k) {
        std::int64_t const i = group / g() * h() + group % g() * heads_of_group() + k;
        auto x = read_head(i);
        auto const dy = tokens(dy_, i), dx = tokens(dx_, got_x, i), ddt = tokens(ddt_, got_dt, i),
                   dz = dz_ ? tokens(dz_, got_z, i) : numbers{};
        auto dout = dy;
        numbers decayed(at(n()), 0), grad(at(p() * s()), 0);
        for (std::int64_t t = 0; t < n(); ++t) {
          step(x.state, x.a[at(t)], x.w[at(t)], x.x.data() + t * p(), x.B.data() + t * s());
          auto const y = by_columns(x.state, x.C.data() + t * s());
          for (std::int64_t c = 0; c < p(); ++c) {
            auto const e = at(t * p() + c);
            if (dz_) {
              double const u = y[at(c)] + x.skip * x.x[e];
              of_z.add(type(), dz[e],
                       dy[e] * u * test::activation_slope(TK_ACTIVATION_SILU, x.z[e]));
              dout[e] *= test::activate(TK_ACTIVATION_SILU, x.z[e]);
            }
            decayed[at(t)] += y[at(c)] * dout[e];
          }
          add_by_rows(dC.data() + t * s(), x.state, 1, dout.data() + t * p());
        }
        if (dfinal_) dfinal_.read(grad.data(), i * p() * s(), p() * s());
        double sum = 0;
        for (std::size_t e = 0; e < grad.size(); ++e) sum += grad[e] * x.state[e];
        for (std::int64_t t = n(); t-- > 0;) {
          step(grad, t + 1 < n() ? x.a[at(t + 1)] : 1, 1, dout.data() + t * p(),
               x.C.data() + t * s());
          add_by_rows(dB.data() + t * s(), grad, x.w[at(t)], x.x.data() + t * p());
          auto const u = by_columns(grad, x.B.data() + t * s());
          double met = 0;
          for (std::int64_t c = 0; c < p(); ++c) {
            auto const e = at(t * p() + c);
            met += x.x[e] * u[at(c)];
            of_x.add(type(), dx[e], x.w[at(t)] * u[at(c)] + x.skip * dout[e]);
          }
          sum += decayed[at(t)] - x.w[at(t)] * met;
          of_dt.add(dtype::fp32, ddt[at(t)], (met + x.rate * sum) * x.slope[at(t)]);
        }
      }
      auto const of_group_B = tokens(dB_, got_B, group), of_group_C = tokens(dC_, got_C, group);
      add(of_B, type(), of_group_B.data(), dB);
      add(of_C, type(), of_group_C.data(), dC);
    }
    // Steps' gradients are differences of sums: their limit is four times the others'.
    double error =
        std::max({of_x.relative(), of_B.relative(), of_C.relative(), of_dt.relative() / 4});
    if (dz_) error = std::max(error, of_z.relative());
    return {finite ? error : HUGE_VAL, limit()};
  }

 private:
  tensor dy_, dx_, ddt_, dA_, dB_, dC_, dD_, dz_, dbias_, dfinal_, dinitial_, workspace_;
  tk_mamba2_backward_problem problem_{};
};

std::set<std::string> const words{"b", "n", "h", "g", "p", "s", "type", "gate", "states"};
suite_entry const forward{"mamba2", words, make<forward_benchmark>};
suite_entry const backward{"mamba2-bwd", words, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
