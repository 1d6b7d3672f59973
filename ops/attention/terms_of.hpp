// SPDX-License-Identifier: MIT
// From checked options to what kernels take.
#pragma once
#include "core/move.hpp"
#include "ops/attention/terms.hpp"

namespace tk {

// A bias, or its gradient, as a tensor: rows are queries, the outer indices head and batch.
template <class T>
tensor<T> bias_as(bias_tensor const& x, std::int64_t heads, std::int64_t batches) {
  return {static_cast<T*>(x.data), x.nq, x.nk, x.n_stride, heads, x.h_stride, batches, x.b_stride};
}

template <class T>
device_terms<T> terms_of(attention_terms const& from, heads const& q, heads const& k) {
  device_terms<T> to{};
  to.softcap = from.softcap;
  to.inverse_softcap = from.softcap != 0 ? 1 / from.softcap : 0.f;
  to.alibi = from.alibi;
  to.sinks = from.sinks;
  if (from.bias.data && from.bias.type == element::fp32) {
    to.wide_bias = bias_as<float const>(from.bias, q.h, from.b);
    to.bias_width = vector_width_of(to.wide_bias);
  } else if (from.bias.data) {
    to.bias = bias_as<T const>(from.bias, q.h, from.b);
    to.bias_width = vector_width_of(to.bias);
  }
  to.seen = {static_cast<int>(from.left), static_cast<int>(from.right)};
  auto const rows = [&](std::int32_t const* starts, heads const& x, std::int64_t most) {
    return packed_rows{starts, static_cast<int>(from.b), static_cast<int>(x.n),
                       static_cast<int>(most)};
  };
  to.q = rows(from.q_starts, q, from.nq);
  to.k = rows(from.k_starts, k, from.nk);
  to.dropout = from.dropout;
  to.seed = from.seed;
  to.offset = from.offset;
  to.random_state = from.random_state;
  return to;
}

}  // namespace tk
