// SPDX-License-Identifier: MIT
// The register layout and scalar arithmetic are those of sm_80.
#pragma once
#include "backends/sm_80/fragment.hpp"
