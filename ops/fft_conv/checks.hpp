// SPDX-License-Identifier: MIT
// The checks that the long convolution and its backward have in common.
#pragma once
#include "ops/api/check.hpp"
#include "ops/fft_conv/problem.hpp"

namespace tk::api {

constexpr signature sequences_are(char const* name) {
  return {name, halves, 3, 2, {"b", "h", "n"}};
}
constexpr signature u_is = sequences_are("u"), pre_is = sequences_are("pre"),
                    post_is = sequences_are("post"), k_is{"k", fp32_only, 2, 2, {"h_k", "nk"}};

// What both take, as it was given and as it was read.
struct fft_conv_given {
  DLTensor const *u, *k, *pre, *post;
  int const &circular, &filter_is_ready;
};
struct fft_conv_views {
  view &u, &k, &pre, &post;
};
fft_conv_operands read_operands(fft_conv_views const& to, fft_conv_given const& given,
                                reading const& how);

// Of u's sizes and type.
view read_sequences(DLTensor const* given, signature const& is, view const& u, reading const& how);

sequences as_sequences(view const& x);
filters as_filters(view const& x);

}  // namespace tk::api
