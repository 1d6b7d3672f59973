// SPDX-License-Identifier: MIT
// One case of tk_norm_backward. norm_backward_operands builds the operands, launch_twice()
// launches; backward_oracle.hpp judges.
#pragma once
#include "ops/norm/norm_backward.h"
#include "tests/ops/norm/norm.hpp"

namespace tk::test {

enum class dx_place { apart, on_r, on_dy, on_dr };

struct norm_backward_operands;

struct norm_backward_case {
  using operands = norm_backward_operands;
  row_shape shape;
  tk_norm_kind kind = TK_NORM_LAYER;
  dtype type = dtype::bf16;
  bool weight = true, dr = false, dweight = true, dbias = true;
  column_type weight_type = column_type::of_rows, sums_type = column_type::of_rows;
  dx_place place = dx_place::apart;
  double mean = 0, size = 1;  // of r's elements: uniform in mean +- size
  double dy_mean = 0;         // and of dy's: in dy_mean +- 1
  float eps = 1e-5f;
  matrix_layout r_layout = {}, dy_layout = {}, dr_layout = {}, dx_layout = {};
  int weight_misalignment = 0, dweight_misalignment = 0, dbias_misalignment = 0;
  column_type stream = column_type::of_rows;  // of r, dr and dresidual
  bool dresidual = false;
  dx_place dresidual_place = dx_place::apart;
  matrix_layout dresidual_layout = {};
  norm_mask mask = {};

  dtype type_of(column_type x) const { return x == column_type::fp32 ? dtype::fp32 : type; }
};

inline std::string describe(norm_backward_case const& x) {
  static char const* const places[] = {"", " dx on r", " dx on dy", " dx on dr"};
  auto const fp32 = [](column_type type) { return type == column_type::fp32 ? " fp32" : ""; };
  std::ostringstream s;
  s << "backward of " << (x.kind == TK_NORM_RMS ? "rms" : "layer") << " norm " << x.shape << " "
    << name_of(x.type) << (x.dr ? " +dr" : "") << places[static_cast<int>(x.place)];
  if (x.weight) s << fp32(x.weight_type) << " weight";
  if (x.dweight || x.dbias)
    s << fp32(x.sums_type) << (x.dweight ? " dweight" : "") << (x.dbias ? " dbias" : "");
  s << " mean " << x.mean << " size " << x.size << " dy's mean " << x.dy_mean << " eps " << x.eps
    << (x.stream == column_type::fp32 ? " stream fp32" : "") << x.mask;
  if (x.dresidual) s << " dresidual" << places[static_cast<int>(x.dresidual_place)];
  describe(s, "r", x.r_layout);
  describe(s, "dy", x.dy_layout);
  describe(s, "dr", x.dr_layout);
  describe(s, "dx", x.dx_layout);
  describe(s, "dresidual", x.dresidual_layout);
  return s.str();
}

struct norm_backward_operands {
  explicit norm_backward_operands(norm_backward_case const& x);
  norm_backward_operands(norm_backward_operands const&) = delete;

  norm_backward_case of;
  world memories;
  tensor r, dy, weight, dr, dx, dweight, dbias, dresidual;
  mutable norm_state state;
  // dweight and dbias, sums over rows, are not among them.
  static constexpr row_operand<norm_backward_operands> table[] = {
      {"r", &norm_backward_operands::r},
      {"dy", &norm_backward_operands::dy},
      {"weight", &norm_backward_operands::weight},
      {"dr", &norm_backward_operands::dr},
      {"dx", &norm_backward_operands::dx, true},
      {"dresidual", &norm_backward_operands::dresidual, true},
  };
};

inline norm_backward_operands::norm_backward_operands(norm_backward_case const& c)
    : of(c), memories(3), state(memories, c.mask) {
  dtype const stream = c.type_of(c.stream);
  auto const input = [&](dx_place here, dtype type, matrix_layout const& how, std::uint64_t seed,
                         double mean, double size) {
    bool const written = c.place == here || (c.dresidual && c.dresidual_place == here);
    tensor x = place_rows(memories, type, c.shape, how, written ? role::output : role::input);
    fill_uniform(x, seed, mean, size);
    return x;
  };
  r = input(dx_place::on_r, stream, c.r_layout, 21, c.mean, c.size);
  dy = input(dx_place::on_dy, c.type, c.dy_layout, 22, c.dy_mean, 1);
  if (c.dr) dr = input(dx_place::on_dr, stream, c.dr_layout, 23, 0, 1);
  auto const output = [&](dx_place where, dtype type, matrix_layout const& how) {
    return where == dx_place::on_r    ? r
           : where == dx_place::on_dy ? dy
           : where == dx_place::on_dr ? dr
                                      : output_rows(memories, type, c.shape, how);
  };
  dx = output(c.place, c.type, c.dx_layout);
  if (c.dresidual) dresidual = output(c.dresidual_place, stream, c.dresidual_layout);
  auto const columns = [&](column_type type, role use, int misalignment) {
    return memories.make(c.type_of(type), {c.shape.width}, {1}, use, misalignment);
  };
  if (c.weight) {
    weight = columns(c.weight_type, role::input, c.weight_misalignment);
    fill_uniform(weight, 24, 1, 0.5);
  }
  if (c.dweight) dweight = columns(c.sums_type, role::output, c.dweight_misalignment);
  if (c.dbias) dbias = columns(c.sums_type, role::output, c.dbias_misalignment);
  for (auto* sums : {&dweight, &dbias})
    if (sums->in) fill(*sums, data::nans, 0);
}

template <class Body> std::string with_problem(norm_backward_operands const& x, Body const& body) {
  auto const dl = [](tensor const& t) { return t.in ? t.dl() : DLTensor{}; };
  DLTensor const tensors[] = {dl(x.r),  dl(x.dy),      dl(x.weight), dl(x.dr),
                              dl(x.dx), dl(x.dweight), dl(x.dbias),  dl(x.dresidual)};
  auto const given = [&](tensor const& t, int i) { return t.in ? tensors + i : nullptr; };
  tk_norm_backward_problem p{};
  p.size = sizeof p;
  p.r = tensors;
  p.dy = tensors + 1;
  p.weight = given(x.weight, 2);
  p.dr = given(x.dr, 3);
  p.dx = tensors + 4;
  p.dweight = given(x.dweight, 5);
  p.dbias = given(x.dbias, 6);
  p.kind = x.of.kind;
  p.eps = x.of.eps;
  p.dresidual = given(x.dresidual, 7);
  x.state.put(p, x.of.mask);
  return body(called_op{TK_OP_NORM_BACKWARD, tk_norm_backward},
              static_cast<tk_norm_backward_problem const*>(&p));
}

}  // namespace tk::test
