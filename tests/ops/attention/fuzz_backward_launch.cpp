// SPDX-License-Identifier: MIT
// What stands in for attention_backward's kernels in the fuzzer.
#include "ops/attention/attention_backward.h"
#include "ops/attention/backward_plan.hpp"
#include "tests/ops/attention/fuzz_launch.hpp"

namespace fuzz {
namespace {

// What lies in the workspace fits, in order and apart.
template <class Cut> void check_layout(tk::attention_backward_problem const& x) {
  tk::attention_backward_sizes const sizes(x);
  auto const at = tk::attention_backward_layout::of<Cut>(sizes);
  wide const rows = wide(sizes.template query_block<Cut>(0, 0, sizes.b)) * Cut::queries;
  bool const sums = !Cut::split && sizes.template key_blocks<Cut>() > 1, packed = x.terms.packed;
  if (x.has_rows()) require(rows >= wide(x.q.n) * x.q.h * x.q.b, "too few rows in the workspace");
  wide const end_of_rows = at.delta + 4 * rows;
  wide const end_of_turns =
                 Cut::split ? end_of_rows : at.turns + 4 * rows / Cut::queries * Cut::pieces,
             end_of_sums = sums ? at.dq + 4 * rows * Cut::columns : end_of_turns;
  wide const starts = 4 * (wide(x.terms.b) + 1);
  if (!x.has_rows()) return;
  require(at.lse >= tk::counter_bytes && at.delta >= at.lse + 4 * rows &&
              (Cut::split || at.turns >= end_of_rows) && (!sums || at.dq >= end_of_turns) &&
              (!packed || (at.q_starts >= end_of_sums && at.k_starts >= at.q_starts + starts)) &&
              running.needed == at.bytes && at.bytes >= end_of_sums &&
              (!packed || at.bytes >= at.k_starts + starts),
          "the workspace of attention's backward");
}

void check_gradients(tk::attention_backward_problem const& x, seen_call const& call) {
  auto const& dbias = seen(call, "dbias");
  auto const& dsinks = seen(call, "dsinks");
  require(x.dbias.given == dbias.looked_at && x.wants_dsinks == dsinks.looked_at,
          "a gradient appeared or went");
  at(x.dbias.data, dbias, "dbias moved");
  at(x.dsinks, dsinks, "dsinks moved");
  if (x.dbias.given)
    require(x.dbias.b == dbias.size[0] && x.dbias.h == dbias.size[1] &&
                x.dbias.nq == dbias.size[2] && x.dbias.nk == dbias.size[3] &&
                x.dbias.b_stride == dbias.stride[0] && x.dbias.h_stride == dbias.stride[1] &&
                x.dbias.n_stride == dbias.stride[2],
            "dbias changed");
  if (x.wants_dsinks) require(x.dsinks_stride == dsinks.stride[0], "dsinks' stride changed");
}

void check(tk::attention_backward_problem const& x, void* workspace, void* stream,
           tk::option_set options) {
  auto const& call = begin(TK_OP_ATTENTION_BACKWARD, workspace, stream);
  auto const p = call.problem<tk_attention_backward_problem>();
  bool const packed = x.terms.packed;
  require(x.options() == options, "options without their kernel, or none with it");
  agree(x.q, seen(call, "q"), packed);
  agree(x.k, seen(call, "k"), packed);
  agree(x.v, seen(call, "v"), packed);
  agree(x.o, seen(call, "o"), packed);
  agree(x.dout, seen(call, "dout"), packed);
  agree(x.dq, seen(call, "dq"), packed);
  agree(x.dk, seen(call, "dk"), packed);
  agree(x.dv, seen(call, "dv"), packed);
  auto const& lse = seen(call, "lse");
  require(address_of(x.lse) == (lse.empty() ? 0 : lse.address), "lse moved");
  require((packed || x.lse_b_stride == lse.stride[0]) && x.lse_h_stride == lse.stride[!packed],
          "lse's strides changed");
  require(x.scale == p.scale, "the scale changed");
  require(x.k.h == 0 ? x.q.h == 0 : x.q.h % x.k.h == 0, "heads without a group");
  check_options<tk_attention_backward_problem>(x, call);
  check_gradients(x, call);
  touch();
}

template <class T, int D, tk::option_set Options>
void launch(tk::attention_backward_problem const& x, void* workspace, void* stream) {
  require(x.q.d <= D && x.v.d <= D && is_of<T>(x.q), "another instance was chosen");
  require(x.dbias.given || x.has_rows(), "a launch without a row");
  check_layout<tk::attention_backward_cut<D, Options>>(x);
  check(x, workspace, stream, Options);
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, int D, option_set Options> struct attention_backward_run {
  static void launch(attention_backward_problem const& x, void* workspace, void* stream) {
    fuzz::launch<T, D, Options>(x, workspace, stream);
  }
};
// Alone where there is no row.
template <class T> struct attention_backward_sinks_run {
  static void launch(attention_backward_sums<T> const& x, void* stream) {
    if (fuzz::running.launches > 0) return;
    fuzz::require(x.b == 0 && x.heads > 0, "sinks before their rows");
    fuzz::begin(TK_OP_ATTENTION_BACKWARD, fuzz::running.workspace, stream);
    fuzz::touch();
  }
};
template <class T> struct packed_starts_run {
  static void launch(packed_starts<T> const& x, void*) {
    fuzz::require(x.to[0] && x.to[1] && x.count > 0 && fuzz::running.launches == 0,
                  "offsets without a place, or late");
  }
};
template struct attention_backward_sinks_run<float>;
template struct packed_starts_run<std::int32_t>;
template struct attention_backward_run<bf16, 64, option_set::none>;
template struct attention_backward_run<bf16, 128, option_set::none>;
template struct attention_backward_run<bf16, 256, option_set::none>;
template struct attention_backward_run<fp16, 64, option_set::none>;
template struct attention_backward_run<fp16, 128, option_set::none>;
template struct attention_backward_run<fp16, 256, option_set::none>;
template struct attention_backward_run<bf16, 64, option_set::seen>;
template struct attention_backward_run<bf16, 128, option_set::seen>;
template struct attention_backward_run<bf16, 256, option_set::seen>;
template struct attention_backward_run<fp16, 64, option_set::seen>;
template struct attention_backward_run<fp16, 128, option_set::seen>;
template struct attention_backward_run<fp16, 256, option_set::seen>;
template struct attention_backward_run<bf16, 64, option_set::all>;
template struct attention_backward_run<bf16, 128, option_set::all>;
template struct attention_backward_run<bf16, 256, option_set::all>;
template struct attention_backward_run<fp16, 64, option_set::all>;
template struct attention_backward_run<fp16, 128, option_set::all>;
template struct attention_backward_run<fp16, 256, option_set::all>;

}  // namespace tk
