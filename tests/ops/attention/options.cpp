// SPDX-License-Identifier: MIT
// timeout: 600
// tk_attention_forward with its options: every pair of them together, with packed sequences and
// groups of heads among them, windows at every place around the sizes of tiles, rows that see
// nothing.
#include "tests/ops/attention/option_cases.hpp"
#include "tests/ops/attention/options_oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

// The last rows of a problem, alone: masks and distances are aligned to the last key. (Random bytes
// and a bias follow a row's number, which is another one then.)
TEST_CASE("rows of attention with options do not depend on the other rows") {
  std::int64_t rows = 0, different = 0;
  for (std::int64_t const d : {64, 128, 256}) {
    option_case c{.hq = 2, .hk = 1, .nq = 270, .nk = 300, .d = d, .dv = d};
    c.left = d == 128 ? 40 : 100, c.right = 3, c.softcap = 3, c.sinks = true;
    c.alibi = alibi_use::by_head;
    option_operands all(c);
    REQUIRE(launch_twice(all) == "");
    for (std::int64_t const nq : {1, 17, 65, 130}) {
      auto few = c;
      few.nq = nq;
      option_operands x(few);
      std::int64_t const first = c.nq - nq;
      for (std::int64_t r = 0; r < nq * c.hq; ++r)
        std::memcpy(x.q.image_row(r), all.q.image_row(first * c.hq + r),
                    static_cast<std::size_t>(d * bytes_of(c.type)));
      REQUIRE(launch_twice(x) == "");
      for (std::int64_t r = 0; r < nq * c.hq; ++r, ++rows)
        different += std::memcmp(x.o.result_row(r), all.o.result_row(first * c.hq + r),
                                 static_cast<std::size_t>(d * bytes_of(c.type))) != 0;
      for (std::int64_t h = 0; h < c.hq; ++h)
        different += std::memcmp(x.lse_at(0, 0, h), all.lse_at(0, first, h),
                                 static_cast<std::size_t>(4 * nq)) != 0;
    }
  }
  CHECK(rows == 3 * 2 * (1 + 17 + 65 + 130));
  CHECK(different == 0);
}

TEST_CASE("attention with every pair of options") { run_table("pairs", option_pairs()); }
TEST_CASE("attention in windows") { run_table("windows", option_windows()); }
TEST_CASE("attention with options at their limits") { run_table("limits", option_limits()); }

TEST_CASE("the oracle's Philox is that of the paper") {
  std::array<std::uint32_t, 4> const first{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      last{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      digits{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  std::uint32_t const all = ~std::uint32_t{0};
  CHECK(philox_reference{{0, 0}}({0, 0, 0, 0}) == first);
  CHECK(philox_reference{{all, all}}({all, all, all, all}) == last);
  CHECK(philox_reference{{0xa4093822, 0x299f31d0}}(
            {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) == digits);
}

}  // namespace
}  // namespace tk::test
