// SPDX-License-Identifier: MIT
// One case of tk_linear_attention or tk_linear_attention_backward: sizes, decays, states, packed
// sequences, layouts in memory. forward_operands and backward_operands build the operands;
// oracle.hpp judges.
#pragma once
#include <sstream>
#include <string>

#include "ops/linear_attention/linear_attention.h"
#include "ops/linear_attention/linear_attention_backward.h"
#include "tests/support/random.hpp"
#include "tests/support/sequences.hpp"

namespace tk::test {

enum class decays {
  none,
  heads,     // of each head: 0, 1/64, 1/4, 5 in turn
  mild,      // of each token and head, up to 1/16
  strong,    // up to 8
  vanishing  // mild for most tokens; all that came before is forgotten at one of 16
};

struct scan_case {
  std::int64_t b = 1, n = 0, h = 1, d = 64, dv = 64;
  dtype type = dtype::bf16;
  decays decay = decays::none;
  bool states = false;  // initial and final ones are given, and in the backward their gradients
  std::vector<std::int64_t> lengths = {};  // of packed sequences; then b and n are not looked at
  float scale = 0.125f;
  order by = order::bnhd;
  std::int64_t padding = 0;  // elements after each row
  int misalignment = 0;      // of each operand's first element
};

inline std::string describe(scan_case const& x) {
  static char const* const names[] = {"none", "heads", "mild", "strong", "vanishing"};
  std::ostringstream s;
  s << "linear attention b " << x.b << " n " << x.n << " h " << x.h << " d " << x.d << " dv "
    << x.dv << " " << name_of(x.type) << " decays " << names[static_cast<int>(x.decay)]
    << (x.states ? " states" : "") << (x.by == order::bhnd ? " bhnd" : "");
  if (x.padding) s << " +" << x.padding;
  if (x.misalignment) s << " off by " << x.misalignment;
  for (auto const n : x.lengths) s << " " << n;
  return s.str();
}

// What forward and backward are both given.
struct scan_inputs {
  explicit scan_inputs(scan_case const& x) : of(x), memories(3) {
    q = make(x.d, role::input, 41), k = make(x.d, role::input, 42), v = make(x.dv, role::input, 43);
    if (x.decay == decays::heads) {
      decay = memories.make(dtype::fp32, {x.h}, {1}, role::input);
      double const of_heads[] = {0, 1. / 64, 0.25, 5};
      for (std::int64_t head = 0; head < x.h; ++head) set(decay, 0, head, of_heads[head % 4]);
    } else if (x.decay != decays::none) {
      fill_log_decay();
    }
    if (x.states) initial = make_state(role::input, 44);
    if (packed(x)) starts = make_starts(memories, x);
  }
  scan_inputs(scan_inputs const&) = delete;

  // [b, n, h, columns], of packed sequences [total, h, columns].
  tensor make(std::int64_t columns, role use, std::uint64_t seed) {
    std::int64_t const n = tokens(of), row = columns + of.padding;
    bool const by_head = of.by == order::bhnd;
    std::int64_t const n_stride = by_head ? row : of.h * row, h_stride = by_head ? n * row : row;
    tensor x;
    if (packed(of))
      x = memories.make(of.type, {n, of.h, columns}, {n_stride, h_stride, 1}, use, of.misalignment);
    else
      x = memories.make(of.type, {of.b, n, of.h, columns}, {n * of.h * row, n_stride, h_stride, 1},
                        use, of.misalignment);
    fill(x, use == role::input ? data::reals : data::nans, seed);
    return x;
  }
  tensor make_state(role use, std::uint64_t seed) {
    std::int64_t const row = of.dv + of.padding;
    auto x = memories.make(dtype::fp32, {sequences(of), of.h, of.d, of.dv},
                           {of.h * of.d * row, of.d * row, row, 1}, use, of.misalignment);
    fill(x, use == role::input ? data::reals : data::nans, seed);
    return x;
  }
  tensor make_log_decay(role use) {
    std::int64_t const n = tokens(of), row = of.h + of.padding;
    if (packed(of)) return memories.make(dtype::fp32, {n, of.h}, {row, 1}, use);
    return memories.make(dtype::fp32, {of.b, n, of.h}, {n * row, row, 1}, use);
  }
  // The row of an operand, and the place of a log decay.
  std::int64_t row(span const& at, std::int64_t token, std::int64_t head) const {
    return (at.batch * tokens(of) + at.first + token) * of.h + head;
  }
  double log_decay_at(span const& at, std::int64_t token, std::int64_t head) const {
    if (decay.in) return -decode(dtype::fp32, decay.image_row(0) + head * 4);
    if (!log_decay.in) return 0;
    auto const* const row = log_decay.image_row(at.batch * tokens(of) + at.first + token);
    return decode(dtype::fp32, row + head * 4);
  }

  scan_case of;
  world memories;
  tensor q, k, v, decay, log_decay, initial, starts;

 private:
  void fill_log_decay() {
    log_decay = make_log_decay(role::input);
    double const most = of.decay == decays::mild ? 1. / 16 : 8;
    for (std::int64_t r = 0; r < log_decay.rows(); ++r)
      for (std::int64_t c = 0; c < of.h; ++c) {
        auto const at = static_cast<std::uint64_t>(r * of.h + c);
        double x = -most * std::fabs(random_unit(45, at));
        if (of.decay == decays::vanishing)
          x = random_below(16, 46, at) == 0 ? -1e30 : x / 128;  // else up to 1/16
        set(log_decay, r, c, x);
      }
  }
};

struct forward_operands : scan_inputs {
  explicit forward_operands(scan_case const& x) : scan_inputs(x) {
    o = make(x.dv, role::output, 0);
    if (x.states) final = make_state(role::output, 0);
  }
  tensor o, final;
  tk_repeat repeat = TK_REPEAT_RUN;
};
struct backward_operands : scan_inputs {
  explicit backward_operands(scan_case const& x) : scan_inputs(x) {
    dout = make(x.dv, role::input, 47);
    dq = make(x.d, role::output, 0), dk = make(x.d, role::output, 0);
    dv = make(x.dv, role::output, 0);
    if (log_decay.in) dlog_decay = make_log_decay(role::output);
    if (decay.in) ddecay = memories.make(dtype::fp32, {x.h}, {1}, role::output);
    for (auto* const y : {&dlog_decay, &ddecay})
      if (y->in) fill(*y, data::nans, 0);
    if (!x.states) return;
    dfinal = make_state(role::input, 48);
    dinitial = make_state(role::output, 0);
  }
  tensor dout, dq, dk, dv, dlog_decay, ddecay, dfinal, dinitial;
};

template <class Body> std::string with_problem(forward_operands const& x, Body const& body) {
  given_tensor const q(x.q), k(x.k), v(x.v), o(x.o), log_decay(x.log_decay), decay(x.decay),
      initial(x.initial), final(x.final), starts(x.starts);
  tk_linear_attention_problem problem{};
  problem.size = sizeof problem;
  problem.q = q.get(), problem.k = k.get(), problem.v = v.get(), problem.o = o.get();
  problem.log_decay = log_decay.get(), problem.decay = decay.get();
  problem.initial_state = initial.get(), problem.final_state = final.get();
  problem.starts = starts.get();
  problem.scale = x.of.scale;
  problem.repeat = x.repeat;
  return body(called_op{TK_OP_LINEAR_ATTENTION, tk_linear_attention},
              static_cast<tk_linear_attention_problem const*>(&problem));
}
template <class Body> std::string with_problem(backward_operands const& x, Body const& body) {
  given_tensor const q(x.q), k(x.k), v(x.v), dout(x.dout), dq(x.dq), dk(x.dk), dv(x.dv),
      log_decay(x.log_decay), decay(x.decay), initial(x.initial), dfinal(x.dfinal),
      dinitial(x.dinitial), dlog_decay(x.dlog_decay), ddecay(x.ddecay), starts(x.starts);
  tk_linear_attention_backward_problem problem{};
  problem.size = sizeof problem;
  problem.q = q.get(), problem.k = k.get(), problem.v = v.get(), problem.dout = dout.get();
  problem.dq = dq.get(), problem.dk = dk.get(), problem.dv = dv.get();
  problem.log_decay = log_decay.get(), problem.decay = decay.get();
  problem.initial_state = initial.get();
  problem.dfinal_state = dfinal.get(), problem.dinitial_state = dinitial.get();
  problem.dlog_decay = dlog_decay.get(), problem.ddecay = ddecay.get();
  problem.starts = starts.get();
  problem.scale = x.of.scale;
  return body(called_op{TK_OP_LINEAR_ATTENTION_BACKWARD, tk_linear_attention_backward},
              static_cast<tk_linear_attention_backward_problem const*>(&problem));
}

}  // namespace tk::test
