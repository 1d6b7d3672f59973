// SPDX-License-Identifier: MIT
// How wgmma reads its operands (PTX ISA 9.7.15.5), of 16 bits, or of 8 with k contiguous. A
// descriptor has the start address (bits 0-13), the leading (16-29) and the stride offset (32-45),
// all in 16 bytes, and the swizzle (62-63: none, 128, 64, 32). "mn" is the dimension of A's rows or
// B's columns. A chunk is 16 bytes, 8 elements (16 of fp8):
//   k contiguous:  chunk (mn, k / 8) at mn / 8 * stride + mn % 8 * span + k / 8 * (16, or leading
//                  where there is no swizzle), span = 16, 32, 64, 128 bytes
//   mn contiguous: chunk (mn / 8 = c, k) at c / s * leading + c % s * 16 + k / 8 * stride + k % 8 *
//                  span with s = span / 16; without swizzle c * stride + k / 8 * leading + k % 8 *
//                  16
// Then the swizzle permutes the chunk by the bits of its address.
#pragma once
#include "backends/emulator/bulk.hpp"
#include "backends/emulator/widen.hpp"

namespace tk::emulator {

enum class operand_kind : std::uint8_t { bf16, fp16, e4m3, e5m2 };
template <class T>
inline constexpr operand_kind operand_kind_of = std::is_same_v<T, bf16>       ? operand_kind::bf16
                                                : std::is_same_v<T, fp16>     ? operand_kind::fp16
                                                : std::is_same_v<T, fp8_e4m3> ? operand_kind::e4m3
                                                                              : operand_kind::e5m2;
// f(T{}) for the type of that kind.
template <class F> void with_kind(operand_kind kind, F f) {
  switch (kind) {
    case operand_kind::bf16: return f(bf16{});
    case operand_kind::fp16: return f(fp16{});
    case operand_kind::e4m3: return f(fp8_e4m3{});
    case operand_kind::e5m2: return f(fp8_e5m2{});
  }
}

class shared_operand {
 public:
  struct piece {
    std::uint32_t address;
    char data[16];
  };

  // `size` is 64 for A, n for B. False where it leaves shared memory.
  bool read(block& b, std::uint64_t descriptor, bool mn_contiguous, int size) {
    auto const field = [&](int bit) {
      return static_cast<std::uint32_t>(descriptor >> bit & 0x3fff) << 4;
    };
    start_ = to_rank(field(0), b.rank), leading_ = field(16), stride_ = field(32);
    static constexpr int spans[] = {0, 128, 64, 32};
    span_ = spans[descriptor >> 62];
    mn_contiguous_ = mn_contiguous, size_ = size;
    pieces_.resize(static_cast<std::size_t>(size) * 2);
    team const& t = *b.of;
    for (int i = 0; i < size * 2; ++i) {
      piece& p = pieces_[static_cast<std::size_t>(i)];
      p.address = mn_contiguous ? swizzled(mn_chunk(i / 16, i % 16), span_)
                                : swizzled(k_chunk(i / 2, i % 2), span_);
      if (!t.memory.holds(p.address, 16)) return false;
      std::memcpy(p.data, t.memory.window() + p.address, 16);
    }
    return true;
  }
  std::vector<piece> const& pieces() const { return pieces_; }
  // Element (mn, k), of type T, to out[mn * mn_step + k * k_step].
  template <class T> void widen_to(T, float* out, int mn_step, int k_step) const {
    constexpr int count = 16 / sizeof(T);
    for (int i = 0; i < size_ * 2; ++i) {
      decltype(T::bits) x[count];
      std::memcpy(x, pieces_[static_cast<std::size_t>(i)].data, 16);
      float* const to = mn_contiguous_ ? out + i / 16 * count * mn_step + i % 16 * k_step
                                       : out + i / 2 * mn_step + i % 2 * count * k_step;
      int const step = mn_contiguous_ ? mn_step : k_step;
      for (int e = 0; e < count; ++e) to[e * step] = widen_element<T>(x[e], 0);
    }
  }

 private:
  std::uint32_t k_chunk(int mn, int c) const {
    auto const u = [](int x) { return static_cast<std::uint32_t>(x); };
    std::uint32_t const row = span_ ? u(span_) : 16, next = span_ ? 16 : leading_;
    return start_ + u(mn / 8) * stride_ + u(mn % 8) * row + u(c) * next;
  }
  std::uint32_t mn_chunk(int c, int k) const {
    auto const u = [](int x) { return static_cast<std::uint32_t>(x); };
    if (!span_) return start_ + u(c) * stride_ + u(k / 8) * leading_ + u(k % 8) * 16;
    int const s = span_ / 16;
    return start_ + u(c / s) * leading_ + u(c % s) * 16 + u(k / 8) * stride_ + u(k % 8) * u(span_);
  }
  std::uint32_t start_ = 0, leading_ = 0, stride_ = 0;
  int span_ = 0, size_ = 0;
  bool mn_contiguous_ = false;
  std::vector<piece> pieces_;
};

// c[64, n] += a[64, depth] b[depth, n], row-major; n a multiple of 8.
inline void multiply_add(float* c, float const* a, float const* b, int n, int depth) {
  typedef float four __attribute__((vector_size(16)));
  for (int j = 0; j < n; j += 8)
    for (int i = 0; i < 64; i += 4) {
      four sum[4][2];
      std::memcpy(sum[0], c + i * n + j, 32), std::memcpy(sum[1], c + (i + 1) * n + j, 32);
      std::memcpy(sum[2], c + (i + 2) * n + j, 32), std::memcpy(sum[3], c + (i + 3) * n + j, 32);
      for (int k = 0; k < depth; ++k) {
        four right[2];
        std::memcpy(right, b + k * n + j, 32);
        for (int r = 0; r < 4; ++r) {
          float const left = a[(i + r) * depth + k];
          sum[r][0] += left * right[0];
          sum[r][1] += left * right[1];
        }
      }
      for (int r = 0; r < 4; ++r) std::memcpy(c + (i + r) * n + j, sum[r], 32);
    }
}

}  // namespace tk::emulator
