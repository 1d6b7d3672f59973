// SPDX-License-Identifier: MIT
// timeout: 600
// Gradients against finite differences of the definition in double precision: the loss sum o dout +
// final_kv dfinal_kv + final_k dfinal_k, and some numbers of each operand moved up and down. What
// is subtracted from scores, the largest, moves with them.
#include "tests/ops/hedgehog/backward_oracle.hpp"

namespace tk::test {
namespace {

constexpr std::int64_t D = hedgehog_width;
using numbers = std::vector<double>;

// One sequence of one head.
struct head_loss {
  hedgehog_head in;
  numbers dout, kv, z, dkv, dz;

  double operator()() const {
    numbers s(kv), sum_k(z);
    double loss = 0;
    std::int64_t added = 0;
    auto const add_before = [&](std::int64_t end) {
      for (; added < end; ++added) {
        token_features const f(&in.k[at(added * D)], in.map_k);
        for (std::int64_t r = 0; r < D; ++r) {
          sum_k[at(r)] += f.phi[at(r)];
          for (std::int64_t c = 0; c < D; ++c)
            s[at(r * D + c)] += f.phi[at(r)] * in.v[at(added * D + c)];
        }
      }
    };
    for (std::int64_t t = 0; t < in.nq; ++t) {
      std::int64_t const token = in.n - in.nq + t,
                         first = std::max<std::int64_t>(0, token / 64 - 1) * 64;
      add_before(first);
      numbers scores, o(D);
      double top = -HUGE_VAL, sum = 1e-6;
      for (std::int64_t j = first; j <= token; ++j) {
        double y = 0;
        for (std::int64_t c = 0; c < D; ++c) y += in.q[at(t * D + c)] * in.k[at(j * D + c)];
        scores.push_back(y), top = std::max(top, y);
      }
      for (std::int64_t j = first; j <= token; ++j) {
        double const p = in.beta * std::exp((scores[at(j - first)] - top) * in.scale);
        sum += p;
        for (std::int64_t c = 0; c < D; ++c) o[at(c)] += p * in.v[at(j * D + c)];
      }
      token_features const f(&in.q[at(t * D)], in.map_q);
      for (std::int64_t r = 0; r < D; ++r) {
        sum += in.alpha * f.phi[at(r)] * sum_k[at(r)];
        for (std::int64_t c = 0; c < D; ++c) o[at(c)] += in.alpha * f.phi[at(r)] * s[at(r * D + c)];
      }
      for (std::int64_t c = 0; c < D; ++c) loss += o[at(c)] / sum * dout[at(t * D + c)];
    }
    add_before(std::max<std::int64_t>(0, in.n / 64 - 1) * 64);
    for (std::int64_t r = 0; r < D; ++r) {
      loss += sum_k[at(r)] * dz[at(r)];
      for (std::int64_t c = 0; c < D; ++c) loss += s[at(r * D + c)] * dkv[at(r * D + c)];
    }
    return loss;
  }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  double difference(double& of) {
    constexpr double step = 0x1p-14;
    double const was = of;
    of = was + step;
    double const up = (*this)();
    of = was - step;
    double const down = (*this)();
    of = was;
    return (up - down) / (2 * step);
  }
};

// Distance of results from differences, as a share of their size.
class comparison {
 public:
  void add(double got, double wanted) {
    error_ += (got - wanted) * (got - wanted), size_ += wanted * wanted;
  }
  void check(char const* name, hedgehog_case const& c) const {
    double const limit = 8 * format_of(c.type).unit_roundoff, error = std::sqrt(error_ / size_);
    CHECK_MESSAGE(size_ > 0, name);
    CHECK_MESSAGE(error < limit, name << " of " << describe(c) << ": " << error);
  }

 private:
  double error_ = 0, size_ = 0;
};

numbers state_numbers(tensor const& x, std::int64_t rows) {
  numbers all(static_cast<std::size_t>(rows * D));
  for (std::int64_t r = 0; r < rows; ++r)
    read_row(dtype::fp32, x.image_row(r), D, all.data() + r * D);
  return all;
}

void check_differences(hedgehog_case const& c, int each) {
  hedgehog_gradients x(c);
  REQUIRE(launch_twice(x) == "");
  auto const span = keys_and_queries(c, 0);
  head_loss loss{hedgehog_head(x, span, 0),      {},
                 state_numbers(x.initial_kv, D), state_numbers(x.initial_k, 1),
                 state_numbers(x.dfinal_kv, D),  state_numbers(x.dfinal_k, 1)};
  loss.dout.resize(static_cast<std::size_t>(loss.in.nq * D));
  for (std::int64_t t = 0; t < loss.in.nq; ++t)
    read_row(c.type, x.dout.image_row(t), D, loss.dout.data() + t * D);
  std::uint64_t turn = 0;
  auto const compare = [&](char const* name, tensor const& got, numbers& moved) {
    comparison sum;
    std::int64_t const cols = got.cols();
    for (int i = 0; i < each; ++i) {
      auto const at = static_cast<std::int64_t>(random_below(moved.size(), 81, ++turn));
      sum.add(decode(got.type, got.result_row(at / cols) + at % cols * bytes_of(got.type)),
              loss.difference(moved[static_cast<std::size_t>(at)]));
    }
    sum.check(name, c);
  };
  compare("dq", x.dq, loss.in.q);
  compare("dk", x.dk, loss.in.k);
  compare("dv", x.dv, loss.in.v);
  compare("dmap_q", x.dmap_q, loss.in.map_q);
  compare("dmap_k", x.dmap_k, loss.in.map_k);
  compare("dinitial_kv", x.dinitial_kv, loss.kv);
  compare("dinitial_k", x.dinitial_k, loss.z);
  comparison alpha, beta;
  alpha.add(decode(dtype::fp32, x.dalpha.result_row(0)), loss.difference(loss.in.alpha));
  beta.add(decode(dtype::fp32, x.dbeta.result_row(0)), loss.difference(loss.in.beta));
  alpha.check("dalpha", c), beta.check("dbeta", c);
}

TEST_CASE("gradients are those of finite differences") {
  int const each = test_level() == level::quick ? 20 : 60;
  check_differences({.n = 200, .states = true}, each);
  check_differences({.n = 192, .past = 70, .type = dtype::fp16, .states = true}, each);
}

}  // namespace
}  // namespace tk::test
