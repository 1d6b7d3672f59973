// SPDX-License-Identifier: MIT
// What tests of dropout share: random numbers by their paper, apart from core/random.hpp; how many
// bytes drop; numbers in device memory.
#pragma once
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/launch.hpp"

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

inline unsigned drop_below(float p) { return static_cast<unsigned>(std::lround(256 * double{p})); }

// Numbers that are no tensor of dtype, on the device.
struct device_numbers {
  memory* in = nullptr;
  DLDataType type{};
  std::int64_t size = 0;
  DLTensor dl() {
    DLTensor x{};
    x.data = in->device();
    x.device = {static_cast<DLDeviceType>(tk_device_type()), 0};
    x.ndim = 1;
    x.dtype = type;
    x.shape = &size;
    return x;
  }
};
template <class T>
device_numbers put_numbers(world& w, DLDataType type, std::vector<T> const& values) {
  auto const size = static_cast<std::int64_t>(values.size() * sizeof(T));
  device_numbers x{&w.raw(size, 0, role::input), type, static_cast<std::int64_t>(values.size())};
  std::memcpy(x.in->image(), values.data(), static_cast<std::size_t>(size));
  return x;
}

}  // namespace tk::test
