// SPDX-License-Identifier: MIT
// The devices that a library for one of hip's chips runs on.
#pragma once
#include <string>
#include <string_view>

#include "backends/select.hpp"
#include "core/status.hpp"

#include TK_CHIP(arch.hpp)

namespace tk::be::rt {

// Refuses a device other than the chip, whose features may be listed after its name.
inline void require_chip(std::string_view name) {
  if (name.substr(0, name.find(':')) != chip_name)
    throw error(status::wrong_chip, std::string("the library was built for ") + chip_name +
                                        "; the device is " + std::string(name));
}

}  // namespace tk::be::rt
