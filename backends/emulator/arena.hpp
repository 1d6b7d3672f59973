// SPDX-License-Identifier: MIT
// Shared memory of the blocks of a team. A window holds them all: the block of rank r has the
// addresses from r << 24 on, as on hardware, so that an address is an offset into the window and a
// peer's memory is reached by changing the rank. Below and above a block's bytes lie red zones.
// Bytes that nobody wrote are 0xff, which is NaN in every floating-point type.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "backends/emulator/sanitizers.hpp"

namespace tk::emulator {

inline constexpr int rank_shift = 24;
inline constexpr std::uint32_t offset_mask = (1u << rank_shift) - 1;

class arena {
 public:
  static constexpr std::size_t red_zone = 4096, page = 4096;
  static constexpr unsigned char red = 0xa5;

  arena() = default;
  ~arena() { drop(); }
  arena(arena const&) = delete;
  arena& operator=(arena const&) = delete;

  void begin(int ranks, std::size_t offset, std::size_t bytes) {
    std::size_t const need = (offset + bytes + red_zone + page - 1) / page * page;
    if (ranks > ranks_ || need > mapped_) map(ranks, need);
    offset_ = offset, bytes_ = bytes, used_ = ranks;
    for (int r = 0; r < ranks; ++r) {
      char* const p = at(r);
      sanitizer::permit(p, mapped_);
      std::memset(p, red, offset);
      std::memset(p + offset, 0xff, bytes);
      std::memset(p + offset + bytes, red, red_zone);
      sanitizer::forbid(p, offset);
      sanitizer::forbid(p + offset + bytes, mapped_ - offset - bytes);
    }
  }
  // First byte of a red zone that was written, or -1.
  std::ptrdiff_t damage(int rank) const {
    if (sanitizer::sees_addresses) return -1;
    std::ptrdiff_t const low = first_written(rank, 0, offset_);
    return low >= 0 ? low : first_written(rank, offset_ + bytes_, red_zone);
  }

  char* window() const { return window_; }
  char* at(int rank) const { return window_ + (static_cast<std::size_t>(rank) << rank_shift); }
  std::size_t offset() const { return offset_; }
  std::size_t bytes() const { return bytes_; }
  // Whether [address, address + count) lies in the memory of a block.
  bool holds(std::uint32_t address, std::size_t count) const {
    std::size_t const o = address & offset_mask;
    return static_cast<int>(address >> rank_shift) < used_ && o >= offset_ &&
           o + count <= offset_ + bytes_;
  }

 private:
  void map(int ranks, std::size_t need) {
    drop();
    std::size_t const span = static_cast<std::size_t>(ranks) << rank_shift;
    void* const p =
        mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    // The window begins at a multiple of 1024, so that a pointer is as aligned as its address.
    window_ = static_cast<char*>(p);
    ranks_ = ranks, mapped_ = need;
    for (int r = 0; r < ranks; ++r)
      if (mprotect(at(r), need, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  std::ptrdiff_t first_written(int rank, std::size_t from, std::size_t count) const {
    auto const* const p = reinterpret_cast<unsigned char const*>(at(rank)) + from;
    if (p[0] == red && std::memcmp(p, p + 1, count - 1) == 0) return -1;
    std::size_t i = 0;
    while (p[i] == red) ++i;
    return static_cast<std::ptrdiff_t>(from + i);
  }
  void drop() {
    if (!window_) return;
    for (int r = 0; r < ranks_; ++r) sanitizer::permit(at(r), mapped_);
    munmap(window_, static_cast<std::size_t>(ranks_) << rank_shift);
    window_ = nullptr;
  }
  char* window_ = nullptr;
  int ranks_ = 0, used_ = 0;
  std::size_t mapped_ = 0, offset_ = 0, bytes_ = 0;
};

}  // namespace tk::emulator
