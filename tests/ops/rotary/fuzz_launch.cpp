// SPDX-License-Identifier: MIT
// What stands in for the kernels of rotary in the fuzzer.
#include "ops/rotary/problem.hpp"
#include "ops/rotary/rotary.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

bool is_large(tk::row_tensor_view const& x) {
  return wide(x.outer) * x.middle * x.rows * x.width >= 1 << 16;
}

// One of q and k may have no heads where the other has some.
void agree_heads(tk::row_tensor_view const& x, seen_tensor const& t) {
  if (t.looked_at && t.empty()) require(!x.data, "heads appeared");
  else agree_rows(x, t, t);
}
void agree_table(tk::row_tensor_view const& x, seen_tensor const& t) {
  if (t.empty()) return require(!x.data, "a table appeared");
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.rows == t.size[0] && x.width == t.size[1] && x.row_stride == t.stride[0],
          "a table changed");
}

void check(tk::rotary_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_ROTARY, workspace, stream);
  auto const p = call.problem<tk_rotary_problem>();
  auto const [q, k, cos, sin, positions, offsets, q_out, k_out] = call.all<8>();
  auto const needed = is_large(x.q) || is_large(x.k) ? tk::counter_bytes : 0;
  require(running.needed == needed, "the workspace of rotary");
  agree_heads(x.q, q);
  agree_heads(x.k, k);
  agree_heads(x.q_out, q_out);
  agree_heads(x.k_out, k_out);
  agree_table(x.cos, cos);
  agree_table(x.sin, sin);
  auto const& numbers = x.are_offsets ? offsets : positions;
  require((x.numbers.data != nullptr) == numbers.looked_at, "numbers appeared or went");
  if (numbers.looked_at) {
    agree(static_cast<tk::any_tensor const&>(x.numbers), numbers);
    require(x.numbers.outer_stride == numbers.stride[0] &&
                x.numbers.middle_stride == (x.are_offsets ? 0 : numbers.stride[1]),
            "strides of numbers changed");
  }
  require(x.are_offsets == call.given("offsets"), "positions are offsets");
  require(x.interleaved == (p.interleaved != 0) && x.inverse == (p.inverse != 0), "a flag changed");
  touch();
}

template <class T, class C>
void launch(tk::rotary_problem const& x, void* workspace, void* stream) {
  require(is_of<T>(x.q) && is_of<C>(x.cos), "another instance was chosen");
  check(x, workspace, stream);
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, class C> struct rotary_run {
  static void launch(rotary_problem const& x, void* workspace, void* stream) {
    fuzz::launch<T, C>(x, workspace, stream);
  }
};
template struct rotary_run<bf16, bf16>;
template struct rotary_run<bf16, float>;
template struct rotary_run<fp16, fp16>;
template struct rotary_run<fp16, float>;
template struct rotary_run<float, float>;

}  // namespace tk
