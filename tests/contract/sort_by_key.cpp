// SPDX-License-Identifier: MIT
// core/sort_by_key.hpp: numbers by keys that are all equal, all different, rising, falling, random
// and few, of one to five digits; none, one, as many as a lane, a unit and a digit's counts have,
// and one more. What lies behind the items is not written.
#include "core/sort_by_key.hpp"

#include <algorithm>
#include <numeric>

#include "tests/contract/support.hpp"

namespace tk::test {

enum class order { equal, rising, falling, random, few };

// Keys that lie apart, of numbers that are not those of their places.
struct sparse_items {
  std::uint32_t const* keys;
  TK_BOTH std::uint32_t key(int i) const { return keys[std::int64_t{3} * i]; }
  TK_BOTH std::int32_t number(int i) const { return 7 * i - 11; }
};

std::uint32_t key_of(order of, int i, int n, std::uint32_t limit) {
  auto const random = [&](std::uint64_t below) {
    return static_cast<std::uint32_t>(random_below(below, 5, static_cast<std::uint64_t>(i)));
  };
  auto const part =
      static_cast<std::uint32_t>(std::uint64_t{limit - 1} * unsigned(i) / unsigned(n));
  switch (of) {
    case order::equal: return limit - 1;
    case order::rising: return part;
    case order::falling: return limit - 1 - part;
    case order::random: return random(limit);
    default: return random(3) * ((limit - 1) / 2);
  }
}

void check_sorted(order of, int n, std::uint32_t limit) {
  constexpr int guard = 9;
  std::vector<std::uint32_t> keys(at(3 * n + 1));
  for (int i = 0; i < n; ++i) keys[at(3 * i)] = key_of(of, i, n, limit);
  std::vector<int> expected(at(n));
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](int x, int y) { return keys[at(3 * x)] < keys[at(3 * y)]; });

  device_array<std::uint32_t> const from(keys), first(untouched<std::uint32_t>(at(n + guard))),
      second(untouched<std::uint32_t>(at(n + guard)));
  device_array<std::int32_t> const numbers(untouched<std::int32_t>(at(n + guard))),
      others(untouched<std::int32_t>(at(n + guard))),
      counts(untouched<std::int32_t>(static_cast<std::size_t>(sort_counters(n))));
  auto const sorted = sort_by_key(
      sparse_items{from.data()}, n, limit,
      {{{first.data(), numbers.data()}, {second.data(), others.data()}}, counts.data()}, nullptr);
  be::rt::synchronize();
  bool const in_first = sorted.keys == first.data();
  CHECK(sorted.numbers == (in_first ? numbers.data() : others.data()));
  auto const got_keys = (in_first ? first : second).read();
  auto const got = (in_first ? numbers : others).read();
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong +=
        got_keys[at(i)] != keys[at(3 * expected[at(i)])] || got[at(i)] != 7 * expected[at(i)] - 11;
  for (int i = n; i < n + guard; ++i)
    wrong +=
        got[at(i)] != untouched<std::int32_t>() || got_keys[at(i)] != untouched<std::uint32_t>();
  CAPTURE(static_cast<int>(of));
  CAPTURE(n);
  CAPTURE(limit);
  CHECK(wrong == 0);
  ++cases_ran;
}

TEST_CASE("numbers by keys") {
  int const sizes[] = {0, 1, 5, 9, 1023, 1024, 1025, 5000};
  std::uint32_t const limits[] = {1, 2, 100, 129, 16384, 50257, 1u << 21, 0x7fffffff};
  expect_cases const counted(8 * 8 * 5 + 2);
  for (int const n : sizes)
    for (auto const limit : limits)
      for (auto const of : {order::equal, order::rising, order::falling, order::random, order::few})
        check_sorted(of, n, limit);
  // So many units that blocks have several tasks, and lanes runs of several counts.
  check_sorted(order::random, 1024 * std::max(tasks_at_least(9), 300) - 1, 1000);
  check_sorted(order::few, 1024 * std::max(tasks_at_least(9), 300), 129);
}

TEST_CASE("passes are as few as digits of seven bits allow") {
  expect_cases const counted(6);
  std::pair<std::uint32_t, int> const expected[] = {{0, 1},   {1, 1},     {128, 1},
                                                    {129, 2}, {16384, 2}, {0x7fffffff, 5}};
  for (auto const& [limit, passes] : expected) {
    CHECK(sort_passes(limit) == passes);
    ++cases_ran;
  }
}

}  // namespace tk::test
