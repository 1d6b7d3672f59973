// SPDX-License-Identifier: MIT
// Tensors of distinct values and their maps, and a kernel's usual first steps, for tests of copies.
#pragma once
#include <numeric>
#include <vector>

#include "backends/emulator/tma.hpp"
#include "tests/emulator/report.hpp"

namespace tk::test {

template <class T> T number(std::int64_t i) {
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(i);
  else return T{static_cast<decltype(T::bits)>(i)};
}
template <class T>
constexpr emulator::element_kind kind_of = std::is_same_v<T, float>  ? emulator::element_kind::fp32
                                           : sizeof(T) == 1          ? emulator::element_kind::byte
                                           : std::is_same_v<T, bf16> ? emulator::element_kind::bf16
                                                                     : emulator::element_kind::fp16;

// Sizes innermost first; rows are padded to multiples of 16 bytes. Element i of memory is number(i
// + 1).
template <class T> struct world {
  std::vector<std::int64_t> sizes, strides;  // in elements
  std::vector<T> storage;
  T* data;
  explicit world(std::vector<std::int64_t> s) : sizes(std::move(s)) {
    std::int64_t step = 1;
    for (std::int64_t const n : sizes) {
      strides.push_back(step);
      step *= n;
      if (strides.size() == 1)
        step = (step * 4 + 15) / 16 * 16 / 4 * (4 / static_cast<int>(sizeof(T)));
    }
    storage.resize(static_cast<std::size_t>(step) + 16);
    data = storage.data();
    while (reinterpret_cast<std::uintptr_t>(data) % 16) ++data;
    for (std::int64_t i = 0; i < step; ++i) data[i] = number<T>(i + 1);
  }
  emulator::tensor_map map(std::vector<int> const& box, int swizzle_bytes) const {
    emulator::tensor_map m;
    m.magic = emulator::tensor_map::is_map;
    m.kind = kind_of<T>;
    m.rank = static_cast<std::uint8_t>(sizes.size());
    m.swizzle_bytes = static_cast<std::uint8_t>(swizzle_bytes);
    m.base = reinterpret_cast<char*>(data);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      m.sizes[i] = static_cast<std::uint64_t>(sizes[i]);
      m.box[i] = static_cast<std::uint16_t>(box[i]);
      if (i) m.strides[i - 1] = static_cast<std::uint64_t>(strides[i]) * sizeof(T);
    }
    return m;
  }
  // Null outside the tensor.
  T* at(std::vector<std::int64_t> const& index) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (index[i] < 0 || index[i] >= sizes[i]) return nullptr;
      offset += index[i] * strides[i];
    }
    return data + offset;
  }
};

// f(index inside the box, number of the element)
template <class F> void for_each_in_box(std::vector<int> const& box, F f) {
  int const count = std::accumulate(box.begin(), box.end(), 1, std::multiplies<>());
  for (int n = 0; n < count; ++n) {
    std::vector<std::int64_t> index;
    for (int rest = n; int const b : box) index.push_back(rest % b), rest /= b;
    f(index, n);
  }
}

// The swizzle as PTX's tables have it: 16-byte unit c of 128-byte line l holds unit c ^ (l & mask).
inline int swizzled_byte(int byte, int swizzle_bytes) {
  int const line = byte / 128, unit = byte / 16 % 8;
  int const mask = swizzle_bytes == 128 ? 7 : swizzle_bytes == 64 ? 3 : swizzle_bytes == 32 ? 1 : 0;
  return line * 128 + (unit ^ (line & mask)) * 16 + byte % 16;
}

// A multiple of 1024, as tiles need it.
inline char* tile_memory() {
  auto const p = reinterpret_cast<std::uintptr_t>(emulator::shared_memory());
  return reinterpret_cast<char*>((p + 64 + 1023) / 1024 * 1024);
}
// The i-th of a few barriers at the start of shared memory.
inline std::uint32_t bar(int i = 0) {
  return emulator::shared_address(emulator::shared_memory()) + static_cast<std::uint32_t>(i) * 8;
}
inline void init_barriers(int count, int arrivals = 1) {
  if (emulator::thread_index() == 0) {
    for (int i = 0; i < count; ++i) emulator::mbarrier_init(bar(i), arrivals);
    emulator::mbarrier_init_fence();
  }
  emulator::sync_cluster();
}

}  // namespace tk::test
