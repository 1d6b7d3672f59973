// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// not even of one number of y's type.
#include "tests/ops/add/add.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr dtype types[] = {dtype::bf16, dtype::fp16, dtype::fp32};

TEST_CASE("one fault in a sum is found") {
  for (auto const type : types)
    for (auto const y_type : types)
      for (bool const has_b : {false, true}) {
        add_case c{.shape = {.rank = 3, .h = 2, .rows = 6, .width = 193}, .type = type};
        c.y_type = y_type;
        c.has_b = has_b;
        c.alpha = 1.1f;
        add_operands x(c);
        check_faults_found(x, 192, 1);
        check_field_matters(x, &add_case::alpha, 1.2f);
        if (has_b) check_field_matters(x, &add_case::beta, 0.f);
      }
}

}  // namespace
}  // namespace tk::test
