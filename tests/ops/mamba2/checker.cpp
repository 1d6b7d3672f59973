// SPDX-License-Identifier: MIT
// The tests' own tests: right results of Mamba-2's scan pass, and with one fault in them, or beside
// inputs that the launch was not given, they do not.
#include "tests/ops/mamba2/backward_oracle.hpp"
#include "tests/support/spoil.hpp"

namespace tk::test {
namespace {

mamba2_case case_of(dtype type, bool gate) {
  mamba2_case c{.b = 2, .n = 70, .h = 4, .g = 2, .p = 32, .s = 48};
  c.type = type, c.gate = gate, c.softplus = c.bias = c.states = true;
  c.skip = gate ? skips::heads : skips::columns;
  return c;
}
double root_mean_square(tensor const& x) {
  double squares = 0;
  for (std::int64_t r = 0; r < x.rows(); ++r)
    for (std::int64_t c = 0; c < x.cols(); ++c)
      squares += std::pow(decode(x.type, x.result_row(r) + c * bytes_of(x.type)), 2);
  return std::sqrt(squares / static_cast<double>(x.rows() * x.cols()));
}
template <class Operands> void check_faults(Operands const& x) {
  int nth = 0;
  for (auto const& out : outputs_of(x)) {
    auto const name = "off, output " + std::to_string(nth++);
    auto const row = out.rows() / 2;
    double const size = root_mean_square(out), was = decode(out.type, out.result_row(row));
    wants_complaint("not written", x, out, row, [&] { put(out, row, 0, std::nan("")); });
    wants_complaint(name.c_str(), x, out, row, [&] { put(out, row, 0, was + 8 * size); });
  }
}
// As if an input had been another.
template <class Operands> void check_input(Operands& x, tensor& input) {
  if (!input.in) return;
  auto const row = input.rows() / 2;
  std::vector<std::byte> const was(input.image_row(row),
                                   input.image_row(row) + input.cols() * bytes_of(input.type));
  for (std::int64_t c = 0; c < input.cols(); ++c)
    set(input, row, c, decode(input.type, was.data() + c * bytes_of(input.type)) * -0.5 - 0.25);
  CHECK(!compare(x).ok());
  std::copy(was.begin(), was.end(), input.image_row(row));
  CHECK(compare(x).ok());
}
template <class Operands> void check_all(std::vector<tensor Operands::*> const& own) {
  for (auto const type : {dtype::bf16, dtype::fp16})
    for (bool const gate : {false, true}) {
      Operands x(case_of(type, gate));
      REQUIRE(launch_twice(x) == "");
      auto const v = compare(x);
      REQUIRE_MESSAGE(v.ok(), v.wrong);
      for (auto* const t : {&x.x, &x.dt, &x.A, &x.B, &x.C, &x.D, &x.z, &x.dt_bias, &x.initial})
        check_input(x, *t);
      for (auto const t : own) check_input(x, x.*t);
      x.of.softplus = false;
      CHECK(!compare(x).ok());
      x.of.softplus = true;
      check_faults(x);
    }
}

TEST_CASE("one fault in mamba2 is found") { check_all<mamba2_operands>({}); }
TEST_CASE("one fault in mamba2's backward is found") {
  check_all<mamba2_backward_operands>(
      {&mamba2_backward_operands::dy, &mamba2_backward_operands::dfinal});
}

}  // namespace
}  // namespace tk::test
