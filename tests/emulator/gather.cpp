// SPDX-License-Identifier: MIT
// What lanes give is brought together whatever their order, and a lane that stays away, or gives
// something else, is reported.
#include "backends/emulator/gather.hpp"

#include <algorithm>

#include "tests/emulator/report.hpp"

using namespace tk::emulator;
using namespace tk::test;

namespace {
// Of 64 lanes, two workers of 32: each lane gives its number twice, under the titles "a" and "b".
std::string give(std::uint64_t seed, std::vector<std::string>& seen) {
  return report_of(
      form_of(1, 64, 64),
      [&] {
        int const thread = thread_index();
        for (char const* title : {"a", "b"}) {
          std::vector<float> all(32);
          if (gather(32, title, {{31 - thread % 32, static_cast<float>(thread)}}, all,
                     location::current()))
            seen.push_back(title + std::to_string(thread / 32) + ":" +
                           std::to_string(static_cast<int>(all[0])) + ":" +
                           std::to_string(static_cast<int>(all[31])));
          sync_warp();
        }
      },
      seed);
}
}  // namespace

TEST_CASE("the last lane of a worker has what all gave") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::vector<std::string> seen;
    CHECK(give(seed, seen) == "");
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<std::string>{"a0:31:0", "a1:63:32", "b0:31:0", "b1:63:32"});
  }
}

TEST_CASE("a lane that gives something else, or nothing, is reported") {
  auto const odd = [](char const* of_lane_3) {
    return report_of(form_of(1, 32, 64), [&] {
      char const* const title = thread_index() == 3 ? of_lane_3 : "scores";
      std::vector<float> all(32);
      if (*title) gather(32, title, {{thread_index(), 1.f}}, all, location::current());
    });
  };
  CHECK(odd("scores") == "");
  CHECK(contains(odd("sums"), "this lane gives\n  sums\nwhere another lane gave\n  scores"));
  CHECK(contains(odd(""), "scores\n  was given by 31 lanes; all 32 of the worker must call"));
}
