// SPDX-License-Identifier: MIT
// Lines of numbers (backends/host/line.hpp): rounded, bit for bit as one by one, in order and in
// halves, NaN and subnormal numbers too; written in part, and past the caches; widened.
#include "backends/host/line.hpp"

#include <bit>
#include <cmath>
#include <vector>

#include "tests/host/call.hpp"

using namespace tk::test;
namespace be = tk::be;

namespace {

// Every sign, exponent and upper half of a mantissa, with lower halves around what is rounded.
float number(std::uint32_t i) {
  constexpr std::uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x0fff, 0x1000, 0x1001};
  return std::bit_cast<float>(i / 9 << 16 | low[i % 9]);
}
constexpr std::uint32_t numbers = 65536 * 9;

// Where in a line the number of an element is.
template <bool InHalves> int place(int i) {
  return InHalves ? i / 32 * 32 + i % 2 * 16 + i % 32 / 2 : i;
}

template <class T, bool InHalves> bool rounds_alike() {
  constexpr int n = 64 / static_cast<int>(sizeof(T));
  for (std::uint32_t first = 0; first + n <= numbers; first += n) {
    float line[n];
    for (int i = 0; i < n; ++i) line[place<InHalves>(i)] = number(first + std::uint32_t(i));
    T rounded[n];
    auto const bytes = be::round_line<T, InHalves>(line);
    std::memcpy(rounded, &bytes, sizeof rounded);
    for (int i = 0; i < n; ++i)
      if (rounded[i].bits != be::narrow<T>(number(first + std::uint32_t(i))).bits) return false;
  }
  return true;
}

// Elements from `begin` to before `end`, and no others.
template <class T, bool InHalves> bool writes(int begin, int end, std::int64_t bytes, int offset) {
  constexpr int C = 128;
  alignas(64) T to[C + 64];
  std::memset(to, 0x55, sizeof to);
  float line[C];
  for (int i = 0; i < C; ++i) line[place<InHalves>(i)] = static_cast<float>(i) + 0.3f;
  be::write_rounded<InHalves>(to + offset, line, begin, end, bytes);
  be::stores_settle();
  for (int i = 0; i < C + 64; ++i) {
    int const c = i - offset;
    bool const there = c >= 0 && c < C && c >= begin && c < end;
    T const wanted = there ? be::narrow<T>(static_cast<float>(c) + 0.3f) : to[C + 63];
    if (std::memcmp(to + i, &wanted, sizeof wanted) != 0) return false;
  }
  return true;
}
template <class T, bool InHalves> bool writes_all() {
  bool right = true;
  for (std::int64_t const bytes : {std::int64_t{1}, be::cached_bytes})
    for (int const offset : {0, 3})
      for (int const begin : {-5, 0, 1, 31})
        for (int const end : {0, 7, 127, 128, 1000})
          right = right && writes<T, InHalves>(begin, end, bytes, offset);
  return right;
}

template <class T> bool widens_alike() {
  std::vector<T> x(65536 + 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = {static_cast<decltype(T::bits)>(i)};
  std::vector<float> y(x.size());
  be::widen_line(y.data(), x.data(), static_cast<int>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    float const wanted = be::widen(x[i]);
    if (std::isnan(wanted)
            ? !std::isnan(y[i])
            : std::bit_cast<std::uint32_t>(y[i]) != std::bit_cast<std::uint32_t>(wanted))
      return false;
  }
  return true;
}

}  // namespace

int main() {
  int failed = 0;
  failed += report(rounds_alike<tk::bf16, false>() && rounds_alike<tk::bf16, true>(),
                   "bf16 is rounded as one by one");
  failed += report(rounds_alike<tk::fp16, false>(), "fp16 is rounded as one by one");
  failed += report(rounds_alike<tk::fp8_e4m3, false>() && rounds_alike<tk::fp8_e5m2, false>(),
                   "fp8 is rounded as one by one");
  failed += report(writes_all<tk::bf16, false>() && writes_all<tk::bf16, true>() &&
                       writes_all<float, false>() && writes_all<tk::fp8_e4m3, false>(),
                   "what is asked is written, and nothing else");
  failed += report(widens_alike<tk::bf16>() && widens_alike<tk::fp16>(), "lines are widened");
  return failed;
}
