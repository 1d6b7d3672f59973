// SPDX-License-Identifier: MIT
// The devices on which a library for the chip would run, and those that it refuses, with a
// sentence.
#include <doctest/doctest.h>

#include <string>

#include "backends/select.hpp"
#include TK_BACKEND(chip.hpp)

namespace {

// What is said of such a device; empty if it is taken.
template <class... Ts> std::string refusal(Ts... device) {
  try {
    tk::be::rt::require_chip(device...);
  } catch (tk::error const& e) {
    CHECK(e.code() == tk::status::wrong_chip);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("devices are taken or refused") {
#if defined(TK_ARCH_SM_90A)
  CHECK(refusal(90).empty());
  for (int const other : {80, 89, 100, 103, 120}) CHECK_FALSE(refusal(other).empty());
  CHECK(refusal(103).find("9.0; the device has 10.3") != std::string::npos);
#elif defined(TK_ARCH_SM_80) || defined(TK_ARCH_SM_86) || defined(TK_ARCH_SM_89)
  using tk::be::compute_capability, tk::be::smem_bytes;
  for (int const found : {compute_capability, 90, 100, 120}) {
    CHECK(refusal(found, smem_bytes).empty());
    CHECK(refusal(found, 1 << 20).empty());
    CHECK_FALSE(refusal(found, smem_bytes - 1).empty());
  }
  CHECK_FALSE(refusal(compute_capability - 1, smem_bytes).empty());
  CHECK(refusal(75, smem_bytes).find("the device has 7.5") != std::string::npos);
#else
  std::string const name = tk::be::chip_name;
  CHECK(refusal(name).empty());
  CHECK(refusal(name + ":sramecc+:xnack-").empty());
  for (std::string const& other : {name + "0", name.substr(0, name.size() - 1), std::string()})
    CHECK_FALSE(refusal(other).empty());
  CHECK(refusal("gfx1100").find(name + "; the device is gfx1100") != std::string::npos);
#endif
}
