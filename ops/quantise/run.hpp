// SPDX-License-Identifier: MIT
// One launch of quantise's rows. quantise_run<T, F> is instantiated once for each row of
// ops/quantise/quantise.cmake; ops/quantise/quantise.cpp chooses among them.
#pragma once
#include "ops/quantise/problem.hpp"
#include "ops/quantise/quantise.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T, class F> struct quantise_run {
  static void launch(quantise_rows const& x, void* workspace, void* stream);
};

template <class T, class F>
void quantise_run<T, F>::launch(quantise_rows const& x, void* workspace, void* stream) {
  row_problem<quantise<T, F>> rows{{x.largest, 1.f / x.largest, x.least, x.given, x.power_of_two,
                                    x.y.data != nullptr},
                                   {x.x},
                                   {x.y}};
  rows.values[0] = x.scale;
  launch_rows(rows, workspace, stream);
}

}  // namespace tk
