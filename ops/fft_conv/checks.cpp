// SPDX-License-Identifier: MIT
// See checks.hpp.
#include "ops/fft_conv/checks.hpp"

namespace tk::api {

sequences as_sequences(view const& x) {
  sequences y{};
  y.data = x.data;
  y.type = x.type;
  y.b = x.size[0];
  y.h = x.size[1];
  y.n = x.size[2];
  y.b_stride = x.stride[0];
  y.h_stride = x.stride[1];
  return y;
}

filters as_filters(view const& x) {
  filters y{};
  y.data = x.data;
  y.type = x.type;
  y.h = x.size[0];
  y.nk = x.size[1];
  y.h_stride = x.stride[0];
  return y;
}

view read_sequences(DLTensor const* given, signature const& is, view const& u, reading const& how) {
  view const x = read(given, is, how);
  expect_same_type(x, u);
  for (int axis = 0; axis < 3; ++axis) expect_same_size(x, axis, u, axis);
  return x;
}

fft_conv_operands read_operands(fft_conv_views const& to, fft_conv_given const& given,
                                reading const& how) {
  fft_conv_operands x{};
  x.circular = expect_one_of("circular", given.circular, flag_names) == 1;
  x.filter_is_ready = expect_one_of("filter_is_ready", given.filter_is_ready, flag_names) == 1;
  to.u = read(given.u, u_is, how);
  to.k = read(given.k, k_is, how);
  if (given.pre) to.pre = read_sequences(given.pre, pre_is, to.u, how);
  if (given.post) to.post = read_sequences(given.post, post_is, to.u, how);
  auto const h = to.u.size[1], h_k = to.k.size[0], n = to.u.size[2], nk = to.k.size[1];
  if (h_k == 0 ? h > 0 : h % h_k != 0)
    refuse(status::bad_shape, "u has h = ", h, "; it must be a multiple of k's h_k = ", h_k);
  if (x.circular && nk > n)
    refuse(status::unsupported, "k has nk = ", nk,
           "; of a circular convolution it must be at most n = ", n);
  x.u = as_sequences(to.u);
  x.pre = as_sequences(to.pre);
  x.post = as_sequences(to.post);
  x.k = as_filters(to.k);
  return x;
}

}  // namespace tk::api
