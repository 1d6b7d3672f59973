// SPDX-License-Identifier: MIT
// What tests of dropout share: random numbers, how many bytes drop, numbers in device memory.
#pragma once
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/launch.hpp"
#include "tests/support/philox.hpp"

namespace tk::test {

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
