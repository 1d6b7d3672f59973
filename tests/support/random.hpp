// SPDX-License-Identifier: MIT
// Random values as a function of a seed and a position, so that any thread can make any of them and
// overlapping views of one memory agree.
#pragma once
#include <cstdint>

namespace tk::test {

// A bijection of 64 bits that scatters neighbours (the finalizer of splitmix64: Steele, Lea, Flood,
// "Fast splittable pseudorandom number generators", 2014).
constexpr std::uint64_t scatter(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position) {
  return scatter(scatter(seed) ^ position);
}
constexpr std::int64_t random_below(std::int64_t n, std::uint64_t seed, std::uint64_t position) {
  return static_cast<std::int64_t>(
      (random_bits(seed, position) >> 32) * static_cast<std::uint64_t>(n) >> 32);
}
// Uniform in (-1, 1).
constexpr double random_unit(std::uint64_t seed, std::uint64_t position) {
  return (static_cast<double>(random_bits(seed, position) >> 11) + 0.5) * 0x1p-52 - 1;
}

}  // namespace tk::test
