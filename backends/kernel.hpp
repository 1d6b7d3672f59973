// SPDX-License-Identifier: MIT
// All that an op needs of the chosen backend: shared tiles and movement, products, the block
// template, launch.
#pragma once
#include "backends/backend.hpp"

#include TK_BACKEND(copy.hpp)
#include TK_BACKEND(mma.hpp)
#include TK_BACKEND(sync.hpp)
#include TK_BACKEND(block.hpp)
#include TK_BACKEND(launch.hpp)
