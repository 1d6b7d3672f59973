// SPDX-License-Identifier: MIT
// Tile sizes are those of sm_89, which has as much shared memory.
#pragma once
#include "backends/sm_89/tune.hpp"
