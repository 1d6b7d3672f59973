// SPDX-License-Identifier: MIT
// Strided tensors in guarded memory, and their random contents.
#pragma once
#include <dlpack/dlpack.h>

#include <deque>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "ops/tk_base.h"
#include "tests/support/element.hpp"
#include "tests/support/memory.hpp"

namespace tk::test {

// Element [i, j, ...] lies origin + i strides[0] + j strides[1] + ... elements into the payload.
// A row is what the last dimension spans; its elements are contiguous.
struct tensor {
  memory* in = nullptr;
  dtype type = dtype::fp32;
  std::vector<std::int64_t> shape, strides;
  std::int64_t origin = 0;
  bool null_strides = false;      // say nothing of the strides, which are row-major
  std::uint64_t byte_offset = 0;  // how much of the address to give as DLTensor::byte_offset

  DLTensor dl() const;  // valid while this tensor neither moves nor dies
  std::int64_t rows() const;
  std::int64_t cols() const { return shape.back(); }
  std::int64_t row_offset(std::int64_t row) const;  // in elements
  std::byte const* image_row(std::int64_t row) const {
    return in->image() + row_offset(row) * bytes_of(type);
  }
  std::byte* image_row(std::int64_t row) { return in->image() + row_offset(row) * bytes_of(type); }
  std::byte* result_row(std::int64_t row) const {
    return in->result() + row_offset(row) * bytes_of(type);
  }
};

// The memories of one case.
class world {
 public:
  explicit world(std::uint64_t seed) : seed_(seed) {}
  // A tensor in memory of its own, which spans no more than its elements.
  tensor make(dtype type, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
              role use, int misalign_elements = 0);
  memory& raw(std::int64_t bytes, int misalign_bytes, role use) {
    return memories_.emplace_back(bytes, misalign_bytes, use, ++seed_);
  }
  std::deque<memory>& memories() { return memories_; }

 private:
  std::deque<memory> memories_;
  std::uint64_t seed_;
};

std::vector<std::int64_t> row_major(std::vector<std::int64_t> const& shape);

enum class data {
  reals,     // uniform in (-1, 1), rounded
  positive,  // uniform in (0, 1), rounded
  integers,  // -3 ... 3: sums of products are exact in fp32, in any order
  sparse,    // -1, 0 or 1, seven of eight 0: sums over 8192 products fit into 8 bits of fraction
  zeros,
  nans,
};
// A value depends on the seed and on where in its memory the element lies.
void fill(tensor& x, data what, std::uint64_t seed, double factor = 1);
void set(tensor& x, std::int64_t row, std::int64_t col, double value);

void read_row(dtype type, std::byte const* row, std::int64_t count, double* out);

// The least and greatest offset of an element; {0, -1} where there is none.
inline std::pair<std::int64_t, std::int64_t> extent(std::vector<std::int64_t> const& shape,
                                                    std::vector<std::int64_t> const& strides) {
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return {0, -1};
    (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
  }
  return {low, high};
}

inline DLTensor tensor::dl() const {
  DLTensor x{};
  x.data = in->device() + origin * bytes_of(type) - static_cast<std::int64_t>(byte_offset);
  x.device = {static_cast<DLDeviceType>(tk_device_type()), 0};
  x.ndim = static_cast<std::int32_t>(shape.size());
  x.dtype = {static_cast<std::uint8_t>(type == dtype::bf16       ? kDLBfloat
                                       : type == dtype::boolean  ? TK_DL_BOOL
                                       : type == dtype::uint8    ? kDLUInt
                                       : is_integer(type)        ? kDLInt
                                       : type == dtype::fp8_e4m3 ? TK_DL_FLOAT8_E4M3FN
                                       : type == dtype::fp8_e5m2 ? TK_DL_FLOAT8_E5M2
                                                                 : kDLFloat),
             static_cast<std::uint8_t>(8 * bytes_of(type)), 1};
  x.shape = const_cast<std::int64_t*>(shape.data());
  x.strides = null_strides ? nullptr : const_cast<std::int64_t*>(strides.data());
  x.byte_offset = byte_offset;
  return x;
}

inline std::int64_t tensor::rows() const {
  return std::accumulate(shape.begin(), shape.end() - 1, std::int64_t{1}, std::multiplies<>());
}

inline std::int64_t tensor::row_offset(std::int64_t row) const {
  std::int64_t offset = origin;
  for (std::size_t i = shape.size() - 1; i-- > 0;) {
    offset += row % shape[i] * strides[i];
    row /= shape[i];
  }
  return offset;
}

inline tensor world::make(dtype type, std::vector<std::int64_t> shape,
                          std::vector<std::int64_t> strides, role use, int misalign_elements) {
  auto const [low, high] = extent(shape, strides);
  memory& in = raw((high - low + 1) * bytes_of(type), misalign_elements * bytes_of(type), use);
  return {&in, type, std::move(shape), std::move(strides), -low};
}

inline std::vector<std::int64_t> row_major(std::vector<std::int64_t> const& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) strides[i] = step;
  return strides;
}

inline void fill(tensor& x, data what, std::uint64_t seed, double factor) {
  std::int64_t const rows = x.rows(), cols = x.cols(),
                     some = std::max<std::int64_t>(1, chunk / 16 / std::max<std::int64_t>(1, cols));
  auto const value = [&](std::uint64_t at) -> double {
    switch (what) {
      case data::reals: return random_unit(seed, at);
      case data::positive: return std::fabs(random_unit(seed, at));
      case data::integers: return static_cast<double>(random_below(7, seed, at) - 3);
      case data::sparse: {
        auto const r = random_below(16, seed, at);
        return r == 0 ? -1 : r == 1 ? 1 : 0;
      }
      case data::zeros: return 0;
      default: return std::nan("");
    }
  };
  parallel_for((rows + some - 1) / some, [&](std::int64_t c) {
    for (std::int64_t r = c * some; r < std::min(rows, (c + 1) * some); ++r) {
      std::byte* p = x.image_row(r);
      std::uint64_t const at = x.row_offset(r);
      for (std::int64_t j = 0; j < cols; ++j, p += bytes_of(x.type))
        encode(x.type, rounded(x.type, factor * value(at + j)), p);
    }
  });
}

inline void set(tensor& x, std::int64_t row, std::int64_t col, double value) {
  encode(x.type, rounded(x.type, value), x.image_row(row) + col * bytes_of(x.type));
}

inline void read_row(dtype type, std::byte const* row, std::int64_t count, double* out) {
  for (std::int64_t j = 0; j < count; ++j) out[j] = decode(type, row + j * bytes_of(type));
}

}  // namespace tk::test
