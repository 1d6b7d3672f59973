// SPDX-License-Identifier: MIT
// One case of tk_attention_backward with options: that of a forward (options.hpp), whose o and lse
// it reads, with gradients of the bias and of the sinks where there are any.
// backward_options_oracle.hpp makes o and lse, and judges.
#pragma once
#include "ops/attention/attention_backward.h"
#include "tests/ops/attention/options.hpp"

namespace tk::test {

struct backward_option_case {
  option_case of;
  bool wide_dbias = false;  // fp32 where the bias has the type of q
  bool outputs_of_options = true;
};

struct backward_option_operands : option_operands {
  explicit backward_option_operands(backward_option_case const& x);
  backward_option_case all;
  tensor dout, dq, dk, dv, dbias, dsinks;
};

// o and lse, in the images of their memories.
void set_forward(backward_option_operands& x);

inline backward_option_operands::backward_option_operands(backward_option_case const& x)
    : option_operands(x.of, role::input), all(x) {
  auto const& y = of;
  dout = place_rows(*this, y.type, y.nq, y.hq, y.dv, role::input);
  dq = place_rows(*this, y.type, y.nq, y.hq, y.d, role::output);
  dk = place_rows(*this, y.type, y.nk, y.hk, y.d, role::output);
  dv = place_rows(*this, y.type, y.nk, y.hk, y.dv, role::output);
  fill(dout, data::reals, 34);
  for (auto* out : {&dq, &dk, &dv}) fill(*out, data::nans, 0);
  if (bias.in && x.outputs_of_options) {
    dbias = memories.make(x.wide_dbias ? dtype::fp32 : bias.type, bias.shape, bias.strides,
                          role::output, 1);
    fill(dbias, data::nans, 0);
  }
  if (sinks.in && x.outputs_of_options) {
    dsinks = memories.make(dtype::fp32, {y.hq}, {1}, role::output);
    fill(dsinks, data::nans, 0);
  }
  set_forward(*this);
}

template <class Body> std::string with_problem(backward_option_operands& x, Body const& body) {
  DLTensor const q = dl_of(x.q), k = dl_of(x.k), v = dl_of(x.v), o = dl_of(x.o), lse = dl_of(x.lse),
                 dout = dl_of(x.dout), dq = dl_of(x.dq), dk = dl_of(x.dk), dv = dl_of(x.dv),
                 dbias = dl_of(x.dbias), dsinks = dl_of(x.dsinks);
  tk_attention_backward_problem problem{};
  problem.size = sizeof problem;
  problem.q = &q;
  problem.k = &k;
  problem.v = &v;
  problem.o = &o;
  problem.lse = &lse;
  problem.dout = &dout;
  problem.dq = &dq;
  problem.dk = &dk;
  problem.dv = &dv;
  problem.mask = x.of.mask;
  problem.scale = x.of.scale;
  problem.dbias = x.dbias.in ? &dbias : nullptr;
  problem.dsinks = x.dsinks.in ? &dsinks : nullptr;
  return with_options(x, [&](tk_attention_options const* options) {
    problem.options = options;
    return body(called_op{TK_OP_ATTENTION_BACKWARD, tk_attention_backward},
                static_cast<tk_attention_backward_problem const*>(&problem));
  });
}

inline std::string describe(backward_option_case const& x) {
  return "backward of " + describe(x.of) + (x.wide_dbias ? " dbias fp32" : "") +
         (x.outputs_of_options ? "" : " without dbias and dsinks");
}

}  // namespace tk::test
