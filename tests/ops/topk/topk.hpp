// SPDX-License-Identifier: MIT
// One case of tk_topk, and its oracle: a stable sort of each row. Results are exact: columns are
// those of the sort, values the same bits as in x.
#pragma once
#include "ops/topk/topk.h"
#include "tests/support/row_suite.hpp"

namespace tk::test {

// Many ties: 8 numbers, -0 and +0 among them. Specials: NaNs of many kinds, infinities, zeros,
// subnormal and ordinary numbers.
enum class contents { uniform, equal, ascending, descending, ties, specials };
constexpr int all_contents = 6;

struct topk_operands;

struct topk_case {
  using operands = topk_operands;
  row_shape shape;
  std::int64_t k = 1;
  dtype type = dtype::bf16, index_type = dtype::int32;
  bool has_values = true, has_indices = true, smallest = false;
  contents of = contents::uniform;
  matrix_layout x_layout = {}, values_layout = {}, indices_layout = {};

  row_shape result_shape() const {
    row_shape s = shape;
    s.width = k;
    return s;
  }
};

inline std::string describe(topk_case const& x) {
  static char const* const names[] = {"uniform",    "equal", "ascending",
                                      "descending", "ties",  "specials"};
  std::ostringstream s;
  s << "topk " << x.k << (x.smallest ? " smallest" : "") << " of " << x.shape << " "
    << name_of(x.type) << " " << names[static_cast<int>(x.of)] << (x.has_values ? " +values" : "");
  if (x.has_indices) s << " +" << name_of(x.index_type) << " indices";
  describe(s, "x", x.x_layout);
  describe(s, "values", x.values_layout);
  describe(s, "indices", x.indices_layout);
  return s.str();
}

struct topk_operands {
  explicit topk_operands(topk_case const& x);
  topk_operands(topk_operands const&) = delete;

  topk_case of;
  world memories;
  tensor x, values, indices;
  static constexpr row_operand<topk_operands> table[] = {
      {"x", &topk_operands::x},
      {"values", &topk_operands::values, true},
      {"indices", &topk_operands::indices, true}};
};

inline std::uint64_t bits_at(dtype type, std::byte const* p) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, p, static_cast<std::size_t>(bytes_of(type)));
  return bits;
}

// The n-th kind of number that an order may trip over; bits, so that NaNs are of all kinds.
inline std::uint64_t special_bits(dtype type, std::uint64_t n, std::uint64_t random) {
  int const bits = 8 * bytes_of(type), fraction = format_of(type).fraction_bits;
  std::uint64_t const sign = std::uint64_t{n & 1} << (bits - 1);
  std::uint64_t const infinity = ((std::uint64_t{1} << (bits - 1)) - 1) >> fraction << fraction;
  std::uint64_t const payload = random & ((std::uint64_t{1} << fraction) - 1);
  switch (n / 2 % 8) {
    case 0: return sign | infinity | (payload ? payload : 1);  // NaN
    case 1: return sign | infinity;
    case 2: return sign;            // zero
    case 3: return sign | payload;  // subnormal, or zero
    case 4: return sign | 1;        // the least subnormal
    case 5: return sign | (infinity - 1);
    default: return sign | (random & (infinity - 1));
  }
}

inline void fill_contents(tensor& x, contents what) {
  auto const cols = static_cast<double>(x.cols());
  parallel_for(x.rows(), [&](std::int64_t r) {
    for (std::int64_t c = 0; c < x.cols(); ++c) {
      auto const at = static_cast<std::uint64_t>(x.row_offset(r) + c);
      auto const random = random_bits(77, at);
      double const along = 2 * static_cast<double>(c) / cols - 1,
                   units[] = {-2, -1, -0., 0, 1, 2, 3, 4};
      std::byte* const p = x.image_row(r) + c * bytes_of(x.type);
      if (what == contents::specials) {
        auto const bits = special_bits(x.type, random >> 40, random);
        std::memcpy(p, &bits, static_cast<std::size_t>(bytes_of(x.type)));
        continue;
      }
      double const value = what == contents::equal        ? 0.5
                           : what == contents::ascending  ? along
                           : what == contents::descending ? -along
                           : what == contents::ties       ? units[random % 8]
                                                          : random_unit(78, at);
      encode(x.type, rounded(x.type, value), p);
    }
  });
}

inline topk_operands::topk_operands(topk_case const& c) : of(c), memories(9) {
  x = place_rows(memories, c.type, c.shape, c.x_layout, role::input);
  fill_contents(x, c.of);
  if (c.has_values) values = output_rows(memories, c.type, c.result_shape(), c.values_layout);
  if (!c.has_indices) return;
  indices = place_rows(memories, c.index_type, c.result_shape(), c.indices_layout, role::output);
  for (std::int64_t row = 0; row < indices.rows(); ++row)
    for (std::int64_t i = 0; i < c.k; ++i) set(indices, row, i, -7);
}

template <class Body> std::string with_problem(topk_operands const& x, Body const& body) {
  DLTensor const in = x.x.dl(), values = x.values.in ? x.values.dl() : DLTensor{},
                 indices = x.indices.in ? x.indices.dl() : DLTensor{};
  tk_topk_problem p{};
  p.size = sizeof p;
  p.x = &in;
  p.values = x.values.in ? &values : nullptr;
  p.indices = x.indices.in ? &indices : nullptr;
  p.smallest = x.of.smallest;
  return body(called_op{TK_OP_TOPK, tk_topk}, static_cast<tk_topk_problem const*>(&p));
}

// The columns of a row in the order of their numbers, NaN above all others.
inline std::vector<std::int64_t> order_of(std::vector<double> const& row, bool smallest) {
  std::vector<std::int64_t> all(row.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  auto const above = [](double x, double y) {
    return std::isnan(x) ? !std::isnan(y) : !std::isnan(y) && x > y;
  };
  std::stable_sort(all.begin(), all.end(), [&](std::int64_t a, std::int64_t b) {
    double const x = row[static_cast<std::size_t>(a)], y = row[static_cast<std::size_t>(b)];
    return smallest ? above(y, x) : above(x, y);
  });
  return all;
}

inline void check_row(topk_operands const& x, std::int64_t row, std::span<error_meter> meters) {
  auto const order = order_of(given_row(x.x, row), x.of.smallest);
  std::size_t const of_indices = x.values.in ? 1 : 0;
  for (std::int64_t i = 0; i < x.of.k; ++i) {
    auto const col = order[static_cast<std::size_t>(i)];
    if (x.indices.in)
      meters[of_indices].add(row, i, result_at(x.indices, row, i), static_cast<double>(col), 0, 0,
                             0);
    if (!x.values.in) continue;
    // Bits, as a number that meters compare exactly.
    auto const bytes = bytes_of(x.of.type);
    auto const want = bits_at(x.of.type, x.x.image_row(row) + col * bytes),
               got = bits_at(x.of.type, x.values.result_row(row) + i * bytes);
    double const number = result_at(x.values, row, i);
    meters[0].add(row, i,
                  got == want                            ? 0
                  : std::isfinite(number) && number != 0 ? number
                                                         : 1,
                  0, 0, 0, 0);
  }
}

}  // namespace tk::test
