// SPDX-License-Identifier: MIT
// From a checked problem to a launch of conv1d. conv1d_run<T, W> is instantiated once for each row
// of ops/conv1d/conv1d.cmake; ops/conv1d/conv1d.cpp chooses among them.
#pragma once
#include "ops/conv1d/conv1d.hpp"
#include "ops/conv1d/operands.hpp"

namespace tk {

template <class T, class W> struct conv1d_run {
  static void launch(conv1d_problem const& x, void* stream);
};

template <class T, class W> void conv1d_run<T, W>::launch(conv1d_problem const& x, void* stream) {
  with_taps(x.taps, [&](auto taps) {
    using op = conv1d<T, W, taps>;
    be::launch<op>({.runs = runs_of(x, conv1d_plan(x)),
                    .x = token_rows_of<T const>(x.x),
                    .initial = token_rows_of<T const>(x.initial),
                    .y = token_rows_of<T>(x.y),
                    .final = token_rows_of<T>(x.final),
                    .weights = weights_of<W>(x),
                    .is_silu = x.is_silu},
                   stream);
  });
}

}  // namespace tk
