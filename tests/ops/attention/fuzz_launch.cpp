// SPDX-License-Identifier: MIT
// What stands in for attention_forward's kernels in the fuzzer.
#include "ops/attention/attention_forward.h"
#include "ops/attention/problem.hpp"
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

void check(tk::attention_forward_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_ATTENTION_FORWARD, workspace, stream);
  auto const p = call.problem<tk_attention_forward_problem>();
  auto const [q, k, v, o, lse] = call.all<5>();
  require(running.needed == (p.mask == TK_MASK_CAUSAL ? tk::counter_bytes : 0),
          "the workspace of attention");
  agree(x.q, q);
  agree(x.k, k);
  agree(x.v, v);
  agree(x.o, o);
  require((x.lse != nullptr) == lse.looked_at, "lse appeared or went");
  if (x.lse) {
    require(address_of(x.lse) == lse.address, "lse moved");
    require(x.lse_b_stride == lse.stride[0] && x.lse_h_stride == lse.stride[1],
            "lse's strides changed");
  }
  require(int(x.mask) == int(p.mask) && x.scale == p.scale, "mask or scale changed");
  require(x.k.h > 0 && x.q.h % x.k.h == 0, "heads without a group");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, int D> struct attention_forward_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream) {
    fuzz::require(x.q.d <= D && x.v.d <= D && fuzz::is_of<T>(x.q), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct attention_forward_run<bf16, 64>;
template struct attention_forward_run<bf16, 128>;
template struct attention_forward_run<bf16, 256>;
template struct attention_forward_run<fp16, 64>;
template struct attention_forward_run<fp16, 128>;
template struct attention_forward_run<fp16, 256>;

}  // namespace tk
