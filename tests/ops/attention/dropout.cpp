// SPDX-License-Identifier: MIT
// Dropout: the share of weights that is kept, replays, and what draws other bytes. The oracle of
// options.cpp compares the bytes themselves, whatever the chip's tiles.
#include "tests/ops/attention/options_oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

// v is 1 everywhere and all scores are equal: o is the share of kept weights over what is expected.
option_case flat(float dropout) {
  option_case x{.b = 2, .hq = 3, .hk = 1, .nq = 96, .nk = 512};
  x.q_factor = 0, x.dropout = dropout, x.seed = 1234, x.offset = 5, x.type = dtype::fp16;
  return x;
}
std::vector<double> shares(option_case const& c) {
  option_operands x(c);
  for (std::int64_t r = 0; r < x.v.rows(); ++r)
    for (std::int64_t col = 0; col < c.dv; ++col) set(x.v, r, col, 1);
  REQUIRE(launch_twice(x) == "");
  std::vector<double> all;
  for (std::int64_t r = 0; r < x.o.rows(); ++r) all.push_back(decode(c.type, x.o.result_row(r)));
  return all;
}

TEST_CASE("as many weights are kept as asked") {
  for (float const p : {0.125f, 0.5f, 0.75f}) {
    auto const c = flat(p);
    auto const all = shares(c);
    double sum = 0, squares = 0;
    for (double const x : all) sum += x - 1, squares += (x - 1) * (x - 1);
    // A weight is 0 or 1 / (1 - p): its variance is p / (1 - p). Five standard deviations, and the
    // spread of the rows' own shares within a fifth, which is six of its deviations, and more.
    auto const rows = static_cast<double>(all.size());
    double const variance = double{p} / (1 - double{p}) / static_cast<double>(c.nk);
    CHECK(std::fabs(sum / rows) < 5 * std::sqrt(variance / rows) + 0x1p-11);
    CHECK(squares / rows > 0.8 * variance);
    CHECK(squares / rows < 1.2 * variance);
  }
}

TEST_CASE("seed, offset, head and batch each draw bytes of their own; the device's state counts") {
  auto const c = flat(0.5f);
  auto const all = shares(c);
  auto const rows_per_batch = static_cast<std::size_t>(c.nq * c.hq);
  std::size_t heads_alike = 0, batches_alike = 0;
  for (std::size_t i = 0; i < all.size(); i += 3) heads_alike += all[i] == all[i + 1];
  for (std::size_t i = 0; i < rows_per_batch; ++i)
    batches_alike += all[i] == all[i + rows_per_batch];
  // Two rows have equal counts with a chance of 1 / sqrt(pi nk) = 0.025 at most.
  CHECK(heads_alike < all.size() / 3 / 8);
  CHECK(batches_alike < rows_per_batch / 8);
  auto x = c;
  x.random_state = true;
  CHECK(shares(x) == all);
  x.seed += 1;
  CHECK(shares(x) != all);
  x.seed -= 1, x.offset += 1;
  CHECK(shares(x) != all);
  x.offset = c.offset + (std::uint64_t{1} << 40);
  CHECK(shares(x) != all);
}

TEST_CASE("lse does not know of dropout") {
  auto c = flat(0.5f);
  c.q_factor = 1;
  option_operands much(c);
  c.dropout = 0.25f;
  option_operands little(c);
  REQUIRE(launch_twice(much) == "");
  REQUIRE(launch_twice(little) == "");
  std::int64_t different = 0;
  for (std::int64_t r = 0; r < c.b * c.hq; ++r)
    different += std::memcmp(much.lse.result_row(r), little.lse.result_row(r),
                             static_cast<std::size_t>(4 * c.nq)) != 0;
  CHECK(different == 0);
}

}  // namespace
}  // namespace tk::test
