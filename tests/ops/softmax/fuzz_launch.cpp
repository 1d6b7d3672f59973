// SPDX-License-Identifier: MIT
// What stands in for the kernels of softmax and its backward in the fuzzer.
#include "ops/softmax/problem.hpp"
#include "ops/softmax/softmax.h"
#include "ops/softmax/softmax_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void check(tk::softmax_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_SOFTMAX, workspace, stream);
  auto const p = call.problem<tk_softmax_problem>();
  auto const [in, bias, y, bool_mask] = call.all<4>();
  check_row_workspace(x.y);
  agree_rows(x.x, in, in);
  agree_rows(x.bias, bias, in);
  agree_rows(x.y, y, in);
  agree_rows(x.bool_mask, bool_mask, in);
  require(int(x.mask) == int(p.mask) && x.scale == p.scale, "mask or scale changed");
  touch();
}

void check(tk::softmax_backward_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_SOFTMAX_BACKWARD, workspace, stream);
  auto const p = call.problem<tk_softmax_backward_problem>();
  auto const [y, dy, dx, dbias] = call.all<4>();
  check_row_workspace(x.dx);
  agree_rows(x.y, y, y);
  agree_rows(x.dy, dy, y);
  agree_rows(x.dx, dx, y);
  agree_rows(x.dbias, dbias, y);
  require(int(x.mask) == int(p.mask) && x.scale == p.scale, "mask or scale changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, bool Masked> struct softmax_run {
  static void launch(softmax_problem const& x, void* workspace, void* stream) {
    bool const right = fuzz::is_of<T>(x.x) && Masked == (x.bool_mask.data != nullptr);
    fuzz::require(right, "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template <class T> struct softmax_backward_run {
  static void launch(softmax_backward_problem const& x, void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<T>(x.y), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct softmax_run<bf16, false>;
template struct softmax_run<fp16, false>;
template struct softmax_run<float, false>;
template struct softmax_run<bf16, true>;
template struct softmax_run<fp16, true>;
template struct softmax_run<float, true>;
template struct softmax_backward_run<bf16>;
template struct softmax_backward_run<fp16>;
template struct softmax_backward_run<float>;

}  // namespace tk
