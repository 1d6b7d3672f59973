// SPDX-License-Identifier: MIT
// The checks of tk_embedding: a table, numbers, and a row of the table's type for each of them.
#include "ops/embedding/embedding.h"
#include "ops/embedding/operands.hpp"
#include "ops/embedding/problem.hpp"

namespace tk::api {
namespace {

constexpr signature embedding_table = table_is("table"), ids_are = numbers_are("ids"),
                    y_is = named_are("y");

checked<embedding_problem, 3> check(tk_embedding_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};

  checked<embedding_problem, 3> result{};
  auto& [table, ids, y] = result.tensors;
  table = read(given.table, embedding_table, how);
  ids = read(given.ids, ids_are, how);
  y = read_named(given.y, y_is, ids, table, how);
  expect_same_type(y, table);
  expect_distinct_elements(y);
  if (data)
    for (auto const* input : {&table, &ids}) expect_apart(y, *input);

  result.empty = !has_elements(y);
  result.problem = {as_table(table), as_numbers(ids), as_rows(y)};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(embedding, repeat, check)
