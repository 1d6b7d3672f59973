// SPDX-License-Identifier: MIT
// One case of tk_mamba2: sizes, steps, what may be left out, states, packed sequences, layouts in
// memory. forward_operands builds the operands; oracle.hpp judges.
#pragma once
#include <sstream>
#include <string>

#include "ops/mamba2/mamba2.h"
#include "ops/mamba2/mamba2_backward.h"
#include "tests/support/random.hpp"
#include "tests/support/sequences.hpp"

namespace tk::test {

enum class skips { none, heads, columns };
// Of a state: A is 0; or one step of 16 leaves nothing of it.
enum class decays { usual, none, vanishing };

struct mamba2_case {
  std::int64_t b = 1, n = 0, h = 1, g = 1, p = 64, s = 64;
  dtype type = dtype::bf16, dt_type = dtype::fp32;
  skips skip = skips::none;
  decays decay = decays::usual;
  bool gate = false, bias = false, softplus = false, limits = false;
  bool states = false;                     // initial and final ones are given
  std::vector<std::int64_t> lengths = {};  // of packed sequences; then b and n are not looked at
  order by = order::bnhd;
  std::int64_t padding = 0;  // elements after each row
  int misalignment = 0;      // of each operand's first element
  float dt_min() const { return limits ? 0.125f : 0.f; }
  float dt_max() const { return limits ? 0.5f : HUGE_VALF; }
};

inline std::string describe(mamba2_case const& x) {
  std::ostringstream s;
  s << "mamba2 b " << x.b << " n " << x.n << " h " << x.h << " g " << x.g << " p " << x.p << " s "
    << x.s << " " << name_of(x.type) << " dt " << name_of(x.dt_type)
    << (x.skip == skips::none    ? ""
        : x.skip == skips::heads ? " D[h]"
                                 : " D[h, p]")
    << (x.decay == decays::usual  ? ""
        : x.decay == decays::none ? " no decay"
                                  : " vanishing")
    << (x.gate ? " z" : "") << (x.bias ? " bias" : "") << (x.softplus ? " softplus" : "")
    << (x.limits ? " limits" : "") << (x.states ? " states" : "")
    << (x.by == order::bhnd ? " bhnd" : "");
  if (x.padding) s << " +" << x.padding;
  if (x.misalignment) s << " off by " << x.misalignment;
  for (auto const n : x.lengths) s << " " << n;
  return s.str();
}

// What forward and backward are both given.
struct mamba2_inputs {
  explicit mamba2_inputs(mamba2_case const& c) : of(c), memories(3) {
    x = make(c.h, c.p, role::input, 51);
    B = make(c.g, c.s, role::input, 52), C = make(c.g, c.s, role::input, 53);
    if (c.gate) z = make(c.h, c.p, role::input, 54);
    dt = make_steps(role::input);
    for (std::int64_t r = 0; r < dt.rows(); ++r)
      for (std::int64_t head = 0; head < c.h; ++head) {
        auto const at = static_cast<std::uint64_t>(r * c.h + head);
        double const u = random_unit(55, at);
        bool const vanishes = c.decay == decays::vanishing && random_below(16, 59, at) == 0;
        set(dt, r, head, vanishes ? 1e4 : c.softplus ? 3 * u - 1.5 : 0.25 * std::fabs(u));
      }
    A = make_of_heads(role::input);
    double const rates[] = {1, 0.25, 8, 1. / 64};
    for (std::int64_t head = 0; head < c.h; ++head)
      set(A, 0, head, c.decay == decays::none ? 0 : -rates[head % 4]);
    if (c.bias) {
      dt_bias = make_of_heads(role::input);
      fill(dt_bias, data::positive, 56, 0.25);
    }
    if (c.skip != skips::none) {
      D = c.skip == skips::heads ? make_of_heads(role::input) : make_of_columns(role::input);
      fill(D, data::reals, 57);
    }
    if (c.states) initial = make_state(role::input, 58);
    if (packed(c)) starts = make_starts(memories, c);
  }
  mamba2_inputs(mamba2_inputs const&) = delete;

  // [b, n, heads, columns], of packed sequences [total, heads, columns].
  tensor make(std::int64_t heads, std::int64_t columns, role use, std::uint64_t seed) {
    std::int64_t const n = tokens(of), row = columns + of.padding;
    bool const by_head = of.by == order::bhnd;
    std::int64_t const n_stride = by_head ? row : heads * row, h_stride = by_head ? n * row : row;
    tensor y;
    if (packed(of))
      y = memories.make(of.type, {n, heads, columns}, {n_stride, h_stride, 1}, use,
                        of.misalignment);
    else
      y = memories.make(of.type, {of.b, n, heads, columns},
                        {n * heads * row, n_stride, h_stride, 1}, use, of.misalignment);
    fill(y, use == role::input ? data::reals : data::nans, seed);
    return y;
  }
  tensor make_steps(role use) {
    std::int64_t const n = tokens(of), row = of.h + of.padding;
    if (packed(of)) return memories.make(of.dt_type, {n, of.h}, {row, 1}, use);
    return memories.make(of.dt_type, {of.b, n, of.h}, {n * row, row, 1}, use);
  }
  tensor make_of_columns(role use) {
    return memories.make(dtype::fp32, {of.h, of.p}, {of.p + of.padding, 1}, use);
  }
  tensor make_of_heads(role use) { return memories.make(dtype::fp32, {of.h}, {1}, use); }
  tensor make_state(role use, std::uint64_t seed) {
    std::int64_t const row = of.s + of.padding;
    auto y = memories.make(dtype::fp32, {sequences(of), of.h, of.p, of.s},
                           {of.h * of.p * row, of.p * row, row, 1}, use, of.misalignment);
    fill(y, use == role::input ? data::reals : data::nans, seed);
    return y;
  }
  // The row of an operand of so many heads.
  std::int64_t row(span const& at, std::int64_t token, std::int64_t head,
                   std::int64_t heads) const {
    return (at.batch * tokens(of) + at.first + token) * heads + head;
  }
  double number_of_head(tensor const& t, std::int64_t head) const {
    return t.in ? decode(dtype::fp32, t.image_row(0) + head * 4) : 0;
  }
  double skip_at(std::int64_t head, std::int64_t column) const {
    if (of.skip == skips::columns) return decode(dtype::fp32, D.image_row(head) + column * 4);
    return number_of_head(D, head);
  }
  double raw_step(span const& at, std::int64_t token, std::int64_t head) const {
    auto const* const from = dt.image_row(at.batch * tokens(of) + at.first + token);
    return decode(of.dt_type, from + head * bytes_of(of.dt_type)) + number_of_head(dt_bias, head);
  }

  mamba2_case of;
  world memories;
  tensor x, dt, A, B, C, D, z, dt_bias, initial, starts;
};

struct mamba2_operands : mamba2_inputs {
  explicit mamba2_operands(mamba2_case const& c) : mamba2_inputs(c) {
    y = make(c.h, c.p, role::output, 0);
    if (c.states) final = make_state(role::output, 0);
  }
  tensor y, final;
  tk_repeat repeat = TK_REPEAT_RUN;
};
// All gradients that there can be.
struct mamba2_backward_operands : mamba2_inputs {
  explicit mamba2_backward_operands(mamba2_case const& c) : mamba2_inputs(c) {
    dy = make(c.h, c.p, role::input, 61);
    dx = make(c.h, c.p, role::output, 0);
    dB = make(c.g, c.s, role::output, 0), dC = make(c.g, c.s, role::output, 0);
    if (c.gate) dz = make(c.h, c.p, role::output, 0);
    ddt = make_steps(role::output);
    dA = make_of_heads(role::output);
    if (c.bias) ddt_bias = make_of_heads(role::output);
    if (c.skip == skips::heads) dD = make_of_heads(role::output);
    if (c.skip == skips::columns) dD = make_of_columns(role::output);
    for (auto* const y : {&ddt, &dA, &ddt_bias, &dD})
      if (y->in) fill(*y, data::nans, 0);
    if (!c.states) return;
    dfinal = make_state(role::input, 62);
    dinitial = make_state(role::output, 0);
  }
  tensor dy, dx, ddt, dA, dB, dC, dD, dz, ddt_bias, dfinal, dinitial;
};

template <class Body> std::string with_problem(mamba2_operands const& x, Body const& body) {
  given_tensor const of_x(x.x), dt(x.dt), A(x.A), B(x.B), C(x.C), D(x.D), z(x.z),
      dt_bias(x.dt_bias), y(x.y), initial(x.initial), final(x.final), starts(x.starts);
  tk_mamba2_problem problem{};
  problem.size = sizeof problem;
  problem.x = of_x.get(), problem.dt = dt.get(), problem.A = A.get();
  problem.B = B.get(), problem.C = C.get(), problem.D = D.get();
  problem.z = z.get(), problem.dt_bias = dt_bias.get(), problem.y = y.get();
  problem.initial_state = initial.get(), problem.final_state = final.get();
  problem.starts = starts.get();
  problem.dt_min = x.of.dt_min(), problem.dt_max = x.of.dt_max();
  problem.dt_softplus = x.of.softplus;
  problem.repeat = x.repeat;
  return body(called_op{TK_OP_MAMBA2, tk_mamba2}, static_cast<tk_mamba2_problem const*>(&problem));
}

template <class Body>
std::string with_problem(mamba2_backward_operands const& x, Body const& body) {
  given_tensor const of_x(x.x), dt(x.dt), A(x.A), B(x.B), C(x.C), D(x.D), z(x.z),
      dt_bias(x.dt_bias), dy(x.dy), dx(x.dx), ddt(x.ddt), dA(x.dA), dB(x.dB), dC(x.dC), dD(x.dD),
      dz(x.dz), ddt_bias(x.ddt_bias), initial(x.initial), dfinal(x.dfinal), dinitial(x.dinitial),
      starts(x.starts);
  tk_mamba2_backward_problem problem{};
  problem.size = sizeof problem;
  problem.x = of_x.get(), problem.dt = dt.get(), problem.A = A.get();
  problem.B = B.get(), problem.C = C.get(), problem.D = D.get();
  problem.z = z.get(), problem.dt_bias = dt_bias.get(), problem.dy = dy.get();
  problem.dx = dx.get(), problem.ddt = ddt.get(), problem.dA = dA.get();
  problem.dB = dB.get(), problem.dC = dC.get(), problem.dD = dD.get();
  problem.dz = dz.get(), problem.ddt_bias = ddt_bias.get();
  problem.initial_state = initial.get(), problem.dfinal_state = dfinal.get();
  problem.dinitial_state = dinitial.get(), problem.starts = starts.get();
  problem.dt_min = x.of.dt_min(), problem.dt_max = x.of.dt_max();
  problem.dt_softplus = x.of.softplus;
  return body(called_op{TK_OP_MAMBA2_BACKWARD, tk_mamba2_backward},
              static_cast<tk_mamba2_backward_problem const*>(&problem));
}

}  // namespace tk::test
