// SPDX-License-Identifier: MIT
// What stands in for attention_forward's kernels in the fuzzer.
#include "ops/attention/attention_forward.h"
#include "tests/ops/attention/fuzz_launch.hpp"

namespace fuzz {
namespace {

void check(tk::attention_forward_problem const& x, void* workspace, void* stream,
           tk::option_set options) {
  auto const& call = begin(TK_OP_ATTENTION_FORWARD, workspace, stream);
  auto const p = call.problem<tk_attention_forward_problem>();
  auto const [q, k, v, o, lse, alibi, bias, sinks, q_starts, k_starts, state] = call.all<11>();
  bool const packed = x.terms.packed;
  require(x.options() == options, "options without their kernel, or none with it");
  require(running.needed == (options != tk::option_set::none || x.mask == tk::mask_kind::causal
                                 ? tk::counter_bytes
                                 : 0),
          "the workspace of attention");
  agree(x.q, q, packed);
  agree(x.k, k, packed);
  agree(x.v, v, packed);
  agree(x.o, o, packed);
  require((x.lse != nullptr) == lse.looked_at, "lse appeared or went");
  if (x.lse) {
    require(address_of(x.lse) == lse.address, "lse moved");
    require((packed || x.lse_b_stride == lse.stride[0]) && x.lse_h_stride == lse.stride[!packed],
            "lse's strides changed");
  }
  require(x.scale == p.scale, "the scale changed");
  require(x.k.h > 0 && x.q.h % x.k.h == 0, "heads without a group");
  check_options<tk_attention_forward_problem>(x, call);
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, int D, option_set Options> struct attention_forward_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream) {
    fuzz::require(x.q.d <= D && x.v.d <= D && fuzz::is_of<T>(x.q), "another instance was chosen");
    fuzz::check(x, workspace, stream, Options);
  }
};
template struct attention_forward_run<bf16, 64, option_set::none>;
template struct attention_forward_run<bf16, 96, option_set::none>;
template struct attention_forward_run<bf16, 128, option_set::none>;
template struct attention_forward_run<bf16, 192, option_set::none>;
template struct attention_forward_run<bf16, 256, option_set::none>;
template struct attention_forward_run<fp16, 64, option_set::none>;
template struct attention_forward_run<fp16, 96, option_set::none>;
template struct attention_forward_run<fp16, 128, option_set::none>;
template struct attention_forward_run<fp16, 192, option_set::none>;
template struct attention_forward_run<fp16, 256, option_set::none>;
template struct attention_forward_run<bf16, 64, option_set::seen>;
template struct attention_forward_run<bf16, 128, option_set::seen>;
template struct attention_forward_run<bf16, 256, option_set::seen>;
template struct attention_forward_run<fp16, 64, option_set::seen>;
template struct attention_forward_run<fp16, 128, option_set::seen>;
template struct attention_forward_run<fp16, 256, option_set::seen>;
template struct attention_forward_run<bf16, 64, option_set::all>;
template struct attention_forward_run<bf16, 128, option_set::all>;
template struct attention_forward_run<bf16, 256, option_set::all>;
template struct attention_forward_run<fp16, 64, option_set::all>;
template struct attention_forward_run<fp16, 128, option_set::all>;
template struct attention_forward_run<fp16, 256, option_set::all>;

}  // namespace tk
