// SPDX-License-Identifier: MIT
// Tile sizes are those of gfx942, which has as much LDS and as many registers.
#pragma once
#include "backends/gfx942/tune.hpp"
