// SPDX-License-Identifier: MIT
// Halves of transforms as the fuzzer has them: small, so that some filters have several pieces.
#pragma once

namespace fuzz::fft_conv {

inline constexpr int halves[] = {8, 32};
// Of a transform's N2: a chip may have the same for several.
constexpr int nth_of(int N2) { return N2 < 64 ? 0 : 1; }
constexpr int half_of(int N2) { return halves[nth_of(N2)]; }

}  // namespace fuzz::fft_conv
