// SPDX-License-Identifier: MIT
// What stands in for the kernels of cross_entropy and its backward in the fuzzer.
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/cross_entropy/cross_entropy_backward.h"
#include "ops/cross_entropy/problem.hpp"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

template <class Problem> void agree_terms(tk::cross_entropy_terms const& x, Problem const& p) {
  require(x.has_ignore_index == (p.has_ignore_index != 0) && x.ignore_index == p.ignore_index,
          "the ignored label changed");
  require(x.label_smoothing == p.label_smoothing && x.z_loss == p.z_loss && x.softcap == p.softcap,
          "an option changed");
}

void check(tk::cross_entropy_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_CROSS_ENTROPY, workspace, stream);
  auto const p = call.problem<tk_cross_entropy_problem>();
  auto const [in, labels, loss, lse, dx] = call.all<5>();
  check_row_workspace(x.x);
  agree_rows(x.x, in, in);
  agree_rows(x.labels, labels, labels);
  agree_rows(x.loss, loss, loss);
  agree_rows(x.lse, lse, lse);
  agree_rows(x.dx, dx, in);
  agree_terms(x.terms, p);
  require(x.dloss_scale == p.dloss_scale, "dloss_scale changed");
  touch();
}

void check(tk::cross_entropy_backward_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_CROSS_ENTROPY_BACKWARD, workspace, stream);
  auto const [in, labels, lse, dloss, dx] = call.all<5>();
  check_row_workspace(x.x);
  agree_rows(x.x, in, in);
  agree_rows(x.labels, labels, labels);
  agree_rows(x.lse, lse, lse);
  agree_rows(x.dloss, dloss, dloss);
  agree_rows(x.dx, dx, in);
  agree_terms(x.terms, call.problem<tk_cross_entropy_backward_problem>());
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> struct cross_entropy_run {
  static void launch(cross_entropy_problem const& x, void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<T>(x.x), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template <class T> struct cross_entropy_backward_run {
  static void launch(cross_entropy_backward_problem const& x, void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<T>(x.x), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct cross_entropy_run<bf16>;
template struct cross_entropy_run<fp16>;
template struct cross_entropy_run<float>;
template struct cross_entropy_backward_run<bf16>;
template struct cross_entropy_backward_run<fp16>;
template struct cross_entropy_backward_run<float>;

}  // namespace tk
