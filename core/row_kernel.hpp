// SPDX-License-Identifier: MIT
// The row template: an op that works on rows says what it reads, reduces, computes and writes; how
// rows lie in lanes, warps and blocks, how they stream and what stays in registers is decided here.
//   struct op {
//     static constexpr int inputs, outputs, vectors, held;   // held: numbers kept of each element
//     template <int I> using input = ...;                    // element types of what is read
//     template <int I> using output = ...;                   //                  and written
//     struct args { ... };
//     static int passes(args const&);                        // calls below, for one row
//     template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a);
//   };
// run() sees some rows at once; a value per row is a reg_col. f(p) gives an expression of p, a part
// of the rows' columns, where p(row_input<I>) is what is read, 0 where that is absent;
// p(row_vector<I>) a value per column, 1 or 0 (vector_default) where absent; p(kept) what keep
// gave.
//   keep(f)            f, computed once where rows fit into registers, else wherever it is used
//   sum(f), max(f)     over each row; sum_both(f, g) is two sums in one pass
//   max_and_sum(f, factor)
//                      the maximum of factor f, and the sum of exp2(factor f - maximum); factor is
//                      above 0, and 1 where it is not said
//   max_and_sums(f, factor, g, wants)
//                      that of g, too, in the same pass, where it is wanted
//   keep_exp2(f, factor), keep_exp2(f, factor, g, wants)
//                      the same, and keeps exp2(factor f - maximum), `each`
//   each(body)         body(p) writes by p.write(row_output<I>, f), which is nothing where absent;
//                      as the other fp8 U where `other`, by p.write_either<U>(row_output<I>, f,
//                      other); two outputs that share operands by p.write(row_output<I>, f,
//                      row_output<J>, g), element by element, for which lanes hold less;
//                      and adds f to sums over all rows by p.add(column_sum<I>, f), of Op::sums
//   p.inside(f)        f, and 0 from the row's end on
//   p.keep_random(f, plane, below)
//                      f where the byte that the plane has for the row's number among all rows and
//                      the column (core/random.hpp, rows) is not below `below`, else 0
//   p.rotate_pairs(f)  pairs of columns (a, b) become (-b, a), where Op::pairs
//   value<T>(row_value<I>, f), column_of<T>(row_value<I>)
//                      what is read for each row, of Op::values: value(v, f) is f of it, column_of
//                      a column, -1 where the row has no such one; put(v, x) writes
//   element(row_input<I>, column)
//                      what is read there, 0 where that is no column, a column when it is wanted;
//                      p.one_at(column) is 1 there, and p.has(column) false where none of this
//                      part's columns is one of these
// An op with keep_random says `random`; one of one pass may say `once`, so that long rows need not
// stay. It may say where rows end:
//   ends(args)         `.differ()`: whether some do before the width; then `.of(i)`: at which
//                      column row i does, which may be below 0 or beyond the width. From there on
//                      nothing counts, and inputs need not be read: they are 0 or what they are
// It may say of its inputs
//   columns_each(i)    2: each element of input i is two columns', where Op::pairs
//   input_like(i)      the input whose strides input i has, too, and of its outputs output_like(i)
//   lies_anyhow(i)     whether rows of input i seldom lie evenly through all matrices
//   number_of(i)       which of the values, the same for all such inputs, say that input i is a
//                      table, if they are there: in row r, whose number is n, its row
//                      place(args, n, r), or 0 where it has none
// Order     a row belongs to one worker, or to the workers of a block or of a cluster's, and is
//           summed in the order of its class, which follows the width, the types and what an op
//           says of itself: equal bits whatever rows are beside it.
//           A column's sums are over the rows of a task in order, then over warps and workers;
//           core/column_totals.hpp adds up those of tasks.
// Memory    Class says how wide the tiles are. Rows that fit into them stay in registers and are
//           read once. The last class takes rows of any length piece by piece, in every pass; where
//           the ring holds all pieces, they are read from it. They go through the ring where its
//           copies take them; all others go straight to registers. Rows that do not begin and end
//           at multiples of 16 bytes are Shifted: a tile's columns begin at the boundary before it,
//           or lanes exchange what they have of the same chunk (across).
#pragma once
#include <algorithm>

#include "backends/kernel.hpp"
#include "core/row_args.hpp"
#include "core/row_group.hpp"
#include "core/row_operand.hpp"
#include "core/row_vectors.hpp"
#include "core/schedule.hpp"

namespace tk {

// The first output or input.
template <class Op, bool Output> struct first_operand {
  using type = typename Op::template input<0>;
};
template <class Op> struct first_operand<Op, true> {
  using type = typename Op::template output<0>;
};

// Of a lane's rows at most so many numbers, or one run of columns.
template <int R, int C> constexpr int columns_at_once(int numbers) {
  using map = be::fragment_map<R, C>;
  constexpr int runs = map::count / map::rows_per_lane / 8, each = 8 * map::rows_per_lane;
  int n = runs;
  while (n > 1 && (runs % n != 0 || n * each > numbers)) --n;
  return C / runs * n;
}

template <class Op, int Class, bool Shifted, bool Lean = false> struct row_kernel {
  using op = Op;
  static constexpr int inputs = Op::inputs, element_bytes = load_of<Op, Lean>.element_bytes;
  static constexpr bool lean = Lean;
  static constexpr auto tune = be::tune_rows(Class, load_of<Op, Lean>);
  static constexpr bool shared = tune.shared,
                        is_long = Class >= be::row_long_class(load_of<Op, Lean>);
  // Rows at any place. Where they are summed, or go straight to registers and to one output, lanes
  // have the same columns of each row and move them by core/rows_across.hpp; all lanes of a warp
  // write together then, whatever numbers of rows say. Else columns are shifted.
  // Pieces of three inputs would spill: they move element by element.
  static constexpr bool same_columns =
      (column_sums_of<Op>() > 0 && !(is_long && load_of<Op, Lean>.inputs > 2)) ||
      (tune.per_unit > 0 && load_of<Op, Lean>.outputs == 1);
  static constexpr bool across = Shifted && be::moves_across && same_columns && !has_pairs<Op>() &&
                                 row_values_of<Op>() == 0,
                        shifted =
                            Shifted && !across && column_sums_of<Op>() == 0 && !has_pairs<Op>();
  static constexpr int abreast = tune.abreast;
  // Short rows are counted through all matrices: one may have fewer than a group.
  static constexpr bool counted = abreast > 1;
  // Rows of all operands begin and end at multiples of 16 bytes.
  static constexpr bool whole = !Shifted && rows_shift<Op>;
  static constexpr int sums = load_of<Op, Lean>.sums;
  // Of rows at any place a lane has one; where they are shifted, tiles have room for it.
  static constexpr int R = !shifted && !across     ? tune.R
                           : rows_in_warps<tune.R> ? be::worker_warps
                                                   : 1;
  static constexpr int N =
      tune.N + (shifted && shared && !is_long && tune.per_unit == 0 ? 1024 : 0);
  static constexpr int slots = tune.stages * tune.N / N;
  static constexpr int per_unit = tune.per_unit, blocks_per_unit = tune.blocks;
  static_assert(sums == 0 || blocks_per_unit == 1,
                "ops/row_sizes.hpp counts tasks that leave sums");
  // Of long rows; inputs are in slots of their own, held at once. Copies seldom take rows at any
  // place that are not shifted: these are read.
  static constexpr bool has_ring = is_long && reads_plain_rows<Op>() && Shifted == shifted &&
                                   abreast == 1 && slots > 1 && slots >= inputs;
  // Registers hold the next rows, too, which are asked for before these are computed.
  static constexpr int in_lane = be::fragment_map<R, N>::count / flat_rows_per_lane<R>;
  static constexpr bool ahead = tune.ahead && !shifted && !(across && in_lane > (shared ? 16 : 8));
  // Where a worker is more than one lane, numbers of rows are read before tables.
  static constexpr bool has_tables = numbers_of<Op>() >= 0 && !whole_rows;
  // Caches are asked for the next rows.
  static constexpr bool fetches = tune.fetch && !ahead && !shifted;
  static constexpr int workers = tune.workers, cluster = tune.cluster,
                       stages = has_ring ? slots : 1, own_slots = 1;
  static constexpr bool loads_alone = true;
  static constexpr int group = (shared ? 1 : workers) * R * abreast;         // rows of a step
  static constexpr int span = shared ? cluster * workers * N : N / abreast;  // and columns
  // Workers of a block whose row has `width` columns, or may begin some before.
  static TK_BOTH int workers_for(int width) {
    int const columns = (width > 0 ? width : 1) + (shifted ? shift_room : 0);
    return shared && per_unit > 0 ? ceil_div(columns, cluster * N) : workers;
  }
  // This worker's number among those that share a row.
  template <class Context> static TK_DEVICE int worker_of(Context const& c) {
    if constexpr (cluster > 1) return c.blocks.rank() * tk::workers_of(c) + c.w.id();
    else return c.w.id();
  }
  static TK_BOTH int workers_of(row_args<Op> const& a) { return workers_for(a.width); }
  // Where rows are shifted, columns begin as those of this operand: of direct ops the first output,
  // if it is there, else the first input.
  static constexpr bool shifts_by_output = per_unit > 0 && Op::outputs > 0;
  using lead = typename first_operand<Op, shifts_by_output>::type;
  static constexpr int shift_room = (chunk_of<lead> > chunk_of<typename Op::template input<0>>
                                         ? chunk_of<lead>
                                         : chunk_of<typename Op::template input<0>>)-1;
  // The longest rows that it is for, where it is not the last class, which takes any.
  static constexpr std::int64_t longest =
      std::int64_t{span} * (!is_long   ? 1
                            : has_ring ? stages / load_of<Op, Lean>.inputs
                                       : 0) -
      (shifted ? shift_room : 0);
  // Columns that are computed at once: of whole rows, as many as registers hold; those that are
  // summed at once; and those that are kept at once, with random bytes two runs, for which a lane
  // draws once.
  static constexpr int V = !whole_rows       ? columns_at_once<R, N>(8)
                           : has_pairs<Op>() ? 32  // what is rotated is copied
                           : N <= 128        ? 64  // a line of bytes
                                             : 128,
                       summed_at_once = !whole_rows        ? V
                                        : N < pass_columns ? N
                                                           : pass_columns,
                       kept_at_once = has_random<Op>() && !whole_rows ? columns_at_once<R, N>(16)
                                                                      : summed_at_once;
  template <class W>
  static constexpr bool holds_vectors =
      Op::vectors > 0 && !shifted && !is_long && tune.hold >= static_cast<int>(sizeof(W)) &&
      !(across && in_lane > 8);
  // Where registers have no room for them, beside the next rows, each lane's are in shared memory.
  static constexpr bool parks_vectors =
      Op::vectors > 0 && across && !is_long && in_lane > 8 && tune.hold > 0;
  // Or they are read as fp32, whatever their type: a part at a time takes no more registers, and
  // kernels that shift rows are half as long.
  static constexpr bool widens_vectors = Op::vectors > 0 && shifted &&
                                         sizeof(typename Op::template input<0>) < 4;

  struct slot {
    alignas(128) unsigned char of[workers][R * N * element_bytes];
  };
  using stage = std::conditional_t<has_ring, slot, no_memory>;
  struct own {};
  // Whether several warps have sums of the same column. They add them up in turn, each worker's
  // scratch having some of the columns.
  static constexpr int turns = rows_in_warps<R> ? be::worker_warps : 1;  // of a worker
  static constexpr bool sums_meet = sums > 0 && !is_long && !shared && workers * turns > 1;
  struct column_sums {
    float of[sums > 0 ? sums : 1][N / abreast / workers];
  };
  // Empty members keep their byte: with [[no_unique_address]] nvcc 13.0 steps through an array of
  // these by more than their size.
  struct scratch {
    row_exchange<R, shared, cluster> exchange;
    std::conditional_t<sums_meet, column_sums, no_memory> sums;
    std::conditional_t<parks_vectors, parked_vectors<Op::vectors, R, N>, no_memory> vectors;
  };
  using args = row_args<Op>;
  struct task {
    int first, last, by, steps;  // groups
    int index;
    int rank;  // of the block in its cluster
  };

  // Multiprocessors that all wait for memory don't get equal shares of it: some groups are dealt
  // late, a few at a time, to those that are done.
  static constexpr int late_share = 16, late_groups = 4;  // one group in 16; by tasks of 4
  // How groups are dealt: to so many tasks, in turn or side by side. Rows that are moved at a time
  // should lie together, and tasks should end together: short ones have tasks of a few groups, of
  // fewer where not as many tasks as run at a time would be left, which the hardware deals to
  // multiprocessors that are done; longer ones, of which the next are asked for, several times as
  // many tasks as run at a time, in turn; of clusters, which begin slowly, fewer. Where sums are
  // left, or blocks stay, tasks are as many as run.
  struct dealing {
    int tasks, in_turn;
  };
  static dealing deal(int groups, int units, int clusters, std::int64_t width, int passes) {
    constexpr int waves = cluster > 1 ? 8 : 32;
    constexpr std::int64_t few = 16 * 1024;  // bytes
    constexpr bool many = per_unit > 0 && sums == 0;
    std::int64_t const bytes = width * element_bytes * group;
    if (many && bytes <= few / 2) {
      int const each = shared ? workers_for(static_cast<int>(width)) : workers,
                at_a_time = units * per_unit * workers / each,
                tasks = ceil_div(groups, static_cast<int>(few / (bytes > 0 ? bytes : 1)));
      return {std::max(tasks, std::min(groups, at_a_time)), false};
    }
    int most = units * (many ? per_unit * waves : blocks_per_unit * be::row_tasks_per_unit(width));
    if constexpr (cluster > 1) {
      most = clusters * (many ? waves : 1);
      most = most > 0 ? most : 1;
    }
    // Where rows are computed long after they were read, the next ones should be on their way.
    bool const in_twos = many && cluster == 1 && passes > 1 && groups >= 16 * units * per_unit;
    int const each = std::max(ceil_div(groups, most), in_twos ? 2 : 1);
    return {ceil_div(groups, each), be::rows_in_turn};
  }
  static TK_BOTH int tasks(args const& a) {
    return a.planned_tasks + ceil_div(a.groups - a.planned, late_groups);
  }
  static TK_BOTH task task_at(args const& a, int i, int rank) {
    task t{i, a.planned, a.planned_tasks, 0, i, rank};
    if (int const late = i - a.planned_tasks; late >= 0) {
      int const first = a.planned + late * late_groups, last = first + late_groups;
      t = {first, last < a.groups ? last : a.groups, 1, 0, i, rank};
    } else if (!a.in_turn) {
      std::int64_t const first = std::int64_t{i} * a.in_task, last = first + a.in_task;
      t.first = static_cast<int>(first < a.planned ? first : a.planned);
      t.last = static_cast<int>(last < a.planned ? last : a.planned);
      t.by = 1;
    }
    if (a.through_ring) t.steps = ceil_div(t.last - t.first, t.by) * steps_of_group(a);
    return t;
  }
  static TK_BOTH int pieces(args const& a) { return is_long ? a.pieces : 1; }
  static TK_BOTH int present(args const& a) {
    return load_of<Op, Lean>.inputs == 1 ? 1 : a.present;
  }
  // Of each piece all inputs that are there.
  static TK_BOTH int steps_of_group(args const& a) {
    return (!is_long || a.pieces_fit_ring ? 1 : a.passes) * pieces(a) * present(a);
  }
  // A worker's part of a group.
  struct place {
    int row, i, j;  // in matrix (i, j)
  };
  static TK_BOTH place place_of(args const& a, int group, int worker) {
    place p{0, 0, 0};
    if (!counted && a.groups_of_matrix < a.groups) {
      auto const parts = a.by_groups.of(group);
      auto const matrix = a.by_n1.of(a.matrices_in_turn ? parts.rest : parts.quotient);
      group = a.matrices_in_turn ? parts.quotient : parts.rest;
      p.i = matrix.quotient, p.j = matrix.rest;
    }
    p.row = group * row_kernel::group + (shared ? 0 : worker * R * abreast);
    return p;
  }
  static TK_BOTH int col_of(int piece, int worker) {
    return piece * span + (shared ? worker * N : 0);
  }
  // An operand's rows, which lie as those of another one do: those of one matrix, or all.
  template <class T, bool Anyhow = false>
  static TK_BOTH auto rows_of(row_memory const& x, row_memory const& like, args const& a,
                              place const& at) {
    auto* const data = static_cast<T*>(x.data);
    if constexpr (counted)
      return counted_rows<T>{data,
                             a.all_rows,
                             a.width,
                             like.row_stride,
                             like.stride0,
                             like.stride1,
                             !Anyhow && like.evenly != 0,
                             a.by_rows,
                             a.by_n1};
    else
      return tensor<T>{data + (steps_of(at.i, like.stride0) + steps_of(at.j, like.stride1)), a.rows,
                       a.width, like.row_stride};
  }
  template <class T, bool Anyhow = false>
  static TK_BOTH auto rows_of(row_memory const& x, args const& a, place const& at) {
    return rows_of<T, Anyhow>(x, x, a, at);
  }
  static TK_BOTH int row_count(args const& a) { return counted ? a.all_rows : a.rows; }
  // Before row r there are matrix_of rows + r of all matrices.
  static TK_BOTH int matrix_of(args const& a, place const& at) {
    return counted ? 0 : at.i * a.n1 + at.j;
  }
  // Those of an input.
  template <int I> static TK_BOTH auto input_rows(args const& a, place const& at) {
    using type = typename Op::template input<I> const;
    auto const& x = a.in[I];
    constexpr bool anyhow = lies_anyhow<Op>(I);
    auto const rows = rows_of<type, anyhow>(x, a.in[input_like<Op>(I)], a, at);
    constexpr int by = number_of<Op>(I);
    static_assert(by < 0 || by == numbers_of<Op>(), "all tables have the same numbers");
    if constexpr (by < 0) {
      return rows;
    } else {
      auto const number = [&a, at](int row) -> std::int64_t {
        auto const read = [&]<class N>(N) -> std::int64_t {
          return *rows_of<N const, anyhow>(a.values[by], a, at).at(row, 0);
        };
        return Op::place(a.op, a.numbers_are_wide ? read(std::int64_t{}) : read(std::int32_t{}),
                         matrix_of(a, at) * a.rows + row);
      };
      return numbered_rows<decltype(rows), type, decltype(number)>{
          rows,    static_cast<type*>(x.data),   x.table_rows, x.row_stride,
          a.width, a.values[by].data != nullptr, number};
    }
  }
  template <int I> using vectors_of = shared_vec<typename Op::template input<I>, N>[R];
  template <int I, class Stage> static TK_DEVICE auto& slot_of(Stage& s, int worker) {
    using to = vectors_of<I>;
    if constexpr (std::is_const_v<Stage>) return reinterpret_cast<to const&>(s.of[worker]);
    else return reinterpret_cast<to&>(s.of[worker]);
  }

  static TK_DEVICE void load([[maybe_unused]] stage& s, [[maybe_unused]] args const& a,
                             [[maybe_unused]] task const& t, [[maybe_unused]] int step,
                             [[maybe_unused]] be::arrival done) {
    if constexpr (has_ring) {
      divisor::parts const in_task = a.by_steps.of(step);
      divisor::parts in_group{in_task.rest, 0};
      if constexpr (load_of<Op, Lean>.inputs > 1) in_group = a.by_present.of(in_task.rest);
      int const group = t.first + in_task.quotient * t.by,
                piece = is_long ? a.by_pieces.of(in_group.quotient).rest : 0;
      int which = in_group.rest;
      for_each_index<inputs>([&](auto i) __attribute__((always_inline)) {
        if (!a.in[i].data || which-- != 0) return;
        for (int w = 0; w < workers; ++w) {
          auto const at = place_of(a, group, w);
          load_async(slot_of<i>(s, w), input_rows<i>(a, at), at.row,
                     col_of(piece, t.rank * workers + w), done);
        }
      });
    }
  }

  template <class W, class Context>
  static TK_DEVICE void run(Context& c, args const& a, task const& t) {
    row_group<row_kernel, W, Context> rows(c, a, t.index);
    auto const place = [&](int group) { return place_of(a, group, c.w.id()); };
    auto const ask_numbers = [&](int group) {
      if (has_tables && group < t.last) rows.ask_numbers(place(group));
    };
    ask_numbers(t.first);
    if (ahead && t.first < t.last) rows.ask(place(t.first)), ask_numbers(t.first + t.by);
    for (int group = t.first; group < t.last; group += t.by) {
      rows.begin(place(group));
      if (int const next = group + t.by; next < t.last) {
        rows.ask(place(next));
        ask_numbers(ahead ? next + t.by : next);
      }
      Op::run(rows, a.op);
    }
    rows.finish();
    rejoin<R, shared>(c);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    using base = typename Op::template input<0>;
    if constexpr (widens_vectors) {
      run<float>(c, a, t);
    } else {
      if constexpr (Op::vectors > 0 && sizeof(base) < 4)
        if (a.vectors_are_fp32) return run<float>(c, a, t);
      run<base>(c, a, t);
    }
  }
};

}  // namespace tk
