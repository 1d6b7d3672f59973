// SPDX-License-Identifier: MIT
// Where a lane's rows of the outputs are (core/row_kernel.hpp): found once for all parts of their
// columns, but where rows are shifted and stay in registers, which leaves no room.
#pragma once
#include "core/row_operand.hpp"
#include "core/row_part.hpp"
#include "core/rows_across.hpp"

namespace tk {

template <class Kernel> class row_outputs {
  using kernel = Kernel;
  using op = typename Kernel::op;
  using args = typename kernel::args;
  using place = typename kernel::place;
  static constexpr int count = be::fragment_map<kernel::R, kernel::N>::rows_per_lane;
  using places = flat_places<kernel::R, kernel::N, kernel::abreast>;
  template <int I> using type = typename op::template output<I>;
  static constexpr bool found = !whole_rows && (!kernel::shifted || kernel::is_long);

 public:
  TK_DEVICE void find([[maybe_unused]] args const& a, [[maybe_unused]] place const& at) {
    if constexpr (found)
      for_each_index<op::outputs>([&](auto i) __attribute__((always_inline)) {
        if (!is_there<i>(a)) return;
        auto const all =
            kernel::template rows_of<type<i>>(a.out[i], a.out[output_like<op>(i)], a, at);
        TK_UNROLL
        for (int r = 0; r < count; ++r) of_[i][r] = line_of(all, row_of(at, r)).data;
      });
  }
  template <int I> static TK_DEVICE bool is_there(args const& a) {
    return (has_extras<op>() && I < extras_of<op>().outputs) || a.out[I].data;
  }
  // Columns of them from `col` on, as T, become y. Inside: all rows have all of these.
  template <class T, int I, bool Inside, class Y>
  TK_DEVICE void put(args const& a, place const& at, int col, Y const& y) const {
    static_assert(sizeof(T) == sizeof(type<I>));
    auto const to = rows<T, I>(a, at);
    int const width = a.out[I].vector_width;
    if constexpr (kernel::across) store_across<kernel::abreast>(to, width, at.row, col, y);
    else store<kernel::abreast, kernel::whole, Inside>(to, width, at.row, col, y);
  }
  // The same, where it is there, as its type of fp8, or as U where `other`.
  template <class U, int I, bool Inside, class Y>
  TK_DEVICE void put_either(args const& a, place const& at, int col, Y&& y, bool other) const {
    if constexpr (kernel::lean && I >= extras_of<op>().outputs) return;
    if (!is_there<I>(a)) return;
    put<type<I>, I, Inside>(a, at, col, saturating_cast<type<I>, U>(static_cast<Y&&>(y), other));
  }

 private:
  template <class T, int I> TK_DEVICE auto rows(args const& a, place const& at) const {
    if constexpr (!found) {
      return kernel::template rows_of<T>(a.out[I], a, at);
    } else {
      found_rows<T, count> x{{}, {}, a.width};
      TK_UNROLL
      for (int r = 0; r < count; ++r) {
        x.data[r] = static_cast<T*>(of_[I][r]);
        x.there[r] = row_of(at, r) < kernel::row_count(a);
      }
      return x;
    }
  }
  static TK_DEVICE int row_of(place const& at, int r) {
    return at.row + places::lane_row() + places::row(r);
  }
  void* of_[found && op::outputs > 0 ? op::outputs : 1][count];
};

}  // namespace tk
