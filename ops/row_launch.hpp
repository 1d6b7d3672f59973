// SPDX-License-Identifier: MIT
// From the operands of an op of rows to a launch of core/row_kernel.hpp.
#pragma once
#include <algorithm>
#include <limits>

#include "backends/runtime.hpp"
#include "core/column_totals.hpp"
#include "core/row_kernel.hpp"
#include "core/row_pair.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

// Rows of an input of which a number of each row says which is read.
struct row_table {
  std::int64_t rows, stride;
};

// The operands of Op, by their numbers: all of one shape, a broadcast dimension with a stride of 0.
// data is null in what is absent. Values per column are contiguous, all of input 0's type or fp32.
// An input that numbers say rows of, if they are there, is a table, and its strides here are 0; all
// numbers are of one type, 32 or 64 bits.
template <class Op> struct row_problem {
  typename Op::args op;
  row_tensor_view in[Op::inputs], out[Op::outputs];
  any_tensor vectors[Op::vectors > 0 ? Op::vectors : 1]{};
  any_tensor sums[column_sums_of<Op>() + 1]{};        // of input 0's type or fp32
  row_tensor_view values[row_values_of<Op>() + 1]{};  // one number for each row
  row_table tables[Op::inputs]{};
  bool may_be_lean = true;  // else the bits are those of what has all operands
};

// The rows of an operand as a kernel sees them: of n0 x n1 matrices.
struct merged_rows {
  std::int64_t n0, n1, rows, width;
};

// Joins the dimensions before the last where all operands allow it, so that as few as can be are
// left; the operands' strides follow.
template <class Op> merged_rows merge_rows(row_problem<Op>& x) {
  constexpr int n = Op::inputs + Op::outputs + row_values_of<Op>();
  struct dimension {
    std::int64_t size, stride[n];
  };
  row_tensor_view* operands[n];
  for (int i = 0; i < Op::inputs; ++i) operands[i] = &x.in[i];
  for (int i = 0; i < Op::outputs; ++i) operands[Op::inputs + i] = &x.out[i];
  for (int i = 0; i < row_values_of<Op>(); ++i)
    operands[Op::inputs + Op::outputs + i] = &x.values[i];
  auto const& first = x.in[0];
  dimension left[3]{{1, {}}, {1, {}}, {1, {}}};  // the last is of rows
  int count = 0;
  auto const add = [&](std::int64_t size, std::int64_t row_tensor_view::* stride) {
    if (size == 1) return;
    dimension d{size, {}};
    for (int i = 0; i < n; ++i) d.stride[i] = operands[i]->data ? operands[i]->*stride : 0;
    left[count++] = d;
  };
  add(first.outer, &row_tensor_view::outer_stride);
  add(first.middle, &row_tensor_view::middle_stride);
  add(first.rows, &row_tensor_view::row_stride);
  for (int k = count - 2; k >= 0; --k) {
    auto const &inner = left[k + 1], &outer = left[k];
    bool joins = true;
    for (int i = 0; i < n; ++i)
      if (operands[i]->data) joins = joins && outer.stride[i] == inner.size * inner.stride[i];
    if (!joins) continue;
    dimension const joined{outer.size * inner.size, {}};
    auto const strides = inner;
    left[k] = joined;
    std::copy(strides.stride, strides.stride + n, left[k].stride);
    for (int j = k + 1; j + 1 < count; ++j) left[j] = left[j + 1];
    left[--count] = {1, {}};
  }
  while (count < 3) {  // what is left comes last
    for (int j = 2; j > 0; --j) left[j] = left[j - 1];
    left[0] = {1, {}};
    ++count;
  }
  for (int i = 0; i < n; ++i) {
    operands[i]->outer = left[0].size, operands[i]->outer_stride = left[0].stride[i];
    operands[i]->middle = left[1].size, operands[i]->middle_stride = left[1].stride[i];
    operands[i]->rows = left[2].size, operands[i]->row_stride = left[2].stride[i];
  }
  return {left[0].size, left[1].size, left[2].size, first.width};
}

template <class T> tensor<T const> rows_in(row_tensor_view const& x) {
  return {static_cast<T const*>(x.data),
          x.rows,
          x.width,
          x.row_stride,
          x.outer,
          x.outer_stride,
          x.middle,
          x.middle_stride};
}
template <class T> int row_vector_width(void const* x) {
  return vector_width_of(tensor<T const>{static_cast<T const*>(x), 1, 1, 0});
}

// The widest access that each row of an input allows, in its table if it has one.
template <class T> int row_vector_width(row_tensor_view const& x, row_table const& table) {
  int const width = vector_width_of(rows_in<T>(x));
  auto const rows = tensor<T const>{static_cast<T const*>(x.data), table.rows, 1, table.stride};
  return std::min(width, vector_width_of(rows));
}

// Whether the rows of both, of elements X and Y, begin and end at the same places of chunks.
template <class X, class Y> bool alike(row_tensor_view const& x, row_tensor_view const& y) {
  if constexpr (chunk_of<X> != chunk_of<Y>) return false;
  auto const same = [&](std::int64_t n, std::int64_t a, std::int64_t b) {
    return n <= 1 || (a - b) % chunk_of<X> == 0;
  };
  return shift_of(static_cast<X const*>(x.data)) == shift_of(static_cast<Y const*>(y.data)) &&
         same(x.rows, x.row_stride, y.row_stride) &&
         same(x.middle, x.middle_stride, y.middle_stride) &&
         same(x.outer, x.outer_stride, y.outer_stride);
}

// Whether matrices share the rows of an input: those of several are better read one after another.
template <class Op> bool share_rows(row_problem<Op> const& x) {
  for (auto const& m : x.in)
    if (m.data && m.row_stride != 0 &&
        ((m.outer > 1 && m.outer_stride == 0) || (m.middle > 1 && m.middle_stride == 0)))
      return true;
  return false;
}

// Of its tasks `planned_tasks` leave sums over rows, where there are such.
template <class Kernel>
typename Kernel::args args_of_rows(row_problem<typename Kernel::op> const& x,
                                   merged_rows const& shape, void* workspace) {
  using kernel = Kernel;
  using Op = typename Kernel::op;
  using base = typename Op::template input<0>;
  using lead = typename kernel::lead;
  typename kernel::args a{};
  a.op = x.op;
  a.through_ring = kernel::has_ring;
  bool const by_output = kernel::shifts_by_output && x.out[0].data;
  auto const& leads = by_output ? x.out[0] : x.in[0];
  auto const& of_leads = by_output ? row_table{} : x.tables[0];
  auto const memory_of = [&]<class T>(row_tensor_view const& m, row_table const& table, T) {
    int vector_width = 0;
    if (m.data && kernel::shifted) {
      bool const tables_are_whole = (of_leads.stride | table.stride) % chunk_of<T> == 0;
      bool const likewise = by_output ? alike<lead, T>(leads, m) : alike<base, T>(leads, m);
      vector_width = tables_are_whole && likewise ? chunk_of<T> : 1;
    } else if (m.data) vector_width = row_vector_width<T>(m, table);
    return row_memory{m.data,       m.row_stride + table.stride,  m.outer_stride, m.middle_stride,
                      vector_width, static_cast<int>(table.rows), lie_evenly(m)};
  };
  for_each_index<Op::inputs>([&](auto i) {
    using type = typename Op::template input<i>;
    a.in[i] = memory_of(x.in[i], x.tables[i], type{});
    if (!x.in[i].data) return;
    ++a.present;
    if (a.in[i].vector_width != chunk_of<type>) a.through_ring = false;
    if (!kernel::shifted && shape.width % chunk_of<type> != 0) a.through_ring = false;
  });
  for_each_index<Op::outputs>(
      [&](auto i) { a.out[i] = memory_of(x.out[i], {}, typename Op::template output<i>{}); });
  for (int i = 0; i < row_values_of<Op>(); ++i) {
    auto const& v = x.values[i];
    a.values[i] = {v.data, v.row_stride, v.outer_stride, v.middle_stride, 1, 0, lie_evenly(v)};
  }
  for (int i = 0; i < Op::inputs; ++i)
    if (int const by = number_of<Op>(i); by >= 0)
      a.numbers_are_wide = x.values[by].type == element::int64;
  for_each_index<Op::vectors>([&](auto i) {
    auto const& v = x.vectors[i];
    if (!v.data) return;
    a.vectors[i] = {v.data, v.type == element::fp32 ? row_vector_width<float>(v.data)
                                                    : row_vector_width<base>(v.data)};
    a.vectors_are_fp32 = v.type == element::fp32;
  });
  a.rows = static_cast<int>(shape.rows);
  a.width = static_cast<int>(shape.width);
  a.passes = Op::passes(x.op);
  a.pieces = ceil_div(a.width + (kernel::shifted ? chunk_of<base> - 1 : 0), kernel::span);
  a.pieces_fit_ring = a.through_ring && a.pieces * a.present <= kernel::stages;
  a.n1 = static_cast<int>(shape.n1);
  a.all_rows = static_cast<int>(shape.n0 * shape.n1 * shape.rows);
  auto const by = [](int n) {
    return divisor(static_cast<std::uint32_t>(std::max(n, 1)));  // there may be none
  };
  a.by_rows = by(a.rows);
  a.by_n1 = by(a.n1);
  a.by_steps = by(kernel::steps_of_group(a));
  a.by_present = by(a.present);
  a.by_pieces = by(a.pieces);
  a.groups_of_matrix = ceil_div(kernel::row_count(a), kernel::group);
  int const matrices = static_cast<int>(shape.n0 * shape.n1);
  a.matrices_in_turn = kernel::sums == 0 && !whole_rows && share_rows(x);
  a.by_groups = by(a.matrices_in_turn ? matrices : a.groups_of_matrix);
  a.groups = a.groups_of_matrix;
  if (!kernel::counted) a.groups *= matrices;
  a.planned = a.groups;
  int clusters = 0;
  if constexpr (kernel::cluster > 1)
    clusters = be::clusters_at_a_time<kernel>(kernel::workers_for(a.width));
  auto const dealt =
      kernel::deal(a.groups, be::rt::multiprocessors(), clusters, shape.width, a.passes);
  a.planned_tasks = dealt.tasks;
  a.in_turn = dealt.in_turn;
  row_sums const sums(x.in[0], kernel::sums);
  for (int i = 0; i < kernel::sums; ++i)
    if (x.sums[i].data) a.sums[i] = in_workspace<float>(workspace, sums.of(i));
  a.sum_stride = sums.stride();
  if (kernel::sums == 0 && kernel::per_unit == 0 && kernel::cluster == 1 && workspace &&
      a.groups >= kernel::late_share * a.planned_tasks) {
    a.planned -= a.groups / kernel::late_share;
    a.tickets = static_cast<unsigned*>(workspace);
  }
  a.in_task = ceil_div(a.planned, std::max(a.planned_tasks, 1));
  return a;
}

template <class Op, bool Lean, int Class = 0> constexpr int first_shared_class() {
  constexpr auto of = load_of<Op, Lean>;
  if constexpr (Class == be::row_classes(of) || be::tune_rows(Class, of).shared) return Class;
  else return first_shared_class<Op, Lean, Class + 1>();
}

// The class whose tiles hold a row with the fewest columns to spare. It follows from the width and
// the types alone, never from the number of rows, so that a row has the same bits whatever rows are
// beside it.
template <class Op, bool Shifted, bool Lean, int Class = 0>
void find_class(std::int64_t width, int& best, std::int64_t& columns) {
  if constexpr (Class < be::row_classes(load_of<Op, Lean>)) {
    if constexpr (!Shifted || be::rows_shift(Class, load_of<Op, Lean>)) {
      using kernel = row_kernel<Op, Class, Shifted, Lean>;
      // A cluster takes what no block does, pieces are what fits into no tile.
      bool const wanted =
          (kernel::cluster == 1 && !kernel::is_long) || best == be::row_classes(load_of<Op, Lean>);
      if (wanted && width <= kernel::longest) {
        // Of equal ones, a warp's own; of those that workers share, that of fewer workers.
        std::int64_t const has = kernel::shared && kernel::per_unit > 0
                                     ? std::int64_t{kernel::workers_for(static_cast<int>(width))} *
                                           kernel::cluster * kernel::N
                                     : kernel::longest;
        if (has < columns || (has == columns && best >= first_shared_class<Op, Lean>()))
          best = Class, columns = has;
      }
    }
    find_class<Op, Shifted, Lean, Class + 1>(width, best, columns);
  }
}
template <class Op, bool Shifted, bool Lean> int class_for(std::int64_t width) {
  int best = be::row_classes(load_of<Op, Lean>);
  auto columns = std::numeric_limits<std::int64_t>::max();
  find_class<Op, Shifted, Lean>(width, best, columns);
  return best;
}

// Whether lean kernels take it (row_extras).
template <class Op> bool is_lean(row_problem<Op> const& x) {
  constexpr auto extras = extras_of<Op>();
  bool lean = true;
  for (int i = extras.inputs; i < Op::inputs; ++i) lean = lean && !x.in[i].data;
  for (int i = extras.outputs; i < Op::outputs; ++i) lean = lean && !x.out[i].data;
  for (int i = 0; i < extras.vectors; ++i) lean = lean && x.vectors[i].data;
  for (int i = extras.sums; i < column_sums_of<Op>(); ++i) lean = lean && !x.sums[i].data;
  return lean;
}

// Whether the rows of all operands begin and end at multiples of 16 bytes (8 of 1-byte elements).
template <class Op> bool are_whole(row_problem<Op> const& x) {
  bool whole = true;
  auto const look = [&]<class T>(row_tensor_view const& m, row_table const& table, T) {
    if (m.data)
      whole = whole && m.width % chunk_of<T> == 0 && row_vector_width<T>(m, table) >= chunk_of<T>;
  };
  for_each_index<Op::inputs>(
      [&](auto i) { look(x.in[i], x.tables[i], typename Op::template input<i>{}); });
  for_each_index<Op::outputs>(
      [&](auto i) { look(x.out[i], {}, typename Op::template output<i>{}); });
  for_each_index<Op::vectors>([&](auto i) {
    if (x.vectors[i].data)
      whole = whole && reinterpret_cast<std::uintptr_t>(x.vectors[i].data) % 16 == 0;
  });
  return whole;
}

// Which kernel takes a problem.
struct row_choice {
  bool shifted, lean;
  int number;  // of the class
  bool operator==(row_choice const&) const = default;
};
template <class Op> row_choice choose_rows(row_problem<Op> const& x, std::int64_t width) {
  bool const shifted = rows_shift<Op> && !are_whole(x);
  auto const choose = [&]<bool Lean>(std::bool_constant<Lean>) -> row_choice {
    if constexpr (rows_shift<Op>)
      if (shifted) return {true, Lean, class_for<Op, true, Lean>(width)};
    return {false, Lean, class_for<Op, false, Lean>(width)};
  };
  if constexpr (has_lean<Op>() && be::lean_rows)
    if (x.may_be_lean && is_lean(x)) return choose(std::true_type{});
  return choose(std::false_type{});
}
// body(kernel) with a pointer to the kernel that was chosen, null. There is none of a class for
// pieces where those before take rows as long.
template <class Op, bool Shifted, bool Lean, int Class = 0, std::int64_t Longest = 0, class Body>
void with_class(int chosen, Body body) {
  constexpr auto of = load_of<Op, Lean>;
  constexpr int last = be::row_classes(of);
  using kernel = row_kernel<Op, Class, Shifted, Lean>;
  constexpr bool takes = Class == last || ((!Shifted || be::rows_shift(Class, of)) &&
                                           !(kernel::is_long && kernel::longest <= Longest));
  if constexpr (takes)
    if (chosen == Class) return body(static_cast<kernel*>(nullptr));
  if constexpr (Class < last)
    with_class<Op, Shifted, Lean, Class + 1, takes ? std::max(Longest, kernel::longest) : Longest>(
        chosen, body);
}
template <class Op, class Body> void with_kernel(row_choice const& choice, Body body) {
  auto const with = [&]<bool Lean>(std::bool_constant<Lean>) {
    if constexpr (rows_shift<Op>)
      if (choice.shifted) return with_class<Op, true, Lean>(choice.number, body);
    with_class<Op, false, Lean>(choice.number, body);
  };
  if constexpr (has_lean<Op>() && be::lean_rows)
    if (choice.lean) return with(std::true_type{});
  with(std::false_type{});
}

// Sums of tasks, `rows` of them, to what they are in all: at once for those of one type.
template <class Op>
void launch_totals(row_problem<Op> const& x, int rows, void* workspace, void* stream) {
  static_assert(Op::sums <= 2);
  row_sums const sums(x.in[0], Op::sums);
  auto const total = [&]<class T>(bool is_fp32, T*) {
    typename column_totals<T>::args a{{}, 0, rows, static_cast<int>(x.in[0].width), sums.stride()};
    for (int i = 0; i < Op::sums; ++i)
      if (x.sums[i].data && (x.sums[i].type == element::fp32) == is_fp32)
        a.of[a.count++] = {in_workspace<float const>(workspace, sums.of(i)),
                           static_cast<T*>(x.sums[i].data)};
    be::launch<column_totals<T>>(a, stream);  // nothing, where there are none
  };
  using base = typename Op::template input<0>;
  total(true, static_cast<float*>(nullptr));
  if constexpr (!std::is_same_v<base, float>) total(false, static_cast<base*>(nullptr));
}

template <class Op> void launch_rows(row_problem<Op> x, void* workspace, void* stream) {
  if (column_sums_of<Op>() == 0 && row_workspace_bytes(x.in[0]) == 0) workspace = nullptr;
  auto const shape = merge_rows(x);
  int tasks = 0;
  with_kernel<Op>(choose_rows(x, shape.width), [&]<class Kernel>(Kernel*) {
    auto const a = args_of_rows<Kernel>(x, shape, workspace);
    be::launch<Kernel>(a, stream);
    tasks = a.planned_tasks;
  });
  if constexpr (column_sums_of<Op>() > 0) launch_totals(x, tasks, workspace, stream);
}

// Two problems, or one where the second has no data: in one launch, where one kernel takes both and
// its workers load for themselves.
template <class Op>
void launch_rows(row_problem<Op> x, row_problem<Op> y, void* workspace, void* stream) {
  static_assert(column_sums_of<Op>() == 0);
  bool const two = y.in[0].data != nullptr;
  auto const shape = merge_rows(x), shape_of_y = merge_rows(y);
  auto const choice = choose_rows(x, shape.width);
  bool together = two && choose_rows(y, shape_of_y.width) == choice;
  with_kernel<Op>(choice, [&]<class Kernel>(Kernel*) {
    auto const workers = [](merged_rows const& of) {
      return Kernel::workers_for(static_cast<int>(of.width));
    };
    together = together && workers(shape) == workers(shape_of_y);
    if constexpr (direct_op<Kernel>) {
      typename row_pair<Kernel>::args a{{args_of_rows<Kernel>(x, shape, nullptr), {}}};
      if (together) a.of[1] = args_of_rows<Kernel>(y, shape_of_y, nullptr);
      be::launch<row_pair<Kernel>>(a, stream);
    } else {
      auto const launch_one = [&](auto const& z, merged_rows const& of) {
        bool const large = row_workspace_bytes(z.in[0]) > 0;
        be::launch<Kernel>(args_of_rows<Kernel>(z, of, large ? workspace : nullptr), stream);
      };
      launch_one(x, shape);
      if (together) launch_one(y, shape_of_y);
    }
  });
  if (two && !together) launch_rows(y, row_problem<Op>{}, workspace, stream);
}

}  // namespace tk
