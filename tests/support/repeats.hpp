// SPDX-License-Identifier: MIT
// An op thirty times on the same inputs, equal bit for bit: a round launches all cases one behind
// the other, in an order of its own; on an emulated chip each round has another schedule besides.
// And launches from several threads at once, each with problems and workspace of its own.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "tests/support/launch.hpp"
#include "tests/support/random.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

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

// All cases, one behind the other in each round.
template <class Operands, class Case> void run_repeats(std::vector<Case> const& cases) {
  std::vector<repeated> all;
  for (auto const& c : cases) all.push_back(repeat<Operands>(c));
  for (auto const& x : all) REQUIRE_MESSAGE(x.open() == "", x.name);
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int round = 0; round < schedules; ++round) {
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
  std::printf("repeats: %zu of %zu cases, %d times each\n", all.size(), all.size(), schedules);
}

// `each` calls run(case_of(i)) from every one of some threads at once, all cases different.
template <class CaseOf> void run_from_threads(int each, CaseOf const& case_of) {
  constexpr int threads = 4;
  std::array<std::string, threads> wrong;
  std::atomic<int> ran{0}, waiting{threads};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      for (int i = 0; i < each; ++i, ++ran) {
        auto const v = run_guarded(case_of(t * each + i));
        if (!v.ok() && wrong[t].empty()) wrong[t] = v.wrong;
      }
    });
  for (auto& t : all) t.join();
  for (auto const& sentence : wrong) CHECK(sentence == "");
  CHECK(ran == threads * each);
}

}  // namespace tk::test
