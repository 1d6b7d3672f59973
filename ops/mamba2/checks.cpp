// SPDX-License-Identifier: MIT
// See checks.hpp.
#include "ops/mamba2/checks.hpp"

namespace tk::api {

head_vector as_head_vector(view const& x) {
  bool const of_columns = x.is->rank == 2;
  return {static_cast<float*>(x.data), true, of_columns, x.stride[0], of_columns ? x.stride[1] : 0};
}
step_tensor as_steps(view const& x, bool packed) {
  int const n = packed ? 0 : 1;
  step_tensor y{};
  y.data = x.data;
  y.type = x.type;
  y.b_stride = packed ? 0 : x.stride[0];
  y.n_stride = x.stride[n];
  y.h_stride = x.stride[n + 1];
  return y;
}

}  // namespace tk::api
