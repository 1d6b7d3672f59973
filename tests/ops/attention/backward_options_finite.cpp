// SPDX-License-Identifier: MIT
// The oracle of the backward with options against finite differences: o and lse of its own forward
// in double precision, the loss sum o dout, and each element of q, k, v, bias and sinks moved up
// and down, under every pair of what changes scores and weights.
#include <doctest/doctest.h>

#include "tests/ops/attention/backward_options_gradients.hpp"
#include "tests/ops/attention/option_cases.hpp"

namespace tk::test {
namespace {

struct added_terms {
  double slope = 0;  // of the first head
  bool bias = false, sinks = false;
};
std::vector<option_head> heads_of(option_case const& y, added_terms const& with) {
  std::vector<option_head> heads;
  auto const fill = [](std::vector<double>& to, std::int64_t count, std::uint64_t seed) {
    for (std::int64_t i = 0; i < count; ++i) to.push_back(random_unit(seed, i));
  };
  for (std::int64_t h = 0; h < y.hq; ++h) {
    auto& x = heads.emplace_back();
    x.y = y, x.of = {0, 0, y.nq, y.nk}, x.s = 0, x.head = h;
    fill(x.q, y.nq * y.d, 3 + 2 * h), fill(x.dout, y.nq * y.dv, 4 + 2 * h);
    fill(x.k, y.nk * y.d, 1), fill(x.v, y.nk * y.dv, 2);
    if (with.slope != 0) x.terms.slope = with.slope * static_cast<double>(h + 1);
    if (with.bias) fill(x.terms.bias, y.nq * y.nk, 20 + h), x.terms.bias[3] = -HUGE_VAL;
    if (with.sinks) x.sink = 0.4 - static_cast<double>(h) / 4;
  }
  return heads;
}

void run_forward(option_head& x) {
  x.lse.resize(x.of.nq), x.o.resize(x.of.nq * x.y.dv);
  for (std::int64_t i = 0; i < x.of.nq; ++i) x.lse[i] = forward_row(x, i, x.o.data() + i * x.y.dv);
}
double loss(std::vector<option_head>& heads) {
  double sum = 0;
  for (auto& x : heads) {
    run_forward(x);
    for (std::size_t i = 0; i < x.o.size(); ++i) sum += x.o[i] * x.dout[i];
  }
  return sum;
}

// Central differences err by step^2 of the third derivative, and by 2^-53 loss / step.
int check_against_differences(std::vector<option_head> heads) {
  static constexpr double step = 1e-5, near = 1e-7;
  auto const& y = heads[0].y;
  loss(heads);
  option_gradients const gradients(heads);
  int compared = 0;
  // What is moved may lie in several heads.
  auto const check = [&](double exact, auto const& at) {
    auto const moved = [&](double by) {
      for (auto& x : heads)
        if (double* const value = at(x)) *value += by;
      return loss(heads);
    };
    double const above = moved(step), below = moved(-2 * step);
    moved(step);
    CHECK(std::fabs(exact - (above - below) / (2 * step)) < near);
    ++compared;
  };
  auto const row = [&](gradient_sum const& sum, double factor, auto const& at) {
    sum.put_all(y.type, 0, factor,
                [&](std::int64_t, std::int64_t col, double exact, double, double, double) {
                  check(exact, [&](option_head& x) { return at(x, col); });
                });
  };
  for (std::int64_t h = 0; h < y.hq; ++h) {
    auto const only = [h](option_head& x, double* p) { return x.head == h ? p : nullptr; };
    for (std::int64_t i = 0; i < y.nq; ++i)
      row(gradients.dq[h][i], y.scale,
          [&](option_head& x, std::int64_t c) { return only(x, x.q.data() + i * y.d + c); });
    for (std::size_t i = 0; i < heads[0].terms.bias.size(); ++i)
      check(gradients.dbias[h][i].value,
            [&](option_head& x) { return only(x, x.terms.bias.data() + i); });
    if (heads[0].sink != -HUGE_VAL)
      check(gradients.dsink[h].value, [&](option_head& x) { return only(x, &x.sink); });
  }
  for (std::int64_t j = 0; j < y.nk; ++j) {
    row(gradients.dk[j], y.scale,
        [&](option_head& x, std::int64_t c) { return x.k.data() + j * y.d + c; });
    row(gradients.dv[j], 1,
        [&](option_head& x, std::int64_t c) { return x.v.data() + j * y.dv + c; });
  }
  return compared;
}

// Windows of each sort and causal masks, softcap, ALiBi, bias, sinks, dropout, more rows than keys,
// heads, the scale's sign.
TEST_CASE("the oracle's gradients with every pair of options are the limits of differences") {
  std::int64_t compared = 0, wanted = 0;
  for (auto const& x : all_pairs({6, 2, 2, 2, 2, 2, 2, 3, 2})) {
    option_case y{.b = 1, .hq = 1 + x[7], .hk = 1, .nq = x[6] ? 9 : 4, .nk = 7, .d = 8, .dv = 16};
    y.scale = x[8] ? 0.7f : -1.3f;
    if (x[0] == 4 || x[0] == 5) y.mask = TK_MASK_CAUSAL;
    if (x[0] % 2) y.left = 3;
    if (x[0] == 2 || x[0] == 3) y.right = 1;
    if (x[1]) y.softcap = 1.5f;
    if (x[5]) y.dropout = 0.5f, y.seed = 7;
    INFO(describe(y), std::string(x[2] ? " alibi" : ""), std::string(x[3] ? " bias" : ""),
         std::string(x[4] ? " sinks" : ""));
    compared += check_against_differences(heads_of(y, {x[2] ? 0.2 : 0, x[3] != 0, x[4] != 0}));
    wanted += y.hq * y.nq * y.d + y.nk * (y.d + y.dv);
    if (x[3]) wanted += y.hq * y.nq * y.nk;
    if (x[4]) wanted += y.hq;
  }
  CHECK(compared == wanted);
  CHECK(compared > 5000);
}

}  // namespace
}  // namespace tk::test
