// SPDX-License-Identifier: MIT
// Cases of attention's options, for the tests of its ops.
#pragma once
#include <array>
#include <set>
#include <utility>

#include "tests/ops/attention/options.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

// ---- every value of one factor with every value of another
using choice = std::vector<int>;             // a value of each factor
using pair_of_choices = std::array<int, 4>;  // two factors and their values

inline std::vector<pair_of_choices> pairs_in(choice const& x) {
  std::vector<pair_of_choices> all;
  for (int i = 0; i < std::ssize(x); ++i)
    for (int j = 0; j < i; ++j) all.push_back({i, x[i], j, x[j]});
  return all;
}

// Of factors with so many values each. Of some random choices the one with most pairs that were not
// met, until all were.
inline std::vector<choice> all_pairs(std::vector<int> const& counts) {
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      wanted += static_cast<std::size_t>(counts[i]) * static_cast<std::size_t>(counts[j]);
  std::set<pair_of_choices> met;
  std::vector<choice> chosen;
  for (std::uint64_t draw = 0; met.size() < wanted; draw += 40) {
    choice best;
    std::ptrdiff_t most = -1;
    for (std::uint64_t k = 0; k < 40; ++k) {
      choice x;
      for (std::size_t i = 0; i < counts.size(); ++i)
        x.push_back(static_cast<int>(random_below(counts[i], 7 + i, draw + k)));
      auto const all = pairs_in(x);
      auto const news =
          std::count_if(all.begin(), all.end(), [&](auto const& p) { return !met.contains(p); });
      if (news > most) most = news, best = x;
    }
    if (most <= 0) continue;
    for (auto const& p : pairs_in(best)) met.insert(p);
    chosen.push_back(best);
  }
  return chosen;
}

// ---- packed sequences
using lengths = std::vector<std::int32_t>;

inline std::vector<std::int32_t> starts_of(lengths const& n, std::int32_t first = 0) {
  std::vector<std::int32_t> starts{first};
  for (auto const x : n) starts.push_back(starts.back() + x);
  return starts;
}
// `rest` rows and keys belong to no sequence.
inline void pack(option_case& x, lengths const& nq, lengths const& nk, std::int32_t first = 0,
                 std::int64_t rest = 0) {
  x.b = static_cast<std::int64_t>(nq.size());
  x.q_starts = starts_of(nq, first);
  x.k_starts = starts_of(nk, first);
  x.nq = x.q_starts.back() + rest;
  x.nk = x.k_starts.back() + rest;
}
inline option_case packed(lengths const& nq, lengths const& nk, std::int32_t first = 0,
                          std::int64_t rest = 0) {
  option_case x{.hq = 2, .hk = 1};
  pack(x, nq, nk, first, rest);
  return x;
}

// ---- every option with every other
// A window of one sort or a causal mask, softcap, ALiBi, bias, sinks, dropout, the type, sizes, d
// and dv, padding, packed or not, query heads of a key head.
inline std::vector<int> const option_counts{6, 3, 3, 4, 2, 3, 2, 5, 6, 2, 3, 3};

inline option_case of_choice(choice const& x) {
  static constexpr std::int64_t sizes[][2] = {{33, 47}, {1, 70}, {130, 145}, {80, 17}, {66, 200}};
  static constexpr std::int64_t dims[][2] = {{64, 64}, {64, 64},   {40, 64},
                                             {64, 24}, {128, 128}, {256, 200}};
  static constexpr std::int64_t heads[][2] = {{2, 2}, {4, 2}, {8, 1}};
  option_case y{.b = 2, .hq = heads[x[11]][0], .hk = heads[x[11]][1]};
  if (x[0] == 5 || x[0] == 4) y.mask = TK_MASK_CAUSAL;
  if (x[0] == 1 || x[0] == 3 || x[0] == 5) y.left = 20;
  if (x[0] == 2 || x[0] == 3) y.right = 9;
  y.softcap = x[1] == 0 ? 0.f : x[1] == 1 ? 1.5f : 30.f;
  y.alibi = static_cast<alibi_use>(x[2]);
  y.bias = x[3] == 0 ? bias_use::none : x[3] % 2 ? bias_use::fp32 : bias_use::same;
  y.one_bias_batch = x[3] > 1, y.one_bias_head = x[3] == 3, y.unseen_bias = x[3] == 2;
  y.sinks = x[4] != 0;
  y.dropout = x[5] == 0 ? 0.f : x[5] == 1 ? 0.25f : 0.9f;
  y.seed = 0x123456789abcdef, y.offset = x[5] == 1 ? 7 : 0x500000003;
  y.random_state = x[5] == 2;
  y.type = x[6] ? dtype::fp16 : dtype::bf16;
  y.nq = sizes[x[7]][0], y.nk = sizes[x[7]][1];
  y.d = dims[x[8]][0], y.dv = dims[x[8]][1];
  y.padding = x[9] ? 5 : 0;
  y.lse = x[8] != 1;
  y.scale = x[7] == 3 ? -0.3f : 0.2f;
  auto const nq = static_cast<std::int32_t>(y.nq), nk = static_cast<std::int32_t>(y.nk);
  if (x[10] == 1) pack(y, {nq, nq}, {nk, nk}), y.max_nq = nq, y.max_nk = nk;
  if (x[10] == 2) pack(y, {nq, 0, 1, nq / 2, 3}, {nk, 5, nk / 2, 1, 0}), y.max_nk = nk;
  return y;
}

inline std::vector<option_case> option_pairs() {
  std::vector<option_case> cases;
  for (auto const& x : all_pairs(option_counts)) cases.push_back(of_choice(x));
  return cases;
}

// ---- windows
inline std::vector<option_case> option_windows() {
  std::vector<option_case> cases;
  // A window's edge that meets one element of a tile of 16, 32, 64 or 128.
  for (int const edge : {14, 30, 62, 126}) {
    option_case x{.hq = 1, .hk = 1, .nq = 200, .nk = 200};
    x.left = edge;
    cases.push_back(x);
    x.left.reset(), x.right = edge;
    cases.push_back(x);
  }
  int turn = 0;
  bool const quick = test_level() == level::quick;
  for (auto const& [nq, nk] : {std::pair{200, 200}, {130, 300}, {300, 130}, {1, 260}})
    for (int const left : {-1, 0, 1, 15, 63, 64, 100, 127, 128, 129, 250})
      for (int const right : {-1, 0, 1, 30, 64, 128, 200}) {
        ++turn;
        if ((left < 0 && right < 0) || turn % (quick ? 9 : 3)) continue;
        option_case x{.hq = 1, .hk = 1, .nq = nq, .nk = nk};
        if (left >= 0) x.left = left;
        if (right >= 0) x.right = right;
        x.type = turn % 2 ? dtype::bf16 : dtype::fp16;
        x.q_factor = turn % 5 ? 1 : 0;  // each key that is seen counts once
        cases.push_back(x);
      }
  return cases;
}

// ---- what is far from usual
inline std::vector<option_case> option_limits() {
  std::vector<option_case> cases;
  auto const add = [&](auto&& change) {
    option_case x{.b = 1, .hq = 2, .hk = 1, .nq = 70, .nk = 90};
    change(x);
    cases.push_back(x);
    x.type = dtype::fp16;
    cases.push_back(x);
  };
  add([](auto& x) { x.softcap = 0x1p-64f; });
  add([](auto& x) { x.softcap = 0x1p64f; });
  add([](auto& x) { x.softcap = 1, x.q_factor = 1000; });
  add([](auto& x) { x.softcap = 50, x.scale = 1e-3f; });
  add([](auto& x) { x.left = 2147483647, x.right = 2147483647, x.sinks = true; });
  add([](auto& x) { x.nk = 0, x.sinks = true; });
  add([](auto& x) { x.nk = 0, x.bias = bias_use::fp32; });
  add([](auto& x) { x.nk = 3, x.left = 0, x.right = 0; });  // most rows see no key
  add([](auto& x) { x.nk = 3, x.left = 0, x.right = 0, x.sinks = true; });
  add([](auto& x) { x.dropout = 255.f / 256; });
  add([](auto& x) { x.dropout = 1.f / 1024; });  // rounds to 0
  add([](auto& x) { x.alibi = alibi_use::by_head, x.nq = 5, x.nk = 1000; });
  add([](auto& x) { x.right = 0, x.scale = 0; });
  add([](auto& x) { x.b = 0, x.bias = bias_use::same, x.alibi = alibi_use::by_batch_and_head; });
  return cases;
}

// ---- lengths of packed sequences
inline std::vector<option_case> packed_lengths() {
  std::vector<option_case> cases;
  std::vector<std::pair<lengths, lengths>> const all{
      {{1}, {1}},
      {{17, 31}, {17, 31}},
      {{0, 5, 0, 0, 7, 0}, {3, 5, 0, 2, 0, 9}},
      {{1, 1, 1, 1, 1, 1, 1}, {1, 2, 3, 5, 7, 11, 13}},
      {{3, 257, 2, 1}, {5, 307, 1, 64}},
      {{64, 128, 192, 16}, {64, 128, 192, 16}},
      {{127, 65, 129}, {129, 63, 200}},
      {{101, 0, 97, 103}, {101, 40, 97, 103}},
      {{0, 0}, {4, 4}},
      {{0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 9}},
  };
  int turn = 0;
  for (auto const& [nq, nk] : all)
    for (int kind = 0; kind < 4; ++kind, ++turn) {
      auto x = packed(nq, nk, kind == 2 ? 3 : 0, kind == 3 ? 10 : 0);
      if (kind % 2) x.mask = TK_MASK_CAUSAL;
      if (kind == 2) x.left = 20, x.right = 5;
      x.type = turn % 3 ? dtype::bf16 : dtype::fp16;
      if (turn % 5 == 1) x.d = x.dv = 128;
      if (turn % 7 == 2) x.d = x.dv = 200;
      if (turn % 4 == 3) x.padding = 3;
      if (turn % 3 == 2) x.alibi = alibi_use::by_batch_and_head, x.sinks = true, x.softcap = 4;
      if (turn % 3 == 1) x.dropout = 0.5f, x.seed = 9;
      cases.push_back(x);
    }
  return cases;
}

// A bias is that of the longest; what is longer still is cut off.
inline std::vector<option_case> packed_limits() {
  std::vector<option_case> cases;
  for (auto const bias : {bias_use::none, bias_use::fp32, bias_use::same})
    for (std::int64_t const most : {0, 40, 70, 300}) {
      auto x = packed({30, 70, 1, 50}, {45, 20, 70, 66});
      x.bias = bias;
      x.max_nq = most, x.max_nk = most ? most + 5 : 0;
      x.one_bias_batch = most == 70;
      cases.push_back(x);
    }
  return cases;
}

// Of three sequences, of 90 rows and 93 keys in all.
inline std::vector<std::vector<std::int32_t>> wrong_offsets() {
  constexpr std::int32_t low = INT32_MIN, high = INT32_MAX;
  return {{0, 50, 20, 90},          {90, 60, 30, 0},        {-5, 40, 95, 200},
          {low, high, low, high},   {high, low, high, low}, {95, 95, 95, 95},
          {1000, 2000, 3000, 4000}, {10, 5, 3, 50}};
}
// Each of them with each, for the kernels of each head size with and without what changes scores;
// quick: every 13th.
inline std::vector<option_case> packed_wrongly() {
  std::vector<option_case> cases;
  auto const all = wrong_offsets();
  int turn = 0;
  for (auto const& q_starts : all)
    for (auto const& k_starts : all)
      for (std::int64_t const d : {64, 128, 256})
        for (bool const scores : {false, true})
          for (bool const bounded : {false, true}) {
            if (++turn % 13 && test_level() == level::quick) continue;
            option_case x{.b = 3, .hq = 2, .hk = 1, .nq = 90, .nk = 93, .d = d, .dv = d};
            x.q_starts = q_starts, x.k_starts = k_starts, x.padding = turn % 7 < 3 ? 3 : 0;
            if (turn % 5 < 2) x.left = 30, x.right = 10;
            if (bounded) x.max_nq = 40, x.max_nk = 45;
            if (scores) x.alibi = alibi_use::by_batch_and_head, x.bias = bias_use::fp32;
            x.sinks = turn % 11 < 4;
            cases.push_back(x);
          }
  return cases;
}
// Results may differ from launch to launch.
template <class Operands> std::string launch_wrongly(Operands& x) {
  return with_problem(x, [&](auto op, auto const* problem) {
    session s(x.memories);
    auto wrong = s.open(op, problem);
    s.reset();
    if (wrong.empty()) wrong = s.launch(op, problem);
    be::rt::synchronize();
    return wrong.empty() ? s.look() : wrong;
  });
}

}  // namespace tk::test
