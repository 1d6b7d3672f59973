// SPDX-License-Identifier: MIT
// The tests' own tests: right results of Hedgehog attention pass, and with one fault in them, or
// beside inputs that the launch was not given, they do not.
#include "tests/ops/hedgehog/oracle.hpp"
#include "tests/support/spoil.hpp"

namespace tk::test {
namespace {

void check_faults(hedgehog_operands const& x, tensor const& out) {
  auto const row = out.rows() - 3;
  std::int64_t col = 0;
  auto const at = [&](std::int64_t c) {
    return std::fabs(decode(out.type, out.result_row(row) + c * bytes_of(out.type)));
  };
  for (std::int64_t c = 1; c < out.cols(); ++c)
    if (at(c) > at(col)) col = c;
  wants_complaint("not written", x, out, row, [&] { put(out, row, col, std::nan("")); });
  wants_complaint("infinite", x, out, row, [&] { put(out, row, col, HUGE_VAL); });
  wants_complaint("zeros", x, out, row, [&] {
    for (std::int64_t c = 0; c < out.cols(); ++c) put(out, row, c, 0);
  });
  wants_complaint("another row", x, out, row, [&] {
    auto const other = row_bytes(out, row - 2);
    std::copy(other.begin(), other.end(), out.result_row(row));
  });
}
// As if an input had been another.
void check_input(hedgehog_operands& x, tensor& input, std::int64_t row) {
  std::vector<std::byte> const was(input.image_row(row),
                                   input.image_row(row) + input.cols() * bytes_of(input.type));
  for (std::int64_t c = 0; c < input.cols(); ++c)
    set(input, row, c, decode(input.type, was.data() + c * bytes_of(input.type)) * -0.5 - 0.25);
  CHECK_MESSAGE(!compare(x).ok(), describe(x.of) << ", row " << row << " of " << input.rows());
  std::copy(was.begin(), was.end(), input.image_row(row));
}

TEST_CASE("one fault in hedgehog is found") {
  for (auto const type : {dtype::bf16, dtype::fp16}) {
    hedgehog_operands x({.b = 2, .n = 200, .h = 2, .past = 3, .type = type, .states = true});
    REQUIRE(launch_twice(x) == "");
    auto const v = compare(x);
    REQUIRE_MESSAGE(v.ok(), v.wrong);
    check_faults(x, x.o);
    check_faults(x, x.final_kv);
    check_faults(x, x.final_k);
    check_input(x, x.q, 301);
    check_input(x, x.k, 2);    // in the state
    check_input(x, x.k, 300);  // in windows
    check_input(x, x.v, 77);
    check_input(x, x.v, 390);
    check_input(x, x.map_q, 60);
    check_input(x, x.map_k, 200);
    check_input(x, x.alpha, 0);
    check_input(x, x.beta, 0);
    check_input(x, x.initial_kv, 40);
    check_input(x, x.initial_k, 1);
    x.of.scale *= 1.05f;
    CHECK(!compare(x).ok());
    x.of.scale = hedgehog_case{}.scale;
    CHECK(compare(x).ok());
  }
}

}  // namespace
}  // namespace tk::test
