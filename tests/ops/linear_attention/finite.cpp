// SPDX-License-Identifier: MIT
// Gradients against finite differences of the definition in double precision: the loss
// sum o dout + final_state dfinal, and each number of q, k, v, decays and the initial state moved
// up and down. The loss is linear in each but in decays. Results are rounded to 16 bits, and so are
// what they are sums of.
#include <numeric>

#include "tests/ops/linear_attention/oracle.hpp"

namespace tk::test {
namespace {

using numbers = std::vector<double>;

// One sequence of one head.
struct head_problem {
  std::int64_t n, d, dv;
  double scale;
  numbers q, k, v, log, dout, initial, dfinal;

  double loss() const {
    auto s = initial;
    double sum = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      double const a = std::exp(log[static_cast<std::size_t>(t)]);
      for (std::int64_t r = 0; r < d; ++r)
        for (std::int64_t c = 0; c < dv; ++c) {
          double& x = s[static_cast<std::size_t>(r * dv + c)];
          x = a * x + at(k, t * d + r) * at(v, t * dv + c);
          sum += scale * at(q, t * d + r) * x * at(dout, t * dv + c);
        }
    }
    return sum + std::inner_product(s.begin(), s.end(), dfinal.begin(), 0.0);
  }
  static double at(numbers const& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; }
};

double difference(head_problem& x, double& of) {
  constexpr double step = 0x1p-12;
  double const was = of;
  of = was + step;
  double const up = x.loss();
  of = was - step;
  double const down = x.loss();
  of = was;
  return (up - down) / (2 * step);
}

// A result's distance from the differences, as a share of their size.
class comparison {
 public:
  void add(double got, double wanted) {
    error_ += (got - wanted) * (got - wanted), size_ += wanted * wanted;
  }
  void check(std::string const& name, scan_case const& c, double roundings = 4) const {
    CHECK_MESSAGE(size_ > 0, name);
    double const limit = roundings * format_of(c.type).unit_roundoff;
    CHECK_MESSAGE(std::sqrt(error_ / size_) < limit,
                  name << " of " << describe(c) << ": " << std::sqrt(error_ / size_));
  }

 private:
  double error_ = 0, size_ = 0;
};

numbers state_numbers(tensor const& x, std::int64_t state, std::int64_t d) {
  numbers all(static_cast<std::size_t>(d * x.cols()));
  for (std::int64_t r = 0; r < d; ++r)
    read_row(dtype::fp32, x.image_row(state * d + r), x.cols(), all.data() + r * x.cols());
  return all;
}

void check_differences(scan_case const& c) {
  backward_operands x(c);
  REQUIRE(launch_twice(x) == "");
  comparison q, k, v, decay, initial;
  numbers of_heads(static_cast<std::size_t>(c.h), 0);
  for (std::int64_t s = 0; s < sequences(c); ++s)
    for (std::int64_t head = 0; head < c.h; ++head) {
      auto const at = span_of(c, s);
      std::int64_t const state = s * c.h + head;
      head_inputs const in(x, &x.dout, at, head);
      head_problem of{at.n,
                      c.d,
                      c.dv,
                      c.scale,
                      in.q,
                      in.k,
                      in.v,
                      {},
                      in.dout,
                      state_numbers(x.initial, state, c.d),
                      state_numbers(x.dfinal, state, c.d)};
      for (std::int64_t t = 0; t < at.n; ++t) of.log.push_back(x.log_decay_at(at, t, head));
      auto const compare_rows = [&](comparison& to, tensor const& got, numbers& moved) {
        std::int64_t const cols = got.cols();
        for (std::int64_t t = 0; t < at.n; ++t)
          for (std::int64_t col = 0; col < cols; ++col)
            to.add(decode(c.type, got.result_row(x.row(at, t, head)) + col * bytes_of(c.type)),
                   difference(of, moved[static_cast<std::size_t>(t * cols + col)]));
      };
      compare_rows(q, x.dq, of.q);
      compare_rows(k, x.dk, of.k);
      compare_rows(v, x.dv, of.v);
      for (std::int64_t t = 0; t < at.n; ++t) {
        double const wanted = difference(of, of.log[static_cast<std::size_t>(t)]);
        of_heads[static_cast<std::size_t>(head)] -= wanted;
        if (x.dlog_decay.in)
          decay.add(decode(dtype::fp32, x.dlog_decay.result_row(x.row(at, t, 0) / c.h) + head * 4),
                    wanted);
      }
      for (std::int64_t r = 0; r < c.d; ++r)
        for (std::int64_t col = 0; col < c.dv; ++col)
          initial.add(decode(dtype::fp32, x.dinitial.result_row(state * c.d + r) + col * 4),
                      difference(of, of.initial[static_cast<std::size_t>(r * c.dv + col)]));
    }
  if (x.ddecay.in)
    for (std::int64_t head = 0; head < c.h; ++head)
      decay.add(decode(dtype::fp32, x.ddecay.result_row(0) + head * 4),
                of_heads[static_cast<std::size_t>(head)]);
  q.check("dq", c), k.check("dk", c), v.check("dv", c), initial.check("dinitial_state", c);
  if (c.decay != decays::none) decay.check("gradients of decays", c, 8);  // differences
}

TEST_CASE("gradients are those of finite differences") {
  for (auto const decay : {decays::none, decays::heads, decays::mild, decays::strong}) {
    check_differences({.b = 2, .n = 19, .h = 2, .d = 16, .dv = 16, .decay = decay, .states = true});
    check_differences({.d = 16,
                       .dv = 32,
                       .type = dtype::fp16,
                       .decay = decay,
                       .states = true,
                       .lengths = {5, 1, 21}});
  }
}

}  // namespace
}  // namespace tk::test
