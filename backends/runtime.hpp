// SPDX-License-Identifier: MIT
// Host-side seam to the device: memory, events, device query (tk::be::rt). Plain C++: tests and
// benchmarks include this and nothing else of a backend.
#pragma once
#include "backends/select.hpp"

#include TK_VENDOR(runtime.hpp)
