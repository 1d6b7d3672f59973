// SPDX-License-Identifier: MIT
// tk_rotary with `inverse` is the adjoint of tk_rotary without: <dy, R x> = <R^T dy, x>, tokens
// included whose row is none of the tables'. Of small whole numbers, so that both are exact, in all
// types.
#include "tests/ops/rotary/rotary.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// R x, or R^T dy.
struct rotated {
  rotated(rotary_case const& c, std::uint64_t seed) : is(c) {
    fill(is.q, data::integers, seed);
    if (c.has_k) fill(is.k, data::integers, seed + 1);
    fill(is.cos, data::integers, 23);
    fill(is.sin, data::integers, 24);
    REQUIRE(launch_twice(is) == "");
  }
  rotary_operands is;
};

double product(tensor const& given, tensor const& result) {
  double sum = 0;
  for (std::int64_t row = 0; row < given.rows(); ++row) {
    auto const x = given_row(given, row);
    for (std::int64_t col = 0; col < given.cols(); ++col)
      sum += x[static_cast<std::size_t>(col)] * result_at(result, row, col);
  }
  return sum;
}

bool differs(tensor const& given, tensor const& result) {
  for (std::int64_t row = 0; row < given.rows(); ++row) {
    auto const x = given_row(given, row);
    for (std::int64_t col = 0; col < given.cols(); ++col)
      if (x[static_cast<std::size_t>(col)] != result_at(result, row, col)) return true;
  }
  return false;
}

std::vector<rotary_case> cases() {
  std::vector<rotary_case> all;
  for (std::int64_t const width : {2, 8, 64, 65, 128, 200, 520, 1030, 4104})
    for (bool const interleaved : {false, true})
      for (auto const tokens : {tokens_at::in_order, tokens_at::positions, tokens_at::offsets}) {
        auto const turn = static_cast<int>(all.size());
        auto x = rotary_of({.rank = turn / 2 % 2 ? 3 : 4, .h = 9, .rows = 3, .width = width});
        if (x.shape.rank == 4) x.shape.b = 2;
        if (turn % 4 == 3) x.w = width / 4;
        x.type = row_types[turn % 5 ? 2 : turn / 5 % 2];
        x.table_type = turn % 2 ? x.type : dtype::fp32;
        x.interleaved = interleaved, x.tokens = tokens;
        x.has_k = turn % 5 < 3;
        x.place = turn % 7 == 2 ? row_place::on_first : row_place::apart;
        all.push_back(x);
      }
  return all;
}

TEST_CASE("the rotation by the opposite sign is the adjoint") {
  std::size_t turned = 0, all = 0;
  for (auto c : cases()) {
    CAPTURE(describe(c));
    rotated const forward(c, 61);
    c.inverse = true;
    rotated const backward(c, 71);
    auto const &x = forward.is, &dy = backward.is;
    CHECK(product(dy.q, x.q_out) == product(x.q, dy.q_out));
    if (c.has_k) CHECK(product(dy.k, x.k_out) == product(x.k, dy.k_out));
    turned += differs(x.q, x.q_out) && differs(dy.q, dy.q_out);
    ++all;
  }
  CHECK(turned > all * 3 / 4);
}

TEST_CASE("tokens of all sorts are among them") {
  std::set<int> seen;
  for (auto const& c : cases()) {
    rotary_operands const x(c);
    for (std::int64_t row = 0; row < c.shape.all_rows(); ++row)
      seen.insert(2 * static_cast<int>(c.tokens) + (angle_row(x, row) < 0));
  }
  CHECK(seen == std::set{0, 2, 3, 4, 5});
}

}  // namespace
}  // namespace tk::test
