// SPDX-License-Identifier: MIT
// The checks of tk_quantise: x and y of up to four dimensions and the same sizes, y of fp8; scale
// of the sizes that its kind says. No output lies on another tensor.
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/quantise/problem.hpp"
#include "ops/quantise/quantise.h"

namespace tk::api {
namespace {

constexpr char const* kind_names[] = {"TK_SCALE_ROW", "TK_SCALE_1X128", "TK_SCALE_128X128",
                                      "TK_SCALE_TENSOR", "TK_SCALE_GIVEN"};
constexpr signature x_is = rows_are("x"), y_is{"y", fp8, 4, 1, row_axes},
                    row_scale_is = one_of_each_row("scale", fp32_only),
                    scales_are{"scale", fp32_only, 4, 1, {"b", "h", "rows", "blocks"}, true},
                    scale_is{"scale", fp32_only, 1, 0, {"numbers"}, true};

void expect_scale_size(view const& scale, int axis, std::int64_t size, view const& x) {
  if (scale.size[axis] == size) return;
  refuse(status::bad_shape, "scale has ", scale.is->axes[axis], " = ", scale.size[axis],
         " where x has ", x.is->axes[axis], " = ", x.size[axis], "; it must have ", size);
}

view read_scale(DLTensor const* given, scale_kind kind, view const& x, reading const& how) {
  if (kind == scale_kind::row) return read_each_row(given, row_scale_is, x, how);
  if (kind == scale_kind::tensor || kind == scale_kind::given) {
    view const scale = read(given, scale_is, how);
    if (scale.size[0] != 1)
      refuse(status::bad_shape, "scale has numbers = ", scale.size[0], "; it must have 1");
    return scale;
  }
  constexpr std::int64_t block = 128;
  bool const squares = kind == scale_kind::by_128x128;
  if (squares && x.rank < 2)
    refuse(status::bad_rank, "x has 1 dimension; with TK_SCALE_128X128 it must have 2 or more");
  view const scale = read(given, scales_are, how);
  expect_same_rank(scale, x);
  for (int axis = 0; axis < 4; ++axis) {
    bool const in_blocks = axis == 3 || (squares && axis == 2);
    expect_scale_size(scale, axis, in_blocks ? (x.size[axis] + block - 1) / block : x.size[axis],
                      x);
  }
  return scale;
}

// A stride in each of x's dimensions: 0 where scale has none.
std::array<std::int64_t, 4> scale_strides(view const& scale, scale_kind kind) {
  if (kind == scale_kind::tensor || kind == scale_kind::given) return {};
  auto const& s = scale.stride;
  return {s[0], s[1], s[2], kind == scale_kind::row ? 0 : s[3]};
}

checked<quantise_problem, 3> check(tk_quantise_problem const& given, bool data) {
  auto const kind = static_cast<scale_kind>(expect_one_of("kind", given.kind, kind_names));
  int const power_of_two = expect_one_of("power_of_two", given.power_of_two, flag_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  if (kind == scale_kind::given && power_of_two != 0)
    refuse(status::bad_value, "power_of_two is 1; with TK_SCALE_GIVEN it must be 0");
  reading const how{data, be::rt::current_device()};

  checked<quantise_problem, 3> result{};
  auto& [x, y, scale] = result.tensors;
  x = read(given.x, x_is, how);
  y = read(given.y, y_is, how);
  expect_same_rank(y, x);
  for (int axis = 0; axis < 4; ++axis) expect_same_size(y, axis, x, axis);
  scale = read_scale(given.scale, kind, x, how);

  expect_distinct_elements(y);
  expect_distinct_elements(scale);
  if (data) {
    expect_apart(y, x);
    expect_apart(y, scale);
    expect_apart(scale, x);
  }

  // Rows without columns have scales, and so has a tensor without elements.
  result.empty = kind == scale_kind::tensor ? false
                 : kind == scale_kind::row  ? !has_rows(x)
                                            : !has_elements(x);
  result.problem = {.x = as_rows(x),
                    .y = as_rows(y),
                    .scale = static_cast<float*>(scale.data),
                    .scale_stride = scale_strides(scale, kind),
                    .kind = kind,
                    .power_of_two = power_of_two == 1};
  if (auto& r = result.problem.x; kind == scale_kind::tensor && !has_elements(x))
    r.outer = r.middle = r.rows = r.width = 0;  // no size counts
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(quantise, repeat, check)
