// SPDX-License-Identifier: MIT
// One case of tk_embedding_backward, and its oracle in double precision. Its rows are those of
// dtable. With u = 2^-24, what fp32 may commit to n numbers x: u of the sum of |x| for each
// addition, less than 128 in a piece and one for each piece; a number alone is exact.
#pragma once
#include "ops/embedding/embedding_backward.h"
#include "tests/ops/embedding/ids.hpp"

namespace tk::test {

struct embedding_backward_operands;

// shape: dtable, of rank 2; tokens: dy, of rank 2 to 4, as wide.
struct embedding_backward_case {
  using operands = embedding_backward_operands;
  row_shape shape, tokens;
  dtype type = dtype::bf16, table_type = dtype::bf16, id_type = dtype::int64;
  id_kind ids = id_kind::random;
  bool ignores = false;
  std::int64_t ignored = 0;
  matrix_layout dy_layout = {}, ids_layout = {}, dtable_layout = {};
};

inline std::string describe(embedding_backward_case const& x) {
  std::ostringstream s;
  s << "embedding backward " << x.shape << " " << name_of(x.table_type) << " of " << x.tokens << " "
    << name_of(x.type) << ", " << name_of(x.id_type) << " " << name_of(x.ids);
  if (x.ignores) s << " but " << x.ignored;
  describe(s, "dy", x.dy_layout);
  describe(s, "ids", x.ids_layout);
  describe(s, "dtable", x.dtable_layout);
  return s.str();
}

struct embedding_backward_operands {
  explicit embedding_backward_operands(embedding_backward_case const& x);
  embedding_backward_operands(embedding_backward_operands const&) = delete;

  embedding_backward_case of;
  world memories;
  tensor dy, ids, dtable;
  std::vector<std::vector<std::int64_t>> named;  // of each row of dtable, its tokens
  static constexpr row_operand<embedding_backward_operands> table[] = {
      {"dy", &embedding_backward_operands::dy},
      {"ids", &embedding_backward_operands::ids},
      {"dtable", &embedding_backward_operands::dtable, true}};

  void find_tokens() {
    named.assign(static_cast<std::size_t>(of.shape.rows), {});
    for (std::int64_t i = 0; i < ids.rows(); ++i)
      if (auto const id = id_at(ids, i, of.shape.rows);
          id >= 0 && !(of.ignores && id == of.ignored))
        named[static_cast<std::size_t>(id)].push_back(i);
  }
};

inline embedding_backward_operands::embedding_backward_operands(embedding_backward_case const& c)
    : of(c), memories(3) {
  dy = place_rows(memories, c.type, c.tokens, c.dy_layout, role::input);
  fill_uniform(dy, 21, 0, 4);
  ids = place_ids(memories, c.id_type, c.tokens, c.ids_layout);
  fill_ids(ids, c.shape.rows, c.ids);
  dtable = output_rows(memories, c.table_type, c.shape, c.dtable_layout);
  find_tokens();
}

template <class Body>
std::string with_problem(embedding_backward_operands const& x, Body const& body) {
  DLTensor const dy = x.dy.dl(), ids = dl_of_ids(x.ids), dtable = x.dtable.dl();
  tk_embedding_backward_problem p{};
  p.size = sizeof p;
  p.dy = &dy;
  p.ids = &ids;
  p.dtable = &dtable;
  p.ignores = x.of.ignores;
  p.ignored_id = x.of.ignores ? x.of.ignored : 0;
  return body(called_op{TK_OP_EMBEDDING_BACKWARD, tk_embedding_backward},
              static_cast<tk_embedding_backward_problem const*>(&p));
}

inline void check_row(embedding_backward_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  constexpr std::size_t piece = 128;
  auto const& tokens = x.named[static_cast<std::size_t>(row)];
  std::vector<double> exact(static_cast<std::size_t>(x.dtable.cols()), 0), size = exact;
  for (auto const token : tokens) {
    auto const given = given_row(x.dy, token);
    for (std::size_t col = 0; col < exact.size(); ++col) {
      exact[col] += given[col];
      size[col] += std::fabs(given[col]);
    }
  }
  std::size_t const n = tokens.size();
  auto const sums = n <= 1 ? 0 : std::min(n, piece) + (n + piece - 1) / piece;
  for (std::size_t col = 0; col < exact.size(); ++col) {
    double const slack =
        static_cast<double>(sums) * fp32_roundoff * size[col] + (n > 0 ? fp32_least_normal : 0);
    auto const j = static_cast<std::int64_t>(col);
    meters[0].add(row, j, result_at(x.dtable, row, j), exact[col], slack,
                  rounded(x.dtable.type, exact[col]) - exact[col], slack);
  }
}

// Tokens of `shape`, whatever its rank, in a table of `v` rows.
inline embedding_backward_case embedding_backward_of(row_shape shape, std::int64_t v) {
  embedding_backward_case x;
  x.tokens = shape;
  x.tokens.rank = std::max(shape.rank, 2);
  x.shape = {.rank = 2, .rows = v, .width = shape.width};
  return x;
}

}  // namespace tk::test
