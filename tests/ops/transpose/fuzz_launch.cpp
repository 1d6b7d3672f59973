// SPDX-License-Identifier: MIT
// What stands in for the kernels of transpose in the fuzzer.
#include "ops/transpose/problem.hpp"
#include "ops/transpose/transpose.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void check(tk::transpose_problem const& x, int bytes, void* stream) {
  auto const& call = begin(TK_OP_TRANSPOSE, nullptr, stream);
  auto const [from, to] = call.all<2>();
  require(running.needed == 0, "the workspace of transpose");
  agree_rows(x.x, from, from);
  agree_rows(x.y, to, to);
  require(from.bits == 8 * bytes, "another instance was chosen");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> struct transpose_run {
  static void launch(transpose_problem const& x, void* stream) {
    fuzz::check(x, sizeof(T), stream);
  }
};
template struct transpose_run<fp8_e4m3>;
template struct transpose_run<bf16>;
template struct transpose_run<float>;

}  // namespace tk
