# SPDX-License-Identifier: MIT
# Its transforms and products are those of fft_conv.cmake.
