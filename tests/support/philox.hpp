// SPDX-License-Identifier: MIT
// The random numbers of dropout by their definitions, apart from core/random.hpp.
#pragma once
#include <array>
#include <cstdint>

namespace tk::test {

// Philox4x32-10 as its paper has it.
struct philox_reference {
  std::uint32_t key[2];
  static philox_reference of(std::uint64_t seed, std::uint64_t offset) {
    return {{static_cast<std::uint32_t>(seed),
             static_cast<std::uint32_t>(seed >> 32) ^ static_cast<std::uint32_t>(offset >> 32)}};
  }
  std::array<std::uint32_t, 4> operator()(std::array<std::uint32_t, 4> c) const {
    std::uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      std::uint64_t const x = 0xD2511F53ull * c[0], y = 0xCD9E8D57ull * c[2];
      c = {static_cast<std::uint32_t>(y >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(y),
           static_cast<std::uint32_t>(x >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(x)};
    }
    return c;
  }
};

// The byte of a row and column of norm's x (norm.h).
inline unsigned random_byte_of_row(std::uint64_t seed, std::uint64_t offset, std::int64_t row,
                                   std::int64_t col) {
  auto const words = philox_reference::of(
      seed, offset)({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col / 16),
                     0xffffffffu, static_cast<std::uint32_t>(offset)});
  return words[static_cast<std::size_t>(col % 16 / 4)] >> col % 4 * 8 & 255;
}

// The byte of a row and column of a plane (core/random.hpp), as attention has one for each batch
// and head.
inline unsigned random_byte_of_plane(std::uint64_t seed, std::uint64_t offset, std::int64_t plane,
                                     std::int64_t row, std::int64_t col) {
  auto const word = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  auto const words = philox_reference::of(
      seed, offset)({word(row / 16 * 4 + row % 8 / 2), word(col / 16 * 4 + col % 8 / 2),
                     word(plane), static_cast<std::uint32_t>(offset)});
  std::int64_t const byte = row % 2 * 8 + col % 2 * 4 + row / 8 % 2 * 2 + col / 8 % 2;
  return words[static_cast<std::size_t>(byte / 4)] >> byte % 4 * 8 & 255;
}

}  // namespace tk::test
