// SPDX-License-Identifier: MIT
// What the tests of ops that go row by row share: operands of one to four dimensions in any layout,
// and how all rows are checked. An op supplies
//   a case      row_shape shape; using operands = ...; describe(case)
//   operands    of, the case; world memories; tensors, and `table`, which names them;
//               with_problem() (tests/support/launch.hpp)
//   check_row(operands, row, meters), which adds a row of each output of the table to its meter.
// Tables of cases are in row_tables.hpp.
#pragma once
#include <algorithm>
#include <concepts>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tests/support/matrix.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {

// Of `rank` dimensions, the last of b, h, rows, width; those that are not there have size 1.
struct row_shape {
  int rank = 2;
  std::int64_t b = 1, h = 1, rows = 1, width = 1;

  std::int64_t all_rows() const { return b * h * rows; }
  std::vector<std::int64_t> sizes() const {
    std::vector const all{b, h, rows, width};
    return {all.end() - rank, all.end()};
  }
  // The first dimension, by which a problem is cut into smaller ones; rank 2 or more.
  std::int64_t& first() { return rank == 4 ? b : rank == 3 ? h : rows; }
};

inline std::ostream& operator<<(std::ostream& s, row_shape const& x) {
  char const* between = "";
  for (auto const size : x.sizes()) s << between << size, between = "x";
  return s;
}

enum class row_place { apart, on_first, on_second };  // an output in the place of an input

inline std::vector<std::int64_t> row_strides(row_shape const& x, matrix_layout const& how) {
  using batches = matrix_layout::batches;
  std::int64_t row = how.row_stride.value_or(x.width + how.padding);
  std::int64_t h = x.rows * how.parts * row, b = x.h * h;
  switch (how.batch) {
    case batches::padded: h += 3 * row + 5, b = x.h * h + row + 3; break;
    case batches::interleaved: h = row, row *= x.h * how.parts, b = x.rows * row; break;
    case batches::reversed: h = -h, b = -b; break;
    case batches::same: h = b = 0; break;
    default: break;
  }
  if (how.reversed) row = -row;
  // Where no second element follows, the stride of a last dimension says nothing.
  std::vector const all{b, h, row, std::int64_t{x.width <= 1 ? 7 : 1}};
  return {all.end() - x.rank, all.end()};
}

inline tensor place_rows(world& w, dtype type, row_shape const& shape, matrix_layout const& how,
                         role use) {
  auto const sizes = shape.sizes();
  tensor x = w.make(type, sizes, how.null_strides ? row_major(sizes) : row_strides(shape, how), use,
                    how.misalignment);
  x.null_strides = how.null_strides;
  x.byte_offset = how.byte_offset;
  return x;
}

// Numbers for each row: x's sizes, with 1 in place of the last, which the interface does not know.
inline row_shape shape_of_each(row_shape shape) {
  shape.width = 1;
  return shape;
}
inline DLTensor without_last(tensor const& x) {
  DLTensor y = x.dl();
  --y.ndim;
  return y;
}

// Uniform in mean +- size, rounded.
inline void fill_uniform(tensor& x, std::uint64_t seed, double mean, double size) {
  auto const bytes = bytes_of(x.type);
  parallel_for(x.rows(), [&](std::int64_t r) {
    std::byte* p = x.image_row(r);
    auto const at = static_cast<std::uint64_t>(x.row_offset(r));
    for (std::int64_t c = 0; c < x.cols(); ++c, p += bytes) {
      double const unit = random_unit(seed, at + static_cast<std::uint64_t>(c));
      encode(x.type, rounded(x.type, mean + size * unit), p);
    }
  });
}

// An output, where it is not an input itself.
inline tensor output_rows(world& w, dtype type, row_shape const& shape, matrix_layout const& how) {
  tensor x = place_rows(w, type, shape, how, role::output);
  fill(x, data::nans, 0);
  return x;
}

// The numbers of a row as they were given.
inline std::vector<double> given_row(tensor const& x, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.image_row(row), x.cols(), values.data());
  return values;
}
inline double result_at(tensor const& x, std::int64_t row, std::int64_t col) {
  return decode(x.type, x.result_row(row) + col * bytes_of(x.type));
}

// The row of t, of which a size of 1 stands for any, that goes with a row of `shape`.
inline std::int64_t broadcast_row(tensor const& t, row_shape const& shape, std::int64_t row) {
  std::int64_t found = 0, step = 1;
  auto const sizes = shape.sizes();
  for (auto i = sizes.size() - 1; i-- > 0; row /= sizes[i]) {
    if (t.shape[i] != 1) found += row % sizes[i] * step;
    step *= t.shape[i];
  }
  return found;
}

// The columns that a row sees are the first ones.
inline std::int64_t columns_seen(tk_mask mask, row_shape const& x, std::int64_t row) {
  if (mask == TK_MASK_NONE) return x.width;
  return std::clamp<std::int64_t>(row % x.rows + x.width - x.rows + 1, 0, x.width);
}
// NaN in what no row sees. Rows must not lie on each other.
inline void spoil_unseen(tensor& t, tk_mask mask, row_shape const& x) {
  auto const rank = t.shape.size();
  if ((rank > 1 ? t.shape[rank - 2] : 1) != x.rows) return;  // each row stands for all
  parallel_for(t.rows(), [&](std::int64_t r) {
    for (auto col = columns_seen(mask, x, r); col < x.width; ++col) set(t, r, col, std::nan(""));
  });
}

// A number and a bound on its error.
struct bounded {
  double exact = 0, slack = 0;
};

// A tensor of an op's operands; absent where it lies in no memory.
template <class Operands> struct row_operand {
  char const* name;
  tensor Operands::* is;
  bool output = false;
};

// body(operand, its place among the outputs), for each output that is there.
template <class Operands, class Body> void for_each_output(Operands const& x, Body const& body) {
  std::size_t place = 0;
  for (auto const& t : Operands::table)
    if (t.output && (x.*t.is).in) body(t, place++);
}

template <class X>
concept row_operands = requires(X const& x, std::span<error_meter> meters) {
  { x.of.shape.all_rows() } -> std::same_as<std::int64_t>;
  check_row(x, std::int64_t{}, meters);
  X::table[0].output;
};

template <row_operands X> std::vector<error_meter> meters_of(X const& x) {
  std::vector<error_meter> all;
  for_each_output(x, [&](auto const& t, std::size_t) { all.emplace_back((x.*t.is).type); });
  return all;
}

// Errors before the rounding add to its own in squares: 1.05 as for sums
// (tests/ops/gemm/oracle.hpp).
template <row_operands X>
verdict judge_rows(X const& x, std::vector<error_meter> const& meters, std::int64_t rows) {
  verdict all;
  for_each_output(x, [&](auto const& t, std::size_t i) {
    auto const v = meters[i].judge(t.name, 1.05);
    if (all.ok()) all.wrong = v.wrong;
    if (all.ok() && v.compared != rows * (x.*t.is).cols())
      all.wrong = std::string(t.name) + ": compared " + std::to_string(v.compared) + " elements";
    all.compared += v.compared;
    all.share = std::max(all.share, v.share);
  });
  return all;
}

template <row_operands X> verdict compare(X const& x) {
  auto all = meters_of(x);
  std::mutex merging;
  std::int64_t const rows = x.of.shape.all_rows();
  std::int64_t const some = 1 + (1 << 14) / (1 + x.of.shape.width);
  parallel_for((rows + some - 1) / some, [&](std::int64_t part) {
    auto own = meters_of(x);
    for (std::int64_t row = part * some; row < std::min(rows, (part + 1) * some); ++row)
      check_row(x, row, std::span(own));
    std::scoped_lock const lock(merging);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].merge(own[i]);
  });
  return judge_rows(x, all, rows);
}

template <row_operands X> std::vector<tensor> written_by(X const& x) {
  std::vector<tensor> all;
  for_each_output(x, [&](auto const& t, std::size_t) { all.push_back(x.*t.is); });
  return all;
}

// Launches the operands' problem twice and checks all that must hold.
template <row_operands X> verdict run_operands(X& x) {
  verdict v;
  v.wrong = launch_twice(x);
  if (!v.ok()) return v;
  v = compare(x);
  if (v.ok()) v.wrong = check_untouched(x.memories, written_by(x));
  return v;
}

template <class Case>
  requires row_operands<typename Case::operands>
verdict run(Case const& c) {
  typename Case::operands x(c);
  return run_operands(x);
}

}  // namespace tk::test
