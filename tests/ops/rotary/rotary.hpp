// SPDX-License-Identifier: MIT
// One case of tk_rotary, and its oracle in double precision. With u = 2^-24, what fp32 may commit:
// 2 u of each product (of sin with its sign none), u of their sum; numbers below 2^-126 may be 0.
// Columns that pass through are exact.
#pragma once
#include "ops/rotary/rotary.h"
#include "tests/support/row_suite.hpp"

namespace tk::test {

enum class tokens_at { in_order, positions, offsets };

struct rotary_operands;

// shape: b, h (tokens n), rows (heads), width (d), of rank 3 or 4. k has as many heads as q.
struct rotary_case {
  using operands = rotary_operands;
  row_shape shape;
  std::int64_t w = 0;  // pairs
  dtype type = dtype::bf16, table_type = dtype::fp32, number_type = dtype::int64;
  tokens_at tokens = tokens_at::in_order;
  bool interleaved = false, inverse = false, has_k = false;
  row_place place = row_place::apart;  // results on q and k
  matrix_layout q_layout = {}, k_layout = {}, out_layout = {}, cos_layout = {}, sin_layout = {};
};

inline std::string describe(rotary_case const& x) {
  static char const* const tokens[] = {"", " positions", " offsets"};
  std::ostringstream s;
  s << "rotary " << x.shape << " " << name_of(x.type) << " w " << x.w << " of "
    << name_of(x.table_type) << tokens[static_cast<int>(x.tokens)]
    << (x.tokens == tokens_at::in_order ? ""
        : x.number_type == dtype::int32 ? " int32"
                                        : " int64")
    << (x.interleaved ? " interleaved" : "") << (x.inverse ? " inverse" : "")
    << (x.has_k ? " +k" : "") << (x.place == row_place::apart ? "" : " in place");
  describe(s, "q", x.q_layout);
  describe(s, "k", x.k_layout);
  describe(s, "out", x.out_layout);
  describe(s, "cos", x.cos_layout);
  describe(s, "sin", x.sin_layout);
  return s.str();
}

inline std::int64_t table_rows(rotary_case const& c) {
  return c.tokens == tokens_at::in_order ? c.shape.h + 2 : 11;
}

// Numbers for each token: some before the tables, some after, and some far from them.
inline void fill_numbers(tensor& x, std::int64_t m) {
  std::int64_t n = 0;
  for (std::int64_t row = 0; row < x.rows(); ++row)
    for (std::int64_t col = 0; col < x.cols(); ++col, ++n) {
      auto value = static_cast<double>(random_below(static_cast<std::uint64_t>(m + 4), 41,
                                                    static_cast<std::uint64_t>(n))) -
                   2;
      if (n % 13 == 5) value = x.type == dtype::int64 ? (n % 2 ? -0x1p63 : 0x1p32 + 3) : -0x1p31;
      set(x, row, col, value);
    }
}

struct rotary_operands {
  explicit rotary_operands(rotary_case const& x);
  rotary_operands(rotary_operands const&) = delete;

  rotary_case of;
  world memories;
  tensor q, k, cos, sin, numbers, q_out, k_out;
  static constexpr row_operand<rotary_operands> table[] = {
      {"q", &rotary_operands::q},
      {"k", &rotary_operands::k},
      {"cos", &rotary_operands::cos},
      {"sin", &rotary_operands::sin},
      {"numbers", &rotary_operands::numbers},
      {"q_out", &rotary_operands::q_out, true},
      {"k_out", &rotary_operands::k_out, true}};
};

inline rotary_operands::rotary_operands(rotary_case const& c) : of(c), memories(3) {
  auto const& s = c.shape;
  bool const in_place = c.place != row_place::apart;
  auto const use = in_place ? role::output : role::input;
  q = place_rows(memories, c.type, s, c.q_layout, use);
  fill_uniform(q, 21, 0, 4);
  q_out = in_place ? q : output_rows(memories, c.type, s, c.out_layout);
  if (c.has_k) {
    k = place_rows(memories, c.type, s, c.k_layout, use);
    fill_uniform(k, 22, 0, 4);
    k_out = in_place ? k : output_rows(memories, c.type, s, c.out_layout);
  }
  row_shape const of_tables{.rank = 2, .rows = table_rows(c), .width = c.w};
  cos = place_rows(memories, c.table_type, of_tables, c.cos_layout, role::input);
  sin = place_rows(memories, c.table_type, of_tables, c.sin_layout, role::input);
  fill_uniform(cos, 23, 0, 1);
  fill_uniform(sin, 24, 0, 1);
  if (c.tokens == tokens_at::in_order) return;
  std::vector<std::int64_t> sizes{s.h};
  if (c.tokens == tokens_at::offsets) sizes = {s.b};
  else if (s.rank == 4) sizes = {s.b, s.h};
  numbers = memories.make(c.number_type, sizes, row_major(sizes), role::input);
  fill_numbers(numbers, table_rows(c));
}

template <class Body> std::string with_problem(rotary_operands const& x, Body const& body) {
  rotary_case const& c = x.of;
  auto const given = [](tensor const& t) { return t.in ? t.dl() : DLTensor{}; };
  DLTensor const q = x.q.dl(), k = given(x.k), cos = x.cos.dl(), sin = x.sin.dl(),
                 numbers = given(x.numbers), q_out = x.q_out.dl(), k_out = given(x.k_out);
  tk_rotary_problem p{};
  p.size = sizeof p;
  p.q = &q;
  p.k = c.has_k ? &k : nullptr;
  p.cos = &cos;
  p.sin = &sin;
  p.positions = c.tokens == tokens_at::positions ? &numbers : nullptr;
  p.offsets = c.tokens == tokens_at::offsets ? &numbers : nullptr;
  p.q_out = &q_out;
  p.k_out = c.has_k ? &k_out : nullptr;
  p.interleaved = c.interleaved;
  p.inverse = c.inverse;
  return body(called_op{TK_OP_ROTARY, tk_rotary}, static_cast<tk_rotary_problem const*>(&p));
}

// The row of the tables of a row's token, or -1.
inline std::int64_t angle_row(rotary_operands const& x, std::int64_t row) {
  auto const& s = x.of.shape;
  std::int64_t const token = row / s.rows, place = token % s.h, sequence = token / s.h;
  if (x.of.tokens == tokens_at::in_order) return place;
  bool const positions = x.of.tokens == tokens_at::positions;
  auto const& t = x.numbers;
  std::int64_t const at = positions ? token : sequence, cols = t.cols();
  double number = given_row(t, at / cols)[static_cast<std::size_t>(at % cols)];
  if (!positions) number += static_cast<double>(place);
  return number >= 0 && number < static_cast<double>(x.cos.rows())
             ? static_cast<std::int64_t>(number)
             : -1;
}

inline void check_row(rotary_operands const& x, std::int64_t row, std::span<error_meter> meters) {
  constexpr double u = fp32_roundoff, least = fp32_least_normal;
  auto const& c = x.of;
  auto const w = static_cast<std::size_t>(c.w);
  auto const at = angle_row(x, row);
  std::vector<double> cos(w, 0), sin(w, 0);
  if (at >= 0) cos = given_row(x.cos, at), sin = given_row(x.sin, at);
  std::size_t out = 0;
  auto const check = [&](tensor const& from, tensor const& to) {
    auto const in = given_row(from, row);
    for (std::size_t col = 0; col < in.size(); ++col) {
      double exact = in[col], slack = 0;
      if (col < 2 * w) {
        bool const second = c.interleaved ? col % 2 == 1 : col >= w;
        std::size_t const i = c.interleaved ? col / 2 : col % w;
        std::size_t const other = c.interleaved ? col ^ 1 : second ? col - w : col + w;
        double const along = in[col] * cos[i];
        double const across = in[other] * sin[i] * (second != c.inverse ? 1 : -1);
        exact = along + across;
        slack = 2 * u * (std::fabs(along) + std::fabs(across)) + u * std::fabs(exact) + 4 * least;
      }
      auto const j = static_cast<std::int64_t>(col);
      meters[out].add(row, j, result_at(to, row, j), exact, slack, rounded(to.type, exact) - exact,
                      slack);
    }
    ++out;
  };
  check(x.q, x.q_out);
  if (c.has_k) check(x.k, x.k_out);
}

// Of `shape`, whatever its rank: its last dimension is d, the one before the heads.
inline rotary_case rotary_of(row_shape shape) {
  rotary_case x;
  shape.rank = std::max(shape.rank, 3);
  x.shape = shape;
  x.w = shape.width / 2;
  return x;
}

}  // namespace tk::test
