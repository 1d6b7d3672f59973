// SPDX-License-Identifier: MIT
// Gradients against finite differences of the definition in double precision: the loss
// sum y dy + final_state dfinal, and each number that the op is given moved up and down. Results
// are rounded to 16 bits, and so are what they are sums of.
#include <functional>
#include <numeric>

#include "tests/ops/mamba2/backward_oracle.hpp"

namespace tk::test {
namespace {

using numbers = std::vector<double>;

// All that a case is given, as plain numbers in the order of its tensors' rows.
struct plain {
  mamba2_case of;
  numbers x, dt, A, B, C, D, z, bias, dy, initial, dfinal;

  double loss() const {
    double sum = 0;
    for (std::int64_t s = 0; s < sequences(of); ++s)
      for (std::int64_t head = 0; head < of.h; ++head) sum += loss_of(span_of(of, s), s, head);
    return sum;
  }

 private:
  static double at(numbers const& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; }
  double loss_of(span const& where, std::int64_t s, std::int64_t head) const {
    std::int64_t const p = of.p, cols = of.s, group = head / (of.h / of.g),
                       states = (s * of.h + head) * p * cols;
    numbers state(initial.begin() + states, initial.begin() + states + p * cols);
    double sum = 0;
    for (std::int64_t t = 0; t < where.n; ++t) {
      std::int64_t const token = where.batch * tokens(of) + where.first + t,
                         of_head = token * of.h + head, of_group = (token * of.g + group) * cols;
      double const w = step_of(of, at(dt, of_head) + (of.bias ? at(bias, head) : 0)).value,
                   a = std::exp(w * at(A, head));
      for (std::int64_t r = 0; r < p; ++r) {
        double const x_of = at(x, of_head * p + r);
        double y = of.skip == skips::none    ? 0
                   : of.skip == skips::heads ? at(D, head) * x_of
                                             : at(D, head * p + r) * x_of;
        for (std::int64_t c = 0; c < cols; ++c) {
          double& now = state[static_cast<std::size_t>(r * cols + c)];
          now = a * now + w * x_of * at(B, of_group + c);
          y += now * at(C, of_group + c);
        }
        if (of.gate) y *= activate(TK_ACTIVATION_SILU, at(z, of_head * p + r));
        sum += y * at(dy, of_head * p + r);
      }
    }
    for (std::int64_t i = 0; i < p * cols; ++i)
      sum += state[static_cast<std::size_t>(i)] * at(dfinal, states + i);
    return sum;
  }
};

numbers all_of(tensor const& x) {
  if (!x.in) return {};
  numbers all(static_cast<std::size_t>(x.rows() * x.cols()));
  for (std::int64_t r = 0; r < x.rows(); ++r)
    read_row(x.type, x.image_row(r), x.cols(), all.data() + r * x.cols());
  return all;
}

void check_differences(mamba2_case const& c) {
  mamba2_backward_operands x(c);
  REQUIRE(launch_twice(x) == "");
  plain of{c,
           all_of(x.x),
           all_of(x.dt),
           all_of(x.A),
           all_of(x.B),
           all_of(x.C),
           all_of(x.D),
           all_of(x.z),
           all_of(x.dt_bias),
           all_of(x.dy),
           all_of(x.initial),
           all_of(x.dfinal)};
  auto const check = [&](char const* name, tensor const& got, numbers& moved, double roundings) {
    if (!got.in) return;
    constexpr double step = 0x1p-14;
    double error = 0, size = 0;
    for (std::int64_t r = 0; r < got.rows(); ++r)
      for (std::int64_t col = 0; col < got.cols(); ++col) {
        double& number = moved[static_cast<std::size_t>(r * got.cols() + col)];
        double const was = number;
        number = was + step;
        double const up = of.loss();
        number = was - step;
        double const down = of.loss();
        number = was;
        double const wanted = (up - down) / (2 * step);
        double const is = decode(got.type, got.result_row(r) + col * bytes_of(got.type));
        error += (is - wanted) * (is - wanted), size += wanted * wanted;
      }
    double const limit = roundings * format_of(c.type).unit_roundoff + 0x1p-16;
    CHECK_MESSAGE(size > 0, std::string(name));
    CHECK_MESSAGE(std::sqrt(error / size) < limit,
                  std::string(name) << " of " << describe(c) << ": " << std::sqrt(error / size));
  };
  check("dx", x.dx, of.x, 4);
  check("dB", x.dB, of.B, 4);
  check("dC", x.dC, of.C, 4);
  check("dz", x.dz, of.z, 4);
  check("dD", x.dD, of.D, 4);
  check("ddt", x.ddt, of.dt, 8);  // differences
  check("ddt_bias", x.ddt_bias, of.bias, 8);
  check("dA", x.dA, of.A, 16);
  check("dinitial_state", x.dinitial, of.initial, 4);
}

TEST_CASE("gradients are those of finite differences") {
  for (bool const softplus : {false, true})
    for (bool const gate : {false, true}) {
      mamba2_case c{.b = 2, .n = 9, .h = 4, .g = 2, .p = 16, .s = 16};
      c.gate = gate, c.softplus = softplus, c.states = c.bias = true;
      c.skip = gate ? skips::columns : skips::heads;
      check_differences(c);
      c.h = 1, c.g = 1, c.type = dtype::fp16, c.lengths = {3, 1, 7}, c.s = 32;
      check_differences(c);
    }
}

TEST_CASE("gradients where states do not decay, and where they vanish") {
  for (auto const decay : {decays::none, decays::vanishing}) {
    mamba2_case c{.n = 40, .h = 2, .p = 16, .s = 16, .decay = decay, .states = true};
    check_differences(c);
    c.softplus = c.bias = true;
    check_differences(c);
  }
}

TEST_CASE("a step that was clamped has no gradient") {
  mamba2_case c{.n = 40, .h = 2, .p = 16, .s = 16};
  c.softplus = c.limits = true;
  mamba2_backward_operands x(c);
  REQUIRE(launch_twice(x) == "");
  int clamped = 0, free = 0;
  for (std::int64_t t = 0; t < c.n; ++t)
    for (std::int64_t head = 0; head < c.h; ++head) {
      bool const is_free = step_of(c, x.raw_step({0, 0, c.n}, t, head)).slope != 0;
      (is_free ? free : clamped) += 1;
      CHECK((decode(c.dt_type, x.ddt.result_row(t) + head * 4) != 0) == is_free);
    }
  CHECK(clamped > 10);
  CHECK(free > 10);
}

}  // namespace
}  // namespace tk::test
