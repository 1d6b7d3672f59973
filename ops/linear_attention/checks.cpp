// SPDX-License-Identifier: MIT
// See checks.hpp.
#include "ops/linear_attention/checks.hpp"

#include <cmath>

namespace tk::api {
namespace {

constexpr signatures log_decay_is{{{"log_decay", fp32_only, 3, 3, {"b", "n", "h"}, true},
                                   {"log_decay", fp32_only, 2, 2, {"total", "h"}, true}}};
constexpr signatures dlog_decay_is{{{"dlog_decay", fp32_only, 3, 3, {"b", "n", "h"}, true},
                                    {"dlog_decay", fp32_only, 2, 2, {"total", "h"}, true}}};
constexpr signature decay_is{"decay", fp32_only, 1, 1, {"h"}, true},
    ddecay_is{"ddecay", fp32_only, 1, 1, {"h"}, true};
constexpr signature starts_are{"starts", only(element::int32), 1, 1, {"b + 1"}};

}  // namespace

void expect_head_size(view const& x, int axis) {
  constexpr std::int64_t largest = 256, step = 16;
  auto const size = x.size[axis];
  if (size >= step && size <= largest && size % step == 0) return;
  refuse(status::unsupported, x.is->name, " has ", x.is->axes[axis], " = ", size,
         "; it must be a multiple of ", step, " from ", step, " to ", largest);
}

void expect_token_shapes(token_views const& x, bool packed) {
  auto const& [q, k, v] = x;
  int const n = packed ? 0 : 1;
  for (auto const* other : {&k, &v}) {
    expect_same_type(*other, q);
    for (int axis = 0; axis <= n + 1; ++axis) expect_same_size(*other, axis, q, axis);
  }
  expect_same_size(k, n + 2, q, n + 2);
  expect_head_size(q, n + 2);
  expect_head_size(v, n + 2);
}

view read_like(DLTensor const* given, signature const& is, view const& like, reading const& how) {
  view const x = read(given, is, how);
  expect_same_type(x, like);
  for (int axis = 0; axis < is.rank; ++axis) expect_same_size(x, axis, like, axis);
  return x;
}

void expect_scale(float scale) {
  float const size = std::fabs(scale);
  if (!(size >= 0x1p-64f && size <= 0x1p64f))
    refuse(status::bad_value, "scale is ", scale, "; its magnitude must be from 2^-64 to 2^64");
}

token_decays read_decays(decay_views& to, DLTensor const* log_decay, DLTensor const* decay,
                         view const& v, bool packed, reading const& how) {
  if (log_decay && decay)
    refuse(status::bad_value, "log_decay and decay are both given; one must be NULL");
  int const n = packed ? 0 : 1;
  if (decay) {
    to.decay = read(decay, decay_is, how);
    expect_same_size(to.decay, 0, v, n + 1);
    return {static_cast<float const*>(to.decay.data), true, true, 0, 0, to.decay.stride[0]};
  }
  if (!log_decay) return {};
  view& x = to.log_decay = read(log_decay, log_decay_is[packed], how);
  for (int axis = 0; axis <= n + 1; ++axis) expect_same_size(x, axis, v, axis);
  return {static_cast<float const*>(x.data), true,        false,
          packed ? 0 : x.stride[0],          x.stride[n], x.stride[n + 1]};
}

decay_gradients read_decay_gradients(decay_views& to, DLTensor const* dlog_decay,
                                     DLTensor const* ddecay, decay_views const& of, bool packed,
                                     reading const& how) {
  auto const refuse_without = [](char const* name, char const* what) {
    refuse(status::null_pointer, what, " is NULL, but ", name, " is given");
  };
  if (dlog_decay && !of.log_decay.is) refuse_without("dlog_decay", "log_decay");
  if (ddecay && !of.decay.is) refuse_without("ddecay", "decay");
  if (ddecay) {
    view const& x = to.decay = read_like(ddecay, ddecay_is, of.decay, how);
    return {static_cast<float*>(x.data), true, true, 0, 0, x.stride[0]};
  }
  if (!dlog_decay) return {};
  view const& x = to.log_decay = read_like(dlog_decay, dlog_decay_is[packed], of.log_decay, how);
  int const n = packed ? 0 : 1;
  return {static_cast<float*>(x.data), true,        false,
          packed ? 0 : x.stride[0],    x.stride[n], x.stride[n + 1]};
}

sequence_starts read_starts(view& to, DLTensor const* given, view const& q, reading const& how) {
  if (!given) return {nullptr, false, q.size[0]};
  to = read(given, starts_are, how);
  if (to.size[0] == 0) refuse(status::bad_shape, "starts has b + 1 = 0; it must be 1 or more");
  return {static_cast<std::int32_t const*>(to.data), true, to.size[0] - 1};
}

state_tensor read_state(view& to, signature const& is, DLTensor const* given,
                        std::int64_t sequences, view const& of_rows, view const& of_cols,
                        bool packed, reading const& how) {
  state_tensor y{};
  if (!given) return y;
  int const n = packed ? 0 : 1;
  to = read(given, is, how);
  if (to.size[0] != sequences)
    refuse(status::bad_shape, is.name, " has b = ", to.size[0], "; it must be ", sequences);
  expect_same_size(to, 1, of_rows, n + 1);
  expect_same_size(to, 2, of_rows, n + 2);
  expect_same_size(to, 3, of_cols, n + 2);
  y.data = to.data;
  y.type = to.type;
  y.given = true;
  y.b = sequences;
  y.h = to.size[1];
  y.d = to.size[2];
  y.dv = to.size[3];
  y.b_stride = to.stride[0];
  y.h_stride = to.stride[1];
  y.d_stride = to.stride[2];
  return y;
}

}  // namespace tk::api
