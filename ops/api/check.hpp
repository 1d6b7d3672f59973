// SPDX-License-Identifier: MIT
// What an op's checks are made of: from a problem of the C interface to one whose every promise
// holds. A check throws the refusal. With `data` the tensors' memory is checked as well: NULL,
// alignment, overlap. Self-overlap is a matter of sizes and strides, and is checked always.
#pragma once
#include <cstring>
#include <string>

#include "backends/runtime.hpp"
#include "ops/api/refuse.hpp"
#include "ops/api/view.hpp"

namespace tk::api {

template <class Problem, std::size_t Tensors> struct checked {
  Problem problem;
  bool empty;                         // no output element: nothing to launch
  std::array<view, Tensors> tensors;  // all that the launch may read or write
};

// A C program may leave any number in an enumeration; C++ must not read it as one.
template <class Enum> int number_of(Enum const& x) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &x, sizeof number);
  return number;
}

// One of the enumerators, which are numbered from 0 and named in their order.
template <class Enum, std::size_t N>
int expect_one_of(char const* name, Enum const& x, char const* const (&names)[N]) {
  int const number = number_of(x);
  if (number >= 0 && number < static_cast<int>(N)) return number;
  std::string list;
  for (std::size_t i = 0; i < N; ++i) {
    list += i == 0 ? "" : i + 1 < N ? ", " : " or ";
    list += names[i];
  }
  refuse(status::bad_value, name, " is ", number, "; it must be ", list);
}
inline constexpr char const* flag_names[] = {"0", "1"};
inline constexpr char const* mask_names[] = {"TK_MASK_NONE", "TK_MASK_CAUSAL"};
inline constexpr char const* activation_names[] = {
    "TK_ACTIVATION_NONE",      "TK_ACTIVATION_RELU",     "TK_ACTIVATION_SILU",
    "TK_ACTIVATION_GELU_TANH", "TK_ACTIVATION_GELU_ERF", "TK_ACTIVATION_SIGMOID"};
inline constexpr char const* repeat_names[] = {"TK_REPEAT_RUN", "TK_REPEAT_ROW"};

inline void expect_reserved(int reserved, char const* name = "reserved") {
  if (reserved != 0) refuse(status::bad_struct, name, " is ", reserved, "; it must be 0");
}

inline void expect_size(view const& x, int axis, std::int64_t size) {
  if (x.size[axis] == size) return;
  refuse(status::bad_shape, x.is->name, " has ", x.is->axes[axis], " = ", x.size[axis],
         "; it must be ", size);
}
// Whether an enumerator of the C interface has the number of one of TK's own.
template <class Theirs, class Ours> constexpr bool alike(Theirs x, Ours y) {
  return static_cast<int>(x) == static_cast<int>(y);
}

}  // namespace tk::api
