// SPDX-License-Identifier: MIT
// What stands in for attention_forward's kernels in the fuzzer.
#include "ops/attention/attention_forward.h"
#include "ops/attention/problem.hpp"
#include "tests/fuzz/launch.hpp"

namespace fuzz {
namespace {

void agree(tk::heads const& x, seen_tensor const& t, bool packed) {
  agree(static_cast<tk::any_tensor const&>(x), t);
  std::size_t const n = packed ? 0 : 1;
  require(x.b == (packed ? 1 : t.size[0]) && x.n == t.size[n] && x.h == t.size[n + 1] &&
              x.d == t.size[n + 2],
          "sizes of heads changed");
  require((packed || x.b_stride == t.stride[0]) && x.n_stride == t.stride[n] &&
              x.h_stride == t.stride[n + 1],
          "strides of heads changed");
}
template <class T> void at(T const* data, seen_tensor const& t, char const* what) {
  bool const there = t.looked_at && !t.empty();
  require(there ? address_of(data) == t.address : data == nullptr, what);
}

void check_options(tk::attention_forward_problem const& x, seen_call const& call) {
  auto const given = call.part<tk_attention_options>();
  auto const [q, k, v, o, lse, alibi, bias, sinks, q_starts, k_starts, state] = call.all<11>();
  auto const& y = x.terms;
  bool const right = given.has_window_right != 0 && given.window_right < x.q.n;
  bool const causal = call.problem<tk_attention_forward_problem>().mask == TK_MASK_CAUSAL ||
                      (right && given.window_right == 0);
  require((x.mask == tk::mask_kind::causal) == causal, "the mask changed");
  require(y.has_left == (given.has_window_left != 0 && given.window_left < x.k.n) &&
              (!y.has_left || y.left == given.window_left) && y.left >= 0 && y.left <= x.k.n,
          "the left window changed");
  require(y.has_right == (right && !causal) && y.right >= 0 && y.right <= x.q.n &&
              (!y.has_right || y.right == given.window_right),
          "the right window changed");
  require(y.softcap == given.softcap && y.dropout >= 0 && y.dropout <= 255, "numbers changed");
  require(y.seed == given.seed && y.offset == given.offset, "the seed changed");
  at(y.alibi.data, alibi, "alibi moved");
  at(y.sinks.data, sinks, "sinks moved");
  at(y.bias.data, bias, "bias moved");
  at(y.q_starts, q_starts, "q_starts moved");
  at(y.k_starts, k_starts, "k_starts moved");
  at(y.random_state, state, "random_state moved");
  require(y.packed == q_starts.looked_at && y.alibi.given == alibi.looked_at &&
              y.bias.given == bias.looked_at && y.sinks.given == sinks.looked_at,
          "an option appeared or went");
}

void check(tk::attention_forward_problem const& x, void* workspace, void* stream, bool general) {
  auto const& call = begin(TK_OP_ATTENTION_FORWARD, workspace, stream);
  auto const p = call.problem<tk_attention_forward_problem>();
  auto const [q, k, v, o, lse, alibi, bias, sinks, q_starts, k_starts, state] = call.all<11>();
  bool const packed = x.terms.packed;
  require(x.terms.any() == general, "options without their kernel, or none with it");
  require(running.needed == (general || x.mask == tk::mask_kind::causal ? tk::counter_bytes : 0),
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
  check_options(x, call);
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, int D> struct attention_forward_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream) {
    fuzz::require(x.q.d <= D && x.v.d <= D && fuzz::is_of<T>(x.q), "another instance was chosen");
    fuzz::check(x, workspace, stream, false);
  }
};
template <class T, int D> struct attention_general_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream) {
    fuzz::require(x.q.d <= D && x.v.d <= D && fuzz::is_of<T>(x.q), "another instance was chosen");
    fuzz::check(x, workspace, stream, true);
  }
};
template struct attention_forward_run<bf16, 64>;
template struct attention_forward_run<bf16, 96>;
template struct attention_forward_run<bf16, 128>;
template struct attention_forward_run<bf16, 192>;
template struct attention_forward_run<bf16, 256>;
template struct attention_forward_run<fp16, 64>;
template struct attention_forward_run<fp16, 96>;
template struct attention_forward_run<fp16, 128>;
template struct attention_forward_run<fp16, 192>;
template struct attention_forward_run<fp16, 256>;
template struct attention_general_run<bf16, 64>;
template struct attention_general_run<bf16, 128>;
template struct attention_general_run<bf16, 256>;
template struct attention_general_run<fp16, 64>;
template struct attention_general_run<fp16, 128>;
template struct attention_general_run<fp16, 256>;

}  // namespace tk
