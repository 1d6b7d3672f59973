// SPDX-License-Identifier: MIT
// The inputs of the rows that a worker has at once (core/row_group.hpp): tiles, and what is on its
// way to those of the next rows. A worker of one lane reads where they lie, but where a result is
// to lie there as well, and asks its caches for the next ones when it writes.
#pragma once
#include "core/block.hpp"
#include "core/row_ends.hpp"
#include "core/row_numbers.hpp"
#include "core/row_part.hpp"
#include "core/rows_across.hpp"

namespace tk {

// Beside random bytes g++ 12.2 reads these before they are drawn where rows are in place, but not
// with -fno-strict-aliasing.
template <class Op, int I>
inline constexpr bool is_in_place = whole_rows && columns_each<Op>(I) == 1 && !has_random<Op>();
template <class Op, int R, int N, int I, class T = typename Op::template input<I>>
using input_tile =
    std::conditional_t<is_in_place<Op, I> && std::is_same_v<T, held_element<T>>,
                       rows_in_place<T, R, N>,
                       reg_tile<std::conditional_t<is_in_place<Op, I>, held_element<T>, T>, R, N>>;
// The tiles of the inputs from the I-th on.
template <class Op, int R, int N, int I = 0, bool End = I == Op::inputs>
struct input_tiles : input_tiles<Op, R, N, I + 1> {
  input_tile<Op, R, N, I> tile;
};
template <class Op, int R, int N, int I> struct input_tiles<Op, R, N, I, true> {};
// The words that are asked for, of inputs I to before Count.
template <class Op, int R, int N, int Count, int I = 0, bool End = I == Count>
struct asked_inputs : asked_inputs<Op, R, N, Count, I + 1> {
  asked_rows<typename Op::template input<I>, R, N> rows;
};
template <class Op, int R, int N, int Count, int I>
struct asked_inputs<Op, R, N, Count, I, true> {};

template <class Kernel> class row_inputs {
  using kernel = Kernel;
  using op = typename Kernel::op;
  using place = typename Kernel::place;
  static constexpr int R = kernel::R, N = kernel::N, abreast = kernel::abreast;

 public:
  // Those that may be there.
  static constexpr int count = kernel::lean ? extras_of<op>().inputs : op::inputs;

  TK_DEVICE explicit row_inputs(typename kernel::args const& a) : a_(a) {}
  template <int I> TK_DEVICE auto& tile() { return tile_of<I>(tiles_); }
  template <int I> TK_DEVICE auto const& tile() const {
    return static_cast<input_tiles<op, R, N, I> const&>(tiles_).tile;
  }
  TK_DEVICE bool is_there(int i) const {
    return (has_extras<op>() && i < extras_of<op>().inputs) || a_.in[i].data;
  }
  // From memory.
  template <int I> TK_DEVICE void read(auto& to, place const& at, int col) const {
    using type = typename op::template input<I>;
    auto const load = [&](auto const& rows) __attribute__((always_inline)) {
      constexpr int each = columns_each<op>(I);
      if constexpr (!whole_rows)
        tk::load<abreast, kernel::whole, each>(to, rows, a_.in[I].vector_width, at.row, col);
      else if constexpr (is_in_place<op, I> && std::is_same_v<type, held_element<type>>)
        find<type>(to, rows, at.row, col, passed(col), is_result(I));
      else copy_rows<type, each>(to, rows, at.row, col, passed(col));
    };
    if (!is_there(I)) clear(to, col);
    else load(rows_of<I>(at));
  }
  // The rows after these, and columns of them; caches guess short ones.
  static constexpr bool asks_caches = whole_rows && N > 128;
  TK_DEVICE void find_next([[maybe_unused]] place const& at) {
    if constexpr (asks_caches) {
      after_.end = a_.width;
      if constexpr (has_row_ends<op>())
        if (row_ends<kernel>::differ(a_)) {
          int const end = op::ends(a_.op).of(at.row + R);
          after_.end = end < a_.width ? end : a_.width;
        }
      for_each_index<count>([&](auto i) __attribute__((always_inline)) {
        after_.of[i] = nullptr;
        if (!is_there(i)) return;
        auto const line = line_of(kernel::template input_rows<i>(a_, at), at.row + R);
        if (line.there) after_.of[i] = reinterpret_cast<char const*>(line.data);
      });
    }
  }
  TK_DEVICE void prefetch_next([[maybe_unused]] int col, [[maybe_unused]] int cols) const {
    if constexpr (asks_caches)
      for_each_index<count>([&](auto i) __attribute__((always_inline)) {
        constexpr int bytes = sizeof(typename op::template input<i>), each = columns_each<op>(i);
        if (!after_.of[i]) return;
        int const end = (col + cols < after_.end ? col + cols : after_.end) / each * bytes;
        for (int k = col / each * bytes; k < end; k += 64)
          __builtin_prefetch(after_.of[i] + k, 0, 2);
      });
  }
  // All of rows at any place: tiles are made when all is asked for.
  TK_DEVICE void read_across(place const& at, int col) {
    asked asking;
    ask_across(asking, at, col);
    take(asking, col);
  }
  TK_DEVICE void ask_numbers([[maybe_unused]] place const& at) {
    if constexpr (kernel::has_tables) places_.ask(a_, at);
  }
  TK_DEVICE void take_numbers([[maybe_unused]] place const& at) {
    if constexpr (kernel::has_tables) places_.take(a_, at);
  }
  // The next rows, which are on their way then, or caches are asked for; and their tiles.
  TK_DEVICE void ask(place const& at, int col) {
    if constexpr (!kernel::ahead) {
      fetch(at, col);
    } else if constexpr (kernel::across) {
      ask_across(next_, at, col);
    } else {
      take_numbers(at);
      for_each_index<count>(
          [&](auto i) __attribute__((always_inline)) { read<i>(tile_of<i>(next_), at, col); });
    }
  }
  TK_DEVICE void take_asked([[maybe_unused]] int col) {
    if constexpr (kernel::across) take(next_, col);
    else tiles_ = next_;
  }

 private:
  // Asks caches for rows, but not for those of tables, which rows before them have read, too. What
  // goes over rows once reads the next ones as soon as it has computed these: asked for besides,
  // they made SwiGLU's backward 6 % slower.
  TK_DEVICE void fetch(place const& at, int col) const {
    if (!kernel::has_tables && a_.passes == 1) return;
    for_each_index<count>([&](auto i) __attribute__((always_inline)) {
      using type = typename op::template input<i>;
      constexpr int each = columns_each<op>(i);
      if constexpr (number_of<op>(i) < 0) {
        if (!is_there(i)) return;
        flat_lines<type const, R, N, abreast, each> const from(rows_of<i>(at), at.row, col);
        using map = be::fragment_map<R, N>;
        TK_UNROLL
        for (int k = 0; k < map::count; k += 8) {
          int const r = map::row_index(k), c = map::col(k);
          if (c < from.left[r]) be::prefetch(from.line[r] + c / each);
        }
      }
    });
  }
  // The rows of input I, as far as they are read, and found where their numbers were taken.
  template <int I> TK_DEVICE auto rows_of(place const& at) const {
    auto const all = kernel::template input_rows<I>(a_, at);
    if constexpr (has_row_ends<op>()) {
      return ended(all, op::ends(a_.op));
    } else if constexpr (!kernel::has_tables || number_of<op>(I) < 0) {
      return all;
    } else {
      found_rows<typename op::template input<I> const, flat_rows_per_lane<R>> x{{}, {}, all.cols};
      TK_UNROLL
      for (int r = 0; r < flat_rows_per_lane<R>; ++r) {
        using places = flat_places<R, N, abreast>;
        auto const line = all.numbered
                              ? table_line(all, places_.of(r))
                              : line_of(all.of, at.row + places::lane_row() + places::row(r));
        x.data[r] = line.data, x.there[r] = line.there;
      }
      return x;
    }
  }
  // Whether a result lies where input i does.
  TK_DEVICE bool is_result(int i) const {
    for (auto const& out : a_.out)
      if (out.data == a_.in[i].data) return true;
    return false;
  }
  // Of a tile from column `col` on, so many are looked at.
  TK_DEVICE int passed(int col) const { return columns_passed<N>(a_.width - col); }
  template <class T> TK_DEVICE void clear(rows_in_place<T, R, N>& x, int col) const {
    __builtin_memset(x.copy, 0, sizeof(T) * passed(col));
    x.data = x.copy;
  }
  template <class T> TK_DEVICE void clear(reg_tile<T, R, N>& x, int col) const {
    if constexpr (whole_rows && R == 1) __builtin_memset(x.e, 0, sizeof(T) * passed(col));
    else
      for (auto& e : x.e) e = {};
  }
  using asked = asked_inputs<op, R, N, count>;
  template <int I> static TK_DEVICE auto& tile_of(input_tiles<op, R, N>& x) {
    return static_cast<input_tiles<op, R, N, I>&>(x).tile;
  }
  TK_DEVICE void ask_across(asked& x, place const& at, int col) const {
    for_each_index<count>([&](auto i) __attribute__((always_inline)) {
      if (is_there(i))
        tk::ask<abreast>(static_cast<asked_inputs<op, R, N, count, i>&>(x).rows,
                         kernel::template input_rows<i>(a_, at), at.row, col);
    });
  }
  TK_DEVICE void take(asked const& x, int col) {
    for_each_index<count>([&](auto i) __attribute__((always_inline)) {
      if (is_there(i))
        tk::load<abreast>(tile<i>(), static_cast<asked_inputs<op, R, N, count, i> const&>(x).rows,
                          col);
      else clear(tile<i>(), col);
    });
  }

  using next = std::conditional_t<kernel::across, asked, input_tiles<op, R, N>>;
  typename kernel::args const& a_;
  input_tiles<op, R, N> tiles_;
  struct rows_after {
    char const* of[count];
    int end;
  };
  [[no_unique_address]] std::conditional_t<asks_caches, rows_after, no_memory> after_;
  [[no_unique_address]] std::conditional_t<kernel::ahead, next, no_memory> next_;
  [[no_unique_address]] std::conditional_t<kernel::has_tables, table_places<kernel>, no_memory>
      places_;
};

}  // namespace tk
