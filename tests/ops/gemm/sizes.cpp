// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_gemm at the sizes of sizes.txt: four transposes, both input types, three output
// types, contents whose results are exact and contents that are rounded.
#include <set>
#include <tuple>

#include "tests/ops/gemm/oracle.hpp"
#include "tests/support/sizes.hpp"

namespace tk::test {
namespace {

constexpr dtype inputs[] = {dtype::bf16, dtype::fp16};
constexpr dtype outputs[] = {dtype::bf16, dtype::fp16, dtype::fp32};

// Kind 0 ... 47: transposes, types and contents, all of them.
gemm_case of_kind(size_line const& line, int kind) {
  gemm_case x{.m = line.number("m"),
              .n = line.number("n"),
              .k = line.number("k"),
              .batch = line.number("batch", 1)};
  x.transpose_a = kind & 1;
  x.transpose_b = kind >> 1 & 1;
  x.in = inputs[kind >> 2 & 1];
  x.out = outputs[kind / 8 % 3];
  x.values = kind / 24 ? data::integers : data::reals;
  switch (line.number("check", 0)) {
    case 1: x.check = check_kind::some_rows, x.values = data::reals; break;
    case 2: x.check = check_kind::probe, x.values = data::sparse; break;
    default: break;
  }
  // A matrix without a batch dimension, and one with a batch of 1.
  if (x.batch == 1 && kind / 2 % 2 == 0)
    for (auto* layout : {&x.a_layout, &x.b_layout, &x.d_layout})
      layout->batch = matrix_layout::batches::none;
  return x;
}

// Every kind for small products; else the four transposes, each with other types from line to line;
// of the largest, which take seconds to fill, two of the four.
std::vector<gemm_case> table() {
  std::vector<gemm_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("gemm")) {
    double const m = line.number("m"), n = line.number("n"), k = line.number("k");
    double const batch = line.number("batch", 1), elements = batch * (m * k + k * n + m * n);
    bool const all = test_level() != level::quick && batch * m * n * k < 1e6;
    bool const largest = elements > 1e9;
    for (int kind = 0; kind < 48; ++kind) {
      bool const taken = kind / 4 == (turn + kind % 4) * 5 % 12;
      bool const left_out = largest && (kind % 4 == 1 + turn % 2 || kind % 4 == 3 * (turn % 2));
      if (all || (taken && !left_out)) cases.push_back(of_kind(line, kind));
    }
    ++turn;
  }
  return cases;
}

// The tails again, in tiles meant for large products.
std::vector<gemm_case> tails() {
  std::vector<gemm_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("gemm")) {
    std::int64_t const products = line.number("m") * line.number("n") * line.number("k");
    if (line.number("batch", 1) != 1 || products == 0 || products > 3e6) continue;
    for (int kind = 0; kind < 48; ++kind)
      if (kind / 4 == (turn + kind % 4) * 5 % 12) {
        cases.push_back(many(of_kind(line, kind), cases.size()));
        for (auto layout : {&gemm_case::a_layout, &gemm_case::b_layout, &gemm_case::d_layout})
          cases.back().*layout = {};
      }
    ++turn;
  }
  return cases;
}

TEST_CASE("gemm at every size") { run_table("sizes", table()); }
TEST_CASE("many products of every small size") { run_table("tails", tails()); }

TEST_CASE("the table of sizes holds every kind and every tail") {
  std::set<std::tuple<bool, bool, dtype, dtype, data>> kinds;
  std::set<std::int64_t> m, n, k;
  for (auto const& x : table()) {
    if (x.m * x.n * x.k * x.batch > 0)
      kinds.insert({x.transpose_a, x.transpose_b, x.in, x.out, x.values});
    m.insert(x.m), n.insert(x.n), k.insert(x.k);
  }
  CHECK(kinds.size() >= 48);
  for (std::int64_t size : {0, 1, 17, 63, 65, 193, 1025}) {
    CHECK(m.contains(size) == true);
    CHECK(n.contains(size) == true);
    CHECK(k.contains(size) == true);
  }
}

}  // namespace
}  // namespace tk::test
