// SPDX-License-Identifier: MIT
// Tables of cases for ops that go row by row (row_suite.hpp): sizes, layouts, places in memory,
// special values, rows without company.
#pragma once
#include <set>

#include "tests/support/row_suite.hpp"
#include "tests/support/rows.hpp"
#include "tests/support/sizes.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

inline constexpr dtype row_types[] = {dtype::bf16, dtype::fp16, dtype::fp32};

// ---- sizes
// The words of a line: width, rows, h, b, of which the leading ones may be left out. rows=-R stands
// for R times as many as the chip has multiprocessors, and one more.
inline row_shape shape_of(size_line const& line) {
  auto const has = [&](char const* word) { return line.values.contains(word); };
  row_shape s{has("b") ? 4 : has("h") ? 3 : has("rows") ? 2 : 1};
  s.b = line.number("b", 1);
  s.h = line.number("h", 1);
  s.rows = line.number("rows", 1);
  s.width = line.number("width");
  if (s.rows < 0) s.rows = -s.rows * be::rt::device().multiprocessors + 1;
  return s;
}

// The sizes of sizes.txt, in kinds 0 ... kinds - 1 that an op tells apart: every kind for small
// problems, else some of them, at least one, others from line to line.
template <class OfKind> auto size_table(std::string const& folder, int kinds, OfKind of_kind) {
  std::vector<decltype(of_kind(row_shape{}, 0))> cases;
  int turn = 0;
  for (auto const& line : read_sizes(folder)) {
    auto const shape = shape_of(line);
    auto const elements = shape.all_rows() * shape.width;
    bool const small = elements < 20000, large = elements > 1 << 20;
    int const every = small ? (test_level() == level::quick ? 5 : 1) : large ? 37 : 13;
    for (int kind = turn % std::min(every, kinds); kind < kinds; kind += every)
      cases.push_back(of_kind(shape, kind));
    ++turn;
  }
  return cases;
}

// The rows of a class of short tiles, in each kind: the tails of the last rows.
template <class OfKind> auto tail_table(int kinds, OfKind of_kind) {
  std::vector<decltype(of_kind(row_shape{}, 0))> cases;
  int kind = 3;
  for (std::int64_t rows = 0; rows < 20; ++rows)
    for (std::int64_t const width : {8, 136}) {
      auto const all = 16 * be::rt::device().multiprocessors + rows;
      cases.push_back(of_kind({.rank = 2, .rows = all, .width = width}, kind));
      kind = (kind + 29) % kinds;
    }
  return cases;
}

// Of those around the sizes of tiles, of models and of vocabularies, the widths that no case has.
template <class Case> std::set<std::int64_t> widths_without_case(std::vector<Case> const& cases) {
  std::set<std::int64_t> widths{0,    1,    7,    17,   63,   64,    65,    127,   128,    129,
                                193,  255,  256,  257,  1000, 1023,  1024,  1025,  2048,   3072,
                                4096, 5120, 8191, 8192, 8193, 16384, 16385, 65536, 131072, 131073};
  for (auto const& x : cases) widths.erase(x.shape.width);
  return widths;
}
// Whether one has ten thousand rows, of which tasks have several, on every chip.
template <class Case> bool has_many_rows(std::vector<Case> const& cases) {
  return std::any_of(cases.begin(), cases.end(),
                     [](auto const& x) { return x.shape.rows == 10000; });
}
template <class Case> std::set<int> ranks_of(std::vector<Case> const& cases) {
  std::set<int> ranks;
  for (auto const& x : cases) ranks.insert(x.shape.rank);
  return ranks;
}

// ---- layouts
inline std::vector<matrix_layout> row_layouts() {
  using enum matrix_layout::batches;
  return {
      {.null_strides = true},
      {.padding = 1},                      // an odd row stride
      {.padding = 8},                      // a slice that keeps 16-byte alignment
      {.padding = 61, .misalignment = 3},  // and one that does not
      {.misalignment = 1},
      {.misalignment = 4},  // 8 bytes
      {.padding = 3, .reversed = true, .batch = padded},
      {.reversed = true},
      {.batch = interleaved, .byte_offset = 2048},
      {.padding = 2, .misalignment = 8, .batch = reversed, .byte_offset = 48},
  };
}
// For inputs alone: rows that lie on each other.
inline std::vector<matrix_layout> shared_layouts() {
  return {{.row_stride = 0},
          {.row_stride = 1},
          {.batch = matrix_layout::batches::same},
          {.padding = 5, .misalignment = 1, .batch = matrix_layout::batches::same}};
}
// Where several tensors have one place.
inline std::vector<matrix_layout> places_for_two() {
  return {{},
          {.padding = 8},
          {.padding = 3, .misalignment = 1, .batch = matrix_layout::batches::interleaved}};
}
inline constexpr std::int64_t widths_in_place[] = {65, 1024, 8193, 20000};

// Of every rank in six turns, with tails and without, in one tile and in several.
inline row_shape shape_of_turn(std::size_t turn) {
  constexpr std::int64_t widths[] = {193, 1024, 1000, 2056, 17, 4104};
  auto const width = widths[turn % 6];
  switch ((turn + turn / 6) % 4) {
    case 0: return {.rank = 2, .rows = 5, .width = width};
    case 1: return {.rank = 4, .b = 2, .h = 2, .rows = 4, .width = width};
    case 2: return {.rank = 3, .h = 2, .rows = 5, .width = width};
    default: return {.rank = 1, .width = width};
  }
}

// begin(turn) is a case of shape_of_turn(turn).
template <class Case> using layout_of = matrix_layout Case::*;
template <class Case, class Begin>
void add_layouts(std::vector<Case>& cases, std::span<layout_of<Case> const> operands,
                 std::vector<matrix_layout> const& ways, Begin begin) {
  auto turn = cases.size();
  for (auto const operand : operands)
    for (auto const& way : ways)
      for (std::size_t end = turn + 6; turn < end; ++turn) {
        cases.push_back(begin(turn));
        cases.back().*operand = way;
      }
}
// Each layout on each operand alone, and on all at once.
template <class Case, std::size_t N, class Begin>
std::vector<Case> layout_table(layout_of<Case> const (&operands)[N], Begin begin) {
  std::vector<Case> cases;
  auto const ways = row_layouts();
  add_layouts<Case>(cases, operands, ways, begin);
  for (std::size_t i = 0; i < 4 * ways.size(); ++i) {
    cases.push_back(begin(cases.size()));
    for (std::size_t k = 0; k < N; ++k)
      cases.back().*operands[k] = ways[(i * (2 * k + 1) + k) % ways.size()];
  }
  return cases;
}

// Offsets that need 64 bits: the last row begins more than 2^31 elements after the first.
template <class Case, std::size_t N, class Begin>
std::vector<Case> far_table(layout_of<Case> const (&operands)[N], Begin begin) {
  std::vector<Case> cases;
  for (auto const operand : operands)
    for (std::int64_t const odd : {0, 1}) {
      cases.push_back(begin(cases.size()));
      cases.back().shape = {.rank = 2, .rows = 5, .width = 1000};
      cases.back().*operand = {.row_stride = (std::int64_t{1} << 29) + 64 + odd};
    }
  return cases;
}

// ---- special values: its row is as the oracle says, the rows beside it are as right as ever
template <class Case>
void check_special(Case const& c, tensor Case::operands::* input, double special, std::int64_t row,
                   std::int64_t col) {
  typename Case::operands x(c);
  set(x.*input, row, col, special);
  auto const v = run_operands(x);
  CHECK_MESSAGE(v.ok(), describe(c) << ", " << special << " in row " << row << ", column " << col
                                    << "\n  " << v.wrong);
}
// In the first, a middle and one of the last columns that row `row` of five sees; on an emulated
// chip in one of them, another each time.
template <class Case>
void check_specials(Case c, tensor Case::operands::* input, std::initializer_list<double> specials,
                    std::int64_t row = 2) {
  int turn = 0;
  for (std::int64_t const width : {5, 100, 1000, 4096, 8192, 20000})
    for (double const special : specials) {
      c.shape = {.rank = 2, .rows = 5, .width = width};
      std::int64_t const cols[] = {0, width / 2, width - 5 + row};
      ++turn;
      for (int i = 0; i < 3; ++i)
        if (test_level() != level::quick || i == turn % 3)
          check_special(c, input, special, row, cols[i]);
    }
}

// ---- rows without company: parts of a problem along its first dimension
// Values per column, of one dimension, are not cut.
inline tensor part_of(tensor x, std::int64_t first, std::int64_t count) {
  if (!x.in || x.shape.size() == 1 || x.shape[0] == 1) return x;
  x.shape[0] = count;
  x.origin += first * x.strides[0];
  return x;
}

// An output's part, apart from it, with its strides and as far from 256 bytes.
inline tensor part_apart(world& w, tensor const& x, std::int64_t first, std::int64_t count) {
  tensor const part = part_of(x, first, count);
  auto const bytes = bytes_of(x.type);
  auto const [low, high] = extent(part.shape, part.strides);
  auto const lowest = part.in->device() + (part.origin + low) * bytes;
  auto const off = static_cast<int>(reinterpret_cast<std::uintptr_t>(lowest) % 256) / bytes;
  tensor y = w.make(x.type, part.shape, part.strides, role::output, off);
  y.null_strides = x.null_strides;
  return y;
}

template <row_operands X>
std::string compare_part(X const& large, std::int64_t first, std::int64_t count,
                         std::int64_t& rows) {
  auto c = large.of;
  c.shape.first() = 0;
  X few(c);
  few.of.shape.first() = count;
  world outputs(7);
  for (auto const& t : X::table) {
    if (!(large.*t.is).in) continue;
    few.*t.is = t.output ? part_apart(outputs, large.*t.is, first, count)
                         : part_of(large.*t.is, first, count);
  }
  if (auto const wrong = launch_by_rows(few, outputs); !wrong.empty()) return wrong;
  row_comparison bits;
  auto const all = few.of.shape.all_rows(), before = all / count * first;
  for (std::int64_t row = 0; row < all; ++row)
    for_each_output(few, [&](auto const& t, std::size_t) {
      bits.add(few.*t.is, row, large.*t.is, before + row);
    });
  rows += bits.compared();
  return bits.wrong();
}

// The case with `most` of its first dimension, and as many fewer as there are row_counts().
template <class Case> void check_rows_alone(Case c, std::int64_t most) {
  c.shape.first() = most;
  typename Case::operands large(c);
  compare_small_problems(large, most, compare_part<typename Case::operands>);
}

// Enough rows that a chip which chose tiles by their number would take others for them.
inline std::int64_t most_rows(std::int64_t width) {
  if (test_level() == level::card) return 8192;
  if (test_level() == level::quick && width > 1024) return 320;
  return std::max<std::int64_t>(320, 17 * be::rt::device().multiprocessors);
}

}  // namespace tk::test
