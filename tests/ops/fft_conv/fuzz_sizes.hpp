// SPDX-License-Identifier: MIT
// Halves of transforms as the fuzzer has them: small, so that some filters have several pieces.
#pragma once

namespace fuzz::fft_conv {

inline constexpr int halves[] = {8, 32};
// Of a transform's N2, of which a chip need not have all: which of them, or none.
constexpr int nth_of(int N2) { return N2 == 32 ? 0 : N2 == 128 ? 1 : -1; }
constexpr int half_of(int N2) { return nth_of(N2) < 0 ? 0 : halves[nth_of(N2)]; }

}  // namespace fuzz::fft_conv
