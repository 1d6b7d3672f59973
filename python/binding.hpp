// SPDX-License-Identifier: MIT
// How Python calls the C interface, by apache-tvm-ffi's C ABI: a function of an op takes the fields
// of its problem in order, without its size and what is reserved, and a workspace.
#pragma once
#include <tvm/ffi/c_api.h>

#include <cstddef>

namespace tk::python {

struct field {
  enum kind { tensor, of_32_bits, of_64_bits, number };
  char const* name;
  kind is;
  std::size_t offset;  // in the problem, or in its options
  bool of_options;
};
// An op of the list, by what generate.py knows of it.
struct op {
  char const* name;
  int number;
  std::size_t size, options_size, options_at;  // in bytes; options_size is 0 where it has none
  field const* fields;
  int count;
};
inline constexpr std::size_t largest_problem = 512;

// The ops, in the order of their functions' places in a library.
extern op const ops[];
extern int const op_count;

// Launches an op: TVMFFISafeCallType but for the op's place.
int call(int place, TVMFFIAny const* args, int count, TVMFFIAny* result);

}  // namespace tk::python
