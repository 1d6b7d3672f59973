// SPDX-License-Identifier: MIT
// Packed sequences that don't hold all tokens: of those in front of them, between and behind them
// nothing is written, and nothing reaches what all sequences add up to; each sequence has the bits
// that it has alone. An op says what these sums are: sums_of(x), a number each.
#pragma once
#include <algorithm>

#include "tests/support/sequence_parts.hpp"

namespace tk::test {

struct gaps {
  std::int64_t total;
  std::vector<std::int64_t> starts;  // of each sequence, and the end; outside of [0, total], too
  std::size_t sequences() const { return starts.size() - 1; }
  std::int64_t start(std::size_t s) const { return std::clamp<std::int64_t>(starts[s], 0, total); }
  std::int64_t length(std::size_t s) const { return start(s + 1) - start(s); }
  bool holds(std::int64_t token) const { return token >= start(0) && token < start(sequences()); }
};
template <class Case> std::string describe(Case const& c, gaps const& of) {
  auto text = describe(c) + ", starts";
  for (auto const s : of.starts) text += " " + std::to_string(s);
  return text;
}

template <class Operands> void check_written(Operands const& x, gaps const& of) {
  std::int64_t written = 0, missing = 0, first = -1;
  for (auto const& y : outputs_of(x)) {
    if (y.shape[0] != of.total) continue;  // not of tokens
    std::int64_t const rows = y.rows() / of.total;
    for (std::int64_t r = 0; r < y.rows(); ++r) {
      bool const same = std::memcmp(y.result_row(r), y.image_row(r), bytes_of_row(y)) == 0;
      if (of.holds(r / rows)) missing += same;
      else if (!same && written++ == 0) first = r / rows;
    }
  }
  CHECK_MESSAGE(written == 0, describe(x.of, of) << ": " << written
                                                 << " rows of no sequence are written, first of "
                                                 << "token " << first);
  CHECK_MESSAGE(missing == 0, describe(x.of, of) << ": " << missing << " rows are not written");
}

template <case_of_sequences Case> void set_total(Case& c, gaps const& of) {
  c.lengths.assign(of.sequences(), 0);
  c.lengths[0] = of.total;  // the first sequence of the operands holds all tokens
}
template <class Operands> void check_gaps(case_of<Operands> c, gaps const& of) {
  set_total(c, of);
  Operands x(c);
  if constexpr (requires { x.repeat; }) x.repeat = TK_REPEAT_ROW;
  for (std::size_t i = 0; i < of.starts.size(); ++i)
    set(x.starts, 0, static_cast<std::int64_t>(i), static_cast<double>(of.starts[i]));
  auto const launched = launch_twice(x);
  CHECK_MESSAGE(launched == "", describe(c, of) << ": " << launched);
  check_written(x, of);
  auto const got = sums_of(x);
  std::vector<double> wanted(got.size()), size(got.size());
  row_comparison bits;
  for (std::size_t s = 0; s < of.sequences(); ++s) {
    scan_part const tokens{0, of.start(s), of.length(s), 0, c.h},
        states{static_cast<std::int64_t>(s), 0, 0, 0, c.h};
    auto const few = take(x, tokens);
    auto const part = [&](pair_of_operands const& y) {
      return part_of(y, c, y.is == kind::of_states ? states : tokens);
    };
    for (auto const& y : all_inputs(*few, x))
      if (y.all->in) copy_inputs(*y.few, part(y));
    REQUIRE(launch_twice(*few) == "");
    for (auto const& y : results_of(*few, x)) {
      if (!y.all->in) continue;
      auto const same = part(y);
      for (std::int64_t r = 0; r < same.rows(); ++r) bits.add(*y.few, r, same, r);
    }
    auto const mine = sums_of(*few);
    for (std::size_t i = 0; i < mine.size(); ++i)
      wanted[i] += mine[i], size[i] += std::fabs(mine[i]);
  }
  CHECK_MESSAGE(bits.wrong() == "", describe(c, of) << ": " << bits.wrong());
  // The same numbers, added up in another order.
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK_MESSAGE(std::fabs(got[i] - wanted[i]) <= 0x1p-18 * size[i],
                  describe(c, of) << ": sum " << i << " is " << got[i] << ", not " << wanted[i]);
  CHECK(check_untouched(x.memories, outputs_of(x)) == "");
}

// Walked: behind and between sequences, a chunk and more before the first one, past the ends.
inline std::vector<gaps> short_gaps() {
  return {{125, {8, 75, 75, 97}},        {70, {0, 33, 33, 34}},  {100, {64, 80}},
          {300, {200, 270, 290}},        {90, {-7, 10, 10, 99}}, {90, {90, 90, 91, 92}},
          {90, {-2000000000, -5, 0, 30}}};
}
// The same of segments of 1024, where such are tasks.
inline std::vector<gaps> long_gaps() {
  return {{4200, {500, 2600, 2600, 4000}}, {4200, {1500, 2600, 2700, 4000}}};
}

}  // namespace tk::test
