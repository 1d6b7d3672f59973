// SPDX-License-Identifier: MIT
// Operands of sequences of tokens and heads: [b, n, h, d], or [total, h, d] of packed sequences.
#pragma once
#include "ops/api/check.hpp"
#include "ops/tensors.hpp"

namespace tk::api {

// The signatures of a tensor, and of that of packed sequences.
struct signatures {
  signature of[2];
  constexpr signature const& operator[](bool packed) const { return of[packed]; }
};
constexpr signatures heads_are(char const* name, char const* n, char const* total, char const* h,
                               char const* d) {
  return {{{name, halves, 4, 4, {"b", n, h, d}}, {name, halves, 3, 3, {total, h, d}}}};
}
inline heads as_heads(view const& x, bool packed) {
  heads y{};
  int const n = packed ? 0 : 1;
  y.data = x.data;
  y.type = x.type;
  y.b = packed ? 1 : x.size[0];
  y.n = x.size[n];
  y.h = x.size[n + 1];
  y.d = x.size[n + 2];
  y.b_stride = packed ? 0 : x.stride[0];
  y.n_stride = x.stride[n];
  y.h_stride = x.stride[n + 1];
  return y;
}

}  // namespace tk::api
