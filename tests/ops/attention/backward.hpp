// SPDX-License-Identifier: MIT
// One case of tk_attention_backward: that of a forward (attention_forward.hpp), and where the other
// tensors lie. attention_backward_operands builds the operands, launch_twice() launches;
// backward_oracle.hpp makes o and lse, and judges.
#pragma once
#include "ops/attention/attention_backward.h"
#include "tests/ops/attention/attention_forward.hpp"

namespace tk::test {

struct attention_backward_case {
  attention_case of;
  heads_layout dout_layout = {}, dq_layout = {}, dk_layout = {}, dv_layout = {};
  bool packed_outputs = false;  // dq, dk, dv are slices of one [b, n, hq + 2 hk, d]
  double dout_factor = 1;
};

struct attention_backward_operands {
  explicit attention_backward_operands(attention_backward_case const& x);
  attention_backward_operands(attention_backward_operands const&) = delete;

  attention_backward_case all;
  attention_case of;  // the forward's
  world memories;
  tensor q, k, v, o, lse, dout, dq, dk, dv;
};

// o and lse of the forward's case, in the images of their memories (backward_oracle.hpp).
void set_forward(attention_backward_operands& x);

inline std::string describe(attention_backward_case const& x) {
  std::ostringstream s;
  s << "backward of " << describe(x.of) << " dout*" << x.dout_factor
    << (x.packed_outputs ? " packed outputs" : "");
  describe(s, "dout", x.dout_layout);
  describe(s, "dq", x.dq_layout);
  describe(s, "dk", x.dk_layout);
  describe(s, "dv", x.dv_layout);
  return s.str();
}

inline void place_inputs(attention_backward_operands& x) {
  attention_case const& y = x.of;
  auto const put = [&](std::int64_t n, std::int64_t h, std::int64_t d, heads_layout const& how) {
    return place(x.memories, y.type, {y.b, n, h, d}, how, role::input);
  };
  if (y.pack == packing::qkv) {
    auto const whole = put(y.nq, y.hq + 2 * y.hk, y.d, y.q_layout);
    x.q = slice(whole, 0, y.hq);
    x.k = slice(whole, y.hq, y.hk);
    x.v = slice(whole, y.hq + y.hk, y.hk);
  } else {
    x.q = put(y.nq, y.hq, y.d, y.q_layout);
    x.k = put(y.nk, y.hk, y.d, y.k_layout);
    x.v = put(y.nk, y.hk, y.dv, y.v_layout);
  }
  x.o = put(y.nq, y.hq, y.dv, y.o_layout);
  x.dout = put(y.nq, y.hq, y.dv, x.all.dout_layout);
  std::vector<std::int64_t> const shape{y.b, y.hq, y.nq};
  auto strides = row_major(shape);
  if (y.lse == lse_use::strided) strides = {y.nq + 3, y.b * (y.nq + 3) + 5, 1};
  if (y.lse == lse_use::reversed) strides[0] *= -1, strides[1] *= -1;
  x.lse = x.memories.make(dtype::fp32, shape, strides, role::input, 1);
  x.lse.null_strides = y.lse == lse_use::dense;
}

inline void place_outputs(attention_backward_operands& x) {
  attention_case const& y = x.of;
  auto const put = [&](std::int64_t n, std::int64_t h, std::int64_t d, heads_layout const& how) {
    return place(x.memories, y.type, {y.b, n, h, d}, how, role::output);
  };
  if (x.all.packed_outputs) {
    auto const whole = put(y.nq, y.hq + 2 * y.hk, y.d, x.all.dq_layout);
    x.dq = slice(whole, 0, y.hq);
    x.dk = slice(whole, y.hq, y.hk);
    x.dv = slice(whole, y.hq + y.hk, y.hk);
  } else {
    x.dq = put(y.nq, y.hq, y.d, x.all.dq_layout);
    x.dk = put(y.nk, y.hk, y.d, x.all.dk_layout);
    x.dv = put(y.nk, y.hk, y.dv, x.all.dv_layout);
  }
}

// Keys of +-1 at random; every query is one of them (scores::select).
inline void set_selecting(attention_backward_operands& x) {
  attention_case const& y = x.of;
  auto const code = [&](std::int64_t key, std::int64_t col) {
    return random_bits(21, key * y.d + col) & 1 ? 1.0 : -1.0;
  };
  parallel_for(x.k.rows(), [&](std::int64_t r) {
    for (std::int64_t c = 0; c < y.d; ++c) set(x.k, r, c, code(r, c));
  });
  parallel_for(x.q.rows(), [&](std::int64_t r) {
    std::int64_t const head = r % y.hq, row = r / y.hq % y.nq, batch = r / y.hq / y.nq;
    std::int64_t const key = selected_key(y, batch * y.hq + head, row);
    std::int64_t const equal = (batch * y.nk + key) * y.hk + head / (y.hq / y.hk);
    for (std::int64_t c = 0; c < y.d; ++c) set(x.q, r, c, key < 0 ? 1 : code(equal, c));
  });
}

inline attention_backward_operands::attention_backward_operands(attention_backward_case const& x)
    : all(x), of(x.of), memories(3) {
  place_inputs(*this);
  place_outputs(*this);
  data const some = of.one_sign ? data::positive : data::reals;
  fill(q, of.values == scores::flat ? data::zeros : some, 31, of.q_factor);
  fill(k, some, 32, of.k_factor);
  fill(v, data::reals, 33);
  fill(dout, data::reals, 34, all.dout_factor);
  if (of.values == scores::select) set_selecting(*this);
  for (auto* out : {&dq, &dk, &dv}) fill(*out, data::nans, 0);
  set_forward(*this);
}

template <class Body>
std::string with_problem(attention_backward_operands const& x, Body const& body) {
  DLTensor const q = x.q.dl(), k = x.k.dl(), v = x.v.dl(), o = x.o.dl(), lse = x.lse.dl();
  DLTensor const dout = x.dout.dl(), dq = x.dq.dl(), dk = x.dk.dl(), dv = x.dv.dl();
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
  problem.scale = scale_of(x.of);
  return body(called_op{TK_OP_ATTENTION_BACKWARD, tk_attention_backward},
              static_cast<tk_attention_backward_problem const*>(&problem));
}

}  // namespace tk::test
