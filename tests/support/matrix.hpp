// SPDX-License-Identifier: MIT
// How matrices lie in memory: batches, paddings, strides that a caller may choose.
#pragma once
#include <optional>
#include <sstream>
#include <string>

#include "tests/support/launch.hpp"

namespace tk::test {

// How a [batch, rows, cols] operand lies in memory, in elements.
struct matrix_layout {
  enum class batches {
    dense,
    none,         // no batch dimension
    one,          // a batch dimension of size 1
    same,         // batch stride 0
    padded,       // rows of another size between the batches
    interleaved,  // a row of every batch, then the next
    reversed,     // negative batch stride
  };
  std::int64_t padding = 0;  // elements after each row
  int misalignment = 0;      // of the first element, from a multiple of 256 bytes
  bool reversed = false;     // negative row stride
  std::optional<std::int64_t> row_stride = {};  // instead of cols + padding
  batches batch = batches::dense;
  bool null_strides = false;
  std::uint64_t byte_offset = 0;
  int parts = 1;  // of rows (row_suite.hpp): it is one of so many tensors, packed along heads
};

// A stored matrix of `rows` x `cols`; `batch` 0 stands for none.
inline tensor place(world& w, dtype type, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                    matrix_layout const& how, role use) {
  using batches = matrix_layout::batches;
  std::int64_t row = how.row_stride.value_or(cols + how.padding);
  std::int64_t step = rows * row;
  switch (how.batch) {
    case batches::same: step = 0; break;
    case batches::padded: step += 3 * row + 5; break;
    case batches::interleaved: step = row, row *= batch; break;
    case batches::reversed: step = -step; break;
    default: break;
  }
  if (how.reversed) row = -row;
  bool const flat = how.batch == batches::none;
  if (how.batch == batches::one) batch = 1;
  // Where no second element follows, the stride of a last dimension says nothing.
  std::int64_t const col = cols <= 1 && !how.null_strides ? 7 : 1;
  tensor x =
      w.make(type, flat ? std::vector{rows, cols} : std::vector{batch, rows, cols},
             flat ? std::vector{row, col} : std::vector{step, row, col}, use, how.misalignment);
  if (how.null_strides) x.strides = row_major(x.shape);
  x.null_strides = how.null_strides;
  x.byte_offset = how.byte_offset;
  return x;
}

inline void describe(std::ostream& s, char const* name, matrix_layout const& x) {
  static char const* const batches[] = {"",       "no batch",    "batch 1",         "one batch",
                                        "padded", "interleaved", "batches reversed"};
  std::ostringstream t;
  t << batches[static_cast<int>(x.batch)];
  if (x.padding) t << " +" << x.padding;
  if (x.row_stride) t << " row stride " << *x.row_stride;
  if (x.misalignment) t << " off by " << x.misalignment;
  if (x.reversed) t << " rows reversed";
  if (x.null_strides) t << " no strides";
  if (x.parts > 1) t << " one of " << x.parts;
  if (x.byte_offset) t << " byte_offset " << x.byte_offset;
  if (!t.str().empty()) s << ", " << name << ": " << t.str();
}

}  // namespace tk::test
