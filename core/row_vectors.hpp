// SPDX-License-Identifier: MIT
// Values per column of the row template (core/row_kernel.hpp), the same for all rows: read from
// memory, or parked in a worker's shared memory, where each lane has its own.
#pragma once
#include "core/row_operand.hpp"
#include "core/row_part.hpp"

namespace tk {

// Columns of one, of type W, or where they are widened also of input 0's; a worker of one lane
// takes them where they lie.
template <class Kernel, class W, class E, int R, int V>
TK_DEVICE void read_vector(rows_in_place<E, R, V>& to, typename Kernel::args const&,
                           vector_memory const& from, int cols, int col) {
  auto const* const data = static_cast<W const*>(from.data) + col;
  if constexpr (std::is_same_v<E, W>) {
    to.data = data;
    if (col >= 0 && cols - col >= V) return;
  }
  copy_part<V>(to.copy, data, -col, cols - col);
  to.data = to.copy;
}
template <class E, int R, int V> TK_DEVICE void fill_row(rows_in_place<E, R, V>& to, float x) {
  for (E& e : to.copy) e = round_to<E>(x);
  to.data = to.copy;
}
template <class Kernel, class W, class E, int R, int V>
TK_DEVICE void read_vector(reg_row<E, R, V>& to, typename Kernel::args const& a,
                           vector_memory const& from, int cols, int col) {
  auto const read = [&]<class T>(auto& x, T) __attribute__((always_inline)) {
    tk::load<Kernel::abreast, Kernel::whole>(x, static_cast<T const*>(from.data), cols,
                                             from.vector_width, col);
  };
  if constexpr (Kernel::widens_vectors) {
    if (!a.vectors_are_fp32) {
      using base = typename Kernel::op::template input<0>;
      reg_row<base, R, V> x;
      read(x, base{});
      TK_UNROLL
      for (int k = 0; k < x.count; ++k) to.e[k] = x.value(k);
      return;
    }
  }
  read(to, W{});
}
// For rows that are not there: none of them, none of these. Without Optional, what need not be
// there is not read.
template <class Kernel, class W, bool Optional = true, class Row, int Count>
TK_DEVICE void read_vectors(Row (&to)[Count], typename Kernel::args const& a, int row, int col) {
  using op = typename Kernel::op;
  constexpr int first_optional = extras_of<op>().vectors;
  int const cols = row < Kernel::row_count(a) ? a.width : 0;
  for_each_index<Optional ? op::vectors : first_optional>(
      [&](auto i) __attribute__((always_inline)) {
        auto const& from = a.vectors[i];
        if ((Kernel::lean && i < first_optional) || from.data)
          read_vector<Kernel, W>(to[i], a, from, cols, col);
        else fill_row(to[i], op::vector_default(i));
      });
}

// `Count` rows of values, of up to 4 bytes each, of N columns: in 16 bytes of one lane after
// another.
template <int Count, int R, int N> struct parked_vectors {
  static constexpr int chunks = reg_row<float, R, N>::count / 4;
  alignas(16) std::uint32_t of[Count][chunks][be::worker_lanes][4];
};
// The values of a row, in 16 bytes at a time: body(k, i, e), word i of the k-th is e.
template <class Row, class Body> TK_DEVICE void for_each_word(Row& x, Body body) {
  constexpr int words = static_cast<int>(sizeof(x.e) / 4);
  static_assert(words % 4 == 0, "a lane has runs of 8 values");
  TK_UNROLL
  for (int k = 0; k < words; ++k) body(k / 4, k % 4, x.e[k]);
}
template <int Count, int R, int N, class W>
TK_DEVICE void park(parked_vectors<Count, R, N>& to, reg_row<W, R, N> (&x)[Count]) {
  int const lane = be::worker_lane();
  TK_UNROLL
  for (int v = 0; v < Count; ++v)
    for_each_word(x[v], [&](int k, int i, auto const& e) {
      to.of[v][k][lane][i] = std::bit_cast<std::uint32_t>(e);
    });
}
// Those of the index-th V columns.
template <int Count, int R, int N, int V, class W>
TK_DEVICE void take_parked(reg_row<W, R, V> (&x)[Count], parked_vectors<Count, R, N> const& from,
                           int index) {
  int const lane = be::worker_lane();
  constexpr int each = static_cast<int>(sizeof(x[0].e) / 16);
  TK_UNROLL
  for (int v = 0; v < Count; ++v)
    for_each_word(x[v], [&](int k, int i, auto& e) {
      e = std::bit_cast<std::remove_cvref_t<decltype(e)>>(from.of[v][index * each + k][lane][i]);
    });
}

}  // namespace tk
