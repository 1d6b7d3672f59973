// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/cross_entropy/cross_entropy.hpp"
#include "tests/ops/cross_entropy/cross_entropy_backward.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr row_shape small{.rank = 3, .h = 2, .rows = 6, .width = 193};
constexpr dtype types[] = {dtype::bf16, dtype::fp16, dtype::fp32};

// The last row's label, in whose column the gradient is large.
template <class Operands> std::int64_t last_label(Operands const& x) {
  return static_cast<std::int64_t>(given_row(x.labels, x.of.shape.all_rows() - 1)[0]);
}

TEST_CASE("one fault in cross_entropy is found") {
  for (auto const type : types)
    for (bool const options : {false, true}) {
      cross_entropy_case c{.shape = small, .type = type, .store_lse = true, .store_dx = true};
      if (options) c.smoothing = 0.1f, c.z_loss = 0.01f, c.softcap = 5;
      cross_entropy_operands x(c);
      check_faults_found(x, last_label(x), type == dtype::fp32 ? 400 : 2, 400);
      using of = cross_entropy_case;
      check_field_matters(x, &of::smoothing, c.smoothing + 0.001f);
      check_field_matters(x, &of::z_loss, c.z_loss + 0.001f);
      check_field_matters(x, &of::softcap, 6.f);
      check_field_matters(x, &of::dloss_scale, 1.02f);
    }
}

TEST_CASE("an ignored row that counts is found, and a label outside that does") {
  for (auto const type : {dtype::int32, dtype::int64}) {
    cross_entropy_case c{.shape = small, .label_type = type, .ignored = ignored_label::minus_100};
    c.outside = far_labels::some;
    c.store_lse = c.store_dx = true;
    cross_entropy_operands x(c);
    REQUIRE(launch_twice(x) == "");
    REQUIRE(compare(x).wrong == "");
    wants_complaint("loss of an ignored row", x, x.loss, 3, [&] { put(x.loss, 3, 0, 1e-6); });
    wants_complaint("dx of an ignored row", x, x.dx, 3, [&] { put(x.dx, 3, 7, 1e-6); });
    wants_complaint("NaN in an ignored row", x, x.dx, 3, [&] { put(x.dx, 3, 7, std::nan("")); });
    wants_complaint("lse of an ignored row", x, x.lse, 3, [&] { put(x.lse, 3, 0, 0); });
    wants_complaint("loss of a far label", x, x.loss, 2, [&] { put(x.loss, 2, 0, 5); });
    wants_complaint("dx of a far label", x, x.dx, 2, [&] { put(x.dx, 2, 192, 0); });
    wants_complaint("lse of a far label", x, x.lse, 2, [&] { put(x.lse, 2, 0, std::nan("")); });
    check_field_matters(x, &cross_entropy_case::ignored, ignored_label::none);
  }
}

TEST_CASE("one fault in cross_entropy's backward is found") {
  for (auto const type : types)
    for (bool const options : {false, true}) {
      cross_entropy_backward_case c{.shape = small, .type = type};
      if (options) c.smoothing = 0.1f, c.z_loss = 0.01f, c.softcap = 5;
      cross_entropy_backward_operands x(c);
      check_faults_found(x, last_label(x), type == dtype::fp32 ? 400 : 2);
      using of = cross_entropy_backward_case;
      check_field_matters(x, &of::smoothing, c.smoothing + 0.01f);
      check_field_matters(x, &of::z_loss, c.z_loss + 0.01f);
      check_field_matters(x, &of::softcap, 6.f);
      x.of.ignored = ignored_label::minus_100;
      CHECK(compare(x).wrong == "");
    }
}

}  // namespace
}  // namespace tk::test
