// SPDX-License-Identifier: MIT
// One case of tk_based_backward, of the forward's kind, and its oracle in double precision. With m,
// w, S, Z and z as in oracle.hpp (z is 1 without the normaliser),
//   g_t = dout_t / z_t, r_t = - dout_t.o_t / z_t;  D_t = dfinal + sum over i >= t of w(q_i)^T g_i,
//   E_t = dfinal_sums + sum over i >= t of w(q_i) r_i;  dq_t = dw(q_t) (S_t g_t + Z_t r_t),
//   dk_t = dm(k_t) (D_t v_t + E_t), dv_t = m(k_t) D_t, dinitial = D_1, dinitial_sums = E_1
// A kernel rounds moments of q and k, states where they are operands, the gradients of moments, and
// with the normaliser o, g and r: six roundings at most. Sizes and squares go along as in
// scan_oracle.hpp; those of g and r say what an error of z does to them.
#pragma once
#include "ops/based/based_backward.h"

#include "tests/ops/based/oracle.hpp"

namespace tk::test {

struct backward_operands : based_inputs {
  explicit backward_operands(based_case const& x) : based_inputs(x) {
    dout = make(x.dv, role::input, 47);
    dq = make(based_width, role::output, 0), dk = make(based_width, role::output, 0);
    dv = make(x.dv, role::output, 0);
    if (!x.states) return;
    dfinal = make_state(role::input, 48);
    dinitial = make_state(role::output, 0);
    if (!x.normalise) return;
    dfinal_sums = make_sums(role::input, 49);
    dinitial_sums = make_sums(role::output, 0);
  }
  tensor dout, dq, dk, dv, dfinal, dinitial, dfinal_sums, dinitial_sums;
};

template <class Body> std::string with_problem(backward_operands const& x, Body const& body) {
  given_tensor const q(x.q), k(x.k), v(x.v), dout(x.dout), dq(x.dq), dk(x.dk), dv(x.dv),
      initial(x.initial), dfinal(x.dfinal), dinitial(x.dinitial), initial_sums(x.initial_sums),
      dfinal_sums(x.dfinal_sums), dinitial_sums(x.dinitial_sums), starts(x.starts);
  tk_based_backward_problem problem{};
  problem.size = sizeof problem;
  problem.q = q.get(), problem.k = k.get(), problem.v = v.get(), problem.dout = dout.get();
  problem.dq = dq.get(), problem.dk = dk.get(), problem.dv = dv.get();
  problem.initial_state = initial.get();
  problem.dfinal_state = dfinal.get(), problem.dinitial_state = dinitial.get();
  problem.initial_sums = initial_sums.get();
  problem.dfinal_sums = dfinal_sums.get(), problem.dinitial_sums = dinitial_sums.get();
  problem.starts = starts.get();
  problem.scale = x.of.scale;
  problem.normalise = x.of.normalise ? 1 : 0;
  return body(called_op{TK_OP_BASED_BACKWARD, tk_based_backward},
              static_cast<tk_based_backward_problem const*>(&problem));
}

// Values beside their terms' sizes and squares.
struct judged_numbers {
  std::vector<double> x, size, square;
  explicit judged_numbers(std::size_t n) : x(n), size(n), square(n) {}
};

// to[r, c] += a[r] b[c], where b has sizes of its own.
inline void add_judged(state_sums& to, double const* a, judged_numbers const& b) {
  for (std::int64_t r = 0; r < to.rows; ++r)
    for (std::int64_t c = 0; c < to.cols; ++c) {
      auto const at = static_cast<std::size_t>(r * to.cols + c), i = static_cast<std::size_t>(c);
      to.x[at] += a[r] * b.x[i], to.size[at] += std::fabs(a[r]) * b.size[i];
      to.square[at] += a[r] * a[r] * b.square[i];
    }
}
// to[r] += sum over c of s[r, c] b[c].
inline void add_product(judged_numbers& to, state_sums const& s, judged_numbers const& b) {
  for (std::int64_t r = 0; r < s.rows; ++r)
    for (std::int64_t c = 0; c < s.cols; ++c) {
      auto const at = static_cast<std::size_t>(r * s.cols + c), i = static_cast<std::size_t>(c),
                 row = static_cast<std::size_t>(r);
      to.x[row] += s.x[at] * b.x[i], to.size[row] += s.size[at] * b.size[i];
      to.square[row] += s.square[at] * b.size[i] * b.size[i];
    }
}
// The gradient of x by those of its moments, weighted as a query's or not.
inline result_row contracted(judged_numbers const& grad, double const* x, double scale = 0) {
  bool const weighted = scale != 0;
  double const one = weighted ? scale : 1, two = weighted ? scale * scale : 1;
  result_row y;
  y.x.assign(based_width, 0), y.size.assign(based_width, 0), y.square.assign(based_width, 0);
  auto const add = [&](int to, double factor, std::size_t from) {
    auto const i = static_cast<std::size_t>(to);
    y.x[i] += factor * grad.x[from], y.size[i] += std::fabs(factor) * grad.size[from];
    y.square[i] += factor * factor * grad.square[from];
  };
  std::size_t at = 1;
  for (int i = 0; i < based_width; ++i) add(i, one, at++);
  for (int i = 0; i < based_width; ++i)
    for (int j = i; j < based_width; ++j, ++at) {
      double const factor = two * (weighted && i == j ? 0.5 : 1);
      add(i, factor * x[j], at), add(j, factor * x[i], at);
    }
  return y;
}

inline scan_bounds backward_bounds_of(based_case const& x) {
  auto bounds = bounds_of(x);
  double const u = format_of(x.type).unit_roundoff;
  bounds.relative += 3 * u;
  bounds.unit *= std::sqrt(2.0);
  return bounds;
}

inline void judge_head(backward_operands const& x, span const& at, std::int64_t head,
                       std::int64_t state_row, judged& dq, judged& dk, judged& dv, judged* dinitial,
                       judged* dinitial_sums) {
  auto const bounds = backward_bounds_of(x.of);
  std::int64_t const count = based_moment_count, cols = x.of.dv;
  auto const wide = static_cast<std::size_t>(cols), m = static_cast<std::size_t>(count);
  based_head_inputs const in(x, at, head);
  std::vector<double> const one{1};
  std::vector<double> raw(based_width), dout(wide);
  auto const read = [&](tensor const& t, std::int64_t token, std::vector<double>& to) {
    read_row(x.of.type, t.image_row(x.row(at, token, head)), static_cast<std::int64_t>(to.size()),
             to.data());
  };
  state_sums state(count, cols), sums(count, 1), grad(count, cols), grad_sums(count, 1);
  state.begin(x.initial, state_row);
  begin_sums(sums, x.initial_sums, state_row);
  grad.begin(x.dfinal, state_row);
  begin_sums(grad_sums, x.dfinal_sums, state_row);
  std::vector<judged_numbers> gs, rs;
  for (std::int64_t t = 0; t < at.n; ++t) {
    double const *const q = in.q.data() + t * count, *const k = in.k.data() + t * count;
    read(x.dout, t, dout);
    state.add(1, k, in.v.data() + t * cols);
    judged_numbers g(wide), r(1);
    double by = 1, larger = 1;  // z, and what an error of it does
    if (x.of.normalise) {
      sums.add(1, k, one.data());
      result_row const den(sums, 1, q, false);
      auto const o = quotient_of({state, 1, q, false}, den);
      by = den.x[0] + 1e-6, larger = 1 + den.size[0] / by;
      for (std::size_t c = 0; c < wide; ++c)
        r.x[0] -= dout[c] * o.x[c] / by, r.size[0] += std::fabs(dout[c]) * o.size[c] / by * larger;
      r.square[0] = r.size[0] * r.size[0];
    }
    for (std::size_t c = 0; c < wide; ++c) {
      g.x[c] = dout[c] / by, g.size[c] = std::fabs(g.x[c]) * larger;
      g.square[c] = g.size[c] * g.size[c];
    }
    judged_numbers of_moments(m);
    add_product(of_moments, state, g);
    add_product(of_moments, sums, r);
    read(x.q, t, raw);
    dq.add(x.row(at, t, head), contracted(of_moments, raw.data(), x.of.scale), bounds);
    gs.push_back(g), rs.push_back(r);
  }
  for (std::int64_t t = at.n; t-- > 0;) {
    double const *const q = in.q.data() + t * count, *const k = in.k.data() + t * count;
    auto const i = static_cast<std::size_t>(t);
    add_judged(grad, q, gs[i]);
    add_judged(grad_sums, q, rs[i]);
    judged_numbers v(wide), ones(1), of_moments(m);
    for (std::size_t c = 0; c < wide; ++c) {
      v.x[c] = in.v[i * wide + c];
      v.size[c] = std::fabs(v.x[c]), v.square[c] = v.x[c] * v.x[c];
    }
    ones.x[0] = ones.size[0] = ones.square[0] = 1;
    add_product(of_moments, grad, v);
    add_product(of_moments, grad_sums, ones);
    read(x.k, t, raw);
    dk.add(x.row(at, t, head), contracted(of_moments, raw.data()), bounds);
    dv.add(x.row(at, t, head), {grad, 1, k, false}, bounds);
  }
  if (dinitial) dinitial->add_state(state_row, grad, bounds);
  if (!dinitial_sums) return;
  state_sums row(1, count);
  row.x = grad_sums.x, row.size = grad_sums.size, row.square = grad_sums.square;
  dinitial_sums->add_state(state_row, row, bounds);
}

inline verdict compare(backward_operands const& x) {
  double const least = 16 * least_weight(x.of);
  bool const states = x.of.states, sums_too = x.dinitial_sums.in != nullptr;
  tensor const &any_state = states ? x.dinitial : x.dq,
               &any_sums = sums_too ? x.dinitial_sums : x.dq;
  judged dq(x.dq, least), dk(x.dk, least), dv(x.dv, least), dinitial(any_state, least),
      dinitial_sums(any_sums, least);
  std::mutex merging;
  for_each_head(x.of, [&](span const& at, std::int64_t head, std::int64_t s) {
    judged my_dq(x.dq, least), my_dk(x.dk, least), my_dv(x.dv, least), my_state(any_state, least),
        my_sums(any_sums, least);
    judge_head(x, at, head, s * x.of.h + head, my_dq, my_dk, my_dv, states ? &my_state : nullptr,
               sums_too ? &my_sums : nullptr);
    std::scoped_lock const lock(merging);
    dq.merge(my_dq), dk.merge(my_dk), dv.merge(my_dv);
    dinitial.merge(my_state), dinitial_sums.merge(my_sums);
  });
  auto v = judge_all({{"dq", &dq},
                      {"dk", &dk},
                      {"dv", &dv},
                      {"dinitial_state", &dinitial},
                      {"dinitial_sums", &dinitial_sums}});
  std::int64_t const of_states = sequences(x.of) * x.of.h * based_moment_count;
  std::int64_t const due =
      (packed(x.of) ? 1 : x.of.b) * tokens(x.of) * x.of.h * (2 * based_width + x.of.dv) +
      (states ? of_states * x.of.dv : 0) + (sums_too ? of_states : 0);
  if (v.ok() && v.compared != due) v.wrong = "not every element was compared";
  return v;
}

inline std::vector<tensor> outputs_of(backward_operands const& x) {
  std::vector<tensor> all{x.dq, x.dk, x.dv};
  for (auto const& y : {x.dinitial, x.dinitial_sums})
    if (y.in) all.push_back(y);
  return all;
}

}  // namespace tk::test
