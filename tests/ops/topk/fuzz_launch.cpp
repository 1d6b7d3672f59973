// SPDX-License-Identifier: MIT
// What stands in for the kernels of topk in the fuzzer.
#include "ops/topk/problem.hpp"
#include "ops/topk/topk.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void check(tk::topk_problem const& x, void* stream) {
  auto const& call = begin(TK_OP_TOPK, nullptr, stream);
  auto const p = call.problem<tk_topk_problem>();
  auto const [in, values, indices] = call.all<3>();
  require(running.needed == 0, "the workspace of topk");
  agree_rows(x.x, in, in);
  agree_rows(x.values, values, values);
  agree_rows(x.indices, indices, indices);
  require(x.k == (values.looked_at ? values : indices).size[3], "k changed");
  require(x.smallest == (p.smallest != 0), "a flag changed");
  touch();
}

template <class T> void launch(tk::topk_problem const& x, void* stream) {
  require(is_of<T>(x.x), "another instance was chosen");
  check(x, stream);
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> struct topk_run {
  static void launch(topk_problem const& x, void* stream) { fuzz::launch<T>(x, stream); }
};
template struct topk_run<bf16>;
template struct topk_run<fp16>;
template struct topk_run<float>;

}  // namespace tk
