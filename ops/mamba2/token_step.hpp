// SPDX-License-Identifier: MIT
// Mamba-2's instances of a step of decoding.
#pragma once
#include "ops/linear_attention/token_step.hpp"
#include "ops/mamba2/tuning.hpp"
