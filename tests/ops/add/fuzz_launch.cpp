// SPDX-License-Identifier: MIT
// What stands in for the kernels of add in the fuzzer.
#include "ops/add/add.h"
#include "ops/add/problem.hpp"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void check(tk::add_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_ADD, workspace, stream);
  auto const p = call.problem<tk_add_problem>();
  auto const [a, b, y] = call.all<3>();
  auto const same = [](float x, float y) { return x == y || (x != x && y != y); };
  check_row_workspace(x.y);
  agree_rows(x.a, a, a);
  agree_rows(x.b, b, a);
  agree_rows(x.y, y, a);
  require((x.b.data != nullptr) == (p.beta != 0), "b without beta, or beta without b");
  require(same(x.alpha, p.alpha) && same(x.beta, p.beta), "alpha or beta changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class A, class Y> struct add_run {
  static void launch(add_problem const& x, void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<A>(x.a) && fuzz::is_of<Y>(x.y), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct add_run<bf16, bf16>;
template struct add_run<bf16, fp16>;
template struct add_run<bf16, float>;
template struct add_run<fp16, bf16>;
template struct add_run<fp16, fp16>;
template struct add_run<fp16, float>;
template struct add_run<float, bf16>;
template struct add_run<float, fp16>;
template struct add_run<float, float>;

}  // namespace tk
