// SPDX-License-Identifier: MIT
// Tables, and the numbers that name their rows, in tests of embedding and of its backward. Numbers
// are a tensor of one more dimension, of size 1, which the call is not told of: so that they may
// have any strides.
#pragma once
#include "tests/support/row_suite.hpp"

namespace tk::test {

// random: of all rows, some below the first and after the last; repeated: of eight rows; sorted:
// rising, some left out; half: every second is the same, the others random.
enum class id_kind { random, repeated, distinct, equal, sorted, half, outside };
inline constexpr int id_kinds = 7;

inline char const* name_of(id_kind x) {
  static char const* const names[] = {"random", "repeated", "distinct", "equal",
                                      "sorted", "half",     "outside"};
  return names[static_cast<int>(x)];
}

inline tensor place_ids(world& w, dtype type, row_shape of, matrix_layout const& how) {
  of.width = 1;
  return place_rows(w, type, of, how, role::input);
}
// A table, with a first dimension of size 1, which the call is not told of: none by which tests cut
// a problem into smaller ones.
inline tensor place_table(world& w, dtype type, std::int64_t v, std::int64_t d,
                          matrix_layout const& how, role use) {
  return place_rows(w, type, {.rank = 3, .rows = v, .width = d}, how, use);
}
inline DLTensor dl_of_table(tensor const& x) {
  auto dl = x.dl();
  --dl.ndim;
  ++dl.shape;
  if (dl.strides) ++dl.strides;
  return dl;
}
inline DLTensor dl_of_ids(tensor const& x) {
  auto dl = x.dl();
  --dl.ndim;
  return dl;
}

// The i-th of n numbers of rows of a table of v.
inline double id_of(id_kind kind, std::int64_t v, std::int64_t i, std::int64_t n, bool wide) {
  constexpr std::uint64_t seed = 41;
  auto const at = static_cast<std::uint64_t>(i);
  auto const some = [&](std::int64_t below) {
    return static_cast<std::int64_t>(random_below(static_cast<std::uint64_t>(below), seed, at));
  };
  std::int64_t const rows = std::max<std::int64_t>(v, 1);
  switch (kind) {
    case id_kind::random:
      // Some far from the table: no sum of them may come back to it.
      if (i % 13 == 5) return wide ? (i % 2 ? -0x1p63 : 0x1p32 + 3) : -0x1p31;
      return static_cast<double>(some(v + 4) - 2);
    case id_kind::repeated: return static_cast<double>(some(8) * rows / 8);
    case id_kind::distinct: return static_cast<double>((i * 7 + 3) % rows);
    case id_kind::equal: return static_cast<double>(rows / 2);
    case id_kind::sorted:
      return static_cast<double>(i / 3 * 3 * rows / std::max<std::int64_t>(n, 1));
    case id_kind::half: return static_cast<double>(i % 2 ? rows / 3 : some(rows));
    default: return i % 2 ? static_cast<double>(v + some(5)) : -1.;
  }
}
inline void fill_ids(tensor& x, std::int64_t v, id_kind kind) {
  for (std::int64_t row = 0; row < x.rows(); ++row)
    set(x, row, 0, id_of(kind, v, row, x.rows(), x.type == dtype::int64));
}

// The number of row `row`, or -1 where that is none of v rows.
inline std::int64_t id_at(tensor const& ids, std::int64_t row, std::int64_t v) {
  double const id = decode(ids.type, ids.image_row(row));
  return id >= 0 && id < static_cast<double>(v) ? static_cast<std::int64_t>(id) : -1;
}

}  // namespace tk::test
