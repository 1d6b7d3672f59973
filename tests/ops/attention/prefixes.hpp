// SPDX-License-Identifier: MIT
// The first queries of a problem with the keys that they see, as a problem of their own: under
// TK_REPEAT_ROW a row's bits depend on the keys that it sees and on their positions alone.
#pragma once
#include "tests/ops/attention/options.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {

// No row sees a key past the one opposite to it; each set of options that a chip compiles, and what
// a row has of its own: bias, random bytes, and its head's sink.
inline std::vector<option_case> cases_of_prefixes() {
  bool const quick = test_level() == level::quick;
  std::vector<option_case> all(4);
  all[1].left = 70, all[1].right = 0;
  all[2].softcap = 3, all[2].alibi = alibi_use::by_head;
  all[3].bias = bias_use::fp32, all[3].sinks = true, all[3].dropout = 0.25f, all[3].seed = 5;
  std::vector<option_case> cases;
  for (std::int64_t const d : {64, 128, 256})
    for (auto x : all) {
      if (quick && cases.size() >= all.size()) break;
      x.hq = 2, x.d = x.dv = d, x.scale = 0.3f;
      x.nq = quick ? 200 : 1025;
      x.nk = x.nq + 37;
      x.type = d == 128 ? dtype::fp16 : dtype::bf16;
      if (!x.right) x.mask = TK_MASK_CAUSAL;
      cases.push_back(x);
    }
  return cases;
}

// Sizes and inputs of the first `nq` queries.
inline void take_prefix(option_operands& few, option_operands const& all, std::int64_t nq) {
  auto const first = [](tensor x, std::int64_t n) {
    x.shape[1] = n;
    return x;
  };
  std::int64_t const nk = nq + all.of.nk - all.of.nq;
  few.of = all.of;
  few.of.nq = nq, few.of.nk = nk;
  few.q = first(all.q, nq), few.k = first(all.k, nk), few.v = first(all.v, nk);
  few.alibi = all.alibi, few.bias = all.bias, few.sinks = all.sinks;
  if (few.bias.in) few.bias.shape[2] = nq, few.bias.shape[3] = nk;
}
inline tensor apart(world& w, tensor const& like) {
  return w.make(like.type, like.shape, row_major(like.shape), role::output);
}

// compare_prefix(all, nq, bits) computes the first nq queries alone, gives "" or what is wrong, and
// compares.
template <class Operands, class ComparePrefix>
void check_prefixes(Operands& all, ComparePrefix const& compare_prefix) {
  upload_inputs(all.memories);
  REQUIRE(launch_by_rows(all, all.memories) == "");
  for (std::int64_t const nq : row_counts(all.of.nq)) {
    row_comparison bits;
    REQUIRE(compare_prefix(all, nq, bits) == "");
    CHECK_MESSAGE(bits.wrong() == "", describe(all.of)
                                          << "\n  first " << nq << " queries: " << bits.wrong());
  }
}

}  // namespace tk::test
