// SPDX-License-Identifier: MIT
// Launches of what mamba2's backward has beside its scans: each struct is instantiated once for
// each row of ops/mamba2/mamba2_backward.cmake.
#pragma once
#include "core/column_totals.hpp"
#include "ops/mamba2/chunk_gradients.hpp"
#include "ops/mamba2/gate_backward.hpp"
#include "ops/mamba2/group_sums.hpp"
#include "ops/mamba2/step_gradients.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct mamba2_gate_run {
  static void launch(gate_backward_problem const& x, void* stream);
};
template <class T, int D> struct mamba2_gradients_run {
  static void launch(chunk_gradients_problem const& x, void* stream);
};
template <class T> struct mamba2_step_gradients_run {
  static void launch(step_gradients_problem const& x, void* stream);
};

template <int R, class T, int C = R> auto tiles_from(heads const& x) {
  return be::read_from<R, C>(typed<T const>(x));
}
template <int R, class T, int C = R> auto tiles_to(heads const& x) {
  return be::write_to<R, C>(typed<T>(x));
}

template <class T> void mamba2_gate_run<T>::launch(gate_backward_problem const& x, void* stream) {
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

template <class Of, class T, int D>
void launch_gradients(chunk_gradients_problem const& x, group_slices<Of::C, D> const& slices,
                      void* stream) {
  constexpr int C = Of::C, P = Of::P;
  typename Of::args a{};
  a.q = tiles_from<C, T, D>(x.C);
  a.k = tiles_from<C, T, D>(x.B);
  a.v = tiles_from<C, T, P>(x.x);
  a.dout = tiles_from<C, T, P>(x.dout);
  a.states = tiles_from<D, T, P>(x.states);
  a.gradients = tiles_from<D, T, P>(x.gradients);
  a.dq = tiles_to<C, T, D>(x.dC);
  a.dk = tiles_to<C, T, D>(x.dB);
  a.dv = tiles_to<C, T, P>(x.dx);
  a.slices = slices;
  a.columns = static_cast<int>(x.x.d);
  a.parts = ceil_div(a.columns, P);
  a.tables = x.tables;
  a.left = x.left;
  a.rows = x.rows;
  be::launch<Of>(a, stream);
}

template <class T, int D>
void mamba2_gradients_run<T, D>::launch(chunk_gradients_problem const& x, void* stream) {
  using enum chunk_gradient;
  using sums = group_sums<T, D>;
  int const groups = static_cast<int>(x.B.h), sharing = groups > 0 ? x.rows.h / groups : 1;
  group_slices<sums::C, D> const slices{{x.slices}, groups, sharing, slices_of_group(sharing)};
  if constexpr (!be::tune_mamba2_gradients(D).together) {
    launch_gradients<chunk_gradients<T, D, q, 2, true>, T, D>(x, slices, stream);
    launch_gradients<chunk_gradients<T, D, v, 1, true>, T, D>(x, slices, stream);
  } else if (x.x.d > chunk_gradients<T, D, q, 3, true>::P) {
    launch_gradients<chunk_gradients<T, D, q, 3, true>, T, D>(x, slices, stream);
  } else {
    launch_gradients<chunk_gradients<T, D, q, 3, false>, T, D>(x, slices, stream);
  }
  if (slices.count == 1) return;
  typename sums::args a{};
  a.dB = tiles_to<sums::C, T, D>(x.dB);
  a.dC = tiles_to<sums::C, T, D>(x.dC);
  a.slices = slices;
  a.rows = x.rows;
  be::launch<sums>(a, stream);
}

template <class T>
void mamba2_step_gradients_run<T>::launch(step_gradients_problem const& x, void* stream) {
  be::launch<step_gradients<T>>(x, stream);
  using totals = column_totals<T>;
  int const rows = x.rows.blocks(x.C), h = x.rows.h;
  typename totals::args sums{{}, 0, rows, h, x.stride};
  sums.of[sums.count++] = {x.of_A, x.dA.data, x.dA.h_stride};
  if (x.ddt_bias.given) sums.of[sums.count++] = {x.of_bias, x.ddt_bias.data, x.ddt_bias.h_stride};
  if (x.dD.given && !x.dD.of_columns) sums.of[sums.count++] = {x.of_D, x.dD.data, x.dD.h_stride};
  be::launch<totals>(sums, stream);
  if (!x.dD.given || !x.dD.of_columns) return;
  // Rows of dD lie one after another, or each is summed for itself.
  bool const flat = x.dD.h_stride == x.p * x.dD.p_stride;
  typename totals::args columns{{}, 1, rows, flat ? h * x.p : x.p, h * x.p};
  for (int head = 0; head < (flat ? 1 : h); ++head) {
    columns.of[0] = {x.left.skipped_columns + head * x.p, x.dD.data + head * x.dD.h_stride,
                     x.dD.p_stride};
    be::launch<totals>(columns, stream);
  }
}

}  // namespace tk
