// SPDX-License-Identifier: MIT
// The statuses of C++ are those of the C interface, number by number, and an error keeps what it
// was given.
#include "core/status.hpp"

#include <doctest/doctest.h>

#include "ops/tk_base.h"

TEST_CASE("a status has the value of its tk_status") {
  struct pair {
    tk::status ours;
    tk_status theirs;
  };
  using enum tk::status;
  pair const pairs[] = {
      {ok, TK_OK},
      {null_pointer, TK_NULL_POINTER},
      {bad_struct, TK_BAD_STRUCT},
      {bad_device, TK_BAD_DEVICE},
      {bad_type, TK_BAD_TYPE},
      {bad_rank, TK_BAD_RANK},
      {bad_shape, TK_BAD_SHAPE},
      {bad_stride, TK_BAD_STRIDE},
      {bad_alignment, TK_BAD_ALIGNMENT},
      {bad_overlap, TK_BAD_OVERLAP},
      {bad_value, TK_BAD_VALUE},
      {small_workspace, TK_SMALL_WORKSPACE},
      {unsupported, TK_UNSUPPORTED},
      {wrong_chip, TK_WRONG_CHIP},
      {runtime_error, TK_RUNTIME_ERROR},
      {internal_error, TK_INTERNAL_ERROR},
  };
  int value = 0;
  for (auto const& p : pairs) {
    CHECK(static_cast<int>(p.ours) == static_cast<int>(p.theirs));
    CHECK(static_cast<int>(p.ours) == value++);
  }
}

TEST_CASE("an error carries its status and its sentence") {
  try {
    throw tk::error(tk::status::bad_shape, "a has 3 columns, b 4 rows");
  } catch (std::runtime_error const& e) {
    CHECK(e.what() == std::string("a has 3 columns, b 4 rows"));
    CHECK(dynamic_cast<tk::error const&>(e).code() == tk::status::bad_shape);
  }
}
