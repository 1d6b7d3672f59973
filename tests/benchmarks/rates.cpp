// SPDX-License-Identifier: MIT
// The ops behind suite ceilings do the work that they are timed for: tasks, workers and repeats are
// all counted, and every row is written. Small integers, so that sums are exact.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "backends/runtime.hpp"
#include "benchmarks/ceilings/rates.hpp"
#include "core/element.hpp"

namespace {

namespace rt = tk::be::rt;
using tk::bf16;

template <class T> struct device_array {
  explicit device_array(std::vector<T> const& x) : bytes(x.size() * sizeof(T)) {
    data = rt::allocate(bytes);
    rt::copy_in(data, x.data(), bytes);
  }
  ~device_array() { rt::release(data); }
  std::vector<T> copy_out() const {
    std::vector<T> x(bytes / sizeof(T));
    rt::copy_out(x.data(), data, bytes);
    return x;
  }
  std::size_t bytes;
  void* data;
};

std::vector<bf16> whole_numbers(int count, int below) {
  std::vector<bf16> x;
  for (int i = 0; i < count; ++i)
    x.push_back(tk::round_to<bf16>(static_cast<float>((i * 7 + i / 11) % below)));
  return x;
}

constexpr int tasks = 2, repeats = 3;

// As many NaN as rows are written, and as many more that must stay.
std::vector<float> blank(tk::bench::rate_shape const& s) {
  return std::vector<float>(static_cast<std::size_t>(2 * tasks * s.workers * s.rows), NAN);
}

}  // namespace

TEST_CASE("products") {
  auto const s = tk::bench::shape_of_products();
  int const rows = s.workers * s.rows;
  auto const a = whole_numbers(rows * s.depth, 4), b = whole_numbers(s.depth * s.cols, 3);
  device_array<bf16> const left(a), right(b);
  device_array<float> const out(blank(s));
  tk::bench::launch_products(left.data, right.data, static_cast<float*>(out.data), tasks, repeats);
  rt::synchronize();
  auto const found = out.copy_out();
  int wrong = 0;
  for (int i = 0; i < tasks * rows; ++i) {
    double sum = 0;
    for (int k = 0; k < s.depth; ++k)
      for (int j = 0; j < s.cols; ++j)
        sum += double{tk::widen(a[static_cast<std::size_t>(i % rows * s.depth + k)])} *
               tk::widen(b[static_cast<std::size_t>(k * s.cols + j)]);
    wrong += found[static_cast<std::size_t>(i)] != repeats * sum;
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(found[static_cast<std::size_t>(tasks * rows)]));
}

TEST_CASE("exponentials") {
  auto const s = tk::bench::shape_of_exponentials();
  device_array<float> const out(blank(s));
  tk::bench::launch_exponentials(static_cast<float*>(out.data), tasks, repeats);
  rt::synchronize();
  auto const found = out.copy_out();
  double const wanted = s.cols * std::exp2(-std::exp2(-1.0));  // 0, 1, 1/2, 2^-1/2
  int wrong = 0;
  for (std::size_t i = 0; i < found.size() / 2; ++i)
    wrong += !(std::abs(found[i] - wanted) <= 1e-5 * wanted);
  CHECK(wrong == 0);
  CHECK(std::isnan(found[found.size() / 2]));
}
