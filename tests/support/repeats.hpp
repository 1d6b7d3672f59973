// SPDX-License-Identifier: MIT
// An op thirty times on the same inputs, equal bit for bit: a round launches all cases one behind
// the other, in an order of its own; on an emulated chip each round has another schedule besides.
// And launches from several threads at once, each with problems and workspace of its own, on the
// default stream or on streams of their own.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
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
  std::function<std::string()> open, look;
  std::function<std::string(void* stream)> launch;
  std::function<void()> reset;
  std::function<verdict()> compare;
};

template <class Operands, class Case> repeated repeat(Case const& c) {
  auto const x = std::make_shared<Operands>(c);
  auto const s = std::make_shared<session>(x->memories);
  return {describe(c),
          [=] { return with_problem(*x, [&](auto op, auto const* p) { return s->open(op, p); }); },
          [=] { return s->look(); },
          [=](void* stream) {
            return with_problem(*x,
                                [&](auto op, auto const* p) { return s->launch(op, p, stream); });
          },
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
    for (auto const i : order) REQUIRE_MESSAGE(all[i].launch(nullptr) == "", all[i].name);
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

// All cases under way at once, each three times on a stream and from a thread of its own: the bits
// of one call after the other. Where streams hold their work back, they let it go together.
template <class Operands, class Case> void run_on_streams(std::vector<Case> const& cases) {
  int const rounds = test_level() == level::quick ? 5 : schedules;
  std::vector<repeated> all;
  for (auto const& c : cases) all.push_back(repeat<Operands>(c));
  for (auto const& x : all) {
    REQUIRE_MESSAGE(x.open() == "", x.name);
    x.reset();
    REQUIRE_MESSAGE(x.launch(nullptr) == "", x.name);
    be::rt::synchronize();
    REQUIRE_MESSAGE(x.look() == "", x.name);
    auto const v = x.compare();
    CHECK_MESSAGE(v.ok(), x.name << "\n  " << v.wrong);
  }
  for (int round = 0; round < rounds; ++round) {
    reschedule(round);
    for (auto const& x : all) x.reset();
    be::rt::synchronize();
    std::vector<std::string> wrong(all.size());
    std::barrier together(std::ssize(all));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < all.size(); ++i)
      threads.emplace_back([&, i] {
        be::rt::held_stream stream;
        together.arrive_and_wait();
        for (int n = 0; n < 3 && wrong[i].empty(); ++n) wrong[i] = all[i].launch(stream.handle());
        together.arrive_and_wait();
        stream.let_go();
      });
    for (auto& t : threads) t.join();
    be::rt::synchronize();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (wrong[i].empty()) wrong[i] = all[i].look();
      REQUIRE_MESSAGE(wrong[i] == "", all[i].name << "\n  round " << round << ": " << wrong[i]);
    }
  }
  std::printf("on streams: %zu cases at once, %d times\n", all.size(), rounds);
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
