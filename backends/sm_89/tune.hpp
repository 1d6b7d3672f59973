// SPDX-License-Identifier: MIT
// Tile sizes by op: those for less shared memory.
#pragma once
#include "backends/sm_80/tune.hpp"
