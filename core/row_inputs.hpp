// SPDX-License-Identifier: MIT
// The inputs of the rows that a worker has at once (core/row_group.hpp): tiles, and what is on its
// way to those of the next rows.
#pragma once
#include "core/block.hpp"
#include "core/row_ends.hpp"
#include "core/row_part.hpp"
#include "core/rows_across.hpp"

namespace tk {

// The tiles of the inputs from the I-th on.
template <class Op, int R, int N, int I = 0, bool End = I == Op::inputs>
struct input_tiles : input_tiles<Op, R, N, I + 1> {
  reg_tile<typename Op::template input<I>, R, N> tile;
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
    auto const load = [&](auto const& rows) __attribute__((always_inline)) {
      tk::load<abreast, kernel::whole, columns_each<op>(I)>(to, rows, a_.in[I].vector_width, at.row,
                                                            col);
    };
    if (!is_there(I))
      for (auto& e : to.e) e = {};
    else if constexpr (has_row_ends<op>())
      load(ended(kernel::template input_rows<I>(a_, at), op::ends(a_.op)));
    else load(kernel::template input_rows<I>(a_, at));
  }
  // All of rows at any place: tiles are made when all is asked for.
  TK_DEVICE void read_across(place const& at, int col) {
    asked asking;
    ask_across(asking, at, col);
    take(asking, col);
  }
  // The next rows, which are on their way then; and their tiles.
  TK_DEVICE void ask(place const& at, int col) {
    if constexpr (kernel::across) ask_across(next_, at, col);
    else
      for_each_index<count>(
          [&](auto i) __attribute__((always_inline)) { read<i>(tile_of<i>(next_), at, col); });
  }
  TK_DEVICE void take_asked([[maybe_unused]] int col) {
    if constexpr (kernel::across) take(next_, col);
    else tiles_ = next_;
  }

 private:
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
      else
        for (auto& e : tile<i>().e) e = {};
    });
  }

  using next = std::conditional_t<kernel::across, asked, input_tiles<op, R, N>>;
  typename kernel::args const& a_;
  input_tiles<op, R, N> tiles_;
  [[no_unique_address]] std::conditional_t<kernel::ahead, next, no_memory> next_;
};

}  // namespace tk
