// SPDX-License-Identifier: MIT
// The kinds of cases that the tables of conv1d and of its backward go through, packed sequences,
// and wrong offsets of them.
#pragma once
#include "tests/ops/conv1d/operands.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {

// Kind 0 ... 29: types, taps, activation; bias and the initial state go round.
inline constexpr int kinds = 30;
inline void set_kind(conv1d_sizes& x, row_shape const& shape, int kind) {
  x.shape = {shape.rank > 2 ? 3 : 2, 1, shape.b * shape.h, shape.rows, shape.width};
  x.type = row_types[kind % 5 / 2];
  x.weight_type = kind % 5 % 2 ? x.type : dtype::fp32;
  x.taps = 2 + kind / 5 % 3;
  x.silu = kind / 15;
  auto const turn = kind + shape.all_rows() + shape.width;
  x.bias = turn % 3 != 2;
  x.initial = turn % 5 < 3;
}
template <class Case> void check_kinds(std::vector<Case> const& cases) {
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(static_cast<int>(x.type) + 3 * (x.weight_type == dtype::fp32) + 6 * x.taps +
                30 * x.silu);
  CHECK(seen.size() == kinds);
  auto missing = widths_without_case(cases);
  if (test_level() == level::quick)
    for (auto const width : {255, 256, 257, 8191, 8192, 8193, 16384, 16385, 65536, 131072, 131073})
      missing.erase(width);
  CHECK(missing.empty());
  CHECK(ranks_of(cases) == std::set{2, 3});
}

// Sequences of few tokens and of many, and of none, with tokens before them, behind them, and none.
template <class OfKind> auto packed_table(OfKind of_kind) {
  std::vector<decltype(of_kind(row_shape{}, 0))> cases;
  std::vector<std::int64_t> many(200, 3);
  many[77] = 0, many[100] = 130;
  std::vector<std::int64_t> const lengths[] = {
      {0}, {1}, {40}, {}, {2, 0, 17, 1, 33}, {16, 16, 16}, {0, 0, 5}, {300, 1, 129}, many};
  int kind = 0;
  for (auto const& each : lengths)
    for (std::int64_t const width : {8, 130, 1000})
      for (std::int64_t const beside : {0, 5}) {
        if (test_level() == level::quick && (kind + width) % 3 && each.size() > 5) continue;
        auto const starts = starts_of(each, beside);
        auto x = of_kind({.rank = kind % 2 ? 3 : 2, .rows = starts.back() + beside, .width = width},
                         kind);
        x.starts = starts;
        cases.push_back(x);
        kind = (kind + 7) % kinds;
      }
  return cases;
}

// Of three sequences in 90 tokens. Where they overlap, tokens are written twice, which
// ThreadSanitizer calls a race, and rightly.
inline std::vector<std::vector<std::int64_t>> wrong_starts() {
  std::vector<std::vector<std::int64_t>> all{
      {0, 90, 90, 91},      {-5, 20, 40, 90},      {90, 60, 30, 0},
      {50, 40, 1000000, 7}, {0, -1000000, 90, 80}, {2000000000, 3, -2000000000, 90},
      {30, 30, 29, 31},     {-9, -8, -7, -6},      {100, 200, 300, 400}};
#if !defined(__SANITIZE_THREAD__)
  all.push_back({0, 90, 0, 90});
  all.push_back({2147483647, -2147483647 - 1, 2147483647, 0});
#endif
  return all;
}
// Launches operands of three packed sequences with such offsets.
template <class Operands>
void check_wrong_starts(Operands& x, std::vector<std::int64_t> const& starts,
                        std::vector<tensor> const& written) {
  for (std::size_t i = 0; i < starts.size(); ++i)
    set(x.starts, 0, std::int64_t(i), static_cast<double>(starts[i]));
  auto const wrong = with_problem(x, [&](auto op, auto const* problem) {
    session s(x.memories);
    auto text = s.open(op, problem);
    s.reset();
    if (text.empty()) text = s.launch(op, problem);
    be::rt::synchronize();
    return text.empty() ? s.look() : text;
  });
  CHECK(wrong == "");
  CHECK(check_untouched(x.memories, written) == "");
}

}  // namespace tk::test
