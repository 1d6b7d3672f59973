// SPDX-License-Identifier: MIT
// timeout: 600
// Packed sequences that do not hold all tokens: of those in front of them, between and behind them
// nothing is written, and nothing reaches a gradient of decays; each sequence has the bits that it
// has alone.
#include "tests/ops/linear_attention/cut.hpp"

namespace tk::test {
namespace {

struct gaps {
  std::int64_t total;
  std::vector<std::int64_t> starts;
  std::size_t sequences() const { return starts.size() - 1; }
  std::int64_t length(std::size_t s) const { return starts[s + 1] - starts[s]; }
  bool holds(std::int64_t token) const {
    for (std::size_t s = 0; s < sequences(); ++s)
      if (token >= starts[s] && token < starts[s + 1]) return true;
    return false;
  }
};
std::string describe(scan_case const& c, gaps const& of) {
  auto text = describe(c) + ", starts";
  for (auto const s : of.starts) text += " " + std::to_string(s);
  return text;
}

template <class Operands> void check_rows(Operands const& x, gaps const& of) {
  std::int64_t written = 0, missing = 0, first = -1;
  for (auto const& y : outputs_of(x)) {
    if (y.shape[0] != of.total) continue;  // not of tokens
    std::int64_t const rows = y.rows() / of.total;
    auto const size = static_cast<std::size_t>(y.cols() * bytes_of(y.type));
    for (std::int64_t r = 0; r < y.rows(); ++r) {
      bool const same = std::memcmp(y.result_row(r), y.image_row(r), size) == 0;
      if (of.holds(r / rows)) missing += same;
      else if (!same && written++ == 0) first = r / rows;
    }
  }
  CHECK_MESSAGE(written == 0, describe(x.of, of) << ": " << written
                                                 << " rows of no sequence are written, first of "
                                                 << "token " << first);
  CHECK_MESSAGE(missing == 0, describe(x.of, of) << ": " << missing << " rows are not written");
}

// Sequence s alone, with its own states.
template <class Operands>
std::unique_ptr<Operands> alone(Operands& x, gaps const& of, std::size_t s) {
  // The case's first sequence holds all tokens.
  auto few = take(x, {0, of.starts[s], of.length(s), 0, x.of.h});
  auto inputs = inputs_of(*few, x);
  for (auto const& y : own_inputs(*few, x)) inputs.push_back(y);
  for (auto const& y : inputs) {
    if (!y.all->in || y.is != kind::of_states) continue;
    auto const from = states_of(*y.all, {static_cast<std::int64_t>(s), 0, 0, 0, x.of.h});
    for (std::int64_t r = 0; r < from.rows(); ++r)
      std::memcpy(y.few->image_row(r), from.image_row(r), static_cast<std::size_t>(x.of.dv) * 4);
  }
  return few;
}

// What heads' decays get, of all sequences.
void add_ddecay(std::vector<double>&, forward_operands const&) {}
void add_ddecay(std::vector<double>& to, backward_operands const& x) {
  for (std::size_t head = 0; head < to.size() && x.ddecay.in; ++head)
    to[head] += decode(dtype::fp32, x.ddecay.result_row(0) + head * 4);
}
// Sums of the same numbers in another order.
bool is_near(double x, double y, double size) { return std::fabs(x - y) <= 0x1p-18 * size; }

template <class Operands> void check_gaps(scan_case c, gaps const& of) {
  c.lengths.assign(of.sequences(), 0);
  c.lengths[0] = of.total;
  Operands x(c);
  for (std::size_t i = 0; i < of.starts.size(); ++i)
    set(x.starts, 0, static_cast<std::int64_t>(i), static_cast<double>(of.starts[i]));
  auto const launched = launch_twice(x);
  CHECK_MESSAGE(launched == "", describe(c, of) << ": " << launched);
  check_rows(x, of);
  std::vector<double> got(static_cast<std::size_t>(c.h)), wanted(got), size(got);
  add_ddecay(got, x);
  row_comparison bits;
  for (std::size_t s = 0; s < of.sequences(); ++s) {
    auto const few = alone(x, of, s);
    REQUIRE(launch_twice(*few) == "");
    scan_part const tokens{0, of.starts[s], of.length(s), 0, c.h},
        states{static_cast<std::int64_t>(s), 0, 0, 0, c.h};
    for (auto const& y : results_of(*few, x)) {
      if (!y.all->in) continue;
      auto const same =
          y.is == kind::of_states ? states_of(*y.all, states) : tokens_of(*y.all, c, tokens);
      for (std::int64_t r = 0; r < same.rows(); ++r) bits.add(*y.few, r, same, r);
    }
    std::vector<double> mine(got.size());
    add_ddecay(mine, *few);
    for (std::size_t i = 0; i < mine.size(); ++i)
      wanted[i] += mine[i], size[i] += std::fabs(mine[i]);
  }
  CHECK_MESSAGE(bits.wrong() == "", describe(c, of) << ": " << bits.wrong());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK_MESSAGE(is_near(got[i], wanted[i], size[i]),
                  describe(c, of) << ": ddecay is " << got[i] << ", not " << wanted[i]);
  CHECK(check_untouched(x.memories, outputs_of(x)) == "");
}

template <class Operands> void check_walked(std::vector<gaps> const& all) {
  for (auto const decay : {decays::none, decays::heads, decays::mild})
    for (auto const& of : all)
      check_gaps<Operands>({.h = 2, .d = 32, .dv = 48, .decay = decay, .states = true}, of);
}
template <class Operands> void check_segments(std::vector<gaps> const& all) {
  for (auto const decay : {decays::none, decays::heads, decays::mild})
    for (auto const& of : all) {
      scan_case c{.d = 16, .dv = 16, .decay = decay, .states = true};
      c.lengths.assign(of.sequences(), 0);
      c.lengths[0] = of.total;
      REQUIRE(is_cut<Operands>(c) == true);
      check_gaps<Operands>(c, of);
    }
}

std::vector<gaps> gaps_behind() { return {{125, {8, 75, 75, 97}}, {70, {0, 33, 33, 34}}}; }
std::vector<gaps> gaps_before() { return {{100, {64, 80}}, {300, {200, 270, 290}}}; }

TEST_CASE("tokens behind and between sequences") {
  check_walked<forward_operands>(gaps_behind());
  check_walked<backward_operands>(gaps_behind());
}
TEST_CASE("a chunk of tokens before the first sequence") {
  check_walked<forward_operands>(gaps_before());
  check_walked<backward_operands>(gaps_before());
}
// The same of segments of 1024.
TEST_CASE("tokens behind and between sequences in segments") {
  check_segments<forward_operands>({{4200, {500, 2600, 2600, 4000}}});
  check_segments<backward_operands>({{4200, {500, 2600, 2600, 4000}}});
}
TEST_CASE("a segment of tokens before the first sequence") {
  check_segments<forward_operands>({{4200, {1500, 2600, 2700, 4000}}});
  check_segments<backward_operands>({{4200, {1500, 2600, 2700, 4000}}});
}
}  // namespace
}  // namespace tk::test
