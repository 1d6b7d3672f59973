// SPDX-License-Identifier: MIT
// One case of tk_embedding, and its oracle: values are copied, and nothing else is right.
#pragma once
#include "ops/embedding/embedding.h"
#include "tests/ops/embedding/ids.hpp"

namespace tk::test {

struct embedding_operands;

// shape: y, of rank 2 to 4.
struct embedding_case {
  using operands = embedding_operands;
  row_shape shape;
  std::int64_t v = 0;
  dtype type = dtype::bf16, id_type = dtype::int64;
  id_kind ids = id_kind::random;
  matrix_layout table_layout = {}, ids_layout = {}, y_layout = {};
};

inline std::string describe(embedding_case const& x) {
  std::ostringstream s;
  s << "embedding " << x.shape << " " << name_of(x.type) << " of " << x.v << ", "
    << name_of(x.id_type) << " " << name_of(x.ids);
  describe(s, "table", x.table_layout);
  describe(s, "ids", x.ids_layout);
  describe(s, "y", x.y_layout);
  return s.str();
}

struct embedding_operands {
  explicit embedding_operands(embedding_case const& x);
  embedding_operands(embedding_operands const&) = delete;

  embedding_case of;
  world memories;
  tensor table_rows, ids, y;
  static constexpr row_operand<embedding_operands> table[] = {
      {"table", &embedding_operands::table_rows},
      {"ids", &embedding_operands::ids},
      {"y", &embedding_operands::y, true}};
};

inline embedding_operands::embedding_operands(embedding_case const& c) : of(c), memories(3) {
  table_rows = place_table(memories, c.type, c.v, c.shape.width, c.table_layout, role::input);
  fill_uniform(table_rows, 21, 0, 4);
  ids = place_ids(memories, c.id_type, c.shape, c.ids_layout);
  fill_ids(ids, c.v, c.ids);
  y = output_rows(memories, c.type, c.shape, c.y_layout);
}

template <class Body> std::string with_problem(embedding_operands const& x, Body const& body) {
  DLTensor const table = dl_of_table(x.table_rows), ids = dl_of_ids(x.ids), y = x.y.dl();
  tk_embedding_problem p{};
  p.size = sizeof p;
  p.table = &table;
  p.ids = &ids;
  p.y = &y;
  return body(called_op{TK_OP_EMBEDDING, tk_embedding},
              static_cast<tk_embedding_problem const*>(&p));
}

inline void check_row(embedding_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  auto const id = id_at(x.ids, row, x.of.v);
  std::vector<double> exact(static_cast<std::size_t>(x.y.cols()), 0);
  if (id >= 0) exact = given_row(x.table_rows, id);
  for (std::int64_t col = 0; col < x.y.cols(); ++col)
    meters[0].add(row, col, result_at(x.y, row, col), exact[static_cast<std::size_t>(col)], 0, 0,
                  0);
}

// A row for each of `shape`, whatever its rank, of a table of `v` rows.
inline embedding_case embedding_of(row_shape shape, std::int64_t v) {
  embedding_case x;
  x.shape = shape;
  x.shape.rank = std::max(shape.rank, 2);
  x.v = v;
  return x;
}

}  // namespace tk::test
