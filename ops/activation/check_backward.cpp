// SPDX-License-Identifier: MIT
// The checks of tk_activation_backward: a, b, dy, da and db of up to four dimensions, the same
// sizes and one type. da and db may be a, b or dy themselves. Interleaved, a and da are twice as
// wide, and da apart from dy.
#include "ops/activation/activation_backward.h"
#include "ops/activation/interleaved.hpp"
#include "ops/activation/problem.hpp"
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"

namespace tk::api {
namespace {

constexpr signature a_is = rows_are("a"), b_is = rows_are("b"), dy_is = rows_are("dy"),
                    da_is = rows_are("da"), db_is = rows_are("db"), pairs_is = pairs_are("a");

checked<activation_backward_problem, 5> check(tk_activation_backward_problem const& given,
                                              bool data) {
  int const kind = expect_one_of("kind", given.kind, activation_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved_kind, "reserved_kind");
  expect_reserved(given.reserved);
  bool const interleaved = expect_one_of("interleaved", given.interleaved, flag_names) != 0;
  expect_reserved(given.reserved_interleaved, "reserved_interleaved");
  if (interleaved && given.b) refuse_beside_interleaved("b");
  if (interleaved && given.db) refuse_beside_interleaved("db");
  if (given.db && !given.b) refuse(status::null_pointer, "b is NULL but db is given");
  if (!given.da && !given.db) refuse(status::null_pointer, "da is NULL, and so is db");
  reading const how{data, be::rt::current_device()};

  checked<activation_backward_problem, 5> result{};
  auto& [a, b, dy, da, db] = result.tensors;
  a = interleaved ? read_pairs(given.a, pairs_is, how) : read(given.a, a_is, how);
  if (given.b) b = read_rows_like(given.b, b_is, a, how);
  dy = interleaved ? read_one_of_each_pair(given.dy, dy_is, a, how)
                   : read_rows_like(given.dy, dy_is, a, how);
  if (given.da) da = read_rows_like(given.da, da_is, a, how);
  if (given.da && interleaved) expect_pairs(da);
  if (given.db) db = read_rows_like(given.db, db_is, a, how);

  for (auto const* output : {&da, &db}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    for (auto const* input : {&a, &b, &dy}) {
      bool const of_other_sizes = interleaved && input == &dy;
      if (of_other_sizes || !is_same(*output, *input)) expect_apart(*output, *input);
    }
  }
  if (data && da.is && db.is) expect_apart(da, db);

  result.empty = !has_elements(a);
  result.problem = {.a = as_rows(a),
                    .b = as_rows(b),
                    .dy = as_rows(dy),
                    .da = as_rows(da),
                    .db = as_rows(db),
                    .kind = static_cast<activation_kind>(kind),
                    .interleaved = interleaved};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(activation_backward, repeat, check)
