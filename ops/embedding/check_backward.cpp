// SPDX-License-Identifier: MIT
// The checks of tk_embedding_backward: numbers, a row of dy for each of them, and a table of dy's
// type or fp32, which must be apart from both.
#include "ops/embedding/backward_problem.hpp"
#include "ops/embedding/embedding_backward.h"
#include "ops/embedding/operands.hpp"

namespace tk::api {
namespace {

constexpr signature dy_is = named_are("dy"), backward_ids = numbers_are("ids"),
                    dtable_is = table_is("dtable");

checked<embedding_backward_problem, 3> check_backward(tk_embedding_backward_problem const& given,
                                                      bool data) {
  bool const ignores = expect_one_of("ignores", given.ignores, flag_names) != 0;
  if (!ignores && given.ignored_id != 0)
    refuse(status::bad_value, "ignored_id is ", given.ignored_id, " where ignores is 0");
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  expect_reserved(given.reserved2, "reserved2");
  reading const how{data, be::rt::current_device()};

  checked<embedding_backward_problem, 3> result{};
  auto& [dy, ids, dtable] = result.tensors;
  dtable = read(given.dtable, dtable_is, how);
  ids = read(given.ids, backward_ids, how);
  dy = read_named(given.dy, dy_is, ids, dtable, how);
  if (dtable.type != element::fp32) expect_same_type(dtable, dy);
  expect_distinct_elements(dtable);
  if (data)
    for (auto const* input : {&dy, &ids}) expect_apart(dtable, *input);

  result.empty = dtable.size[0] == 0 || dtable.size[1] == 0;
  result.problem = {as_rows(dy), as_numbers(ids), as_table(dtable), given.ignored_id, ignores};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(embedding_backward, repeat, check_backward)
