// SPDX-License-Identifier: MIT
// timeout: 600
// tk_attention_backward where its softmax is hard: large scores, all of them large and negative,
// scales that are negative, zero and tiny, rows that see one key or none; gradients of every size.
#include "tests/ops/attention/backward_oracle.hpp"
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
std::vector<attention_backward_case> magnitudes() {
  std::vector<attention_backward_case> cases;
  int turn = 0;
  struct size {
    double q, k, dout;
    bool one_sign;
  };
  for (std::int64_t const d : {64, 128, 256})
    for (size const& s : {size{1, 1, 1, false},
                          {8, 8, 1, false},
                          {100, 100, 1, false},
                          {40, 25, 1, true},
                          {-40, 25, 1, true},
                          {1, 1, 0x1p-10, false},
                          {1, 1, 64, false},
                          {0x1p-12, 0x1p-10, 1, false}}) {
      for (int kind = 0; kind < 4; ++kind) {
        if (test_level() == level::quick && kind != turn % 4) continue;
        auto x = begin(kind, d);
        x.q_factor = s.q, x.k_factor = s.k, x.one_sign = s.one_sign;
        attention_backward_case c{x};
        c.dout_factor = s.dout;
        cases.push_back(c);
      }
      ++turn;
    }
  return cases;
}

std::vector<attention_backward_case> scales() {
  std::vector<attention_backward_case> cases;
  int turn = 0;
  for (std::int64_t const d : {40, 64, 128})
    for (float const scale : {0.f, -0.f, -0.125f, -1.f, 1.f, 30.f, -30.f, 1e-30f, -1e-30f})
      for (int kind = 0; kind < 4; ++kind) {
        if (test_level() == level::quick && kind != turn % 4) continue;
        auto x = begin(kind, d);
        x.nq = 70, x.nk = turn % 3 ? 66 : 200;  // rows that see nothing, too
        x.scale = scale;
        cases.push_back({x});
        ++turn;
      }
  return cases;
}

// Causal, at every distance of nq from nk around the sizes of tiles: how far each row sees.
std::vector<attention_backward_case> diagonals() {
  std::vector<attention_backward_case> cases;
  int turn = 0;
  bool const quick = test_level() == level::quick;
  for (std::int64_t const nq : {1, 64, 130, 200})
    for (std::int64_t const beyond :
         {-199, -129, -128, -65, -64, -63, -1, 0, 1, 15, 63, 64, 65, 127, 128, 129, 177}) {
      if (nq + beyond < 0 || (quick && turn++ % 2)) continue;
      attention_case x{.b = 1, .hq = 1, .hk = 1, .nq = nq, .nk = nq + beyond, .d = 64, .dv = 64};
      x.mask = TK_MASK_CAUSAL;
      x.type = turn % 4 < 2 ? dtype::bf16 : dtype::fp16;
      if (turn % 3 == 0) x.d = x.dv = 128;
      if (turn % 5 == 0) x.values = scores::select;
      cases.push_back({x});
      ++turn;
    }
  return cases;
}

TEST_CASE("attention backward with scores and gradients of every magnitude") {
  run_table("backward_magnitudes", magnitudes());
}
TEST_CASE("attention backward with every kind of scale") { run_table("backward_scales", scales()); }
TEST_CASE("attention backward along every diagonal") {
  run_table("backward_diagonals", diagonals());
}

}  // namespace
}  // namespace tk::test
