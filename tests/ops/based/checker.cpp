// SPDX-License-Identifier: MIT
// The tests' own tests: right results of Based pass, and with one fault in them, or beside inputs
// that the launch was not given, they do not.
#include "tests/ops/based/oracle.hpp"
#include "tests/support/spoil.hpp"

namespace tk::test {
namespace {

void check_faults(forward_operands const& x, tensor const& out) {
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
void check_input(forward_operands& x, tensor& input, std::int64_t row) {
  std::vector<std::byte> const was(input.image_row(row),
                                   input.image_row(row) + input.cols() * bytes_of(input.type));
  for (std::int64_t c = 0; c < input.cols(); ++c)
    set(input, row, c, -decode(input.type, was.data() + c * bytes_of(input.type)) - 0.25);
  CHECK(!compare(x).ok());
  std::copy(was.begin(), was.end(), input.image_row(row));
  CHECK(compare(x).ok());
}

TEST_CASE("one fault in Based is found") {
  for (auto const type : {dtype::bf16, dtype::fp16})
    for (bool const normalise : {false, true}) {
      based_case c{.b = 2, .n = 70, .h = 2, .dv = 48, .normalise = normalise, .states = true};
      c.type = type;
      forward_operands x(c);
      REQUIRE(launch_twice(x) == "");
      auto const v = compare(x);
      REQUIRE_MESSAGE(v.ok(), v.wrong);
      check_input(x, x.q, 3);
      check_input(x, x.k, 100);
      check_input(x, x.v, 77);
      for (std::int64_t const moment : {0, 5, 17, 18, 152}) check_input(x, x.initial, moment);
      if (x.initial_sums.in) check_input(x, x.initial_sums, 3);
      x.of.scale *= 1.05f;
      CHECK(!compare(x).ok());
      x.of.scale = c.scale;
      check_faults(x, x.o);
      check_faults(x, x.final);
      if (x.final_sums.in) check_faults(x, x.final_sums);
      x.of.normalise = !normalise;  // divided, or not
      CHECK(!compare(x).ok());
    }
}

}  // namespace
}  // namespace tk::test
