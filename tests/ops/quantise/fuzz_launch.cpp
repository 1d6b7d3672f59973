// SPDX-License-Identifier: MIT
// What stands in for the kernels of quantise in the fuzzer.
#include <type_traits>

#include "ops/quantise/problem.hpp"
#include "ops/quantise/quantise.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

// Scales of parts: for a tensor one for each 8192 elements that lie in one row, or for each row,
// and some for these again.
void check_workspace(tk::quantise_problem const& x) {
  wide const matrices = wide(x.x.outer) * x.x.middle, rows = matrices * x.x.rows,
             elements = rows * x.x.width;
  wide const counters = elements < 1 << 16 ? 0 : tk::counter_bytes;
  wide least = 0, most = 0;
  if (x.kind == tk::scale_kind::tensor && elements > 0) {
    least = (elements + 8191) / 8192 * wide(sizeof(float));
    wide const each = rows * tiles(x.x.width, 8192) * wide(sizeof(float));
    most = (each > least ? each : least) * 2 + 1024;
  }
  if (least > 0) least += tk::counter_bytes, most += tk::counter_bytes;
  else least = most = x.kind == tk::scale_kind::by_128x128 ? 0 : counters;
  require(running.needed >= least && running.needed <= most, "the workspace of quantise");
}

void check(tk::quantise_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_QUANTISE, workspace, stream);
  auto const p = call.problem<tk_quantise_problem>();
  auto const [in, y, scale] = call.all<3>();
  check_workspace(x);
  if (in.empty()) require(!x.x.data && !x.y.data, "elements appeared");
  else agree_rows(x.x, in, in), agree_rows(x.y, y, in);
  agree(tk::any_tensor{x.scale, tk::element::fp32}, scale);
  require(int(x.kind) == int(p.kind) && x.power_of_two == (p.power_of_two != 0), "options changed");
  bool const one = x.kind == tk::scale_kind::tensor || x.kind == tk::scale_kind::given;
  for (std::size_t axis = 0; axis < 4 && !one; ++axis)
    require(x.scale_stride[axis] ==
                (axis == 3 && x.kind == tk::scale_kind::row ? 0 : scale.stride[axis]),
            "strides of scale changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, class F> struct quantise_run {
  static void launch(quantise_problem const& x, void* workspace, void* stream) {
    constexpr auto is = std::is_same_v<F, fp8_e5m2> ? element::fp8_e5m2 : element::fp8_e4m3;
    fuzz::require(fuzz::is_of<T>(x.x) && x.y.type == is, "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct quantise_run<bf16, fp8_e4m3>;
template struct quantise_run<bf16, fp8_e5m2>;
template struct quantise_run<fp16, fp8_e4m3>;
template struct quantise_run<fp16, fp8_e5m2>;
template struct quantise_run<float, fp8_e4m3>;
template struct quantise_run<float, fp8_e5m2>;

}  // namespace tk
