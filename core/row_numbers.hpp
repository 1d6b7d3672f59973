// SPDX-License-Identifier: MIT
// What the row template reads of numbers of rows (core/row_kernel.hpp), for the rows of a lane at
// one place.
#pragma once
#include "core/row_operand.hpp"
#include "core/row_part.hpp"

namespace tk {

template <class Kernel> struct row_numbers {
  static constexpr int R = Kernel::R, N = Kernel::N;
  using places = flat_places<R, N, Kernel::abreast>;
  using args = typename Kernel::args;
  using place = typename Kernel::place;
  using column = reg_col<float, R>;
  using columns = row_columns<R>;

  // The number of the lane's first row among those of all matrices.
  static TK_DEVICE int first_row(args const& a, place const& at) {
    return Kernel::matrix_of(a, at) * a.rows + at.row + places::lane_row();
  }
  // body(r, row) for each of its rows that is there.
  template <class Body>
  static TK_DEVICE void for_each_row(args const& a, place const& at, Body body) {
    TK_UNROLL
    for (int r = 0; r < be::fragment_map<R, N>::rows_per_lane; ++r) {
      int const row = at.row + places::lane_row() + places::row(r);
      if (row < Kernel::row_count(a)) body(r, row);
    }
  }
  template <class T, int I, class F>
  static TK_DEVICE column value(args const& a, place const& at, F f) {
    column x = 0.f;
    auto const of = Kernel::template rows_of<T const>(a.values[I], a, at);
    for_each_row(a, at, [&](int r, int row) { x.e[r] = f(*of.at(row, 0)); });
    return x;
  }
  template <class T, int I> static TK_DEVICE columns column_of(args const& a, place const& at) {
    columns x;
    TK_UNROLL
    for (int& e : x.e) e = -1;
    auto const of = Kernel::template rows_of<T const>(a.values[I], a, at);
    for_each_row(a, at, [&](int r, int row) {
      T const column = *of.at(row, 0);
      if (column >= 0 && column < a.width) x.e[r] = static_cast<int>(column);
    });
    return x;
  }
  template <int I>
  static TK_DEVICE auto element(args const& a, place const& at, columns const& of_rows) {
    row_elements<typename Kernel::op::template input<I>, R> x{};
    auto const of = Kernel::template input_rows<I>(a, at);
    for_each_row(a, at, [&](int r, int row) {
      if (auto const line = line_of(of, row); line.there && of_rows.e[r] >= 0)
        x.e[r] = line.data[of_rows.e[r] / columns_each<typename Kernel::op>(I)];
    });
    return x;
  }
};

// Which rows of tables the rows of a lane read: their numbers are asked for, and on their way until
// they are taken.
template <class Kernel> class table_places {
  using op = typename Kernel::op;
  using args = typename Kernel::args;
  using place = typename Kernel::place;
  using numbers = row_numbers<Kernel>;
  static constexpr int by = numbers_of<op>(), count = flat_rows_per_lane<Kernel::R>;

 public:
  TK_DEVICE void ask(args const& a, place const& at) {
    if (!a.values[by].data) return;
    numbers::for_each_row(a, at, [&](int r, int row) {
      auto const read = [&]<class T>(T) {
        constexpr bool anyhow = lies_anyhow<op>(first_table<op>());
        return *Kernel::template rows_of<T const, anyhow>(a.values[by], a, at).at(row, 0);
      };
      if (a.numbers_are_wide) {
        auto const both = read(std::uint64_t{});
        low_[r] = static_cast<std::uint32_t>(both);
        high_[r] = static_cast<std::uint32_t>(both >> 32);
      } else {
        low_[r] = read(std::uint32_t{});
      }
    });
  }
  TK_DEVICE void take(args const& a, place const& at) {
    if (!a.values[by].data) return;
    TK_UNROLL
    for (auto& e : of_) e = -1;
    numbers::for_each_row(a, at, [&](int r, int row) {
      std::int64_t number = static_cast<std::int32_t>(low_[r]);
      if (a.numbers_are_wide)
        number = static_cast<std::int64_t>(std::uint64_t{high_[r]} << 32 | low_[r]);
      std::int64_t const of = op::place(a.op, number, Kernel::matrix_of(a, at) * a.rows + row);
      of_[r] = of == static_cast<int>(of) ? static_cast<int>(of) : -1;
    });
  }
  TK_DEVICE int of(int r) const { return of_[r]; }

 private:
  std::uint32_t low_[count], high_[count];
  int of_[count];
};

}  // namespace tk
