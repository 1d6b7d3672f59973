// SPDX-License-Identifier: MIT
// timeout: 600
// Every op 30 times on the same input, equal bit for bit. A round launches all problems one behind
// the other, in an order of its own; on an emulated chip each round has another schedule besides.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>

#include "tests/support/attention_oracle.hpp"
#include "tests/support/gemm_oracle.hpp"
#include "tests/support/norm.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr int rounds = 30;

struct repeated {
  std::string name;
  std::function<std::string()> open, launch, look;
  std::function<void()> reset;
  std::function<verdict()> compare;
};

template <class Operands, class Case> repeated repeat(Case const& c) {
  auto const x = std::make_shared<Operands>(c);
  auto const s = std::make_shared<session>(x->memories);
  return {
      describe(c),
      [=] { return with_problem(*x, [&](auto op, auto const* p) { return s->open(op, p); }); },
      [=] { return with_problem(*x, [&](auto op, auto const* p) { return s->launch(op, p); }); },
      [=] { return s->look(); },
      [=] { s->reset(); },
      [=] { return compare(*x); }};
}

std::vector<gemm_case> products() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<gemm_case> all;
  // Cut along k, where a chip does so: one tile into many pieces; tiles for half of the chip, and a
  // little more, into pieces that straddle them.
  all.push_back({.m = 100, .n = 120, .k = 3000, .transpose_b = true});
  all.push_back({.m = 60, .n = 70, .k = 2048, .batch = units * 53 / 100, .transpose_a = true});
  // Operands that are copied first.
  gemm_case copied{.m = 110, .n = 101, .k = 99, .in = dtype::fp16, .out = dtype::fp16};
  copied.a_layout.padding = copied.b_layout.padding = 2;
  all.push_back(copied);
  // Tiles for large products; the whole epilogue.
  all.push_back(many({.m = 70, .n = 56, .k = 40}, 1));
  all.push_back(many({.m = 70, .n = 56, .k = 40}, 2));
  gemm_case full{.m = 130, .n = 61, .k = 65, .out = dtype::fp32, .alpha = 0.5f, .beta = 2};
  full.c = c_use::in_place, full.bias = TK_BIAS_ROW, full.activation = TK_ACTIVATION_GELU_TANH;
  all.push_back(full);
  return all;
}

std::vector<attention_case> attentions() {
  return {
      {.b = 1, .hq = 4, .hk = 2, .nq = 150, .nk = 170, .d = 64, .dv = 64, .mask = TK_MASK_CAUSAL},
      {.b = 2, .hq = 1, .hk = 1, .nq = 65, .nk = 190, .d = 128, .dv = 128, .type = dtype::fp16},
      {.b = 1, .hq = 1, .hk = 1, .nq = 40, .nk = 200, .d = 200, .dv = 256},
  };
}

// Rows for each class of tiles, two of them with tails, and one longer than any tile.
std::vector<norm_case> norms() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<norm_case> all{{.rows = 16 * units + 1, .width = 64}};
  int turn = 0;
  for (std::int64_t const width : {1000, 2048, 4096, 8192, 20000}) {
    norm_case x{.rows = 3, .width = width, .kind = ++turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER};
    x.type = turn % 3 ? dtype::bf16 : dtype::fp32;
    x.residual = x.store_r = turn % 2;
    x.y_place = turn % 2 ? norm_place::on_residual : norm_place::on_x;
    all.push_back(x);
  }
  return all;
}

std::vector<repeated> everything() {
  std::vector<repeated> all;
  for (auto const& c : products()) all.push_back(repeat<gemm_operands>(c));
  for (auto const& c : attentions()) all.push_back(repeat<attention_operands>(c));
  for (auto const& c : norms()) all.push_back(repeat<norm_operands>(c));
  return all;
}

// What emulated chips read at each launch; round 0 is as the environment says, which also says what
// the others are.
void reschedule(int round) {
  static long const first = [] {
    char const* const given = std::getenv("TK_EMULATE_SEED");
    return given ? rounds * std::atol(given) : 0;
  }();
  if (round == 0) return;
  setenv("TK_EMULATE_SEED", std::to_string(first + round).c_str(), 1);
  setenv("TK_EMULATE_THREADS", std::to_string(1 + round % 4).c_str(), 1);
}

TEST_CASE("every op gives the same bits thirty times") {
  auto const all = everything();
  for (auto const& x : all) REQUIRE_MESSAGE(x.open() == "", x.name);
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int round = 0; round < rounds; ++round) {
    reschedule(round);
    for (auto i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random_below(i, 41, std::uint64_t(round) * 64 + i)]);
    for (auto const& x : all) x.reset();
    for (auto const i : order) REQUIRE_MESSAGE(all[i].launch() == "", all[i].name);
    be::rt::synchronize();
    for (auto const& x : all) {
      auto const wrong = x.look();
      REQUIRE_MESSAGE(wrong == "", x.name << "\n  round " << round << ": " << wrong);
    }
  }
  for (auto const& x : all) {
    auto const v = x.compare();
    CHECK_MESSAGE(v.ok(), x.name << "\n  " << v.wrong);
  }
  std::printf("repeats: %zu of %zu cases, %d times each\n", all.size(), all.size(), rounds);
}

}  // namespace
}  // namespace tk::test
