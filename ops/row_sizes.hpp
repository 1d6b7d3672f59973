// SPDX-License-Identifier: MIT
// What ops of rows (ops/row_launch.hpp) ask of sizes, and the workspace they want.
#pragma once
#include <algorithm>
#include <limits>
#include <string>

#include "backends/runtime.hpp"
#include "core/row_tuning.hpp"
#include "core/status.hpp"
#include "ops/tensors.hpp"

namespace tk {

// Rows and columns are addressed in 31 bits, some past the last.
inline void check_row_size(row_tensor_view const& x) {
  constexpr std::int64_t longest = std::numeric_limits<int>::max() - (1 << 16);
  auto const check = [&](char const* what, std::int64_t size) {
    if (size > longest)
      throw error(status::unsupported, std::string(what) + std::to_string(size) +
                                           " is above the limit of " + std::to_string(longest));
  };
  check("a size of ", x.width);
  std::int64_t rows = 1;
  for (auto const size : {x.outer, x.middle, x.rows}) {
    check("a size of ", size);
    rows *= size;  // below 2^62
    check("a number of rows of ", rows);
  }
}
// Where many rows are moved, the last ones are dealt on demand, which takes a counter.
inline std::size_t row_workspace_bytes(row_tensor_view const& x) {
  constexpr std::int64_t many = 1 << 16;  // elements
  check_row_size(x);
  workspace_layout layout;
  if (x.outer * x.middle * x.rows * x.width >= many) layout.add_counters();
  return layout.bytes();
}

// Where each task's sums over its rows lie in the workspace: `count` of them for each column of
// rows like x.
class row_sums {
 public:
  row_sums(row_tensor_view const& x, int count) : stride_((x.width + 3) / 4 * 4) {
    if (count == 0) return;
    auto const tasks =
        std::min(x.outer * x.middle * x.rows,
                 std::int64_t{be::rt::multiprocessors()} * be::row_tasks_per_unit(x.width));
    each_ = static_cast<std::size_t>(tasks * stride_) * sizeof(float);
    first_ = layout_.add(each_ * static_cast<std::size_t>(count));
  }
  std::size_t of(int i) const { return first_ + each_ * static_cast<std::size_t>(i); }
  int stride() const { return static_cast<int>(stride_); }
  std::size_t bytes() const { return layout_.bytes(); }

 private:
  std::int64_t stride_;
  std::size_t each_ = 0, first_ = 0;
  workspace_layout layout_;
};
inline std::size_t row_sums_workspace_bytes(row_tensor_view const& x, int count) {
  check_row_size(x);
  return row_sums(x, count).bytes();
}

}  // namespace tk
