// SPDX-License-Identifier: MIT
// timeout: 600
// tk_attention_forward on operands that lie in memory in every way the interface allows: heads
// before and after tokens, slices of a packed projection, strides and addresses that no vector
// load or bulk copy takes, negative strides; lse absent and strided.
#include "tests/ops/attention/oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

using order = heads_layout::order;
using layout_of = heads_layout attention_case::*;

constexpr layout_of operands[] = {&attention_case::q_layout, &attention_case::k_layout,
                                  &attention_case::v_layout, &attention_case::o_layout};
constexpr lse_use lses[] = {lse_use::dense, lse_use::strided, lse_use::none, lse_use::reversed};

std::vector<heads_layout> layouts() {
  return {
      {.null_strides = true},
      {.by = order::bhnd},
      {.by = order::nbhd},
      {.by = order::hbnd},
      {.padding = 1},                      // odd strides
      {.padding = 8},                      // a slice that keeps 16-byte alignment
      {.padding = 61, .misalignment = 3},  // and one that does not
      {.misalignment = 1},
      {.misalignment = 4},  // 8 bytes
      {.reversed = true},
      {.by = order::bhnd, .padding = 5, .reversed = true},
      {.by = order::bhnd, .padding = 24},
      {.byte_offset = 2048},
      {.by = order::hbnd, .padding = 3, .misalignment = 5, .byte_offset = 6},
  };
}

attention_case begin(int turn) {
  static constexpr std::int64_t dims[] = {64, 40, 128, 72, 256, 136};
  std::int64_t const d = dims[turn % 6];
  attention_case x{.b = 2, .hq = 4, .hk = 2, .nq = 65, .nk = 80, .d = d, .dv = d};
  x.mask = turn % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.type = turn / 2 % 2 ? dtype::fp16 : dtype::bf16;
  x.values = turn % 3 == 2 && d >= 64 ? scores::select : scores::random;
  x.lse = lses[turn % 4];
  return x;
}

// Each layout on each operand alone, then an odd one on every operand.
std::vector<attention_case> placed() {
  std::vector<attention_case> cases;
  auto const ways = layouts();
  int const rounds = test_level() == level::quick ? 2 : 6;
  int turn = 0;
  for (auto const operand : operands)
    for (auto const& way : ways)
      for (int round = 0; round < rounds; ++round) {
        auto x = begin(turn++);
        x.*operand = way;
        cases.push_back(x);
      }
  std::size_t const count = ways.size();
  for (std::size_t i = 0; i < count * rounds; ++i) {
    auto x = begin(turn++);
    x.q_layout = ways[i % count];
    x.k_layout = ways[(3 * i + 1) % count];
    x.v_layout = ways[(5 * i + 2 + i / count) % count];
    x.o_layout = ways[(11 * i + 3) % count];
    cases.push_back(x);
  }
  return cases;
}

// Slices of one memory: [b, n, heads of q, k, v (and o), d] and its orders.
std::vector<attention_case> packed() {
  std::vector<attention_case> cases;
  int turn = 0;
  for (auto const pack : {packing::qkv, packing::qkvo, packing::kv})
    for (auto const by : {order::bnhd, order::bhnd, order::nbhd})
      for (std::int64_t const d : {64, 40, 128, 256})
        for (std::int64_t const padding : {0, 1}) {
          if (test_level() == level::quick && (turn + turn / 8) % 2) {
            ++turn;
            continue;
          }
          auto x = begin(turn++);
          x.d = x.dv = d;
          x.values = turn % 2 && d >= 64 ? scores::select : scores::random;
          x.nq = 77, x.nk = pack == packing::kv ? 130 : 77;
          x.pack = pack;
          x.q_layout = x.k_layout = {.by = by, .padding = padding};
          cases.push_back(x);
        }
  return cases;
}

// One row and one head, where strides say little, and offsets that need 64 bits.
std::vector<attention_case> extremes() {
  std::vector<attention_case> cases;
  int turn = 0;
  for (std::int64_t const nq : {1, 66})
    for (std::int64_t const nk : {1, 66})
      for (std::int64_t const h : {1, 3})
        for (auto const lse : lses) {
          auto x = begin(turn++);
          x.b = 1, x.hq = x.hk = h, x.nq = nq, x.nk = nk, x.lse = lse;
          x.q_layout = x.k_layout = x.v_layout =
              x.o_layout = {.by = turn % 2 ? order::bhnd : order::bnhd,
                            .padding = turn % 3,
                            .reversed = turn % 5 == 0};
          cases.push_back(x);
        }
  if (test_level() != level::card) return cases;
  // The last of these rows begins more than 2^31 elements, and 2^32 bytes, after the first.
  for (auto const operand : operands)
    for (std::int64_t const padding : {(std::int64_t{1} << 24) + 64, (std::int64_t{1} << 24) + 1}) {
      auto x = begin(turn++);
      x.b = 1, x.hq = x.hk = 1, x.nq = x.nk = 132, x.d = x.dv = 128;
      x.*operand = {.padding = padding};
      cases.push_back(x);
    }
  return cases;
}

TEST_CASE("attention with each layout on each operand") { run_table("layouts", placed()); }
TEST_CASE("attention on slices of a packed projection") { run_table("packed", packed()); }
TEST_CASE("attention on single and far rows") { run_table("extremes", extremes()); }

}  // namespace
}  // namespace tk::test
