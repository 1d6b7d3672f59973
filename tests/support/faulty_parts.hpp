// SPDX-License-Identifier: MIT
// NaN and infinity in some of what one sequence or one head is given reach nothing of others: all
// that they may not reach has the bits of a call without them. Beside what sequence_parts.hpp asks
// for, an op says
//   all_results(good, bad)   results_of(), and what heads have of all sequences together
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/sequence_parts.hpp"

namespace tk::test {

// Operands of such kinds of heads [head, head + heads) of a sequence, or of all sequences.
struct fault {
  std::string what;
  std::vector<kind> in;
  std::int64_t sequence, head, heads;
  static constexpr std::int64_t everywhere = -1;

  bool is_in(kind x) const { return std::find(in.begin(), in.end(), x) != in.end(); }
  bool may_reach(std::int64_t s, std::int64_t first, std::int64_t count) const {
    return (sequence == everywhere || s == sequence) && first < head + heads &&
           head < first + count;
  }
};
// In head 1 and its group, or all of the second sequence; none that may reach everything.
template <class Case> std::vector<fault> faults_of(Case const& c) {
  std::int64_t const unit = heads_of_unit(c), group = 1 / unit * unit;
  bool const lone = sequences(c) == 1;
  std::int64_t const s = lone ? 0 : 1;
  std::vector<fault> all{{"a head", {kind::of_tokens, kind::of_states}, s, 1, 1},
                         {"a head's numbers", {kind::of_heads}, fault::everywhere, 1, 1}};
  if (c.states) all.push_back({"a state", {kind::of_states}, s, 1, 1});
  if (unit > 1 && !(lone && c.h == unit))
    all.push_back({"a group", {kind::of_groups}, s, group, unit});
  if (!lone)
    all.push_back({"a sequence", {kind::of_tokens, kind::of_groups, kind::of_states}, s, 0, c.h});
  return all;
}

inline void spoil(tensor x, double value) {
  for (std::int64_t r = 0; r < x.rows(); ++r)
    for (std::int64_t c = 0; c < x.cols(); ++c) set(x, r, c, value);
}
inline bool is_finite(tensor const& x, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.result_row(row), x.cols(), values.data());
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}
// Its tokens in a sequence; a step of decoding has fewer of some operands.
template <class Case> std::int64_t tokens_in(tensor const& x, Case const& c, std::int64_t s) {
  return packed(c) ? span_of(c, s).n : x.shape[1];
}

template <class Operands> void check_fault(Operands& good, fault const& f) {
  auto const& c = good.of;
  Operands bad(c);
  double const values[] = {std::nan(""), HUGE_VAL, -HUGE_VAL};
  std::size_t turn = 0;
  std::int64_t const s = std::max<std::int64_t>(f.sequence, 0);
  for (auto const& x : all_inputs(bad, bad)) {
    if (!x.all->in || !f.is_in(x.is)) continue;
    bool const of_tokens = x.is == kind::of_tokens || x.is == kind::of_groups;
    std::int64_t const n = of_tokens ? tokens_in(*x.all, c, s) : 0;
    spoil(part_of(x, c, {s, 0, n, f.head, f.heads}), values[turn++ % 3]);
  }
  REQUIRE(launch_twice(bad) == "");
  row_comparison bits;
  std::int64_t reached = 0;
  for (auto const& x : all_results(good, bad)) {
    if (!x.all->in) continue;
    bool const of_sequences = x.is != kind::of_heads;
    std::int64_t const each = x.is == kind::of_groups ? heads_of_unit(c) : 1;
    for (std::int64_t of = 0; of < (of_sequences ? sequences(c) : 1); ++of)
      for (std::int64_t head = 0; head < c.h; head += each) {
        bool const of_tokens = x.is == kind::of_tokens || x.is == kind::of_groups;
        scan_part const p{of, 0, of_tokens ? tokens_in(*x.all, c, of) : 0, head, each};
        bool const may = f.may_reach(of_sequences ? of : s, head, each);
        auto const got = part_of(x, c, p), wanted = part_of({x.few, x.few, x.is}, c, p);
        for (std::int64_t r = 0; r < got.rows(); ++r)
          if (may) reached += !is_finite(got, r);
          else bits.add(got, r, wanted, r);
      }
  }
  CHECK_MESSAGE(bits.wrong() == "", describe(c) << ", NaN in " << f.what << ": " << bits.wrong());
  CHECK_MESSAGE(reached > 0, describe(c) << ": nothing is of " << f.what);
}
template <class Operands> void check_faults(std::vector<case_of<Operands>> const& cases) {
  for (auto const& c : cases) {
    Operands good(c);
    REQUIRE(launch_twice(good) == "");
    for (auto const& f : faults_of(c)) check_fault(good, f);
  }
}

}  // namespace tk::test
