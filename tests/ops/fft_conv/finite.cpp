// SPDX-License-Identifier: MIT
// Gradients against finite differences of the definition in double precision: the loss sum y dy,
// and numbers of u, both gates and k moved up and down, in each of which it is linear.
#include "tests/ops/fft_conv/oracle.hpp"

namespace tk::test {
namespace {

using numbers = std::vector<double>;

// All that a case is given, row by row.
struct plain {
  conv_case of;
  std::vector<numbers> u, pre, post, dy, k;

  explicit plain(conv_backward_operands const& x)
      : of(x.of),
        u(rows_of(x.u)),
        pre(rows_of(x.pre)),
        post(rows_of(x.post)),
        dy(rows_of(x.dy)),
        k(rows_of(x.k)) {}

  // Of a sequence.
  double loss(std::size_t row) const {
    auto const n = static_cast<std::size_t>(of.n);
    numbers const& taps = k[row % static_cast<std::size_t>(of.h) / std::size_t(of.share)];
    numbers x(n), sum(n);
    for (std::size_t t = 0; t < n; ++t) x[t] = u[row][t] * pre[row][t];
    for (std::size_t j = 0; j < taps.size() && j < n; ++j) {
      for (std::size_t t = j; t < n; ++t) sum[t] += taps[j] * x[t - j];
      for (std::size_t t = 0; of.circular && t < j; ++t) sum[t] += taps[j] * x[t + n - j];
    }
    double all = 0;
    for (std::size_t t = 0; t < n; ++t) all += sum[t] * post[row][t] * dy[row][t];
    return all;
  }
  double loss() const {
    double all = 0;
    for (std::size_t row = 0; row < u.size(); ++row) all += loss(row);
    return all;
  }

 private:
  static std::vector<numbers> rows_of(tensor const& x) {
    std::vector<numbers> all;
    for (std::int64_t r = 0; r < x.rows(); ++r) all.push_back(row_of_operand(x, r));
    return all;
  }
};

// Every step-th number of each row.
void check_differences(conv_case c, std::size_t step) {
  c.pre = c.post = true;
  conv_backward_operands x(c);
  REQUIRE(launch_twice(x) == "");
  plain of(x);
  auto const check = [&](char const* name, tensor const& got, std::vector<numbers>& moved,
                         auto const& loss) {
    double error = 0, size = 0;
    for (std::size_t r = 0; r < moved.size(); ++r)
      for (std::size_t i = r % step; i < moved[r].size(); i += step) {
        double& number = moved[r][i];
        double const was = number;
        number = was + 1;
        double const up = loss(r);
        number = was - 1;
        double const wanted = (up - loss(r)) / 2;
        number = was;
        double const is = decode(got.type, got.result_row(static_cast<std::int64_t>(r)) +
                                               static_cast<std::int64_t>(i) * bytes_of(got.type));
        error += (is - wanted) * (is - wanted), size += wanted * wanted;
      }
    // Twice the error of a few roundings.
    double const limit = 4 * format_of(c.type).unit_roundoff;
    CHECK_MESSAGE(size > 0, std::string(name));
    CHECK_MESSAGE(std::sqrt(error / size) < limit,
                  std::string(name) << " of " << describe(c) << ": " << std::sqrt(error / size));
  };
  auto const of_row = [&](std::size_t row) { return of.loss(row); };
  check("du", x.du, of.u, of_row);
  check("dpre", x.dpre, of.pre, of_row);
  check("dpost", x.dpost, of.post, of_row);
  check("dk", x.dk, of.k, [&](std::size_t) { return of.loss(); });
}

TEST_CASE("gradients are those of finite differences") {
  for (bool const circular : {false, true})
    for (dtype const type : {dtype::bf16, dtype::fp16}) {
      conv_case c{.b = 2, .h = 4, .n = 20, .nk = 7, .share = 2, .type = type};
      c.circular = circular;
      check_differences(c, 1);
      c.h = 2, c.n = 170, c.nk = 150;
      check_differences(c, 3);
    }
}
TEST_CASE("and where filters have several pieces") {
  check_differences({.n = 8300, .nk = 8250}, 1021);
}

}  // namespace
}  // namespace tk::test
