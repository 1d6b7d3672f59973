// SPDX-License-Identifier: MIT
// From a problem of the C interface to one whose every promise holds. check() throws the refusal.
// With `data` the tensors' memory is checked as well: NULL, alignment, overlap. Self-overlap is a
// matter of sizes and strides, and is checked always.
#pragma once
#include <cstring>

#include "ops/api/refuse.hpp"
#include "ops/api/view.hpp"

namespace tk::api {

template <class Problem> struct checked {
  Problem problem;
  bool empty;                   // no output element: nothing to launch
  std::array<view, 6> tensors;  // all that the launch reads or writes; without elements where fewer
};

checked<gemm_problem> check(tk_gemm_problem const* given, bool data);
checked<attention_forward_problem> check(tk_attention_forward_problem const* given, bool data);
checked<norm_problem> check(tk_norm_problem const* given, bool data);

// A C program may leave any number in an enumeration; C++ must not read it as one.
template <class Enum> int number_of(Enum const& x) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &x, sizeof number);
  return number;
}

template <class Enum> int expect_below(char const* name, Enum const& x, int limit) {
  int const number = number_of(x);
  if (number >= 0 && number < limit) return number;
  refuse(status::bad_value, name, " is ", number, "; it must be 0 to ", limit - 1);
}

template <class Given> void expect_struct(Given const* given) {
  if (!given) refuse(status::null_pointer, "problem is NULL");
  if (given->size == sizeof(Given)) return;
  refuse(status::bad_struct, "problem's size is ", given->size, "; this library knows ",
         sizeof(Given));
}

}  // namespace tk::api
