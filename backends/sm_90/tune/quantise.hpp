// SPDX-License-Identifier: MIT
#pragma once
#include "backends/sm_80/tune/quantise.hpp"
