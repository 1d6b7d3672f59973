// SPDX-License-Identifier: MIT
// Tile sizes are the chip's own.
#pragma once
#include "backends/select.hpp"

#include TK_CHIP(tune.hpp)
