// SPDX-License-Identifier: MIT
// Halves of transforms as the fuzzer has them: small, so that some filters have several pieces.
#pragma once

namespace fuzz::fft_conv {

inline constexpr int halves[] = {8, 32};

}  // namespace fuzz::fft_conv
