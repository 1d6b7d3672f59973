// SPDX-License-Identifier: MIT
// What stands in for the kernels of norm and its backward in the fuzzer.
#include <cmath>

#include "ops/norm/norm.h"
#include "ops/norm/norm_backward.h"
#include "ops/norm/problem.hpp"
#include "ops/row_sizes.hpp"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

// Rows, or none: of whatever sizes those were.
void agree_some(tk::row_tensor_view const& x, seen_tensor const& t, seen_tensor const& like) {
  if (!like.empty()) return agree_rows(x, t, like);
  require(!x.data && x.outer <= 1 && x.middle <= 1 && x.rows == 0, "rows where there are none");
  if (t.looked_at) require(x.width == like.size[3], "the width of no rows changed");
}

void agree_columns(tk::any_tensor const& x, seen_tensor const& t) {
  require((x.data != nullptr) == t.looked_at, "values of columns appeared or went");
  if (t.looked_at) agree(x, t);
}

template <class Given>
void agree_dropout(tk::norm_dropout const& x, Given const& p, seen_tensor const& state) {
  require(x.below >= 0 && x.below <= 255 && x.below == std::lround(256 * p.dropout) &&
              x.seed == p.seed && x.offset == p.offset,
          "dropout changed");
  at(x.random_state, state, "random_state moved");
}

void agree_scale(tk::norm_scale const& x, tk_norm_problem const& p, seen_tensor const& t,
                 seen_tensor const& in) {
  require((x.data != nullptr) == t.looked_at, "scales appeared or went");
  if (!t.looked_at) return;
  bool const given = p.y_scale_kind == TK_SCALE_GIVEN;
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.given == given && x.power_of_two == (p.power_of_two != 0), "options changed");
  require(x.outer == in.size[0] && x.middle == in.size[1] && x.rows == in.size[2] && x.width == 1,
          "sizes of scales changed");
  std::array<std::int64_t, 4> const none{};
  auto const& stride = given ? none : t.stride;
  require(x.outer_stride == stride[0] && x.middle_stride == stride[1] && x.row_stride == stride[2],
          "strides of scales changed");
}

void check(tk::norm_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_NORM, workspace, stream);
  auto const p = call.problem<tk_norm_problem>();
  auto const [in, residual, weight, bias, y, r, state, scale] = call.all<8>();
  check_row_workspace(x.x);
  if (in.empty()) {
    for (auto const* data :
         {x.x.data, x.residual.data, x.y.data, x.r.data, x.weight.data, x.bias.data})
      require(!data, "elements appeared");
    require(x.x.outer == in.size[0] && x.x.middle == in.size[1] && x.x.rows == in.size[2] &&
                x.x.width == 0,
            "sizes of rows changed");
  } else {
    agree_rows(x.x, in, in);
    agree_rows(x.residual, residual, in);
    agree_rows(x.y, y, in);
    agree_rows(x.r, r, in);
    agree_columns(x.weight, weight);
    agree_columns(x.bias, bias);
  }
  agree_scale(x.y_scale, p, scale, in);
  agree_dropout(x.dropout, p, state);
  require(int(x.kind) == int(p.kind) && x.eps == p.eps, "kind or eps changed");
  touch();
}

void check(tk::norm_backward_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_NORM_BACKWARD, workspace, stream);
  auto const p = call.problem<tk_norm_backward_problem>();
  auto const [r, dy, weight, dr, dx, dweight, dbias, dresidual, state] = call.all<9>();
  require(running.needed == tk::row_sums_workspace_bytes(x.r, 2), "the workspace of sums");
  agree_some(x.r, r, r);
  agree_some(x.dy, dy, r);
  agree_some(x.dr, dr, r);
  agree_some(x.dx, dx, r);
  agree_some(x.dresidual, dresidual, r);
  agree_dropout(x.dropout, p, state);
  agree_columns(x.weight, weight);
  agree_columns(x.dweight, dweight);
  agree_columns(x.dbias, dbias);
  require(int(x.kind) == int(p.kind) && x.eps == p.eps, "kind or eps changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

bool is_fp8(element x) { return x == element::fp8_e4m3 || x == element::fp8_e5m2; }
// Whether rows of that type are there, or none are.
template <class T> bool none_but(row_tensor_view const& x) { return !x.data || fuzz::is_of<T>(x); }

template <class T, class Stream = T, bool Drops = false, bool Fp8 = false> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream) {
    bool const of_types = fuzz::is_of<T>(x.x) && none_but<Stream>(x.residual) &&
                          none_but<Stream>(x.r) && (Fp8 ? is_fp8(x.y.type) : x.y.type == x.x.type);
    fuzz::require(of_types && (Drops || x.dropout.below == 0), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template <class T, class Stream = T, bool Drops = false> struct norm_backward_run {
  static void launch(norm_backward_problem const& x, void* workspace, void* stream) {
    bool const of_types = fuzz::is_of<T>(x.dy) && fuzz::is_of<Stream>(x.r);
    bool const plain = x.dropout.below == 0 && !x.dresidual.data;
    fuzz::require(of_types && (Drops || plain), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct norm_run<bf16>;
template struct norm_run<fp16>;
template struct norm_run<float>;
template struct norm_run<bf16, bf16, true>;
template struct norm_run<fp16, fp16, true>;
template struct norm_run<float, float, true>;
template struct norm_run<bf16, float, true>;
template struct norm_run<fp16, float, true>;
template struct norm_run<bf16, bf16, false, true>;
template struct norm_run<fp16, fp16, false, true>;
template struct norm_backward_run<bf16>;
template struct norm_backward_run<fp16>;
template struct norm_backward_run<float>;
template struct norm_backward_run<bf16, bf16, true>;
template struct norm_backward_run<fp16, fp16, true>;
template struct norm_backward_run<float, float, true>;
template struct norm_backward_run<bf16, float, true>;
template struct norm_backward_run<fp16, float, true>;

}  // namespace tk
