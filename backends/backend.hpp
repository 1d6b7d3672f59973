// SPDX-License-Identifier: MIT
// What core/ needs of the chosen backend: qualifiers, capabilities, register layouts, scalar
// arithmetic.
#pragma once
#include "backends/select.hpp"
#include "backends/unroll.hpp"

#include TK_CHIP(arch.hpp)
#include TK_BACKEND(fragment.hpp)
