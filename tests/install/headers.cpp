// SPDX-License-Identifier: MIT
// The installed headers compile on their own: the C and C++ interface and the tile core.
#include <tk_ops.h>
#include <tk_ops.hpp>
#include <core/element.hpp>
#include <core/tile.hpp>

int main() { return tk_device_type() == kDLCPU ? 0 : 1; }
