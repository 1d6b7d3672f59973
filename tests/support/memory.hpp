// SPDX-License-Identifier: MIT
// Device memory that notices what must not happen.
//   allocation = guard | payload | guard;  payload = tensors' elements and the gaps between them
// An input's guards and gaps are NaN in every element type: reading one spoils the result. An
// output's are random bytes, its elements NaN: a launch must write all of these and none of those.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "backends/runtime.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/random.hpp"

namespace tk::test {

constexpr std::int64_t chunk = std::int64_t{1} << 20;  // bytes that a thread takes at once

enum class role { input, output };

class memory {
 public:
  // The payload's address is `misalign_bytes` past a multiple of 256.
  memory(std::int64_t payload_bytes, int misalign_bytes, role use, std::uint64_t seed);
  ~memory();
  memory(memory const&) = delete;
  memory& operator=(memory const&) = delete;

  role use() const { return use_; }
  std::int64_t bytes() const { return guard + payload_ + guard; }
  std::byte* image() { return image_.get() + guard; }  // the payload as it will be uploaded
  std::byte const* image() const { return image_.get() + guard; }
  std::byte* result() { return result_.get() + guard; }  // as it was after the last download
  std::byte const* result() const { return result_.get() + guard; }
  std::byte* device() const { return device_ + guard; }

  void upload();
  void download();  // keeps the previous result for first_change()
  // Where, counted from the payload's first byte, the last two results differ.
  std::optional<std::int64_t> first_change() const;
  // Where, counted from the payload's first byte, result and image differ.
  std::optional<std::int64_t> first_difference() const;
  void restore(std::byte* result_bytes, std::int64_t count);  // puts the image's bytes back

  static constexpr std::int64_t guard = 4096;

 private:
  static std::unique_ptr<std::byte[]> room(std::int64_t n) {
    return std::make_unique_for_overwrite<std::byte[]>(n);
  }

  std::int64_t payload_;
  role use_;
  std::unique_ptr<std::byte[]> image_, result_, before_;
  void* allocation_;
  std::byte* device_;
};

inline memory::memory(std::int64_t payload_bytes, int misalign_bytes, role use, std::uint64_t seed)
    : payload_(payload_bytes), use_(use), image_(room(bytes())) {
  allocation_ = be::rt::allocate(static_cast<std::size_t>(bytes() + 512));
  auto const address = reinterpret_cast<std::uintptr_t>(allocation_);
  device_ = static_cast<std::byte*>(allocation_) + ((address + 255) / 256 * 256 - address) +
            misalign_bytes;
  static_assert(guard % 256 == 0);
  parallel_for((bytes() + chunk - 1) / chunk, [&](std::int64_t c) {
    std::int64_t const from = c * chunk, count = std::min(chunk, bytes() - from);
    if (use == role::input) {
      std::memset(image_.get() + from, 0xff, count);
      return;
    }
    for (std::int64_t i = 0; i < count; i += 8) {
      auto const x = random_bits(seed, from + i);
      std::memcpy(image_.get() + from + i, &x, std::min(count - i, std::int64_t{8}));
    }
  });
}

inline memory::~memory() { be::rt::release(allocation_); }

inline void memory::upload() { be::rt::copy_in(device_, image_.get(), bytes()); }

inline void memory::download() {
  before_ = std::move(result_);
  result_ = room(bytes());
  be::rt::copy_out(result_.get(), device_, bytes());
}

inline std::optional<std::int64_t> memory::first_change() const {
  if (std::memcmp(before_.get(), result_.get(), bytes()) == 0) return {};
  return std::mismatch(before_.get(), before_.get() + bytes(), result_.get()).first -
         (before_.get() + guard);
}

inline std::optional<std::int64_t> memory::first_difference() const {
  if (std::memcmp(image_.get(), result_.get(), bytes()) == 0) return {};
  return std::mismatch(image_.get(), image_.get() + bytes(), result_.get()).first - image();
}

inline void memory::restore(std::byte* result_bytes, std::int64_t count) {
  std::memcpy(result_bytes, image() + (result_bytes - result()), count);
}

}  // namespace tk::test
