// SPDX-License-Identifier: MIT
// What stands in for norm's kernels in the fuzzer.
#include "ops/norm/norm.h"
#include "ops/norm/problem.hpp"
#include "tests/fuzz/launch.hpp"

namespace fuzz {
namespace {

void agree_rows(tk::matrix const& x, seen_tensor const& t) {
  require((x.data != nullptr) == t.looked_at, "rows appeared or went");
  if (!t.looked_at) return;
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.batch == 1 && x.rows == t.size[0] && x.cols == t.size[1], "sizes of rows changed");
  require(x.row_stride == t.stride[0], "the stride of rows changed");
}

void agree_scale(tk::any_tensor const& x, seen_tensor const& t) {
  require((x.data != nullptr) == t.looked_at, "a scale appeared or went");
  if (t.looked_at) agree(x, t);
}

void check(tk::norm_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_NORM, workspace, stream);
  auto const p = call.problem<tk_norm_problem>();
  auto const [in, residual, weight, bias, y, r] = call.all<6>();
  require(running.needed > 0 || !workspace, "a workspace that norm did not ask for");
  require(running.needed == (x.x.rows * x.x.cols < 1 << 16 ? 0 : tk::counter_bytes),
          "the workspace of norm");
  agree_rows(x.x, in);
  agree_rows(x.residual, residual);
  agree_rows(x.y, y);
  agree_rows(x.r, r);
  agree_scale(x.weight, weight);
  agree_scale(x.bias, bias);
  require(int(x.kind) == int(p.kind) && x.eps == p.eps, "kind or eps changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<T>(x.x), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct norm_run<bf16>;
template struct norm_run<fp16>;
template struct norm_run<float>;

}  // namespace tk
