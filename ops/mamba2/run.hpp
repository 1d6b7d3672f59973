// SPDX-License-Identifier: MIT
// Mamba-2's instances of the scans: one for each row of ops/mamba2/mamba2.cmake.
#pragma once
#include "ops/linear_attention/run.hpp"
#include "ops/mamba2/tuning.hpp"
