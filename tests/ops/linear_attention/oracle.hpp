// SPDX-License-Identifier: MIT
// The oracle of linear attention, token by token in double precision:
//   S_t = a_t S_(t-1) + k_t^T v_t,                o_t = scale q_t S_t
//   D_t = a_(t+1) D_(t+1) + scale q_t^T dout_t,   dq_t = scale S_t dout_t, dk_t = D_t v_t,
//   D_n = dfinal + scale q_n^T dout_n,            dv_t = D_t^T k_t, dinitial = a_1 D_1,
//                                                 dlog_decay_t = a_t <S_(t-1), D_t>
#pragma once
#include <cmath>
#include <mutex>

#include "tests/ops/linear_attention/linear_attention.hpp"
#include "tests/ops/linear_attention/scan_oracle.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

inline scan_bounds bounds_of(scan_case const& x) {
  double const longest = x.decay == decays::none        ? 0
                         : x.decay == decays::mild      ? 64 * 1.45 / 16
                         : x.decay == decays::vanishing ? 64 * 160
                                                        : 64 * 1.45 * 8;
  return {x.type, longest, static_cast<double>(tokens(x) + x.d)};
}
inline double least_weight(scan_case const& x) {  // what fp16's subnormal weights may lose
  return x.type == dtype::fp16 ? 0x1p-25 * 64 * std::fabs(x.scale) * 64 : fp32_least_normal;
}

struct head_inputs {
  std::vector<double> q, k, v, dout, a;  // [n, d], [n, dv], [n]
  head_inputs(scan_inputs const& x, tensor const* dout_of, span const& at, std::int64_t head) {
    std::int64_t const n = at.n, d = x.of.d, dv = x.of.dv;
    q.resize(n * d), k.resize(n * d), v.resize(n * dv), dout.resize(n * dv), a.resize(n);
    for (std::int64_t t = 0; t < n; ++t) {
      std::int64_t const row = x.row(at, t, head);
      read_row(x.of.type, x.q.image_row(row), d, q.data() + t * d);
      read_row(x.of.type, x.k.image_row(row), d, k.data() + t * d);
      read_row(x.of.type, x.v.image_row(row), dv, v.data() + t * dv);
      if (dout_of) read_row(x.of.type, dout_of->image_row(row), dv, dout.data() + t * dv);
      a[t] = std::exp(x.log_decay_at(at, t, head));
    }
  }
};

// Gradients of decays: of each token, or of a head the sum over its tokens.
class judged_decays {
 public:
  explicit judged_decays(backward_operands const& x)
      : of_(&x), meter_(dtype::fp32), heads_(static_cast<std::size_t>(x.of.h)) {}
  void add(span const& at, std::int64_t head, decay_sums const& sums, scan_bounds const& bounds) {
    if (!of_->dlog_decay.in && !of_->ddecay.in) return;
    auto const all = sums.judge(least_weight(of_->of), bounds);
    for (std::int64_t t = 0; t < at.n; ++t) {
      auto const& x = all[static_cast<std::size_t>(t)];
      if (of_->dlog_decay.in) {
        std::int64_t const row = of_->row(at, t, 0) / of_->of.h;
        double const got = decode(dtype::fp32, of_->dlog_decay.result_row(row) + head * 4);
        meter_.add(row, head, got, x.value, x.slack, x.unit, x.rest);
      }
      auto& sum = heads_[static_cast<std::size_t>(head)];
      sum.value -= x.value, sum.slack += x.slack, sum.rest += x.rest;
      sum.unit += 64 * x.unit * x.unit;  // those of a chunk err alike
    }
  }
  void judge(verdict& all) {
    if (of_->ddecay.in)
      for (std::int64_t head = 0; head < of_->of.h; ++head) {
        auto const& x = heads_[static_cast<std::size_t>(head)];
        double const got = decode(dtype::fp32, of_->ddecay.result_row(0) + head * 4);
        // Errors of many tokens don't add up to their bounds.
        double const unit = std::sqrt(x.unit), slack = std::min(x.slack, 6 * unit + x.rest);
        meter_.add(0, head, got, x.value, slack, unit, x.rest);
      }
    auto const v = meter_.judge(of_->ddecay.in ? "ddecay" : "dlog_decay", 1.1, 256);
    if (all.ok()) all.wrong = v.wrong;
    all.compared += v.compared;
    all.share = std::max(all.share, v.share);
  }

 private:
  backward_operands const* of_;
  error_meter meter_;
  std::vector<decay_sums::judged_value> heads_;
};

// Calls body(span, head, sequence) for each sequence and head, in parallel.
template <class Body> void for_each_head(scan_case const& x, Body const& body) {
  parallel_for(sequences(x) * x.h, [&](std::int64_t i) {
    std::int64_t const s = i / x.h;
    body(span_of(x, s), i % x.h, s);
  });
}

inline verdict compare(forward_operands const& x) {
  scan_bounds const bounds = bounds_of(x.of);
  double const least = least_weight(x.of);
  judged o(x.o, least), final(x.of.states ? x.final : x.o, least);
  std::mutex merging;
  for_each_head(x.of, [&](span const& at, std::int64_t head, std::int64_t s) {
    head_inputs const in(x, nullptr, at, head);
    judged mine(x.o, least), mine_final(x.of.states ? x.final : x.o, least);
    state_sums state(x.of.d, x.of.dv);
    state.begin(x.initial, s * x.of.h + head);
    for (std::int64_t t = 0; t < at.n; ++t) {
      state.decay(in.a[t]);
      state.add(1, in.k.data() + t * x.of.d, in.v.data() + t * x.of.dv);
      mine.add(x.row(at, t, head), {state, x.of.scale, in.q.data() + t * x.of.d, false}, bounds);
    }
    if (x.of.states) mine_final.add_state(s * x.of.h + head, state, bounds);
    std::scoped_lock const lock(merging);
    o.merge(mine);
    final.merge(mine_final);
  });
  auto v = judge_all({{"o", &o}, {"final_state", &final}});
  std::int64_t const due = (packed(x.of) ? 1 : x.of.b) * tokens(x.of) * x.of.h * x.of.dv +
                           (x.of.states ? sequences(x.of) * x.of.h * x.of.d * x.of.dv : 0);
  if (v.ok() && v.compared != due) v.wrong = "not every element was compared";
  return v;
}

inline verdict compare(backward_operands const& x) {
  scan_bounds const bounds = bounds_of(x.of);
  judged_decays decays(x);
  double const least = least_weight(x.of);
  tensor const& any_state = x.of.states ? x.dinitial : x.dq;
  judged dq(x.dq, least), dk(x.dk, least), dv(x.dv, least), dinitial(any_state, least);
  std::mutex merging;
  for_each_head(x.of, [&](span const& at, std::int64_t head, std::int64_t s) {
    head_inputs const in(x, &x.dout, at, head);
    judged my_dq(x.dq, least), my_dk(x.dk, least), my_dv(x.dv, least), my_state(any_state, least);
    std::int64_t const d = x.of.d, dv_cols = x.of.dv, state_row = s * x.of.h + head;
    state_sums state(d, dv_cols), grad(d, dv_cols);
    bool const decays_wanted = x.dlog_decay.in || x.ddecay.in;
    decay_sums sums(at.n);
    auto const step = [&](state_sums& s, std::int64_t t) {
      s.decay(in.a[t]);
      s.add(1, in.k.data() + t * d, in.v.data() + t * dv_cols);
    };
    state_history history(step);
    state.begin(x.initial, state_row);
    for (std::int64_t t = 0; t < at.n; ++t) {
      if (decays_wanted) history.keep(t, state);
      step(state, t);
      double const* const q = in.q.data() + t * d;
      double const* const dout = in.dout.data() + t * dv_cols;
      result_row const exact(state, x.of.scale, dout, true);
      my_dq.add(x.row(at, t, head), exact, bounds);
      sums.add(t, q, exact,
               std::fabs(x.of.scale) *
                   own_size(q, in.k.data() + t * d, d, dout, in.v.data() + t * dv_cols, dv_cols));
      sums.add(t, in.k.data() + t * d, d);
    }
    grad.begin(x.dfinal, state_row);
    for (std::int64_t t = at.n; t-- > 0;) {
      grad.add(x.of.scale, in.q.data() + t * d, in.dout.data() + t * dv_cols);
      result_row const exact(grad, 1, in.v.data() + t * dv_cols, true);
      my_dk.add(x.row(at, t, head), exact, bounds);
      if (decays_wanted) sums.meet(t, in.a[t], history.before(t), grad);
      my_dv.add(x.row(at, t, head), {grad, 1, in.k.data() + t * d, false}, bounds);
      grad.decay(in.a[t]);
    }
    if (x.of.states) my_state.add_state(state_row, grad, bounds);
    std::scoped_lock const lock(merging);
    dq.merge(my_dq), dk.merge(my_dk), dv.merge(my_dv), dinitial.merge(my_state);
    decays.add(at, head, sums, bounds);
  });
  auto v = judge_all({{"dq", &dq}, {"dk", &dk}, {"dv", &dv}, {"dinitial_state", &dinitial}});
  decays.judge(v);
  std::int64_t const due = (packed(x.of) ? 1 : x.of.b) * tokens(x.of) * x.of.h *
                               (2 * x.of.d + x.of.dv + (x.dlog_decay.in ? 1 : 0)) +
                           (x.ddecay.in ? x.of.h : 0) +
                           (x.of.states ? sequences(x.of) * x.of.h * x.of.d * x.of.dv : 0);
  if (v.ok() && v.compared != due) v.wrong = "not every element was compared";
  return v;
}

inline std::vector<tensor> outputs_of(forward_operands const& x) {
  std::vector<tensor> all{x.o};
  if (x.final.in) all.push_back(x.final);
  return all;
}
inline std::vector<tensor> outputs_of(backward_operands const& x) {
  std::vector<tensor> all{x.dq, x.dk, x.dv};
  for (auto const* y : {&x.dinitial, &x.dlog_decay, &x.ddecay})
    if (y->in) all.push_back(*y);
  return all;
}

using forward_case = directed<forward_operands>;
using backward_case = directed<backward_operands>;
}  // namespace tk::test
