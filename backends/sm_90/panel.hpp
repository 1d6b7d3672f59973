// SPDX-License-Identifier: MIT
// Panels of shared tiles lie as those of sm_80.
#pragma once
#include "backends/sm_80/panel.hpp"
