// SPDX-License-Identifier: MIT
// Do two strided tensors share a byte? Do two elements of one tensor share an address?
// Both ask whether  sum x_i step_i = target,  least_i <= x_i <= most_i,  has a solution. Terms of
// equal step are one term (which settles slices of one packed buffer at once); the largest step is
// tried first, and only for those x that the smaller terms can still make up for: in size, and in
// what remains after division by what their steps have in common. The answer is exact. Only where
// that takes more than `search_limit` tries is it `unknown`, and the checks then refuse: strides of
// that kind are large and nearly equal, not those of views and slices.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tk::api {

__extension__ typedef __int128 wide;  // products of sizes, strides and addresses cannot overflow

// Elements of `width` bytes at address + width * (i * stride[0] + j * stride[1] + ...). A size of 0
// anywhere means no element at all.
struct footprint {
  std::uintptr_t address = 0;
  std::int64_t width = 1;
  std::array<std::int64_t, 4> size{}, stride{};
};

enum class verdict { apart, overlap, unknown };

constexpr int search_limit = 1 << 14;  // tries; they take some 0.15 ms

// sum x_i step_i = target, step_i > 0, least_i <= x_i <= most_i
class equation {
 public:
  void add(wide step, wide least, wide most) {
    auto* at = std::find_if(terms_.data(), terms_.data() + count_,
                            [&](term const& t) { return t.step <= step; });
    if (at == terms_.data() + count_ || at->step < step) {
      std::move_backward(at, terms_.data() + count_, terms_.data() + count_ + 1);
      *at = {step, 0, 0};
      ++count_;
    }
    at->least += least;
    at->most += most;
  }

  verdict solve(wide target) {
    low_[count_] = high_[count_] = 0;
    for (int i = count_ - 1; i >= 0; --i) {
      low_[i] = low_[i + 1] + terms_[i].step * terms_[i].least;
      high_[i] = high_[i + 1] + terms_[i].step * terms_[i].most;
      common_[i] = i + 2 < count_ ? common_divisor(terms_[i].step, common_[i + 1]) : terms_[i].step;
    }
    tries_ = 0;
    return search(0, target);
  }

 private:
  struct term {
    wide step, least, most;
  };

  static wide floor_quotient(wide x, wide y) { return x / y - (x % y < 0); }
  static wide common_divisor(wide x, wide y) {
    while (y != 0) x = std::exchange(y, x % y);
    return x;
  }

  verdict search(int i, wide target) {
    if (i == count_) return target == 0 ? verdict::overlap : verdict::apart;
    int const last = count_ - 1;
    if (i < last &&
        floor_quotient(target - low_[last], common_[i]) * common_[i] < target - high_[last])
      return verdict::apart;
    auto const [step, least, most] = terms_[i];
    wide const from = std::max(least, -floor_quotient(high_[i + 1] - target, step));
    wide const to = std::min(most, floor_quotient(target - low_[i + 1], step));
    for (wide x = from; x <= to; ++x) {
      if (++tries_ > search_limit) return verdict::unknown;
      auto const found = search(i + 1, target - x * step);
      if (found != verdict::apart) return found;
    }
    return verdict::apart;
  }

  std::array<term, 10> terms_{};         // by falling step
  std::array<wide, 11> low_{}, high_{};  // what terms i and after can add up to
  std::array<wide, 10> common_{};        // divisor of the steps from i on, without the last
  int count_ = 0, tries_ = 0;
};

// The same bytes as runs of `length` bytes at base + sum x_i step_i, 0 <= x_i < size_i; steps rise.
// Dimensions of size 1 and of stride 0 are gone, negative steps turned round, contiguous dimensions
// part of the run.
struct runs {
  struct dimension {
    wide step, size;
  };
  wide base, length;
  std::array<dimension, 4> dims{};
  int count = 0;
  bool empty = false, repeats = false;  // no element at all; a stride of 0 met

  explicit runs(footprint const& x) : base(x.address), length(x.width) {
    for (int i = 0; i < 4; ++i) {
      if (x.size[i] == 0) empty = true;
      if (x.size[i] <= 1) continue;
      if (x.stride[i] == 0) repeats = true;
      if (x.stride[i] == 0) continue;
      wide const step = wide(x.stride[i]) * x.width, size = x.size[i];
      if (step < 0) base += (size - 1) * step;
      dims[count++] = {step < 0 ? -step : step, size};
    }
    std::sort(dims.begin(), dims.begin() + count,
              [](dimension const& a, dimension const& b) { return a.step < b.step; });
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      if (dims[i].step == length) {
        length *= dims[i].size;
      } else {
        dims[kept++] = dims[i];
      }
    }
    count = kept;
  }
};

// Do x and y share a byte?
inline verdict overlap(footprint const& x, footprint const& y) {
  runs const a(x), b(y);
  if (a.empty || b.empty) return verdict::apart;
  equation difference;
  difference.add(1, -(b.length - 1), a.length - 1);
  for (int i = 0; i < a.count; ++i) { difference.add(a.dims[i].step, 0, a.dims[i].size - 1); }
  for (int i = 0; i < b.count; ++i) { difference.add(b.dims[i].step, -(b.dims[i].size - 1), 0); }
  return difference.solve(b.base - a.base);
}

// Do two different indices of x share an address? If so, there is a last dimension (by step) in
// which they differ; it may be taken to rise.
inline verdict self_overlap(footprint const& x) {
  runs const a(x);
  if (a.empty) return verdict::apart;
  if (a.repeats) return verdict::overlap;
  auto result = verdict::apart;
  for (int last = 0; last < a.count; ++last) {
    equation difference;
    difference.add(1, -(a.length - 1), a.length - 1);
    for (int i = 0; i < last; ++i) {
      difference.add(a.dims[i].step, -(a.dims[i].size - 1), a.dims[i].size - 1);
    }
    difference.add(a.dims[last].step, 1, a.dims[last].size - 1);
    auto const found = difference.solve(0);
    if (found == verdict::overlap) return found;
    if (found == verdict::unknown) result = found;
  }
  return result;
}

}  // namespace tk::api
