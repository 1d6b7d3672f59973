// SPDX-License-Identifier: MIT
// What stands in for the launches of linear_cross_entropy's parts in the fuzzer.
#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/linear_cross_entropy/problem.hpp"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

// A tensor without elements has no data.
void agree_matrix(tk::matrix const& x, seen_tensor const& t) {
  require((x.data != nullptr) == (t.looked_at && !t.empty()), "a matrix appeared or went");
  if (!x.data) return;
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.rows == t.size[0] && x.cols == t.size[1] && x.row_stride == t.stride[0] &&
              x.batch == 1 && x.batch_stride == 0,
          "a matrix changed");
}
void agree_numbers(tk::row_tensor_view const& x, seen_tensor const& t) {
  require((x.data != nullptr) == (t.looked_at && !t.empty()), "numbers appeared or went");
  if (!x.data) return;
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.rows == t.size[0] && x.row_stride == t.stride[0], "numbers changed");
}

void check(tk::linear_cross_entropy_problem const& x, tk::linear_cross_entropy_plan const& plan,
           void* workspace, void* stream) {
  auto const& call = begin(TK_OP_LINEAR_CROSS_ENTROPY, workspace, stream);
  auto const p = call.problem<tk_linear_cross_entropy_problem>();
  auto const [in, w, labels, loss, lse, dx, dw] = call.all<7>();
  agree_matrix(x.x, in);
  agree_matrix(x.w, w);
  agree_matrix(x.dx, dx);
  agree_matrix(x.dw, dw);
  agree_numbers(x.labels, labels);
  agree_numbers(x.loss, loss);
  agree_numbers(x.lse, lse);
  require(x.has_dx == dx.looked_at && x.has_dw == dw.looked_at, "a gradient appeared or went");
  require(x.terms.has_ignore_index == (p.has_ignore_index != 0) &&
              x.terms.ignore_index == p.ignore_index &&
              x.terms.label_smoothing == p.label_smoothing && x.terms.z_loss == p.z_loss &&
              x.terms.softcap == p.softcap && x.dloss_scale == p.dloss_scale,
          "an option changed");
  require(int(x.repeat) == int(p.repeat), "repeat changed");
  wide const logits = wide(plan.chunk_rows) * plan.pitch * 2;
  require(plan.chunk_rows >= (in.size[0] > 0 ? 1 : 0) && plan.chunk_rows <= in.size[0] &&
              (p.chunk_rows == 0 || plan.chunk_rows <= p.chunk_rows) && plan.pitch >= w.size[0] &&
              plan.logits + logits <= running.needed,
          "a chunk's logits");
  wide const copied = wide(plan.chunk_rows) * plan.x_pitch * 2;
  require((plan.x_pitch > 0) == (p.has_ignore_index != 0 && dw.looked_at && in.size[1] > 0) &&
              (plan.x_pitch == 0 || plan.x_pitch >= in.size[1]) &&
              (copied == 0 ||
               (wide(plan.x) >= wide(plan.logits) + logits && plan.x + copied <= running.needed)),
          "a chunk's copy of x");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> struct linear_cross_entropy_run {
  static void launch(linear_cross_entropy_problem const& x, linear_cross_entropy_plan const& plan,
                     void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<T>(x.x), "another instance was chosen");
    fuzz::check(x, plan, workspace, stream);
  }
};
template struct linear_cross_entropy_run<bf16>;
template struct linear_cross_entropy_run<fp16>;

}  // namespace tk
