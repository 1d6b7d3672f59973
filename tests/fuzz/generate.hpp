// SPDX-License-Identifier: MIT
// Turns the fuzzer's bytes into a call: a correct problem, spoiled in up to three places, so that
// the late checks are reached; one time in sixteen anything at all.
#pragma once
#include "tests/fuzz/call.hpp"

namespace fuzz {

call_spec generate(std::uint8_t const* data, std::size_t size);

}  // namespace fuzz
