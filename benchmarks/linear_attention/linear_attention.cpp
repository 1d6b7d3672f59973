// SPDX-License-Identifier: MIT
// Suites linear-attention and linear-attention-bwd: all gradients in the backward, those of decays
// and of states where there are any. Bound by memory: flops is 0, the rate is that of the bytes
// that must move, each operand once, and its ceiling that of a copy of as many. The oracle takes
// some heads (all, if that is cheap: ddecay is compared only then) token by token in fp64. A right
// result is off by its own rounding, the floor, and by those of weights, values and states, which
// are as large.
#include <algorithm>
#include <cmath>

#include "benchmarks/benchmark.hpp"
#include "ops/linear_attention/linear_attention.h"
#include "ops/linear_attention/linear_attention_backward.h"

namespace tk::bench {
namespace {

constexpr double whole_products = 0x1p29;  // of the oracle, about a second
constexpr double roundings = 3, fp32_error = 0x1p-16;
constexpr double cancelled = 8;  // terms of ddecay have both signs: it may be as small beside them

using numbers = std::vector<double>;

class linear_attention_benchmark : public benchmark {
 public:
  explicit linear_attention_benchmark(bench_case const& x)
      : b_(x.number("b", 1)),
        n_(x.number("n")),
        h_(x.number("h")),
        d_(x.number("d")),
        dv_(x.number("dv", d_)),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat),
        scale_(1 / std::sqrt(static_cast<float>(d_))) {
    q_ = narrow(1), k_ = narrow(2), v_ = wide(3);
    auto const decay = x.get("decay", "none");
    if (decay == "tokens") {
      tensor made(dtype::fp32, {b_, n_, h_});
      made.fill_normal(4, 1. / 32);
      numbers all(static_cast<std::size_t>(made.size()));
      made.read(all.data(), 0, made.size());
      for (double const y : all) logs_.push_back(-static_cast<float>(std::fabs(y)));
      log_decay_ = tensor(logs_);
      log_decay_view_ = log_decay_.slice(0, {b_, n_, h_}, {n_ * h_, h_, 1});
    } else if (decay == "heads") {
      std::vector<float> of_heads;
      for (std::int64_t head = 0; head < h_; ++head)
        of_heads.push_back(std::ldexp(1.f, -5 - static_cast<int>(head % 8)));
      decay_ = tensor(of_heads);
      for (float const y : of_heads) logs_.push_back(-y);
    }
    if (x.number("states", 0)) initial_ = state(5);
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
  tensor narrow(std::uint64_t seed) const { return filled(type_, {b_, n_, h_, d_}, seed); }
  tensor wide(std::uint64_t seed) const { return filled(type_, {b_, n_, h_, dv_}, seed); }
  tensor state(std::uint64_t seed) const { return filled(dtype::fp32, {b_, h_, d_, dv_}, seed); }
  tensor like_log_decay() const { return tensor(dtype::fp32, {b_, n_, h_}); }
  tensor like_decay() const { return tensor(dtype::fp32, {h_}); }
  bool has_log_decay() const { return bool(log_decay_); }
  bool has_decay() const { return bool(decay_); }
  bool has_states() const { return bool(initial_); }
  DLTensor const* given(tensor const& t) { return t ? &(dl_[count_++] = t.dl()) : nullptr; }
  template <class Problem> void give_operands(Problem& p) {
    p.size = sizeof p;
    p.q = given(q_);
    p.k = given(k_);
    p.v = given(v_);
    p.log_decay = given(log_decay_view_);
    p.decay = given(decay_);
    p.initial_state = given(initial_);
    p.scale = scale_;
    p.repeat = repeat_;
  }
  double operand_bytes() const {
    return bytes_of_all({&q_, &k_, &v_, &log_decay_, &decay_, &initial_});
  }
  static double bytes_of_all(std::vector<tensor const*> const& all) {
    double sum = 0;
    for (auto const* t : all) sum += *t ? static_cast<double>(t->bytes()) : 0;
    return sum;
  }

  // One head of one batch, in fp64.
  struct head {
    std::int64_t batch, index;
    numbers q, k, v, a;  // a: what each token leaves of the state before
    numbers s;
  };
  std::vector<std::int64_t> heads() const {
    double const products = static_cast<double>(n_) * static_cast<double>(d_ * dv_);
    return sample_rows(
        b_ * h_, std::max<std::int64_t>(1, static_cast<std::int64_t>(whole_products / products)));
  }
  numbers tokens(tensor const& t, head const& of) const {
    std::int64_t const cols = t.shape().back();
    numbers x(static_cast<std::size_t>(n_ * cols));
    for (std::int64_t i = 0; i < n_; ++i)
      t.read(x.data() + i * cols, ((of.batch * n_ + i) * h_ + of.index) * cols, cols);
    return x;
  }
  // Of a result [b, h, d, dv].
  numbers state_of(std::vector<std::byte> const& got, head const& of) const {
    numbers s(of.s.size());
    auto const at = (of.batch * h_ + of.index) * d_ * dv_;
    tensor::read(s.data(), dtype::fp32, got.data() + at * bytes_of(dtype::fp32), d_ * dv_);
    return s;
  }
  numbers tokens(tensor const& t, std::vector<std::byte> const& got, head const& of) const {
    std::int64_t const cols = t.shape().size() == 4 ? t.shape().back() : 1;
    numbers x(static_cast<std::size_t>(n_ * cols));
    for (std::int64_t i = 0; i < n_; ++i)
      tensor::read(x.data() + i * cols, t.type(),
                   got.data() + ((of.batch * n_ + i) * h_ + of.index) * cols * bytes_of(t.type()),
                   cols);
    return x;
  }
  head read_head(std::int64_t i) const {
    head of{i / h_, i % h_, {}, {}, {}, numbers(static_cast<std::size_t>(n_), 1), {}};
    of.q = tokens(q_, of), of.k = tokens(k_, of), of.v = tokens(v_, of);
    for (std::int64_t t = 0; t < n_; ++t) {
      std::int64_t const token = log_decay_ ? (of.batch * n_ + t) * h_ : 0;
      if (logs_.empty()) break;
      of.a[static_cast<std::size_t>(t)] =
          std::exp(double{logs_[static_cast<std::size_t>(token + of.index)]});
    }
    of.s.assign(static_cast<std::size_t>(d_ * dv_), 0);
    if (initial_) initial_.read(of.s.data(), i * d_ * dv_, d_ * dv_);
    return of;
  }
  // s = a s + factor x^T y
  void step(numbers& s, double a, double factor, double const* x, double const* y) const {
    for (std::int64_t r = 0; r < d_; ++r) {
      double* const row = s.data() + r * dv_;
      double const by = factor * x[r];
      for (std::int64_t c = 0; c < dv_; ++c) row[c] = a * row[c] + by * y[c];
    }
  }
  // x s, or s x where transposed.
  numbers times(numbers const& s, double factor, double const* x, bool transposed) const {
    numbers y(static_cast<std::size_t>(transposed ? d_ : dv_), 0);
    for (std::int64_t r = 0; r < d_; ++r) {
      double const* const row = s.data() + r * dv_;
      if (transposed) {
        double sum = 0;
        for (std::int64_t c = 0; c < dv_; ++c) sum += row[c] * x[c];
        y[static_cast<std::size_t>(r)] = factor * sum;
      } else {
        for (std::int64_t c = 0; c < dv_; ++c)
          y[static_cast<std::size_t>(c)] += factor * x[r] * row[c];
      }
    }
    return y;
  }
  void add(deviation& all, double const* got, numbers const& exact, dtype type) const {
    for (std::size_t i = 0; i < exact.size(); ++i) all.add(type, got[i], exact[i]);
  }
  static std::vector<std::byte> copy_of(tensor const& t) {
    return t ? t.copy_out() : std::vector<std::byte>{};
  }
  std::int64_t all_heads() const { return b_ * h_; }
  std::int64_t n() const { return n_; }
  std::int64_t d() const { return d_; }
  std::int64_t dv() const { return dv_; }
  double scale() const { return scale_; }
  // Of 16-bit results; fp32 ones are as good.
  double limit() const {
    return roundings * (type_ == dtype::bf16 ? 0x1p-9 : 0x1p-12) + fp32_error;
  }

 private:
  std::int64_t b_, n_, h_, d_, dv_;
  dtype type_;
  tk_repeat repeat_;
  float scale_;
  tensor q_, k_, v_, log_decay_, log_decay_view_, decay_, initial_;
  std::vector<float> logs_;  // of tokens and heads, or of heads; of nothing without decays
  DLTensor dl_[15]{};
  int count_ = 0;
};

class forward_benchmark final : public linear_attention_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x) : linear_attention_benchmark(x) {
    o_ = wide(0);
    if (has_states()) final_ = state(0);
    give_operands(problem_);
    problem_.o = given(o_);
    problem_.final_state = given(final_);
  }
  double bytes() const override { return operand_bytes() + bytes_of_all({&o_, &final_}); }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_LINEAR_ATTENTION, &problem_);
    return {"tk", [this] {
              check(tk_linear_attention(&problem_, workspace_.data(),
                                        static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override {
    return final_ ? std::vector{&o_, &final_} : std::vector{&o_};
  }
  verdict compare() override {
    auto const got = o_.copy_out();
    auto const got_final = copy_of(final_);
    deviation of_o, of_state;
    for (auto const i : heads()) {
      auto x = read_head(i);
      auto const o = tokens(o_, got, x);
      for (std::int64_t t = 0; t < n(); ++t) {
        step(x.s, x.a[static_cast<std::size_t>(t)], 1, x.k.data() + t * d(), x.v.data() + t * dv());
        add(of_o, o.data() + t * dv(), times(x.s, scale(), x.q.data() + t * d(), false), type());
      }
      if (!final_) continue;
      add(of_state, state_of(got_final, x).data(), x.s, dtype::fp32);
    }
    bool const finite = all_finite(type(), got) && (!final_ || all_finite(dtype::fp32, got_final));
    double const error = std::max(of_o.relative(), final_ ? of_state.relative() : 0);
    return {finite ? error : HUGE_VAL, limit()};
  }

 private:
  tensor o_, final_, workspace_;
  tk_linear_attention_problem problem_{};
};

class backward_benchmark final : public linear_attention_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x) : linear_attention_benchmark(x) {
    dout_ = wide(6);
    dq_ = narrow(0), dk_ = narrow(0), dv_out_ = wide(0);
    if (has_log_decay()) dlog_decay_ = like_log_decay();
    if (has_decay()) ddecay_ = like_decay();
    if (has_states()) dfinal_ = state(7), dinitial_ = state(0);
    give_operands(problem_);
    problem_.dout = given(dout_);
    problem_.dq = given(dq_);
    problem_.dk = given(dk_);
    problem_.dv = given(dv_out_);
    problem_.dlog_decay = given(dlog_decay_);
    problem_.ddecay = given(ddecay_);
    problem_.dfinal_state = given(dfinal_);
    problem_.dinitial_state = given(dinitial_);
  }
  double bytes() const override {
    return operand_bytes() + bytes_of_all({&dout_, &dq_, &dk_, &dv_out_, &dlog_decay_, &ddecay_,
                                           &dfinal_, &dinitial_});
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_LINEAR_ATTENTION_BACKWARD, &problem_);
    return {
        "tk", [this] {
          check(tk_linear_attention_backward(
              &problem_, workspace_.data(), static_cast<std::size_t>(workspace_.bytes()), nullptr));
        }};
  }
  std::vector<tensor*> outputs() override {
    std::vector<tensor*> all{&dq_, &dk_, &dv_out_};
    for (auto* const t : {&dlog_decay_, &ddecay_, &dinitial_})
      if (*t) all.push_back(t);
    return all;
  }
  verdict compare() override {
    deviation of_q, of_k, of_v, of_decay, of_initial;
    bool finite = true;
    for (auto* const t : outputs()) finite = finite && all_finite(t->type(), t->copy_out());
    auto const got_q = dq_.copy_out(), got_k = dk_.copy_out(), got_v = dv_out_.copy_out();
    auto const got_decay = copy_of(dlog_decay_), got_initial = copy_of(dinitial_);
    numbers of_heads(ddecay_ ? static_cast<std::size_t>(ddecay_.size()) : 0, 0);
    auto const compared = heads();
    for (auto const i : compared) {
      auto x = read_head(i);
      auto const dout = tokens(dout_, x), dq = tokens(dq_, got_q, x), dk = tokens(dk_, got_k, x),
                 dv_got = tokens(dv_out_, got_v, x);
      // Of the sum of logs up to each token: q dq - k dk.
      numbers of_sums(static_cast<std::size_t>(n()), 0), grad(x.s.size(), 0);
      auto const meet = [&](std::int64_t t, double sign, double const* by, numbers const& exact) {
        for (std::size_t c = 0; c < exact.size(); ++c)
          of_sums[static_cast<std::size_t>(t)] += sign * by[c] * exact[c];
      };
      for (std::int64_t t = 0; t < n(); ++t) {
        step(x.s, x.a[static_cast<std::size_t>(t)], 1, x.k.data() + t * d(), x.v.data() + t * dv());
        auto const exact = times(x.s, scale(), dout.data() + t * dv(), true);
        add(of_q, dq.data() + t * d(), exact, type());
        meet(t, 1, x.q.data() + t * d(), exact);
      }
      if (dfinal_) dfinal_.read(grad.data(), i * d() * dv(), d() * dv());
      double sum = 0;
      for (std::size_t e = 0; e < grad.size(); ++e) sum += grad[e] * x.s[e];
      numbers const decays = dlog_decay_ ? tokens(dlog_decay_, got_decay, x) : numbers{};
      for (std::int64_t t = n(); t-- > 0;) {
        double const a = t + 1 < n() ? x.a[static_cast<std::size_t>(t + 1)] : 1;
        step(grad, a, scale(), x.q.data() + t * d(), dout.data() + t * dv());
        auto const exact = times(grad, 1, x.v.data() + t * dv(), true);
        add(of_k, dk.data() + t * d(), exact, type());
        add(of_v, dv_got.data() + t * dv(), times(grad, 1, x.k.data() + t * d(), false), type());
        meet(t, -1, x.k.data() + t * d(), exact);
        sum += of_sums[static_cast<std::size_t>(t)];
        if (dlog_decay_) of_decay.add(dtype::fp32, decays[static_cast<std::size_t>(t)], sum);
        if (ddecay_) of_heads[static_cast<std::size_t>(x.index)] -= sum;
      }
      for (auto& y : grad) y *= x.a.front();
      if (dinitial_) add(of_initial, state_of(got_initial, x).data(), grad, dtype::fp32);
    }
    deviation of_ddecay;
    if (ddecay_ && static_cast<std::int64_t>(compared.size()) == all_heads()) {
      numbers decays(of_heads.size());
      tensor::read(decays.data(), dtype::fp32, copy_of(ddecay_).data(), ddecay_.size());
      add(of_ddecay, decays.data(), of_heads, dtype::fp32);
    }
    double error = of_ddecay.relative() / cancelled;
    for (auto const* part : {&of_q, &of_k, &of_v, &of_decay, &of_initial})
      error = std::max(error, part->relative());
    return {finite ? error : HUGE_VAL, limit()};
  }

 private:
  tensor dout_, dq_, dk_, dv_out_, dlog_decay_, ddecay_, dfinal_, dinitial_, workspace_;
  tk_linear_attention_backward_problem problem_{};
};

std::set<std::string> const words{"b", "n", "h", "d", "dv", "type", "decay", "states"};
suite_entry const forward{"linear-attention", words, make<forward_benchmark>};
suite_entry const backward{"linear-attention-bwd", words, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
