// SPDX-License-Identifier: MIT
// timeout: 600
// tk_gemm on operands that lie in memory in every way the interface allows: rows that are slices,
// strides and addresses that no vector load or bulk copy takes, negative and zero strides, batches
// apart, interleaved and shared.
#include "tests/ops/gemm/oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

using batches = matrix_layout::batches;
using layout_of = matrix_layout gemm_case::*;

constexpr layout_of operands[] = {&gemm_case::a_layout, &gemm_case::b_layout, &gemm_case::c_layout,
                                  &gemm_case::d_layout};

// What any operand may be.
std::vector<matrix_layout> layouts() {
  return {
      {.null_strides = true},
      {.padding = 1},                      // an odd row stride
      {.padding = 8},                      // a slice that keeps 16-byte alignment
      {.padding = 61, .misalignment = 3},  // and one that does not
      {.misalignment = 1},
      {.misalignment = 4},  // 8 bytes
      {.padding = 3, .reversed = true},
      {.reversed = true},
      {.byte_offset = 2048},
      {.padding = 2, .misalignment = 8, .byte_offset = 48},
      {.batch = batches::padded},
      {.padding = 5, .batch = batches::interleaved},
      {.batch = batches::reversed},
      {.padding = 1, .misalignment = 1, .reversed = true, .batch = batches::reversed},
  };
}
// What only an input may be: addresses shared by several of its elements.
std::vector<matrix_layout> shared_layouts() {
  return {
      {.row_stride = 0},                          // every row the same
      {.row_stride = 1},                          // each row the one before, moved by one
      {.misalignment = 1, .row_stride = 2},       //
      {.batch = batches::none},                   // one matrix for all batches
      {.batch = batches::one},                    //
      {.batch = batches::same},                   //
      {.padding = 1, .batch = batches::same},     //
      {.row_stride = 0, .batch = batches::same},  // one row for all
  };
}

// Turns the types and the transposes from case to case.
gemm_case begin(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                std::size_t turn) {
  gemm_case x{.m = m, .n = n, .k = k, .batch = batch};
  x.transpose_a = turn & 1;
  x.transpose_b = turn >> 1 & 1;
  x.in = turn / 4 % 2 ? dtype::fp16 : dtype::bf16;
  x.out = turn / 3 % 3 == 0 ? dtype::fp32 : turn / 5 % 2 ? dtype::bf16 : dtype::fp16;
  x.values = turn / 7 % 2 ? data::integers : data::reals;
  x.beta = 0.5f;
  x.c = c_use::separate;
  return x;
}

// Each layout on each operand alone, with the four transposes.
std::vector<gemm_case> one_at_a_time() {
  std::vector<gemm_case> cases;
  std::size_t turn = 0;
  bool const full = test_level() != level::quick;
  for (auto const operand : operands) {
    auto ways = layouts();
    if (operand != &gemm_case::d_layout)
      for (auto const& way : shared_layouts()) ways.push_back(way);
    for (auto const& way : ways)
      for (std::size_t end = turn + 4; turn < end; ++turn) {
        auto x = begin(65, 56, 40, 3, turn);
        if (turn % 3 == 0) x = many(x, turn / 3);
        x.*operand = way;
        cases.push_back(x);
        if (!full) continue;
        x.m = 193, x.n = 129, x.k = 136, x.batch = 2;
        cases.push_back(x);
      }
  }
  return cases;
}

// All operands in an odd layout at once, each in another; c and d in place as well.
std::vector<gemm_case> all_at_once() {
  std::vector<gemm_case> cases;
  auto const ways = layouts(), shared = shared_layouts();
  std::size_t const rounds = test_level() == level::quick ? 2 : 6;
  for (std::size_t turn = 0; turn < ways.size() * rounds; ++turn) {
    auto x = turn % 2 ? begin(63, 193, 65, 2, turn) : begin(130, 66, 100, 3, turn);
    if (turn % 10 == 5) x = many(x, 0);
    x.a_layout = ways[turn % ways.size()];
    x.b_layout = ways[(turn * 3 + 1) % ways.size()];
    x.c_layout = ways[(turn * 5 + 2) % ways.size()];
    x.d_layout = ways[(turn * 11 + 3 + turn / ways.size()) % ways.size()];
    if (turn % 4 == 1) x.a_layout = shared[turn / 4 % shared.size()];
    if (turn % 4 == 3) x.b_layout = shared[turn / 4 % shared.size()];
    if (turn % 3 == 0) x.c = c_use::in_place;
    cases.push_back(x);
  }
  return cases;
}

// Vectors, whose strides say little, and offsets that need 64 bits.
std::vector<gemm_case> extremes() {
  std::vector<gemm_case> cases;
  std::size_t turn = 0;
  for (std::int64_t m : {1, 70})
    for (std::int64_t n : {1, 70})
      for (std::int64_t k : {1, 70})
        for (matrix_layout const& way :
             {matrix_layout{.padding = 7}, {.reversed = true, .batch = batches::interleaved}}) {
          auto x = begin(m, n, k, 2, turn++);
          x.a_layout = x.b_layout = x.c_layout = x.d_layout = way;
          cases.push_back(x);
        }
  if (test_level() != level::card) return cases;
  // The last of these rows begins more than 2^31 elements, and 2^32 bytes, after the first.
  std::int64_t const far = std::int64_t{1} << 24;
  for (auto const operand : {&gemm_case::a_layout, &gemm_case::b_layout, &gemm_case::d_layout})
    for (bool const even : {true, false}) {
      auto x = even ? begin(130, 130, 130, 1, 3) : begin(65, 65, 65, 2, 4);
      x.out = dtype::bf16;
      x.c = c_use::none, x.beta = 0;
      if (even) x.*operand = {.row_stride = far + 64};
      else x.*operand = {.padding = far, .batch = batches::interleaved};
      cases.push_back(x);
    }
  return cases;
}

TEST_CASE("gemm with each layout on each operand") { run_table("one layout", one_at_a_time()); }
TEST_CASE("gemm with odd layouts on all operands") { run_table("all layouts", all_at_once()); }
TEST_CASE("gemm on vectors and far rows") { run_table("extremes", extremes()); }

}  // namespace
}  // namespace tk::test
