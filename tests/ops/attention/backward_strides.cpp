// SPDX-License-Identifier: MIT
// timeout: 600
// tk_attention_backward on operands that lie in memory in every way the interface allows: heads
// before and after tokens, slices of a packed projection and of its gradient, strides and addresses
// that no vector load or bulk copy takes, negative strides; lse strided.
#include "tests/ops/attention/backward_oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

using order = heads_layout::order;

constexpr int operands = 8;
heads_layout& layout_of(attention_backward_case& x, int operand) {
  heads_layout* const all[operands] = {&x.of.q_layout, &x.of.k_layout, &x.of.v_layout,
                                       &x.of.o_layout, &x.dout_layout, &x.dq_layout,
                                       &x.dk_layout,   &x.dv_layout};
  return *all[operand];
}

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
      {.byte_offset = 2048},
      {.by = order::hbnd, .padding = 3, .misalignment = 5, .byte_offset = 6},
  };
}

attention_backward_case begin(int turn) {
  static constexpr std::int64_t dims[] = {64, 40, 128, 72, 256, 136};
  static constexpr lse_use lses[] = {lse_use::dense, lse_use::strided, lse_use::reversed};
  std::int64_t const d = dims[turn % 6];
  attention_case x{.b = 2, .hq = 2, .hk = 1, .nq = 65, .nk = 80, .d = d, .dv = d};
  x.mask = turn % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.type = turn / 2 % 2 ? dtype::fp16 : dtype::bf16;
  x.lse = lses[turn % 3];
  return {x};
}

// Each layout on each operand alone, then an odd one on every operand.
std::vector<attention_backward_case> placed() {
  std::vector<attention_backward_case> cases;
  auto const ways = layouts();
  bool const quick = test_level() == level::quick;
  int turn = 0;
  for (int operand = 0; operand < operands; ++operand)
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (quick && (i + static_cast<std::size_t>(operand)) % 3) continue;
      auto x = begin(turn++);
      layout_of(x, operand) = ways[i];
      cases.push_back(x);
    }
  std::size_t const count = ways.size();
  for (std::size_t i = 0; i < count * (quick ? 1 : 4); ++i) {
    auto x = begin(turn++);
    for (int operand = 0; operand < operands; ++operand)
      layout_of(x, operand) = ways[((2 * static_cast<std::size_t>(operand) + 1) * i +
                                    static_cast<std::size_t>(operand) + i / count) %
                                   count];
    cases.push_back(x);
  }
  return cases;
}

// Slices of one memory: [b, n, heads of q, k and v, d] and its orders; the gradients likewise.
std::vector<attention_backward_case> packed() {
  std::vector<attention_backward_case> cases;
  int turn = 0;
  for (bool const inputs : {true, false})
    for (auto const by : {order::bnhd, order::bhnd, order::nbhd})
      for (std::int64_t const d : {64, 40, 128, 256})
        for (std::int64_t const padding : {0, 1}) {
          auto x = begin(turn++);
          if (test_level() == level::quick && turn % 4) continue;
          x.of.d = x.of.dv = d;
          x.of.nq = x.of.nk = 77;
          if (inputs) x.of.pack = packing::qkv;
          x.packed_outputs = true;
          x.of.q_layout = x.dq_layout = {.by = by, .padding = padding};
          cases.push_back(x);
        }
  return cases;
}

// One row and one head, where strides say little, and offsets that need 64 bits.
std::vector<attention_backward_case> extremes() {
  std::vector<attention_backward_case> cases;
  int turn = 0;
  for (std::int64_t const nq : {1, 66})
    for (std::int64_t const nk : {1, 66})
      for (std::int64_t const h : {1, 3}) {
        auto x = begin(turn++);
        x.of.b = 1, x.of.hq = x.of.hk = h, x.of.nq = nq, x.of.nk = nk;
        for (int operand = 0; operand < operands; ++operand)
          layout_of(x, operand) = {.by = turn % 2 ? order::bhnd : order::bnhd,
                                   .padding = (turn + operand) % 3,
                                   .reversed = (turn + operand) % 5 == 0};
        cases.push_back(x);
      }
  if (test_level() != level::card) return cases;
  // The last of these rows begins more than 2^31 elements, and 2^32 bytes, after the first.
  for (int operand = 0; operand < operands; ++operand) {
    auto x = begin(turn++);
    x.of.b = 1, x.of.hq = x.of.hk = 1, x.of.nq = x.of.nk = 132, x.of.d = x.of.dv = 128;
    layout_of(x, operand) = {.padding = (std::int64_t{1} << 24) + 63 + operand % 2};
    cases.push_back(x);
  }
  return cases;
}

TEST_CASE("attention backward with each layout on each operand") {
  run_table("backward_layouts", placed());
}
TEST_CASE("attention backward on slices of a packed projection") {
  run_table("backward_packed", packed());
}
TEST_CASE("attention backward on single and far rows") {
  run_table("backward_extremes", extremes());
}

}  // namespace
}  // namespace tk::test
