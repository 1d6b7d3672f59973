// SPDX-License-Identifier: MIT
// The tests' own tests: right results of the long convolution pass, and with one fault in them, or
// beside inputs that the launch was not given, they do not.
#include "tests/ops/fft_conv/oracle.hpp"
#include "tests/support/spoil.hpp"

namespace tk::test {
namespace {

template <class Operands> void check_faults(Operands const& x, tensor const& out) {
  auto const row = out.rows() - 1;
  auto const at = [&](std::int64_t c) {
    return std::fabs(decode(out.type, out.result_row(row) + c * bytes_of(out.type)));
  };
  std::int64_t col = 0;
  for (std::int64_t c = 1; c < out.cols(); ++c)
    if (at(c) > at(col)) col = c;
  wants_complaint("not written", x, out, row, [&] { put(out, row, col, std::nan("")); });
  wants_complaint("infinite", x, out, row, [&] { put(out, row, col, HUGE_VAL); });
  wants_complaint("half", x, out, row, [&] { put(out, row, col, at(col) / 2); });
  wants_complaint("zeros", x, out, row, [&] {
    for (std::int64_t c = 0; c < out.cols(); ++c) put(out, row, c, 0);
  });
  wants_complaint("moved by one", x, out, row, [&] {
    auto const was = row_bytes(out, row);
    std::copy(was.begin(), was.end() - bytes_of(out.type),
              out.result_row(row) + bytes_of(out.type));
  });
  wants_complaint("a little larger", x, out, row, [&] {
    for (std::int64_t c = 0; c < out.cols(); ++c)
      put(out, row, c, 1.03 * decode(out.type, out.result_row(row) + c * bytes_of(out.type)));
  });
}
// As if an input had been another.
template <class Operands> void check_input(Operands& x, tensor& input) {
  auto const row = input.rows() - 1;
  std::vector<std::byte> const was(input.image_row(row),
                                   input.image_row(row) + input.cols() * bytes_of(input.type));
  for (std::int64_t c = 0; c < input.cols(); ++c)
    set(input, row, c, -decode(input.type, was.data() + c * bytes_of(input.type)) - 0.25);
  CHECK(!compare(x).ok());
  std::copy(was.begin(), was.end(), input.image_row(row));
  CHECK(compare(x).ok());
}

template <class Operands, class Own> void check_all(Own const& own) {
  for (bool const circular : {false, true})
    for (auto const type : {dtype::bf16, dtype::fp16}) {
      conv_case c{
          .b = 2, .h = 2, .n = 200, .nk = circular == (type == dtype::bf16) ? 90 : 150, .share = 2};
      c.type = type, c.circular = circular, c.pre = c.post = true;
      Operands x(c);
      REQUIRE(launch_twice(x) == "");
      auto const v = compare(x);
      REQUIRE_MESSAGE(v.ok(), v.wrong);
      for (auto* input : {&x.u, &x.k, &x.pre, &x.post}) check_input(x, *input);
      for (auto const& out : outputs_of(x)) check_faults(x, out);
      x.of.circular = !circular;
      CHECK(!compare(x).ok());
      x.of.circular = circular;
      own(x);
    }
}

TEST_CASE("one fault in a long convolution is found") {
  check_all<conv_operands>([](conv_operands&) {});
}
TEST_CASE("one fault in its gradients is found") {
  check_all<conv_backward_operands>([](conv_backward_operands& x) { check_input(x, x.dy); });
}

}  // namespace
}  // namespace tk::test
