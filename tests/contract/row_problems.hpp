// SPDX-License-Identifier: MIT
// How the row template (core/row_kernel.hpp) is tested as a whole: operands that lie in memory as a
// case says, NaN around them, results untouched before; launches of one class, and of the class
// that launch_rows chooses; the widths that each class is for.
#pragma once
#include <array>
#include <memory>
#include <set>

#include "ops/row_launch.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

// n0 x n1 matrices. A row begins `padding` elements after the last one ends, a matrix `gap` more,
// a row of matrices `outer_gap` more, and the first row at element `first`.
struct row_layout {
  int n0 = 1, n1 = 1, rows = 1, width = 1;
  int padding = 0, gap = 0, outer_gap = 0, first = 0;

  int all_rows() const { return n0 * n1 * rows; }
  std::int64_t row_stride() const { return width + padding; }
  std::int64_t stride1() const { return rows * row_stride() + gap; }
  std::int64_t stride0() const { return n1 * stride1() + outer_gap; }
  // With room for a matrix more, which is nobody's.
  std::size_t size() const {
    auto const more = n0 * n1 > 1 ? stride1() : 0;
    return static_cast<std::size_t>(first + n0 * stride0() + more + 64);
  }
  // Where the n-th of all rows begins.
  std::int64_t begin(int n) const {
    return first + n / (n1 * rows) * stride0() + n / rows % n1 * stride1() +
           n % rows * row_stride();
  }
};

template <class T> constexpr element element_of() {
  if constexpr (std::is_same_v<T, float>) return element::fp32;
  else if constexpr (std::is_same_v<T, bf16>) return element::bf16;
  else if constexpr (std::is_same_v<T, fp16>) return element::fp16;
  else if constexpr (std::is_same_v<T, fp8_e4m3>) return element::fp8_e4m3;
  else if constexpr (std::is_same_v<T, fp8_e5m2>) return element::fp8_e5m2;
  else if constexpr (std::is_same_v<T, boolean>) return element::boolean;
  else if constexpr (std::is_same_v<T, std::int32_t>) return element::int32;
  else return element::int64;
}

// An operand; one that was made of a layout alone is absent.
template <class T> struct row_operand {
  row_layout at;
  std::vector<T> host{};
  std::unique_ptr<device_array<T>> memory{};

  row_operand(row_layout const& l) : at(l) {}
  row_operand(row_layout const& l, std::vector<T> values)
      : at(l), host(std::move(values)), memory(std::make_unique<device_array<T>>(host)) {}
  static row_operand result(row_layout const& l) { return {l, untouched<T>(l.size())}; }
  // f(row, column) in each row.
  template <class F> static row_operand of(row_layout const& l, F f) {
    std::vector<T> x(l.size());
    for (auto& e : x) {
      if constexpr (std::is_integral_v<T>) e = T{1} << (8 * sizeof(T) - 24);
      else e = to<T>(NAN);
    }
    for (int r = 0; r < l.all_rows(); ++r)
      for (int c = 0; c < l.width; ++c) {
        auto& e = x[static_cast<std::size_t>(l.begin(r) + c)];
        if constexpr (std::is_integral_v<T>) e = f(r, c);
        else e = to<T>(f(r, c));
      }
    return {l, std::move(x)};
  }
  explicit operator bool() const { return memory != nullptr; }
  row_tensor_view view() const {
    void* const data = memory ? memory->data() + at.first : nullptr;
    return {{data, element_of<T>()}, at.n0, at.n1, at.rows, at.width, at.stride0(), at.stride1(),
            at.row_stride()};
  }
  // 0 where absent.
  float operator()(int row, int col) const {
    return memory ? tk::widen(host[static_cast<std::size_t>(at.begin(row) + col)]) : 0.f;
  }
  // What the host expects of a result, and whether it is that.
  void expect(int row, int col, float x) {
    if (memory) host[static_cast<std::size_t>(at.begin(row) + col)] = to<T>(x);
  }
  void check() const {
    if (memory) check_same(memory->read(), host);
  }
};

// Values per column, of which those after the last are NaN.
template <class T> std::vector<T> column_values(int width, int seed) {
  auto x = wholes<T>(at(width + 8), static_cast<std::uint64_t>(seed), 1);
  std::fill(x.begin() + width, x.end(), to<T>(NAN));
  return x;
}

// ---- classes
// Columns of the widest rows that a class takes; rows that lie anywhere need room for their shift.
template <class Op, int Class, bool Shifted> constexpr int widest() {
  using kernel = row_kernel<Op, Class, Shifted>;
  return kernel::span - (kernel::shifted ? kernel::shift_room : 0);
}
// The least, the most and some between; of long rows such with an even and an uneven number of
// pieces, and with more than the ring holds.
template <class Op, int Class, bool Shifted> std::set<int> widths_of() {
  using kernel = row_kernel<Op, Class, Shifted>;
  constexpr int most = widest<Op, Class, Shifted>(), above = Class == 0 ? 1 : [] {
    return row_kernel<Op, (Class > 0 ? Class - 1 : 0), false>::span + 1;
  }();
  int const least = std::min(above, most);  // a class may be as wide as the one before
  std::set<int> all{least, (least + most) / 2, most - 1, most};
  if (kernel::is_long) {
    int const held = kernel::stages / Op::inputs;
    all = {above, 2 * kernel::span, 2 * kernel::span + 5};
    if (kernel::has_ring) all.insert({held * kernel::span, held * kernel::span + 9});
  }
  if (!kernel::whole) return all;
  std::set<int> whole;
  for (int const width : all) whole.insert(std::max(8, width / 8 * 8));
  return whole;
}

// ---- launches
// Counters that are zero, and room for sums of tasks, which is NaN.
template <class Op> struct row_workspace {
  device_array<unsigned> memory;
  explicit row_workspace(row_tensor_view const& x) : memory(before(x)) {}
  static std::vector<unsigned> before(row_tensor_view const& x) {
    auto const bytes = row_sums(x, column_sums_of<Op>()).bytes();
    std::vector<unsigned> all((bytes + counter_bytes) / sizeof(unsigned), ~0u);
    std::fill_n(all.begin(), counter_bytes / sizeof(unsigned), 0u);
    return all;
  }
  void check_counters() const {
    auto const now = memory.read();
    int set = 0;
    for (std::size_t i = 0; i < counter_bytes / 4; ++i) set += now[i] != 0;
    CHECK(set == 0);
  }
};

template <class Op, int Class, bool Shifted> void run_class(row_problem<Op> x, bool late = true) {
  row_workspace<Op> const workspace(x.in[0]);
  auto const shape = merge_rows(x);
  bool const needed = late || column_sums_of<Op>() > 0;
  using kernel = row_kernel<Op, Class, Shifted>;
  auto const a = args_of_rows<kernel>(x, shape, needed ? workspace.memory.data() : nullptr);
  be::launch<kernel>(a, nullptr);
  if constexpr (column_sums_of<Op>() > 0)
    launch_totals(x, a.planned_tasks, workspace.memory.data(), nullptr);
  be::rt::synchronize();
  workspace.check_counters();
}
template <class Op> void run_rows(row_problem<Op> const& x) {
  row_workspace<Op> const workspace(x.in[0]);
  launch_rows(x, workspace.memory.data(), nullptr);
  be::rt::synchronize();
  workspace.check_counters();
}

// So many rows that some are dealt late, the last of them fewer than the others, with a tail.
template <class Kernel> int rows_with_late_tasks() {
  int const tasks = be::rt::multiprocessors() * be::row_tasks_per_unit(Kernel::span),
            odd = tasks / 2 * 2 + 1;
  return (Kernel::late_share * odd + 2) * Kernel::group + 1;
}

// body(class, shifted) as constants, for the classes of Op that fall to one of `Shards` programs.
template <class Op, int Shard, int Shards, int Class = Shard, class Body>
void for_each_class(Body body) {
  if constexpr (Class <= be::row_classes(load_of<Op>)) {
    using index = std::integral_constant<int, Class>;
    body(index{}, std::false_type{});
    if constexpr (rows_shift<Op>)
      if constexpr (be::rows_shift(Class, load_of<Op>)) body(index{}, std::true_type{});
    for_each_class<Op, Shard, Shards, Class + Shards>(body);
  }
}

}  // namespace tk::test
