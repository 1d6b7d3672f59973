// SPDX-License-Identifier: MIT
// The checks that Based's ops have in common.
#pragma once
#include "ops/based/moments.hpp"
#include "ops/based/problem.hpp"
#include "ops/linear_attention/checks.hpp"

namespace tk::api {

// q's 16 columns.
inline void expect_width(view const& q, bool packed) {
  int const axis = packed ? 2 : 3;
  if (q.size[axis] != based_moments::width)
    refuse(status::unsupported, q.is->name, " has ", q.is->axes[axis], " = ", q.size[axis],
           "; it must be ", based_moments::width);
}
inline void expect_based_scale(float scale) {
  float const size = scale < 0 ? -scale : scale;
  if (!(size >= 0x1p-32f && size <= 0x1p32f))
    refuse(status::bad_value, "scale is ", scale, "; its magnitude must be from 2^-32 to 2^32");
}

constexpr signature moments_are(char const* name) {
  return {name, fp32_only, 4, 4, {"b", "h", "moments", "dv"}};
}
constexpr signature sums_are(char const* name) {
  return {name, fp32_only, 3, 3, {"b", "h", "moments"}};
}

// What a state or its sums have in common: one of each sequence and head, of all moments.
inline view read_moments(DLTensor const* given, signature const& is, std::int64_t sequences,
                         view const& v, bool packed, reading const& how) {
  view const x = read(given, is, how);
  if (x.size[0] != sequences)
    refuse(status::bad_shape, is.name, " has b = ", x.size[0], "; it must be ", sequences);
  expect_same_size(x, 1, v, packed ? 1 : 2);
  if (x.size[2] != based_moments::count)
    refuse(status::bad_shape, is.name, " has moments = ", x.size[2], "; it must be ",
           based_moments::count);
  return x;
}
inline state_tensor read_moment_state(view& to, signature const& is, DLTensor const* given,
                                      std::int64_t sequences, view const& v, bool packed,
                                      reading const& how) {
  if (!given) return {};
  view const& x = to = read_moments(given, is, sequences, v, packed, how);
  expect_same_size(x, 3, v, packed ? 2 : 3);
  state_tensor y{};
  y.data = x.data;
  y.type = x.type;
  y.given = true;
  y.b = x.size[0], y.h = x.size[1], y.d = x.size[2], y.dv = x.size[3];
  y.b_stride = x.stride[0], y.h_stride = x.stride[1], y.d_stride = x.stride[2];
  return y;
}
inline moment_sums read_moment_sums(view& to, signature const& is, DLTensor const* given,
                                    bool normalises, std::int64_t sequences, view const& v,
                                    bool packed, reading const& how) {
  if (!given) return {};
  if (!normalises)
    refuse(status::bad_value, is.name, " is given, but normalise is 0; it must be NULL");
  view const& x = to = read_moments(given, is, sequences, v, packed, how);
  return {static_cast<float*>(x.data), true, x.stride[0], x.stride[1]};
}

}  // namespace tk::api
