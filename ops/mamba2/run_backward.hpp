// SPDX-License-Identifier: MIT
// Launches of what mamba2's backward has beside its scans. mamba2_backward_run<T> is instantiated
// once for each row of ops/mamba2/mamba2_backward.cmake.
#pragma once
#include "core/column_totals.hpp"
#include "ops/mamba2/gate_backward.hpp"
#include "ops/mamba2/group_sums.hpp"
#include "ops/mamba2/step_gradients.hpp"

namespace tk {

template <class T> struct mamba2_backward_run {
  static void launch(gate_backward_problem const& x, void* stream);
  static void launch(step_gradients_problem const& x, void* stream);
  static void launch(group_sums_problem const& x, void* stream);
};

template <int R, class T, int C = R> auto tiles_from(heads const& x) {
  return be::read_from<R, C>(typed<T const>(x));
}
template <int R, class T, int C = R> auto tiles_to(heads const& x) {
  return be::write_to<R, C>(typed<T>(x));
}

template <class T>
void mamba2_backward_run<T>::launch(gate_backward_problem const& x, void* stream) {
  using of = gate_backward<T>;
  typename of::args a{};
  a.dy = tiles_from<of::R, T>(x.dy);
  a.z = tiles_from<of::R, T>(x.z);
  a.y = tiles_from<of::R, T>(x.y);
  a.dout = tiles_to<of::R, T>(x.dout);
  a.wants_dz = x.dz.data != nullptr;
  if (a.wants_dz) a.dz = tiles_to<of::R, T>(x.dz);
  a.rows = x.rows;
  a.C = x.C;
  a.parts = ceil_div(static_cast<int>(x.dy.d), of::R);
  be::launch<of>(a, stream);
}

template <class T>
void mamba2_backward_run<T>::launch(step_gradients_problem const& x, void* stream) {
  using of = step_gradients<T>;
  typename of::args a{};
  a.x = tiles_from<of::R, T>(x.x);
  a.dout = tiles_from<of::R, T>(x.dout);
  a.u = tiles_from<of::R, T>(x.dx);
  a.dx = tiles_to<of::R, T>(x.dx);
  a.p = static_cast<int>(x.x.d);
  a.x_parts = ceil_div(a.p, of::R);
  a.of = x;
  be::launch<of>(a, stream);
  using totals = column_totals<float>;
  typename totals::args sums{{}, 0, x.rows.blocks(x.met.C), x.rows.h, x.stride};
  sums.of[sums.count++] = {x.of_A, x.dA.data, x.dA.h_stride};
  if (x.ddt_bias.given) sums.of[sums.count++] = {x.of_bias, x.ddt_bias.data, x.ddt_bias.h_stride};
  if (x.dD.given && !x.dD.of_columns) sums.of[sums.count++] = {x.of_D, x.dD.data, x.dD.h_stride};
  be::launch<totals>(sums, stream);
  if (!x.dD.given || !x.dD.of_columns) return;
  // Rows of dD lie one after another, or each is summed for itself.
  bool const flat = x.dD.h_stride == a.p * x.dD.p_stride;
  typename totals::args columns{{}, 1, sums.rows, flat ? x.rows.h * a.p : a.p, x.D_stride};
  for (int head = 0; head < (flat ? 1 : x.rows.h); ++head) {
    columns.of[0] = {x.of_D + head * a.p, x.dD.data + head * x.dD.h_stride, x.dD.p_stride};
    be::launch<totals>(columns, stream);
  }
}

template <class T> void mamba2_backward_run<T>::launch(group_sums_problem const& x, void* stream) {
  using of = group_sums<T>;
  typename of::args a{};
  a.dB_of_heads = tiles_from<of::R, T, of::Q>(x.dB_of_heads);
  a.dC_of_heads = tiles_from<of::R, T, of::Q>(x.dC_of_heads);
  a.dB = tiles_to<of::R, T, of::Q>(x.dB);
  a.dC = tiles_to<of::R, T, of::Q>(x.dC);
  a.weights = x.weights;
  a.layout = x.layout;
  a.rows = x.rows;
  a.C = x.C;
  a.groups = static_cast<int>(x.dB.h);
  a.sharing = a.groups > 0 ? x.rows.h / a.groups : 1;
  a.parts = ceil_div(static_cast<int>(x.dB.d), of::Q * of::workers);
  be::launch<of>(a, stream);
}

}  // namespace tk
