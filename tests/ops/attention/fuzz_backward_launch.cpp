// SPDX-License-Identifier: MIT
// What stands in for attention_backward's kernels in the fuzzer.
#include "ops/attention/attention_backward.h"
#include "ops/attention/backward_plan.hpp"
#include "tests/fuzz/launch.hpp"

namespace fuzz {
namespace {

void agree(tk::heads const& x, seen_tensor const& t) {
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.b == t.size[0] && x.n == t.size[1] && x.h == t.size[2] && x.d == t.size[3],
          "sizes of heads changed");
  require(x.b_stride == t.stride[0] && x.n_stride == t.stride[1] && x.h_stride == t.stride[2],
          "strides of heads changed");
}

// What lies in the workspace fits, in order and apart.
template <int D> void check_layout(tk::attention_backward_problem const& x) {
  tk::attention_backward_sizes const sizes(x);
  using cut = tk::attention_backward_cut<D>;
  auto const at = tk::attention_backward_layout::of<D>(sizes);
  wide const rows = wide(sizes.template query_block<cut>(0, 0, sizes.b)) * cut::queries;
  bool const sums = sizes.template key_blocks<cut>() > 1;
  require(rows >= wide(x.q.n) * x.q.h * x.q.b, "too few rows in the workspace");
  require(at.lse >= tk::counter_bytes && at.delta >= at.lse + 4 * rows &&
              at.turns >= at.delta + 4 * rows &&
              (!sums || at.dq >= at.turns + 4 * rows / cut::queries * cut::pieces) &&
              running.needed == at.bytes && at.bytes >= at.dq + (sums ? 4 * rows * D : 0),
          "the workspace of attention's backward");
}

void check(tk::attention_backward_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_ATTENTION_BACKWARD, workspace, stream);
  auto const p = call.problem<tk_attention_backward_problem>();
  auto const [q, k, v, o, lse, dout, dq, dk, dv] = call.all<9>();
  agree(x.q, q);
  agree(x.k, k);
  agree(x.v, v);
  agree(x.o, o);
  agree(x.dout, dout);
  agree(x.dq, dq);
  agree(x.dk, dk);
  agree(x.dv, dv);
  require(address_of(x.lse) == (lse.empty() ? 0 : lse.address), "lse moved");
  require(x.lse_b_stride == lse.stride[0] && x.lse_h_stride == lse.stride[1],
          "lse's strides changed");
  require(int(x.mask) == int(p.mask) && x.scale == p.scale, "mask or scale changed");
  require(x.k.h > 0 && x.q.h % x.k.h == 0, "heads without a group");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, int D> struct attention_backward_run {
  static void launch(attention_backward_problem const& x, void* workspace, void* stream) {
    fuzz::require(x.q.d <= D && x.v.d <= D && fuzz::is_of<T>(x.q), "another instance was chosen");
    fuzz::check_layout<D>(x);
    fuzz::check(x, workspace, stream);
  }
};
template struct attention_backward_run<bf16, 64>;
template struct attention_backward_run<bf16, 128>;
template struct attention_backward_run<bf16, 256>;
template struct attention_backward_run<fp16, 64>;
template struct attention_backward_run<fp16, 128>;
template struct attention_backward_run<fp16, 256>;

}  // namespace tk
