// SPDX-License-Identifier: MIT
// Capabilities and sizes are the chip's own.
#pragma once
#include "backends/select.hpp"

#include TK_CHIP(arch.hpp)
