// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/softmax/softmax.hpp"
#include "tests/ops/softmax/softmax_backward.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr row_shape small{.rank = 3, .h = 2, .rows = 6, .width = 193};
constexpr dtype types[] = {dtype::bf16, dtype::fp16, dtype::fp32};
constexpr tk_mask masks[] = {TK_MASK_NONE, TK_MASK_CAUSAL};
tk_mask other(tk_mask x) { return x == TK_MASK_NONE ? TK_MASK_CAUSAL : TK_MASK_NONE; }

TEST_CASE("one fault in a softmax is found") {
  for (auto const type : types)
    for (auto const mask : masks)
      for (auto const bias : {bias_use::none, bias_use::same_type, bias_use::fp32}) {
        softmax_case c{.shape = small, .type = type, .mask = mask, .bias = bias};
        softmax_operands x(c);
        check_faults_found(x, small.width - 1, type == dtype::fp32 ? 200 : 2);
        check_field_matters(x, &softmax_case::scale, type == dtype::bf16 ? 1.02f : 1.002f);
        check_field_matters(x, &softmax_case::mask, other(mask));
        if (mask == TK_MASK_NONE) continue;
        // What the first row does not see is 0, and nothing else.
        wants_complaint("unseen", x, x.y, 0, [&] { put(x.y, 0, small.width - 1, 1e-6); });
        wants_complaint("unseen", x, x.y, 0, [&] { put(x.y, 0, small.width - 1, std::nan("")); });
      }
}

TEST_CASE("one fault in a softmax with a boolean mask is found") {
  for (auto const type : types) {
    softmax_case c{.shape = small, .type = type, .bool_mask = bool_mask_use::boolean};
    softmax_operands x(c);
    std::int64_t hidden = 0, shown = 1;
    while (is_shown(x, 0, hidden)) ++hidden;
    while (!is_shown(x, small.h * small.rows - 1, shown)) ++shown;
    check_faults_found(x, shown, type == dtype::fp32 ? 200 : 2);
    for (double const wrong : {1e-6, std::nan("")})
      wants_complaint("hidden", x, x.y, 0, [&] { put(x.y, 0, hidden, wrong); });
    // As if another element were hidden, or one more shown: NaN lies there.
    for (std::int64_t const col : {shown, hidden}) {
      auto& byte = x.bool_mask.image_row(col == hidden ? 0 : small.h * small.rows - 1)[col];
      byte ^= std::byte{1};
      CHECK(!compare(x).ok());
      byte ^= std::byte{1};
    }
    CHECK(compare(x).wrong == "");
  }
}

TEST_CASE("a softmax without weight, or with NaN, is found") {
  softmax_case c{.shape = small, .bias = bias_use::same_type, .unseen = holes::rows};
  softmax_operands x(c);
  set(x.x, 3, 5, std::nan(""));
  REQUIRE(launch_twice(x) == "");
  REQUIRE(compare(x).wrong == "");
  wants_complaint("row of holes", x, x.y, 4, [&] { put(x.y, 4, 7, 1e-30); });
  wants_complaint("row of holes", x, x.y, 4, [&] { put(x.y, 4, 7, std::nan("")); });
  wants_complaint("a number", x, x.y, 3, [&] { put(x.y, 3, 0, 0); });
}

TEST_CASE("one fault in a softmax's backward is found") {
  for (auto const type : types)
    for (auto const mask : masks)
      for (float const scale : {1.f, -0.375f}) {
        softmax_backward_case c{.shape = small, .type = type, .mask = mask, .scale = scale};
        c.store_dbias = true;
        softmax_backward_operands x(c);
        check_faults_found(x, 7, type == dtype::fp32 ? 2000 : 2);
        check_field_matters(x, &softmax_backward_case::scale, 1.02f * scale);
        check_field_matters(x, &softmax_backward_case::mask, other(mask));
        if (mask == TK_MASK_NONE) continue;
        wants_complaint("unseen", x, x.dx, 0, [&] { put(x.dx, 0, small.width - 1, 1e-6); });
        wants_complaint("unseen", x, x.dbias, 0, [&] { put(x.dbias, 0, small.width - 1, 1e-6); });
      }
}

}  // namespace
}  // namespace tk::test
