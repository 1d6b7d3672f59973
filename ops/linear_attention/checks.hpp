// SPDX-License-Identifier: MIT
// The checks that linear attention's ops have in common.
#pragma once
#include "ops/api/heads.hpp"
#include "ops/linear_attention/problem.hpp"

namespace tk::api {

// q and k [b, n, h, d], v and its like [b, n, h, dv], all of q's type.
struct token_views {
  view const &q, &k, &v;
};
void expect_token_shapes(token_views const& x, bool packed);
// A tensor of the shape and type of another operand.
view read_like(DLTensor const* given, signature const& is, view const& like, reading const& how);

void expect_scale(float scale);

struct decay_views {
  view log_decay, decay;
};
// At most one of the two is given.
token_decays read_decays(decay_views& to, DLTensor const* log_decay, DLTensor const* decay,
                         view const& v, bool packed, reading const& how);
// At most the one of the decay that is given; like it.
decay_gradients read_decay_gradients(decay_views& to, DLTensor const* dlog_decay,
                                     DLTensor const* ddecay, decay_views const& of, bool packed,
                                     reading const& how);
sequence_starts read_starts(view& to, DLTensor const* given, view const& q, reading const& how);
// A state of each sequence and head, of as many rows and columns as two operands have columns.
constexpr signature state_is(char const* name, char const* rows, char const* cols) {
  return {name, fp32_only, 4, 4, {"b", "h", rows, cols}};
}
state_tensor read_state(view& to, signature const& is, DLTensor const* given,
                        std::int64_t sequences, view const& of_rows, view const& of_cols,
                        bool packed, reading const& how);
// A multiple of 16 up to 256.
void expect_head_size(view const& x, int axis);

}  // namespace tk::api
