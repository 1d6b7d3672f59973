// SPDX-License-Identifier: MIT
// The memory of sort_by_key (core/sort_by_key.hpp), for those who lay it out.
//   sort_passes(limit)  how many passes keys below `limit` take
//   sort_counters(n)    how many counters n items take
#pragma once
#include <bit>
#include <cstdint>

#include "core/schedule.hpp"

namespace tk {

// Keys and numbers, one behind the other.
struct sorted_items {
  std::uint32_t* keys;
  std::int32_t* numbers;
  TK_BOTH std::uint32_t key(int i) const { return keys[i]; }
  TK_BOTH std::int32_t number(int i) const { return numbers[i]; }
};
namespace sorting {

constexpr int digit_bits = 7, most_digits = 1 << digit_bits;  // of a pass
constexpr int unit = 1024;                                    // items that a worker has at once

}  // namespace sorting

struct sort_memory {
  sorted_items places[2];  // n items each; the second is not used by a single pass
  std::int32_t* counts;    // sort_counters(n)
};
inline int sort_bits(std::uint32_t limit) { return std::bit_width(limit > 1 ? limit - 1 : 1u); }
inline int sort_passes(std::uint32_t limit) {
  return ceil_div(sort_bits(limit), sorting::digit_bits);
}
inline std::int64_t sort_counters(int n) {
  return std::int64_t{sorting::most_digits} * (ceil_div(n, sorting::unit) + 1);
}

}  // namespace tk
