// SPDX-License-Identifier: MIT
// The oracle of Mamba-2's scan, token by token in double precision:
//   w_t = clamp(softplus(dt_t + bias)),  S_t = exp(w_t A) S_(t-1) + w_t x_t B_t^T,
//   y_t = (S_t C_t + D x_t) silu(z_t)
// Bounds are those of tests/ops/linear_attention/scan_oracle.hpp; steps are good to 2^-19.
#pragma once
#include <mutex>

#include "tests/ops/linear_attention/scan_oracle.hpp"
#include "tests/ops/mamba2/mamba2.hpp"
#include "tests/support/activate.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

struct exact_step {
  double value, slope;  // of the raw one
};
inline exact_step step_of(mamba2_case const& x, double raw) {
  double value = raw, slope = 1;
  if (x.softplus) {
    value = raw > 0 ? raw + std::log1p(std::exp(-raw)) : std::log1p(std::exp(raw));
    slope = 1 / (1 + std::exp(-raw));
  }
  double const low = x.dt_min(), high = x.dt_max();
  if (value < low) return {low, 0};
  if (value > high) return {high, 0};
  return {value, slope};
}

inline scan_bounds bounds_of(mamba2_case const& x) {
  // Steps up to 2, rates up to 8; what vanishes counts as 2^-160.
  double const most = x.decay == decays::vanishing ? 160 : 1.45 * (x.softplus ? 2 : 0.5) * 8;
  scan_bounds y(x.type, 64 * most, static_cast<double>(tokens(x) + x.s));
  y.fp32 += 0x1p-15, y.relative += 0x1p-15;
  return y;
}
inline double least_weight(mamba2_case const& x) {  // what fp16's subnormal weights may lose
  return x.type == dtype::fp16 ? 0x1p-25 * 64 * 64 : fp32_least_normal;
}

// One head of one sequence.
struct head_inputs {
  std::vector<double> x, B, C, z, step, slope, a;  // [n, p], [n, s], [n, p], [n]
  head_inputs(mamba2_inputs const& in, span const& at, std::int64_t head) {
    auto const& c = in.of;
    std::int64_t const n = at.n, group = head / (c.h / c.g);
    x.resize(n * c.p), B.resize(n * c.s), C.resize(n * c.s), z.resize(n * c.p);
    step.resize(n), slope.resize(n), a.resize(n);
    double const rate = in.number_of_head(in.A, head);
    for (std::int64_t t = 0; t < n; ++t) {
      std::int64_t const of_head = in.row(at, t, head, c.h), of_group = in.row(at, t, group, c.g);
      read_row(c.type, in.x.image_row(of_head), c.p, x.data() + t * c.p);
      read_row(c.type, in.B.image_row(of_group), c.s, B.data() + t * c.s);
      read_row(c.type, in.C.image_row(of_group), c.s, C.data() + t * c.s);
      if (in.z.in) read_row(c.type, in.z.image_row(of_head), c.p, z.data() + t * c.p);
      auto const exact = step_of(c, in.raw_step(at, t, head));
      step[t] = exact.value, slope[t] = exact.slope, a[t] = std::exp(exact.value * rate);
    }
  }
};

// Calls body(span, head, sequence) for each sequence and head, in parallel.
template <class Body> void for_each_head(mamba2_case const& x, Body const& body) {
  parallel_for(sequences(x) * x.h, [&](std::int64_t i) {
    std::int64_t const s = i / x.h;
    body(span_of(x, s), i % x.h, s);
  });
}

inline verdict compare(mamba2_operands const& x) {
  auto const& c = x.of;
  scan_bounds const bounds = bounds_of(c);
  double const least = least_weight(c);
  tensor const& any_state = c.states ? x.final : x.y;
  judged y(x.y, least), final(any_state, least);
  std::mutex merging;
  for_each_head(c, [&](span const& at, std::int64_t head, std::int64_t s) {
    head_inputs const in(x, at, head);
    judged mine(x.y, least), mine_final(any_state, least);
    state_sums state(c.p, c.s);
    state.begin(x.initial, s * c.h + head);
    for (std::int64_t t = 0; t < at.n; ++t) {
      state.decay(in.a[t]);
      state.add(in.step[t], in.x.data() + t * c.p, in.B.data() + t * c.s);
      result_row row(state, 1, in.C.data() + t * c.s, true);
      for (std::int64_t col = 0; col < c.p; ++col) {
        double const skipped = x.skip_at(head, col) * in.x[t * c.p + col];
        double const gate = c.gate ? activate(TK_ACTIVATION_SILU, in.z[t * c.p + col]) : 1;
        row.x[col] = (row.x[col] + skipped) * gate;
        row.size[col] = (row.size[col] + std::fabs(skipped)) * std::fabs(gate);
        row.square[col] *= gate * gate;
      }
      mine.add(x.row(at, t, head, c.h), row, bounds);
    }
    if (c.states) mine_final.add_state(s * c.h + head, state, bounds);
    std::scoped_lock const lock(merging);
    y.merge(mine);
    final.merge(mine_final);
  });
  auto v = judge_all({{"y", &y}, {"final_state", &final}});
  std::int64_t const due = (packed(c) ? 1 : c.b) * tokens(c) * c.h * c.p +
                           (c.states ? sequences(c) * c.h * c.p * c.s : 0);
  if (v.ok() && v.compared != due) v.wrong = "not every element was compared";
  return v;
}

inline std::vector<tensor> outputs_of(mamba2_operands const& x) {
  std::vector<tensor> all{x.y};
  if (x.final.in) all.push_back(x.final);
  return all;
}

}  // namespace tk::test
