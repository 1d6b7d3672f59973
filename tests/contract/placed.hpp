// SPDX-License-Identifier: MIT
// Tensors of rank four in the middle of other memory, placed in every way that matters to how they
// may be moved: dense, aligned or not, with gaps, with strides that are odd, zero or negative.
#pragma once
#include <cstdlib>
#include <memory>

#include "tests/contract/support.hpp"

namespace tk::test {

struct shape {
  int rows, cols, n0, n1;
};
struct placing {  // strides beyond what the shape asks for, and the first element's shift
  int row_gap, plane_gap, shift;
  enum { usual, zero_row, negative_row, zero_outer } kind;
};
inline constexpr placing placings[] = {
    {0, 0, 0, placing::usual},         // aligned rows, one after another
    {0, 0, 1, placing::usual},         // not even aligned to a word
    {1, 0, 0, placing::usual},         // rows wander through all alignments
    {2, 6, 2, placing::usual},         // aligned to words
    {4, 4, 4, placing::usual},         // to 8 bytes of 16 bits
    {0, 3, 0, placing::usual},         // rows aligned, planes not
    {8, 16, 8, placing::usual},        // gaps, and aligned (8 bytes of fp8)
    {8, 0, 0, placing::negative_row},  // upside down
    {0, 0, 0, placing::zero_row},      // one row repeated; this and the next for inputs only
    {0, 0, 0, placing::zero_outer},    // one plane repeated
};
inline constexpr int output_placings = 8;

template <class T> class placed {
 public:
  placed(shape s, placing p, T around) : s_(s) {
    constexpr int whole = sizeof(T) == 1 ? 16 : 8;  // 16 bytes at least
    int const height = s.rows < 1 ? 1 : s.rows;
    int const pitch = (s.cols + whole - 1) / whole * whole + p.row_gap;
    row_ = p.kind == placing::zero_row ? 0 : p.kind == placing::negative_row ? -pitch : pitch;
    stride1_ = p.kind == placing::zero_outer ? 0 : pitch * height + p.plane_gap;
    stride0_ = stride1_ * s.n1 + (stride1_ ? p.plane_gap : 0);
    first_ = margin + p.shift + (row_ < 0 ? pitch * (height - 1) : 0);
    values_.assign(
        at(2 * margin + p.shift + s.n0 * (s.n1 * (pitch * height + p.plane_gap) + p.plane_gap)),
        around);
  }
  shape const& size() const { return s_; }
  bool holds(int row, int col) const { return row < s_.rows && col < s_.cols; }
  T& element(int row, int col, int i, int j) { return values_[offset(row, col, i, j)]; }
  T value(int row, int col, int i, int j) const {  // zero outside
    return holds(row, col) ? values_[offset(row, col, i, j)] : to<T>(0);
  }
  void upload() { memory_ = std::make_unique<device_array<T>>(values_); }
  tensor<T> view() const {
    return {memory_->data() + first_, s_.rows, s_.cols, row_, s_.n0, stride0_, s_.n1, stride1_};
  }
  tensor<T const> input() const {
    auto const x = view();
    return {x.data, x.rows, x.cols, x.row_stride, x.n0, x.stride0, x.n1, x.stride1};
  }
  std::vector<T> const& values() const { return values_; }
  std::vector<T> read() const { return memory_->read(); }

 private:
  static constexpr int margin = 64;
  std::size_t offset(int row, int col, int i, int j) const {
    return at(first_ + i * stride0_ + j * stride1_ + row * row_ + col);
  }
  shape s_;
  int row_, stride0_, stride1_, first_;
  std::vector<T> values_;
  std::unique_ptr<device_array<T>> memory_;
};

// Whole numbers in the middle of NaN, on the device.
template <class T> placed<T> placed_input(shape s, placing p) {
  placed<T> x(s, p, to<T>(std::nanf("")));
  std::int64_t n = 0;
  for (int i = 0; i < s.n0; ++i)
    for (int j = 0; j < s.n1; ++j)
      for (int row = 0; row < s.rows; ++row)
        for (int col = 0; col < s.cols; ++col)
          x.element(row, col, i, j) = to<T>(whole(17, ++n, 100));
  x.upload();
  return x;
}

struct corner {
  int row, col, i, j;
};
// Corners of R x C windows inside a shape, across each of its edges, and outside.
template <class T, int R, int C> std::vector<corner> corners_of(shape s) {
  int const step = 16 / static_cast<int>(sizeof(T));  // columns of a window begin at 16 bytes
  int const rows[] = {0, 1, R, s.rows - R, s.rows - 1, s.rows, s.rows + 3, s.rows + R};
  int const cols[] = {0,
                      step,
                      C,
                      (s.cols - 1) / step * step,
                      (s.cols + step - 1) / step * step,
                      s.cols / C * C + C};
  std::vector<corner> all;
  for (int const row : rows)
    for (int const col : cols)
      if (row >= 0 && col >= 0) {
        int const n = static_cast<int>(all.size());
        all.push_back({row, col, n % s.n0, n / 2 % s.n1});
      }
  return all;
}

}  // namespace tk::test
