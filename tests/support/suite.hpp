// SPDX-License-Identifier: MIT
// Tables of cases as tests. TK_TEST_LEVEL=quick|full|card chooses how many: quick is what an
// emulated chip does in a minute, full what a CPU or a card does in one, card adds sizes that only
// a card has room and speed for. Not set: quick on an emulated chip, full on the host, else card.
// A program built in shards (TK_SHARD of TK_SHARDS) runs every TK_SHARDS-th case of each table.
// Where the environment's TK_SAMPLE is a number, long tables run one of three cases, one of each
// three neighbours; the number says which.
// A case that was due and did not run fails, and so does an empty table.
#pragma once
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "ops/tk_base.h"
#include "tests/support/verdict.hpp"

namespace tk::test {

enum class level { quick, full, card };

inline level level_of(std::string const& name) {
  if (name == "quick") return level::quick;
  if (name == "full") return level::full;
  if (name == "card") return level::card;
  throw std::runtime_error("'" + name + "' is no level; there are quick, full and card");
}
inline level test_level() {
  if (char const* name = std::getenv("TK_TEST_LEVEL")) return level_of(name);
  if (std::strstr(tk_version(), "emulated")) return level::quick;
  return tk_device_type() == kDLCPU ? level::full : level::card;
}

#if defined(TK_SHARDS)
constexpr std::size_t this_shard = TK_SHARD, shards = TK_SHARDS;
#else
constexpr std::size_t this_shard = 0, shards = 1;
#endif

inline bool is_sampled(std::size_t i, std::size_t cases) {
  constexpr std::size_t few = 12;
  char const* const sample = std::getenv("TK_SAMPLE");
  if (!sample || !*sample || cases <= few) return true;
  std::mt19937_64 chosen(std::strtoull(sample, nullptr, 10) * cases + i / 3);
  return i % 3 == chosen() % 3;
}

template <class Case> verdict run_guarded(Case const& x) {
  try {
    return run(x);
  } catch (std::exception const& e) {
    verdict v;
    v.wrong = std::string("threw: ") + e.what();
    return v;
  }
}

template <class Case> void run_table(std::string const& table, std::vector<Case> const& cases) {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t failures_shown = 10;  // after so many the rest of the table is not run
  std::vector<std::size_t> due;
  for (std::size_t i = this_shard; i < cases.size(); i += shards)
    if (is_sampled(i / shards, cases.size() / shards)) due.push_back(i);
  std::size_t done = 0, failures = 0;
  std::int64_t elements = 0;
  double share = 0, seconds = 0, slowest = 0;
  std::string slowest_case;
  for (auto const i : due) {
    if (failures == failures_shown) break;
    auto const start = clock::now();
    verdict const v = run_guarded(cases[i]);
    double const took = std::chrono::duration<double>(clock::now() - start).count();
    if (took > slowest) slowest = took, slowest_case = describe(cases[i]);
    if (!v.ok()) ++failures;
    CHECK_MESSAGE(v.ok(), table << " " << i << ": " << describe(cases[i]) << "\n  " << v.wrong);
    seconds += took;
    elements += v.compared;
    share = std::max(share, v.share);
    ++done;
  }
  std::printf(
      "%s: %zu of %zu cases, %lld elements, norms at most %.2f of their limits, %.1f s; "
      "slowest %.2f s: %s\n",
      table.c_str(), done, due.size(), static_cast<long long>(elements), share, seconds, slowest,
      slowest_case.c_str());
  CHECK_MESSAGE(done == due.size(),
                table << ": not every case ran, after " << failures << " failures");
  CHECK_MESSAGE(!cases.empty(), table << " is empty");
}

}  // namespace tk::test
