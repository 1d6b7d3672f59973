// SPDX-License-Identifier: MIT
// The oracle of Based, token by token in double precision: with m(x) the 153 moments of a vector,
// and w(x) the same with the weights of a query (based.h),
//   S_t = S_(t-1) + m(k_t)^T v_t, o_t = w(q_t) S_t;  Z_t = Z_(t-1) + m(k_t), z_t = w(q_t) Z_t
// and with the normaliser o_t / (z_t + 1e-6). A kernel rounds moments of either side, and states or
// weights where they are operands: what is said of three roundings in scan_oracle.hpp.
#pragma once
#include <cmath>
#include <mutex>

#include "tests/ops/based/based.hpp"
#include "tests/ops/linear_attention/scan_oracle.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

// The moments of x: 1, x_i, x_i x_j for i <= j. With `scale`, weighted: what a query meets.
inline void moments_of(double* to, double const* x, double scale = 0) {
  bool const weighted = scale != 0;
  double const one = weighted ? scale : 1, two = weighted ? scale * scale : 1;
  *to++ = 1;
  for (int i = 0; i < based_width; ++i) *to++ = one * x[i];
  for (int i = 0; i < based_width; ++i)
    for (int j = i; j < based_width; ++j)
      *to++ = two * (weighted && i == j ? 0.5 : 1) * x[i] * x[j];
}

inline scan_bounds bounds_of(based_case const& x) {
  return {x.type, 0, static_cast<double>(tokens(x) + based_moment_count)};
}
// What fp16 loses of products below its least normal number, of a sum over all moments and tokens.
inline double least_weight(based_case const& x) {
  if (x.type != dtype::fp16) return fp32_least_normal;
  double const s = x.scale, of_moments = 1 + 16 * std::fabs(s) + 136 * s * s;
  return 0x1p-25 * (64 + 2 * of_moments * std::sqrt(static_cast<double>(tokens(x) + 64)));
}

struct based_head_inputs {
  std::vector<double> q, k, v;  // [n, 153], [n, dv]
  based_head_inputs(based_inputs const& x, span const& at, std::int64_t head) {
    std::int64_t const n = at.n, m = based_moment_count, dv = x.of.dv;
    q.resize(n * m), k.resize(n * m), v.resize(n * dv);
    double row[based_width];
    for (std::int64_t t = 0; t < n; ++t) {
      std::int64_t const r = x.row(at, t, head);
      read_row(x.of.type, x.q.image_row(r), based_width, row);
      moments_of(q.data() + t * m, row, x.of.scale);
      read_row(x.of.type, x.k.image_row(r), based_width, row);
      moments_of(k.data() + t * m, row);
      read_row(x.of.type, x.v.image_row(r), dv, v.data() + t * dv);
    }
  }
};

// num / (den + 1e-6), and what an error of either does to it.
inline result_row quotient_of(result_row num, result_row const& den) {
  double const by = den.x[0] + 1e-6;
  for (std::size_t c = 0; c < num.x.size(); ++c) {
    double const x = num.x[c] / by;
    num.x[c] = x;
    num.size[c] = (num.size[c] + std::fabs(x) * den.size[0]) / by;
    num.square[c] = (num.square[c] + x * x * den.square[0]) / (by * by);
  }
  return num;
}

// Calls body(span, head, sequence) for each sequence and head, in parallel.
template <class Body> void for_each_head(based_case const& x, Body const& body) {
  parallel_for(sequences(x) * x.h, [&](std::int64_t i) {
    std::int64_t const s = i / x.h;
    body(span_of(x, s), i % x.h, s);
  });
}
// The state of [b, h, 153] that row `state` of it holds.
inline void begin_sums(state_sums& sums, tensor const& from, std::int64_t state) {
  if (!from.in) return;
  read_row(dtype::fp32, from.image_row(state), based_moment_count, sums.x.data());
  for (std::size_t i = 0; i < sums.x.size(); ++i)
    sums.size[i] = std::fabs(sums.x[i]), sums.square[i] = sums.x[i] * sums.x[i];
}

inline verdict compare(forward_operands const& x) {
  scan_bounds const bounds = bounds_of(x.of);
  double const least = least_weight(x.of);
  bool const states = x.of.states, sums_too = x.final_sums.in != nullptr;
  tensor const &any_state = states ? x.final : x.o, &any_sums = sums_too ? x.final_sums : x.o;
  judged o(x.o, least), final(any_state, least), final_sums(any_sums, least);
  std::mutex merging;
  for_each_head(x.of, [&](span const& at, std::int64_t head, std::int64_t s) {
    based_head_inputs const in(x, at, head);
    judged mine(x.o, least), mine_final(any_state, least), mine_sums(any_sums, least);
    state_sums state(based_moment_count, x.of.dv), sums(based_moment_count, 1);
    std::int64_t const state_row = s * x.of.h + head;
    state.begin(x.initial, state_row);
    begin_sums(sums, x.initial_sums, state_row);
    std::vector<double> const one{1};
    for (std::int64_t t = 0; t < at.n; ++t) {
      double const *const q = in.q.data() + t * based_moment_count, *const k =
                                                                        in.k.data() +
                                                                        t * based_moment_count;
      state.add(1, k, in.v.data() + t * x.of.dv);
      if (x.of.normalise) sums.add(1, k, one.data());
      result_row const num(state, 1, q, false);
      if (x.of.normalise)
        mine.add(x.row(at, t, head), quotient_of(num, {sums, 1, q, false}), bounds);
      else mine.add(x.row(at, t, head), num, bounds);
    }
    if (states) mine_final.add_state(state_row, state, bounds);
    if (sums_too) {
      state_sums row(1, based_moment_count);
      row.x = sums.x, row.size = sums.size, row.square = sums.square;
      mine_sums.add_state(state_row, row, bounds);
    }
    std::scoped_lock const lock(merging);
    o.merge(mine);
    final.merge(mine_final);
    final_sums.merge(mine_sums);
  });
  auto v = judge_all({{"o", &o}, {"final_state", &final}, {"final_sums", &final_sums}});
  std::int64_t const of_states = sequences(x.of) * x.of.h * based_moment_count;
  std::int64_t const due = (packed(x.of) ? 1 : x.of.b) * tokens(x.of) * x.of.h * x.of.dv +
                           (states ? of_states * x.of.dv : 0) + (sums_too ? of_states : 0);
  if (v.ok() && v.compared != due) v.wrong = "not every element was compared";
  return v;
}

inline std::vector<tensor> outputs_of(forward_operands const& x) {
  std::vector<tensor> all{x.o};
  for (auto const& y : {x.final, x.final_sums})
    if (y.in) all.push_back(y);
  return all;
}

}  // namespace tk::test
