// SPDX-License-Identifier: MIT
// The oracle of Mamba-2's backward, token by token in double precision: formulas as in
// mamba2_backward.h, bounds as in oracle.hpp. What is rounded besides: dout where there is a gate,
// which errs in each term; dB and dC of each head; y before the gate.
#pragma once
#include "tests/ops/mamba2/oracle.hpp"

namespace tk::test {

// Sums, each with its bound and usual error.
struct judged_sum {
  double value = 0, slack = 0, variance = 0, rest = 0;
  void add(double x, double bound, double unit, double fp32) {
    value += x, slack += bound, variance += unit * unit, rest += fp32;
  }
  // Errors of many tokens don't add up to their bounds; `alike` of them do, at most, so that the
  // usual error is less than half of `unit`.
  void judge(error_meter& to, tensor const& result, std::int64_t row, std::int64_t col,
             double alike) const {
    double const got = decode(dtype::fp32, result.result_row(row) + col * 4);
    double const unit = std::sqrt(alike * variance), least = fp32_least_normal;
    to.add(row, col, got, value, std::min(slack, 3 * unit + rest) + least, unit, rest + least);
  }
};

// What the heads of a group add up to, of each token.
class group_rows {
 public:
  group_rows(std::int64_t n, std::int64_t s) : s_(s), x_(n * s), size_(n * s), square_(n * s) {}
  void add(std::int64_t t, result_row const& row) {
    for (std::int64_t c = 0; c < s_; ++c) {
      auto const at = static_cast<std::size_t>(t * s_ + c), from = static_cast<std::size_t>(c);
      x_[at] += row.x[from], size_[at] += row.size[from];
      square_[at] += row.square[from] + row.x[from] * row.x[from] * 2 / 3;  // rounded once more
    }
  }
  void judge(judged& to, std::int64_t t, std::int64_t row, scan_bounds const& bounds) const {
    auto const part = [&](std::vector<double> const& of) {
      return std::vector<double>(of.begin() + t * s_, of.begin() + (t + 1) * s_);
    };
    result_row y;
    y.x = part(x_), y.size = part(size_), y.square = part(square_);
    to.add(row, y, bounds);
  }

 private:
  std::int64_t s_;
  std::vector<double> x_, size_, square_;
};

// All results of a case.
class mamba2_judge {
 public:
  explicit mamba2_judge(mamba2_backward_operands const& x)
      : of_(&x),
        c_(x.of),
        bounds_(bounds_of(x.of)),
        least_(least_weight(x.of)),
        dx_(x.dx, least_),
        dB_(x.dB, least_),
        dC_(x.dC, least_),
        dz_(x.of.gate ? x.dz : x.dx, least_),
        dinitial_(x.of.states ? x.dinitial : x.dx, least_),
        ddt_(x.of.dt_type),
        sums_(dtype::fp32),
        of_A_(static_cast<std::size_t>(c_.h)),
        of_bias_(of_A_),
        of_D_(static_cast<std::size_t>(c_.h * c_.p)) {
    double const u = format_of(c_.type).unit_roundoff;
    bounds_.relative += u;
    if (c_.gate) bounds_.unit = u * std::sqrt(1. / 2 + 1. / 3), bounds_.relative += u;
  }

  verdict all() {
    parallel_for(sequences(c_) * c_.g, [&](std::int64_t i) {
      std::int64_t const s = i / c_.g, group = i % c_.g;
      auto const at = span_of(c_, s);
      group_rows dB(at.n, c_.s), dC(at.n, c_.s);
      for (std::int64_t head = group * (c_.h / c_.g); head < (group + 1) * (c_.h / c_.g); ++head)
        add_head(at, s, head, dB, dC);
      std::scoped_lock const lock(merging_);
      for (std::int64_t t = 0; t < at.n; ++t) {
        auto const row = of_->row(at, t, group, c_.g);
        dB.judge(dB_, t, row, bounds_), dC.judge(dC_, t, row, bounds_);
      }
    });
    for (std::int64_t head = 0; head < c_.h; ++head) {
      auto const at = static_cast<std::size_t>(head);
      of_A_[at].judge(sums_, of_->dA, 0, head, 64);
      if (c_.bias) of_bias_[at].judge(sums_, of_->ddt_bias, 0, head, 64);
      judged_sum of_head;
      for (std::int64_t col = 0; col < c_.p; ++col) {
        auto const& x = of_D_[static_cast<std::size_t>(head * c_.p + col)];
        if (c_.skip == skips::columns) x.judge(sums_, of_->dD, head, col, 1);
        of_head.value += x.value, of_head.slack += x.slack;
        of_head.variance += x.variance, of_head.rest += x.rest;
      }
      if (c_.skip == skips::heads) of_head.judge(sums_, of_->dD, 0, head, 1);
    }
    auto v = judge_all(
        {{"dx", &dx_}, {"dB", &dB_}, {"dC", &dC_}, {"dz", &dz_}, {"dinitial_state", &dinitial_}});
    for (auto const* meter : {&ddt_, &sums_}) {
      auto const more = meter->judge(meter == &ddt_ ? "ddt" : "dA, ddt_bias, dD", 1.1, 256);
      if (v.ok()) v.wrong = more.wrong;
      v.compared += more.compared;
      v.share = std::max(v.share, more.share);
    }
    std::int64_t const all_tokens = (packed(c_) ? 1 : c_.b) * tokens(c_);
    std::int64_t const due =
        all_tokens * (c_.h * c_.p * (c_.gate ? 2 : 1) + 2 * c_.g * c_.s + c_.h) +
        c_.h * (c_.bias ? 2 : 1) +
        (c_.skip == skips::columns ? c_.h * c_.p
         : c_.skip == skips::heads ? c_.h
                                   : 0) +
        (c_.states ? sequences(c_) * c_.h * c_.p * c_.s : 0);
    if (v.ok() && v.compared != due) v.wrong = "not every element was compared";
    return v;
  }

 private:
  void add_head(span const& at, std::int64_t s, std::int64_t head, group_rows& dB, group_rows& dC) {
    auto const& x = *of_;
    std::int64_t const p = c_.p, cols = c_.s;
    double const u = format_of(c_.type).unit_roundoff, rate = x.number_of_head(x.A, head);
    head_inputs const in(x, at, head);
    std::vector<double> dy(static_cast<std::size_t>(at.n * p)), dout(dy);
    for (std::int64_t t = 0; t < at.n; ++t)
      read_row(c_.type, x.dy.image_row(x.row(at, t, head, c_.h)), p, dy.data() + t * p);
    for (std::size_t i = 0; i < dy.size(); ++i)
      dout[i] = dy[i] * (c_.gate ? activate(TK_ACTIVATION_SILU, in.z[i]) : 1);
    judged my_dx(x.dx, least_), my_dz(c_.gate ? x.dz : x.dx, least_),
        my_state(c_.states ? x.dinitial : x.dx, least_);
    state_sums state(p, cols), grad(p, cols);
    decay_sums decays(at.n);
    auto const step = [&](state_sums& s, std::int64_t t) {
      s.decay(in.a[t]);
      s.add(in.step[t], in.x.data() + t * p, in.B.data() + t * cols);
    };
    state_history history(step);
    state.begin(x.initial, s * c_.h + head);
    for (std::int64_t t = 0; t < at.n; ++t) {
      history.keep(t, state);
      step(state, t);
      result_row const exact(state, 1, dout.data() + t * p, false);
      dC.add(t, exact);
      double const *const C = in.C.data() + t * cols, *const B = in.B.data() + t * cols;
      decays.add(t, C, exact,
                 std::fabs(in.step[t]) *
                     own_size(C, B, cols, dout.data() + t * p, in.x.data() + t * p, p));
      std::vector<double> weighted(B, B + cols);
      for (double& y : weighted) y *= in.step[t];
      decays.add(t, weighted.data(), cols);
      if (!c_.gate) continue;
      result_row row(state, 1, in.C.data() + t * cols, true);
      for (std::int64_t col = 0; col < p; ++col) {
        auto const i = static_cast<std::size_t>(t * p + col), to = static_cast<std::size_t>(col);
        double const skipped = x.skip_at(head, col) * in.x[i], y = row.x[to] + skipped;
        double const factor = dy[i] * activation_slope(TK_ACTIVATION_SILU, in.z[i]);
        row.square[to] = factor * factor * (row.square[to] + y * y * 2 / 3);
        row.size[to] = std::fabs(factor) * (row.size[to] + std::fabs(skipped));
        row.x[to] = factor * y;
      }
      my_dz.add(x.row(at, t, head, c_.h), row, bounds_);
    }
    grad.begin(x.dfinal, s * c_.h + head);
    struct met {
      double value, slack, variance, rest;
    };
    std::vector<met> of_steps(static_cast<std::size_t>(at.n));
    for (std::int64_t t = at.n; t-- > 0;) {
      grad.add(1, dout.data() + t * p, in.C.data() + t * cols);
      dB.add(t, {grad, in.step[t], in.x.data() + t * p, false});
      result_row row(grad, 1, in.B.data() + t * cols, true);
      decays.meet(t, in.a[t], history.before(t), grad);
      auto& e = of_steps[static_cast<std::size_t>(t)];
      for (std::int64_t col = 0; col < p; ++col) {
        auto const i = static_cast<std::size_t>(t * p + col), to = static_cast<std::size_t>(col);
        double const size = std::fabs(in.x[i]) * row.size[to];
        e.value += in.x[i] * row.x[to], e.slack += size * (bounds_.relative + u);
        e.slack += std::fabs(in.x[i]) * least_, e.rest += size * bounds_.fp32;
        e.variance +=
            in.x[i] * in.x[i] *
            (bounds_.unit * bounds_.unit * row.square[to] + u * u * row.x[to] * row.x[to] / 3);
      }
      for (std::int64_t col = 0; col < p; ++col) {
        auto const i = static_cast<std::size_t>(t * p + col), to = static_cast<std::size_t>(col);
        double const skipped = x.skip_at(head, col) * dout[i], w = in.step[t];
        // The scan's part is rounded by itself.
        row.square[to] = w * w * (row.square[to] + row.x[to] * row.x[to] * 2 / 3) +
                         (c_.gate ? skipped * skipped * 2 / 3 : 0);
        row.size[to] = std::fabs(w) * row.size[to] + std::fabs(skipped);
        row.x[to] = w * row.x[to] + skipped;
      }
      my_dx.add(x.row(at, t, head, c_.h), row, bounds_);
      grad.decay(in.a[t]);
    }
    if (c_.states) my_state.add_state(s * c_.h + head, grad, bounds_);
    auto const gs = decays.judge(least_, bounds_);
    std::scoped_lock const lock(merging_);
    dx_.merge(my_dx), dz_.merge(my_dz), dinitial_.merge(my_state);
    for (std::int64_t t = 0; t < at.n; ++t) {
      auto const i = static_cast<std::size_t>(t);
      auto const& [e, e_slack, e_variance, e_rest] = of_steps[i];
      auto const& g = gs[i];
      double const w = in.step[t], slope = in.slope[t], size = std::fabs(slope),
                   exact = (e + rate * g.value) * slope,
                   slack = (e_slack + std::fabs(rate) * g.slack) * size + least_,
                   unit = std::sqrt(e_variance + rate * rate * g.unit * g.unit) * size,
                   rest = (e_rest + std::fabs(rate) * g.rest) * size + least_;
      auto const* const place =
          x.ddt.result_row(at.batch * tokens(c_) + at.first + t) + head * bytes_of(c_.dt_type);
      double const out = rounded(c_.dt_type, exact) - exact;
      ddt_.add(at.first + t, head, decode(c_.dt_type, place), exact, slack,
               std::sqrt(unit * unit + out * out), rest);
      of_A_[static_cast<std::size_t>(head)].add(w * g.value, w * g.slack, w * g.unit, w * g.rest);
      of_bias_[static_cast<std::size_t>(head)].add(exact, slack, unit, rest);
      for (std::int64_t col = 0; col < p; ++col) {
        auto const j = static_cast<std::size_t>(t * p + col);
        double const term = in.x[j] * dout[j];
        of_D_[static_cast<std::size_t>(head * p + col)].add(term, std::fabs(term) * (u + 0x1p-18),
                                                            c_.gate ? std::fabs(term) * u / 1.7 : 0,
                                                            std::fabs(term) * 0x1p-18);
      }
    }
  }

  mamba2_backward_operands const* of_;
  mamba2_case c_;
  scan_bounds bounds_;
  double least_;
  judged dx_, dB_, dC_, dz_, dinitial_;
  error_meter ddt_, sums_;
  std::vector<judged_sum> of_A_, of_bias_, of_D_;
  std::mutex merging_;
};

inline verdict compare(mamba2_backward_operands const& x) { return mamba2_judge(x).all(); }

inline std::vector<tensor> outputs_of(mamba2_backward_operands const& x) {
  std::vector<tensor> all;
  for (auto const* y : {&x.dx, &x.ddt, &x.dA, &x.dB, &x.dC, &x.dD, &x.dz, &x.ddt_bias, &x.dinitial})
    if (y->in) all.push_back(*y);
  return all;
}

}  // namespace tk::test
