// SPDX-License-Identifier: MIT
// Panels of shared tiles lie as TMA writes and wgmma reads them, which keeps eight rows of ldmatrix
// on different banks, too.
#pragma once
#include "core/layout.hpp"

namespace tk::be {

template <int RowBytes> using panel_layout = chunk_swizzle<RowBytes>;

}  // namespace tk::be
