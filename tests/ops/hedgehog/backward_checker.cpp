// SPDX-License-Identifier: MIT
// The tests' own tests: right results of Hedgehog's backward pass, and with one fault in them, or
// beside inputs that the launch was not given, they do not.
#include "tests/ops/hedgehog/backward_oracle.hpp"
#include "tests/support/spoil.hpp"

namespace tk::test {
namespace {

double root_mean_square(tensor const& x) {
  double squares = 0;
  for (std::int64_t r = 0; r < x.rows(); ++r)
    for (std::int64_t c = 0; c < x.cols(); ++c)
      squares += std::pow(decode(x.type, x.result_row(r) + c * bytes_of(x.type)), 2);
  return std::sqrt(squares / static_cast<double>(x.rows() * x.cols()));
}
void check_faults(hedgehog_gradients const& x) {
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
void check_input(char const* name, hedgehog_gradients& x, tensor& input) {
  auto const row = input.rows() / 2;
  std::vector<std::byte> const was(input.image_row(row),
                                   input.image_row(row) + input.cols() * bytes_of(input.type));
  for (std::int64_t c = 0; c < input.cols(); ++c)
    set(input, row, c, decode(input.type, was.data() + c * bytes_of(input.type)) * -0.5 - 0.25);
  CHECK_MESSAGE(!compare(x).ok(), name << " of " << describe(x.of));
  std::copy(was.begin(), was.end(), input.image_row(row));
}

TEST_CASE("one fault in hedgehog's backward is found") {
  for (auto const type : {dtype::bf16, dtype::fp16}) {
    hedgehog_gradients x({.n = 200, .h = 2, .past = 3, .type = type, .states = true});
    REQUIRE(launch_twice(x) == "");
    auto const v = compare(x);
    REQUIRE_MESSAGE(v.ok(), v.wrong);
    check_faults(x);
    check_input("q", x, x.q), check_input("k", x, x.k), check_input("v", x, x.v);
    check_input("o", x, x.o), check_input("dout", x, x.dout);
    check_input("normaliser", x, x.normaliser);
    check_input("map_q", x, x.map_q), check_input("map_k", x, x.map_k);
    check_input("alpha", x, x.alpha), check_input("beta", x, x.beta);
    check_input("initial_kv", x, x.initial_kv), check_input("initial_k", x, x.initial_k);
    check_input("dfinal_kv", x, x.dfinal_kv), check_input("dfinal_k", x, x.dfinal_k);
    CHECK(compare(x).ok());
  }
}

}  // namespace
}  // namespace tk::test
