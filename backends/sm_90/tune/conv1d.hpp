// SPDX-License-Identifier: MIT
#pragma once
#include "backends/sm_80/tune/conv1d.hpp"
