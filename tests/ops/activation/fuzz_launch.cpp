// SPDX-License-Identifier: MIT
// What stands in for the kernels of activation and its backward in the fuzzer.
#include "ops/activation/activation.h"
#include "ops/activation/activation_backward.h"
#include "ops/activation/problem.hpp"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void check(tk::activation_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_ACTIVATION, workspace, stream);
  auto const p = call.problem<tk_activation_problem>();
  auto const [a, b, y] = call.all<3>();
  check_row_workspace(x.a);
  agree_rows(x.a, a, a);
  agree_rows(x.b, b, a);
  agree_rows(x.y, y, p.interleaved ? y : a);
  require(int(x.kind) == int(p.kind) && x.interleaved == (p.interleaved != 0),
          "kind or interleaved changed");
  touch();
}

void check(tk::activation_backward_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_ACTIVATION_BACKWARD, workspace, stream);
  auto const p = call.problem<tk_activation_backward_problem>();
  auto const [a, b, dy, da, db] = call.all<5>();
  check_row_workspace(x.a);
  agree_rows(x.a, a, a);
  agree_rows(x.b, b, a);
  agree_rows(x.dy, dy, p.interleaved ? dy : a);
  agree_rows(x.da, da, a);
  agree_rows(x.db, db, a);
  require(int(x.kind) == int(p.kind) && x.interleaved == (p.interleaved != 0),
          "kind or interleaved changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> struct activation_run {
  static void launch(activation_problem const& x, void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<T>(x.a), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template <class T> struct activation_backward_run {
  static void launch(activation_backward_problem const& x, void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<T>(x.a), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct activation_run<bf16>;
template struct activation_run<fp16>;
template struct activation_run<float>;
template struct activation_backward_run<bf16>;
template struct activation_backward_run<fp16>;
template struct activation_backward_run<float>;

}  // namespace tk
