// SPDX-License-Identifier: MIT
// From a checked problem to launches of conv1d_backward and of the totals of its sums.
// conv1d_backward_run<T, W> is instantiated once for each row of ops/conv1d/conv1d_backward.cmake;
// ops/conv1d/conv1d_backward.cpp chooses among them.
#pragma once
#include "core/column_totals.hpp"
#include "ops/conv1d/conv1d_backward.hpp"
#include "ops/conv1d/operands.hpp"

namespace tk {

template <class T, class W> struct conv1d_backward_run {
  static void launch(conv1d_backward_problem const& x, void* workspace, void* stream);
};

// Of each tap to its column of dweight, and to dbias, of elements D.
template <class D>
void launch_conv1d_totals(conv1d_backward_problem const& x, void* workspace, void* stream) {
  using op = column_totals<D>;
  conv1d_sums const sums(x);
  typename op::args a{{},
                      0,
                      static_cast<int>(sums.walks()),
                      static_cast<int>(x.channels()),
                      static_cast<int>(sums.stride())};
  static_assert(op::most >= 5, "four taps and a bias");
  float const* from = sums.in(workspace);
  auto* const dweight = static_cast<D*>(x.dweight.data);
  for (int tap = 0; tap < x.taps; ++tap, from += sums.matrix())
    if (dweight) a.of[a.count++] = {from, dweight + tap, x.taps};
  if (auto* const dbias = static_cast<D*>(x.dbias.data)) a.of[a.count++] = {from, dbias};
  be::launch<op>(a, stream);
}

template <class T, class W>
void conv1d_backward_run<T, W>::launch(conv1d_backward_problem const& x, void* workspace,
                                       void* stream) {
  conv1d_sums const sums(x);
  conv1d_plan const plan(x);
  bool const wanted = x.dweight.data || x.dbias.data;
  with_taps(x.taps, [&](auto taps) {
    using op = conv1d_backward<T, W, taps>;
    be::launch<op>(
        {.runs = runs_of(x, plan),
         .x = token_rows_of<T const>(x.x),
         .initial = token_rows_of<T const>(x.initial),
         .dy = token_rows_of<T const>(x.dy),
         .dfinal = token_rows_of<T const>(x.dfinal),
         .dx = token_rows_of<T>(x.dx),
         .dinitial = token_rows_of<T>(x.dinitial),
         .weights = weights_of<W>(x),
         .sums = {wanted ? sums.in(workspace) : nullptr, sums.walks(), x.channels(), sums.stride()},
         .in_turn = plan.in_turn,
         .is_silu = x.is_silu},
        stream);
  });
  if (!wanted) return;
  auto const type = x.dweight.data ? x.dweight.type : x.dbias.type;
  if (type == element::fp32) launch_conv1d_totals<float>(x, workspace, stream);
  else if constexpr (sizeof(T) == 2) launch_conv1d_totals<T>(x, workspace, stream);
}

}  // namespace tk
