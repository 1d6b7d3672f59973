// SPDX-License-Identifier: MIT
// From a checked problem to a launch of norm. norm_run<...> is instantiated once for each row of
// ops/norm/norm.cmake; ops/norm/norm.cpp chooses among them.
#pragma once
#include "ops/norm/norm.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T, class Stream = T, bool Drops = false, bool Fp8 = false> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream);
};

template <class T, class Stream, bool Drops, bool Fp8>
void norm_run<T, Stream, Drops, Fp8>::launch(norm_problem const& x, void* workspace, void* stream) {
  using op = norm<T, Stream, Drops, Fp8>;
  auto const args = args_of<Drops>(x, static_cast<float>(x.x.width));
  if constexpr (Fp8) {
    row_problem<op> rows{
        {args, x.y_scale.given, x.y_scale.power_of_two, x.y.type == element::fp8_e5m2},
        {x.x, x.residual},
        {x.y, x.r},
        {x.weight, x.bias}};
    rows.values[0] = x.y_scale;
    launch_rows(rows, workspace, stream);
  } else {
    launch_rows<op>({args, {x.x, x.residual}, {x.y, x.r}, {x.weight, x.bias}}, workspace, stream);
  }
}

}  // namespace tk
