// SPDX-License-Identifier: MIT
// Where the rows of the row template end (core/row_kernel.hpp): at the width, or before it where an
// op says so, and then no more of them is read.
#pragma once
#include "core/row_operand.hpp"
#include "core/row_part.hpp"

namespace tk {

// Rows that end where `ends` says.
template <class Rows, class Ends> struct ended_rows {
  Rows of;
  Ends const& ends;
  std::int64_t cols;
};
template <class Rows, class Ends> TK_BOTH auto line_of(ended_rows<Rows, Ends> const& x, int row) {
  return line_of(x.of, row);
}
template <class Rows, class Ends>
TK_BOTH std::int64_t end_of(ended_rows<Rows, Ends> const& x, int row) {
  if (!x.ends.differ()) return x.cols;
  std::int64_t const end = x.ends.of(row);
  return end < x.cols ? end : x.cols;
}

template <class Rows, class Ends>
TK_BOTH ended_rows<Rows, Ends> ended(Rows const& x, Ends const& ends) {
  return {x, ends, x.cols};
}

// The ends of a lane's rows.
template <class Kernel> class row_ends {
  using kernel = Kernel;
  using op = typename Kernel::op;
  using args = typename kernel::args;
  static constexpr int R = kernel::R, abreast = kernel::abreast;
  static constexpr int count = be::fragment_map<R, kernel::N>::rows_per_lane;
  using places = flat_places<R, kernel::N, abreast>;

 public:
  // Whether some rows end before the width.
  static TK_DEVICE bool differ([[maybe_unused]] args const& a) {
    if constexpr (has_row_ends<op>()) return op::ends(a.op).differ();
    else return false;
  }
  // Of the rows from `row` on.
  TK_DEVICE void find(args const& a, [[maybe_unused]] int row) {
    TK_UNROLL
    for (int& end : of_) end = a.width;
    if constexpr (has_row_ends<op>()) {
      if (!differ(a)) return;
      TK_UNROLL
      for (int r = 0; r < count; ++r) {
        int const end = op::ends(a.op).of(row + places::lane_row() + places::row(r));
        of_[r] = end < a.width ? end : a.width;
      }
    }
  }
  TK_DEVICE int const (&of_lane() const)[count] { return of_; }
  // Whether all of the rows have, or none has, what this lane has of V columns from `col` on.
  template <int V> TK_DEVICE bool has_all(int col) const {
    using map = be::fragment_map<R, V>;
    constexpr int last = map::col(map::count / map::rows_per_lane - 1);
    int const lane = col + flat_places<R, V, abreast>::lane_col();
    bool all = !kernel::shifted || lane >= 0;
    TK_UNROLL
    for (int const end : of_) all = all && lane + last < end;
    return all;
  }
  // Whether the op ends none of the rows there. What is outside of all rows is not written anyway.
  template <int V> TK_DEVICE bool none_ends(args const& a, int col) const {
    return !differ(a) || has_all<V>(col);
  }
  template <int V> TK_DEVICE bool has_none(int col) const {
    int const lane = col + flat_places<R, V, abreast>::lane_col();
    bool none = true;
    TK_UNROLL
    for (int const end : of_) none = none && lane >= end;
    return none;
  }

 private:
  int of_[count];
};

}  // namespace tk
