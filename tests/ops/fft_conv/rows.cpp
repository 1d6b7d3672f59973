// SPDX-License-Identifier: MIT
// timeout: 600
// A sequence's bits, in the convolution and in its gradients, do not depend on the sequences beside
// it: alone, or among others that are NaN.
#include "tests/ops/fft_conv/oracle.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {
namespace {

// The same numbers in one sequence of `all` as in the only one of `one`.
void copy_row(tensor& to, std::int64_t row, tensor const& from, std::int64_t from_row) {
  if (!to.in) return;
  std::copy_n(from.image_row(from_row), to.cols() * bytes_of(to.type), to.image_row(row));
}
void spoil_row(tensor& x, std::int64_t row) {
  if (!x.in) return;
  for (std::int64_t c = 0; c < x.cols(); ++c) set(x, row, c, std::nan(""));
}
bool same_row(tensor const& x, std::int64_t row, tensor const& y) {
  if (!x.in) return true;
  return std::equal(x.result_row(row), x.result_row(row) + x.cols() * bytes_of(x.type),
                    y.result_row(0));
}

std::vector<tensor*> own_inputs(conv_operands&) { return {}; }
std::vector<tensor*> own_inputs(conv_backward_operands& x) { return {&x.dy}; }
std::vector<tensor const*> of_sequences(conv_operands const& x) { return {&x.y}; }
std::vector<tensor const*> of_sequences(conv_backward_operands const& x) {
  return {&x.du, &x.dpre, &x.dpost};
}

template <class Operands> void check_company(conv_case c) {
  c.b = 3, c.h = 4, c.share = 2;
  conv_case alone = c;
  alone.b = alone.h = alone.share = 1;
  Operands all(c), one(alone);
  constexpr std::int64_t row = 6;  // b = 1, h = 2, the second filter
  auto const inputs = [](Operands& x) {
    std::vector<tensor*> y{&x.u, &x.pre, &x.post};
    for (auto* t : own_inputs(x)) y.push_back(t);
    return y;
  };
  auto const from = inputs(all), to = inputs(one);
  for (std::size_t i = 0; i < to.size(); ++i) copy_row(*to[i], 0, *from[i], row);
  copy_row(one.k, 0, all.k, 1);
  for (auto* t : from)
    for (std::int64_t r = 0; r < 12; ++r)
      if (r != row) spoil_row(*t, r);
  spoil_row(all.k, 0);
  REQUIRE(launch_twice(one) == "");
  auto const few = of_sequences(one), many = of_sequences(all);
  auto const check = [&] {
    REQUIRE(launch_twice(all) == "");
    for (std::size_t i = 0; i < few.size(); ++i)
      CHECK_MESSAGE(same_row(*many[i], row, *few[i]), describe(c));
  };
  check();
  with_other_multiprocessors(check);
}

TEST_CASE("sequences do not depend on others") {
  // The last one's filters have several pieces on every chip.
  for (std::int64_t const n : {70, 2048, 2500, 8193})
    for (bool const circular : {false, true}) {
      conv_case const c{.n = n, .nk = n, .circular = circular, .pre = true, .post = true};
      check_company<conv_operands>(c);
      check_company<conv_backward_operands>(c);
    }
}

}  // namespace
}  // namespace tk::test
