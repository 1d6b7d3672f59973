// SPDX-License-Identifier: MIT
// The tests' own tests: right results of linear attention pass, and with one fault in them, or
// beside inputs that the launch was not given, they do not.
#include "tests/ops/linear_attention/oracle.hpp"
#include "tests/support/spoil.hpp"

namespace tk::test {
namespace {

scan_case case_of(dtype type, decays decay) {
  scan_case c{.b = 2, .n = 70, .h = 2, .d = 32, .dv = 48, .decay = decay, .states = true};
  c.type = type;
  return c;
}
template <class Operands> void check_faults(Operands const& x, tensor const& out) {
  auto const row = out.rows() - 3;
  std::int64_t col = 0;
  auto const at = [&](std::int64_t c) {
    return std::fabs(decode(out.type, out.result_row(row) + c * bytes_of(out.type)));
  };
  for (std::int64_t c = 1; c < out.cols(); ++c)
    if (at(c) > at(col)) col = c;
  wants_complaint("not written", x, out, row, [&] { put(out, row, col, std::nan("")); });
  wants_complaint("infinite", x, out, row, [&] { put(out, row, col, HUGE_VAL); });
  if (out.rows() < 2) return;
  wants_complaint("zeros", x, out, row, [&] {
    for (std::int64_t c = 0; c < out.cols(); ++c) put(out, row, c, 0);
  });
  wants_complaint("another row", x, out, row, [&] {
    auto const other = row_bytes(out, row - 2);
    std::copy(other.begin(), other.end(), out.result_row(row));
  });
}
// As if an input had been another.
template <class Operands> void check_input(Operands& x, tensor& input, std::int64_t row) {
  std::vector<std::byte> const was(input.image_row(row),
                                   input.image_row(row) + input.cols() * bytes_of(input.type));
  for (std::int64_t c = 0; c < input.cols(); ++c)
    set(input, row, c, -decode(input.type, was.data() + c * bytes_of(input.type)) - 0.25);
  CHECK(!compare(x).ok());
  std::copy(was.begin(), was.end(), input.image_row(row));
  CHECK(compare(x).ok());
}

template <class Operands, class Own> void check_all(Own const& own) {
  for (auto const type : {dtype::bf16, dtype::fp16})
    for (auto const decay : {decays::heads, decays::mild}) {
      Operands x(case_of(type, decay));
      REQUIRE(launch_twice(x) == "");
      auto const v = compare(x);
      REQUIRE_MESSAGE(v.ok(), v.wrong);
      check_input(x, x.q, 3);
      check_input(x, x.k, 100);
      check_input(x, x.v, 77);
      check_input(x, x.initial, 40);
      if (x.log_decay.in) check_input(x, x.log_decay, 60);
      if (x.decay.in) check_input(x, x.decay, 0);
      x.of.scale *= 1.02f;
      CHECK(!compare(x).ok());
      x.of.scale = scan_case{}.scale;
      own(x);
    }
}

TEST_CASE("one fault in linear attention is found") {
  check_all<forward_operands>([](forward_operands const& x) {
    check_faults(x, x.o);
    check_faults(x, x.final);
  });
}
TEST_CASE("one fault in linear attention's backward is found") {
  check_all<backward_operands>([](backward_operands& x) {
    check_input(x, x.dout, 33);
    check_input(x, x.dfinal, 50);
    for (auto const* t : {&x.dq, &x.dk, &x.dv, &x.dinitial}) check_faults(x, *t);
    // Of decays: one fault of a tenth of the root of the mean square.
    auto const& out = x.dlog_decay.in ? x.dlog_decay : x.ddecay;
    double squares = 0;
    for (std::int64_t r = 0; r < out.rows(); ++r)
      for (std::int64_t c = 0; c < out.cols(); ++c)
        squares += std::pow(decode(out.type, out.result_row(r) + c * 4), 2);
    double const size = std::sqrt(squares / static_cast<double>(out.rows() * out.cols()));
    auto const row = out.rows() / 2;
    double const was = decode(out.type, out.result_row(row));
    wants_complaint("not written", x, out, row, [&] { put(out, row, 0, std::nan("")); });
    wants_complaint("off", x, out, row, [&] { put(out, row, 0, was + 8 * size); });
  });
}

}  // namespace
}  // namespace tk::test
