// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "tests/fuzz/op.hpp"

namespace fuzz {

struct outcome {
  fuzzed_op const* op;
  tk_status status;  // of the launch
  bool launched;     // it came to a kernel
};

// Makes one call from the bytes; ends the program where the library does not do what it must.
outcome try_call(std::uint8_t const* data, std::size_t size);

extern std::string running_input;  // said before what is wrong

}  // namespace fuzz
