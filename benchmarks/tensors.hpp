// SPDX-License-Identifier: MIT
// Tensors of the benchmarks: memory on the device with a copy on the host, filled with random
// normal numbers. The host's copy is what the oracles read, as double.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ops/tk_ops.h"

namespace tk::bench {

// int32: of tables and columns; fp8: of what is quantised; boolean: of masks.
enum class dtype { bf16, fp16, fp32, int32, fp8_e4m3, fp8_e5m2, boolean };

dtype parse_dtype(std::string const& name);  // bf16, fp16 or fp32
char const* name_of(dtype type);
constexpr std::int64_t bytes_of(dtype type) {
  return type == dtype::fp32 || type == dtype::int32  ? 4
         : type == dtype::bf16 || type == dtype::fp16 ? 2
                                                      : 1;
}
double rounded(dtype type, double x);  // to the type and back

// Row-major unless strides are given. Memory is the tensor's own, or a slice of another's.
class tensor {
 public:
  tensor() = default;
  tensor(dtype type, std::vector<std::int64_t> shape);
  explicit tensor(std::vector<float> const& values);  // a vector of them
  explicit tensor(std::vector<std::int32_t> const& values);
  tensor(tensor&& x) noexcept;
  tensor& operator=(tensor&& x) noexcept;
  ~tensor();
  // The same memory from element `offset` on, under another shape. Outlived by *this.
  tensor slice(std::int64_t offset, std::vector<std::int64_t> shape,
               std::vector<std::int64_t> strides) const;

  // On the host and on the device; `size`: the standard deviation.
  void fill_normal(std::uint64_t seed, double size = 1);
  void fill_coins(std::uint64_t seed);  // booleans, of which an eighth is false
  void fill_nan();                      // on the device
  std::vector<std::byte> copy_out() const;

  // n numbers of the host's copy, `step` elements apart, from element `offset` on.
  void read(double* to, std::int64_t offset, std::int64_t n, std::int64_t step = 1) const;
  static void read(double* to, dtype type, std::byte const* from, std::int64_t n,
                   std::int64_t step = 1);

  explicit operator bool() const { return data_ != nullptr; }
  DLTensor dl() const;  // points into *this
  void* data() const { return data_; }
  dtype type() const { return type_; }
  std::int64_t size() const;
  std::int64_t bytes() const { return size() * bytes_of(type_); }
  std::vector<std::int64_t> const& shape() const { return shape_; }
  std::vector<std::int64_t> const& strides() const { return strides_; }

 private:
  void* data_ = nullptr;
  std::byte const* host_ = nullptr;
  std::vector<std::byte> host_copy_;
  bool owned_ = false;
  dtype type_ = dtype::bf16;
  std::vector<std::int64_t> shape_, strides_;
};

// body(i) for i in [0, n), on all of the CPU's threads.
void parallel_for(std::int64_t n, std::function<void(std::int64_t)> const& body);

// `wanted` of the numbers below n, ascending: all, or both ends, edges of tiles, a random sample.
std::vector<std::int64_t> sample_rows(std::int64_t n, std::int64_t wanted);

// What a result is off by, relative to the oracle's size, and what a right result keeps.
struct verdict {
  double error, limit;
  bool right() const { return error <= limit; }
};

// Sums the squares of differences from the oracle; the caller adds from one thread at a time.
struct deviation {
  double error = 0, rounding = 0, reference = 0;
  void add(dtype type, double x, double ref);
  double relative() const;        // error
  double relative_floor() const;  // of the reference rounded once: what no computation can beat
};
bool all_finite(dtype type, std::vector<std::byte> const& values);

}  // namespace tk::bench
