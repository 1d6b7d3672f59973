// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_attention_backward at the sizes of sizes.txt: both masks, both types, random contents and
// selected keys (p is 1 or 0, and ds what is left of a difference); and around the sizes of the
// chip's tiles.
#include <set>

#include "ops/attention/tuning.hpp"
#include "tests/ops/attention/backward_oracle.hpp"
#include "tests/support/sizes.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr std::int64_t dims[] = {64, 128, 256};

// Kind 0 ... 7: masks, types, contents.
attention_backward_case of_kind(size_line const& line, int kind, std::int64_t d) {
  attention_backward_case c{};
  auto& x = c.of;
  x.b = line.number("b", 1);
  x.hq = line.number("hq", 1);
  x.hk = line.number("hk", x.hq);
  x.nq = line.number("nq");
  x.nk = line.number("nk");
  x.d = line.number("d", d);
  x.dv = line.number("dv", x.d);
  x.mask = kind & 1 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.type = kind >> 1 & 1 ? dtype::fp16 : dtype::bf16;
  x.values = kind / 4 ? scores::select : scores::random;
  x.sampled_rows = line.number("rows", 0);
  return c;
}

// Small problems in every kind (quick: both masks, and random contents but for every third line),
// large ones in one of random contents. The head dimension turns from line to line.
std::vector<attention_backward_case> table() {
  std::vector<attention_backward_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("attention")) {
    bool const large = line.from == level::card, quick = test_level() == level::quick;
    bool const long_one = line.number("nq") * line.number("nk") > (1 << 20);
    for (int kind = 0; kind < 8; ++kind) {
      bool const type_turns = kind / 2 % 2 == (turn + kind / 4) % 2;
      bool const taken = large      ? kind == turn % 4
                         : quick    ? type_turns && kind / 4 == (turn % 3 == 2)
                         : long_one ? kind < 4 && type_turns
                                    : true;
      if (taken) cases.push_back(of_kind(line, kind, dims[(turn + kind / 4) % 3]));
    }
    ++turn;
  }
  return cases;
}

// One less and one more than each of these; 0: a tile that the chip does not have.
std::set<std::int64_t> beside(std::initializer_list<int> tiles) {
  std::set<std::int64_t> lengths;
  for (int const tile : tiles)
    if (tile > 0) lengths.insert({tile - 1, tile + 1});
  return lengths;
}

// Queries and keys beside a worker's, a block's, and those of the launch of dq, where it has its
// own. Quick takes one mask of each pair of them, another from one head dimension to the next.
std::vector<attention_backward_case> around_tiles() {
  std::vector<attention_backward_case> cases;
  int turn = 0;
  for (std::int64_t const d : dims) {
    auto const tune = be::tune_attention_backward(static_cast<int>(d));
    auto const keys = beside({tune.N, tune.workers * tune.N, tune.queries.N});
    ++turn;
    for (std::int64_t const nq : beside({tune.M, tune.slices * tune.M, tune.queries.M}))
      for (std::int64_t const nk : keys) {
        ++turn;
        for (int causal = 0; causal < 2; ++causal) {
          if (test_level() == level::quick && causal != turn % 2) continue;
          attention_backward_case c{
              {.b = 1, .hq = 2, .hk = 1, .nq = nq, .nk = nk, .d = d, .dv = d}};
          c.of.mask = causal ? TK_MASK_CAUSAL : TK_MASK_NONE;
          c.of.type = turn / 2 % 2 ? dtype::fp16 : dtype::bf16;
          cases.push_back(c);
        }
      }
  }
  return cases;
}

TEST_CASE("attention backward around the sizes of tiles") { run_table("tiles", around_tiles()); }
TEST_CASE("attention backward at every size") { run_table("backward_sizes", table()); }

}  // namespace
}  // namespace tk::test
