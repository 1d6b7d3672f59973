// SPDX-License-Identifier: MIT
// One case of tk_activation, and its oracle in double precision. With u = 2^-24, what fp32 may
// commit:
//   act  tests/support/activate.hpp's, and u of it
//   y    a product, u; numbers below 2^-126 may be 0, a and b as well
#pragma once
#include "ops/activation/activation.h"
#include "tests/support/activate.hpp"
#include "tests/support/row_suite.hpp"

namespace tk::test {

constexpr tk_activation_kind activation_kinds[] = {TK_ACTIVATION_NONE,     TK_ACTIVATION_RELU,
                                                   TK_ACTIVATION_SILU,     TK_ACTIVATION_GELU_TANH,
                                                   TK_ACTIVATION_GELU_ERF, TK_ACTIVATION_SIGMOID};

// What a is: uniform in +-8, where activations bend, or every bf16 number in turn, with NaN.
enum class activation_data { uniform, every_number };

struct activation_operands;

struct activation_case {
  using operands = activation_operands;
  row_shape shape;
  dtype type = dtype::bf16;
  tk_activation_kind kind = TK_ACTIVATION_SILU;
  bool gated = true;         // b is given
  bool packed = false;       // a and b are halves of one tensor, laid out as a
  bool interleaved = false;  // a and b, of 16 bits, take turns in a; layouts of it count pairs
  activation_data data = activation_data::uniform;
  row_place y_place = row_place::apart;  // first is a, second b
  matrix_layout a_layout = {}, b_layout = {}, y_layout = {};
};

template <class Case> char const* gating_of(Case const& x) {
  if (x.interleaved) return " interleaved";
  return !x.gated ? "" : x.packed ? " packed b" : " b";
}
inline std::string describe(activation_case const& x) {
  static char const* const places[] = {"", " on a", " on b"};
  std::ostringstream s;
  s << activation_name(x.kind) << " " << x.shape << " " << name_of(x.type) << gating_of(x) << " y"
    << places[static_cast<int>(x.y_place)]
    << (x.data == activation_data::every_number ? " of every number" : "");
  describe(s, "a", x.a_layout);
  if (x.gated && !x.packed && !x.interleaved) describe(s, "b", x.b_layout);
  describe(s, "y", x.y_layout);
  return s.str();
}

inline void fill_activated(tensor& x, activation_data data) {
  if (data == activation_data::uniform) return fill_uniform(x, 21, 0, 8);
  for (std::int64_t r = 0, i = 0; r < x.rows(); ++r)
    for (std::int64_t c = 0; c < x.cols(); ++c, ++i) {
      auto const bits = static_cast<std::uint16_t>(i);
      std::byte number[2];
      std::memcpy(number, &bits, 2);
      set(x, r, c, decode(dtype::bf16, number));
    }
}

// Pairs, of which `how` counts the elements.
inline tensor place_pairs(world& w, dtype type, row_shape const& shape, matrix_layout const& how,
                          role use) {
  auto sizes = shape.sizes();
  auto strides = row_strides(shape, how);
  for (auto& stride : strides) stride *= 2;
  sizes.back() *= 2, strides.back() = 1;
  tensor x =
      w.make(type, sizes, how.null_strides ? row_major(sizes) : strides, use, 2 * how.misalignment);
  x.null_strides = how.null_strides;
  x.byte_offset = how.byte_offset;
  return x;
}
// Of each pair the first is as a elsewhere, the second as b.
inline void fill_pairs(tensor& x, activation_data data) {
  fill_uniform(x, 22, 0, 2);
  parallel_for(x.rows(), [&](std::int64_t r) {
    auto const at = static_cast<std::uint64_t>(x.row_offset(r));
    for (std::int64_t c = 0; c < x.cols(); c += 2) {
      double a = 8 * random_unit(21, at + static_cast<std::uint64_t>(c));
      if (data == activation_data::every_number) {
        auto const bits = static_cast<std::uint16_t>((r * x.cols() + c) / 2);
        std::byte number[2];
        std::memcpy(number, &bits, 2);
        a = decode(dtype::bf16, number);
      }
      set(x, r, c, a);
    }
  });
}
// The first or the second of the pairs of a row.
inline std::vector<double> given_of_pairs(tensor const& x, std::int64_t row, std::size_t which) {
  auto const all = given_row(x, row);
  std::vector<double> some;
  for (auto i = which; i < all.size(); i += 2) some.push_back(all[i]);
  return some;
}

// a, and b where it is given; each lies in memory of the role that it is given.
struct activation_inputs {
  tensor a, b;
};
template <class Case>
activation_inputs place_inputs(world& w, Case const& c, role a_role, role b_role) {
  activation_inputs x;
  if (c.interleaved) {
    x.a = place_pairs(w, c.type, c.shape, c.a_layout, a_role);
    fill_pairs(x.a, c.data);
    return x;
  }
  if (c.gated && c.packed) {
    auto both = c.shape;
    both.width *= 2;
    bool const written = a_role == role::output || b_role == role::output;
    x.a = place_rows(w, c.type, both, c.a_layout, written ? role::output : role::input);
    x.a.null_strides = false;
    x.a.shape.back() = c.shape.width;
    x.b = x.a;
    x.b.origin += c.shape.width;
  } else {
    x.a = place_rows(w, c.type, c.shape, c.a_layout, a_role);
    if (c.gated) x.b = place_rows(w, c.type, c.shape, c.b_layout, b_role);
  }
  fill_activated(x.a, c.data);
  if (c.gated) fill_uniform(x.b, 22, 0, 2);
  return x;
}

struct activation_operands {
  explicit activation_operands(activation_case const& x);
  activation_operands(activation_operands const&) = delete;

  activation_case of;
  world memories;
  tensor a, b, y;
  static constexpr row_operand<activation_operands> table[] = {
      {"a", &activation_operands::a},
      {"b", &activation_operands::b},
      {"y", &activation_operands::y, true}};
};

inline activation_operands::activation_operands(activation_case const& c) : of(c), memories(3) {
  auto const role_of = [&](row_place x) { return c.y_place == x ? role::output : role::input; };
  auto const in =
      place_inputs(memories, c, role_of(row_place::on_first), role_of(row_place::on_second));
  a = in.a, b = in.b;
  y = c.y_place == row_place::on_first    ? a
      : c.y_place == row_place::on_second ? b
                                          : output_rows(memories, c.type, c.shape, c.y_layout);
}

template <class Body> std::string with_problem(activation_operands const& x, Body const& body) {
  DLTensor const a = x.a.dl(), b = x.b.in ? x.b.dl() : DLTensor{}, y = x.y.dl();
  tk_activation_problem p{};
  p.size = sizeof p;
  p.a = &a;
  p.b = x.b.in ? &b : nullptr;
  p.y = &y;
  p.kind = x.of.kind;
  p.interleaved = x.of.interleaved;
  return body(called_op{TK_OP_ACTIVATION, tk_activation},
              static_cast<tk_activation_problem const*>(&p));
}

// a and b of a row, b 1 where it is absent.
struct activation_numbers {
  std::vector<double> a, b;
};
template <class Operands> activation_numbers numbers_of(Operands const& x, std::int64_t row) {
  if (x.of.interleaved) return {given_of_pairs(x.a, row, 0), given_of_pairs(x.a, row, 1)};
  auto const a = given_row(x.a, row);
  return {a, x.b.in ? given_row(x.b, row) : std::vector<double>(a.size(), 1)};
}

inline void check_row(activation_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  constexpr double u = fp32_roundoff, least = fp32_least_normal;
  auto const [a, b] = numbers_of(x, row);
  bool const gated = x.b.in || x.of.interleaved;
  for (std::int64_t col = 0; col < x.of.shape.width; ++col) {
    auto const i = static_cast<std::size_t>(col);
    double const exact = activate(x.of.kind, a[i]) * b[i];
    double const slack =
        activation_slack(x.of.kind, a[i]) * std::fabs(b[i]) +
        (is_exact(x.of.kind) ? gated ? 1 : 0 : 3) * u * std::fabs(exact) +
        least * (1 + std::fabs(b[i]) + (std::isfinite(a[i]) ? std::fabs(a[i]) : 0));
    meters[0].add(row, col, result_at(x.y, row, col), exact, slack,
                  rounded(x.y.type, exact) - exact, slack);
  }
}

}  // namespace tk::test
