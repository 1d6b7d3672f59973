// SPDX-License-Identifier: MIT
// timeout: 600
// tk_attention_forward where its softmax is hard: scores of +-10^4 and more, all of them large and
// negative, scales that are negative, zero and tiny, rows that see one key or none.
#include "tests/ops/attention/oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

attention_case begin(int turn, std::int64_t d) {
  attention_case x{.b = 1, .hq = 2, .hk = 1, .nq = 96, .nk = 280, .d = d, .dv = d};
  x.mask = turn & 1 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.type = turn & 2 ? dtype::fp16 : dtype::bf16;
  return x;
}

// The greatest of random scores is about q k sqrt(d) scale, of one sign d / 4 of it.
std::vector<attention_case> magnitudes() {
  std::vector<attention_case> cases;
  int turn = 0;
  struct size {
    double q, k;
    bool one_sign;
  };
  for (std::int64_t const d : {64, 128, 256})
    for (size const& s : {size{1, 1, false},
                          {8, 8, false},
                          {100, 100, false},
                          {300, 250, false},
                          {40, 25, true},
                          {-40, 25, true},
                          {-300, 200, true},
                          {300, 200, true},
                          {0x1p-12, 0x1p-10, false},
                          {1e-3, 1, true}}) {
      for (int kind = 0; kind < 4; ++kind) {
        if (test_level() == level::quick && kind != turn % 4) continue;
        auto x = begin(kind, d);
        x.q_factor = s.q, x.k_factor = s.k, x.one_sign = s.one_sign;
        cases.push_back(x);
      }
      ++turn;
    }
  return cases;
}

std::vector<attention_case> scales() {
  std::vector<attention_case> cases;
  int turn = 0;
  for (std::int64_t const d : {40, 64, 128})
    for (float const scale :
         {0.f, -0.f, -0.125f, -1.f, 1.f, 30.f, -30.f, 1e-30f, -1e-30f, 1e3f, 3e38f})
      for (int kind = 0; kind < 4; ++kind) {
        if (test_level() == level::quick && kind != turn % 4) continue;
        auto x = begin(kind, d);
        x.nq = 70, x.nk = turn % 3 ? 66 : 200;  // rows that see nothing, too
        x.scale = scale;
        if (scale == 0 || scale > 1e30f) x.values = scores::flat;
        cases.push_back(x);
        ++turn;
      }
  return cases;
}

// Causal, at every distance of nq from nk around the sizes of tiles: how far each row sees. The
// flat contents count the keys exactly.
std::vector<attention_case> diagonals() {
  std::vector<attention_case> cases;
  int turn = 0;
  bool const quick = test_level() == level::quick;
  for (std::int64_t const nq : {1, 64, 130, 200})
    for (std::int64_t const beyond :
         {-199, -129, -128, -65, -64, -63, -1, 0, 1, 15, 63, 64, 65, 127, 128, 129, 177}) {
      if (nq + beyond < 0 || (quick && turn++ % 2)) continue;
      for (auto const values : {scores::flat, scores::select, scores::random}) {
        if (quick && static_cast<int>(values) != turn % 3) continue;
        attention_case x{.b = 1, .hq = 1, .hk = 1, .nq = nq, .nk = nq + beyond, .d = 64, .dv = 64};
        x.mask = TK_MASK_CAUSAL;
        x.type = turn % 4 < 2 ? dtype::bf16 : dtype::fp16;
        if (turn % 3 == 0) x.d = x.dv = 128;
        x.values = values;
        cases.push_back(x);
        ++turn;
      }
      ++turn;
    }
  return cases;
}

TEST_CASE("attention with scores of every magnitude") { run_table("magnitudes", magnitudes()); }
TEST_CASE("attention with every kind of scale") { run_table("scales", scales()); }
TEST_CASE("attention along every diagonal") { run_table("diagonals", diagonals()); }

}  // namespace
}  // namespace tk::test
