// SPDX-License-Identifier: MIT
// The oracles' products in double precision: c[rows, n] = a[rows, k] b[k, n]. b is packed in panels
// of 16 columns, k deep, so that the inner loop reads it in order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tk::test {

class panels {
 public:
  static constexpr int width = 16;  // four rows of a panel are 16 registers of 4 doubles

  static constexpr std::int64_t padded(std::int64_t n) { return (n + width - 1) / width * width; }

  panels(std::int64_t k, std::int64_t n) : k_(k), n_(n), data_(padded(n) * k) {}
  double& at(std::int64_t row, std::int64_t col) {
    return data_[(col / width * k_ + row) * width + col % width];
  }

  // c = a b. Rows of a are lda apart, those of c padded(n). Only the first `depth` rows of b take
  // part.
  void multiply(double* c, double const* a, std::int64_t lda, std::int64_t rows,
                std::int64_t depth) const {
    static auto const run = choose();
    std::int64_t const ldc = padded(n_);
    for (std::int64_t col = 0; col < n_; col += width)
      for (std::int64_t r = 0; r < rows; r += 4) {
        double const* row[4];  // past the last row: the last row again
        for (int i = 0; i < 4; ++i) row[i] = a + std::min(r + i, rows - 1) * lda;
        int const count = static_cast<int>(std::min<std::int64_t>(4, rows - r));
        run(c + r * ldc + col, ldc, row, data_.data() + col * k_, depth, count);
      }
  }

 private:
  static constexpr int lanes = 4;
  typedef double lane_values __attribute__((vector_size(lanes * sizeof(double))));

  [[gnu::always_inline]] static void block(double* c, std::int64_t ldc, double const* const* a,
                                           double const* b, std::int64_t depth, int rows) {
    lane_values sum[4][width / lanes] = {};
    for (std::int64_t l = 0; l < depth; ++l, b += width) {
      lane_values y[width / lanes];
      std::memcpy(y, b, sizeof y);
      for (int r = 0; r < 4; ++r)
        for (int j = 0; j < width / lanes; ++j) sum[r][j] += a[r][l] * y[j];
    }
    for (int r = 0; r < rows; ++r) std::memcpy(c + r * ldc, sum[r], sizeof sum[r]);
  }
  static void block_any(double* c, std::int64_t ldc, double const* const* a, double const* b,
                        std::int64_t depth, int rows) {
    block(c, ldc, a, b, depth, rows);
  }
#if defined(__x86_64__)
  [[gnu::target("avx2,fma")]] static void block_wide(double* c, std::int64_t ldc,
                                                     double const* const* a, double const* b,
                                                     std::int64_t depth, int rows) {
    block(c, ldc, a, b, depth, rows);
  }
  static decltype(&block_any) choose() {
    bool const wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return wide ? block_wide : block_any;
  }
#else
  static decltype(&block_any) choose() { return block_any; }
#endif

  std::int64_t k_, n_;
  std::vector<double> data_;
};

}  // namespace tk::test
