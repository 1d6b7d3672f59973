// SPDX-License-Identifier: MIT
// The oracle of tk_attention_backward against finite differences: o and lse of its own forward in
// double precision, the loss sum o dout, and each element of q, k and v moved up and down.
#include <doctest/doctest.h>

#include "tests/ops/attention/backward_oracle.hpp"

namespace tk::test {
namespace {

struct small_problem {
  attention_case y;
  std::vector<gradient_side> q;  // of each query head: q and dout
  gradient_side k;               // k and v

  explicit small_problem(attention_case const& x) : y(x), k(x.nk, x.d, x.dv) {
    auto const fill = [](std::vector<double>& to, std::uint64_t seed) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = random_unit(seed, i);
    };
    fill(k.left, 1), fill(k.right, 2);
    k.pack();
    for (std::int64_t h = 0; h < x.hq; ++h) {
      q.emplace_back(x.nq, x.d, x.dv);
      fill(q.back().left, 3 + 2 * h), fill(q.back().right, 4 + 2 * h);
      q.back().pack();
    }
  }

  double forward(std::int64_t head, std::int64_t i, std::vector<double>& o) const {
    std::vector<double> weights(y.nk);
    return exact_row(y, q[head].left.data() + i * y.d, k, keys_seen(y, i), weights, o.data());
  }
  double loss() const {
    double sum = 0;
    std::vector<double> o(y.dv);
    for (std::int64_t h = 0; h < y.hq; ++h)
      for (std::int64_t i = 0; i < y.nq; ++i) {
        forward(h, i, o);
        for (std::int64_t c = 0; c < y.dv; ++c) sum += o[c] * q[h].right[i * y.dv + c];
      }
    return sum;
  }
  gradient_head head(std::int64_t h) const {
    gradient_head x{q[h], {}};
    std::vector<double> o(y.dv);
    for (std::int64_t i = 0; i < y.nq; ++i) {
      x.rows.lse.push_back(forward(h, i, o));
      double delta = 0, norm = 0;
      for (std::int64_t c = 0; c < y.dv; ++c)
        delta += o[c] * q[h].right[i * y.dv + c], norm += o[c] * o[c];
      x.rows.delta.push_back(delta);
      x.rows.o_norm.push_back(std::sqrt(norm));
    }
    return x;
  }
};

std::vector<std::int64_t> all_of(std::int64_t n) {
  std::vector<std::int64_t> list(n);
  for (std::int64_t i = 0; i < n; ++i) list[i] = i;
  return list;
}

// Central differences err by step^2 of the third derivative, and by 2^-53 loss / step.
void check_against_differences(attention_case const& y) {
  small_problem x(y);
  static constexpr double step = 1e-5, near = 1e-7;
  int compared = 0;
  auto const check = [&](std::vector<double>& values, std::int64_t cols) {
    return [&x, &values, &compared, cols](std::int64_t row, std::int64_t col, double exact, double,
                                          double, double) {
      double& at = values[row * cols + col];
      double const was = at;
      at = was + step;
      double const above = x.loss();
      at = was - step;
      double const below = x.loss();
      at = was;
      CHECK(std::fabs(exact - (above - below) / (2 * step)) < near);
      ++compared;
    };
  };
  std::vector<gradient_head> heads;
  for (std::int64_t h = 0; h < y.hq; ++h) heads.push_back(x.head(h));
  for (std::int64_t h = 0; h < y.hq; ++h)
    gradient_of_queries(y, heads[h].q, heads[h].rows, x.k, all_of(y.nq), check(x.q[h].left, y.d));
  gradient_of_keys(y, heads, x.k, all_of(y.nk), check(x.k.left, y.d), check(x.k.right, y.dv));
  CHECK(compared == y.hq * y.nq * y.d + y.nk * (y.d + y.dv));
}

TEST_CASE("the oracle's gradients are the limits of differences") {
  for (tk_mask const mask : {TK_MASK_NONE, TK_MASK_CAUSAL})
    for (std::int64_t const nq : {4, 9}) {
      attention_case y{.b = 1, .hq = 2, .hk = 1, .nq = nq, .nk = 7, .d = 8, .dv = 16};
      y.mask = mask;
      y.scale = nq == 4 ? 0.7f : -1.3f;
      check_against_differences(y);
    }
}

}  // namespace
}  // namespace tk::test
