// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_attention_forward at the sizes of sizes.txt: both masks, both types, random
// contents and two kinds whose results are known for every row: flat (which keys are seen, and
// that each counts once) and select (which key belongs to which row and head).
#include <set>
#include <tuple>

#include "tests/ops/attention/oracle.hpp"
#include "tests/support/sizes.hpp"

namespace tk::test {
namespace {

constexpr scores contents[] = {scores::random, scores::flat, scores::select};
constexpr std::int64_t dims[] = {64, 128, 256};

// Kind 0 ... 11: masks, types, contents.
attention_case of_kind(size_line const& line, int kind, std::int64_t d) {
  attention_case x{};
  x.b = line.number("b", 1);
  x.hq = line.number("hq", 1);
  x.hk = line.number("hk", x.hq);
  x.nq = line.number("nq");
  x.nk = line.number("nk");
  x.d = line.number("d", d);
  x.dv = line.number("dv", x.d);
  x.mask = kind & 1 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.type = kind >> 1 & 1 ? dtype::fp16 : dtype::bf16;
  x.values = contents[kind / 4];
  x.sampled_rows = line.number("rows", 0);
  return x;
}

// Small problems in every kind (quick: both masks with the random and one known content), large
// ones in three. The head dimension turns from line to line.
std::vector<attention_case> table() {
  std::vector<attention_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("attention")) {
    bool const large = line.from == level::card, quick = test_level() == level::quick;
    for (int kind = 0; kind < 12; ++kind) {
      bool const type_turns = kind / 2 % 2 == (turn + kind / 4) % 2;
      bool const taken = large   ? type_turns && kind % 2 == (turn + kind / 4) % 2
                         : quick ? type_turns && kind / 4 != 1 + turn / 2 % 2
                                 : true;
      if (taken) cases.push_back(of_kind(line, kind, dims[(turn + kind / 4) % 3]));
    }
    ++turn;
  }
  return cases;
}

TEST_CASE("attention at every size") { run_table("sizes", table()); }

TEST_CASE("the table of sizes holds every kind and every tail") {
  std::set<std::tuple<tk_mask, dtype, scores, std::int64_t>> kinds;
  std::set<std::int64_t> nq, nk;
  for (auto const& x : table()) {
    if (x.b * x.nq * x.nk > 0) kinds.insert({x.mask, x.type, x.values, x.d});
    nq.insert(x.nq), nk.insert(x.nk);
  }
  CHECK(kinds.size() >= 36);
  for (std::int64_t size : {0, 1, 17, 63, 65, 193}) {
    CHECK(nq.contains(size) == true);
    CHECK(nk.contains(size) == true);
  }
}

}  // namespace
}  // namespace tk::test
