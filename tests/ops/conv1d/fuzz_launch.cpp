// SPDX-License-Identifier: MIT
// What stands in for the kernels of conv1d and its backward in the fuzzer.
#include "ops/conv1d/conv1d.h"
#include "ops/conv1d/conv1d_backward.h"
#include "ops/conv1d/problem.hpp"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void agree_tokens(tk::row_tensor_view const& x, seen_tensor const& t) {
  if (!t.looked_at || t.empty()) return require(!x.data, "tokens appeared");
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.outer == t.size[0] && x.middle == 1 && x.rows == t.size[1] && x.width == t.size[2],
          "sizes of tokens changed");
  require(x.outer_stride == t.stride[0] && x.row_stride == t.stride[1],
          "strides of tokens changed");
}
void agree_weights(tk::any_tensor const& x, seen_tensor const& t) {
  if (!t.looked_at) return require(!x.data, "weights appeared");
  agree(x, t);
}

// All but the tensors of one op alone.
void agree_operands(tk::conv1d_operands const& x, seen_call const& call, int activation) {
  agree_tokens(x.x, seen(call, "x"));
  agree_tokens(x.initial, seen(call, "initial_state"));
  agree_weights(x.weight, seen(call, "weight"));
  agree_weights(x.bias, seen(call, "bias"));
  require(x.taps == seen(call, "weight").size[1], "the number of taps changed");
  require(x.is_silu == (activation == TK_ACTIVATION_SILU), "the activation changed");
  bool const packed = call.given("starts");
  require(x.is_packed == packed, "sequences were packed or unpacked");
  require(x.sequences == (packed ? seen(call, "starts").size[0] - 1 : seen(call, "x").size[0]),
          "the number of sequences changed");
  fuzz::at(x.starts, seen(call, "starts"), "starts changed");
}

void check(tk::conv1d_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_CONV1D, workspace, stream);
  auto const [in, weight, bias, y, initial, final, starts] = call.all<7>();
  require(running.needed == 0, "the workspace of conv1d");
  agree_operands(x, call, number_in(call.problem<tk_conv1d_problem>().activation));
  agree_tokens(x.y, y);
  agree_tokens(x.final, final);
  touch();
}

// For each walk and channel, of which four make 16 bytes, a number for each tap and one more.
std::size_t expected_workspace(tk::conv1d_backward_problem const& x) {
  auto const runs = [&](i64 length) {
    if (x.is_packed) return x.sequences == 0 ? 0 : x.x.rows / length + x.sequences;
    return x.sequences * std::max<i64>(1, (x.x.rows + length - 1) / length);
  };
  i64 const parts = (x.x.width + 255) / 256;
  i64 length = 128, each = 1;
  while (length > 16 && runs(length) * parts < 4096) length /= 2;
  while (each < 1024 && runs(length) * parts >= 8192 * each) each *= 2;
  i64 const walks = (runs(length) + each - 1) / each;
  if (walks == 0) return 0;
  return tk::counter_bytes +
         static_cast<std::size_t>(walks * (x.taps + 1) * ((x.x.width + 3) / 4 * 16));
}

void check(tk::conv1d_backward_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_CONV1D_BACKWARD, workspace, stream);
  auto const [in, weight, bias, dy, initial, dfinal, starts, dx, dweight, dbias, dinitial] =
      call.all<11>();
  require(running.needed == expected_workspace(x), "the workspace of conv1d_backward");
  agree_operands(x, call, number_in(call.problem<tk_conv1d_backward_problem>().activation));
  agree_tokens(x.dy, dy);
  agree_tokens(x.dfinal, dfinal);
  agree_tokens(x.dx, dx);
  agree_tokens(x.dinitial, dinitial);
  agree_weights(x.dweight, dweight);
  agree_weights(x.dbias, dbias);
  touch();
}

template <class T, class W> void expect_types(tk::conv1d_operands const& x) {
  require(is_of<T>(x.x) && is_of<W>(x.weight), "another instance was chosen");
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, class W> struct conv1d_run {
  static void launch(conv1d_problem const& x, void* stream) {
    fuzz::expect_types<T, W>(x);
    fuzz::check(x, nullptr, stream);
  }
};
template <class T, class W> struct conv1d_backward_run {
  static void launch(conv1d_backward_problem const& x, void* workspace, void* stream) {
    fuzz::expect_types<T, W>(x);
    fuzz::check(x, workspace, stream);
  }
};
template struct conv1d_run<bf16, bf16>;
template struct conv1d_run<bf16, float>;
template struct conv1d_run<fp16, fp16>;
template struct conv1d_run<fp16, float>;
template struct conv1d_run<float, float>;
template struct conv1d_backward_run<bf16, bf16>;
template struct conv1d_backward_run<bf16, float>;
template struct conv1d_backward_run<fp16, fp16>;
template struct conv1d_backward_run<fp16, float>;
template struct conv1d_backward_run<float, float>;

}  // namespace tk
