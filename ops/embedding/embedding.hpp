// SPDX-License-Identifier: MIT
// embedding: y[i, :] = table[ids[i], :], rows of a table by number.
// Shapes    table[v, d]; ids[b, s, n]; y[b, s, n, d]. Zeros where the table has no such row.
// Numerics  values are copied.
#pragma once
#include "core/row_kernel.hpp"

namespace tk {

template <class T> struct embedding_rows {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1, values = 1;
  static constexpr bool once = true;
  template <int> using input = T;
  template <int> using output = T;
  static constexpr int number_of(int) { return 0; }
  struct args {
    int unused;
  };
  static TK_BOTH std::int64_t place(args const&, std::int64_t id, int) { return id; }
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    rows.each([&](auto const& p) { p.write(row_output<0>{}, p(row_input<0>{})); });
  }
};

}  // namespace tk
