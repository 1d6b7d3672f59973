// SPDX-License-Identifier: MIT
// See checks.hpp.
#include "ops/conv1d/checks.hpp"

namespace tk::api {
namespace {

bool read_activation(tk_activation_kind const& given) {
  int const kind = expect_one_of("activation", given, activation_names);
  if (kind != TK_ACTIVATION_NONE && kind != TK_ACTIVATION_SILU)
    refuse(status::unsupported, "activation is ", activation_names[kind],
           "; it must be TK_ACTIVATION_NONE or TK_ACTIVATION_SILU");
  return kind == TK_ACTIVATION_SILU;
}

void expect_taps(view const& weight) {
  constexpr std::int64_t least = 2, most = 4;
  auto const w = weight.size[1];
  if (w < least || w > most)
    refuse(status::unsupported, "weight has w = ", w, "; it must be ", least, " to ", most);
}

}  // namespace

row_tensor_view as_tokens(view const& x) {
  row_tensor_view y{};
  y.data = x.data;
  y.type = x.type;
  y.outer = x.size[0];
  y.middle = 1;
  y.rows = x.size[1];
  y.width = x.size[2];
  y.outer_stride = x.stride[0];
  y.row_stride = x.stride[1];
  return y;
}

view read_tokens(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const y = read(given, is, how);
  expect_same_type(y, x);
  for (int axis = 0; axis < 3; ++axis) expect_same_size(y, axis, x, axis);
  return y;
}

view read_state(DLTensor const* given, signature const& is, conv1d_operands const& of,
                view const& x, reading const& how) {
  view const y = read(given, is, how);
  expect_same_type(y, x);
  expect_size(y, 0, of.sequences);
  expect_size(y, 1, of.taps - 1);
  expect_same_size(y, 2, x, 2);
  return y;
}

view read_taps(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const y = read(given, is, how);
  expect_type_or_fp32(y, x);
  expect_same_size(y, 0, x, 2);
  if (y.size[0] > 1 && y.size[1] > 0 && y.stride[0] != y.size[1])
    refuse(status::bad_stride, is.name, " has stride ", y.stride[0],
           " in c; it is contiguous where that is w = ", y.size[1]);
  return y;
}
view read_channels(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const y = read(given, is, how);
  expect_type_or_fp32(y, x);
  expect_same_size(y, 0, x, 2);
  return y;
}

conv1d_operands read_operands(conv1d_views const& to, conv1d_given const& given,
                              reading const& how) {
  conv1d_operands result{};
  result.is_silu = read_activation(given.activation);
  to.x = read(given.x, x_is, how);
  to.weight = read_taps(given.weight, weight_is, to.x, how);
  expect_taps(to.weight);
  if (given.bias) {
    to.bias = read_channels(given.bias, bias_is, to.x, how);
    expect_same_type(to.bias, to.weight);
  }
  result.x = as_tokens(to.x);
  result.weight = as_any(to.weight);
  result.bias = as_any(to.bias);
  result.taps = static_cast<int>(to.weight.size[1]);
  result.sequences = to.x.size[0];
  if (given.starts) {
    to.starts = read(given.starts, starts_are, how);
    if (to.x.size[0] != 1)
      refuse(status::bad_shape, "x has b = ", to.x.size[0], " where starts is given; it must be 1");
    if (to.starts.size[0] == 0)
      refuse(status::bad_shape, "starts has sequences + 1 = 0; it must be 1 or more");
    result.is_packed = true;
    result.starts = static_cast<std::int32_t const*>(to.starts.data);
    result.sequences = to.starts.size[0] - 1;
  }
  if (given.initial) to.initial = read_state(given.initial, initial_is, result, to.x, how);
  result.initial = as_tokens(to.initial);
  return result;
}

}  // namespace tk::api
