// SPDX-License-Identifier: MIT
// What the fuzzer must be told of an op. tests/ops/<folder>/fuzz.cpp defines `fuzzed_<name>()` for
// each op of the folder, fuzz_launch.cpp beside it what stands in for the op's kernels. Everything
// else goes over the list of ops.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "ops/tk_op_list.hpp"
#include "ops/tk_ops.h"

namespace fuzz {

class generator;
struct seen_call;

struct tensor_field {
  std::string_view name;
  std::size_t offset;  // in the problem's struct
  bool output = false;
  std::vector<std::string_view> may_be = {};  // the outputs that may lie where this input lies
};

// The struct's other fields, each an int or a float; wide ones are 64-bit integers.
struct option_field {
  enum kind { choice, factor, reserved, number, wide_number };
  std::size_t offset;
  kind is;
  int choices = 0;  // 0 to choices - 1 are right
};

struct fuzzed_op {
  tk_op number;
  char const* call;  // its C function's name
  tk_status (*launch)(void const* problem, void* workspace, std::size_t bytes, void* stream);
  std::size_t struct_bytes, first_bytes;  // of the problem now, and in its first version
  std::vector<tensor_field> tensors;
  std::vector<option_field> options;
  // Makes a correct problem.
  void (*make)(generator&);
  // Reads the tensors that the op would, says which faults the problem has beyond those of single
  // tensors, of options' ranges and of overlap, and whether there is no output element.
  void (*look)(seen_call&);
  // Where in the problem a pointer to a second struct is, which may be NULL, and that struct's
  // bytes. To tables above it lies right behind the problem.
  std::size_t part_at = 0, part_bytes = 0;
};

// An op's C function with an untyped problem: `launch` above.
template <class Problem, auto Call>
tk_status call_untyped(void const* problem, void* workspace, std::size_t bytes, void* stream) {
  return Call(static_cast<Problem const*>(problem), workspace, bytes, stream);
}

#define TK_DECLARE_FUZZED(NUMBER, NAME, ENUMERATOR) fuzzed_op const& fuzzed_##NAME();
TK_FOR_EACH_OP(TK_DECLARE_FUZZED)
#undef TK_DECLARE_FUZZED

inline std::vector<fuzzed_op const*> const& all_ops() {
#define TK_FUZZED(NUMBER, NAME, ENUMERATOR) &fuzzed_##NAME(),
  static std::vector<fuzzed_op const*> const ops{TK_FOR_EACH_OP(TK_FUZZED)};
#undef TK_FUZZED
  return ops;
}

}  // namespace fuzz
